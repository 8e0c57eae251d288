// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of Level Zero, and the entry by which the stubs of its drivers
// (guest/levelzero/stub) take us between them and the loader.
#include "guest/blocks/levelzero.h"
#include "guest/blocks/set.h"

#include <errno.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void tare_levelzero_table(unsigned slot, const char *table, uint32_t version,
                                   void *members);

// Of a module of the program.
struct module {
	uint64_t hash; // of its BUILD; 0: none
	ze_context_handle_t context;
	ze_device_handle_t device;
	bool cpu;                // the device is one, and reaches the mapped file
	ze_module_handle_t twin; // NULL: none
	enum blocks_why why;     // there is none
	ze_result_t code;
	uint64_t most, most_x;    // work-items of a group, and in its first dimension; 0: not told
	struct module *following; // among those to be used again
};

struct blocks_ze_functions blocks_ze_next;
static enum blocks_stage stage;
static struct guest_map *modules, *kernels, *memories; // by handle; the latter by row
static struct guest_map *held;                         // by hashes of BUILDs
static _Atomic bool any_held;
static struct module *spare_module;
static struct blocks_ze_kernel *spare_kernel;
static guest_lock lock;

bool blocks_ze_kernels_begin(enum blocks_stage at)
{
	stage = at;
	guest_lock_register(&lock);
	modules = guest_map_new();
	kernels = guest_map_new();
	memories = guest_map_new();
	held = guest_map_new();
	return modules != NULL && kernels != NULL && memories != NULL && held != NULL;
}

struct blocks_ze_kernel *blocks_ze_kernel(ze_kernel_handle_t kernel)
{
	return (struct blocks_ze_kernel *)(uintptr_t)guest_map_find(kernels, kernel, 0);
}

// ---- variables of modules

static const void *key_of(uint64_t hash)
{
	return (const void *)(uintptr_t)hash;
}

bool blocks_ze_is_held(const struct blocks_ze_kernel *kernel)
{
	return atomic_load_explicit(&any_held, memory_order_relaxed) && kernel->row != NULL &&
	       guest_map_find(held, key_of(kernel->row->hash), 0) != 0;
}

// The first run tells the later ones, before a launch of theirs can be in a list.
static void hold(uint64_t hash)
{
	static const char nothing[1] = { 0 };

	if (hash == 0)
		return;
	guest_map_put(held, key_of(hash), 1);
	atomic_store(&any_held, true);
	if (stage == BLOCKS_COLLECT)
		blocks_write(hash, BLOCKS_HELD_SUFFIX, nothing, sizeof nothing);
}

static ze_result_t ZE_APICALL global_pointer(ze_module_handle_t handle, const char *name,
                                             size_t *bytes, void **pointer)
{
	ze_result_t result = blocks_ze_next.global_pointer(handle, name, bytes, pointer);
	const struct module *module =
	    (const struct module *)(uintptr_t)guest_map_find(modules, handle, 0);
	int saved = errno;

	if (result == ZE_RESULT_SUCCESS && module != NULL)
		hold(module->hash);
	errno = saved;
	return result;
}

// ---- modules

static bool is_cpu(ze_device_handle_t device)
{
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };

	return blocks_ze_next.device_properties != NULL &&
	       blocks_ze_next.device_properties(device, &properties) == ZE_RESULT_SUCCESS &&
	       properties.type == ZE_DEVICE_TYPE_CPU;
}

static bool lacks_atomics(ze_device_handle_t device)
{
	ze_device_module_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES
	};

	return blocks_test_no_atomics() || blocks_ze_next.module_properties == NULL ||
	       blocks_ze_next.module_properties(device, &properties) != ZE_RESULT_SUCCESS ||
	       !(properties.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
}

// How large its work-groups may be.
static void ask_most(struct module *module, ze_device_handle_t device)
{
	ze_device_compute_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES
	};

	if (blocks_ze_next.compute_properties == NULL ||
	    blocks_ze_next.compute_properties(device, &properties) != ZE_RESULT_SUCCESS)
		return;
	module->most = properties.maxTotalGroupSize;
	module->most_x = properties.maxGroupSizeX;
}

static void make_twin_module(struct module *module, ze_context_handle_t context,
                             ze_device_handle_t device, const ze_module_desc_t *desc)
{
	const struct blocks_module *made = blocks_module_of(module->hash);
	ze_module_desc_t wanted = *desc;

	module->why = BLOCKS_NO_MODULE;
	if (made == NULL)
		return;
	if (desc->pNext != NULL) {
		// Parts are joined in it; with them the members of the whole mean nothing.
		const ze_module_program_exp_desc_t *parts = desc->pNext;
		wanted.pNext = NULL;
		wanted.pBuildFlags =
		    parts->pBuildFlags != NULL && parts->count != 0 ? parts->pBuildFlags[0] : NULL;
	}
	// It has the values of its specialisation constants in it.
	wanted.pConstants = NULL;
	wanted.pInputModule = (const uint8_t *)(made + 1);
	wanted.inputSize = made->spirv_bytes;
	module->code = blocks_ze_next.module_create(context, device, &wanted, &module->twin, NULL);
	module->why = module->code == ZE_RESULT_SUCCESS ? BLOCKS_COVERED : BLOCKS_BUILD_FAILED;
	if (module->code != ZE_RESULT_SUCCESS)
		module->twin = NULL;
}

static void know_module(ze_context_handle_t context, ze_device_handle_t device,
                        const ze_module_desc_t *desc, ze_module_handle_t handle)
{
	guest_acquire(&lock);
	struct module *module = spare_module;
	if (module != NULL)
		spare_module = module->following;
	guest_release(&lock);
	if (module == NULL)
		module = guest_memory(sizeof *module);
	if (module == NULL)
		return;
	*module = (struct module){ .context = context,
		                   .device = device,
		                   .cpu = is_cpu(device) && !blocks_test_far() };
	if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
		module->why = BLOCKS_NO_SOURCE;
	else if ((module->why = blocks_ze_note_build(desc, lacks_atomics(device),
	                                             stage == BLOCKS_COLLECT, &module->hash)) !=
	         BLOCKS_COVERED)
		;
	else if (stage != BLOCKS_COLLECT && blocks_is_written(module->hash, BLOCKS_HELD_SUFFIX))
		module->why = BLOCKS_HELD;
	else if (stage != BLOCKS_COLLECT)
		make_twin_module(module, context, device, desc);
	if (module->twin != NULL)
		ask_most(module, device);
	guest_map_put(modules, handle, (uintptr_t)module);
}

static ze_result_t ZE_APICALL module_create(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t *desc, ze_module_handle_t *made,
                                            ze_module_build_log_handle_t *log)
{
	struct blocks_ze_wanted wanted = { .desc = desc };
	ze_result_t result = blocks_ze_create(context, device, &wanted, made, log);
	int saved = errno;

	if (result == ZE_RESULT_SUCCESS)
		know_module(context, device, wanted.desc, *made);
	blocks_ze_wanted_free(&wanted);
	errno = saved;
	return result;
}

static ze_result_t ZE_APICALL module_destroy(ze_module_handle_t handle)
{
	struct module *module = (struct module *)(uintptr_t)guest_map_find(modules, handle, 0);

	// Another one may have the handle as soon as it is gone.
	guest_map_remove(modules, handle);
	ze_result_t result = blocks_ze_next.module_destroy(handle);
	if (module == NULL)
		return result;
	if (result != ZE_RESULT_SUCCESS) {
		guest_map_put(modules, handle, (uintptr_t)module);
		return result;
	}
	if (module->twin != NULL)
		blocks_ze_next.module_destroy(module->twin);
	guest_acquire(&lock);
	module->following = spare_module;
	spare_module = module;
	guest_release(&lock);
	return result;
}

// ---- kernels

// The row's counters, as the kernels of a CPU device reach them: where the file is mapped.
static void *memory_of(struct blocks_kernel *row, enum blocks_why *why)
{
	void *memory = (void *)(uintptr_t)guest_map_find(memories, row, 0);

	if (memory != NULL)
		return memory;
	memory = blocks_counters(row, blocks_module_of(row->hash), why);
	if (memory != NULL)
		guest_map_put(memories, row, (uintptr_t)memory);
	return memory;
}

// False: the driver does not say. `more`: what else it is asked; NULL: nothing.
static bool properties_of(ze_kernel_handle_t kernel, ze_kernel_properties_t *properties, void *more)
{
	*properties =
	    (ze_kernel_properties_t){ .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = more };
	return blocks_ze_next.kernel_properties != NULL &&
	       blocks_ze_next.kernel_properties(kernel, properties) == ZE_RESULT_SUCCESS;
}

static uint32_t arguments_of(ze_kernel_handle_t kernel)
{
	ze_kernel_properties_t properties;

	return properties_of(kernel, &properties, NULL) ? properties.numKernelArgs : UINT32_MAX;
}

// What the driver says of the program's kernel.
static void note_facts(struct blocks_ze_kernel *kernel, const ze_kernel_properties_t *properties,
                       uint32_t multiple)
{
	const uint32_t required[3] = { properties->requiredGroupSizeX,
		                       properties->requiredGroupSizeY,
		                       properties->requiredGroupSizeZ };
	struct blocks_kernel *row = kernel->row;

	for (int i = 0; i < 3 && required[0] != 0; i++)
		kernel->group[i] = required[i];
	if (row == NULL || row->facts)
		return;
	// Sub-groups of one work-item are none.
	row->sub_group =
	    properties->maxSubgroupSize > 1 ? properties->maxSubgroupSize : BLOCKS_NOT_TOLD;
	row->multiple = multiple != 0 ? multiple : BLOCKS_NOT_TOLD;
	row->private_bytes = row->spill_bytes = BLOCKS_NOT_TOLD;
	row->facts = 1;
}

// Sets a twin's counters; false: row->why and row->code say why not.
static bool set_counters(const struct module *module, ze_kernel_handle_t twin, uint32_t argument,
                         struct blocks_ze_kernel *kernel)
{
	struct blocks_kernel *row = kernel->row;
	enum blocks_why why = BLOCKS_NO_ROOM;
	void *memory = NULL;

	if (module->cpu) {
		memory = memory_of(row, &why);
	} else {
		kernel->far = blocks_ze_far_memory(module->context, module->device, row,
		                                   kernel->module, &why, &row->code);
		memory = kernel->far != NULL ? kernel->far->memory : NULL;
	}
	if (memory == NULL) {
		row->why = why;
		return false;
	}
	row->code = (int32_t)blocks_ze_next.set_argument(twin, argument, sizeof memory, &memory);
	kernel->counters = module->cpu ? memory : NULL;
	kernel->memory = memory;
	return row->code == ZE_RESULT_SUCCESS;
}

// The twin of a kernel, its counters set; NULL: row->why says why.
static ze_kernel_handle_t make_twin(const struct module *module, const ze_kernel_desc_t *desc,
                                    uint32_t arguments, struct blocks_ze_kernel *kernel)
{
	struct blocks_kernel *row = kernel->row;
	ze_kernel_handle_t twin = NULL;

	row->why = BLOCKS_KERNEL_FAILED;
	row->code = (int32_t)blocks_ze_next.kernel_create(module->twin, desc, &twin);
	// The program has linked its own module with others, and the twin has none.
	if (row->code == (int32_t)ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED)
		row->why = BLOCKS_LINKED;
	if (row->code != ZE_RESULT_SUCCESS)
		return NULL;
	uint32_t added = stage == BLOCKS_COUNT;
	kernel->module = blocks_module_of(row->hash);
	if (arguments == UINT32_MAX || arguments_of(twin) != arguments + added) {
		row->code = (int32_t)ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	} else if (!added) {
		row->why = BLOCKS_COVERED;
		kernel->regroups = blocks_regroups(kernel->module, row);
		return twin;
	} else if (set_counters(module, twin, arguments, kernel)) {
		row->why = BLOCKS_COVERED;
		return twin;
	}
	blocks_ze_next.kernel_destroy(twin);
	return NULL;
}

static void know_kernel(ze_module_handle_t from, const ze_kernel_desc_t *desc,
                        ze_kernel_handle_t handle)
{
	const struct module *module =
	    (const struct module *)(uintptr_t)guest_map_find(modules, from, 0);

	guest_acquire(&lock);
	struct blocks_ze_kernel *kernel = spare_kernel;
	if (kernel != NULL)
		spare_kernel = kernel->following;
	guest_release(&lock);
	if (kernel == NULL)
		kernel = guest_memory(sizeof *kernel);
	if (kernel == NULL || module == NULL)
		return;
	*kernel = (struct blocks_ze_kernel){ .row = blocks_row(desc->pKernelName, module->hash,
		                                               BLOCKS_LEVEL_ZERO),
		                             .group = { 1, 1, 1 },
		                             .most = module->most,
		                             .most_x = module->most_x };
	// Of CPU devices alone: Intel's GPU driver may never come back from what it does not know.
	ze_kernel_preferred_group_size_properties_t preferred = {
		.stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES
	};
	ze_kernel_properties_t properties;
	bool told = properties_of(handle, &properties,
	                          module->hash != 0 && module->cpu ? &preferred : NULL);
	kernel->arguments = told ? properties.numKernelArgs : UINT32_MAX;
	if (told)
		note_facts(kernel, &properties, preferred.preferredMultiple);
	if (kernel->row != NULL && module->twin == NULL) {
		kernel->row->why = module->why;
		kernel->row->code = (int32_t)module->code;
	} else if (kernel->row != NULL) {
		kernel->twin = make_twin(module, desc, kernel->arguments, kernel);
	}
	guest_map_put(kernels, handle, (uintptr_t)kernel);
}

static ze_result_t ZE_APICALL kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                            ze_kernel_handle_t *made)
{
	ze_result_t result = blocks_ze_next.kernel_create(module, desc, made);
	int saved = errno;

	if (result == ZE_RESULT_SUCCESS)
		know_kernel(module, desc, *made);
	errno = saved;
	return result;
}

static ze_result_t ZE_APICALL kernel_destroy(ze_kernel_handle_t handle)
{
	struct blocks_ze_kernel *kernel = blocks_ze_kernel(handle);

	guest_map_remove(kernels, handle);
	ze_result_t result = blocks_ze_next.kernel_destroy(handle);
	if (kernel == NULL)
		return result;
	if (result != ZE_RESULT_SUCCESS) {
		guest_map_put(kernels, handle, (uintptr_t)kernel);
		return result;
	}
	if (kernel->twin != NULL)
		blocks_ze_next.kernel_destroy(kernel->twin);
	if (kernel->parted != NULL)
		blocks_ze_next.kernel_destroy(kernel->parted);
	guest_acquire(&lock);
	kernel->following = spare_kernel;
	spare_kernel = kernel;
	guest_release(&lock);
	return result;
}

void blocks_ze_part(struct blocks_ze_kernel *kernel)
{
	if (kernel->twin != NULL)
		kernel->parted = kernel->twin;
	kernel->twin = NULL;
}

// What was set for the kernel was set for the twin with this result: a twin that lacks it is not
// launched any more.
static void set_too(struct blocks_ze_kernel *kernel, ze_result_t code)
{
	if (code == ZE_RESULT_SUCCESS)
		return;
	kernel->row->why = BLOCKS_ARGUMENT_FAILED;
	kernel->row->code = (int32_t)code;
	blocks_ze_part(kernel);
}

// Calls a function for the kernel, and then for its twin.
#define SET(kernel, call, ...)                                                                     \
	ze_result_t result = blocks_ze_next.call(kernel, __VA_ARGS__);                             \
	struct blocks_ze_kernel *known =                                                           \
	    result == ZE_RESULT_SUCCESS ? blocks_ze_kernel(kernel) : NULL;                         \
	if (known != NULL && known->twin != NULL)                                                  \
	set_too(known, blocks_ze_next.call(known->twin, __VA_ARGS__))

static ze_result_t ZE_APICALL set_argument(ze_kernel_handle_t kernel, uint32_t index, size_t bytes,
                                           const void *value)
{
	SET(kernel, set_argument, index, bytes, value);
	if (known == NULL || known->row == NULL)
		return result;
	if (stage == BLOCKS_COUNT)
		blocks_note_argument(known->row, index, bytes, value);
	else if (stage == BLOCKS_CHANGE && known->twin != NULL)
		blocks_fit_argument(known->module, known->row, index, bytes, value,
		                    &known->misfits);
	return result;
}

static ze_result_t ZE_APICALL set_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                             uint32_t z)
{
	SET(kernel, set_group_size, x, y, z);
	if (known != NULL) {
		known->group[0] = x;
		known->group[1] = y;
		known->group[2] = z;
	}
	return result;
}

static ze_result_t ZE_APICALL set_indirect_access(ze_kernel_handle_t kernel,
                                                  ze_kernel_indirect_access_flags_t flags)
{
	SET(kernel, set_indirect_access, flags);
	return result;
}

static ze_result_t ZE_APICALL set_cache_config(ze_kernel_handle_t kernel,
                                               ze_cache_config_flags_t flags)
{
	SET(kernel, set_cache_config, flags);
	return result;
}

static ze_result_t ZE_APICALL set_offset(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                         uint32_t z)
{
	SET(kernel, set_offset, x, y, z);
	return result;
}

#define DEVICE(member, kept, ours)                                                                 \
	BLOCKS_ZE_ROW("zeGetDeviceProcAddrTable", ze_device_dditable_t, member, kept, ours)
#define MODULE(member, kept, ours)                                                                 \
	BLOCKS_ZE_ROW("zeGetModuleProcAddrTable", ze_module_dditable_t, member, kept, ours)
#define LOG(member, kept, ours)                                                                    \
	BLOCKS_ZE_ROW("zeGetModuleBuildLogProcAddrTable", ze_module_build_log_dditable_t, member,  \
	              kept, ours)
#define KERNEL(member, kept, ours)                                                                 \
	BLOCKS_ZE_ROW("zeGetKernelProcAddrTable", ze_kernel_dditable_t, member, kept, ours)

// All of them are of version 1.0.
const struct blocks_ze_row blocks_ze_kernel_rows[] = {
	DEVICE(pfnGetProperties, device_properties, NULL),
	DEVICE(pfnGetComputeProperties, compute_properties, NULL),
	MODULE(pfnCreate, module_create, module_create),
	MODULE(pfnDestroy, module_destroy, module_destroy),
	MODULE(pfnGetGlobalPointer, global_pointer, global_pointer),
	LOG(pfnGetString, log_string, NULL),
	LOG(pfnDestroy, log_destroy, NULL),
	KERNEL(pfnCreate, kernel_create, kernel_create),
	KERNEL(pfnDestroy, kernel_destroy, kernel_destroy),
	KERNEL(pfnGetProperties, kernel_properties, NULL),
	KERNEL(pfnSetArgumentValue, set_argument, set_argument),
	KERNEL(pfnSetGroupSize, set_group_size, set_group_size),
	KERNEL(pfnSetIndirectAccess, set_indirect_access, set_indirect_access),
	KERNEL(pfnSetCacheConfig, set_cache_config, set_cache_config),
	BLOCKS_ZE_ROW("zeGetKernelExpProcAddrTable", ze_kernel_exp_dditable_t,
	              pfnSetGlobalOffsetExp, set_offset, set_offset),
};
const size_t blocks_ze_kernel_row_count =
    sizeof blocks_ze_kernel_rows / sizeof *blocks_ze_kernel_rows;

// ---- getting in

static bool begin(unsigned slot)
{
	static _Atomic uint32_t begun; // the slot that is seen, plus 1
	static _Atomic int can;        // 1: it could be begun, -1: it could not
	uint32_t before = 0;

	if (!atomic_compare_exchange_strong(&begun, &before, slot + 1))
		return before == slot + 1 && atomic_load(&can) > 0;
	enum blocks_stage at = blocks_files_begin();
	bool well = at != BLOCKS_OFF && blocks_ze_kernels_begin(at) && blocks_ze_lists_begin();
	if (well)
		blocks_set_begin();
	atomic_store(&can, well ? 1 : -1);
	return well;
}

static void replace(const struct blocks_ze_row *rows, size_t count, const char *table,
                    void *members)
{
	for (size_t i = 0; i < count; i++) {
		void **member = (void **)(void *)((char *)members + rows[i].offset);
		if (strcmp(rows[i].table, table) != 0 || *member == NULL || *member == rows[i].ours)
			continue;
		*rows[i].next = *member;
		if (rows[i].ours != NULL)
			*member = rows[i].ours;
	}
}

void tare_levelzero_table(unsigned slot, const char *table, uint32_t version, void *members)
{
	int saved = errno;

	if (ZE_MAJOR_VERSION(version) == 1 && members != NULL && begin(slot)) {
		replace(blocks_ze_kernel_rows, blocks_ze_kernel_row_count, table, members);
		replace(blocks_ze_list_rows, blocks_ze_list_row_count, table, members);
		replace(blocks_ze_far_rows, blocks_ze_far_row_count, table, members);
		blocks_ze_newer_replace(table, version, members);
	}
	errno = saved;
}
