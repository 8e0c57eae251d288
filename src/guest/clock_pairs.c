// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include <time.h>

void guest_clock_pairs(struct guest_thread *thread)
{
	static const struct {
		uint16_t clock;
		int native;
	} clocks[] = {
		{ TARE_CLOCK_RAW, CLOCK_MONOTONIC_RAW },
		{ TARE_CLOCK_MONOTONIC, CLOCK_MONOTONIC },
		{ TARE_CLOCK_REALTIME, CLOCK_REALTIME },
	};
	for (size_t i = guest_clock_tsc ? 0 : 1; i < sizeof clocks / sizeof *clocks; i++) {
		struct guest_clock_pair pair = guest_clock_tightest(clocks[i].native);
		union tare_trace_record record = { .clock_pair = {
			                               .head =
			                                   tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
			                                                   clocks[i].clock, 0),
			                               .before = pair.before,
			                               .value = pair.value,
			                               .after = pair.after,
			                           } };
		guest_define_of(thread, &record);
	}
}
