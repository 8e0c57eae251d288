// SPDX-License-Identifier: Apache-2.0
// An API, or the first phase, begins the recording.
#include "guest/contents.h"
#include "guest/internal.h"

#include <time.h>

// There is one set of costs: those of one API are not told of another's calls, too.
static void forget_costs(void)
{
	if (guest_options.calibrated == TARE_TRACE_NO_API)
		return;
	guest_options.calibrated = TARE_TRACE_NO_API;
	guest_options.self_cost_ps = guest_options.self_untimed_cost_ps = 0;
	guest_options.self_call_cost_ps = guest_options.self_stack_cost_ps = 0;
	for (int i = 0; i < 2; i++)
		guest_options.self_low_ps[i] = guest_options.self_high_ps[i] = 0;
	guest_tell_self_cost(guest_header);
	__atomic_store_n(&guest_header->self_stack_cost_ps, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->driver_rounds, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&guest_header->execute_rounds, 0, __ATOMIC_RELEASE);
}

// Phases or another API have begun the recording: this one's commands are recorded from here on.
// What its library has registered for exit() since then runs before what we registered at first.
static void add_api(const struct guest_api *api)
{
	if (!guest_api_add(api))
		return;
	guest_api_tell(guest_header);
	forget_costs();
	guest_end_register();
}

bool guest_begin(const struct guest_api *api)
{
	struct guest_quiet quiet;
	uint64_t from_ns = guest_ns(CLOCK_MONOTONIC);
	guest_quiet_enter(&quiet);
	guest_acquire(&guest_begin_lock);
	if (atomic_load(&guest_life) == GUEST_UNBORN) {
		guest_api_add(api);
		guest_options_read();
		if (guest_options.directory[0]) {
			guest_describe_begin();
			guest_contents_begin();
			guest_fork_register();
			guest_end_register();
			guest_lock_register(&guest_begin_lock);
			atomic_fetch_add(&guest_process, 1);
			guest_begin_file(0, from_ns);
		} else {
			atomic_store(&guest_life, GUEST_OVER);
		}
	} else if (atomic_load(&guest_life) != GUEST_OVER) {
		add_api(api);
	}
	guest_release(&guest_begin_lock);
	guest_quiet_leave(&quiet);
	return atomic_load(&guest_life) == GUEST_RECORDING ||
	       atomic_load(&guest_life) == GUEST_FORKED;
}
