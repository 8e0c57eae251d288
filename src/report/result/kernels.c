// SPDX-License-Identifier: Apache-2.0
// `devices --kernel` as text: a table of the file's kernels for each device and API.
#include "report/result/parts.h"

#include <errno.h>

bool tare_text_has_kernels(const struct tare_result *result)
{
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].kernels)
			return true;
	return false;
}

static const char *value_text(const struct tare_kernel_entry *kernel, int which,
                              char text[TARE_UNIT_TEXT])
{
	int64_t value = kernel->value[which];

	if (value < 0)
		snprintf(text, TARE_UNIT_TEXT, "n/a");
	else if (tare_kernel_rows[which].unit[0])
		tare_format_bytes((uint64_t)value, text);
	else
		snprintf(text, TARE_UNIT_TEXT, "%lld", (long long)value);
	return text;
}

static int write_table(const struct tare_text *text, const struct tare_kernel_list *list)
{
	struct tare_text_table *table = tare_text_table_new(text, 3);
	char value[TARE_UNIT_TEXT];

	tare_text_column(table, "kernel", TARE_COLUMN_CUT);
	for (int v = 0; v < TARE_KERNEL_VALUE_COUNT; v++)
		tare_text_column(table, tare_kernel_rows[v].title, TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < list->count; i++) {
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", list->at[i].name);
		for (int v = 0; v < TARE_KERNEL_VALUE_COUNT; v++)
			tare_text_cell(table, "%s", value_text(&list->at[i], v, value));
	}
	return tare_text_table_print(table);
}

static int write_parameters(const struct tare_text *text, const struct tare_kernel_list *list)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < list->count; i++)
		status = tare_text_paragraph(text, TARE_STYLE_FAINT, "   ", 6, "%s(%s)",
		                             list->at[i].name,
		                             list->at[i].parameters ? list->at[i].parameters
		                                                    : "parameters: n/a, the driver "
		                                                      "does not tell");
	return status;
}

static int write_entry(const struct tare_text *text, const struct tare_device_entry *entry)
{
	const struct tare_kernel_list *list = entry->kernels;
	char name[300];
	int status;

	fputc('\n', text->file);
	status =
	    tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s  %s:%u",
	                        tare_fact_format(&entry->facts, TARE_FACT_NAME, name, sizeof name),
	                        entry->backend, entry->index);
	if (status == 0 && list->absent)
		return tare_text_paragraph(text, TARE_STYLE_PLAIN, "   none: ", 3, "%s",
		                           list->absent);
	if (status == 0)
		status = write_table(text, list);
	return status == 0 ? write_parameters(text, list) : status;
}

int tare_text_kernels(const struct tare_text *text, const struct tare_result *result, bool more)
{
	const struct tare_kernel_list *first = NULL;
	bool any = false;
	int status;

	for (size_t i = 0; i < result->device_count; i++) {
		if (!first)
			first = result->devices[i].kernels;
		any = any || (result->devices[i].kernels && !result->devices[i].kernels->absent);
	}
	if (more)
		fputc('\n', text->file);
	status =
	    tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 1,
	                        any ? "%s: built, not run. What the drivers tell of each kernel:"
	                            : "%s: not built by any driver.",
	                        first->file);
	for (size_t i = 0; status == 0 && i < result->device_count; i++)
		if (result->devices[i].kernels)
			status = write_entry(text, &result->devices[i]);
	if (status == 0 && any && !more) {
		fputc('\n', text->file);
		status = tare_text_paragraph(
		    text, TARE_STYLE_FAINT, "", 1,
		    "group: most work-items in a work-group; multiple: a size that fills the "
		    "hardware's "
		    "own groups; local, private, spilled: memory of a work-group, of a work-item, "
		    "and of "
		    "a work-item for what found no register; n/a: the driver does not tell");
	}
	return status;
}
