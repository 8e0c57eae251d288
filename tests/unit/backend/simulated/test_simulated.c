// SPDX-License-Identifier: Apache-2.0
// The simulated device: figures by hand from tests/data/exact.tare-device, and what bytes move
// when. What holds for every backend is in test_backend_contract.c, faults in
// test_simulated_faults.c.
#include "simulated_device.h"

// append 1 us, submission 2 us, wake 2 us: what a waiting host adds to the device's time.
#define AROUND (1 * US + 2 * US + 2 * US)

static void every_line_costs_what_the_script_says(void **state)
{
	enum {
		A = TARE_MEMORY_PAGEABLE,
		P = TARE_MEMORY_PINNED,
		D = TARE_MEMORY_DEVICE,
		S = TARE_MEMORY_SHARED
	};
	static const struct {
		int from, to;
		uint64_t offset, bytes;
		int64_t device_ns, host_ns;
	} rows[] = {
		{ P, D, 0, 1000000, 4 * US + 100 * US, AROUND + 104 * US },
		{ P, D, 0, 1, 4 * US, AROUND + 4 * US },
		{ P, D, 64, 1000000, 104 * US, AROUND + 104 * US },
		{ P, D, 1, 1000000, 4 * US + 200 * US, AROUND + 204 * US },
		{ D, P, 0, 1000000, 3 * US + 125 * US, AROUND + 128 * US },
		{ D, D, 0, 1000000, 2 * US + 20 * US, AROUND + 22 * US },
		// Staging at 5 GB/s: the first 64 KiB before the engine begins, the engine no
		// faster.
		{ A, D, 0, 1000000, 4 * US + 200 * US, AROUND + 204 * US + 13107 },
		// Back at 4 GB/s, and the last 64 KiB are copied out when the engine is done.
		{ D, A, 0, 1000000, 3 * US + 250 * US + 16384, AROUND + 253 * US + 16384 },
	};
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *at[TARE_MEMORY_KIND_COUNT][2] = { { NULL } };
	(void)state;
	for (int kind = 0; kind < TARE_MEMORY_KIND_COUNT; kind++)
		for (int i = 0; i < 2; i++) {
			at[kind][i] = memory_of((enum tare_memory_kind)kind, 2 * MB);
			if (at[kind][i]->host)
				memset(at[kind][i]->host, 1, 2 * MB);
		}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t host_ns;
		int64_t ns = device_ns(queue,
		                       copy_of(at[rows[i].from][0], rows[i].offset,
		                               at[rows[i].to][1], 0, rows[i].bytes),
		                       &host_ns);
		assert_in_range(ns, rows[i].device_ns, rows[i].device_ns + 1);
		assert_in_range(host_ns, rows[i].host_ns, rows[i].host_ns + 1);
	}
	// Shared memory: 32 pages of 64 KiB fault and move once, then it stays; back at the
	// asked-for cost.
	struct tare_operation shared = copy_of(at[S][0], 0, at[S][1], 0, 1 * MB);
	int64_t resident = 2 * US + 20971;        // 1 MiB at 50 GB/s
	int64_t moved = 32 * 2 * US + 2 * 209715; // 2 MiB at 5 GB/s
	assert_in_range(device_ns(queue, shared, NULL), resident + moved, resident + moved + 3);
	assert_in_range(device_ns(queue, shared, NULL), resident, resident + 1);
	struct tare_operation back = { .type = TARE_OPERATION_MIGRATE,
		                       .destination = { at[S][0], 0, 1 * MB },
		                       .to_host = true };
	assert_in_range(device_ns(queue, back, NULL), 10 * US + 209715, 10 * US + 209717);
	assert_in_range(device_ns(queue, shared, NULL), resident + moved / 2,
	                resident + moved / 2 + 3);
	// A copy that the script does not name.
	struct tare_operation none = copy_of(at[S][0], 0, at[P][0], 0, 1);
	assert_int_equal(tare_append(queue, &none, NULL, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "'copy shared pinned'"));
	for (int kind = 0; kind < TARE_MEMORY_KIND_COUNT; kind++)
		for (int i = 0; i < 2; i++)
			tare_memory_free(at[kind][i]);
	tare_queue_free(queue);
}

static void other_operations_cost_what_the_script_says(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	uint32_t pattern = 0x01020304;
	struct tare_operation operation = { .type = TARE_OPERATION_FILL,
		                            .destination = { memory, 0, 400000 },
		                            .fill = { &pattern, 4 } };
	(void)state;
	assert_int_equal(device_ns(queue, operation, NULL), 1 * US + 10 * US);
	assert_null(memory->host);
	operation = (struct tare_operation){ .type = TARE_OPERATION_MAP,
		                             .destination = { memory, 0, 800000 },
		                             .access = TARE_MAP_READ | TARE_MAP_WRITE };
	assert_int_equal(device_ns(queue, operation, NULL), 5 * US + 100 * US);
	assert_int_equal(((uint32_t *)memory->host)[99999], pattern);
	assert_int_equal(((uint32_t *)memory->host)[100000], 0);
	operation.type = TARE_OPERATION_UNMAP;
	assert_int_equal(device_ns(queue, operation, NULL), 4 * US + 80 * US);
	assert_null(memory->host);
	// What will be overwritten need not come over; what was only read need not go back.
	operation.type = TARE_OPERATION_MAP;
	operation.access = TARE_MAP_READ | TARE_MAP_WRITE | TARE_MAP_DISCARD;
	assert_int_equal(device_ns(queue, operation, NULL), 5 * US);
	operation.type = TARE_OPERATION_UNMAP;
	assert_int_equal(device_ns(queue, operation, NULL), 84 * US);
	operation = (struct tare_operation){ .type = TARE_OPERATION_MARKER };
	assert_int_equal(device_ns(queue, operation, NULL), 500);
	// 10 rows of 1000 bytes: a copy of 10,000 and ten times the row cost.
	operation = copy_of(pinned, 0, memory, 0, 64 * KB);
	operation.type = TARE_OPERATION_RECTANGLE;
	operation.rectangle = (struct tare_rectangle){ .row_bytes = 1000,
		                                       .rows = 10,
		                                       .layers = 1,
		                                       .source_row_pitch = 2000,
		                                       .destination_row_pitch = 1000 };
	assert_int_equal(device_ns(queue, operation, NULL), 4 * US + 1 * US + 100);
	tare_memory_free(memory);
	tare_memory_free(pinned);
	tare_queue_free(queue);
}

static void first_touch_is_paid_once(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *heap = memory_of(TARE_MEMORY_PAGEABLE, 1 * MB);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	int64_t first, second, third;
	(void)state;
	device_ns(queue, copy_of(heap, 0, memory, 0, 512 * KB), &first);
	device_ns(queue, copy_of(heap, 0, memory, 0, 512 * KB), &second);
	// 128 pages of 4 KiB at 200 ns; each end of the two readings is cut to a nanosecond.
	assert_in_range(first - second, 128 * 200 - 1, 128 * 200 + 1);
	memset((char *)heap->host + 512 * KB, 1, 512 * KB);
	device_ns(queue, copy_of(heap, 512 * KB, memory, 0, 512 * KB), &third);
	assert_in_range(third, second - 1, second + 1);
	tare_memory_free(heap);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void both_directions_slow_each_other_down(void **state)
{
	struct tare_queue *in = queue_of(TARE_QUEUE_IN_ORDER), *out = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 2 * MB);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 2 * MB);
	struct tare_event *events[2];
	struct tare_stamps stamps[2];
	struct tare_operation write = copy_of(pinned, 0, memory, 0, 1000000);
	struct tare_operation read = copy_of(memory, MB, pinned, MB, 800000);
	(void)state;
	must(tare_append(in, &write, &events[0], &error));
	must(tare_append(out, &read, &events[1], &error));
	must(tare_finish(in, LIMIT, &error));
	must(tare_finish(out, LIMIT, &error));
	for (int i = 0; i < 2; i++) {
		must(tare_event_stamps(events[i], &stamps[i], &error));
		tare_event_free(events[i]);
	}
	// In begins at 0 and moves from 4 us; out was issued 1 us later and moves from 4 us, too.
	// Both need 100 us alone: 125 us together.
	uint64_t *start = &stamps[0].at[TARE_STAMP_START].ticks;
	assert_int_equal(stamps[0].at[TARE_STAMP_END].ticks - *start, 4 * US + 125 * US);
	assert_int_equal(stamps[1].at[TARE_STAMP_START].ticks - *start, 1 * US);
	assert_int_equal(stamps[1].at[TARE_STAMP_END].ticks - *start, 4 * US + 125 * US);
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_queue_free(in);
	tare_queue_free(out);
}

static void bytes_move_when_the_copy_completes(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *a = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	struct tare_memory *b = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	struct tare_memory *c = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	struct tare_operation there = copy_of(a, 3, b, 5, 1000), back = copy_of(b, 5, c, 7, 1000);
	(void)state;
	for (int i = 0; i < 2000; i++)
		((unsigned char *)a->host)[i] = (unsigned char)(i * 7);
	must(tare_append(queue, &there, NULL, &error));
	must(tare_append(queue, &back, NULL, &error));
	assert_int_equal(((unsigned char *)c->host)[7], 0);
	must(tare_finish(queue, LIMIT, &error));
	assert_memory_equal((char *)c->host + 7, (char *)a->host + 3, 1000);
	assert_int_equal(((unsigned char *)c->host)[6], 0);
	assert_int_equal(((unsigned char *)c->host)[1007], 0);
	tare_memory_free(a);
	tare_memory_free(b);
	tare_memory_free(c);
	tare_queue_free(queue);
}

static struct tare_kernel *kernel_of(const char *name, struct tare_module **module)
{
	struct tare_module_source source = { .format = TARE_MODULE_NATIVE,
		                             .data = name,
		                             .bytes = strlen(name) };
	struct tare_kernel *kernel = NULL;
	must(tare_module_create(device, &source, module, NULL, &error));
	must(tare_kernel_create(*module, name, &kernel, &error));
	return kernel;
}

static void kernels_compute_and_cost_by_waves(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *memory = memory_of(TARE_MEMORY_SHARED, 1 * MB);
	struct tare_module *module;
	struct tare_kernel *kernel = kernel_of("add", &module);
	struct tare_kernel_facts facts;
	float *values = memory->host;
	struct tare_argument arguments[3];
	struct tare_operation launch = { .type = TARE_OPERATION_LAUNCH,
		                         .launch = { .kernel = kernel,
		                                     .groups = { 17, 1, 1 },
		                                     .group_size = { 64, 1, 1 },
		                                     .arguments = arguments,
		                                     .argument_count = 3 } };
	(void)state;
	for (int i = 0; i < 3; i++)
		arguments[i] = (struct tare_argument){ .span = { memory, i * 16 * KB, 0 } };
	for (int i = 0; i < 17 * 64; i++) {
		values[4096 + i] = (float)i;
		values[8192 + i] = 0.5f;
	}
	// Everything behind each argument migrates: the whole memory, 16 pages of 64 KiB.
	int64_t migration = 16 * 2 * US + 209715;
	// 17 groups on 4 units x 2 slots: 3 waves of 1 us.
	assert_in_range(device_ns(queue, launch, NULL), migration + 5 * US, migration + 5 * US + 2);
	assert_int_equal(device_ns(queue, launch, NULL), 2 * US + 3 * US);
	assert_true(values[17 * 64 - 1] == (float)(17 * 64 - 1) + 0.5f && values[17 * 64] == 0);
	must(tare_kernel_facts(kernel, &facts, &error));
	assert_int_equal(facts.registers, 16);
	assert_int_equal(facts.spill_bytes, -1);
	launch.launch.groups[0] = 1 << 20;
	assert_int_equal(tare_append(queue, &launch, NULL, &error), -EINVAL);
	assert_non_null(strstr(error.message, "smaller than its grid"));
	launch.launch.group_size[0] = 257;
	assert_int_equal(tare_append(queue, &launch, NULL, &error), -EINVAL);
	launch.launch.argument_count = 2;
	launch.launch.group_size[0] = 1;
	assert_int_equal(tare_append(queue, &launch, NULL, &error), -EINVAL);
	tare_kernel_free(kernel);
	tare_module_free(module);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void callbacks_come_at_their_own_time(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_event *event = NULL;
	int64_t called = -1, host_call = -1, begin = now_ns();
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_operation call = { .type = TARE_OPERATION_HOST_CALL,
		                       .call = { note_time, &host_call } };
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_callback(event, note_time, &called, &error));
	tare_device_pause(device, 5 * US);
	// Done after append 1 us, submission 2 us, 500 ns; called 3 us later.
	assert_int_equal(called, -1);
	tare_device_pause(device, 5 * US);
	assert_int_equal(called - begin, 1 * US + 2 * US + 500 + 3 * US);
	begin = now_ns();
	must(tare_append(queue, &call, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	assert_int_equal(host_call - begin, 1 * US + 2 * US + 6 * US);
	tare_event_free(event);
	tare_queue_free(queue);
}

static void graphs_cost_one_call(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_module *module;
	struct tare_kernel *kernel = kernel_of("empty", &module);
	struct tare_operation launch = {
		.type = TARE_OPERATION_LAUNCH,
		.launch = { .kernel = kernel, .groups = { 1, 1, 1 }, .group_size = { 1, 1, 1 } }
	};
	struct tare_graph *graph = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps first, last;
	(void)state;
	must(tare_graph_begin(queue, &error));
	for (int i = 0; i < 10; i++)
		must(tare_append(queue, &launch, NULL, &error));
	must(tare_graph_end(queue, &graph, &error));
	// A graph keeps what it needs of its kernels.
	tare_kernel_free(kernel);
	tare_module_free(module);
	assert_int_equal(tare_graph_stamps(graph, 0, &first, &error), -EINVAL);
	for (int round = 0; round < 2; round++) {
		int64_t begin = now_ns();
		must(tare_graph_launch(graph, queue, &event, &error));
		assert_int_equal(now_ns() - begin, 3 * US);
		must(tare_event_wait(event, LIMIT, &error));
		assert_int_equal(now_ns() - begin, 3 * US + 2 * US + 10 * US + 2 * US);
		must(tare_graph_stamps(graph, 0, &first, &error));
		must(tare_graph_stamps(graph, 9, &last, &error));
		assert_int_equal(last.at[TARE_STAMP_END].ticks - first.at[TARE_STAMP_START].ticks,
		                 10 * US);
		tare_event_free(event);
	}
	assert_int_equal(tare_graph_stamps(graph, 10, &last, &error), -EINVAL);
	tare_graph_free(graph);
	tare_queue_free(queue);
}

static void deferred_queues_begin_when_submitted(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_DEFERRED);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	tare_device_pause(device, 1000 * US);
	assert_int_equal(tare_event_done(event, &error), 0);
	assert_int_equal(tare_event_wait(event, 5 * US, &error), -ETIMEDOUT);
	assert_int_equal(tare_event_wait(event, TARE_LIMIT_NATIVE, &error), -ETIMEDOUT);
	must(tare_submit(queue, &error));
	assert_int_equal(tare_event_done(event, &error), 0);
	must(tare_event_wait(event, LIMIT, &error));
	assert_int_equal(tare_event_done(event, &error), 1);
	tare_event_free(event);
	tare_queue_free(queue);
}

static void out_of_order_queues_keep_barriers_only(void **state)
{
	struct tare_queue *queue = queue_of(TARE_QUEUE_OUT_OF_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	struct tare_operation operations[] = {
		copy_of(pinned, 0, memory, 0, 1000000),
		copy_of(memory, 0, pinned, 0, 8),
		{ .type = TARE_OPERATION_MARKER },
		copy_of(memory, 0, pinned, 0, 8),
	};
	struct tare_event *events[4];
	struct tare_stamps at[4];
	(void)state;
	for (int i = 0; i < 4; i++)
		must(tare_append(queue, &operations[i], &events[i], &error));
	must(tare_finish(queue, LIMIT, &error));
	for (int i = 0; i < 4; i++) {
		must(tare_event_stamps(events[i], &at[i], &error));
		tare_event_free(events[i]);
	}
	assert_true(at[1].at[TARE_STAMP_END].ticks < at[0].at[TARE_STAMP_END].ticks);
	assert_true(at[2].at[TARE_STAMP_START].ticks >= at[0].at[TARE_STAMP_END].ticks);
	assert_true(at[3].at[TARE_STAMP_START].ticks >= at[2].at[TARE_STAMP_END].ticks);
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void the_default_stream_waits_for_the_others(void **state)
{
	struct tare_queue *legacy = queue_of(TARE_QUEUE_LEGACY_DEFAULT);
	struct tare_queue *queue = queue_of(TARE_QUEUE_IN_ORDER);
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	struct tare_operation write = copy_of(pinned, 0, memory, 0, 1000000);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *events[3];
	struct tare_stamps at[3];
	(void)state;
	must(tare_append(queue, &write, &events[0], &error));
	must(tare_append(legacy, &marker, &events[1], &error));
	must(tare_append(queue, &marker, &events[2], &error));
	must(tare_finish(queue, LIMIT, &error));
	for (int i = 0; i < 3; i++) {
		must(tare_event_stamps(events[i], &at[i], &error));
		tare_event_free(events[i]);
	}
	assert_true(at[1].at[TARE_STAMP_START].ticks >= at[0].at[TARE_STAMP_END].ticks);
	assert_true(at[2].at[TARE_STAMP_START].ticks >= at[1].at[TARE_STAMP_END].ticks);
	tare_memory_free(pinned);
	tare_memory_free(memory);
	tare_queue_free(queue);
	tare_queue_free(legacy);
}

// A mixture of everything; returns a sum over all that can be seen of time.
static uint64_t mixture(void)
{
	struct tare_queue *queues[3];
	struct tare_memory *pinned = memory_of(TARE_MEMORY_PINNED, 1 * MB);
	struct tare_memory *heap = memory_of(TARE_MEMORY_PAGEABLE, 1 * MB);
	struct tare_memory *memory = memory_of(TARE_MEMORY_DEVICE, 1 * MB);
	uint64_t sum = 0;
	for (int i = 0; i < 3; i++)
		queues[i] = queue_of(i == 2 ? TARE_QUEUE_OUT_OF_ORDER : TARE_QUEUE_IN_ORDER);
	for (uint64_t i = 0; i < 200; i++) {
		struct tare_memory *host = i % 5 ? pinned : heap;
		struct tare_operation operation = i & 1 ? copy_of(host, i, memory, i * 64, 997 * i)
		                                        : copy_of(memory, i, host, i * 64, 991 * i);
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		must(tare_append(queues[i % 3], &operation, &event, &error));
		if (i % 7 == 0) {
			must(tare_event_wait(event, LIMIT, &error));
			must(tare_event_stamps(event, &stamps, &error));
			for (int s = 0; s < 4; s++)
				sum = sum * 31 + stamps.at[s].ticks;
		}
		sum = sum * 31 + (uint64_t)now_ns();
		tare_event_free(event);
	}
	for (int i = 0; i < 3; i++) {
		must(tare_finish(queues[i], LIMIT, &error));
		tare_queue_free(queues[i]);
	}
	tare_memory_free(pinned);
	tare_memory_free(heap);
	tare_memory_free(memory);
	return sum * 31 + (uint64_t)now_ns();
}

static void the_same_calls_take_the_same_time(void **state)
{
	uint64_t sums[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		open_script(NULL);
		sums[i] = mixture();
		close_script();
		free(malloc(12345)); // moves what is allocated next
	}
	assert_true(sums[0] == sums[1]);
}

static void clock_pairs_bracket_the_device(void **state)
{
	struct tare_clock_pair pair;
	struct tare_clock_rate rate;
	(void)state;
	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	assert_int_equal(rate.hz_numerator, 1000000000);
	tare_device_pause(device, 12345);
	must(tare_clock_pair(device, &pair, &error));
	assert_int_equal(pair.device.ticks, pair.before.ns + 100);
	assert_int_equal(pair.after.ns, pair.before.ns + 200);
}

static void the_integrated_device_maps_without_moving(void **state)
{
	struct tare_queue *queue;
	struct tare_memory *memory;
	struct tare_operation map = { .type = TARE_OPERATION_MAP, .access = TARE_MAP_READ };
	int64_t small, large;
	(void)state;
	queue = queue_of(TARE_QUEUE_IN_ORDER);
	memory = memory_of(TARE_MEMORY_DEVICE, 64 * MB);
	for (int i = 0; i < 2; i++) {
		struct tare_event *event = NULL;
		int64_t begin = now_ns();
		map.destination = (struct tare_span){ memory, 0, i ? 64 * MB : 4096 };
		map.type = TARE_OPERATION_MAP;
		must(tare_append(queue, &map, &event, &error));
		must(tare_finish(queue, LIMIT, &error));
		*(i ? &large : &small) = now_ns() - begin;
		map.type = TARE_OPERATION_UNMAP;
		must(tare_append(queue, &map, NULL, &error));
		must(tare_finish(queue, LIMIT, &error));
		tare_event_free(event);
	}
	assert_int_equal(small, large);
	struct tare_graph *graph = NULL;
	assert_int_equal(tare_graph_begin(queue, &error), -ENOTSUP);
	assert_string_equal(error.message, "Level Zero 1.3 has no graphs");
	assert_null(graph);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static int open_integrated(void **state)
{
	(void)state;
	open_script("integrated");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exact(every_line_costs_what_the_script_says),
		exact(other_operations_cost_what_the_script_says),
		exact(first_touch_is_paid_once),
		exact(both_directions_slow_each_other_down),
		exact(bytes_move_when_the_copy_completes),
		exact(kernels_compute_and_cost_by_waves),
		exact(callbacks_come_at_their_own_time),
		exact(graphs_cost_one_call),
		exact(deferred_queues_begin_when_submitted),
		exact(out_of_order_queues_keep_barriers_only),
		exact(the_default_stream_waits_for_the_others),
		exact(clock_pairs_bracket_the_device),
		cmocka_unit_test_setup_teardown(the_integrated_device_maps_without_moving,
		                                open_integrated, close_any),
		cmocka_unit_test(the_same_calls_take_the_same_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
