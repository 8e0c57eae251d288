// SPDX-License-Identifier: Apache-2.0
// A pipeline on a simulated device whose times have closed forms. Include after cmocka.h.
#pragma once
#include "pipeline_rig.h"
#include "tests/unit/measure/core/simulated_run.h"

// Nothing costs anything but the work itself: 230,400 items take 92.16 us in each stage at 1 cycle.
// They are 3,600 groups of 64.
#define EVEN                                                                                       \
	"tare-device 1\n"                                                                          \
	"device name \"Even\" memory 64 MiB units 4\n"                                             \
	"timer rate 1 GHz bits 64\n"                                                               \
	"stamps queued,submitted,start,end\n"                                                      \
	"pairs before 100 ns after 100 ns\n"                                                       \
	"engine compute runs kernel\n"                                                             \
	"engine copy runs to-device,local\n"                                                       \
	"engine copy runs to-host\n"                                                               \
	"copy pinned device rate 10 GB/s\n"                                                        \
	"copy device pinned rate 10 GB/s\n"                                                        \
	"copy pageable device rate 10 GB/s staging 2 GB/s chunk 64 KiB\n"                          \
	"copy device pageable rate 10 GB/s staging 5 GB/s chunk 64 KiB\n"                          \
	"fill rate 100 GB/s\n"                                                                     \
	"kernel overlap_register repeat 5 repeat-rate 2500 Mitem/s arguments 6 "                   \
	"action overlap-register\n"
#define ITEMS 230400
#define STAGE_NS 92160

#define BOTH "engine copy runs to-device,local\nengine copy runs to-host\n"
#define ONE_COPY_ENGINE "engine copy runs to-device,local,to-host\n"

struct device {
	struct simulated_run simulated;
	struct rig rig;
};

static inline void start(struct device *device, const char *script, uint64_t items, int32_t cycles)
{
	simulated_open(&device->simulated, script, "overlap", INT64_C(1000000000));
	rig_open(&device->rig, &device->simulated.run, items, cycles);
}

static inline void stop(struct device *device)
{
	rig_close(&device->rig);
	simulated_close(&device->simulated);
}

// EVEN with one part replaced (`old` is at least as long as `new`), and `more` at the end.
static inline const char *even(const char *old, const char *new, const char *more)
{
	static char script[4096];

	snprintf(script, sizeof script, "%s%s", EVEN, more);
	if (old)
		replace(script, old, new);
	return script;
}

static inline int64_t time_of(struct device *device, const struct tare_schedule *schedule,
                              enum tare_break how)
{
	int64_t ns = -1, issue_ns = -1;

	rig_must(tare_pipeline_run(device->rig.pipeline, schedule, how, &ns, &issue_ns, error));
	assert_true(issue_ns >= 0 && issue_ns <= ns);
	return ns;
}

static inline enum tare_verified verify(struct device *device, const struct tare_schedule *schedule,
                                        enum tare_break how, uint64_t *wrong)
{
	enum tare_verified verified = TARE_NOT_VERIFIABLE;

	rig_must(
	    tare_pipeline_verify(device->rig.pipeline, schedule, how, &verified, wrong, error));
	return verified;
}

static inline void near_ns(const char *what, double got, double expected, double tolerance_ns)
{
	if (!(got >= expected - tolerance_ns && got <= expected + tolerance_ns))
		fail_msg("%s: %.1f ns, expected %.1f", what, got, expected);
}

// Of a stage in a mode, as a share of its speed alone.
static inline double speed(struct device *device, uint32_t mode, enum tare_stage stage,
                           bool *together)
{
	int64_t alone[TARE_STAGE_COUNT], ps[TARE_STAGE_COUNT];
	bool ignored;

	rig_must(tare_pipeline_mode(device->rig.pipeline, 1u << stage, alone, &ignored, error));
	rig_must(tare_pipeline_mode(device->rig.pipeline, mode, ps, together, error));
	return (double)alone[stage] / (double)ps[stage];
}
