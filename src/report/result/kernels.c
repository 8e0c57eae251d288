// SPDX-License-Identifier: Apache-2.0
// `devices --kernel` as text: a table of the file's kernels for each device and API.
#include "report/core/table_text.h"
#include "report/result/parts.h"
#include "report/result/tables.h"

bool tare_text_has_kernels(const struct tare_result *result)
{
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].kernels)
			return true;
	return false;
}

static struct tare_cell_value told(const struct tare_kernel_entry *kernel,
                                   enum tare_kernel_value which)
{
	return tare_if(kernel->value[which] >= 0, tare_integer(kernel->value[which]),
	               TARE_NOT_MEASURED);
}

static bool device_cell(const struct tare_cell_text *cell)
{
	tare_text_device(cell->source, cell->text);
	return true;
}

#define SOURCE struct tare_device_entry
#define SOURCE_NAME device
#define ROW struct tare_kernel_entry
#define COLUMNS "report/result/tables/device_kernels.def"
#include "table/declare.h"
TARE_TABLE(, tare_table_device_kernels, "device_kernels", "Kernels",
           "a kernel of a file that was built for a device", NULL, struct tare_device_entry, device,
           device->kernels ? device->kernels->count : 0, &device->kernels->at[index],
           declared_columns);

static void write_parameters(struct tare_text *text, const struct tare_kernel_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tare_text_paragraph(text, TARE_STYLE_FAINT, "   ", 6, "%s(%s)", list->at[i].name,
		                    list->at[i].parameters ? list->at[i].parameters
		                                           : "parameters: n/a, the driver "
		                                             "does not tell");
}

static void write_entry(struct tare_text *text, const struct tare_device_entry *entry)
{
	const struct tare_kernel_list *list = entry->kernels;
	char name[300];

	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 1, "%s  %s:%u",
	                    tare_fact_format(&entry->facts, TARE_FACT_NAME, name, sizeof name),
	                    entry->backend, entry->index);
	if (list->absent) {
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "   none: ", 3, "%s", list->absent);
		return;
	}
	tare_table_text(
	    text, &tare_table_device_kernels, entry,
	    &(struct tare_table_part){ .flush = true, .indent = 3, .on = TARE_ON_TEXT });
	write_parameters(text, list);
}

void tare_text_kernels(struct tare_text *text, const struct tare_result *result, bool more)
{
	const struct tare_kernel_list *first = NULL;
	bool any = false;

	for (size_t i = 0; i < result->device_count; i++) {
		if (!first)
			first = result->devices[i].kernels;
		any = any || (result->devices[i].kernels && !result->devices[i].kernels->absent);
	}
	if (more)
		fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, "", 1,
	                    any ? "%s: built, not run. What the drivers tell of each kernel:"
	                        : "%s: not built by any driver.",
	                    first->file);
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].kernels)
			write_entry(text, &result->devices[i]);
	if (any && !more) {
		fputc('\n', text->file);
		tare_text_paragraph(
		    text, TARE_STYLE_FAINT, "", 1,
		    "group: most work-items in a work-group; multiple: a size that fills the "
		    "hardware's "
		    "own groups; local, private, spilled: memory of a work-group, of a work-item, "
		    "and of "
		    "a work-item for what found no register; n/a: the driver does not tell");
	}
}
