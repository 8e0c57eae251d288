// SPDX-License-Identifier: Apache-2.0
// A span that is repeated until its time is known, by the rule of tare's measuring commands: the
// median of the device's times, with an interval that holds for samples that depend on each other
// and for coarse clocks (docs/statistics.md).
//
//	struct tare_time_series *solve;
//
//	tare_time_series_open(&solve, "solve", NULL, NULL);
//	do {
//		tare_time_begin(timer, NULL, &span, NULL);
//		...                                       // enqueue what is to be timed
//		tare_time_end(timer, span, NULL);
//	} while (tare_time_series_take(solve, timer, span, 1000000000, NULL) > 0);
//	tare_time_table(&solve, 1, text, sizeof text);    // or tare_time_write, for `tare render`
//	tare_time_series_close(solve);
//
// A series belongs to one thread at a time. Memory is allocated when it is opened and when results
// are added, never between a span's begin and end.
#ifndef TARE_TIME_SERIES_H
#define TARE_TIME_SERIES_H
#include <tare/time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tare_time_series;

// Members that are 0 have the value of the measuring commands.
struct tare_time_series_options {
	double half_width; // of the interval, as a share of the median, at which it is known: 0.01
	uint32_t most;     // results after which it is given up; 0: no limit
	int64_t limit_ns;  // of the host's time since the first result, after which it is given up;
	                   // 0: 5 s
	uint64_t bytes;    // that each span moves; 0: no throughput
};

// *series belongs to the caller until tare_time_series_close. `name` is copied (63 bytes at most);
// `options` may be NULL. -EINVAL; -ENOMEM.
TARE_TIME_API int tare_time_series_open(struct tare_time_series **series, const char *name,
                                        const struct tare_time_series_options *options,
                                        struct tare_time_error *error);
// NULL is legal.
TARE_TIME_API void tare_time_series_close(struct tare_time_series *series);

// Adds a result of tare_time_read or tare_time_event. Returns 1: go on, 0: that is all.
// At least 32 results and 50 ms are taken. One below the floor counts like any other. -EAGAIN: the
// result was not ready, and is not counted; -ENODATA: it is not available, and so the series is
// not; -EALREADY: it was known, or given up, before; -ENOMEM.
TARE_TIME_API int tare_time_series_add(struct tare_time_series *series,
                                       const struct tare_time_result *result,
                                       struct tare_time_error *error);
// Waits for a span that has ended (tare_time_read, with its errors), releases it and adds its
// result. -EAGAIN: not ready within the limit; the span is still there.
TARE_TIME_API int tare_time_series_take(struct tare_time_series *series, struct tare_timer *timer,
                                        struct tare_time_span span, int64_t limit_ns,
                                        struct tare_time_error *error);

enum tare_time_known {
	TARE_TIME_OPEN,      // more results are wanted
	TARE_TIME_CONVERGED, // the interval is as narrow as was asked for, and rests on results
	                     // that are worth at least 24 independent ones
	TARE_TIME_GIVEN_UP,  // a limit was reached before
	TARE_TIME_COARSE,    // the device's clock is too coarse for it; more results would not help
	TARE_TIME_ABSENT,    // a result was not available
};

// In nanoseconds on the device's clock, the spans' own marks (the floor) included. NaN: not known.
struct tare_time_figure {
	enum tare_time_known known;
	const char *sentence; // why it has not converged, or is below the floor; else ""
	char name[64];
	uint64_t n; // results
	double median_ns;
	double low_ns, high_ns; // the median's interval, 95 %; NaN: too few results for one
	double min_ns, p95_ns, max_ns;
	double effective_n; // independent results that they are worth
	double floor_ns;    // of the last result; NaN: not known
	double step_ns; // of the clock, as documented, or the smallest difference seen between two
	                // results in a row if that is less
	double enqueue_ns; // median of host_ns; NaN: of events
	int below_floor;   // 1: the median is no longer than the floor and a step
	int drifting;      // 1: a trend over the results is larger than the interval
	double gb_s;       // throughput at the median in 10^9 bytes a second; NaN: none. The floor
	                   // is in the time, so that the work itself may be faster
};

// What is known so far. Returns 0; -ENOMEM.
TARE_TIME_API int tare_time_series_figure(struct tare_time_series *series,
                                          struct tare_time_figure *figure,
                                          struct tare_time_error *error);

// A table of `count` series, a line each, and sentences below it, as UTF-8 cut to `size` bytes with
// the zero. Returns the length that all of it has; -ENOMEM.
TARE_TIME_API int tare_time_table(struct tare_time_series *const *series, size_t count, char *text,
                                  size_t size);

// Writes the series into a file as a result document (tare.result/1), with all samples:
// `tare render FILE` prints it, and --html draws it. What is there is overwritten. -EINVAL;
// -ENOMEM; or the file's errno, and then part of the file may be there.
TARE_TIME_API int tare_time_write(struct tare_time_series *const *series, size_t count,
                                  const char *path, struct tare_time_error *error);

#ifdef __cplusplus
}
#endif
#endif
