// SPDX-License-Identifier: Apache-2.0
// Functions of halves, which CPU devices of OpenCL lack.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void halves(global half *out, global const half *in)
{
	half4 all = *(global const half4 *)in;

	out[0] = mad(in[0], in[1], in[2]);
	out[1] = ldexp(in[2], 3);
	out[2] = sqrt(in[3]) * in[0];
	*(global half4 *)(out + 4) = fmax(all, all.wzyx);
	half3 whole = trunc(all.xyz);
	out[8] = whole.x;
	out[9] = whole.y;
	out[10] = whole.z;
}
