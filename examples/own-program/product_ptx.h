// SPDX-License-Identifier: Apache-2.0
// A matrix product as PTX, for devices of compute capability 7.0 and later:
//   __global__ void product(const float *a, const float *b, float *c, uint n) {
//           uint row = blockIdx.y * blockDim.y + threadIdx.y;
//           uint column = blockIdx.x * blockDim.x + threadIdx.x;
//           float sum = 0;
//           for (uint k = 0; k < n; k++)
//                   sum += a[row * n + k] * b[k * n + column];
//           c[row * n + column] = sum;
//   }
#pragma once

static const char product_ptx[] =
    ".version 6.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry product(\n"
    "	.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
    "{\n"
    "	.reg .pred %p<2>;\n"
    "	.reg .b32 %r<14>;\n"
    "	.reg .f32 %f<4>;\n"
    "	.reg .b64 %rd<8>;\n"
    "	mov.u32 %r1, %ctaid.y;\n"
    "	mov.u32 %r2, %ntid.y;\n"
    "	mov.u32 %r3, %tid.y;\n"
    "	mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "	mov.u32 %r1, %ctaid.x;\n"
    "	mov.u32 %r2, %ntid.x;\n"
    "	mov.u32 %r3, %tid.x;\n"
    "	mad.lo.s32 %r5, %r1, %r2, %r3;\n"
    "	ld.param.u32 %r6, [n];\n"
    "	ld.param.u64 %rd1, [a];\n"
    "	ld.param.u64 %rd2, [b];\n"
    "	ld.param.u64 %rd3, [c];\n"
    "	cvta.to.global.u64 %rd1, %rd1;\n"
    "	cvta.to.global.u64 %rd2, %rd2;\n"
    "	cvta.to.global.u64 %rd3, %rd3;\n"
    "	mul.lo.s32 %r7, %r4, %r6;\n"
    "	add.s32 %r8, %r7, %r5;\n"
    "	mul.wide.u32 %rd4, %r7, 4;\n"
    "	add.s64 %rd1, %rd1, %rd4;\n"
    "	mul.wide.u32 %rd4, %r5, 4;\n"
    "	add.s64 %rd2, %rd2, %rd4;\n"
    "	mul.wide.u32 %rd5, %r6, 4;\n"
    "	mov.f32 %f1, 0f00000000;\n"
    "	mov.u32 %r9, 0;\n"
    "TURN:\n"
    "	ld.global.f32 %f2, [%rd1];\n"
    "	ld.global.f32 %f3, [%rd2];\n"
    "	fma.rn.f32 %f1, %f2, %f3, %f1;\n"
    "	add.s64 %rd1, %rd1, 4;\n"
    "	add.s64 %rd2, %rd2, %rd5;\n"
    "	add.s32 %r9, %r9, 1;\n"
    "	setp.lt.u32 %p1, %r9, %r6;\n"
    "	@%p1 bra TURN;\n"
    "	mul.wide.u32 %rd6, %r8, 4;\n"
    "	add.s64 %rd3, %rd3, %rd6;\n"
    "	st.global.f32 [%rd3], %f1;\n"
    "	ret;\n"
    "}\n";
