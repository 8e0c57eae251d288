// SPDX-License-Identifier: Apache-2.0
// What a command does to its device, and unions of intervals of time.
#pragma once
#include "analysis/recording/recording.h"

// What a device does while a command runs.
enum tare_effect {
	TARE_EFFECT_NONE, // nothing: markers, barriers, maps that move nothing
	TARE_EFFECT_KERNEL,
	TARE_EFFECT_TO_DEVICE,
	TARE_EFFECT_FROM_DEVICE,
	TARE_EFFECT_LOCAL, // within the device, or not told what
	TARE_EFFECTS
};
// By kind and direction; markers and barriers do nothing.
#define TARE_DIRECTION_DIRECTIONS (TARE_DIRECTION_HOST + 1)
extern const uint8_t tare_effect_of[TARE_KIND_KINDS][TARE_DIRECTION_DIRECTIONS];

// One run of a command of a list. Its call is that of the command that executed the list.
static inline bool tare_command_is_run(const struct tare_recorded_command *command)
{
	return command->part == TARE_RUN;
}
// What no call has asked for: the driver moved pages of managed memory.
static inline bool tare_command_is_drivers(const struct tare_recorded_command *command)
{
	return command->part == TARE_RUN && command->execution == TARE_OF_DRIVER;
}
// Executes a list, and all that this did is in the recording as runs: it is a call of the host and
// nothing on the device.
static inline bool tare_command_only_executes(const struct tare_recorded_command *command)
{
	return command->part == TARE_EXECUTES;
}
// What the command does to its device; asked for each command again and again.
static inline enum tare_effect tare_command_effect(const struct tare_recorded_command *command)
{
	uint8_t direction = command->direction < TARE_DIRECTION_DIRECTIONS ? command->direction : 0;

	if (command->kind >= TARE_KIND_KINDS || tare_command_only_executes(command))
		return TARE_EFFECT_NONE;
	return (enum tare_effect)tare_effect_of[command->kind][direction];
}
// How long the call that enqueued it took; 0 for a run, as that call is another command's.
static inline int64_t tare_command_call_ns(const struct tare_recorded_command *command)
{
	return tare_command_is_run(command) ? 0 : command->exit_ns - command->enter_ns;
}
// Of what has to do with a list; its members one by one, or a copy would have to be made of all.
int64_t tare_list_launch_ns(const struct tare_recording *recording, enum tare_list_part part,
                            uint32_t execution, int64_t call_ns);

// Whether start and end are known and in order.
static inline bool tare_command_timed(const struct tare_recorded_command *command)
{
	return command->start_ns != TARE_NO_TIME && command->end_ns != TARE_NO_TIME &&
	       command->end_ns >= command->start_ns;
}

// Sums and differences that stop at the ends of the range.
static inline int64_t tare_later_ns(int64_t at_ns, int64_t by_ns)
{
	int64_t sum;
	return __builtin_add_overflow(at_ns, by_ns, &sum) ? INT64_MAX : sum;
}
static inline int64_t tare_earlier_ns(int64_t at_ns, int64_t by_ns)
{
	int64_t difference;
	return __builtin_sub_overflow(at_ns, by_ns, &difference) ? INT64_MIN + 1 : difference;
}

// How long the call took, that of an execution divided among its runs (and what else it ran).
// Times of a damaged trace may be anything.
static inline int64_t tare_command_launch_ns(const struct tare_recording *recording,
                                             const struct tare_recorded_command *command)
{
	int64_t call_ns = tare_earlier_ns(command->exit_ns, command->enter_ns);
	return command->part == TARE_ALONE
	           ? call_ns
	           : tare_list_launch_ns(recording, (enum tare_list_part)command->part,
	                                 command->execution, call_ns);
}

// Sorts spans and joins those that overlap or touch; empty ones go. Returns how many are left.
size_t tare_spans_unite(struct tare_run_span *spans, size_t count);

// The union of spans given in almost the right order, measured within a window. Memory grows with
// the spans that are open to change, not with all of them.
struct tare_cover {
	int64_t from_ns, to_ns; // the window, set by the caller
	// no span begins more than this before the middle of an earlier one
	int64_t reach_ns;
	// Is given the parts of the union, disjoint and in order; NULL: they are summed up only.
	void (*take)(void *context, const struct tare_run_span *span);
	void *context;
	int64_t settled_ns;
	struct tare_run_span *spans; // disjoint, in order, may still be merged
	size_t count, capacity;
};
// Adds [at - by, at + by), cut to the window. `at_ns` must not decrease from call to call, and
// `by_ns` not exceed reach_ns. Returns 0 or -ENOMEM.
int tare_cover_around(struct tare_cover *cover, int64_t at_ns, int64_t by_ns);
// Hands over what is left. Nothing may be added afterwards.
void tare_cover_finish(struct tare_cover *cover);
void tare_cover_free(struct tare_cover *cover);
