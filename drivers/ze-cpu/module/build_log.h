// SPDX-License-Identifier: Apache-2.0
// What building, linking or inspecting a module had to say.
#pragma once
#include <level_zero/ze_api.h>

struct _ze_module_build_log_handle_t {
	char *text;   // never NULL; ends with 0
	size_t bytes; // without the 0
};

// NULL: out of memory.
ze_module_build_log_handle_t build_log_new(void);
void build_log_free(ze_module_build_log_handle_t log);
// Adds a line; the newline is added too. Where memory runs out the line is left out.
void build_log_add(ze_module_build_log_handle_t log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
