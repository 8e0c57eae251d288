// SPDX-License-Identifier: Apache-2.0
// Places of transfers in a recording.
#include "tests/unit/trace/trace_rig.h"

static void region(struct rig *rig, uint32_t track, uint32_t number, uint64_t offset)
{
	rig_add(rig, (union tare_trace_record){
	                 .transfer = { .head = tare_trace_head(TARE_TRACE_TRANSFER, 0, 0, track),
	                               .number = number,
	                               .offset = offset,
	                               .region = { 64, 1, 1 } } });
}

// Where writes and reads take place: by the part of the memory object.
static void transfers_of_the_same_bytes_have_one_place(void **state)
{
	static const struct {
		uint8_t kind;
		uint64_t host;
		int64_t offset;
		uint32_t track;
	} rows[] = {
		{ TARE_KIND_WRITE, 0x1000, -1, 1 },
		{ TARE_KIND_WRITE, 0x1000, -1, 1 }, // the same
		// from another address
		{ TARE_KIND_WRITE, 0x2000, -1, 1 },
		// another part, twice
		{ TARE_KIND_WRITE, 0x1000, 64, 1 },
		{ TARE_KIND_READ, 0x1000, 64, 1 },
		{ TARE_KIND_COPY, 0x1000, -1, 1 },
		{ TARE_KIND_WRITE, 0, -1, 1 }, // no place
		// of another thread
		{ TARE_KIND_WRITE, 0x1000, -1, 2 },
		{ TARE_KIND_WRITE, 0x1000, 128, 1 },
	};
	static const uint32_t commands[] = { 0, 1, 2, 3, 4, 7, 8 };
	// Places of one letter are one.
	static const char *const letters = "aaaccad";
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_track(&rig, 2, 4712, "other");
	// Of nobody, and of a command that is none.
	region(&rig, 1, 7, 0);
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t number = rig_command(&rig, rows[i].track, START + (i + 1) * MS, 0,
		                              (struct tare_trace_command){ .kind = rows[i].kind,
		                                                           .object2 = rows[i].host,
		                                                           .object = BUFFER,
		                                                           .amount = 64 });
		if (rows[i].offset >= 0)
			region(&rig, rows[i].track, number, (uint64_t)rows[i].offset);
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->unresolved, 1);
	assert_int_equal(r->place_count, sizeof commands / sizeof *commands);
	for (uint32_t i = 0; i < r->place_count; i++) {
		assert_int_equal(r->places[i].command, commands[i]);
		for (uint32_t k = 0; k < i; k++)
			if ((r->places[i].identity == r->places[k].identity) !=
			    (letters[i] == letters[k]))
				fail_msg("places %u and %u", k, i);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

// Commands of threads change places when they are put in order, and so do their places; what a
// thread says of its last transfer reaches that one though others' have come since.
static void places_go_with_their_commands(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_trace_command write = { .kind = TARE_KIND_WRITE,
		                            .object = BUFFER,
		                            .amount = 64 };
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_track(&rig, 2, 4712, "other");
	write.object2 = 0x1000;
	write.call_ticks = 10 * MS;
	rig_command(&rig, 1, START + 1 * MS, 0, write); // written when it returns: the last
	region(&rig, 1, 1, 64);
	write.call_ticks = 0;
	for (uint32_t i = 0; i < 3; i++) {
		write.object2 = 0x2000 + i;
		rig_command(&rig, 2, START + (2 + i) * MS, 0, write);
	}
	write.object2 = 0x1000;
	rig_command(&rig, 2, START + 5 * MS, 0, write);
	region(&rig, 2, 4, 64);
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->place_count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(r->places[i].command, i);
	assert_int_equal(r->places[0].identity, r->places[4].identity);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_not_equal(r->places[i].identity, r->places[0].identity);
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transfers_of_the_same_bytes_have_one_place),
		cmocka_unit_test(places_go_with_their_commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
