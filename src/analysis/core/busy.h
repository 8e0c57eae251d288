// SPDX-License-Identifier: Apache-2.0
// When something ran, and how long it had run before a time: a union of spans, 8 bytes each.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of spans near one another the first is said whole, and the others as offsets from it.
struct tare_busy_block {
	int64_t from_ns, before_ns;
	size_t first; // index into spans
};
struct tare_busy_span {
	uint32_t from_ns, before_ns; // from those of the block
};

// All zero is an empty one. Free with tare_busy_free.
struct tare_busy {
	struct tare_busy_block *blocks;
	struct tare_busy_span *spans;
	size_t block_count, block_room, count, span_room;
	int64_t from_ns, to_ns;  // the last one, which may still grow; of none the same
	int64_t before_ns;       // the sum of those before it
	size_t near_block, near; // where the last question ended: the next is not far
};

void tare_busy_free(struct tare_busy *busy);
// Adds one that begins no earlier than the last one did, and is not empty; what touches or overlaps
// is one. Sums stop at the end of the range. Returns 0, -ENOMEM, or -EINVAL, and nothing is done,
// for one that begins earlier.
int tare_busy_add(struct tare_busy *busy, int64_t from_ns, int64_t to_ns);
// One of them, by its index and its block's; `count` is the last one.
struct tare_busy_piece {
	int64_t from_ns, to_ns, before_ns; // before: the sum of those before it
};
struct tare_busy_piece tare_busy_at(const struct tare_busy *busy, size_t block, size_t index);
// One after the other: false when there is none left.
//     for (struct tare_busy_walk walk = { 0 }; tare_busy_next(busy, &walk);)
struct tare_busy_walk {
	struct tare_busy_piece piece;
	size_t block, index;
};
bool tare_busy_next(const struct tare_busy *busy, struct tare_busy_walk *walk);
// How long it ran before a time, and altogether.
int64_t tare_busy_before(struct tare_busy *busy, int64_t at_ns);
int64_t tare_busy_total(const struct tare_busy *busy);
// Keeps the total only.
void tare_busy_shrink(struct tare_busy *busy);
