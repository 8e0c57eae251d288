// SPDX-License-Identifier: Apache-2.0
// A kernel that never ends: what waits for it gives up at its limit, also on a device that runs
// kernels inside the call that launches them. In a process of its own, because the driver's
// threads never end; the device is the first one of the driver that POCL_DEVICES names.
#include "backend/call.h"
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_NS INT64_C(1000000000)

// What the child found, in the parent's pipe.
struct report {
	bool tested;      // there is a device
	bool inside_call; // it runs kernels inside the launching call
	int first, again; // status of the launch and its wait, and of one more launch
	bool healthy;     // a kernel that ends did so, in the same way
	char message[512];
};

static const struct tare_backend *backend;
static struct tare_error error;

static const char program[] =
    "kernel void turn(global volatile int *flag) { while (flag[0] == 0) ; flag[1] = 7; }\n";

static int launch(struct tare_queue *queue, struct tare_kernel *kernel, struct tare_memory *memory,
                  int64_t limit_ns)
{
	struct tare_argument argument = { .type = TARE_ARGUMENT_MEMORY, .span = { memory, 0, 0 } };
	struct tare_operation operation = { .type = TARE_OPERATION_LAUNCH };
	struct tare_event *event = NULL;

	operation.launch = (struct tare_launch){ kernel, { 1, 1, 1 }, { 1, 1, 1 }, &argument, 1 };
	int rc = tare_append(queue, &operation, &event, &error);
	if (rc == 0)
		rc = tare_submit(queue, &error);
	if (rc == 0)
		rc = tare_event_wait(event, limit_ns, &error);
	if (rc == 0)
		rc = tare_event_stamps(event, &(struct tare_stamps){ 0 }, &error);
	return rc < 0 ? rc : tare_finish(queue, limit_ns, &error);
}

static int set_flag(struct tare_queue *queue, struct tare_memory *memory, int flag)
{
	struct tare_operation fill = { .type = TARE_OPERATION_FILL,
		                       .destination = { memory, 0, 64 },
		                       .fill = { &flag, sizeof flag } };
	int rc = tare_append(queue, &fill, NULL, &error);
	return rc < 0 ? rc : tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error);
}

static int try(struct report *report)
{
	struct tare_module_source source = { .format = TARE_MODULE_OPENCL_C,
		                             .data = program,
		                             .bytes = sizeof program - 1 };
	struct tare_driver *driver = NULL;
	struct tare_device *device = NULL;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_queue *queue = NULL;
	struct tare_memory *memory = NULL;
	int rc = backend->driver_open(NULL, &driver, &error);

	if (rc == 0)
		rc = backend->device_open(driver, 0, &device, &error);
	if (rc < 0)
		return rc;
	report->tested = true;
	report->inside_call = ((struct opencl_device *)device)->runs_inside_calls;
	rc = tare_module_create(device, &source, &module, NULL, &error);
	if (rc == 0)
		rc = tare_kernel_create(module, "turn", &kernel, &error);
	if (rc == 0)
		rc = tare_queue_create(device, &(struct tare_queue_options){ .timed = true },
		                       &queue, &error);
	if (rc == 0)
		rc = tare_memory_create(device, TARE_MEMORY_DEVICE, 64, &memory, &error);
	if (rc == 0)
		rc = set_flag(queue, memory, 1);
	if (rc < 0)
		return rc;
	// The first launch compiles, which on a busy machine takes as long as it takes.
	report->healthy = launch(queue, kernel, memory, TARE_LIMIT_DEFAULT_NS) == 0 &&
	                  launch(queue, kernel, memory, TARE_LIMIT_DEFAULT_NS) == 0 &&
	                  set_flag(queue, memory, 0) == 0;
	((struct opencl_device *)device)->launch_limit_ns = LIMIT_NS;
	report->first = launch(queue, kernel, memory, LIMIT_NS);
	snprintf(report->message, sizeof report->message, "%s", error.message);
	report->again = launch(queue, kernel, memory, LIMIT_NS);
	tare_device_abandon(device);
	return 0;
}

static void an_endless_kernel_is_given_up_at_the_limit(void **state)
{
	struct report report = { .tested = false };
	int ends[2], status;
	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(90); // a wait without a limit ends the child, and the test fails
		int rc = try(&report);
		if (rc < 0)
			snprintf(report.message, sizeof report.message, "%s", error.message);
		bool written = write(ends[1], &report, sizeof report) == sizeof report;
		_exit(!written);
	}
	close(ends[1]);
	ssize_t bytes = read(ends[0], &report, sizeof report);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (bytes != (ssize_t)sizeof report)
		fail_msg("the child was ended by signal %d: a wait had no limit", WTERMSIG(status));
	if (!report.tested) {
		printf("# SKIP %s: %s\n", __func__, report.message);
		return;
	}
	if (!report.healthy)
		fail_msg("a kernel that ends did not: %s", report.message);
	assert_int_equal(report.first, -ETIMEDOUT);
	assert_int_equal(report.again, -ETIMEDOUT);
	assert_non_null(strstr(report.message, "not done after 1 s"));
	printf("# %s\n", report.message);
	if (report.inside_call)
		assert_non_null(strstr(report.message, "runs kernels inside the call"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_endless_kernel_is_given_up_at_the_limit),
	};
	backend = tare_backend_find("opencl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
