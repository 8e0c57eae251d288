// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/phase_names.h"

#include "analysis/core/id_map.h"
#include "analysis/recording/intervals.h"
#include "base/cleanup.h"
#include "base/room.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct tare_recording *recording, uint32_t process,
                      const struct tare_recorded_phase *phase)
{
	return !phase->instant && phase->thread < recording->thread_count &&
	       (process == TARE_NO_INDEX || recording->threads[phase->thread].process == process);
}

static bool is_same(const struct tare_recorded_phase *a, const struct tare_recorded_phase *b)
{
	return (a->name == b->name || strcmp(a->name, b->name) == 0) &&
	       (a->domain == b->domain || strcmp(a->domain, b->domain) == 0);
}

// The number of a phase's name, a new one where it was not seen before; TARE_NO_INDEX: no memory.
static uint32_t number_of(const struct tare_recording *recording, struct tare_id_map *map,
                          size_t *room, uint32_t phase, struct phase_names *names)
{
	const struct tare_recorded_phase *at = &recording->phases[phase];
	uint64_t key = tare_hash_text(tare_hash_text(TARE_HASH_START, at->name), at->domain);
	uint32_t number, *first;

	// Names may share a hash.
	for (;; key++) {
		number = tare_id_map_find(map, key);
		if (number == TARE_ID_ABSENT)
			break;
		if (is_same(at, &recording->phases[names->first[number]]))
			return number;
	}
	first = TARE_ROOM_FOR(names->first, *room, names->count);
	if (!first || !tare_id_map_put(map, key, (uint32_t)names->count))
		return TARE_NO_INDEX;
	*first = phase;
	return (uint32_t)names->count++;
}

int phase_names_find(const struct tare_recording *recording, uint32_t process,
                     struct phase_names *names)
{
	struct tare_id_map map = { 0 };
	size_t room = 0;
	int code = 0;

	*names =
	    (struct phase_names){ .of = malloc((recording->phase_count + 1) * sizeof *names->of) };
	if (!names->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->phase_count && code == 0; i++) {
		names->of[i] = TARE_NO_INDEX;
		if (!is_wanted(recording, process, &recording->phases[i]))
			continue;
		names->of[i] = number_of(recording, &map, &room, i, names);
		if (names->of[i] == TARE_NO_INDEX)
			code = -ENOMEM;
	}
	tare_id_map_free(&map);
	return code;
}

void phase_names_free(struct phase_names *names)
{
	free(names->of);
	free(names->first);
	*names = (struct phase_names){ 0 };
}

static bool matches(const char *pattern, const struct tare_recorded_phase *phase, char *full,
                    size_t size)
{
	// A name may have signs that mean something in a pattern.
	if (strcmp(pattern, phase->name) == 0 || fnmatch(pattern, phase->name, 0) == 0)
		return true;
	if (!phase->domain[0])
		return false;
	snprintf(full, size, "%s/%s", phase->domain, phase->name);
	return strcmp(pattern, full) == 0 || fnmatch(pattern, full, 0) == 0;
}

// Which names match. Returns NULL when there is no memory.
static bool *match(const struct tare_recording *recording, const struct phase_names *names,
                   const char *pattern)
{
	bool *found = calloc(names->count + 1, sizeof *found);

	for (size_t i = 0; i < names->count && found; i++) {
		const struct tare_recorded_phase *phase = &recording->phases[names->first[i]];
		size_t size = strlen(phase->domain) + strlen(phase->name) + 2;
		TARE_FREE char *full = malloc(size);
		if (!full) {
			free(found);
			return NULL;
		}
		found[i] = matches(pattern, phase, full, size);
	}
	return found;
}

int tare_phase_spans(const struct tare_recording *recording, const struct tare_view *view,
                     const char *pattern, struct tare_run_span **spans)
{
	struct tare_run_span *all = malloc((recording->phase_count + 1) * sizeof *all);
	struct phase_names names = { 0 };
	TARE_FREE bool *matched = NULL;
	size_t count = 0;
	int code = all ? phase_names_find(recording, view->process, &names) : -ENOMEM;

	*spans = NULL;
	if (code == 0) {
		matched = match(recording, &names, pattern);
		code = matched ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < recording->phase_count && code == 0; i++) {
		const struct tare_recorded_phase *phase = &recording->phases[i];
		if (names.of[i] == TARE_NO_INDEX || !matched[names.of[i]])
			continue;
		all[count++] = (struct tare_run_span){
			phase->from_ns > view->from_ns ? phase->from_ns : view->from_ns,
			phase->to_ns < view->to_ns ? phase->to_ns : view->to_ns,
		};
	}
	phase_names_free(&names);
	count = code == 0 ? tare_spans_unite(all, count) : 0;
	if (code < 0 || count == 0) {
		free(all);
		return code;
	}
	*spans = all;
	return count > INT32_MAX ? INT32_MAX : (int)count;
}

size_t tare_phase_names(const struct tare_recording *recording, uint32_t process, uint32_t *found,
                        size_t most)
{
	size_t count = 0;

	for (uint32_t i = 0; i < recording->phase_count && count < most; i++) {
		bool known = false;
		if (!is_wanted(recording, process, &recording->phases[i]))
			continue;
		for (size_t k = 0; k < count && !known; k++)
			known = is_same(&recording->phases[i], &recording->phases[found[k]]);
		if (!known)
			found[count++] = i;
	}
	return count;
}
