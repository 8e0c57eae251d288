// SPDX-License-Identifier: Apache-2.0
// The rules about transfers and overlap: findings/internal.h says what they return.
#pragma once
#include "analysis/findings/internal.h"

// overlap.c: raises overlap-missed, single-queue, blocking-call
int finding_overlap(struct evaluation *evaluation, struct tare_error *error);
// breakers.c
int finding_pageable_memory(struct evaluation *evaluation, struct tare_error *error);
int finding_allocation_in_loop(struct evaluation *evaluation, struct tare_error *error);
int finding_build_in_loop(struct evaluation *evaluation, struct tare_error *error);
// stall.c: what calls of a role that may wait for the device, as CUDA's of memory and
// modules do, cost no more than: the working part beyond what its work takes at least. *most_ns is
// INFINITY where no such call was made.
int finding_stall_most_ns(const struct evaluation *evaluation, uint8_t role, double *most_ns);
// usual.c: of the idle gaps between two times what is more than twice the median of those before
// commands of the same effect. Returns 0 or -ENOMEM.
int finding_unusual_idle_ns(const struct evaluation *evaluation, int64_t from_ns, int64_t to_ns,
                            double *ns);
// managed.c
int finding_managed_memory(struct evaluation *evaluation, struct tare_error *error);
// transfers.c
int finding_transfers_dominate(struct evaluation *evaluation, struct tare_error *error);
int finding_unaligned_transfers(struct evaluation *evaluation, struct tare_error *error);
// small.c
int finding_small_transfers(struct evaluation *evaluation, struct tare_error *error);
// repeats.c: raises duplicate-transfers, ping-pong
int finding_repeats(struct evaluation *evaluation, struct tare_error *error);
// zero_copy.c; may take transfers-dominate back, behind which it comes
int finding_zero_copy(struct evaluation *evaluation, struct tare_error *error);

// The transfer table's row of a copy, for its ceilings; NULL. None where the memory is the host's:
// no bus is between, and the rate of a copy is that of a busy or an idle machine.
const struct tare_transfer_row *finding_row_of(const struct evaluation *evaluation,
                                               const struct tare_recorded_command *command);
// Ceilings are rates of large copies: what smaller ones lose against them may be their fixed cost.
enum { FINDING_FULL_RATE_BYTES = 4 << 20 };

// Whether it is such a copy of that kind, on that device (same_as).
static inline bool finding_is_copy_of(const struct evaluation *evaluation,
                                      const struct tare_recorded_command *c, uint8_t kind,
                                      uint32_t device)
{
	return c->kind == kind && finding_is_copy(evaluation, c) &&
	       tare_command_device(evaluation->recording, c) == device;
}
// Whether all devices have the host's memory (zero_copy.c).
bool finding_shares_memory(const struct tare_recording *recording);
// Asks for each device, to it and from it. Returns 0 or -ENOMEM.
int finding_each_way(struct evaluation *evaluation,
                     int (*evaluate)(struct evaluation *evaluation, uint8_t kind, uint32_t device));

// How long what is left out keeps a device busy alone: all that runs without what runs beside it.
// Spans come in the order of their beginnings; sums as tables_union's.
struct finding_unions {
	int64_t all_ns, all_to_ns, rest_ns, rest_to_ns;
};
static inline struct finding_unions finding_unions_begin(void)
{
	return (struct finding_unions){ 0, INT64_MIN, 0, INT64_MIN };
}
static inline void finding_unions_add(struct finding_unions *unions,
                                      const struct tare_recorded_command *c, bool left_out)
{
	int64_t from_ns = c->start_ns > unions->all_to_ns ? c->start_ns : unions->all_to_ns;
	if (c->end_ns > from_ns) {
		unions->all_ns = tables_add(unions->all_ns, c->end_ns - from_ns);
		unions->all_to_ns = c->end_ns;
	}
	from_ns = c->start_ns > unions->rest_to_ns ? c->start_ns : unions->rest_to_ns;
	if (!left_out && c->end_ns > from_ns) {
		unions->rest_ns = tables_add(unions->rest_ns, c->end_ns - from_ns);
		unions->rest_to_ns = c->end_ns;
	}
}
