// SPDX-License-Identifier: Apache-2.0
#include "result/kernels.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

const struct tare_kernel_row tare_kernel_rows[TARE_KERNEL_VALUE_COUNT] = {
	[TARE_KERNEL_ARGUMENTS] = { "arguments", "args", "" },
	[TARE_KERNEL_SIMD_WIDTH] = { "simd_width", "SIMD", "" },
	[TARE_KERNEL_GROUP_SIZE] = { "max_group_size", "group", "" },
	[TARE_KERNEL_MULTIPLE] = { "preferred_multiple", "multiple", "" },
	[TARE_KERNEL_LOCAL] = { "local_bytes", "local", "bytes" },
	[TARE_KERNEL_PRIVATE] = { "private_bytes", "private", "bytes" },
	[TARE_KERNEL_SPILL] = { "spill_bytes", "spilled", "bytes" },
	[TARE_KERNEL_REGISTERS] = { "registers", "registers", "" },
};

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
