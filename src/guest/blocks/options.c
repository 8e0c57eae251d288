// SPDX-License-Identifier: Apache-2.0
// Another set of build options in the place of the program's own. What its source needs to compile
// stays: definitions, folders of headers, the version of the language.
#include "guest/blocks/layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *set; // NULL: programs keep their own options

void blocks_options_begin(void)
{
	set = getenv(BLOCKS_ENVIRONMENT_OPTIONS);
}

static bool begins(const char *text, size_t bytes, const char *with)
{
	size_t length = strlen(with);

	return bytes >= length && memcmp(text, with, length) == 0;
}

// Whether a word of the program's own stays; *next: and so does the one behind it.
static bool stays(const char *word, size_t bytes, bool *next)
{
	static const char *const kept[] = { "-D",       "-U", "-I",         "-include",
		                            "-cl-std=", "-x", "-spir-std=", "-cl-kernel-arg-info" };
	bool needed = word[0] != '-';

	for (size_t i = 0; !needed && i < sizeof kept / sizeof *kept; i++)
		needed = begins(word, bytes, kept[i]);
	*next = needed && bytes == 2 && word[0] == '-';
	*next |= needed && bytes == strlen("-include") && begins(word, bytes, "-include");
	return needed;
}

static bool is_blank(char sign)
{
	return sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r';
}

// How long the word is at which a text begins, its quotes with it.
static size_t word_of(const char *text)
{
	char quote = '\0';
	size_t at = 0;

	for (; text[at] != '\0' && (quote != '\0' || !is_blank(text[at])); at++) {
		if (quote != '\0' ? text[at] == quote : text[at] == '"' || text[at] == '\'')
			quote = quote != '\0' ? '\0' : text[at];
		else if (text[at] == '\\' && text[at + 1] != '\0')
			at++;
	}
	return at;
}

// What stays of the program's own, and the set behind it, into `text`, which has room for both.
static void compose(const char *own, char *text)
{
	size_t used = 0;
	bool next = false, more = false;

	while (*own != '\0') {
		own += strspn(own, " \t\n\r");
		size_t bytes = word_of(own);
		bool keeps = bytes != 0 && (next || stays(own, bytes, &more));
		if (keeps) {
			memcpy(text + used, own, bytes);
			used += bytes;
			text[used++] = ' ';
		}
		next = keeps && !next && more;
		own += bytes;
	}
	memcpy(text + used, set, strlen(set) + 1);
}

// The options to build with: own, or others that are to be given back; *bytes is their room.
static const char *options_for(const char *own, size_t *bytes)
{
	*bytes = 0;
	if (set == NULL)
		return own;
	if (own == NULL)
		return set;
	*bytes = 2 * strlen(own) + strlen(set) + 2;
	char *text = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED) {
		*bytes = 0;
		return own;
	}
	compose(own, text);
	return text;
}

static void give_back(const char *options, size_t bytes)
{
	if (bytes != 0)
		munmap((void *)(uintptr_t)options, bytes);
}

// What the driver says of a build that failed, for tare to tell.
static void note_failure(cl_program program, cl_int code)
{
	cl_device_id device = NULL;
	size_t bytes = 0;

	if (code == CL_SUCCESS || set == NULL || blocks_counts->build_code != 0)
		return;
	blocks_counts->build_code = code;
	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, NULL, &bytes) !=
	        CL_SUCCESS ||
	    bytes != sizeof device)
		return;
	blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, NULL);
	blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
	char *log = bytes <= 1 ? MAP_FAILED
	                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (log == MAP_FAILED)
		return;
	size_t most = sizeof blocks_counts->build_log - 1;
	if (blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log,
	                                      NULL) == CL_SUCCESS)
		memcpy(blocks_counts->build_log, log, bytes < most ? bytes : most);
	munmap(log, bytes);
}

static CL_API_ENTRY cl_int CL_API_CALL build(cl_program program, cl_uint count,
                                             const cl_device_id *devices, const char *options,
                                             void(CL_CALLBACK *notify)(cl_program, void *),
                                             void *data)
{
	size_t bytes;
	const char *others = options_for(options, &bytes);
	cl_int result = blocks_next.clBuildProgram(program, count, devices, others, notify, data);
	int saved = errno;

	note_failure(program, result);
	give_back(others, bytes);
	errno = saved;
	return result;
}

cl_int blocks_compile(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, cl_uint headers, const cl_program *header,
                      const char **names, void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	size_t bytes;
	const char *others = options_for(options, &bytes);
	cl_int result = blocks_next.clCompileProgram(program, count, devices, others, headers,
	                                             header, names, notify, data);
	int saved = errno;

	note_failure(program, result);
	give_back(others, bytes);
	errno = saved;
	return result;
}

void blocks_wrap_options(cl_icd_dispatch *table)
{
	if (set != NULL)
		BLOCKS_WRAP(table, clBuildProgram, build);
}
