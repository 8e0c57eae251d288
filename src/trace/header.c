// SPDX-License-Identifier: Apache-2.0
#include "trace/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { LARGEST_HEADER = 1 << 20, SWAPPED_ORDER = 0x04030201 };

static bool all_zero(const void *bytes, size_t length)
{
	const char *at = bytes;

	for (size_t i = 0; i < length; i++)
		if (at[i])
			return false;
	return true;
}

static int refuse_start(struct tare_trace_source *source, uint64_t bytes)
{
	const struct tare_trace_header *header = &source->header;

	if (bytes == 0)
		tare_trace_say(source, "is empty: the program ended before recording began");
	else if (bytes < TARE_TRACE_HEADER_BYTES)
		tare_trace_say(source, "is cut inside its header, at byte %" PRIu64 " of %d", bytes,
		               TARE_TRACE_HEADER_BYTES);
	else if (all_zero(header, sizeof *header))
		tare_trace_say(source, "has no header: the program ended before recording began");
	else if (memcmp(header->magic, TARE_TRACE_MAGIC, sizeof header->magic) != 0)
		tare_trace_say(source, "is no trace of tare: it does not begin like one");
	else
		return 0;
	return -ENODATA;
}

static int refuse_version(struct tare_trace_source *source)
{
	const struct tare_trace_header *header = &source->header;

	if (header->byte_order == SWAPPED_ORDER)
		tare_trace_say(source, "was written on a machine of the other byte order");
	else if (header->byte_order != TARE_TRACE_BYTE_ORDER)
		tare_trace_say(source, "is damaged at byte 12: no byte order");
	else if (header->version_major == 0)
		tare_trace_say(source, "is damaged at byte 8: no version");
	else if (header->version_major > TARE_TRACE_VERSION_MAJOR) {
		tare_trace_say(
		    source,
		    "was written by a newer tare (trace version %u.%u, this one reads %d): "
		    "read it with that version or a later one",
		    header->version_major, header->version_minor, TARE_TRACE_VERSION_MAJOR);
		return -EPROTO;
	} else
		return 0;
	return -ENODATA;
}

static int refuse_sizes(struct tare_trace_source *source)
{
	const struct tare_trace_header *header = &source->header;
	bool newer = header->version_minor > TARE_TRACE_VERSION_MINOR;

	if (newer ? header->header_bytes < TARE_TRACE_HEADER_BYTES ||
	                header->header_bytes > LARGEST_HEADER ||
	                header->header_bytes % TARE_TRACE_RECORD_BYTES
	          : header->header_bytes != TARE_TRACE_HEADER_BYTES)
		tare_trace_say(source,
		               "is damaged at byte 16: a header of %" PRIu32 " bytes cannot be",
		               header->header_bytes);
	else if (header->window_bytes < TARE_TRACE_LEAST_WINDOW_BYTES ||
	         header->window_bytes > TARE_TRACE_MOST_WINDOW_BYTES ||
	         header->window_bytes % TARE_TRACE_RECORD_BYTES)
		tare_trace_say(source,
		               "is damaged at byte 20: windows of %" PRIu32 " bytes cannot be",
		               header->window_bytes);
	else if (header->record_bytes != TARE_TRACE_RECORD_BYTES)
		tare_trace_say(source,
		               "is damaged at byte 24: records of %" PRIu32 " bytes cannot be",
		               header->record_bytes);
	else if (header->host_clock != TARE_TRACE_CLOCK_RAW &&
	         header->host_clock != TARE_TRACE_CLOCK_TSC)
		tare_trace_say(
		    source, "is damaged at byte 32: a host clock of kind %" PRIu32 " is not known",
		    header->host_clock);
	else
		return 0;
	return -ENODATA;
}

// An enumerator that is not known becomes `instead`; by a newer minor version that is no damage.
static void check_value(struct tare_trace_source *source, uint32_t *value, uint32_t first,
                        uint32_t last, uint32_t instead, const char *what)
{
	if (*value >= first && *value <= last)
		return;
	if (source->header.version_minor <= TARE_TRACE_VERSION_MINOR)
		tare_trace_say(source, "is damaged in its header: %s %" PRIu32 " is not known",
		               what, *value);
	*value = instead;
}

static void end_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
}

// Puts right what would mislead, and says so.
static void check_members(struct tare_trace_source *source)
{
	struct tare_trace_header *header = &source->header;

	check_value(source, &header->api, TARE_TRACE_NO_API, TARE_TRACE_API_COUNT - 1,
	            TARE_TRACE_NO_API, "API");
	if (header->version_minor <= TARE_TRACE_VERSION_MINOR &&
	    header->apis >= UINT64_C(1) << TARE_TRACE_API_COUNT)
		tare_trace_say(source, "is damaged in its header: APIs %#" PRIx64 " are not known",
		               header->apis);
	header->apis &= (UINT64_C(1) << TARE_TRACE_API_COUNT) - 1;
	check_value(source, &header->state, TARE_TRACE_RECORDING, TARE_TRACE_STOPPED,
	            TARE_TRACE_RECORDING, "state");
	check_value(source, &header->stop_reason, TARE_TRACE_NOT_STOPPED, TARE_TRACE_NO_MEMORY,
	            TARE_TRACE_IO, "reason to stop");
	if (header->start_raw_ns < 0) {
		tare_trace_say(source,
		               "is damaged in its header: recording began at %" PRId64 " ns",
		               header->start_raw_ns);
		header->start_raw_ns = 0;
	}
	if (header->host_clock == TARE_TRACE_CLOCK_RAW &&
	    header->start_ticks != (uint64_t)header->start_raw_ns) {
		tare_trace_say(source,
		               "is damaged in its header: recording began at %" PRIu64
		               " ns by one member and at %" PRId64 " ns by another",
		               header->start_ticks, header->start_raw_ns);
		header->start_ticks = (uint64_t)header->start_raw_ns;
	}
	if (header->end_ticks && header->end_ticks < header->start_ticks) {
		tare_trace_say(source, "is damaged in its header: recording ended before it began");
		header->end_ticks = 0;
	}
	if (header->definition_windows > header->windows) {
		tare_trace_say(source,
		               "is damaged in its header: %" PRIu64 " of %" PRIu64
		               " windows hold definitions",
		               header->definition_windows, header->windows);
		header->definition_windows = header->windows;
	}
	end_text(header->host_name, sizeof header->host_name);
	end_text(header->rank_from, sizeof header->rank_from);
	end_text(header->executable, sizeof header->executable);
	end_text(header->command_line, sizeof header->command_line);
}

int tare_trace_read_header(struct tare_trace_source *source, int file, uint64_t bytes)
{
	ssize_t have = tare_trace_pread(file, &source->header, sizeof source->header, 0);
	int status;

	if (have < 0) {
		tare_trace_say(source, "cannot be read: %s", strerror((int)-have));
		return -ENODATA;
	}
	if ((size_t)have < sizeof source->header && bytes > (uint64_t)have)
		bytes = (uint64_t)have;
	status = refuse_start(source, bytes);
	if (!status)
		status = refuse_version(source);
	if (!status)
		status = refuse_sizes(source);
	if (!status)
		check_members(source);
	return status;
}
