// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer, with its own sources, under threads, signals, forks and events whose addresses
// are used again at once, over a driver that ends the process when it is handed a dead event. Built
// a second time for ThreadSanitizer.
#include "guest/opencl/layer.h"

#include "opencl_threads_rig.h"
#include "opencl_threads_trace.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <cmocka.h>

// ---- what programs do

static const size_t one[] = { 1 };

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int error;
	return cl->clCreateCommandQueue((cl_context)&context, (cl_device_id)&device, properties,
	                                &error);
}

static void launch(cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event)
{
	cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&kernel, 1, NULL, one, NULL, count, waits,
	                           event);
}

// ---- threads

// ThreadSanitizer takes the threads of a fork's child for its parent's: their stacks are the same.
// AddressSanitizer's locks, which threads that start take, stay locked in the child.
#if defined(UNDER_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
enum { THREADS = 5, ROUNDS = 600, FORKS = 0 };
#else
enum { THREADS = 5, ROUNDS = 600, FORKS = 4 };
#endif
static cl_command_queue shared, unordered;

static void *work(void *argument)
{
	uint32_t random = (uint32_t)(uintptr_t)argument * 2654435761u + 1;
	cl_command_queue own = make_queue(0);
	for (int i = 0; i < ROUNDS; i++) {
		random = random * 1664525 + 1013904223;
		cl_command_queue queue = random >> 30 == 0   ? shared
		                         : random >> 30 == 1 ? unordered
		                                             : own;
		cl_event event = NULL;
		cl_int status = CL_QUEUED;
		launch(queue, 0, NULL, NULL);
		launch(queue, 0, NULL, &event);
		switch (random >> 24 & 7) {
		case 0:
			cl->clEnqueueWriteBuffer(queue, (cl_mem)&buffer, CL_TRUE, 0, 8, &event, 0,
			                         NULL, NULL);
			break;
		case 1:
			cl->clWaitForEvents(1, &event);
			break;
		case 2:
			cl->clFinish(queue);
			break;
		case 3:
			for (int turn = 0; turn < 8; turn++)
				cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
				                   sizeof status, &status, NULL);
			break;
		case 4:
			// The queue's address is another queue's next.
			cl->clFinish(own);
			cl->clReleaseCommandQueue(own);
			own = make_queue(random >> 20 & 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
			                                  : 0);
			break;
		default:
			break;
		}
		cl->clReleaseEvent(event);
	}
	cl->clFinish(own);
	cl->clReleaseCommandQueue(own);
	return NULL;
}

static void *work_in_child(void *argument)
{
	(void)argument;
	for (int i = 0; i < 50; i++) {
		launch(shared, 0, NULL, NULL);
		launch(unordered, 0, NULL, NULL);
	}
	return NULL;
}

// Of the parent's pending commands the child has none, nor its calls.
static int be_child(void)
{
	pthread_t threads[2];
	memset(events, 0, sizeof events);
	commands = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work_in_child, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2000 && guest_header->pending != 0; i++) {
		cl->clFinish(shared);
		cl->clFinish(unordered);
		usleep(1000);
	}
	if (!no_event_lives())
		return 71;
	uint64_t calls = 0;
	struct layer_thread *of;
	GUEST_API_THREADS(of, TARE_TRACE_OPENCL)
	calls += atomic_load(&of->shared.calls);
	return calls >= 200 && calls < 200 + 4001 ? 0 : 72;
}

// One that leaves the parent's queue alone while its own helper goes round.
static int be_quiet_child(void)
{
	make_queue(0);
	uint64_t last = guest_header->alive_ticks;
	for (int rounds = 0, i = 0; rounds < 2 && i < 2000; i++) {
		uint64_t alive = __atomic_load_n(&guest_header->alive_ticks, __ATOMIC_RELAXED);
		rounds += alive != last;
		last = alive;
		usleep(1000);
	}
	return __atomic_load_n(&guest_header->pending, __ATOMIC_RELAXED) == 0 ? 0 : 73;
}

static int threads_and_forks(void *argument)
{
	pthread_t threads[THREADS];
	int status, worst = 0;
	if (!begin())
		return 60;
	shared = make_queue(0);
	unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (int i = 0; i < 5000; i++)
		launch(shared, 0, NULL, NULL), cl->clFinish(shared);
	for (int i = 0; i < 3; i++)
		launch(shared, 0, NULL, NULL);
	if (FORKS > 0) {
		pid_t child = fork();
		if (child == 0)
			_exit(be_quiet_child());
		waitpid(child, &worst, 0);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < FORKS; i++) {
		launch(shared, 0, NULL, NULL);
		launch(unordered, 0, NULL, NULL);
		pid_t child = fork();
		if (child == 0)
			_exit(be_child());
		waitpid(child, &status, 0);
		worst = status != 0 ? status : worst;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cl->clFinish(shared);
	cl->clFinish(unordered);
	if (worst != 0)
		return WIFEXITED(worst) ? WEXITSTATUS(worst) : 61;
	if (!no_event_lives())
		return 62;
	*(_Atomic uint32_t *)argument = commands;
	return 0;
}

// A number that the recorded process leaves for the test.
static _Atomic uint32_t *shared_number(void)
{
	static _Atomic uint32_t *number;
	if (number == NULL)
		number =
		    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*number = 0;
	return number;
}

// The file of the process that is no fork's child.
static struct guest_trace parents_file(void)
{
	struct guest_trace traces[16], found = { 0 };
	size_t count = load_files(folder, traces, 16);
	for (size_t i = 0; i < count && i < 16; i++) {
		if (!found.bytes && !(traces[i].header->flags & TARE_TRACE_FORKED))
			found = traces[i];
		else
			unload(&traces[i]);
	}
	assert_non_null(found.bytes);
	return found;
}

static void every_command_has_its_times_once(void **state)
{
	(void)state;
	_Atomic uint32_t *count = shared_number();
	assert_int_equal(run_recorded(folder, "", threads_and_forks, count), 0);
	struct guest_trace trace = parents_file();
	assert_true(*count > 0);
	assert_true(is_complete_trace(&trace, *count));
	assert_int_equal(trace.header->pending, 0);
	unload(&trace);
}

// What of the driver's the helper thread has locked would stay so in the child.
static int fork_often(void *argument)
{
	int status, worst = 0;
	(void)argument;
	start_idle_thread();
	if (!begin())
		return 60;
	shared = make_queue(0);
	launch(shared, 0, NULL, NULL);
	is_slow = true;
	for (int i = 0; i < 40; i++) {
		pid_t child;
		usleep(500 * (useconds_t)(i % 10));
		child = fork();
		if (child == 0)
			_exit(inside != 0 ? 66 : 0);
		waitpid(child, &status, 0);
		worst = status != 0 ? status : worst;
	}
	is_slow = false;
	finish(shared);
	return worst != 0 ? WEXITSTATUS(worst) : no_event_lives() ? 0 : 62;
}

static void forks_find_the_helper_outside_of_the_driver(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", fork_often, NULL), 0);
}

// ---- one thread

// Nobody harvests but who calls, unless the helper runs: it may have an event in its hands that it
// gives back a moment later.
static int release_early(void *argument)
{
	bool finishes = *(int *)argument != 0;
	if (!begin())
		return 60;
	cl_command_queue other = make_queue(0);
	for (int turn = 0; turn < 11; turn++) {
		cl_command_queue queue =
		    make_queue(turn % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
		for (int i = 0; i < 100; i++)
			launch(queue, 0, NULL, NULL);
		release_finishes = finishes;
		cl->clReleaseCommandQueue(queue);
		release_finishes = false;
		if (!finishes) {
			// It is complete some time later, and the program waits for something else.
			finish(queue);
			cl->clFinish(other);
		}
		if (KNOWS_ALONE ? living_events() != 0 : !no_event_lives())
			return 67;
	}
	return KNOWS_ALONE && count_tasks() != 1 ? 68 : 0;
}

static void times_survive_an_early_release(void **state)
{
	(void)state;
	for (int finishes = 0; finishes < 2; finishes++) {
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", release_early, &finishes), 0);
		struct guest_trace trace = parents_file();
		assert_true(is_complete_trace(&trace, 1100));
		assert_int_equal(trace.header->pending, 0);
		unload(&trace);
		tear_down(NULL);
	}
}

static int get_a_driver_thread(void *argument)
{
	enum { BEFORE = 1000, HUNG = 20000 };
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue(0);
	thread_at_command = BEFORE + 1;
	for (int i = 0; i < BEFORE; i++)
		launch(queue, 0, NULL, NULL);
	if (KNOWS_ALONE && count_tasks() != 1)
		return 67;
	int tasks = count_tasks() + 1;
	for (int turn = 0; turn == 0 || (KNOWS_ALONE && count_tasks() <= tasks); turn++) {
		if (turn > HUNG)
			return 68;
		launch(queue, 0, NULL, NULL);
		cl->clFinish(queue);
		usleep(100);
	}
	for (int i = 0; i < BEFORE; i++)
		launch(queue, 0, NULL, NULL);
	cl->clFinish(queue);
	*(_Atomic uint32_t *)argument = commands;
	return no_event_lives() ? 0 : 62;
}

static void helper_comes_when_the_driver_starts_a_thread(void **state)
{
	_Atomic uint32_t *count = shared_number();
	(void)state;
	assert_int_equal(run_recorded(folder, "", get_a_driver_thread, (void *)count), 0);
	struct guest_trace trace = parents_file();
	assert_true(*count > 2000);
	assert_true(is_complete_trace(&trace, *count));
	unload(&trace);
}

// A ring that is half full is looked through; the program never waits.
static int be_killed_before_any_wait(void *argument)
{
	uint32_t count = *(uint32_t *)argument;
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue(0);
	for (uint32_t i = 0; i < count; i++)
		launch(queue, 0, NULL, NULL);
	raise(SIGKILL);
	return 0;
}

static void nothing_is_lost_before_any_wait(void **state)
{
	static uint32_t counts[] = { 1, 1000, 3000 };
	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		set_up(NULL);
		assert_true(
		    WIFSIGNALED(run_recorded(folder, "", be_killed_before_any_wait, &counts[i])));
		struct guest_trace trace = parents_file();
		assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), counts[i]);
		assert_int_equal(count_records(&trace, TARE_TRACE_TIMES), 0);
		assert_int_equal(trace.header->lost_records, 0);
		assert_true(trace.header->pending >= 1);
		assert_true(trace.header->alive_ticks > trace.header->start_ticks);
		unload(&trace);
		tear_down(NULL);
	}
}

enum { MARKED_LAUNCHES = 9 };

static int write_between_times(void *argument)
{
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue(0);
	marked_command = *(uint32_t *)argument;
	for (int i = 0; i < MARKED_LAUNCHES; i++)
		launch(queue, 0, NULL, NULL);
	cl->clFinish(queue);
	return no_event_lives() ? 0 : 62;
}

static void times_are_not_put_before_a_later_record(void **state)
{
	(void)state;
	for (uint32_t mark = 2; mark <= MARKED_LAUNCHES; mark++) {
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", write_between_times, &mark), 0);
		struct guest_trace trace = parents_file();
		check_mark(&trace, mark, MARKED_LAUNCHES);
		unload(&trace);
		tear_down(NULL);
	}
}

// ---- signal handlers

#ifndef UNDER_THREAD_SANITIZER
// What the sender sees of the program: a signal that is not waited for would come again before the
// handler has returned, and the program would never get on where handlers are slower than the
// sender.
static struct progress {
	_Atomic uint32_t handled, launched;
} *progress;

static char kernel_of_handlers;

static void call_from_handler(int number)
{
	(void)number;
	cl->clEnqueueNDRangeKernel(shared, (cl_kernel)&kernel_of_handlers, 1, NULL, one, NULL, 0,
	                           NULL, NULL);
	cl->clFinish(shared);
	progress->handled++;
}

static bool lives(pid_t program)
{
	return kill(program, 0) == 0;
}

// Signals of timers come with the tick; those of another process come anywhere.
static void send_signals(pid_t to)
{
	for (uint32_t i = 0; lives(to); i++) {
		uint32_t handled = progress->handled, launched;
		for (volatile uint32_t wait = 0; wait < i % 512; wait++)
			;
		kill(to, SIGUSR1);
		while (progress->handled == handled && lives(to))
			sched_yield();
		launched = progress->launched;
		while (progress->launched == launched && lives(to))
			sched_yield();
	}
	_exit(0);
}

static int signals(void *argument)
{
	enum { ENOUGH = 20000, MOST_MS = 1500 };
	struct sigaction action = { .sa_handler = call_from_handler };
	if (!begin())
		return 60;
	alarm(100); // a handler that waits for its own thread waits for ever
	shared = make_queue(0);
	sigaction(SIGUSR1, &action, NULL);
	pid_t self = getpid(), sender = fork();
	if (sender == 0)
		send_signals(self);
	uint64_t end = raw_ns() + MOST_MS * UINT64_C(1000000);
	while (progress->handled < ENOUGH && raw_ns() < end) {
		for (int i = 0; i < 100; i++) {
			launch(shared, 0, NULL, NULL);
			progress->launched++;
		}
		cl->clFinish(shared);
	}
	kill(sender, SIGKILL);
	while (waitpid(sender, NULL, 0) < 0)
		;
	cl->clFinish(shared);
	(void)argument;
	return progress->handled == 0 ? 63 : no_event_lives() ? 0 : 62;
}

static void handler_never_waits_for_its_own_thread(void **state)
{
	(void)state;
	progress =
	    mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(progress, MAP_FAILED);
	assert_int_equal(run_recorded(folder, "", signals, NULL), 0);
	struct guest_trace trace = parents_file();
	check_launches(&trace, progress->launched, progress->handled, &kernel_of_handlers);
	unload(&trace);
	munmap(progress, sizeof *progress);
}
#endif

// ---- events

static int release_while_waiting(void *argument)
{
	(void)argument;
	if (!begin())
		return 60;
	shared = make_queue(0);
	for (int i = 0; i < 100; i++) {
		cl_event event;
		launch(shared, 0, NULL, &event);
		drop_queue = shared;
		if (cl->clWaitForEvents(1, &event) != CL_SUCCESS)
			return 64;
	}
	return no_event_lives() ? 0 : 62;
}

static void events_may_end_while_they_are_waited_for(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", release_while_waiting, NULL), 0);
}

static int wait_list_is_event(void *argument)
{
	(void)argument;
	cl_event event;
	if (!begin())
		return 60;
	shared = make_queue(0);
	launch(shared, 0, NULL, &event);
	cl_event first = event;
	launch(shared, 1, &event, &event);
	cl->clReleaseEvent(first);
	cl->clReleaseEvent(event);
	cl->clFinish(shared);
	return first != event && no_event_lives() ? 0 : 62;
}

static void a_command_does_not_depend_on_itself(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", wait_list_is_event, NULL), 0);
	struct guest_trace trace = parents_file();
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint64_t handles[2] = { 0 }, depends = 0;
	while ((record = next_record(&trace, &place))) {
		if (tare_trace_type(record->head) == TARE_TRACE_COMMAND)
			handles[record->command.number - 1] = record->command.event;
		if (tare_trace_type(record->head) == TARE_TRACE_DEPENDS)
			depends = record->depends.event[0];
	}
	assert_true(handles[0] != 0);
	assert_true(handles[0] != handles[1]);
	assert_int_equal(depends, handles[0]);
	unload(&trace);
}

// As where there is nothing to acquire.
static int success_without_event(void *argument)
{
	(void)argument;
	static char nothing;
	cl_event event = (cl_event)&nothing;
	if (!begin())
		return 60;
	shared = make_queue(0);
	gives_no_event = true;
	launch(shared, 0, NULL, &event);
	cl->clFinish(shared);
	return event == (cl_event)&nothing ? 0 : 65;
}

static void a_driver_may_give_no_event(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", success_without_event, NULL), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_command_has_its_times_once, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(forks_find_the_helper_outside_of_the_driver, set_up,
		                                tear_down),
		cmocka_unit_test(times_survive_an_early_release),
		cmocka_unit_test_setup_teardown(helper_comes_when_the_driver_starts_a_thread,
		                                set_up, tear_down),
		cmocka_unit_test(nothing_is_lost_before_any_wait),
		cmocka_unit_test(times_are_not_put_before_a_later_record),
#ifndef UNDER_THREAD_SANITIZER
		cmocka_unit_test_setup_teardown(handler_never_waits_for_its_own_thread, set_up,
		                                tear_down),
#endif
		cmocka_unit_test_setup_teardown(events_may_end_while_they_are_waited_for, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_command_does_not_depend_on_itself, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_driver_may_give_no_event, set_up, tear_down),
	};
	if (argc > 1 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests_name("opencl_threads", tests, NULL, NULL);
}
