// SPDX-License-Identifier: Apache-2.0
// Which device a command works on.
#pragma once
#include "backend/backend.h"
#include "cli/options/option.h"
#include "result/result.h"

// What a command asks of an API; one that only lists devices is passed over.
enum tare_need { TARE_NEED_LISTING, TARE_NEED_LATENCY, TARE_NEED_BANDWIDTH, TARE_NEED_KERNELS };

// Finds every device that `what` (the value of --device; NULL: all) can mean and adds them, and the
// APIs that gave none, to `found`. Devices are opened only for a listing. Returns TARE_EXIT_OK,
// also when there are none, or TARE_EXIT_FAILED.
int tare_devices_find(const char *what, enum tare_need need, struct tare_result *found,
                      struct tare_error *error);

// Marks in chosen[found->device_count] the devices that `what` means (NULL: all): one physical
// device, which may be there several times, once an API; or, for the bare name of an API, all of
// its devices. Returns TARE_EXIT_OK, TARE_EXIT_USAGE (no such device, or several) with the
// candidates in the error, or TARE_EXIT_FAILED (there is none at all).
int tare_devices_choose(const char *what, const struct tare_result *found, bool *chosen,
                        struct tare_error *error);

// The index in found->devices of the best chosen one for `need`: a GPU before an accelerator before
// a CPU, and for one physical device the first API in the registry's order. The simulated device
// counts only when `what` named it. Returns -1 with the reason when none will do.
int tare_devices_best(const char *what, enum tare_need need, const struct tare_result *found,
                      const bool *chosen, struct tare_error *error);

// Moves entry `index` of `found` to the end of result->devices; what is left behind is empty.
// Returns 0 or -ENOMEM.
int tare_device_move(struct tare_result *found, size_t index, struct tare_result *result);

// Whether `what` can mean several devices: "all", "cuda:all", or a list with commas.
bool tare_devices_are_several(const char *what);

// Devices to be measured one after the other; at[i] is entry i of the document's devices.
struct tare_selected {
	char name[48];  // "cuda:0"; scripts of the simulated device count from simulated:0
	char *script;   // of the simulated device, else NULL; owned
	uint32_t index; // in its driver
};
struct tare_selection {
	struct tare_selected *at;
	size_t count;
};

#define TARE_SELECTION_MOST 64

// Finds what such a `what` means, once a physical device (each under the first API that can measure
// it, unless the list names others), and adds the devices to result->devices, what is left out and
// why to its warnings, and what is the same to its conclusions. Nothing is opened. Returns as
// tare_devices_choose; tare_selection_clear in any case.
int tare_devices_select(const char *what, enum tare_need need, struct tare_result *result,
                        struct tare_selection *selection, struct tare_error *error);
void tare_selection_clear(struct tare_selection *selection);

// What follows "simulated:" in `what` when it is a script and no number, else NULL.
const char *tare_device_script(const char *what);
