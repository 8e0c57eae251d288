// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/counters_tables.h"

#include "analysis/hotspots/collect.h"
#include "analysis/hotspots/roles.h"
#include "base/room.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tare_counters_add(struct tare_counters_listed *listed, size_t depth,
                      const struct tare_counter_row *row)
{
	struct tare_counter_row *rows = tare_grow(listed->rows, listed->count, sizeof *rows);
	size_t *depths;

	if (!rows)
		return -ENOMEM;
	listed->rows = rows;
	depths = tare_grow(listed->depths, listed->count, sizeof *depths);
	if (!depths)
		return -ENOMEM;
	listed->depths = depths;
	depths[listed->count] = depth;
	rows[listed->count] = (struct tare_counter_row){ strdup(row->name), strdup(row->unit),
		                                         strdup(row->description), row->tells };
	const struct tare_counter_row *made = &rows[listed->count++];
	return made->name && made->unit && made->description ? 0 : -ENOMEM;
}

void tare_counters_free(struct tare_counters_listed *listed)
{
	for (size_t i = 0; i < listed->count; i++) {
		free((char *)listed->rows[i].name);
		free((char *)listed->rows[i].unit);
		free((char *)listed->rows[i].description);
	}
	free(listed->rows);
	free(listed->depths);
}

#define SOURCE struct tare_counters_listed
#define SOURCE_NAME listed
#define ROW struct tare_counter_row
#define TABLE counters
#define COLUMNS "cli/devices/tables/counters.def"
#include "table/declare.h"
TARE_ROWS(counters, "counters", "Counters", "a group, or a counter of it", listed->count,
          listed->rows);
#undef SOURCE
#undef SOURCE_NAME

static const char *const units[] = { [TARE_COUNTER_UNIT_NS] = "ns",
	                             [TARE_COUNTER_UNIT_PERCENT] = "%",
	                             [TARE_COUNTER_UNIT_BYTES] = "bytes",
	                             [TARE_COUNTER_UNIT_COUNT] = "number" };

static bool is_asked(const void *roles, const void *role)
{
	return tare_counter_is_asked(
	    (enum tare_counter_role)((const struct tare_counter_role_row *)role -
	                             (const struct tare_counter_role_row *)roles),
	    false);
}

#define SOURCE struct tare_counter_role_row
#define SOURCE_NAME roles
#define ROW struct tare_counter_role_row
#define TABLE roles
#define COLUMNS "cli/devices/tables/roles.def"
#include "table/declare.h"
TARE_ROWS(roles, "roles", "What is asked for", "a figure of a launch", TARE_COUNTER_ROLES, roles,
          .keep = is_asked);
#undef SOURCE
#undef SOURCE_NAME

static void write_table(struct tare_text *text, const struct tare_table *table, const void *source,
                        const size_t *depths)
{
	tare_table_text(text, table, source,
	                &(struct tare_table_part){
	                    .on = TARE_ON_TEXT, .flush = true, .indent = 2, .depths = depths });
}

void tare_counters_listed_text(struct tare_text *text, const struct tare_counters_listed *listed)
{
	write_table(text, &counters_table, listed, listed->depths);
}

void tare_counters_asked_text(struct tare_text *text)
{
	write_table(text, &roles_table, tare_counter_roles, NULL);
}
