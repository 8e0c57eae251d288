// SPDX-License-Identifier: Apache-2.0
// Numbers of a trace and what they stand for in the recording.
#include "analysis/recording/internal.h"
#include <string.h>

struct wanted_function {
	const struct tare_recording *recording;
	const char *name;
	uint32_t api, role;
};

static bool is_function(const void *context, uint32_t index)
{
	const struct wanted_function *wanted = context;
	const struct tare_recorded_function *f = &wanted->recording->functions[index];

	return f->role == wanted->role && f->api == wanted->api && !strcmp(f->name, wanted->name);
}

uint32_t loading_intern_function(struct loading *l, const char *name, uint32_t api, uint32_t role)
{
	struct wanted_function wanted = { l->recording, name, api, role };
	uint64_t key = tare_hash_text(TARE_HASH_START + api * TARE_ROLE_COUNT + role, name);
	uint32_t index = loading_find_content(&l->functions, &key, &wanted, is_function);
	struct tare_recorded_function *added;

	if (index != TARE_ID_ABSENT)
		return index;
	// Commands have 16 bits for it; no API has so many functions.
	if (l->recording->function_count >= UINT16_MAX)
		return UINT16_MAX - 1;
	added = LOADING_ADD(l, functions, function_count, function_room);
	if (!added)
		return 0;
	*added = (struct tare_recorded_function){ loading_text(l, name), api, role, false };
	// Its role is that of all that makes and releases: OpenCL 3.0, 5.1.
	added->starts = strcmp(added->name, "clReleaseCommandQueue") == 0;
	index = (uint32_t)(l->recording->function_count - 1);
	if (!tare_id_map_put(&l->functions, key, index))
		loading_fail(l, ENOMEM, "functions");
	return index;
}

uint32_t loading_function(struct loading *l, uint16_t number, uint32_t role)
{
	uint32_t index = loading_find_again(&l->function_of, &l->last_function, number);

	if (index != TARE_ID_ABSENT)
		return index;
	l->recording->unresolved++;
	return loading_intern_function(l, "?", TARE_TRACE_NO_API, role);
}

uint32_t loading_own_function(struct loading *l, const char *name)
{
	return loading_intern_function(l, name, TARE_TRACE_NO_API, TARE_ROLE_COMMAND);
}

uint8_t loading_api_of_function(const struct loading *l, uint32_t function)
{
	return function < l->recording->function_count
	           ? loading_api(l, l->recording->functions[function].api)
	           : l->api;
}

uint32_t loading_shape(struct loading *l, uint64_t id)
{
	uint32_t index = loading_find_again(&l->shape_of, &l->last_shape, id);

	if (index == TARE_ID_ABSENT)
		l->recording->unresolved++;
	return index == TARE_ID_ABSENT ? TARE_NO_INDEX : index;
}

struct load_track *loading_look_up_track(struct loading *l, uint32_t track)
{
	uint32_t index =
	    loading_find_again(&l->track_of, &l->last_tracks[track % LOADING_TRACKS], track);
	struct tare_recorded_thread *thread;
	struct load_track *state;

	if (index != TARE_ID_ABSENT)
		return &l->tracks[index];
	thread = LOADING_ADD(l, threads, thread_count, thread_room);
	state = thread ? TARE_ROOM_FOR(l->tracks, l->track_room, l->track_count) : NULL;
	if (!state || !tare_id_map_put(&l->track_of, track, (uint32_t)l->track_count)) {
		loading_fail(l, ENOMEM, "threads");
		return NULL;
	}
	*thread = (struct tare_recorded_thread){ .process = l->process,
		                                 .track = track,
		                                 .name = "",
		                                 .unfinished_function = TARE_NO_INDEX,
		                                 .unfinished_since_ns = TARE_NO_TIME };
	*state = (struct load_track){ .thread = (uint32_t)(l->recording->thread_count - 1),
		                      .command = TARE_NO_INDEX,
		                      .call = TARE_NO_INDEX,
		                      .phase = TARE_NO_INDEX,
		                      .template = TARE_NO_INDEX,
		                      .first_ns = TARE_NO_TIME,
		                      .last_ns = TARE_NO_TIME };
	l->track_count++;
	return state;
}

bool loading_is_last_command(struct loading *l, uint32_t head_track, uint64_t number,
                             struct load_track **track)
{
	*track = loading_track(l, head_track);
	return *track && (*track)->command_number == number && (*track)->command != TARE_NO_INDEX;
}
