// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <string.h>

static uint64_t misalignment(struct tare_span span, uint64_t boundary)
{
	// Memory begins at a page.
	return span.offset_bytes % boundary;
}

static int64_t first_touch_ps(const struct tare_script *script, struct tare_span span)
{
	if (!script->touch.line)
		return 0;
	uint64_t pages = simulated_untouched_pages(span, script->touch.page_bytes);
	return tare_model_add_ps(
	    tare_model_times_ps(pages, script->touch.fault_ps),
	    tare_model_rate_ps(pages * script->touch.page_bytes, script->touch.rate));
}

static int copy_cost(struct simulated_command *command, uint64_t bytes, uint64_t rows,
                     struct simulated_host_work *work, struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	struct tare_span from = command->operation.source, to = command->operation.destination;
	enum tare_place from_place = (enum tare_place)from.memory->kind;
	enum tare_place to_place = (enum tare_place)to.memory->kind;
	const struct tare_script_copy *copy = &script->copies[from_place][to_place];
	uint64_t rate = copy->rate;

	if (!copy->line)
		return tare_fail(error, ENOTSUP,
		                 "this device does not copy from %s to %s memory (no 'copy "
		                 "%s %s' in the script)",
		                 tare_place_name(from_place), tare_place_name(to_place),
		                 tare_place_name(from_place), tare_place_name(to_place));
	if (script->boundary_bytes && (misalignment(from, script->boundary_bytes) ||
	                               misalignment(to, script->boundary_bytes)))
		rate = (uint64_t)((unsigned __int128)rate * script->unaligned_speed_ppm / 1000000);
	if (copy->staging && copy->staging < rate)
		rate = copy->staging;
	tare_model_copy_cost(copy->fixed_ps, rate ? rate : 1, bytes,
	                     tare_flow_of_copy(from_place, to_place), &command->model);
	int64_t extra_ps = tare_model_times_ps(rows, script->rectangle_row_ps);
	extra_ps = tare_model_add_ps(extra_ps, simulated_migration_ps(script, from, false));
	extra_ps = tare_model_add_ps(extra_ps, simulated_migration_ps(script, to, false));
	command->model.fixed_ps = tare_model_add_ps(command->model.fixed_ps, extra_ps);
	if (!copy->staging)
		return 0;
	// The host copies through a staging buffer, chunk by chunk, while the engine works.
	uint64_t chunk = bytes < copy->chunk_bytes ? bytes : copy->chunk_bytes;
	bool to_device = command->model.flow == TARE_FLOW_TO_DEVICE;
	work->before_ps = to_device ? tare_model_rate_ps(chunk, copy->staging) : 0;
	work->during_ps = to_device ? tare_model_rate_ps(bytes - chunk, copy->staging) : 0;
	// On the way back a thread of the driver copies the last chunk out when the engine is done.
	command->model.tail_ps = to_device ? 0 : tare_model_rate_ps(chunk, copy->staging);
	work->before_ps = tare_model_add_ps(work->before_ps, first_touch_ps(script, from));
	work->before_ps = tare_model_add_ps(work->before_ps, first_touch_ps(script, to));
	return 0;
}

// Bytes from the first to the last that a rectangle touches on one side; 0: it does not fit 64
// bits.
static uint64_t rectangle_extent(const struct tare_rectangle *rectangle, uint64_t row_pitch,
                                 uint64_t layer_pitch)
{
	unsigned __int128 extent = (unsigned __int128)(rectangle->layers - 1) * layer_pitch +
	                           (unsigned __int128)(rectangle->rows - 1) * row_pitch +
	                           rectangle->row_bytes;
	return extent > INT64_MAX ? 0 : (uint64_t)extent;
}

static int rectangle_cost(struct simulated_command *command, struct simulated_host_work *work,
                          struct tare_error *error)
{
	struct tare_rectangle *rectangle = &command->operation.rectangle;

	if (!rectangle->row_bytes || !rectangle->rows || !rectangle->layers ||
	    rectangle->source_row_pitch < rectangle->row_bytes ||
	    rectangle->destination_row_pitch < rectangle->row_bytes)
		return tare_fail(error, EINVAL,
		                 "a rectangle has rows, layers, and pitches of at least a row");
	if (!rectangle->source_layer_pitch)
		rectangle->source_layer_pitch = rectangle->rows * rectangle->source_row_pitch;
	if (!rectangle->destination_layer_pitch)
		rectangle->destination_layer_pitch =
		    rectangle->rows * rectangle->destination_row_pitch;
	uint64_t source =
	    rectangle_extent(rectangle, rectangle->source_row_pitch, rectangle->source_layer_pitch);
	uint64_t destination = rectangle_extent(rectangle, rectangle->destination_row_pitch,
	                                        rectangle->destination_layer_pitch);
	if (!source || !destination || source > command->operation.source.bytes ||
	    destination > command->operation.destination.bytes)
		return tare_fail(error, EINVAL, "the rectangle does not fit into its spans");
	uint64_t rows = rectangle->rows * rectangle->layers;
	return copy_cost(command, rows * rectangle->row_bytes, rows, work, error);
}

static int transfer_cost(struct simulated_command *command,
                         const struct tare_script_transfer *transfer, const char *what,
                         enum tare_flow flow, uint64_t bytes, struct tare_error *error)
{
	if (!transfer->line)
		return tare_fail(error, ENOTSUP,
		                 "this device cannot %s memory (no '%s' in the script)", what,
		                 what);
	// Where no bytes move no engine is needed: the two sides see the same memory.
	bool moves = transfer->rate && bytes;
	tare_model_copy_cost(transfer->fixed_ps, transfer->rate, bytes,
	                     moves ? flow : TARE_FLOW_NONE, &command->model);
	return 0;
}

static int map_cost(struct simulated_command *command, struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	struct simulated_memory *memory = simulated_memory_of(command->operation.destination);
	uint64_t bytes = command->operation.destination.bytes;
	enum tare_map_access access = command->operation.access;

	if (command->operation.type == TARE_OPERATION_MAP) {
		if (memory->mapped)
			return tare_fail(error, EINVAL, "the memory is mapped already");
		bool reads = (access & TARE_MAP_READ) && !(access & TARE_MAP_DISCARD);
		if (memory->base.kind != TARE_MEMORY_DEVICE || !reads)
			bytes = 0;
		memory->mapped = access ? access : TARE_MAP_READ;
		return transfer_cost(command, &script->map, "map", TARE_FLOW_TO_HOST, bytes, error);
	}
	if (!memory->mapped)
		return tare_fail(error, EINVAL, "the memory is not mapped");
	if (memory->base.kind != TARE_MEMORY_DEVICE ||
	    !(memory->mapped & (TARE_MAP_WRITE | TARE_MAP_DISCARD)))
		bytes = 0;
	memory->mapped = 0;
	return transfer_cost(command, &script->unmap, "unmap", TARE_FLOW_TO_DEVICE, bytes, error);
}

static int migrate_cost(struct simulated_command *command, struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	struct tare_span span = command->operation.destination;
	bool to_host = command->operation.to_host;

	if (!script->migrate.line || span.memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(
		    error, ENOTSUP,
		    script->migrate.line
		        ? "only shared memory migrates"
		        : "this device cannot migrate memory (no 'migrate' in the script)");
	// Asked for, pages move without faults.
	uint64_t pages = simulated_move_pages(span, script->migrate.page_bytes, to_host);
	tare_model_copy_cost(script->migrate.fixed_ps, script->migrate.rate,
	                     pages * script->migrate.page_bytes,
	                     to_host ? TARE_FLOW_TO_HOST : TARE_FLOW_TO_DEVICE, &command->model);
	return 0;
}

static int operation_cost(struct simulated_command *command, struct simulated_host_work *work,
                          struct tare_error *error)
{
	const struct tare_script *script = command->device->script;
	const struct tare_operation *operation = &command->operation;

	switch (operation->type) {
	case TARE_OPERATION_COPY:
		if (operation->source.bytes != operation->destination.bytes)
			return tare_fail(error, EINVAL, "source and destination differ in size");
		return copy_cost(command, operation->source.bytes, 0, work, error);
	case TARE_OPERATION_RECTANGLE:
		return rectangle_cost(command, work, error);
	case TARE_OPERATION_FILL:
		if (operation->destination.bytes % operation->fill.pattern_bytes)
			return tare_fail(error, EINVAL,
			                 "the span is no whole number of fill patterns");
		return transfer_cost(command, &script->fill, "fill", TARE_FLOW_LOCAL,
		                     operation->destination.bytes, error);
	case TARE_OPERATION_MAP:
	case TARE_OPERATION_UNMAP:
		return map_cost(command, error);
	case TARE_OPERATION_MIGRATE:
		return migrate_cost(command, error);
	case TARE_OPERATION_LAUNCH:
		return simulated_launch_cost(command, error);
	case TARE_OPERATION_MARKER:
		tare_model_copy_cost(script->marker.fixed_ps, 0, 0, TARE_FLOW_NONE,
		                     &command->model);
		return 0;
	case TARE_OPERATION_HOST_CALL:
		if (!operation->call.function)
			return tare_fail(error, EINVAL, "the host call has no function");
		tare_model_copy_cost(script->call.fixed_ps, 0, 0, TARE_FLOW_NONE, &command->model);
		return 0;
	}
	return tare_fail(error, EINVAL, "%d is no type of operation", (int)operation->type);
}

int simulated_cost(struct simulated_queue *queue, struct simulated_command *command,
                   struct simulated_host_work *work, struct tare_error *error)
{
	struct simulated_device *device = command->device;
	const struct tare_operation *operation = &command->operation;
	bool reads =
	    operation->type == TARE_OPERATION_COPY || operation->type == TARE_OPERATION_RECTANGLE;
	bool writes = operation->type <= TARE_OPERATION_MIGRATE;
	int status = 0;

	*work = (struct simulated_host_work){ 0 };
	if (reads)
		status = simulated_check_span(device, operation->source, "source", error);
	if (status == 0 && writes)
		status = simulated_check_span(device, operation->destination, "destination", error);
	status = status ?: operation_cost(command, work, error);
	if (status < 0)
		return status;
	if (!tare_model_can_run(device->model, queue->model, command->model.flow))
		return tare_fail(error, ENOTSUP, "the engine of this queue does not run %s",
		                 tare_flow_name(command->model.flow));
	tare_model_jitter(device->script, &device->jitter, &command->model);
	return 0;
}
