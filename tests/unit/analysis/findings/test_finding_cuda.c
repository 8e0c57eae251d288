// SPDX-License-Identifier: Apache-2.0
// Findings with CUDA's causes: streams that are full, and calls of memory that wait for the device.
#include "evaluated.h"

#include "analysis/findings/internal.h"

#define US INT64_C(1000)

// A thread launches kernels of `run_ns` into one stream; from `full` pending on each launch takes
// `full_ns` instead of 1 µs. After each `batch` of them it copies in another stream, which is free.
struct launching {
	uint32_t batches, batch, full;
	int64_t run_ns, full_ns;
	bool waits; // the copy waits for the kernel before it
	bool opencl;
	int64_t last_ns; // of the last copy; 0: longer than all kernels that are left
	bool raised;
};

static void add(struct made *made, uint32_t queue, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                int64_t start_ns, int64_t end_ns)
{
	struct tare_recorded_command command =
	    made_plain_command(0, queue, kind, enter_ns, exit_ns, exit_ns, start_ns, end_ns);
	command.direction =
	    kind == TARE_KIND_WRITE ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_NONE;
	command.object = kind == TARE_KIND_KERNEL ? 0 : TARE_NO_INDEX;
	command.amount = kind == TARE_KIND_KERNEL ? TARE_NO_INDEX : 1 << 20;
	made_command(made, command);
}

static struct made *start(bool opencl)
{
	struct made *made = made_new(0);
	made_process(made, INT64_MAX);
	made_thread(made, 0);
	uint32_t device = made_device(made, 0, TARE_NO_INDEX, 0),
	         api = opencl ? TARE_TRACE_OPENCL : TARE_TRACE_CUDA;
	made->recording.apis = 1u << api;
	made->devices[device].api = api;
	for (int i = 0; i < 2; i++)
		made->queues[made_queue(made, 0, device, false)].api = api;
	for (int i = 0; i < TARE_ROLE_COUNT; i++)
		made->functions[i].api = api;
	return made;
}

// Returns how much later the copies begin by the launches that take longer.
static int64_t launch(struct made *made, const struct launching *l, int64_t *after_ns)
{
	int64_t now_ns = 1000 * US, done_ns = now_ns, late_ns = 0, last_ns = 0;
	for (uint32_t i = 0; i < l->batches; i++) {
		for (uint32_t k = 0; k < l->batch; k++) {
			bool full = done_ns - now_ns >= l->full * l->run_ns;
			int64_t exit_ns = now_ns + (full ? l->full_ns : 1 * US);
			int64_t start_ns = done_ns > exit_ns ? done_ns : exit_ns;
			late_ns += full ? l->full_ns - 1 * US : 0;
			done_ns = start_ns + l->run_ns;
			add(made, 0, TARE_KIND_KERNEL, now_ns, exit_ns, start_ns, done_ns);
			now_ns = exit_ns;
		}
		int64_t copy_ns = i + 1 < l->batches ? 10 * US
		                  : l->last_ns       ? l->last_ns
		                                     : 20000 * US;
		add(made, 1, TARE_KIND_WRITE, now_ns, now_ns + US, now_ns + 2 * US,
		    now_ns + 2 * US + copy_ns);
		last_ns = now_ns + 2 * US + copy_ns;
		if (l->waits)
			made_waits(made, &(uint32_t){ (uint32_t)made->recording.command_count - 2 },
			           1);
		now_ns += US;
	}
	// What of the last copy no kernel hides.
	*after_ns = last_ns > done_ns ? last_ns - done_ns : 0;
	done_ns = last_ns > done_ns ? last_ns : done_ns;
	made_call(made, made_plain_call(0, TARE_ROLE_WAIT, now_ns, done_ns));
	made->processes[0].end_ns = made->recording.end_ns = done_ns + 1000 * US;
	made_sort(made);
	return late_ns;
}

static void a_full_stream_is_told_where_it_holds_up_others(void **state)
{
	static const struct launching cases[] = {
		{ 5, 600, 300, 10 * US, 10 * US, .raised = true },
		{ 5, 600, 240, 10 * US, 10 * US, .raised = false }, // not so many are pending
		// four times what launches take
		{ 5, 600, 300, 10 * US, 3500, .raised = false },
		{ 5, 600, 300, 10 * US, 4500, .raised = true },
		{ 3, 600, 300, 10 * US, 10 * US, .raised = false }, // nobody else, or seldom
		// the copy could not have begun
		{ 5, 600, 300, 10 * US, 10 * US, .waits = true },
		{ 5, 600, 300, 10 * US, 10 * US, .opencl = true },
		{ 5, 600, 300, 10 * US, 10 * US, .last_ns = 10 * US }, // hidden behind the kernels
		{ 5, 600, 300, 10 * US, 10 * US, .last_ns = 5000 * US, .raised = true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made *made = start(cases[i].opencl);
		int64_t after_ns, late_ns = launch(made, &cases[i], &after_ns);
		late_ns = late_ns < after_ns ? late_ns : after_ns;
		struct tare_findings findings = evaluate(made);
		const struct tare_finding *finding = find(&findings, "launch-queue-full");
		if (!!finding != cases[i].raised)
			fail_msg("case %zu %s raised", i, finding ? "was" : "was not");
		if (finding) {
			assert_int_equal(finding->cost_low_ns, 0);
			assert_true(finding->cost_ns <= late_ns &&
			            (double)finding->cost_ns > 0.9 * (double)late_ns);
			assert_int_equal(finding->occurrences, cases[i].batches);
		}
		tare_findings_free(&findings);
		free(made);
	}
}

// Each chunk's memory is freed in a call that waits until the device is done, so that nothing
// overlaps.
static void calls_that_wait_cost_no_more_than_what_the_device_does_not_need(void **state)
{
	enum { CHUNKS = 16 };
	(void)state;
	for (int several = 0; several < 2; several++) {
		struct made *made = start(false);
		int64_t now_ns = 1000 * US;
		for (uint32_t i = 0; i < CHUNKS; i++) {
			made_call(made,
			          made_plain_call(0, TARE_ROLE_ALLOCATE, now_ns, now_ns + 20 * US));
			now_ns += 20 * US;
			add(made, 0, TARE_KIND_WRITE, now_ns, now_ns + US, now_ns + 2 * US,
			    now_ns + 102 * US);
			add(made, several ? 1 : 0, TARE_KIND_KERNEL, now_ns + US, now_ns + 2 * US,
			    now_ns + 102 * US, now_ns + 302 * US);
			made_call(made, made_plain_call(0, TARE_ROLE_ALLOCATE, now_ns + 2 * US,
			                                now_ns + 310 * US));
			made->calls[made->recording.call_count - 1].flags |= TARE_CALL_RELEASED;
			now_ns += 310 * US;
		}
		made->processes[0].end_ns = made->recording.end_ns = now_ns + 1000 * US;
		made_sort(made);
		struct tare_findings findings = evaluate(made);
		const struct tare_finding *finding = find(&findings, "allocation-in-loop");
		// A chunk takes 330 µs, of which 200 are kernels and 300 the device's work.
		int64_t most_ns = (several ? 130 : 30) * CHUNKS * US;
		assert_non_null(finding);
		assert_true(finding->cost_high_ns <= most_ns);
		assert_true((double)finding->cost_ns > 0.9 * (double)most_ns);
		tare_findings_free(&findings);
		free(made);
	}
}

// Each result, some bytes, is waited for before the next piece is issued: that is not about copies
// that could overlap, unless much is copied.
static void waits_are_about_copies_only_where_much_is_copied(void **state)
{
	enum { PIECES = 40 };
	(void)state;
	for (int much = 0; much < 2; much++) {
		struct made *made = start(false);
		int64_t now_ns = 1000 * US, read_ns = (much ? 50 : 2) * US;
		for (uint32_t i = 0; i < PIECES; i++) {
			int64_t enter_ns = now_ns, done_ns = now_ns + 103 * US + read_ns;
			add(made, 0, TARE_KIND_KERNEL, now_ns, now_ns + US, now_ns + 2 * US,
			    now_ns + 102 * US);
			add(made, 0, TARE_KIND_READ, now_ns + US, now_ns + 2 * US,
			    now_ns + 103 * US, done_ns);
			made->commands[made->recording.command_count - 1].direction =
			    TARE_DIRECTION_FROM_DEVICE;
			made_call(made, made_plain_call(0, TARE_ROLE_WAIT, enter_ns + 2 * US,
			                                done_ns + 30 * US));
			now_ns = done_ns + 31 * US;
		}
		made->processes[0].end_ns = made->recording.end_ns = now_ns + 1000 * US;
		made_sort(made);
		struct tare_findings findings = evaluate(made);
		assert_int_equal(find(&findings, "synchronize-drains") != NULL, !much);
		assert_int_equal(find(&findings, "overlap-missed") != NULL, much);
		tare_findings_free(&findings);
		free(made);
	}
}

// Variables of the environment that are recorded, each by its whole name and by its value.
static void what_makes_the_driver_build_anew_is_named(void **state)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{ "CUDA_CACHE_DISABLE=1", "CUDA_CACHE_DISABLE" },
		{ "CUDA_CACHE_DISABLE=0", NULL },
		{ "CUDA_FORCE_PTX_JIT=1", "CUDA_FORCE_PTX_JIT" },
		{ "CUDA_CACHE_DISABLE_1=1", NULL },
		{ "CUDA_CACHE_DISABLE=", NULL },
	};
	const struct tare_view view = { .process = 3 };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_variable variables[] = { { 3, "CUDA_MODULE_LOADING=EAGER" },
			                                      { 3, rows[i].text } };
		const struct tare_recording recording = { .variables = variables,
			                                  .variable_count = 2 };
		struct evaluation evaluation = { .recording = &recording, .view = &view };
		const char *said = finding_rebuilds(&evaluation);
		assert_true(rows[i].name ? strstr(said, rows[i].name) != NULL : !*said);
		assert_string_equal(finding_variable(&evaluation, "CUDA_MODULE_LOADING"), "EAGER");
		variables[1].process = 2; // not in the view
		assert_string_equal(finding_rebuilds(&evaluation), "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_the_driver_build_anew_is_named),
		cmocka_unit_test(a_full_stream_is_told_where_it_holds_up_others),
		cmocka_unit_test(waits_are_about_copies_only_where_much_is_copied),
		cmocka_unit_test(calls_that_wait_cost_no_more_than_what_the_device_does_not_need),
	};
	return cmocka_run_group_tests_name("finding_cuda", tests, NULL, NULL);
}
