// SPDX-License-Identifier: Apache-2.0
// Launches kernels in the ways that programs seldom use: counted_odd FILE OPTIONS WAY... Each way
// prints its name and a sum of what it wrote.
#include "program.h"

#include <CL/cl_ext.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { NUMBERS = 1 << 12, ROOM = NUMBERS * 4, GROUP = 16, N = 5 };

static struct program on;
static cl_program program;
static cl_mem out;

static cl_program from_source(const char *text, const char *options)
{
	cl_int status;
	cl_program made = clCreateProgramWithSource(on.context, 1, &text, NULL, &status);

	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(made, 1, &on.device, options, NULL, NULL), "clBuildProgram");
	return made;
}

static cl_program from_file(const char *path, const char *options)
{
	static char text[1 << 18];
	FILE *file = fopen(path, "r");

	if (!file) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(1);
	}
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return from_source(text, options);
}

static cl_mem numbers(cl_context context)
{
	static int at[ROOM];
	cl_int status;

	for (int i = 0; i < ROOM; i++)
		at[i] = i % 13;
	cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof at,
	                             at, &status);
	check(status, "clCreateBuffer");
	return made;
}

static void tell(const char *way, const unsigned char *bytes, size_t count)
{
	unsigned long long sum = 0;

	for (size_t i = 0; i < count; i++)
		sum = sum * 31 + bytes[i];
	printf("%s: %llx\n", way, sum);
}

static void read_back(const char *way, cl_command_queue queue, cl_mem memory)
{
	static unsigned char bytes[ROOM * sizeof(int)];

	check(clFinish(queue), "clFinish");
	check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof bytes, bytes, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	tell(way, bytes, sizeof bytes);
}

static cl_kernel kernel_of(cl_program of, const char *name, const cl_mem *memory)
{
	const int n = N;
	cl_int status;
	cl_kernel made = clCreateKernel(of, name, &status);

	check(status, name);
	check(clSetKernelArg(made, 0, sizeof *memory, memory), "argument 0");
	check(clSetKernelArg(made, 1, sizeof n, &n), "argument 1");
	return made;
}

static void enqueue(cl_command_queue queue, cl_kernel kernel, size_t offset, size_t global,
                    size_t local)
{
	check(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, local ? &local : NULL, 0,
	                             NULL, NULL),
	      "clEnqueueNDRangeKernel");
}

// ---- ways

// A kernel of two arguments, and of a third one where it has one.
static void usual(const char *name)
{
	const struct {
		int by;
		cl_float3 shift;
	} change = { .by = 7, .shift = { { 1, 2, 3 } } };
	cl_uint arguments = 0;
	cl_kernel kernel = kernel_of(program, name, &out);

	clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
	if (strcmp(name, "with_local") == 0)
		check(clSetKernelArg(kernel, 2, GROUP * sizeof(int), NULL), "local memory");
	else if (arguments == 3)
		check(clSetKernelArg(kernel, 2, sizeof change, &change), "structure");
	enqueue(on.queue, kernel, 0, NUMBERS, GROUP);
	read_back(name, on.queue, out);
	clReleaseKernel(kernel);
}

static void no_work(void)
{
	const size_t nothing = 0;
	cl_kernel kernel = kernel_of(program, "plain", &out);

	printf("no work: %d\n",
	       clEnqueueNDRangeKernel(on.queue, kernel, 1, NULL, &nothing, NULL, 0, NULL, NULL));
	printf("no such size: %d\n",
	       clEnqueueNDRangeKernel(on.queue, kernel, 1, NULL, (size_t[]){ 64 }, (size_t[]){ 7 },
	                              0, NULL, NULL));
	read_back("no work", on.queue, out);
	clReleaseKernel(kernel);
}

// Groups that are smaller at the end, with an offset; a driver may refuse them.
static void uneven(void)
{
	const size_t offset = 32, global = 100, local = 16;
	cl_kernel kernel = kernel_of(program, "groups", &out);

	printf("uneven: %d\n", clEnqueueNDRangeKernel(on.queue, kernel, 1, &offset, &global, &local,
	                                              0, NULL, NULL));
	enqueue(on.queue, kernel, 32, 96, 16);
	read_back("uneven", on.queue, out);
	clReleaseKernel(kernel);
}

static void out_of_order(void)
{
	cl_command_queue queue = queue_of(&on, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = kernel_of(program, "atomics", &out);

	for (int i = 0; i < 8; i++)
		enqueue(queue, kernel, 0, 256, 16);
	read_back("out of order", queue, out);
	clReleaseKernel(kernel);
	clReleaseCommandQueue(queue);
}

static void parts_of_a_buffer(void)
{
	const cl_buffer_region region = { .origin = 4096, .size = 4096 };
	cl_int status;
	cl_mem part = clCreateSubBuffer(out, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
	                                &region, &status);

	check(status, "clCreateSubBuffer");
	cl_kernel kernel = kernel_of(program, "plain", &part);
	enqueue(on.queue, kernel, 0, 512, 16);
	read_back("sub-buffer", on.queue, out);
	clReleaseKernel(kernel);
	clReleaseMemObject(part);
}

static void shared_memory(void)
{
	const int n = N;
	cl_int status;
	int *at = clSVMAlloc(on.context, CL_MEM_READ_WRITE, 512 * sizeof *at, 0);

	if (!at) {
		puts("shared: none");
		return;
	}
	cl_kernel kernel = clCreateKernel(program, "plain", &status);
	check(status, "clCreateKernel");
	check(clEnqueueSVMMap(on.queue, CL_TRUE, CL_MAP_WRITE, at, 512 * sizeof *at, 0, NULL, NULL),
	      "clEnqueueSVMMap");
	for (int i = 0; i < 512; i++)
		at[i] = i;
	check(clEnqueueSVMUnmap(on.queue, at, 0, NULL, NULL), "clEnqueueSVMUnmap");
	check(clSetKernelArgSVMPointer(kernel, 0, at), "clSetKernelArgSVMPointer");
	check(clSetKernelArg(kernel, 1, sizeof n, &n), "argument 1");
	enqueue(on.queue, kernel, 0, 512, 16);
	check(clFinish(on.queue), "clFinish");
	check(clEnqueueSVMMap(on.queue, CL_TRUE, CL_MAP_READ, at, 512 * sizeof *at, 0, NULL, NULL),
	      "clEnqueueSVMMap");
	tell("shared", (const unsigned char *)at, 512 * sizeof *at);
	check(clEnqueueSVMUnmap(on.queue, at, 0, NULL, NULL), "clEnqueueSVMUnmap");
	check(clFinish(on.queue), "clFinish");
	clSVMFree(on.context, at);
	clReleaseKernel(kernel);
}

static void two_contexts(const char *path, const char *options)
{
	struct program first = on;
	cl_program first_program = program;

	on = open_program(0);
	program = from_file(path, options);
	cl_mem memory = numbers(on.context), before = out;
	out = memory;
	usual("plain");
	clReleaseMemObject(memory);
	clReleaseProgram(program);
	close_program(&on);
	on = first;
	program = first_program;
	out = before;
	usual("plain");
}

static void killed(void)
{
	usual("plain");
	fflush(stdout);
	raise(SIGKILL);
}

// ---- programs of parts

static cl_program part(const char *text, const char *options, cl_uint headers,
                       const cl_program *header, const char **names)
{
	cl_int status;
	cl_program made = clCreateProgramWithSource(on.context, 1, &text, NULL, &status);

	check(status, "clCreateProgramWithSource");
	check(clCompileProgram(made, 1, &on.device, options, headers, header, names, NULL, NULL),
	      "clCompileProgram");
	return made;
}

static void launch_caller(const char *way, cl_program whole, const char *name)
{
	cl_kernel kernel = kernel_of(whole, name, &out);

	enqueue(on.queue, kernel, 0, 256, 16);
	read_back(way, on.queue, out);
	clReleaseKernel(kernel);
	clReleaseProgram(whole);
}

static void linked(const char *way, const char *name, cl_uint count, const cl_program *parts)
{
	cl_int status;
	cl_program whole =
	    clLinkProgram(on.context, 1, &on.device, "", count, parts, NULL, NULL, &status);

	printf("%s: %d\n", way, status);
	if (status == CL_SUCCESS)
		launch_caller(way, whole, name);
}

// What is summed up lies behind what kernels write.
#define HELPED "int helped(global const int *at, int x, int n)"
static const char callee[] = HELPED "\n{\n\tint sum = x;\n\tfor (int k = 0; k < x % n; k++)\n"
                                    "\t\tsum += at[4096 + k];\n\treturn sum + ADDED;\n}\n";
#define CALLER                                                                                     \
	"kernel void NAME(global int *out, int n)\n{\n"                                            \
	"\tint i = get_global_id(0);\n\tout[i] = helped(out, i, n) + ADDED;\n}\n"
static const char caller[] = HELPED ";\n" CALLER;
static const char included[] = "#include \"with/helper.h\"\n" CALLER;

static void two_parts(void)
{
	cl_program parts[] = { part(caller, "-DADDED=3 -DNAME=of_two", 0, NULL, NULL),
		               part(callee, "-DADDED=4", 0, NULL, NULL) };

	linked("two parts", "of_two", 2, parts);
}

// Its part is of another version of the language.
static void library(void)
{
	cl_int status;
	cl_program parts[] = { part(caller, "-DADDED=3 -DNAME=of_library", 0, NULL, NULL),
		               part(callee, "-DADDED=4 -cl-std=CL3.0", 0, NULL, NULL) };
	cl_program made = clLinkProgram(on.context, 1, &on.device, "-create-library", 1, &parts[1],
	                                NULL, NULL, &status);

	printf("library: %d\n", status);
	parts[1] = made;
	if (status == CL_SUCCESS)
		linked("library", "of_library", 2, parts);
}

static void CL_CALLBACK take_kernel(cl_program whole, void *taken)
{
	cl_int status;
	cl_kernel made = clCreateKernel(whole, "of_told", &status);

	check(status, "clCreateKernel of what was linked");
	atomic_store((cl_kernel _Atomic *)taken, made);
}

// The kernel is taken in the callback of linking. The program before, which may have had its
// address, has a kernel of that name, too.
static void told(void)
{
	const int n = N;
	cl_int status;
	cl_kernel kernel;
	cl_kernel _Atomic taken = NULL;
	cl_program parts[] = { part(caller, "-DADDED=3 -DNAME=of_told", 0, NULL, NULL),
		               part(callee, "-DADDED=9", 0, NULL, NULL),
		               part(callee, "-DADDED=4", 0, NULL, NULL) };
	cl_program whole =
	    clLinkProgram(on.context, 1, &on.device, "", 2, parts, NULL, NULL, &status);

	printf("told: %d\n", status);
	if (status != CL_SUCCESS)
		return;
	clReleaseProgram(whole);
	parts[1] = parts[2];
	whole =
	    clLinkProgram(on.context, 1, &on.device, "", 2, parts, take_kernel, &taken, &status);
	check(status, "clLinkProgram with a callback");
	while (!(kernel = atomic_load(&taken)))
		thrd_yield();
	check(clSetKernelArg(kernel, 0, sizeof out, &out), "argument 0");
	check(clSetKernelArg(kernel, 1, sizeof n, &n), "argument 1");
	enqueue(on.queue, kernel, 0, 256, 16);
	read_back("told", on.queue, out);
	clReleaseKernel(kernel);
	clReleaseProgram(whole);
}

// The program that is the header is gone when it is linked.
static void headers(void)
{
	const char *names[] = { "with/helper.h" }, *text = callee;
	cl_int status;
	cl_program header = clCreateProgramWithSource(on.context, 1, &text, NULL, &status);
	cl_program whole = part(included, "-DADDED=3 -DNAME=of_header", 1, &header, names);

	clReleaseProgram(header);
	linked("headers", "of_header", 1, &whole);
}

// The second part is no matter of clang's alone.
static void refused_part(void)
{
	static const char odd[] = "#ifndef POCL_DEVICE_ADDRESS_BITS\n#error no PoCL\n#endif\n";
	char text[sizeof odd + sizeof callee];

	snprintf(text, sizeof text, "%s%s", odd, callee);
	cl_program parts[] = { part(caller, "-DADDED=3 -DNAME=of_refused", 0, NULL, NULL),
		               part(text, "-DADDED=4", 0, NULL, NULL) };
	linked("refused part", "of_refused", 2, parts);
}

// One source of several strings, of which one has no end.
static void strings(void)
{
	const size_t cut = sizeof callee - 4;
	const char *texts[] = { callee, callee + cut, caller };
	const size_t lengths[] = { cut, 0, sizeof caller - 1 };
	cl_int status;
	cl_program whole = clCreateProgramWithSource(on.context, 3, texts, lengths, &status);

	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(whole, 1, &on.device, "-DADDED=3 -DNAME=of_strings", NULL, NULL),
	      "clBuildProgram");
	launch_caller("strings", whole, "of_strings");
}

// A buffer of commands with one launch, which is enqueued twice.
static void command_buffer(void)
{
#ifdef cl_khr_command_buffer
	cl_platform_id platform;
	void *functions[4];
	static const char *const names[] = { "clCreateCommandBufferKHR",
		                             "clCommandNDRangeKernelKHR",
		                             "clFinalizeCommandBufferKHR",
		                             "clEnqueueCommandBufferKHR" };
	const size_t global = NUMBERS, local = GROUP;
	cl_int status;

	check(clGetDeviceInfo(on.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
	      "CL_DEVICE_PLATFORM");
	for (int i = 0; i < 4; i++) {
		functions[i] = clGetExtensionFunctionAddressForPlatform(platform, names[i]);
		if (!functions[i]) {
			puts("command buffer: none");
			return;
		}
	}
	cl_kernel kernel = kernel_of(program, "atomics", &out);
	cl_command_buffer_khr buffer =
	    ((clCreateCommandBufferKHR_fn)functions[0])(1, &on.queue, NULL, &status);
	check(status, names[0]);
	check(((clCommandNDRangeKernelKHR_fn)functions[1])(buffer, NULL, NULL, kernel, 1, NULL,
	                                                   &global, &local, 0, NULL, NULL, NULL),
	      names[1]);
	check(((clFinalizeCommandBufferKHR_fn)functions[2])(buffer), names[2]);
	for (int i = 0; i < 2; i++) {
		check(((clEnqueueCommandBufferKHR_fn)functions[3])(0, NULL, buffer, 0, NULL, NULL),
		      names[3]);
		check(clFinish(on.queue), "clFinish");
	}
	read_back("command buffer", on.queue, out);
	clReleaseKernel(kernel);
#else
	puts("command buffer: none");
#endif
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	on = open_program(0);
	program = from_file(words[1], words[2]);
	out = numbers(on.context);
	const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "no-work", no_work },
		     { "uneven", uneven },
		     { "out-of-order", out_of_order },
		     { "sub-buffer", parts_of_a_buffer },
		     { "shared", shared_memory },
		     { "killed", killed },
		     { "two-parts", two_parts },
		     { "library", library },
		     { "told", told },
		     { "headers", headers },
		     { "refused-part", refused_part },
		     { "strings", strings },
		     { "command-buffer", command_buffer } };
	for (int i = 3; i < count; i++) {
		bool found = false;
		for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
			if (strcmp(ways[k].name, words[i]) == 0) {
				ways[k].run();
				found = true;
			}
		if (strcmp(words[i], "contexts") == 0)
			two_contexts(words[1], words[2]);
		else if (!found)
			usual(words[i]);
	}
	clReleaseMemObject(out);
	clReleaseProgram(program);
	close_program(&on);
	return 0;
}
