// SPDX-License-Identifier: Apache-2.0
// How a finding is put together.
#include "analysis/findings/internal.h"
#include "base/room.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void finding_begin(struct evaluation *evaluation, struct finding_draft *draft, const char *id)
{
	*draft = (struct finding_draft){ .evaluation = evaluation };
	draft->finding.id = id;
	draft->finding.confidence = TARE_CONFIDENCE_POSSIBLE;
	draft->finding.device = TARE_NO_INDEX;
}

void finding_drop(struct finding_draft *draft)
{
	free(draft->finding.title);
	free(draft->finding.evidence);
	free(draft->finding.advice);
	free(draft->finding.claims);
	free(draft->places);
	tare_id_map_free(&draft->place_of);
	*draft = (struct finding_draft){ .evaluation = draft->evaluation };
}

// ---- words

static void write_text(struct finding_draft *draft, char **text, const char *format,
                       va_list arguments)
{
	char *written = NULL;
	if (vasprintf(&written, format, arguments) < 0) {
		draft->failed = true;
		return;
	}
	free(*text);
	*text = written;
}

#define WRITER(name)                                                                               \
	void finding_##name(struct finding_draft *draft, const char *format, ...)                  \
	{                                                                                          \
		va_list arguments;                                                                 \
		va_start(arguments, format);                                                       \
		write_text(draft, &draft->finding.name, format, arguments);                        \
		va_end(arguments);                                                                 \
	}
WRITER(title)
WRITER(evidence)
WRITER(advice)
#undef WRITER

void finding_figure(struct finding_draft *draft, const char *name, double value, const char *source)
{
	struct tare_finding *finding = &draft->finding;
	if (finding->figure_count < TARE_FINDING_FIGURES)
		finding->figures[finding->figure_count++] =
		    (struct tare_finding_figure){ name, value, source };
}

const char *finding_kernel_name(const struct evaluation *evaluation,
                                const struct tare_recorded_command *command, char text[128])
{
	const struct tare_recording *recording = evaluation->recording;
	if (command->kind != TARE_KIND_KERNEL || command->object >= recording->kernel_count ||
	    !recording->kernels[command->object].name[0])
		return strcpy(text, "a kernel");
	snprintf(text, 128, "'%.100s'", recording->kernels[command->object].name);
	return text;
}

// ---- claims and cost

void finding_claim(struct finding_draft *draft, int64_t from_ns, int64_t to_ns)
{
	struct tare_finding *finding = &draft->finding;
	if (from_ns >= to_ns || draft->failed)
		return;
	struct tare_run_span *last =
	    finding->claim_count ? &finding->claims[finding->claim_count - 1] : NULL;
	// They are united in the end; those that follow one another are at once.
	if (last && from_ns >= last->from_ns && from_ns <= last->to_ns) {
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		return;
	}
	struct tare_run_span *claim =
	    TARE_ROOM_FOR(finding->claims, draft->claim_room, finding->claim_count);
	if (!claim) {
		draft->failed = true;
		return;
	}
	*claim = (struct tare_run_span){ from_ns, to_ns };
	finding->claim_count++;
}

void finding_cost(struct finding_draft *draft, double low_ns, double best_ns, double high_ns)
{
	draft->finding.cost_low_ns = llround(fmax(0, fmin(low_ns, best_ns)));
	draft->finding.cost_ns = llround(fmax(0, best_ns));
	draft->finding.cost_high_ns = llround(fmax(0, fmax(high_ns, best_ns)));
}

// Cuts united claims to the spans that are judged, in place of them. Returns their length or
// -ENOMEM.
static int64_t cut_claims(const struct tare_run_span *spans, size_t span_count,
                          struct tare_finding *finding)
{
	size_t count = tare_spans_unite(finding->claims, finding->claim_count), kept = 0;
	struct tare_run_span *cut = calloc(count + span_count + 1, sizeof *cut);
	int64_t sum_ns = 0;
	if (!cut)
		return -ENOMEM;
	for (size_t i = 0, j = 0; i < count && j < span_count;) {
		const struct tare_run_span *claim = &finding->claims[i];
		const struct tare_run_span *span = &spans[j];
		int64_t from_ns = claim->from_ns > span->from_ns ? claim->from_ns : span->from_ns;
		int64_t to_ns = claim->to_ns < span->to_ns ? claim->to_ns : span->to_ns;
		if (from_ns < to_ns) {
			cut[kept++] = (struct tare_run_span){ from_ns, to_ns };
			sum_ns += to_ns - from_ns;
		}
		if (claim->to_ns < span->to_ns)
			i++;
		else
			j++;
	}
	free(finding->claims);
	finding->claims = cut;
	finding->claim_count = kept;
	return sum_ns;
}

static int64_t at_most(int64_t ns, int64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

// ---- places

static struct tare_finding_place *place_for(struct finding_draft *draft, uint64_t key)
{
	if (draft->place_count > 0 && draft->last_key == key)
		return &draft->places[draft->last_place];
	uint32_t at = tare_id_map_find(&draft->place_of, key);
	draft->last_key = key;
	draft->last_place = at != TARE_ID_ABSENT ? at : draft->place_count;
	if (at != TARE_ID_ABSENT)
		return &draft->places[at];
	if (!TARE_ROOM_FOR(draft->places, draft->place_room, draft->place_count))
		return NULL;
	if (!tare_id_map_put(&draft->place_of, key, (uint32_t)draft->place_count))
		return NULL;
	draft->places[draft->place_count] = (struct tare_finding_place){
		.command = TARE_NO_INDEX,
		.call = TARE_NO_INDEX,
		.stack = TARE_NO_INDEX,
	};
	return &draft->places[draft->place_count++];
}

// Adds to a place; the costliest time is the one that is shown. `longest_ns` is kept in the place's
// own times: to - from of the shown one.
static void add_to_place(struct finding_draft *draft, uint64_t key,
                         const struct tare_finding_place *seen)
{
	struct tare_finding_place *place = draft->failed ? NULL : place_for(draft, key);
	draft->finding.occurrences++;
	if (!place) {
		draft->failed = true;
		return;
	}
	if (place->count == 0 || seen->to_ns - seen->from_ns > place->to_ns - place->from_ns) {
		place->from_ns = seen->from_ns;
		place->to_ns = seen->to_ns;
		place->command = seen->command;
		place->call = seen->call;
		place->stack = seen->stack;
	}
	place->count++;
	place->cost_ns = tables_add(place->cost_ns, seen->cost_ns);
}

static uint64_t key_of(uint32_t stack, uint32_t thing, uint32_t kind)
{
	uint64_t of = ((uint64_t)stack << 32 | thing) * UINT64_C(0x9e3779b97f4a7c15);
	return of ^ (kind + UINT64_C(1)) * UINT64_C(0xc2b2ae3d27d4eb4f);
}

void finding_saw_command(struct finding_draft *draft, uint32_t command, int64_t from_ns,
                         int64_t to_ns, int64_t cost_ns)
{
	const struct tare_recording *recording = draft->evaluation->recording;
	struct tare_finding_place seen = { from_ns,       to_ns, command, TARE_NO_INDEX,
		                           TARE_NO_INDEX, 1,     cost_ns };
	uint32_t thing = TARE_NO_INDEX, kind = 0;
	if (command < recording->command_count) {
		const struct tare_recorded_command *row = TARE_COMMAND(recording, command);
		kind = row->kind;
		if (row->kind == TARE_KIND_KERNEL && row->object < recording->kernel_count)
			thing = draft->evaluation->context.name_of[row->object];
		if (row->stack < recording->stack_count)
			seen.stack = row->stack;
	}
	add_to_place(draft, key_of(seen.stack, thing, kind), &seen);
}

void finding_saw_call(struct finding_draft *draft, uint32_t call, int64_t from_ns, int64_t to_ns,
                      int64_t cost_ns)
{
	const struct tare_recording *recording = draft->evaluation->recording;
	struct tare_finding_place seen = { from_ns,       to_ns, TARE_NO_INDEX, call,
		                           TARE_NO_INDEX, 1,     cost_ns };
	uint32_t function = TARE_NO_INDEX;
	if (call < recording->call_count) {
		function = recording->calls[call].function;
		if (recording->calls[call].stack < recording->stack_count)
			seen.stack = recording->calls[call].stack;
	}
	add_to_place(draft, key_of(seen.stack, function, UINT32_MAX), &seen);
}

static int compare_places(const void *a, const void *b)
{
	const struct tare_finding_place *x = a, *y = b;
	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void keep_places(struct finding_draft *draft)
{
	struct tare_finding *finding = &draft->finding;
	if (draft->place_count > 0)
		qsort(draft->places, draft->place_count, sizeof *draft->places, compare_places);
	finding->place_count =
	    draft->place_count < TARE_FINDING_PLACES ? draft->place_count : TARE_FINDING_PLACES;
	for (size_t i = 0; i < finding->place_count; i++)
		finding->places[i] = draft->places[i];
}

// ---- handing in

static int append(struct evaluation *evaluation, const struct tare_finding *finding)
{
	struct tare_findings *findings = evaluation->findings;
	if (!TARE_ROOM_FOR(findings->at, evaluation->room, findings->count))
		return -ENOMEM;
	findings->at[findings->count++] = *finding;
	return 0;
}

int finding_raise(struct finding_draft *draft)
{
	struct tare_finding *finding = &draft->finding;
	const struct evaluation *evaluation = draft->evaluation;
	const struct tare_run_span view = { evaluation->view->from_ns, evaluation->view->to_ns };
	int64_t claimed_ns = draft->failed ? -ENOMEM
	                     : draft->of_run
	                         ? cut_claims(&view, 1, finding)
	                         : cut_claims(evaluation->spans, evaluation->span_count, finding);
	int code = claimed_ns < 0 ? -ENOMEM : 0;
	if (!code && finding->title && claimed_ns > 0 && finding->cost_ns > 0) {
		finding->cost_ns = at_most(finding->cost_ns, claimed_ns);
		finding->cost_low_ns = at_most(finding->cost_low_ns, claimed_ns);
		finding->cost_high_ns = at_most(finding->cost_high_ns, claimed_ns);
		if (!finding->evidence)
			finding_evidence(draft, "%s", "");
		if (!finding->advice)
			finding_advice(draft, "%s", "");
		keep_places(draft);
		code = draft->failed ? -ENOMEM : append(draft->evaluation, finding);
		if (!code)
			finding->title = finding->evidence = finding->advice = NULL;
		if (!code)
			finding->claims = NULL;
	}
	finding_drop(draft);
	return code;
}

bool finding_is_raised(const struct evaluation *evaluation, const char *id, uint32_t device)
{
	const struct tare_findings *findings = evaluation->findings;
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->at[i].id, id) == 0 && findings->at[i].device == device)
			return true;
	return false;
}

bool finding_take_back(struct evaluation *evaluation, const char *id, double cost_ns)
{
	struct tare_findings *findings = evaluation->findings;
	size_t kept = 0;
	bool left = false;
	for (size_t i = 0; i < findings->count; i++) {
		struct tare_finding *finding = &findings->at[i];
		bool same = strcmp(finding->id, id) == 0;
		left |= same && (double)finding->cost_ns > cost_ns;
		if (!same || (double)finding->cost_ns > cost_ns) {
			findings->at[kept++] = *finding;
			continue;
		}
		free(finding->title);
		free(finding->evidence);
		free(finding->advice);
		free(finding->claims);
	}
	findings->count = kept;
	return left;
}

int finding_unjudged(struct evaluation *evaluation, const char *format, ...)
{
	struct tare_findings *findings = evaluation->findings;
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	for (size_t i = 0; i < findings->unjudged_count; i++) {
		if (strcmp(findings->unjudged[i], text) != 0)
			continue;
		free(text);
		return 0;
	}
	char **unjudged =
	    reallocarray(findings->unjudged, findings->unjudged_count + 1, sizeof *unjudged);
	if (!unjudged) {
		free(text);
		return -ENOMEM;
	}
	findings->unjudged = unjudged;
	findings->unjudged[findings->unjudged_count++] = text;
	return 0;
}
