// SPDX-License-Identifier: Apache-2.0
// Tables of command lists and their executions.
#include "export/rows.h"

#define TABLE list
#define ROW struct tare_recorded_list
#define COLUMNS "export/columns/list.def"
#include "export/own.h"
EXPORT_OWN(list, struct tare_recorded_list, "a command list, from when it was made or last reset",
           r->list_count, &r->lists[index],
           tare_view_filter_has_process(rows->members, row->process))

#define TABLE execution
#define ROW struct tare_recorded_execution
#define COLUMNS "export/columns/execution.def"
#include "export/own.h"
EXPORT_OWN(execution, struct tare_recorded_execution, "one execution of a list by a command",
           r->execution_count, &r->executions[index],
           row->command < r->command_count &&
               tare_view_filter_has_command(rows->members, TARE_COMMAND(r, row->command)))
