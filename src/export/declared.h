// SPDX-License-Identifier: Apache-2.0
// The tables of the report, as they are declared (report/tables/tables.h), as tables of an export.
#pragma once
#include "export/rows.h"

// The table of a declared one: of its columns those that CSV and SQLite can keep. It is called as
// the declared one behind "report_". NULL beyond the last.
const struct export_table *export_declared_table(size_t index);
