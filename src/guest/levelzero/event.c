// SPDX-License-Identifier: Apache-2.0
// The program's events: whether they can be read, and what is to be read of them before they are
// used again.
#include "guest/levelzero/ze.h"

#include <errno.h>
#include <sched.h>

// In older headers they are missing.
#define COUNTER_BASED_POOL 0x00020014
#define MAPPED_TIMESTAMP (1u << 3)
#define COUNTER_HOST_VISIBLE (1u << 2)
#define COUNTER_IPC (1u << 3)
#define COUNTER_DEVICE_STAMPS (1u << 4)
#define COUNTER_HOST_STAMPS (1u << 5)
struct counter_desc {
	ze_structure_type_t stype;
	const void *pNext;
	uint32_t flags;
	ze_event_scope_flags_t signal, wait;
};
// Bits of what is kept of a pool.
enum { POOL_KNOWN = 1, POOL_TIMED = 2, POOL_COUNTS = 4 };

static struct guest_map *events, *pools; // by handle
static struct ze_spares spares = { .kept = offsetof(struct ze_event, handle) };

struct ze_event *ze_event_find(ze_event_handle_t handle)
{
	return (struct ze_event *)(uintptr_t)guest_map_find(events, handle, 0);
}

// ---- pools

static bool counts(const ze_event_pool_desc_t *desc)
{
	const ze_base_desc_t *next = desc->pNext;
	for (int i = 0; next != NULL && i < 16; i++, next = next->pNext)
		if ((uint32_t)next->stype == COUNTER_BASED_POOL)
			return true;
	return false;
}

// Timestamps that are mapped lie elsewhere, those of other processes' events are theirs to read.
static bool may_flag(const ze_event_pool_desc_t *desc)
{
	return ze_may_change() && (desc->flags & (ZE_EVENT_POOL_FLAG_IPC | MAPPED_TIMESTAMP)) == 0;
}

ze_result_t ze_do_zeEventPoolCreate(const struct ze_driver *driver, ze_context_handle_t context,
                                    const ze_event_pool_desc_t *desc, uint32_t count,
                                    ze_device_handle_t *devices, ze_event_pool_handle_t *made)
{
	const ze_event_pool_flags_t ours =
	    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
	ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
	bool known = desc != NULL && made != NULL && guest_thread_of(TARE_TRACE_LEVELZERO) != NULL;
	bool flagged = known && may_flag(desc) && (desc->flags & ours) != ours;
	if (flagged) {
		ze_event_pool_desc_t altered = *desc;
		altered.flags |= ours;
		result = driver->call.zeEventPoolCreate(context, &altered, count, devices, made);
		flagged = result == ZE_RESULT_SUCCESS;
	}
	if (!flagged)
		result = driver->call.zeEventPoolCreate(context, desc, count, devices, made);
	if (!known || result != ZE_RESULT_SUCCESS)
		return result;
	// What other processes share they may signal and reset, too.
	const ze_event_pool_flags_t never = ZE_EVENT_POOL_FLAG_IPC | MAPPED_TIMESTAMP;
	bool timed = flagged || ((desc->flags & ours) == ours && (desc->flags & never) == 0);
	guest_map_put(pools, *made,
	              POOL_KNOWN | (timed ? POOL_TIMED : 0u) | (counts(desc) ? POOL_COUNTS : 0u));
	if (flagged)
		ze_change(TARE_CHANGE_FLAG, *made, desc->flags, desc->flags | ours);
	return result;
}

// ---- events

static void event_made(ze_event_handle_t handle, ze_event_pool_handle_t pool, bool timed,
                       bool counting)
{
	struct ze_event *event = ze_take(&spares, sizeof *event);
	if (event == NULL)
		return;
	event->handle = handle;
	event->holders = 1;
	event->pool = pool;
	event->timed = timed && !guest_options.count_only;
	event->counts = counting;
	guest_map_put(events, handle, (uintptr_t)event);
}

void ze_after_zeEventCreate(struct guest_thread *thread, const struct ze_driver *driver,
                            ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                            ze_event_handle_t *made, ze_result_t result)
{
	uint64_t of = guest_map_find(pools, pool, 0);
	// Of a pool that was opened by IPC it may be one that is known already.
	if (result == ZE_RESULT_SUCCESS && made != NULL &&
	    (of != 0 || ze_event_find(*made) == NULL))
		event_made(*made, pool, (of & POOL_TIMED) != 0, (of & POOL_COUNTS) != 0);
}

// ---- events that count: each signal of theirs is another, without a reset

typedef ze_result_t(ZE_APICALL *counter_create)(ze_context_handle_t, ze_device_handle_t,
                                                const void *, ze_event_handle_t *);

// Without a description they are as the driver likes, and without times.
static ze_result_t counter_made(counter_create create, ze_context_handle_t context,
                                ze_device_handle_t device, const struct counter_desc *desc,
                                ze_event_handle_t *made)
{
	const uint32_t ours = COUNTER_DEVICE_STAMPS | COUNTER_HOST_VISIBLE;
	ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
	bool known = desc != NULL && made != NULL && guest_thread_of(TARE_TRACE_LEVELZERO) != NULL;
	bool flagged = known && ze_may_change() &&
	               (desc->flags & (COUNTER_IPC | COUNTER_HOST_STAMPS)) == 0 &&
	               (desc->flags & ours) != ours;
	if (flagged) {
		struct counter_desc altered = *desc;
		altered.flags |= ours;
		result = create(context, device, &altered, made);
		flagged = result == ZE_RESULT_SUCCESS;
	}
	if (!flagged)
		result = create(context, device, desc, made);
	if (!known || result != ZE_RESULT_SUCCESS)
		return result;
	event_made(*made, NULL,
	           flagged ||
	               ((desc->flags & ours) == ours && (desc->flags & COUNTER_HOST_STAMPS) == 0),
	           true);
	if (flagged)
		ze_change(TARE_CHANGE_FLAG, *made, desc->flags, desc->flags | ours);
	return result;
}

ze_result_t ze_do_zeEventCounterBasedCreate(const struct ze_driver *driver,
                                            ze_context_handle_t context, ze_device_handle_t device,
                                            const void *desc, ze_event_handle_t *made)
{
	return counter_made(driver->call.zeEventCounterBasedCreate, context, device, desc, made);
}

ze_result_t ze_do_zexCounterBasedEventCreate2(const struct ze_driver *driver,
                                              ze_context_handle_t context,
                                              ze_device_handle_t device, const void *desc,
                                              ze_event_handle_t *made)
{
	return counter_made(driver->call.zexCounterBasedEventCreate2, context, device, desc, made);
}

// ---- what the program lets go of while a query of ours is still to read it: destroyed when that
// is done

struct deferred {
	void *spare;
	struct deferred *following;
	const struct ze_driver *driver;
	bool going;              // it is being destroyed just now, or never is
	ze_event_handle_t event; // NULL: the pool itself
	struct ze_event *known;
	ze_event_pool_handle_t pool;
	const struct ze_content *content;
};
static struct deferred *deferred; // with the lock
static guest_lock deferred_lock;
static struct ze_spares spare_deferred;
static _Atomic uint32_t deferred_count;

static bool defer(const struct deferred *what)
{
	struct deferred *entry = ze_take(&spare_deferred, sizeof *entry);
	if (entry == NULL)
		return false;
	*entry = *what;
	guest_hold(&deferred_lock);
	entry->following = deferred;
	deferred = entry;
	guest_let_go(&deferred_lock);
	atomic_fetch_add(&deferred_count, 1);
	return true;
}

// One whose time has come; NULL: none. It stays in the list until it is destroyed, for its pool is
// to go last.
static struct deferred *due(void)
{
	struct deferred *found = NULL;
	guest_hold(&deferred_lock);
	for (struct deferred *at = deferred; at != NULL && found == NULL; at = at->following) {
		bool held = at->going || (at->event != NULL && at->content->in_flight != 0);
		for (const struct deferred *other = deferred; at->event == NULL && other != NULL;
		     other = other->following)
			held = held || (other->event != NULL && other->pool == at->pool);
		if (!held)
			found = at;
	}
	if (found != NULL)
		found->going = true;
	guest_let_go(&deferred_lock);
	return found;
}

static void forget(struct deferred *gone)
{
	guest_hold(&deferred_lock);
	struct deferred **at = &deferred;
	while (*at != NULL && *at != gone)
		at = &(*at)->following;
	if (*at != NULL)
		*at = gone->following;
	guest_let_go(&deferred_lock);
	ze_give(&spare_deferred, gone);
	atomic_fetch_sub(&deferred_count, 1);
}

// Waits for who harvests to come back from the one question that it asks of the event. Nobody
// begins to ask once it has no handle.
static bool is_left_alone(struct ze_event *event)
{
	enum { TURNS = 100000 };
	int saved = errno;
	event->handle = NULL;
	for (int i = 0; i < TURNS && atomic_load(&event->asked) != 0; i++)
		sched_yield();
	errno = saved;
	return atomic_load(&event->asked) == 0;
}

void ze_event_let_go(struct ze_event *event)
{
	if (atomic_fetch_sub(&event->holders, 1) == 1)
		ze_give(&spares, event);
}

// Somebody may ask of it for ever: neither it nor its pool is ever destroyed.
static void keep_for_ever(const struct ze_driver *driver, ze_event_handle_t handle,
                          struct ze_event *event)
{
	event->handle = NULL;
	defer(&(struct deferred){ .driver = driver,
	                          .going = true,
	                          .event = handle,
	                          .known = event,
	                          .pool = event->pool });
}

static ze_result_t destroy(const struct ze_driver *driver, ze_event_handle_t handle,
                           struct ze_event *event)
{
	if (!is_left_alone(event)) {
		keep_for_ever(driver, handle, event);
		return ZE_RESULT_SUCCESS;
	}
	ze_event_let_go(event);
	return driver->call.zeEventDestroy(handle);
}

// One content less is in flight that it is of: the last destroys it.
static ze_result_t destroy_if_last(const struct ze_driver *driver, ze_event_handle_t handle,
                                   struct ze_event *event)
{
	return atomic_fetch_sub(&event->in_flight, 1) == 1 ? destroy(driver, handle, event)
	                                                   : ZE_RESULT_SUCCESS;
}

void ze_events_destroy_due(void)
{
	if (ZE_LIKELY(atomic_load_explicit(&deferred_count, memory_order_relaxed) == 0))
		return;
	for (struct deferred *entry; ze_may_call() && (entry = due()) != NULL;) {
		if (entry->event != NULL)
			destroy_if_last(entry->driver, entry->event, entry->known);
		else
			entry->driver->call.zeEventPoolDestroy(entry->pool);
		forget(entry);
	}
}

static bool has_deferred(ze_event_pool_handle_t pool)
{
	bool found = false;
	if (ZE_LIKELY(atomic_load_explicit(&deferred_count, memory_order_relaxed) == 0))
		return false;
	guest_hold(&deferred_lock);
	for (const struct deferred *entry = deferred; entry != NULL; entry = entry->following)
		found = found || (entry->event != NULL && entry->pool == pool);
	guest_let_go(&deferred_lock);
	return found;
}

ze_result_t ze_do_zeEventPoolDestroy(const struct ze_driver *driver, ze_event_pool_handle_t pool)
{
	guest_map_remove(pools, pool);
	if (has_deferred(pool) && defer(&(struct deferred){ .driver = driver, .pool = pool }))
		return ZE_RESULT_SUCCESS;
	return driver->call.zeEventPoolDestroy(pool);
}

struct going {
	struct deferred what;
	bool failed; // there was no memory
};

static void defer_behind(void *context, const struct ze_content *content)
{
	struct going *going = context;
	going->what.content = content;
	atomic_fetch_add(&going->what.known->in_flight, 1);
	going->failed = !defer(&going->what) || going->failed;
}

ze_result_t ze_do_zeEventDestroy(const struct ze_driver *driver, ze_event_handle_t handle)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_LEVELZERO);
	struct ze_event *event = thread != NULL ? ze_event_find(handle) : NULL;
	if (event == NULL)
		return driver->call.zeEventDestroy(handle);
	struct going going = {
		.what = { .driver = driver, .event = handle, .known = event, .pool = event->pool }
	};
	// This thread's part is one of them, so that nobody destroys it before all are known.
	atomic_store(&event->in_flight, 1);
	bool all = true;
	ze_event_before(thread, event);
	const struct ze_content *content =
	    event->list != NULL ? atomic_load_explicit(&event->content, memory_order_relaxed)
	                        : NULL;
	if (atomic_load(&event->nodes) > (content != NULL ? 1u : 0u))
		all = ze_nodes_before(thread, event, defer_behind, &going);
	else if (content != NULL && atomic_load(&content->in_flight) != 0)
		defer_behind(&going, content);
	guest_map_remove(events, handle);
	event->list = NULL;
	event->content = NULL;
	// Somebody may be about to ask a list of which it is not known whether that is in flight.
	if (!all || going.failed) {
		keep_for_ever(driver, handle, event);
		return ZE_RESULT_SUCCESS;
	}
	return destroy_if_last(driver, handle, event);
}

void ze_before_zeEventHostReset(struct guest_thread *thread, const struct ze_driver *driver,
                                ze_event_handle_t handle)
{
	struct ze_event *event = ze_event_find(handle);
	if (event == NULL)
		return;
	// It stays doubtful where what was to signal it may still do so behind the reset.
	atomic_store_explicit(&event->doubtful, false, memory_order_relaxed);
	ze_event_before(thread, event);
	atomic_store_explicit(&event->read, false, memory_order_relaxed);
	event->copied_list = NULL;
}

// What it says from here on is of no command.
void ze_before_zeEventHostSignal(struct guest_thread *thread, const struct ze_driver *driver,
                                 ze_event_handle_t handle)
{
	struct ze_event *event = ze_event_find(handle);
	if (event == NULL)
		return;
	ze_event_before(thread, event);
	event->doubtful = !event->counts;
}

// ---- the beginning

bool ze_events_begin(void)
{
	guest_lock_register(&spares.lock);
	guest_lock_register(&deferred_lock);
	guest_lock_register(&spare_deferred.lock);
	events = guest_map_new();
	pools = guest_map_new();
	return events != NULL && pools != NULL;
}
