// SPDX-License-Identifier: Apache-2.0
// What was sampled of a program's CUDA kernels: of each instruction how often it was met, and for
// which reasons its warp waited; hence by block and by line.
#pragma once
#include "base/error.h"
#include "blocks/cuda/accounts.h"
#include "blocks/cuda/cubin.h"
#include "blocks/cuda/exact.h"
#include "blocks/cuda/sass.h"
#include "guest/samples/shared.h"

enum tare_stall {
#define STALL(name, text, what) TARE_STALL_##name,
#include "blocks/cuda/stalls.def"
#undef STALL
	TARE_STALL_OTHER, // of a name that tare does not know
	TARE_STALLS,
};
// "long_scoreboard"; and what the warp waits for.
const char *tare_stall_name(enum tare_stall stall);
const char *tare_stall_what(enum tare_stall stall);

struct tare_stall_counts {
	uint64_t all, by[TARE_STALLS];
};
void tare_stalls_add(struct tare_stall_counts *to, const struct tare_stall_counts *from);
// The reasons that were met, the most frequent first; returns how many.
uint32_t tare_stalls_order(const struct tare_stall_counts *counts,
                           enum tare_stall order[TARE_STALLS]);

// A figure that was drawn: `known` is false where there were too few samples for it.
struct tare_sampled {
	bool known;
	double value, low, high; // the interval of 95 %
};

// Where executions of a block come from.
enum tare_executions_from {
	TARE_EXECUTIONS_SAMPLED, // its samples that issued
	TARE_EXECUTIONS_BOUNDED, // what the hardware counted leaves it little room
	TARE_EXECUTIONS_COUNTED, // what the hardware counted leaves it one number
};

struct tare_sampled_block {
	uint32_t first, count; // instructions
	struct tare_stall_counts stalls;
	// Cycles of a warp from the second instruction to the last one's issue: each issue is one
	// cycle in which its warp is met as `selected`.
	struct tare_sampled cycles;
	struct tare_sampled executions; // by warps, of all launches
	enum tare_executions_from from;
	bool once;   // each warp executes it once, and each part of one whose lanes part before it
	bool surely; // it is `once`, and no lanes part before it
};

struct tare_sampled_line {
	uint32_t file, line;
	struct tare_stall_counts stalls;
};

// Why executions are not known, of a kernel.
enum tare_sampled_why {
	TARE_SAMPLED_KNOWN,
	TARE_SAMPLED_NOT_ASKED, // launches were not counted
	TARE_SAMPLED_NO_LAUNCH, // no launch was told of
	TARE_SAMPLED_GRAPHS,    // the program launches graphs, whose kernels are not told of
	TARE_SAMPLED_TWICE,     // two kernels are called so
	TARE_SAMPLED_BY_DEVICE, // kernels of the module may launch it
	TARE_SAMPLED_UNCOUNTED, // the hardware did not count its instructions
	TARE_SAMPLED_FEW,       // too few samples that issued
	TARE_SAMPLED_NO_CODE,   // the module was not kept
	TARE_SAMPLED_LOST,      // launches, or samples, were lost
};

struct tare_sampled_kernel {
	char *name;  // as linked (mangled)
	char *plain; // as in the source; NULL: the same
	uint64_t crc;
	const struct tare_cubin *cubin; // NULL: the module was not kept
	const struct tare_cubin_function *function;
	struct tare_stall_counts stalls;
	uint64_t launches, warps; // 0: not known
	// instructions by warps, of one warp, as the hardware counted them in launches of another
	// run: their mean, the least and the most of a launch; 0: not counted
	double each, each_least, each_most;
	uint64_t counted, counted_warps; // those launches, and their warps
	struct tare_accounts accounts;   // and all else that was counted of them
	enum tare_accounts_end accounts_end;
	double slack; // relative, by which counts of several passes were off
	// Cycles of their warps by state, as the hardware counted them; all: 0: it did not
	struct tare_stall_counts states;
	enum tare_sampled_why why;
	// by instruction: `count` of them, or without a module those that were met, by pc
	struct tare_stall_counts *instructions;
	uint64_t *pcs;
	uint32_t count;
	struct tare_sass_blocks split;
	struct tare_sampled_block *blocks; // split.count
	struct tare_sampled_line *lines;   // the most frequent first
	size_t line_count;
	uint64_t of_no_line;                    // samples
	uint64_t astray;                        // samples outside of the function
	uint64_t issued[TARE_SASS_CLASS_COUNT]; // `selected` samples, by class
	char **text;                            // of each instruction, by nvdisasm; NULL: none
	struct tare_exact *exact;               // NULL: it was not counted
};

// A process that could not be sampled, or not wholly.
struct tare_pc_samples_process {
	uint32_t pid;
	enum samples_state state;
	int code;
	char where[SAMPLES_WHERE_BYTES];
};

struct tare_pc_samples {
	struct tare_sampled_kernel *kernels; // the most frequent first
	size_t kernel_count;
	struct tare_cubin *cubins;
	uint64_t *crcs; // of each of `cubins`
	size_t cubin_count;
	struct tare_pc_samples_process *processes;
	size_t process_count;
	// Of each process that looked for a kernel to count, how far it came.
	struct samples_exact *exact;
	size_t exact_count;
	uint32_t period;            // 2 to this power cycles
	struct samples_header sums; // of all processes: counts and times alone
	uint64_t samples;           // in kernels
	struct tare_stall_counts stalls;
	bool has_text; // by nvdisasm
	bool used;     // a process used CUDA
	// Why the hardware counted no instructions; NULL: it did, or nobody asked. malloc.
	char *uncounted;
	int64_t counting_ns; // what the program took in the run for that; 0: there was none
};

// Reads the files of every process in the folder, and the modules of kernels that were met. 0, or
// -ENOMEM with a sentence; files that are cut off count as far as they go. To free in either case.
int tare_pc_samples_read(const char *folder, struct tare_pc_samples *samples,
                         struct tare_error *error);
void tare_pc_samples_free(struct tare_pc_samples *samples);

// Whether the launches that were counted are like all of them, by their warps and by how much these
// executed: else what was counted of them is not told of all (stalls.c).
bool tare_sampled_counts_stand(const struct tare_sampled_kernel *kernel);
// Samples of what the hardware counts as that state (stalls.c).
uint64_t tare_stall_sampled(const struct tare_sampled_kernel *kernel, enum tare_stall stall);
// Blocks, lines and figures of a kernel (kernel.c). 0, or -ENOMEM.
int tare_sampled_kernel_work_out(struct tare_sampled_kernel *kernel);
// Executions of its blocks, from what the hardware counted and from samples (executions.c).
// `begin`: when the first kernel's was begun: there is a time for each and for all. 0, or -ENOMEM.
int tare_sampled_tell_executions(struct tare_sampled_kernel *kernel, struct tare_host_time begin);
// Which counters of which kernels are wanted for that (guest/environment.h): of those with most
// samples. *plan is for free(); NULL: of none. 0, or -ENOMEM.
int tare_sampled_plan(const struct tare_pc_samples *samples, char **plan);
// Takes the counts of that run, which was recorded into `folder`, and tells executions. 0, or a
// negative errno with a sentence.
int tare_sampled_count(const char *folder, struct tare_pc_samples *samples,
                       struct tare_error *error);
// Whether a branch leads back to its first instruction.
bool tare_sampled_is_looped(const struct tare_sampled_kernel *kernel);
// Text of instructions by nvdisasm, where it is on PATH or in CUDA's folder (disassembly.c). 0, or
// -ENOMEM.
int tare_pc_samples_disassemble(const char *folder, struct tare_pc_samples *samples);
// Pc of an instruction.
uint64_t tare_sampled_pc(const struct tare_sampled_kernel *kernel, uint32_t instruction);
// What it is. Of a kernel whose code is known.
struct tare_sass tare_sampled_sass(const struct tare_sampled_kernel *kernel, uint32_t instruction);
