// SPDX-License-Identifier: Apache-2.0
#include "model/script/script_levelzero.h"

#include <errno.h>

// Ticks that a program which counts in whole hertz may be off by within a minute: none to speak of.
static bool whole_enough(const struct tare_clock_rate *rate)
{
	uint64_t rest = rate->hz_numerator % rate->hz_denominator;
	uint64_t off = rest < rate->hz_denominator - rest ? rest : rate->hz_denominator - rest;

	return off <= rate->hz_denominator / 60;
}

uint64_t tare_script_levelzero_hz(const struct tare_clock_rate *rate)
{
	return rate->hz_numerator / rate->hz_denominator +
	       (rate->hz_numerator % rate->hz_denominator > rate->hz_denominator / 2);
}

static int check_timers(const struct tare_script *script, const char *name,
                        struct tare_error *error)
{
	const struct tare_clock_rate *kernel = &script->timer.rate,
	                             *global = &script->pair_timer.rate;

	if (!whole_enough(kernel))
		return tare_fail(
		    error, EINVAL,
		    "%s:%u: Level Zero tells a timer's rate in whole hertz, by which this "
		    "one would be more than a tick off within a minute; choose %llu Hz",
		    name, script->timer.line, (unsigned long long)tare_script_levelzero_hz(kernel));
	if (kernel->hz_numerator != global->hz_numerator ||
	    kernel->hz_denominator != global->hz_denominator)
		return tare_fail(
		    error, EINVAL,
		    "%s:%u: 'pair-timer' has another rate than 'timer', but a Level Zero "
		    "device has one timerResolution for both; give both the same rate",
		    name, script->pair_timer.line);
	return 0;
}

static int check_engine(const struct tare_script_engine *engine, const char *name,
                        struct tare_error *error)
{
	bool kernels = engine->flows >> TARE_FLOW_KERNEL & 1;

	if (engine->compute && !kernels)
		return tare_fail(
		    error, EINVAL,
		    "%s:%u: this compute engine runs no kernels, which Level Zero's compute "
		    "engines do; add 'kernel' to its flows",
		    name, engine->line);
	if (!engine->compute && kernels)
		return tare_fail(
		    error, EINVAL,
		    "%s:%u: this copy engine runs kernels, which Level Zero's copy engines "
		    "do not; make it 'compute'",
		    name, engine->line);
	return 0;
}

// An engine that copies in some directions only is fine where commands go to whatever engine serves
// them: Level Zero tells programs of a group that it copies, not in which directions.
static int check_directions(const struct tare_script *script,
                            const struct tare_script_engine *engine, const char *name,
                            struct tare_error *error)
{
	uint64_t copies = engine->flows & TARE_FLOWS_OF_COPIES, all = 0;

	if (copies == TARE_FLOWS_OF_COPIES || (engine->compute && !copies))
		return 0;
	if (script->queue.route == TARE_ROUTE_QUEUE)
		return tare_fail(
		    error, EINVAL,
		    "%s:%u: this engine copies in some directions only, which Level Zero "
		    "cannot tell programs; let it run to-device,to-host,local, or leave "
		    "'route queue' out",
		    name, engine->line);
	for (size_t i = 0; i < script->engine_count; i++)
		all |= script->engines[i].flows;
	for (enum tare_flow flow = TARE_FLOW_TO_DEVICE; flow <= TARE_FLOW_TO_HOST; flow++)
		if (!(all >> flow & 1))
			return tare_fail(
			    error, EINVAL,
			    "%s:%u: this engine copies in some directions only, and no "
			    "engine runs '%s', which Level Zero cannot tell programs; add "
			    "one that does",
			    name, engine->line, tare_flow_name(flow));
	return 0;
}

bool tare_script_levelzero_grouped(const struct tare_script_engine *before,
                                   const struct tare_script_engine *engine)
{
	if (before->compute != engine->compute)
		return false;
	if (before->flows == engine->flows)
		return true;
	return !engine->compute && before->flows != TARE_FLOWS_OF_COPIES &&
	       engine->flows != TARE_FLOWS_OF_COPIES;
}

// Each sub-device has its share of every queue group.
static int check_shares(const struct tare_script *script, const char *name,
                        struct tare_error *error)
{
	size_t first = 0;

	if (!script->device.sub_devices)
		return 0;
	for (size_t i = 1; i <= script->engine_count; i++) {
		if (i < script->engine_count &&
		    tare_script_levelzero_grouped(&script->engines[i - 1], &script->engines[i]))
			continue;
		if ((i - first) % script->device.sub_devices)
			return tare_fail(
			    error, EINVAL,
			    "%s:%u: %zu engines of a kind cannot be shared out to %llu "
			    "sub-devices; give as many, or twice as many, one after another",
			    name, script->engines[first].line, i - first,
			    (unsigned long long)script->device.sub_devices);
		first = i;
	}
	return 0;
}

int tare_script_check_levelzero(const struct tare_script *script, const char *name,
                                struct tare_error *error)
{
	int status = check_timers(script, name, error);

	for (size_t i = 0; status == 0 && i < script->engine_count; i++)
		status = check_engine(&script->engines[i], name, error);
	for (size_t i = 0; status == 0 && i < script->engine_count; i++)
		status = check_directions(script, &script->engines[i], name, error);
	return status == 0 ? check_shares(script, name, error) : status;
}
