// SPDX-License-Identifier: Apache-2.0
#include "blocks/compile.h"

#include "blocks/tools/arguments.h"
#include "blocks/tools/legal.h"
#include "blocks/tools/tool.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Largest BUILD that is read.
#define MOST_BYTES (UINT64_C(256) << 20)

// One build on its way through the tools.
struct work {
	const char *folder;
	bool samples, unoptimised;
	struct tare_blocks_build *build;
	const struct blocks_build *head;
	const char *options, *extensions, *version, *platform, *text; // with ends, malloc
	struct tare_blocks_tools tools;
};

static void path_of(const char *folder, uint64_t hash, const char *suffix, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%016" PRIx64 "%s", folder, hash, suffix);
}

// The whole file, malloc, with an end behind it; NULL (errno).
static void *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *data = NULL;

	*bytes = 0;
	if (!file)
		return NULL;
	if (fstat(fileno(file), &status) == 0 && (uint64_t)status.st_size <= MOST_BYTES)
		data = malloc((size_t)status.st_size + 1);
	if (data) {
		*bytes = fread(data, 1, (size_t)status.st_size, file);
		data[*bytes] = '\0';
	}
	fclose(file);
	return data;
}

static int write_file(const char *path, const void *const *parts, const size_t *bytes, int count)
{
	FILE *file = fopen(path, "we");
	bool well = file != NULL;

	for (int i = 0; well && i < count; i++)
		well = bytes[i] == 0 || fwrite(parts[i], 1, bytes[i], file) == bytes[i];
	if (file && fclose(file) != 0)
		well = false;
	return well ? 0 : errno ? -errno : -EIO;
}

// ---- the tools

// The number behind "LLVM " in a platform's version, PoCL's; 0: there is none.
static unsigned llvm_of(const char *platform)
{
	const char *at = strstr(platform, "LLVM ");

	return at ? (unsigned)strtoul(at + strlen("LLVM "), NULL, 10) : 0;
}

static int translate_in(const char *folder, const struct tare_blocks_build *build, const char *from,
                        const char *to, bool back, struct tare_error *error)
{
	char said[PATH_MAX];
	const char *arguments[] = { build->translator, from, "-o", to, back ? "-r" : NULL, NULL };

	path_of(folder, build->hash, ".said", said);
	return tare_blocks_tool_run(arguments, said, error);
}

static int translate(const struct work *work, const char *from, const char *to,
                     struct tare_error *error)
{
	return translate_in(work->folder, work->build, from, to, false, error);
}

enum wanted { OPTIMISED, OPTIMISED_WITH_LOOPS, TEXT };

// OpenCL C to LLVM's bitcode, or to its text before any optimisation. *optimised: it is bitcode
// that was optimised.
static int compile_to(struct work *work, enum wanted wanted, const char *output, bool *optimised,
                      struct tare_error *error)
{
	struct tare_blocks_arguments arguments;
	char source[PATH_MAX], said[PATH_MAX];
	const void *parts[] = { work->text };
	size_t bytes[] = { strlen(work->text) };

	*optimised = false;
	path_of(work->folder, work->build->hash, ".cl", source);
	path_of(work->folder, work->build->hash, ".said", said);
	int status = write_file(source, parts, bytes, 1);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written", source);
	const struct tare_blocks_request request = { .clang = work->tools.clang,
		                                     .options = work->options,
		                                     .extensions = work->extensions,
		                                     .version = work->version,
		                                     .images = work->head->images,
		                                     .unoptimised = wanted == TEXT,
		                                     .keeps_loops = wanted == OPTIMISED_WITH_LOOPS,
		                                     .as_written = work->unoptimised,
		                                     .source = source,
		                                     .output = output };
	status = tare_blocks_arguments_make(&request, &arguments, error);
	if (status < 0)
		return status;
	snprintf(work->build->level, sizeof work->build->level, "%s", arguments.level);
	status = tare_blocks_tool_run((const char *const *)arguments.at, said, error);
	*optimised = status == 0 && arguments.optimises;
	tare_blocks_arguments_free(&arguments);
	return status;
}

// LLVM's text to text optimised at -O1, or to bitcode as it is.
static int lower(const struct work *work, const char *from, const char *to, bool optimise,
                 struct tare_error *error)
{
	char said[PATH_MAX];
	const char *arguments[] = { work->tools.clang,
		                    "-target",
		                    "spir64-unknown-unknown",
		                    "-x",
		                    "ir",
		                    optimise ? "-S" : "-c",
		                    "-emit-llvm",
		                    "-O1",
		                    TARE_BLOCKS_KEEPS_LOOPS,
		                    from,
		                    "-o",
		                    to,
		                    optimise ? NULL : "-Xclang",
		                    "-disable-llvm-passes",
		                    NULL };

	path_of(work->folder, work->build->hash, ".said", said);
	return tare_blocks_tool_run(arguments, said, error);
}

// The long way, for what the translator refuses: less is optimised, and what it does not know is
// avoided (legal.h).
static int compile_less(struct work *work, const char *spirv, struct tare_error *error)
{
	char text[PATH_MAX], said[PATH_MAX], less[PATH_MAX], legal[PATH_MAX], bitcode[PATH_MAX];
	bool optimised;

	path_of(work->folder, work->build->hash, ".ll", text);
	path_of(work->folder, work->build->hash, ".widths.ll", said);
	path_of(work->folder, work->build->hash, ".less.ll", less);
	path_of(work->folder, work->build->hash, ".legal.ll", legal);
	path_of(work->folder, work->build->hash, ".legal.bc", bitcode);
	int status = compile_to(work, TEXT, text, &optimised, error);
	status = status ?: tare_blocks_legalise(text, said, TARE_BLOCKS_WIDTHS_SAID, error);
	status = status ?: lower(work, said, less, true, error);
	status = status ?: tare_blocks_legalise(less, legal, TARE_BLOCKS_FREEZES_GONE, error);
	status = status ?: lower(work, legal, bitcode, false, error);
	status = status ?: translate(work, bitcode, spirv, error);
	snprintf(work->build->level, sizeof work->build->level,
	         "-O1 (at -O2 it is not translated)");
	return status;
}

// Translators refuse some of what the optimiser makes (integers of 2 or 33 bits): less of it is
// better than nothing, and is said.
static int compile(struct work *work, const char *spirv, struct tare_error *error)
{
	struct tare_error again = { 0 }, least = { 0 };
	char bitcode[PATH_MAX];
	bool optimised;

	path_of(work->folder, work->build->hash, ".bc", bitcode);
	int status = compile_to(work, OPTIMISED, bitcode, &optimised, error);
	status = status ?: translate(work, bitcode, spirv, error);
	if (status == 0 || !optimised)
		return status;
	int less = compile_to(work, OPTIMISED_WITH_LOOPS, bitcode, &optimised, &again);
	less = less ?: translate(work, bitcode, spirv, &again);
	if (less < 0 && (less = compile_less(work, spirv, &least)) == 0)
		again = least;
	*error = again;
	return less;
}

// ---- a module

int tare_blocks_module_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const void *spirv, size_t bytes,
                             struct tare_error *error)
{
	char path[PATH_MAX], from[PATH_MAX], bitcode[PATH_MAX];
	const void *parts[] = { spirv, NULL, NULL };
	size_t sizes[] = { bytes, 0, 0 };
	// Level Zero's drivers take SPIR-V.
	bool translates = build->translator[0] && build->api == BLOCKS_OPENCL;

	path_of(folder, build->hash, ".made.spv", from);
	path_of(folder, build->hash, ".made.bc", bitcode);
	path_of(folder, build->hash, BLOCKS_MODULE_SUFFIX, path);
	int status = write_file(from, parts, sizes, 1);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written", from);
	if (translates) {
		status = translate_in(folder, build, from, bitcode, true, error);
		parts[2] = status == 0 ? read_file(bitcode, &sizes[2]) : NULL;
	}
	if (status < 0)
		return status;
	head->magic = BLOCKS_MAGIC;
	head->spirv_bytes = sizes[1] = bytes;
	head->bitcode_bytes = sizes[2];
	snprintf(head->options, sizeof head->options, "%s", build->driver_options);
	parts[0] = head;
	sizes[0] = sizeof *head;
	parts[1] = spirv;
	status = write_file(path, parts, sizes, 3);
	free((void *)(uintptr_t)parts[2]);
	return status < 0 ? tare_fail(error, -status, "%.200s cannot be written", path) : 0;
}

int tare_blocks_source_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const char *source, const char *options,
                             struct tare_error *error)
{
	char path[PATH_MAX];
	const void *parts[] = { head, source, options };
	size_t sizes[] = { sizeof *head, strlen(source) + 1, strlen(options) + 1 };

	head->magic = BLOCKS_MAGIC;
	head->source_bytes = sizes[1];
	head->source_options_bytes = sizes[2];
	path_of(folder, build->hash, BLOCKS_MODULE_SUFFIX, path);
	int status = write_file(path, parts, sizes, 3);
	return status < 0 ? tare_fail(error, -status, "%.200s cannot be written", path) : 0;
}

static int make_module(struct work *work, struct tare_error *error)
{
	struct tare_blocks_instrumented made;
	int status = tare_blocks_instrument(&work->build->module, &work->build->plan, &made, error);

	if (status < 0)
		return status;
	struct blocks_module head = { .rows = made.rows,
		                      .row_counters = made.row_counters,
		                      .sample_items = made.layout.items,
		                      .sample_words = made.layout.words };
	status = tare_blocks_module_write(work->folder, work->build, &head, made.data, made.bytes,
	                                  error);
	work->build->counter_bytes =
	    ((uint64_t)made.rows * made.row_counters + TARE_BLOCKS_SAMPLE_HEAD +
	     (uint64_t)made.layout.items * made.layout.words) *
	    8;
	work->build->made = status == 0;
	free(made.data);
	return status;
}

static int make(struct work *work, size_t text_bytes, struct tare_error *error)
{
	char spirv[PATH_MAX];
	size_t bytes = text_bytes;
	bool own = work->build->language == BLOCKS_OPENCL_C;
	int status = tare_blocks_tools_find(llvm_of(work->platform), &work->tools, error);

	work->build->api = (enum blocks_api)work->head->api;
	tare_blocks_driver_options(work->options, work->build->driver_options,
	                           sizeof work->build->driver_options);
	if (status == 0) {
		snprintf(work->build->clang, sizeof work->build->clang, "%s", work->tools.clang);
		snprintf(work->build->translator, sizeof work->build->translator, "%s",
		         work->tools.translator);
	}
	// SPIR-V of the program's own needs no compiler where the driver takes SPIR-V.
	if (status < 0 && own)
		return status;
	path_of(work->folder, work->build->hash, ".spv", spirv);
	snprintf(work->build->level, sizeof work->build->level, "as the program brought it");
	status = own ? compile(work, spirv, error) : 0;
	if (status < 0)
		return status;
	void *data = own ? read_file(spirv, &bytes) : NULL;
	if (own && !data)
		return tare_fail(error, EIO, "%.200s cannot be read", spirv);
	status =
	    tare_blocks_module_read(own ? data : work->text, bytes, &work->build->module, error);
	free(data);
	status = status ?: tare_blocks_plan_make(&work->build->module, &work->build->plan, error);
	work->build->plan.samples = work->samples;
	return status ?: make_module(work, error);
}

// ---- a build

// How the builds of a folder are made.
struct how {
	const char *folder;
	bool samples, unoptimised;
};

static char *part(const char **at, size_t bytes)
{
	char *text = malloc(bytes + 1);

	if (text) {
		memcpy(text, *at, bytes);
		text[bytes] = '\0';
	}
	*at += bytes;
	return text;
}

static void make_build(const struct how *how, struct tare_blocks_build *build, const char *data,
                       size_t bytes)
{
	struct work work = { .folder = how->folder,
		             .samples = how->samples,
		             .unoptimised = how->unoptimised,
		             .build = build };
	struct blocks_build head;

	memcpy(&head, data, sizeof head);
	const char *at = data + sizeof head;
	uint64_t whole = (uint64_t)head.options_bytes + head.extensions_bytes + head.version_bytes +
	                 head.platform_bytes;
	if (head.magic != BLOCKS_MAGIC || head.text_bytes > bytes ||
	    sizeof head + whole + head.text_bytes != bytes) {
		tare_fail(&build->why, EINVAL, "what the program was built from was cut off");
		return;
	}
	work.head = &head;
	build->language = (enum blocks_language)head.language;
	char *options = part(&at, head.options_bytes),
	     *extensions = part(&at, head.extensions_bytes),
	     *version = part(&at, head.version_bytes), *platform = part(&at, head.platform_bytes);
	build->text = part(&at, (size_t)head.text_bytes);
	if (options && extensions && version && platform && build->text) {
		work.options = options;
		work.extensions = extensions;
		work.version = version;
		work.platform = platform;
		work.text = build->text;
		snprintf(build->options, sizeof build->options, "%s", options);
		build->all_options = options;
		make(&work, (size_t)head.text_bytes, &build->why);
		options = NULL;
	} else {
		tare_fail(&build->why, ENOMEM, "out of memory");
	}
	free(options);
	free(extensions);
	free(version);
	free(platform);
}

static bool is_build(const char *name, uint64_t *hash)
{
	char *end;

	if (strlen(name) != 16 + strlen(BLOCKS_BUILD_SUFFIX))
		return false;
	*hash = strtoull(name, &end, 16);
	return end == name + 16 && strcmp(end, BLOCKS_BUILD_SUFFIX) == 0;
}

static int add_build(const struct how *how, uint64_t hash, struct tare_blocks_builds *builds)
{
	struct tare_blocks_build *at =
	    realloc(builds->at, (builds->count + 1) * sizeof *builds->at);
	char path[PATH_MAX];
	size_t bytes;

	if (!at)
		return -ENOMEM;
	builds->at = at;
	struct tare_blocks_build *build = &at[builds->count++];
	*build = (struct tare_blocks_build){ .hash = hash };
	snprintf(build->source, sizeof build->source, "%016" PRIx64 ".cl", hash);
	path_of(how->folder, hash, BLOCKS_BUILD_SUFFIX, path);
	char *data = read_file(path, &bytes);
	if (data && bytes >= sizeof(struct blocks_build))
		make_build(how, build, data, bytes);
	else
		tare_fail(&build->why, EIO, "%.200s cannot be read", path);
	free(data);
	return 0;
}

static int compile_all(const struct how *how, struct tare_blocks_builds *builds,
                       struct tare_error *error)
{
	DIR *list = opendir(how->folder);
	int status = 0;

	*builds = (struct tare_blocks_builds){ .count = 0 };
	if (!list)
		return tare_fail(error, errno, "%.200s cannot be read", how->folder);
	for (struct dirent *entry; status == 0 && (entry = readdir(list));) {
		uint64_t hash;
		if (is_build(entry->d_name, &hash))
			status = add_build(how, hash, builds);
	}
	closedir(list);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}

int tare_blocks_compile(const char *folder, bool samples, struct tare_blocks_builds *builds,
                        struct tare_error *error)
{
	const struct how how = { .folder = folder, .samples = samples };

	return compile_all(&how, builds, error);
}

int tare_blocks_compile_unoptimised(const char *folder, struct tare_blocks_builds *builds,
                                    struct tare_error *error)
{
	const struct how how = { .folder = folder, .unoptimised = true };

	return compile_all(&how, builds, error);
}

const char *tare_blocks_clang(const struct tare_blocks_builds *builds)
{
	for (size_t i = 0; i < builds->count; i++)
		if (builds->at[i].clang[0])
			return builds->at[i].clang;
	return "";
}

void tare_blocks_builds_free(struct tare_blocks_builds *builds)
{
	for (size_t i = 0; i < builds->count; i++) {
		tare_blocks_module_free(&builds->at[i].module);
		tare_blocks_plan_free(&builds->at[i].plan);
		free(builds->at[i].text);
		free(builds->at[i].all_options);
	}
	free(builds->at);
	*builds = (struct tare_blocks_builds){ .count = 0 };
}
