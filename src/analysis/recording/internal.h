// SPDX-License-Identifier: Apache-2.0
// How a trace becomes a recording. Internal to the recording*.c files.
//
// Each process file is read once: definitions first, then events. Elements are appended to the
// recording as they come; commands are joined to what is told of them later by (track, number).
// When a file has been read, its devices' clocks are settled and its commands' stamps mapped; when
// all have been read, commands and calls are put in order.
#pragma once
#include "analysis/core/id_map.h"
#include "analysis/recording/device_clock.h"
#include "analysis/recording/recording.h"
#include "base/room.h"
#include "tare/trace.h"

#include <errno.h>

// In `untimed` while the stamps in submitted_ns, start_ns and end_ns are still the device's ticks.
#define LOADING_RAW 254
// Of a graph that is no list, in the index of its object: which one it is.
#define LOADING_GRAPH 0x80000000u

// Texts of the recording: blocks that are freed together.
struct text_block {
	struct text_block *next;
	size_t used, room;
	char text[];
};

// An object of the process that is being read.
struct load_object {
	uint64_t handle, ticks, parent, device;
	// into the recording's array of its kind; for a kernel its name until linked
	uint32_t index;
	uint32_t order; // of definition
	uint8_t kind;   // enum tare_trace_object_kind
	uint8_t api;    // whose handle it is
};

// A thread while its events come.
struct load_track {
	uint32_t thread;
	uint32_t command; // the last one; TARE_NO_INDEX: none
	uint32_t command_number;
	uint32_t counted_graph; // of the last counted launch; 0: it was none of a graph
	uint64_t command_enter; // ticks
	// what the last command appended to a list; TARE_NO_INDEX: nothing
	uint32_t template;
	uint32_t call;             // the last one; TARE_NO_INDEX: none
	uint64_t call_enter;       // ticks
	int64_t first_ns, last_ns; // when its records were written; TARE_NO_TIME: there are none
	uint32_t first_number;     // of its first command; 0: none
	// What the events of a waiting call belong to; told before or after the call itself.
	uint64_t waits_of; // `enter` of the call, ticks
	uint32_t waits_queue, waits_device;
	bool waits_told;
	// The events that the last command waits for, as commands; moved when it is done.
	struct tare_recorded_wait *waits;
	size_t wait_count, wait_room;
	uint32_t phase;   // the last open one that nests (phase.c); TARE_NO_INDEX
	int64_t phase_ns; // of its last mark
};

// What a map had last: records that follow one another ask for the same again and again.
struct load_last {
	bool known;
	uint64_t key;
	uint32_t index;
};

// What packing commands needs beside the recording's own arrays (commands.c).
enum { LOADING_SHIFTS = 16, LOADING_RECENT = 64, LOADING_TRACKS = 16 };
struct load_commands {
	size_t row_room, like_room, pair_room, whole_room;
	struct tare_id_map like_of; // by content
	uint32_t recent[LOADING_RECENT];
	uint32_t last; // that the last row has: the next often has the same
	// What one becomes with a stack, of the latest; `becomes` is 1 more than the index, 0:
	// none.
	struct load_sited {
		uint32_t like, stack, becomes;
	} sited[LOADING_RECENT];
	uint64_t shift[LOADING_SHIFTS]; // of ticks, by queue
	bool shifted[LOADING_SHIFTS];
};

// What the record of a launch means, whatever its times (command.c). A head of 0: nothing.
struct load_alike {
	uint64_t head, object, amount;
	uint64_t from_ticks; // since when the object is the one of its handle
	uint32_t queue, rest;
	uint32_t like;
	uint8_t untimed;
	bool event;
};

// Commands whose times are to come, by (track, number): those of late where their numbers say, the
// others in a map.
enum { LOADING_NEAR = 1 << 10 };
struct load_pending {
	uint64_t near_key[LOADING_NEAR]; // 0: free
	uint32_t near[LOADING_NEAR];
	struct tare_id_map far;
};

struct loading {
	struct tare_recording *recording;
	struct load_commands *commands; // NULL: there was none
	struct tare_trace *trace;
	struct tare_error *error;
	int status;                             // the first failure; nothing is done after it
	const struct tare_recording_told *told; // NULL: nobody is
	uint64_t events, bytes_read, bytes;     // of files: that were read, of all
	struct text_block *texts;
	// Room of the recording's arrays.
	size_t process_room, thread_room, device_room, queue_room, kernel_room, kernel_fact_room,
	    program_room, memory_room, shape_room, wait_room, call_room, callback_room,
	    function_room, changed_room, loss_room, sample_room, module_room, stack_room,
	    frame_room, script_room, place_room, argument_room, list_room, execution_room,
	    part_room, draw_room, peer_room, link_room, variable_room, count_room, counting_room;
	uint32_t counted_launches; // of all files
	uint32_t *sample_threads;  // of each CPU sample
	size_t sample_thread_room;
	struct tare_id_map shapes, functions; // by content

	// Of the process that is being read.
	size_t file;
	uint32_t process;
	uint8_t api;      // of handles that do not say whose they are
	int64_t shift_ns; // added to its host times
	size_t first_command, first_device, first_memory, first_part;
	struct load_object *objects;
	size_t object_count, object_room;
	size_t last_object; // 1 + the index of one that was looked for; 0: none
	struct tare_trace_fact_record *facts;
	size_t fact_count, fact_room;
	union tare_trace_record *early; // of runs whose execution is read later
	size_t early_count, early_room;
	bool events_read; // all of the file's
	struct tare_trace_change_record *changes;
	size_t change_count, change_room;
	struct tare_trace_clock_pair *pairs; // of devices, where they lie among definitions
	size_t pair_count, pair_room;
	bool linked;               // definitions have been resolved
	int64_t first_call_ns;     // when its first thread was seen; TARE_NO_TIME: none was told
	int64_t inactive_since_ns; // TARE_NO_TIME: events are recorded
	bool active_told;
	uint32_t contexts, graphs; // graphs: those that are no lists, of which nothing is recorded
	const char **platforms;    // names
	uint32_t platform_count;
	size_t platform_room;
	uint64_t *resolutions_ns; // of the process's devices
	size_t resolution_room;
	struct load_ticks *ticks; // how each of the process's devices counts (ticks.c)
	size_t tick_room;
	struct tare_device_clock **clocks; // of the process's devices; NULL: no evidence yet
	size_t clock_count;
	struct tare_id_map object_at;   // first object of a (handle, kind)
	struct tare_id_map queue_of;    // by number
	struct tare_id_map shape_of;    // by id
	struct tare_id_map function_of; // by number
	struct tare_id_map kernel_of;   // by program and name
	struct tare_id_map fact_of;     // kernel facts by kernel and device
	struct tare_id_map track_of;
	struct load_last last_queue, last_function, last_shape, last_stack;
	struct load_last last_tracks[LOADING_TRACKS]; // by their lowest bits
	struct load_alike alike[LOADING_RECENT];
	struct load_pending pending;
	struct tare_id_map event_of;   // the latest command of an event handle
	struct tare_id_map stack_of;   // by id
	struct tare_id_map script_of;  // by frame
	struct tare_id_map part_of;    // sub-devices by their device and number
	struct tare_id_map counted_of; // commands whose counters come later
	uint64_t counted_identity;     // whose values follow
	uint32_t counted_command;
	struct tare_id_map contents_of; // commands whose contents may be told, by track and number
	// of the stack whose parts are coming, and frames that it lacks
	uint32_t stack_id, stack_left;
	int64_t module_seen_ns; // the latest of a module that is defined
	struct load_track *tracks;
	size_t track_count, track_room;
	int64_t *observed_ns; // of this process's commands
	size_t observed_room;
	uint64_t own_events, retained_events;
	struct load_phases *phases; // open ones; NULL: there was none
	size_t phase_room;
	struct load_lists *lists; // lists/list.h; NULL: there was none
	struct load_nodes *nodes; // lists/node.c; NULL: there was none
};

// ---- recording.c

// Keeps the first failure. Returns the negative errno.
int loading_fail(struct loading *l, int code, const char *what);
// A copy of `text` that lives as long as the recording; "" when memory ran out.
const char *loading_text(struct loading *l, const char *text);
// Host ticks of the file on the recording's clock; hostile ones are cut to what can be added.
int64_t loading_ns(const struct loading *l, uint64_t ticks);
// A host time of the reader, shifted and cut.
int64_t loading_shift(const struct loading *l, int64_t ns);
// Cut to what can be added and subtracted without care: 0 to 2^61.
static inline int64_t loading_cut(int64_t ns)
{
	const int64_t most = INT64_C(1) << 61;

	return ns < 0 ? 0 : ns > most ? most : ns;
}

// One more element of the recording's array, zeroed; NULL when there is no memory or there are more
// than an index can count, and the failure is kept.
#define LOADING_ADD(l, array, count, room)                                                         \
	({                                                                                         \
		typeof((l)->recording->array) added_ = NULL;                                       \
		if (loading_may_add(l, (l)->recording->count))                                     \
			added_ = TARE_ROOM_FOR((l)->recording->array, (l)->room,                   \
			                       (l)->recording->count);                             \
		if (added_) {                                                                      \
			*added_ = (typeof(*added_)){ 0 };                                          \
			(l)->recording->count++;                                                   \
		} else {                                                                           \
			loading_fail(l, ENOMEM, "records");                                        \
		}                                                                                  \
		added_;                                                                            \
	})
static inline bool loading_may_add(const struct loading *l, size_t count)
{
	// A wait has 31 bits for an index, and the last one means none.
	return !l->status && count < 0x7ffffffe;
}

#define LOADING_NO_COMMAND 0x7fffffff // of an event that is no command's

// ---- commands without times

static inline uint64_t loading_identity(uint32_t track, uint32_t number)
{
	return (uint64_t)track << 32 | number;
}
static inline size_t loading_near(uint64_t identity)
{
	return (uint32_t)(identity + (identity >> 32) * 257) % LOADING_NEAR;
}
// Of a command whose number is not 0. Replaces an earlier one. False when there is no memory.
static inline bool loading_put_pending(struct load_pending *pending, uint64_t identity,
                                       uint32_t index)
{
	size_t at = loading_near(identity);

	if (pending->near_key[at] && pending->near_key[at] != identity)
		return tare_id_map_put(&pending->far, identity, index);
	if (pending->far.count)
		tare_id_map_take(&pending->far, identity);
	pending->near_key[at] = identity;
	pending->near[at] = index;
	return true;
}
static inline uint32_t loading_find_pending(const struct load_pending *pending, uint64_t identity)
{
	size_t at = loading_near(identity);

	return pending->near_key[at] == identity ? pending->near[at]
	                                         : tare_id_map_find(&pending->far, identity);
}
// The same, and forgets it.
static inline uint32_t loading_take_pending(struct load_pending *pending, uint64_t identity)
{
	size_t at = loading_near(identity);

	if (pending->near_key[at] != identity)
		return tare_id_map_take(&pending->far, identity);
	pending->near_key[at] = 0;
	return pending->near[at];
}

// ---- define.c: definitions

int loading_define(struct loading *l, const union tare_trace_record *record);

// As tare_id_map_find, of a map whose values stay as they are.
static inline uint32_t loading_find_again(const struct tare_id_map *map, struct load_last *last,
                                          uint64_t key)
{
	if (last->known && last->key == key)
		return last->index;
	uint32_t index = tare_id_map_find(map, key);
	if (index != TARE_ID_ABSENT)
		*last = (struct load_last){ true, key, index };
	return index;
}

// ---- lookup.c: what numbers of the trace stand for

// The element of `map` whose content is the same, or absent: keys that only collide follow one
// another. *key is left where a new one goes.
static inline uint32_t loading_find_content(const struct tare_id_map *map, uint64_t *key,
                                            const void *wanted,
                                            bool (*is)(const void *wanted, uint32_t index))
{
	uint32_t index;

	while ((index = tare_id_map_find(map, *key)) != TARE_ID_ABSENT && !is(wanted, index))
		++*key;
	return index;
}
// The function of this name, added where it is new.
uint32_t loading_intern_function(struct loading *l, const char *name, uint32_t api, uint32_t role);
// The function of a number; of one that is not told "?", with `role`.
uint32_t loading_function(struct loading *l, uint16_t number, uint32_t role);
// One of our own for what no function of the program asked for.
uint32_t loading_own_function(struct loading *l, const char *name);
// Whose handles the records of a function name.
uint8_t loading_api_of_function(const struct loading *l, uint32_t function);
// The shape of an id; TARE_NO_INDEX, counted as unresolved.
uint32_t loading_shape(struct loading *l, uint64_t id);
// The thread of a track, made when it is new; NULL: no memory.
struct load_track *loading_look_up_track(struct loading *l, uint32_t track);
static inline struct load_track *loading_track(struct loading *l, uint32_t track)
{
	const struct load_last *last = &l->last_tracks[track % LOADING_TRACKS];

	return last->known && last->key == track ? &l->tracks[last->index]
	                                         : loading_look_up_track(l, track);
}
// Whether the last command of a track has this number; its track in any case, NULL: there is none.
bool loading_is_last_command(struct loading *l, uint32_t head_track, uint64_t number,
                             struct load_track **track);

// ---- resolve.c, link.c: handles

// Sorts the objects by handle and time, so that they can be found. Once.
int loading_sort_objects(struct loading *l);
// Sorts the objects and resolves what definitions say of one another. Once, before the first event.
int loading_link(struct loading *l);
// The API that a record says its handles are of; where it says none, as before 1.3, that of the
// file.
static inline uint8_t loading_api(const struct loading *l, uint32_t known)
{
	return known && known < TARE_TRACE_API_COUNT ? (uint8_t)known : l->api;
}
// That of an OBJECT, FACT, CHANGE or CLOCK_PAIR.
static inline uint8_t loading_api_of_head(const struct loading *l, uint64_t head)
{
	return loading_api(l, tare_trace_record_flags(head));
}
// The object that `handle` of an API means at `ticks`, or NULL.
const struct load_object *loading_find(const struct loading *l, uint8_t api, uint8_t kind,
                                       uint64_t handle, uint64_t ticks);
// Its index; TARE_NO_INDEX, counted as unresolved, when there is none. 0 as a handle is none.
uint32_t loading_resolve(struct loading *l, uint8_t api, uint8_t kind, uint64_t handle,
                         uint64_t ticks);

// ---- facts.c: what is known of objects

void loading_apply_facts(struct loading *l);
void loading_apply_changes(struct loading *l);

// ---- commands.c: the store of commands

// A copy of a command; of one whose stamps are not mapped yet, with the device's ticks.
struct tare_recorded_command loading_command(const struct loading *l, size_t index);
// Replaces it.
int loading_put_command(struct loading *l, size_t index, const struct tare_recorded_command *c);
// The times of a command, and why it has none.
struct load_times {
	int64_t submitted_ns, start_ns, end_ns;
	uint8_t untimed;
};
// Of one whose stamps are not mapped yet the device's ticks.
struct load_times loading_times_of(const struct loading *l, size_t index);
// Replaces them.
int loading_put_times(struct loading *l, size_t index, const struct load_times *times);
// When all are in their order: sums up what commands have in common, where that can be.
int loading_sum_likes(struct loading *l);
// Says from where it was enqueued.
int loading_put_stack(struct loading *l, size_t index, uint32_t stack);
// Says why it has no times.
void loading_put_untimed(struct loading *l, size_t index, uint8_t why);
// Appends one. Returns its index, or TARE_NO_INDEX, and the failure is kept.
uint32_t loading_add_command(struct loading *l, const struct tare_recorded_command *c);
// Appends one without times, nor links, that has the same in common as those of an index into
// `likes`. TARE_NO_INDEX also where it does not fit into a row.
uint32_t loading_add_like(struct loading *l, uint32_t like, uint8_t untimed, int64_t enter_ns,
                          int64_t exit_ns);
// When all ticks of a process have been mapped.
void loading_forget_ticks(struct loading *l);
void loading_free_commands(struct loading *l);

// ---- command.c: launches like those before

// Appends a launch of which a record like this has told before. Returns its index, or TARE_NO_INDEX
// where none has.
uint32_t loading_add_alike(struct loading *l, const struct tare_trace_command *c, int64_t enter_ns,
                           int64_t exit_ns);
// Keeps what a record meant, all of which was found, and became the command of an index.
void loading_keep_alike(struct loading *l, const struct tare_trace_command *c, uint32_t index);

// ---- event.c: events

int loading_event(struct loading *l, const union tare_trace_record *record);
// Ends the lists of what commands wait for.
int loading_finish_waits(struct loading *l);

// What a command whose handles are of `api` and that was entered at `enter_ns` means by an event:
// an index, or that there is none or it was not seen.
uint32_t loading_command_of_event(struct loading *l, uint8_t api, uint64_t event, uint64_t ticks,
                                  int64_t enter_ns);
// The event of a command is that of the command with this index from now on.
void loading_put_event(struct loading *l, uint8_t api, uint64_t event, uint32_t index);
// Notes where a write or read takes place.
int loading_add_place(struct loading *l, uint32_t command, uint32_t identity);
// The place of a command of this kind without, and with what a TRANSFER record adds.
uint32_t loading_place_identity(uint8_t kind, uint64_t address);
uint32_t loading_transfer_identity(uint32_t identity, const struct tare_trace_transfer *t);

// ---- lists/list.c, lists/execution.c: command lists

// The list that is made by an OBJECT record of kind GRAPH, as its index.
uint32_t loading_add_list(struct loading *l, const struct tare_trace_object *o);
// Whether commands of this number are appended to a list.
bool loading_is_list(const struct loading *l, uint32_t number);
// A command that is appended to a list.
int loading_append(struct loading *l, struct load_track *track, const struct tare_trace_command *c);
// What follows such a command: its dependencies, where it takes place.
int loading_append_depends(struct loading *l, uint32_t template, uint8_t api,
                           const struct tare_trace_depends *d, uint32_t events);
void loading_append_transfer(struct loading *l, uint32_t template,
                             const struct tare_trace_transfer *t);
bool loading_is_template(const struct loading *l, uint32_t template, uint64_t number);
// The command with this index executes the list of an OBJECT's index.
// `before`: the number of the command of the same call that came before it; 0: none. `graph`: which
// of the graphs that are no lists it is, from 1; 0: none.
int loading_executes(struct loading *l, const struct tare_trace_command *c, uint32_t index,
                     uint32_t list, uint32_t graph, uint32_t before);
int loading_execute(struct loading *l, const struct tare_trace_execute *e);
// The run that times are of; TARE_NO_RUN: they are of no list's command, TARE_ID_ABSENT: it is one,
// but that run is not known.
#define TARE_NO_RUN (TARE_ID_ABSENT - 1)
uint32_t loading_run_of(struct loading *l, uint64_t identity, uint64_t execution);
// Takes note that times will not come, of all executions where none is told; false: it is of no
// list's command.
bool loading_untimed_list(struct loading *l, uint64_t identity, uint64_t execution, uint8_t why);
// When all events of the process have been read.
void loading_finish_lists(struct loading *l);
// How many of the process's commands are runs of lists.
size_t loading_run_count(const struct loading *l);
// What was appended to the process's lists.
size_t loading_template_count(const struct loading *l);
void loading_forget_lists(struct loading *l);
// The execution of the graph that a command of this identity launches, begun when it is asked for
// first; its runs are added one by one. TARE_NO_INDEX: there is no such command.
uint32_t loading_launch(struct loading *l, uint64_t identity);

// ---- parts.c: what sub-devices did of a command

// A FACT says that `device` is a part of `root`, or not known whose (TARE_NO_INDEX).
void loading_sub_device(struct loading *l, uint32_t device, uint32_t root, uint64_t number);
int loading_part(struct loading *l, const struct tare_trace_part *part);
// When times have been mapped.
void loading_finish_parts(struct loading *l);
// When commands have been moved.
void loading_order_parts(struct tare_recording *r);

// ---- command.c: the random sample

int loading_drawn(struct loading *l, const struct tare_trace_drawn *drawn);
// When all commands are in their places.
void loading_order_draws(struct tare_recording *r);

// ---- memory/peers.c: copies between devices

int loading_peer(struct loading *l, const struct tare_trace_peer *peer);
int loading_link_told(struct loading *l, const struct tare_trace_link *link);
// Of a command that is known; handles 0: it is none.
int loading_add_peer(struct loading *l, uint32_t command, uint8_t api, uint64_t source,
                     uint64_t destination);
void loading_order_peers(struct tare_recording *r);

// ---- memory/contents.c: where transfers read and write, and what they carried

// Of a transfer from or to the host's memory, if that has an address.
int loading_place(struct loading *l, const struct tare_trace_command *c, uint32_t index);
// The rest of a transfer's place.
int loading_transfer(struct loading *l, const struct tare_trace_transfer *t);
int loading_contents(struct loading *l, const struct tare_trace_contents *c);

// ---- counted.c: counters

int loading_counted(struct loading *l, const struct tare_trace_counted *counted);
int loading_counting(struct loading *l, const struct tare_trace_counting *counting);

// ---- memory/pages.c: managed memory

int loading_pages(struct loading *l, const struct tare_trace_pages *pages);
// When times have been mapped: what was moved was not enqueued, it began when it began.
void loading_finish_pages(struct loading *l);

// ---- lists/node.c: nodes of graphs that an API tells one by one

int loading_node(struct loading *l, const struct tare_trace_node *node);
// A new run of the node that the times are of; TARE_NO_INDEX: the node or its launch is not known.
uint32_t loading_run_of_node(struct loading *l, const struct tare_trace_times *times);
// What waits for a launch waits for the last of its runs. When times have been read, before they
// are mapped.
void loading_finish_nodes(struct loading *l);
void loading_forget_nodes(struct loading *l);

// ---- stack.c: from where

int loading_stack(struct loading *l, const struct tare_trace_stack *stack);
int loading_module(struct loading *l, const struct tare_trace_module *module);
// Drops a stack that is not whole, when all definitions have been read.
void loading_finish_stacks(struct loading *l);
int loading_site(struct loading *l, const struct tare_trace_site *site);

// ---- phase.c: phases

int loading_phase(struct loading *l, const struct tare_trace_phase *mark);
// Ends what is still open of this process, when its end is known.
int loading_finish_phases(struct loading *l);
void loading_forget_phases(struct loading *l);
// When phases are in order.
void loading_phase_depths(struct loading *l);

// ---- lost.c: what was not recorded

// Takes note of when a thread's record was written.
void loading_note_written(struct loading *l, const union tare_trace_record *record,
                          int64_t written_ns);
int loading_active(struct loading *l, const struct tare_trace_active *active);
// Adds the losses of this process, when it has been read and its end is known.
int loading_lost_of_process(struct loading *l);
// Adds those that need the end of the run.
int loading_lost_at_the_end(struct loading *l);

// ---- times.c: device times

// The clock of a device of this process, made when it is first asked for; NULL: no memory.
struct tare_device_clock *loading_clock(struct loading *l, uint32_t device);
int loading_clock_pair(struct loading *l, const struct tare_trace_clock_pair *pair);
int loading_times(struct loading *l, const struct tare_trace_times *times);
// Keeps a record of execution `execution` that found no such run, until all events were read.
// False: it is of no execution, or all were read, and there is no such run.
bool loading_keep_early(struct loading *l, uint64_t execution,
                        const union tare_trace_record *record);
// Keeps when the command was known to be complete, beside the commands of this process.
bool loading_keep_observed(struct loading *l, uint32_t command, int64_t observed_ns);
int loading_untimed(struct loading *l, const struct tare_trace_untimed_record *untimed);
// Settles the clocks of this process's devices and maps its commands' stamps.
int loading_map_times(struct loading *l);

// ---- ticks.c: a device's counter

// Room for how one more device counts.
bool loading_add_ticks(struct loading *l);
// A FACT of how a device counts.
void loading_tick_fact(struct loading *l, uint32_t device, uint16_t key, uint64_t value);
// What the counter showed, and the stamps that are present, as nanoseconds of its clock.
uint64_t loading_pair_ns(struct loading *l, uint32_t device, const struct tare_reading *reading);
void loading_stamps_ns(struct loading *l, uint32_t device, uint8_t present,
                       struct tare_command_stamps *stamps);
// From a context's counter at a command's start and end, in the ticks and bits of the device's
// stamps.
int64_t loading_active_ns(struct loading *l, uint32_t device, uint64_t start, uint64_t end);

// ---- order.c

// Puts commands, calls and CPU samples in order.
int loading_order(struct loading *l);

// ---- same.c

// Joins devices of several processes.
int loading_same_devices(struct loading *l);
// Joins those of two APIs that only their names tell (two_apis.c).
void loading_same_by_name(struct loading *l);
// What is to be added to the times of a process so that they compare with those of `reference`; 0
// when they do already. *sentence says that times were aligned by the clock of day, else NULL.
int64_t loading_alignment_ns(const struct tare_trace_header *header,
                             const struct tare_trace_header *reference, const char **sentence);

// ---- record.c

// What record.json says of the run. All of it may be missing.
struct load_record {
	char host_name[64];                                  // "": not told; as long as in a trace
	int64_t start_raw_ns, start_realtime_ns, end_raw_ns; // TARE_NO_TIME: not told
};
// A text that is no record.json leaves everything not known, and a problem.
void loading_record_json(struct loading *l, const char *text, size_t bytes,
                         struct load_record *record);
// The text of DIRECTORY/record.json when the reader has none, to be freed; NULL: none, or no file
// that could be one.
char *loading_read_record(const char *directory, size_t *bytes);
