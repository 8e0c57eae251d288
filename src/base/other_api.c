// SPDX-License-Identifier: Apache-2.0
#include "base/other_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	const char *libraries[2]; // what their names begin with
	const char *why;          // nothing of it was recorded: "tare ..."
} apis[TARE_OTHER_APIS] = {
	[TARE_OTHER_CUDA] = { "cuda",
	                      { "libcuda.so", "libcudart.so" },
	                      "recorded no CUDA call: that takes CUPTI (libcupti.so), held by no "
	                      "other tool (--no-cupti: calls without device times)" },
	[TARE_OTHER_LEVEL_ZERO] = { "levelzero",
	                            { "libze_loader.so", NULL },
	                            "got in between it and no driver of Level Zero" },
	[TARE_OTHER_HIP] = { "hip", { "libamdhip64.so", NULL }, "cannot record HIP" },
	[TARE_OTHER_VULKAN] = { "vulkan", { "libvulkan.so", NULL }, "cannot record Vulkan" },
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

// Adds to the text's end, as much as fits.
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, size_t *used,
                                                         const char *format, ...)
{
	va_list arguments;
	int wrote;

	if (*used >= size)
		return;
	va_start(arguments, format);
	wrote = vsnprintf(text + *used, size - *used, format, arguments);
	va_end(arguments);
	*used += wrote > 0 ? (size_t)wrote : 0;
}

void tare_other_say(const struct tare_other_uses *uses, char *text, size_t size)
{
	size_t used = 0;

	if (size > 0)
		text[0] = '\0';
	if (!tare_other_any(uses))
		return;
	append(text, size, &used, "the program");
	for (enum tare_other_api api = 0, said = 0; api < TARE_OTHER_APIS; api++) {
		const struct tare_other_use *use = &uses->of[api];
		if (use->seen)
			append(text, size, &used, "%s %s %s", said++ ? " and" : "",
			       use->loaded ? "loaded" : "is linked with", use->library);
	}
	append(text, size, &used, ", and tare ");
	for (enum tare_other_api api = 0, said = 0; api < TARE_OTHER_APIS; api++)
		if (uses->of[api].seen)
			append(text, size, &used, "%s%s", said++ ? ", and " : "", apis[api].why);
}
