// SPDX-License-Identifier: Apache-2.0
// Text of instructions by NVIDIA's nvdisasm, where the user has it; one kernel a run, for modules
// are large.
#include "blocks/cuda/samples.h"
#include "blocks/tools/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "TARE_NVDISASM"
#define NAME "nvdisasm"
#define OUTPUT "nvdisasm.txt"
enum { PATH_BYTES = 4096, MOST_KERNELS = 10 };

// A line such as "        /*0010*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;".
static bool read_line(char *line, uint64_t *pc, char **text)
{
	char *end, *at = line + strspn(line, " \t");

	if (strncmp(at, "/*", 2) != 0)
		return false;
	*pc = strtoull(at + 2, &end, 16);
	if (end == at + 2 || strncmp(end, "*/", 2) != 0)
		return false;
	*text = end + 2 + strspn(end + 2, " \t");
	(*text)[strcspn(*text, ";\n")] = '\0';
	for (size_t length = strlen(*text); length && (*text)[length - 1] == ' ';)
		(*text)[--length] = '\0';
	return (*text)[0] != '\0';
}

static int read_output(struct tare_sampled_kernel *kernel, const char *name)
{
	FILE *file = fopen(name, "re");
	char *line = NULL, *text;
	size_t room = 0;
	uint64_t pc;
	int status = 0;

	kernel->text = file ? calloc((size_t)kernel->count + 1, sizeof *kernel->text) : NULL;
	if (file && !kernel->text)
		status = -ENOMEM;
	while (file && status == 0 && getline(&line, &room, file) >= 0) {
		if (!read_line(line, &pc, &text) || pc < kernel->function->value)
			continue;
		// Addresses are of the section.
		uint64_t at = (pc - kernel->function->value) / TARE_SASS_BYTES;
		if (at >= kernel->count || kernel->text[at])
			continue;
		kernel->text[at] = strdup(text);
		if (!kernel->text[at])
			status = -ENOMEM;
	}
	free(line);
	if (file)
		fclose(file);
	return status;
}

int tare_pc_samples_disassemble(const char *folder, struct tare_pc_samples *samples)
{
	char tool[TARE_BLOCKS_TOOL_BYTES], module[PATH_BYTES + 64], output[PATH_BYTES + 64],
	    index[32];
	size_t done = 0;
	int status = 0;

	if (!tare_blocks_cuda_tool_find(VARIABLE, NAME, tool))
		return 0;
	snprintf(output, sizeof output, "%.4000s/" OUTPUT, folder);
	for (size_t i = 0; status == 0 && i < samples->kernel_count && done < MOST_KERNELS; i++) {
		struct tare_sampled_kernel *kernel = &samples->kernels[i];
		const char *const arguments[] = { tool, "-c", "-fun", index, module, NULL };
		struct tare_error ignored = { 0 };
		if (!kernel->function)
			continue;
		done++;
		snprintf(index, sizeof index, "%u", kernel->function->symbol);
		snprintf(module, sizeof module, "%.4000s/%016llx" SAMPLES_CUBIN_SUFFIX, folder,
		         (unsigned long long)kernel->crc);
		if (tare_blocks_tool_run(arguments, output, &ignored) == 0) {
			status = read_output(kernel, output);
			samples->has_text = true;
		}
	}
	return status;
}
