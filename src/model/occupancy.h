// SPDX-License-Identifier: Apache-2.0
// How many groups of a kernel a compute unit of an NVIDIA GPU (a multiprocessor) holds at once, and
// what limits them: the CUDA C++ Programming Guide ("Occupancy Calculator", "Compute
// Capabilities"), whose sizes of allocation are those of NVIDIA's occupancy calculator.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// What there is; 0: not told.
struct tare_occupancy_unit {
	// 100 times the major number of the compute capability and the minor
	uint32_t capability;
	uint64_t items, groups;        // at most at once
	uint64_t registers;            // of 32 bits
	uint64_t local_bytes;          // local (shared) memory
	uint64_t group_registers;      // most of a group
	uint64_t group_reserved_bytes; // local memory that each group takes on top
};

// What a launch asks for.
struct tare_occupancy_group {
	uint64_t items;       // of a group
	uint64_t registers;   // of a work-item
	uint64_t local_bytes; // of a group, asked for at the launch and the kernel's own
};

enum tare_occupancy_limit {
	TARE_OCCUPANCY_ITEMS, // the unit is full
	TARE_OCCUPANCY_REGISTERS,
	TARE_OCCUPANCY_LOCAL,
	TARE_OCCUPANCY_GROUPS,
	TARE_OCCUPANCY_LIMITS
};

struct tare_occupancy {
	uint64_t groups;                    // at once; 0: not known, or the launch cannot run
	uint64_t by[TARE_OCCUPANCY_LIMITS]; // each limit alone; UINT64_MAX: none
	enum tare_occupancy_limit limit;    // the least, of equal ones the first
	double share;                       // of the warps that a unit holds, 0 to 1
};

// False, with groups 0: something is not told, or the compute capability is not known (before 5.0,
// after 12.x). Barriers with names are not counted: how many a kernel has is not told to tools.
bool tare_occupancy(const struct tare_occupancy_unit *unit,
                    const struct tare_occupancy_group *group, struct tare_occupancy *occupancy);
const char *tare_occupancy_limit_name(enum tare_occupancy_limit limit); // as in JSON
