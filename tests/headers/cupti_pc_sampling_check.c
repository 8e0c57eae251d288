// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of CUPTI's PC sampling with NVIDIA's own headers, at compile time: the
// length of each structure, and the places of its members. Built only where a toolkit is installed;
// its headers are used for nothing else.
#include "backend/cuda/cupti_pc_sampling_abi.h"

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <stddef.h>
#include <stdio.h>

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #ours " is not as long as " #theirs)
#define SAME_LENGTH(ours, last, theirs)                                                            \
	_Static_assert((int)ABI_SAMPLING_BYTES(ours, last) == theirs##ParamsSize,                  \
	               #ours " is not as long as " #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&          \
	                   sizeof(((struct ours *)0)->member) ==                                   \
	                       sizeof(((theirs *)0)->their_member),                                \
	               #theirs ": " #member " is not where " #their_member " is")
SAME_SIZE(sampling_stall, CUpti_PCSamplingStallReason);
SAME_PLACE(sampling_stall, samples, CUpti_PCSamplingStallReason, samples);
SAME_SIZE(sampling_record, CUpti_PCSamplingPCData);
SAME_PLACE(sampling_record, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
SAME_PLACE(sampling_record, pc, CUpti_PCSamplingPCData, pcOffset);
SAME_PLACE(sampling_record, function, CUpti_PCSamplingPCData, functionIndex);
SAME_PLACE(sampling_record, name, CUpti_PCSamplingPCData, functionName);
SAME_PLACE(sampling_record, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME_PLACE(sampling_record, stalls, CUpti_PCSamplingPCData, stallReason);
SAME_PLACE(sampling_record, correlation, CUpti_PCSamplingPCData, correlationId);
SAME_SIZE(sampling_data, CUpti_PCSamplingData);
SAME_PLACE(sampling_data, room, CUpti_PCSamplingData, collectNumPcs);
SAME_PLACE(sampling_data, total, CUpti_PCSamplingData, totalSamples);
SAME_PLACE(sampling_data, dropped, CUpti_PCSamplingData, droppedSamples);
SAME_PLACE(sampling_data, count, CUpti_PCSamplingData, totalNumPcs);
SAME_PLACE(sampling_data, left, CUpti_PCSamplingData, remainingNumPcs);
SAME_PLACE(sampling_data, records, CUpti_PCSamplingData, pPcData);
SAME_PLACE(sampling_data, not_users, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME_PLACE(sampling_data, buffer_full, CUpti_PCSamplingData, hardwareBufferFull);
SAME_SIZE(sampling_attribute, CUpti_PCSamplingConfigurationInfo);
SAME_PLACE(sampling_attribute, value, CUpti_PCSamplingConfigurationInfo, attributeData);
SAME_PLACE(sampling_attribute, value.reasons.places, CUpti_PCSamplingConfigurationInfo,
           attributeData.stallReasonData.pStallReasonIndex);
SAME_LENGTH(sampling_configuration, attributes, CUpti_PCSamplingConfigurationInfo);
SAME_PLACE(sampling_configuration, count, CUpti_PCSamplingConfigurationInfoParams, numAttributes);
SAME_LENGTH(sampling_get, data, CUpti_PCSamplingGetData);
SAME_LENGTH(pc_sampling_one, context, CUpti_PCSamplingEnable);
SAME_LENGTH(pc_sampling_one, context, CUpti_PCSamplingDisable);
SAME_LENGTH(sampling_reason_count, count, CUpti_PCSamplingGetNumStallReasons);
SAME_LENGTH(sampling_reasons, names, CUpti_PCSamplingGetStallReasons);
SAME_PLACE(sampling_reasons, places, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME_LENGTH(sampling_crc, crc, CUpti_GetCubinCrc);
SAME_PLACE(sampling_crc, cubin, CUpti_GetCubinCrcParams, cubin);
SAME_SIZE(cupti_module_resource, CUpti_ModuleResourceData);
SAME_PLACE(cupti_module_resource, cubin, CUpti_ModuleResourceData, pCubin);
_Static_assert((int)ABI_SAMPLING_CONTINUOUS == CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS,
               "mode");
_Static_assert((int)ABI_SAMPLING_PERIOD ==
                   CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
               "");
_Static_assert((int)ABI_SAMPLING_REASONS == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
               "");
_Static_assert((int)ABI_SAMPLING_ROOM ==
                   CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE,
               "");
_Static_assert((int)ABI_SAMPLING_MODE == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
               "");
_Static_assert((int)ABI_SAMPLING_BUFFER ==
                   CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
               "");
_Static_assert((int)ABI_SAMPLING_NAME_BYTES == CUPTI_STALL_REASON_STRING_SIZE, "");
_Static_assert((int)ABI_CUPTI_RESOURCE_CONTEXT_CREATED == CUPTI_CBID_RESOURCE_CONTEXT_CREATED, "");
_Static_assert((int)ABI_CUPTI_RESOURCE_MODULE_UNLOADS == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
               "");

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with CUPTI's PC sampling\n");
	return 0;
}
