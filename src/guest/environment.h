// SPDX-License-Identifier: Apache-2.0
// What `tare record` says to the recorder inside the program, by environment variables that every
// child inherits.
#pragma once

// Absolute path of the trace directory, which exists. Not set or empty: nothing is recorded.
#define TARE_ENVIRONMENT_DIRECTORY "TARE_RECORD"

// Words joined by commas, those not known are ignored:
//   strict            change nothing in the program
//   keep=newest       use full windows again when the file is full (else: stop)
//   max=BYTES         of one process's file
//   delay=NS          record events only from so long after start
//   duration=NS       and for so long
//   start=NS          CLOCK_MONOTONIC_RAW when the program was started
//   stacks            record from where commands are issued
//   contents          hash what transfers between host and device carry
//   front             an OpenCL loader that knows layers was put in front (LD_PRELOAD)
//   times=sampled     device times of a random sample only, once they cost more than 5 %
//   times=none        no device times: no profiling is added, no event asked for
//   count             the same
//   no-cupti          CUDA is recorded by the front alone (src/guest/cuda/front)
//   event=NS          take events to cost so much, whatever was measured (for tests of
//   times=sampled)
#define TARE_ENVIRONMENT_OPTIONS "TARE_RECORD_OPTIONS"

#define TARE_ENVIRONMENT_NO_CUPTI "no-cupti"

// The descriptor from which on the libraries inside the program put theirs: out of the way of
// programs that count on low numbers. A process has room for 64 at first. Where it has threads the
// kernel waits some 10 ms (a grace period of RCU) before it goes over to a larger table.
#define TARE_ENVIRONMENT_DESCRIPTOR 56

// What `tare hotspots` counts: launches of each kernel and group of counters, then lines of the
// launches that the recording had and the kernel's symbol: "3[,replay]\n800 _Z4axpyv\n"; or, of
// kernels as they come, how many are counted in full: "1,open=10". Not set: nothing is counted.
#define TARE_ENVIRONMENT_COUNT "TARE_RECORD_COUNT"
// Of launches so many intervals of places, of all kernels together; more is refused whole.
#define TARE_ENVIRONMENT_MOST_PLACES 2048

// OPENCL_LAYERS as it was for the program, set where that lists more than the recorder: loaders
// write ends into the list as they read it, and what the process starts would inherit the first
// entry only.
#define TARE_ENVIRONMENT_LAYERS "TARE_RECORD_LAYERS"

// For the stubs that stand in the places of Level Zero drivers: the recorder's path, then those of
// the real drivers in the order of the stubs, joined by commas.
#define TARE_ENVIRONMENT_LEVELZERO "TARE_RECORD_LEVELZERO"
// For them, too: a library that replaces functions of a driver before the recorder does. Not set:
// there is none.
#define TARE_ENVIRONMENT_LEVELZERO_FIRST "TARE_RECORD_LEVELZERO_FIRST"
#define TARE_LEVELZERO_STUBS 8
