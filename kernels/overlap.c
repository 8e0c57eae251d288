// SPDX-License-Identifier: Apache-2.0
// Make-work for `overlap`: one integer in, one out, as long as `cycles` says. Arguments follow the
// contract of chunked kernels: whole buffers, the chunk's first item and item count, scalars.
// Beyond it, a launch may have fewer work-items than items: each then takes every n-th.

// What every loop goes through; a last step could pass the end of 32 bits.
#define FOR_ITEMS(item, count)                                                                     \
	for (uint item = GLOBAL_ID(0), stride = GROUP_COUNT(0) * GROUP_SIZE(0), left = 1;          \
	     left && item<(count); left = (count) - item> stride, item += stride)

// Every turn goes through memory of the work-item, as the word volatile says.
// output = input + cycles * add, modulo 2^32.
KERNEL void overlap_volatile(GLOBAL const int *input, GLOBAL int *output, uint first, uint count,
                             int add, int cycles)
{
	FOR_ITEMS(item, count)
	{
		volatile int value = input[first + item];
		for (int cycle = 0; cycle < cycles; cycle++)
			value += add;
		output[first + item] = value;
	}
}

// What NVIDIA's compiler makes of that loop: the turns stay, four at a time, and the value stays in
// a register. Without the assembler clang would fold all turns into one multiplication.
KERNEL void overlap_handbook(GLOBAL const int *input, GLOBAL int *output, uint first, uint count,
                             int add, int cycles)
{
	FOR_ITEMS(item, count)
	{
#ifdef __OPENCL_VERSION__
		volatile int value = input[first + item];
		for (int cycle = 0; cycle < cycles; cycle++)
			value += add;
#else
		int value = input[first + item], turns = cycles > 0 ? cycles : 0;
		for (int rest = turns - turns % 4; rest != 0; rest -= 4)
			__asm__ volatile("add.s32 %0, %0, %1;\n\tadd.s32 %0, %0, %1;\n\t"
			                 "add.s32 %0, %0, %1;\n\tadd.s32 %0, %0, %1;"
			                 : "+r"(value)
			                 : "r"(add));
		for (int rest = turns % 4; rest != 0; rest--)
			__asm__ volatile("add.s32 %0, %0, %1;" : "+r"(value) : "r"(add));
#endif
		output[first + item] = value;
	}
}

// In a register on every device. A plain sum would be folded into one multiplication, so each turn
// is a linear congruential step: value = value * 1664525 + add, modulo 2^32.
KERNEL void overlap_register(GLOBAL const int *input, GLOBAL int *output, uint first, uint count,
                             int add, int cycles)
{
	FOR_ITEMS(item, count)
	{
		uint value = (uint)input[first + item];
		for (int cycle = 0; cycle < cycles; cycle++)
			value = value * 1664525u + (uint)add;
		output[first + item] = (int)value;
	}
}
