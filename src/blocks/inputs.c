// SPDX-License-Identifier: Apache-2.0
#include "blocks/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Largest file that is read.
#define MOST_BYTES (UINT64_C(256) << 20)

// ---- files

void tare_blocks_path(const char *folder, uint64_t hash, const char *suffix, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%016" PRIx64 "%s", folder, hash, suffix);
}

void *tare_blocks_file_read(const char *path, size_t *bytes)
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

int tare_blocks_file_write(const char *path, const void *const *pieces, const size_t *bytes,
                           int count)
{
	errno = 0;
	FILE *file = fopen(path, "we");
	bool well = file != NULL;

	for (int i = 0; well && i < count; i++)
		well = bytes[i] == 0 || fwrite(pieces[i], 1, bytes[i], file) == bytes[i];
	if (file && fclose(file) != 0)
		well = false;
	return well ? 0 : errno ? -errno : -EIO;
}

// ---- sources

int tare_blocks_sources_add(struct tare_blocks_sources *sources, const char *file,
                            const char *label, const char *text)
{
	struct tare_blocks_source *at =
	    realloc(sources->at, (sources->count + 1) * sizeof *sources->at);
	char *copy = strdup(text);

	if (at)
		sources->at = at;
	if (!at || !copy) {
		free(copy);
		return -ENOMEM;
	}
	struct tare_blocks_source *source = &at[sources->count++];
	snprintf(source->file, sizeof source->file, "%.63s", file);
	snprintf(source->label, sizeof source->label, "%.63s", label);
	source->text = copy;
	return 0;
}

const struct tare_blocks_source *tare_blocks_sources_find(const struct tare_blocks_sources *sources,
                                                          const char *name)
{
	const char *slash = strrchr(name, '/');

	for (size_t i = 0; i < sources->count; i++)
		if (strcmp(sources->at[i].file, slash ? slash + 1 : name) == 0)
			return &sources->at[i];
	return NULL;
}

void tare_blocks_sources_free(struct tare_blocks_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		free(sources->at[i].text);
	free(sources->at);
	*sources = (struct tare_blocks_sources){ .count = 0 };
}

// ---- BUILDs and PARTs

// An empty file is one for which there was no room.
static int refuse_empty(struct tare_error *error)
{
	return tare_fail(error, ENOSPC,
	                 "there was no room in $TMPDIR to write down what its program is built "
	                 "from: free some, or name another folder");
}

static char *piece(const char **at, size_t bytes)
{
	char *text = malloc(bytes + 1);

	if (text) {
		memcpy(text, *at, bytes);
		text[bytes] = '\0';
	}
	*at += bytes;
	return text;
}

static int take(struct tare_blocks_input *input, const char *data, size_t bytes,
                struct tare_error *error)
{
	struct blocks_build *head = &input->head;
	const char *at = data + sizeof *head;

	if (bytes >= sizeof *head)
		memcpy(head, data, sizeof *head);
	uint64_t whole = (uint64_t)head->options_bytes + head->extensions_bytes +
	                 head->version_bytes + head->platform_bytes;
	if (head->magic != BLOCKS_MAGIC || head->text_bytes > MOST_BYTES ||
	    sizeof *head + whole + head->text_bytes != bytes)
		return tare_fail(error, EINVAL, "what the program was built from was cut off");
	input->options = piece(&at, head->options_bytes);
	input->extensions = piece(&at, head->extensions_bytes);
	input->version = piece(&at, head->version_bytes);
	input->platform = piece(&at, head->platform_bytes);
	input->text = piece(&at, (size_t)head->text_bytes);
	return input->options && input->extensions && input->version && input->platform &&
	               input->text
	           ? 0
	           : tare_fail(error, ENOMEM, "out of memory");
}

int tare_blocks_input_read(const char *folder, uint64_t hash, const char *suffix,
                           struct tare_blocks_input *input, struct tare_error *error)
{
	char path[PATH_MAX];
	size_t bytes;

	*input = (struct tare_blocks_input){ .hash = hash };
	tare_blocks_path(folder, hash, suffix, path);
	char *data = tare_blocks_file_read(path, &bytes);
	int status = !data        ? tare_fail(error, EIO, "%.200s cannot be read", path)
	             : bytes == 0 ? refuse_empty(error)
	                          : take(input, data, bytes, error);
	free(data);
	return status;
}

void tare_blocks_input_free(struct tare_blocks_input *input)
{
	free(input->options);
	free(input->extensions);
	free(input->version);
	free(input->platform);
	free(input->text);
	*input = (struct tare_blocks_input){ .hash = 0 };
}

// ---- headers

// A string of JSON, which is how the list is read.
static void write_string(const char *text, size_t bytes, FILE *file)
{
	fputc('"', file);
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)text[i] < ' ')
			fprintf(file, "\\x%02X", (unsigned char)text[i]);
		else
			fprintf(file, text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
	}
	fputc('"', file);
}

// A header becomes a file of its own, and a line of the list.
static int write_header(const char *folder, uint64_t hash, const char *name, size_t name_bytes,
                        const char *text, size_t text_bytes, struct tare_blocks_sources *sources,
                        FILE *list)
{
	char file[64], path[PATH_MAX], label[64];
	// Without the end that the driver gives with it.
	size_t length = strnlen(text, text_bytes);
	const void *pieces[] = { text };

	snprintf(file, sizeof file, "%016" PRIx64 ".%zu.h", hash, sources->count);
	snprintf(path, sizeof path, "%.4000s/%s", folder, file);
	snprintf(label, sizeof label, "%.*s", name_bytes < 63 ? (int)name_bytes : 63, name);
	int status = tare_blocks_file_write(path, pieces, &length, 1);
	fputs("{\"type\": \"file\", \"name\": ", list);
	write_string(name, name_bytes, list);
	fputs(", \"external-contents\": ", list);
	write_string(path, strlen(path), list);
	fputs("},\n", list);
	char *copy = strndup(text, length);
	status = status ?: copy ? tare_blocks_sources_add(sources, file, label, copy) : -ENOMEM;
	free(copy);
	return status;
}

static int write_headers(const char *folder, const struct tare_blocks_input *input,
                         const char *data, size_t bytes, struct tare_blocks_sources *sources,
                         FILE *list)
{
	struct blocks_header head;
	int status = 0;

	for (size_t at = 0; status == 0 && at < bytes;) {
		if (bytes - at < sizeof head)
			return -EINVAL;
		memcpy(&head, data + at, sizeof head);
		at += sizeof head;
		if (head.name_bytes > bytes - at || head.text_bytes > bytes - at - head.name_bytes)
			return -EINVAL;
		status = write_header(folder, input->hash, data + at, (size_t)head.name_bytes,
		                      data + at + head.name_bytes, (size_t)head.text_bytes, sources,
		                      list);
		at += (size_t)(head.name_bytes + head.text_bytes);
	}
	return status;
}

int tare_blocks_headers_write(const char *folder, const struct tare_blocks_input *input,
                              struct tare_blocks_sources *sources, struct tare_error *error)
{
	char path[PATH_MAX], list[PATH_MAX], headers[PATH_MAX];
	size_t bytes;

	if (!input->head.headers)
		return 0;
	tare_blocks_path(folder, input->head.headers, BLOCKS_HEADERS_SUFFIX, path);
	char *data = tare_blocks_file_read(path, &bytes);
	if (!data)
		return tare_fail(error, EIO, "%.200s cannot be read", path);
	if (bytes == 0) {
		free(data);
		return refuse_empty(error);
	}
	tare_blocks_path(folder, input->hash, TARE_BLOCKS_LIST_SUFFIX, list);
	tare_blocks_path(folder, input->hash, TARE_BLOCKS_FOLDER_SUFFIX, headers);
	FILE *file = fopen(list, "we");
	if (!file) {
		free(data);
		return tare_fail(error, errno, "%.200s cannot be written", list);
	}
	fputs("{\"version\": 0, \"roots\": [{\"type\": \"directory\", \"name\": ", file);
	write_string(headers, strlen(headers), file);
	fputs(", \"contents\": [\n", file);
	int status = write_headers(folder, input, data, bytes, sources, file);
	fputs("]}]}\n", file);
	if (fclose(file) != 0 && status == 0)
		status = -EIO;
	free(data);
	return status < 0 ? tare_fail(error, -status, "the program's headers cannot be written: %s",
	                              strerror(-status))
	                  : 0;
}

// ---- builds of a folder

bool tare_blocks_is_build(const char *name, uint64_t *hash)
{
	char *end;

	if (strlen(name) != 16 + strlen(BLOCKS_BUILD_SUFFIX))
		return false;
	*hash = strtoull(name, &end, 16);
	return end == name + 16 && strcmp(end, BLOCKS_BUILD_SUFFIX) == 0;
}

size_t tare_blocks_count_builds(DIR *list)
{
	size_t count = 0;
	uint64_t hash;

	for (struct dirent *entry; (entry = readdir(list));)
		count += tare_blocks_is_build(entry->d_name, &hash);
	rewinddir(list);
	return count;
}
