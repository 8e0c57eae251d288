// SPDX-License-Identifier: Apache-2.0
// The counters of a kernel on a device that does not reach the mapped file where it lies: memory of
// the device, which is added to the file when it can be read. When that is, and what is known of
// it, is here; what the memory is, and how it is read, is the API's (struct blocks_reader). How
// the twin was made does not matter: it takes a pointer to rows of counters of 64 bits, the sample
// behind them, as its last argument.
//
// Nothing waits for the device without an end. After a wait of the program's own, at most every
// BLOCKS_READ_EVERY_NS, memory is read beside the program, which goes on after 1 ms. At the
// end of a context or of the process all that was launched is waited for and read, for
// BLOCKS_LAST_READ_NS at most. What then is not known to have been read is told in row->unread.
#pragma once
#include "guest/blocks/files.h"
#include "guest/guest.h"

#define BLOCKS_READ_EVERY_NS UINT64_C(100000000)
// Most that is waited for memory to hold what it begins with.
#define BLOCKS_FIRST_NS UINT64_C(1000000000)
#define BLOCKS_LAST_READ_NS UINT64_C(2000000000)

// The counters of a row in the memory of one device, as a context has it.
struct blocks_far {
	struct blocks_far *following; // of all of them
	const struct blocks_reader *reader;
	_Atomic(const void *) context; // NULL: the memory is gone
	const void *device;
	struct blocks_kernel *row;
	const struct blocks_module *module;
	// the API's own: the memory (a cl_mem, an address), what reads it (a queue), and its event
	// of a read that is under way
	void *memory, *by, *event;
	int32_t code;        // where memory is NULL: what the driver said
	_Atomic bool listed; // a regular list of Level Zero may launch with it at any time
	uint64_t *counters;  // in the file
	// Beside the file: drivers pin memory that they write to, which a file's is no good for.
	uint64_t *copy;   // what is read; before anything is, what the memory begins with
	uint64_t *before; // what of it is in the file
	uint64_t bytes;   // of memory, copy and before
	bool samples;     // the row's sample is the one in here
	bool under_way;   // a read
	_Atomic uint32_t held;
	_Atomic uint64_t launched, last; // launches, and the number of the last one of all
	uint64_t told;                   // of the launches: row->unread has them no more
	uint64_t reading;                // what `told` is when the read under way is done
	uint64_t next_ns;                // not before
	_Atomic(const void *) used;      // the queue of the program's with the launches
	_Atomic bool many;               // there are several
};

// How an API reads. None of these may block.
struct blocks_reader {
	// Begins to read the memory into far->copy. False: it cannot be read.
	bool (*begin)(struct blocks_far *far);
	// 1: that is done. 0: not yet. Negative: it failed.
	int (*done)(struct blocks_far *far);
	// 1: all that the program had enqueued for this context when it was first asked with
	// `first` is done. 0: not yet. Negative: what can be known is done, and the rest cannot be
	// known. `exits`: other threads of the program may be using any handle.
	int (*idle)(const void *context, bool first, bool exits);
};

// Of two answers of idle() the one for both.
static inline int blocks_both_idle(int one, int other)
{
	return one == 0 || other == 0 ? 0 : one < other ? one : other;
}

// Room for the row's counters beside a device; NULL: *why says what there is none of. `copy` has
// what the memory is to begin with. It is the caller's until it is added.
struct blocks_far *blocks_far_new(struct blocks_kernel *row, const struct blocks_module *module,
                                  const void *context, const void *device, enum blocks_why *why);
// From now on it is read. Once the memory holds what it is to begin with; or where there is none,
// so that it is found and the driver is not asked again.
void blocks_far_add(struct blocks_far *far, const struct blocks_reader *reader);
struct blocks_far *blocks_far_find(const struct blocks_kernel *row, const void *context,
                                   const void *device);
// The first one, for walks.
struct blocks_far *blocks_far_first(void);

// A launch that counts in it was enqueued by the program.
void blocks_far_launched(struct blocks_far *far, const void *queue);
// A number for blocks_far_waited(), taken before a wait begins.
uint64_t blocks_far_now(void);
// The program has waited, `since`, for all that was in a queue; NULL: for something.
void blocks_far_waited(const void *queue, uint64_t since);
// Reads all of a context's for the last time; NULL: of every context. Whether all launches of the
// context's are known to be done.
bool blocks_far_last(const void *context);
// Its context goes: it is not found or read any more. False: a read is under way.
bool blocks_far_forget(struct blocks_far *far);

// ---- time

uint64_t blocks_now_ns(void); // CLOCK_MONOTONIC
// Sleeps a little; false: it is too late for that.
bool blocks_wait_until(uint64_t end_ns);

// ---- tests (BLOCKS_ENVIRONMENT_DEVICE)

bool blocks_test_far(void);
bool blocks_test_no_atomics(void);
bool blocks_test_no_spirv(void);
