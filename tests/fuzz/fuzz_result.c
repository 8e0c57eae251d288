// SPDX-License-Identifier: Apache-2.0
// Any bytes as a result document. What the reader accepts must survive writing and reading, and
// every writer must cope with it and print nothing that drives a terminal.
#include "target.h"

#include "report/report.h"
#include "result/json.h"

#include <errno.h>
#include <string.h>

struct text {
	char *at;
	size_t length;
};

static struct text as_json(const struct tare_result *result)
{
	struct text text = { 0 };
	FILE *file = open_memstream(&text.at, &text.length);

	FUZZ_CHECK(file && tare_report_json(result, file, NULL) == 0);
	fclose(file);
	return text;
}

static void check_round_trip(const struct tare_result *result)
{
	struct text first = as_json(result), second;
	struct tare_result *read = NULL;

	FUZZ_CHECK(tare_result_read_json(first.at, first.length, &read, NULL) == 0);
	second = as_json(read);
	FUZZ_CHECK(first.length == second.length && memcmp(first.at, second.at, first.length) == 0);
	tare_result_free(read);
	free(first.at);
	free(second.at);
}

static void check_plain(const struct text *text, const char *allowed)
{
	for (size_t i = 0; i < text->length; i++) {
		unsigned char byte = (unsigned char)text->at[i];
		FUZZ_CHECK((byte >= 0x20 && byte != 0x7f) || strchr(allowed, byte));
	}
}

static void check_writers(const struct tare_result *result)
{
	struct tare_text_options options = { .columns = 80 };
	struct text text = { 0 };
	FILE *file = open_memstream(&text.at, &text.length);

	FUZZ_CHECK(file && tare_report_csv(result, file, NULL) == 0);
	fclose(file);
	check_plain(&text, "\r\n");
	free(text.at);
	for (options.verbosity = -1; options.verbosity <= 1; options.verbosity++) {
		text = (struct text){ 0 };
		file = open_memstream(&text.at, &text.length);
		FUZZ_CHECK(file && tare_report_text(result, &options, file, NULL) == 0);
		fclose(file);
		check_plain(&text, "\n\t");
		free(text.at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_result *result = NULL;
	struct tare_error error = { 0 };
	int status = tare_result_read_json((const char *)data, size, &result, &error);

	if (status < 0) {
		FUZZ_CHECK(status == -EINVAL && error.message[0] && !result);
		check_plain(&(struct text){ error.message, strlen(error.message) }, "");
		return 0;
	}
	check_round_trip(result);
	check_writers(result);
	tare_result_free(result);
	return 0;
}
