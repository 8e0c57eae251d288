// SPDX-License-Identifier: Apache-2.0
// A CUDA program whose launches are given memory in known ways, one way after the other:
//   gives LAUNCHES
// `gives` has a pointer into the middle of 1 MiB, a number, and a structure with a pointer to 256
// KiB of managed memory, a number and the first pointer again; its arguments come one by one or in
// a buffer. `reads` has two pointers to the same 1 MiB and one to page-locked memory of 64 KiB.
// `counts` has numbers alone, `nothing` no parameters.
#include "driver.h"

#include <stdint.h>

static const char ptx[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gives(.param .u64 a, .param .u32 b, .param .align 8 .b8 c[24]) { ret; }\n"
    ".visible .entry reads(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry counts(.param .u64 a, .param .u32 b) { ret; }\n";

struct pair {
	uint64_t first, count, again;
};
struct packed {
	uint64_t a;
	uint32_t b, padding;
	struct pair c;
};

static cu_stream stream;

static void launch(cu_function function, void **values, void **extra)
{
	DO(cuLaunchKernel, function, 2, 1, 1, 64, 1, 1, 0, stream, values, extra);
}

static void launch_all(cu_module module, cu_pointer memory, cu_pointer managed, void *pinned, int n)
{
	cu_function gives, reads, counts, nothing;
	struct packed packed = { memory + 4096, 7, 0, { managed, 1 << 20, memory } };
	size_t bytes = sizeof packed;
	uint64_t host = (uintptr_t)pinned, large = 1 << 30;
	void *values[] = { &packed.a, &packed.b, &packed.c },
	     *alike[] = { &memory, &memory, &host };
	void *numbers[] = { &large, &packed.b };
	void *extra[] = { (void *)1, &packed, (void *)2, &bytes, NULL };
	DO(cuModuleGetFunction, &gives, module, "gives");
	DO(cuModuleGetFunction, &reads, module, "reads");
	DO(cuModuleGetFunction, &counts, module, "counts");
	DO(cuModuleGetFunction, &nothing, module, "nothing");
	for (int i = 0; i < n; i++) {
		launch(gives, i % 2 ? values : NULL, i % 2 ? NULL : extra);
		launch(reads, alike, NULL);
		launch(counts, numbers, NULL);
		launch(nothing, NULL, NULL);
	}
}

int main(int count, char **arguments)
{
	void *pinned;
	cu_module module;
	cu_pointer memory, managed;
	stream = open_stream();
	DO(cuModuleLoadDataEx, &module, ptx, 0, NULL, NULL);
	DO(cuMemAlloc_v2, &memory, 1 << 20);
	DO(cuMemAllocManaged, &managed, 1 << 18, ABI_MEM_ATTACH_GLOBAL);
	DO(cuMemHostAlloc, &pinned, 1 << 16, 0);
	launch_all(module, memory, managed, pinned, count > 1 ? atoi(arguments[1]) : 4);
	DO(cuCtxSynchronize);
	DO(cuMemFree_v2, memory);
	DO(cuMemFree_v2, managed);
	puts("done");
	return 0;
}
