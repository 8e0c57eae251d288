// SPDX-License-Identifier: Apache-2.0
#include "report/result/properties.h"

#include "report/result/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SOURCE struct tare_device_properties
#define SOURCE_NAME list
#define ROW struct tare_device_property
#define COLUMNS "report/result/tables/csv_devices.def"
#include "table/declare.h"
TARE_TABLE(, tare_csv_devices, "devices", "Devices, as CSV", "a property of a device", NULL,
           struct tare_device_properties, list, list->count, &list->at[index], declared_columns);

static struct tare_device_property *add(struct tare_device_properties *list,
                                        const struct tare_device_entry *device, const char *backend)
{
	struct tare_device_property *row = &list->at[list->count++];

	*row = (struct tare_device_property){ .device = device, .backend = backend };
	row->value = tare_absent(TARE_NOT_KNOWN);
	return row;
}

static struct tare_cell_value fact_value(const struct tare_fact *fact, enum tare_fact_type type)
{
	switch (type) {
	case TARE_FACT_TEXT:
		return tare_string(fact->text);
	case TARE_FACT_BOOL:
		return tare_truth(fact->count != 0);
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		return tare_number(fact->rate, TARE_NOT_KNOWN);
	default:
		return tare_unsigned(fact->count);
	}
}

static void add_fact(struct tare_device_properties *list, const struct tare_device_entry *device,
                     enum tare_fact_id id)
{
	const struct tare_fact *fact = &device->facts.fact[id];
	struct tare_device_property *row = add(list, device, device->backend);

	snprintf(row->key, sizeof row->key, "%s", tare_fact_rows[id].key);
	row->unit = tare_fact_rows[id].unit;
	if (fact->present) {
		row->value = fact_value(fact, tare_fact_rows[id].type);
		row->origin = tare_origin_name(fact->origin);
	} else {
		row->reason = tare_fact_reason(&device->facts, id);
	}
}

// A row a figure: "kernel.blur.simd_width"; what the driver does not tell says so.
static void add_kernel(struct tare_device_properties *list, const struct tare_device_entry *device,
                       const struct tare_kernel_entry *kernel)
{
	const struct tare_table *table = &tare_table_device_kernels;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		struct tare_device_property *row;
		if (tare_shown_stored(column->shown) != TARE_STORED_INTEGER)
			continue;
		row = add(list, device, device->backend);
		if (kernel->set < 0)
			snprintf(row->key, sizeof row->key, "kernel.%.80s.%s", kernel->name,
			         column->id);
		else
			snprintf(row->key, sizeof row->key, "kernel.%.80s.%c.%s", kernel->name,
			         tare_kernel_set_letter(kernel->set), column->id);
		row->unit = tare_column_unit(column);
		row->value = tare_column_value(column, device, kernel);
		if (row->value.is == TARE_IS_ABSENT)
			row->reason = "the driver does not tell";
		else
			row->origin = tare_origin_name(TARE_ORIGIN_DRIVER);
	}
}

static void add_device(struct tare_device_properties *list, const struct tare_device_entry *device)
{
	const struct tare_kernel_list *kernels = device->kernels;

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++)
		add_fact(list, device, (enum tare_fact_id)id);
	for (size_t i = 0; kernels && i < kernels->count; i++)
		add_kernel(list, device, &kernels->at[i]);
	if (kernels && kernels->absent) {
		struct tare_device_property *row = add(list, device, device->backend);
		snprintf(row->key, sizeof row->key, "kernel");
		row->reason = kernels->absent;
	}
}

int tare_device_properties(const struct tare_result *result, struct tare_device_properties *list)
{
	size_t most = result->absence_count;

	for (size_t i = 0; i < result->device_count; i++)
		most += TARE_FACT_COUNT_OF + 1 +
		        (result->devices[i].kernels ? result->devices[i].kernels->count *
		                                          tare_table_device_kernels.column_count
		                                    : 0);
	*list = (struct tare_device_properties){ .at = calloc(most + 1, sizeof *list->at) };
	if (!list->at)
		return -ENOMEM;
	for (size_t i = 0; i < result->device_count; i++)
		add_device(list, &result->devices[i]);
	for (size_t i = 0; i < result->absence_count; i++)
		add(list, NULL, result->absences[i].backend)->reason = result->absences[i].reason;
	return 0;
}
