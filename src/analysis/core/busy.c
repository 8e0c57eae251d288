// SPDX-License-Identifier: Apache-2.0
#include "analysis/core/busy.h"

#include "base/room.h"

#include <errno.h>

void tare_busy_free(struct tare_busy *busy)
{
	free(busy->blocks);
	free(busy->spans);
	*busy = (struct tare_busy){ 0 };
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t both;
	return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

// It has not run for longer than has passed.
static bool fits(const struct tare_busy_block *block, const struct tare_busy *busy)
{
	int64_t from_ns;
	return !__builtin_sub_overflow(busy->from_ns, block->from_ns, &from_ns) &&
	       from_ns <= UINT32_MAX;
}

// The last span does not grow any more.
static int close_last(struct tare_busy *busy)
{
	struct tare_busy_span *span = TARE_ROOM_FOR(busy->spans, busy->span_room, busy->count);
	struct tare_busy_block *block =
	    busy->block_count ? &busy->blocks[busy->block_count - 1] : NULL;
	if (!span)
		return -ENOMEM;
	if (!block || !fits(block, busy)) {
		block = TARE_ROOM_FOR(busy->blocks, busy->block_room, busy->block_count);
		if (!block)
			return -ENOMEM;
		*block = (struct tare_busy_block){ busy->from_ns, busy->before_ns, busy->count };
		busy->block_count++;
	}
	*span = (struct tare_busy_span){ (uint32_t)(busy->from_ns - block->from_ns),
		                         (uint32_t)(busy->before_ns - block->before_ns) };
	busy->count++;
	busy->before_ns = sum(busy->before_ns, busy->to_ns - busy->from_ns);
	busy->from_ns = busy->to_ns;
	return 0;
}

int tare_busy_add(struct tare_busy *busy, int64_t from_ns, int64_t to_ns)
{
	bool any = busy->to_ns > busy->from_ns;
	if (to_ns <= from_ns)
		return 0;
	if (any && from_ns < busy->from_ns)
		return -EINVAL;
	if (any && from_ns <= busy->to_ns) {
		busy->to_ns = to_ns > busy->to_ns ? to_ns : busy->to_ns;
		return 0;
	}
	if (any && close_last(busy))
		return -ENOMEM;
	busy->from_ns = from_ns;
	busy->to_ns = to_ns;
	return 0;
}

// ---- questions

// The last block that begins no later.
static size_t block_of(const struct tare_busy *busy, int64_t at_ns)
{
	size_t low = busy->near_block, high = busy->block_count;
	if (busy->blocks[low].from_ns <= at_ns &&
	    (low + 1 == high || busy->blocks[low + 1].from_ns > at_ns))
		return low;
	for (low = 0; high - low > 1;) {
		size_t middle = low + (high - low) / 2;
		if (busy->blocks[middle].from_ns <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

// The last span in [first, end) that begins no later than the first of them and so much, further
// and further from where the last one was.
static size_t span_of(const struct tare_busy *busy, size_t first, size_t end, uint32_t offset_ns)
{
	const struct tare_busy_span *spans = busy->spans;
	size_t low = first, high = end, near = busy->near, step = 1;
	if (near >= first && near < end && spans[near].from_ns <= offset_ns) {
		for (low = near; end - low > step && spans[low + step].from_ns <= offset_ns;
		     step *= 2)
			low += step;
		high = end - low > step ? low + step : end;
	} else if (near >= first && near < end) {
		for (high = near; high - first > step && spans[high - step].from_ns > offset_ns;
		     step *= 2)
			high -= step;
		low = high - first > step ? high - step : first;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (spans[middle].from_ns <= offset_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t tare_busy_before(struct tare_busy *busy, int64_t at_ns)
{
	if (busy->to_ns > busy->from_ns && at_ns >= busy->from_ns)
		return sum(busy->before_ns,
		           (at_ns < busy->to_ns ? at_ns : busy->to_ns) - busy->from_ns);
	if (busy->block_count == 0 || at_ns < busy->blocks[0].from_ns)
		return 0;
	busy->near_block = block_of(busy, at_ns);
	const struct tare_busy_block *block = &busy->blocks[busy->near_block];
	size_t end = busy->near_block + 1 < busy->block_count ? block[1].first : busy->count;
	int64_t offset_ns = at_ns - block->from_ns;
	busy->near = span_of(busy, block->first, end,
	                     offset_ns < UINT32_MAX ? (uint32_t)offset_ns : UINT32_MAX);
	struct tare_busy_piece piece = tare_busy_at(busy, busy->near_block, busy->near);
	return piece.before_ns + (at_ns < piece.to_ns ? at_ns : piece.to_ns) - piece.from_ns;
}

struct tare_busy_piece tare_busy_at(const struct tare_busy *busy, size_t block, size_t index)
{
	if (index == busy->count)
		return (struct tare_busy_piece){ busy->from_ns, busy->to_ns, busy->before_ns };
	const struct tare_busy_block *of = &busy->blocks[block];
	int64_t from_ns = of->from_ns + busy->spans[index].from_ns;
	int64_t before_ns = of->before_ns + busy->spans[index].before_ns;
	int64_t next_ns = busy->before_ns;
	if (index + 1 < busy->count)
		next_ns = block + 1 < busy->block_count && of[1].first == index + 1
		              ? of[1].before_ns
		              : of->before_ns + busy->spans[index + 1].before_ns;
	return (struct tare_busy_piece){ from_ns, from_ns + (next_ns - before_ns), before_ns };
}

bool tare_busy_next(const struct tare_busy *busy, struct tare_busy_walk *walk)
{
	size_t all = busy->count + (busy->to_ns > busy->from_ns);
	if (walk->index == all)
		return false;
	while (walk->block + 1 < busy->block_count &&
	       busy->blocks[walk->block + 1].first <= walk->index)
		walk->block++;
	walk->piece = tare_busy_at(busy, walk->block, walk->index++);
	return true;
}

int64_t tare_busy_total(const struct tare_busy *busy)
{
	return sum(busy->before_ns, busy->to_ns - busy->from_ns);
}

void tare_busy_shrink(struct tare_busy *busy)
{
	int64_t total_ns = tare_busy_total(busy);
	tare_busy_free(busy);
	busy->before_ns = total_ns;
}
