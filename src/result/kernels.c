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
	grown->set = (int64_t)list->set_count - 1;
	list->count++;
	return grown;
}

struct tare_kernel_set *tare_kernel_list_add_set(struct tare_kernel_list *list, const char *options)
{
	struct tare_kernel_set *grown = tare_grow(list->sets, list->set_count, sizeof *grown);

	if (!grown)
		return NULL;
	list->sets = grown;
	grown += list->set_count;
	*grown = (struct tare_kernel_set){ .options = strdup(options) };
	if (!grown->options)
		return NULL;
	list->set_count++;
	return grown;
}

void tare_kernel_list_gather(struct tare_kernel_list *list)
{
	for (size_t first = 0; first < list->count; first++) {
		size_t to = first + 1;
		for (size_t i = to; i < list->count; i++) {
			struct tare_kernel_entry entry = list->at[i];
			if (strcmp(entry.name, list->at[first].name) != 0)
				continue;
			memmove(&list->at[to + 1], &list->at[to], (i - to) * sizeof entry);
			list->at[to++] = entry;
		}
		first = to - 1;
	}
}

char tare_kernel_set_letter(int64_t set)
{
	return (char)('A' + set);
}

void tare_kernel_list_free(struct tare_kernel_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free(list->at[i].name);
		free(list->at[i].parameters);
	}
	for (size_t i = 0; i < list->set_count; i++) {
		free(list->sets[i].options);
		free(list->sets[i].absent);
	}
	free(list->sets);
	free(list->at);
	free(list->absent);
	free(list->file);
	free(list);
}
