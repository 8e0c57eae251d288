// SPDX-License-Identifier: Apache-2.0
// What tare blocks found, as text, as JSON (blocks.schema.json), as CSV and as a page.
#pragma once
#include "blocks/clock/times.h"
#include "blocks/cuda/samples.h"
#include "blocks/gains/gains.h"
#include "blocks/intel/model.h"
#include "blocks/options/trials.h"
#include "blocks/profile.h"
#include "report/terminal/options.h"
#include "table/table.h"

#include <stdio.h>

struct tare_blocks_document {
	char *const *program; // with its arguments, NULL-terminated
	int exit_status;      // of the run that was counted; -1: a signal ended it
	int exit_signal;      // that signal; 0: none
	int64_t plain_ns,
	    counted_ns; // wall time of the run without counting (0: there was none) and with it
	const struct tare_blocks_builds *builds;
	const struct tare_blocks_profile *profile;
	const struct tare_blocks_profile
	    *before; // the same before the optimisation; no kernels: not counted
	const struct tare_pc_samples *samples; // of CUDA kernels
	const struct tare_blocks_models *models;
	const struct tare_blocks_times *times; // of the host's clock
	const struct tare_blocks_gains *gains; // what findings can bring
	const struct tare_blocks_trials
	    *trials; // of build options; of no set where none was asked for
};

// Why launches of a kernel were not counted: a clause with the way out, without a full stop.
void tare_blocks_why(const struct tare_blocks_document *document,
                     const struct tare_blocks_kernel *kernel, char *text, size_t size);
// Whether the program was run once only (--once): nothing but CUDA's kernels was looked at.
static inline bool tare_blocks_ran_once(const struct tare_blocks_document *document)
{
	return document->plain_ns == 0;
}
// How many launches count, of how many.
void tare_blocks_coverage(const struct tare_blocks_profile *profile, uint64_t *counted,
                          uint64_t *launches);

// A kernel as it was counted before the optimisation; NULL: it was not (that run may have launched
// others), or nothing was optimised.
const struct tare_blocks_kernel *tare_blocks_before(const struct tare_blocks_profile *before,
                                                    const struct tare_blocks_kernel *kernel);
// Why a kernel that was launched in that run was not counted in it; false: it was, or was not
// launched.
bool tare_blocks_why_not_before(const struct tare_blocks_document *document,
                                const struct tare_blocks_kernel *kernel, char *text, size_t size);

// 0, or -ENOMEM. Errors of the file stick to it. With -v all blocks and lines.
int tare_blocks_text(const struct tare_blocks_document *document,
                     const struct tare_text_options *options, FILE *file);
// 0, -ENOMEM, or -ENOTSUP with a sentence: built without a JSON library.
int tare_blocks_json(const struct tare_blocks_document *document, FILE *file,
                     struct tare_error *error);
// A row for each block that ran, or instruction that was sampled, or set of options. 0, or -ENOMEM.
int tare_blocks_csv(const struct tare_blocks_document *document, FILE *file);
// A self-contained page in HTML, without scripts. 0, or -ENOMEM.
int tare_blocks_page(const struct tare_blocks_document *document, FILE *file);
// Hands on the document as one row of a declared table, with which other tools get it (tables
// within rows, as in the JSON). Returns what `take` does, or -ENOMEM.
int tare_blocks_declared(const struct tare_blocks_document *document,
                         int (*take)(void *context, const struct tare_table *table,
                                     const void *source),
                         void *context);
