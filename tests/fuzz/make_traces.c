// SPDX-License-Identifier: Apache-2.0
// Makes the corpus of the trace reader: make_traces FOLDER writes small traces that between them
// have every type of record, each member of it other than 0, and every value of every enumeration;
// test_trace_seeds.py holds them against docs/trace-format.md. When the format has changed:
//   ninja -C build tests/fuzz/make_traces && build/tests/fuzz/make_traces tests/fuzz/corpus/trace
#include "make_traces.h"

#include <stdlib.h>
#include <string.h>

struct tare_trace_writer *begin(const char *folder, const char *name,
                                struct tare_trace_header header)
{
	struct tare_trace_writer *writer;
	struct tare_error error;

	header.window_bytes = 1024;
	header.pid = 4711;
	strcpy(header.host_name, "host");
	strcpy(header.executable, "/usr/bin/app");
	memcpy(header.command_line, "app\0--n\0003", 9);
	if (tare_trace_writer_open(folder, name, &header, &writer, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		exit(1);
	}
	return writer;
}

void end(struct tare_trace_writer *writer)
{
	struct tare_error error;

	if (tare_trace_writer_close(writer, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		exit(1);
	}
}

static void define_functions(struct tare_trace_writer *writer)
{
	static const struct {
		const char *name;
		uint32_t role;
	} functions[] = {
		{ "clEnqueueWriteBuffer", TARE_ROLE_COMMAND },
		{ "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND },
		{ "clFinish", TARE_ROLE_WAIT },
		{ "clGetEventInfo", TARE_ROLE_POLL },
	};

	for (uint16_t i = 0; i < 4; i++)
		add(writer, RECORD(function, FUNCTION, i + 1, 1,
		                   .name = tare_trace_writer_text(writer, functions[i].name),
		                   .api = TARE_TRACE_OPENCL, .role = functions[i].role));
}

static void define_objects(struct tare_trace_writer *writer, uint64_t t)
{
	uint32_t long_name =
	    tare_trace_writer_text(writer, "a_kernel_whose_name_is_so_long_that_it_takes_more_than_"
	                                   "two_records_of_text_in_the_trace");

	add(writer, RECORD(track, TRACK, TARE_TRACE_THREAD, 1, .ticks = t, .tid = 4711));
	add(writer, RECORD(track, TRACK, TARE_TRACE_THREAD, 2, .ticks = t, .tid = 4712));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_PLATFORM, 1, .handle = PLATFORM, .ticks = t,
	                   .name = tare_trace_writer_text(writer, "Platform")));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_DEVICE, 1, .handle = DEVICE, .ticks = t,
	                   .parent = PLATFORM, .bytes = 1 << 30,
	                   .name = tare_trace_writer_text(writer, "Device")));
	add(writer, RECORD(fact, FACT, TARE_TRACE_FACT_COMPUTE_UNITS, 1, .object = DEVICE,
	                   .ticks = t, .value = 8));
	add(writer, RECORD(fact, FACT, TARE_TRACE_FACT_VENDOR, 1, .object = DEVICE, .ticks = t,
	                   .text = tare_trace_writer_text(writer, "Vendor")));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_CONTEXT, 1, .handle = CONTEXT, .ticks = t,
	                   .device = DEVICE));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_QUEUE, 1, .handle = QUEUE, .ticks = t,
	                   .parent = CONTEXT, .device = DEVICE, .properties = 2, .number = 1));
	add(writer,
	    RECORD(change, CHANGE, TARE_CHANGE_PROFILING, 1, .object = QUEUE, .ticks = t, .to = 2));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_PROGRAM, 1, .handle = PROGRAM, .ticks = t,
	                   .parent = CONTEXT));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_KERNEL, 1, .handle = KERNEL, .ticks = t,
	                   .parent = PROGRAM, .name = long_name));
	add(writer, RECORD(object, OBJECT, TARE_OBJECT_MEMORY, 1, .handle = BUFFER, .ticks = t,
	                   .parent = CONTEXT, .bytes = 4096, .number = TARE_TRACE_MEMORY_BUFFER));
	add(writer, RECORD(shape, SHAPE, 0, 1, .id = 1, .dimensions = 2, .global = { 64, 64, 1 },
	                   .local = { 8, 8, 1 }));
}

static void define_stacks(struct tare_trace_writer *writer, uint64_t t)
{
	uint32_t script = tare_trace_writer_text(writer, "/a.py\nf");

	add(writer, RECORD(module, MODULE, 0, 1, .ticks = t, .from = 0x1000, .to = 0x9000,
	                   .bias = 0x1000, .path = tare_trace_writer_text(writer, "/usr/bin/app"),
	                   .build_id = tare_trace_writer_text(writer, "0a0b")));
	add(writer, RECORD(stack, STACK, 5, 1, .id = 1, .total = 7,
	                   .frame = { 0x1010, 0x1020, 0x1030, 0x1040, 0x1050 }));
	add(writer,
	    RECORD(stack, STACK, 2, 1, .id = 1, .total = 7, .offset = 5,
	           .frame = { 0x1060, TARE_TRACE_FRAME_TEXT | UINT64_C(18) << 32 | script }));
	add(writer, RECORD(stack, STACK, 1, 1, .id = 2, .total = 1, .frame = { UINT64_MAX }));
}

// A write, a kernel that waits for it, a wait, and the times.
static uint64_t one_round(struct tare_trace_writer *writer, uint32_t track, uint32_t number,
                          uint64_t t)
{
	add(writer,
	    RECORD(command, COMMAND, WRITE, track, .enter = t, .call_ticks = 90, .number = number,
	           .kind = TARE_KIND_WRITE, .direction = TARE_DIRECTION_TO_DEVICE, .alignment = 12,
	           .memory = TARE_TRACE_MEMORY_PAGEABLE, .queue = 1, .object = BUFFER,
	           .amount = 4096, .event = 0x200 + number, .object2 = 0x7000));
	add(writer, RECORD(site, SITE, 0, track, .of = number, .stack = 1));
	add(writer, RECORD(phase, PHASE, 1, track, .ticks = t + 91, .name = 1));
	add(writer, RECORD(transfer, TRANSFER, 0, track, .number = number, .region = { 64, 64, 1 },
	                   .row_pitch = 64));
	add(writer, RECORD(peer, PEER, 0, track, .number = number, .source = DEVICE,
	                   .destination = DEVICE + 1));
	add(writer, RECORD(link, LINK, TARE_LINK_NVLINK, track, .ticks = t + 91, .first = DEVICE,
	                   .second = DEVICE + 1, .count = 18));
	add(writer, RECORD(drawn, DRAWN, 0, track, .number = number, .chance = 1 << 28));
	add(writer,
	    RECORD(command, COMMAND, LAUNCH, track, .enter = t + 100, .call_ticks = UINT32_MAX,
	           .number = number + 1, .kind = TARE_KIND_KERNEL, .alignment = 255, .queue = 1,
	           .object = KERNEL, .amount = 1, .event = 0x201 + number));
	add(writer, RECORD(call_end, CALL_END, 0, track, .number = number + 1,
	                   .exit = t + 100 + UINT64_C(5000000000)));
	t += UINT64_C(5000000000);
	add(writer,
	    RECORD(depends, DEPENDS, 1, track, .of = number + 1, .event = { 0x200 + number }));
	add(writer,
	    RECORD(polled, POLLED, STATUS, track, .first_enter = t + 200, .last_exit = t + 300,
	           .count = 5, .ticks = 40, .object = 0x201 + number));
	add(writer,
	    RECORD(call, CALL, FINISH, track, .enter = t + 310, .exit = t + 900, .object = QUEUE));
	add(writer, RECORD(phase, PHASE, 2, track, .ticks = t + 901));
	union tare_trace_record wait_site = RECORD(site, SITE, 0, track, .of = t + 310, .stack = 2);
	wait_site.head |= TARE_SITE_OF_CALL << 8;
	add(writer, wait_site);
	for (uint32_t i = 0; i < 2; i++) {
		union tare_trace_record times = RECORD(
		    times, TIMES, 0, track, .command_track = track, .command_number = number + i,
		    .queued = t + 50, .submitted = t + 110, .start = t + 400 + 100 * i,
		    .end = t + 450 + 100 * i, .observed = t + 901);
		times.head |= 15 << 8;
		add(writer, times);
	}
	add(writer, RECORD(cpu_time, CPU_TIME, 0, track, .ticks = t + 910, .cpu_ns = 300 * number));
	return t + 1000;
}

static void odd_ends(struct tare_trace_writer *writer, uint64_t t)
{
	add(writer, RECORD(untimed, UNTIMED, TARE_UNTIMED_ABANDONED, 2, .command_track = 2,
	                   .command_number = 9, .observed = t));
	add(writer, RECORD(execute, EXECUTE, 0, 2, .command_track = 2, .command_number = 1,
	                   .graph = 0x300, .nodes = 3));
	add(writer,
	    RECORD(callback, CALLBACK, WRITE, 2, .enter = t, .exit = t + 5, .object = 0x200));
	add(writer, RECORD(phase, PHASE, 1, 2, .ticks = t + 6, .name = 1));
	add(writer, RECORD(loss, LOSS, 0, 2, .from = t, .to = t + 7, .records = 3, .commands = 1));
	add(writer, RECORD(fork, FORK, 0, 2, .ticks = t + 8, .child = 4713));
	add(writer, RECORD(active, ACTIVE, 0, 2, .ticks = t + 9));
	add(writer, RECORD(clock_pair, CLOCK_PAIR, TARE_CLOCK_DEVICE, 2, .before = t, .value = t,
	                   .after = t + 10, .device = DEVICE));
}

static void whole_trace(const char *folder, const char *name, struct tare_trace_header header)
{
	struct tare_trace_writer *writer = begin(folder, name, header);
	uint64_t t = header.start_ticks;

	define_functions(writer);
	define_objects(writer, t);
	define_stacks(writer, t);
	for (uint32_t i = 0; i < 3; i++) {
		add(writer,
		    RECORD(clock_pair, CLOCK_PAIR, TARE_CLOCK_RAW, 0, .before = t, .after = t + 40,
		           .value =
		               (uint64_t)header.start_raw_ns + (t + 20 - header.start_ticks) / 2));
		t = one_round(writer, 1 + i % 2, 1 + 2 * i, t);
	}
	odd_ends(writer, t);
	end(writer);
}

// What is wrong with one of them would be left out by the reader, and so reach nothing.
static int read_back(const char *folder)
{
	struct tare_trace *trace;
	char message[512];
	int wrong = 0;

	if (tare_trace_open(folder, &trace, message, sizeof message) < 0) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	for (size_t i = 0; i < tare_trace_file_count(trace); i++) {
		const struct tare_trace_file *file = tare_trace_file(trace, i);
		if (!file->problem)
			continue;
		fprintf(stderr, "%s\n", file->problem);
		wrong = 1;
	}
	if (tare_trace_problem(trace)) {
		fprintf(stderr, "%s\n", tare_trace_problem(trace));
		wrong = 1;
	}
	tare_trace_close(trace);
	return wrong;
}

int main(int argc, char **argv)
{
	struct tare_trace_header raw = { .start_raw_ns = INT64_C(1000000000000),
		                         .api = TARE_TRACE_OPENCL,
		                         .start_ticks = UINT64_C(1000000000000) };
	struct tare_trace_header tsc = { .start_raw_ns = 1000000,
		                         .host_clock = TARE_TRACE_CLOCK_TSC,
		                         .host_hz = 2000000000,
		                         .start_ticks = 7000000,
		                         .state = TARE_TRACE_RECORDING,
		                         .api = TARE_TRACE_OPENCL };

	if (argc != 2) {
		fprintf(stderr, "usage: make_traces FOLDER\n");
		return 2;
	}
	whole_trace(argv[1], "raw", raw);
	whole_trace(argv[1], "tsc", tsc);
	end(begin(argv[1], "nothing", raw));
	every_record(argv[1]);
	return read_back(argv[1]);
}
