// SPDX-License-Identifier: Apache-2.0
// What tare finds out about the host: the step of its clock, and how much memory may be taken.
#include "base/random.h"
#include "measure/host/memory.h"
#include "measure/host/pages.h"
#include "measure/host/step.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// Readings of a clock that shows the last multiple of `step` as whole nanoseconds.
static int64_t step_of(double step, double read_least, double read_most)
{
	struct tare_host_time reads[TARE_STEP_READS];
	struct tare_random random = { .state = 7 };
	double now = 12345;

	for (int i = 0; i < TARE_STEP_READS; i++) {
		double share = (double)tare_random_below(&random, 1000) / 1000;
		now += read_least + share * (read_most - read_least);
		reads[i].ns = (int64_t)((double)(int64_t)(now / step) * step);
	}
	return tare_host_step_ns(reads, TARE_STEP_READS);
}

static void the_step_of_a_clock_is_found_however_long_a_reading_takes(void **state)
{
	static const struct {
		const char *clock;
		double step, read_least, read_most;
		int64_t low, high;
	} rows[] = {
		{ "time-stamp counter", 0.4, 18, 40, 1, 1 },
		{ "1 GHz", 1, 18, 40, 1, 1 },
		{ "500 MHz", 2, 18, 40, 2, 2 },
		{ "24 MHz, quick to read", 1000 / 24.0, 10, 30, 41, 42 },
		{ "hypervisor, 10 MHz", 100, 25, 60, 100, 100 },
		{ "ACPI timer, slow to read", 279.365, 1100, 1900, 278, 280 },
		{ "ticks of the kernel", 1000, 20, 30, 1000, 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t step = step_of(rows[i].step, rows[i].read_least, rows[i].read_most);
		if (step < rows[i].low || step > rows[i].high)
			fail_msg("%s: %lld ns", rows[i].clock, (long long)step);
	}
}

static void a_clock_that_tells_nothing_of_its_step_has_the_reading_or_1_ns(void **state)
{
	struct tare_host_time reads[8] = { { 5 }, { 5 }, { 5 }, { 5 }, { 5 }, { 5 }, { 5 }, { 5 } };
	(void)state;
	assert_int_equal(tare_host_step_ns(reads, 8), 1);
	assert_int_equal(tare_host_step_ns(reads, 1), 1);
	for (int i = 0; i < 8; i++)
		reads[i].ns = 20 * i;
	assert_int_equal(tare_host_step_ns(reads, 8), 20);
}

// ---- memory

static char root[64];

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tare-host-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

#define MEMINFO "/proc/meminfo", "MemTotal:  16000 kB\nMemFree:  10 kB\nMemAvailable:  8000 kB\n"
#define OWN "/proc/self/cgroup"

static void check(uint64_t bytes, bool by_group)
{
	struct tare_host_memory memory = tare_host_memory_free(root);
	assert_true(memory.known);
	assert_int_equal(memory.bytes, bytes);
	assert_int_equal(memory.by_group, by_group);
}

static void without_a_limit_it_is_what_the_system_has(void **state)
{
	(void)state;
	assert_false(tare_host_memory_free(root).known);
	put(MEMINFO);
	check(8000 * 1024, false);
	put(OWN, "0::/user.slice\n");
	put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
	put("/sys/fs/cgroup/user.slice/memory.current", "1000\n");
	check(8000 * 1024, false);
}

static void the_limit_of_the_own_group_counts_less_what_it_uses(void **state)
{
	(void)state;
	put(MEMINFO);
	put(OWN, "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
	put("/sys/fs/cgroup/a/b/memory.current", "400000\n");
	check(600000, true);
	put("/sys/fs/cgroup/a/b/memory.stat", "anon 7\ninactive_file 100000\nactive_file 3\n");
	check(700000, true);
	// A roomy group in a small machine.
	put("/sys/fs/cgroup/a/b/memory.max", "100000000000\n");
	check(8000 * 1024, false);
}

static void a_limit_above_the_own_group_counts_too(void **state)
{
	(void)state;
	put(MEMINFO);
	put(OWN, "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "max\n");
	put("/sys/fs/cgroup/a/memory.max", "500000\n");
	put("/sys/fs/cgroup/a/memory.current", "100000\n");
	check(400000, true);
}

// As in a container whose own group is mounted as the root.
static void a_group_whose_path_is_not_mounted_is_the_mount(void **state)
{
	(void)state;
	put(MEMINFO);
	put(OWN, "5:cpu,cpuacct:/docker/1f\n4:hugetlb,memory:/docker/1f\n0::/docker/1f\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
	put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 10000\n");
	check(2010000, true);
}

static void a_full_group_leaves_nothing_not_the_unknown(void **state)
{
	(void)state;
	put(MEMINFO);
	put(OWN, "0::/\n");
	put("/sys/fs/cgroup/memory.max", "1000\n");
	put("/sys/fs/cgroup/memory.current", "2000\n");
	check(0, true);
}

#define HUGE (UINT64_C(2) << 20)
#define PAGED (4 * HUGE)

// Bytes of this process in explicit huge pages.
static int64_t explicit_bytes(void)
{
	long long kib, sum = 0;
	char line[256];
	FILE *file = fopen("/proc/self/smaps", "re");

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Private_Hugetlb: %lld kB", &kib) == 1)
			sum += kib << 10;
	if (file)
		fclose(file);
	return sum;
}

// New memory of such pages, touched; of that the bytes in transparent huge pages, with explicit
// ones the bytes in these, or what was refused.
static int64_t huge_of(enum host_pages pages)
{
	uint8_t *room =
	    mmap(NULL, PAGED + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = room + (HUGE - (uintptr_t)room % HUGE) % HUGE;
	struct tare_error error = { 0 };

	assert_true(room != MAP_FAILED);
	int status = host_pages_use(at, PAGED, pages, &error);
	assert_true(status == 0 || (status == -ENOTSUP && error.message[0]));
	// Refused, it is what it was.
	memset(at, 1, PAGED);
	int64_t found = status < 0 ? status
	                : pages == HOST_PAGES_EXPLICIT
	                    ? explicit_bytes()
	                    : (int64_t)host_pages_transparent_bytes(at, PAGED);
	assert_int_equal(munmap(room, PAGED + HUGE), 0);
	return found;
}

static void memory_is_made_of_the_pages_that_were_asked_for(void **state)
{
	int64_t transparent = 0;
	(void)state;
	if (host_pages_huge_bytes() != HUGE) {
		printf("# SKIP %s: no huge pages of 2 MB\n", __func__);
		return;
	}
	assert_int_equal(huge_of(HOST_PAGES_SMALL), 0);
	for (int i = 0; i < 3 && transparent == 0; i++)
		transparent = huge_of(HOST_PAGES_TRANSPARENT);
	if (transparent <= 0)
		printf("# SKIP %s: none are to be had\n", __func__);
	else
		assert_true(transparent % (int64_t)HUGE == 0 && transparent <= (int64_t)PAGED);
}

// So many explicit huge pages as are set aside; -1: not to be told or set.
static long set_aside(long pages)
{
	long found = -1;
	FILE *file = fopen("/proc/sys/vm/nr_hugepages", pages < 0 ? "re" : "we");

	if (!file)
		return -1;
	if (pages < 0 && fscanf(file, "%ld", &found) != 1)
		found = -1;
	if (pages >= 0 && fprintf(file, "%ld", pages) > 0)
		found = pages;
	return fclose(file) == 0 ? found : -1;
}

// Sets pages aside where that is allowed and the system has them, one test at a time, and gives
// them back.
static void explicit_pages_are_to_be_had_where_they_are_set_aside(void **state)
{
	const long needed = 2 * PAGED / HUGE;
	int lock = open("/sys/kernel/mm/hugepages", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t with = -ENOTSUP;
	(void)state;
	long before = lock >= 0 && flock(lock, LOCK_EX) == 0 ? set_aside(-1) : -1;
	bool may = before >= 0 && host_pages_huge_bytes() == HUGE;
	if (may && set_aside(before + needed) >= 0 && set_aside(-1) == before + needed)
		with = huge_of(HOST_PAGES_EXPLICIT);
	// Another one's may have come or gone.
	long now = may ? set_aside(-1) : -1;
	if (now > before)
		set_aside(now > needed ? now - needed : 0);
	if (lock >= 0)
		close(lock);
	if (now == before + needed)
		assert_int_equal(with, PAGED);
	else
		printf("# SKIP %s: this system lets none be set aside\n", __func__);
}

#define in_root(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_step_of_a_clock_is_found_however_long_a_reading_takes),
		cmocka_unit_test(a_clock_that_tells_nothing_of_its_step_has_the_reading_or_1_ns),
		in_root(without_a_limit_it_is_what_the_system_has),
		in_root(the_limit_of_the_own_group_counts_less_what_it_uses),
		in_root(a_limit_above_the_own_group_counts_too),
		in_root(a_group_whose_path_is_not_mounted_is_the_mount),
		in_root(a_full_group_leaves_nothing_not_the_unknown),
		cmocka_unit_test(memory_is_made_of_the_pages_that_were_asked_for),
		cmocka_unit_test(explicit_pages_are_to_be_had_where_they_are_set_aside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
