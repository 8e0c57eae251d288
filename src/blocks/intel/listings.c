// SPDX-License-Identifier: Apache-2.0
// What ocloc's compiler lists of each kernel, when it is asked to by its environment.
#include "blocks/intel/model.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXT_BYTES ((size_t)64 << 20)
#define BEGINS "OCL_"
#define ENDS ".asm"

char *tare_blocks_read_text(const char *folder, const char *before, const char *name,
                            const char *behind)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s%s%s", folder, before, name, behind);
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t used = 0, room = 1 << 16, got = 0;
	do {
		used += got;
		if (!text || used + 1 == room) {
			room *= 2;
			char *more = file && room < MOST_TEXT_BYTES ? realloc(text, room) : NULL;
			if (!more) {
				free(text);
				text = NULL;
				break;
			}
			text = more;
		}
		got = fread(text + used, 1, room - used - 1, file);
	} while (got);
	if (text)
		text[used] = '\0';
	if (file)
		fclose(file);
	return text;
}

static bool is_listing(const char *name)
{
	size_t length = strlen(name), end = strlen(ENDS);

	return strncmp(name, BEGINS, strlen(BEGINS)) == 0 && length > end &&
	       strcmp(name + length - end, ENDS) == 0;
}

// Of several widths that the compiler tried, that of the kernel that it kept; of several of that
// width none, for it is not known which.
static void keep(const char *name, const char *text, struct tare_blocks_model *models, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tare_blocks_model *model = &models[i];
		struct tare_blocks_listing listing;
		char width[32], kernel[sizeof model->of.kernel + 16];
		snprintf(width, sizeof width, "_simd%u_", model->of.simd_width);
		int length = snprintf(kernel, sizeof kernel, "//.kernel %s\n", model->of.kernel);
		if (!model->of.simd_width || !strstr(name, width) ||
		    strncmp(text, kernel, (size_t)length) != 0)
			continue;
		bool read = tare_blocks_listing_read(text, model->of.simd_width, &listing);
		if (!read || model->listing.block_count || model->several) {
			model->several |= model->listing.block_count != 0;
			tare_blocks_listing_free(&model->listing);
			tare_blocks_listing_free(&listing);
		} else {
			model->listing = listing;
		}
	}
}

void tare_blocks_listings_read(const char *folder, struct tare_blocks_model *models, size_t count)
{
	DIR *list = opendir(folder);

	for (struct dirent *entry; list && (entry = readdir(list));) {
		char *text = is_listing(entry->d_name)
		                 ? tare_blocks_read_text(folder, "", entry->d_name, "")
		                 : NULL;
		if (text)
			keep(entry->d_name, text, models, count);
		free(text);
	}
	if (list)
		closedir(list);
}

void tare_blocks_listings_forget(const char *folder)
{
	DIR *list = opendir(folder);
	char path[PATH_MAX];

	for (struct dirent *entry; list && (entry = readdir(list));) {
		if (!is_listing(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (list)
		closedir(list);
}
