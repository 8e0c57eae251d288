// SPDX-License-Identifier: Apache-2.0
// One kernel source, two languages. OpenCL C: this text is put before the kernel's. CUDA: clang
// compiles it with this file included first, without NVIDIA's headers.
// Only the words below may differ between the two; everything else in kernels/ is plain C.
#ifdef __OPENCL_VERSION__
#define KERNEL kernel
#define GLOBAL global
#else
#define KERNEL extern "C" __attribute__((global))
#define GLOBAL
#endif
