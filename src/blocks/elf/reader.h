// SPDX-License-Identifier: Apache-2.0
// Reads numbers as DWARF and its kin write them. Internal to src/blocks/elf.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *start, *at, *end;
	bool failed; // it went beyond the end
};

static inline uint64_t fixed(struct reader *reader, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < bytes) {
		reader->failed = true;
		reader->at = reader->end;
		return 0;
	}
	memcpy(&value, reader->at, bytes);
	reader->at += bytes;
	return value;
}

static inline uint64_t variable(struct reader *reader, bool is_signed)
{
	uint64_t value = 0, byte = 0x80;
	unsigned shift = 0;

	while (byte & 0x80 && !reader->failed) {
		byte = fixed(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	}
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return value;
}
