// SPDX-License-Identifier: Apache-2.0
// Allocations: the table of all of them (memory.c), and the file that device memory lies in, which
// is what other processes can be given (memory_map.c).
#pragma once
#include "ze_cpu.h"

// A range of the file; handed out once, never reused. `generation` tells a fork's file from its
// parent's.
struct memory_range {
	uint64_t offset;
	size_t bytes; // whole pages; 0: not in the file
	unsigned generation;
};

struct memory_record {
	struct cpu_allocation is;
	ze_device_handle_t device; // NULL: host memory, or shared memory of no device
	size_t mapped_bytes;       // whole pages from is.base
	struct memory_range range;
	// the file once more, for zeMemGetIpcHandle; -1: never asked for
	int ipc;
	bool write_combined;
	bool imported; // by zeMemOpenIpcHandle
	bool virtual;  // mapped by zeVirtualMemMap
	bool freed;    // but still in use by what was submitted before
};

size_t memory_page(void);
// Up to whole pages; SIZE_MAX where that is more.
size_t memory_pages(size_t bytes);

// Adds a record; false without memory. Takes the one at that base out and returns it in *record;
// false: there is none.
bool memory_add(const struct memory_record *record);
bool memory_remove(const void *base, struct memory_record *record);
// The record that holds the address and is not freed.
bool memory_find(const void *at, struct memory_record *record);
// Changes the record at that base under the table's lock; false: there is none that is not freed.
bool memory_change(const void *base, void (*change)(struct memory_record *record, void *context),
                   void *context);
// Marks it freed, and lets go of it once nothing that was submitted uses it.
ze_result_t memory_free(const void *base, bool wait);

// Takes the locks of the table and of the file, around a fork, or lets them go.
void memory_hold(bool hold);
void memory_file_hold(bool hold);

// Reserves a range of the file; false: there is no such file here, or no memory.
bool memory_range_take(size_t bytes, struct memory_range *range);
// Opens the file once more, with a position of its own; -1: it cannot be.
int memory_range_open(const struct memory_range *range);
// The base of the memory whose record has this `ipc`; NULL: none has.
void *memory_exporter(int ipc);
void memory_range_release(const struct memory_range *range);
// Maps it at `at` (whatever is there), or anywhere for NULL. NULL: no memory.
void *memory_range_map(const struct memory_range *range, size_t from, size_t bytes, void *at);
