// SPDX-License-Identifier: Apache-2.0
// Call stacks in the recorder's core: which are the same, and that their cost is measured where it
// arises.
#include "guest_trace.h"

#include "guest/stack/stack.h"
#include "tests/unit/skip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STACKS = 2000, UNKNOWN = 77 };

static uint64_t number;

// From as deep as it says: a stack for each depth, from one line.
static __attribute__((noinline)) void descend(struct guest_thread *thread, unsigned depth)
{
	if (depth)
		descend(thread, depth - 1);
	else
		guest_site(thread, 0, ++number, guest_stack());
	__asm__ volatile("" : : : "memory"); // no tail call
}

// So many stacks in turn.
static int find_stacks(void *argument)
{
	unsigned different = *(unsigned *)argument;
	struct guest_thread *thread;
	if (!guest_begin(&plain_api) || !(thread = guest_thread()))
		return 1;
	guest_stacks_begin(NULL);
	if (!guest_stacks)
		return UNKNOWN;
	guest_stacks_cost(1, 1); // nothing takes that little
	for (unsigned i = 0; i < STACKS; i++)
		descend(thread, i % different);
	return 0;
}

static int64_t cost_ps(unsigned different)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *r;
	struct guest_trace trace;
	size_t first = 0;
	int64_t cost;
	set_up(NULL);
	int status = run_recorded(folder, "stacks", find_stacks, &different);
	if (status == UNKNOWN << 8) {
		tear_down(NULL);
		return -1;
	}
	assert_int_equal(status, 0);
	trace = only_trace();
	assert_true(trace.header->flags & TARE_TRACE_CALL_STACKS);
	assert_int_equal(count_records(&trace, TARE_TRACE_SITE), STACKS);
	while ((r = next_record(&trace, &place)))
		first += tare_trace_type(r->head) == TARE_TRACE_STACK && r->stack.offset == 0;
	assert_int_equal(first, different);
	cost = trace.header->self_stack_cost_ps;
	unload(&trace);
	tear_down(NULL);
	return cost;
}

// Whatever was calibrated: what is told is what the program's own stacks took.
static void the_cost_is_that_of_the_stacks_there_were(void **state)
{
	(void)state;
#if !defined(__x86_64__)
	skip_because("stacks are walked on x86-64 only");
#endif
	int64_t again = cost_ps(1), walked = cost_ps(44);
	if (again < 0 || walked < 0)
		skip_because("what stacks cost could not be calibrated");
	printf("# %.0f ns known again, %.0f ns walked\n", (double)again / 1e3,
	       (double)walked / 1e3);
	assert_true(again > 10000);
	// Of so many each has its place taken before it comes again; then it is walked, frame by
	// frame.
	assert_true(walked > 3 * again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_is_that_of_the_stacks_there_were),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
