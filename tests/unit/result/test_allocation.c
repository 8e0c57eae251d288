// SPDX-License-Identifier: Apache-2.0
// Lets the first, second, third ... allocation fail while a document is built, written and read:
// each time the caller is told, and nothing is lost.
#include "report/report.h"
#include "result/json.h"

#include "rich_result.h"
#include "tare_config.h"
#include "tests/unit/quick.h"

#if TARE_HAVE_JSON
#include <jansson.h>
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// The linker turns tare's calls of malloc into __wrap_malloc, and so on.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
void __wrap_free(void *pointer);

static long allowed; // allocations until the one that fails
static long live;    // blocks that were not freed
static bool failed;
static bool reading;
static bool excused; // it failed in jansson's parser, which may pass over a failure

static bool refuse(void)
{
	if (allowed-- != 0)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	void *block = refuse() ? NULL : __real_malloc(size);
	live += block != NULL;
	return block;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *block = refuse() ? NULL : __real_calloc(count, size);
	live += block != NULL;
	return block;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *block = refuse() ? NULL : __real_realloc(old, size);
	live += block && !old;
	return block;
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return __wrap_realloc(old, count * size);
}

char *__wrap_strdup(const char *text)
{
	char *copy = __wrap_malloc(strlen(text) + 1);
	return copy ? strcpy(copy, text) : NULL;
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
	char line[512];
	int length = vsnprintf(line, sizeof line, format, arguments);
	*text = __wrap_strdup(line);
	return *text ? length : -1;
}

// What a compiler that fortifies by default (Ubuntu's) makes of it.
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list arguments)
{
	(void)flag;
	return __wrap_vasprintf(text, format, arguments);
}

void __wrap_free(void *pointer)
{
	live -= pointer != NULL;
	__real_free(pointer);
}

#if TARE_HAVE_JSON
static void *jansson_malloc(size_t size)
{
	void *block = __wrap_malloc(size);
	excused |= !block && reading;
	return block;
}
#endif

static int fill(struct tare_result *result, const char *command)
{
	if (strcmp(command, "checkup") == 0)
		return rich_fill_parts(result);
	return rich_fill(result, strcmp(command, "devices") == 0);
}

// A document that has failed looks whole to no writer, and whoever goes on building it crashes
// nothing.
static int refused(struct tare_result *result, FILE *sink)
{
	const struct tare_text_options options = { 0 };
	struct tare_error errors[3] = { 0 };
	long before = ftell(sink);

	rich_fill(result, false);
	tare_result_sort_cells(result);
	assert_int_equal(tare_result_status(result), -ENOMEM);
	assert_int_equal(tare_report_csv(result, sink, &errors[0]), -ENOMEM);
	assert_int_equal(tare_report_text(result, &options, sink, &errors[1]), -ENOMEM);
	if (TARE_HAVE_JSON)
		assert_int_equal(tare_result_write_json(result, sink, &errors[2]), -ENOMEM);
	for (int i = 0; i < 2 + TARE_HAVE_JSON; i++)
		assert_non_null(strstr(errors[i].message, "out of memory"));
	assert_int_equal(ftell(sink), before);
	tare_result_free(result);
	return -ENOMEM;
}

// Builds, sorts, writes and reads. Returns 0 or what the failing function returned.
static int everything(FILE *sink, FILE *scratch, const char *command)
{
	struct tare_result *result = tare_result_new(command);
	struct tare_result *read = NULL;
	struct tare_error error = { 0 };
	static char text[65536];
	size_t length;
	int status = result ? fill(result, command) : -ENOMEM;

	if (result && tare_result_status(result) < 0)
		return refused(result, scratch);
	if (status == 0) {
		tare_result_sort_cells(result);
		status = tare_report_csv(result, sink, &error);
	}
	if (status == 0 && TARE_HAVE_JSON) {
		rewind(scratch);
		status = tare_result_write_json(result, scratch, &error);
		length = (size_t)ftell(scratch);
		rewind(scratch);
		if (status == 0) {
			assert_true(length < sizeof text);
			assert_int_equal(fread(text, 1, length, scratch), length);
			reading = true;
			status = tare_result_read_json(text, length, &read, &error);
			reading = false;
		}
	}
	// Where memory runs out within a token, jansson says that the token is wrong.
	if (status == -EINVAL && strstr(error.message, "not JSON"))
		status = -ENOMEM;
	else if (status < 0 && error.code)
		assert_non_null(strstr(error.message, "out of memory"));
	tare_result_free(result);
	tare_result_free(read);
	return status;
}

static void any_allocation_may_fail(void **state)
{
	static const struct {
		const char *command;
		long forgiven;
	} rows[] = {
		// Sorting may leave the order as it is; nothing else may go on without its memory.
		{ "bandwidth", 1 },
		{ "devices", 0 },
		{ "checkup", 0 },
	};
	FILE *sink = fopen("/dev/null", "w");
	FILE *scratch = tmpfile();
	// Sanitizers take 40 times as long: there, some allocations stand for all.
	long step = test_is_quick() ? 7 : 1;
	(void)state;
	assert_true(sink && scratch);
#if TARE_HAVE_JSON
	json_set_alloc_funcs(jansson_malloc, __wrap_free);
#endif
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		long n = -step, forgiven = 0;
		int status;
		do {
			allowed = n += step;
			live = 0;
			failed = excused = false;
			status = everything(sink, scratch, rows[i].command);
			if (live != 0)
				fail_msg("allocation %ld fails: %ld blocks are lost", n, live);
			if (status != (failed ? -ENOMEM : 0) && !(failed && status == 0))
				fail_msg("allocation %ld fails: status %d", n, status);
			forgiven += failed && !excused && status == 0;
		} while (failed);
		assert_true(step > 1 ? forgiven <= rows[i].forgiven : forgiven == rows[i].forgiven);
		// Fewer, and the wrapper wraps nothing.
		assert_true(n > 20);
	}
	fclose(scratch);
	fclose(sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_allocation_may_fail) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
