// SPDX-License-Identifier: Apache-2.0
#include "analysis/symbols.h"

int tare_sites_compute(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, struct tare_symbols *symbols,
                       struct tare_sites *sites, struct tare_error *error)
{
	(void)recording, (void)view, (void)ledgers, (void)symbols, (void)error;
	*sites = (struct tare_sites){ 0 };
	return 0;
}

void tare_sites_free(struct tare_sites *sites)
{
	*sites = (struct tare_sites){ 0 };
}
