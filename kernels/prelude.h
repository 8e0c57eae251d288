// SPDX-License-Identifier: Apache-2.0
// One kernel source, two languages. OpenCL C: this text is put before the kernel's. CUDA: clang
// compiles it with this file included first, without NVIDIA's headers; where there was no clang,
// NVRTC compiles the same text as for OpenCL when tare runs.
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
// Not every device has sub-groups. The size is that of all of a group's but the last.
#if defined cl_khr_subgroups && !defined cl_intel_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#if defined cl_khr_subgroups || defined cl_intel_subgroups
#define SUB_GROUP_SIZE() get_max_sub_group_size()
#define SUB_GROUP_ID() get_sub_group_id()
#define SUB_GROUP_LANE() get_sub_group_local_id()
#define SUB_GROUP_BROADCAST(value, lane) sub_group_broadcast((value), (lane))
#endif
#elif defined __CUDACC_RTC__
#define KERNEL extern "C" __global__
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define RESTRICT __restrict__
#define BARRIER() __syncthreads()
#define FMA(a, b, c) fmaf((a), (b), (c))
#define __asm__ asm
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;
// CUDA's own vectors have no arithmetic, and end at four numbers.
template <class T, int N> struct alignas(N * sizeof(T)) prelude_vector {
	prelude_vector<T, N / 2> lo, hi;
	prelude_vector() = default;
	__device__ __forceinline__ prelude_vector(T value) : lo(value), hi(value)
	{
	}
	__device__ __forceinline__ prelude_vector(prelude_vector<T, N / 2> a,
	                                          prelude_vector<T, N / 2> b)
	    : lo(a), hi(b)
	{
	}
};
template <class T> struct alignas(2 * sizeof(T)) prelude_vector<T, 2> {
	union {
		T x, lo;
	};
	union {
		T y, hi;
	};
	prelude_vector() = default;
	__device__ __forceinline__ prelude_vector(T value) : x(value), y(value)
	{
	}
	__device__ __forceinline__ prelude_vector(T a, T b) : x(a), y(b)
	{
	}
};
template <class T> struct alignas(4 * sizeof(T)) prelude_vector<T, 4> {
	union {
		struct {
			prelude_vector<T, 2> lo, hi;
		};
		struct {
			T x, y, z, w;
		};
	};
	prelude_vector() = default;
	__device__ __forceinline__ prelude_vector(T value) : x(value), y(value), z(value), w(value)
	{
	}
	__device__ __forceinline__ prelude_vector(prelude_vector<T, 2> a, prelude_vector<T, 2> b)
	    : x(a.x), y(a.y), z(b.x), w(b.y)
	{
	}
};
#define PRELUDE_VECTORS(type, n)                                                                   \
	typedef prelude_vector<type, n> prelude_##type##n;                                         \
	FUNCTION prelude_##type##n operator+(prelude_##type##n a, prelude_##type##n b)             \
	{                                                                                          \
		return prelude_##type##n(a.lo + b.lo, a.hi + b.hi);                                \
	}                                                                                          \
	FUNCTION prelude_##type##n operator*(prelude_##type##n a, prelude_##type##n b)             \
	{                                                                                          \
		return prelude_##type##n(a.lo * b.lo, a.hi * b.hi);                                \
	}                                                                                          \
	FUNCTION void operator+=(prelude_##type##n &a, prelude_##type##n b)                        \
	{                                                                                          \
		a = a + b;                                                                         \
	}
#define PRELUDE_SIZES(type)                                                                        \
	PRELUDE_VECTORS(type, 2)                                                                   \
	PRELUDE_VECTORS(type, 4)                                                                   \
	PRELUDE_VECTORS(type, 8)                                                                   \
	PRELUDE_VECTORS(type, 16)
PRELUDE_SIZES(float)
PRELUDE_SIZES(double)
PRELUDE_SIZES(int)
PRELUDE_SIZES(uint)
#define float2 prelude_float2
#define float4 prelude_float4
#define float8 prelude_float8
#define float16 prelude_float16
#define double2 prelude_double2
#define double4 prelude_double4
#define double8 prelude_double8
#define double16 prelude_double16
#define int2 prelude_int2
#define int4 prelude_int4
#define int8 prelude_int8
#define int16 prelude_int16
#define uint2 prelude_uint2
#define uint4 prelude_uint4
#define uint8 prelude_uint8
#define uint16 prelude_uint16
#define PRELUDE_PART(of, dimension) ((dimension) == 0 ? of.x : (dimension) == 1 ? of.y : of.z)
#define LOCAL_ID(dimension) PRELUDE_PART(threadIdx, dimension)
#define GROUP_ID(dimension) PRELUDE_PART(blockIdx, dimension)
#define GROUP_SIZE(dimension) PRELUDE_PART(blockDim, dimension)
#define GROUP_COUNT(dimension) PRELUDE_PART(gridDim, dimension)
// Of groups of one dimension, and of as many work-items as make whole warps.
#define SUB_GROUP_SIZE() 32u
#define SUB_GROUP_ID() (LOCAL_ID(0) / 32u)
#define SUB_GROUP_LANE() (LOCAL_ID(0) % 32u)
#define SUB_GROUP_BROADCAST(value, lane) __shfl_sync(0xffffffffu, (value), (lane))
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
	return dimension == 0   ? __nvvm_read_ptx_sreg_tid_x()
	       : dimension == 1 ? __nvvm_read_ptx_sreg_tid_y()
	                        : __nvvm_read_ptx_sreg_tid_z();
}
FUNCTION uint prelude_group_id(int dimension)
{
	return dimension == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
	       : dimension == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
	                        : __nvvm_read_ptx_sreg_ctaid_z();
}
FUNCTION uint prelude_group_size(int dimension)
{
	return dimension == 0   ? __nvvm_read_ptx_sreg_ntid_x()
	       : dimension == 1 ? __nvvm_read_ptx_sreg_ntid_y()
	                        : __nvvm_read_ptx_sreg_ntid_z();
}
FUNCTION uint prelude_group_count(int dimension)
{
	return dimension == 0   ? __nvvm_read_ptx_sreg_nctaid_x()
	       : dimension == 1 ? __nvvm_read_ptx_sreg_nctaid_y()
	                        : __nvvm_read_ptx_sreg_nctaid_z();
}
#define LOCAL_ID(dimension) prelude_local_id(dimension)
#define GROUP_ID(dimension) prelude_group_id(dimension)
#define GROUP_SIZE(dimension) prelude_group_size(dimension)
#define GROUP_COUNT(dimension) prelude_group_count(dimension)
#define FMA(a, b, c) __builtin_fmaf((a), (b), (c))
FUNCTION float prelude_broadcast(float value, uint lane)
{
	float other;

	__asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
	                 : "=f"(other)
	                 : "f"(value), "r"(lane));
	return other;
}
#define SUB_GROUP_SIZE() 32u
#define SUB_GROUP_ID() (LOCAL_ID(0) / 32u)
#define SUB_GROUP_LANE() (LOCAL_ID(0) % 32u)
#define SUB_GROUP_BROADCAST(value, lane) prelude_broadcast((value), (lane))
#endif
#define GLOBAL_ID(dimension) (GROUP_ID(dimension) * GROUP_SIZE(dimension) + LOCAL_ID(dimension))

// ---- what the kernels of tare peak share

#define TWICE(code) code code
#define TIMES4(code) TWICE(TWICE(code))
#define TIMES8(code) TWICE(TIMES4(code))
#define TIMES16(code) TWICE(TIMES8(code))
#define TIMES32(code) TWICE(TIMES16(code))
#define TIMES64(code) TWICE(TIMES32(code))

// The sum of a vector's lanes.
#define SUM1(v) (v)
#define SUM2(v) ((v).lo + (v).hi)
#define SUM4(v) SUM2((v).lo + (v).hi)
#define SUM8(v) SUM4((v).lo + (v).hi)
#define SUM16(v) SUM8((v).lo + (v).hi)

// One step of eight chains, or of four; MULTIPLY_ADD is the module's own.
#define STEP4                                                                                      \
	x0 = MULTIPLY_ADD(x0);                                                                     \
	x1 = MULTIPLY_ADD(x1);                                                                     \
	x2 = MULTIPLY_ADD(x2);                                                                     \
	x3 = MULTIPLY_ADD(x3);
#define STEP8                                                                                      \
	STEP4                                                                                      \
	x4 = MULTIPLY_ADD(x4);                                                                     \
	x5 = MULTIPLY_ADD(x5);                                                                     \
	x6 = MULTIPLY_ADD(x6);                                                                     \
	x7 = MULTIPLY_ADD(x7);

// Eight chains of `type`, a vector of ELEMENT; `steps` repeats a step so often that a round has 512
// multiply-adds of one number. A module defines ELEMENT, the ARGUMENT that factor and addend come
// as, and ITEM, what a work-item adds to its start.
#define PEAK8(name, type, steps, sum)                                                              \
	KERNEL void name(GLOBAL ELEMENT *output, GLOBAL const ELEMENT *start, ARGUMENT factor,     \
	                 ARGUMENT addend, uint rounds)                                             \
	{                                                                                          \
		GLOBAL const type *from = (GLOBAL const type *)start;                              \
		type a = (type)(ELEMENT)factor, b = (type)(ELEMENT)addend;                         \
		type item = (type)(ITEM);                                                          \
		type x0 = from[0] + item, x1 = from[1] + item, x2 = from[2] + item,                \
		     x3 = from[3] + item;                                                          \
		type x4 = from[4] + item, x5 = from[5] + item, x6 = from[6] + item,                \
		     x7 = from[7] + item;                                                          \
		for (uint round = 0; round < rounds; round++) {                                    \
			steps(STEP8)                                                               \
		}                                                                                  \
		x0 = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));                            \
		output[GLOBAL_ID(0)] = sum(x0);                                                    \
	}
#define PEAK8_TO_8(name, type)                                                                     \
	PEAK8(name##_1, type, TIMES64, SUM1)                                                       \
	PEAK8(name##_2, type##2, TIMES32, SUM2)                                                    \
	PEAK8(name##_4, type##4, TIMES16, SUM4)                                                    \
	PEAK8(name##_8, type##8, TIMES8, SUM8)
