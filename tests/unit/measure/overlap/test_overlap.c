// SPDX-License-Identifier: Apache-2.0
// `overlap` on simulated devices: bound, engines and verdict follow from the script; on random
// devices what it finds is compared with trying every schedule on the same device. The seed of
// those is printed; TARE_TEST_SEED takes other devices.
#include "measure/overlap/overlap.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/measure/core/simulated_run.h"
#include "tests/unit/measure/pipeline/pipeline_rig.h"
#include "tests/unit/model/engine/random_pipeline.h"
#include "tests/unit/quick.h"

#define MB (UINT64_C(1) << 20)
#define ALL_ORDERS ((1u << TARE_ORDER_COUNT) - 1)

// ---- devices with round figures

// A stage of 1 MB takes 100 us at 10.48576 GB/s; 40 cycles of the kernel as well.
#define ITEMS (MB / 4)
#define WITH_HOST(host)                                                                            \
	"tare-device 1\n"                                                                          \
	"device name \"Round\" memory 64 MiB units 16 lanes 32 work-group 1024 sub-group 32\n"     \
	"timer rate 1 GHz\nmarker fixed 1 ns\n"                                                    \
	"host " host "\n"                                                                          \
	"copy pinned device rate 10485760000 B/s\n"                                                \
	"copy device pinned rate 10485760000 B/s\n"                                                \
	"copy pageable device rate 10485760000 B/s staging 5 GB/s\n"                               \
	"copy device pageable rate 10485760000 B/s staging 5 GB/s\n"
#define BARE WITH_HOST("append 100 ns wake 100 ns")
#define KERNEL                                                                                     \
	"kernel overlap_register repeat 5 repeat-rate 104857600000 item/s arguments 6 action "     \
	"overlap-register\n"
#define HEAD BARE KERNEL
// Its 1024 groups are a wave and a few that have the next wave to themselves: twice 1 ms, beside
// which there is room.
#define UNDER_FILLING                                                                              \
	BARE "kernel overlap_register wave 1 ms slots 60 share yes repeat 5 repeat-rate "          \
	     "104857600000000 item/s arguments 6 action overlap-register\n"
#define THREE_ENGINES                                                                              \
	"engine compute runs kernel\nengine copy runs to-device,local\nengine copy runs to-host\n"
#define ONE_COPY_ENGINE "engine compute runs kernel\nengine copy runs to-device,to-host,local\n"
#define ONE_ENGINE "engine compute runs kernel,to-device,to-host,local\n"
#define KERNEL_AND_COPY_ENGINE                                                                     \
	"engine compute runs kernel,to-device,local\nengine copy runs to-host\n"
#define HALF_DUPLEX                                                                                \
	"concurrent to-device speed 50 % while to-host\nconcurrent to-host speed 50 % while "      \
	"to-device\n"
#define BALANCED 40
#define BUDGET INT64_C(200000000) // 200 ms: about 600 serial runs

static int run_overlap(struct simulated_run *simulated, const char *script,
                       struct tare_overlap_options *options, int64_t budget_ns,
                       struct tare_error *error)
{
	*error = (struct tare_error){ 0 };
	simulated_open(simulated, script, "overlap", budget_ns);
	return tare_measure_overlap(&simulated->run, options, NULL, error);
}

static struct tare_overlap_options round_options(uint64_t cycles)
{
	return (struct tare_overlap_options){
		.bytes = MB,
		.cycles = { cycles },
		.cycle_count = 1,
		.space = { .chunks = { 1, 2, 4, 8, 16 },
		           .chunk_count = 5,
		           .queues = { 1, 2, 3, 4 },
		           .queue_count = 4,
		           .orders = ALL_ORDERS },
	};
}

static void must_run(struct simulated_run *simulated, const char *script,
                     struct tare_overlap_options *options)
{
	struct tare_error error;
	if (run_overlap(simulated, script, options, BUDGET, &error) < 0)
		fail_msg("%s", error.message);
}

// The cell of a group whose label `name` says `value`.
static const struct tare_cell *find(const struct tare_result *result, const char *group,
                                    const char *name, const char *value)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (strcmp(label_text(&result->cells[i], "group"), group) == 0 &&
		    strcmp(label_text(&result->cells[i], name), value) == 0)
			return &result->cells[i];
	fail_msg("no cell %s with %s %s", group, name, value);
	return NULL;
}

static double value_of(const struct tare_result *result, const char *group, const char *name,
                       const char *value)
{
	const struct tare_cell *cell = find(result, group, name, value);
	if (cell->absent)
		fail_msg("%s %s: %s", group, value, cell->absent);
	return cell->summary.median;
}

static const char *conclusion(const struct tare_result *result, const char *id)
{
	for (size_t i = 0; i < result->conclusion_count; i++)
		if (strcmp(result->conclusions[i].id, id) == 0)
			return result->conclusions[i].text;
	return "";
}

static void close_to(const char *what, double got, double expected, double relative)
{
	if (!(fabs(got / expected - 1) <= relative))
		fail_msg("%s: %.6g, not %.6g (within %.2g)", what, got, expected, relative);
}

static void says(const struct tare_result *result, const char *id, const char *text)
{
	if (!strstr(conclusion(result, id), text))
		fail_msg("%s: '%s', not '%s'", id, conclusion(result, id), text);
}

// Three equal stages; what each device leaves of 300 us.
static void bounds_engines_and_verdicts_follow_from_the_script(void **state)
{
	static const struct {
		const char *name, *script;
		uint64_t cycles;
		double bound_us;
		int engines;
		const char *worth, *limit;
	} rows[] = {
		{ "two copy engines", HEAD THREE_ENGINES, BALANCED, 100, 3, "yes",
		  "the longest stage" },
		{ "one copy engine", HEAD ONE_COPY_ENGINE, BALANCED, 200, 2, "yes",
		  "the copy to the device and the copy to the host never run at one moment" },
		{ "one engine", HEAD ONE_ENGINE, BALANCED, 300, 1, "no", "one engine does it all" },
		{ "copies that halve each other", HEAD THREE_ENGINES HALF_DUPLEX, 1, 200, 3, "no",
		  "slow each other" },
		{ "a kernel too short to matter", HEAD ONE_COPY_ENGINE, 1, 200, 2, "no",
		  "never run at one moment" },
		{ "a long kernel", HEAD THREE_ENGINES, 50 * BALANCED, 5000, 3, "no",
		  "the longest stage, the kernel" },
		{ "a kernel that does not fill the device", UNDER_FILLING THREE_ENGINES,
		  BALANCED + 1, 1067, 3, "yes", "chunks that run side by side" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = round_options(rows[i].cycles);
		struct simulated_run simulated;
		const struct tare_result *result;
		struct tare_error error;
		char worth[64];

		print_message("# %s\n", rows[i].name);
		if (run_overlap(&simulated, rows[i].script, &options,
		                rows[i].cycles > BALANCED   ? 3 * BUDGET
		                : rows[i].cycles < BALANCED ? BUDGET / 2
		                                            : BUDGET,
		                &error) < 0)
			fail_msg("%s", error.message);
		result = simulated.run.result;
		close_to("bound", value_of(result, "bound", "what", "bound") / 1000,
		         rows[i].bound_us, 0.02);
		assert_int_equal(value_of(result, "engines", "what", "revealed"), rows[i].engines);
		snprintf(worth, sizeof worth, "Worth it: %s.", rows[i].worth);
		says(result, "worth-it", worth);
		says(result, "limit", rows[i].limit);
		assert_null(find_warning(result, "bound-exceeded"));
		simulated_close(&simulated);
	}
}

static void series_have_names_of_their_own(const struct tare_result *result)
{
	for (size_t p = 0; p < result->plot_count; p++) {
		const struct tare_plot *plot = &result->plots[p];
		for (size_t i = 0; i < plot->count; i++)
			for (size_t k = 0; k < i; k++)
				if (strcmp(plot->series[i].name, plot->series[k].name) == 0)
					fail_msg("%s: two series '%s'", plot->id,
					         plot->series[i].name);
	}
}

static void figures_equal_the_closed_forms(void **state)
{
	struct tare_overlap_options options = round_options(BALANCED);
	struct simulated_run simulated;
	const struct tare_result *result;
	double chunks = 16;
	(void)state;
	options.space.chunks[0] = 16;
	options.space.chunk_count = 1;
	options.space.sizes = 1u << TARE_CHUNKS_EQUAL;
	options.breaks = TARE_OVERLAP_ALL_BREAKS;
	must_run(&simulated, HEAD THREE_ENGINES, &options);
	result = simulated.run.result;
	close_to("to-device", value_of(result, "sequential", "stage", "to-device"), 100e6, 0.001);
	close_to("kernel", value_of(result, "sequential", "stage", "kernel"), 100e6, 0.001);
	close_to("to-host", value_of(result, "sequential", "stage", "to-host"), 100e6, 0.001);
	close_to("total", value_of(result, "sequential", "stage", "total"), 300e6, 0.01);
	close_to("serial", value_of(result, "bound", "what", "serial"), 300e3, 0.02);
	close_to("attainable", value_of(result, "bound", "what", "attainable"),
	         300e3 * (chunks + 2) / (3 * chunks), 0.02);
	close_to("speed-up", value_of(result, "bound", "what", "speed-up"),
	         3 * chunks / (chunks + 2), 0.03);
	close_to("share", value_of(result, "bound", "what", "share"), 100 * chunks / (chunks + 2),
	         0.03);
	// Half of everything can run beside the other half.
	close_to("amdahl", value_of(result, "bound", "what", "amdahl"), 1.5, 0.01);
	close_to("kernel : copy", value_of(result, "bound", "what", "kernel-to-copy"), 1, 0.01);
	// One queue, blocking calls and plain memory each leave nothing at once.
	assert_true(value_of(result, "break", "break", "default-queue") > 250e3);
	assert_true(value_of(result, "break", "break", "blocking") > 200e3);
	assert_true(value_of(result, "break", "break", "pageable") > 130e3);
	says(result, "breaks", "default-queue");
	for (size_t i = 0; i < result->cell_count; i++)
		if (strcmp(label_text(&result->cells[i], "group"), "concurrent") == 0)
			assert_int_not_equal(result->cells[i].verified, TARE_WRONG);
	simulated_close(&simulated);
}

// What the best schedule leaves attainable is not below what it takes, where engines are shared and
// where the first and last chunks are short.
static void no_schedule_beats_what_is_attainable(void **state)
{
	static const struct {
		const char *name, *script;
		uint64_t cycles;
		enum tare_chunk_sizes sizes;
		double attainable_us;
	} rows[] = {
		{ "equal chunks", HEAD THREE_ENGINES, 2 * BALANCED, TARE_CHUNKS_EQUAL, 212.5 },
		{ "short first and last chunks", HEAD THREE_ENGINES, 2 * BALANCED,
		  TARE_CHUNKS_TAPERED, 200 + 200.0 / 54 },
		{ "a kernel that shares an engine with a copy", HEAD KERNEL_AND_COPY_ENGINE,
		  BALANCED, TARE_CHUNKS_EQUAL, 200 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = round_options(rows[i].cycles);
		struct simulated_run simulated;
		const struct tare_result *result;
		double attainable;

		print_message("# %s\n", rows[i].name);
		options.space.chunks[0] = 16;
		options.space.chunk_count = 1;
		options.space.sizes = 1u << rows[i].sizes;
		must_run(&simulated, rows[i].script, &options);
		result = simulated.run.result;
		attainable = value_of(result, "bound", "what", "attainable");
		close_to("attainable", attainable / 1000, rows[i].attainable_us, 0.02);
		assert_true(attainable <= 1.0001 * value_of(result, "concurrent", "sizes",
		                                            tare_chunk_sizes_name(rows[i].sizes)));
		// Where that is all of the bound it is not worth a clause.
		says(result, "limit",
		     rows[i].attainable_us > 200 ? "16 chunks can reach at most" : "of the bound.");
		simulated_close(&simulated);
	}
}

// That operations were not seen side by side tells little where issuing them takes about as long.
// The same operations of a few microseconds tell it where that takes a tenth of a microsecond.
static void operations_short_against_issuing_reveal_no_engines(void **state)
{
	static const struct {
		const char *script, *limit;
	} rows[] = {
		{ WITH_HOST("append 2 us wake 2 us") KERNEL ONE_ENGINE,
		  "no two stages were seen at work at one moment" },
		{ HEAD ONE_ENGINE, "one engine does it all" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = round_options(BALANCED);
		struct simulated_run simulated;
		struct tare_error error;
		options.bytes = MB / 16;
		if (run_overlap(&simulated, rows[i].script, &options, BUDGET / 10, &error) < 0)
			fail_msg("%s", error.message);
		says(simulated.run.result, "limit", rows[i].limit);
		simulated_close(&simulated);
	}
}

static void cycles_are_calibrated_from_a_quarter_to_four(void **state)
{
	static const double ratios[] = { 0.25, 0.5, 1, 2, 4 };
	struct tare_overlap_options options = round_options(0);
	struct simulated_run simulated;
	struct tare_error error;
	size_t found = 0;
	(void)state;
	options.cycle_count = 0;
	if (run_overlap(&simulated, HEAD THREE_ENGINES, &options, 3 * BUDGET, &error) < 0)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		if (strcmp(label_text(cell, "what"), "kernel-to-copy") != 0)
			continue;
		assert_true(found < 5);
		assert_int_equal(label_number(cell, "cycles"), (int64_t)(BALANCED * ratios[found]));
		close_to("ratio", cell->summary.median, ratios[found++], 0.01);
	}
	assert_int_equal(found, 5);
	series_have_names_of_their_own(simulated.run.result);
	says(simulated.run.result, "worth-it", "It pays for 5 of 5 kernels");
	simulated_close(&simulated);
}

static void what_the_budget_does_not_hold_is_said(void **state)
{
	struct tare_overlap_options options = round_options(0);
	struct simulated_run simulated;
	struct tare_error error;
	int64_t used;
	(void)state;
	options.cycle_count = 0;
	if (run_overlap(&simulated, HEAD THREE_ENGINES, &options, BUDGET / 4, &error) < 0)
		fail_msg("%s", error.message);
	used = tare_host_elapsed_ns(simulated.run.started, tare_run_now(&simulated.run));
	assert_true(used < BUDGET / 4 + INT64_C(20000000));
	assert_non_null(find_warning(simulated.run.result, "points-short"));
	simulated_close(&simulated);
}

// Some operation of the first verification: which one it is depends on what comes before.
static void wrong_results_end_it(void **state)
{
	bool found = false;
	(void)state;
	for (int operation = 10; operation < 60 && !found; operation++) {
		struct tare_overlap_options options = round_options(BALANCED);
		struct simulated_run simulated;
		struct tare_error error;
		char script[2048];
		snprintf(script, sizeof script, "%sfault wrong-data %d\n", HEAD THREE_ENGINES,
		         operation);
		options.bytes = MB / 16;
		if (run_overlap(&simulated, script, &options, BUDGET / 20, &error) == -EBADMSG) {
			found = true;
			if (!strstr(error.message, "wrong from item"))
				fail_msg("%s", error.message);
		}
		simulated_close(&simulated);
	}
	assert_true(found);
}

static void what_cannot_be_is_refused(void **state)
{
	static const struct {
		struct tare_overlap_options options;
		const char *says;
	} rows[] = {
		{ { .bytes = MB, .in_bytes = 8, .out_bytes = 4 }, "a kernel of yours" },
		{ { .bytes = MB, .kernel.align = ITEMS + 1 }, "smaller --align" },
		{ { .bytes = MB,
		    .kernel.align = ITEMS / 2,
		    .space = { .chunks = { 8 }, .chunk_count = 1 } },
		  "at most 2 chunks" },
		{ { .bytes = 2 }, "0 items" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_overlap_options options = rows[i].options;
		struct simulated_run simulated;
		struct tare_error error;
		assert_int_equal(
		    run_overlap(&simulated, HEAD THREE_ENGINES, &options, BUDGET, &error), -EINVAL);
		if (!strstr(error.message, rows[i].says))
			fail_msg("%s", error.message);
		simulated_close(&simulated);
	}
}

// ---- random devices

#define DEVICES (2 * RANDOM_LAYOUTS) // they take turns
#define RUNS 130                     // of the work in sequence that the budget holds

static const struct tare_search_space small_space = {
	.chunks = { 1, 2, 4, 8, 16, 32, 64 },
	.chunk_count = 7,
	.queues = { 1, 2, 4 },
	.queue_count = 3,
	.orders = ALL_ORDERS,
	.mechanisms = (1u << TARE_MECHANISM_GRAPH) - 1,
	.sizes = (1u << TARE_CHUNKS_COUNT) - 1,
};

// The same device, whose kernel takes its time and computes nothing.
static void without_action(const struct random_pipeline *random, char text[sizeof random->text])
{
	static const char action[] = "action overlap-register";
	char *at;

	strcpy(text, random->text);
	at = strstr(text, action);
	assert_non_null(at);
	memset(at, ' ', strlen(action));
}

static double fastest_of_all(const struct random_pipeline *random, uint64_t align)
{
	char text[sizeof random->text];
	struct simulated_run simulated;
	struct tare_schedule *all = calloc(TARE_SCHEDULES_MAX, sizeof *all);
	struct tare_pipeline_work work = random->work;
	int64_t ns, again = INT64_MAX, best = INT64_MAX / 2;
	struct rig rig;
	size_t count;

	assert_non_null(all);
	without_action(random, text);
	simulated_open(&simulated, text, "overlap", BUDGET);
	rig_open(&rig, &simulated.run, 0, (int32_t)random->cycles);
	rig.chunk.align = align;
	rig.chunk.group_size = 256;
	rig_must(tare_pipeline_open(&rig.bench, work.items, &rig.pipeline, &rig.chunk, error));
	work.align = align;
	count = tare_search_all(&small_space, &work, all, TARE_SCHEDULES_MAX);
	for (size_t i = 0; i < count; i++) {
		rig_must(
		    tare_pipeline_run(rig.pipeline, &all[i], TARE_BREAK_NONE, &ns, NULL, error));
		again = ns;
		// The first run of a queue pays for turning to it.
		if (ns < best + best / 30)
			rig_must(tare_pipeline_run(rig.pipeline, &all[i], TARE_BREAK_NONE, &again,
			                           NULL, error));
		best = ns < best ? ns : best;
		best = again < best ? again : best;
	}
	rig_close(&rig);
	simulated_close(&simulated);
	free(all);
	return (double)best;
}

static double best_found(const struct tare_result *result, double *serial)
{
	double best = NAN;

	*serial = NAN;
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "group"), "concurrent") != 0 || cell->absent)
			continue;
		if (label_number(cell, "best") == 1)
			best = cell->summary.median;
		else if (label_number(cell, "chunks") == 1)
			*serial = cell->summary.median;
	}
	return best;
}

static void random_devices_are_seen_through(void **state)
{
	const char *given = getenv("TARE_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
	double worst = 0;
	(void)state;

	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)seed);
	uint32_t devices = test_is_quick() ? DEVICES / 6 : DEVICES;
	for (uint32_t i = 0; i < devices; i++) {
		struct random_pipeline random;
		struct simulated_run simulated;
		struct tare_error error;
		struct tare_overlap_options options = { .cycle_count = 1, .space = small_space };
		struct tare_schedule one = { .chunks = 1, .queues = 1 };
		double found, serial, fastest, off, bound;
		const char *verdict;

		random_pipeline_make(seed, i, true, &random);
		options.bytes = random.work.items * 4;
		options.cycles[0] = random.cycles;
		if (run_overlap(&simulated, random.text, &options,
		                (int64_t)(RUNS * random_pipeline_run_ns(&random, &one)),
		                &error) < 0)
			fail_msg("device %u: %s\n%s", i, error.message, random.text);
		assert_null(find_warning(simulated.run.result, "bytes-short"));
		found = best_found(simulated.run.result, &serial);
		fastest = fastest_of_all(
		    &random,
		    (uint64_t)tare_labels_find(&simulated.run.result->parameters, "align_items")
		        ->number);
		off = fmin(found, serial) / fastest - 1;
		worst = fmax(worst, off);
		verdict = conclusion(simulated.run.result, "worth-it");
		bound = value_of(simulated.run.result, "bound", "what", "bound");
		print_message("# %2u layout %d: found %.0f us, all %.0f us (%+.2f %%), bound %.0f "
		              "us; %.30s\n",
		              i, random.layout, found / 1000, fastest / 1000, 100 * off,
		              bound / 1000, verdict);
		if (off > 0.01)
			fail_msg("device %u: %.2f %% slower than the best schedule\n%s", i,
			         100 * off, random.text);
		assert_int_equal(value_of(simulated.run.result, "engines", "what", "revealed"),
		                 random.engines);
		says(simulated.run.result, "worth-it",
		     random.pays ? "Worth it: yes." : "Worth it: no.");
		// The bound is of whole copies. Chunks can hide the fixed time of one behind the
		// work of another, which is a few per cent of the fastest copies here.
		if (fastest < 0.97 * bound)
			fail_msg("device %u: the bound is too high\n%s", i, random.text);
		simulated_close(&simulated);
	}
	print_message("# worst %.2f %%\n", 100 * worst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_engines_and_verdicts_follow_from_the_script),
		cmocka_unit_test(figures_equal_the_closed_forms),
		cmocka_unit_test(no_schedule_beats_what_is_attainable),
		cmocka_unit_test(operations_short_against_issuing_reveal_no_engines),
		cmocka_unit_test(cycles_are_calibrated_from_a_quarter_to_four),
		cmocka_unit_test(what_the_budget_does_not_hold_is_said),
		cmocka_unit_test(wrong_results_end_it),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(random_devices_are_seen_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
