// SPDX-License-Identifier: Apache-2.0
// Small traces of one subject each: every value of what records have, no named member always 0.
#include "make_objects.h"

#include <stddef.h>
#include <stdlib.h>

static struct tare_trace_writer *begin_usual(const char *folder, const char *name)
{
	return begin(folder, name, usual());
}

// What the writer never writes: bytes of a finished file.
static void patch(const char *folder, const char *name, size_t at, const void *bytes, size_t length)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s.trace", folder, name);
	file = fopen(path, "r+b");
	if (!file || fseek(file, (long)at, SEEK_SET) < 0 ||
	    fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static size_t at_record(size_t window, size_t record)
{
	return TARE_TRACE_HEADER_BYTES + 1024 * window + TARE_TRACE_RECORD_BYTES * record;
}

static void objects(const char *folder)
{
	struct tare_trace_writer *w = begin_usual(folder, "objects");

	base_objects(w);
	object(w, TARE_OBJECT_EVENT,
	       (struct tare_trace_object){ .handle = 0x300, .parent = CONTEXT });
	object(w, TARE_OBJECT_GRAPH,
	       (struct tare_trace_object){ .handle = 0x301, .parent = CONTEXT });
	for (uint32_t i = 0; i <= TARE_TRACE_MEMORY_MAPPED; i++)
		object(w, TARE_OBJECT_MEMORY,
		       (struct tare_trace_object){ .handle = 0x400 + i,
		                                   .bytes = 32,
		                                   .parent = i == TARE_TRACE_MEMORY_PART ? BUFFER
		                                                                         : CONTEXT,
		                                   .properties = i,
		                                   .number = i });
	for (uint16_t i = 0; i < TARE_ROLE_COUNT; i++)
		add(w, RECORD(function, FUNCTION, i + 1, 1, .name = 1, .api = i % 4, .role = i));
	add(w, RECORD(track, TRACK, TARE_TRACE_THREAD, 1, .ticks = t0, .tid = 5, .name = 1));
	add(w, RECORD(track, TRACK, TARE_TRACE_HELPER, 2, .ticks = t0, .tid = 6, .name = 1));
	for (uint32_t i = 1; i <= 3; i++)
		add(w, RECORD(shape, SHAPE, 0, 1, .id = i, .dimensions = i,
		              .global = { 64, i > 1 ? 8 : 1, i > 2 ? 4 : 1 },
		              .local = { i > 1 ? 4 : 0, 1, 1 }, .has_offset = i > 2,
		              .local_bytes = 1024 * i, .cluster = { (uint8_t)i, 1, 1 }));
	add(w, RECORD(clock_pair, CLOCK_PAIR, TARE_CLOCK_DEVICE, 1, .before = t0, .value = 7,
	              .after = t0 + 9, .device = DEVICE));
	end(w);
	// Among definitions, too: the reader's writer puts neither there.
	const union tare_trace_record pair =
	    RECORD(clock_pair, CLOCK_PAIR, TARE_CLOCK_DEVICE, 1, .before = t0 + 10, .value = 17,
	           .after = t0 + 19, .device = DEVICE);
	const union tare_trace_record nothing = { .head =
		                                      tare_trace_head(TARE_TRACE_VOID, 0, 0, 1) };
	patch(folder, "objects", at_record(2, 9), &pair, sizeof pair);
	patch(folder, "objects", at_record(2, 10), &nothing, sizeof nothing);
}

static void facts(const char *folder)
{
	static const uint64_t of[] = { DEVICE, KERNEL, PROGRAM, CONTEXT, BUFFER, QUEUE };
	struct tare_trace_writer *w = begin_usual(folder, "facts");

	base_objects(w);
	for (uint16_t fact = 1; fact <= TARE_TRACE_FACT_COPY_ENGINES; fact++)
		add(w, RECORD(fact, FACT, fact, 1, .object = of[0], .ticks = t0, .value = fact,
		              .device = DEVICE, .text = 1));
	for (uint16_t fact = TARE_TRACE_FACT_GROUP_LIMIT; fact <= TARE_TRACE_FACT_PROFILING; fact++)
		for (size_t i = 1; i < sizeof of / sizeof *of; i++)
			if (fact % 5 == i % 5)
				add(w, RECORD(fact, FACT, fact, 1, .object = of[i], .ticks = t0,
				              .value =
				                  fact == TARE_TRACE_FACT_DEVICE_OF ? DEVICE : 3));
	add(w, RECORD(fact, FACT, TARE_TRACE_FACT_MAY_WRITE, 1, .object = KERNEL, .ticks = t0,
	              .value = BUFFER));
	for (uint16_t change = 1; change <= TARE_CHANGE_COUNTERS; change++)
		add(w, RECORD(change, CHANGE, change, 1, .object = QUEUE, .ticks = t0,
		              .from = change % 3, .to = 2));
	end(w);
}

// ---- events

static void transfer(struct tare_trace_writer *w, uint32_t number, uint64_t t)
{
	add(w, RECORD(transfer, TRANSFER, 0, 1, .number = number, .offset = 16,
	              .region = { 4, 4, 2 }, .row_pitch = 8, .slice_pitch = 32));
	add(w, RECORD(site, SITE, 0, 1, .of = number, .stack = 1));
	add(w, RECORD(depends, DEPENDS, 6, 1, .of = number,
	              .event = { 0x501, 0x502, 0x503, 0x300, 0x504, 0x505 }));
	add(w, FLAGGED(depends, DEPENDS, TARE_DEPENDS_OF_CALL, 1, 1, .of = t + 10,
	               .event = { 0x501 }));
}

static void times_of(struct tare_trace_writer *w, uint32_t number, uint64_t t)
{
	if (number % 4 == 3) {
		add(w, RECORD(untimed, UNTIMED, 1 + number / 4 % TARE_UNTIMED_NO_ROOM, 1,
		              .command_track = 1, .command_number = number, .value = -5,
		              .observed = t + 80));
		return;
	}
	for (uint32_t i = 0; i < 1 + (number == 12); i++)
		add(w, FLAGGED(times, TIMES, number % 4 ? 15 : 12, 0, 1, .command_track = 1,
		               .command_number = number, .queued = t + 20, .submitted = t + 30,
		               .start = t + 40, .end = t + 60, .observed = t + 80,
		               .execution = number == 12 ? i + 1 : 0));
}

static void commands(const char *folder)
{
	struct tare_trace_writer *w = begin_usual(folder, "commands");
	uint64_t t = t0;

	base_objects(w);
	add(w, RECORD(shape, SHAPE, 0, 1, .id = 1, .dimensions = 1, .global = { 64, 1, 1 },
	              .local = { 8, 1, 1 }));
	add(w, RECORD(module, MODULE, 0, 1, .ticks = t, .from = 16, .to = 99, .bias = 8, .path = 1,
	              .build_id = 1));
	add(w, RECORD(stack, STACK, 5, 1, .id = 1, .total = 6, .frame = { 17, 18, 19, 20, 21 }));
	add(w, RECORD(stack, STACK, 1, 1, .id = 1, .total = 6, .offset = 5, .frame = { 22 }));
	for (uint32_t i = 1; i < TARE_KIND_KINDS; i++, t += 100) {
		uint8_t flag = (uint8_t)(1 << i % 8);
		add(w, FLAGGED(command, COMMAND, flag, WRITE, 1, .enter = t,
		               .call_ticks = flag == TARE_COMMAND_LONG ? UINT32_MAX : 9,
		               .number = i, .kind = (uint8_t)i, .direction = (uint8_t)(i % 5),
		               .alignment = (uint8_t)i,
		               .memory = (uint8_t)(i % (TARE_TRACE_MEMORY_MAPPED + 1)), .queue = 1,
		               .object = i == TARE_KIND_KERNEL ? KERNEL : BUFFER, .amount = 1,
		               .event = 0x500 + i, .object2 = BUFFER));
		if (flag == TARE_COMMAND_LONG)
			add(w, RECORD(call_end, CALL_END, 0, 1, .number = i, .exit = t + 9));
		if (i == TARE_KIND_WRITE || i == TARE_KIND_GRAPH)
			transfer(w, i, t);
		if (i == TARE_KIND_GRAPH)
			add(w,
			    RECORD(execute, EXECUTE, 0, 1, .command_track = 1, .command_number = i,
			           .graph = 0x301, .execution = 1, .nodes = 2));
		times_of(w, i, t);
	}
	add(w, FLAGGED(command, COMMAND, 0, WRITE, 1, .enter = t, .number = TARE_KIND_KINDS,
	               .kind = TARE_KIND_READ, .alignment = 255, .queue = 1, .object = BUFFER,
	               .amount = 8));
	add(w, RECORD(untimed, UNTIMED, TARE_UNTIMED_NO_ROOM, 1, .command_track = 1,
	              .command_number = TARE_KIND_KINDS, .observed = t + 80));
	end(w);
}

// Ten launches of one kernel in a row and their times.
static void launches(const char *folder)
{
	enum { ALL = 15 };
	struct tare_trace_writer *w = begin_usual(folder, "launches");
	base_objects(w);
	add(w, RECORD(shape, SHAPE, 0, 1, .id = 1, .dimensions = 1, .global = { 64, 1, 1 },
	              .local = { 8, 1, 1 }));
	add(w, FLAGGED(command, COMMAND, TARE_COMMAND_OWN_EVENT, WRITE, 1, .enter = t0,
	               .call_ticks = 9, .number = 1, .kind = TARE_KIND_KERNEL, .alignment = 255,
	               .queue = 1, .object = KERNEL, .amount = 1, .event = 0x600));
	add(w, RECORD(launches, LAUNCHES, 7, 1,
	              .ticks = { 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9, 7, 9 }));
	add(w, RECORD(launches, LAUNCHES, 2, 1, .ticks = { 8, 9, 100, 9 }));
	add(w, FLAGGED(times, TIMES, ALL, 0, 1, .command_track = 1, .command_number = 1,
	               .queued = t0 + 1, .submitted = t0 + 2, .start = t0 + 3, .end = t0 + 9,
	               .observed = t0 + 700));
	for (uint32_t i = 0; i < 3; i++)
		add(w, RECORD(more_times, MORE_TIMES, 3, 1,
		              .ticks = { 15, 1, 2, 8, 14, 0, 3, 7, 13, 1, 1, 9 }));
	add(w, FLAGGED(command, COMMAND, TARE_COMMAND_FAILED, WRITE, 1, .enter = t0 + 800,
	               .call_ticks = 9, .number = 11, .kind = TARE_KIND_KERNEL, .queue = 1,
	               .object = KERNEL, .amount = 1));
	end(w);
}

// Launches with all that counters say, one of them run several times; what was left alone; values
// of no command.
static void counted(const char *folder)
{
	struct tare_trace_header h = usual();
	struct tare_trace_writer *w = begin(folder, "counted", h);
	uint64_t t = t0;

	base_objects(w);
	add(w, RECORD(counting, COUNTING, TARE_COUNTING_PREPARED, 1, .object = 0x77, .from = t,
	              .to = t + 300, .group = 5, .text = 1));
	add(w, RECORD(counting, COUNTING, TARE_COUNTING_ABSENT, 1, .from = t + 300, .to = t + 300,
	              .code = TARE_TRACE_COUNTER_HOST_READ_BYTES));
	for (uint32_t i = TARE_LEFT_CAPTURED; i <= TARE_LEFT_OWN; i++)
		add(w, RECORD(counting, COUNTING, TARE_COUNTING_LEFT, 1, .object = KERNEL,
		              .from = t + 310, .to = t + 310, .code = i));
	t += 400;
	for (uint32_t i = 1; i <= 12; i++, t += 100) {
		uint16_t first = (uint16_t)(4 * (i - 1) + 1);
		add(w, RECORD(command, COMMAND, WRITE, 1, .enter = t, .call_ticks = 40, .number = i,
		              .kind = TARE_KIND_KERNEL, .queue = 1, .object = KERNEL, .amount = 1));
		if (i % 3 == 0)
			add(w,
			    RECORD(counting, COUNTING, TARE_COUNTING_BEGUN, 1, .command_track = 1,
			           .command_number = i, .from = t + 5, .to = t + 5));
		add(w, RECORD(counting, COUNTING, TARE_COUNTING_LAUNCH, 1, .command_track = 1,
		              .command_number = i, .from = t + 5, .to = t + 35, .group = i % 5,
		              .code = i == 12 ? 999 : 0, .passes = 1 + i % 2, .text = 0,
		              .execution = i == 7 ? 3 : 0));
		for (uint16_t k = 0;
		     i <= 12 && k < 4 && first + k <= TARE_TRACE_COUNTER_L2_LOOKUP_SHARE; k++)
			add(w, FLAGGED(counted, COUNTED, i % 2, i % 5, 1, .command_track = 1,
			               .command_number = i, .ticks = t + 35,
			               .counter = { (uint16_t)(first + k), k ? first : 0 },
			               .value = { 1e6 / i, k % 2 ? -1.0 : __builtin_inf() }));
	}
	for (uint16_t k = TARE_TRACE_COUNTER_INST_ALU; k <= TARE_TRACE_COUNTER_STATE_MISC; k++)
		if (k <= TARE_TRACE_COUNTER_COPIES_SHARED || k >= TARE_TRACE_COUNTER_STATE_SELECTED)
			add(w, FLAGGED(counted, COUNTED, 0, 1, 1, .command_track = 1,
			               .command_number = 1, .ticks = t, .counter = { k, 0 },
			               .value = { 1e6 }));
	add(w, FLAGGED(counted, COUNTED, 0, 1, 1, .command_track = 1, .command_number = 77,
	               .ticks = t, .counter = { 1, 0 }, .value = { __builtin_nan("") }));
	for (uint32_t i = TARE_SAMPLING_PREPARED; i <= TARE_SAMPLING_ENDED; i++, t += 1000) {
		add(w, RECORD(sampling, SAMPLING, i, 1, .from = t, .to = t + 9, .device_ns = t,
		              .count = i, .code = i == TARE_SAMPLING_ABSENT ? 43 : 0, .cpu_ns = 77,
		              .device = 1, .interval_ns = 1000, .text = 1));
		add(w, RECORD(sampled, SAMPLED, 0, 1, .from = t, .to = t + 1000,
		              .counter = { 2, 27, 41, 44 }, .value = { 50, 1e6 * i, 1e18, -1 }));
	}
	end(w);
}

// Writes and reads with what they carry, the same bytes now and then; the last two of no such
// command.
static void contents(const char *folder)
{
	struct tare_trace_header h = usual();
	struct tare_trace_writer *w;
	uint64_t t = t0;

	h.flags = TARE_TRACE_COMPARED;
	w = begin(folder, "contents", h);
	base_objects(w);
	for (uint32_t i = 1; i <= 14; i++, t += 100) {
		add(w, RECORD(command, COMMAND, WRITE, 1, .enter = t, .call_ticks = 9, .number = i,
		              .kind = i % 3 ? TARE_KIND_WRITE : TARE_KIND_READ,
		              .direction =
		                  i % 3 ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_FROM_DEVICE,
		              .queue = 1, .object = BUFFER, .amount = 65536, .object2 = 0x7000,
		              .event = 0x500 + i));
		add(w, FLAGGED(contents, CONTENTS, i % 2, 1 + i % TARE_CONTENTS_NO_ROW, 1,
		               .command_track = 1, .command_number = i + i / 13 * 5,
		               .execution = i / 14, .whole = 7 + i / 9, .sample = 7, .bytes = 65536,
		               .from = t + 20, .to = t + 30));
		add(w, FLAGGED(times, TIMES, 12, 0, 1, .command_track = 1, .command_number = i,
		               .start = t + 40, .end = t + 60, .observed = t + 80));
	}
	end(w);
}

static void calls(const char *folder)
{
	struct tare_trace_writer *w = begin_usual(folder, "calls");
	uint64_t t = t0;

	base_objects(w);
	for (uint16_t i = 0; i < TARE_ROLE_COUNT; i++)
		add(w, RECORD(function, FUNCTION, i + 1, 1, .name = 1, .api = 1, .role = i));
	for (uint16_t i = 0; i < 2 * TARE_ROLE_COUNT; i++, t += 100)
		add(w, FLAGGED(call, CALL, i % 8, 1 + i % TARE_ROLE_COUNT, 1 + i % 2, .enter = t,
		               .exit = t + 50, .result = -i,
		               .object = i % 3   ? QUEUE
		                         : i % 2 ? PROGRAM
		                                 : BUFFER,
		               .bytes = i, .value = i, .device = DEVICE));
	add(w, FLAGGED(site, SITE, TARE_SITE_OF_CALL, 0, 2, .of = t - 100, .stack = 1));
	add(w, RECORD(polled, POLLED, 9, 1, .first_enter = t, .last_exit = t + 90, .count = 3,
	              .ticks = 30, .object = QUEUE, .failed = 1));
	add(w, RECORD(callback, CALLBACK, 1, 2, .enter = t, .exit = t + 5, .object = BUFFER,
	              .status = -1));
	for (uint16_t i = 0; i < 4; i++)
		add(w, RECORD(cpu_time, CPU_TIME, i % 2, 1, .ticks = t + i, .cpu_ns = 10 + i,
		              .resident_bytes = 4096));
	for (uint16_t clock = TARE_CLOCK_RAW; clock <= TARE_CLOCK_DEVICE; clock++)
		add(w, RECORD(clock_pair, CLOCK_PAIR, clock, 1, .before = t + 10, .value = t,
		              .after = t + 20, .device = DEVICE));
	add(w, RECORD(fork, FORK, 0, 1, .ticks = t + 30, .child = 7));
	add(w, RECORD(loss, LOSS, 0, 1, .from = t + 30, .to = t + 40, .records = 3, .commands = 1));
	end(w);
	const struct tare_trace_window held = {
		tare_trace_head(TARE_TRACE_WINDOW, 0, 0, 2), 3, t0, 4, t + 50, 6, { 0 }
	};
	patch(folder, "calls", at_record(2, 0), &held, sizeof held);
}

static void marks(const char *folder)
{
	struct tare_trace_writer *w = begin_usual(folder, "marks");
	uint64_t t = t0;

	tare_trace_writer_text(w, "phase");
	tare_trace_writer_text(w, "");
	for (uint8_t i = 0; i < 18; i++, t += 10)
		add(w, FLAGGED(phase, PHASE, i / 2 % 3,
		               i < 9    ? 1
		               : i < 17 ? 2
		                        : 0,
		               1 + i % 2, .ticks = t, .name = 1, .domain = i % 4 ? 1 : 0,
		               .value = i % 3 == 2 ? i % 9 : 0));
	for (uint16_t i = 0; i < 4; i++)
		add(w, RECORD(active, ACTIVE, i % 2, 1, .ticks = t + i));
	add(w, (union tare_trace_record){ .head = tare_trace_head(TARE_TRACE_VOID, 0, 0, 1) });
	end(w);
}

// The handles of the usual objects once more, as another API's.
static void apis(const char *folder)
{
	struct tare_trace_header h = usual();
	struct tare_trace_writer *w;
	uint64_t t = t0;

	h.apis = 1 << TARE_TRACE_OPENCL | 1 << TARE_TRACE_CUDA;
	w = begin(folder, "apis", h);
	base_objects(w);
	for (uint8_t api = TARE_TRACE_OPENCL; api <= TARE_TRACE_CUDA; api += 2) {
		uint16_t function = (uint16_t)((api - 1) * 4096 + LAUNCH);
		add(w, RECORD(function, FUNCTION, function, 1, .name = 1, .api = api,
		              .role = TARE_ROLE_COMMAND));
		add(w, FLAGGED(object, OBJECT, api, TARE_OBJECT_DEVICE, 1, .handle = DEVICE,
		               .ticks = t, .number = api));
		add(w, FLAGGED(object, OBJECT, api, TARE_OBJECT_QUEUE, 1, .handle = QUEUE,
		               .ticks = t, .device = DEVICE, .number = 10 + api));
		add(w, FLAGGED(object, OBJECT, api, TARE_OBJECT_KERNEL, 1, .handle = KERNEL,
		               .ticks = t, .name = 1));
		add(w, FLAGGED(fact, FACT, api, TARE_TRACE_FACT_COMPUTE_UNITS, 1, .object = DEVICE,
		               .ticks = t, .value = api));
		add(w, FLAGGED(change, CHANGE, api, TARE_CHANGE_PROFILING, 1, .object = QUEUE,
		               .ticks = t, .to = 2));
	}
	for (uint32_t i = 1; i <= 4; i++, t += 100) {
		uint8_t api = i % 2 ? TARE_TRACE_OPENCL : TARE_TRACE_CUDA;
		add(w, FLAGGED(command, COMMAND, TARE_COMMAND_DEPENDS, (api - 1) * 4096 + LAUNCH, 1,
		               .enter = t, .call_ticks = 9, .number = i, .kind = TARE_KIND_KERNEL,
		               .alignment = 255, .queue = 10u + api, .object = KERNEL, .amount = 1,
		               .event = 0x500 + i / 3));
		add(w, FLAGGED(depends, DEPENDS, api << TARE_DEPENDS_API_SHIFT, 1, 1, .of = i,
		               .event = { 0x500 }));
		add(w, FLAGGED(clock_pair, CLOCK_PAIR, api, TARE_CLOCK_DEVICE, 1, .before = t + 10,
		               .value = t, .after = t + 20, .device = DEVICE));
	}
	end(w);
}

// ---- headers

static void headers(const char *folder)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct tare_trace_header h = { .flags = 1 << i,
			                       .api = i % 4,
			                       .pid = 9,
			                       .parent_pid = 8,
			                       .rank = 2,
			                       .rank_count = 4,
			                       .start_ticks = 3 * t0,
			                       .start_raw_ns = (int64_t)t0,
			                       .start_monotonic_ns = 5,
			                       .start_realtime_ns = INT64_C(1700000000000000000),
			                       .process_start_raw_ns = (int64_t)t0 - 99,
			                       .host_clock = TARE_TRACE_CLOCK_TSC,
			                       .host_hz = i ? 3000000000 : 0,
			                       .self_cost_ps = 3,
			                       .self_call_cost_ps = 2,
			                       .boot_id = { 1 + i % 2, 2 },
			                       .rank_from = "RANK",
			                       .state = 1 + i % TARE_TRACE_STOPPED,
			                       .stop_reason = i % 6,
			                       .stop_error = 28,
			                       .lost_records = 4,
			                       .lost_commands = 2,
			                       .recycled_records = 6,
			                       .recycled_commands = 3,
			                       .passed_calls = 1,
			                       .stalls = 2,
			                       .stalled_ticks = 100,
			                       .process_cpu_ns = 1000,
			                       .helper_cpu_ns = 10,
			                       .pending = 1,
			                       .calls_seen = 50,
			                       .self_stack_cost_ps = 7,
			                       .harvest_ticks = 40,
			                       .fill_bytes_s = 60000000000,
			                       .apis = i % 2 ? 2 : 10,
			                       .driver_rounds = 9,
			                       .driver_native_ps = 500000,
			                       .driver_ps = { 1, 2, 3, -4, 5, 6 },
			                       .driver_low_ps = { 0, 1, 2, INT64_MIN, 4, 5 },
			                       .driver_high_ps = { 2, 3, 4, 5, 6, INT64_MAX },
			                       .calibration_ticks = 30,
			                       .setup_ns = INT64_MAX,
			                       .execute_rounds = 21,
			                       .execute_ps = { 1, INT64_MAX, INT64_MIN },
			                       .execute_low_ps = { 1, 2, 3 },
			                       .execute_high_ps = { 3, 2, 1 },
			                       .sampled_from_ticks = 3 * t0 + 4,
			                       .self_untimed_cost_ps = 1,
			                       .self_low_ps = { 2, 1 },
			                       .self_high_ps = { INT64_MAX, 4 },
			                       .alive_ticks = 3 * t0 + 900,
			                       .end_ticks = i % 2 ? 3 * t0 + 1000 : 0 };
		char name[32];
		struct tare_trace_writer *w;
		snprintf(name, sizeof name, "header-%u", i);
		w = begin(folder, name, h);
		add(w, RECORD(call, CALL, 1, 1, .enter = 3 * t0 + 5, .exit = 3 * t0 + 500,
		              .object = QUEUE));
		if (i == 0)
			add(w, RECORD(clock_pair, CLOCK_PAIR, TARE_CLOCK_RAW, 1,
			              .before = 3 * t0 + 600, .value = t0 + 210,
			              .after = 3 * t0 + 620));
		end(w);
	}
}

void every_record(const char *folder)
{
	objects(folder);
	facts(folder);
	commands(folder);
	launches(folder);
	contents(folder);
	counted(folder);
	calls(folder);
	marks(folder);
	apis(folder);
	lists(folder);
	graphs(folder);
	headers(folder);
}
