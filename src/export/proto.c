// SPDX-License-Identifier: Apache-2.0
#include "export/proto.h"

#include "export/utf8.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static bool make_room(struct proto *proto, size_t bytes)
{
	size_t room = proto->room ? proto->room : 256;
	unsigned char *grown;

	if (proto->failed)
		return false;
	if (proto->room - proto->used >= bytes)
		return true;
	while (room - proto->used < bytes)
		room *= 2;
	grown = realloc(proto->bytes, room);
	proto->failed = !grown;
	if (!grown)
		return false;
	proto->bytes = grown;
	proto->room = room;
	return true;
}

size_t proto_varint_write(uint64_t value, unsigned char to[PROTO_VARINT])
{
	size_t used = 0;

	for (; value >= 0x80; value >>= 7)
		to[used++] = (unsigned char)(value | 0x80);
	to[used++] = (unsigned char)value;
	return used;
}

static void put(struct proto *proto, uint64_t value)
{
	if (make_room(proto, PROTO_VARINT))
		proto->used += proto_varint_write(value, proto->bytes + proto->used);
}

static void put_tag(struct proto *proto, uint32_t field, enum wire wire)
{
	put(proto, (uint64_t)field << 3 | wire);
}

void proto_varint(struct proto *proto, uint32_t field, uint64_t value)
{
	put_tag(proto, field, WIRE_VARINT);
	put(proto, value);
}

void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
	uint64_t little = htole64(value);

	put_tag(proto, field, WIRE_FIXED64);
	if (!make_room(proto, sizeof little))
		return;
	memcpy(proto->bytes + proto->used, &little, sizeof little);
	proto->used += sizeof little;
}

void proto_double(struct proto *proto, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	proto_fixed64(proto, field, bits);
}

void proto_text(struct proto *proto, uint32_t field, const char *text)
{
	size_t bytes = export_utf8_clean(text, NULL);

	put_tag(proto, field, WIRE_BYTES);
	put(proto, bytes);
	if (!make_room(proto, bytes))
		return;
	proto->used += export_utf8_clean(text, (char *)proto->bytes + proto->used);
}

size_t proto_open(struct proto *proto, uint32_t field)
{
	put_tag(proto, field, WIRE_BYTES);
	// Room for the length of a short message, which is what most are.
	if (make_room(proto, 1))
		proto->used++;
	return proto->used;
}

void proto_close(struct proto *proto, size_t opened)
{
	unsigned char length[PROTO_VARINT];
	size_t bytes, more;

	if (proto->failed)
		return;
	bytes = proto->used - opened;
	more = proto_varint_write(bytes, length) - 1;
	if (!make_room(proto, more))
		return;
	memmove(proto->bytes + opened + more, proto->bytes + opened, more ? bytes : 0);
	memcpy(proto->bytes + opened - 1, length, more + 1);
	proto->used += more;
}
