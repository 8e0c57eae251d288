// SPDX-License-Identifier: Apache-2.0
// Copies that move nothing new, by what they carry (tare record --contents). Commands are followed
// in the order in which they ran: of each part of a memory object it is known what was last moved
// there or back.
#include "analysis/findings/transfers/internal.h"

#include "analysis/findings/alone.h"
#include "analysis/findings/contents.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

enum { WORTH_BYTES = 4096, FEWEST = 2, HINT_BYTES = 32768, FEWEST_HINT = 16 };
#define REPEAT_SHARE 0.02

// The last copy of a part.
struct last_copy {
	uint32_t command;
	const struct tare_recorded_place *place;
	// of the copy, and of the last one of another part that reaches into this one
	uint64_t step, changed;
	uint32_t root, following; // memory object, and the next part of it; TARE_NO_INDEX
	bool counted;             // as a copy that moved nothing new
	bool differed;            // from the one before, when two were last compared whole
};

// A copy that need not be.
struct repeat {
	uint32_t command;
	bool ping_pong;
	bool sure;        // all bytes are the same, and nothing can have changed them on the device
	bool whole;       // all of them were compared
	bool overwritten; // kernels may have changed them on the device in between
};

struct repeats {
	struct evaluation *evaluation;
	uint64_t step; // counts commands
	// of each memory object: the step at which anything but the copy of a part changed it
	uint64_t *changed;
	uint64_t any_changed; // the same of all that kernels may write
	uint32_t *first;      // part of each memory object; TARE_NO_INDEX
	// places in recording->arguments where those of a kernel begin, and the end
	uint32_t *writes;
	uint32_t *written; // memory objects, by kernel
	struct tare_id_map part_of;
	struct last_copy *last;
	size_t last_count, last_room;
	struct repeat *found;
	size_t found_count, found_room;
	bool all_seen; // no command can have changed anything without being followed
	// without contents: copies to where something was copied before
	uint64_t again, again_bytes;
	double again_ns;
};

// What of a kind of finding was found.
struct sum {
	uint64_t count, whole, overwritten;
	double bytes, low_ns, best_ns, high_ns;
	bool sure;
};

// ---- what the device may have changed

static uint32_t root_of(const struct tare_recording *recording, uint32_t memory)
{
	for (size_t i = 0; i < recording->memory_count && memory < recording->memory_count; i++) {
		if (recording->memories[memory].parent >= recording->memory_count)
			break;
		memory = recording->memories[memory].parent;
	}
	return memory;
}

#define READ_ONLY (1 << 2) // CL_MEM_READ_ONLY: of an OpenCL memory object

static bool kernels_may_write(const struct tare_recording *recording,
                              const struct tare_recorded_command *command)
{
	bool opencl = command->queue < recording->queue_count &&
	              recording->queues[command->queue].api == TARE_TRACE_OPENCL;
	return !opencl ||
	       !(recording->memories[root_of(recording, command->object)].flags & READ_ONLY);
}

// Whether two parts of an object may have bytes in common. A part of a buffer that is itself one (a
// sub-buffer) has an offset of its own.
static bool reaches_into(const struct repeats *r, const struct last_copy *a,
                         const struct last_copy *b)
{
	const struct tare_recorded_command *x = TARE_COMMAND(r->evaluation->recording, a->command);
	const struct tare_recorded_command *y = TARE_COMMAND(r->evaluation->recording, b->command);
	if (x->object != y->object || a->place->offset == UINT64_MAX ||
	    b->place->offset == UINT64_MAX || x->kind == TARE_KIND_UNMAP ||
	    y->kind == TARE_KIND_UNMAP)
		return true;
	return a->place->offset <= b->place->offset
	           ? b->place->offset - a->place->offset < x->amount
	           : a->place->offset - b->place->offset < y->amount;
}

// A copy to one part. Of an object with many parts all count as changed.
static void note_write(struct repeats *r, const struct last_copy *now)
{
	enum { MOST_PARTS = 256 };
	uint32_t at = r->first[now->root], count = 0;
	for (; at != TARE_NO_INDEX && count < MOST_PARTS; at = r->last[at].following, count++)
		if (r->last[at].command != now->command && reaches_into(r, &r->last[at], now))
			r->last[at].changed = r->step;
	if (at != TARE_NO_INDEX)
		r->changed[now->root] = r->step;
}

// Whether all memory that a kernel may write is told.
static bool is_known(const struct repeats *r, const struct tare_recorded_command *kernel)
{
	const struct tare_recording *recording = r->evaluation->recording;
	uint32_t process = tables_process(recording, kernel->thread);
	if (kernel->kind != TARE_KIND_KERNEL || kernel->object >= recording->kernel_count ||
	    kernel->queue >= recording->queue_count || process >= recording->process_count ||
	    recording->queues[kernel->queue].api != TARE_TRACE_OPENCL)
		return false;
	const struct tare_recorded_process *of = &recording->processes[process];
	// What a fork has inherited was told to its parent.
	return (of->flags & (TARE_TRACE_COMPARED | TARE_TRACE_FORKED)) == TARE_TRACE_COMPARED &&
	       of->lost_records == 0 && of->damaged_windows == 0;
}

static void note_kernel(struct repeats *r, const struct tare_recorded_command *kernel)
{
	const struct tare_recording *recording = r->evaluation->recording;
	bool known = is_known(r, kernel);
	for (uint32_t i = known ? r->writes[kernel->object] : 0;
	     known && i < r->writes[kernel->object + 1]; i++) {
		uint32_t memory = root_of(recording, r->written[i]);
		// An image may be made of a buffer.
		known = memory < recording->memory_count &&
		        recording->memories[memory].kind != TARE_TRACE_MEMORY_IMAGE;
		if (known && !(recording->memories[memory].flags & READ_ONLY))
			r->changed[memory] = r->step;
	}
	if (!known)
		r->any_changed = r->step;
}

// The arguments by kernel. Returns 0 or -ENOMEM.
static int sort_arguments(struct repeats *r)
{
	const struct tare_recording *recording = r->evaluation->recording;
	r->writes = calloc(recording->kernel_count + 2, sizeof *r->writes);
	r->written = calloc(recording->argument_count + 1, sizeof *r->written);
	if (!r->writes || !r->written)
		return -ENOMEM;
	for (size_t i = 0; i < recording->argument_count; i++)
		if (recording->arguments[i].kernel < recording->kernel_count)
			r->writes[recording->arguments[i].kernel + 2]++;
	for (size_t i = 2; i < recording->kernel_count + 2; i++)
		r->writes[i] += r->writes[i - 1];
	for (size_t i = 0; i < recording->argument_count; i++)
		if (recording->arguments[i].kernel < recording->kernel_count)
			r->written[r->writes[recording->arguments[i].kernel + 1]++] =
			    recording->arguments[i].memory;
	return 0;
}

// A command that is no copy of a part.
static void note_change(struct repeats *r, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = r->evaluation->recording;
	switch (command->kind) {
	case TARE_KIND_READ:
	case TARE_KIND_MARKER:
	case TARE_KIND_BARRIER:
	case TARE_KIND_MAP:
	case TARE_KIND_MIGRATE:
		return;
	case TARE_KIND_WRITE: // to an image
	case TARE_KIND_FILL:
	case TARE_KIND_UNMAP:
		if (command->object < recording->memory_count) {
			r->changed[root_of(recording, command->object)] = r->step;
			return;
		}
		break;
	case TARE_KIND_KERNEL:
		note_kernel(r, command);
		return;
	default:
		break;
	}
	// A copy's destination is not recorded.
	r->any_changed = r->step;
}

static bool is_overwritten(const struct repeats *r, const struct last_copy *before,
                           const struct tare_recorded_command *now)
{
	const struct tare_recording *recording = r->evaluation->recording;
	return r->changed[before->root] > before->step || before->changed > before->step ||
	       (r->any_changed > before->step && kernels_may_write(recording, now));
}

// ---- comparing

static bool is_hashed(const struct tare_recorded_place *place)
{
	return place->contents == TARE_CONTENTS_WHOLE || place->contents == TARE_CONTENTS_SAMPLED;
}

// Whether both carry the same bytes, as far as is known; *whole: all of them were compared.
static bool is_same(const struct tare_recorded_place *a, const struct tare_recorded_place *b,
                    bool *whole)
{
	*whole = a->contents == TARE_CONTENTS_WHOLE && b->contents == TARE_CONTENTS_WHOLE;
	return is_hashed(a) && is_hashed(b) &&
	       (*whole ? a->whole == b->whole : a->sample == b->sample);
}

static int add_repeat(struct repeats *r, const struct repeat *repeat)
{
	struct repeat *added = TARE_ROOM_FOR(r->found, r->found_room, r->found_count);
	if (!added)
		return -ENOMEM;
	*added = *repeat;
	r->found_count++;
	return 0;
}

// A copy and the one before it of the same part. Sets *same where the part holds what it held.
static int compare(struct repeats *r, struct last_copy *before, struct last_copy *now, bool *same)
{
	const struct tare_recording *recording = r->evaluation->recording;
	const struct tare_recorded_command *then_row = TARE_COMMAND(recording, before->command),
	                                   *row = TARE_COMMAND(recording, now->command);
	bool overwritten = is_overwritten(r, before, row), whole;
	bool back = row->kind == TARE_KIND_READ, was_back = then_row->kind == TARE_KIND_READ;
	*same = false;
	bool alike = is_same(before->place, now->place, &whole);
	// Where all bytes were compared and were others, samples that agree prove nothing.
	now->differed = whole ? !alike : before->differed;
	if (!whole && now->differed)
		return 0;
	// What is read after the device had time to change it may be what it made anew.
	if (!alike || (back && overwritten))
		return 0;
	bool late =
	    (before->place->contents_flags | now->place->contents_flags) & TARE_CONTENTS_LATE;
	struct repeat repeat = { .command = now->command,
		                 .whole = whole,
		                 .overwritten = overwritten,
		                 .sure = r->all_seen && whole && !overwritten && !late,
		                 .ping_pong = was_back && !back };
	*same = repeat.sure;
	now->counted = true;
	if (row->kind == TARE_KIND_UNMAP || row->amount < WORTH_BYTES)
		return 0;
	int code = add_repeat(r, &repeat);
	// Whether the host needs what it read is not known: the way there may have to stay.
	if (!code && repeat.ping_pong && !before->counted) {
		repeat = (struct repeat){ .command = before->command,
			                  .whole = whole,
			                  .ping_pong = true };
		code = add_repeat(r, &repeat);
	}
	return code;
}

// For who has not compared anything.
static void note_again(struct repeats *r, const struct tare_recorded_command *command,
                       const struct tare_recorded_place *place)
{
	if (command->kind != TARE_KIND_WRITE || command->amount < HINT_BYTES ||
	    place->contents != 0)
		return;
	r->again++;
	r->again_bytes += command->amount;
	r->again_ns += (double)(command->end_ns - command->start_ns);
}

static int see(struct repeats *r, uint32_t at, const struct tare_recorded_place *place)
{
	const struct tare_recording *recording = r->evaluation->recording;
	const struct tare_recorded_command *command = TARE_COMMAND(recording, at);
	uint64_t parts[3] = { command->object, command->amount, place->identity };
	struct last_copy now = { .command = at,
		                 .place = place,
		                 .step = r->step,
		                 .root = root_of(recording, command->object) };
	size_t known = r->last_count;
	uint32_t number;
	bool same = false;
	if (tables_number(&r->part_of, tare_hash_bytes(TARE_HASH_START, parts, sizeof parts),
	                  &number) != 0)
		return -ENOMEM;
	if (number == known) {
		if (!TARE_ROOM_FOR(r->last, r->last_room, r->last_count))
			return -ENOMEM;
		r->last_count++;
		now.following = r->first[now.root];
		r->first[now.root] = number;
	} else {
		now.following = r->last[number].following;
		note_again(r, command, place);
		if (compare(r, &r->last[number], &now, &same) != 0)
			return -ENOMEM;
	}
	// What a read that was not hashed has brought does not matter: it changed nothing.
	if (command->kind == TARE_KIND_READ && !is_hashed(place) && number < known)
		return 0;
	r->last[number] = now;
	if (!same && command->kind != TARE_KIND_READ)
		note_write(r, &now);
	return 0;
}

// Where images are copied to is not recorded; shared memory the host changes without a copy.
static bool is_followed(const struct repeats *r, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = r->evaluation->recording;
	if (command->object >= recording->memory_count)
		return false;
	uint32_t kind = recording->memories[command->object].kind;
	return kind != TARE_TRACE_MEMORY_IMAGE && kind != TARE_TRACE_MEMORY_SHARED &&
	       kind != TARE_TRACE_MEMORY_PINNED;
}

// Whether there may be anything to say: contents were told, or enough was written for the hint.
static bool may_repeat(const struct repeats *r)
{
	const struct tare_recording *recording = r->evaluation->recording;
	double written_ns = 0;
	for (size_t i = 0; i < recording->place_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, recording->places[i].command);
		if (is_hashed(&recording->places[i]))
			return true;
		if (command->kind == TARE_KIND_WRITE && command->amount >= HINT_BYTES &&
		    tare_command_timed(command))
			written_ns += (double)(command->end_ns - command->start_ns);
	}
	return recording->place_count > 0 &&
	       written_ns >= REPEAT_SHARE * (double)r->evaluation->steady_ns;
}

static int walk(struct repeats *r)
{
	const struct tare_recording *recording = r->evaluation->recording;
	if (!may_repeat(r))
		return 0;
	for (size_t i = 0; i < r->evaluation->order_count; i++) {
		uint32_t at = r->evaluation->order[i];
		const struct tare_recorded_command *command = TARE_COMMAND(recording, at);
		// A kernel takes no place to be found.
		const struct tare_recorded_place *place =
		    tables_is_kernel(command) ? NULL : finding_place_of(recording, at);
		int code = 0;
		r->step++;
		if (place && is_followed(r, command))
			code = see(r, at, place);
		else
			note_change(r, command);
		if (code)
			return code;
	}
	return 0;
}

// ---- what they cost

static void add_to(struct sum *sum, struct finding_draft *draft, const struct repeat *repeat,
                   const struct tare_recorded_command *row, int64_t ns)
{
	bool blocking = row->flags & TARE_COMMAND_BLOCKING && !tare_command_is_run(row);
	int64_t call_ns = blocking ? row->exit_ns - row->enter_ns : 0;
	sum->count++;
	sum->bytes += (double)row->amount;
	sum->whole += repeat->whole;
	sum->overwritten += repeat->overwritten;
	sum->sure = sum->sure && repeat->sure;
	sum->low_ns += repeat->sure ? (double)ns : 0;
	sum->best_ns += (double)ns;
	sum->high_ns += (double)(call_ns > ns ? call_ns : ns);
	finding_claim(draft, row->start_ns, row->end_ns);
	if (blocking)
		finding_claim(draft, row->enter_ns, row->exit_ns);
	finding_saw_command(draft, repeat->command, row->start_ns, row->end_ns, ns);
}

static int add_up(struct repeats *r, bool ping_pong, struct sum *sum, struct finding_draft *draft)
{
	const struct tare_recording *recording = r->evaluation->recording;
	struct finding_alone alone = { 0 };
	TARE_FREE bool *repeated = calloc(recording->command_count + 1, sizeof *repeated);
	int code = repeated ? 0 : -ENOMEM;
	*sum = (struct sum){ .sure = true };
	for (size_t i = 0; i < r->found_count && !code; i++)
		repeated[r->found[i].command] = true;
	if (!code)
		code = finding_alone_open(r->evaluation, repeated, &alone);
	for (size_t i = 0; i < r->found_count && !code; i++) {
		const struct tare_recorded_command *row =
		    TARE_COMMAND(recording, r->found[i].command);
		if (r->found[i].ping_pong == ping_pong)
			add_to(sum, draft, &r->found[i], row, finding_alone_ns(&alone, row));
	}
	finding_alone_close(&alone);
	return code;
}

// ---- saying it

static void tell(struct finding_draft *draft, const struct sum *sum)
{
	char ns[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT],
	    how[80] = "all of their bytes were compared", device[120];
	tare_format_ns(sum->best_ns, ns);
	tare_format_bytes((uint64_t)fmin(sum->bytes, 0x1p63), bytes);
	if (sum->whole < sum->count)
		snprintf(how, sizeof how, "of %llu only a sample of the bytes was compared",
		         (unsigned long long)(sum->count - sum->whole));
	if (sum->overwritten > 0)
		snprintf(device, sizeof device,
		         "before %llu of them the device may have overwritten the part",
		         (unsigned long long)sum->overwritten);
	else
		snprintf(device, sizeof device, "the device changed nothing in between");
	finding_evidence(draft, "%s in %s that nothing else hides; %s; %s", bytes, ns, how, device);
	finding_figure(draft, "copies", (double)sum->count, "counted");
	finding_figure(draft, "bytes", sum->bytes, "counted");
	finding_figure(draft, "compared_whole", (double)sum->whole, "counted");
	finding_figure(draft, "maybe_overwritten", (double)sum->overwritten, "counted");
	finding_figure(draft, "alone_ns", sum->best_ns, "device timestamp");
	finding_cost(draft, sum->low_ns, sum->best_ns, sum->high_ns);
	draft->finding.confidence = sum->sure         ? TARE_CONFIDENCE_SURE
	                            : sum->whole == 0 ? TARE_CONFIDENCE_POSSIBLE
	                                              : TARE_CONFIDENCE_LIKELY;
}

static bool matters(struct repeats *r, const struct sum *sum)
{
	return sum->count >= FEWEST && finding_matters(r->evaluation, TARE_NO_INDEX, sum->best_ns,
	                                               2, sum->count, 0, REPEAT_SHARE);
}

static int raise_kind(struct repeats *r, bool ping_pong)
{
	struct finding_draft draft;
	struct sum sum;
	if (r->found_count == 0)
		return 0;
	finding_begin(r->evaluation, &draft, ping_pong ? "ping-pong" : "duplicate-transfers");
	int code = add_up(r, ping_pong, &sum, &draft);
	if (code || !matters(r, &sum)) {
		finding_drop(&draft);
		return code;
	}
	const char *seem = sum.whole == 0          ? ", by samples of their bytes"
	                   : sum.whole < sum.count ? ", some of them by samples of their bytes"
	                                           : "";
	if (ping_pong) {
		finding_title(
		    &draft, "%llu copies read a buffer back and write the same bytes to it again%s",
		    (unsigned long long)sum.count, seem);
		finding_advice(&draft,
		               "Leave the data on the device; read back only what the host needs");
	} else {
		finding_title(&draft, "%llu copies move bytes that were there already%s",
		              (unsigned long long)sum.count, seem);
		finding_advice(&draft, "Copy it once%s",
		               sum.overwritten == 0 ? ""
		                                    : "; where kernels overwrite it, keep a second "
		                                      "buffer on the device and copy from that");
	}
	tell(&draft, &sum);
	return finding_raise(&draft);
}

// Nothing was compared: how to find out.
static int hint(struct repeats *r)
{
	char bytes[TARE_UNIT_TEXT], ns[TARE_UNIT_TEXT];
	if (r->again < FEWEST_HINT || r->again_ns < REPEAT_SHARE * (double)r->evaluation->steady_ns)
		return 0;
	tare_format_bytes(r->again_bytes, bytes);
	tare_format_ns(r->again_ns, ns);
	return finding_unjudged(
	    r->evaluation,
	    "whether %llu copies to where something was copied before (%s in %s) move "
	    "the same bytes again: `tare record --contents` compares them",
	    (unsigned long long)r->again, bytes, ns);
}

int finding_repeats(struct evaluation *evaluation, struct tare_error *error)
{
	struct repeats r = { .evaluation = evaluation,
		             .all_seen = evaluation->commands == evaluation->timed &&
		                         !evaluation->view->spans &&
		                         evaluation->view->device == TARE_NO_INDEX };
	(void)error;
	size_t memories = evaluation->recording->memory_count;
	r.changed = calloc(memories + 1, sizeof *r.changed);
	r.first = malloc((memories + 1) * sizeof *r.first);
	for (size_t i = 0; r.first && i < memories; i++)
		r.first[i] = TARE_NO_INDEX;
	int code = r.changed && r.first ? sort_arguments(&r) : -ENOMEM;
	if (!code)
		code = walk(&r);
	if (!code)
		code = raise_kind(&r, false);
	if (!code)
		code = raise_kind(&r, true);
	if (!code)
		code = finding_was_compared(evaluation) ? finding_say_not_compared(evaluation)
		                                        : hint(&r);
	tare_id_map_free(&r.part_of);
	free(r.changed);
	free(r.first);
	free(r.writes);
	free(r.written);
	free(r.last);
	free(r.found);
	return code;
}
