// SPDX-License-Identifier: Apache-2.0
// The simulated device: each scripted fault strikes where the script says, and misuse is refused.
#include "simulated_device.h"

// Appends `count` small pinned copies and finishes; the status of the first call that fails.
static int copy_often(int count, int *failed_at)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 64);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 64);
	int status = 0;
	for (*failed_at = 1; *failed_at <= count; ++*failed_at) {
		struct tare_operation write = copy_of(pinned, 0, memory, 0, 64);
		status = tare_append(queue, &write, NULL, &error);
		if (status == 0)
			status = tare_finish(queue, LIMIT, &error);
		if (status < 0)
			break;
	}
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_queue_free(queue);
	return status;
}

static void scripted_faults_strike_where_they_say(void **state)
{
	int at;
	struct tare_clock_pair pair;
	struct tare_clock_rate rate;
	struct tare_memory *memory = NULL;
	(void)state;
	open_script("device-lost");
	assert_int_equal(copy_often(600, &at), -ENODEV);
	assert_int_equal(at, 500);
	assert_non_null(strstr(error.message, "lost"));
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, 1, &memory, &error),
	                 -ENODEV);
	assert_int_equal(tare_clock_pair(device, &pair, &error), -ENODEV);
	close_script();

	open_script("failure");
	assert_int_equal(copy_often(600, &at), -EIO);
	assert_int_equal(at, 10);
	close_script();

	open_script("hang");
	int64_t begin = now_ns();
	assert_int_equal(copy_often(600, &at), -ETIMEDOUT);
	assert_non_null(strstr(error.message, "not done after 30 s"));
	assert_int_equal(at, 30);
	assert_true(now_ns() - begin >= LIMIT);
	close_script();

	open_script("no-pairs");
	assert_int_equal(tare_clock_pair(device, &pair, &error), -ENOTSUP);
	assert_int_equal(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error), -ENOTSUP);
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
	close_script();

	open_script("out-of-memory");
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, MB + 1, &memory, &error),
	                 -ENOMEM);
	must(tare_memory_create(device, TARE_MEMORY_DEVICE, MB, &memory, &error));
	tare_memory_free(memory);
	close_script();
}

static void wrong_data_is_one_bit_of_one_operation(void **state)
{
	struct tare_queue *queue;
	struct tare_memory *pinned, *memory, *back;
	int wrong = 0;
	(void)state;
	open_script("wrong-data");
	queue = queue_of(TARE_QUEUE_IN_ORDER);
	pinned = memory_of(TARE_MEMORY_PINNED, 4096);
	back = memory_of(TARE_MEMORY_PINNED, 4096);
	memory = memory_of(TARE_MEMORY_DEVICE, 4096);
	memset(pinned->host, 0x55, 4096);
	for (int i = 1; i <= 40; i += 2) {
		struct tare_operation there = copy_of(pinned, 0, memory, 0, 4096);
		struct tare_operation again = copy_of(memory, 0, back, 0, 4096);
		must(tare_append(queue, &there, NULL, &error));
		must(tare_append(queue, &again, NULL, &error));
		must(tare_finish(queue, LIMIT, &error));
		if (memcmp(pinned->host, back->host, 4096) != 0) {
			wrong++;
			assert_int_equal(i + 1, 20);
			assert_int_equal(((unsigned char *)back->host)[2048], 0x54);
		}
	}
	assert_int_equal(wrong, 1);
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_memory_free(back);
	tare_queue_free(queue);
	close_script();
}

static void what_is_not_profiled_or_built_says_so(void **state)
{
	struct tare_queue *queue;
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	struct tare_clock_rate rate;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_module_source source = { .format = TARE_MODULE_NATIVE,
		                             .data = "empty",
		                             .bytes = 5 };
	struct tare_module *module = NULL;
	char *log = NULL;
	(void)state;
	open_script("no-profiling");
	queue = queue_of(TARE_QUEUE_IN_ORDER);
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_int_equal(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error), -ENOTSUP);
	tare_event_free(event);
	source.format = TARE_MODULE_OPENCL_C;
	assert_int_equal(tare_module_create(device, &source, &module, &log, &error), -ENOTSUP);
	source = (struct tare_module_source){ TARE_MODULE_NATIVE, "nothing", 7, NULL };
	assert_int_equal(tare_module_create(device, &source, &module, &log, &error), -EINVAL);
	assert_non_null(strstr(log, "nothing"));
	free(log);
	tare_queue_free(queue);
	close_script();
	open_script("build-failure");
	source = (struct tare_module_source){ TARE_MODULE_NATIVE, "empty", 5, NULL };
	assert_int_equal(tare_module_create(device, &source, &module, &log, &error), -EINVAL);
	assert_string_equal(log, "line 1: error: scripted");
	free(log);
	close_script();
}

static void misuse_is_refused(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 4096);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 4096);
	struct tare_memory *large = NULL;
	struct tare_operation rows[] = {
		copy_of(pinned, 1, memory, 0, 4096),
		copy_of(pinned, 0, memory, 4097, 0),
		copy_of(pinned, UINT64_MAX, memory, 0, 2),
		copy_of(NULL, 0, memory, 0, 1),
		copy_of(pinned, 0, NULL, 0, 1),
		{ .type = TARE_OPERATION_UNMAP, .destination = { memory, 0, 1 } },
		{ .type = TARE_OPERATION_FILL,
		  .destination = { memory, 0, 5 },
		  .fill = { "ab", 2 } },
		{ .type = TARE_OPERATION_FILL,
		  .destination = { memory, 0, 6 },
		  .fill = { "abc", 3 } },
		{ .type = TARE_OPERATION_HOST_CALL },
		{ .type = (enum tare_operation_type)99 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(tare_append(queue, &rows[i], NULL, &error), -EINVAL);
	rows[0].type = TARE_OPERATION_RECTANGLE;
	rows[0].source.offset_bytes = 0;
	rows[0].rectangle = (struct tare_rectangle){ 64, UINT64_MAX, 1, 64, 0, 64, 0 };
	assert_int_equal(tare_append(queue, &rows[0], NULL, &error), -EINVAL);
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, 0, &large, &error),
	                 -EINVAL);
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, 129 * MB, &large, &error),
	                 -ENOMEM);
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, UINT64_MAX, &large, &error),
	                 -ENOMEM);
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_PINNED, UINT64_MAX, &large, &error),
	                 -ENOMEM);
	// The wrong ones left nothing behind.
	must(tare_finish(queue, LIMIT, &error));
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void freeing_in_any_order_is_safe(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 4096);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation write = copy_of(pinned, 0, memory, 0, 4096);
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	(void)state;
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_append(queue, &write, &event, &error));
	must(tare_event_callback(event, note_time, &(int64_t){ 0 }, &error));
	tare_queue_free(queue); // what can never end is dropped
	assert_int_equal(tare_event_wait(event, LIMIT, &error), -EIO);
	tare_gate_free(gate);
	tare_event_free(event);
	tare_memory_free(pinned);
	tare_memory_free(memory);
}

// What a measurement does at its end must not wait once more for what hangs.
static void a_device_that_was_given_up_gets_no_more_work(void **state)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_module_source source = { TARE_MODULE_NATIVE, "empty", 5, NULL, true };
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER), *other = NULL;
	struct tare_memory *memory = NULL;
	struct tare_module *module = NULL;
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	struct tare_clock_pair pair;
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	tare_device_abandon(device);
	int64_t begin = now_ns();
	const int refused[] = {
		tare_append(queue, &marker, NULL, &error),
		tare_submit(queue, &error),
		tare_finish(queue, LIMIT, &error),
		tare_event_wait(event, LIMIT, &error),
		tare_gate_shut(queue, &gate, &error),
		tare_clock_pair(device, &pair, &error),
		tare_queue_create(device, &(struct tare_queue_options){ 0 }, &other, &error),
		tare_memory_create(device, TARE_MEMORY_DEVICE, 1, &memory, &error),
		tare_module_create(device, &source, &module, NULL, &error),
	};
	device->lost = false;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_int_equal(refused[i], -ENODEV);
	assert_non_null(strstr(error.message, "given up"));
	assert_int_equal(now_ns(), begin);
	tare_event_free(event);
	tare_queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exact(misuse_is_refused),
		exact(a_device_that_was_given_up_gets_no_more_work),
		exact(freeing_in_any_order_is_safe),
		cmocka_unit_test(scripted_faults_strike_where_they_say),
		cmocka_unit_test(wrong_data_is_one_bit_of_one_operation),
		cmocka_unit_test(what_is_not_profiled_or_built_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
