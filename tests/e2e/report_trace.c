// SPDX-License-Identifier: Apache-2.0
// report_trace DIR [phases|one|empty|hosts]: a small trace whose truth is known. Process 71 runs
// ten rounds of 100 µs on one device: a blocking write of 1 KB (6 µs on the device), a kernel
// "blur" (50 µs) that clFinish waits for; process 72 does nothing. With phases: each round is a
// "step" of 90 µs, first "upload" (15 µs), then "compute" (75 µs), all in "app/run" (995 µs);
// "tail" begins at 996 µs and does not end, "tick" is an instant. one: nothing but one kernel, of
// process 71; empty: a run of no length; hosts: process 72 does the same on another machine.
#include "trace/writer.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define START INT64_C(1000000000000)
#define US INT64_C(1000)
#define ROUNDS 10

enum {
	PLATFORM = 0x100,
	DEVICE = 0x200,
	CONTEXT = 0x300,
	QUEUE = 0x400,
	PROGRAM = 0x500,
	KERNEL = 0x600,
	BUFFER = 0x700
};
enum { F_WRITE = 1, F_KERNEL = 2, F_FINISH = 3, TRACK = 1 };

static struct tare_trace_writer *writer;
static bool with_phases, only_one, empty, hosts;

static void add(union tare_trace_record record)
{
	tare_trace_writer_add(writer, &record);
}

static void add_object(enum tare_trace_object_kind kind, struct tare_trace_object object,
                       const char *name)
{
	object.head = tare_trace_head(TARE_TRACE_OBJECT, 0, kind, 0);
	object.ticks = START;
	object.name = name ? tare_trace_writer_text(writer, name) : 0;
	add((union tare_trace_record){ .object = object });
}

static void add_function(uint16_t number, const char *name, enum tare_trace_role role)
{
	add((union tare_trace_record){
	    .function = { .head = tare_trace_head(TARE_TRACE_FUNCTION, 0, number, 0),
	                  .name = tare_trace_writer_text(writer, name),
	                  .api = TARE_TRACE_OPENCL,
	                  .role = role } });
}

static void add_definitions(void)
{
	add((union tare_trace_record){
	    .track = { .head = tare_trace_head(TARE_TRACE_TRACK, 0, 0, TRACK),
	               .ticks = START,
	               .tid = 71 } });
	add_function(F_WRITE, "clEnqueueWriteBuffer", TARE_ROLE_COMMAND);
	add_function(F_KERNEL, "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND);
	add_function(F_FINISH, "clFinish", TARE_ROLE_WAIT);
	add_object(TARE_OBJECT_PLATFORM, (struct tare_trace_object){ .handle = PLATFORM }, "Made");
	add_object(
	    TARE_OBJECT_DEVICE,
	    (struct tare_trace_object){ .handle = DEVICE, .parent = PLATFORM, .bytes = 1 << 30 },
	    "Made GPU");
	add_object(TARE_OBJECT_CONTEXT,
	           (struct tare_trace_object){ .handle = CONTEXT, .number = 1 }, NULL);
	add_object(TARE_OBJECT_QUEUE,
	           (struct tare_trace_object){ .handle = QUEUE,
	                                       .parent = CONTEXT,
	                                       .device = DEVICE,
	                                       .number = 1,
	                                       .properties = 2 },
	           NULL);
	add((union tare_trace_record){
	    .fact = { .head = tare_trace_head(TARE_TRACE_FACT, 0, TARE_TRACE_FACT_PROFILING, 0),
	              .object = QUEUE,
	              .ticks = START,
	              .value = 1 } });
	add_object(TARE_OBJECT_PROGRAM,
	           (struct tare_trace_object){ .handle = PROGRAM, .parent = CONTEXT }, NULL);
	add_object(TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){ .handle = KERNEL, .parent = PROGRAM }, "blur");
	add_object(TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){ .handle = BUFFER,
	                                       .parent = CONTEXT,
	                                       .bytes = 1024,
	                                       .number = TARE_TRACE_MEMORY_BUFFER },
	           NULL);
	add((union tare_trace_record){
	    .shape = { .head = tare_trace_head(TARE_TRACE_SHAPE, 0, 0, 0),
	               .id = 1,
	               .dimensions = 1,
	               .global = { 4096, 1, 1 },
	               .local = { 64, 1, 1 } } });
}

static void add_times(uint32_t number, int64_t enter, int64_t start, int64_t end)
{
	uint8_t stamps = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED |
	                 TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END;
	add((union tare_trace_record){
	    .times = { .head = tare_trace_head(TARE_TRACE_TIMES, stamps, 0, TRACK),
	               .command_track = TRACK,
	               .command_number = number,
	               .queued = enter + 500,
	               .submitted = enter + 1000,
	               .start = start,
	               .end = end,
	               .observed = end + 2 * US } });
}

enum { INSTANT = 0, BEGIN = 1, END = 2 };

static void add_phase(uint16_t what, const char *name, const char *domain, int64_t at)
{
	struct tare_trace_phase phase = { .ticks = at };
	if (!with_phases)
		return;
	phase.name = tare_trace_writer_text(writer, name);
	phase.domain = domain ? tare_trace_writer_text(writer, domain) : 0;
	tare_trace_writer_phase(writer, TRACK, what, TARE_PHASE_TARE, &phase);
}

// Enqueued at `at`, runs for 50 µs from 10 µs later on.
static void add_kernel(uint32_t number, int64_t at)
{
	add((union tare_trace_record){
	    .command = { .head = tare_trace_head(TARE_TRACE_COMMAND, 0, F_KERNEL, TRACK),
	                 .enter = at,
	                 .call_ticks = 4 * US,
	                 .number = number,
	                 .kind = TARE_KIND_KERNEL,
	                 .alignment = 255,
	                 .queue = 1,
	                 .object = KERNEL,
	                 .amount = 1 } });
	add_times(number, at, at + 10 * US, at + 60 * US);
}

static void add_round(uint32_t number, int64_t at)
{
	add_phase(BEGIN, "step", NULL, at);
	add_phase(BEGIN, "upload", NULL, at);
	add((union tare_trace_record){
	    .command = {
	        .head = tare_trace_head(TARE_TRACE_COMMAND, TARE_COMMAND_BLOCKING, F_WRITE, TRACK),
	        .enter = at,
	        .call_ticks = 10 * US,
	        .number = number,
	        .kind = TARE_KIND_WRITE,
	        .direction = TARE_DIRECTION_TO_DEVICE,
	        .alignment = 6,
	        .memory = TARE_TRACE_MEMORY_PAGEABLE,
	        .queue = 1,
	        .object = BUFFER,
	        .amount = 1024,
	        .object2 = 0x7f0000 } });
	add_times(number, at, at + 2 * US, at + 8 * US);
	add_phase(INSTANT, "tick", NULL, at + 11 * US);
	add_phase(END, "upload", NULL, at + 15 * US);
	add_phase(BEGIN, "compute", NULL, at + 15 * US);
	add_kernel(number + 1, at + 20 * US);
	add((union tare_trace_record){
	    .call = { .head = tare_trace_head(TARE_TRACE_CALL, 0, F_FINISH, TRACK),
	              .enter = at + 25 * US,
	              .exit = at + 85 * US,
	              .object = QUEUE } });
	add_phase(END, "compute", NULL, at + 90 * US);
	add_phase(END, "step", NULL, at + 90 * US);
}

static int write_process(const char *directory, const char *name, uint64_t pid,
                         const char *executable)
{
	struct tare_trace_header header = { .host_clock = TARE_TRACE_CLOCK_RAW,
		                            .host_hz = 1000000000,
		                            .api = TARE_TRACE_OPENCL,
		                            .pid = pid,
		                            .parent_pid = 70,
		                            .rank = TARE_TRACE_NO_RANK,
		                            .start_ticks = START,
		                            .start_raw_ns = START,
		                            .start_monotonic_ns = START,
		                            .boot_id = { 1, 2 },
		                            .process_start_raw_ns = START,
		                            .end_ticks = START + 1000 * US,
		                            .state = TARE_TRACE_ENDED };
	struct tare_error error = { 0 };

	if (empty)
		header.end_ticks = START;
	if (hosts) {
		snprintf(header.host_name, sizeof header.host_name, "%s",
		         pid == 71 ? "one" : "two");
		header.boot_id[0] = pid;
	}
	snprintf(header.executable, sizeof header.executable, "%s", executable);
	snprintf(header.command_line, sizeof header.command_line, "%s", executable);
	if (tare_trace_writer_open(directory, name, &header, &writer, &error) < 0)
		return -1;
	if (only_one && pid == 71) {
		add_definitions();
		add_kernel(1, START);
	} else if (!only_one && !empty && (hosts || pid == 71)) {
		add_definitions();
		add_phase(BEGIN, "run", "app", START);
		for (uint32_t i = 0; i < ROUNDS; i++)
			add_round(1 + 2 * i, START + i * 100 * US);
		add_phase(END, "run", "app", START + 995 * US);
		add_phase(BEGIN, "tail", NULL, START + 996 * US);
	}
	return tare_trace_writer_close(writer, &error);
}

static bool read_form(const char *form)
{
	with_phases = strcmp(form, "phases") == 0;
	only_one = strcmp(form, "one") == 0;
	empty = strcmp(form, "empty") == 0;
	hosts = strcmp(form, "hosts") == 0;
	return with_phases || only_one || empty || hosts;
}

int main(int argc, char **argv)
{
	char path[4200];
	FILE *file;

	if ((argc != 2 && (argc != 3 || !read_form(argv[2]))) ||
	    write_process(argv[1], "here-71-1", 71, "/opt/made") < 0 ||
	    write_process(argv[1], "here-72-2", 72, "/opt/other") < 0) {
		fprintf(stderr, "usage: report_trace DIR.tare [phases|one|empty|hosts]\n");
		return 1;
	}
	snprintf(path, sizeof path, "%s/record.json", argv[1]);
	file = fopen(path, "w");
	if (!file)
		return 1;
	fprintf(file,
	        "{\"format\": \"tare.record/1\", \"tare\": \"0.1.0\", \"job\": null,\n"
	        " \"start_raw_ns\": %lld, \"end_raw_ns\": %lld, \"start_realtime_ns\": 0,\n"
	        " \"exit_status\": 0, \"exit_signal\": null, \"program\": [\"./made\", "
	        "\"--rounds\", \"10\"],\n"
	        " \"boot_id\": null, \"host_units\": 2}\n",
	        (long long)START, (long long)(empty ? START : START + 1000 * US));
	return fclose(file) != 0;
}
