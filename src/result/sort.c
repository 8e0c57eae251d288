// SPDX-License-Identifier: Apache-2.0
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

struct sortable {
	size_t rank;  // of its line
	size_t index; // where it was: ties keep their order
	struct tare_cell cell;
};

static const char *line_of(const struct tare_cell *cell)
{
	const struct tare_label *line = tare_labels_find(&cell->labels, "line");
	return line && line->text ? line->text : "";
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

// A cell without the label comes before one with it, a number before a text.
static int compare_label(const struct tare_cell *a, const struct tare_cell *b, const char *name)
{
	const struct tare_label *left = tare_labels_find(&a->labels, name);
	const struct tare_label *right = tare_labels_find(&b->labels, name);

	if (!left || !right)
		return (left != NULL) - (right != NULL);
	if (!left->text || !right->text) {
		int by_type = (left->text != NULL) - (right->text != NULL);
		return by_type ? by_type : compare_numbers(left->number, right->number);
	}
	return strcmp(left->text, right->text);
}

// The first name after `previous` in the alphabet that either cell has; NULL at the end.
static const char *next_name(const struct tare_cell *a, const struct tare_cell *b,
                             const char *previous)
{
	const char *next = NULL;

	for (int side = 0; side < 2; side++) {
		const struct tare_labels *labels = side ? &b->labels : &a->labels;
		for (size_t i = 0; i < labels->count; i++) {
			const char *name = labels->at[i].name;
			if (strcmp(name, previous) > 0 && (!next || strcmp(name, next) < 0))
				next = name;
		}
	}
	return next;
}

// By name, not in each cell's own order: the comparison of b with a must be the opposite of that
// of a with b.
static int compare_labels(const struct tare_cell *a, const struct tare_cell *b)
{
	for (const char *name = next_name(a, b, ""); name; name = next_name(a, b, name)) {
		int order = strcmp(name, "line") == 0 ? 0 : compare_label(a, b, name);
		if (order)
			return order;
	}
	return 0;
}

static int source_rank(const char *source)
{
	static const char *const order[] = { "device", "host", "model" };
	int rank = 0;

	while (rank < 3 && strcmp(source, order[rank]) != 0)
		rank++;
	return rank;
}

static int compare_cells(const void *left, const void *right)
{
	const struct sortable *a = left, *b = right;
	int order = compare_numbers((int64_t)a->rank, (int64_t)b->rank);

	if (order == 0)
		order = compare_label(&a->cell, &b->cell, "bytes");
	if (order == 0)
		order = compare_labels(&a->cell, &b->cell);
	if (order == 0)
		order = strcmp(a->cell.quantity, b->cell.quantity);
	if (order == 0)
		order = source_rank(a->cell.source) - source_rank(b->cell.source);
	return order ? order : compare_numbers((int64_t)a->index, (int64_t)b->index);
}

void tare_result_sort_cells(struct tare_result *result)
{
	size_t n = result->cell_count;
	struct sortable *cells = n ? calloc(n, sizeof *cells) : NULL;

	if (!cells)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t first = 0;
		while (strcmp(line_of(&result->cells[first]), line_of(&result->cells[i])) != 0)
			first++;
		cells[i] = (struct sortable){ .rank = first, .index = i, .cell = result->cells[i] };
	}
	qsort(cells, n, sizeof *cells, compare_cells);
	for (size_t i = 0; i < n; i++)
		result->cells[i] = cells[i].cell;
	free(cells);
}
