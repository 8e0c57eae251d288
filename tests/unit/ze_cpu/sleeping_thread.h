// SPDX-License-Identifier: Apache-2.0
// Until another thread of this process sleeps: in what it waits for, as far as can be told from
// outside.
#pragma once
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

// *number: the thread's, as gettid tells it; 0 until it runs.
static inline void await_sleep(atomic_long *number)
{
	char path[64], state = 0;
	FILE *file;

	while (state != 'S') {
		usleep(1000);
		if (atomic_load(number) == 0)
			continue;
		snprintf(path, sizeof path, "/proc/self/task/%ld/stat", atomic_load(number));
		file = fopen(path, "r");
		// Where it has ended already, nothing is tested, and nothing is wrong.
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 'S';
		if (file)
			fclose(file);
	}
}
