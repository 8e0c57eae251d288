// SPDX-License-Identifier: Apache-2.0
// Programs without a source whose origin is known: binaries that the program has taken from what it
// built, in this run or the one before, which are known by their bytes, and programs that were
// linked from a single one.
#include "guest/blocks/layer.h"

#include <errno.h>

enum { MOST_DEVICES = 32 };

static struct guest_map *origins; // of such programs: the hash of their BUILD, or 0
static struct guest_map *headed;  // programs that were compiled with headers of the program's
static struct guest_map *joined;  // programs that were linked of several, or of one of these

bool blocks_binaries_begin(void)
{
	origins = guest_map_new();
	headed = guest_map_new();
	joined = guest_map_new();
	return origins != NULL && headed != NULL && joined != NULL;
}

uint64_t blocks_origin(cl_program program)
{
	return guest_map_find(origins, program, 0);
}

bool blocks_is_linked(cl_program program)
{
	return guest_map_find(joined, program, 0) != 0;
}

// The hash of what a program was built from, which is written down; 0: it is not known.
static uint64_t source_of(cl_program program)
{
	struct blocks_source source;
	enum blocks_why why;
	uint64_t hash = 0;

	blocks_source_read(program, &source, &why);
	if (source.data != NULL) {
		hash = source.hash;
		blocks_write_build(hash, source.data, source.bytes);
	} else if (why == BLOCKS_NO_SOURCE) {
		hash = blocks_origin(program);
	}
	blocks_source_free(&source);
	return hash;
}

// The program has been given its binaries.
static void kept(cl_program program, unsigned char *const *binaries, size_t count)
{
	size_t sizes[MOST_DEVICES], bytes = 0;

	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes,
	                                 &bytes) != CL_SUCCESS)
		return;
	uint64_t hash = source_of(program);
	for (size_t i = 0; hash != 0 && i < count && i < bytes / sizeof *sizes; i++)
		if (binaries[i] != NULL && sizes[i] != 0)
			blocks_write_origin(guest_hash(GUEST_HASH_START, binaries[i], sizes[i]),
			                    hash);
}

static CL_API_ENTRY cl_int CL_API_CALL get_info(cl_program program, cl_program_info name,
                                                size_t bytes, void *value, size_t *bytes_ret)
{
	cl_int result = blocks_next.clGetProgramInfo(program, name, bytes, value, bytes_ret);
	int saved = errno;

	if (result == CL_SUCCESS && name == CL_PROGRAM_BINARIES && value != NULL)
		kept(program, value, bytes / sizeof(unsigned char *));
	errno = saved;
	return result;
}

static CL_API_ENTRY cl_program CL_API_CALL load(cl_context context, cl_uint count,
                                                const cl_device_id *devices, const size_t *lengths,
                                                const unsigned char **binaries, cl_int *status,
                                                cl_int *error)
{
	cl_program made = blocks_next.clCreateProgramWithBinary(context, count, devices, lengths,
	                                                        binaries, status, error);
	int saved = errno;

	// One device's is enough: all of a program's are built from one source.
	if (made != NULL) {
		guest_map_remove(joined, made);
		guest_map_put(
		    origins, made,
		    blocks_read_origin(guest_hash(GUEST_HASH_START, binaries[0], lengths[0])));
	}
	errno = saved;
	return made;
}

static CL_API_ENTRY cl_int CL_API_CALL compile(cl_program program, cl_uint count,
                                               const cl_device_id *devices, const char *options,
                                               cl_uint headers, const cl_program *header,
                                               const char **names,
                                               void(CL_CALLBACK *notify)(cl_program, void *),
                                               void *data)
{
	if (headers != 0)
		guest_map_put(headed, program, 1);
	else
		guest_map_remove(headed, program);
	// What is compiled is not linked, whatever had its address before.
	guest_map_remove(joined, program);
	return blocks_compile(program, count, devices, options, headers, header, names, notify,
	                      data);
}

// One program that is linked alone is as if it had been built.
static CL_API_ENTRY cl_program CL_API_CALL link(cl_context context, cl_uint count,
                                                const cl_device_id *devices, const char *options,
                                                cl_uint programs, const cl_program *program,
                                                void(CL_CALLBACK *notify)(cl_program, void *),
                                                void *data, cl_int *error)
{
	cl_program made = blocks_next.clLinkProgram(context, count, devices, options, programs,
	                                            program, notify, data, error);
	int saved = errno;

	bool alone = programs == 1 && guest_map_find(headed, program[0], 0) == 0 &&
	             !blocks_is_linked(program[0]);
	if (made != NULL && alone) {
		guest_map_remove(joined, made);
		guest_map_put(origins, made, source_of(program[0]));
	} else if (made != NULL) {
		guest_map_put(joined, made, 1);
		guest_map_put(origins, made, 0);
	}
	errno = saved;
	return made;
}

// It may have the address of a program that was loaded.
static CL_API_ENTRY cl_program CL_API_CALL built_in(cl_context context, cl_uint count,
                                                    const cl_device_id *devices, const char *names,
                                                    cl_int *error)
{
	cl_program made =
	    blocks_next.clCreateProgramWithBuiltInKernels(context, count, devices, names, error);

	if (made != NULL) {
		guest_map_remove(origins, made);
		guest_map_remove(joined, made);
	}
	return made;
}

void blocks_wrap_binaries(cl_icd_dispatch *table)
{
	BLOCKS_WRAP(table, clGetProgramInfo, get_info);
	BLOCKS_WRAP(table, clCreateProgramWithBinary, load);
	BLOCKS_WRAP(table, clCompileProgram, compile);
	BLOCKS_WRAP(table, clLinkProgram, link);
	BLOCKS_WRAP(table, clCreateProgramWithBuiltInKernels, built_in);
}
