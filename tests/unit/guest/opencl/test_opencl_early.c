// SPDX-License-Identifier: Apache-2.0
// What the OpenCL layer keeps of commands until their times can be had: taken early from a driver
// that executes a command in the call that enqueues it, left alone where one is behind; pushed by
// the thread that owns a queue's ring and by others.
#include "guest/opencl/layer.h"

#include "opencl_threads_rig.h"
#include "opencl_threads_trace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { COMMANDS = 2000, FEW = 64 };

static const size_t one[] = { 1 };

static cl_command_queue make_queue(void)
{
	cl_int error;
	return cl->clCreateCommandQueue((cl_context)&context, (cl_device_id)&device, 0, &error);
}

static void launch(cl_command_queue queue)
{
	cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&kernel, 1, NULL, one, NULL, 0, NULL, NULL);
}

// The driver completes this one, and what was enqueued before it, at once.
static void write_at_once(cl_command_queue queue)
{
	static const char host[4];
	cl->clEnqueueWriteBuffer(queue, (cl_mem)&buffer, CL_FALSE, 0, sizeof host, host, 0, NULL,
	                         NULL);
}

static void check_trace(size_t commands_in_it)
{
	struct guest_trace trace = { 0 };
	assert_int_equal(load_files(folder, &trace, 1), 1);
	assert_true(is_complete_trace(&trace, commands_in_it));
	assert_int_equal(trace.header->pending, 0);
	unload(&trace);
}

static int complete_in_the_call(void *argument)
{
	if (!begin())
		return 60;
	if (*(bool *)argument)
		start_idle_thread();
	cl_command_queue queue = make_queue();
	size_t most = 0;
	for (int i = 0; i < COMMANDS; i++) {
		write_at_once(queue);
		size_t living = living_events();
		most = living > most ? living : most;
	}
	if (most > FEW)
		return 61;
	cl->clFinish(queue);
	return no_event_lives() ? 0 : 62;
}

static void few_events_live_where_a_command_ends_in_its_call(void **state)
{
	(void)state;
	for (int threads = 0; threads < 2; threads++) {
		bool more = threads != 0;
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", complete_in_the_call, &more), 0);
		check_trace(COMMANDS);
		tear_down(NULL);
	}
}

static int complete_later(void *argument)
{
	(void)argument;
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue();
	for (int i = 0; i < COMMANDS; i++)
		launch(queue);
	if (asked_in_vain > COMMANDS / 8)
		return 61;
	cl->clFinish(queue);
	return no_event_lives() ? 0 : 62;
}

static void a_driver_that_is_behind_is_asked_rarely(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", complete_later, NULL), 0);
	check_trace(COMMANDS);
}

// Where all were complete it is looked often again.
static int catch_up(void *argument)
{
	(void)argument;
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue();
	for (int i = 0; i < COMMANDS / 2; i++)
		launch(queue);
	for (int i = 0; i < COMMANDS; i++)
		write_at_once(queue);
	if (living_events() > FEW)
		return 61;
	cl->clFinish(queue);
	return no_event_lives() ? 0 : 62;
}

static void a_driver_that_catches_up_is_looked_at_again(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", catch_up, NULL), 0);
	check_trace(COMMANDS / 2 + COMMANDS);
}

static void *launch_some(void *queue)
{
	for (int i = 0; i < COMMANDS / 4; i++)
		launch(queue);
	return NULL;
}

// The second thread waits for a part of it, too: what it harvests is the owner's as well.
static void *launch_and_finish(void *queue)
{
	launch_some(queue);
	cl->clFinish(queue);
	return launch_some(queue);
}

static int push_in_turn(void *argument)
{
	pthread_t other;
	(void)argument;
	if (!begin())
		return 60;
	cl_command_queue queue = make_queue();
	launch_some(queue);
	if (pthread_create(&other, NULL, launch_and_finish, queue) != 0)
		return 61;
	launch_some(queue);
	pthread_join(other, NULL);
	cl->clFinish(queue);
	return no_event_lives() ? 0 : 62;
}

static void threads_that_share_a_queue_lose_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", push_in_turn, NULL), 0);
	check_trace(COMMANDS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_events_live_where_a_command_ends_in_its_call),
		cmocka_unit_test_setup_teardown(a_driver_that_is_behind_is_asked_rarely, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_driver_that_catches_up_is_looked_at_again, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(threads_that_share_a_queue_lose_nothing, set_up,
		                                tear_down),
	};
	if (argc > 1 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests_name("opencl_early", tests, NULL, NULL);
}
