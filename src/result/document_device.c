// SPDX-License-Identifier: Apache-2.0
// The fields of devices: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <math.h>
#include <string.h>

// ---- facts: their table is model/fact.c's

struct told_fact {
	const struct tare_fact_row *row;
	const char *unit;
	struct tare_fact fact;
	char reason[sizeof((struct tare_fact *)0)->text]; // why it is not known
};

#define STRUCTURE struct told_fact

static void put_value(struct tare_json *json, json_t *object, const void *structure)
{
	const struct told_fact *told = structure;
	const struct tare_fact *fact = &told->fact;
	json_t *value;

	switch (told->row->type) {
	case TARE_FACT_TEXT:
		value = tare_json_text(fact->text);
		break;
	case TARE_FACT_BOOL:
		value = json_boolean(fact->count != 0);
		break;
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		value = tare_json_number(fact->rate);
		break;
	default:
		value = tare_json_unsigned(fact->count);
	}
	tare_json_put(json, object, "value", value);
}

static void take_value(struct tare_fields *fields, json_t *object, void *structure)
{
	struct told_fact *told = structure;
	const char *text;

	switch (told->row->type) {
	case TARE_FACT_TEXT:
		text = tare_field_word(fields, object, "value", false);
		snprintf(told->fact.text, sizeof told->fact.text, "%s", text ? text : "");
		break;
	case TARE_FACT_BOOL:
		told->fact.count = tare_field_flag(fields, object, "value", false);
		break;
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		told->fact.rate = tare_field_number(fields, object, "value");
		break;
	default:
		told->fact.count =
		    (uint64_t)tare_field_integer(fields, object, "value", 0, INT64_MAX);
	}
}

static bool is_never(const void *structure)
{
	(void)structure;
	return false;
}

static const struct tare_json_field known_fields[] = {
	TARE_JSON_FIELD("value", OWN, fact, .put = put_value, .take = take_value,
	                .schema = "{'type': ['string', 'number', 'boolean']}"),
	TARE_JSON_FIELD("unit", TEXT, unit, .flags = TARE_JSON_UNREAD),
	TARE_JSON_FIELD("origin", WORD, fact.origin, .words = tare_origin_names),
};
static const struct tare_json_field absent_fields[] = {
	TARE_JSON_FIELD("value", OWN, fact, .flags = TARE_JSON_UNREAD, .known = is_never,
	                .schema = "{'type': 'null'}"),
	TARE_JSON_FIELD("reason", TEXT, reason, .flags = TARE_JSON_OR_MISSING,
	                .doc = "Why it is not known.", .schema = "{'minLength': 1}"),
};
static const struct tare_json_record absent_fact = TARE_JSON_RECORD(absent_fields);
static const struct tare_json_record known_fact =
    TARE_JSON_RECORD(known_fields, .name = "fact", .otherwise = &absent_fact);

static bool can_be_written(const struct told_fact *told)
{
	enum tare_fact_type type = told->row->type;

	if (!told->fact.present || type == TARE_FACT_TEXT)
		return told->fact.present;
	if (type == TARE_FACT_NS || type == TARE_FACT_RATE)
		return isfinite(told->fact.rate);
	return told->fact.count <= INT64_MAX;
}

static void put_facts(struct tare_json *json, json_t *device, const void *structure)
{
	const struct tare_facts *list = &((const struct tare_device_entry *)structure)->facts;
	json_t *object = json_object();

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const struct tare_fact_row *row = &tare_fact_rows[id];
		struct told_fact told = { row, row->unit, list->fact[id], "" };
		bool known = can_be_written(&told);
		if (!known)
			snprintf(told.reason, sizeof told.reason, "%s",
			         told.fact.present ? "not a number that can be written"
			                           : tare_fact_reason(list, (enum tare_fact_id)id));
		tare_json_put(json, object, row->key,
		              tare_json_record(json, known ? &known_fact : &absent_fact, &told));
	}
	tare_json_put(json, device, "facts", object);
}

static void take_fact(struct tare_fields *fields, json_t *object, struct tare_facts *facts,
                      enum tare_fact_id id)
{
	const json_t *value = json_object_get(object, "value");
	struct told_fact told = { .row = &tare_fact_rows[id], .fact.present = true };

	if (value && !json_is_null(value)) {
		tare_json_read_record(fields, &known_fact, object, &told);
		facts->fact[id] = told.fact;
		return;
	}
	tare_json_read_record(fields, &absent_fact, object, &told);
	// A file says in words what a fact that nobody asked for is.
	if (told.reason[0] && strcmp(told.reason, TARE_FACT_NOT_ASKED) != 0)
		tare_fact_absent(facts, id, "%s", told.reason);
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

#undef STRUCTURE
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
	TARE_JSON_FIELD("parameters", TEXT, parameters, .flags = TARE_JSON_OR_NULL,
	                .doc = "Such as 'const float* in, uint first'."),
	TARE_JSON_FIELD("set", WHOLE, set, .flags = TARE_JSON_LEFT_OUT | TARE_JSON_MINUS_NULL,
	                .known = has_set, .doc = "Place of its options among the sets."),
};
static const struct tare_json_record kernel =
    TARE_JSON_RECORD(kernel_fields, .doc = "null: the driver does not tell.");

#undef STRUCTURE
#define STRUCTURE struct tare_kernel_set

static const struct tare_json_field set_fields[] = {
	TARE_JSON_FIELD("options", TEXT, options),
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL,
	                .doc = "Why it does not build with them; null: it does."),
};
static const struct tare_json_record set = TARE_JSON_RECORD(set_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_kernel_list

static const struct tare_json_field kernels_fields[] = {
	TARE_JSON_FIELD("file", TEXT, file),
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL,
	                .doc = "Why there are none; null: there are."),
	TARE_JSON_ROWS("kernels", at, count, &kernel, .flags = TARE_JSON_OR_MISSING),
	TARE_JSON_ROWS(
	    "sets", sets, set_count, &set, .flags = TARE_JSON_LEFT_OUT, TARE_JSON_KNOWN(set_count),
	    .doc = "Options that were compared (--options), those of --build-options first."),
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
	TARE_JSON_FIELD("known", TRUTH, known, .doc = "Said by the driver; false: guessed."),
	TARE_JSON_FIELD("title", TEXT, title, .flags = TARE_JSON_OR_MISSING),
};
static const struct tare_json_record engine = TARE_JSON_RECORD(engine_fields);

// ---- devices

#undef STRUCTURE
#define STRUCTURE struct tare_device_entry

static const struct tare_json_field device_fields[] = {
	TARE_JSON_FIELD("backend", TEXT, backend),
	TARE_JSON_FIELD("backend_title", TEXT, backend_title),
	TARE_JSON_FIELD("index", WHOLE, index, .doc = "Within the backend."),
	TARE_JSON_FIELD("number", WHOLE, number,
	                .doc = "The same physical device has the same number under every backend."),
	TARE_JSON_FIELD(
	    "same_by", TEXT, same_by, .flags = TARE_JSON_OR_NULL,
	    .doc = "What showed that it is one with an earlier entry; null for the first."),
	TARE_JSON_FIELD("facts", OWN, facts, .of = &known_fact, .put = put_facts,
	                .take = take_facts,
	                .schema = "{'type': 'object', 'required': ['name', 'type', 'driver'], "
	                          "'additionalProperties': {'$ref': '#/$defs/fact'}}"),
	TARE_JSON_ROWS("engines", engines, engine_count, &engine, .flags = TARE_JSON_OR_MISSING),
	TARE_JSON_FIELD("kernels", OWN, kernels, .flags = TARE_JSON_LEFT_OUT,
	                TARE_JSON_KNOWN(kernels), .of = &kernels, .put = put_kernels,
	                .take = take_kernels,
	                .doc = "What the driver says of the kernels of a file that was built for "
	                       "this device (devices --kernel)."),
};
const struct tare_json_record tare_device_record =
    TARE_JSON_RECORD(device_fields, .name = "device");
#endif
