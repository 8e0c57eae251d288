// SPDX-License-Identifier: Apache-2.0
// Launches of the Level Zero CPU driver by entry points newer than the loader: with arguments, with
// parameters; and atomics by generic pointers. Arguments: the driver, and the folder with the .spv
// files.
#include "ze_cpu_kernels_rig.h"

#include "backend/levelzero/newer.h"

static struct rig rig;

static void *newer(const char *name)
{
	ze_driver_handle_t driver;
	uint32_t one = 1;
	void *address = NULL;

	assert_good(zeDriverGet(&one, &driver));
	assert_good(zeDriverGetExtensionFunctionAddress(driver, name, &address));
	assert_non_null(address);
	return address;
}

static levelzero_launch_with_arguments *with_arguments(void)
{
	return (levelzero_launch_with_arguments *)newer(
	    "zeCommandListAppendLaunchKernelWithArguments");
}

// Pointers, a size of local memory, and what the kernel keeps of them for a launch of the old kind.
static void arguments_come_with_the_launch(void **state)
{
	levelzero_launch_with_arguments *append = with_arguments();
	ze_kernel_handle_t turn = kernel_of(rig.module, "turn"),
	                   count = kernel_of(rig.module, "count");
	int numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, *at = numbers, counter = 0, *to = &counter,
	    step = 3;
	size_t local_bytes = 4 * sizeof(int);
	void *of_turn[] = { &at, &local_bytes }, *of_count[] = { &to, &step };

	(void)state;
	assert_good(append(rig.list, turn, (ze_group_count_t){ 2, 1, 1 },
	                   (struct levelzero_group_size){ 4, 1, 1 }, of_turn, NULL, NULL, 0, NULL));
	for (int i = 0; i < 8; i++)
		assert_int_equal(numbers[i], i / 4 * 4 + 3 - i % 4);
	assert_good(append(rig.list, count, (ze_group_count_t){ 3, 1, 1 },
	                   (struct levelzero_group_size){ 5, 1, 1 }, of_count, NULL, NULL, 0,
	                   NULL));
	assert_int_equal(counter, 15 * 3);
	assert_good(launch(&rig, count, 2, 1));
	assert_int_equal(counter, 25 * 3);
	zeKernelDestroy(turn);
	zeKernelDestroy(count);
}

// In a list the arguments are those of the append, whatever the next launch says.
static void arguments_are_read_at_the_append(void **state)
{
	levelzero_launch_with_arguments *append = with_arguments();
	ze_command_list_desc_t described = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_queue_desc_t of_queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                             .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
	ze_kernel_handle_t kernel = kernel_of(rig.module, "count");
	ze_command_list_handle_t list;
	ze_command_queue_handle_t queue;
	int counters[2] = { 0 }, *to, step;
	void *arguments[] = { &to, &step };

	(void)state;
	assert_good(zeCommandListCreate(rig.context, rig.device, &described, &list));
	assert_good(zeCommandQueueCreate(rig.context, rig.device, &of_queue, &queue));
	for (int i = 0; i < 2; i++) {
		to = &counters[i];
		step = 10 + i;
		assert_good(append(list, kernel, (ze_group_count_t){ 1, 1, 1 },
		                   (struct levelzero_group_size){ (uint32_t)i + 1, 1, 1 },
		                   arguments, NULL, NULL, 0, NULL));
	}
	to = NULL;
	assert_good(zeCommandListClose(list));
	for (int i = 1; i <= 3; i++) {
		assert_good(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
		assert_int_equal(counters[0], i * 10);
		assert_int_equal(counters[1], i * 2 * 11);
	}
	zeCommandListDestroy(list);
	zeCommandQueueDestroy(queue);
	zeKernelDestroy(kernel);
}

static void bad_arguments_are_refused(void **state)
{
	levelzero_launch_with_arguments *append = with_arguments();
	ze_kernel_handle_t kernel = kernel_of(rig.module, "count");
	int counter = 0, *to = &counter, step = 1;
	void *arguments[] = { &to, &step }, *missing[] = { &to, NULL };
	ze_base_desc_t unknown = { .stype = (ze_structure_type_t)0x7ffffff0 };
	ze_group_count_t groups = { 1, 1, 1 };
	const struct levelzero_group_size size = { 1, 1, 1 }, none = { 0, 1, 1 };
	const struct {
		ze_command_list_handle_t list;
		ze_kernel_handle_t kernel;
		const struct levelzero_group_size *size;
		void **arguments;
		const void *next;
		uint32_t waits;
		ze_result_t expected;
	} rows[] = {
		{ NULL, kernel, &size, arguments, NULL, 0, ZE_RESULT_ERROR_INVALID_NULL_HANDLE },
		{ rig.list, NULL, &size, arguments, NULL, 0, ZE_RESULT_ERROR_INVALID_NULL_HANDLE },
		{ rig.list, kernel, &none, arguments, NULL, 0,
		  ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION },
		{ rig.list, kernel, &size, NULL, NULL, 0, ZE_RESULT_ERROR_INVALID_ARGUMENT },
		{ rig.list, kernel, &size, missing, NULL, 0, ZE_RESULT_ERROR_INVALID_ARGUMENT },
		{ rig.list, kernel, &size, arguments, &unknown, 0,
		  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE },
		{ rig.list, kernel, &size, arguments, NULL, 1, ZE_RESULT_ERROR_INVALID_SIZE },
		{ rig.list, kernel, &size, arguments, NULL, 0, ZE_RESULT_SUCCESS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(counter, 0);
		assert_ze(rows[i].expected,
		          append(rows[i].list, rows[i].kernel, groups, *rows[i].size,
		                 rows[i].arguments, rows[i].next, NULL, rows[i].waits, NULL));
	}
	assert_int_equal(counter, 1);
	zeKernelDestroy(kernel);
}

// A cooperative launch by its parameter is one: of one group, since more do not surely run at once.
static void parameters_of_a_launch(void **state)
{
	levelzero_launch_with_parameters *append = (levelzero_launch_with_parameters *)newer(
	    "zeCommandListAppendLaunchKernelWithParameters");
	ze_kernel_handle_t kernel = kernel_of(rig.module, "count");
	struct levelzero_cooperative cooperative = { LEVELZERO_TYPE_COOPERATIVE, NULL, 1 };
	ze_base_desc_t unknown = { .stype = (ze_structure_type_t)0x7ffffff0 };
	ze_group_count_t one = { 1, 1, 1 }, two = { 2, 1, 1 };
	int counter = 0, *to = &counter, step = 1;

	(void)state;
	set(kernel, 0, to);
	set(kernel, 1, step);
	assert_good(append(rig.list, kernel, &two, NULL, NULL, 0, NULL));
	assert_int_equal(counter, 2);
	assert_good(append(rig.list, kernel, &one, &cooperative, NULL, 0, NULL));
	assert_int_equal(counter, 3);
	assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
	          append(rig.list, kernel, &two, &cooperative, NULL, 0, NULL));
	cooperative.cooperative = 0;
	assert_good(append(rig.list, kernel, &two, &cooperative, NULL, 0, NULL));
	assert_int_equal(counter, 5);
	cooperative.pNext = &unknown;
	assert_ze(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
	          append(rig.list, kernel, &two, &cooperative, NULL, 0, NULL));
	assert_ze(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
	          append(rig.list, kernel, NULL, NULL, NULL, 0, NULL));
	assert_int_equal(counter, 5);
	zeKernelDestroy(kernel);
}

// Atomics through pointers that may be to global and to local memory, in two work-groups.
static void generic_atomics(void **state)
{
	ze_module_handle_t module = module_of(&rig, "ze_cpu_atomics");
	ze_kernel_handle_t kernel = kernel_of(module, "count_all");
	enum { ITEMS = 64, GROUPS = 2 };
	int counts[8] = { [3] = 1000, [4] = -1 }, *at = counts;
	const int expected[8] = {
		ITEMS * GROUPS / 2 * 3, // odd items add to global memory
		ITEMS * GROUPS / 2 * 3, // even ones to local memory
		ITEMS * GROUPS - 1,     // the largest
		0,                      // the smallest
		5,                      // what was exchanged
		1,                      // a flag that one item found unset
		7,
		7, // stored, and loaded again
	};

	(void)state;
	set(kernel, 0, at);
	assert_good(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
	assert_good(launch(&rig, kernel, GROUPS, 1));
	for (int i = 0; i < 8; i++)
		if (counts[i] != expected[i])
			fail_msg("count %d is %d, not %d", i, counts[i], expected[i]);
	zeKernelDestroy(kernel);
	zeModuleDestroy(module);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_come_with_the_launch),
		cmocka_unit_test(arguments_are_read_at_the_append),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(parameters_of_a_launch),
		cmocka_unit_test(generic_atomics),
	};

	if (argc < 3 || !open_rig(&rig, argv[1], argv[2]))
		return 1;
	if (!open_kernels(&rig))
		return 0;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zeModuleDestroy(rig.module);
	zeCommandListDestroy(rig.list);
	zeContextDestroy(rig.context);
	return failed;
}
