// SPDX-License-Identifier: Apache-2.0
// ze-cpu (OTHER_DRIVER_OF names its file), with what it lacks: copies of images, lists that may be
// changed or cloned, graphs, which do nothing but signal their events; queries that some engines
// cannot run; questions that are answered late; and, of OTHER_DRIVER_FULL=N, no memory of the
// device at the first N times that it is asked for.
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static ze_command_list_dditable_t lists; // ze-cpu's
static ze_driver_dditable_t drivers;
static bool capturing;
// How the last list was made; and those for engines that only copy.
static struct {
	ze_context_handle_t context;
	ze_device_handle_t device;
	ze_command_list_desc_t desc;
} last;
static ze_command_list_handle_t copying[64];
static int copying_count;

static void *of_ze_cpu(const char *name)
{
	const char *path = getenv("OTHER_DRIVER_OF");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	return library ? dlsym(library, name) : NULL;
}

// ---- images

static ze_result_t copy_image(ze_command_list_handle_t list, ze_image_handle_t to,
                              ze_image_handle_t from, ze_event_handle_t event, uint32_t count,
                              ze_event_handle_t *waits)
{
	(void)to, (void)from;
	return lists.pfnAppendBarrier(list, event, count, waits);
}

static ze_result_t copy_region(ze_command_list_handle_t list, ze_image_handle_t to,
                               ze_image_handle_t from, const ze_image_region_t *to_region,
                               const ze_image_region_t *from_region, ze_event_handle_t event,
                               uint32_t count, ze_event_handle_t *waits)
{
	(void)to, (void)from, (void)to_region, (void)from_region;
	return lists.pfnAppendBarrier(list, event, count, waits);
}

static ze_result_t copy_out(ze_command_list_handle_t list, void *to, ze_image_handle_t from,
                            const ze_image_region_t *region, ze_event_handle_t event,
                            uint32_t count, ze_event_handle_t *waits)
{
	(void)to, (void)from, (void)region;
	return lists.pfnAppendBarrier(list, event, count, waits);
}

static ze_result_t copy_in(ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
                           const ze_image_region_t *region, ze_event_handle_t event, uint32_t count,
                           ze_event_handle_t *waits)
{
	(void)to, (void)from, (void)region;
	return lists.pfnAppendBarrier(list, event, count, waits);
}

// ---- lists that may be changed

static ze_result_t next_id(ze_command_list_handle_t list, const void *desc, uint64_t *id)
{
	(void)list, (void)desc;
	*id = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t next_id_of_kernels(ze_command_list_handle_t list, const void *desc,
                                      uint32_t count, ze_kernel_handle_t *kernels, uint64_t *id)
{
	(void)count, (void)kernels;
	return next_id(list, desc, id);
}

static ze_result_t change(ze_command_list_handle_t list, const void *desc)
{
	(void)list, (void)desc;
	return ZE_RESULT_SUCCESS;
}

static _Atomic unsigned changes;

static ze_result_t change_event(ze_command_list_handle_t list, uint64_t id, ze_event_handle_t event)
{
	(void)list, (void)id, (void)event;
	atomic_fetch_add(&changes, 1);
	return ZE_RESULT_SUCCESS;
}

// Of two commands.
static ze_result_t clone_list(ze_command_list_handle_t list, ze_command_list_handle_t *made)
{
	(void)list;
	ze_result_t result = lists.pfnCreate(last.context, last.device, &last.desc, made);
	for (int i = 0; i < 2 && result == ZE_RESULT_SUCCESS; i++)
		result = lists.pfnAppendBarrier(*made, NULL, 0, NULL);
	return result == ZE_RESULT_SUCCESS ? lists.pfnClose(*made) : result;
}

// ---- queries by a kernel, which an engine that only copies cannot run: as with Intel's driver it
// is the end

static ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                          const ze_command_list_desc_t *desc, ze_command_list_handle_t *made)
{
	ze_result_t result = lists.pfnCreate(context, device, desc, made);
	last.context = context;
	last.device = device;
	last.desc = *desc;
	for (int i = 0; result == ZE_RESULT_SUCCESS && i < copying_count; i++)
		if (copying[i] == *made) // that one is gone
			copying[i] = NULL;
	if (result == ZE_RESULT_SUCCESS && desc->commandQueueGroupOrdinal != 0 &&
	    copying_count < 64)
		copying[copying_count++] = *made;
	return result;
}

static ze_result_t query(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *events,
                         void *to, const size_t *offsets, ze_event_handle_t event,
                         uint32_t wait_count, ze_event_handle_t *waits)
{
	for (int i = 0; i < copying_count; i++)
		if (copying[i] == list)
			abort();
	return lists.pfnAppendQueryKernelTimestamps(list, count, events, to, offsets, event,
	                                            wait_count, waits);
}

// ---- graphs

static ze_result_t begin(ze_command_list_handle_t list, const void *next)
{
	(void)list, (void)next;
	capturing = true;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t end(ze_command_list_handle_t list, void **graph, const void *next)
{
	(void)list, (void)next;
	capturing = false;
	*graph = &capturing;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t run_graph(ze_command_list_handle_t list, void *graph, const void *next,
                             ze_event_handle_t event, uint32_t count, ze_event_handle_t *waits)
{
	(void)graph, (void)next;
	return lists.pfnAppendBarrier(list, event, count, waits);
}

static ze_result_t copy_or_capture(ze_command_list_handle_t list, void *to, const void *from,
                                   size_t bytes, ze_event_handle_t event, uint32_t count,
                                   ze_event_handle_t *waits)
{
	return capturing ? ZE_RESULT_SUCCESS
	                 : lists.pfnAppendMemoryCopy(list, to, from, bytes, event, count, waits);
}

// ---- questions that a thread which is not the program's first has answered late: what the
// sub-devices did, after the program has reset an event; and whether an event is complete, after it
// has changed a list

static ze_event_dditable_t events;
static ze_event_exp_dditable_t events_exp;
// Set by the program: 1, the next such question is held; by us: 2, it is.
EXPORTED extern _Atomic int other_driver_hold, other_driver_hold_status;
_Atomic int other_driver_hold, other_driver_hold_status;
static _Atomic unsigned resets;

// The program's call that `calls` counts waits for us, who wait for it.
static void hold_until_called(_Atomic int *held, _Atomic unsigned *calls)
{
	enum { TURNS = 20000 };
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned before = atomic_load(calls);
	int armed = 1;
	if (gettid() == getpid() || !atomic_compare_exchange_strong(held, &armed, 2))
		return;
	for (int i = 0; i < TURNS && atomic_load(calls) == before; i++)
		nanosleep(&moment, NULL);
	if (atomic_load(calls) == before)
		abort();
}

static ze_result_t query_status(ze_event_handle_t event)
{
	hold_until_called(&other_driver_hold_status, &changes);
	return events.pfnQueryStatus(event);
}

static ze_result_t reset(ze_event_handle_t event)
{
	ze_result_t result = events.pfnHostReset(event);
	atomic_fetch_add(&resets, 1);
	return result;
}

static ze_result_t query_parts(ze_event_handle_t event, ze_device_handle_t device, uint32_t *count,
                               ze_kernel_timestamp_result_t *parts)
{
	hold_until_called(&other_driver_hold, &resets);
	return events_exp.pfnQueryTimestampsExp(event, device, count, parts);
}

// ---- memory

static ze_mem_dditable_t memories;

static ze_result_t allocate(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                            size_t bytes, size_t alignment, ze_device_handle_t device,
                            void **memory)
{
	static _Atomic int asked;
	const char *full = getenv("OTHER_DRIVER_FULL");

	if (full && atomic_fetch_add(&asked, 1) < atoi(full))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	return memories.pfnAllocDevice(context, desc, bytes, alignment, device, memory);
}

// ---- tables

static ze_result_t address_of(ze_driver_handle_t driver, const char *name, void **address)
{
	static const struct {
		const char *name;
		void *function;
	} ours[] = { { "zeCommandListGetNextCommandIdExp", (void *)next_id },
		     { "zeCommandListGetNextCommandIdWithKernelsExp", (void *)next_id_of_kernels },
		     { "zeCommandListUpdateMutableCommandsExp", (void *)change },
		     { "zeCommandListUpdateMutableCommandSignalEventExp", (void *)change_event },
		     { "zeCommandListCreateCloneExp", (void *)clone_list },
		     { "zeCommandListBeginGraphCaptureExp", (void *)begin },
		     { "zeCommandListEndGraphCaptureExp", (void *)end },
		     { "zeCommandListAppendGraphExp", (void *)run_graph },
		     { "zexNobodyKnows", (void *)begin } };
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(name, ours[i].name) == 0) {
			*address = ours[i].function;
			return ZE_RESULT_SUCCESS;
		}
	return drivers.pfnGetExtensionFunctionAddress(driver, name, address);
}

#define TABLE(getter, type, ...)                                                                   \
	EXPORTED ze_result_t getter(ze_api_version_t version, type *table);                        \
	EXPORTED ze_result_t getter(ze_api_version_t version, type *table)                         \
	{                                                                                          \
		ze_result_t (*get)(ze_api_version_t, type *) =                                     \
		    (ze_result_t(*)(ze_api_version_t, type *))of_ze_cpu(#getter);                  \
		ze_result_t result = get ? get(version, table) : ZE_RESULT_ERROR_UNINITIALIZED;    \
		if (result == ZE_RESULT_SUCCESS) {                                                 \
			__VA_ARGS__                                                                \
		}                                                                                  \
		return result;                                                                     \
	}
TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t)
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t)
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
TABLE(zeGetImageProcAddrTable, ze_image_dditable_t)
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, events = *table; table->pfnHostReset = reset;
      table->pfnQueryStatus = query_status;)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t)
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, memories = *table;
      table->pfnAllocDevice = allocate;)
TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t, events_exp = *table;
      table->pfnQueryTimestampsExp = query_parts;)
TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, drivers = *table;
      table->pfnGetExtensionFunctionAddress = address_of;)
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, lists = *table;
      table->pfnAppendImageCopy = copy_image; table->pfnAppendImageCopyRegion = copy_region;
      table->pfnAppendImageCopyToMemory = copy_out; table->pfnAppendImageCopyFromMemory = copy_in;
      table->pfnAppendMemoryCopy = copy_or_capture; table->pfnCreate = create;
      table->pfnAppendQueryKernelTimestamps = query;)
