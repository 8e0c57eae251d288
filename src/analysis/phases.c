// SPDX-License-Identifier: Apache-2.0
#include "analysis/phases.h"

int tare_phases_compute(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_phases *phases, struct tare_error *error)
{
	(void)recording, (void)view, (void)error;
	*phases = (struct tare_phases){ 0 };
	return 0;
}

void tare_phases_free(struct tare_phases *phases)
{
	*phases = (struct tare_phases){ 0 };
}

int tare_phase_spans(const struct tare_recording *recording, const char *pattern, int64_t from_ns,
                     int64_t to_ns, struct tare_time_span **spans)
{
	(void)recording, (void)pattern, (void)from_ns, (void)to_ns;
	*spans = NULL;
	return 0;
}
