// SPDX-License-Identifier: Apache-2.0
// The trace for Perfetto as a whole.
#include "export/perfetto_internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const categories[CATEGORY_END] = {
	[CATEGORY_CALL] = "call",         [CATEGORY_COMMAND] = "command",
	[CATEGORY_CALLBACK] = "callback", [CATEGORY_PHASE] = "phase",
	[CATEGORY_QUEUE] = "queue",       [CATEGORY_ENGINE] = "engine",
	[CATEGORY_LOSS] = "loss",
};
static const char *const notes[NOTE_END] = {
	[NOTE_COMMAND] = "command",
	[NOTE_CALL] = "call",
	[NOTE_QUEUE] = "queue",
	[NOTE_DEVICE] = "device",
	[NOTE_KIND] = "kind",
	[NOTE_BYTES] = "bytes",
	[NOTE_RATE] = "bytes_per_second",
	[NOTE_GLOBAL] = "global",
	[NOTE_LOCAL] = "local",
	[NOTE_MEMORY] = "memory",
	[NOTE_BLOCKING] = "blocking",
	[NOTE_TO_START] = "enqueue_to_start_ns",
	[NOTE_TO_SUBMIT] = "enqueue_to_submit_ns",
	[NOTE_UNTIMED] = "untimed",
	[NOTE_COUNT] = "calls",
	[NOTE_INSIDE] = "inside_ns",
	[NOTE_RESULT] = "result",
	[NOTE_DOMAIN] = "domain",
	[NOTE_SOURCE] = "source",
	[NOTE_UNENDED] = "unended",
	[NOTE_RECORDS] = "records",
	[NOTE_WHAT] = "what",
	[NOTE_SITE] = "site",
	[NOTE_SITE_FUNCTION] = "site_function",
	[NOTE_FROM_DEVICE] = "from_device",
	[NOTE_TO_DEVICE] = "to_device",
	[NOTE_LINK] = "link",
};

// What every later packet rests on.
static void put_beginning(struct perfetto *p)
{
	size_t inner;

	proto_varint(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	proto_varint(&p->proto, PACKET_FLAGS, FLAG_CLEARED);
	inner = proto_open(&p->proto, PACKET_DEFAULTS);
	proto_varint(&p->proto, DEFAULTS_CLOCK, BUILTIN_RAW);
	proto_close(&p->proto, inner);
	inner = proto_open(&p->proto, PACKET_INTERNED);
	for (uint64_t i = 1; i < CATEGORY_END; i++)
		perfetto_entry(&p->proto, INTERNED_CATEGORIES, i, categories[i]);
	for (uint64_t i = 1; i < NOTE_END; i++)
		perfetto_entry(&p->proto, INTERNED_NOTES, i, notes[i]);
	proto_close(&p->proto, inner);
	perfetto_packet(p);
}

static void put_clock(struct proto *proto, uint32_t clock, int64_t at_ns)
{
	size_t entry = proto_open(proto, SNAPSHOT_CLOCKS);

	proto_varint(proto, CLOCK_ID, clock);
	proto_varint(proto, CLOCK_TIMESTAMP, perfetto_moment(at_ns));
	proto_close(proto, entry);
}

// The trace's clock is CLOCK_MONOTONIC_RAW; what time it was then, where that is known.
static void put_snapshot(struct perfetto *p)
{
	const struct tare_recording *r = p->recording;
	size_t inner;

	proto_varint(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	inner = proto_open(&p->proto, PACKET_CLOCK_SNAPSHOT);
	proto_varint(&p->proto, SNAPSHOT_PRIMARY, BUILTIN_RAW);
	put_clock(&p->proto, BUILTIN_RAW, r->start_ns);
	if (r->start_realtime_ns > 0)
		put_clock(&p->proto, BUILTIN_REALTIME, r->start_realtime_ns);
	proto_close(&p->proto, inner);
	perfetto_packet(p);
}

static int write_all(struct perfetto *p)
{
	int status;

	put_beginning(p);
	put_snapshot(p);
	status = perfetto_tracks(p);
	status = status ?: perfetto_host(p);
	status = status ?: perfetto_devices(p);
	return status ? status : p->status;
}

int tare_export_perfetto(const struct tare_recording *recording, const struct tare_view *view,
                         const struct tare_export_watch *watch, FILE *file,
                         struct tare_export_counts *counts, struct tare_error *error)
{
	struct perfetto p = {
		.recording = recording,
		.watch = watch,
		.file = file,
		.counts = counts,
		.named = calloc(perfetto_name_count(recording) + 1, sizeof(bool)),
		.process_track = calloc(recording->process_count + 1, sizeof(uint64_t)),
		.process_pid = calloc(recording->process_count + 1, sizeof(int32_t)),
		.thread_track = calloc(recording->thread_count + 1, sizeof(uint64_t)),
	};
	int status = -ENOMEM;

	*counts = (struct tare_export_counts){ 0 };
	if (p.named && p.process_track && p.process_pid && p.thread_track)
		status = tare_view_filter_open(recording, view, &p.members, error);
	status = status ?: tare_symbols_open(recording, &p.symbols, error);
	status = status ?: write_all(&p);
	tare_view_filter_close(p.members);
	tare_symbols_free(p.symbols);
	free(p.proto.bytes);
	free(p.named);
	free(p.process_track);
	free(p.process_pid);
	free(p.thread_track);
	if (status == -ENOMEM)
		tare_fail(error, ENOMEM, "no memory left");
	else if (status == -EIO)
		tare_fail(error, p.stream_error, "%s", strerror(p.stream_error));
	else if (status == -EINTR)
		tare_fail(error, EINTR, "interrupted");
	return status;
}
