// SPDX-License-Identifier: Apache-2.0
// Reading whole traces: what comes, in which order, and what is told of the files.
#include "tests/unit/analysis/recording/trace_open.h"

#include "tests/unit/model/statistics/noise.h"

#include <errno.h>

enum { WINDOW = 1024, RECORDS = WINDOW / TARE_TRACE_RECORD_BYTES };
static struct seen seen, again;

// ---- what comes

static void every_kind_of_record_comes_as_it_was_written(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .start_raw_ns = 50 });
	// Of the events; those without a time have that of the one before.
	static const int64_t times[] = { 100, 110, 115, 120, 120, 120, 120, 120, 120, 120, 120,
		                         130, 131, 131, 132, 133, 134, 135, 136, 137, 138, 138 };
	union tare_trace_record written[48];
	size_t count = 0;
	struct tare_trace *trace;

	(void)state;
#define DETAIL(type, flags, detail, ...)                                                           \
	(union tare_trace_record)                                                                  \
	{                                                                                          \
		__VA_ARGS__.head = tare_trace_head(TARE_TRACE_##type, flags, detail, 3)            \
	}
	written[count++] = DETAIL(TRACK, 0, 1, .track.tid = 12, .track);
	written[count++] =
	    DETAIL(FUNCTION, 0, 65535, .function.role = 8, .function.api = 3, .function);
	written[count++] = DETAIL(OBJECT, 0, 7, .object.number = 10, .object.bytes = 4096, .object);
	written[count++] = DETAIL(FACT, 0, 26, .fact.value = 1, .fact);
	written[count++] = DETAIL(SHAPE, 0, 0, .shape.id = 1, .shape.dimensions = 3, .shape);
	written[count++] = DETAIL(CHANGE, 0, 6, .change.to = 2, .change);
	written[count++] = DETAIL(STACK, 0, 5, .stack.id = 1, .stack.total = 9, .stack.offset = 4,
	                          .stack.frame = { 1, 2, 3, 4, UINT64_MAX }, .stack);
	written[count++] =
	    DETAIL(MODULE, 0, 0, .module.from = 7, .module.to = 8, .module.bias = 6, .module);
	written[count++] =
	    DETAIL(CALL, 3, 9, .call.enter = 100, .call.exit = 100, .call.result = -5, .call);
	written[count++] = DETAIL(POLLED, 0, 9, .polled.first_enter = 100, .polled.last_exit = 110,
	                          .polled.count = 4, .polled);
	written[count++] = DETAIL(COMMAND, 255, 2, .command.enter = 110, .command.call_ticks = 5,
	                          .command.number = 1, .command.kind = 13, .command.direction = 4,
	                          .command.alignment = 255, .command.memory = 10, .command);
	written[count++] =
	    DETAIL(CALL_END, 0, 0, .call_end.number = 1, .call_end.exit = 120, .call_end);
	written[count++] =
	    DETAIL(TRANSFER, 0, 0, .transfer.number = 1, .transfer.offset = 8, .transfer);
	written[count++] = DETAIL(DRAWN, 0, 0, .drawn.number = 1, .drawn.chance = 5, .drawn);
	written[count++] = DETAIL(PEER, 0, 0, .peer.number = 1, .peer.source = 2, .peer);
	written[count++] =
	    DETAIL(LINK, 3, 3, .link.ticks = 120, .link.first = 2, .link.count = 18, .link);
	written[count++] =
	    DETAIL(SAMPLED, 0, 0, .sampled.from = 3, .sampled.to = 5, .sampled.counter = { 2, 27 },
	           .sampled.value = { 50, 1e9 }, .sampled);
	written[count++] = DETAIL(SAMPLING, 0, TARE_SAMPLING_CLOCK, .sampling.from = 115,
	                          .sampling.to = 115, .sampling.device_ns = 4, .sampling);
	written[count++] = DETAIL(DEPENDS, 1, 6, .depends.of = 100,
	                          .depends.event = { 1, 2, 3, 4, 5, 6 }, .depends);
	written[count++] = DETAIL(TIMES, 15, 0, .times.command_number = 1, .times.start = 9,
	                          .times.end = 8, .times.observed = 130, .times);
	written[count++] =
	    DETAIL(UNTIMED, 0, 4, .untimed.command_number = 1, .untimed.observed = 131, .untimed);
	written[count++] =
	    DETAIL(EXECUTE, 0, 0, .execute.command_number = 1, .execute.nodes = 9, .execute);
	written[count++] =
	    DETAIL(CALLBACK, 0, 2, .callback.enter = 131, .callback.exit = 132, .callback);
	written[count++] =
	    DETAIL(CPU_TIME, 0, 1, .cpu_time.ticks = 133, .cpu_time.cpu_ns = 7, .cpu_time);
	written[count++] = DETAIL(CLOCK_PAIR, 0, 4, .clock_pair.before = 133,
	                          .clock_pair.after = 134, .clock_pair);
	written[count++] = DETAIL(PHASE, 0, 2, .phase.ticks = 135, .phase);
	written[count++] =
	    DETAIL(LOSS, 0, 0, .loss.from = 3, .loss.to = 136, .loss.records = 2, .loss);
	written[count++] = DETAIL(FORK, 0, 0, .fork.ticks = 137, .fork.child = 99, .fork);
	written[count++] = DETAIL(ACTIVE, 0, 1, .active.ticks = 138, .active);
	written[count++] = DETAIL(SITE, 1, 0, .site.of = 100, .site.stack = 1, .site);
#undef DETAIL
	for (size_t i = 0; i < count; i++)
		add(writer, written[i]);
	end_trace(writer);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, count);
	assert_int_equal(seen.definitions, 8);
	for (size_t i = seen.definitions; i < count; i++)
		assert_int_equal(seen.written_ns[i], times[i - seen.definitions]);
	assert_memory_equal(seen.records, written, count * sizeof *written);
	assert_int_equal(tare_trace_file(trace, 0)->first_ns, 50);
	assert_int_equal(tare_trace_file(trace, 0)->last_ns, 138);
	assert_int_equal(tare_trace_file(trace, 0)->windows, 2);
	tare_trace_close(trace);
}

static void texts_of_every_length_come_whole(void **state)
{
	static const size_t lengths[] = { 0, 1, 39, 40, 41, 80, 1000, 65535, 65536 };
	enum { COUNT = sizeof lengths / sizeof *lengths };
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW });
	char *text = malloc(65537);
	uint32_t ids[COUNT];
	struct tare_trace *trace;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		memset(text, 'a' + (int)i, 65536);
		text[lengths[i]] = '\0';
		ids[i] = tare_trace_writer_text(writer, text);
	}
	end_trace(writer);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	for (size_t i = 0; i < COUNT; i++) {
		memset(text, 'a' + (int)i, 65536);
		text[lengths[i]] = '\0';
		assert_string_equal(tare_trace_text(trace, 0, ids[i]), text);
	}
	assert_string_equal(tare_trace_text(trace, 0, 0), "");
	assert_string_equal(tare_trace_text(trace, 0, COUNT + 1), "");
	assert_string_equal(tare_trace_text(trace, 1, 1), "");
	assert_int_equal(seen.count, 0);
	tare_trace_close(trace);
	free(text);
}

static void host_pairs_are_kept_and_device_pairs_passed_on(void **state)
{
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	struct tare_trace *trace;

	(void)state;
	for (uint16_t clock = TARE_CLOCK_RAW; clock <= TARE_CLOCK_DEVICE; clock++) {
		union tare_trace_record pair = host_pair(10u * clock, 10u * clock + 2, 7);
		pair.head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0, clock, 0);
		add(writer, pair);
	}
	end_trace(writer);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.records[0].clock_pair.before, 40);
	tare_trace_close(trace);
}

static void a_record_that_was_given_up_is_passed_over(void **state)
{
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	struct tare_trace *trace;

	(void)state;
	add(writer,
	    (union tare_trace_record){ .words = { TARE_TRACE_VOID, UINT64_MAX, 1, UINT64_MAX } });
	add(writer, a_call(0, 10, 20, 1));
	end_trace(writer);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, 1);
	assert_int_equal(tare_trace_file(trace, 0)->unknown_records, 0);
	tare_trace_close(trace);
}

// ---- windows

static struct tare_trace_window *window_at(uint8_t *bytes, size_t slot, size_t window_bytes)
{
	return (struct tare_trace_window *)(bytes + TARE_TRACE_HEADER_BYTES + slot * window_bytes);
}

static void windows_may_lie_in_any_order(void **state)
{
	struct tare_random random = unchosen_seed();
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW });
	uint8_t *bytes, swap[WINDOW];
	size_t size, slots;

	(void)state;
	for (uint64_t i = 0; i < 500; i++) {
		if (i % 7 == 0)
			add(writer, (union tare_trace_record){
			                .fact = { .head = tare_trace_head(TARE_TRACE_FACT, 0, 5, 0),
			                          .value = i } });
		add(writer, a_call((uint32_t)(i % 3), i, i, i));
	}
	end_trace(writer);
	tare_trace_close(read_folder(&seen));
	bytes = file_bytes("a.trace", &size);
	slots = (size - TARE_TRACE_HEADER_BYTES) / WINDOW;
	for (size_t i = slots; i > 1; i--) {
		size_t other = tare_random_below(&random, i);
		memcpy(swap, window_at(bytes, i - 1, WINDOW), WINDOW);
		memmove(window_at(bytes, i - 1, WINDOW), window_at(bytes, other, WINDOW), WINDOW);
		memcpy(window_at(bytes, other, WINDOW), swap, WINDOW);
	}
	put_file("a.trace", bytes, size);
	free(bytes);
	tare_trace_close(read_folder(&again));
	assert_int_equal(again.count, 572);
	assert_memory_equal(again.records, seen.records, again.count * TARE_TRACE_RECORD_BYTES);
	assert_memory_equal(again.written_ns, seen.written_ns,
	                    again.count * sizeof *seen.written_ns);
}

// Thread 1 ends, 2 goes on in its window and claims another; 3 goes on in that one.
static void a_window_may_be_handed_over(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW });
	struct tare_trace *trace;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < 3 * (RECORDS - 1); i++)
		add(writer,
		    a_call(1, 10, 1000 - i, i)); // back in time: only their order holds them
	add(writer, a_call(9, 10, 500, 100));
	end_trace(writer);
	bytes = file_bytes("a.trace", &size);
	for (size_t slot = 0; slot < 3; slot++)
		for (size_t i = 0; i < RECORDS; i++) {
			uint64_t *head =
			    &((union tare_trace_record *)window_at(bytes, slot, WINDOW) + i)->head;
			uint32_t track = (uint32_t)(slot + 1 - (slot > 0 && i < 8));
			*head = (uint32_t)*head | (uint64_t)track << 32;
		}
	put_file("a.trace", bytes, size);
	free(bytes);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, 3 * (RECORDS - 1) + 1);
	assert_int_equal(seen.records[0].call.bytes, 100);
	for (uint64_t i = 0; i < 3 * (RECORDS - 1); i++)
		assert_int_equal(seen.records[i + 1].call.bytes, i);
	tare_trace_close(trace);
}

static void calls_that_never_returned_are_told(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW });
	struct tare_trace *trace;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < 2 * (RECORDS - 1); i++)
		for (uint32_t track = 1; track <= 3; track++)
			add(writer, a_call(track, i, i, 3 * i + track));
	end_trace(writer);
	bytes = file_bytes("a.trace", &size);
	// Track 1 was in a call in its first window, which does not matter any more; 2 and 3 are.
	for (size_t slot = 0; slot < 6; slot++) {
		struct tare_trace_window *window = window_at(bytes, slot, WINDOW);
		uint32_t track = tare_trace_track(window->head);
		window->in_call = track == 1 && window->sequence > 3 ? 0 : 10 * track;
		window->in_call_ticks = 5 * track;
		// It has gone to thread 30, which has written nothing yet.
		if (track == 3 && window->sequence > 3)
			window->head = tare_trace_head(TARE_TRACE_WINDOW, 0, 0, 30);
	}
	put_file("a.trace", bytes, size);
	free(bytes);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.unfinished_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(seen.unfinished[i].track, i ? 30 : 2);
		assert_int_equal(seen.unfinished[i].function, 10 * (i + 2) - 1);
		assert_int_equal(seen.unfinished[i].since_ns, 5 * (i + 2));
	}
	tare_trace_close(trace);
}

static void a_trace_may_grow_while_it_is_read(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW,
	                                                 .state = TARE_TRACE_RECORDING,
	                                                 .flags = TARE_TRACE_KEEP_NEWEST });
	struct tare_trace *trace;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < RECORDS + 2; i++)
		add(writer, a_call(1, i, i, i));
	end_trace(writer);
	trace = read_folder(&seen);
	assert_int_equal(seen.count, RECORDS + 2);
	bytes = file_bytes("a.trace", &size);
	((union tare_trace_record *)window_at(bytes, 1, WINDOW))[4] = a_call(1, 99, 99, 99);
	((struct tare_trace_header *)bytes)->windows = 50; // of which most were used again
	put_file("a.trace", bytes, size);
	assert_int_equal(see_all(trace, 0, &seen), 0);
	assert_int_equal(seen.count, RECORDS + 2); // what was there when it was opened
	assert_no_problem(trace);
	tare_trace_close(trace);
	trace = must_open(trace_folder);
	assert_no_problem(trace);
	window_at(bytes, 0, WINDOW)->sequence = 77; // the first window is used again
	put_file("a.trace", bytes, size);
	assert_int_equal(see_all(trace, 0, &seen), 0);
	assert_int_equal(seen.count, 4);
	assert_non_null(
	    strstr(tare_trace_file(trace, 0)->problem, "was written to while it was read"));
	put_file("b.trace", bytes, size);
	assert_int_equal(rename(trace_path("b.trace"), trace_path("a.trace")), 0);
	assert_int_equal(see_all(trace, 0, &seen), -ESTALE);
	free(bytes);
	unlink(trace_path("a.trace"));
	assert_int_equal(see_all(trace, 0, &seen), -ENOENT);
	tare_trace_close(trace);
}

// ---- the visitor and the folder

struct stop {
	size_t definitions, events, at;
};

static int stop_definition(void *context, const union tare_trace_record *record)
{
	struct stop *stop = context;

	(void)record;
	return ++stop->definitions == stop->at ? 42 : 0;
}

static int stop_event(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct stop *stop = context;

	(void)record;
	(void)written_ns;
	return ++stop->events + 3 == stop->at ? -7 : 0;
}

static int stop_unfinished(void *context, uint32_t track, uint32_t function, int64_t since_ns)
{
	(void)track;
	(void)function;
	(void)since_ns;
	return ((struct stop *)context)->at == 8 ? 9 : 0;
}

static void a_visitor_may_stop_the_reading(void **state)
{
	static const struct {
		size_t at;
		int value;
		size_t definitions, events;
	} rows[] = {
		{ 0, 0, 3, 4 },  { 1, 42, 1, 0 }, { 3, 42, 3, 0 },
		{ 4, -7, 3, 1 }, { 7, -7, 3, 4 }, { 8, 9, 3, 4 },
	};
	struct tare_trace_writer *writer = begin_trace("a", (struct tare_trace_header){ 0 });
	struct tare_trace *trace;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		add(writer, (union tare_trace_record){
		                .fact = { .head = tare_trace_head(TARE_TRACE_FACT, 0, 5, 0),
		                          .value = i } });
	for (uint64_t i = 0; i < 4; i++)
		add(writer, a_call((uint32_t)(i % 2), i, i, i));
	end_trace(writer);
	bytes = file_bytes("a.trace", &size);
	window_at(bytes, 1, TARE_TRACE_WINDOW_BYTES)->in_call = 1;
	put_file("a.trace", bytes, size);
	free(bytes);
	trace = must_open(trace_path("a.trace"));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct stop stop = { .at = rows[i].at };
		struct tare_trace_visitor visitor = { stop_definition, stop_event, stop_unfinished,
			                              &stop };
		assert_int_equal(tare_trace_read(trace, 0, &visitor), rows[i].value);
		assert_int_equal(stop.definitions, rows[i].definitions);
		assert_int_equal(stop.events, rows[i].events);
	}
	assert_int_equal(tare_trace_read(trace, 0, &(struct tare_trace_visitor){ 0 }), 0);
	assert_int_equal(tare_trace_read(trace, 1, &(struct tare_trace_visitor){ 0 }), -EINVAL);
	assert_null(tare_trace_file(trace, 1));
	tare_trace_close(trace);
	tare_trace_close(NULL);
}

static void a_folder_has_a_file_for_each_process(void **state)
{
	static const char *const names[] = { "b-2-9", "a-1-9", "c-3-9" };
	struct tare_trace *trace;
	size_t bytes;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tare_trace_writer *writer = begin_trace(
		    names[i], (struct tare_trace_header){ .pid = (uint64_t)names[i][2] - '0',
		                                          .executable = "app",
		                                          .rank = i,
		                                          .rank_count = 3 });
		add(writer, a_call(1, 10, 20, i));
		tare_trace_writer_text(writer, names[i]);
		end_trace(writer);
	}
	put_file("record.json", "{\"a\": 1}", 8);
	put_file("notes.txt", "x", 1);
	trace = must_open(trace_folder);
	assert_no_problem(trace);
	assert_int_equal(tare_trace_file_count(trace), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct tare_trace_file *file = tare_trace_file(trace, i);
		assert_int_equal(file->header->pid, i + 1);
		assert_string_equal(file->header->executable, "app");
		assert_int_equal(file->name[0], 'a' + (int)i);
		assert_int_equal(tare_trace_text(trace, i, 1)[0], 'a' + (int)i);
		assert_int_equal(file->bytes,
		                 TARE_TRACE_HEADER_BYTES + 2 * TARE_TRACE_WINDOW_BYTES);
		assert_int_equal(see_all(trace, i, &seen), 0);
		assert_int_equal(seen.records[0].call.bytes, (i == 0) ? 1 : (i == 1) ? 0 : 2);
	}
	assert_string_equal(tare_trace_record_json(trace, &bytes), "{\"a\": 1}");
	assert_int_equal(bytes, 8);
	tare_trace_close(trace);
	trace = must_open(trace_path("c-3-9.trace"));
	assert_int_equal(tare_trace_file_count(trace), 1);
	assert_int_equal(tare_trace_file(trace, 0)->header->pid, 3);
	assert_null(tare_trace_record_json(trace, &bytes));
	tare_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(every_kind_of_record_comes_as_it_was_written),
		IN_FOLDER(texts_of_every_length_come_whole),
		IN_FOLDER(host_pairs_are_kept_and_device_pairs_passed_on),
		IN_FOLDER(a_record_that_was_given_up_is_passed_over),
		IN_FOLDER(windows_may_lie_in_any_order),
		IN_FOLDER(a_window_may_be_handed_over),
		IN_FOLDER(calls_that_never_returned_are_told),
		IN_FOLDER(a_trace_may_grow_while_it_is_read),
		IN_FOLDER(a_visitor_may_stop_the_reading),
		IN_FOLDER(a_folder_has_a_file_for_each_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
