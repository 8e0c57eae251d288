// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_internal.h"

#include "report/run/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRACE_PACKET = 1, // Trace.packet
	// TracePacket
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	// TracePacket.SequenceFlags
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	DEFAULTS_CLOCK = 58, // TracePacketDefaults.timestamp_clock_id
	// ClockSnapshot, its Clock, and BuiltinClock
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	BUILTIN_REALTIME = 1,
	BUILTIN_RAW = 5,
	// InternedData; its entries have the number first
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_NOTES = 3,
	ENTRY_IID = 1,
	ENTRY_NAME = 2,
	// TrackEvent
	EVENT_CATEGORY = 3,
	EVENT_NOTES = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_FLOWS = 47,
	// DebugAnnotation
	NOTE_NAME = 1,
	NOTE_UNSIGNED = 3,
	NOTE_INTEGER = 4,
	NOTE_DOUBLE = 5,
	NOTE_STRING = 6,
	SEQUENCE = 1, // everything is one sequence of packets
};

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
};

// ---- names: functions, kernels, kinds, each with a place for what is not known

uint64_t perfetto_function(const struct perfetto *p, uint32_t function)
{
	size_t count = p->recording->function_count;
	return 1 + (function < count ? function : count);
}

uint64_t perfetto_kernel(const struct perfetto *p, uint32_t kernel)
{
	size_t count = p->recording->kernel_count;
	return 2 + p->recording->function_count + (kernel < count ? kernel : count);
}

uint64_t perfetto_command(const struct perfetto *p, const struct tare_recorded_command *command)
{
	uint8_t kind = command->kind < TARE_KIND_KINDS ? command->kind : 0;

	if (kind == TARE_KIND_KERNEL)
		return perfetto_kernel(p, command->object);
	return 3 + p->recording->function_count + p->recording->kernel_count + kind;
}

size_t perfetto_name_count(const struct tare_recording *recording)
{
	return 3 + recording->function_count + recording->kernel_count + TARE_KIND_KINDS;
}

const char *perfetto_name(const struct perfetto *p, uint64_t number)
{
	const struct tare_recording *r = p->recording;
	uint64_t at = number - 1;
	const char *word;

	if (at < r->function_count)
		return r->functions[at].name;
	at -= r->function_count;
	if (at == 0)
		return "(unknown function)";
	if (--at < r->kernel_count)
		return r->kernels[at].name;
	at -= r->kernel_count;
	if (at == 0)
		return "(unknown kernel)";
	word = tare_report_kind((uint32_t)at - 1);
	return word ? word : "(unknown command)";
}

// ---- packets

void perfetto_packet(struct perfetto *p)
{
	unsigned char head[1 + PROTO_VARINT] = { TRACE_PACKET << 3 | 2 };
	size_t bytes = 1 + proto_varint_write(p->proto.used, head + 1);

	if (p->status == 0 && p->proto.failed)
		p->status = -ENOMEM;
	if (p->status == 0 &&
	    (fwrite(head, 1, bytes, p->file) != bytes ||
	     fwrite(p->proto.bytes, 1, p->proto.used, p->file) != p->proto.used)) {
		p->status = -EIO;
		p->stream_error = errno ? errno : EIO;
	}
	p->proto.used = 0;
}

bool perfetto_step(struct perfetto *p, const char *what, uint64_t done, uint64_t total)
{
	if (done % 4096 == 0 && p->watch && !p->watch->step(p->watch->context, what, done, total))
		p->status = p->status ? p->status : -EINTR;
	return p->status == 0;
}

static void put_entry(struct proto *proto, uint32_t field, uint64_t number, const char *name)
{
	size_t entry = proto_open(proto, field);

	proto_varint(proto, ENTRY_IID, number);
	proto_text(proto, ENTRY_NAME, name);
	proto_close(proto, entry);
}

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
		put_entry(&p->proto, INTERNED_CATEGORIES, i, categories[i]);
	for (uint64_t i = 1; i < NOTE_END; i++)
		put_entry(&p->proto, INTERNED_NOTES, i, notes[i]);
	proto_close(&p->proto, inner);
	perfetto_packet(p);
}

static uint64_t moment(int64_t at_ns)
{
	return at_ns > 0 ? (uint64_t)at_ns : 0;
}

static void put_clock(struct proto *proto, uint32_t clock, int64_t at_ns)
{
	size_t entry = proto_open(proto, SNAPSHOT_CLOCKS);

	proto_varint(proto, CLOCK_ID, clock);
	proto_varint(proto, CLOCK_TIMESTAMP, moment(at_ns));
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

// ---- events

struct perfetto_opened perfetto_event_open(struct perfetto *p, enum perfetto_event type,
                                           int64_t at_ns, uint64_t track,
                                           enum perfetto_category category, uint64_t name,
                                           const char *text)
{
	struct proto *proto = &p->proto;
	struct perfetto_opened opened;

	proto_varint(proto, PACKET_TIMESTAMP, moment(at_ns));
	proto_varint(proto, PACKET_SEQUENCE, SEQUENCE);
	proto_varint(proto, PACKET_FLAGS, FLAG_NEEDS_STATE);
	if (name && !p->named[name]) {
		size_t inner = proto_open(proto, PACKET_INTERNED);
		put_entry(proto, INTERNED_NAMES, name, perfetto_name(p, name));
		proto_close(proto, inner);
		p->named[name] = true;
	}
	opened.event = proto_open(proto, PACKET_TRACK_EVENT);
	proto_varint(proto, EVENT_TYPE, type);
	proto_varint(proto, EVENT_TRACK, track);
	proto_varint(proto, EVENT_CATEGORY, category);
	if (name)
		proto_varint(proto, EVENT_NAME_IID, name);
	else
		proto_text(proto, EVENT_NAME, text);
	p->counts->slices += type == EVENT_BEGIN;
	p->counts->instants += type == EVENT_INSTANT;
	return opened;
}

void perfetto_note_number(struct perfetto *p, enum perfetto_note note, uint64_t value)
{
	size_t inner = proto_open(&p->proto, EVENT_NOTES);
	proto_varint(&p->proto, NOTE_NAME, note);
	proto_varint(&p->proto, NOTE_UNSIGNED, value);
	proto_close(&p->proto, inner);
}

void perfetto_note_signed(struct perfetto *p, enum perfetto_note note, int64_t value)
{
	size_t inner = proto_open(&p->proto, EVENT_NOTES);
	proto_varint(&p->proto, NOTE_NAME, note);
	proto_varint(&p->proto, NOTE_INTEGER, (uint64_t)value);
	proto_close(&p->proto, inner);
}

void perfetto_note_real(struct perfetto *p, enum perfetto_note note, double value)
{
	size_t inner = proto_open(&p->proto, EVENT_NOTES);
	proto_varint(&p->proto, NOTE_NAME, note);
	proto_double(&p->proto, NOTE_DOUBLE, value);
	proto_close(&p->proto, inner);
}

void perfetto_note_text(struct perfetto *p, enum perfetto_note note, const char *value)
{
	size_t inner;

	if (!value || !value[0])
		return;
	inner = proto_open(&p->proto, EVENT_NOTES);
	proto_varint(&p->proto, NOTE_NAME, note);
	proto_text(&p->proto, NOTE_STRING, value);
	proto_close(&p->proto, inner);
}

void perfetto_note_site(struct perfetto *p, uint32_t stack)
{
	const struct tare_frame *site = tare_symbols_site(p->symbols, stack);

	perfetto_note_text(p, NOTE_SITE, tare_symbols_text(p->symbols, stack));
	perfetto_note_text(p, NOTE_SITE_FUNCTION, site ? site->function : NULL);
}

void perfetto_flow(struct perfetto *p, uint64_t flow)
{
	proto_fixed64(&p->proto, EVENT_FLOWS, flow);
}

void perfetto_event_close(struct perfetto *p, struct perfetto_opened opened)
{
	proto_close(&p->proto, opened.event);
	perfetto_packet(p);
}

void perfetto_end(struct perfetto *p, int64_t at_ns, uint64_t track)
{
	size_t event;

	proto_varint(&p->proto, PACKET_TIMESTAMP, moment(at_ns));
	proto_varint(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	proto_varint(&p->proto, PACKET_FLAGS, FLAG_NEEDS_STATE);
	event = proto_open(&p->proto, PACKET_TRACK_EVENT);
	proto_varint(&p->proto, EVENT_TYPE, EVENT_END);
	proto_varint(&p->proto, EVENT_TRACK, track);
	proto_close(&p->proto, event);
	perfetto_packet(p);
}

// ---- all of it

static int write_all(struct perfetto *p)
{
	int status;

	put_beginning(p);
	put_snapshot(p);
	status = perfetto_tracks(p);
	if (status == 0)
		status = perfetto_host(p);
	if (status == 0)
		status = perfetto_devices(p);
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
	if (status == 0)
		status = tare_symbols_open(recording, &p.symbols, error);
	if (status == 0)
		status = write_all(&p);
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
