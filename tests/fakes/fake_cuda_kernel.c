// SPDX-License-Identifier: Apache-2.0
// What kernels cost and compute. Those of a script do what its `action` says, by the simulated
// device's own code, those of `peak` what fake_cuda_peak.c says, `scale`, `add` and `store` what is
// said below; any other one computes nothing.
// A kernel that would touch memory that CUDA does not know, or that belongs to a device it cannot
// reach, ends in an illegal address (700), and the context with it.
#include "backend/simulated/simulated.h"
#include "fake_cuda.h"
#include "fake_cuda_device.h"

#include <string.h>
#include <time.h>

#define OTHER_PS INT64_C(2000000) // of a kernel that the script does not know

static uint64_t value_of(const struct op *op, size_t index)
{
	uint64_t value = 0;
	size_t bytes = op->parameters[index].bytes;

	memcpy(&value, op->arguments + op->parameters[index].offset, bytes < 8 ? bytes : 8);
	return value;
}

// Whether the parameters are pointers (m) and values of 4 bytes (v) as the letters say.
static bool takes(const struct op *op, const char *letters)
{
	if (op->parameter_count < strlen(letters))
		return false;
	for (size_t i = 0; letters[i]; i++)
		if (op->parameters[i].bytes != (letters[i] == 'm' ? 8 : 4))
			return false;
	return true;
}

static struct range *argument_range(const struct op *op, size_t index)
{
	return range_of(AT(value_of(op, index)));
}

// ---- costs

static uint64_t cost_value(const struct op *op, int64_t index)
{
	return index >= 0 && (size_t)index < op->parameter_count ? value_of(op, (size_t)index) : 0;
}

// Of an action `copy`.
static uint64_t copied_bytes(const struct op *op)
{
	return op->parameter_count > 2 && op->parameters[2].bytes == 8 ? value_of(op, 2)
	                                                               : 4 * op->items;
}

// A kernel that copies from or to the host's memory does so over the link.
static int64_t link_ps(const struct device *device, const struct op *op)
{
	const struct range *to = argument_range(op, 0), *from = argument_range(op, 1);
	bool to_host = to && to->place != TARE_PLACE_DEVICE && to->place != TARE_PLACE_SHARED;
	bool from_host =
	    from && from->place != TARE_PLACE_DEVICE && from->place != TARE_PLACE_SHARED;
	const struct tare_script_copy *line =
	    &device->script.copies[from_host ? TARE_PLACE_PINNED : TARE_PLACE_DEVICE]
	                          [to_host ? TARE_PLACE_PINNED : TARE_PLACE_DEVICE];

	return to_host || from_host ? tare_model_rate_ps(copied_bytes(op), line->rate) : 0;
}

// How many items each work-item of `overlap` handles, where there are fewer of them than items.
static uint64_t passes(const struct op *op)
{
	uint64_t count = op->parameter_count > 3 ? value_of(op, 3) : 0;

	if (op->script->action != TARE_KERNEL_OVERLAP_VOLATILE &&
	    op->script->action != TARE_KERNEL_OVERLAP_REGISTER)
		return 1;
	return op->items && count > op->items ? (count + op->items - 1) / op->items : 1;
}

void kernel_cost(const struct device *device, struct op *op, uint64_t groups, uint64_t group_items)
{
	const struct tare_script_kernel *kernel = op->script;

	op->items = groups * group_items;
	op->group_items = group_items;
	op->model.flow = TARE_FLOW_KERNEL;
	op->model.fixed_ps = OTHER_PS;
	if (kernel) {
		const struct tare_model_repeat repeat = {
			cost_value(op, kernel->repeat_argument),
			cost_value(op, kernel->span_argument),
		};
		tare_model_kernel_cost(&device->script, kernel, groups, group_items * passes(op),
		                       &repeat, &op->model);
		if (kernel->action == TARE_KERNEL_COPY && op->parameter_count > 1 &&
		    link_ps(device, op) > op->model.work_ps)
			op->model.work_ps = link_ps(device, op);
	}
	for (size_t i = 0; i < op->parameter_count; i++) {
		struct range *range = op->parameters[i].bytes == 8 ? argument_range(op, i) : NULL;
		if (range && range->place == TARE_PLACE_SHARED)
			op->migrated_ps += migrate(range, range->at, range->bytes, false, true,
			                           &op->migrated_bytes);
	}
	op->model.fixed_ps += op->migrated_ps;
}

// ---- effects

static cu_result check_memory(const struct op *op, size_t index, uint64_t bytes)
{
	const struct range *range = argument_range(op, index);
	const char *at = AT(value_of(op, index));

	if (bytes == 0)
		return ABI_SUCCESS;
	if (!range || bytes > range->bytes - (size_t)(at - range->at))
		return ABI_ILLEGAL_ADDRESS;
	if (range->place == TARE_PLACE_DEVICE && range->device != op->device &&
	    !op->device->peers[range->device->index])
		return ABI_ILLEGAL_ADDRESS;
	return (uintptr_t)at % 4 ? ABI_MISALIGNED_ADDRESS : ABI_SUCCESS;
}

static cu_result check_memories(const struct op *op, size_t count, uint64_t bytes)
{
	cu_result result = ABI_SUCCESS;
	for (size_t i = 0; i < count && result == ABI_SUCCESS; i++)
		result = check_memory(op, i, bytes);
	return result;
}

// Stores to its first argument what reached it: a value, two offsets into shared memory, and the
// bytes of shared memory.
static cu_result store(const struct op *op)
{
	uint32_t words[4] = { 0, 0, 0, op->shared_bytes };

	for (size_t i = 0; i < 3; i++)
		words[i] = (uint32_t)value_of(op, i + 1);
	cu_result result = check_memory(op, 0, sizeof words);
	if (result == ABI_SUCCESS)
		memcpy(AT(value_of(op, 0)), words, sizeof words);
	return result;
}

// tare_clock(to): the device's timer, which is CLOCK_MONOTONIC_RAW and FAKE_CUDA_TIMER_NS more.
static cu_result tell_timer(const struct op *op)
{
	cu_result result = check_memory(op, 0, 8);
	struct timespec now;

	if (result != ABI_SUCCESS)
		return result;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	*(int64_t *)AT(value_of(op, 0)) =
	    (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + FAKE_CUDA_TIMER_NS;
	return ABI_SUCCESS;
}

// scale(input, output, first, count, factor), as in examples/kernels: a float each work-item.
static cu_result scale(const struct op *op)
{
	uint64_t first = value_of(op, 2), count = value_of(op, 3);
	uint32_t bits = (uint32_t)value_of(op, 4);
	float factor;

	memcpy(&factor, &bits, sizeof factor);
	if (count > op->items)
		count = op->items;
	cu_result result = check_memories(op, 2, count ? 4 * (first + count) : 0);
	if (result != ABI_SUCCESS)
		return result;
	const float *from = (const float *)AT(value_of(op, 0)) + first;
	float *to = (float *)AT(value_of(op, 1)) + first;
	for (uint64_t i = 0; i < count; i++)
		to[i] = factor * from[i];
	return ABI_SUCCESS;
}

// add(c, a, b, n): a float each work-item below n.
static cu_result add(const struct op *op)
{
	uint64_t count = value_of(op, 3);

	if (count > op->items)
		count = op->items;
	cu_result result = check_memories(op, 3, 4 * count);
	if (result != ABI_SUCCESS)
		return result;
	float *to = AT(value_of(op, 0));
	const float *a = AT(value_of(op, 1)), *b = AT(value_of(op, 2));
	for (uint64_t i = 0; i < count; i++)
		to[i] = a[i] + b[i];
	return ABI_SUCCESS;
}

// What an action reads, one letter each, how many of it are memories, and how far it reaches.
static cu_result check_action(const struct op *op)
{
	static const struct {
		const char *letters;
		size_t memories;
	} rows[] = {
		[TARE_KERNEL_NONE] = { "", 0 },
		[TARE_KERNEL_COPY] = { "mm", 2 },
		[TARE_KERNEL_ADD] = { "mmm", 3 },
		[TARE_KERNEL_OVERLAP_VOLATILE] = { "mmvvvv", 2 },
		[TARE_KERNEL_OVERLAP_REGISTER] = { "mmvvvv", 2 },
		[TARE_KERNEL_MATMUL] = { "mmmv", 3 },
		[TARE_KERNEL_MATMUL_ELEMENT] = { "mmmvvv", 3 },
	};
	uint64_t bytes = 4 * op->items, n;

	if (!takes(op, rows[op->script->action].letters))
		return ABI_INVALID_VALUE;
	switch ((enum tare_kernel_action)op->script->action) {
	case TARE_KERNEL_OVERLAP_VOLATILE:
	case TARE_KERNEL_OVERLAP_REGISTER:
		bytes = value_of(op, 3) ? 4 * (value_of(op, 2) + value_of(op, 3)) : 0;
		break;
	case TARE_KERNEL_COPY:
		bytes = copied_bytes(op);
		break;
	case TARE_KERNEL_MATMUL:
	case TARE_KERNEL_MATMUL_ELEMENT:
		n = value_of(op, 3);
		bytes = 4 * n * n;
		break;
	default:
		break;
	}
	return check_memories(op, rows[op->script->action].memories, bytes);
}

// The launch in the words of the simulated device, which computes it.
static void simulate(const struct op *op)
{
	struct simulated_memory memories[TARE_SCRIPT_ARGUMENTS] = { 0 };
	struct tare_argument arguments[TARE_SCRIPT_ARGUMENTS] = { 0 };
	struct simulated_command command = { .kernel = op->script };
	size_t count = op->parameter_count;
	bool copies = op->script->action == TARE_KERNEL_COPY; // its third is a number

	count = count < TARE_SCRIPT_ARGUMENTS ? count : TARE_SCRIPT_ARGUMENTS;
	for (size_t i = 0; i < count; i++) {
		struct range *range = argument_range(op, i);
		arguments[i].type = TARE_ARGUMENT_VALUE;
		arguments[i].value = op->arguments + op->parameters[i].offset;
		arguments[i].bytes = op->parameters[i].bytes;
		if (op->parameters[i].bytes != 8 || !range || (copies && i > 1))
			continue;
		memories[i].bytes = AT(value_of(op, i));
		memories[i].base.bytes = range->bytes;
		arguments[i].type = TARE_ARGUMENT_MEMORY;
		arguments[i].span.memory = &memories[i].base;
	}
	command.operation.launch = (struct tare_launch){
		.groups = { (uint32_t)op->items, 1, 1 },
		.group_size = { 1, 1, 1 },
		.arguments = arguments,
		.argument_count = (uint32_t)count,
	};
	simulated_run_kernel(&command);
}

cu_result run_kernel(const struct op *op)
{
	if (strcmp(op->name, "store") == 0 && takes(op, "mvvv"))
		return store(op);
	if (strcmp(op->name, "scale") == 0 && takes(op, "mmvvv"))
		return scale(op);
	if (strcmp(op->name, "add") == 0 && takes(op, "mmmv"))
		return add(op);
	if (strcmp(op->name, "tare_clock") == 0 && takes(op, "m"))
		return tell_timer(op);
	if (is_peak(op))
		return run_peak(op);
	if (!op->script || op->script->action == TARE_KERNEL_NONE)
		return ABI_SUCCESS;
	cu_result result = check_action(op);
	if (result == ABI_SUCCESS)
		simulate(op);
	// Arguments of another shape than the script's kernel: not ours to know what it computes.
	return result == ABI_INVALID_VALUE ? ABI_SUCCESS : result;
}
