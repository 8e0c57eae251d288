// SPDX-License-Identifier: Apache-2.0
#include "report/run/tables.h"

#include "report/core/ledger.h"
#include "report/core/words.h"
#include "report/tables/values.h"
#include "tare_config.h"

#define KNOWN_NS(ns) tare_if((ns) != TARE_NO_TIME, tare_integer(ns), TARE_NOT_KNOWN)
#define KNOWN_INDEX(index) tare_if((index) != TARE_NO_INDEX, tare_unsigned(index), TARE_NOT_KNOWN)

// ---- words

static const char *const formats[] = { TARE_REPORT_FORMAT, NULL };
static const char *const tools[] = { "tare", NULL };
static const char *const other_apis[] = { "cuda", "levelzero", "hip", "vulkan", NULL };
static const char *const seen[] = { TARE_OTHER_LOADED, TARE_OTHER_LINKED, NULL };
static const char *const part_names[] = { "start_up", "working", "tear_down", NULL };
static const char *const no_commands[] = { "none_enqueued",     "other_api",     "not_recorded",
	                                   "recording_stopped", "trace_damaged", NULL };
static const char *const scopes[] = { "device", "union", NULL };
static const char *const sources[] = { "measured", "model", NULL };
static const char *const confidences[] = { "sure", "likely", "possible", NULL };
static const char *const figure_sources[] = { "device timestamp", "host clock", "model", "counted",
	                                      NULL };
static const char *const cost_sources[] = { "own_code", "calibration", "unrecorded_runs", NULL };
static const char *const clock_sources[] = { "none", "same", "pairs", "causal", NULL };
static const char *const reasons[] = { "pending",     "refused",  "failed",    "abandoned",
	                               "no_room",     "reused",   "not_asked", "unusable",
	                               "not_sampled", "unlisted", NULL };

// ---- what is in the report

static bool was_seen(const void *others, const void *use)
{
	(void)others;
	return ((const struct tare_other_use *)use)->seen;
}

#define SOURCE struct tare_other_uses
#define SOURCE_NAME others
#define ROW struct tare_other_use
#define TABLE others
#define COLUMNS "report/run/tables/others.def"
#include "table/declare.h"
TARE_ROWS(others, "other_apis", "Other APIs", "an API", TARE_OTHER_APIS, others->of,
          .keep = was_seen);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_report_problems
#define SOURCE_NAME problems
#define ROW struct tare_report_problem
#define TABLE problems
#define COLUMNS "report/run/tables/problems.def"
#include "table/declare.h"
TARE_ROWS(problems, "problems", "Problems", "a problem", problems->count, problems->at);
#undef SOURCE
#undef SOURCE_NAME

static bool has_time(const void *part, const void *ns)
{
	(void)part;
	return *(const int64_t *)ns != 0;
}

#define SOURCE struct tare_recording_part
#define SOURCE_NAME part
#define ROW int64_t
#define TABLE went_into
#define COLUMNS "report/run/tables/went_into.def"
#include "table/declare.h"
TARE_ROWS(went_into, "went_into", "What a part went into", "a category", TARE_LEDGER_CATEGORIES,
          part->parts_ns, .keep = has_time);
#undef SOURCE
#undef SOURCE_NAME

static double part_share(const struct tare_report *run, const struct tare_recording_part *part)
{
	return (double)(part->to_ns - part->from_ns) / (double)run->tables->summary.wall_ns;
}

static bool part_cell(const struct tare_cell_text *cell)
{
	const struct tare_recording_part *part = cell->row;

	tare_report_part(part->to_ns - part->from_ns,
	                 ((const struct tare_report *)cell->source)->tables->summary.wall_ns,
	                 cell->text);
	return true;
}

static const char *const part_titles[TARE_PARTS] = { "start-up", "working part", "tear-down" };
#define PART ((enum tare_recording_part_of)(row - run->tables->summary.parts))
#define SOURCE struct tare_report
#define SOURCE_NAME run
#define ROW struct tare_recording_part
#define TABLE parts
#define COLUMNS "report/run/tables/parts.def"
#include "table/declare.h"
TARE_TABLE(, tare_run_parts_table, "run_parts", "Parts of the run", "a part of the run", NULL,
           struct tare_report, run, run->tables->summary.has_parts ? TARE_PARTS : 0,
           &run->tables->summary.parts[index], parts_columns);

#define ROW struct tare_ledger
#define TABLE ledgers
#define COLUMNS "report/run/tables/ledgers.def"
#include "table/declare.h"
TARE_ROWS(ledgers, "ledgers", "Where the time went", "a device, or all together",
          tare_report_devices_known(run) ? run->ledgers->count : 0, run->ledgers->ledgers);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_recorded_summary
#define SOURCE_NAME summary
#define ROW int64_t
#define TABLE bounds
#define COLUMNS "report/run/tables/bounds.def"
#include "table/declare.h"
TARE_ROWS(bounds, "bounds", "Bounds", "a bound", TARE_BOUND_COUNT, summary->bound_ns);
#undef SOURCE
#undef SOURCE_NAME

// ---- findings

static int64_t claims_of(const struct tare_finding *finding)
{
	int64_t claims_ns = 0;

	for (size_t i = 0; i < finding->claim_count; i++)
		claims_ns += finding->claims[i].to_ns - finding->claims[i].from_ns;
	return claims_ns;
}

static const char *site_of(const struct tare_report *run, const struct tare_finding_place *place)
{
	return run->symbols && place->stack < run->recording->stack_count
	           ? tare_symbols_text(run->symbols, place->stack)
	           : NULL;
}

#define SOURCE struct tare_finding
#define SOURCE_NAME finding
#define ROW struct tare_finding_figure
#define TABLE figures
#define COLUMNS "report/run/tables/figures.def"
#include "table/declare.h"
TARE_ROWS(figures, "finding_figures", "Figures of a finding", "a figure", finding->figure_count,
          finding->figures);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_report_finding
#define SOURCE_NAME finding
#define ROW struct tare_finding_place
#define TABLE places
#define COLUMNS "report/run/tables/places.def"
#include "table/declare.h"
TARE_ROWS(places, "finding_places", "Places of a finding", "a place", finding->of->place_count,
          finding->of->places);
#undef SOURCE
#undef SOURCE_NAME

#define FINDING row->of
#define SOURCE struct tare_report_document
#define SOURCE_NAME document
#define ROW struct tare_report_finding
#define TABLE findings
#define COLUMNS "report/run/tables/findings.def"
#include "table/declare.h"
TARE_ROWS(findings, "findings", "What to change", "a finding", document->run->findings->count,
          document->findings);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_findings
#define SOURCE_NAME findings
#define ROW char *const
#define TABLE unjudged
#define COLUMNS "report/run/tables/unjudged.def"
#include "table/declare.h"
TARE_ROWS(unjudged, "unjudged", "What could not be judged", "a sentence", findings->unjudged_count,
          findings->unjudged);
#undef SOURCE
#undef SOURCE_NAME

// ---- how it was recorded

#define SOURCE struct tare_coverage
#define SOURCE_NAME coverage
#define ROW uint64_t
#define TABLE reasons
#define COLUMNS "report/run/tables/reasons.def"
#include "table/declare.h"
TARE_ROWS(reasons, "unobserved_by", "Why commands have no times", "a reason",
          TARE_UNOBSERVED_REASONS, coverage->unobserved_by);
#undef SOURCE
#undef SOURCE_NAME

static bool change_in_view(const void *run, const void *change)
{
	return tare_view_has_process(((const struct tare_report *)run)->view,
	                             ((const struct tare_recorded_change *)change)->process);
}

static bool variable_in_view(const void *run, const void *variable)
{
	return tare_view_has_process(((const struct tare_report *)run)->view,
	                             ((const struct tare_recorded_variable *)variable)->process);
}

static bool device_in_view(const void *source, const void *row)
{
	const struct tare_report *run = source;
	const struct tare_recorded_device *device = row;

	return tare_view_has_process(run->view, device->process) &&
	       tare_view_has_device(run->recording, run->view,
	                            (uint32_t)(device - run->recording->devices));
}

#define INDEX ((uint32_t)(row - run->recording->devices))
#define SOURCE struct tare_report
#define SOURCE_NAME run
#define ROW struct tare_recorded_change
#define TABLE changes
#define COLUMNS "report/run/tables/changes.def"
#include "table/declare.h"
TARE_ROWS(changes, "changes", "Changes", "a change", run->recording->change_count,
          run->recording->changes, .keep = change_in_view);

#define ROW struct tare_recorded_variable
#define TABLE environment
#define COLUMNS "report/run/tables/environment.def"
#include "table/declare.h"
TARE_ROWS(environment, "environment", "Environment", "a variable", run->recording->variable_count,
          run->recording->variables, .keep = variable_in_view);

#define ROW struct tare_recorded_device
#define TABLE clocks
#define COLUMNS "report/run/tables/clocks.def"
#include "table/declare.h"
TARE_ROWS(clocks, "clocks", "Clocks of devices", "a device's clock", run->recording->device_count,
          run->recording->devices, .keep = device_in_view);
#undef SOURCE
#undef SOURCE_NAME

static int64_t worst_residual(const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	int64_t worst = TARE_NO_TIME;

	for (size_t i = 0; i < recording->process_count; i++)
		if (tare_view_has_process(run->view, (uint32_t)i) &&
		    recording->processes[i].host_residual_ns > worst)
			worst = recording->processes[i].host_residual_ns;
	return worst;
}

// ---- all of it

static const struct tare_column_group tool = { "tool", NULL, NULL, "what wrote it" };
static const struct tare_column_group trace = { "trace", NULL, NULL, "the recording" };
static const struct tare_column_group view = { "view", NULL, NULL,
	                                       "the part of the run that the report is about" };
static const struct tare_column_group summary = { "summary", NULL, NULL, "the run in short" };
static const struct tare_column_group memory = { "memory", NULL, NULL,
	                                         "memory objects, by the sizes asked for" };
static const struct tare_column_group coverage = { "coverage", NULL, NULL,
	                                           "what was recorded, and what that cost" };
static const struct tare_column_group clock = { "clock", NULL, NULL, "the clocks" };

#define RUN row->run
#define RECORDING RUN->recording
#define SUMMARY (&RUN->tables->summary)
#define COVERAGE (&RUN->tables->coverage)
#define MEMORY (&RUN->tables->memory)
#define VIEW RUN->view
#define TIMED_SHARE(share)                                                                         \
	tare_if(!tare_report_nothing_timed(RUN), tare_number(share, TARE_NOT_KNOWN), TARE_NOT_TIMED)
#define SOURCE struct tare_report_document
#define SOURCE_NAME document
#define ROW struct tare_report_document
#define TABLE document
#define COLUMNS "report/run/tables/document.def"
#include "table/declare.h"
TARE_TABLE(, tare_report_document_table, "report", "The report of a run", "a run", NULL,
           struct tare_report_document, document, 1, document, document_columns);
