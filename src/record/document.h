// SPDX-License-Identifier: Apache-2.0
// record.json: the run as tare record saw it from outside. docs/record-json.md has its keys.
#pragma once
#include "base/other_api.h"
#include "record/child.h"
#include "record/compare.h"
#include "record/loader/layer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_record_document {
	char *const *program; // and its arguments, NULL-terminated
	const struct tare_record_options *options;
	const char *job; // of ranks; "": none
	int64_t start_raw_ns, start_monotonic_ns, start_realtime_ns;
	bool ended; // the members below are known
	int64_t end_raw_ns;
	const struct tare_child_end *end;
	const char *layer_path, *loader, *layer_state; // NULL: not known (yet)
	const struct tare_other_uses *others;          // as far as was seen
	struct tare_comparison comparison;             // with runs that were not recorded
};

// Reads the three clocks.
void tare_record_start_now(struct tare_record_document *document);

// The document as JSON text, to free(); *bytes its length. Bytes of the program's arguments that
// are no UTF-8 become U+FFFD. NULL: no memory.
char *tare_record_document_text(const struct tare_record_document *document, size_t *bytes);
