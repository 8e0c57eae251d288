// SPDX-License-Identifier: Apache-2.0
// What breaks the concurrency of work that is issued well: plain memory, allocations, builds.
#include "analysis/findings/transfers/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- plain memory

enum { FEWEST_COPIES = 4, SIZE_FACTOR = 4, LEAST_BYTES = 65536 };
#define COPY_SHARE 0.05 // of the working part
#define FASTER 1.1      // pinned memory must be that much faster to matter

struct pageable {
	uint32_t device;
	uint64_t count, blocking;
	double ns, bytes, call_ns;
	double pinned_ns, pinned_bytes; // of pinned copies in this recording, about as large
	// at the rate of pinned copies that was measured earlier; NaN
	double ceiling_ns;
};

// What the copies would take from pinned memory, and how that is known.
struct pinned {
	double ns;   // NaN: not known
	bool beside; // from copies of this recording
	bool sharp;  // no less may be saved
};

static bool is_pinned(const struct tare_recorded_command *command)
{
	return command->memory == TARE_TRACE_MEMORY_PINNED ||
	       command->memory == TARE_TRACE_MEMORY_MAPPED ||
	       command->memory == TARE_TRACE_MEMORY_BUFFER_HOST;
}

// Copies, and maps that move something.
static bool moves(const struct evaluation *evaluation, const struct tare_recorded_command *c,
                  uint8_t direction)
{
	const struct tare_recording *recording = evaluation->recording;
	uint32_t device = tare_command_device(recording, c);
	bool is_map = c->kind == TARE_KIND_MAP || c->kind == TARE_KIND_UNMAP;
	if (c->direction != direction || !tare_command_timed(c) ||
	    !evaluation_has_command(evaluation, c))
		return false;
	return finding_is_copy(evaluation, c) || (is_map && device < recording->device_count &&
	                                          !recording->devices[device].unified_memory);
}

static void gather_pageable(const struct evaluation *evaluation, struct pageable *p, uint8_t kind,
                            struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	uint8_t direction =
	    kind == TARE_KIND_WRITE ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_FROM_DEVICE;
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->transfers[i]);
		int64_t ns = c->end_ns - c->start_ns;
		if (!finding_is_copy(evaluation, c) || c->kind != kind ||
		    tare_command_device(recording, c) != p->device ||
		    c->memory != TARE_TRACE_MEMORY_PAGEABLE)
			continue;
		// What small ones take is their fixed cost, wherever their bytes are.
		if (c->flags & TARE_COMMAND_BLOCKING || c->amount < LEAST_BYTES)
			continue;
		p->count++;
		p->ns += (double)ns;
		p->bytes += (double)c->amount;
		p->call_ns += (double)tare_command_launch_ns(recording, c);
		const struct tare_transfer_row *row = finding_row_of(evaluation, c);
		p->ceiling_ns += row ? 1e9 * (double)c->amount / row->pinned_ceiling : NAN;
		finding_claim(draft, c->start_ns, c->end_ns);
		finding_saw_command(draft, evaluation->transfers[i], c->start_ns, c->end_ns, ns);
	}
	for (size_t i = 0; i < evaluation->transfer_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->transfers[i]);
		double mean = p->bytes / (double)(p->count ? p->count : 1);
		if (!moves(evaluation, c, direction) || !is_pinned(c) ||
		    tare_command_device(recording, c) != p->device ||
		    (double)c->amount * (double)SIZE_FACTOR < mean ||
		    (double)c->amount > (double)SIZE_FACTOR * mean)
			continue;
		p->pinned_ns += (double)(c->end_ns - c->start_ns);
		p->pinned_bytes += (double)c->amount;
	}
}

static struct pinned pinned_of(const struct pageable *way)
{
	struct pinned pinned = { .ns = way->ceiling_ns };
	if (way->count == 0)
		return (struct pinned){ 0, true, true };
	if (way->pinned_bytes > 0)
		pinned =
		    (struct pinned){ way->bytes * way->pinned_ns / way->pinned_bytes, true, true };
	else
		pinned.sharp = way->bytes >= (double)FINDING_FULL_RATE_BYTES * (double)way->count;
	return pinned;
}

// What pinned memory would save of the copies of both directions.
struct saved {
	double low_ns, best_ns, high_ns;
	bool known;  // of both directions
	bool beside; // from copies of this run
};

// Copies that overlap share the time that they take: no more can be saved than what all of them
// leave beside copies from pinned memory, one direction after the other (low) or beside it.
static void cut_to_union(struct finding_draft *draft, const struct pinned pinned[2],
                         struct saved *saved)
{
	struct tare_finding *finding = &draft->finding;
	double ns = 0, in_ns = isnan(pinned[0].ns) ? 0 : pinned[0].ns,
	       out_ns = isnan(pinned[1].ns) ? 0 : pinned[1].ns;
	finding->claim_count = tare_spans_unite(finding->claims, finding->claim_count);
	for (size_t i = 0; i < finding->claim_count; i++)
		ns += (double)(finding->claims[i].to_ns - finding->claims[i].from_ns);
	saved->low_ns = fmax(0, fmin(saved->low_ns, ns - in_ns - out_ns));
	// Where nothing is known half of that time is the estimate, as of each copy.
	bool unknown = isnan(pinned[0].ns) || isnan(pinned[1].ns);
	double most_ns = unknown && saved->low_ns <= 0 ? ns / 2 : ns - fmax(in_ns, out_ns);
	saved->best_ns = fmax(0, fmin(saved->best_ns, most_ns));
}

static bool is_plain(const struct evaluation *evaluation, const struct tare_recorded_command *c,
                     uint32_t device)
{
	return finding_is_copy(evaluation, c) &&
	       tare_command_device(evaluation->recording, c) == device &&
	       c->memory == TARE_TRACE_MEMORY_PAGEABLE && !(c->flags & TARE_COMMAND_BLOCKING) &&
	       c->amount >= LEAST_BYTES;
}

// How long these copies alone kept the device busy: faster ones end the run no earlier than that.
static double alone_ns(const struct evaluation *evaluation, uint32_t device)
{
	struct finding_unions unions = finding_unions_begin();
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		finding_unions_add(&unions, c, is_plain(evaluation, c, device));
	}
	return (double)unions.all_ns - (double)unions.rest_ns;
}

static struct saved saved_of(struct evaluation *evaluation, uint32_t device,
                             const struct pageable ways[2], struct finding_draft *draft)
{
	struct saved saved = { .known = true, .beside = true };
	struct pinned pinned[2];
	for (int i = 0; i < 2; i++) {
		pinned[i] = pinned_of(&ways[i]);
		bool unknown = isnan(pinned[i].ns), faster = pinned[i].ns * FASTER < ways[i].ns;
		double saved_ns = unknown ? ways[i].ns / 2 : faster ? ways[i].ns - pinned[i].ns : 0;
		saved.known &= !unknown;
		saved.beside &= pinned[i].beside;
		saved.best_ns += saved_ns;
		saved.low_ns += unknown || !pinned[i].sharp ? 0 : saved_ns;
		saved.high_ns += unknown ? ways[i].ns : saved_ns;
	}
	cut_to_union(draft, pinned, &saved);
	double most_ns = ways[0].count + ways[1].count >= FEWEST_COPIES
	                     ? alone_ns(evaluation, device)
	                     : INFINITY;
	saved.low_ns = fmin(saved.low_ns, most_ns);
	saved.best_ns = fmin(saved.best_ns, most_ns);
	saved.high_ns = saved.known ? saved.best_ns : fmin(saved.high_ns, most_ns);
	return saved;
}

static int evaluate_pageable(struct evaluation *evaluation, uint32_t device)
{
	struct pageable ways[2] = { { .device = device }, { .device = device } };
	struct finding_draft draft;
	char ns[TARE_UNIT_TEXT], call[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT];
	finding_begin(evaluation, &draft, "pageable-memory");
	gather_pageable(evaluation, &ways[0], TARE_KIND_WRITE, &draft);
	gather_pageable(evaluation, &ways[1], TARE_KIND_READ, &draft);
	uint64_t count = ways[0].count + ways[1].count;
	if (count < FEWEST_COPIES ||
	    ways[0].ns + ways[1].ns < COPY_SHARE * (double)evaluation->working_ns) {
		finding_drop(&draft);
		return 0;
	}
	const struct saved saved = saved_of(evaluation, device, ways, &draft);
	if (!finding_matters(evaluation, device, saved.best_ns, 2, count, 0, FINDING_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(ways[0].ns + ways[1].ns, ns);
	tare_format_ns((ways[0].call_ns + ways[1].call_ns) / (double)count, call);
	tare_format_bytes((uint64_t)(ways[0].bytes + ways[1].bytes), bytes);
	finding_title(&draft, "%llu copies that do not block use plain host memory",
	              (unsigned long long)count);
	finding_evidence(
	    &draft, "%s in %s of copies; each call took %s; %s", bytes, ns, call,
	    saved.known && saved.beside ? "pinned memory is faster in this run"
	    : saved.known ? "pinned memory is faster by the rate that `tare bandwidth` measured "
	                    "here"
	    : saved.low_ns > 0 ? "what pinned memory would do is known for one direction only"
	                       : "no pinned copy of this run to compare with, so what it costs is "
	                         "not known (`tare bandwidth` on this machine tells)");
	finding_advice(&draft,
	               "Copy from pinned memory %s: a driver stages plain memory, and may block; "
	               "`tare bandwidth` measures both",
	               finding_word(evaluation, FINDING_WORD_PINNED));
	finding_figure(&draft, "copies", (double)count, "counted");
	finding_figure(&draft, "copy_ns", ways[0].ns + ways[1].ns, "device timestamp");
	finding_figure(&draft, "mean_call_ns", (ways[0].call_ns + ways[1].call_ns) / (double)count,
	               "host clock");
	finding_cost(&draft, saved.low_ns, saved.best_ns, saved.high_ns);
	finding_figure(&draft, "saved_ns", saved.known ? saved.best_ns : NAN,
	               saved.beside ? "device timestamp" : "model");
	draft.finding.modelled = !(saved.known && saved.beside);
	draft.finding.confidence =
	    saved.low_ns > 0 ? TARE_CONFIDENCE_LIKELY : TARE_CONFIDENCE_POSSIBLE;
	draft.finding.device = device;
	return finding_raise(&draft);
}

int finding_pageable_memory(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	int code = 0;
	(void)error;
	// Where it keeps chunks apart that was said (finding_overlap). A device in the host's
	// memory copies from either kind alike: there is no bus, and nothing is staged.
	for (uint32_t i = 0; i < recording->device_count && !code; i++)
		if (recording->devices[i].same_as == i && !recording->devices[i].unified_memory &&
		    !finding_is_raised(evaluation, "pageable-memory", i))
			code = evaluate_pageable(evaluation, i);
	return code;
}

// ---- calls between kernels

enum { FEWEST_ALLOCATIONS = 4, KERNELS_AN_ALLOCATION = 4 };

struct between {
	uint64_t calls, made; // made: calls that made something
	uint64_t before;      // kernels that have such a call before them
	double ns, bytes;
};

static bool is_between(const struct evaluation *evaluation, const struct tare_recorded_call *call,
                       uint8_t role, const struct evaluation_kernels *row)
{
	return call->role == role && !(call->flags & (TARE_CALL_NESTED | TARE_CALL_FAILED)) &&
	       call->enter_ns >= row->first_ns && call->enter_ns <= row->last_ns &&
	       evaluation_has_call(evaluation, call);
}

// Calls of a role between the first kernel and the last one.
static struct between calls_between(const struct evaluation *evaluation, uint8_t role,
                                    const struct evaluation_kernels *row,
                                    struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	struct between found = { 0 };
	size_t command = 0;
	bool pending = false;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		if (!is_between(evaluation, call, role, row))
			continue;
		for (; command < recording->command_count &&
		       TARE_COMMAND(recording, command)->enter_ns < call->enter_ns;
		     command++) {
			const struct tare_recorded_command *c = TARE_COMMAND(recording, command);
			if (pending && tables_is_kernel(c) &&
			    tables_has_command_of_any_name(&evaluation->context, c)) {
				found.before++;
				pending = false;
			}
		}
		found.calls++;
		if (!(call->flags & TARE_CALL_RELEASED)) {
			found.made++;
			found.bytes += (double)call->bytes;
			pending = true;
		}
		found.ns += (double)call->inside_ns;
		finding_claim(draft, call->enter_ns, call->exit_ns);
		finding_saw_call(draft, (uint32_t)i, call->enter_ns, call->exit_ns,
		                 call->inside_ns);
	}
	found.before += pending;
	return found;
}

// Device time of the first copies to or from the objects that were made between kernels, and what
// of it a copy at the rate that was measured earlier does not explain (all, where none was): new
// memory costs most drivers something on its first use, which is not told apart from the copy.
static int first_copies_ns(const struct evaluation *evaluation,
                           const struct evaluation_kernels *row, struct finding_draft *draft,
                           double *ns, double *beyond_ns)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE bool *fresh = calloc(recording->memory_count + 1, sizeof *fresh);
	*ns = *beyond_ns = 0;
	if (!fresh)
		return -ENOMEM;
	size_t left = 0;
	for (size_t i = 0; i < recording->memory_count; i++) {
		fresh[i] = recording->memories[i].created_ns >= row->first_ns &&
		           recording->memories[i].created_ns <= row->last_ns;
		left += fresh[i];
	}
	for (size_t i = 0; left && i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		if (!finding_is_copy(evaluation, c) || c->object >= recording->memory_count ||
		    !fresh[c->object])
			continue;
		const struct tare_transfer_row *table_row = finding_row_of(evaluation, c);
		double copy_ns = (double)(c->end_ns - c->start_ns);
		double least_ns = table_row ? 1e9 * (double)c->amount / table_row->ceiling : NAN;
		*ns += copy_ns;
		*beyond_ns += isnan(least_ns) ? copy_ns : fmax(0, copy_ns - least_ns);
		finding_claim(draft, c->start_ns, c->end_ns);
		fresh[c->object] = false;
		left--;
	}
	return 0;
}

// Of the idle gaps, the part of a category.
static double idle_ns(const struct evaluation *evaluation, enum tare_ledger_category category,
                      const struct evaluation_kernels *row)
{
	double sum_ns = 0;
	for (size_t i = 0; i < evaluation->gap_count; i++)
		if (evaluation_gap_has(evaluation, i, category) &&
		    FINDING_GAP(evaluation, i)->from_ns >= row->first_ns)
			sum_ns +=
			    evaluation_part_ns(evaluation, FINDING_GAP(evaluation, i), category);
	return sum_ns;
}

int finding_allocation_in_loop(struct evaluation *evaluation, struct tare_error *error)
{
	struct finding_draft draft;
	const struct evaluation_kernels row = evaluation->kernels;
	char ns[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT], first[TARE_UNIT_TEXT],
	    beyond[TARE_UNIT_TEXT];
	(void)error;
	finding_begin(evaluation, &draft, "allocation-in-loop");
	struct between found = calls_between(evaluation, TARE_ROLE_ALLOCATE, &row, &draft);
	double first_ns = 0, beyond_ns = 0, most_ns = INFINITY;
	int code = row.count ? first_copies_ns(evaluation, &row, &draft, &first_ns, &beyond_ns) : 0;
	if (!code && found.calls > 0)
		code = finding_stall_most_ns(evaluation, TARE_ROLE_ALLOCATE, &most_ns);
	double best_ns = fmin(found.ns, most_ns);
	if (code || row.count == 0 || found.before < FEWEST_ALLOCATIONS ||
	    found.before * KERNELS_AN_ALLOCATION < row.count ||
	    !finding_matters(evaluation, TARE_NO_INDEX, fmin(found.ns + first_ns, most_ns), 0, 0,
	                     found.calls, FINDING_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	double gaps_ns = idle_ns(evaluation, TARE_LEDGER_ALLOCATE, &row);
	tare_format_ns(found.ns, ns);
	tare_format_bytes((uint64_t)found.bytes, bytes);
	finding_title(&draft, "%llu memory objects are made between kernels, before %llu of %llu",
	              (unsigned long long)found.made, (unsigned long long)found.before,
	              (unsigned long long)row.count);
	tare_format_ns(first_ns, first);
	tare_format_ns(beyond_ns, beyond);
	finding_evidence(
	    &draft,
	    "%s; the calls took %s, and the device %s; the first copies of these objects "
	    "took %s, of which what new memory costs is not known: %s at most",
	    bytes, ns, gaps_ns > 0 ? "idled for some of it" : "never idled for them", first,
	    beyond);
	finding_advice(&draft, "Make the buffers once before the loop and use them again; %s",
	               finding_word(evaluation, FINDING_WORD_MEMORY_WAITS));
	finding_figure(&draft, "objects", (double)found.made, "counted");
	finding_figure(&draft, "calls_ns", found.ns, "host clock");
	finding_cost(&draft, fmin(gaps_ns, best_ns), best_ns, fmin(found.ns + beyond_ns, most_ns));
	draft.finding.confidence =
	    gaps_ns >= found.ns / 2 ? TARE_CONFIDENCE_LIKELY : TARE_CONFIDENCE_POSSIBLE;
	return finding_raise(&draft);
}

// What building between kernels takes: the calls, and what a device idles until kernels of what was
// built run for the first time, for many drivers compile only then. Side by side it counts once.
struct built {
	double all_ns, idle_ns; // idle: of the calls and the first launches
	double uses_ns;         // first launches
	uint64_t again;         // calls that build what was built before in the run
	double again_ns, new_ns;
};

// Loading what was built takes time that is not known beforehand: as for start-up-builds.
#define LOADING 0.5

// What a program is built of, as one number; 0: that is not told.
static uint64_t source_of(const struct tare_recording *recording,
                          const struct tare_recorded_call *call)
{
	if (call->flags & TARE_CALL_RELEASED || call->object >= recording->program_count)
		return 0;
	const struct tare_recorded_program *program = &recording->programs[call->object];
	const uint64_t source[3] = { program->process, program->source_hash,
		                     program->source_bytes };
	if (program->source_hash == 0 || program->native)
		return 0;
	uint64_t hash = tare_hash_bytes(TARE_HASH_START, source, sizeof source);
	return tare_hash_bytes(hash, program->build_options, strlen(program->build_options)) | 1;
}

// Sets *again where the same was built before. Returns 0 or -ENOMEM.
static int note_source(struct tare_id_map *sources, uint64_t source, bool *again)
{
	*again = source != 0 && tare_id_map_find(sources, source) != TARE_ID_ABSENT;
	return source == 0 || *again || tare_id_map_put(sources, source, 0) ? 0 : -ENOMEM;
}

static bool is_of_built(const struct evaluation *evaluation, const bool *programs, uint32_t command)
{
	const struct tare_recording *recording = evaluation->recording;
	if (!evaluation_is_first_launch(evaluation, command))
		return false;
	uint32_t program = recording->kernels[TARE_COMMAND(recording, command)->object].program;
	return program < recording->program_count && programs[program];
}

static int add_builds(const struct evaluation *evaluation, const struct evaluation_kernels *row,
                      bool *programs, struct tare_run_span *spans, size_t *count,
                      struct built *built)
{
	const struct tare_recording *recording = evaluation->recording;
	struct tare_id_map sources = { 0 };
	bool again = false;
	int code = 0;
	for (size_t i = 0; i < recording->call_count && !code; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		if (call->role != TARE_ROLE_BUILD)
			continue;
		code = note_source(&sources, source_of(recording, call), &again);
		if (!is_between(evaluation, call, TARE_ROLE_BUILD, row))
			continue;
		spans[(*count)++] = (struct tare_run_span){ call->enter_ns, call->exit_ns };
		built->again += again;
		*(again ? &built->again_ns : &built->new_ns) +=
		    (double)(call->exit_ns - call->enter_ns);
		if (!(call->flags & TARE_CALL_RELEASED) && call->object < recording->program_count)
			programs[call->object] = true;
	}
	tare_id_map_free(&sources);
	return code;
}

static int sum_built(struct evaluation *evaluation, const struct evaluation_kernels *row,
                     struct finding_draft *draft, struct built *built)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE bool *programs = calloc(recording->program_count + 1, sizeof *programs);
	TARE_FREE struct tare_run_span *spans =
	    calloc(recording->call_count + evaluation->gap_count + 1, sizeof *spans);
	if (!programs || !spans)
		return -ENOMEM;
	size_t count = 0;
	int code = add_builds(evaluation, row, programs, spans, &count, built);
	if (code)
		return code;
	built->idle_ns = idle_ns(evaluation, TARE_LEDGER_BUILD, row);
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		int64_t first_ns = evaluation_first_use_ns(evaluation, gap);
		if (first_ns < FINDING_LEAST_NS || !is_of_built(evaluation, programs, gap->command))
			continue;
		built->uses_ns += (double)first_ns;
		spans[count++] = (struct tare_run_span){ gap->to_ns - first_ns, gap->to_ns };
		finding_claim(draft, gap->to_ns - first_ns, gap->to_ns);
		finding_saw_command(draft, gap->command, gap->to_ns - first_ns, gap->to_ns,
		                    first_ns);
	}
	built->idle_ns += built->uses_ns;
	count = tare_spans_unite(spans, count);
	for (size_t i = 0; i < count; i++)
		built->all_ns += (double)(spans[i].to_ns - spans[i].from_ns);
	return 0;
}

static void describe_built(const struct evaluation *evaluation, const struct between *found,
                           const struct built *built, struct finding_draft *draft)
{
	char ns[TARE_UNIT_TEXT], idle[TARE_UNIT_TEXT], uses[TARE_UNIT_TEXT], later[128] = "",
	                                                                     again[96] = "";
	if (built->again > 0)
		snprintf(again, sizeof again,
		         "; %llu of them are of a source and options that were built before",
		         (unsigned long long)built->again);
	if (built->uses_ns > 0)
		snprintf(later, sizeof later, ", and for %s until what was built first ran",
		         tare_format_ns(built->uses_ns, uses));
	tare_format_ns(found->ns, ns);
	tare_format_ns(built->idle_ns - built->uses_ns, idle);
	finding_title(draft, "%s are %s %llu times after the first kernel was enqueued",
	              finding_word(evaluation, FINDING_WORD_PROGRAMS),
	              finding_word(evaluation, FINDING_WORD_BUILT),
	              (unsigned long long)found->made);
	finding_evidence(draft, "the calls took %s; the device was idle for %s of them%s%s", ns,
	                 idle, later, again);
	finding_advice(draft, "%s %s%s", finding_word(evaluation, FINDING_WORD_BUILD_ONCE),
	               finding_word(evaluation, FINDING_WORD_KEEP_BINARIES),
	               finding_rebuilds(evaluation));
	finding_figure(draft, "builds", (double)found->made, "counted");
	finding_figure(draft, "built_before", (double)built->again, "counted");
	finding_figure(draft, "calls_ns", found->ns, "host clock");
	finding_figure(draft, "first_launches_ns", built->uses_ns, "device timestamp");
}

int finding_build_in_loop(struct evaluation *evaluation, struct tare_error *error)
{
	struct finding_draft draft;
	const struct evaluation_kernels row = evaluation->kernels;
	struct built built = { 0 };
	double most_ns = INFINITY;
	(void)error;
	finding_begin(evaluation, &draft, "build-in-loop");
	struct between found = calls_between(evaluation, TARE_ROLE_BUILD, &row, &draft);
	int code = found.made > 0 ? sum_built(evaluation, &row, &draft, &built) : 0;
	if (!code && found.made > 0)
		code = finding_stall_most_ns(evaluation, TARE_ROLE_BUILD, &most_ns);
	double best_ns = fmin(built.all_ns, most_ns);
	if (code || row.count == 0 || found.made == 0 ||
	    !finding_matters(evaluation, TARE_NO_INDEX, best_ns, 0, 0, found.calls,
	                     FINDING_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	describe_built(evaluation, &found, &built, &draft);
	double spent_ns = built.again_ns + built.new_ns;
	double saved =
	    spent_ns > 0 ? (built.again_ns + LOADING * built.new_ns) / spent_ns : LOADING;
	finding_cost(&draft, saved * fmin(built.idle_ns, best_ns), best_ns, best_ns);
	draft.finding.confidence = built.idle_ns >= best_ns / 2 && saved == 1
	                               ? TARE_CONFIDENCE_SURE
	                               : TARE_CONFIDENCE_LIKELY;
	return finding_raise(&draft);
}
