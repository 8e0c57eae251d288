// SPDX-License-Identifier: Apache-2.0
// The recorder's core: what one thread writes, in a program that does what programs do.
#include "guest_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cmocka.h>

static const struct {
	const char *rank, *rank_value, *count, *count_value;
	uint64_t is_rank, is_count;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "8", 3, 8 },
	{ "PMI_RANK", "0", "PMI_SIZE", "2", 0, 2 },
	{ "SLURM_PROCID", "17", "SLURM_NTASKS", "x", 17, TARE_TRACE_NO_RANK },
	{ "PMIX_RANK", "", "HOME", "1", TARE_TRACE_NO_RANK, TARE_TRACE_NO_RANK },
};

static int begin_as_rank(void *argument)
{
	size_t i = *(size_t *)argument;
	for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++)
		unsetenv(launchers[k].rank);
	setenv(launchers[i].rank, launchers[i].rank_value, 1);
	setenv(launchers[i].count, launchers[i].count_value, 1);
	return !guest_begin(&plain_api);
}

static void header_tells_the_rank(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		struct guest_trace trace;
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", begin_as_rank, &i), 0);
		trace = only_trace();
		assert_int_equal(trace.header->rank, launchers[i].is_rank);
		assert_int_equal(trace.header->rank_count, launchers[i].is_count);
		assert_string_equal(trace.header->rank_from,
		                    launchers[i].is_rank == TARE_TRACE_NO_RANK ? ""
		                                                               : launchers[i].rank);
		unload(&trace);
		tear_down(NULL);
	}
}

static void header_tells_who_and_when(void **state)
{
	uint64_t count = 5, before = raw_ns();
	struct guest_trace trace;
	const struct tare_trace_header *header;
	char host[64] = "", name[256], exe[4096] = "";
	(void)state;
	assert_int_equal(run_recorded(folder, "strict,what=ever,,count", write_commands, &count),
	                 0);
	trace = only_trace();
	header = trace.header;
	assert_memory_equal(header->magic, TARE_TRACE_MAGIC, 8);
	assert_int_equal(header->version_major, TARE_TRACE_VERSION_MAJOR);
	assert_int_equal(header->byte_order, TARE_TRACE_BYTE_ORDER);
	assert_int_equal(header->header_bytes, TARE_TRACE_HEADER_BYTES);
	assert_int_equal(header->window_bytes, TARE_TRACE_WINDOW_BYTES);
	assert_int_equal(header->record_bytes, TARE_TRACE_RECORD_BYTES);
	assert_int_equal(header->flags, TARE_TRACE_STRICT | TARE_TRACE_COUNT_ONLY);
	assert_int_equal(header->api, TARE_TRACE_OPENCL);
	assert_int_equal(header->parent_pid, getpid());
	assert_true(header->boot_id[0] && header->boot_id[1]);
	gethostname(host, sizeof host - 1);
	assert_string_equal(header->host_name, host);
	snprintf(name, sizeof name, "-%llu-", (unsigned long long)header->pid);
	assert_non_null(strstr(trace.name, name));
	assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	assert_non_null(strstr(exe, header->executable));
	assert_true(strlen(header->executable) > 0);
	assert_non_null(strstr(header->command_line, "test_guest"));
	assert_in_range(header->start_raw_ns, before, raw_ns());
	// A hundredth of a second is the kernel's resolution.
	assert_true(header->process_start_raw_ns <= header->start_raw_ns + 20000000);
	assert_true(header->process_start_raw_ns > (int64_t)before - 20000000);
	assert_int_equal(header->state, TARE_TRACE_ENDED);
	assert_true(header->end_ticks > header->start_ticks);
	assert_true(header->alive_ticks >= header->start_ticks);
	assert_true(header->process_cpu_ns > 0 && header->fill_bytes_s == 0);
	assert_int_equal(header->lost_records, 0);
	unload(&trace);
}

static void nothing_is_recorded_without_a_folder(void **state)
{
	static const char *const folders[] = { "", "relative", "/nowhere/at/all" };
	uint64_t count = 1;
	(void)state;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		int status = run_recorded(folders[i], "", write_commands, &count);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
	}
}

// ---- records

static void every_record_is_there_in_order(void **state)
{
	// One more than fits, and many windows.
	static const uint64_t counts[] = { 0, 1, 4094, 4095, 4096, 50000 };
	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		uint64_t count = counts[i], number = 0, windows = 0, latest = 0;
		struct guest_place place = { 0 };
		const union tare_trace_record *record;
		struct guest_trace trace;
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", write_commands, &count), 0);
		trace = only_trace();
		while ((record = next_record(&trace, &place))) {
			if (tare_trace_type(record->head) == TARE_TRACE_WINDOW) {
				assert_true(record->window.sequence > latest);
				latest = record->window.sequence;
				windows++;
			}
			if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
				continue;
			assert_int_equal(record->command.number, ++number);
			assert_true(is_whole(record));
			assert_int_equal(tare_trace_track(record->head), 1);
		}
		assert_int_equal(number, count);
		// The process may end while its helper is about to claim one for itself.
		assert_in_range(trace.header->windows, windows, windows + 1);
		assert_in_range(latest, windows, trace.header->windows);
		assert_int_equal(trace.header->lost_records, 0);
		unload(&trace);
		tear_down(NULL);
	}
}

static const size_t text_bytes[] = { 0, 1, 39, 40, 41, 80, 1000, 65536, 70000 };
enum { TEXTS = sizeof text_bytes / sizeof *text_bytes };

static int define_texts(void *argument)
{
	char *text = malloc(70000);
	(void)argument;
	for (size_t i = 0; i < 70000; i++)
		text[i] = (char)('a' + i % 23);
	prctl(PR_SET_NAME, "test_guest");
	guest_begin(&plain_api);
	for (uint32_t i = 0; i < 40; i++) {
		union tare_trace_record object = { .object = {
			                               .head =
			                                   tare_trace_head(TARE_TRACE_OBJECT, 3,
			                                                   TARE_OBJECT_QUEUE, 0),
			                               .handle = i,
			                               .name = guest_string(text,
			                                                    text_bytes[i % TEXTS]),
			                               .number = i,
			                           } };
		guest_define(&object);
	}
	free(text);
	return guest_shape_number() != 1 || guest_shape_number() != 2;
}

// The names of the two threads are texts too, between the others.
static bool is_thread_name(const struct tare_trace_string *part)
{
	return part->total == strlen("test_guest") || part->total == strlen("tare");
}

static void texts_and_definitions_come_back(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	struct guest_trace trace;
	uint32_t objects = 0, got[50] = { 0 };
	bool definitions = false;
	(void)state;
	assert_int_equal(run_recorded(folder, "", define_texts, NULL), 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place))) {
		const struct tare_trace_string *part = &record->string;
		if (tare_trace_type(record->head) == TARE_TRACE_WINDOW)
			definitions = tare_trace_detail(record->head) == 1;
		if (tare_trace_type(record->head) == TARE_TRACE_STRING) {
			assert_in_range(part->id, 1, 49);
			assert_int_equal(part->offset, got[part->id]);
			for (size_t i = 0; i < part->bytes && !is_thread_name(part); i++)
				assert_int_equal(part->text[i], 'a' + (part->offset + i) % 23);
			got[part->id] += part->bytes;
			assert_true(got[part->id] <= part->total);
			assert_true(definitions);
		}
		if (tare_trace_type(record->head) == TARE_TRACE_OBJECT) {
			size_t bytes = text_bytes[objects % TEXTS];
			assert_int_equal(record->object.number, objects++);
			assert_in_range(record->object.name, 1, 49);
			assert_int_equal(got[record->object.name], bytes < 65536 ? bytes : 65536);
			assert_int_equal(tare_trace_track(record->head), 1);
			assert_int_equal(tare_trace_record_flags(record->head), 3);
			assert_true(definitions);
		}
	}
	assert_int_equal(objects, 40);
	assert_true(trace.header->definition_windows >= 2);
	unload(&trace);
}

static int wait_in_a_call(void *argument)
{
	struct guest_thread *thread;
	(void)argument;
	guest_begin(&plain_api);
	thread = guest_thread();
	guest_waiting(thread, 41, 1);
	guest_waiting(thread, 0, 0);
	guest_waiting(thread, 42, 12345);
	for (int i = 0; i < 6000; i++)
		write_command(thread);
	raise(SIGKILL);
	return 0;
}

static void killed_process_shows_the_call_that_it_was_in(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record, *window = NULL;
	struct guest_trace trace;
	int status = run_recorded(folder, "", wait_in_a_call, NULL);
	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_WINDOW &&
		    tare_trace_track(record->head) == 1 && !tare_trace_detail(record->head)) {
			if (window) // only the latest window tells it
				assert_int_equal(window->window.in_call, 0);
			window = record;
		}
	assert_non_null(window);
	assert_int_equal(window->window.in_call, 43);
	assert_int_equal(window->window.in_call_ticks, 12345);
	assert_int_equal(trace.header->state, TARE_TRACE_RECORDING);
	assert_int_equal(trace.header->end_ticks, 0);
	assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 6000);
	unload(&trace);
}

// ---- a program that does what programs do

static int close_all_files(void *argument)
{
	const char *path = argument;
	struct stat status;
	int foreign;
	guest_begin(&plain_api);
	for (int i = 0; i < 3000; i++)
		write_command(guest_thread());
	for (int fd = 3; fd < 1000; fd++)
		close(fd);
	foreign = open(path, O_RDWR | O_CREAT, 0600);
	for (int fd = 50; fd < 130; fd++)
		dup2(foreign, fd);
	for (int i = 0; i < 30000; i++)
		write_command(guest_thread());
	return fstat(foreign, &status) || status.st_size || fcntl(120, F_GETFD) < 0;
}

static void closed_descriptors_are_no_harm(void **state)
{
	struct guest_trace trace;
	char path[300];
	(void)state;
	snprintf(path, sizeof path, "%s/foreign", folder);
	assert_int_equal(run_recorded(folder, "", close_all_files, path), 0);
	trace = only_trace();
	assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 33000);
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}

static long descriptor_table(void)
{
	char line[256];
	long size = -1;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && size < 0 && fgets(line, sizeof line, status))
		sscanf(line, "FDSize: %ld", &size);
	if (status)
		fclose(status);
	return size;
}

static int begin_with_few_descriptors(void *argument)
{
	int status = -1;
	pid_t child;
	(void)argument;
	for (int fd = 3; fd < 1000; fd++)
		close(fd);
	// A child's table is as large as its descriptors need.
	child = fork();
	if (!child) {
		long before = descriptor_table();
		_exit(guest_begin(&plain_api) && before > 0 && descriptor_table() == before ? 0
		                                                                            : 1);
	}
	return waitpid(child, &status, 0) < 0 || status != 0;
}

static void table_of_descriptors_does_not_grow(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", begin_with_few_descriptors, NULL), 0);
}

static int check_errno(void *argument)
{
	struct rlimit limit = { 1000000, 1000000 };
	(void)argument;
	errno = 4321;
	guest_begin(&plain_api);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int fd = 3; fd < 1000; fd++) // so that system calls fail
		close(fd);
	errno = 4321;
	for (int i = 0; i < 30000; i++) {
		write_command(guest_thread());
		guest_string("text", 4);
		guest_cpu_time(guest_thread(), 0, guest_ticks());
		guest_waiting(guest_thread(), 1, 1);
	}
	guest_map_put(guest_map_new(), &limit, 1);
	return errno != 4321 || !guest_header->lost_records;
}

static int check_errno_of_failure(void *argument)
{
	(void)argument;
	errno = 4321;
	return guest_begin(&plain_api) || errno != 4321;
}

static void errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(run_recorded("/nowhere/at/all", "", check_errno_of_failure, NULL), 0);
	assert_int_equal(run_recorded(folder, "", check_errno, NULL), 0);
}

// for half of the delay and duration between two looks: nothing is proved
enum { STOPPED_FOR_TOO_LONG = 9 };
static int record_a_part(void *argument)
{
	uint64_t span_ns = *(const uint64_t *)argument, last = raw_ns(), longest = 0;
	uint64_t deadline = last + UINT64_C(20000000000);
	guest_begin(&plain_api);
	bool wrong = guest_active;
	for (int phase = 0; phase < 2; phase++) {
		while (atomic_load(&guest_active) == (phase == 1) && raw_ns() < deadline &&
		       longest < span_ns / 2) {
			if (write_command(guest_thread()) && !phase)
				break; // it began between the two looks
			pause_ns(100000);
			longest = raw_ns() - last > longest ? raw_ns() - last : longest;
			last = raw_ns();
		}
		if (!phase)
			write_command(guest_thread());
	}
	wrong |= raw_ns() >= deadline || write_command(guest_thread());
	longest = raw_ns() - last > longest ? raw_ns() - last : longest;
	return longest >= span_ns / 2 ? STOPPED_FOR_TOO_LONG : wrong;
}

static void delay_and_duration_bound_the_events(void **state)
{
	static const uint16_t expected[] = { 0, 1, 0 };
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	struct guest_trace trace;
	uint64_t ticks[3] = { 0 };
	size_t changes = 0;
	char options[80];
	int status = -1;
	(void)state;
	for (uint64_t ns = 80000000; ns < UINT64_C(6000000000); ns *= 4) {
		snprintf(options, sizeof options, "delay=%" PRIu64 ",duration=%" PRIu64, ns, ns);
		status = run_recorded(folder, options, record_a_part, &ns);
		if (status != STOPPED_FOR_TOO_LONG << 8)
			break;
		tear_down(NULL), set_up(NULL);
	}
	assert_int_equal(status, 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_ACTIVE) {
			uint16_t detail = tare_trace_detail(record->head);
			assert_true(changes < 3);
			// Its own thread begins, the helper goes on: windows are not in their
			// order.
			for (size_t i = 0; i < 3; i++)
				if (expected[i] == detail && !ticks[i]) {
					ticks[i] = record->active.ticks;
					break;
				}
			changes++;
		}
	assert_int_equal(changes, 3);
	assert_true(ticks[0] < ticks[1] && ticks[1] < ticks[2]);
	assert_int_equal(trace.header->lost_records, 0);
	assert_true(count_records(&trace, TARE_TRACE_COMMAND) > 0);
	unload(&trace);
}

static int exec_again(void *argument)
{
	uint64_t count = 10;
	write_commands(&count);
	execl("/proc/self/exe", (const char *)argument, "after-exec", (char *)NULL);
	return 1;
}

static void exec_leaves_a_whole_file(void **state)
{
	struct guest_trace traces[2];
	(void)state;
	assert_int_equal(run_recorded(folder, "", exec_again, "test_guest"), 0);
	assert_int_equal(load_files(folder, traces, 2), 2);
	// The second name is the first one's with a number.
	for (size_t i = 0; i < 2; i++) {
		bool after = strstr(traces[i].name, "-001.trace") != NULL;
		assert_int_equal(traces[i].header->state,
		                 after ? TARE_TRACE_ENDED : TARE_TRACE_EXEC);
		assert_int_equal(count_records(&traces[i], TARE_TRACE_COMMAND), after ? 20 : 10);
		assert_int_equal(traces[i].header->pid, traces[!i].header->pid);
	}
	unload(&traces[0]);
	unload(&traces[1]);
}

static int write_until_killed(void *argument)
{
	_Atomic uint32_t *done = argument;
	guest_begin(&plain_api);
	for (;;) {
		write_command(guest_thread());
		atomic_store(done, guest_thread()->command_number);
	}
	return 0;
}

static void kill_loses_no_record(void **state)
{
	_Atomic uint32_t *done =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)state;
	for (long i = 0; i < 20; i++) {
		struct guest_place place = { 0 };
		const union tare_trace_record *record;
		struct guest_trace trace;
		uint32_t number = 0;
		pid_t child;
		set_up(NULL);
		atomic_store(done, 0);
		child = fork();
		if (!child) {
			setenv("TARE_RECORD", folder, 1);
			setenv("TARE_RECORD_OPTIONS", "max=20000000", 1);
			exit(write_until_killed((void *)done));
		}
		while (atomic_load(done) < 100)
			pause_ns(100000);
		pause_ns(i * i * 10000 + 1);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		trace = only_trace();
		while ((record = next_record(&trace, &place)))
			if (tare_trace_type(record->head) == TARE_TRACE_COMMAND) {
				assert_int_equal(record->command.number, ++number);
				assert_true(is_whole(record));
			}
		assert_true(number + trace.header->lost_commands >= atomic_load(done));
		assert_int_equal(trace.header->state, trace.header->lost_records
		                                          ? TARE_TRACE_STOPPED
		                                          : TARE_TRACE_RECORDING);
		assert_true(trace.header->alive_ticks >= trace.header->start_ticks);
		unload(&trace);
		tear_down(NULL);
	}
	munmap((void *)done, 4096);
}

// ---- time

static int harvests;

static void count_harvest(void)
{
	harvests++;
}

static const struct guest_api counted_api = { .api = TARE_TRACE_OPENCL, .harvest = count_harvest };

// What a driver registers for its end: by then nothing of it may be called any more, and what it
// had has been taken.
static void driver_ends(void)
{
	if (atomic_load(&guest_alive))
		_exit(8);
	if (!harvests)
		_exit(9);
}

static int begin_with_phases(void *argument)
{
	(void)argument;
	if (!guest_begin(NULL) || guest_header->api != TARE_TRACE_NO_API || guest_header->apis)
		return 1;
	atexit(driver_ends);
	if (!guest_begin(&counted_api) || guest_header->apis != 1 << TARE_TRACE_OPENCL)
		return 2;
	return 0;
}

static void an_api_may_come_after_phases(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, begin_with_phases, NULL), 0);
	trace = only_trace();
	assert_int_equal(trace.header->api, TARE_TRACE_OPENCL);
	unload(&trace);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(header_tells_who_and_when),
		cmocka_unit_test(header_tells_the_rank),
		cmocka_unit_test(nothing_is_recorded_without_a_folder),
		cmocka_unit_test(every_record_is_there_in_order),
		TEST(texts_and_definitions_come_back),
		TEST(killed_process_shows_the_call_that_it_was_in),
		TEST(closed_descriptors_are_no_harm),
		TEST(table_of_descriptors_does_not_grow),
		TEST(errno_is_kept),
		TEST(an_api_may_come_after_phases),
		TEST(delay_and_duration_bound_the_events),
		TEST(exec_leaves_a_whole_file),
		cmocka_unit_test(kill_loses_no_record),
	};
	uint64_t count = 20;
	if (argc == 2 && !strcmp(argv[1], "after-exec"))
		return write_commands(&count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
