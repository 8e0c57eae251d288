// SPDX-License-Identifier: Apache-2.0
// Runs kernels of a SPIR-V file on Level Zero:
//   counted_levelzero FILE immediate|TIMES (KERNEL N GLOBAL LOCAL [GLOBAL LOCAL])...
// Each is launched once, in an immediate list, or in a regular one that is executed so many times,
// on numbers i % 13. A sum of what it wrote is printed. GLOBAL is a multiple of LOCAL. With
// COUNTED_WITH=FILE the module is linked with that one; with COUNTED_OF=FILE it is made of both.
// COUNTED_BY says by which function it is launched: arguments, parameters, named, indirect,
// several; or "lists": an immediate list runs the regular one. With COUNTED_CONSTANT="VALUE..." all
// is done with a module for each value of specialisation constant 1, an int. With
// COUNTED_SYMBOL="NAME VALUE" the host writes an int into a variable of the module first.
#include "backend/levelzero/newer.h"
#include "example.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 16 };

struct work {
	struct device device;
	ze_module_handle_t module;
	ze_command_queue_handle_t queue;
	float *in;
	unsigned char *out;
	unsigned times;           // of a regular list; 0: an immediate one
	ze_group_count_t *groups; // where the device reads them
	uint32_t *number;
};

struct launch {
	ze_kernel_handle_t kernel;
	int n;
	ze_group_count_t groups;
	struct levelzero_group_size size;
	bool again; // with what was set by the launch before
};

static ze_module_handle_t module_of_two(const struct device *device, const char *first,
                                        const char *second)
{
	static unsigned char texts[2][1 << 18];
	const char *const paths[] = { first, second };
	const uint8_t *inputs[] = { texts[0], texts[1] };
	size_t sizes[2];
	const ze_module_program_exp_desc_t parts = {
		.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
		.count = 2,
		.inputSizes = sizes,
		.pInputModules = inputs,
	};
	// Members that are ignored beside the parts, and may be anything.
	const ze_module_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                          .pNext = &parts,
		                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                          .pInputModule = (const uint8_t *)1,
		                          .inputSize = 1,
		                          .pBuildFlags = (const char *)1,
		                          .pConstants = (const ze_module_constants_t *)1 };
	ze_module_handle_t made;

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(paths[i], "r");
		sizes[i] = file ? fread(texts[i], 1, sizeof texts[i], file) : 0;
		if (file)
			fclose(file);
	}
	check(zeModuleCreate(device->context, device->id, &wanted, &made, NULL), "zeModuleCreate");
	return made;
}

static ze_module_handle_t module_with(const struct device *device, const char *path, int value)
{
	static unsigned char text[1 << 18];
	const void *values[] = { &value };
	uint32_t id = 1;
	const ze_module_constants_t constants = { 1, &id, values };
	FILE *file = fopen(path, "r");
	const ze_module_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                          .pInputModule = text,
		                          .inputSize = file ? fread(text, 1, sizeof text, file) : 0,
		                          .pConstants = &constants };
	ze_module_handle_t made;

	if (file)
		fclose(file);
	check(zeModuleCreate(device->context, device->id, &wanted, &made, NULL), "zeModuleCreate");
	return made;
}

static ze_command_list_handle_t immediate_list(const struct device *device)
{
	const ze_command_queue_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.ordinal = device->compute,
		.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
	};
	ze_command_list_handle_t list;

	check(zeCommandListCreateImmediate(device->context, device->id, &wanted, &list),
	      "zeCommandListCreateImmediate");
	return list;
}

typedef ze_result_t append_lists(ze_command_list_handle_t onto, uint32_t count,
                                 ze_command_list_handle_t *lists, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits);

// A function that the loader may be too old to know.
static void *entry(const struct work *work, const char *name)
{
	void *address = NULL;

	check(zeDriverGetExtensionFunctionAddress(work->device.driver, name, &address), name);
	return address;
}

static bool by(const char *way)
{
	const char *wanted = getenv("COUNTED_BY");

	return strcmp(wanted ? wanted : "", way) == 0;
}

static void append(const struct work *work, ze_command_list_handle_t list,
                   const struct launch *launch)
{
	// The device reads these as the list runs.
	ze_group_count_t *groups = work->groups;
	void *values[] = { &(void *){ work->in }, &(void *){ work->out }, &(int){ launch->n } };
	ze_kernel_handle_t both[] = { launch->kernel, launch->kernel };

	groups[0] = groups[1] = launch->groups;
	work->number[0] = 1;
	if (by("arguments") || (by("both") && !launch->again))
		check(((levelzero_launch_with_arguments *)entry(
		          work, "zeCommandListAppendLaunchKernelWithArguments"))(
		          list, launch->kernel, launch->groups, launch->size, values, NULL, NULL, 0,
		          NULL),
		      "zeCommandListAppendLaunchKernelWithArguments");
	else if (by("parameters"))
		check(((levelzero_launch_with_parameters *)entry(
		          work, "zeCommandListAppendLaunchKernelWithParameters"))(
		          list, launch->kernel, &launch->groups, NULL, NULL, 0, NULL),
		      "zeCommandListAppendLaunchKernelWithParameters");
	else if (by("named"))
		check(((__typeof__(zeCommandListAppendLaunchKernel) *)entry(
		          work, "zeCommandListAppendLaunchKernel"))(list, launch->kernel,
		                                                    &launch->groups, NULL, 0, NULL),
		      "zeCommandListAppendLaunchKernel by its name");
	else if (by("indirect"))
		check(zeCommandListAppendLaunchKernelIndirect(list, launch->kernel, groups, NULL, 0,
		                                              NULL),
		      "zeCommandListAppendLaunchKernelIndirect");
	else if (by("several"))
		check(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, both, work->number,
		                                                       groups, NULL, 0, NULL),
		      "zeCommandListAppendLaunchMultipleKernelsIndirect");
	else
		check(zeCommandListAppendLaunchKernel(list, launch->kernel, &launch->groups, NULL,
		                                      0, NULL),
		      "zeCommandListAppendLaunchKernel");
}

static void launch(const struct work *work, const struct launch *launch)
{
	ze_command_list_handle_t list = work->times ? list_of(&work->device, work->device.compute)
	                                            : immediate_list(&work->device);

	append(work, list, launch);
	if (work->times)
		check(zeCommandListClose(list), "zeCommandListClose");
	ze_command_list_handle_t onto = by("lists") ? immediate_list(&work->device) : NULL;
	for (unsigned i = 0; i < work->times; i++)
		if (onto)
			check(((append_lists *)entry(
			          work, "zeCommandListImmediateAppendCommandListsExp"))(
			          onto, 1, &list, NULL, 0, NULL),
			      "zeCommandListImmediateAppendCommandListsExp");
		else
			run_ns(work->queue, list);
	if (onto)
		check(zeCommandListDestroy(onto), "zeCommandListDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void run(const struct work *work, const char *name, int n, const uint32_t *global,
                const uint32_t *local)
{
	ze_kernel_handle_t kernel = kernel_of(work->module, name);
	struct launch wanted = {
		.kernel = kernel,
		.n = n,
		.groups = { global[0] / local[0], global[1] / local[1], global[2] / local[2] },
		.size = { local[0], local[1], local[2] },
	};
	ze_kernel_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	unsigned long long sum = 0;

	memset(work->out, 0, NUMBERS * sizeof(float));
	// Of "both" what stands here is another launch's, until one sets arguments itself.
	int first = by("both") ? 0 : n;
	if (!by("arguments")) {
		set_argument(kernel, 0, sizeof work->in, &work->in);
		set_argument(kernel, 1, sizeof work->out, &work->out);
		set_argument(kernel, 2, sizeof first, &first);
		check(zeKernelSetGroupSize(kernel, local[0], local[1], local[2]),
		      "zeKernelSetGroupSize");
	}
	check(zeKernelGetProperties(kernel, &properties), "zeKernelGetProperties");
	launch(work, &wanted);
	if (by("both")) {
		wanted.again = true;
		memset(work->out, 0, NUMBERS * sizeof(float));
		launch(work, &wanted);
	}
	for (size_t i = 0; i < NUMBERS * sizeof(float); i++)
		sum = sum * 31 + work->out[i];
	printf("%s: %u arguments, %llx\n", name, properties.numKernelArgs, sum);
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
}

static void run_all(const struct work *work, int count, char **words)
{
	for (int i = 3; i + 3 < count;) {
		const char *name = words[i++];
		int n = atoi(words[i++]);
		uint32_t global[3] = { 1, 1, 1 }, local[3] = { 1, 1, 1 };
		for (int d = 0; d < 3 && i + 1 < count && words[i][0] >= '0' && words[i][0] <= '9';
		     d++) {
			global[d] = (uint32_t)strtoul(words[i++], NULL, 10);
			local[d] = (uint32_t)strtoul(words[i++], NULL, 10);
		}
		run(work, name, n, global, local);
	}
}

// What ze-cpu tells is memory that the host may write to.
static void write_symbol(ze_module_handle_t module)
{
	char name[64];
	int value;
	void *at;

	if (sscanf(getenv("COUNTED_SYMBOL"), "%63s %d", name, &value) != 2)
		exit(2);
	check(zeModuleGetGlobalPointer(module, name, NULL, &at), "zeModuleGetGlobalPointer");
	memcpy(at, &value, sizeof value);
}

static void run_specialised(struct work *work, const char *values, int count, char **words)
{
	char *rest;

	for (long value = strtol(values, &rest, 10); rest != values;
	     values = rest, value = strtol(values, &rest, 10)) {
		work->module = module_with(&work->device, words[1], (int)value);
		run_all(work, count, words);
		check(zeModuleDestroy(work->module), "zeModuleDestroy");
	}
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	struct work work = { .device = open_device(),
		             .times = (unsigned)strtoul(words[2], NULL, 10) };
	const char *other = getenv("COUNTED_WITH"), *second = getenv("COUNTED_OF");
	const char *values = getenv("COUNTED_CONSTANT");
	work.module = second ? module_of_two(&work.device, words[1], second)
	                     : module_of(&work.device, words[1]);
	ze_module_handle_t both[] = { work.module, other ? module_of(&work.device, other) : NULL };
	if (other)
		check(zeModuleDynamicLink(2, both, NULL), "zeModuleDynamicLink");
	work.queue = queue_of(&work.device, work.device.compute, 0);
	work.in = memory_of(&work.device, HOST, NUMBERS * sizeof(float));
	work.out = memory_of(&work.device, HOST, NUMBERS * sizeof(float));
	work.groups = memory_of(&work.device, HOST, 2 * sizeof *work.groups);
	work.number = memory_of(&work.device, HOST, sizeof *work.number);
	for (int i = 0; i < NUMBERS; i++)
		work.in[i] = (float)(i % 13);
	if (getenv("COUNTED_SYMBOL"))
		write_symbol(work.module);
	if (values)
		run_specialised(&work, values, count, words);
	else
		run_all(&work, count, words);
	free_memory(&work.device, HOST, work.in);
	free_memory(&work.device, HOST, work.out);
	free_memory(&work.device, HOST, work.groups);
	free_memory(&work.device, HOST, work.number);
	check(zeCommandQueueDestroy(work.queue), "zeCommandQueueDestroy");
	check(zeModuleDestroy(both[0]), "zeModuleDestroy");
	if (other)
		check(zeModuleDestroy(both[1]), "zeModuleDestroy");
	close_device(&work.device);
	return 0;
}
