// SPDX-License-Identifier: Apache-2.0
// How much memory a launch is given: the allocations that its arguments point into, each once. The
// driver tells parameters since CUDA 12.4. What a kernel reaches by pointers in memory is not seen.
#include "guest/cuda/counters/counters.h"

#include <string.h>

enum { MOST_BLOCKS = 128, MOST_PARAMETERS = 1024, WORD = 8 };
// Arguments are pointers to their values, or lie in one buffer that this list names.
enum { EXTRA_END = 0, EXTRA_BUFFER = 1, EXTRA_BYTES = 2 };

struct given {
	uint64_t blocks[MOST_BLOCKS]; // where they begin
	uint32_t count;
	uint64_t bytes;
};

struct arguments {
	const void *const *values; // of each; NULL: they are in the buffer
	const char *buffer;
	size_t bytes;
};

static void add(struct given *given, uint64_t address)
{
	cu_pointer start = 0;
	size_t bytes = 0;
	// Small numbers are no addresses.
	if (address < UINT32_C(1) << 16 || address >> 57 ||
	    cuda_driver.cuMemGetAddressRange_v2(&start, &bytes, address) != ABI_SUCCESS || !bytes)
		return;
	for (uint32_t i = 0; i < given->count; i++)
		if (given->blocks[i] == start)
			return;
	if (given->count == MOST_BLOCKS)
		return;
	given->blocks[given->count++] = start;
	given->bytes += bytes;
}

// A structure may hold pointers, which are aligned.
static void add_argument(struct given *given, const char *value, size_t offset, size_t bytes)
{
	size_t at = (WORD - offset % WORD) % WORD;
	for (; at + WORD <= bytes; at += WORD) {
		uint64_t word;
		memcpy(&word, value + at, WORD);
		add(given, word);
	}
}

static struct arguments arguments_of(const struct cupti_call *told,
                                     const struct cuda_function *function)
{
	size_t place = function->form == CUDA_LAUNCH ? function->stream + 1u : 2;
	const void *const *extra = cuda_parameter(told, place + 1);
	struct arguments arguments = { .values = cuda_parameter(told, place) };
	for (; extra && (uintptr_t)*extra != EXTRA_END; extra += 2) {
		if ((uintptr_t)*extra == EXTRA_BUFFER)
			arguments.buffer = extra[1];
		else if ((uintptr_t)*extra == EXTRA_BYTES)
			arguments.bytes = *(const size_t *)extra[1];
		else
			break;
	}
	return arguments;
}

bool counters_given_is_known(void)
{
	return cuda_driver.cuFuncGetParamInfo && cuda_driver.cuMemGetAddressRange_v2;
}

uint64_t counters_given_bytes(const struct cupti_call *told, const struct cuda_function *function,
                              cu_function kernel)
{
	struct arguments arguments = arguments_of(told, function);
	struct given given = { .count = 0 };
	size_t offset, bytes;
	for (size_t i = 0; counters_given_is_known() && i < MOST_PARAMETERS; i++) {
		const char *value;
		if (cuda_driver.cuFuncGetParamInfo(kernel, i, &offset, &bytes) != ABI_SUCCESS)
			break;
		if (arguments.values)
			value = arguments.values[i];
		else if (arguments.buffer && offset + bytes <= arguments.bytes)
			value = arguments.buffer + offset;
		else
			break;
		if (value)
			add_argument(&given, value, offset, bytes);
	}
	return given.bytes;
}
