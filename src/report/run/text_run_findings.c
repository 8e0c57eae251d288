// SPDX-License-Identifier: Apache-2.0
// Findings: what to change, by what it costs, and what could not be judged.
#include "report/run/text_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COST 14 // columns of what a finding costs
// Ends of a range that are nearer than this part of it are one figure.
#define ONE_FIGURE 0.05

// ---- what it costs

// "2.4–2.9 s" where the estimates differ by a twentieth or more, else "2.61 s"; "at most 2.9 s"
// where it may cost nothing.
static const char *write_cost(const struct tare_finding *finding, char buffer[RUN_TEXT])
{
	double low_ns = (double)finding->cost_low_ns, high_ns = (double)finding->cost_high_ns;
	struct tare_report_unit unit = tare_report_unit_for(high_ns);
	char low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];

	if (high_ns - low_ns < ONE_FIGURE * high_ns)
		return tare_report_span(finding->cost_ns, buffer);
	tare_format_significant(high_ns / unit.ns, 2, high);
	if (low_ns < 0.005 * high_ns)
		snprintf(buffer, RUN_TEXT, "at most %s %s", high, unit.name);
	else
		snprintf(buffer, RUN_TEXT, "%s–%s %s",
		         tare_format_significant(low_ns / unit.ns, 2, low), high, unit.name);
	return buffer;
}

// " 1  2.4–2.9 s    ", and its columns.
static size_t write_lead(size_t rank, const struct tare_finding *finding, char lead[RUN_TEXT])
{
	char cost[RUN_TEXT];
	size_t width = tare_text_width(write_cost(finding, cost));

	snprintf(lead, RUN_TEXT, "%2zu  %.60s%*s", rank, cost,
	         width < COST ? (int)(COST - width) + 2 : 2, "");
	return tare_text_width(lead);
}

// Whether a range stands for it, and the estimate is not its upper end.
static bool has_estimate(const struct tare_finding *finding)
{
	double low_ns = (double)finding->cost_low_ns, high_ns = (double)finding->cost_high_ns;

	return high_ns - low_ns >= ONE_FIGURE * high_ns &&
	       (double)finding->cost_ns < (1 - ONE_FIGURE) * high_ns;
}

// A finding's confidence, where it is not sure, whether a model says so, and the estimate:
// " (likely, estimate 110 ms)".
static const char *write_doubt(const struct tare_finding *finding, char buffer[RUN_TEXT])
{
	static const char *const words[] = { [TARE_CONFIDENCE_SURE] = NULL,
		                             [TARE_CONFIDENCE_LIKELY] = "likely",
		                             [TARE_CONFIDENCE_POSSIBLE] = "possible" };
	const char *word = words[finding->confidence],
	           *model = finding->modelled ? "by a model" : NULL;
	char estimate[RUN_TEXT], ns[RUN_TEXT];
	const char *parts[] = { word, model, NULL };
	size_t length = 0;

	if (has_estimate(finding)) {
		snprintf(estimate, sizeof estimate, "estimate %.40s",
		         tare_report_span(finding->cost_ns, ns));
		parts[2] = estimate;
	}
	buffer[0] = '\0';
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i])
			length += (size_t)snprintf(buffer + length, RUN_TEXT - length, "%s%s",
			                           length ? ", " : " (", parts[i]);
	if (length)
		snprintf(buffer + length, RUN_TEXT - length, ")");
	return buffer;
}

// ---- where it was seen

// "step.c:214"; "" without recorded stacks.
static const char *site_of(const struct tare_report *run, const struct tare_finding_place *place)
{
	const char *site = run->symbols && place->stack < run->recording->stack_count
	                       ? tare_symbols_text(run->symbols, place->stack)
	                       : NULL;
	return site ? site : "";
}

// "step.c:214 (200 times). "; "" where nothing is known.
static void write_site(struct tare_text *text, const struct tare_report *run,
                       const struct tare_finding *finding, char buffer[RUN_TEXT])
{
	const char *site = finding->place_count > 0 ? site_of(run, &finding->places[0]) : "";
	char name[RUN_TEXT], count[RUN_TEXT];

	buffer[0] = '\0';
	if (!site[0])
		return;
	snprintf(buffer, RUN_TEXT, "%.200s (%.30s time%s). ", tare_report_cut(text, site, 48, name),
	         tare_report_count(finding->places[0].count, count),
	         tare_report_plural(finding->places[0].count));
}

// With -v: what it was, how often, and when the costliest of it was.
static void write_place(struct tare_text *text, const struct tare_report *run,
                        const struct tare_finding_place *place, size_t indent)
{
	const char *site = site_of(run, place), *what = tare_finding_what(run->recording, place);
	char lead[RUN_TEXT], where[RUN_TEXT], name[RUN_TEXT], at[RUN_TEXT], length[RUN_TEXT],
	    cost[RUN_TEXT], count[RUN_TEXT];

	snprintf(lead, sizeof lead, "%*s", (int)indent, "");
	tare_text_paragraph(
	    text, TARE_STYLE_FAINT, lead, indent + 2,
	    "- %s%s%s: %s time%s, %s; the costliest in the %s from %s on",
	    what[0] ? tare_report_cut(text, what, 40, name) : "somewhere", site[0] ? ", " : "",
	    tare_report_cut(text, site, 48, where), tare_report_count(place->count, count),
	    tare_report_plural(place->count), tare_report_span(place->cost_ns, cost),
	    tare_report_span(place->to_ns - place->from_ns, length),
	    tare_report_span(place->from_ns - run->recording->start_ns, at));
}

// ---- one finding

// "median_ns 12.3": the unit is in the name.
static void write_figures(struct tare_text *text, const struct tare_finding *finding, size_t indent)
{
	char lead[RUN_TEXT], number[TARE_UNIT_TEXT];

	snprintf(lead, sizeof lead, "%*s", (int)indent, "");
	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct tare_finding_figure *figure = &finding->figures[i];
		tare_text_paragraph(
		    text, TARE_STYLE_FAINT, lead, indent + 2, "%s %s (%s)", figure->name,
		    isfinite(figure->value) ? tare_format_significant(figure->value, 4, number)
		                            : "n/a",
		    figure->source);
	}
}

static void write_details(struct tare_text *text, const struct tare_report *run,
                          const struct tare_finding *finding, size_t indent)
{
	char lead[RUN_TEXT], shared[RUN_TEXT];

	snprintf(lead, sizeof lead, "%*s", (int)indent, "");
	tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, indent, "%s%s", finding->evidence,
	                    finding->evidence[0] ? "." : "");
	if (finding->shared_ns > 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, indent,
		                    "%s of its time is claimed above, too.",
		                    tare_report_span(finding->shared_ns, shared));
	write_figures(text, finding, indent);
	for (size_t i = 0; i < finding->place_count; i++)
		write_place(text, run, &finding->places[i], indent);
}

static void write_finding(struct tare_text *text, const struct tare_report *run, size_t rank,
                          const struct tare_finding *finding)
{
	char lead[RUN_TEXT], place[RUN_TEXT], device[RUN_TEXT], on[RUN_TEXT + 8] = "",
	                                                                      doubt[RUN_TEXT];
	size_t indent = write_lead(rank, finding, lead);

	write_site(text, run, finding, place);
	if (finding->device != TARE_NO_INDEX && tare_report_several_devices(run))
		snprintf(on, sizeof on, ", on %s",
		         tare_report_device_name(run->recording, finding->device, device,
		                                 sizeof device));
	tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, indent, "%s%s%s.", finding->title, on,
	                    write_doubt(finding, doubt));
	snprintf(lead, sizeof lead, "%*s", (int)indent, "");
	if (place[0] || finding->advice[0])
		tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, indent, "%s%s%s", place,
		                    finding->advice, finding->advice[0] ? "." : "");
	if (text->options->verbosity > 0)
		write_details(text, run, finding, indent);
}

// ---- all of them

static bool any_shared(const struct tare_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->at[i].shared_ns > 0)
			return true;
	return false;
}

// What is known of commands where none is: they may be elsewhere, or lost.
static const char *why_nothing(const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	const struct tare_view *view = run->view;

	if (view->spans || view->from_ns > recording->start_ns || view->to_ns < recording->end_ns ||
	    view->process != TARE_NO_INDEX || view->device != TARE_NO_INDEX || view->kernel)
		return "recorded in this part of the run";
	return recording->process_count == 0 || run->tables->coverage.lost_commands ? "recorded"
	                                                                            : "enqueued";
}

static void write_none(struct tare_text *text, const struct tare_report *run)
{
	if (run->tables->summary.bound == TARE_BOUND_NOTHING)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "none: no command was %s.",
		                    why_nothing(run));
	else if (run->findings->unjudged_count > 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1,
		                    "none of those that could be judged.");
	else
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1,
		                    "none: nothing that tare looks for costs enough to stand out "
		                    "from the noise.");
}

void tare_report_text_findings(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_findings *findings = run->findings;
	char together[RUN_TEXT];

	tare_report_heading(text, "What to change, by what it costs", "");
	if (findings->count == 0)
		write_none(text, run);
	for (size_t i = 0; i < findings->count; i++)
		write_finding(text, run, i + 1, &findings->at[i]);
	if (any_shared(findings))
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, " ", 1,
		    "Some of these claim the same time: counted once, they cost about %s "
		    "together.",
		    tare_report_span(findings->together_ns, together));
	for (size_t i = 0; i < findings->unjudged_count; i++)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "Not judged: %s.",
		                    findings->unjudged[i]);
}
