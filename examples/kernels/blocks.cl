// SPDX-License-Identifier: Apache-2.0
// Reverses each block of 64 items through local memory. A chunk must hold whole blocks, and a
// work-group must be one of them:
//   tare overlap --kernel examples/kernels/blocks.cl --align 64 --group 64 --arg local:256
kernel void reverse_blocks(global const uint *input, global uint *output, uint first, uint count,
                           local uint *block)
{
	uint item = get_global_id(0), place = get_local_id(0), last = get_local_size(0) - 1;

	if (item < count)
		block[place] = input[first + item];
	barrier(CLK_LOCAL_MEM_FENCE);
	// `count` is a multiple of 64: in a block either all items are there or none.
	if (item < count)
		output[first + item] = block[last - place];
}
