// SPDX-License-Identifier: Apache-2.0
// For the tests of findings about transfers: a made recording judged, and what was found.
#pragma once
#include "analysis/findings/findings.h"
#include "tests/unit/analysis/whatif/whatif_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline struct tare_findings
evaluate_with(const struct made *made, const struct tare_transfer_ceiling *ceilings, size_t count)
{
	struct tare_view view = tare_view_all(&made->recording);
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, &ledgers, NULL), 0);
	assert_int_equal(
	    tare_tables_compute(&made->recording, &view, &ledgers, ceilings, count, &tables, NULL),
	    0);
	assert_int_equal(
	    tare_findings_find(&made->recording, &view, &ledgers, &tables, &findings, NULL), 0);
	tare_tables_free(&tables);
	tare_ledgers_free(&ledgers);
	return findings;
}

static inline struct tare_findings evaluate(const struct made *made)
{
	return evaluate_with(made, NULL, 0);
}

static inline const struct tare_finding *find(const struct tare_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->at[i].id, id) == 0)
			return &findings->at[i];
	return NULL;
}

static inline bool says(const struct tare_findings *findings, const char *words)
{
	for (size_t i = 0; i < findings->unjudged_count; i++)
		if (strstr(findings->unjudged[i], words))
			return true;
	return false;
}

static inline const char *text_of(const struct tare_findings *findings, char text[400])
{
	text[0] = '\0';
	for (size_t i = 0; i < findings->count; i++)
		snprintf(text + strlen(text), 400 - strlen(text), " %s", findings->at[i].id);
	return text;
}
