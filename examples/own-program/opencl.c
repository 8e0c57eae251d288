// SPDX-License-Identifier: Apache-2.0
// A kernel, copies with their throughput, a sequence and a matrix product, timed by libtare on one
// OpenCL queue; and beside each what code says that is often copied, and why it differs.
#include "example.h"
#include "own.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 256
#define ITEMS ((size_t)1 << 20)
#define BYTES (ITEMS * sizeof(float))

static const char source[] = "kernel void steps(global float *values)\n"
                             "{\n"
                             "	size_t i = get_global_id(0);\n"
                             "	float value = values[i];\n"
                             "	for (int k = 0; k < 64; k++)\n"
                             "		value = value * 0.5f + 1;\n"
                             "	values[i] = value;\n"
                             "}\n"
                             "kernel void product(global const float *a, global const float *b,\n"
                             "                    global float *c, uint n)\n"
                             "{\n"
                             "	uint row = get_global_id(1), column = get_global_id(0);\n"
                             "	float sum = 0;\n"
                             "	for (uint k = 0; k < n; k++)\n"
                             "		sum += a[row * n + k] * b[k * n + column];\n"
                             "	c[row * n + column] = sum;\n"
                             "}\n";

struct program {
	struct device device;
	cl_command_queue queue;
	cl_kernel kernel, product;
	cl_mem memory, other, pinned;
	float *host, *mapped;
	struct tare_timer *timer;
};

static void launch(struct program *program, cl_event *event)
{
	size_t items = ITEMS;

	check(clEnqueueNDRangeKernel(program->queue, program->kernel, 1, NULL, &items, NULL, 0,
	                             NULL, event),
	      "clEnqueueNDRangeKernel");
}

static void write_all(struct program *program)
{
	check(clEnqueueWriteBuffer(program->queue, program->memory, CL_FALSE, 0, BYTES,
	                           program->host, 0, NULL, NULL),
	      "clEnqueueWriteBuffer");
}

static void time_kernel(struct program *program)
{
	struct tare_time_result result;
	struct tare_time_error error;
	cl_event event;
	size_t step_ns = 0;

	launch(program, NULL); // what only the first launch takes
	check(clFinish(program->queue), "clFinish");
	double before = now_ns();
	launch(program, &event);
	check(clFinish(program->queue), "clFinish");
	double wall_ns = now_ns() - before;
	need(tare_time_event(program->timer, "kernel", event, LIMIT_NS, &result, &error), &error);
	print(&result);
	printf("  copied code: %.0f ns by the host's clock around enqueueing and clFinish, which "
	       "is not the kernel's time\n",
	       wall_ns);
	check(clGetDeviceInfo(program->device.id, CL_DEVICE_PROFILING_TIMER_RESOLUTION,
	                      sizeof step_ns, &step_ns, NULL),
	      "clGetDeviceInfo");
	printf("  OpenCL's stamps are nanoseconds, in steps of %zu by the driver; there is no "
	       "tick to convert\n",
	       step_ns);
	clReleaseEvent(event);
}

enum copy { HEAP_IN, HEAP_OUT, PINNED_IN, PINNED_OUT, WITHIN, COPIES_TIMED };
static const char *const copy_names[] = { "heap to device", "device to heap", "pinned to device",
	                                  "device to pinned", "device to device" };

static void copy_once(struct program *program, enum copy copy)
{
	bool out = copy == HEAP_OUT || copy == PINNED_OUT;
	void *host = copy == PINNED_IN || copy == PINNED_OUT ? program->mapped : program->host;

	if (copy == WITHIN)
		check(clEnqueueCopyBuffer(program->queue, program->memory, program->other, 0, 0,
		                          BYTES, 0, NULL, NULL),
		      "clEnqueueCopyBuffer");
	else if (out)
		check(clEnqueueReadBuffer(program->queue, program->memory, CL_FALSE, 0, BYTES, host,
		                          0, NULL, NULL),
		      "clEnqueueReadBuffer");
	else
		check(clEnqueueWriteBuffer(program->queue, program->memory, CL_FALSE, 0, BYTES,
		                           host, 0, NULL, NULL),
		      "clEnqueueWriteBuffer");
}

static void time_copies(struct program *program)
{
	struct tare_time_series *series[COPIES_TIMED];
	struct tare_time_error error;
	struct tare_time_span span;
	double before = now_ns(), first_ns;
	int status;

	copy_once(program, HEAP_IN);
	first_ns = now_ns() - before;
	for (enum copy i = 0; i < COPIES_TIMED; i++) {
		series[i] = series_of(copy_names[i], BYTES);
		do {
			begin(program->timer, NULL, &span);
			copy_once(program, i);
			end(program->timer, span);
			status = tare_time_series_take(series[i], program->timer, span, LIMIT_NS,
			                               &error);
			need(status, &error);
		} while (status > 0);
	}
	print_table(series, COPIES_TIMED);
	printf("  copied code: %.3f GB/s by the host's clock around a call that does not wait; it "
	       "times the call\n",
	       (double)BYTES / first_ns);
}

static cl_mem matrix_of(struct program *program, float *values)
{
	return buffer_of(&program->device, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
	                 (size_t)N * N * sizeof(float), values);
}

static void launch_product(struct program *program)
{
	size_t items[] = { N, N };

	check(clEnqueueNDRangeKernel(program->queue, program->product, 2, NULL, items, NULL, 0,
	                             NULL, NULL),
	      "clEnqueueNDRangeKernel");
}

static int time_product(struct program *program)
{
	struct tare_time_error error;
	struct tare_time_span span;
	struct product product;
	cl_uint n = N;
	cl_mem memory[3];
	int status;

	product_open(&product, N);
	for (int i = 0; i < 3; i++) {
		memory[i] = matrix_of(program, i == 0   ? product.a
		                               : i == 1 ? product.b
		                                        : product.found);
		set_argument(program->product, (cl_uint)i, sizeof *memory, &memory[i]);
	}
	set_argument(program->product, 3, sizeof n, &n);
	do {
		double before = now_ns();
		begin(program->timer, NULL, &span);
		launch_product(program);
		end(program->timer, span);
		status =
		    tare_time_series_take(product.device, program->timer, span, LIMIT_NS, &error);
		product_wall(&product, now_ns() - before);
		need(status, &error);
	} while (status > 0);
	check(clEnqueueReadBuffer(program->queue, memory[2], CL_TRUE, 0,
	                          (size_t)N * N * sizeof(float), product.found, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	for (int i = 0; i < 3; i++)
		clReleaseMemObject(memory[i]);
	return product_close(&product);
}

static void time_sequence(struct program *program)
{
	struct tare_time_span all, kernels;
	struct tare_time_result result;

	begin(program->timer, "sequence", &all);
	write_all(program);
	begin(program->timer, "kernels of the sequence", &kernels);
	launch(program, NULL);
	launch(program, NULL);
	end(program->timer, kernels);
	check(clEnqueueReadBuffer(program->queue, program->memory, CL_FALSE, 0, BYTES,
	                          program->host, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	end(program->timer, all);
	result = take(program->timer, all);
	print(&result);
	result = take(program->timer, kernels);
	print(&result);
	puts("  copied code adds up the events' times, and misses what passes between commands");
}

static void prepare(struct program *program, cl_program built)
{
	cl_int status;

	program->kernel = kernel_of(built, "steps");
	program->product = kernel_of(built, "product");
	program->memory = buffer_of(&program->device, CL_MEM_READ_WRITE, BYTES, NULL);
	program->other = buffer_of(&program->device, CL_MEM_READ_WRITE, BYTES, NULL);
	program->pinned =
	    buffer_of(&program->device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, BYTES, NULL);
	program->mapped =
	    clEnqueueMapBuffer(program->queue, program->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
	                       0, BYTES, 0, NULL, NULL, &status);
	check(status, "clEnqueueMapBuffer");
	memset(program->mapped, 0, BYTES);
	set_argument(program->kernel, 0, sizeof program->memory, &program->memory);
	write_all(program);
}

static void finish(struct program *program)
{
	check(clEnqueueUnmapMemObject(program->queue, program->pinned, program->mapped, 0, NULL,
	                              NULL),
	      "clEnqueueUnmapMemObject");
	check(clFinish(program->queue), "clFinish");
	clReleaseMemObject(program->memory);
	clReleaseMemObject(program->other);
	clReleaseMemObject(program->pinned);
	clReleaseKernel(program->kernel);
	clReleaseKernel(program->product);
	clReleaseCommandQueue(program->queue);
}

int main(void)
{
	struct program program = { .host = calloc(ITEMS, sizeof(float)) };
	struct tare_time_error error;
	cl_program built;
	cl_int status;

	if (!program.host)
		return 1;
	program.device = open_device();
	program.queue = clCreateCommandQueue(program.device.context, program.device.id,
	                                     CL_QUEUE_PROFILING_ENABLE, &status);
	check(status, "clCreateCommandQueue");
	built = build(&program.device, source, "");
	prepare(&program, built);
	need(tare_time_open_opencl(&program.timer, program.queue, NULL, &error), &error);
	time_kernel(&program);
	time_copies(&program);
	time_sequence(&program);
	status = time_product(&program);
	need(tare_time_close(program.timer, &error), &error);
	finish(&program);
	clReleaseProgram(built);
	close_device(&program.device);
	free(program.host);
	return status;
}
