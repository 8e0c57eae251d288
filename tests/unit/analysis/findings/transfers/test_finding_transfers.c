// SPDX-License-Identifier: Apache-2.0
// Findings about transfers and overlap: the forms of the pipeline example as the engine model runs
// them, at several speeds.
#include "tests/unit/analysis/findings/evaluated.h"

static const struct {
	enum rig_form form;
	const char *id;
} forms[] = {
	{ RIG_SEQUENTIAL, "overlap-missed" },  { RIG_CONCURRENT, NULL },
	{ RIG_DEFAULT_QUEUE, "single-queue" }, { RIG_BLOCKING, "blocking-call" },
	{ RIG_PAGEABLE, "pageable-memory" },   { RIG_ALLOCATION, "allocation-in-loop" },
	{ RIG_BUILD, "build-in-loop" },        { RIG_WAITING, "overlap-missed" },
};
enum { FORMS = sizeof forms / sizeof *forms };

static void check_form(size_t form, const struct made *made, const char *what)
{
	struct tare_findings findings = evaluate(made);
	char text[400];
	for (size_t i = 0; i < FORMS; i++)
		if (forms[i].id) {
			bool own = forms[form].id && strcmp(forms[i].id, forms[form].id) == 0;
			if ((find(&findings, forms[i].id) != NULL) != own)
				fail_msg("form %zu, %s: '%s' is%s raised; raised are:%s", form,
				         what, forms[i].id, own ? " not" : "",
				         text_of(&findings, text));
		}
	if (forms[form].form == RIG_CONCURRENT && findings.count > 0)
		fail_msg("the well-behaved form, %s, raises%s", what, text_of(&findings, text));
	tare_findings_free(&findings);
}

static void each_form_raises_its_own_finding_at_any_speed(void **state)
{
	static const int64_t speeds_ns[] = { 60000, 300000, 3000000 };
	static const uint32_t chunks[] = { 8, 16, 40 };
	(void)state;
	for (size_t i = 0; i < FORMS; i++)
		for (size_t j = 0; j < 3; j++)
			for (size_t k = 0; k < 3; k++)
				for (int one = 0; one < 2; one++) {
					char what[100];
					int64_t span_ns;
					struct made *made = rig_run(
					    &(struct rig_pipeline){
					        .form = forms[i].form,
					        .chunks = chunks[k],
					        .in_ns = speeds_ns[j],
					        .work_ns = (1 + one) * speeds_ns[j],
					        .out_ns = speeds_ns[j],
					        .allocate_ns = speeds_ns[j] / 10,
					        .one_copy_engine = one },
					    &span_ns);
					snprintf(what, sizeof what,
					         "%u chunks of %ld ns, %d engines", chunks[k],
					         (long)speeds_ns[j], 2 - one);
					check_form(i, made, what);
					free(made);
				}
}

static void the_gain_is_the_models(void **state)
{
	struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                         .chunks = 16,
		                         .in_ns = 300000,
		                         .work_ns = 300000,
		                         .out_ns = 300000,
		                         .probe = false };
	int64_t measured_ns, true_ns;
	struct made *made = rig_run(&pipeline, &measured_ns);
	struct tare_findings findings = evaluate(made);
	const struct tare_finding *finding = find(&findings, "overlap-missed");
	(void)state;
	pipeline.form = RIG_CONCURRENT;
	free(rig_run(&pipeline, &true_ns));
	assert_non_null(finding);
	assert_true(finding->modelled);
	assert_true(finding->cost_low_ns < measured_ns - true_ns);
	assert_true(finding->cost_high_ns > 0.95 * (double)(measured_ns - true_ns));
	assert_true(finding->claim_count > 15);
	assert_int_equal(finding->occurrences, 32);
	assert_true(finding->cost_low_ns < finding->cost_ns &&
	            finding->cost_ns < finding->cost_high_ns);
	tare_findings_free(&findings);
	free(made);
}

static int64_t later(int64_t at_ns, int64_t from_ns, int64_t by_ns)
{
	return at_ns != TARE_NO_TIME && at_ns >= from_ns ? at_ns + by_ns : at_ns;
}

// All that begins at a time or later does so much later.
static void delay(struct made *made, int64_t from_ns, int64_t by_ns)
{
	for (size_t i = 0; i < made->recording.command_count; i++) {
		struct tare_recorded_command *c = &made->commands[i];
		c->enter_ns = later(c->enter_ns, from_ns, by_ns);
		c->exit_ns = later(c->exit_ns, from_ns, by_ns);
		c->submitted_ns = later(c->submitted_ns, from_ns, by_ns);
		c->start_ns = later(c->start_ns, from_ns, by_ns);
		c->end_ns = later(c->end_ns, from_ns, by_ns);
	}
	for (size_t i = 0; i < made->recording.call_count; i++) {
		made->calls[i].enter_ns = later(made->calls[i].enter_ns, from_ns, by_ns);
		made->calls[i].exit_ns = later(made->calls[i].exit_ns, from_ns, by_ns);
	}
	made->recording.end_ns += by_ns;
	made->processes[0].end_ns = later(made->processes[0].end_ns, from_ns, by_ns);
}

// That others kept the host from its work once is not promised for sure.
static void one_long_gap_is_not_promised(void **state)
{
	const struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                               .chunks = 16,
		                               .in_ns = 300000,
		                               .work_ns = 300000,
		                               .out_ns = 300000 };
	const int64_t by_ns = 3000000;
	int64_t low_ns[2], high_ns[2], measured_ns;
	(void)state;
	for (int once = 0; once < 2; once++) {
		struct made *made = rig_run(&pipeline, &measured_ns);
		if (once)
			delay(made, made->commands[24].enter_ns, by_ns);
		struct tare_findings findings = evaluate(made);
		const struct tare_finding *finding = find(&findings, "overlap-missed");
		assert_non_null(finding);
		low_ns[once] = finding->cost_low_ns;
		high_ns[once] = finding->cost_high_ns;
		tare_findings_free(&findings);
		free(made);
	}
	assert_true(high_ns[1] - high_ns[0] > by_ns * 9 / 10);
	assert_true(llabs(low_ns[1] - low_ns[0]) < by_ns / 10);
}

// The queues are CUDA's streams. With `legacy` kernels are in its legacy default stream (the rig's
// last queue) and copies in others, as they run one after another in one queue: each waits for the
// one before.
static void make_cuda(struct made *made, bool legacy)
{
	made->recording.apis = 1 << TARE_TRACE_CUDA;
	made->devices[0].api = TARE_TRACE_CUDA;
	for (size_t i = 0; i < made->recording.queue_count; i++) {
		made->queues[i].api = TARE_TRACE_CUDA;
		made->queues[i].legacy = legacy && i + 1 == made->recording.queue_count;
		made->queues[i].blocking = legacy && !made->queues[i].legacy;
	}
	static struct tare_recorded_wait waits[64];
	for (size_t i = 0; i < made->recording.command_count && i < 64 && legacy; i++) {
		made->commands[i].queue = made->commands[i].kind == TARE_KIND_KERNEL
		                              ? (uint32_t)made->recording.queue_count - 1
		                              : (uint32_t)(i / 3 % 3);
		waits[i] = (struct tare_recorded_wait){ .command = (uint32_t)(i - 1) & INT32_MAX,
			                                .last = 1 };
		made->commands[i].first_wait = i ? (uint32_t)i : TARE_NO_INDEX;
	}
	made->recording.waits = legacy ? waits : made->recording.waits;
	made->recording.wait_count = legacy ? 64 : made->recording.wait_count;
}

// Of a form with CUDA's cause: the finding, whose gain is the model's.
static void check_cuda(enum rig_form form, bool legacy, const char *id, const char *not_said)
{
	struct rig_pipeline pipeline = {
		.form = form, .chunks = 16, .in_ns = 300000, .work_ns = 300000, .out_ns = 300000
	};
	int64_t measured_ns, true_ns;
	struct made *made = rig_run(&pipeline, &measured_ns);
	make_cuda(made, legacy);
	struct tare_findings findings = evaluate(made);
	const struct tare_finding *finding = find(&findings, id);
	pipeline.form = RIG_CONCURRENT;
	free(rig_run(&pipeline, &true_ns));
	char text[400];
	if (!finding || find(&findings, not_said))
		fail_msg("'%s' was not raised alone, but%s", id, text_of(&findings, text));
	assert_true(finding->modelled);
	assert_string_equal(finding->figures[0].name, "chunks");
	assert_true(finding->cost_low_ns <= measured_ns - true_ns);
	assert_true((double)finding->cost_high_ns > 0.95 * (double)(measured_ns - true_ns));
	size_t times = 0;
	for (size_t i = 0; i < findings.count; i++)
		times += strcmp(findings.at[i].id, id) == 0;
	assert_int_equal(times, 1);
	tare_findings_free(&findings);
	free(made);
}

static void what_keeps_cudas_chunks_apart_is_called_by_its_name(void **state)
{
	(void)state;
	check_cuda(RIG_DEFAULT_QUEUE, true, "legacy-default-stream", "single-queue");
	check_cuda(RIG_PAGEABLE, false, "pageable-memory", "blocking-call");
	check_cuda(RIG_DEFAULT_QUEUE, false, "single-queue", "legacy-default-stream");
}

// As in one queue, but in three streams, which the environment gives one connection or more.
static void check_connections(const char *variable, bool raised)
{
	struct rig_pipeline pipeline = { .form = RIG_DEFAULT_QUEUE,
		                         .chunks = 16,
		                         .in_ns = 300000,
		                         .work_ns = 300000,
		                         .out_ns = 300000 };
	struct tare_recorded_variable variables[] = { { 0, "CUDA_CACHE_DISABLE=1" },
		                                      { 0, variable } };
	int64_t span_ns;
	struct made *made = rig_run(&pipeline, &span_ns);
	make_cuda(made, true);
	for (size_t i = 0; i < made->recording.queue_count; i++)
		made->queues[i].blocking = made->queues[i].legacy = false;
	made->recording.variables = variables;
	made->recording.variable_count = 2;
	struct tare_findings findings = evaluate(made);
	const struct tare_finding *finding = find(&findings, "single-queue");
	assert_int_equal(finding != NULL, raised);
	assert_true(!raised ||
	            (strstr(finding->title, "CUDA_DEVICE_MAX_CONNECTIONS=1") && finding->modelled));
	tare_findings_free(&findings);
	free(made);
}

static void streams_of_one_connection_are_one_queue(void **state)
{
	(void)state;
	check_connections("CUDA_DEVICE_MAX_CONNECTIONS=1", true);
	check_connections("CUDA_DEVICE_MAX_CONNECTIONS=8", false);
	check_connections("CUDA_DEVICE_MAX_CONNECTIONS_OF_NOBODY=1", false);
}

// Streams that do not wait for the default one are not kept apart by it, whatever else does.
static void streams_that_do_not_wait_are_not_blamed(void **state)
{
	int64_t span_ns;
	struct made *made = rig_run(&(struct rig_pipeline){ .form = RIG_DEFAULT_QUEUE,
	                                                    .chunks = 16,
	                                                    .in_ns = 300000,
	                                                    .work_ns = 300000,
	                                                    .out_ns = 300000 },
	                            &span_ns);
	(void)state;
	make_cuda(made, true);
	for (size_t i = 0; i < made->recording.queue_count; i++)
		made->queues[i].blocking = false;
	struct tare_findings findings = evaluate(made);
	assert_null(find(&findings, "legacy-default-stream"));
	tare_findings_free(&findings);
	free(made);
}

static void little_gain_is_not_told(void **state)
{
	struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                         .chunks = 16,
		                         .in_ns = 10000,
		                         .work_ns = 3000000,
		                         .out_ns = 10000 };
	int64_t span_ns;
	struct made *made = rig_run(&pipeline, &span_ns);
	struct tare_findings findings = evaluate(made);
	(void)state;
	assert_null(find(&findings, "overlap-missed"));
	tare_findings_free(&findings);
	free(made);
}

// The host computes between chunks and waits for each: it is not the copies, 5 % of the time, that
// keep it up.
static void where_little_is_copied_overlap_is_not_missed(void **state)
{
	struct rig_pipeline pipeline = { .form = RIG_SEQUENTIAL,
		                         .chunks = 40,
		                         .in_ns = 2000,
		                         .work_ns = 30000,
		                         .out_ns = 2000 };
	int64_t span_ns;
	struct made *made = rig_run(&pipeline, &span_ns);
	struct tare_findings findings = evaluate(made);
	(void)state;
	assert_null(find(&findings, "overlap-missed"));
	tare_findings_free(&findings);
	free(made);
}

static void without_times_nothing_is_raised_and_that_is_said(void **state)
{
	int64_t span_ns;
	struct made *made = rig_run(&(struct rig_pipeline){ .form = RIG_DEFAULT_QUEUE,
	                                                    .chunks = 16,
	                                                    .in_ns = 300000,
	                                                    .work_ns = 300000,
	                                                    .out_ns = 300000 },
	                            &span_ns);
	(void)state;
	for (size_t i = 0; i < made->recording.command_count; i++)
		made->commands[i].start_ns = made->commands[i].end_ns = TARE_NO_TIME;
	struct tare_findings findings = evaluate(made);
	assert_int_equal(findings.count, 0);
	assert_true(says(&findings, "no command has device times"));
	tare_findings_free(&findings);
	free(made);
}

static void within_the_residual_nothing_is_raised(void **state)
{
	int64_t span_ns;
	struct made *made = rig_run(&(struct rig_pipeline){ .form = RIG_SEQUENTIAL,
	                                                    .chunks = 16,
	                                                    .in_ns = 300000,
	                                                    .work_ns = 300000,
	                                                    .out_ns = 300000 },
	                            &span_ns);
	(void)state;
	made->devices[0].residual_ns = 50000000;
	struct tare_findings findings = evaluate(made);
	assert_int_equal(findings.count, 0);
	tare_findings_free(&findings);
	free(made);
}

static void why_nothing_was_predicted_is_said_where_it_matters(void **state)
{
	int64_t span_ns;
	struct made *made = rig_run(&(struct rig_pipeline){ .form = RIG_DEFAULT_QUEUE,
	                                                    .chunks = 2,
	                                                    .in_ns = 300000,
	                                                    .work_ns = 300000,
	                                                    .out_ns = 300000 },
	                            &span_ns);
	struct tare_findings findings = evaluate(made);
	(void)state;
	assert_null(find(&findings, "single-queue"));
	assert_true(says(&findings, "copies and kernels do not repeat"));
	tare_findings_free(&findings);
	free(made);
}

static void only_calls_between_kernels_count(void **state)
{
	static const struct {
		enum rig_form form;
		uint32_t chunks;
		bool before, after, raised;
	} allocations[] = {
		{ RIG_ALLOCATION, 4, false, false, false }, // before three kernels
		{ RIG_ALLOCATION, 5, false, false, true },
		{ RIG_CONCURRENT, 16, true, false, false },
		{ RIG_CONCURRENT, 16, false, true, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof allocations / sizeof *allocations; i++) {
		int64_t span_ns;
		struct made *made = rig_run(&(struct rig_pipeline){ .form = allocations[i].form,
		                                                    .chunks = allocations[i].chunks,
		                                                    .in_ns = 300000,
		                                                    .work_ns = 300000,
		                                                    .out_ns = 300000 },
		                            &span_ns);
		const struct tare_recorded_command *first = &made->commands[0];
		const struct tare_recorded_command *last =
		    &made->commands[made->recording.command_count - 1];
		// In the working part, but before the first kernel's enqueue or after the last
		// one's.
		for (int j = 0; j < 8; j++) {
			int64_t at_ns =
			    allocations[i].before ? first->enter_ns : last->exit_ns + j * 100000;
			uint8_t role = j & 1 ? TARE_ROLE_ALLOCATE : TARE_ROLE_BUILD;
			if (allocations[i].before || allocations[i].after)
				made_call(made, made_plain_call(0, role, at_ns, at_ns + 100000));
		}
		made_sort(made);
		struct tare_findings findings = evaluate(made);
		if ((find(&findings, "allocation-in-loop") != NULL) != allocations[i].raised)
			fail_msg("case %zu", i);
		assert_null(find(&findings, "build-in-loop"));
		tare_findings_free(&findings);
		free(made);
	}
}

// Three kernels of three programs; the second program is built while the first kernel runs, and its
// kernel starts late: many drivers compile only then.
static struct made *built_between(struct tare_recorded_kernel kernels[3],
                                  struct tare_recorded_program programs[3], bool of_built)
{
	struct made *made = made_new(0);
	made_process(made, INT64_MAX);
	made_thread(made, 0);
	uint32_t device = made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, device, false);
	for (uint32_t i = 0; i < 3; i++) {
		static const int64_t enter_ns[] = { 0, 5000000, 21000000 };
		static const int64_t start_ns[] = { 10000, 20000000, 21010000 };
		kernels[i] =
		    (struct tare_recorded_kernel){ .program = of_built ? i : 0, .name = "k" };
		programs[i] = (struct tare_recorded_program){ .build_options = "" };
		struct tare_recorded_command command =
		    made_plain_command(0, 0, TARE_KIND_KERNEL, enter_ns[i], enter_ns[i] + 5000,
		                       enter_ns[i] + 5000, start_ns[i], start_ns[i] + 1000000);
		command.object = i;
		command.stack = TARE_NO_INDEX;
		made_command(made, command);
	}
	struct tare_recorded_call build = made_plain_call(0, TARE_ROLE_BUILD, 500000, 4500000);
	build.object = 1;
	made_call(made, build);
	made->recording.kernels = kernels;
	made->recording.kernel_count = 3;
	made->recording.programs = programs;
	made->recording.program_count = 3;
	made->processes[0].end_ns = made->recording.end_ns = 30000000;
	made_sort(made);
	return made;
}

static void what_is_built_costs_until_it_first_runs(void **state)
{
	(void)state;
	for (int of_built = 0; of_built < 2; of_built++) {
		struct tare_recorded_kernel kernels[3];
		struct tare_recorded_program programs[3];
		struct made *made = built_between(kernels, programs, of_built);
		struct tare_findings findings = evaluate(made);
		const struct tare_finding *finding = find(&findings, "build-in-loop");
		assert_non_null(finding);
		// 4 ms in the call; 15 ms from the launch to the start.
		assert_int_equal(finding->cost_ns, of_built ? 19000000 : 4000000);
		assert_int_equal(finding->cost_high_ns, finding->cost_ns);
		assert_true(finding->cost_low_ns <= finding->cost_ns);
		tare_findings_free(&findings);
		free(made);
	}
}

// What is of another source is built where it is; keeping it saves what loading leaves of that.
static void what_was_built_before_need_not_be_built(void **state)
{
	int64_t low_ns[2];
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct tare_recorded_kernel kernels[3];
		struct tare_recorded_program programs[3];
		struct made *made = built_between(kernels, programs, false);
		struct tare_recorded_call build =
		    made_plain_call(0, TARE_ROLE_BUILD, 6000000, 10000000);
		build.object = 2;
		made_call(made, build);
		made_sort(made);
		programs[1].source_hash = 7;
		programs[2].source_hash = same ? 7 : 8;
		struct tare_findings findings = evaluate(made);
		const struct tare_finding *finding = find(&findings, "build-in-loop");
		assert_non_null(finding);
		assert_int_equal(finding->confidence, TARE_CONFIDENCE_LIKELY);
		assert_int_equal(strstr(finding->evidence, "1 of them are of a source") != NULL,
		                 same);
		low_ns[same] = finding->cost_low_ns;
		tare_findings_free(&findings);
		free(made);
	}
	assert_true(low_ns[0] > 0);
	assert_true(llabs(2 * low_ns[1] - 3 * low_ns[0]) <= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_built_before_need_not_be_built),
		cmocka_unit_test(what_is_built_costs_until_it_first_runs),
		cmocka_unit_test(each_form_raises_its_own_finding_at_any_speed),
		cmocka_unit_test(the_gain_is_the_models),
		cmocka_unit_test(one_long_gap_is_not_promised),
		cmocka_unit_test(what_keeps_cudas_chunks_apart_is_called_by_its_name),
		cmocka_unit_test(streams_of_one_connection_are_one_queue),
		cmocka_unit_test(streams_that_do_not_wait_are_not_blamed),
		cmocka_unit_test(little_gain_is_not_told),
		cmocka_unit_test(where_little_is_copied_overlap_is_not_missed),
		cmocka_unit_test(without_times_nothing_is_raised_and_that_is_said),
		cmocka_unit_test(within_the_residual_nothing_is_raised),
		cmocka_unit_test(why_nothing_was_predicted_is_said_where_it_matters),
		cmocka_unit_test(only_calls_between_kernels_count),
	};
	return cmocka_run_group_tests_name("finding_transfers", tests, NULL, NULL);
}
