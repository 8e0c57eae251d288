// SPDX-License-Identifier: Apache-2.0
// Memory refused at every place where the tables ask for it: an error, nothing left behind.
#include "tables_run.h"

#include <errno.h>

static long allowed = -1; // allocations before all fail; -1: no limit

static bool refused(void)
{
	if (allowed > 0)
		allowed--;
	return allowed == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *pointer, size_t bytes);
void *__real_reallocarray(void *pointer, size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *pointer, size_t bytes);
void *__wrap_reallocarray(void *pointer, size_t count, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *pointer, size_t bytes)
{
	return refused() ? NULL : __real_realloc(pointer, bytes);
}

void *__wrap_reallocarray(void *pointer, size_t count, size_t bytes)
{
	return refused() ? NULL : __real_reallocarray(pointer, count, bytes);
}

static void every_refusal_is_an_error(void **state)
{
	struct run *run = *state;
	struct tare_view view = tare_view_all(&run->recording);
	int code = -ENOMEM;
	long places = 0;
	for (int i = 0; i < 60; i++) {
		add_shape(run, 64 * (i % 5 + 1), 64);
		add(run, i % 3 ? TARE_KIND_KERNEL : TARE_KIND_WRITE, 100 * i, 100 * i + 50,
		    100 * i + 90 + i)
		    ->amount = i;
	}
	add_call(run, FINISH, 6000, 6500);
	add_call(run, BUILD, 6600, 6700);
	while (code != 0) {
		struct tare_error error = { 0 };
		allowed = ++places;
		code = tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0,
		                           &run->tables, &error);
		allowed = -1;
		if (code == 0)
			break;
		assert_int_equal(code, -ENOMEM);
		assert_string_not_equal(error.message, "");
		assert_null(run->tables.tasks);
		assert_int_equal(run->tables.task_count + run->tables.api_count, 0);
	}
	assert_true(places > 40);
	assert_int_equal(run->tables.queue_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RUN(every_refusal_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
