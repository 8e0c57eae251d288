// SPDX-License-Identifier: Apache-2.0
#include "blocks/intel/model.h"

#include "blocks/tools/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICE_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-."

static const char *ocloc(void)
{
	const char *own = getenv(TARE_BLOCKS_OCLOC);

	return own && own[0] ? own : "ocloc";
}

// Compiles a file of the folder for a device, into "model.bin" there. The newer form of a binary,
// which tells most, is asked for where it is not yet the usual one.
static int compile(const char *folder, const char *device, const char *file, const char *options,
                   bool spirv, struct tare_error *error)
{
	char said[PATH_MAX];
	const char *arguments[] = { ocloc(),
		                    "compile",
		                    "-file",
		                    file,
		                    "-device",
		                    device,
		                    "-out_dir",
		                    folder,
		                    "-output",
		                    "model.bin",
		                    "-output_no_suffix",
		                    "-internal_options",
		                    "-cl-intel-allow-zebin",
		                    "-options",
		                    options,
		                    spirv ? "-spirv_input" : NULL,
		                    NULL };

	snprintf(said, sizeof said, "%s/model.said", folder);
	// An option without a value would take the next one for it.
	if (!options[0])
		arguments[13] = spirv ? "-spirv_input" : NULL, arguments[14] = NULL;
	return tare_blocks_tool_run(arguments, said, error);
}

// Compiles it again, with lines, and lets the compiler list what it makes in the folder. What goes
// wrong leaves nothing listed.
static void list(const char *folder, const char *device, const char *file,
                 const struct tare_blocks_build *build)
{
	struct tare_error why = { 0 };
	char said[PATH_MAX], target[PATH_MAX + 32], options[sizeof build->options + 8];
	const char *arguments[] = { "env",
		                    "IGC_ShaderDumpEnable=1",
		                    target,
		                    ocloc(),
		                    "compile",
		                    "-file",
		                    file,
		                    "-device",
		                    device,
		                    "-out_dir",
		                    folder,
		                    "-output",
		                    "listed.bin",
		                    "-output_no_suffix",
		                    "-internal_options",
		                    "-cl-intel-allow-zebin",
		                    "-options",
		                    options,
		                    build->language == BLOCKS_SPIRV ? "-spirv_input" : NULL,
		                    NULL };

	snprintf(said, sizeof said, "%s/model.said", folder);
	snprintf(target, sizeof target, "IGC_DumpToCustomDir=%s", folder);
	snprintf(options, sizeof options, "%s%s-g", build->options, build->options[0] ? " " : "");
	tare_blocks_tool_run(arguments, said, &why);
}

static int take_apart(const char *folder, const char *device, struct tare_error *error)
{
	char said[PATH_MAX], binary[PATH_MAX];
	const char *arguments[] = { ocloc(), "disasm", "-file", binary, "-device",
		                    device,  "-dump",  folder,  NULL };

	snprintf(said, sizeof said, "%s/model.said", folder);
	snprintf(binary, sizeof binary, "%s/model.bin", folder);
	return tare_blocks_tool_run(arguments, said, error);
}

// ---- the devices

static int take_devices(const char *text, struct tare_blocks_models *models,
                        struct tare_error *error)
{
	for (const char *at = text;; at++) {
		size_t length = strspn(at, DEVICE_LETTERS);
		if (length == 0 || length >= TARE_BLOCKS_DEVICE_BYTES ||
		    (at[length] && at[length] != ',') ||
		    models->device_count == TARE_BLOCKS_MOST_DEVICES)
			return tare_fail(error, EINVAL,
			                 "--for takes up to %d names of devices as ocloc has them, "
			                 "as in dg2,pvc, not \"%.100s\"",
			                 TARE_BLOCKS_MOST_DEVICES, text);
		memcpy(models->devices[models->device_count++], at, length);
		at += length;
		if (!*at)
			return 0;
	}
}

int tare_blocks_models_begin(const char *devices, const char *folder,
                             struct tare_blocks_models *models, struct tare_error *error)
{
	char path[PATH_MAX];

	*models = (struct tare_blocks_models){ .count = 0 };
	int status = take_devices(devices, models, error);
	if (status < 0)
		return status;
	if (!tare_blocks_tool_is_there(ocloc()))
		return tare_advises(
		    error, tare_fail(error, ENOENT,
		                     "--for needs Intel's offline compiler, and there is no "
		                     "%.100s; install ocloc (on Debian: intel-opencl-icd), "
		                     "or name one in " TARE_BLOCKS_OCLOC,
		                     ocloc()));
	snprintf(path, sizeof path, "%s/" TARE_BLOCKS_MODEL_SOURCE, folder);
	FILE *file = fopen(path, "we");
	if (!file || (fputs("kernel void empty(void) {}\n", file), fclose(file) != 0))
		return tare_fail(error, EIO, "%.300s cannot be written", path);
	for (uint32_t i = 0; i < models->device_count; i++) {
		struct tare_error why = { 0 };
		if (compile(folder, models->devices[i], path, "", false, &why) < 0)
			return tare_fail(error, EINVAL, "nothing can be compiled for %.40s: %.400s",
			                 models->devices[i], why.message);
	}
	return 0;
}

// ---- builds

static struct tare_blocks_model *add(struct tare_blocks_models *models, const char *device,
                                     const struct tare_blocks_build *build)
{
	struct tare_blocks_model *at =
	    realloc(models->at, (models->count + 1) * sizeof *models->at);

	if (!at)
		return NULL;
	models->at = at;
	struct tare_blocks_model *model = &at[models->count++];
	*model = (struct tare_blocks_model){ .build = build };
	snprintf(model->device, sizeof model->device, "%s", device);
	return model;
}

static int add_kernels(const char *folder, const char *device,
                       const struct tare_blocks_build *build, struct tare_blocks_models *models)
{
	char *text = tare_blocks_read_text(folder, "", "", ".ze_info");
	size_t count = 0;
	struct tare_blocks_static *kernels = text ? tare_blocks_ze_info(text, &count) : NULL;
	int status = 0;

	free(text);
	for (size_t i = 0; status == 0 && i < count; i++) {
		char *assembly = tare_blocks_read_text(folder, ".text.", kernels[i].kernel, ".asm");
		struct tare_blocks_model *model = add(models, device, build);
		kernels[i].has_mix = assembly != NULL;
		if (assembly)
			tare_blocks_assembly(assembly, kernels[i].mix);
		if (model)
			model->of = kernels[i];
		else
			status = -ENOMEM;
		free(assembly);
	}
	if (status == 0 && count == 0) {
		struct tare_blocks_model *model = add(models, device, build);
		if (model)
			tare_fail(
			    &model->why, ENODATA,
			    "what ocloc made is of a form that tells nothing; a newer one may");
		else
			status = -ENOMEM;
	}
	free(kernels);
	return status;
}

// A SPIR-V module is written anew: that of a program in OpenCL C is the source, as the device's own
// driver would get it.
static int write_input(const char *folder, const struct tare_blocks_build *build,
                       char path[PATH_MAX], struct tare_error *error)
{
	const struct spirv_words *words = &build->module.words;
	bool spirv = build->language == BLOCKS_SPIRV;

	if (build->language == BLOCKS_PTX)
		return tare_fail(error, ENOTSUP, "its program is PTX, which ocloc does not take");
	if (!tare_blocks_is_single(build))
		return tare_fail(error, ENOTSUP,
		                 "its program is of several parts, or compiled with headers that "
		                 "are programs, and ocloc is given one source");
	if (spirv && !words->words)
		return tare_fail(error, EINVAL, "the module cannot be read");
	snprintf(path, PATH_MAX, "%s/%s", folder, spirv ? "model.spv" : TARE_BLOCKS_MODEL_SOURCE);
	FILE *file = fopen(path, "we");
	bool well = file != NULL;
	if (well && spirv)
		well =
		    fwrite(words->words, sizeof *words->words, words->count, file) == words->count;
	else if (well)
		well = fputs(build->text ? build->text : "", file) >= 0;
	if (file && fclose(file) != 0)
		well = false;
	return well ? 0 : tare_fail(error, EIO, "%.200s cannot be written", path);
}

static int make(const char *folder, const char *device, const struct tare_blocks_build *build,
                struct tare_blocks_models *models)
{
	struct tare_error why = { 0 };
	char path[PATH_MAX];
	int status = write_input(folder, build, path, &why);
	char left[PATH_MAX];

	// Of the build before, where this one's binary tells nothing.
	snprintf(left, sizeof left, "%s/.ze_info", folder);
	unlink(left);

	if (status == 0)
		status = compile(folder, device, path, build->options,
		                 build->language == BLOCKS_SPIRV, &why);
	status = status ?: take_apart(folder, device, &why);
	if (status == 0) {
		size_t before = models->count;
		status = add_kernels(folder, device, build, models);
		tare_blocks_listings_forget(folder);
		list(folder, device, path, build);
		tare_blocks_listings_read(folder, models->at + before, models->count - before);
		return status;
	}
	struct tare_blocks_model *model = add(models, device, build);
	if (!model)
		return -ENOMEM;
	model->why = why;
	return 0;
}

int tare_blocks_models_make(const char *folder, const struct tare_blocks_builds *builds,
                            const struct tare_blocks_watch *watch,
                            struct tare_blocks_models *models, struct tare_error *error)
{
	size_t total = builds->count * models->device_count;
	int status = 0;

	for (size_t i = 0; i < builds->count; i++)
		for (uint32_t k = 0; status == 0 && k < models->device_count; k++) {
			if (watch)
				watch->step(watch->context, i * models->device_count + k, total);
			status = make(folder, models->devices[k], &builds->at[i], models);
		}
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

bool tare_blocks_is_model_of(const struct tare_blocks_model *model,
                             const struct tare_blocks_kernel *kernel)
{
	return model->build == kernel->build &&
	       (model->why.code || strcmp(model->of.kernel, kernel->name) == 0);
}

int tare_blocks_models_join(const struct tare_blocks_profile *profile,
                            struct tare_blocks_models *models, struct tare_error *error)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < models->count; i++)
		for (size_t k = 0; status == 0 && k < profile->kernel_count; k++)
			if (!models->at[i].why.code &&
			    tare_blocks_is_model_of(&models->at[i], &profile->kernels[k])) {
				free(models->at[i].joined.passed);
				status =
				    tare_blocks_join(&models->at[i].listing, &profile->kernels[k],
				                     &models->at[i].of, &models->at[i].joined);
			}
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

void tare_blocks_models_free(struct tare_blocks_models *models)
{
	for (size_t i = 0; i < models->count; i++) {
		tare_blocks_listing_free(&models->at[i].listing);
		free(models->at[i].joined.passed);
	}
	free(models->at);
	*models = (struct tare_blocks_models){ .count = 0 };
}
