// SPDX-License-Identifier: Apache-2.0
// How many bytes a thread of this host can change in a second: what it had less time for, it has not
// changed. Measured in the nearest cache, where no memory is faster, and again all along, since a core
// that was idle may be slow at first; the best counts.
#include "guest/internal.h"

#include <string.h>

enum { TURNS = 8, ROUNDS = 5 };

void guest_fill_measure(unsigned char room[GUEST_FILL_BYTES])
{
	uint64_t ticks_of_ms = guest_ticks_of_ns(1000000), least = UINT64_MAX;
	uint64_t known = __atomic_load_n(&guest_header->fill_bytes_s, __ATOMIC_RELAXED), rate;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = guest_ticks(), ticks;
		for (int turn = 0; turn < TURNS; turn++) {
			memset(room, round + turn, GUEST_FILL_BYTES);
			__asm__ volatile("" : : "r"(room) : "memory");
		}
		ticks = guest_ticks() - from;
		least = ticks < least ? ticks : least;
	}
	if (!least)
		return;
	rate = (uint64_t)TURNS * GUEST_FILL_BYTES * 1000 * ticks_of_ms / least;
	// Both the helper and the thread that ends the process come here.
	while (rate > known && !__atomic_compare_exchange_n(&guest_header->fill_bytes_s, &known, rate, false,
	                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}
