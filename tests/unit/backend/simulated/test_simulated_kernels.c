// SPDX-License-Identifier: Apache-2.0
// The simulated device: what kernels with arguments cost, and what they compute, against plain
// loops in the words of kernels/overlap.c and kernels/matmul.c.
#include "simulated_device.h"

#include <math.h>

static int open_kernels(void **state)
{
	(void)state;
	open_script("kernels");
	return 0;
}

#define with_kernels(test) cmocka_unit_test_setup_teardown(test, open_kernels, close_any)

struct loaded {
	struct tare_module *module;
	struct tare_kernel *kernel;
	struct tare_queue *queue;
	struct tare_argument arguments[8];
	struct tare_operation launch;
};

static void load(struct loaded *loaded, const char *name)
{
	struct tare_module_source source = { .format = TARE_MODULE_NATIVE,
		                             .data = name,
		                             .bytes = strlen(name) };
	memset(loaded, 0, sizeof *loaded);
	must(tare_module_create(device, &source, &loaded->module, NULL, &error));
	must(tare_kernel_create(loaded->module, name, &loaded->kernel, &error));
	loaded->queue = queue_of(TARE_QUEUE_IN_ORDER);
	loaded->launch.type = TARE_OPERATION_LAUNCH;
	loaded->launch.launch =
	    (struct tare_launch){ loaded->kernel, { 1, 1, 1 }, { 1, 1, 1 }, loaded->arguments, 0 };
}

static void unload(struct loaded *loaded)
{
	tare_queue_free(loaded->queue);
	tare_kernel_free(loaded->kernel);
	tare_module_free(loaded->module);
}

static void give_memory(struct loaded *loaded, struct tare_memory *memory, uint64_t offset)
{
	loaded->arguments[loaded->launch.launch.argument_count++] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY, .span = { memory, offset, 0 } };
}

static void give_value(struct loaded *loaded, const void *value, size_t bytes)
{
	loaded->arguments[loaded->launch.launch.argument_count++] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_VALUE, .value = value, .bytes = bytes };
}

static void refused(struct loaded *loaded, const char *words)
{
	assert_int_equal(tare_append(loaded->queue, &loaded->launch, NULL, &error), -EINVAL);
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static void overlap_loops_compute_what_their_source_says(void **state)
{
	enum { ITEMS = 1000, OFFSET = 3 };
	static const struct {
		const char *kernel;
		uint32_t first, count, groups;
		int32_t add, cycles;
	} rows[] = {
		{ "overlap_volatile", 0, ITEMS, 4, 5, 100 },
		{ "overlap_volatile", 10, 300, 2, -7, 123 },
		{ "overlap_volatile", 0, ITEMS, 4, 2000000000, 17 }, // wraps round
		{ "overlap_volatile", 0, ITEMS, 4, 5, 0 },
		{ "overlap_register", 0, ITEMS, 4, 12345, 1 },
		{ "overlap_register", 500, 500, 2, 12345, 1000 },
		{ "overlap_register", 999, 1, 1, -1, 1023 },
		{ "overlap_register", 0, ITEMS, 3, 1, 64 }, // fewer work-items than items
		{ "overlap_handbook", 7, 900, 1, 3, 5 },
		{ "overlap_register", 0, ITEMS, 4, 1, -3 },
		{ "overlap_register", ITEMS, 0, 1, 1, 3 },
	};
	struct tare_memory *in = memory_of(TARE_MEMORY_PINNED, OFFSET + ITEMS * 4);
	struct tare_memory *out = memory_of(TARE_MEMORY_PINNED, ITEMS * 4);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct loaded l;
		int32_t input[ITEMS], output[ITEMS], before[ITEMS];
		bool is_volatile = strcmp(rows[i].kernel, "overlap_register") != 0;
		for (uint32_t j = 0; j < ITEMS; j++) {
			input[j] = (int32_t)(j * 2654435761u);
			before[j] = (int32_t)(j ^ 0x5a5a5a5au);
		}
		memcpy((char *)in->host + OFFSET, input, sizeof input);
		memcpy(out->host, before, sizeof before);
		load(&l, rows[i].kernel);
		give_memory(&l, in, OFFSET); // a span may begin anywhere
		give_memory(&l, out, 0);
		give_value(&l, &rows[i].first, 4);
		give_value(&l, &rows[i].count, 4);
		give_value(&l, &rows[i].add, 4);
		give_value(&l, &rows[i].cycles, 4);
		l.launch.launch.groups[0] = rows[i].groups;
		l.launch.launch.group_size[0] = 256;
		must(tare_append(l.queue, &l.launch, NULL, &error));
		if (rows[i].cycles >= 0) {
			must(tare_finish(l.queue, LIMIT, &error));
		} else {
			// As unsigned it is four thousand million repeats: 1024 x 2^32 / 4 Gitem/s.
			must(tare_finish(l.queue, 40 * LIMIT, &error));
		}
		memcpy(output, out->host, sizeof output);
		for (uint32_t j = 0; j < ITEMS; j++) {
			uint32_t item = j - rows[i].first;
			if (j < rows[i].first || item >= rows[i].count) {
				assert_int_equal(output[j], before[j]);
				continue;
			}
			uint32_t value = (uint32_t)input[j];
			for (int32_t cycle = 0; cycle < rows[i].cycles; cycle++)
				value = is_volatile ? value + (uint32_t)rows[i].add
				                    : value * 1664525u + (uint32_t)rows[i].add;
			assert_int_equal((uint32_t)output[j], value);
		}
		unload(&l);
	}
	tare_memory_free(in);
	tare_memory_free(out);
}

static float *random_matrix(struct tare_memory *memory, uint32_t n, uint32_t seed)
{
	float *at = memory->host;
	for (uint32_t i = 0; i < n * n; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = (float)(int32_t)seed / 1e9f;
	}
	return at;
}

static void products_are_chains_of_fused_multiply_adds(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 15, 16, 17, 33, 100, 128 };
	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		uint32_t n = sizes[s];
		struct tare_memory *at[3];
		struct loaded l;
		for (int i = 0; i < 3; i++)
			at[i] = memory_of(TARE_MEMORY_PINNED, n * n * 4);
		const float *a = random_matrix(at[1], n, 1), *b = random_matrix(at[2], n, 2);
		load(&l, "matmul_naive");
		for (int i = 0; i < 3; i++)
			give_memory(&l, at[i], 0);
		give_value(&l, &n, 4);
		must(tare_append(l.queue, &l.launch, NULL, &error));
		must(tare_finish(l.queue, LIMIT, &error));
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++) {
				float sum = 0;
				for (uint32_t k = 0; k < n; k++)
					sum = fmaf(a[i * n + k], b[k * n + j], sum);
				assert_memory_equal((float *)at[0]->host + i * n + j, &sum, 4);
			}
		unload(&l);
		for (int i = 0; i < 3; i++)
			tare_memory_free(at[i]);
	}
}

static void multiply_and_check(struct loaded *l, struct tare_memory *const at[3], uint32_t n)
{
	const float *a = at[1]->host, *b = at[2]->host;

	memset(at[0]->host, 0xff, n * n * 4);
	must(tare_append(l->queue, &l->launch, NULL, &error));
	must(tare_finish(l->queue, LIMIT, &error));
	for (uint32_t i = 0; i < n; i += 17) {
		uint32_t j = (i * 31) % n;
		float sum = 0;
		for (uint32_t k = 0; k < n; k++)
			sum = fmaf(a[i * n + k], b[k * n + j], sum);
		assert_memory_equal((float *)at[0]->host + i * n + j, &sum, 4);
	}
}

// A product that was computed before is looked up: of these very matrices only.
static void a_product_is_of_its_own_matrices(void **state)
{
	uint32_t n = 256;
	struct tare_memory *at[3];
	struct loaded l;
	(void)state;
	for (int i = 0; i < 3; i++)
		at[i] = memory_of(TARE_MEMORY_PINNED, n * n * 4);
	random_matrix(at[1], n, 1);
	random_matrix(at[2], n, 2);
	load(&l, "matmul_naive");
	for (int i = 0; i < 3; i++)
		give_memory(&l, at[i], 0);
	give_value(&l, &n, 4);
	for (int round = 0; round < 4; round++) {
		multiply_and_check(&l, at, n);
		if (round == 1)
			random_matrix(at[1], n, 3);
		if (round == 2)
			random_matrix(at[2], n, 4);
	}
	unload(&l);
	for (int i = 0; i < 3; i++)
		tare_memory_free(at[i]);
}

static void one_element_is_summed_as_a_group_of_64_does(void **state)
{
	static const uint32_t sizes[] = { 1, 63, 64, 65, 130, 200 };
	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		uint32_t n = sizes[s], row = n / 2, column = n / 3;
		struct tare_memory *at[3];
		struct loaded l;
		float sums[64] = { 0 };
		for (int i = 0; i < 3; i++)
			at[i] = memory_of(TARE_MEMORY_PINNED, n * n * 4);
		const float *a = random_matrix(at[1], n, 3), *b = random_matrix(at[2], n, 4);
		float *c = at[0]->host;
		memset(c, 0, n * n * 4);
		load(&l, "matmul_element");
		for (int i = 0; i < 3; i++)
			give_memory(&l, at[i], 0);
		give_value(&l, &n, 4);
		give_value(&l, &row, 4);
		give_value(&l, &column, 4);
		must(tare_append(l.queue, &l.launch, NULL, &error));
		must(tare_finish(l.queue, LIMIT, &error));
		for (uint32_t item = 0; item < 64; item++)
			for (uint32_t k = item; k < n; k += 64)
				sums[item] = fmaf(a[row * n + k], b[k * n + column], sums[item]);
		for (uint32_t other = 32; other > 0; other /= 2)
			for (uint32_t item = 0; item < other; item++)
				sums[item] += sums[item + other];
		for (uint32_t i = 0; i < n * n; i++)
			assert_memory_equal(&c[i], i == row * n + column ? &sums[0] : &(float){ 0 },
			                    4);
		row = n;
		refused(&l, "is to compute row");
		unload(&l);
		for (int i = 0; i < 3; i++)
			tare_memory_free(at[i]);
	}
}

static void repeats_and_working_sets_cost_what_the_script_says(void **state)
{
	static const struct {
		uint64_t span;
		uint32_t repeats;
		int64_t ns;
	} rows[] = {
		{ 1024, 4, 2 * US + 256 }, // 256 items x 4 at 4 Gitem/s
		{ 1025, 4, 2 * US + 512 },   { 65536, 4, 2 * US + 512 },
		{ 65537, 4, 2 * US + 1024 }, { 65537, 0, 2 * US },
	};
	struct loaded l;
	uint32_t n = 8, first = 0, count = 256, cycles = 40;
	uint64_t long_cycles = 40;
	(void)state;
	load(&l, "wide");
	l.launch.launch.group_size[0] = 256;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		l.launch.launch.argument_count = 0;
		give_value(&l, &rows[i].span, 8);
		give_value(&l, &rows[i].repeats, 4);
		assert_int_equal(device_ns(l.queue, l.launch, NULL), rows[i].ns);
	}
	l.launch.launch.argument_count = 1;
	refused(&l, "argument 1 of kernel 'wide' says its cost ('repeat' of the script)");
	give_value(&l, &n, 2);
	refused(&l, "is a value of 4 or 8 bytes");
	l.arguments[1].bytes = 4;
	l.arguments[0].type = TARE_ARGUMENT_LOCAL;
	refused(&l, "argument 0 of kernel 'wide' says its cost ('span' of the script)");
	unload(&l);

	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1024);
	load(&l, "overlap_register");
	give_memory(&l, memory, 0);
	give_memory(&l, memory, 0);
	give_value(&l, &first, 4);
	give_value(&l, &count, 4);
	give_value(&l, &n, 4);
	refused(&l, "kernel 'overlap_register' takes 6 arguments, not 5");
	give_value(&l, &cycles, 4);
	l.launch.launch.group_size[0] = 256;
	assert_int_equal(device_ns(l.queue, l.launch, NULL), 2 * US + 256 * 40 / 4);
	l.arguments[5] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                                 .value = &long_cycles,
		                                 .bytes = 8 };
	refused(&l, "argument 5 of kernel 'overlap_register' is a value of 4 bytes");
	l.arguments[5] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_VALUE, .value = &cycles, .bytes = 4 };
	give_value(&l, &cycles, 4);
	refused(&l, "kernel 'overlap_register' takes 6 arguments, not 7");
	l.launch.launch.argument_count = 6;
	first = 1;
	refused(&l, "argument 0 of kernel 'overlap_register' is smaller than its grid");
	unload(&l);
	tare_memory_free(memory);
}

static void wrong_data_strikes_what_a_kernel_wrote(void **state)
{
	enum { ITEMS = 64, FIRST = 16, COUNT = 20 };
	struct tare_memory *in, *out;
	struct loaded l;
	uint32_t first = FIRST, count = COUNT, add = 0, cycles = 1, wrong = 0;
	(void)state;
	close_script();
	open_script("wrong-kernel");
	in = memory_of(TARE_MEMORY_PINNED, ITEMS * 4);
	out = memory_of(TARE_MEMORY_PINNED, ITEMS * 4);
	memset(in->host, 0, ITEMS * 4);
	memset(out->host, 0, ITEMS * 4);
	load(&l, "overlap_volatile");
	give_memory(&l, in, 0);
	give_memory(&l, out, 0);
	give_value(&l, &first, 4);
	give_value(&l, &count, 4);
	give_value(&l, &add, 4);
	give_value(&l, &cycles, 4);
	l.launch.launch.group_size[0] = 32;
	must(tare_append(l.queue, &l.launch, NULL, &error));
	must(tare_finish(l.queue, LIMIT, &error));
	for (uint32_t i = 0; i < ITEMS; i++) {
		uint32_t value = ((uint32_t *)out->host)[i];
		wrong += value != 0;
		assert_true(value == 0 || i == FIRST + COUNT / 2);
		assert_int_equal(((uint32_t *)in->host)[i], 0);
	}
	assert_int_equal(wrong, 1);
	unload(&l);
	tare_memory_free(in);
	tare_memory_free(out);
}

static void scripts_tell_how_many_arguments_there_are(void **state)
{
	struct tare_kernel_facts facts;
	struct tare_parameter parameter;
	struct loaded l;
	(void)state;
	load(&l, "matmul_naive");
	must(tare_kernel_facts(l.kernel, &facts, &error));
	assert_int_equal(facts.arguments, 4);
	assert_int_equal(tare_kernel_parameter(l.kernel, 3, &parameter, &error), -ENODATA);
	assert_int_equal(tare_kernel_parameter(l.kernel, 4, &parameter, &error), -EINVAL);
	unload(&l);
	load(&l, "wide");
	must(tare_kernel_facts(l.kernel, &facts, &error));
	assert_int_equal(facts.arguments, -1);
	unload(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_kernels(overlap_loops_compute_what_their_source_says),
		with_kernels(products_are_chains_of_fused_multiply_adds),
		with_kernels(a_product_is_of_its_own_matrices),
		with_kernels(one_element_is_summed_as_a_group_of_64_does),
		with_kernels(repeats_and_working_sets_cost_what_the_script_says),
		with_kernels(wrong_data_strikes_what_a_kernel_wrote),
		with_kernels(scripts_tell_how_many_arguments_there_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
