// SPDX-License-Identifier: Apache-2.0
// How long the device works, timed in your own program, on a queue, list or stream that it already
// has:
//
//	struct tare_timer *timer;
//	struct tare_time_span span;
//	struct tare_time_result result;
//	char line[TARE_TIME_LINE];
//
//	tare_time_open_opencl(&timer, queue, NULL, NULL);
//	tare_time_begin(timer, "solve", &span, NULL);
//	...                                              // enqueue one command or many
//	tare_time_end(timer, span, NULL);
//	tare_time_read(timer, span, 1000000000, &result, NULL);
//	tare_time_line(&result, line, sizeof line);      // "solve: 1.204 ms on the device, ..."
//	tare_time_close(timer, NULL);
//
// C99 and C++; link with libtare (pkg-config tare, or CMake's package tare). No device is opened
// and no vendor's library is loaded: the few calls that are made are looked up in the library that
// the program has loaded.
//
// Errors. Every function that returns int returns 0 or more, or a negative errno, and then fills
// *error, which may be NULL. A handle that points to no memory, in OpenCL to no driver's object, in
// Level Zero to no device that a driver lists, is refused. What else is not of the API that it is
// given to is the vendor's library's to judge.
//
// Threads. Any may use a timer at the same time, but for tare_time_close. A span is ended by the
// thread that began it. Calls of Level Zero's that append to one list must not run at the same
// time: keep begin, end and your own appends to a list under one lock of yours, as Level Zero asks
// for anyway.
//
// Waiting. Only tare_time_read and tare_time_event wait, each for its own span or event.
#ifndef TARE_TIME_H
#define TARE_TIME_H
#include <tare/clock.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARE_TIME_API __attribute__((visibility("default")))
#else
#define TARE_TIME_API
#endif

// The version of this header. While the first number is 0, the second one changes with the
// interface.
#define TARE_TIME_VERSION "0.2.0"
// The version of the library that the program runs with.
TARE_TIME_API const char *tare_time_version(void);

struct tare_timer;

// What went wrong.
struct tare_time_error {
	int code; // the negative errno that was returned
	// what the vendor's call returned; means something where `call` is not empty
	long native;
	char call[48];     // the vendor's call that failed
	char message[256]; // a sentence, without a full stop
};

struct tare_time_options {
	uint32_t spans; // as many can exist at a time; 0: 64. At most 4096
	// CUDA. 1: take the times of the span's commands themselves, which engines begin and end,
	// from CUPTI; 0: those of the marks around them. See tare_time_open_cuda
	uint32_t engines;
};

// ---- Opening. What a timer needs is made here: begin and end allocate nothing of tare's. *timer
// belongs to the caller until tare_time_close, and is NULL after an error. `options` may be NULL.
// -EINVAL: a handle is NULL or is refused by its library; -ENOENT: the program has not loaded the
// API's library; -ENOSYS: that lacks a function, or libtare was built without this API; -ENOMEM.

// queue: a cl_command_queue, which is retained. Without CL_QUEUE_PROFILING_ENABLE it has no device
// times, and each result says so. In-order queues get markers around a span; on out-of-order ones
// these are barriers, which keep commands on one side of them from running beside those on the
// other.
TARE_TIME_API int tare_time_open_opencl(struct tare_timer **timer, void *queue,
                                        const struct tare_time_options *options,
                                        struct tare_time_error *error);

enum tare_time_list {
	TARE_TIME_REGULAR,   // closed and executed by the program, once or often
	TARE_TIME_IMMEDIATE, // from zeCommandListCreateImmediate
};
// list: a ze_command_list_handle_t that was created with `context` and `device`; `kind` says how.
// Spans have barriers around them, which keep commands on one side from running beside those on the
// other. A span of a regular list is of the list's last finished execution; do not release it, and
// do not close the timer, while the list can still be executed.
TARE_TIME_API int tare_time_open_levelzero(struct tare_timer **timer, void *context, void *device,
                                           void *list, enum tare_time_list kind,
                                           const struct tare_time_options *options,
                                           struct tare_time_error *error);

// stream: a CUstream or cudaStream_t (NULL: the legacy default stream) of the context that is
// current on this thread, which must exist until the timer is closed. Times are differences of CUDA
// events, which have no ticks and steps of about half a microsecond.
//
// With `engines`, device_ns is from the first start to the last end of what engines did for the
// stream between begin and end, by CUPTI's activity records, and has no floor. CUPTI is then loaded
// (the program's own copy, or the toolkit's; TARE_CUPTI_LIBRARY names another), records all calls
// of the driver, and is held until the last such timer is closed: it has one user a process.
// -ENOENT: there is none; -EBUSY: another tool has it; -ENOTSUP: it refuses.
TARE_TIME_API int tare_time_open_cuda(struct tare_timer **timer, void *stream,
                                      const struct tare_time_options *options,
                                      struct tare_time_error *error);

// Gives back all that the timer made; its spans are gone. NULL is legal. -EBUSY, and the timer
// remains: a thread waits for a result, or (on an immediate list) a span has not ended or the
// device has still to write for it.
TARE_TIME_API int tare_time_close(struct tare_timer *timer, struct tare_time_error *error);

// ---- Spans
// What a span is known by; {0, 0} is none.
struct tare_time_span {
	uint32_t slot;
	uint32_t turn;
};

// A span begins here in the queue. Spans nest, overlap and repeat. `name` is copied (63 bytes at
// most) and may be NULL. Under `tare record` it is also a phase (tare/phase.h), of the thread's
// host time: begun here and ended with the span; where spans of a thread overlap without being
// nested, the outer phase ends with the inner one. -ENOSPC: as many spans as the timer holds exist,
// release some; -EBUSY: the CUDA stream is being captured; -EIO: the API refused, and error->native
// says with what. *span is then {0, 0}.
TARE_TIME_API int tare_time_begin(struct tare_timer *timer, const char *name,
                                  struct tare_time_span *span, struct tare_time_error *error);

// The span ends here. -ESTALE: there is no such span (any more), or it is of another timer;
// -EALREADY: it has ended; -EPERM: another thread began it, and it goes on; -EIO: the API refused,
// and the span has ended without a device time.
TARE_TIME_API int tare_time_end(struct tare_timer *timer, struct tare_time_span span,
                                struct tare_time_error *error);

// The span's place may be used again, at once or when the device is done with it. -ESTALE: there is
// no such span; -EBUSY: it has not ended, or a thread waits for its result.
TARE_TIME_API int tare_time_release(struct tare_timer *timer, struct tare_time_span span,
                                    struct tare_time_error *error);

// ---- Results
enum tare_time_state {
	TARE_TIME_OK,
	TARE_TIME_BELOW_FLOOR,   // device_ns cannot be told from that of an empty span
	TARE_TIME_NOT_READY,     // not finished within the limit
	TARE_TIME_NOT_AVAILABLE, // there is no device time; `reason` says why
};

enum tare_time_reason {
	TARE_TIME_NO_REASON,
	TARE_TIME_NO_PROFILING,   // the OpenCL queue was created without CL_QUEUE_PROFILING_ENABLE
	TARE_TIME_NO_STAMPS,      // the API has no times of this event, or left them empty
	TARE_TIME_COMMAND_FAILED, // the device, or the API, says that it failed: `native`
	TARE_TIME_DEVICE_LOST,    // the API says that the device is lost: `native`
	TARE_TIME_IMPOSSIBLE,   // the device's clock says what cannot be: more time than passed on
	                        // the host; of an event, an end before its start, or half of the
	                        // clock's period or more
	TARE_TIME_NOT_APPENDED, // its end could not be put into the queue
	TARE_TIME_NO_COMMAND,   // with `engines`: nothing ran between begin and end
};

// Between what device_ns lies.
enum tare_time_between {
	TARE_TIME_MARKS,   // marks before and after the work
	TARE_TIME_COMMAND, // one command's own stamps (tare_time_event)
	TARE_TIME_ENGINES, // the first start and the last end of the span's commands
};

struct tare_time_result {
	enum tare_time_state state;
	enum tare_time_reason reason;
	long native;          // the vendor's code, with COMMAND_FAILED and DEVICE_LOST
	const char *sentence; // why there is no time or none to rely on, else ""; never freed
	char name[64];
	char device[64]; // its name, by its driver; "": not known
	// between the stamps, on the device's clock; -1: none. Not less its floor
	int64_t device_ns;
	int64_t floor_ns; // what an empty span takes on this queue: the median of up to 7 that the
	                  // timer's first spans begin with; 0 for tare_time_event and with
	                  // `engines`; -1: not known
	int64_t uncertainty_ns; // the clock's step and twice the floor (the step alone where there
	                        // is none). The work between took device_ns, give or take a step,
	                        // less at most about twice the floor: an empty span is one gap
	                        // between marks, one around a command has a gap on each side of it
	int64_t host_ns; // from the return of begin to the call of end on the host's raw monotonic
	                 // clock: what enqueueing took, not the work; -1: none
	uint64_t start_ticks, end_ticks; // as the device wrote them; 0 on CUDA
	struct tare_clock_rate rate;     // of these ticks (tare/clock.h); all 0 on CUDA
	enum tare_time_between between;
	uint32_t commands; // ENGINES: so many ran; else 0
	int64_t period_ns; // after which the clock shows the same again, and modulo which device_ns
	                   // is; 0: none that matters
	int wraps_excluded; // 1: so little time has passed on the host that device_ns cannot be a
	                    // longer one less whole periods
};

// What is known of a span that has ended; waits for it until limit_ns have passed (0: does not
// wait, INT64_MAX: for ever), and asks OpenCL to flush the queue. Returns 0 with *result filled,
// whatever its state; -ESTALE: there is no such span; -EBUSY: it has not ended. May be asked again
// until the span is released.
TARE_TIME_API int tare_time_read(struct tare_timer *timer, struct tare_time_span span,
                                 int64_t limit_ns, struct tare_time_result *result,
                                 struct tare_time_error *error);

// One command's own times, exact for a kernel or a copy alone: no floor. event: a cl_event of a
// queue with profiling, or a ze_event_handle_t of a pool with ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
// and HOST_VISIBLE, which a command signals (what a pool without the first answers is for the
// driver to say). A CUDA event is a moment, so the result is NOT_AVAILABLE. As tare_time_read;
// -EINVAL: `event` is NULL.
TARE_TIME_API int tare_time_event(struct tare_timer *timer, const char *name, void *event,
                                  int64_t limit_ns, struct tare_time_result *result,
                                  struct tare_time_error *error);

// Room for tare_time_line.
#define TARE_TIME_LINE 384
// The result in one line without its end, cut to `size` bytes with the zero. Returns the length
// that all of it has.
TARE_TIME_API int tare_time_line(const struct tare_time_result *result, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
