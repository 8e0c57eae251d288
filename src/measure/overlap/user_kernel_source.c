// SPDX-License-Identifier: Apache-2.0
// What a kernel's file is, and which kernels it seems to hold.
#include "measure/overlap/user_kernel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int tare_user_kernel_format(const char *file, enum tare_module_format *format,
                            struct tare_error *error)
{
	static const struct {
		const char *suffix;
		enum tare_module_format format;
	} rows[] = {
		{ ".cl", TARE_MODULE_OPENCL_C }, { ".spv", TARE_MODULE_SPIRV },
		{ ".ptx", TARE_MODULE_PTX },     { ".cu", TARE_MODULE_CUDA_C },
		{ ".tare", TARE_MODULE_NATIVE },
	};
	const char *suffix = strrchr(file, '.');

	for (size_t i = 0; suffix && i < sizeof rows / sizeof *rows; i++)
		if (strcmp(suffix, rows[i].suffix) == 0) {
			*format = rows[i].format;
			return 0;
		}
	return tare_fail(error, EINVAL,
	                 "%s: what it holds is told by its name: .cl (OpenCL C), .spv (SPIR-V), "
	                 ".ptx (PTX) or .cu (CUDA C)",
	                 file);
}

// ---- the scan

struct scan {
	const char *at;
	char *names;
	size_t size, used, count;
};

// Moves over blanks, comments and strings.
static void skip_blank(struct scan *scan)
{
	for (;;) {
		const char *at = scan->at;
		if (isspace((unsigned char)*at)) {
			scan->at++;
		} else if (at[0] == '/' && at[1] == '/') {
			scan->at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");
			scan->at = end ? end + 2 : at + strlen(at);
		} else if (at[0] == '"') {
			do
				at++;
			while (*at && *at != '"' && *at != '\n');
			scan->at = at + (*at != '\0');
		} else {
			return;
		}
	}
}

// The next word into `word` ("" where there is another sign, which is passed over).
static bool next_word(struct scan *scan, char word[128])
{
	size_t length = 0;

	skip_blank(scan);
	if (!*scan->at)
		return false;
	while (isalnum((unsigned char)scan->at[length]) || scan->at[length] == '_' ||
	       scan->at[length] == '$')
		length++;
	snprintf(word, 128, "%.*s", (int)(length < 127 ? length : 127), scan->at);
	scan->at += length ? length : 1;
	return true;
}

static void skip_parentheses(struct scan *scan)
{
	char word[128];
	size_t depth = 0;

	do {
		skip_blank(scan);
		if (*scan->at == '(')
			depth++;
		if (*scan->at == ')' && depth > 0)
			depth--;
		if (depth == 0) {
			scan->at += *scan->at == ')';
			return;
		}
	} while (next_word(scan, word));
}

static void note(struct scan *scan, const char *name)
{
	int written = snprintf(scan->names + scan->used, scan->size - scan->used, "%s%s",
	                       scan->count ? ", " : "", name);

	scan->count++;
	if (written > 0 && (size_t)written < scan->size - scan->used)
		scan->used += (size_t)written;
	else
		scan->names[scan->used] = '\0'; // no half names
}

// After the word that begins a kernel: its name is the word before the parameters.
static void take_kernel(struct scan *scan)
{
	char word[128], name[128] = "";

	while (next_word(scan, word)) {
		if (word[0]) {
			memcpy(name, word, sizeof name);
		} else if (scan->at[-1] == '(') {
			scan->at--;
			if (strcmp(name, "__attribute__") != 0 &&
			    strcmp(name, "__launch_bounds__") != 0) {
				if (name[0])
					note(scan, name);
				return;
			}
			skip_parentheses(scan);
		} else if (strchr(";{}", scan->at[-1])) {
			return;
		}
	}
}

size_t tare_user_kernel_names(enum tare_module_format format, const char *source, char *names,
                              size_t size)
{
	struct scan scan = { .at = source, .names = names, .size = size };
	char word[128], before[128] = "";

	names[0] = '\0';
	while (next_word(&scan, word)) {
		if (format == TARE_MODULE_OPENCL_C &&
		    (strcmp(word, "kernel") == 0 || strcmp(word, "__kernel") == 0)) {
			take_kernel(&scan);
		} else if (format == TARE_MODULE_CUDA_C && strcmp(word, "__global__") == 0) {
			take_kernel(&scan);
		} else if (format == TARE_MODULE_PTX && strcmp(before, ".") == 0 &&
		           strcmp(word, "entry") == 0) {
			if (next_word(&scan, word) && word[0])
				note(&scan, word);
		}
		if (word[0])
			memcpy(before, word, sizeof before);
		else
			snprintf(before, sizeof before, "%c", scan.at[-1]);
	}
	return scan.count;
}
