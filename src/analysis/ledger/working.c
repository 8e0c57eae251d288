// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/working.h"

#include "analysis/ledger/internal.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

int64_t ledger_working_enter_ns(const struct tare_recording *recording,
                                const struct ledger_working_gap *gap)
{
	if (gap->command >= recording->command_count)
		return gap->to_ns;
	int64_t enter_ns = TARE_COMMAND(recording, gap->command)->enter_ns;
	return enter_ns < gap->from_ns ? gap->from_ns
	       : enter_ns > gap->to_ns ? gap->to_ns
	                               : enter_ns;
}

// Whether it ends when its command starts, as nearly all do.
static bool ends_with_start(const struct ledger_working_gaps *gaps, int64_t to_ns, uint32_t command)
{
	return gaps->recording && command < gaps->recording->command_count &&
	       TARE_COMMAND(gaps->recording, command)->start_ns == to_ns;
}

// Which of the kinds the bits are, added where it is new; LEDGER_GAP_KINDS: there are too many.
// Returns 0 or -ENOMEM.
static int find_kind(struct ledger_working_gaps *gaps, uint32_t bits, uint16_t *kind)
{
	if (gaps->last_kind < gaps->kind_count && gaps->kinds[gaps->last_kind] == bits) {
		*kind = (uint16_t)gaps->last_kind;
		return 0;
	}
	uint32_t found = tare_id_map_find(&gaps->kind_of, bits);
	if (found == TARE_ID_ABSENT && gaps->kind_count < LEDGER_GAP_KINDS) {
		uint32_t *added = TARE_ROOM_FOR(gaps->kinds, gaps->kind_room, gaps->kind_count);
		found = (uint32_t)gaps->kind_count;
		if (!added || !tare_id_map_put(&gaps->kind_of, bits, found))
			return -ENOMEM;
		*added = bits;
		gaps->kind_count++;
	}
	gaps->last_kind = found;
	*kind = (uint16_t)(found == TARE_ID_ABSENT ? LEDGER_GAP_KINDS : found);
	return 0;
}

// Appends a gap, but for its parts. Returns 0 or -ENOMEM.
static int place(struct ledger_working_gaps *gaps, int64_t from_ns, int64_t to_ns, uint32_t command,
                 uint32_t bits)
{
	struct ledger_kept_gap *kept = TARE_ROOM_FOR(gaps->at, gaps->room, gaps->count);
	uint16_t *what = TARE_ROOM_FOR(gaps->what, gaps->what_room, gaps->count);
	uint16_t kind;
	if (!kept || !what || find_kind(gaps, bits, &kind))
		return -ENOMEM;
	if (gaps->count % LEDGER_GAPS_A_BLOCK == 0) {
		uint32_t *first =
		    TARE_ROOM_FOR(gaps->first_parts, gaps->block_room, gaps->block_count);
		if (!first)
			return -ENOMEM;
		*first = (uint32_t)gaps->part_count;
		gaps->block_count++;
	}
	*what = kind % LEDGER_GAP_KINDS;
	if (kind < LEDGER_GAP_KINDS && to_ns - from_ns < LEDGER_GAP_WIDE &&
	    ends_with_start(gaps, to_ns, command)) {
		*kept = (struct ledger_kept_gap){ (uint32_t)(to_ns - from_ns), command };
		gaps->count++;
		return 0;
	}
	struct ledger_wide_gap *wide = TARE_ROOM_FOR(gaps->wide, gaps->wide_room, gaps->wide_count);
	if (!wide)
		return -ENOMEM;
	*wide = (struct ledger_wide_gap){ from_ns, to_ns, command, bits };
	*kept = (struct ledger_kept_gap){ LEDGER_GAP_WIDE, (uint32_t)gaps->wide_count++ };
	gaps->count++;
	return 0;
}

static int add_part(struct ledger_working_gaps *gaps, float ns)
{
	float *part = TARE_ROOM_FOR(gaps->parts_ns, gaps->part_room, gaps->part_count);
	if (!part)
		return -ENOMEM;
	*part = ns;
	gaps->part_count++;
	return 0;
}

int ledger_working_add(struct ledger_working_gaps *gaps, const struct tare_gap *gap,
                       const int64_t parts_ns[TARE_LEDGER_CATEGORIES], uint32_t among)
{
	// Of these two parts findings may take some out again.
	const uint32_t changed = UINT32_C(1) << TARE_LEDGER_COMPUTING | UINT32_C(1)
	                                                                    << TARE_LEDGER_OFF_CPU;
	uint32_t has = 0;
	if (gaps->part_count > UINT32_MAX - TARE_LEDGER_CATEGORIES)
		return -ENOMEM;
	for (uint32_t left = among >> TARE_LEDGER_BEFORE_FIRST << TARE_LEDGER_BEFORE_FIRST; left;
	     left &= left - 1)
		if (parts_ns[__builtin_ctz(left)])
			has |= left & -left;
	bool one = __builtin_popcount(has) == 1 && !(has & changed) &&
	           parts_ns[__builtin_ctz(has)] == gap->to_ns - gap->from_ns;
	const struct ledger_working_gap kept = { .has = has & 0x7fffff,
		                                 .cause = gap->cause & 31,
		                                 .undivided = one };
	if (place(gaps, gap->from_ns, gap->to_ns, gap->command, kept.bits))
		return -ENOMEM;
	for (uint32_t left = one ? 0 : has; left; left &= left - 1)
		if (add_part(gaps, (float)parts_ns[__builtin_ctz(left)]))
			return -ENOMEM;
	return 0;
}

// Appends a gap of another list.
static int append(struct ledger_working_gaps *gaps, const struct ledger_working_gaps *from,
                  const struct ledger_working_gap *gap)
{
	const uint32_t marks = UINT32_MAX << LEDGER_GAP_MARKS_AT;
	if (place(gaps, gap->from_ns, gap->to_ns, gap->command, gap->bits & ~marks))
		return -ENOMEM;
	gaps->what[gaps->count - 1] |=
	    (uint16_t)((gap->bits >> LEDGER_GAP_MARKS_AT) * LEDGER_GAP_KINDS);
	for (uint32_t left = gap->undivided ? 0 : gap->has; left; left &= left - 1)
		if (add_part(gaps, *ledger_gap_part(
		                       from, gap, (enum tare_ledger_category)__builtin_ctz(left))))
			return -ENOMEM;
	return 0;
}

int ledger_working_keep(struct ledger_working_gaps *gaps,
                        bool (*wanted)(const void *context, const struct ledger_working_gap *gap),
                        const void *context)
{
	struct ledger_working_gaps kept = { .recording = gaps->recording };
	size_t first = 0;
	int code = 0;
	for (; first < gaps->count; first++) {
		struct ledger_working_gap gap = ledger_gap_at(gaps, first);
		if (!wanted(context, &gap))
			break;
	}
	if (first == gaps->count) // nearly always
		return 0;
	for (size_t i = 0; i < gaps->count && !code; i++) {
		struct ledger_working_gap gap = ledger_gap_at(gaps, i);
		if (wanted(context, &gap))
			code = append(&kept, gaps, &gap);
	}
	ledger_working_free_gaps(gaps);
	*gaps = kept;
	return code;
}

void ledger_working_free_gaps(struct ledger_working_gaps *gaps)
{
	free(gaps->at);
	free(gaps->what);
	free(gaps->kinds);
	tare_id_map_free(&gaps->kind_of);
	free(gaps->first_parts);
	free(gaps->wide);
	free(gaps->parts_ns);
	*gaps = (struct ledger_working_gaps){ 0 };
}

static int take(void *context, const struct tare_gap *gap,
                const int64_t parts_ns[TARE_LEDGER_CATEGORIES], uint32_t among)
{
	return ledger_working_add(context, gap, parts_ns, among);
}

int ledger_working_find(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_run_span part, struct ledger_working *working)
{
	struct tare_view of = *view;
	struct ledger_scope scope = { .recording = recording,
		                      .view = &of,
		                      .device = TARE_NO_INDEX };
	struct ledger_hosts *hosts = NULL;
	struct ledger_gap_list *gaps = calloc(1, sizeof *gaps);
	struct ledger_rows row = { .at = &working->ledger };
	struct ledger_mark *marks = NULL;
	int code = gaps ? 0 : -ENOMEM;
	*working = (struct ledger_working){ .part = part, .gaps.recording = recording };
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
		gaps->context = &working->gaps;
		code =
		    ledger_sweep(&scope, hosts, working->order, working->order_count, &row, gaps);
	}
	ledger_hosts_free(hosts);
	free(marks);
	free(gaps);
	return code;
}

const struct tare_ledger *ledger_working_span(const struct ledger_working *working,
                                              struct tare_run_span span)
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
	ledger_working_free_gaps(&working->gaps);
	free(working->of_spans);
	free(working->order);
	*working = (struct ledger_working){ 0 };
}
