// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/ledger.h"

#include "analysis/ledger/internal.h"
#include "analysis/ledger/working.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMED(name, title) { name, title, title }
#define IDLE(name, cause) { name, "idle: " cause, cause }
static const struct {
	const char *name, *title, *cause;
} categories[TARE_LEDGER_CATEGORIES] = {
	[TARE_LEDGER_KERNEL] = NAMED("kernel", "kernels"),
	[TARE_LEDGER_TO_DEVICE] = NAMED("transfer_to_device", "transfers not hidden, to device"),
	[TARE_LEDGER_FROM_DEVICE] = NAMED("transfer_from_device", "transfers not hidden, to host"),
	[TARE_LEDGER_BOTH_WAYS] = NAMED("transfer_both_ways", "transfers not hidden, both ways"),
	[TARE_LEDGER_LOCAL] = NAMED("local_copy", "copies and fills on the device"),
	[TARE_LEDGER_BEFORE_FIRST] = IDLE("before_first_call", "before the first API call"),
	[TARE_LEDGER_BUILD] = IDLE("host_build", "building kernels"),
	[TARE_LEDGER_LOAD] = IDLE("host_load", "loading kernels"),
	[TARE_LEDGER_ALLOCATE] = IDLE("host_allocate", "allocating memory"),
	[TARE_LEDGER_BLOCKING_COPY] = IDLE("host_blocking_copy", "waiting for a blocking copy"),
	[TARE_LEDGER_WAIT] = IDLE("host_wait", "host was in a wait"),
	[TARE_LEDGER_API] = IDLE("host_api", "host was in other API calls"),
	[TARE_LEDGER_RELEASE] = IDLE("host_release", "host was releasing objects"),
	[TARE_LEDGER_QUERY] = IDLE("host_query", "host was in queries"),
	[TARE_LEDGER_COMPUTING] = IDLE("host_computing", "host was computing"),
	[TARE_LEDGER_OFF_CPU] = IDLE("host_off_cpu", "host was off the CPU"),
	[TARE_LEDGER_HELD] = IDLE("held", "enqueued, not submitted"),
	[TARE_LEDGER_DEPENDENCY] = IDLE("dependency", "waiting for another command"),
	[TARE_LEDGER_DISPATCH] = IDLE("dispatch", "submitted, not started"),
	[TARE_LEDGER_ENDED] = IDLE("process_ended", "the program had ended"),
	[TARE_LEDGER_UNTIMED] = NAMED("untimed", "not timed: commands were in flight"),
	[TARE_LEDGER_NOT_RECORDED] = NAMED("not_recorded", "not recorded"),
	[TARE_LEDGER_UNKNOWN] = NAMED("unknown", "unknown"),
};

static const char *const host_states[TARE_HOST_STATES] = {
	[TARE_HOST_BEFORE_FIRST] = "before_first_call",
	[TARE_HOST_BUILD] = "build",
	[TARE_HOST_LOAD] = "load",
	[TARE_HOST_ALLOCATE] = "allocate",
	[TARE_HOST_BLOCKING_COPY] = "blocking_copy",
	[TARE_HOST_WAIT] = "wait",
	[TARE_HOST_API] = "api",
	[TARE_HOST_RELEASE] = "release",
	[TARE_HOST_QUERY] = "query",
	[TARE_HOST_COMPUTING] = "computing",
	[TARE_HOST_OFF_CPU] = "off_cpu",
	[TARE_HOST_GONE] = "process_ended",
	[TARE_HOST_NOT_RECORDED] = "not_recorded",
	[TARE_HOST_UNKNOWN] = "unknown",
};

static const char *const device_states[TARE_DEVICE_STATES] = {
	[TARE_DEVICE_KERNEL] = "kernel",
	[TARE_DEVICE_KERNEL_AND_TRANSFER] = "kernel_and_transfer",
	[TARE_DEVICE_TO_DEVICE] = "transfer_to_device",
	[TARE_DEVICE_FROM_DEVICE] = "transfer_from_device",
	[TARE_DEVICE_BOTH_WAYS] = "transfer_both_ways",
	[TARE_DEVICE_LOCAL] = "local_copy",
	[TARE_DEVICE_IDLE] = "idle",
};

const char *tare_ledger_category_name(enum tare_ledger_category category)
{
	return categories[category].name;
}

const char *tare_ledger_category_title(enum tare_ledger_category category)
{
	return categories[category].title;
}

const char *tare_ledger_category_cause(enum tare_ledger_category category)
{
	return categories[category].cause;
}

const char *tare_host_state_name(enum tare_host_state state)
{
	return host_states[state];
}

const char *tare_device_state_name(enum tare_device_state state)
{
	return device_states[state];
}

// ---- scopes

// ---- the ledgers of a view

struct making {
	const struct tare_recording *recording;
	struct tare_view view;
	struct ledger_hosts *hosts;
	uint32_t *order; // commands with times, by start
	size_t count;
	bool *used;                // devices of the view that have a queue, by same_as
	bool *processes;           // that have a queue of the ledger being made
	bool strangers;            // a queue's device is not known
	struct ledger_mark *marks; // of the view's spans
	size_t mark_count;
	struct tare_run_span *unknown; // of the device that is at work (parts.c)
	size_t unknown_count;
};

// Whether a queue belongs to the view, and its device.
static bool view_has_queue(const struct making *making, uint32_t queue, uint32_t *device)
{
	const struct ledger_scope all = { .recording = making->recording,
		                          .view = &making->view,
		                          .device = TARE_NO_INDEX };
	*device = ledger_queue_device(making->recording, queue);
	return (making->view.process == TARE_NO_INDEX ||
	        making->recording->queues[queue].process == making->view.process) &&
	       ledger_has_device(&all, *device);
}

static size_t find_devices(struct making *making)
{
	size_t count = 0;
	for (uint32_t i = 0; i < making->recording->queue_count; i++) {
		uint32_t device;
		if (!view_has_queue(making, i, &device))
			continue;
		if (device >= making->recording->device_count) {
			making->strangers = true;
		} else if (!making->used[device]) {
			making->used[device] = true;
			count++;
		}
	}
	for (size_t i = 0; i < making->recording->command_count && !making->strangers; i++)
		making->strangers =
		    TARE_COMMAND(making->recording, i)->queue >= making->recording->queue_count;
	return count;
}

// Those that have a queue of the scope.
static void find_processes(struct making *making, const struct ledger_scope *scope)
{
	const struct tare_recording *recording = making->recording;
	memset(making->processes, 0, recording->process_count * sizeof *making->processes);
	for (uint32_t i = 0; i < recording->queue_count; i++) {
		uint32_t of;
		if (recording->queues[i].process < recording->process_count &&
		    view_has_queue(making, i, &of) && ledger_has_device(scope, of))
			making->processes[recording->queues[i].process] = true;
	}
}

static int make_ledgers(struct making *making, uint32_t device, const struct ledger_rows *rows,
                        size_t row_count, struct ledger_gap_list *gaps)
{
	const struct tare_recording *recording = making->recording;
	struct ledger_scope scope = { recording,         &making->view,   device,
		                      making->processes, making->unknown, making->unknown_count };
	find_processes(making, &scope);
	if (device == TARE_NO_INDEX)
		scope.processes = NULL;
	for (size_t i = 0; i < row_count; i++)
		rows->at[i] = (struct tare_ledger){
			.scope = device == TARE_NO_INDEX ? "union" : "device",
			.name = device == TARE_NO_INDEX ? "all devices"
			                                : recording->devices[device].name,
			.device = device,
		};
	return ledger_sweep(&scope, making->hosts, making->order, making->count, rows, gaps);
}

// The view as it is, and with the parts of commands, from which the ledgers of their sub-devices
// are.
struct both {
	struct making plain, with;
	struct ledger_parted *parts;           // NULL: there are none
	const struct tare_ledger_asked *asked; // NULL: nothing is
	struct ledger_working *working;        // filled with the ledger of the only device
};

static struct making *making_of(struct both *both, uint32_t device)
{
	return both->parts && both->parts->has[device] ? &both->with : &both->plain;
}

// Whether all that the union of the view's devices is made from is also what the ledger of this
// device is made from.
static bool is_all(const struct both *both, uint32_t device, size_t devices)
{
	const struct making *making = &both->plain;
	const struct tare_recording *recording = making->recording;
	if (devices != 1 || making->strangers || both->parts || making->view.spans)
		return false;
	for (uint32_t i = 0; i < recording->process_count; i++)
		if (tare_view_has_process(&making->view, i) && !making->processes[i])
			return false;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		uint32_t of = TARE_NO_INDEX;
		if (call->role != TARE_ROLE_WAIT && call->role != TARE_ROLE_POLL)
			continue;
		if (call->device < recording->device_count)
			of = recording->devices[call->device].same_as;
		else if (call->role == TARE_ROLE_WAIT)
			of = ledger_queue_device(recording, call->object);
		if (of != TARE_NO_INDEX && of != device)
			return false;
	}
	return true;
}

static int keep_gap(void *context, const struct tare_gap *gap,
                    const int64_t parts_ns[TARE_LEDGER_CATEGORIES], uint32_t among)
{
	struct both *both = context;
	return ledger_working_add(&both->working->gaps, gap, parts_ns, among);
}

static int compare_marks(const void *a, const void *b)
{
	const struct ledger_mark *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : y->begins - x->begins;
}

static void mark_span(struct ledger_mark **marks, struct tare_run_span span, uint32_t row)
{
	*(*marks)++ = (struct ledger_mark){ span.from_ns, row, true };
	*(*marks)++ = (struct ledger_mark){ span.to_ns, row, false };
}

static bool is_within(const struct tare_view *view, struct tare_run_span span)
{
	return view->from_ns <= span.from_ns && span.from_ns < span.to_ns &&
	       span.to_ns <= view->to_ns;
}

// Rows of one sweep: the view, the part, and the spans that lie in the view.
static struct ledger_mark *mark_asked(const struct both *both, size_t *count)
{
	const struct making *making = &both->plain;
	const struct tare_ledger_asked *asked = both->asked;
	struct ledger_mark *marks =
	    calloc(making->mark_count + 2 * (1 + asked->span_count), sizeof *marks);
	struct ledger_mark *at = marks;
	if (!marks)
		return NULL;
	for (size_t i = 0; i < making->mark_count; i++)
		*at++ = making->marks[i];
	mark_span(&at, asked->part, 1);
	for (uint32_t i = 0; i < asked->span_count; i++)
		if (is_within(&making->view, asked->spans[i]))
			mark_span(&at, asked->spans[i], 2 + i);
	*count = (size_t)(at - marks);
	qsort(marks, *count, sizeof *marks, compare_marks);
	return marks;
}

static struct ledger_working *new_working(const struct making *making,
                                          const struct tare_ledger_asked *asked)
{
	struct ledger_working *working = calloc(1, sizeof *working);
	if (!working)
		return NULL;
	working->gaps.recording = making->recording;
	working->part = asked->part;
	working->span_count = asked->span_count;
	for (size_t i = 0; i < asked->span_count; i++)
		if (is_within(&making->view, asked->spans[i]))
			working->spans[i] = asked->spans[i];
	working->of_spans = calloc(asked->span_count + 1, sizeof *working->of_spans);
	return working;
}

static int make_asked(struct both *both, uint32_t device, struct tare_ledger *ledger,
                      struct ledger_gap_list *gaps)
{
	size_t count = 2 + both->asked->span_count, mark_count = 0;
	struct tare_ledger *at = calloc(count, sizeof *at);
	struct ledger_mark *marks = mark_asked(both, &mark_count);
	struct ledger_rows rows = { marks, mark_count, at };
	both->working = new_working(&both->plain, both->asked);
	int rc = at && marks && both->working && both->working->of_spans ? 0 : -ENOMEM;
	if (!rc) {
		gaps->each_row = 1;
		gaps->each = keep_gap;
		gaps->context = both;
		rc = make_ledgers(&both->plain, device, &rows, count, gaps);
		gaps->each = NULL;
		*ledger = at[0];
		both->working->ledger = at[1];
		memcpy(both->working->of_spans, at + 2, (count - 2) * sizeof *at);
	}
	free(at);
	free(marks);
	return rc;
}

// The ledger of one device. Its gaps end with commands, not with parts of them.
static int make_device(struct both *both, uint32_t device, struct tare_ledger *ledger,
                       struct ledger_gap_list *gaps)
{
	struct making *making = making_of(both, device);
	struct ledger_rows row = { making->marks, making->mark_count, ledger };
	struct ledger_scope scope = { .recording = both->plain.recording,
		                      .view = &making->view,
		                      .device = device };
	int rc = 0;
	if (making == &both->with)
		rc = ledger_parts_unknown(&scope, &making->unknown, &making->unknown_count);
	if (!rc)
		rc = both->asked ? make_asked(both, device, ledger, gaps)
		                 : make_ledgers(making, device, &row, 1, gaps);
	for (size_t i = 0; gaps && making == &both->with && i < gaps->count; i++)
		if (gaps->at[i].command != TARE_NO_INDEX)
			gaps->at[i].command = both->parts->command_of[gaps->at[i].command];
	free(making->unknown);
	making->unknown = NULL;
	making->unknown_count = 0;
	return rc;
}

static int make_devices(struct both *both, struct tare_ledgers *ledgers)
{
	struct ledger_gap_list *gaps = calloc(1, sizeof *gaps);
	int rc = gaps ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < both->plain.recording->device_count && !rc; i++) {
		if (!making_of(both, i)->used[i])
			continue;
		gaps->count = 0;
		// Of one that was given nothing itself the whole device's gaps are told.
		rc = make_device(both, i, &ledgers->ledgers[ledgers->count],
		                 both->plain.used[i] ? gaps : NULL);
		if (rc)
			break;
		ledgers->count++;
		memcpy(ledgers->gaps + ledgers->gap_count, gaps->at,
		       gaps->count * sizeof *gaps->at);
		ledgers->gap_count += gaps->count;
	}
	free(gaps);
	return rc;
}

// *devices: of the view, that have a queue.
static int prepare(struct making *making, size_t *devices)
{
	const struct tare_recording *recording = making->recording;
	if (making->view.to_ns < making->view.from_ns)
		making->view.to_ns = making->view.from_ns;
	making->used = calloc(recording->device_count + 1, sizeof *making->used);
	making->processes = calloc(recording->process_count + 1, sizeof *making->processes);
	if (!making->used || !making->processes)
		return -ENOMEM;
	*devices = find_devices(making);
	int rc = ledger_mark_view(&making->view, &making->marks, &making->mark_count);
	if (!rc && !making->hosts)
		rc = ledger_hosts_new(recording, &making->view, &making->hosts);
	return rc ? rc : ledger_order(recording, &making->view, &making->order, &making->count);
}

static void finish(struct making *making)
{
	free(making->used);
	free(making->processes);
	free(making->marks);
	free(making->order);
	ledger_hosts_free(making->hosts);
}

// *devices: of the view, that have a queue, or parts of commands.
static int prepare_both(struct both *both, const struct tare_recording *recording,
                        const struct tare_view *view, size_t *devices)
{
	size_t more = 0;
	*both = (struct both){ .plain = { .recording = recording, .view = *view } };
	int rc = prepare(&both->plain, devices);
	if (!rc)
		rc = ledger_parts_new(recording, &both->parts);
	if (rc || !both->parts)
		return rc;
	// What the host did is what it did for the commands.
	both->with = (struct making){ .recording = &both->parts->recording,
		                      .view = *view,
		                      .hosts = both->plain.hosts };
	rc = prepare(&both->with, &more);
	*devices += more;
	return rc;
}

static void finish_both(struct both *both)
{
	both->with.hosts = NULL;
	finish(&both->plain);
	finish(&both->with);
	ledger_parts_free(both->parts);
}

// Whether what is asked can be had with the ledger of the only device.
static bool shares_sweep(struct both *both, size_t devices)
{
	const struct tare_recording *recording = both->plain.recording;
	const struct tare_view *view = &both->plain.view;
	if (!both->asked || !is_within(view, both->asked->part))
		return false;
	for (uint32_t i = 0; i < recording->device_count; i++) {
		struct ledger_scope scope = { .recording = recording, .view = view, .device = i };
		if (!both->plain.used[i])
			continue;
		find_processes(&both->plain, &scope);
		return is_all(both, i, devices);
	}
	return false;
}

static int make_all(struct both *both, size_t devices, struct tare_ledgers *ledgers)
{
	if (!shares_sweep(both, devices))
		both->asked = NULL;
	ledgers->ledgers = calloc(devices + 1, sizeof *ledgers->ledgers);
	ledgers->gaps = calloc(devices * LEDGER_GAPS + 1, sizeof *ledgers->gaps);
	if (!ledgers->ledgers || !ledgers->gaps)
		return -ENOMEM;
	int rc = make_devices(both, ledgers);
	if (rc)
		return rc;
	// Where the whole device was at work its sub-devices add nothing.
	struct tare_ledger *all = &ledgers->ledgers[ledgers->count];
	if (ledgers->count == 1 && !both->plain.strangers) {
		*all = ledgers->ledgers[0];
		all->scope = "union";
		all->name = "all devices";
		all->device = TARE_NO_INDEX;
	} else {
		struct ledger_rows row = { both->plain.marks, both->plain.mark_count, all };
		rc = make_ledgers(&both->plain, TARE_NO_INDEX, &row, 1, NULL);
	}
	ledgers->count++;
	return rc;
}

int ledger_of_rows(const struct tare_recording *recording, const struct tare_view *view,
                   const struct ledger_rows *rows, size_t row_count)
{
	struct making making = { .recording = recording, .view = *view };
	uint32_t device = TARE_NO_INDEX;
	size_t devices;
	int rc = prepare(&making, &devices);
	if (!rc) {
		// The union of one device is that device's ledger.
		for (uint32_t i = 0; devices == 1 && i < recording->device_count; i++)
			if (making.used[i] && !making.strangers)
				device = i;
		rc = make_ledgers(&making, device, rows, row_count, NULL);
	}
	for (size_t i = 0; i < row_count; i++) {
		rows->at[i].scope = "union";
		rows->at[i].name = "all devices";
		rows->at[i].device = TARE_NO_INDEX;
	}
	finish(&making);
	return rc;
}

// What was asked goes with the ledgers, and the order of the commands with it.
static int keep_working(struct both *both, struct tare_ledgers *ledgers)
{
	if (!both->working)
		return 0;
	ledgers->working = calloc(1, sizeof *ledgers->working);
	if (!ledgers->working)
		return -ENOMEM;
	both->working->order = both->plain.order;
	both->working->order_count = both->plain.count;
	both->plain.order = NULL;
	*ledgers->working = both->working;
	both->working = NULL;
	return 0;
}

int tare_ledgers_compute_with(const struct tare_recording *recording, const struct tare_view *view,
                              const struct tare_ledger_asked *asked, struct tare_ledgers *ledgers,
                              struct tare_error *error)
{
	struct both both;
	size_t devices;
	*ledgers = (struct tare_ledgers){ 0 };
	int rc = prepare_both(&both, recording, view, &devices);
	both.asked = asked;
	if (!rc)
		rc = make_all(&both, devices, ledgers);
	if (!rc)
		rc = keep_working(&both, ledgers);
	ledger_working_free(both.working);
	free(both.working);
	finish_both(&both);
	if (rc) {
		tare_ledgers_free(ledgers);
		return tare_fail(error, ENOMEM, "no memory for the ledger of %zu commands",
		                 recording->command_count);
	}
	return 0;
}

int tare_ledgers_compute(const struct tare_recording *recording, const struct tare_view *view,
                         struct tare_ledgers *ledgers, struct tare_error *error)
{
	return tare_ledgers_compute_with(recording, view, NULL, ledgers, error);
}

// Who takes pieces, to whom a part of a command is that command.
struct taking {
	int (*take)(void *context, const struct tare_gap *piece);
	void *context;
	const uint32_t *command_of; // NULL: there are no parts
};

static int take_piece(void *context, const struct tare_gap *piece)
{
	const struct taking *taking = context;
	struct tare_gap answer = *piece;
	if (taking->command_of && answer.command != TARE_NO_INDEX)
		answer.command = taking->command_of[answer.command];
	return taking->take(taking->context, &answer);
}

int tare_ledgers_pieces(const struct tare_recording *recording, const struct tare_view *view,
                        int (*take)(void *context, const struct tare_gap *piece), void *context,
                        struct tare_error *error)
{
	struct both both;
	struct ledger_gap_list *gaps = calloc(1, sizeof *gaps);
	size_t devices;
	int rc = prepare_both(&both, recording, view, &devices);
	if (!gaps)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < recording->device_count && !rc; i++) {
		struct tare_ledger ledger;
		bool parts = making_of(&both, i) == &both.with;
		struct taking taking = { take, context, parts ? both.parts->command_of : NULL };
		if (!both.plain.used[i])
			continue;
		*gaps = (struct ledger_gap_list){ .piece = take_piece, .context = &taking };
		rc = make_device(&both, i, &ledger, gaps);
	}
	finish_both(&both);
	free(gaps);
	if (rc)
		return tare_fail(error, ENOMEM, "no memory for the idle time of %zu commands",
		                 recording->command_count);
	return 0;
}

void tare_ledgers_free(struct tare_ledgers *ledgers)
{
	free(ledgers->ledgers);
	free(ledgers->gaps);
	if (ledgers->working) {
		ledger_working_free(*ledgers->working);
		free(*ledgers->working);
		free(ledgers->working);
	}
	*ledgers = (struct tare_ledgers){ 0 };
}
