// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the ledger; nobody else's business. docs/ledger.md has the rules.
#pragma once
#include "analysis/ledger/host_state.h"
#include "analysis/ledger/ledger.h"
#include "analysis/recording/intervals.h"

// What one ledger is about.
struct ledger_scope {
	const struct tare_recording *recording;
	const struct tare_view *view;
	uint32_t device;       // same_as; TARE_NO_INDEX: all of the view
	const bool *processes; // those that have a queue on it; NULL: all
	// when what else ran on it is not known: disjoint, in order
	const struct tare_run_span *unknown;
	size_t unknown_count;
};

// The device of a queue as same_as; TARE_NO_INDEX.
static inline uint32_t ledger_queue_device(const struct tare_recording *recording, uint32_t queue)
{
	if (queue >= recording->queue_count)
		return TARE_NO_INDEX;
	uint32_t device = recording->queues[queue].device;
	return device < recording->device_count ? recording->devices[device].same_as
	                                        : TARE_NO_INDEX;
}

static inline bool ledger_has_device(const struct ledger_scope *scope, uint32_t device)
{
	if (scope->view->device != TARE_NO_INDEX && device != scope->view->device)
		return false;
	return scope->device == TARE_NO_INDEX || device == scope->device;
}

// Whether a thread is of the view; and of a process that has a queue on the device.
static inline bool ledger_view_has_thread(const struct ledger_scope *scope, uint32_t thread)
{
	const struct tare_recording *recording = scope->recording;
	return thread < recording->thread_count &&
	       recording->threads[thread].process < recording->process_count &&
	       (scope->view->process == TARE_NO_INDEX ||
	        recording->threads[thread].process == scope->view->process);
}
static inline bool ledger_has_thread(const struct ledger_scope *scope, uint32_t thread)
{
	return ledger_view_has_thread(scope, thread) &&
	       (!scope->processes || scope->processes[scope->recording->threads[thread].process]);
}

// Whether a command goes to a device of the scope.
static inline bool ledger_has_command(const struct ledger_scope *scope,
                                      const struct tare_recorded_command *command)
{
	return ledger_view_has_thread(scope, command->thread) &&
	       ledger_has_device(scope, ledger_queue_device(scope->recording, command->queue));
}

// Whether a call waits for a device of the scope, or asks whether it is done. One that does not
// say for which device counts for every device.
bool ledger_has_wait(const struct ledger_scope *scope, const struct tare_recorded_call *call);
// Error of a command's stamps on the host clock, at least 0.
static inline int64_t ledger_residual_ns(const struct tare_recording *recording,
                                         const struct tare_recorded_command *command)
{
	if (command->queue >= recording->queue_count ||
	    recording->queues[command->queue].device >= recording->device_count)
		return 0;
	int64_t residual_ns =
	    recording->devices[recording->queues[command->queue].device].residual_ns;
	return residual_ns > 0 ? residual_ns : 0;
}

// ---- order.c

// Indices of the view's commands that have times, by start; the key goes on so far that neither the
// order of the arrays nor the numbers of threads decide. *order is the caller's to free.
// Returns 0 or -ENOMEM.
int ledger_order(const struct tare_recording *recording, const struct tare_view *view,
                 uint32_t **order, size_t *count);

// ---- attention.c

// Which thread a device depends on: one that is inside an enqueue to it or a wait for it, else the
// one that will be next, else the one that was last.
struct ledger_attention;
// Returns NULL when memory ran out.
struct ledger_attention *ledger_attention_new(const struct ledger_scope *scope,
                                              const struct ledger_hosts *hosts);
void ledger_attention_free(struct ledger_attention *attention);
// The thread at a time (TARE_NO_INDEX: there is none) and until when it stays so. Times must not
// decrease from call to call.
uint32_t ledger_attention_at(struct ledger_attention *attention, int64_t at_ns, int64_t *until_ns);
// The one that was last: whose enqueue or wait ended last, without any the one whose call did.
uint32_t ledger_attention_last(const struct ledger_attention *attention);
bool ledger_attention_failed(const struct ledger_attention *attention); // memory ran out

// ---- untimed.c

// When commands without times may have been running: disjoint, in order; the caller's to free.
// Returns 0 or -ENOMEM.
int ledger_untimed(const struct ledger_scope *scope, struct tare_run_span **spans, size_t *count);

// ---- parts.c

// A recording in which what sub-devices did of their whole device's commands are commands of
// theirs.
struct ledger_parted {
	struct tare_recording recording; // queues, commands and waits are its own
	uint32_t *parts_at;   // of each queue that was there: where those of its parts begin
	uint32_t *command_of; // of each command: which it is, or is a part of
	bool *has;            // of each device, by same_as: whether there are parts on it
};
// *parted: to be freed, NULL where there are no parts. Returns 0 or -ENOMEM.
int ledger_parts_new(const struct tare_recording *recording, struct ledger_parted **parted);
void ledger_parts_free(struct ledger_parted *parted); // accepts NULL
// When commands of the whole device ran, or may have, of which the parts are not known. The scope
// is of a sub-device, and of a recording as it is. *spans: disjoint, in order, to be freed, also
// where it fails. Returns 0 or -ENOMEM.
int ledger_parts_unknown(const struct ledger_scope *scope, struct tare_run_span **spans,
                         size_t *count);

// ---- lost.c

// A time in which idle time is of one category, whatever the host does and commands wait for.
struct ledger_override {
	struct tare_run_span span;
	enum tare_ledger_category category; // NOT_RECORDED, UNTIMED
};
// Disjoint, in order; the caller's to free. Returns 0 or -ENOMEM.
int ledger_overrides(const struct ledger_scope *scope, struct ledger_override **overrides,
                     size_t *count);

// ---- sweep.c

enum { LEDGER_GAPS = 64, LEDGER_GAP_ROWS = 2 };

struct ledger_gap_list {
	struct tare_gap at[LEDGER_GAPS]; // longest first, then earliest
	size_t count;
	// Every gap there is in one of the first two rows, in the order of time, with the ledger's
	// parts of it, and bits of the categories among which those are; NULL: nobody asks. Other
	// than 0: memory ran out.
	uint32_t each_row;
	int (*each)(void *context, const struct tare_gap *gap,
	            const int64_t parts_ns[TARE_LEDGER_CATEGORIES], uint32_t among);
	// Every piece of idle time whose cause does not change, in the order of time; NULL: nobody
	// asks. Other than 0: memory ran out. Matrices are not made then.
	int (*piece)(void *context, const struct tare_gap *piece);
	void *context;
};

// Where a part of the time begins or ends.
struct ledger_mark {
	int64_t at_ns; // within the view
	uint32_t row;  // the ledger that has that part
	bool begins;
};

// Where the parts of a view begin and end, for one row (scope.c); *marks is to be freed. Returns 0
// or -ENOMEM.
int ledger_mark_view(const struct tare_view *view, struct ledger_mark **marks, size_t *count);

// Ledgers that one sweep fills, each of its own parts of the time: disjoint ones for one row, any
// for different rows.
struct ledger_rows {
	const struct ledger_mark *marks; // in order of time
	size_t mark_count;
	struct tare_ledger *at; // whose figures are 0 at first
};

// Fills the figures of ledgers whose names and scopes are set. `gaps` may be NULL; else they are
// those of the first row, whose parts do not touch, and `each` those of the first or the second.
// Returns 0 or -ENOMEM.
int ledger_sweep(const struct ledger_scope *scope, const struct ledger_hosts *hosts,
                 const uint32_t *order, size_t count, const struct ledger_rows *rows,
                 struct ledger_gap_list *gaps);

// ---- ledger.c

// The ledgers of the union of devices for as many rows. Only names, scopes and figures of
// `rows->at` are written, `row_count` of them. Returns 0 or -ENOMEM.
int ledger_of_rows(const struct tare_recording *recording, const struct tare_view *view,
                   const struct ledger_rows *rows, size_t row_count);
