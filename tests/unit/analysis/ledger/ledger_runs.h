// SPDX-License-Identifier: Apache-2.0
// Runs made by hand, each with one matter whose ledger can be read off.
#pragma once
#include "analysis/ledger/ledger.h"
#include "ledger_oracle.h"
#include "made_recording.h"

enum { K = TARE_KIND_KERNEL, W = TARE_KIND_WRITE, R = TARE_KIND_READ };

#define NOT_TOLD TARE_NO_TIME

struct part {
	enum tare_ledger_category category;
	int64_t ns;
};

// A run of 1000 ns with one process to its end, one thread, one device, one in-order queue.
static inline void simple(struct made *made)
{
	made->recording.end_ns = 1000;
	made_process(made, 1000);
	made_thread(made, 0);
	made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, 0, false);
}

// On a CPU all the time.
static inline void simple_busy(struct made *made)
{
	simple(made);
	made_sample(made, 0, 0);
	made_sample(made, 1000, 1000);
}

static inline void call(struct made *made, uint8_t role, int64_t enter_ns, int64_t exit_ns)
{
	made_call(made, made_plain_call(0, role, enter_ns, exit_ns));
}

static inline void command(struct made *made, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                           int64_t submitted_ns, int64_t start_ns, int64_t end_ns)
{
	made_command(made, made_plain_command(0, 0, kind, enter_ns, exit_ns, submitted_ns, start_ns,
	                                      end_ns));
}

static inline void blocking(struct made *made, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                            int64_t submitted_ns, int64_t start_ns, int64_t end_ns)
{
	command(made, kind, enter_ns, exit_ns, submitted_ns, start_ns, end_ns);
	made->commands[made->recording.command_count - 1].flags = TARE_COMMAND_BLOCKING;
}

static inline void nothing(struct made *made)
{
	made->recording.end_ns = 1000;
}

static inline void no_command(struct made *made)
{
	simple_busy(made);
	call(made, TARE_ROLE_START, 100, 300);
	made->processes[0].end_ns = 900;
}

// The example of docs/ledger.md.
static inline void example(struct made *made)
{
	simple(made);
	made->queues[0].out_of_order = true;
	made->devices[0].residual_ns = 5;
	made->processes[0].end_ns = 980;
	made_sample(made, 100, 20);
	made_sample(made, 300, 220);
	made_sample(made, 360, 220);
	made_sample(made, 480, 230);
	made_sample(made, 500, 250);
	made_sample(made, 800, 350);
	made_sample(made, 860, 390);
	made_sample(made, 980, 510);
	call(made, TARE_ROLE_BUILD, 100, 300);
	blocking(made, W, 360, 480, 380, 390, 460);
	command(made, K, 500, 510, 540, 560, 700);
	command(made, R, 515, 525, 545, 650, 760);
	call(made, TARE_ROLE_WAIT, 600, 800);
	command(made, K, 860, 870, 880, 900, 950);
}

static inline void one_kernel(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, 150, 200, 300);
}

static inline void no_length(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, 150, 200, 200);
	command(made, K, 160, 170, 180, 300, 400);
}

static inline void overlapping(struct made *made)
{
	simple_busy(made);
	made_queue(made, 0, 0, true);
	command(made, K, 0, 10, 20, 100, 300);
	command(made, K, 10, 20, 30, 200, 400);
	command(made, K, 20, 30, 40, 220, 230);
}

static inline void hidden(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 100, 300);
	command(made, W, 10, 20, 30, 50, 200);
	command(made, R, 20, 30, 40, 250, 500);
	command(made, W, 30, 40, 50, 400, 600);
}

static inline void local_copies(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_FILL, 0, 10, 20, 100, 300);
	command(made, TARE_KIND_COPY, 10, 20, 30, 300, 400);
	command(made, TARE_KIND_MARKER, 20, 30, 40, 400, 900);
	command(made, TARE_KIND_MAP, 30, 40, 50, 900, 950);
}

static inline void untimed(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	made_call(made, made_plain_call(0, TARE_ROLE_WAIT, 300, 500));
	made->calls[0].object = 0;
	command(made, K, 800, 820, NOT_TOLD, NOT_TOLD, NOT_TOLD);
}

static inline void untimed_until_a_later_start(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	command(made, K, 200, 220, 230, 600, 700);
}

static inline void user_event(struct made *made)
{
	static const uint32_t event[] = { MADE_NO_COMMAND };
	simple_busy(made);
	command(made, K, 0, 100, 200, 600, 700);
	made_waits(made, event, 1);
}

static inline void after_a_marker(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_MARKER, 0, 10, 20, 30, 400);
	command(made, K, 10, 20, 30, 600, 700);
}

// The marker that it waits for is complete at 200; it is submitted at 400.
static inline void held_after_waiting(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_MARKER, 0, 5, 10, 20, 200);
	command(made, K, 0, 10, 400, 500, 700);
}

static inline void submission_not_told(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 100, NOT_TOLD, 600, 700);
}

static inline void wake_up(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 20, 100);
	call(made, TARE_ROLE_WAIT, 10, 400);
	command(made, K, 400, 410, 420, 430, 1000);
}

static inline void nested(struct made *made)
{
	simple_busy(made);
	call(made, TARE_ROLE_CREATE, 0, 500);
	call(made, TARE_ROLE_BUILD, 100, 200);
	call(made, TARE_ROLE_ALLOCATE, 300, 400);
	call(made, TARE_ROLE_OTHER, 320, 330);
	command(made, K, 500, 500, 500, 500, 1000);
}

static inline void asleep(struct made *made)
{
	simple(made);
	made_sample(made, 0, 0);
	made_sample(made, 200, 200);
	made_sample(made, 700, 200);
	made_sample(made, 1000, 500);
	call(made, TARE_ROLE_OTHER, 0, 100);
	command(made, K, 800, 800, 800, 800, 1000);
}

static inline void cpu_not_known(struct made *made)
{
	simple(made);
	call(made, TARE_ROLE_OTHER, 0, 100);
	command(made, K, 800, 800, 800, 800, 1000);
}

static inline void cpu_of_the_process_only(struct made *made)
{
	cpu_not_known(made);
	made->processes[0].cpu_ns = 300;
}

static inline void records_lost(struct made *made)
{
	simple_busy(made);
	made->losses[0] = (struct tare_recorded_loss){ .thread = 0, .from_ns = 200, .to_ns = 600 };
	made->recording.loss_count = 1;
	call(made, TARE_ROLE_BUILD, 0, 300);
	command(made, K, 800, 800, 800, 800, 1000);
}

static inline void lose(struct made *made, int64_t from_ns, int64_t to_ns, enum tare_loss_why why)
{
	made->losses[made->recording.loss_count++] = (struct tare_recorded_loss){
		.thread = TARE_NO_INDEX,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.why = why,
	};
}

// A kernel runs on, and the last wait is known, when the file is full.
static inline void stopped(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 110, 120, 130, 500);
	call(made, TARE_ROLE_WAIT, 120, 300);
	lose(made, 300, 950, TARE_LOSS_STOPPED);
	made->processes[0].end_ns = 950;
}

// What could only end after the file was full is not recorded rather than untimed.
static inline void stopped_in_flight(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	lose(made, 300, 900, TARE_LOSS_STOPPED);
	lose(made, 400, 500, TARE_LOSS_STOPPED);
}

static inline void recycled(struct made *made)
{
	simple_busy(made);
	command(made, K, 600, 610, 620, 630, 700);
	lose(made, 200, 600, TARE_LOSS_RECYCLED);
}

static inline void delayed(struct made *made)
{
	simple_busy(made);
	lose(made, 50, 400, TARE_LOSS_INACTIVE);
	call(made, TARE_ROLE_BUILD, 450, 500);
	command(made, K, 500, 510, 520, 530, 700);
	lose(made, 800, 1000, TARE_LOSS_INACTIVE);
}

// It may have gone on, or not; that it made no call is known.
static inline void no_sign(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 30, 900);
	lose(made, 500, 980, TARE_LOSS_NO_SIGN);
	made->processes[0].end_ns = 500;
}

static inline void polling_row(struct made *made)
{
	struct tare_recorded_call row = made_plain_call(0, TARE_ROLE_POLL, 0, 400);
	simple_busy(made);
	row.count = 400;
	row.inside_ns = 100;
	made_call(made, row);
	command(made, K, 400, 400, 400, 400, 1000);
}

static inline void asking_row(struct made *made)
{
	polling_row(made);
	made->calls[0].role = TARE_ROLE_OTHER;
}

// Polls every 40 us, computes in between.
static inline void slow_polling(struct made *made)
{
	polling_row(made);
	made->calls[0].exit_ns = 400000;
	made->calls[0].count = 10;
	made->commands[0] = made_plain_command(0, 0, K, 400000, 400000, 400000, 400000, 500000);
	made->samples[1] = (struct tare_cpu_sample){ 500000, 500000 };
	made->processes[0].end_ns = made->recording.end_ns = 500000;
}

// Once in 10 us on average, and a little less often.
static inline void edge_of_polling(struct made *made)
{
	slow_polling(made);
	made->calls[0].count = 40;
}

static inline void edge_of_slow_polling(struct made *made)
{
	edge_of_polling(made);
	made->calls[0].exit_ns = 409000;
	made->commands[0] = made_plain_command(0, 0, K, 409000, 409000, 409000, 409000, 500000);
}

// The first thread builds, starts the second, which enqueues; who else but the first kept it?
static inline void worker(struct made *made)
{
	simple_busy(made);
	made_thread(made, 0);
	made_sample(made, 600, 0);
	made_sample(made, 1000, 400);
	call(made, TARE_ROLE_BUILD, 100, 500);
	made_command(made, made_plain_command(1, 0, K, 700, 710, 720, 730, 1000));
	made_call(made, made_plain_call(1, TARE_ROLE_OTHER, 650, 660));
}

static inline void hung(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 20, 300);
	made->threads[0].unfinished_function = TARE_ROLE_WAIT;
	made->threads[0].unfinished_since_ns = 100;
	made->processes[0].end_ns = 900;
}
