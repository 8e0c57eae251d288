// SPDX-License-Identifier: Apache-2.0
// Queues and their runs, as the real layer's files share them.
#pragma once
#include "ze_cpu.h"

// The flags and the last advice that there are today, so that a newer program is not refused.
#define CPU_QUEUE_FLAGS UINT32_C(0x7)
#define CPU_LIST_FLAGS UINT32_C(0x3f)
#define CPU_LAST_ADVICE 9 // CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION

// A queue on an engine of the device. INVALID_ARGUMENT: there is no such engine.
ze_result_t cpu_queue_new(ze_device_handle_t device, const ze_command_queue_desc_t *description,
                          struct cpu_queue **queue);
// Gives it back. What is in it goes on for a while (see queue_main); it never blocks.
void cpu_queue_end(struct cpu_queue *queue);

// With work_lock, as a run is submitted: finds its points.
void cpu_run_bind(struct run *run);

// Makes a run of a command (NULL: of a fence alone), with references of its own to chain and
// fence. NULL: memory ran out. cpu_run_free: without work_lock.
struct run *cpu_run_new(const struct command *command, struct command_chain *chain,
                        struct _ze_fence_handle_t *fence);
void cpu_run_free(struct run *run);

// With work_lock: puts a chain of runs (by `next`) at the end of a queue. OUT_OF_HOST_MEMORY: it
// has no thread; the runs are still the caller's.
ze_result_t cpu_queue_submit(struct cpu_queue *queue, struct run *runs);
// With work_lock: waits for what was submitted so far, and tells the queue's failure once.
ze_result_t cpu_queue_wait(struct cpu_queue *queue, uint64_t timeout_ns);

// cpu_wait for what `queue` (may be NULL) does. Whatever is waited for, the waiting thread does
// short work itself that no thread has begun, so that none has to be woken; without a limit, and
// unscripted, all work of `queue`.
ze_result_t cpu_wait_for_queue(struct cpu_queue *queue, bool (*done)(void *context), void *context,
                               uint64_t timeout_ns);
// With work_lock, which it lets go meanwhile: does runs of the queue until done(context), on this
// thread; the short ones, or all (`whole`). False: there was none that it may do. The queue may be
// gone afterwards, where another thread destroyed it.
bool cpu_help(struct cpu_queue *queue, bool whole, bool (*done)(void *context), void *context);

// With work_lock: takes runs that are done off their queues.
void cpu_reap(void);
// With work_lock, which it lets go meanwhile: frees what was reaped, calls what waited for it.
void cpu_collect(void);
// With work_lock: the sequence of the oldest run that is not done; UINT64_MAX: none.
uint64_t cpu_oldest_run(void);
// With work_lock: whether the real layer is at work, or could be.
bool cpu_real_work(void);
// With work_lock: how many runs were ever submitted.
uint64_t cpu_last_sequence(void);
// With work_lock: the first of a queue's real FIFO is done. `failed`: it came to nothing.
void cpu_run_real(struct run *run, bool failed);
// With work_lock: drops everything that is in a queue.
void cpu_queue_drop(struct cpu_queue *queue);

// With work_lock: starts or wakes the thread that lets the model get on while nobody waits.
void cpu_pump_wake(void);

// With work_lock: sleeps until cpu_changed finds that done(context), or cpu_changed_for_all, or
// until `at_ns` of CLOCK_MONOTONIC (INT64_MAX: for ever). False: the time has come.
bool cpu_sleep_for(bool (*done)(void *context), void *context, int64_t at_ns);

// Runs closed lists on a queue; a fence (may be NULL) is signalled behind them. Without work_lock.
ze_result_t cpu_execute(struct cpu_queue *queue, uint32_t count, ze_command_list_handle_t *lists,
                        ze_fence_handle_t fence);

// What a detached thread of the driver's begins with; 0 or an errno.
int cpu_thread_start(void *(*main)(void *context), void *context);

// The clock that waits sleep by; stamps are by tare_host_now().
int64_t cpu_monotonic_ns(void);

// Appends to a regular list, or runs at once in an immediate one. The command is the list's then,
// also where it fails.
ze_result_t cpu_list_append(ze_command_list_handle_t list, struct command *command);
// With work_lock, once a command is appended: the event that it counts up stands for it.
void cpu_command_count(struct command *command);
// Whether lists can run on the queue: closed, regular and of its group.
ze_result_t cpu_check_lists(const struct cpu_queue *queue, uint32_t count,
                            ze_command_list_handle_t *lists);
// What all append entry points check of their events.
ze_result_t cpu_check_waits(ze_command_list_handle_t list, uint32_t count,
                            const ze_event_handle_t *waits);

void cpu_chain_release(struct command_chain *chain);
void cpu_fence_release(ze_fence_handle_t fence);

// An event, counting by flags or regular, of no pool. One that counts is signalled at first. With
// work_lock. NULL: memory ran out.
ze_event_handle_t cpu_event_new(ze_event_pool_flags_t flags, uint32_t counting);

// An event's stamp as the specification's result has it, and in nanoseconds of the host.
void cpu_stamp_ticks(const struct cpu_stamp *stamp, ze_kernel_timestamp_result_t *result);
void cpu_stamp_host_ns(const struct cpu_stamp *stamp, int64_t *start_ns, int64_t *end_ns);
