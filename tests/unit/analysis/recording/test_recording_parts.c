// SPDX-License-Identifier: Apache-2.0
// What sub-devices did of the commands of their whole device: in the recording, and in the ledgers.
#include "analysis/ledger/ledger.h"
#include "tests/unit/trace/trace_rig.h"

enum { FIRST = 0x210, SECOND = 0x220, SECONDS = 5 };

static void sub_device(struct rig *rig, uint64_t handle, uint64_t number)
{
	rig_add(rig, (union tare_trace_record){
	                 .object = {
	                     .head = tare_trace_head(TARE_TRACE_OBJECT, 0, TARE_OBJECT_DEVICE, 1),
	                     .handle = handle,
	                     .ticks = START,
	                     .parent = PLATFORM } });
	rig_add(rig, (union tare_trace_record){
	                 .fact = { .head = tare_trace_head(TARE_TRACE_FACT, 0,
	                                                   TARE_TRACE_FACT_SUB_DEVICE, 1),
	                           .object = handle,
	                           .ticks = START,
	                           .value = number,
	                           .device = DEVICE } });
}

// Host and device count the same nanoseconds.
static void begin(struct rig *rig)
{
	struct tare_trace_header header = rig_header(42);
	*rig = rig_new();
	header.end_ticks = START + SECONDS * 1000 * MS;
	rig_begin(rig, "a", &header);
	rig_usual(rig);
	sub_device(rig, FIRST, 0);
	sub_device(rig, SECOND, 1);
	for (int64_t at_ns = START; at_ns < START + SECONDS * 1000 * MS; at_ns += 1000 * MS)
		rig_add(rig, (union tare_trace_record){
		                 .clock_pair = { .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
		                                                         TARE_CLOCK_DEVICE, 1),
		                                 .before = (uint64_t)at_ns,
		                                 .after = (uint64_t)at_ns,
		                                 .value = (uint64_t)at_ns,
		                                 .device = DEVICE } });
}

static uint32_t enqueue(struct rig *rig, int64_t at_ms)
{
	return rig_command(rig, 1, START + at_ms * MS, 0, (struct tare_trace_command){ 0 });
}

// Milliseconds since START, here and below.
static void part(struct rig *rig, uint32_t number, uint8_t parts, uint16_t which, int64_t from_ms,
                 int64_t to_ms)
{
	rig_add(rig, (union tare_trace_record){
	                 .part = { .head = tare_trace_head(TARE_TRACE_PART, parts, which, 1),
	                           .command_track = 1,
	                           .command_number = number,
	                           .start = (uint64_t)(START + from_ms * MS),
	                           .end = (uint64_t)(START + to_ms * MS),
	                           .observed = START + 4000 * MS } });
}

static void whole(struct rig *rig, uint32_t number, int64_t from_ms, int64_t to_ms)
{
	rig_add(rig, (union tare_trace_record){
	                 .times = { .head = tare_trace_head(
	                                TARE_TRACE_TIMES,
	                                TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END, 0, 1),
	                            .command_track = 1,
	                            .command_number = number,
	                            .start = (uint64_t)(START + from_ms * MS),
	                            .end = (uint64_t)(START + to_ms * MS),
	                            .observed = START + 4000 * MS } });
}

static struct tare_recording *end(struct rig *rig)
{
	struct tare_recording *r;
	rig_end(rig);
	r = rig_load(rig);
	rig_free(rig);
	return r;
}

static int64_t of(const struct tare_ledgers *ledgers, uint32_t device,
                  enum tare_ledger_category category)
{
	for (size_t i = 0; i < ledgers->count; i++)
		if (ledgers->ledgers[i].device == device)
			return ledgers->ledgers[i].parts_ns[category] / MS;
	return -1;
}

static void check_sums(const struct tare_ledgers *ledgers)
{
	for (size_t i = 0; i < ledgers->count; i++) {
		int64_t sum_ns = 0;
		for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
			sum_ns += ledgers->ledgers[i].parts_ns[k];
		assert_int_equal(sum_ns, ledgers->ledgers[i].wall_ns);
	}
}

static void a_part_is_time_of_its_sub_device(void **state)
{
	struct tare_ledgers ledgers;
	struct tare_recording *r;
	struct tare_view view;
	struct rig rig;
	uint32_t first, second;
	(void)state;
	begin(&rig);
	first = enqueue(&rig, 10);
	second = enqueue(&rig, 20);
	part(&rig, first, 2, 0, 100, 180);
	part(&rig, first, 2, 1, 130, 200);
	whole(&rig, first, 100, 200);
	// Of this one nobody says what they did.
	whole(&rig, second, 300, 400);
	r = end(&rig);
	assert_int_equal(r->part_count, 2);
	assert_int_equal(r->command_count, 2);
	assert_int_equal(r->devices[0].sub_devices, 2);
	view = tare_view_all(r);
	assert_int_equal(tare_ledgers_compute(r, &view, &ledgers, &rig_error), 0);
	assert_int_equal(ledgers.count, 4);
	assert_int_equal(of(&ledgers, 0, TARE_LEDGER_KERNEL), 200);
	assert_int_equal(of(&ledgers, 1, TARE_LEDGER_KERNEL), 80);
	assert_int_equal(of(&ledgers, 2, TARE_LEDGER_KERNEL), 70);
	assert_int_equal(of(&ledgers, TARE_NO_INDEX, TARE_LEDGER_KERNEL), 200);
	for (uint32_t device = 1; device <= 2; device++)
		assert_int_equal(of(&ledgers, device, TARE_LEDGER_UNTIMED), 100);
	assert_int_equal(of(&ledgers, 0, TARE_LEDGER_UNTIMED), 0);
	check_sums(&ledgers);
	// Gaps are told of the whole device, for nothing was given to its parts.
	assert_true(ledgers.gap_count > 0);
	for (size_t i = 0; i < ledgers.gap_count; i++)
		assert_int_equal(ledgers.gaps[i].device, 0);
	tare_ledgers_free(&ledgers);
	view.device = 1;
	assert_int_equal(tare_ledgers_compute(r, &view, &ledgers, &rig_error), 0);
	assert_int_equal(ledgers.count, 2);
	assert_int_equal(of(&ledgers, TARE_NO_INDEX, TARE_LEDGER_KERNEL), 80);
	check_sums(&ledgers);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

static void commands_that_are_never_timed_are_not_known_of_the_parts(void **state)
{
	struct tare_ledgers ledgers;
	struct tare_recording *r;
	struct tare_view view;
	struct rig rig;
	uint32_t first;
	(void)state;
	begin(&rig);
	first = enqueue(&rig, 10);
	part(&rig, first, 2, 0, 100, 180);
	part(&rig, first, 2, 1, 130, 200);
	whole(&rig, first, 100, 200);
	enqueue(&rig, 4000); // never harvested: until the process ends
	r = end(&rig);
	view = tare_view_all(r);
	assert_int_equal(tare_ledgers_compute(r, &view, &ledgers, &rig_error), 0);
	for (uint32_t device = 0; device <= 2; device++)
		assert_int_equal(of(&ledgers, device, TARE_LEDGER_UNTIMED), 1000);
	check_sums(&ledgers);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

static void parts_that_cannot_be_are_left_out(void **state)
{
	static const struct {
		uint8_t parts;
		uint16_t which[2];
		int64_t from_ms[2], to_ms[2];
	} wrong[] = {
		// another number than there are sub-devices
		{ 3, { 0, 1 }, { 100, 130 }, { 180, 200 } },
		{ 2, { 0, 0 }, { 100, 130 }, { 180, 200 } }, // one is missing
		{ 2, { 0, 1 }, { 90, 130 }, { 180, 200 } },  // begins before the command
		{ 2, { 0, 1 }, { 100, 130 }, { 180, 210 } }, // ends behind it
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tare_recording *r;
		struct rig rig;
		uint32_t number;
		(void)state;
		begin(&rig);
		number = enqueue(&rig, 10);
		for (int k = 0; k < 2; k++)
			part(&rig, number, wrong[i].parts, wrong[i].which[k], wrong[i].from_ms[k],
			     wrong[i].to_ms[k]);
		part(&rig, 77, 2, 0, 100, 110); // of no command
		whole(&rig, number, 100, 200);
		r = end(&rig);
		assert_int_equal(r->part_count, 0);
		assert_int_equal(r->unresolved, 1);
		assert_int_equal(TARE_COMMAND(r, 0)->end_ns - TARE_COMMAND(r, 0)->start_ns,
		                 100 * MS);
		tare_recording_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_time_of_its_sub_device),
		cmocka_unit_test(commands_that_are_never_timed_are_not_known_of_the_parts),
		cmocka_unit_test(parts_that_cannot_be_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
