// SPDX-License-Identifier: Apache-2.0
// Which launches are counted: each has a metric query of its own around it, in the program's list,
// with barriers, so that nothing else of that list is in it. What other lists do meanwhile is in
// it, too: whoever reads the trace sees that by the times. Values are read when the program has
// waited, or the helper looks. One thread at a time is in here; another one's launch goes
// uncounted.
#include "guest/environment.h"
#include "guest/levelzero/counters/counters.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 256 };
// So long a switch to other counters waits for what counts the present ones, and an execution for
// the one before it. Who takes longer is left.
#define PATIENCE_NS UINT64_C(50000000)
// So long the last ones are waited for, where the program ends what they run in: the device has
// nothing else to do then.
#define LAST_PATIENCE_NS UINT64_C(1000000000)

// A launch with a query around it.
struct count_entry {
	enum { VACANT, APPENDED, IN_FLIGHT, LEFT } state; // APPENDED: in a list, to be executed
	struct count_session *session;
	struct counters_kernel *kernel;
	const struct ze_driver *driver;
	struct ze_own_events *own;
	const struct ze_content *content; // NULL: of an immediate list
	ze_command_list_handle_t list;
	ze_event_handle_t done;
	zet_metric_query_handle_t query;
	ze_kernel_handle_t handle;
	uint32_t group, track, number;
	uint64_t execution, from;
	ze_result_t ended; // whether the query's end was appended
	bool cold;         // the kernel's first launch
};

bool ze_counts;
static struct counters_plan plan;
static struct count_entry entries[ENTRIES];
static guest_lock right;    // to all of this
static bool given_up;       // it was refused
static _Atomic bool missed; // a list was executed while nobody saw to its queries
static uint32_t read_of_group[COUNTERS_MOST_KERNELS][COUNT_GROUPS];

void ze_count_begin(void)
{
	const char *text = getenv(TARE_ENVIRONMENT_COUNT);
	if (text == NULL || text[0] == '\0' || !counters_plan_read(text, &plan) || plan.open ||
	    !ze_may_change())
		return;
	guest_lock_register(&right);
	plan.replay = false; // a query runs nothing twice
	ze_counts = true;
}

struct counters_kernel *ze_count_kernel(const char *name)
{
	return ze_counts && name != NULL
	           ? counters_plan_find(&plan, guest_hash(GUEST_HASH_START, name, strlen(name)))
	           : NULL;
}

void ze_count_in_child(void)
{
	ze_counts = false;
}

// Nobody keeps it for long. Whoever is interrupted with it by a signal handler keeps it longer.
static bool take_right(void)
{
	enum { TURNS = 20000, PART = 1000 };
	bool taken = guest_try(&right);
	for (int i = 1; i <= TURNS && !taken && !guest_alone(); i++) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
		// Who has it may wait for a processor.
		if (i % PART == 0)
			sched_yield();
		taken = guest_try(&right);
	}
	// Of lists that may have run unseen nothing can be told.
	if (taken && atomic_exchange(&missed, false))
		for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++)
			if (entry->state != VACANT && entry->content != NULL)
				entry->state = LEFT;
	return taken;
}

// ---- what was counted

static uint32_t *read_so_far(const struct count_entry *entry)
{
	return &read_of_group[entry->kernel - plan.kernels][entry->group];
}

// In a list that may be executed again it waits for that.
static void settle(struct count_entry *entry)
{
	entry->state = entry->content != NULL ? APPENDED : VACANT;
	if (entry->content != NULL)
		return;
	count_calls_of(entry->driver)->query.pfnReset(entry->query);
	entry->session->idle[entry->group][entry->session->idle_count[entry->group]++] =
	    entry->query;
	ze_own_give(entry->own, entry->done);
}

static void write_launch(struct guest_thread *thread, const struct count_entry *entry,
                         ze_result_t result, const char *where)
{
	count_write(thread, TARE_COUNTING_LAUNCH,
	            &(struct tare_trace_counting){
	                .command_track = entry->track,
	                .command_number = entry->number,
	                .object = (uintptr_t)entry->handle,
	                .from = entry->from,
	                .to = guest_ticks(),
	                .code = (uint32_t)result,
	                .group = entry->group,
	                .passes = 1,
	                .text = result == ZE_RESULT_SUCCESS ? 0 : guest_text(where, strlen(where)),
	                .execution = entry->execution });
}

static void read_entry(struct guest_thread *thread, struct count_entry *entry)
{
	struct count_figure figures[COUNT_FIGURES];
	const char *where;
	ze_result_t result;
	uint64_t from = guest_ticks();
	bool wanted = *read_so_far(entry) < plan.a_group && !(entry->cold && entry->execution < 2);
	if (wanted) {
		uint32_t count = count_query_read(entry->session, entry->group, entry->query,
		                                  figures, &result, &where);
		entry->from = from;
		write_launch(thread, entry, result, where);
		count_write_figures(thread,
		                    &(struct tare_trace_counted){ .command_track = entry->track,
		                                                  .command_number = entry->number,
		                                                  .ticks = guest_ticks() },
		                    entry->group, figures, count);
		// One that fails takes its turn, too: none is tried for ever.
		++*read_so_far(entry);
	}
	settle(entry);
}

static bool is_done(const struct count_entry *entry, uint64_t patience_ns)
{
	const struct ze_calls *call = &entry->driver->call;
	return (patience_ns != 0 ? call->zeEventHostSynchronize(entry->done, patience_ns)
	                         : call->zeEventQueryStatus(entry->done)) == ZE_RESULT_SUCCESS;
}

void ze_count_read_slow(struct guest_thread *thread)
{
	if (!ze_may_call() || !take_right())
		return;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++)
		if (entry->state == IN_FLIGHT && is_done(entry, 0))
			read_entry(thread, entry);
	guest_aside_end(thread, aside);
	guest_release(&right);
}

// ---- before a launch

// Nothing of the session that is in flight counts anything else then. What does not come is left:
// it is never read, and nothing waits for it again.
static bool switch_to(struct guest_thread *thread, struct count_session *session, uint32_t group)
{
	bool well = true;
	if (session->active == group)
		return true;
	for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++) {
		if (entry->state != IN_FLIGHT || entry->session != session)
			continue;
		if (is_done(entry, PATIENCE_NS))
			read_entry(thread, entry);
		else
			entry->state = LEFT;
		well = well && entry->state != LEFT;
	}
	return well && count_session_activate(session, group) == ZE_RESULT_SUCCESS;
}

static struct count_entry *entry_take(void)
{
	for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++)
		if (entry->state == VACANT)
			return entry;
	return NULL;
}

// The group that a regular list counts already; COUNT_NO_GROUP: it has no query yet.
static uint32_t group_of_list(const struct ze_content *content)
{
	for (const struct count_entry *entry = entries; entry != entries + ENTRIES; entry++)
		if (entry->state != VACANT && entry->content == content)
			return entry->group;
	return COUNT_NO_GROUP;
}

// Whether this launch is to be counted, and for which group. Of a list that may be executed often
// it is not known how many launches its commands are: its first ones are taken.
static bool is_turn(const struct count_session *session, const struct ze_list *list,
                    const struct counters_kernel *kernel, uint64_t index, uint32_t *group)
{
	uint32_t current = session->active < session->group_count ? session->active : 0;
	if (list->immediate)
		return counters_is_turn(&plan, kernel, session->group_count, index, current, group);
	*group = group_of_list(list->content);
	for (uint32_t i = 0; i < session->group_count && *group == COUNT_NO_GROUP; i++)
		if (kernel->of_group[(current + i) % session->group_count] < plan.a_group)
			*group = (current + i) % session->group_count;
	return *group != COUNT_NO_GROUP && kernel->of_group[*group] < plan.a_group;
}

// What the launch would wait for is waited for before the query begins.
static ze_result_t append_begin(const struct ze_list *list, zet_metric_query_handle_t query,
                                uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_result_t result = list->driver->call.zeCommandListAppendBarrier(
	    list->handle, NULL, waits != NULL ? wait_count : 0, waits);
	return result == ZE_RESULT_SUCCESS
	           ? count_calls_of(list->driver)
	                 ->list.pfnAppendMetricQueryBegin(list->handle, query)
	           : result;
}

static struct count_entry *enter(struct guest_thread *thread, const struct ze_list *list,
                                 struct counters_kernel *kernel, ze_kernel_handle_t handle,
                                 struct count_session *session, uint64_t index)
{
	uint32_t group;
	struct count_entry *entry = entry_take();
	if (entry == NULL || !is_turn(session, list, kernel, index, &group) ||
	    (list->immediate && !switch_to(thread, session, group)))
		return NULL;
	*entry =
	    (struct count_entry){ .session = session,
		                  .kernel = kernel,
		                  .driver = list->driver,
		                  .own = list->own,
		                  .content = list->immediate ? NULL : list->content,
		                  .list = list->handle,
		                  .handle = handle,
		                  .group = group,
		                  .track = thread->track,
		                  .from = guest_ticks(),
		                  .cold = !list->immediate && index == 0 && kernel->launches > 1 };
	entry->done = ze_own_take(list->own);
	entry->query = entry->done != NULL ? count_query_take(session, group) : NULL;
	if (entry->query == NULL) {
		if (entry->done != NULL)
			ze_own_give(list->own, entry->done);
		return NULL;
	}
	return entry;
}

static struct count_entry *begin(struct guest_thread *thread, const struct ze_list *list,
                                 struct counters_kernel *kernel, ze_kernel_handle_t handle,
                                 uint64_t index, uint32_t wait_count, ze_event_handle_t *waits)
{
	bool made;
	struct count_session *session = count_session_of(list, &made);
	if (session != NULL && made) {
		count_write_prepared(thread, session);
		if (session->result == ZE_RESULT_SUCCESS)
			ze_change(TARE_CHANGE_COUNTERS, session->context, 0, session->group_count);
	}
	if (session == NULL || session->result != ZE_RESULT_SUCCESS) {
		given_up = true;
		return NULL;
	}
	if (count_taken_by_program)
		return NULL;
	struct count_entry *entry = enter(thread, list, kernel, handle, session, index);
	if (entry == NULL)
		return NULL;
	ze_result_t result = append_begin(list, entry->query, wait_count, waits);
	kernel->taken++;
	kernel->of_group[entry->group] += !entry->cold;
	if (result == ZE_RESULT_SUCCESS)
		return entry;
	entry->state = LEFT; // neither query nor event is used again
	given_up = true;
	return NULL;
}

void ze_count_launch_slow(struct guest_thread *thread, struct ze_command *command,
                          ze_kernel_handle_t handle, uint32_t wait_count, ze_event_handle_t *waits)
{
	const struct ze_list *list = command->list;
	const struct ze_kernel *kernel = ze_kernel_find(thread, handle);
	if (kernel == NULL || kernel->counted == NULL || list == NULL || list->device == NULL)
		return;
	if (command->passed) {
		count_write_left(thread, kernel->counted, TARE_LEFT_CAPTURED, handle);
		return;
	}
	uint64_t index = atomic_fetch_add(&kernel->counted->seen, 1);
	// What may be changed later may become another kernel; clones share their queries.
	if (given_up || command->may_become != 0 || list->copies ||
	    (!list->immediate && list->content->shared) || !ze_may_call() ||
	    !atomic_load_explicit(&guest_active, memory_order_relaxed) || !take_right())
		return;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	command->counted = begin(thread, list, kernel->counted, handle, index, wait_count, waits);
	guest_aside_end(thread, aside);
	if (command->counted == NULL)
		guest_release(&right);
}

// ---- after it, with the right that it has

// As soon as the driver has the launch: until then the device may wait, which the query counts.
void ze_count_launched_slow(struct guest_thread *thread, const struct ze_command *command,
                            ze_result_t status)
{
	struct count_entry *entry = command->counted;
	const struct ze_list *list = command->list;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	entry->ended = list->driver->call.zeCommandListAppendBarrier(list->handle, NULL, 0, NULL);
	if (entry->ended == ZE_RESULT_SUCCESS)
		entry->ended = count_calls_of(list->driver)
		                   ->list.pfnAppendMetricQueryEnd(list->handle, entry->query,
		                                                  entry->done, 0, NULL);
	entry->state = entry->ended != ZE_RESULT_SUCCESS || status != ZE_RESULT_SUCCESS ? LEFT
	               : entry->content != NULL                                         ? APPENDED
	                                                                                : IN_FLIGHT;
	guest_aside_end(thread, aside);
}

void ze_count_written_slow(struct guest_thread *thread, const struct ze_command *command,
                           uint32_t number)
{
	struct count_entry *entry = command->counted;
	entry->number = number;
	if (number == 0) {
		entry->state = LEFT;
	} else if (entry->ended != ZE_RESULT_SUCCESS) {
		write_launch(thread, entry, entry->ended, "zetCommandListAppendMetricQueryEnd");
		given_up = true;
	} else if (entry->state != LEFT) {
		count_write(thread, TARE_COUNTING_BEGUN,
		            &(struct tare_trace_counting){ .command_track = entry->track,
		                                           .command_number = number,
		                                           .from = entry->from,
		                                           .to = guest_ticks(),
		                                           .group = entry->group });
	}
	guest_release(&right);
}

// ---- lists

// Before a list is executed: what the last execution counted is read, or nothing more of it is.
static void execute_entry(struct guest_thread *thread, struct count_entry *entry,
                          uint64_t execution)
{
	if (entry->state == IN_FLIGHT) {
		if (!is_done(entry, PATIENCE_NS)) {
			entry->state = LEFT;
			return;
		}
		read_entry(thread, entry);
	}
	if (entry->state != APPENDED)
		return;
	if (!switch_to(thread, entry->session, entry->group) ||
	    entry->driver->call.zeEventHostReset(entry->done) != ZE_RESULT_SUCCESS ||
	    count_calls_of(entry->driver)->query.pfnReset(entry->query) != ZE_RESULT_SUCCESS) {
		entry->state = LEFT;
		return;
	}
	entry->execution = execution;
	entry->state = IN_FLIGHT;
}

void ze_count_execute_slow(struct guest_thread *thread, const struct ze_list *list,
                           uint64_t execution)
{
	bool mine = take_right();
	if (!mine)
		atomic_store(&missed, true);
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	for (struct count_entry *entry = entries; mine && entry != entries + ENTRIES; entry++)
		if (entry->state != VACANT && entry->content == list->content)
			execute_entry(thread, entry, execution);
	guest_aside_end(thread, aside);
	if (mine)
		guest_release(&right);
}

// What was appended is gone, or goes; what is in flight is still read.
void ze_count_drop_slow(const struct ze_content *content)
{
	static const struct ze_content gone;
	if (!ze_may_call() || !take_right()) {
		// Its place may be another list's soon.
		ze_counts = false;
		return;
	}
	for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++) {
		if (entry->state == VACANT || entry->content != content)
			continue;
		if (entry->state == IN_FLIGHT)
			entry->content = NULL;
		else if (entry->state == APPENDED) {
			entry->content = NULL;
			settle(entry);
		} else {
			entry->content = &gone;
		}
	}
	guest_release(&right);
}

// ---- the end

static uint64_t last_deadline(void)
{
	return guest_ticks() + guest_ticks_of_ns(LAST_PATIENCE_NS);
}

// 0: it is over.
static uint64_t ns_until(uint64_t deadline)
{
	uint64_t now = guest_ticks();
	return now < deadline ? (uint64_t)((double)(deadline - now) * LAST_PATIENCE_NS /
	                                   (double)guest_ticks_of_ns(LAST_PATIENCE_NS))
	                      : 0;
}

// A query's end stands behind what the program has waited for, so it may come after that. All of a
// call's are waited for until one deadline, those of a list (NULL: of any) here. What does not come
// is left: the list's handle may be another list's soon.
static void read_last(struct guest_thread *thread, const struct count_session *session,
                      ze_command_list_handle_t list, uint64_t deadline)
{
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
	for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++) {
		if (entry->state != IN_FLIGHT || (session != NULL && entry->session != session) ||
		    (list != NULL && entry->list != list))
			continue;
		if (is_done(entry, ns_until(deadline)))
			read_entry(thread, entry);
		else
			entry->state = LEFT;
	}
	guest_aside_end(thread, aside);
}

void ze_count_list_ends_slow(struct guest_thread *thread, const struct ze_list *list)
{
	if (!ze_may_call() || !take_right())
		return;
	read_last(thread, NULL, list->handle, last_deadline());
	guest_release(&right);
}

void ze_count_context_ends(struct guest_thread *thread, const struct ze_driver *driver,
                           ze_context_handle_t context)
{
	struct count_session *session;
	if (!ze_counts || !ze_may_call() || !take_right())
		return;
	uint64_t deadline = last_deadline();
	for (uint32_t i = 0; (session = count_session_at(i)) != NULL; i++) {
		if (session->context != context || session->driver != driver)
			continue;
		read_last(thread, session, NULL, deadline);
		for (struct count_entry *entry = entries; entry != entries + ENTRIES; entry++)
			if (entry->session == session)
				entry->state = VACANT;
		count_session_end(session);
	}
	guest_release(&right);
}

void ze_count_program_counts(void)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_LEVELZERO);
	if (thread != NULL && ze_counts)
		count_write_left(thread, NULL, TARE_LEFT_OWN, NULL);
}
