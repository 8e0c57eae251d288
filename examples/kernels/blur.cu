// SPDX-License-Identifier: Apache-2.0
// How not to do it: it reads its neighbours, which may not have arrived yet when the work is cut
// into chunks. tare overlap finds the wrong result and says so:
//   tare overlap --device cuda:0 --kernel examples/kernels/blur.cu
__global__ void blur(const unsigned int *input, unsigned int *output, unsigned int first,
                     unsigned int count)
{
	unsigned int item = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned int here = first + item;

	if (item >= count)
		return;
	unsigned int left = item > 0 ? input[here - 1] : 0;
	unsigned int right = item + 1 < count ? input[here + 1] : 0;
	output[here] = left / 4 + input[here] / 2 + right / 4;
}
