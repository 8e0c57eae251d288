// SPDX-License-Identifier: Apache-2.0
// Whether a product is the one that was asked for.
#include "backend/call.h"
#include "measure/matmul/internal.h"
#include <errno.h>
#include <stdio.h>

// A library may take fewer bits than it was asked to, and be within the bound all the same.
static bool took_fewer_bits(const struct matmul_product *product,
                            const struct matmul_reference *reference)
{
	struct matmul *matmul = product->matmul;

	if (product->rung != TARE_RUNG_BLAS ||
	    !matmul_looks_rounded(reference, matmul->host[MATMUL_C]->host))
		return false;
	if (!matmul->wrong[0])
		snprintf(
		    matmul->wrong, sizeof matmul->wrong,
		    "%s, n = %u: %.60s was asked for single precision, but its errors are those of "
		    "factors rounded to TF32; see NVIDIA_TF32_OVERRIDE",
		    tare_rung_name(product->rung), product->n, matmul_library_name(matmul));
	return true;
}

int matmul_verify(struct matmul_product *product, enum tare_verified *verified,
                  struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	enum tare_blas_precision precision = matmul_rungs[product->rung].precision;
	struct matmul_reference *reference = &matmul->references[precision][product->size];
	struct matmul_mismatch mismatch;

	if (reference->n == 0 && matmul_make_reference(product, reference) < 0) {
		matmul_reference_free(reference);
		return tare_fail(error, ENOMEM, "out of memory for the reference product");
	}
	*verified = TARE_WRONG;
	if (took_fewer_bits(product, reference))
		return 0;
	if (matmul_check(reference, matmul->host[MATMUL_C]->host, &mismatch)) {
		*verified = TARE_VERIFIED;
		return 0;
	}
	if (!matmul->wrong[0])
		snprintf(matmul->wrong, sizeof matmul->wrong,
		         "%s, n = %u: %s at row %u, column %u is %g, not %g (within %.3g)",
		         tare_rung_name(product->rung), product->n,
		         mismatch.is_sum ? "the sum of elements" : "the element", mismatch.row,
		         mismatch.column, mismatch.got, mismatch.expected, mismatch.bound);
	return 0;
}
