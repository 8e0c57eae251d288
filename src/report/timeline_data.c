// SPDX-License-Identifier: Apache-2.0
// The data of a page's timeline: chosen so that they fit, deflated, in base64. docs/page-run.md.
#include "report/run_report.h"

#include <errno.h>

#if TARE_HAVE_PAGE

#include "base/units.h"
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, MOST_ATTEMPTS = 40 };

// A try to write the timeline.
struct attempt {
	struct timeline_stream *stream;
	uint64_t most_characters, total_bytes, bytes; // raw: of all, given so far
	bool over;
	char *text; // to be freed
	size_t length;
};

static bool take_bytes(void *context, const void *bytes, size_t count)
{
	struct attempt *attempt = context;

	timeline_stream_add(attempt->stream, bytes, count);
	attempt->bytes += count;
	attempt->over = timeline_stream_written(attempt->stream) > attempt->most_characters;
	return !attempt->over;
}

static void put_little_endian(uint32_t value, unsigned char bytes[4])
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
}

// Writes what is chosen into memory; stops when that is more than `most_characters`. Returns 0 with
// *attempt, or -ENOMEM.
static int try_to_write(const struct timeline *timeline, const struct tare_page_left_out *left_out,
                        uint64_t most_characters, struct attempt *attempt)
{
	timeline_layouts layouts;
	unsigned char head[16] = "tareline";
	uint64_t column_bytes = timeline_lay_out(timeline, layouts);
	char *header = timeline_header(timeline, layouts, left_out);
	size_t length = header ? strlen(header) : 0;
	FILE *memory;

	*attempt = (struct attempt){ .most_characters = most_characters };
	memory = open_memstream(&attempt->text, &attempt->length);
	attempt->stream = memory ? timeline_stream_new(memory) : NULL;
	if (header && attempt->stream && length <= UINT32_MAX) {
		put_little_endian(VERSION, head + 8);
		put_little_endian((uint32_t)length, head + 12);
		attempt->total_bytes = sizeof head + length + column_bytes;
		if (take_bytes(attempt, head, sizeof head) && take_bytes(attempt, header, length))
			timeline_columns_write(timeline, layouts, take_bytes, attempt);
		if (timeline_stream_end(attempt->stream) > most_characters)
			attempt->over = true;
	} else {
		attempt->over = true;
		length = SIZE_MAX;
	}
	free(header);
	timeline_stream_free(attempt->stream);
	// Closing is what makes text and length valid, and where a short write shows.
	if ((memory && fclose(memory) != 0) || length == SIZE_MAX) {
		free(attempt->text);
		attempt->text = NULL;
		return -ENOMEM;
	}
	return 0;
}

// ---- what is left out

static void count_left_out(const struct timeline *timeline, size_t all_waits, int level,
                           uint64_t most_bytes, struct tare_page_left_out *left_out)
{
	static const char *const words[] = { "", "calls that only ask", "calls of less than a 10,000th of the run",
		"all calls", "all calls, and the shortest commands, phases and gaps" };
	uint64_t counts[TIMELINE_KINDS];
	char size[TARE_UNIT_TEXT];

	for (int kind = 0; kind < TIMELINE_KINDS; kind++)
		counts[kind] = timeline->all[kind].count - timeline->rows[kind].count;
	*left_out = (struct tare_page_left_out){
		.commands = counts[TIMELINE_COMMANDS], .waits = all_waits - timeline->wait_count,
		.calls = counts[TIMELINE_CALLS], .callbacks = counts[TIMELINE_CALLBACKS],
		.phases = counts[TIMELINE_PHASES], .gaps = counts[TIMELINE_GAPS],
	};
	if (level == TIMELINE_EVERYTHING)
		return;
	tare_format_bytes(most_bytes, size);
	snprintf(left_out->why, sizeof left_out->why,
	         "the timeline may take %s (--page-size), so %s are left out", size, words[level]);
}

// Leaves out as much as it takes to fit. Returns 0 with *left_out and *attempt, whose text is to be
// freed, -ENOSPC when nothing fits, or -ENOMEM.
static int make_fit(struct timeline *timeline, uint64_t most_bytes, struct tare_page_left_out *left_out,
                    struct attempt *attempt)
{
	size_t all_waits = timeline->wait_count;
	double share = 1;
	int level = TIMELINE_EVERYTHING;

	for (int i = 0; i < MOST_ATTEMPTS; i++) {
		double fits;
		int code;
		if (level > TIMELINE_EVERYTHING)
			timeline_choose(timeline, level, share);
		count_left_out(timeline, all_waits, level, most_bytes, left_out);
		code = try_to_write(timeline, left_out, most_bytes, attempt);
		if (code < 0 || !attempt->over)
			return code;
		free(attempt->text);
		if (level < TIMELINE_SHARE - 1) {
			level++;
			continue;
		}
		if (level == TIMELINE_SHARE && share <= 0)
			return -ENOSPC;
		level = TIMELINE_SHARE;
		// What came before it was too much fits with a little less; more precisely by trying.
		fits = (double)attempt->bytes / (double)attempt->total_bytes;
		share *= fits < 0.9 ? 0.9 * fits : 0.8;
		if (i > MOST_ATTEMPTS / 2)
			share = 0;
	}
	return -ENOSPC;
}

int tare_report_timeline_write(const struct tare_run_report *run, uint64_t most_bytes, FILE *file,
                               struct tare_page_left_out *left_out, struct tare_error *error)
{
	struct timeline timeline;
	struct tare_page_left_out here;
	struct attempt attempt;
	int code = timeline_open(&timeline, run, error);

	if (code < 0)
		return code;
	if (!left_out)
		left_out = &here;
	code = make_fit(&timeline, most_bytes, left_out, &attempt);
	timeline_close(&timeline);
	if (code == -ENOSPC) {
		char size[TARE_UNIT_TEXT];
		tare_format_bytes(most_bytes, size);
		snprintf(left_out->why, sizeof left_out->why,
		         "not even the names of the timeline fit into %s (--page-size), so it is left out",
		         size);
		return 0;
	}
	if (code < 0)
		return tare_fail(error, ENOMEM, "no memory for the page's timeline");
	errno = 0;
	fwrite(attempt.text, 1, attempt.length, file);
	free(attempt.text);
	if (ferror(file))
		return tare_fail(error, EIO, "cannot write the page: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}

#else

int tare_report_timeline_write(const struct tare_run_report *run, uint64_t most_bytes, FILE *file,
                               struct tare_page_left_out *left_out, struct tare_error *error)
{
	(void)run, (void)most_bytes, (void)file, (void)left_out;
	return tare_fail(error, ENOSYS, "this tare was built without the page of a run; build it with "
	                                "jansson, zlib and libjs-chart.js, or write --json");
}

#endif
