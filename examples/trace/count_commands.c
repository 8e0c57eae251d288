// SPDX-License-Identifier: Apache-2.0
// Counts the commands of a recorded program, by process and by function, and the bytes that they
// moved. Needs nothing of tare but its public reader:
//   cc count_commands.c $(pkg-config --cflags --libs tare-trace) -o count_commands
//   tare record -o run.tare -- ./app && ./count_commands run.tare
#include <tare/trace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 65536 }; // a function's number has 16 bits

struct counts {
	const struct tare_trace *trace;
	size_t file;
	uint32_t name[FUNCTIONS]; // string
	uint64_t commands[FUNCTIONS], failed[FUNCTIONS], bytes[FUNCTIONS];
	uint64_t all, timed;
};

static int definition(void *context, const union tare_trace_record *record)
{
	struct counts *counts = (struct counts *)context;

	if (tare_trace_type(record->head) == TARE_TRACE_FUNCTION)
		counts->name[tare_trace_detail(record->head)] = record->function.name;
	return 0;
}

static int event(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct counts *counts = (struct counts *)context;
	uint16_t function = tare_trace_detail(record->head);

	(void)written_ns;
	if (tare_trace_type(record->head) == TARE_TRACE_TIMES)
		counts->timed++;
	if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
		return 0;
	counts->all++;
	counts->commands[function]++;
	if (tare_trace_record_flags(record->head) & TARE_COMMAND_FAILED)
		counts->failed[function]++;
	else if (record->command.kind != TARE_KIND_KERNEL)
		counts->bytes[function] += record->command.amount; // of a kernel it names the shape
	return 0;
}

static void print_counts(const struct counts *counts)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (counts->commands[i])
			printf("%12" PRIu64 "  %-28s %" PRIu64 " bytes, %" PRIu64 " failed\n",
			       counts->commands[i],
			       tare_trace_text(counts->trace, counts->file, counts->name[i]),
			       counts->bytes[i], counts->failed[i]);
	printf("%12" PRIu64 "  commands, %" PRIu64 " with device times\n", counts->all,
	       counts->timed);
}

static int count_file(struct tare_trace *trace, size_t number)
{
	const struct tare_trace_file *file = tare_trace_file(trace, number);
	struct counts *counts = (struct counts *)calloc(1, sizeof *counts);
	struct tare_trace_visitor visitor = { definition, event, NULL, counts };
	int status;

	if (!counts)
		return 1;
	counts->trace = trace;
	counts->file = number;
	printf("process %" PRIu64 ", %s: %.3f s\n", file->header->pid, file->header->executable,
	       (double)(file->last_ns - file->first_ns) / 1e9);
	status = tare_trace_read(trace, number, &visitor);
	if (status == 0)
		print_counts(counts);
	if (file->problem)
		printf("  %s\n", file->problem);
	free(counts);
	return status != 0;
}

int main(int argc, char **argv)
{
	struct tare_trace *trace;
	char message[512];
	int status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: count_commands TRACE\n");
		return 2;
	}
	if (tare_trace_open(argv[1], &trace, message, sizeof message) < 0) {
		fprintf(stderr, "count_commands: %s\n", message);
		return 1;
	}
	if (tare_trace_problem(trace))
		printf("%s\n", tare_trace_problem(trace));
	for (size_t i = 0; i < tare_trace_file_count(trace); i++)
		status |= count_file(trace, i);
	tare_trace_close(trace);
	return status;
}
