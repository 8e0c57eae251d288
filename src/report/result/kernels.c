// SPDX-License-Identifier: Apache-2.0
// `devices --kernel` as text: a table of the file's kernels for each device and API.
#include "report/core/table_text.h"
#include "report/result/parts.h"
#include "report/result/tables.h"

#include <string.h>

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

static bool kernel_cell(const struct tare_cell_text *cell)
{
	const struct tare_kernel_entry *kernel = cell->row;

	if (kernel->set < 0)
		return false;
	snprintf(cell->text, cell->size, "%s %c", kernel->name,
	         tare_kernel_set_letter(kernel->set));
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
		if (i == 0 || strcmp(list->at[i].name, list->at[i - 1].name) != 0)
			tare_text_paragraph(text, TARE_STYLE_FAINT, "   ", 6, "%s(%s)",
			                    list->at[i].name,
			                    list->at[i].parameters ? list->at[i].parameters
			                                           : "parameters: n/a, the driver "
			                                             "does not tell");
}

static void write_sets(struct tare_text *text, const struct tare_kernel_list *list)
{
	for (size_t i = 0; i < list->set_count; i++) {
		const struct tare_kernel_set *set = &list->sets[i];
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "   ", 6, "%c: %s%s%s",
		                    tare_kernel_set_letter((int64_t)i),
		                    set->options[0] ? set->options : "no options",
		                    set->absent ? "; none, " : "", set->absent ? set->absent : "");
	}
}

static int64_t spill_of(const struct tare_kernel_list *list, size_t i)
{
	return list->at[i].value[TARE_KERNEL_SPILL];
}

// The letters of the sets that spill so much: "A", "A, C".
static const char *sets_that_spill(const struct tare_kernel_list *list, size_t from, size_t to,
                                   int64_t bytes, char text[RUN_TEXT])
{
	size_t length = 0;

	for (size_t i = from; i < to; i++)
		if (spill_of(list, i) == bytes && length + 4 < RUN_TEXT)
			length += (size_t)snprintf(text + length, RUN_TEXT - length, "%s%c",
			                           length ? ", " : "",
			                           tare_kernel_set_letter(list->at[i].set));
	return text;
}

// The sets that spill least of a kernel, where sets differ in that.
static void write_least_spilled(struct tare_text *text, const struct tare_kernel_list *list,
                                size_t from, size_t to)
{
	int64_t least = INT64_MAX, most = 0;
	char those[RUN_TEXT], others[RUN_TEXT];

	for (size_t i = from; i < to; i++) {
		if (spill_of(list, i) < 0)
			return;
		least = spill_of(list, i) < least ? spill_of(list, i) : least;
		most = spill_of(list, i) > most ? spill_of(list, i) : most;
	}
	if (least < most)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "   ", 6,
		                    "%s: least spills %s, most %s", list->at[from].name,
		                    sets_that_spill(list, from, to, least, those),
		                    sets_that_spill(list, from, to, most, others));
}

static void write_best(struct tare_text *text, const struct tare_kernel_list *list)
{
	for (size_t from = 0, to; list->set_count && from < list->count; from = to) {
		for (to = from + 1;
		     to < list->count && strcmp(list->at[to].name, list->at[from].name) == 0;)
			to++;
		write_least_spilled(text, list, from, to);
	}
	if (list->set_count)
		tare_text_paragraph(text, TARE_STYLE_FAINT, "   ", 3,
		                    "Which set is fastest is not known from this: tare blocks "
		                    "--options runs a program with each.");
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
	write_sets(text, list);
	tare_table_text(
	    text, &tare_table_device_kernels, entry,
	    &(struct tare_table_part){ .flush = true, .indent = 3, .on = TARE_ON_TEXT });
	write_best(text, list);
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
