// SPDX-License-Identifier: Apache-2.0
// What the tests of the CUDA backend share: the stand-in's library (tests/fakes/fake_cuda.c), one
// driver and one device.
#pragma once
#include "backend/call.h"
#include "backend/cuda/internal.h"
#include "fake_cuda.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern struct tare_driver *driver;
extern struct tare_device *device;
extern struct tare_error error;
extern const struct tare_backend *cuda;
extern const struct tare_operation marker;

extern struct cuda_rig {
	int64_t (*event_ns)(cu_event event);
	void (*skip_ns)(int64_t ns);
	int (*objects)(void);
	int (*records)(void);
	int (*pending)(void);
} fake;

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			print_error("%s\n", error.message);                                        \
			fail_msg("%s", #call);                                                     \
		}                                                                                  \
	} while (0)

// Finds the stand-in, whose name TARE_CUDA_LIBRARY has to be. Use as the group's set-up.
int rig_setup(void **state);
int rig_teardown(void **state);
void close_all(void);
void assert_says(const char *words);
// Starts the library anew with a script; NULL: the plain H200.
void open_driver(const char *script);
void open_device(const char *script);
struct tare_queue *new_queue(bool timed);
struct tare_memory *new_memory(enum tare_memory_kind kind, uint64_t bytes);
struct tare_operation copy(struct tare_memory *from, struct tare_memory *to);
struct tare_operation launch(struct tare_kernel *kernel);
// A kernel `empty` or `store`.
struct tare_kernel *new_kernel(const char *name, struct tare_module **module);
// The last test of a file: those before it have freed all they made.
void nothing_is_left_behind(void **state);

#define rig_test(function) cmocka_unit_test_teardown(function, rig_teardown)
