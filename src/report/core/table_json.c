// SPDX-License-Identifier: Apache-2.0
#include "report/core/table_json.h"

#include <errno.h>

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

// ---- groups

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

// ---- tables within rows

static json_t *nested_json(struct tare_json *json, const struct tare_column *column,
                           const void *source);

// What a cell has in the JSON.
static json_t *value_json(struct tare_json *json, const struct tare_column *column,
                          const void *source, const void *row)
{
	const struct tare_cell_value value = tare_column_value(column, source, row);

	if (value.is == TARE_IS_NESTED && column->of)
		return nested_json(json, column, value.nested);
	return column->nested ? column->nested(json, source, row)
	                      : cell(json, column->shown, &value);
}

static bool is_left_out(const struct tare_column *column, const void *source, const void *row)
{
	return column->flags & TARE_DRAWN ||
	       (column->flags & TARE_LEFT_OUT &&
	        tare_column_value(column, source, row).is == TARE_IS_ABSENT);
}

static bool is_kept(const struct tare_table *table, const void *source, const void *row)
{
	return !table->keep || table->keep(source, row);
}

json_t *tare_table_object_json(struct tare_json *json, const struct tare_table *table,
                               const void *source)
{
	return table->count(source) > 0
	           ? tare_table_row_json(json, table, source, table->row(source, 0), 0)
	           : json_null();
}

static json_t *list_json(struct tare_json *json, const struct tare_table *table, const void *source)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->count(source); i++) {
		const void *row = table->row(source, i);
		if (is_kept(table, source, row))
			tare_json_push(json, list,
			               value_json(json, &table->columns[0], source, row));
	}
	return list;
}

// Columns that the JSON has: a map of one but its key has the values of that, another objects.
static size_t kept_columns(const struct tare_table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		count += !(table->columns[i].flags & TARE_DRAWN);
	return count;
}

static json_t *map_json(struct tare_json *json, const struct tare_table *table, const void *source)
{
	json_t *object = json_object();

	for (size_t i = 0; i < table->count(source); i++) {
		const void *row = table->row(source, i);
		struct tare_cell_value key = tare_column_value(&table->columns[0], source, row);
		json_t *value;
		if (!is_kept(table, source, row) || key.is != TARE_IS_TEXT)
			continue;
		if (kept_columns(table) > 2) {
			value = tare_table_row_json(json, table, source, row, 0);
			json_object_del(value, table->columns[0].id);
		} else {
			if (is_left_out(&table->columns[1], source, row))
				continue;
			value = value_json(json, &table->columns[1], source, row);
		}
		tare_json_put(json, object, key.text, value);
	}
	return object;
}

static const struct {
	const char *name;
	json_t *(*write)(struct tare_json *json, const struct tare_table *table,
	                 const void *source);
} nested_as[] = {
	[TARE_AS_ROWS] = { "rows", tare_table_json },
	[TARE_AS_OBJECT] = { "object", tare_table_object_json },
	[TARE_AS_LIST] = { "list", list_json },
	[TARE_AS_MAP] = { "map", map_json },
};

static json_t *nested_json(struct tare_json *json, const struct tare_column *column,
                           const void *source)
{
	return nested_as[column->as].write(json, column->of, source);
}

// ---- rows

json_t *tare_table_row_json(struct tare_json *json, const struct tare_table *table,
                            const void *source, const void *row, unsigned on)
{
	struct groups groups = { .count = 0 };
	json_t *whole = json_object();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column *column = &table->columns[i];
		json_t *object;
		if ((on && !(column->on & on)) || is_left_out(column, source, row))
			continue;
		object = object_of(json, &groups, column->in, source, row, whole);
		if (!object)
			continue;
		tare_json_put(json, object, tare_column_key(column),
		              value_json(json, column, source, row));
	}
	return whole;
}

json_t *tare_table_json(struct tare_json *json, const struct tare_table *table, const void *source)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->count(source); i++) {
		const void *row = table->row(source, i);
		if (is_kept(table, source, row))
			tare_json_push(json, list,
			               tare_table_row_json(json, table, source, row, 0));
	}
	return list;
}

// ---- parts

// What a column's own writer of cells says, where that alone knows it.
static json_t *told(const struct tare_column *column, const void *source, const void *row)
{
	char text[RUN_TEXT] = "";
	const struct tare_cell_text cell = { source, row, NAN, text, sizeof text };

	return column->cell && column->cell(&cell) ? tare_json_text(text) : json_null();
}

static const char *mark_of(const struct tare_cell_value *value)
{
	if (value->is == TARE_IS_ABSENT)
		return tare_cell_absence_name(value->why);
	return value->unsure ? "not_converged" : NULL;
}

// The value of a column; those of one that is there several times are a list.
static void put_shown(struct tare_json *json, json_t *whole, json_t *marks,
                      const struct tare_table_shown *shown, const struct tare_shown_column *one,
                      const void *row)
{
	const struct tare_column *column = one->column;
	struct tare_cell_value value = tare_column_value_at(column, shown->source, row, one->at);
	json_t *told_or_value = value.is == TARE_IS_NESTED ? told(column, shown->source, row)
	                                                   : cell(json, column->shown, &value);
	const char *mark = mark_of(&value);
	char title[64], both[128];

	if (column->times && one->at == 0)
		tare_json_put(json, whole, column->id, json_array());
	if (column->times)
		tare_json_push(json, json_object_get(whole, column->id), told_or_value);
	else
		tare_json_put(json, whole, column->id, told_or_value);
	snprintf(both, sizeof both, "%s%s%s", column->id, column->times ? "/" : "",
	         column->times ? column->title_at(shown->source, one->at, title) : "");
	if (mark)
		tare_json_put(json, marks, both, tare_json_text(mark));
}

// The titles of the columns that are there several times, in the order of their values.
static json_t *titles(struct tare_json *json, const struct tare_table_shown *shown)
{
	json_t *object = json_object();
	char title[64];

	for (size_t c = 0; c < shown->column_count; c++) {
		const struct tare_shown_column *one = &shown->columns[c];
		if (!one->column->times)
			continue;
		if (one->at == 0)
			tare_json_put(json, object, one->column->id, json_array());
		tare_json_push(
		    json, json_object_get(object, one->column->id),
		    tare_json_text(one->column->title_at(shown->source, one->at, title)));
	}
	return object;
}

json_t *tare_table_shown_json(struct tare_json *json, const struct tare_table_shown *shown)
{
	json_t *object = json_object(), *rows = json_array();

	for (size_t r = 0; r < shown->row_count; r++) {
		json_t *row = json_object(), *marks = json_object();
		for (size_t c = 0; c < shown->column_count; c++)
			put_shown(json, row, marks, shown, &shown->columns[c], shown->rows[r]);
		if (json_object_size(marks))
			tare_json_put(json, row, "marks", json_incref(marks));
		json_decref(marks);
		tare_json_push(json, rows, row);
	}
	tare_json_put(json, object, "id", tare_json_text(shown->table->id));
	tare_json_put(json, object, "title", tare_json_text(shown->table->title));
	tare_json_put(json, object, "subject", tare_json_text(shown->part->title));
	tare_json_put(json, object, "titles", titles(json, shown));
	tare_json_put(json, object, "rows", rows);
	return object;
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

static json_t *declaration(struct tare_json *json, const struct tare_table *table);

static json_t *words_of(struct tare_json *json, const char *const *words)
{
	json_t *list = json_array();

	for (; *words; words++)
		tare_json_push(json, list, tare_json_text(*words));
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
	tare_json_put(json, object, "unit", tare_json_text(tare_column_unit(column)));
	tare_json_put(json, object, "unit_name", tare_json_text(column->unit_name));
	tare_json_put(json, object, "doc", tare_json_text(column->doc));
	tare_json_put(json, object, "may_be_absent",
	              json_boolean(column->flags & TARE_MAY_BE_ABSENT));
	tare_json_put(json, object, "if_any", json_boolean(column->flags & TARE_IF_ANY));
	tare_json_put(json, object, "if_devices", json_boolean(column->flags & TARE_IF_DEVICES));
	tare_json_put(json, object, "on_page", json_boolean(column->on & TARE_ON_PAGE));
	tare_json_put(json, object, "on_text",
	              json_boolean(column->on & ~(unsigned)(TARE_ON_PAGE | TARE_ON_CSV)));
	tare_json_put(json, object, "several", json_boolean(column->times != NULL));
	tare_json_put(json, object, "left_out", json_boolean(column->flags & TARE_LEFT_OUT));
	if (column->words)
		tare_json_put(json, object, "words", words_of(json, column->words));
	if (column->least)
		tare_json_put(json, object, "least", json_integer(column->least));
	if (column->most)
		tare_json_put(json, object, "most", json_integer(column->most));
	if (column->of) {
		tare_json_put(json, object, "as", tare_json_text(nested_as[column->as].name));
		tare_json_put(json, object, "of", declaration(json, column->of));
	}
	if (column->nested_on)
		tare_json_put(json, object, "rows", nested_columns(json, table, column->nested_on));
	return object;
}

static json_t *declaration(struct tare_json *json, const struct tare_table *table)
{
	json_t *object = json_object(), *columns = json_array(), *groups = json_object(),
	       *always = json_array();

	for (size_t i = 0; i < table->column_count; i++) {
		const struct tare_column_group *group = table->columns[i].in;
		if (!group || json_object_get(groups, group->id))
			continue;
		tare_json_put(json, groups, group->id, tare_json_text(group->doc));
		if (!group->known)
			tare_json_push(json, always, tare_json_text(group->id));
	}
	for (size_t i = 0; i < table->column_count; i++)
		if (!(table->columns[i].flags & TARE_DRAWN))
			tare_json_push(json, columns,
			               column_declaration(json, table, &table->columns[i]));
	tare_json_put(json, object, "id", tare_json_text(table->id));
	tare_json_put(json, object, "title", tare_json_text(table->title));
	tare_json_put(json, object, "doc", tare_json_text(table->doc));
	tare_json_put(json, object, "nothing",
	              table->nothing ? tare_json_text(table->nothing) : json_null());
	tare_json_put(json, object, "groups", groups);
	tare_json_put(json, object, "always", always); // of these, those that are never null
	tare_json_put(json, object, "columns", columns);
	return object;
}

int tare_table_declarations(const struct tare_table *const *tables, FILE *file)
{
	struct tare_json json = { false };
	json_t *list = json_array();
	int status;

	for (; *tables; tables++)
		tare_json_push(&json, list, declaration(&json, *tables));
	status = !list || json.failed ? -ENOMEM : tare_json_layout(list, file);
	json_decref(list);
	return status;
}

#else
int tare_table_declarations(const struct tare_table *const *tables, FILE *file)
{
	(void)tables, (void)file;
	return -ENOSYS;
}
#endif
