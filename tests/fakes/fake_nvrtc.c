// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvrtc.so that keeps NVRTC's documented rules: device code only, includes from
// -I folders, C++ names unless extern "C", templates only where a name expression asks for one, a
// binary for sm_XY and none for compute_XY. Of the language it knows function heads and braces.
//
// TARE_FAKE_NVRTC holds words: version=12.4, archs=75,80,90, no_builtins.
#include "backend/cuda/nvrtc/nvrtc_abi.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_EXPORT __attribute__((visibility("default")))
#define DECLARE(type, name, parameters) FAKE_EXPORT type name parameters;
NVRTC_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

#define MOST 16
#define WORD 128

struct kernel {
	char name[WORD], space[WORD], parameters[512];
	bool c, template;
};

struct nvrtc_program_object {
	char *source, name[WORD], *expressions[MOST], *lowered[MOST];
	char *ptx, *cubin, *log;
	size_t ptx_size, cubin_size, log_size;
	int expression_count;
	bool compiled;
	struct kernel kernels[MOST];
	int kernel_count;
};

static const char *script(const char *word)
{
	const char *text = getenv("TARE_FAKE_NVRTC");
	const char *at = text ? strstr(text, word) : NULL;
	return at ? at + strlen(word) : NULL;
}

nvrtc_result nvrtcVersion(int *major, int *minor)
{
	const char *version = script("version=");
	if (!major || !minor)
		return ABI_NVRTC_INVALID_INPUT;
	if (!version || sscanf(version, "%d.%d", major, minor) != 2) {
		*major = 13;
		*minor = 0;
	}
	return ABI_NVRTC_SUCCESS;
}

static int architectures(int *list)
{
	const char *at = script("archs=");
	int count = 0, used = 0;

	for (at = at ? at : "75,80,90,100";
	     count < MOST && sscanf(at, "%d%n", &list[count], &used) == 1;) {
		count++;
		at += used;
		if (*at++ != ',')
			break;
	}
	return count;
}

nvrtc_result nvrtcGetNumSupportedArchs(int *count)
{
	int list[MOST];
	*count = architectures(list);
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetSupportedArchs(int *list)
{
	int own[MOST], count = architectures(own);
	memcpy(list, own, (size_t)count * sizeof *own);
	return ABI_NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtc_result result)
{
	static const char *const names[] = {
		[ABI_NVRTC_SUCCESS] = "NVRTC_SUCCESS",
		[ABI_NVRTC_INVALID_INPUT] = "NVRTC_ERROR_INVALID_INPUT",
		[ABI_NVRTC_INVALID_OPTION] = "NVRTC_ERROR_INVALID_OPTION",
		[ABI_NVRTC_COMPILATION] = "NVRTC_ERROR_COMPILATION",
		[ABI_NVRTC_BUILTIN_OPERATION_FAILURE] = "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
		[ABI_NVRTC_NAME_EXPRESSION_NOT_VALID] = "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
	};
	return result >= 0 && (size_t)result < sizeof names / sizeof *names && names[result]
	           ? names[result]
	           : "NVRTC_ERROR unknown";
}

nvrtc_result nvrtcCreateProgram(nvrtc_program *program, const char *source, const char *name,
                                int header_count, const char *const *headers,
                                const char *const *header_names)
{
	(void)headers;
	(void)header_names;
	if (!program || !source || header_count < 0)
		return ABI_NVRTC_INVALID_INPUT;
	*program = calloc(1, sizeof **program);
	(*program)->source = strdup(source);
	snprintf((*program)->name, WORD, "%s", name && *name ? name : "default_program");
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcDestroyProgram(nvrtc_program *program)
{
	if (!program || !*program)
		return ABI_NVRTC_INVALID_PROGRAM;
	for (int i = 0; i < (*program)->expression_count; i++) {
		free((*program)->expressions[i]);
		free((*program)->lowered[i]);
	}
	free((*program)->source);
	free((*program)->ptx);
	free((*program)->cubin);
	free((*program)->log);
	free(*program);
	*program = NULL;
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcAddNameExpression(nvrtc_program program, const char *const expression)
{
	if (program->compiled)
		return ABI_NVRTC_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	if (program->expression_count == MOST)
		return ABI_NVRTC_OUT_OF_MEMORY;
	program->expressions[program->expression_count++] = strdup(expression);
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetLoweredName(nvrtc_program program, const char *const expression,
                                 const char **lowered)
{
	if (!program->compiled)
		return ABI_NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (int i = 0; i < program->expression_count; i++)
		if (strcmp(program->expressions[i], expression) == 0 && program->lowered[i]) {
			*lowered = program->lowered[i];
			return ABI_NVRTC_SUCCESS;
		}
	return ABI_NVRTC_NAME_EXPRESSION_NOT_VALID;
}

// ---- texts that grow

static void put(char **text, size_t *size, const char *format, ...)
{
	va_list arguments;
	char *more = NULL, *joined = NULL;

	va_start(arguments, format);
	if (vasprintf(&more, format, arguments) < 0)
		abort();
	va_end(arguments);
	if (asprintf(&joined, "%s%s", *text ? *text : "", more) < 0)
		abort();
	free(*text);
	free(more);
	*text = joined;
	*size = strlen(joined) + 1;
}
#define LOG(program, ...) put(&(program)->log, &(program)->log_size, __VA_ARGS__)
#define PTX(program, ...) put(&(program)->ptx, &(program)->ptx_size, __VA_ARGS__)

// ---- options

static bool architecture_is_known(const char *text)
{
	int list[MOST], count = architectures(list), wanted;
	char kind[16];

	if (sscanf(text, "%15[a-z]_%d", kind, &wanted) != 2 ||
	    (strcmp(kind, "sm") != 0 && strcmp(kind, "compute") != 0))
		return false;
	for (int i = 0; i < count; i++)
		if (list[i] == wanted)
			return true;
	return false;
}

static bool take_option(nvrtc_program program, const char *option, const char **architecture)
{
	static const char *const known[] = { "-I",
		                             "--include-path=",
		                             "-D",
		                             "--define-macro=",
		                             "--std=",
		                             "-std=",
		                             "--use_fast_math",
		                             "-use_fast_math",
		                             "-w",
		                             "-lineinfo",
		                             "--fmad=",
		                             "--maxrregcount=" };
	const char *value = strchr(option, '=');

	if (strncmp(option, "-arch=", 6) == 0 || strncmp(option, "--gpu-architecture=", 19) == 0) {
		*architecture = value + 1;
		if (architecture_is_known(value + 1))
			return true;
		LOG(program, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
		return false;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strncmp(option, known[i], strlen(known[i])) == 0)
			return true;
	LOG(program, "nvrtc: error: unrecognized option %s found\n", option);
	return false;
}

// ---- the source

static bool can_include(const char *name, int option_count, const char *const *options)
{
	char path[4096];

	for (int i = 0; i < option_count; i++) {
		if (strncmp(options[i], "-I", 2) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", options[i] + 2, name);
		FILE *file = fopen(path, "r");
		if (file) {
			fclose(file);
			return true;
		}
	}
	return false;
}

// Directives are done, and comments, strings and directives made blank. 0 or a result.
static nvrtc_result preprocess(nvrtc_program program, int option_count, const char *const *options)
{
	nvrtc_result result = ABI_NVRTC_SUCCESS;
	int line = 1;

	for (char *at = program->source; *at; at++) {
		size_t length = 0;
		char name[WORD];
		line += *at == '\n';
		if (at[0] == '/' && at[1] == '/')
			length = strcspn(at, "\n");
		else if (at[0] == '/' && at[1] == '*')
			length = strstr(at + 2, "*/") ? (size_t)(strstr(at + 2, "*/") + 2 - at)
			                              : strlen(at);
		else if (*at == '#')
			length = strcspn(at, "\n");
		if (sscanf(at, "#include %*[<\"]%127[^>\"]", name) == 1 &&
		    !can_include(name, option_count, options)) {
			LOG(program,
			    "%s(%d): catastrophic error: could not open source file \"%s\" (no "
			    "directories in search list)\n",
			    program->name, line, name);
			result = ABI_NVRTC_COMPILATION;
		} else if (strncmp(at, "#error", 6) == 0) {
			LOG(program, "%s(%d): error: #error directive:%.*s\n", program->name, line,
			    (int)length - 6, at + 6);
			result = ABI_NVRTC_COMPILATION;
		} else if (strncmp(at, "#warning", 8) == 0) {
			LOG(program, "%s(%d): warning #1105-D: #warning directive:%.*s\n",
			    program->name, line, (int)length - 8, at + 8);
		}
		for (size_t i = 0; i < length; i++) {
			line += at[i] == '\n';
			at[i] = at[i] == '\n' ? '\n' : ' ';
		}
	}
	return result;
}

// The next word, string or sign.
static bool next(const char **at, char word[WORD])
{
	size_t length = 0;

	while (isspace((unsigned char)**at))
		++*at;
	if (!**at)
		return false;
	if (**at == '"')
		length = 2 + strcspn(*at + 1, "\"");
	while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_')
		length++;
	length += length == 0;
	snprintf(word, WORD, "%.*s", (int)length, *at);
	*at += length;
	return true;
}

static void skip_body(const char **at)
{
	char word[WORD];
	int depth = 1;

	while (depth && next(at, word))
		depth += (word[0] == '{') - (word[0] == '}');
}

// Heads of functions at file and namespace level.
static nvrtc_result parse(nvrtc_program program)
{
	char word[WORD], before[WORD] = "", space[WORD] = "", name[WORD] = "", parameters[512] = "";
	bool global = false, device = false, template = false, c = false, opens = false,
	     list = false;
	int depth = 0;
	const char *at = program->source;

	while (next(&at, word)) {
		global |= strcmp(word, "__global__") == 0;
		device |= strcmp(word, "__device__") == 0 || strcmp(word, "struct") == 0;
		template |= strcmp(word, "template") == 0;
		c |= strcmp(word, "\"C\"") == 0;
		opens |= strcmp(word, "namespace") == 0;
		if (strcmp(before, "namespace") == 0)
			snprintf(space, WORD, "%s", word);
		if (word[0] == '(') {
			size_t length = strcspn(at, ")");
			if (strcmp(before, "__launch_bounds__") != 0) {
				snprintf(name, WORD, "%s", before);
				snprintf(parameters, sizeof parameters, "%.*s", (int)length, at);
				list = true;
			}
			at += length + (at[length] == ')');
		} else if (word[0] == '{' && opens) {
			depth++;
			opens = false;
		} else if (word[0] == '{') {
			if (list && !global && !device) {
				LOG(program,
				    "%s: error: '%s' is considered a host function, and those are "
				    "not allowed in JIT mode\n",
				    program->name, name);
				return ABI_NVRTC_COMPILATION;
			}
			if (global && program->kernel_count < MOST) {
				struct kernel *kernel = &program->kernels[program->kernel_count++];
				*kernel = (struct kernel){ .c = c, .template = template };
				memcpy(kernel->name, name, WORD);
				memcpy(kernel->space, depth ? space : "", depth ? WORD : 1);
				memcpy(kernel->parameters, parameters, sizeof parameters);
			}
			const char *begin = at;
			skip_body(&at);
			if (at[-1] != '}' || at == begin) {
				LOG(program, "%s: error: expected a \"}\"\n", program->name);
				return ABI_NVRTC_COMPILATION;
			}
		}
		if (strchr(";{}", word[0])) {
			depth -= word[0] == '}';
			global = device = template = c = list = false;
		}
		memcpy(before, word, WORD);
	}
	return ABI_NVRTC_SUCCESS;
}

// ---- PTX

// One parameter's PTX type and its letter in a mangled name.
static void type_of(const char *text, char ptx[32], char letters[8])
{
	static const struct {
		const char *words, *ptx, *letter;
	} rows[] = {
		{ "unsigned char", ".u8", "h" },
		{ "unsigned short", ".u16", "t" },
		{ "unsigned long long", ".u64", "y" },
		{ "long long", ".u64", "x" },
		{ "size_t", ".u64", "m" },
		{ "unsigned", ".u32", "j" },
		{ "uint", ".u32", "j" },
		{ "int", ".u32", "i" },
		{ "double", ".f64", "d" },
		{ "float", ".f32", "f" },
		{ "short", ".u16", "s" },
		{ "char", ".u8", "c" },
	};
	size_t row = 0, count = sizeof rows / sizeof *rows;

	while (row < count && !strstr(text, rows[row].words))
		row++;
	if (strchr(text, '*')) {
		strcpy(ptx, ".u64");
		snprintf(letters, 8, "P%s%s", strstr(text, "const") ? "K" : "",
		         row < count ? rows[row].letter : "v");
	} else {
		strcpy(ptx, row < count ? rows[row].ptx : ".align 4 .b8");
		strcpy(letters, row < count ? rows[row].letter : "1S");
	}
}

static void emit(nvrtc_program program, const struct kernel *kernel, const char *arguments,
                 char *lowered)
{
	char copy[512], *rest = copy, *text, letters[MOST * 8] = "", types[MOST][32];
	int count = 0;

	memcpy(copy, kernel->parameters, sizeof copy);
	while (count < MOST && (text = strsep(&rest, ","))) {
		char letter[8];
		if (strspn(text, " \t\n") == strlen(text) || strcmp(text, "void") == 0)
			continue;
		type_of(text, types[count++], letter);
		strcat(letters, letter);
	}
	if (kernel->c)
		snprintf(lowered, 512, "%s", kernel->name);
	else if (kernel->space[0])
		snprintf(lowered, 512, "_ZN%zu%s%zu%s%sE%s%s", strlen(kernel->space), kernel->space,
		         strlen(kernel->name), kernel->name, arguments, arguments[0] ? "v" : "",
		         count ? letters : "v");
	else
		snprintf(lowered, 512, "_Z%zu%s%s%s%s", strlen(kernel->name), kernel->name,
		         arguments, arguments[0] ? "v" : "", count ? letters : "v");
	PTX(program, "\n.visible .entry %s(", lowered);
	for (int i = 0; i < count; i++)
		PTX(program, "%s\n\t.param %s %s_param_%d%s", i ? "," : "", types[i], lowered, i,
		    strstr(types[i], ".b8") ? "[8]" : "");
	PTX(program, "\n)\n{\n\tret;\n}\n");
}

// An expression's kernel; its arguments are written as one, "I" letter "E".
static nvrtc_result lower(nvrtc_program program, int index)
{
	const char *expression = program->expressions[index];
	const char *begin = expression + (*expression == '&'), *angle = strchr(begin, '<');
	char wanted[WORD], lowered[512], ptx[32], letters[8], arguments[16] = "";

	snprintf(wanted, WORD, "%.*s", angle ? (int)(angle - begin) : (int)strlen(begin), begin);
	for (int i = 0; i < program->kernel_count; i++) {
		const struct kernel *kernel = &program->kernels[i];
		char full[2 * WORD + 2];
		snprintf(full, sizeof full, "%s%s%s", kernel->space, kernel->space[0] ? "::" : "",
		         kernel->name);
		if (strcmp(full, wanted) != 0 || kernel->template != (angle != NULL))
			continue;
		if (angle) {
			type_of(angle, ptx, letters);
			snprintf(arguments, sizeof arguments, "I%sE", letters);
			emit(program, kernel, arguments, lowered);
		} else {
			snprintf(lowered, sizeof lowered, "%s", "");
			for (const char *at = program->ptx;
			     (at = strstr(at, ".entry ")) && !lowered[0];) {
				at += 7;
				if (strcspn(at, "(") > strlen(kernel->name) &&
				    strstr(at, kernel->name) &&
				    strstr(at, kernel->name) < at + strcspn(at, "("))
					snprintf(lowered, sizeof lowered, "%.*s",
					         (int)strcspn(at, "("), at);
			}
		}
		program->lowered[index] = strdup(lowered);
		return ABI_NVRTC_SUCCESS;
	}
	LOG(program, "error: identifier \"%s\" is undefined\n", wanted);
	return ABI_NVRTC_COMPILATION;
}

nvrtc_result nvrtcCompileProgram(nvrtc_program program, int option_count,
                                 const char *const *options)
{
	const char *architecture = "compute_75";
	nvrtc_result result = ABI_NVRTC_SUCCESS;
	char lowered[512];
	int major, minor;

	LOG(program, "%s", "");
	if (script("no_builtins")) {
		LOG(program, "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n");
		return ABI_NVRTC_BUILTIN_OPERATION_FAILURE;
	}
	for (int i = 0; i < option_count; i++)
		if (!take_option(program, options[i], &architecture))
			return ABI_NVRTC_INVALID_OPTION;
	result = preprocess(program, option_count, options);
	if (result == ABI_NVRTC_SUCCESS)
		result = parse(program);
	nvrtcVersion(&major, &minor);
	PTX(program,
	    "//\n// Written by a stand-in\n//\n\n.version %d.%d\n.target sm_%s\n.address_size "
	    "64\n",
	    major - 4, minor, strchr(architecture, '_') + 1);
	for (int i = 0; result == ABI_NVRTC_SUCCESS && i < program->kernel_count; i++)
		if (!program->kernels[i].template)
			emit(program, &program->kernels[i], "", lowered);
	for (int i = 0; result == ABI_NVRTC_SUCCESS && i < program->expression_count; i++)
		result = lower(program, i);
	// An ELF file's first bytes, and then the PTX again for the stand-in of the driver.
	if (strncmp(architecture, "sm", 2) == 0)
		put(&program->cubin, &program->cubin_size, "\177ELF\n%s", program->ptx);
	program->compiled = result == ABI_NVRTC_SUCCESS;
	return result;
}

// ---- results

nvrtc_result nvrtcGetPTXSize(nvrtc_program program, size_t *bytes)
{
	*bytes = program->compiled ? program->ptx_size : 0;
	return program->compiled ? ABI_NVRTC_SUCCESS : ABI_NVRTC_INVALID_PROGRAM;
}

nvrtc_result nvrtcGetPTX(nvrtc_program program, char *ptx)
{
	memcpy(ptx, program->ptx, program->ptx_size);
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetCUBINSize(nvrtc_program program, size_t *bytes)
{
	*bytes = program->cubin_size;
	return program->compiled ? ABI_NVRTC_SUCCESS : ABI_NVRTC_INVALID_PROGRAM;
}

nvrtc_result nvrtcGetCUBIN(nvrtc_program program, char *cubin)
{
	memcpy(cubin, program->cubin, program->cubin_size);
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetProgramLogSize(nvrtc_program program, size_t *bytes)
{
	*bytes = program->log_size;
	return ABI_NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetProgramLog(nvrtc_program program, char *log)
{
	memcpy(log, program->log, program->log_size);
	return ABI_NVRTC_SUCCESS;
}
