// SPDX-License-Identifier: Apache-2.0
// `devices --kernel`: does a file build on these devices, and what do their drivers say of its
// kernels?
#pragma once
#include "cli/options/option.h"
#include "result/result.h"

// What is wrong with --kernel, --entry, --build-options and sets of --options before anything is
// looked for. Returns TARE_EXIT_OK, or TARE_EXIT_USAGE or TARE_EXIT_FAILED with a sentence.
int tare_device_kernels_check(const struct tare_settings *settings, const struct tare_texts *sets,
                              struct tare_error *error);

// Builds settings->kernel for each device of `result`, one after the other, with --build-options
// and, for each of `sets`, with that behind them; and adds its kernels, or why it has none, to the
// device's entry; build logs go to standard error. Returns TARE_EXIT_OK; TARE_EXIT_FAILED with a
// sentence when it does not build where it should, or nowhere: `result` is complete then as well.
int tare_device_kernels(const struct tare_settings *settings, const struct tare_texts *sets,
                        struct tare_result *result, struct tare_error *error);

// Some drivers' compilers end the whole program on damaged input, by exit() or a crash. Between
// begin (true) and end (false) that is said, with the name of settings->kernel, on standard error;
// the exit status is TARE_EXIT_FAILED.
void tare_build_guard(const struct tare_settings *settings, bool begins);

// The first lines of what a compiler said, to standard error.
void tare_print_build_log(const char *log);
