// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer between this program and a driver that is played here, so that events complete
// when the test says so and every answer of the driver's can be wrong.
//   test_opencl_layer LAYER.so ENTRIES    ENTRIES: of the loader's table, as an older or newer one
#include "layer_rig.h"

// ---- tests

static void test_table(void **state)
{
	(void)state;
	assert_int_equal(entries_ret, entries);
	const void *const *table = (const void *const *)cl;
	size_t known = sizeof(cl_icd_dispatch) / sizeof(void *);
	for (size_t i = known; i < entries; i++)
		assert_ptr_equal(table[i], driver.entries[i]);
	// What the loader does not have stays so.
	assert_null(cl->clCreateProgramWithSource);
	assert_ptr_not_equal(cl->clFinish, driver.table.clFinish);
}

static void test_profiling_is_hidden(void **state)
{
	(void)state;
	cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	assert_true(((struct queue *)queue)->properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue_properties properties = 0;
	assert_int_equal(cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties,
	                                           &properties, NULL),
	                 CL_SUCCESS);
	assert_int_equal(properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event event;
	cl_ulong end = 7;
	launch(queue, kernel, &event);
	assert_int_equal(
	    cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
	    CL_PROFILING_INFO_NOT_AVAILABLE);
	assert_int_equal(end, 7);
	struct found change = find(TARE_TRACE_CHANGE, 1, (uintptr_t)queue);
	assert_true(change.count >= 1);
	cl->clReleaseEvent(event);

	// A queue of a program that asked for it is as it is.
	queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
	launch(queue, kernel, &event);
	assert_int_equal(
	    cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
	    CL_SUCCESS);
	assert_int_equal(end, 40);
	cl->clReleaseEvent(event);
}

static void test_profiling_refused(void **state)
{
	(void)state;
	static char which;
	refuses_profiling = true;
	cl_command_queue queue = make_queue(0);
	assert_int_equal(((struct queue *)queue)->properties, 0);
	launch(queue, &which, NULL);
	assert_false(was_given_event);
	uint8_t flags;
	command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_NO_TIMES);
}

static void test_own_event(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_RUNNING;
	launch(queue, &which, NULL);
	assert_true(was_given_event);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_OWN_EVENT);
	assert_int_equal(command.kind, TARE_KIND_KERNEL);
	assert_int_equal(command.event, (uintptr_t)last_event);
	struct found shape = find(TARE_TRACE_SHAPE, 1, command.amount | UINT64_C(2) << 32);
	assert_int_equal(shape.count, 1);
	assert_int_equal(((const struct tare_trace_shape *)shape.last)->global[1], 8);
	assert_int_equal(((const struct tare_trace_shape *)shape.last)->local[0], 16);
	cl->clFinish(queue);
	assert_int_equal(times_of(command), 0);
	last_event->status = CL_COMPLETE;
	cl->clFinish(queue);
	EVENTUALLY(times_of(command) == 1);
	struct found times = find(TARE_TRACE_TIMES, 1, id_of(command));
	assert_int_equal(times.count, 1);
	const struct tare_trace_times *record = (const struct tare_trace_times *)times.last;
	assert_int_equal(record->queued, 10);
	assert_int_equal(record->submitted, 20);
	assert_int_equal(record->start, 30);
	assert_int_equal(record->end, 40);
	assert_true(record->observed >= command.enter + command.call_ticks);
	EVENTUALLY(live_events == before);
}

static void test_program_event(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	cl_event event;
	cl_uint references = 0;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_SUBMITTED;
	launch(queue, &which, &event);
	struct event *inner = (struct event *)event;
	assert_int_equal(inner->references, 2);
	assert_int_equal(cl->clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references,
	                                    &references, NULL),
	                 CL_SUCCESS);
	assert_int_equal(references, 1);
	cl->clReleaseEvent(event);
	assert_int_equal(live_events, before + 1);
	inner->status = CL_COMPLETE;
	cl->clFinish(queue);
	EVENTUALLY(live_events == before);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, 0);
	EVENTUALLY(times_of(command) == 1);
}

static void look(cl_command_queue queue, cl_event event)
{
	cl_int status = 1;
	(void)queue;
	cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
}

static void wait_for(cl_command_queue queue, cl_event event)
{
	(void)queue;
	cl->clWaitForEvents(1, &event);
}

static void wait_for_all(cl_command_queue queue, cl_event event)
{
	(void)event;
	cl->clFinish(queue);
}

static void write_and_wait(cl_command_queue queue, cl_event event)
{
	(void)event;
	cl->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, handles, 0, NULL, NULL);
}

// Whatever shows the program that a command is complete takes its times in the program's thread;
// now and then the helper thread is faster.
static void test_who_harvests(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	void (*const ways[])(cl_command_queue, cl_event) = { look, wait_for, wait_for_all,
		                                             write_and_wait };
	cl_command_queue queue = make_queue(0);
	for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
		int by_program = 0;
		for (int i = 0; i < 20; i++) {
			cl_event event;
			launch(queue, &which, &event);
			ways[way](queue, event);
			struct tare_trace_command command = command_of(&which, &flags);
			struct found times = find(TARE_TRACE_TIMES, 1, id_of(command));
			by_program += times.count == 1 && tare_trace_track(times.last[0]) ==
			                                      tare_trace_track(command.head);
			cl->clReleaseEvent(event);
		}
		assert_true(by_program > 0);
	}
}

static void test_failed_enqueue(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	size_t global = 1;
	cl_command_queue queue = make_queue(0);
	next_result = CL_OUT_OF_RESOURCES;
	assert_int_equal(cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&which, 1, NULL, &global,
	                                            NULL, 0, NULL, NULL),
	                 CL_OUT_OF_RESOURCES);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_FAILED);
	assert_int_equal((int64_t)command.object2, CL_OUT_OF_RESOURCES);
}

static void test_failed_command(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_OUT_OF_RESOURCES;
	launch(queue, &which, NULL);
	cl->clFinish(queue);
	uint64_t id = id_of(command_of(&which, &flags));
	EVENTUALLY(find(TARE_TRACE_UNTIMED, 1, id).count == 1);
	struct found untimed = find(TARE_TRACE_UNTIMED, 1, id);
	assert_int_equal(untimed.count, 1);
	assert_int_equal(tare_trace_detail(untimed.last[0]), TARE_UNTIMED_FAILED);
	assert_int_equal((int64_t)untimed.last[2], CL_OUT_OF_RESOURCES);
	EVENTUALLY(live_events == before);
}

// The second command completes before the first one.
static void test_order(void **state)
{
	(void)state;
	static char first[2], second[2];
	uint8_t flags;
	for (int out_of_order = 0; out_of_order < 2; out_of_order++) {
		cl_command_queue queue =
		    make_queue(out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
		next_status = CL_RUNNING;
		launch(queue, &first[out_of_order], NULL);
		struct event *slow = last_event;
		launch(queue, &second[out_of_order], NULL);
		last_event->status = CL_COMPLETE;
		cl->clFinish(queue);
		assert_int_equal(times_of(command_of(&first[out_of_order], &flags)), 0);
		if (out_of_order)
			EVENTUALLY(times_of(command_of(&second[out_of_order], &flags)) == 1);
		else
			assert_int_equal(times_of(command_of(&second[out_of_order], &flags)), 0);
		slow->status = CL_COMPLETE;
		cl->clFinish(queue);
		EVENTUALLY(times_of(command_of(&first[out_of_order], &flags)) == 1);
		EVENTUALLY(times_of(command_of(&second[out_of_order], &flags)) == 1);
	}
}

static void test_many_pending(void **state)
{
	(void)state;
	static char which;
	enum { MANY = 3000 };
	struct event *first = &events[event_count];
	size_t before = find(TARE_TRACE_TIMES, 0, 0).count;
	cl_command_queue queue = make_queue(0);
	next_status = CL_QUEUED;
	for (int i = 0; i < MANY; i++)
		launch(queue, &which, NULL);
	assert_true(header()->pending > 0);
	assert_int_equal(find(TARE_TRACE_TIMES, 0, 0).count, before);
	int live = live_events;
	for (int i = 0; i < MANY; i++)
		first[i].status = CL_COMPLETE;
	cl->clFinish(queue);
	EVENTUALLY(find(TARE_TRACE_TIMES, 0, 0).count == before + MANY);
	EVENTUALLY(live_events == live - MANY);
	EVENTUALLY(header()->pending == 0);
	// All of one shape, and that of the calibration.
	assert_int_equal(find(TARE_TRACE_SHAPE, 0, 0).count, 2);
}

static void test_bytes(void **state)
{
	(void)state;
	static char memory[8192] __attribute__((aligned(4096)));
	uint8_t flags;
	cl_command_queue queue = make_queue(0);
	cl_mem rectangle = (cl_mem)&handles[5];
	size_t origin[] = { 4, 2, 1 }, none[] = { 0, 0, 0 }, region[] = { 32, 3, 2 };
	assert_int_equal(cl->clEnqueueReadBufferRect(queue, rectangle, CL_TRUE, origin, none,
	                                             region, 128, 1024, 64, 0, memory + 8, 0, NULL,
	                                             NULL),
	                 CL_SUCCESS);
	struct tare_trace_command command = command_of(rectangle, &flags);
	assert_int_equal(command.kind, TARE_KIND_READ);
	assert_int_equal(command.direction, TARE_DIRECTION_FROM_DEVICE);
	assert_int_equal(command.amount, 32 * 3 * 2);
	assert_int_equal(command.alignment, 3);
	assert_int_equal(command.memory, TARE_TRACE_MEMORY_PAGEABLE);
	assert_int_equal(command.object2, (uintptr_t)(memory + 8));
	assert_int_equal(flags,
	                 TARE_COMMAND_BLOCKING | TARE_COMMAND_OWN_EVENT | TARE_COMMAND_TRANSFER);
	EVENTUALLY(times_of(command) == 1); // the program waited
	struct found found = find(TARE_TRACE_TRANSFER, 1, command.number);
	const struct tare_trace_transfer *transfer = (const struct tare_trace_transfer *)found.last;
	assert_int_equal(found.count, 1);
	assert_int_equal(transfer->offset, 4 + 2 * 128 + 1024);
	assert_int_equal(transfer->region[1], 3);
	assert_int_equal(transfer->row_pitch, 64);

	// Pitches that are left out are those of the region.
	cl->clEnqueueReadBufferRect(queue, rectangle, CL_TRUE, origin, none, region, 0, 0, 0, 0,
	                            memory, 0, NULL, NULL);
	found = find(TARE_TRACE_TRANSFER, 1, command_of(rectangle, &flags).number);
	assert_int_equal(((const struct tare_trace_transfer *)found.last)->offset,
	                 4 + 2 * 32 + 32 * 3);

	assert_int_equal(cl->clEnqueueReadImage(queue, image, CL_FALSE, none, region, 0, 0, memory,
	                                        0, NULL, NULL),
	                 CL_SUCCESS);
	command = command_of(image, &flags);
	assert_int_equal(command.amount, 32 * 3 * 2 * 16);
	assert_int_equal(command.alignment, 12);
}

static void test_kinds_of_memory(void **state)
{
	(void)state;
	uint8_t flags;
	cl_int error = 1;
	cl_command_queue queue = make_queue(0);
	cl_mem other = (cl_mem)&handles[6];
	cl->clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, 8192, NULL, NULL);
	char *mapped = cl->clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 4096, 0,
	                                      NULL, NULL, &error);
	assert_non_null(mapped);
	assert_int_equal(error, CL_SUCCESS);
	struct tare_trace_command command = command_of(buffer, &flags);
	assert_int_equal(command.kind, TARE_KIND_MAP);
	assert_int_equal(command.memory, TARE_TRACE_MEMORY_PINNED);
	struct {
		const char *from;
		uint8_t memory;
	} rows[] = { { mapped, TARE_TRACE_MEMORY_PINNED },
		     { mapped + 4095, TARE_TRACE_MEMORY_PINNED },
		     { mapped + 4096, TARE_TRACE_MEMORY_PAGEABLE } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl->clEnqueueWriteBuffer(queue, other, CL_FALSE, 0, 1, rows[i].from, 0, NULL, NULL);
		assert_int_equal(command_of(other, &flags).memory, rows[i].memory);
	}
	cl->clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
	command = command_of(buffer, &flags);
	assert_int_equal(command.kind, TARE_KIND_UNMAP);
	assert_int_equal(command.direction, TARE_DIRECTION_TO_DEVICE);
	assert_int_equal(command.amount, 4096);
	cl->clEnqueueWriteBuffer(queue, other, CL_FALSE, 0, 1, mapped, 0, NULL, NULL);
	assert_int_equal(command_of(other, &flags).memory, TARE_TRACE_MEMORY_PAGEABLE);
}

static void test_dependencies(void **state)
{
	(void)state;
	static char which;
	cl_event waits[8];
	uint8_t flags;
	size_t global = 1;
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < 8; i++)
		launch(queue, kernel, &waits[i]);
	cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&which, 1, NULL, &global, NULL, 8, waits,
	                           NULL);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_true(flags & TARE_COMMAND_DEPENDS);
	struct found found = find(TARE_TRACE_DEPENDS, 1, command.number);
	assert_int_equal(found.count, 2);
	assert_int_equal(tare_trace_detail(found.last[0]), 2);
	assert_int_equal(found.last[3], (uintptr_t)waits[7]);
	for (int i = 0; i < 8; i++)
		cl->clReleaseEvent(waits[i]);
}

static void test_polling_is_one_record(void **state)
{
	(void)state;
	cl_event event;
	cl_int status;
	cl_command_queue queue = make_queue(0);
	next_status = CL_RUNNING;
	launch(queue, kernel, &event);
	for (int i = 0; i < 1000; i++)
		cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
		                   NULL);
	struct found polled = find(
	    TARE_TRACE_POLLED, offsetof(struct tare_trace_polled, object) / 8, (uintptr_t)event);
	assert_int_equal(polled.count, 1);
	assert_int_equal(((const struct tare_trace_polled *)polled.last)->count, 1000);
	((struct event *)event)->status = CL_COMPLETE;
	cl->clReleaseEvent(event);
	cl->clFinish(queue);
}

static int calls;
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
	assert_non_null(event);
	assert_int_equal(status, CL_COMPLETE);
	calls += *(int *)data;
}

static void test_callback(void **state)
{
	(void)state;
	cl_event event;
	int five = 5;
	cl_command_queue queue = make_queue(0);
	launch(queue, kernel, &event);
	cl->clSetEventCallback(event, CL_COMPLETE, on_event, &five);
	registered(event, CL_COMPLETE, registered_data);
	assert_int_equal(calls, 5);
	struct found found = find(TARE_TRACE_CALLBACK, 3, (uintptr_t)event);
	assert_int_equal(found.count, 1);
	assert_true(found.last[1] <= found.last[2]);
	cl->clReleaseEvent(event);
	cl->clFinish(queue);
}

static void test_extensions(void **state)
{
	(void)state;
	static char to[64], from[64];
	uint8_t flags;
	cl_command_queue queue = make_queue(0);
	uint64_t passed = header()->passed_calls;
	assert_ptr_equal(cl->clGetExtensionFunctionAddress("clUnheardOf"), handles);
	assert_int_equal(header()->passed_calls, passed + 1);
	assert_null(cl->clGetExtensionFunctionAddress("clNone"));
	clEnqueueMemcpyINTEL_fn copy =
	    (clEnqueueMemcpyINTEL_fn)cl->clGetExtensionFunctionAddress("clEnqueueMemcpyINTEL");
	assert_ptr_not_equal(copy, memcpy_intel);
	assert_int_equal(copy(queue, CL_FALSE, to, from, 64, 0, NULL, NULL), CL_SUCCESS);
	struct tare_trace_command command = command_of(to, &flags);
	assert_int_equal(command.kind, TARE_KIND_COPY);
	assert_int_equal(command.direction, TARE_DIRECTION_HOST);
	assert_int_equal(command.amount, 64);
	assert_int_equal(header()->passed_calls, passed + 1);
	cl->clFinish(queue);
}

static void test_last_release(void **state)
{
	(void)state;
	cl->clCreateBuffer(context, 0, 64, NULL, NULL);
	cl->clRetainMemObject(buffer);
	cl->clReleaseMemObject(buffer);
	struct found found = find(TARE_TRACE_CALL, 4, (uintptr_t)buffer);
	assert_int_equal(tare_trace_record_flags(found.last[0]), 0);
	cl->clReleaseMemObject(buffer);
	found = find(TARE_TRACE_CALL, 4, (uintptr_t)buffer);
	assert_int_equal(tare_trace_record_flags(found.last[0]), TARE_CALL_RELEASED);
}

static void test_errno(void **state)
{
	(void)state;
	cl_command_queue queue = make_queue(0);
	launch(queue, kernel, NULL);
	finished_errno = ERANGE;
	errno = 0;
	cl->clFinish(queue);
	assert_int_equal(errno, ERANGE);
	finished_errno = 0;
}

// Each twice, so that the second may be put behind the first, and each differs from the one before
// in one thing only.
static const struct ranged {
	cl_uint dimensions;
	size_t global[3];
	bool has_local;
	size_t local[3];
} ranged[] = {
	{ 1, { 64, 1, 1 } },
	{ 1, { 128, 1, 1 } },
	{ 1, { 128, 1, 1 }, true, { 16, 1, 1 } },
	{ 1, { 128, 1, 1 }, true, { 32, 1, 1 } },
	{ 2, { 128, 1, 1 }, true, { 32, 1, 1 } },
	{ 2, { 128, 4, 1 }, true, { 32, 1, 1 } },
	{ 2, { 128, 4, 1 }, true, { 32, 2, 1 } },
	{ 3, { 128, 4, 1 }, true, { 32, 2, 1 } },
	{ 3, { 128, 4, 8 }, true, { 32, 2, 1 } },
	{ 3, { 128, 4, 8 }, true, { 32, 2, 4 } },
	{ 3, { 128, 4, 8 } },
	{ 1, { 128, 1, 1 } },
};

enum { MOST_SHAPES = 64, RANGED = sizeof ranged / sizeof *ranged };

static bool is_shape(const struct tare_trace_shape *shape, const struct ranged *range)
{
	for (int k = 0; k < 3; k++)
		if (shape->global[k] != range->global[k] ||
		    shape->local[k] != (range->has_local ? range->local[k] : 0))
			return false;
	return true;
}

// Launches by the number of their shape, less those that were there before.
static void count_by_shape(size_t counts[MOST_SHAPES])
{
	for (uint64_t id = 1; id < MOST_SHAPES; id++)
		counts[id] = find(TARE_TRACE_COMMAND, 5, id).count - counts[id];
}

static size_t launches_of(const struct ranged *range, const size_t counts[MOST_SHAPES])
{
	size_t sum = 0;
	for (uint64_t id = 1; id < MOST_SHAPES; id++) {
		struct found shape =
		    find(TARE_TRACE_SHAPE, 1, id | (uint64_t)range->dimensions << 32);
		if (shape.count != 0 && is_shape((const void *)shape.last, range))
			sum += counts[id];
	}
	return sum;
}

static void test_launches_in_a_row_differ(void **state)
{
	static int which;
	size_t counts[MOST_SHAPES] = { 0 };
	cl_command_queue queue = make_queue(0);
	(void)state;
	count_by_shape(counts);
	// Without a pause, after which a record of the thread's time would end the row.
	for (size_t i = 0; i < 2 * RANGED; i++) {
		const struct ranged *range = &ranged[i / 2];
		cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&which, range->dimensions, NULL,
		                           range->global, range->has_local ? range->local : NULL, 0,
		                           NULL, NULL);
	}
	count_by_shape(counts);
	assert_int_equal(find(TARE_TRACE_COMMAND, 4, (uintptr_t)&which).count, 2 * RANGED);
	for (size_t i = 0; i < RANGED; i++)
		// The last one is the second once more.
		assert_int_equal(launches_of(&ranged[i], counts),
		                 i == 1 || i == RANGED - 1 ? 4 : 2);
	cl->clFinish(queue);
}

static void test_own_cost(void **state)
{
	uint64_t asked = header()->harvest_ticks;
	cl_command_queue queue = make_queue(0);
	(void)state;
	launch(queue, kernel, NULL);
	cl->clFinish(queue);
	assert_true(header()->harvest_ticks > asked);
	assert_true(header()->self_cost_ps > 0);
	assert_true(header()->self_call_cost_ps > 0);
}

int main(int argc, char **argv)
{
	if (argc != 3 || mkdtemp(directory) == NULL)
		return 2;
	setenv("TARE_RECORD", directory, 1);
	unsetenv("TARE_RECORD_OPTIONS");
	fill_driver();
	entries = (cl_uint)atoi(argv[2]);
	void *layer = dlopen(argv[1], RTLD_NOW);
	pfn_clInitLayer begin = layer != NULL ? (pfn_clInitLayer)dlsym(layer, "clInitLayer") : NULL;
	if (begin == NULL || begin(entries, &driver.table, &entries_ret, &cl) != CL_SUCCESS) {
		fprintf(stderr, "%s: no layer: %s\n", argv[1], dlerror());
		return 2;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_table, setup),
		cmocka_unit_test_setup(test_own_event, setup),
		cmocka_unit_test_setup(test_many_pending, setup),
		cmocka_unit_test_setup(test_profiling_is_hidden, setup),
		cmocka_unit_test_setup(test_profiling_refused, setup),
		cmocka_unit_test_setup(test_program_event, setup),
		cmocka_unit_test_setup(test_who_harvests, setup),
		cmocka_unit_test_setup(test_failed_enqueue, setup),
		cmocka_unit_test_setup(test_failed_command, setup),
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_bytes, setup),
		cmocka_unit_test_setup(test_kinds_of_memory, setup),
		cmocka_unit_test_setup(test_dependencies, setup),
		cmocka_unit_test_setup(test_polling_is_one_record, setup),
		cmocka_unit_test_setup(test_callback, setup),
		cmocka_unit_test_setup(test_extensions, setup),
		cmocka_unit_test_setup(test_last_release, setup),
		cmocka_unit_test_setup(test_errno, setup),
		cmocka_unit_test_setup(test_launches_in_a_row_differ, setup),
		cmocka_unit_test_setup(test_own_cost, setup),
	};
	int failed = cmocka_run_group_tests_name("opencl_layer", tests, NULL, NULL);
	remove_trace();
	return failed;
}
