// SPDX-License-Identifier: Apache-2.0
#include "record/document.h"

#include "base/time.h"
#include "record/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tare_record_start_now(struct tare_record_document *document)
{
	document->start_raw_ns = tare_host_now().ns;
	document->start_monotonic_ns = now_ns(CLOCK_MONOTONIC);
	document->start_realtime_ns = now_ns(CLOCK_REALTIME);
}

// ---- text

// The length of the UTF-8 sequence at `text`, 0 when there is none (Unicode 15, table 3-7).
static size_t sequence(const unsigned char *text)
{
	unsigned char first = text[0], low = 0x80, high = 0xbf;
	size_t length = first < 0x80   ? 1
	                : first < 0xc2 ? 0
	                : first < 0xe0 ? 2
	                : first < 0xf0 ? 3
	                               : 4;

	if (first > 0xf4)
		return 0;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < length; i++) {
		if (text[i] < low || text[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

static void put_text(FILE *file, const char *text)
{
	if (!text) {
		fputs("null", file);
		return;
	}
	fputc('"', file);
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t length = sequence(at);
		if (length == 0)
			fputs("\\ufffd", file);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(file, "\\u%04x", *at);
		else
			fprintf(file, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)length,
			        (const char *)at);
		at += length ? length : 1;
	}
	fputc('"', file);
}

static void put_member(FILE *file, const char *key, const char *text)
{
	fprintf(file, ",\n  \"%s\": ", key);
	put_text(file, text);
}

// A number, or null where it is not known.
static void put_number(FILE *file, const char *key, bool known, int64_t value)
{
	if (known)
		fprintf(file, ",\n  \"%s\": %" PRId64, key, value);
	else
		fprintf(file, ",\n  \"%s\": null", key);
}

// ---- parts

static void put_host(FILE *file)
{
	struct utsname system = { 0 };
	long units = sysconf(_SC_NPROCESSORS_ONLN);
	char boot[64] = "";
	FILE *from = fopen("/proc/sys/kernel/random/boot_id", "re");

	uname(&system);
	if (from && fgets(boot, sizeof boot, from))
		boot[strcspn(boot, "\n")] = '\0';
	if (from)
		fclose(from);
	put_member(file, "host_name", system.nodename);
	put_number(file, "host_units", units > 0, units);
	put_member(file, "kernel_release", system.release);
	put_member(file, "boot_id", boot[0] ? boot : NULL);
}

static void put_options(FILE *file, const struct tare_record_options *options)
{
	fprintf(file,
	        ",\n  \"options\": {\"strict\": %s, \"keep\": \"%s\", \"max_bytes\": %" PRIu64
	        ", \"delay_ns\": %" PRId64 ", \"duration_ns\": %" PRId64
	        ", \"call_stacks\": %s, \"contents\": %s, \"times\": \"%s\"}",
	        options->strict ? "true" : "false", options->keep_newest ? "newest" : "oldest",
	        options->max_bytes, options->delay_ns, options->duration_ns,
	        options->call_stacks ? "true" : "false", options->contents ? "true" : "false",
	        tare_record_times_name(options->times));
}

static void put_end(FILE *file, const struct tare_record_document *document)
{
	static const struct tare_child_end unknown = { .status = -1 };
	bool ended = document->ended;
	const struct tare_child_end *end = ended ? document->end : &unknown;

	put_number(file, "end_raw_ns", ended, document->end_raw_ns);
	put_number(file, "exit_status", ended && end->signal == 0, end->status);
	put_number(file, "exit_signal", ended && end->signal != 0, end->signal);
	put_number(file, "user_cpu_ns", ended, end->user_ns);
	put_number(file, "system_cpu_ns", ended, end->system_ns);
	put_number(file, "max_resident_bytes", ended, end->max_resident_bytes);
}

static void put_layer(FILE *file, const struct tare_record_document *document)
{
	fputs(",\n  \"layer\": {\"path\": ", file);
	put_text(file, document->layer_path);
	fputs(", \"loader\": ", file);
	put_text(file, document->loader);
	fputs(", \"front\": ", file);
	put_text(file, document->options->front);
	fputs(", \"cuda_front\": ", file);
	put_text(file, document->options->cuda_front);
	fputs(", \"state\": ", file);
	put_text(file, document->layer_state);
	fputs("}", file);
}

static void put_others(FILE *file, const struct tare_other_uses *others)
{
	const char *separator = "";

	fputs(",\n  \"other_apis\": [", file);
	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++) {
		if (!others || !others->of[api].seen)
			continue;
		fprintf(file, "%s{\"api\": \"%s\", \"library\": ", separator, tare_other_name(api));
		put_text(file, others->of[api].library);
		fprintf(file, ", \"seen\": \"%s\"}",
		        others->of[api].loaded ? TARE_OTHER_LOADED : TARE_OTHER_LINKED);
		separator = ", ";
	}
	fputs("]", file);
}

static void put_comparison(FILE *file, const struct tare_comparison *comparison)
{
	if (comparison->pairs == 0)
		return;
	fprintf(file,
	        ",\n  \"comparison\": {\"pairs\": %" PRIu32 ", \"native_wall_ns\": %" PRId64
	        ", \"wall_ns\": [%" PRId64 ", %" PRId64 ", %" PRId64 "], \"cpu_ns\": [%" PRId64
	        ", %" PRId64 ", %" PRId64 "]}",
	        comparison->pairs, comparison->native_wall_ns, comparison->wall_low_ns,
	        comparison->wall_ns, comparison->wall_high_ns, comparison->cpu_low_ns,
	        comparison->cpu_ns, comparison->cpu_high_ns);
}

char *tare_record_document_text(const struct tare_record_document *document, size_t *bytes)
{
	char *text = NULL, *folder = getcwd(NULL, 0);
	FILE *file = open_memstream(&text, bytes);

	if (!file) {
		free(folder);
		return NULL;
	}
	fputs("{\"format\": \"" TARE_RECORD_FORMAT "\",\n  \"tare\": \"" TARE_VERSION "\"", file);
	// First what ranks that join look for: arguments may be long.
	put_member(file, "job", document->job[0] ? document->job : NULL);
	put_end(file, document);
	put_number(file, "start_raw_ns", true, document->start_raw_ns);
	put_number(file, "start_monotonic_ns", true, document->start_monotonic_ns);
	put_number(file, "start_realtime_ns", true, document->start_realtime_ns);
	fputs(",\n  \"program\": [", file);
	for (char *const *at = document->program; *at; at++) {
		fputs(at == document->program ? "" : ", ", file);
		put_text(file, *at);
	}
	fputs("]", file);
	put_member(file, "cwd", folder);
	free(folder);
	put_host(file);
	put_options(file, document->options);
	put_layer(file, document);
	put_others(file, document->others);
	put_comparison(file, &document->comparison);
	fputs("\n}\n", file);
	bool whole = !ferror(file);
	if (fclose(file) != 0 || !whole) {
		free(text);
		return NULL;
	}
	return text;
}
