// SPDX-License-Identifier: Apache-2.0
// What a program in another language loads.
#include "program.h"

int use_device(int steps);

int use_device(int steps)
{
	struct program program = open_program(0);
	size_t items = ITEMS;
	int number;

	for (int i = 0; i < steps; i++)
		// HERE: library
		check(clEnqueueNDRangeKernel(program.queue, program.kernel, 1, NULL, &items, NULL,
		                             0, NULL, NULL),
		      "kernel");
	number = first_number(&program, program.queue);
	close_program(&program);
	return number;
}
