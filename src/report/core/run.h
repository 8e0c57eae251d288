// SPDX-License-Identifier: Apache-2.0
// A recorded run with all that was computed of it: what reports, pages and exports are written
// from.
#pragma once
#include "analysis/findings/findings.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tables/phases.h"
#include "analysis/tables/tables.h"

// Everything that a report is written from; the view is the one that the others were computed for.
struct tare_report {
	const struct tare_recording *recording;
	const struct tare_view *view;
	const struct tare_ledgers *ledgers;
	const struct tare_tables *tables;
	const struct tare_findings *findings;
	const struct tare_phases *phases; // of the whole run unless the view is a part of it
	const struct tare_sites *sites;
	struct tare_symbols *symbols; // NULL: no stacks were recorded
	// how the trace was found: "the newest of 3 here"; NULL or "": it was named
	const char *choice;
};

// Whether anything is known of what devices did; else there are no ledgers and no gaps to show:
// they would say that the devices were idle.
static inline bool tare_report_devices_known(const struct tare_report *run)
{
	return tare_no_command_is_known(run->tables->summary.why_no_command);
}

// Whether there were commands and none of them has device times: then no share of the devices' time
// is known, though the tables have 0.
bool tare_report_nothing_timed(const struct tare_report *run);

// The number of a device, from 0, among the different ones of a recording; `device` is any index
// of it. TARE_NO_INDEX for one that is not there.
uint32_t tare_report_device_number(const struct tare_recording *recording, uint32_t device);
// The APIs by which a device is seen, of all devices that are the same one: bits 1 << enum
// tare_trace_api.
uint64_t tare_report_device_apis(const struct tare_recording *recording, uint32_t device);
// What told that the device of several APIs is one (enum tare_same_by); nothing when it is of one.
uint32_t tare_report_joined_by(const struct tare_recording *recording, uint32_t device);
// The name of a device as texts have it: "NVIDIA H200", or "#1 NVIDIA H200" with its number where
// there are several. `size` bytes of `text`, which is returned. "?" for one that is not there.
const char *tare_report_device_name(const struct tare_recording *recording, uint32_t device,
                                    char *text, size_t size);
