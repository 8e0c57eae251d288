// SPDX-License-Identifier: Apache-2.0
// The host's clock of backends whose devices are real (host_now, host_pause of struct
// tare_backend).
#pragma once
#include "backend/backend.h"

struct tare_host_time tare_backend_host_now(struct tare_device *device);
void tare_backend_host_pause(struct tare_device *device, int64_t ns);
