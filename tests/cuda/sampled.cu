// SPDX-License-Identifier: Apache-2.0
// The kernel of which tests/cuda/sampled_*.cubin are: a loop with a load, a barrier, and two ways.
//   nvcc -arch=sm_90 -cubin -lineinfo -O3 -o sampled_90.cubin sampled.cu      (75, 120)
extern "C" __global__ void empty(const float *in, float *out, const int *index, int n, int rounds)
{
	__shared__ float part[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	if (i >= n)
		return;
#pragma unroll 1
	for (int k = 0; k < rounds; k++)
		sum += in[index[i] + k * 32];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (rounds & 1)
		sum = __sinf(part[threadIdx.x ^ 1]);
	else
		for (int k = 0; k < 4; k++)
			sum += out[i + (int)sum * k];
	out[i] = sum;
}
