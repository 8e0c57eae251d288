// SPDX-License-Identifier: Apache-2.0
// Kernels and their twins: what is set for the one is set for the other, and launches take the
// twin.
#include "guest/blocks/layer.h"

#include <errno.h>
#include <string.h>

enum { MOST_KERNELS = 4096 };

// Of a kernel of the program.
struct pair {
	struct blocks_kernel *row; // NULL: there was no room for one
	cl_kernel twin;            // NULL: none, launches are the kernel's own
	void *counters;            // of the twin, mapped
	const struct blocks_module *module;
	uint32_t misfits; // arguments for which the changed module was not made, a bit each
	bool regroups;    // the twin's work-groups take another size
	// Where counters are in the memory of devices: that of one, and the pairs for others, whose
	// twins are given the same.
	struct blocks_far *far;
	cl_device_id device; // NULL: any
	struct pair *other;
	struct pair *following; // among those to be used again
};

// The counters of a row, as memory of a context.
struct memory {
	struct memory *following;
	cl_context context;
	const struct blocks_kernel *row;
	cl_mem memory;
	void *counters;
};

static enum blocks_stage stage;
static struct guest_map *pairs; // by kernel
static struct pair *spare;
static guest_lock lock;
static struct memory *_Atomic memories;
static _Atomic bool stopped;

bool blocks_kernels_begin(enum blocks_stage at)
{
	stage = at;
	guest_lock_register(&lock);
	pairs = guest_map_new();
	return pairs != NULL && blocks_binaries_begin() && blocks_parts_begin();
}

void blocks_stop_twins(void)
{
	atomic_store(&stopped, true);
}

// ---- making a twin

static struct memory *memory_of(cl_context context, struct blocks_kernel *row,
                                const struct blocks_module *module, cl_int *code)
{
	enum blocks_why why = BLOCKS_NO_ROOM;

	*code = CL_SUCCESS;
	for (struct memory *at = atomic_load(&memories); at != NULL; at = at->following)
		if (at->context == context && at->row == row)
			return at;
	struct memory *made = guest_memory(sizeof *made);
	void *counters = made != NULL ? blocks_counters(row, module, &why) : NULL;
	row->why = why;
	if (counters == NULL)
		return NULL;
	// The counters of a CPU device are where the file is mapped: nothing is to be read back.
	made->memory =
	    blocks_next.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
	                               (size_t)blocks_counter_bytes(module), counters, code);
	if (made->memory == NULL)
		return NULL;
	made->context = context;
	made->row = row;
	made->counters = counters;
	made->following = atomic_load(&memories);
	while (!atomic_compare_exchange_weak(&memories, &made->following, made))
		;
	return made;
}

static cl_context context_of(cl_program program)
{
	cl_context context = NULL;

	blocks_next.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
	return context;
}

static cl_uint arguments_of(cl_kernel kernel)
{
	cl_uint count = CL_UINT_MAX;

	blocks_next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
	return count;
}

// The same where they are in the memory of a device.
static bool set_far(cl_kernel twin, cl_uint argument, cl_context context, struct pair *pair)
{
	struct blocks_kernel *row = pair->row;
	enum blocks_why why = BLOCKS_COVERED;

	pair->far = blocks_far_memory(context, pair->device, row, pair->module, &why, &row->code);
	if (pair->far == NULL) {
		row->why = why;
		return false;
	}
	row->code = blocks_next.clSetKernelArg(twin, argument, sizeof pair->far->memory,
	                                       &pair->far->memory);
	return row->code == CL_SUCCESS;
}

// Gives a twin its counters.
static bool set_counters(cl_kernel twin, cl_uint argument, cl_context context, struct pair *pair)
{
	struct blocks_kernel *row = pair->row;
	cl_int code = CL_SUCCESS;

	if (pair->device != NULL)
		return set_far(twin, argument, context, pair);
	const struct memory *memory = memory_of(context, row, pair->module, &code);

	if (memory == NULL) {
		row->why = code == CL_SUCCESS ? row->why : BLOCKS_KERNEL_FAILED;
		row->code = code;
		return false;
	}
	row->code =
	    blocks_next.clSetKernelArg(twin, argument, sizeof memory->memory, &memory->memory);
	pair->counters = memory->counters;
	return row->code == CL_SUCCESS;
}

// The twin of a kernel, its counters set where it has any; NULL: row->why says why.
static cl_kernel make_twin(cl_kernel kernel, cl_program program, const char *name,
                           struct pair *pair)
{
	struct blocks_kernel *row = pair->row;
	const struct blocks_module *module = blocks_module_of(row->hash);
	cl_uint added = stage == BLOCKS_COUNT;

	row->why = BLOCKS_NO_MODULE;
	cl_program twins = module != NULL ? blocks_twin_program(program, module, row) : NULL;
	if (twins == NULL)
		return NULL;
	row->why = BLOCKS_KERNEL_FAILED;
	cl_kernel twin = blocks_next.clCreateKernel(twins, name, &row->code);
	if (twin == NULL)
		return NULL;
	cl_uint count = arguments_of(kernel);
	pair->module = module;
	pair->regroups = blocks_regroups(module, row);
	if (count == CL_UINT_MAX || arguments_of(twin) != count + added) {
		row->code = CL_INVALID_KERNEL_DEFINITION;
	} else if (!added || set_counters(twin, count, context_of(program), pair)) {
		row->why = BLOCKS_COVERED;
		return twin;
	}
	blocks_next.clReleaseKernel(twin);
	return NULL;
}

static struct pair *new_pair(void)
{
	guest_acquire(&lock);
	struct pair *pair = spare;
	if (pair != NULL)
		spare = pair->following;
	guest_release(&lock);
	if (pair == NULL)
		pair = guest_memory(sizeof *pair);
	if (pair != NULL)
		*pair = (struct pair){ .row = NULL };
	return pair;
}

// A pair for another device.
static struct pair *add_other(struct pair *pair)
{
	struct pair *other = new_pair();

	if (other != NULL) {
		other->row = pair->row;
		other->other = pair->other;
		pair->other = other;
	}
	return other;
}

// The twin of a kernel, or, where each device has counters of its own, those of its devices.
static void make_twins(cl_kernel kernel, cl_program program, const char *name, struct pair *pair)
{
	cl_device_id devices[BLOCKS_MOST_DEVICES];
	bool far = stage == BLOCKS_COUNT && blocks_is_far(context_of(program));
	cl_uint count = far ? blocks_devices(program, devices) : 1;

	for (cl_uint i = 0; i < count; i++) {
		struct pair *at = i == 0 ? pair : add_other(pair);
		if (at == NULL)
			return;
		at->device = far ? devices[i] : NULL;
		at->twin = make_twin(kernel, program, name, at);
	}
}

static void write_build(cl_program program, const struct blocks_source *source)
{
	blocks_write(source->hash, BLOCKS_BUILD_SUFFIX, source->data, source->bytes);
	blocks_ptx_write_lines(program, source);
}

static void know(cl_kernel kernel, cl_program program, const char *name)
{
	struct blocks_source source;
	enum blocks_why why;
	struct pair *pair = new_pair();

	if (pair == NULL)
		return;
	blocks_source_read(program, 0, &source, &why);
	uint64_t hash = source.data != NULL       ? source.hash
	                : why == BLOCKS_NO_SOURCE ? blocks_origin(program)
	                                          : 0;
	pair->row = blocks_row(name, hash, BLOCKS_OPENCL);
	if (pair->row != NULL && stage != BLOCKS_COLLECT)
		blocks_facts(kernel, pair->row);
	if (pair->row != NULL && hash == 0)
		pair->row->why =
		    why == BLOCKS_NO_SOURCE && blocks_is_linked(program) ? BLOCKS_LINKED : why;
	else if (pair->row != NULL && stage != BLOCKS_COLLECT)
		make_twins(kernel, program, name, pair);
	else if (source.data != NULL)
		write_build(program, &source);
	blocks_source_free(&source);
	guest_map_put(pairs, kernel, (uintptr_t)pair);
}

static struct pair *find(cl_kernel kernel)
{
	return (struct pair *)(uintptr_t)guest_map_find(pairs, kernel, 0);
}

// The twin is not to be launched any more: it has not all arguments that the kernel has.
static void part(struct pair *pair, enum blocks_why why, cl_int code)
{
	cl_kernel twin = pair->twin;

	pair->twin = NULL;
	pair->row->why = why;
	pair->row->code = code;
	blocks_next.clReleaseKernel(twin);
}

// ---- what is wrapped

static CL_API_ENTRY cl_kernel CL_API_CALL create(cl_program program, const char *name,
                                                 cl_int *error)
{
	cl_kernel kernel = blocks_next.clCreateKernel(program, name, error);
	int saved = errno;

	if (kernel != NULL)
		know(kernel, program, name);
	errno = saved;
	return kernel;
}

static CL_API_ENTRY cl_int CL_API_CALL create_all(cl_program program, cl_uint room,
                                                  cl_kernel *kernels, cl_uint *count)
{
	cl_uint made = 0;
	cl_int result = blocks_next.clCreateKernelsInProgram(program, room, kernels, &made);
	int saved = errno;

	if (count != NULL)
		*count = made;
	for (cl_uint i = 0; result == CL_SUCCESS && kernels != NULL && i < made && i < room; i++) {
		char name[BLOCKS_NAME_BYTES] = "";
		blocks_next.clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name - 1,
		                            name, NULL);
		know(kernels[i], program, name);
	}
	errno = saved;
	return result;
}

static void clone_pair(struct pair *pair, const struct pair *from)
{
	struct pair *other = pair->other;

	*pair = *from;
	pair->other = other;
	if (from->twin != NULL)
		pair->twin = blocks_next.clCloneKernel(from->twin, NULL);
}

static CL_API_ENTRY cl_kernel CL_API_CALL clone(cl_kernel source, cl_int *error)
{
	cl_kernel kernel = blocks_next.clCloneKernel(source, error);
	int saved = errno;
	const struct pair *from = find(source);
	struct pair *pair = kernel != NULL && from != NULL ? new_pair() : NULL;

	if (pair != NULL) {
		clone_pair(pair, from);
		for (from = from->other; from != NULL; from = from->other) {
			struct pair *other = add_other(pair);
			if (other != NULL)
				clone_pair(other, from);
		}
		guest_map_put(pairs, kernel, (uintptr_t)pair);
	}
	errno = saved;
	return kernel;
}

static void give_back(struct pair *pair)
{
	while (pair != NULL) {
		struct pair *other = pair->other;
		if (pair->twin != NULL)
			blocks_next.clReleaseKernel(pair->twin);
		guest_acquire(&lock);
		pair->following = spare;
		spare = pair;
		guest_release(&lock);
		pair = other;
	}
}

static CL_API_ENTRY cl_int CL_API_CALL release(cl_kernel kernel)
{
	struct pair *pair = find(kernel);
	int saved = errno;
	cl_uint references = 0;

	if (pair != NULL &&
	    blocks_next.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references,
	                                &references, NULL) == CL_SUCCESS &&
	    references == 1) {
		guest_map_remove(pairs, kernel);
		give_back(pair);
	}
	errno = saved;
	return blocks_next.clReleaseKernel(kernel);
}

// Calls a function for the twins of a kernel.
#define SET_TOO(pair, call, ...)                                                                   \
	for (; (pair) != NULL; (pair) = (pair)->other) {                                           \
		cl_int code = (pair)->twin != NULL ? blocks_next.call((pair)->twin, __VA_ARGS__)   \
		                                   : CL_SUCCESS;                                   \
		if (code != CL_SUCCESS)                                                            \
			part(pair, BLOCKS_ARGUMENT_FAILED, code);                                  \
	}

static CL_API_ENTRY cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t bytes,
                                                    const void *value)
{
	cl_int result = blocks_next.clSetKernelArg(kernel, index, bytes, value);
	struct pair *pair = result == CL_SUCCESS ? find(kernel) : NULL;

	if (pair != NULL && pair->row != NULL && stage == BLOCKS_COUNT)
		blocks_note_argument(pair->row, index, bytes, value);
	if (pair != NULL && pair->twin != NULL && stage == BLOCKS_CHANGE)
		blocks_fit_argument(pair->module, pair->row, index, bytes, value, &pair->misfits);
	SET_TOO(pair, clSetKernelArg, index, bytes, value);
	return result;
}

static CL_API_ENTRY cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index,
                                                   const void *value)
{
	cl_int result = blocks_next.clSetKernelArgSVMPointer(kernel, index, value);
	struct pair *pair = result == CL_SUCCESS ? find(kernel) : NULL;

	SET_TOO(pair, clSetKernelArgSVMPointer, index, value);
	return result;
}

static CL_API_ENTRY cl_int CL_API_CALL set_info(cl_kernel kernel, cl_kernel_exec_info name,
                                                size_t bytes, const void *value)
{
	cl_int result = blocks_next.clSetKernelExecInfo(kernel, name, bytes, value);
	struct pair *pair = result == CL_SUCCESS ? find(kernel) : NULL;

	SET_TOO(pair, clSetKernelExecInfo, name, bytes, value);
	return result;
}

static uint64_t items_of(cl_uint dimensions, const size_t *sizes)
{
	uint64_t items = 1;

	for (cl_uint i = 0; sizes != NULL && i < dimensions; i++)
		items *= sizes[i];
	return items;
}

static void count(struct pair *pair, bool counted, uint64_t items)
{
	struct blocks_kernel *row = pair != NULL ? pair->row : NULL;

	blocks_count_launch(pair != NULL && row == NULL ? &blocks_no_row : row, counted, items);
}

// The twin to launch, or NULL.
static cl_kernel twin_of(struct pair *pair)
{
	if (pair == NULL || pair->twin == NULL)
		return NULL;
	if (atomic_load_explicit(&stopped, memory_order_relaxed))
		pair->row->why = BLOCKS_POINTERS;
	else if (pair->misfits != 0)
		pair->row->why = BLOCKS_OTHER_VALUE;
	else
		return pair->twin;
	return NULL;
}

// The pair for the device of a queue, and the twin to launch in it, or NULL. A device that is not
// one of the program's, such as a part of one, has no counters: several would add to one memory.
static struct pair *find_on(cl_kernel kernel, cl_command_queue queue, cl_kernel *twin)
{
	struct pair *first = find(kernel), *pair = first;
	cl_device_id device = NULL;

	*twin = NULL;
	if (first != NULL && first->device != NULL) {
		blocks_next.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device,
		                                  NULL);
		while (pair != NULL && pair->device != device)
			pair = pair->other;
	}
	if (pair == NULL && first != NULL && first->twin != NULL)
		first->row->why = BLOCKS_ANOTHER_DEVICE;
	*twin = twin_of(pair);
	return pair != NULL ? pair : first;
}

// Before and after a launch of the twin.
static void choose_sample(const struct pair *pair, uint64_t items)
{
	if (pair->counters != NULL)
		blocks_choose_sample(pair->counters, pair->module, items);
	else if (pair->far != NULL)
		blocks_far_sample(pair->far, items);
}

static void launched(struct pair *pair, cl_command_queue queue, uint64_t items)
{
	if (pair->far != NULL)
		blocks_far_enqueued(pair->far, queue);
	count(pair, true, items);
}

static void launch_failed(struct pair *pair, cl_int code)
{
	if (code == CL_SUCCESS)
		return;
	pair->row->why = BLOCKS_LAUNCH_FAILED;
	pair->row->code = code;
}

static CL_API_ENTRY cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel,
                                              cl_uint dimensions, const size_t *offsets,
                                              const size_t *sizes, const size_t *locals,
                                              cl_uint wait_count, const cl_event *waits,
                                              cl_event *event)
{
	cl_kernel twin;
	struct pair *pair = find_on(kernel, queue, &twin);
	cl_int code = CL_SUCCESS;
	size_t chosen[3];
	const size_t *groups = locals;
	int saved = errno;

	if (pair != NULL && pair->row != NULL && stage != BLOCKS_COLLECT)
		blocks_sub_group(kernel, dimensions, locals, pair->row);
	// Without a size of the program's the driver chooses.
	if (twin != NULL && pair->regroups && locals != NULL) {
		if (blocks_regroup(twin, dimensions, sizes, locals, pair->row, chosen)) {
			groups = chosen;
		} else {
			pair->row->why = BLOCKS_NO_GROUPS;
			twin = NULL;
		}
	}
	errno = saved;
	if (twin != NULL) {
		choose_sample(pair, items_of(dimensions, sizes));
		code = blocks_next.clEnqueueNDRangeKernel(queue, twin, dimensions, offsets, sizes,
		                                          groups, wait_count, waits, event);
		if (code == CL_SUCCESS) {
			blocks_lanes(dimensions, sizes, locals, pair->row);
			launched(pair, queue, items_of(dimensions, sizes));
			return code;
		}
	}
	cl_int result = blocks_next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offsets,
	                                                   sizes, locals, wait_count, waits, event);
	if (result == CL_SUCCESS) {
		if (twin != NULL)
			launch_failed(pair, code);
		count(pair, false, 0);
	}
	return result;
}

static CL_API_ENTRY cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel,
                                            cl_uint wait_count, const cl_event *waits,
                                            cl_event *event)
{
	cl_kernel twin;
	struct pair *pair = find_on(kernel, queue, &twin);
	cl_int code = CL_SUCCESS;

	if (twin != NULL) {
		code = blocks_next.clEnqueueTask(queue, twin, wait_count, waits, event);
		if (code == CL_SUCCESS) {
			launched(pair, queue, 1);
			return code;
		}
	}
	cl_int result = blocks_next.clEnqueueTask(queue, kernel, wait_count, waits, event);
	if (result == CL_SUCCESS) {
		if (twin != NULL)
			launch_failed(pair, code);
		count(pair, false, 0);
	}
	return result;
}

static CL_API_ENTRY cl_int CL_API_CALL specialise(cl_program program, cl_uint id, size_t bytes,
                                                  const void *value)
{
	blocks_specialised(program);
	return blocks_next.clSetProgramSpecializationConstant(program, id, bytes, value);
}

// Functions that set arguments, or launch, in ways that are not wrapped.
static void asked_for(const char *name)
{
	static const char setting[] = "clSetKernel", commands[] = "clCommand";

	if (name != NULL && strncmp(name, setting, sizeof setting - 1) == 0)
		blocks_stop_twins();
	if (name != NULL && strncmp(name, commands, sizeof commands - 1) == 0)
		__atomic_store_n(&blocks_counts->command_buffers, 1, __ATOMIC_RELAXED);
}

static CL_API_ENTRY void *CL_API_CALL extension(const char *name)
{
	asked_for(name);
	return blocks_next.clGetExtensionFunctionAddress(name);
}

static CL_API_ENTRY void *CL_API_CALL extension_for(cl_platform_id platform, const char *name)
{
	asked_for(name);
	return blocks_next.clGetExtensionFunctionAddressForPlatform(platform, name);
}

void blocks_wrap(cl_icd_dispatch *table)
{
	BLOCKS_WRAP(table, clCreateKernel, create);
	BLOCKS_WRAP(table, clCreateKernelsInProgram, create_all);
	BLOCKS_WRAP(table, clCloneKernel, clone);
	BLOCKS_WRAP(table, clReleaseKernel, release);
	BLOCKS_WRAP(table, clSetKernelArg, set_argument);
	BLOCKS_WRAP(table, clSetKernelArgSVMPointer, set_pointer);
	BLOCKS_WRAP(table, clSetKernelExecInfo, set_info);
	BLOCKS_WRAP(table, clEnqueueNDRangeKernel, launch);
	BLOCKS_WRAP(table, clEnqueueTask, task);
	BLOCKS_WRAP(table, clSetProgramSpecializationConstant, specialise);
	BLOCKS_WRAP(table, clGetExtensionFunctionAddress, extension);
	BLOCKS_WRAP(table, clGetExtensionFunctionAddressForPlatform, extension_for);
	blocks_wrap_binaries(table);
	blocks_wrap_parts(table);
	blocks_wrap_options(table);
	if (stage == BLOCKS_COUNT)
		blocks_wrap_waits(table);
}
