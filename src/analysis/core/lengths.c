// SPDX-License-Identifier: Apache-2.0
#include "analysis/core/lengths.h"

#include "analysis/core/ranks.h"
#include "base/room.h"
#include "model/statistics/order.h"

#include <errno.h>

// All so far as they are, when the first one comes that does not fit.
static int widen(struct tare_lengths *lengths)
{
	size_t room = lengths->count ? lengths->count * 2 : 16;
	int64_t *wide = malloc(room * sizeof *wide);
	if (!wide)
		return -ENOMEM;
	for (size_t i = 0; i < lengths->count; i++)
		wide[i] = lengths->narrow[i];
	free(lengths->narrow);
	lengths->narrow = NULL;
	lengths->wide = wide;
	lengths->room = room;
	return 0;
}

int tare_lengths_append(struct tare_lengths *lengths, int64_t ns)
{
	if (!lengths->wide && ns >= 0 && ns <= UINT32_MAX) {
		uint32_t *added = TARE_ROOM_FOR(lengths->narrow, lengths->room, lengths->count);
		if (!added)
			return -ENOMEM;
		*added = (uint32_t)ns;
		lengths->count++;
		return 0;
	}
	if (!lengths->wide && widen(lengths))
		return -ENOMEM;
	int64_t *added = TARE_ROOM_FOR(lengths->wide, lengths->room, lengths->count);
	if (!added)
		return -ENOMEM;
	*added = ns;
	lengths->count++;
	return 0;
}

static uint32_t narrow_at(const void *values, size_t index)
{
	return ((const uint32_t *)values)[index];
}

double tare_lengths_quantile(struct tare_lengths *lengths, double p)
{
	if (lengths->wide)
		return tare_select_quantile(lengths->wide, lengths->count, p);
	return tare_ranks_quantile(narrow_at, lengths->narrow, lengths->count, p);
}

void tare_lengths_free(struct tare_lengths *lengths)
{
	free(lengths->narrow);
	free(lengths->wide);
	*lengths = (struct tare_lengths){ 0 };
}
