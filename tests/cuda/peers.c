// SPDX-License-Identifier: Apache-2.0
// A pipeline over the first two devices, which hand each other their pieces, both ways; a third
// one, where there is one, gets a context and nothing to do. What is computed is checked. On a GPU
// as on the stand-in.
//   peers [ROUNDS [graph] [no-access]]
#include "example.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORTH = 1 << 20, BACK = 1 << 18, TURNS = 10, MOST = 3 };

static struct side {
	cu_device device;
	cu_context context;
	cu_stream stream;
	cu_event done;
	struct kernel kernel;
	cu_pointer memory;
} sides[MOST];

static void use(int side)
{
	DO(cuCtxSetCurrent, sides[side].context);
}

static void open_side(int side)
{
	struct side *s = &sides[side];
	DO(cuDeviceGet, &s->device, side);
	DO(cuDevicePrimaryCtxRetain, &s->context, s->device);
	use(side);
	s->stream = stream_new(ABI_STREAM_NON_BLOCKING);
	if (side == MOST - 1)
		return;
	DO(cuEventCreate, &s->done, ABI_EVENT_DISABLE_TIMING);
	s->kernel = load_kernel();
	s->memory = device_memory(FORTH);
	DO(cuMemsetD32Async, s->memory, (unsigned int)side + 1, FORTH / 4, s->stream);
	DO(cuStreamSynchronize, s->stream);
}

static void reach(int side, int other)
{
	cu_result result;
	use(side);
	result = cuda.cuCtxEnablePeerAccess(sides[other].context, 0);
	if (result != ABI_SUCCESS && result != ABI_PEER_ACCESS_UNSUPPORTED)
		check(result, "cuCtxEnablePeerAccess");
}

static void compute(int side)
{
	launch_steps(sides[side].kernel, sides[side].memory, sides[side].memory, BACK / 8, BLOCK,
	             TURNS, sides[side].stream);
}

static void hand_on(int from, int to)
{
	DO(cuEventRecord, sides[from].done, sides[from].stream);
	use(to);
	DO(cuStreamWaitEvent, sides[to].stream, sides[from].done, 0);
}

// The last word of a piece, which no kernel changes.
static void mark(uint32_t word)
{
	DO(cuMemsetD32Async, sides[0].memory + BACK - sizeof word, word, 1, sides[0].stream);
}

// By the call that names both contexts, in the stream of the device that it is from; and back by
// one that goes by addresses.
static void one_round(uint32_t number)
{
	use(0);
	compute(0);
	mark(number);
	DO(cuMemcpyPeerAsync, sides[1].memory, sides[1].context, sides[0].memory, sides[0].context,
	   FORTH, sides[0].stream);
	mark(0);
	hand_on(0, 1);
	compute(1);
	DO(cuMemcpyAsync, sides[0].memory, sides[1].memory, BACK, sides[1].stream);
	hand_on(1, 0);
}

// A graph that copies from the first to the second; by addresses, for the call that names both
// contexts is refused in a stream that captures.
static void launch_graph(int times)
{
	cu_graph captured;
	cu_graph_exec exec;
	use(0);
	DO(cuStreamBeginCapture_v2, sides[0].stream, ABI_STREAM_CAPTURE_MODE_RELAXED);
	compute(0);
	DO(cuMemcpyAsync, sides[1].memory, sides[0].memory, BACK, sides[0].stream);
	DO(cuStreamEndCapture, sides[0].stream, &captured);
	DO(cuGraphInstantiateWithFlags, &exec, captured, 0);
	for (int i = 0; i < times; i++)
		DO(cuGraphLaunch, exec, sides[0].stream);
	DO(cuStreamSynchronize, sides[0].stream);
	DO(cuGraphExecDestroy, exec);
	DO(cuGraphDestroy, captured);
}

int main(int count, char **arguments)
{
	int devices = 0, rounds = count > 1 ? atoi(arguments[1]) : 4;
	bool graph = false, access = true;
	uint32_t result;
	for (int i = 2; i < count; i++) {
		graph |= strcmp(arguments[i], "graph") == 0;
		access &= strcmp(arguments[i], "no-access") != 0;
	}
	open_device();
	DO(cuDeviceGetCount, &devices);
	if (devices < 2) {
		printf("there is one device\n");
		return 77;
	}
	for (int i = 0; i < (devices < MOST ? devices : MOST); i++)
		open_side(i);
	for (int i = 0; access && i < 2; i++)
		reach(i, 1 - i);
	for (int i = 1; i <= rounds; i++)
		one_round((uint32_t)i);
	use(1);
	DO(cuStreamSynchronize, sides[1].stream);
	if (graph)
		launch_graph(2);
	use(0);
	DO(cuStreamSynchronize, sides[0].stream);
	DO(cuMemcpyDtoH_v2, &result, sides[0].memory + BACK - sizeof result, sizeof result);
	printf("%d rounds: %u\n", rounds, result);
	return result == (uint32_t)rounds ? 0 : 1;
}
