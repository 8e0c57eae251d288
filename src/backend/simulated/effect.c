// SPDX-License-Identifier: Apache-2.0
// What an operation does to memory, at the moment when the model completes it.
#include "backend/simulated/simulated.h"

#include <string.h>

static unsigned char *bytes_of(struct tare_span span)
{
	return simulated_memory_of(span)->bytes + span.offset_bytes;
}

static void copy_rectangle(const struct tare_operation *operation)
{
	const struct tare_rectangle *shape = &operation->rectangle;

	for (uint64_t layer = 0; layer < shape->layers; layer++)
		for (uint64_t row = 0; row < shape->rows; row++)
			memmove(bytes_of(operation->destination) +
			            layer * shape->destination_layer_pitch +
			            row * shape->destination_row_pitch,
			        bytes_of(operation->source) + layer * shape->source_layer_pitch +
			            row * shape->source_row_pitch,
			        shape->row_bytes);
}

static void fill(const struct tare_operation *operation)
{
	unsigned char *at = bytes_of(operation->destination);

	for (uint64_t i = 0; i < operation->destination.bytes; i += operation->fill.pattern_bytes)
		memcpy(at + i, operation->fill.pattern, operation->fill.pattern_bytes);
}

static void run_kernel(const struct simulated_command *command)
{
	const struct tare_launch *launch = &command->operation.launch;
	uint64_t items = 1;

	if (command->kernel->action == TARE_KERNEL_NONE)
		return;
	for (int i = 0; i < 3; i++)
		items *= (uint64_t)launch->groups[i] * launch->group_size[i];
	unsigned char *to = bytes_of(command->arguments[0].span);
	const unsigned char *from = bytes_of(command->arguments[1].span);
	if (command->kernel->action == TARE_KERNEL_COPY) {
		memmove(to, from, items * sizeof(float));
		return;
	}
	const unsigned char *other = bytes_of(command->arguments[2].span);
	for (uint64_t i = 0; i < items; i++) {
		// Through memcpy, because a span may begin at any byte.
		float a, b;
		memcpy(&a, from + i * sizeof a, sizeof a);
		memcpy(&b, other + i * sizeof b, sizeof b);
		a += b;
		memcpy(to + i * sizeof a, &a, sizeof a);
	}
}

// The fault wrong-data: one bit in the middle of what was written.
static void spoil(const struct simulated_command *command)
{
	struct tare_span span = command->operation.destination;

	if (command->operation.type == TARE_OPERATION_LAUNCH) {
		if (command->kernel->action == TARE_KERNEL_NONE)
			return;
		span = command->arguments[0].span;
		span.bytes = span.memory->bytes - span.offset_bytes;
	}
	if (span.memory && span.bytes)
		bytes_of(span)[span.bytes / 2] ^= 1;
}

void simulated_effect(struct simulated_command *command)
{
	const struct tare_operation *operation = &command->operation;
	struct simulated_memory *memory = simulated_memory_of(operation->destination);

	switch (operation->type) {
	case TARE_OPERATION_COPY:
		memmove(bytes_of(operation->destination), bytes_of(operation->source),
		        operation->source.bytes);
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
		run_kernel(command);
		break;
	case TARE_OPERATION_MIGRATE:
	case TARE_OPERATION_MARKER:
	case TARE_OPERATION_HOST_CALL:
		break;
	}
	if (command->wrong)
		spoil(command);
}
