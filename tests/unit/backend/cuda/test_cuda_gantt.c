// SPDX-License-Identifier: Apache-2.0
// A schedule drawn on a device whose events are positions in the stream: by the tracer's engine
// stamps, and not without the tracer.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/measure/pipeline/pipeline_rig.h"

#define ITEMS (UINT64_C(1) << 20)
#define CHUNKS 4

static struct tare_run run;
static struct rig rig;
static const struct tare_schedule schedule = { .chunks = CHUNKS,
	                                       .queues = 3,
	                                       .mechanism = TARE_MECHANISM_STAGE_QUEUES };

// The bars of `stage`, by chunk.
static void sort_bars(const struct tare_bar *bars, struct tare_bar sorted[TARE_STAGE_COUNT][CHUNKS])
{
	bool seen[TARE_STAGE_COUNT][CHUNKS] = { { false } };

	for (int i = 0; i < TARE_STAGE_COUNT * CHUNKS; i++) {
		assert_true(bars[i].chunk < CHUNKS && !seen[bars[i].stage][bars[i].chunk]);
		seen[bars[i].stage][bars[i].chunk] = true;
		sorted[bars[i].stage][bars[i].chunk] = bars[i];
	}
}

// A chunk's stages follow one another, and no engine does two things at once: by positions in the
// streams the kernel would begin with the first copy.
static void engines_are_drawn(void **state)
{
	struct tare_bar bars[TARE_STAGE_COUNT * CHUNKS];
	struct tare_bar sorted[TARE_STAGE_COUNT][CHUNKS];
	struct tare_error why = { 0 };
	struct tare_drawn drawn;
	int64_t last = 0;

	(void)state;
	assert_false(rig.bench.brackets);
	setenv("TARE_FAKE_CUPTI", "", 1);
	int count = tare_pipeline_gantt(rig.pipeline, &schedule, bars, &why);
	if (count != TARE_STAGE_COUNT * CHUNKS)
		fail_msg("%d: %s", count, why.message);
	sort_bars(bars, sorted);
	assert_int_equal(sorted[TARE_STAGE_TO_DEVICE][0].start_ps, 0);
	for (int chunk = 0; chunk < CHUNKS; chunk++)
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			const struct tare_bar *bar = &sorted[stage][chunk];
			assert_true(bar->end_ps > bar->start_ps);
			if (stage)
				assert_true(bar->start_ps >= sorted[stage - 1][chunk].end_ps);
			if (chunk)
				assert_true(bar->start_ps >= sorted[stage][chunk - 1].end_ps);
			last = bar->end_ps > last ? bar->end_ps : last;
		}
	drawn = tare_pipeline_drawn(rig.pipeline);
	assert_true(drawn.traced);
	assert_true(drawn.ns >= last / 1000);
}

static void without_the_tracer_the_reason_is_told(void **state)
{
	struct tare_bar bars[TARE_STAGE_COUNT * CHUNKS];
	struct tare_error why = { 0 };

	(void)state;
	setenv("TARE_FAKE_CUPTI", "holder=Nsight_Systems", 1);
	assert_int_equal(tare_pipeline_gantt(rig.pipeline, &schedule, bars, &why), -ENODATA);
	assert_non_null(strstr(why.message, "Nsight_Systems"));
	setenv("TARE_FAKE_CUPTI", "drop=1", 1);
	assert_int_equal(tare_pipeline_gantt(rig.pipeline, &schedule, bars, &why), -ENODATA);
	assert_non_null(strstr(why.message, "dropped"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_tracer_the_reason_is_told),
		cmocka_unit_test(engines_are_drawn),
	};
	const struct tare_backend *backend = tare_backend_find("cuda");
	struct tare_driver *driver = NULL;
	static struct tare_facts facts;
	struct tare_error error = { 0 };
	int status = backend->driver_open(NULL, &driver, &error);

	if (status == 0)
		status = backend->device_facts(driver, 0, &facts, &error);
	if (status == 0)
		status = backend->device_open(driver, 0, &run.device, &error);
	if (status < 0) {
		printf("Bail out! cuda: %s\n", error.message);
		return 1;
	}
	run.facts = &facts;
	run.result = tare_result_new("overlap");
	run.seed = 1;
	rig_open(&rig, &run, ITEMS, 20);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close(&rig);
	tare_result_free(run.result);
	tare_device_close(run.device);
	backend->driver_close(driver);
	return status;
}
