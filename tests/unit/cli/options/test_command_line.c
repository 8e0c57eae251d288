// SPDX-License-Identifier: Apache-2.0
// The parts of the command line that need no device; the rest is in tests/e2e/test_cli.py.
#include "cli/commands/table.h"
#include "cli/devices/device_select.h"
#include "cli/options/option.h"
#include "cli/options/suggest.h"
#include "cli/options/words.h"
#include "cli/terminal/progress.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/checkup/checkup.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "measure/peak/peak.h"
#include "report/terminal/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void distance_counts_what_a_hand_does_wrong(void **state)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} rows[] = {
		{ "", "", 0 },
		{ "device", "device", 0 },
		{ "Device", "dEVICE", 0 },
		{ "a", "", 1 },
		{ "devcie", "device", 1 },
		{ "devce", "device", 1 },
		{ "devicee", "device", 1 },
		{ "devixe", "device", 1 },
		{ "lines", "sizes", 2 },
		{ "budget", "seed", 5 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(tare_word_distance(rows[i].a, rows[i].b), rows[i].distance);
		assert_int_equal(tare_word_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
}

static const char *nearest(const char *wanted)
{
	static const char *const words[] = { "device", "lines", "sizes", "budget",
		                             "seed",   "json",  "csv" };
	struct tare_suggestion suggestion = { .wanted = wanted };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		tare_suggestion_offer(&suggestion, words[i]);
	return suggestion.nearest ? suggestion.nearest : "";
}

static void only_a_near_word_is_suggested(void **state)
{
	(void)state;
	assert_string_equal(nearest("devcie"), "device");
	assert_string_equal(nearest("size"), "sizes");
	assert_string_equal(nearest("bud"), "budget");
	assert_string_equal(nearest("cvs"), "csv");
	assert_string_equal(nearest("colour"), "");
	assert_string_equal(nearest("x"), "");
	assert_string_equal(nearest(""), "");
	assert_string_equal(nearest("a word that is longer than any name of ours could be"), "");
}

static void progress_says_what_and_how_long_and_fits(void **state)
{
	char text[256];
	(void)state;
	assert_string_equal(tare_progress_text("latency", "empty launch", 3, 28, 61500000000, 80,
	                                       text, sizeof text),
	                    "latency: 3 of 28, 1:02 left: empty launch");
	assert_string_equal(
	    tare_progress_text("peak", "opening the device", 0, 0, -1, 80, text, sizeof text),
	    "peak: opening the device");
	assert_string_equal(tare_progress_text("latency", NULL, 0, 28, -1, 80, text, sizeof text),
	                    "latency: 0 of 28: ");
	assert_string_equal(
	    tare_progress_text("bandwidth", "host → device", 3, 28, 0, 40, text, sizeof text),
	    "bandwidth: 3 of 28, 0:00 left: host → d");
}

static struct tare_settings parse(int status, struct tare_error *error, int count, ...)
{
	char *arguments[8] = { "tare" };
	struct tare_settings settings;
	va_list words;

	va_start(words, count);
	for (int i = 1; i <= count; i++)
		arguments[i] = va_arg(words, char *);
	va_end(words);
	assert_int_equal(tare_settings_parse(tare_commands, count + 1, arguments, &settings, error),
	                 status);
	return settings;
}

static const struct tare_option *option_of(const char *command, const char *name)
{
	const struct tare_command *found = tare_command_find(tare_commands, command);
	const struct tare_option *option;
	for (size_t i = 0; (option = tare_command_option(found, i)); i++)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

// Where an option of the command's own has put its value.
static const void *value_of(const struct tare_settings *settings, const char *name)
{
	return (const char *)settings + option_of(settings->command->name, name)->offset;
}

static void options_come_in_any_order_and_form(void **state)
{
	struct tare_error error = { 0 };
	struct tare_settings settings;
	(void)state;
	unsetenv("TARE_DEVICE");
	settings = parse(0, &error, 6, "bandwidth", "-vd0", "--sizes=8K..1M", "--budget", "0.5",
	                 "--seed=0x10");
	assert_string_equal(settings.command->name, "bandwidth");
	assert_string_equal(settings.device, "0");
	assert_int_equal(settings.verbosity, 1);
	struct tare_byte_range sizes;
	memcpy(&sizes, value_of(&settings, "sizes"), sizeof sizes);
	assert_int_equal(sizes.from, 8192);
	assert_int_equal(sizes.to, 1 << 20);
	assert_int_equal(settings.budget_ns, 500000000);
	assert_true(settings.seed_given);
	assert_int_equal(settings.seed, 16);
	settings = parse(0, &error, 4, "render", "a.json", "--json", "-");
	assert_int_equal(settings.operand_count, 1);
	assert_string_equal(settings.operands[0], "a.json");
	assert_string_equal(settings.json, "-");
	assert_null(settings.device);
	settings = parse(0, &error, 3, "render", "--", "--json");
	assert_string_equal(settings.operands[0], "--json");
}

static void the_environment_names_the_device_unless_the_option_does(void **state)
{
	struct tare_error error = { 0 };
	(void)state;
	setenv("TARE_DEVICE", "opencl:1", 1);
	assert_string_equal(parse(0, &error, 1, "latency").device, "opencl:1");
	assert_string_equal(parse(0, &error, 3, "latency", "--device", "0").device, "0");
	setenv("TARE_DEVICE", "", 1);
	assert_null(parse(0, &error, 1, "latency").device);
	unsetenv("TARE_DEVICE");
}

static void the_cpu_driver_is_asked_for_before_or_after_the_command(void **state)
{
	struct tare_error error = { 0 };
	(void)state;
	assert_null(parse(0, &error, 1, "latency").ze_cpu);
	assert_string_equal(parse(0, &error, 2, "latency", "--ze-cpu").ze_cpu, "");
	assert_string_equal(parse(0, &error, 2, "--ze-cpu", "latency").ze_cpu, "");
	assert_string_equal(parse(0, &error, 2, "latency", "--ze-cpu=a.txt").ze_cpu, "a.txt");
	assert_string_equal(parse(0, &error, 2, "--ze-cpu=a.txt", "devices").ze_cpu, "a.txt");
	assert_string_equal(parse(0, &error, 4, "run", "--ze-cpu", "--", "app").program[0], "app");
	assert_string_equal(parse(0, &error, 3, "--ze-cpu", "record", "app").program[0], "app");
	parse(TARE_EXIT_USAGE, &error, 2, "--ze-cpu=", "latency");
	assert_string_equal(error.message, "--ze-cpu: needs a value (SCRIPT) behind '='");
	parse(TARE_EXIT_USAGE, &error, 2, "latency", "--ze-cpu=");
	assert_string_equal(error.message, "--ze-cpu: needs a value (SCRIPT)");
	parse(TARE_EXIT_USAGE, &error, 3, "--ze-cpu", "render", "a.json");
	assert_string_equal(error.message, "render takes no option '--ze-cpu'");
	parse(TARE_EXIT_USAGE, &error, 2, "--ze-cpus", "latency");
	assert_non_null(strstr(error.message, "unknown option '--ze-cpus'"));
}

static void help_tells_the_budget_of_each_command(void **state)
{
	static const struct {
		const char *command;
		int64_t budget_ns;
		const char *text;
	} rows[] = {
		{ "latency", TARE_LATENCY_BUDGET_NS, "about how long to measure (default: 20)" },
		{ "bandwidth", TARE_BANDWIDTH_BUDGET_NS,
		  "about how long to measure (default: 60)" },
		{ "peak", TARE_PEAK_BUDGET_NS, "about how long to measure (default: 30)" },
		{ "matmul", TARE_MATMUL_BUDGET_NS, "about how long to measure (default: 60)" },
		{ "overlap", TARE_OVERLAP_BUDGET_NS, "about how long to measure (default: 60)" },
		{ "checkup", TARE_CHECKUP_BUDGET_NS, "about how long to measure (default: 60)" },
	};
	char text[256];
	size_t measuring = 0;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_command *command =
		    tare_command_find(tare_commands, rows[i].command);
		assert_int_equal(command->budget_ns, rows[i].budget_ns);
		const struct tare_option *budget = option_of(rows[i].command, "budget");
		const struct tare_option *seed = option_of(rows[i].command, "seed");
		assert_string_equal(tare_option_summary(budget, command, text, sizeof text),
		                    rows[i].text);
		assert_string_equal(tare_option_summary(seed, command, text, sizeof text),
		                    seed->summary);
	}
	for (size_t i = 0; tare_commands[i]; i++) {
		bool takes = option_of(tare_commands[i]->name, "budget") != NULL;
		measuring += takes;
		assert_int_equal(takes, tare_commands[i]->budget_ns > 0);
	}
	assert_int_equal(measuring, sizeof rows / sizeof *rows);
}

static void values_are_checked_by_kind(void **state)
{
	static const struct {
		const char *words[3];
		const char *says;
	} rows[] = {
		{ { "matmul", "--n", "" }, "--n: needs a value (LIST)" },
		{ { "overlap", "--kernel", "" }, "--kernel: needs a value (FILE)" },
		{ { "overlap", "--arg", "" }, "--arg: needs a value (TYPE:VALUE)" },
		{ { "overlap", "--align", "0" }, "--align: must be at least 1" },
		{ { "overlap", "--group", "1x" }, "--group: '1x' is not a whole number" },
		{ { "checkup", "--budget", "0" }, "--budget: '0' is not a number" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_error error = { 0 };
		parse(TARE_EXIT_USAGE, &error, 3, rows[i].words[0], rows[i].words[1],
		      rows[i].words[2]);
		if (!strstr(error.message, rows[i].says))
			fail_msg("'%s', not '%s'", error.message, rows[i].says);
	}
}

static void an_option_may_be_repeated_where_it_is_a_list(void **state)
{
	char *arguments[2 + 2 * (TARE_TEXTS + 1)] = { "tare", "overlap" };
	struct tare_settings settings;
	struct tare_error error = { 0 };
	(void)state;
	for (int i = 0; i <= TARE_TEXTS; i++) {
		arguments[2 + 2 * i] = "--arg";
		arguments[3 + 2 * i] = "int:1";
	}
	assert_int_equal(
	    tare_settings_parse(tare_commands, 2 + 2 * TARE_TEXTS, arguments, &settings, &error),
	    TARE_EXIT_OK);
	assert_int_equal(((const struct tare_texts *)value_of(&settings, "arg"))->count,
	                 TARE_TEXTS);
	assert_int_equal(
	    tare_settings_parse(tare_commands, 4 + 2 * TARE_TEXTS, arguments, &settings, &error),
	    TARE_EXIT_USAGE);
	assert_string_equal(error.message, "--arg: is given more than 16 times");
	// Elsewhere the last one counts.
	settings = parse(0, &error, 5, "matmul", "--n", "32", "--n", "64");
	assert_string_equal(*(const char *const *)value_of(&settings, "n"), "64");
}

static void every_command_ends_its_options_and_has_each_once(void **state)
{
	(void)state;
	for (size_t c = 0; tare_commands[c]; c++) {
		const struct tare_option *a, *b;
		for (size_t i = 0; (a = tare_command_option(tare_commands[c], i)); i++)
			for (size_t k = 0; k < i && (b = tare_command_option(tare_commands[c], k));
			     k++) {
				assert_string_not_equal(a->name, b->name);
				assert_true(!a->letter || a->letter != b->letter);
			}
		assert_null(tare_commands[c]->options[TARE_OPTION_GROUPS - 1]);
	}
}

static char *words_of(enum tare_words words, const char *separator)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	tare_words_write(words, separator, file);
	fclose(file);
	return text;
}

// What completions offer is what the parsers take, one by one and all of it.
static void every_word_that_is_offered_is_taken(void **state)
{
	static const enum tare_words lists[] = { TARE_WORDS_LINES, TARE_WORDS_RUNGS,
		                                 TARE_WORDS_BREAKS };
	(void)state;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		char *words = words_of(lists[i], ","), *rest = words, *word;
		size_t count = 0;
		while ((word = strsep(&rest, ","))) {
			struct tare_overlap_options overlap = { 0 };
			struct tare_error error = { 0 };
			uint32_t bits = 0;
			uint64_t lines = 0;
			int status = lists[i] == TARE_WORDS_LINES
			                 ? tare_parse_lines(word, &lines, &error)
			             : lists[i] == TARE_WORDS_RUNGS
			                 ? tare_parse_rungs(word, &bits, &error)
			                 : tare_parse_breaks(word, &overlap, &error);
			if (status != 0)
				fail_msg("'%s': %s", word, error.message);
			count++;
		}
		assert_true(count > 4);
		assert_true(tare_words_are_list(lists[i]));
		assert_false(tare_words_or_file(lists[i]));
		free(words);
	}
	assert_int_equal(option_of("bandwidth", "lines")->words, TARE_WORDS_LINES);
	assert_int_equal(option_of("matmul", "rungs")->words, TARE_WORDS_RUNGS);
	assert_int_equal(option_of("overlap", "break")->words, TARE_WORDS_BREAKS);
	assert_int_equal(option_of("overlap", "loop")->words, TARE_WORDS_LOOPS);
	assert_int_equal(option_of("matmul", "peaks")->words, TARE_WORDS_PEAKS);
}

// ---- which device

struct seen {
	const char *backend;
	uint32_t index, number;
	const char *name, *type, *pci;
};

static struct tare_result *found_devices(const struct seen *rows, size_t count)
{
	struct tare_result *found = tare_result_new("devices");
	for (size_t i = 0; i < count; i++) {
		struct tare_device_entry *entry = tare_result_add_device(found);
		assert_int_equal(tare_set_string(&entry->backend, rows[i].backend), 0);
		assert_int_equal(tare_set_string(&entry->backend_title, rows[i].backend), 0);
		entry->index = rows[i].index;
		entry->number = rows[i].number;
		tare_fact_set_text(&entry->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, rows[i].name);
		tare_fact_set_text(&entry->facts, TARE_FACT_TYPE, TARE_ORIGIN_DRIVER, rows[i].type);
		if (rows[i].pci)
			tare_fact_set_text(&entry->facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER,
			                   rows[i].pci);
	}
	return found;
}

// A host with a CPU, an accelerator, a GPU under two APIs (the CPU's first), and one under a third.
static const struct seen host[] = {
	{ "opencl", 0, 0, "Some CPU", "CPU", NULL },
	{ "opencl", 1, 1, "Some DSP", "accelerator", NULL },
	{ "opencl", 2, 2, "Big GPU", "GPU", "0000:3b:00.0" },
	{ "cuda", 0, 2, "Big GPU", "GPU", "0000:3b:00.0" },
	{ "cuda", 1, 3, "Small GPU", "GPU", "0000:5e:00.0" },
	{ "levelzero", 0, 4, "Listed GPU", "GPU", "0000:00:02.0" },
	{ "simulated", 0, 5, "Simulated GPU", "simulated", NULL },
};

static void the_best_device_is_taken(void **state)
{
	static const struct {
		const char *what;
		size_t first, count;
		int best;
	} rows[] = {
		{ NULL, 0, 7, 3 }, // a GPU, through CUDA
		{ NULL, 0, 3, 2 }, // the same through OpenCL, where that is all there is
		{ NULL, 0, 2, 1 }, // an accelerator before a CPU
		{ NULL, 0, 1, 0 },
		{ NULL, 6, 1, -1 }, // the simulated one is never chosen unasked
		{ NULL, 5, 1, 0 },
		{ "simulated", 0, 7, 6 },
		{ "opencl", 0, 7, 2 }, // an API's name: its best
		{ "OpenCL:0", 0, 7, 0 },
		{ "cuda:1", 0, 7, 4 },
		{ "2", 0, 7, 3 },     // the number that devices prints
		{ "big", 0, 7, 3 },   // part of a name; two APIs, one device
		{ "3b:00", 0, 7, 3 }, // part of a PCI address
		{ "5e:00.0", 0, 7, 4 },
		{ "levelzero", 0, 7, 5 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *found = found_devices(host + rows[i].first, rows[i].count);
		bool chosen[8] = { false };
		struct tare_error error = { 0 };
		assert_int_equal(tare_devices_choose(rows[i].what, found, chosen, &error),
		                 TARE_EXIT_OK);
		assert_int_equal(
		    tare_devices_best(rows[i].what, TARE_NEED_LATENCY, found, chosen, &error),
		    rows[i].best);
		assert_true(rows[i].best >= 0 || error.message[0]);
		tare_result_free(found);
	}
}

static void a_word_for_no_device_or_several_is_refused(void **state)
{
	static const struct {
		const char *what;
		const char *says[2];
	} rows[] = {
		{ "gpu", { "could be", "2: Big GPU (opencl:2, cuda:0); 3: Small GPU (cuda:1)" } },
		{ "0000:", { "could be", "4: Listed GPU (levelzero:0)" } },
		{ "radeon", { "no device 'radeon'", "0: Some CPU (opencl:0)" } },
		{ "9", { "no device '9'", "5: Simulated GPU (simulated:0)" } },
		{ "cuda:2", { "no device 'cuda:2'", "cuda:1" } },
		{ "levelzero:7", { "no device 'levelzero:7'", "" } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *found = found_devices(host, sizeof host / sizeof *host);
		bool chosen[8] = { false };
		struct tare_error error = { 0 };
		assert_int_equal(tare_devices_choose(rows[i].what, found, chosen, &error),
		                 TARE_EXIT_USAGE);
		assert_non_null(strstr(error.message, rows[i].says[0]));
		assert_non_null(strstr(error.message, rows[i].says[1]));
		tare_result_free(found);
	}
}

static void a_script_is_told_from_an_index(void **state)
{
	(void)state;
	assert_string_equal(tare_device_script("simulated:slow.tare-device"), "slow.tare-device");
	assert_string_equal(tare_device_script("simulated:./7"), "./7");
	assert_null(tare_device_script("simulated:0"));
	assert_null(tare_device_script("simulated"));
	assert_null(tare_device_script("opencl:x"));
	assert_null(tare_device_script(NULL));
}

// ---- text

static char *paragraph(unsigned columns, bool ascii, const char *lead, size_t indent,
                       const char *words)
{
	struct tare_text_options options = { .columns = columns, .ascii = ascii };
	char *written = NULL;
	size_t size;
	struct tare_text text = { &options, open_memstream(&written, &size) };
	tare_text_paragraph(&text, TARE_STYLE_PLAIN, lead, indent, "%s", words);
	assert_false(text.failed);
	fclose(text.file);
	return written;
}

static void paragraphs_are_wrapped_between_words(void **state)
{
	static const struct {
		unsigned columns;
		const char *lead, *words, *expected;
	} rows[] = {
		{ 20, "", "one two three four five", "one two three four\n  five\n" },
		{ 18, "", "one two three four five", "one two three four\n  five\n" },
		{ 17, "", "one two three four five", "one two three\n  four five\n" },
		{ 20, "n/a  ", "one two three four", "n/a  one two three\n  four\n" },
		{ 10, "", "µµµµ µµµµµ µ", "µµµµ µµµµµ\n  µ\n" },
		{ 10, "", "aWordThatIsLongerThanALine b", "aWordThatIsLongerThanALine\n  b\n" },
		{ 10, "", "", "\n" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *written = paragraph(rows[i].columns, false, rows[i].lead, 2, rows[i].words);
		assert_string_equal(written, rows[i].expected);
		free(written);
	}
}

static void names_cannot_drive_the_terminal(void **state)
{
	static const struct {
		const char *words, *utf8, *ascii;
	} rows[] = {
		{ "a\033[31mred", "a?[31mred", "a?[31mred" },
		{ "a\rb\nc\td", "a?b c d", "a?b c d" },
		{ "\302\233m", "?m", "?m" },      // CSI as U+009B
		{ "\377\300\257", "???", "???" }, // no UTF-8
		{ "\303", "?", "?" },             // cut short
		{ "±1 µs → ü", "±1 µs → ü", "+-1 us > ?" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_text_options options = { .columns = 80 };
		struct tare_text text = { .options = &options };
		char *clean = tare_text_clean(&text, rows[i].words);
		assert_string_equal(clean, rows[i].utf8);
		free(clean);
		options.ascii = true;
		clean = tare_text_clean(&text, rows[i].words);
		assert_string_equal(clean, rows[i].ascii);
		free(clean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_counts_what_a_hand_does_wrong),
		cmocka_unit_test(only_a_near_word_is_suggested),
		cmocka_unit_test(progress_says_what_and_how_long_and_fits),
		cmocka_unit_test(options_come_in_any_order_and_form),
		cmocka_unit_test(the_environment_names_the_device_unless_the_option_does),
		cmocka_unit_test(the_cpu_driver_is_asked_for_before_or_after_the_command),
		cmocka_unit_test(help_tells_the_budget_of_each_command),
		cmocka_unit_test(every_command_ends_its_options_and_has_each_once),
		cmocka_unit_test(values_are_checked_by_kind),
		cmocka_unit_test(an_option_may_be_repeated_where_it_is_a_list),
		cmocka_unit_test(every_word_that_is_offered_is_taken),
		cmocka_unit_test(the_best_device_is_taken),
		cmocka_unit_test(a_word_for_no_device_or_several_is_refused),
		cmocka_unit_test(a_script_is_told_from_an_index),
		cmocka_unit_test(paragraphs_are_wrapped_between_words),
		cmocka_unit_test(names_cannot_drive_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
