// SPDX-License-Identifier: Apache-2.0
// Advice in the words of the API that the program uses. Programs of several APIs get OpenCL's where
// it is among them: what is advised is the same.
#include "analysis/findings/internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[FINDING_WORDS][TARE_TRACE_API_COUNT] = {
	[FINDING_WORD_REPLAY] = {
		[TARE_TRACE_OPENCL] = "replay them as a command buffer",
		[TARE_TRACE_LEVELZERO] = "put them into one command list that is executed again and again",
		[TARE_TRACE_CUDA] = "replay them as a graph (cudaGraphLaunch, torch.cuda.graph), whose nodes still have a "
		                    "gap between them, which `tare latency` measures",
	},
	[FINDING_WORD_HAND_OVER] = {
		[TARE_TRACE_OPENCL] = "Call clFlush after enqueueing what may start now",
		[TARE_TRACE_LEVELZERO] = "Execute the command list as soon as what may start now has been "
		                         "appended to it, or use an immediate command list",
		[TARE_TRACE_CUDA] = "Query the stream after enqueueing what may start now",
	},
	[FINDING_WORD_WAIT] = {
		[TARE_TRACE_OPENCL] = "Use clWaitForEvents or an event callback",
		[TARE_TRACE_LEVELZERO] = "Use zeEventHostSynchronize or zeCommandQueueSynchronize",
		[TARE_TRACE_CUDA] = "Use cuEventSynchronize on an event made to block, or a host function",
	},
	[FINDING_WORD_DRAIN] = {
		[TARE_TRACE_OPENCL] = "leave out clFinish and clWaitForEvents between commands, whose order the queue "
		                      "or events keep, and wait once at the end or when a result is read",
		[TARE_TRACE_LEVELZERO] = "leave out zeCommandQueueSynchronize and the like between commands, whose order "
		                         "in-order lists or events keep, and wait once at the end or when a result is read",
		[TARE_TRACE_CUDA] = "leave out cudaStreamSynchronize and cudaDeviceSynchronize between commands, whose "
		                    "order the stream keeps, and read results every so many pieces (in PyTorch .item(), "
		                    ".cpu() and printing a tensor wait)",
	},
	[FINDING_WORD_QUEUE_NOUN] = {
		[TARE_TRACE_OPENCL] = "queues",
		[TARE_TRACE_LEVELZERO] = "command queues and immediate lists",
		[TARE_TRACE_CUDA] = "streams",
	},
	[FINDING_WORD_NOT_BLOCK] = {
		[TARE_TRACE_OPENCL] = "Make the copies non-blocking",
		[TARE_TRACE_LEVELZERO] = "Append the copies to asynchronous lists",
		[TARE_TRACE_CUDA] = "Make the copies asynchronous",
	},
	[FINDING_WORD_PROGRAMS] = {
		[TARE_TRACE_OPENCL] = "Programs",
		[TARE_TRACE_LEVELZERO] = "Modules",
		[TARE_TRACE_CUDA] = "Modules",
	},
	[FINDING_WORD_ASYNCHRONOUS] = {
		[TARE_TRACE_OPENCL] = "Enqueue kernels without waiting for each",
		[TARE_TRACE_LEVELZERO] = "Make the immediate list asynchronous (ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)",
		[TARE_TRACE_CUDA] = "Let launches return at once (CUDA_LAUNCH_BLOCKING unset)",
	},
	[FINDING_WORD_FIRST_USE] = {
		[TARE_TRACE_OPENCL] = "compile or load a kernel then",
		[TARE_TRACE_LEVELZERO] = "load a kernel, or move shared memory to the device, then",
		[TARE_TRACE_CUDA] = "load a kernel, or move managed memory to the device, then",
	},
	[FINDING_WORD_QUEUES] = {
		[TARE_TRACE_OPENCL] = "three queues",
		[TARE_TRACE_LEVELZERO] = "three command queues or immediate lists (one or two of a copy engine)",
		[TARE_TRACE_CUDA] = "three streams",
	},
	[FINDING_WORD_ONE_QUEUE] = {
		[TARE_TRACE_OPENCL] = "one queue",
		[TARE_TRACE_LEVELZERO] = "one command queue or immediate list, which is one engine",
		[TARE_TRACE_CUDA] = "one stream",
	},
	[FINDING_WORD_PINNED] = {
		[TARE_TRACE_OPENCL] = "(CL_MEM_ALLOC_HOST_PTR, mapped)",
		[TARE_TRACE_LEVELZERO] = "(zeMemAllocHost)",
		[TARE_TRACE_CUDA] = "(cudaHostAlloc, cudaHostRegister; in PyTorch pin_memory)",
	},
	[FINDING_WORD_IN_PLACE] = {
		[TARE_TRACE_OPENCL] = "Let host and kernels use the same memory: map buffers made with CL_MEM_ALLOC_HOST_PTR "
		                      "(clEnqueueMapBuffer) and compute in what is mapped, make them of your own memory "
		                      "(CL_MEM_USE_HOST_PTR), or use shared virtual memory",
		[TARE_TRACE_LEVELZERO] = "Let host and kernels use the same memory: allocate it with zeMemAllocShared or "
		                         "zeMemAllocHost and pass that to the kernels",
		[TARE_TRACE_CUDA] = "Let host and kernels use the same memory: allocate it with cudaMallocManaged or "
		                    "cudaHostAlloc (cudaHostAllocMapped) and pass that to the kernels",
	},
	[FINDING_WORD_MEMORY_WAITS] = {
		[TARE_TRACE_OPENCL] = "many drivers wait for the device when memory is made or freed",
		[TARE_TRACE_LEVELZERO] = "many drivers wait for the device when memory is made or freed",
		[TARE_TRACE_CUDA] = "cudaFree and what makes or ends page-locked memory wait for the device; cudaMallocAsync "
		                    "and cudaFreeAsync do not",
	},
	[FINDING_WORD_KEEP_BINARIES] = {
		[TARE_TRACE_OPENCL] = "(clGetProgramInfo, CL_PROGRAM_BINARIES)",
		[TARE_TRACE_LEVELZERO] = "(zeModuleGetNativeBinary)",
		[TARE_TRACE_CUDA] = "(compile for this GPU instead of from PTX; CUDA_MODULE_LOADING=EAGER loads all "
		                    "kernels at the start)",
	},
};

const char *finding_word(const struct evaluation *evaluation, enum finding_word word)
{
	for (uint32_t api = TARE_TRACE_OPENCL; api < TARE_TRACE_API_COUNT; api++)
		if (evaluation->recording->apis >> api & 1 && words[word][api])
			return words[word][api];
	return words[word][TARE_TRACE_OPENCL];
}

const char *finding_variable(const struct evaluation *evaluation, const char *name)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t length = strlen(name);
	for (size_t i = 0; i < recording->variable_count; i++) {
		const struct tare_recorded_variable *variable = &recording->variables[i];
		if (tare_view_has_process(evaluation->view, variable->process) &&
		    strncmp(variable->text, name, length) == 0 && variable->text[length] == '=')
			return variable->text + length + 1;
	}
	return NULL;
}

static bool is_on(const struct evaluation *evaluation, const char *name)
{
	const char *value = finding_variable(evaluation, name);
	return value && strtol(value, NULL, 10) != 0;
}

const char *finding_rebuilds(const struct evaluation *evaluation)
{
	if (is_on(evaluation, "CUDA_CACHE_DISABLE"))
		return "; CUDA_CACHE_DISABLE is set, without which the driver keeps what it "
		       "compiles";
	if (is_on(evaluation, "CUDA_FORCE_PTX_JIT"))
		return "; CUDA_FORCE_PTX_JIT is set, without which what was compiled for this GPU "
		       "is loaded";
	return "";
}
