// SPDX-License-Identifier: Apache-2.0
// Every finding about kernels and the host: raised, not raised on either side of its threshold,
// inside the clocks' residual, without device times; and what findings say about each other.
#include "findings_rig.h"

#include <math.h>

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

static void a_graph_is_not_said_to_save_all_of_a_launch(void **state)
{
	(void)state;
	for (int cuda = 0; cuda < 2; cuda++) {
		struct scene *scene = run_script(
		    &(struct script){ .run_ns = 2 * US, .dispatch_ns = 3 * US, .cuda = cuda });
		const struct tare_finding *finding = found(scene, "many-short-kernels");
		assert_non_null(finding);
		int64_t least_ns = cuda ? finding->cost_ns / 2 : finding->cost_ns;
		assert_true(llabs(finding->cost_low_ns - least_ns) < 20 * US);
		assert_int_equal(strstr(finding->evidence, "graph") != NULL, cuda);
		free_scene(scene);
	}
}

static double figure_of(const struct tare_finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->figure_count; i++)
		if (!strcmp(finding->figures[i].name, name))
			return finding->figures[i].value;
	return NAN;
}

// Of 199 gaps of 3 µs, for the first launch is no turn, with kernels of 2 µs.
static void what_a_graph_saves_is_by_what_was_measured(void **state)
{
	static const struct {
		const char *device;
		double launch_ns, node_ns, make_ns, graph_ns;
		double saves_ns, low_ns, best_ns; // saves NaN: it is not told
		bool cuda, advised;
	} rows[] = {
		{ "device", 4500, 500, 0, 15e3, 199 * 2e3 - 15e3, 199 * 2e3 - 15e3, 440e3, true,
		  true },
		{ "device", 9000, 500, 0, 0, 199 * 2.5e3, 199 * 2.5e3, 199 * 2.5e3, true, true },
		{ "device", 9000, 500, 1000, 0, 199 * 1.5e3, 199 * 1.5e3, 199 * 2e3, true, true },
		{ "device", 9000, 500, 7000, 0, 0, 0, 199 * 1.25e3, true, true },
		{ "device", 2100, 500, 0, 0, 0, 0, 199 * 1.25e3, true, true },
		{ "device", 9000, 2900, 0, 0, 199 * 100, 199 * 100, 199 * 3e3, true, false },
		{ "another", 4500, 500, 0, 0, NAN, 199 * 1.5e3, 199 * 3e3, true, true },
		{ "device", 4500, 500, 0, 0, NAN, 199 * 3e3, 199 * 3e3, false, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_launch_costs costs = { rows[i].device,   rows[i].launch_ns,
			                                 rows[i].node_ns,  rows[i].make_ns,
			                                 rows[i].graph_ns, "2026-02-01" };
		struct scene *scene = run_script(&(struct script){
		    .run_ns = 2 * US, .dispatch_ns = 3 * US, .cuda = rows[i].cuda });
		find_knowing(scene, &costs);
		const struct tare_finding *finding = found(scene, "many-short-kernels");
		assert_non_null(finding);
		double saves_ns = figure_of(finding, "graph_saves_ns");
		bool told = isnan(rows[i].saves_ns) ? isnan(saves_ns)
		                                    : fabs(saves_ns - rows[i].saves_ns) < 5e3;
		if (!told || fabs((double)finding->cost_low_ns - rows[i].low_ns) > 5e3 ||
		    fabs((double)finding->cost_ns - rows[i].best_ns) > 5e3)
			fail_msg("row %zu: saves %.0f, low %lld, best %lld", i, saves_ns,
			         (long long)finding->cost_low_ns, (long long)finding->cost_ns);
		if (rows[i].cuda)
			assert_int_equal(strstr(finding->advice, "torch.cuda.graph") != NULL,
			                 rows[i].advised);
		assert_int_equal(strstr(finding->evidence, "2026-02-01") != NULL,
		                 !isnan(rows[i].saves_ns));
		free_scene(scene);
	}
}

static double launch_bound_saves_ns(struct scene *scene, double make_ns, double graph_ns)
{
	const struct tare_launch_costs costs = { "device", 4000, 700, make_ns, graph_ns, "" };
	find_knowing(scene, &costs);
	return figure_of(found(scene, "launch-bound"), "graph_saves_ns");
}

// Between two waits there is a graph: one is made, and all are launched.
static void waits_end_a_graph_that_is_made_once(void **state)
{
	enum { WAITS = 20 };
	struct scene *scene = run_script(&(struct script){ .api_ns = 250 * US, .cuda = true });
	const int64_t from_ns = TARE_COMMAND(&scene->made->recording, 0)->exit_ns;
	(void)state;
	double saves_ns = launch_bound_saves_ns(scene, 0, 0);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 1000, 0) - 199e3) < 2e3);
	for (int64_t i = 1; i < WAITS; i++)
		made_call(scene->made, made_plain_call(0, TARE_ROLE_WAIT, from_ns + i * 250 * US,
		                                       from_ns + i * 250 * US + 1));
	made_sort(scene->made);
	// The first behind each is launched as before.
	double of_one = saves_ns;
	saves_ns = launch_bound_saves_ns(scene, 0, 0);
	assert_true(fabs(saves_ns / of_one - (199. - WAITS) / 198) < 0.005);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 1000, 0) - 199e3 / WAITS) < 2e3);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 0, 1000) - WAITS * 1e3) < 2e3);
	free_scene(scene);
}

// Where the host does other things than launch, a graph saves no more than the launches.
static void a_graph_saves_launches_and_no_other_calls(void **state)
{
	const struct tare_launch_costs costs = { "device", 4000, 700, 100, 0, "" };
	struct scene *scene = run_script(&(struct script){ .api_ns = 250 * US, .cuda = true });
	(void)state;
	const struct tare_finding *finding = found(scene, "launch-bound");
	assert_non_null(finding);
	assert_true(isnan(figure_of(finding, "graph_saves_ns")));
	find_knowing(scene, &costs);
	finding = found(scene, "launch-bound");
	assert_non_null(finding);
	assert_true(fabs(figure_of(finding, "graph_saves_ns") - 199 * 3.2e3) < 10e3);
	assert_true(finding->cost_ns > 199 * 40 * US);
	assert_true(finding->cost_low_ns >= 199 * 3 * US);
	free_scene(scene);
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

static int64_t length_of(const struct tare_finding *finding)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < finding->claim_count; i++)
		sum_ns += finding->claims[i].to_ns - finding->claims[i].from_ns;
	return sum_ns;
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

// Painted nanosecond by nanosecond, a second time.
static void the_same_time_is_counted_once(void **state)
{
	static const struct script script = {
		.run_ns = 20 * US, .dispatch_ns = 15 * US, .wake_ns = 10 * US, .compute_ns = 18 * US
	};
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_findings *findings = &scene->findings;
	unsigned char *painted = calloc((size_t)scene->now_ns, 1);
	double together_ns = 0, sum_ns = 0;
	assert_non_null(painted);
	assert_true(findings->count >= 3);
	for (size_t i = 0; i < findings->count; i++) {
		int64_t shared_ns = 0;
		for (size_t j = 0; j < findings->at[i].claim_count; j++)
			for (int64_t t = findings->at[i].claims[j].from_ns;
			     t < findings->at[i].claims[j].to_ns; t++) {
				shared_ns += painted[t];
				painted[t] = 1;
			}
		assert_int_equal(findings->at[i].shared_ns, shared_ns);
		sum_ns += (double)findings->at[i].cost_ns;
		together_ns += (double)findings->at[i].cost_ns *
		               (1 - (double)shared_ns / (double)length_of(&findings->at[i]));
	}
	assert_true(fabs((double)findings->together_ns - together_ns) <= 1);
	assert_true(together_ns < sum_ns);
	free(painted);
	free_scene(scene);
}

static void claims_are_the_parts_of_gaps_that_it_is_about(void **state)
{
	static const struct script held = { .compute_ns = 20 * US, .held_ns = 20 * US };
	static const struct script first = { .run_ns = 2 * US,
		                             .dispatch_ns = 3 * US,
		                             .first_ns = 4 * MS };
	(void)state;
	struct scene *scene = run_script(&held);
	assert_int_equal(length_of(found(scene, "idle-host-computes")), 199 * 20 * US);
	// From the entry of the call, which takes 1 µs.
	assert_int_equal(length_of(found(scene, "unflushed-queue")), 200 * 21 * US);
	free_scene(scene);
	scene = run_script(&first);
	// And of the kernels, whose own fixed time may be all of theirs.
	assert_int_equal(length_of(found(scene, "many-short-kernels")),
	                 199 * 3 * US + 200 * 2 * US);
	assert_int_equal(found(scene, "many-short-kernels")->cost_high_ns,
	                 199 * 3 * US + 200 * 2 * US);
	free_scene(scene);
}

static void find_again(struct scene *scene)
{
	tare_findings_free(&scene->findings);
	tare_tables_free(&scene->tables);
	tare_ledgers_free(&scene->ledgers);
	find(scene);
}

// What was measured comes before what may be nothing, however much that may be.
static void what_it_costs_at_least_ranks(void **state)
{
	static const struct script script = { .units = 8,
		                              .global = { 4 * 64 },
		                              .compute_ns = 50 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *computes = found(scene, "idle-host-computes");
	const struct tare_finding *fill = found(scene, "under-filled-device");
	assert_non_null(computes);
	assert_non_null(fill);
	assert_true(computes < fill && computes->cost_ns < fill->cost_ns);
	assert_int_equal(fill->cost_low_ns, 0);
	free_scene(scene);
}

// Of a gap a part is known to one residual; what the loop does now and then is told with its
// launches.
static void the_residual_counts_once_a_gap(void **state)
{
	static const struct script script = { .compute_ns = 50 * US, .residual_ns = 10 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->cost_ns, 199 * 50 * US);
	assert_int_equal(finding->cost_low_ns, 199 * 40 * US);
	// At most all of the gap, which has a call of 1 µs, but no more than is claimed.
	assert_int_equal(finding->cost_high_ns, 199 * 50 * US);
	// Ends of a gap may be of two devices' clocks.
	made_device(scene->made, 0, TARE_NO_INDEX, 0);
	find_again(scene);
	assert_int_equal(found(scene, "idle-host-computes")->cost_low_ns, 199 * 30 * US);
	free_scene(scene);
}

static void what_a_launch_loop_does_now_and_then_is_its_own(void **state)
{
	static const struct script loop = { .run_ns = 2 * US, .dispatch_ns = 3 * US };
	struct scene *scene = make_scene(&loop);
	(void)state;
	for (int rest = 0; rest < 2; rest++) {
		for (int i = 0; i < 150; i++) {
			if (i == 75)
				spend(scene,
				      scene->device_ns - scene->now_ns + (rest ? 2 * MS : 100 * US),
				      true);
			enqueue(scene, TARE_KIND_KERNEL, 0, 4 * US, 2 * US);
		}
		// Work that could hide what the host does.
		enqueue(scene, TARE_KIND_KERNEL, 1, 0, 500 * US);
		call(scene, TARE_ROLE_WAIT, scene->device_ns - scene->now_ns);
		scene->made->processes[0].end_ns = scene->made->recording.end_ns = scene->now_ns;
		scene->view = tare_view_all(&scene->made->recording);
		if (rest)
			find_again(scene);
		else
			find(scene);
		// Unless it is more than all the rest.
		assert_non_null(found(scene, "many-short-kernels"));
		assert_int_equal(found(scene, "idle-host-computes") != NULL, rest);
	}
	free_scene(scene);
}

// Kernels that share the device with others would not make the run shorter.
// What a module of CUDA's was made from is not recorded: it may be machine code already.
static void builds_that_may_be_loads_are_only_possible(void **state)
{
	static const struct script opencl = { .start_build_ns = 600 * MS };
	static const struct script cuda = { .start_build_ns = 600 * MS, .cuda = true };
	struct scene *scene = run_script(&opencl);
	(void)state;
	assert_int_equal(found(scene, "start-up-builds")->confidence, TARE_CONFIDENCE_LIKELY);
	assert_int_equal(found(scene, "start-up-builds")->cost_low_ns, 300 * MS);
	free_scene(scene);
	scene = run_script(&cuda);
	assert_int_equal(found(scene, "start-up-builds")->confidence, TARE_CONFIDENCE_POSSIBLE);
	assert_int_equal(found(scene, "start-up-builds")->cost_low_ns, 0);
	assert_int_equal(found(scene, "start-up-builds")->cost_ns, 600 * MS);
	free_scene(scene);
}

// On a device that runs in the calling thread the same thread can do nothing beside it.
static void what_runs_in_the_caller_has_nothing_beside_it(void **state)
{
	static const struct script script = { .compute_ns = 20 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_true(found(scene, "idle-host-computes")->cost_low_ns > 0);
	assert_non_null(strstr(found(scene, "idle-host-computes")->advice, "Enqueue the next"));
	for (size_t i = 0; i < scene->made->recording.command_count; i++)
		scene->made->commands[i].exit_ns = scene->made->commands[i].end_ns;
	find_again(scene);
	assert_int_equal(found(scene, "idle-host-computes")->cost_low_ns, 0);
	assert_non_null(strstr(found(scene, "idle-host-computes")->advice, "in another thread"));
	assert_null(strstr(found(scene, "idle-host-computes")->advice, "Enqueue the next"));
	free_scene(scene);
}

static void only_kernels_that_run_alone_count(void **state)
{
	static const struct script script = { .dimensions = 2, .global = { 640, 64 } };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_non_null(found(scene, "one-kernel-dominates"));
	for (size_t i = 1; i < scene->made->recording.command_count; i += 2) {
		scene->made->commands[i].start_ns = scene->made->commands[i - 1].start_ns;
		scene->made->commands[i].end_ns = scene->made->commands[i - 1].end_ns;
		scene->made->commands[i].submitted_ns = scene->made->commands[i - 1].submitted_ns;
	}
	find_again(scene);
	assert_true(scene->tables.task_count > 0);
	assert_null(found(scene, "one-kernel-dominates"));
	free_scene(scene);
}

// Of a start-up's calls: those beyond the longest of a function, and about memory that nothing
// used.
static void what_is_made_too_often_is_saved(void **state)
{
	static const struct script script = { .start_call_ns = 300 * MS, .start_calls = 2 };
	struct tare_recorded_function functions[2] = { { .name = "start" }, { .name = "make" } };
	struct tare_recorded_memory memory = { .parent = TARE_NO_INDEX };
	(void)state;
	struct scene *scene = run_script(&script);
	struct tare_recording *recording = &scene->made->recording;
	recording->functions = functions;
	recording->function_count = 2;
	recording->memories = &memory;
	recording->memory_count = 1;
	for (int spare = 0; spare < 3; spare++) {
		for (size_t i = 0; i < recording->call_count; i++) {
			struct tare_recorded_call *call = &scene->made->calls[i];
			if (call->exit_ns - call->enter_ns != 300 * MS)
				continue;
			call->function = 1;
			call->object = spare > 0 ? 0 : TARE_NO_INDEX;
			call->role = spare > 0 ? TARE_ROLE_ALLOCATE : TARE_ROLE_CREATE;
		}
		memory.released_ns = spare == 1 ? 660 * MS : TARE_NO_TIME;
		find_again(scene);
		const struct tare_finding *finding = found(scene, "start-up-calls");
		assert_non_null(finding);
		// And beside the host's own 50 ms the rest, as far as there is any.
		int64_t expected_ms = spare == 0 ? 300 + 50 : spare == 1 ? 600 + 10 : 50;
		assert_int_equal(finding->cost_ns, expected_ms * MS);
		assert_non_null(strstr(finding->title, "most of it in make"));
		assert_int_equal(strstr(finding->evidence, "more than is needed") != NULL,
		                 spare < 2);
	}
	free_scene(scene);
}

// The loop around calls goes with them, as far as it is no more than they are.
static void what_lies_between_calls_is_in_the_upper_end(void **state)
{
	static const struct script script = { .api_ns = 249 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *bound = found(scene, "launch-bound");
	int64_t without_ns = bound->cost_high_ns;
	for (size_t i = 0; i < scene->made->recording.call_count; i++)
		if (scene->made->calls[i].exit_ns - scene->made->calls[i].enter_ns == 249 * US)
			scene->made->calls[i].enter_ns += 210 * US;
	find_again(scene);
	bound = found(scene, "launch-bound");
	assert_non_null(bound);
	// A gap of 50 µs: 39 or 40 inside the calls, the rest between them.
	assert_true(bound->cost_ns < without_ns * 9 / 10);
	assert_true(llabs(bound->cost_high_ns - without_ns) < without_ns / 20);
	// Where the driver's part of recording is known there is an estimate, else the upper end.
	for (int known = 0; known < 2; known++) {
		scene->tables.coverage.driver_ns = known ? 0 : TARE_NO_TIME;
		tare_findings_free(&scene->findings);
		assert_int_equal(tare_findings_find(&scene->made->recording, &scene->view,
		                                    &scene->ledgers, &scene->tables,
		                                    &scene->findings, NULL),
		                 0);
		bound = found(scene, "launch-bound");
		assert_int_equal(bound->cost_ns == bound->cost_high_ns, !known);
		assert_int_equal(bound->cost_low_ns == 0, !known);
	}
	free_scene(scene);
}

static void places_are_kernels_where_no_stack_is_known(void **state)
{
	static const struct script script = { .kinds = 6, .compute_ns = 20 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->place_count, TARE_FINDING_PLACES);
	assert_int_equal(finding->occurrences, 199);
	for (size_t i = 0; i < TARE_FINDING_PLACES; i++)
		assert_in_range(finding->places[i].count, 33, 34);
	free_scene(scene);
}

static void places_are_stacks_where_they_are_known(void **state)
{
	static const struct script script = { .compute_ns = 20 * US };
	struct tare_recorded_stack stacks[2] = { 0 };
	(void)state;
	struct scene *scene = run_script(&script);
	scene->made->recording.stacks = stacks;
	scene->made->recording.stack_count = 2;
	for (size_t i = 0; i < scene->made->recording.command_count; i++)
		scene->made->commands[i].stack = i < 50;
	find_again(scene);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->place_count, 2);
	assert_int_equal(finding->places[0].stack, 0);
	assert_int_equal(finding->places[0].count, 150);
	assert_int_equal(finding->places[1].stack, 1);
	assert_int_equal(finding->places[1].count, 49);
	free_scene(scene);
}

static void a_recording_that_drowns_says_so_and_nothing_else(void **state)
{
	static const struct script script = { .compute_ns = 50 * US, .command_cost_ns = 130 * US };
	static const struct script uncalibrated = { .not_calibrated = true };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_int_equal(scene->findings.count, 1);
	assert_non_null(found(scene, "recording-cost"));
	assert_non_null(strstr(scene->findings.at[0].title, "too much to conclude"));
	free_scene(scene);
	scene = run_script(&uncalibrated);
	assert_int_equal(scene->findings.unjudged_count, 1);
	assert_non_null(strstr(scene->findings.unjudged[0], "not calibrated"));
	free_scene(scene);
}

// The driver's part is that of the commands for which something was changed, not of all.
static void the_driver_is_charged_for_what_was_changed(void **state)
{
	static const struct script script = { .command_cost_ns = 1 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	struct tare_recorded_process *process = &scene->made->processes[0];
	size_t commands = scene->made->recording.command_count, changed = 0;
	process->driver_rounds = 9;
	process->driver_ps[TARE_DRIVER_BOTH] = process->driver_low_ps[TARE_DRIVER_BOTH] =
	    process->driver_high_ps[TARE_DRIVER_BOTH] = (int64_t)60 * US * 1000;
	scene->made->queues[0].profiling = scene->made->queues[0].profiling_added = true;
	for (size_t i = 0; i < commands; i++) {
		scene->made->commands[i].flags = i % 2 ? TARE_COMMAND_OWN_EVENT : 0;
		changed += i % 2;
	}
	find_again(scene);
	const struct tare_finding *finding = found(scene, "recording-cost");
	assert_non_null(finding);
	double cost_ns = (double)changed * 60 * US + (double)commands * US;
	assert_in_range(finding->cost_ns, (int64_t)(0.99 * cost_ns), (int64_t)(1.01 * cost_ns));
	free_scene(scene);
}

// Below it a finding is about no more than what recording its commands costs.
static void what_recording_costs_is_no_finding(void **state)
{
	static const struct script dear = { .compute_ns = 14 * US, .command_cost_ns = 15 * US };
	static const struct script cheap = { .compute_ns = 14 * US, .command_cost_ns = 12 * US };
	(void)state;
	struct scene *scene = run_script(&dear);
	assert_null(found(scene, "idle-host-computes"));
	free_scene(scene);
	scene = run_script(&cheap);
	assert_non_null(found(scene, "idle-host-computes"));
	free_scene(scene);
}

// ---- little or nothing

static void an_empty_recording_has_none(void **state)
{
	static const struct script script = { 0 };
	(void)state;
	struct scene *scene = make_scene(&script);
	scene->made->recording.end_ns = scene->now_ns;
	scene->view = tare_view_all(&scene->made->recording);
	find(scene);
	assert_int_equal(scene->findings.count + scene->findings.unjudged_count, 0);
	free_scene(scene);
}

static void one_command_and_no_length_have_none(void **state)
{
	static const struct script script = { .launches = 1 };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_int_equal(scene->findings.count, 0);
	scene->view.from_ns = scene->view.to_ns = 60 * MS + 500 * US;
	find_again(scene);
	assert_int_equal(scene->findings.count, 0);
	free_scene(scene);
}

// Findings are about the parts that a view asks for, cut exactly.
static void parts_of_a_view_are_evaluated_alone(void **state)
{
	static const struct script script = { .compute_ns = 50 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	int64_t all_ns = found(scene, "idle-host-computes")->cost_ns;
	int64_t from_ns = scene->tables.summary.working_from_ns;
	int64_t quarter_ns = (scene->tables.summary.working_to_ns - from_ns) / 4;
	struct tare_time_span spans[2] = { { from_ns, from_ns + quarter_ns },
		                           { from_ns + 2 * quarter_ns, from_ns + 3 * quarter_ns } };
	scene->view.spans = spans;
	scene->view.span_count = 2;
	find_again(scene);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_in_range(finding->cost_ns, all_ns * 48 / 100, all_ns * 52 / 100);
	for (size_t i = 0; i < finding->claim_count; i++) {
		const struct tare_time_span *claim = &finding->claims[i];
		assert_true(
		    (claim->from_ns >= spans[0].from_ns && claim->to_ns <= spans[0].to_ns) ||
		    (claim->from_ns >= spans[1].from_ns && claim->to_ns <= spans[1].to_ns));
	}
	free_scene(scene);
}

// ---- the page that describes them

static void write_rows(FILE *file)
{
	const struct tare_finding_words *words;
	for (size_t row = 0; (words = tare_finding_words(row)); row++)
		fprintf(file, "| `%s` | %s | %s | %s | `%s` | `%s` |\n", words->id,
		        words->predicate, words->threshold, words->cost, words->raised_by,
		        words->silent_on);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 18);
	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
	fclose(file);
	return text;
}

// TARE_UPDATE_GOLDEN=1 writes the table anew.
static void the_page_has_the_table_of_the_code(void **state)
{
	static const char head[] = "|---|---|---|---|---|---|\n", tail[] = "<!-- end of table -->";
	char path[4096], *rows = NULL;
	size_t size = 0;
	(void)state;
	snprintf(path, sizeof path, "%s/../../docs/findings.md", getenv("TARE_TEST_DATA"));
	char *page = read_file(path), *from = strstr(page, head), *to = strstr(page, tail);
	FILE *file = open_memstream(&rows, &size);
	assert_true(from && to && from < to && file);
	from += sizeof head - 1;
	write_rows(file);
	assert_int_equal(fclose(file), 0);
	if (getenv("TARE_UPDATE_GOLDEN")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%.*s%s%s", (int)(from - page), page, rows, to);
		assert_int_equal(fclose(file), 0);
	} else if ((size_t)(to - from) != size || memcmp(from, rows, size) != 0) {
		fail_msg("docs/findings.md has another table: TARE_UPDATE_GOLDEN=1 writes it");
	}
	free(page);
	free(rows);
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
		cmocka_unit_test(a_graph_is_not_said_to_save_all_of_a_launch),
		cmocka_unit_test(what_a_graph_saves_is_by_what_was_measured),
		cmocka_unit_test(waits_end_a_graph_that_is_made_once),
		cmocka_unit_test(a_graph_saves_launches_and_no_other_calls),
		cmocka_unit_test(without_device_times_nothing_is_claimed),
		cmocka_unit_test(what_is_said_hangs_together),
		cmocka_unit_test(the_same_time_is_counted_once),
		cmocka_unit_test(claims_are_the_parts_of_gaps_that_it_is_about),
		cmocka_unit_test(what_it_costs_at_least_ranks),
		cmocka_unit_test(the_residual_counts_once_a_gap),
		cmocka_unit_test(what_a_launch_loop_does_now_and_then_is_its_own),
		cmocka_unit_test(builds_that_may_be_loads_are_only_possible),
		cmocka_unit_test(what_runs_in_the_caller_has_nothing_beside_it),
		cmocka_unit_test(only_kernels_that_run_alone_count),
		cmocka_unit_test(what_is_made_too_often_is_saved),
		cmocka_unit_test(what_lies_between_calls_is_in_the_upper_end),
		cmocka_unit_test(places_are_kernels_where_no_stack_is_known),
		cmocka_unit_test(places_are_stacks_where_they_are_known),
		cmocka_unit_test(a_recording_that_drowns_says_so_and_nothing_else),
		cmocka_unit_test(the_driver_is_charged_for_what_was_changed),
		cmocka_unit_test(what_recording_costs_is_no_finding),
		cmocka_unit_test(an_empty_recording_has_none),
		cmocka_unit_test(one_command_and_no_length_have_none),
		cmocka_unit_test(parts_of_a_view_are_evaluated_alone),
		cmocka_unit_test(the_page_has_the_table_of_the_code),
		cmocka_unit_test(every_row_has_all_words_and_its_own_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
