// SPDX-License-Identifier: Apache-2.0
// The table of the rules about kernels and the host. docs/findings.md is held to it by a test.
#include "analysis/findings/execution/internal.h"

#define PAIR(name) "pairs_work " name " raise", "pairs_work " name " silent"

const struct finding_rule finding_rules_work[] = {
	// First, because nothing else is asked when recording drowns it.
	{ { "recording-cost", "recording itself took much of the working part",
	    "10 % of the working part; from 50 % on nothing else is raised about it",
	    "commands and calls × their cost (calibrated, and measured where the driver was asked "
	    "for times), and time in which calls waited for room, by the working part's share of "
	    "the records; polls in a row only in the high end",
	    PAIR("recording-cost") },
	  FINDING_NEEDS_NOTHING,
	  finding_recording_cost },
	{ { "synchronous-launches",
	    "launches wait for their kernels, and the device idles until the next",
	    "16 launches; 5 % of the working part",
	    "idle behind such kernels: host in API calls, dispatch; of it behind the return no "
	    "more than the kernels run; low: before the call has returned, and not the shortest "
	    "such gap each time",
	    "pairs_levelzero synchronous-launches raise",
	    "pairs_levelzero synchronous-launches silent" },
	  FINDING_NEEDS_TIMES,
	  finding_synchronous_launches },
	{ { "list-rebuilt",
	    "command lists are filled with the same commands as one before and executed once",
	    "8 lists of the same kernels, sizes and memory; 2 % of the working part",
	    "idle while commands are appended to all but the first; high: all of that time; low: "
	    "0, for arguments are not recorded",
	    "pairs_levelzero list-rebuilt raise", "pairs_levelzero list-rebuilt silent" },
	  FINDING_NEEDS_TIMES,
	  finding_list_rebuilt },
	{ { "synchronize-drains",
	    "the host waits until the device is done, and only then issues more",
	    "16 times; 5 % of the working part",
	    "their time − the longer of the host's own work and the device's, at most the device's "
	    "idle time behind "
	    "the waits; low: what of that passed before the wait had returned",
	    PAIR("synchronize-drains") },
	  FINDING_NEEDS_TIMES,
	  finding_synchronize_drains },
	{ { "many-short-kernels", "launches of one kernel cost much against what they run for",
	    "100 launches, median under 100 µs; launching at least half of it, or fewer work-items "
	    "than "
	    "units × preferred multiple; 2 % of the working part",
	    "idle before these kernels: inside the API, held, dispatch, all of a launch loop's; "
	    "high: and the host's computing, with few work-items kernel time × empty lanes, half "
	    "of it in the estimate, and for each launch the shortest kernel's time, at most as "
	    "much as launching",
	    PAIR("many-short-kernels") },
	  FINDING_NEEDS_TIMES,
	  finding_many_short_kernels },
	{ { "creations-in-loop", "objects that are no memory are made between kernels",
	    "before 16 kernels; 5 % of the working part",
	    "idle: host in API calls, of it those that create, without what recording takes of it; "
	    "CUDA: 0 to all of it",
	    PAIR("creations-in-loop") },
	  FINDING_NEEDS_TIMES,
	  finding_creations_in_loop },
	{ { "launch-bound", "the device runs out of work because the host is inside the API",
	    "100 commands, before half of them; 10 % of the working part; many-short-kernels, "
	    "synchronous-launches, synchronize-drains and creations-in-loop not half of it",
	    "idle: host in API calls, without what recording takes of it; low: half of that, or "
	    "what a graph saves of launches where that was measured; high: with it, or with the "
	    "host's computing between the calls, no more than they take. "
	    "CUDA, where the driver's part of recording is not known: 0 to the high end",
	    PAIR("launch-bound") },
	  FINDING_NEEDS_TIMES,
	  finding_launch_bound },
	{ { "launch-queue-full",
	    "launches into a full stream hold up the host, which has work for another stream "
	    "(CUDA)",
	    "256 commands pending, 4 times the median of launches with fewer and 2 µs more; before "
	    "4 commands of others; 1 % of the working part",
	    "0 to how much later the others' commands began, no more than the launches took beyond "
	    "the usual, nor than others run when the full stream has nothing left",
	    "pairs_cuda launch-queue-full raise", "pairs_cuda launch-queue-full silent" },
	  FINDING_NEEDS_TIMES,
	  finding_launch_queue_full },
	{ { "one-kernel-dominates", "one kernel of 2 or 3 dimensions without local memory",
	    "50 % of the working part",
	    "0 to all of its time alone on the device; the estimate is half of that",
	    PAIR("one-kernel-dominates") },
	  FINDING_NEEDS_TIMES,
	  finding_one_kernel_dominates },
	{ { "under-filled-device", "fewer work-groups than units, or a last wave mostly empty",
	    "10 % of the units' time by model; 5 % of the working part; not said of too small "
	    "kernels",
	    "0 to kernel time × (1 − groups / (waves × units))", PAIR("under-filled-device") },
	  FINDING_NEEDS_TIMES,
	  finding_under_filled_device },
	{ { "low-occupancy", "a unit holds few warps of a kernel at once (CUDA)",
	    "under 50 % of its warps, at least one full wave; 10 % of the working part",
	    "0 to kernel time alone × (1 − occupancy); the estimate is half of that",
	    "pairs_cuda low-occupancy raise", "pairs_cuda low-occupancy silent" },
	  FINDING_NEEDS_TIMES,
	  finding_low_occupancy },
	{ { "odd-work-group-size",
	    "a group is no multiple of what the driver prefers, or the runtime cannot make it one",
	    "10 % of the lanes by model, more groups than units, no CPU; 5 % of the working part",
	    "0 to kernel time × empty lanes", "pairs_levelzero odd-work-group-size raise",
	    "pairs_levelzero odd-work-group-size silent" },
	  FINDING_NEEDS_TIMES,
	  finding_odd_work_group_size },
	{ { "slow-first-use", "first launches take far longer than later ones",
	    "75 % of the working part, or 10 % with 4 kernels",
	    "call to start of first launches, and their run beyond 3 × the median",
	    PAIR("slow-first-use") },
	  FINDING_NEEDS_TIMES,
	  finding_slow_first_use },
	{ { "drift", "a kernel gets slower or faster over the run",
	    "100 launches of one shape, 15 %, chance 1 in 1,000; 3 % of the working part",
	    "launches × (mean − median of the faster end)", PAIR("drift") },
	  FINDING_NEEDS_TIMES,
	  finding_drift },
	{ { "idle-host-computes", "no device runs anything while the host computes",
	    "5 % of the working part, 5 µs in each gap; not in many-short-kernels' loops",
	    "idle: host was computing, of each gap no more than the device works until the next",
	    PAIR("idle-host-computes") },
	  FINDING_NEEDS_TIMES,
	  finding_idle_host_computes },
	{ { "idle-host-waits", "no device runs anything while the host is in a wait",
	    "5 % of the working part", "idle: host was in a wait", PAIR("idle-host-waits") },
	  FINDING_NEEDS_TIMES,
	  finding_idle_host_waits },
	{ { "idle-host-builds", "programs are built between the first enqueue and the first kernel",
	    "50 % of the working part; later builds: build-in-loop", "idle: building kernels",
	    PAIR("idle-host-builds") },
	  FINDING_NEEDS_TIMES,
	  finding_idle_host_builds },
	// After idle-host-builds, which it takes back.
	{ { "start-up-builds", "programs are built before the first kernel for much of the run",
	    "25 % of the run, half a second; the whole run alone",
	    "time inside the calls, what overlaps once; low: half of "
	    "it, for what was built must be loaded; CUDA: 0, for that may be all that it was",
	    PAIR("start-up-builds") },
	  FINDING_NEEDS_RUN,
	  finding_start_up_builds },
	{ { "start-up-calls", "API calls before the first command take much of the run",
	    "25 % of the run without what the host is off the CPU between them, half a second, "
	    "without builds; the whole run alone",
	    "0 to time inside the calls, what overlaps once; the estimate: all but the longest of "
	    "each function that finds, creates or asks, what is about memory freed before the "
	    "first command, and of the rest no more than the host's own work there",
	    PAIR("start-up-calls") },
	  FINDING_NEEDS_RUN,
	  finding_start_up_calls },
	{ { "start-up-host",
	    "what the host does of its own before the first command takes much of the run",
	    "25 % of the run, half a second; the whole run alone",
	    "0 to time before the first command in which no thread is in a call; the estimate: no "
	    "more of it than the calls before the first command and the device's work while the "
	    "host waits",
	    PAIR("start-up-host") },
	  FINDING_NEEDS_RUN,
	  finding_start_up_host },
	{ { "tear-down", "the run goes on long after the last completion",
	    "25 % of the run, half a second; the whole run alone",
	    "0 to all of it; the estimate: calls that release, make or free memory, and of the "
	    "host's own time "
	    "no "
	    "more than the device's work while the host waits",
	    PAIR("tear-down") },
	  FINDING_NEEDS_RUN,
	  finding_tear_down },
	{ { "queries-in-loop", "the host asks between kernels for what it could know",
	    "before 16 kernels; 5 % of the working part",
	    "idle: host was in queries, without what recording takes of it; CUDA: 0 to all of it",
	    PAIR("queries-in-loop") },
	  FINDING_NEEDS_TIMES,
	  finding_queries_in_loop },
	{ { "releases-in-loop", "objects that are no memory are released between kernels",
	    "before 16 kernels; 5 % of the working part",
	    "idle: host was releasing objects, without what recording takes of it; CUDA: 0 to all "
	    "of it",
	    PAIR("releases-in-loop") },
	  FINDING_NEEDS_TIMES,
	  finding_releases_in_loop },
	{ { "idle-host-sleeps", "no device runs anything while the host is off the CPU",
	    "10 % of the working part, in 3 gaps, 5 µs in each", "idle: host was off the CPU",
	    PAIR("idle-host-sleeps") },
	  FINDING_NEEDS_TIMES,
	  finding_idle_host_sleeps },
	{ { "unflushed-queue", "commands that could run are not handed over",
	    "5 % of the working part, 5 µs in each gap", "idle: enqueued, not submitted",
	    "unit test (PoCL hands over at once)", "pairs_work idle-host-sleeps silent" },
	  FINDING_NEEDS_TIMES,
	  finding_unflushed_queue },
	{ { "host-polling", "a thread asks again and again whether work is done",
	    "1,000 times, less than 20 µs apart; 10 % of the working part",
	    "the thread's CPU time in such loops, not the wall's", PAIR("host-polling") },
	  FINDING_NEEDS_NOTHING,
	  finding_host_polling },
};
const size_t finding_rule_work_count = sizeof finding_rules_work / sizeof *finding_rules_work;
