// SPDX-License-Identifier: Apache-2.0
// Launches whose records are alike but for times and number, as nearly all are in a loop: what a
// record means is found out once.
#include "analysis/recording/internal.h"

#include <string.h>

// What four members say together.
static uint32_t rest_of(const struct tare_trace_command *c)
{
	uint32_t rest;

	_Static_assert(offsetof(struct tare_trace_command, queue) -
	                       offsetof(struct tare_trace_command, kind) ==
	                   sizeof rest,
	               "kind, direction, alignment and memory");
	memcpy(&rest, &c->kind, sizeof rest);
	return rest;
}

static struct load_alike *place_of(struct loading *l, const struct tare_trace_command *c)
{
	uint64_t hash = (c->object ^ c->amount << 20 ^ (uint64_t)c->queue << 40 ^ c->head) *
	                UINT64_C(0x9e3779b97f4a7c15);

	return &l->alike[hash >> 32 & (LOADING_RECENT - 1)];
}

uint32_t loading_add_alike(struct loading *l, const struct tare_trace_command *c, int64_t enter_ns,
                           int64_t exit_ns)
{
	const struct load_alike *as = place_of(l, c);

	if (as->head != c->head || as->object != c->object || as->amount != c->amount ||
	    as->queue != c->queue || as->rest != rest_of(c) || as->event != (c->event != 0) ||
	    as->from_ticks > c->enter)
		return TARE_NO_INDEX;
	return loading_add_like(l, as->like, as->untimed, enter_ns, exit_ns);
}

void loading_keep_alike(struct loading *l, const struct tare_trace_command *c, uint32_t index)
{
	const struct tare_packed_command *row = &l->recording->commands.rows[index];
	const struct load_object *kernel = l->last_object ? &l->objects[l->last_object - 1] : NULL;

	// Of a handle that has one object alone it is known what it means from then on.
	if (c->kind != TARE_KIND_KERNEL || row->like == TARE_PACKED_WHOLE || !kernel ||
	    kernel->kind != TARE_OBJECT_KERNEL || kernel->handle != c->object)
		return;
	*place_of(l, c) = (struct load_alike){ .head = c->head,
		                               .object = c->object,
		                               .amount = c->amount,
		                               .from_ticks = kernel->ticks,
		                               .queue = c->queue,
		                               .rest = rest_of(c),
		                               .like = row->like,
		                               .untimed = row->untimed,
		                               .event = c->event != 0 };
}
