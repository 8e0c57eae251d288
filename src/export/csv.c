// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it: commas, CRLF, quotes where a text has one of these. NULL is an empty
// field, an empty text is "".
#include "export/rows.h"
#include "export/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct csv {
	int folder;
	FILE *file;
};

static void separate(struct csv *csv, size_t column)
{
	if (column > 0)
		fputc(',', csv->file);
}

static int begin(void *context, const struct export_table *table)
{
	struct csv *csv = context;
	char name[64];
	int descriptor;

	snprintf(name, sizeof name, "%s.csv", table->name);
	descriptor = openat(csv->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (descriptor < 0)
		return -errno;
	csv->file = fdopen(descriptor, "w");
	if (!csv->file) {
		close(descriptor);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		separate(csv, i);
		fputs(table->columns[i].name, csv->file);
	}
	fputs("\r\n", csv->file);
	return 0;
}

static int put_null(void *context, size_t column)
{
	separate(context, column);
	return 0;
}

static int put_integer(void *context, size_t column, int64_t value)
{
	struct csv *csv = context;

	separate(csv, column);
	fprintf(csv->file, "%" PRId64, value);
	return 0;
}

static int put_real(void *context, size_t column, double value)
{
	struct csv *csv = context;

	separate(csv, column);
	fprintf(csv->file, "%.17g", value);
	return 0;
}

static int put_text(void *context, size_t column, const char *value)
{
	struct csv *csv = context;
	bool quoted = !value[0] || value[strcspn(value, ",\"\r\n")];

	separate(csv, column);
	if (quoted)
		fputc('"', csv->file);
	while (*value) {
		size_t length = export_utf8_length(value);
		if (*value == '"')
			fputc('"', csv->file);
		if (length)
			fwrite(value, 1, length, csv->file);
		else
			fputs("\xef\xbf\xbd", csv->file);
		value += length ? length : 1;
	}
	if (quoted)
		fputc('"', csv->file);
	return 0;
}

static int end_row(void *context)
{
	struct csv *csv = context;

	fputs("\r\n", csv->file);
	return ferror(csv->file) ? -EIO : 0;
}

// A file's error shows here at the latest.
static int close_file(struct csv *csv)
{
	FILE *file = csv->file;
	int status = 0;

	csv->file = NULL;
	if (!file)
		return 0;
	errno = 0;
	if (fflush(file) != 0 || ferror(file))
		status = -(errno ? errno : EIO);
	if (fclose(file) != 0 && status == 0)
		status = -(errno ? errno : EIO);
	return status;
}

static int end(void *context)
{
	return close_file(context);
}

static const struct export_sink sink = {
	.begin = begin,
	.null = put_null,
	.integer = put_integer,
	.real = put_real,
	.text = put_text,
	.row = end_row,
	.end = end,
};

int tare_export_csv(const struct tare_report *run, const struct tare_export_watch *watch,
                    const char *path, struct tare_export_counts *counts, struct tare_error *error)
{
	struct csv csv = { .folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	int status, closed;

	*counts = (struct tare_export_counts){ 0 };
	if (csv.folder < 0)
		return tare_fail(error, errno, "%s", strerror(errno));
	status = export_rows(run, watch, &sink, &csv, counts, error);
	closed = close_file(&csv);
	// The flush knows why writing failed.
	if ((status == 0 || status == -EIO) && closed < 0)
		status = closed;
	close(csv.folder);
	if (status < 0 && status != -EINTR)
		tare_fail(error, -status, "%s", strerror(-status));
	return status;
}
