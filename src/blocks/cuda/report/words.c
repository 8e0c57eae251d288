// SPDX-License-Identifier: Apache-2.0
// What is missing, and why; names; places.
#include "analysis/hotspots/refused.h"
#include "base/path.h"
#include "base/units.h"
#include "blocks/cuda/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *tare_sampled_name(const struct tare_sampled_kernel *kernel)
{
	return kernel->plain ? kernel->plain : kernel->name;
}

const char *tare_sampled_why(enum tare_sampled_why why)
{
	static const char *const clauses[] = {
		[TARE_SAMPLED_KNOWN] = "",
		[TARE_SAMPLED_NOT_ASKED] = "launches were not counted (--executions counts them)",
		[TARE_SAMPLED_NO_LAUNCH] = "no launch of it was seen",
		[TARE_SAMPLED_GRAPHS] =
		    "the program launches graphs, whose kernels are not counted",
		[TARE_SAMPLED_TWICE] = "the program has several kernels of this name",
		[TARE_SAMPLED_BY_DEVICE] = "kernels of its module may be launched by the device",
		[TARE_SAMPLED_UNCOUNTED] =
		    "the hardware did not count its instructions, which takes one more run, "
		    "without --once, and is done for the 16 kernels with most samples",
		[TARE_SAMPLED_FEW] = "its instructions were met too seldom while they issued: a "
		                     "longer run, or a smaller --period",
		[TARE_SAMPLED_NO_CODE] = "its module was not kept",
		[TARE_SAMPLED_LOST] = "launches were not counted for want of room",
	};

	return clauses[why];
}

// ---- cost

const char *tare_sampled_cost(const struct tare_pc_samples *samples, int64_t plain_ns,
                              int64_t sampled_ns, char text[TARE_SAMPLED_COST])
{
	const struct samples_header *sums = &samples->sums;
	uint64_t once = sums->enable_ns + sums->disable_ns + sums->module_ns;
	char more[TARE_UNIT_TEXT], ends[TARE_UNIT_TEXT];

	if (!plain_ns || samples->exact_count || !sums->contexts)
		return NULL;
	if (sampled_ns <= plain_ns)
		snprintf(text, TARE_SAMPLED_COST,
		         "sampled the program took no longer, by one run each");
	else
		snprintf(
		    text, TARE_SAMPLED_COST,
		    "sampled the program took %s longer (%.2f times), by one run each: %s to "
		    "begin, to end and for modules; the rest is the first kernel's wait, launches, "
		    "and chance; a longer run has a smaller share of it",
		    tare_format_ns((double)(sampled_ns - plain_ns), more),
		    (double)sampled_ns / (double)plain_ns, tare_format_ns((double)once, ends));
	return text;
}

// ---- notes of all

static uint64_t processes_in(const struct tare_pc_samples *samples, enum samples_state state)
{
	uint64_t count = 0;

	for (size_t i = 0; i < samples->process_count; i++)
		count += samples->processes[i].state == state;
	return count;
}

static void say_refused(const struct tare_pc_samples *samples, char *text, size_t size)
{
	for (size_t i = 0; i < samples->process_count; i++) {
		const struct tare_pc_samples_process *process = &samples->processes[i];
		if (process->state != SAMPLES_REFUSED)
			continue;
		char *why =
		    process->code == 8
		        ? strdup("there was no room for samples, in memory or $TMPDIR: free "
		                 "some")
		        : tare_counters_refused((uint32_t)process->code, process->where);
		snprintf(text, size, "process %" PRIu32 " was not sampled: %s", process->pid,
		         why ? why : "no memory");
		free(why);
		return;
	}
}

// Of what was counted, by the hardware and exactly.
static bool say_counts(const struct tare_pc_samples *samples, uint32_t number, char *text,
                       size_t size)
{
	if (samples->uncounted && number-- == 0) {
		snprintf(text, size,
		         "instructions were not counted, so blocks have no executions: %s",
		         samples->uncounted);
		return true;
	}
	return tare_exact_note(samples, number, text, size);
}

// A row: whether it applies, and its sentence with one number.
struct row {
	uint64_t number;
	const char *format;
};

bool tare_pc_samples_note(const struct tare_pc_samples *samples, uint32_t number, char *text,
                          size_t size)
{
	const struct samples_header *sums = &samples->sums;
	uint64_t open = sums->contexts - sums->ended_contexts;
	const struct row rows[] = {
		{ processes_in(samples, SAMPLES_REFUSED), NULL },
		{ processes_in(samples, SAMPLES_NO_CUPTI),
		  "%" PRIu64
		  " process(es) were not sampled: there is no CUPTI with PC sampling; install "
		  "NVIDIA's (cuda-cupti), or name its file in TARE_CUPTI_LIBRARY" },
		{ processes_in(samples, SAMPLES_TAKEN),
		  "%" PRIu64
		  " process(es) were not sampled: the program, or another tool, uses CUPTI "
		  "already; run without it" },
		{ sums->buffer_full,
		  "the hardware's buffer was full %" PRIu64 " time(s), and samples were lost from "
		  "then on: sample less often by a larger --period" },
		{ sums->dropped, "the hardware dropped %" PRIu64
		                 " samples: sample less often by a larger --period" },
		{ sums->lost_samples,
		  "%" PRIu64 " samples had no room in the file: free some in $TMPDIR, or sample a "
		  "shorter run" },
		{ sums->lost_instructions, "the samples of %" PRIu64
		                           " instructions were lost when their context ended: they "
		                           "were more than CUPTI was given room for" },
		{ sums->unread_contexts,
		  "%" PRIu64 " context(s) ended while another thread read them: the end of their "
		  "samples is missing" },
		{ sums->failed_contexts - (sums->contexts ? 0 : sums->failed_contexts),
		  "%" PRIu64 " context(s) were not sampled, though others were" },
		{ open, "%" PRIu64
		        " context(s) were still in use when their process ended without exit(): "
		        "the last quarter of a second is missing" },
		{ sums->lost_modules,
		  "%" PRIu64
		  " module(s) could not be kept: their kernels have no blocks and no lines; "
		  "free some room in $TMPDIR" },
		{ sums->not_users,
		  "%" PRIu64 " samples are of the driver's own kernels, which are not shown" },
		{ samples->kernel_count || sums->total ? 0 : sums->contexts,
		  "%" PRIu64
		  " context(s) were sampled, and no kernel was met: the program launched "
		  "none, or for so short a time that a smaller --period is needed" },
	};
	uint32_t have = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].number || have++ != number)
			continue;
		if (!rows[i].format)
			say_refused(samples, text, size);
		else
			// NOLINTNEXTLINE
			snprintf(text, size, rows[i].format, rows[i].number);
		return true;
	}
	return say_counts(samples, number - have, text, size);
}

// ---- notes of a kernel

bool tare_sampled_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                       size_t size)
{
	uint32_t sm = kernel->cubin ? kernel->cubin->sm : 0;
	enum tare_sass_known known = kernel->cubin ? tare_sass_known(sm) : TARE_SASS_COMPARED;
	const struct row rows[] = {
		{ !kernel->cubin, "no blocks and no lines: its module was not kept" },
		{ kernel->cubin && !kernel->function,
		  "no blocks and no lines: its module has no such "
		  "function" },
		{ known == TARE_SASS_FOREIGN ? sm : 0,
		  "no blocks: tare does not read the instructions of sm_%" PRIu64 },
		{ known == TARE_SASS_ASSUMED ? sm : 0,
		  "blocks may be divided wrongly: the instructions of sm_%" PRIu64
		  " are taken to be as those of its neighbours" },
		{ kernel->split.indirect, "blocks may be divided too coarsely: where %" PRIu64
		                          " branch(es) lead is not read (tables of branches)" },
		{ kernel->split.unknown,
		  "%" PRIu64 " instructions are of a sort that tare does not know" },
		{ kernel->astray,
		  "%" PRIu64 " samples lie outside of the function, and are in no block" },
		{ kernel->function && !kernel->line_count && kernel->count,
		  "no lines: compile with -lineinfo" },
	};
	uint32_t have = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].number && have++ == number) {
			snprintf(text, size, rows[i].format, rows[i].number);
			return true;
		}
	uint32_t left = number - have, said = 0;
	while (tare_accounts_note(kernel, said, text, size))
		if (said++ == left)
			return true;
	return tare_exact_kernel_note(kernel, left - said, text, size);
}

void tare_sampled_instruction(const struct tare_sampled_kernel *kernel, uint32_t instruction,
                              char *text, size_t size)
{
	uint64_t pc = tare_sampled_pc(kernel, instruction);

	if (kernel->text && kernel->text[instruction]) {
		snprintf(text, size, "%s", kernel->text[instruction]);
		return;
	}
	if (!kernel->function || tare_sass_known(kernel->cubin->sm) == TARE_SASS_FOREIGN) {
		snprintf(text, size, "?");
		return;
	}
	struct tare_sass read = tare_sass_read(kernel->function->code + pc, kernel->cubin->sm, pc);
	const char *name = read.name ? read.name : "?";
	if (read.has_target)
		snprintf(text, size, "%s%s 0x%" PRIx64, read.conditional ? "@P " : "", name,
		         (uint64_t)read.target);
	else
		snprintf(text, size, "%s%s", read.conditional ? "@P " : "", name);
}

const char *tare_sampled_file(const struct tare_sampled_kernel *kernel, uint32_t file)
{
	const char *name =
	    file < kernel->cubin->lines.file_count ? kernel->cubin->lines.files[file] : "?";

	return tare_path_name(name);
}

// ---- figures and places

const char *tare_sampled_figure(const struct tare_sampled *figure, char text[TARE_SAMPLED_WORDS])
{
	char value[TARE_UNIT_TEXT];

	if (!figure->known)
		return "n/a";
	tare_format_significant(figure->value, 4, value);
	if (figure->low == figure->high)
		snprintf(text, TARE_SAMPLED_WORDS, "%s", value);
	else
		snprintf(text, TARE_SAMPLED_WORDS, "%s \xc2\xb1%.1f %%", value,
		         100 * fmax(figure->high - figure->value, figure->value - figure->low) /
		             figure->value);
	return text;
}

const char *tare_sampled_waits(const struct tare_stall_counts *counts,
                               char text[TARE_SAMPLED_WORDS])
{
	enum tare_stall order[TARE_STALLS];
	uint32_t count = tare_stalls_order(counts, order), shown = 0;
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < count && shown < 2; i++)
		if (order[i] != TARE_STALL_SELECTED)
			used += (size_t)snprintf(
			    text + used, TARE_SAMPLED_WORDS - used, "%s%s %.0f %%",
			    shown++ ? ", " : "", tare_stall_name(order[i]),
			    100 * (double)counts->by[order[i]] / (double)counts->all);
	return text;
}

const char *tare_sampled_place(const struct tare_sampled_kernel *kernel, uint32_t first,
                               uint32_t count, char text[TARE_SAMPLED_WORDS])
{
	for (uint32_t i = 0; kernel->function && i < count; i++) {
		const struct tare_elf_row *row = tare_cubin_line(
		    kernel->cubin, kernel->function, tare_sampled_pc(kernel, first + i));
		if (!row)
			continue;
		snprintf(text, TARE_SAMPLED_WORDS, "%.40s:%" PRIu32,
		         tare_sampled_file(kernel, row->file), row->line);
		return text;
	}
	return "-";
}

void tare_exact_refuse(const char *pattern, const struct tare_pc_samples *samples,
                       struct tare_error *error)
{
	const char *most = samples->kernel_count ? tare_sampled_name(samples->kernels) : NULL;
	char note[700];

	if (!samples->used)
		tare_fail(error, ENODATA, "--exact %.200s: the program used no CUDA", pattern);
	else if (!samples->exact_count)
		tare_fail(error, ENODATA, "--exact %.200s: %s", pattern,
		          tare_pc_samples_note(samples, 0, note, sizeof note)
		              ? note
		              : "nothing was counted");
	else
		tare_fail(error, ENODATA, "--exact %.200s: %s%s%.200s", pattern,
		          tare_exact_note(samples, 0, note, sizeof note) ? note
		                                                         : "nothing was counted",
		          most ? "; most samples has " : "", most ? most : "");
}
