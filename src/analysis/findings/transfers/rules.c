// SPDX-License-Identifier: Apache-2.0
// The table of the rules about transfers and overlap. docs/findings.md is held to it by a test.
#include "analysis/findings/transfers/internal.h"

#define PAIR(name) "pairs_transfers " name " raise", "pairs_transfers " name " silent"
#define FORM(arguments) "pipeline " arguments, "pipeline concurrent"

const struct finding_rule finding_rules_transfers[] = {
	{ { "transfers-dominate", "the device mostly copies while no kernel runs",
	    "40 % of the working part, and more than kernels", "0 to transfers not hidden",
	    "pairs_levelzero transfers-dominate raise",
	    "pairs_levelzero transfers-dominate silent" },
	  FINDING_NEEDS_TIMES,
	  finding_transfers_dominate },
	{ { "zero-copy", "host and device copy though the device has the host's memory",
	    "2 copies of 4 KB or more; 10 % of the working part; transfers-dominate is not said "
	    "then",
	    "copies' time that nothing else hides; low: half of it; high: and their calls, where "
	    "they block, without what they wait for",
	    PAIR("zero-copy") },
	  FINDING_NEEDS_TIMES,
	  finding_zero_copy },
	{ { "overlap-missed", "chunks of copy, kernel, copy, and the host waits for each",
	    "3 chunks; a gain of 5 % of their time and 1 % of the working part; copies not hidden "
	    "for 10 % of their time",
	    "measured time − time predicted by the overlap model, a range; low: without idle time "
	    "beyond twice what is usual before a command of its kind",
	    FORM("sequential") },
	  FINDING_NEEDS_TIMES,
	  finding_overlap },
	{ { "single-queue",
	    "chunks of copy, kernel, copy, not waited for, in one in-order queue (CUDA: or of one "
	    "connection)",
	    "as overlap-missed, but 5 % suffices", "as overlap-missed", FORM("default-queue") },
	  FINDING_NEEDS_TIMES,
	  NULL },
	{ { "blocking-call", "chunks of copy, kernel, copy in several queues, but copies block",
	    "as overlap-missed; half of the chunks have a blocking copy", "as overlap-missed",
	    FORM("blocking") },
	  FINDING_NEEDS_TIMES,
	  NULL },
	{ { "legacy-default-stream",
	    "chunks of copy, kernel, copy in several streams, and every second one uses the legacy "
	    "default stream as well (CUDA)",
	    "as overlap-missed", "as overlap-missed", "cuda-pipeline legacy-stream",
	    "cuda-pipeline concurrent" },
	  FINDING_NEEDS_TIMES,
	  NULL },
	{ { "pageable-memory", "copies that need not block use plain host memory",
	    "4 copies of 64 KB or more that do not block, to or from memory that is not the host's "
	    "own; their time is 5 % of the working part",
	    "copy time − bytes / rate of pinned copies and maps of this run, else rate that `tare "
	    "bandwidth` "
	    "measured (low: of copies of 4 MB and more); without any 0 to copy time. CUDA, chunks "
	    "in several streams "
	    "that take turns by it: as overlap-missed; high: all but the kernels; the estimate is "
	    "the "
	    "middle of both",
	    "cuda-pipeline pageable", "cuda-pipeline concurrent" },
	  FINDING_NEEDS_TIMES,
	  finding_pageable_memory },
	{ { "allocation-in-loop", "memory objects are made between kernels",
	    "before 4 kernels and every fourth one; with the first copies of them 1 % of the "
	    "working part",
	    "time inside the calls that make and free them; low: of it, the device idle; high: and "
	    "the first "
	    "copies of the objects, beyond bytes / measured rate where one is kept. CUDA, whose "
	    "calls may wait for "
	    "the device: no more than the working part beyond the longest kind of work and one "
	    "command of each other kind, with one queue beyond all of it",
	    FORM("allocation") },
	  FINDING_NEEDS_NOTHING,
	  finding_allocation_in_loop },
	{ { "build-in-loop", "programs are built between kernels",
	    "after the first kernel and before the last; 1 % of the working part",
	    "time inside the calls, and the device idle until what was built first runs; low: of "
	    "it, the device idle, and half of that for what was not built before in the run. CUDA: "
	    "no more than allocation-in-loop's bound",
	    FORM("build 4") },
	  FINDING_NEEDS_NOTHING,
	  finding_build_in_loop },
	{ { "managed-memory-moves", "the driver moves pages of managed memory to and fro (CUDA)",
	    "as many bytes as were allocated, beyond once there and once back; 5 % of the working "
	    "part",
	    "time of the moves × part of the bytes beyond once there and once back; high: all of "
	    "it; low: 0",
	    "pairs_cuda managed-memory-moves raise", "pairs_cuda managed-memory-moves silent" },
	  FINDING_NEEDS_TIMES,
	  finding_managed_memory },
	{ { "small-transfers", "many copies so small that their fixed cost dominates",
	    "100 copies of at most 64 KB; 2 % of the working part",
	    "fixed cost × copies saved by joining them to 64 KB; fixed: the device idle in the "
	    "call or until the copy "
	    "starts, and the intercept of time against size; low: half of the idle; high, with too "
	    "few sizes: all of the copies' time",
	    PAIR("small-transfers") },
	  FINDING_NEEDS_TIMES,
	  finding_small_transfers },
	{ { "unaligned-transfers", "host addresses of copies are not on 16 bytes",
	    "16 copies of 4 KB or more, and where memory is the host's own aligned ones beside "
	    "them; their time is 5 % of the working part",
	    "copy time − bytes / rate of aligned copies of this run, else rate that `tare "
	    "bandwidth` measured "
	    "(low: of copies of 4 MB and more); without any 0 to copy time",
	    "pairs_levelzero unaligned-transfers raise",
	    "pairs_levelzero unaligned-transfers silent" },
	  FINDING_NEEDS_TIMES,
	  finding_unaligned_transfers },
	{ { "duplicate-transfers",
	    "the same bytes are copied to, or from, where they were already (--contents)",
	    "2 copies of 4 KB or more; 2 % of the working part",
	    "their time that nothing else hides; low: of those compared whole, with nothing in "
	    "between that may have "
	    "changed them on the device; high: the calls, where they block",
	    PAIR("duplicate-transfers") },
	  FINDING_NEEDS_TIMES,
	  finding_repeats },
	{ { "ping-pong",
	    "what was read back is written to the same place again, the same bytes (--contents)",
	    "2 copies of 4 KB or more; 2 % of the working part",
	    "as duplicate-transfers, of both copies; low: without the way there, which the host "
	    "may need",
	    PAIR("ping-pong") },
	  FINDING_NEEDS_TIMES,
	  NULL },
};
const size_t finding_rule_transfer_count =
    sizeof finding_rules_transfers / sizeof *finding_rules_transfers;
