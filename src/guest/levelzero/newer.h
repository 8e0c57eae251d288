// SPDX-License-Identifier: Apache-2.0
// Prototypes that some of the headers lack with which tare is built; types that those do not know
// are void. Read by tools/gen_levelzero.py, never by the compiler. Structures that are passed by
// value are in ze.h.
typedef ze_result_t(ZE_APICALL *ze_newer_InitDrivers_t)(uint32_t *count,
                                                        ze_driver_handle_t *drivers, void *desc);
typedef ze_result_t(ZE_APICALL *ze_newer_DeviceSynchronize_t)(ze_device_handle_t device);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListHostSynchronize_t)(
    ze_command_list_handle_t list, uint64_t timeout);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendLaunchKernelWithParameters_t)(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendLaunchKernelWithArguments_t)(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t groups,
    const struct ze_newer_size size, void **arguments, const void *next, ze_event_handle_t signal,
    uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendMemoryCopyWithParameters_t)(
    ze_command_list_handle_t list, void *to, const void *from, size_t bytes, const void *next,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendMemoryFillWithParameters_t)(
    ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_bytes,
    size_t bytes, const void *next, ze_event_handle_t signal, uint32_t wait_count,
    ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendHostFunction_t)(
    ze_command_list_handle_t list, void *function, void *context, const void *next,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListImmediateAppendCommandListsExp_t)(
    ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListImmediateAppendCommandListsWithParameters_t)(
    ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
    const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_EventQueryKernelTimestampsExt_t)(ze_event_handle_t event,
                                                                          ze_device_handle_t device,
                                                                          uint32_t *count,
                                                                          void *results);
typedef ze_result_t(ZE_APICALL *ze_newer_EventCounterBasedCreate_t)(ze_context_handle_t context,
                                                                    ze_device_handle_t device,
                                                                    const void *desc,
                                                                    ze_event_handle_t *made);
typedef ze_result_t(ZE_APICALL *ze_newer_xCounterBasedEventCreate2_t)(ze_context_handle_t context,
                                                                      ze_device_handle_t device,
                                                                      const void *desc,
                                                                      ze_event_handle_t *made);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListCreateCloneExp_t)(
    ze_command_list_handle_t list, ze_command_list_handle_t *made);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListGetNextCommandIdExp_t)(
    ze_command_list_handle_t list, const void *desc, uint64_t *id);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListGetNextCommandIdWithKernelsExp_t)(
    ze_command_list_handle_t list, const void *desc, uint32_t count, ze_kernel_handle_t *kernels,
    uint64_t *id);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListUpdateMutableCommandsExp_t)(
    ze_command_list_handle_t list, const void *desc);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListUpdateMutableCommandSignalEventExp_t)(
    ze_command_list_handle_t list, uint64_t id, ze_event_handle_t event);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListUpdateMutableCommandWaitEventsExp_t)(
    ze_command_list_handle_t list, uint64_t id, uint32_t count, ze_event_handle_t *events);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListUpdateMutableCommandKernelsExp_t)(
    ze_command_list_handle_t list, uint32_t count, uint64_t *ids, ze_kernel_handle_t *kernels);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListBeginGraphCaptureExt_t)(
    ze_command_list_handle_t list, const void *next);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListBeginCaptureIntoGraphExt_t)(
    ze_command_list_handle_t list, void *graph, const void *next);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListEndGraphCaptureExt_t)(
    ze_command_list_handle_t list, void *one, void *other);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendGraphExt_t)(ze_command_list_handle_t list,
                                                                      void *graph, void *next,
                                                                      ze_event_handle_t signal,
                                                                      uint32_t wait_count,
                                                                      ze_event_handle_t *waits);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListBeginGraphCaptureExp_t)(
    ze_command_list_handle_t list, const void *next);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListBeginCaptureIntoGraphExp_t)(
    ze_command_list_handle_t list, void *graph, const void *next);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListEndGraphCaptureExp_t)(
    ze_command_list_handle_t list, void *one, void *other);
typedef ze_result_t(ZE_APICALL *ze_newer_CommandListAppendGraphExp_t)(ze_command_list_handle_t list,
                                                                      void *graph, void *next,
                                                                      ze_event_handle_t signal,
                                                                      uint32_t wait_count,
                                                                      ze_event_handle_t *waits);
