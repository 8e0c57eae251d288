// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/accounts.h"

#include "blocks/cuda/flow.h"
#include "blocks/cuda/linear.h"
#include "tare/trace_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPCODES = 512,
	TRIED_SM = 90,
	MOST_BLOCKS = 1500,
	A_BLOCK_MS = 200,
	MOST_MS = 3000,
	MOST_PIECES = 20000
};

enum tare_account tare_account_of(uint16_t counter)
{
	static const uint16_t counters[TARE_ACCOUNTS] = {
#define ACCOUNT(name, of) [TARE_ACCOUNT_##name] = TARE_TRACE_COUNTER_##of,
#include "blocks/cuda/accounts.def"
#undef ACCOUNT
	};

	for (int i = 0; i < TARE_ACCOUNTS; i++)
		if (counters[i] == counter)
			return (enum tare_account)i;
	return TARE_ACCOUNTS;
}

// The pipe of an opcode; TARE_ACCOUNTS: of none of those that are counted; -1: it is not known.
enum { IN_NO_PIPE = TARE_ACCOUNTS, TARE_ACCOUNT_NONE = IN_NO_PIPE };
static int pipe_of(uint32_t opcode)
{
	static const uint8_t pipes[OPCODES] = {
#define PIPE(name, number) [number] = 1 + (uint8_t)TARE_ACCOUNT_##name,
#include "blocks/cuda/accounts.def"
#undef PIPE
	};

	return pipes[opcode] - 1;
}

// The account of an opcode by what it does; TARE_ACCOUNTS: none.
static int sort_of(uint32_t opcode)
{
	static const uint8_t sorts[OPCODES] = {
#define OF(name, number) [number] = 1 + (uint8_t)TARE_ACCOUNT_##name,
#include "blocks/cuda/accounts.def"
#undef OF
	};

	return sorts[opcode] ? sorts[opcode] - 1 : TARE_ACCOUNTS;
}

static bool is_pipe(enum tare_account account)
{
	return account >= TARE_ACCOUNT_ALU && account <= TARE_ACCOUNT_MATRIX;
}

// The unknowns are, a warp of the kernel: how often each piece of code was begun, and how often
// each block was left to its target and to the next one. A piece is a block; where lanes part, a
// block is divided behind WARPSYNC, where they may meet.
struct model {
	const struct tare_sampled_kernel *kernel;
	const struct tare_accounts *accounts;
	struct tare_sass_flow flow;
	uint32_t *first; // piece of each block, and the number of pieces
	uint32_t pieces;
	bool parts;   // lanes part somewhere
	double apart; // how often a warp's lanes part; INFINITY: not known
	bool outside; // it calls what is not in it
	bool breaks;  // BREAK: not all lanes meet
	bool unread;  // where something leads is not read
	struct tare_linear_term *terms;
	uint32_t count;
	struct tare_linear *linear;
	struct tare_host_time until;
};

static bool divides(const struct model *model, uint32_t block, uint32_t i)
{
	const struct tare_sampled_block *at = &model->kernel->blocks[block];

	return model->parts && i + 1 < at->count &&
	       tare_sampled_sass(model->kernel, at->first + i).opcode == TARE_SASS_WARPSYNC;
}

// WARPSYNC.COLLECTIVE: what follows is executed once for all lanes, which then go on as they came.
static bool is_collective(const struct tare_sass *read)
{
	return read->opcode == TARE_SASS_WARPSYNC && read->has_target;
}

static bool has_collective(const struct model *model, uint32_t block)
{
	const struct tare_sampled_block *at = &model->kernel->blocks[block];
	bool has = false;

	for (uint32_t i = 0; i < at->count; i++) {
		struct tare_sass read = tare_sampled_sass(model->kernel, at->first + i);
		has |= is_collective(&read);
	}
	return has;
}

static void look(struct model *model)
{
	const struct tare_sampled_kernel *kernel = model->kernel;

	for (uint32_t b = 0; b < model->flow.count; b++) {
		const struct tare_sass_way *way = &model->flow.ways[b];
		const struct tare_sampled_block *at = &kernel->blocks[b];
		model->unread |= way->kind == TARE_FLOW_UNKNOWN;
		model->outside |= way->kind == TARE_FLOW_CALLS && way->to[0] == TARE_FLOW_NOWHERE;
		model->first[b] = model->pieces++;
		for (uint32_t i = 0; i < at->count; i++) {
			struct tare_sass read = tare_sampled_sass(kernel, at->first + i);
			model->pieces += divides(model, b, i);
			model->breaks |= read.opcode == TARE_SASS_BREAK;
			if (is_collective(&read))
				model->unread |= way->kind != TARE_FLOW_ON;
		}
	}
	model->first[model->flow.count] = model->pieces;
}

static uint32_t begun(const struct model *model, uint32_t block)
{
	return model->first[block];
}

static uint32_t ended(const struct model *model, uint32_t block)
{
	return model->first[block + 1] - 1;
}

// Left to its target (0), or to the next (1).
static uint32_t left(const struct model *model, uint32_t block, uint32_t to)
{
	return model->pieces + 2 * block + to;
}

// ---- rows

static void term(struct model *model, uint32_t unknown, double factor)
{
	model->terms[model->count++] = (struct tare_linear_term){ unknown, factor };
}

static int row(struct model *model, double low, double high)
{
	int status = tare_linear_add(model->linear, model->terms, model->count, low, high);

	model->count = 0;
	return status;
}

// a - b is from `low` to `high`.
static int compare(struct model *model, uint32_t a, uint32_t b, double low, double high)
{
	term(model, a, 1);
	term(model, b, -1);
	return row(model, low, high);
}

static int add_choice(struct model *model, uint32_t block)
{
	uint32_t from = ended(model, block);
	int status = 0;

	for (uint32_t to = 0; model->parts && status == 0 && to < 2; to++)
		status = compare(model, left(model, block, to), from, -INFINITY, 0);
	term(model, left(model, block, 0), 1);
	term(model, left(model, block, 1), 1);
	term(model, from, -1);
	return status ?: row(model, 0, model->parts ? INFINITY : 0);
}

// A block's ways out.
static int add_ways(struct model *model, uint32_t block)
{
	const struct tare_sass_way *way = &model->flow.ways[block];
	uint32_t from = ended(model, block), on = left(model, block, 1);
	bool inside = way->to[0] != TARE_FLOW_NOWHERE;
	int status = 0;

	switch (way->kind) {
	case TARE_FLOW_ON:
		return compare(model, on, has_collective(model, block) ? begun(model, block) : from,
		               0, 0);
	case TARE_FLOW_JUMP:
		return compare(model, left(model, block, 0), from, 0, 0);
	case TARE_FLOW_CHOICE:
		return add_choice(model, block);
	case TARE_FLOW_MEETS:
		return compare(model, on, from, model->parts ? -INFINITY : 0, 0);
	case TARE_FLOW_CALLS:
		status = compare(model, left(model, block, 0), from,
		                 way->conditional ? -INFINITY : 0, 0);
		// What returns is added up for all calls.
		if (status == 0)
			status = compare(model, on, from, inside ? -INFINITY : 0,
			                 model->parts ? model->apart : 0);
		return status;
	case TARE_FLOW_ENDS_SOME:
	case TARE_FLOW_RETURNS:
		return compare(model, on, from, -INFINITY, 0);
	default:
		return 0;
	}
}

// What leads into a block; each warp begins with the first one.
static int add_entries(struct model *model)
{
	int status = 0;

	for (uint32_t b = 0; status == 0 && b < model->flow.count; b++) {
		double begins = b == 0;
		term(model, begun(model, b), 1);
		// A block has as many ways in as lead to it: found by looking at all.
		for (uint32_t a = 0; a < model->flow.count; a++)
			for (uint32_t to = 0; to < 2; to++)
				if (model->flow.ways[a].to[to] == b)
					term(model, left(model, a, to), -1);
		status = row(model, begins, begins);
	}
	return status;
}

// Every call that stays inside comes back from a RET that is always taken.
static int add_returns(struct model *model)
{
	bool any = false, sure = !model->outside;

	for (uint32_t b = 0; b < model->flow.count; b++) {
		const struct tare_sass_way *way = &model->flow.ways[b];
		if (way->kind == TARE_FLOW_RETURNS) {
			sure &= way->to[1] == TARE_FLOW_NOWHERE;
			term(model, ended(model, b), 1);
		} else if (way->kind == TARE_FLOW_CALLS) {
			any = true;
			term(model, left(model, b, 1), -1);
		}
	}
	if (any && sure)
		return row(model, 0, 0);
	model->count = 0;
	return 0;
}

// Lanes that part are counted. They meet at BSYNC and WARPSYNC, as often as they parted at most.
static int add_parting(struct model *model)
{
	int status = 0;

	if (!model->parts)
		return 0;
	for (uint32_t b = 0; b < model->flow.count; b++) {
		if (model->flow.ways[b].kind != TARE_FLOW_CHOICE)
			continue;
		term(model, left(model, b, 0), 1);
		term(model, left(model, b, 1), 1);
		term(model, ended(model, b), -1);
	}
	if (isfinite(model->apart))
		status = row(model, model->outside ? 0 : model->apart, model->apart);
	model->count = 0;
	for (uint32_t b = 0; b < model->flow.count; b++) {
		bool collective = has_collective(model, b);
		for (uint32_t p = begun(model, b); status == 0 && p < ended(model, b); p++) {
			struct tare_linear_term fewer[] = { { p + 1, 1 }, { p, -1 } };
			status = tare_linear_add(model->linear, fewer, 2, -INFINITY, 0);
			term(model, p, collective ? 0 : 1);
			term(model, p + 1, collective ? 0 : -1);
		}
		if (model->flow.ways[b].kind == TARE_FLOW_MEETS) {
			term(model, ended(model, b), 1);
			term(model, left(model, b, 1), -1);
		}
	}
	return status ?: row(model, 0, model->apart);
}

// Whether lanes that part behind `from` all come to the meeting.
static bool all_meet(const struct model *model, uint32_t from, uint32_t meeting)
{
	return !model->breaks && !model->outside && !tare_flow_reach(&model->flow, from, meeting);
}

// What parts behind BSSY goes on together behind the BSYNC that it names, once for each BSSY.
static int add_meeting(struct model *model, uint32_t meeting)
{
	bool sure = true, any = false;

	for (uint32_t b = 0; b < model->flow.count; b++) {
		const struct tare_sampled_block *at = &model->kernel->blocks[b];
		for (uint32_t i = 0; i < at->count; i++) {
			struct tare_sass read = tare_sampled_sass(model->kernel, at->first + i);
			if (read.opcode != TARE_SASS_BSSY ||
			    read.target !=
			        (int64_t)model->kernel->blocks[meeting].first * TARE_SASS_BYTES)
				continue;
			any = true;
			sure &= all_meet(model, b, meeting);
			term(model, ended(model, b), 1);
		}
	}
	term(model, left(model, meeting, 1), -1);
	if (any)
		return row(model, 0, sure ? 0 : INFINITY);
	model->count = 0;
	return 0;
}

static int add_flow(struct model *model)
{
	int status = 0;

	for (uint32_t b = 0; status == 0 && b < model->flow.count; b++)
		status = add_ways(model, b);
	status = status ?: add_entries(model);
	status = status ?: add_returns(model);
	status = status ?: add_parting(model);
	for (uint32_t b = 0; model->parts && status == 0 && b < model->flow.count; b++)
		if (model->flow.ways[b].kind == TARE_FLOW_MEETS)
			status = add_meeting(model, b);
	return status;
}

// ---- accounts

// How many of a piece's instructions are in the account, which begins at instruction `from` of the
// block; *next is where the next piece begins. *unsure: some may be.
static uint32_t in_piece(const struct model *model, enum tare_account account, uint32_t block,
                         uint32_t *from, bool *unsure)
{
	const struct tare_sampled_block *at = &model->kernel->blocks[block];
	uint32_t found = 0;

	for (bool ends = false; !ends && *from < at->count; (*from)++) {
		uint32_t opcode = tare_sampled_sass(model->kernel, at->first + *from).opcode;
		if (account == TARE_ACCOUNT_ALL)
			found++;
		else if (is_pipe(account)) {
			found += pipe_of(opcode) == (int)account;
			*unsure |= pipe_of(opcode) < 0;
		} else
			found += sort_of(opcode) == (int)account;
		ends = divides(model, block, *from);
	}
	return found;
}

static int add_account(struct model *model, enum tare_account account, double slack)
{
	double count = model->accounts->sums[account] / model->accounts->warps;
	bool unsure = model->outside;

	if (!(model->accounts->known >> account & 1) || account == TARE_ACCOUNT_APART ||
	    (is_pipe(account) && model->kernel->cubin->sm != TRIED_SM))
		return 0;
	for (uint32_t b = 0; b < model->flow.count; b++)
		for (uint32_t i = 0, p = begun(model, b); p <= ended(model, b); p++) {
			uint32_t found = in_piece(model, account, b, &i, &unsure);
			if (found)
				term(model, p, found);
		}
	return row(model, unsure ? 0 : count * (1 - slack), count * (1 + slack));
}

static int build(struct model *model, double slack)
{
	tare_linear_free(model->linear);
	model->linear = tare_linear_make(model->pieces + 2 * model->flow.count);
	if (!model->linear)
		return -ENOMEM;
	int status = add_flow(model);
	for (int i = 0; status == 0 && i < TARE_ACCOUNTS; i++)
		status = add_account(model, (enum tare_account)i, slack);
	return status;
}

// The milliseconds that are left, of `most`.
static int left_of(const struct model *model, int most)
{
	int64_t left = tare_host_elapsed_ns(tare_host_now(), model->until) / 1000000;

	return left < 1 ? 0 : left < most ? (int)left : most;
}

// Whether there is any solution.
static int find_first(const struct model *model)
{
	int most = left_of(model, MOST_MS);
	double low, high;

	return most ? tare_linear_bounds(model->linear, 0, most, &low, &high) : -ETIME;
}

// Counts of passes that did not do quite the same are given a little.
static int settle(struct model *model, struct tare_accounts_result *result)
{
	static const double slacks[] = { 0, 1e-6, 1e-4, 1e-3, 1e-2 };
	int status = -EDOM;

	for (size_t i = 0; status == -EDOM && i < sizeof slacks / sizeof *slacks; i++) {
		result->slack = slacks[i];
		status = build(model, slacks[i]);
		if (status == 0)
			status = find_first(model);
	}
	return status;
}

double tare_account_counted(const struct tare_account_bounds *bounds, double slack, double warps)
{
	double executions = (bounds->low + bounds->high) / 2 * warps, whole = round(executions);
	// What rounding of the solver may make of a whole number.
	double rounding = fmin(fmax(.01, 1e-11 * whole), .25);

	if (!bounds->known || !isfinite(bounds->high) || slack != 0 ||
	    (bounds->high - bounds->low) * warps >= .5 || fabs(executions - whole) > rounding)
		return NAN;
	return whole;
}

// The most sampled of those that are not done.
static uint32_t next_block(const struct model *model, const bool *done)
{
	const struct tare_sampled_block *blocks = model->kernel->blocks;
	uint32_t next = TARE_FLOW_NOWHERE;

	for (uint32_t b = 0; b < model->flow.count; b++)
		if (!done[b] &&
		    (next == TARE_FLOW_NOWHERE || blocks[b].stalls.all > blocks[next].stalls.all))
			next = b;
	return next;
}

// As long as there is time, but of those that are `done`.
static void find_bounds(const struct model *model, bool *done, struct tare_account_bounds *bounds)
{
	for (uint32_t b; (b = next_block(model, done)) != TARE_FLOW_NOWHERE;) {
		double low, high;
		done[b] = true;
		int most = left_of(model, A_BLOCK_MS);
		if (!most)
			return;
		if (tare_linear_bounds(model->linear, begun(model, b), most, &low, &high) == 0)
			bounds[b] = (struct tare_account_bounds){ true, fmax(low, 0), high };
	}
}

// Adds what was sampled; -EDOM: that contradicts what was counted.
static int narrow(struct model *model, const struct tare_account_bounds *sampled,
                  struct tare_accounts_result *result)
{
	bool *done = calloc((size_t)model->flow.count + 1, sizeof *done);
	int status = done ? 0 : -ENOMEM;

	result->narrow = calloc((size_t)model->flow.count + 1, sizeof *result->narrow);
	for (uint32_t b = 0; status == 0 && b < model->flow.count; b++) {
		result->narrow[b] = result->blocks[b];
		done[b] = isfinite(tare_account_counted(&result->blocks[b], result->slack,
		                                        model->accounts->warps));
		if (done[b] || !sampled[b].known)
			continue;
		term(model, begun(model, b), 1);
		status = row(model, sampled[b].low, sampled[b].high);
	}
	if (status == 0)
		status = find_first(model);
	if (status == 0)
		find_bounds(model, done, result->narrow);
	free(done);
	return status;
}

static int find_all(struct model *model, const struct tare_account_bounds *sampled,
                    struct tare_accounts_result *result)
{
	bool *done = calloc((size_t)model->flow.count + 1, sizeof *done);

	if (!done)
		return -ENOMEM;
	find_bounds(model, done, result->blocks);
	free(done);
	if (!sampled)
		return 0;
	int status = narrow(model, sampled, result);
	if (status != 0) {
		free(result->narrow);
		result->narrow = NULL;
	}
	return status == -ENOMEM ? status : 0;
}

static int allot(struct model *model, struct tare_accounts_result *result)
{
	uint32_t blocks = model->kernel->split.count;
	int status = tare_flow_make(model->kernel, &model->flow);

	model->first = calloc((size_t)blocks + 1, sizeof *model->first);
	result->blocks = calloc((size_t)blocks + 1, sizeof *result->blocks);
	if (status < 0 || !model->first || !result->blocks)
		return -ENOMEM;
	look(model);
	if (model->pieces > MOST_PIECES)
		return -E2BIG;
	// A row has each unknown three times at most, and each BSSY once.
	model->terms = calloc(3 * ((size_t)model->pieces + 2 * blocks) + model->kernel->count + 1,
	                      sizeof *model->terms);
	return model->terms ? 0 : -ENOMEM;
}

int tare_accounts_settle(const struct tare_sampled_kernel *kernel,
                         const struct tare_accounts *accounts,
                         const struct tare_account_bounds *sampled, struct tare_host_time until,
                         struct tare_accounts_result *result)
{
	bool knows_apart = accounts->known >> TARE_ACCOUNT_APART & 1;
	struct model model = { .kernel = kernel, .accounts = accounts, .until = until };

	*result = (struct tare_accounts_result){ .end = TARE_ACCOUNTS_NONE };
	if (!(accounts->known >> TARE_ACCOUNT_ALL & 1) || !(accounts->warps > 0))
		return 0;
	result->end = TARE_ACCOUNTS_NO_SOLVER;
	if (!tare_linear_is_there())
		return 0;
	result->end = TARE_ACCOUNTS_LARGE;
	if (!kernel->split.count || kernel->split.count > MOST_BLOCKS)
		return 0;
	model.apart = knows_apart ? accounts->sums[TARE_ACCOUNT_APART] / accounts->warps : INFINITY;
	model.parts = model.apart > 0;
	int status = allot(&model, result);
	if (status != -E2BIG)
		result->end = model.unread ? TARE_ACCOUNTS_UNREAD : TARE_ACCOUNTS_OFF;
	if (status == 0 && !model.unread)
		status = settle(&model, result);
	if (status == -ETIME)
		result->end = TARE_ACCOUNTS_LATE;
	if (status == 0 && !model.unread) {
		result->end = TARE_ACCOUNTS_SETTLED;
		status = find_all(&model, sampled, result);
	}
	tare_flow_free(&model.flow);
	tare_linear_free(model.linear);
	free(model.first);
	free(model.terms);
	return status == -ENOMEM ? -ENOMEM : 0;
}

void tare_accounts_free(struct tare_accounts_result *result)
{
	free(result->blocks);
	free(result->narrow);
	*result = (struct tare_accounts_result){ 0 };
}
