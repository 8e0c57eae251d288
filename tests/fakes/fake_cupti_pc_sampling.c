// SPDX-License-Identifier: Apache-2.0
// PC sampling of the stand-in for CUPTI, by what an H100 with CUPTI 13 does: it is configured after
// it was enabled; reading gives what has been sampled so far, as much as there is room for; the
// rest comes with the end, into the buffer of the configuration, and what does not fit there is
// lost.
//
// TARE_FAKE_SAMPLES names a file with the truth, a word and what belongs to it a line:
//   cubin PATH CRC              the next module that is loaded is this one
//   reason NAME                 the next reason, from 0 on
//   pc CRC SYMBOL FUNCTION PC REASON=COUNT ...
//   total N, dropped N, not_users N
//   room N                      the hardware's buffer must be asked for with N bytes
//   full                        reading finds the hardware's buffer full
//   fail FUNCTION CODE          that function fails
// Every second `pc` is there to be read at once, and the others come with the end.
#include "backend/cuda/cupti_pc_sampling_abi.h"
#include "fake_cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, structure, last)                                                             \
	FAKE_CUPTI_EXPORT cupti_result name(struct structure *parameters);
SAMPLING_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID_PARAMETER = 1, MOST = 4096, REASONS = 64, TEXT = 1024, FAIL_LINES = 8 };

struct met {
	uint64_t crc, pc;
	uint32_t symbol;
	char function[TEXT];
	struct sampling_stall stalls[REASONS];
	size_t stall_count;
	bool told;
};

static struct {
	pthread_mutex_t lock;
	bool read, enabled;
	cu_context context;
	uint32_t period;
	struct sampling_data *last;
	struct met *met;
	size_t met_count, reason_count, cubin_count, cubins_loaded;
	char reasons[REASONS][ABI_SAMPLING_NAME_BYTES];
	struct {
		char *data;
		size_t bytes;
		uint64_t crc;
	} cubins[16];
	uint64_t total, dropped, not_users, room; // room: 0: any
	bool full;
	struct {
		char name[64];
		int code;
	} fails[FAIL_LINES];
	size_t fail_count;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void read_cubin(const char *path, uint64_t crc)
{
	FILE *file = fopen(path, "r");
	size_t at = self.cubin_count++;

	if (!file) {
		fprintf(stderr, "fake CUPTI: no %s\n", path);
		abort();
	}
	fseek(file, 0, SEEK_END);
	self.cubins[at].bytes = (size_t)ftell(file);
	rewind(file);
	self.cubins[at].data = malloc(self.cubins[at].bytes);
	if (fread(self.cubins[at].data, 1, self.cubins[at].bytes, file) != self.cubins[at].bytes)
		abort();
	self.cubins[at].crc = crc;
	fclose(file);
}

static void read_met(char *line)
{
	struct met *met = &self.met[self.met_count++];
	char *rest, *word = strtok_r(line, " ", &rest);

	met->crc = strtoull(strtok_r(NULL, " ", &rest), NULL, 0);
	met->symbol = (uint32_t)strtoul(strtok_r(NULL, " ", &rest), NULL, 0);
	snprintf(met->function, sizeof met->function, "%s", strtok_r(NULL, " ", &rest));
	met->pc = strtoull(strtok_r(NULL, " ", &rest), NULL, 0);
	while ((word = strtok_r(NULL, " ", &rest))) {
		met->stalls[met->stall_count].reason = (uint32_t)strtoul(word, &word, 10);
		met->stalls[met->stall_count++].samples = (uint32_t)strtoul(word + 1, NULL, 10);
	}
}

static void read_script(void)
{
	const char *path = getenv("TARE_FAKE_SAMPLES");
	FILE *file = path ? fopen(path, "r") : NULL;
	char *line = NULL, name[TEXT];
	size_t room = 0;
	unsigned long long number;
	int code;

	if (self.read)
		return;
	self.read = true;
	self.met = calloc(MOST, sizeof *self.met);
	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "cubin %1023s %lli", name, &number) == 2)
			read_cubin(name, number);
		else if (sscanf(line, "reason %127s", name) == 1)
			snprintf(self.reasons[self.reason_count++], ABI_SAMPLING_NAME_BYTES,
			         "%.127s", name);
		else if (strncmp(line, "pc ", 3) == 0)
			read_met(line);
		else if (sscanf(line, "fail %63s %d", name, &code) == 2) {
			snprintf(self.fails[self.fail_count].name, 64, "%.63s", name);
			self.fails[self.fail_count++].code = code;
		}
		self.full |= strcmp(line, "full") == 0;
		sscanf(line, "total %lu", &self.total);
		sscanf(line, "dropped %lu", &self.dropped);
		sscanf(line, "not_users %lu", &self.not_users);
		sscanf(line, "room %lu", &self.room);
	}
	free(line);
	if (file)
		fclose(file);
}

cupti_result fake_cupti_scripted(const char *function)
{
	read_script();
	for (size_t i = 0; i < self.fail_count; i++)
		if (strcmp(self.fails[i].name, function) == 0)
			return self.fails[i].code;
	return ABI_CUPTI_SUCCESS;
}

const struct cupti_module_resource *fake_cupti_next_module(void)
{
	static struct cupti_module_resource module;

	read_script();
	if (self.cubins_loaded == self.cubin_count)
		return NULL;
	module.id = (uint32_t)self.cubins_loaded;
	module.cubin = self.cubins[self.cubins_loaded].data;
	module.cubin_bytes = self.cubins[self.cubins_loaded++].bytes;
	return &module;
}

cupti_result cuptiPCSamplingEnable(struct pc_sampling_one *parameters)
{
	cupti_result result = fake_cupti_scripted("cuptiPCSamplingEnable");

	if (result != ABI_CUPTI_SUCCESS)
		return result;
	if (parameters->bytes != ABI_SAMPLING_BYTES(pc_sampling_one, context) ||
	    !parameters->context)
		return INVALID_PARAMETER;
	self.enabled = true;
	self.context = parameters->context;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPCSamplingGetNumStallReasons(struct sampling_reason_count *parameters)
{
	*parameters->count = self.reason_count;
	return self.enabled ? ABI_CUPTI_SUCCESS : ABI_CUPTI_INVALID_OPERATION;
}

cupti_result cuptiPCSamplingGetStallReasons(struct sampling_reasons *parameters)
{
	for (size_t i = 0; i < parameters->count && i < self.reason_count; i++) {
		// They come in no order.
		parameters->places[i] = (uint32_t)(self.reason_count - 1 - i);
		strcpy(parameters->names[i], self.reasons[self.reason_count - 1 - i]);
	}
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPCSamplingSetConfigurationAttribute(struct sampling_configuration *parameters)
{
	cupti_result result = fake_cupti_scripted("cuptiPCSamplingSetConfigurationAttribute");

	if (result != ABI_CUPTI_SUCCESS || !self.enabled)
		return result != ABI_CUPTI_SUCCESS ? result : ABI_CUPTI_INVALID_OPERATION;
	for (size_t i = 0; i < parameters->count; i++) {
		const struct sampling_attribute *attribute = &parameters->attributes[i];
		if (attribute->type == ABI_SAMPLING_PERIOD)
			self.period = attribute->value.number;
		else if (attribute->type == ABI_SAMPLING_BUFFER)
			self.last = attribute->value.data;
		else if (attribute->type == ABI_SAMPLING_ROOM && self.room &&
		         attribute->value.size != self.room)
			return INVALID_PARAMETER;
		else if (attribute->type == ABI_SAMPLING_MODE &&
		         attribute->value.number != ABI_SAMPLING_CONTINUOUS)
			return INVALID_PARAMETER;
	}
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiPCSamplingGetConfigurationAttribute(struct sampling_configuration *parameters)
{
	for (size_t i = 0; i < parameters->count; i++)
		if (parameters->attributes[i].type == ABI_SAMPLING_PERIOD)
			parameters->attributes[i].value.number = self.period;
	return ABI_CUPTI_SUCCESS;
}

static void tell(struct sampling_data *data, bool all)
{
	data->count = data->left = 0;
	data->total = self.total;
	data->dropped = self.dropped;
	data->not_users = self.not_users;
	self.total = self.dropped = self.not_users = 0;
	for (size_t i = 0; i < self.met_count; i++) {
		struct met *met = &self.met[i];
		if (met->told || (!all && i % 2))
			continue;
		if (data->count == data->room) {
			data->left++;
			continue;
		}
		struct sampling_record *record = &data->records[data->count++];
		met->told = true;
		record->cubin_crc = met->crc;
		record->pc = met->pc;
		record->function = met->symbol;
		record->name = strdup(met->function);
		record->stall_count = met->stall_count;
		memcpy(record->stalls, met->stalls, met->stall_count * sizeof *met->stalls);
	}
}

cupti_result cuptiPCSamplingGetData(struct sampling_get *parameters)
{
	cupti_result result = ABI_CUPTI_SUCCESS;

	pthread_mutex_lock(&self.lock);
	if (!self.enabled || parameters->context != self.context)
		result = ABI_CUPTI_INVALID_OPERATION;
	else if (self.full) {
		parameters->data->buffer_full = 1;
		result = ABI_CUPTI_OUT_OF_MEMORY;
	} else {
		tell(parameters->data, false);
	}
	pthread_mutex_unlock(&self.lock);
	return result;
}

cupti_result cuptiPCSamplingDisable(struct pc_sampling_one *parameters)
{
	pthread_mutex_lock(&self.lock);
	if (self.last && self.enabled && parameters->context == self.context && !self.full)
		tell(self.last, true);
	self.enabled = false;
	pthread_mutex_unlock(&self.lock);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetCubinCrc(struct sampling_crc *parameters)
{
	for (size_t i = 0; i < self.cubin_count; i++)
		if (self.cubins[i].bytes == parameters->cubin_bytes &&
		    memcmp(self.cubins[i].data, parameters->cubin, parameters->cubin_bytes) == 0) {
			parameters->crc = self.cubins[i].crc;
			return ABI_CUPTI_SUCCESS;
		}
	return INVALID_PARAMETER;
}
