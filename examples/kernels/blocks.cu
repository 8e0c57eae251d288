// SPDX-License-Identifier: Apache-2.0
// Reverses each block of 64 items through shared memory. A chunk must hold whole blocks, and a
// block of threads must be one of them. Shared memory whose size is given with --arg is one array
// for all such arguments; each argument is the offset of its part, in bytes:
//   tare overlap --device cuda:0 --kernel examples/kernels/blocks.cu --align 64 --group 64
//     --arg local:256
extern __shared__ unsigned char shared[];

__global__ void reverse_blocks(const unsigned int *input, unsigned int *output, unsigned int first,
                               unsigned int count, unsigned int offset)
{
	unsigned int *block = reinterpret_cast<unsigned int *>(shared + offset);
	unsigned int item = blockIdx.x * blockDim.x + threadIdx.x, last = blockDim.x - 1;

	if (item < count)
		block[threadIdx.x] = input[first + item];
	__syncthreads();
	// `count` is a multiple of 64: in a block either all items are there or none.
	if (item < count)
		output[first + item] = block[last - threadIdx.x];
}
