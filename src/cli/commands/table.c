// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/table.h"

#include "cli/options/commands.h"

// In the order of tare help.
const struct tare_command *const tare_commands[] = {
	&tare_devices_command,
	&tare_latency_command,
	&tare_bandwidth_command,
	&tare_peak_command,
	&tare_matmul_command,
	&tare_overlap_command,
	&tare_checkup_command,
	&tare_record_command,
	&tare_report_command,
	&tare_run_command,
	&tare_hotspots_command,
	&tare_blocks_command,
	&tare_export_command,
	&tare_render_command,
	&tare_help_command,
	&tare_describe_command,
	NULL,
};
