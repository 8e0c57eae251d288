// SPDX-License-Identifier: Apache-2.0
// Tracks of queues and of a device's engines: when commands ran.
#include "export/perfetto_internal.h"

#include "analysis/recording/intervals.h"
#include "report/core/words.h"
#include "report/run/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 300

struct device_line {
	uint64_t track;
	struct lanes engines[TARE_EFFECTS];
};

struct devices {
	struct perfetto *p;
	uint32_t *order; // timed commands of the view by their start
	size_t count;
	// Flows from commands to those that wait for them: of each command the number of its first
	// edge, and of the next one to be used. NULL: nothing waits.
	uint32_t *first_edge, *next_edge;
	struct lanes *queues;      // by queue, the last for those that are not known
	struct device_line *lines; // by device (same_as), the last as well
};

// ---- order

static int compare_starts(const void *a, const void *b, void *context)
{
	const struct tare_recording *recording = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t x_ns = TARE_COMMAND(recording, x)->start_ns,
	        y_ns = TARE_COMMAND(recording, y)->start_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int find_order(struct devices *d)
{
	const struct tare_recording *r = d->p->recording;
	bool sorted = true;

	d->order = calloc(r->command_count + 1, sizeof *d->order);
	if (!d->order)
		return -ENOMEM;
	for (size_t i = 0; i < r->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(r, i);
		if (tare_command_only_executes(command) ||
		    !tare_view_filter_has_command(d->p->members, command))
			continue;
		d->p->counts->commands++;
		if (!tare_command_timed(command)) {
			d->p->counts->without_times++;
			continue;
		}
		if (d->count &&
		    TARE_COMMAND(r, d->order[d->count - 1])->start_ns > command->start_ns)
			sorted = false;
		d->order[d->count++] = (uint32_t)i;
	}
	if (!sorted)
		qsort_r(d->order, d->count, sizeof *d->order, compare_starts, (void *)r);
	return 0;
}

// ---- who waits for whom

// Calls `edge` for every command that `waiting` waits for, as long as both can be shown.
static void each_wait(struct devices *d, uint32_t waiting,
                      void (*edge)(struct devices *d, uint32_t source))
{
	const struct tare_recording *r = d->p->recording;
	uint32_t at = TARE_COMMAND(r, waiting)->first_wait;

	for (; at < r->wait_count; at++) {
		uint32_t source = r->waits[at].command;
		if (source < r->command_count && tare_command_timed(TARE_COMMAND(r, source)) &&
		    tare_view_filter_has_command(d->p->members, TARE_COMMAND(r, source)))
			edge(d, source);
		if (r->waits[at].last)
			break;
	}
}

static void count_edge(struct devices *d, uint32_t source)
{
	d->first_edge[source]++;
}

static int find_edges(struct devices *d)
{
	const struct tare_recording *r = d->p->recording;
	uint32_t sum = 0;

	if (r->wait_count == 0)
		return 0;
	d->first_edge = calloc(r->command_count + 1, sizeof *d->first_edge);
	d->next_edge = calloc(r->command_count + 1, sizeof *d->next_edge);
	if (!d->first_edge || !d->next_edge)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		each_wait(d, d->order[i], count_edge);
	for (size_t i = 0; i <= r->command_count; i++) {
		uint32_t edges = d->first_edge[i];
		d->first_edge[i] = d->next_edge[i] = sum;
		sum += edges;
	}
	return 0;
}

// Numbers after those of perfetto_call_flow.
static uint64_t edge_flow(const struct devices *d, uint32_t edge)
{
	return perfetto_call_flow(d->p->recording->command_count) + edge;
}

static void end_edge(struct devices *d, uint32_t source)
{
	perfetto_flow(d->p, edge_flow(d, d->next_edge[source]++));
	d->p->counts->flows++;
}

static void put_flows(struct devices *d, uint32_t index)
{
	const struct tare_recording *r = d->p->recording;
	const struct tare_recorded_command *command = TARE_COMMAND(r, index);
	bool run = tare_command_is_run(command) && command->execution < r->execution_count;

	// From the call that enqueued it: of a run, the one that executed its list.
	perfetto_flow(d->p,
	              perfetto_call_flow(run ? r->executions[command->execution].command : index));
	if (!d->first_edge)
		return;
	for (uint32_t edge = d->first_edge[index]; edge < d->first_edge[index + 1]; edge++)
		perfetto_flow(d->p, edge_flow(d, edge));
	each_wait(d, index, end_edge);
}

// ---- tracks

static uint64_t queue_track(struct devices *d, const struct tare_recorded_command *command)
{
	const struct tare_recording *r = d->p->recording;
	uint32_t at = command->queue < r->queue_count ? command->queue : (uint32_t)r->queue_count;
	uint32_t lane = lanes_take(&d->queues[at], command->start_ns, command->end_ns);
	char name[NAME_BYTES] = "queue not known", device[160];
	uint64_t parent = 0;

	if (lane == LANES_NONE)
		return 0;
	if (d->queues[at].track[lane])
		return d->queues[at].track[lane];
	if (at < r->queue_count) {
		const struct tare_recorded_queue *queue = &r->queues[at];
		snprintf(name, sizeof name, "queue %" PRIu32 "%s, %s", queue->number,
		         queue->out_of_order ? " out of order" : "",
		         tare_report_device_name(r, queue->device, device, sizeof device));
		if (queue->process < r->process_count)
			parent = d->p->process_track[queue->process];
	}
	return perfetto_lane(d->p, &d->queues[at], lane, parent, name);
}

static uint64_t device_track(struct devices *d, uint32_t device)
{
	const struct tare_recording *r = d->p->recording;
	struct device_line *line = &d->lines[device < r->device_count ? device : r->device_count];
	char name[NAME_BYTES], text[160];

	if (line->track)
		return line->track;
	snprintf(name, sizeof name, "%s", tare_report_device_name(r, device, text, sizeof text));
	if (d->p->several_hosts && device < r->device_count)
		snprintf(name + strlen(name), sizeof name - strlen(name), " on %.100s",
		         r->processes[r->devices[device].process].host_name);
	return line->track = perfetto_track(d->p, 0, name);
}

// 0 for commands that do nothing to their device.
static uint64_t engine_track(struct devices *d, const struct tare_recorded_command *command,
                             bool *failed)
{
	static const char *const engines[TARE_EFFECTS] = {
		[TARE_EFFECT_KERNEL] = "kernels",
		[TARE_EFFECT_TO_DEVICE] = "copies to the device",
		[TARE_EFFECT_FROM_DEVICE] = "copies from the device",
		[TARE_EFFECT_LOCAL] = "copies within the device",
	};
	const struct tare_recording *r = d->p->recording;
	enum tare_effect effect = tare_command_effect(command);
	uint32_t device = tare_command_device(r, command);
	struct lanes *lanes;
	uint32_t lane;

	if (effect == TARE_EFFECT_NONE)
		return 0;
	lanes = &d->lines[device < r->device_count ? device : r->device_count].engines[effect];
	lane = lanes_take(lanes, command->start_ns, command->end_ns);
	*failed = lane == LANES_NONE;
	return *failed ? 0
	               : perfetto_lane(d->p, lanes, lane, device_track(d, device), engines[effect]);
}

// ---- commands

static void sizes(const uint64_t *size, uint32_t dimensions, char text[80])
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < dimensions && i < 3; i++)
		used +=
		    (size_t)snprintf(text + used, 80 - used, "%s%" PRIu64, i ? " x " : "", size[i]);
}

static void note_shape(struct perfetto *p, const struct tare_recorded_command *command)
{
	const struct tare_recorded_shape *shape;
	uint64_t local[3];
	char text[80];

	if (command->amount >= p->recording->shape_count)
		return;
	shape = &p->recording->shapes[command->amount];
	for (size_t i = 0; i < 3; i++)
		local[i] = shape->local[i];
	sizes(shape->global, shape->dimensions, text);
	perfetto_note_text(p, NOTE_GLOBAL, text);
	sizes(local, shape->dimensions, text);
	perfetto_note_text(p, NOTE_LOCAL, local[0] ? text : "left to the runtime");
}

static void note_link(struct perfetto *p, uint32_t index)
{
	const struct tare_recorded_link *link = tare_command_link(p->recording, index);

	if (!link)
		return;
	perfetto_note_number(p, NOTE_FROM_DEVICE,
	                     tare_report_device_number(p->recording, link->source));
	perfetto_note_number(p, NOTE_TO_DEVICE,
	                     tare_report_device_number(p->recording, link->destination));
	perfetto_note_text(p, NOTE_LINK, tare_report_link(link->kind));
}

static void note_command(struct perfetto *p, uint32_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(p->recording, index);
	int64_t took = command->end_ns - command->start_ns;

	perfetto_note_number(p, NOTE_COMMAND, index);
	perfetto_note_text(p, NOTE_KIND, tare_report_kind(command->kind));
	if (command->queue < p->recording->queue_count)
		perfetto_note_number(p, NOTE_QUEUE, p->recording->queues[command->queue].number);
	if (command->kind == TARE_KIND_KERNEL) {
		note_shape(p, command);
	} else if (command->amount) {
		perfetto_note_number(p, NOTE_BYTES, command->amount);
		if (took > 0 && tare_command_effect(command) != TARE_EFFECT_NONE)
			perfetto_note_real(p, NOTE_RATE,
			                   (double)command->amount / ((double)took * 1e-9));
	}
	note_link(p, index);
	perfetto_note_text(p, NOTE_MEMORY, tare_report_memory(command->memory));
	if (command->flags & TARE_COMMAND_BLOCKING)
		perfetto_note_number(p, NOTE_BLOCKING, 1);
	perfetto_note_signed(p, NOTE_TO_START, command->start_ns - command->enter_ns);
	if (command->submitted_ns != TARE_NO_TIME)
		perfetto_note_signed(p, NOTE_TO_SUBMIT, command->submitted_ns - command->enter_ns);
	perfetto_note_site(p, command->stack);
}

static int put_command(struct devices *d, uint32_t index)
{
	struct perfetto *p = d->p;
	const struct tare_recorded_command *command = TARE_COMMAND(p->recording, index);
	uint64_t name = perfetto_command(p, command), track = queue_track(d, command);
	struct perfetto_opened opened;
	bool failed = false;

	if (!track)
		return -ENOMEM;
	opened = perfetto_event_open(p, EVENT_BEGIN, command->start_ns, track, CATEGORY_QUEUE, name,
	                             NULL);
	note_command(p, index);
	put_flows(d, index);
	perfetto_event_close(p, opened);
	perfetto_end(p, command->end_ns, track);
	track = engine_track(d, command, &failed);
	if (!track)
		return failed ? -ENOMEM : 0;
	opened = perfetto_event_open(p, EVENT_BEGIN, command->start_ns, track, CATEGORY_ENGINE,
	                             name, NULL);
	perfetto_note_number(p, NOTE_COMMAND, index);
	perfetto_event_close(p, opened);
	perfetto_end(p, command->end_ns, track);
	return 0;
}

static int write_commands(struct devices *d)
{
	int status = find_order(d);

	status = status ?: find_edges(d);
	for (size_t i = 0; status == 0 && i < d->count; i++)
		status = perfetto_step(d->p, "devices", i, d->count) ? put_command(d, d->order[i])
		                                                     : d->p->status;
	return status;
}

int perfetto_devices(struct perfetto *p)
{
	const struct tare_recording *r = p->recording;
	struct devices d = {
		.p = p,
		.queues = calloc(r->queue_count + 1, sizeof *d.queues),
		.lines = calloc(r->device_count + 1, sizeof *d.lines),
	};
	int status = d.queues && d.lines ? write_commands(&d) : -ENOMEM;

	for (size_t i = 0; d.queues && i <= r->queue_count; i++)
		lanes_free(&d.queues[i]);
	for (size_t i = 0; d.lines && i <= r->device_count; i++)
		for (size_t k = 0; k < TARE_EFFECTS; k++)
			lanes_free(&d.lines[i].engines[k]);
	free(d.queues);
	free(d.lines);
	free(d.order);
	free(d.first_edge);
	free(d.next_edge);
	return status ? status : p->status;
}
