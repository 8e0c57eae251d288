// SPDX-License-Identifier: Apache-2.0
// What the measuring commands have in common: outputs, device, progress, interruption, report.
#pragma once
#include "cli/devices/device_select.h"
#include "cli/options/option.h"
#include "cli/terminal/output.h"
#include "measure/core/run.h"

// Runs `measure` on the chosen device between opening the outputs and writing them. `context` is
// handed on. What `measure` returns decides: 0; -EINTR: written and marked as interrupted;
// -EBADMSG: written, but the command has failed; else nothing is written.
// Returns an enum tare_exit.
int tare_measure_command(const struct tare_settings *settings, enum tare_need need,
                         int (*measure)(struct tare_run *run, const void *context,
                                        struct tare_error *error),
                         const void *context, struct tare_error *error);

// The same for a --device that means one.
int tare_measure_one_command(const struct tare_settings *settings, enum tare_need need,
                             int (*measure)(struct tare_run *run, const void *context,
                                            struct tare_error *error),
                             const void *context, struct tare_error *error);

// The seed that was asked for, or one that nobody chose; simulated devices stay the same each time.
uint64_t tare_choose_seed(const struct tare_settings *settings, bool simulated);

// Writes the outputs, then the text report to standard output (unless that is an output) and the
// paths. Returns TARE_EXIT_OK or TARE_EXIT_FAILED.
int tare_report_all(const struct tare_settings *settings, struct tare_outputs *outputs,
                    const struct tare_result *result, struct tare_error *error);
