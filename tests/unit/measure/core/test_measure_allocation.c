// SPDX-License-Identifier: Apache-2.0
// Lets one allocation after the other fail while a command measures and concludes: whatever was
// lost, the run or its document says that memory ran out, and nothing crashes.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/bandwidth/bandwidth.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "measure/peak/peak.h"
#include "tests/unit/measure/core/simulated_run.h"
#include "tests/unit/quick.h"

#define MS INT64_C(1000000)

// The linker turns tare's calls into these. A document is made of nothing else; what a device
// allocates with malloc and calloc may fail for good reasons, and becomes a cell that says so.
char *__real_strdup(const char *text);
int __real_vasprintf(char **text, const char *format, va_list arguments);
int __real___vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static long seen, failing; // counts from 0; failing < 0: none

static bool refuse(void)
{
	return seen++ == failing;
}

char *__wrap_strdup(const char *text)
{
	return refuse() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
	return refuse() ? -1 : __real_vasprintf(text, format, arguments);
}

// What a compiler that fortifies by default (Ubuntu's) makes of it.
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list arguments)
{
	(void)flag;
	return __wrap_vasprintf(text, format, arguments);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return refuse() ? NULL : __real_reallocarray(old, count, size);
}

static int latency(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_latency(run, NULL, error);
}

static int bandwidth(struct tare_run *run, struct tare_error *error)
{
	const struct tare_bandwidth_options options = { .to_bytes = 65536 };
	return tare_measure_bandwidth(run, &options, error);
}

static int peak(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_peak(run, error);
}

static int matmul(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_matmul(run, NULL, error);
}

static int overlap(struct tare_run *run, struct tare_error *error)
{
	char *log = NULL;
	int status = tare_measure_overlap(run, NULL, &log, error);

	free(log);
	return status;
}

typedef int measure_function(struct tare_run *run, struct tare_error *error);

// Measures on the device that comes with tare while allocation `n` fails (-1: none), and returns
// how many there were.
static long measure(const char *command, measure_function *function, long n, bool *complete)
{
	const struct tare_backend *backend = tare_backend_find("simulated");
	struct simulated_run simulated = { 0 };
	struct tare_error error = { 0 };
	int status;

	failing = -1;
	assert_int_equal(backend->driver_open(NULL, &simulated.driver, &error), 0);
	assert_int_equal(backend->device_facts(simulated.driver, 0, &simulated.facts, &error), 0);
	assert_int_equal(backend->device_open(simulated.driver, 0, &simulated.device, &error), 0);
	simulated.run = (struct tare_run){
		.device = simulated.device,
		.facts = &simulated.facts,
		.result = tare_result_new(command),
		.budget_ns = 50 * MS,
		.seed = 1,
	};
	assert_non_null(simulated.run.result);
	seen = 0;
	failing = n;
	status = function(&simulated.run, &error);
	failing = -1;
	*complete = status == 0 && tare_result_status(simulated.run.result) == 0;
	if (status < 0 && status != -ENOMEM)
		fail_msg("%s, allocation %ld fails: %d, %s", command, n, status, error.message);
	if (status < 0)
		assert_non_null(strstr(error.message, "memory"));
	simulated_close(&simulated);
	return seen;
}

static void no_loss_goes_unsaid(void **state)
{
	static const struct {
		const char *command;
		measure_function *function;
		long times; // so many allocations stand for all
	} rows[] = {
		{ "latency", latency, 60 }, { "bandwidth", bandwidth, 40 }, { "peak", peak, 40 },
		{ "matmul", matmul, 40 },   { "overlap", overlap, 20 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		long times = test_is_quick() ? rows[i].times / 8 : rows[i].times;
		bool complete;
		long all = measure(rows[i].command, rows[i].function, -1, &complete);
		long step = all / times + 1;
		assert_true(complete);
		// Fewer, and the wrapper wraps nothing.
		assert_true(all > 100);
		for (long n = 0; n < all; n += step) {
			measure(rows[i].command, rows[i].function, n, &complete);
			if (complete)
				fail_msg("%s: allocation %ld of %ld fails, and nobody says so",
				         rows[i].command, n, all);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_loss_goes_unsaid) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
