// SPDX-License-Identifier: Apache-2.0
// Built without unwind tables: nobody can tell who has called.
#include "sites.h"

void bare_write(const struct program *program, const int *numbers)
{
	// HERE: bare
	check(clEnqueueWriteBuffer(program->queue, program->memory, CL_TRUE, 0, BYTES, numbers, 0,
	                           NULL, NULL),
	      "write");
}
