// SPDX-License-Identifier: Apache-2.0
// Who may use a trace's folder: one recording at a time, or the ranks of one parallel job together.
// The lock is the kernel's (flock(2) on the folder), so that it ends with whoever holds it.
#pragma once
#include <stdbool.h>

enum tare_record_lock {
	TARE_RECORD_LOCK_OURS,    // nobody else is there, or the file system knows no locks
	TARE_RECORD_LOCK_RUNNING, // recordings run there; the lock is shared with them
	TARE_RECORD_LOCK_NONE,    // somebody has been claiming the folder for too long
};

// Locks a folder that is open, alone where that is possible. While another one claims it, waits for
// its decision, at most 10 s.
enum tare_record_lock tare_record_lock_claim(int directory);

// After a claim that found nobody, but a recording that has not ended: lets go and claims again, as
// a recording that begins holds no lock for a moment, when it begins to share (below).
enum tare_record_lock tare_record_lock_again(int directory);

// From now on shares the folder with ranks that join, until the descriptor is closed.
void tare_record_lock_share(int directory);
