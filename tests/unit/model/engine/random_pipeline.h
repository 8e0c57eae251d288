// SPDX-License-Identifier: Apache-2.0
// Random devices with a pipeline to overlap on them, and what is true of each: as the text of a
// script for `--device simulated:FILE`, and by the engine model itself.
#pragma once
#include "model/engine/engine.h"
#include "model/engine/prediction.h"

#include <stdbool.h>
#include <stdint.h>

// Layouts that `index` goes through.
enum random_layout {
	RANDOM_THREE_ENGINES,
	RANDOM_ONE_COPY_ENGINE,
	RANDOM_KERNEL_WITH_COPY_IN, // one engine runs both
	RANDOM_KERNEL_WITH_COPY_OUT,
	RANDOM_ONE_ENGINE,   // for everything: overlapping cannot pay
	RANDOM_SHORT_KERNEL, // one copy engine and hardly a kernel: does not pay
	RANDOM_HALF_DUPLEX,  // copies halve each other, hardly a kernel: does not pay
	RANDOM_LAYOUTS
};

struct random_pipeline {
	enum random_layout layout;
	char text[2048];           // the script
	struct tare_script script; // the same, read
	struct tare_pipeline_work work;
	// of kernel `overlap_register`, which makes the drawn kernel : copy
	uint32_t cycles;
	uint32_t engines;  // stages that can be in progress at once
	uint32_t apart[3]; // pairs that never are, as modes in ascending order
	size_t apart_count;
	bool pays; // some schedule is more than 10 % faster than serial; if not, none
	           // is more than 2 %
};

// Draws one. With `equal_sizes` an item has 4 bytes in and 4 out, as tare's own kernel has. Fails
// the test when its own script is refused.
void random_pipeline_make(uint64_t seed, uint32_t index, bool equal_sizes,
                          struct random_pipeline *pipeline);

// Host time of a schedule by the engine model and the script's host costs: each operation is
// appended (and its event, where another one waits for it) and the last completion wakes the host.
double random_pipeline_run_ns(const struct random_pipeline *pipeline,
                              const struct tare_schedule *schedule);

// What measuring the device would give: points, modes and host costs, but no gaps or switches.
void random_pipeline_calibrate(const struct random_pipeline *pipeline,
                               struct tare_calibration *calibration);
