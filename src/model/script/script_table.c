// SPDX-License-Identifier: Apache-2.0
#include "model/script/script_table.h"

#include <string.h>

#define FIELD(kind, struct_name, member, field_name, ...)                                          \
	{ .name = field_name,                                                                      \
	  .type = TARE_VALUE_##kind,                                                               \
	  .offset = offsetof(struct struct_name, member),                                          \
	  ##__VA_ARGS__ }
#define END { .name = NULL }

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const flow_words[] = { "to-device", "to-host", "local", "kernel", NULL };
static const char *const place_words[] = { "pageable", "pinned", "write-combined", "registered",
	                                   "device",   "shared", "mapped",         NULL };
static const char *const flush_words[] = { "append", "submit", NULL };
static const char *const route_words[] = { "operation", "queue", NULL };
static const char *const order_words[] = { "ready", "issue", NULL };
static const char *const action_words[] = {
	"none",   "copy",           "add", "overlap-volatile", "overlap-register",
	"matmul", "matmul-element", NULL
};
static const char *const count_words[] = { "right", "saturated", "wrapped", NULL };
static const char *const sampling_words[] = { "event", "time", NULL };
static const char *const metric_words[] = { "duration",   "event",     "event-with-range",
	                                    "throughput", "timestamp", "flag",
	                                    "ratio",      "raw",       NULL };
static const char *const stamp_words[] = { "queued", "submitted", "start", "end",
	                                   "active", "stream",    NULL };
static const char *const lack_words[] = { "pinned", "write-combined", "registered", "shared",
	                                  "mapped", "out-of-order",   "deferred",   "graphs",
	                                  "gates",  "callbacks",      NULL };

const char *tare_flow_name(enum tare_flow flow)
{
	return flow < TARE_FLOW_COUNT ? flow_words[flow] : "none";
}

const char *tare_place_name(enum tare_place place)
{
	return place_words[place];
}

#define DEVICE(type, member, name, ...) FIELD(type, tare_script_device, member, name, ##__VA_ARGS__)
static const struct tare_script_field device_fields[] = {
	DEVICE(TEXT, name, "name", .required = true),
	DEVICE(TEXT, vendor, "vendor"),
	DEVICE(TEXT, driver, "driver"),
	DEVICE(TEXT, architecture, "architecture"),
	DEVICE(TEXT, uuid, "uuid"),
	DEVICE(TEXT, pci, "pci"),
	DEVICE(COUNT, units, "units", .low = 1, .high = 1000000),
	DEVICE(COUNT, lanes, "lanes", .low = 1, .high = 1000000),
	DEVICE(HZ, clock_hz, "clock", .low = 1),
	DEVICE(COUNT, work_group, "work-group", .low = 1, .high = 1 << 20),
	DEVICE(COUNT, sub_group, "sub-group", .low = 1, .high = 1 << 20),
	DEVICE(BYTES, memory_bytes, "memory", .low = 1, .required = true),
	DEVICE(BYTES, largest_bytes, "largest", .low = 1),
	DEVICE(BYTES, cache_bytes, "cache", .low = 1),
	DEVICE(BYTES, local_bytes, "local", .low = 1),
	DEVICE(HZ, memory_clock_hz, "memory-clock", .low = 1),
	DEVICE(COUNT, memory_bus_bits, "memory-bus", .low = 1, .high = 1 << 20),
	DEVICE(RATE, memory_rate, "memory-rate", .low = 1),
	DEVICE(WORD, unified, "unified", .high = 1, .words = no_yes),
	DEVICE(WORD, fp64, "fp64", .high = 1, .words = no_yes),
	DEVICE(WORD, fp16, "fp16", .high = 1, .words = no_yes),
	DEVICE(WORD, ecc, "ecc", .high = 1, .words = no_yes),
	DEVICE(COUNT, sub_devices, "sub-devices", .low = 2, .high = 4),
	DEVICE(TIME, stagger_ps, "stagger"),
	END
};

static const struct tare_script_field link_fields[] = {
	FIELD(COUNT, tare_script_link, generation, "generation", .low = 1, .high = 100),
	FIELD(COUNT, tare_script_link, width, "width", .low = 1, .high = 1024),
	FIELD(RATE, tare_script_link, rate, "rate", .low = 1), END
};

#define TIMER(type, member, name, ...) FIELD(type, tare_script_timer, member, name, ##__VA_ARGS__)
static const struct tare_script_field timer_fields[] = {
	TIMER(FRACTION, rate.hz_numerator, "rate", .required = true),
	TIMER(COUNT32, rate.valid_bits, "bits", .low = 1, .high = 64),
	TIMER(TICKS, rate.resolution_ticks, "resolution", .low = 1, .high = 1000000000),
	TIMER(DRIFT, drift_ppb, "drift"),
	TIMER(TICKS, epoch_ticks, "epoch"),
	END
};

#define HOST(member, name) FIELD(TIME, tare_script_host, member, name)
static const struct tare_script_field host_fields[] = {
	HOST(clock_ps, "clock"),
	HOST(append_ps, "append"),
	HOST(event_ps, "event"),
	HOST(submit_ps, "submit"),
	HOST(finish_ps, "finish"),
	HOST(wake_ps, "wake"),
	HOST(query_ps, "query"),
	HOST(callback_ps, "callback"),
	HOST(gate_ps, "gate"),
	HOST(allocate_ps, "allocate"),
	HOST(register_ps, "register"),
	HOST(build_ps, "build"),
	FIELD(ITEMS, tare_script_host, multiply_rate, "multiply-adds", .low = 1),
	END
};

#define QUEUE(type, member, name, ...) FIELD(type, tare_script_queue, member, name, ##__VA_ARGS__)
static const struct tare_script_field queue_fields[] = {
	QUEUE(TIME, submission_ps, "submission"),
	QUEUE(TIME, gap_ps, "gap"),
	QUEUE(TIME, same_gap_ps, "same-gap"),
	QUEUE(TIME, event_gap_ps, "event-gap"),
	QUEUE(TIME, switch_ps, "switch"),
	QUEUE(WORD, flush, "flush", .high = 1, .words = flush_words),
	QUEUE(WORD, route, "route", .high = 1, .words = route_words),
	QUEUE(COUNT, gate_capacity, "gate-capacity", .low = 1, .high = 1 << 20),
	END
};

static const struct tare_script_field engine_fields[] = {
	FIELD(SET, tare_script_engine, flows, "runs", .high = 15, .words = flow_words,
	      .required = true),
	FIELD(WORD, tare_script_engine, order, "order", .high = 1, .words = order_words),
	FIELD(WORD, tare_script_engine, known, "known", .high = 1, .words = no_yes),
	FIELD(TEXT, tare_script_engine, title, "title"), END
};

static const struct tare_script_field copy_fields[] = {
	FIELD(TIME, tare_script_copy, fixed_ps, "fixed"),
	FIELD(RATE, tare_script_copy, rate, "rate", .low = 1, .required = true),
	FIELD(RATE, tare_script_copy, staging, "staging", .low = 1),
	FIELD(BYTES, tare_script_copy, chunk_bytes, "chunk", .low = 1), END
};

static const struct tare_script_field rectangle_fields[] = {
	FIELD(TIME, tare_script, rectangle_row_ps, "row", .required = true), END
};

static const struct tare_script_field unaligned_fields[] = {
	FIELD(BYTES, tare_script, boundary_bytes, "boundary", .low = 2, .required = true),
	FIELD(SPEED, tare_script, unaligned_speed_ppm, "speed", .low = 1, .required = true), END
};

static const struct tare_script_field transfer_fields[] = {
	FIELD(TIME, tare_script_transfer, fixed_ps, "fixed"),
	FIELD(RATE, tare_script_transfer, rate, "rate", .low = 1), END
};

static const struct tare_script_field cost_fields[] = {
	FIELD(TIME, tare_script_transfer, fixed_ps, "fixed", .required = true), END
};

static const struct tare_script_field pages_fields[] = {
	FIELD(BYTES, tare_script_pages, page_bytes, "page", .low = 4096, .required = true),
	FIELD(TIME, tare_script_pages, fault_ps, "fault"),
	FIELD(TIME, tare_script_pages, fixed_ps, "fixed"),
	FIELD(RATE, tare_script_pages, rate, "rate", .low = 1), END
};

#define KERNEL(type, member, name, ...) FIELD(type, tare_script_kernel, member, name, ##__VA_ARGS__)
static const struct tare_script_field kernel_fields[] = {
	KERNEL(TIME, fixed_ps, "fixed"),
	KERNEL(TIME, minimum_ps, "minimum"),
	KERNEL(COUNT, slots, "slots", .low = 1, .high = 1 << 20),
	KERNEL(TIME, wave_ps, "wave"),
	KERNEL(TIME, item_ps, "item"),
	KERNEL(ITEMS, item_rate, "rate", .low = 1),
	KERNEL(WORD, share, "share", .high = 1, .words = no_yes),
	KERNEL(WORD, action, "action", .high = TARE_KERNEL_MATMUL_ELEMENT, .words = action_words),
	KERNEL(COUNT, work_group, "work-group", .low = 1, .high = 1 << 20),
	KERNEL(COUNT, registers, "registers", .low = 1, .high = 1 << 20),
	KERNEL(BYTES, local_bytes, "local", .low = 1),
	KERNEL(COUNT, repeat_argument, "repeat", .high = TARE_SCRIPT_ARGUMENTS - 1),
	KERNEL(ITEMS, repeat_rate, "repeat-rate", .low = 1),
	KERNEL(COUNT, span_argument, "span", .high = TARE_SCRIPT_ARGUMENTS - 1),
	KERNEL(COUNT, arguments, "arguments", .low = 1, .high = TARE_SCRIPT_ARGUMENTS),
	END
};

static const struct tare_script_field tier_fields[] = {
	FIELD(BYTES, tare_script_tier, bytes, "up-to", .low = 1, .required = true),
	FIELD(ITEMS, tare_script_tier, rate, "rate", .low = 1, .required = true), END
};

static const struct tare_script_field concurrent_fields[] = {
	FIELD(SPEED, tare_script_concurrency, speed_ppm, "speed", .low = 1, .required = true),
	FIELD(SET, tare_script_concurrency, others, "while", .high = 15, .words = flow_words,
	      .required = true),
	END
};

static const struct tare_script_field graph_fields[] = {
	FIELD(TIME, tare_script_graph, instantiate_ps, "instantiate"),
	FIELD(TIME, tare_script_graph, launch_ps, "launch"),
	FIELD(TIME, tare_script_graph, node_ps, "node"), END
};

static const struct tare_script_field telemetry_fields[] = {
	FIELD(HZ, tare_script_telemetry, clock_hz, "clock", .low = 1),
	FIELD(HZ, tare_script_telemetry, memory_clock_hz, "memory-clock", .low = 1),
	FIELD(POWER, tare_script_telemetry, power_mw, "power", .low = 1),
	FIELD(HEAT, tare_script_telemetry, temperature_mc, "temperature", .low = 1),
	FIELD(COUNT, tare_script_telemetry, throttle, "throttle"),
	END
};

static const struct tare_script_field metric_group_fields[] = {
	FIELD(SET, tare_script_metric_group, sampling, "sampling", .low = 1, .high = 3,
	      .words = sampling_words, .required = true),
	FIELD(COUNT, tare_script_metric_group, domain, "domain", .high = 1000),
	FIELD(WORD, tare_script_metric_group, forbidden, "forbidden", .high = 1, .words = no_yes),
	FIELD(TEXT, tare_script_metric_group, description, "description"), END
};

static const struct tare_script_field metric_fields[] = {
	FIELD(WORD, tare_script_metric, type, "type", .high = 7, .words = metric_words,
	      .required = true),
	FIELD(TEXT, tare_script_metric, unit, "unit"),
	FIELD(TEXT, tare_script_metric, description, "description"), END
};

static const struct tare_script_field metric_value_fields[] = {
	FIELD(COUNT, tare_script_metric_value, value, "value", .required = true),
	FIELD(WORD, tare_script_metric_value, counts, "counts", .high = TARE_METRIC_WRAPPED,
	      .words = count_words),
	END
};

static const struct tare_script_field jitter_fields[] = {
	FIELD(SPEED, tare_script, jitter.range_ppm, "range", .low = 1, .required = true),
	FIELD(COUNT, tare_script, jitter.seed, "seed"), END
};

static const struct tare_script_field pairs_fields[] = {
	FIELD(TIME, tare_script_pairs, before_ps, "before", .required = true),
	FIELD(TIME, tare_script_pairs, after_ps, "after", .required = true), END
};

#define FAULT(type, member, name) FIELD(type, tare_script_faults, member, name, .low = 1)
static const struct tare_script_field fault_fields[] = {
	FAULT(COUNT, lost_at, "device-lost"),
	FAULT(COUNT, wrong_at, "wrong-data"),
	FAULT(COUNT, fail_at, "failure"),
	FAULT(COUNT, hang_at, "hang"),
	FAULT(BYTES, memory_above_bytes, "out-of-memory-above"),
	FIELD(TEXT, tare_script_faults, build_log, "build"),
	END
};

static int begin_engine(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	const char *class = reader->count > 1 ? reader->words[1] : "";

	if (strcmp(class, "compute") != 0 && strcmp(class, "copy") != 0)
		return tare_script_fail(&reader->place,
		                        "'engine' needs its class, compute or copy");
	if (script->engine_count == TARE_SCRIPT_ENGINES)
		return tare_script_fail(&reader->place, "there are more than %d engines",
		                        TARE_SCRIPT_ENGINES);
	struct tare_script_engine *engine = &script->engines[script->engine_count++];
	*engine = (struct tare_script_engine){ .line = reader->place.line,
		                               .compute = class[2] == 'm',
		                               .known = 1 };
	*base = engine;
	*used = 2;
	return 0;
}

static int begin_copy(struct tare_script_reader *reader, void **base, size_t *used)
{
	int place[2];
	char list[128];

	for (size_t i = 0; i < 2; i++) {
		const char *word = reader->count > i + 1 ? reader->words[i + 1] : "";
		place[i] = tare_word_find(place_words, word);
		if (place[i] < 0)
			return tare_script_fail(
			    &reader->place,
			    "'copy' needs two kinds of memory, from and to, each %s",
			    tare_word_list(place_words, list, sizeof list));
	}
	struct tare_script_copy *copy = &reader->script->copies[place[0]][place[1]];
	if (copy->line)
		return tare_script_fail(&reader->place, "'copy %s %s' was already given in line %u",
		                        place_words[place[0]], place_words[place[1]], copy->line);
	copy->line = reader->place.line;
	copy->chunk_bytes = UINT64_C(1) << 18;
	*base = copy;
	*used = 3;
	return 0;
}

static struct tare_script_kernel *find_kernel(struct tare_script *script, const char *name)
{
	for (size_t i = 0; i < script->kernel_count; i++)
		if (strcmp(script->kernels[i].name, name) == 0)
			return &script->kernels[i];
	return NULL;
}

static int begin_kernel(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	const char *name = reader->count > 1 ? reader->words[1] : "";

	if (!name[0] || strlen(name) >= TARE_SCRIPT_TEXT)
		return tare_script_fail(&reader->place, "'kernel' needs a name of 1 to %d bytes",
		                        TARE_SCRIPT_TEXT - 1);
	const struct tare_script_kernel *twin = find_kernel(script, name);
	if (twin)
		return tare_script_fail(&reader->place, "kernel '%s' was already given in line %u",
		                        name, twin->line);
	if (script->kernel_count == TARE_SCRIPT_KERNELS)
		return tare_script_fail(&reader->place, "there are more than %d kernels",
		                        TARE_SCRIPT_KERNELS);
	struct tare_script_kernel *kernel = &script->kernels[script->kernel_count++];
	*kernel = (struct tare_script_kernel){
		.line = reader->place.line, .slots = 1, .repeat_argument = -1, .span_argument = -1
	};
	memcpy(kernel->name, name, strlen(name) + 1);
	*base = kernel;
	*used = 2;
	return 0;
}

static int end_kernel(struct tare_script_reader *reader, const void *base)
{
	const struct tare_script_kernel *kernel = base;
	int64_t count = kernel->arguments ? (int64_t)kernel->arguments : TARE_SCRIPT_ARGUMENTS;

	if ((kernel->repeat_argument < 0) != (kernel->repeat_rate == 0))
		return tare_script_fail(&reader->place,
		                        "kernel '%s' needs both of 'repeat' and "
		                        "'repeat-rate', or neither",
		                        kernel->name);
	if (kernel->span_argument >= 0 && kernel->repeat_argument < 0)
		return tare_script_fail(&reader->place,
		                        "'span' of kernel '%s' needs 'repeat': it "
		                        "chooses among repeat rates",
		                        kernel->name);
	if (kernel->repeat_argument >= count || kernel->span_argument >= count)
		return tare_script_fail(&reader->place,
		                        "kernel '%s' takes %lld arguments, from 0; "
		                        "'repeat' and 'span' are among them",
		                        kernel->name, (long long)count);
	return 0;
}

static int begin_tier(struct tare_script_reader *reader, void **base, size_t *used)
{
	const char *name = reader->count > 1 ? reader->words[1] : "";
	struct tare_script_kernel *kernel = find_kernel(reader->script, name);

	if (!kernel)
		return tare_script_fail(&reader->place,
		                        "'tier' needs the name of a kernel that was "
		                        "given before, not '%.60s'",
		                        name);
	if (kernel->span_argument < 0)
		return tare_script_fail(&reader->place,
		                        "kernel '%s' has no 'span', which says the "
		                        "working set of its tiers",
		                        name);
	if (kernel->tier_count == TARE_SCRIPT_TIERS)
		return tare_script_fail(&reader->place, "kernel '%s' has more than %d tiers", name,
		                        TARE_SCRIPT_TIERS);
	*base = &kernel->tiers[kernel->tier_count++];
	*used = 2;
	return 0;
}

static int end_tier(struct tare_script_reader *reader, const void *base)
{
	const struct tare_script_kernel *kernel = find_kernel(reader->script, reader->words[1]);
	const struct tare_script_tier *tier = base;

	if (tier > kernel->tiers && tier->bytes <= tier[-1].bytes)
		return tare_script_fail(&reader->place,
		                        "tiers of kernel '%s' are given in order of "
		                        "size; the one before reaches up to %llu B",
		                        kernel->name, (unsigned long long)tier[-1].bytes);
	return 0;
}

static int begin_metric_group(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	const char *name = reader->count > 1 ? reader->words[1] : "";

	if (!name[0] || strlen(name) >= TARE_SCRIPT_TEXT)
		return tare_script_fail(&reader->place,
		                        "'metric-group' needs a name of 1 to %d bytes",
		                        TARE_SCRIPT_TEXT - 1);
	if (script->metric_group_count == TARE_SCRIPT_METRIC_GROUPS)
		return tare_script_fail(&reader->place, "there are more than %d metric groups",
		                        TARE_SCRIPT_METRIC_GROUPS);
	struct tare_script_metric_group *group =
	    &script->metric_groups[script->metric_group_count++];
	*group = (struct tare_script_metric_group){ .line = reader->place.line };
	memcpy(group->name, name, strlen(name) + 1);
	*base = group;
	*used = 2;
	return 0;
}

// Of the last group of that name: an event and a time group may share one.
static int begin_metric(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	const char *of = reader->count > 2 ? reader->words[1] : "";
	const char *name = reader->count > 2 ? reader->words[2] : "";
	size_t group = script->metric_group_count;

	while (group > 0 && strcmp(script->metric_groups[group - 1].name, of) != 0)
		group--;
	if (group == 0)
		return tare_script_fail(&reader->place,
		                        "'metric' needs the name of a metric group that was given "
		                        "before, and its own, not '%.60s'",
		                        of);
	if (!name[0] || strlen(name) >= TARE_SCRIPT_TEXT)
		return tare_script_fail(&reader->place, "'metric' needs a name of 1 to %d bytes",
		                        TARE_SCRIPT_TEXT - 1);
	if (script->metric_count == TARE_SCRIPT_METRICS)
		return tare_script_fail(&reader->place, "there are more than %d metrics",
		                        TARE_SCRIPT_METRICS);
	struct tare_script_metric *metric = &script->metrics[script->metric_count++];
	*metric = (struct tare_script_metric){ .line = reader->place.line, .group = group - 1 };
	memcpy(metric->name, name, strlen(name) + 1);
	*base = metric;
	*used = 3;
	return 0;
}

// The metric of that name in the last group of that name; metric_count: there is none.
static size_t find_metric(const struct tare_script *script, const char *group, const char *name)
{
	size_t of = script->metric_group_count, i = 0;

	while (of > 0 && strcmp(script->metric_groups[of - 1].name, group) != 0)
		of--;
	while (i < script->metric_count &&
	       (script->metrics[i].group + 1 != of || strcmp(script->metrics[i].name, name) != 0))
		i++;
	return i;
}

static int begin_metric_value(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	const char *const *words = (const char *const *)reader->words;
	size_t metric =
	    reader->count > 3 ? find_metric(script, words[1], words[2]) : script->metric_count;
	struct tare_script_metric_value *value = &script->metric_values[script->metric_value_count];

	if (metric == script->metric_count || strlen(words[3]) >= TARE_SCRIPT_TEXT)
		return tare_script_fail(&reader->place,
		                        "'metric-value' needs the names of a metric group and of a "
		                        "metric of it that were given before, and a kernel's");
	if (script->metric_value_count++ == TARE_SCRIPT_METRIC_VALUES)
		return tare_script_fail(&reader->place, "there are more than %d values of metrics",
		                        TARE_SCRIPT_METRIC_VALUES);
	*value = (struct tare_script_metric_value){ .line = reader->place.line, .metric = metric };
	memcpy(value->kernel, words[3], strlen(words[3]) + 1);
	*base = value;
	*used = 4;
	return 0;
}

static int begin_concurrent(struct tare_script_reader *reader, void **base, size_t *used)
{
	struct tare_script *script = reader->script;
	int flow = tare_word_find(flow_words, reader->count > 1 ? reader->words[1] : "");

	if (flow < 0)
		return tare_script_fail(
		    &reader->place,
		    "'concurrent' needs a flow: to-device, to-host, local or kernel");
	if (script->concurrency_count == TARE_SCRIPT_CONCURRENCIES)
		return tare_script_fail(&reader->place, "there are more than %d 'concurrent' lines",
		                        TARE_SCRIPT_CONCURRENCIES);
	struct tare_script_concurrency *row = &script->concurrencies[script->concurrency_count++];
	*row = (struct tare_script_concurrency){ .flow = (enum tare_flow)flow };
	*base = row;
	*used = 2;
	return 0;
}

static int begin_lacks(struct tare_script_reader *reader, void **base, size_t *used)
{
	char list[160];
	int lack = tare_word_find(lack_words, reader->count > 1 ? reader->words[1] : "");

	if (lack < 0)
		return tare_script_fail(&reader->place, "'lacks' needs what the device lacks: %s",
		                        tare_word_list(lack_words, list, sizeof list));
	if (reader->lack_lines[lack])
		return tare_script_fail(&reader->place, "'lacks %s' was already given in line %u",
		                        lack_words[lack], reader->lack_lines[lack]);
	reader->lack_lines[lack] = reader->place.line;
	*base = reader->script->lacks[lack];
	*used = 2;
	return 0;
}

static const struct tare_script_field lacks_fields[] = {
	{ .name = "reason", .type = TARE_VALUE_TEXT, .offset = 0, .required = true }, END
};

static int begin_stamps(struct tare_script_reader *reader, void **base, size_t *used)
{
	static const struct tare_script_field field = { .name = "stamps",
		                                        .type = TARE_VALUE_SET,
		                                        .words = stamp_words };
	*base = NULL;
	*used = 2;
	if (reader->count < 2)
		return tare_script_fail(&reader->place,
		                        "'stamps' needs the stamps that events carry, "
		                        "such as queued,submitted,start,end, or none");
	if (strcmp(reader->words[1], "none") == 0) {
		reader->script->stamps = 0;
		return 0;
	}
	return tare_value_read(&reader->place, &field, reader->words[1], NULL,
	                       &reader->script->stamps);
}

static int begin_pairs(struct tare_script_reader *reader, void **base, size_t *used)
{
	bool none = reader->count > 1 && strcmp(reader->words[1], "none") == 0;

	reader->script->has_pairs = !none;
	*base = none ? NULL : &reader->script->pairs;
	*used = none ? 2 : 1;
	return 0;
}

#define AT(member) .offset = offsetof(struct tare_script, member)
const struct tare_script_statement tare_script_statements[] = {
	{ "device", device_fields, AT(device) },
	{ "link", link_fields, AT(link) },
	{ "timer", timer_fields, AT(timer) },
	{ "pair-timer", timer_fields, AT(pair_timer) },
	{ "pairs", pairs_fields, .begin = begin_pairs },
	{ "stamps", NULL, .begin = begin_stamps },
	{ "host", host_fields, AT(host) },
	{ "queue", queue_fields, AT(queue) },
	{ "engine", engine_fields, .begin = begin_engine, .repeats = true },
	{ "copy", copy_fields, .begin = begin_copy, .repeats = true },
	{ "rectangle", rectangle_fields },
	{ "unaligned", unaligned_fields },
	{ "fill", transfer_fields, AT(fill) },
	{ "map", transfer_fields, AT(map) },
	{ "unmap", transfer_fields, AT(unmap) },
	{ "marker", cost_fields, AT(marker) },
	{ "call", cost_fields, AT(call) },
	{ "touch", pages_fields, AT(touch) },
	{ "migrate", pages_fields, AT(migrate) },
	{ "kernel", kernel_fields, .begin = begin_kernel, .end = end_kernel, .repeats = true },
	{ "tier", tier_fields, .begin = begin_tier, .end = end_tier, .repeats = true },
	{ "concurrent", concurrent_fields, .begin = begin_concurrent, .repeats = true },
	{ "graph", graph_fields, AT(graph) },
	{ "telemetry", telemetry_fields, AT(telemetry) },
	{ "metric-group", metric_group_fields, .begin = begin_metric_group, .repeats = true },
	{ "metric", metric_fields, .begin = begin_metric, .repeats = true },
	{ "metric-value", metric_value_fields, .begin = begin_metric_value, .repeats = true },
	{ "jitter", jitter_fields },
	{ "lacks", lacks_fields, .begin = begin_lacks, .repeats = true },
	{ "fault", fault_fields, AT(faults) },
};
const size_t tare_script_statement_count =
    sizeof tare_script_statements / sizeof *tare_script_statements;
