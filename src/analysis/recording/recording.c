// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_THREADS = 1024, EVENTS_BETWEEN = 1 << 16 };

// Arguments are joined by NUL; the text always ends with one.
static const char *command_line(struct loading *l, const struct tare_trace_header *header)
{
	char line[sizeof header->command_line];
	size_t length = sizeof line;

	while (length > 0 && !header->command_line[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		line[i] = header->command_line[i] ? header->command_line[i] : ' ';
	line[length < sizeof line ? length : length - 1] = '\0';
	return loading_text(l, line);
}

static const char *both_problems(struct loading *l, const char *a, const char *b)
{
	char text[1024];

	if (!a || !b)
		return a || b ? loading_text(l, a ? a : b) : NULL;
	snprintf(text, sizeof text, "%s; %s", a, b);
	return loading_text(l, text);
}

// More than a command can be thought to cost, so that sums of it have room.
#define MOST_PS INT64_C(1000000000000000)

static int64_t within(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static struct tare_recorded_process described(struct loading *l, const struct tare_trace_file *file)
{
	const struct tare_trace_header *h = file->header;

	return (struct tare_recorded_process){
		.executable = loading_text(l, h->executable),
		.command_line = command_line(l, h),
		.host_name = loading_text(l, h->host_name),
		.pid = h->pid,
		.parent_pid = h->parent_pid,
		.rank = h->rank,
		.rank_count = h->rank_count,
		.rank_from = loading_text(l, h->rank_from),
		.apis = h->apis  ? h->apis
		        : h->api ? UINT64_C(1) << h->api
		                 : 0,
		.flags = h->flags,
		.state = h->state,
		.stop_reason = h->stop_reason,
		.host_residual_ns = loading_cut(file->residual_ns),
		.cpu_ns = h->process_cpu_ns,
		.helper_cpu_ns = h->helper_cpu_ns,
		.lost_records = h->lost_records,
		.lost_commands = h->lost_commands,
		.recycled_records = h->recycled_records,
		.recycled_commands = h->recycled_commands,
		.passed_calls = h->passed_calls,
		.stalls = h->stalls,
		.self_cost_ps = h->self_cost_ps,
		.self_call_cost_ps = h->self_call_cost_ps,
		.self_stack_cost_ps = h->self_stack_cost_ps,
		.self_untimed_cost_ps = h->self_untimed_cost_ps,
		.driver_rounds = h->driver_rounds,
		.execute_rounds = h->execute_rounds,
		.sampled_from_ns = TARE_NO_TIME,
		.calls_seen = h->calls_seen,
	};
}

// When it began, and how long the recorder's own work in it took.
static void set_times(struct loading *l, const struct tare_trace_header *h,
                      struct tare_recorded_process *p)
{
	p->recorded_from_ns = loading_ns(l, h->start_ticks);
	p->start_ns = p->recorded_from_ns;
	if (h->process_start_raw_ns > 0) {
		// Known to 10 ms only, and a process begins before its recording.
		int64_t began = loading_shift(l, h->process_start_raw_ns);
		if (began < p->start_ns)
			p->start_ns = began;
	}
	p->stalled_ns = loading_ns(l, h->start_ticks + h->stalled_ticks) - p->recorded_from_ns;
	p->harvest_ns = loading_ns(l, h->start_ticks + h->harvest_ticks) - p->recorded_from_ns;
	p->calibration_ns =
	    loading_ns(l, h->start_ticks + h->calibration_ticks) - p->recorded_from_ns;
	p->setup_ns = within(h->setup_ns, 0, INT64_MAX);
	if (h->sampled_from_ticks)
		p->sampled_from_ns = loading_ns(l, h->sampled_from_ticks);
}

// How sure what recording costs is, and what the driver's own work costs: nothing that a damaged
// file could say makes sums of it overflow.
static void set_costs(const struct tare_trace_header *h, struct tare_recorded_process *p)
{
	int64_t own_ps[] = { p->self_cost_ps, p->self_untimed_cost_ps };
	for (int i = 0; i < 2 && h->self_high_ps[i] > 0; i++) {
		p->self_low_ps[i] = within(h->self_low_ps[i], 0, own_ps[i]);
		p->self_high_ps[i] = within(h->self_high_ps[i], own_ps[i], MOST_PS);
	}
	for (int i = 0; i < TARE_DRIVER_COST_COUNT && h->driver_rounds; i++) {
		p->driver_ps[i] = within(h->driver_ps[i], -MOST_PS, MOST_PS);
		p->driver_low_ps[i] = within(h->driver_low_ps[i], -MOST_PS, p->driver_ps[i]);
		p->driver_high_ps[i] = within(h->driver_high_ps[i], p->driver_ps[i], MOST_PS);
	}
	for (int i = 0; i < TARE_EXECUTE_COST_COUNT && h->execute_rounds; i++) {
		p->execute_ps[i] = within(h->execute_ps[i], -MOST_PS, MOST_PS);
		p->execute_low_ps[i] = within(h->execute_low_ps[i], -MOST_PS, p->execute_ps[i]);
		p->execute_high_ps[i] = within(h->execute_high_ps[i], p->execute_ps[i], MOST_PS);
	}
}

// What the file's header says of the process, before its records are read.
static int add_process(struct loading *l, const struct tare_trace_header *reference)
{
	const struct tare_trace_file *file = tare_trace_file(l->trace, l->file);
	const struct tare_trace_header *h = file->header;
	struct tare_recorded_process *p = LOADING_ADD(l, processes, process_count, process_room);
	const char *problem;

	if (!p)
		return l->status;
	l->process = (uint32_t)(l->recording->process_count - 1);
	l->api = (uint8_t)(h->api ? h->api : TARE_TRACE_OPENCL);
	l->shift_ns = loading_alignment_ns(h, reference, &problem);
	*p = described(l, file);
	p->problem = problem;
	set_times(l, h, p);
	set_costs(h, p);
	return 0;
}

// What can be said when its records have been read. `last_ns` is that of its events.
static void finish_process(struct loading *l)
{
	const struct tare_trace_file *file = tare_trace_file(l->trace, l->file);
	const struct tare_trace_header *h = file->header;
	struct tare_recorded_process *p = &l->recording->processes[l->process];
	uint64_t ticks = h->end_ticks ? h->end_ticks : h->alive_ticks;

	p->end_ns = ticks ? loading_ns(l, ticks) : p->recorded_from_ns;
	if (loading_shift(l, file->last_ns) > p->end_ns && !h->end_ticks)
		p->end_ns = loading_shift(l, file->last_ns);
	p->came_to_exit = h->end_ticks != 0;
	if (p->end_ns < p->start_ns)
		p->end_ns = p->start_ns;
	p->damaged_windows = file->damaged_windows;
	p->unknown_records = file->unknown_records;
	p->problem = both_problems(l, file->problem, p->problem);
}

static int on_definition(void *context, const union tare_trace_record *record)
{
	return loading_define(context, record);
}

// Says how much has been read: of this file as much as of the time that it is about.
static void tell_part(const struct loading *l, int64_t written_ns)
{
	const struct tare_trace_file *file = tare_trace_file(l->trace, l->file);
	double all_ns = (double)file->last_ns - (double)file->first_ns;
	double part = all_ns > 0 ? ((double)written_ns - (double)file->first_ns) / all_ns : 1;

	part = ((double)l->bytes_read + fmin(fmax(part, 0), 1) * (double)file->bytes) /
	       (double)(l->bytes ? l->bytes : 1);
	l->told->tell(l->told->context, fmin(part, 1));
}

static int on_event(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct loading *l = context;

	if (!l->linked && loading_link(l))
		return l->status;
	if (l->told && ++l->events % EVENTS_BETWEEN == 0)
		tell_part(l, written_ns);
	loading_note_written(l, record, written_ns);
	return loading_event(l, record);
}

static int on_unfinished(void *context, uint32_t track, uint32_t function, int64_t since_ns)
{
	struct loading *l = context;
	const struct load_track *state;
	struct tare_recorded_thread *thread;

	if (!l->linked && loading_link(l))
		return l->status;
	state = loading_track(l, track);
	if (!state)
		return l->status;
	thread = &l->recording->threads[state->thread];
	thread->unfinished_function = loading_function(l, (uint16_t)function, TARE_ROLE_WAIT);
	thread->unfinished_since_ns = loading_shift(l, since_ns);
	return l->status;
}

// Once more what came before the run it is of (loading_keep_early).
static void read_early(struct loading *l)
{
	l->events_read = true;
	for (size_t i = 0; i < l->early_count && !l->status; i++)
		loading_event(l, &l->early[i]);
}

static void forget_process(struct loading *l)
{
	struct tare_id_map *maps[] = { &l->object_at,   &l->queue_of,    &l->shape_of,
		                       &l->function_of, &l->kernel_of,   &l->fact_of,
		                       &l->track_of,    &l->pending.far, &l->event_of,
		                       &l->stack_of,    &l->script_of,   &l->part_of,
		                       &l->contents_of, &l->counted_of };

	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		tare_id_map_free(maps[i]);
	for (size_t i = 0; i < l->track_count; i++)
		free(l->tracks[i].waits);
	for (size_t i = 0; i < l->clock_count; i++)
		free(l->clocks[i]);
	free(l->clocks);
	l->clocks = NULL;
	l->last_queue = l->last_function = l->last_shape = l->last_stack = (struct load_last){ 0 };
	memset(l->last_tracks, 0, sizeof l->last_tracks);
	memset(l->alike, 0, sizeof l->alike);
	memset(l->pending.near_key, 0, sizeof l->pending.near_key);
	loading_forget_ticks(l);
	loading_forget_phases(l);
	loading_forget_lists(l);
	loading_forget_nodes(l);
	l->object_count = l->fact_count = l->early_count = l->change_count = l->pair_count = 0;
	l->track_count = l->clock_count = 0;
	l->contexts = l->platform_count = 0;
	l->linked = false;
	l->last_object = 0;
	l->stack_left = 0;
	l->module_seen_ns = 0;
	l->own_events = l->retained_events = 0;
}

// A trace's counters are anybody's bytes: what cannot have taken place within its time is not told.
static void share_harvest(struct tare_recorded_process *process, size_t commands)
{
	int64_t lived_ns = process->end_ns - process->recorded_from_ns;
	if (process->harvest_ns < 0 || commands == 0 || lived_ns < 0 ||
	    process->harvest_ns / MOST_THREADS > lived_ns)
		process->harvest_ns = 0;
	else
		process->harvest_cost_ps =
		    llround((double)process->harvest_ns * 1e3 / (double)commands);
}

static int load_process(struct loading *l, const struct tare_trace_header *reference)
{
	struct tare_recording *r = l->recording;
	struct tare_trace_visitor visitor = { on_definition, on_event, on_unfinished, l };
	int status;

	l->first_command = r->command_count;
	l->first_device = r->device_count;
	l->first_memory = r->memory_count;
	l->first_part = r->part_count;
	l->first_call_ns = l->inactive_since_ns = TARE_NO_TIME;
	l->active_told = l->events_read = false;
	if (add_process(l, reference))
		return l->status;
	status = tare_trace_read(l->trace, l->file, &visitor);
	if (!l->status && !l->linked)
		loading_link(l);
	read_early(l);
	loading_finish_stacks(l);
	if (!l->status && status == -ENOMEM)
		loading_fail(l, ENOMEM, "windows");
	// Any other failure of the reader ends this file; what came before it stands.
	if (!l->status && !loading_finish_waits(l))
		loading_finish_lists(l);
	if (!l->status)
		loading_finish_nodes(l);
	if (!l->status && !loading_map_times(l))
		loading_apply_changes(l);
	loading_finish_parts(l);
	loading_finish_pages(l);
	finish_process(l);
	share_harvest(&r->processes[l->process], r->command_count - l->first_command -
	                                             loading_run_count(l) +
	                                             loading_template_count(l));
	if (!l->status)
		loading_finish_phases(l);
	if (!l->status)
		loading_lost_of_process(l);
	if (!l->status && status < 0 && !r->processes[l->process].problem) {
		char text[256];
		snprintf(text, sizeof text, "%s could not be read to its end: %s",
		         tare_trace_file(l->trace, l->file)->name, strerror(-status));
		r->processes[l->process].problem = loading_text(l, text);
	}
	forget_process(l);
	return l->status;
}

// The process whose clock the recording's is: one of the machine on which the program was started.
static const struct tare_trace_header *choose_reference(const struct tare_trace *trace,
                                                        const struct load_record *record)
{
	size_t count = trace ? tare_trace_file_count(trace) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct tare_trace_header *h = tare_trace_file(trace, i)->header;
		if (record->host_name[0] && strcmp(h->host_name, record->host_name) == 0)
			return h;
	}
	return count ? tare_trace_file(trace, 0)->header : NULL;
}

// What the clock of day showed when the raw clock was 0. Cut, so that no damaged header makes a sum
// overflow.
static int64_t day_at_boot_ns(const struct tare_trace_header *header)
{
	return loading_cut(header->start_realtime_ns) - loading_cut(header->start_raw_ns);
}

// Start and end of the run: what record.json says, widened by the processes, which may outlive the
// program; or what the processes say alone.
static void set_bounds(struct tare_recording *r, const struct tare_trace_header *reference,
                       const struct load_record *record)
{
	bool known = record->start_raw_ns != TARE_NO_TIME;
	bool elsewhere = reference && record->host_name[0] &&
	                 strcmp(record->host_name, reference->host_name) != 0;
	int64_t shift = 0;

	if (elsewhere && known && record->start_realtime_ns != TARE_NO_TIME)
		shift =
		    (record->start_realtime_ns - record->start_raw_ns) - day_at_boot_ns(reference);
	r->start_ns = known ? loading_cut(record->start_raw_ns + shift) : INT64_MAX;
	r->end_ns = known && record->end_raw_ns != TARE_NO_TIME
	                ? loading_cut(record->end_raw_ns + shift)
	                : 0;
	for (size_t i = 0; i < r->process_count; i++) {
		const struct tare_recorded_process *p = &r->processes[i];
		// The start of a process is known to 10 ms only; record.json knows better.
		if (p->recorded_from_ns < r->start_ns || (!known && p->start_ns < r->start_ns))
			r->start_ns = known ? p->recorded_from_ns : p->start_ns;
		if (p->end_ns > r->end_ns)
			r->end_ns = p->end_ns;
	}
	if (r->start_ns == INT64_MAX)
		r->start_ns = 0;
	for (size_t i = 0; known && i < r->process_count; i++)
		if (r->processes[i].start_ns < r->start_ns)
			r->processes[i].start_ns = r->start_ns;
	if (r->end_ns < r->start_ns)
		r->end_ns = r->start_ns;
	if (record->start_realtime_ns != TARE_NO_TIME)
		r->start_realtime_ns = record->start_realtime_ns;
	else if (reference && reference->start_realtime_ns > 0)
		r->start_realtime_ns = loading_cut(day_at_boot_ns(reference) + r->start_ns);
}

static void set_name(struct loading *l, const char *path)
{
	char name[1024];
	size_t length = strlen(path);
	const char *last;

	while (length > 1 && path[length - 1] == '/')
		length--;
	length = length < sizeof name ? length : sizeof name - 1;
	snprintf(name, sizeof name, "%.*s", (int)length, path);
	l->recording->path = loading_text(l, path);
	last = strrchr(name, '/');
	last = last && last[1] ? last + 1 : name;
	length = strlen(last);
	if (length > 5 && strcmp(last + length - 5, ".tare") == 0)
		name[(size_t)(last - name) + length - 5] = '\0';
	l->recording->name = loading_text(l, last);
}

struct file_start {
	size_t file;
	int64_t start_ns;
};

static int compare_starts(const void *a, const void *b)
{
	const struct file_start *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

// The files in the order in which their processes began, to be freed; then by name.
static struct file_start *order_files(struct loading *l, const struct tare_trace_header *reference,
                                      size_t count)
{
	struct file_start *order = calloc(count + 1, sizeof *order);

	if (!order)
		loading_fail(l, ENOMEM, "processes");
	for (size_t i = 0; order && i < count; i++) {
		const struct tare_trace_header *h = tare_trace_file(l->trace, i)->header;
		const char *aligned;
		l->shift_ns = loading_alignment_ns(h, reference, &aligned);
		order[i] = (struct file_start){ i, loading_shift(l, h->start_raw_ns) };
	}
	if (order)
		qsort(order, count, sizeof *order, compare_starts);
	return order;
}

// A program that a signal ended, as tare record saw, was until then in the call that its only
// thread had not come back from.
static void end_killed(struct tare_recording *r)
{
	struct tare_recorded_process *p = r->processes;

	if (r->process_count == 1 && r->thread_count == 1 && r->exit_signal > 0 &&
	    !p->came_to_exit && p->state != TARE_TRACE_EXEC &&
	    r->threads[0].unfinished_function != TARE_NO_INDEX)
		p->end_ns = r->end_ns;
}

static int load_all(struct loading *l, const char *path, const char *json, size_t json_bytes)
{
	struct load_record record = { "", TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME };
	const struct tare_trace_header *reference;
	struct file_start *order;
	size_t count = l->trace ? tare_trace_file_count(l->trace) : 0;

	set_name(l, path);
	if (l->trace && tare_trace_problem(l->trace))
		l->recording->problem = loading_text(l, tare_trace_problem(l->trace));
	if (json)
		loading_record_json(l, json, json_bytes, &record);
	reference = choose_reference(l->trace, &record);
	order = order_files(l, reference, count);
	for (size_t i = 0; i < count; i++)
		l->bytes += tare_trace_file(l->trace, i)->bytes;
	for (size_t i = 0; i < count && !l->status; i++) {
		l->file = order[i].file;
		load_process(l, reference);
		l->bytes_read += tare_trace_file(l->trace, l->file)->bytes;
	}
	free(order);
	if (l->status || loading_order(l) || loading_sum_likes(l) || loading_same_devices(l))
		return l->status;
	set_bounds(l->recording, reference, &record);
	end_killed(l->recording);
	if (loading_lost_at_the_end(l))
		return l->status;
	if (!*l->recording->program && l->recording->process_count)
		l->recording->program = l->recording->processes[0].command_line;
	return l->status;
}

static void free_loading(struct loading *l)
{
	forget_process(l);
	loading_free_commands(l);
	tare_id_map_free(&l->shapes);
	tare_id_map_free(&l->functions);
	free(l->sample_threads);
	free(l->objects);
	free(l->facts);
	free(l->early);
	free(l->changes);
	free(l->pairs);
	free(l->platforms);
	free(l->resolutions_ns);
	free(l->ticks);
	free(l->tracks);
	free(l->observed_ns);
	tare_trace_close(l->trace);
}

int tare_recording_load(const char *path, struct tare_recording **recording,
                        struct tare_error *error)
{
	return tare_recording_load_telling(path, NULL, recording, error);
}

int tare_recording_load_telling(const char *path, const struct tare_recording_told *told,
                                struct tare_recording **recording, struct tare_error *error)
{
	struct loading l = { .error = error, .told = told };
	TARE_FREE char *own_json = NULL;
	char message[512] = "";
	const char *json = NULL;
	size_t json_bytes = 0;
	int status = tare_trace_open(path, &l.trace, message, sizeof message);

	*recording = NULL;
	if (status)
		l.trace = NULL;
	if (status == -ENODATA)
		json = own_json = loading_read_record(path, &json_bytes);
	else if (!status)
		json = tare_trace_record_json(l.trace, &json_bytes);
	if (status && !own_json)
		return tare_fail(error, -status, "%s", message);
	l.recording = calloc(1, sizeof *l.recording);
	if (!l.recording) {
		tare_trace_close(l.trace);
		return tare_fail(error, ENOMEM, "no memory for the recording");
	}
	*l.recording = (struct tare_recording){ .program = "",
		                                .exit_status = -1,
		                                .layer = "",
		                                .user_cpu_ns = TARE_NO_TIME,
		                                .system_cpu_ns = TARE_NO_TIME };
	status = load_all(&l, path, json, json_bytes);
	l.recording->storage = l.texts;
	free_loading(&l);
	if (status) {
		tare_recording_free(l.recording);
		return status;
	}
	*recording = l.recording;
	return 0;
}

void tare_recording_free(struct tare_recording *r)
{
	struct text_block *block;

	if (!r)
		return;
	block = r->storage;
	while (block) {
		struct text_block *next = block->next;
		free(block);
		block = next;
	}
	free(r->processes);
	free(r->threads);
	free(r->devices);
	free(r->queues);
	free(r->kernels);
	free(r->kernel_facts);
	free(r->programs);
	free(r->memories);
	free(r->shapes);
	free(r->commands.rows);
	free(r->commands.likes);
	free(r->commands.pairs);
	free(r->commands.whole);
	free(r->commands.sums);
	free(r->waits);
	free(r->calls);
	free(r->callbacks);
	free(r->functions);
	free(r->changes);
	free(r->losses);
	free(r->variables);
	free(r->cpu_samples);
	free(r->phases);
	free(r->modules);
	free(r->stacks);
	free(r->frames);
	free(r->scripts);
	free(r->places);
	free(r->parts);
	free(r->draws);
	free(r->peers);
	free(r->links);
	free(r->counts);
	free(r->countings);
	free(r->arguments);
	free(r->lists);
	free(r->executions);
	free(r);
}
