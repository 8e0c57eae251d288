// SPDX-License-Identifier: Apache-2.0
// The engine model against a pipeline measured on a real H200 (tests/data/h200-pipeline.txt),
// calibrated from the lines `c` (single copies and kernels) and `iss` (host time to issue one
// operation) only:
//   copy and kernel: cost a + b * bytes by least squares of the relative error over the ten sizes,
//     from the times of 16 issued back to back;
//   duplex: both directions at once over the slower one alone, at the largest size;
//   launch and wake: a copy alone (issued, waited for) less the same copy back to back, median
//     over the sizes; half before, half after, which the sum does not see.
// Lines `p` are predicted: Y cycles, N queues, S chunks, each chunk copy, kernel, copy.
#include "model/engine/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZES = 16, KERNELS = 4, ROWS = 256, TOTAL_BYTES = 256 << 20 };

struct measured {
	size_t sizes;
	double bytes[SIZES], in_alone[SIZES], out_alone[SIZES], both[SIZES];
	double in[SIZES], out[SIZES], kernel[KERNELS][SIZES];
	int cycles[KERNELS];
	double issue_us;
	size_t rows;
	struct {
		int cycles, queues, chunks;
		double us;
	} row[ROWS];
};

static void read_copy_line(struct measured *m, const char *line)
{
	size_t i = m->sizes++;
	int used = 0;

	assert_int_equal(sscanf(line, "c %lf %lf %lf %lf | %lf %lf%n", &m->bytes[i],
	                        &m->in_alone[i], &m->out_alone[i], &m->both[i], &m->in[i],
	                        &m->out[i], &used),
	                 6);
	for (int k = 0; k < KERNELS; k++) {
		double isolated;
		int more = 0;
		line += used;
		assert_int_equal(sscanf(line, " k%d %lf/%lf%n", &m->cycles[k], &isolated,
		                        &m->kernel[k][i], &more),
		                 3);
		used = more;
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
		if (strncmp(line, "iss ", 4) == 0)
			m.issue_us = atof(line + 4);
		if (strncmp(line, "p ", 2) == 0 &&
		    sscanf(line, "p %d %d %d %lf", &m.row[m.rows].cycles, &m.row[m.rows].queues,
		           &m.row[m.rows].chunks, &m.row[m.rows].us) == 4)
			m.rows++;
	}
	fclose(file);
	assert_int_equal(m.sizes, 10);
	assert_int_equal(m.rows, 200);
	return m;
}

// us = a + b * bytes, least squares of the relative error.
static void fit(const struct measured *m, const double *us, double *a, double *b)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < m->sizes; i++) {
		double weight = 1 / (us[i] * us[i]);
		w += weight;
		x += weight * m->bytes[i];
		y += weight * us[i];
		xx += weight * m->bytes[i] * m->bytes[i];
		xy += weight * m->bytes[i] * us[i];
	}
	*b = (w * xy - x * y) / (w * xx - x * x);
	*a = (y - *b * x) / w;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;
	return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static double launch_and_wake_us(const struct measured *m)
{
	double differences[SIZES];

	for (size_t i = 0; i < m->sizes; i++)
		differences[i] = m->in_alone[i] - m->in[i];
	qsort(differences, m->sizes, sizeof *differences, compare);
	return (differences[(m->sizes - 1) / 2] + differences[m->sizes / 2]) / 2;
}

static unsigned long long ps(double us)
{
	return us > 0 ? (unsigned long long)llround(us * 1e6) : 0;
}

// The calibrated device as a script, so that the figures can be read and the grammar is used.
static struct tare_script calibrate(const struct measured *m, double gap_us, double switch_us)
{
	struct tare_script script;
	char text[4096];
	double a[2], b[2], both = m->both[m->sizes - 1];
	double slower = fmax(m->in_alone[m->sizes - 1], m->out_alone[m->sizes - 1]);
	double wait = launch_and_wake_us(m) / 2;
	struct tare_error error = { 0 };

	fit(m, m->in, &a[0], &b[0]);
	fit(m, m->out, &a[1], &b[1]);
	int used = snprintf(
	    text, sizeof text,
	    "tare-device 1\ndevice name \"calibrated H200\" memory 141 GiB\ntimer rate 1 GHz\n"
	    "engine compute runs kernel\nengine copy runs to-device\nengine copy runs to-host\n"
	    "host append %llu ps wake %llu ps\n"
	    "queue submission %llu ps gap %llu ps switch %llu ps\n"
	    "copy pinned device fixed %llu ps rate %lld B/s\n"
	    "copy device pinned fixed %llu ps rate %lld B/s\n"
	    "concurrent to-device speed %.4f %% while to-host\n"
	    "concurrent to-host speed %.4f %% while to-device\n",
	    ps(m->issue_us), ps(wait), ps(wait), ps(gap_us), ps(switch_us), ps(a[0]),
	    llround(1e6 / b[0]), ps(a[1]), llround(1e6 / b[1]), 100 * slower / both,
	    100 * slower / both);
	for (int k = 0; k < KERNELS; k++) {
		double ka, kb;
		fit(m, m->kernel[k], &ka, &kb);
		used += snprintf(text + used, sizeof text - (size_t)used,
		                 "kernel k%d fixed %llu ps rate %lld item/s\n", m->cycles[k],
		                 ps(ka), llround(1e6 / kb));
	}
	if (tare_script_parse(text, (size_t)used, "h200", &script, &error) < 0)
		fail_msg("%s", error.message);
	return script;
}

// The pipeline: chunk after chunk, each on the next queue.
static double predict_us(const struct tare_script *script, int kernel, int queues, int chunks)
{
	struct tare_model *model = tare_model_new(script, NULL, NULL);
	struct tare_model_queue *at[64];
	struct tare_model_operation *operations = calloc(3 * (size_t)chunks, sizeof *operations);
	uint64_t bytes = (uint64_t)TOTAL_BYTES / (uint64_t)chunks;
	int64_t issued_ps = 0, end_ps = 0;

	for (int i = 0; i < queues; i++)
		at[i] = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	for (int i = 0; i < 3 * chunks; i++) {
		struct tare_model_operation *operation = &operations[i];
		const struct tare_script_copy *in =
		    &script->copies[TARE_PLACE_PINNED][TARE_PLACE_DEVICE];
		const struct tare_script_copy *out =
		    &script->copies[TARE_PLACE_DEVICE][TARE_PLACE_PINNED];
		if (i % 3 == 0)
			tare_model_copy_cost(in->fixed_ps, in->rate, bytes, TARE_FLOW_TO_DEVICE,
			                     operation);
		else if (i % 3 == 1)
			tare_model_kernel_cost(script, &script->kernels[kernel], bytes, 1, NULL,
			                       operation);
		else
			tare_model_copy_cost(out->fixed_ps, out->rate, bytes, TARE_FLOW_TO_HOST,
			                     operation);
		issued_ps += script->host.append_ps;
		operation->submitted_ps = issued_ps + script->queue.submission_ps;
		tare_model_append(model, at[i / 3 % queues], operation);
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (int i = 0; i < 3 * chunks; i++)
		end_ps = operations[i].end_ps > end_ps ? operations[i].end_ps : end_ps;
	end_ps = issued_ps > end_ps ? issued_ps : end_ps;
	free(operations);
	tare_model_free(model);
	return (double)(end_ps + script->host.wake_ps) / 1e6;
}

static int kernel_of(const struct measured *m, int cycles)
{
	for (int k = 0; k < KERNELS; k++)
		if (m->cycles[k] == cycles)
			return k;
	fail_msg("no kernel with %d cycles", cycles);
	return 0;
}

static void serial_rows_are_predicted_within_3_percent(void **state)
{
	struct measured m = read_measured();
	struct tare_script script = calibrate(&m, 0, 0);
	int seen = 0;
	(void)state;
	for (size_t i = 0; i < m.rows; i++) {
		if (m.row[i].queues != 1 || m.row[i].chunks != 1)
			continue;
		double us = predict_us(&script, kernel_of(&m, m.row[i].cycles), 1, 1);
		double error = us / m.row[i].us - 1;
		print_message("# p %d 1 1: measured %.2f us, predicted %.2f us, %+.2f %%\n",
		              m.row[i].cycles, m.row[i].us, us, 100 * error);
		assert_true(fabs(error) < 0.03);
		seen++;
	}
	assert_int_equal(seen, KERNELS);
}

static void print_errors(const struct measured *m, const struct tare_script *script,
                         const char *title)
{
	static const struct {
		const char *name;
		int queues_low, queues_high, chunks_high;
	} groups[] = {
		{ "one queue, 2 to 64 chunks", 1, 1, 64 },
		{ "one queue, 2 to 1024 chunks", 1, 1, 1024 },
		{ "2 queues, to 64 chunks", 2, 2, 64 },
		{ "3 and more queues, to 64 chunks", 3, 64, 64 },
		{ "3 and more queues, to 1024 chunks", 3, 64, 1024 },
	};
	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
		double sum = 0, worst = 0;
		int n = 0;
		for (size_t i = 0; i < m->rows; i++) {
			if (m->row[i].queues < groups[g].queues_low ||
			    m->row[i].queues > groups[g].queues_high || m->row[i].chunks < 2 ||
			    m->row[i].chunks > groups[g].chunks_high)
				continue;
			double us = predict_us(script, kernel_of(m, m->row[i].cycles),
			                       m->row[i].queues, m->row[i].chunks);
			double error = fabs(us / m->row[i].us - 1);
			sum += error;
			worst = error > worst ? error : worst;
			n++;
		}
		print_message("# %s; %s: %d rows, mean error %.1f %%, worst %.1f %%\n", title,
		              groups[g].name, n, 100 * sum / n, 100 * worst);
		assert_true(n > 0);
		assert_true(sum / n < 0.5); // gross errors only: the rest is information
	}
}

static void other_rows_for_information(void **state)
{
	struct measured m = read_measured();
	struct tare_script bare = calibrate(&m, 0, 0);
	// What `c` cannot show, as notes from the same machine have it: 2.99 us between dependent
	// operations on two engines, 2.36 us when an engine changes queues.
	struct tare_script full = calibrate(&m, 2.99, 2.36);
	(void)state;
	print_errors(&m, &bare, "from c and iss only");
	print_errors(&m, &full, "with gap and switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serial_rows_are_predicted_within_3_percent),
		cmocka_unit_test(other_rows_for_information),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
