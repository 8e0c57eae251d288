// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_internal.h"

#include "report/core/words.h"

#include <errno.h>

// ---- names: functions, kernels, kinds, each with a place for what is not known

uint64_t perfetto_function(const struct perfetto *p, uint32_t function)
{
	size_t count = p->recording->function_count;
	return 1 + (function < count ? function : count);
}

static uint64_t kernel_of(const struct perfetto *p, uint32_t kernel)
{
	size_t count = p->recording->kernel_count;
	return 2 + p->recording->function_count + (kernel < count ? kernel : count);
}

uint64_t perfetto_command(const struct perfetto *p, const struct tare_recorded_command *command)
{
	uint8_t kind = command->kind < TARE_KIND_KINDS ? command->kind : 0;

	if (kind == TARE_KIND_KERNEL)
		return kernel_of(p, command->object);
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

void perfetto_entry(struct proto *proto, uint32_t field, uint64_t number, const char *name)
{
	size_t entry = proto_open(proto, field);

	proto_varint(proto, ENTRY_IID, number);
	proto_text(proto, ENTRY_NAME, name);
	proto_close(proto, entry);
}

uint64_t perfetto_moment(int64_t at_ns)
{
	return at_ns > 0 ? (uint64_t)at_ns : 0;
}

// ---- events

struct perfetto_opened perfetto_event_open(struct perfetto *p, enum perfetto_event type,
                                           int64_t at_ns, uint64_t track,
                                           enum perfetto_category category, uint64_t name,
                                           const char *text)
{
	struct proto *proto = &p->proto;
	struct perfetto_opened opened;

	proto_varint(proto, PACKET_TIMESTAMP, perfetto_moment(at_ns));
	proto_varint(proto, PACKET_SEQUENCE, SEQUENCE);
	proto_varint(proto, PACKET_FLAGS, FLAG_NEEDS_STATE);
	if (name && !p->named[name]) {
		size_t inner = proto_open(proto, PACKET_INTERNED);
		perfetto_entry(proto, INTERNED_NAMES, name, perfetto_name(p, name));
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

	proto_varint(&p->proto, PACKET_TIMESTAMP, perfetto_moment(at_ns));
	proto_varint(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	proto_varint(&p->proto, PACKET_FLAGS, FLAG_NEEDS_STATE);
	event = proto_open(&p->proto, PACKET_TRACK_EVENT);
	proto_varint(&p->proto, EVENT_TYPE, EVENT_END);
	proto_varint(&p->proto, EVENT_TRACK, track);
	proto_close(&p->proto, event);
	perfetto_packet(p);
}

// ---- all of it
