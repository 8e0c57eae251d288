// SPDX-License-Identifier: Apache-2.0
// Which launches are counted, and what is written of them. One launch at a time is counted in a
// process; where another one comes between, the values are dropped, for they may be the other's.
#include "guest/cuda/counters/counters.h"
#include "guest/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool counters_wanted;
static struct counters_plan plan;
static _Atomic uint64_t begun;     // commands of any kind: fills and copies may be kernels, too
static _Atomic uint32_t under_way; // of them, those that have not returned
static _Atomic uint32_t taken;     // a launch is being counted, or a profiler prepared
static _Atomic bool given_up;      // it was refused
static _Atomic int64_t spent_ns;   // by counting, of an open plan, and since when that runs
static int64_t began_ns;
// An open plan may spend so much, or that part of the time until then. What a launch takes at most,
// and for how long the work before it is waited for.
enum { SPEND_MS = 3000, SPEND_PART = 30, TURN_MS = 120, REST_MS = 1000 };

// The launch that is being counted, of whoever has `taken`.
static struct counted_launch {
	struct counters_session *session;
	struct counters_kernel *kernel;
	uint64_t begun, from, to;
	uint64_t given_bytes;
	uint32_t correlation, group;
	uint32_t graph; // its number; 0: a kernel's
	cupti_result result;
	const char *where;
	bool open, ended, shared, given; // given: given_bytes are known
	double values[COUNTERS_MOST_METRICS];
} now;
static _Atomic(struct guest_thread *) owner; // whose launch it is; NULL: there is none
// Turns of kernels that were passed over while graphs were counted.
static uint32_t left_meanwhile;
static uint64_t code_at; // which launch was counted by code in it; 0: none yet
enum { MOST_LEFT = 1000, MOST_CHANGES = 8 };

static int64_t now_ns(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC_RAW, &at);
	return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

bool counters_begin(cupti_subscriber subscriber)
{
	const char *text = getenv(TARE_ENVIRONMENT_COUNT);
	if (!text || !text[0] || !counters_plan_read(text, &plan))
		return false;
	began_ns = now_ns();
	counters_metrics_choose(plan.accounts ? COUNTERS_ACCOUNTS : COUNTERS_BY_GROUPS);
	counters_functions_find();
	cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
	                               ABI_CUPTI_RESOURCE_CONTEXT_ENDS);
	counters_wanted = true;
	return true;
}

void counters_in_child(void)
{
	counters_wanted = false;
}

static bool take(void)
{
	return !atomic_exchange(&taken, 1);
}

static void release(void)
{
	atomic_store(&taken, 0);
}

void counters_context_ends(cu_context context)
{
	if (!counters_wanted || !take())
		return;
	counters_session_end(context);
	release();
}

// ---- what is written

static void write_counting(struct guest_thread *thread, enum tare_trace_counting_what what,
                           const struct tare_trace_counting *said)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->counting = *said;
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_COUNTING, 0, (uint16_t)what, thread->track));
}

static uint32_t text_of(const char *text)
{
	return text ? guest_text(text, strlen(text)) : 0;
}

static void write_prepared(struct guest_thread *thread, const struct counters_session *session)
{
	uint64_t absent = session->ready ? session->arrangement.absent : 0;
	if (session->ready && !counters_given_is_known())
		absent |= UINT64_C(1) << TARE_TRACE_COUNTER_GIVEN_BYTES;
	write_counting(thread, TARE_COUNTING_PREPARED,
	               &(struct tare_trace_counting){ .object = (uintptr_t)session->context,
	                                              .from = session->from,
	                                              .to = session->to,
	                                              .code = (uint32_t)session->result,
	                                              .group = session->arrangement.count,
	                                              .text = text_of(session->where) });
	for (uint32_t counter = 1; counter < 64; counter++)
		if (absent >> counter & 1)
			write_counting(thread, TARE_COUNTING_ABSENT,
			               &(struct tare_trace_counting){ .from = session->to,
			                                              .to = session->to,
			                                              .code = counter });
}

static void write_left(struct guest_thread *thread, struct counters_kernel *kernel,
                       enum tare_trace_counting_left why, cu_function function)
{
	uint64_t ticks;
	if (atomic_fetch_or(&kernel->told_left, 1u << why) >> why & 1)
		return;
	ticks = guest_ticks();
	write_counting(
	    thread, TARE_COUNTING_LEFT,
	    &(struct tare_trace_counting){
	        .object = (uintptr_t)function, .from = ticks, .to = ticks, .code = why });
}

// ---- before the launch

static bool is_launch(const struct cuda_function *function)
{
	return function->form == CUDA_LAUNCH || function->form == CUDA_LAUNCH_EX;
}

// That a launch is of, if it is to be counted.
static struct counters_kernel *kernel_of(struct guest_thread *thread, const struct cupti_call *told,
                                         cu_function function)
{
	struct cuda_recorded_kernel *kernel =
	    told->symbol ? cuda_kernel_of(thread, function, told->symbol) : NULL;
	if (!kernel)
		return NULL;
	if (CUDA_UNLIKELY(!kernel->counted_known)) {
		uint64_t hash = guest_hash(GUEST_HASH_START, told->symbol, strlen(told->symbol));
		kernel->counted = counters_plan_find(&plan, hash);
		// Of an open plan; these wait for other devices.
		if (!kernel->counted && !strstr(told->symbol, "nccl") &&
		    !strstr(told->symbol, "nvshmem"))
			kernel->counted = counters_plan_add(&plan, hash);
		kernel->counted_known = true;
	}
	return kernel->counted;
}

// That a launch of a graph is of, if it is to be counted.
static struct counters_kernel *graph_of(const struct cupti_call *told)
{
	char text[16];
	uint32_t number = counters_graph_number(cuda_parameter(told, 0));
	int length = snprintf(text, sizeof text, "#%u", number);
	return number
	           ? counters_plan_find(&plan, guest_hash(GUEST_HASH_START, text, (size_t)length))
	           : NULL;
}

// Whether an open plan may still spend what a turn takes.
static bool may_spend(void)
{
	int64_t part = (now_ns() - began_ns) / 100 * SPEND_PART, most = SPEND_MS * INT64_C(1000000);
	return !plan.open ||
	       atomic_load(&spent_ns) + TURN_MS * INT64_C(1000000) < (part > most ? part : most);
}

// Whether a graph whose launches are being counted (`are_begun`), or are to be, has more turns.
static bool graphs_have_turns(uint32_t groups, bool are_begun)
{
	for (uint32_t i = 0; i < plan.count; i++)
		if (plan.kernels[i].graph &&
		    (atomic_load(&plan.kernels[i].taken) > 0) == are_begun &&
		    counters_has_turns(&plan, &plan.kernels[i], groups))
			return true;
	return false;
}

// Kernels and graphs take profilers of their own, and a change takes its time. So kernels wait
// while graphs are counted, as long as their launches last. They wait for graphs to begin, too,
// until the end of their first part.
static bool waits_for_graphs(const struct counters_session *session,
                             const struct counters_kernel *kernel, uint64_t index, bool of_graphs)
{
	uint32_t groups = session->arrangement.count;
	if (left_meanwhile >= MOST_LEFT || (!of_graphs && session->use) ||
	    !session->arrangement.joined)
		return false;
	if (!of_graphs)
		return graphs_have_turns(groups, false) &&
		       !counters_is_last(&plan, kernel, groups, index);
	return graphs_have_turns(groups, true) && (session->changes >= MOST_CHANGES ||
	                                           counters_may_wait(&plan, kernel, groups, index));
}

// Whether a group of the arrangement, that of everything too, has metrics that are counted by code.
static bool is_by_code(const struct counters_session *session, uint32_t group)
{
	const struct counters_group *of = &session->arrangement.groups[group];

	for (uint32_t i = 0; i < of->count; i++)
		if (counters_metrics[of->metrics[i]].group == COUNTERS_GROUP_OF_CODE)
			return true;
	return false;
}

// What CUPTI puts into a kernel to count its instructions goes through L2. A launch right behind it
// finds less there than it would, so what it moves is counted of a later one of the same part.
enum { BEHIND_CODE = 3 };
static bool is_behind_code(const struct counters_session *session,
                           const struct counters_kernel *kernel, uint64_t index, uint64_t number,
                           uint32_t group)
{
	return code_at && number <= code_at + BEHIND_CODE && !is_by_code(session, group) &&
	       !counters_is_last(&plan, kernel, session->arrangement.count, index);
}

static bool is_turn(const struct counters_session *session, const struct counters_kernel *kernel,
                    uint64_t index, uint64_t number, uint32_t *group)
{
	uint32_t groups = session->arrangement.count;
	bool of_graphs = counters_session_is_of_graphs(session);
	if (kernel->graph)
		return session->arrangement.joined &&
		       counters_is_graphs_turn(&plan, kernel, groups, index,
		                               of_graphs ? session->group : 0, group);
	if (!counters_is_turn(&plan, kernel, groups, index, of_graphs ? 0 : session->group, group))
		return false;
	if (is_behind_code(session, kernel, index, number, *group))
		return false;
	if (!waits_for_graphs(session, kernel, index, of_graphs))
		return true;
	left_meanwhile++;
	return false;
}

// To count a launch the work before it must end. That may wait for what the program does after the
// launch (a gate that it opens), so we wait for a limited time. The program has not called this: it
// is no record.
static bool comes_to_rest(struct guest_thread *thread, cu_stream stream)
{
	uint32_t aside = guest_aside_begin(thread, GUEST_ASIDE_ALL);
	int64_t until_ns = now_ns() + REST_MS * INT64_C(1000000);
	bool rests = !cuda_driver.cuStreamQuery;
	while (!rests) {
		rests = cuda_driver.cuStreamQuery(stream) != ABI_NOT_READY;
		if (rests || now_ns() >= until_ns)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	}
	guest_aside_end(thread, aside);
	return rests;
}

// Begins to count; the thread's launch.
static void start(struct guest_thread *thread, const struct cupti_call *told,
                  const struct cuda_function *function, cu_stream stream)
{
	if (!comes_to_rest(thread, stream)) {
		now.result = ABI_NOT_READY;
		now.where = "cuStreamQuery (the work before it did not end within a second)";
		// It would be so again.
		counters_plan_give_up(now.kernel);
		return;
	}
	now.given = !now.graph &&
	            counters_given_bytes(told, function, cuda_launch_of(told, function).function,
	                                 &now.given_bytes);
	now.result = counters_session_start(now.session, now.group, now.graph, &now.where);
	now.open = now.result == ABI_CUPTI_SUCCESS;
}

static void count(struct guest_thread *thread, const struct cupti_call *told,
                  const struct cuda_function *function, struct counters_kernel *kernel,
                  cu_stream stream, uint64_t index, uint64_t number)
{
	struct counters_session *session;
	uint32_t group = 0;
	bool made, graph = function->form == CUDA_GRAPH;
	session = counters_session_of(told->context, &made);
	if (session && made)
		write_prepared(thread, session);
	if (session && session->result != ABI_CUPTI_SUCCESS)
		atomic_store(&given_up, true);
	if (!session || !session->ready || !is_turn(session, kernel, index, number, &group)) {
		release();
		return;
	}
	now = (struct counted_launch){
		.session = session,
		.kernel = kernel,
		.begun = number,
		.from = guest_ticks(),
		.correlation = told->correlation,
		.group = group,
		.graph = graph ? counters_graph_number(cuda_parameter(told, 0)) : 0,
	};
	// One that fails takes its turn, too: none is tried for ever.
	atomic_fetch_add(&kernel->taken, 1);
	start(thread, told, function, stream);
	if (is_by_code(session, group) && !graph)
		code_at = number;
	atomic_store(&owner, thread);
	if (now.group < COUNTERS_MOST_GROUPS)
		kernel->of_group[now.group]++;
}

void counters_launch_begins(struct guest_thread *thread, const struct cupti_call *told,
                            const struct cuda_function *function)
{
	struct cuda_launch launch;
	struct counters_kernel *kernel;
	uint64_t number, index;
	int64_t from_ns;
	uint32_t others, aside;
	bool graph;
	if (!function->kind)
		return;
	number = atomic_fetch_add(&begun, 1) + 1;
	others = atomic_fetch_add(&under_way, 1);
	graph = function->form == CUDA_GRAPH;
	if ((!is_launch(function) && !graph) || !told->context)
		return;
	launch = graph ? (struct cuda_launch){ .stream = (cu_stream)(uintptr_t)cuda_parameter(
		                                   told, function->stream) }
	               : cuda_launch_of(told, function);
	kernel = graph ? graph_of(told) : kernel_of(thread, told, launch.function);
	if (!kernel)
		return;
	if (cuda_is_captured(launch.stream)) {
		if (!graph)
			write_left(thread, kernel, TARE_LEFT_CAPTURED, launch.function);
		return;
	}
	index = atomic_fetch_add(&kernel->seen, 1);
	if (!counters_is_chosen(&plan, kernel) || !may_spend())
		return;
	if (launch.cooperative) {
		write_left(thread, kernel, TARE_LEFT_COOPERATIVE, launch.function);
		return;
	}
	if (!counters_plan_has(&plan, kernel, &index))
		return;
	// A capture elsewhere in the process would be broken by what a profiler asks of the driver.
	if (others || given_up || atomic_load(&cuda_captures) > 0 || !take())
		return;
	aside = guest_aside_begin(thread, TARE_TRACE_CUDA);
	from_ns = now_ns();
	count(thread, told, function, kernel, launch.stream, index, number);
	atomic_fetch_add(&spent_ns, now_ns() - from_ns);
	guest_aside_end(thread, aside);
}

// ---- after it

static bool is_counted(const struct cupti_call *told)
{
	return guest_this && atomic_load(&owner) == guest_this &&
	       now.correlation == told->correlation;
}

// A range ends with the work that is complete. The program has not called this: it is no record.
static void await_graph(struct guest_thread *thread)
{
	uint32_t aside = guest_aside_begin(thread, GUEST_ASIDE_ALL);
	if (cuda_driver.cuCtxSynchronize)
		cuda_driver.cuCtxSynchronize();
	guest_aside_end(thread, aside);
}

void counters_launch_ends(const struct cupti_call *told, const struct cuda_function *function)
{
	if (function->form == CUDA_GRAPH_MADE && *(const cu_result *)told->result == ABI_SUCCESS) {
		const void *const *graph = cuda_parameter(told, 0);
		if (graph && *graph)
			counters_graph_made(*graph);
	}
	if (!function->kind)
		return;
	if (is_counted(told) && !now.ended) {
		uint32_t aside;
		int64_t from_ns = now_ns();
		if (now.graph && now.open)
			await_graph(guest_this);
		aside = guest_aside_begin(guest_this, TARE_TRACE_CUDA);
		if (now.open)
			now.result = counters_session_stop(now.session, now.group, now.graph,
			                                   now.values, &now.where);
		guest_aside_end(guest_this, aside);
		atomic_fetch_add(&spent_ns, now_ns() - from_ns);
		now.shared = atomic_load(&begun) != now.begun;
		now.to = guest_ticks();
		now.ended = true;
	}
	atomic_fetch_sub(&under_way, 1);
}

// A counter's value is the sum of its metrics, which lie behind one another.
static uint32_t gather(const struct counters_group *group,
                       uint16_t counters[COUNTERS_MOST_METRICS + 1],
                       double sums[COUNTERS_MOST_METRICS + 1])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct counters_metric *metric = &counters_metrics[group->metrics[i]];
		if (now.graph && metric->group == COUNTERS_GROUP_OF_CODE)
			continue;
		if (!count || counters[count - 1] != metric->counter) {
			counters[count] = (uint16_t)metric->counter;
			sums[count++] = 0;
		}
		sums[count - 1] += metric->factor * now.values[i];
	}
	if (now.given) {
		counters[count] = TARE_TRACE_COUNTER_GIVEN_BYTES;
		sums[count++] = (double)now.given_bytes;
	}
	return count;
}

static void write_values(struct guest_thread *thread, uint32_t number)
{
	const struct counters_group *group = &now.session->arrangement.groups[now.group];
	uint16_t counters[COUNTERS_MOST_METRICS + 1];
	double sums[COUNTERS_MOST_METRICS + 1];
	uint32_t count = gather(group, counters, sums);
	for (uint32_t i = 0; i < count; i++)
		if (counters[i] == TARE_TRACE_COUNTER_DURATION_NS && sums[i] > 0 &&
		    sums[i] < 0x1p62)
			now.kernel->ns = (uint64_t)sums[i];
	for (uint32_t i = 0; i < count; i += 4) {
		union tare_trace_record *record = guest_event(thread);
		if (!record)
			return;
		record->counted = (struct tare_trace_counted){ .command_track = thread->track,
			                                       .command_number = number,
			                                       .ticks = now.to };
		for (uint32_t k = 0; k < 4 && i + k < count; k++) {
			record->counted.counter[k] = counters[i + k];
			record->counted.value[k] = sums[i + k];
		}
		guest_commit(record, tare_trace_head(TARE_TRACE_COUNTED,
		                                     group->passes > 1 ? TARE_COUNTED_REPLAYED : 0,
		                                     (uint16_t)now.group, thread->track));
	}
}

void counters_launch_written(struct guest_thread *thread, const struct cupti_call *told,
                             uint32_t number)
{
	if (!is_counted(told) || !now.ended)
		return;
	if (number) {
		bool whole = now.result == ABI_CUPTI_SUCCESS && !now.shared;
		write_counting(
		    thread, TARE_COUNTING_LAUNCH,
		    &(struct tare_trace_counting){
		        .command_track = thread->track,
		        .command_number = number,
		        .object = now.graph,
		        .from = now.from,
		        .to = now.to,
		        .code = (uint32_t)now.result,
		        .group = now.group,
		        .passes = now.session->arrangement.groups[now.group].passes,
		        .text = now.result == ABI_CUPTI_SUCCESS ? 0 : text_of(now.where) });
		if (whole)
			write_values(thread, number);
		else if (now.shared)
			write_left(thread, now.kernel, TARE_LEFT_SHARED, NULL);
	}
	atomic_store(&owner, NULL);
	release();
}
