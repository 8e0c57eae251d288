// SPDX-License-Identifier: Apache-2.0
// Any bytes as a device script. What the parser accepts must drive the model without harm; what it
// refuses, it refuses with one sentence that names the line.
#include "target.h"

#include "model/engine/engine.h"
#include "model/script/script_levelzero.h"

#include <errno.h>
#include <string.h>

enum { OPERATIONS = 12 };

// One operation of each flow on two queues, each behind the one before.
static void run_model(const struct tare_script *script)
{
	struct tare_model *model = tare_model_new(script, NULL, NULL);
	struct tare_model_operation operations[OPERATIONS] = { 0 };
	FUZZ_CHECK(model);
	struct tare_model_queue *queues[2] = {
		tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1),
		tare_model_queue_new(model, TARE_MODEL_OUT_OF_ORDER, -1),
	};
	FUZZ_CHECK(queues[0] && queues[1]);
	for (size_t i = 0; i < OPERATIONS; i++) {
		struct tare_model_operation *operation = &operations[i];
		const struct tare_script_copy *copy =
		    &script->copies[i % TARE_PLACE_COUNT][(i + 1) % TARE_PLACE_COUNT];
		tare_model_copy_cost(copy->fixed_ps, copy->rate, 1 << 20,
		                     (enum tare_flow)(i % (TARE_FLOW_COUNT + 1)), operation);
		if (i < script->kernel_count)
			tare_model_kernel_cost(script, &script->kernels[i], 100, 64,
			                       &(struct tare_model_repeat){ UINT64_MAX, 1 << 20 },
			                       operation);
		if (tare_model_can_run(model, queues[i & 1], operation->flow))
			tare_model_append(model, queues[i & 1], operation);
	}
	tare_model_run(model, TARE_PS_MAX);
	for (size_t i = 0; i < OPERATIONS; i++)
		if (operations[i].sequence && operations[i].phase == TARE_PHASE_DONE) {
			FUZZ_CHECK(operations[i].end_ps >= operations[i].start_ps);
			tare_model_ticks(&script->timer, operations[i].end_ps);
			tare_model_ticks(&script->pair_timer, operations[i].end_ps);
		}
	tare_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tare_script script;
	struct tare_error error = { 0 };
	int status = tare_script_parse((const char *)data, size, "x", &script, &error);

	if (status == 0) {
		run_model(&script);
		status = tare_script_check_levelzero(&script, "x", &error);
		if (status == 0)
			return 0;
	}
	FUZZ_CHECK(status == -EINVAL && error.code == -EINVAL);
	FUZZ_CHECK(strncmp(error.message, "x:", 2) == 0 && !strchr(error.message, '\n'));
	return 0;
}
