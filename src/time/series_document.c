// SPDX-License-Identifier: Apache-2.0
// Series as a result document (src/result/schema/result.schema.json). It is written without a
// library: what is in it is flat, and libtare needs none.
#include "time/internal.h"
#include "time/series.h"

#include "result/clean_text.h"
#include "result/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// A text of the document; at most 320 bytes of it.
static void put_text(FILE *file, const char *text)
{
	char cut[321], clean[TARE_CLEAN_TEXT_ROOM(sizeof cut)];

	snprintf(cut, sizeof cut, "%s", text);
	tare_clean_text(cut, clean);
	fputc('"', file);
	for (const char *at = clean; *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', file);
		fputc(*at, file);
	}
	fputc('"', file);
}

static void put_number(FILE *file, double number)
{
	char text[TARE_NUMBER_TEXT];

	fputs(isfinite(number) ? tare_number_text(number, text) : "null", file);
}

static void put_member(FILE *file, const char *key, double number)
{
	fprintf(file, ", \"%s\": ", key);
	put_number(file, number);
}

static void put_pair(FILE *file, const char *key, double low, double high)
{
	fprintf(file, ", \"%s\": [", key);
	put_number(file, low);
	fputs(", ", file);
	put_number(file, high);
	fputc(']', file);
}

// Of `bytes` over what lies between the summary's times; those of the longest are the least.
static void put_rate(FILE *file, const struct tare_summary *summary, uint64_t bytes)
{
	double work = (double)bytes;

	if (!bytes || !(summary->min > 0)) {
		fputs(", \"rate\": null", file);
		return;
	}
	fprintf(file, ", \"rate\": {\"unit\": \"GB/s\"");
	put_member(file, "work", work);
	put_member(file, "min", work / (double)summary->max);
	put_member(file, "median", work / summary->median);
	put_member(file, "p95", work / summary->p95);
	put_pair(file, "ci", work / summary->ci_high,
	         summary->ci_low > 0 ? work / summary->ci_low : NAN);
	fputc('}', file);
}

static void put_summary(FILE *file, const struct tare_summary *summary)
{
	fprintf(file, "\"n\": %zu, \"min\": %lld, \"max\": %lld", summary->n,
	        (long long)summary->min, (long long)summary->max);
	put_member(file, "median", summary->median);
	put_member(file, "p95", summary->p95);
	put_pair(file, "ci", summary->ci_low, summary->ci_high);
	put_member(file, "autocorrelation", summary->autocorrelation);
	put_member(file, "effective_n", summary->effective_n);
	fprintf(file,
	        ", \"outliers\": {\"mild\": %zu, \"severe\": %zu}, \"drifting\": %s, "
	        "\"quantised\": %s",
	        summary->outliers_mild, summary->outliers_severe,
	        summary->drifting ? "true" : "false", summary->quantised ? "true" : "false");
}

static void put_samples(FILE *file, const struct tare_series *series)
{
	fputs(", \"samples\": [", file);
	for (size_t i = 0; i < series->n; i++)
		fprintf(file, "%s%lld", i ? ", " : "", (long long)series->samples[i]);
	fputs("]", file);
}

// The members that every cell begins with.
static void put_head(FILE *file, const struct tare_time_series *series, const char *quantity,
                     const char *source)
{
	fputs("{\"labels\": {\"span\": ", file);
	put_text(file, series->name[0] ? series->name : "span");
	fprintf(file, "}, \"quantity\": \"%s\", \"unit\": \"ns\", \"source\": \"%s\"", quantity,
	        source);
}

static void put_method(FILE *file, const struct tare_time_series *series,
                       const struct tare_time_figure *figure)
{
	char floor[TARE_TIME_DURATION], text[320];

	if (series->between == TARE_TIME_ENGINES)
		snprintf(text, sizeof text,
		         "from the first start to the last end of the span's commands on the "
		         "device's engines, by CUPTI's activity records");
	else if (figure->floor_ns > 0)
		snprintf(text, sizeof text,
		         "on the device's clock, between marks that libtare put around the span; "
		         "an empty span takes about %s there, which is not taken off; around a "
		         "command it may be twice that",
		         tare_time_duration(floor, llrint(figure->floor_ns)));
	else
		snprintf(text, sizeof text,
		         figure->floor_ns == 0
		             ? "on the device's clock, by libtare"
		             : "on the device's clock, between marks that libtare put around the "
		               "span; what an empty span takes is not known");
	fputs(", \"method\": ", file);
	put_text(file, text);
}

static void put_absent(FILE *file, const struct tare_time_figure *figure)
{
	fputs(", \"method\": null, \"absent\": ", file);
	put_text(file, figure->known == TARE_TIME_ABSENT ? figure->sentence : "not measured");
	fputs(", \"converged\": false, \"verified\": null, \"n\": 0, \"min\": null, \"max\": null, "
	      "\"median\": null, \"p95\": null, \"ci\": [null, null], \"autocorrelation\": null, "
	      "\"effective_n\": null, \"outliers\": null, \"drifting\": null, \"quantised\": null, "
	      "\"rate\": null, \"samples\": []}",
	      file);
}

static void put_device_cell(FILE *file, const struct tare_time_series *series,
                            const struct tare_time_figure *figure)
{
	put_head(file, series, "time", "device");
	if (!figure->n) {
		put_absent(file, figure);
		return;
	}
	put_method(file, series, figure);
	fprintf(file, ", \"absent\": null, \"converged\": %s, \"verified\": null, ",
	        figure->known == TARE_TIME_CONVERGED ? "true" : "false");
	put_summary(file, &series->device.summary);
	put_rate(file, &series->device.summary, series->options.bytes);
	put_samples(file, &series->device);
	fputc('}', file);
}

// What the calls between begin and end took. The series does not end by it.
static void put_host_cell(FILE *file, const struct tare_time_series *series)
{
	const struct tare_summary *host = &series->host.summary;
	bool converged = host->ci_high - host->ci_low <=
	                 2 * series->device.rule.relative_half_width * host->median;

	put_head(file, series, "enqueueing", "host");
	fprintf(file,
	        ", \"method\": \"on the host's clock, from begin to end: what enqueueing took, not "
	        "the work\", \"absent\": null, \"converged\": %s, \"verified\": null, ",
	        converged ? "true" : "false");
	put_summary(file, host);
	fputs(", \"rate\": null", file);
	put_samples(file, &series->host);
	fputc('}', file);
}

static int put_cells(FILE *file, struct tare_time_series *const *series, size_t count,
                     struct tare_time_error *error)
{
	struct tare_time_figure figure;
	int status;

	for (size_t i = 0; i < count; i++) {
		status = tare_time_series_figure(series[i], &figure, error);
		if (status < 0)
			return status;
		fputs(i ? ",\n  " : "\n  ", file);
		put_device_cell(file, series[i], &figure);
		if (!figure.n || series[i]->events)
			continue;
		fputs(",\n  ", file);
		put_host_cell(file, series[i]);
	}
	return 0;
}

static void put_point(FILE *file, bool first, const struct tare_time_figure *figure)
{
	fputs(first ? "\n   {\"name\": " : ",\n   {\"name\": ", file);
	put_text(file, figure->name[0] ? figure->name : "span");
	fputs(", \"points\": [[0, ", file);
	put_number(file, figure->median_ns);
	fputs(", ", file);
	// A logarithmic axis has no place for what is not above zero.
	put_number(file, figure->low_ns > 0 ? figure->low_ns : NAN);
	fputs(", ", file);
	put_number(file, figure->high_ns);
	fputs("]]}", file);
}

static int put_plot(FILE *file, struct tare_time_series *const *series, size_t count,
                    struct tare_time_error *error)
{
	struct tare_time_figure figure;
	bool first = true;
	int status;

	fputs("{\"id\": \"spans\", \"title\": \"What each span takes the device\", \"note\": "
	      "\"Medians with their intervals.\", \"kind\": \"bar\", \"x\": {\"title\": \"span\", "
	      "\"unit\": \"\", \"scale\": \"linear\"}, \"y\": {\"title\": \"time\", \"unit\": "
	      "\"ns\", \"scale\": \"logarithmic\"}, \"series\": [",
	      file);
	for (size_t i = 0; i < count; i++) {
		status = tare_time_series_figure(series[i], &figure, error);
		if (status < 0)
			return status;
		if (figure.n && figure.median_ns > 0) {
			put_point(file, first, &figure);
			first = false;
		}
	}
	fputs("]}", file);
	return 0;
}

struct warning {
	const char *id, *message, *action;
};

// What has to be said of a series that has a figure; fills `warnings` and returns how many.
static int warnings_of(const struct tare_time_figure *figure, struct warning warnings[3])
{
	int n = 0;

	if (!figure->n)
		return 0;
	if (figure->known != TARE_TIME_CONVERGED)
		warnings[n++] = (struct warning){
			figure->known == TARE_TIME_COARSE ? "clock-limited" : "not-converged",
			figure->sentence,
			figure->known == TARE_TIME_COARSE ? "put more work into each span"
			                                  : "give the series more time",
		};
	if (figure->below_floor)
		warnings[n++] = (struct warning){
			"below-floor",
			"no longer than an empty span takes on this queue",
			"put more work into each span",
		};
	if (figure->drifting)
		warnings[n++] = (struct warning){
			"drifting",
			"the times drift, so that the median depends on how long one measures",
			"look at what else changes on this machine meanwhile",
		};
	return n;
}

static int put_warnings(FILE *file, struct tare_time_series *const *series, size_t count,
                        struct tare_time_error *error)
{
	struct tare_time_figure figure;
	struct warning warnings[3];
	char message[320];
	bool first = true;

	for (size_t i = 0; i < count; i++) {
		int n = tare_time_series_figure(series[i], &figure, error);
		if (n < 0)
			return n;
		n = warnings_of(&figure, warnings);
		for (int k = 0; k < n; k++, first = false) {
			snprintf(message, sizeof message, "%s: %s",
			         figure.name[0] ? figure.name : "span", warnings[k].message);
			fprintf(file, "%s{\"id\": \"%s\", \"message\": ", first ? "\n  " : ",\n  ",
			        warnings[k].id);
			put_text(file, message);
			fputs(", \"action\": ", file);
			put_text(file, warnings[k].action);
			fputc('}', file);
		}
	}
	return 0;
}

// The counter, where all series count by the same one.
static void put_clock(FILE *file, struct tare_time_series *const *series, size_t count)
{
	const struct tare_clock_rate *rate = count ? &series[0]->rate : NULL;

	for (size_t i = 0; i < count; i++)
		if (!series[i]->counted || series[i]->rate.hz_numerator != rate->hz_numerator ||
		    series[i]->rate.hz_denominator != rate->hz_denominator ||
		    series[i]->rate.valid_bits != rate->valid_bits)
			rate = NULL, i = count;
	if (!rate) {
		fputs("null", file);
		return;
	}
	fprintf(file,
	        "{\"rate\": {\"hz_numerator\": %llu, \"hz_denominator\": %llu, \"valid_bits\": %u, "
	        "\"resolution_ticks\": %llu}, \"fit\": null, \"floor_ns\": null, \"note\": null}",
	        (unsigned long long)rate->hz_numerator, (unsigned long long)rate->hz_denominator,
	        rate->valid_bits,
	        (unsigned long long)(rate->resolution_ticks ? rate->resolution_ticks : 1));
}

static bool is_named_before(struct tare_time_series *const *series, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(series[k]->device_name, series[i]->device_name) == 0)
			return true;
	return false;
}

// The devices of the series, each once.
static void put_devices(FILE *file, struct tare_time_series *const *series, size_t count)
{
	char text[321] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof text; i++)
		if (series[i]->device_name[0] && !is_named_before(series, i))
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
			                         used ? ", " : "", series[i]->device_name);
	if (!used)
		return;
	fputs(", \"device\": ", file);
	put_text(file, text);
}

static int put_document(FILE *file, struct tare_time_series *const *series, size_t count,
                        struct tare_time_error *error)
{
	char written[32] = "1970-01-01T00:00:00Z";
	time_t now = time(NULL);
	struct tm utc;
	int status;

	if (gmtime_r(&now, &utc))
		strftime(written, sizeof written, "%Y-%m-%dT%H:%M:%SZ", &utc);
	fprintf(file,
	        "{\n \"schema\": \"tare.result/1\",\n \"tool\": {\"name\": \"tare\", \"version\": "
	        "\"%s\"},\n \"written_at\": \"%s\",\n \"command\": \"time\",\n \"interrupted\": "
	        "false,\n \"parameters\": {\"libtare\": \"%s\"",
	        TARE_VERSION, written, TARE_TIME_VERSION);
	put_devices(file, series, count);
	fputs("},\n \"host\": {},\n \"device\": null,\n \"clock\": ", file);
	put_clock(file, series, count);
	fputs(",\n \"warnings\": [", file);
	status = put_warnings(file, series, count, error);
	fputs("],\n \"plots\": [\n  ", file);
	status = status ?: put_plot(file, series, count, error);
	fputs("],\n \"cells\": [", file);
	status = status ?: put_cells(file, series, count, error);
	fputs("]\n}\n", file);
	return status;
}

static int cannot_write(const char *path, struct tare_time_error *error)
{
	int code = errno ? errno : EIO;

	return tare_time_fail(error, code, "cannot write %s: %s", path, strerror(code));
}

int tare_time_write(struct tare_time_series *const *series, size_t count, const char *path,
                    struct tare_time_error *error)
{
	FILE *file;
	int status;
	bool failed;

	if (!path || (count && !series))
		return tare_time_fail(error, EINVAL, "a document needs a path and its series");
	file = fopen(path, "we");
	if (!file)
		return cannot_write(path, error);
	status = put_document(file, series, count, error);
	errno = 0;
	failed = fflush(file) != 0 || ferror(file);
	if (failed && status == 0)
		status = cannot_write(path, error);
	if (fclose(file) != 0 && status == 0)
		status = cannot_write(path, error);
	return status;
}
