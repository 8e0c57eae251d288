// SPDX-License-Identifier: Apache-2.0
// What the files of the contract test share: the device under test, and short ways to use it.
#pragma once
#include "backend/backend.h"
#include "backend/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define LIMIT TARE_LIMIT_DEFAULT_NS

extern struct tare_driver *driver;
extern struct tare_device *device;
extern struct tare_error error;

// Fails with the error's sentence.
#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			print_error("%s\n", error.message);                                        \
			assert_true(!#call);                                                       \
		}                                                                                  \
	} while (0)

// Leaves a test that this device cannot take, with the last error as the reason. cmocka's own
// skip() writes "not ok", which every TAP reader counts as a failure.
#define skip_test()                                                                                \
	do {                                                                                       \
		printf("# SKIP %s: %s\n", __func__, error.message);                                \
		return;                                                                            \
	} while (0)

// The device said that it cannot: no failure, but nothing to test either.
bool cannot(int rc);
struct tare_queue *new_queue(bool timed);
// A memory of the kind, or NULL where the device has none.
struct tare_memory *new_memory(enum tare_memory_kind kind, uint64_t bytes);
struct tare_span span(struct tare_memory *memory, uint64_t offset, uint64_t bytes);
struct tare_operation copy(struct tare_span from, struct tare_span to);
// Appends the operation and finishes the queue; the error of either.
int run(struct tare_queue *queue, struct tare_operation operation);
// Byte i of the test pattern.
uint8_t pattern(uint64_t i, uint8_t seed);
// Writes the pattern into all of a memory, through pageable memory where the host may not touch it.
void put(struct tare_queue *queue, struct tare_memory *memory, uint8_t seed);
// The memory's bytes, to free().
uint8_t *get(struct tare_queue *queue, struct tare_memory *memory);

#define CONTRACT_MEMORY_TESTS(X)                                                                   \
	X(pageable_memory_is_reserved_but_not_resident)                                            \
	X(absurd_allocations_are_refused)                                                          \
	X(bytes_survive_a_copy_between_any_two_kinds)                                              \
	X(a_blocking_copy_is_done_when_it_returns)                                                 \
	X(rectangles_land_where_they_should)                                                       \
	X(fills_repeat_their_pattern)                                                              \
	X(mapped_memory_is_the_hosts_until_unmapped)                                               \
	X(images_keep_the_bytes)                                                                   \
	X(migration_keeps_the_bytes)

#define CONTRACT_QUEUE_TESTS(X)                                                                    \
	X(an_in_order_queue_keeps_the_order)                                                       \
	X(an_out_of_order_queue_finishes_all)                                                      \
	X(a_gate_holds_what_comes_after_it)                                                        \
	X(waits_give_up_at_their_limit)                                                            \
	X(opening_an_open_gate_is_nothing)                                                         \
	X(too_much_behind_a_gate_is_refused)                                                       \
	X(an_unfinished_operation_has_no_stamps_yet)                                               \
	X(freeing_a_shut_gate_opens_it)                                                            \
	X(an_operation_waits_for_events_of_other_queues)                                           \
	X(a_marker_is_done_when_what_it_waits_for_is)                                              \
	X(an_operation_may_wait_for_many_events)                                                   \
	X(events_may_be_freed_at_any_time)                                                         \
	X(a_callback_comes_once)                                                                   \
	X(a_host_call_takes_its_place_in_the_queue)                                                \
	X(what_follows_a_host_call_sees_what_it_did)                                               \
	X(native_waits_return)

#define CONTRACT_KERNEL_TESTS(X)                                                                   \
	X(parameters_are_told_or_said_to_be_unknown)                                               \
	X(the_vendors_product_is_right_or_says_what_is_missing)

#define CONTRACT_PEER_TESTS(X)                                                                     \
	X(a_copy_to_a_peer_arrives)                                                                \
	X(enabling_a_peer_again_is_no_error)

#define X(test) void test(void **state);
CONTRACT_PEER_TESTS(X)
CONTRACT_MEMORY_TESTS(X)
CONTRACT_QUEUE_TESTS(X)
CONTRACT_KERNEL_TESTS(X)
#undef X
