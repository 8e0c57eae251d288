// SPDX-License-Identifier: Apache-2.0
// Recordings made by hand or at random, for tests of what is computed from them.
#pragma once
#include "analysis/recording/recording.h"
#include "base/random.h"

enum { MADE_MOST = 4000, MADE_FEW = 64 };
#define MADE_NO_COMMAND 0x7fffffffu // a dependency that is no command's, or not seen

struct made {
	struct tare_recording recording;
	struct tare_recorded_process processes[MADE_FEW];
	struct tare_recorded_thread threads[MADE_FEW];
	struct tare_recorded_device devices[MADE_FEW];
	struct tare_recorded_queue queues[MADE_FEW];
	struct tare_recorded_kernel kernels[2];
	struct tare_recorded_function functions[TARE_ROLE_COUNT]; // one a role
	struct tare_recorded_command commands[MADE_MOST];
	struct tare_recorded_call calls[MADE_MOST];
	struct tare_recorded_wait waits[MADE_MOST];
	struct tare_recorded_loss losses[MADE_FEW];
	struct tare_cpu_sample samples[MADE_MOST];
};

// An empty run of [0, end_ns). Free with free().
struct made *made_new(int64_t end_ns);
uint32_t made_process(struct made *made, int64_t end_ns);
uint32_t made_thread(struct made *made, uint32_t process);
// same_as TARE_NO_INDEX: another device than all before.
uint32_t made_device(struct made *made, uint32_t process, uint32_t same_as, int64_t residual_ns);
uint32_t made_queue(struct made *made, uint32_t process, uint32_t device, bool out_of_order);
// Adds what is given as it is; arrays must end up in the order of enter_ns (made_sort).
uint32_t made_command(struct made *made, struct tare_recorded_command command);
void made_call(struct made *made, struct tare_recorded_call call);
// Lets the command that was added last wait for others.
void made_waits(struct made *made, const uint32_t *commands, size_t count);
// Adds a reading of the CPU clock to the thread that was added last.
void made_sample(struct made *made, int64_t at_ns, int64_t cpu_ns);
// Brings commands and calls into the order of enter_ns.
void made_sort(struct made *made);
// The same recording with threads, and events of the same moment, in another order. Free with
// free().
struct made *made_shuffled(const struct made *made, struct tare_random *random);

// A call of one role, a kernel or a transfer with times as told.
struct tare_recorded_call made_plain_call(uint32_t thread, uint8_t role, int64_t enter_ns,
                                          int64_t exit_ns);
struct tare_recorded_command made_plain_command(uint32_t thread, uint32_t queue, uint8_t kind,
                                                int64_t enter_ns, int64_t exit_ns,
                                                int64_t submitted_ns, int64_t start_ns,
                                                int64_t end_ns);
