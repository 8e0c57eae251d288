// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of one process, reported: ledger, tables, findings, phases and the writers
// of text, JSON and Perfetto's format. Nothing in it drives a terminal. Symbols are left out: they
// are read from the files that a trace names.
#include "change_trace.h"

#include "export/export.h"
#include "report/run/report.h"
#include "tare_config.h"

#include <errno.h>
#include <string.h>

struct analysis {
	struct tare_view view;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
	struct tare_phases phases;
	struct tare_sites sites;
};

static void check_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		FUZZ_CHECK((byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t');
	}
}

static void write_text(const struct tare_report *run)
{
	for (int verbosity = -1; verbosity <= 1; verbosity += 2) {
		struct tare_text_options options = { .columns = 80, .verbosity = verbosity };
		char *text = NULL;
		size_t length = 0;
		FILE *file = open_memstream(&text, &length);
		FUZZ_CHECK(file && tare_report_run_text(run, &options, file, NULL) == 0);
		fclose(file);
		check_plain(text, length);
		free(text);
	}
}

static void write_others(const struct tare_report *run)
{
	struct tare_export_counts counts;
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	int status;

	FUZZ_CHECK(file);
	status = tare_report_run_json(run, file, NULL);
	FUZZ_CHECK(status == (TARE_HAVE_JSON ? 0 : -ENOSYS));
	FUZZ_CHECK(tare_export_perfetto(run->recording, run->view, NULL, file, &counts, NULL) == 0);
	fclose(file);
	free(text);
}

static void report(const struct tare_recording *r)
{
	struct analysis a = { .view = tare_view_all(r) };
	struct tare_error error = { 0 };

	FUZZ_CHECK(tare_ledgers_compute(r, &a.view, &a.ledgers, &error) == 0);
	FUZZ_CHECK(tare_tables_compute(r, &a.view, &a.ledgers, NULL, 0, &a.tables, &error) == 0);
	FUZZ_CHECK(tare_findings_find(r, &a.view, &a.ledgers, &a.tables, &a.findings, &error) == 0);
	FUZZ_CHECK(tare_phases_compute(r, &a.view, &a.phases, &error) == 0);
	const struct tare_report run = {
		.recording = r,
		.view = &a.view,
		.ledgers = &a.ledgers,
		.tables = &a.tables,
		.findings = &a.findings,
		.phases = &a.phases,
		.sites = &a.sites,
	};
	write_text(&run);
	write_others(&run);
	tare_phases_free(&a.phases);
	tare_findings_free(&a.findings);
	tare_tables_free(&a.tables);
	tare_ledgers_free(&a.ledgers);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	return fuzz_change_trace(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_recording *recording = NULL;
	struct tare_error error = { 0 };

	if (tare_recording_load(fuzz_file(data, size), &recording, &error) == 0)
		report(recording);
	tare_recording_free(recording);
	return 0;
}
