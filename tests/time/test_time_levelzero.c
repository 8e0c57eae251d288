// SPDX-License-Identifier: Apache-2.0
// Spans on lists of the Level Zero CPU driver under scripts, through the loader and the public
// header: the times are the script's, whatever the counter's rate and width and wherever it wraps.
// Argument: the driver.
#include "tests/unit/ze_cpu/ze_time_rig.h"

#include "tare/time.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BYTES 100000
#define FIXED_US 3
#define MARKER_US 7
#define LIMIT_NS INT64_C(20000000000)

struct row {
	const char *name, *rate;
	uint64_t hz;
	unsigned kernel_bits, global_bits;
	bool wraps; // in the copy
	bool immediate;
};

static const struct row rows[] = {
	{ "12 MHz, 64 bits, regular", "12 MHz", 12000000, 64, 64, false, false },
	{ "12 MHz, 64 bits, immediate", "12 MHz", 12000000, 64, 64, false, true },
	{ "19.2 MHz, 32 and 36 bits, regular", "19.2 MHz", 19200000, 32, 36, false, false },
	{ "12000048 Hz, 36 and 32 bits, immediate", "12000048 Hz", 12000048, 36, 32, false, true },
	{ "1 GHz, 56 bits, regular", "1 GHz", 1000000000, 56, 56, false, false },
	{ "12 MHz, 32 bits wrap, regular", "12 MHz", 12000000, 36, 32, true, false },
	{ "25 MHz, 36 bits wrap, regular", "25 MHz", 25000000, 32, 36, true, false },
	{ "19.2 MHz, 32 bits wrap, regular", "19.2 MHz", 19200000, 32, 32, true, false },
};

// The counter wraps this long after the driver started.
static int64_t window_us(int attempt)
{
	return INT64_C(150000) << (2 * attempt);
}

// A copy of BYTES takes 3 us and 100 ms; a barrier 7 us.
static int64_t copy_ns(void)
{
	return FIXED_US * 1000 + INT64_C(1000) * BYTES;
}

static uint64_t epoch_of(const struct row *row, unsigned bits, int attempt)
{
	if (!row->wraps)
		return 1000;
	return (UINT64_C(1) << bits) -
	       (uint64_t)((double)row->hz / 1e6 * (double)window_us(attempt));
}

static struct ze open_row(const struct row *row, int attempt)
{
	char script[1024];

	// Submitted shortly before the window, the copy is under way when the counter wraps.
	snprintf(script, sizeof script,
	         "tare-device 1\n"
	         "device name \"clock\" memory 1 GiB\n"
	         "timer rate %s bits %u epoch 1000 ticks\n"
	         "pair-timer rate %s bits %u epoch %llu ticks\n"
	         "queue submission %lld us\n"
	         "engine compute runs kernel,to-device,to-host,local\n"
	         "copy pinned device fixed %d us rate 1 MB/s\n"
	         "marker fixed %d us\n",
	         row->rate, row->kernel_bits, row->rate, row->global_bits,
	         (unsigned long long)epoch_of(row, row->global_bits, attempt),
	         row->wraps ? (long long)window_us(attempt) - 60000 : 2LL, FIXED_US, MARKER_US);
	return ze_open(script);
}

static struct tare_time_error error;

#define ok(call) time_must((call), #call, __LINE__)

static void time_must(int status, const char *call, int line)
{
	if (status >= 0)
		return;
	fprintf(stderr, "line %d: %s: %d %s\n", line, call, status, error.message);
	_exit(1);
}

struct place {
	struct ze ze;
	bool immediate;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	struct tare_timer *timer;
	void *from, *to;
};

static struct place place_of(struct ze ze, bool immediate)
{
	struct place place = { .ze = ze, .immediate = immediate };

	place.queue = ze_queue(&place.ze, ze.compute, 0);
	place.list =
	    immediate ? ze_immediate(&place.ze, ze.compute, 0) : ze_list(&place.ze, ze.compute);
	place.from = ze_host_memory(&place.ze, BYTES);
	place.to = ze_device_memory(&place.ze, BYTES);
	ok(tare_time_open_levelzero(&place.timer, ze.context, ze.device, place.list,
	                            immediate ? TARE_TIME_IMMEDIATE : TARE_TIME_REGULAR, NULL,
	                            &error));
	return place;
}

static void append_copy(struct place *place, ze_event_handle_t event)
{
	must(zeCommandListAppendMemoryCopy(place->list, place->to, place->from, BYTES, event, 0,
	                                   NULL));
}

static void execute(struct place *place)
{
	must(zeCommandQueueExecuteCommandLists(place->queue, 1, &place->list, NULL));
}

static struct tare_time_result result_of(struct place *place, struct tare_time_span span,
                                         int64_t limit_ns)
{
	struct tare_time_result result;

	ok(tare_time_read(place->timer, span, limit_ns, &result, &error));
	return result;
}

static int64_t tick_ns(const struct place *place)
{
	return (int64_t)tare_tick_ns(&place->ze.global) + 1;
}

static void finish(struct place *place)
{
	if (!place->immediate)
		must(zeCommandListDestroy(place->list));
	ok(tare_time_close(place->timer, &error));
	if (place->immediate)
		must(zeCommandListDestroy(place->list));
}

// On an immediate list the barriers may begin before the copy is there: what is exact is the copy,
// when all of it is held by an event of the host's.
static void one_copy(const void *argument, int attempt)
{
	const struct row *row = argument;
	struct place place = place_of(open_row(row, attempt), row->immediate);
	ze_event_handle_t gate = ze_event(&place.ze), copied = ze_event(&place.ze);
	struct tare_time_span span;

	int64_t before = tare_host_now().ns;
	if (row->immediate)
		must(zeCommandListAppendWaitOnEvents(place.list, 1, &gate));
	ok(tare_time_begin(place.timer, "copy", &span, &error));
	append_copy(&place, copied);
	ok(tare_time_end(place.timer, span, &error));
	if (row->immediate) {
		must(zeEventHostSignal(gate));
	} else {
		must(zeCommandListClose(place.list));
		execute(&place);
	}
	if (row->wraps && tare_host_now().ns - before > INT64_C(1000) * (window_us(attempt) / 8))
		_exit(CASE_TOO_LATE);

	struct tare_time_result result = result_of(&place, span, LIMIT_NS);
	holds(result.state == TARE_TIME_OK);
	near(result.device_ns, copy_ns() + 2 * MARKER_US * 1000, tick_ns(&place));
	near(result.floor_ns, 2 * MARKER_US * 1000, tick_ns(&place));
	holds(result.rate.hz_numerator == row->hz && result.rate.hz_denominator == 1);
	holds(result.rate.valid_bits == row->global_bits && result.wraps_excluded);
	uint64_t mask = tare_ticks_mask(&result.rate);
	if (row->wraps && (result.end_ticks & mask) > (result.start_ticks & mask))
		_exit(CASE_TOO_LATE);
	// The copy's own times, by the counter of the events.
	struct tare_time_result own;
	ok(tare_time_event(place.timer, "copy", copied, LIMIT_NS, &own, &error));
	holds(own.state == TARE_TIME_OK && own.floor_ns == 0 && own.host_ns == -1);
	near(own.device_ns, copy_ns(), tick_ns(&place));
	holds(own.rate.valid_bits == row->kernel_bits);
	finish(&place);
}

static void spans_are_the_scripts_within_a_tick(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int status = CASE_TOO_LATE;
		for (int attempt = 0; attempt < 4 && status == CASE_TOO_LATE; attempt++)
			status = ze_end_case(ze_start_case(one_copy, &rows[i], attempt));
		if (status == CASE_TOO_LATE)
			print_message("# %s: too slow a machine to wrap within the copy\n",
			              rows[i].name);
		else if (status != 0)
			fail_msg("%s: %d", rows[i].name, status);
	}
}

static const char plain[] = HEAD "copy pinned device fixed 3 us rate 1 GB/s\n"
                                 "marker fixed 7 us\n";
// 100 us for the bytes.
#define PLAIN_NS 103000

// Nested spans, and the same list executed again and again.
static void run_again(const void *argument, int attempt)
{
	struct place place = place_of(ze_open(plain), false);
	struct tare_time_span outer, inner;
	struct tare_time_result first, later;
	(void)argument;
	(void)attempt;

	ok(tare_time_begin(place.timer, "outer", &outer, &error));
	append_copy(&place, NULL);
	ok(tare_time_begin(place.timer, "inner", &inner, &error));
	append_copy(&place, NULL);
	ok(tare_time_end(place.timer, inner, &error));
	ok(tare_time_end(place.timer, outer, &error));
	must(zeCommandListClose(place.list));
	holds(result_of(&place, inner, 0).state == TARE_TIME_NOT_READY);
	holds(result_of(&place, inner, 1000000).state == TARE_TIME_NOT_READY);
	execute(&place);
	first = result_of(&place, outer, LIMIT_NS);
	// Each of the inner one's two barriers before, its own empty span, and three within and
	// behind.
	near(first.device_ns, 2 * PLAIN_NS + 7 * 7000, 1);
	near(result_of(&place, inner, LIMIT_NS).device_ns, PLAIN_NS + 14000, 1);
	for (int i = 0; i < 3; i++) {
		uint64_t before = first.start_ticks;
		execute(&place);
		must(zeCommandQueueSynchronize(place.queue, UINT64_MAX));
		later = result_of(&place, outer, 0);
		holds(later.state == TARE_TIME_OK && later.start_ticks > before);
		near(later.device_ns, first.device_ns, 1);
		first = later;
	}
	finish(&place);
}

static void reuse_immediate(const void *argument, int attempt)
{
	struct place place = place_of(ze_open(plain), true);
	(void)argument;
	(void)attempt;

	// More than there is room for, because each is released; the floor is always told.
	for (int i = 0; i < 200; i++) {
		struct tare_time_span span;
		struct tare_time_result result;
		ok(tare_time_begin(place.timer, "copy", &span, &error));
		append_copy(&place, NULL);
		ok(tare_time_end(place.timer, span, &error));
		if (i % 3) {
			result = result_of(&place, span, LIMIT_NS);
			// A machine under load may make the empty spans longer than the copy.
			holds(result.state == TARE_TIME_OK ||
			      result.state == TARE_TIME_BELOW_FLOOR);
			holds(result.device_ns >= PLAIN_NS + 14000 && result.floor_ns >= 14000);
		}
		ok(tare_time_release(place.timer, span, &error));
	}
	must(zeCommandListAppendBarrier(place.list, NULL, 0, NULL));
	for (int i = 0; i < 2000 && tare_time_close(place.timer, &error) == -EBUSY; i++)
		usleep(10000);
	must(zeCommandListDestroy(place.list));
}

static void lose_the_device(const void *argument, int attempt)
{
	struct place place = place_of(
	    ze_open(HEAD "copy pinned device fixed 3 us rate 1 GB/s\nfault device-lost 3\n"),
	    false);
	struct tare_time_span span;
	struct tare_time_result result;
	char line[TARE_TIME_LINE];
	(void)argument;
	(void)attempt;

	ok(tare_time_begin(place.timer, "copy", &span, &error));
	append_copy(&place, NULL);
	ok(tare_time_end(place.timer, span, &error));
	must(zeCommandListClose(place.list));
	execute(&place);
	for (int i = 0; i < 2000; i++) {
		result = result_of(&place, span, 10000000);
		if (result.state != TARE_TIME_NOT_READY)
			break;
	}
	holds(result.state == TARE_TIME_NOT_AVAILABLE && result.reason == TARE_TIME_DEVICE_LOST);
	holds(result.native == ZE_RESULT_ERROR_DEVICE_LOST && result.device_ns == -1);
	tare_time_line(&result, line, sizeof line);
	holds(strstr(line, "the device is lost (0x70000001)") != NULL);
	tare_time_close(place.timer, NULL);
}

static void misuse(const void *argument, int attempt)
{
	struct place place = place_of(ze_open(plain), false);
	struct tare_timer *timer = place.timer;
	struct tare_time_options many = { .spans = 5000 };
	struct tare_time_result result;
	struct ze ze = place.ze;
	(void)argument;
	(void)attempt;

	holds(tare_time_open_levelzero(&timer, ze.context, ze.device, NULL, TARE_TIME_REGULAR, NULL,
	                               &error) == -EINVAL);
	holds(timer == NULL && strstr(error.message, "NULL"));
	holds(tare_time_open_levelzero(&timer, ze.context, ze.device, place.list,
	                               (enum tare_time_list)7, NULL, &error) == -EINVAL);
	holds(tare_time_open_levelzero(&timer, ze.context, ze.device, place.list, TARE_TIME_REGULAR,
	                               &many, &error) == -EINVAL);
	holds(strstr(error.message, "at most 4096") != NULL);
	// Numbers and memory that is none.
	holds(tare_time_open_levelzero(&timer, (void *)8, ze.device, place.list, TARE_TIME_REGULAR,
	                               NULL, &error) == -EINVAL &&
	      strstr(error.message, "is no context"));
	holds(tare_time_open_levelzero(&timer, ze.context, (void *)8, place.list, TARE_TIME_REGULAR,
	                               NULL, &error) == -EINVAL &&
	      strstr(error.message, "is no device"));
	holds(tare_time_open_levelzero(&timer, ze.context, ze.device, (void *)8, TARE_TIME_REGULAR,
	                               NULL, &error) == -EINVAL &&
	      strstr(error.message, "is no command list"));
	holds(tare_time_event(place.timer, "event", (void *)8, 0, &result, &error) == -EINVAL &&
	      strstr(error.message, "is no event"));
	// Memory that is no device, and an object of another kind.
	holds(tare_time_open_levelzero(&timer, ze.context, &result, place.list, TARE_TIME_REGULAR,
	                               NULL, &error) == -EINVAL &&
	      strstr(error.message, "no device"));
	holds(tare_time_open_levelzero(&timer, ze.context, ze.context, place.list,
	                               TARE_TIME_REGULAR, NULL, &error) == -EINVAL);
	// What the program has not loaded, is not loaded for it.
	holds(tare_time_open_cuda(&timer, NULL, NULL, &error) == -ENOENT &&
	      strstr(error.message, "libcuda.so.1"));
	// An event that nobody signals.
	ok(tare_time_event(place.timer, "never", ze_event(&place.ze), 1000000, &result, &error));
	holds(result.state == TARE_TIME_NOT_READY);
	finish(&place);
}

CASE(a_list_that_runs_again_has_new_times, run_again)
CASE(an_immediate_list_uses_places_again, reuse_immediate)
CASE(a_lost_device_is_named, lose_the_device)
CASE(wrong_uses_are_errors, misuse)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_the_scripts_within_a_tick),
		cmocka_unit_test(a_list_that_runs_again_has_new_times),
		cmocka_unit_test(an_immediate_list_uses_places_again),
		cmocka_unit_test(a_lost_device_is_named),
		cmocka_unit_test(wrong_uses_are_errors),
	};
	if (argc > 1)
		setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
