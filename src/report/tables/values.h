// SPDX-License-Identifier: Apache-2.0
// Values that several tables have. Internal to src/report/tables.
#pragma once
#include "report/core/figures.h"
#include "table/table.h"

// What drivers and systems tell as 0 where they do not tell it.
#define TOLD(value) tare_not_zero(value, TARE_NOT_TOLD)

// Rows that a text shows of `count`: `top`, or all with -v.
size_t tare_rows_shown(struct tare_text *text, size_t count, size_t top);

// Of a device by an index of the recording; absent where it is not there.
struct tare_cell_value tare_run_device_name(const struct tare_report *run, uint32_t device);
struct tare_cell_value tare_run_device(const struct tare_report *run, uint32_t device);
// The moment, from the start of the run; absent for TARE_NO_TIME.
struct tare_cell_value tare_run_moment(const struct tare_report *run, int64_t at_ns);
// The program of an index; NULL: it is not known.
const struct tare_recorded_program *tare_run_program(const struct tare_report *run,
                                                     uint32_t program);
struct tare_cell_value tare_run_source_hash(const struct tare_recorded_program *program);
struct tare_cell_value tare_run_build_options(const struct tare_recorded_program *program);
// A figure of `estimate`; absent where all were timed that could be.
struct tare_cell_value tare_run_estimated(const struct tare_estimate *estimate, double ns);
// A cell with an estimate and its interval, or "≥" and `timed_ns`, which the timed took, where the
// sample tells nothing; false where all were timed that could be.
bool tare_run_estimate_cell(const struct tare_estimate *estimate, int64_t timed_ns,
                            const struct tare_cell_text *cell);
// From where the costliest kernels, or kinds of transfers, were issued: a line below their table;
// nothing without recorded stacks.
void tare_issued_text(struct tare_text *text, const struct tare_report *run, bool kernels);
// The longest idle gaps, with -v.
void tare_gaps_text(struct tare_text *text, const struct tare_report *run);
