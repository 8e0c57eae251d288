// SPDX-License-Identifier: Apache-2.0
// A kernel, a copy with its throughput, and a sequence, timed by libtare on one OpenCL queue; and
// beside each what the host's clock says, and why it differs.
#include "example.h"

#include <tare/time.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_NS INT64_C(60000000000)
#define ITEMS ((size_t)1 << 20)
#define BYTES (ITEMS * sizeof(float))

static const char source[] = "kernel void steps(global float *values)\n"
                             "{\n"
                             "	size_t i = get_global_id(0);\n"
                             "	float value = values[i];\n"
                             "	for (int k = 0; k < 64; k++)\n"
                             "		value = value * 0.5f + 1;\n"
                             "	values[i] = value;\n"
                             "}\n";

struct program {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem memory;
	float *host;
	struct tare_timer *timer;
};

static void need(int status, const struct tare_time_error *error)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s\n", error->message);
	exit(1);
}

static void begin(struct program *program, const char *name, struct tare_time_span *span)
{
	struct tare_time_error error;

	need(tare_time_begin(program->timer, name, span, &error), &error);
}

static void end(struct program *program, struct tare_time_span span)
{
	struct tare_time_error error;

	need(tare_time_end(program->timer, span, &error), &error);
}

static void print(const struct tare_time_result *result)
{
	char line[TARE_TIME_LINE];

	tare_time_line(result, line, sizeof line);
	puts(line);
}

// Prints it; its place is free again.
static struct tare_time_result tell(struct program *program, struct tare_time_span span)
{
	struct tare_time_result result;
	struct tare_time_error error;

	need(tare_time_read(program->timer, span, LIMIT_NS, &result, &error), &error);
	need(tare_time_release(program->timer, span, &error), &error);
	print(&result);
	return result;
}

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
	clReleaseEvent(event);
}

static void time_copy(struct program *program)
{
	struct tare_time_span span;

	write_all(program);
	check(clFinish(program->queue), "clFinish");
	begin(program, "copy", &span);
	double before = now_ns();
	write_all(program);
	double enqueue_ns = now_ns() - before;
	end(program, span);
	struct tare_time_result result = tell(program, span);
	int64_t least_ns = result.device_ns - result.uncertainty_ns;
	if (result.state != TARE_TIME_OK || result.device_ns <= 0)
		puts("  throughput: n/a, because there is no time to rely on");
	else if (least_ns <= 0)
		printf("  throughput: at least %.3f GB/s\n",
		       (double)BYTES / (double)result.device_ns);
	else
		printf("  throughput: %.3f to %.3f GB/s (10^9 bytes a second), without and with "
		       "the floor taken off\n",
		       (double)BYTES / (double)result.device_ns, (double)BYTES / (double)least_ns);
	printf("  copied code: %.0f ns by the host's clock around a call that does not wait; it "
	       "times the call\n",
	       enqueue_ns);
}

static void time_sequence(struct program *program)
{
	struct tare_time_span all, kernels;

	begin(program, "sequence", &all);
	write_all(program);
	begin(program, "kernels of the sequence", &kernels);
	launch(program, NULL);
	launch(program, NULL);
	end(program, kernels);
	check(clEnqueueReadBuffer(program->queue, program->memory, CL_FALSE, 0, BYTES,
	                          program->host, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	end(program, all);
	tell(program, all);
	tell(program, kernels);
	puts("  copied code adds up the events' times, and misses what passes between commands");
}

int main(void)
{
	struct device device = open_device();
	struct program program = { .host = calloc(ITEMS, sizeof(float)) };
	struct tare_time_error error;
	cl_int status;

	if (!program.host)
		return 1;
	program.queue =
	    clCreateCommandQueue(device.context, device.id, CL_QUEUE_PROFILING_ENABLE, &status);
	check(status, "clCreateCommandQueue");
	cl_program built = build(&device, source, "");
	program.kernel = kernel_of(built, "steps");
	program.memory = buffer_of(&device, CL_MEM_READ_WRITE, BYTES, NULL);
	set_argument(program.kernel, 0, sizeof program.memory, &program.memory);
	write_all(&program);
	need(tare_time_open_opencl(&program.timer, program.queue, NULL, &error), &error);
	time_kernel(&program);
	time_copy(&program);
	time_sequence(&program);
	need(tare_time_close(program.timer, &error), &error);
	clReleaseMemObject(program.memory);
	clReleaseKernel(program.kernel);
	clReleaseProgram(built);
	clReleaseCommandQueue(program.queue);
	close_device(&device);
	free(program.host);
	return 0;
}
