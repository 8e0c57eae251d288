// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia_peaks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// From NVIDIA's architecture papers and the table of arithmetic throughput in the CUDA C++
// programming guide. A zero is what they do not say.
static const struct cuda_lanes table[] = {
	{ 7, 0, "Volta", 64, 32, 1024, false, 0, 0, 0, 0, 128 },
	{ 7, 5, "Turing", 64, 2, 1024, false, 0, 0, 2048, 0, 64 },
	{ 8, 0, "Ampere", 64, 32, 2048, false, 1024, 2048, 4096, 128, 128 },
	{ 8, 6, "Ampere", 128, 2, 1024, true, 512, 1024, 2048, 0, 128 },
	{ 8, 7, "Ampere", 128, 2, 0, false, 0, 0, 0, 0, 128 },
	{ 8, 9, "Ada", 128, 2, 1024, true, 512, 1024, 2048, 0, 128 },
	{ 9, 0, "Hopper", 128, 64, 4096, false, 2048, 4096, 8192, 256, 128 },
	{ 10, 0, "Blackwell", 128, 64, 8192, false, 4096, 8192, 16384, 128, 128 },
	{ 10, 3, "Blackwell", 128, 0, 8192, false, 0, 8192, 0, 0, 128 },
	{ 12, 0, "Blackwell", 128, 2, 1024, true, 512, 1024, 2048, 0, 128 },
};

const struct cuda_lanes *cuda_lanes_find(int major, int minor)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].major == major && table[i].minor == minor)
			return &table[i];
	return NULL;
}

// A rate of products that are added up in FP32.
static uint32_t of_board(const struct cuda_lanes *lanes, uint32_t rate, const char *board_name)
{
	if (strcmp(board_name, "NVIDIA L40") == 0)
		return 0; // its data sheet disagrees with its capability's rate
	return lanes->halved && strstr(board_name, "GeForce") ? rate / 2 : rate;
}

uint32_t cuda_lanes_tensor(const struct cuda_lanes *lanes, const char *board_name)
{
	return of_board(lanes, lanes->tensor, board_name);
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
	static const struct {
		double gigatransfers, share;
	} lane[] = {
		{ 0, 0 },
		{ 2.5, 0.8 },
		{ 5, 0.8 },
		{ 8, 128.0 / 130 },
		{ 16, 128.0 / 130 },
		{ 32, 128.0 / 130 },
		{ 64, 242.0 / 256 },
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
			tare_fact_absent(facts, id, "%s is not known",
			                 tare_fact_rows[needed[i]].title);
			return;
		}
	tare_fact_set_rate(facts, id, TARE_ORIGIN_FORMULA,
	                   cuda_peak_flops(lanes, (uint32_t)facts->fact[TARE_FACT_UNITS].count,
	                                   facts->fact[TARE_FACT_CLOCK].count));
}

// The table has operations or bytes a clock here, not lanes of an FMA: halve, and the FMA's two
// come back.
static void matrix_facts(struct tare_facts *facts, const struct cuda_lanes *lanes, const char *name,
                         const char *unknown)
{
	const struct {
		enum tare_fact_id id;
		uint32_t a_clock;
	} rows[] = {
		{ TARE_FACT_PEAK_TF32, lanes ? of_board(lanes, lanes->tf32, name) : 0 },
		{ TARE_FACT_PEAK_BF16, lanes ? of_board(lanes, lanes->bf16, name) : 0 },
		// Matrix units that know FP8 (from 8.9 on) do it at the rate of INT8.
		{ TARE_FACT_PEAK_FP8, lanes && 10 * lanes->major + lanes->minor >= 89
		                          ? of_board(lanes, lanes->int8, name)
		                          : 0 },
		{ TARE_FACT_PEAK_INT8, lanes && strcmp(name, "NVIDIA L40") ? lanes->int8 : 0 },
		{ TARE_FACT_PEAK_FP64_TENSOR, lanes ? lanes->fp64_tensor : 0 },
		{ TARE_FACT_PEAK_LOCAL, lanes ? lanes->shared_bytes : 0 },
	};
	char none[96] = "";

	if (lanes)
		snprintf(none, sizeof none,
		         "none, or no rate published, at compute capability %d.%d", lanes->major,
		         lanes->minor);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		flops_fact(facts, rows[i].id, rows[i].a_clock / 2, lanes ? none : unknown);
}

void cuda_set_peaks(struct tare_facts *facts, int major, int minor, const char *why_not)
{
	const struct cuda_lanes *lanes = cuda_lanes_find(major, minor);
	const char *name =
	    facts->fact[TARE_FACT_NAME].present ? facts->fact[TARE_FACT_NAME].text : "";
	char text[128];

	if (major > 0)
		snprintf(text, sizeof text,
		         "tare does not know the lanes of compute capability %d.%d", major, minor);
	else
		snprintf(text, sizeof text, "%s", why_not);
	if (lanes)
		tare_fact_set_count(facts, TARE_FACT_LANES, TARE_ORIGIN_FORMULA, lanes->fp32);
	else
		tare_fact_absent(facts, TARE_FACT_LANES, "%s", text);
	flops_fact(facts, TARE_FACT_PEAK_FP32, lanes ? lanes->fp32 : 0, text);
	flops_fact(facts, TARE_FACT_PEAK_FP64, lanes ? lanes->fp64 : 0, text);
	flops_fact(facts, TARE_FACT_PEAK_TENSOR, lanes ? cuda_lanes_tensor(lanes, name) / 2 : 0,
	           text);
	matrix_facts(facts, lanes, name, text);
}
