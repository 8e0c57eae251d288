// SPDX-License-Identifier: Apache-2.0
// What counting costs kernels on Level Zero: as blocks_cost.c, with files of SPIR-V.
//   tare blocks -- blocks_cost_levelzero ROUNDS (FILE (KERNEL N GLOBAL LOCAL [GLOBAL LOCAL])...
//   ,)...
// In the run that counts, each file is also a module whose header names another generator. tare has
// not seen that one, so its kernels are not counted.
#include "example.h"
#include "guest/blocks/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 18, MOST_BYTES = 1 << 20, WARM = 2, GENERATOR = 2 };

static struct device device;
static ze_command_list_handle_t list;
static ze_event_handle_t event;
static float *in, *out;

static ze_module_handle_t build(const char *path, bool as_seen)
{
	static uint32_t words[MOST_BYTES / sizeof(uint32_t)];
	FILE *file = fopen(path, "r");
	ze_module_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                    .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                    .pInputModule = (const uint8_t *)words };
	ze_module_handle_t made;

	if (!file)
		stop("%s cannot be read", path);
	wanted.inputSize = fread(words, 1, sizeof words, file);
	fclose(file);
	if (!as_seen)
		words[GENERATOR]++;
	check(zeModuleCreate(device.context, device.id, &wanted, &made, NULL), "zeModuleCreate");
	return made;
}

static double time_of(ze_kernel_handle_t kernel, const ze_group_count_t *groups)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, groups, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
	check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	ze_kernel_timestamp_result_t stamps = stamps_of(event);
	check(zeEventHostReset(event), "zeEventHostReset");
	return (double)elapsed(stamps.global.kernelStart, stamps.global.kernelEnd,
	                       device.properties.kernelTimestampValidBits) *
	       device.tick_ns;
}

static ze_kernel_handle_t made_kernel(ze_module_handle_t module, char **words,
                                      const uint32_t *local)
{
	ze_kernel_handle_t kernel = kernel_of(module, words[0]);
	int n = atoi(words[1]);

	set_argument(kernel, 0, sizeof in, &in);
	set_argument(kernel, 1, sizeof out, &out);
	set_argument(kernel, 2, sizeof n, &n);
	check(zeKernelSetGroupSize(kernel, local[0], local[1], local[2]), "zeKernelSetGroupSize");
	return kernel;
}

static void compare(const ze_module_handle_t *modules, char **words, int dimensions, int rounds)
{
	uint32_t local[3] = { 1, 1, 1 }, count[3] = { 1, 1, 1 };
	double times[2];

	for (int i = 0; i < dimensions; i++) {
		local[i] = (uint32_t)strtoul(words[3 + 2 * i], NULL, 10);
		count[i] = (uint32_t)strtoul(words[2 + 2 * i], NULL, 10) / local[i];
	}
	const ze_group_count_t groups = { count[0], count[1], count[2] };
	ze_kernel_handle_t kernels[2] = { made_kernel(modules[0], words, local),
		                          made_kernel(modules[1], words, local) };
	printf("%s", words[0]);
	for (int round = -WARM; round < rounds; round++) {
		for (int i = 0; i < 2; i++) {
			int which = i ^ (round & 1);
			times[which] = time_of(kernels[which], &groups);
		}
		if (round >= 0)
			printf(" %.0f %.0f", times[0], times[1]);
	}
	putchar('\n');
	check(zeKernelDestroy(kernels[0]), "zeKernelDestroy");
	check(zeKernelDestroy(kernels[1]), "zeKernelDestroy");
}

int main(int count, char **words)
{
	const char *stage = getenv(BLOCKS_ENVIRONMENT_STAGE);
	bool counts = stage && strcmp(stage, BLOCKS_STAGE_COUNT) == 0;

	device = open_device();
	list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	event = event_of(pool_of(&device, 1), 0);
	in = memory_of(&device, HOST, NUMBERS * sizeof(float));
	out = memory_of(&device, HOST, NUMBERS * sizeof(float));
	memset(out, 0, NUMBERS * sizeof(float));
	for (int i = 0; i < NUMBERS; i++)
		in[i] = (float)(i % 13);
	for (int i = 2; i < count; i++) {
		const char *path = words[i++];
		const ze_module_handle_t modules[] = { build(path, !counts), build(path, true) };
		while (i < count && strcmp(words[i], ",") != 0) {
			char **kernel = &words[i];
			int dimensions = 0;
			for (i += 2; dimensions < 3 && i + 1 < count && words[i][0] >= '0' &&
			             words[i][0] <= '9';
			     i += 2)
				dimensions++;
			compare(modules, kernel, dimensions, counts ? atoi(words[1]) : 1);
		}
	}
	return 0;
}
