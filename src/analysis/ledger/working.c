// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/working.h"

#include "analysis/ledger/internal.h"
#include "base/room.h"

#include <errno.h>

int ledger_working_add(const struct tare_recording *recording, struct ledger_working_gaps *gaps,
                       const struct tare_gap *gap, const int64_t parts_ns[TARE_LEDGER_CATEGORIES])
{
	struct ledger_working_gap *added = TARE_ROOM_FOR(gaps->at, gaps->room, gaps->count);
	if (!added || gaps->part_count > UINT32_MAX - TARE_LEDGER_CATEGORIES)
		return -ENOMEM;
	*added = (struct ledger_working_gap){ .from_ns = gap->from_ns,
		                              .to_ns = gap->to_ns,
		                              .enter_ns = gap->to_ns,
		                              .command = gap->command,
		                              .first_part = (uint32_t)gaps->part_count,
		                              .cause = (uint8_t)gap->cause };
	if (gap->command < recording->command_count) {
		int64_t enter_ns = TARE_COMMAND(recording, gap->command)->enter_ns;
		added->enter_ns = enter_ns < gap->from_ns ? gap->from_ns
		                  : enter_ns > gap->to_ns ? gap->to_ns
		                                          : enter_ns;
	}
	for (int i = TARE_LEDGER_BEFORE_FIRST; i < TARE_LEDGER_CATEGORIES; i++) {
		if (!parts_ns[i])
			continue;
		float *part = TARE_ROOM_FOR(gaps->parts_ns, gaps->part_room, gaps->part_count);
		if (!part)
			return -ENOMEM;
		*part = (float)parts_ns[i];
		added->has |= UINT32_C(1) << i;
		gaps->part_count++;
	}
	gaps->count++;
	return 0;
}

struct taking {
	const struct tare_recording *recording;
	struct ledger_working_gaps *gaps;
};

static int take(void *context, const struct tare_gap *gap,
                const int64_t parts_ns[TARE_LEDGER_CATEGORIES])
{
	struct taking *taking = context;
	return ledger_working_add(taking->recording, taking->gaps, gap, parts_ns);
}

int ledger_working_find(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_time_span part, struct ledger_working *working)
{
	struct tare_view of = *view;
	struct ledger_scope scope = { .recording = recording,
		                      .view = &of,
		                      .device = TARE_NO_INDEX };
	struct ledger_hosts *hosts = NULL;
	struct ledger_gap_list *gaps = calloc(1, sizeof *gaps);
	struct ledger_rows row = { .at = &working->ledger };
	struct ledger_mark *marks = NULL;
	struct taking taking = { recording, &working->gaps };
	int code = gaps ? 0 : -ENOMEM;
	*working = (struct ledger_working){ .part = part };
	of.from_ns = part.from_ns;
	of.to_ns = part.to_ns;
	if (!code)
		code = ledger_mark_view(&of, &marks, &row.mark_count);
	row.marks = marks;
	if (!code)
		code = ledger_hosts_new(recording, &of, &hosts);
	if (!code)
		code = ledger_order(recording, &of, &working->order, &working->order_count);
	if (!code) {
		gaps->each = take;
		gaps->context = &taking;
		code =
		    ledger_sweep(&scope, hosts, working->order, working->order_count, &row, gaps);
	}
	ledger_hosts_free(hosts);
	free(marks);
	free(gaps);
	return code;
}

const struct tare_ledger *ledger_working_span(const struct ledger_working *working,
                                              struct tare_time_span span)
{
	for (size_t i = 0; i < working->span_count && working->of_spans; i++)
		if (working->spans[i].from_ns == span.from_ns &&
		    working->spans[i].to_ns == span.to_ns)
			return &working->of_spans[i];
	return NULL;
}

void ledger_working_free(struct ledger_working *working)
{
	if (!working)
		return;
	free(working->gaps.at);
	free(working->gaps.parts_ns);
	free(working->of_spans);
	free(working->order);
	*working = (struct ledger_working){ 0 };
}
