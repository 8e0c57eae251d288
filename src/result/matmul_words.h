// SPDX-License-Identifier: Apache-2.0
// The words of `tare matmul`'s documents: its rungs and the parts of a product, one table each.
#pragma once

enum tare_rung {
	TARE_RUNG_SEQUENTIAL, // one core of the host
	TARE_RUNG_HOST_BLAS,  // all cores, OpenBLAS if it is installed
	TARE_RUNG_ELEMENT,    // the inner loop offloaded: one launch an element of c
	TARE_RUNG_NAIVE,
	TARE_RUNG_TILED,      // through local memory
	TARE_RUNG_SECOND,     // a second level of tiling, within a work-item
	TARE_RUNG_SUB_GROUPS, // factors handed on within sub-groups, no local memory
	TARE_RUNG_REGISTER,   // register-blocked
	TARE_RUNG_CACHED,     // the same in squares that fit the shared cache
	TARE_RUNG_BLAS,       // the vendor's library if it is installed
	TARE_RUNG_BLAS_TF32,  // the same with factors of fewer bits, for the matrix units
	TARE_RUNG_BLAS_FP16,
	TARE_RUNG_BLAS_BF16,
	TARE_RUNG_COUNT
};
// The label `rung`, and the word in --rungs: "naive".
const char *tare_rung_name(enum tare_rung rung);
// The rung of a label; TARE_RUNG_COUNT: one that this version does not know.
enum tare_rung tare_rung_named(const char *name);

enum tare_part {
	TARE_PART_BUILD,
	TARE_PART_ALLOCATE,
	TARE_PART_FIRST_LAUNCH,
	TARE_PART_COPY_IN,
	TARE_PART_LAUNCH,   // host time of appending
	TARE_PART_COMPLETE, // submit, execute, wait
	TARE_PART_KERNEL,
	TARE_PART_KERNEL_TRACED, // by the vendor's tracer, until it takes the place of the stamps'
	TARE_PART_KERNEL_STAMPS, // by the driver's stamps, where the tracer has taken that place
	TARE_PART_KERNELS_ALONE,
	TARE_PART_COPY_OUT,
	TARE_PART_TOTAL,
	TARE_PART_COUNT
};
// The label `part`: "submit-to-complete".
const char *tare_part_name(enum tare_part part);
