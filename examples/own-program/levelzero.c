// SPDX-License-Identifier: Apache-2.0
// A kernel, copies with their throughput, a sequence and a matrix product, timed by libtare on
// regular lists; and beside each what code says that is often copied, and why it differs.
//   ZE_ENABLE_ALT_DRIVERS=/path/to/libze_cpu.so own-levelzero --n 256
#include "example.h"
#include "own.h"

#include <inttypes.h>
#include <stdio.h>

#define GROUP 16

struct program {
	struct device device;
	ze_command_queue_handle_t queue;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	size_t n, bytes;
	void *host, *a, *b, *c;
};

static struct tare_timer *timer_of(const struct program *program, ze_command_list_handle_t list)
{
	struct tare_time_error error;
	struct tare_timer *timer;

	need(tare_time_open_levelzero(&timer, program->device.context, program->device.id, list,
	                              TARE_TIME_REGULAR, NULL, &error),
	     &error);
	return timer;
}

static struct tare_time_result result_of(struct tare_timer *timer, struct tare_time_span span)
{
	struct tare_time_result result;
	struct tare_time_error error;

	need(tare_time_read(timer, span, LIMIT_NS, &result, &error), &error);
	return result;
}

// A list is run, and gone together with its timer: then nothing can write the timer's memory any
// more.
static double run(const struct program *program, ze_command_list_handle_t list)
{
	check(zeCommandListClose(list), "zeCommandListClose");
	return run_ns(program->queue, list);
}

static void drop(ze_command_list_handle_t list, struct tare_timer *timer)
{
	struct tare_time_error error;

	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	need(tare_time_close(timer, &error), &error);
}

static void append_kernel(const struct program *program, ze_command_list_handle_t list,
                          ze_event_handle_t event)
{
	uint32_t groups = (uint32_t)(program->n / GROUP);

	check(zeCommandListAppendLaunchKernel(
	          list, program->kernel, &(ze_group_count_t){ groups, groups, 1 }, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
}

static void append_copy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes)
{
	check(zeCommandListAppendMemoryCopy(list, to, from, bytes, NULL, 0, NULL),
	      "zeCommandListAppendMemoryCopy");
}

static void copy_now(const struct program *program, void *to, const void *from)
{
	ze_command_list_handle_t list = list_of(&program->device, program->device.compute);

	append_copy(list, to, from, program->bytes);
	run(program, list);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

// Ticks as whole nanoseconds each, without the counter's width.
static uint64_t copied_code_ns(const struct program *program, uint64_t start, uint64_t end_ticks)
{
	return (end_ticks - start) * program->device.older_resolution_ns;
}

static void time_kernel(const struct program *program)
{
	ze_command_list_handle_t list = list_of(&program->device, program->device.compute);
	struct tare_timer *timer = timer_of(program, list);
	ze_event_pool_handle_t pool = pool_of(&program->device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	struct tare_time_result result;
	struct tare_time_error error;

	append_kernel(program, list, event);
	double wall_ns = run(program, list);
	need(tare_time_event(timer, "kernel", event, LIMIT_NS, &result, &error), &error);
	print(&result);
	ze_kernel_timestamp_result_t stamps = stamps_of(event);
	printf("  copied code: %" PRIu64
	       " ns. It takes the context's counter, which stands still while the context does not "
	       "run, and whole nanoseconds a tick (%" PRIu64 " for %.3f)\n",
	       copied_code_ns(program, stamps.context.kernelStart, stamps.context.kernelEnd),
	       program->device.older_resolution_ns, program->device.tick_ns);
	printf("  the host's clock around submission and wait: %.0f ns, which is not the kernel's "
	       "time\n",
	       wall_ns);
	printf("  timerResolution: %" PRIu64 ", nanoseconds a tick, for the older type of the "
	       "properties; %" PRIu64 ", ticks a second, for the type 1.2. Copied code tests the "
	       "type that it set itself, so that it takes the first for either\n",
	       program->device.older_resolution_ns, program->device.properties.timerResolution);
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	drop(list, timer);
}

static void time_copy(const struct program *program)
{
	ze_command_list_handle_t list = list_of(&program->device, program->device.compute);
	struct tare_timer *timer = timer_of(program, list);
	struct tare_time_span span;

	begin(timer, "copy", &span);
	append_copy(list, program->a, program->host, program->bytes);
	end(timer, span);
	run(program, list);
	struct tare_time_result result = result_of(timer, span);
	print(&result);
	print_throughput(&result, program->bytes);
	printf(
	    "  copied code: %" PRIu64
	    " ns, by whole nanoseconds a tick, no width of the counter, no floor, and no barrier "
	    "behind the first timestamp\n",
	    copied_code_ns(program, result.start_ticks, result.end_ticks));
	drop(list, timer);
}

// Executed twice: the times are those of the last execution.
static void time_sequence(const struct program *program)
{
	ze_command_list_handle_t list = list_of(&program->device, program->device.compute);
	struct tare_timer *timer = timer_of(program, list);
	struct tare_time_span all, kernel;
	struct tare_time_result whole, part;

	begin(timer, "sequence", &all);
	append_copy(list, program->a, program->host, program->bytes);
	append_copy(list, program->b, program->host, program->bytes);
	begin(timer, "kernel of the sequence", &kernel);
	append_kernel(program, list, NULL);
	end(timer, kernel);
	append_copy(list, program->host, program->c, program->bytes);
	end(timer, all);
	run(program, list);
	run_ns(program->queue, list);
	whole = result_of(timer, all);
	part = result_of(timer, kernel);
	print(&whole);
	print(&part);
	puts("  copied code times whole programs by the host's clock, with closing the list, "
	     "submission and wait in it");
	drop(list, timer);
}

// A list each, executed until the copy is known.
static void time_copies(const struct program *program)
{
	static const struct {
		const char *name;
		enum memory from, to;
	} copies[] = {
		{ "heap to device", HEAP, DEVICE },     { "device to heap", DEVICE, HEAP },
		{ "host to device", HOST, DEVICE },     { "device to host", DEVICE, HOST },
		{ "shared to shared", SHARED, SHARED }, { "device to device", DEVICE, DEVICE }
	};
	enum { COUNT = sizeof copies / sizeof *copies };
	struct tare_time_series *series[COUNT];
	struct tare_time_error error;
	int status;

	for (size_t i = 0; i < COUNT; i++) {
		ze_command_list_handle_t list = list_of(&program->device, program->device.compute);
		struct tare_timer *timer = timer_of(program, list);
		void *from = memory_of(&program->device, copies[i].from, program->bytes),
		     *to = memory_of(&program->device, copies[i].to, program->bytes);
		struct tare_time_span span;
		series[i] = series_of(copies[i].name, program->bytes);
		begin(timer, NULL, &span);
		append_copy(list, to, from, program->bytes);
		end(timer, span);
		run(program, list);
		do {
			struct tare_time_result result = result_of(timer, span);
			status = tare_time_series_add(series[i], &result, &error);
			need(status, &error);
			run_ns(program->queue, list);
		} while (status > 0);
		drop(list, timer);
		free_memory(&program->device, copies[i].from, from);
		free_memory(&program->device, copies[i].to, to);
	}
	print_table(series, COUNT);
	puts("  copied code has the first run in its mean, with what only that one takes; and its "
	     "shared memory was made with other flags than the rest");
}

// Without copies, as the speed-ups are of the product alone.
static int time_product(const struct program *program)
{
	ze_command_list_handle_t list = list_of(&program->device, program->device.compute);
	struct tare_timer *timer = timer_of(program, list);
	struct tare_time_error error;
	struct tare_time_span span;
	struct product product;
	double wall_ns;
	int status;

	product_open(&product, program->n);
	copy_now(program, program->a, product.a);
	copy_now(program, program->b, product.b);
	begin(timer, NULL, &span);
	append_kernel(program, list, NULL);
	end(timer, span);
	wall_ns = run(program, list);
	do {
		struct tare_time_result result = result_of(timer, span);
		product_wall(&product, wall_ns);
		status = tare_time_series_add(product.device, &result, &error);
		need(status, &error);
		wall_ns = run_ns(program->queue, list);
	} while (status > 0);
	drop(list, timer);
	copy_now(program, product.found, program->c);
	return product_close(&product);
}

static void prepare(struct program *program)
{
	const struct device *device = &program->device;
	uint32_t n = (uint32_t)program->n;

	program->bytes = program->n * program->n * sizeof(float);
	program->queue = queue_of(device, device->compute, 0);
	program->module = module_of(device, NULL);
	program->kernel = kernel_of(program->module, "matmul_coalesced");
	program->host = memory_of(device, HOST, program->bytes);
	program->a = memory_of(device, DEVICE, program->bytes);
	program->b = memory_of(device, DEVICE, program->bytes);
	program->c = memory_of(device, DEVICE, program->bytes);
	for (size_t i = 0; i < program->n * program->n; i++)
		((float *)program->host)[i] = (float)(i % 7);
	set_argument(program->kernel, 0, sizeof program->c, &program->c);
	set_argument(program->kernel, 1, sizeof program->a, &program->a);
	set_argument(program->kernel, 2, sizeof program->b, &program->b);
	set_argument(program->kernel, 3, sizeof n, &n);
	check(zeKernelSetGroupSize(program->kernel, GROUP, GROUP, 1), "zeKernelSetGroupSize");
}

static void finish(struct program *program)
{
	const struct device *device = &program->device;

	check(zeKernelDestroy(program->kernel), "zeKernelDestroy");
	check(zeModuleDestroy(program->module), "zeModuleDestroy");
	check(zeCommandQueueDestroy(program->queue), "zeCommandQueueDestroy");
	free_memory(device, HOST, program->host);
	free_memory(device, DEVICE, program->a);
	free_memory(device, DEVICE, program->b);
	free_memory(device, DEVICE, program->c);
	close_device(device);
}

int main(int count, char **arguments)
{
	struct program program = { .n = 256 };
	int status;
	const struct option options[] = {
		{ "--n", "rows of the matrices, rounded to a multiple of 16", &program.n, GROUP,
		  8192, NULL },
	};

	read_options(
	    count, arguments,
	    "Times a kernel, a copy and a sequence by libtare, and says what copied code would.",
	    options, 1);
	program.n -= program.n % GROUP;
	program.device = open_device();
	prepare(&program);
	time_kernel(&program);
	time_copy(&program);
	time_copies(&program);
	time_sequence(&program);
	status = time_product(&program);
	finish(&program);
	return status;
}
