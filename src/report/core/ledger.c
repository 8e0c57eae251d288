// SPDX-License-Identifier: Apache-2.0
// Ledgers as declared tables (ledger*.def).
#include "report/core/ledger.h"

#define SOURCE struct tare_ledger
#define SOURCE_NAME ledger
#define ROW int64_t
#define TABLE parts
#define COLUMNS "report/core/ledger_parts.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_parts_table, "ledger_parts", "Parts of a ledger", "a category", NULL,
           struct tare_ledger, ledger, TARE_LEDGER_CATEGORIES, &ledger->parts_ns[index],
           parts_columns);

static bool occurred(const void *ledger, const void *ns)
{
	(void)ledger;
	return *(const int64_t *)ns != 0;
}

#define CELL (row - &ledger->matrix_ns[0][0])
#define HOST ((enum tare_host_state)(CELL / TARE_DEVICE_STATES))
#define DEVICE ((enum tare_device_state)(CELL % TARE_DEVICE_STATES))
#define ROW int64_t
#define TABLE matrix
#define COLUMNS "report/core/ledger_matrix.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_matrix_table, "ledger_matrix", "Host against device",
           "two states that occurred together", NULL, struct tare_ledger, ledger,
           TARE_HOST_STATES *TARE_DEVICE_STATES, &ledger->matrix_ns[0][0] + index, matrix_columns,
           .keep = occurred);

#define ROW struct tare_ledger
#define TABLE ledger
#define COLUMNS "report/core/ledger.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_table, "ledger", "Ledger", "a ledger", NULL, struct tare_ledger, ledger, 1,
           ledger, ledger_columns);
