// SPDX-License-Identifier: Apache-2.0
// A CUDA program whose launches are unlike each other:
//   unlike sizes=N     N launches of a kernel, each third of which is larger
//   unlike rounds=N    N rounds of two kernels and two graphs, in turn
//   unlike gated=N     N launches of a kernel, the later half of which waits for what the program
//                      does after them
#include "driver.h"

#include <string.h>

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty() { ret; }\n.visible .entry other() { ret; }\n";

static cu_function empty, other;
static cu_stream stream;

static void launch(cu_function function, unsigned groups)
{
	DO(cuLaunchKernel, function, groups, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
}

static cu_graph_exec made_of(cu_function first, cu_function second)
{
	cu_graph captured;
	cu_graph_exec made;
	DO(cuStreamBeginCapture_v2, stream, ABI_STREAM_CAPTURE_MODE_RELAXED);
	launch(first, 2);
	launch(second, 2);
	DO(cuStreamEndCapture, stream, &captured);
	DO(cuGraphInstantiateWithFlags, &made, captured, 0);
	DO(cuGraphDestroy, captured);
	return made;
}

static void rounds(int n)
{
	cu_graph_exec one = made_of(empty, other), two = made_of(other, other);
	for (int i = 0; i < n; i++) {
		launch(empty, 2);
		DO(cuGraphLaunch, one, stream);
		launch(other, 2);
		DO(cuGraphLaunch, two, stream);
	}
	DO(cuCtxSynchronize);
	DO(cuGraphExecDestroy, one);
	DO(cuGraphExecDestroy, two);
}

static void sizes(int n)
{
	for (int i = 0; i < n; i++)
		launch(empty, i % 3 == 2 ? 40 : 2);
	DO(cuCtxSynchronize);
}

static void gated(int n)
{
	void *gate;
	cu_pointer on_device;
	DO(cuMemHostAlloc, &gate, 4096, 0);
	DO(cuMemHostGetDevicePointer_v2, &on_device, gate, 0);
	*(volatile unsigned *)gate = 0;
	for (int i = 0; i < n; i++) {
		if (i == n / 2)
			DO(cuStreamWaitValue32_v2, stream, on_device, 1, ABI_STREAM_WAIT_VALUE_GEQ);
		launch(empty, 2);
	}
	__atomic_store_n((unsigned *)gate, 1, __ATOMIC_SEQ_CST);
	DO(cuCtxSynchronize);
	DO(cuMemFreeHost, gate);
}

int main(int count, char **arguments)
{
	cu_module module;
	if (count < 2 || !strchr(arguments[1], '='))
		return 4;
	stream = open_stream();
	DO(cuModuleLoadDataEx, &module, ptx, 0, NULL, NULL);
	DO(cuModuleGetFunction, &empty, module, "empty");
	DO(cuModuleGetFunction, &other, module, "other");
	(arguments[1][0] == 's'   ? sizes
	 : arguments[1][0] == 'g' ? gated
	                          : rounds)(atoi(strchr(arguments[1], '=') + 1));
	puts("done");
	return 0;
}
