// SPDX-License-Identifier: Apache-2.0
// The columns of a table of a recorded run: table/declare.h, over `run` (struct tare_report). A
// file that includes this has defined COLUMNS and ROW. docs/adding-a-column.md.
#include "report/core/run.h"

#define SOURCE struct tare_report
#define SOURCE_NAME run
#include "table/declare.h"
#undef SOURCE
#undef SOURCE_NAME

// The declared table `tare_table_NAME` of these columns, and how many rows it has.
#ifndef TARE_RUN_TABLE
#define TARE_RUN_TABLE(name, heading, sentence, without, how_many, which)                          \
	TARE_TABLE(, tare_table_##name, #name, heading, sentence, without, struct tare_report,     \
	           run, how_many, which, declared_columns);
#endif
