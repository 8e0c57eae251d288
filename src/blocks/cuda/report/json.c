// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/report/write.h"
#include "tare_config.h"

#if TARE_HAVE_JSON
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Members that could not be made are missed at the end, by *failed.
static void put(json_t *object, const char *name, json_t *value, bool *failed)
{
	*failed |= json_object_set_new(object, name, value) < 0;
}

static void append(json_t *array, json_t *value, bool *failed)
{
	*failed |= json_array_append_new(array, value) < 0;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *stalls_of(const struct tare_stall_counts *counts, bool *failed)
{
	json_t *object = json_object();

	for (int i = 0; i < TARE_STALLS; i++)
		if (counts->by[i])
			put(object, tare_stall_name((enum tare_stall)i), number(counts->by[i]),
			    failed);
	return object;
}

static json_t *sampled(const struct tare_sampled *figure, bool *failed)
{
	if (!figure->known)
		return json_null();
	json_t *object = json_object();
	put(object, "value", json_real(figure->value), failed);
	put(object, "low", json_real(figure->low), failed);
	put(object, "high", json_real(figure->high), failed);
	return object;
}

static json_t *line_of(const struct tare_sampled_kernel *kernel, uint32_t file, uint32_t line,
                       bool *failed)
{
	json_t *object = json_object();

	put(object, "file",
	    file < kernel->cubin->file_count ? json_string(kernel->cubin->files[file])
	                                     : json_null(),
	    failed);
	put(object, "line", number(line), failed);
	return object;
}

static json_t *instructions_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct tare_stall_counts *met = &kernel->instructions[i];
		const struct tare_cubin_row *row =
		    kernel->function ? tare_cubin_line(kernel->cubin, kernel->function,
		                                       tare_sampled_pc(kernel, i))
		                     : NULL;
		char text[700];
		if (!met->all)
			continue;
		json_t *object = json_object();
		tare_sampled_instruction(kernel, i, text, sizeof text);
		put(object, "pc", number(tare_sampled_pc(kernel, i)), failed);
		put(object, "text", json_string(text), failed);
		put(object, "at", row ? line_of(kernel, row->file, row->line, failed) : json_null(),
		    failed);
		put(object, "samples", number(met->all), failed);
		put(object, "stalls", stalls_of(met, failed), failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *blocks_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (uint32_t i = 0; kernel->blocks && i < kernel->split.count; i++) {
		const struct tare_sampled_block *block = &kernel->blocks[i];
		if (!block->stalls.all)
			continue;
		json_t *object = json_object();
		put(object, "block", number(i), failed);
		put(object, "pc", number(tare_sampled_pc(kernel, block->first)), failed);
		put(object, "instructions", number(block->count), failed);
		put(object, "samples", number(block->stalls.all), failed);
		put(object, "stalls", stalls_of(&block->stalls, failed), failed);
		put(object, "cycles", sampled(&block->cycles, failed), failed);
		put(object, "executions", sampled(&block->executions, failed), failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *lines_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (size_t i = 0; i < kernel->line_count; i++) {
		const struct tare_sampled_line *line = &kernel->lines[i];
		json_t *object = line_of(kernel, line->file, line->line, failed);
		put(object, "samples", number(line->stalls.all), failed);
		put(object, "stalls", stalls_of(&line->stalls, failed), failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *findings_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	struct tare_stall_findings findings;
	json_t *array = json_array();

	tare_stalls_find(kernel, &findings);
	for (uint32_t i = 0; i < findings.count; i++) {
		const struct tare_stall_finding *finding = &findings.at[i];
		json_t *object = json_object(), *pcs = json_array();
		put(object, "id", json_string(tare_stall_rules[finding->advice].id), failed);
		put(object, "share", json_real(finding->share), failed);
		for (uint32_t j = 0; j < finding->place_count; j++)
			append(pcs, number(tare_sampled_pc(kernel, finding->instructions[j])),
			       failed);
		put(object, "pcs", pcs, failed);
		append(array, object, failed);
	}
	return array;
}

// ---- the kernel that was counted

static void put_counts(json_t *object, const struct tare_exact_counts *counts, bool *failed)
{
	put(object, "executed", number(counts->warps), failed);
	put(object, "lanes", number(counts->threads), failed);
}

static json_t *exact_blocks_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (uint32_t i = 0; kernel->exact->blocks && i < kernel->split.count; i++) {
		const struct tare_sass_block *block = &kernel->split.at[i];
		const struct tare_exact_block *counted = &kernel->exact->blocks[i];
		json_t *object = json_object();
		put(object, "block", number(i), failed);
		put(object, "pc", number(tare_sampled_pc(kernel, block->first)), failed);
		put(object, "instructions", number(block->count), failed);
		put(object, "executions", number(counted->executions), failed);
		put(object, "even", json_boolean(counted->even), failed);
		put_counts(object, &counted->all, failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *exact_lines_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (size_t i = 0; i < kernel->exact->line_count; i++) {
		const struct tare_exact_line *line = &kernel->exact->lines[i];
		json_t *object = line_of(kernel, line->file, line->line, failed);
		put_counts(object, &line->counts, failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *exact_instructions_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < kernel->count; i++) {
		char text[700];
		if (!kernel->exact->at[i].warps)
			continue;
		json_t *object = json_object();
		tare_sampled_instruction(kernel, i, text, sizeof text);
		put(object, "pc", number(tare_sampled_pc(kernel, i)), failed);
		put(object, "text", json_string(text), failed);
		put_counts(object, &kernel->exact->at[i], failed);
		append(array, object, failed);
	}
	return array;
}

static json_t *mix_of(const struct tare_exact *exact, bool opcodes, bool *failed)
{
	json_t *object = json_object();
	size_t count = opcodes ? exact->opcode_count : TARE_SASS_CLASS_COUNT;

	for (size_t i = 0; i < count; i++) {
		const struct tare_exact_counts *counts =
		    opcodes ? &exact->opcodes[i].counts : &exact->by_class[i];
		const char *name = opcodes ? exact->opcodes[i].name
		                           : tare_sass_class_name((enum tare_sass_class)i);
		if (!counts->warps)
			continue;
		json_t *row = json_object();
		put_counts(row, counts, failed);
		put(object, name ? name : "unknown", row, failed);
	}
	return object;
}

static json_t *cost_of(const struct tare_exact *exact, bool *failed)
{
	if (!exact->timed)
		return json_null();
	json_t *object = json_object();
	put(object, "launches", number(exact->timed), failed);
	put(object, "counted_ns", number(exact->counted_ns), failed);
	put(object, "plain_ns", number(exact->plain_ns), failed);
	put(object, "first", json_boolean(exact->first), failed);
	return object;
}

static json_t *exact_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	const struct tare_exact *exact = kernel->exact;

	if (!exact)
		return json_null();
	json_t *object = json_object();
	put(object, "launches", number(exact->launches), failed);
	put(object, "warps", number(exact->warps), failed);
	put(object, "graphs", number(exact->graphs), failed);
	put(object, "whole",
	    exact->whole == TARE_EXACT_UNKNOWN ? json_null()
	                                       : json_boolean(exact->whole == TARE_EXACT_WHOLE),
	    failed);
	put_counts(object, &exact->all, failed);
	put(object, "cost", cost_of(exact, failed), failed);
	put(object, "classes", mix_of(exact, false, failed), failed);
	put(object, "opcodes", mix_of(exact, true, failed), failed);
	put(object, "blocks", exact_blocks_of(kernel, failed), failed);
	put(object, "lines", exact_lines_of(kernel, failed), failed);
	put(object, "instructions", exact_instructions_of(kernel, failed), failed);
	return object;
}

static json_t *kernel_of(const struct tare_sampled_kernel *kernel, bool *failed)
{
	json_t *object = json_object(), *issued = json_object(), *notes = json_array();
	char note[700], crc[32];

	snprintf(crc, sizeof crc, "%016" PRIx64, kernel->crc);
	put(object, "name", json_string(tare_sampled_name(kernel)), failed);
	put(object, "linked_name", json_string(kernel->name), failed);
	put(object, "module_crc", json_string(crc), failed);
	put(object, "sm", kernel->cubin ? number(kernel->cubin->sm) : json_null(), failed);
	put(object, "samples", number(kernel->stalls.all), failed);
	put(object, "stalls", stalls_of(&kernel->stalls, failed), failed);
	put(object, "launches", number(kernel->launches), failed);
	put(object, "warps", number(kernel->warps), failed);
	for (int i = 0; i < TARE_SASS_CLASS_COUNT; i++)
		if (kernel->issued[i])
			put(issued, tare_sass_class_name((enum tare_sass_class)i),
			    number(kernel->issued[i]), failed);
	put(object, "issued", issued, failed);
	put(object, "executions_unknown",
	    kernel->why == TARE_SAMPLED_KNOWN ? json_null()
	                                      : json_string(tare_sampled_why(kernel->why)),
	    failed);
	for (uint32_t i = 0; tare_sampled_note(kernel, i, note, sizeof note); i++)
		append(notes, json_string(note), failed);
	put(object, "notes", notes, failed);
	put(object, "findings", findings_of(kernel, failed), failed);
	put(object, "blocks", blocks_of(kernel, failed), failed);
	put(object, "lines", lines_of(kernel, failed), failed);
	put(object, "instructions", instructions_of(kernel, failed), failed);
	put(object, "exact", exact_of(kernel, failed), failed);
	return object;
}

struct json_t *tare_pc_samples_json(const struct tare_pc_samples *samples)
{
	const struct samples_header *sums = &samples->sums;
	json_t *tree = json_object(), *kernels = json_array(), *notes = json_array();
	bool failed = false;
	char note[700];

	put(tree, "processes", number(samples->process_count), &failed);
	put(tree, "contexts", number(sums->contexts), &failed);
	put(tree, "period_log2", samples->period ? number(samples->period) : json_null(), &failed);
	put(tree, "samples", number(samples->samples), &failed);
	put(tree, "total", number(sums->total), &failed);
	put(tree, "dropped", number(sums->dropped), &failed);
	put(tree, "not_users", number(sums->not_users), &failed);
	put(tree, "lost", number(sums->lost_samples), &failed);
	put(tree, "buffer_full", number(sums->buffer_full), &failed);
	put(tree, "graphs", number(sums->graphs), &failed);
	put(tree, "begin_ns", number(sums->enable_ns), &failed);
	put(tree, "end_ns", number(sums->disable_ns), &failed);
	put(tree, "modules_ns", number(sums->module_ns), &failed);
	put(tree, "read_ns", number(sums->read_ns), &failed);
	put(tree, "module_bytes", number(sums->module_bytes), &failed);
	for (uint32_t i = 0; tare_pc_samples_note(samples, i, note, sizeof note); i++)
		append(notes, json_string(note), &failed);
	put(tree, "notes", notes, &failed);
	for (size_t i = 0; i < samples->kernel_count; i++)
		append(kernels, kernel_of(&samples->kernels[i], &failed), &failed);
	put(tree, "kernels", kernels, &failed);
	if (failed)
		json_decref(tree);
	return failed ? NULL : tree;
}
#endif
