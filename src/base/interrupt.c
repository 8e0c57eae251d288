// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include "base/time.h"

#include <stdatomic.h>
#include <stdint.h>

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

void tare_interrupt_note(void)
{
	atomic_store(&seen_ns, tare_host_now().ns);
}

bool tare_interrupt_due(void)
{
	int64_t first_ns = 0;

	if (!tare_interrupt_wanted())
		return false;
	int64_t at_ns = tare_host_now().ns;
	if (atomic_compare_exchange_strong(&seen_ns, &first_ns, at_ns))
		return false;
	return at_ns - first_ns >= GRACE_NS;
}
