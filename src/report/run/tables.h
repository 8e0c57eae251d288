// SPDX-License-Identifier: Apache-2.0
// The report of a run as a declared table (tables/*.def). Internal to src/report, but for the list
// of what is declared.
#pragma once
#include "report/run/report.h"
#include "table/table.h"

struct tare_report_finding {
	const struct tare_report *run;
	const struct tare_finding *of;
};

struct tare_report_document {
	const struct tare_report *run;
	const struct tare_report_problems *problems;
	const struct tare_report_finding *findings; // of each
};

// All but the tables of tare_run_tables, of struct tare_report_document.
extern const struct tare_table tare_report_document_table;
// The parts of a run, of struct tare_report.
extern const struct tare_table tare_run_parts_table;
