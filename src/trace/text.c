// SPDX-License-Identifier: Apache-2.0
#include "trace/text.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// More than any program names; a file that has more is not believed.
static const size_t most_bytes = 64 << 20;
static const size_t most_texts = 1 << 20;

static void forget(struct tare_trace_texts *texts)
{
	if (texts->id)
		texts->used = texts->began;
	texts->id = 0;
}

static int begin(struct tare_trace_texts *texts, const struct tare_trace_string *part)
{
	forget(texts);
	if (part->offset)
		return -EPROTO;
	texts->id = part->id;
	texts->total = part->total;
	texts->have = 0;
	texts->began = texts->used;
	return 0;
}

static int complete(struct tare_trace_texts *texts)
{
	if (!TARE_ROOM_FOR(texts->entries, texts->entry_room, texts->count))
		return -ENOMEM;
	texts->bytes[texts->used++] = '\0';
	texts->entries[texts->count++] = (struct tare_trace_text_entry){ texts->id, texts->began };
	texts->id = 0;
	return 0;
}

int tare_trace_texts_add(struct tare_trace_texts *texts, const struct tare_trace_string *part)
{
	bool continues = texts->id && texts->id == part->id && texts->total == part->total &&
	                 texts->have == part->offset;
	bool interrupted = texts->id && !continues;
	int status = continues ? 0 : begin(texts, part);

	if (status)
		return status;
	if (texts->used + part->bytes + 1 > most_bytes || texts->count >= most_texts) {
		forget(texts);
		return -E2BIG;
	}
	while (texts->room < texts->used + part->bytes + 1)
		if (!TARE_ROOM_FOR(texts->bytes, texts->room, texts->room))
			return -ENOMEM;
	memcpy(texts->bytes + texts->used, part->text, part->bytes);
	texts->used += part->bytes;
	texts->have += part->bytes;
	status = texts->have == texts->total ? complete(texts) : 0;
	return status ? status : (interrupted ? -EPROTO : 0);
}

// Texts that were defined first come first among those of one id.
static int by_id(const void *a, const void *b)
{
	const struct tare_trace_text_entry *x = a;
	const struct tare_trace_text_entry *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

size_t tare_trace_texts_finish(struct tare_trace_texts *texts)
{
	size_t kept = 0, defined = texts->count;

	forget(texts);
	if (!defined)
		return 0;
	qsort(texts->entries, texts->count, sizeof *texts->entries, by_id);
	for (size_t i = 0; i < defined; i++)
		if (!kept || texts->entries[kept - 1].id != texts->entries[i].id)
			texts->entries[kept++] = texts->entries[i];
	texts->count = kept;
	return defined - kept;
}

const char *tare_trace_texts_find(const struct tare_trace_texts *texts, uint32_t id)
{
	size_t low = 0, high = texts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (texts->entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < texts->count && texts->entries[low].id == id
	           ? texts->bytes + texts->entries[low].at
	           : "";
}

void tare_trace_texts_free(struct tare_trace_texts *texts)
{
	free(texts->bytes);
	free(texts->entries);
	*texts = (struct tare_trace_texts){ 0 };
}
