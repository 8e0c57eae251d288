// SPDX-License-Identifier: Apache-2.0
#include "report/result/tables.h"

const struct tare_table *const tare_result_tables[] = {
	&tare_table_latency,
	&tare_table_bandwidth_lines,
	&tare_table_bandwidth_cells,
	&tare_table_peak_grid,
	&tare_table_peak_sweep,
	&tare_table_peak_ceilings,
	&tare_table_matmul_rates,
	&tare_table_matmul_parts,
	&tare_table_matmul_ceilings,
	&tare_table_matmul_speed_ups,
	&tare_table_overlap_stages,
	&tare_table_overlap_gains,
	&tare_table_overlap_schedules,
	&tare_table_several_devices,
	&tare_table_several_links,
	&tare_table_several_peers,
	&tare_table_device_kernels,
	&tare_csv_devices,
	&tare_csv_cells,
	NULL,
};
