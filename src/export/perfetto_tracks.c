// SPDX-License-Identifier: Apache-2.0
// Descriptors of tracks. Perfetto knows processes and threads by their numbers alone, so these are
// made different: where two machines, or one after the other, used the same, the later one gets a
// number that no system gives out; its name says what it was.
#include "export/perfetto_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	PACKET_DESCRIPTOR = 60, // TracePacket
	// TrackDescriptor
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6, // ProcessDescriptor
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5, // ThreadDescriptor
};
#define NAME_BYTES 400
// Linux gives out numbers below 2^22.
#define FIRST_MADE (INT32_C(1) << 30)

static size_t open_track(struct perfetto *p, uint64_t track, uint64_t parent, const char *name)
{
	size_t inner;

	proto_varint(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	inner = proto_open(&p->proto, PACKET_DESCRIPTOR);
	proto_varint(&p->proto, TRACK_UUID, track);
	if (parent)
		proto_varint(&p->proto, TRACK_PARENT, parent);
	if (name)
		proto_text(&p->proto, TRACK_NAME, name);
	return inner;
}

uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name)
{
	uint64_t track = ++p->last_track;
	size_t inner = open_track(p, track, parent, name);

	proto_close(&p->proto, inner);
	perfetto_packet(p);
	return track;
}

uint64_t perfetto_lane(struct perfetto *p, struct lanes *lanes, uint32_t lane, uint64_t parent,
                       const char *name)
{
	char text[NAME_BYTES];

	if (lanes->track[lane])
		return lanes->track[lane];
	if (lane == 0)
		snprintf(text, sizeof text, "%s", name);
	else
		snprintf(text, sizeof text, "%.*s (%" PRIu32 ")", NAME_BYTES - 16, name, lane + 1);
	return lanes->track[lane] = perfetto_track(p, parent, text);
}

// ---- numbers

struct number {
	uint64_t key[2]; // what must differ
	uint32_t index;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct number *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

// The last key of each as its number, or a made one where it cannot be one or is taken.
static void make_numbers(struct number *numbers, size_t count, int32_t *made)
{
	qsort(numbers, count, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < count; i++) {
		const struct number *n = &numbers[i];
		bool taken = i > 0 && numbers[i - 1].key[0] == n->key[0] &&
		             numbers[i - 1].key[1] == n->key[1];
		made[n->index] = taken || n->key[1] == 0 || n->key[1] >= FIRST_MADE
		                     ? FIRST_MADE + (int32_t)(n->index & (FIRST_MADE - 1))
		                     : (int32_t)n->key[1];
	}
}

// ---- processes

static bool has_several_hosts(const struct tare_recording *r)
{
	for (size_t i = 1; i < r->process_count; i++)
		if (strcmp(r->processes[i].host_name, r->processes[0].host_name) != 0)
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void put_process(struct perfetto *p, uint32_t index)
{
	const struct tare_recorded_process *process = &p->recording->processes[index];
	char name[NAME_BYTES], where[160] = "";
	size_t track, inner;

	if (p->several_hosts)
		snprintf(where, sizeof where, " on %.120s", process->host_name);
	snprintf(name, sizeof name, "%.200s%s%s", base_name(process->executable), where,
	         process->flags & TARE_TRACE_FORKED ? " (forked)" : "");
	if ((uint64_t)p->process_pid[index] != process->pid)
		snprintf(name + strlen(name), sizeof name - strlen(name), " (pid %" PRIu64 ")",
		         process->pid);
	p->process_track[index] = ++p->last_track;
	track = open_track(p, p->process_track[index], 0, NULL);
	inner = proto_open(&p->proto, TRACK_PROCESS);
	proto_varint(&p->proto, PROCESS_PID, (uint64_t)p->process_pid[index]);
	proto_text(&p->proto, PROCESS_CMDLINE, process->command_line);
	proto_text(&p->proto, PROCESS_NAME, name);
	proto_close(&p->proto, inner);
	proto_close(&p->proto, track);
	perfetto_packet(p);
}

// ---- threads

static void put_thread(struct perfetto *p, uint32_t index, int32_t tid)
{
	const struct tare_recorded_thread *thread = &p->recording->threads[index];
	char name[NAME_BYTES];
	size_t track, inner;

	snprintf(name, sizeof name, "%.200s",
	         thread->name && thread->name[0] ? thread->name
	         : thread->helper                ? "tare"
	                                         : "thread");
	if ((uint64_t)tid != thread->tid)
		snprintf(name + strlen(name), sizeof name - strlen(name), " (tid %" PRIu64 ")",
		         thread->tid);
	p->thread_track[index] = ++p->last_track;
	track = open_track(p, p->thread_track[index], p->process_track[thread->process], NULL);
	inner = proto_open(&p->proto, TRACK_THREAD);
	proto_varint(&p->proto, THREAD_PID, (uint64_t)p->process_pid[thread->process]);
	proto_varint(&p->proto, THREAD_TID, (uint64_t)tid);
	proto_text(&p->proto, THREAD_NAME, name);
	proto_close(&p->proto, inner);
	proto_close(&p->proto, track);
	perfetto_packet(p);
}

static bool is_shown(const struct perfetto *p, uint32_t thread)
{
	const struct tare_recorded_thread *t = &p->recording->threads[thread];

	return t->process < p->recording->process_count &&
	       tare_view_filter_has_process(p->members, t->process);
}

int perfetto_tracks(struct perfetto *p)
{
	const struct tare_recording *r = p->recording;
	size_t most = r->process_count > r->thread_count ? r->process_count : r->thread_count;
	struct number *numbers = calloc(most + 1, sizeof *numbers);
	int32_t *tids = calloc(r->thread_count + 1, sizeof *tids);

	if (!numbers || !tids) {
		free(numbers);
		free(tids);
		return -ENOMEM;
	}
	p->several_hosts = has_several_hosts(r);
	for (uint32_t i = 0; i < r->process_count; i++)
		numbers[i] = (struct number){ { 0, r->processes[i].pid }, i };
	make_numbers(numbers, r->process_count, p->process_pid);
	for (uint32_t i = 0; i < r->thread_count; i++)
		numbers[i] = (struct number){ { r->threads[i].process, r->threads[i].tid }, i };
	make_numbers(numbers, r->thread_count, tids);
	for (uint32_t i = 0; i < r->process_count; i++)
		if (tare_view_filter_has_process(p->members, i))
			put_process(p, i);
	for (uint32_t i = 0; i < r->thread_count; i++)
		if (is_shown(p, i))
			put_thread(p, i, tids[i]);
	free(numbers);
	free(tids);
	return 0;
}
