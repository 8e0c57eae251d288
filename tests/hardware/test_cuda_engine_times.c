// SPDX-License-Identifier: Apache-2.0
// Engine stamps (CUPTI) against tare's events on the same operations of a millisecond and more, and
// against what engines and streams can do: one operation of an engine, and of a stream, at a time.
// TARE_TEST_BYTES: of a copy; 64 MiB unless it is said.
#include "backend/cuda/internal.h"
#include "rig.h"

#include <inttypes.h>

#define ROUNDS 5
#define SPIN_NS 2000000
#define FILLS_OF 64 // a fill writes so many times what a copy moves: device memory is fast
#define SHARE 0.01
#define STREAMS 3
#define EACH 8
#define PARTS 8       // of a millisecond's operation
#define SLACK_NS 2000 // two clocks' conversions

enum kind { TO_DEVICE, TO_HOST, FILL, KERNEL, KINDS };
static const char *const kind_names[] = { "to device", "to host", "fill", "kernel" };

static struct rig rig;
static struct rig_kernel kernel;
static struct tare_memory *host, *here, *large, *out;

static struct tare_operation operation(enum kind kind)
{
	static const uint32_t zero;
	switch (kind) {
	case TO_DEVICE:
		return rig_copy(host, here);
	case TO_HOST:
		return rig_copy(here, host);
	case KERNEL:
		return rig_launch(&kernel, kernel.spin, out, 1, SPIN_NS);
	default:
		return (struct tare_operation){ .type = TARE_OPERATION_FILL,
			                        .destination = { large, 0, large->bytes },
			                        .fill = { &zero, sizeof zero } };
	}
}

// ---- operations of a millisecond

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void check_kind(enum kind kind)
{
	struct tare_queue *queue = rig_queue(&rig, true);
	double share[ROUNDS], engine_ns = 0;
	char what[120];

	for (int i = -1; i < ROUNDS; i++) {
		struct tare_operation what_to_do = operation(kind);
		struct tare_event *event = NULL;
		struct tare_gate *gate = NULL;
		struct tare_stamps stamps;
		double event_ns = 0;
		rig_must(&rig, tare_engine_stamps_begin(rig.device, &rig.error));
		// Behind a gate, so that the host's issuing is not between the two events.
		rig_must(&rig, tare_gate_shut(queue, &gate, &rig.error));
		rig_must(&rig, tare_append(queue, &what_to_do, &event, &rig.error));
		rig_must(&rig, tare_gate_open(gate, &rig.error));
		rig_must(&rig, tare_engine_stamps_end(rig.device, &rig.error));
		rig_must(&rig, tare_event_stamps(event, &stamps, &rig.error));
		// The same operation's own two events, which the engine's stamps stand for.
		const struct cuda_event *own = (const struct cuda_event *)event;
		rig_must(&rig, cuda_elapsed(cuda_device_of(rig.device), own->start, own->end,
		                            &event_ns, &rig.error));
		engine_ns = (double)(rig_end(&stamps) - rig_start(&stamps));
		if (i >= 0)
			share[i] = event_ns / engine_ns - 1;
		tare_event_free(event);
		tare_gate_free(gate);
	}
	qsort(share, ROUNDS, sizeof *share, compare);
	printf("# %s: %.0f ns by the engine's stamps; events %+.3f %% (%+.3f to %+.3f)\n",
	       kind_names[kind], engine_ns, 100 * share[ROUNDS / 2], 100 * share[0],
	       100 * share[ROUNDS - 1]);
	snprintf(what, sizeof what, "%s: events within 1 %% of the engine's time",
	         kind_names[kind]);
	if (engine_ns < 1e6)
		printf("# %s takes less than 1 ms here; more TARE_TEST_BYTES would compare it\n",
		       kind_names[kind]);
	else
		rig_check(&rig, fabs(share[ROUNDS / 2]) <= SHARE, what);
	tare_queue_free(queue);
}

// ---- one at a time

struct seen {
	enum kind kind;
	int queue;
	int64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

// The longest time in which two of those that `same` says to belong together were at work at once.
static int64_t longest_overlap(const struct seen *seen, int count, bool queues, int which)
{
	int64_t longest = INT64_MIN, end = INT64_MIN;

	for (int i = 0; i < count; i++) {
		if ((queues ? seen[i].queue : (int)seen[i].kind) != which)
			continue;
		if (end != INT64_MIN && end - seen[i].start > longest)
			longest = end - seen[i].start;
		end = seen[i].end > end ? seen[i].end : end;
	}
	return longest;
}

static void check_order(void)
{
	struct tare_queue *queues[STREAMS];
	struct tare_event *events[STREAMS * EACH];
	struct seen seen[STREAMS * EACH];
	int count = 0;
	int64_t worst = INT64_MIN, backwards = INT64_MIN;

	for (int i = 0; i < STREAMS; i++)
		queues[i] = rig_queue(&rig, i == 0);
	rig_must(&rig, tare_engine_stamps_begin(rig.device, &rig.error));
	for (int round = 0; round < EACH; round++)
		for (int q = 0; q < STREAMS; q++) {
			seen[count] = (struct seen){ (enum kind)((round + q) % 3), q, 0, 0 };
			struct tare_operation what = operation(seen[count].kind);
			what.source.bytes /= PARTS;
			what.destination.bytes /= PARTS;
			rig_must(&rig, tare_append(queues[q], &what, &events[count++], &rig.error));
		}
	rig_must(&rig, tare_engine_stamps_end(rig.device, &rig.error));
	for (int i = 0; i < count; i++) {
		struct tare_stamps stamps;
		rig_must(&rig, tare_event_stamps(events[i], &stamps, &rig.error));
		rig_check(&rig, stamps.brackets_engine && rig_end(&stamps) > rig_start(&stamps),
		          "an operation among others has stamps that bracket its engine's work");
		seen[i].start = rig_start(&stamps);
		seen[i].end = rig_end(&stamps);
		// Of one stream in the order of appending.
		if (i >= STREAMS && seen[i - STREAMS].end - seen[i].start > backwards)
			backwards = seen[i - STREAMS].end - seen[i].start;
		tare_event_free(events[i]);
	}
	qsort(seen, (size_t)count, sizeof *seen, by_start);
	for (int kind = TO_DEVICE; kind <= TO_HOST; kind++) {
		int64_t longest = longest_overlap(seen, count, false, kind);
		worst = longest > worst ? longest : worst;
	}
	printf("# the next begins after the end of the one before, at the least: %" PRId64
	       " ns in one stream, %" PRId64 " ns of one direction\n",
	       -backwards, -worst);
	rig_check(&rig, backwards <= SLACK_NS, "operations of one stream follow one another");
	rig_check(&rig, worst <= SLACK_NS, "copies of one direction do not overlap");
	for (int i = 0; i < STREAMS; i++)
		tare_queue_free(queues[i]);
}

int main(void)
{
	const char *told = getenv("TARE_TEST_BYTES");
	uint64_t bytes = told ? strtoull(told, NULL, 10) : UINT64_C(64) << 20;

	if (!rig_open(&rig))
		return 0;
	if (tare_engine_stamps_begin(rig.device, &rig.error) < 0)
		return rig_close(&rig, rig.error.message);
	rig_must(&rig, tare_engine_stamps_end(rig.device, &rig.error));
	rig_kernel_open(&rig, &kernel);
	host = rig_memory(&rig, TARE_MEMORY_PINNED, bytes);
	here = rig_memory(&rig, TARE_MEMORY_DEVICE, bytes);
	large = rig_memory(&rig, TARE_MEMORY_DEVICE, told ? bytes / 16 : FILLS_OF * bytes);
	out = rig_memory(&rig, TARE_MEMORY_DEVICE, 4096);
	for (int kind = 0; kind < KINDS; kind++)
		check_kind((enum kind)kind);
	check_order();
	tare_memory_free(host);
	tare_memory_free(here);
	tare_memory_free(large);
	tare_memory_free(out);
	rig_kernel_close(&kernel);
	return rig_close(&rig, NULL);
}
