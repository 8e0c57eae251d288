// SPDX-License-Identifier: Apache-2.0
// One message of Google's protocol buffers, put together in memory: tag, then a varint, eight
// bytes, or a length and as many bytes (protobuf.dev, "Encoding").
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	unsigned char *bytes; // free() it
	size_t used, room;
	bool failed; // there was no memory; everything else does nothing then
};

// Most bytes that a varint takes.
enum { PROTO_VARINT = 10 };
// Writes a varint to `to`; returns its bytes.
size_t proto_varint_write(uint64_t value, unsigned char to[PROTO_VARINT]);

void proto_varint(struct proto *proto, uint32_t field, uint64_t value);
void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto_double(struct proto *proto, uint32_t field, double value);
// Any bytes, made UTF-8.
void proto_text(struct proto *proto, uint32_t field, const char *text);
// A message inside: what is written in between belongs to it.
size_t proto_open(struct proto *proto, uint32_t field);
void proto_close(struct proto *proto, size_t opened);
