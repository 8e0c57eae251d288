// SPDX-License-Identifier: Apache-2.0
#include "model/script_levelzero.h"

#include <errno.h>

static int check_timers(const struct tare_script *script, const char *name,
                        struct tare_error *error)
{
	const struct tare_clock_rate *kernel = &script->timer.rate, *global = &script->pair_timer.rate;

	if (kernel->hz_numerator % kernel->hz_denominator != 0)
		return tare_fail(error, EINVAL,
		                 "%s:%u: Level Zero tells a timer's rate in whole hertz; choose one",
		                 name, script->timer.line);
	if (kernel->hz_numerator != global->hz_numerator ||
	    kernel->hz_denominator != global->hz_denominator)
		return tare_fail(error, EINVAL,
		                 "%s:%u: 'pair-timer' has another rate than 'timer', but a Level Zero "
		                 "device has one timerResolution for both; give both the same rate",
		                 name, script->pair_timer.line);
	return 0;
}

static int check_engine(const struct tare_script_engine *engine, const char *name,
                        struct tare_error *error)
{
	uint64_t copies = engine->flows & TARE_FLOWS_OF_COPIES;
	bool kernels = engine->flows >> TARE_FLOW_KERNEL & 1;

	if (engine->compute && !kernels)
		return tare_fail(error, EINVAL,
		                 "%s:%u: this compute engine runs no kernels, which Level Zero's compute "
		                 "engines do; add 'kernel' to its flows",
		                 name, engine->line);
	if (!engine->compute && kernels)
		return tare_fail(error, EINVAL,
		                 "%s:%u: this copy engine runs kernels, which Level Zero's copy engines "
		                 "do not; make it 'compute'",
		                 name, engine->line);
	// Only a whole engine group can say that it copies, not in which directions.
	if (copies != TARE_FLOWS_OF_COPIES && !(engine->compute && !copies))
		return tare_fail(error, EINVAL,
		                 "%s:%u: this engine copies in some directions only, which Level Zero "
		                 "cannot tell programs; let it run to-device,to-host,local",
		                 name, engine->line);
	return 0;
}

int tare_script_check_levelzero(const struct tare_script *script, const char *name,
                                struct tare_error *error)
{
	int status = check_timers(script, name, error);

	for (size_t i = 0; status == 0 && i < script->engine_count; i++)
		status = check_engine(&script->engines[i], name, error);
	return status;
}
