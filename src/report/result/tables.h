// SPDX-License-Identifier: Apache-2.0
// The declared tables of results: what the text, the JSON and the page of a result show of them is
// what its command's text writes.
#pragma once
#include "table/table.h"

// All of them; ended by NULL.
extern const struct tare_table *const tare_result_tables[];
// As CSV alone: cells behind their labels, of a struct tare_result; and what is known of devices,
// of the list that tare_device_properties made.
extern const struct tare_table tare_csv_cells, tare_csv_devices;
// Its source is a struct tare_device_entry.
extern const struct tare_table tare_table_device_kernels;
extern const struct tare_table tare_table_latency, tare_table_bandwidth_lines,
    tare_table_bandwidth_cells, tare_table_peak_grid, tare_table_peak_sweep,
    tare_table_peak_ceilings, tare_table_matmul_rates, tare_table_matmul_parts,
    tare_table_matmul_ceilings, tare_table_matmul_speed_ups, tare_table_overlap_stages,
    tare_table_overlap_gains, tare_table_overlap_schedules, tare_table_several_devices,
    tare_table_several_links, tare_table_several_peers;
