// SPDX-License-Identifier: Apache-2.0
// A gate is a wait of the stream for a word of page-locked memory, which the host writes to open
// it. Drivers without such waits get a host function that blocks; that is impolite, because the
// driver runs all host functions on one thread, but it holds the stream just as well.
//
// CUDA blocks the host when about 1,000 things are queued on a stream. A timed operation is three
// of them (two event records around it), hence the capacity of 256.
#include "backend/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>

#define SLOT_STRIDE 16 // words: a cache line
#define NO_SLOT CUDA_GATE_SLOTS

struct cuda_gate_block {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool open;
	int users; // the gate and the host function
};

static void give_block(struct cuda_gate_block *block)
{
	if (!block)
		return;
	pthread_mutex_lock(&block->mutex);
	int users = --block->users;
	pthread_mutex_unlock(&block->mutex);
	if (users > 0)
		return;
	pthread_mutex_destroy(&block->mutex);
	pthread_cond_destroy(&block->changed);
	free(block);
}

static void hold_host_function(void *context)
{
	struct cuda_gate_block *block = context;
	pthread_mutex_lock(&block->mutex);
	while (!block->open)
		pthread_cond_wait(&block->changed, &block->mutex);
	pthread_mutex_unlock(&block->mutex);
	give_block(block);
}

// CUDA loads its own kernels for fills and for copies inside the device at their first use, and may
// synchronise for that: behind a shut gate it would never end. So they are used once before the
// first gate. What fails here will be said when it is wanted.
static void use_once(struct cuda_device *device)
{
	const struct cuda_functions *call = &device->driver->call;
	cu_pointer at = 0;

	if (call->cuMemAlloc_v2(&at, 256) != ABI_SUCCESS)
		return;
	call->cuMemsetD8Async(at, 0, 128, device->clock_stream);
	call->cuMemsetD16Async(at, 0, 64, device->clock_stream);
	call->cuMemsetD32Async(at, 0, 32, device->clock_stream);
	call->cuMemcpyDtoDAsync_v2(at + 128, at, 128, device->clock_stream);
	cuda_poll_stream(device, device->clock_stream, INT64_C(1000000000), NULL);
	call->cuMemFree_v2(at);
}

static int make_words(struct cuda_device *device)
{
	const struct cuda_functions *call = &device->driver->call;
	void *words = NULL;

	if (device->gate_words)
		return 0;
	if (call->cuMemHostAlloc(&words, CUDA_GATE_SLOTS * SLOT_STRIDE * sizeof(uint32_t),
	                         ABI_MEMHOSTALLOC_DEVICEMAP | ABI_MEMHOSTALLOC_PORTABLE) !=
	    ABI_SUCCESS)
		return -ENOTSUP;
	if (call->cuMemHostGetDevicePointer_v2(&device->gate_words_device, words, 0) !=
	    ABI_SUCCESS) {
		call->cuMemFreeHost(words);
		return -ENOTSUP;
	}
	device->gate_words = words;
	for (size_t i = 0; i < (size_t)CUDA_GATE_SLOTS * SLOT_STRIDE; i++)
		device->gate_words[i] = 0;
	return 0;
}

// 0 when the stream now waits for a word; -ENOTSUP when this driver cannot.
static int shut_by_word(struct cuda_device *device, struct cuda_gate *gate)
{
	const struct cuda_functions *call = &device->driver->call;
	uint64_t vacant = ~device->gate_slots_used;

	if (!call->cuStreamWaitValue32_v2 || vacant == 0 || make_words(device) < 0)
		return -ENOTSUP;
	uint32_t slot = (uint32_t)__builtin_ctzll(vacant);
	// A slot counts up, and "at least" is what its gates wait for: a stream that has not looked
	// yet when the slot is used again has still been let go.
	uint32_t generation = device->gate_generation[slot] + 1;
	cu_result result = call->cuStreamWaitValue32_v2(
	    gate->queue->stream, device->gate_words_device + slot * SLOT_STRIDE * sizeof(uint32_t),
	    generation, ABI_STREAM_WAIT_VALUE_GEQ);
	if (result != ABI_SUCCESS)
		return -ENOTSUP;
	device->gate_generation[slot] = generation;
	device->gate_slots_used |= UINT64_C(1) << slot;
	gate->slot = slot;
	return 0;
}

static int shut_by_function(struct cuda_device *device, struct cuda_gate *gate,
                            struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;

	if (!call->cuLaunchHostFunc)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver can neither wait for a word nor call the host");
	gate->block = calloc(1, sizeof *gate->block);
	if (!gate->block)
		return tare_fail(error, ENOMEM, "out of memory");
	pthread_mutex_init(&gate->block->mutex, NULL);
	pthread_cond_init(&gate->block->changed, NULL);
	gate->block->users = 2;
	gate->slot = NO_SLOT;
	cu_result result =
	    call->cuLaunchHostFunc(gate->queue->stream, hold_host_function, gate->block);
	if (result == ABI_SUCCESS)
		return 0;
	gate->block->users = 1;
	give_block(gate->block);
	return cuda_fail(device->driver, result, "cuLaunchHostFunc", error,
	                 "cannot hold the stream");
}

int cuda_gate_shut(struct tare_queue *base, struct tare_gate **gate, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	struct cuda_gate *made;
	int status = cuda_queue_enter(queue, error);

	if (status < 0)
		return status;
	if (queue->capturing)
		return tare_fail(error, EINVAL, "a graph cannot contain a gate");
	if (!device->used_once)
		use_once(device);
	device->used_once = true;
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base = (struct tare_gate){ .device = base->device, .capacity = CUDA_GATE_CAPACITY };
	made->queue = queue;
	status = shut_by_word(device, made);
	if (status < 0)
		status = shut_by_function(device, made, error);
	if (status < 0) {
		free(made);
		return status;
	}
	queue->gates++;
	made->next = device->gates;
	device->gates = made;
	*gate = &made->base;
	return 0;
}

static void open_gate(struct cuda_device *device, struct cuda_gate *gate)
{
	struct cuda_gate **link = &device->gates;

	if (gate->open)
		return;
	gate->open = true;
	if (gate->block) {
		pthread_mutex_lock(&gate->block->mutex);
		gate->block->open = true;
		pthread_cond_broadcast(&gate->block->changed);
		pthread_mutex_unlock(&gate->block->mutex);
	} else {
		__atomic_store_n(&device->gate_words[gate->slot * SLOT_STRIDE],
		                 device->gate_generation[gate->slot], __ATOMIC_SEQ_CST);
		device->gate_slots_used &= ~(UINT64_C(1) << gate->slot);
	}
	while (*link != gate)
		link = &(*link)->next;
	*link = gate->next;
	if (gate->queue && --gate->queue->gates == 0)
		gate->queue->held = gate->queue->entries = 0;
}

int cuda_gate_open(struct tare_gate *base, struct tare_error *error)
{
	(void)error;
	open_gate(cuda_device_of(base->device), (struct cuda_gate *)base);
	return 0;
}

void cuda_gate_free(struct tare_gate *base)
{
	if (!base)
		return;
	struct cuda_gate *gate = (struct cuda_gate *)base;

	open_gate(cuda_device_of(base->device), gate);
	give_block(gate->block);
	free(gate);
}

void cuda_gates_close(struct cuda_device *device)
{
	while (device->gates)
		open_gate(device, device->gates);
}

int cuda_count_held(struct cuda_queue *queue, uint32_t wait_count, bool event,
                    struct tare_error *error)
{
	uint64_t entries = 1 + (uint64_t)wait_count + (event ? queue->timed ? 2 : 1 : 0);

	// A queue that waits for another is let go by that one's gate.
	queue->depends = queue->depends && cuda_device_of(queue->base.device)->gates;
	if (!queue->gates && !queue->depends) {
		queue->held = queue->entries = 0;
		return 0;
	}
	if (queue->capturing)
		return 0;
	if (queue->held >= CUDA_GATE_CAPACITY || queue->entries + entries > CUDA_GATE_ENTRIES)
		return tare_fail(error, EINVAL,
		                 "more than %d operations, or too many waits, behind a shut gate; "
		                 "CUDA would block",
		                 CUDA_GATE_CAPACITY);
	queue->held++;
	queue->entries += (uint32_t)entries;
	return 0;
}
