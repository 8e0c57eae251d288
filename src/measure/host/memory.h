// SPDX-License-Identifier: Apache-2.0
// How much of the host's memory this process may still take.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct tare_host_memory {
	bool known;     // false: neither the system nor a control group says
	uint64_t bytes; // free; 0: nothing is left
	bool by_group;  // a control group (a container) leaves less than the system has
};

// The smaller of MemAvailable and what the memory limits of this process's control groups leave,
// version 1 or 2, its own and those above it. Past the limit the kernel kills without a word.
// Reclaimable file pages of a group count as free. `root` stands before /proc and /sys ("": the
// machine's own).
struct tare_host_memory tare_host_memory_free(const char *root);
