// SPDX-License-Identifier: Apache-2.0
// A kernel's time against %globaltimer as the kernel itself reads it at its begin and end. Engine
// stamps tell it within 2 µs and the timer's own step. Events are positions in the stream: they
// promise no more than that the kernel lies between them, so how much else does is only printed.
#include "rig.h"

#include <inttypes.h>

#define ROUNDS 15
#define TOLERANCE_NS 2000
#define EVENT_STEP_NS 500 // an event tells its time to "around 0.5 microseconds"
#define STEPS 2000
#define MOST_GROUPS 64

enum way { ALONE, GATED, TRACED, WAYS };
static const char *const way_names[] = { "events", "events behind a gate", "engine stamps" };

struct run {
	int64_t inside, outside; // ns by the kernel, and by stamps
};

static struct rig rig;
static struct rig_kernel kernel;
static struct tare_memory *out, *seen;
static struct tare_queue *queue;

// The kernel's words, on the host.
static const uint64_t *read_out(void)
{
	struct tare_operation back = rig_copy(out, seen);
	rig_must(&rig, tare_append(queue, &back, NULL, &rig.error));
	rig_must(&rig, tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &rig.error));
	return seen->host;
}

static int64_t timer_step(void)
{
	struct tare_operation launch = rig_launch(&kernel, kernel.step, out, 1, STEPS);
	memset(seen->host, 0, seen->bytes);
	struct tare_operation clear = rig_copy(seen, out);
	rig_must(&rig, tare_append(queue, &clear, NULL, &rig.error));
	rig_must(&rig, tare_append(queue, &launch, NULL, &rig.error));
	return (int64_t)read_out()[0];
}

static int64_t inside_ns(uint32_t groups)
{
	const uint64_t *words = read_out();
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; i < groups; i++) {
		first = words[2 * i] < first ? words[2 * i] : first;
		last = words[2 * i + 1] > last ? words[2 * i + 1] : last;
	}
	return (int64_t)(last - first);
}

static struct run time_once(enum way way, uint32_t groups, uint64_t ns)
{
	struct tare_operation launch = rig_launch(&kernel, kernel.spin, out, groups, ns);
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	struct tare_stamps stamps;

	if (way == GATED)
		rig_must(&rig, tare_gate_shut(queue, &gate, &rig.error));
	rig_must(&rig, tare_append(queue, &launch, &event, &rig.error));
	if (gate)
		rig_must(&rig, tare_gate_open(gate, &rig.error));
	rig_must(&rig, tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &rig.error));
	if (way == TRACED)
		rig_must(&rig, tare_engine_stamps_end(rig.device, &rig.error));
	rig_must(&rig, tare_event_stamps(event, &stamps, &rig.error));
	struct run run = { inside_ns(groups), rig_end(&stamps) - rig_start(&stamps) };
	tare_event_free(event);
	tare_gate_free(gate);
	return run;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// The median of how much longer the stamps say that the kernel took.
static void check_way(enum way way, uint32_t groups, uint64_t ns, int64_t step)
{
	int64_t more[ROUNDS], inside = 0;
	char what[160];

	for (int i = -1; i < ROUNDS; i++) { // the first one loads and warms up
		if (way == TRACED)
			rig_must(&rig, tare_engine_stamps_begin(rig.device, &rig.error));
		struct run run = time_once(way, groups, ns);
		if (i >= 0)
			more[i] = run.outside - run.inside;
		inside = run.inside;
	}
	qsort(more, ROUNDS, sizeof *more, compare);
	printf("# %" PRIu32 " groups, %" PRId64 " ns inside: by %s %+" PRId64 " ns (%+" PRId64
	       " to %+" PRId64 ")\n",
	       groups, inside, way_names[way], more[ROUNDS / 2], more[0], more[ROUNDS - 1]);
	if (way == TRACED)
		snprintf(what, sizeof what,
		         "a kernel of %.3g us, %" PRIu32 " groups: %s within 2 us of its own",
		         (double)ns / 1000, groups, way_names[way]);
	else
		snprintf(what, sizeof what,
		         "a kernel of %.3g us, %" PRIu32 " groups lies between its %s",
		         (double)ns / 1000, groups, way_names[way]);
	// The clocks of both need not be one: their steps are allowed for.
	rig_check(&rig,
	          way == TRACED ? llabs(more[ROUNDS / 2]) <= TOLERANCE_NS + step
	                        : more[0] >= -EVENT_STEP_NS - step,
	          what);
}

int main(void)
{
	static const struct {
		uint32_t groups;
		uint64_t ns;
	} rows[] = {
		{ 1, 5000 },
		{ 1, 50000 },
		{ MOST_GROUPS, 50000 },
		{ MOST_GROUPS, 1000000 },
	};
	int64_t step;
	bool traced;

	if (!rig_open(&rig))
		return 0;
	rig_kernel_open(&rig, &kernel);
	out = rig_memory(&rig, TARE_MEMORY_DEVICE, 16 * MOST_GROUPS);
	seen = rig_memory(&rig, TARE_MEMORY_PINNED, 16 * MOST_GROUPS);
	queue = rig_queue(&rig, true);
	step = timer_step();
	traced = tare_engine_stamps_begin(rig.device, &rig.error) == 0;
	if (traced)
		rig_must(&rig, tare_engine_stamps_end(rig.device, &rig.error));
	else
		printf("# no engine stamps: %s\n", rig.error.message);
	if (step)
		printf("# the step of globaltimer: %" PRId64 " ns\n", step);
	for (size_t i = 0; step && i < sizeof rows / sizeof *rows; i++)
		for (int way = 0; way < (traced ? WAYS : TRACED); way++)
			check_way((enum way)way, rows[i].groups, rows[i].ns, step);
	tare_queue_free(queue);
	tare_memory_free(out);
	tare_memory_free(seen);
	rig_kernel_close(&kernel);
	return rig_close(&rig, step ? NULL
	                            : "the device runs no PTX (a stand-in); there is nothing to "
	                              "compare with");
}
