// SPDX-License-Identifier: Apache-2.0
// libtare inside: a timer, and what it asks of an API. Names are prefixed for the static library.
#pragma once
#include "tare/time.h"

#include <pthread.h>
#include <stdbool.h>

// What a span's, or an event's, stamps say.
struct tare_time_stamps {
	bool counted; // in ticks of `rate`; else in nanoseconds
	bool has_floor;
	uint64_t floor, start, end; // ticks; floor: where the empty span before this one began
	struct tare_clock_rate rate;
	double floor_ns, span_ns, step_ns;
	bool engines; // span_ns is of `commands` commands alone
	uint32_t commands;
};

// Why something is not there; filled by done, stamps and their like when they return -ENODATA.
struct tare_time_why {
	enum tare_time_reason reason;
	long native;
	const char *sentence; // never freed
};

// An API: one queue of it is `queue`, spans are slots from 0 on. begin and end are called with the
// timer's lock held, as is stamps; done and the others by several threads at a time.
struct tare_time_api {
	// Puts the begin into the queue; with_floor: an empty span before it. Negative errno.
	int (*begin)(void *queue, uint32_t slot, bool with_floor, struct tare_time_error *error);
	int (*end)(void *queue, uint32_t slot, struct tare_time_error *error);
	// Sees to it that what was enqueued begins. May be NULL.
	void (*flush)(void *queue);
	// 1: finished, 0: not yet, -ENODATA.
	int (*done)(void *queue, uint32_t slot, struct tare_time_why *why);
	// 0; -EAGAIN: not finished after all; -ENODATA.
	int (*stamps)(void *queue, uint32_t slot, bool with_floor, struct tare_time_stamps *stamps,
	              struct tare_time_why *why);
	// -EINVAL where `event` cannot be one. May be NULL.
	int (*event_check)(const void *event, struct tare_time_error *error);
	int (*event_done)(void *queue, void *event, struct tare_time_why *why);
	int (*event_stamps)(void *queue, void *event, struct tare_time_stamps *stamps,
	                    struct tare_time_why *why);
	// Gives back what a finished or never begun slot holds. May be NULL.
	void (*release)(void *queue, uint32_t slot);
	void (*close)(void *queue);
	// The device's name, by its driver; lives with the queue. NULL: none.
	const char *(*device)(void *queue);
	// The host's clock in nanoseconds; NULL: CLOCK_MONOTONIC_RAW. And waiting on it.
	int64_t (*now_ns)(void *queue);
	void (*pause_ns)(void *queue, int64_t ns);
	// the device writes into what a slot holds: it must be done before it goes
	bool writes_later;
	bool executes_again; // so it may at any time after it was done once
};

enum tare_time_slot_state {
	TARE_TIME_FREE,
	TARE_TIME_BEGUN,
	TARE_TIME_ENDED,
	TARE_TIME_BROKEN,
	TARE_TIME_LEAVING
};

struct tare_time_slot {
	enum tare_time_slot_state state;
	uint32_t turn;    // of the span that has it; counts on with each
	unsigned waiting; // threads
	bool with_floor, floor_taken;
	int64_t before_ns, begun_ns, ended_ns;
	const void *thread;
	char name[64];
};

#define TARE_TIME_FLOORS 7
// Room for a device's name, as in struct tare_time_result.
#define TARE_TIME_DEVICE 64

struct tare_timer {
	const struct tare_time_api *api;
	void *queue;
	pthread_mutex_t lock;
	uint32_t count, next;
	unsigned events_waiting;
	uint32_t floor_count, floors_on_the_way;
	double floor_ns[TARE_TIME_FLOORS];
	char device[TARE_TIME_DEVICE];
	struct tare_time_slot slots[];
};

// Makes a timer of `spans` slots for a queue of an API; on success `queue` belongs to it.
int tare_time_make(struct tare_timer **timer, const struct tare_time_api *api, void *queue,
                   uint32_t spans, struct tare_time_error *error);
// What every opening begins with: *timer is NULL, and *spans what the options ask for. -EINVAL;
// -ENOTSUP: they ask for engines, which the API has not.
int tare_time_start(struct tare_timer **timer, const struct tare_time_options *options,
                    bool has_engines, uint32_t *spans, struct tare_time_error *error);

// Fills *error, which may be NULL, and returns -code.
int tare_time_fail(struct tare_time_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same for a vendor's call.
int tare_time_fail_native(struct tare_time_error *error, int code, const char *call, long native,
                          const char *what);
// Fills *why and returns -ENODATA.
int tare_time_absent(struct tare_time_why *why, enum tare_time_reason reason, long native,
                     const char *sentence);

// -EINVAL where `handle`, "command queue", does not point to memory; 0 where it does or that cannot
// be told.
int tare_time_check_handle(const void *handle, const char *what, struct tare_time_error *error);
// ... where it is no object of an OpenCL driver.
int tare_time_check_cl(const void *handle, const char *what, struct tare_time_error *error);

// A row for each function of a vendor's library.
struct tare_time_symbol {
	const char *name;
	size_t offset;
	bool optional;
};
// Finds functions in a library that the process has loaded already, by any of two names (the second
// may be NULL).
int tare_time_find(const char *soname, const char *other, const struct tare_time_symbol *symbols,
                   size_t count, void *functions, struct tare_time_error *error);

// The span that is known as this; NULL: none. With the lock held.
struct tare_time_slot *tare_time_slot_of(struct tare_timer *timer, struct tare_time_span span);
int64_t tare_time_now(const struct tare_timer *timer);

// Phases of this thread: a token for one that has begun, 0 for none.
void tare_time_phase_begin(const void *owner, uint32_t slot, uint32_t turn, const char *name);
void tare_time_phase_end(const void *owner, uint32_t slot, uint32_t turn);
// An address that only this thread has.
const void *tare_time_thread(void);

// An empty span is the gap between two marks; one around a command has one on each side of it.
#define TARE_TIME_GAPS 2

#define TARE_TIME_DURATION 32
// "1.204 ms": enough digits to tell figures apart, not more than a clock has. Returns text.
const char *tare_time_duration(char text[TARE_TIME_DURATION], int64_t ns);
