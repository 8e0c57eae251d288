// SPDX-License-Identifier: Apache-2.0
// The helper's sleep, and who ends it.
#include "guest/internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t wakes, asleep;

void guest_helper_wake(void)
{
	int error = errno;
	atomic_fetch_add(&wakes, 1);
	if (atomic_load(&asleep))
		syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = error;
}

void guest_helper_sleep_forget(void)
{
	atomic_store(&asleep, 0);
}

uint32_t guest_helper_wakes(void)
{
	return atomic_load(&wakes);
}

void guest_helper_sleep(uint64_t ns, uint32_t seen)
{
	struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	if (!ns)
		return;
	atomic_store(&asleep, 1);
	if (atomic_load(&wakes) == seen)
		syscall(SYS_futex, &wakes, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
	atomic_store(&asleep, 0);
}
