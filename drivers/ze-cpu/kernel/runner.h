// SPDX-License-Identifier: Apache-2.0
// Threads that call the OpenCL device. A kernel that faults may take its thread away for ever, or
// the thread that waits for it; so no queue's own thread does that.
#pragma once
#include "module/opencl.h"

#include <level_zero/ze_api.h>

struct runner;

// Something to do on a runner.
struct errand {
	ze_result_t (*go)(struct errand *errand, const struct cpu_opencl *opencl,
	                  struct runner *runner);
	// Drops the runner's hold on the errand, when it is through with it.
	void (*leave)(struct errand *errand);
	const char *kernel; // its name
};

// Does the errand on a runner and waits for it. ZE_RESULT_ERROR_DEVICE_LOST when its kernel
// trapped, and as soon as any kernel traps that its thread cannot leave: the runner may then use
// the errand for ever. Else what `go` returned. Any thread.
ze_result_t runner_run(struct errand *errand, const struct cpu_opencl *opencl);

// Runs a kernel in the runner's own command queue, and waits for it; for errands. The dimensions
// are three. What OpenCL says; CL_DEVICE_NOT_AVAILABLE where the process ends.
cl_int runner_launch(struct runner *runner, cl_kernel kernel, const size_t *offset,
                     const size_t *global, const size_t *local);
// A launch may be at the compiler still, which comes before its kernel runs. Where exit() is called
// in a signal handler, that thread holds none of its locks: runners do, and they take no signals.
bool runner_compiles(void);

// Makes every runner_run return; called in a signal handler.
void runner_wake_all(void);
// A kernel trapped, in the function of the OpenCL device that is called so: the launches of it that
// are under way come to nothing. NULL or a name of no kernel: all are. Called in a signal handler.
void runner_trapped(const char *function);
