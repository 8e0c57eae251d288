// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include "matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEAN_OF 10 // runs, as in the code that is often copied

void need(int status, const struct tare_time_error *error)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s\n", error->message);
	exit(1);
}

void begin(struct tare_timer *timer, const char *name, struct tare_time_span *span)
{
	struct tare_time_error error;

	need(tare_time_begin(timer, name, span, &error), &error);
}

void end(struct tare_timer *timer, struct tare_time_span span)
{
	struct tare_time_error error;

	need(tare_time_end(timer, span, &error), &error);
}

void print(const struct tare_time_result *result)
{
	char line[TARE_TIME_LINE];

	tare_time_line(result, line, sizeof line);
	puts(line);
}

struct tare_time_result take(struct tare_timer *timer, struct tare_time_span span)
{
	struct tare_time_result result;
	struct tare_time_error error;

	need(tare_time_read(timer, span, LIMIT_NS, &result, &error), &error);
	need(tare_time_release(timer, span, &error), &error);
	return result;
}

void print_throughput(const struct tare_time_result *result, size_t bytes)
{
	int64_t least_ns = result->device_ns - result->uncertainty_ns;

	if (result->state != TARE_TIME_OK || result->device_ns <= 0)
		puts("  throughput: n/a, because there is no time to rely on");
	else if (least_ns <= 0)
		printf("  throughput: at least %.3f GB/s\n",
		       (double)bytes / (double)result->device_ns);
	else
		printf("  throughput: %.3f to %.3f GB/s (10^9 bytes a second), without and with "
		       "what may be the span's own taken off\n",
		       (double)bytes / (double)result->device_ns, (double)bytes / (double)least_ns);
}

struct tare_time_series *series_of(const char *name, size_t bytes)
{
	const struct tare_time_series_options options = { .most = 200,
		                                          .limit_ns = 1000000000,
		                                          .bytes = bytes };
	struct tare_time_series *series;
	struct tare_time_error error;

	need(tare_time_series_open(&series, name, &options, &error), &error);
	return series;
}

void print_table(struct tare_time_series **series, size_t count)
{
	char text[4096];

	if (tare_time_table(series, count, text, sizeof text) > 0)
		fputs(text, stdout);
	for (size_t i = 0; i < count; i++)
		tare_time_series_close(series[i]);
}

static double raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void product_open(struct product *product, size_t n)
{
	float *memory = malloc(4 * n * n * sizeof *memory);
	double before;

	if (!memory)
		exit(1);
	*product = (struct product){ .n = n, .a = memory };
	product->b = memory + n * n;
	product->expected = memory + 2 * n * n;
	product->found = memory + 3 * n * n;
	fill_matrix(product->a, n, 1);
	fill_matrix(product->b, n, 2);
	memset(product->found, 0, n * n * sizeof *memory);
	// What is touched for the first time is not in the time.
	host_matmul(product->expected, product->a, product->b, n);
	before = raw_ns();
	host_matmul(product->expected, product->a, product->b, n);
	product->host_ns = raw_ns() - before;
	product->device = series_of("product", 0);
}

void product_wall(struct product *product, double ns)
{
	if (product->walls < WALLS)
		product->wall_ns[product->walls++] = ns;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double mean_of_the_first(const struct product *product)
{
	size_t n = product->walls < MEAN_OF ? product->walls : MEAN_OF;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += product->wall_ns[i];
	return sum / (double)n;
}

int product_close(struct product *product)
{
	double mean_ns = mean_of_the_first(product), wall_ns;
	size_t wrong = differences(product->found, product->expected, product->n);
	struct tare_time_figure figure;
	struct tare_time_error error;

	need(tare_time_series_figure(product->device, &figure, &error), &error);
	print_table(&product->device, 1);
	qsort(product->wall_ns, product->walls, sizeof(double), compare);
	wall_ns = product->wall_ns[product->walls / 2];
	printf("  product of %zu x %zu: %.0f ns on one core of the host, optimised; %.0f ns with "
	       "submission and wait\n",
	       product->n, product->n, product->host_ns, wall_ns);
	if (isnan(figure.median_ns) || figure.below_floor)
		puts("  speed-up of the kernel: n/a, because there is no time to rely on");
	else
		printf("  speed-up of the kernel: %.2f, with submission and wait: %.2f; copies are "
		       "in neither\n",
		       product->host_ns / figure.median_ns, product->host_ns / wall_ns);
	printf("  copied code: %.0f ns, the mean of %d runs with the first among them, against "
	       "loops that were not optimised; its sums underflow, and nobody looks at them\n",
	       mean_ns, MEAN_OF);
	printf("  result: %s\n", wrong ? "WRONG" : "right");
	free(product->a);
	return wrong > 0;
}
