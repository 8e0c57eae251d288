// SPDX-License-Identifier: Apache-2.0
// The parts of the exports, and all of them on runs made by hand with everything that can be
// unknown.
#include "export/export.h"
#include "export/lanes.h"
#include "export/proto.h"
#include "export/utf8.h"
#include "tests/unit/report/run/run_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// ---- UTF-8

static void test_bytes_that_are_no_utf8_are_replaced(void **state)
{
	static const struct {
		const char *text, *clean;
	} rows[] = {
		{ "", "" },
		{ "blur", "blur" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "a\xff"
		  "b",
		  "a\xef\xbf\xbd"
		  "b" },
		{ "\xc3", "\xef\xbf\xbd" },                                 // cut
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },                 // overlong
		{ "\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, // overlong
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, // a surrogate
		// beyond the end
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xee\x80\x80\xf1\x80\x80\x80", "\xee\x80\x80\xf1\x80\x80\x80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char clean[64] = "";
		size_t bytes = export_utf8_clean(rows[i].text, NULL);
		assert_int_equal(bytes, strlen(rows[i].clean));
		assert_int_equal(export_utf8_clean(rows[i].text, clean), bytes);
		assert_string_equal(clean, rows[i].clean);
	}
}

// ---- messages

static void test_messages_are_written_as_the_format_has_it(void **state)
{
	struct proto proto = { 0 };
	static const unsigned char known[] = {
		0x08, 0x96, 0x01, // 1: 150
		0x12, 0x07, 't',  'e',  's', 't', 'i', 'n', 'g', 0x1a,
		0x03, 0x08, 0x96, 0x01,                             // 3: { 1: 150 }
		0xf9, 0x02, 1,    0,    0,   0,   0,   0,   0,   0, // 47: fixed 1
	};

	(void)state;
	proto_varint(&proto, 1, 150);
	proto_text(&proto, 2, "testing");
	size_t inner = proto_open(&proto, 3);
	proto_varint(&proto, 1, 150);
	proto_close(&proto, inner);
	proto_fixed64(&proto, 47, 1);
	assert_false(proto.failed);
	assert_int_equal(proto.used, sizeof known);
	assert_memory_equal(proto.bytes, known, sizeof known);
	free(proto.bytes);
}

static void test_a_long_message_gets_a_long_length(void **state)
{
	struct proto proto = { 0 };
	char text[301];

	(void)state;
	memset(text, 'x', 300);
	text[300] = '\0';
	size_t outer = proto_open(&proto, 1), inner = proto_open(&proto, 2);
	proto_text(&proto, 3, text);
	proto_close(&proto, inner);
	proto_close(&proto, outer);
	// 303 bytes in 2, 306 in 1.
	static const unsigned char head[] = { 0x0a, 0xb2, 0x02, 0x12, 0xaf,
		                              0x02, 0x1a, 0xac, 0x02, 'x' };
	assert_int_equal(proto.used, 309);
	assert_memory_equal(proto.bytes, head, sizeof head);
	assert_int_equal(proto.bytes[308], 'x');
	free(proto.bytes);
}

// ---- lanes

static void test_slices_of_a_lane_never_overlap_and_lanes_are_few(void **state)
{
	static const struct {
		int64_t from, to;
		uint32_t lane;
	} rows[] = {
		{ 0, 10, 0 }, { 0, 5, 1 },  { 3, 4, 2 },   { 4, 20, 2 },  { 5, 6, 1 },
		{ 6, 6, 1 },  { 6, 30, 1 }, { 10, 12, 0 }, { 30, 31, 0 },
	};
	struct lanes lanes = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(lanes_take(&lanes, rows[i].from, rows[i].to), rows[i].lane);
	assert_int_equal(lanes.count, 3);
	lanes_free(&lanes);
}

static void test_as_many_lanes_as_are_open_at_once(void **state)
{
	enum { SLICES = 5000, LANES = 64 };
	static int64_t until[SLICES];
	struct lanes lanes = { 0 };
	uint64_t random = 7;
	size_t most = 0;

	(void)state;
	for (int64_t i = 0; i < SLICES; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		int64_t to = i + (int64_t)(random >> 58);
		uint32_t lane = lanes_take(&lanes, i, to);
		size_t open = 1;
		assert_true(lane < LANES && until[lane] <= i);
		until[lane] = to;
		for (size_t k = 0; k < LANES; k++)
			open += k != lane && until[k] > i;
		most = open > most ? open : most;
	}
	assert_int_equal(lanes.count, most);
	lanes_free(&lanes);
}

// ---- all exports of every run

static bool stop(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)context, (void)what;
	assert_true(done <= total);
	return false;
}

static void test_every_run_can_be_exported(void **state)
{
	static const struct tare_export_watch stopping = { stop, NULL };

	(void)state;
	for (size_t i = 0; run_fixture_names[i]; i++) {
		static struct run_fixture fixture;
		struct tare_export_counts counts;
		struct tare_error error;
		char *bytes = NULL;
		size_t size = 0;
		assert_true(run_fixture_make(run_fixture_names[i], &fixture));
		FILE *file = open_memstream(&bytes, &size);
		assert_int_equal(tare_export_perfetto(&fixture.recording, &fixture.view, NULL, file,
		                                      &counts, &error),
		                 0);
		fclose(file);
		assert_true(size > 0);
		assert_true(counts.without_times <= counts.commands);
		if (fixture.recording.command_count)
			assert_true(counts.slices >= counts.commands);
		free(bytes);
		file = open_memstream(&bytes, &size);
		int status = tare_export_perfetto(&fixture.recording, &fixture.view, &stopping,
		                                  file, &counts, &error);
		assert_true(status == -EINTR ||
		            fixture.recording.command_count + fixture.recording.call_count == 0);
		fclose(file);
		free(bytes);
	}
}

static char folder[] = "/tmp/tare-export-XXXXXX";

static void test_every_run_has_the_same_rows_as_csv_and_in_sqlite(void **state)
{
	(void)state;
	for (size_t i = 0; run_fixture_names[i]; i++) {
		static struct run_fixture fixture;
		struct tare_export_counts csv, sqlite;
		struct tare_error error;
		char path[64];
		assert_true(run_fixture_make(run_fixture_names[i], &fixture));
		assert_int_equal(tare_export_csv(&fixture.run, NULL, folder, &csv, &error), 0);
		assert_true(csv.rows > 12);
		snprintf(path, sizeof path, "%s/%zu.db", folder, i);
		int status = tare_export_sqlite(&fixture.run, NULL, path, &sqlite, &error);
		assert_true(status == 0 || status == -ENOSYS);
		if (status == 0)
			assert_int_equal(sqlite.rows, csv.rows);
		unlink(path);
	}
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[128];

	(void)state;
	for (const char *const *name = tare_export_tables(); *name; name++) {
		snprintf(path, sizeof path, "%s/%s.csv", folder, *name);
		unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_that_are_no_utf8_are_replaced),
		cmocka_unit_test(test_messages_are_written_as_the_format_has_it),
		cmocka_unit_test(test_a_long_message_gets_a_long_length),
		cmocka_unit_test(test_slices_of_a_lane_never_overlap_and_lanes_are_few),
		cmocka_unit_test(test_as_many_lanes_as_are_open_at_once),
		cmocka_unit_test(test_every_run_can_be_exported),
		cmocka_unit_test_setup_teardown(
		    test_every_run_has_the_same_rows_as_csv_and_in_sqlite, make_folder,
		    remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
