// SPDX-License-Identifier: Apache-2.0
// The prediction against closed forms, its fit against what it should find, and both against a
// pipeline measured on a real H200 (tests/data/h200-pipeline.txt). Of that file it is given
//   `c`: single copies and kernels, alone and 16 in a row, and both directions at once;
//   two of the 200 lines `p`: one queue and three, 1024 chunks, 320 cycles: gap, switch, and what
//     one operation among many costs the host (`iss` is one alone, which costs more).
// The other 198 are predicted.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plain_calibration.h"

enum { SIZES = 16, KERNELS = 4, ROWS = 256, QUEUES = 5 };
#define TOTAL_BYTES (UINT64_C(256) << 20)

// ---- closed forms

static void engines_of_their_own_give_the_closed_form(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	for (uint32_t n = 1; n <= 1024; n *= 2) {
		close_to(predict_us(&calibration, n, 1, 0, 0), 3 * 1024, 1e-9);
		for (int mechanism = 0; mechanism < TARE_MECHANISM_COUNT; mechanism++)
			close_to(predict_us(&calibration, n, n, 0, mechanism), 1024.0 * (n + 2) / n,
			         1e-9);
	}
}

static void stages_never_seen_together_take_turns(void **state)
{
	static const struct {
		uint32_t apart[3];
		double expected_us; // of 64 chunks, breadth-first, a queue each
	} table[] = {
		{ { 0 }, 1024.0 * 66 / 64 },       { { 5 }, 2 * 1024 }, // one copy engine: 1.5
		{ { 3 }, 2 * 1024 + 1024.0 / 64 },                      // the last copy out trails
		{ { 6 }, 2 * 1024 + 1024.0 / 64 },                      // the first copy in leads
		{ { 3, 5, 6 }, 3 * 1024 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_calibration calibration = plain();
		for (int j = 0; j < 3; j++)
			if (table[i].apart[j]) {
				calibration.modes.together[table[i].apart[j]] = false;
				calibration.modes.together[ALL_STAGES] = false;
			}
		close_to(predict_us(&calibration, 64, 64, TARE_ORDER_BREADTH_FIRST, 0),
		         table[i].expected_us, 1e-9);
	}
	// Any two but never all three: two engines, each of which takes what comes.
	struct tare_calibration calibration = plain();
	calibration.modes.together[ALL_STAGES] = false;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		calibration.modes.speed[ALL_STAGES][stage] = 2.0 / 3;
	double us = predict_us(&calibration, 64, 3, 0, TARE_MECHANISM_STAGE_QUEUES);
	assert_true(us >= 1.5 * 1024 && us < 1.6 * 1024);
	// Two chunks in two queues are in the same stage all the time, and gain nothing.
	close_to(predict_us(&calibration, 2, 2, TARE_ORDER_DEPTH_FIRST, 0), 3 * 1024, 1e-9);
}

static void a_stage_that_two_others_exclude_is_slowed_as_measured(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	// Copies together, the kernel with neither; the measured speeds say that they take turns.
	for (int i = 0; i < 2; i++) {
		uint32_t mode = i ? 6 : 3;
		calibration.modes.together[mode] = false;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			calibration.modes.speed[mode][stage] = mode >> stage & 1 ? 0.5 : 0;
	}
	calibration.modes.together[ALL_STAGES] = false;
	double us = predict_us(&calibration, 64, 64, TARE_ORDER_DEPTH_FIRST, 0);
	assert_true(us >= 2 * 1024 * 0.999 && us < 2.2 * 1024);
}

static void concurrent_stages_go_at_the_measured_speeds(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	calibration.modes.speed[5][TARE_STAGE_TO_DEVICE] = 0.8;
	calibration.modes.speed[5][TARE_STAGE_TO_HOST] = 0.8;
	double pairs_us = predict_us(&calibration, 256, 256, 0, 0);
	close_to(pairs_us, 1024 / 0.8, 0.02);
	// A mode that is not known goes by its pairs.
	calibration.modes.known[ALL_STAGES] = false;
	calibration.modes.speed[ALL_STAGES][TARE_STAGE_KERNEL] = NAN;
	close_to(predict_us(&calibration, 256, 256, 0, 0), pairs_us, 1e-9);
}

static void the_host_limits_where_issuing_is_slower(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	calibration.issue_ns = 10e3;
	calibration.finish_ns = 7e3;
	// The last chunk begins once its copy in is issued; then its three stages take 16 us each.
	double expected_us = (3 * 63 + 1) * 10 + 3 * 16 + 7;
	close_to(predict_us(&calibration, 64, 4, 0, 0), expected_us, 1e-9);
	calibration.issue_event_ns = 5e3;
	close_to(predict_us(&calibration, 64, 4, 0, 0), expected_us, 1e-9);
	close_to(predict_us(&calibration, 64, 3, 0, TARE_MECHANISM_STAGE_QUEUES),
	         63 * (3 * 10 + 2 * 5) + 15 + 3 * 16 + 7, 1e-9);
	// Issuing is all there is where the last operation is done before the host is.
	calibration.issue_ns = 100e3;
	close_to(predict_us(&calibration, 64, 4, 0, 0), 3 * 64 * 100 + 16 + 7, 1e-9);
}

static void gaps_are_paid_where_they_are(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	calibration.gap_ns = 3e3;
	close_to(predict_us(&calibration, 64, 1, 0, 0), 3 * 1024 + (3 * 64 - 1) * 3, 1e-9);
	close_to(predict_us(&calibration, 64, 1, 0, TARE_MECHANISM_OUT_OF_ORDER), 1024.0 * 66 / 64,
	         1e-9);
	calibration.out_of_order_gap_ns = 2e3;
	close_to(predict_us(&calibration, 64, 1, 0, TARE_MECHANISM_OUT_OF_ORDER),
	         1024.0 * 66 / 64 + 2 * 2, 1e-9);
	calibration.event_gap_ns = 4e3;
	close_to(predict_us(&calibration, 64, 1, 0, TARE_MECHANISM_STAGE_QUEUES),
	         1024.0 * 66 / 64 + 2 * 4, 1e-9);
	calibration.switch_ns = 1e3;
	// Each engine turns to another queue for every chunk but its first.
	close_to(predict_us(&calibration, 64, 64, 0, 0), 1024.0 * 66 / 64 + 63 + 2 * (3 + 1), 1e-9);
}

static void a_row_in_one_queue_has_gaps_that_others_do_not(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		calibration.points[stage][0] = (struct tare_stage_point){ 1024, 1024e3, 1025e3 };
	close_to(predict_us(&calibration, 64, 64, 0, 0), 1024.0 * 66 / 64, 1e-9);
	close_to(predict_us(&calibration, 64, 3, 0, TARE_MECHANISM_STAGE_QUEUES),
	         1024.0 * 66 / 64 + 63, 1e-9);
}

static void costs_follow_the_points(void **state)
{
	static const struct tare_stage_point points[] = {
		{ 16, 6e3, 4e3 },
		{ 64, 9e3, 7e3 },
		{ 256, 0, 30e3 },
	};
	static const struct {
		uint64_t items;
		double expected_us;
	} table[] = {
		{ 16, 4 },     { 64, 7 },   { 40, 5.5 },
		{ 160, 18.5 }, { 256, 30 }, { 448, 53 }, // on at the last slope
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_calibration calibration = plain();
		struct tare_pipeline_work work = { table[i].items, 0, 0, 1 };
		struct tare_schedule schedule = { 1, 1 };
		double ns;
		memcpy(calibration.points[TARE_STAGE_KERNEL], points, sizeof points);
		calibration.point_count[TARE_STAGE_KERNEL] = 3;
		must(tare_predict(&calibration, &work, &schedule, &ns, &error));
		close_to(ns / 1e3, table[i].expected_us, 1e-9);
		// With a copy after it, what one alone takes longer than in a row comes on top.
		work.out_bytes = 1;
		must(tare_predict(&calibration, &work, &schedule, &ns, &error));
		double latency_us = table[i].items <= 64 ? 2 : 0;
		double copy_us = (double)table[i].items;
		if (table[i].items <= 64 || table[i].items >= 256)
			close_to(ns / 1e3, table[i].expected_us + latency_us + copy_us, 1e-9);
	}
}

static void a_kind_is_corrected_by_what_was_measured_of_it(void **state)
{
	enum { CHUNK = TARE_MECHANISM_CHUNK_QUEUES, STAGE = TARE_MECHANISM_STAGE_QUEUES };
	const int depth = TARE_ORDER_DEPTH_FIRST, breadth = TARE_ORDER_BREADTH_FIRST;
	const struct {
		uint32_t chunks, queues;
		int order, mechanism;
		double factor;
	} rows[] = {
		{ 8, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 2 },
		{ 16, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 2 },
		{ 32, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 1.5 }, // half-way by the logarithm
		{ 64, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 1 },
		{ 128, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 1 },
		{ 1, 3, TARE_ORDER_BREADTH_FIRST, STAGE, 1 },
		{ 16, 3, TARE_ORDER_DEPTH_FIRST, STAGE, 1 },
		{ 16, 3, TARE_ORDER_DEPTH_FIRST, CHUNK, 0.5 },
		{ 128, 3, TARE_ORDER_DEPTH_FIRST, CHUNK, 0.5 },
		{ 16, 2, TARE_ORDER_INTERLEAVED, CHUNK, 1.5 }, // half-way from 1 queue to 4
		{ 16, 4, TARE_ORDER_INTERLEAVED, CHUNK, 2 },
		{ 16, 8, TARE_ORDER_INTERLEAVED, CHUNK, 2 },
		{ 16, 1, TARE_ORDER_DEPTH_FIRST, CHUNK, 1 }, // what gaps are fitted to
	};
	struct tare_calibration known = plain(), corrected = plain();
	(void)state;
	corrected.correction[STAGE][breadth] =
	    (struct tare_kind_correction){ 2, { 16, 64 }, { 2, 1 }, 0 };
	corrected.correction[CHUNK][depth] = (struct tare_kind_correction){ 1, { 24 }, { 0.5 }, 0 };
	corrected.correction[CHUNK][TARE_ORDER_INTERLEAVED] =
	    (struct tare_kind_correction){ 1, { 24 }, { 2 }, 4 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		close_to(predict_us(&corrected, rows[i].chunks, rows[i].queues, rows[i].order,
		                    rows[i].mechanism),
		         rows[i].factor * predict_us(&known, rows[i].chunks, rows[i].queues,
		                                     rows[i].order, rows[i].mechanism),
		         1e-9);
}

static void what_cannot_be_predicted_is_said(void **state)
{
	struct tare_calibration calibration = plain();
	struct tare_schedule schedule = { 2000, 1 };
	double ns;
	(void)state;
	assert_int_equal(tare_predict(&calibration, &plain_work, &schedule, &ns, &error), -ERANGE);
	schedule.chunks = 1;
	// The whole alone is enough to go by.
	calibration.point_count[TARE_STAGE_TO_HOST] = 0;
	must(tare_predict(&calibration, &plain_work, &schedule, &ns, &error));
	close_to(ns / 1e3, 3 * 1024, 1e-9);
	calibration.modes.alone_ns[TARE_STAGE_TO_HOST] = 0;
	assert_int_equal(tare_predict(&calibration, &plain_work, &schedule, &ns, &error), -ENODATA);
	assert_string_equal(error.message,
	                    "nothing is known of what to-host costs; time it at one size at least");
	// Without output there is nothing to know.
	struct tare_pipeline_work no_output = { 1024, 1, 0, 1 };
	must(tare_predict(&calibration, &no_output, &schedule, &ns, &error));
	close_to(ns / 1e3, 2 * 1024, 1e-9);
}

// ---- the fit

static void the_fit_finds_what_made_the_runs(void **state)
{
	static const double table[][4] = {
		{ 3e3, 2e3, 4e3, 1e3 },
		{ 0, 0, 0, 0 },
		{ 5e3, 0, 1e3, 0 },
		{ 200, 9e3, 0, 3e3 },
	};
	static const struct tare_schedule schedules[] = {
		{ 256, 1, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		{ 256, 4, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		{ 4, 3, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_STAGE_QUEUES, TARE_CHUNKS_EQUAL },
		{ 4, 1, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_OUT_OF_ORDER, TARE_CHUNKS_EQUAL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_calibration calibration = plain();
		struct tare_timed_schedule runs[4];
		calibration.gap_ns = table[i][0];
		calibration.switch_ns = table[i][1];
		calibration.event_gap_ns = table[i][2];
		calibration.out_of_order_gap_ns = table[i][3];
		for (int run = 0; run < 4; run++) {
			runs[run].schedule = schedules[run];
			must(tare_predict(&calibration, &plain_work, &schedules[run], &runs[run].ns,
			                  &error));
		}
		calibration.gap_ns = 77e3;
		calibration.event_gap_ns = 99e3;
		must(tare_calibration_fit(&calibration, &plain_work, runs, 4, &error));
		print_message("# gap %.0f switch %.0f event %.0f out-of-order %.0f ns\n",
		              calibration.gap_ns, calibration.switch_ns, calibration.event_gap_ns,
		              calibration.out_of_order_gap_ns);
		for (int run = 0; run < 4; run++) {
			double ns;
			must(tare_predict(&calibration, &plain_work, &schedules[run], &ns, &error));
			close_to(ns, runs[run].ns, 0.003);
		}
		close_to(calibration.gap_ns, table[i][0], 0.01);
		assert_true(fabs(calibration.switch_ns - table[i][1]) <= 0.01 * table[i][1]);
	}
	// Without runs nothing is known, and nothing is invented.
	struct tare_calibration calibration = plain();
	calibration.event_gap_ns = 5;
	must(tare_calibration_fit(&calibration, &plain_work, NULL, 0, &error));
	assert_true(calibration.gap_ns == 0 && calibration.switch_ns == 0);
	assert_true(calibration.event_gap_ns == 5);
}

// ---- the H200

struct measured {
	size_t sizes;
	double bytes[SIZES], in_alone[SIZES], out_alone[SIZES], both[SIZES];
	double in[SIZES], out[SIZES], kernel_alone[KERNELS][SIZES], kernel[KERNELS][SIZES];
	int cycles[KERNELS];
	size_t rows;
	struct {
		int cycles, queues, chunks;
		double us, issue_us;
	} row[ROWS];
};

static const int queue_counts[QUEUES] = { 1, 2, 3, 4, 8 };

static void read_copy_line(struct measured *m, const char *line)
{
	size_t i = m->sizes++;
	int used = 0;

	assert_int_equal(sscanf(line, "c %lf %lf %lf %lf | %lf %lf%n", &m->bytes[i],
	                        &m->in_alone[i], &m->out_alone[i], &m->both[i], &m->in[i],
	                        &m->out[i], &used),
	                 6);
	for (int k = 0; k < KERNELS; k++) {
		line += used;
		assert_int_equal(sscanf(line, " k%d %lf/%lf%n", &m->cycles[k],
		                        &m->kernel_alone[k][i], &m->kernel[k][i], &used),
		                 3);
	}
}

static struct measured read_measured(void)
{
	struct measured m = { 0 };
	char path[1024], line[512];

	snprintf(path, sizeof path, "%s/h200-pipeline.txt", getenv("TARE_TEST_DATA"));
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		if (strncmp(line, "c ", 2) == 0)
			read_copy_line(&m, line);
		if (strncmp(line, "p ", 2) == 0 &&
		    sscanf(line, "p %d %d %d %lf %lf", &m.row[m.rows].cycles, &m.row[m.rows].queues,
		           &m.row[m.rows].chunks, &m.row[m.rows].us, &m.row[m.rows].issue_us) == 5)
			m.rows++;
	}
	fclose(file);
	assert_int_equal(m.sizes, 10);
	assert_int_equal(m.rows, 200);
	return m;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;
	return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static double median(const double *values, size_t count)
{
	double sorted[ROWS];
	memcpy(sorted, values, count * sizeof *values);
	qsort(sorted, count, sizeof *sorted, compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

// The lines `p` that the calibration may see.
static bool is_given(const struct measured *m, size_t row)
{
	return m->row[row].cycles == 320 && m->row[row].chunks == 1024 &&
	       (m->row[row].queues == 1 || m->row[row].queues == 3);
}

static struct tare_schedule schedule_of(const struct measured *m, size_t row)
{
	return (struct tare_schedule){ .chunks = (uint32_t)m->row[row].chunks,
		                       .queues = (uint32_t)m->row[row].queues };
}

static const struct tare_pipeline_work h200_work = { TOTAL_BYTES / 4, 4, 4, 1 };

// Everything but gap and switch, in ns. `c` has times of the host, alone: launching and waking are
// in them once, which is the least that one is above the same in a row.
static struct tare_calibration calibrate(const struct measured *m, int kernel)
{
	struct tare_calibration calibration = { 0 };
	double above[SIZES], issue_us = 0, duplex;
	size_t last = m->sizes - 1;

	for (size_t i = 0; i < m->sizes; i++)
		above[i] = m->in_alone[i] - m->in[i];
	double host_us = median(above, m->sizes);
	for (size_t i = 0; i < m->sizes; i++) {
		uint64_t bytes = (uint64_t)m->bytes[i];
		calibration.points[TARE_STAGE_TO_DEVICE][i] =
		    (struct tare_stage_point){ bytes, 1e3 * (m->in_alone[i] - host_us),
			                       1e3 * m->in[i] };
		calibration.points[TARE_STAGE_KERNEL][i] =
		    (struct tare_stage_point){ bytes / 4,
			                       1e3 * (m->kernel_alone[kernel][i] - host_us),
			                       1e3 * m->kernel[kernel][i] };
		calibration.points[TARE_STAGE_TO_HOST][i] =
		    (struct tare_stage_point){ bytes, 1e3 * (m->out_alone[i] - host_us),
			                       1e3 * m->out[i] };
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		calibration.point_count[stage] = m->sizes;
	duplex = fmax(m->in_alone[last], m->out_alone[last]) / m->both[last];
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		// Kernels beside copies were not measured: full speed. `ce 3` says three engines.
		calibration.modes.known[mode] = calibration.modes.together[mode] = true;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			if (mode >> stage & 1)
				calibration.modes.speed[mode][stage] =
				    (mode & 5) == 5 && stage != TARE_STAGE_KERNEL ? duplex : 1;
	}
	for (size_t i = 0; i < m->rows; i++)
		if (is_given(m, i))
			issue_us += m->row[i].issue_us / (3 * m->row[i].chunks) / 2;
	calibration.issue_ns = 1e3 * issue_us;
	calibration.finish_ns = 1e3 * (host_us - issue_us);
	return calibration;
}

static void fit_given(const struct measured *m, struct tare_calibration calibrations[KERNELS])
{
	struct tare_timed_schedule runs[2];
	size_t count = 0;
	int kernel = 0;

	for (size_t i = 0; i < m->rows; i++)
		if (is_given(m, i))
			runs[count++] =
			    (struct tare_timed_schedule){ schedule_of(m, i), 1e3 * m->row[i].us };
	assert_int_equal(count, 2);
	while (m->cycles[kernel] != 320)
		kernel++;
	for (int k = 0; k < KERNELS; k++)
		calibrations[k] = calibrate(m, k);
	must(tare_calibration_fit(&calibrations[kernel], &h200_work, runs, count, &error));
	for (int k = 0; k < KERNELS; k++) {
		calibrations[k].gap_ns = calibrations[kernel].gap_ns;
		calibrations[k].switch_ns = calibrations[kernel].switch_ns;
	}
	print_message("# issue %.2f us, finish %.2f us, gap %.2f us, switch %.2f us\n",
	              calibrations[0].issue_ns / 1e3, calibrations[0].finish_ns / 1e3,
	              calibrations[0].gap_ns / 1e3, calibrations[0].switch_ns / 1e3);
}

static void predict_rows(const struct measured *m, double predicted_us[ROWS])
{
	struct tare_calibration calibrations[KERNELS];

	fit_given(m, calibrations);
	for (size_t i = 0; i < m->rows; i++) {
		struct tare_schedule schedule = schedule_of(m, i);
		int k = 0;
		while (m->cycles[k] != m->row[i].cycles)
			k++;
		must(tare_predict(&calibrations[k], &h200_work, &schedule, &predicted_us[i],
		                  &error));
		predicted_us[i] /= 1e3;
	}
}

static void rows_of_the_h200_are_predicted_within_5_percent(void **state)
{
	static const struct {
		const char *name;
		int queues, chunks;
		double limit;
	} groups[] = {
		{ "to 64 chunks", 0, 64, 0.02 }, { "to 256 chunks", 0, 256, 0.03 },
		{ "1 queue", 1, 1024, 0.05 },    { "2 queues", 2, 1024, 0.05 },
		{ "3 queues", 3, 1024, 0.05 },   { "4 queues", 4, 1024, 0.05 },
		{ "8 queues", 8, 1024, 0.05 },   { "all", 0, 1024, 0.05 },
	};
	struct measured m = read_measured();
	double predicted_us[ROWS];
	(void)state;
	predict_rows(&m, predicted_us);
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
		double errors[ROWS], sum = 0, worst = 0;
		size_t n = 0;
		for (size_t i = 0; i < m.rows; i++) {
			if (is_given(&m, i) || m.row[i].chunks > groups[g].chunks ||
			    (groups[g].queues && m.row[i].queues != groups[g].queues))
				continue;
			errors[n] = fabs(predicted_us[i] / m.row[i].us - 1);
			sum += errors[n];
			worst = fmax(worst, errors[n++]);
		}
		print_message("# %s: %zu rows, mean error %.2f %%, median %.2f %%, worst %.1f %%\n",
		              groups[g].name, n, 100 * sum / (double)n, 100 * median(errors, n),
		              100 * worst);
		assert_true(n > 20);
		assert_true(sum / (double)n < groups[g].limit);
	}
}

// What the schedule that the prediction likes best of those measured cost, over the best measured;
// queues 0: of any number.
static double regret(const struct measured *m, const double *predicted_us, int cycles, int queues,
                     size_t *chosen)
{
	double least_us = INFINITY;

	*chosen = ROWS;
	for (size_t i = 0; i < m->rows; i++) {
		if (m->row[i].cycles != cycles || (queues && m->row[i].queues != queues))
			continue;
		least_us = fmin(least_us, m->row[i].us);
		if (*chosen == ROWS || predicted_us[i] < predicted_us[*chosen])
			*chosen = i;
	}
	return m->row[*chosen].us / least_us - 1;
}

static void chosen_chunks_are_within_3_percent_of_the_best(void **state)
{
	struct measured m = read_measured();
	double predicted_us[ROWS];
	(void)state;
	predict_rows(&m, predicted_us);
	for (int k = 0; k < KERNELS; k++) {
		size_t chosen;
		double lost = regret(&m, predicted_us, m.cycles[k], 0, &chosen);
		print_message(
		    "# %d cycles: %d chunks, %d queues, %.2f %% above the best measured\n",
		    m.cycles[k], m.row[chosen].chunks, m.row[chosen].queues, 100 * lost);
		assert_true(lost <= 0.03);
		for (int i = 0; i < QUEUES; i++) {
			lost = regret(&m, predicted_us, m.cycles[k], queue_counts[i], &chosen);
			print_message("#   of %d queues: %d chunks, %.2f %%\n", queue_counts[i],
			              m.row[chosen].chunks, 100 * lost);
			assert_true(lost <= 0.03);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_of_their_own_give_the_closed_form),
		cmocka_unit_test(stages_never_seen_together_take_turns),
		cmocka_unit_test(a_stage_that_two_others_exclude_is_slowed_as_measured),
		cmocka_unit_test(concurrent_stages_go_at_the_measured_speeds),
		cmocka_unit_test(the_host_limits_where_issuing_is_slower),
		cmocka_unit_test(gaps_are_paid_where_they_are),
		cmocka_unit_test(a_row_in_one_queue_has_gaps_that_others_do_not),
		cmocka_unit_test(costs_follow_the_points),
		cmocka_unit_test(a_kind_is_corrected_by_what_was_measured_of_it),
		cmocka_unit_test(what_cannot_be_predicted_is_said),
		cmocka_unit_test(the_fit_finds_what_made_the_runs),
		cmocka_unit_test(rows_of_the_h200_are_predicted_within_5_percent),
		cmocka_unit_test(chosen_chunks_are_within_3_percent_of_the_best),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
