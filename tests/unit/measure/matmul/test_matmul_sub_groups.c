// SPDX-License-Identifier: Apache-2.0
// The kernel of sub-groups, where there are none: the first OpenCL device gets them by barriers and
// a buffer behind c. All work-items of a group must then take the same turns, so groups are of one
// sub-group, or matrices of as many blocks as make all of them take as many.
#include "backend/call.h"
#include "backend/kernels.h"
#include "measure/matmul/check.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { C, A, B, MATRICES };
enum { MOST_ITEMS = 1 << 16 }; // of a launch, a slot each

static const char emulation[] =
    "float emulated(global float *slots, float value, uint lane);\n"
    "float emulated(global float *slots, float value, uint lane)\n"
    "{\n"
    "	uint item = get_local_id(0);\n"
    "	slots += get_group_id(1) * get_global_size(0) + get_group_id(0) * get_local_size(0);\n"
    "	slots[item] = value;\n"
    "	barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "	float other = slots[item / SIZE * SIZE + lane];\n"
    "	barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "	return other;\n"
    "}\n"
    "#define SUB_GROUP_SIZE() SIZE\n"
    "#define SUB_GROUP_ID() (LOCAL_ID(0) / SIZE)\n"
    "#define SUB_GROUP_LANE() (LOCAL_ID(0) % SIZE)\n"
    "#define SUB_GROUP_BROADCAST(value, lane) emulated(c + n * n, (value), (lane))\n";

static struct tare_error error;
static struct tare_device *device;
static struct tare_queue *queue;

static void must(int status)
{
	if (status < 0)
		fail_msg("%s", error.message);
}

static void copy(struct tare_memory *from, struct tare_memory *to, uint64_t bytes)
{
	struct tare_operation operation = { .type = TARE_OPERATION_COPY,
		                            .source = { from, 0, bytes },
		                            .destination = { to, 0, bytes } };

	must(tare_append(queue, &operation, NULL, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
}

static struct tare_kernel *build(uint32_t size, struct tare_module **module)
{
	struct tare_module_source source;
	struct tare_kernel *kernel = NULL;
	char *text;
	int length;

	must(tare_kernel_source("matmul_sub_groups", TARE_MODULE_OPENCL_C, &source, &error));
	length = asprintf(&text, "#define SIZE %uu\n%s%.*s", size, emulation, (int)source.bytes,
	                  (const char *)source.data);
	assert_true(length > 0);
	source.data = text;
	source.bytes = (size_t)length;
	must(tare_module_create(device, &source, module, NULL, &error));
	must(tare_kernel_create(*module, "matmul_sub_groups", &kernel, &error));
	free(text);
	return kernel;
}

static void launch(struct tare_kernel *kernel, uint32_t n, uint32_t group, uint32_t groups,
                   struct tare_memory *const memory[MATRICES])
{
	struct tare_argument arguments[4];
	struct tare_operation operation = {
		.type = TARE_OPERATION_LAUNCH,
		.launch = { kernel, { groups, groups, 1 }, { group, 1, 1 }, arguments, 4 }
	};

	for (int i = 0; i < MATRICES; i++)
		arguments[i] = (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY,
			                               .span = { memory[i], 0, 0 } };
	arguments[3] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_VALUE, .value = &n, .bytes = sizeof n };
	must(tare_append(queue, &operation, NULL, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
}

static void multiply(uint32_t n, uint32_t size, uint32_t group, uint32_t groups)
{
	uint64_t bytes = (uint64_t)n * n * sizeof(float);
	struct tare_memory *there[MATRICES], *here[MATRICES];
	struct matmul_reference reference;
	struct matmul_mismatch wrong;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = build(size, &module);

	for (int i = 0; i < MATRICES; i++) {
		uint64_t more = i == C ? MOST_ITEMS * sizeof(float) : 0;
		must(tare_memory_create(device, TARE_MEMORY_DEVICE, bytes + more, &there[i],
		                        &error));
		must(tare_memory_create(device, TARE_MEMORY_PAGEABLE, bytes, &here[i], &error));
		for (uint64_t k = 0; k < (uint64_t)n * n; k++)
			((float *)here[i]->host)[k] =
			    i == C ? NAN
			           : (float)((k * 2654435761u + (uint32_t)i) % 2001) / 1000 - 1;
		copy(here[i], there[i], bytes);
	}
	launch(kernel, n, group, groups, there);
	copy(there[C], here[C], bytes);
	assert_int_equal(
	    matmul_reference_make(here[A]->host, here[B]->host, n, 1, 0x1p-24, &reference), 0);
	if (!matmul_check(&reference, here[C]->host, &wrong))
		fail_msg(
		    "n = %u, sub-groups of %u in groups of %u: row %u, column %u is %g, not %g", n,
		    size, group, wrong.row, wrong.column, wrong.got, wrong.expected);
	matmul_reference_free(&reference);
	for (int i = 0; i < MATRICES; i++) {
		tare_memory_free(there[i]);
		tare_memory_free(here[i]);
	}
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void products_are_right_for_sub_groups_of_any_size(void **state)
{
	// Of 24: not all columns of a tile are those of one sub-group's blocks.
	static const struct {
		uint32_t n, size, group, groups;
	} rows[] = {
		{ 1, 8, 8, 1 },      { 7, 8, 8, 1 },     { 33, 8, 8, 1 },     { 65, 16, 16, 2 },
		{ 100, 32, 32, 2 },  { 50, 24, 24, 1 },  { 129, 64, 64, 3 },  { 64, 32, 128, 1 },
		{ 128, 32, 128, 2 }, { 64, 16, 128, 1 }, { 30, 128, 128, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		multiply(rows[i].n, rows[i].size, rows[i].group, rows[i].groups);
}

static void a_language_without_sub_groups_has_no_such_kernel(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	int status = tare_kernel_build(device, "matmul_sub_groups", "matmul_sub_groups", &module,
	                               &kernel, NULL, &error);

	(void)state;
	if (status == 0)
		skip(); // this driver has them
	assert_non_null(strstr(error.message, "no kernel 'matmul_sub_groups'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right_for_sub_groups_of_any_size),
		cmocka_unit_test(a_language_without_sub_groups_has_no_such_kernel),
	};
	const struct tare_backend *backend = tare_backend_find("opencl");
	struct tare_driver *driver = NULL;
	int status = backend ? backend->driver_open(NULL, &driver, &error) : -ENODEV;

	if (status == 0)
		status = backend->device_open(driver, 0, &device, &error);
	if (status == 0)
		status =
		    tare_queue_create(device, &(struct tare_queue_options){ 0 }, &queue, &error);
	if (status < 0) {
		printf("1..0 # SKIP no OpenCL device: %s\n", error.message);
		return 0;
	}
	status = cmocka_run_group_tests(tests, NULL, NULL);
	tare_queue_free(queue);
	backend->device_close(device);
	backend->driver_close(driver);
	return status;
}
