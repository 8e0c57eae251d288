// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcublas that keeps its rules: matrices are column-major, a product runs in the
// handle's stream, what the factors are rounded to follows types, compute type and math mode. It
// computes on the host when its kernel ends on the device of fake_cuda.c, and costs by FLOP.
//
// TARE_FAKE_CUBLAS holds words: create=STATUS, gemm=STATUS (every product), version=NUMBER,
// wrong (one element is off), lazy (the last element is not written), scaled (all is doubled),
// coarse (single precision becomes TF32 without a word).
#include "backend/cuda/cublas_abi.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, parameters) FAKE_EXPORT cublas_status name parameters;
CUBLAS_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE
// Handles that exist, and products asked for.
FAKE_EXPORT int fake_cublas_handles(void);
FAKE_EXPORT int fake_cublas_products(void);

struct cublas_object {
	cu_stream stream;
	cublas_math math;
	int capability;
};

enum rounding { EXACT, TO_TF32, FROM_HALF, FROM_BFLOAT };

struct product {
	int m, n, k, pitch_a, pitch_b, pitch_c;
	const void *a, *b;
	float *c;
	enum rounding rounding;
	float alpha, beta;
	struct product *next;
};

static int handles, products;
// All that were asked for: a captured one may run any number of times, a failed one never does.
static struct product *all;

int fake_cublas_handles(void)
{
	return handles;
}

int fake_cublas_products(void)
{
	return products;
}

// The number after `word`, or -1.
static int scripted(const char *word)
{
	const char *text = getenv("TARE_FAKE_CUBLAS");
	const char *at = text ? strstr(text, word) : NULL;

	return !at ? -1 : at[strlen(word)] ? atoi(at + strlen(word)) : 0;
}

static bool has_word(const char *word)
{
	const char *text = getenv("TARE_FAKE_CUBLAS");

	return text && strstr(text, word);
}

// A function of the CUDA library that is open in this process; NULL: there is none.
static void *of_cuda(const char *name)
{
	const char *path = getenv("TARE_CUDA_LIBRARY");
	void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library);
	return symbol;
}

static int capability_now(void)
{
	cu_result (*get)(int *, cu_attribute, cu_device) = of_cuda("cuDeviceGetAttribute");
	int major = 0, minor = 0;

	if (!get || get(&major, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) != ABI_SUCCESS ||
	    get(&minor, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) != ABI_SUCCESS)
		return -1;
	return 10 * major + minor;
}

cublas_status cublasCreate_v2(cublas_handle *handle)
{
	int fails = scripted("create="), capability = capability_now();

	if (fails > 0)
		return fails;
	if (capability < 0)
		return ABI_CUBLAS_NOT_INITIALIZED;
	*handle = calloc(1, sizeof **handle);
	if (!*handle)
		return ABI_CUBLAS_ALLOC_FAILED;
	(*handle)->stream = ABI_STREAM_LEGACY;
	(*handle)->capability = capability;
	handles++;
	return ABI_CUBLAS_SUCCESS;
}

cublas_status cublasDestroy_v2(cublas_handle handle)
{
	if (!handle)
		return ABI_CUBLAS_NOT_INITIALIZED;
	handles--;
	free(handle);
	return ABI_CUBLAS_SUCCESS;
}

cublas_status cublasGetVersion_v2(cublas_handle handle, int *version)
{
	int told = scripted("version=");

	if (!handle)
		return ABI_CUBLAS_NOT_INITIALIZED;
	*version = told > 0 ? told : 130100;
	return ABI_CUBLAS_SUCCESS;
}

cublas_status cublasSetStream_v2(cublas_handle handle, cublas_stream stream)
{
	if (!handle)
		return ABI_CUBLAS_NOT_INITIALIZED;
	handle->stream = stream;
	return ABI_CUBLAS_SUCCESS;
}

cublas_status cublasSetMathMode(cublas_handle handle, cublas_math mode)
{
	if (!handle)
		return ABI_CUBLAS_NOT_INITIALIZED;
	if (mode < 0 || mode > 3)
		return ABI_CUBLAS_INVALID_VALUE;
	handle->math = mode;
	return ABI_CUBLAS_SUCCESS;
}

// ---- arithmetic

// The tensor units take the upper 19 bits of a float; the library rounds them before.
static float to_tf32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	bits = (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
	memcpy(&value, &bits, sizeof bits);
	return value;
}

static float of_half(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	float fraction = (float)(bits & 1023), sign = bits >> 15 ? -1 : 1;

	if (exponent == 31)
		return fraction > 0 ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexpf(1024 + fraction, exponent - 25) : ldexpf(fraction, -24));
}

static float of_bfloat(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof value);
	return value;
}

static float number_at(const void *matrix, size_t at, enum rounding rounding)
{
	if (rounding == FROM_HALF)
		return of_half(((const uint16_t *)matrix)[at]);
	if (rounding == FROM_BFLOAT)
		return of_bfloat(((const uint16_t *)matrix)[at]);
	float value = ((const float *)matrix)[at];
	return rounding == TO_TF32 ? to_tf32(value) : value;
}

// Columns one after the other, without gaps.
static float *unpack(const void *matrix, int rows, int columns, int pitch, enum rounding rounding)
{
	float *numbers = malloc(sizeof *numbers * (size_t)rows * (size_t)columns);

	for (int j = 0; numbers && j < columns; j++)
		for (int i = 0; i < rows; i++)
			numbers[(size_t)j * rows + i] =
			    number_at(matrix, (size_t)j * pitch + i, rounding);
	return numbers;
}

static void multiply(void *data)
{
	struct product *product = data;
	float *a = unpack(product->a, product->m, product->k, product->pitch_a, product->rounding);
	float *b = unpack(product->b, product->k, product->n, product->pitch_b, product->rounding);
	float *sums = malloc(sizeof *sums * (size_t)product->m);

	for (int j = 0; a && b && sums && j < product->n; j++) {
		float *column = product->c + (size_t)j * product->pitch_c;
		memset(sums, 0, sizeof *sums * (size_t)product->m);
		for (int k = 0; k < product->k; k++)
			for (int i = 0; i < product->m; i++)
				sums[i] +=
				    a[(size_t)k * product->m + i] * b[(size_t)j * product->k + k];
		for (int i = 0; i < product->m; i++)
			if (!has_word("lazy") || i + 1 < product->m || j + 1 < product->n)
				column[i] = (has_word("scaled") ? 2 : product->alpha) * sums[i] +
				            (product->beta != 0 ? product->beta * column[i] : 0);
	}
	if (has_word("wrong"))
		product->c[0] += 1;
	free(a);
	free(b);
	free(sums);
}

// What a combination of types does to the factors; false: cuBLAS has no such product.
static bool find_rounding(const struct cublas_object *handle, cublas_type type,
                          cublas_compute compute, enum rounding *rounding)
{
	const char *override = getenv("NVIDIA_TF32_OVERRIDE");
	bool fast =
	    compute == ABI_CUBLAS_COMPUTE_32F_FAST_TF32 || handle->math == ABI_CUBLAS_TF32_MATH;

	if (compute != ABI_CUBLAS_COMPUTE_32F && compute != ABI_CUBLAS_COMPUTE_32F_FAST_TF32)
		return false;
	if (override && *override)
		fast = strcmp(override, "0") != 0;
	fast = fast || has_word("coarse");
	if (type == ABI_CUBLAS_R_32F)
		*rounding = fast && handle->capability >= 80 ? TO_TF32 : EXACT;
	else if (type == ABI_CUBLAS_R_16F)
		*rounding = FROM_HALF;
	else if (type == ABI_CUBLAS_R_16BF)
		*rounding = FROM_BFLOAT;
	else
		return false;
	return true;
}

static cublas_status launch(const struct cublas_object *handle, const struct product *product)
{
	// FLOP a nanosecond.
	static const int rates[] = {
		[EXACT] = 1, [TO_TF32] = 4, [FROM_HALF] = 8, [FROM_BFLOAT] = 8
	};
	cu_result (*append)(cu_stream, const char *, int64_t, void (*)(void *), void *) =
	    of_cuda("fake_cuda_launch");
	struct product *kept = malloc(sizeof *kept);
	int64_t flop = INT64_C(2) * product->m * product->n * product->k;

	if (!append || !kept) {
		free(kept);
		return ABI_CUBLAS_ALLOC_FAILED;
	}
	*kept = *product;
	products++;
	cu_result result = append(handle->stream, "fake_gemm",
	                          1000 + flop / rates[product->rounding], multiply, kept);
	if (result != ABI_SUCCESS) {
		free(kept);
		return ABI_CUBLAS_EXECUTION_FAILED;
	}
	kept->next = all;
	all = kept;
	return ABI_CUBLAS_SUCCESS;
}

cublas_status cublasGemmEx(cublas_handle handle, cublas_operation transpose_a,
                           cublas_operation transpose_b, int m, int n, int k, const void *alpha,
                           const void *a, cublas_type type_a, int pitch_a, const void *b,
                           cublas_type type_b, int pitch_b, const void *beta, void *c,
                           cublas_type type_c, int pitch_c, cublas_compute compute,
                           cublas_algorithm algorithm)
{
	struct product product = { .m = m,
		                   .n = n,
		                   .k = k,
		                   .pitch_a = pitch_a,
		                   .pitch_b = pitch_b,
		                   .pitch_c = pitch_c,
		                   .a = a,
		                   .b = b,
		                   .c = c };
	int fails = scripted("gemm=");

	if (!handle)
		return ABI_CUBLAS_NOT_INITIALIZED;
	if (fails > 0)
		return fails;
	if (m < 0 || n < 0 || k < 0 || pitch_a < (m > 1 ? m : 1) || pitch_b < (k > 1 ? k : 1) ||
	    pitch_c < (m > 1 ? m : 1) || !alpha || !beta)
		return ABI_CUBLAS_INVALID_VALUE;
	if (transpose_a != ABI_CUBLAS_NOT_TRANSPOSED || transpose_b != ABI_CUBLAS_NOT_TRANSPOSED ||
	    type_a != type_b || type_c != ABI_CUBLAS_R_32F ||
	    !find_rounding(handle, type_a, compute, &product.rounding))
		return ABI_CUBLAS_NOT_SUPPORTED;
	if (product.rounding == FROM_BFLOAT && handle->capability < 80)
		return ABI_CUBLAS_ARCH_MISMATCH;
	(void)algorithm;
	product.alpha = *(const float *)alpha;
	product.beta = *(const float *)beta;
	return launch(handle, &product);
}
