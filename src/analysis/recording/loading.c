// SPDX-License-Identifier: Apache-2.0
// What every part of loading needs: texts, times and failing.
#include "analysis/recording/internal.h"
#include "base/cleanup.h"
#include <string.h>

int loading_fail(struct loading *l, int code, const char *what)
{
	if (!l->status)
		l->status = tare_fail(l->error, code, "no memory for the trace's %s", what);
	return l->status;
}

const char *loading_text(struct loading *l, const char *text)
{
	size_t bytes = text ? strlen(text) + 1 : 1;
	struct text_block *block = l->texts;
	char *copy;

	if (bytes == 1)
		return "";
	if (!block || block->room - block->used < bytes) {
		size_t room = bytes > 65536 ? bytes : 65536;
		block = malloc(sizeof *block + room);
		if (!block) {
			loading_fail(l, ENOMEM, "texts");
			return "";
		}
		*block = (struct text_block){ .next = l->texts, .room = room };
		l->texts = block;
	}
	copy = block->text + block->used;
	memcpy(copy, text, bytes);
	block->used += bytes;
	return copy;
}

int64_t loading_shift(const struct loading *l, int64_t ns)
{
	return loading_cut(loading_cut(ns) + l->shift_ns);
}

int64_t loading_ns(const struct loading *l, uint64_t ticks)
{
	return loading_shift(l, tare_trace_ns(l->trace, l->file, ticks));
}
