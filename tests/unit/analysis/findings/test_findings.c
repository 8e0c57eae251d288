// SPDX-License-Identifier: Apache-2.0
// Every finding about kernels and the host: raised, not raised on either side of its threshold,
// inside the clocks' residual, without device times.
#include "findings_rig.h"

// ---- the rules

static const struct {
	const char *id;
	bool raised;
	int64_t least_ns, most_ns; // that it costs, when raised; 0: not looked at
	struct script script;
} cases[] = {
	{ "many-short-kernels",
	  true,
	  590 * US,
	  610 * US,
	  { .run_ns = 2 * US, .dispatch_ns = 3 * US } },
	{ "many-short-kernels", false, 0, 0, { .run_ns = 2 * US } },
	{ "many-short-kernels", false, 0, 0, { .run_ns = 101 * US, .dispatch_ns = 60 * US } },
	{ "many-short-kernels", true, 0, 0, { .run_ns = 99 * US, .dispatch_ns = 60 * US } },
	{ "many-short-kernels", false, 0, 0, { .run_ns = 50 * US, .dispatch_ns = 22 * US } },
	{ "many-short-kernels", true, 0, 0, { .run_ns = 50 * US, .dispatch_ns = 28 * US } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .launches = 99, .run_ns = 2 * US, .dispatch_ns = 3 * US } },
	{ "many-short-kernels",
	  true,
	  0,
	  0,
	  { .launches = 100, .run_ns = 2 * US, .dispatch_ns = 3 * US } },
	// In a launch loop the device's clock alone measures the gaps; with another call in it both
	// do.
	{ "many-short-kernels",
	  true,
	  590 * US,
	  610 * US,
	  { .run_ns = 2 * US, .dispatch_ns = 3 * US, .residual_ns = 1 * MS } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .run_ns = 2 * US, .api_ns = 49 * US, .residual_ns = 49 * US } },
	{ "many-short-kernels",
	  true,
	  0,
	  0,
	  { .run_ns = 2 * US, .api_ns = 49 * US, .residual_ns = 47 * US } },
	// Fewer work-items than lanes, however long they run against their launching.
	{ "many-short-kernels",
	  true,
	  9 * MS,
	  10 * MS,
	  { .run_ns = 99 * US, .units = 8, .multiple = 32, .global = { 1 }, .local = { 1 } } },
	{ "many-short-kernels",
	  true,
	  0,
	  0,
	  { .run_ns = 50 * US, .units = 8, .multiple = 32, .global = { 192 } } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .run_ns = 50 * US, .units = 8, .multiple = 32, .global = { 256 } } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .run_ns = 50 * US, .multiple = 32, .global = { 1 }, .local = { 1 } } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .run_ns = 101 * US, .units = 8, .multiple = 32, .global = { 1 }, .local = { 1 } } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .launches = 99, .run_ns = 50 * US, .units = 8, .global = { 1 }, .local = { 1 } } },
	{ "synchronous-launches", true, 4100 * US, 4200 * US, { .return_ns = 20 * US } },
	// What is issued behind the return can hide beside the kernels, no more of it than they
	// run.
	{ "synchronous-launches",
	  true,
	  13900 * US,
	  14000 * US,
	  { .return_ns = 20 * US, .api_ns = 200 * US, .run_ns = 50 * US } },
	{ "synchronous-launches", false, 0, 0, { .return_ns = 9 * US } },
	{ "synchronous-launches", true, 0, 0, { .return_ns = 11 * US } },
	{ "synchronous-launches", false, 0, 0, { .launches = 16, .return_ns = 20 * US } },
	{ "synchronous-launches", true, 0, 0, { .launches = 17, .return_ns = 20 * US } },
	{ "synchronous-launches", false, 0, 0, { .return_ns = 20 * US, .residual_ns = 22 * US } },
	{ "synchronous-launches", true, 0, 0, { .return_ns = 20 * US, .residual_ns = 19 * US } },
	{ "synchronous-launches", false, 0, 0, { .api_ns = 249 * US } },
	{ "synchronize-drains",
	  true,
	  4000 * US,
	  4400 * US,
	  { .cuda = true, .compute_ns = 20 * US } },
	{ "synchronize-drains", true, 4000 * US, 4400 * US, { .cuda = true, .wake_ns = 20 * US } },
	// What the host computes is another finding's; its waits are not, whatever the API.
	{ "synchronize-drains", false, 0, 0, { .compute_ns = 20 * US } },
	{ "synchronize-drains", true, 4000 * US, 4400 * US, { .wake_ns = 20 * US } },
	{ "synchronize-drains",
	  true,
	  590 * US,
	  1200 * US,
	  { .run_ns = 2 * US, .dispatch_ns = 3 * US, .wait = true } },
	{ "many-short-kernels",
	  false,
	  0,
	  0,
	  { .run_ns = 2 * US, .dispatch_ns = 3 * US, .wait = true } },
	{ "synchronize-drains", false, 0, 0, { .launches = 16, .wake_ns = 20 * US } },
	{ "synchronize-drains", true, 0, 0, { .launches = 17, .wake_ns = 20 * US } },
	{ "synchronize-drains", false, 0, 0, { .cuda = true, .compute_ns = 8 * US } },
	{ "synchronize-drains", true, 0, 0, { .cuda = true, .compute_ns = 12 * US } },
	{ "synchronize-drains",
	  false,
	  0,
	  0,
	  { .cuda = true, .launches = 16, .compute_ns = 40 * US } },
	{ "synchronize-drains",
	  true,
	  0,
	  0,
	  { .cuda = true, .launches = 17, .compute_ns = 40 * US } },
	{ "synchronize-drains",
	  false,
	  0,
	  0,
	  { .cuda = true, .compute_ns = 20 * US, .residual_ns = 22 * US } },
	{ "synchronize-drains", false, 0, 0, { .cuda = true } },
	// The host's own work is the longer one: only the device's can be hidden behind it.
	{ "synchronize-drains",
	  true,
	  3900 * US,
	  4100 * US,
	  { .cuda = true, .run_ns = 20 * US, .compute_ns = 100 * US } },
	{ "idle-host-computes", false, 0, 0, { .cuda = true, .compute_ns = 20 * US } },
	{ "idle-host-waits", false, 0, 0, { .cuda = true, .wake_ns = 20 * US } },
	{ "idle-host-computes",
	  true,
	  0,
	  0,
	  { .cuda = true, .launches = 16, .compute_ns = 40 * US } },
	{ "launch-bound", false, 0, 0, { .return_ns = 40 * US } },
	{ "launch-bound", true, 9 * MS, 11 * MS, { .api_ns = 249 * US } },
	// What recording takes of the calls is not saved.
	{ "launch-bound",
	  true,
	  5500 * US,
	  6500 * US,
	  { .api_ns = 249 * US, .command_cost_ns = 20 * US } },
	{ "launch-bound", false, 0, 0, { .api_ns = 190 * US } },
	{ "launch-bound", false, 0, 0, { .api_ns = 214 * US } },
	{ "launch-bound", true, 0, 0, { .api_ns = 230 * US } },
	{ "launch-bound", false, 0, 0, { .launches = 90, .api_ns = 249 * US } },
	{ "launch-bound", false, 0, 0, { .api_ns = 249 * US, .residual_ns = 51 * US } },
	{ "launch-bound", true, 0, 0, { .api_ns = 249 * US, .residual_ns = 48 * US } },
	{ "launch-bound", false, 0, 0, { .run_ns = 2 * US, .api_ns = 50 * US } },
	{ "launch-bound", false, 0, 0, { .api_ns = 2 * MS, .api_every = 4 } },
	{ "launch-bound", true, 0, 0, { .api_ns = 2 * MS, .api_every = 1 } },
	{ "start-up-builds", true, 600 * MS, 600 * MS, { .start_build_ns = 600 * MS } },
	{ "start-up-builds", false, 0, 0, { .start_build_ns = 490 * MS } },
	{ "start-up-builds", false, 0, 0, { .start_build_ns = 600 * MS, .run_ns = 10 * MS } },
	{ "start-up-builds", true, 0, 0, { .start_build_ns = 600 * MS, .run_ns = 8 * MS } },
	{ "start-up-builds", false, 0, 0, { .start_build_ns = 600 * MS, .native = true } },
	// After the first command, too; but where they rule the working part that is said instead.
	{ "start-up-builds",
	  true,
	  1100 * MS,
	  1100 * MS,
	  { .start_build_ns = 600 * MS, .build_ns = 500 * MS } },
	{ "idle-host-builds", false, 0, 0, { .start_build_ns = 600 * MS, .build_ns = 500 * MS } },
	{ "start-up-builds", true, 600 * MS, 600 * MS, { .build_ns = 600 * MS, .run_ns = 4 * MS } },
	{ "idle-host-builds", false, 0, 0, { .build_ns = 600 * MS, .run_ns = 4 * MS } },
	{ "start-up-builds", false, 0, 0, { .build_ns = 600 * MS } },
	{ "idle-host-builds", true, 0, 0, { .build_ns = 600 * MS } },
	// Of one call of a function no more than the host's own 50 ms can be done beside it.
	{ "start-up-calls", true, 50 * MS, 50 * MS, { .start_call_ns = 600 * MS } },
	{ "start-up-calls", false, 0, 0, { .start_call_ns = 480 * MS } },
	{ "start-up-calls", true, 0, 0, { .start_call_ns = 500 * MS } },
	{ "start-up-calls", false, 0, 0, { .start_call_ns = 600 * MS, .run_ns = 10 * MS } },
	{ "start-up-calls", true, 0, 0, { .start_call_ns = 600 * MS, .run_ns = 8 * MS } },
	{ "start-up-calls", false, 0, 0, { .start_build_ns = 600 * MS } },
	// What is built is no work of the host's beside which they could be done.
	{ "start-up-calls",
	  true,
	  50 * MS,
	  50 * MS,
	  { .start_call_ns = 600 * MS, .start_build_ns = 600 * MS } },
	// Others may keep a thread off the CPU for any time: its calls are told all the same.
	{ "start-up-calls",
	  true,
	  600 * MS,
	  610 * MS,
	  { .start_call_ns = 600 * MS, .start_off_ns = 5000 * MS } },
	{ "start-up-calls", false, 0, 0, { .start_call_ns = 600 * MS, .start_own_ns = 5000 * MS } },
	{ "start-up-calls", false, 0, 0, { .start_own_ns = 600 * MS } },
	{ "start-up-builds", false, 0, 0, { .start_call_ns = 600 * MS } },
	// Beside 10 ms of calls, and 40 ms of the device's work but for the first kernel.
	{ "start-up-host", true, 49 * MS, 50 * MS, { .start_own_ns = 600 * MS } },
	{ "start-up-host", false, 0, 0, { .start_own_ns = 440 * MS } },
	{ "start-up-host", true, 0, 0, { .start_own_ns = 460 * MS } },
	{ "start-up-host",
	  true,
	  650 * MS,
	  650 * MS,
	  { .start_own_ns = 600 * MS, .run_ns = 8 * MS } },
	{ "start-up-host", false, 0, 0, { .start_own_ns = 600 * MS, .run_ns = 10 * MS } },
	{ "start-up-host", false, 0, 0, { .start_call_ns = 600 * MS } },
	{ "start-up-host", false, 0, 0, { .end_own_ns = 600 * MS } },
	{ "tear-down", true, 39 * MS, 40 * MS, { .end_own_ns = 600 * MS } },
	{ "tear-down", true, 639 * MS, 640 * MS, { .end_release_ns = 600 * MS } },
	{ "tear-down", false, 0, 0, { .end_own_ns = 440 * MS } },
	{ "tear-down", true, 0, 0, { .end_own_ns = 460 * MS } },
	{ "tear-down", false, 0, 0, { .end_own_ns = 600 * MS, .run_ns = 10 * MS } },
	{ "tear-down", true, 0, 0, { .end_own_ns = 600 * MS, .run_ns = 8 * MS } },
	{ "tear-down", false, 0, 0, { .start_own_ns = 600 * MS } },
	{ "queries-in-loop",
	  true,
	  199 * 20 * US,
	  199 * 20 * US,
	  { .wait = true, .query_ns = 20 * US } },
	{ "queries-in-loop", false, 0, 0, { .wait = true, .query_ns = 10 * US } },
	{ "queries-in-loop", true, 0, 0, { .wait = true, .query_ns = 12 * US } },
	{ "queries-in-loop", false, 0, 0, { .wait = true, .release_ns = 20 * US } },
	{ "queries-in-loop", false, 0, 0, { .wait = true, .api_ns = 20 * US } },
	{ "queries-in-loop", false, 0, 0, { .query_ns = 20 * US } }, // the device has enough to do
	{ "queries-in-loop", false, 0, 0, { .launches = 16, .wait = true, .query_ns = 40 * US } },
	{ "queries-in-loop", true, 0, 0, { .launches = 17, .wait = true, .query_ns = 40 * US } },
	{ "launch-bound", false, 0, 0, { .query_ns = 249 * US } },
	{ "releases-in-loop",
	  true,
	  199 * 20 * US,
	  199 * 20 * US,
	  { .wait = true, .release_ns = 20 * US } },
	{ "releases-in-loop", false, 0, 0, { .wait = true, .release_ns = 10 * US } },
	{ "releases-in-loop", false, 0, 0, { .wait = true, .query_ns = 20 * US } },
	{ "releases-in-loop", false, 0, 0, { .release_ns = 20 * US } },
	{ "creations-in-loop",
	  true,
	  199 * 20 * US,
	  199 * 20 * US,
	  { .wait = true, .create_ns = 20 * US } },
	// What recording takes of the calls is not saved.
	{ "creations-in-loop",
	  true,
	  199 * 15 * US,
	  199 * 15 * US + 1,
	  { .wait = true, .create_ns = 20 * US, .call_cost_ns = 5 * US } },
	{ "creations-in-loop", false, 0, 0, { .wait = true, .create_ns = 10 * US } },
	{ "creations-in-loop", true, 0, 0, { .wait = true, .create_ns = 12 * US } },
	// Of the calls beside them only what they take themselves.
	{ "creations-in-loop",
	  true,
	  199 * 30 * US,
	  199 * 30 * US,
	  { .wait = true, .create_ns = 30 * US, .api_ns = 30 * US } },
	{ "creations-in-loop", false, 0, 0, { .wait = true, .api_ns = 20 * US } },
	{ "creations-in-loop", false, 0, 0, { .wait = true, .release_ns = 20 * US } },
	{ "creations-in-loop", false, 0, 0, { .create_ns = 20 * US } },
	{ "creations-in-loop",
	  false,
	  0,
	  0,
	  { .launches = 16, .wait = true, .create_ns = 40 * US } },
	{ "creations-in-loop", true, 0, 0, { .launches = 17, .wait = true, .create_ns = 40 * US } },
	{ "launch-bound", false, 0, 0, { .create_ns = 249 * US } },
	{ "many-short-kernels", false, 0, 0, { .run_ns = 2 * US, .create_ns = 49 * US } },
	{ "creations-in-loop", true, 0, 0, { .create_ns = 249 * US } },
	{ "one-kernel-dominates",
	  true,
	  19 * MS,
	  21 * MS,
	  { .dimensions = 2, .global = { 640, 64 } } },
	{ "one-kernel-dominates",
	  true,
	  0,
	  0,
	  { .launches = 1, .dimensions = 2, .global = { 640, 64 } } },
	{ "one-kernel-dominates", false, 0, 0, { .dimensions = 1 } },
	{ "one-kernel-dominates", false, 0, 0, { .dimensions = 2, .global = { 640, 1 } } },
	{ "one-kernel-dominates",
	  false,
	  0,
	  0,
	  { .dimensions = 2, .global = { 640, 64 }, .local_bytes = 1024 } },
	{ "one-kernel-dominates",
	  false,
	  0,
	  0,
	  { .dimensions = 2, .global = { 640, 64 }, .local_bytes = UINT64_MAX } },
	{ "one-kernel-dominates",
	  false,
	  0,
	  0,
	  { .dimensions = 2, .global = { 640, 64 }, .no_facts = true } },
	{ "one-kernel-dominates",
	  false,
	  0,
	  0,
	  { .dimensions = 2, .global = { 640, 64 }, .compute_ns = 220 * US } },
	{ "one-kernel-dominates",
	  true,
	  0,
	  0,
	  { .dimensions = 2, .global = { 640, 64 }, .compute_ns = 180 * US } },
	{ "under-filled-device", true, 19 * MS, 21 * MS, { .units = 8, .global = { 4 * 64 } } },
	{ "under-filled-device", false, 0, 0, { .units = 8, .global = { 8 * 64 } } },
	{ "under-filled-device", true, 17 * MS, 18 * MS, { .units = 8, .global = { 9 * 64 } } },
	{ "under-filled-device", false, 0, 0, { .units = 8, .global = { 79 * 64 } } },
	{ "under-filled-device", false, 0, 0, { .units = 20, .global = { 19 * 64 } } },
	{ "under-filled-device", true, 0, 0, { .units = 20, .global = { 17 * 64 } } },
	{ "under-filled-device", false, 0, 0, { .global = { 4 * 64 } } },
	// The same time, said of too small kernels.
	{ "under-filled-device",
	  false,
	  0,
	  0,
	  { .run_ns = 99 * US, .units = 8, .multiple = 64, .global = { 4 * 64 } } },
	{ "under-filled-device", false, 0, 0, { .units = 1, .global = { 4 * 64 } } },
	{ "under-filled-device",
	  false,
	  0,
	  0,
	  { .units = 8, .global = { 4 * 64 }, .left_to_runtime = true } },
	{ "under-filled-device",
	  false,
	  0,
	  0,
	  { .units = 8, .global = { 7 * 64 }, .compute_ns = 600 * US } },
	{ "odd-work-group-size",
	  true,
	  9 * MS,
	  11 * MS,
	  { .multiple = 32, .local = { 48 }, .global = { 480 } } },
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .multiple = 32, .local = { 48 }, .global = { 480 }, .cpu = true } },
	{ "odd-work-group-size", false, 0, 0, { .multiple = 32, .local = { 64 } } },
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .multiple = 32, .local = { 62 }, .global = { 620 } } },
	{ "odd-work-group-size", false, 0, 0, { .local = { 48 }, .global = { 480 } } },
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .multiple = 32, .local = { 48 }, .global = { 480 }, .no_facts = true } },
	{ "odd-work-group-size",
	  true,
	  0,
	  0,
	  { .multiple = 32, .left_to_runtime = true, .group_limit = 256, .global = { 1009 } } },
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .multiple = 32, .left_to_runtime = true, .group_limit = 256, .global = { 1024 } } },
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .multiple = 32, .left_to_runtime = true, .global = { 1009 } } },
	{ "odd-work-group-size",
	  true,
	  0,
	  0,
	  { .multiple = 32,
	    .left_to_runtime = true,
	    .group_limit = 32,
	    .dimensions = 2,
	    .global = { 24, 48 } } },
	{ "odd-work-group-size", false, 0, 0, { .multiple = 32, .local = { 1 }, .global = { 1 } } },
	// While each group has a unit of its own, empty lanes are nobody's loss.
	{ "odd-work-group-size",
	  false,
	  0,
	  0,
	  { .units = 10, .multiple = 32, .local = { 48 }, .global = { 480 } } },
	{ "odd-work-group-size",
	  true,
	  0,
	  0,
	  { .units = 9, .multiple = 32, .local = { 48 }, .global = { 480 } } },
	{ "slow-first-use", true, 124 * MS, 126 * MS, { .first_ns = 125 * MS } },
	{ "slow-first-use", false, 0, 0, { .first_ns = 115 * MS } },
	{ "slow-first-use", true, 0, 0, { .kinds = 4, .first_ns = 2 * MS, .wait = true } },
	{ "slow-first-use", false, 0, 0, { .kinds = 4, .first_ns = 1 * MS, .wait = true } },
	{ "slow-first-use", false, 0, 0, { .kinds = 3, .first_ns = 2 * MS, .wait = true } },
	{ "slow-first-use", true, 199 * MS, 201 * MS, { .first_run_ns = 200 * MS } },
	{ "slow-first-use", false, 0, 0, { .first_run_ns = 100 * MS } },
	{ "drift", true, 4 * MS, 8 * MS, { .growth = 0.3 } },
	{ "drift", true, 0, 0, { .growth = -0.3 } },
	{ "drift", false, 0, 0, { .growth = 0.1 } },
	{ "drift", true, 0, 0, { .growth = 0.2 } },
	{ "drift", false, 0, 0, { .launches = 99, .growth = 0.3 } },
	{ "drift", false, 0, 0, { 0 } },
	{ "idle-host-computes", true, 3900 * US, 4 * MS, { .compute_ns = 20 * US } },
	{ "idle-host-computes", false, 0, 0, { .compute_ns = 9 * US } },
	{ "idle-host-computes", true, 0, 0, { .compute_ns = 12 * US } },
	{ "idle-host-computes", false, 0, 0, { .run_ns = 20 * US, .compute_ns = 4 * US } },
	{ "idle-host-computes", false, 0, 0, { .compute_ns = 20 * US, .residual_ns = 21 * US } },
	{ "idle-host-computes", true, 0, 0, { .compute_ns = 20 * US, .residual_ns = 19 * US } },
	// No more than the device's work, beside which it can be done.
	{ "idle-host-computes",
	  true,
	  3900 * US,
	  4 * MS,
	  { .run_ns = 20 * US, .compute_ns = 100 * US } },
	{ "idle-host-waits", true, 299 * US, 301 * US, { .launches = 16, .wake_ns = 20 * US } },
	{ "idle-host-waits", false, 0, 0, { .wake_ns = 20 * US } },
	{ "idle-host-waits", false, 0, 0, { .launches = 16, .wake_ns = 9 * US } },
	{ "idle-host-waits",
	  false,
	  0,
	  0,
	  { .launches = 16, .wake_ns = 20 * US, .residual_ns = 21 * US } },
	{ "idle-host-builds", true, 59 * MS, 61 * MS, { .build_ns = 60 * MS } },
	{ "idle-host-builds", false, 0, 0, { .build_ns = 30 * MS } },
	{ "idle-host-builds", false, 0, 0, { .wait = true, .later_build_ns = 60 * MS } },
	{ "idle-host-sleeps", true, 7900 * US, 8 * MS, { .sleep_ns = 40 * US } },
	{ "idle-host-sleeps", false, 0, 0, { .sleep_ns = 20 * US } },
	{ "idle-host-sleeps", true, 0, 0, { .sleep_ns = 24 * US } },
	{ "idle-host-sleeps", false, 0, 0, { .sleep_ns = 20 * MS, .gaps = 2 } },
	{ "idle-host-sleeps", true, 0, 0, { .sleep_ns = 20 * MS, .gaps = 3 } },
	{ "unflushed-queue", true, 3900 * US, 4 * MS, { .held_ns = 20 * US } },
	{ "unflushed-queue", false, 0, 0, { .held_ns = 9 * US } },
	{ "unflushed-queue", true, 0, 0, { .held_ns = 12 * US } },
	{ "unflushed-queue", false, 0, 0, { .run_ns = 20 * US, .held_ns = 4 * US } },
	{ "unflushed-queue", false, 0, 0, { .held_ns = 20 * US, .residual_ns = 22 * US } },
	{ "host-polling", true, 38 * MS, 41 * MS, { .poll_ns = 1 * US } },
	{ "host-polling", true, 19 * MS, 21 * MS, { .poll_ns = 1 * US, .poll_half = true } },
	{ "host-polling", false, 0, 0, { .run_ns = 2 * MS, .poll_ns = 21 * US } },
	{ "host-polling", true, 0, 0, { .run_ns = 2 * MS, .poll_ns = 19 * US } },
	{ "host-polling", false, 0, 0, { .poll_ns = 100, .poll_launches = 18 } },
	{ "host-polling", true, 0, 0, { .poll_ns = 100, .poll_launches = 22 } },
	{ "host-polling", false, 0, 0, { .launches = 99, .poll_ns = 20 * US } },
	{ "host-polling", false, 0, 0, { .wait = true } },
	{ "recording-cost", true, 5 * MS, 7 * MS, { .command_cost_ns = 30 * US } },
	{ "recording-cost", true, 39 * MS, 41 * MS, { .command_cost_ns = 300 * US } },
	{ "recording-cost", true, 9 * MS, 11 * MS, { .stalled_ns = 10 * MS } },
	{ "recording-cost", false, 0, 0, { .command_cost_ns = 18 * US } },
	{ "recording-cost", true, 0, 0, { .command_cost_ns = 22 * US } },
};

static const char *name_case(size_t i)
{
	static char name[64];
	snprintf(name, sizeof name, "case %zu, %s", i, cases[i].id);
	return name;
}

static void each_rule_is_raised_where_it_must_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scene *scene = run_script(&cases[i].script);
		const struct tare_finding *finding = found(scene, cases[i].id);
		if (!!finding != cases[i].raised)
			fail_msg("%s %s raised", name_case(i), finding ? "was" : "was not");
		if (finding && cases[i].most_ns > 0 &&
		    (finding->cost_ns < cases[i].least_ns || finding->cost_ns > cases[i].most_ns))
			fail_msg("%s costs %lld ns", name_case(i), (long long)finding->cost_ns);
		free_scene(scene);
	}
}

// What is before the working part, or behind it, is its matter, too.
static bool is_of_run(const char *id)
{
	return strncmp(id, "start-up-", 9) == 0 || strcmp(id, "tear-down") == 0;
}

static bool is_timeless(const char *id)
{
	return strcmp(id, "host-polling") == 0 || strcmp(id, "recording-cost") == 0 ||
	       is_of_run(id);
}

static void without_device_times_nothing_is_claimed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct script script = cases[i].script;
		if (!cases[i].raised || is_timeless(cases[i].id))
			continue;
		script.untimed = true;
		struct scene *scene = run_script(&script);
		if (found(scene, cases[i].id))
			fail_msg("%s was raised", name_case(i));
		assert_true(scene->findings.unjudged_count > 0);
		assert_non_null(strstr(scene->findings.unjudged[0], "no command has device times"));
		free_scene(scene);
	}
}

static void check_text(const char *text)
{
	assert_non_null(text);
	assert_true(strlen(text) > 10);
	assert_int_not_equal(text[strlen(text) - 1], '.');
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf "));
}

static void check_finding(const struct scene *scene, const struct tare_finding *finding)
{
	int64_t from_ns = is_of_run(finding->id) ? 0 : scene->tables.summary.working_from_ns;
	int64_t to_ns =
	    is_of_run(finding->id) ? scene->view.to_ns : scene->tables.summary.working_to_ns;
	assert_true(finding->cost_low_ns >= 0 && finding->cost_low_ns <= finding->cost_ns);
	assert_true(finding->cost_ns > 0 && finding->cost_ns <= finding->cost_high_ns);
	assert_true(finding->cost_high_ns <= length_of(finding));
	for (size_t i = 0; i < finding->claim_count; i++) {
		assert_true(finding->claims[i].from_ns < finding->claims[i].to_ns);
		assert_true(finding->claims[i].from_ns >= from_ns);
		assert_true(finding->claims[i].to_ns <= to_ns);
		assert_true(i == 0 || finding->claims[i - 1].to_ns < finding->claims[i].from_ns);
	}
	check_text(finding->title);
	check_text(finding->evidence);
	check_text(finding->advice);
	assert_true(finding->figure_count > 0);
	assert_true(finding->occurrences > 0);
	for (size_t i = 1; i < finding->place_count; i++)
		assert_true(finding->places[i - 1].cost_ns >= finding->places[i].cost_ns);
}

static void what_is_said_hangs_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scene *scene = run_script(&cases[i].script);
		for (size_t j = 0; j < scene->findings.count; j++) {
			const struct tare_finding *finding = &scene->findings.at[j];
			check_finding(scene, finding);
			assert_true(j == 0 || finding[-1].cost_low_ns > finding->cost_low_ns ||
			            (finding[-1].cost_low_ns == finding->cost_low_ns &&
			             finding[-1].cost_ns >= finding->cost_ns));
		}
		free_scene(scene);
	}
}

static void every_row_has_all_words_and_its_own_id(void **state)
{
	const struct tare_finding_words *words, *other;
	(void)state;
	for (size_t row = 0; (words = tare_finding_words(row)); row++) {
		for (size_t j = 0; j < row && (other = tare_finding_words(j)); j++)
			assert_string_not_equal(words->id, other->id);
		assert_true(words->predicate[0] && words->threshold[0] && words->cost[0] &&
		            words->raised_by[0] && words->silent_on[0]);
	}
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t row = 0;
		while ((words = tare_finding_words(row)) && strcmp(words->id, cases[i].id) != 0)
			row++;
		assert_non_null(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_is_raised_where_it_must_be),
		cmocka_unit_test(without_device_times_nothing_is_claimed),
		cmocka_unit_test(what_is_said_hangs_together),
		cmocka_unit_test(every_row_has_all_words_and_its_own_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
