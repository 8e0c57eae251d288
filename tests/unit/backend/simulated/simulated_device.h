// SPDX-License-Identifier: Apache-2.0
// What the tests of the simulated device share: a device from tests/data/NAME.tare-device, and
// calls that must succeed.
#pragma once
#include "backend/call.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct tare_backend tare_backend_simulated;

#define US INT64_C(1000)
#define LIMIT TARE_LIMIT_DEFAULT_NS
#define KB UINT64_C(1024)
#define MB (KB * KB)

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s", error.message);                                             \
	} while (0)

static inline void open_script(const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.tare-device", getenv("TARE_TEST_DATA"),
	         name ? name : "");
	must(tare_backend_simulated.driver_open(name ? path : NULL, &driver, &error));
	must(tare_backend_simulated.device_open(driver, 0, &device, &error));
}

static inline void close_script(void)
{
	tare_device_close(device);
	tare_backend_simulated.driver_close(driver);
}

static inline int open_exact(void **state)
{
	(void)state;
	open_script("exact");
	return 0;
}

static inline int close_any(void **state)
{
	(void)state;
	close_script();
	return 0;
}

static inline struct tare_queue *queue_of(enum tare_queue_order order)
{
	struct tare_queue *queue = NULL;
	struct tare_queue_options options = { .order = order, .timed = true };
	must(tare_queue_create(device, &options, &queue, &error));
	return queue;
}

static inline struct tare_memory *memory_of(enum tare_memory_kind kind, uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	must(tare_memory_create(device, kind, bytes, &memory, &error));
	return memory;
}

static inline struct tare_operation copy_of(struct tare_memory *from, uint64_t from_offset,
                                            struct tare_memory *to, uint64_t to_offset,
                                            uint64_t bytes)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = { from, from_offset, bytes },
		                        .destination = { to, to_offset, bytes } };
}

static inline int64_t now_ns(void)
{
	return tare_device_now(device).ns;
}

// Runs one operation by itself; returns the device's time, and the host's from append to finish.
static inline int64_t device_ns(struct tare_queue *queue, struct tare_operation operation,
                                int64_t *host_ns)
{
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	int64_t before = now_ns();
	must(tare_append(queue, &operation, &event, &error));
	must(tare_finish(queue, LIMIT, &error));
	if (host_ns)
		*host_ns = now_ns() - before;
	must(tare_event_stamps(event, &stamps, &error));
	tare_event_free(event);
	assert_int_equal(stamps.present, 15);
	assert_true(stamps.brackets_engine);
	return (int64_t)(stamps.at[TARE_STAMP_END].ticks - stamps.at[TARE_STAMP_START].ticks);
}

static inline void note_time(void *context)
{
	*(int64_t *)context = now_ns();
}

#define exact(test) cmocka_unit_test_setup_teardown(test, open_exact, close_any)
