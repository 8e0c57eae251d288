// SPDX-License-Identifier: Apache-2.0
// Writes small traces whose truth is known and loads them. Host ticks are nanoseconds of the raw
// clock, so that a record's times are those of the recording.
#pragma once
#include "analysis/recording/recording.h"
#include "tare/trace.h"
#include "trace/writer.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define START INT64_C(1000000000000) // the machine is up for 1000 s
#define MS INT64_C(1000000)

// What most traces have: one platform, device, context, program with kernels "scale" and "norm",
// one buffer, one in-order queue with number 1.
enum {
	PLATFORM = 0x100,
	DEVICE = 0x200,
	CONTEXT = 0x300,
	QUEUE = 0x400,
	PROGRAM = 0x500,
	SCALE = 0x600,
	NORM = 0x608,
	BUFFER = 0x700
};
enum {
	F_KERNEL = 1,
	F_WRITE = 2,
	F_FINISH = 3,
	F_WAIT = 4,
	F_CREATE = 5,
	F_RELEASE = 6,
	F_BUILD = 7,
	F_POLL = 8
};

static struct tare_error rig_error;

struct rig {
	char directory[64];
	struct tare_trace_writer *writer;
	uint32_t number[16]; // of the last command of a track
};

static inline int rig_unlink(const char *path, const struct stat *status, int flag,
                             struct FTW *state)
{
	(void)status;
	(void)flag;
	(void)state;
	return remove(path);
}

static inline struct rig rig_new(void)
{
	struct rig rig = { .directory = "/tmp/tare-test-XXXXXX" };
	assert_non_null(mkdtemp(rig.directory));
	return rig;
}

static inline void rig_free(struct rig *rig)
{
	nftw(rig->directory, rig_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct tare_trace_header rig_header(uint64_t pid)
{
	struct tare_trace_header header = {
		.host_clock = TARE_TRACE_CLOCK_RAW,
		.host_hz = 1000000000,
		.api = TARE_TRACE_OPENCL,
		.pid = pid,
		.parent_pid = 1,
		.rank = TARE_TRACE_NO_RANK,
		.start_ticks = START,
		.start_raw_ns = START,
		.start_monotonic_ns = START + 7,
		.start_realtime_ns = INT64_C(1700000000000000000),
		.boot_id = { 11, 22 },
		.host_name = "here",
		.executable = "/bin/app",
		.command_line = "app\0--n\0003",
		.state = TARE_TRACE_ENDED,
	};
	return header;
}

static inline void rig_begin(struct rig *rig, const char *name,
                             const struct tare_trace_header *header)
{
	if (tare_trace_writer_open(rig->directory, name, header, &rig->writer, &rig_error))
		fail_msg("%s", rig_error.message);
	memset(rig->number, 0, sizeof rig->number);
}

static inline void rig_end(struct rig *rig)
{
	if (tare_trace_writer_close(rig->writer, &rig_error))
		fail_msg("%s", rig_error.message);
	rig->writer = NULL;
}

static inline struct tare_recording *rig_load(const struct rig *rig)
{
	struct tare_recording *recording = NULL;
	if (tare_recording_load(rig->directory, &recording, &rig_error))
		fail_msg("%s", rig_error.message);
	return recording;
}

static inline void rig_add(struct rig *rig, union tare_trace_record record)
{
	tare_trace_writer_add(rig->writer, &record);
}

// ---- definitions

static inline void rig_object(struct rig *rig, enum tare_trace_object_kind kind,
                              struct tare_trace_object object, const char *name)
{
	object.head = tare_trace_head(TARE_TRACE_OBJECT, 0, kind, 0);
	if (name)
		object.name = tare_trace_writer_text(rig->writer, name);
	rig_add(rig, (union tare_trace_record){ .object = object });
}

static inline void rig_fact(struct rig *rig, enum tare_trace_fact key,
                            struct tare_trace_fact_record fact, const char *text)
{
	fact.head = tare_trace_head(TARE_TRACE_FACT, 0, key, 0);
	if (text)
		fact.text = tare_trace_writer_text(rig->writer, text);
	rig_add(rig, (union tare_trace_record){ .fact = fact });
}

static inline void rig_function(struct rig *rig, uint16_t number, const char *name,
                                enum tare_trace_role role)
{
	rig_add(rig, (union tare_trace_record){
	                 .function = { .head = tare_trace_head(TARE_TRACE_FUNCTION, 0, number, 0),
	                               .name = tare_trace_writer_text(rig->writer, name),
	                               .api = TARE_TRACE_OPENCL,
	                               .role = role } });
}

static inline void rig_track(struct rig *rig, uint32_t track, uint64_t tid, const char *name)
{
	rig_add(rig, (union tare_trace_record){
	                 .track = {
	                     .head = tare_trace_head(TARE_TRACE_TRACK, 0, TARE_TRACE_THREAD, track),
	                     .ticks = START,
	                     .tid = tid,
	                     .name = tare_trace_writer_text(rig->writer, name) } });
}

static inline void rig_shape(struct rig *rig, uint32_t id, uint64_t global, uint32_t local)
{
	rig_add(rig, (union tare_trace_record){
	                 .shape = { .head = tare_trace_head(TARE_TRACE_SHAPE, 0, 0, 0),
	                            .id = id,
	                            .dimensions = 1,
	                            .global = { global, 1, 1 },
	                            .local = { local, 1, 1 } } });
}

static inline void rig_usual(struct rig *rig)
{
	rig_function(rig, F_KERNEL, "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND);
	rig_function(rig, F_WRITE, "clEnqueueWriteBuffer", TARE_ROLE_COMMAND);
	rig_function(rig, F_FINISH, "clFinish", TARE_ROLE_WAIT);
	rig_function(rig, F_WAIT, "clWaitForEvents", TARE_ROLE_WAIT);
	rig_function(rig, F_CREATE, "clCreateBuffer", TARE_ROLE_ALLOCATE);
	rig_function(rig, F_RELEASE, "clReleaseMemObject", TARE_ROLE_ALLOCATE);
	rig_function(rig, F_BUILD, "clBuildProgram", TARE_ROLE_BUILD);
	rig_function(rig, F_POLL, "clGetEventInfo", TARE_ROLE_POLL);
	rig_track(rig, 1, 4711, "main");
	rig_object(rig, TARE_OBJECT_PLATFORM,
	           (struct tare_trace_object){ .handle = PLATFORM, .ticks = START }, "Portable");
	rig_object(rig, TARE_OBJECT_DEVICE,
	           (struct tare_trace_object){
	               .handle = DEVICE, .ticks = START, .parent = PLATFORM, .bytes = 1 << 30 },
	           "Device X");
	rig_object(rig, TARE_OBJECT_CONTEXT,
	           (struct tare_trace_object){ .handle = CONTEXT, .ticks = START }, NULL);
	rig_object(
	    rig, TARE_OBJECT_QUEUE,
	    (struct tare_trace_object){
	        .handle = QUEUE, .ticks = START, .parent = CONTEXT, .device = DEVICE, .number = 1 },
	    NULL);
	rig_object(
	    rig, TARE_OBJECT_PROGRAM,
	    (struct tare_trace_object){ .handle = PROGRAM, .ticks = START, .parent = CONTEXT },
	    NULL);
	rig_object(rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){ .handle = SCALE, .ticks = START, .parent = PROGRAM },
	           "scale");
	rig_object(rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){ .handle = NORM, .ticks = START, .parent = PROGRAM },
	           "norm");
	rig_object(rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){ .handle = BUFFER,
	                                       .ticks = START,
	                                       .parent = CONTEXT,
	                                       .bytes = 4096,
	                                       .number = TARE_TRACE_MEMORY_BUFFER },
	           NULL);
	rig_shape(rig, 1, 1024, 64);
}

// ---- events

// A kernel of the usual queue unless `c` says otherwise; enqueued by `track` at `enter` for 1000 ns
// unless c has other call_ticks. Returns its number.
static inline uint32_t rig_command(struct rig *rig, uint32_t track, int64_t enter, uint8_t flags,
                                   struct tare_trace_command c)
{
	uint16_t function = c.kind && c.kind != TARE_KIND_KERNEL ? F_WRITE : F_KERNEL;
	c.head = tare_trace_head(TARE_TRACE_COMMAND, flags, function, track);
	c.enter = (uint64_t)enter;
	c.number = ++rig->number[track];
	if (!c.call_ticks)
		c.call_ticks = 1000;
	if (!c.kind)
		c.kind = TARE_KIND_KERNEL;
	if (c.kind == TARE_KIND_KERNEL && !c.object) {
		c.object = SCALE;
		c.amount = 1;
	}
	if (!c.queue)
		c.queue = 1;
	rig_add(rig, (union tare_trace_record){ .command = c });
	return c.number;
}

// Times of command `number` of track 1 unless `t` says otherwise, all four stamps present.
static inline void rig_times(struct rig *rig, uint32_t track, uint32_t number,
                             struct tare_trace_times t)
{
	uint8_t present = TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END;
	if (t.queued)
		present |= TARE_TRACE_STAMP_QUEUED;
	if (t.submitted)
		present |= TARE_TRACE_STAMP_SUBMITTED;
	t.head = tare_trace_head(TARE_TRACE_TIMES, present, 0, track);
	if (!t.command_track)
		t.command_track = 1;
	t.command_number = number;
	rig_add(rig, (union tare_trace_record){ .times = t });
}

static inline void rig_call(struct rig *rig, uint32_t track, uint16_t function, uint8_t flags,
                            struct tare_trace_call call)
{
	call.head = tare_trace_head(TARE_TRACE_CALL, flags, function, track);
	rig_add(rig, (union tare_trace_record){ .call = call });
}

static inline void rig_depends(struct rig *rig, uint32_t track, uint8_t flags, uint64_t of,
                               uint16_t events, const uint64_t *event)
{
	struct tare_trace_depends d = {
		.head = tare_trace_head(TARE_TRACE_DEPENDS, flags, events, track), .of = of
	};
	memcpy(d.event, event, events * sizeof *event);
	rig_add(rig, (union tare_trace_record){ .depends = d });
}

static inline void rig_json(const struct rig *rig, const char *text)
{
	char path[128];
	FILE *file;
	snprintf(path, sizeof path, "%s/record.json", rig->directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}
