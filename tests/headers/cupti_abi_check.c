// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of CUPTI with NVIDIA's own headers, at compile time: every function's
// type, every constant, and every member of a record in each of the versions of it that the headers
// still describe. Built only where a toolkit with CUPTI is installed.
// Ours first: cuda.h gives other names to some of the functions that abi.h lists.
#include "backend/cuda/cupti_abi.h"

#include <cuda.h>
#include <cupti.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(ours) == sizeof(theirs), #ours " and " #theirs " differ in size")
SAME_SIZE(cupti_result, CUptiResult);
SAME_SIZE(cupti_kind, CUpti_ActivityKind);
SAME_SIZE(cupti_external_kind, CUpti_ExternalCorrelationKind);
SAME_SIZE(cupti_domain, CUpti_CallbackDomain);
SAME_SIZE(uint32_t, CUpti_CallbackId);
SAME_SIZE(cupti_subscriber, CUpti_SubscriberHandle);
SAME_SIZE(cu_graph_node, CUgraphNode);
SAME_SIZE(struct cupti_external, CUpti_ActivityExternalCorrelation);
SAME_SIZE(struct cupti_resource, CUpti_ResourceData);
SAME_SIZE(struct cupti_call, CUpti_CallbackData);

#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
SAME_VALUE(ABI_CUPTI_SUCCESS, CUPTI_SUCCESS);
SAME_VALUE(ABI_CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(ABI_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME_VALUE(ABI_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(ABI_CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_VALUE(ABI_CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_VALUE(ABI_CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_VALUE(ABI_CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_VALUE(ABI_CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_VALUE(ABI_CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_VALUE(ABI_CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_VALUE(ABI_CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_VALUE(ABI_CUPTI_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME_VALUE(ABI_CUPTI_KIND_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_VALUE(ABI_CUPTI_KIND_NVLINK, CUPTI_ACTIVITY_KIND_NVLINK);
SAME_VALUE(ABI_CUPTI_NVLINK_GPU, CUPTI_DEV_TYPE_GPU);
SAME_VALUE(ABI_CUPTI_KIND_PAGES, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME_VALUE(ABI_CUPTI_PAGES_TO_DEVICE,
           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
SAME_VALUE(ABI_CUPTI_PAGES_TO_HOST, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
SAME_VALUE(ABI_CUPTI_PAGES_HOST_FAULTS,
           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
SAME_VALUE(ABI_CUPTI_PAGES_DEVICE_FAULTS,
           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
SAME_VALUE(ABI_CUPTI_PAGES_THRASHING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
SAME_VALUE(ABI_CUPTI_PAGES_THROTTLING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING);
SAME_VALUE(ABI_CUPTI_PAGES_REMOTE_MAP, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
SAME_VALUE(ABI_CUPTI_PAGES_BETWEEN_DEVICES,
           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
SAME_VALUE(ABI_CUPTI_PAGES_ALL_DEVICES,
           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
SAME_VALUE(ABI_CUPTI_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_VALUE(ABI_CUPTI_EXTERNAL_CUSTOM0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
SAME_VALUE(ABI_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_VALUE(ABI_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_VALUE(ABI_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_VALUE(ABI_CUPTI_SITE_ENTER, CUPTI_API_ENTER);
SAME_VALUE(ABI_CUPTI_SITE_EXIT, CUPTI_API_EXIT);
SAME_VALUE(ABI_CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME_VALUE(ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_VALUE(ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

#define SAME_PLACE(structure, ours, theirs_structure, theirs)                                      \
	_Static_assert(offsetof(structure, ours) == offsetof(theirs_structure, theirs) &&          \
	                   sizeof((structure *)0)->ours == sizeof((theirs_structure *)0)->theirs,  \
	               #theirs_structure ": " #ours " is not where " #theirs " is")

#define KERNEL(theirs)                                                                             \
	SAME_PLACE(struct cupti_kernel, kind, theirs, kind);                                       \
	SAME_PLACE(struct cupti_kernel, start, theirs, start);                                     \
	SAME_PLACE(struct cupti_kernel, end, theirs, end);                                         \
	SAME_PLACE(struct cupti_kernel, device, theirs, deviceId);                                 \
	SAME_PLACE(struct cupti_kernel, stream, theirs, streamId);                                 \
	SAME_PLACE(struct cupti_kernel, correlation, theirs, correlationId);                       \
	SAME_PLACE(struct cupti_kernel, name, theirs, name);                                       \
	SAME_PLACE(struct cupti_kernel, queued, theirs, queued);                                   \
	SAME_PLACE(struct cupti_kernel, submitted, theirs, submitted)
#define COPY(structure, theirs)                                                                    \
	SAME_PLACE(structure, kind, theirs, kind);                                                 \
	SAME_PLACE(structure, copy_kind, theirs, copyKind);                                        \
	SAME_PLACE(structure, source_kind, theirs, srcKind);                                       \
	SAME_PLACE(structure, destination_kind, theirs, dstKind);                                  \
	SAME_PLACE(structure, flags, theirs, flags);                                               \
	SAME_PLACE(structure, bytes, theirs, bytes);                                               \
	SAME_PLACE(structure, start, theirs, start);                                               \
	SAME_PLACE(structure, end, theirs, end);                                                   \
	SAME_PLACE(structure, device, theirs, deviceId);                                           \
	SAME_PLACE(structure, stream, theirs, streamId);                                           \
	SAME_PLACE(structure, correlation, theirs, correlationId)
#define FILL(theirs)                                                                               \
	SAME_PLACE(struct cupti_memset, kind, theirs, kind);                                       \
	SAME_PLACE(struct cupti_memset, bytes, theirs, bytes);                                     \
	SAME_PLACE(struct cupti_memset, start, theirs, start);                                     \
	SAME_PLACE(struct cupti_memset, end, theirs, end);                                         \
	SAME_PLACE(struct cupti_memset, stream, theirs, streamId);                                 \
	SAME_PLACE(struct cupti_memset, correlation, theirs, correlationId)
#define LINK(theirs)                                                                               \
	_Static_assert(                                                                            \
	    offsetof(struct cupti_nvlink, types) == offsetof(theirs, typeDev0) &&                  \
	        offsetof(struct cupti_nvlink, types[1]) == offsetof(theirs, typeDev1) &&           \
	        offsetof(struct cupti_nvlink, ends) == offsetof(theirs, idDev0) &&                 \
	        offsetof(struct cupti_nvlink, ends[1]) == offsetof(theirs, idDev1) &&              \
	        offsetof(struct cupti_nvlink, count) == offsetof(theirs, physicalNvLinkCount),     \
	    #theirs ": not where ours are")
LINK(CUpti_ActivityNvLink);
LINK(CUpti_ActivityNvLink2);
LINK(CUpti_ActivityNvLink3);
LINK(CUpti_ActivityNvLink4);
#define NODE(structure, theirs) SAME_PLACE(structure, graph_node, theirs, graphNodeId)
KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel5);
NODE(struct cupti_kernel, CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
NODE(struct cupti_kernel, CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
NODE(struct cupti_kernel, CUpti_ActivityKernel7);
KERNEL(CUpti_ActivityKernel8);
NODE(struct cupti_kernel, CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
NODE(struct cupti_kernel, CUpti_ActivityKernel9);
COPY(struct cupti_memcpy, CUpti_ActivityMemcpy);
COPY(struct cupti_memcpy, CUpti_ActivityMemcpy3);
NODE(struct cupti_memcpy, CUpti_ActivityMemcpy3);
COPY(struct cupti_memcpy, CUpti_ActivityMemcpy4);
NODE(struct cupti_memcpy, CUpti_ActivityMemcpy4);
COPY(struct cupti_memcpy, CUpti_ActivityMemcpy5);
NODE(struct cupti_memcpy, CUpti_ActivityMemcpy5);
COPY(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP);
COPY(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP2);
NODE(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP2);
COPY(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP3);
NODE(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP3);
COPY(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
NODE(struct cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
FILL(CUpti_ActivityMemset);
FILL(CUpti_ActivityMemset2);
NODE(struct cupti_memset, CUpti_ActivityMemset2);
FILL(CUpti_ActivityMemset3);
NODE(struct cupti_memset, CUpti_ActivityMemset3);
FILL(CUpti_ActivityMemset4);
NODE(struct cupti_memset, CUpti_ActivityMemset4);
#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel10);
NODE(struct cupti_kernel, CUpti_ActivityKernel10);
COPY(struct cupti_memcpy, CUpti_ActivityMemcpy6);
NODE(struct cupti_memcpy, CUpti_ActivityMemcpy6);
SAME_SIZE(cupti_subscription, CUpti_SubscriberParams);
SAME_PLACE(cupti_subscription, bytes, CUpti_SubscriberParams, structSize);
SAME_PLACE(cupti_subscription, name, CUpti_SubscriberParams, subscriberName);
SAME_PLACE(cupti_subscription, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME_PLACE(cupti_subscription, holder_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif
#define PAGES(theirs)                                                                              \
	SAME_PLACE(struct cupti_pages, kind, theirs, kind);                                        \
	SAME_PLACE(struct cupti_pages, counter, theirs, counterKind);                              \
	SAME_PLACE(struct cupti_pages, value, theirs, value);                                      \
	SAME_PLACE(struct cupti_pages, start, theirs, start);                                      \
	SAME_PLACE(struct cupti_pages, end, theirs, end);                                          \
	SAME_PLACE(struct cupti_pages, address, theirs, address);                                  \
	SAME_PLACE(struct cupti_pages, source, theirs, srcId);                                     \
	SAME_PLACE(struct cupti_pages, destination, theirs, dstId);                                \
	SAME_PLACE(struct cupti_pages, cause, theirs, flags)
PAGES(CUpti_ActivityUnifiedMemoryCounter2);
#if CUPTI_API_VERSION >= 130000
PAGES(CUpti_ActivityUnifiedMemoryCounter3);
#endif
SAME_SIZE(cupti_pages_config, CUpti_ActivityUnifiedMemoryCounterConfig);
SAME_PLACE(cupti_pages_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME_PLACE(cupti_pages_config, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME_PLACE(cupti_pages_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME_PLACE(cupti_pages_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
SAME_PLACE(cupti_record, kind, CUpti_Activity, kind);
SAME_PLACE(struct cupti_external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME_PLACE(struct cupti_external, external, CUpti_ActivityExternalCorrelation, externalId);
SAME_PLACE(struct cupti_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME_PLACE(struct cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_PLACE(struct cupti_graph_resource, graph, CUpti_GraphData, graph);
SAME_PLACE(struct cupti_graph_resource, original_graph, CUpti_GraphData, originalGraph);
SAME_PLACE(struct cupti_graph_resource, node, CUpti_GraphData, node);
SAME_PLACE(struct cupti_graph_resource, original_node, CUpti_GraphData, originalNode);

// Then the functions, with NVIDIA's types in place of ours.
#define cu_context CUcontext
#define cu_stream CUstream
#define cu_graph_node CUgraphNode
#define cupti_result CUptiResult
#define cupti_kind CUpti_ActivityKind
#define cupti_external_kind CUpti_ExternalCorrelationKind
#define cupti_domain CUpti_CallbackDomain
#define cupti_subscriber CUpti_SubscriberHandle
#define cupti_record CUpti_Activity
#define cupti_pages_config CUpti_ActivityUnifiedMemoryCounterConfig
#define cupti_callback CUpti_CallbackFunc
#define cupti_buffer_requested CUpti_BuffersCallbackRequestFunc
#define cupti_buffer_completed CUpti_BuffersCallbackCompleteFunc
#define cupti_timestamp CUpti_TimestampCallbackFunc
#if CUPTI_API_VERSION >= 130000
#define cupti_subscription CUpti_SubscriberParams
#else // came later
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                              void *context, cupti_subscription *subscription);
#endif
#define SAME_TYPE(name, parameters)                                                                \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), CUptiResult(*) parameters), \
	               #name " is declared otherwise by NVIDIA");
CUPTI_FUNCTIONS(SAME_TYPE, SAME_TYPE)

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with CUPTI's headers of version %d\n",
	       CUPTI_API_VERSION);
	return 0;
}
