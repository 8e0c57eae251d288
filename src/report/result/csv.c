// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_csv.h"
#include "report/result/parts.h"
#include "report/result/properties.h"
#include "report/result/tables.h"

#include "base/room.h"
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The label names of all cells in order of first appearance; they belong to the cells.
struct columns {
	const char **names;
	size_t count;
};

// The device of a part's cells, where the parts are one a device: "cuda:0".
static const char *device_of(const struct tare_result *whole, const struct tare_result *part,
                             char text[64])
{
	return tare_result_is_several(whole) && part->device_count
	           ? tare_text_device(&part->devices[0], text)
	           : NULL;
}

static int add_column(struct columns *columns, const char *name)
{
	const char **grown;
	size_t at = 0;

	while (at < columns->count && strcmp(columns->names[at], name) != 0)
		at++;
	if (at < columns->count)
		return 0;
	grown = tare_grow(columns->names, at, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	columns->names = grown;
	columns->names[columns->count++] = name;
	return 0;
}

static int collect_columns(const struct tare_result *result, struct columns *columns)
{
	if (tare_result_is_several(result) && add_column(columns, "device") < 0)
		return -ENOMEM;
	for (size_t i = 0; i < result->part_count; i++) {
		int status = collect_columns(result->parts[i], columns);
		if (status < 0)
			return status;
	}
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_labels *labels = &result->cells[i].labels;
		for (size_t k = 0; k < labels->count; k++)
			if (add_column(columns, labels->at[k].name) < 0)
				return -ENOMEM;
	}
	return 0;
}

static struct tare_cell_value rate_number(const struct tare_cell *cell, double value)
{
	return tare_number(cell->rate.present ? value : NAN, TARE_NOT_MEASURED);
}

// A test builds it with a line more.
#ifndef TARE_CSV_COLUMNS
#define TARE_CSV_COLUMNS "report/result/tables/csv_cells.def"
#endif
#define SOURCE struct tare_result
#define SOURCE_NAME result
#define ROW struct tare_cell
#define COLUMNS TARE_CSV_COLUMNS
#include "table/declare.h"
TARE_TABLE(, tare_csv_cells, "cells", "Figures, as CSV", "a figure, behind its labels", NULL,
           struct tare_result, result, result->cell_count, &result->cells[index], declared_columns);

// Two columns of one name would be one for most readers: a label that is called as a column of
// every cell (a matrix's n, the count of samples n) gets a prefix.
static void put_label_header(struct tare_csv_row *row, const struct columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		char name[80];
		bool taken = strcmp(columns->names[i], "command") == 0;
		for (size_t k = 0; k < tare_csv_cells.column_count; k++)
			taken |= strcmp(columns->names[i], declared_columns[k].id) == 0;
		snprintf(name, sizeof name, "label_%.70s", columns->names[i]);
		tare_csv_put_text(row, taken ? name : columns->names[i]);
	}
}

// `device`: what stands for the label of that name where a cell has none; may be NULL.
static void put_labels(struct tare_csv_row *row, const struct tare_cell *cell,
                       const struct columns *columns, const char *device)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct tare_label *label = tare_labels_find(&cell->labels, columns->names[i]);
		if (label && !label->text)
			tare_csv_put_integer(row, label->number);
		else if (!label && strcmp(columns->names[i], "device") == 0)
			tare_csv_put_text(row, device);
		else
			tare_csv_put_text(row, label ? label->text : NULL);
	}
}

// `command`: the first column where a file holds the rows of several, else NULL.
static void put_cells(struct tare_csv_row *row, const struct tare_result *result,
                      const struct columns *columns, const char *command, const char *device)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		if (command)
			tare_csv_put_text(row, command);
		put_labels(row, &result->cells[i], columns, device);
		tare_csv_put_values(row, &tare_csv_cells, result, &result->cells[i], 0);
		tare_csv_end(row);
	}
}

// One row of what the device did meanwhile: a count of readings and one number of them.
static void put_reading(struct tare_csv_row *row, const struct columns *columns,
                        const char *command, const char *device, const char *quantity,
                        const char *unit, size_t n, double value)
{
	if (n == 0 || !isfinite(value))
		return;
	if (command)
		tare_csv_put_text(row, command);
	for (size_t i = 0; i < columns->count; i++)
		tare_csv_put_text(row, strcmp(columns->names[i], "device") == 0 ? device : NULL);
	for (size_t i = 0; i < tare_csv_cells.column_count; i++) {
		const char *id = declared_columns[i].id;
		if (strcmp(id, "n") == 0)
			tare_csv_put_integer(row, (int64_t)n);
		else if (strcmp(id, "median") == 0)
			tare_csv_put_number(row, value);
		else
			tare_csv_put_text(row, strcmp(id, "quantity") == 0 ? quantity
			                       : strcmp(id, "unit") == 0   ? unit
			                       : strcmp(id, "source") == 0 ? "telemetry"
			                                                   : NULL);
	}
	tare_csv_end(row);
}

static void put_telemetry(struct tare_csv_row *row, const struct tare_result *result,
                          const struct columns *columns, const char *command, const char *device)
{
	const struct tare_telemetry_summary *summary = &result->telemetry.summary;

	if (!result->telemetry.present || result->telemetry.absent)
		return;
	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++) {
		const struct tare_telemetry_value_row *known = &tare_telemetry_value_rows[v];
		const struct tare_telemetry_range *range = &summary->of[v];
		const struct {
			const char *name;
			double value;
		} numbers[] = {
			{ "lowest", range->low },
			{ "median", range->median },
			{ "mean", range->mean },
			{ "highest", range->high },
		};
		for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
			char quantity[64];
			snprintf(quantity, sizeof quantity, "%s_%s", known->key, numbers[k].name);
			put_reading(row, columns, command, device, quantity, known->unit, range->n,
			            numbers[k].value);
		}
	}
	put_reading(row, columns, command, device, "slowed_share", "", summary->throttle_n,
	            summary->slowed_share);
}

// The devices that a part lists are no cells: they are in the JSON, and `tare devices` has them.
static int write_cells(const struct tare_result *result, FILE *file)
{
	struct tare_csv_row row = { .file = file };
	struct columns columns = { 0 };
	char device[64];
	int status = collect_columns(result, &columns);

	if (status == 0) {
		if (result->part_count)
			tare_csv_put_text(&row, "command");
		put_label_header(&row, &columns);
		tare_csv_put_ids(&row, &tare_csv_cells, result, 0);
		for (size_t i = 0; i < result->part_count; i++) {
			const char *command = result->parts[i]->command;
			const char *own = device_of(result, result->parts[i], device);
			put_cells(&row, result->parts[i], &columns, command, own);
			put_telemetry(&row, result->parts[i], &columns, command, own);
		}
		put_cells(&row, result, &columns, result->part_count ? result->command : NULL,
		          NULL);
		put_telemetry(&row, result, &columns, result->part_count ? result->command : NULL,
		              NULL);
	}
	free(columns.names);
	return status;
}

static int write_devices(const struct tare_result *result, FILE *file)
{
	struct tare_csv_row row = { .file = file };
	struct tare_device_properties list;
	int status = tare_device_properties(result, &list);

	if (status == 0)
		tare_csv_put_ids(&row, &tare_csv_devices, &list, 0);
	for (size_t i = 0; status == 0 && i < list.count; i++) {
		tare_csv_put_values(&row, &tare_csv_devices, &list, &list.at[i], 0);
		tare_csv_end(&row);
	}
	free(list.at);
	return status;
}

int tare_report_csv(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	int status = tare_result_status(result);

	errno = 0;
	if (status == 0 && strcmp(result->command, "devices") == 0)
		status = write_devices(result, file);
	else if (status == 0)
		status = write_cells(result, file);
	if (status < 0)
		return tare_fail(error, -status, "out of memory for the table");
	if (fflush(file) != 0 || ferror(file))
		return tare_fail(error, EIO, "cannot write the table: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}
