// SPDX-License-Identifier: Apache-2.0
// Of NVIDIA's driver: the binary of a program is PTX, a text that it takes as a program's binary,
// too.
#include "guest/blocks/layer.h"
#include "guest/blocks/ptx_text.h"

#include <string.h>

// An option of NVIDIA's compiler that writes lines of the source into PTX, and changes nothing else
// in it: that is compared between the runs.
#define LINES " -nv-line-info"

// The binary of the i-th of a program's devices.
static void binary_of(cl_program program, size_t count, size_t i, size_t bytes,
                      struct blocks_source *binary)
{
	unsigned char *binaries[BLOCKS_MOST_DEVICES] = { NULL };

	if (bytes == 0 || !blocks_source_room(binary, bytes))
		return;
	binaries[i] = binary->data;
	binary->bytes = bytes;
	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries,
	                                 binaries, NULL) != CL_SUCCESS ||
	    !blocks_is_ptx(binary->data, bytes)) {
		blocks_source_free(binary);
		return;
	}
	binary->bytes = strnlen(binary->data, bytes);
}

void blocks_ptx_of(cl_program program, struct blocks_source *ptx)
{
	size_t sizes[BLOCKS_MOST_DEVICES], bytes = 0;

	*ptx = (struct blocks_source){ .data = NULL };
	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes,
	                                 &bytes) != CL_SUCCESS ||
	    bytes == 0)
		return;
	size_t count = bytes / sizeof *sizes;
	binary_of(program, count, 0, sizes[0], ptx);
	for (size_t i = 1; ptx->data != NULL && i < count; i++) {
		struct blocks_source other = { .data = NULL };
		binary_of(program, count, i, sizes[i], &other);
		if (other.data == NULL || other.bytes != ptx->bytes ||
		    memcmp(other.data, ptx->data, ptx->bytes) != 0)
			blocks_source_free(ptx);
		blocks_source_free(&other);
	}
}

static void write_lined(cl_program made, cl_uint count, const cl_device_id *devices,
                        const struct blocks_build *build, uint64_t hash)
{
	struct blocks_source options = { .data = NULL }, ptx = { .data = NULL };
	size_t bytes = strnlen((const char *)(build + 1), build->options_bytes);

	if (!blocks_source_room(&options, bytes + sizeof LINES))
		return;
	memcpy(options.data, build + 1, bytes);
	memcpy((char *)options.data + bytes, LINES, sizeof LINES);
	if (blocks_next.clBuildProgram(made, count, devices, options.data, NULL, NULL) ==
	    CL_SUCCESS)
		blocks_ptx_of(made, &ptx);
	if (ptx.data != NULL)
		blocks_write(hash, BLOCKS_LINED_SUFFIX, ptx.data, ptx.bytes);
	blocks_source_free(&ptx);
	blocks_source_free(&options);
}

void blocks_ptx_write_lines(cl_program program, const struct blocks_source *source)
{
	const struct blocks_build *build = source->data;
	struct blocks_source text = { .data = NULL };
	cl_device_id devices[BLOCKS_MOST_DEVICES];
	cl_context context = NULL;
	cl_int code = CL_SUCCESS;
	size_t bytes = 0, all = 0;

	// Of a text whose source is there, the program was built with lines already.
	if (build->language != BLOCKS_PTX || blocks_is_linked(program) ||
	    blocks_is_written(source->hash, BLOCKS_SOURCE_SUFFIX) ||
	    blocks_next.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes) !=
	        CL_SUCCESS ||
	    bytes <= 1 || !blocks_source_room(&text, bytes))
		return;
	blocks_next.clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, text.data, NULL);
	blocks_write(source->hash, BLOCKS_SOURCE_SUFFIX, text.data, bytes - 1);
	const char *from = text.data;
	blocks_next.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
	blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, &all);
	cl_program made = blocks_next.clCreateProgramWithSource(context, 1, &from, NULL, &code);
	if (made != NULL) {
		write_lined(made, (cl_uint)(all / sizeof *devices), devices, build, source->hash);
		blocks_next.clReleaseProgram(made);
	}
	blocks_source_free(&text);
}
