// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia_peaks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// From NVIDIA's architecture papers and the table of arithmetic throughput in the CUDA C++
// programming guide. A zero is what they do not say.
static const struct cuda_lanes table[] = {
	{ 7, 0, "Volta", 64, 32, 1024, false },
	{ 7, 5, "Turing", 64, 2, 1024, false },
	{ 8, 0, "Ampere", 64, 32, 2048, false },
	{ 8, 6, "Ampere", 128, 2, 1024, true },
	{ 8, 7, "Ampere", 128, 2, 0, false },
	{ 8, 9, "Ada", 128, 2, 1024, true },
	{ 9, 0, "Hopper", 128, 64, 4096, false },
	{ 10, 0, "Blackwell", 128, 64, 8192, false },
	{ 10, 3, "Blackwell", 128, 0, 8192, false },
	{ 12, 0, "Blackwell", 128, 2, 1024, true },
};

const struct cuda_lanes *cuda_lanes_find(int major, int minor)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].major == major && table[i].minor == minor)
			return &table[i];
	return NULL;
}

uint32_t cuda_lanes_tensor(const struct cuda_lanes *lanes, const char *board_name)
{
	if (strcmp(board_name, "NVIDIA L40") == 0)
		return 0;  // its data sheet disagrees with its capability's rate
	return lanes->halved && strstr(board_name, "GeForce") ? lanes->tensor / 2 : lanes->tensor;
}

double cuda_peak_flops(uint32_t lanes, uint32_t multiprocessors, uint64_t clock_hz)
{
	return 2.0 * lanes * multiprocessors * (double)clock_hz;
}

double cuda_peak_memory(uint64_t memory_clock_hz, uint32_t bus_bits)
{
	return 2.0 * (double)memory_clock_hz * bus_bits / 8;
}

double cuda_peak_link(uint32_t generation, uint32_t width)
{
	// Gigatransfers/s a lane, and the share of them that the line code leaves.
	static const struct { double gigatransfers, share; } lane[] = {
		{ 0, 0 }, { 2.5, 0.8 }, { 5, 0.8 }, { 8, 128.0 / 130 }, { 16, 128.0 / 130 },
		{ 32, 128.0 / 130 }, { 64, 242.0 / 256 },
	};
	if (generation >= sizeof lane / sizeof *lane)
		return 0;
	return lane[generation].gigatransfers * 1e9 * lane[generation].share / 8 * width;
}

// A peak needs the lanes, the units and the clock; the first that is missing is the reason.
static void flops_fact(struct tare_facts *facts, enum tare_fact_id id, uint32_t lanes,
                       const char *missing_lanes)
{
	static const enum tare_fact_id needed[] = { TARE_FACT_UNITS, TARE_FACT_CLOCK };

	if (!lanes) {
		tare_fact_absent(facts, id, "%s", missing_lanes);
		return;
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!facts->fact[needed[i]].present) {
			tare_fact_absent(facts, id, "%s is not known", tare_fact_rows[needed[i]].title);
			return;
		}
	tare_fact_set_rate(facts, id, TARE_ORIGIN_FORMULA,
	                   cuda_peak_flops(lanes, (uint32_t)facts->fact[TARE_FACT_UNITS].count,
	                                   facts->fact[TARE_FACT_CLOCK].count));
}

void cuda_set_peaks(struct tare_facts *facts, int major, int minor, const char *why_not)
{
	const struct cuda_lanes *lanes = cuda_lanes_find(major, minor);
	const char *name = facts->fact[TARE_FACT_NAME].present ? facts->fact[TARE_FACT_NAME].text : "";
	char text[128];

	if (major > 0)
		snprintf(text, sizeof text, "tare does not know the lanes of compute capability %d.%d", major,
		         minor);
	else
		snprintf(text, sizeof text, "%s", why_not);
	if (lanes)
		tare_fact_set_count(facts, TARE_FACT_LANES, TARE_ORIGIN_FORMULA, lanes->fp32);
	else
		tare_fact_absent(facts, TARE_FACT_LANES, "%s", text);
	flops_fact(facts, TARE_FACT_PEAK_FP32, lanes ? lanes->fp32 : 0, text);
	flops_fact(facts, TARE_FACT_PEAK_FP64, lanes ? lanes->fp64 : 0, text);
	// The table has FLOP a clock here, not lanes of an FMA: halve, and the FMA's two come back.
	flops_fact(facts, TARE_FACT_PEAK_TENSOR, lanes ? cuda_lanes_tensor(lanes, name) / 2 : 0, text);
}
