// SPDX-License-Identifier: Apache-2.0
// Stands for the recorder's library: writes down the phases that it is told of.
#include <stdio.h>
#include <string.h>

void tare_phase_begin(const char *name);
void tare_phase_end(void);
const char *heard_so_far(void);

static char now[1024], taken[1024];

void tare_phase_begin(const char *name)
{
	snprintf(now + strlen(now), sizeof now - strlen(now), "+%s ", name);
}

void tare_phase_end(void)
{
	snprintf(now + strlen(now), sizeof now - strlen(now), "- ");
}

// Since it was asked last.
const char *heard_so_far(void)
{
	memcpy(taken, now, sizeof now);
	now[0] = '\0';
	return taken;
}
