// SPDX-License-Identifier: Apache-2.0
// A run on a simulated device whose script the test spells out. Include after cmocka.h.
#pragma once
#include "backend/backend.h"
#include "backend/call.h"
#include "measure/core/run.h"
#include "result/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Round numbers, so that closed forms can be read off: 1 ns ticks, 10 GB/s to the device.
#define SIMPLE_DEVICE                                                                              \
	"tare-device 1\n"                                                                          \
	"device name \"Simple\" memory 64 MiB largest 64 MiB\n"                                    \
	"timer rate 1 GHz bits 64 resolution 1 tick\n"                                             \
	"stamps queued,submitted,start,end\n"                                                      \
	"host clock 20 ns append 1 us event 0.5 us submit 0.5 us finish 0.4 us wake 3 us query "   \
	"0.3 us "                                                                                  \
	"callback 4 us gate 1 us allocate 10 us register 10 us build 1 ms\n"                       \
	"queue submission 1 us gap 2 us same-gap 0.2 us event-gap 1.5 us switch 1 us "             \
	"flush append route operation gate-capacity 1024\n"                                        \
	"engine compute runs kernel\n"                                                             \
	"engine copy runs to-device,local\n"                                                       \
	"engine copy runs to-host\n"                                                               \
	"copy pinned device fixed 2 us rate 10 GB/s\n"                                             \
	"copy device pinned fixed 1 us rate 8 GB/s\n"                                              \
	"copy device device fixed 1 us rate 100 GB/s\n"                                            \
	"copy pageable device fixed 3 us rate 10 GB/s staging 5 GB/s chunk 64 KiB\n"               \
	"copy device pageable fixed 3 us rate 8 GB/s staging 4 GB/s chunk 64 KiB\n"                \
	"fill fixed 1 us rate 100 GB/s\n"                                                          \
	"marker fixed 0.5 us\n"                                                                    \
	"touch page 4 KiB fault 0.5 us\n"                                                          \
	"rectangle row 10 ns\n"                                                                    \
	"unaligned boundary 64 B speed 50 %\n"                                                     \
	"concurrent to-device speed 90 % while to-host\n"                                          \
	"concurrent to-host speed 80 % while to-device\n"                                          \
	"kernel empty fixed 2 us\n"
#define SIMPLE_PAIRS "pairs before 300 ns after 500 ns\n"

struct simulated_run {
	struct tare_driver *driver;
	struct tare_device *device;
	struct tare_facts facts;
	struct tare_run run;
};

static inline void simulated_open(struct simulated_run *simulated, const char *script,
                                  const char *command, int64_t budget_ns)
{
	const struct tare_backend *backend = tare_backend_find("simulated");
	char path[] = "/tmp/tare-test-XXXXXX";
	struct tare_error error = { 0 };
	int file = mkstemp(path), status;

	*simulated = (struct simulated_run){ 0 };
	assert_true(file >= 0);
	assert_int_equal(write(file, script, strlen(script)), strlen(script));
	close(file);
	status = backend->driver_open(path, &simulated->driver, &error);
	unlink(path);
	if (status < 0)
		fail_msg("%s", error.message);
	assert_int_equal(backend->device_facts(simulated->driver, 0, &simulated->facts, &error), 0);
	status = backend->device_open(simulated->driver, 0, &simulated->device, &error);
	if (status < 0)
		fail_msg("%s", error.message);
	simulated->run = (struct tare_run){
		.device = simulated->device,
		.facts = &simulated->facts,
		.result = tare_result_new(command),
		.budget_ns = budget_ns,
		.seed = 1,
	};
	assert_non_null(simulated->run.result);
}

static inline void simulated_close(struct simulated_run *simulated)
{
	tare_result_free(simulated->run.result);
	tare_device_close(simulated->device);
	tare_backend_find("simulated")->driver_close(simulated->driver);
}

// Replaces every `old` in a script by `new`, which is not longer.
static inline void replace(char *script, const char *old, const char *new)
{
	assert_non_null(strstr(script, old));
	for (char *at = script; (at = strstr(at, old)); at += strlen(new)) {
		memmove(at + strlen(new), at + strlen(old), strlen(at + strlen(old)) + 1);
		memcpy(at, new, strlen(new));
	}
}

static inline const char *label_text(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text ? label->text : "";
}

static inline int64_t label_number(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && !label->text ? label->number : -1;
}

static inline const struct tare_warning *find_warning(const struct tare_result *result,
                                                      const char *id)
{
	for (size_t i = 0; i < result->warning_count; i++)
		if (strcmp(result->warnings[i].id, id) == 0)
			return &result->warnings[i];
	return NULL;
}
