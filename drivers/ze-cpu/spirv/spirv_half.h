// SPDX-License-Identifier: Apache-2.0
// A SPIR-V module for a device that adds, multiplies and converts halves, but has no functions of
// them (no cl_khr_fp16): they become functions of float.
#pragma once
#include "base/error.h"

#include <stddef.h>

// Writes a changed copy to *changed (malloc; *changed_bytes), or NULL where nothing is to change.
// Functions of OpenCL.std whose result is a half or a vector of them, and whose half operands all
// have its type, take and give floats. What works on bits (nextafter, nan, bitselect, shuffles),
// through pointers to halves (fract, modf, sincos), or makes a scalar of vectors (length, distance)
// stays as it is.
// 0, -EINVAL (damaged), -ENOMEM.
int spirv_half(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
               struct tare_error *error);
