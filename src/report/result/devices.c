// SPDX-License-Identifier: Apache-2.0
// `devices` as text: a block a device; with -v every fact with its origin.
#include "report/result/parts.h"

#include <stdlib.h>
#include <string.h>

// Facts that belong to an API's view of a device; the others are the device's own.
static bool belongs_to_view(enum tare_fact_id id)
{
	static const enum tare_fact_id views[] = {
		TARE_FACT_DRIVER,      TARE_FACT_API_VERSION,       TARE_FACT_LOADER,
		TARE_FACT_TIMER_RATE,  TARE_FACT_TIMER_RESOLUTION,  TARE_FACT_TIMER_BITS,
		TARE_FACT_TIMER_PAIRS, TARE_FACT_PROFILING,         TARE_FACT_OUT_OF_ORDER,
		TARE_FACT_SUB_GROUP,   TARE_FACT_WORK_GROUP,        TARE_FACT_MEMORY_MAX_ALLOCATION,
		TARE_FACT_EXTENSIONS,  TARE_FACT_SUB_GROUPS,        TARE_FACT_QUEUE_GROUPS,
		TARE_FACT_TIMER_OLDER, TARE_FACT_TIMER_GLOBAL_BITS,
	};
	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		if (views[i] == id)
			return true;
	return false;
}

// The facts a group at a time, groups in the order of their first row: later rows of a group are
// at the end of the table, because it only grows there.
static void order_by_group(enum tare_fact_id order[TARE_FACT_COUNT_OF])
{
	size_t count = 0;

	for (int first = 0; first < TARE_FACT_COUNT_OF; first++) {
		bool begun = false;
		for (int id = 0; id < first && !begun; id++)
			begun = strcmp(tare_fact_rows[id].group, tare_fact_rows[first].group) == 0;
		for (int id = first; id < TARE_FACT_COUNT_OF && !begun; id++)
			if (strcmp(tare_fact_rows[id].group, tare_fact_rows[first].group) == 0)
				order[count++] = (enum tare_fact_id)id;
	}
}

// In the block's title already.
static bool in_title(enum tare_fact_id id)
{
	return id == TARE_FACT_NAME || id == TARE_FACT_TYPE;
}

// A fact that no API of this device speaks of: not worth a line.
static bool was_asked(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	return entry->facts.fact[id].present || entry->facts.fact[id].text[0];
}

static bool anyone_asked(const struct tare_result *result, uint32_t number, enum tare_fact_id id)
{
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].number == number && was_asked(&result->devices[i], id))
			return true;
	return false;
}

// The entry of the same physical device that knows the fact, or NULL.
static const struct tare_device_entry *knower(const struct tare_result *result, uint32_t number,
                                              enum tare_fact_id id)
{
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].number == number &&
		    result->devices[i].facts.fact[id].present)
			return &result->devices[i];
	return NULL;
}

// "title value; title value" of one group, or nothing when all are unknown.
static void write_group(struct tare_text *text, const struct tare_result *result,
                        const struct tare_device_entry *first, const char *group)
{
	char value[300], lead[24];
	const char *separator = "";
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const struct tare_device_entry *entry = knower(result, first->number, id);
		if (strcmp(tare_fact_rows[id].group, group) != 0 || !entry || belongs_to_view(id) ||
		    in_title(id))
			continue;
		fprintf(file, "%s%s %s", separator, tare_fact_rows[id].title,
		        tare_fact_format(&entry->facts, id, value, sizeof value));
		if (entry->facts.fact[id].origin == TARE_ORIGIN_GUESS &&
		    !tare_fact_says_guessed(&entry->facts, id))
			fputs(" (guessed)", file);
		separator = "; ";
	}
	snprintf(lead, sizeof lead, "   %-11s", group);
	tare_text_gathered(text, TARE_STYLE_PLAIN, lead, 14);
}

// One API's view: "opencl:0  driver 3.1; API version OpenCL 3.0; timer rate 1 GHz; ..."
static void write_view(struct tare_text *text, const struct tare_device_entry *entry)
{
	char value[300], view[32];
	const char *separator = "";
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	snprintf(view, sizeof view, "%.16s:%u", entry->backend, entry->index);
	fprintf(file, "%-10s ", view);
	if (entry->same_by) {
		fprintf(file, "the same device by %s", entry->same_by);
		separator = "; ";
	}
	for (int id = 0; id < TARE_FACT_COUNT_OF; id++)
		if (belongs_to_view(id) && entry->facts.fact[id].present) {
			fprintf(file, "%s%s %s", separator, tare_fact_rows[id].title,
			        tare_fact_format(&entry->facts, id, value, sizeof value));
			separator = "; ";
		}
	tare_text_gathered(text, TARE_STYLE_PLAIN, "   ", 14);
}

// What nobody knows of the device; the reasons are in the long form.
static void write_unknown(struct tare_text *text, const struct tare_result *result,
                          const struct tare_device_entry *first)
{
	const char *separator = "";
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	for (int id = 0; id < TARE_FACT_COUNT_OF; id++)
		if (!knower(result, first->number, id) && anyone_asked(result, first->number, id)) {
			fprintf(file, "%s%s", separator, tare_fact_rows[id].title);
			separator = "; ";
		}
	if (separator[0])
		fputs(" (-v says why)", file);
	tare_text_gathered(text, TARE_STYLE_FAINT, "   n/a        ", 14);
}

static bool seen_before(const struct tare_result *result, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (result->devices[i].number == result->devices[index].number)
			return true;
	return false;
}

static void write_block(struct tare_text *text, const struct tare_result *result,
                        const struct tare_device_entry *first)
{
	char name[300], type[300], lead[16];
	enum tare_fact_id order[TARE_FACT_COUNT_OF];
	const char *group = "";

	order_by_group(order);
	snprintf(lead, sizeof lead, "%2u ", first->number);
	tare_text_paragraph(text, TARE_STYLE_BOLD, lead, 3, "%s  (%s)",
	                    tare_fact_format(&first->facts, TARE_FACT_NAME, name, sizeof name),
	                    tare_fact_format(&first->facts, TARE_FACT_TYPE, type, sizeof type));
	for (size_t i = 0; i < TARE_FACT_COUNT_OF; i++)
		if (strcmp(group, tare_fact_rows[order[i]].group) != 0) {
			group = tare_fact_rows[order[i]].group;
			write_group(text, result, first, group);
		}
	for (size_t i = 0; i < result->device_count; i++)
		if (result->devices[i].number == first->number)
			write_view(text, &result->devices[i]);
	write_unknown(text, result, first);
}

// "   group      fact                         value  [driver]", wrapped under the value.
static void write_fact(struct tare_text *text, const char *group, const char *title,
                       const char *value, const char *origin)
{
	char lead[64];

	snprintf(lead, sizeof lead, "   %-9.9s %-27.27s ", group, title);
	tare_text_paragraph(text, origin ? TARE_STYLE_PLAIN : TARE_STYLE_FAINT, lead,
	                    tare_text_width(lead), "%s%s%s%s%s", origin ? "" : "n/a: ", value,
	                    origin ? " [" : "", origin ? origin : "", origin ? "]" : "");
}

static void write_engines(struct tare_text *text, const struct tare_device_entry *entry)
{
	static const char *const classes[] = { "compute", "copy", "link" };

	for (size_t i = 0; i < entry->engine_count; i++) {
		const struct tare_engine *engine = &entry->engines[i];
		char title[64];
		snprintf(title, sizeof title, "%s engine %u", classes[(unsigned)engine->class % 3],
		         engine->index);
		write_fact(
		    text, "", title, engine->title[0] ? engine->title : "no name",
		    tare_origin_name(engine->known ? TARE_ORIGIN_DRIVER : TARE_ORIGIN_GUESS));
	}
}

// Every fact of one entry with where it comes from, or why it is not there.
static void write_facts(struct tare_text *text, const struct tare_device_entry *entry)
{
	char value[300], lead[16];
	enum tare_fact_id order[TARE_FACT_COUNT_OF];
	const char *group = "";

	order_by_group(order);
	snprintf(lead, sizeof lead, "%2u ", entry->number);
	tare_text_paragraph(text, TARE_STYLE_BOLD, lead, 3, "%s  (%s:%u%s%s)",
	                    tare_fact_format(&entry->facts, TARE_FACT_NAME, value, sizeof value),
	                    entry->backend, entry->index,
	                    entry->same_by ? ", the same device by " : "",
	                    entry->same_by ? entry->same_by : "");
	for (size_t i = 0; i < TARE_FACT_COUNT_OF; i++) {
		enum tare_fact_id id = order[i];
		const struct tare_fact *fact = &entry->facts.fact[id];
		const struct tare_fact_row *row = &tare_fact_rows[id];
		if (!was_asked(entry, id))
			continue;
		write_fact(text, strcmp(group, row->group) ? row->group : "", row->title,
		           fact->present ? tare_fact_format(&entry->facts, id, value, sizeof value)
		                         : tare_fact_reason(&entry->facts, id),
		           fact->present ? tare_origin_name(fact->origin) : NULL);
		group = row->group;
		// The engines one by one, after what is known of them all.
		if (id == TARE_FACT_ENGINES)
			write_engines(text, entry);
	}
}

static void write_host(struct tare_text *text, const struct tare_result *result)
{
	char value[256];
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	for (size_t i = 0; i < result->host.count; i++) {
		const struct tare_label *label = &result->host.at[i];
		size_t name = strlen(label->name);
		// "memory_bytes 16 GB" says the unit twice.
		if (name > 6 && strcmp(label->name + name - 6, "_bytes") == 0)
			name -= 6;
		fprintf(file, "%s%.*s %s", i ? "; " : "", (int)name, label->name,
		        tare_text_label(label, value, sizeof value));
	}
	tare_text_gathered(text, TARE_STYLE_PLAIN, "host          ", 14);
}

void tare_text_devices(struct tare_text *text, const struct tare_result *result)
{
	bool verbose = text->options->verbosity > 0, kernels = tare_text_has_kernels(result);
	kernels && !verbose ? 0 : write_host(text, result);

	// Who asks of a kernel has not asked for the device.
	for (size_t i = 0; i < result->device_count && (verbose || !kernels); i++) {
		if (!verbose && seen_before(result, i))
			continue;
		fputc('\n', text->file);
		verbose ? write_facts(text, &result->devices[i])
		        : write_block(text, result, &result->devices[i]);
	}
	if (kernels)
		tare_text_kernels(text, result, verbose);
	if (result->absence_count)
		fputc('\n', text->file);
	for (size_t i = 0; i < result->absence_count; i++) {
		const struct tare_backend_absence *absence = &result->absences[i];
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "none  ", 6, "%s: %s%s%s",
		                    absence->backend, absence->reason, absence->action ? "; " : "",
		                    absence->action ? absence->action : "");
	}
}
