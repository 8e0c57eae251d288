// SPDX-License-Identifier: Apache-2.0
// The range profiler of a context. It is prepared before the context's first launch that is to be
// counted, and stays until the context is destroyed, or the process ends.
#include "guest/cuda/counters/counters.h"

#include <dlfcn.h>
#include <string.h>

enum { MOST_SESSIONS = 16 };

struct profiler_functions counters_cupti;
static bool whole; // all of the profiler's functions are there
static struct counters_session *sessions[MOST_SESSIONS];

// They are in the library that CUPTI's other functions come from.
void counters_functions_find(void)
{
	Dl_info where;
	void *library, *known;
	memcpy(&known, &cuda_cupti.cuptiSubscribe, sizeof known);
	if (!dladdr(known, &where) || !where.dli_fname)
		return;
	library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!library)
		return;
	whole = true;
#define X(name, structure, last)                                                                   \
	do {                                                                                       \
		void *address = dlsym(library, #name);                                             \
		memcpy(&counters_cupti.name, &address, sizeof address);                            \
		whole &= address != NULL;                                                          \
	} while (0);
	PROFILER_FUNCTIONS(X)
#undef X
}

static cupti_result ask_chip(struct counters_session *session)
{
	struct profiler_chip chip = { .bytes = ABI_PROFILER_BYTES(profiler_chip, chip) };
	uint32_t device = 0;
	cupti_result result;
	session->where = "cuptiProfilerInitialize";
	result = COUNTERS_CALL(cuptiProfilerInitialize, profiler_plain, reserved, .reserved = NULL);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	session->where = "cuptiDeviceGetChipName";
	if (cuda_cupti.cuptiGetDeviceId)
		cuda_cupti.cuptiGetDeviceId(session->context, &device);
	chip.device = device;
	result = counters_cupti.cuptiDeviceGetChipName(&chip);
	session->arrangement.chip = chip.chip;
	return result;
}

static cupti_result ask_availability(struct counters_session *session)
{
	struct profiler_availability available = { .bytes = ABI_PROFILER_BYTES(
		                                       profiler_availability, image),
		                                   .context = session->context };
	cupti_result result;
	session->where = "cuptiProfilerGetCounterAvailability";
	result = counters_cupti.cuptiProfilerGetCounterAvailability(&available);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	available.image = guest_memory(available.image_bytes);
	if (!available.image)
		return ABI_CUPTI_OUT_OF_MEMORY;
	result = counters_cupti.cuptiProfilerGetCounterAvailability(&available);
	session->arrangement.availability = available.image;
	return result;
}

// A kernel is a range. Those beyond the most are lost without a word: launch.c sees to it that
// there is one.
enum { RANGES = 1 };

static cupti_result ask_room(struct counters_session *session, struct counters_group *group)
{
	struct profiler_data_bytes size = { .bytes =
		                                ABI_PROFILER_BYTES(profiler_data_bytes, data_bytes),
		                            .profiler = session->profiler,
		                            .names = group->names,
		                            .count = group->count,
		                            .ranges = RANGES,
		                            .nodes = RANGES };
	cupti_result result = counters_cupti.cuptiRangeProfilerGetCounterDataSize(&size);
	group->data_bytes = size.data_bytes;
	return result;
}

static cupti_result make_room(struct counters_session *session, struct counters_group *group)
{
	cupti_result result;
	session->where = "cuptiRangeProfilerGetCounterDataSize";
	result = ask_room(session, group);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	group->data = guest_memory(group->data_bytes);
	return group->data ? ABI_CUPTI_SUCCESS : ABI_CUPTI_OUT_OF_MEMORY;
}

static cupti_result prepare(struct counters_session *session)
{
	struct profiler_enable enable = { .bytes = ABI_PROFILER_BYTES(profiler_enable, profiler),
		                          .context = session->context };
	cupti_result result = whole ? ask_chip(session) : ABI_CUPTI_NOT_IMPLEMENTED;
	if (result == ABI_CUPTI_SUCCESS)
		result = ask_availability(session);
	if (result == ABI_CUPTI_SUCCESS)
		result = counters_arrange(&session->arrangement, &session->where);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	session->where = "cuptiRangeProfilerEnable";
	result = counters_cupti.cuptiRangeProfilerEnable(&enable);
	session->profiler = enable.profiler;
	for (uint32_t i = 0; result == ABI_CUPTI_SUCCESS && i <= session->arrangement.count; i++)
		if (session->arrangement.groups[i].host &&
		    (i == session->arrangement.count || !session->arrangement.joined))
			result = make_room(session, &session->arrangement.groups[i]);
	if (result == ABI_CUPTI_SUCCESS)
		session->where = session->arrangement.chip;
	return result;
}

// Only one thread at a time comes here (launch.c).
struct counters_session *counters_session_of(cu_context context, bool *made)
{
	size_t vacant = MOST_SESSIONS;
	struct counters_session *session;
	*made = false;
	for (size_t i = MOST_SESSIONS; i-- > 0;)
		if (!sessions[i] || !sessions[i]->context)
			vacant = i;
		else if (sessions[i]->context == context)
			return sessions[i];
	if (vacant == MOST_SESSIONS)
		return NULL;
	session = sessions[vacant] ? sessions[vacant] : guest_memory(sizeof *session);
	if (!session)
		return NULL;
	*session = (struct counters_session){ .context = context, .from = guest_ticks() };
	sessions[vacant] = session;
	session->result = prepare(session);
	session->ready = session->result == ABI_CUPTI_SUCCESS && session->arrangement.count > 0;
	session->to = guest_ticks();
	*made = true;
	return session;
}

void counters_session_end(cu_context context)
{
	for (size_t i = 0; i < MOST_SESSIONS; i++) {
		struct counters_session *session = sessions[i];
		if (!session || session->context != context)
			continue;
		if (session->profiler)
			COUNTERS_CALL(cuptiRangeProfilerDisable, profiler_one, profiler,
			              .profiler = session->profiler);
		session->ready = false;
		session->context = NULL;
	}
}

// How a profiler is used: it counts for ever what it was given first, in that way (CUPTI 13.0).
// Joined groups share one configuration, whose passes follow one another, one with each launch.
// After a failure it takes a new one, too.
enum { BROKEN = 1, JOINED, ALONE }; // ALONE + group: run as often as there are passes

static bool is_joined(const struct counters_session *session, uint32_t group)
{
	return session->arrangement.joined && group < session->arrangement.count;
}

// The one with images.
static struct counters_group *images_of(struct counters_session *session, uint32_t group)
{
	uint32_t all = session->arrangement.count;
	return &session->arrangement.groups[is_joined(session, group) ? all : group];
}

// For another use it takes a new one.
static cupti_result change(struct counters_session *session, const char **where)
{
	struct profiler_enable enable = { .bytes = ABI_PROFILER_BYTES(profiler_enable, profiler),
		                          .context = session->context };
	cupti_result result = ABI_CUPTI_SUCCESS;
	*where = "cuptiRangeProfilerDisable";
	if (session->profiler)
		result = COUNTERS_CALL(cuptiRangeProfilerDisable, profiler_one, profiler,
		                       .profiler = session->profiler);
	session->profiler = NULL;
	session->empty_of = NULL;
	session->use = session->group = 0;
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "cuptiRangeProfilerEnable";
	result = counters_cupti.cuptiRangeProfilerEnable(&enable);
	session->profiler = enable.profiler;
	return result;
}

// Makes the group's image empty. One that this profiler has made is copied, which is faster.
static cupti_result empty_image(struct counters_session *session, struct counters_group *group,
                                const char **where)
{
	size_t room = group->data_bytes;
	cupti_result result;
	if (session->empty_of == group) {
		memcpy(group->data, group->empty, group->data_bytes);
		return ABI_CUPTI_SUCCESS;
	}
	// An image is made for the metrics whose size was asked for last.
	*where = "cuptiRangeProfilerGetCounterDataSize";
	result = ask_room(session, group);
	if (result != ABI_CUPTI_SUCCESS || group->data_bytes > room)
		return result == ABI_CUPTI_SUCCESS ? ABI_CUPTI_INVALID_OPERATION : result;
	*where = "cuptiRangeProfilerCounterDataImageInitialize";
	result = COUNTERS_CALL(cuptiRangeProfilerCounterDataImageInitialize, profiler_data_begin,
	                       data, .profiler = session->profiler, .data = group->data,
	                       .data_bytes = group->data_bytes);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	if (!group->empty)
		group->empty = guest_memory(room);
	if (group->empty)
		memcpy(group->empty, group->data, group->data_bytes);
	session->empty_of = group->empty ? group : NULL;
	return result;
}

static cupti_result begin(struct counters_session *session, uint32_t group, const char **where)
{
	struct counters_group *with = images_of(session, group);
	cupti_result result = empty_image(session, with, where);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "cuptiRangeProfilerSetConfig";
	result = COUNTERS_CALL(cuptiRangeProfilerSetConfig, profiler_config, nesting,
	                       .profiler = session->profiler, .image = with->image,
	                       .image_bytes = with->image_bytes, .data = with->data,
	                       .data_bytes = with->data_bytes, .range = ABI_PROFILER_AUTO_RANGE,
	                       .replay = is_joined(session, group) ? ABI_PROFILER_USER_REPLAY
	                                                           : ABI_PROFILER_KERNEL_REPLAY,
	                       .ranges = RANGES, .nestings = 1, .least_nesting = 1, .nesting = 1);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "cuptiRangeProfilerStart";
	return COUNTERS_CALL(cuptiRangeProfilerStart, profiler_one, profiler,
	                     .profiler = session->profiler);
}

// Ends what began. Of joined groups the profiler then counts the next one.
static cupti_result end(struct counters_session *session, bool joined, const char **where)
{
	struct profiler_stop stop = { .bytes = ABI_PROFILER_BYTES(profiler_stop, all_passes),
		                      .profiler = session->profiler };
	uint32_t next = (session->group + 1) % session->arrangement.count;
	cupti_result result;
	*where = "cuptiRangeProfilerStop";
	result = counters_cupti.cuptiRangeProfilerStop(&stop);
	if (result != ABI_CUPTI_SUCCESS || !joined)
		return result;
	session->group = next;
	*where = "another pass";
	return stop.all_passes     ? (next == 0 ? ABI_CUPTI_SUCCESS : ABI_CUPTI_INVALID_OPERATION)
	       : stop.pass == next ? ABI_CUPTI_SUCCESS
	                           : ABI_CUPTI_INVALID_OPERATION;
}

cupti_result counters_session_start(struct counters_session *session, uint32_t group,
                                    const char **where)
{
	bool joined = is_joined(session, group);
	uint32_t use = joined ? JOINED : ALONE + group;
	cupti_result result = ABI_CUPTI_SUCCESS;
	if (session->use != use && (session->use || !session->profiler))
		result = change(session, where);
	if (result == ABI_CUPTI_SUCCESS && !joined)
		session->group = group;
	session->use = use;
	if (result == ABI_CUPTI_SUCCESS)
		result = begin(session, group, where);
	// Groups before it are passed over: nothing is launched meanwhile.
	while (result == ABI_CUPTI_SUCCESS && session->group != group) {
		result = end(session, joined, where);
		if (result == ABI_CUPTI_SUCCESS)
			result = begin(session, group, where);
	}
	if (result != ABI_CUPTI_SUCCESS)
		session->use = BROKEN;
	return result;
}

// What was counted is in the images.
static cupti_result read_values(struct counters_session *session, uint32_t group, double *values,
                                const char **where)
{
	const struct counters_group *named = &session->arrangement.groups[group];
	struct counters_group *with = images_of(session, group);
	struct profiler_decode decode = { .bytes = ABI_PROFILER_BYTES(profiler_decode, dropped),
		                          .profiler = session->profiler };
	struct profiler_data_info info = { .bytes = ABI_PROFILER_BYTES(profiler_data_info, ranges),
		                           .data = with->data,
		                           .data_bytes = with->data_bytes };
	cupti_result result;
	*where = "cuptiRangeProfilerDecodeData";
	result = counters_cupti.cuptiRangeProfilerDecodeData(&decode);
	if (result == ABI_CUPTI_SUCCESS) {
		*where = "cuptiRangeProfilerGetCounterDataInfo";
		result = counters_cupti.cuptiRangeProfilerGetCounterDataInfo(&info);
	}
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*where = "no range";
	if (info.ranges != 1)
		return ABI_CUPTI_INVALID_OPERATION;
	*where = "cuptiProfilerHostEvaluateToGpuValues";
	return COUNTERS_CALL(cuptiProfilerHostEvaluateToGpuValues, profiler_values, values,
	                     .host = with->host, .data = with->data, .data_bytes = with->data_bytes,
	                     .names = (const char **)named->names, .count = named->count,
	                     .values = values);
}

cupti_result counters_session_stop(struct counters_session *session, uint32_t group, double *values,
                                   const char **where)
{
	cupti_result result = end(session, is_joined(session, group), where);
	if (result == ABI_CUPTI_SUCCESS)
		result = read_values(session, group, values, where);
	if (result != ABI_CUPTI_SUCCESS)
		session->use = BROKEN;
	return result;
}
