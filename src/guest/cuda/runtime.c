// SPDX-License-Identifier: Apache-2.0
// The runtime's functions, by which most programs call the driver. CUPTI tells of those that end in
// a call that is recorded; that call then has the runtime's name, for it is what the program has
// written, and begins with it. What the runtime asks of the driver before that (loading, contexts)
// is nested in it.
//
// Left out are launches, and events that are recorded and awaited. Each is one short call of the
// driver's, which is recorded anyway, and two callbacks more are what shows in a program whose pace
// they set. So they have the driver's name.
#include "guest/cuda/cuda.h"

#include <string.h>

// `ends_in`: how the names of the driver's functions begin, one after another.
#define ROW(called, role, ends_in) { called, ends_in, TARE_ROLE_##role }
static const struct row {
	const char *called, *ends_in;
	enum tare_trace_role role;
} rows[] = {
	ROW("cudaGraphLaunch", COMMAND, "cuGraphLaunch"),
	ROW("cudaLaunchHostFunc", COMMAND, "cuLaunchHostFunc"),
	ROW("cudaStreamAddCallback", COMMAND, "cuStreamAddCallback"),
	ROW("cudaMemcpy", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2D", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy3D", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy3DAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyPeer", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyPeerAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy3DPeer", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy3DPeerAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyToSymbol", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyFromSymbol", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyToSymbolAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyFromSymbolAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyToArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyFromArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyToArrayAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyFromArrayAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyArrayToArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DToArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DFromArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DToArrayAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DFromArrayAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpy2DArrayToArray", COMMAND, "cuMemcpy"),
	ROW("cudaMemcpyBatchAsync", COMMAND, "cuMemcpy"),
	ROW("cudaMemset", COMMAND, "cuMemset"),
	ROW("cudaMemsetAsync", COMMAND, "cuMemset"),
	ROW("cudaMemset2D", COMMAND, "cuMemset"),
	ROW("cudaMemset2DAsync", COMMAND, "cuMemset"),
	ROW("cudaMemset3D", COMMAND, "cuMemset"),
	ROW("cudaMemset3DAsync", COMMAND, "cuMemset"),
	ROW("cudaMemPrefetchAsync", COMMAND, "cuMemPrefetchAsync"),
	ROW("cudaGraphUpload", COMMAND, "cuGraphUpload"),

	ROW("cudaDeviceSynchronize", WAIT, "cuCtxSynchronize"),
	ROW("cudaThreadSynchronize", WAIT, "cuCtxSynchronize"),
	ROW("cudaStreamSynchronize", WAIT, "cuStreamSynchronize"),
	ROW("cudaEventSynchronize", WAIT, "cuEventSynchronize"),
	ROW("cudaStreamQuery", POLL, "cuStreamQuery"),
	ROW("cudaEventQuery", POLL, "cuEventQuery"),

	ROW("cudaMalloc", ALLOCATE, "cuMemAlloc"),
	ROW("cudaMallocPitch", ALLOCATE, "cuMemAlloc"),
	ROW("cudaMalloc3D", ALLOCATE, "cuMemAlloc"),
	ROW("cudaMallocManaged", ALLOCATE, "cuMemAllocManaged"),
	ROW("cudaMallocAsync", ALLOCATE, "cuMemAlloc"),
	ROW("cudaMallocFromPoolAsync", ALLOCATE, "cuMemAlloc"),
	ROW("cudaMallocHost", ALLOCATE, "cuMemAllocHost cuMemHostAlloc"),
	ROW("cudaHostAlloc", ALLOCATE, "cuMemHostAlloc"),
	ROW("cudaHostRegister", ALLOCATE, "cuMemHostRegister"),
	ROW("cudaHostUnregister", ALLOCATE, "cuMemHostUnregister"),
	ROW("cudaFree", ALLOCATE, "cuMemFree"),
	ROW("cudaFreeAsync", ALLOCATE, "cuMemFree"),
	ROW("cudaFreeHost", ALLOCATE, "cuMemFreeHost"),
	ROW("cudaMallocArray", ALLOCATE, "cuArrayCreate cuArray3DCreate"),
	ROW("cudaMalloc3DArray", ALLOCATE, "cuArrayCreate cuArray3DCreate"),
	ROW("cudaFreeArray", ALLOCATE, "cuArrayDestroy"),

	ROW("cudaStreamCreate", CREATE, "cuStreamCreate"),
	ROW("cudaStreamCreateWithFlags", CREATE, "cuStreamCreate"),
	ROW("cudaStreamCreateWithPriority", CREATE, "cuStreamCreate"),
	ROW("cudaStreamDestroy", RELEASE, "cuStreamDestroy"),
	ROW("cudaEventCreate", CREATE, "cuEventCreate"),
	ROW("cudaEventCreateWithFlags", CREATE, "cuEventCreate"),
	ROW("cudaEventDestroy", RELEASE, "cuEventDestroy"),
	ROW("cudaStreamBeginCapture", CREATE, "cuStreamBeginCapture"),
	ROW("cudaStreamBeginCaptureToGraph", CREATE, "cuStreamBeginCapture"),
	ROW("cudaStreamEndCapture", CREATE, "cuStreamEndCapture"),
	ROW("cudaGraphInstantiate", CREATE, "cuGraphInstantiate"),
	ROW("cudaGraphInstantiateWithFlags", CREATE, "cuGraphInstantiate"),
	ROW("cudaGraphInstantiateWithParams", CREATE, "cuGraphInstantiate"),
	ROW("cudaGraphExecUpdate", CREATE, "cuGraphExecUpdate"),
	ROW("cudaGraphExecDestroy", RELEASE, "cuGraphExecDestroy"),
	ROW("cudaGraphDestroy", RELEASE, "cuGraphDestroy"),
};
#define COUNT (sizeof rows / sizeof *rows)
_Static_assert(COUNT <= CUDA_MOST_RUNTIME, "");

uint16_t cuda_runtime_by_callback[CUDA_MOST_CALLBACKS];
// in which of the driver's functions
static uint64_t ends[CUDA_MOST_RUNTIME][CUDA_MOST_FUNCTIONS / 64];

// ---- what CUPTI has

static bool begins_with_one_of(const char *name, const char *beginnings)
{
	while (*beginnings) {
		size_t length = strcspn(beginnings, " ");
		if (strncmp(name, beginnings, length) == 0)
			return true;
		beginnings += length + (beginnings[length] == ' ');
	}
	return false;
}

// Names are as in "cudaMemcpyAsync_ptsz_v7000", and some begin with "__".
static bool is_called(const char *name, const char *called)
{
	size_t length = strlen(called);
	const char *rest = (name += strspn(name, "_")) + length;
	if (strncmp(name, called, length) != 0)
		return false;
	if (strncmp(rest, "_ptsz", 5) == 0 || strncmp(rest, "_ptds", 5) == 0)
		rest += 5;
	return rest[0] == '\0' ||
	       (rest[0] == '_' && rest[1] == 'v' && rest[2] >= '0' && rest[2] <= '9');
}

void cuda_runtime_find(void)
{
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t f = 0; f < cuda_function_count; f++)
			if (begins_with_one_of(cuda_functions[f].called, rows[i].ends_in))
				ends[i][f / 64] |= UINT64_C(1) << f % 64;
	for (uint32_t id = 1; id < CUDA_MOST_CALLBACKS; id++) {
		const char *name = NULL;
		if (cuda_cupti.cuptiGetCallbackName(ABI_CUPTI_DOMAIN_RUNTIME, id, &name) !=
		        ABI_CUPTI_SUCCESS ||
		    !name)
			break;
		for (uint32_t i = 0; i < COUNT; i++)
			if (is_called(name, rows[i].called))
				cuda_runtime_by_callback[id] = (uint16_t)(i + 1);
	}
}

bool cuda_runtime_ends_in(uint32_t runtime, uint32_t function)
{
	return ends[runtime][function / 64] >> function % 64 & 1;
}

enum tare_trace_role cuda_runtime_role(uint32_t runtime)
{
	return rows[runtime].role;
}

const char *cuda_runtime_name(uint32_t runtime)
{
	return rows[runtime].called;
}

// As it is called in C: cuda.h leads the name to the latest version.
void cuda_define_function(uint32_t named, uint32_t process)
{
	const struct cuda_function *row = &cuda_functions[named < CUDA_MOST_FUNCTIONS ? named : 0];
	size_t length = strlen(row->called);
	char name[64];
	if (atomic_exchange(&cuda_defined[named], process) == process)
		return;
	if (named >= CUDA_MOST_FUNCTIONS) {
		uint32_t runtime = named - CUDA_MOST_FUNCTIONS;
		guest_define_function(TARE_TRACE_CUDA, named, cuda_runtime_name(runtime),
		                      cuda_runtime_role(runtime));
		return;
	}
	if (length > 3 && strncmp(row->called + length - 3, "_v", 2) == 0)
		length -= 3;
	if (length >= sizeof name)
		length = sizeof name - 1;
	memcpy(name, row->called, length);
	name[length] = '\0';
	guest_define_function(TARE_TRACE_CUDA, named, name, row->role);
}
