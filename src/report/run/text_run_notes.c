// SPDX-License-Identifier: Apache-2.0
// The end of the report: what the figures rest on. Coverage, changes, clocks, cost, processes.
#include "report/run/text_run.h"

#include "report/core/words.h"
#include "report/tables/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAD 12 // columns of the words at the left

static void write_coverage(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	char enqueued[RUN_TEXT], completed[RUN_TEXT], calls[RUN_TEXT], unobserved[RUN_TEXT];

	tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, " coverage   ", LEAD,
	    "%s enqueued, %s completed with device times, %s not observed; %s calls; %" PRIu64
	    " records dropped, %" PRIu64 " damaged windows",
	    tare_report_count(coverage->enqueued, enqueued),
	    tare_report_count(coverage->completed, completed),
	    tare_report_count(coverage->unobserved, unobserved),
	    tare_report_count(coverage->calls, calls), coverage->dropped,
	    coverage->damaged_windows);
}

// ---- changes

// "profiling was switched on for" 3 " queue"s "".
struct change_words {
	const char *before, *things, *after;
};

static const struct change_words *change_words(uint32_t change)
{
	static const struct change_words unknown = { "", " change",
		                                     " of a kind that this tare does not "
		                                     "know" };
	static const struct change_words words[] = {
		[TARE_CHANGE_PROFILING] = { "profiling was switched on for ", " queue", "" },
		[TARE_CHANGE_EVENT] = { "events were asked for in ", " queue",
		                        " where the program did not" },
		[TARE_CHANGE_EVENT_RETAINED] = { "events live a little longer in ", " queue", "" },
		[TARE_CHANGE_CALLBACK] = { "callbacks go through the recorder in ", " case", "" },
		[TARE_CHANGE_HELPER] = { "", " thread", " started by the recorder" },
		[TARE_CHANGE_FLAG] = { "a flag was added to ", " object", "" },
		[TARE_CHANGE_LOADER] = { "an OpenCL loader that knows layers was put in front in ",
		                         " case", "" },
		[TARE_CHANGE_CALIBRATION] = { "tare's own cost was measured in the program ",
		                              " time",
		                              ": queues of tare's own ran for some milliseconds, "
		                              "or a list was filled and not run" },
		[TARE_CHANGE_LISTS] = { "lists of tare's own ran behind ", " command list", "" },
		[TARE_CHANGE_DRIVER] = { "a library of tare's stood in the place of ", " driver",
		                         "" },
		[TARE_CHANGE_CUPTI] = { "the program's own calls of CUPTI, and of dlsym, which may "
		                        "ask for them, go through the recorder in ",
		                        " place", "" },
		[TARE_CHANGE_LEFT] = { "device times were left to the program's own tracing ",
		                       " time", "" },
		[TARE_CHANGE_FRONT] = { "a library of tare's stood in front of CUDA's driver in ",
		                        " case", "" },
		[TARE_CHANGE_COUNTERS] = { "metric queries and barriers stood around counted "
		                           "launches, and ZET_ENABLE_METRICS was 1, in ",
		                           " context", "" },
	};
	return change < sizeof words / sizeof *words && words[change].things ? &words[change]
	                                                                     : &unknown;
}

// All processes of the view together.
static void sum_changes(const struct tare_report *run, uint32_t change, uint64_t *count,
                        uint64_t *commands, uint64_t *device_ns)
{
	*count = *commands = *device_ns = 0;
	for (size_t i = 0; i < run->recording->change_count; i++) {
		const struct tare_recorded_change *made = &run->recording->changes[i];
		if (made->change != change || !tare_view_has_process(run->view, made->process))
			continue;
		*count += made->count;
		*commands += made->commands;
		*device_ns += made->device_ns;
	}
}

static void put_change(FILE *file, uint32_t change, uint64_t count, uint64_t commands,
                       uint64_t device_ns)
{
	const struct change_words *words = change_words(change);
	char figure[RUN_TEXT];

	fprintf(file, "%s%s%s%s%s", words->before, tare_report_count(count, figure), words->things,
	        tare_report_plural(count), words->after);
	if (commands && change == TARE_CHANGE_LISTS)
		fprintf(file, " (%s times, %.3f ms of the device)",
		        tare_report_count(commands, figure), (double)device_ns / 1e6);
	else if (commands)
		fprintf(file, " (%s commands)", tare_report_count(commands, figure));
}

static void write_changes(struct tare_text *text, const struct tare_report *run)
{
	const char *separator = "";
	FILE *file;

	if (run->recording->process_count == 0)
		return;
	file = tare_text_gather(text);
	if (!file)
		return;
	for (uint32_t change = TARE_CHANGE_PROFILING; change <= TARE_CHANGE_COUNTERS + 1;
	     change++) {
		uint64_t count, commands, device_ns;
		sum_changes(run, change, &count, &commands, &device_ns);
		if (count == 0)
			continue;
		fputs(separator, file);
		put_change(file, change, count, commands, device_ns);
		separator = "; ";
	}
	if (!separator[0])
		fputs("none in the program", file);
	tare_text_gathered(text, TARE_STYLE_PLAIN, " changes    ", LEAD);
}

// Of several processes each text once.
static bool is_said_before(const struct tare_report *run, size_t index)
{
	const struct tare_recorded_variable *variables = run->recording->variables;

	for (size_t i = 0; i < index; i++)
		if (tare_view_has_process(run->view, variables[i].process) &&
		    strcmp(variables[i].text, variables[index].text) == 0)
			return true;
	return false;
}

static void write_environment(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	for (size_t i = 0; i < recording->variable_count; i++)
		if (tare_view_has_process(run->view, recording->variables[i].process) &&
		    !is_said_before(run, i))
			fprintf(file, "%s%s", ftell(file) > 0 ? ", " : "",
			        recording->variables[i].text);
	tare_text_gathered(text, TARE_STYLE_PLAIN, " environ    ", LEAD);
}

// ---- clocks and cost

static void write_clocks(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	char name[RUN_TEXT], residual[RUN_TEXT], drift[64];
	const char *lead = " clocks     ";

	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		const char *source = tare_report_clock_title(device->clock_source);
		if (!tare_view_has_process(run->view, device->process) ||
		    !tare_view_has_device(recording, run->view, (uint32_t)i))
			continue;
		// Devices that were only looked at have no clock to speak of.
		if (device->clock_source == TARE_CLOCK_NONE && text->options->verbosity < 1)
			continue;
		drift[0] = '\0';
		if (device->clock_source == TARE_CLOCK_PAIRS && isfinite(device->drift_ppm))
			snprintf(drift, sizeof drift, ", the device's clock %s %.1f µs a second",
			         device->drift_ppm < 0 ? "loses" : "gains",
			         fabs(device->drift_ppm));
		tare_report_device_name(recording, (uint32_t)i, name, sizeof name);
		if (device->residual_ns == TARE_NO_TIME)
			tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, LEAD, "%s: %s", name,
			                    source ? source : "?");
		else
			tare_text_paragraph(
			    text, TARE_STYLE_PLAIN, lead, LEAD, "%s: %s (%" PRIu64 "), %s%s", name,
			    source ? source : "?", device->clock_pairs,
			    tare_report_error(device->residual_ns, residual), drift);
		lead = "            ";
	}
}

static void write_cost(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	char self[TARE_UNIT_TEXT], helper[RUN_TEXT], stalled[RUN_TEXT], waited[128] = "";
	char harvest[TARE_UNIT_TEXT], asked[128] = "", driver[RUN_TEXT], calibration[RUN_TEXT];
	char words[RUN_TEXT], hashing[RUN_TEXT], compared[RUN_TEXT + 40] = "";

	if (run->recording->process_count == 0)
		return;
	if (coverage->contents_ns)
		snprintf(compared, sizeof compared,
		         "; hashing what transfers carry took %s, measured",
		         tare_report_span(coverage->contents_ns, hashing));
	if (coverage->harvest_ns >= 1000)
		snprintf(asked, sizeof asked,
		         ", but for %.40s of it, measured: asking the driver for times",
		         tare_format_ns((double)coverage->harvest_ns, harvest));
	if (coverage->self_cost_ns != TARE_NO_TIME)
		snprintf(words, sizeof words,
		         "our own code about %s in the program's calls, by calibration%s",
		         tare_format_ns((double)coverage->self_cost_ns, self), asked);
	else
		snprintf(words, sizeof words,
		         "our own code in the program's calls is not calibrated");
	if (coverage->stalled_ns)
		snprintf(waited, sizeof waited, "; %.40s waiting for room",
		         tare_report_span(coverage->stalled_ns, stalled));
	tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, " recording  ", LEAD,
	    "%s; %s%s%s; %s of CPU time in the recorder's own threads%s%s", words,
	    tare_report_driver_cost(run, driver), waited, compared,
	    tare_report_span(coverage->helper_cpu_ns, helper),
	    coverage->once_ns ? "; beginning, measuring these costs and ending took " : "",
	    coverage->once_ns ? tare_report_span(coverage->once_ns, calibration) : "");
}

void tare_report_text_notes(struct tare_text *text, const struct tare_report *run,
                            const struct tare_report_problems *problems)
{
	tare_processes_text(text, run);

	tare_report_heading(text, "What the figures rest on", "");
	write_coverage(text, run);
	write_changes(text, run);
	write_environment(text, run);
	write_clocks(text, run);
	write_cost(text, run);
	for (size_t i = 0; i < problems->count; i++)
		if (!problems->at[i].figures)
			tare_text_paragraph(text, TARE_STYLE_PLAIN, " note       ", LEAD, "%s",
			                    problems->at[i].text);
}
