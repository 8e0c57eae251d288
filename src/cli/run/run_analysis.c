// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run_analysis.h"

#include "analysis/whatif/whatif.h"
#include "cli/run/report_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// What findings will ask of the ledger, so that one sweep along the time answers all of it. Spans
// are shared where there is one device.
static int find_asked(const struct tare_recording *recording, const struct tare_view *view,
                      struct tare_ledger_asked *asked, struct tare_error *error)
{
	int code = tare_working_part(recording, view, &asked->part);

	if (!code && recording->queue_count > 0 && recording->queues[0].device != TARE_NO_INDEX)
		code = tare_whatif_spans(recording, view,
		                         recording->devices[recording->queues[0].device].same_as,
		                         asked->spans, &asked->span_count);
	return code ? tare_fail(error, ENOMEM, "no memory left") : 0;
}

static void say(struct tare_progress *progress, const char *what)
{
	if (progress)
		tare_progress_update(progress, what, 0, 0, -1);
}

static int compute(const struct tare_recording *recording, struct tare_progress *progress,
                   struct tare_analysis *a, bool findings, struct tare_error *error)
{
	const struct tare_view *view = &a->view;
	struct tare_ledger_asked asked = { 0 };
	struct tare_tables_begun *begun = NULL;
	int status = tare_report_ceilings_find(recording, &a->ceilings, error);

	say(progress, "tables");
	if (status == 0)
		status = tare_tables_begin(recording, view, a->ceilings.at, a->ceilings.count,
		                           &begun, error);
	say(progress, "where the time went");
	if (status == 0 && findings)
		status = find_asked(recording, view, &asked, error);
	status = status ?: tare_ledgers_compute_with(recording, view, &asked, &a->ledgers, error);
	say(progress, "tables");
	if (status == 0)
		status = tare_tables_finish(begun, &a->ledgers, &a->tables, error);
	else
		tare_tables_finish(begun, NULL, NULL, error);
	say(progress, "what to change");
	const struct tare_findings_known known = { a->ceilings.launches, a->ceilings.launch_count };
	if (status == 0 && findings)
		status = tare_findings_find_knowing(recording, view, &a->ledgers, &a->tables,
		                                    &known, &a->findings, error);
	status = status ?: tare_phases_compute(recording, view, &a->phases, error);
	if (status == 0 && recording->stack_count > 0)
		status = tare_symbols_open(recording, &a->symbols, error);
	if (status == 0 && recording->stack_count > 0)
		status =
		    tare_sites_compute(recording, view, &a->ledgers, a->symbols, &a->sites, error);
	return status;
}

int tare_analyse(const struct tare_settings *settings, const struct tare_recording *recording,
                 struct tare_progress *progress, struct tare_analysis *analysis,
                 struct tare_error *error)
{
	int status;

	memset(analysis, 0, sizeof *analysis);
	status =
	    tare_report_view_parse(settings, recording, &analysis->view, &analysis->spans, error);
	if (status != TARE_EXIT_OK)
		return status;
	return compute(recording, progress, analysis, true, error) < 0 ? TARE_EXIT_FAILED
	                                                               : TARE_EXIT_OK;
}

int tare_analyse_tables(const struct tare_recording *recording, struct tare_analysis *analysis,
                        struct tare_error *error)
{
	return compute(recording, NULL, analysis, false, error) < 0 ? TARE_EXIT_FAILED
	                                                            : TARE_EXIT_OK;
}

void tare_analysis_free(struct tare_analysis *analysis)
{
	tare_sites_free(&analysis->sites);
	tare_symbols_free(analysis->symbols);
	tare_phases_free(&analysis->phases);
	tare_findings_free(&analysis->findings);
	tare_tables_free(&analysis->tables);
	tare_ledgers_free(&analysis->ledgers);
	tare_report_ceilings_free(&analysis->ceilings);
	free(analysis->spans);
}

struct tare_report tare_analysis_report(const struct tare_analysis *analysis,
                                        const struct tare_recording *recording, const char *choice)
{
	return (struct tare_report){
		.recording = recording,
		.view = &analysis->view,
		.ledgers = &analysis->ledgers,
		.tables = &analysis->tables,
		.findings = &analysis->findings,
		.phases = &analysis->phases,
		.sites = &analysis->sites,
		.symbols = analysis->symbols,
		.choice = choice,
	};
}
