// SPDX-License-Identifier: Apache-2.0
// What the files of src/guest share. Nothing here is for the recorders of the APIs.
#pragma once
#include "guest/environment.h"
#include "guest/guest.h"

#include <signal.h>
#include <sys/types.h>

// ---- quiet: no signal handler of the program runs and no cancellation acts until it is left

struct guest_quiet {
	sigset_t signals;
	int cancel, error;
};
void guest_quiet_enter(struct guest_quiet *quiet);
void guest_quiet_leave(const struct guest_quiet *quiet); // restores errno too

// ---- the file (file/file.c). System calls are made raw: libc's own are cancellation points.

enum { GUEST_CHUNK_WINDOWS = 64, GUEST_CHUNKS = 16384, GUEST_FD = TARE_ENVIRONMENT_DESCRIPTOR };

struct guest_file {
	int fd;
	uint64_t device, inode; // of the file, to know the descriptor by
	uint64_t most_windows;  // by --max-size
	_Atomic uint64_t made;  // windows that were begun to be made
	_Atomic uint32_t full;  // enum tare_trace_stop: no window can be made any more
	_Atomic int error;      // errno of that
	_Atomic(char *) chunks[GUEST_CHUNKS];
	char path[sizeof((struct guest_options *)0)->directory + 160];
};
extern struct guest_file guest_file;

// Makes the file with its header page and maps that. Returns 0 or a negative errno.
int guest_file_create(struct tare_trace_header *header, const char *stem);
// Reserves and maps one more window. NULL: the file is full now, and guest_file.full says why.
struct tare_trace_window *guest_file_window(void);
// Has the pages of a window ready to be written to, without changing what is in them.
void guest_file_populate(struct tare_trace_window *window);
// The child of a fork lets go of its parent's file.
void guest_file_forget(void);

// ---- windows (file/window.c)

// A window, ready to be written after its head; claimed by a thread (or for definitions). NULL: no
// room. Only in the quiet.
struct tare_trace_window *guest_window_claim(const struct guest_thread *thread, bool definitions);
// A thread has filled it.
void guest_window_full(struct tare_trace_window *window);
// Makes windows ahead; by the helper. Returns when there are enough or no more can be had.
void guest_window_prepare(void);
// Makes `count` unpopulated ones ready, at the beginning.
void guest_window_begin(uint32_t count);
void guest_window_forget(void);
static inline union tare_trace_record *guest_window_first(struct tare_trace_window *window)
{
	return (union tare_trace_record *)window + 1;
}
static inline union tare_trace_record *guest_window_end(struct tare_trace_window *window)
{
	return (union tare_trace_record *)window +
	       TARE_TRACE_WINDOW_BYTES / TARE_TRACE_RECORD_BYTES;
}

// ---- threads (thread.c)

void guest_thread_begin(void); // makes the key that tells the end of a thread
void guest_thread_forget(void);
// Gives the calling thread a state. NULL: no memory.
struct guest_thread *guest_thread_attach(enum tare_trace_track_kind kind);
// The calling thread's state in the file that has begun. NULL: no memory.
struct guest_thread *guest_thread_here(void);
// Gives a thread that has none a window, if there is one.
void guest_thread_window(struct guest_thread *thread);
// An event whether events are wanted or not.
union tare_trace_record *guest_event_always(struct guest_thread *thread);
void guest_cpu_time_write(struct guest_thread *thread, uint64_t now);
// How many phases of a domain are open on a thread (phase/phase.c); a new thread has none.
struct guest_phase_open {
	const void *domain;
	int depth;
	struct guest_phase_open *following;
};

// ---- definitions (file/definition.c), by a thread; of none or of one of another process they are
// not written

void guest_define_forget(void);
void guest_define_begin(void);
// As guest_define and guest_string.
void guest_define_of(struct guest_thread *thread, const union tare_trace_record *record);
uint32_t guest_string_of(struct guest_thread *thread, const char *text, size_t bytes);
// Defines a call stack, the innermost frame first, and returns its id; 0 when there was no room.
uint32_t guest_stack_define(struct guest_thread *thread, const uint64_t *frames, uint32_t count);

// ---- modules (stack/module.c)

// Whether the C library can tell modules without a lock.
#include <dlfcn.h>
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#define GUEST_HAVE_FIND_OBJECT 1
#else
#define GUEST_HAVE_FIND_OBJECT 0
#endif

// Where a file with code lies in memory.
struct guest_module_place {
	uint64_t from, to; // addresses
	uint64_t bias;     // address in memory minus address in the file
	const char *name;  // the loader's; "": the program
};
// Once a process image. False: modules cannot be told here.
bool guest_modules_begin(void);
// False: the address is in no module.
bool guest_module_find(uint64_t address, struct guest_module_place *place);
// Defines the module that has the address unless it is defined.
void guest_module_know(uint64_t address);

// ---- life (life/)

enum guest_life {
	GUEST_UNBORN = 0,
	GUEST_FORKED = 1, // the child of a fork that has not begun its file
	GUEST_RECORDING = 2,
	GUEST_OVER = 3, // or it never could begin
};
extern _Atomic uint32_t guest_life;
// The APIs that were begun (api.c). Adds one; false: it is NULL or there already.
bool guest_api_add(const struct guest_api *api);
// Which they are, for a header.
void guest_api_tell(struct tare_trace_header *header);
// Harvests all of them on this thread (NULL: none), which is inside of no call, and counts their
// calls.
void guest_api_harvest(struct guest_thread *thread);
void guest_api_in_child(void);
void guest_describe_begin(void); // file/describe.c, once a process image
// Begins a file. `flags`: of its header; `from_ns`: CLOCK_MONOTONIC when that was wanted. With
// guest_begin_lock held, in the quiet. If it cannot, nothing is recorded.
void guest_begin_file(uint32_t flags, uint64_t from_ns);
extern guest_lock guest_begin_lock;
// In the child of a fork. Returns whether this process is recorded.
bool guest_begin_child(void);
void guest_options_read(void);
// Fills what is known of the machine and the process, and the name of its file.
void guest_identify(struct tare_trace_header *header, char *stem, size_t bytes);
void guest_end_register(void);
void guest_fork_register(void);
void guest_locks_forget(void);

// Decides whether the process's only thread does what the helper would. False: the helper is to
// start.
bool guest_lone_begin(void);
void guest_lone_forget(void);

// The helper thread. False: none could be started.
bool guest_helper_start(void);
void guest_helper_wake(void);
// How often it was woken, and its sleep of `ns` at most unless it was since `seen`.
uint32_t guest_helper_wakes(void);
void guest_helper_sleep(uint64_t ns, uint32_t seen);
void guest_helper_sleep_forget(void);
// Waits, but not for long, until the helper is outside of `harvest`.
void guest_helper_leave_harvest(void);
// Keeps it outside from now on, waiting as above if `wait`; as often resumed as held.
void guest_helper_hold(bool wait);
void guest_helper_resume(void);
void guest_helper_forget(void);
// What the helper samples now and then, and guest_end at last.
void guest_sample(struct guest_thread *thread, bool record);

// ---- time (clock.c, clock_pairs.c)

void guest_clock_begin(struct tare_trace_header *header);
// A reading of a clock (a clockid_t) between host ticks, the closest together of a few.
struct guest_clock_pair {
	uint64_t before, value, after;
};
struct guest_clock_pair guest_clock_tightest(int clock);
// Writes pairs of host ticks and the host's other clocks.
void guest_clock_pairs(struct guest_thread *thread);

uint64_t guest_ns(int clock); // a clockid_t
uint64_t guest_hz(void);
