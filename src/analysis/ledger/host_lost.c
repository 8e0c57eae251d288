// SPDX-License-Identifier: Apache-2.0
// When whole processes were not recorded.
#include "analysis/ledger/host_internal.h"
#include "analysis/recording/intervals.h"

#include <errno.h>
#include <stdlib.h>

// Appends those of a process; of TARE_NO_INDEX of all in the view.
static size_t add_lost(struct ledger_hosts *hosts, const struct tare_view *view, uint32_t process,
                       size_t count)
{
	const struct tare_recording *recording = hosts->recording;
	for (size_t i = 0; i < recording->loss_count; i++) {
		const struct tare_recorded_loss *loss = &recording->losses[i];
		if (loss->thread == TARE_NO_INDEX && loss->process < recording->process_count &&
		    tare_view_has_process(view, loss->process) &&
		    (process == TARE_NO_INDEX || process == loss->process))
			hosts->lost[count++] = (struct tare_run_span){ loss->from_ns, loss->to_ns };
	}
	return count;
}

int host_lost_find(struct ledger_hosts *hosts, const struct tare_view *view)
{
	size_t processes = hosts->recording->process_count, first = 0;
	hosts->lost = calloc(2 * hosts->recording->loss_count + 1, sizeof *hosts->lost);
	hosts->lost_first = calloc(processes + 2, sizeof *hosts->lost_first);
	if (!hosts->lost || !hosts->lost_first)
		return -ENOMEM;
	for (size_t i = 0; i <= processes; i++) {
		uint32_t process = i < processes ? (uint32_t)i : TARE_NO_INDEX;
		hosts->lost_first[i] = first;
		if (hosts->recording->loss_count) {
			size_t end = add_lost(hosts, view, process, first);
			first += tare_spans_unite(hosts->lost + first, end - first);
		}
	}
	hosts->lost_first[processes + 1] = first;
	return 0;
}

bool host_lost_among(const struct ledger_hosts *hosts, size_t row, int64_t at_ns, int64_t *until_ns)
{
	size_t low = hosts->lost_first[row], end = hosts->lost_first[row + 1], high = end;
	// The first that ends later.
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (hosts->lost[middle].to_ns > at_ns)
			high = middle;
		else
			low = middle + 1;
	}
	*until_ns = INT64_MAX;
	if (low == end)
		return false;
	bool inside = hosts->lost[low].from_ns <= at_ns;
	*until_ns = inside ? hosts->lost[low].to_ns : hosts->lost[low].from_ns;
	return inside;
}
