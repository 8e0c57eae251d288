// SPDX-License-Identifier: Apache-2.0
#include "blocks/parts.h"

#include "blocks/tools/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LEVELS = 16, MOST_PARTS = 4096 };

// ---- reading

static bool is_there(const char *folder, uint64_t hash)
{
	char path[PATH_MAX];

	tare_blocks_path(folder, hash, BLOCKS_PART_SUFFIX, path);
	return access(path, R_OK) == 0;
}

static int add(const char *folder, uint64_t hash, int level, struct tare_blocks_parts *parts,
               struct tare_error *error);

// The parts of a BUILD that is joined, in order.
static int add_all(const char *folder, const struct tare_blocks_input *joined, int level,
                   struct tare_blocks_parts *parts, struct tare_error *error)
{
	size_t count = (size_t)joined->head.text_bytes / sizeof(uint64_t);
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		uint64_t hash;
		memcpy(&hash, joined->text + i * sizeof hash, sizeof hash);
		status = add(folder, hash, level + 1, parts, error);
	}
	return status;
}

// Adds a PART, or those of one that is joined, which a library is. What has no PART is looked for
// among the BUILDs.
static int add(const char *folder, uint64_t hash, int level, struct tare_blocks_parts *parts,
               struct tare_error *error)
{
	struct tare_blocks_input input;

	if (level > MOST_LEVELS || parts->count == MOST_PARTS)
		return tare_fail(error, EINVAL, "the program is linked of too many parts");
	int status = tare_blocks_input_read(
	    folder, hash, is_there(folder, hash) ? BLOCKS_PART_SUFFIX : BLOCKS_BUILD_SUFFIX, &input,
	    error);
	if (status == 0 && input.head.language == BLOCKS_JOINED) {
		status = add_all(folder, &input, level, parts, error);
	} else if (status == 0) {
		struct tare_blocks_input *at =
		    realloc(parts->at, (parts->count + 1) * sizeof *parts->at);
		if (at) {
			parts->at = at;
			parts->at[parts->count++] = input;
			return 0;
		}
		status = tare_fail(error, ENOMEM, "out of memory");
	}
	tare_blocks_input_free(&input);
	return status;
}

// ---- options

// Whether all parts have a word, which is followed by a blank.
static bool all_have(const struct tare_blocks_parts *parts, const char *word, size_t bytes)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		char text[256];
		tare_blocks_driver_options(parts->at[i].options, text, sizeof text);
		if (!memmem(text, strlen(text), word, bytes))
			return false;
	}
	return true;
}

// What a driver is told of arithmetic holds for the whole, so that it is what all parts were
// compiled with, and what they were linked with.
static void join_options(struct tare_blocks_parts *parts)
{
	char first[256];

	tare_blocks_driver_options(parts->linking, parts->driver_options,
	                           sizeof parts->driver_options);
	if (parts->count)
		tare_blocks_driver_options(parts->at[0].options, first, sizeof first);
	for (const char *at = first; parts->count && *at;) {
		size_t bytes = strcspn(at, " ") + 1, used = strlen(parts->driver_options);
		if (all_have(parts, at, bytes) && !memmem(parts->driver_options, used, at, bytes) &&
		    used + bytes < sizeof parts->driver_options)
			snprintf(parts->driver_options + used, sizeof parts->driver_options - used,
			         "%.*s", (int)bytes, at);
		at += bytes;
	}
}

// "-DA=1 + -DA=2"; once, where all have the same.
static void say_options(struct tare_blocks_parts *parts)
{
	bool differ = false;
	size_t used = 0;

	for (uint32_t i = 1; i < parts->count; i++)
		differ |= strcmp(parts->at[i].options, parts->at[0].options) != 0;
	for (uint32_t i = 0; i < parts->count && (i == 0 || differ); i++) {
		const char *options = parts->at[i].options;
		used += (size_t)snprintf(parts->said + used, sizeof parts->said - used, "%s%s",
		                         i ? " + " : "", differ && !options[0] ? "''" : options);
		if (used >= sizeof parts->said)
			return;
	}
}

// ---- the whole

int tare_blocks_parts_read(const char *folder, uint64_t hash, struct tare_blocks_parts *parts,
                           struct tare_error *error)
{
	struct tare_blocks_input input;

	*parts = (struct tare_blocks_parts){ .count = 0 };
	int status = tare_blocks_input_read(folder, hash, BLOCKS_BUILD_SUFFIX, &input, error);
	if (status < 0) {
		tare_blocks_input_free(&input);
		return status;
	}
	parts->api = (enum blocks_api)input.head.api;
	parts->joined = input.head.language == BLOCKS_JOINED;
	parts->linking = strdup(parts->joined ? input.options : "");
	if (parts->joined)
		status = add_all(folder, &input, 0, parts, error);
	else
		parts->at = malloc(sizeof *parts->at);
	if (!parts->joined && parts->at) {
		parts->at[parts->count++] = input;
		input = (struct tare_blocks_input){ .hash = 0 };
	}
	tare_blocks_input_free(&input);
	if (status == 0 && (!parts->linking || !parts->at))
		status = tare_fail(error, ENOMEM, "out of memory");
	if (status == 0) {
		join_options(parts);
		say_options(parts);
	}
	return status;
}

void tare_blocks_parts_free(struct tare_blocks_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		tare_blocks_input_free(&parts->at[i]);
	free(parts->at);
	free(parts->linking);
	*parts = (struct tare_blocks_parts){ .count = 0 };
}

enum blocks_language tare_blocks_parts_language(const struct tare_blocks_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		if (parts->at[i].head.language != BLOCKS_SPIRV)
			return (enum blocks_language)parts->at[i].head.language;
	return BLOCKS_SPIRV;
}

// ---- sources

void tare_blocks_source_name(const struct tare_blocks_input *input, char name[64])
{
	snprintf(name, 64, "%016" PRIx64 ".cl", input->hash);
}

int tare_blocks_parts_sources(const char *folder, const struct tare_blocks_parts *parts,
                              struct tare_blocks_sources *sources, struct tare_error *error)
{
	char name[64], label[64] = "";
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < parts->count; i++) {
		const struct tare_blocks_input *input = &parts->at[i];
		if (input->head.language != BLOCKS_OPENCL_C)
			continue;
		tare_blocks_source_name(input, name);
		if (parts->count > 1)
			snprintf(label, sizeof label, "part %" PRIu32, i + 1);
		if (tare_blocks_sources_add(sources, name, label, input->text) < 0)
			return tare_fail(error, ENOMEM, "out of memory");
		status = tare_blocks_headers_write(folder, input, sources, error);
	}
	return status;
}
