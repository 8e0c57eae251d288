// SPDX-License-Identifier: Apache-2.0
// Command lists while a process is read, between list.c (what is appended) and execution.c (what is
// executed).
//
// What is appended to one is a template: a call for the host, nothing for the device. Each
// execution makes a command of every template, a run, enqueued when the list was executed; times
// that name the template and the execution are the run's.
#pragma once
#include "analysis/recording/internal.h"

struct load_list {
	uint64_t ticks;       // when it was made
	uint32_t next;        // that took over its number; TARE_NO_INDEX: none
	uint32_t first, last; // templates; TARE_NO_INDEX: none
	uint64_t waits;       // events that they wait for, together
};

// An event that a template waits for.
struct load_event {
	uint64_t event;
	uint32_t next; // TARE_NO_INDEX: none
	uint8_t api;
};

struct load_template {
	uint64_t amount, event;
	uint32_t number;     // of its command
	uint32_t list, next; // next: of its list
	uint32_t position;   // in its list
	uint32_t call;       // that appended it
	uint32_t object;
	uint32_t first_event, last_event; // that it waits for
	uint32_t identity;                // of its place
	uint32_t untimed_before;          // executions that `untimed` is said of
	uint16_t function;
	uint8_t kind, direction, alignment, memory, flags, api, untimed;
	bool placed;
};

// A command that executes a list.
struct load_executing {
	uint32_t command, list; // list: TARE_NO_INDEX: not known
	uint32_t call;          // the first command of the same call
	bool known;             // by an EXECUTE record
	uint32_t graph;         // see loading_executes
};

struct load_lists {
	struct tare_id_map list_of;      // by number, the one that is appended to now
	struct tare_id_map latest_of;    // by number, the one that was defined last
	struct tare_id_map template_of;  // by track and number
	struct tare_id_map executing_of; // the same
	struct tare_id_map execution_of; // by list and number
	struct load_list *lists;
	struct load_template *templates;
	struct load_event *events;
	struct load_executing *executing;
	uint32_t *first_run;                // of each execution
	size_t first_list, first_execution; // of the process
	size_t list_count, list_room, template_count, template_room, event_count, event_room,
	    executing_count, executing_room, run_count, run_room;
	uint64_t left; // runs, and what they wait for, that may still be made
};

// Of a command, by the head of its record.
static inline uint64_t list_identity(uint64_t head, uint32_t number)
{
	return (uint64_t)tare_trace_track(head) << 32 | number;
}

// Made when they are first asked for; NULL: no memory.
struct load_lists *loading_lists(struct loading *l);
