// SPDX-License-Identifier: Apache-2.0
// Options that several commands take; those of one command are in its file.
#pragma once
#include "cli/options/option.h"

extern const struct tare_option_group tare_device_options; // of what measures
extern const struct tare_option_group tare_ze_cpu_options; // of what may use our Level Zero driver
extern const struct tare_option_group tare_build_options;  // of what builds a kernel of the user's
extern const struct tare_option_group tare_peaks_options;  // of what is compared with ceilings
extern const struct tare_option_group tare_measuring_options;      // of what measures
extern const struct tare_option_group tare_recording_options;      // of what records
extern const struct tare_option_group tare_recording_time_options; // of what records: when
extern const struct tare_option_group tare_recording_more_options; // of what records: what else
extern const struct tare_option_group tare_viewing_options;        // of what reads a trace
extern const struct tare_option_group tare_reporting_options;      // of what reports on a trace
extern const struct tare_option_group tare_writing_options;        // of what writes results
extern const struct tare_option_group tare_quiet_options;          // of all but reports
extern const struct tare_option_group tare_verbose_options;        // of what prints facts
extern const struct tare_option_group tare_help_options;           // of all
