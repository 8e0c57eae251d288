// SPDX-License-Identifier: Apache-2.0
// Twins of the findings about transfers on Level Zero (pairs_levelzero.c).
#include "pairs_levelzero.h"

#include <string.h>

static void copy_on(ze_command_list_handle_t to, void *there, const void *from, size_t bytes)
{
	check(zeCommandListAppendMemoryCopy(to, there, from, bytes, NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
}

void transfers_dominate(void)
{
	warm_up();
	for (int i = 0; i < 60; i++) {
		if (raise_it || i == 0)
			copy_on(waiting, memory, host + (i & 1) * 4096, MEGABYTE);
		run(raise_it || fix_it ? 1 : 4000);
	}
	finish();
}

// Of three sizes, so that what a copy costs beside its bytes can be told. The fixed one copies as
// much in pieces of 64 KB.
void small_transfers(void)
{
	enum { PIECES = 1500, MEAN = (256 + 1024 + 4096) / 3, JOINED = 65536 };

	warm_up();
	for (size_t at = 0; fix_it && at < PIECES * MEAN; at += JOINED)
		copy_on(list, (char *)memory + at, host + at, JOINED);
	for (size_t i = 0; i < PIECES && !fix_it; i++)
		if (raise_it)
			copy_on(list, (char *)memory + i * 256, host + i * 256,
			        (size_t)256 << (2 * (i % 3)));
		else if (i % 100 == 0)
			copy_on(list, memory, host + i * 256, MEGABYTE);
	run(1);
	finish();
}

void unaligned_transfers(void)
{
	warm_up();
	for (int i = 0; i < 40; i++)
		copy_on(list, memory, host + i * 64 + (raise_it ? 1 : 0), MEGABYTE);
	run(1);
	finish();
}

// All that is written is new each time where nothing is to be found, if only by one byte.
static void write_again(bool read_first)
{
	for (int i = 0; i < 40; i++) {
		run(1);
		if (read_first)
			copy_on(waiting, host, memory, AGAIN);
		if (!raise_it)
			memset(host + AGAIN - 1, i + 2, 1);
		copy_on(waiting, memory, host, AGAIN);
	}
	finish();
}

void duplicate_transfers(void)
{
	write_again(false);
}

void ping_pong(void)
{
	write_again(true);
}

// On a device that has the host's memory: through copies, or where host and kernel both get at it.
void zero_copy(void)
{
	char *both = memory_of(&device, HOST, AGAIN);

	warm_up();
	for (int i = 0; i < 40; i++) {
		memset(raise_it ? host : both, i, AGAIN);
		if (raise_it)
			copy_on(waiting, memory, host, AGAIN);
		run_on(list, raise_it ? memory : both, (const uint32_t[]){ ITEMS, 1 }, GROUP, 1,
		       NULL);
		finish();
		if (raise_it)
			copy_on(waiting, host, memory, AGAIN);
	}
	free_memory(&device, HOST, both);
}
