// SPDX-License-Identifier: Apache-2.0
// Programs of parts: what each was compiled from, with which headers, and which were linked.
#include "guest/blocks/layer.h"

#include <errno.h>
#include <string.h>

static struct guest_map *headed; // the HEADERS' hash of programs that were compiled with some
static struct guest_map *linked; // programs that were linked

bool blocks_parts_begin(void)
{
	headed = guest_map_new();
	linked = guest_map_new();
	return headed != NULL && linked != NULL;
}

bool blocks_is_linked(cl_program program)
{
	return guest_map_find(linked, program, 0) != 0;
}

void blocks_is_not_linked(cl_program program)
{
	guest_map_remove(linked, program);
}

uint64_t blocks_part(cl_program program)
{
	struct blocks_source source;
	enum blocks_why why;
	uint64_t hash = 0;

	blocks_source_read(program, guest_map_find(headed, program, 0), &source, &why);
	if (source.data != NULL) {
		hash = source.hash;
		blocks_write(hash, BLOCKS_PART_SUFFIX, source.data, source.bytes);
	} else if (why == BLOCKS_NO_SOURCE) {
		hash = blocks_origin(program);
	}
	blocks_source_free(&source);
	return hash;
}

// ---- compiling

static size_t source_bytes(cl_program program)
{
	size_t bytes = 0;

	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes) != CL_SUCCESS)
		bytes = 0;
	return bytes;
}

// Writes the headers down, since the program may release them, and gives their hash; 0: none, or
// they could not be read.
static uint64_t note_headers(cl_uint count, const cl_program *header, const char **names)
{
	struct blocks_source source = { .data = NULL };
	size_t bytes = 0;

	for (cl_uint i = 0; i < count; i++) {
		if (names[i] == NULL || header[i] == NULL)
			return 0; // the driver refuses it
		bytes += sizeof(struct blocks_header) + strlen(names[i]) + source_bytes(header[i]);
	}
	if (count == 0 || !blocks_source_room(&source, bytes))
		return 0;
	char *at = source.data;
	for (cl_uint i = 0; i < count; i++) {
		const struct blocks_header head = { .name_bytes = strlen(names[i]),
			                            .text_bytes = source_bytes(header[i]) };
		memcpy(at, &head, sizeof head);
		memcpy(at + sizeof head, names[i], head.name_bytes);
		at += sizeof head + head.name_bytes;
		blocks_next.clGetProgramInfo(header[i], CL_PROGRAM_SOURCE, head.text_bytes, at,
		                             NULL);
		at += head.text_bytes;
	}
	uint64_t hash = guest_hash(GUEST_HASH_START, source.data, bytes);
	blocks_write(hash, BLOCKS_HEADERS_SUFFIX, source.data, bytes);
	blocks_source_free(&source);
	return hash;
}

static CL_API_ENTRY cl_int CL_API_CALL compile(cl_program program, cl_uint count,
                                               const cl_device_id *devices, const char *options,
                                               cl_uint headers, const cl_program *header,
                                               const char **names,
                                               void(CL_CALLBACK *notify)(cl_program, void *),
                                               void *data)
{
	// The program may link, from another thread, as soon as it is told.
	int saved = errno;
	uint64_t hash = header != NULL && names != NULL ? note_headers(headers, header, names) : 0;

	if (hash != 0)
		guest_map_put(headed, program, hash);
	else
		guest_map_remove(headed, program);
	// What is compiled is not linked, whatever had its address before.
	blocks_is_not_linked(program);
	errno = saved;
	return blocks_compile(program, count, devices, options, headers, header, names, notify,
	                      data);
}

// ---- linking

// No kernel is taken from a library.
static bool is_library(const char *options)
{
	return strstr(options, "-create-library") != NULL;
}

// The BUILD of a program that is linked of these, or the PART, where it is a library; it is written
// down. Its hash; 0: one of them is not known.
static uint64_t note_join(const char *options, cl_uint count, const cl_program *program)
{
	struct blocks_source source = { .data = NULL };
	const struct blocks_build head = { .magic = BLOCKS_MAGIC,
		                           .api = BLOCKS_OPENCL,
		                           .language = BLOCKS_JOINED,
		                           .options_bytes = (uint32_t)strlen(options),
		                           .text_bytes = count * sizeof(uint64_t) };
	size_t bytes = sizeof head + head.options_bytes + head.text_bytes;
	uint64_t hash = 0, part = count;

	if (count == 0 || program == NULL || !blocks_source_room(&source, bytes))
		return 0;
	char *at = source.data;
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, options, head.options_bytes);
	at += sizeof head + head.options_bytes;
	for (cl_uint i = 0; part != 0 && i < count; i++, at += sizeof part) {
		part = program[i] != NULL ? blocks_part(program[i]) : 0;
		memcpy(at, &part, sizeof part);
	}
	if (part != 0) {
		hash = guest_hash(GUEST_HASH_START, source.data, bytes);
		blocks_write(hash, is_library(options) ? BLOCKS_PART_SUFFIX : BLOCKS_BUILD_SUFFIX,
		             source.data, bytes);
	}
	blocks_source_free(&source);
	return hash;
}

static void know_link(cl_program made, uint64_t hash)
{
	guest_map_put(linked, made, 1);
	blocks_set_origin(made, hash);
}

// What the program is to be told by.
struct told {
	void(CL_CALLBACK *notify)(cl_program, void *);
	void *data;
	uint64_t hash;
};

// The program may take a kernel in its callback, which can be before clLinkProgram is back.
static void CL_CALLBACK tell(cl_program made, void *data)
{
	const struct told *told = data;

	if (made != NULL)
		know_link(made, told->hash);
	told->notify(made, told->data);
}

// clLinkProgram with the callback of a program that has one.
static cl_program link_and_tell(cl_context context, cl_uint count, const cl_device_id *devices,
                                const char *options, cl_uint programs, const cl_program *program,
                                const struct told *wanted, cl_int *error)
{
	int saved = errno;
	struct told *told = guest_memory(sizeof *told);

	if (told != NULL) {
		*told = *wanted;
		told->hash = note_join(options != NULL ? options : "", programs, program);
	} else {
		blocks_stop_twins(); // what has the new program's address is not known
	}
	errno = saved;
	return blocks_next.clLinkProgram(context, count, devices, options, programs, program,
	                                 told != NULL ? tell : wanted->notify,
	                                 told != NULL ? told : wanted->data, error);
}

static CL_API_ENTRY cl_program CL_API_CALL link(cl_context context, cl_uint count,
                                                const cl_device_id *devices, const char *options,
                                                cl_uint programs, const cl_program *program,
                                                void(CL_CALLBACK *notify)(cl_program, void *),
                                                void *data, cl_int *error)
{
	if (notify != NULL)
		return link_and_tell(context, count, devices, options, programs, program,
		                     &(const struct told){ .notify = notify, .data = data }, error);
	cl_program made = blocks_next.clLinkProgram(context, count, devices, options, programs,
	                                            program, notify, data, error);
	int saved = errno;

	if (made != NULL)
		know_link(made, note_join(options != NULL ? options : "", programs, program));
	errno = saved;
	return made;
}

void blocks_wrap_parts(cl_icd_dispatch *table)
{
	BLOCKS_WRAP(table, clCompileProgram, compile);
	BLOCKS_WRAP(table, clLinkProgram, link);
}
