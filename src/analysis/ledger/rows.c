// SPDX-License-Identifier: Apache-2.0
// The rows that a sweep fills, and the list of the longest gaps.
#include "analysis/ledger/sweep.h"

// ---- the list of gaps

static bool is_longer(const struct tare_gap *a, const struct tare_gap *b)
{
	int64_t left_ns = a->to_ns - a->from_ns, right_ns = b->to_ns - b->from_ns;
	return left_ns != right_ns ? left_ns > right_ns : a->from_ns < b->from_ns;
}

void sweep_begin_gap(struct sweep *sweep, uint32_t row, int64_t from_ns)
{
	struct sweep_gap *gap = &sweep->gap[row];
	gap->from_ns = from_ns;
	for (; gap->has; gap->has &= gap->has - 1)
		gap->parts_ns[__builtin_ctz(gap->has)] = 0;
}

static enum tare_ledger_category largest_part(const struct sweep_gap *gap)
{
	enum tare_ledger_category cause = 0;
	for (uint32_t left = gap->has; left; left &= left - 1)
		if (gap->parts_ns[__builtin_ctz(left)] > gap->parts_ns[cause])
			cause = (enum tare_ledger_category)__builtin_ctz(left);
	return cause;
}

static void list_gap(struct ledger_gap_list *gaps, const struct tare_gap *gap)
{
	size_t at = gaps->count < LEDGER_GAPS ? gaps->count++ : LEDGER_GAPS - 1;
	for (; at > 0 && is_longer(gap, &gaps->at[at - 1]); at--)
		gaps->at[at] = gaps->at[at - 1];
	gaps->at[at] = *gap;
}

void sweep_end_gap(struct sweep *sweep, uint32_t row, int64_t to_ns)
{
	struct ledger_gap_list *gaps = sweep->gaps;
	const struct sweep_gap *open = &sweep->gap[row];
	struct tare_gap gap = {
		.from_ns = ledger_later(open->from_ns, sweep->scope->view->from_ns),
		.to_ns = ledger_earlier(to_ns, sweep->scope->view->to_ns),
		.device = sweep->scope->device,
		.command = sweep->gap_command,
	};
	if (!gaps || !open->in_row || !sweep->in_gap || gap.from_ns >= gap.to_ns)
		return;
	bool each = gaps->each && gaps->each_row == row;
	bool listed =
	    row == 0 && (gaps->count < LEDGER_GAPS || is_longer(&gap, &gaps->at[LEDGER_GAPS - 1]));
	if (!listed && !each)
		return;
	gap.cause = largest_part(open);
	if (each && gaps->each(gaps->context, &gap, open->parts_ns, open->has) != 0)
		sweep->failed = true;
	if (listed)
		list_gap(gaps, &gap);
}

// ---- the rows

// Whether a mark of the group is due at a time.
static const struct ledger_mark *take_mark(const struct sweep *sweep, size_t *next, int64_t at_ns)
{
	if (*next == sweep->rows->mark_count || sweep->rows->marks[*next].at_ns > at_ns)
		return NULL;
	return &sweep->rows->marks[(*next)++];
}

static void add_figures(int64_t *row, const int64_t *sum, size_t count, bool begins)
{
	for (size_t i = 0; i < count; i++)
		row[i] += begins ? -sum[i] : sum[i];
}

void sweep_take_parts(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	while ((mark = take_mark(sweep, &sweep->parts_mark, at_ns))) {
		struct tare_ledger *row = &sweep->rows->at[mark->row], *sum = &sweep->sum;
		bool begins = mark->begins;
		if (mark->row < LEDGER_GAP_ROWS) {
			if (begins)
				sweep_begin_gap(sweep, mark->row, mark->at_ns);
			else
				sweep_end_gap(sweep, mark->row, mark->at_ns);
			sweep->gap[mark->row].in_row = begins;
		}
		add_figures(&row->wall_ns, &mark->at_ns, 1, begins);
		add_figures(row->parts_ns, sum->parts_ns, TARE_LEDGER_CATEGORIES, begins);
		add_figures(&row->hidden_to_device_ns, &sum->hidden_to_device_ns, 1, begins);
		add_figures(&row->hidden_from_device_ns, &sum->hidden_from_device_ns, 1, begins);
	}
}

void sweep_take_matrix(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	while ((mark = take_mark(sweep, &sweep->matrix_mark, at_ns)))
		for (size_t host = 0; host < TARE_HOST_STATES; host++)
			for (size_t device = 0; device < TARE_DEVICE_STATES; device++)
				add_figures(&sweep->rows->at[mark->row].matrix_ns[host][device],
				            &sweep->matrix_ns[device][host], 1, mark->begins);
}

static int64_t pass_near(struct sweep *sweep, int64_t at_ns)
{
	const struct ledger_mark *mark;
	while ((mark = take_mark(sweep, &sweep->near_mark, at_ns)))
		add_figures(&sweep->rows->at[mark->row].ambiguous_ns, &sweep->sum.ambiguous_ns, 1,
		            mark->begins);
	return sweep_mark_ns(sweep, sweep->near_mark);
}

void sweep_take_near(void *context, const struct tare_run_span *span)
{
	struct sweep *sweep = context;
	for (int64_t from_ns = span->from_ns; from_ns < span->to_ns;) {
		int64_t until_ns = ledger_earlier(pass_near(sweep, from_ns), span->to_ns);
		sweep->sum.ambiguous_ns += until_ns - from_ns;
		from_ns = until_ns;
	}
}

void sweep_pass_all(struct sweep *sweep)
{
	sweep_take_parts(sweep, INT64_MAX);
	sweep_take_matrix(sweep, INT64_MAX);
	pass_near(sweep, INT64_MAX);
}
