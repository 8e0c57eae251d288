// SPDX-License-Identifier: Apache-2.0
// A process that uses two APIs, whose handles are all equal: what each record means is told by
// whose handles they are. And what was written before records told that.
#include "tests/unit/trace/trace_rig.h"

enum { CUDA = TARE_TRACE_CUDA, F_LAUNCH = 2 * 4096 + 1, F_SYNCHRONIZE = F_LAUNCH + 1 };

static void second_object(struct rig *rig, enum tare_trace_object_kind kind,
                          struct tare_trace_object object, const char *name)
{
	object.head = tare_trace_head(TARE_TRACE_OBJECT, CUDA, kind, 0);
	object.ticks = START;
	object.name = name ? tare_trace_writer_text(rig->writer, name) : 0;
	rig_add(rig, (union tare_trace_record){ .object = object });
}

static void second_fact(struct rig *rig, enum tare_trace_fact key, uint64_t object, uint64_t value,
                        const char *text)
{
	rig_add(rig,
	        (union tare_trace_record){
	            .fact = { .head = tare_trace_head(TARE_TRACE_FACT, CUDA, key, 0),
	                      .object = object,
	                      .ticks = START,
	                      .value = value,
	                      .device = key == TARE_TRACE_FACT_PRIVATE_BYTES ? DEVICE : 0,
	                      .text = text ? tare_trace_writer_text(rig->writer, text) : 0 } });
}

static void second_function(struct rig *rig, uint16_t number, const char *name, uint32_t role)
{
	rig_add(rig, (union tare_trace_record){
	                 .function = { .head = tare_trace_head(TARE_TRACE_FUNCTION, 0, number, 0),
	                               .name = tare_trace_writer_text(rig->writer, name),
	                               .api = CUDA,
	                               .role = role } });
}

// What rig_usual defines, once more, of the other API; its queue has number 2.
static void define_second(struct rig *rig)
{
	second_function(rig, F_LAUNCH, "cuLaunchKernel", TARE_ROLE_COMMAND);
	second_function(rig, F_SYNCHRONIZE, "cuStreamSynchronize", TARE_ROLE_WAIT);
	second_object(rig, TARE_OBJECT_PLATFORM, (struct tare_trace_object){ .handle = PLATFORM },
	              "Other");
	second_object(rig, TARE_OBJECT_DEVICE,
	              (struct tare_trace_object){
	                  .handle = DEVICE, .parent = PLATFORM, .bytes = 1 << 20, .number = 1 },
	              "Device Y");
	second_object(rig, TARE_OBJECT_QUEUE,
	              (struct tare_trace_object){ .handle = QUEUE, .device = DEVICE, .number = 2 },
	              NULL);
	second_object(rig, TARE_OBJECT_PROGRAM, (struct tare_trace_object){ .handle = PROGRAM },
	              NULL);
	second_object(rig, TARE_OBJECT_KERNEL,
	              (struct tare_trace_object){ .handle = SCALE, .parent = PROGRAM }, "gemm");
	second_object(rig, TARE_OBJECT_MEMORY,
	              (struct tare_trace_object){
	                  .handle = BUFFER, .bytes = 99, .number = TARE_TRACE_MEMORY_BUFFER },
	              NULL);
}

static uint32_t second_command(struct rig *rig, int64_t enter, struct tare_trace_command c)
{
	c.head = tare_trace_head(TARE_TRACE_COMMAND, 0, F_LAUNCH, 1);
	c.enter = (uint64_t)enter;
	c.number = ++rig->number[1];
	c.call_ticks = 1000;
	c.queue = 2;
	rig_add(rig, (union tare_trace_record){ .command = c });
	return c.number;
}

static struct rig begin(struct tare_trace_header header)
{
	struct rig rig = rig_new();
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	define_second(&rig);
	return rig;
}

static struct tare_recording *end(struct rig *rig)
{
	rig_end(rig);
	return rig_load(rig);
}

static void equal_handles_are_objects_of_their_api(void **state)
{
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	struct rig rig;
	(void)state;
	header.apis = 1 << TARE_TRACE_OPENCL | 1 << CUDA;
	rig = begin(header);
	second_fact(&rig, TARE_TRACE_FACT_COMPUTE_UNITS, DEVICE, 132, NULL);
	second_fact(&rig, TARE_TRACE_FACT_PRIVATE_BYTES, SCALE, 17, NULL);
	rig_fact(&rig, TARE_TRACE_FACT_COMPUTE_UNITS,
	         (struct tare_trace_fact_record){ .object = DEVICE, .ticks = START, .value = 8 },
	         NULL);
	rig_add(&rig, (union tare_trace_record){
	                  .change = { .head = tare_trace_head(TARE_TRACE_CHANGE, CUDA,
	                                                      TARE_CHANGE_PROFILING, 0),
	                              .object = QUEUE,
	                              .ticks = START,
	                              .to = 2 } });
	rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ .amount = 1 });
	second_command(
	    &rig, START + 2 * MS,
	    (struct tare_trace_command){ .kind = TARE_KIND_KERNEL, .object = SCALE, .amount = 1 });
	second_command(
	    &rig, START + 3 * MS,
	    (struct tare_trace_command){ .kind = TARE_KIND_WRITE, .object = BUFFER, .amount = 99 });
	rig_call(&rig, 1, F_FINISH, 0,
	         (struct tare_trace_call){
	             .enter = START + 4 * MS, .exit = START + 5 * MS, .object = QUEUE });
	rig_call(&rig, 1, F_SYNCHRONIZE, 0,
	         (struct tare_trace_call){ .enter = START + 6 * MS,
	                                   .exit = START + 7 * MS,
	                                   .object = QUEUE,
	                                   .device = DEVICE });
	r = end(&rig);
	assert_int_equal(r->processes[0].apis, header.apis);
	assert_int_equal(r->apis, header.apis);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->devices[0].api, TARE_TRACE_OPENCL);
	assert_int_equal(r->devices[1].api, CUDA);
	assert_int_equal(r->devices[1].same_as, 1);
	assert_string_equal(r->devices[0].platform, "Portable");
	assert_string_equal(r->devices[1].platform, "Other");
	assert_int_equal(r->devices[0].compute_units, 8);
	assert_int_equal(r->devices[1].compute_units, 132);
	assert_int_equal(r->queues[0].device, 0);
	assert_int_equal(r->queues[1].device, 1);
	assert_false(r->queues[0].profiling_added);
	assert_true(r->queues[1].profiling_added);
	assert_string_equal(r->kernels[TARE_COMMAND(r, 0)->object].name, "scale");
	assert_string_equal(r->kernels[TARE_COMMAND(r, 1)->object].name, "gemm");
	assert_int_equal(r->kernel_fact_count, 1);
	assert_string_equal(r->kernels[r->kernel_facts[0].kernel].name, "gemm");
	assert_int_equal(r->kernel_facts[0].device, 1);
	assert_int_equal(r->memories[TARE_COMMAND(r, 2)->object].bytes, 99);
	assert_int_equal(r->functions[TARE_COMMAND(r, 1)->function].api, CUDA);
	assert_int_equal(r->calls[0].object, 0);
	assert_int_equal(r->calls[0].device, 0);
	assert_int_equal(r->calls[1].object, 1);
	assert_int_equal(r->calls[1].device, 1);
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

static void equal_events_are_commands_of_their_api(void **state)
{
	static const uint64_t event[] = { 0xe1 };
	struct rig rig = begin(rig_header(42));
	struct tare_recording *r;
	(void)state;
	rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ .event = 0xe1 });
	second_command(&rig, START + 2 * MS,
	               (struct tare_trace_command){ .kind = TARE_KIND_MARKER, .event = 0xe1 });
	rig_command(&rig, 1, START + 3 * MS, TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ .event = 0xe2 });
	rig_depends(&rig, 1, 0, 3, 1, event);
	second_command(&rig, START + 4 * MS,
	               (struct tare_trace_command){ .kind = TARE_KIND_MARKER });
	rig_depends(&rig, 1, CUDA << TARE_DEPENDS_API_SHIFT, 4, 1, event);
	rig_call(&rig, 1, F_SYNCHRONIZE, 0,
	         (struct tare_trace_call){
	             .enter = START + 5 * MS, .exit = START + 6 * MS, .value = 1 });
	rig_depends(&rig, 1, CUDA << TARE_DEPENDS_API_SHIFT | TARE_DEPENDS_OF_CALL, START + 5 * MS,
	            1, event);
	r = end(&rig);
	assert_int_equal(r->waits[TARE_COMMAND(r, 2)->first_wait].command, 0);
	assert_int_equal(r->waits[TARE_COMMAND(r, 3)->first_wait].command, 1);
	assert_int_equal(r->calls[0].object, 1);
	assert_int_equal(r->calls[0].device, 1);
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// A card that two APIs show is one device.
static void one_card_is_one_device(void **state)
{
	struct rig rig = begin(rig_header(42));
	struct tare_recording *r;
	(void)state;
	second_fact(&rig, TARE_TRACE_FACT_UUID, DEVICE, 0, "00112233445566778899aabbccddeeff");
	rig_fact(&rig, TARE_TRACE_FACT_UUID,
	         (struct tare_trace_fact_record){ .object = DEVICE, .ticks = START },
	         "00112233445566778899aabbccddeeff");
	r = end(&rig);
	assert_int_equal(r->devices[1].same_as, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// Before 1.3 nothing told: the header's API, or the only one that there was.
static void what_does_not_tell_is_of_the_header_s(void **state)
{
	for (uint32_t api = TARE_TRACE_NO_API; api <= TARE_TRACE_OPENCL; api++) {
		struct tare_trace_header header = rig_header(42);
		struct rig rig = rig_new();
		struct tare_recording *r;
		(void)state;
		header.api = api;
		rig_begin(&rig, "a", &header);
		rig_usual(&rig);
		rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ 0 });
		r = end(&rig);
		assert_int_equal(r->devices[0].api, TARE_TRACE_OPENCL);
		assert_string_equal(r->kernels[TARE_COMMAND(r, 0)->object].name, "scale");
		assert_int_equal(r->processes[0].apis, api ? 1 << TARE_TRACE_OPENCL : 0);
		assert_int_equal(r->unresolved, 0);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_handles_are_objects_of_their_api),
		cmocka_unit_test(equal_events_are_commands_of_their_api),
		cmocka_unit_test(one_card_is_one_device),
		cmocka_unit_test(what_does_not_tell_is_of_the_header_s),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
