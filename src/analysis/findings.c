// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings.h"

const struct tare_finding_words tare_finding_words[] = { { "none", "", "", "", "", "" } };
const size_t tare_finding_word_count = 0;

int tare_findings_find(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, const struct tare_tables *tables,
                       struct tare_findings *findings, struct tare_error *error)
{
	(void)recording, (void)view, (void)ledgers, (void)tables, (void)error;
	*findings = (struct tare_findings){ 0 };
	return 0;
}

void tare_findings_free(struct tare_findings *findings)
{
	*findings = (struct tare_findings){ 0 };
}
