// SPDX-License-Identifier: Apache-2.0
// What include/tare/phase.h finds by $TARE_PHASES. For programs that are in no C, too.
#include "guest/phase/phase.h"

#include <errno.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void tare_phase_begin(const char *name);
EXPORTED void tare_phase_end(void);

void tare_phase_begin(const char *name)
{
	int error = errno;
	guest_phase_begin(TARE_PHASE_TARE, name, NULL, 0);
	errno = error;
}

void tare_phase_end(void)
{
	int error = errno;
	guest_phase_end(TARE_PHASE_TARE, NULL, 0);
	errno = error;
}
