// SPDX-License-Identifier: Apache-2.0
// A SPIR-V module with what OpenCL 1.2 compilers do not take worked in: values of specialisation
// constants, and program-scope variables at addresses of our own.
#pragma once
#include "backend/spirv.h"

struct spirv_specialisation {
	uint32_t id; // SpecId
	const void *value;
	size_t bytes;
};

struct spirv_placement {
	// of the OpVariable; those that are `addressed` are placed with the others
	uint32_t id;
	void *at; // where it lives; as long as the module
};

// Writes a changed copy to *changed (malloc; *changed_bytes). Each placed variable becomes its
// address; its initial value, where it has one, is written to `at` (elsewhere zeros are).
// 0, -EINVAL (damaged, or a constant of that id and size is not there), -ENOTSUP (an initial value
// that is no constant we can evaluate), -ENOMEM.
int spirv_rewrite(const void *data, size_t bytes, const struct spirv_specialisation *constants,
                  uint32_t constant_count, const struct spirv_placement *placements,
                  uint32_t placement_count, void **changed, size_t *changed_bytes,
                  struct tare_error *error);
