// SPDX-License-Identifier: Apache-2.0
// Needs a function of ze_cpu_globals.cl.
int twice(int value);

kernel void imported(global int *out, int value)
{
	out[0] = twice(value) + 1;
}
