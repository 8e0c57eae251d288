// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, opened at run time.
#include "measure/matmul/host_matmul.h"

#include "base/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the C interface to BLAS (cblas.h); a library of 64-bit integers has another name.
enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

struct functions {
	void (*cblas_sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k,
	                    float alpha, const float *a, int a_stride, const float *b, int b_stride,
	                    float beta, float *c, int c_stride);
	char *(*openblas_get_config)(void);
	int (*openblas_get_num_threads)(void);
};

static const struct tare_symbol symbols[] = {
	TARE_SYMBOL(struct functions, cblas_sgemm),
	TARE_SYMBOL(struct functions, openblas_get_config),
	TARE_SYMBOL_OPTIONAL(struct functions, openblas_get_num_threads),
};

struct tare_host_blas {
	struct tare_library *library;
	struct functions call;
	char name[256];
};

int tare_host_blas_open(struct tare_host_blas **blas, struct tare_error *error)
{
	const char *named = getenv("TARE_OPENBLAS_LIBRARY");
	const char *const names[] = { named && named[0] ? named : "libopenblas.so.0", NULL };
	struct tare_host_blas *opened = calloc(1, sizeof *opened);
	struct tare_error why = { 0 };
	char threads[48] = "";
	int status;

	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	status = tare_library_open(names, symbols, sizeof symbols / sizeof *symbols, &opened->call,
	                           &opened->library, &why);
	if (status < 0) {
		free(opened);
		return tare_fail(error, -status, "no OpenBLAS (package libopenblas0): %.300s",
		                 why.message);
	}
	if (opened->call.openblas_get_num_threads) {
		int count = opened->call.openblas_get_num_threads();
		snprintf(threads, sizeof threads, ", %d thread%s", count, count == 1 ? "" : "s");
	}
	snprintf(opened->name, sizeof opened->name, "%.180s%s", opened->call.openblas_get_config(),
	         threads);
	*blas = opened;
	return 0;
}

void tare_host_blas_close(struct tare_host_blas *blas)
{
	if (!blas)
		return;
	tare_library_close(blas->library);
	free(blas);
}

void tare_host_blas_sgemm(const struct tare_host_blas *blas, float *c, const float *a,
                          const float *b, uint32_t n)
{
	int size = (int)n;

	blas->call.cblas_sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, size, size, size, 1, a,
	                       size, b, size, 0, c, size);
}

const char *tare_host_blas_name(const struct tare_host_blas *blas)
{
	return blas->name;
}
