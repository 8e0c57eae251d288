// SPDX-License-Identifier: Apache-2.0
// The hooks of phases in the recorder's own module, called as programs call them: what they return
// and what stands in the trace afterwards. argv[1] is the module.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "phase_rig.h"

// ---- tare's own

static int mark_own(void *argument)
{
	char name[8] = "buffer";
	(void)argument;
	open_module();
	errno = 77;
	own_begin(name);
	strcpy(name, "other"); // the same place, another text
	own_begin(name);
	own_end();
	own_begin(NULL);
	own_end();
	own_begin("");
	own_end();
	own_end();
	own_end(); // of nothing: the loader leaves it out
	EXPECT(errno == 77);
	return 0;
}

static void own_marks_are_recorded(void **state)
{
	(void)state;
	expect_marks(mark_own, NULL, "<Tbuffer <Tother >T <T(unnamed) >T <T(unnamed) >T >T >T");
}

static void marks_come_before_delay_is_over(void **state)
{
	(void)state;
	expect_marks(mark_own, "delay=3600000000000",
	             "<Tbuffer <Tother >T <T(unnamed) >T <T(unnamed) >T >T >T");
}

static int mark_long(void *argument)
{
	char name[3000];
	(void)argument;
	open_module();
	// Two bytes a character: the cut would fall between them.
	name[0] = 'x';
	for (size_t i = 1; i + 1 < sizeof name; i += 2)
		memcpy(name + i, "ö", 2);
	name[sizeof name - 1] = 0;
	own_begin(name);
	own_end();
	return 0;
}

static void a_long_name_is_cut_between_characters(void **state)
{
	struct guest_trace trace;
	char text[8192];
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_long, NULL), 0);
	trace = only_trace();
	describe(&trace, text, sizeof text);
	assert_int_equal(strlen(text), 2 + 1023 + strlen(" >T"));
	assert_memory_equal(text + 2 + 1021, "ö >T", 6);
	unload(&trace);
}

static int mark_often(void *argument)
{
	(void)argument;
	open_module();
	for (int i = 0; i < 3000; i++) {
		char name[16];
		snprintf(name, sizeof name, "name %d", i % 10);
		own_begin(name);
		own_end();
	}
	return 0;
}

static void a_text_is_defined_once(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_often, NULL), 0);
	trace = only_trace();
	assert_int_equal(count_records(&trace, TARE_TRACE_PHASE), 6000);
	assert_in_range(count_records(&trace, TARE_TRACE_STRING), 10, 20); // threads have names too
	unload(&trace);
}

enum { NAMES = 66000, MOST_NAMES = 65536 };

static int mark_with_many_names(void *argument)
{
	(void)argument;
	open_module();
	for (int i = 0; i < NAMES; i++) {
		char name[16];
		snprintf(name, sizeof name, "n%d", i);
		own_begin(name);
	}
	return 0;
}

static void names_without_end_do_not_fill_the_file(void **state)
{
	struct guest_trace trace;
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint32_t last = 0, same = 0;
	char text[2048];
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_with_many_names, NULL), 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE) {
			same += record->phase.name == last;
			last = record->phase.name;
		}
	text_of(&trace, last, text, sizeof text);
	assert_string_equal(text, "(other names)");
	assert_int_equal(same, NAMES - MOST_NAMES - 1);
	assert_in_range(count_records(&trace, TARE_TRACE_STRING), MOST_NAMES, MOST_NAMES + 10);
	unload(&trace);
}

// With --max-size the marks themselves still find room.
static void names_leave_most_of_a_small_file(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "max=8388608", mark_with_many_names, NULL), 0);
	trace = only_trace();
	assert_int_equal(trace.header->lost_records, 0);
	assert_in_range(count_records(&trace, TARE_TRACE_STRING), 8388608 / 4 / 64 - 10,
	                8388608 / 4 / 64 + 10);
	unload(&trace);
}

static int mark_beyond_room(void *argument)
{
	(void)argument;
	open_module();
	for (int i = 0; i < 50000; i++) {
		errno = 5;
		own_begin("again");
		own_end();
		EXPECT(errno == 5);
	}
	return 0;
}

static void marks_without_room_are_counted(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "max=1310720", mark_beyond_room, NULL), 0);
	trace = only_trace();
	assert_true(trace.header->lost_records > 0);
	assert_in_range(count_records(&trace, TARE_TRACE_PHASE) + trace.header->lost_records,
	                100000,
	                100100); // CPU times may be lost too
	unload(&trace);
}

// ---- ITT

static int mark_itt(void *argument)
{
	struct itt_client_id id = { 1, 2, 3 }, other = { 1, 2, 4 };
	(void)argument;
	open_module();
	errno = 78;
	itt_client_attach(module);
	struct itt_client_domain *domain = itt.domain_create("lib");
	struct itt_client_string *name = itt.string_handle_create("work");
	EXPECT(domain && domain->flags == 1 && !strcmp(domain->name, "lib"));
	EXPECT(domain == itt.domain_create("lib") && domain != itt.domain_create("work"));
	EXPECT(name == itt.string_handle_create("work") && !strcmp(name->text, "work"));
	EXPECT(!itt.domain_create(NULL) && !itt.string_handle_create(NULL));
	itt.task_begin(domain, ITT_CLIENT_NULL, ITT_CLIENT_NULL, name);
	itt.task_begin(domain, id, other, NULL);
	itt.task_end(domain);
	itt.task_end(domain);
	itt.task_begin_fn(domain, id, id, (void *)0xabcd1);
	itt.task_end(domain);
	itt.task_begin_overlapped(domain, id, ITT_CLIENT_NULL, name);
	itt.task_begin_overlapped(domain, other, ITT_CLIENT_NULL, name);
	itt.region_begin(domain, id, ITT_CLIENT_NULL, name);
	itt.task_end_overlapped(domain, id);
	itt.task_end_overlapped(domain, other);
	itt.region_end(domain, id);
	itt.frame_begin(domain, NULL);
	itt.frame_end(domain, NULL);
	itt.marker(domain, id, name, 1);
	itt.task_begin(NULL, id, id, name);
	itt.task_end(NULL);
	EXPECT(itt.pause == itt_client_nothing && !itt.detach);
	EXPECT(errno == 78);
	return 0;
}

static void itt_marks_are_recorded(void **state)
{
	struct guest_trace trace;
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint64_t values[8];
	size_t count = 0;
	(void)state;
	expect_marks(mark_itt, NULL,
	             "<Iwork@lib <I(unnamed)@lib >I@lib >I@lib <I0xabcd1@lib >I@lib <Iwork@lib# "
	             "<Iwork@lib# <Iwork@lib# >I@lib# >I@lib# >I@lib# <Iframe@lib# >I@lib# "
	             "!Iwork@lib <Iwork >I");
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE && record->phase.value)
			values[count++] = record->phase.value;
	assert_int_equal(count, 8);
	// Two tasks and a region, which has the first one's id; their ends; a frame.
	assert_true(values[0] != values[1] && values[0] != values[2] && values[1] != values[2]);
	assert_true(values[3] == values[0] && values[4] == values[1] && values[5] == values[2]);
	assert_true(values[6] == values[7] && values[6] != values[0]);
	unload(&trace);
}

static int mark_itt_times(void *argument)
{
	(void)argument;
	open_module();
	itt_client_attach(module);
	struct itt_client_domain *domain = itt.domain_create("lib");
	unsigned long long from = itt.get_timestamp(), to = itt.get_timestamp();
	EXPECT(from && to >= from);
	itt.frame_submit(domain, NULL, from, to);
	itt.frame_submit(domain, NULL, from, UINT64_MAX);
	itt.frame_submit(domain, NULL, UINT64_MAX, to);
	itt.frame_submit(domain, NULL, UINT64_MAX, UINT64_MAX);
	itt.frame_submit(domain, NULL, 0, to);
	itt.frame_submit(domain, NULL, to + 1, to);
	itt.task_begin_ex(domain, NULL, from, ITT_CLIENT_NULL, ITT_CLIENT_NULL, NULL);
	itt.task_end_ex(domain, NULL, to);
	itt.task_begin_ex(domain, domain, from, ITT_CLIENT_NULL, ITT_CLIENT_NULL, NULL);
	itt.task_end_ex(domain, NULL, UINT64_MAX - 1); // in the future: now
	own_begin(NULL);
	((unsigned long long *)argument)[0] = from;
	((unsigned long long *)argument)[1] = to;
	return 0;
}

static void itt_times_are_kept_where_they_can_be(void **state)
{
	unsigned long long *times =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t ticks[9], values[9];
	struct guest_trace trace;
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t count = 0;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_itt_times, times), 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE) {
			assert_true(count < 9);
			values[count] = record->phase.value;
			ticks[count++] = record->phase.ticks;
		}
	assert_int_equal(count, 9);
	assert_true(ticks[0] == times[0] && ticks[1] == times[1]);
	assert_true(ticks[2] == times[0] && ticks[3] > times[1] && ticks[3] <= ticks[6]);
	assert_true(values[0] == values[1] && values[2] == values[3] && values[0] != values[2]);
	assert_true(ticks[4] == times[0] && ticks[5] == times[1]);
	assert_true(ticks[6] > times[1] && ticks[7] >= ticks[6] && ticks[7] <= ticks[8]);
	unload(&trace);
	munmap(times, 4096);
}

static int offer_what_is_not_itt(void *argument)
{
	struct itt_client_function *functions = itt_client_global.functions;
	(void)argument;
	open_module();
	itt_client_global.magic[3] ^= 1;
	itt_client_attach(module);
	EXPECT(!itt.task_begin);
	itt_client_global.magic[3] ^= 1;
	itt_client_global.build = 20101001; // its list has shorter entries
	itt_client_attach(module);
	EXPECT(!itt.task_begin);
	itt_client_global.build = 20250807;
	itt_client_global.functions = NULL;
	itt_client_attach(module);
	EXPECT(!itt.task_begin);
	itt_client_global.functions = functions;
	functions[2].place = NULL;
	itt_client_attach(module);
	EXPECT(!itt.task_begin && itt.task_end);
	return 0;
}

static void what_is_not_itt_is_left_alone(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, offer_what_is_not_itt, NULL), 0);
	assert_int_equal(load_files(folder, &trace, 1), 0); // nor does attaching alone record
}

// ---- processes and threads

static int mark_unrecorded(void *argument)
{
	(void)argument;
	unsetenv("TARE_RECORD");
	open_module();
	itt_client_attach(module);
	nvtx_client_attach(module, "InitializeInjectionNvtx2");
	own_begin("x");
	own_end();
	EXPECT(nvtx.push_a("x") == -2 && nvtx.pop() == -2);
	EXPECT(itt.get_timestamp() == 0);
	itt.task_begin(itt.domain_create("d"), ITT_CLIENT_NULL, ITT_CLIENT_NULL, NULL);
	return 0;
}

static int end_alone(void *argument)
{
	(void)argument;
	open_module();
	own_end();
	return 0;
}

static void nothing_is_recorded_without_a_reason(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_unrecorded, NULL), 0);
	assert_int_equal(run_recorded(folder, NULL, end_alone, NULL), 0);
	assert_int_equal(load_files(folder, &trace, 1), 0);
}

static int mark_in_a_child(void *argument)
{
	int status = 1;
	(void)argument;
	open_module();
	nvtx_client_attach(module, "InitializeInjectionNvtx2");
	EXPECT(nvtx.push_a("same") == 0);
	pid_t child = fork();
	if (child == 0) {
		EXPECT(nvtx.pop() < 0); // began in another process
		EXPECT(nvtx.push_a("same") == 0 && nvtx.push_a("child") == 1);
		EXPECT(nvtx.pop() == 1 && nvtx.pop() == 0);
		exit(0);
	}
	waitpid(child, &status, 0);
	EXPECT(status == 0 && nvtx.pop() == 0);
	return 0;
}

static void the_child_of_a_fork_has_phases_of_its_own(void **state)
{
	struct guest_trace traces[3];
	char text[256];
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_in_a_child, NULL), 0);
	assert_int_equal(load_files(folder, traces, 3), 2);
	for (int i = 0; i < 2; i++) {
		bool child = traces[i].header->flags & TARE_TRACE_FORKED;
		describe(&traces[i], text, sizeof text);
		assert_string_equal(text, child ? "<Nsame <Nchild >N >N" : "<Nsame >N");
		unload(&traces[i]);
	}
}

static void *mark_in_a_thread(void *argument)
{
	for (int i = 0; i < 500; i++) {
		EXPECT(nvtx.push_a("outer") == 0 && nvtx.push_a(argument) == 1);
		EXPECT(nvtx.pop() == 1 && nvtx.pop() == 0);
	}
	nvtx.push_a("left open");
	return NULL;
}

static int mark_in_threads(void *argument)
{
	pthread_t threads[8];
	static char names[8][16];
	(void)argument;
	open_module();
	nvtx_client_attach(module, "InitializeInjectionNvtx2");
	EXPECT(nvtx.push_a("main") == 0);
	for (int round = 0; round < 4; round++) { // states of ended threads are used again
		for (int i = 0; i < 8; i++) {
			snprintf(names[i], sizeof names[i], "t%d", i);
			EXPECT(!pthread_create(&threads[i], NULL, mark_in_a_thread, names[i]));
		}
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	EXPECT(nvtx.pop() == 0);
	return 0;
}

static void threads_nest_for_themselves(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, mark_in_threads, NULL), 0);
	trace = only_trace();
	assert_int_equal(count_records(&trace, TARE_TRACE_PHASE), 2 + 32 * (500 * 4 + 1));
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_marks_are_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_come_before_delay_is_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_name_is_cut_between_characters, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_text_is_defined_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_without_end_do_not_fill_the_file, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(names_leave_most_of_a_small_file, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(marks_without_room_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(itt_marks_are_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(itt_times_are_kept_where_they_can_be, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_itt_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_recorded_without_a_reason, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(the_child_of_a_fork_has_phases_of_its_own, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(threads_nest_for_themselves, set_up, tear_down),
	};
	module_path = count > 1 ? arguments[1] : "";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
