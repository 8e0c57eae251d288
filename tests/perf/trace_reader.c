// SPDX-License-Identifier: Apache-2.0
// How fast a long trace is read, and in how much memory. trace_reader [EVENTS [THREADS [FOLDER]]]
// writes a trace of so many events (20 million over 4 threads) into a new folder under FOLDER
// ($TMPDIR or /tmp), reads it twice and removes it.
#include "base/time.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct counted {
	uint64_t events, bytes;
	int64_t last_ns, device_ns;
	bool ordered;
};

static void add_event(struct tare_trace_writer *writer, uint64_t number, uint32_t track,
                      uint64_t ticks)
{
	union tare_trace_record record = { 0 };
	uint32_t command = (uint32_t)(number / 2 + 1);

	if (number % 2 == 0)
		record.command = (struct tare_trace_command){
			.head = tare_trace_head(TARE_TRACE_COMMAND, 0, 7, track),
			.enter = ticks,
			.call_ticks = 600,
			.number = command,
			.kind = TARE_KIND_KERNEL,
			.queue = 1,
			.object = 4711,
			.amount = 1,
		};
	else
		record.times = (struct tare_trace_times){
			.head = tare_trace_head(TARE_TRACE_TIMES, 15, 0, track),
			.command_track = track,
			.command_number = command,
			.queued = ticks,
			.submitted = ticks + 10,
			.start = ticks + 100,
			.end = ticks + 400,
			.observed = ticks + 900,
		};
	tare_trace_writer_add(writer, &record);
}

static int write_trace(const char *folder, uint64_t events, uint32_t threads)
{
	struct tare_trace_header header = {
		.host_clock = TARE_TRACE_CLOCK_TSC,
		.host_hz = UINT64_C(2400000000),
		.start_ticks = UINT64_C(1000000000000),
		.start_raw_ns = INT64_C(416666666667),
	};
	struct tare_trace_writer *writer;
	struct tare_error error;
	uint64_t ticks = header.start_ticks;

	if (tare_trace_writer_open(folder, "host-1-1", &header, &writer, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	for (uint64_t i = 0; i < events; i++) {
		if (i % 1000000 == 0) {
			union tare_trace_record pair = { .clock_pair = {
				                             .head = tare_trace_head(
				                                 TARE_TRACE_CLOCK_PAIR, 0,
				                                 TARE_CLOCK_RAW, 0),
				                             .before = ticks - 60,
				                             .after = ticks + 60,
				                             .value =
				                                 (uint64_t)((double)ticks / 2.4),
				                         } };
			tare_trace_writer_add(writer, &pair);
		}
		// Bursts, so that threads take turns as they do.
		add_event(writer, i, 1 + (uint32_t)(i / 32 % threads), ticks += 1000);
	}
	if (tare_trace_writer_close(writer, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	return 0;
}

static int count(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct counted *counted = context;

	counted->ordered &= written_ns >= counted->last_ns;
	counted->last_ns = written_ns;
	counted->events++;
	if (tare_trace_type(record->head) == TARE_TRACE_TIMES)
		counted->device_ns += (int64_t)(record->times.end - record->times.start);
	return 0;
}

static long peak_kilobytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

// Of this process: a machine that is shared makes the wall slow, not this.
static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int read_trace(const char *folder)
{
	double cpu = cpu_seconds();
	struct counted counted = { .ordered = true };
	struct tare_trace_visitor visitor = { .event = count, .context = &counted };
	struct tare_host_time begin = tare_host_now(), opened, end;
	struct tare_trace *trace;
	char message[512];
	const struct tare_trace_file *file;
	long before = peak_kilobytes();

	if (tare_trace_open(folder, &trace, message, sizeof message)) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	opened = tare_host_now();
	tare_trace_read(trace, 0, &visitor);
	end = tare_host_now();
	file = tare_trace_file(trace, 0);
	printf("%" PRIu64 " events, %.0f MB: open %.2f s, read %.2f s, %.1f million events/s "
	       "(%.1f million a second of CPU time), "
	       "peak memory %ld KB (%ld before); residual %" PRId64 " ns; %s%s\n",
	       counted.events, (double)file->bytes / 1e6,
	       (double)tare_host_elapsed_ns(begin, opened) / 1e9,
	       (double)tare_host_elapsed_ns(opened, end) / 1e9,
	       (double)counted.events * 1e3 / (double)tare_host_elapsed_ns(begin, end),
	       (double)counted.events / 1e6 / (cpu_seconds() - cpu), peak_kilobytes(), before,
	       file->residual_ns, counted.ordered ? "in order" : "NOT IN ORDER",
	       file->problem ? file->problem : "");
	tare_trace_close(trace);
	return counted.ordered ? 0 : 1;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000000;
	uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4;
	const char *parent = argc > 3 ? argv[3] : (getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	char folder[4096], file[4200];
	int status = 1;
	pid_t child;

	snprintf(folder, sizeof folder, "%s/tare-perf-XXXXXX", parent);
	if (!threads || !mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	// In a process of its own: what the writer takes is not what the reader takes.
	child = fork();
	if (child == 0)
		_exit(write_trace(folder, events, threads));
	if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
		for (int i = 0; i < 2; i++)
			status |= read_trace(folder);
	snprintf(file, sizeof file, "%s/host-1-1.trace", folder);
	unlink(file);
	rmdir(folder);
	return status ? 1 : 0;
}
