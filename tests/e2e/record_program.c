// SPDX-License-Identifier: Apache-2.0
// A stand-in for a program under the recorder: leaves a trace file with the header that its
// arguments ask for, NAME=NUMBER each, in the folder that tare record names, and exits with 0.
#include "tare/trace_format.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	size_t offset, bytes;
} members[] = {
#define MEMBER(name)                                                                               \
	{ #name, offsetof(struct tare_trace_header, name),                                         \
	  sizeof(((struct tare_trace_header *)0)->name) }
	MEMBER(calls_seen),
	MEMBER(windows),
	MEMBER(lost_records),
	MEMBER(lost_commands),
	MEMBER(recycled_records),
	MEMBER(stop_reason),
	MEMBER(state),
	MEMBER(pid),
	MEMBER(stop_error),
	MEMBER(recycled_commands),
};

static int set(struct tare_trace_header *header, const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		uint64_t value = strtoull(word + length + 1, NULL, 0);
		if (strlen(members[i].name) != length ||
		    strncmp(members[i].name, word, length) != 0)
			continue;
		memcpy((char *)header + members[i].offset, &value, members[i].bytes);
		return 0;
	}
	return fprintf(stderr, "no member '%s'\n", word);
}

int main(int count, char **arguments)
{
	struct tare_trace_header header = {
		.magic = TARE_TRACE_MAGIC,
		.version_major = TARE_TRACE_VERSION_MAJOR,
		.byte_order = TARE_TRACE_BYTE_ORDER,
		.header_bytes = TARE_TRACE_HEADER_BYTES,
		.state = TARE_TRACE_ENDED,
	};
	const char *folder = getenv("TARE_RECORD");
	char path[4096];
	FILE *file;

	gethostname(header.host_name, sizeof header.host_name - 1);
	for (int i = 1; i < count; i++)
		if (set(&header, arguments[i]))
			return 1;
	snprintf(path, sizeof path, "%s/host-%ld-1.trace", folder ? folder : ".", (long)getpid());
	file = fopen(path, "w");
	if (!file || fwrite(&header, sizeof header, 1, file) != 1 || fclose(file) != 0)
		return perror(path), 1;
	return 0;
}
