// SPDX-License-Identifier: Apache-2.0
// Program-scope variables and an exported function, for tests/unit/test_ze_cpu_modules.c. OpenCL C
// 2.0.
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

int twice(int value)
{
	counter++;
	return 2 * value;
}
