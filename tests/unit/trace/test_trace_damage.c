// SPDX-License-Identifier: Apache-2.0
// Files that are no traces, cut ones, and ones with wrong bytes: what can be read is read, the rest
// is left out, counted and named.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "whole_trace.h"

static size_t at_record(size_t window, size_t record)
{
	return TARE_TRACE_HEADER_BYTES + window * WINDOW + record * TARE_TRACE_RECORD_BYTES;
}

// ---- a table of damage

struct row {
	const char *what;
	size_t offset;     // of the change
	const char *bytes; // put there
	size_t length;
	int status;       // of opening
	size_t lost;      // events that do not come
	uint64_t damaged; // windows
	const char *says; // part of the sentence; NULL: there is none
};
#define PUT(text) text, sizeof text - 1

#define NUMBER_(number) #number
#define NUMBER(number) NUMBER_(number)

static const struct row rows[] = {
	{ "nothing", 3000, PUT("\0"), 0, 0, 0, NULL },
	{ "magic", 1, PUT("x"), -ENODATA, 0, 0, "is no trace of tare" },
	{ "line ends", 5, PUT("\n\n"), -ENODATA, 0, 0, "is no trace of tare" },
	{ "newer", AT(version_major), PUT("\2"), -EPROTO, 0, 0,
	  "newer tare (trace version 2." NUMBER(TARE_TRACE_VERSION_MINOR) ", this one reads 1)" },
	{ "no version", AT(version_major), PUT("\0"), -ENODATA, 0, 0, "byte 8" },
	{ "other order", AT(byte_order), PUT("\1\2\3\4"), -ENODATA, 0, 0, "other byte order" },
	{ "no order", AT(byte_order), PUT("\0"), -ENODATA, 0, 0, "byte 12" },
	{ "header size", AT(header_bytes), PUT("\0\x20"), -ENODATA, 0, 0, "header of 8192 bytes" },
	{ "no window size", AT(window_bytes), PUT("\0\0"), -ENODATA, 0, 0, "windows of 0 bytes" },
	{ "odd window size", AT(window_bytes), PUT("\1"), -ENODATA, 0, 0, "windows of 1025 bytes" },
	{ "absurd window size", AT(window_bytes), PUT("\0\0\0\x40"), -ENODATA, 0, 0, "cannot be" },
	{ "record size", AT(record_bytes), PUT("\x80"), -ENODATA, 0, 0, "records of 128 bytes" },
	{ "clock", AT(host_clock), PUT("\3"), -ENODATA, 0, 0, "clock of kind 3" },
	{ "API", AT(api), PUT("\xff"), 0, 0, 0, "API 255" },
	{ "state", AT(state), PUT("\0"), 0, 0, 0, "state 0" },
	{ "reason", AT(stop_reason), PUT("\x09"), 0, 0, 0, "reason to stop 9" },
	{ "start", AT(start_raw_ns), PUT("\x06"), 0, 0, 0,
	  "5 ns by one member and at 6 ns by another" },
	{ "negative start", AT(start_raw_ns) + 7, PUT("\x80"), 0, 0, 0, "recording began at -" },
	{ "end", AT(end_ticks), PUT("\x04"), 0, 0, 0, "ended before it began" },
	{ "more windows", AT(windows), PUT("\x05"), 0, 0, 0,
	  "is cut at byte 8192: 4 of 5 windows" },
	{ "definitions", AT(definition_windows), PUT("\xff"), 0, 0, 0,
	  "255 of 4 windows hold definitions" },
	{ "window's type", EVENTS, PUT("\2"), 0, RECORDS - 1, 1,
	  "window at byte 5120 does not begin like one" },
	{ "window's kind", EVENTS + 2, PUT("\2"), 0, RECORDS - 1, 1, "does not begin like one" },
	{ "window's head", EVENTS, PUT("\0\0\0\0\0\0\0\0"), 0, RECORDS - 1, 1,
	  "has records but no head" },
	{ "sequence 0", EVENTS + 8, PUT("\0"), 0, RECORDS - 1, 1, "does not begin like one" },
	{ "sequence twice", EVENTS + 8, PUT("\3"), 0, 0, 0,
	  "bytes 5120 and 6144 have the same number" },
	{ "type", VICTIM, PUT("\x7f"), 0, 1, 1, "record at byte 5312 is of a kind" },
	{ "type 0", VICTIM, PUT("\0"), 0, 1, 1, "record at byte 5312 contradicts" },
	{ "head", VICTIM, PUT("\0\0\0\0\0\0\0\0"), 0, 1, 1,
	  "record at byte 5312 was never completed" },
	{ "definition among events", VICTIM, PUT("\6"), 0, 1, 1, "contradicts the format" },
	{ "window among events", VICTIM, PUT("\1"), 0, 1, 1, "contradicts the format" },
	{ "exit before enter", VICTIM + 8, PUT("\xff\xff"), 0, 1, 1, "contradicts the format" },
	{ "event among definitions", FIRST + 192, PUT("\x10"), 0, 1, 1, "contradicts the format" },
	{ "site among definitions", FIRST + 192, PUT("\x21\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1"), 0, 1,
	  1, "contradicts the format" },
	{ "no type among definitions", FIRST + 192, PUT("\x30"), 0, 1, 1,
	  "record at byte 4288 is of a kind" },
	{ "text's id", FIRST + 64 + 8, PUT("\0"), 0, 0, 1, "contradicts the format" },
	{ "text's total", FIRST + 64 + 12, PUT("\xff\xff\xff\xff"), 0, 0, 1,
	  "contradicts the format" },
	{ "text's offset", FIRST + 128 + 16, PUT("\1"), 0, 0, 1,
	  "text without the part before it" },
	{ "text's bytes", FIRST + 128 + 20, PUT("\x29"), 0, 0, 1, "contradicts the format" },
	{ "text's other total", FIRST + 128 + 12, PUT("\x30"), 0, 0, 1,
	  "text without the part before it" },
	{ "text's other id", FIRST + 128 + 8, PUT("\2"), 0, 0, 1,
	  "text without the part before it" },
};

static void damage_is_left_out_counted_and_named(void **state)
{
	static uint8_t bytes[SIZE];

	(void)state;
	for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
		struct tare_trace *trace;
		const char *problem = message;
		int status;
		memcpy(bytes, whole, SIZE);
		memcpy(bytes + row->offset, row->bytes, row->length);
		put_file("a.trace", bytes, SIZE);
		status = tare_trace_open(trace_folder, &trace, message, sizeof message);
		if (status != row->status)
			fail_msg("%s: %d, %s", row->what, status, message);
		if (!status) {
			const struct tare_trace_file *file = tare_trace_file(trace, 0);
			assert_int_equal(see_all(trace, 0, &seen), 0);
			if (seen.count + row->lost != CALLS + 1)
				fail_msg("%s: %zu events", row->what, seen.count);
			if (file->damaged_windows != row->damaged)
				fail_msg("%s: %d windows", row->what, (int)file->damaged_windows);
			problem = file->problem;
		} else {
			assert_null(trace);
		}
		if (!problem != !row->says || (problem && !strstr(problem, row->says)))
			fail_msg("%s: '%s', not '%s'", row->what, problem, row->says);
		if (problem && !strstr(problem, "a.trace "))
			fail_msg("%s: '%s' does not name the file", row->what, problem);
		tare_trace_close(trace);
	}
}

static void a_newer_minor_version_may_know_more(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
		uint64_t unknown, damaged;
	} cases[] = {
		{ VICTIM, 200, 1, 0 },
		{ FIRST + 192, 15, 1, 0 },
		{ TARE_TRACE_HEADER_BYTES + 194, 200, 1, 0 },
		{ VICTIM, 1, 0, 1 },
		{ AT(api), 99, 0, 0 },
		{ AT(apis), 255, 0, 0 },
	};
	static uint8_t bytes[SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tare_trace *trace;
		const struct tare_trace_file *file;
		memcpy(bytes, whole, SIZE);
		bytes[AT(version_minor)] = TARE_TRACE_VERSION_MINOR + 1;
		bytes[cases[i].offset] = cases[i].value;
		put_file("a.trace", bytes, SIZE);
		assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
		assert_int_equal(see_all(trace, 0, &seen), 0);
		file = tare_trace_file(trace, 0);
		assert_int_equal(seen.count, CALLS + 1 - cases[i].unknown - cases[i].damaged);
		assert_int_equal(file->unknown_records, cases[i].unknown);
		assert_int_equal(file->damaged_windows, cases[i].damaged);
		assert_int_equal(file->problem != NULL, cases[i].damaged);
		assert_true(file->header->api <= TARE_TRACE_CUDA && file->header->apis <= 15);
		tare_trace_close(trace);
	}
}

// ---- cut anywhere, any byte wrong

static void every_cut_is_noticed(void **state)
{
	size_t events = 0;

	(void)state;
	put_file("a.trace", whole, SIZE);
	for (size_t size = SIZE; size-- > 0;) {
		struct tare_trace *trace;
		int status;
		assert_int_equal(truncate(trace_path("a.trace"), (off_t)size), 0);
		status = tare_trace_open(trace_folder, &trace, message, sizeof message);
		if (size < TARE_TRACE_HEADER_BYTES) {
			assert_int_equal(status, -ENODATA);
			assert_non_null(
			    strstr(message, size ? "is cut inside its header" : "is empty"));
			continue;
		}
		assert_int_equal(status, 0);
		assert_int_equal(see_all(trace, 0, &seen), 0);
		assert_non_null(tare_trace_file(trace, 0)->problem);
		assert_non_null(strstr(tare_trace_file(trace, 0)->problem, "is cut"));
		events = 0;
		for (size_t window = 1; window < WINDOWS; window++)
			for (size_t record = 1; record < RECORDS; record++)
				events += at_record(window, record + 1) <= size;
		assert_int_equal(seen.count - seen.definitions, events);
		tare_trace_close(trace);
	}
	assert_int_equal(events, 0);
}

static size_t member_end(size_t offset, size_t bytes)
{
	return offset + bytes;
}

// A wrong byte may change what a member says, but never how the file is read without a word.
static void check_header_flip(const struct tare_trace_file *file, size_t at)
{
	const struct tare_trace_header *header = file->header;
	bool structure = at < member_end(AT(magic), 8) ||
	                 (at >= AT(version_major) && at < member_end(AT(version_major), 2)) ||
	                 (at >= AT(byte_order) && at < member_end(AT(record_bytes), 4)) ||
	                 (at >= AT(host_clock) && at < member_end(AT(api), 4)) ||
	                 (at >= AT(start_ticks) && at < member_end(AT(start_raw_ns), 8)) ||
	                 (at >= AT(state) && at < member_end(AT(stop_reason), 4));

	assert_true(header->api <= TARE_TRACE_CUDA && header->state >= TARE_TRACE_RECORDING &&
	            header->state <= TARE_TRACE_STOPPED &&
	            header->stop_reason <= TARE_TRACE_NO_MEMORY);
	assert_int_equal(header->window_bytes % TARE_TRACE_RECORD_BYTES, 0);
	assert_true(!header->end_ticks || header->end_ticks >= header->start_ticks);
	assert_true(header->start_raw_ns >= 0);
	assert_true(header->start_ticks == (uint64_t)header->start_raw_ns);
	assert_true(header->definition_windows <= header->windows);
	assert_int_equal(header->executable[sizeof header->executable - 1], 0);
	assert_int_equal(header->command_line[sizeof header->command_line - 1], 0);
	// Another value that can be is the one thing that cannot be told.
	if (structure && !file->problem && at != AT(state) && at != AT(api) &&
	    at != AT(stop_reason))
		fail_msg("byte %zu of the header is wrong, and nothing says so", at);
}

static bool came(uint64_t number, size_t *hint)
{
	for (size_t i = *hint; i < seen.count; i++)
		if (seen.records[i].call.bytes == number &&
		    tare_trace_type(seen.records[i].head) == TARE_TRACE_CALL) {
			*hint = i;
			return true;
		}
	for (size_t i = 0; i < *hint; i++)
		if (seen.records[i].call.bytes == number &&
		    tare_trace_type(seen.records[i].head) == TARE_TRACE_CALL)
			return true;
	return false;
}

// All calls come but the one that is wrong, or those of a window whose head is.
static void check_record_flip(size_t at)
{
	size_t window = (at - TARE_TRACE_HEADER_BYTES) / WINDOW;
	size_t record = (at - TARE_TRACE_HEADER_BYTES) % WINDOW / TARE_TRACE_RECORD_BYTES;
	size_t hint = 0;

	for (size_t i = 0; i < CALLS; i++) {
		bool hit = 1 + i / (RECORDS - 1) == window &&
		           (record == 0 || record == 1 + i % (RECORDS - 1));
		if (!hit && !came(1000 + i, &hint))
			fail_msg("byte %zu is wrong, and call %zu is lost", at, i);
	}
	for (size_t i = seen.definitions + 1; i < seen.count; i++)
		assert_true(seen.written_ns[i] >= seen.written_ns[i - 1]);
}

static void any_wrong_byte_costs_no_more_than_its_record(void **state)
{
	static const uint8_t flips[] = { 0x01, 0xff };
	int file;

	(void)state;
	put_file("a.trace", whole, SIZE);
	file = open(trace_path("a.trace"), O_WRONLY);
	for (size_t at = 0; at < SIZE; at++)
		for (size_t flip = 0; flip < sizeof flips; flip++) {
			uint8_t wrong = whole[at] ^ flips[flip];
			struct tare_trace *trace;
			int status;
			if (at >= sizeof(struct tare_trace_header) && at < TARE_TRACE_HEADER_BYTES)
				continue;
			assert_int_equal(pwrite(file, &wrong, 1, (off_t)at), 1);
			status = tare_trace_open(trace_folder, &trace, message, sizeof message);
			assert_int_equal(pwrite(file, &whole[at], 1, (off_t)at), 1);
			if (status) {
				assert_true(at < TARE_TRACE_HEADER_BYTES && message[0]);
				continue;
			}
			assert_int_equal(pwrite(file, &wrong, 1, (off_t)at), 1);
			assert_int_equal(see_all(trace, 0, &seen), 0);
			assert_int_equal(pwrite(file, &whole[at], 1, (off_t)at), 1);
			if (at < TARE_TRACE_HEADER_BYTES)
				check_header_flip(tare_trace_file(trace, 0), at);
			else
				check_record_flip(at);
			tare_trace_close(trace);
		}
	close(file);
}

static void windows_of_noise_do_no_harm(void **state)
{
	static uint8_t bytes[SIZE];
	struct tare_random random = unchosen_seed();

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct tare_trace *trace;
		memcpy(bytes, whole, SIZE);
		bytes[AT(host_clock)] = (uint8_t)(1 + i % 2);
		for (size_t at = TARE_TRACE_HEADER_BYTES; at < SIZE; at++)
			if (at % WINDOW >= TARE_TRACE_RECORD_BYTES)
				bytes[at] = (uint8_t)tare_random_next(&random);
		for (size_t at = at_record(0, 1); at < SIZE; at += TARE_TRACE_RECORD_BYTES)
			if (at % WINDOW)
				bytes[at] = (uint8_t)(2 + tare_random_below(&random, 31));
		put_file("a.trace", bytes, SIZE);
		assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
		assert_int_equal(see_all(trace, 0, &seen), 0);
		for (size_t at = seen.definitions + 1; at < seen.count; at++)
			assert_true(seen.written_ns[at] >= seen.written_ns[at - 1]);
		tare_trace_close(trace);
	}
}

// ---- absurd sizes

static void a_file_of_nothing_but_size_is_read_at_once(void **state)
{
	struct tare_trace *trace;

	(void)state;
	put_file("a.trace", whole, SIZE);
	// Far more windows than could be looked at one by one.
	if (truncate(trace_path("a.trace"), (off_t)1 << 42) < 0)
		skip_because("no file of 4 TiB here");
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_int_equal(see_all(trace, 0, &seen), 0);
	assert_int_equal(seen.count, CALLS + 1);
	assert_null(tare_trace_file(trace, 0)->problem);
	tare_trace_close(trace);
}

static void text_without_end_is_not_kept(void **state)
{
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	union tare_trace_record part = { .string = {
		                             .head = tare_trace_head(TARE_TRACE_STRING, 0, 0, 0),
		                             .total = 65536,
		                             .bytes = 40 } };
	struct tare_trace *trace;

	(void)state;
	memset(part.string.text, 'x', sizeof part.string.text);
	// Each promises 64 KiB and brings 40 bytes: two million of them would be 128 GiB.
	for (uint32_t id = 1; id <= 20000; id++) {
		part.string.id = id;
		add(writer, part);
	}
	assert_int_equal(tare_trace_writer_text(writer, "whole"), 1);
	end_trace(writer);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_string_equal(tare_trace_text(trace, 0, 1), "whole");
	assert_string_equal(tare_trace_text(trace, 0, 2), "");
	assert_non_null(tare_trace_file(trace, 0)->problem);
	tare_trace_close(trace);
	unlink(trace_path("a.trace"));
}

static void a_text_without_its_beginning_is_damage(void **state)
{
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	struct tare_trace *trace;

	(void)state;
	add(writer, (union tare_trace_record){
	                .string = { .head = tare_trace_head(TARE_TRACE_STRING, 0, 0, 0),
	                            .id = 5,
	                            .total = 44,
	                            .offset = 40,
	                            .bytes = 4,
	                            .text = "tail" } });
	end_trace(writer);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_string_equal(tare_trace_text(trace, 0, 5), "");
	assert_int_equal(tare_trace_file(trace, 0)->damaged_windows, 1);
	assert_non_null(strstr(tare_trace_file(trace, 0)->problem, "without the part before it"));
	tare_trace_close(trace);
}

static void a_text_is_defined_once(void **state)
{
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	union tare_trace_record part = { .string = {
		                             .head = tare_trace_head(TARE_TRACE_STRING, 0, 0, 0),
		                             .id = 9,
		                             .total = 3,
		                             .bytes = 3,
		                             .text = "one" } };
	struct tare_trace *trace;

	(void)state;
	add(writer, part);
	memcpy(part.string.text, "two", 3);
	add(writer, part);
	end_trace(writer);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_string_equal(tare_trace_text(trace, 0, 9), "one");
	assert_non_null(strstr(tare_trace_file(trace, 0)->problem, "defined twice"));
	tare_trace_close(trace);
}

// ---- call sites: what a record of them may not say by itself

static void a_call_site_that_cannot_be_is_damage(void **state)
{
#define STACK(frames, id_, total_, offset_)                                                        \
	{                                                                                          \
		.stack = {                                                                         \
			.head = tare_trace_head(TARE_TRACE_STACK, 0, frames, 3),                   \
			.id = id_,                                                                 \
			.total = total_,                                                           \
			.offset = offset_                                                          \
		}                                                                                  \
	}
#define MODULE(from_, to_)                                                                         \
	{                                                                                          \
		.module = {                                                                        \
			.head = tare_trace_head(TARE_TRACE_MODULE, 0, 0, 3),                       \
			.from = from_,                                                             \
			.to = to_                                                                  \
		}                                                                                  \
	}
#define SITE(of_, stack_)                                                                          \
	{                                                                                          \
		.site = {                                                                          \
			.head = tare_trace_head(TARE_TRACE_SITE, 0, 0, 3),                         \
			.of = of_,                                                                 \
			.stack = stack_                                                            \
		}                                                                                  \
	}
	const union tare_trace_record good[] = {
		STACK(1, 1, 1, 0),
		STACK(5, 2, UINT32_MAX, UINT32_MAX - 5),
		MODULE(0, UINT64_MAX),
		SITE(UINT64_MAX, UINT32_MAX),
	};
	const union tare_trace_record bad[] = {
		STACK(0, 1, 1, 0),
		STACK(6, 1, 9, 0),
		STACK(1, 0, 1, 0),
		STACK(2, 1, 1, 0),
		STACK(1, 1, 0, 0),
		STACK(5, 2, UINT32_MAX, UINT32_MAX - 4),
		STACK(65535, 1, UINT32_MAX, 0),
		MODULE(8, 8),
		MODULE(UINT64_MAX, 0),
		SITE(0, 1),
		SITE(1, 0),
	};
	const size_t goods = sizeof good / sizeof *good;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tare_trace_writer *writer =
		    begin_trace("a", (struct tare_trace_header){ .start_raw_ns = 5 });
		struct tare_trace *trace;
		for (size_t k = 0; k < goods; k++) {
			add(writer, good[k]);
			add(writer, bad[i]);
		}
		end_trace(writer);
		assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
		assert_int_equal(see_all(trace, 0, &seen), 0);
		if (seen.count != goods)
			fail_msg("record %zu: %zu came", i, seen.count);
		assert_non_null(
		    strstr(tare_trace_file(trace, 0)->problem, "contradicts the format"));
		assert_int_equal(tare_trace_file(trace, 0)->damaged_windows, 1);
		tare_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(damage_is_left_out_counted_and_named),
		IN_FOLDER(a_newer_minor_version_may_know_more),
		IN_FOLDER(every_cut_is_noticed),
		IN_FOLDER(any_wrong_byte_costs_no_more_than_its_record),
		IN_FOLDER(windows_of_noise_do_no_harm),
		IN_FOLDER(a_file_of_nothing_but_size_is_read_at_once),
		IN_FOLDER(text_without_end_is_not_kept),
		IN_FOLDER(a_text_without_its_beginning_is_damage),
		IN_FOLDER(a_text_is_defined_once),
		IN_FOLDER(a_call_site_that_cannot_be_is_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
