// SPDX-License-Identifier: Apache-2.0
// The commands of a recording: what one is, and how one is read.
#pragma once
#include "tare/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_NO_TIME INT64_MIN   // a time that is not known
#define TARE_NO_INDEX UINT32_MAX // an object that is not known, or none

// Times were harvested, but cannot be: zero, the end before the start, outside all that the host
// saw, or of a clock that could not be put on the host's.
#define TARE_UNTIMED_UNUSABLE 255
// Times could have been had; the recorder has chosen others to stand for it. TARE_COMMAND_OWN_EVENT
// says then that the program asked for no event.
#define TARE_UNTIMED_NOT_SAMPLED 253

// What a command has to do with a command list (a graph).
enum tare_list_part {
	TARE_ALONE,         // nothing
	TARE_EXECUTES,      // it executes one; all that this runs are commands of their own
	TARE_EXECUTES_MORE, // the same, but of some that it ran nothing more is known
	TARE_RUN,           // one run of a command of a list: `execution` says by which command
};
// In `execution` of a run: no call has asked for it, the driver did it by itself (managed memory).
#define TARE_OF_DRIVER 0x3fffffff

// A command: an enqueue that succeeded, or one run of a command of a list, which was enqueued when
// its list was executed. In the order of enter_ns; runs follow the command that executes the list,
// in the order of the list.
struct tare_recorded_command {
	int64_t enter_ns, exit_ns; // of the call
	int64_t submitted_ns;      // TARE_NO_TIME where not known; so the next two
	int64_t start_ns, end_ns;
	// bytes; for a kernel index into shapes, TARE_NO_INDEX: not told
	uint64_t amount;
	uint32_t thread, queue;
	uint32_t object;     // kernel, or memory (of the device's side, source of a copy)
	uint32_t first_wait; // index into `waits`; TARE_NO_INDEX: none
	uint16_t function;   // index into functions
	uint8_t kind;        // enum tare_trace_command_kind
	uint8_t direction;
	uint8_t alignment;
	uint8_t memory;     // enum tare_trace_memory of the host side
	uint8_t flags;      // enum tare_trace_command_flags
	uint8_t untimed;    // when start_ns is not known: enum tare_trace_untimed,
	                    // TARE_UNTIMED_NOT_SAMPLED or _UNUSABLE; 0: never harvested
	uint32_t stack;     // from where it was enqueued (of a run: appended to its list);
	                    // TARE_NO_INDEX: not recorded
	uint32_t execution; // index into executions, unless it is alone
	// that its context was at work for it on the device, where that is told; else 0
	int64_t active_ns;
	uint8_t part; // enum tare_list_part; no bit field, which a copy would be made in memory for
};

// ---- how they are kept

// What is in a row's word for a link.
enum tare_command_link {
	TARE_LINK_NONE,
	TARE_LINK_WAIT,      // first_wait
	TARE_LINK_EXECUTION, // execution
	TARE_LINK_ACTIVE,    // active_ns
};

// What commands have in common: a program asks for the same again and again.
struct tare_command_like {
	uint64_t amount;
	uint32_t thread, queue, object, stack;
	uint16_t function;
	uint8_t kind, direction, alignment, memory, flags;
	// pair: a row has both words; waits: of these, first_wait is in `submitted_ns`
	uint8_t part : 2, link : 2, pair : 1, waits : 1, none : 2;
};

// The words of a row that has a link and a submission, or two links.
struct tare_packed_pair {
	int32_t submitted_ns; // from enter, or TARE_PACKED_NO_TIME
	uint32_t link;
};

// A row: times as far as they lie within 39 hours of the first, and the others as near to its call
// as programs have them. A command that does not fit is kept whole.
struct tare_packed_command {
	uint32_t enter;   // the lower bits, from base_ns
	uint32_t start;   // the lower bits, from enter
	uint32_t call_ns; // exit - enter
	uint32_t run_ns;  // end - start, TARE_PACKED_UNTIMED
	// the submission as in a pair, or the link if it has one, or an index into `pairs`
	uint32_t more;
	uint32_t like; // index; TARE_PACKED_WHOLE: it is whole[enter]
	int16_t enter_high;
	int8_t start_high;
	uint8_t untimed;
};
#define TARE_PACKED_UNTIMED UINT32_MAX
#define TARE_PACKED_WHOLE UINT32_MAX
#define TARE_PACKED_NO_TIME INT32_MIN
_Static_assert(sizeof(struct tare_packed_command) == 28, "docs/reading.md says what a row takes");
_Static_assert(sizeof(struct tare_command_like) == 32, "without padding: it is compared as bytes");

// All commands that have the same in common, summed up: tables that are of the whole run need not
// look at each.
struct tare_like_sums {
	uint32_t like;
	uint32_t first, last;    // of them, in the order of the recording
	uint64_t count, timed;   // timed: as tare_command_timed
	int64_t call_ns, run_ns; // of all calls; of all that are timed
	int64_t longest_call_ns;
	int64_t enter_ns; // when the first call of them began
	int64_t last_ns;  // when the last of them ended, or its call if it is not timed
};

// The commands of a recording, which knows how many there are. Read them by TARE_COMMAND.
struct tare_commands {
	struct tare_recorded_command *plain; // as they are, of one made by hand; NULL: packed
	struct tare_packed_command *rows;
	struct tare_command_like *likes;
	struct tare_packed_pair *pairs;
	struct tare_recorded_command *whole;
	int64_t base_ns;
	size_t like_count, pair_count, whole_count;
	// In the order of their first commands. NULL: each command must be looked at, because some
	// are kept whole, or have to do with a list.
	struct tare_like_sums *sums;
	size_t sum_count;
	bool all_timed; // with sums: all of them
};

// A row's two words.
__attribute__((always_inline)) static inline struct tare_packed_pair
tare_packed_words(const struct tare_commands *commands, const struct tare_packed_command *row,
                  const struct tare_command_like *like)
{
	if (__builtin_expect(like->pair, false))
		return commands->pairs[row->more];
	return like->link == TARE_LINK_NONE
	           ? (struct tare_packed_pair){ (int32_t)row->more, 0 }
	           : (struct tare_packed_pair){ TARE_PACKED_NO_TIME, row->more };
}

static inline int64_t tare_packed_submitted_ns(int32_t submitted_ns, bool waits, int64_t enter_ns)
{
	return waits || submitted_ns == TARE_PACKED_NO_TIME ? TARE_NO_TIME
	                                                    : enter_ns + submitted_ns;
}

// Inline always: of a copy that is not passed on, only the members that are looked at are made.
__attribute__((always_inline)) static inline struct tare_recorded_command
tare_command_at(const struct tare_commands *commands, size_t at)
{
	// The usual way is laid out straight: nearly all are packed.
	if (__builtin_expect(commands->plain != NULL, false))
		return commands->plain[at];
	const struct tare_packed_command *row = &commands->rows[at];
	if (__builtin_expect(row->like == TARE_PACKED_WHOLE, false))
		return commands->whole[row->enter];
	const struct tare_command_like *like = &commands->likes[row->like];
	const int64_t high = INT64_C(1) << 32;
	int64_t enter_ns = commands->base_ns + row->enter_high * high + row->enter;
	int64_t start_ns = enter_ns + row->start_high * high + row->start;
	bool timed = row->run_ns != TARE_PACKED_UNTIMED;
	const struct tare_packed_pair words = tare_packed_words(commands, row, like);
	return (struct tare_recorded_command){
		.enter_ns = enter_ns,
		.exit_ns = enter_ns + row->call_ns,
		.submitted_ns = tare_packed_submitted_ns(words.submitted_ns, like->waits, enter_ns),
		.start_ns = timed ? start_ns : TARE_NO_TIME,
		.end_ns = timed ? start_ns + row->run_ns : TARE_NO_TIME,
		.amount = like->amount,
		.thread = like->thread,
		.queue = like->queue,
		.object = like->object,
		.first_wait = like->link == TARE_LINK_WAIT ? words.link
		              : like->waits                ? (uint32_t)words.submitted_ns
		                                           : TARE_NO_INDEX,
		.function = like->function,
		.kind = like->kind,
		.direction = like->direction,
		.alignment = like->alignment,
		.memory = like->memory,
		.flags = like->flags,
		.untimed = row->untimed,
		.stack = like->stack,
		.part = like->part,
		.execution = like->link == TARE_LINK_EXECUTION ? words.link & TARE_OF_DRIVER : 0,
		.active_ns = like->link == TARE_LINK_ACTIVE ? words.link : 0,
	};
}
// Which of `likes` it has, for what is found out once for all that have the same;
// TARE_PACKED_WHOLE: none.
static inline uint32_t tare_command_like_of(const struct tare_commands *commands, size_t at)
{
	return commands->plain ? TARE_PACKED_WHOLE : commands->rows[at].like;
}
// What kind it is, without a copy of the rest.
static inline uint8_t tare_command_kind_at(const struct tare_commands *commands, size_t at)
{
	uint32_t like = tare_command_like_of(commands, at);
	return like != TARE_PACKED_WHOLE ? commands->likes[like].kind
	                                 : tare_command_at(commands, at).kind;
}
// A command of a recording, as a pointer that is good to the end of the block it is written in,
// and, in a loop, to the next turn: it points to a copy. What lives longer keeps the index.
#define TARE_COMMAND(recording, at)                                                                \
	((const struct tare_recorded_command[1]){ tare_command_at(&(recording)->commands, (at)) })
// What a command has that has the same in common with others: its times are not known.
static inline struct tare_recorded_command
tare_command_of_like(const struct tare_commands *commands, uint32_t index)
{
	const struct tare_command_like *like = &commands->likes[index];
	return (struct tare_recorded_command){
		.submitted_ns = TARE_NO_TIME,
		.start_ns = TARE_NO_TIME,
		.end_ns = TARE_NO_TIME,
		.amount = like->amount,
		.thread = like->thread,
		.queue = like->queue,
		.object = like->object,
		.first_wait = TARE_NO_INDEX,
		.function = like->function,
		.kind = like->kind,
		.direction = like->direction,
		.alignment = like->alignment,
		.memory = like->memory,
		.flags = like->flags,
		.stack = like->stack,
		.part = like->part,
	};
}
