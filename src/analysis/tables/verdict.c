// SPDX-License-Identifier: Apache-2.0
// What bounds a run, by a rule that docs/report.md states, and the sentences that say so.
#include "analysis/tables/internal.h"

#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The largest part must lead the next one by this much of the working time.
#define MARGIN 0.05
// An enqueue rarely comes without a call that sets an argument: its time counts so many times when
// it is said whether a kernel is short.
#define WITH_ARGUMENTS 2
// What delays fewer commands is how the program and its device start up.
#define FEWEST_ISSUED 10
// What lies outside of the working part is worth a word from this part of it on.
#define WORTH_SAYING 0.01
// What shows in a figure of one decimal.
#define WORTH_NAMING 0.0005
#define SUBJECT 128

const char *tare_bound_name(enum tare_bound bound)
{
	static const char *const names[TARE_BOUND_COUNT] = {
		[TARE_BOUND_NOTHING] = "nothing",
		[TARE_BOUND_DEVICE] = "device",
		[TARE_BOUND_TRANSFER] = "transfer",
		[TARE_BOUND_LAUNCH] = "launch",
		[TARE_BOUND_HOST] = "host",
		[TARE_BOUND_SYNCHRONISATION] = "synchronisation",
		[TARE_BOUND_NOT_CLEAR] = "not_clear",
	};
	return (unsigned)bound < TARE_BOUND_COUNT ? names[bound] : "unknown";
}

// How commands are issued: kernels are short, and many or few, or they are not.
enum pace_kind { PACE_LONG, PACE_SHORT, PACE_START_UP };

static const enum tare_bound api_bounds[] = { [PACE_LONG] = TARE_BOUND_HOST,
	                                      [PACE_SHORT] = TARE_BOUND_LAUNCH,
	                                      [PACE_START_UP] = TARE_BOUND_HOST };
static const enum tare_bound handing_over_bounds[] = { [PACE_LONG] = TARE_BOUND_SYNCHRONISATION,
	                                               [PACE_SHORT] = TARE_BOUND_LAUNCH,
	                                               [PACE_START_UP] = TARE_BOUND_HOST };

// Whose fault a part of the time is.
static enum tare_bound bound_of(int category, enum pace_kind kind)
{
	switch (category) {
	case TARE_LEDGER_KERNEL:
	case TARE_LEDGER_LOCAL:
		return TARE_BOUND_DEVICE;
	case TARE_LEDGER_TO_DEVICE:
	case TARE_LEDGER_FROM_DEVICE:
	case TARE_LEDGER_BOTH_WAYS:
	case TARE_LEDGER_BLOCKING_COPY:
		return TARE_BOUND_TRANSFER;
	case TARE_LEDGER_API:
		return api_bounds[kind];
	case TARE_LEDGER_HELD:
	case TARE_LEDGER_DISPATCH:
		return handing_over_bounds[kind];
	case TARE_LEDGER_WAIT:
	case TARE_LEDGER_DEPENDENCY:
		return TARE_BOUND_SYNCHRONISATION;
	case TARE_LEDGER_BEFORE_FIRST:
	case TARE_LEDGER_BUILD:
	case TARE_LEDGER_LOAD:
	case TARE_LEDGER_ALLOCATE:
	case TARE_LEDGER_RELEASE:
	case TARE_LEDGER_QUERY:
	case TARE_LEDGER_COMPUTING:
	case TARE_LEDGER_OFF_CPU:
	case TARE_LEDGER_ENDED:
		return TARE_BOUND_HOST;
	default:
		return TARE_BOUND_NOT_CLEAR;
	}
}

static int64_t at_most(int64_t ns, int64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

static int64_t first_dispatch_ns(const struct tare_ledger *working, const struct tables_pace *pace)
{
	return at_most(pace->first_dispatch_ns, working->parts_ns[TARE_LEDGER_DISPATCH]);
}

static int64_t first_call_ns(const struct tare_ledger *working, const struct tables_pace *pace)
{
	return at_most(pace->first_call_ns, working->parts_ns[TARE_LEDGER_API]);
}

// What issuing one command costs: the call, so many times, and the device's wait for what was
// issued already. What holds a command for longer than its call and its dispatch take together is
// not its issuing: nobody has flushed, say.
static double issue_ns(const struct tare_ledger *working, const struct tables_pace *pace,
                       double times)
{
	double issued = (double)pace->issued;
	double dispatch_ns =
	    (double)(working->parts_ns[TARE_LEDGER_DISPATCH] - first_dispatch_ns(working, pace)) /
	    issued;
	double call_ns = times * (isnan(pace->median_call_ns) ? 0 : pace->median_call_ns);
	double held_ns = (double)working->parts_ns[TARE_LEDGER_HELD] / issued;
	return call_ns + dispatch_ns + fmin(held_ns, call_ns + dispatch_ns);
}

// Short is what runs for less than its issuing takes, however fast either is.
static enum pace_kind kind_of(const struct tare_ledger *working, const struct tables_pace *pace)
{
	if (pace->issued == 0 || !(pace->median_run_ns < issue_ns(working, pace, WITH_ARGUMENTS)))
		return PACE_LONG;
	return pace->issued < FEWEST_ISSUED ? PACE_START_UP : PACE_SHORT;
}

// What passes before first launches is the driver's work on the host.
static void sum_bounds(const struct tare_ledger *working, const struct tables_pace *pace,
                       int64_t *bound_ns)
{
	enum pace_kind kind = kind_of(working, pace);
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		bound_ns[bound_of(i, kind)] += working->parts_ns[i];
	bound_ns[bound_of(TARE_LEDGER_DISPATCH, kind)] -= first_dispatch_ns(working, pace);
	bound_ns[bound_of(TARE_LEDGER_API, kind)] -= first_call_ns(working, pace);
	bound_ns[TARE_BOUND_HOST] +=
	    first_dispatch_ns(working, pace) + first_call_ns(working, pace);
}

static enum tare_bound largest_but(const int64_t *bound_ns, enum tare_bound but)
{
	enum tare_bound largest =
	    but == TARE_BOUND_DEVICE ? TARE_BOUND_TRANSFER : TARE_BOUND_DEVICE;
	for (enum tare_bound i = TARE_BOUND_DEVICE; i < TARE_BOUND_NOT_CLEAR; i++)
		if (i != but && bound_ns[i] > bound_ns[largest])
			largest = i;
	return largest;
}

// ---- words

__attribute__((format(printf, 3, 4))) static void say(char *text, size_t bytes, const char *format,
                                                      ...)
{
	size_t length = strlen(text);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text + length, bytes - length, format, arguments);
	va_end(arguments);
}

static double percent(int64_t part_ns, const struct tare_ledger *working)
{
	return 100 * (double)part_ns / (double)working->wall_ns;
}

static const char *device_words(const struct tare_ledger *working)
{
	if (working->parts_ns[TARE_LEDGER_LOCAL] == 0)
		return "kernels";
	return working->parts_ns[TARE_LEDGER_KERNEL] == 0 ? "local copies"
	                                                  : "kernels and local copies";
}

// What a blocking call takes beside the copy is the transfer's, and no transfer.
static const char *transfer_words(const struct tare_ledger *working)
{
	return (double)working->parts_ns[TARE_LEDGER_BLOCKING_COPY] <
	               WORTH_NAMING * (double)working->wall_ns
	           ? "transfers not hidden"
	           : "transfers not hidden and calls that block for them";
}

static const char *part_words(const struct tare_ledger *working, enum tare_bound bound)
{
	static const char *const words[TARE_BOUND_COUNT] = {
		[TARE_BOUND_NOTHING] = "",
		[TARE_BOUND_LAUNCH] = "issuing commands",
		[TARE_BOUND_HOST] = "the host",
		[TARE_BOUND_SYNCHRONISATION] = "synchronisation",
		[TARE_BOUND_NOT_CLEAR] = "not known",
	};
	if (bound == TARE_BOUND_TRANSFER)
		return transfer_words(working);
	return bound == TARE_BOUND_DEVICE ? device_words(working) : words[bound];
}

static const char *because(const struct tare_ledger *working, const struct tables_pace *pace,
                           const struct tare_recorded_summary *summary)
{
	int64_t first_ns = first_dispatch_ns(working, pace) + first_call_ns(working, pace);
	switch (summary->bound) {
	case TARE_BOUND_DEVICE:
		return "the device works on";
	case TARE_BOUND_TRANSFER:
		return "the device waits for data";
	case TARE_BOUND_LAUNCH:
		return "the device waits for short commands to be issued";
	case TARE_BOUND_HOST:
		return first_ns > summary->bound_ns[TARE_BOUND_HOST] / 2
		           ? "the device waits for the host, mostly at first launches of kernels,"
		           : "the device waits for what the program does on the host";
	default:
		return "the device idles while host and device wait for each other";
	}
}

static int64_t length_of(const struct tare_recording_part *part)
{
	return part->to_ns - part->from_ns;
}

// "31.1 s" and "mostly building programs", where one thing takes more than half of the part.
static void say_outer_part(struct tare_recorded_summary *summary, const char *before,
                           enum tare_recording_part_of which)
{
	const struct tare_recording_part *part = &summary->parts[which];
	char ns[TARE_UNIT_TEXT];
	int most = 0;
	for (int i = 1; i < TARE_LEDGER_CATEGORIES; i++)
		if (part->parts_ns[i] > part->parts_ns[most])
			most = i;
	say(summary->verdict, sizeof summary->verdict, "%s%s", before,
	    tare_format_ns((double)length_of(part), ns));
	if (part->parts_ns[most] > length_of(part) / 2)
		say(summary->verdict, sizeof summary->verdict, ", mostly %s",
		    tare_recording_part_words(part, (enum tare_ledger_category)most));
}

static bool is_worth_saying(const struct tare_recorded_summary *summary,
                            enum tare_recording_part_of part)
{
	return (double)length_of(&summary->parts[part]) >= WORTH_SAYING * (double)summary->wall_ns;
}

// Start-up or tear-down that takes more than half of the run is said first; TARE_PARTS: neither.
static enum tare_recording_part_of leading_part(const struct tare_recorded_summary *summary)
{
	if (!summary->has_parts)
		return TARE_PARTS;
	for (enum tare_recording_part_of part = 0; part < TARE_PARTS; part++)
		if (part != TARE_PART_WORKING &&
		    length_of(&summary->parts[part]) > summary->wall_ns / 2)
			return part;
	return TARE_PARTS;
}

static const char *const part_titles[TARE_PARTS] = { [TARE_PART_START_UP] = "Start-up",
	                                             [TARE_PART_WORKING] = "The working part",
	                                             [TARE_PART_TEAR_DOWN] = "Tear-down" };

static void say_leading_part(struct tare_recorded_summary *summary,
                             enum tare_recording_part_of leading)
{
	char share[64], wall[TARE_UNIT_TEXT];
	if (leading == TARE_PARTS)
		return;
	snprintf(share, sizeof share, "%s takes %.1f %% of this run (%s): ", part_titles[leading],
	         100 * (double)length_of(&summary->parts[leading]) / (double)summary->wall_ns,
	         tare_format_ns((double)summary->wall_ns, wall));
	say_outer_part(summary, share, leading);
	say(summary->verdict, sizeof summary->verdict, ". ");
}

// What the parts took that the verdict is not about.
static void say_others(struct tare_recorded_summary *summary, enum tare_recording_part_of leading)
{
	const char *before = "; start-up took ";
	if (!summary->has_parts)
		return;
	if (leading != TARE_PART_START_UP && is_worth_saying(summary, TARE_PART_START_UP)) {
		say_outer_part(summary, before, TARE_PART_START_UP);
		before = ", tear-down ";
	} else {
		before = "; tear-down took ";
	}
	if (leading != TARE_PART_TEAR_DOWN && is_worth_saying(summary, TARE_PART_TEAR_DOWN))
		say_outer_part(summary, before, TARE_PART_TEAR_DOWN);
}

// What is judged: "this run", "the working part of this run, 1.46 s of 33.7 s,", or where another
// part was said first "its working part, 1.46 s,".
static void say_subject(const struct tables_pace *pace, const struct tare_recorded_summary *summary,
                        enum tare_recording_part_of leading, char subject[SUBJECT])
{
	char part[TARE_UNIT_TEXT], wall[TARE_UNIT_TEXT];
	if (!summary->has_parts)
		snprintf(subject, SUBJECT, "this %s", pace->phase ? "phase" : "run");
	else if (leading != TARE_PARTS)
		snprintf(
		    subject, SUBJECT, "its working part, %s,",
		    tare_format_ns((double)length_of(&summary->parts[TARE_PART_WORKING]), part));
	else
		snprintf(
		    subject, SUBJECT, "the working part of this run, %s of %s,",
		    tare_format_ns((double)length_of(&summary->parts[TARE_PART_WORKING]), part),
		    tare_format_ns((double)summary->wall_ns, wall));
}

static void say_verdict(const struct tare_ledger *working, const struct tables_pace *pace,
                        enum tare_bound second, enum tare_bound largest,
                        struct tare_recorded_summary *summary)
{
	bool whole = pace->outside_before_ns + pace->outside_after_ns == 0;
	const char *time = summary->has_parts ? "it" : whole ? "the time" : "its working part";
	enum tare_recording_part_of leading = leading_part(summary);
	char *text = summary->verdict, subject[SUBJECT];
	size_t bytes = sizeof summary->verdict, begin;
	say_subject(pace, summary, leading, subject);
	say_leading_part(summary, leading);
	begin = strlen(text);
	if (summary->bound == TARE_BOUND_NOT_CLEAR) {
		// Before the colon the subject ends without its comma.
		size_t length = strlen(subject);
		if (subject[length - 1] == ',')
			subject[length - 1] = '\0';
		say(text, bytes, "It is not clear what bounds %s: %s %.1f %%, %s %.1f %% of %s",
		    subject, part_words(working, largest),
		    percent(summary->bound_ns[largest], working), part_words(working, second),
		    percent(summary->bound_ns[second], working), time);
	} else {
		say(text, bytes, "%s is %s-bound: %s%s%s %.1f %% of %s", subject,
		    tare_bound_name(summary->bound), because(working, pace, summary),
		    summary->bound == TARE_BOUND_DEVICE ? " " : "",
		    summary->bound == TARE_BOUND_DEVICE ? device_words(working) : "",
		    percent(summary->bound_ns[summary->bound], working), time);
		text[begin] = (char)toupper((unsigned char)text[begin]);
	}
	say_others(summary, leading);
}

static void say_parts(const struct tare_ledger *working, struct tare_recorded_summary *summary)
{
	char *text = summary->evidence;
	const char *comma = "";
	for (int i = TARE_BOUND_DEVICE; i < TARE_BOUND_COUNT; i++) {
		if (summary->bound_ns[i] == 0)
			continue;
		say(text, sizeof summary->evidence, "%s%s %.1f %%", comma,
		    part_words(working, (enum tare_bound)i),
		    percent(summary->bound_ns[i], working));
		comma = ", ";
	}
}

static void say_pace(const struct tare_ledger *working, const struct tables_pace *pace,
                     struct tare_recorded_summary *summary)
{
	char run[TARE_UNIT_TEXT], issue[TARE_UNIT_TEXT];
	if (pace->issued == 0 || summary->bound != TARE_BOUND_LAUNCH)
		return;
	say(summary->evidence, sizeof summary->evidence,
	    "; the median %s runs for %s, issuing one takes %s",
	    pace->kernels ? "kernel" : "command", tare_format_ns(pace->median_run_ns, run),
	    tare_format_ns(issue_ns(working, pace, 1), issue));
}

static void say_start_up(const struct tare_ledger *working, const struct tables_pace *pace,
                         struct tare_recorded_summary *summary)
{
	if (kind_of(working, pace) == PACE_START_UP)
		say(summary->evidence, sizeof summary->evidence,
		    "; the host's part includes what it takes to issue %llu short %s%s: so few are "
		    "start-up",
		    (unsigned long long)pace->issued, pace->kernels ? "kernel" : "command",
		    pace->issued == 1 ? "" : "s");
}

static void say_first_launches(const struct tare_ledger *working, const struct tables_pace *pace,
                               struct tare_recorded_summary *summary)
{
	int64_t first_ns = first_dispatch_ns(working, pace) + first_call_ns(working, pace);
	if ((double)first_ns < WORTH_SAYING * (double)working->wall_ns || first_ns == 0)
		return;
	say(summary->evidence, sizeof summary->evidence,
	    "; the host's part includes first launches of %llu kernel%s, when many drivers "
	    "compile: "
	    "%.1f %%",
	    (unsigned long long)pace->first_launches, pace->first_launches == 1 ? "" : "s",
	    percent(first_ns, working));
}

static void say_outside(const struct tare_ledger *working, const struct tables_pace *pace,
                        struct tare_recorded_summary *summary)
{
	char part[TARE_UNIT_TEXT], before[TARE_UNIT_TEXT], after[TARE_UNIT_TEXT];
	int64_t outside_ns = pace->outside_before_ns + pace->outside_after_ns;
	// With parts the verdict says it.
	if (summary->has_parts || (double)outside_ns < WORTH_SAYING * (double)working->wall_ns ||
	    outside_ns == 0)
		return;
	say(summary->evidence, sizeof summary->evidence,
	    "; of the %s from the first enqueue to the last completion: %s before and %s after "
	    "are not judged",
	    tare_format_ns((double)working->wall_ns, part),
	    tare_format_ns((double)pace->outside_before_ns, before),
	    tare_format_ns((double)pace->outside_after_ns, after));
}

static void say_doubt(const struct tare_ledger *working, int64_t lead_ns, int64_t unknown_ns,
                      struct tare_recorded_summary *summary)
{
	if (summary->bound != TARE_BOUND_NOT_CLEAR)
		return;
	if ((double)lead_ns <= MARGIN * (double)working->wall_ns)
		say(summary->evidence, sizeof summary->evidence,
		    "; the two largest are within %.0f %% of each other", 100 * MARGIN);
	else
		say(summary->evidence, sizeof summary->evidence,
		    "; %.1f %% that %s could turn the order",
		    percent(unknown_ns > working->ambiguous_ns ? unknown_ns : working->ambiguous_ns,
		            working),
		    unknown_ns > working->ambiguous_ns ? "are not known"
		                                       : "lie within the clocks' error");
}

static bool say_nothing(const struct tare_ledger *working, const struct tables_pace *pace,
                        struct tare_recorded_summary *summary)
{
	summary->bound = TARE_BOUND_NOT_CLEAR;
	if (pace->timed == 0 || !working || working->wall_ns <= 0) {
		summary->bound_ns[TARE_BOUND_NOT_CLEAR] = working ? working->wall_ns : 0;
		say(summary->verdict, sizeof summary->verdict,
		    "What bounds this %s cannot be told: of %llu command%s, %s device times",
		    pace->phase ? "phase" : "run", (unsigned long long)pace->commands,
		    pace->commands == 1 ? "" : "s", pace->timed == 0 ? "none has" : "too few have");
		return true;
	}
	return false;
}

void tables_judge(const struct tare_ledger *working, const struct tables_pace *pace,
                  struct tare_recorded_summary *summary)
{
	enum tare_bound largest, second;
	int64_t lead_ns, unknown_ns;
	double doubt_ns;
	memset(summary->bound_ns, 0, sizeof summary->bound_ns);
	summary->verdict[0] = summary->evidence[0] = '\0';
	if (say_nothing(working, pace, summary))
		return;
	sum_bounds(working, pace, summary->bound_ns);
	largest = largest_but(summary->bound_ns, TARE_BOUND_NOTHING);
	second = largest_but(summary->bound_ns, largest);
	lead_ns = summary->bound_ns[largest] - summary->bound_ns[second];
	unknown_ns = summary->bound_ns[TARE_BOUND_NOT_CLEAR];
	// What is not known may all belong to the second; what is ambiguous may be shifted to it.
	doubt_ns = fmax(MARGIN * (double)working->wall_ns,
	                (double)unknown_ns + (double)working->ambiguous_ns);
	if ((double)lead_ns > doubt_ns)
		summary->bound = largest;
	say_verdict(working, pace, second, largest, summary);
	say_parts(working, summary);
	say_pace(working, pace, summary);
	say_start_up(working, pace, summary);
	say_first_launches(working, pace, summary);
	say_outside(working, pace, summary);
	say_doubt(working, lead_ns, unknown_ns, summary);
}
