// SPDX-License-Identifier: Apache-2.0
// A device that OpenCL and Level Zero show in one process: one device where facts tell it or names
// leave no choice, else two, and it is said that they may be one.
#include "analysis/ledger/ledger.h"
#include "tests/unit/trace/trace_rig.h"

enum { ZE = TARE_TRACE_LEVELZERO };

struct shown {
	const char *name, *uuid, *pci;
	uint64_t type;
};

static void show(struct rig *rig, uint32_t api, uint64_t handle, const struct shown *shown)
{
	static const enum tare_trace_fact keys[] = { TARE_TRACE_FACT_UUID, TARE_TRACE_FACT_PCI };
	const char *texts[] = { shown->uuid, shown->pci };
	struct tare_trace_object object = {
		.handle = handle,
		.ticks = START,
		.head = tare_trace_head(TARE_TRACE_OBJECT, (uint8_t)api, TARE_OBJECT_DEVICE, 0),
		.name = tare_trace_writer_text(rig->writer, shown->name)
	};
	rig_add(rig, (union tare_trace_record){ .object = object });
	for (int i = 0; i < 2; i++)
		if (texts[i])
			rig_add(rig, (union tare_trace_record){
			                 .fact = { .head = tare_trace_head(
			                               TARE_TRACE_FACT, (uint8_t)api, keys[i], 0),
			                           .object = handle,
			                           .ticks = START,
			                           .text = tare_trace_writer_text(rig->writer,
			                                                          texts[i]) } });
	if (shown->type)
		rig_add(rig, (union tare_trace_record){
		                 .fact = { .head = tare_trace_head(TARE_TRACE_FACT, (uint8_t)api,
		                                                   TARE_TRACE_FACT_DEVICE_TYPE, 0),
		                           .object = handle,
		                           .ticks = START,
		                           .value = shown->type } });
}

static void queue_of(struct rig *rig, uint32_t api, uint64_t handle, uint32_t number)
{
	rig_add(rig, (union tare_trace_record){
	                 .object = { .head = tare_trace_head(TARE_TRACE_OBJECT, (uint8_t)api,
	                                                     TARE_OBJECT_QUEUE, 0),
	                             .handle = 0x9000 + number,
	                             .ticks = START,
	                             .device = handle,
	                             .number = number } });
}

// One device of OpenCL, up to two of Level Zero, each of which runs a kernel: 2 ms of OpenCL's,
// then 2 ms of the first one's of Level Zero, of which 1 ms is beside it.
static struct tare_recording *make(const struct shown *cl, const struct shown *ze, size_t count)
{
	struct tare_trace_header header = rig_header(42);
	struct rig rig = rig_new();
	header.end_ticks = START + 10 * MS;
	rig_begin(&rig, "a", &header);
	rig_function(&rig, F_KERNEL, "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND);
	rig_track(&rig, 1, 4711, "main");
	show(&rig, TARE_TRACE_OPENCL, 0x10, cl);
	queue_of(&rig, TARE_TRACE_OPENCL, 0x10, 1);
	for (size_t i = 0; i < count; i++)
		show(&rig, ZE, 0x20 + i, &ze[i]);
	queue_of(&rig, ZE, 0x20, 2);
	for (uint32_t i = 0; i < 2; i++)
		for (int k = 0; k < 3; k++)
			rig_add(&rig, (union tare_trace_record){
			                  .clock_pair = {
			                      .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR,
			                                              i ? ZE : TARE_TRACE_OPENCL,
			                                              TARE_CLOCK_DEVICE, 1),
			                      .before = (uint64_t)(START + k * MS),
			                      .after = (uint64_t)(START + k * MS),
			                      .value = (uint64_t)(START + k * MS),
			                      .device = i ? 0x20 : 0x10 } });
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t number = rig_command(&rig, 1, START + 100 + i * 2000, 0,
		                              (struct tare_trace_command){ .queue = i + 1 });
		rig_times(&rig, 1, number,
		          (struct tare_trace_times){ .start = (uint64_t)(START + (1 + i) * MS),
		                                     .end = (uint64_t)(START + (3 + i) * MS),
		                                     .observed = (uint64_t)(START + 5 * MS) });
	}
	rig_end(&rig);
	struct tare_recording *r = rig_load(&rig);
	rig_free(&rig);
	return r;
}

static void facts_tell_names_must(void **state)
{
	static const struct {
		struct shown cl, ze[2];
		size_t count;
		enum tare_same_by by; // nothing: they are two
		bool doubt;
	} rows[] = {
		{ { "GPU", "AB-cd01", NULL, 4 },
		  { { "Other name", "abcd01", NULL, 4 } },
		  1,
		  TARE_SAME_BY_UUID,
		  false },
		{ { "GPU", NULL, "0000:03:00.0", 4 },
		  { { "G", NULL, "0000:03:00.0", 4 } },
		  1,
		  TARE_SAME_BY_PCI,
		  false },
		{ { "GPU", "aa", "0000:03:00.0", 4 },
		  { { "G", NULL, "0000:03:00.0", 4 } },
		  1,
		  TARE_SAME_BY_PCI,
		  false },
		// A place on the bus is shared by the parts of a card.
		{ { "GPU", "aa", "0000:03:00.0", 4 },
		  { { "GPU", "bb", "0000:03:00.0", 4 } },
		  1,
		  TARE_SAME_BY_NOTHING,
		  false },
		{ { "GPU", "aa", NULL, 4 },
		  { { "GPU", NULL, NULL, 4 } },
		  1,
		  TARE_SAME_BY_NAME,
		  false },
		{ { "GPU", "aa", NULL, 4 },
		  { { "Graphics", NULL, NULL, 4 } },
		  1,
		  TARE_SAME_BY_NOTHING,
		  true },
		{ { "GPU", NULL, NULL, 4 },
		  { { "GPU", NULL, NULL, 4 }, { "GPU", NULL, NULL, 4 } },
		  2,
		  TARE_SAME_BY_NOTHING,
		  true },
		{ { "GPU", NULL, NULL, 2 },
		  { { "GPU", NULL, NULL, 4 } },
		  1,
		  TARE_SAME_BY_NOTHING,
		  false },
		{ { "GPU", "0000", NULL, 4 },
		  { { "G", "00-00", NULL, 4 } },
		  1,
		  TARE_SAME_BY_NOTHING,
		  true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recording *r = make(&rows[i].cl, rows[i].ze, rows[i].count);
		struct tare_ledgers ledgers;
		struct tare_view view = tare_view_all(r);
		bool one = rows[i].by != TARE_SAME_BY_NOTHING;
		print_message("# row %zu\n", i);
		assert_int_equal(r->device_count, 1 + rows[i].count);
		assert_int_equal(r->devices[1].same_as, one ? 0 : 1);
		assert_int_equal(r->devices[1].same_by, rows[i].by);
		assert_int_equal(r->devices[1].maybe_same, rows[i].doubt ? 1 : 0);
		assert_int_equal(tare_ledgers_compute(r, &view, &ledgers, &rig_error), 0);
		assert_int_equal(ledgers.count, one ? 2 : 3);
		// The union has 3 ms of kernels whether they are one device or two.
		for (size_t k = 0; k < ledgers.count; k++) {
			bool of_one = one || k + 1 == ledgers.count;
			int64_t sum_ns = 0;
			for (int part = 0; part < TARE_LEDGER_CATEGORIES; part++)
				sum_ns += ledgers.ledgers[k].parts_ns[part];
			assert_true(sum_ns == ledgers.ledgers[k].wall_ns);
			assert_true(ledgers.ledgers[k].parts_ns[TARE_LEDGER_KERNEL] ==
			            (of_one ? 3 : 2) * MS);
		}
		tare_ledgers_free(&ledgers);
		tare_recording_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_tell_names_must),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
