// SPDX-License-Identifier: Apache-2.0
// Tests of tare record that each run in a folder of their own.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static inline int open_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-test-record-XXXXXX");
	unsetenv("OMPI_COMM_WORLD_SIZE");
	unsetenv("PMI_SIZE");
	unsetenv("SLURM_STEP_NUM_TASKS");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int close_folder(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

static inline void put(const char *path, const void *text, size_t bytes)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static inline void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static inline bool is_there(const char *path)
{
	struct stat about;
	return lstat(path, &about) == 0;
}

#define IN_A_FOLDER(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
