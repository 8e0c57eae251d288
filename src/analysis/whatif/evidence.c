// SPDX-License-Identifier: Apache-2.0
// What a recording shows of a device's engines: which kinds of work ran beside each other, and
// which waited for each other although they were ready.
#include "analysis/ledger/internal.h"
#include "analysis/whatif/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Kinds are stages. Commands apart are counted only where nothing else explains the wait.
enum {
	TIMES_APART = 3, // so often at least
	SAMPLES_OF_RATE = 3,
};
#define TOGETHER_SHARE 0.01 // of the shorter kind, and more than the stamps' error
#define IN_CALLER_SHARE 0.9
#define BESIDE_SHARE 0.8
#define ALONE_SHARE 0.05

#define CL_DEVICE_TYPE_CPU_BIT 2u

static int kind_of(const struct tare_recorded_command *command)
{
	switch (tare_command_effect(command)) {
	case TARE_EFFECT_TO_DEVICE:
		return TARE_STAGE_TO_DEVICE;
	case TARE_EFFECT_KERNEL:
		return TARE_STAGE_KERNEL;
	case TARE_EFFECT_FROM_DEVICE:
		return TARE_STAGE_TO_HOST;
	default:
		return -1;
	}
}

// What is known of the commands by one look at them.
struct gathered {
	struct tare_busy kinds[TARE_STAGE_COUNT]; // when commands of a kind ran
	double most[TARE_STAGE_COUNT];            // the largest amount of a kind
	uint32_t *copies;                         // to and from the device, by start
	size_t copy_count, copy_room;
	uint64_t kernels, inside; // that do not block; and run within their calls
};

static int take_command(struct gathered *gathered, const struct tare_recorded_command *c,
                        uint32_t index)
{
	int kind = kind_of(c);
	if (kind < 0)
		return 0;
	if ((double)c->amount > gathered->most[kind])
		gathered->most[kind] = (double)c->amount;
	if (kind == TARE_STAGE_KERNEL && !(c->flags & TARE_COMMAND_BLOCKING)) {
		gathered->kernels++;
		gathered->inside += c->start_ns >= c->enter_ns && c->end_ns <= c->exit_ns;
	}
	if (kind != TARE_STAGE_KERNEL) {
		uint32_t *copy =
		    TARE_ROOM_FOR(gathered->copies, gathered->copy_room, gathered->copy_count);
		if (!copy)
			return -ENOMEM;
		*copy = index;
		gathered->copy_count++;
	}
	return tare_busy_add(&gathered->kinds[kind], c->start_ns, c->end_ns);
}

static int gather(const struct whatif_scope *scope, struct gathered *gathered)
{
	for (size_t i = 0; i < scope->count; i++)
		if (take_command(gathered, TARE_COMMAND(scope->recording, scope->order[i]),
		                 scope->order[i]))
			return -ENOMEM;
	return 0;
}

static int64_t ran_within(struct tare_busy *busy, int64_t from_ns, int64_t to_ns)
{
	return from_ns < to_ns ? tare_busy_before(busy, to_ns) - tare_busy_before(busy, from_ns)
	                       : 0;
}

static int64_t residual_of(const struct whatif_scope *scope)
{
	int64_t most_ns = 0;
	for (size_t i = 0; i < scope->recording->device_count; i++) {
		const struct tare_recorded_device *device = &scope->recording->devices[i];
		if (device->same_as == scope->device && device->residual_ns != TARE_NO_TIME &&
		    device->residual_ns > most_ns)
			most_ns = device->residual_ns;
	}
	return most_ns;
}

// ---- together

static bool ran_together(struct tare_busy *a, struct tare_busy *b, int64_t error_ns)
{
	int64_t both_ns = 0;
	if (a->count > b->count) { // the fewer questions
		struct tare_busy *fewer = b;
		b = a;
		a = fewer;
	}
	int64_t a_ns = tare_busy_total(a), b_ns = tare_busy_total(b);
	int64_t shorter_ns = a_ns < b_ns ? a_ns : b_ns;
	for (struct tare_busy_walk walk = { 0 }; tare_busy_next(a, &walk);)
		both_ns = tables_add(both_ns, ran_within(b, walk.piece.from_ns, walk.piece.to_ns));
	return both_ns > error_ns && (double)both_ns > TOGETHER_SHARE * (double)shorter_ns;
}

// ---- apart

// When the last command of a queue, and what a command waits for, had ended.
static int64_t free_since(const struct tare_recording *recording,
                          const struct tare_recorded_command *command, int64_t queue_end_ns)
{
	int64_t free_ns = recording->queues[command->queue].out_of_order ? INT64_MIN : queue_end_ns;
	for (size_t i = command->first_wait; i < recording->wait_count; i++) {
		const struct tare_recorded_wait *wait = &recording->waits[i];
		if (wait->command >= recording->command_count ||
		    !tare_command_timed(TARE_COMMAND(recording, wait->command)))
			return command->start_ns; // when that came is not known
		if (TARE_COMMAND(recording, wait->command)->end_ns > free_ns)
			free_ns = TARE_COMMAND(recording, wait->command)->end_ns;
		if (wait->last)
			break;
	}
	return free_ns;
}

// Which kinds ran beside each other, and how often one waited for the other.
struct evidence {
	bool together[TARE_STAGE_COUNT][TARE_STAGE_COUNT];
	uint64_t apart[TARE_STAGE_COUNT][TARE_STAGE_COUNT];
};

// When the last command of each kind ended, of those that began before the one that is looked at:
// going by their starts, one of a kind ran after a time if its last end is after it.
struct ends {
	int64_t before_ns[TARE_STAGE_COUNT];
	// with those that begin together with it
	int64_t to_ns[TARE_STAGE_COUNT];
	int64_t start_ns; // of these
};

static void go_to(struct ends *ends, int64_t start_ns)
{
	if (start_ns == ends->start_ns)
		return;
	memcpy(ends->before_ns, ends->to_ns, sizeof ends->to_ns);
	ends->start_ns = start_ns;
}

static void note_end(struct ends *ends, const struct tare_recorded_command *command)
{
	int kind = kind_of(command);
	if (kind >= 0 && command->end_ns > command->start_ns && command->end_ns > ends->to_ns[kind])
		ends->to_ns[kind] = command->end_ns;
}

// Counts the commands that were ready, started only when the other kind had ended, and had nothing
// else before them that they could have waited for.
static void count_apart(const struct whatif_scope *scope, struct tare_busy *kinds,
                        const struct ends *ends, const int64_t *queue_end_ns,
                        const struct tare_recorded_command *command, struct evidence *evidence)
{
	int kind = kind_of(command), other = -1;
	int64_t ready_ns = free_since(scope->recording, command, queue_end_ns[command->queue]);
	int64_t submitted_ns =
	    command->submitted_ns != TARE_NO_TIME ? command->submitted_ns : command->exit_ns;
	if (submitted_ns > ready_ns)
		ready_ns = submitted_ns;
	if (kind < 0 || ready_ns >= command->start_ns)
		return;
	for (int i = 0; i < TARE_STAGE_COUNT; i++) {
		if ((i != kind && evidence->together[kind][i]) || ends->before_ns[i] <= ready_ns)
			continue;
		if (i == kind || other >= 0)
			return;
		other = i;
	}
	if (other < 0)
		return;
	int64_t waited_ns = command->start_ns - ready_ns;
	int64_t shortest_ns = (command->end_ns - command->start_ns) / 4;
	int64_t beside_ns = ran_within(&kinds[other], ready_ns, command->start_ns);
	if (waited_ns >= shortest_ns && (double)beside_ns >= BESIDE_SHARE * (double)waited_ns)
		evidence->apart[kind][other]++;
}

static int find_apart(const struct whatif_scope *scope, struct tare_busy *kinds,
                      struct evidence *evidence)
{
	const struct tare_recording *recording = scope->recording;
	int64_t *queue_end_ns = calloc(recording->queue_count + 1, sizeof *queue_end_ns);
	struct ends ends = { .start_ns = INT64_MIN };
	if (!queue_end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < recording->queue_count; i++)
		queue_end_ns[i] = INT64_MIN;
	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		ends.before_ns[i] = ends.to_ns[i] = INT64_MIN;
	for (size_t i = 0; i < scope->count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, scope->order[i]);
		go_to(&ends, command->start_ns);
		count_apart(scope, kinds, &ends, queue_end_ns, command, evidence);
		note_end(&ends, command);
		if (command->end_ns > queue_end_ns[command->queue])
			queue_end_ns[command->queue] = command->end_ns;
	}
	free(queue_end_ns);
	return 0;
}

static enum tare_seen_together judge(const struct evidence *evidence, int a, int b)
{
	return evidence->together[a][b] ? TARE_TOGETHER_SEEN
	       : evidence->apart[a][b] + evidence->apart[b][a] >= TIMES_APART
	           ? TARE_TOGETHER_APART
	           : TARE_TOGETHER_UNKNOWN;
}

// Of two pairs, one that was seen together speaks for both.
static enum tare_seen_together either(enum tare_seen_together a, enum tare_seen_together b)
{
	if (a == TARE_TOGETHER_SEEN || b == TARE_TOGETHER_SEEN)
		return TARE_TOGETHER_SEEN;
	return a == TARE_TOGETHER_UNKNOWN ? b : a;
}

// ---- rates

struct rates {
	double bytes[2], ns[2]; // alone, beside the other direction
	size_t count[2];
};

// Speed beside the other direction over speed alone, of large copies; NaN where there are too few.
static double duplex_of(const struct whatif_scope *scope, struct gathered *gathered, int kind,
                        int other)
{
	struct rates rates = { 0 };
	double most = gathered->most[kind];
	for (size_t i = 0; i < gathered->copy_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(scope->recording, gathered->copies[i]);
		if (kind_of(c) != kind)
			continue;
		double ns = (double)(c->end_ns - c->start_ns);
		if ((double)c->amount < most / 4 || !(ns > 0))
			continue;
		double share =
		    (double)ran_within(&gathered->kinds[other], c->start_ns, c->end_ns) / ns;
		if (share > ALONE_SHARE && share < BESIDE_SHARE)
			continue;
		int beside = share >= BESIDE_SHARE;
		rates.bytes[beside] += (double)c->amount;
		rates.ns[beside] += ns;
		rates.count[beside]++;
	}
	if (rates.count[0] < SAMPLES_OF_RATE || rates.count[1] < SAMPLES_OF_RATE)
		return NAN;
	return fmin(1, (rates.bytes[1] / rates.ns[1]) / (rates.bytes[0] / rates.ns[0]));
}

// ---- what the device is

static bool shares_host(const struct whatif_scope *scope)
{
	for (size_t i = 0; i < scope->recording->device_count; i++) {
		const struct tare_recorded_device *device = &scope->recording->devices[i];
		if (device->same_as == scope->device &&
		    (device->unified_memory || (device->type & CL_DEVICE_TYPE_CPU_BIT)))
			return true;
	}
	return false;
}

static uint64_t copy_engines(const struct whatif_scope *scope)
{
	uint64_t most = 0;
	for (size_t i = 0; i < scope->recording->device_count; i++) {
		const struct tare_recorded_device *device = &scope->recording->devices[i];
		if (device->same_as == scope->device && device->copy_engines > most)
			most = device->copy_engines;
	}
	return most;
}

int whatif_evidence(const struct whatif_scope *scope, struct tare_overlap_gain *gain)
{
	struct gathered gathered = { .kernels = 0 };
	struct tare_busy *kinds = gathered.kinds;
	struct evidence evidence = { .together = { { false } } };
	const int in = TARE_STAGE_TO_DEVICE, work = TARE_STAGE_KERNEL, out = TARE_STAGE_TO_HOST;
	int64_t error_ns = 2 * residual_of(scope);
	int code = gather(scope, &gathered);
	for (int a = 0; !code && a < TARE_STAGE_COUNT; a++)
		for (int b = 0; b < a; b++)
			evidence.together[a][b] = evidence.together[b][a] =
			    ran_together(&kinds[a], &kinds[b], error_ns);
	if (!code)
		code = find_apart(scope, kinds, &evidence);
	if (!code) {
		gain->copies = judge(&evidence, in, out);
		gain->beside = either(judge(&evidence, in, work), judge(&evidence, out, work));
		gain->in_caller =
		    gathered.kernels > 0 &&
		    (double)gathered.inside >= IN_CALLER_SHARE * (double)gathered.kernels;
		if (gain->in_caller && gain->beside == TARE_TOGETHER_UNKNOWN)
			gain->beside = TARE_TOGETHER_APART;
		double there = duplex_of(scope, &gathered, in, out);
		double back = duplex_of(scope, &gathered, out, in);
		gain->duplex = isnan(there) ? back : isnan(back) ? there : (there + back) / 2;
		gain->shares_host = shares_host(scope);
		gain->copy_engines = copy_engines(scope);
	}
	for (int kind = 0; kind < TARE_STAGE_COUNT; kind++)
		tare_busy_free(&kinds[kind]);
	free(gathered.copies);
	return code;
}
