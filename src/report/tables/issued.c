// SPDX-License-Identifier: Apache-2.0
// From where the costliest kernels and transfers were issued.
#include "report/tables/values.h"

#include <string.h>

#define ISSUED 4 // kernels, or kinds, of which a line tells the site

static bool is_of(const struct tare_site_row *row, bool kernels)
{
	if (kernels)
		return row->kind == TARE_KIND_KERNEL;
	return row->kind >= TARE_KIND_WRITE && row->kind <= TARE_KIND_MIGRATE;
}

// "step.c:214", "step.c:214 and 2 more": the row is the costliest of what is done there.
static void name_sites(struct tare_text *text, const struct tare_sites *sites, size_t row,
                       char buffer[RUN_TEXT])
{
	const struct tare_site_row *first = &sites->rows[row];
	char site[RUN_TEXT], more[32] = "";
	size_t others = 0;

	for (size_t i = row + 1; i < sites->count; i++)
		others += sites->rows[i].kind == first->kind &&
		          strcmp(sites->rows[i].what, first->what) == 0;
	if (others)
		snprintf(more, sizeof more, " and %zu more", others);
	snprintf(buffer, RUN_TEXT, "%.500s%s", tare_report_cut(text, first->text, 40, site), more);
}

void tare_issued_text(struct tare_text *text, const struct tare_report *run, bool kernels)
{
	const struct tare_sites *sites = run->sites;
	const struct tare_site_row *answer[ISSUED];
	char line[3 * RUN_TEXT] = "", what[RUN_TEXT], where[RUN_TEXT];
	size_t count = 0, used = 0;

	for (size_t i = 0; sites && run->symbols && i < sites->count && count < ISSUED; i++) {
		const struct tare_site_row *row = &sites->rows[i];
		bool known = !is_of(row, kernels);
		for (size_t k = 0; k < count; k++)
			known |=
			    answer[k]->kind == row->kind && strcmp(answer[k]->what, row->what) == 0;
		if (known)
			continue;
		name_sites(text, sites, i, where);
		used += (size_t)snprintf(line + used, sizeof line - used, "%s%.160s: %.160s",
		                         count ? "; " : "",
		                         tare_report_cut(text, row->what, 40, what), where);
		answer[count++] = row;
	}
	count == 0 ? 0
	           : tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3, "issued from %s", line);
}
