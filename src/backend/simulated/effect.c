// SPDX-License-Identifier: Apache-2.0
// What an operation does to memory, at the moment when the model completes it.
#include "backend/simulated/simulated.h"

#include <string.h>

static void copy_rectangle(const struct tare_operation *operation)
{
	const struct tare_rectangle *shape = &operation->rectangle;

	for (uint64_t layer = 0; layer < shape->layers; layer++)
		for (uint64_t row = 0; row < shape->rows; row++)
			simulated_move(simulated_bytes_of(operation->destination) +
			                   layer * shape->destination_layer_pitch +
			                   row * shape->destination_row_pitch,
			               simulated_bytes_of(operation->source) +
			                   layer * shape->source_layer_pitch +
			                   row * shape->source_row_pitch,
			               shape->row_bytes);
}

// A multiple of each pattern's size, which is a power of two.
#define FILL_STEP 4096

static void fill(const struct tare_operation *operation)
{
	unsigned char *at = simulated_bytes_of(operation->destination);
	uint64_t bytes = operation->destination.bytes, done = operation->fill.pattern_bytes;

	if (!bytes)
		return;
	memcpy(at, operation->fill.pattern, done);
	// What is filled is copied on, in large steps from what is still in the cache.
	for (uint64_t step; done < bytes; done += step) {
		step = done < FILL_STEP ? done : FILL_STEP;
		if (step > bytes - done)
			step = bytes - done;
		memcpy(at + done, at, step);
	}
}

// The fault wrong-data: one bit in the middle of what was written.
static void spoil(const struct simulated_command *command)
{
	struct tare_span span = command->operation.destination;

	if (command->operation.type == TARE_OPERATION_LAUNCH)
		span = simulated_kernel_output(command);
	if (span.memory && span.bytes)
		simulated_bytes_of(span)[span.bytes / 2] ^= 1;
}

void simulated_effect(struct simulated_command *command)
{
	const struct tare_operation *operation = &command->operation;
	struct simulated_memory *memory = simulated_memory_of(operation->destination);

	switch (operation->type) {
	case TARE_OPERATION_COPY:
		simulated_move(simulated_bytes_of(operation->destination),
		               simulated_bytes_of(operation->source), operation->source.bytes);
		break;
	case TARE_OPERATION_RECTANGLE:
		copy_rectangle(operation);
		break;
	case TARE_OPERATION_FILL:
		fill(operation);
		break;
	case TARE_OPERATION_MAP:
		memory->base.host = memory->bytes;
		break;
	case TARE_OPERATION_UNMAP:
		if (memory->base.kind == TARE_MEMORY_DEVICE)
			memory->base.host = NULL;
		break;
	case TARE_OPERATION_LAUNCH:
		simulated_compute(command->device, command);
		break;
	case TARE_OPERATION_MIGRATE:
	case TARE_OPERATION_MARKER:
	case TARE_OPERATION_HOST_CALL:
		break;
	}
	if (command->wrong)
		spoil(command);
}
