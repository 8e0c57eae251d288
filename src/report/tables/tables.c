// SPDX-License-Identifier: Apache-2.0
#include "report/tables/tables.h"

#include "report/core/table_json.h"

#include <errno.h>

const struct tare_table *const tare_run_tables[] = {
	&tare_table_phases,
	&tare_table_tasks,
	&tare_table_transfers,
	&tare_table_sites,
	&tare_table_api,
	&tare_table_builds,
	&tare_table_queues,
	&tare_table_gaps,
	&tare_table_devices,
	&tare_table_processes,
	NULL,
};

#if TARE_HAVE_JSON
int tare_run_declarations(FILE *file)
{
	struct tare_json json = { false };
	json_t *list = json_array();
	int status;

	for (size_t i = 0; tare_run_tables[i]; i++)
		tare_json_push(&json, list, tare_table_declaration(&json, tare_run_tables[i]));
	status = !list || json.failed ? -ENOMEM : tare_json_layout(list, file);
	json_decref(list);
	return status;
}
#else
int tare_run_declarations(FILE *file)
{
	(void)file;
	return -ENOSYS;
}
#endif
