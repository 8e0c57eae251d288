// SPDX-License-Identifier: Apache-2.0
#include "record/lock.h"

#include "base/time.h"

#include <errno.h>
#include <sys/file.h>

#define STEP_NS 20000000
// Claiming takes milliseconds, but up to 5 s for a rank on a file system whose locks fail.
#define CLAIM_STEPS 500
// Longer than any claim looks at a folder that it does not get.
#define SHARE_STEPS 50
// Longer than changing one lock for another takes.
#define CHANGE_NS 50000000

// Returns 0, EWOULDBLOCK, or another positive errno: the file system knows no locks.
static int try_lock(int directory, int kind)
{
	while (flock(directory, kind | LOCK_NB) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

enum tare_record_lock tare_record_lock_claim(int directory)
{
	for (int step = 0; step < CLAIM_STEPS; step++) {
		if (try_lock(directory, LOCK_EX) != EWOULDBLOCK)
			return TARE_RECORD_LOCK_OURS;
		if (try_lock(directory, LOCK_SH) != EWOULDBLOCK)
			return TARE_RECORD_LOCK_RUNNING;
		tare_host_pause(STEP_NS);
	}
	return TARE_RECORD_LOCK_NONE;
}

enum tare_record_lock tare_record_lock_again(int directory)
{
	flock(directory, LOCK_UN);
	tare_host_pause(CHANGE_NS);
	return tare_record_lock_claim(directory);
}

void tare_record_lock_share(int directory)
{
	// The kernel gives up the one lock before it takes the other.
	for (int step = 0; step < SHARE_STEPS; step++) {
		if (try_lock(directory, LOCK_SH) != EWOULDBLOCK)
			return;
		tare_host_pause(STEP_NS);
	}
}
