// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/phases.h"

#include "analysis/ledger/internal.h"
#include "analysis/tables/internal.h"
#include "analysis/tables/phase_names.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A row in the making: a ledger for each of very many names would be too much.
struct name {
	size_t parent;
	uint64_t count, unended;
	int64_t total_ns, covered_ns;
	double median_ns, max_ns;
	struct tare_run_span *spans;
	size_t span_count;
};

struct making {
	const struct tare_recording *recording;
	const struct tare_view *view;
	struct phase_names names;
	struct name *at;  // names.count of them
	uint32_t *order;  // phases by row
	size_t *first;    // of each row in `order`, and the end
	uint32_t *row_of; // of each name, among those that are kept; TARE_NO_INDEX
};

// ---- phases by name

// Counting sort: within a row they keep their order.
static int sort_by_name(struct making *making)
{
	size_t phases = making->recording->phase_count, names = making->names.count;
	making->at = calloc(names + 1, sizeof *making->at);
	making->order = malloc((phases + 1) * sizeof *making->order);
	making->first = calloc(names + 2, sizeof *making->first);
	making->row_of = malloc((names + 1) * sizeof *making->row_of);
	if (!making->at || !making->order || !making->first || !making->row_of)
		return -ENOMEM;
	for (size_t i = 0; i < phases; i++)
		if (making->names.of[i] != TARE_NO_INDEX)
			making->first[making->names.of[i] + 2]++;
	for (size_t i = 2; i <= names; i++)
		making->first[i] += making->first[i - 1];
	for (uint32_t i = 0; i < phases; i++)
		if (making->names.of[i] != TARE_NO_INDEX)
			making->order[making->first[making->names.of[i] + 1]++] = i;
	return 0;
}

// Cuts spans, which are disjoint and in order, to those of the view.
static int cut_to_view(const struct tare_view *view, const struct tare_run_span *spans,
                       size_t count, struct name *name)
{
	struct tare_run_span piece;
	size_t room = count;
	name->spans = malloc((count + 1) * sizeof *name->spans);
	if (!name->spans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int64_t at_ns = spans[i].from_ns;
		while (tare_view_next(view, &at_ns, spans[i].to_ns, &piece)) {
			struct tare_run_span *next =
			    TARE_ROOM_FOR(name->spans, room, name->span_count);
			if (!next)
				return -ENOMEM;
			*next = piece;
			name->span_count++;
			name->covered_ns += piece.to_ns - piece.from_ns;
		}
	}
	return 0;
}

// Counts the phases of a name. `lengths` and `spans` have room for as many.
static int fill_name(const struct making *making, size_t index, struct tables_span *lengths,
                     struct tare_run_span *spans)
{
	struct name *name = &making->at[index];
	size_t ended = 0, count = 0;
	for (size_t i = making->first[index]; i < making->first[index + 1]; i++) {
		const struct tare_recorded_phase *phase =
		    &making->recording->phases[making->order[i]];
		int64_t ns = tables_length(phase->from_ns, phase->to_ns);
		spans[count++] = (struct tare_run_span){ phase->from_ns, phase->to_ns };
		if (!tare_view_has_moment(making->recording, making->view, phase->from_ns))
			continue;
		name->count++;
		name->unended += phase->unended;
		name->total_ns = tables_add(name->total_ns, ns);
		if (!phase->unended)
			lengths[ended++] = (struct tables_span){ 0, ns };
	}
	name->median_ns = ended ? tables_quantile_length(lengths, ended, 0.5) : NAN;
	name->max_ns = ended ? tables_quantile_length(lengths, ended, 1) : NAN;
	count = tare_spans_unite(spans, count);
	return cut_to_view(making->view, spans, count, name);
}

static int fill_names(struct making *making)
{
	size_t phases = making->recording->phase_count;
	TARE_FREE struct tables_span *lengths = malloc((phases + 1) * sizeof *lengths);
	TARE_FREE struct tare_run_span *spans = malloc((phases + 1) * sizeof *spans);
	int code = lengths && spans ? 0 : -ENOMEM;
	for (size_t i = 0; i < making->names.count && code == 0; i++)
		code = fill_name(making, i, lengths, spans);
	return code;
}

// ---- which lie in which

// The name that each phase lies in, those of its own name aside; TARE_NO_INDEX: none. Parents come
// first, so that a deep nest of one name takes no longer than a flat one.
static uint32_t *find_around(const struct making *making)
{
	size_t count = making->recording->phase_count;
	const uint32_t *of = making->names.of;
	uint32_t *around = malloc((count + 1) * sizeof *around);
	for (size_t i = 0; i < count && around; i++) {
		uint32_t parent = making->recording->phases[i].parent;
		around[i] = parent >= i           ? TARE_NO_INDEX
		            : of[parent] != of[i] ? of[parent]
		                                  : around[parent];
	}
	return around;
}

static int find_parents(struct making *making)
{
	TARE_FREE uint32_t *around = find_around(making);
	if (!around)
		return -ENOMEM;
	for (size_t i = 0; i < making->names.count; i++) {
		size_t *parent = &making->at[i].parent;
		bool found = false;
		*parent = SIZE_MAX;
		for (size_t k = making->first[i]; k < making->first[i + 1]; k++) {
			uint32_t name = around[making->order[k]];
			size_t outer = name == TARE_NO_INDEX ? SIZE_MAX : name;
			if (found && outer != *parent) {
				*parent = SIZE_MAX;
				break;
			}
			*parent = outer;
			found = true;
		}
	}
	return 0;
}

// ---- which are kept

static int compare_names(const void *a, const void *b, void *context)
{
	const struct making *making = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct name *x = &making->at[i], *y = &making->at[k];
	// Of equal ones the one that began first: what contains the other.
	if (x->covered_ns != y->covered_ns)
		return x->covered_ns > y->covered_ns ? -1 : 1;
	return (i > k) - (i < k);
}

static struct tare_phase_row make_row(const struct making *making, size_t index)
{
	const struct name *name = &making->at[index];
	const struct tare_recorded_phase *phase =
	    &making->recording->phases[making->names.first[index]];
	uint32_t parent = name->parent == SIZE_MAX ? TARE_NO_INDEX : making->row_of[name->parent];
	return (struct tare_phase_row){
		.name = phase->name,
		.domain = phase->domain,
		.parent = parent == TARE_NO_INDEX ? SIZE_MAX : parent,
		.count = name->count,
		.unended = name->unended,
		.total_ns = name->total_ns,
		.covered_ns = name->covered_ns,
		.median_ns = name->median_ns,
		.max_ns = name->max_ns,
		.spans = name->spans,
		.span_count = name->span_count,
	};
}

// Puts the names in order; those that the view does not have, or that are too many, become no rows.
static int make_rows(struct making *making, struct tare_phases *phases)
{
	size_t names = making->names.count;
	TARE_FREE uint32_t *order = malloc((names + 1) * sizeof *order);
	phases->rows =
	    calloc((names < TARE_PHASE_ROWS ? names : TARE_PHASE_ROWS) + 1, sizeof *phases->rows);
	if (!order || !phases->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < names; i++)
		order[i] = i;
	qsort_r(order, names, sizeof *order, compare_names, making);
	for (uint32_t i = 0; i < names; i++) {
		const struct name *name = &making->at[order[i]];
		bool here = name->count > 0 || name->covered_ns > 0;
		bool kept = here && phases->count < TARE_PHASE_ROWS;
		making->row_of[order[i]] = kept ? (uint32_t)phases->count : TARE_NO_INDEX;
		phases->count += kept;
		phases->left_out += here && !kept;
	}
	for (size_t i = 0; i < names; i++)
		if (making->row_of[i] != TARE_NO_INDEX) {
			phases->rows[making->row_of[i]] = make_row(making, i);
			making->at[i].spans = NULL;
		}
	return 0;
}

// ---- where the time went

static int compare_marks(const void *a, const void *b)
{
	const struct ledger_mark *x = a, *y = b;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int make_ledgers(const struct making *making, struct tare_phases *phases)
{
	size_t spans = 0, marked = 0;
	for (size_t i = 0; i < phases->count; i++)
		spans += phases->rows[i].span_count;
	TARE_FREE struct ledger_mark *marks = malloc((2 * spans + 1) * sizeof *marks);
	TARE_FREE struct tare_ledger *ledgers = calloc(phases->count + 1, sizeof *ledgers);
	if (!marks || !ledgers)
		return -ENOMEM;
	for (uint32_t i = 0; i < phases->count; i++)
		for (size_t k = 0; k < phases->rows[i].span_count; k++) {
			const struct tare_run_span *span = &phases->rows[i].spans[k];
			marks[marked++] = (struct ledger_mark){ span->from_ns, i, true };
			marks[marked++] = (struct ledger_mark){ span->to_ns, i, false };
		}
	qsort(marks, marked, sizeof *marks, compare_marks);
	struct ledger_rows rows = { marks, marked, ledgers };
	int code = ledger_of_rows(making->recording, making->view, &rows, phases->count);
	for (size_t i = 0; i < phases->count; i++)
		phases->rows[i].ledger = ledgers[i];
	return code;
}

// ---- commands

// A row begins or ends on a thread.
struct thread_mark {
	int64_t at_ns;
	uint32_t thread, row;
	bool begins;
};

static int compare_thread_marks(const void *a, const void *b)
{
	const struct thread_mark *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

// By thread, and in order of time on each.
static int compare_phases(const void *a, const void *b, void *context)
{
	const struct tare_recorded_phase *phases = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (phases[i].thread != phases[k].thread)
		return phases[i].thread < phases[k].thread ? -1 : 1;
	return (i > k) - (i < k);
}

// Appends the marks of a row; phases of it that overlap on a thread are one.
static size_t mark_row(const struct making *making, size_t name, struct thread_mark *marks)
{
	const struct tare_recorded_phase *phases = making->recording->phases;
	uint32_t *order = making->order + making->first[name];
	size_t phase_count = making->first[name + 1] - making->first[name], count = 0;
	qsort_r(order, phase_count, sizeof *order, compare_phases, making->recording->phases);
	for (size_t i = 0; i < phase_count; i++) {
		const struct tare_recorded_phase *phase = &phases[order[i]];
		uint32_t row = making->row_of[name];
		if (phase->to_ns <= phase->from_ns)
			continue;
		if (count && marks[count - 1].thread == phase->thread &&
		    marks[count - 1].at_ns >= phase->from_ns) {
			if (phase->to_ns > marks[count - 1].at_ns)
				marks[count - 1].at_ns = phase->to_ns;
			continue;
		}
		marks[count++] = (struct thread_mark){ phase->from_ns, phase->thread, row, true };
		marks[count++] = (struct thread_mark){ phase->to_ns, phase->thread, row, false };
	}
	return count;
}

// Of commands, by their numbers and what they took of the device.
struct enqueued {
	uint64_t commands, kernels, kernel_ns, timed, timed_ns;
};

// Where a thread stands: its next mark, and the commands that it has enqueued so far.
struct thread_place {
	size_t next, end;
	struct enqueued so_far;
};

static void add_time(int64_t *sum_ns, uint64_t ns, bool begins)
{
	*sum_ns = (int64_t)((uint64_t)*sum_ns + (begins ? -ns : ns));
}

// Adds or takes what a thread has enqueued so far.
static void add_place(const struct thread_place *place, bool begins, struct tare_phase_row *row)
{
	const struct enqueued *so_far = &place->so_far;
	row->commands += begins ? -so_far->commands : so_far->commands;
	row->kernels += begins ? -so_far->kernels : so_far->kernels;
	row->timed += begins ? -so_far->timed : so_far->timed;
	add_time(&row->kernel_ns, so_far->kernel_ns, begins);
	add_time(&row->launched_ns, so_far->timed_ns, begins);
}

// `in`: the row of the phase that launched it; NULL: none.
static void count_command(const struct tare_recorded_command *command, struct thread_place *place,
                          struct tare_phase_row *in)
{
	struct enqueued *so_far = &place->so_far;
	bool kernel = tables_is_kernel(command);
	struct tables_span span;
	so_far->commands++;
	so_far->kernels += kernel;
	if (!tables_timed(command, &span))
		return;
	uint64_t ns = (uint64_t)tables_length(span.from, span.to);
	so_far->timed++;
	so_far->timed_ns += ns;
	so_far->kernel_ns += kernel ? ns : 0;
	if (in)
		add_time(&in->launched_self_ns, ns, false);
}

static void pass_marks(const struct thread_mark *marks, struct thread_place *place, int64_t at_ns,
                       struct tare_phase_row *rows)
{
	for (; place->next < place->end && marks[place->next].at_ns <= at_ns; place->next++)
		add_place(place, marks[place->next].begins, &rows[marks[place->next].row]);
}

static struct tare_phase_row *row_of_phase(const struct making *making, struct tare_phases *phases,
                                           uint32_t phase)
{
	uint32_t name = phase == TARE_NO_INDEX ? TARE_NO_INDEX : making->names.of[phase];
	uint32_t row = name == TARE_NO_INDEX ? TARE_NO_INDEX : making->row_of[name];
	return row == TARE_NO_INDEX ? NULL : &phases->rows[row];
}

// A row has those enqueued when each of its parts ends less those when it begins.
static int count_commands(const struct making *making, struct tare_phases *phases)
{
	const struct tare_recording *recording = making->recording;
	size_t threads = recording->thread_count, count = 0;
	TARE_FREE struct thread_mark *marks =
	    malloc((2 * recording->phase_count + 1) * sizeof *marks);
	TARE_FREE struct thread_place *places = calloc(threads + 1, sizeof *places);
	TARE_FREE uint32_t *phase_of = tare_phases_of_commands(recording);
	if (!marks || !places || !phase_of)
		return -ENOMEM;
	for (size_t i = 0; i < making->names.count; i++)
		if (making->row_of[i] != TARE_NO_INDEX)
			count += mark_row(making, i, marks + count);
	qsort(marks, count, sizeof *marks, compare_thread_marks);
	for (size_t i = 0; i < count; i++) {
		struct thread_place *place = &places[marks[i].thread];
		if (place->end == 0)
			place->next = i;
		place->end = i + 1;
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct thread_place *place;
		if (command->thread >= threads || tare_command_is_drivers(command))
			continue;
		place = &places[command->thread];
		pass_marks(marks, place, command->enter_ns, phases->rows);
		if (!tare_command_only_executes(command) &&
		    tare_view_has_moment(recording, making->view, command->enter_ns) &&
		    tare_view_wants_command(recording, making->view, command))
			count_command(command, place, row_of_phase(making, phases, phase_of[i]));
	}
	for (size_t i = 0; i < threads; i++)
		pass_marks(marks, &places[i], INT64_MAX, phases->rows);
	return 0;
}

// ---- all of it

static int compute(struct making *making, struct tare_phases *phases)
{
	int code = phase_names_find(making->recording, making->view->process, &making->names);
	if (code == 0)
		code = sort_by_name(making);
	if (code == 0)
		code = fill_names(making);
	if (code != 0)
		return code;
	code = find_parents(making);
	if (code == 0)
		code = make_rows(making, phases);
	if (code == 0)
		code = count_commands(making, phases);
	if (code == 0 && phases->count > 0)
		code = make_ledgers(making, phases);
	return code;
}

int tare_phases_compute(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_phases *phases, struct tare_error *error)
{
	struct making making = { .recording = recording, .view = view };
	int code = 0;
	*phases = (struct tare_phases){ 0 };
	if (recording->phase_count > 0)
		code = compute(&making, phases);
	for (size_t i = 0; making.at && i < making.names.count; i++)
		free(making.at[i].spans);
	free(making.at);
	free(making.order);
	free(making.first);
	free(making.row_of);
	phase_names_free(&making.names);
	if (code == 0)
		return 0;
	tare_phases_free(phases);
	return tare_fail(error, -code, "no memory for the phases: there are %zu",
	                 recording->phase_count);
}

void tare_phases_free(struct tare_phases *phases)
{
	for (size_t i = 0; i < phases->count; i++)
		free(phases->rows[i].spans);
	free(phases->rows);
	*phases = (struct tare_phases){ 0 };
}
