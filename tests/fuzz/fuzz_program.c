// SPDX-License-Identifier: Apache-2.0
// Any bytes as the program that is to be recorded: what is told of it without running it.
#include "target.h"

#include "record/loader/program.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct tare_program program;
	struct tare_error error = { 0 };

	FUZZ_CHECK(tare_program_find(path, &program, &error) == 0 &&
	           strcmp(program.path, path) == 0);
	FUZZ_CHECK(!tare_file_is_cut(path) || (size > 4 && memcmp(data, "\177ELF", 4) == 0));
	FUZZ_CHECK(!program.fixed || (size > 4 && memcmp(data, "\177ELF", 4) == 0));
	tare_program_free(&program);
	return 0;
}
