// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of CUPTI's SASS metrics with NVIDIA's own headers, at compile time: the
// length of each structure, and the places of its members. Built only where a toolkit is installed;
// its headers are used for nothing else.
#include "backend/cuda/cupti_sass_abi.h"

#include <cuda.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <stddef.h>
#include <stdio.h>

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #ours " is not as long as " #theirs)
#define SAME_LENGTH(ours, last, theirs)                                                            \
	_Static_assert(ABI_SASS_BYTES(ours, last) == theirs##_STRUCT_SIZE,                         \
	               #ours " is not as long as " #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&          \
	                   sizeof(((struct ours *)0)->member) ==                                   \
	                       sizeof(((theirs *)0)->their_member),                                \
	               #theirs ": " #member " is not where " #their_member " is")
SAME_LENGTH(sass_plain, reserved, CUpti_Profiler_Initialize_Params);
SAME_LENGTH(sass_chip, chip, CUpti_Device_GetChipName_Params);
SAME_PLACE(sass_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_SIZE(sass_metric, CUpti_SassMetrics_MetricDetails);
SAME_PLACE(sass_metric, id, CUpti_SassMetrics_MetricDetails, metricId);
SAME_LENGTH(sass_properties, metric, CUpti_SassMetrics_GetProperties_Params);
SAME_PLACE(sass_properties, chip, CUpti_SassMetrics_GetProperties_Params, pChipName);
SAME_PLACE(sass_properties, name, CUpti_SassMetrics_GetProperties_Params, pMetricName);
SAME_SIZE(sass_wish, CUpti_SassMetrics_Config);
SAME_PLACE(sass_wish, granularity, CUpti_SassMetrics_Config, outputGranularity);
SAME_LENGTH(sass_configuration, device, CUpti_SassMetricsSetConfig_Params);
SAME_PLACE(sass_configuration, wishes, CUpti_SassMetricsSetConfig_Params, pConfigs);
SAME_LENGTH(sass_end, device, CUpti_SassMetricsUnsetConfig_Params);
SAME_LENGTH(sass_enable, lazy, CUpti_SassMetricsEnable_Params);
SAME_PLACE(sass_enable, context, CUpti_SassMetricsEnable_Params, ctx);
SAME_LENGTH(sass_disable, dropped, CUpti_SassMetricsDisable_Params);
SAME_LENGTH(sass_available, instances, CUpti_SassMetricsGetDataProperties_Params);
SAME_PLACE(sass_available, records, CUpti_SassMetricsGetDataProperties_Params,
           numOfPatchedInstructionRecords);
SAME_SIZE(sass_value, CUpti_SassMetrics_InstanceValue);
SAME_PLACE(sass_value, value, CUpti_SassMetrics_InstanceValue, value);
SAME_SIZE(sass_record, CUpti_SassMetrics_Data);
SAME_PLACE(sass_record, cubin_crc, CUpti_SassMetrics_Data, cubinCrc);
SAME_PLACE(sass_record, function, CUpti_SassMetrics_Data, functionIndex);
SAME_PLACE(sass_record, name, CUpti_SassMetrics_Data, functionName);
SAME_PLACE(sass_record, pc, CUpti_SassMetrics_Data, pcOffset);
SAME_PLACE(sass_record, values, CUpti_SassMetrics_Data, pInstanceValues);
SAME_SIZE(sass_flush, CUpti_SassMetricsFlushData_Params);
SAME_LENGTH(sass_flush, instances, CUpti_SassMetricsFlushData_Params);
SAME_PLACE(sass_flush, data, CUpti_SassMetricsFlushData_Params, pMetricsData);
_Static_assert((int)ABI_SASS_WHOLE_DEVICE == CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU,
               "granularity");

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with CUPTI's SASS metrics\n");
	return 0;
}
