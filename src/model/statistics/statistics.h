// SPDX-License-Identifier: Apache-2.0
// Statistics of repeated measurements: the median with an order-statistic interval that stays
// honest under autocorrelation, timer quantisation and a stopping rule. docs/statistics.md says
// what the interval means and how its coverage was measured.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is known of a series of samples, all in the samples' own unit.
struct tare_summary {
	size_t n;
	int64_t min, max;
	double median;
	double p95;             // interpolated (type 7 of Hyndman and Fan, Am. Stat. 50, 1996)
	double ci_low, ci_high; // interval of the median, nominal coverage 95 % under the stopping
	                        // rule (interval.h); NaN when the samples are too few for one
	double autocorrelation; // lag-1, of the signs of the samples around the median
	double effective_n;     // n over the autocorrelation time (autocorrelation.h); at most n
	size_t outliers_mild;   // beyond 1.5 interquartile ranges from the quartiles (Tukey)
	size_t outliers_severe; // beyond 3; not counted among the mild
	// a trend over the series that is larger than the interval (trend.h)
	bool drifting;
	bool quantised; // half of the interval or more is the timer's step
};

// Summarises `n` samples in the order in which they were taken; `quantum` is the smallest step of
// the timer in the samples' unit (0: none). n may be 0: everything is NaN or 0.
// Returns 0 or -ENOMEM.
int tare_summarise(const int64_t *samples, size_t n, double quantum, struct tare_summary *summary);

// When to stop. One rule for every measuring command: at n = minimum_n and each time that n has
// grown by half, summarise; converged when the half-width of the interval is within
// relative_half_width of the median and the samples are worth at least 24 independent ones.
// The half-width is at least `quantum`: a figure of fewer than 1 / relative_half_width quanta never
// converges (batch it), one of 200 takes four times the samples, one of 1000 a quarter more.
struct tare_stopping {
	double relative_half_width; // 0.01
	size_t minimum_n;           // samples before the first decision; below 32 is taken as 32
	size_t maximum_n;           // stop "not converged" here; 0: no limit
	int64_t minimum_ns;         // and at least so long
	double quantum;             // of the timer, in the samples' unit
};

// The rule the commands use: 1 %, 32 samples, no maximum, 50 ms.
struct tare_stopping tare_stopping_default(void);

enum tare_verdict {
	TARE_CONTINUE, // not yet at the next decision point, or too wide
	TARE_CONVERGED,
	TARE_NOT_CONVERGED, // maximum_n reached and still too wide; or only the timer's quantum is
	                    // too wide, which no number of samples would change; or no memory
};

// One series being gathered. Zero-initialise, set `rule`, add samples, ask.
struct tare_series {
	struct tare_stopping rule;
	int64_t *samples; // owned; tare_series_clear frees
	size_t n, capacity;
	size_t next_decision; // at growing n only, so that looking often costs little coverage
	struct tare_summary summary; // as of the last decision
};

// Returns 0 or -ENOMEM.
int tare_series_add(struct tare_series *series, int64_t sample);
// What to do after `elapsed_ns` of sampling. Fills series->summary at decision points; cheap
// between them.
enum tare_verdict tare_series_decide(struct tare_series *series, int64_t elapsed_ns);
// Brings series->summary up to the last sample: for a series that was cut short. 0 or -ENOMEM.
int tare_series_summarise(struct tare_series *series);
// Frees the samples; the rule stays, so that the series may be gathered again.
void tare_series_clear(struct tare_series *series);

// The two-sided 95 % point of Student's t for `degrees` of freedom; NaN: for none (Abramowitz and
// Stegun 26.7.5; exact below 3).
double tare_student_95(size_t degrees);

// t = alpha + s / beta by weighted least squares on relative error (each point weighs the same
// in percent, as sizes span five decades). Intervals are 95 %, from what the line leaves
// unexplained, by Student's t; they cannot know of a bend that the model lacks, which shows in
// worst_relative_residual.
struct tare_transfer_fit {
	double latency_ns, latency_low_ns, latency_high_ns; // alpha
	double rate_bytes_per_s, rate_low, rate_high;       // beta
	double half_rate_bytes;         // alpha * beta: size at half the rate; NaN
	                                // when alpha is not above zero
	double worst_relative_residual; // of the points used
	size_t points;
};

// Fits `n` points (bytes, median time in ns). Returns 0; -EINVAL with fewer than 3 distinct sizes,
// a time that is not finite and above zero, or when the data contradict the model: more bytes
// do not take more time beyond doubt (the rate would have no upper bound), or the latency's whole
// interval is below 0. latency may come out below zero when it is lost in the noise; then it is
// reported with its interval, which includes 0.
int tare_fit_transfer(const uint64_t *bytes, const double *time_ns, size_t n,
                      struct tare_transfer_fit *fit);
