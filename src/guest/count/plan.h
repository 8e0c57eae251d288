// SPDX-License-Identifier: Apache-2.0
// Which launches of a program are counted, for `tare hotspots`, whatever the API.
#pragma once
#include "guest/environment.h"
#include "guest/guest.h"

enum {
	COUNTERS_MOST_KERNELS = 64,
	COUNTERS_MOST_GROUPS = 8,
	COUNTERS_MOST_PLACES = TARE_ENVIRONMENT_MOST_PLACES
};

// A kernel that is to be counted, or a graph.
struct counters_kernel {
	uint64_t hash; // of its symbol; of a graph "#" and its number
	bool graph;
	uint64_t launches; // that the recording had; COUNTERS_OPEN: there was none
	_Atomic uint64_t
	    ns; // of an open plan: time of a counted launch on the device; 0: not known
	_Atomic uint64_t seen;
	_Atomic uint32_t taken;     // launches that were counted, or are about to be
	_Atomic uint32_t told_left; // bits 1 << enum tare_trace_counting_left that were written
	uint8_t of_group[COUNTERS_MOST_GROUPS]; // of the taken ones
	// Places among its launches that are to be counted only, within the plan's; none: all
	uint32_t first_place, place_count;
};
// Launches from the first to the last one, from 0.
struct counters_place {
	uint64_t from, to;
};
struct counters_plan {
	uint32_t a_group; // launches of each kernel and group of counters
	bool replay;      // a kernel with fewer launches than groups may be run several times
	bool accounts;    // of each launch all at once, for which it is run several times (CUDA)
	// How many kernels are counted in full of those that come, where no recording has chosen
	// any: those with most time, by their launches until then; 0: those that are named.
	uint32_t open;
	_Atomic uint32_t count;
	struct counters_kernel kernels[COUNTERS_MOST_KERNELS];
	struct counters_place places[COUNTERS_MOST_PLACES];
	uint32_t place_count;
};
#define COUNTERS_OPEN UINT64_MAX
// Takes "A_GROUP[,replay|,accounts]\nLAUNCHES[@FROM-TO+FROM-TO...] SYMBOL\n...", or
// "A_GROUP,open=N"; false: it is not of that form.
bool counters_plan_read(const char *text, struct counters_plan *plan);
// Whether a kernel's launch, its *index-th, is one of those that are to be counted; *index becomes
// its place among these.
bool counters_plan_has(const struct counters_plan *plan, const struct counters_kernel *kernel,
                       uint64_t *index);
// The kernel of that symbol; NULL: it is not to be counted.
struct counters_kernel *counters_plan_find(struct counters_plan *plan, uint64_t hash);
// The same, of an open plan: a kernel that was not seen before is added; NULL: there is no room, or
// the plan is not open. Any thread.
struct counters_kernel *counters_plan_add(struct counters_plan *plan, uint64_t hash);
// Of an open plan: whether a kernel has had its first turn yet to come, or has as much time as
// those that are counted in full.
bool counters_is_chosen(const struct counters_plan *plan, const struct counters_kernel *kernel);
// Whether a launch is to be counted when `taken` of its kernel were, which is its `index`th, from
// 0, and with which of so many groups, `group`. One of each of equally long parts of the run is
// counted, from a place on that is drawn, for a group that the kernel was counted for least. In an
// open plan, which does not know how many launches there will be, each part is twice as long as the
// one before, and the first turn is of group 0, which tells the time. Of
// those `current` costs nothing more: another one is taken at the part's end only. `groups`: all of
// them at once, replayed.
bool counters_is_turn(const struct counters_plan *plan, const struct counters_kernel *kernel,
                      uint32_t groups, uint64_t index, uint32_t current, uint32_t *group);

// The same of a launch of a graph, which takes another profiler than kernels do: all of its
// launches follow one another, from the second on.
bool counters_is_graphs_turn(const struct counters_plan *plan, const struct counters_kernel *graph,
                             uint32_t groups, uint64_t index, uint32_t current, uint32_t *group);
// Whether it is the last one of its part, so that a turn that does not come now is lost.
bool counters_is_last(const struct counters_plan *plan, const struct counters_kernel *kernel,
                      uint32_t groups, uint64_t index);
// Whether it has launches enough to come for all of its turns if this one, and some more, pass by.
bool counters_may_wait(const struct counters_plan *plan, const struct counters_kernel *kernel,
                       uint32_t groups, uint64_t index);
// No more of its launches are to be counted.
void counters_plan_give_up(struct counters_kernel *kernel);
// Whether more of its launches are to be counted.
bool counters_has_turns(const struct counters_plan *plan, const struct counters_kernel *kernel,
                        uint32_t groups);
