// SPDX-License-Identifier: Apache-2.0
// The end of the process while OpenCL's compiler works. exit() takes down what the compiler (LLVM)
// keeps for the whole process, and its threads would abort in the middle; so exit() waits until
// they are through, and what comes later compiles nothing. Kernels that run are not waited for.
#pragma once
#include <stdbool.h>

// Has exit() wait from now on. Called when OpenCL's library is there, and again when it has
// compiled: what it has made meanwhile goes down before an older handler is called.
void ending_watch(void);
// A launch is through: the first one has made the most.
void ending_launched(void);
// The calling thread uses the driver, and may be the one that calls exit().
void ending_watch_thread(void);
// The process ends: nothing is compiled any more.
bool ending_begun(void);

// Around a compilation that the calling thread does. False: the process ends, leave it; else
// ending_compiled has to follow. A thread that ends the process in a signal handler does not wait
// for itself.
bool ending_compiles(void);
void ending_compiled(void);
