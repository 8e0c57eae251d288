// SPDX-License-Identifier: Apache-2.0
// CUPTI's records: what of them is kept, and what they say of a span. Buffers come back on threads
// of CUPTI's.
#include "time/engines.h"

#include "backend/cuda/cupti/engines.h"

#include <errno.h>
#include <stdlib.h>

// The last commands of all streams that are remembered.
#define WORKS 65536

struct work {
	uint32_t correlation, stream;
	uint64_t start, end;
};

static struct {
	pthread_mutex_t lock;
	struct cupti_functions call;
	struct tare_time_engines *open;
	struct work *works; // a ring
	uint64_t count;     // that there have been
	uint64_t last_id;   // of the marks
	uint64_t lost_id;   // the last one when a record found no room
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

// Correlations wrap.
static bool is_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static void keep_work(uint32_t correlation, uint32_t stream, uint64_t start, uint64_t end)
{
	if (records.works)
		records.works[records.count++ % WORKS] =
		    (struct work){ correlation, stream, start, end };
}

static void keep_mark(uint64_t id, uint32_t correlation)
{
	for (struct tare_time_engines *each = records.open; each; each = each->next)
		for (uint32_t i = 0; i < 2 * each->spans; i++) {
			struct tare_time_mark *mark = &each->marks[i / 2][i % 2];
			if (mark->id != id)
				continue;
			mark->correlation = correlation;
			mark->known = true;
			return;
		}
}

static void keep(const cupti_record *record)
{
	switch (record->kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL: {
		const struct cupti_kernel *kernel = (const void *)record;
		keep_work(kernel->correlation, kernel->stream, kernel->start, kernel->end);
		break;
	}
	case ABI_CUPTI_KIND_MEMCPY: {
		const struct cupti_memcpy *copy = (const void *)record;
		keep_work(copy->correlation, copy->stream, copy->start, copy->end);
		break;
	}
	case ABI_CUPTI_KIND_MEMCPY_PEER: {
		const struct cupti_memcpy_peer *copy = (const void *)record;
		keep_work(copy->correlation, copy->stream, copy->start, copy->end);
		break;
	}
	case ABI_CUPTI_KIND_MEMSET: {
		const struct cupti_memset *fill = (const void *)record;
		keep_work(fill->correlation, fill->stream, fill->start, fill->end);
		break;
	}
	case ABI_CUPTI_KIND_EXTERNAL_CORRELATION: {
		const struct cupti_external *external = (const void *)record;
		if (external->external_kind == ABI_CUPTI_EXTERNAL_CUSTOM0)
			keep_mark(external->external, external->correlation);
		break;
	}
	default:
		break;
	}
}

void tare_time_records_begin(const struct cupti_functions *call)
{
	pthread_mutex_lock(&records.lock);
	records.call = *call;
	records.works = calloc(WORKS, sizeof *records.works);
	records.count = records.last_id = records.lost_id = 0;
	pthread_mutex_unlock(&records.lock);
}

void tare_time_records_end(void)
{
	pthread_mutex_lock(&records.lock);
	free(records.works);
	records.works = NULL;
	pthread_mutex_unlock(&records.lock);
}

void tare_time_records_completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                 size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	pthread_mutex_lock(&records.lock);
	if (tare_cupti_read(&records.call, buffer, valid_bytes, keep) || !buffer)
		records.lost_id = records.last_id;
	pthread_mutex_unlock(&records.lock);
}

void tare_time_engines_add(struct tare_time_engines *engines)
{
	pthread_mutex_lock(&records.lock);
	engines->next = records.open;
	records.open = engines;
	pthread_mutex_unlock(&records.lock);
}

void tare_time_engines_remove(struct tare_time_engines *engines)
{
	struct tare_time_engines **at = &records.open;

	pthread_mutex_lock(&records.lock);
	while (*at && *at != engines)
		at = &(*at)->next;
	if (*at)
		*at = engines->next;
	pthread_mutex_unlock(&records.lock);
}

void tare_time_engines_mark(struct tare_time_engines *engines, uint32_t slot, int which,
                            uint64_t id)
{
	pthread_mutex_lock(&records.lock);
	engines->marks[slot][which] = (struct tare_time_mark){ .id = id };
	if (id > records.last_id)
		records.last_id = id;
	pthread_mutex_unlock(&records.lock);
}

// With the lock held. false: a command of it has no times.
static bool gather(const struct tare_time_engines *engines, const struct tare_time_mark marks[2],
                   struct tare_time_engine_times *times)
{
	uint64_t oldest = records.count > WORKS ? records.count - WORKS : 0;

	for (uint64_t i = oldest; i < records.count; i++) {
		const struct work *work = &records.works[i % WORKS];
		if (work->stream != engines->stream ||
		    !is_after(work->correlation, marks[0].correlation) ||
		    !is_after(marks[1].correlation, work->correlation))
			continue;
		if (!work->start || work->end < work->start)
			return false;
		if (!times->commands || work->start < times->start_ns)
			times->start_ns = work->start;
		if (work->end > times->end_ns)
			times->end_ns = work->end;
		times->commands++;
	}
	return true;
}

// Whether a command after the span's begin may be forgotten already: records come about in the
// order of calls.
static bool is_forgotten(const struct tare_time_mark *begin)
{
	return records.count > WORKS &&
	       is_after(records.works[records.count % WORKS].correlation, begin->correlation);
}

bool tare_time_engines_known(struct tare_time_engines *engines, uint32_t slot)
{
	bool known;

	pthread_mutex_lock(&records.lock);
	known = engines->marks[slot][0].known && engines->marks[slot][1].known;
	pthread_mutex_unlock(&records.lock);
	return known;
}

int tare_time_engines_times(struct tare_time_engines *engines, uint32_t slot,
                            struct tare_time_engine_times *times, struct tare_time_why *why)
{
	const struct tare_time_mark *marks = engines->marks[slot];
	int status = 0;

	*times = (struct tare_time_engine_times){ 0 };
	pthread_mutex_lock(&records.lock);
	if (!records.works)
		status = tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
		                          "there was no memory for CUPTI's records");
	else if (marks[0].id <= records.lost_id)
		status = tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
		                          "CUPTI had no room for some of its records");
	else if (!marks[0].known || !marks[1].known)
		status = -EAGAIN;
	else if (is_forgotten(&marks[0]))
		status = tare_time_absent(
		    why, TARE_TIME_NO_STAMPS, 0,
		    "more commands than are remembered ran since it began; read it sooner");
	else if (!gather(engines, marks, times))
		status = tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
		                          "CUPTI has no times of one of its commands");
	else if (!times->commands)
		status = tare_time_absent(why, TARE_TIME_NO_COMMAND, 0,
		                          "no engine did anything between its begin and end");
	pthread_mutex_unlock(&records.lock);
	return status;
}
