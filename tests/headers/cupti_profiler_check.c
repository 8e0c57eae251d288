// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of CUPTI's range profiler with NVIDIA's own headers, at compile time:
// the length of each structure, up to the last member that we know, and the places of its members.
// Built only where a toolkit with CUPTI 12.6 or later is installed; its headers are used for
// nothing else.
#include "backend/cuda/cupti_profiler_abi.h"

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stddef.h>
#include <stdio.h>

#define SAME_LENGTH(ours, last, theirs)                                                            \
	_Static_assert(ABI_PROFILER_BYTES(ours, last) == theirs##_STRUCT_SIZE,                     \
	               #ours " is not as long as " #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&          \
	                   sizeof(((struct ours *)0)->member) ==                                   \
	                       sizeof(((theirs *)0)->their_member),                                \
	               #theirs ": " #member " is not where " #their_member " is")
SAME_LENGTH(profiler_plain, reserved, CUpti_Profiler_Initialize_Params);
SAME_LENGTH(profiler_chip, chip, CUpti_Device_GetChipName_Params);
SAME_PLACE(profiler_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_LENGTH(profiler_availability, image, CUpti_Profiler_GetCounterAvailability_Params);
SAME_PLACE(profiler_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME_PLACE(profiler_availability, image_bytes, CUpti_Profiler_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_LENGTH(profiler_host, host, CUpti_Profiler_Host_Initialize_Params);
SAME_PLACE(profiler_host, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_PLACE(profiler_host, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_PLACE(profiler_host, availability, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_LENGTH(profiler_host_end, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME_LENGTH(profiler_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME_PLACE(profiler_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_LENGTH(profiler_config_bytes, image_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_LENGTH(profiler_config_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME_LENGTH(profiler_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME_PLACE(profiler_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_LENGTH(profiler_values, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME_PLACE(profiler_values, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           pCounterDataImage);
SAME_PLACE(profiler_values, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           counterDataImageSize);
SAME_PLACE(profiler_values, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_PLACE(profiler_values, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_PLACE(profiler_values, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_LENGTH(profiler_enable, profiler, CUpti_RangeProfiler_Enable_Params);
SAME_PLACE(profiler_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME_LENGTH(profiler_one, profiler, CUpti_RangeProfiler_Disable_Params);
SAME_LENGTH(profiler_one, profiler, CUpti_RangeProfiler_Start_Params);
SAME_LENGTH(profiler_stop, all_passes, CUpti_RangeProfiler_Stop_Params);
SAME_LENGTH(profiler_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
SAME_LENGTH(profiler_data_bytes, data_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
SAME_PLACE(profiler_data_bytes, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME_PLACE(profiler_data_bytes, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME_PLACE(profiler_data_bytes, ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumOfRanges);
SAME_PLACE(profiler_data_bytes, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumRangeTreeNodes);
SAME_LENGTH(profiler_data_begin, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
SAME_PLACE(profiler_data_begin, data_bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_LENGTH(profiler_config, nesting, CUpti_RangeProfiler_SetConfig_Params);
SAME_PLACE(profiler_config, image, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME_PLACE(profiler_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME_PLACE(profiler_config, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME_PLACE(profiler_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_PLACE(profiler_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME_PLACE(profiler_config, ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME_PLACE(profiler_config, nestings, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME_PLACE(profiler_config, least_nesting, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME_PLACE(profiler_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME_LENGTH(profiler_data_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);

#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
SAME_VALUE(ABI_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_VALUE(ABI_PROFILER_AUTO_RANGE, CUPTI_AutoRange);
SAME_VALUE(ABI_PROFILER_KERNEL_REPLAY, CUPTI_KernelReplay);
SAME_VALUE(ABI_PROFILER_USER_REPLAY, CUPTI_UserReplay);

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with CUPTI's range profiler\n");
	return 0;
}
