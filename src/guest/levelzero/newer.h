// SPDX-License-Identifier: Apache-2.0
// Prototypes that some of the headers lack with which tare is built; types that those do not know are void.
// Read by tools/gen_levelzero.py, never by the compiler.
typedef ze_result_t (ZE_APICALL *ze_newer_InitDrivers_t)(uint32_t *count, ze_driver_handle_t *drivers, void *desc);
typedef ze_result_t (ZE_APICALL *ze_newer_DeviceSynchronize_t)(ze_device_handle_t device);
typedef ze_result_t (ZE_APICALL *ze_newer_CommandListHostSynchronize_t)(ze_command_list_handle_t list, uint64_t timeout);
