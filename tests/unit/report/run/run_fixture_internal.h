// SPDX-License-Identifier: Apache-2.0
// What the files of run_fixture.c share: tables and findings of the runs made by hand.
#pragma once
#include "run_fixture.h"

#define MS INT64_C(1000000)
#define START (INT64_C(5000) * 1000 * MS) // runs do not begin at 0
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { RUN_FIXTURE_TASKS = 14 }; // that there is room for

// run_fixture_tables.c: the tables of the first run, and a task that nothing is known of.
void run_fixture_tables(struct tare_tables *tables);
struct tare_task run_fixture_untimed_task(const char *name);

// run_fixture_findings.c
void run_fixture_findings(struct run_fixture *fixture);
void run_fixture_many_findings(struct run_fixture *fixture);
void run_fixture_unjudged(struct run_fixture *fixture);
