// SPDX-License-Identifier: Apache-2.0
#include "blocks/tools/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct tare_blocks_arguments *arguments, const char *text)
{
	if (arguments->count + 1 >= arguments->room) {
		size_t room = arguments->room ? 2 * arguments->room : 32;
		char **at = realloc(arguments->at, room * sizeof *at);
		if (!at) {
			arguments->failed = true;
			return;
		}
		arguments->at = at;
		arguments->room = room;
	}
	char *copy = strdup(text);
	if (!copy) {
		arguments->failed = true;
		return;
	}
	arguments->at[arguments->count++] = copy;
	arguments->at[arguments->count] = NULL;
}

// The next word of the options, its quotes taken away, into `word` (as large as the options).
// False: there is no more, or a quote has no end (*open).
static bool next_word(const char **options, char *word, bool *open)
{
	const char *at = *options;
	char quote = '\0';
	size_t used = 0;

	while (isspace((unsigned char)*at))
		at++;
	bool any = *at != '\0';
	for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? '\0' : *at;
		else if (*at == '\\' && (at[1] == '"' || at[1] == '\\' || at[1] == '\''))
			word[used++] = *++at;
		else
			word[used++] = *at;
	}
	word[used] = '\0';
	*options = at;
	*open = quote != '\0';
	return any && !*open;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

#define FEATURE "__opencl_c_"

// The extensions that the device has and no others, so that the source takes the paths that it
// takes there; with the features, where the language has them.
static void add_extensions(struct tare_blocks_arguments *arguments, const char *extensions,
                           bool features)
{
	size_t room = 2 * strlen(extensions) + 32;
	char *text = malloc(room), *word = malloc(strlen(extensions) + 1);
	bool open;

	if (!text || !word) {
		arguments->failed = true;
		free(text);
		free(word);
		return;
	}
	size_t used = (size_t)snprintf(text, room, "-cl-ext=-all");
	while (next_word(&extensions, word, &open))
		if (features || !begins(word, FEATURE))
			used += (size_t)snprintf(text + used, room - used, ",+%s", word);
	add(arguments, "-Xclang");
	add(arguments, text);
	free(text);
	free(word);
}

// The number of "OpenCL 1.2 ..." as __OPENCL_VERSION__ has it; 0: there is none.
static unsigned version_number(const char *version)
{
	unsigned major, minor;

	return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 ? 100 * major + 10 * minor : 0;
}

static void add_fixed(struct tare_blocks_arguments *arguments,
                      const struct tare_blocks_request *request)
{
	static const char *const fixed[] = { "-target", "spir64-unknown-unknown", "-x", "cl", "-c",
		                             "-emit-llvm", "-gline-tables-only",
		                             // The report shows them.
		                             "-fno-discard-value-names", "-Xclang",
		                             "-finclude-default-header", "-D__ENDIAN_LITTLE__=1" };
	unsigned version = version_number(request->version);
	char text[64];

	add(arguments, request->clang);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		add(arguments, fixed[i]);
	if (version) {
		snprintf(text, sizeof text, "-D__OPENCL_VERSION__=%u", version);
		add(arguments, text);
	}
	if (request->images)
		add(arguments, "-D__IMAGE_SUPPORT__=1");
	// Before the folders of the options, as OpenCL has it.
	if (request->list) {
		add(arguments, "-ivfsoverlay");
		add(arguments, request->list);
		add(arguments, "-I");
		add(arguments, request->headers);
	}
}

// The folder is another one in each run: with its name in the code, a driver that keeps what it has
// built would build the same code again.
static void add_place(struct tare_blocks_arguments *arguments, const char *source)
{
	const char *slash = strrchr(source, '/');
	char text[PATH_MAX + 32];

	if (!slash)
		return;
	snprintf(text, sizeof text, "-fdebug-prefix-map=%.*s=.", (int)(slash - source), source);
	add(arguments, text);
}

int tare_blocks_arguments_make(const struct tare_blocks_request *request,
                               struct tare_blocks_arguments *arguments, struct tare_error *error)
{
	const char *options = request->options;
	char *word = malloc(strlen(options) + 1);
	bool open = false, optimises = true, names_version = false, newer = false;

	*arguments = (struct tare_blocks_arguments){ .failed = word == NULL };
	add_fixed(arguments, request);
	while (word && next_word(&options, word, &open)) {
		optimises &= strcmp(word, "-cl-opt-disable") != 0 && strcmp(word, "-O0") != 0;
		names_version |= begins(word, "-cl-std=");
		newer |= begins(word, "-cl-std=CL3") || begins(word, "-cl-std=CLC++");
		add(arguments, word);
	}
	free(word);
	if (request->as_written && optimises)
		add(arguments, "-cl-opt-disable");
	optimises &= !request->as_written;
	if (!names_version)
		add(arguments, "-cl-std=CL1.2");
	// From 3.0 on features are switched in the same way: with those that a device has not,
	// clang takes library functions that its driver has not either.
	if (!newer || strstr(request->extensions, FEATURE))
		add_extensions(arguments, request->extensions, newer);
	snprintf(arguments->level, sizeof arguments->level, "%s",
	         !optimises             ? "-cl-opt-disable"
	         : request->keeps_loops ? "-O2, no loop made a formula"
	                                : "-O2");
	arguments->optimises = optimises;
	if (optimises)
		add(arguments, request->as_text ? "-O1" : "-O2");
	static const char *const keeps_loops[] = { TARE_BLOCKS_KEEPS_LOOPS };
	for (size_t i = 0; request->keeps_loops && i < sizeof keeps_loops / sizeof *keeps_loops;
	     i++)
		add(arguments, keeps_loops[i]);
	if (request->bodies)
		add(arguments, "-fgnu89-inline");
	if (request->as_text)
		add(arguments, "-S");
	if (request->unoptimised) {
		add(arguments, "-Xclang");
		add(arguments, "-disable-llvm-passes");
	}
	add_place(arguments, request->source);
	add(arguments, request->source);
	add(arguments, "-o");
	add(arguments, request->output);
	int status = 0;
	if (open)
		status = tare_fail(error, EINVAL, "a quote in the build options has no end");
	else if (arguments->failed)
		status = tare_fail(error, ENOMEM, "out of memory");
	if (status < 0)
		tare_blocks_arguments_free(arguments);
	return status;
}

void tare_blocks_arguments_free(struct tare_blocks_arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		free(arguments->at[i]);
	free(arguments->at);
	*arguments = (struct tare_blocks_arguments){ .at = NULL };
}

void tare_blocks_driver_options(const char *options, char *text, size_t size)
{
	static const char *const kept[] = {
		"-cl-opt-disable",
		"-cl-mad-enable",
		"-cl-no-signed-zeros",
		"-cl-unsafe-math-optimizations",
		"-cl-finite-math-only",
		"-cl-fast-relaxed-math",
		"-cl-denorms-are-zero",
		"-cl-single-precision-constant",
		"-cl-fp32-correctly-rounded-divide-sqrt",
	};
	char *word = malloc(strlen(options) + 1);
	bool open;

	text[0] = '\0';
	while (word && next_word(&options, word, &open))
		for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
			if (strcmp(word, kept[i]) == 0 && strlen(text) + strlen(word) + 2 < size) {
				strcat(text, word);
				strcat(text, " ");
			}
	free(word);
}
