// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

struct cpu_allocation cpu_allocation_of(const void *at)
{
	(void)at;
	return (struct cpu_allocation){ .type = ZE_MEMORY_TYPE_UNKNOWN };
}

enum tare_place cpu_place_of(const void *at)
{
	(void)at;
	return TARE_PLACE_PAGEABLE;
}
