// SPDX-License-Identifier: Apache-2.0
// Shared by host_state.c and host_walk.c.
#pragma once
#include "analysis/core/id_map.h"
#include "analysis/ledger/host_state.h"
#include "analysis/recording/intervals.h"

// Time of a thread between two readings of its CPU clock.
struct host_interval {
	int64_t outside_ns; // not inside any call
	int64_t off_ns;     // of this, off the CPU; negative: not known
};

// What is not in the recording's arrays: calls that never returned, times when records were lost.
struct host_extra {
	int64_t enter_ns, exit_ns;
	uint32_t thread;
	enum tare_host_state state;
};

struct host_thread {
	int64_t first_ns;       // its first call; INT64_MAX: none, or not of the view
	int64_t gone_ns;        // end of its process
	uint32_t stand_in;      // whose state counts before first_ns; TARE_NO_INDEX
	uint32_t command, call; // the first of them
	size_t extra, extra_count;
	size_t interval; // the first; there is one more than samples
	size_t sample, sample_count;
};

struct ledger_hosts {
	const struct tare_recording *recording;
	struct host_thread *threads;
	// of the same thread: how many commands on; 0: none, HOST_FAR: `far` says
	uint16_t *next_command;
	struct tare_id_map far;
	uint32_t *next_call;
	struct host_extra *extras; // by thread, then enter_ns
	size_t extra_count;
	struct ledger_unfinished *unfinished;
	size_t unfinished_count;
	struct host_interval *intervals;
	struct tare_run_span *lost; // by process, then time; see host_lost.c
	size_t *lost_first;         // of each process, of all of the view, and the end
};

#define HOST_FAR UINT16_MAX
// The next command of a command's thread; TARE_NO_INDEX.
static inline uint32_t host_next_command(const struct ledger_hosts *hosts, uint32_t command)
{
	uint32_t on = hosts->next_command[command];
	if (on == HOST_FAR)
		return tare_id_map_find(&hosts->far, command);
	return on ? command + on : TARE_NO_INDEX;
}

// A call in progress.
struct host_open {
	int64_t exit_ns;
	enum tare_host_state state;
};

// Where a walk stands on one thread.
struct host_cursor {
	int64_t now_ns, until_ns; // nothing begins or ends between them
	// The next to begin, and when; INT64_MAX: none. Each is looked up once.
	uint32_t command, call;
	int64_t command_enter_ns, command_exit_ns, call_enter_ns, extra_enter_ns;
	enum tare_host_state command_state;
	size_t extra, interval;
	int64_t interval_end_ns; // INT64_MAX: it is the last
	int64_t outside_ns;      // since the interval began
	struct host_open *open;  // a heap: the first to return on top
	size_t open_count, open_capacity;
	uint32_t inside[TARE_HOST_STATES]; // of these, by state
	uint32_t inside_states;            // bits of those states in which one is
	// A row of polled calls: inside for `row_inside_ns` of its time, spread evenly.
	int64_t row_from_ns, row_to_ns, row_inside_ns;
	enum tare_host_state row_state;
	// not NULL: sums up the thread's intervals, off_ns being waits
	struct host_interval *measure;
	bool failed;
};

// Begins at the thread's first call.
void host_cursor_begin(const struct ledger_hosts *hosts, uint32_t thread,
                       struct host_cursor *cursor);
// Goes on to `to_ns` and adds the time to `states`; nothing when it stands there or beyond.
void host_cursor_go(const struct ledger_hosts *hosts, const struct host_thread *thread,
                    struct host_cursor *cursor, int64_t to_ns, int64_t states[TARE_HOST_STATES]);
// The same without the states: it leaps over calls that are alone.
void host_cursor_skip(const struct ledger_hosts *hosts, const struct host_thread *thread,
                      struct host_cursor *cursor, int64_t to_ns);

// ---- host_lost.c

// Finds when whole processes were not recorded. Returns 0 or -ENOMEM.
int host_lost_find(struct ledger_hosts *hosts, const struct tare_view *view);
// Whether a process (TARE_NO_INDEX: any of the view) was not recorded at a time, and until when
// that does not change.
bool host_lost_among(const struct ledger_hosts *hosts, size_t row, int64_t at_ns,
                     int64_t *until_ns);
static inline bool host_lost_at(const struct ledger_hosts *hosts, uint32_t process, int64_t at_ns,
                                int64_t *until_ns)
{
	size_t row =
	    process < hosts->recording->process_count ? process : hosts->recording->process_count;
	*until_ns = INT64_MAX;
	return hosts->lost_first[row] < hosts->lost_first[row + 1] &&
	       host_lost_among(hosts, row, at_ns, until_ns);
}

// n * part / whole rounded down; `part` at most `whole`.
int64_t host_share(int64_t n, int64_t part, int64_t whole);
