// SPDX-License-Identifier: Apache-2.0
// The kernel of `overlap`, over how many bytes it runs, and for how many cycles.
#include "backend/call.h"
#include "backend/kernels.h"
#include "base/units.h"
#include "measure/host/memory.h"
#include "measure/overlap/check.h"
#include "measure/overlap/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_BYTES (UINT64_C(64) << 20)
// Each byte of the simulated device is really copied, many times within a budget of its own time:
// with so many a default run takes minutes at most.
#define DEFAULT_BYTES_SIMULATED (UINT64_C(4) << 20)
#define PROBE_BYTES (UINT64_C(1) << 20)
#define LEAST_BYTES (UINT64_C(64) << 10)
#define GROUP_SIZE 256
#define GROUPS_A_UNIT 16 // the Handbook's
#define PAGE 4096
#define ADD 0xcc // the Handbook's
// One run of everything in sequence may take this share of the budget: with bytes that the user
// chose, and by default (with one point, with five).
#define SERIAL_SHARE_CHOSEN 0.01
#define SERIAL_SHARE_ONE 0.004
#define SERIAL_SHARE_MANY 0.002
#define LARGEST_RATIO 4.0
// A kernel that the host waits for so long, and so many times as long as the device says.
#define STUCK_NS 250e6
#define STUCK_FACTOR 20

// ---- tare's own kernel

// value * multiplier + summand, `cycles` times: one such map, modulo 2^32.
struct affine {
	uint32_t multiplier, summand;
};

static struct affine affine_power(struct affine step, uint64_t cycles)
{
	struct affine power = { 1, 0 };

	for (; cycles; cycles >>= 1) {
		if (cycles & 1)
			power = (struct affine){ power.multiplier * step.multiplier,
				                 power.summand * step.multiplier + step.summand };
		step = (struct affine){ step.multiplier * step.multiplier,
			                step.summand * step.multiplier + step.summand };
	}
	return power;
}

static bool check(const void *context, const void *input, const void *output, uint64_t first,
                  uint64_t count)
{
	const struct overlap *overlap = context;
	bool turns = overlap->options.loop == TARE_LOOP_REGISTER;
	struct affine step = { turns ? 1664525u : 1u, (uint32_t)overlap->add };
	struct affine all = affine_power(step, (uint64_t)(uint32_t)overlap->cycles);

	return overlap_is_affine((const uint32_t *)input + first, (const uint32_t *)output + first,
	                         count, all.multiplier, all.summand);
}

static const char *own_entry(const struct overlap *overlap)
{
	static const char *const entries[TARE_LOOP_COUNT] = {
		[TARE_LOOP_REGISTER] = "overlap_register",
		[TARE_LOOP_HANDBOOK] = "overlap_handbook",
		[TARE_LOOP_VOLATILE] = "overlap_volatile",
	};
	return entries[overlap->options.loop];
}

static int rebuild(const void *context, struct tare_module **module, struct tare_kernel **kernel,
                   struct tare_error *error)
{
	const struct overlap *overlap = context;

	if (!overlap->own)
		return tare_user_kernel_rebuild(overlap->run, &overlap->options.kernel, module,
		                                kernel, error);
	return tare_kernel_build(overlap->run->device, "overlap", own_entry(overlap), module,
	                         kernel, NULL, error);
}

// On CUDA so many groups a unit as keep it full, as the Handbook's program has; with a group for
// each few items, starting and ending them takes longer than moving the data.
static uint32_t groups_most(const struct overlap *overlap)
{
	const struct tare_facts *facts = overlap->run->facts;
	const struct tare_fact *units = facts ? &facts->fact[TARE_FACT_UNITS] : NULL;

	if (overlap->options.groups)
		return overlap->options.groups;
	if (overlap->run->simulated || !units || !units->present ||
	    strcmp(overlap->run->device->backend->name, "cuda") != 0)
		return 0;
	return (uint32_t)(GROUPS_A_UNIT * units->count);
}

static int build_own(struct overlap *overlap, char **log, struct tare_error *error)
{
	const struct tare_overlap_options *options = &overlap->options;
	struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	const char *entry = own_entry(overlap);
	struct tare_kernel_facts facts = { .max_group_size = -1 };
	int status;

	if ((options->in_bytes && options->in_bytes != 4) ||
	    (options->out_bytes && options->out_bytes != 4))
		return tare_fail(error, EINVAL,
		                 "--item-bytes: tare's own loop reads 4 bytes and writes 4; other "
		                 "sizes need a kernel of yours (--kernel)");
	status = tare_kernel_build(overlap->run->device, "overlap", entry, &overlap->built.module,
	                           &chunk->kernel, log, error);
	if (status < 0)
		return status;
	if (tare_kernel_facts(chunk->kernel, &facts, NULL) < 0)
		facts.max_group_size = -1;
	overlap->add = ADD;
	chunk->group_size = facts.max_group_size > 0 && facts.max_group_size < GROUP_SIZE
	                        ? (uint32_t)facts.max_group_size
	                        : GROUP_SIZE;
	chunk->groups_most = groups_most(overlap);
	chunk->in_bytes = chunk->out_bytes = 4;
	chunk->align = options->kernel.align ? options->kernel.align : 1;
	chunk->scalars[0] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                                    .value = &overlap->add,
		                                    .bytes = 4 };
	chunk->scalars[1] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                                    .value = &overlap->cycles,
		                                    .bytes = 4 };
	chunk->scalar_count = 2;
	chunk->check = check;
	snprintf(overlap->built.title, sizeof overlap->built.title, "%s", entry);
	return 0;
}

int overlap_build_kernel(struct overlap *overlap, char **log, struct tare_error *error)
{
	int status;

	overlap->own = !overlap->options.kernel.file;
	status = overlap->own ? build_own(overlap, log, error)
	                      : tare_user_kernel_build(overlap->run, &overlap->options.kernel,
	                                               &overlap->built, log, error);
	overlap->built.chunk.rebuild = rebuild;
	overlap->built.chunk.context = overlap;
	return status;
}

void overlap_set_cycles(struct overlap *overlap, uint64_t cycles)
{
	overlap->cycles = (int32_t)cycles;
	if (overlap->own)
		tare_pipeline_set_scalar(overlap->pipeline, 1, &overlap->cycles);
}

// ---- how many bytes

static uint64_t fact_bytes(const struct overlap *overlap, enum tare_fact_id id)
{
	const struct tare_fact *fact = overlap->run->facts ? &overlap->run->facts->fact[id] : NULL;
	return fact && fact->present ? fact->count : UINT64_MAX;
}

// A kernel counts its items, and those of a last group that is not full, in 32 bits.
static uint64_t items_most(const struct overlap *overlap)
{
	return UINT32_MAX - overlap->built.chunk.group_size;
}

static uint64_t items_of(const struct overlap *overlap, uint64_t bytes)
{
	uint64_t items = bytes / overlap->built.chunk.in_bytes;
	return items > items_most(overlap) ? items_most(overlap) : items;
}

// The most bytes of input whose buffers fit: half of the device's memory, the largest allocation,
// half of what the host has free (which holds a second copy of each for pageable runs).
static uint64_t memory_allows(const struct overlap *overlap)
{
	const struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	double both = (double)(chunk->in_bytes + chunk->out_bytes) / (double)chunk->in_bytes;
	double larger = fmax(1, (double)chunk->out_bytes / (double)chunk->in_bytes);
	double most = fmin((double)fact_bytes(overlap, TARE_FACT_MEMORY) / 2 / both,
	                   (double)fact_bytes(overlap, TARE_FACT_MEMORY_MAX_ALLOCATION) / larger);

	struct tare_host_memory host = { 0 };

	if (!overlap->run->simulated)
		host = tare_host_memory_free("");
	if (host.known)
		most = fmin(most, (double)host.bytes / 2 / (2 * both));
	return most < 1e18 ? (uint64_t)most : UINT64_MAX;
}

// Says once, when all is known, that the work or the kernel is not what was wanted.
void overlap_warn_work(struct overlap *overlap)
{
	static const struct {
		const char *why, *remedy;
	} shortages[] = {
		[OVERLAP_SHORT_OF_MEMORY] = { "more does not fit into memory",
		                              "a device or a machine with more memory" },
		[OVERLAP_SHORT_OF_ITEMS] = { "a kernel counts its items in 32 bits",
		                             "larger items (--item-bytes)" },
		[OVERLAP_SHORT_OF_TIME] = { "more would take too much of the budget in each run",
		                            "more --budget" },
	};
	uint64_t bytes = overlap->items * overlap->built.chunk.in_bytes;
	uint64_t wanted = overlap->wanted_bytes;
	char now[TARE_UNIT_TEXT], then[TARE_UNIT_TEXT];

	if (overlap->floor_ratio > 0)
		tare_result_warn(
		    overlap->run->result, "kernel-floor",
		    "nothing to do; it is what the device's memory takes",
		    "kernel : copy does not go below %s: without any turns of its loop "
		    "the kernel still moves its data",
		    tare_format_significant(overlap->floor_ratio, 2, now));
	if (!overlap->short_of)
		return;
	tare_result_warn(overlap->run->result, "bytes-short", shortages[overlap->short_of].remedy,
	                 "the work is %s of input, not %s: %s", tare_format_bytes(bytes, now),
	                 tare_format_bytes(wanted, then), shortages[overlap->short_of].why);
}

// Times of the stages over few bytes tell what all of them would take, in ns a byte of input.
static int probe(struct overlap *overlap, uint64_t bytes, double *serial_ns_a_byte,
                 struct tare_error *error)
{
	uint64_t items = items_of(overlap, bytes);
	size_t given = overlap->own ? overlap->options.cycle_count : 0;
	double stage_ns[TARE_STAGE_COUNT] = { 0 }, copy, kernel;
	int status;
	bool device;

	status = tare_pipeline_open(&overlap->bench, items, &overlap->pipeline,
	                            &overlap->built.chunk, error);
	if (status == 0)
		overlap_set_cycles(overlap, given ? overlap->options.cycles[given - 1] : 1);
	for (int round = 0; status == 0 && round < 2; round++) // the first one warms up
		for (int i = 0; status == 0 && i < TARE_STAGE_COUNT; i++) {
			int64_t ps = 0;
			status = overlap_go_on(overlap, error);
			if (status == 0)
				status = tare_pipeline_stage(overlap->pipeline, (enum tare_stage)i,
				                             &ps, &device, error);
			stage_ns[i] = (double)ps / 1000;
		}
	tare_pipeline_free(overlap->pipeline);
	overlap->pipeline = NULL;
	copy = fmax(stage_ns[TARE_STAGE_TO_DEVICE], stage_ns[TARE_STAGE_TO_HOST]);
	kernel = stage_ns[TARE_STAGE_KERNEL];
	if (overlap->own && overlap->options.cycle_count == 0)
		kernel = fmax(kernel, LARGEST_RATIO * copy);
	*serial_ns_a_byte =
	    (stage_ns[TARE_STAGE_TO_DEVICE] + stage_ns[TARE_STAGE_TO_HOST] + kernel) /
	    (double)(items * overlap->built.chunk.in_bytes);
	return status;
}

// How long one run of everything in sequence may take.
static double serial_limit_ns(const struct overlap *overlap)
{
	double share = overlap->options.bytes                              ? SERIAL_SHARE_CHOSEN
	               : overlap->own && overlap->options.cycle_count != 1 ? SERIAL_SHARE_MANY
	                                                                   : SERIAL_SHARE_ONE;
	return share * (double)overlap->budget_ns;
}

static int bound_by_budget(struct overlap *overlap, uint64_t *bytes, struct tare_error *error)
{
	double a_byte = 0, limit_ns = serial_limit_ns(overlap);
	int status = probe(overlap, *bytes < PROBE_BYTES ? *bytes : PROBE_BYTES, &a_byte, error);

	while (status == 0 && *bytes / 2 >= LEAST_BYTES && (double)*bytes * a_byte > limit_ns) {
		*bytes /= 2;
		overlap->short_of = OVERLAP_SHORT_OF_TIME;
	}
	return status;
}

// Copies of odd addresses are slower on many devices: chunks begin at whole pages where that leaves
// enough of them. Multiples of what the kernel asks for serve it as well.
static void widen_align(struct overlap *overlap, uint64_t items)
{
	struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	const struct tare_search_space *space = &overlap->options.space;
	uint64_t blocks = 256;

	for (size_t i = 0; i < space->chunk_count; i++)
		blocks = space->chunks[i] > blocks ? space->chunks[i] : blocks;
	while (
	    ((chunk->align * chunk->in_bytes) % PAGE || (chunk->align * chunk->out_bytes) % PAGE) &&
	    items / (2 * chunk->align) >= blocks)
		chunk->align *= 2;
}

// Opens the pipeline over at most `bytes`.
static int open_over(struct overlap *overlap, uint64_t bytes, struct tare_error *error)
{
	int status;

	widen_align(overlap, items_of(overlap, bytes));
	for (;;) {
		overlap->items = items_of(overlap, bytes);
		status = tare_pipeline_open(&overlap->bench, overlap->items, &overlap->pipeline,
		                            &overlap->built.chunk, error);
		if (status != -ENOMEM || bytes / 2 < LEAST_BYTES)
			break;
		// The driver has less than it says.
		bytes /= 2;
		overlap->short_of = OVERLAP_SHORT_OF_MEMORY;
	}
	if (status == 0)
		overlap->work = tare_pipeline_work(overlap->pipeline);
	return status;
}

int overlap_open_pipeline(struct overlap *overlap, struct tare_error *error)
{
	struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	uint64_t fallback = overlap->run->simulated ? DEFAULT_BYTES_SIMULATED : DEFAULT_BYTES;
	uint64_t bytes = overlap->options.bytes ? overlap->options.bytes : fallback;
	uint64_t most = memory_allows(overlap);
	int status;

	overlap->wanted_bytes = bytes;
	if (bytes > most) {
		bytes = most;
		overlap->short_of = OVERLAP_SHORT_OF_MEMORY;
	}
	if (bytes / chunk->in_bytes > items_most(overlap)) {
		bytes = items_most(overlap) * chunk->in_bytes;
		overlap->short_of = OVERLAP_SHORT_OF_ITEMS;
	}
	if (items_of(overlap, bytes) < chunk->align || items_of(overlap, bytes) == 0)
		return tare_fail(
		    error, EINVAL,
		    "%llu bytes of input are %llu items of %llu bytes, less than the "
		    "%llu that a chunk needs; take more --bytes or a smaller --align",
		    (unsigned long long)bytes, (unsigned long long)items_of(overlap, bytes),
		    (unsigned long long)chunk->in_bytes, (unsigned long long)chunk->align);
	status = bound_by_budget(overlap, &bytes, error);
	return status < 0 ? status : open_over(overlap, bytes, error);
}

// ---- how many cycles

// *host_ns (may be NULL): the shortest that the host waited.
static int kernel_ns(struct overlap *overlap, uint64_t cycles, double *ns, double *host_ns,
                     struct tare_error *error)
{
	int64_t ps = 0, best = INT64_MAX, waited = INT64_MAX;
	bool device;
	int status = 0;

	overlap_set_cycles(overlap, cycles);
	for (int i = 0; status == 0 && i < 3; i++) {
		struct tare_host_time begin = tare_run_now(overlap->run);
		status = overlap_go_on(overlap, error);
		if (status == 0)
			status = tare_pipeline_stage(overlap->pipeline, TARE_STAGE_KERNEL, &ps,
			                             &device, error);
		int64_t passed = tare_host_elapsed_ns(begin, tare_run_now(overlap->run));
		if (ps < best)
			best = ps;
		if (passed < waited)
			waited = passed;
	}
	*ns = (double)best / 1000;
	if (host_ns)
		*host_ns = (double)waited;
	return status;
}

static int copy_ns(struct overlap *overlap, double *ns, struct tare_error *error)
{
	static const enum tare_stage copies[] = { TARE_STAGE_TO_DEVICE, TARE_STAGE_TO_HOST };
	bool device;
	int status = 0;

	*ns = 0;
	for (size_t c = 0; status == 0 && c < 2; c++) {
		int64_t ps = 0, best = INT64_MAX;
		for (int i = 0; status == 0 && i < 3; i++) {
			status = overlap_go_on(overlap, error);
			if (status == 0)
				status = tare_pipeline_stage(overlap->pipeline, copies[c], &ps,
				                             &device, error);
			if (ps < best)
				best = ps;
		}
		*ns = fmax(*ns, (double)best / 1000);
	}
	return status;
}

static void add_point(struct overlap *overlap, uint64_t cycles, double ratio)
{
	for (size_t i = 0; i < overlap->point_count; i++)
		if (overlap->points[i].cycles == cycles)
			return;
	overlap->points[overlap->point_count++] =
	    (struct overlap_point){ .cycles = cycles, .ratio = ratio };
}

// Time of the kernel is about the larger of a floor (its memory traffic) and a line over cycles.
struct kernel_line {
	double floor_ns, offset_ns, slope_ns;
};

// A device whose clock does not show the kernel's work would have it grow for ever: no load makes
// the host wait so much longer than the device says, three times in a row.
static int check_growth(uint64_t cycles, double device_ns, double host_ns, struct tare_error *error)
{
	char device[TARE_UNIT_TEXT], host[TARE_UNIT_TEXT];

	if (host_ns < STUCK_NS || host_ns < STUCK_FACTOR * device_ns)
		return 0;
	return tare_fail(error, EIO,
	                 "with %llu turns of its loop the kernel takes %s until it is done, but %s "
	                 "by the device's clock: the device's time does not grow with the work, so "
	                 "no number of turns can be chosen by it; give some with --cycles",
	                 (unsigned long long)cycles, tare_format_ns(host_ns, host),
	                 tare_format_ns(device_ns, device));
}

// Doubles the cycles until the loop is what takes the time, and more than the largest ratio wants.
static int fit_kernel(struct overlap *overlap, double copy, struct kernel_line *line,
                      struct tare_error *error)
{
	double before = 0, now = 0, host_ns = 0;
	uint64_t cycles = 16;
	int status = kernel_ns(overlap, 0, &line->floor_ns, NULL, error);

	before = line->floor_ns;
	while (status == 0) {
		status = kernel_ns(overlap, cycles, &now, &host_ns, error);
		if (now > 2 * line->floor_ns && now > copy)
			break;
		if (cycles >= UINT64_C(1) << 24)
			return tare_fail(
			    error, EIO,
			    "%llu turns of the kernel's loop take no longer than none: "
			    "its compiler has removed it; try another --loop",
			    (unsigned long long)cycles);
		status = status ?: check_growth(cycles, now, host_ns, error);
		before = now;
		cycles *= 2;
	}
	if (status < 0)
		return status;
	// Where the step before was still at the floor it says nothing of the slope.
	if (before < 1.5 * line->floor_ns)
		line->slope_ns = now / (double)cycles;
	else
		line->slope_ns = (now - before) / ((double)cycles / 2);
	if (!(line->slope_ns > 0))
		line->slope_ns = now / (double)cycles;
	line->offset_ns = now - line->slope_ns * (double)cycles;
	return 0;
}

static int calibrate_cycles(struct overlap *overlap, double copy, struct tare_error *error)
{
	static const double ratios[] = { 0.25, 0.5, 1, 2, LARGEST_RATIO };
	struct kernel_line line = { 0 };
	size_t left_out = 0;
	int status = fit_kernel(overlap, copy, &line, error);

	overlap->floor_ratio = 0;
	for (size_t i = 0; status == 0 && i < sizeof ratios / sizeof *ratios; i++) {
		double wanted = ratios[i] * copy, cycles;
		if (wanted < 0.95 * line.floor_ns) {
			left_out++;
			continue;
		}
		cycles = (wanted - line.offset_ns) / line.slope_ns;
		cycles = fmin(fmax(round(cycles), 0), INT32_MAX);
		add_point(overlap, (uint64_t)cycles, ratios[i]);
	}
	if (status == 0 && left_out == 0)
		return 0;
	if (status == 0 && overlap->point_count == 0)
		add_point(overlap, 0, line.floor_ns / copy);
	overlap->floor_ratio = line.floor_ns / copy;
	return status;
}

static int choose_points(struct overlap *overlap, double *serial_ns, struct tare_error *error)
{
	const struct tare_overlap_options *options = &overlap->options;
	double copy = 0, kernel = 0, host = 0, nearest = INFINITY;
	int status = copy_ns(overlap, &copy, error);

	overlap->point_count = 0;
	if (status == 0 && overlap->own && options->cycle_count == 0)
		status = calibrate_cycles(overlap, copy, error);
	for (size_t i = 0; status == 0 && overlap->own && i < options->cycle_count; i++)
		add_point(overlap, options->cycles[i], 0);
	if (status == 0 && !overlap->own)
		add_point(overlap, 0, 0);
	*serial_ns = 0;
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		struct overlap_point *point = &overlap->points[i];
		status = kernel_ns(overlap, point->cycles, &kernel, &host, error);
		point->ratio = kernel / copy;
		// What the host does for a script's device takes what it takes.
		if (!overlap->run->device->scripted)
			host = 0;
		*serial_ns = fmax(*serial_ns, 2 * copy + fmax(kernel, host));
		if (fabs(log(point->ratio)) < nearest) {
			nearest = fabs(log(point->ratio));
			overlap->balanced = i;
		}
	}
	return status;
}

int overlap_choose_points(struct overlap *overlap, struct tare_error *error)
{
	double serial_ns, limit_ns = serial_limit_ns(overlap);
	int status;

	for (;;) {
		uint64_t bytes = overlap->items * overlap->built.chunk.in_bytes;
		status = choose_points(overlap, &serial_ns, error);
		// Few bytes told too little: so many take too long after all.
		if (status < 0 || serial_ns <= 2 * limit_ns || bytes / 2 < LEAST_BYTES ||
		    overlap->items / 2 < overlap->work.align)
			return status;
		tare_pipeline_free(overlap->pipeline);
		overlap->pipeline = NULL;
		overlap->verified_count = 0;
		overlap->short_of = OVERLAP_SHORT_OF_TIME;
		while (serial_ns > limit_ns && bytes / 2 >= LEAST_BYTES) {
			bytes /= 2;
			serial_ns /= 2;
		}
		status = open_over(overlap, bytes, error);
		if (status < 0)
			return status;
	}
}
