// SPDX-License-Identifier: Apache-2.0
// What the rules of findings share: what they judge with, and how a finding is put together.
// Internal to src/analysis. docs/findings.md has the rules.
#pragma once
#include "analysis/findings/findings.h"
#include "analysis/ledger/working.h"
#include "analysis/tables/internal.h"

// Of parts of idle gaps: how long, and between what the clocks' residual leaves it.
struct gap_sum {
	double ns, low_ns, high_ns;
	uint64_t gaps;
};

// Enqueues of the view's kernels, whatever their names: the first and the last of the recording,
// which has them in the order of time; without any TARE_NO_TIME.
struct evaluation_kernels {
	uint64_t count;
	int64_t first_ns, last_ns;
	bool blocking; // of the whole recording one blocks, and has times
};

struct evaluation {
	const struct tare_recording *recording;
	const struct tare_view *view;
	const struct tare_ledgers *ledgers;
	const struct tare_tables *tables;
	struct tables_context context; // of the view: membership, equal names, devices of queues
	// The working part: from the first enqueue of the view to its last completion. What lies
	// outside is start-up and the end, about which findings say nothing unless they say so.
	int64_t from_ns, to_ns;
	int64_t working_ns; // 0: nothing was enqueued
	// of it that the view asks for: one at least unless working_ns is 0
	struct tare_run_span *spans;
	size_t span_count;
	// Commands of the view (of any kernel name) that have times, by start: those that begin in
	// the working part, also between the spans.
	uint32_t *order;
	size_t order_count;
	// of the view, of any kernel name; and of these with device times
	uint64_t commands, timed;
	uint64_t unsampled;             // and those without because others stand for them
	struct ledger_working *working; // `order` is its
	// Idle gaps of all devices together, within the working part: none of them ran anything.
	// Their parts are the ledger's, so that findings and ledger never disagree. They are in
	// `working`, in the order of time: FINDING_GAP.
	size_t gap_count;
	uint32_t gaps_have; // bits of the categories that any of them has
	// Of `order` the transfers, which are looked at again and again.
	uint32_t *transfers;
	size_t transfer_count;
	struct evaluation_kernels kernels;
	// Many drivers compile or load a kernel when it is launched for the first time: what of the
	// working part that takes (see evaluation_first_use_ns). Shares are of the rest, steady_ns.
	uint32_t *first_launch; // command of each kernel that was enqueued first; TARE_NO_INDEX
	uint32_t last_first;    // the last of these commands
	int64_t first_use_ns, steady_ns;
	bool *small_task;          // by row of tables->tasks: raised as kernels of few work-items
	struct tare_ledger ledger; // of all devices over the spans
	// What recording costs, calibrated; 0: not known. The second is of a command without times.
	int64_t command_cost_ps, untimed_cost_ps, call_cost_ps;
	// recording cost too much of the working part to conclude: of that nothing else is raised
	bool cost_drowns;
	int64_t *residuals_ns;                   // of each device (same_as); behind them the worst
	const struct tare_findings_known *known; // beside the recording; NULL: nothing
	struct tare_findings *findings;
	size_t room;
};

enum finding_needs {
	FINDING_NEEDS_NOTHING,
	FINDING_NEEDS_RUN,   // nothing, and it is about what lies around the working part
	FINDING_NEEDS_TIMES, // of all commands but those that nobody can have: of a sample's
	                     // neither gaps nor overlap nor totals are known
};

// One row of the table. A rule may raise findings of several rows: those others have no `judge`.
struct finding_rule {
	struct tare_finding_words words;
	enum finding_needs needs; // else it is not asked, and that is said
	// Returns 0, whether it raises something or not, or -ENOMEM.
	int (*evaluate)(struct evaluation *evaluation, struct tare_error *error);
};
extern const struct finding_rule finding_rules_work[], finding_rules_transfers[];
extern const size_t finding_rule_work_count, finding_rule_transfer_count;

// Prepares everything that rules judge with. Returns 0 or -ENOMEM; evaluation_close in either case.
int evaluation_open(struct evaluation *evaluation, const struct tare_recording *recording,
                    const struct tare_view *view, const struct tare_ledgers *ledgers,
                    const struct tare_tables *tables, struct tare_findings *findings);
void evaluation_close(struct evaluation *evaluation);

// A gap, as a pointer that is good to the end of the block it is written in, and, in a loop, to the
// next turn: it points to a copy. Marks are set by ledger_gap_mark.
#define FINDING_GAP(evaluation, index)                                                             \
	((const struct ledger_working_gap[1]){                                                     \
	    ledger_gap_at(&(evaluation)->working->gaps, (index)) })
// Whether any gap has a part of a category.
static inline bool evaluation_has_part(const struct evaluation *evaluation,
                                       enum tare_ledger_category category)
{
	return evaluation->gaps_have & UINT32_C(1) << category;
}
// The same of one gap, without a copy of it.
static inline bool evaluation_gap_has(const struct evaluation *evaluation, size_t index,
                                      enum tare_ledger_category category)
{
	const struct ledger_working_gap gap = { .bits = ledger_gap_bits(&evaluation->working->gaps,
		                                                        index) };
	return gap.has & UINT32_C(1) << category;
}
// What a part of a gap takes; 0: it has none of that category.
static inline double evaluation_part_ns(const struct evaluation *evaluation,
                                        const struct ledger_working_gap *gap,
                                        enum tare_ledger_category category)
{
	uint32_t bit = UINT32_C(1) << category;
	if (!(gap->has & bit))
		return 0;
	if (gap->undivided)
		return (double)(float)(gap->to_ns - gap->from_ns);
	return (double)*ledger_gap_part(&evaluation->working->gaps, gap, category);
}

// ---- noise

// The least that a finding must cost, of the working part and altogether.
#define FINDING_SHARE 0.01
#define FINDING_LEAST_NS 20000
// Whether a cost is above `share` of the working part without first uses (FINDING_SHARE for most),
// FINDING_LEAST_NS, the clocks' residual on `device` (TARE_NO_INDEX: the worst) at `edges`
// boundaries between times of device and host (0: host times, or differences of one clock, only),
// and above what recording so many commands and calls costs.
bool finding_matters(const struct evaluation *evaluation, uint32_t device, double cost_ns,
                     uint64_t edges, uint64_t commands, uint64_t calls, double share);
// Whether it can be, of what costs no more than `most_ns` of gaps. Asked before all gaps are walked
// over: nearly always the answer is no.
bool finding_may_matter(const struct evaluation *evaluation, double most_ns, double share);
// Adds a part of a gap. A gap's length is a difference of one clock. Where host times cut it, they
// are all shifted by the same error: one of its parts loses at most the residual, which another one
// gains.
void evaluation_add_part(const struct evaluation *evaluation, uint32_t device,
                         const struct ledger_working_gap *gap, double part_ns, struct gap_sum *sum);
// How much of the spans, in order and disjoint, lies in a gap; *first is the first span that may, 0
// before the first gap: gaps are asked for in the order of time.
double evaluation_within_gap(const struct ledger_working_gap *gap,
                             const struct tare_run_span *spans, size_t count, size_t *first);
// Boundaries of the two clocks that the parts of so many gaps rest on: one each; two where the ends
// of a gap may be of several devices' clocks.
uint64_t evaluation_edges(const struct evaluation *evaluation, uint64_t gaps);
// Error of the stamps of a device (same_as) on the host clock, the largest of all processes; at
// least 0.
static inline int64_t evaluation_residual_ns(const struct evaluation *evaluation, uint32_t device)
{
	size_t devices = evaluation->recording->device_count;
	if (device == TARE_NO_INDEX)
		return evaluation->residuals_ns[devices];
	return device < devices ? evaluation->residuals_ns[device] : 0;
}
// Whether a moment is in the working part and in what the view asks for.
bool evaluation_among_spans(const struct evaluation *evaluation, int64_t at_ns);
static inline bool evaluation_has_time(const struct evaluation *evaluation, int64_t at_ns)
{
	if (evaluation->span_count == 1) // the most usual view
		return evaluation->spans->from_ns <= at_ns && at_ns < evaluation->spans->to_ns;
	return evaluation_among_spans(evaluation, at_ns);
}
// Of the working part without first uses, in percent.
double evaluation_percent(const struct evaluation *evaluation, double ns);
// Whether the command is the first launch of its kernel.
static inline bool evaluation_is_first_launch(const struct evaluation *evaluation, uint32_t command)
{
	const struct tare_recording *recording = evaluation->recording;
	return command <= evaluation->last_first && command < recording->command_count &&
	       TARE_COMMAND(recording, command)->kind == TARE_KIND_KERNEL &&
	       TARE_COMMAND(recording, command)->object < recording->kernel_count &&
	       evaluation->first_launch[TARE_COMMAND(recording, command)->object] == command;
}
// Of a gap that a kernel's first launch ends: what lies inside that launch's call, and from its
// submission to its start. Not what it was held before: the program may not have flushed.
int64_t evaluation_first_use_ns(const struct evaluation *evaluation,
                                const struct ledger_working_gap *gap);
// Whether the command is of the view (and its kernel has a name that the view asks for) and begins,
// or without times was enqueued, in the working part.
static inline bool evaluation_has_command(const struct evaluation *evaluation,
                                          const struct tare_recorded_command *command)
{
	int64_t at_ns = tare_command_timed(command) ? command->start_ns : command->enter_ns;
	// The last completion may be a command of no length.
	if (at_ns == evaluation->to_ns)
		at_ns--;
	return evaluation_has_time(evaluation, at_ns) &&
	       tables_has_command(&evaluation->context, command);
}
bool evaluation_has_call(const struct evaluation *evaluation,
                         const struct tare_recorded_call *call);

// ---- putting a finding together

// A finding in the making. Lack of memory sticks to it and comes out of finding_raise.
struct finding_draft {
	struct evaluation *evaluation;
	// figures, cost, confidence, device, modelled: set them directly
	struct tare_finding finding;
	size_t claim_room;
	struct tare_id_map place_of;
	struct tare_finding_place *places;
	size_t place_count, place_room;
	uint64_t last_key; // of the place that was looked for last: commands of one kind follow
	                   // each other
	size_t last_place;
	bool of_run; // claims may lie outside of the working part, within the view
	bool failed;
};

// Begins one of a row's id; possible, measured, no device in particular, nothing claimed.
// End with finding_raise or finding_drop.
void finding_begin(struct evaluation *evaluation, struct finding_draft *draft, const char *id);
void finding_drop(struct finding_draft *draft);
// Hands it in, unless title, cost or claims are missing. Claims are cut to the working part and
// united; no cost is let above their sum. The costliest places stay. Returns 0 or -ENOMEM; the
// draft is gone.
int finding_raise(struct finding_draft *draft);

// What an API calls something that is advised (words.c).
enum finding_word {
	FINDING_WORD_QUEUE_NOUN,
	FINDING_WORD_NOT_BLOCK,
	FINDING_WORD_ASYNCHRONOUS,
	FINDING_WORD_PROGRAMS,
	FINDING_WORD_BUILT,      // as they are
	FINDING_WORD_BUILD_ONCE, // and its binaries, which FINDING_WORD_KEEP_BINARIES goes on about
	FINDING_WORD_FIRST_USE,
	FINDING_WORD_REPLAY,
	FINDING_WORD_HAND_OVER,
	FINDING_WORD_WAIT,
	FINDING_WORD_QUEUES,
	FINDING_WORD_ONE_QUEUE,
	FINDING_WORD_DRAIN,         // what is done instead of waiting for each command
	FINDING_WORD_PINNED,        // how one gets it, in parentheses
	FINDING_WORD_KEEP_BINARIES, // how what was built is kept, in parentheses
	FINDING_WORD_IN_PLACE,      // how host and device use the same memory, a sentence
	FINDING_WORD_MEMORY_WAITS,  // what making and freeing memory does
	FINDING_WORDS
};
const char *finding_word(const struct evaluation *evaluation, enum finding_word word);
// The value that a variable of the environment had for an API's driver, in a process of the view;
// NULL: not set, or not one that is recorded.
const char *finding_variable(const struct evaluation *evaluation, const char *name);
// What to do about a variable that makes the driver build anew each time, behind advice: "; ...";
// "": none is set.
const char *finding_rebuilds(const struct evaluation *evaluation);

// Sentences without a full stop. A second call replaces the first.
void finding_title(struct finding_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void finding_evidence(struct finding_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void finding_advice(struct finding_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The value comes with where it is from: "device timestamp", "host clock", "model", "counted".
void finding_figure(struct finding_draft *draft, const char *name, double value,
                    const char *source);
// Times in any order, overlapping or not. Empty ones are nothing.
void finding_claim(struct finding_draft *draft, int64_t from_ns, int64_t to_ns);
// It was seen at a command, or a call, for so long. Those of one stack (and kernel, or kind) become
// one place; its command and times are the costliest one's. Counts as one occurrence.
void finding_saw_command(struct finding_draft *draft, uint32_t command, int64_t from_ns,
                         int64_t to_ns, int64_t cost_ns);
void finding_saw_call(struct finding_draft *draft, uint32_t call, int64_t from_ns, int64_t to_ns,
                      int64_t cost_ns);
void finding_cost(struct finding_draft *draft, double low_ns, double best_ns, double high_ns);

// Whether one of the id was raised for the device.
bool finding_is_raised(const struct evaluation *evaluation, const char *id, uint32_t device);
// Takes back those of the id that cost no more than this. Returns whether one is left that costs
// more.
bool finding_take_back(struct evaluation *evaluation, const char *id, double cost_ns);
// What could not be judged and why, a sentence without a full stop; the same one once only.
// Returns 0 or -ENOMEM.
int finding_unjudged(struct evaluation *evaluation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The name of a kernel as findings write it: quoted, cut, nothing that is not for a terminal's eye
// is decided here (writers do). "'norm2'"; "a kernel" for one without a name.
const char *finding_kernel_name(const struct evaluation *evaluation,
                                const struct tare_recorded_command *command, char text[128]);

// Whether a command is a write or a read between host and device that has times and lies in the
// working part: maps, which may move nothing, and copies within the device are not.
static inline bool finding_is_copy(const struct evaluation *evaluation,
                                   const struct tare_recorded_command *command)
{
	return (command->kind == TARE_KIND_WRITE || command->kind == TARE_KIND_READ) &&
	       tare_command_timed(command) && command->queue < evaluation->recording->queue_count &&
	       evaluation_has_command(evaluation, command);
}
