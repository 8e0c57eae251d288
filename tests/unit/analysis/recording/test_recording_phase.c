// SPDX-License-Identifier: Apache-2.0
// Marks become phases: joined, nested, ended with the process, in order; by hand and at random
// against rules written a second time.
#include "tests/unit/trace/trace_rig.h"

enum { INSTANT = 0, BEGIN = 1, END = 2 };

static void mark(struct rig *rig, uint32_t track, uint16_t what,
                 enum tare_trace_phase_source source, struct tare_trace_phase phase)
{
	tare_trace_writer_phase(rig->writer, track, what, source, &phase);
}

static const struct tare_recorded_phase *phase_called(const struct tare_recording *r,
                                                      const char *name)
{
	const struct tare_recorded_phase *found = NULL;
	for (size_t i = 0; i < r->phase_count; i++)
		if (strcmp(r->phases[i].name, name) == 0) {
			assert_null(found);
			found = &r->phases[i];
		}
	if (!found)
		fail_msg("no phase is called %s", name);
	return found;
}

static const char *parent_of(const struct tare_recording *r, const struct tare_recorded_phase *p)
{
	return p->parent == TARE_NO_INDEX ? "" : r->phases[p->parent].name;
}

// ---- by hand: what is written, a letter a mark, and what must come of it

struct row {
	const char
	    *marks; // "a(" begins a, ")" ends the last, "x!" an instant, "t[" and "t]" a range t;
	            // '/' changes the domain to the other, '2' and '1' the thread, '*' NVTX to ITT
	// "name<parent:depth", by name; '+' unended, '!' an instant, '~' a range
	const char *phases;
};

static const struct row rows[] = {
	{ "", "" },
	{ "a()", "a<:0" },
	{ "a(b(c()))", "a<:0 b<a:1 c<b:2" },
	{ "a(b()c())d()", "a<:0 b<a:1 c<a:1 d<:0" },
	{ ")a())", "a<:0" },        // ends without a begin
	{ "a(b(", "a+<:0 b+<a:1" }, // never ended
	{ "a(b()", "a+<:0 b<a:1" },
	{ "x!a(y!b(z!))", "a<:0 b<a:1 x!<:0 y!<a:1 z!<b:2" },
	{ "a(t[b()t])", "a<:0 b<a:1 t~<:0" }, // a range is in nobody's nest
	{ "a(t[)t]b()", "a<:0 b<:0 t~<:0" },
	{ "t[", "t+~<:0" },
	{ "t]t[t]t]", "t~<:0" },
	{ "a(2b()1)", "a<:0 b<:0" },           // another thread's nest
	{ "a(2)1b())", "a<:0 b<a:1" },         // nor does its end end ours
	{ "t[2t]b()", "b<:0 t~<:0" },          // but a range's does
	{ "*t[/t]/", "t+~<:0" },               // unless it is of another domain
	{ "t[/t]/", "t~<:0" },                 // of NVTX's, as nvtxRangeEnd names none, even so
	{ "a(/b(/)/)/c()", "a<:0 b<:0 c<:0" }, // they cross
	{ "a(/b(/c()/)/)", "a<:0 b<a:1 c<b:2" },
	{ "a(/)/b())", "a<:0 b<a:1" }, // the end of another domain
	{ "a(/b(c(/)d(/", "a<:0 b+<:0 c+<b:1 d+<c:2" },
};

static void write_marks(struct rig *rig, const char *marks)
{
	static const char *const domains[] = { "left", "right" };
	uint32_t track = 1, domain = 0, domain_texts[2];
	enum tare_trace_phase_source source = TARE_PHASE_NVTX;
	int64_t now = START;
	for (size_t i = 0; i < 2; i++)
		domain_texts[i] = tare_trace_writer_text(rig->writer, domains[i]);
	for (const char *at = marks; *at; at++) {
		char name[2] = { *at, 0 };
		struct tare_trace_phase phase = { .ticks = now += 10,
			                          .domain = domain_texts[domain] };
		if (*at == '/') {
			domain = !domain;
		} else if (*at == '1' || *at == '2') {
			track = *at - '0';
		} else if (*at == '*') {
			source = TARE_PHASE_ITT;
		} else if (*at == ')') {
			mark(rig, track, END, source, phase);
		} else {
			phase.name = tare_trace_writer_text(rig->writer, name);
			at++;
			if (*at == '[' || *at == ']')
				phase.value = name[0];
			if (*at == ']')
				phase.name = 0;
			mark(rig, track,
			     *at == '!'   ? INSTANT
			     : *at == ']' ? END
			                  : BEGIN,
			     source, phase);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	const struct tare_recorded_phase *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

static void describe(const struct tare_recording *r, char *text, size_t size)
{
	const struct tare_recorded_phase *sorted[16];
	size_t used = 0;
	assert_true(r->phase_count <= 16);
	for (size_t i = 0; i < r->phase_count; i++)
		sorted[i] = &r->phases[i];
	qsort(sorted, r->phase_count, sizeof *sorted, by_name);
	text[0] = 0;
	for (size_t i = 0; i < r->phase_count; i++) {
		const struct tare_recorded_phase *p = sorted[i];
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s<%s:%u", i ? " " : "",
		                         p->name, p->unended ? "+" : "", p->instant ? "!" : "",
		                         p->range ? "~" : "", parent_of(r, p), p->depth);
		assert_true(p->unended ? p->to_ns == r->processes[0].end_ns
		                       : p->to_ns <= r->processes[0].end_ns);
	}
}

static void marks_become_phases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		struct tare_recording *r;
		char text[256];
		header.end_ticks = START + MS;
		rig_begin(&rig, "a", &header);
		write_marks(&rig, rows[i].marks);
		rig_end(&rig);
		r = rig_load(&rig);
		describe(r, text, sizeof text);
		if (strcmp(text, rows[i].phases))
			fail_msg("%s: %s, not %s", rows[i].marks, text, rows[i].phases);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

static void all_members_are_filled(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	header.end_ticks = START + 90;
	rig_begin(&rig, "a", &header);
	uint32_t name = tare_trace_writer_text(rig.writer, "solve");
	uint32_t domain = tare_trace_writer_text(rig.writer, "lib");
	mark(&rig, 3, BEGIN, TARE_PHASE_ITT,
	     (struct tare_trace_phase){ .ticks = START + 10, .name = name, .domain = domain });
	mark(&rig, 3, BEGIN, TARE_PHASE_TARE, (struct tare_trace_phase){ .ticks = START + 20 });
	mark(&rig, 3, END, TARE_PHASE_TARE, (struct tare_trace_phase){ .ticks = START + 30 });
	mark(&rig, 3, END, TARE_PHASE_ITT,
	     (struct tare_trace_phase){ .ticks = START + 40, .domain = domain });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->phase_count, 2);
	assert_int_equal(r->phases[0].from_ns, START + 10);
	assert_int_equal(r->phases[0].to_ns, START + 40);
	assert_string_equal(r->phases[0].name, "solve");
	assert_string_equal(r->phases[0].domain, "lib");
	assert_int_equal(r->phases[0].source, TARE_PHASE_ITT);
	assert_int_equal(r->threads[r->phases[0].thread].track, 3);
	assert_string_equal(r->phases[1].name, "(unnamed)");
	assert_string_equal(r->phases[1].domain, "");
	assert_int_equal(r->phases[1].source, TARE_PHASE_TARE);
	assert_int_equal(r->phases[1].parent, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// Two processes with the same tracks, texts and identities have nothing to do with each other, and
// what a source has begun another one does not end.
static void processes_and_sources_are_apart(void **state)
{
	struct rig rig = rig_new();
	struct tare_recording *r;
	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct tare_trace_header header = rig_header(42 + i);
		header.end_ticks = START + 1000 + i;
		rig_begin(&rig, i ? "b" : "a", &header);
		uint32_t name = tare_trace_writer_text(rig.writer, i ? "second" : "first");
		if (!i)
			mark(&rig, 1, BEGIN, TARE_PHASE_ITT,
			     (struct tare_trace_phase){
			         .ticks = START + 10, .name = name, .value = 7 });
		mark(&rig, 1, END, i ? TARE_PHASE_ITT : TARE_PHASE_NVTX,
		     (struct tare_trace_phase){ .ticks = START + 20, .value = 7 });
		if (i)
			mark(&rig, 1, BEGIN, TARE_PHASE_ITT,
			     (struct tare_trace_phase){ .ticks = START + 30, .name = name });
		rig_end(&rig);
	}
	r = rig_load(&rig);
	assert_int_equal(r->phase_count, 2);
	assert_true(phase_called(r, "first")->unended && phase_called(r, "second")->unended);
	assert_int_equal(phase_called(r, "first")->to_ns, START + 1000);
	assert_int_equal(phase_called(r, "second")->to_ns, START + 1001);
	tare_recording_free(r);
	rig_free(&rig);
}

// ---- at random

enum { MOST = 300, THREADS = 3 };
struct truth {
	uint32_t track, what, source, domain;
	uint64_t value;
	int64_t ns;     // as it counts
	int64_t end_ns; // TARE_NO_TIME: never
	size_t end;     // of which mark; SIZE_MAX: never
};

static uint32_t dice(uint64_t *seed, uint32_t sides)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % sides;
}

static bool same_key(const struct truth *a, const struct truth *b)
{
	bool alone = a->value && a->source == TARE_PHASE_NVTX;
	return a->source == b->source && (alone || a->domain == b->domain) &&
	       a->value == b->value && (a->value || a->track == b->track);
}

// Each end is that of the last begin before it that is like it and has none yet.
static void join(struct truth *marks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		marks[i].end = marks[i].what == INSTANT ? i : SIZE_MAX;
		marks[i].end_ns = marks[i].what == INSTANT ? marks[i].ns : TARE_NO_TIME;
		for (size_t j = i; marks[i].what == END && j-- > 0;)
			if (marks[j].what == BEGIN && marks[j].end == SIZE_MAX &&
			    same_key(&marks[j], &marks[i])) {
				marks[j].end = i;
				marks[j].end_ns = marks[i].ns;
				break;
			}
	}
}

// The last nested one of the thread that began before and ended after, or ended with the process.
static size_t container(const struct truth *marks, size_t i)
{
	if (marks[i].value)
		return SIZE_MAX;
	for (size_t j = i; j-- > 0;)
		if (marks[j].what == BEGIN && !marks[j].value && marks[j].track == marks[i].track &&
		    (marks[j].end == SIZE_MAX || marks[j].end > marks[i].end))
			return j;
	return SIZE_MAX;
}

static size_t write_random(struct rig *rig, uint64_t *seed, struct truth *marks)
{
	size_t count = 1 + dice(seed, MOST);
	uint32_t domains[3] = { 0 };
	int64_t now = START, last[THREADS + 1] = { 0 };
	for (size_t i = 1; i < 3; i++)
		domains[i] = tare_trace_writer_text(rig->writer, i == 1 ? "x" : "y");
	for (size_t i = 0; i < count; i++) {
		struct truth *m = &marks[i];
		char name[24];
		*m = (struct truth){ .track = 1 + dice(seed, THREADS),
			             .what = dice(seed, 7),
			             .source = dice(seed, 3),
			             .domain = dice(seed, 3),
			             .value = dice(seed, 9) };
		m->what = m->what == 0 ? INSTANT : m->what < 4 ? BEGIN : END;
		m->value = m->value < 6 || m->what == INSTANT ? 0 : m->value - 5;
		// At the same moment only on the same thread: else the order would not be told.
		if (!i || marks[i - 1].track != m->track || dice(seed, 2))
			now += 1 + dice(seed, 5);
		m->ns = !m->value && !dice(seed, 20) ? now - dice(seed, 100) : now;
		if (m->ns < START)
			m->ns = START;
		snprintf(name, sizeof name, "p%zu", i);
		mark(rig, m->track, m->what, m->source,
		     (struct tare_trace_phase){
		         .ticks = m->ns,
		         .name = m->what == END ? 0 : tare_trace_writer_text(rig->writer, name),
		         .domain = domains[m->domain],
		         .value = m->value });
		// Marks that nest never go back in time.
		if (!m->value && m->ns < last[m->track])
			m->ns = last[m->track];
		if (!m->value)
			last[m->track] = m->ns;
	}
	return count;
}

static void compare(const struct tare_recording *r, struct truth *marks, size_t count)
{
	size_t phases = 0;
	join(marks, count);
	for (size_t i = 0; i < count; i++) {
		const struct tare_recorded_phase *p;
		char name[24], parent[24] = "";
		size_t in = container(marks, i);
		if (marks[i].what == END)
			continue;
		phases++;
		snprintf(name, sizeof name, "p%zu", i);
		if (in != SIZE_MAX)
			snprintf(parent, sizeof parent, "p%zu", in);
		p = phase_called(r, name);
		assert_int_equal(p->from_ns, marks[i].ns);
		assert_int_equal(p->to_ns, marks[i].end_ns == TARE_NO_TIME ? r->processes[0].end_ns
		                                                           : marks[i].end_ns);
		assert_int_equal(p->unended, marks[i].end == SIZE_MAX);
		assert_int_equal(r->threads[p->thread].track, marks[i].track);
		assert_string_equal(parent_of(r, p), parent);
		assert_int_equal(p->range, marks[i].value != 0);
		assert_int_equal(p->instant, marks[i].what == INSTANT);
		assert_int_equal(p->depth, in == SIZE_MAX ? 0 : r->phases[p->parent].depth + 1);
	}
	assert_int_equal(r->phase_count, phases);
	for (size_t i = 0; i < r->phase_count; i++) {
		assert_true(i == 0 || r->phases[i - 1].from_ns <= r->phases[i].from_ns);
		assert_true(r->phases[i].parent == TARE_NO_INDEX || r->phases[i].parent < i);
	}
}

static void random_marks_are_as_the_rules_say(void **state)
{
	static struct truth marks[MOST];
	(void)state;
	for (uint64_t round = 0; round < 150; round++) {
		uint64_t seed = round + 1;
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		struct tare_recording *r;
		size_t count;
		header.end_ticks = START + MS;
		header.window_bytes = round % 2 ? 0 : 1024;
		rig_begin(&rig, "a", &header);
		count = write_random(&rig, &seed, marks);
		rig_end(&rig);
		r = rig_load(&rig);
		compare(r, marks, count);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_become_phases),
		cmocka_unit_test(all_members_are_filled),
		cmocka_unit_test(processes_and_sources_are_apart),
		cmocka_unit_test(random_marks_are_as_the_rules_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
