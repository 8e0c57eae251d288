// SPDX-License-Identifier: Apache-2.0
// Kernels and copies that fault: the device or the queue is lost, the program lives.
// docs/ze-cpu-kernels.md says what is promised.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

// Around the opening of the OpenCL device, which installs handlers of its own: the program's come
// back, and division by zero stays harmless in kernels.
void trap_before_opencl(void);
void trap_after_opencl(void);

// Blocks in this thread, and so in those that it starts, every signal but those that faults raise.
void trap_block_signals(sigset_t *before);
// Lets this thread, which is the program's, take the signals that faults raise, and leaves the
// others as they are: what it waits for must not keep the program from being interrupted.
void trap_let_faults_in(sigset_t *before);

// Around each launch. Puts our handler before the program's where it is not there.
void trap_launch_begins(void);
void trap_launch_ends(void);

// A kernel has faulted that its thread could not leave. Nothing runs on the OpenCL device from then
// on.
bool trap_happened(void);

// Does work(context), which touches the program's memory and holds no lock. False: there was no
// memory there, and the work ended in its middle. Not within one another. Any thread.
bool trap_guard(void (*work)(const void *context), const void *context);
// memmove, guarded so.
bool trap_copy(void *to, const void *from, size_t bytes);
