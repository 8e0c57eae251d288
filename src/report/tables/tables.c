// SPDX-License-Identifier: Apache-2.0
#include "report/tables/tables.h"

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
