// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy.h"

#include <stddef.h>

enum { WARP = 32, REGISTERS_AT_ONCE = 256 }; // registers are given to a warp in so many

// What differs between compute capabilities: from this one on.
struct generation {
	uint32_t from;
	uint32_t parts;      // a unit's registers are split among so many
	uint32_t local_step; // local memory is given in so many bytes
};

static const struct generation generations[] = {
	{ 500, 4, 256 }, { 600, 2, 256 }, { 601, 4, 256 }, { 800, 4, 128 }, { 1300, 0, 0 },
};

static const struct generation *generation_of(uint32_t capability)
{
	const struct generation *found = NULL;

	for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
		if (capability >= generations[i].from)
			found = &generations[i];
	return found && found->parts ? found : NULL;
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

static uint64_t by_registers(const struct tare_occupancy_unit *unit,
                             const struct tare_occupancy_group *group, uint64_t warps,
                             uint32_t parts)
{
	uint64_t of_warp = round_up(group->registers * WARP, REGISTERS_AT_ONCE);
	uint64_t most = unit->group_registers ? unit->group_registers : unit->registers;

	if (of_warp == 0)
		return UINT64_MAX;
	if (of_warp * warps > most || of_warp * warps > unit->registers)
		return 0;
	return unit->registers / parts / of_warp * parts / warps;
}

static uint64_t by_local(const struct tare_occupancy_unit *unit,
                         const struct tare_occupancy_group *group, uint32_t step)
{
	uint64_t bytes = round_up(group->local_bytes + unit->group_reserved_bytes, step);

	return bytes ? unit->local_bytes / bytes : UINT64_MAX;
}

bool tare_occupancy(const struct tare_occupancy_unit *unit,
                    const struct tare_occupancy_group *group, struct tare_occupancy *occupancy)
{
	const struct generation *generation = generation_of(unit->capability);
	// of anything: hostile traces do not make products run over
	const uint64_t most = UINT32_MAX;
	uint64_t warps = group->items / WARP + (group->items % WARP != 0),
	         room = unit->items / WARP;

	*occupancy = (struct tare_occupancy){ .groups = 0 };
	if (!generation || !room || !unit->groups || !unit->registers || !unit->local_bytes ||
	    !group->items || !group->registers || group->items > most || group->registers > most ||
	    group->local_bytes > most || unit->group_reserved_bytes > most ||
	    unit->registers > most)
		return false;
	occupancy->by[TARE_OCCUPANCY_ITEMS] = room / warps;
	occupancy->by[TARE_OCCUPANCY_REGISTERS] =
	    by_registers(unit, group, warps, generation->parts);
	occupancy->by[TARE_OCCUPANCY_LOCAL] = by_local(unit, group, generation->local_step);
	occupancy->by[TARE_OCCUPANCY_GROUPS] = unit->groups;
	for (unsigned i = 1; i < TARE_OCCUPANCY_LIMITS; i++)
		if (occupancy->by[i] < occupancy->by[occupancy->limit])
			occupancy->limit = i;
	occupancy->groups = occupancy->by[occupancy->limit];
	occupancy->share = (double)(occupancy->groups * warps) / (double)room;
	return occupancy->groups > 0;
}

const char *tare_occupancy_limit_name(enum tare_occupancy_limit limit)
{
	static const char *const names[] = { [TARE_OCCUPANCY_ITEMS] = "work_items",
		                             [TARE_OCCUPANCY_REGISTERS] = "registers",
		                             [TARE_OCCUPANCY_LOCAL] = "local_memory",
		                             [TARE_OCCUPANCY_GROUPS] = "groups" };

	return names[limit];
}
