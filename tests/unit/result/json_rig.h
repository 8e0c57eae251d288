// SPDX-License-Identifier: Apache-2.0
// Documents with every field as text. Include after cmocka.h.
#pragma once
#include "result/document.h"
#include "result/json.h"

#include "rich_result.h"

#include <stdio.h>
#include <string.h>

// gcc 12 at -O3, once it is inlined, takes the stream's text for the local that points to it.
__attribute__((noinline, unused)) static char *write_text(const struct tare_result *result)
{
	char *text = NULL;
	size_t length = 0;
	struct tare_error error = { 0 };
	FILE *file = open_memstream(&text, &length);
	assert_non_null(file);
	assert_int_equal(tare_result_write_json(result, file, &error), 0);
	fclose(file);
	return text;
}

static inline struct tare_result *rich(bool list_devices)
{
	struct tare_result *result = tare_result_new(list_devices ? "devices" : "bandwidth");
	assert_non_null(result);
	assert_int_equal(rich_fill(result, list_devices), 0);
	return result;
}
