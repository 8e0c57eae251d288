// SPDX-License-Identifier: Apache-2.0
// The examples' kernel as PTX, for devices of compute capability 7.0 and later. It is what clang
// makes of
//   __global__ void steps(const uint *input, uint *output, uint first, uint count, uint add, uint
//   cycles) {
//           uint item = blockIdx.x * blockDim.x + threadIdx.x;
//           if (item >= count)
//                   return;
//           uint value = input[first + item];
//           for (uint k = 0; k < cycles; k++)
//                   value = value * 1664525u + add;
//           output[first + item] = value;
//   }
#pragma once

static const char kernels_ptx[] =
    ".version 6.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry steps(\n"
    "	.param .u64 input, .param .u64 output, .param .u32 first, .param .u32 count,\n"
    "	.param .u32 add, .param .u32 cycles)\n"
    "{\n"
    "	.reg .pred %p<3>;\n"
    "	.reg .b32 %r<10>;\n"
    "	.reg .b64 %rd<6>;\n"
    "	ld.param.u32 %r1, [count];\n"
    "	mov.u32 %r2, %ctaid.x;\n"
    "	mov.u32 %r3, %ntid.x;\n"
    "	mov.u32 %r4, %tid.x;\n"
    "	mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "	setp.ge.u32 %p1, %r5, %r1;\n"
    "	@%p1 bra DONE;\n"
    "	ld.param.u32 %r6, [first];\n"
    "	add.s32 %r5, %r5, %r6;\n"
    "	ld.param.u64 %rd1, [input];\n"
    "	ld.param.u64 %rd2, [output];\n"
    "	cvta.to.global.u64 %rd1, %rd1;\n"
    "	cvta.to.global.u64 %rd2, %rd2;\n"
    "	mul.wide.u32 %rd3, %r5, 4;\n"
    "	add.s64 %rd1, %rd1, %rd3;\n"
    "	add.s64 %rd2, %rd2, %rd3;\n"
    "	ld.global.u32 %r7, [%rd1];\n"
    "	ld.param.u32 %r8, [add];\n"
    "	ld.param.u32 %r9, [cycles];\n"
    "TURN:\n"
    "	setp.eq.s32 %p2, %r9, 0;\n"
    "	@%p2 bra STORE;\n"
    "	mad.lo.s32 %r7, %r7, 1664525, %r8;\n"
    "	add.s32 %r9, %r9, -1;\n"
    "	bra TURN;\n"
    "STORE:\n"
    "	st.global.u32 [%rd2], %r7;\n"
    "DONE:\n"
    "	ret;\n"
    "}\n";
