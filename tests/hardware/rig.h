// SPDX-License-Identifier: Apache-2.0
// What the tests on a real device share: it is opened, or the whole program is skipped with the
// reason; figures are printed as they are seen, as TAP comments.
#pragma once
#include "backend/call.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	struct tare_driver *driver;
	struct tare_device *device;
	struct tare_error error;
	int count, failed;
};

// Opens device TARE_TEST_DEVICE (0) of CUDA; false after a skip.
static inline bool rig_open(struct rig *rig)
{
	const struct tare_backend *cuda = tare_backend_find("cuda");
	const char *index = getenv("TARE_TEST_DEVICE");
	int status = cuda->driver_open(NULL, &rig->driver, &rig->error);

	if (status == 0)
		status = cuda->device_open(rig->driver, index ? (uint32_t)atoi(index) : 0,
		                           &rig->device, &rig->error);
	if (status < 0) {
		printf("1..0 # SKIP %s\n", rig->error.message);
		cuda->driver_close(rig->driver);
	}
	return status == 0;
}

// The end of the program: its plan, or why there was nothing to check. Its exit status.
static inline int rig_close(struct rig *rig, const char *skipped)
{
	const struct tare_backend *cuda = rig->device->backend;
	tare_device_close(rig->device);
	cuda->driver_close(rig->driver);
	if (skipped)
		printf("1..0 # SKIP %s\n", skipped);
	else
		printf("1..%d\n", rig->count);
	return rig->failed > 0;
}

static inline void rig_check(struct rig *rig, bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++rig->count, what);
	rig->failed += !good;
}

// A call that must work, or the program ends.
#define rig_must(rig, call)                                                                        \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			printf("Bail out! %s: %s\n", #call, (rig)->error.message);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline struct tare_memory *rig_memory(struct rig *rig, enum tare_memory_kind kind,
                                             uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	rig_must(rig, tare_memory_create(rig->device, kind, bytes, &memory, &rig->error));
	return memory;
}

static inline struct tare_queue *rig_queue(struct rig *rig, bool timed)
{
	struct tare_queue *queue = NULL;
	rig_must(rig, tare_queue_create(rig->device, &(struct tare_queue_options){ .timed = timed },
	                                &queue, &rig->error));
	return queue;
}

static inline struct tare_operation rig_copy(struct tare_memory *from, struct tare_memory *to)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = { from, 0, from->bytes },
		                        .destination = { to, 0, to->bytes } };
}

// Nanoseconds: a tick of the backend's is one.
static inline int64_t rig_start(const struct tare_stamps *stamps)
{
	return (int64_t)stamps->at[TARE_STAMP_START].ticks;
}

static inline int64_t rig_end(const struct tare_stamps *stamps)
{
	return (int64_t)stamps->at[TARE_STAMP_END].ticks;
}

// ---- a kernel that tells its own time

// Each group of `spin` writes when it began and when it ended, `ns` later, by the device's own
// timer. `step` writes the smallest step that it sees of that timer.
static const char rig_ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry spin(.param .u64 out, .param .u64 ns)\n"
                              "{\n"
                              "	.reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<8>;\n"
                              "	mov.u64 %d1, %globaltimer;\n"
                              "	ld.param.u64 %d2, [out];\n"
                              "	ld.param.u64 %d3, [ns];\n"
                              "	cvta.to.global.u64 %d2, %d2;\n"
                              "	mov.u32 %r1, %ctaid.x;\n"
                              "	mul.wide.u32 %d4, %r1, 16;\n"
                              "	add.u64 %d2, %d2, %d4;\n"
                              "	add.u64 %d5, %d1, %d3;\n"
                              "AGAIN:\n"
                              "	mov.u64 %d6, %globaltimer;\n"
                              "	setp.lt.u64 %p1, %d6, %d5;\n"
                              "	@%p1 bra AGAIN;\n"
                              "	st.global.u64 [%d2], %d1;\n"
                              "	st.global.u64 [%d2+8], %d6;\n"
                              "	ret;\n"
                              "}\n"
                              ".visible .entry step(.param .u64 out, .param .u64 count)\n"
                              "{\n"
                              "	.reg .pred %p<3>; .reg .b64 %d<9>;\n"
                              "	ld.param.u64 %d1, [out];\n"
                              "	ld.param.u64 %d2, [count];\n"
                              "	cvta.to.global.u64 %d1, %d1;\n"
                              "	mov.u64 %d3, 0xffffffff;\n"
                              "	mov.u64 %d4, %globaltimer;\n"
                              "AGAIN:\n"
                              "	mov.u64 %d5, %globaltimer;\n"
                              "	sub.u64 %d6, %d5, %d4;\n"
                              "	setp.eq.u64 %p1, %d6, 0;\n"
                              "	@%p1 bra AGAIN;\n"
                              "	min.u64 %d3, %d3, %d6;\n"
                              "	mov.u64 %d4, %d5;\n"
                              "	sub.u64 %d2, %d2, 1;\n"
                              "	setp.gt.s64 %p2, %d2, 0;\n"
                              "	@%p2 bra AGAIN;\n"
                              "	st.global.u64 [%d1], %d3;\n"
                              "	ret;\n"
                              "}\n";

struct rig_kernel {
	struct tare_module *module;
	struct tare_kernel *spin, *step;
	uint64_t value;
	struct tare_argument arguments[2];
};

static inline void rig_kernel_open(struct rig *rig, struct rig_kernel *kernel)
{
	static const struct tare_module_source source = { .format = TARE_MODULE_PTX,
		                                          .data = rig_ptx,
		                                          .bytes = sizeof rig_ptx - 1,
		                                          .ends = true };
	rig_must(rig, tare_module_create(rig->device, &source, &kernel->module, NULL, &rig->error));
	rig_must(rig, tare_kernel_create(kernel->module, "spin", &kernel->spin, &rig->error));
	rig_must(rig, tare_kernel_create(kernel->module, "step", &kernel->step, &rig->error));
}

static inline void rig_kernel_close(struct rig_kernel *kernel)
{
	tare_kernel_free(kernel->spin);
	tare_kernel_free(kernel->step);
	tare_module_free(kernel->module);
}

// The launch of `which` with `value` as its second argument; valid until the next one is made.
static inline struct tare_operation rig_launch(struct rig_kernel *kernel, struct tare_kernel *which,
                                               struct tare_memory *out, uint32_t groups,
                                               uint64_t value)
{
	kernel->value = value;
	kernel->arguments[0] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY, .span = { out, 0, out->bytes } };
	kernel->arguments[1] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                                       .value = &kernel->value,
		                                       .bytes = 8 };
	return (struct tare_operation){ .type = TARE_OPERATION_LAUNCH,
		                        .launch = { .kernel = which,
		                                    .groups = { groups, 1, 1 },
		                                    .group_size = { 1, 1, 1 },
		                                    .arguments = kernel->arguments,
		                                    .argument_count = 2 } };
}
