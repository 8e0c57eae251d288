// SPDX-License-Identifier: Apache-2.0
// Modules of the simulated device: a name that the script gives a cost. A kernel's source in any
// language is nothing it could run.
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_script_kernel *find_kernel(const struct tare_script *script,
                                                    const char *name, size_t length)
{
	for (size_t i = 0; i < script->kernel_count; i++)
		if (strlen(script->kernels[i].name) == length &&
		    memcmp(script->kernels[i].name, name, length) == 0)
			return &script->kernels[i];
	return NULL;
}

int simulated_module_create(struct tare_device *base, const struct tare_module_source *source,
                            struct tare_module **module, char **log, struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)base;
	const struct tare_script *script = device->script;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	if (source->format != TARE_MODULE_NATIVE)
		return tare_fail(error, ENOTSUP,
		                 "the simulated device runs no source, only kernels that its "
		                 "script names");
	simulated_spend(device, script->host.build_ps);
	if (script->faults.build_log[0]) {
		if (log)
			*log = strdup(script->faults.build_log);
		return tare_fail(error, EINVAL,
		                 "the module does not build (fault build of the script)");
	}
	if (!find_kernel(script, source->data, source->bytes)) {
		if (log && asprintf(log, "no kernel '%.*s' in the script", (int)source->bytes,
		                    (const char *)source->data) < 0)
			*log = NULL;
		return tare_fail(error, EINVAL,
		                 "the simulated device knows no kernel '%.*s'; its script may "
		                 "name one",
		                 (int)(source->bytes < 60 ? source->bytes : 60),
		                 (const char *)source->data);
	}
	struct simulated_module *made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = base;
	*module = &made->base;
	return 0;
}

void simulated_module_free(struct tare_module *module)
{
	free(module);
}

int simulated_kernel_create(struct tare_module *module, const char *name,
                            struct tare_kernel **kernel, struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)module->device;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	const struct tare_script_kernel *found = find_kernel(device->script, name, strlen(name));
	if (!found)
		return tare_fail(error, EINVAL, "the module has no kernel '%.60s'", name);
	struct simulated_kernel *made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.module = module;
	made->script = found;
	*kernel = &made->base;
	return 0;
}

void simulated_kernel_free(struct tare_kernel *kernel)
{
	free(kernel);
}

static int64_t known(uint64_t value)
{
	return value ? (int64_t)value : -1;
}

uint64_t simulated_group_limit(const struct tare_script_kernel *kernel,
                               const struct tare_script_device *device)
{
	bool own =
	    kernel->work_group && (!device->work_group || kernel->work_group < device->work_group);

	return own ? kernel->work_group : device->work_group;
}

int simulated_kernel_facts(struct tare_kernel *base, struct tare_kernel_facts *facts,
                           struct tare_error *error)
{
	const struct tare_script_kernel *kernel = ((struct simulated_kernel *)base)->script;
	const struct tare_script_device *device =
	    &((struct simulated_device *)base->module->device)->script->device;

	(void)error;
	*facts = (struct tare_kernel_facts){
		.registers = known(kernel->registers),
		.local_bytes = known(kernel->local_bytes),
		.private_bytes = -1,
		.spill_bytes = -1,
		.simd_width = known(device->sub_group),
		.max_group_size = known(simulated_group_limit(kernel, device)),
		.preferred_multiple = known(device->sub_group),
		.arguments = known(kernel->arguments),
	};
	return 0;
}

int simulated_kernel_parameter(struct tare_kernel *base, uint32_t index,
                               struct tare_parameter *parameter, struct tare_error *error)
{
	const struct tare_script_kernel *kernel = ((struct simulated_kernel *)base)->script;

	(void)parameter;
	if (kernel->arguments && index >= kernel->arguments)
		return tare_fail(error, EINVAL,
		                 "kernel '%s' takes %llu arguments; number %u, from "
		                 "0, is not among them",
		                 kernel->name, (unsigned long long)kernel->arguments, index);
	return tare_fail(error, ENODATA,
	                 "a script tells how many arguments a kernel takes, not "
	                 "what they are");
}
