// SPDX-License-Identifier: Apache-2.0
// One kernel source, two languages. OpenCL C: this text is put before the kernel's. CUDA: clang
// compiles it with this file included first, without NVIDIA's headers.
// Only the words below may differ between the two; everything else in kernels/ is plain C with
// vectors (float4 and .x .y .z .w are the same in both).
#ifdef __OPENCL_VERSION__
#define KERNEL kernel
#define FUNCTION static inline
#define GLOBAL global
#define LOCAL local
#define RESTRICT restrict
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL_ID(dimension) ((uint)get_local_id(dimension))
#define GROUP_ID(dimension) ((uint)get_group_id(dimension))
#define GROUP_SIZE(dimension) ((uint)get_local_size(dimension))
#define GROUP_COUNT(dimension) ((uint)get_num_groups(dimension))
#define FMA(a, b, c) fma((a), (b), (c))
#else
#define KERNEL extern "C" __attribute__((global))
#define FUNCTION static inline __attribute__((device, always_inline))
#define GLOBAL
#define LOCAL __attribute__((shared))
#define RESTRICT __restrict__
#define BARRIER() __nvvm_bar_sync(0)
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef double double2 __attribute__((ext_vector_type(2)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef double double8 __attribute__((ext_vector_type(8)));
typedef double double16 __attribute__((ext_vector_type(16)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int int8 __attribute__((ext_vector_type(8)));
typedef int int16 __attribute__((ext_vector_type(16)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef uint uint8 __attribute__((ext_vector_type(8)));
typedef uint uint16 __attribute__((ext_vector_type(16)));
FUNCTION uint prelude_local_id(int dimension)
{
	return dimension == 0 ? __nvvm_read_ptx_sreg_tid_x() :
	       dimension == 1 ? __nvvm_read_ptx_sreg_tid_y() : __nvvm_read_ptx_sreg_tid_z();
}
FUNCTION uint prelude_group_id(int dimension)
{
	return dimension == 0 ? __nvvm_read_ptx_sreg_ctaid_x() :
	       dimension == 1 ? __nvvm_read_ptx_sreg_ctaid_y() : __nvvm_read_ptx_sreg_ctaid_z();
}
FUNCTION uint prelude_group_size(int dimension)
{
	return dimension == 0 ? __nvvm_read_ptx_sreg_ntid_x() :
	       dimension == 1 ? __nvvm_read_ptx_sreg_ntid_y() : __nvvm_read_ptx_sreg_ntid_z();
}
FUNCTION uint prelude_group_count(int dimension)
{
	return dimension == 0 ? __nvvm_read_ptx_sreg_nctaid_x() :
	       dimension == 1 ? __nvvm_read_ptx_sreg_nctaid_y() : __nvvm_read_ptx_sreg_nctaid_z();
}
#define LOCAL_ID(dimension) prelude_local_id(dimension)
#define GROUP_ID(dimension) prelude_group_id(dimension)
#define GROUP_SIZE(dimension) prelude_group_size(dimension)
#define GROUP_COUNT(dimension) prelude_group_count(dimension)
#define FMA(a, b, c) __builtin_fmaf((a), (b), (c))
#endif
#define GLOBAL_ID(dimension) (GROUP_ID(dimension) * GROUP_SIZE(dimension) + LOCAL_ID(dimension))
