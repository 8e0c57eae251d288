// SPDX-License-Identifier: Apache-2.0
// The Level Zero half of tare blocks' layer: as with OpenCL a twin from the instrumented module
// stands beside each kernel, and launches take it. Of several drivers the first is seen.
#pragma once
#include "guest/blocks/readback.h"
#include "guest/guest.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

// The driver's functions that are used, or that ours stand before. Set before any call.
struct blocks_ze_functions {
	ze_pfnDeviceGetProperties_t device_properties;
	ze_pfnDeviceGetComputeProperties_t compute_properties;
	ze_pfnModuleCreate_t module_create;
	ze_pfnModuleDestroy_t module_destroy;
	ze_pfnModuleGetGlobalPointer_t global_pointer;
	ze_pfnModuleBuildLogGetString_t log_string;
	ze_pfnModuleBuildLogDestroy_t log_destroy;
	ze_pfnKernelCreate_t kernel_create;
	ze_pfnKernelDestroy_t kernel_destroy;
	ze_pfnKernelGetProperties_t kernel_properties;
	ze_pfnKernelSetArgumentValue_t set_argument;
	ze_pfnKernelSetGroupSize_t set_group_size;
	ze_pfnKernelSetIndirectAccess_t set_indirect_access;
	ze_pfnKernelSetCacheConfig_t set_cache_config;
	ze_pfnKernelSetGlobalOffsetExp_t set_offset;
	ze_pfnCommandListCreateImmediate_t create_immediate;
	ze_pfnCommandListDestroy_t list_destroy;
	ze_pfnCommandListReset_t list_reset;
	ze_pfnCommandListAppendLaunchKernel_t launch;
	ze_pfnCommandListAppendLaunchCooperativeKernel_t launch_cooperative;
	ze_pfnCommandListAppendLaunchKernelIndirect_t launch_indirect;
	ze_pfnCommandListAppendLaunchMultipleKernelsIndirect_t launch_several;
	ze_pfnCommandQueueExecuteCommandLists_t execute;
	// of readback_levelzero.c
	ze_pfnContextDestroy_t context_destroy;
	ze_pfnCommandQueueSynchronize_t queue_synchronize;
	ze_pfnCommandQueueDestroy_t queue_destroy;
	ze_pfnFenceHostSynchronize_t fence_synchronize;
	ze_pfnEventHostSynchronize_t event_synchronize;
	ze_pfnEventCreate_t event_create;
	ze_pfnEventDestroy_t event_destroy;
	ze_pfnEventHostReset_t event_reset;
	ze_pfnEventQueryStatus_t event_query;
	ze_pfnEventPoolCreate_t pool_create;
	ze_pfnEventPoolDestroy_t pool_destroy;
	ze_pfnMemAllocDevice_t allocate;
	ze_pfnMemFree_t release;
	ze_pfnCommandListAppendMemoryCopy_t copy;
	ze_pfnCommandListAppendBarrier_t barrier;
	ze_pfnDeviceGetCommandQueueGroupProperties_t queue_groups;
	ze_pfnDeviceGetModuleProperties_t module_properties;
	ze_pfnDriverGetExtensionFunctionAddress_t extension_address;
};
extern struct blocks_ze_functions blocks_ze_next;

// A function of ours, and where it goes in which of the driver's tables.
struct blocks_ze_row {
	const char *table;
	size_t offset;
	void **next; // where the driver's is kept
	void *ours;  // NULL: the driver's stays
};
#define BLOCKS_ZE_ROW(name, type, member, kept, function)                                          \
	{ (name), offsetof(type, member), (void **)(void *)&blocks_ze_next.kept,                   \
	  (void *)(function) }

// ---- modules and kernels (levelzero.c)

// Of a kernel of the program.
struct blocks_ze_kernel {
	struct blocks_kernel *row;          // NULL: there was no room for one
	ze_kernel_handle_t twin;            // NULL: none, launches are the kernel's own
	ze_kernel_handle_t parted;          // it was one, and may still run
	void *counters;                     // of the twin, mapped; NULL: they are `far`
	struct blocks_far *far;             // in the memory of the device
	void *memory;                       // the twin's last argument, which the kernel has not
	uint32_t arguments;                 // that the kernel has; UINT32_MAX: not told
	bool bare;                          // the kernel lacks arguments that the twin was given
	const struct blocks_module *module; // that the twin is from
	uint32_t group[3];                  // work-items of a group
	uint64_t most, most_x; // that one may have, and in its first dimension; 0: not told
	bool regroups;         // the changed kernel's groups take another size
	uint32_t misfits;      // arguments for which the changed module was not made, a bit each
	struct blocks_ze_kernel *following; // among those to be used again
};
struct blocks_ze_kernel *blocks_ze_kernel(ze_kernel_handle_t kernel); // NULL: not known

// Whether the program has asked where variables of the kernel's module lie. It may write there, and
// the twin has its own.
bool blocks_ze_is_held(const struct blocks_ze_kernel *kernel);

// Its twin is not launched any more, as row->why says.
void blocks_ze_part(struct blocks_ze_kernel *kernel);

bool blocks_ze_kernels_begin(enum blocks_stage stage);
extern const struct blocks_ze_row blocks_ze_kernel_rows[];
extern const size_t blocks_ze_kernel_row_count;

// ---- counters in the memory of devices (readback_levelzero.c)

// The counters of a row in a device's memory, which far->memory is; NULL: *why and *code say why.
struct blocks_far *blocks_ze_far_memory(ze_context_handle_t context, ze_device_handle_t device,
                                        struct blocks_kernel *row,
                                        const struct blocks_module *module, enum blocks_why *why,
                                        int32_t *code);
// Before the first launch: says which of its work-groups are sampled.
void blocks_ze_far_sample(struct blocks_far *far, uint64_t work_items);
// A launch of the twin was given to a queue, or to an immediate list, which may go.
void blocks_ze_begin_used(void);
void blocks_ze_used(struct blocks_far *far, const void *handle, bool immediate);
void blocks_ze_gone(const void *handle);
extern const struct blocks_ze_row blocks_ze_far_rows[];
extern const size_t blocks_ze_far_row_count;

// ---- what modules are made of (levelzero_parts.c)

// The hash of the BUILD of a module of SPIR-V, which is written down with its PARTs where `write`.
// Anything but BLOCKS_COVERED: why there is none. `carries`: the device has no atomic additions of
// 64 bits.
enum blocks_why blocks_ze_note_build(const ze_module_desc_t *desc, bool carries, bool write,
                                     uint64_t *hash);

// ---- specialisation constants (levelzero_constants.c)

// Makes the specialisation constants for which a value is given ordinary ones, in a copy of the
// module's words. How many bytes it has then; 0: it is not sure what the driver makes of them, and
// the words are no module any more. Values of ids that the module lacks are passed over.
size_t blocks_ze_specialise(const ze_module_constants_t *given, uint32_t *words, size_t bytes);

// ---- options (levelzero_parts.c)

// What a module is created from.
struct blocks_ze_wanted {
	const ze_module_desc_t *desc; // the program's, or `changed`
	ze_module_desc_t changed;     // with another set of options
	size_t bytes;                 // of those
};
// zeModuleCreate of wanted->desc, with the set of options that is asked for, if one is. `wanted` is
// to be freed; its description holds until then.
ze_result_t blocks_ze_create(ze_context_handle_t context, ze_device_handle_t device,
                             struct blocks_ze_wanted *wanted, ze_module_handle_t *made,
                             ze_module_build_log_handle_t *log);
void blocks_ze_wanted_free(struct blocks_ze_wanted *wanted);

// ---- launches (levelzero_list.c)

bool blocks_ze_lists_begin(void);

// A launch that the program asks for, and how the driver is given it.
struct blocks_ze_call {
	ze_command_list_handle_t list;
	// Appends the kernel, or the twin of `twin_of` (NULL: it is the program's own).
	ze_result_t (*append)(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
	                      const ze_group_count_t *groups,
	                      const struct blocks_ze_kernel *twin_of);
	ze_pfnCommandListAppendLaunchKernel_t plain; // for `append`
	ze_event_handle_t signal;
	uint32_t wait_count;
	ze_event_handle_t *waits;
	// of newer functions (levelzero_newer.c)
	const void *next;
	void **values;
	uint32_t size[3];
	bool own;  // the twin is not to be launched; row->why says why
	bool sets; // it sets arguments and groups of what is launched, and those stay
};
// Launches the twin, or else the kernel, and counts it. The driver's answer.
ze_result_t blocks_ze_launch(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
                             const ze_group_count_t *groups);
// Regular lists were executed by a queue, or an immediate list, which is `given`: their launches
// count.
void blocks_ze_executed(const void *given, bool immediate, uint32_t count,
                        const ze_command_list_handle_t *of);
// A list was made with the launches of another.
void blocks_ze_cloned(ze_command_list_handle_t from, ze_command_list_handle_t made);
extern const struct blocks_ze_row blocks_ze_list_rows[];
extern const size_t blocks_ze_list_row_count;

// ---- functions that are newer than the headers (levelzero_newer.c)

// zeDriverGetExtensionFunctionAddress.
ze_result_t ZE_APICALL blocks_ze_extension_address(ze_driver_handle_t driver, const char *name,
                                                   void **address);
// Replaces the functions of a driver's table that reach so far in its version.
void blocks_ze_newer_replace(const char *table, uint32_t version, void *members);
