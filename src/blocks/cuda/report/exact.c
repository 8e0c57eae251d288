// SPDX-License-Identifier: Apache-2.0
// The kernel that was counted, as text and on the page; and why one was not.
#include "analysis/hotspots/collect.h"
#include "base/units.h"
#include "blocks/cuda/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, TEXT = 700, WORDS = TARE_SAMPLED_WORDS };

// ---- why not, and what is not in it

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

// ---- figures

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double lanes_of(const struct tare_exact_counts *counts)
{
	return counts->warps ? (double)counts->threads / (double)counts->warps : 0;
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
		    "whether all were counted cannot be checked: graphs are launched as well, or "
		    "warps come back to its first instruction",
	};

	return clauses[exact->whole];
}

// ---- text

static void write_mix(const struct tare_exact *exact, FILE *file)
{
	bool first = true;

	fprintf(file, "  executed: %" PRIu64 " instructions by warps, %.2f of 32 lanes",
	        exact->all.warps, lanes_of(&exact->all));
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++) {
		double percent = share(exact->by_class[i].warps, exact->all.warps);
		if (percent < 0.05)
			continue;
		fprintf(file, "%s%s %.1f %%", first ? ": " : ", ",
		        tare_sass_class_name((enum tare_sass_class)i), percent);
		first = false;
	}
	fputs("\n  by opcode (warps, lanes): ", file);
	for (size_t i = 0; i < exact->opcode_count && i < ROWS; i++)
		fprintf(file, "%s%s %" PRIu64 " %" PRIu64, i ? ", " : "",
		        exact->opcodes[i].name ? exact->opcodes[i].name : "unknown",
		        exact->opcodes[i].counts.warps, exact->opcodes[i].counts.threads);
	fputs(exact->opcode_count > ROWS ? ", ...\n" : "\n", file);
}

static int write_blocks(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	size_t count;
	uint32_t *order = tare_exact_order(kernel, true, &count);

	if (!order)
		return -ENOMEM;
	fprintf(file, "\n  %5s %13s %8s %16s %6s  %s\n", "block", "instructions", "executed",
	        "executions", "lanes", "line");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		const struct tare_sass_block *block = &kernel->split.at[order[i]];
		const struct tare_exact_block *counted = &exact->blocks[order[i]];
		char line[WORDS];
		fprintf(file,
		        "  %5" PRIu32 " %6" PRIx64 "-%-6" PRIx64 " %6.1f %% %16" PRIu64
		        "%s %5.2f  %s\n",
		        order[i], tare_sampled_pc(kernel, block->first),
		        tare_sampled_pc(kernel, block->first + block->count - 1),
		        share(counted->all.warps, exact->all.warps), counted->executions,
		        counted->even ? " " : "*", lanes_of(&counted->all),
		        tare_sampled_place(kernel, block->first, block->count, line));
	}
	if (exact->uneven)
		fputs("  * of its first instruction\n", file);
	if (!verbose && count > ROWS)
		fprintf(file, "  %zu more blocks; --verbose shows them\n", count - ROWS);
	free(order);
	return 0;
}

static void write_lines(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;

	if (!exact->line_count)
		return;
	fprintf(file, "\n  %8s %16s %6s  %s\n", "executed", "instructions", "lanes", "line");
	for (size_t i = 0; i < exact->line_count && (verbose || i < ROWS); i++)
		fprintf(file, "  %6.1f %% %16" PRIu64 " %6.2f  %s:%" PRIu32 "\n",
		        share(exact->lines[i].counts.warps, exact->all.warps),
		        exact->lines[i].counts.warps, lanes_of(&exact->lines[i].counts),
		        tare_sampled_file(kernel, exact->lines[i].file), exact->lines[i].line);
}

static int write_instructions(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	size_t count;
	uint32_t *order = tare_exact_order(kernel, false, &count);

	if (!order)
		return -ENOMEM;
	fprintf(file, "\n  %16s %6s %6s %-20s %s\n", "executions", "lanes", "pc", "line",
	        "instruction");
	for (size_t i = 0; i < count && (verbose || i < ROWS); i++) {
		char text[TEXT], line[WORDS];
		tare_sampled_instruction(kernel, order[i], text, sizeof text);
		fprintf(file, "  %16" PRIu64 " %6.2f %6" PRIx64 " %-20s %s\n",
		        exact->at[order[i]].warps, lanes_of(&exact->at[order[i]]),
		        tare_sampled_pc(kernel, order[i]),
		        tare_sampled_place(kernel, order[i], 1, line), text);
	}
	free(order);
	return 0;
}

int tare_exact_text(const struct tare_sampled_kernel *kernel, bool verbose, FILE *file)
{
	const struct tare_exact *exact = kernel->exact;
	char text[TARE_EXACT_WORDS];

	if (!exact)
		return 0;
	fprintf(file, "  counted exactly: %" PRIu64 " launch%s, %" PRIu64 " warps; %s\n",
	        exact->launches, exact->launches == 1 ? "" : "es", exact->warps,
	        tare_exact_begun(exact));
	fprintf(file, "  %s\n", tare_exact_cost(exact, text));
	int status = 0;
	if (exact->blocks) {
		write_mix(exact, file);
		status = write_blocks(kernel, verbose, file);
		write_lines(kernel, verbose, file);
	}
	return status == 0 ? write_instructions(kernel, verbose, file) : status;
}
