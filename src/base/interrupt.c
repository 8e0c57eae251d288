// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define GRACE_NS 1000000000

static const volatile sig_atomic_t *watched;
static _Atomic int64_t seen_ns; // 0: not yet

void tare_interrupt_watch(const volatile sig_atomic_t *flag)
{
	watched = flag;
	atomic_store(&seen_ns, 0);
}

bool tare_interrupt_wanted(void)
{
	return watched && *watched;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void tare_interrupt_note(void)
{
	atomic_store(&seen_ns, now_ns());
}

bool tare_interrupt_due(void)
{
	int64_t first_ns = 0;

	if (!tare_interrupt_wanted())
		return false;
	int64_t at_ns = now_ns();
	if (atomic_compare_exchange_strong(&seen_ns, &first_ns, at_ns))
		return false;
	return at_ns - first_ns >= GRACE_NS;
}
