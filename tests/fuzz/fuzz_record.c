// SPDX-License-Identifier: Apache-2.0
// Any bytes as record.json: alone, and beside the trace of a process of another machine.
#include "target.h"

#include "analysis/recording/recording.h"
#include "trace/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { ALONE, WITH_TRACE, FOLDERS };
static char folders[FOLDERS][32];

static void in_folder(int which, const char *name, char path[64])
{
	snprintf(path, 64, "%.31s/%.31s", folders[which], name);
}

static void forget(void)
{
	char path[64];

	for (int i = 0; i < FOLDERS; i++) {
		in_folder(i, "record.json", path);
		unlink(path);
		in_folder(i, "a.trace", path);
		unlink(path);
		rmdir(folders[i]);
	}
}

static void make_trace(void)
{
	const struct tare_trace_header header = { .start_raw_ns = 1000000000,
		                                  .pid = 7,
		                                  .window_bytes = 1024,
		                                  .start_realtime_ns = INT64_C(1700000000000000000),
		                                  .host_name = "there" };
	const union tare_trace_record call = { .call = { .head = tare_trace_head(TARE_TRACE_CALL, 0,
		                                                                 1, 1),
		                                         .enter = 1000000100,
		                                         .exit = 1000000900 } };
	struct tare_trace_writer *writer;

	FUZZ_CHECK(tare_trace_writer_open(folders[WITH_TRACE], "a", &header, &writer, NULL) == 0);
	tare_trace_writer_add(writer, &call);
	FUZZ_CHECK(tare_trace_writer_close(writer, NULL) == 0);
}

static void make_folders(const char *input)
{
	char path[64];

	for (int i = 0; i < FOLDERS; i++) {
		strcpy(folders[i], "/tmp/tare-fuzz-XXXXXX");
		FUZZ_CHECK(mkdtemp(folders[i]));
		in_folder(i, "record.json", path);
		FUZZ_CHECK(symlink(input, path) == 0);
	}
	make_trace();
	FUZZ_CHECK(atexit(forget) == 0);
}

static bool is_time(int64_t ns)
{
	return ns == TARE_NO_TIME || (ns >= 0 && ns <= INT64_C(1) << 62);
}

static void load(int which)
{
	struct tare_recording *r = NULL;
	struct tare_error error = { 0 };

	FUZZ_CHECK(tare_recording_load(folders[which], &r, &error) == 0);
	FUZZ_CHECK(r->process_count == (which == WITH_TRACE));
	FUZZ_CHECK(r->program && r->layer && r->start_ns <= r->end_ns);
	FUZZ_CHECK(is_time(r->start_ns) && is_time(r->end_ns) && is_time(r->start_realtime_ns));
	FUZZ_CHECK(is_time(r->user_cpu_ns) && is_time(r->system_cpu_ns));
	FUZZ_CHECK(r->exit_status >= -1 && r->exit_status <= 255);
	FUZZ_CHECK(!r->problem || !strchr(r->problem, '\n'));
	for (size_t i = 0; i < r->process_count; i++)
		FUZZ_CHECK(r->start_ns <= r->processes[i].start_ns &&
		           r->processes[i].start_ns <= r->processes[i].end_ns);
	tare_recording_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *input = fuzz_file(data, size);

	if (!folders[0][0])
		make_folders(input);
	load(ALONE);
	load(WITH_TRACE);
	return 0;
}
