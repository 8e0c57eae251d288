// SPDX-License-Identifier: Apache-2.0
// The matrix product of cuBLAS, opened at run time when it is first asked for. cuBLAS counts
// columns first: row-major c = a * b is its c' = b' * a', with the factors swapped and nothing
// transposed.
#include "backend/cuda/cublas_abi.h"
#include "backend/cuda/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST_MAJOR 11
#define MOST_MAJOR 99
#define MOST_NAMES 32
#define MOST_READY 128

// A product for which library, kernels and the stream's workspace are there: the next one makes the
// host wait for nothing.
struct ready {
	enum tare_blas_precision precision;
	uint32_t n;
	cu_stream stream;
};

struct cuda_blas {
	struct tare_library *library;
	struct cublas_functions call;
	cublas_handle handle;
	int version;      // 130100; 0: not known
	int major, minor; // the device's compute capability
	struct ready ready[MOST_READY];
	uint32_t ready_count, next_ready;
	char name[64];
};

static const struct {
	const char *title;
	cublas_type type;
	cublas_compute compute;
	cublas_math math;
	uint32_t bytes;
	int capability; // 10 * major + minor that has it in hardware
} precisions[TARE_BLAS_PRECISION_COUNT] = {
	[TARE_BLAS_FP32] = { "FP32", ABI_CUBLAS_R_32F, ABI_CUBLAS_COMPUTE_32F,
	                     ABI_CUBLAS_DEFAULT_MATH, 4, 0 },
	[TARE_BLAS_TF32] = { "TF32", ABI_CUBLAS_R_32F, ABI_CUBLAS_COMPUTE_32F_FAST_TF32,
	                     ABI_CUBLAS_TF32_MATH, 4, 80 },
	[TARE_BLAS_FP16] = { "FP16", ABI_CUBLAS_R_16F, ABI_CUBLAS_COMPUTE_32F,
	                     ABI_CUBLAS_DEFAULT_MATH, 2, 70 },
	[TARE_BLAS_BF16] = { "BF16", ABI_CUBLAS_R_16BF, ABI_CUBLAS_COMPUTE_32F,
	                     ABI_CUBLAS_DEFAULT_MATH, 2, 80 },
};

static const struct tare_symbol symbols[] = {
#define REQUIRED(name, parameters) TARE_SYMBOL(struct cublas_functions, name),
#define OPTIONAL(name, parameters) TARE_SYMBOL_OPTIONAL(struct cublas_functions, name),
	CUBLAS_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

static const char *status_name(cublas_status status)
{
	static const char *const names[] = {
		[ABI_CUBLAS_NOT_INITIALIZED] = "CUBLAS_STATUS_NOT_INITIALIZED",
		[ABI_CUBLAS_ALLOC_FAILED] = "CUBLAS_STATUS_ALLOC_FAILED",
		[ABI_CUBLAS_INVALID_VALUE] = "CUBLAS_STATUS_INVALID_VALUE",
		[ABI_CUBLAS_ARCH_MISMATCH] = "CUBLAS_STATUS_ARCH_MISMATCH",
		[ABI_CUBLAS_MAPPING_ERROR] = "CUBLAS_STATUS_MAPPING_ERROR",
		[ABI_CUBLAS_EXECUTION_FAILED] = "CUBLAS_STATUS_EXECUTION_FAILED",
		[ABI_CUBLAS_INTERNAL_ERROR] = "CUBLAS_STATUS_INTERNAL_ERROR",
		[ABI_CUBLAS_NOT_SUPPORTED] = "CUBLAS_STATUS_NOT_SUPPORTED",
		[ABI_CUBLAS_LICENSE_ERROR] = "CUBLAS_STATUS_LICENSE_ERROR",
	};
	if (status < 0 || (size_t)status >= sizeof names / sizeof *names)
		return NULL;
	return names[status];
}

static int status_errno(cublas_status status)
{
	switch (status) {
	case ABI_CUBLAS_ALLOC_FAILED:
		return ENOMEM;
	case ABI_CUBLAS_INVALID_VALUE:
		return EINVAL;
	case ABI_CUBLAS_ARCH_MISMATCH:
	case ABI_CUBLAS_NOT_SUPPORTED:
		return ENOTSUP;
	default:
		return EIO;
	}
}

// cuBLAS does not tell why a launch failed; the stream does where that was the device's end.
static int fail(struct cuda_device *device, cu_stream stream, cublas_status status,
                const char *call, struct tare_error *error, const char *what)
{
	cu_result result = device->driver->call.cuStreamQuery(stream);

	if (result != ABI_SUCCESS && cuda_errno(result) == -ENODEV)
		return cuda_fail(device->driver, result, call, error, "%s", what);
	return tare_fail_native(
	    error, status_errno(status), "cublas", call, status, status_name(status), "%s%s", what,
	    status == ABI_CUBLAS_ALLOC_FAILED ? ": the device's memory has no room for the library"
	                                      : "");
}

// ---- opening

struct names {
	char *list[MOST_NAMES + 1];
	size_t count;
};

static void add_name(struct names *names, const char *text)
{
	if (names->count < MOST_NAMES && (names->list[names->count] = strdup(text)))
		names->count++;
}

// Where a toolkit puts it, beside the loader's own places; a library's soname ends in its major.
static void add_folders(struct names *names, int major)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof pattern, "/usr/local/cuda*/lib64/libcublas.so.%d", major);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_name(names, found.gl_pathv[i]);
	globfree(&found);
}

// A library runs on a driver of its own major version or a later one: newest that fits first.
static void list_names(const struct cuda_driver *driver, struct names *names)
{
	const char *chosen = getenv("TARE_CUBLAS_LIBRARY");
	int newest = driver->version / 1000;
	char text[32];

	if (chosen && *chosen) {
		add_name(names, chosen);
		return;
	}
	if (newest < OLDEST_MAJOR || newest > MOST_MAJOR)
		newest = OLDEST_MAJOR;
	for (int major = newest; major >= OLDEST_MAJOR; major--) {
		snprintf(text, sizeof text, "libcublas.so.%d", major);
		add_name(names, text);
		add_folders(names, major);
	}
}

static int say_missing(const struct cuda_driver *driver, struct tare_error *error)
{
	const char *chosen = getenv("TARE_CUBLAS_LIBRARY");
	int major = driver->version / 1000;

	if (chosen && *chosen)
		return tare_fail(error, ENOENT,
		                 "TARE_CUBLAS_LIBRARY names '%.200s', which cannot be opened",
		                 chosen);
	if (major > OLDEST_MAJOR)
		return tare_fail(
		    error, ENOENT,
		    "cuBLAS is not here (libcublas.so.%d to .%d); install libcublas of "
		    "CUDA %d, or name it in TARE_CUBLAS_LIBRARY; all else works without",
		    major, OLDEST_MAJOR, major);
	return tare_fail(
	    error, ENOENT,
	    "cuBLAS is not here (libcublas.so.%d); install libcublas of CUDA %d, or name "
	    "it in TARE_CUBLAS_LIBRARY; all else works without",
	    OLDEST_MAJOR, OLDEST_MAJOR);
}

static int load(struct cuda_device *device, struct cuda_blas *blas, struct tare_error *error)
{
	struct names names = { 0 };
	int status;

	list_names(device->driver, &names);
	status =
	    tare_library_open((const char *const *)names.list, symbols,
	                      sizeof symbols / sizeof *symbols, &blas->call, &blas->library, error);
	for (size_t i = 0; i < names.count; i++)
		free(names.list[i]);
	if (status == -ENOENT)
		return say_missing(device->driver, error);
	if (status < 0)
		return status;
	// It leaves handlers for the end of the process behind; its code must stay mapped.
	dlopen(tare_library_name(blas->library), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	return 0;
}

static int create(struct cuda_device *device, struct cuda_blas *blas, struct tare_error *error)
{
	int driver = device->driver->version;
	cublas_status status = blas->call.cublasCreate_v2(&blas->handle);
	char what[160];

	if (status != ABI_CUBLAS_SUCCESS) {
		blas->handle = NULL;
		snprintf(what, sizeof what, "%.80s does not start with a driver of CUDA %d.%d",
		         tare_library_name(blas->library), driver / 1000, driver % 1000 / 10);
		return fail(device, ABI_STREAM_LEGACY, status, "cublasCreate_v2", error, what);
	}
	if (!blas->call.cublasGetVersion_v2 ||
	    blas->call.cublasGetVersion_v2(blas->handle, &blas->version) != ABI_CUBLAS_SUCCESS)
		blas->version = 0;
	// 110501 is 11.5.1, and so is 130100 13.1.0.
	if (blas->version >= 10000)
		snprintf(blas->name, sizeof blas->name, "cuBLAS %d.%d.%d", blas->version / 10000,
		         blas->version / 100 % 100, blas->version % 100);
	else
		snprintf(blas->name, sizeof blas->name, "cuBLAS");
	return 0;
}

static int open_blas(struct cuda_device *device, struct tare_error *error)
{
	struct cuda_blas *blas;
	int status;

	if (device->blas)
		return 0;
	blas = calloc(1, sizeof *blas);
	if (!blas)
		return tare_fail(error, ENOMEM, "out of memory");
	blas->major = cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	blas->minor = cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	status = load(device, blas, error);
	status = status ?: create(device, blas, error);
	if (status < 0) {
		tare_library_close(blas->library);
		free(blas);
		return status;
	}
	device->blas = blas;
	return 0;
}

void cuda_blas_close(struct cuda_device *device)
{
	struct cuda_blas *blas = device->blas;

	if (!blas)
		return;
	blas->call.cublasDestroy_v2(blas->handle);
	tare_library_close(blas->library);
	free(blas);
	device->blas = NULL;
}

// ---- a product

static int check_matrix(const struct cuda_device *device, uint32_t n, const struct tare_span *span,
                        uint32_t number_bytes, const char *name, struct tare_error *error)
{
	const struct tare_memory *memory = span->memory;
	uint64_t bytes = (uint64_t)n * n * number_bytes;

	if (!memory || memory->device != &device->base)
		return tare_fail(error, EINVAL, "matrix %s is no memory of this device", name);
	if (!cuda_device_address(span))
		return tare_fail(error, ENOTSUP,
		                 "matrix %s lies where the device cannot address it", name);
	if (n == 0 || n > INT32_MAX || span->offset_bytes % number_bytes ||
	    span->offset_bytes > memory->bytes || bytes > memory->bytes - span->offset_bytes)
		return tare_fail(error, EINVAL, "matrix %s of %u x %u does not fit its memory",
		                 name, n, n);
	return 0;
}

// An environment that changes what the library computes, whatever it is asked for.
static int check_override(enum tare_blas_precision precision, struct tare_error *error)
{
	const char *text = getenv("NVIDIA_TF32_OVERRIDE");

	if (!text || !*text)
		return 0;
	if (precision == TARE_BLAS_TF32 && strcmp(text, "0") == 0)
		return tare_fail(
		    error, ENOTSUP,
		    "NVIDIA_TF32_OVERRIDE=0 in the environment keeps cuBLAS from TF32; "
		    "unset it");
	if (precision == TARE_BLAS_FP32 && strcmp(text, "0") != 0)
		return tare_fail(
		    error, ENOTSUP,
		    "NVIDIA_TF32_OVERRIDE=%.20s in the environment may turn cuBLAS's single "
		    "precision into TF32; unset it",
		    text);
	return 0;
}

static int check_precision(const struct cuda_blas *blas, enum tare_blas_precision precision,
                           struct tare_error *error)
{
	int needed = precisions[precision].capability;

	// The library would fall back to something else without a word.
	if (10 * blas->major + blas->minor < needed)
		return tare_fail(error, ENOTSUP,
		                 "%s needs compute capability %d.%d; this device has %d.%d",
		                 precisions[precision].title, needed / 10, needed % 10, blas->major,
		                 blas->minor);
	return check_override(precision, error);
}

static bool is_ready(const struct cuda_blas *blas, enum tare_blas_precision precision, uint32_t n,
                     cu_stream stream)
{
	for (uint32_t i = 0; blas && i < blas->ready_count; i++)
		if (blas->ready[i].precision == precision && blas->ready[i].n == n &&
		    blas->ready[i].stream == stream)
			return true;
	return false;
}

// A first product loads kernels and takes memory, for which the driver may wait for the device:
// for ever behind a shut gate, and not at all while a graph is recorded.
static int check_first(struct cuda_queue *queue, enum tare_blas_precision precision, uint32_t n,
                       struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(queue->base.device);

	if ((!device->gates && !queue->capturing) ||
	    is_ready(device->blas, precision, n, queue->stream))
		return 0;
	return tare_fail(error, EINVAL, "the first %s product of n = %u %s; run one before",
	                 precisions[precision].title, n,
	                 queue->capturing ? "cannot be recorded into a graph"
	                                  : "behind a shut gate might wait for ever");
}

static int call_gemm(struct cuda_queue *queue, enum tare_blas_precision precision, uint32_t n,
                     const struct tare_span spans[3], struct tare_error *error)
{
	static const float one = 1, zero = 0;
	struct cuda_device *device = cuda_device_of(queue->base.device);
	struct cuda_blas *blas = device->blas;
	cublas_type type = precisions[precision].type;
	const char *call = "cublasSetStream_v2";
	void *at[3];
	char what[96];

	for (int i = 0; i < 3; i++)
		at[i] = (void *)(uintptr_t)cuda_device_address(&spans[i]);
	cublas_status status = blas->call.cublasSetStream_v2(blas->handle, queue->stream);
	if (status == ABI_CUBLAS_SUCCESS) {
		call = "cublasSetMathMode";
		status = blas->call.cublasSetMathMode(blas->handle, precisions[precision].math);
	}
	if (status == ABI_CUBLAS_SUCCESS) {
		call = "cublasGemmEx";
		status = blas->call.cublasGemmEx(
		    blas->handle, ABI_CUBLAS_NOT_TRANSPOSED, ABI_CUBLAS_NOT_TRANSPOSED, (int)n,
		    (int)n, (int)n, &one, at[2], type, (int)n, at[1], type, (int)n, &zero, at[0],
		    ABI_CUBLAS_R_32F, (int)n, precisions[precision].compute,
		    ABI_CUBLAS_DEFAULT_ALGORITHM);
	}
	if (status == ABI_CUBLAS_SUCCESS) {
		if (is_ready(blas, precision, n, queue->stream))
			return 0;
		// The oldest ones give way: forgotten, they are refused behind a gate once more.
		blas->ready[blas->next_ready] = (struct ready){ precision, n, queue->stream };
		blas->next_ready = (blas->next_ready + 1) % MOST_READY;
		if (blas->ready_count < MOST_READY)
			blas->ready_count++;
		return 0;
	}
	snprintf(what, sizeof what, "the %s product of %u x %u by %s failed",
	         precisions[precision].title, n, n, blas->name);
	return fail(device, queue->stream, status, call, error, what);
}

static int append(struct cuda_queue *queue, enum tare_blas_precision precision, uint32_t n,
                  const struct tare_span spans[3], struct tare_event **event,
                  struct tare_error *error)
{
	struct cuda_event *made = NULL;
	int status = cuda_count_held(queue, 0, event != NULL, error);

	if (status == 0 && event)
		status = cuda_bracket_begin(queue, &made, error);
	status = status ?: cuda_node_begin(queue, TARE_OPERATION_LAUNCH, error);
	status = status ?: call_gemm(queue, precision, n, spans, error);
	status = status ?: cuda_node_end(queue, error);
	if (status == 0 && made)
		status = cuda_bracket_end(queue, made, error);
	return cuda_bracket_give(made, status, event);
}

int cuda_blas_gemm(struct tare_queue *base, enum tare_blas_precision precision, uint32_t n,
                   struct tare_span c, struct tare_span a, struct tare_span b,
                   struct tare_event **event, struct tare_error *error)
{
	static const char *const names[3] = { "c", "a", "b" };
	struct cuda_device *device = cuda_device_of(base->device);
	const struct tare_span spans[3] = { c, a, b };
	int status = cuda_queue_enter((struct cuda_queue *)base, error);

	if (status == 0 && (int)precision >= TARE_BLAS_PRECISION_COUNT)
		status = tare_fail(error, EINVAL, "no such precision");
	for (int i = 0; i < 3 && status == 0; i++)
		status = check_matrix(device, n, &spans[i], i ? precisions[precision].bytes : 4,
		                      names[i], error);
	status = status ?: check_first((struct cuda_queue *)base, precision, n, error);
	status = status ?: open_blas(device, error);
	status = status ?: check_precision(device->blas, precision, error);
	return status < 0 ? status
	                  : append((struct cuda_queue *)base, precision, n, spans, event, error);
}

const char *cuda_blas_name(struct tare_device *base)
{
	const struct cuda_blas *blas = cuda_device_of(base)->blas;

	return blas && blas->ready_count ? blas->name : "";
}
