// SPDX-License-Identifier: Apache-2.0
// The range profiler of the stand-in for CUPTI, by what an H200 with CUPTI 13 does:
//  - a metric that the chip does not have is refused, and the whole call with it;
//  - an image for values is made for the metrics whose size was asked for last: of another size it
//    is refused;
//  - what an enabled profiler counted first it counts for ever: values of others are no numbers;
//  - metrics that are added together share passes, what is added later begins a new one; in user
//    replay each start counts the next pass, and values of the others are no numbers;
//  - each launch between start and stop is a range; those beyond the most are lost without a word;
//  - a graph's launch is a range only between a push and a pop, which comes when the work is done;
//    where kernels are ranges the stop fails; what is counted by code in kernels is 0 there;
//  - started while a stream captures, it breaks the capture: here that ends the program.
// A value follows from the metric's and the kernel's name (fake_cupti_value), so that tests know
// it.
//
// TARE_FAKE_CUPTI may hold: refuse=CODE (of the enabling), lacks=WORD (metrics with this in their
// names are not there), merges (all metrics share passes), pass=N (so many metrics a pass; default
// 24), instructions=N (that each launch executes, by warps), fail=N (of so many starts each last
// one fails), slow (other threads' launches may come before the one that is meant).
#include "backend/cuda/cupti_profiler_abi.h"
#include "fake_cupti.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECLARE(name, structure, last)                                                             \
	FAKE_CUPTI_EXPORT cupti_result name(struct structure *parameters);
PROFILER_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID_PARAMETER = 1, UNKNOWN = 999, MOST = 64, NAME = 128 };

struct host {
	char names[MOST][NAME];
	uint32_t pass_of[MOST];
	size_t count;
	uint32_t passes;
};
struct config {
	uint32_t magic, passes, count;
	uint64_t hashes[MOST];
	uint32_t pass_of[MOST];
};
struct data {
	uint32_t magic, ranges, count, counted,
	    passes; // passes: those that were counted, a bit each
	uint64_t hashes[MOST];
	uint32_t most;
	char kernels[4][NAME];
};
enum { CONFIG = 0x6366, DATA = 0x6474 };

static struct {
	bool enabled, started;
	pid_t process;
	const struct config *config; // the first since it was enabled
	int replay, range;
	bool pushed, worked, awaited, broken; // worked: since the push; awaited: and is done
	uint32_t pass;                        // the next, in user replay
	char name[NAME];                      // of what was launched since the push
	struct data *data;
	size_t asked_bytes; // for an image's metrics, last
	struct data asked;
	uint32_t starts;
	struct {
		int refuse, pass, fail;
		bool slow, merges;
		char lacks[32];
	} script;
} self;

static int word_value(const char *words, const char *name, int otherwise)
{
	const char *found = strstr(words, name);
	return found ? atoi(found + strlen(name)) : otherwise;
}

static void read_script(void)
{
	const char *words = getenv("TARE_FAKE_CUPTI"), *lacks;
	words = words ? words : "";
	self.script.refuse = word_value(words, "refuse=", 0);
	self.script.pass = word_value(words, "pass=", 24);
	self.script.fail = word_value(words, "fail=", 0);
	self.script.slow = strstr(words, "slow");
	self.script.merges = strstr(words, "merges");
	lacks = strstr(words, "lacks=");
	if (lacks)
		sscanf(lacks + strlen("lacks="), "%31s", self.script.lacks);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

// TARE_FAKE_COUNTS: "METRIC=VALUE ...", of each launch. Then there are no other metrics.
static bool is_told(const char *metric, double *value)
{
	const char *told = getenv("TARE_FAKE_COUNTS");
	size_t length = strlen(metric);

	for (; told && (told = strstr(told, metric)); told += length)
		if (told[length] == '=') {
			*value = atof(told + length + 1);
			return true;
		}
	return false;
}

double fake_cupti_value(const char *metric, const char *kernel)
{
	const char *words = getenv("TARE_FAKE_CUPTI");
	int instructions = word_value(words ? words : "", "instructions=", 0);

	double told;

	if (is_told(metric, &told))
		return told;
	if (instructions && strcmp(metric, "smsp__inst_executed.sum") == 0)
		return instructions;
	return (double)(hash_of(metric) % 90 + hash_of(kernel) % 9);
}

static bool is_known(const char *name)
{
	double value;

	if (getenv("TARE_FAKE_COUNTS"))
		return is_told(name, &value);
	return strstr(name, "__") && !(self.script.lacks[0] && strstr(name, self.script.lacks));
}

// ---- the host's side

cupti_result cuptiProfilerInitialize(struct profiler_plain *parameters)
{
	read_script();
	self.process = getpid();
	return parameters->bytes == ABI_PROFILER_BYTES(profiler_plain, reserved)
	           ? 0
	           : INVALID_PARAMETER;
}

cupti_result cuptiDeviceGetChipName(struct profiler_chip *parameters)
{
	parameters->chip = "FAKE1";
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerGetCounterAvailability(struct profiler_availability *parameters)
{
	parameters->image_bytes = 16;
	return parameters->context ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiProfilerHostInitialize(struct profiler_host *parameters)
{
	if (!parameters->chip || strcmp(parameters->chip, "FAKE1") != 0)
		return INVALID_PARAMETER;
	parameters->host = calloc(1, sizeof(struct host));
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerHostDeinitialize(struct profiler_host_end *parameters)
{
	free(parameters->host);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerHostConfigAddMetrics(struct profiler_metrics *parameters)
{
	struct host *host = parameters->host;
	for (size_t i = 0; i < parameters->count; i++)
		if (!is_known(parameters->names[i]))
			return INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->count && host->count < MOST; i++) {
		size_t place = self.script.merges ? host->count : i;
		bool begins = place % (size_t)self.script.pass == 0;
		host->passes += begins;
		host->pass_of[host->count] = host->passes - 1;
		snprintf(host->names[host->count++], NAME, "%s", parameters->names[i]);
	}
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerHostGetConfigImageSize(struct profiler_config_bytes *parameters)
{
	parameters->image_bytes = sizeof(struct config);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerHostGetConfigImage(struct profiler_config_image *parameters)
{
	const struct host *host = parameters->host;
	struct config config = { .magic = CONFIG, .count = (uint32_t)host->count };
	if (parameters->image_bytes < sizeof config)
		return INVALID_PARAMETER;
	config.passes = host->passes;
	for (size_t i = 0; i < host->count; i++) {
		config.hashes[i] = hash_of(host->names[i]);
		config.pass_of[i] = host->pass_of[i];
	}
	memcpy(parameters->image, &config, sizeof config);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiProfilerHostGetNumOfPasses(struct profiler_passes *parameters)
{
	parameters->passes = ((const struct config *)(void *)parameters->image)->passes;
	return ABI_CUPTI_SUCCESS;
}

static bool has(const uint64_t *hashes, uint32_t count, uint64_t hash)
{
	for (uint32_t i = 0; i < count; i++)
		if (hashes[i] == hash)
			return true;
	return false;
}

// Whether the metric is the configuration's, and its pass was counted.
static bool was_counted(const struct data *data, uint64_t hash)
{
	for (uint32_t i = 0; self.config && i < self.config->count; i++)
		if (self.config->hashes[i] == hash && data->passes >> self.config->pass_of[i] & 1)
			return has(data->hashes, data->count, hash);
	return false;
}

cupti_result cuptiProfilerHostEvaluateToGpuValues(struct profiler_values *parameters)
{
	const struct data *data = (const void *)parameters->data;
	if (parameters->count && fake_cupti_sampled(data, parameters->range, parameters->names[0],
	                                            &parameters->values[0])) {
		for (size_t i = 1; i < parameters->count; i++)
			fake_cupti_sampled(data, parameters->range, parameters->names[i],
			                   &parameters->values[i]);
		return ABI_CUPTI_SUCCESS;
	}
	if (data->magic != DATA || parameters->range >= data->ranges)
		return INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->count; i++) {
		uint64_t hash = hash_of(parameters->names[i]);
		bool there = was_counted(data, hash);
		if (!there)
			parameters->values[i] = __builtin_nan("");
		else if (self.range == ABI_PROFILER_USER_RANGE &&
		         strstr(parameters->names[i], "__sass_"))
			parameters->values[i] = 0;
		else
			parameters->values[i] = fake_cupti_value(parameters->names[i],
			                                         data->kernels[parameters->range]);
	}
	return ABI_CUPTI_SUCCESS;
}

// ---- the device's side

cupti_result cuptiRangeProfilerEnable(struct profiler_enable *parameters)
{
	if (self.script.refuse)
		return self.script.refuse;
	if (self.enabled)
		return ABI_CUPTI_INVALID_OPERATION;
	self.enabled = true;
	parameters->profiler = &self;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerDisable(struct profiler_one *parameters)
{
	if (parameters->profiler != &self || !self.enabled)
		return INVALID_PARAMETER;
	self.enabled = self.started = false;
	self.config = NULL;
	self.pass = 0;
	self.broken = self.pushed = false;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerGetCounterDataSize(struct profiler_data_bytes *parameters)
{
	self.asked = (struct data){ .magic = DATA,
		                    .count = (uint32_t)parameters->count,
		                    .most = (uint32_t)parameters->ranges };
	for (size_t i = 0; i < parameters->count && i < MOST; i++)
		self.asked.hashes[i] = hash_of(parameters->names[i]);
	self.asked_bytes = sizeof(struct data) + 64 * parameters->count;
	parameters->data_bytes = self.asked_bytes;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerCounterDataImageInitialize(struct profiler_data_begin *parameters)
{
	if (parameters->data_bytes != self.asked_bytes)
		return UNKNOWN;
	memcpy(parameters->data, &self.asked, sizeof self.asked);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerSetConfig(struct profiler_config *parameters)
{
	const struct config *config = (const void *)parameters->image;
	struct data *data = (void *)parameters->data;
	if (!self.enabled || self.started || config->magic != CONFIG || data->magic != DATA ||
	    (parameters->range != ABI_PROFILER_AUTO_RANGE &&
	     parameters->range != ABI_PROFILER_USER_RANGE) ||
	    (parameters->replay != ABI_PROFILER_KERNEL_REPLAY &&
	     parameters->replay != ABI_PROFILER_USER_REPLAY) ||
	    parameters->ranges > data->most)
		return INVALID_PARAMETER;
	self.replay = self.config ? self.replay : parameters->replay;
	self.range = self.config ? self.range : parameters->range;
	self.config = self.config ? self.config : config;
	self.data = data;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerStart(struct profiler_one *parameters)
{
	if (self.process != getpid() || fake_cupti_captures() || fake_cupti_within("Cooperative"))
		abort(); // the child of a fork; what breaks the program
	if (parameters->profiler != &self || !self.data || self.started)
		return INVALID_PARAMETER;
	if (self.script.fail && ++self.starts % (uint32_t)self.script.fail == 0)
		return UNKNOWN;
	self.started = true;
	if (self.script.slow)
		usleep(2000);
	return ABI_CUPTI_SUCCESS;
}

static void add_range(const char *kernel)
{
	if (self.data->ranges >= self.data->most)
		return;
	snprintf(self.data->kernels[self.data->counted++ % 4], NAME, "%s", kernel);
	self.data->ranges++;
	self.data->passes =
	    self.replay == ABI_PROFILER_USER_REPLAY ? UINT32_C(1) << self.pass : UINT32_MAX;
}

void fake_cupti_launched(const char *kernel, bool graph)
{
	if (!self.started)
		return;
	if (self.range == ABI_PROFILER_USER_RANGE) {
		self.worked = self.pushed;
		self.awaited = false;
		snprintf(self.name, sizeof self.name, "%s", kernel);
	} else if (graph) {
		self.broken = true;
	} else {
		add_range(kernel);
	}
}

void fake_cupti_awaited(void)
{
	self.awaited = true;
}

cupti_result cuptiRangeProfilerPushRange(struct profiler_push *parameters)
{
	if (parameters->profiler != &self || !self.started || self.pushed ||
	    self.range != ABI_PROFILER_USER_RANGE || !parameters->name)
		return INVALID_PARAMETER;
	self.pushed = true;
	self.worked = false;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerPopRange(struct profiler_one *parameters)
{
	if (parameters->profiler != &self || !self.pushed || (self.worked && !self.awaited))
		return INVALID_PARAMETER;
	self.pushed = false;
	if (self.worked)
		add_range(self.name);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerStop(struct profiler_stop *parameters)
{
	if (parameters->profiler != &self || !self.started)
		return INVALID_PARAMETER;
	self.started = false;
	if (self.broken || self.pushed)
		return UNKNOWN;
	if (self.replay == ABI_PROFILER_USER_REPLAY)
		self.pass = (self.pass + 1) % self.config->passes;
	parameters->pass = self.pass;
	parameters->all_passes = self.pass == 0;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiRangeProfilerDecodeData(struct profiler_decode *parameters)
{
	parameters->dropped = 0;
	return self.data && !self.started ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiRangeProfilerGetCounterDataInfo(struct profiler_data_info *parameters)
{
	parameters->ranges = ((const struct data *)(const void *)parameters->data)->ranges;
	return ABI_CUPTI_SUCCESS;
}
