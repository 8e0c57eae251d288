// SPDX-License-Identifier: Apache-2.0
// What several devices reach together, out of what their threads saw; and where devices sit.
#include "measure/several/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

// ---- speeds

struct copies {
	int64_t from_ns, each_ns; // until slow_ns; then slow_each_ns
	int count, seen;          // copies, and how many are seen at once
	int64_t slow_ns, slow_each_ns;
};

static void run_lane(struct several_lane *lane, const struct copies *copies)
{
	int64_t now = copies->from_ns;

	*lane = (struct several_lane){ .marks = calloc(copies->count, sizeof *lane->marks) };
	for (int i = 1; i <= copies->count; i++) {
		now += copies->slow_ns && now >= copies->slow_ns ? copies->slow_each_ns
		                                                 : copies->each_ns;
		if (i % copies->seen == 0)
			lane->marks[lane->mark_count++] = (struct several_mark){ now, i };
	}
}

static void only_the_time_in_which_all_are_at_work_counts(void **state)
{
	// The second begins later, and ends earlier; the first is slower while both are at work.
	static const struct {
		struct copies lanes[2];
		double ps[2];
		int status;
	} rows[] = {
		{ { { 0, 100, 40, 1, 0, 0 }, { 0, 200, 20, 1, 0, 0 } }, { 100e3, 200e3 }, 0 },
		{ { { 0, 100, 60, 1, 1000, 300 }, { 1000, 200, 20, 1, 0, 0 } },
		  { 300e3, 200e3 },
		  0 },
		{ { { 0, 100, 40, 1, 1000, 300 }, { 0, 100, 10, 1, 0, 0 } }, { 100e3, 100e3 }, 0 },
		{ { { 0, 100, 10, 1, 0, 0 }, { 0, 100, 40, 1, 1000, 300 } }, { 100e3, 100e3 }, 0 },
		{ { { 0, 100, 40, 4, 0, 0 }, { 0, 50, 80, 8, 0, 0 } }, { 100e3, 50e3 }, 0 },
		// Nothing of the one while the other is at work.
		{ { { 0, 100, 20, 1, 0, 0 }, { 2500, 100, 20, 1, 0, 0 } }, { 0, 0 }, -EAGAIN },
		{ { { 0, 100, 20, 1, 0, 0 }, { 1700, 100, 20, 1, 0, 0 } }, { 0, 0 }, -EAGAIN },
		{ { { 0, 100, 20, 1, 0, 0 }, { 0, 900, 3, 1, 0, 0 } }, { 0, 0 }, -EAGAIN },
		{ { { 0, 100, 20, 1, 0, 0 }, { 0, 1900, 1, 1, 0, 0 } }, { 0, 0 }, -EAGAIN },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct several_lane lanes[2], *both[2] = { &lanes[0], &lanes[1] };
		for (int k = 0; k < 2; k++)
			run_lane(&lanes[k], &rows[i].lanes[k]);
		int status = several_speeds(both, 2);
		if (status != rows[i].status)
			fail_msg("row %zu: status %d", i, status);
		for (int k = 0; k < 2 && status == 0; k++)
			if (lanes[k].ps < 0.999 * rows[i].ps[k] ||
			    lanes[k].ps > 1.001 * rows[i].ps[k])
				fail_msg("row %zu, lane %d: %g ps, not %g", i, k, lanes[k].ps,
				         rows[i].ps[k]);
		free(lanes[0].marks);
		free(lanes[1].marks);
	}
}

// ---- places

static struct tare_attachment place(const char *path, const char *numa)
{
	struct tare_attachment place = { 0 };
	snprintf(place.path, sizeof place.path, "%s", path);
	snprintf(place.numa, sizeof place.numa, "%s", numa);
	return place;
}

static void what_two_devices_share(void **state)
{
	static const struct {
		const char *paths[2], *numas[2];
		enum tare_nearness nearness;
		const char *bridge;
	} rows[] = {
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0/0000:0e:00.0/0000:0f:00.0",
		    "pci0000:0c/0000:0c:01.0/0000:0d:00.0/0000:0e:01.0/0000:10:00.0" },
		  { "0", "0" },
		  TARE_NEAR_SWITCH,
		  "0000:0d:00.0" },
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0",
		    "pci0000:0c/0000:0c:01.0/0000:0d:00.1" },
		  { "0", "0" },
		  TARE_NEAR_ROOT_PORT,
		  "0000:0c:01.0" },
		// Two parts of one device: it is no bridge to itself.
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0",
		    "pci0000:0c/0000:0c:01.0/0000:0d:00.0" },
		  { "0", "0" },
		  TARE_NEAR_ROOT_PORT,
		  "0000:0c:01.0" },
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0",
		    "pci0000:0c/0000:0c:02.0/0000:0e:00.0" },
		  { "0", "0" },
		  TARE_NEAR_HOST_BRIDGE,
		  "pci0000:0c" },
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0",
		    "pci0000:1c/0000:1c:01.0/0000:1d:00.0" },
		  { "0", "0" },
		  TARE_NEAR_NUMA,
		  "" },
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0",
		    "pci0000:1c/0000:1c:01.0/0000:1d:00.0" },
		  { "0", "1" },
		  TARE_NEAR_NOTHING,
		  "" },
		// A name that another begins with is another.
		{ { "pci0000:0c/0000:0c:01.0/0000:0d:00.0", "pci0000:0/0000:0c:01.0/0000:0d:01.0" },
		  { "", "0" },
		  TARE_NEAR_UNKNOWN,
		  "" },
		{ { "", "pci0000:0c/0000:0c:01.0/0000:0d:00.0" },
		  { "1", "1" },
		  TARE_NEAR_NUMA,
		  "" },
		{ { "", "" }, { "", "" }, TARE_NEAR_UNKNOWN, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_attachment a = place(rows[i].paths[0], rows[i].numas[0]);
		struct tare_attachment b = place(rows[i].paths[1], rows[i].numas[1]);
		char bridge[32], back[32];
		if (tare_attachments_share(&a, &b, bridge) != rows[i].nearness ||
		    tare_attachments_share(&b, &a, back) != rows[i].nearness)
			fail_msg("row %zu: %s", i,
			         tare_nearness_name(tare_attachments_share(&a, &b, bridge)));
		assert_string_equal(bridge, rows[i].bridge);
		assert_string_equal(back, rows[i].bridge);
	}
}

static void a_sentence_says_who_shares_what(void **state)
{
	static const char *const names[] = { "cuda:0", "cuda:1", "cuda:2", "cuda:3" };
	char text[512];
	struct tare_attachment places[4] = {
		place("pci0000:0c/0000:0c:01.0/0000:0d:00.0/0000:0e:00.0/0000:0f:00.0", "0"),
		place("pci0000:1c/0000:1c:01.0/0000:1d:00.0", "1"),
		place("pci0000:0c/0000:0c:01.0/0000:0d:00.0/0000:0e:01.0/0000:10:00.0", "0"),
		place("pci0000:2c/0000:2c:01.0/0000:2d:00.0", "1"),
	};
	(void)state;
	tare_attachments_describe(places, names, 4, text, sizeof text);
	assert_string_equal(text, "cuda:0 and cuda:2 share the switch at 0000:0d:00.0; "
	                          "cuda:1 and cuda:3 are on NUMA node 1");
	tare_attachments_describe(places, names, 2, text, sizeof text);
	assert_string_equal(text, "no two share a host bridge");
	places[1] = place("", "");
	tare_attachments_describe(places, names, 2, text, sizeof text);
	assert_string_equal(text, "the system does not tell which bridges the devices share");
	// A text that does not fit is cut, not overrun.
	places[1] = places[2];
	tare_attachments_describe(places, names, 4, text, 20);
	assert_int_equal(strlen(text), 19);
}

static void the_kernel_tells_the_bridges(void **state)
{
	char root[] = "/tmp/tare-several-XXXXXX", path[300], link[300];
	struct tare_facts facts = { 0 };
	struct tare_attachment found;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof path, "%s/pci0000:0c", root);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/0000:0c:01.0");
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/0000:0d:00.0");
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(link, sizeof link, "%s/0000:0d:00.0", root);
	assert_int_equal(symlink(path, link), 0);

	tare_attachment_of(&facts, root, &found);
	assert_string_equal(found.path, "");
	tare_fact_set_text(&facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, "00000000:0D:00.0");
	tare_fact_set_text(&facts, TARE_FACT_NUMA, TARE_ORIGIN_SYSTEM, "1");
	tare_attachment_of(&facts, root, &found);
	assert_string_equal(found.path, "pci0000:0c/0000:0c:01.0/0000:0d:00.0");
	assert_string_equal(found.numa, "1");
	tare_fact_set_text(&facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, "0000:0e:00.0");
	tare_attachment_of(&facts, root, &found);
	assert_string_equal(found.path, "");
	tare_fact_set_text(&facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, "./0000:0d:00.0");
	tare_attachment_of(&facts, root, &found);
	assert_string_equal(found.path, "");

	unlink(link);
	for (int i = 0; i < 3; i++) {
		rmdir(path);
		*strrchr(path, '/') = '\0';
	}
	rmdir(root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_time_in_which_all_are_at_work_counts),
		cmocka_unit_test(what_two_devices_share),
		cmocka_unit_test(a_sentence_says_who_shares_what),
		cmocka_unit_test(the_kernel_tells_the_bridges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
