// SPDX-License-Identifier: Apache-2.0
// What a SPIR-V module's constants are as bytes, once its specialisation constants have values and
// its variables addresses.
#pragma once
#include "spirv/spirv_rewrite.h"

#include "backend/spirv_words.h"

struct spirv_values {
	const struct spirv_words *module;
	const struct spirv_specialisation *constants;
	uint32_t constant_count;
	const struct spirv_placement *placements;
	uint32_t placement_count;
};

// The value given for the specialisation constant `id` (a result id), or NULL.
const struct spirv_specialisation *spirv_given(const struct spirv_values *values, uint32_t id);
// Where variable `id` was placed, or NULL.
const struct spirv_placement *spirv_placed(const struct spirv_values *values, uint32_t id);
// Writes constant `id`, of type `type`, to *at, which has the type's bytes and holds zeros.
// 0; -EINVAL: damaged; -ENOTSUP: it is worked out in a way that is not evaluated here. The error
// tells which.
int spirv_write_value(const struct spirv_values *values, uint32_t id, const struct spirv_id *type,
                      unsigned char *at, struct tare_error *error);
