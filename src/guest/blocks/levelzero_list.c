// SPDX-License-Identifier: Apache-2.0
// Launches of Level Zero. What stands in a regular list runs as often as the list is executed, and
// is counted then.
#include "guest/blocks/levelzero.h"

#include <errno.h>

// A launch in a regular list.
struct launch {
	struct launch *following;
	struct blocks_kernel *row; // NULL: of a kernel that is not known
	bool counted;
	struct blocks_far *far; // NULL: it counts in the file, or not
	bool unchecked;         // the device reads how many groups there are
	uint64_t groups, in_group;
};

static struct guest_map *immediates; // lists that run at once; 2: and are waited for
static struct guest_map *lists;      // the first launch of each regular one
static struct launch *spare;
static guest_lock lock;

bool blocks_ze_lists_begin(void)
{
	guest_lock_register(&lock);
	immediates = guest_map_new();
	lists = guest_map_new();
	blocks_ze_begin_used();
	return immediates != NULL && lists != NULL;
}

static struct blocks_kernel *row_of(const struct blocks_ze_kernel *kernel)
{
	return kernel == NULL ? NULL : kernel->row != NULL ? kernel->row : &blocks_no_row;
}

// A launch that a queue, or an immediate list, was given.
static void count_one(const struct launch *launch, const void *given, bool immediate)
{
	uint64_t items = launch->groups * launch->in_group;

	blocks_count_launch(launch->row, launch->counted, items);
	// After a list that waits itself there is nothing to be waited for.
	if (launch->far != NULL && immediate && guest_map_find(immediates, given, 0) == 2)
		blocks_far_launched(launch->far, given);
	else if (launch->far != NULL)
		blocks_ze_used(launch->far, given, immediate);
	if (launch->unchecked)
		__atomic_fetch_add(&launch->row->unchecked, 1, __ATOMIC_RELAXED);
	else if (launch->counted)
		blocks_add_lanes(launch->row, items, launch->groups, launch->in_group);
}

// A launch that is not counted has no groups.
static void note(ze_command_list_handle_t list, const struct launch *made)
{
	uint64_t immediate = guest_map_find(immediates, list, 0);

	if (immediate != 0) {
		count_one(made, list, true);
		if (immediate == 2)
			blocks_far_waited(list, blocks_far_now());
		return;
	}
	guest_acquire(&lock);
	struct launch *launch = spare;
	if (launch != NULL)
		spare = launch->following;
	guest_release(&lock);
	if (launch == NULL)
		launch = guest_memory(sizeof *launch);
	if (launch == NULL) {
		blocks_count_launch(NULL, false, 0);
		return;
	}
	*launch = *made;
	launch->following = (struct launch *)(uintptr_t)guest_map_find(lists, list, 0);
	guest_map_put(lists, list, (uintptr_t)launch);
	if (launch->far != NULL)
		atomic_store(&launch->far->listed, true);
}

static void forget(ze_command_list_handle_t list)
{
	struct launch *first = (struct launch *)(uintptr_t)guest_map_find(lists, list, 0);
	struct launch *last = first;

	if (first == NULL)
		return;
	guest_map_remove(lists, list);
	while (last->following != NULL)
		last = last->following;
	guest_acquire(&lock);
	last->following = spare;
	spare = first;
	guest_release(&lock);
}

// ---- what is wrapped

static ze_result_t ZE_APICALL create_immediate(ze_context_handle_t context,
                                               ze_device_handle_t device,
                                               const ze_command_queue_desc_t *desc,
                                               ze_command_list_handle_t *made)
{
	ze_result_t result = blocks_ze_next.create_immediate(context, device, desc, made);

	if (result == ZE_RESULT_SUCCESS)
		guest_map_put(immediates, *made,
		              desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS ? 2 : 1);
	return result;
}

static ze_result_t ZE_APICALL list_destroy(ze_command_list_handle_t list)
{
	forget(list);
	guest_map_remove(immediates, list);
	blocks_ze_gone(list);
	return blocks_ze_next.list_destroy(list);
}

static ze_result_t ZE_APICALL list_reset(ze_command_list_handle_t list)
{
	ze_result_t result = blocks_ze_next.list_reset(list);

	if (result == ZE_RESULT_SUCCESS)
		forget(list);
	return result;
}

void blocks_ze_executed(const void *given, bool immediate, uint32_t count,
                        const ze_command_list_handle_t *of)
{
	for (uint32_t i = 0; i < count; i++)
		for (const struct launch *at =
		         (const struct launch *)(uintptr_t)guest_map_find(lists, of[i], 0);
		     at != NULL; at = at->following)
			count_one(at, given, immediate);
}

static ze_result_t ZE_APICALL execute(ze_command_queue_handle_t queue, uint32_t count,
                                      ze_command_list_handle_t *of, ze_fence_handle_t fence)
{
	ze_result_t result = blocks_ze_next.execute(queue, count, of, fence);

	if (result == ZE_RESULT_SUCCESS)
		blocks_ze_executed(queue, false, count, of);
	return result;
}

void blocks_ze_cloned(ze_command_list_handle_t from, ze_command_list_handle_t made)
{
	for (const struct launch *at =
	         (const struct launch *)(uintptr_t)guest_map_find(lists, from, 0);
	     at != NULL; at = at->following)
		note(made, at);
}

static uint64_t groups_of(const ze_group_count_t *groups)
{
	return (uint64_t)groups->groupCountX * groups->groupCountY * groups->groupCountZ;
}

// Work-items that a group may have, with `others` in a row across; 0: the device does not say.
static uint64_t most_in_group(const struct blocks_ze_kernel *known, uint64_t others)
{
	uint64_t by_row = known->most_x * others;

	return by_row != 0 && by_row < known->most ? by_row : known->most;
}

// Gives the twin groups that fill the device's width, and as many of them as make up the launch.
// False: there is no such size.
static bool regroup(const struct blocks_ze_kernel *known, ze_group_count_t *groups)
{
	uint64_t items = (uint64_t)known->group[0] * groups->groupCountX;
	uint64_t others = (uint64_t)known->group[1] * known->group[2];
	uint64_t chosen =
	    blocks_filling(blocks_width(known->row), items, others, most_in_group(known, others));

	if (chosen == 0 || items / chosen > UINT32_MAX ||
	    blocks_ze_next.set_group_size(known->twin, (uint32_t)chosen, known->group[1],
	                                  known->group[2]) != ZE_RESULT_SUCCESS)
		return false;
	groups->groupCountX = (uint32_t)(items / chosen);
	return true;
}

// The context of its counters was to be destroyed, and the driver refused.
static bool is_gone(const struct blocks_ze_kernel *known)
{
	return known->far != NULL && atomic_load(&known->far->context) == NULL;
}

// The twin's groups, if it is to be launched; else row->why says why not.
static bool takes_twin(const struct blocks_ze_kernel *known, ze_group_count_t *groups)
{
	if (known == NULL || known->twin == NULL)
		return false;
	if (is_gone(known))
		known->row->why = BLOCKS_NO_MEMORY;
	else if (blocks_ze_is_held(known))
		known->row->why = BLOCKS_HELD;
	else if (known->misfits != 0)
		known->row->why = BLOCKS_OTHER_VALUE;
	else if (!known->regroups || regroup(known, groups))
		return true;
	else
		known->row->why = BLOCKS_NO_GROUPS;
	return false;
}

// The program's own kernel was launched, after the twin failed with `code` where it was tried.
static void own_launched(const struct blocks_ze_call *call, struct blocks_ze_kernel *known,
                         bool tried, ze_result_t code)
{
	if (tried) {
		known->row->why = BLOCKS_LAUNCH_FAILED;
		known->row->code = (int32_t)code;
	}
	// The twin lacks what was set with the launch.
	if (call->sets && known != NULL) {
		blocks_ze_part(known);
		known->bare = false;
	}
	note(call->list, &(const struct launch){ .row = row_of(known) });
}

ze_result_t blocks_ze_launch(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
                             const ze_group_count_t *groups)
{
	struct blocks_ze_kernel *known = blocks_ze_kernel(kernel);
	ze_group_count_t chosen = groups != NULL ? *groups : (ze_group_count_t){ 0, 0, 0 };
	bool has = !call->own && groups != NULL && takes_twin(known, &chosen);
	ze_result_t code = ZE_RESULT_SUCCESS;

	if (has) {
		uint64_t in_group = (uint64_t)known->group[0] * known->group[1] * known->group[2];
		if (known->counters != NULL)
			blocks_choose_sample(known->counters, known->module,
			                     in_group * groups_of(groups));
		else if (known->far != NULL)
			blocks_ze_far_sample(known->far, in_group * groups_of(groups));
		code = call->append(call, known->twin, &chosen, known);
		if (code == ZE_RESULT_SUCCESS) {
			note(call->list, &(const struct launch){ .row = known->row,
			                                         .counted = true,
			                                         .far = known->far,
			                                         .groups = groups_of(groups),
			                                         .in_group = in_group });
			known->bare |= call->sets;
			return code;
		}
	}
	if (known != NULL && known->bare && !call->sets)
		return has ? code : ZE_RESULT_ERROR_INVALID_ARGUMENT;
	ze_result_t result = call->append(call, kernel, groups, NULL);
	if (result == ZE_RESULT_SUCCESS)
		own_launched(call, known, has, code);
	return result;
}

static ze_result_t append(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
                          const ze_group_count_t *groups, const struct blocks_ze_kernel *twin_of)
{
	(void)twin_of;
	return call->plain(call->list, kernel, groups, call->signal, call->wait_count, call->waits);
}

static ze_result_t ZE_APICALL launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                     const ze_group_count_t *groups, ze_event_handle_t signal,
                                     uint32_t count, ze_event_handle_t *waits)
{
	const struct blocks_ze_call call = { list,   append, blocks_ze_next.launch,
		                             signal, count,  waits };

	return blocks_ze_launch(&call, kernel, groups);
}

static ze_result_t ZE_APICALL launch_cooperative(ze_command_list_handle_t list,
                                                 ze_kernel_handle_t kernel,
                                                 const ze_group_count_t *groups,
                                                 ze_event_handle_t signal, uint32_t count,
                                                 ze_event_handle_t *waits)
{
	const struct blocks_ze_call call = { list,   append, blocks_ze_next.launch_cooperative,
		                             signal, count,  waits };

	return blocks_ze_launch(&call, kernel, groups);
}

// ---- launches of which the device reads how many groups they have

static bool is_bare(ze_kernel_handle_t kernel)
{
	const struct blocks_ze_kernel *known = blocks_ze_kernel(kernel);

	return known != NULL && known->bare;
}

// The twin, or the kernel where that cannot be launched so; row->why says why.
static ze_kernel_handle_t indirect_of(ze_kernel_handle_t kernel)
{
	struct blocks_ze_kernel *known = blocks_ze_kernel(kernel);

	if (known == NULL || known->twin == NULL)
		return kernel;
	if (known->misfits != 0 || is_gone(known)) {
		known->row->why = is_gone(known) ? BLOCKS_NO_MEMORY : BLOCKS_OTHER_VALUE;
		return kernel;
	}
	if (known->regroups || blocks_ze_is_held(known)) {
		known->row->why = known->regroups ? BLOCKS_NO_GROUPS : BLOCKS_HELD;
		return kernel;
	}
	// As if there were very many work-items: a sample may be a small one.
	if (known->counters != NULL)
		blocks_choose_sample(known->counters, known->module, UINT32_MAX);
	else if (known->far != NULL)
		blocks_ze_far_sample(known->far, UINT32_MAX);
	return known->twin;
}

static void note_indirect(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                          ze_kernel_handle_t launched)
{
	const struct blocks_ze_kernel *known = blocks_ze_kernel(kernel);

	if (launched == kernel) {
		note(list, &(const struct launch){ .row = row_of(known) });
		return;
	}
	note(list, &(const struct launch){
	               .row = known->row, .counted = true, .unchecked = true, .far = known->far });
}

static ze_result_t ZE_APICALL launch_indirect(ze_command_list_handle_t list,
                                              ze_kernel_handle_t kernel,
                                              const ze_group_count_t *groups,
                                              ze_event_handle_t signal, uint32_t count,
                                              ze_event_handle_t *waits)
{
	ze_kernel_handle_t launched = indirect_of(kernel);
	ze_result_t result =
	    blocks_ze_next.launch_indirect(list, launched, groups, signal, count, waits);

	if (result != ZE_RESULT_SUCCESS && launched != kernel && !is_bare(kernel)) {
		launched = kernel;
		result = blocks_ze_next.launch_indirect(list, kernel, groups, signal, count, waits);
	}
	if (result == ZE_RESULT_SUCCESS)
		note_indirect(list, kernel, launched);
	return result;
}

enum { MOST_AT_ONCE = 64 };

static bool any_bare(const ze_kernel_handle_t *kernels, uint32_t count)
{
	for (uint32_t i = 0; kernels != NULL && i < count; i++)
		if (is_bare(kernels[i]))
			return true;
	return false;
}

static ze_result_t ZE_APICALL launch_several(ze_command_list_handle_t list, uint32_t kernel_count,
                                             ze_kernel_handle_t *kernels, const uint32_t *number,
                                             const ze_group_count_t *groups,
                                             ze_event_handle_t signal, uint32_t count,
                                             ze_event_handle_t *waits)
{
	ze_kernel_handle_t twins[MOST_AT_ONCE], *launched = kernels;
	bool bare = any_bare(kernels, kernel_count);

	// Of very many the twins are launched only where they must be: that room is not given back.
	if (kernels != NULL && (kernel_count <= MOST_AT_ONCE || bare))
		launched = kernel_count <= MOST_AT_ONCE
		               ? twins
		               : guest_memory(kernel_count * sizeof *launched);
	if (launched == NULL && kernels != NULL)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; launched != kernels && i < kernel_count; i++)
		launched[i] = indirect_of(kernels[i]);
	ze_result_t result = blocks_ze_next.launch_several(list, kernel_count, launched, number,
	                                                   groups, signal, count, waits);
	if (result != ZE_RESULT_SUCCESS && launched != kernels && !bare) {
		launched = kernels;
		result = blocks_ze_next.launch_several(list, kernel_count, kernels, number, groups,
		                                       signal, count, waits);
	}
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < kernel_count; i++) {
		const struct blocks_ze_kernel *known = blocks_ze_kernel(kernels[i]);
		if (launched == kernels && kernel_count > MOST_AT_ONCE && known != NULL &&
		    known->twin != NULL)
			known->row->why = BLOCKS_INDIRECT;
		note_indirect(list, kernels[i], launched[i]);
	}
	return result;
}

#define LIST(member, kept)                                                                         \
	BLOCKS_ZE_ROW("zeGetCommandListProcAddrTable", ze_command_list_dditable_t, member, kept,   \
	              kept)

// All of them are of version 1.0.
const struct blocks_ze_row blocks_ze_list_rows[] = {
	LIST(pfnCreateImmediate, create_immediate),
	LIST(pfnDestroy, list_destroy),
	LIST(pfnReset, list_reset),
	LIST(pfnAppendLaunchKernel, launch),
	LIST(pfnAppendLaunchCooperativeKernel, launch_cooperative),
	LIST(pfnAppendLaunchKernelIndirect, launch_indirect),
	LIST(pfnAppendLaunchMultipleKernelsIndirect, launch_several),
	BLOCKS_ZE_ROW("zeGetCommandQueueProcAddrTable", ze_command_queue_dditable_t,
	              pfnExecuteCommandLists, execute, execute),
	BLOCKS_ZE_ROW("zeGetDriverProcAddrTable", ze_driver_dditable_t,
	              pfnGetExtensionFunctionAddress, extension_address,
	              blocks_ze_extension_address),
};
const size_t blocks_ze_list_row_count = sizeof blocks_ze_list_rows / sizeof *blocks_ze_list_rows;
