// SPDX-License-Identifier: Apache-2.0
// What a page's timeline leaves out when it may not get longer, and where it cannot be written.
#include "timeline_rig.h"

#include <errno.h>

#include "tests/unit/quick.h"

static int64_t left_out_of(const struct decoded *decoded, const char *key)
{
	return json_integer_value(
	    json_object_get(json_object_get(decoded->header, "left_out"), key));
}

// Rows are some of the recording's, in their order, and what they wait for is still right.
static void check_some_commands(const struct rig *rig, const struct decoded *decoded)
{
	size_t count = decoded_count(decoded, "commands"), at = 0;
	int64_t *numbers = decoded_column(decoded, "commands", "number");
	int64_t *starts = decoded_column(decoded, "commands", "start");
	int64_t *waits = decoded_column(decoded, "waits", "command");

	for (size_t row = 0; row < count; row++) {
		const struct tare_recorded_command *command = &rig->made->commands[numbers[row]];
		assert_true(row == 0 || numbers[row] > numbers[row - 1]);
		assert_int_equal(starts[row], since(command->start_ns));
		for (size_t i = command->first_wait; i < rig->made->recording.wait_count; i++) {
			if (waits[at] != DECODED_UNKNOWN)
				assert_int_equal(numbers[waits[at]], rig->made->waits[i].command);
			at++;
			if (rig->made->waits[i].last)
				break;
		}
	}
	assert_int_equal(at, decoded_count(decoded, "waits"));
	free(numbers);
	free(starts);
	free(waits);
}

static void what_is_too_much_is_left_out(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct rig *rig = some_rig();
		const struct tare_recording *recording = &rig->made->recording;
		struct decoded whole = read_rig(rig, NO_LIMIT, NULL);
		size_t gaps = decoded_count(&whole, "gaps"), length;
		free(write_timeline(rig, NO_LIMIT, &length, NULL));
		for (int percent = 99; percent >= 45; percent -= test_is_quick() ? 18 : 9) {
			struct tare_page_left_out left_out;
			struct decoded decoded;
			uint64_t most_bytes = length * (uint64_t)percent / 100;
			size_t written;
			char *text = write_timeline(rig, most_bytes, &written, &left_out);
			assert_true(written <= most_bytes);
			assert_string_not_equal(left_out.why, "");
			if (written == 0) {
				free(text);
				continue;
			}
			decoded = decode_timeline(text, written);
			free(text);
			assert_int_equal(decoded_count(&decoded, "commands") + left_out.commands,
			                 recording->command_count);
			assert_int_equal(decoded_count(&decoded, "calls") + left_out.calls,
			                 recording->call_count);
			assert_int_equal(decoded_count(&decoded, "phases") + left_out.phases,
			                 PHASES);
			assert_int_equal(decoded_count(&decoded, "callbacks") + left_out.callbacks,
			                 CALLBACKS);
			assert_int_equal(decoded_count(&decoded, "gaps") + left_out.gaps, gaps);
			assert_int_equal(decoded_count(&decoded, "waits") + left_out.waits,
			                 recording->wait_count);
			assert_int_equal(left_out_of(&decoded, "commands"), left_out.commands);
			assert_int_equal(left_out_of(&decoded, "calls"), left_out.calls);
			assert_int_equal(left_out_of(&decoded, "waits"), left_out.waits);
			// No command goes while there are calls.
			assert_true(left_out.commands == 0 ||
			            decoded_count(&decoded, "calls") == 0);
			check_some_commands(rig, &decoded);
			decoded_free(&decoded);
		}
		decoded_free(&whole);
		rig_free(rig);
	}
}

static void the_shortest_go_first(void **state)
{
	struct rig *rig = long_rig();
	size_t length, last = SIZE_MAX;
	(void)state;

	free(write_timeline(rig, NO_LIMIT, &length, NULL));
	for (int percent = 95; percent > 10; percent -= test_is_quick() ? 20 : 10) {
		struct tare_page_left_out left_out;
		struct decoded decoded = read_rig(rig, length * (uint64_t)percent / 100, &left_out);
		size_t count = decoded_count(&decoded, "commands");
		int64_t *roles = decoded_column(&decoded, "calls", "role");
		int64_t *numbers = decoded_column(&decoded, "commands", "number");
		int64_t shortest_ns = INT64_MAX;
		size_t longer = 0;
		for (size_t i = 0; i < decoded_count(&decoded, "calls"); i++)
			assert_true(roles[i] == TARE_ROLE_WAIT);
		for (size_t i = 0; i < count; i++) {
			int64_t ns = rig->made->commands[numbers[i]].end_ns -
			             rig->made->commands[numbers[i]].start_ns;
			shortest_ns = ns < shortest_ns ? ns : shortest_ns;
		}
		// Of those as long as the shortest some are gone; of those clearly longer none.
		for (size_t i = 0; i < 1900; i++)
			longer += rig->made->commands[i].end_ns - rig->made->commands[i].start_ns >
			          shortest_ns * 9 / 8;
		assert_true(longer <= count && count <= last);
		// Most of what there is room for is used.
		if (left_out.commands > 0)
			assert_true(count > 0);
		last = count;
		free(roles);
		free(numbers);
		decoded_free(&decoded);
	}
	assert_true(last < 1000);
	rig_free(rig);
}

// Calls go in three steps, and all of a step at once.
static void calls_go_in_steps(void **state)
{
	struct rig *rig = long_rig();
	const struct tare_recording *recording = &rig->made->recording;
	size_t length, waits = 0, long_waits = 0;
	bool seen[3] = { false };
	(void)state;

	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		waits += call->role == TARE_ROLE_WAIT;
		long_waits += call->role == TARE_ROLE_WAIT && call->exit_ns - call->enter_ns >= 200;
	}
	free(write_timeline(rig, NO_LIMIT, &length, NULL));
	for (int thousandths = 999; thousandths > 880; thousandths -= 6) {
		struct tare_page_left_out left_out;
		struct decoded decoded =
		    read_rig(rig, length * (uint64_t)thousandths / 1000, &left_out);
		size_t calls = decoded_count(&decoded, "calls");
		assert_true(calls == waits || calls == long_waits || calls == 0);
		if (left_out.commands == 0)
			seen[calls == 0 ? 2 : calls == long_waits] = true;
		decoded_free(&decoded);
	}
	assert_true(seen[0] && seen[1] && seen[2]);
	rig_free(rig);
}

static void nothing_fits(void **state)
{
	struct rig *rig = some_rig();
	struct tare_page_left_out left_out;
	size_t length;
	char *text = write_timeline(rig, 100, &length, &left_out);
	(void)state;

	assert_int_equal(length, 0);
	assert_non_null(strstr(left_out.why, "not even"));
	free(text);
	rig_free(rig);
}

static void a_full_disk_is_told(void **state)
{
	struct rig *rig = long_rig();
	struct tare_error error = { 0 };
	FILE *full = fopen("/dev/full", "w");
	(void)state;

	assert_non_null(full);
	assert_int_equal(tare_report_timeline_write(&rig->run, NO_LIMIT, full, NULL, &error), -EIO);
	assert_non_null(strstr(error.message, "cannot write"));
	fclose(full);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_too_much_is_left_out),
		cmocka_unit_test(the_shortest_go_first),
		cmocka_unit_test(calls_go_in_steps),
		cmocka_unit_test(nothing_fits),
		cmocka_unit_test(a_full_disk_is_told),
	};

	seed_timelines();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
