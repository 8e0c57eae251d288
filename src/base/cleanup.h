// SPDX-License-Identifier: Apache-2.0
// Scope-bound release. Every x_free accepts NULL and half-built objects.
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define TARE_CLEANUP(function) __attribute__((cleanup(function)))

static inline void tare_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

static inline void tare_close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define TARE_FREE TARE_CLEANUP(tare_free_pointer)
#define TARE_FCLOSE TARE_CLEANUP(tare_close_file)

// Defines cleanup_NAME(T *p) { NAME(*p); } for use with TARE_CLEANUP.
#define TARE_DEFINE_CLEANUP(type, function)                                                        \
	static inline void cleanup_##function(type *p)                                             \
	{                                                                                          \
		if (*p)                                                                            \
			function(*p);                                                              \
	}
