// SPDX-License-Identifier: Apache-2.0
// Runs with copies made by hand.
#pragma once
#include "tests/unit/analysis/findings/evaluated.h"

struct copies {
	uint8_t kind; // WRITE
	uint32_t count;
	uint64_t bytes;
	int64_t copy_ns;  // of each, in a call that blocks
	int64_t call_ns;  // of the call beside it
	int64_t think_ns; // of the host, between two
	uint8_t alignment, memory;
	bool asynchronous;
	bool read_first;    // the same place is read back before each
	uint32_t places;    // different ones; 0: one
	uint32_t aligned;   // so many more that are aligned, of a third of the time
	uint32_t pinned;    // so many more from pinned memory, of a third of the time
	int64_t before_ns;  // a kernel that each copy waits for, within its call
	int64_t work_ns;    // a kernel at the end
	uint8_t contents;   // of each, as far as they were compared; 0: they were not
	bool differ;        // each of what is written is new
	bool late;          // read at a wait
	bool kernel_before; // each, which may write what is not read_only
	bool read_only;
};

struct hand {
	struct made *made;
	struct tare_recorded_memory memory;
	struct tare_recorded_place places[MADE_MOST];
	struct tare_recorded_argument argument; // the kernel may write the memory
	int64_t now_ns;
};

// Issued before the copy, and done within its call.
static inline void kernel_before(struct hand *hand, int64_t start_ns, int64_t end_ns)
{
	struct tare_recorded_command kernel = made_plain_command(
	    0, 0, TARE_KIND_KERNEL, start_ns, start_ns, start_ns, start_ns, end_ns);
	kernel.amount = TARE_NO_INDEX;
	kernel.object = 0;
	made_command(hand->made, kernel);
}

static inline void copy(struct hand *hand, const struct copies *c, uint8_t kind, uint32_t place,
                        int64_t copy_ns, uint8_t alignment, uint8_t memory)
{
	struct tare_recording *recording = &hand->made->recording;
	int64_t enter_ns = hand->now_ns, start_ns = enter_ns + c->before_ns + c->call_ns / 2;
	int64_t exit_ns = c->asynchronous ? enter_ns + c->call_ns
	                                  : start_ns + copy_ns + c->call_ns - c->call_ns / 2;
	if (c->before_ns > 0)
		kernel_before(hand, enter_ns, start_ns - c->call_ns / 2);
	struct tare_recorded_command command = made_plain_command(
	    0, 0, kind, enter_ns, exit_ns, start_ns, start_ns, start_ns + copy_ns);
	command.direction =
	    kind == TARE_KIND_WRITE ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_FROM_DEVICE;
	command.amount = c->bytes;
	command.alignment = alignment;
	command.memory = memory;
	command.object = 0;
	command.flags = c->asynchronous ? 0 : TARE_COMMAND_BLOCKING;
	uint64_t bytes = c->differ ? recording->command_count : 7;
	hand->places[recording->place_count++] = (struct tare_recorded_place){
		.command = (uint32_t)recording->command_count,
		.identity = place,
		.contents = c->contents,
		.contents_flags = c->late ? TARE_CONTENTS_LATE : 0,
		.whole = c->contents == TARE_CONTENTS_WHOLE ? bytes : 0,
		.sample = bytes,
	};
	made_command(hand->made, command);
	hand->now_ns = (exit_ns > start_ns + copy_ns ? exit_ns : start_ns + copy_ns) + c->think_ns;
}

static inline void launch(struct hand *hand, int64_t work_ns)
{
	struct tare_recorded_command kernel =
	    made_plain_command(0, 0, TARE_KIND_KERNEL, hand->now_ns, hand->now_ns + 1000,
	                       hand->now_ns, hand->now_ns + 2000, hand->now_ns + 2000 + work_ns);
	kernel.amount = TARE_NO_INDEX;
	kernel.object = 0;
	made_command(hand->made, kernel);
	hand->now_ns = kernel.end_ns;
}

static inline struct hand *by_hand(const struct copies *c)
{
	struct hand *hand = calloc(1, sizeof *hand);
	assert_non_null(hand);
	hand->made = made_new(0);
	struct tare_recording *recording = &hand->made->recording;
	recording->places = hand->places;
	recording->memories = &hand->memory;
	recording->memory_count = 1;
	recording->arguments = &hand->argument;
	recording->argument_count = 1;
	hand->memory = (struct tare_recorded_memory){ .kind = TARE_TRACE_MEMORY_BUFFER,
		                                      .parent = TARE_NO_INDEX,
		                                      .bytes = 1 << 30 };
	made_process(hand->made, INT64_MAX);
	hand->made->processes[0].flags = c->contents ? TARE_TRACE_COMPARED : 0;
	hand->memory.flags = c->read_only ? 1 << 2 : 0; // CL_MEM_READ_ONLY
	made_thread(hand->made, 0);
	made_queue(hand->made, 0, made_device(hand->made, 0, TARE_NO_INDEX, 0), false);
	hand->made->queues[0].api = TARE_TRACE_OPENCL;
	hand->now_ns = 1000;
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t place = c->places ? i % c->places : 0;
		if (c->kernel_before)
			launch(hand, 1000);
		if (c->read_first)
			copy(hand, c, TARE_KIND_READ, place, c->copy_ns, c->alignment, c->memory);
		copy(hand, c, c->kind, place, c->copy_ns, c->alignment, c->memory);
	}
	for (uint32_t i = 0; i < c->aligned; i++)
		copy(hand, c, c->kind, 1000 + i, c->copy_ns / 3, 12, c->memory);
	for (uint32_t i = 0; i < c->pinned; i++)
		copy(hand, c, c->kind, 1000 + i, c->copy_ns / 3, c->alignment,
		     TARE_TRACE_MEMORY_PINNED);
	launch(hand, c->work_ns);
	recording->end_ns = hand->made->processes[0].end_ns = hand->now_ns + 1000;
	return hand;
}

static inline void put_away(struct hand *hand, struct tare_findings *findings)
{
	tare_findings_free(findings);
	free(hand->made);
	free(hand);
}

// By default: 40 copies of 1 MB in 100 µs each, aligned, pinned, of different places.
#define COPIES(...)                                                                                \
	{ .kind = TARE_KIND_WRITE,                                                                 \
	  .count = 40,                                                                             \
	  .bytes = 1 << 20,                                                                        \
	  .copy_ns = 100000,                                                                       \
	  .call_ns = 2000,                                                                         \
	  .alignment = 12,                                                                         \
	  .memory = TARE_TRACE_MEMORY_PINNED,                                                      \
	  .places = 40,                                                                            \
	  .work_ns = 100000,                                                                       \
	  __VA_ARGS__ }

// The same: all of one place, and of the same bytes.
#define SAME(...) COPIES(.places = 1, .contents = TARE_CONTENTS_WHOLE __VA_OPT__(, ) __VA_ARGS__)

#pragma GCC diagnostic ignored "-Woverride-init"

static inline void assert_close(double value, double expected)
{
	if (value < expected - 1000 || value > expected + 1000)
		fail_msg("%.0f, not %.0f", value, expected);
}

static inline void assert_costs(const struct tare_finding *finding, double low_ns, double best_ns,
                                double high_ns)
{
	assert_close((double)finding->cost_low_ns, low_ns);
	assert_close((double)finding->cost_ns, best_ns);
	assert_close((double)finding->cost_high_ns, high_ns);
}
