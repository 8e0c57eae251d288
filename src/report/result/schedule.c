// SPDX-License-Identifier: Apache-2.0
// A schedule of `overlap` in words.
#include "report/result/parts.h"

#include <string.h>

// "32 chunks, 3 queues, interleaved": what is usual is left out. If brief, in 30 columns and so
// with shorter words, and without the order where events decide.
const char *tare_text_schedule(const struct tare_cell *cell, bool brief, char *text, size_t size)
{
	const char *mechanism = tare_cell_text(cell, "mechanism");
	const char *order = tare_cell_text(cell, "order");
	bool tapered = tare_cell_has_text(cell, "sizes", "tapered");
	bool graph = strcmp(mechanism, "graph") == 0;
	bool in_chunk_queues = graph || strcmp(mechanism, "chunk-queues") == 0;
	bool usual = strcmp(order, "depth-first") == 0 || (brief && !in_chunk_queues);
	bool brief_tapered = brief && tapered;
	long long chunks = tare_cell_number(cell, "chunks"),
	          queues = tare_cell_number(cell, "queues");
	const char *graph_of = brief ? "graph of " : "a graph of ";
	char kind[48];

	if (brief && strcmp(order, "breadth-first") == 0)
		order = "breadth";
	else if (brief && strcmp(order, "interleaved") == 0)
		order = "interl.";
	if (in_chunk_queues)
		snprintf(kind, sizeof kind, "%s%lld queue%s", graph ? graph_of : "", queues,
		         queues == 1 ? "" : "s");
	else
		snprintf(kind, sizeof kind, "%s",
		         strcmp(mechanism, "stage-queues") == 0 ? "a queue a stage"
		                                                : "out of order");
	snprintf(text, size, "%lld %s%s%s, %s%s%s", chunks, tapered ? "tapered" : "",
	         brief_tapered ? ""
	         : tapered     ? " chunk"
	                       : "chunk",
	         brief_tapered || chunks == 1 ? "" : "s", kind, usual ? "" : ", ",
	         usual ? "" : order);
	return text;
}
