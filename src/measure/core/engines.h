// SPDX-License-Identifier: Apache-2.0
// Which engine a queue is made for, on an API that binds queues to engines (Level Zero). On all
// others every function here gives engine 0, which leaves the choice to the API.
#pragma once
#include "backend/backend.h"

enum tare_engine_use {
	TARE_USE_KERNELS,   // the first compute engine
	TARE_USE_TO_DEVICE, // the first copy engine; where there is none, as kernels
	TARE_USE_TO_HOST,   // the second copy engine, so that both directions can run at once; else
	                    // as TO_DEVICE
};

// Index into the device's list of engines.
uint32_t tare_engine_for(struct tare_device *device, enum tare_engine_use use);
// The engine of "ORDINAL" or "ORDINAL.INDEX", as the titles of the device's engines have them. 0;
// -EINVAL with a sentence that lists the engines, or says that this API chooses itself.
int tare_engine_named(struct tare_device *device, const char *word, uint32_t *engine,
                      struct tare_error *error);
// "ordinal 1, copy 0", or "" where there is no such engine. Returns title.
const char *tare_engine_title(struct tare_device *device, uint32_t engine, char title[48]);
