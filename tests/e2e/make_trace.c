// SPDX-License-Identifier: Apache-2.0
// make_trace COMMANDS DIR.tare: a trace of so many commands, the same each time. Four threads feed
// one device through three in-order queues: chunk after chunk is written, computed by one of eight
// kernels and read back, each waiting for the one before; every eighth chunk a thread waits for its
// reads.
#include "base/random.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START UINT64_C(1000000000000)
#define US UINT64_C(1000)

enum { THREADS = 4, QUEUES = 3, KERNELS = 8, BUFFERS = 6, SHAPES = 4, WAIT_EVERY = 8, STEP = 64 };
enum {
	PLATFORM = 0x100,
	DEVICE = 0x200,
	CONTEXT = 0x300,
	QUEUE = 0x400,
	PROGRAM = 0x500,
	KERNEL = 0x600,
	BUFFER = 0x700,
	EVENT = 0x10000
};
enum { F_WRITE = 1, F_KERNEL, F_READ, F_ARGUMENT, F_FLUSH, F_FINISH, F_BUILD, F_CREATE };

struct thread {
	uint64_t now;
	uint32_t number; // of its last command
	uint32_t chunks;
	uint64_t reads_end;
	int open; // phases
};

static struct tare_trace_writer *writer;
static struct tare_random rng = { 7 };
static struct thread threads[THREADS];
static uint64_t engine_free[QUEUES]; // a queue an engine
static uint64_t next_event = EVENT;
static uint32_t names[3]; // of phases
static uint32_t domain;

static void add(union tare_trace_record record)
{
	tare_trace_writer_add(writer, &record);
}

static uint64_t some(uint64_t low, uint64_t high)
{
	return low + tare_random_below(&rng, high - low + 1);
}

static void add_object(enum tare_trace_object_kind kind, struct tare_trace_object object,
                       const char *name)
{
	object.head = tare_trace_head(TARE_TRACE_OBJECT, 0, kind, 0);
	object.ticks = START;
	object.name = name ? tare_trace_writer_text(writer, name) : 0;
	add((union tare_trace_record){ .object = object });
}

static void add_functions(void)
{
	static const struct {
		uint16_t number;
		const char *name;
		enum tare_trace_role role;
	} functions[] = {
		{ F_WRITE, "clEnqueueWriteBuffer", TARE_ROLE_COMMAND },
		{ F_KERNEL, "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND },
		{ F_READ, "clEnqueueReadBuffer", TARE_ROLE_COMMAND },
		{ F_ARGUMENT, "clSetKernelArg", TARE_ROLE_QUERY },
		{ F_FLUSH, "clFlush", TARE_ROLE_FLUSH },
		{ F_FINISH, "clFinish", TARE_ROLE_WAIT },
		{ F_BUILD, "clBuildProgram", TARE_ROLE_BUILD },
		{ F_CREATE, "clCreateBuffer", TARE_ROLE_ALLOCATE },
	};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		add((union tare_trace_record){
		    .function = {
		        .head = tare_trace_head(TARE_TRACE_FUNCTION, 0, functions[i].number, 0),
		        .name = tare_trace_writer_text(writer, functions[i].name),
		        .api = TARE_TRACE_OPENCL,
		        .role = functions[i].role } });
}

static void add_definitions(void)
{
	static const char *const kernels[KERNELS] = { "advance",  "blur",  "collide", "divergence",
		                                      "gradient", "norm2", "stream",  "transpose" };

	for (uint32_t i = 0; i < THREADS; i++)
		add((union tare_trace_record){
		    .track = { .head = tare_trace_head(TARE_TRACE_TRACK, 0, 0, 1 + i),
		               .ticks = START,
		               .tid = 71 + i } });
	add_functions();
	add_object(TARE_OBJECT_PLATFORM, (struct tare_trace_object){ .handle = PLATFORM }, "Made");
	add_object(TARE_OBJECT_DEVICE,
	           (struct tare_trace_object){
	               .handle = DEVICE, .parent = PLATFORM, .bytes = UINT64_C(8) << 30 },
	           "Made GPU");
	add_object(TARE_OBJECT_CONTEXT,
	           (struct tare_trace_object){ .handle = CONTEXT, .number = 1 }, NULL);
	for (uint32_t i = 0; i < QUEUES; i++) {
		add_object(TARE_OBJECT_QUEUE,
		           (struct tare_trace_object){ .handle = QUEUE + i,
		                                       .parent = CONTEXT,
		                                       .device = DEVICE,
		                                       .number = 1 + i,
		                                       .properties = 2 },
		           NULL);
		add((union tare_trace_record){
		    .fact = { .head =
		                  tare_trace_head(TARE_TRACE_FACT, 0, TARE_TRACE_FACT_PROFILING, 0),
		              .object = QUEUE + i,
		              .ticks = START,
		              .value = 1 } });
	}
	add_object(TARE_OBJECT_PROGRAM,
	           (struct tare_trace_object){ .handle = PROGRAM, .parent = CONTEXT }, NULL);
	for (uint32_t i = 0; i < KERNELS; i++)
		add_object(TARE_OBJECT_KERNEL,
		           (struct tare_trace_object){ .handle = KERNEL + i, .parent = PROGRAM },
		           kernels[i]);
	for (uint32_t i = 0; i < BUFFERS; i++)
		add_object(TARE_OBJECT_MEMORY,
		           (struct tare_trace_object){ .handle = BUFFER + i,
		                                       .parent = CONTEXT,
		                                       .bytes = UINT64_C(1) << (16 + i),
		                                       .number = TARE_TRACE_MEMORY_BUFFER },
		           NULL);
	for (uint32_t i = 0; i < SHAPES; i++)
		add((union tare_trace_record){
		    .shape = { .head = tare_trace_head(TARE_TRACE_SHAPE, 0, 0, 0),
		               .id = 1 + i,
		               .dimensions = 1,
		               .global = { UINT64_C(4096) << i, 1, 1 },
		               .local = { 64, 1, 1 } } });
	names[0] = tare_trace_writer_text(writer, "run");
	names[1] = tare_trace_writer_text(writer, "step");
	names[2] = tare_trace_writer_text(writer, "exchange");
	domain = tare_trace_writer_text(writer, "made");
}

// ---- what the threads do

static void add_phase(uint32_t thread, int begin, uint32_t name)
{
	add((union tare_trace_record){
	    .phase = { .head = tare_trace_head(TARE_TRACE_PHASE, TARE_PHASE_TARE, begin ? 1 : 2,
	                                       1 + thread),
	               .ticks = threads[thread].now,
	               .name = begin ? name : 0,
	               .domain = domain } });
	threads[thread].open += begin ? 1 : -1;
	threads[thread].now += 50;
}

static void add_call(uint32_t thread, uint16_t function, uint64_t object, uint64_t ticks)
{
	struct thread *of = &threads[thread];

	add((union tare_trace_record){
	    .call = { .head = tare_trace_head(TARE_TRACE_CALL, 0, function, 1 + thread),
	              .enter = of->now,
	              .exit = of->now + ticks,
	              .object = object } });
	of->now += ticks + some(20, 120);
}

// One command, for which `after` (an event, 0: none) that ends at `ready` is waited; says when it
// ends.
static uint64_t add_command(uint32_t thread, uint32_t queue, struct tare_trace_command command,
                            uint64_t ready, uint64_t after, uint64_t length)
{
	struct thread *of = &threads[thread];
	uint8_t stamps = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED |
	                 TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END;
	uint64_t call = some(1 * US, 3 * US);
	uint64_t submitted = of->now + call / 2;
	uint64_t start = submitted + some(1 * US, 2 * US);

	start = start > engine_free[queue] ? start : engine_free[queue] + some(100, 900);
	start = start > ready ? start : ready + some(300, 900);
	engine_free[queue] = start + length;
	command.head = tare_trace_head(TARE_TRACE_COMMAND, after ? TARE_COMMAND_DEPENDS : 0,
	                               queue + F_WRITE, 1 + thread);
	command.enter = of->now;
	command.call_ticks = (uint32_t)call;
	command.number = ++of->number;
	command.queue = 1 + queue;
	command.event = next_event++;
	add((union tare_trace_record){ .command = command });
	if (after)
		add((union tare_trace_record){
		    .depends = { .head = tare_trace_head(TARE_TRACE_DEPENDS, 0, 1, 1 + thread),
		                 .of = command.number,
		                 .event = { after } } });
	add((union tare_trace_record){
	    .times = { .head = tare_trace_head(TARE_TRACE_TIMES, stamps, 0, 1 + thread),
	               .command_track = 1 + thread,
	               .command_number = command.number,
	               .queued = of->now + call / 4,
	               .submitted = submitted,
	               .start = start,
	               .end = start + length,
	               .observed = start + length + 2 * US } });
	of->now += call + some(50, 400);
	return start + length;
}

static void add_chunk(uint32_t thread)
{
	struct thread *of = &threads[thread];
	uint32_t buffer = (uint32_t)some(0, BUFFERS - 1), kernel = (uint32_t)some(0, KERNELS - 1);
	uint64_t bytes = UINT64_C(1) << (12 + some(0, 4));
	uint64_t end;

	if (of->chunks % STEP == 0)
		add_phase(thread, 1, names[1]);
	end = add_command(thread, 0,
	                  (struct tare_trace_command){ .kind = TARE_KIND_WRITE,
	                                               .direction = TARE_DIRECTION_TO_DEVICE,
	                                               .alignment = 6,
	                                               .memory = TARE_TRACE_MEMORY_PINNED,
	                                               .object = BUFFER + buffer,
	                                               .amount = bytes,
	                                               .object2 = 0x7f0000 },
	                  0, 0, 800 + bytes / 25);
	add_call(thread, F_ARGUMENT, 0, some(100, 300));
	end = add_command(thread, 1,
	                  (struct tare_trace_command){ .kind = TARE_KIND_KERNEL,
	                                               .alignment = 255,
	                                               .object = KERNEL + kernel,
	                                               .amount = 1 + kernel % SHAPES },
	                  end, next_event - 1, 2 * US + some(0, 400) + kernel * US / 2);
	if (of->chunks % 2)
		add_call(thread, F_FLUSH, QUEUE + 1, some(300, 900));
	end = add_command(thread, 2,
	                  (struct tare_trace_command){ .kind = TARE_KIND_READ,
	                                               .direction = TARE_DIRECTION_FROM_DEVICE,
	                                               .alignment = 6,
	                                               .memory = TARE_TRACE_MEMORY_PINNED,
	                                               .object = BUFFER + buffer,
	                                               .amount = bytes,
	                                               .object2 = 0x7f0000 },
	                  end, next_event - 1, 800 + bytes / 25);
	of->reads_end = end > of->reads_end ? end : of->reads_end;
	of->chunks++;
	if (of->chunks % WAIT_EVERY == 0) {
		add_phase(thread, 1, names[2]);
		add_call(thread, F_FINISH, QUEUE + 2,
		         (of->reads_end > of->now ? of->reads_end - of->now : 0) + 2 * US);
		add_phase(thread, 0, 0);
		of->now += some(2 * US, 12 * US);
	}
	if (of->chunks % STEP == 0)
		add_phase(thread, 0, 0);
}

static uint64_t write_run(uint64_t commands)
{
	uint64_t end = START;

	threads[0].now = START + 2000 * US;
	add_call(0, F_BUILD, PROGRAM, 30000 * US);
	for (uint32_t i = 0; i < BUFFERS; i++)
		add_call(0, F_CREATE, BUFFER + i, 20 * US);
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].now = threads[0].now + i * 10 * US;
		add_phase(i, 1, names[0]);
	}
	// The thread that is behind goes on, so that all of them share the device.
	for (uint64_t i = 0; i + 3 <= commands; i += 3) {
		uint32_t behind = 0;
		for (uint32_t t = 1; t < THREADS; t++)
			behind = threads[t].now < threads[behind].now ? t : behind;
		add_chunk(behind);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		while (threads[i].open > 0)
			add_phase(i, 0, 0);
		end = threads[i].now > end ? threads[i].now : end;
		end = threads[i].reads_end > end ? threads[i].reads_end : end;
	}
	return end + 100 * US;
}

static int write_record(const char *folder, uint64_t end)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof path, "%s/record.json", folder);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file,
	        "{\"format\": \"tare.record/1\", \"tare\": \"0.1.0\", \"job\": null,\n"
	        " \"start_raw_ns\": %llu, \"end_raw_ns\": %llu, \"start_realtime_ns\": 0,\n"
	        " \"exit_status\": 0, \"exit_signal\": null, \"program\": [\"./made\"],\n"
	        " \"boot_id\": null, \"host_units\": 8}\n",
	        (unsigned long long)START, (unsigned long long)end);
	return fclose(file);
}

int main(int argc, char **argv)
{
	struct tare_trace_header header = { .host_clock = TARE_TRACE_CLOCK_RAW,
		                            .host_hz = 1000000000,
		                            .api = TARE_TRACE_OPENCL,
		                            .pid = 71,
		                            .parent_pid = 70,
		                            .rank = TARE_TRACE_NO_RANK,
		                            .start_ticks = START,
		                            .start_raw_ns = START,
		                            .start_monotonic_ns = START,
		                            .boot_id = { 1, 2 },
		                            .process_start_raw_ns = START,
		                            .state = TARE_TRACE_ENDED };
	struct tare_error error = { 0 };
	uint64_t end;

	if (argc != 3) {
		fprintf(stderr, "usage: make_trace COMMANDS DIR.tare\n");
		return 2;
	}
	snprintf(header.executable, sizeof header.executable, "/opt/made");
	snprintf(header.command_line, sizeof header.command_line, "./made");
	snprintf(header.host_name, sizeof header.host_name, "box");
	if (tare_trace_writer_open(argv[2], "box-71-1", &header, &writer, &error) == 0) {
		add_definitions();
		end = write_run(strtoull(argv[1], NULL, 10));
		if (tare_trace_writer_close(writer, &error) == 0 && write_record(argv[2], end) == 0)
			return 0;
	}
	fprintf(stderr, "make_trace: %s\n",
	        error.message[0] ? error.message : "cannot write record.json");
	return 1;
}
