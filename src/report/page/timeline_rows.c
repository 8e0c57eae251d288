// SPDX-License-Identifier: Apache-2.0
// Which rows of a recording are in the page.
#include "analysis/recording/intervals.h"
#include "report/page/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 16, BUCKETS = 512, SHORT_PART = 10000 };

// ---- the view

static bool has_command(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recording *recording = timeline->recording;
	const struct tare_view *view = timeline->run->view;
	const struct tare_recorded_command *command = TARE_COMMAND(recording, index);

	return command->thread < recording->thread_count &&
	       tare_view_wants_command(recording, view, command) &&
	       (tare_view_has_command(recording, view, command) ||
	        tare_view_has_moment(recording, view,
	                             command->start_ns == TARE_NO_TIME ? command->enter_ns
	                                                               : command->start_ns));
}

static bool has_time(const struct timeline *timeline, uint32_t thread, int64_t from_ns,
                     int64_t to_ns)
{
	const struct tare_recording *recording = timeline->recording;
	const struct tare_view *view = timeline->run->view;

	return thread < recording->thread_count &&
	       tare_view_has_process(view, recording->threads[thread].process) &&
	       (tare_view_has_moment(recording, view, from_ns) ||
	        tare_view_overlap_ns(view, from_ns, to_ns) > 0);
}

static bool has_call(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recording *recording = timeline->recording;
	const struct tare_recorded_call *call = &recording->calls[index];
	uint32_t device = timeline->run->view->device;

	if (device != TARE_NO_INDEX && call->device < recording->device_count &&
	    recording->devices[call->device].same_as != device)
		return false;
	return has_time(timeline, call->thread, call->enter_ns, call->exit_ns);
}

static bool has_callback(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_callback *callback = &timeline->recording->callbacks[index];

	return has_time(timeline, callback->thread, callback->enter_ns, callback->exit_ns);
}

static bool has_phase(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_phase *phase = &timeline->recording->phases[index];

	return has_time(timeline, phase->thread, phase->from_ns, phase->to_ns);
}

static bool has_gap(const struct timeline *timeline, uint32_t index)
{
	return index < timeline->gap_count;
}

// ---- how long rows are

static int64_t command_ns(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(timeline->recording, index);

	return tare_command_timed(command) ? command->end_ns - command->start_ns
	                                   : command->exit_ns - command->enter_ns;
}

static int64_t call_ns(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_call *call = &timeline->recording->calls[index];

	return call->exit_ns - call->enter_ns;
}

static int64_t callback_ns(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_callback *callback = &timeline->recording->callbacks[index];

	return callback->exit_ns - callback->enter_ns;
}

static int64_t phase_ns(const struct timeline *timeline, uint32_t index)
{
	const struct tare_recorded_phase *phase = &timeline->recording->phases[index];

	return phase->to_ns - phase->from_ns;
}

static int64_t gap_ns(const struct timeline *timeline, uint32_t index)
{
	return timeline->gaps[index].to_ns - timeline->gaps[index].from_ns;
}

static const struct {
	bool (*has)(const struct timeline *timeline, uint32_t index);
	int64_t (*length_ns)(const struct timeline *timeline, uint32_t index);
} kinds[TIMELINE_KINDS] = {
	[TIMELINE_COMMANDS] = { has_command, command_ns },
	[TIMELINE_CALLS] = { has_call, call_ns },
	[TIMELINE_CALLBACKS] = { has_callback, callback_ns },
	[TIMELINE_PHASES] = { has_phase, phase_ns },
	[TIMELINE_GAPS] = { has_gap, gap_ns },
};

// ---- the waits of rows

static void find_waits(struct timeline *timeline)
{
	const struct tare_recording *recording = timeline->recording;
	const struct timeline_rows *rows = &timeline->rows[TIMELINE_COMMANDS];

	timeline->wait_count = 0;
	for (size_t row = 0; row < rows->count; row++)
		for (size_t i = TARE_COMMAND(recording, rows->at[row])->first_wait;
		     i < recording->wait_count; i++) {
			if (timeline->wait_at)
				timeline->wait_at[timeline->wait_count] = (uint32_t)i;
			timeline->wait_count++;
			if (recording->waits[i].last)
				break;
		}
}

// ---- what is left out

// Eight buckets a doubling, in the order of length.
static size_t bucket_of(int64_t ns)
{
	unsigned shift;

	if (ns < 16)
		return ns > 0 ? (size_t)ns : 0;
	shift = 60u - (unsigned)__builtin_clzll((unsigned long long)ns);
	return 8 * (size_t)shift + (size_t)(ns >> shift);
}

// Keeps the longest rows; of those of the last bucket some, spread over the run.
static void keep_share(struct timeline *timeline, enum timeline_kind kind, double share)
{
	const struct timeline_rows *all = &timeline->all[kind];
	struct timeline_rows *rows = &timeline->rows[kind];
	size_t counts[BUCKETS] = { 0 }, wanted = (size_t)(share * (double)all->count), longer = 0;
	size_t last = BUCKETS - 1;
	uint64_t of_last;

	for (size_t i = 0; i < all->count; i++)
		counts[bucket_of(kinds[kind].length_ns(timeline, all->at[i]))]++;
	while (last > 0 && longer + counts[last] <= wanted)
		longer += counts[last--];
	of_last = counts[last] > 0 ? ((uint64_t)(wanted - longer) << 32) / counts[last] : 0;
	rows->count = 0;
	for (size_t i = 0; i < all->count; i++) {
		size_t bucket = bucket_of(kinds[kind].length_ns(timeline, all->at[i]));
		// Multiplying scatters neighbours (Knuth, TAOCP 6.4).
		uint32_t drawn = all->at[i] * UINT32_C(2654435769);
		if (bucket > last || (bucket == last && drawn < of_last))
			rows->at[rows->count++] = all->at[i];
	}
}

static bool keeps_call(const struct timeline *timeline, enum timeline_kind kind, uint32_t index,
                       int level)
{
	const struct tare_view *view = timeline->run->view;
	int64_t least_ns = (view->to_ns - view->from_ns) / SHORT_PART;

	if (level >= 3 || (level >= 2 && kinds[kind].length_ns(timeline, index) < least_ns))
		return false;
	if (kind != TIMELINE_CALLS || level == 0)
		return true;
	uint32_t role = timeline->recording->calls[index].role;
	return role != TARE_ROLE_OTHER && role != TARE_ROLE_QUERY && role != TARE_ROLE_POLL;
}

void timeline_choose(struct timeline *timeline, int level, double share)
{
	const struct tare_recording *recording = timeline->recording;

	for (enum timeline_kind kind = 0; kind < TIMELINE_KINDS; kind++) {
		const struct timeline_rows *all = &timeline->all[kind];
		struct timeline_rows *rows = &timeline->rows[kind];
		bool calls = kind == TIMELINE_CALLS || kind == TIMELINE_CALLBACKS;
		if (!calls && level >= TIMELINE_SHARE) {
			keep_share(timeline, kind, share);
			continue;
		}
		rows->count = 0;
		for (size_t i = 0; i < all->count; i++)
			if (!calls || keeps_call(timeline, kind, all->at[i], level))
				rows->at[rows->count++] = all->at[i];
	}
	for (size_t i = 0; i < recording->command_count; i++)
		timeline->command_row[i] = TARE_NO_INDEX;
	for (size_t row = 0; row < timeline->rows[TIMELINE_COMMANDS].count; row++)
		timeline->command_row[timeline->rows[TIMELINE_COMMANDS].at[row]] = (uint32_t)row;
	// Of a phase that is not among the rows: what is behind the last.
	for (size_t i = 0; i < recording->phase_count; i++)
		timeline->phase_row[i] = (uint32_t)timeline->rows[TIMELINE_PHASES].count;
	for (size_t row = 0; row < timeline->rows[TIMELINE_PHASES].count; row++)
		timeline->phase_row[timeline->rows[TIMELINE_PHASES].at[row]] = (uint32_t)row;
	find_waits(timeline);
}

// ---- names

static int name_stacks(struct timeline *timeline)
{
	const struct tare_recording *recording = timeline->recording;
	struct tare_symbols *symbols = timeline->run->symbols;
	char text[1024];

	if (!symbols || recording->stack_count == 0)
		return 0;
	timeline->stack_site = calloc(recording->stack_count, sizeof *timeline->stack_site);
	timeline->frame_count = calloc(recording->stack_count, sizeof *timeline->frame_count);
	timeline->frame = calloc(recording->stack_count * FRAMES, sizeof *timeline->frame);
	if (!timeline->stack_site || !timeline->frame_count || !timeline->frame)
		return -ENOMEM;
	timeline->stack_count = recording->stack_count;
	for (uint32_t i = 0; i < recording->stack_count; i++) {
		const struct tare_frame *frames = NULL;
		size_t count = tare_symbols_callers(symbols, i, &frames);
		timeline->stack_site[i] =
		    timeline_string(timeline->strings, tare_symbols_text(symbols, i));
		timeline->frame_count[i] = (uint32_t)(count < FRAMES ? count : FRAMES);
		for (size_t k = 0; k < timeline->frame_count[i]; k++) {
			const struct tare_frame *frame = &frames[k];
			const char *slash = strrchr(frame->module ? frame->module : "", '/');
			const char *module = slash ? slash + 1 : frame->module ? frame->module : "";
			if (frame->function && frame->file && frame->line > 0)
				snprintf(text, sizeof text, "%s (%s:%d)", frame->function,
				         frame->file, frame->line);
			else if (frame->function)
				snprintf(text, sizeof text, "%s (%s)", frame->function, module);
			else
				snprintf(text, sizeof text, "%s+0x%" PRIx64, module,
				         frame->address);
			timeline->frame[timeline->frame_total++] =
			    timeline_string(timeline->strings, text);
		}
	}
	return 0;
}

static int name_all(struct timeline *timeline)
{
	const struct tare_recording *recording = timeline->recording;
	int code;

	timeline->strings = timeline_strings_new();
	timeline->kernel_name = calloc(recording->kernel_count + 1, sizeof *timeline->kernel_name);
	timeline->phase_name = calloc(recording->phase_count + 1, sizeof *timeline->phase_name);
	timeline->phase_domain = calloc(recording->phase_count + 1, sizeof *timeline->phase_domain);
	timeline->device_number =
	    calloc(recording->device_count + 1, sizeof *timeline->device_number);
	if (!timeline->strings || !timeline->kernel_name || !timeline->phase_name ||
	    !timeline->phase_domain || !timeline->device_number)
		return -ENOMEM;
	for (size_t i = 0; i < recording->kernel_count; i++)
		timeline->kernel_name[i] =
		    timeline_string(timeline->strings, recording->kernels[i].name);
	for (size_t i = 0; i < recording->phase_count; i++) {
		timeline->phase_name[i] =
		    timeline_string(timeline->strings, recording->phases[i].name);
		timeline->phase_domain[i] =
		    timeline_string(timeline->strings, recording->phases[i].domain);
	}
	for (uint32_t i = 0; i < recording->device_count; i++)
		timeline->device_number[i] = tare_report_device_number(recording, i);
	code = name_stacks(timeline);
	return !code && timeline_strings_failed(timeline->strings) ? -ENOMEM : code;
}

// ---- the whole

static int take_piece(void *context, const struct tare_gap *piece)
{
	struct timeline *timeline = context;
	struct tare_gap *last =
	    timeline->gap_count ? &timeline->gaps[timeline->gap_count - 1] : NULL;

	if (last && last->device == piece->device && last->command == piece->command &&
	    last->cause == piece->cause && last->to_ns == piece->from_ns) {
		last->to_ns = piece->to_ns;
		return 0;
	}
	if (timeline->gap_count == timeline->gap_capacity) {
		size_t capacity = timeline->gap_capacity ? 2 * timeline->gap_capacity : 256;
		struct tare_gap *gaps = reallocarray(timeline->gaps, capacity, sizeof *gaps);
		if (!gaps)
			return -ENOMEM;
		timeline->gaps = gaps;
		timeline->gap_capacity = capacity;
	}
	timeline->gaps[timeline->gap_count++] = *piece;
	return 0;
}

static int find_rows(struct timeline *timeline)
{
	const struct tare_recording *recording = timeline->recording;
	const size_t counts[TIMELINE_KINDS] = {
		[TIMELINE_COMMANDS] = recording->command_count,
		[TIMELINE_CALLS] = recording->call_count,
		[TIMELINE_CALLBACKS] = recording->callback_count,
		[TIMELINE_PHASES] = recording->phase_count,
		[TIMELINE_GAPS] = timeline->gap_count,
	};

	for (enum timeline_kind kind = 0; kind < TIMELINE_KINDS; kind++) {
		struct timeline_rows *all = &timeline->all[kind];
		all->at = calloc(counts[kind] + 1, sizeof *all->at);
		timeline->rows[kind].at = calloc(counts[kind] + 1, sizeof *all->at);
		if (!all->at || !timeline->rows[kind].at)
			return -ENOMEM;
		for (uint32_t i = 0; i < counts[kind]; i++)
			if (kinds[kind].has(timeline, i))
				all->at[all->count++] = i;
	}
	return 0;
}

static int make_room(struct timeline *timeline)
{
	size_t commands = timeline->recording->command_count + 1;

	timeline->command_row = calloc(commands, sizeof *timeline->command_row);
	timeline->command_phase = tare_phases_of_commands(timeline->recording);
	timeline->phase_row =
	    calloc(timeline->recording->phase_count + 1, sizeof *timeline->phase_row);
	timeline->lane = calloc(commands, 1);
	timeline->engine = calloc(commands, 1);
	timeline->engine_lane = calloc(commands, 1);
	timeline->command_depth = calloc(commands, 1);
	timeline->call_depth = calloc(timeline->recording->call_count + 1, 1);
	timeline->phase_lane = calloc(timeline->recording->phase_count + 1, 1);
	return timeline->command_row && timeline->command_phase && timeline->phase_row &&
	               timeline->lane && timeline->engine && timeline->engine_lane &&
	               timeline->command_depth && timeline->call_depth && timeline->phase_lane
	           ? 0
	           : -ENOMEM;
}

int timeline_open(struct timeline *timeline, const struct tare_report *run,
                  struct tare_error *error)
{
	int code = 0;

	*timeline = (struct timeline){ .run = run, .recording = run->recording };
	if (tare_report_devices_known(run))
		code = tare_ledgers_pieces(run->recording, run->view, take_piece, timeline, error);
	if (!code)
		code = find_rows(timeline);
	if (!code)
		code = make_room(timeline);
	if (!code)
		code = timeline_place(timeline);
	if (!code)
		code = name_all(timeline);
	if (!code) {
		timeline_choose(timeline, TIMELINE_EVERYTHING, 1);
		timeline->all_waits = timeline->wait_count;
		timeline->wait_at = calloc(timeline->wait_count + 1, sizeof *timeline->wait_at);
		code = timeline->wait_at ? 0 : -ENOMEM;
	}
	if (!code) {
		find_waits(timeline);
		return 0;
	}
	timeline_close(timeline);
	return tare_fail(error, ENOMEM, "no memory for the page of %zu commands",
	                 run->recording->command_count);
}

void timeline_close(struct timeline *timeline)
{
	for (enum timeline_kind kind = 0; kind < TIMELINE_KINDS; kind++) {
		free(timeline->all[kind].at);
		free(timeline->rows[kind].at);
	}
	free(timeline->command_row);
	free(timeline->command_phase);
	free(timeline->phase_row);
	free(timeline->wait_at);
	free(timeline->gaps);
	free(timeline->lane);
	free(timeline->engine);
	free(timeline->engine_lane);
	free(timeline->command_depth);
	free(timeline->call_depth);
	free(timeline->phase_lane);
	free(timeline->device_number);
	free(timeline->phase_name);
	free(timeline->phase_domain);
	free(timeline->kernel_name);
	free(timeline->stack_site);
	free(timeline->frame);
	free(timeline->frame_count);
	timeline_strings_free(timeline->strings);
	*timeline = (struct timeline){ 0 };
}
