// SPDX-License-Identifier: Apache-2.0
// The declared tables of a recorded run; their source is a struct tare_report.
#pragma once
#include "report/core/figures.h"
#include "table/table.h"

// All that JSON, CSV, SQLite and the page write, in this order; ended by NULL.
extern const struct tare_table *const tare_run_tables[];
extern const struct tare_table tare_table_tasks, tare_table_transfers, tare_table_sites,
    tare_table_api, tare_table_builds, tare_table_queues, tare_table_phases, tare_table_gaps,
    tare_table_devices, tare_table_processes;

// ---- as text: nothing where there are no rows

// How long they took, how they fill the device and, with -v, their sizes and what the driver says
// of them.
void tare_tasks_text(struct tare_text *text, const struct tare_report *run);
void tare_transfers_text(struct tare_text *text, const struct tare_report *run);
void tare_sites_text(struct tare_text *text, const struct tare_report *run);
void tare_calls_text(struct tare_text *text, const struct tare_report *run);
void tare_builds_text(struct tare_text *text, const struct tare_report *run);
void tare_queues_text(struct tare_text *text, const struct tare_report *run);
void tare_processes_text(struct tare_text *text, const struct tare_report *run);
void tare_phases_text(struct tare_text *text, const struct tare_report *run);
