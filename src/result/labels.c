// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "result/parts.h"
#include "result/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tare_set_string(char **field, const char *text)
{
	char *copy = NULL;

	if (text) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free(*field);
	*field = copy;
	return 0;
}

const struct tare_label *tare_labels_find(const struct tare_labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->at[i].name, name) == 0)
			return &labels->at[i];
	return NULL;
}

// The label of that name, made if there is none; NULL when memory ran out. A new one is the number
// 0.
static struct tare_label *find_or_add(struct tare_labels *labels, const char *name)
{
	struct tare_label *found = (struct tare_label *)tare_labels_find(labels, name);
	struct tare_label *grown;
	char *copy;

	if (found)
		return found;
	copy = strdup(name);
	if (!copy)
		return NULL;
	grown = tare_grow(labels->at, labels->count, sizeof *grown);
	if (!grown) {
		free(copy);
		return NULL;
	}
	labels->at = grown;
	grown += labels->count++;
	grown->name = copy;
	return grown;
}

int tare_labels_set_text(struct tare_labels *labels, const char *name, const char *text)
{
	char *copy = labels->failed ? NULL : strdup(text);
	struct tare_label *label = copy ? find_or_add(labels, name) : NULL;

	if (!label) {
		free(copy);
		labels->failed = true;
		return -ENOMEM;
	}
	free(label->text);
	label->text = copy;
	label->number = 0;
	return 0;
}

int tare_labels_set_number(struct tare_labels *labels, const char *name, int64_t number)
{
	struct tare_label *label = labels->failed ? NULL : find_or_add(labels, name);

	if (!label) {
		labels->failed = true;
		return -ENOMEM;
	}
	free(label->text);
	label->text = NULL;
	label->number = number;
	return 0;
}

void tare_labels_copy(struct tare_labels *labels, const struct tare_labels *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (from->at[i].text)
			tare_labels_set_text(labels, from->at[i].name, from->at[i].text);
		else
			tare_labels_set_number(labels, from->at[i].name, from->at[i].number);
	labels->failed = labels->failed || from->failed;
}

void tare_labels_clear(struct tare_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		free(labels->at[i].name);
		free(labels->at[i].text);
	}
	free(labels->at);
	*labels = (struct tare_labels){ 0 };
}
