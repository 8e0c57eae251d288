// SPDX-License-Identifier: Apache-2.0
// Binaries that the program has taken from what it built, in this run or the one before: they are
// known by their bytes.
#include "guest/blocks/layer.h"

#include <errno.h>

// Of programs without a source: the hash of their BUILD or PART, or 0.
static struct guest_map *origins;

bool blocks_binaries_begin(void)
{
	origins = guest_map_new();
	return origins != NULL;
}

uint64_t blocks_origin(cl_program program)
{
	return guest_map_find(origins, program, 0);
}

void blocks_set_origin(cl_program program, uint64_t hash)
{
	guest_map_put(origins, program, hash);
}

// Whether it is still to be linked.
static bool is_compiled(cl_program program)
{
	cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
	cl_device_id devices[BLOCKS_MOST_DEVICES];

	return blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices,
	                                    NULL) == CL_SUCCESS &&
	       blocks_next.clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BINARY_TYPE,
	                                         sizeof type, &type, NULL) == CL_SUCCESS &&
	       type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
}

// The hash of what a program was built from, which is written down; 0: it is not known.
static uint64_t source_of(cl_program program)
{
	struct blocks_source source;
	enum blocks_why why;
	uint64_t hash = 0;

	if (is_compiled(program))
		return blocks_part(program);
	blocks_source_read(program, 0, &source, &why);
	if (source.data != NULL) {
		hash = source.hash;
		blocks_write(hash, BLOCKS_BUILD_SUFFIX, source.data, source.bytes);
	} else if (why == BLOCKS_NO_SOURCE) {
		hash = blocks_origin(program);
	}
	blocks_source_free(&source);
	return hash;
}

// The program has been given its binaries.
static void kept(cl_program program, unsigned char *const *binaries, size_t count)
{
	size_t sizes[BLOCKS_MOST_DEVICES], bytes = 0;

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
		blocks_is_not_linked(made);
		blocks_set_origin(made, blocks_read_origin(
		                            guest_hash(GUEST_HASH_START, binaries[0], lengths[0])));
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
		blocks_is_not_linked(made);
	}
	return made;
}

void blocks_wrap_binaries(cl_icd_dispatch *table)
{
	BLOCKS_WRAP(table, clGetProgramInfo, get_info);
	BLOCKS_WRAP(table, clCreateProgramWithBinary, load);
	BLOCKS_WRAP(table, clCreateProgramWithBuiltInKernels, built_in);
}
