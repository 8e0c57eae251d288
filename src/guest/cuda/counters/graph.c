// SPDX-License-Identifier: Apache-2.0
// Graphs by the order in which they were made ready for launching: so the recording of another run
// of the program names them, too.
#include "guest/cuda/counters/counters.h"

enum { MOST_GRAPHS = 1024 };
static _Atomic(const void *) graphs[MOST_GRAPHS];
static _Atomic uint32_t made;

void counters_graph_made(const void *graph)
{
	uint32_t place = atomic_fetch_add(&made, 1);
	if (place < MOST_GRAPHS)
		atomic_store(&graphs[place], graph);
}

// A handle may mean another graph than it did.
uint32_t counters_graph_number(const void *graph)
{
	uint32_t count = atomic_load(&made);
	if (count > MOST_GRAPHS)
		return 0;
	for (uint32_t i = count; i-- > 0;)
		if (atomic_load(&graphs[i]) == graph)
			return i + 1;
	return 0;
}
