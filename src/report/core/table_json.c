// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_json.h"

#if TARE_HAVE_JSON

#include <inttypes.h>

enum { MOST_GROUPS = 8 };

// ---- values

static json_t *sizes(struct tare_json *json, const struct tare_cell_value *value)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < value->sizes.dimensions && i < 3; i++)
		tare_json_push(json, list, tare_json_unsigned(value->sizes.at[i]));
	return list;
}

static json_t *hash(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%016" PRIx64, value);
	return tare_json_text(text);
}

static json_t *cell(struct tare_json *json, enum tare_shown shown,
                    const struct tare_cell_value *value)
{
	switch (value->is) {
	case TARE_IS_INTEGER:
		return shown == TARE_SHOWN_HASH ? hash((uint64_t)value->integer)
		                                : json_integer(value->integer);
	case TARE_IS_NUMBER:
		return tare_json_number(value->number);
	case TARE_IS_TEXT:
		return tare_json_text(value->text);
	case TARE_IS_TRUTH:
		return json_boolean(value->truth);
	case TARE_IS_SIZES:
		return sizes(json, value);
	default:
		return json_null();
	}
}

// ---- rows

// The objects of a row's groups that were made so far.
struct groups {
	const struct tare_column_group *group[MOST_GROUPS];
	json_t *object[MOST_GROUPS]; // NULL: it is not known
	size_t count;
};

// The object in which columns of the group are; NULL: it is null in the row.
static json_t *object_of(struct tare_json *json, struct groups *groups,
                         const struct tare_column_group *group, const void *source, const void *row,
                         json_t *whole)
{
	json_t *outer, *object;

	if (!group)
		return whole;
	for (size_t i = 0; i < groups->count; i++)
		if (groups->group[i] == group)
			return groups->object[i];
	outer = object_of(json, groups, group->in, source, row, whole);
	if (groups->count == MOST_GROUPS || !outer)
		return NULL;
	object = tare_column_group_known(group, source, row) ? json_object() : NULL;
	tare_json_put(json, outer, tare_column_group_key(group), object ? object : json_null());
	groups->group[groups->count] = group;
	groups->object[groups->count++] = object;
	return object;
}

json_t *tare_table_row_json(struct tare_json *json, const struct tare_table *table,
                            const void *source, const void *row, unsigned on)
{
	struct groups groups = { .count = 0 };
	json_t *whole = json_object();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		struct tare_cell_value value;
		json_t *object;
		if (on && !(column->on & on))
			continue;
		object = object_of(json, &groups, column->in, source, row, whole);
		if (!object)
			continue;
		value = tare_column_value(column, source, row);
		tare_json_put(json, object, tare_column_key(column),
		              column->nested ? column->nested(json, source, row)
		                             : cell(json, column->shown, &value));
	}
	return whole;
}

json_t *tare_table_json(struct tare_json *json, const struct tare_table *table, const void *source)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->count(source); i++)
		tare_json_push(json, list,
		               tare_table_row_json(json, table, source, table->row(source, i), 0));
	return list;
}

// ---- declarations

// The keys that lead to what is in a group, the outermost first.
static void put_path(struct tare_json *json, json_t *path, const struct tare_column_group *group)
{
	if (!group)
		return;
	put_path(json, path, group->in);
	tare_json_push(json, path, tare_json_text(tare_column_group_key(group)));
}

// The ids of the columns that rows within a row have.
static json_t *nested_columns(struct tare_json *json, const struct tare_table *table, unsigned on)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].on & on)
			tare_json_push(json, list, tare_json_text(table->columns[i].id));
	return list;
}

static json_t *column_declaration(struct tare_json *json, const struct tare_table *table,
                                  const struct tare_column *column)
{
	json_t *object = json_object(), *path = json_array();

	put_path(json, path, column->in);
	tare_json_push(json, path, tare_json_text(tare_column_key(column)));
	tare_json_put(json, object, "id", tare_json_text(column->id));
	tare_json_put(json, object, "path", path);
	tare_json_put(json, object, "title", tare_json_text(column->title));
	tare_json_put(json, object, "shown", tare_json_text(tare_shown_name(column->shown)));
	tare_json_put(json, object, "unit", tare_json_text(tare_shown_unit(column->shown)));
	tare_json_put(json, object, "doc", tare_json_text(column->doc));
	tare_json_put(json, object, "may_be_absent",
	              json_boolean(column->flags & TARE_MAY_BE_ABSENT));
	tare_json_put(json, object, "if_any", json_boolean(column->flags & TARE_IF_ANY));
	tare_json_put(json, object, "if_devices", json_boolean(column->flags & TARE_IF_DEVICES));
	tare_json_put(json, object, "on_page", json_boolean(column->on & TARE_ON_PAGE));
	tare_json_put(json, object, "on_text", json_boolean(column->on & ~(unsigned)TARE_ON_PAGE));
	if (column->nested_on)
		tare_json_put(json, object, "rows", nested_columns(json, table, column->nested_on));
	return object;
}

json_t *tare_table_declaration(struct tare_json *json, const struct tare_table *table)
{
	json_t *object = json_object(), *columns = json_array(), *groups = json_object();

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].in)
			tare_json_put(json, groups, table->columns[i].in->id,
			              tare_json_text(table->columns[i].in->doc));
	for (size_t i = 0; i < table->column_count; i++)
		tare_json_push(json, columns, column_declaration(json, table, &table->columns[i]));
	tare_json_put(json, object, "id", tare_json_text(table->id));
	tare_json_put(json, object, "title", tare_json_text(table->title));
	tare_json_put(json, object, "doc", tare_json_text(table->doc));
	tare_json_put(json, object, "nothing",
	              table->nothing ? tare_json_text(table->nothing) : json_null());
	tare_json_put(json, object, "groups", groups);
	tare_json_put(json, object, "columns", columns);
	return object;
}

#endif
