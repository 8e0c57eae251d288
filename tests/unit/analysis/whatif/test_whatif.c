// SPDX-License-Identifier: Apache-2.0
// Predictions from recordings of sequential pipelines, against the concurrent ones that the engine
// model runs: the truth has gaps, switches, calls and latencies that the prediction does not know.
#include "analysis/whatif/whatif.h"
#include "whatif_rig.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct tare_overlap_gain gain_of(const struct made *made, int expected)
{
	struct tare_view view = tare_view_all(&made->recording);
	struct tare_overlap_gain gain;
	assert_int_equal(tare_whatif_overlap(&made->recording, &view, 0, &gain, NULL), expected);
	return gain;
}

static struct tare_overlap_gain predict(struct rig_pipeline pipeline, int64_t *measured_ns)
{
	struct made *made = rig_run(&pipeline, measured_ns);
	struct tare_overlap_gain gain = gain_of(made, 0);
	free(made);
	assert_int_equal(gain.measured_ns, *measured_ns);
	return gain;
}

static int64_t truth(struct rig_pipeline pipeline)
{
	int64_t span_ns;
	pipeline.form = RIG_CONCURRENT;
	free(rig_run(&pipeline, &span_ns));
	return span_ns;
}

static const struct {
	int64_t in_ns, work_ns, out_ns;
} shapes[] = {
	{ 400000, 100000, 400000 }, { 400000, 200000, 400000 },  { 400000, 400000, 400000 },
	{ 400000, 800000, 400000 }, { 400000, 1600000, 400000 }, { 600000, 300000, 150000 },
	{ 150000, 300000, 600000 }, { 300000, 500000, 20000 },   { 900000, 100000, 30000 },
};
static const uint32_t chunk_counts[] = { 4, 5, 8, 16, 33, 64 };

static void check_known(struct rig_pipeline pipeline, double *worst)
{
	int64_t measured_ns;
	struct tare_overlap_gain gain = predict(pipeline, &measured_ns);
	double true_ns = (double)truth(pipeline), error = gain.predicted_ns / true_ns - 1;
	assert_int_equal(gain.copies,
	                 pipeline.one_copy_engine ? TARE_TOGETHER_APART : TARE_TOGETHER_SEEN);
	assert_int_equal(gain.chunks, pipeline.chunks);
	if (fabs(error) > 0.05)
		fail_msg("%u chunks of %ld, %ld, %ld ns, %s: predicted %.0f, true %.0f (%+.1f %%)",
		         pipeline.chunks, (long)pipeline.in_ns, (long)pipeline.work_ns,
		         (long)pipeline.out_ns, pipeline.one_copy_engine ? "one" : "two",
		         gain.predicted_ns, true_ns, 100 * error);
	*worst = fmax(*worst, fabs(error));
}

static void known_engines_are_within_five_percent(void **state)
{
	double worst = 0;
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t j = 0; j < sizeof chunk_counts / sizeof *chunk_counts; j++)
			for (int one = 0; one < 2; one++)
				check_known((struct rig_pipeline){ .form = RIG_SEQUENTIAL,
				                                   .chunks = chunk_counts[j],
				                                   .in_ns = shapes[i].in_ns,
				                                   .work_ns = shapes[i].work_ns,
				                                   .out_ns = shapes[i].out_ns,
				                                   .one_copy_engine = one,
				                                   .probe = true },
				            &worst);
	print_message("# engines known: worst error %.2f %%\n", 100 * worst);
}

static void a_shared_link_is_known_from_the_rates(void **state)
{
	static const double duplexes[] = { 0.5, 0.65, 0.8, 0.92 };
	double worst = 0;
	(void)state;
	for (size_t i = 0; i < sizeof duplexes / sizeof *duplexes; i++)
		for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
			check_known((struct rig_pipeline){ .form = RIG_SEQUENTIAL,
			                                   .chunks = 16,
			                                   .in_ns = shapes[j].in_ns,
			                                   .work_ns = shapes[j].work_ns,
			                                   .out_ns = shapes[j].out_ns,
			                                   .duplex = duplexes[i],
			                                   .probe = true },
			            &worst);
	print_message("# link shared: worst error %.2f %%\n", 100 * worst);
}

static void check_range(struct rig_pipeline pipeline)
{
	int64_t measured_ns;
	struct tare_overlap_gain gain = predict(pipeline, &measured_ns);
	double true_ns = (double)truth(pipeline);
	assert_int_equal(gain.copies, TARE_TOGETHER_UNKNOWN);
	if (true_ns < 0.99 * gain.predicted_low_ns || true_ns > 1.05 * gain.predicted_high_ns)
		fail_msg("%u chunks of %ld, %ld, %ld ns: true %.0f, predicted %.0f to %.0f",
		         pipeline.chunks, (long)pipeline.in_ns, (long)pipeline.work_ns,
		         (long)pipeline.out_ns, true_ns, gain.predicted_low_ns,
		         gain.predicted_high_ns);
	assert_true(gain.predicted_low_ns <= gain.predicted_ns);
	assert_true(gain.predicted_ns <= gain.predicted_high_ns);
	assert_true(gain.predicted_high_ns <= (double)measured_ns);
}

static void engines_not_known_give_a_range(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t j = 0; j < sizeof chunk_counts / sizeof *chunk_counts; j++)
			for (int device = 0; device < 3; device++)
				check_range(
				    (struct rig_pipeline){ .form = RIG_SEQUENTIAL,
				                           .chunks = chunk_counts[j],
				                           .in_ns = shapes[i].in_ns,
				                           .work_ns = shapes[i].work_ns,
				                           .out_ns = shapes[i].out_ns,
				                           .one_copy_engine = device == 1,
				                           .duplex = device == 2 ? 0.6 : 0 });
}

// Both directions were not tried: the range stays, and the estimate goes by the driver's engines.
static void what_the_driver_counts_is_likely(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (uint64_t engines = 1; engines <= 2; engines++) {
			struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
				                         .chunks = 16,
				                         .in_ns = shapes[i].in_ns,
				                         .work_ns = shapes[i].work_ns,
				                         .out_ns = shapes[i].out_ns,
				                         .one_copy_engine = engines == 1 };
			int64_t measured_ns;
			struct made *made = rig_run(&pipeline, &measured_ns);
			struct tare_overlap_gain open = gain_of(made, 0);
			made->devices[0].copy_engines = engines;
			struct tare_overlap_gain told = gain_of(made, 0);
			double true_ns = (double)truth(pipeline);
			free(made);
			assert_int_equal(told.copies, TARE_TOGETHER_UNKNOWN);
			assert_true(told.predicted_low_ns == open.predicted_low_ns);
			assert_true(told.predicted_high_ns == open.predicted_high_ns);
			if (fabs(told.predicted_ns / true_ns - 1) > 0.05)
				fail_msg("shape %zu, %u engines: true %.0f, estimated %.0f", i,
				         (unsigned)engines, true_ns, told.predicted_ns);
		}
}

// Against the closed forms, which no engine model is needed for.
static void equal_chunks_take_filling_pace_and_draining(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t j = 0; j < sizeof chunk_counts / sizeof *chunk_counts; j++) {
			int64_t measured_ns;
			double in = (double)shapes[i].in_ns, out = (double)shapes[i].out_ns;
			double work = (double)shapes[i].work_ns, n = chunk_counts[j];
			struct tare_overlap_gain gain =
			    predict((struct rig_pipeline){ .form = RIG_SEQUENTIAL,
			                                   .chunks = chunk_counts[j],
			                                   .in_ns = shapes[i].in_ns,
			                                   .work_ns = shapes[i].work_ns,
			                                   .out_ns = shapes[i].out_ns },
			            &measured_ns);
			double three = in + work + out + (n - 1) * fmax(in, fmax(work, out));
			double shared = fmax(n * (in + out), in + out + n * work);
			assert_true(fabs(gain.predicted_low_ns / three - 1) < 0.01);
			assert_true(gain.predicted_high_ns >= 0.999 * shared);
			assert_true(gain.predicted_high_ns <= 1.01 * (shared + in + work + out));
		}
}

static void the_pace_is_named(void **state)
{
	int64_t measured_ns;
	struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                         .chunks = 8,
		                         .in_ns = 500000,
		                         .work_ns = 300000,
		                         .out_ns = 200000,
		                         .probe = true };
	(void)state;
	assert_string_equal(predict(pipeline, &measured_ns).limit, "copies to the device");
	pipeline.out_ns = 700000;
	assert_string_equal(predict(pipeline, &measured_ns).limit, "copies from the device");
	pipeline.work_ns = 900000;
	assert_string_equal(predict(pipeline, &measured_ns).limit, "kernels");
	pipeline.one_copy_engine = true;
	assert_string_equal(predict(pipeline, &measured_ns).limit, "copies, one at a time");
	pipeline.pause_ns = 2000000;
	assert_string_equal(predict(pipeline, &measured_ns).limit, "the host");
}

static void host_work_is_no_gain_for_sure(void **state)
{
	int64_t measured_ns;
	struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                         .chunks = 16,
		                         .in_ns = 300000,
		                         .work_ns = 300000,
		                         .out_ns = 300000,
		                         .probe = true,
		                         .pause_ns = 1000000 };
	struct tare_overlap_gain gain = predict(pipeline, &measured_ns);
	(void)state;
	assert_true(gain.host_ns >= 15 * 1000000);
	assert_true(gain.predicted_low_ns >= 15 * 1000000);
	assert_true(gain.predicted_high_ns >= 15 * 1000000 + 18 * 300000);
	assert_true(gain.predicted_high_ns < (double)measured_ns);
}

// A run that is concurrent already gains next to nothing.
static void what_overlaps_already_gains_nothing(void **state)
{
	size_t known = 0;
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (int one = 0; one < 2; one++) {
			int64_t measured_ns;
			struct tare_overlap_gain gain =
			    predict((struct rig_pipeline){ .form = RIG_CONCURRENT,
			                                   .chunks = 16,
			                                   .in_ns = shapes[i].in_ns,
			                                   .work_ns = shapes[i].work_ns,
			                                   .out_ns = shapes[i].out_ns,
			                                   .one_copy_engine = one },
			            &measured_ns);
			assert_int_equal(gain.beside, TARE_TOGETHER_SEEN);
			assert_true((double)measured_ns > 0.98 * gain.predicted_low_ns);
			assert_true((double)measured_ns < 1.05 * gain.predicted_high_ns);
			if (gain.copies != TARE_TOGETHER_UNKNOWN)
				assert_true(fabs(gain.predicted_ns / (double)measured_ns - 1) <
				            0.05);
			known += gain.copies == (one ? TARE_TOGETHER_APART : TARE_TOGETHER_SEEN);
		}
	// Most show their engines.
	assert_true(known >= 10);
}

// ---- what is no pipeline

static void add_chunk(struct made *made, int64_t at_ns, int64_t in_ns, int64_t work_ns,
                      int64_t out_ns)
{
	static const uint8_t kinds[] = { TARE_KIND_WRITE, TARE_KIND_KERNEL, TARE_KIND_READ };
	const int64_t times_ns[] = { in_ns, work_ns, out_ns };
	for (int i = 0; i < 3; i++) {
		if (times_ns[i] == 0)
			continue;
		made_command(made, made_plain_command(0, 0, kinds[i], at_ns, at_ns + 10, at_ns + 10,
		                                      at_ns + 20, at_ns + 20 + times_ns[i]));
		at_ns += 40 + times_ns[i];
	}
}

static struct made *new_run(void)
{
	struct made *made = made_new(1000000000);
	made_process(made, 1000000000);
	made_thread(made, 0);
	made_queue(made, 0, made_device(made, 0, TARE_NO_INDEX, 0), false);
	return made;
}

static void says_why_there_is_no_prediction(void **state)
{
	static const struct {
		int chunks;
		int64_t in_ns, work_ns, out_ns, every_ns;
		const char *why;
	} cases[] = {
		{ 0, 0, 0, 0, 0, "no command of the device has times" },
		{ 5, 1000, 0, 0, 2000, "no kernel ran" },
		{ 5, 0, 1000, 0, 2000, "nothing was copied" },
		{ 2, 1000, 1000, 1000, 4000,
		  "copies and kernels do not repeat, and whether the work could be cut into chunks "
		  "is not recorded" },
		{ 5, 1000, 1000, 1000, 1000000, "long pauses divide the repetitions" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made *made = new_run();
		for (int j = 0; j < cases[i].chunks; j++)
			add_chunk(made, 1000 + j * cases[i].every_ns, cases[i].in_ns,
			          cases[i].work_ns, cases[i].out_ns);
		struct tare_overlap_gain gain = gain_of(made, -ENODATA);
		assert_string_equal(gain.why_not, cases[i].why);
		assert_true(isnan(gain.predicted_ns));
		free(made);
	}
}

static void a_device_that_is_not_there(void **state)
{
	struct made *made = new_run();
	struct tare_view view = tare_view_all(&made->recording);
	struct tare_overlap_gain gain;
	(void)state;
	assert_int_equal(tare_whatif_overlap(&made->recording, &view, 7, &gain, NULL), -ENODATA);
	assert_string_equal(gain.why_not, "there is no such device");
	free(made);
}

// The costliest of several parts, without what came long before.
static void the_part_with_the_largest_gain(void **state)
{
	struct made *made = new_run();
	(void)state;
	add_chunk(made, 1000, 9000000, 0, 0);
	for (int i = 0; i < 4; i++)
		add_chunk(made, 100000000 + i * 400000, 100000, 100000, 100000);
	for (int i = 0; i < 9; i++)
		add_chunk(made, 200000000 + i * 400000, 100000, 100000, 100000);
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_int_equal(gain.chunks, 9);
	assert_int_equal(gain.from_ns, 200000020);
	assert_int_equal(gain.measured_ns, 8 * 400000 + 300080);
	assert_int_equal(gain.kernel_ns, 900000);
	assert_int_equal(gain.exposed_ns, 1800000);
	free(made);
}

// Several commands of a stage are one chunk, and what has no copies is no chunk but work.
static void a_stage_may_have_several_commands(void **state)
{
	struct made *made = new_run();
	(void)state;
	for (int i = 0; i < 6; i++) {
		int64_t at_ns = 1000 + i * 400000;
		add_chunk(made, at_ns, 50000, 0, 0);
		add_chunk(made, at_ns + 60000, 50000, 100000, 100000);
	}
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_int_equal(gain.chunks, 6);
	assert_true(fabs(gain.predicted_low_ns / 800000 - 1) < 0.01);
	free(made);
}

// What the calls take of the thread that issues is there however the device overlaps.
static void issuing_is_no_gain(void **state)
{
	enum { CHUNKS = 20, KERNELS = 10, CALL_NS = 12000, RUN_NS = 5000 };
	static struct tare_recorded_command commands[CHUNKS * (KERNELS + 2)];
	struct made *made = new_run();
	size_t count = 0;
	(void)state;
	for (int chunk = 0; chunk < CHUNKS; chunk++)
		for (int i = 0; i < KERNELS + 2; i++) {
			uint8_t kind = i == 0        ? TARE_KIND_WRITE
			               : i > KERNELS ? TARE_KIND_READ
			                             : TARE_KIND_KERNEL;
			int64_t at_ns = 1000 + (int64_t)count * CALL_NS;
			made->recording.command_count = 0;
			made_command(made, made_plain_command(
			                       0, 0, kind, at_ns, at_ns + CALL_NS - 10, at_ns + 100,
			                       at_ns + CALL_NS, at_ns + CALL_NS + RUN_NS));
			commands[count++] = made->commands[0];
		}
	made->recording.commands.plain = commands;
	made->recording.command_count = count;
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_int_equal(gain.chunks, CHUNKS);
	assert_false(gain.in_caller);
	assert_true(gain.predicted_low_ns > 0.98 * (double)count * CALL_NS);
	free(made);
}

static void one_engine_for_all_gains_nothing(void **state)
{
	struct made *made = new_run();
	(void)state;
	for (int i = 0; i < 8; i++)
		add_chunk(made, 1000 + i * 400000, 100000, 100000, 100000);
	// Kernels run inside the calls that enqueue them.
	for (size_t i = 0; i < made->recording.command_count; i++)
		made->commands[i].exit_ns = made->commands[i].end_ns + 1;
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_true(gain.in_caller);
	assert_int_equal(gain.beside, TARE_TOGETHER_APART);
	assert_true(gain.predicted_low_ns >= 8 * 300000);
	free(made);
}

// A copy of another queue that was ready while a kernel ran, and began when it had ended; or, with
// `late_ns`, became ready only then.
static enum tare_seen_together beside_of(int64_t late_ns)
{
	struct made *made = new_run();
	struct tare_view view = tare_view_all(&made->recording);
	struct tare_overlap_gain gain;
	struct tare_error error;
	made_queue(made, 0, 0, false);
	for (int i = 0; i < 4; i++) {
		int64_t at_ns = 100000 + i * 300000, ready_ns = at_ns + 1000 + late_ns;
		made_command(made,
		             made_plain_command(0, 0, TARE_KIND_KERNEL, at_ns - 20, at_ns - 10,
		                                at_ns - 10, at_ns, at_ns + 100000));
		made_command(made,
		             made_plain_command(0, 1, TARE_KIND_WRITE, ready_ns - 10, ready_ns,
		                                ready_ns, at_ns + 101500, at_ns + 150000));
	}
	view.to_ns = made->recording.end_ns;
	tare_whatif_overlap(&made->recording, &view, 0, &gain, &error);
	free(made);
	return gain.beside;
}

static void what_waited_for_the_other_kind_is_apart(void **state)
{
	(void)state;
	assert_int_equal(beside_of(0), TARE_TOGETHER_APART);
	assert_int_equal(beside_of(100000), TARE_TOGETHER_UNKNOWN);
}

static void a_device_of_the_hosts_cores_may_gain_nothing(void **state)
{
	struct made *made = new_run();
	(void)state;
	made->devices[0].type = 2;
	made->devices[0].compute_units = 4;
	for (int i = 0; i < 8; i++)
		add_chunk(made, 1000 + i * 300000, 100000, 100000, 100000);
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_true(gain.shares_host);
	// All beside each other, or one after the other: how much of the cores each takes is not
	// recorded.
	assert_true(fabs(gain.predicted_low_ns / (10 * 100000) - 1) < 0.01);
	assert_true(fabs(gain.predicted_ns / (17 * 100000) - 1) < 0.01);
	assert_true(fabs(gain.predicted_high_ns / (8 * 300000) - 1) < 0.01);
	free(made);
}

static void more_chunks_than_are_simulated(void **state)
{
	static struct tare_recorded_command commands[9000];
	struct made *made = new_run();
	(void)state;
	for (int i = 0; i < 3000; i++) {
		made->recording.command_count = 0;
		add_chunk(made, 1000 + i * 400000, 100000, 100000, 100000);
		for (int j = 0; j < 3; j++)
			commands[3 * i + j] = made->commands[j];
	}
	made->recording.commands.plain = commands;
	made->recording.command_count = 9000;
	made->recording.end_ns = made->processes[0].end_ns = 2000000000;
	struct tare_overlap_gain gain = gain_of(made, 0);
	assert_int_equal(gain.chunks, 3000);
	assert_true(fabs(gain.predicted_low_ns / (3002 * 100000.0) - 1) < 2e-3);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_engines_are_within_five_percent),
		cmocka_unit_test(a_shared_link_is_known_from_the_rates),
		cmocka_unit_test(engines_not_known_give_a_range),
		cmocka_unit_test(what_the_driver_counts_is_likely),
		cmocka_unit_test(equal_chunks_take_filling_pace_and_draining),
		cmocka_unit_test(the_pace_is_named),
		cmocka_unit_test(host_work_is_no_gain_for_sure),
		cmocka_unit_test(what_overlaps_already_gains_nothing),
		cmocka_unit_test(says_why_there_is_no_prediction),
		cmocka_unit_test(a_device_that_is_not_there),
		cmocka_unit_test(the_part_with_the_largest_gain),
		cmocka_unit_test(a_stage_may_have_several_commands),
		cmocka_unit_test(one_engine_for_all_gains_nothing),
		cmocka_unit_test(issuing_is_no_gain),
		cmocka_unit_test(what_waited_for_the_other_kind_is_apart),
		cmocka_unit_test(a_device_of_the_hosts_cores_may_gain_nothing),
		cmocka_unit_test(more_chunks_than_are_simulated),
	};
	return cmocka_run_group_tests_name("whatif", tests, NULL, NULL);
}
