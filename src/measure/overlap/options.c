// SPDX-License-Identifier: Apache-2.0
// What the options of `overlap` mean: lists and ranges of cycles, chunks, queues; breaks.
#include "measure/overlap/overlap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_MOST INT32_MAX // the kernel's argument is an int
#define CHUNKS_MOST 4096
#define QUEUES_MOST 64

// A list that is being read: "1,8..64,100".
struct list {
	const char *what; // "cycles"
	uint64_t least, most;
	uint64_t *values; // sorted, each once
	size_t count, capacity;
};

// Puts a value where it belongs; one that is there already is left out.
static int add(struct list *list, uint64_t value, struct tare_error *error)
{
	size_t at = 0;

	while (at < list->count && list->values[at] < value)
		at++;
	if (at < list->count && list->values[at] == value)
		return 0;
	if (list->count == list->capacity)
		return tare_fail(error, EINVAL, "more than %zu values of %s; take a larger step",
		                 list->capacity, list->what);
	memmove(&list->values[at + 1], &list->values[at],
	        (list->count - at) * sizeof *list->values);
	list->values[at] = value;
	list->count++;
	return 0;
}

// Reads a whole number at *text and moves behind it.
static int read_number(const struct list *list, const char **text, uint64_t *value,
                       struct tare_error *error)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits == 0)
		return tare_fail(error, EINVAL, "'%.40s' is not a number of %s", *text, list->what);
	*value = digits > 18 ? UINT64_MAX : strtoull(*text, NULL, 10);
	if (*value < list->least || *value > list->most)
		return tare_fail(error, EINVAL, "%.*s: %s go from %llu to %llu",
		                 (int)(digits < 40 ? digits : 40), *text, list->what,
		                 (unsigned long long)list->least, (unsigned long long)list->most);
	*text += digits;
	return 0;
}

enum steps { STEPS_GIVEN, STEPS_POWERS, STEPS_ONE };

static int add_range(struct list *list, uint64_t from, uint64_t to, uint64_t step, enum steps steps,
                     struct tare_error *error)
{
	int status = 0;

	if (from > to)
		return tare_fail(error, EINVAL, "the range %llu..%llu is empty",
		                 (unsigned long long)from, (unsigned long long)to);
	if (steps != STEPS_POWERS) {
		for (uint64_t value = from; status == 0 && value <= to; value += step)
			status = add(list, value, error);
		return status;
	}
	// Powers of two and halfway between them, and both ends.
	status = add(list, from, error);
	for (uint64_t power = 1; status == 0 && power <= to; power *= 2) {
		if (power >= from)
			status = add(list, power, error);
		if (status == 0 && power >= 2 && power + power / 2 >= from &&
		    power + power / 2 <= to)
			status = add(list, power + power / 2, error);
	}
	return status < 0 ? status : add(list, to, error);
}

// One part of a list: "64", "1..8", "0..1024:64".
static int read_part(struct list *list, const char **text, enum steps steps,
                     struct tare_error *error)
{
	uint64_t from = 0, to = 0, step = 1;
	int status = read_number(list, text, &from, error);

	if (status < 0 || strncmp(*text, "..", 2) != 0)
		return status < 0 ? status : add(list, from, error);
	*text += 2;
	status = read_number(list, text, &to, error);
	if (status < 0)
		return status;
	if (steps == STEPS_GIVEN && **text != ':')
		return tare_fail(error, EINVAL,
		                 "the range %llu..%llu needs a step, as in 0..1024:64",
		                 (unsigned long long)from, (unsigned long long)to);
	if (steps == STEPS_GIVEN) {
		size_t digits = strspn(++*text, "0123456789");
		step = digits && digits < 19 ? strtoull(*text, NULL, 10) : 0;
		*text += digits;
		if (step == 0)
			return tare_fail(error, EINVAL, "the step of a range is a number above 0");
	}
	return add_range(list, from, to, step, steps, error);
}

static int read_list(struct list *list, const char *text, enum steps steps,
                     struct tare_error *error)
{
	int status;

	do {
		status = read_part(list, &text, steps, error);
		if (status < 0)
			return status;
		if (*text != ',' && *text != '\0')
			return tare_fail(error, EINVAL, "'%.40s' is not part of a list of %s", text,
			                 list->what);
	} while (*text++ == ',');
	return 0;
}

int tare_parse_cycles(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error)
{
	struct list list = { "cycles", 0, CYCLES_MOST, options->cycles, 0, TARE_OVERLAP_CYCLES };
	int status = read_list(&list, text, STEPS_GIVEN, error);

	options->cycle_count = status < 0 ? 0 : list.count;
	return status;
}

// Both lists of the search space are of uint32_t.
static size_t narrow(uint32_t *to, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		to[i] = (uint32_t)list->values[i];
	return list->count;
}

int tare_parse_chunks(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error)
{
	struct tare_search_space *space = &options->space;
	uint64_t values[sizeof space->chunks / sizeof *space->chunks];
	struct list list = { "chunks", 1, CHUNKS_MOST, values, 0, sizeof values / sizeof *values };
	int status = read_list(&list, text, STEPS_POWERS, error);

	space->chunk_count = status < 0 ? 0 : narrow(space->chunks, &list);
	return status;
}

int tare_parse_queues(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error)
{
	struct tare_search_space *space = &options->space;
	uint64_t values[sizeof space->queues / sizeof *space->queues];
	struct list list = { "queues", 1, QUEUES_MOST, values, 0, sizeof values / sizeof *values };
	int status = read_list(&list, text, STEPS_ONE, error);

	space->queue_count = status < 0 ? 0 : narrow(space->queues, &list);
	return status;
}

const char *tare_loop_name(enum tare_loop loop)
{
	static const char *const names[TARE_LOOP_COUNT] = {
		[TARE_LOOP_REGISTER] = "register",
		[TARE_LOOP_HANDBOOK] = "handbook",
		[TARE_LOOP_VOLATILE] = "volatile",
	};
	return names[loop];
}

int tare_parse_loop(const char *text, struct tare_overlap_options *options,
                    struct tare_error *error)
{
	for (int i = 0; i < TARE_LOOP_COUNT; i++)
		if (strcmp(text, tare_loop_name((enum tare_loop)i)) == 0) {
			options->loop = (enum tare_loop)i;
			return 0;
		}
	return tare_fail(error, EINVAL,
	                 "no loop '%.40s'; there are register, handbook and volatile", text);
}

// The bits of one word of the list; 0 when there is no such break.
static uint32_t break_bits(const char *word, size_t length)
{
	if (length == 3 && strncmp(word, "all", 3) == 0)
		return TARE_OVERLAP_ALL_BREAKS;
	for (int i = TARE_BREAK_NONE + 1; i < TARE_BREAK_COUNT; i++) {
		const char *name = tare_break_name((enum tare_break)i);
		if (strlen(name) == length && strncmp(word, name, length) == 0)
			return 1u << i;
	}
	return 0;
}

int tare_parse_breaks(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error)
{
	uint32_t breaks = 0;
	size_t length;

	if (strcmp(text, "none") == 0) {
		options->breaks = 0;
		return 0;
	}
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		uint32_t bits = break_bits(text, length);
		if (!bits) {
			char names[160] = "";
			for (int i = TARE_BREAK_NONE + 1; i < TARE_BREAK_COUNT; i++)
				snprintf(names + strlen(names), sizeof names - strlen(names),
				         "%s, ", tare_break_name((enum tare_break)i));
			return tare_fail(error, EINVAL, "no break '%.*s'; there are %sall and none",
			                 (int)(length < 40 ? length : 40), text, names);
		}
		breaks |= bits;
		if (!text[length])
			break;
	}
	options->breaks = breaks;
	return 0;
}
