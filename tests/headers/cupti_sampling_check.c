// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of CUPTI's sampling of a device with NVIDIA's own headers, at compile
// time, as cupti_profiler_check.c does.
#include "backend/cuda/sampling/cupti_abi.h"

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
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
#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
SAME_LENGTH(sampling_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME_PLACE(sampling_availability, device, CUpti_PmSampling_GetCounterAvailability_Params,
           deviceIndex);
SAME_PLACE(sampling_availability, image_bytes, CUpti_PmSampling_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_LENGTH(sampling_enable, sampling, CUpti_PmSampling_Enable_Params);
SAME_PLACE(sampling_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_LENGTH(sampling_one, sampling, CUpti_PmSampling_Disable_Params);
SAME_LENGTH(sampling_one, sampling, CUpti_PmSampling_Start_Params);
SAME_LENGTH(sampling_one, sampling, CUpti_PmSampling_Stop_Params);
SAME_LENGTH(sampling_config, append, CUpti_PmSampling_SetConfig_Params);
SAME_PLACE(sampling_config, image_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME_PLACE(sampling_config, image, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME_PLACE(sampling_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME_PLACE(sampling_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME_PLACE(sampling_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_LENGTH(sampling_data_bytes, data_bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME_PLACE(sampling_data_bytes, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME_PLACE(sampling_data_bytes, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME_PLACE(sampling_data_bytes, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_LENGTH(sampling_data_begin, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME_PLACE(sampling_data_begin, data_bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_LENGTH(sampling_decode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME_PLACE(sampling_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME_PLACE(sampling_decode, data_bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME_PLACE(sampling_decode, reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_LENGTH(sampling_data_info, complete, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME_PLACE(sampling_data_info, samples, CUpti_PmSampling_GetCounterDataInfo_Params,
           numTotalSamples);
SAME_PLACE(sampling_data_info, begun, CUpti_PmSampling_GetCounterDataInfo_Params,
           numPopulatedSamples);
SAME_LENGTH(sampling_sample, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME_PLACE(sampling_sample, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME_PLACE(sampling_sample, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
           startTimestamp);
SAME_VALUE(ABI_PROFILER_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_VALUE(ABI_SAMPLING_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_VALUE(ABI_SAMPLING_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with CUPTI's sampling of a device\n");
	return 0;
}
