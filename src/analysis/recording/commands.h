// SPDX-License-Identifier: Apache-2.0
// The commands of a recording: what one is, and how one is read.
#pragma once
#include "tare/trace_format.h"

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
	uint8_t memory;          // enum tare_trace_memory of the host side
	uint8_t flags;           // enum tare_trace_command_flags
	uint8_t untimed;         // when start_ns is not known: enum tare_trace_untimed,
	                         // TARE_UNTIMED_NOT_SAMPLED or _UNUSABLE; 0: never harvested
	uint32_t stack;          // from where it was enqueued (of a run: appended to its list);
	                         // TARE_NO_INDEX: not recorded
	uint32_t part : 2;       // enum tare_list_part
	uint32_t execution : 30; // index into executions, unless it is alone
	// that its context was at work for it on the device, where that is told; else 0
	int64_t active_ns;
};

// The commands of a recording, of which it knows how many there are. Read them by TARE_COMMAND.
struct tare_commands {
	struct tare_recorded_command *plain;
};

static inline struct tare_recorded_command tare_command_at(const struct tare_commands *commands,
                                                           size_t at)
{
	return commands->plain[at];
}
// A command of a recording, as a pointer that is good to the end of the block it is written in,
// and, in a loop, to the next turn: it points to a copy. What lives longer keeps the index.
#define TARE_COMMAND(recording, at)                                                                \
	((const struct tare_recorded_command[1]){ tare_command_at(&(recording)->commands, (at)) })
