// SPDX-License-Identifier: Apache-2.0
#include "model/engine/engine.h"

#define PS_PER_SECOND INT64_C(1000000000000)

static int64_t clamp_ps(unsigned __int128 value)
{
	return value > (unsigned __int128)TARE_PS_MAX ? TARE_PS_MAX : (int64_t)value;
}

int64_t tare_model_rate_ps(uint64_t amount, uint64_t per_second)
{
	if (per_second == 0)
		return 0;
	return clamp_ps(((unsigned __int128)amount * PS_PER_SECOND + per_second - 1) / per_second);
}

int64_t tare_model_add_ps(int64_t a, int64_t b)
{
	return a >= TARE_PS_MAX - b ? TARE_PS_MAX : a + b;
}

int64_t tare_model_times_ps(uint64_t count, int64_t ps)
{
	return clamp_ps((unsigned __int128)count * (uint64_t)ps);
}

void tare_model_copy_cost(int64_t fixed_ps, uint64_t rate, uint64_t bytes, enum tare_flow flow,
                          struct tare_model_operation *operation)
{
	operation->flow = flow;
	operation->fixed_ps = fixed_ps;
	operation->work_ps = tare_model_rate_ps(bytes, rate);
	operation->tail_ps = 0;
}

// groups * group_items may exceed 64 bits when every dimension is at its limit.
static uint64_t saturating_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

int64_t tare_model_repeat_ps(const struct tare_script_kernel *kernel, uint64_t items,
                             const struct tare_model_repeat *repeat)
{
	uint64_t rate = kernel->repeat_rate;

	if (rate == 0 || !repeat)
		return 0;
	for (size_t i = kernel->tier_count; i-- > 0;)
		if (repeat->span_bytes <= kernel->tiers[i].bytes)
			rate = kernel->tiers[i].rate;
	unsigned __int128 amount = (unsigned __int128)items * repeat->count;
	// Beyond this the quotient is above TARE_PS_MAX; below it the next product fits 128 bits.
	if (amount > (unsigned __int128)rate * (TARE_PS_MAX / PS_PER_SECOND))
		return TARE_PS_MAX;
	return clamp_ps((amount * PS_PER_SECOND + rate - 1) / rate);
}

void tare_model_kernel_cost(const struct tare_script *script,
                            const struct tare_script_kernel *kernel, uint64_t groups,
                            uint64_t group_items, const struct tare_model_repeat *repeat,
                            struct tare_model_operation *operation)
{
	uint64_t units = script->device.units ? script->device.units : 1;
	uint64_t capacity = units * kernel->slots;
	uint64_t waves = groups / capacity + (groups % capacity != 0);
	uint64_t items = saturating_product(groups, group_items);
	int64_t wave_ps = clamp_ps((unsigned __int128)group_items * (uint64_t)kernel->item_ps +
	                           (uint64_t)kernel->wave_ps);
	int64_t streaming_ps = tare_model_add_ps(tare_model_rate_ps(items, kernel->item_rate),
	                                         tare_model_repeat_ps(kernel, items, repeat));
	int64_t body_ps = tare_model_add_ps(tare_model_times_ps(waves, wave_ps), streaming_ps);
	int64_t held_ps = body_ps;

	if (body_ps < kernel->minimum_ps)
		body_ps = kernel->minimum_ps;
	if (kernel->share)
		held_ps = tare_model_add_ps(
		    clamp_ps(((unsigned __int128)groups * (uint64_t)wave_ps + capacity - 1) /
		             capacity),
		    streaming_ps);
	else
		held_ps = body_ps;
	operation->flow = TARE_FLOW_KERNEL;
	operation->fixed_ps = kernel->fixed_ps;
	operation->work_ps = held_ps;
	operation->tail_ps = body_ps - held_ps;
}

void tare_model_jitter(const struct tare_script *script, struct tare_random *random,
                       struct tare_model_operation *operation)
{
	if (!script->jitter.range_ppm)
		return;
	uint64_t factor = 1000000 + tare_random_below(random, script->jitter.range_ppm);
	operation->fixed_ps = clamp_ps((unsigned __int128)operation->fixed_ps * factor / 1000000);
	operation->work_ps = clamp_ps((unsigned __int128)operation->work_ps * factor / 1000000);
}

struct tare_ticks tare_model_ticks(const struct tare_script_timer *timer, int64_t at_ps)
{
	const struct tare_clock_rate *rate = &timer->rate;
	__int128 drifted = (__int128)at_ps + (__int128)at_ps * timer->drift_ppb / 1000000000;
	unsigned __int128 passed = (unsigned __int128)drifted * rate->hz_numerator /
	                           ((unsigned __int128)rate->hz_denominator * PS_PER_SECOND);
	uint64_t ticks = timer->epoch_ticks + (uint64_t)passed;

	ticks -= ticks % rate->resolution_ticks;
	if (rate->valid_bits < 64)
		ticks &= (UINT64_C(1) << rate->valid_bits) - 1;
	return (struct tare_ticks){ ticks };
}
