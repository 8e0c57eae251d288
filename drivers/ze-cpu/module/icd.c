// SPDX-License-Identifier: Apache-2.0
// Where OpenCL's loaders look for devices.
#include "module/opencl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ICD_FOLDER "/etc/OpenCL/vendors"
#define ICD_FILES 64

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// An .icd file holds the library's name in its first line.
static bool icd_file(const char *path, bool (*each)(const char *library, void *context),
                     void *context)
{
	char line[512];
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	bool read = fgets(line, sizeof line, file) != NULL;
	fclose(file);
	if (!read)
		return false;
	line[strcspn(line, "\r\n")] = '\0';
	char *name = line + strspn(line, " \t");
	for (size_t length = strlen(name); length && strchr(" \t", name[length - 1]);)
		name[--length] = '\0';
	return *name && each(name, context);
}

static int is_icd(const struct dirent *entry)
{
	return ends_with(entry->d_name, ".icd");
}

static bool icd_folder(const char *folder, bool (*each)(const char *library, void *context),
                       void *context)
{
	struct dirent **files = NULL;
	int count = scandir(folder, &files, is_icd, alphasort);
	bool done = false;

	for (int i = 0; i < count; i++) {
		char path[1024];
		if (!done && i < ICD_FILES &&
		    snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name) <
		        (int)sizeof path)
			done = icd_file(path, each, context);
		free(files[i]);
	}
	free(files);
	return done;
}

// A folder, an .icd file (one without a folder lies in the usual one), or a library.
static bool icd_named(const char *name, bool (*each)(const char *library, void *context),
                      void *context)
{
	struct stat status;

	if (stat(name, &status) == 0 && S_ISDIR(status.st_mode))
		return icd_folder(name, each, context);
	if (!ends_with(name, ".icd"))
		return each(name, context);
	if (strchr(name, '/'))
		return icd_file(name, each, context);
	char path[1024];
	return snprintf(path, sizeof path, ICD_FOLDER "/%s", name) < (int)sizeof path &&
	       icd_file(path, each, context);
}

bool icd_each(bool (*each)(const char *library, void *context), void *context)
{
	static const char *const variables[] = { "ZE_CPU_OPENCL", "OCL_ICD_VENDORS",
		                                 "OPENCL_VENDOR_PATH" };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *name = getenv(variables[i]);
		if (name && *name)
			return icd_named(name, each, context);
	}
	return icd_folder(ICD_FOLDER, each, context);
}
