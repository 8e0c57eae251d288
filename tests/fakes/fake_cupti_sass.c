// SPDX-License-Identifier: Apache-2.0
// SASS metrics of the stand-in for CUPTI, by what an H100 with CUPTI 13.0 does: a process can count
// once, from the first time that it is switched on until the counts are read, or the module is
// unloaded; switching it on breaks captures (here it aborts), and crashes where that
// is done in a launch into a graph; functions that others launch meanwhile are counted as well; no
// record has its function's place; each record is of one metric.
//
// The truth is in TARE_FAKE_SAMPLES (fake_cupti_pc_sampling.c):
//   count CRC FUNCTION PC WARPS THREADS    of one launch
//   fail FUNCTION CODE                     that function fails
#include "backend/cuda/cupti_sass_abi.h"
#include "fake_cupti.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, structure, last)                                                             \
	FAKE_CUPTI_EXPORT cupti_result name(struct structure *parameters);
DECLARE(cuptiSassMetricsGetProperties, sass_properties, metric)
DECLARE(cuptiSassMetricsSetConfig, sass_configuration, device)
DECLARE(cuptiSassMetricsUnsetConfig, sass_end, device)
DECLARE(cuptiSassMetricsEnable, sass_enable, lazy)
DECLARE(cuptiSassMetricsDisable, sass_disable, dropped)
DECLARE(cuptiSassMetricsGetDataProperties, sass_available, instances)
DECLARE(cuptiSassMetricsFlushData, sass_flush, instances)
#undef DECLARE

enum { INVALID_PARAMETER = 1, MOST = 4096, METRICS = 2, TEXT = 1024 };
static const char *const metrics[METRICS] = { "smsp__sass_inst_executed",
	                                      "smsp__sass_thread_inst_executed_pred_on" };

struct truth {
	char function[TEXT];
	uint32_t crc, pc;
	uint64_t each[METRICS]; // of a launch, by the place in `metrics`
	atomic_ulong launches;
};
static struct {
	struct truth *truth;
	size_t count, configured;
	uint64_t ids[METRICS];
	atomic_bool enabled;
	bool read, used, flushed;
	cu_context context;
} self;

static void read_script(void)
{
	const char *path = getenv("TARE_FAKE_SAMPLES");
	FILE *file = path ? fopen(path, "r") : NULL;
	char *line = NULL;
	size_t room = 0;

	if (self.read)
		return;
	self.read = true;
	self.truth = calloc(MOST, sizeof *self.truth);
	while (file && getline(&line, &room, file) > 0) {
		struct truth *truth = &self.truth[self.count];
		self.count +=
		    sscanf(line, "count %u %1023s %u %lu %lu", &truth->crc, truth->function,
		           &truth->pc, &truth->each[0], &truth->each[1]) == 5;
	}
	free(line);
	if (file)
		fclose(file);
}

void fake_cupti_sass_launched(const char *kernel)
{
	for (size_t i = 0; self.enabled && i < self.count; i++)
		if (strcmp(self.truth[i].function, kernel) == 0)
			self.truth[i].launches++;
}

void fake_cupti_sass_unloaded(void)
{
	for (size_t i = 0; i < self.count; i++)
		self.truth[i].launches = 0;
}

cupti_result cuptiSassMetricsGetProperties(struct sass_properties *parameters)
{
	read_script();
	if (parameters->bytes != ABI_SASS_BYTES(sass_properties, metric) ||
	    strcmp(parameters->chip, "FAKE1") != 0)
		return INVALID_PARAMETER;
	for (uint64_t i = 0; i < METRICS; i++)
		if (strcmp(metrics[i], parameters->name) == 0) {
			parameters->metric.id = 1000 + i;
			return fake_cupti_scripted("cuptiSassMetricsGetProperties");
		}
	return INVALID_PARAMETER;
}

cupti_result cuptiSassMetricsSetConfig(struct sass_configuration *parameters)
{
	if (parameters->bytes != ABI_SASS_BYTES(sass_configuration, device) ||
	    parameters->count > METRICS)
		return INVALID_PARAMETER;
	if (self.configured)
		return ABI_CUPTI_INVALID_OPERATION;
	if (self.used)
		return ABI_CUPTI_OUT_OF_MEMORY;
	self.configured = parameters->count;
	for (size_t i = 0; i < parameters->count; i++)
		self.ids[i] = parameters->wishes[i].id;
	return fake_cupti_scripted("cuptiSassMetricsSetConfig");
}

cupti_result cuptiSassMetricsUnsetConfig(struct sass_end *parameters)
{
	(void)parameters;
	self.configured = 0;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiSassMetricsEnable(struct sass_enable *parameters)
{
	cupti_result result = fake_cupti_scripted("cuptiSassMetricsEnable");

	if (result != ABI_CUPTI_SUCCESS)
		return result;
	if (fake_cupti_captures())
		abort();
	if (!self.configured || self.enabled || !parameters->context || parameters->lazy != 1)
		return ABI_CUPTI_INVALID_OPERATION;
	self.context = parameters->context;
	self.enabled = !self.used;
	self.used = true;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiSassMetricsDisable(struct sass_disable *parameters)
{
	parameters->dropped = self.flushed ? 0 : 1;
	self.enabled = false;
	return ABI_CUPTI_SUCCESS;
}

// Records of instructions that were executed, for each metric one.
static size_t tell(struct sass_record *records, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < self.count; i++)
		for (size_t j = 0; self.truth[i].launches && j < self.configured; j++, count++) {
			if (count >= room)
				continue;
			records[count].cubin_crc = self.truth[i].crc;
			records[count].function = 0;
			records[count].name = self.truth[i].function;
			records[count].pc = self.truth[i].pc;
			records[count].values[0] =
			    (struct sass_value){ self.ids[j],
				                 self.truth[i].launches *
				                     self.truth[i].each[self.ids[j] - 1000] };
		}
	return count;
}

cupti_result cuptiSassMetricsGetDataProperties(struct sass_available *parameters)
{
	cupti_result result = fake_cupti_scripted("cuptiSassMetricsGetDataProperties");

	if (result != ABI_CUPTI_SUCCESS)
		return result;
	if (!self.enabled || parameters->context != self.context)
		return ABI_CUPTI_INVALID_OPERATION;
	parameters->records = self.flushed ? 0 : tell(NULL, 0);
	parameters->instances = self.flushed ? 0 : 1;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiSassMetricsFlushData(struct sass_flush *parameters)
{
	if (!self.enabled || self.flushed || parameters->context != self.context)
		return ABI_CUPTI_INVALID_OPERATION;
	for (size_t i = 0; i < parameters->records; i++)
		if (parameters->data[i].bytes != sizeof *parameters->data)
			return INVALID_PARAMETER;
	tell(parameters->data, parameters->records);
	self.flushed = true;
	return ABI_CUPTI_SUCCESS;
}
