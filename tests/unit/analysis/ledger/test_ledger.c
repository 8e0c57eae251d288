// SPDX-License-Identifier: Apache-2.0
// Ledgers worked out by hand; docs/ledger.md has the rules.
#include "analysis/ledger/ledger.h"
#include "ledger_oracle.h"
#include "made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { K = TARE_KIND_KERNEL, W = TARE_KIND_WRITE, R = TARE_KIND_READ };
#define NOT_TOLD TARE_NO_TIME

struct part {
	enum tare_ledger_category category;
	int64_t ns;
};

// A run of 1000 ns with one process to its end, one thread, one device, one in-order queue.
static void simple(struct made *made)
{
	made->recording.end_ns = 1000;
	made_process(made, 1000);
	made_thread(made, 0);
	made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, 0, false);
}

// On a CPU all the time.
static void simple_busy(struct made *made)
{
	simple(made);
	made_sample(made, 0, 0);
	made_sample(made, 1000, 1000);
}

static void call(struct made *made, uint8_t role, int64_t enter_ns, int64_t exit_ns)
{
	made_call(made, made_plain_call(0, role, enter_ns, exit_ns));
}

static void command(struct made *made, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                    int64_t submitted_ns, int64_t start_ns, int64_t end_ns)
{
	made_command(made, made_plain_command(0, 0, kind, enter_ns, exit_ns, submitted_ns, start_ns,
	                                      end_ns));
}

static void blocking(struct made *made, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                     int64_t submitted_ns, int64_t start_ns, int64_t end_ns)
{
	command(made, kind, enter_ns, exit_ns, submitted_ns, start_ns, end_ns);
	made->commands[made->recording.command_count - 1].flags = TARE_COMMAND_BLOCKING;
}

// ---- cases

static void nothing(struct made *made)
{
	made->recording.end_ns = 1000;
}

static void no_command(struct made *made)
{
	simple_busy(made);
	call(made, TARE_ROLE_START, 100, 300);
	made->processes[0].end_ns = 900;
}

// The example of docs/ledger.md.
static void example(struct made *made)
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

static void one_kernel(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, 150, 200, 300);
}

static void no_length(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, 150, 200, 200);
	command(made, K, 160, 170, 180, 300, 400);
}

static void overlapping(struct made *made)
{
	simple_busy(made);
	made_queue(made, 0, 0, true);
	command(made, K, 0, 10, 20, 100, 300);
	command(made, K, 10, 20, 30, 200, 400);
	command(made, K, 20, 30, 40, 220, 230);
}

static void hidden(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 100, 300);
	command(made, W, 10, 20, 30, 50, 200);
	command(made, R, 20, 30, 40, 250, 500);
	command(made, W, 30, 40, 50, 400, 600);
}

static void local_copies(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_FILL, 0, 10, 20, 100, 300);
	command(made, TARE_KIND_COPY, 10, 20, 30, 300, 400);
	command(made, TARE_KIND_MARKER, 20, 30, 40, 400, 900);
	command(made, TARE_KIND_MAP, 30, 40, 50, 900, 950);
}

static void untimed(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	made_call(made, made_plain_call(0, TARE_ROLE_WAIT, 300, 500));
	made->calls[0].object = 0;
	command(made, K, 800, 820, NOT_TOLD, NOT_TOLD, NOT_TOLD);
}

static void untimed_until_a_later_start(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	command(made, K, 200, 220, 230, 600, 700);
}

static void user_event(struct made *made)
{
	static const uint32_t event[] = { MADE_NO_COMMAND };
	simple_busy(made);
	command(made, K, 0, 100, 200, 600, 700);
	made_waits(made, event, 1);
}

static void after_a_marker(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_MARKER, 0, 10, 20, 30, 400);
	command(made, K, 10, 20, 30, 600, 700);
}

// The marker that it waits for is complete at 200; it is submitted at 400.
static void held_after_waiting(struct made *made)
{
	simple_busy(made);
	command(made, TARE_KIND_MARKER, 0, 5, 10, 20, 200);
	command(made, K, 0, 10, 400, 500, 700);
}

static void submission_not_told(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 100, NOT_TOLD, 600, 700);
}

static void wake_up(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 20, 100);
	call(made, TARE_ROLE_WAIT, 10, 400);
	command(made, K, 400, 410, 420, 430, 1000);
}

static void nested(struct made *made)
{
	simple_busy(made);
	call(made, TARE_ROLE_CREATE, 0, 500);
	call(made, TARE_ROLE_BUILD, 100, 200);
	call(made, TARE_ROLE_ALLOCATE, 300, 400);
	call(made, TARE_ROLE_OTHER, 320, 330);
	command(made, K, 500, 500, 500, 500, 1000);
}

static void asleep(struct made *made)
{
	simple(made);
	made_sample(made, 0, 0);
	made_sample(made, 200, 200);
	made_sample(made, 700, 200);
	made_sample(made, 1000, 500);
	call(made, TARE_ROLE_OTHER, 0, 100);
	command(made, K, 800, 800, 800, 800, 1000);
}

static void cpu_not_known(struct made *made)
{
	simple(made);
	call(made, TARE_ROLE_OTHER, 0, 100);
	command(made, K, 800, 800, 800, 800, 1000);
}

static void cpu_of_the_process_only(struct made *made)
{
	cpu_not_known(made);
	made->processes[0].cpu_ns = 300;
}

static void records_lost(struct made *made)
{
	simple_busy(made);
	made->losses[0] = (struct tare_recorded_loss){ .thread = 0, .from_ns = 200, .to_ns = 600 };
	made->recording.loss_count = 1;
	call(made, TARE_ROLE_BUILD, 0, 300);
	command(made, K, 800, 800, 800, 800, 1000);
}

static void lose(struct made *made, int64_t from_ns, int64_t to_ns, enum tare_loss_why why)
{
	made->losses[made->recording.loss_count++] = (struct tare_recorded_loss){
		.thread = TARE_NO_INDEX,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.why = why,
	};
}

// A kernel runs on, and the last wait is known, when the file is full.
static void stopped(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 110, 120, 130, 500);
	call(made, TARE_ROLE_WAIT, 120, 300);
	lose(made, 300, 950, TARE_LOSS_STOPPED);
	made->processes[0].end_ns = 950;
}

// What could only end after the file was full is not recorded rather than untimed.
static void stopped_in_flight(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, NOT_TOLD, NOT_TOLD, NOT_TOLD);
	lose(made, 300, 900, TARE_LOSS_STOPPED);
	lose(made, 400, 500, TARE_LOSS_STOPPED);
}

static void recycled(struct made *made)
{
	simple_busy(made);
	command(made, K, 600, 610, 620, 630, 700);
	lose(made, 200, 600, TARE_LOSS_RECYCLED);
}

static void delayed(struct made *made)
{
	simple_busy(made);
	lose(made, 50, 400, TARE_LOSS_INACTIVE);
	call(made, TARE_ROLE_BUILD, 450, 500);
	command(made, K, 500, 510, 520, 530, 700);
	lose(made, 800, 1000, TARE_LOSS_INACTIVE);
}

// It may have gone on, or not; that it made no call is known.
static void no_sign(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 30, 900);
	lose(made, 500, 980, TARE_LOSS_NO_SIGN);
	made->processes[0].end_ns = 500;
}

static void polling_row(struct made *made)
{
	struct tare_recorded_call row = made_plain_call(0, TARE_ROLE_POLL, 0, 400);
	simple_busy(made);
	row.count = 400;
	row.inside_ns = 100;
	made_call(made, row);
	command(made, K, 400, 400, 400, 400, 1000);
}

static void asking_row(struct made *made)
{
	polling_row(made);
	made->calls[0].role = TARE_ROLE_OTHER;
}

// Polls every 40 us, computes in between.
static void slow_polling(struct made *made)
{
	polling_row(made);
	made->calls[0].exit_ns = 400000;
	made->calls[0].count = 10;
	made->commands[0] = made_plain_command(0, 0, K, 400000, 400000, 400000, 400000, 500000);
	made->samples[1] = (struct tare_cpu_sample){ 500000, 500000 };
	made->processes[0].end_ns = made->recording.end_ns = 500000;
}

// Once in 10 us on average, and a little less often.
static void edge_of_polling(struct made *made)
{
	slow_polling(made);
	made->calls[0].count = 40;
}

static void edge_of_slow_polling(struct made *made)
{
	edge_of_polling(made);
	made->calls[0].exit_ns = 409000;
	made->commands[0] = made_plain_command(0, 0, K, 409000, 409000, 409000, 409000, 500000);
}

// The first thread builds, starts the second, which enqueues; who else but the first kept it?
static void worker(struct made *made)
{
	simple_busy(made);
	made_thread(made, 0);
	made_sample(made, 600, 0);
	made_sample(made, 1000, 400);
	call(made, TARE_ROLE_BUILD, 100, 500);
	made_command(made, made_plain_command(1, 0, K, 700, 710, 720, 730, 1000));
	made_call(made, made_plain_call(1, TARE_ROLE_OTHER, 650, 660));
}

static void hung(struct made *made)
{
	simple_busy(made);
	command(made, K, 0, 10, 20, 20, 300);
	made->threads[0].unfinished_function = TARE_ROLE_WAIT;
	made->threads[0].unfinished_since_ns = 100;
	made->processes[0].end_ns = 900;
}

static const struct ledger_case {
	const char *name;
	void (*make)(struct made *);
	struct part parts[13];
	int64_t hidden_to_device_ns, hidden_from_device_ns;
} cases[] = {
	{ "nothing", nothing, { { TARE_LEDGER_BEFORE_FIRST, 1000 } }, 0, 0 },
	{ "no command",
	  no_command,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 200 },
	    { TARE_LEDGER_COMPUTING, 600 },
	    { TARE_LEDGER_ENDED, 100 } },
	  0,
	  0 },
	{ "example",
	  example,
	  { { TARE_LEDGER_KERNEL, 190 },
	    { TARE_LEDGER_TO_DEVICE, 70 },
	    { TARE_LEDGER_FROM_DEVICE, 60 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_BUILD, 200 },
	    { TARE_LEDGER_BLOCKING_COPY, 20 },
	    { TARE_LEDGER_WAIT, 40 },
	    { TARE_LEDGER_API, 40 },
	    { TARE_LEDGER_COMPUTING, 90 },
	    { TARE_LEDGER_OFF_CPU, 80 },
	    { TARE_LEDGER_HELD, 40 },
	    { TARE_LEDGER_DISPATCH, 50 },
	    { TARE_LEDGER_ENDED, 20 } },
	  0,
	  50 },
	{ "one kernel",
	  one_kernel,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 30 },
	    { TARE_LEDGER_DISPATCH, 50 },
	    { TARE_LEDGER_COMPUTING, 700 } },
	  0,
	  0 },
	{ "no length",
	  no_length,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 30 },
	    { TARE_LEDGER_DISPATCH, 150 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "overlapping",
	  overlapping,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 80 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "hidden",
	  hidden,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_TO_DEVICE, 150 },
	    { TARE_LEDGER_FROM_DEVICE, 100 },
	    { TARE_LEDGER_BOTH_WAYS, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 20 },
	    { TARE_LEDGER_COMPUTING, 400 } },
	  100,
	  50 },
	{ "local copies",
	  local_copies,
	  { { TARE_LEDGER_LOCAL, 300 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 80 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "untimed",
	  untimed,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 600 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "untimed until a later start",
	  untimed_until_a_later_start,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "user event",
	  user_event,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_DEPENDENCY, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "after a marker",
	  after_a_marker,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_DEPENDENCY, 380 },
	    { TARE_LEDGER_DISPATCH, 200 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "submission not told",
	  submission_not_told,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_DISPATCH, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "wake-up",
	  wake_up,
	  { { TARE_LEDGER_KERNEL, 650 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 20 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_WAIT, 300 } },
	  0,
	  0 },
	{ "nested",
	  nested,
	  { { TARE_LEDGER_KERNEL, 500 },
	    { TARE_LEDGER_API, 300 },
	    { TARE_LEDGER_BUILD, 100 },
	    { TARE_LEDGER_ALLOCATE, 100 } },
	  0,
	  0 },
	{ "asleep",
	  asleep,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_COMPUTING, 200 },
	    { TARE_LEDGER_OFF_CPU, 500 } },
	  0,
	  0 },
	{ "CPU not known",
	  cpu_not_known,
	  { { TARE_LEDGER_KERNEL, 200 }, { TARE_LEDGER_API, 100 }, { TARE_LEDGER_UNKNOWN, 700 } },
	  0,
	  0 },
	// 300 of 1000 ns on a CPU, of these 100 in the call: 200 of 900 outside, spread evenly.
	{ "CPU of the process only",
	  cpu_of_the_process_only,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_COMPUTING, 156 },
	    { TARE_LEDGER_OFF_CPU, 544 } },
	  0,
	  0 },
	{ "records lost",
	  records_lost,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_BUILD, 200 },
	    { TARE_LEDGER_NOT_RECORDED, 400 },
	    { TARE_LEDGER_COMPUTING, 200 } },
	  0,
	  0 },
	{ "stopped",
	  stopped,
	  { { TARE_LEDGER_KERNEL, 370 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_NOT_RECORDED, 450 },
	    { TARE_LEDGER_ENDED, 50 } },
	  0,
	  0 },
	{ "stopped in flight",
	  stopped_in_flight,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 300 },
	    { TARE_LEDGER_NOT_RECORDED, 600 } },
	  0,
	  0 },
	{ "recycled",
	  recycled,
	  { { TARE_LEDGER_KERNEL, 70 },
	    { TARE_LEDGER_BEFORE_FIRST, 200 },
	    { TARE_LEDGER_NOT_RECORDED, 400 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "delayed",
	  delayed,
	  { { TARE_LEDGER_KERNEL, 170 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_NOT_RECORDED, 550 },
	    { TARE_LEDGER_BUILD, 50 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_COMPUTING, 100 } },
	  0,
	  0 },
	{ "no sign of life",
	  no_sign,
	  { { TARE_LEDGER_KERNEL, 870 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_NOT_RECORDED, 80 },
	    { TARE_LEDGER_ENDED, 20 } },
	  0,
	  0 },
	{ "held after the last command",
	  held_after_waiting,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_DEPENDENCY, 190 },
	    { TARE_LEDGER_HELD, 200 },
	    { TARE_LEDGER_DISPATCH, 100 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "polling",
	  polling_row,
	  { { TARE_LEDGER_KERNEL, 600 }, { TARE_LEDGER_WAIT, 400 } },
	  0,
	  0 },
	{ "asking",
	  asking_row,
	  { { TARE_LEDGER_KERNEL, 600 }, { TARE_LEDGER_API, 100 }, { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "slow polling",
	  slow_polling,
	  { { TARE_LEDGER_KERNEL, 100000 },
	    { TARE_LEDGER_WAIT, 100 },
	    { TARE_LEDGER_COMPUTING, 399900 } },
	  0,
	  0 },
	{ "edge of polling",
	  edge_of_polling,
	  { { TARE_LEDGER_KERNEL, 100000 }, { TARE_LEDGER_WAIT, 400000 } },
	  0,
	  0 },
	{ "edge of slow polling",
	  edge_of_slow_polling,
	  { { TARE_LEDGER_KERNEL, 91000 },
	    { TARE_LEDGER_WAIT, 100 },
	    { TARE_LEDGER_COMPUTING, 408900 } },
	  0,
	  0 },
	{ "worker",
	  worker,
	  { { TARE_LEDGER_KERNEL, 270 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_BUILD, 400 },
	    { TARE_LEDGER_COMPUTING, 190 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 } },
	  0,
	  0 },
	{ "hung",
	  hung,
	  { { TARE_LEDGER_KERNEL, 280 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_WAIT, 600 },
	    { TARE_LEDGER_ENDED, 100 } },
	  0,
	  0 },
};

static struct tare_view whole(const struct made *made)
{
	return (struct tare_view){ 0, made->recording.end_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
}

static void compute(const struct made *made, struct tare_ledgers *ledgers)
{
	struct tare_view view = whole(made);
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, ledgers, NULL), 0);
}

static void check_case(const struct ledger_case *c)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	int64_t should_ns[TARE_LEDGER_CATEGORIES] = { 0 };
	c->make(made);
	made_sort(made);
	compute(made, &ledgers);
	for (size_t i = 0; i < sizeof c->parts / sizeof *c->parts; i++)
		should_ns[c->parts[i].category] += c->parts[i].ns;
	for (size_t i = 0; i < ledgers.count; i++) {
		for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
			if (ledgers.ledgers[i].parts_ns[k] != should_ns[k])
				fail_msg("%s: %s is %lld, not %lld", c->name,
				         tare_ledger_category_name(k),
				         (long long)ledgers.ledgers[i].parts_ns[k],
				         (long long)should_ns[k]);
		assert_int_equal(ledgers.ledgers[i].hidden_to_device_ns, c->hidden_to_device_ns);
		assert_int_equal(ledgers.ledgers[i].hidden_from_device_ns,
		                 c->hidden_from_device_ns);
	}
	tare_ledgers_free(&ledgers);
	struct tare_view view = whole(made);
	if (view.to_ns <= 4000)
		assert_ledgers_agree(made, &view);
	free(made);
}

static void cases_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(&cases[i]);
}

// ---- more than parts

static void matrix_and_ambiguous_time_of_the_example(void **state)
{
	static const struct {
		enum tare_host_state host;
		enum tare_device_state device;
		int64_t ns;
	} cells[] = {
		{ TARE_HOST_BEFORE_FIRST, TARE_DEVICE_IDLE, 100 },
		{ TARE_HOST_BUILD, TARE_DEVICE_IDLE, 200 },
		{ TARE_HOST_BLOCKING_COPY, TARE_DEVICE_TO_DEVICE, 70 },
		{ TARE_HOST_BLOCKING_COPY, TARE_DEVICE_IDLE, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_KERNEL, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_KERNEL_AND_TRANSFER, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_FROM_DEVICE, 60 },
		{ TARE_HOST_WAIT, TARE_DEVICE_IDLE, 40 },
		{ TARE_HOST_API, TARE_DEVICE_IDLE, 30 },
		{ TARE_HOST_COMPUTING, TARE_DEVICE_KERNEL, 90 },
		{ TARE_HOST_COMPUTING, TARE_DEVICE_IDLE, 160 },
		{ TARE_HOST_OFF_CPU, TARE_DEVICE_IDLE, 80 },
		{ TARE_HOST_GONE, TARE_DEVICE_IDLE, 20 },
	};
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	example(made);
	compute(made, &ledgers);
	const struct tare_ledger *ledger = &ledgers.ledgers[0];
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		assert_int_equal(ledger->matrix_ns[cells[i].host][cells[i].device], cells[i].ns);
	assert_int_equal(ledger->ambiguous_ns, 100);
	tare_ledgers_free(&ledgers);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_by_hand),
		cmocka_unit_test(matrix_and_ambiguous_time_of_the_example),
	};
	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
