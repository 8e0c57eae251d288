// SPDX-License-Identifier: Apache-2.0
// Worth it or not, what limits it, what breaking it costs: in plain words, from the measured modes
// and runs only.
#include "base/units.h"
#include "measure/overlap/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Schedules within this of the best are as good.
#define AS_GOOD 1.03
// A stage that slows another by less than this does not limit it.
#define SLOWED 0.97
// A stage alone may be so much longer than the bound before that needs a word.
#define FASTER 1.03
// Operations of fewer times what issuing them takes, as measured here, may be done before the next
// one is on the device.
#define LONG_TIMES 4
// Chunks side by side below this share of the kernel alone: not only the ends of launches overlap.
#define ROOM 0.9
#define SENTENCE 600

struct gain {
	double ratio, low, high; // serial over best
};

static bool gain_of(const struct overlap_point *point, struct gain *gain)
{
	if (!point->best.present || !point->serial.present)
		return false;
	*gain =
	    (struct gain){ point->serial.ns / point->best.ns, point->serial.low / point->best.high,
		           point->serial.high / point->best.low };
	return true;
}

static bool is_worth(const struct gain *gain)
{
	return gain->low >= OVERLAP_WORTH;
}

// Below what is worth it beyond doubt; or about nothing, and not above noise.
static bool is_not_worth(const struct gain *gain)
{
	return gain->high < OVERLAP_WORTH || (gain->ratio < OVERLAP_WORTH && gain->low <= 1);
}

// The point that speaks for all: where the gain is largest and sure; NULL: nothing was measured.
static const struct overlap_point *speaker(const struct overlap *overlap, struct gain *gain)
{
	const struct overlap_point *best = NULL;
	struct gain this;

	for (size_t i = 0; i < overlap->point_count; i++)
		if (gain_of(&overlap->points[i], &this) && (!best || this.low > gain->low)) {
			best = &overlap->points[i];
			*gain = this;
		}
	return best;
}

__attribute__((format(printf, 2, 3))) static void say(char *sentence, const char *format, ...)
{
	size_t length = strlen(sentence);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence + length, SENTENCE - length, format, arguments);
	va_end(arguments);
}

static const char *plus_minus(const struct gain *gain, char text[TARE_UNIT_TEXT])
{
	double half = 100 * fmax(gain->high - gain->ratio, gain->ratio - gain->low) / gain->ratio;

	if (half < 1)
		snprintf(text, TARE_UNIT_TEXT, "\u00b1%.1f %%", half < 0.1 ? 0.1 : half);
	else
		snprintf(text, TARE_UNIT_TEXT, "\u00b1%.0f %%", half);
	return text;
}

// ---- yes

struct as_good {
	uint32_t chunks_from, chunks_to, queues;
	uint32_t loses_from; // chunk counts from here on gain nothing; 0: none was seen
};

static struct as_good find_as_good(const struct overlap *overlap, const struct overlap_point *point)
{
	struct as_good good = { UINT32_MAX, 0, UINT32_MAX, 0 };

	for (size_t i = 0; i < overlap->timed_count; i++) {
		const struct overlap_timed *timed = &overlap->timed[i];
		const struct tare_schedule *schedule = &timed->schedule;
		if (&overlap->points[timed->point] != point || !timed->time.present ||
		    timed->wrong || timed->time.ns > AS_GOOD * point->best.ns)
			continue;
		if (schedule->chunks < good.chunks_from)
			good.chunks_from = schedule->chunks;
		if (schedule->chunks > good.chunks_to)
			good.chunks_to = schedule->chunks;
		if (schedule->mechanism == point->best_schedule.mechanism &&
		    schedule->queues < good.queues)
			good.queues = schedule->queues;
	}
	for (size_t i = 0; i < overlap->timed_count; i++) {
		const struct overlap_timed *timed = &overlap->timed[i];
		uint32_t chunks = timed->schedule.chunks;
		if (&overlap->points[timed->point] == point && timed->time.present &&
		    chunks > good.chunks_to && timed->schedule.queues >= good.queues &&
		    timed->schedule.mechanism == point->best_schedule.mechanism &&
		    timed->time.low > point->serial.high / OVERLAP_WORTH &&
		    (!good.loses_from || chunks < good.loses_from))
			good.loses_from = chunks;
	}
	return good;
}

static void say_needs(const struct overlap *overlap, const struct overlap_point *point,
                      char *sentence)
{
	struct as_good good = find_as_good(overlap, point);
	const char *pinned = overlap->break_factor[TARE_BREAK_PAGEABLE] > OVERLAP_WORTH &&
	                             overlap->break_known[TARE_BREAK_PAGEABLE]
	                         ? "pinned memory, "
	                         : "";

	if (good.chunks_to == 0)
		return;
	say(sentence, " It needs %s", pinned);
	switch (point->best_schedule.mechanism) {
	case TARE_MECHANISM_STAGE_QUEUES:
		say(sentence, "a queue for each stage with events between them, ");
		break;
	case TARE_MECHANISM_OUT_OF_ORDER:
		say(sentence, "an out-of-order queue with events, ");
		break;
	case TARE_MECHANISM_GRAPH:
		say(sentence, "a graph recorded from %u queue%s or more, ", good.queues,
		    good.queues == 1 ? "" : "s");
		break;
	default:
		say(sentence, "%u queue%s or more, ", good.queues, good.queues == 1 ? "" : "s");
		break;
	}
	if (good.chunks_from == good.chunks_to)
		say(sentence, "and %u chunks", good.chunks_from);
	else
		say(sentence, "and %u to %u chunks", good.chunks_from, good.chunks_to);
	if (good.loses_from)
		say(sentence, "; with %u chunks it loses again", good.loses_from);
	say(sentence, ".");
}

// The ratios at which it pays, where they are more than the one that was named.
static void say_range(const struct overlap *overlap, char *sentence)
{
	double from = INFINITY, to = 0;
	size_t count = 0;
	struct gain gain;

	for (size_t i = 0; i < overlap->point_count; i++)
		if (gain_of(&overlap->points[i], &gain) && is_worth(&gain)) {
			from = fmin(from, overlap->points[i].ratio);
			to = fmax(to, overlap->points[i].ratio);
			count++;
		}
	if (overlap->point_count > 1 && count > 1)
		say(sentence,
		    " It pays for %zu of %zu kernels measured, from kernel : copy %.2f to %.2f.",
		    count, overlap->point_count, from, to);
	else if (overlap->point_count == 2)
		say(sentence, " It does not pay for the other kernel measured.");
	else if (overlap->point_count > 2)
		say(sentence, " It pays for none of the other %zu kernels measured.",
		    overlap->point_count - 1);
}

static void say_yes(const struct overlap *overlap, const struct overlap_point *point,
                    const struct gain *gain, char *sentence)
{
	char schedule[96], times[TARE_UNIT_TEXT];

	tare_schedule_text(&point->best_schedule, schedule, sizeof schedule);
	tare_format_significant(gain->ratio, 3, times);
	if (overlap->own)
		say(sentence,
		    "Worth it: yes. When the kernel takes %.2f times as long as the longer copy, "
		    "overlapping makes kernel and copies together %s times as fast (at least "
		    "%.2f), "
		    "with %s.",
		    point->ratio, times, gain->low, schedule);
	else
		say(sentence,
		    "Worth it: yes. Overlapping makes your kernel (kernel : copy %.2f) and its "
		    "copies together %s times as fast (at least %.2f), with %s.",
		    point->ratio, times, gain->low, schedule);
	say_needs(overlap, point, sentence);
	say_range(overlap, sentence);
}

// ---- no

static void say_no(const struct overlap_point *point, const struct gain *gain, char *sentence)
{
	double possible = point->bounded ? point->bound.serial_ns / point->bound.ns : NAN;
	char half[TARE_UNIT_TEXT];

	if (gain->ratio <= 1 || gain->low <= 1)
		say(sentence,
		    "Worth it: no. No schedule was faster than one stage after the other, as "
		    "far as can be told");
	else
		say(sentence, "Worth it: no. The best schedule gains %.1f %% (%s)",
		    100 * (gain->ratio - 1), plus_minus(gain, half));
	if (!isfinite(possible))
		say(sentence, ".");
	else if (possible < 1.001)
		say(sentence, ", and the bound leaves nothing to gain.");
	else if (possible < OVERLAP_WORTH)
		say(sentence, ", and no schedule could gain more than %.1f %%.",
		    100 * (possible - 1));
	else
		say(sentence,
		    ". The bound would leave %.0f %%: what each chunk costs on top eats it; larger "
		    "work "
		    "(--bytes) may pay.",
		    100 * (possible - 1));
}

// Where two digits do not part the limits it is just what is called worth it.
static void say_not_clear(const struct gain *gain, char *sentence)
{
	char low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];

	snprintf(low, sizeof low, "%.2f", gain->low);
	snprintf(high, sizeof high, "%.2f", gain->high);
	say(sentence, "Worth it: not clear. ");
	if (strcmp(low, high) == 0)
		say(sentence,
		    "The best schedule is %.2f times as fast as one stage after the other, which "
		    "is just what tare calls worth it.",
		    gain->ratio);
	else
		say(sentence,
		    "The best schedule looks %.2f times as fast as one stage after the other, but "
		    "noise allows anything from %s to %s; a larger --budget or a quieter machine "
		    "would tell.",
		    gain->ratio, low, high);
}

static void conclude_worth(struct overlap *overlap)
{
	struct gain gain = { 0 };
	const struct overlap_point *point = speaker(overlap, &gain);
	char sentence[SENTENCE] = "";

	if (overlap->wrong[0])
		say(sentence, "Worth it: not known, because results were wrong: %s.",
		    overlap->wrong);
	else if (!point)
		say(sentence, "Worth it: not known. No schedule was measured.");
	else if (is_worth(&gain))
		say_yes(overlap, point, &gain, sentence);
	else if (is_not_worth(&gain))
		say_no(point, &gain, sentence);
	else
		say_not_clear(&gain, sentence);
	tare_result_conclude(overlap->run->result, "worth-it", "%s", sentence);
}

// ---- what limits it

static const char *const stage_titles[TARE_STAGE_COUNT] = {
	[TARE_STAGE_TO_DEVICE] = "the copy to the device",
	[TARE_STAGE_KERNEL] = "the kernel",
	[TARE_STAGE_TO_HOST] = "the copy to the host",
};

static void say_stages(uint32_t mode, char *sentence)
{
	const char *separator = "";

	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (mode >> i & 1) {
			say(sentence, "%s%s", separator, stage_titles[i]);
			uint32_t rest = mode >> (i + 1);
			separator = rest & (rest - 1) ? ", " : " and ";
		}
}

// The mode in which the optimum is longest among those in which a stage is slowed.
static uint32_t slowing_mode(const struct overlap_point *point)
{
	uint32_t slowing = 0;

	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		bool slow = false;
		for (int i = 0; i < TARE_STAGE_COUNT; i++)
			slow |= mode >> i & 1 && point->modes.speed[mode][i] < SLOWED;
		if (slow && point->bound.in_mode_ns[mode] > 0.05 * point->bound.ns &&
		    (!slowing || point->bound.in_mode_ns[mode] > point->bound.in_mode_ns[slowing]))
			slowing = mode;
	}
	return slowing;
}

static void say_slowing(const struct overlap_point *point, uint32_t mode, char *sentence)
{
	const uint32_t copies = 1u << TARE_STAGE_TO_DEVICE | 1u << TARE_STAGE_TO_HOST;
	const char *separator = "";
	uint32_t slowed = 0;

	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (mode >> i & 1 && point->modes.speed[mode][i] < SLOWED)
			slowed |= 1u << i;
	say_stages(slowed, sentence);
	if (slowed & (slowed - 1))
		say(sentence, " slow each other: at once they fall to ");
	else
		say(sentence, " is slowed while others run: it falls to ");
	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (slowed >> i & 1) {
			say(sentence, "%s%.0f %%", separator, 100 * point->modes.speed[mode][i]);
			separator = " and ";
		}
	say(sentence, " of %s speed alone%s", slowed & (slowed - 1) ? "their" : "its",
	    slowed == copies ? " (they share the link)" : "");
}

// The shortest operation that would have been seen beside another one: by what it takes to append
// it, until the device sees it and the host its end, and by the steps of the stamps. All of that is
// measured; infinite where it was not.
static double long_ns(const struct overlap *overlap)
{
	const struct tare_calibration *calibration =
	    &overlap->points[overlap->balanced].calibration;
	double step_ns = overlap->bench.stamped ? overlap->bench.step_ps / 1e3
	                                        : (double)overlap->run->host_step_ns;

	if (overlap->fitted_count == 0) // which is measured last
		return INFINITY;
	return LONG_TIMES * (calibration->issue_ns + calibration->finish_ns + step_ns);
}

// Whether operations were long enough that they would have been seen side by side.
static bool is_long(const struct overlap *overlap, const struct overlap_point *point, uint32_t mode)
{
	double least_ns = long_ns(overlap);

	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (mode >> i & 1 && point->modes.alone_ns[i] < least_ns)
			return false;
	return true;
}

static bool all_are_long(const struct overlap *overlap, const struct overlap_point *point,
                         const struct tare_engines_revealed *revealed)
{
	for (size_t i = 0; i < revealed->apart_count; i++)
		if (!is_long(overlap, point, revealed->apart[i]))
			return false;
	return revealed->apart_count > 0;
}

// Pairs that the search could have used, had they ever run at one moment.
static bool say_apart(const struct overlap *overlap, const struct overlap_point *point,
                      const struct tare_engines_revealed *revealed, char *sentence)
{
	for (size_t i = 0; i < revealed->apart_count; i++) {
		say(sentence, "%s", i ? "; " : "");
		say_stages(revealed->apart[i], sentence);
		say(sentence, is_long(overlap, point, revealed->apart[i])
		                  ? " never run at one moment: one engine serves both"
		                  : " were never seen at one moment");
	}
	return revealed->apart_count > 0;
}

static void say_limit(const struct overlap *overlap, const struct overlap_point *point,
                      char *sentence)
{
	struct tare_engines_revealed revealed;
	double longest = tare_overlap_stage_ns(&point->modes, point->bound.longest);
	bool beside = longest < point->modes.alone_ns[point->bound.longest];
	uint32_t slowing = slowing_mode(point);
	char stage[TARE_UNIT_TEXT], bound[TARE_UNIT_TEXT];
	bool said;

	tare_engines_reveal(&point->modes, &revealed);
	if (revealed.count <= 1) {
		say(sentence, "%s",
		    all_are_long(overlap, point, &revealed)
		        ? "nothing runs beside anything else: one engine does it all"
		        : "no two stages were seen at work at one moment");
		return;
	}
	if (longest > FASTER * point->bound.ns) {
		say(sentence,
		    "the longest stage, %s, which alone takes %s%s; it ran faster beside others, "
		    "so that the bound is %s",
		    stage_titles[point->bound.longest], tare_format_ns(longest, stage),
		    beside ? " with launches side by side" : "",
		    tare_format_ns(point->bound.ns, bound));
		return;
	}
	if (longest > 0.97 * point->bound.ns) {
		say(sentence, "the longest stage, %s, which takes %s of the bound's %s%s",
		    stage_titles[point->bound.longest], tare_format_ns(longest, stage),
		    tare_format_ns(point->bound.ns, bound),
		    beside ? " with launches side by side" : "");
		return;
	}
	said = say_apart(overlap, point, &revealed, sentence);
	if (slowing) {
		say(sentence, "%s", said ? "; " : "");
		say_slowing(point, slowing, sentence);
	} else if (!said) {
		say(sentence,
		    "stages that run at once share something: the bound is %.0f %% of the "
		    "serial time",
		    100 * point->bound.ns / point->bound.serial_ns);
	}
}

// The stage's time alone says nothing of schedules in which launches of it run at once.
static void say_side_by_side(const struct overlap_point *point, char *sentence)
{
	double alone = point->modes.alone_ns[TARE_STAGE_KERNEL];
	double least = tare_overlap_stage_ns(&point->modes, TARE_STAGE_KERNEL);
	char one[TARE_UNIT_TEXT], many[TARE_UNIT_TEXT];

	if (least < ROOM * alone)
		say(sentence,
		    " One launch does not fill the device: the kernel takes %s alone, and %s in "
		    "chunks that run side by side.",
		    tare_format_ns(alone, one), tare_format_ns(least, many));
}

static void conclude_limit(struct overlap *overlap)
{
	struct gain gain = { 0 };
	const struct overlap_point *point = speaker(overlap, &gain);
	char sentence[SENTENCE] = "What limits it: ";

	if (!point)
		point = &overlap->points[overlap->balanced];
	if (!point->bounded) {
		if (point->unbounded[0])
			tare_result_conclude(overlap->run->result, "limit",
			                     "What limits it is not known: %s.", point->unbounded);
		return;
	}
	say_limit(overlap, point, sentence);
	say(sentence, ".");
	say_side_by_side(point, sentence);
	if (point->best.present && point->best_schedule.chunks > 1) {
		double attainable = overlap_attainable_ns(point);
		double most = 100 * point->bound.ns / attainable;
		say(sentence, " The best schedule reaches %.0f %% of the bound",
		    100 * point->bound.ns / point->best.ns);
		if (point->best.ns >= attainable && most < 99.5)
			say(sentence, "; %u chunks can reach at most %.0f %%",
			    point->best_schedule.chunks, most);
		say(sentence, ".");
	}
	tare_result_conclude(overlap->run->result, "limit", "%s", sentence);
}

// ---- what breaking it costs

// Why it costs that, in a few words.
static const char *const break_reasons[TARE_BREAK_COUNT] = {
	[TARE_BREAK_DEFAULT_QUEUE] = "one queue runs one operation after the other",
	[TARE_BREAK_BLOCKING] = "the host waits for each copy",
	[TARE_BREAK_PAGEABLE] = "plain memory is copied through a buffer of the driver's",
	[TARE_BREAK_ALLOCATION] = "allocating between chunks waits for the device",
	[TARE_BREAK_LAZY_LOADING] = "the first launch of a kernel loads it, and all else waits",
};

static void say_harmless(const struct overlap *overlap, char *sentence)
{
	bool any = false;

	for (int i = TARE_BREAK_NONE + 1; i < TARE_BREAK_COUNT; i++)
		if (overlap->break_factor[i] > 0 && !overlap->break_known[i]) {
			say(sentence, "%s%s",
			    any ? ", " : "; nothing that can be told from noise: ",
			    tare_break_name((enum tare_break)i));
			any = true;
		}
}

static void conclude_breaks(struct overlap *overlap)
{
	bool done[TARE_BREAK_COUNT] = { false }, any = false, measured = false;
	char sentence[SENTENCE] = "Breaking it costs: ";

	for (;;) {
		int worst = TARE_BREAK_NONE;
		for (int i = TARE_BREAK_NONE + 1; i < TARE_BREAK_COUNT; i++) {
			measured |= overlap->break_factor[i] > 0;
			if (!done[i] && overlap->break_known[i] &&
			    overlap->break_factor[i] > overlap->break_factor[worst])
				worst = i;
		}
		if (worst == TARE_BREAK_NONE)
			break;
		done[worst] = true;
		say(sentence, "%s%s %.2fx (%s)", any ? ", " : "",
		    tare_break_name((enum tare_break)worst), overlap->break_factor[worst],
		    break_reasons[worst]);
		any = true;
	}
	if (!measured)
		return;
	if (any)
		say_harmless(overlap, sentence);
	tare_result_conclude(overlap->run->result, "breaks", "%s%s.", sentence,
	                     any ? "" : "nothing that can be told from noise");
}

void overlap_add_verdict(struct overlap *overlap)
{
	conclude_worth(overlap);
	if (overlap->point_count)
		conclude_limit(overlap);
	conclude_breaks(overlap);
}
