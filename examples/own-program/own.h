// SPDX-License-Identifier: Apache-2.0
// What the examples of libtare share on every API: checking its calls, printing its results, and
// the two speed-ups of a matrix product.
#pragma once
#include <tare/time_series.h>

#include <stddef.h>

#define LIMIT_NS INT64_C(60000000000)

// Ends the program with the error's sentence when a call of libtare failed.
void need(int status, const struct tare_time_error *error);
void begin(struct tare_timer *timer, const char *name, struct tare_time_span *span);
void end(struct tare_timer *timer, struct tare_time_span span);
// Prints a result in a line.
void print(const struct tare_time_result *result);
// Waits for a span; its place is free again.
struct tare_time_result take(struct tare_timer *timer, struct tare_time_span span);
// Prints the throughput of a result in which so many bytes were copied.
void print_throughput(const struct tare_time_result *result, size_t bytes);

// A series of at most 200 results and a second.
struct tare_time_series *series_of(const char *name, size_t bytes);
// Prints the series as a table and closes them.
void print_table(struct tare_time_series **series, size_t count);

// A product of n x n matrices: what one core of the host takes for it, the device's times, and
// those of the whole call by the host's clock.
enum { WALLS = 1024 };
struct product {
	size_t n;
	float *a, *b, *expected, *found;
	double host_ns;
	struct tare_time_series *device;
	double wall_ns[WALLS];
	size_t walls;
};
// Fills a and b and has the host multiply them.
void product_open(struct product *product, size_t n);
void product_wall(struct product *product, double ns);
// Prints both speed-ups, what is often copied instead, and whether what was found is right. Returns
// 0, or 1 when it is wrong.
int product_close(struct product *product);
