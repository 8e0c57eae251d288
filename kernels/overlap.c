// SPDX-License-Identifier: Apache-2.0
// Make-work for `overlap`: one integer in, one out, as long as `cycles` says. Arguments follow the
// contract of chunked kernels: whole buffers, the chunk's first item and item count, scalars.

// The Handbook's loop: volatile, so that every turn goes through memory of the work-item.
// output = input + cycles * add, modulo 2^32.
KERNEL void overlap_volatile(GLOBAL const int *input, GLOBAL int *output, uint first, uint count,
                             int add, int cycles)
{
	uint item = GLOBAL_ID(0);

	if (item >= count)
		return;
	volatile int value = input[first + item];
	for (int cycle = 0; cycle < cycles; cycle++)
		value += add;
	output[first + item] = value;
}

// The same in a register. A plain sum would be folded into one multiplication, so each turn is a
// linear congruential step: value = value * 1664525 + add, modulo 2^32.
KERNEL void overlap_register(GLOBAL const int *input, GLOBAL int *output, uint first, uint count,
                             int add, int cycles)
{
	uint item = GLOBAL_ID(0);

	if (item >= count)
		return;
	uint value = (uint)input[first + item];
	for (int cycle = 0; cycle < cycles; cycle++)
		value = value * 1664525u + (uint)add;
	output[first + item] = (int)value;
}
