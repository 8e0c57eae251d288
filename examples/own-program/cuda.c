// SPDX-License-Identifier: Apache-2.0
// A kernel, copies with their throughput, a sequence and a matrix product, timed by libtare on one
// CUDA stream; and beside each what code says that is often copied, and why it differs. Neither
// NVIDIA's toolkit nor a driver is needed to build it.
#include "example.h"
#include "own.h"
#include "product_ptx.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1 << 20, CYCLES = 64, N = 256, SIDE = 16 };
#define BYTES (ITEMS * sizeof(uint32_t))

struct program {
	cu_stream stream;
	struct kernel kernel;
	cu_pointer from, to;
	void *pinned, *heap;
	struct tare_timer *timer;
};

static void launch(const struct program *program)
{
	launch_steps(program->kernel, program->to, program->from, ITEMS, BLOCK, CYCLES,
	             program->stream);
}

static void time_kernel(const struct program *program)
{
	struct tare_time_span span;
	struct tare_time_result result;
	double before, launched_ns, wall_ns;

	launch(program); // what only the first launch takes
	DO(cuCtxSynchronize);
	begin(program->timer, "kernel", &span);
	before = now_ns();
	launch(program);
	launched_ns = now_ns() - before;
	end(program->timer, span);
	result = take(program->timer, span);
	wall_ns = now_ns() - before;
	print(&result);
	printf("  copied code: %.0f ns by the host's clock around a launch, which does not wait; "
	       "%.0f ns with a wait, which is not the kernel's time either\n",
	       launched_ns, wall_ns);
	puts("  CUDA has no ticks to convert: an event is a moment, and two of them are a float of "
	     "milliseconds apart, in steps of about half a microsecond by its documentation");
}

struct copy {
	const char *name;
	enum { TO_DEVICE, TO_HOST, WITHIN } direction;
	bool is_pinned;
};

static void copy_once(const struct program *program, const struct copy *copy)
{
	void *host = copy->is_pinned ? program->pinned : program->heap;

	if (copy->direction == TO_DEVICE)
		DO(cuMemcpyHtoDAsync_v2, program->from, host, BYTES, program->stream);
	else if (copy->direction == TO_HOST)
		DO(cuMemcpyDtoHAsync_v2, host, program->from, BYTES, program->stream);
	else
		DO(cuMemcpyDtoDAsync_v2, program->to, program->from, BYTES, program->stream);
}

static void time_copies(const struct program *program)
{
	static const struct copy copies[] = {
		{ "heap to device", TO_DEVICE, false },  { "device to heap", TO_HOST, false },
		{ "pinned to device", TO_DEVICE, true }, { "device to pinned", TO_HOST, true },
		{ "device to device", WITHIN, false },
	};
	enum { COUNT = sizeof copies / sizeof *copies };
	struct tare_time_series *series[COUNT];
	struct tare_time_error error;
	struct tare_time_span span;
	double before = now_ns(), first_ns;
	int status;

	copy_once(program, &copies[2]);
	first_ns = now_ns() - before;
	for (size_t i = 0; i < COUNT; i++) {
		series[i] = series_of(copies[i].name, BYTES);
		do {
			begin(program->timer, NULL, &span);
			copy_once(program, &copies[i]);
			end(program->timer, span);
			status = tare_time_series_take(series[i], program->timer, span, LIMIT_NS,
			                               &error);
			need(status, &error);
		} while (status > 0);
	}
	print_table(series, COUNT);
	printf("  copied code: %.3f GB/s by the host's clock around a call that does not wait; it "
	       "times the call. Of pageable memory the call itself copies\n",
	       (double)BYTES / first_ns);
}

static void time_sequence(const struct program *program)
{
	struct tare_time_span all, kernels;
	struct tare_time_result result;

	begin(program->timer, "sequence", &all);
	DO(cuMemcpyHtoDAsync_v2, program->from, program->pinned, BYTES, program->stream);
	begin(program->timer, "kernels of the sequence", &kernels);
	launch(program);
	launch(program);
	end(program->timer, kernels);
	DO(cuMemcpyDtoHAsync_v2, program->pinned, program->to, BYTES, program->stream);
	end(program->timer, all);
	result = take(program->timer, all);
	print(&result);
	result = take(program->timer, kernels);
	print(&result);
	puts("  copied code adds up times of single commands, and misses what passes between them");
}

static void launch_product(const struct program *program, cu_function function,
                           const cu_pointer memory[3])
{
	cu_pointer a = memory[0], b = memory[1], c = memory[2];
	uint32_t n = N;
	void *parameters[] = { &a, &b, &c, &n };

	DO(cuLaunchKernel, function, N / SIDE, N / SIDE, 1, SIDE, SIDE, 1, 0, program->stream,
	   parameters, NULL);
}

static int time_product(const struct program *program)
{
	size_t bytes = (size_t)N * N * sizeof(float);
	cu_pointer memory[3] = { device_memory(bytes), device_memory(bytes), device_memory(bytes) };
	struct tare_time_error error;
	struct tare_time_span span;
	struct product product;
	struct kernel kernel;
	int status;

	DO(cuModuleLoadDataEx, &kernel.module, product_ptx, 0, NULL, NULL);
	DO(cuModuleGetFunction, &kernel.function, kernel.module, "product");
	product_open(&product, N);
	DO(cuMemcpyHtoDAsync_v2, memory[0], product.a, bytes, program->stream);
	DO(cuMemcpyHtoDAsync_v2, memory[1], product.b, bytes, program->stream);
	do {
		double before = now_ns();
		begin(program->timer, NULL, &span);
		launch_product(program, kernel.function, memory);
		end(program->timer, span);
		status =
		    tare_time_series_take(product.device, program->timer, span, LIMIT_NS, &error);
		product_wall(&product, now_ns() - before);
		need(status, &error);
	} while (status > 0);
	DO(cuMemcpyDtoHAsync_v2, product.found, memory[2], bytes, program->stream);
	DO(cuCtxSynchronize);
	for (int i = 0; i < 3; i++)
		DO(cuMemFree_v2, memory[i]);
	DO(cuModuleUnload, kernel.module);
	return product_close(&product);
}

int main(void)
{
	struct program program = { 0 };
	struct tare_time_error error;
	int status;

	open_device();
	program.stream = stream_new(ABI_STREAM_NON_BLOCKING);
	program.kernel = load_kernel();
	program.from = device_memory(BYTES);
	program.to = device_memory(BYTES);
	program.pinned = pinned_memory(BYTES);
	program.heap = calloc(1, BYTES);
	if (!program.heap)
		return 1;
	need(tare_time_open_cuda(&program.timer, program.stream, NULL, &error), &error);
	time_kernel(&program);
	time_copies(&program);
	time_sequence(&program);
	status = time_product(&program);
	need(tare_time_close(program.timer, &error), &error);
	DO(cuMemFree_v2, program.from);
	DO(cuMemFree_v2, program.to);
	DO(cuMemFreeHost, program.pinned);
	DO(cuModuleUnload, program.kernel.module);
	DO(cuStreamDestroy_v2, program.stream);
	free(program.heap);
	close_device();
	return status;
}
