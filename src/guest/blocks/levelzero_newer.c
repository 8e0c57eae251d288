// SPDX-License-Identifier: Apache-2.0
// Launches and waits by functions that the headers lack with which tare is built. Programs ask for
// them by name, and newer loaders have tables that reach further. Prototypes are the
// specification's.
#include "guest/blocks/levelzero.h"

#include <errno.h>
#include <string.h>

enum { MOST_ARGUMENTS = 256 };

struct size {
	uint32_t x, y, z;
};

typedef ze_result_t(ZE_APICALL *with_parameters)(ze_command_list_handle_t list,
                                                 ze_kernel_handle_t kernel,
                                                 const ze_group_count_t *groups, const void *next,
                                                 ze_event_handle_t signal, uint32_t wait_count,
                                                 ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *with_arguments)(ze_command_list_handle_t list,
                                                ze_kernel_handle_t kernel, ze_group_count_t groups,
                                                struct size size, void **values, const void *next,
                                                ze_event_handle_t signal, uint32_t wait_count,
                                                ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *append_lists)(ze_command_list_handle_t onto, uint32_t count,
                                              ze_command_list_handle_t *lists,
                                              ze_event_handle_t signal, uint32_t wait_count,
                                              ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *append_lists_with)(ze_command_list_handle_t onto, uint32_t count,
                                                   ze_command_list_handle_t *lists,
                                                   const void *next, ze_event_handle_t signal,
                                                   uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *wait_for_list)(ze_command_list_handle_t list, uint64_t timeout);
typedef ze_result_t(ZE_APICALL *clone_list)(ze_command_list_handle_t list,
                                            ze_command_list_handle_t *made);

static struct {
	with_parameters parameters;
	with_arguments arguments;
	append_lists lists;
	append_lists_with lists_with;
	clone_list clone;
	wait_for_list wait;
} next;

// ---- launches

static ze_result_t append_parameters(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
                                     const ze_group_count_t *groups,
                                     const struct blocks_ze_kernel *twin_of)
{
	(void)twin_of;
	return next.parameters(call->list, kernel, groups, call->next, call->signal,
	                       call->wait_count, call->waits);
}

static ze_result_t ZE_APICALL launch_with_parameters(ze_command_list_handle_t list,
                                                     ze_kernel_handle_t kernel,
                                                     const ze_group_count_t *groups,
                                                     const void *more, ze_event_handle_t signal,
                                                     uint32_t wait_count, ze_event_handle_t *waits)
{
	const struct blocks_ze_call call = { .list = list,
		                             .append = append_parameters,
		                             .signal = signal,
		                             .wait_count = wait_count,
		                             .waits = waits,
		                             .next = more };

	return blocks_ze_launch(&call, kernel, groups);
}

// The twin has one argument more.
static ze_result_t append_arguments(const struct blocks_ze_call *call, ze_kernel_handle_t kernel,
                                    const ze_group_count_t *groups,
                                    const struct blocks_ze_kernel *twin_of)
{
	const struct size size = { call->size[0], call->size[1], call->size[2] };
	void *all[MOST_ARGUMENTS + 1], **values = call->values, *memory;

	if (twin_of != NULL) {
		for (uint32_t i = 0; i < twin_of->arguments; i++)
			all[i] = call->values[i];
		memory = twin_of->memory;
		all[twin_of->arguments] = &memory;
		values = all;
	}
	return next.arguments(call->list, kernel, *groups, size, values, call->next, call->signal,
	                      call->wait_count, call->waits);
}

// Whether the twin can be given these values: else it is left alone, and row->why says why. How
// many bytes a value has the driver alone knows: no value is noted.
static bool takes_values(struct blocks_ze_kernel *known, void **values)
{
	if (known == NULL || known->twin == NULL)
		return false;
	for (uint32_t i = 0; i < BLOCKS_ARGUMENTS; i++)
		known->row->arguments[i].varies = 1;
	if (known->memory != NULL && known->arguments <= MOST_ARGUMENTS &&
	    (values != NULL || known->arguments == 0))
		return true;
	known->row->why = BLOCKS_POINTERS;
	return false;
}

static ze_result_t ZE_APICALL launch_with_arguments(ze_command_list_handle_t list,
                                                    ze_kernel_handle_t kernel,
                                                    ze_group_count_t groups, struct size size,
                                                    void **values, const void *more,
                                                    ze_event_handle_t signal, uint32_t wait_count,
                                                    ze_event_handle_t *waits)
{
	struct blocks_ze_kernel *known = blocks_ze_kernel(kernel);
	const struct blocks_ze_call call = { .list = list,
		                             .append = append_arguments,
		                             .signal = signal,
		                             .wait_count = wait_count,
		                             .waits = waits,
		                             .next = more,
		                             .values = values,
		                             .size = { size.x, size.y, size.z },
		                             .own = !takes_values(known, values),
		                             .sets = true };

	if (known != NULL)
		memcpy(known->group, call.size, sizeof known->group);
	return blocks_ze_launch(&call, kernel, &groups);
}

// ---- lists

static ze_result_t ZE_APICALL lists(ze_command_list_handle_t onto, uint32_t count,
                                    ze_command_list_handle_t *of, ze_event_handle_t signal,
                                    uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_result_t result = next.lists(onto, count, of, signal, wait_count, waits);

	if (result == ZE_RESULT_SUCCESS)
		blocks_ze_executed(onto, true, count, of);
	return result;
}

static ze_result_t ZE_APICALL lists_with(ze_command_list_handle_t onto, uint32_t count,
                                         ze_command_list_handle_t *of, const void *more,
                                         ze_event_handle_t signal, uint32_t wait_count,
                                         ze_event_handle_t *waits)
{
	ze_result_t result = next.lists_with(onto, count, of, more, signal, wait_count, waits);

	if (result == ZE_RESULT_SUCCESS)
		blocks_ze_executed(onto, true, count, of);
	return result;
}

static ze_result_t ZE_APICALL clone(ze_command_list_handle_t list, ze_command_list_handle_t *made)
{
	ze_result_t result = next.clone(list, made);

	if (result == ZE_RESULT_SUCCESS)
		blocks_ze_cloned(list, *made);
	return result;
}

// Of an immediate list; a driver refuses others.
static ze_result_t ZE_APICALL synchronize(ze_command_list_handle_t list, uint64_t timeout)
{
	uint64_t since = blocks_far_now();
	ze_result_t result = next.wait(list, timeout);

	if (result == ZE_RESULT_SUCCESS)
		blocks_far_waited(list, since);
	return result;
}

// ---- where they are

#define LIST "zeGetCommandListProcAddrTable"
#define LIST_EXP "zeGetCommandListExpProcAddrTable"

// Tables only grow at their ends, by members that are pointers.
static const struct {
	const char *name, *table; // NULL: in none that is known here
	uint32_t place, since;    // of the specification 1.x
	void **next;
	void *ours;
} newer[] = {
	{ "zeCommandListAppendLaunchKernelWithParameters", LIST, 36, 14,
	  (void **)(void *)&next.parameters, (void *)launch_with_parameters },
	{ "zeCommandListAppendLaunchKernelWithArguments", LIST, 37, 14,
	  (void **)(void *)&next.arguments, (void *)launch_with_arguments },
	{ "zeCommandListHostSynchronize", LIST, 28, 6, (void **)(void *)&next.wait,
	  (void *)synchronize },
	{ "zeCommandListImmediateAppendCommandListsExp", LIST_EXP, 1, 9,
	  (void **)(void *)&next.lists, (void *)lists },
	{ "zeCommandListImmediateAppendCommandListsWithParameters", NULL, 0, 0,
	  (void **)(void *)&next.lists_with, (void *)lists_with },
	{ "zeCommandListCreateCloneExp", LIST_EXP, 0, 9, (void **)(void *)&next.clone,
	  (void *)clone },
};

void blocks_ze_newer_replace(const char *table, uint32_t version, void *members)
{
	for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
		void **member = (void **)members + newer[i].place;
		if (newer[i].table == NULL || strcmp(newer[i].table, table) != 0 ||
		    ZE_MINOR_VERSION(version) < newer[i].since || *member == NULL ||
		    *member == newer[i].ours)
			continue;
		*newer[i].next = *member;
		*member = newer[i].ours;
	}
}

// Ours, where the driver's function is one before which ours stands.
static void *ours_of(const struct blocks_ze_row *rows, size_t count, void *address)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].ours != NULL && *rows[i].next == address)
			return rows[i].ours;
	return address;
}

ze_result_t ZE_APICALL blocks_ze_extension_address(ze_driver_handle_t driver, const char *name,
                                                   void **address)
{
	ze_result_t result = blocks_ze_next.extension_address(driver, name, address);

	if (result != ZE_RESULT_SUCCESS || name == NULL || address == NULL || *address == NULL)
		return result;
	for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
		if (strcmp(newer[i].name, name) == 0) {
			*newer[i].next = *address;
			*address = newer[i].ours;
			return result;
		}
	*address = ours_of(blocks_ze_list_rows, blocks_ze_list_row_count, *address);
	*address = ours_of(blocks_ze_far_rows, blocks_ze_far_row_count, *address);
	*address = ours_of(blocks_ze_kernel_rows, blocks_ze_kernel_row_count, *address);
	return result;
}
