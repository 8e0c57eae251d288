// SPDX-License-Identifier: Apache-2.0
// Threads that call the OpenCL device. A kernel that faults may take its thread away for ever, or the
// thread that waits for it; so no queue's own thread does that.
#pragma once
#include "opencl.h"

#include <level_zero/ze_api.h>

// Something to do with a command queue of the runner's own.
struct errand {
	ze_result_t (*go)(struct errand *errand, const struct cpu_opencl *opencl, cl_command_queue queue);
	// Drops the runner's hold on the errand, when it is through with it.
	void (*leave)(struct errand *errand);
	const char *kernel;  // its name
};

// Does the errand on a runner and waits for it. ZE_RESULT_ERROR_DEVICE_LOST when its kernel trapped,
// and as soon as any kernel traps that its thread cannot leave: the runner may then use the errand
// for ever. Else what `go` returned. Any thread.
ze_result_t runner_run(struct errand *errand, const struct cpu_opencl *opencl);

// Makes every runner_run return; called in a signal handler.
void runner_wake_all(void);
// A kernel trapped, in the function of the OpenCL device that is called so: the launches of it that
// are under way come to nothing. NULL or a name of no kernel: all are. Called in a signal handler.
void runner_trapped(const char *function);
