// SPDX-License-Identifier: Apache-2.0
// The least kernel that tare overlap takes: one float in, one float out.
//   tare overlap --device cuda:0 --kernel examples/kernels/scale.cu --arg float:0.5
__global__ void scale(const float *input, float *output, unsigned int first, unsigned int count,
                      float factor)
{
	unsigned int item = blockIdx.x * blockDim.x + threadIdx.x;

	// The grid is rounded up to whole blocks; `first` is where the chunk begins.
	if (item < count)
		output[first + item] = factor * input[first + item];
}
