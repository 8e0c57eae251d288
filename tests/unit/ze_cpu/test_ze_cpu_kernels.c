// SPDX-License-Identifier: Apache-2.0
// Kernels on the Level Zero CPU driver, through the loader. Arguments: the driver, and the folder
// with the .spv files made of tests/data/ze_cpu_*.cl.
#include "ze_cpu_kernels_rig.h"

#include <pthread.h>

static struct rig rig;

static void vector_add(void **state)
{
	enum { COUNT = 1000, OFFSET = 24 };
	ze_device_mem_alloc_desc_t of_device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t of_host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	ze_kernel_handle_t kernel = kernel_of(rig.module, "add");
	void *shared, *heap = malloc(COUNT * sizeof(float));
	float *a, *b = heap, *c = calloc(COUNT + OFFSET, sizeof *c), *at = c + OFFSET;
	uint32_t count = COUNT;

	(void)state;
	assert_good(zeMemAllocShared(rig.context, &of_device, &of_host,
	                             (COUNT + OFFSET) * sizeof *a, 64, rig.device, &shared));
	a = (float *)shared + OFFSET;
	for (int i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = (float)(3 * i);
	}
	set(kernel, 0, a);
	set(kernel, 1, b);
	set(kernel, 2, at);
	set(kernel, 3, count);
	assert_good(zeKernelSetGroupSize(kernel, 64, 1, 1));
	assert_good(launch(&rig, kernel, 16, 1));
	for (int i = 0; i < OFFSET; i++)
		assert_true(c[i] == 0);
	for (int i = 0; i < COUNT; i++)
		assert_true(at[i] == (float)(4 * i));
	zeKernelDestroy(kernel);
	zeMemFree(rig.context, shared);
	free(heap);
	free(c);
}

static void matmul(void **state)
{
	enum { SIDE = 32 };
	static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
	float *of_a = a, *of_b = b, *of_c = c;
	uint32_t side = SIDE;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "matmul");

	(void)state;
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = (float)(i % 7);
		b[i] = (float)(i % 5 - 2);
	}
	set(kernel, 0, of_a);
	set(kernel, 1, of_b);
	set(kernel, 2, of_c);
	set(kernel, 3, side);
	assert_good(zeKernelSetGroupSize(kernel, 8, 8, 1));
	assert_good(launch(&rig, kernel, SIDE / 8, SIDE / 8));
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++) {
			float sum = 0;
			for (int k = 0; k < SIDE; k++)
				sum += a[row * SIDE + k] * b[k * SIDE + column];
			assert_true(c[row * SIDE + column] == sum);
		}
	zeKernelDestroy(kernel);
}

static void local_pointer(void **state)
{
	int numbers[12], *at = numbers;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "turn");

	(void)state;
	for (int i = 0; i < 12; i++)
		numbers[i] = i;
	set(kernel, 0, at);
	assert_good(zeKernelSetGroupSize(kernel, 4, 1, 1));
	// Nothing was said of the local memory's size.
	assert_ze(ZE_RESULT_ERROR_INVALID_ARGUMENT, launch(&rig, kernel, 3, 1));
	assert_ze(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
	          zeKernelSetArgumentValue(kernel, 1, 0, NULL));
	assert_good(zeKernelSetArgumentValue(kernel, 1, (size_t)1 << 40, NULL));
	assert_ze(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, launch(&rig, kernel, 3, 1));
	assert_good(zeKernelSetArgumentValue(kernel, 1, 4 * sizeof(int), NULL));
	assert_good(launch(&rig, kernel, 3, 1));
	for (int i = 0; i < 12; i++)
		assert_int_equal(numbers[i], i / 4 * 4 + 3 - i % 4);
	zeKernelDestroy(kernel);
}

// Each fits, both do not; and their sum may not wrap.
static void too_much_local(void **state)
{
	ze_device_compute_properties_t device = { .stype =
		                                      ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES };
	ze_kernel_handle_t kernel = kernel_of(rig.module, "two_stores");
	int out = 0, *at = &out;

	(void)state;
	assert_good(zeDeviceGetComputeProperties(rig.device, &device));
	const struct {
		size_t bytes;
		ze_result_t expected;
	} rows[] = { { device.maxSharedLocalMemory, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY },
		     { (size_t)1 << 63, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY },
		     { 64, ZE_RESULT_SUCCESS } };
	set(kernel, 2, at);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_good(zeKernelSetArgumentValue(kernel, 0, rows[i].bytes, NULL));
		assert_good(zeKernelSetArgumentValue(kernel, 1, rows[i].bytes, NULL));
		assert_ze(rows[i].expected, launch(&rig, kernel, 1, 1));
	}
	assert_int_equal(out, 3);
	zeKernelDestroy(kernel);
}

// Atomics; and arguments are those of the append.
static void arguments_of_append(void **state)
{
	int counter = 5, other = 0, *at = &counter, *at_other = &other, step = 3, none = 0;
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
	ze_command_list_desc_t list_description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_group_count_t groups = { 10, 1, 1 };
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "count");

	(void)state;
	assert_good(zeCommandQueueCreate(rig.context, rig.device, &description, &queue));
	assert_good(zeCommandListCreate(rig.context, rig.device, &list_description, &list));
	assert_good(zeKernelSetGroupSize(kernel, 4, 1, 1));
	set(kernel, 0, at);
	set(kernel, 1, step);
	assert_good(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	set(kernel, 0, at_other);
	step = 1;
	set(kernel, 1, step);
	assert_good(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	set(kernel, 1, none);
	assert_good(zeKernelSetGroupSize(kernel, 1, 1, 1));
	// The kernel may go while the list has yet to run.
	assert_good(zeKernelDestroy(kernel));
	assert_good(zeCommandListClose(list));
	for (int i = 0; i < 2; i++)
		assert_good(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_good(zeCommandQueueSynchronize(queue, UINT64_MAX));
	assert_int_equal(counter, 5 + 2 * 40 * 3);
	assert_int_equal(other, 2 * 40);
	zeCommandListDestroy(list);
	zeCommandQueueDestroy(queue);
}

static void values(void **state)
{
	struct {
		int scale;
		float shift;
		long factors[4];
	} settings = { 4, 2.5f, { 1, -2, 3, 1L << 40 } };
	float __attribute__((aligned(16))) numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	float *at = numbers, factor[4] = { 2, 3, 4, 5 };
	long out[6] = { 0 }, *at_out = out;
	ze_kernel_handle_t vectors = kernel_of(rig.module, "vectors");
	ze_kernel_handle_t settings_of = kernel_of(rig.module, "settings_of");

	(void)state;
	set(vectors, 0, at);
	set(vectors, 1, factor);
	assert_good(launch(&rig, vectors, 2, 1));
	for (int i = 0; i < 8; i++)
		assert_true(numbers[i] == (float)((i + 1) * (i % 4 + 2) + i % 4 + 1));
	assert_ze(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
	          zeKernelSetArgumentValue(settings_of, 0, sizeof settings - 8, &settings));
	set(settings_of, 0, settings);
	set(settings_of, 1, at_out);
	settings.scale = -1;
	assert_good(launch(&rig, settings_of, 1, 1));
	assert_int_equal(out[0], 4);
	assert_int_equal(out[1], 2);
	assert_memory_equal(out + 2, settings.factors, sizeof settings.factors);
	zeKernelDestroy(vectors);
	zeKernelDestroy(settings_of);
}

static void grid(void **state)
{
	uint32_t out[4] = { 0 }, mark = 100, *at = out, x, y, z;
	ze_kernel_handle_t where = kernel_of(rig.module, "where");
	ze_kernel_handle_t shaped = kernel_of(rig.module, "shaped");

	(void)state;
	set(where, 0, at);
	set(where, 1, mark);
	assert_good(zeKernelSetGlobalOffsetExp(where, 7, 0, 0));
	assert_good(zeKernelSetGroupSize(where, 2, 1, 1));
	assert_good(launch(&rig, where, 2, 1));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(out[i], 107 + i);
	// No groups: nothing runs.
	mark = 0;
	set(where, 1, mark);
	assert_good(launch(&rig, where, 0, 1));
	assert_int_equal(out[0], 107);

	set(shaped, 0, at);
	assert_good(zeKernelSuggestGroupSize(shaped, 8, 2, 1, &x, &y, &z));
	assert_true(x == 4 && y == 2 && z == 1);
	assert_ze(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
	          zeKernelSetGroupSize(shaped, 2, 2, 1));
	assert_good(launch(&rig, shaped, 2, 1));
	assert_int_equal(out[0], 42);
	assert_int_equal(out[1], 42);
	zeKernelDestroy(where);
	zeKernelDestroy(shaped);
}

static void null_pointer(void **state)
{
	int out = -1, *at = &out;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "is_null");

	(void)state;
	assert_good(zeKernelSetArgumentValue(kernel, 0, sizeof at, NULL));
	set(kernel, 1, at);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out, 1);
	set(kernel, 0, at);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out, 0);
	at = NULL;
	set(kernel, 0, at);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out, 1);
	zeKernelDestroy(kernel);
}

static void refusals(void **state)
{
	ze_kernel_handle_t kernel = kernel_of(rig.module, "add"), none = NULL;
	ze_kernel_desc_t description = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                         .pKernelName = "nobody" };
	ze_device_compute_properties_t device = { .stype =
		                                      ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES };
	uint64_t wide[2] = { 0, 0 };
	uint32_t x, y, z;

	(void)state;
	assert_good(zeDeviceGetComputeProperties(rig.device, &device));
	const struct {
		uint32_t x, y, z;
	} sizes[] = { { 0, 1, 1 },
		      { 1, 0, 1 },
		      { 1, 1, 0 },
		      { device.maxGroupSizeX + 1, 1, 1 },
		      { device.maxTotalGroupSize, 2, 1 },
		      { UINT32_MAX, UINT32_MAX, UINT32_MAX } };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_ze(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
		          zeKernelSetGroupSize(kernel, sizes[i].x, sizes[i].y, sizes[i].z));
	const struct {
		uint32_t index;
		size_t bytes;
		ze_result_t expected;
	} arguments[] = { { 0, 4, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE },
		          { 0, 16, ZE_RESULT_SUCCESS },
		          { 3, 2, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE },
		          { 3, 8, ZE_RESULT_SUCCESS },
		          { 3, 0, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE },
		          { 4, 4, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX },
		          { UINT32_MAX, 4, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX },
		          { 3, 4, ZE_RESULT_SUCCESS } };
	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		assert_ze(
		    arguments[i].expected,
		    zeKernelSetArgumentValue(kernel, arguments[i].index, arguments[i].bytes, wide));
	assert_ze(ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
	          zeKernelCreate(rig.module, &description, &none));
	assert_null(none);
	assert_ze(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
	          zeKernelSuggestGroupSize(kernel, 0, 1, 1, &x, &y, &z));
	zeKernelDestroy(kernel);
}

// More bytes than the parameters have: theirs are taken, from the first on.
static void larger_arguments(void **state)
{
	ze_kernel_handle_t kernel = kernel_of(rig.module, "count");
	int counter = 5;
	struct {
		int *at;
		long rest;
	} to = { &counter, -1 };
	struct {
		int step;
		int rest[8];
	} by = { 3, { -1, -1, -1, -1, -1, -1, -1, -1 } };

	(void)state;
	set(kernel, 0, to);
	set(kernel, 1, by);
	assert_good(zeKernelSetGroupSize(kernel, 4, 1, 1));
	assert_good(launch(&rig, kernel, 2, 1));
	assert_int_equal(counter, 5 + 8 * 3);
	zeKernelDestroy(kernel);
}

static void properties(void **state)
{
	ze_kernel_handle_t add = kernel_of(rig.module, "add"),
	                   shaped = kernel_of(rig.module, "shaped");
	ze_kernel_properties_t of_add = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	ze_kernel_properties_t of_shaped = of_add;
	const char *names[32];
	char name[8] = "", *attributes = NULL;
	uint32_t count = 0, bytes = 0, x, y, z;
	size_t size = 0;

	(void)state;
	assert_good(zeKernelGetProperties(add, &of_add));
	assert_good(zeKernelGetProperties(shaped, &of_shaped));
	assert_int_equal(of_add.numKernelArgs, 4);
	assert_int_equal(of_add.requiredGroupSizeX, 0);
	assert_int_equal(of_shaped.numKernelArgs, 1);
	assert_int_equal(of_shaped.requiredGroupSizeX, 4);
	assert_int_equal(of_shaped.requiredGroupSizeY, 2);
	assert_int_equal(of_shaped.requiredGroupSizeZ, 1);
	assert_true(of_add.maxSubgroupSize > 0 && of_add.maxNumSubgroups > 0);
	assert_memory_equal(of_add.uuid.mid, of_shaped.uuid.mid, sizeof of_add.uuid.mid);
	assert_memory_not_equal(of_add.uuid.kid, of_shaped.uuid.kid, sizeof of_add.uuid.kid);
	assert_good(zeKernelGetName(add, &size, NULL));
	assert_int_equal(size, 4);
	assert_good(zeKernelGetName(add, &size, name));
	assert_string_equal(name, "add");
	assert_good(zeKernelGetSourceAttributes(shaped, &bytes, &attributes));
	assert_string_equal(attributes, "reqd_work_group_size(4,2,1)");
	assert_int_equal(bytes, strlen(attributes) + 1);
	assert_good(zeModuleGetKernelNames(rig.module, &count, NULL));
	assert_int_equal(count, 14);
	assert_good(zeModuleGetKernelNames(rig.module, &count, names));
	assert_string_equal(names[0], "add");
	const uint32_t items[][3] = { { 1024, 1, 1 },
		                      { 1000003, 1, 1 },
		                      { 60, 60, 60 },
		                      { UINT32_MAX, UINT32_MAX, UINT32_MAX } };
	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		assert_good(zeKernelSuggestGroupSize(add, items[i][0], items[i][1], items[i][2], &x,
		                                     &y, &z));
		assert_true(items[i][0] % x == 0 && items[i][1] % y == 0 && items[i][2] % z == 0);
		assert_good(zeKernelSetGroupSize(add, x, y, z));
	}
	zeKernelDestroy(add);
	zeKernelDestroy(shaped);
}

// Each kernel has its own; and no kernel waits for several groups at once.
static void local_and_cooperative(void **state)
{
	const char *names[] = { "add", "matmul" };
	const uint32_t bytes[] = { 0, 2 * 8 * 8 * sizeof(float) };
	ze_group_count_t groups = { 1, 1, 2 };
	ze_command_queue_group_properties_t group = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES
	};
	uint32_t count = 1;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		ze_kernel_handle_t kernel = kernel_of(rig.module, names[i]);
		ze_kernel_properties_t facts = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
		assert_good(zeKernelGetProperties(kernel, &facts));
		assert_int_equal(facts.localMemSize, bytes[i]);
		assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
		          zeCommandListAppendLaunchCooperativeKernel(rig.list, kernel, &groups,
		                                                     NULL, 0, NULL));
		zeKernelDestroy(kernel);
	}
	assert_good(zeDeviceGetCommandQueueGroupProperties(rig.device, &count, &group));
	assert_false(group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS);
}

static void no_function_pointers(void **state)
{
	void *function = &rig;

	(void)state;
	assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
	          zeModuleGetFunctionPointer(rig.module, "add", &function));
	assert_null(function);
	assert_ze(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME,
	          zeModuleGetFunctionPointer(rig.module, "nobody", &function));
}

static void sampler(void **state)
{
	int out = 0, *at = &out;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "sampled");
	char *attributes = NULL;
	uint32_t bytes = 0;

	(void)state;
	set(kernel, 1, at);
	assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeKernelSetArgumentValue(kernel, 0, 8, &at));
	assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, launch(&rig, kernel, 1, 1));
	assert_good(zeKernelGetSourceAttributes(kernel, &bytes, &attributes));
	assert_string_equal(attributes, "work_group_size_hint(16,1,1)");
	zeKernelDestroy(kernel);
}

struct thread_work {
	pthread_t thread;
	int first, wrong;
};

// A queue and a kernel a thread, all of one module, each with its own arguments.
static void *launch_often(void *argument)
{
	struct thread_work *work = argument;
	struct rig own = rig;
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
	ze_kernel_desc_t named = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                   .pKernelName = "write_at" };
	ze_kernel_handle_t kernel;
	int out[64], *at = out;

	if (zeCommandListCreateImmediate(rig.context, rig.device, &description, &own.list) ||
	    zeKernelCreate(rig.module, &named, &kernel)) {
		work->wrong = -1;
		return NULL;
	}
	zeKernelSetGroupSize(kernel, 8, 1, 1);
	for (int round = 0; round < 8; round++) {
		int value = work->first + round;
		memset(out, 0, sizeof out);
		zeKernelSetArgumentValue(kernel, 0, sizeof at, &at);
		zeKernelSetArgumentValue(kernel, 1, sizeof value, &value);
		work->wrong += launch(&own, kernel, 8, 1) != ZE_RESULT_SUCCESS;
		for (int i = 0; i < 64; i++)
			work->wrong += out[i] != value;
	}
	zeKernelDestroy(kernel);
	zeCommandListDestroy(own.list);
	return NULL;
}

static void many_threads(void **state)
{
	enum { THREADS = 64 };
	struct thread_work work[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		work[i] = (struct thread_work){ .first = 1000 * (i + 1) };
		assert_int_equal(pthread_create(&work[i].thread, NULL, launch_often, &work[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(work[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(work[i].wrong, 0);
}

// GPUs do not trap on it either.
static void division_by_zero(void **state)
{
	int out[2] = { 0 }, *at = out, by = 0;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "divide");

	(void)state;
	set(kernel, 0, at);
	set(kernel, 1, by);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out[1], 7);
	by = 20;
	set(kernel, 1, by);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out[0], 5);
	zeKernelDestroy(kernel);
}

// On a stack of a few megabytes eight of these would end the program; 64 are refused.
static void large_private_memory(void **state)
{
	int out[64] = { 0 }, *at = out, count = 100;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "large");
	ze_kernel_properties_t facts = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };

	(void)state;
	assert_good(zeKernelGetProperties(kernel, &facts));
	assert_true(facts.privateMemSize >= 4 << 20);
	set(kernel, 0, at);
	set(kernel, 1, count);
	assert_good(zeKernelSetGroupSize(kernel, 8, 1, 1));
	assert_good(launch(&rig, kernel, 1, 1));
	for (int i = 0; i < 8; i++)
		assert_int_equal(out[i], 4950);
	assert_good(zeKernelSetGroupSize(kernel, 64, 1, 1));
	assert_ze(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, launch(&rig, kernel, 1, 1));
	zeKernelDestroy(kernel);
}

// mad, ldexp and sqrt of halves, fmax of four and trunc of three.
static void halves(void **state)
{
	static const uint16_t values[4] = { 0x3e00, 0x4000, 0x3400, 0x4400 }; // 1.5, 2, 0.25, 4
	static const uint16_t expected[12] = {
		0x4280, 0x4000, 0x4200, 0, 0x4400, 0x4000, 0x4000, 0x4400, 0x3c00, 0x4000, 0, 0,
	};
	_Alignas(16) uint16_t in[4], out[12] = { 0 };
	uint16_t *from = in, *to = out;
	ze_module_handle_t module = module_of(&rig, "ze_cpu_half");
	ze_kernel_handle_t kernel = kernel_of(module, "halves");

	(void)state;
	memcpy(in, values, sizeof in);
	set(kernel, 0, to);
	set(kernel, 1, from);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_memory_equal(out, expected, sizeof out);
	zeKernelDestroy(kernel);
	zeModuleDestroy(module);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_add),
		cmocka_unit_test(matmul),
		cmocka_unit_test(local_pointer),
		cmocka_unit_test(too_much_local),
		cmocka_unit_test(arguments_of_append),
		cmocka_unit_test(values),
		cmocka_unit_test(grid),
		cmocka_unit_test(null_pointer),
		cmocka_unit_test(refusals),
		cmocka_unit_test(larger_arguments),
		cmocka_unit_test(properties),
		cmocka_unit_test(local_and_cooperative),
		cmocka_unit_test(no_function_pointers),
		cmocka_unit_test(sampler),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(division_by_zero),
		cmocka_unit_test(large_private_memory),
		cmocka_unit_test(halves),
	};

	if (count != 3) {
		fprintf(stderr, "usage: %s DRIVER SPIRV-FOLDER\n", arguments[0]);
		return 2;
	}
	if (!open_rig(&rig, arguments[1], arguments[2]))
		return 1;
	if (!open_kernels(&rig))
		return 0;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zeModuleDestroy(rig.module);
	zeCommandListDestroy(rig.list);
	zeContextDestroy(rig.context);
	return failed;
}
