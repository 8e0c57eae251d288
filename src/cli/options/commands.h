// SPDX-License-Identifier: Apache-2.0
// Every command: one file each. See struct tare_command for what they return.
#pragma once
#include "cli/options/option.h"

extern const struct tare_command tare_devices_command;
extern const struct tare_command tare_latency_command;
extern const struct tare_command tare_bandwidth_command;
extern const struct tare_command tare_peak_command;
extern const struct tare_command tare_matmul_command;
extern const struct tare_command tare_overlap_command;
extern const struct tare_command tare_checkup_command;
extern const struct tare_command tare_record_command;
extern const struct tare_command tare_report_command;
extern const struct tare_command tare_run_command;
extern const struct tare_command tare_hotspots_command;
extern const struct tare_command tare_blocks_command;
extern const struct tare_command tare_export_command;
extern const struct tare_command tare_render_command;
extern const struct tare_command tare_help_command;
extern const struct tare_command tare_describe_command;
