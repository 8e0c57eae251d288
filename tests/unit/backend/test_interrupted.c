// SPDX-License-Identifier: Apache-2.0
// Who wants to stop does not wait for a driver: builds and waits are left, and the device with
// them.
#include "backend/call.h"
#include "base/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static sem_t go_on, ended, never;
static volatile sig_atomic_t wanted;
static char seen[16];
static pthread_t built_by;
static pid_t tested;

static int build(struct tare_device *device, const struct tare_module_source *source,
                 struct tare_module **module, char **log, struct tare_error *error)
{
	(void)device;
	(void)module;
	(void)log;
	built_by = pthread_self();
	// A terminal tells the whole group. Who dies of it has its parent build once more.
	if (getpid() != tested) {
		raise(SIGINT);
		raise(SIGTERM);
	}
	sem_wait(&go_on);
	memcpy(seen, source->data, source->bytes);
	sem_post(&ended);
	return tare_fail(error, EINVAL, "it does not build");
}

static int finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error)
{
	(void)queue;
	(void)limit_ns;
	return tare_fail(error, EINTR, "interrupted");
}

static const struct tare_backend backend = {
	.title = "Stub", .builds_anywhere = true, .module_create = build, .finish = finish
};

static int set_up(void **state)
{
	(void)state;
	sem_init(&go_on, 0, 0);
	sem_init(&ended, 0, 0);
	wanted = 0;
	tested = getpid();
	memset(seen, 0, sizeof seen);
	tare_interrupt_watch(&wanted);
	return 0;
}

static void *idle(void *context)
{
	while (sem_wait(&never) != 0)
		continue;
	return context;
}

// As drivers do, but for those that work in the calling thread.
static int set_up_threads(void **state)
{
	static pthread_t thread;

	if (!thread)
		assert_int_equal(pthread_create(&thread, NULL, idle, NULL), 0);
	return set_up(state);
}

static int tear_down(void **state)
{
	(void)state;
	tare_interrupt_watch(NULL);
	return 0;
}

static void a_build_that_nobody_stops_tells_what_the_driver_said(void **state)
{
	struct tare_device device = { .backend = &backend };
	struct tare_module_source source = { .data = "text", .bytes = 4 };
	struct tare_module *module = NULL;
	struct tare_error error = { 0 };

	(void)state;
	sem_post(&go_on);
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINVAL);
	assert_string_equal(error.message, "it does not build");
	assert_string_equal(seen, "text");
	assert_false(device.lost);
	assert_false(pthread_equal(built_by, pthread_self()));
}

// The first case: what is measured in a process with one thread is not what it is with two.
static void a_process_with_one_thread_keeps_one(void **state)
{
	struct tare_device device = { .backend = &backend };
	struct tare_module_source source = { .data = "text", .bytes = 4 };
	struct tare_module *module = NULL;
	struct tare_error error = { 0 };

	(void)state;
	sem_post(&go_on);
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINVAL);
	assert_true(pthread_equal(built_by, pthread_self()));
}

// A child that can build as well does so first, and can be stopped: nobody lets its build go on.
static void a_process_with_one_thread_lets_a_child_build(void **state)
{
	struct tare_device device = { .backend = &backend, .child_builds = true };
	struct tare_module_source source = { .data = "text", .bytes = 4 };
	struct tare_module *module = NULL;
	struct tare_error error = { 0 };

	(void)state;
	sem_post(&go_on);
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINVAL);
	assert_true(pthread_equal(built_by, pthread_self()));
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	wanted = 1;
	memset(seen, 0, sizeof seen);
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINTR);
	assert_string_equal(seen, "");
	assert_true(device.lost);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
}

static void a_build_that_goes_on_is_left(void **state)
{
	static struct tare_device device;
	char text[] = "text";
	struct tare_module_source source = { .data = text, .bytes = 4 };
	struct tare_module *module = NULL;
	struct tare_error error = { 0 };

	(void)state;
	device = (struct tare_device){ .backend = &backend };
	wanted = 1;
	// The driver is at it until it is let go below.
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINTR);
	assert_true(device.lost);
	memset(text, 'x', 4); // the build has its own
	sem_post(&go_on);
	sem_wait(&ended);
	assert_string_equal(seen, "text");
	assert_int_equal(tare_module_create(&device, &source, &module, NULL, &error), -EINTR);
}

static void a_device_whose_work_is_left_is_given_up(void **state)
{
	struct tare_device device = { .backend = &backend };
	struct tare_queue queue = { .device = &device };
	struct tare_error error = { 0 };

	(void)state;
	assert_int_equal(tare_finish(&queue, TARE_LIMIT_DEFAULT_NS, &error), -EINTR);
	assert_true(device.lost);
}

static void nothing_is_due_before_it_is_wanted(void **state)
{
	(void)state;
	assert_false(tare_interrupt_wanted());
	assert_false(tare_interrupt_due());
	wanted = 1;
	assert_true(tare_interrupt_wanted());
	// What is nearly done may come to its end.
	assert_false(tare_interrupt_due());
	// The second counts from the signal, whenever somebody looks.
	tare_interrupt_watch(&wanted);
	tare_interrupt_note();
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 50000000 }, NULL);
	assert_true(tare_interrupt_due());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_with_one_thread_keeps_one, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_process_with_one_thread_lets_a_child_build,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_build_that_nobody_stops_tells_what_the_driver_said, set_up_threads,
		    tear_down),
		cmocka_unit_test_setup_teardown(a_build_that_goes_on_is_left, set_up_threads,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_device_whose_work_is_left_is_given_up, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_due_before_it_is_wanted, set_up,
		                                tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
