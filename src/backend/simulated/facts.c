// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include <stdio.h>
#include <string.h>

static const char silent[] = "the script does not say";

static void text_or_absent(struct tare_facts *facts, enum tare_fact_id id, const char *text)
{
	if (text[0])
		tare_fact_set_text(facts, id, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, id, silent);
}

static void count_or_absent(struct tare_facts *facts, enum tare_fact_id id, uint64_t value)
{
	if (value)
		tare_fact_set_count(facts, id, TARE_ORIGIN_DRIVER, value);
	else
		tare_fact_absent(facts, id, silent);
}

static void rate_or_absent(struct tare_facts *facts, enum tare_fact_id id, uint64_t value)
{
	if (value)
		tare_fact_set_rate(facts, id, TARE_ORIGIN_DRIVER, (double)value);
	else
		tare_fact_absent(facts, id, silent);
}

static void identity_facts(const struct tare_script_device *device, struct tare_facts *facts)
{
	text_or_absent(facts, TARE_FACT_NAME, device->name);
	tare_facts_set_type(facts, TARE_DEVICE_SIMULATED);
	text_or_absent(facts, TARE_FACT_VENDOR, device->vendor);
	text_or_absent(facts, TARE_FACT_DRIVER, device->driver);
	tare_fact_set_text(facts, TARE_FACT_API_VERSION, TARE_ORIGIN_DRIVER, "tare-device 1");
	tare_fact_absent(facts, TARE_FACT_LOADER, "the simulated device needs no library");
	text_or_absent(facts, TARE_FACT_UUID, device->uuid);
	if (device->pci[0])
		tare_fact_set_text(facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, device->pci);
	else
		tare_fact_absent(facts, TARE_FACT_PCI, "a simulated device sits on no bus");
	text_or_absent(facts, TARE_FACT_ARCHITECTURE, device->architecture);
}

static void compute_facts(const struct tare_script_device *device, struct tare_facts *facts)
{
	count_or_absent(facts, TARE_FACT_UNITS, device->units);
	count_or_absent(facts, TARE_FACT_LANES, device->lanes);
	count_or_absent(facts, TARE_FACT_WORK_GROUP, device->work_group);
	count_or_absent(facts, TARE_FACT_SUB_GROUP, device->sub_group);
	count_or_absent(facts, TARE_FACT_CLOCK, device->clock_hz);
	tare_fact_set_count(facts, TARE_FACT_FP64, TARE_ORIGIN_DRIVER, device->fp64);
	tare_fact_set_count(facts, TARE_FACT_FP16, TARE_ORIGIN_DRIVER, device->fp16);
	// Each lane does a multiply and an add each cycle.
	if (device->units && device->lanes && device->clock_hz)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_FP32, TARE_ORIGIN_FORMULA,
		                   2.0 * (double)device->units * (double)device->lanes *
		                       (double)device->clock_hz);
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_FP32,
		                 "the script lacks units, lanes or clock to compute it from");
	tare_fact_absent(facts, TARE_FACT_PEAK_FP64, "the script has no FP64 rate");
	for (int id = TARE_FACT_PEAK_TENSOR; id <= TARE_FACT_PEAK_FP64_TENSOR; id++)
		tare_fact_absent(facts, (enum tare_fact_id)id,
		                 "the simulated device has no tensor units");
	tare_fact_absent(facts, TARE_FACT_PEAK_LOCAL, "the script has no rate of local memory");
}

static void memory_facts(const struct tare_script *script, struct tare_facts *facts)
{
	const struct tare_script_device *device = &script->device;

	count_or_absent(facts, TARE_FACT_MEMORY, device->memory_bytes);
	count_or_absent(facts, TARE_FACT_MEMORY_MAX_ALLOCATION, device->largest_bytes);
	count_or_absent(facts, TARE_FACT_MEMORY_CLOCK, device->memory_clock_hz);
	count_or_absent(facts, TARE_FACT_MEMORY_BUS, device->memory_bus_bits);
	rate_or_absent(facts, TARE_FACT_PEAK_MEMORY, device->memory_rate);
	rate_or_absent(facts, TARE_FACT_PEAK_LINK, script->link.rate);
	count_or_absent(facts, TARE_FACT_CACHE, device->cache_bytes);
	count_or_absent(facts, TARE_FACT_LOCAL_MEMORY, device->local_bytes);
	tare_fact_set_count(facts, TARE_FACT_UNIFIED, TARE_ORIGIN_DRIVER, device->unified);
	tare_fact_set_count(facts, TARE_FACT_ECC, TARE_ORIGIN_DRIVER, device->ecc);
}

static void clock_facts(const struct tare_script *script, struct tare_facts *facts)
{
	static const char *const names[] = { "queued", "submitted", "start",
		                             "end",    "active",    "as positions in the queue" };
	const struct tare_clock_rate *rate = &script->timer.rate;
	char text[160] = "";

	tare_fact_set_count(facts, TARE_FACT_TIMER_RATE, TARE_ORIGIN_DRIVER,
	                    (rate->hz_numerator + rate->hz_denominator / 2) / rate->hz_denominator);
	tare_fact_set_rate(facts, TARE_FACT_TIMER_RESOLUTION, TARE_ORIGIN_DRIVER,
	                   tare_step_ns(rate));
	tare_fact_set_count(facts, TARE_FACT_TIMER_BITS, TARE_ORIGIN_DRIVER, rate->valid_bits);
	tare_fact_set_text(facts, TARE_FACT_TIMER_PAIRS, TARE_ORIGIN_DRIVER,
	                   script->has_pairs ? "yes, bracketed by the host clock" : "no");
	for (size_t i = 0, used = 0; i < sizeof names / sizeof *names; i++)
		if (script->stamps >> i & 1)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
			                         used ? ", " : "", names[i]);
	tare_fact_set_text(facts, TARE_FACT_PROFILING, TARE_ORIGIN_DRIVER, text[0] ? text : "none");
}

static void engine_facts(const struct tare_script *script, struct tare_facts *facts)
{
	unsigned of_class[2] = { 0, 0 };
	bool known = true;
	char text[96];

	for (size_t i = 0; i < script->engine_count; i++) {
		of_class[script->engines[i].compute]++;
		known = known && script->engines[i].known;
	}
	enum tare_fact_origin origin = known ? TARE_ORIGIN_DRIVER : TARE_ORIGIN_GUESS;
	tare_fact_set_count(facts, TARE_FACT_COPY_ENGINES, origin, of_class[0]);
	snprintf(text, sizeof text, "%u compute, %u copy", of_class[1], of_class[0]);
	tare_fact_set_text(facts, TARE_FACT_ENGINES, origin, text);
	tare_fact_set_count(facts, TARE_FACT_OUT_OF_ORDER, TARE_ORIGIN_DRIVER,
	                    script->lacks[TARE_LACK_OUT_OF_ORDER][0] == '\0');
}

void simulated_facts(const struct tare_script *script, struct tare_facts *facts)
{
	char text[256];

	memset(facts, 0, sizeof *facts);
	identity_facts(&script->device, facts);
	compute_facts(&script->device, facts);
	memory_facts(script, facts);
	clock_facts(script, facts);
	engine_facts(script, facts);
	tare_fact_absent(facts, TARE_FACT_PACKAGE, "a simulated device sits in no socket");
	tare_fact_absent(facts, TARE_FACT_NUMA, "a simulated device sits on no NUMA node");
	if (script->link.generation && script->link.width) {
		snprintf(text, sizeof text, "PCIe %u.0 x%u", (unsigned)script->link.generation,
		         (unsigned)script->link.width);
		tare_fact_set_text(facts, TARE_FACT_LINK_NOW, TARE_ORIGIN_DRIVER, text);
		tare_fact_set_text(facts, TARE_FACT_LINK_MAX, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_LINK_NOW, silent);
		tare_fact_absent(facts, TARE_FACT_LINK_MAX, silent);
	}
	tare_fact_absent(facts, TARE_FACT_POWER_LIMIT, "a simulated device has no power limit");
	if (script->telemetry.line) {
		tare_throttle_list(script->telemetry.throttle, text, sizeof text);
		tare_fact_set_text(facts, TARE_FACT_THROTTLE, TARE_ORIGIN_DRIVER,
		                   script->telemetry.throttle ? text : "none");
	} else {
		tare_fact_absent(facts, TARE_FACT_THROTTLE, silent);
	}
}
