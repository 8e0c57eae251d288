// SPDX-License-Identifier: Apache-2.0
// The texts of one file, put together from their records.
#pragma once
#include "tare/trace.h"

#include <stdbool.h>

struct tare_trace_texts {
	char *bytes; // each text ends with a NUL
	size_t used, room;
	struct tare_trace_text_entry {
		uint32_t id;
		size_t at;
	} *entries; // in the order of ids once finished
	size_t count, entry_room;
	uint32_t id, total, have; // of the text that is being put together; id 0: none
	size_t began;
};

// Adds a part (that has been judged sound) in the order in which it was written. Returns 0,
// -ENOMEM, -EPROTO when it does not continue what came before, -E2BIG when the file holds more text
// than is ever kept.
int tare_trace_texts_add(struct tare_trace_texts *texts, const struct tare_trace_string *part);
// No more parts: a text that is not whole is dropped. Returns the number of ids that were defined
// twice (the first one counts).
size_t tare_trace_texts_finish(struct tare_trace_texts *texts);
// "" for 0 and for what is not there.
const char *tare_trace_texts_find(const struct tare_trace_texts *texts, uint32_t id);
void tare_trace_texts_free(struct tare_trace_texts *texts);
