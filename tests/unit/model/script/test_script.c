// SPDX-License-Identifier: Apache-2.0
// The grammar of device scripts: what is read exactly, and what is refused with one sentence.
#include "model/script/script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BASE                                                                                       \
	"tare-device 1\ndevice name \"d\" memory 1 GiB\ntimer rate 1 GHz\n"                        \
	"engine compute runs kernel\nengine copy runs to-device,to-host,local\n"
#define BASE_LINES 5

static struct tare_script script;
static struct tare_error error;

static int parse(const char *text)
{
	memset(&error, 0, sizeof error);
	return tare_script_parse(text, strlen(text), "x.tare-device", &script, &error);
}

static void must_parse(const char *text)
{
	if (parse(text) < 0)
		fail_msg("%s", error.message);
}

static void numbers_are_exact(void **state)
{
	static const struct {
		const char *line;
		int64_t fixed_ps;
		uint64_t rate;
	} rows[] = {
		{ "fixed 2.83 us rate 55.6 GB/s", 2830000, UINT64_C(55600000000) },
		{ "fixed 2.83 µs rate 1 B/s", 2830000, 1 },
		{ "fixed 0 ps rate 0.001 KB/s", 0, 1 },
		{ "fixed 0.000001 us rate 1 TB/s", 1, UINT64_C(1000000000000) },
		{ "fixed 1000 s rate 1000 TB/s", INT64_C(1000000000000000),
		  UINT64_C(1000000000000000) },
		{ "rate 123456789.012345 MB/s fixed 0.1 ns", 100, UINT64_C(123456789012345) },
	};
	char text[512];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(text, sizeof text, BASE "copy pinned device %s\n", rows[i].line);
		must_parse(text);
		const struct tare_script_copy *copy =
		    &script.copies[TARE_PLACE_PINNED][TARE_PLACE_DEVICE];
		assert_int_equal(copy->line, BASE_LINES + 1);
		assert_int_equal(copy->fixed_ps, rows[i].fixed_ps);
		assert_int_equal(copy->rate, rows[i].rate);
	}
}

static void timers_keep_their_fraction(void **state)
{
	static const struct {
		const char *rate;
		uint64_t numerator, denominator;
	} rows[] = {
		{ "12.5 MHz", 12500000, 1 },       { "19.2 MHz", 19200000, 1 },
		{ "1000/83 MHz", 1000000000, 83 }, { "0.5 kHz", 500, 1 },
		{ "1 GHz", 1000000000, 1 },        { "32768.5 Hz", 327685, 10 },
	};
	char text[512];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(text, sizeof text,
		         "tare-device 1\ndevice name \"d\" memory 1 B\n"
		         "timer rate %s bits 36 resolution 4 ticks drift -12.5 ppm epoch 7 ticks\n"
		         "engine compute runs kernel\n",
		         rows[i].rate);
		must_parse(text);
		assert_int_equal(script.timer.rate.hz_numerator, rows[i].numerator);
		assert_int_equal(script.timer.rate.hz_denominator, rows[i].denominator);
		assert_int_equal(script.timer.rate.valid_bits, 36);
		assert_int_equal(script.timer.rate.resolution_ticks, 4);
		assert_int_equal(script.timer.drift_ppb, -12500);
		assert_int_equal(script.timer.epoch_ticks, 7);
		assert_memory_equal(&script.pair_timer, &script.timer, sizeof script.timer);
	}
}

static void lines_may_be_laid_out_freely(void **state)
{
	(void)state;
	must_parse("\n# a comment first\r\n\ttare-device 1 # and one behind\n\n"
	           "device name \"a # b\" \\\n   memory 1 MiB \\  \n units 3# tight\n"
	           "timer rate 1 GHz\nengine compute runs kernel");
	assert_string_equal(script.device.name, "a # b");
	assert_int_equal(script.device.memory_bytes, 1 << 20);
	assert_int_equal(script.device.largest_bytes, 1 << 20);
	assert_int_equal(script.device.units, 3);
}

static void every_statement_is_read(void **state)
{
	(void)state;
	must_parse(
	    "tare-device 1\n"
	    "device name \"n\" vendor \"v\" driver \"d\" architecture \"a\" uuid \"u\" pci \"p\" "
	    "units 1 \\\n"
	    " lanes 2 clock 3 Hz work-group 4 sub-group 5 memory 6 B largest 5 B cache 7 B local 8 "
	    "B \\\n"
	    " memory-clock 9 Hz memory-bus 10 memory-rate 11 B/s unified yes fp64 yes fp16 no ecc "
	    "yes\n"
	    "link generation 4 width 16 rate 31.5 GB/s\n"
	    "timer rate 1 GHz\npair-timer rate 12 MHz bits 32\npairs before 1 ns after 2 ns\n"
	    "stamps start,end,active,stream\n"
	    "host clock 1 ps append 2 ps event 3 ps submit 4 ps finish 5 ps wake 6 ps query 7 ps "
	    "\\\n"
	    " callback 8 ps gate 9 ps allocate 10 ps register 11 ps build 12 ps\n"
	    "queue submission 1 ps gap 2 ps same-gap 3 ps event-gap 4 ps switch 5 ps flush submit "
	    "\\\n"
	    " route queue gate-capacity 6\n"
	    "engine compute runs kernel,local title \"c\"\n"
	    "engine copy runs to-device,to-host order issue known no\n"
	    "copy pageable device rate 2 B/s staging 1 B/s chunk 3 B\n"
	    "rectangle row 1 ps\nunaligned boundary 64 B speed 71.5 %\n"
	    "concurrent to-device speed 94 % while to-host,kernel\n"
	    "fill fixed 1 ps rate 2 B/s\nmap fixed 3 ps\nunmap fixed 4 ps rate 5 B/s\n"
	    "marker fixed 6 ps\ncall fixed 7 ps\n"
	    "touch page 4 KiB fault 1 ps\nmigrate page 64 KiB fault 2 ps fixed 3 ps rate 4 B/s\n"
	    "kernel k fixed 1 ps minimum 2 ps slots 3 wave 4 ps item 5 ps rate 6 item/s share yes "
	    "\\\n"
	    " action add work-group 64 registers 7 local 8 B repeat 0 repeat-rate 9 item/s span 15 "
	    "arguments 16\n"
	    "tier k up-to 1 KiB rate 3 item/s\ntier k up-to 2 KiB rate 2 item/s\n"
	    "kernel plain action matmul-element\n"
	    "graph instantiate 1 ps launch 2 ps node 3 ps\n"
	    "telemetry clock 1 Hz memory-clock 2 Hz power 3.5 W temperature 40 C throttle 4\n"
	    "jitter range 2 % seed 9\n"
	    "lacks gates reason \"no gates\"\n"
	    "fault device-lost 1 wrong-data 2 failure 3 hang 4 out-of-memory-above 5 B build "
	    "\"log\"\n");
	assert_string_equal(script.device.pci, "p");
	assert_int_equal(script.device.memory_rate, 11);
	assert_int_equal(script.device.ecc, 1);
	assert_int_equal(script.link.width, 16);
	assert_int_equal(script.pair_timer.rate.valid_bits, 32);
	assert_int_equal(script.timer.rate.valid_bits, 64);
	assert_int_equal(script.pairs.after_ps, 2000);
	assert_true(script.has_pairs);
	assert_int_equal(script.stamps, TARE_STAMPS_START | TARE_STAMPS_END | TARE_STAMPS_ACTIVE |
	                                    TARE_STAMPS_STREAM);
	assert_int_equal(script.host.build_ps, 12);
	assert_int_equal(script.queue.flush, TARE_FLUSH_SUBMIT);
	assert_int_equal(script.queue.route, TARE_ROUTE_QUEUE);
	assert_int_equal(script.queue.gate_capacity, 6);
	assert_int_equal(script.engine_count, 2);
	assert_true(script.engines[0].compute && script.engines[0].known);
	assert_false(script.engines[1].compute || script.engines[1].known);
	assert_int_equal(script.engines[1].order, TARE_ENGINE_BY_ISSUE);
	assert_int_equal(script.engines[1].flows, 3);
	assert_int_equal(script.copies[TARE_PLACE_PAGEABLE][TARE_PLACE_DEVICE].chunk_bytes, 3);
	assert_int_equal(script.unaligned_speed_ppm, 715000);
	assert_int_equal(script.concurrencies[0].others,
	                 1 << TARE_FLOW_TO_HOST | 1 << TARE_FLOW_KERNEL);
	assert_int_equal(script.concurrencies[0].speed_ppm, 940000);
	assert_int_equal(script.unmap.rate, 5);
	assert_int_equal(script.migrate.rate, 4);
	assert_int_equal(script.kernels[0].action, TARE_KERNEL_ADD);
	assert_int_equal(script.kernels[0].item_rate, 6);
	assert_int_equal(script.kernels[0].repeat_argument, 0);
	assert_int_equal(script.kernels[0].repeat_rate, 9);
	assert_int_equal(script.kernels[0].span_argument, 15);
	assert_int_equal(script.kernels[0].arguments, 16);
	assert_int_equal(script.kernels[0].work_group, 64);
	assert_int_equal(script.kernels[0].tier_count, 2);
	assert_int_equal(script.kernels[0].tiers[1].bytes, 2048);
	assert_int_equal(script.kernels[0].tiers[1].rate, 2);
	assert_int_equal(script.kernels[1].repeat_argument, -1);
	assert_int_equal(script.kernels[1].span_argument, -1);
	assert_int_equal(script.kernels[1].arguments, 0);
	assert_int_equal(script.kernels[1].action, TARE_KERNEL_MATMUL_ELEMENT);
	assert_int_equal(script.graph.node_ps, 3);
	assert_int_equal(script.telemetry.power_mw, 3500);
	assert_int_equal(script.jitter.range_ppm, 20000);
	assert_string_equal(script.lacks[TARE_LACK_GATES], "no gates");
	assert_string_equal(script.faults.build_log, "log");
}

static void metrics_belong_to_the_last_group_of_their_name(void **state)
{
	(void)state;
	must_parse(BASE "metric-group A sampling event description \"first\"\n"
	                "metric A One type ratio unit \"%\" description \"1\"\n"
	                "metric-group B sampling time domain 7\n"
	                "metric-group A sampling event,time\n"
	                "metric A Two type duration unit \"ns\"\n"
	                "metric B Three type raw\n");
	assert_int_equal(script.metric_group_count, 3);
	assert_int_equal(script.metric_count, 3);
	assert_int_equal(script.metric_groups[0].sampling, TARE_METRIC_BY_EVENT);
	assert_int_equal(script.metric_groups[1].sampling, TARE_METRIC_BY_TIME);
	assert_int_equal(script.metric_groups[1].domain, 7);
	assert_int_equal(script.metric_groups[2].sampling,
	                 TARE_METRIC_BY_EVENT | TARE_METRIC_BY_TIME);
	assert_int_equal(script.metrics[0].group, 0);
	assert_int_equal(script.metrics[0].type, 6);
	assert_string_equal(script.metrics[0].unit, "%");
	assert_int_equal(script.metrics[1].group, 2);
	assert_int_equal(script.metrics[2].group, 1);
	assert_int_equal(script.metrics[2].type, 7);
	assert_string_equal(script.metrics[2].unit, "");
}

static void values_belong_to_a_metric_of_the_last_group(void **state)
{
	(void)state;
	must_parse(BASE "metric-group A sampling event forbidden yes\n"
	                "metric A One type ratio\n"
	                "metric-group A sampling event\n"
	                "metric A One type ratio\n"
	                "metric-value A One k value 30\n"
	                "metric-value A One any value 5 counts wrapped\n");
	assert_int_equal(script.metric_groups[0].forbidden, 1);
	assert_int_equal(script.metric_groups[1].forbidden, 0);
	assert_int_equal(script.metric_value_count, 2);
	assert_int_equal(script.metric_values[0].metric, 1);
	assert_int_equal(script.metric_values[0].value, 30);
	assert_int_equal(script.metric_values[0].counts, TARE_METRIC_RIGHT);
	assert_string_equal(script.metric_values[1].kernel, "any");
	assert_int_equal(script.metric_values[1].counts, TARE_METRIC_WRAPPED);
}

// `part` must be in the message, which names file and line.
static void must_refuse(const char *text, unsigned line, const char *part)
{
	char place[32];
	int status = parse(text);

	snprintf(place, sizeof place, "x.tare-device:%u: ", line);
	if (status != -EINVAL || strncmp(error.message, place, strlen(place)) != 0 ||
	    !strstr(error.message, part) || strchr(error.message, '\n'))
		fail_msg("%s -> %d '%s'; expected %s... %s", text, status, error.message, place,
		         part);
}

static void a_value_needs_its_metric_and_a_kernel(void **state)
{
	(void)state;
	must_refuse(BASE "metric-group G sampling event\nmetric G A type ratio\nmetric-value G A",
	            8, "and a kernel's");
	must_refuse(BASE "metric-group G sampling event\nmetric G A type ratio\nmetric-value G A k",
	            8, "'metric-value' lacks 'value'");
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *line, *part;
	} rows[] = {
		{ "frobnicate 3", "'frobnicate' is not a statement" },
		{ "timer rate 2 GHz", "'timer' was already given in line 3" },
		{ "copy pinned device fixed 1 us", "'copy' lacks 'rate'" },
		{ "copy pinned device rate 0 GB/s", "'rate 0 GB/s' must be above zero" },
		{ "copy pinned device rate 0.0000000001 GB/s",
		  "finer than the model's step of 1 B/s" },
		{ "copy pinned device rate 1001 TB/s", "too large" },
		{ "copy pinned device rate 99999999999999999999 GB/s", "at most 18" },
		{ "copy pinned device rate 999999999999999999 GB/s", "too large" },
		{ "copy pinned device rate -1 GB/s", "'-1' is not a number" },
		{ "copy pinned device rate 1e3 GB/s", "'1e3' is not a number" },
		{ "copy pinned device rate nan GB/s", "'nan' is not a number" },
		{ "copy pinned device rate 1. GB/s", "is not a number" },
		{ "copy pinned device rate .5 GB/s", "is not a number" },
		{ "copy pinned device rate 1.2.3 GB/s", "is not a number" },
		{ "copy pinned device rate 5",
		  "lacks its unit; write B/s, KB/s, MB/s, GB/s or TB/s" },
		{ "copy pinned device rate 5 furlongs", "'furlongs' is not a unit of 'rate'" },
		{ "copy pinned device rate 5 GB/s fixed 0.0000005 us", "step of 1 ps" },
		{ "copy pinned device rate 5 GB/s rate 5 GB/s", "'rate' is given twice" },
		{ "copy pinned device rate 5 GB/s colour 3", "'colour' does not belong in 'copy'" },
		{ "copy pinned device rate", "'rate' lacks its value" },
		{ "copy pinned device rate \"5\" GB/s", "does not go in quotes" },
		{ "copy pinned moon rate 5 GB/s", "two kinds of memory" },
		{ "copy pinned", "two kinds of memory" },
		{ "copy", "two kinds of memory" },
		{ "engine warp runs kernel", "compute or copy" },
		{ "engine copy", "'engine' lacks 'runs'" },
		{ "engine copy runs to-device,to-moon", "'to-moon' does not belong after 'runs'" },
		{ "engine copy runs to-device,to-device", "named twice" },
		{ "engine copy runs ,", "does not belong" },
		{ "kernel", "needs a name" },
		{ "kernel k slots 0", "must be above zero" },
		{ "kernel k action dance",
		  "'dance' does not belong after 'action'; write none, copy, add, "
		  "overlap-volatile, overlap-register, matmul or matmul-element" },
		{ "kernel k repeat 5", "kernel 'k' needs both of 'repeat' and 'repeat-rate'" },
		{ "kernel k repeat-rate 5 item/s", "kernel 'k' needs both of 'repeat' and" },
		{ "kernel k repeat 5 repeat-rate 0 item/s", "must be above zero" },
		{ "kernel k repeat 16 repeat-rate 5 item/s", "'repeat 16' is too large" },
		{ "kernel k repeat -1 repeat-rate 5 item/s", "'-1' is not a number" },
		{ "kernel k repeat 5 repeat-rate 5 GB/s", "'GB/s' is not a unit" },
		{ "kernel k span 5", "'span' of kernel 'k' needs 'repeat'" },
		{ "kernel k arguments 0", "must be above zero" },
		{ "kernel k arguments 17", "too large" },
		{ "kernel k repeat 4 repeat-rate 5 item/s arguments 4",
		  "kernel 'k' takes 4 arguments, from 0; 'repeat' and 'span' are among them" },
		{ "kernel k repeat 0 repeat-rate 5 item/s span 4 arguments 4",
		  "takes 4 arguments" },
		{ "tier", "needs the name of a kernel that was given before, not ''" },
		{ "tier k up-to 1 KiB rate 5 item/s", "given before, not 'k'" },
		{ "concurrent uphill speed 5 % while kernel", "needs a flow" },
		{ "concurrent kernel speed 101 % while kernel", "too large" },
		{ "concurrent kernel speed 0 % while kernel", "above zero" },
		{ "stamps", "needs the stamps" },
		{ "stamps never", "'never' does not belong" },
		{ "stamps none start", "'start' is too much" },
		{ "pairs none before 1 ns", "'before' is too much" },
		{ "pairs before 1 ns", "'pairs' lacks 'after'" },
		{ "lacks patience reason \"x\"", "needs what the device lacks" },
		{ "lacks gates reason x", "goes in quotes" },
		{ "lacks gates reason \"\"", "is empty" },
		{ "lacks gates", "lacks 'reason'" },
		{ "metric-group", "needs a name of 1 to 63 bytes" },
		{ "metric-group G", "'metric-group' lacks 'sampling'" },
		{ "metric-group G sampling often", "'often' does not belong" },
		{ "metric", "name of a metric group that was given before, and its own, not ''" },
		{ "metric G A type ratio", "given before, and its own, not 'G'" },
		{ "metric-group G sampling event\nmetric G A", "'metric' lacks 'type'" },
		{ "metric-group G sampling event\nmetric G A type colour",
		  "write duration, event" },
		{ "metric-group G sampling event\nmetric-value G A k value 1",
		  "a metric of it that were given before" },
		{ "fault hang 0", "must be above zero" },
		{ "telemetry power 3 kW", "'kW' is not a unit" },
		{ "host append \"1\" us", "quotes" },
		{ "device name \"again\" memory 1 B", "already given in line 2" },
		{ "marker fixed 1 us \"", "a quote is not closed" },
		{ "marker fi\"xed 1 us", "middle of a word" },
		{ "marker fixed 1001 s", "too large" },
		{ "touch page 1 KiB", "too small" },
		{ "pair-timer rate 20 GHz", "too large" },
		{ "pair-timer rate 1/0 Hz", "above zero" },
		{ "pair-timer rate 0 Hz", "above zero" },
		{ "pair-timer rate 1/2 Hz", "too small" },
		{ "pair-timer rate 1/2/3 Hz", "is not a rate" },
		{ "pair-timer rate 1 GHz bits 65", "too large" },
		{ "pair-timer rate 1 GHz bits 0", "above zero" },
		{ "pair-timer rate 1 GHz drift 1001 ppm", "too large" },
		{ "marker fixed 1 us \\", "ends after a \\" },
		{ "marker \x01", "is no text" },
		{ "lacks gates reason "
		  "\"1234567890123456789012345678901234567890123456789012345678901234\"",
		  "longer than 63 bytes" },
	};
	char text[1024];
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(text, sizeof text, BASE "%s", rows[i].line);
		must_refuse(text, BASE_LINES + 1 + (strchr(rows[i].line, '\n') != NULL),
		            rows[i].part);
	}
}

#define TIERED BASE "kernel k repeat 0 repeat-rate 9 item/s span 1\n"
#define TIER(kib) "tier k up-to " kib " KiB rate 5 item/s\n"

static void what_contradicts_another_line_is_refused(void **state)
{
	(void)state;
	must_refuse("", 1, "the script is empty");
	must_refuse("\n\n# nothing\n", 3, "the script is empty");
	must_refuse("{\"schema\": 1}", 1, "this is no device script");
	must_refuse("tare-device", 1, "this is no device script");
	must_refuse("tare-device 2\n", 1, "has version '2'; this tare reads version 1");
	must_refuse("tare-device 1\n", 1, "ends without 'device'");
	must_refuse("tare-device 1\ndevice name \"d\" memory 1 B\nengine compute runs kernel\n", 3,
	            "ends without 'timer'");
	must_refuse("tare-device 1\ndevice name \"d\" memory 1 B\ntimer rate 1 GHz\n"
	            "engine copy runs local\n",
	            4, "the first engine must be the compute engine");
	must_refuse(
	    "tare-device 1\ndevice name \"d\" memory 1 B\ntimer rate 1 GHz\n"
	    "engine compute runs kernel\ncopy device pinned rate 1 B/s\nmarker fixed 1 us\n",
	    5, "no engine runs to-host, which this line needs");
	must_refuse(BASE "copy pinned device rate 1 B/s\n\ncopy pinned device rate 1 B/s\n",
	            BASE_LINES + 3, "'copy pinned device' was already given in line 6");
	must_refuse(BASE "kernel k\nkernel k\n", BASE_LINES + 2,
	            "kernel 'k' was already given in line 6");
	// Tiers: of a kernel with a span, complete, in order, at most four.
	must_refuse(BASE
	            "kernel k repeat 0 repeat-rate 9 item/s\ntier k up-to 1 KiB rate 5 item/s\n",
	            BASE_LINES + 2, "kernel 'k' has no 'span'");
	must_refuse(TIERED "tier k up-to 1 KiB\n", BASE_LINES + 2, "'tier' lacks 'rate'");
	must_refuse(TIERED "tier k rate 1 item/s\n", BASE_LINES + 2, "'tier' lacks 'up-to'");
	must_refuse(TIERED "tier k up-to 0 KiB rate 1 item/s\n", BASE_LINES + 2, "above zero");
	must_refuse(TIERED TIER("2") TIER("2"), BASE_LINES + 3,
	            "in order of size; the one before reaches up to 2048 B");
	must_refuse(TIERED TIER("2") TIER("1"), BASE_LINES + 3, "in order of size");
	must_refuse(TIERED TIER("1") TIER("2") TIER("3") TIER("4") TIER("5"), BASE_LINES + 6,
	            "kernel 'k' has more than 4 tiers");
	must_refuse(BASE "lacks gates reason \"a\"\nlacks gates reason \"b\"\n", BASE_LINES + 2,
	            "'lacks gates' was already given in line 6");
}

static void too_much_of_anything_is_refused(void **state)
{
	static char text[100000];
	(void)state;
	strcpy(text, BASE);
	for (int i = 0; i < TARE_SCRIPT_KERNELS + 1; i++)
		sprintf(text + strlen(text), "kernel k%d\n", i);
	must_refuse(text, BASE_LINES + TARE_SCRIPT_KERNELS + 1, "more than 64 kernels");
	strcpy(text, BASE);
	for (int i = 2; i < TARE_SCRIPT_ENGINES + 1; i++)
		strcat(text, "engine copy runs local\n");
	must_refuse(text, TARE_SCRIPT_ENGINES + 4, "more than 8 engines");
	strcpy(text, BASE);
	for (int i = 0; i < TARE_SCRIPT_CONCURRENCIES + 1; i++)
		strcat(text, "concurrent kernel speed 50 % while local\n");
	must_refuse(text, BASE_LINES + TARE_SCRIPT_CONCURRENCIES + 1, "more than 32");
	strcpy(text, BASE "marker ");
	memset(text + strlen(text), 'x', 3000);
	must_refuse(text, BASE_LINES + 1, "longer than");
	strcpy(text, BASE "marker ");
	for (int i = 0; i < 200; i++)
		strcat(text, "x ");
	must_refuse(text, BASE_LINES + 1, "more than 96 words");
	strcpy(text, BASE);
	for (int i = 0; i < 3000; i++)
		strcat(text, "marker x x \\\n");
	assert_int_equal(parse(text), -EINVAL);
	assert_non_null(strstr(error.message, "longer than"));
}

// Every way to cut a good script short, and every byte of it replaced, ends in success or one
// sentence; never in more.
static void cut_and_damaged_scripts_end_well(void **state)
{
	static const char good[] = BASE
	    "copy pinned device fixed 2.83 us rate 55.6 GB/s\n"
	    "kernel k slots 2 wave 1 us\nlacks gates reason \"no\"\npairs before 1 ns after 2 ns\n";
	static const char bytes[] = { '\0', '"', '\\', '\n', '#', ' ',    '0',
		                      '9',  '-', '.',  ',',  '/', '\x7f', (char)0xff };
	char text[sizeof good];
	(void)state;
	for (size_t length = 0; length < sizeof good; length++) {
		int status = tare_script_parse(good, length, "x", &script, &error);
		assert_true(status == 0 || (status == -EINVAL && error.message[0]));
	}
	for (size_t i = 0; i < sizeof good - 1; i++)
		for (size_t j = 0; j < sizeof bytes; j++) {
			memcpy(text, good, sizeof good);
			text[i] = bytes[j];
			int status = tare_script_parse(text, sizeof good - 1, "x", &script, &error);
			assert_true(status == 0 || (status == -EINVAL && error.message[0]));
		}
}

static void files_that_cannot_be_read_are_named(void **state)
{
	char path[] = "/tmp/tare-script-XXXXXX";
	(void)state;
	assert_int_equal(tare_script_read("/nonexistent/x", &script, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/x"));
	assert_int_equal(tare_script_read("/tmp", &script, &error), -EISDIR);
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (1 << 20) + 1), 0);
	assert_int_equal(tare_script_read(path, &script, &error), -EINVAL);
	assert_non_null(strstr(error.message, "larger than 1 MiB"));
	assert_int_equal(ftruncate(file, 100), 0);
	assert_int_equal(tare_script_read(path, &script, &error), -EINVAL);
	assert_non_null(strstr(error.message, "byte 1 of the line is no text"));
	close(file);
	unlink(path);
}

static void the_scripts_for_tests_are_sound(void **state)
{
	static const char *const names[] = { "exact",         "integrated",  "no-profiling",
		                             "no-pairs",      "device-lost", "wrong-data",
		                             "out-of-memory", "hang",        "failure",
		                             "build-failure", "kernels",     "wrong-kernel" };
	char path[1024];
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s.tare-device", getenv("TARE_TEST_DATA"),
		         names[i]);
		if (tare_script_read(path, &script, &error) < 0)
			fail_msg("%s", error.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(timers_keep_their_fraction),
		cmocka_unit_test(lines_may_be_laid_out_freely),
		cmocka_unit_test(every_statement_is_read),
		cmocka_unit_test(metrics_belong_to_the_last_group_of_their_name),
		cmocka_unit_test(values_belong_to_a_metric_of_the_last_group),
		cmocka_unit_test(a_value_needs_its_metric_and_a_kernel),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(what_contradicts_another_line_is_refused),
		cmocka_unit_test(too_much_of_anything_is_refused),
		cmocka_unit_test(cut_and_damaged_scripts_end_well),
		cmocka_unit_test(files_that_cannot_be_read_are_named),
		cmocka_unit_test(the_scripts_for_tests_are_sound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
