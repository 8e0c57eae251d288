// SPDX-License-Identifier: Apache-2.0
// Program-scope variables, specialisation constants and exported functions, for
// tests/unit/test_ze_cpu_kernels.c. OpenCL C 2.0.
#define CONSTANT __attribute__((overloadable, const))
CONSTANT int __spirv_SpecConstant(int id, int value);
CONSTANT long __spirv_SpecConstant(int id, long value);

global int counter = 123;
global int table[4] = { 10, 20, 30, 40 };
constant int fixed[2] = { 7, 8 };

kernel void bump(global int *out, int by)
{
	counter += by;
	table[by & 3]++;
	out[0] = counter;
	out[1] = fixed[by & 1];
}

kernel void specialised(global long *out)
{
	out[0] = __spirv_SpecConstant(1, 10);
	out[1] = __spirv_SpecConstant(2, 20L);
}

int twice(int value)
{
	counter++;
	return 2 * value;
}
