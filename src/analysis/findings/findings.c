// SPDX-License-Identifier: Apache-2.0
// Asks every rule, ranks what they raise and says which of them are about the same time.
#include "analysis/findings/contents.h"
#include "analysis/findings/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the table

static const struct finding_rule *rule_at(size_t row)
{
	if (row < finding_rule_work_count)
		return &finding_rules_work[row];
	row -= finding_rule_work_count;
	return row < finding_rule_transfer_count ? &finding_rules_transfers[row] : NULL;
}

const struct tare_finding_words *tare_finding_words(size_t row)
{
	const struct finding_rule *rule = rule_at(row);
	return rule ? &rule->words : NULL;
}

const char *tare_confidence_name(enum tare_confidence confidence)
{
	switch (confidence) {
	case TARE_CONFIDENCE_SURE:
		return "sure";
	case TARE_CONFIDENCE_LIKELY:
		return "likely";
	case TARE_CONFIDENCE_POSSIBLE:
		return "possible";
	}
	return "unknown";
}

// ---- ranks

static int compare_findings(const void *a, const void *b)
{
	const struct tare_finding *x = a, *y = b;
	// What may cost nothing is not above what was measured, however much it may be.
	if (x->cost_low_ns != y->cost_low_ns)
		return x->cost_low_ns > y->cost_low_ns ? -1 : 1;
	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	if (x->confidence != y->confidence)
		return x->confidence < y->confidence ? -1 : 1;
	int order = strcmp(x->id, y->id);
	return order ? order : (x->device > y->device) - (x->device < y->device);
}

static int64_t length_of(const struct tare_run_span *spans, size_t count)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < count; i++)
		sum_ns += spans[i].to_ns - spans[i].from_ns;
	return sum_ns;
}

// How much of `spans` lies in `others`; both in order and disjoint.
static int64_t shared_ns(const struct tare_run_span *spans, size_t count,
                         const struct tare_run_span *others, size_t other_count)
{
	int64_t sum_ns = 0;
	for (size_t i = 0, j = 0; i < count && j < other_count;) {
		int64_t from_ns =
		    spans[i].from_ns > others[j].from_ns ? spans[i].from_ns : others[j].from_ns;
		int64_t to_ns = spans[i].to_ns < others[j].to_ns ? spans[i].to_ns : others[j].to_ns;
		if (from_ns < to_ns)
			sum_ns += to_ns - from_ns;
		if (spans[i].to_ns < others[j].to_ns)
			i++;
		else
			j++;
	}
	return sum_ns;
}

// Of a cost the part that no finding of higher rank claims: it is taken to lie evenly in its
// claims.
static double own_cost_ns(const struct tare_finding *finding)
{
	int64_t claimed_ns = length_of(finding->claims, finding->claim_count);
	double own = claimed_ns > 0 ? 1 - (double)finding->shared_ns / (double)claimed_ns : 1;
	return (double)finding->cost_ns * own;
}

static int find_shared(struct tare_findings *findings)
{
	size_t total = 0, count = 0;
	double together_ns = 0;
	for (size_t i = 0; i < findings->count; i++)
		total += findings->at[i].claim_count;
	TARE_FREE struct tare_run_span *all = calloc(total + 1, sizeof *all);
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < findings->count; i++) {
		struct tare_finding *finding = &findings->at[i];
		finding->shared_ns = shared_ns(finding->claims, finding->claim_count, all, count);
		for (size_t j = 0; j < finding->claim_count; j++)
			all[count++] = finding->claims[j];
		count = tare_spans_unite(all, count);
		together_ns += own_cost_ns(finding);
	}
	findings->together_ns = llround(together_ns);
	return 0;
}

// ---- asking

// Findings that were not looked for, by their ids.
static int say_withheld(struct evaluation *evaluation)
{
	const struct finding_rule *rule;
	char names[600] = "";
	size_t at = 0;
	for (size_t row = 0; (rule = rule_at(row)) && at < sizeof names; row++)
		if (rule->needs == FINDING_NEEDS_TIMES)
			at += (size_t)snprintf(names + at, sizeof names - at, "%s%s",
			                       at ? ", " : "", rule->words.id);
	return finding_unjudged(
	    evaluation,
	    "%llu of %llu commands are not of the sample (--times), so that neither "
	    "the gaps between commands nor the sums of their times are known: %s",
	    (unsigned long long)evaluation->unsampled, (unsigned long long)evaluation->commands,
	    names);
}

// What is about the run around the working part may be said of a run that has none.
static bool has_what_it_needs(const struct evaluation *evaluation, const struct finding_rule *rule)
{
	return rule->needs == FINDING_NEEDS_RUN ||
	       (evaluation->commands > 0 && evaluation->working_ns > 0);
}

static int ask(struct evaluation *evaluation, struct tare_error *error)
{
	size_t untimed = 0;
	bool withheld = evaluation->unsampled > 0 && evaluation->timed > 0;
	const struct finding_rule *rule;
	for (size_t row = 0; (rule = rule_at(row)); row++) {
		int code = 0;
		if (evaluation->cost_drowns && rule->needs != FINDING_NEEDS_RUN)
			continue;
		if (evaluation->commands > 0 && rule->needs == FINDING_NEEDS_TIMES &&
		    evaluation->timed == 0)
			untimed++;
		else if (withheld && rule->needs == FINDING_NEEDS_TIMES)
			continue;
		else if (rule->evaluate && has_what_it_needs(evaluation, rule))
			code = rule->evaluate(evaluation, error);
		if (code)
			return code;
	}
	if (evaluation->cost_drowns)
		return 0;
	if (withheld)
		return say_withheld(evaluation);
	if (untimed == 0)
		return 0;
	const struct tare_coverage *coverage = &evaluation->tables->coverage;
	uint64_t unseen = coverage->unobserved_by[TARE_UNOBSERVED_PENDING] +
	                  coverage->unobserved_by[TARE_UNOBSERVED_ABANDONED];
	if (unseen > 0 && unseen == coverage->enqueued)
		return finding_unjudged(
		    evaluation,
		    "no command has device times, for none was seen complete: "
		    "%zu of the findings need them (the program waits for "
		    "nothing in a call of the API, or ended before; let it wait "
		    "for the last command, or release its queue)",
		    untimed);
	return finding_unjudged(evaluation,
	                        "no command has device times: %zu of the findings need them "
	                        "(record without --strict and --times none, on a device that "
	                        "profiles; CUDA with CUPTI)",
	                        untimed);
}

int tare_findings_find(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, const struct tare_tables *tables,
                       struct tare_findings *findings, struct tare_error *error)
{
	return tare_findings_find_knowing(recording, view, ledgers, tables, NULL, findings, error);
}

int tare_findings_find_knowing(const struct tare_recording *recording, const struct tare_view *view,
                               const struct tare_ledgers *ledgers, const struct tare_tables *tables,
                               const struct tare_findings_known *known,
                               struct tare_findings *findings, struct tare_error *error)
{
	struct evaluation evaluation;
	*findings = (struct tare_findings){ 0 };
	int code = evaluation_open(&evaluation, recording, view, ledgers, tables, findings);
	evaluation.known = known;
	if (!code)
		code = finding_leave_out_hashing(&evaluation);
	if (!code)
		code = ask(&evaluation, error);
	if (!code && findings->count > 0) {
		qsort(findings->at, findings->count, sizeof *findings->at, compare_findings);
		code = find_shared(findings);
	}
	evaluation_close(&evaluation);
	if (!code)
		return 0;
	tare_findings_free(findings);
	return tare_fail(error, ENOMEM,
	                 "no memory for the findings of %zu commands; "
	                 "--from and --to report a part of the run",
	                 recording->command_count);
}

void tare_findings_free(struct tare_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->at[i].title);
		free(findings->at[i].evidence);
		free(findings->at[i].advice);
		free(findings->at[i].claims);
	}
	for (size_t i = 0; i < findings->unjudged_count; i++)
		free(findings->unjudged[i]);
	free(findings->at);
	free(findings->unjudged);
	*findings = (struct tare_findings){ 0 };
}

const char *tare_finding_what(const struct tare_recording *recording,
                              const struct tare_finding_place *place)
{
	uint32_t function = TARE_NO_INDEX;

	if (place->command < recording->command_count) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, place->command);
		if (command->kind == TARE_KIND_KERNEL && command->object < recording->kernel_count)
			return recording->kernels[command->object].name;
		function = command->function;
	} else if (place->call < recording->call_count) {
		function = recording->calls[place->call].function;
	}
	return function < recording->function_count ? recording->functions[function].name : "";
}
