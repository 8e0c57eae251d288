// SPDX-License-Identifier: Apache-2.0
// Counted kernels in a terminal.
#include "analysis/hotspots/hierarchy.h"
#include "report/hotspots/hotspots.h"
#include "report/hotspots/text.h"
#include "report/hotspots/words.h"
#include "tests/unit/analysis/hotspots/made_counted.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *written(const struct tare_counted_run *run, size_t shown, unsigned columns, bool ascii)
{
	struct tare_text_options options = { .columns = columns, .ascii = ascii };
	struct tare_error error;
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	assert_int_equal(tare_report_hotspots_text(run, shown, &options, file, &error), 0);
	fclose(file);
	return text;
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	struct tare_counted_kernel kernels[MADE_KERNELS];
	struct tare_counted_run run = made_run(kernels);

	(void)state;
	for (int ascii = 0; ascii < 2; ascii++) {
		char *text = written(&run, SIZE_MAX, 80, ascii), *rest = text;
		for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
			assert_true(tare_text_width(line) <= 80);
			for (const char *at = line; ascii && *at; at++)
				assert_true((unsigned char)*at < 0x80);
		}
		free(text);
	}
}

static void a_diagram_has_the_figures_and_one_mark(void **state)
{
	(void)state;
	for (int i = 0; i < MADE_CAPTURED; i++) {
		struct tare_text_options options = { .columns = 80, .ascii = true };
		struct tare_counted_kernel kernel = made_kernel((enum made_kernel)i);
		struct tare_hotspot hotspot;
		char *drawn = NULL, words[HOTSPOT_TEXT];
		size_t length = 0, binding = 0;
		struct tare_text text = { &options, open_memstream(&drawn, &length), NULL };
		tare_hotspot_derive(&kernel, &made_device, &hotspot);
		tare_hotspot_diagram(&text, &hotspot);
		assert_false(text.failed);
		fclose(text.file);
		for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++) {
			const struct tare_edge_traffic *traffic = &hotspot.edges[edge];
			assert_non_null(strstr(drawn, tare_hotspot_bytes(traffic->bytes, words)));
			assert_non_null(strstr(drawn, tare_hotspot_percent(traffic->share, words)));
			assert_non_null(
			    strstr(drawn, tare_hotspot_percent(traffic->measured_share, words)));
			binding += traffic->binding;
		}
		assert_int_equal(occurrences(drawn, "binds"), binding);
		assert_int_equal(binding, i <= MADE_SHARED);
		assert_non_null(
		    strstr(drawn, "host memory, L2 - other devices: n/a, not asked for"));
		free(drawn);
	}
}

static const char *verdict_words(const struct tare_counted_kernel *kernel, char text[HOTSPOT_TEXT])
{
	struct tare_hotspot hotspot;

	tare_hotspot_derive(kernel, &made_device, &hotspot);
	return tare_hotspot_verdict_words(&hotspot, text);
}

static void a_verdict_is_a_sentence_with_its_evidence(void **state)
{
	static const char *const sentences[] = {
		[MADE_COPY] = "Memory-bound, by device memory at 92 % of its maximum.",
		[MADE_NAIVE] =
		    "Memory-bound, by L1: L1 data pipe at 90 % of its maximum while cores "
		    "were active.",
		[MADE_SHARED] = "Memory-bound, by L2 at 85 % of its maximum.",
		[MADE_FMA] = "Compute-bound, by single precision: instruction issue at 65 % of its "
		             "maximum while cores were active, that pipe at 53 %.",
		[MADE_MATRIX] =
		    "Compute-bound, by matrix engines: matrix engines at 91 % of its maximum "
		    "while cores were active.",
		[MADE_CHASE] =
		    "Latency-bound: no limit was reached, the fullest was L2 at 9.0 %; cores "
		    "issued in 3.9 % of the time, were stalled in 93 %, had no work in "
		    "3.0 %.",
		[MADE_ONE] =
		    "Too small for the device: cores issued in 0.3 % of the time, were stalled "
		    "in 0.6 %, had no work in 99 %.",
		[MADE_FEW] =
		    "Too small for the device: cores issued in 8.8 % of the time, were stalled "
		    "in 26 %, had no work in 65 %.",
		[MADE_CAPTURED] = "n/a: not counted, since its launches are recorded into a graph.",
	};
	struct tare_counted_kernel kernel;
	char text[HOTSPOT_TEXT];

	(void)state;
	for (int i = 0; i < MADE_KERNELS; i++) {
		kernel = made_kernel((enum made_kernel)i);
		assert_string_equal(verdict_words(&kernel, text), sentences[i]);
	}
	kernel = made_kernel(MADE_COPY);
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 90);
	assert_string_equal(
	    verdict_words(&kernel, text),
	    "Not decided between device memory and L2; device memory at 92 % of its "
	    "maximum; L2 at 90 % of its maximum.");
	kernel = made_uncounted("nothing");
	assert_string_equal(verdict_words(&kernel, text),
	                    "n/a: none of the counters that a verdict needs has a figure.");
}

static void a_gain_is_an_upper_bound_that_is_rounded_down(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_hotspot hotspot;
	char text[HOTSPOT_TEXT];

	(void)state;
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_non_null(strstr(tare_hotspot_advice_words(&hotspot, text),
	                       "at most 1.08 times as fast; with less of that traffic at most 2.22 "
	                       "times, then L2 would limit."));
	// Arithmetic that is needed does not go away.
	kernel = made_kernel(MADE_FMA);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_non_null(
	    strstr(tare_hotspot_advice_words(&hotspot, text), "at most 1.55 times as fast."));
	// What is not decided has no advice.
	kernel = made_kernel(MADE_COPY);
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 90);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_string_equal(tare_hotspot_advice_words(&hotspot, text), "");
	assert_string_equal(tare_hotspot_times(1.0 / 3, text), "3.00 times");
	assert_string_equal(tare_hotspot_times(0.0501, text), "19 times");
	assert_string_equal(tare_hotspot_times(0, text), "n/a");
	assert_string_equal(tare_hotspot_percent(NAN, text), "n/a");
	assert_string_equal(tare_hotspot_percent(0.04, text), "<0.1 %");
	assert_string_equal(tare_hotspot_percent(9.94, text), "9.9 %");
	assert_string_equal(tare_hotspot_percent(9.96, text), "10 %");
	assert_string_equal(tare_hotspot_bytes(NAN, text), "n/a");
	assert_string_equal(tare_hotspot_bytes(4100.0 * 1024 * 1024, text), "4.00 GB");
	assert_string_equal(tare_hotspot_bytes(8192, text), "8 KB");
	assert_string_equal(tare_hotspot_bytes(1023.7, text), "1023 B");
	assert_string_equal(tare_hotspot_bytes(0, text), "0 B");
}

static void what_the_cores_did_is_a_sentence(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_hotspot hotspot;
	char text[HOTSPOT_TEXT];

	(void)state;
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_string_equal(tare_hotspot_core_words(&hotspot, text),
	                    "Occupancy 80 % of 100 % possible; 31.0 threads an instruction.");
	kernel.occupancy_possible = 50;
	kernel.occupancy_limit = "local_memory";
	made_set(&kernel, TARE_COUNTER_OCCUPANCY_SHARE, 45);
	made_set(&kernel, TARE_COUNTER_L1_HIT_SHARE, 80);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_string_equal(
	    tare_hotspot_core_words(&hotspot, text),
	    "Occupancy 45 % of 50 % possible (local memory); 31.0 threads an instruction; "
	    "hits: L1 80 %.");
	made_set(&kernel, TARE_COUNTER_L2_HIT_SHARE, 97);
	// More warps than fit are not believed.
	made_set(&kernel, TARE_COUNTER_OCCUPANCY_SHARE, 70);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_string_equal(tare_hotspot_core_words(&hotspot, text),
	                    "31.0 threads an instruction; hits: L1 80 %, L2 97 %.");
	kernel = made_uncounted("x");
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_string_equal(tare_hotspot_core_words(&hotspot, text), "");
}

static void what_was_not_counted_is_named_with_its_reason(void **state)
{
	struct tare_counted_kernel kernels[MADE_KERNELS];
	struct tare_counted_run run = made_run(kernels);
	char *text = written(&run, 0, 80, true);

	(void)state;
	assert_non_null(
	    strstr(text, "Not counted: captured: its launches are recorded into a graph."));
	assert_null(strstr(text, "binds"));
	free(text);
	text = written(&run, SIZE_MAX, 80, true);
	assert_int_equal(occurrences(text, " a launch, "), MADE_CAPTURED);
	free(text);
	text = written(&run, 2, 80, true);
	assert_int_equal(occurrences(text, "binds"), 2);
	free(text);
	run.device.no_counters = "its driver offers none";
	text = written(&run, 2, 80, true);
	assert_non_null(strstr(text, "n/a: no counters here: its driver offers none\n"));
	assert_non_null(strstr(text, "share a launch"));
	assert_null(strstr(text, "asked"));
	assert_null(strstr(text, "bound by"));
	free(text);
}

static void traffic_of_other_ways_is_said_of_what_may_be_latency(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_CHASE);
	struct tare_hotspot hotspot;
	char words[HOTSPOT_TEXT];

	(void)state;
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_null(strstr(tare_hotspot_margin_words(&hotspot, words), "host memory"));
	made_set(&kernel, TARE_COUNTER_DEVICE_READ_BYTES, 1e6);
	made_set(&kernel, TARE_COUNTER_DEVICE_WRITE_BYTES, 0);
	made_set(&kernel, TARE_COUNTER_HOST_READ_BYTES, 1e6);
	made_set(&kernel, TARE_COUNTER_HOST_WRITE_BYTES, 0);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_null(strstr(tare_hotspot_margin_words(&hotspot, words), "host memory"));
	made_set(&kernel, TARE_COUNTER_HOST_READ_BYTES, 1048576);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_non_null(strstr(tare_hotspot_margin_words(&hotspot, words),
	                       "It moved 1 MB a launch to and from host memory ("));
	kernel = made_kernel(MADE_COPY);
	made_set(&kernel, TARE_COUNTER_HOST_READ_BYTES, 1e12);
	made_set(&kernel, TARE_COUNTER_HOST_WRITE_BYTES, 0);
	tare_hotspot_derive(&kernel, &made_device, &hotspot);
	assert_null(strstr(tare_hotspot_margin_words(&hotspot, words), "host memory"));
}

static void what_cannot_be_is_said(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_counted_run run = { .device = made_device,
		                        .kernels = &kernel,
		                        .kernel_count = 1 };
	char *text;

	(void)state;
	made_set(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, 110);
	text = written(&run, 1, 80, true);
	assert_non_null(strstr(text, "cores active: 110 %, at most 100 % is possible; not used"));
	free(text);
}

static void a_program_of_many_kernels_or_none_is_told_in_few_lines(void **state)
{
	struct tare_counted_kernel kernels[MADE_KERNELS], *many = calloc(1000, sizeof *many);
	struct tare_counted_run run = made_run(kernels);
	char *text, *end;
	size_t lines = 0;

	(void)state;
	assert_non_null(many);
	for (size_t i = 0; i < 1000; i++) {
		many[i] = kernels[MADE_COPY];
		many[i].share = 0.001;
	}
	run.kernels = many;
	run.kernel_count = 1000;
	text = written(&run, 0, 80, false);
	for (end = text; (end = strchr(end, '\n')); end++)
		lines++;
	assert_true(lines < 60);
	assert_non_null(strstr(text, "960 more kernels took 96 % of the kernels' time"));
	free(text);
	run.kernel_count = 0;
	text = written(&run, 0, 80, false);
	assert_string_equal(text, "Nothing to count: the program launched no kernel.\n");
	free(text);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(a_diagram_has_the_figures_and_one_mark),
		cmocka_unit_test(a_verdict_is_a_sentence_with_its_evidence),
		cmocka_unit_test(a_gain_is_an_upper_bound_that_is_rounded_down),
		cmocka_unit_test(what_the_cores_did_is_a_sentence),
		cmocka_unit_test(what_was_not_counted_is_named_with_its_reason),
		cmocka_unit_test(traffic_of_other_ways_is_said_of_what_may_be_latency),
		cmocka_unit_test(a_program_of_many_kernels_or_none_is_told_in_few_lines),
		cmocka_unit_test(what_cannot_be_is_said),
	};

	setlocale(LC_CTYPE, "C.UTF-8"); // widths of characters
	return cmocka_run_group_tests(tests, NULL, NULL);
}
