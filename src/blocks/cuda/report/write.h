// SPDX-License-Identifier: Apache-2.0
// What was sampled of CUDA kernels, as text, as CSV and on a page.
#pragma once
#include "blocks/cuda/findings.h"
#include "blocks/cuda/samples.h"
#include "report/terminal/write.h"

#include <stdio.h>

// A kernel's name as in the source.
const char *tare_sampled_name(const struct tare_sampled_kernel *kernel);
// Why its executions are not known: a clause.
const char *tare_sampled_why(enum tare_sampled_why why);
// Where executions of a block come from, and how its kernel's accounts came out: a word; NULL:
// there are none (accounts_words.c).
const char *tare_executions_from(enum tare_executions_from from);
const char *tare_accounts_word(enum tare_accounts_end end);
// What is to be said of both, and of states that were counted and sampled, a sentence each.
bool tare_accounts_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                        size_t size);
enum { TARE_SAMPLED_COST = 300 };
// What sampling cost the program, from the time of a run without (0: there was none) and one with
// it: a sentence without a full stop; NULL: that is not known.
const char *tare_sampled_cost(const struct tare_pc_samples *samples, int64_t plain_ns,
                              int64_t sampled_ns, char text[TARE_SAMPLED_COST]);
// What is missing, and why, a sentence each; `number` from 0 on. False: there are no more.
bool tare_pc_samples_note(const struct tare_pc_samples *samples, uint32_t number, char *text,
                          size_t size);
// The same of a kernel.
bool tare_sampled_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                       size_t size);
// What an instruction is, by nvdisasm or by tare's own reading: "LDG", "BRA 0x1e0".
void tare_sampled_instruction(const struct tare_sampled_kernel *kernel, uint32_t instruction,
                              char *text, size_t size);
// The file of a line: its name without folders.
const char *tare_sampled_file(const struct tare_sampled_kernel *kernel, uint32_t file);
enum { TARE_SAMPLED_WORDS = 80 };
// "1.2e6 ± 3 %", "12" or "n/a"; of an interval's two ends the farther one counts.
const char *tare_sampled_figure(const struct tare_sampled *figure, char text[TARE_SAMPLED_WORDS]);
// The two most frequent reasons to wait: "long_scoreboard 62 %, wait 10 %".
const char *tare_sampled_waits(const struct tare_stall_counts *counts,
                               char text[TARE_SAMPLED_WORDS]);
// The line of the first of some instructions that has one: "a.cu:12"; "-": none has.
const char *tare_sampled_place(const struct tare_sampled_kernel *kernel, uint32_t first,
                               uint32_t count, char text[TARE_SAMPLED_WORDS]);

// ---- of the kernel that was counted (exact.c, exact_words.c)

// Why none was, or what is not in its counts, as tare_pc_samples_note; and of the kernel.
bool tare_exact_note(const struct tare_pc_samples *samples, uint32_t number, char *text,
                     size_t size);
// Why the kernel that is to be counted, by the pattern that a person gave, cannot be: none fits it,
// or something else. The sentence goes into *error.
void tare_exact_refuse(const char *pattern, const struct tare_pc_samples *samples,
                       struct tare_error *error);
bool tare_exact_kernel_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                            size_t size);
enum { TARE_EXACT_WORDS = 300 };
// What counting cost, or why that is not known; whether all warps were counted: clauses.
const char *tare_exact_cost(const struct tare_exact *exact, char text[TARE_EXACT_WORDS]);
const char *tare_exact_begun(const struct tare_exact *exact);
struct tare_sampled_row;
struct tare_pc_samples_rows;
// Of a kernel that was not counted: nothing. 0, or -ENOMEM.
int tare_exact_text(struct tare_text *text, const struct tare_sampled_row *row);

// 0, or -ENOMEM. `plain_ns`: of the run without sampling; 0: there was none.
int tare_pc_samples_text(struct tare_text *text, const struct tare_pc_samples_rows *rows,
                         int64_t plain_ns, int64_t sampled_ns);
void tare_pc_samples_csv(const struct tare_pc_samples_rows *rows, FILE *file);
int tare_pc_samples_page(const struct tare_pc_samples_rows *rows, FILE *file);
