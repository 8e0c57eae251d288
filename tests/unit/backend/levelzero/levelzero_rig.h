// SPDX-License-Identifier: Apache-2.0
// The Level Zero backend's first device, its own structures, and short ways to use it. The tests
// are skipped where there is none; on ze-cpu there always is one.
#pragma once
#include "backend/call.h"
#include "backend/levelzero/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define FEW_MS (20 * MS)
#define LIMIT TARE_LIMIT_DEFAULT_NS
#define BYTES 65536

static const struct tare_backend *levelzero;
static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;
static struct levelzero_functions real; // as the loader has them

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			print_error("%s\n", error.message);                                        \
			fail_msg("%s", #call);                                                     \
		}                                                                                  \
	} while (0)

// As in contract.h: cmocka's own skip() counts as a failure.
#define skip_test()                                                                                \
	do {                                                                                       \
		printf("# SKIP %s: %s\n", __func__, error.message);                                \
		return;                                                                            \
	} while (0)

static inline void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static inline struct levelzero_device *own(void)
{
	return (struct levelzero_device *)device;
}

// The backend's table of functions, to change; a test leaves it as it found it.
static inline struct levelzero_functions *calls(void)
{
	return &((struct levelzero_driver *)driver)->call;
}

static inline struct tare_queue *new_queue(enum tare_queue_order order, uint32_t engine, bool timed)
{
	const struct tare_queue_options options = { .engine = engine,
		                                    .order = order,
		                                    .timed = timed };
	struct tare_queue *queue = NULL;
	must(tare_queue_create(device, &options, &queue, &error));
	return queue;
}

// A queue that has done something.
static inline struct tare_queue *used_queue(enum tare_queue_order order, bool timed)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_queue *queue = new_queue(order, 0, timed);
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	return queue;
}

static inline struct tare_memory *new_memory(enum tare_memory_kind kind)
{
	struct tare_memory *memory = NULL;
	must(tare_memory_create(device, kind, BYTES, &memory, &error));
	return memory;
}

static inline struct tare_operation copy(struct tare_memory *from, uint64_t from_offset,
                                         struct tare_memory *to, uint64_t to_offset, uint64_t bytes)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = { from, from_offset, bytes },
		                        .destination = { to, to_offset, bytes } };
}

static inline uint8_t pattern(uint64_t i, uint8_t seed)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
}

static inline void put(struct tare_memory *memory, uint8_t seed)
{
	for (uint64_t i = 0; i < memory->bytes; i++)
		((uint8_t *)memory->host)[i] = pattern(i, seed);
}

// From byte `from` on it is the pattern, moved by `moved` bytes.
static inline void assert_pattern(const struct tare_memory *memory, uint64_t from, uint8_t seed,
                                  uint64_t moved)
{
	for (uint64_t i = from; i < memory->bytes; i++)
		if (((uint8_t *)memory->host)[i] != pattern(i - moved, seed))
			fail_msg("byte %d is wrong", (int)i);
}

// Moves the bytes of `a` one place on, by way of `b`, again and again: only in order does it work.
static inline void shift(struct tare_queue *queue, struct tare_memory *a, struct tare_memory *b,
                         int steps)
{
	struct tare_operation there = copy(a, 0, b, 1, BYTES - 1), back = copy(b, 0, a, 0, BYTES);

	for (int i = 0; i < steps; i++) {
		must(tare_append(queue, &there, NULL, &error));
		must(tare_append(queue, &back, NULL, &error));
	}
}

// Counts the barriers that are appended, where it stands in the table.
static int __attribute__((unused)) barriers;
static inline ze_result_t ZE_APICALL count_barrier(ze_command_list_handle_t list,
                                                   ze_event_handle_t signal, uint32_t count,
                                                   ze_event_handle_t *waits)
{
	barriers++;
	return real.zeCommandListAppendBarrier(list, signal, count, waits);
}

// How often events were made.
static inline int block_count(void)
{
	int count = 0;
	for (struct levelzero_block *block = own()->work->blocks; block; block = block->next)
		count++;
	return count;
}

static inline void free_all(struct tare_queue *queue, struct tare_memory *a, struct tare_memory *b)
{
	tare_queue_free(queue);
	tare_memory_free(a);
	tare_memory_free(b);
}

// Each test has a device of its own.
static inline int open_device(void **state)
{
	(void)state;
	return levelzero->device_open(driver, 0, &device, &error);
}

static inline int close_device(void **state)
{
	(void)state;
	*calls() = real;
	tare_device_close(device);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

// What main returns.
#define run_on_levelzero(tests)                                                                    \
	(open_levelzero() ? 0 : cmocka_run_group_tests(tests, NULL, close_levelzero))

static inline int open_levelzero(void)
{
	levelzero = tare_backend_find("levelzero");
	int rc = levelzero->driver_open(NULL, &driver, &error);
	if (rc < 0)
		printf("1..0 # SKIP %s\n", error.message);
	else
		real = *calls();
	return rc;
}

static inline int close_levelzero(void **state)
{
	(void)state;
	levelzero->driver_close(driver);
	return 0;
}
