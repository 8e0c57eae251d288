// SPDX-License-Identifier: Apache-2.0
// Ways to load code into the stand-in for libcuda beside cuModuleLoadDataEx: files, libraries, fat
// binaries, and what cuLink… makes. Machine code and fat binaries are a head and the text behind
// it. A library is a module.
#include "fake_cuda_load.h"
#include "fake_cuda_device.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NOT_FOUND = 301 };

struct fake_link {
	char *made; // a head, and the texts
	size_t bytes;
};

cu_result fake_cuModuleLoadData(cu_module *module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

cu_result fake_cuModuleLoadFatBinary(cu_module *module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

static char *read_file(const char *name)
{
	FILE *file = fopen(name, "rb");
	char *text = file ? calloc(1, 1 << 16) : NULL;

	if (text && fread(text, 1, (1 << 16) - 1, file) == 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

cu_result fake_cuModuleLoad(cu_module *module, const char *name)
{
	char *text = read_file(name);
	cu_result result = text ? cuModuleLoadDataEx(module, text, 0, NULL, NULL) : FILE_NOT_FOUND;

	free(text);
	return result;
}

cu_result fake_cuLibraryLoadData(cu_module *library, const void *image, cu_jit_option *options,
                                 void **values, unsigned int count, void *own, void **own_values,
                                 unsigned int own_count)
{
	cu_context before = current;

	(void)own;
	(void)own_values;
	(void)own_count;
	// A library is of no context.
	current = before ? before : &gpu.devices[0].context;
	cu_result result = cuModuleLoadDataEx(library, image, count, options, values);
	current = before;
	return result;
}

cu_result fake_cuLibraryLoadFromFile(cu_module *library, const char *name, cu_jit_option *options,
                                     void **values, unsigned int count, void *own,
                                     void **own_values, unsigned int own_count)
{
	char *text = read_file(name);
	cu_result result =
	    text ? cuModuleLoadDataEx(library, text, count, options, values) : FILE_NOT_FOUND;

	(void)own;
	(void)own_values;
	(void)own_count;
	free(text);
	return result;
}

cu_result fake_cuLibraryUnload(cu_module library)
{
	return cuModuleUnload(library);
}

FAKE_EXPORT cu_result cuLibraryGetKernel(cu_function *kernel, cu_module library, const char *name);
cu_result cuLibraryGetKernel(cu_function *kernel, cu_module library, const char *name)
{
	return cuModuleGetFunction(kernel, library, name);
}

FAKE_EXPORT cu_result cuKernelGetLibrary(cu_module *library, cu_function kernel);
cu_result cuKernelGetLibrary(cu_module *library, cu_function kernel)
{
	ENTER_CONTEXT();
	*library = kernel->module;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuLibraryGetGlobal(uint64_t *at, size_t *bytes, cu_module library,
                                         const char *name);
cu_result cuLibraryGetGlobal(uint64_t *at, size_t *bytes, cu_module library, const char *name)
{
	return cuModuleGetGlobal_v2(at, bytes, library, name);
}

FAKE_EXPORT cu_result cuFuncGetName(const char **name, cu_function function);
cu_result cuFuncGetName(const char **name, cu_function function)
{
	ENTER_CONTEXT();
	*name = function->name;
	return leave(ABI_SUCCESS);
}

// ---- linking

FAKE_EXPORT cu_result cuLinkCreate_v2(unsigned int count, cu_jit_option *options, void **values,
                                      struct fake_link **link);
cu_result cuLinkCreate_v2(unsigned int count, cu_jit_option *options, void **values,
                          struct fake_link **link)
{
	(void)count;
	(void)options;
	(void)values;
	*link = calloc(1, sizeof **link);
	(*link)->made = calloc(1, FAKE_HEAD_BYTES + 1);
	(*link)->bytes = FAKE_HEAD_BYTES;
	return ABI_SUCCESS;
}

static void add(struct fake_link *link, const char *text, size_t bytes)
{
	link->made = realloc(link->made, link->bytes + bytes + 1);
	memcpy(link->made + link->bytes, text, bytes);
	link->bytes += strnlen(text, bytes);
	link->made[link->bytes] = '\0';
}

FAKE_EXPORT cu_result cuLinkAddData_v2(struct fake_link *link, int type, void *data, size_t bytes,
                                       const char *name, unsigned int count, cu_jit_option *options,
                                       void **values);
cu_result cuLinkAddData_v2(struct fake_link *link, int type, void *data, size_t bytes,
                           const char *name, unsigned int count, cu_jit_option *options,
                           void **values)
{
	(void)type;
	(void)name;
	(void)count;
	(void)options;
	(void)values;
	add(link, data, bytes);
	return ABI_SUCCESS;
}

FAKE_EXPORT cu_result cuLinkAddFile_v2(struct fake_link *link, int type, const char *name,
                                       unsigned int count, cu_jit_option *options, void **values);
cu_result cuLinkAddFile_v2(struct fake_link *link, int type, const char *name, unsigned int count,
                           cu_jit_option *options, void **values)
{
	char *text = read_file(name);
	cu_result result =
	    text ? cuLinkAddData_v2(link, type, text, strlen(text), name, count, options, values)
	         : FILE_NOT_FOUND;

	free(text);
	return result;
}

cu_result fake_cuLinkComplete(struct fake_link *link, void **code, size_t *bytes)
{
	Elf64_Ehdr head = { .e_ident = ELFMAG, .e_shoff = link->bytes + 1 };

	memcpy(link->made, &head, sizeof head);
	*code = link->made;
	*bytes = link->bytes + 1;
	return ABI_SUCCESS;
}

FAKE_EXPORT cu_result cuLinkDestroy(struct fake_link *link);
cu_result cuLinkDestroy(struct fake_link *link)
{
	free(link->made);
	free(link);
	return ABI_SUCCESS;
}
