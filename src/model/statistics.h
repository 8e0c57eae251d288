// SPDX-License-Identifier: Apache-2.0
// Statistics of repeated measurements: the median with an order-statistic interval that stays
// honest under autocorrelation, timer quantisation and a stopping rule. docs/method.md has the
// derivations.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is known of a series of samples, all in the samples' own unit.
struct tare_summary {
	size_t n;
	int64_t min, max;
	double median;
	double p95;
	double ci_low, ci_high;    // interval of the median, nominal coverage 95 % under the stopping rule
	double autocorrelation;    // lag-1, of the samples' ranks around the median
	double effective_n;        // n after the widening for autocorrelation; at most n
	size_t outliers_mild;      // beyond 1.5 interquartile ranges from the quartiles (Tukey)
	size_t outliers_severe;    // beyond 3
	bool drifting;             // a trend over the series that is larger than the interval
	bool quantised;            // the interval was widened to the timer's quantum
};

// Summarises `n` samples in the order in which they were taken; `quantum` is the smallest step of
// the timer in the samples' unit (0: none). n may be 0: everything is NaN or 0.
// Returns 0 or -ENOMEM.
int tare_summarise(const int64_t *samples, size_t n, double quantum, struct tare_summary *summary);

// When to stop. One rule for every measuring command.
struct tare_stopping {
	double relative_half_width;  // 0.01
	size_t minimum_n;            // samples before the first decision
	size_t maximum_n;            // stop "not converged" here; 0: no limit
	int64_t minimum_ns;          // and at least so long
	double quantum;              // of the timer, in the samples' unit
};

// The rule the commands use: 1 %, minimum_n as the coverage test demands, no maximum, 50 ms.
struct tare_stopping tare_stopping_default(void);

enum tare_verdict {
	TARE_CONTINUE,       // not yet at the next decision point, or too wide
	TARE_CONVERGED,
	TARE_NOT_CONVERGED,  // maximum_n reached and still too wide
};

// One series being gathered. Zero-initialise, set `rule`, add samples, ask.
struct tare_series {
	struct tare_stopping rule;
	int64_t *samples;     // owned; tare_series_clear frees
	size_t n, capacity;
	size_t next_decision; // decisions happen at growing n only, so that looking often costs no coverage
	struct tare_summary summary;  // as of the last decision
};

// Returns 0 or -ENOMEM.
int tare_series_add(struct tare_series *series, int64_t sample);
// What to do after `elapsed_ns` of sampling. Fills series->summary at decision points.
enum tare_verdict tare_series_decide(struct tare_series *series, int64_t elapsed_ns);
void tare_series_clear(struct tare_series *series);

// Number of leading samples that differ from the rest (warm-up), by the Mann-Whitney test between
// the first part and the second; 0 when none. They are kept and reported, not dropped.
size_t tare_warmup_length(const int64_t *samples, size_t n);

// t = alpha + s / beta by weighted least squares on relative error (each point weighs the same
// in percent, as sizes span five decades).
struct tare_transfer_fit {
	double latency_ns, latency_low_ns, latency_high_ns;  // alpha
	double rate_bytes_per_s, rate_low, rate_high;        // beta
	double half_rate_bytes;                              // alpha * beta: size at half the rate
	double worst_relative_residual;                      // of the points used
	size_t points;
};

// Fits `n` points (bytes, median time in ns). Returns 0; -EINVAL with fewer than 3 distinct sizes
// or when the data contradict the model (rate not positive). latency may come out below zero
// when it is lost in the noise; then it is reported with its interval, which includes 0.
int tare_fit_transfer(const uint64_t *bytes, const double *time_ns, size_t n,
                      struct tare_transfer_fit *fit);
