// SPDX-License-Identifier: Apache-2.0
#include "base/other_api.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *title;
	const char *libraries[2]; // what their names begin with
} apis[TARE_OTHER_APIS] = {
	[TARE_OTHER_CUDA] = { "cuda", "CUDA", { "libcuda.so", "libcudart.so" } },
	[TARE_OTHER_LEVEL_ZERO] = { "levelzero", "Level Zero", { "libze_loader.so", NULL } },
};

const char *tare_other_name(enum tare_other_api api)
{
	return apis[api].name;
}

static bool is_of(const char *name, enum tare_other_api api)
{
	for (size_t i = 0; i < sizeof apis->libraries / sizeof *apis->libraries; i++) {
		const char *begins = apis[api].libraries[i];
		if (begins && strncmp(name, begins, strlen(begins)) == 0)
			return true;
	}
	return false;
}

void tare_other_note(struct tare_other_uses *uses, const char *library, bool loaded)
{
	const char *slash = strrchr(library, '/'), *name = slash ? slash + 1 : library;

	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++) {
		struct tare_other_use *use = &uses->of[api];
		if (!is_of(name, api) || (use->seen && (use->loaded || !loaded)))
			continue;
		*use = (struct tare_other_use){ .seen = true, .loaded = loaded };
		snprintf(use->library, sizeof use->library, "%s", name);
	}
}

bool tare_other_any(const struct tare_other_uses *uses)
{
	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++)
		if (uses->of[api].seen)
			return true;
	return false;
}

void tare_other_say(const struct tare_other_uses *uses, char *text, size_t size)
{
	char libraries[256] = "";
	bool cuda = uses->of[TARE_OTHER_CUDA].seen,
	     levelzero = uses->of[TARE_OTHER_LEVEL_ZERO].seen;

	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++) {
		const struct tare_other_use *use = &uses->of[api];
		size_t of_libraries = strlen(libraries);
		if (use->seen)
			snprintf(libraries + of_libraries, sizeof libraries - of_libraries,
			         "%s%s %s", of_libraries ? " and " : "",
			         use->loaded ? "loaded" : "is linked with", use->library);
	}
	if (libraries[0])
		snprintf(text, size, "the program %s, and tare %s%s%s", libraries,
		         cuda ? "recorded no CUDA call: that takes CUPTI (libcupti.so), held by no "
		                "other tool (--no-cupti: calls without device "
		                "times)"
		              : "",
		         cuda && levelzero ? ", and " : "",
		         levelzero ? "got in between it and no driver of Level Zero" : "");
	else if (size)
		text[0] = '\0';
}
