// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over a folder of inputs, and over the same changes of each every time, so
// that a build without libFuzzer still tries hostile bytes. Prints TAP.
#include "target.h"

#include "base/random.h"

#include <dirent.h>
#include <string.h>

enum { LARGEST_INPUT = 1 << 20 };

static size_t read_input(const char *folder, const char *name, uint8_t *input)
{
	char path[4096];
	size_t size;
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "rb");
	FUZZ_CHECK(file);
	size = fread(input, 1, LARGEST_INPUT, file);
	fclose(file);
	return size;
}

// Flips a bit, sets a byte to one that matters to a parser, cuts the end off, or copies a piece
// over another. Returns the new size.
static size_t change(struct tare_random *random, uint8_t *input, size_t size)
{
	static const uint8_t bytes[] = "\0\"\\[]{}:,-0e9.\x7f\xff";
	size_t at = size ? tare_random_below(random, size) : 0;
	size_t to, length;

	if (!size)
		return 0;
	switch (tare_random_below(random, 4)) {
	case 0:
		input[at] ^= (uint8_t)(1 << tare_random_below(random, 8));
		return size;
	case 1:
		input[at] = bytes[tare_random_below(random, sizeof bytes - 1)];
		return size;
	case 2:
		return at;
	default:
		to = tare_random_below(random, size);
		length = tare_random_below(random, size - (at > to ? at : to) + 1);
		memmove(input + to, input + at, length);
		return size;
	}
}

// A block of the exact size lets the address sanitizer see a read beyond it.
static void try_input(const uint8_t *input, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	FUZZ_CHECK(exact);
	memcpy(exact, input, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void try_changes(const uint8_t *input, size_t size, uint64_t seed, int changes)
{
	struct tare_random random = { seed };
	uint8_t *changed = malloc(size ? size : 1);

	FUZZ_CHECK(changed);
	for (int i = 0; i < changes; i++) {
		size_t changed_size = size;
		memcpy(changed, input, size);
		for (uint64_t times = 1 + tare_random_below(&random, 3); times > 0; times--)
			changed_size = change(&random, changed, changed_size);
		try_input(changed, changed_size);
	}
	free(changed);
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	int count = argc == 3 ? scandir(argv[1], &entries, is_input, alphasort) : -1;
	int changes = argc == 3 ? atoi(argv[2]) : 0;
	uint8_t *input = malloc(LARGEST_INPUT);

	FUZZ_CHECK(input);
	if (count <= 0) {
		printf("1..1\nnot ok 1 - no inputs: give a folder that has some, and how often to "
		       "change each\n");
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		size_t size = read_input(argv[1], entries[i]->d_name, input);
		try_input(input, size);
		try_changes(input, size, (uint64_t)i, changes);
		printf("ok %d - %s\n", i + 1, entries[i]->d_name);
		fflush(stdout);
		free(entries[i]);
	}
	free(entries);
	free(input);
	return 0;
}
