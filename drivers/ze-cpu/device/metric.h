// SPDX-License-Identifier: Apache-2.0
// Metric groups and queries, as far as other files have to do with them.
#pragma once
#include "ze_cpu.h"

// What the group's table has of queries.
void metric_query_fill_group(zet_metric_group_dditable_t *members);
// A group's place among the script's.
size_t metric_group_place(zet_metric_group_handle_t group);
// Metrics of a group.
uint32_t metric_count_of(size_t group);
// The query begins to count what the device does, or ends. Any thread.
void metric_query_turn(zet_metric_query_handle_t query, bool begins);
// The device runs a kernel, whatever queue it comes from: queries that have begun count it.
void metric_launched(const char *kernel);
