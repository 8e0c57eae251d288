// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/report/write.h"
#include "blocks/report/options.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"
#include "tare_config.h"

#include <errno.h>

#if TARE_HAVE_JSON
#include "result/json_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Members that could not be made are missed at the end, by *failed.
static void put(json_t *object, const char *name, json_t *value, bool *failed)
{
	*failed |= json_object_set_new(object, name, value) < 0;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *told_number(uint64_t value)
{
	return value == UINT64_MAX ? json_null() : number(value);
}

static json_t *numbers(const uint64_t *values, int count, bool spaces, bool *failed)
{
	json_t *object = json_object();

	for (int i = 0; i < count; i++)
		if (values[i])
			put(object,
			    spaces ? tare_blocks_space_name((enum tare_blocks_space)i)
			           : tare_blocks_kind_name((enum tare_blocks_kind)i),
			    number(values[i]), failed);
	return object;
}

static json_t *tally_of(const struct tare_blocks_tally *tally, bool *failed)
{
	static const char *const widths[TARE_BLOCKS_WIDTHS] = { "fp16", "fp32", "fp64" };
	json_t *object = json_object(), *flops = json_object();

	put(object, "instructions", number(tare_blocks_instructions(tally)), failed);
	put(object, "kinds", numbers(tally->kinds, TARE_BLOCKS_KINDS, false, failed), failed);
	put(object, "loads", numbers(tally->loads, TARE_BLOCKS_SPACES, true, failed), failed);
	put(object, "stores", numbers(tally->stores, TARE_BLOCKS_SPACES, true, failed), failed);
	put(object, "loaded_bytes", numbers(tally->loaded_bytes, TARE_BLOCKS_SPACES, true, failed),
	    failed);
	put(object, "stored_bytes", numbers(tally->stored_bytes, TARE_BLOCKS_SPACES, true, failed),
	    failed);
	for (int i = 0; i < TARE_BLOCKS_WIDTHS; i++)
		if (tally->flops[i])
			put(flops, widths[i], number(tally->flops[i]), failed);
	put(object, "flops", flops, failed);
	put(object, "unsized_copies", number(tally->unsized), failed);
	return object;
}

static json_t *blocks_of(const struct tare_blocks_kernel *kernel, bool *failed)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	json_t *list = json_array();
	size_t count;
	uint32_t *order = tare_blocks_order(kernel, &count);

	*failed |= order == NULL;
	for (size_t i = 0; order && i < count; i++) {
		const struct tare_blocks_block *block = &module->blocks[order[i]];
		json_t *object = json_object();
		uint32_t first, last;
		tare_blocks_span(module, order[i], &first, &last);
		put(object, "block", number(order[i]), failed);
		put(object, "function", tare_json_text(module->functions[block->function].name),
		    failed);
		put(object, "first_line", first ? number(first) : json_null(), failed);
		put(object, "last_line", last ? number(last) : json_null(), failed);
		put(object, "executions", number(kernel->executions[order[i]]), failed);
		put(object, "once", tally_of(&block->tally, failed), failed);
		*failed |= json_array_append_new(list, object) < 0;
	}
	free(order);
	return list;
}

// The file as the compiler names it; null for the build's own source.
static json_t *file_of(const struct tare_blocks_build *build, uint32_t file)
{
	const char *name = tare_blocks_file_name(&build->module, file);
	const char *slash = strrchr(name, '/');

	return strcmp(slash ? slash + 1 : name, build->source) == 0 || !name[0]
	           ? json_null()
	           : tare_json_text(name);
}

static json_t *lines_of(const struct tare_blocks_kernel *kernel, bool *failed)
{
	json_t *list = json_array();
	size_t count;
	struct tare_blocks_line *lines = tare_blocks_lines(kernel, &count);

	*failed |= lines == NULL;
	for (size_t i = 0; lines && i < count; i++) {
		json_t *object = json_object();
		put(object, "file", file_of(kernel->build, lines[i].file), failed);
		put(object, "line", lines[i].line ? number(lines[i].line) : json_null(), failed);
		put(object, "executions", number(lines[i].executions), failed);
		put(object, "total", tally_of(&lines[i].tally, failed), failed);
		*failed |= json_array_append_new(list, object) < 0;
	}
	free(lines);
	return list;
}

static json_t *loops_of(const struct tare_blocks_kernel *kernel,
                        const struct tare_blocks_sampled *sampled, bool *failed)
{
	json_t *list = json_array();
	size_t count;
	struct tare_blocks_loop *loops = tare_blocks_loops(kernel, &count);

	*failed |= loops == NULL;
	for (size_t i = 0; loops && i < count; i++) {
		json_t *object = json_object();
		put(object, "block", number(loops[i].header), failed);
		put(object, "turns", number(loops[i].turns), failed);
		put(object, "entries", loops[i].known ? number(loops[i].entries) : json_null(),
		    failed);
		const struct tare_blocks_turns *turns =
		    sampled->work_items ? &sampled->turns[loops[i].header] : NULL;
		bool told = turns && turns->most;
		put(object, "least_turns", told ? number(turns->least) : json_null(), failed);
		put(object, "most_turns", told ? number(turns->most) : json_null(), failed);
		*failed |= json_array_append_new(list, object) < 0;
	}
	free(loops);
	return list;
}

// A text as a list of its lines; null: there is none.
static json_t *text_of(const struct tare_blocks_build *build, bool *failed)
{
	const char *at = build->language == BLOCKS_OPENCL_C ? build->text : NULL;
	json_t *list = at ? json_array() : json_null();

	while (at && *at) {
		size_t length = strcspn(at, "\n");
		char *line = strndup(at, length);
		*failed |= !line || json_array_append_new(list, tare_json_text(line)) < 0;
		free(line);
		at += length + (at[length] == '\n');
	}
	return list;
}

static json_t *build_of(const struct tare_blocks_build *build, bool *failed)
{
	json_t *object = json_object();
	char hash[24];

	snprintf(hash, sizeof hash, "%016" PRIx64, build->hash);
	put(object, "hash", tare_json_text(hash), failed);
	put(object, "language",
	    tare_json_text(build->language == BLOCKS_OPENCL_C ? "OpenCL C" : "SPIR-V"), failed);
	put(object, "options", tare_json_text(build->options), failed);
	put(object, "optimised", build->level[0] ? tare_json_text(build->level) : json_null(),
	    failed);
	put(object, "source", text_of(build, failed), failed);
	return object;
}

static json_t *lanes_of(const struct tare_blocks_sampled *sampled, bool *failed)
{
	if (!sampled->work_items)
		return json_null();
	json_t *object = json_object();
	put(object, "sampled_work_items", number(sampled->work_items), failed);
	put(object, "neighbours", number(TARE_BLOCKS_LANES), failed);
	put(object, "used", number(sampled->all.used), failed);
	put(object, "offered", number(sampled->all.offered), failed);
	return object;
}

static json_t *accesses_of(const struct tare_blocks_kernel *kernel,
                           const struct tare_blocks_sampled *sampled, bool *failed)
{
	json_t *list = json_array();

	for (uint32_t i = 0; sampled->work_items && i < sampled->accesses; i++) {
		const struct tare_blocks_access *access = &sampled->access[i];
		json_t *object = json_object();
		put(object, "file", file_of(kernel->build, access->site.file), failed);
		put(object, "line", access->site.line ? number(access->site.line) : json_null(),
		    failed);
		put(object, "stores", json_boolean(access->site.store), failed);
		put(object, "bytes", number(access->site.bytes), failed);
		put(object, "executions", number(access->executions), failed);
		put(object, "sampled_sub_groups", number(access->sub_groups), failed);
		put(object, "memory_lines", number(access->lines), failed);
		put(object, "fewest_memory_lines", number(access->fewest), failed);
		*failed |= json_array_append_new(list, object) < 0;
	}
	return list;
}

static json_t *finding_of(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_finding *finding, bool *failed)
{
	const struct tare_blocks_rule *rule = &tare_blocks_rules[finding->advice];
	json_t *object = json_object(), *places = json_array();

	put(object, "id", tare_json_text(rule->id), failed);
	put(object, "what", tare_json_text(rule->what), failed);
	put(object, "saves", tare_json_text(rule->saves), failed);
	put(object, "advice", tare_json_text(rule->advice), failed);
	put(object, "share", json_real(finding->share), failed);
	put(object, "share_of", tare_json_text(rule->of), failed);
	put(object, "most", rule->most_known ? json_real(finding->share) : json_null(), failed);
	for (uint32_t i = 0; i < finding->place_count; i++) {
		json_t *place = json_object();
		put(place, "file", file_of(kernel->build, finding->places[i].file), failed);
		put(place, "line", number(finding->places[i].line), failed);
		*failed |= json_array_append_new(places, place) < 0;
	}
	put(object, "places", places, failed);
	return object;
}

// What the sample and the findings add to a kernel.
static void put_told(json_t *object, const struct tare_blocks_kernel *kernel, bool counted,
                     bool *failed)
{
	struct tare_blocks_told told = { .sampled = { .lanes = NULL } };
	json_t *findings = json_array();

	if (counted && tare_blocks_told_make(kernel, &told) < 0)
		*failed = true;
	put(object, "loops", counted ? loops_of(kernel, &told.sampled, failed) : json_array(),
	    failed);
	put(object, "lanes", lanes_of(&told.sampled, failed), failed);
	put(object, "accesses", accesses_of(kernel, &told.sampled, failed), failed);
	for (uint32_t i = 0; i < told.findings.count; i++)
		*failed |= json_array_append_new(
		               findings, finding_of(kernel, &told.findings.at[i], failed)) < 0;
	put(object, "findings", findings, failed);
	tare_blocks_told_free(&told);
}

static json_t *model_of(const struct tare_blocks_model *model, bool *failed)
{
	const struct tare_blocks_static *of = &model->of;
	json_t *object = json_object(), *mix = of->has_mix ? json_object() : json_null();
	bool known = model->why.code == 0;

	put(object, "device", tare_json_text(model->device), failed);
	put(object, "why", known ? json_null() : tare_json_text(model->why.message), failed);
	put(object, "simd_width", of->simd_width ? number(of->simd_width) : json_null(), failed);
	put(object, "registers", of->registers ? number(of->registers) : json_null(), failed);
	put(object, "spill_bytes",
	    known && !of->scratch_bytes ? number(of->spill_bytes) : json_null(), failed);
	put(object, "scratch_bytes", known ? number(of->scratch_bytes) : json_null(), failed);
	put(object, "local_bytes", known ? number(of->local_bytes) : json_null(), failed);
	put(object, "barriers", known ? number(of->barriers) : json_null(), failed);
	for (int i = 0; i < TARE_BLOCKS_ISAS; i++)
		if (of->mix[i])
			put(mix, tare_blocks_isa_name((enum tare_blocks_isa)i), number(of->mix[i]),
			    failed);
	put(object, "instructions", mix, failed);
	put(object, "finding",
	    known && tare_blocks_spills(of)
	        ? tare_json_text(tare_blocks_rules[TARE_BLOCKS_SPILLS].id)
	        : json_null(),
	    failed);
	return object;
}

static json_t *models_of(const struct tare_blocks_models *models,
                         const struct tare_blocks_kernel *kernel, bool *failed)
{
	json_t *list = json_array();

	for (size_t i = 0; i < models->count; i++)
		if (tare_blocks_is_model_of(&models->at[i], kernel))
			*failed |=
			    json_array_append_new(list, model_of(&models->at[i], failed)) < 0;
	return list;
}

static json_t *time_of(const struct tare_blocks_times *times,
                       const struct tare_blocks_kernel *kernel, bool *failed)
{
	const struct tare_blocks_kernel_time *time = tare_blocks_time_of(times, kernel->name);
	json_t *object = json_object();

	put(object, "why", times->why.code ? tare_json_text(times->why.message) : json_null(),
	    failed);
	put(object, "samples", time ? number(time->samples) : json_null(), failed);
	put(object, "program_samples", number(times->samples), failed);
	put(object, "lost", number(times->lost), failed);
	put(object, "period_ns", number(TARE_BLOCKS_CLOCK_NS), failed);
	return object;
}

static json_t *device_of(const struct tare_blocks_kernel *kernel, bool *failed)
{
	json_t *object = json_object();

	put(object, "preferred_multiple", told_number(kernel->multiple), failed);
	put(object, "sub_group", told_number(kernel->sub_group), failed);
	put(object, "private_bytes", told_number(kernel->private_bytes), failed);
	put(object, "spill_bytes", told_number(kernel->spill_bytes), failed);
	return object;
}

static json_t *before_of(const struct tare_blocks_profile *profile,
                         const struct tare_blocks_kernel *kernel, bool *failed)
{
	const struct tare_blocks_kernel *before = tare_blocks_before(profile, kernel);

	return before ? tally_of(&before->tally, failed) : json_null();
}

static json_t *kernel_of(const struct tare_blocks_document *document,
                         const struct tare_blocks_kernel *kernel, bool *failed)
{
	json_t *object = json_object();
	bool counted = kernel->executions && kernel->counted;
	char why[600];

	tare_blocks_why(kernel, why, sizeof why);
	put(object, "name", tare_json_text(kernel->name), failed);
	put(object, "api",
	    tare_json_text(kernel->api == BLOCKS_LEVEL_ZERO ? "Level Zero" : "OpenCL"), failed);
	put(object, "build", kernel->build ? build_of(kernel->build, failed) : json_null(), failed);
	put(object, "launches", number(kernel->launches), failed);
	put(object, "counted_launches", number(kernel->counted), failed);
	put(object, "not_counted",
	    kernel->counted < kernel->launches ? tare_json_text(why) : json_null(), failed);
	put(object, "work_items", number(kernel->work_items), failed);
	put(object, "whole", json_boolean(tare_blocks_is_whole(kernel)), failed);
	put(object, "total", counted ? tally_of(&kernel->tally, failed) : json_null(), failed);
	put(object, "time",
	    document->times->asked ? time_of(document->times, kernel, failed) : json_null(),
	    failed);
	put(object, "device", device_of(kernel, failed), failed);
	put(object, "before", before_of(document->before, kernel, failed), failed);
	put(object, "blocks", counted ? blocks_of(kernel, failed) : json_array(), failed);
	put(object, "lines", counted ? lines_of(kernel, failed) : json_array(), failed);
	put_told(object, kernel, counted, failed);
	put(object, "models", models_of(document->models, kernel, failed), failed);
	return object;
}

// ---- options compared

static json_t *cell_of(const struct tare_blocks_trials *trials, uint32_t set, size_t name,
                       bool *failed)
{
	const struct tare_blocks_cell *cell = &trials->sets[set].cells[name];
	json_t *object = json_object(), *times = json_array(), *ratio = json_null();

	for (uint32_t i = 0; i < trials->rounds; i++)
		*failed |= json_array_append_new(times, cell->ns[i] > 0 ? json_real(cell->ns[i])
		                                                        : json_null()) < 0;
	if (cell->ratio.known) {
		ratio = json_object();
		put(ratio, "value", json_real(cell->ratio.value), failed);
		put(ratio, "low", json_real(cell->ratio.low), failed);
		put(ratio, "high", json_real(cell->ratio.high), failed);
	}
	put(object, "times_ns", times, failed);
	put(object, "launches", number(cell->launches), failed);
	put(object, "unchanged", json_boolean(cell->unchanged), failed);
	put(object, "ratio", ratio, failed);
	put(object, "told", tare_json_text(tare_blocks_told_apart_name(cell->told)), failed);
	put(object, "best", json_boolean(cell->best), failed);
	put(object, "preferred_multiple", told_number(cell->multiple), failed);
	put(object, "sub_group", told_number(cell->sub_group), failed);
	put(object, "private_bytes", told_number(cell->private_bytes), failed);
	put(object, "local_bytes", told_number(cell->local_bytes), failed);
	put(object, "spill_bytes", told_number(cell->spill_bytes), failed);
	put(object, "total", cell->counted ? tally_of(&cell->counted->tally, failed) : json_null(),
	    failed);
	return object;
}

static json_t *set_of(const struct tare_blocks_set *set, bool *failed)
{
	json_t *object = json_object();

	put(object, "options", set->options ? tare_json_text(set->options) : json_null(), failed);
	put(object, "why", set->why.code ? tare_json_text(set->why.message) : json_null(), failed);
	put(object, "output", tare_json_text(tare_blocks_result_name(set->output)), failed);
	put(object, "read_back", tare_json_text(tare_blocks_result_name(set->read)), failed);
	put(object, "end", tare_json_text(tare_blocks_result_name(set->end)), failed);
	return object;
}

static json_t *trials_of(const struct tare_blocks_trials *trials, bool *failed)
{
	json_t *object = json_object(), *sets = json_array(), *kernels = json_array();

	for (uint32_t i = 0; i < trials->set_count; i++)
		*failed |= json_array_append_new(sets, set_of(&trials->sets[i], failed)) < 0;
	for (size_t name = 0; name < trials->name_count; name++) {
		if (!tare_blocks_was_launched(trials, name))
			continue;
		json_t *kernel = json_object(), *cells = json_array();
		put(kernel, "name", name ? tare_json_text(trials->names[name]) : json_null(),
		    failed);
		for (uint32_t i = 0; i < trials->set_count; i++)
			*failed |=
			    json_array_append_new(cells, cell_of(trials, i, name, failed)) < 0;
		put(kernel, "sets", cells, failed);
		*failed |= json_array_append_new(kernels, kernel) < 0;
	}
	put(object, "rounds", number(trials->rounds), failed);
	put(object, "stopped", json_boolean(trials->stopped), failed);
	put(object, "sets", sets, failed);
	put(object, "kernels", kernels, failed);
	return object;
}

static json_t *tree_of(const struct tare_blocks_document *document, bool *failed)
{
	const struct tare_blocks_profile *profile = document->profile;
	json_t *tree = json_object(), *program = json_array(), *kernels = json_array(),
	       *tool = json_object();
	uint64_t counted, launches;

	tare_blocks_coverage(profile, &counted, &launches);
	put(tree, "format", tare_json_text("tare.blocks/1"), failed);
	put(tool, "name", tare_json_text("tare"), failed);
	put(tool, "version", tare_json_text(TARE_VERSION), failed);
	put(tree, "tool", tool, failed);
	for (char *const *word = document->program; *word; word++)
		*failed |= json_array_append_new(program, tare_json_text(*word)) < 0;
	put(tree, "program", program, failed);
	put(tree, "exit_status",
	    document->exit_status < 0 ? json_null() : json_integer(document->exit_status), failed);
	put(tree, "exit_signal",
	    document->exit_signal ? json_integer(document->exit_signal) : json_null(), failed);
	put(tree, "plain_ns", json_integer(document->plain_ns), failed);
	put(tree, "counted_ns", json_integer(document->counted_ns), failed);
	put(tree, "processes", number(profile->processes), failed);
	put(tree, "launches", number(launches), failed);
	put(tree, "counted_launches", number(counted), failed);
	put(tree, "lost_kernels", number(profile->lost_kernels), failed);
	put(tree, "unknown_launches", number(profile->unknown_launches), failed);
	put(tree, "command_buffers", json_boolean(profile->command_buffers), failed);
	put(tree, "counter_bytes", number(profile->counter_bytes), failed);
	for (size_t i = 0; i < profile->kernel_count; i++)
		if (profile->kernels[i].launches)
			*failed |=
			    json_array_append_new(
			        kernels, kernel_of(document, &profile->kernels[i], failed)) < 0;
	put(tree, "kernels", kernels, failed);
	put(tree, "options",
	    document->trials->set_count ? trials_of(document->trials, failed) : json_null(),
	    failed);
	put(tree, "cuda",
	    document->samples->used ? tare_pc_samples_json(document->samples) : json_null(),
	    failed);
	return tree;
}

int tare_blocks_json(const struct tare_blocks_document *document, FILE *file,
                     struct tare_error *error)
{
	bool failed = false;
	json_t *tree = tree_of(document, &failed);
	int status = failed || !tree ? -ENOMEM : tare_json_layout(tree, file);

	json_decref(tree);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}
#else
int tare_blocks_json(const struct tare_blocks_document *document, FILE *file,
                     struct tare_error *error)
{
	(void)document, (void)file;
	return tare_fail(error, ENOTSUP, "this tare was built without JSON (jansson)");
}
#endif
