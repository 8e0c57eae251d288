// SPDX-License-Identifier: Apache-2.0
// The device's own: what it is, as a script says it or as this CPU is.
#pragma once
#include "ze_cpu.h"

#include "model/script/script_levelzero.h"

// Describes this machine's CPU: one compute engine, two copy engines, timers of 1 GHz (56 bits for
// kernels, 64 that can be read). What the system does not tell stays 0.
void device_script_of_cpu(struct tare_script *script);

// The program asked for GPUs only (ZE_INIT_FLAG_GPU_ONLY): the device then says that it is one, or
// such programs would never see it. Any thread.
void device_pose_as_gpu(void);
