// SPDX-License-Identifier: Apache-2.0
// What Level Zero has gained since Debian 12's headers (specification 1.4) and tare uses: own
// declarations under names of our own, so that newer headers may be installed as well. The backend
// asks for these entry points at run time and does without; drivers/ze-cpu has those it lists.
#pragma once
#include <level_zero/ze_api.h>
#include <stddef.h>

// The first bytes of the UUID of drivers/ze-cpu, and the byte of it that is 1 under a script.
#define LEVELZERO_ZE_CPU_UUID { 't', 'a', 'r', 'e', '-', 'z', 'e', '-', 'c', 'p', 'u' }
#define LEVELZERO_ZE_CPU_SCRIPTED (ZE_MAX_DRIVER_UUID_SIZE - 1)

// Appended to ze_kernel_properties_t (extension of 1.11): the largest work-group of a kernel.
#define LEVELZERO_TYPE_MAX_GROUP_SIZE ((ze_structure_type_t)0x10013)
#define LEVELZERO_NAME_MAX_GROUP_SIZE "ZE_extension_kernel_max_group_size_properties"
struct levelzero_max_group_size {
	ze_structure_type_t stype;
	void *pNext;
	uint32_t items;
};

// Appended to ze_device_properties_t (extension of 1.5): a number that grows with the generation.
#define LEVELZERO_TYPE_IP_VERSION ((ze_structure_type_t)0x1000f)
struct levelzero_ip_version {
	ze_structure_type_t stype;
	void *pNext;
	uint32_t version;
};

// Core since 1.6: waits for an immediate list. As zeCommandQueueSynchronize does for a queue.
typedef ze_result_t ZE_APICALL levelzero_list_host_synchronize(ze_command_list_handle_t list,
                                                               uint64_t timeout_ns);

// Core since 1.7: an immediate list, and a regular one, whose commands run one after another.
#define LEVELZERO_QUEUE_IN_ORDER ((ze_command_queue_flags_t)2)
#define LEVELZERO_LIST_IN_ORDER ((ze_command_list_flags_t)8)
#define LEVELZERO_VERSION_IN_ORDER ((ze_api_version_t)ZE_MAKE_VERSION(1, 7))

// Extension of 1.17: a host function takes its place in a list.
typedef void levelzero_host_function(void *context);
typedef ze_result_t ZE_APICALL levelzero_append_host_function(
    ze_command_list_handle_t list, levelzero_host_function *function, void *context,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);

// Core since 1.6: stamps of events also as times of the host. Pools with this flag have both.
#define LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP ((ze_event_pool_flags_t)8)
#define LEVELZERO_TYPE_STAMPS_RESULTS ((ze_structure_type_t)0x10012)
struct levelzero_host_stamp {
	uint64_t start_ns, end_ns;
};
struct levelzero_host_stamps {
	struct levelzero_host_stamp global, context;
};
struct levelzero_stamps_results {
	ze_structure_type_t stype;
	void *pNext;
	ze_kernel_timestamp_result_t *ticks; // may be NULL
	struct levelzero_host_stamps *host;  // may be NULL
};
// *count 0: tells how many there are.
typedef ze_result_t ZE_APICALL levelzero_query_stamps(ze_event_handle_t event,
                                                      ze_device_handle_t device, uint32_t *count,
                                                      struct levelzero_stamps_results *results);

// Core since 1.10: zeInitDrivers, which initialises and lists the drivers of some kinds at once.
#define LEVELZERO_TYPE_INIT_DRIVERS ((ze_structure_type_t)0x20021)
#define LEVELZERO_INIT_GPU 1u
struct levelzero_init_drivers {
	ze_structure_type_t stype;
	const void *pNext;
	uint32_t flags; // all kinds: UINT32_MAX
};

// Core since 1.14: a launch with more parameters, each a structure of a chain.
#define LEVELZERO_TYPE_COOPERATIVE ((ze_structure_type_t)0x20036)
struct levelzero_cooperative {
	ze_structure_type_t stype;
	const void *pNext;
	ze_bool_t cooperative;
};
typedef ze_result_t ZE_APICALL levelzero_launch_with_parameters(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);

// The same with the size of a group and all arguments, which the kernel keeps. Each
// argument is a pointer to its value; to the size, a size_t, where it is local memory.
struct levelzero_group_size {
	uint32_t x, y, z;
};
typedef ze_result_t ZE_APICALL levelzero_launch_with_arguments(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups,
    struct levelzero_group_size size, void **arguments, const void *next, ze_event_handle_t signal,
    uint32_t wait_count, ze_event_handle_t *waits);

// Events that count (core since 1.15, an extension of event pools since 1.9): signalled by lists in
// order only, each time anew and without a reset, and signalled at first. By default for immediate
// lists.
#define LEVELZERO_COUNTER_IMMEDIATE 1u
#define LEVELZERO_COUNTER_REGULAR 2u
#define LEVELZERO_COUNTER_HOST_VISIBLE 4u
#define LEVELZERO_COUNTER_IPC 8u
#define LEVELZERO_COUNTER_DEVICE_STAMPS 16u
#define LEVELZERO_COUNTER_HOST_STAMPS 32u
#define LEVELZERO_TYPE_COUNTER_EVENT ((ze_structure_type_t)0x2003a)
struct levelzero_counter_event {
	ze_structure_type_t stype;
	const void *pNext;
	uint32_t flags;
	ze_event_scope_flags_t signal, wait;
};
// zeEventCounterBasedCreate, and Intel's older zexCounterBasedEventCreate2, a function of an
// extension.
typedef ze_result_t ZE_APICALL levelzero_create_counter_event(
    ze_context_handle_t context, ze_device_handle_t device,
    const struct levelzero_counter_event *description, ze_event_handle_t *event);
// Core since 1.17; 0 of a regular event.
typedef ze_result_t ZE_APICALL levelzero_get_counter_flags(ze_event_handle_t event,
                                                           uint32_t *flags);
// Appended to ze_event_pool_desc_t: with the first two flags.
#define LEVELZERO_TYPE_COUNTER_POOL ((ze_structure_type_t)0x20014)
#define LEVELZERO_NAME_COUNTER_POOL "ZE_experimental_event_pool_counter_based"
struct levelzero_counter_pool {
	ze_structure_type_t stype;
	const void *pNext;
	uint32_t flags;
};
// How an event is waited for; the older one is Intel's.
#define LEVELZERO_TYPE_SYNC_MODE ((ze_structure_type_t)0x2003c)
#define LEVELZERO_TYPE_INTEL_SYNC_MODE ((ze_structure_type_t)0x30016)

// Where the headers have them too, they are the same.
#if defined ZE_API_VERSION_CURRENT_M && ZE_API_VERSION_CURRENT_M >= ZE_MAKE_VERSION(1, 15)
#define LEVELZERO_SAME(ours, our_last, theirs, their_last)                                         \
	_Static_assert(sizeof(struct ours) == sizeof(theirs) &&                                    \
	                   offsetof(struct ours, our_last) == offsetof(theirs, their_last),        \
	               #theirs)
LEVELZERO_SAME(levelzero_stamps_results, host,
               ze_event_query_kernel_timestamps_results_ext_properties_t,
               pSynchronizedTimestampsBuffer);
LEVELZERO_SAME(levelzero_init_drivers, flags, ze_init_driver_type_desc_t, flags);
LEVELZERO_SAME(levelzero_cooperative, cooperative,
               ze_command_list_append_launch_kernel_param_cooperative_desc_t, isCooperative);
LEVELZERO_SAME(levelzero_group_size, z, ze_group_size_t, groupSizeZ);
LEVELZERO_SAME(levelzero_counter_event, wait, ze_event_counter_based_desc_t, wait);
LEVELZERO_SAME(levelzero_counter_pool, flags, ze_event_pool_counter_based_exp_desc_t, flags);
#undef LEVELZERO_SAME
_Static_assert(LEVELZERO_COUNTER_HOST_STAMPS == ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP &&
                   LEVELZERO_TYPE_COUNTER_EVENT == ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC &&
                   LEVELZERO_TYPE_SYNC_MODE == ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC &&
                   LEVELZERO_LIST_IN_ORDER == ZE_COMMAND_LIST_FLAG_IN_ORDER &&
                   LEVELZERO_QUEUE_IN_ORDER == ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
               "values of newer headers");
#endif
