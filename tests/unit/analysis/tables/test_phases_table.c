// SPDX-License-Identifier: Apache-2.0
// Phases by name: random ones against a count of every nanosecond and against the ledger of a view
// of their spans, and what is chosen by a pattern. The seed comes from the clock and is printed.
#include "analysis/recording/intervals.h"
#include "analysis/tables/phases.h"
#include "tests/unit/analysis/ledger/made_recording.h"
#include "tests/unit/model/statistics/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WALL = 400, MOST = 60, ROUNDS = 300 };

static int64_t below(struct tare_random *random, int64_t bound)
{
	return (int64_t)tare_random_below(random, (uint64_t)bound);
}

static const struct {
	const char *name, *domain;
} names[] = { { "step", "" },     { "load", "" },    { "step", "app" },
	      { "solve", "app" }, { "step[3]", "" }, { "halo[0]", "app" } };
enum { NAMES = sizeof names / sizeof *names };

struct world {
	struct made *made;
	struct tare_recorded_phase phases[MOST];
	struct tare_view view;
	struct tare_run_span spans[2];
};

// ---- at random

static void add_phase(struct world *world, uint32_t thread, size_t name, uint32_t parent,
                      int64_t from_ns, int64_t to_ns)
{
	size_t *count = &world->made->recording.phase_count;
	assert_true(*count < MOST);
	world->phases[(*count)++] = (struct tare_recorded_phase){
		.from_ns = from_ns,
		.to_ns = to_ns,
		.thread = thread,
		.parent = parent,
		.depth = parent == TARE_NO_INDEX ? 0 : world->phases[parent].depth + 1,
		.name = names[name].name,
		.domain = names[name].domain,
	};
}

static int compare_begins(const void *a, const void *b)
{
	const struct tare_recorded_phase *x = a, *y = b;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void some_phases(struct world *world, struct tare_random *random)
{
	int64_t count = below(random, MOST);
	for (int64_t i = 0; i < count; i++) {
		int64_t from_ns = below(random, WALL), to_ns = from_ns + below(random, 90);
		struct tare_recorded_phase *phase = &world->phases[i];
		add_phase(world, (uint32_t)below(random, 3), (size_t)below(random, NAMES),
		          TARE_NO_INDEX, from_ns, to_ns < WALL ? to_ns : WALL);
		phase->instant = below(random, 8) == 0;
		if (phase->instant)
			phase->to_ns = phase->from_ns;
		phase->unended = !phase->instant && below(random, 8) == 0;
		if (phase->unended)
			phase->to_ns = WALL;
	}
	qsort(world->phases, world->made->recording.phase_count, sizeof *world->phases,
	      compare_begins);
}

static void some_commands(struct world *world, struct tare_random *random)
{
	for (uint32_t thread = 0; thread < 3; thread++) {
		int64_t at_ns = below(random, 40);
		while (at_ns < WALL - 60) {
			int64_t exit_ns = at_ns + below(random, 12),
			        start_ns = exit_ns + below(random, 20);
			uint32_t queue = thread == 2 ? 2 : (uint32_t)below(random, 2);
			uint8_t kind = below(random, 3) ? TARE_KIND_KERNEL : TARE_KIND_WRITE;
			if (below(random, 3) == 0) {
				made_call(world->made,
				          made_plain_call(thread, TARE_ROLE_WAIT, at_ns, exit_ns));
			} else {
				struct tare_recorded_command command = made_plain_command(
				    thread, queue, kind, at_ns, exit_ns, TARE_NO_TIME, start_ns,
				    start_ns + below(random, 25));
				command.object = 0;
				if (below(random, 5) == 0)
					command.start_ns = command.end_ns = TARE_NO_TIME;
				made_command(world->made, command);
			}
			at_ns = exit_ns + 1 + below(random, 15);
		}
	}
	made_sort(world->made);
}

static void some_view(struct world *world, struct tare_random *random)
{
	struct tare_view *view = &world->view;
	*view = tare_view_all(&world->made->recording);
	if (below(random, 2)) {
		view->from_ns = below(random, WALL / 2);
		view->to_ns = view->from_ns + 1 + below(random, WALL / 2);
	}
	if (below(random, 3) == 0)
		view->process = (uint32_t)below(random, 2);
	if (below(random, 3) == 0)
		view->device = (uint32_t)below(random, 2);
	if (below(random, 3) == 0) {
		int64_t middle_ns = view->from_ns + (view->to_ns - view->from_ns) / 2;
		world->spans[0] = (struct tare_run_span){ view->from_ns, middle_ns - 5 };
		world->spans[1] = (struct tare_run_span){ middle_ns, view->to_ns };
		view->spans = world->spans + (middle_ns - 5 <= view->from_ns);
		view->span_count = 2 - (middle_ns - 5 <= view->from_ns);
	}
}

// Two processes, the first with two threads; two devices.
static struct world *make_world(void)
{
	struct world *world = calloc(1, sizeof *world);
	assert_non_null(world);
	world->made = made_new(WALL);
	for (uint32_t i = 0; i < 2; i++) {
		made_process(world->made, WALL);
		made_thread(world->made, i);
		if (i == 0)
			made_thread(world->made, i);
		made_device(world->made, i, TARE_NO_INDEX, 3);
		made_queue(world->made, i, i, true);
		if (i == 0)
			made_queue(world->made, i, i, false);
	}
	world->made->recording.phases = world->phases;
	world->view = tare_view_all(&world->made->recording);
	return world;
}

static void free_world(struct world *world)
{
	free(world->made);
	free(world);
}

static bool in_view(const struct world *world, int64_t t)
{
	const struct tare_view *view = &world->view;
	bool inside = !view->spans;
	t = t >= WALL ? WALL - 1 : t;
	for (size_t i = 0; i < view->span_count; i++)
		inside |= view->spans[i].from_ns <= t && t < view->spans[i].to_ns;
	return inside && view->from_ns <= t && t < view->to_ns;
}

static bool is_of(const struct world *world, const struct tare_phase_row *row, size_t phase)
{
	const struct tare_recorded_phase *p = &world->phases[phase];
	uint32_t process = world->made->threads[p->thread].process;
	return !p->instant && !strcmp(p->name, row->name) && !strcmp(p->domain, row->domain) &&
	       (world->view.process == TARE_NO_INDEX || world->view.process == process);
}

// Whether a phase of the row is open at a moment; on one thread or on any (TARE_NO_INDEX).
static bool is_open(const struct world *world, const struct tare_phase_row *row, uint32_t thread,
                    int64_t t)
{
	for (size_t i = 0; i < world->made->recording.phase_count; i++)
		if (is_of(world, row, i) && world->phases[i].from_ns <= t &&
		    t < world->phases[i].to_ns &&
		    (thread == TARE_NO_INDEX || world->phases[i].thread == thread))
			return true;
	return false;
}

static int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void check_lengths(const struct world *world, const struct tare_phase_row *row)
{
	double lengths[MOST];
	uint64_t count = 0, unended = 0;
	int64_t total_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < world->made->recording.phase_count; i++) {
		const struct tare_recorded_phase *p = &world->phases[i];
		if (!is_of(world, row, i) || !in_view(world, p->from_ns))
			continue;
		count++;
		unended += p->unended;
		total_ns += p->to_ns - p->from_ns;
		if (!p->unended)
			lengths[n++] = (double)(p->to_ns - p->from_ns);
	}
	qsort(lengths, n, sizeof *lengths, compare_doubles);
	assert_int_equal(row->count, count);
	assert_int_equal(row->unended, unended);
	assert_int_equal(row->total_ns, total_ns);
	if (n == 0) {
		assert_true(isnan(row->median_ns) && isnan(row->max_ns));
		return;
	}
	assert_true(row->median_ns == (lengths[(n - 1) / 2] + lengths[n / 2]) / 2);
	assert_true(row->max_ns == lengths[n - 1]);
}

// The phase of a command's thread that began last of those that were open; the later one of two
// that began together. TARE_NO_INDEX: none was open.
static size_t launches(const struct world *world, const struct tare_recorded_command *c)
{
	size_t found = TARE_NO_INDEX;
	for (size_t i = 0; i < world->made->recording.phase_count; i++) {
		const struct tare_recorded_phase *p = &world->phases[i];
		if (!p->instant && p->thread == c->thread && p->from_ns <= c->enter_ns &&
		    c->enter_ns < p->to_ns &&
		    (found == TARE_NO_INDEX || p->from_ns >= world->phases[found].from_ns))
			found = i;
	}
	return found;
}

static void check_commands(const struct world *world, const struct tare_phase_row *row)
{
	uint64_t commands = 0, timed = 0, kernels = 0;
	int64_t kernel_ns = 0, launched_ns = 0, self_ns = 0;
	for (size_t i = 0; i < world->made->recording.command_count; i++) {
		const struct tare_recorded_command *c = &world->made->commands[i];
		uint32_t device = world->made->queues[c->queue].device;
		int64_t ns = tare_command_timed(c) ? c->end_ns - c->start_ns : 0;
		size_t phase = launches(world, c);
		if (!in_view(world, c->enter_ns) ||
		    (world->view.device != TARE_NO_INDEX && world->view.device != device))
			continue;
		if (phase != TARE_NO_INDEX && is_of(world, row, phase))
			self_ns += ns;
		if (!is_open(world, row, c->thread, c->enter_ns))
			continue;
		commands++;
		timed += tare_command_timed(c);
		launched_ns += ns;
		kernels += c->kind == TARE_KIND_KERNEL;
		kernel_ns += c->kind == TARE_KIND_KERNEL ? ns : 0;
	}
	assert_int_equal(row->commands, commands);
	assert_int_equal(row->timed, timed);
	assert_int_equal(row->kernels, kernels);
	assert_int_equal(row->kernel_ns, kernel_ns);
	assert_int_equal(row->launched_ns, launched_ns);
	assert_int_equal(row->launched_self_ns, self_ns);
}

static void check_launches(const struct world *world)
{
	uint32_t *of = tare_phases_of_commands(&world->made->recording);
	assert_non_null(of);
	for (size_t i = 0; i < world->made->recording.command_count; i++)
		assert_int_equal(of[i], launches(world, &world->made->commands[i]));
	free(of);
}

static void check_ledger(const struct world *world, const struct tare_phase_row *row)
{
	struct tare_view view = world->view;
	struct tare_ledgers ledgers;
	int64_t covered_ns = 0;
	for (int64_t t = 0; t < WALL; t++)
		covered_ns += in_view(world, t) && is_open(world, row, TARE_NO_INDEX, t);
	assert_int_equal(row->covered_ns, covered_ns);
	assert_int_equal(row->ledger.wall_ns, covered_ns);
	view.spans = row->spans;
	view.span_count = row->span_count;
	assert_int_equal(tare_view_ns(&view), covered_ns);
	if (row->span_count == 0)
		return;
	assert_int_equal(tare_ledgers_compute(&world->made->recording, &view, &ledgers, NULL), 0);
	const struct tare_ledger *should = &ledgers.ledgers[ledgers.count - 1];
	assert_string_equal(row->ledger.scope, should->scope);
	assert_memory_equal(row->ledger.parts_ns, should->parts_ns, sizeof should->parts_ns);
	assert_memory_equal(row->ledger.matrix_ns, should->matrix_ns, sizeof should->matrix_ns);
	assert_int_equal(row->ledger.ambiguous_ns, should->ambiguous_ns);
	assert_int_equal(row->ledger.hidden_to_device_ns, should->hidden_to_device_ns);
	tare_ledgers_free(&ledgers);
}

// Names that are open, or begin, in the view.
static size_t count_rows(const struct world *world)
{
	size_t count = 0;
	for (size_t k = 0; k < NAMES; k++) {
		struct tare_phase_row row = { .name = names[k].name, .domain = names[k].domain };
		bool here = false;
		for (int64_t t = 0; t < WALL && !here; t++)
			here = in_view(world, t) && is_open(world, &row, TARE_NO_INDEX, t);
		for (size_t i = 0; i < world->made->recording.phase_count; i++)
			here |= is_of(world, &row, i) && in_view(world, world->phases[i].from_ns);
		count += here;
	}
	return count;
}

static void random_phases_agree_with_the_count(void **state)
{
	struct tare_random random = unchosen_seed();
	size_t rows = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct world *world = make_world();
		struct tare_phases phases;
		some_phases(world, &random);
		some_commands(world, &random);
		some_view(world, &random);
		assert_int_equal(
		    tare_phases_compute(&world->made->recording, &world->view, &phases, NULL), 0);
		assert_int_equal(phases.count, count_rows(world));
		check_launches(world);
		for (size_t i = 0; i < phases.count; i++, rows++) {
			const struct tare_phase_row *row = &phases.rows[i];
			check_lengths(world, row);
			check_commands(world, row);
			check_ledger(world, row);
			assert_true(row->count > 0 || row->covered_ns > 0);
			assert_true(i == 0 || row[-1].covered_ns >= row->covered_ns);
			for (size_t k = 0; k < i; k++)
				assert_true(strcmp(row->name, phases.rows[k].name) ||
				            strcmp(row->domain, phases.rows[k].domain));
		}
		tare_phases_free(&phases);
		free_world(world);
	}
	assert_true(rows > ROUNDS);
}

// ---- which lie in which

static size_t find(const struct tare_phases *phases, const char *name)
{
	for (size_t i = 0; i < phases->count; i++)
		if (!strcmp(phases->rows[i].name, name) && !phases->rows[i].domain[0])
			return i;
	fail_msg("no phase %s", name);
	return 0;
}

static void a_parent_is_the_only_one(void **state)
{
	enum { STEP, LOAD, APP_STEP, SOLVE, STEP_3 };
	struct world *world = make_world();
	struct tare_phases phases;
	(void)state;
	// step: load (in itself, too), step (in itself): step[3]; app/solve in step and alone.
	add_phase(world, 0, STEP, TARE_NO_INDEX, 0, 100);
	add_phase(world, 0, LOAD, 0, 10, 20);
	add_phase(world, 0, LOAD, 1, 12, 15);
	add_phase(world, 0, STEP, 0, 30, 60);
	add_phase(world, 0, STEP_3, 3, 40, 50);
	add_phase(world, 0, SOLVE, 0, 70, 80);
	add_phase(world, 0, SOLVE, TARE_NO_INDEX, 110, 120);
	add_phase(world, 0, STEP, TARE_NO_INDEX, 130, 140);
	add_phase(world, 0, SOLVE, 7, 132, 134);
	assert_int_equal(tare_phases_compute(&world->made->recording, &world->view, &phases, NULL),
	                 0);
	assert_int_equal(phases.count, 4);
	size_t step = find(&phases, "step");
	assert_int_equal(step, 0);
	assert_int_equal(phases.rows[step].parent, SIZE_MAX);
	assert_int_equal(phases.rows[step].count, 3);
	assert_int_equal(phases.rows[step].total_ns, 140);
	assert_int_equal(phases.rows[step].covered_ns, 110);
	assert_int_equal(phases.rows[find(&phases, "load")].parent, step);
	assert_int_equal(phases.rows[find(&phases, "step[3]")].parent, step);
	for (size_t i = 0; i < phases.count; i++)
		if (!strcmp(phases.rows[i].name, "solve"))
			assert_int_equal(phases.rows[i].parent, SIZE_MAX);
	tare_phases_free(&phases);
	free_world(world);
}

static void the_longest_thousand_are_kept(void **state)
{
	enum { ALL = TARE_PHASE_ROWS + 25 };
	static char texts[ALL][16];
	static struct tare_recorded_phase all[ALL];
	struct world *world = make_world();
	struct tare_phases phases;
	(void)state;
	world->made->recording.end_ns = world->view.to_ns = 10 * ALL;
	for (int i = 0; i < ALL; i++) {
		snprintf(texts[i], sizeof texts[i], "%d", i);
		all[i] = (struct tare_recorded_phase){ .from_ns = i,
			                               .to_ns = i + 1 + i % (ALL / 2 + 1),
			                               .parent = TARE_NO_INDEX,
			                               .name = texts[i],
			                               .domain = "" };
	}
	world->made->recording.phases = all;
	world->made->recording.phase_count = ALL;
	assert_int_equal(tare_phases_compute(&world->made->recording, &world->view, &phases, NULL),
	                 0);
	assert_int_equal(phases.count, TARE_PHASE_ROWS);
	assert_int_equal(phases.left_out, 25);
	// Two of each length but the longest: the 13th of the left out is one of a pair.
	assert_int_equal(phases.rows[TARE_PHASE_ROWS - 1].covered_ns, 13);
	tare_phases_free(&phases);
	free_world(world);
}

// ---- by a pattern

static void patterns_choose_spans(void **state)
{
	static const struct {
		const char *pattern;
		uint32_t process;
		int64_t from_ns, to_ns;
		int count;
		struct tare_run_span spans[3];
	} rows[] = {
		{ "step", TARE_NO_INDEX, 0, WALL, 2, { { 10, 50 }, { 100, 150 } } },
		{ "app/step", TARE_NO_INDEX, 0, WALL, 1, { { 100, 150 } } },
		{ "app/*", TARE_NO_INDEX, 0, WALL, 2, { { 100, 160 }, { 250, 260 } } },
		{ "app/halo[0]", TARE_NO_INDEX, 0, WALL, 1, { { 250, 260 } } },
		{ "s*", TARE_NO_INDEX, 0, WALL, 3, { { 10, 50 }, { 100, 160 }, { 200, 210 } } },
		{ "step[3]", TARE_NO_INDEX, 0, WALL, 1, { { 200, 210 } } },
		{ "*", TARE_NO_INDEX, 30, 140, 2, { { 30, 60 }, { 100, 140 } } },
		{ "step", 1, 0, WALL, 1, { { 40, 50 } } },
		{ "Step", TARE_NO_INDEX, 0, WALL, 0, { { 0 } } },
		{ "step", TARE_NO_INDEX, 60, 100, 0, { { 0 } } },
		{ "load", TARE_NO_INDEX, 55, 58, 1, { { 55, 58 } } },
	};
	struct world *world = make_world();
	uint32_t found[NAMES];
	(void)state;
	add_phase(world, 0, 0, TARE_NO_INDEX, 10, 40);
	add_phase(world, 2, 0, TARE_NO_INDEX, 40, 50);
	add_phase(world, 0, 1, TARE_NO_INDEX, 45, 60);
	add_phase(world, 0, 2, TARE_NO_INDEX, 100, 150);
	add_phase(world, 1, 3, TARE_NO_INDEX, 120, 160);
	add_phase(world, 0, 4, TARE_NO_INDEX, 200, 210);
	add_phase(world, 0, 5, TARE_NO_INDEX, 250, 260);
	add_phase(world, 0, 0, TARE_NO_INDEX, 300, 300);
	world->phases[7].instant = true;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_view view = world->view;
		struct tare_run_span *spans;
		view.process = rows[i].process;
		view.from_ns = rows[i].from_ns;
		view.to_ns = rows[i].to_ns;
		assert_int_equal(
		    tare_phase_spans(&world->made->recording, &view, rows[i].pattern, &spans),
		    rows[i].count);
		assert_true((spans != NULL) == (rows[i].count > 0));
		for (int k = 0; k < rows[i].count; k++) {
			assert_int_equal(spans[k].from_ns, rows[i].spans[k].from_ns);
			assert_int_equal(spans[k].to_ns, rows[i].spans[k].to_ns);
		}
		free(spans);
	}
	assert_int_equal(tare_phase_names(&world->made->recording, TARE_NO_INDEX, found, NAMES), 6);
	assert_int_equal(found[0], 0);
	assert_int_equal(found[1], 2);
	assert_int_equal(tare_phase_names(&world->made->recording, TARE_NO_INDEX, found, 2), 2);
	assert_int_equal(tare_phase_names(&world->made->recording, 1, found, NAMES), 1);
	assert_int_equal(found[0], 1);
	free_world(world);
}

// ---- the view's parts

static void intervals_are_cut_to_the_view(void **state)
{
	static const struct tare_run_span spans[] = {
		{ 10, 20 }, { 20, 30 }, { 50, 51 }, { 80, 100 }
	};
	static const struct {
		int64_t from_ns, to_ns, overlap_ns;
	} rows[] = {
		{ 0, 200, 41 }, { 0, 10, 0 },    { 0, 11, 1 },   { 15, 25, 10 }, { 30, 50, 0 },
		{ 29, 51, 2 },  { 100, 300, 0 }, { 99, 300, 1 }, { 40, 40, 0 },  { 60, 40, 0 }
	};
	struct world *world = make_world();
	struct tare_view view = world->view;
	(void)state;
	assert_int_equal(tare_view_ns(&view), WALL);
	assert_int_equal(tare_view_overlap_ns(&view, -50, 20), 20);
	view.spans = spans;
	view.span_count = 4;
	assert_int_equal(tare_view_ns(&view), 41);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(tare_view_overlap_ns(&view, rows[i].from_ns, rows[i].to_ns),
		                 rows[i].overlap_ns);
	for (int64_t t = -5; t < WALL + 5; t++)
		assert_int_equal(tare_view_has_moment(&world->made->recording, &view, t),
		                 tare_view_overlap_ns(&view, t, t + 1));
	// What a device's clock puts beyond the run belongs to its ends.
	view.spans = &(struct tare_run_span){ 0, 1 };
	view.span_count = 1;
	assert_true(tare_view_has_moment(&world->made->recording, &view, -5));
	view.spans = &(struct tare_run_span){ WALL - 1, WALL };
	assert_true(tare_view_has_moment(&world->made->recording, &view, WALL + 5));
	assert_false(tare_view_has_moment(&world->made->recording, &view, -5));
	free_world(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_phases_agree_with_the_count),
		cmocka_unit_test(a_parent_is_the_only_one),
		cmocka_unit_test(the_longest_thousand_are_kept),
		cmocka_unit_test(patterns_choose_spans),
		cmocka_unit_test(intervals_are_cut_to_the_view),
	};
	return cmocka_run_group_tests_name("phases_table", tests, NULL, NULL);
}
