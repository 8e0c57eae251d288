// SPDX-License-Identifier: Apache-2.0
// Metric groups, queries and streamers, as far as other files have to do with them.
#pragma once
#include "ze_cpu.h"

// What the group's table has of queries.
void metric_query_fill_group(zet_metric_group_dditable_t *members);
// A group's place among the script's.
size_t metric_group_place(zet_metric_group_handle_t group);
// Whether its queries and streamers count.
bool metric_group_is_active(size_t group);
// What the script says of a metric for a kernel, else for any; NULL: nothing.
const struct tare_script_metric_value *metric_value_of(size_t metric, const char *kernel);
// A value as the API hands it out; counts: enum tare_metric_count.
void metric_value_make(size_t metric, uint64_t whole, uint8_t counts, zet_typed_value_t *value);
// A streamer's report, as it is handed out; its values are calculated as those of a query.
struct metric_report {
	uint64_t mark, group, begin_ns, period_ns;
};
#define METRIC_REPORT_MARK UINT64_C(0x7461726572657075)
ze_result_t metric_reports_calculate(size_t group, size_t bytes, const uint8_t *data,
                                     uint32_t *count, zet_typed_value_t *values);
// Metrics of a group.
uint32_t metric_count_of(size_t group);
// The query begins to count what the device does, or ends. Any thread.
void metric_query_turn(zet_metric_query_handle_t query, bool begins);
// The device runs a kernel, whatever queue it comes from: queries that have begun count it.
void metric_launched(const char *kernel);
