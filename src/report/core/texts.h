// SPDX-License-Identifier: Apache-2.0
// Texts, a list in the JSON.
#pragma once
#include "table/table.h"

struct tare_text_list {
	char *const *at;
	size_t count;
};
// Its table, in which the rows are the texts.
extern const struct tare_table tare_text_list_table;
// Adds a copy; the list is of malloc then. 0 or -ENOMEM.
int tare_text_list_add(struct tare_text_list *texts, const char *text, size_t length);
void tare_text_list_free(struct tare_text_list *texts);
