// SPDX-License-Identifier: Apache-2.0
// Shared by the files of `bandwidth`; nobody else's business.
#pragma once
#include "measure/bandwidth/bandwidth.h"
#include "measure/core/bench.h"

// Bytes that a host buffer has beyond the largest size of those lines that copy at an offset.
#define BANDWIDTH_SLACK UINT64_C(8192)
#define BANDWIDTH_ROW_BYTES UINT64_C(4096)       // of a rectangle
#define BANDWIDTH_PIXEL_BYTES UINT64_C(4)        // of an image
#define BANDWIDTH_HUGE_BYTES (UINT64_C(2) << 20) // of a page
#define BANDWIDTH_NARROW_BYTES UINT64_C(256)
// From here on a copy is tried with a part of it: the whole lasts long.
#define BANDWIDTH_LARGE (UINT64_C(64) << 20)
#define BANDWIDTH_HAS(lines, line) ((lines) >> (line) & 1)

// Buffers that all lines and sizes share. A source holds the pattern and is never written again.
enum buffer {
	HEAP_SOURCE, // the pattern itself, also what is compared with
	HEAP_SINK,   // also where device memory is read back to
	HOST_SOURCE,
	HOST_SINK,
	DEVICE_SOURCE,
	DEVICE_SINK,
	SHARED_SOURCE,
	SHARED_SINK,
	BUFFER_COUNT
};

struct bandwidth {
	struct tare_run *run;
	struct tare_bench bench;
	uint64_t from_bytes, to_bytes; // as bounded
	uint64_t few_to_bytes;         // the same of the lines that answer a question of kind
	uint64_t lines;
	bool coarse;
	struct tare_module *module;
	struct tare_kernel *kernel; // copies; NULL: no_kernel says why
	char no_kernel[320];
	struct tare_memory *buffers[BUFFER_COUNT];
	char no_buffer[BUFFER_COUNT][320]; // why there is none
	uint64_t filled[BUFFER_COUNT];     // bytes from the start that hold what they should
	struct tare_random pattern;        // of what comes next in HEAP_SOURCE
};

// One measurement: a line at a size.
struct transfer {
	struct bandwidth *bandwidth;
	enum tare_line line;
	uint64_t bytes;
	// A copy, a rectangle or a launch; a launch has source and destination as well, for whoever
	// poisons and verifies.
	struct tare_operation operation;
	struct tare_argument arguments[3]; // of a launch
	enum buffer source, sink;
	uint64_t offset;           // of the host pointer
	uint32_t batch;            // copies in a device figure's sample
	bool apart;                // host and device figure come from copies of their own
	struct tare_memory *fresh; // this measurement's own; first touch: the newest destination
	uint32_t copies[2];        // both ways: in a sample, to the device and to the host
	size_t samples;            // taken
};

// ---- buffers.c
// Lowers bandwidth->to_bytes to what device and host can hold (a warning says so) and allocates
// every buffer that the lines need. -ENOMEM when not even the smallest size fits.
int bandwidth_open_buffers(struct bandwidth *bandwidth, struct tare_error *error);
// Fills the first `bytes` of a buffer, at most all of it, with the pattern (a source) or the poison
// (a sink of the host), where that was not done yet. -EINTR between two steps of it.
int bandwidth_fill(struct bandwidth *bandwidth, enum buffer buffer, uint64_t bytes,
                   struct tare_error *error);
// 0, or -EINTR once the user has interrupted the run.
int bandwidth_check_interrupt(const struct bandwidth *bandwidth, struct tare_error *error);
void bandwidth_close_buffers(struct bandwidth *bandwidth);
enum tare_memory_kind bandwidth_kind(enum buffer buffer);

// ---- verify.c
// Fills a destination with what the pattern never holds.
int bandwidth_poison(struct bandwidth *bandwidth, struct tare_span span, struct tare_error *error);
// Compares a destination with the pattern from `offset` on, whole. *verified: what came out.
int bandwidth_verify(struct bandwidth *bandwidth, struct tare_span span, uint64_t offset,
                     enum tare_verified *verified, struct tare_error *error);
bool bandwidth_equal(const struct bandwidth *bandwidth, const void *host, uint64_t offset,
                     uint64_t bytes);

// ---- transfers: each adds a measurement's figures and functions
void transfer_plan_copy(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_rectangle(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_first_touch(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_image(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_pages(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_both(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_map(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_host_memory(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_kernel(struct transfer *transfer, struct tare_measurement *measurement);
void transfer_plan_shared(struct transfer *transfer, struct tare_measurement *measurement);

// ---- what they share (transfer.c)
// Both figures, the line's own first.
void transfer_add_figures(struct transfer *transfer, struct tare_measurement *measurement,
                          const char *device_method, const char *host_method);
// Tries transfer->operation, or the beginning of a large copy, once with a limit on both queues,
// poisons its destination and finds how many of it a device sample needs.
int transfer_prepare(struct transfer *transfer, struct tare_measurement *measurement,
                     struct tare_error *error);
// Times transfer->operation on both clocks.
int transfer_sample(struct tare_measurement *measurement, int64_t *values,
                    struct tare_error *error);
// Compares the destination of transfer->operation with the pattern and frees transfer->fresh.
int transfer_end(struct tare_measurement *measurement, enum tare_verified *verified,
                 struct tare_error *error);
// Says in the device's figures that there are no stamps, where there are none.
void transfer_mark_unstamped(struct transfer *transfer, struct tare_measurement *measurement);
// Makes transfer->fresh: memory of this kind and the transfer's size, which holds the pattern if
// `filled`.
int transfer_make(struct transfer *transfer, enum tare_memory_kind kind, bool filled,
                  struct tare_error *error);
// The launch that copies, with transfer->arguments.
struct tare_operation transfer_launch(struct transfer *transfer, struct tare_span source,
                                      struct tare_span destination);
// Builds the kernel that copies, if a line needs it. -ENODEV, -ETIMEDOUT; else no_kernel tells.
int bandwidth_open_kernel(struct bandwidth *bandwidth, struct tare_error *error);
// Adds a figure labelled with `line` and the size. work: bytes of one sample's time.
struct tare_figure *transfer_figure(struct transfer *transfer, struct tare_measurement *measurement,
                                    enum tare_line line, const char *source, double work,
                                    const char *method);
// -ENOTSUP with the reason when a buffer is missing.
int transfer_need(const struct transfer *transfer, enum buffer buffer, struct tare_error *error);

// ---- after measuring
// The figure of a line at a size (the first such cell that is not absent), or NULL.
const struct tare_cell *bandwidth_cell(const struct tare_result *result, enum tare_line line,
                                       uint64_t bytes, const char *source);
// Decides whether mapping moves bytes; gives map cells their rates only if it does.
void bandwidth_judge_maps(struct bandwidth *bandwidth);
void bandwidth_add_fits(struct bandwidth *bandwidth);
void bandwidth_add_plots(struct bandwidth *bandwidth);
void bandwidth_add_advice(struct bandwidth *bandwidth);
