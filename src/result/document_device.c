// SPDX-License-Identifier: Apache-2.0
// The fields of devices: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <math.h>
#include <string.h>

// ---- facts: their table is model/fact.c's

static json_t *fact_value(const struct tare_fact *fact, enum tare_fact_type type)
{
	switch (type) {
	case TARE_FACT_TEXT:
		return tare_json_text(fact->text);
	case TARE_FACT_BOOL:
		return json_boolean(fact->count != 0);
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		return tare_json_number(fact->rate);
	default:
		return tare_json_unsigned(fact->count);
	}
}

static void put_facts(struct tare_json *json, json_t *device, const void *structure)
{
	const struct tare_facts *list = &((const struct tare_device_entry *)structure)->facts;
	json_t *object = json_object();

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const struct tare_fact_row *row = &tare_fact_rows[id];
		const struct tare_fact *fact = &list->fact[id];
		const char *reason = tare_fact_reason(list, (enum tare_fact_id)id);
		json_t *entry = json_object();
		bool known = fact->present;

		if (known && (row->type == TARE_FACT_NS || row->type == TARE_FACT_RATE))
			known = isfinite(fact->rate);
		else if (known && row->type != TARE_FACT_TEXT)
			known = fact->count <= INT64_MAX;
		if (known) {
			tare_json_put(json, entry, "value", fact_value(fact, row->type));
			tare_json_put(json, entry, "unit", tare_json_text(row->unit));
			tare_json_put(json, entry, "origin",
			              tare_json_text(tare_origin_name(fact->origin)));
		} else {
			tare_json_put(json, entry, "value", json_null());
			tare_json_put(json, entry, "reason",
			              tare_json_text(fact->present
			                                 ? "not a number that can be written"
			                                 : reason));
		}
		tare_json_put(json, object, row->key, entry);
	}
	tare_json_put(json, device, "facts", object);
}

static enum tare_fact_origin take_origin(struct tare_fields *fields, json_t *object)
{
	const char *names[TARE_ORIGIN_GUESS + 1];

	for (int i = 0; i <= TARE_ORIGIN_GUESS; i++)
		names[i] = tare_origin_name((enum tare_fact_origin)i);
	return (enum tare_fact_origin)tare_field_choice(fields, object, "origin", names,
	                                                TARE_ORIGIN_GUESS + 1);
}

static void take_fact(struct tare_fields *fields, json_t *object, struct tare_facts *facts,
                      enum tare_fact_id id)
{
	json_t *value = json_object_get(object, "value");
	enum tare_fact_origin origin;
	const char *text;

	if (!value || json_is_null(value)) {
		text = tare_field_word(fields, object, "reason", true);
		// A file says in words what a fact that nobody asked for is.
		if (text && strcmp(text, TARE_FACT_NOT_ASKED) != 0)
			tare_fact_absent(facts, id, "%s", text);
		return;
	}
	origin = take_origin(fields, object);
	switch (tare_fact_rows[id].type) {
	case TARE_FACT_TEXT:
		text = tare_field_word(fields, object, "value", false);
		if (text)
			tare_fact_set_text(facts, id, origin, text);
		break;
	case TARE_FACT_BOOL:
		tare_fact_set_count(facts, id, origin,
		                    tare_field_flag(fields, object, "value", false));
		break;
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		tare_fact_set_rate(facts, id, origin, tare_field_number(fields, object, "value"));
		break;
	default:
		tare_fact_set_count(
		    facts, id, origin,
		    (uint64_t)tare_field_integer(fields, object, "value", 0, INT64_MAX));
	}
}

// A fact that this tare does not know (a later one wrote it) is passed over.
static void take_facts(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_facts *facts = &((struct tare_device_entry *)structure)->facts;
	json_t *list = tare_field_object(fields, object, "facts", false);
	size_t mark = tare_fields_enter(fields, "facts");

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const char *key = tare_fact_rows[id].key;
		json_t *entry = tare_field_object(fields, list, key, true);
		if (entry) {
			size_t inner = tare_fields_enter(fields, key);
			take_fact(fields, entry, facts, (enum tare_fact_id)id);
			tare_fields_leave(fields, inner);
		}
	}
	tare_fields_leave(fields, mark);
}

// ---- kernels of a file that was built for the device

#define STRUCTURE struct tare_kernel_entry

#define TOLD(name, which)                                                                          \
	TARE_JSON_FIELD(name, WHOLE, value[TARE_KERNEL_##which],                                   \
	                .flags = TARE_JSON_OR_NULL | TARE_JSON_MINUS_NULL)
static bool has_set(const void *structure)
{
	return ((const struct tare_kernel_entry *)structure)->set >= 0;
}

static const struct tare_json_field kernel_fields[] = {
	TARE_JSON_FIELD("name", TEXT, name),
	TOLD("arguments", ARGUMENTS),
	TOLD("simd_width", SIMD_WIDTH),
	TOLD("max_group_size", GROUP_SIZE),
	TOLD("preferred_multiple", MULTIPLE),
	TOLD("local_bytes", LOCAL),
	TOLD("private_bytes", PRIVATE),
	TOLD("spill_bytes", SPILL),
	TOLD("registers", REGISTERS),
	TARE_JSON_FIELD("parameters", TEXT, parameters, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_FIELD("set", WHOLE, set, .flags = TARE_JSON_LEFT_OUT | TARE_JSON_MINUS_NULL,
	                .known = has_set),
};
static const struct tare_json_record kernel = TARE_JSON_RECORD(kernel_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_kernel_set

static const struct tare_json_field set_fields[] = {
	TARE_JSON_FIELD("options", TEXT, options),
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL),
};
static const struct tare_json_record set = TARE_JSON_RECORD(set_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_kernel_list

static const struct tare_json_field kernels_fields[] = {
	TARE_JSON_FIELD("file", TEXT, file),
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_ROWS("kernels", at, count, &kernel, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_ROWS("sets", sets, set_count, &set, .flags = TARE_JSON_LEFT_OUT,
	               TARE_JSON_KNOWN(set_count)),
};
static const struct tare_json_record kernels = TARE_JSON_RECORD(kernels_fields);

static void put_kernels(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_device_entry *device = structure;

	tare_json_put(json, object, "kernels", tare_json_record(json, &kernels, device->kernels));
}

static void take_kernels(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_device_entry *device = structure;
	json_t *built = tare_field_object(fields, object, "kernels", true);
	size_t mark = tare_fields_enter(fields, "kernels");

	if (built && !(device->kernels = tare_kernel_list_new("")))
		tare_fields_out_of_memory(fields);
	if (device->kernels)
		tare_json_read_record(fields, &kernels, built, device->kernels);
	tare_fields_leave(fields, mark);
}

// ---- engines

#undef STRUCTURE
#define STRUCTURE struct tare_engine

static const char *const classes[] = {
	[TARE_ENGINE_COMPUTE] = "compute",
	[TARE_ENGINE_COPY] = "copy",
	[TARE_ENGINE_LINK] = "link",
	NULL,
};

static const struct tare_json_field engine_fields[] = {
	TARE_JSON_FIELD("class", WORD, class, .words = classes),
	TARE_JSON_FIELD("index", WHOLE, index),
	TARE_JSON_FIELD("known", TRUTH, known),
	TARE_JSON_FIELD("title", TEXT, title, .flags = TARE_JSON_OR_NULL),
};
static const struct tare_json_record engine = TARE_JSON_RECORD(engine_fields);

// ---- devices

#undef STRUCTURE
#define STRUCTURE struct tare_device_entry

static const struct tare_json_field device_fields[] = {
	TARE_JSON_FIELD("backend", TEXT, backend),
	TARE_JSON_FIELD("backend_title", TEXT, backend_title),
	TARE_JSON_FIELD("index", WHOLE, index),
	TARE_JSON_FIELD("number", WHOLE, number),
	TARE_JSON_FIELD("same_by", TEXT, same_by, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_FIELD("facts", OWN, facts, .put = put_facts, .take = take_facts),
	TARE_JSON_ROWS("engines", engines, engine_count, &engine, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_FIELD("kernels", OWN, kernels, .flags = TARE_JSON_LEFT_OUT,
	                TARE_JSON_KNOWN(kernels), .of = &kernels, .put = put_kernels,
	                .take = take_kernels),
};
const struct tare_json_record tare_device_record = TARE_JSON_RECORD(device_fields);
#endif
