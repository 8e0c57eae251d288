// SPDX-License-Identifier: Apache-2.0
// The head of the report: what ran, how it was recorded, and what is wrong with the figures.
#include "report/run/text_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t count_threads(const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	uint64_t count = 0;

	for (size_t i = 0; i < recording->thread_count; i++)
		count += !recording->threads[i].helper &&
		         tare_view_has_process(run->view, recording->threads[i].process);
	return count;
}

static uint64_t count_processes(const struct tare_report *run)
{
	uint64_t count = 0;

	for (size_t i = 0; i < run->recording->process_count; i++)
		count += tare_view_has_process(run->view, (uint32_t)i);
	return count;
}

static uint64_t count_devices(const struct tare_report *run)
{
	uint64_t count = 0;

	for (size_t i = 0; i < run->ledgers->count; i++)
		count += run->ledgers->ledgers[i].device != TARE_NO_INDEX;
	return count;
}

static const char *program_of(const struct tare_recording *recording)
{
	if (recording->program && recording->program[0])
		return recording->program;
	if (recording->process_count && recording->processes[0].command_line[0])
		return recording->processes[0].command_line;
	return recording->name;
}

static bool is_whole(const struct tare_report *run)
{
	return run->view->from_ns <= run->recording->start_ns &&
	       run->view->to_ns >= run->recording->end_ns;
}

// Whether all of the run's time is in the view.
static bool is_all(const struct tare_report *run)
{
	return is_whole(run) && !run->view->spans;
}

// "12.4 s wall, 1 process, 3 threads, 1 device"; RUN_TEXT bytes.
static void write_facts(const struct tare_report *run, char facts[RUN_TEXT])
{
	uint64_t processes = count_processes(run), threads = count_threads(run),
	         devices = count_devices(run);
	char wall[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];

	// Without any process and without a record of the run its length is not known.
	tare_format_ns(run->recording->process_count ||
	                       run->recording->end_ns > run->recording->start_ns
	                   ? (double)(run->recording->end_ns - run->recording->start_ns)
	                   : NAN,
	               all);
	snprintf(facts, RUN_TEXT, "%s%s%s wall, %llu process%s, %llu thread%s, %llu device%s",
	         is_all(run) ? "" : tare_format_ns((double)run->tables->summary.wall_ns, wall),
	         is_all(run) ? "" : " of ", all, (unsigned long long)processes,
	         processes == 1 ? "" : "es", (unsigned long long)threads,
	         tare_report_plural(threads), (unsigned long long)devices,
	         tare_report_plural(devices));
}

// The program at the left, the facts at the right where both fit, else below.
static void write_title(struct tare_text *text, const struct tare_report *run)
{
	char name[RUN_TEXT], facts[RUN_TEXT];
	size_t columns = text->options->columns, wide, gap;

	write_facts(run, facts);
	tare_report_cut(text, program_of(run->recording), columns < 150 ? columns : 150, name);
	wide = tare_text_width(name) + tare_text_width(facts);
	gap = wide < 34 ? 36 - wide : wide + 3 <= columns ? 3 : 0;
	if (tare_text_width(name) <= 32 && 33 + tare_text_width(facts) <= columns)
		gap = 33 - tare_text_width(name);
	if (gap) {
		tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s%*s%s", name, (int)gap, "",
		                    facts);
		return;
	}
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s", name);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "%s", facts);
}

static const char *name_signal(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? name : "?";
}

static void write_end(struct tare_text *text, const struct tare_recording *recording)
{
	if (recording->exit_signal)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "ended by signal %d (SIG%s)",
		                    recording->exit_signal, name_signal(recording->exit_signal));
	else if (recording->exit_status > 0)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "ended with exit status %d",
		                    recording->exit_status);
}

// "clock fit ±60 ns", of the worst device that has times.
static void write_clock(const struct tare_report *run, char words[RUN_TEXT])
{
	const struct tare_recording *recording = run->recording;
	int64_t worst = TARE_NO_TIME;
	bool causal = false;
	char number[RUN_TEXT];

	words[0] = '\0';
	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		if (device->clock_source == TARE_CLOCK_NONE || device->residual_ns <= worst ||
		    !tare_view_has_device(recording, run->view, (uint32_t)i))
			continue;
		worst = device->residual_ns;
		causal = device->clock_source == TARE_CLOCK_CAUSAL;
	}
	if (worst != TARE_NO_TIME)
		snprintf(words, RUN_TEXT, "; clock %s %.40s", causal ? "bounded to" : "fit",
		         tare_report_error(worst, number));
}

static void write_recording(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	// What was lost is said as a problem.
	uint64_t recorded = coverage->enqueued - coverage->lost_commands;
	char count[RUN_TEXT], timed[RUN_TEXT], clock[RUN_TEXT], cost[RUN_TEXT];

	if (run->recording->process_count == 0)
		return;
	tare_report_count(recorded, count);
	if (recorded == 0)
		snprintf(timed, sizeof timed, "%s", "");
	else if (coverage->completed == recorded)
		snprintf(timed, sizeof timed, ", all timed");
	else if (coverage->completed == 0)
		snprintf(timed, sizeof timed, ", none timed");
	else {
		tare_report_count(coverage->completed, cost);
		snprintf(timed, sizeof timed, ", %.40s timed", cost);
	}
	write_clock(run, clock);
	tare_report_cost_share(run, cost);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1,
	                    "recorded %s command%s%s%s; recording cost %s", count,
	                    tare_report_plural(recorded), timed, clock, cost);
}

// "12.4 s" of `ns` since the start of the run.
static const char *moment(const struct tare_recording *recording, int64_t ns,
                          char text[TARE_UNIT_TEXT])
{
	return tare_format_ns((double)(ns - recording->start_ns), text);
}

static void write_choice(struct tare_text *text, const struct tare_report *run)
{
	char name[RUN_TEXT];

	if (!run->choice || !run->choice[0] || text->options->verbosity < 0)
		return;
	tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "trace %s, %s",
	                    tare_report_cut(text, run->recording->path, 100, name), run->choice);
}

static const char *comma(FILE *file)
{
	return ftell(file) > 0 ? ", " : "";
}

static void write_view(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_view *view = run->view;
	const struct tare_recording *recording = run->recording;
	char from[TARE_UNIT_TEXT], to[TARE_UNIT_TEXT], name[RUN_TEXT], count[RUN_TEXT];
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	if (!is_whole(run))
		fprintf(file, "%sfrom %s to %s of the run", comma(file),
		        moment(recording, view->from_ns, from), moment(recording, view->to_ns, to));
	if (view->process < recording->process_count)
		fprintf(file, "%sprocess %u (%llu)", comma(file), view->process,
		        (unsigned long long)recording->processes[view->process].pid);
	if (view->device < recording->device_count)
		fprintf(file, "%s%s", comma(file),
		        tare_report_device_name(recording, view->device, name, sizeof name));
	if (view->kernel)
		fprintf(file, "%skernels %s", comma(file),
		        tare_report_cut(text, view->kernel, 60, name));
	if (view->phase)
		fprintf(file, "%sphase %s (%s part%s of the run)", comma(file),
		        tare_report_cut(text, view->phase, 60, name),
		        tare_report_count(view->span_count, count),
		        tare_report_plural(view->span_count));
	tare_text_gathered(text, TARE_STYLE_PLAIN, " only ", 1);
}

static void write_summary(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recorded_summary *summary = &run->tables->summary;
	char cpu[TARE_UNIT_TEXT], device[RUN_TEXT], launch[TARE_UNIT_TEXT], mean[TARE_UNIT_TEXT];
	char launches[128] = "", cpus[64] = "CPU use n/a", devices[64] = "device use n/a";

	if (run->recording->process_count == 0)
		return;
	if (isfinite(summary->mean_launch_ns))
		snprintf(launches, sizeof launches, "; %s inside enqueues, %s each",
		         tare_format_ns((double)summary->launch_ns, launch),
		         tare_format_ns(summary->mean_launch_ns, mean));
	if (isfinite(summary->cpu_utilisation))
		snprintf(cpus, sizeof cpus, "%s CPUs busy on average",
		         tare_format_significant(summary->cpu_utilisation, 2, cpu));
	if (isfinite(summary->device_utilisation) && !tare_report_nothing_timed(run))
		snprintf(devices, sizeof devices, "%s busy %.20s of the time",
		         tare_report_several_devices(run) ? "a device" : "device",
		         tare_report_percent(summary->device_utilisation, device));
	tare_text_paragraph(text, TARE_STYLE_PLAIN, " ", 1, "%s; %s%s", cpus, devices, launches);
}

void tare_report_text_head(struct tare_text *text, const struct tare_report *run,
                           const struct tare_report_problems *problems)
{
	write_title(text, run);

	write_end(text, run->recording);
	write_recording(text, run);
	write_summary(text, run);
	write_choice(text, run);
	write_view(text, run);
	for (size_t i = 0; i < problems->count; i++)
		if (problems->at[i].figures)
			tare_text_paragraph(text, TARE_STYLE_WARNING, " ! ", 3, "%s",
			                    problems->at[i].text);
}
