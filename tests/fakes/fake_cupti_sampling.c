// SPDX-License-Identifier: Apache-2.0
// The sampling of a device by the stand-in for CUPTI, by what an H200 with CUPTI 13 does: it knows
// nothing of contexts and programs, samples lie behind one another on the device's global timer
// (fake_cuda.h), and an image without room for all is told.
// The device is busy in every other period of FAKE_SAMPLING_PERIOD_NS of the timer: there a share
// is fake_cupti_value, and bytes are as many a nanosecond. Else all are 0. A sample that lies in
// both has its part.
//
// TARE_FAKE_CUPTI may hold, beside what fake_cupti_profiler.c says: overflow=N (the Nth look at
// samples finds that some were lost), full (each finds that a record overflowed), unsteady (the
// samples' clock is no other's).

#include "backend/cuda/sampling/cupti_abi.h"
#include "fake_cuda.h"
#include "fake_cupti.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DECLARE(name, structure, last)                                                             \
	FAKE_CUPTI_EXPORT cupti_result name(struct structure *parameters);
SAMPLING_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID_PARAMETER = 1, MAGIC = 0x736d };

struct image {
	uint32_t magic, count, most;
	struct fake_sample {
		int64_t from, to;
	} samples[];
};

static struct {
	bool enabled, configured, started;
	int64_t interval, next, end; // end: when it was stopped; 0: it was not
	uint32_t most, looks;
} self;

static int word(const char *name)
{
	const char *words = getenv("TARE_FAKE_CUPTI"), *found = words ? strstr(words, name) : NULL;
	return !found ? 0 : found[strlen(name)] == '=' ? atoi(found + strlen(name) + 1) : 1;
}

static int64_t timer_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + FAKE_CUDA_TIMER_NS +
	       (word("unsteady") ? INT64_C(3600000000000) : 0);
}

// How much of the time before a moment was busy.
static int64_t busy_before(int64_t at)
{
	int64_t rest = at % (2 * FAKE_SAMPLING_PERIOD_NS);
	return at / (2 * FAKE_SAMPLING_PERIOD_NS) * FAKE_SAMPLING_PERIOD_NS +
	       (rest < FAKE_SAMPLING_PERIOD_NS ? rest : FAKE_SAMPLING_PERIOD_NS);
}

bool fake_cupti_sampled(const void *data, size_t index, const char *metric, double *value)
{
	const struct image *image = data;
	const struct fake_sample *sample;
	double busy;
	if (image->magic != MAGIC || index >= image->count)
		return false;
	sample = &image->samples[index];
	busy = (double)(busy_before(sample->to) - busy_before(sample->from));
	*value = fake_cupti_value(metric, "") * busy /
	         (strstr(metric, ".pct") ? (double)(sample->to - sample->from) : 1);
	return true;
}

cupti_result cuptiPmSamplingGetCounterAvailability(struct sampling_availability *parameters)
{
	parameters->image_bytes = 16;
	return parameters->device == 0 ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiPmSamplingEnable(struct sampling_enable *parameters)
{
	if (word("refuse"))
		return word("refuse");
	if (self.enabled)
		return ABI_CUPTI_INVALID_OPERATION;
	self.enabled = true;
	parameters->sampling = &self;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingDisable(struct sampling_one *parameters)
{
	if (parameters->sampling != &self || self.started)
		return INVALID_PARAMETER;
	memset(&self, 0, sizeof self);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingSetConfig(struct sampling_config *parameters)
{
	if (!self.enabled || self.started || parameters->trigger != ABI_SAMPLING_BY_TIME ||
	    !parameters->buffer_bytes || parameters->interval < 1000)
		return INVALID_PARAMETER;
	self.interval = (int64_t)parameters->interval;
	self.configured = true;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingStart(struct sampling_one *parameters)
{
	if (parameters->sampling != &self || !self.configured || self.started)
		return INVALID_PARAMETER;
	self.started = true;
	self.next = timer_ns();
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingStop(struct sampling_one *parameters)
{
	if (parameters->sampling != &self || !self.started)
		return INVALID_PARAMETER;
	self.started = false;
	self.end = timer_ns();
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingGetCounterDataSize(struct sampling_data_bytes *parameters)
{
	self.most = parameters->samples;
	parameters->data_bytes = sizeof(struct image) + self.most * sizeof(struct fake_sample);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingCounterDataImageInitialize(struct sampling_data_begin *parameters)
{
	struct image *image = (void *)parameters->data;
	*image = (struct image){ .magic = MAGIC, .most = self.most };
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingDecodeData(struct sampling_decode *parameters)
{
	struct image *image = (void *)parameters->data;
	int64_t until = self.end ? self.end : timer_ns();
	if (image->magic != MAGIC || image->count)
		return INVALID_PARAMETER;
	if (word("full"))
		return ABI_CUPTI_OUT_OF_MEMORY;
	parameters->overflow = ++self.looks == (uint32_t)word("overflow");
	if (parameters->overflow)
		self.next += (until - self.next) / self.interval / 2 * self.interval;
	while (self.next + self.interval <= until && image->count < image->most) {
		image->samples[image->count++] =
		    (struct fake_sample){ self.next, self.next + self.interval };
		self.next += self.interval;
	}
	parameters->reason = self.next + self.interval <= until ? ABI_SAMPLING_FULL : 2;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingGetCounterDataInfo(struct sampling_data_info *parameters)
{
	const struct image *image = (const void *)parameters->data;
	parameters->samples = image->most;
	parameters->begun = parameters->complete = image->count;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPmSamplingCounterDataGetSampleInfo(struct sampling_sample *parameters)
{
	const struct image *image = (const void *)parameters->data;
	if (parameters->index >= image->count)
		return INVALID_PARAMETER;
	parameters->start = (uint64_t)image->samples[parameters->index].from;
	parameters->end = (uint64_t)image->samples[parameters->index].to;
	return ABI_CUPTI_SUCCESS;
}
