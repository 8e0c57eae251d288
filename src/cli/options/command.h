// SPDX-License-Identifier: Apache-2.0
// The commands, one file each: commands/cmd_NAME.c. See struct tare_command for what they return.
#pragma once
#include "cli/options/option.h"

int tare_command_devices(const struct tare_settings *settings, struct tare_error *error);
int tare_command_latency(const struct tare_settings *settings, struct tare_error *error);
int tare_command_bandwidth(const struct tare_settings *settings, struct tare_error *error);
int tare_command_peak(const struct tare_settings *settings, struct tare_error *error);
int tare_command_matmul(const struct tare_settings *settings, struct tare_error *error);
int tare_command_overlap(const struct tare_settings *settings, struct tare_error *error);
int tare_command_checkup(const struct tare_settings *settings, struct tare_error *error);
int tare_command_render(const struct tare_settings *settings, struct tare_error *error);
int tare_command_record(const struct tare_settings *settings, struct tare_error *error);
int tare_command_report(const struct tare_settings *settings, struct tare_error *error);
int tare_command_run(const struct tare_settings *settings, struct tare_error *error);
int tare_command_export(const struct tare_settings *settings, struct tare_error *error);
int tare_command_help(const struct tare_settings *settings, struct tare_error *error);
int tare_command_describe(const struct tare_settings *settings, struct tare_error *error);
