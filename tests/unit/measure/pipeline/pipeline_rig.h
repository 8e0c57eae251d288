// SPDX-License-Identifier: Apache-2.0
// A pipeline of tare's own make-work kernel on a device: what the tests of pipelines share. Include
// after cmocka.h.
#pragma once
#include "backend/call.h"
#include "backend/kernels.h"
#include "measure/pipeline/pipeline.h"

struct rig {
	struct tare_bench bench;
	struct tare_module *module;
	struct tare_kernel *kernel;
	int32_t add, cycles;
	struct tare_chunk_kernel chunk;
	struct tare_pipeline *pipeline;
};

static inline bool rig_check(const void *context, const void *input, const void *output,
                             uint64_t first, uint64_t count)
{
	const struct rig *rig = context;
	const uint32_t *in = input, *out = output;

	for (uint64_t i = first; i < first + count; i++) {
		uint32_t value = in[i];
		for (int32_t cycle = 0; cycle < rig->cycles; cycle++)
			value = value * 1664525u + (uint32_t)rig->add;
		if (out[i] != value)
			return false;
	}
	return true;
}

#define rig_must(call)                                                                             \
	do {                                                                                       \
		struct tare_error error_ = { 0 };                                                  \
		struct tare_error *error = &error_;                                                \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, error_.message);                                 \
	} while (0)

static inline int rig_rebuild(const void *context, struct tare_module **module,
                              struct tare_kernel **kernel, struct tare_error *error)
{
	const struct rig *rig = context;

	return tare_kernel_build(rig->bench.device, "overlap", "overlap_register", module, kernel,
	                         NULL, error);
}

// `run` is filled in down to `interrupted`.
static inline void rig_open(struct rig *rig, struct tare_run *run, uint64_t items, int32_t cycles)
{
	*rig = (struct rig){ .add = 12345, .cycles = cycles };
	rig_must(tare_run_begin(run, INT64_C(1000000000), error));
	rig_must(tare_bench_open(run, INT64_C(1000000), &rig->bench, error));
	rig_must(tare_kernel_build(run->device, "overlap", "overlap_register", &rig->module,
	                           &rig->kernel, NULL, error));
	rig->chunk = (struct tare_chunk_kernel){
		.kernel = rig->kernel,
		.group_size = 64,
		.in_bytes = 4,
		.out_bytes = 4,
		.align = 1,
		.scalars = { { .type = TARE_ARGUMENT_VALUE, .value = &rig->add, .bytes = 4 },
		             { .type = TARE_ARGUMENT_VALUE, .value = &rig->cycles, .bytes = 4 } },
		.scalar_count = 2,
		.check = rig_check,
		.rebuild = rig_rebuild,
		.context = rig,
	};
	if (items)
		rig_must(
		    tare_pipeline_open(&rig->bench, items, &rig->pipeline, &rig->chunk, error));
}

static inline void rig_close(struct rig *rig)
{
	tare_pipeline_free(rig->pipeline);
	tare_kernel_free(rig->kernel);
	tare_module_free(rig->module);
	tare_bench_close(&rig->bench);
}
