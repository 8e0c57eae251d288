// SPDX-License-Identifier: Apache-2.0
#include "kernel/runner.h"
#include "kernel/ending.h"
#include "kernel/trap.h"
#include "ze_cpu.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct runner {
	// of all; never taken out, so that a signal handler may walk them
	struct runner *next;
	struct runner *next_idle; // under runners_lock
	sem_t work, done;
	struct errand *errand;
	const struct cpu_opencl *opencl;
	cl_command_queue queue;
	ze_result_t result;
	atomic_bool finished;
	_Atomic uint64_t kernel;    // a hash of the name of the kernel under way; 0: there is none
	atomic_bool trapped;        // it faulted
	atomic_bool launching;      // runner_launch is at work
	pthread_mutex_t event_lock; // so that nobody asks after an event that is released
	cl_event event;             // of the launch; written by OpenCL when it takes it
};

static _Atomic(struct runner *) runners;
static struct runner *idle;
static pthread_mutex_t runners_lock = PTHREAD_MUTEX_INITIALIZER;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

// FNV-1a. A hash, since a signal handler compares it while the name may be freed.
static uint64_t hash(const char *name, size_t length)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		value = (value ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return value ? value : 1;
}

static void do_errand(struct runner *runner, struct errand *errand)
{
	atomic_store(&runner->trapped, false);
	atomic_store(&runner->kernel, hash(errand->kernel, strlen(errand->kernel)));
	runner->result = errand->go(errand, runner->opencl, runner);
	atomic_store(&runner->kernel, 0);
	if (atomic_load(&runner->trapped))
		runner->result = ZE_RESULT_ERROR_DEVICE_LOST;
}

cl_int runner_launch(struct runner *runner, cl_kernel kernel, const size_t *offset,
                     const size_t *global, const size_t *local)
{
	const cl_icd_dispatch *cl = runner->opencl->cl;

	atomic_store(&runner->launching, true);
	cl_int code = ending_begun() ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
	if (!code)
		code = cl->clEnqueueNDRangeKernel(runner->queue, kernel, 3, offset, global, local,
		                                  0, NULL, &runner->event);
	if (!code)
		code = cl->clWaitForEvents(1, &runner->event);
	pthread_mutex_lock(&runner->event_lock);
	cl_event event = runner->event;
	runner->event = NULL;
	atomic_store(&runner->launching, false);
	pthread_mutex_unlock(&runner->event_lock);
	if (event)
		cl->clReleaseEvent(event);
	ending_launched();
	return code;
}

static bool compiles(struct runner *runner)
{
	cl_int status = CL_QUEUED;

	pthread_mutex_lock(&runner->event_lock);
	bool launching = atomic_load(&runner->launching);
	cl_event event = __atomic_load_n(&runner->event, __ATOMIC_ACQUIRE);
	if (launching && event)
		runner->opencl->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
		                                   sizeof status, &status, NULL);
	pthread_mutex_unlock(&runner->event_lock);
	// Submitted is not yet running.
	return launching && status > CL_RUNNING;
}

bool runner_compiles(void)
{
	for (struct runner *runner = atomic_load(&runners); runner; runner = runner->next)
		if (compiles(runner))
			return true;
	return false;
}

static void *runner_thread(void *argument)
{
	struct runner *runner = argument;
	cl_int code;

	runner->queue = runner->opencl->cl->clCreateCommandQueue(runner->opencl->context,
	                                                         runner->opencl->device, 0, &code);
	for (;;) {
		wait_for(&runner->work);
		struct errand *errand = runner->errand;
		runner->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		if (runner->queue)
			do_errand(runner, errand);
		errand->leave(errand);
		atomic_store(&runner->finished, true);
		sem_post(&runner->done);
	}
	return NULL;
}

static struct runner *runner_new(const struct cpu_opencl *opencl)
{
	struct runner *runner = calloc(1, sizeof *runner);
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t mask;

	if (!runner)
		return NULL;
	runner->opencl = opencl;
	sem_init(&runner->work, 0, 0);
	sem_init(&runner->done, 0, 0);
	pthread_mutex_init(&runner->event_lock, NULL);
	// Some OpenCL devices run kernels on the thread that asks for them.
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, CPU_OPENCL_STACK_BYTES);
	trap_block_signals(&mask);
	int failed = pthread_create(&thread, &attributes, runner_thread, runner);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attributes);
	if (failed) {
		free(runner);
		return NULL;
	}
	pthread_detach(thread);
	struct runner *first = atomic_load(&runners);
	do
		runner->next = first;
	while (!atomic_compare_exchange_weak(&runners, &first, runner));
	return runner;
}

void runner_wake_all(void)
{
	for (struct runner *runner = atomic_load(&runners); runner; runner = runner->next)
		sem_post(&runner->done);
}

// PoCL's functions are _pocl_kernel_NAME_workgroup and the like. 0: it is none of them.
static uint64_t hash_of_function(const char *function)
{
	static const char before[] = "_pocl_kernel_", behind[] = "_workgroup";
	const char *end = NULL;

	if (!function || strncmp(function, before, sizeof before - 1) != 0)
		return 0;
	function += sizeof before - 1;
	for (const char *at = function; (at = strstr(at, behind)) != NULL; at++)
		end = at;
	return hash(function, end ? (size_t)(end - function) : strlen(function));
}

void runner_trapped(const char *function)
{
	uint64_t kernel = hash_of_function(function);
	bool any = false;

	for (int all = kernel == 0; all < 2 && !any; all++)
		for (struct runner *runner = atomic_load(&runners); runner; runner = runner->next) {
			uint64_t own = atomic_load(&runner->kernel);
			if (own == 0 || (!all && own != kernel))
				continue;
			atomic_store(&runner->trapped, true);
			any = true;
		}
}

static ze_result_t lose_device(void)
{
	pthread_mutex_lock(&work_lock);
	cpu_device.lost = true;
	cpu_changed_for_all();
	pthread_mutex_unlock(&work_lock);
	return ZE_RESULT_ERROR_DEVICE_LOST;
}

ze_result_t runner_run(struct errand *errand, const struct cpu_opencl *opencl)
{
	pthread_mutex_lock(&runners_lock);
	struct runner *runner = idle;
	if (runner)
		idle = runner->next_idle;
	pthread_mutex_unlock(&runners_lock);
	if (!runner)
		runner = runner_new(opencl);
	if (!runner) {
		errand->leave(errand);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	runner->errand = errand;
	atomic_store(&runner->finished, false);
	trap_launch_begins();
	sem_post(&runner->work);
	while (!atomic_load(&runner->finished) && !trap_happened())
		wait_for(&runner->done);
	trap_launch_ends();
	if (trap_happened())
		return lose_device();
	ze_result_t result = runner->result;
	pthread_mutex_lock(&runners_lock);
	runner->next_idle = idle;
	idle = runner;
	pthread_mutex_unlock(&runners_lock);
	return result;
}
