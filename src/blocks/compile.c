// SPDX-License-Identifier: Apache-2.0
#include "blocks/compile.h"

#include "blocks/bodies.h"
#include "blocks/parts.h"
#include "blocks/tools/arguments.h"
#include "blocks/tools/fused.h"
#include "blocks/tools/legal.h"
#include "blocks/tools/tool.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One build on its way through the tools.
struct work {
	const char *folder;
	bool samples, unoptimised;
	bool bodies; // functions that are `inline` and no more get one (bodies.h)
	struct tare_blocks_build *build;
	struct tare_blocks_parts parts;
	struct tare_blocks_tools tools;
};

// ---- the tools

// The number behind "LLVM " in a platform's version, PoCL's; 0: there is none.
static unsigned llvm_of(const char *platform)
{
	const char *at = strstr(platform, "LLVM ");

	return at ? (unsigned)strtoul(at + strlen("LLVM "), NULL, 10) : 0;
}

static int translate(const struct work *work, const char *from, const char *to,
                     struct tare_error *error)
{
	int status = tare_blocks_translate(work->folder, work->build, from, to, false, error);

	struct tare_blocks_build *build = work->build;
	bool may_fuse =
	         status == 0 && build->language == BLOCKS_OPENCL_C && tare_blocks_may_fuse(from),
	     calls_mad = may_fuse && tare_blocks_calls_mad(from);

	build->fuses = may_fuse && !calls_mad;
	build->mads_alike = calls_mad && build->api == BLOCKS_OPENCL;
	return status;
}

enum wanted { OPTIMISED, OPTIMISED_WITH_LOOPS, TEXT, PART };

// An input in OpenCL C to LLVM's bitcode, or to its text or bitcode before any optimisation.
// *optimises: its options ask for it.
static int compile_input(struct work *work, const struct tare_blocks_input *input,
                         enum wanted wanted, const char *output, bool *optimises,
                         struct tare_error *error)
{
	struct tare_blocks_arguments arguments;
	char source[PATH_MAX], said[PATH_MAX], list[PATH_MAX], headers[PATH_MAX];
	const void *pieces[] = { input->text };
	size_t bytes[] = { strlen(input->text) };
	const bool headed = input->head.headers != 0;

	*optimises = false;
	tare_blocks_path(work->folder, input->hash, ".cl", source);
	tare_blocks_path(work->folder, input->hash, TARE_BLOCKS_LIST_SUFFIX, list);
	tare_blocks_path(work->folder, input->hash, TARE_BLOCKS_FOLDER_SUFFIX, headers);
	tare_blocks_path(work->folder, work->build->hash, ".said", said);
	int status = tare_blocks_file_write(source, pieces, bytes, 1);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written: %s", source,
		                 strerror(-status));
	const struct tare_blocks_request request = { .clang = work->tools.clang,
		                                     .options = input->options,
		                                     .extensions = input->extensions,
		                                     .version = input->version,
		                                     .images = input->head.images,
		                                     .unoptimised = wanted >= TEXT,
		                                     .as_text = wanted == TEXT,
		                                     .keeps_loops = wanted == OPTIMISED_WITH_LOOPS,
		                                     .as_written = work->unoptimised,
		                                     .bodies = work->bodies,
		                                     .list = headed ? list : NULL,
		                                     .headers = headed ? headers : NULL,
		                                     .source = source,
		                                     .output = output };
	status = tare_blocks_arguments_make(&request, &arguments, error);
	if (status < 0)
		return status;
	snprintf(work->build->level, sizeof work->build->level, "%s", arguments.level);
	status = tare_blocks_tool_run((const char *const *)arguments.at, said, error);
	*optimises = arguments.optimises;
	tare_blocks_arguments_free(&arguments);
	return status;
}

// LLVM's text to text that is optimised at -O1, or to bitcode: as it is, or optimised.
enum lowered { LESS, AS_IT_IS, WHOLE, WHOLE_WITH_LOOPS };

static int lower(const struct work *work, const char *from, const char *to, enum lowered how,
                 struct tare_error *error)
{
	static const char *const always[] = { "-target", "spir64-unknown-unknown", "-x", "ir",
		                              "-emit-llvm" };
	static const char *const loops[] = { TARE_BLOCKS_KEEPS_LOOPS };
	const char *arguments[24] = { work->tools.clang };
	char said[PATH_MAX];
	size_t used = 1;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		arguments[used++] = always[i];
	for (size_t i = 0; how != WHOLE && i < sizeof loops / sizeof *loops; i++)
		arguments[used++] = loops[i];
	arguments[used++] = how == LESS ? "-S" : "-c";
	arguments[used++] = how == LESS || how == AS_IT_IS ? "-O1" : "-O2";
	arguments[used++] = from;
	arguments[used++] = "-o";
	arguments[used++] = to;
	if (how == AS_IT_IS) {
		arguments[used++] = "-Xclang";
		arguments[used++] = "-disable-llvm-passes";
	}
	tare_blocks_path(work->folder, work->build->hash, ".said", said);
	return tare_blocks_tool_run(arguments, said, error);
}

// ---- parts

// A part to bitcode before any optimisation. *optimises: it asks for one.
static int compile_part(struct work *work, const struct tare_blocks_input *part, const char *output,
                        bool *optimises, struct tare_error *error)
{
	char spirv[PATH_MAX];
	const void *pieces[] = { part->text };
	size_t bytes[] = { (size_t)part->head.text_bytes };

	*optimises = false;
	if (part->head.language == BLOCKS_OPENCL_C)
		return compile_input(work, part, PART, output, optimises, error);
	tare_blocks_path(work->folder, part->hash, ".part.spv", spirv);
	int status = tare_blocks_file_write(spirv, pieces, bytes, 1);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written: %s", spirv,
		                 strerror(-status));
	return tare_blocks_translate(work->folder, work->build, spirv, output, true, error);
}

// Joins bitcode into one text. clang does it beside the compilation of an empty file; llvm-link
// would be one more package.
static int link_parts(const struct work *work, const char *output, struct tare_error *error)
{
	static const char *const always[] = {
		"-target", "spir64-unknown-unknown", "-x",        "c", "-S", "-emit-llvm", "-O2",
		"-Xclang", "-disable-llvm-passes",   "/dev/null", "-o"
	};
	enum { FIXED = sizeof always / sizeof *always, EACH = 4 };
	const uint32_t count = work->parts.count;
	const char **arguments = calloc(FIXED + 3 + EACH * (size_t)count, sizeof *arguments);
	char(*paths)[PATH_MAX] = calloc((size_t)count + 1, sizeof *paths);
	char said[PATH_MAX];
	size_t used = 0;
	int status = arguments && paths ? 0 : tare_fail(error, ENOMEM, "out of memory");

	if (status == 0)
		arguments[used++] = work->tools.clang;
	for (size_t i = 0; status == 0 && i < FIXED; i++)
		arguments[used++] = always[i];
	if (status == 0)
		arguments[used++] = output;
	for (uint32_t i = 0; status == 0 && i < count; i++) {
		tare_blocks_path(work->folder, work->parts.at[i].hash, ".part.bc", paths[i]);
		arguments[used++] = "-Xclang";
		arguments[used++] = "-mlink-bitcode-file";
		arguments[used++] = "-Xclang";
		arguments[used++] = paths[i];
	}
	tare_blocks_path(work->folder, work->build->hash, ".said", said);
	status = status ?: tare_blocks_tool_run(arguments, said, error);
	free(arguments);
	free(paths);
	return status;
}

// Compiles the parts, and joins them to one text, which is written. *optimises: one of them asks
// for it.
static int join(struct work *work, const char *text, bool *optimises, struct tare_error *error)
{
	char linked[PATH_MAX], bitcode[PATH_MAX];
	int status = 0;

	*optimises = false;
	for (uint32_t i = 0; status == 0 && i < work->parts.count; i++) {
		bool asks;
		tare_blocks_path(work->folder, work->parts.at[i].hash, ".part.bc", bitcode);
		status = compile_part(work, &work->parts.at[i], bitcode, &asks, error);
		*optimises |= asks;
	}
	tare_blocks_path(work->folder, work->build->hash, ".linked.ll", linked);
	status = status ?: link_parts(work, linked, error);
	return status ?: tare_blocks_legalise(linked, text, TARE_BLOCKS_ONE_VERSION, error);
}

// ---- either

#define PARTS_JOINED "; %" PRIu32 " parts joined"

static void tell_level(struct work *work, bool optimises, bool loops)
{
	snprintf(work->build->level, sizeof work->build->level, "%s%s" PARTS_JOINED,
	         optimises                               ? "-O2"
	         : work->build->language == BLOCKS_SPIRV ? "as the program brought it"
	                                                 : "-cl-opt-disable",
	         optimises && loops ? ", no loop made a formula" : "", work->parts.count);
}

// The whole build to LLVM's bitcode, or to its text before any optimisation. *optimised: it is
// bitcode that was optimised.
static int compile_to(struct work *work, enum wanted wanted, const char *output, bool *optimised,
                      struct tare_error *error)
{
	char text[PATH_MAX];
	bool loops = wanted == OPTIMISED_WITH_LOOPS, optimises;

	*optimised = false;
	if (!work->build->parts) {
		int status =
		    compile_input(work, &work->parts.at[0], wanted, output, &optimises, error);
		*optimised = status == 0 && optimises;
		return status;
	}
	tare_blocks_path(work->folder, work->build->hash, ".joined.ll", text);
	int status = join(work, wanted == TEXT ? output : text, &optimises, error);
	if (status == 0 && wanted != TEXT)
		status = lower(work, text, output,
		               !optimises ? AS_IT_IS
		               : loops    ? WHOLE_WITH_LOOPS
		                          : WHOLE,
		               error);
	tell_level(work, optimises, loops);
	*optimised = status == 0 && optimises;
	return status;
}

// The long way, for what the translator refuses: less is optimised, and what it does not know is
// avoided (legal.h).
static int compile_less(struct work *work, const char *spirv, struct tare_error *error)
{
	char text[PATH_MAX], said[PATH_MAX], less[PATH_MAX], legal[PATH_MAX], bitcode[PATH_MAX];
	bool optimised;

	tare_blocks_path(work->folder, work->build->hash, ".ll", text);
	tare_blocks_path(work->folder, work->build->hash, ".widths.ll", said);
	tare_blocks_path(work->folder, work->build->hash, ".less.ll", less);
	tare_blocks_path(work->folder, work->build->hash, ".legal.ll", legal);
	tare_blocks_path(work->folder, work->build->hash, ".legal.bc", bitcode);
	int status = compile_to(work, TEXT, text, &optimised, error);
	status = status ?: tare_blocks_legalise(text, said, TARE_BLOCKS_WIDTHS_SAID, error);
	status = status ?: lower(work, said, less, LESS, error);
	status = status ?: tare_blocks_legalise(less, legal, TARE_BLOCKS_FREEZES_GONE, error);
	status = status ?: lower(work, legal, bitcode, AS_IT_IS, error);
	status = status ?: translate(work, bitcode, spirv, error);
	char parts[32] = "";
	if (work->build->parts)
		snprintf(parts, sizeof parts, PARTS_JOINED, work->build->parts);
	snprintf(work->build->level, sizeof work->build->level,
	         "-O1 (at -O2 it is not translated)%s", parts);
	return status;
}

// Translators refuse some of what the optimiser makes (integers of 2 or 33 bits): less of it is
// better than nothing, and is said.
static int compile_once(struct work *work, const char *spirv, struct tare_error *error)
{
	struct tare_error again = { 0 }, least = { 0 };
	char bitcode[PATH_MAX];
	bool optimised;

	tare_blocks_path(work->folder, work->build->hash, ".bc", bitcode);
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

// Bodies for all `inline` functions come only where one is missed: one that is in its callers, and
// in no module as yet, may print, or be what the translator refuses.
static int compile(struct work *work, const char *spirv, struct tare_error *error)
{
	int status = compile_once(work, spirv, error);

	if (status < 0 || !tare_blocks_lacks_bodies(spirv))
		return status;
	work->bodies = true;
	return compile_once(work, spirv, error);
}

// ---- a module

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

// What the tools have made; malloc, NULL: errno.
static void *read_made(const char *spirv, size_t *bytes)
{
	void *data = tare_blocks_file_read(spirv, bytes);

	if (data)
		tare_blocks_let_inline(data, *bytes);
	return data;
}

// What is instrumented: made by the tools, or the program's own SPIR-V.
static void *module_of(struct work *work, size_t *bytes, struct tare_error *error)
{
	const struct tare_blocks_input *first = &work->parts.at[0];
	char spirv[PATH_MAX];
	void *data;

	if (!work->build->parts && work->build->language == BLOCKS_SPIRV) {
		*bytes = (size_t)first->head.text_bytes;
		snprintf(work->build->level, sizeof work->build->level,
		         "as the program brought it");
		data = malloc(*bytes + 1);
		if (data)
			memcpy(data, first->text, *bytes);
		else
			tare_fail(error, ENOMEM, "out of memory");
		return data;
	}
	tare_blocks_path(work->folder, work->build->hash, ".spv", spirv);
	if (compile(work, spirv, error) < 0)
		return NULL;
	data = read_made(spirv, bytes);
	if (!data)
		tare_fail(error, EIO, "%.200s ended well, but wrote no module",
		          work->build->translator);
	return data;
}

static int make(struct work *work, struct tare_error *error)
{
	struct tare_blocks_build *build = work->build;
	size_t bytes = 0;

	if (build->language == BLOCKS_FAT) {
		build->language = BLOCKS_PTX;
		int unpacked =
		    tare_blocks_fat_unpack(work->folder, &work->parts.at[0], build, error);
		if (unpacked < 0)
			return unpacked;
	}
	if (build->language == BLOCKS_PTX)
		return tare_blocks_compile_ptx(work->folder, &work->parts.at[0], build, error);
	int status =
	    tare_blocks_tools_find(llvm_of(work->parts.at[0].platform), &work->tools, error);
	if (status == 0) {
		snprintf(build->clang, sizeof build->clang, "%s", work->tools.clang);
		snprintf(build->translator, sizeof build->translator, "%s", work->tools.translator);
	}
	// SPIR-V of the program's own needs no compiler where the driver takes SPIR-V.
	if (status < 0 && (build->parts || build->language == BLOCKS_OPENCL_C))
		return status;
	status = tare_blocks_parts_sources(work->folder, &work->parts, &build->sources, error);
	if (status < 0)
		return status;
	void *data = module_of(work, &bytes, error);
	status = data ? tare_blocks_module_read(data, bytes, &build->module, error) : -EIO;
	free(data);
	status = status ?: tare_blocks_plan_make(&build->module, &build->plan, error);
	build->plan.samples = work->samples;
	// Where several parts were linked, all of them are for the same devices.
	build->plan.carries = work->parts.at[0].head.carries != 0;
	return status ?: make_module(work, error);
}

// ---- a build

// How the builds of a folder are made.
struct how {
	const char *folder;
	bool samples, unoptimised;
	const struct tare_blocks_watch *watch; // NULL: nobody
};

// What a single one is compiled and linked with; NULL: no memory.
static char *whole_options(const struct tare_blocks_parts *parts)
{
	char linking[256], *text;

	tare_blocks_driver_options(parts->linking, linking, sizeof linking);
	return asprintf(&text, "%s%s%s", parts->at[0].options, linking[0] ? " " : "", linking) < 0
	           ? NULL
	           : text;
}

static void describe(const struct tare_blocks_parts *parts, struct tare_blocks_build *build)
{
	const struct tare_blocks_input *first = &parts->at[0];

	build->api = parts->api;
	build->language = tare_blocks_parts_language(parts);
	// A single one that was linked is as if it had been built.
	build->parts = parts->count > 1 ? parts->count : 0;
	build->joined = parts->joined;
	tare_blocks_source_name(first, build->source);
	snprintf(build->options, sizeof build->options, "%s", parts->said);
	snprintf(build->driver_options, sizeof build->driver_options, "%s", parts->driver_options);
	build->all_options = build->parts ? strdup("") : whole_options(parts);
	build->text = strdup(build->parts ? "" : first->text);
}

static void make_build(const struct how *how, struct tare_blocks_build *build)
{
	struct work work = { .folder = how->folder,
		             .samples = how->samples,
		             .unoptimised = how->unoptimised,
		             .build = build };

	int status = tare_blocks_parts_read(how->folder, build->hash, &work.parts, &build->why);
	if (status == 0 && work.parts.count == 0)
		status = tare_fail(&build->why, EINVAL, "the program was linked of nothing");
	if (status == 0)
		describe(&work.parts, build);
	if (status == 0 && (!build->text || !build->all_options))
		tare_fail(&build->why, ENOMEM, "out of memory");
	else if (status == 0)
		make(&work, &build->why);
	tare_blocks_parts_free(&work.parts);
}

bool tare_blocks_is_single(const struct tare_blocks_build *build)
{
	return !build->parts && build->sources.count <= 1 && build->language != BLOCKS_PTX;
}

static int add_build(const struct how *how, uint64_t hash, struct tare_blocks_builds *builds)
{
	struct tare_blocks_build *at =
	    realloc(builds->at, (builds->count + 1) * sizeof *builds->at);

	if (!at)
		return -ENOMEM;
	builds->at = at;
	struct tare_blocks_build *build = &at[builds->count++];
	*build = (struct tare_blocks_build){ .hash = hash };
	snprintf(build->source, sizeof build->source, "%016" PRIx64 ".cl", hash);
	make_build(how, build);
	return 0;
}

static int compile_all(const struct how *how, struct tare_blocks_builds *builds,
                       struct tare_error *error)
{
	DIR *list = opendir(how->folder);
	size_t total = list ? tare_blocks_count_builds(list) : 0;
	int status = 0;

	*builds = (struct tare_blocks_builds){ .count = 0 };
	if (!list)
		return tare_fail(error, errno, "%.200s cannot be read", how->folder);
	for (struct dirent *entry; status == 0 && (entry = readdir(list));) {
		uint64_t hash;
		if (!tare_blocks_is_build(entry->d_name, &hash))
			continue;
		if (how->watch)
			how->watch->step(how->watch->context, builds->count, total);
		status = add_build(how, hash, builds);
	}
	closedir(list);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}

int tare_blocks_compile(const char *folder, bool samples, const struct tare_blocks_watch *watch,
                        struct tare_blocks_builds *builds, struct tare_error *error)
{
	const struct how how = { .folder = folder, .samples = samples, .watch = watch };

	return compile_all(&how, builds, error);
}

int tare_blocks_compile_unoptimised(const char *folder, struct tare_blocks_builds *builds,
                                    struct tare_error *error)
{
	const struct how how = { .folder = folder, .unoptimised = true };

	return compile_all(&how, builds, error);
}

int tare_blocks_compile_text(const char *from, const char *folder,
                             const struct tare_blocks_build *build, const char *text,
                             const char *more_options, struct tare_blocks_module *module,
                             struct tare_error *error)
{
	struct tare_blocks_build again = { .hash = build->hash, .language = build->language };
	struct work work = { .folder = folder, .build = &again };
	char spirv[PATH_MAX];
	size_t bytes = 0;
	void *data = NULL;

	snprintf(again.translator, sizeof again.translator, "%s", build->translator);
	tare_blocks_path(folder, build->hash, ".spv", spirv);
	int status = tare_blocks_parts_read(from, build->hash, &work.parts, error);
	if (status == 0 && work.parts.count != 1)
		status = tare_fail(error, ENOTSUP, "it is made of several parts");
	char *copy = status == 0 ? strdup(text) : NULL, *options = NULL;
	if (status == 0 &&
	    (!copy || asprintf(&options, "%s %s", work.parts.at[0].options, more_options) < 0)) {
		free(copy);
		status = tare_fail(error, ENOMEM, "out of memory");
	}
	if (status == 0) {
		free(work.parts.at[0].text);
		free(work.parts.at[0].options);
		work.parts.at[0].text = copy;
		work.parts.at[0].options = options;
		status =
		    tare_blocks_tools_find(llvm_of(work.parts.at[0].platform), &work.tools, error);
	}
	status = status ?: compile(&work, spirv, error);
	if (status == 0 && !(data = read_made(spirv, &bytes)))
		status = tare_fail(error, EIO, "%.200s cannot be read", spirv);
	status = status ?: tare_blocks_module_read(data, bytes, module, error);
	free(data);
	tare_blocks_parts_free(&work.parts);
	return status;
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
		tare_blocks_sources_free(&builds->at[i].sources);
		free(builds->at[i].text);
		free(builds->at[i].all_options);
	}
	free(builds->at);
	*builds = (struct tare_blocks_builds){ .count = 0 };
}
