// SPDX-License-Identifier: Apache-2.0
// Two floats in, one out, and as much arithmetic as `terms` says. Its loop strides over the grid,
// so it is right for any number of blocks.
//   tare overlap --device cuda:0 --kernel examples/kernels/polynomial.cu --item-bytes 8,4
//     --arg int:64
__global__ void polynomial(const float2 *input, float *output, unsigned int first,
                           unsigned int count, int terms)
{
	unsigned int step = gridDim.x * blockDim.x;

	for (unsigned int item = blockIdx.x * blockDim.x + threadIdx.x; item < count; item += step) {
		// Any bits may come in: what is not a small number is made one.
		float2 pair = input[first + item];
		float x = isfinite(pair.x) ? fmodf(pair.x, 1.0f) : 0.5f;
		float sum = isfinite(pair.y) ? fmodf(pair.y, 1.0f) : 0.5f;
		for (int term = 0; term < terms; term++)
			sum = fmaf(sum, x, 0.25f);
		output[first + item] = sum;
	}
}
