// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/words.h"
#include "report/core/figures.h"

#include "analysis/hotspots/roles.h"
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const states[] = {
	[TARE_COUNTER_NOT_ASKED] = "not asked for",
	[TARE_COUNTER_COUNTED] = "counted",
	[TARE_COUNTER_NOT_ON_DEVICE] = "the device has no such counter",
	[TARE_COUNTER_NO_INSTANCE] = "too few launches for its turn",
	[TARE_COUNTER_NOT_TRUSTED] = "it wrapped or was saturated, or its launches disagree",
	[TARE_COUNTER_REFUSED] = "the driver refused",
	[TARE_COUNTER_IN_PART] = "atomics, images or copies do not tell their bytes",
};

static const char *const uncounted[] = {
	[TARE_UNCOUNTED_NONE] = "counted",
	[TARE_UNCOUNTED_NOT_CHOSEN] = "it was not chosen",
	[TARE_UNCOUNTED_CAPTURED] = "its launches are recorded into a graph",
	[TARE_UNCOUNTED_COOPERATIVE] = "its groups wait for each other",
	[TARE_UNCOUNTED_WAITS] = "it waits for another kernel",
	[TARE_UNCOUNTED_NOT_LAUNCHED] = "it was not launched in the counted run",
	[TARE_UNCOUNTED_FAILED] = "counting it failed",
	[TARE_UNCOUNTED_NO_INSTRUCTIONS] = "its instructions could not be counted: `tare blocks` "
	                                   "says why",
	[TARE_UNCOUNTED_OTHER_LAUNCHES] = "it was launched another number of times in the run "
	                                  "that was counted",
};

static const char *const advice[TARE_KERNEL_BOUNDS] = {
	[TARE_KERNEL_BOUND_DEVICE_MEMORY] =
	    "Move fewer bytes to and from device memory: work on blocks that stay in L2 or shared "
	    "memory, fuse kernels that pass data on, use smaller types.",
	[TARE_KERNEL_BOUND_L2] =
	    "Move fewer bytes between L2 and L1: keep what is used again in shared "
	    "memory or registers, read whole lines.",
	[TARE_KERNEL_BOUND_L1] =
	    "Load less often from L1 and shared memory: hold more results a thread in "
	    "registers, use wider loads, avoid bank conflicts.",
	[TARE_KERNEL_BOUND_COMPUTE] =
	    "Do less arithmetic, or let a faster pipe do it: smaller types, matrix "
	    "engines, fewer conversions.",
	[TARE_KERNEL_BOUND_LATENCY] =
	    "Keep more work in flight: more warps a core, more independent loads "
	    "and operations a thread.",
	[TARE_KERNEL_BOUND_TOO_SMALL] =
	    "Give the device more groups at once: larger launches, several "
	    "kernels side by side, groups of even work.",
};

static void add(char text[HOTSPOT_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char text[HOTSPOT_TEXT], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, HOTSPOT_TEXT - length, format, arguments);
	va_end(arguments);
}

const char *tare_counter_state_words(enum tare_counter_state state)
{
	return states[state];
}

const char *tare_uncounted_words(enum tare_uncounted why)
{
	return uncounted[why];
}

const char *tare_rate_origin_words(enum tare_rate_origin origin)
{
	static const char *const words[] = {
		[TARE_RATE_OTHER] = "bytes and time are of different launches",
		[TARE_RATE_ASKED] = "what instructions ask for, over the recorded time",
		[TARE_RATE_RECORDING] = "over the recorded time: the counters have none",
		[TARE_RATE_UNLIKE] = "n/a: bytes and time are of launches that differ",
		[TARE_RATE_SAME] = NULL,
	};

	return words[origin];
}

const char *tare_hotspot_percent(double share, char text[HOTSPOT_TEXT])
{
	return isnan(share) ? "n/a" : tare_report_points(share, text, HOTSPOT_TEXT);
}

const char *tare_hotspot_times(double remains, char text[HOTSPOT_TEXT])
{
	double times = 1 / remains;

	if (!isfinite(times))
		snprintf(text, HOTSPOT_TEXT, "n/a");
	else if (times < 10)
		snprintf(text, HOTSPOT_TEXT, "%.2f times", floor(times * 100 + 1e-9) / 100);
	else
		snprintf(text, HOTSPOT_TEXT, "%.0f times", floor(times));
	return text;
}

const char *tare_hotspot_bytes(double bytes, char text[HOTSPOT_TEXT])
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	char number[TARE_UNIT_TEXT];
	double unit = 1;
	size_t i = 0;

	if (!(bytes >= 0 && bytes < 9e18)) {
		snprintf(text, HOTSPOT_TEXT, "n/a");
		return text;
	}
	bytes = floor(bytes);
	for (; i + 1 < sizeof units / sizeof *units && bytes >= unit * 1024 * 0.9995; i++)
		unit *= 1024;
	if (bytes / unit == floor(bytes / unit))
		snprintf(text, HOTSPOT_TEXT, "%.0f %s", bytes / unit, units[i]);
	else
		snprintf(text, HOTSPOT_TEXT, "%s %s",
		         tare_format_significant(bytes / unit, 3, number), units[i]);
	return text;
}

// "device memory, L2 or latency": the bounds of a mask.
static void add_bounds(char text[HOTSPOT_TEXT], unsigned mask, const char *last)
{
	const char *between = "";

	for (enum tare_kernel_bound b = 0; b < TARE_KERNEL_BOUNDS; b++) {
		if (!(mask & 1U << b))
			continue;
		mask &= ~(1U << b);
		add(text, "%s%s", between, tare_kernel_bound_name(b));
		between = mask & (mask - 1) ? ", " : last;
	}
}

static void add_pipes(const struct tare_kernel_verdict *verdict, char text[HOTSPOT_TEXT])
{
	if (verdict->pipe == TARE_COUNTER_ROLES)
		add(text, "pipe not counted");
	else if (verdict->other_pipe == TARE_COUNTER_ROLES)
		add(text, "%s", tare_counter_roles[verdict->pipe].title);
	else
		add(text, "%s or %s", tare_counter_roles[verdict->pipe].title,
		    tare_counter_roles[verdict->other_pipe].title);
}

const char *tare_hotspot_bound_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;

	text[0] = '\0';
	if (verdict->bound == TARE_KERNEL_BOUND_NOT_KNOWN) {
		add(text, "n/a");
	} else if (!tare_kernel_verdict_decided(verdict)) {
		add_bounds(text, verdict->possible, " or ");
		add(text, "?");
	} else if (verdict->bound == TARE_KERNEL_BOUND_COMPUTE) {
		add(text, "compute: ");
		add_pipes(verdict, text);
	} else {
		add(text, "%s", tare_kernel_bound_name(verdict->bound));
	}
	return text;
}

// The share by which a limit binds: "L2 at 85 % of its maximum".
static void add_limit(const struct tare_limit *limit, char text[HOTSPOT_TEXT])
{
	bool whole = limit->role == TARE_COUNTER_DEVICE_MEMORY_SHARE ||
	             limit->role == TARE_COUNTER_L2_SHARE ||
	             limit->role == TARE_COUNTER_L2_TO_L1_SHARE ||
	             limit->role == TARE_COUNTER_L1_TO_L2_SHARE ||
	             limit->role == TARE_COUNTER_L2_LOOKUP_SHARE;
	char percent[HOTSPOT_TEXT];

	add(text, "%s at %s of its maximum%s", tare_counter_roles[limit->role].title,
	    tare_hotspot_percent(limit->share, percent), whole ? "" : " while cores were active");
}

static void add_fullest(const struct tare_kernel_verdict *verdict, char text[HOTSPOT_TEXT])
{
	const struct tare_limit *found = NULL;
	char percent[HOTSPOT_TEXT];

	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++)
		if (verdict->limits[b].known && (!found || verdict->limits[b].share > found->share))
			found = &verdict->limits[b];
	if (found)
		add(text, "no limit was reached, the fullest was %s at %s",
		    tare_counter_roles[found->role].title,
		    tare_hotspot_percent(found->share, percent));
	else
		add(text, "no limit was counted");
}

static void add_time(const struct tare_core_time *time, char text[HOTSPOT_TEXT])
{
	char active[HOTSPOT_TEXT], stalled[HOTSPOT_TEXT], idle[HOTSPOT_TEXT];

	if (isnan(time->active))
		add(text, "cores had no work in %s of the time",
		    tare_hotspot_percent(time->idle, idle));
	else
		add(text, "cores issued in %s of the time, were stalled in %s, had no work in %s",
		    tare_hotspot_percent(time->active, active),
		    tare_hotspot_percent(time->stalled, stalled),
		    tare_hotspot_percent(time->idle, idle));
}

static void add_decided(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;
	const struct tare_limit *limit;
	char percent[HOTSPOT_TEXT];

	switch (verdict->bound) {
	case TARE_KERNEL_BOUND_DEVICE_MEMORY:
	case TARE_KERNEL_BOUND_L2:
		limit = &verdict->limits[verdict->bound];
		add(text, "Memory-bound, by %s at %s of its maximum",
		    tare_counter_roles[limit->role].title,
		    tare_hotspot_percent(limit->share, percent));
		break;
	case TARE_KERNEL_BOUND_L1:
		add(text, "Memory-bound, by %s: ", tare_kernel_bound_name(verdict->bound));
		add_limit(&verdict->limits[verdict->bound], text);
		break;
	case TARE_KERNEL_BOUND_COMPUTE:
		limit = &verdict->limits[TARE_KERNEL_BOUND_COMPUTE];
		add(text, "Compute-bound, ");
		add(text, verdict->pipe == TARE_COUNTER_ROLES ? "the pipe was not counted" : "by ");
		if (verdict->pipe != TARE_COUNTER_ROLES)
			add_pipes(verdict, text);
		add(text, ": ");
		add_limit(limit, text);
		if (verdict->pipe != TARE_COUNTER_ROLES && limit->role != verdict->pipe)
			add(text, ", that pipe at %s",
			    tare_hotspot_percent(tare_counted_mean(hotspot->kernel, verdict->pipe),
			                         percent));
		break;
	case TARE_KERNEL_BOUND_LATENCY:
		add(text, "Latency-bound: ");
		add_fullest(verdict, text);
		add(text, "; ");
		add_time(&hotspot->time, text);
		break;
	default:
		add(text, "Too small for the device: ");
		add_time(&hotspot->time, text);
		break;
	}
	add(text, ".");
}

const char *tare_hotspot_verdict_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;

	text[0] = '\0';
	if (hotspot->kernel->uncounted != TARE_UNCOUNTED_NONE) {
		add(text, "n/a: not counted, since %s.",
		    tare_uncounted_words(hotspot->kernel->uncounted));
	} else if (hotspot->kernel->by_instructions) {
		add(text, "n/a: without counters it is not known what binds it.");
	} else if (verdict->bound == TARE_KERNEL_BOUND_NOT_KNOWN) {
		add(text, "n/a: none of the counters that a verdict needs has a figure.");
	} else if (!tare_kernel_verdict_decided(verdict)) {
		add(text, "Not decided between ");
		add_bounds(text, verdict->possible, " and ");
		for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
			if (!(verdict->possible & 1U << b) || !verdict->limits[b].known)
				continue;
			add(text, "; ");
			add_limit(&verdict->limits[b], text);
		}
		if (verdict->possible &
		    (1U << TARE_KERNEL_BOUND_LATENCY | 1U << TARE_KERNEL_BOUND_TOO_SMALL)) {
			add(text, "; ");
			add_time(&hotspot->time, text);
		}
		add(text, ".");
	} else {
		add_decided(hotspot, text);
	}
	return text;
}

const char *tare_hotspot_given_words(const struct tare_counted_kernel *kernel,
                                     char text[HOTSPOT_TEXT])
{
	char bytes[HOTSPOT_TEXT];

	text[0] = '\0';
	if (kernel->compulsory_bytes)
		add(text,
		    "A launch was given at most %s: the allocations that its arguments point into.",
		    tare_hotspot_bytes((double)kernel->compulsory_bytes, bytes));
	else if (kernel->uncounted == TARE_UNCOUNTED_NONE)
		add(text, "What a launch was given: n/a, %s.",
		    kernel->compulsory_missing ? kernel->compulsory_missing
		                               : "the driver tells no parameters of this kernel");
	return text;
}

// No limit of the rule is about the ways out of the device, whose most is not known. What waits for
// them comes out as latency: so it is said where more went that way than to device memory.
static void add_ways_out(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	static const struct {
		enum tare_edge edge;
		const char *name;
	} ways[] = { { TARE_EDGE_HOST, "host memory" }, { TARE_EDGE_PEER, "other devices" } };
	double device = hotspot->edges[TARE_EDGE_L2_DEVICE].bytes;
	char bytes[HOTSPOT_TEXT], number[TARE_UNIT_TEXT];

	if (!(hotspot->verdict.possible & 1U << TARE_KERNEL_BOUND_LATENCY))
		return;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const struct tare_edge_traffic *edge = &hotspot->edges[ways[i].edge];
		if (!(edge->bytes > 0 && edge->bytes > device))
			continue;
		add(text, "%sIt moved %s a launch to and from %s", text[0] ? " " : "",
		    tare_hotspot_bytes(edge->bytes, bytes), ways[i].name);
		if (!isnan(edge->bytes_per_s))
			add(text, " (%s GB/s)",
			    tare_format_significant(edge->bytes_per_s / 1e9, 3, number));
		add(text, ", more than to and from device memory: that may be what it waits for, "
		          "the most that way is not known here.");
	}
}

// Said where they are more than a few odd ones.
#define UNLIKE_WORTH 0.05
static void add_unlike(const struct tare_counted_kernel *kernel, char text[HOTSPOT_TEXT])
{
	double part = (double)kernel->unlike_launches / (double)kernel->launches,
	       of_time =
	           kernel->total_ns ? (double)kernel->unlike_ns / (double)kernel->total_ns : 0;
	char like[TARE_UNIT_TEXT];

	if (!kernel->unlike_launches || (part < UNLIKE_WORTH && of_time < UNLIKE_WORTH))
		return;
	add(text,
	    "%sIts launches differ: %llu of %llu, with %.0f %% of its time, are of another size or "
	    "of less than half or more than twice the time of the others, which take %s. The "
	    "others are judged.",
	    text[0] ? " " : "", (unsigned long long)kernel->unlike_launches,
	    (unsigned long long)kernel->launches, 100 * of_time,
	    tare_format_ns((double)kernel->like_ns, like));
}

const char *tare_hotspot_margin_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;
	char counted[TARE_UNIT_TEXT], recorded[TARE_UNIT_TEXT];

	text[0] = '\0';
	if (verdict->bound == TARE_KERNEL_BOUND_NOT_KNOWN)
		return text;
	if (tare_kernel_verdict_decided(verdict) && !isnan(verdict->margin))
		add(text, "Next would be %s, %.0f points away.",
		    tare_kernel_bound_name(verdict->next), verdict->margin);
	if (verdict->missing) {
		add(text, "%sNot counted in full: ", text[0] ? " " : "");
		add_bounds(text, verdict->missing, " and ");
		add(text, ".");
	}
	add_ways_out(hotspot, text);
	add_unlike(hotspot->kernel, text);
	if (hotspot->kernel->other_sizes)
		add(text,
		    "%sIts launches differ in size: those of one size are judged, %llu counted "
		    "ones "
		    "of others are left out.",
		    text[0] ? " " : "", (unsigned long long)hotspot->kernel->other_sizes);
	if (hotspot->unlike_recorded)
		add(text,
		    "%sThe counted launches took %s, the recorded ones %s on average: this is "
		    "about "
		    "the counted ones.",
		    text[0] ? " " : "", tare_format_ns(hotspot->duration_ns, counted),
		    tare_format_ns((double)tare_counted_recorded_ns(hotspot->kernel), recorded));
	if (hotspot->kernel->replayed)
		add(text,
		    "%sSome launches were run more than once to count them: their memory was "
		    "not as the program left it.",
		    text[0] ? " " : "");
	return text;
}

const char *tare_hotspot_advice_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;
	const struct tare_gain *gain = &hotspot->gain;
	char times[HOTSPOT_TEXT];

	text[0] = '\0';
	if (!tare_kernel_verdict_decided(verdict))
		return text;
	add(text, "%s", advice[verdict->bound]);
	if (isnan(gain->at_ceiling))
		return text;
	if (verdict->bound > TARE_LAST_LIMIT) {
		add(text, " At most %s as fast: ", tare_hotspot_times(gain->at_ceiling, times));
		if (verdict->bound == TARE_KERNEL_BOUND_LATENCY)
			add(text, "then %s would limit.", tare_kernel_bound_name(gain->next));
		else
			add(text, "every core busy all the time.");
		return text;
	}
	add(text, " At the ceiling, with the same work, at most %s as fast",
	    tare_hotspot_times(gain->at_ceiling, times));
	// Traffic can go away; arithmetic that is needed cannot.
	if (verdict->bound != TARE_KERNEL_BOUND_COMPUTE && !isnan(gain->at_next))
		add(text, "; with less of that traffic at most %s, then %s would limit",
		    tare_hotspot_times(gain->at_next, times), tare_kernel_bound_name(gain->next));
	add(text, ".");
	return text;
}

// A role's mean where nothing speaks against it.
static double usable(const struct tare_hotspot *hotspot, enum tare_counter_role role)
{
	return tare_kernel_verdict_contradiction(&hotspot->verdict, role)
	           ? NAN
	           : tare_counted_mean(hotspot->kernel, role);
}

static void add_occupancy(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	const struct tare_counted_kernel *kernel = hotspot->kernel;
	double occupancy = usable(hotspot, TARE_COUNTER_OCCUPANCY_SHARE);
	char percent[HOTSPOT_TEXT];

	if (isnan(occupancy))
		return;
	add(text, "Occupancy %s", tare_hotspot_percent(occupancy, percent));
	if (kernel->occupancy_possible > 0)
		add(text, " of %s possible",
		    tare_hotspot_percent(kernel->occupancy_possible, percent));
	if (!(kernel->occupancy_possible < 100) || !kernel->occupancy_limit)
		return;
	// "local_memory" is a document's word.
	snprintf(percent, sizeof percent, "%s", kernel->occupancy_limit);
	for (char *at = percent; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	add(text, " (%s)", percent);
}

const char *tare_hotspot_core_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT])
{
	double l1 = usable(hotspot, TARE_COUNTER_L1_HIT_SHARE),
	       l2 = usable(hotspot, TARE_COUNTER_L2_HIT_SHARE);
	char percent[HOTSPOT_TEXT], number[TARE_UNIT_TEXT];

	text[0] = '\0';
	add_occupancy(hotspot, text);
	if (!isnan(hotspot->lanes))
		add(text, "%s%s threads an instruction", text[0] ? "; " : "",
		    tare_format_significant(hotspot->lanes, 3, number));
	if (!isnan(l1) || !isnan(l2))
		add(text, "%shits:", text[0] ? "; " : "");
	if (!isnan(l1))
		add(text, " L1 %s%s", tare_hotspot_percent(l1, percent), isnan(l2) ? "" : ",");
	if (!isnan(l2))
		add(text, " L2 %s", tare_hotspot_percent(l2, percent));
	if (text[0])
		add(text, ".");
	return text;
}

const char *tare_hotspot_contradiction_words(const struct tare_contradiction *contradiction,
                                             char text[HOTSPOT_TEXT])
{
	const char *title = tare_counter_roles[contradiction->role].title;
	double value = contradiction->value, most = contradiction->most;

	switch (contradiction->kind) {
	case TARE_CONTRADICTION_NO_NUMBER:
		snprintf(text, HOTSPOT_TEXT, "%s: the counter gave no possible number; not used",
		         title);
		break;
	case TARE_CONTRADICTION_OVER_MAXIMUM:
		snprintf(text, HOTSPOT_TEXT, "%s: %.0f %%, at most %.0f %% is possible; not used",
		         title, value, most);
		break;
	case TARE_CONTRADICTION_OVER_POSSIBLE:
		snprintf(text, HOTSPOT_TEXT, "%s: %.0f %%, but only %.0f %% fit; not used", title,
		         value, most);
		break;
	case TARE_CONTRADICTION_OVER_PAPER:
		snprintf(text, HOTSPOT_TEXT,
		         "%s: %.0f GB/s with what was written, over the %.0f GB/s that the memory "
		         "has on paper; not used",
		         title, value / 1e9, most / 1e9);
		break;
	case TARE_CONTRADICTION_OVER_WHOLE:
		snprintf(text, HOTSPOT_TEXT, "%s: %.0f bytes, but L1 alone moved %.0f; not used",
		         title, value, most);
		break;
	default:
		snprintf(text, HOTSPOT_TEXT,
		         "%s: least, mean and most are not in this order; not used", title);
		break;
	}
	return text;
}
