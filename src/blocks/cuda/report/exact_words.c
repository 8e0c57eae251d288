// SPDX-License-Identifier: Apache-2.0
// Of the kernel that was counted: why it was not, what is not in its counts, and what they cost.
#include "analysis/hotspots/refused.h"
#include "base/units.h"
#include "blocks/cuda/report/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	uint64_t states[EXACT_STATES]; // of processes that were to count
	uint64_t met, alike, elsewhere, captured, lost, beside, late, empty;
	const struct samples_exact *refused;
};

static struct sums sum(const struct tare_pc_samples *samples)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < samples->exact_count; i++) {
		const struct samples_exact *each = &samples->exact[i];
		sums.met += each->state != EXACT_UNMET && each->state != EXACT_CAPTURED;
		if (each->state == EXACT_CAPTURED)
			sums.states[EXACT_CAPTURED]++;
		if (!each->counts || each->state >= EXACT_STATES)
			continue;
		if (each->state != EXACT_CAPTURED)
			sums.states[each->state]++;
		sums.alike += each->alike;
		sums.elsewhere += each->elsewhere;
		sums.captured += each->captured;
		sums.lost += each->lost;
		sums.beside += each->beside;
		sums.late += each->late;
		sums.empty += each->state == EXACT_COUNTED && !each->records;
		if (each->state == EXACT_REFUSED)
			sums.refused = each;
	}
	return sums;
}

static void say_refused(const struct samples_exact *exact, char *text, size_t size)
{
	char *why = exact->code == 8 ? strdup("there was no room for its counters, in memory or on "
	                                      "the device: free some")
	            : exact->code == 27
	                ? strdup("this device, or this driver, does not count executions "
	                         "(SASS metrics)")
	                : tare_counters_refused((uint32_t)exact->code, exact->where);

	snprintf(text, size, "the kernel was not counted: %s", why ? why : "no memory");
	free(why);
}

bool tare_exact_note(const struct tare_pc_samples *samples, uint32_t number, char *text,
                     size_t size)
{
	const struct sums sums = sum(samples);
	bool none = samples->exact_count && !sums.met;
	const struct {
		uint64_t number;
		const char *format;
	} rows[] = {
		{ none && !sums.states[EXACT_CAPTURED] && !sums.beside,
		  "no kernel that was launched has the name that --exact gives" },
		{ none ? sums.states[EXACT_CAPTURED] : 0,
		  "the kernel was not counted: it was launched into graphs only (by %" PRIu64
		  " process(es)); run the program without graphs" },
		{ sums.refused != NULL, NULL },
		{ sums.states[EXACT_NO_CUPTI],
		  "the kernel was not counted in %" PRIu64
		  " process(es): this CUPTI has no SASS metrics; one of CUDA 12.4 or later has "
		  "(TARE_CUPTI_LIBRARY names it)" },
		{ sums.states[EXACT_BEGUN],
		  "%" PRIu64
		  " process(es) ended without exit(): the kernel's counts there were not read" },
		{ sums.states[EXACT_UNFINISHED],
		  "the kernel still ran when its context ended, in %" PRIu64
		  " process(es): its counts there were not read" },
		{ sums.alike,
		  "%" PRIu64 " launches were of other kernels whose names fit --exact as "
		  "well: the first one that was launched is counted; give more of its "
		  "name" },
		{ sums.elsewhere,
		  "%" PRIu64 " launches of the kernel in other contexts were not counted" },
		{ none ? 0 : sums.captured,
		  "%" PRIu64 " launches of the kernel were into graphs: their runs count where the "
		  "graph was made after the kernel's first launch, and are not among the "
		  "launches" },
		{ sums.beside,
		  "%" PRIu64 " launches of the kernel were not counted: a graph was captured "
		  "meanwhile, which switching counters on would break" },
		{ sums.late,
		  "%" PRIu64
		  " launches of the kernel were not counted: its module had been unloaded, "
		  "and CUPTI counts once a process" },
		{ sums.empty, "the kernel was not counted in %" PRIu64
		              " process(es): CUPTI had no counts of it" },
		{ sums.lost,
		  "%" PRIu64
		  " counts had no room in the file: the kernel has too many instructions" },
	};
	uint32_t have = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].number || have++ != number)
			continue;
		if (!rows[i].format)
			say_refused(sums.refused, text, size);
		else
			// NOLINTNEXTLINE
			snprintf(text, size, rows[i].format, rows[i].number);
		return true;
	}
	return false;
}

bool tare_exact_kernel_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                            size_t size)
{
	const struct tare_exact *exact = kernel->exact;
	uint32_t have = 0;

	if (!exact)
		return false;
	if (exact->whole == TARE_EXACT_DIFFERS && have++ == number) {
		snprintf(text, size,
		         "counts are missing: %" PRIu64 " warps were launched, and %" PRIu64
		         " were counted",
		         exact->warps, exact->begun);
		return true;
	}
	if (exact->astray && have++ == number) {
		snprintf(text, size,
		         "%" PRIu64 " executions lie outside of the function, and are in no block",
		         exact->astray);
		return true;
	}
	if (exact->uneven && have++ == number) {
		snprintf(text, size,
		         "%" PRIu32 " block(s) are divided too coarsely: their instructions were "
		         "not executed equally often",
		         exact->uneven);
		return true;
	}
	return false;
}

const char *tare_exact_cost(const struct tare_exact *exact, char text[TARE_EXACT_WORDS])
{
	char plain[TARE_UNIT_TEXT], counted[TARE_UNIT_TEXT];

	if (!exact->timed || !exact->plain_ns) {
		snprintf(text, TARE_EXACT_WORDS,
		         "how much slower counting made it is not known: no launch was timed with "
		         "counters and without (--once leaves the run without out)");
		return text;
	}
	double timed = (double)exact->timed;
	snprintf(text, TARE_EXACT_WORDS,
	         "counting made it %.1f times as slow: %s a launch, and %s without (%" PRIu64
	         " launch%s, device's events%s)",
	         (double)exact->counted_ns / (double)exact->plain_ns,
	         tare_format_ns((double)exact->counted_ns / timed, counted),
	         tare_format_ns((double)exact->plain_ns / timed, plain), exact->timed,
	         exact->timed == 1 ? "" : "es",
	         exact->first ? "; the first, with the time to put counters in" : "");
	return text;
}

const char *tare_exact_begun(const struct tare_exact *exact)
{
	static const char *const clauses[] = {
		[TARE_EXACT_WHOLE] = "each began once, by its first instruction",
		[TARE_EXACT_DIFFERS] = "counts are missing",
		[TARE_EXACT_UNKNOWN] =
		    ("whether all were counted cannot be checked: graphs are launched as well, or "
		     "warps come back to its first instruction"),
	};

	return clauses[exact->whole];
}
