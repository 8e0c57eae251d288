// SPDX-License-Identifier: Apache-2.0
#include "result/kernels.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

struct tare_kernel_list *tare_kernel_list_new(const char *file)
{
	struct tare_kernel_list *list = calloc(1, sizeof *list);

	if (list && !(list->file = strdup(file))) {
		free(list);
		list = NULL;
	}
	return list;
}

struct tare_kernel_entry *tare_kernel_list_add(struct tare_kernel_list *list, const char *name)
{
	struct tare_kernel_entry *grown = tare_grow(list->at, list->count, sizeof *grown);

	if (!grown)
		return NULL;
	list->at = grown;
	grown += list->count;
	grown->name = strdup(name);
	if (!grown->name)
		return NULL;
	for (int i = 0; i < TARE_KERNEL_VALUE_COUNT; i++)
		grown->value[i] = -1;
	list->count++;
	return grown;
}

void tare_kernel_list_free(struct tare_kernel_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free(list->at[i].name);
		free(list->at[i].parameters);
	}
	free(list->at);
	free(list->absent);
	free(list->file);
	free(list);
}
