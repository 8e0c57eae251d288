// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of one process. What the reader passes on must keep its promises, and the
// loader must cope with it.
#include "change_trace.h"

#include "analysis/recording/recording.h"
#include "tare/trace.h"

#include <errno.h>
#include <string.h>

struct seen {
	int64_t last_ns;
	uint64_t definitions, events;
};

static int see_definition(void *context, const union tare_trace_record *record)
{
	struct seen *seen = context;
	uint8_t type = tare_trace_type(record->head);

	FUZZ_CHECK(seen->events == 0);
	FUZZ_CHECK((type > TARE_TRACE_STRING && type < TARE_TRACE_CALL) ||
	           type == TARE_TRACE_CLOCK_PAIR);
	seen->definitions++;
	return 0;
}

static int see_event(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct seen *seen = context;
	uint8_t type = tare_trace_type(record->head);

	FUZZ_CHECK(type >= TARE_TRACE_CALL && type != TARE_TRACE_VOID);
	FUZZ_CHECK(written_ns >= seen->last_ns);
	if (type == TARE_TRACE_COMMAND)
		FUZZ_CHECK(record->command.kind > 0 && record->command.kind < TARE_KIND_KINDS);
	seen->last_ns = written_ns;
	seen->events++;
	return 0;
}

static int see_unfinished(void *context, uint32_t track, uint32_t function, int64_t since_ns)
{
	(void)context;
	(void)track;
	(void)since_ns;
	FUZZ_CHECK(function <= UINT16_MAX);
	return 0;
}

static void check_file(struct tare_trace *trace, size_t size)
{
	const struct tare_trace_file *file = tare_trace_file(trace, 0);
	struct seen seen = { .last_ns = INT64_MIN };
	const struct tare_trace_visitor visitor = { see_definition, see_event, see_unfinished,
		                                    &seen };

	FUZZ_CHECK(tare_trace_file_count(trace) == 1 && file);
	FUZZ_CHECK(tare_trace_read(trace, 0, &visitor) == 0);
	FUZZ_CHECK((seen.definitions + seen.events) * TARE_TRACE_RECORD_BYTES <= size);
	FUZZ_CHECK(file->first_ns <= file->last_ns && file->residual_ns >= 0);
	FUZZ_CHECK(!file->damaged_windows || file->problem);
	FUZZ_CHECK(strlen(file->header->command_line) < sizeof file->header->command_line);
	for (uint32_t i = 0; i < 100; i++)
		FUZZ_CHECK(strlen(tare_trace_text(trace, 0, i)) <= size);
}

static void check_loader(const char *path)
{
	struct tare_recording *recording = NULL;
	struct tare_error error = { 0 };
	int status = tare_recording_load(path, &recording, &error);

	FUZZ_CHECK(status == 0 ? recording != NULL : error.message[0] != '\0');
	tare_recording_free(recording);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	return fuzz_change_trace(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_trace *trace = NULL;
	const char *path = fuzz_file(data, size);
	char message[512];
	int status;

	status = tare_trace_open(path, &trace, message, sizeof message);
	FUZZ_CHECK(status == 0 || status == -ENODATA || status == -EPROTO);
	FUZZ_CHECK(status == 0 ? trace != NULL : !trace && message[0] && !strchr(message, '\n'));
	if (status == 0)
		check_file(trace, size);
	tare_trace_close(trace);
	check_loader(path);
	return 0;
}
