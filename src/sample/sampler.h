// SPDX-License-Identifier: Apache-2.0
// What the process does that samples.
#pragma once
#include "sample/sample.h"

// The message that it sends when it samples, or cannot, and again when it has ended.
struct sampler_job {
	const char *backend, *folder;
	uint32_t index;
	uint64_t interval_ns;
	int orders; // ends when this is closed
	int news;   // a struct tare_sampling_end is written to it, twice
};
void tare_sampler_run(const struct sampler_job *job);
