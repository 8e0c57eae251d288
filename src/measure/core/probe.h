// SPDX-License-Identifier: Apache-2.0
// Whether an open device does what it is given, before anything is measured on it.
#pragma once
#include "backend/backend.h"

// Copies random bytes to the device and back and looks at them, with a limit of a few seconds; once
// for each opening, and only where the backend needs it. -ENODEV, with one sentence: they were not
// copied in time (the device is then abandoned) or are not what they were. What a device refuses
// altogether is none of this: whoever measures it says so.
int tare_probe(struct tare_device *device, struct tare_error *error);
