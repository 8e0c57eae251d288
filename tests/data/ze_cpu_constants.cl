// SPDX-License-Identifier: Apache-2.0
// Specialisation constants, for tests/unit/test_ze_cpu_modules.c.
#define CONSTANT __attribute__((overloadable, const))
CONSTANT int __spirv_SpecConstant(int id, int value);
CONSTANT long __spirv_SpecConstant(int id, long value);

kernel void specialised(global long *out)
{
	out[0] = __spirv_SpecConstant(1, 10);
	out[1] = __spirv_SpecConstant(2, 20L);
}
