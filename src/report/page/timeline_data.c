// SPDX-License-Identifier: Apache-2.0
// The data of a page's timeline: chosen so that they fit, deflated, in base64. docs/page-run.md.
#include "report/run/report.h"

#include <errno.h>

#if TARE_HAVE_PAGE

#include "base/units.h"
#include "report/page/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, MOST_ATTEMPTS = 12 };
#define WELL_FILLED 0.85 // of what there is room for

// A try to write the timeline.
struct attempt {
	struct timeline_stream *stream;
	uint64_t most_characters, total_bytes, bytes; // raw: of all, given so far
	bool over;
	char *text; // to be freed
	size_t length;
	struct tare_page_left_out left_out;
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

static void write_rows(const struct timeline *timeline, struct attempt *attempt,
                       const timeline_layouts layouts, const char *header, size_t length)
{
	unsigned char head[16] = "tareline";

	put_little_endian(VERSION, head + 8);
	put_little_endian((uint32_t)length, head + 12);
	if (take_bytes(attempt, head, sizeof head) && take_bytes(attempt, header, length))
		timeline_columns_write(timeline, layouts, take_bytes, attempt);
	if (timeline_stream_end(attempt->stream) > attempt->most_characters)
		attempt->over = true;
}

// Writes what is chosen into memory; stops when that is more than `most_characters`. Returns 0 with
// *attempt, whose left_out is set, or -ENOMEM.
static int try_to_write(const struct timeline *timeline, uint64_t most_characters,
                        struct attempt *attempt)
{
	timeline_layouts layouts;
	uint64_t column_bytes = timeline_lay_out(timeline, layouts);
	char *header = timeline_header(timeline, layouts, &attempt->left_out);
	size_t length = header ? strlen(header) : 0;
	FILE *memory = open_memstream(&attempt->text, &attempt->length);
	int code = -ENOMEM;

	attempt->most_characters = most_characters;
	attempt->total_bytes = length + column_bytes;
	attempt->stream = memory ? timeline_stream_new(memory) : NULL;
	if (header && attempt->stream && length <= UINT32_MAX) {
		write_rows(timeline, attempt, layouts, header, length);
		code = 0;
	}
	free(header);
	timeline_stream_free(attempt->stream);
	// Closing is what makes text and length valid, and where a short write shows.
	if (memory && fclose(memory) != 0)
		code = -ENOMEM;
	return code;
}

// ---- what is left out

static void count_left_out(const struct timeline *timeline, int level, uint64_t most_bytes,
                           struct tare_page_left_out *left_out)
{
	static const char *const words[] = {
		"", "calls that only ask", "calls of less than a 10,000th of the run", "all calls",
		"all calls, and the shortest commands, phases and gaps"
	};
	uint64_t counts[TIMELINE_KINDS];
	char size[TARE_UNIT_TEXT];

	for (int kind = 0; kind < TIMELINE_KINDS; kind++)
		counts[kind] = timeline->all[kind].count - timeline->rows[kind].count;
	*left_out = (struct tare_page_left_out){
		.commands = counts[TIMELINE_COMMANDS],
		.waits = timeline->all_waits - timeline->wait_count,
		.calls = counts[TIMELINE_CALLS],
		.callbacks = counts[TIMELINE_CALLBACKS],
		.phases = counts[TIMELINE_PHASES],
		.gaps = counts[TIMELINE_GAPS],
	};
	if (level == TIMELINE_EVERYTHING)
		return;
	tare_format_bytes(most_bytes, size);
	snprintf(left_out->why, sizeof left_out->why,
	         "the timeline may take %s (--page-size), so %s are left out", size, words[level]);
}

// Tries a level. Returns 0 with *attempt, whose text is to be freed, or -ENOMEM.
static int try_level(struct timeline *timeline, int level, double share, uint64_t most_bytes,
                     struct attempt *attempt)
{
	int code;

	*attempt = (struct attempt){ 0 };
	if (level > TIMELINE_EVERYTHING)
		timeline_choose(timeline, level, share);
	count_left_out(timeline, level, most_bytes, &attempt->left_out);
	code = try_to_write(timeline, most_bytes, attempt);
	if (code < 0 || attempt->over) {
		free(attempt->text);
		attempt->text = NULL;
	}
	return code;
}

// Finds the share of rows that fills the room well; `attempt` has shown that not all fit. The share
// that fits and the one that does not come closer to each other. As try_level; without a text where
// not even the header fits.
static int find_share(struct timeline *timeline, uint64_t most_bytes, struct attempt *attempt)
{
	struct attempt best = { 0 };
	double fits = 0, over = 1;
	double share = 0.9 * (double)attempt->bytes / (double)attempt->total_bytes;
	int code = 0;

	for (int i = 0; i < MOST_ATTEMPTS && !code; i++) {
		double filled;
		code = try_level(timeline, TIMELINE_SHARE, share, most_bytes, attempt);
		if (code == 0 && attempt->text) {
			free(best.text);
			best = *attempt;
			fits = share;
			filled = (double)best.length / (double)most_bytes;
			share = share * (0.5 + 0.5 * WELL_FILLED) / filled;
			if (filled >= WELL_FILLED || fits == 0)
				break;
		} else {
			over = share;
			share *= 0.5;
		}
		if (share <= fits || share >= over)
			share = (fits + over) / 2;
		if (!best.text && i == MOST_ATTEMPTS - 2)
			share = 0;
	}
	*attempt = best;
	return code;
}

// Leaves out as much as it takes to fit. As find_share.
static int make_fit(struct timeline *timeline, uint64_t most_bytes, struct attempt *attempt)
{
	int code = 0;

	for (int level = TIMELINE_EVERYTHING; level < TIMELINE_SHARE; level++) {
		code = try_level(timeline, level, 1, most_bytes, attempt);
		if (code < 0 || attempt->text)
			return code;
	}
	return find_share(timeline, most_bytes, attempt);
}

static int write_text(const char *text, size_t length, FILE *file, struct tare_error *error)
{
	errno = 0;
	fwrite(text, 1, length, file);
	if (fflush(file) != 0 || ferror(file))
		return tare_fail(error, EIO, "cannot write the page: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}

int tare_report_timeline_write(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                               struct tare_page_left_out *left_out, struct tare_error *error)
{
	struct timeline timeline;
	struct attempt attempt;
	char size[TARE_UNIT_TEXT];
	int code = timeline_open(&timeline, run, error);

	if (code < 0)
		return code;
	code = make_fit(&timeline, most_bytes, &attempt);
	if (code < 0) {
		code = tare_fail(error, ENOMEM, "no memory for the page's timeline");
	} else if (attempt.text) {
		code = write_text(attempt.text, attempt.length, file, error);
	} else {
		timeline_choose(&timeline, TIMELINE_SHARE, 0);
		count_left_out(&timeline, TIMELINE_SHARE, most_bytes, &attempt.left_out);
		snprintf(attempt.left_out.why, sizeof attempt.left_out.why,
		         "not even the names of the timeline fit into %s (--page-size), so it is "
		         "left out",
		         tare_format_bytes(most_bytes, size));
	}
	if (code == 0 && left_out)
		*left_out = attempt.left_out;
	free(attempt.text);
	timeline_close(&timeline);
	return code;
}

#else

int tare_report_timeline_write(const struct tare_report *run, uint64_t most_bytes, FILE *file,
                               struct tare_page_left_out *left_out, struct tare_error *error)
{
	(void)run, (void)most_bytes, (void)file, (void)left_out;
	return tare_fail(error, ENOSYS,
	                 "this tare was built without the page of a run; build it with "
	                 "jansson, zlib and libjs-chart.js, or write --json");
}

#endif
