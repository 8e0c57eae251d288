// SPDX-License-Identifier: Apache-2.0
// blocks_fixture sampled|counted|options|ptx text|verbose|json|csv|html [COLUMNS], or ... sqlite
// FILE: what tare blocks writes of a CUDA kernel that was sampled and counted, of an OpenCL kernel,
// of sets of build options and of a CUDA kernel of PTX, all made by hand.
#include "blocks/ptx/ptx.h"
#include "blocks/report/write.h"
#include "export/document.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

// ---- a CUDA kernel

enum { INSTRUCTIONS = 8, BLOCKS = 3 };

static char *files[] = { "/gone/src/scale.cu", "/gone/src/a_rather_long_name_of_a_header.cuh" };
static char *texts[INSTRUCTIONS] = { "MOV R1, c[0x0][0x28]",
	                             "S2R R0, SR_CTAID.X",
	                             "ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT",
	                             "@P0 EXIT",
	                             "LDG.E R2, [R2.64]",
	                             "FMUL R5, R2, c[0x0][0x168]",
	                             "STG.E [R4.64], R5",
	                             "EXIT" };
static struct tare_elf_row rows[] = { { 1, 0, 3, 0, false },
	                              { 1, 0, 5, 64, false },
	                              { 1, 1, 120, 96, false },
	                              { 1, 0, 6, 112, false } };
static const uint8_t code[INSTRUCTIONS * 16];
static struct tare_cubin_function function = {
	.name = "scale", .section = 1, .code = code, .bytes = sizeof code
};
static struct tare_cubin cubin = {
	.sm = 90,
	.functions = &function,
	.function_count = 1,
	.lines = { .files = files, .file_count = 2, .rows = rows, .row_count = 4 },
};
static struct tare_sass_block split[BLOCKS] = { { 0, 4 }, { 4, 3 }, { 7, 1 } };
static struct tare_stall_counts met[INSTRUCTIONS];
static struct tare_sampled_block blocks[BLOCKS];
static struct tare_sampled_line lines[] = { { 0, 5, { 0 } }, { 1, 120, { 0 } }, { 0, 3, { 0 } } };
static struct tare_exact_counts executed[INSTRUCTIONS];
static struct tare_exact_opcode opcodes[] = { { "LDG", { 4096, 131072 } },
	                                      { "FMUL", { 4096, 131072 } },
	                                      { NULL, { 9, 81 } } };
static struct tare_exact_block counted_blocks[BLOCKS];
static struct tare_exact_line counted_lines[] = { { 0, 5, { 8192, 262144 } },
	                                          { 1, 120, { 4096, 130000 } } };
static struct tare_exact exact = { .at = executed,
	                           .launches = 2,
	                           .warps = 4096,
	                           .begun = 4096,
	                           .whole = TARE_EXACT_WHOLE,
	                           .opcodes = opcodes,
	                           .opcode_count = 3,
	                           .blocks = counted_blocks,
	                           .uneven = 1,
	                           .lines = counted_lines,
	                           .line_count = 2,
	                           .plain_ns = 20000,
	                           .counted_ns = 1300000,
	                           .timed = 2 };
static struct tare_sampled_kernel sampled[2];
static struct tare_pc_samples samples = {
	.kernels = sampled, .kernel_count = 2, .process_count = 1, .period = 16, .used = true
};

static void meet(struct tare_stall_counts *counts, enum tare_stall stall, uint64_t number)
{
	counts->by[stall] += number;
	counts->all += number;
}

static void make_sampled(void)
{
	static struct tare_pc_samples_process process = { .pid = 7 };
	static struct samples_exact looked_for = { .state = EXACT_COUNTED,
		                                   .counts = 1,
		                                   .records = 8 };
	struct tare_sampled_kernel *kernel = &sampled[0];

	for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
		meet(&met[i], TARE_STALL_SELECTED, i * 10);
		meet(&met[i], i == 5 ? TARE_STALL_OTHER : (enum tare_stall)(1 + i % 4), i * i * 7);
		meet(&met[i], i == 6 ? TARE_STALL_MIO_THROTTLE : TARE_STALL_SHORT_SCOREBOARD, 8);
		executed[i] = (struct tare_exact_counts){ i < 4 ? 4096 : 4000 + i, 120000 + i };
		exact.all.warps += executed[i].warps;
		exact.all.threads += executed[i].threads;
	}
	exact.by_class[TARE_SASS_INTEGER] = executed[0];
	exact.by_class[TARE_SASS_GLOBAL_LOAD] = executed[4];
	exact.by_class[TARE_SASS_FP32] = executed[5];
	for (uint32_t b = 0; b < BLOCKS; b++) {
		blocks[b].first = split[b].first;
		blocks[b].count = split[b].count;
		for (uint32_t i = 0; i < split[b].count; i++) {
			tare_stalls_add(&blocks[b].stalls, &met[split[b].first + i]);
			counted_blocks[b].all.warps += executed[split[b].first + i].warps;
			counted_blocks[b].all.threads += executed[split[b].first + i].threads;
		}
		counted_blocks[b].executions = executed[split[b].first].warps;
		counted_blocks[b].even = b != 1;
		tare_stalls_add(&kernel->stalls, &blocks[b].stalls);
	}
	blocks[1].cycles = (struct tare_sampled){ true, 1234.5, 1200, 1270 };
	blocks[1].executions = (struct tare_sampled){ true, 4096, 4096, 4096 };
	tare_stalls_add(&lines[0].stalls, &met[5]);
	tare_stalls_add(&lines[1].stalls, &met[6]);
	tare_stalls_add(&lines[2].stalls, &met[3]);
	*kernel = (struct tare_sampled_kernel){ .name = "_Z5scalePff",
		                                .plain = "scale<float, \"x,y\">(float*, float)",
		                                .crc = 0xfeed,
		                                .cubin = &cubin,
		                                .function = &function,
		                                .stalls = kernel->stalls,
		                                .launches = 2,
		                                .warps = 4096,
		                                .instructions = met,
		                                .count = INSTRUCTIONS,
		                                .split = { split, BLOCKS, 0, 0 },
		                                .blocks = blocks,
		                                .lines = lines,
		                                .line_count = 3,
		                                .text = texts,
		                                .exact = &exact };
	kernel->issued[TARE_SASS_FP32] = 100;
	kernel->issued[TARE_SASS_GLOBAL_LOAD] = 150;
	// Of the other kernel no module was kept.
	static struct tare_stall_counts met_elsewhere[2];
	static uint64_t pcs[2] = { 16, 4096 };
	meet(&met_elsewhere[0], TARE_STALL_SELECTED, 3);
	meet(&met_elsewhere[1], (enum tare_stall)2, 5);
	sampled[1] = (struct tare_sampled_kernel){ .name = "elsewhere",
		                                   .crc = 1,
		                                   .why = TARE_SAMPLED_NO_CODE,
		                                   .instructions = met_elsewhere,
		                                   .pcs = pcs,
		                                   .count = 2 };
	tare_stalls_add(&sampled[1].stalls, &met_elsewhere[0]);
	tare_stalls_add(&sampled[1].stalls, &met_elsewhere[1]);
	samples.samples = sampled[0].stalls.all + sampled[1].stalls.all;
	samples.sums.counts_launches = 1;
	samples.sums.contexts = samples.sums.ended_contexts = 1;
	samples.processes = &process;
	samples.exact = &looked_for;
	samples.exact_count = 1;
}

// ---- an OpenCL kernel

static char source[] = "kernel void add(global float *a, global const float *b)\n{\n"
                       "\tfor (int i = 0; i < 64; i++)\n"
                       "\t\ta[get_global_id(0) * 64 + i] += b[get_global_id(0) * 64 + i] * 2.0f;\n"
                       "}\n";
static struct tare_blocks_function functions[] = {
	{ .name = "add", .kernel = "add", .counted = true, .blocks = 3 }
};
static struct tare_blocks_piece pieces[] = { { .line = 1 }, { .line = 3 }, { .line = 4 }, { 0 } };
static uint32_t successors[] = { 1, 1, 2 };
static struct tare_blocks_block counted[] = {
	{ .pieces = 1, .successors = 1 },
	{ .first_piece = 1, .pieces = 2, .first_successor = 1, .successors = 2 },
	{ .first_piece = 3, .pieces = 1 }
};
// Two labels and nothing behind them: what was counted is not read out of words here.
static uint32_t words[] = { SPIRV_LABEL | 2 << 16, 1, SPIRV_LABEL | 2 << 16, 2 };
static struct tare_blocks_source sources[] = { { .text = source } };
static struct tare_blocks_build build = { .hash = 0xbeef,
	                                  .language = BLOCKS_OPENCL_C,
	                                  .options = "-DN=64",
	                                  .level = "optimised by opt -O2",
	                                  .made = true,
	                                  .text = source,
	                                  .sources = { sources, 1 } };
static uint64_t executions[] = { 1024, 65536, 1024 };
static struct tare_blocks_kernel kernels[2];
static struct tare_blocks_profile profile = { .kernels = kernels, .processes = 1 };

static void make_counted(void)
{
	struct tare_blocks_kernel *kernel = &kernels[0];
	struct tare_blocks_module *module = &build.module;

	pieces[0].tally.kinds[0] = 5;
	pieces[0].tally.loads[TARE_BLOCKS_CONSTANT] = 1;
	pieces[0].tally.loaded_bytes[TARE_BLOCKS_CONSTANT] = 8;
	pieces[1].tally.kinds[1] = 3;
	pieces[2].tally.kinds[2] = 4;
	pieces[2].tally.loads[TARE_BLOCKS_GLOBAL] = 2;
	pieces[2].tally.loaded_bytes[TARE_BLOCKS_GLOBAL] = 8;
	pieces[2].tally.stores[TARE_BLOCKS_GLOBAL] = 1;
	pieces[2].tally.stored_bytes[TARE_BLOCKS_GLOBAL] = 4;
	pieces[2].tally.flops[1] = 2;
	pieces[3].tally.kinds[3] = 1;
	module->words.words = words;
	module->words.count = 4;
	module->functions = functions;
	module->function_count = 1;
	module->blocks = counted;
	module->block_count = 3;
	module->pieces = pieces;
	module->piece_count = 4;
	module->successors = successors;
	module->successor_count = 3;
	kernel->build = &build;
	kernel->api = BLOCKS_OPENCL;
	strcpy(kernel->name, "add");
	kernel->launches = 3;
	kernel->counted = 2;
	kernel->why = BLOCKS_NO_ROOM;
	kernel->work_items = kernel->entered = 1024;
	kernel->executions = executions;
	kernel->multiple = 8;
	kernel->sub_group = kernel->spill_bytes = BLOCKS_NOT_TOLD;
	kernel->private_bytes = 16;
	for (int b = 0; b < 3; b++)
		for (uint32_t p = 0; p < counted[b].pieces; p++) {
			const struct tare_blocks_tally *tally =
			    &pieces[counted[b].first_piece + p].tally;
			tare_blocks_add(&counted[b].tally, tally, 1);
			tare_blocks_add(&kernel->tally, tally, executions[b]);
		}
	profile.kernel_count = 1;
	profile.counter_bytes = 4096;
}

// ---- a CUDA kernel of PTX, of a program that was asked for all else, too

static struct tare_blocks_profile before;
static struct tare_blocks_times times;

static void make_ptx(void)
{
	static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
	                           ".visible .entry add(.param .u32 add_n)\n{\n"
	                           ".reg .b32 %r<3>;\nld.param.u32 %r1,\n\t[add_n];\n"
	                           "add.s32 %r2, %r1, 1;\nret;\n}\n";
	struct tare_blocks_kernel *kernel = &kernels[0];
	struct tare_error error = { 0 };
	struct ptx ptx;

	if (ptx_read(text, strlen(text), &ptx, &error) < 0)
		fprintf(stderr, "%s\n", error.message);
	build = (struct tare_blocks_build){ .hash = 0xbeef,
		                            .api = BLOCKS_CUDA,
		                            .language = BLOCKS_PTX,
		                            .options = "",
		                            .level = "PTX as the program brought it",
		                            .made = true,
		                            .text = ptx.text,
		                            .module = ptx.module };
	build.module.text = ptx.text;
	ptx.module = (struct tare_blocks_module){ .block_count = 0 };
	ptx.text = NULL;
	ptx_free(&ptx);
	kernel->build = &build;
	kernel->api = BLOCKS_CUDA;
	strcpy(kernel->name, "add");
	kernel->launches = kernel->counted = 1;
	kernel->work_items = 64;
	kernel->entered = 63;
	kernel->unread = 1;
	tare_blocks_add(&kernel->tally, &build.module.blocks[0].tally, 64);
	kernel->tally.unsized = 1;
	executions[0] = 64;
	kernel->executions = executions;
	kernel->multiple = kernel->private_bytes = BLOCKS_NOT_TOLD;
	kernel->sub_group = kernel->spill_bytes = BLOCKS_NOT_TOLD;
	profile.kernel_count = 1;
	profile.lost_launches = 3;
	before.processes = 1;
	times.asked = true;
}

// ---- sets of build options

static char *names[] = { "", "add", "idle" };
static struct tare_blocks_cell cells[3][3];
static struct tare_blocks_trials trials = {
	.set_count = 3, .rounds = 6, .names = names, .name_count = 3
};

static void make_cell(struct tare_blocks_cell *cell, double ns)
{
	*cell = (struct tare_blocks_cell){ .launches = 4,
		                           .multiple = 8,
		                           .sub_group = UINT64_MAX,
		                           .private_bytes = 0,
		                           .local_bytes = 256,
		                           .spill_bytes = UINT64_MAX };
	for (int i = 0; i < 6; i++)
		cell->ns[i] = ns * (1 + 0.01 * i);
}

static void make_options(void)
{
	trials.sets[1].options = "-cl-fast-relaxed-math -DUNROLL=4, \"x\"";
	trials.sets[2].options = "-cl-nonsense";
	tare_fail(&trials.sets[2].why, EINVAL, "the driver does not build with them");
	for (int set = 0; set < 3; set++) {
		make_cell(&cells[set][0], 5e6);
		make_cell(&cells[set][1], set == 1 ? 1.1e5 : 2.3e5);
		cells[set][1].counted = &kernels[0];
		trials.sets[set].cells = cells[set];
	}
	cells[1][1].ratio = (struct tare_blocks_ratio){ 0.478261, 0.45, 0.5, true };
	cells[1][1].told = TARE_BLOCKS_FASTER;
	cells[1][1].best = true;
	cells[1][0].told = TARE_BLOCKS_ALIKE;
	cells[1][0].ratio = (struct tare_blocks_ratio){ 1, 0.9, 1.1, true };
}

static int write_database(void *path, const struct tare_table *table, const void *of)
{
	const struct tare_export_document document = { table, of, "run" };
	struct tare_export_counts counts;
	struct tare_error error = { 0 };

	return tare_export_document_sqlite(&document, path, &counts, &error);
}

int main(int argc, char **argv)
{
	char *program[] = { "./program", "--size", "1<2", NULL };
	static const struct tare_blocks_builds builds = { &build, 1, "clang 19" };
	static const struct tare_pc_samples no_samples;
	static const struct tare_blocks_models models;
	static const struct tare_blocks_gains gains;
	static const struct tare_blocks_trials no_trials;
	const char *of = argc > 2 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
	const struct tare_text_options options = { .columns =
		                                       argc > 3 ? (unsigned)atoi(argv[3]) : 80,
		                                   .verbosity = strcmp(how, "verbose") == 0 };
	struct tare_error error = { 0 };

	setlocale(LC_CTYPE, "C.UTF-8");
	if (strcmp(of, "sampled") == 0)
		make_sampled();
	else if (strcmp(of, "ptx") == 0)
		make_ptx();
	else
		make_counted();
	if (strcmp(of, "options") == 0)
		make_options();
	const struct tare_blocks_document document = {
		.program = program,
		.plain_ns = 500000000,
		.counted_ns = 700000000,
		.builds = &builds,
		.profile = &profile,
		.before = &before,
		.samples = strcmp(of, "sampled") == 0 ? &samples : &no_samples,
		.models = &models,
		.times = &times,
		.gains = &gains,
		.trials = strcmp(of, "options") == 0 ? &trials : &no_trials,
	};
	if (strcmp(how, "json") == 0)
		return -tare_blocks_json(&document, stdout, &error);
	if (strcmp(how, "sqlite") == 0)
		return -tare_blocks_declared(&document, write_database, argv[3]);
	if (strcmp(how, "csv") == 0)
		return -tare_blocks_csv(&document, stdout);
	if (strcmp(how, "html") == 0)
		return -tare_blocks_page(&document, stdout);
	return -tare_blocks_text(&document, &options, stdout);
}
