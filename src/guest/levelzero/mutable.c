// SPDX-License-Identifier: Apache-2.0
// Lists whose commands are changed after they were appended, copies of lists, and graphs: what is
// not known of them is not told.
#include "guest/levelzero/ze.h"

// ---- commands that may be changed

struct id_desc {
	ze_structure_type_t stype;
	const void *pNext;
	uint32_t flags;
};

static void next_is_mutable(struct guest_thread *thread, ze_command_list_handle_t handle,
                            const struct id_desc *desc, uint32_t more)
{
	struct ze_list *list = ze_list_find(thread, handle);
	if (list != NULL)
		list->next_mutable =
		    more |
		    (desc != NULL && desc->flags != 0 ? desc->flags : ZE_MUTABLE_ALL_BUT_KERNEL);
}

void ze_before_zeCommandListGetNextCommandIdExp(struct guest_thread *thread,
                                                const struct ze_driver *driver,
                                                ze_command_list_handle_t list, const void *desc,
                                                uint64_t *id)
{
	next_is_mutable(thread, list, desc, 0);
}

void ze_before_zeCommandListGetNextCommandIdWithKernelsExp(
    struct guest_thread *thread, const struct ze_driver *driver, ze_command_list_handle_t list,
    const void *desc, uint32_t count, ze_kernel_handle_t *kernels, uint64_t *id)
{
	next_is_mutable(thread, list, desc, ZE_MUTABLE_KERNEL);
}

// ---- events that others signal, too

// From here on what the list's events say may be of somebody else.
static void share(struct guest_thread *thread, ze_command_list_handle_t handle)
{
	struct ze_list *list = ze_list_find(thread, handle);
	if (list == NULL || list->content == NULL)
		return;
	ze_harvest_list(thread, list);
	ze_content_share(list, list->content);
}

void ze_before_zeCommandListUpdateMutableCommandSignalEventExp(struct guest_thread *thread,
                                                               const struct ze_driver *driver,
                                                               ze_command_list_handle_t list,
                                                               uint64_t id, ze_event_handle_t event)
{
	share(thread, list);
}

// The copy signals the same events.
void ze_after_zeCommandListCreateCloneExp(struct guest_thread *thread,
                                          const struct ze_driver *driver,
                                          ze_command_list_handle_t list,
                                          ze_command_list_handle_t *made, ze_result_t result)
{
	const struct ze_list *of = result == ZE_RESULT_SUCCESS ? ze_list_find(thread, list) : NULL;
	if (of == NULL || of->content == NULL || made == NULL)
		return;
	share(thread, list);
	ze_list_cloned(thread, of, *made);
}

// ---- graphs

static void capture(struct guest_thread *thread, ze_command_list_handle_t handle,
                    ze_result_t result, bool begins)
{
	struct ze_list *list = result == ZE_RESULT_SUCCESS ? ze_list_find(thread, handle) : NULL;
	if (list != NULL)
		atomic_store(&list->capturing, begins);
}

#define CAPTURES(suffix)                                                                           \
	void ze_after_zeCommandListBeginGraphCapture##suffix(                                      \
	    struct guest_thread *thread, const struct ze_driver *driver,                           \
	    ze_command_list_handle_t list, const void *next, ze_result_t result)                   \
	{                                                                                          \
		(void)driver, (void)next;                                                          \
		capture(thread, list, result, true);                                               \
	}                                                                                          \
	void ze_after_zeCommandListBeginCaptureIntoGraph##suffix(                                  \
	    struct guest_thread *thread, const struct ze_driver *driver,                           \
	    ze_command_list_handle_t list, void *graph, const void *next, ze_result_t result)      \
	{                                                                                          \
		(void)driver, (void)graph, (void)next;                                             \
		capture(thread, list, result, true);                                               \
	}                                                                                          \
	void ze_after_zeCommandListEndGraphCapture##suffix(                                        \
	    struct guest_thread *thread, const struct ze_driver *driver,                           \
	    ze_command_list_handle_t list, void *one, void *other, ze_result_t result)             \
	{                                                                                          \
		(void)driver, (void)one, (void)other;                                              \
		capture(thread, list, result, false);                                              \
	}
CAPTURES(Ext)
CAPTURES(Exp)
