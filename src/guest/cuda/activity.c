// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records: what the device did and when. CUPTI asks for buffers and gives them
// back from threads of its own; who harvests reads them.
#include "guest/cuda/cuda.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 1 << 20,
	MOST_BUFFERS = 64,
	FLUSH_MS = 100,
	MOST_EARLY = 1024,
	LOOK_NS = 20000, // whether another thread still reads
	LOOKS = 20000,   // at least 0.4 s
};

// A buffer, behind whose head the records are.
struct activity_buffer {
	struct activity_buffer *following;
	size_t valid;
	uint64_t padding[6];
	uint8_t records[BUFFER_BYTES];
};
_Static_assert(offsetof(struct activity_buffer, records) % 64 == 0, "");

// What is taken of a record.
struct activity {
	uint32_t correlation;
	uint64_t queued, submitted, start, end;
	uint64_t seen; // host ticks
	// of a graph: its id in the trace; 0: of none, or an old CUPTI does not say
	uint32_t node;
	bool of_host;                      // a copy from or to the host
	const struct cupti_kernel *kernel; // while its buffer is read
};

bool cuda_timed;
static bool nodes_told; // records have the graph's node that they are of
static struct activity_buffer *idle, *full;
static uint32_t made;
static guest_lock lock, harvesting; // the first for a few stores
static _Atomic(const struct guest_thread *) harvester;
static uint64_t flushed_ticks;
static _Atomic bool tracing;
// Activities of calls that have not returned yet.
static struct activity early[MOST_EARLY];
static uint32_t early_count;

// ---- buffers

static void requested(uint8_t **records, size_t *bytes, size_t *most_records)
{
	struct activity_buffer *buffer;
	bool more = false;
	guest_acquire(&lock);
	buffer = idle;
	if (buffer)
		idle = buffer->following;
	else
		more = made < MOST_BUFFERS;
	made += more;
	guest_release(&lock);
	if (more)
		buffer = guest_memory(sizeof *buffer);
	// none: CUPTI drops records, and those commands stay untimed
	*records = buffer ? buffer->records : NULL;
	*bytes = buffer ? sizeof buffer->records : 0;
	*most_records = 0;
}

static void completed(cu_context context, uint32_t stream, uint8_t *records, size_t bytes,
                      size_t valid)
{
	struct activity_buffer *buffer;
	(void)context, (void)stream, (void)bytes;
	if (!records)
		return;
	buffer =
	    (struct activity_buffer *)(void *)(records - offsetof(struct activity_buffer, records));
	guest_acquire(&lock);
	buffer->valid = valid;
	buffer->following = full;
	full = buffer;
	guest_release(&lock);
}

static struct activity_buffer *take_full(void)
{
	struct activity_buffer *buffer;
	guest_acquire(&lock);
	buffer = full;
	full = NULL;
	guest_release(&lock);
	return buffer;
}

static void give_back(struct activity_buffer *buffer)
{
	guest_acquire(&lock);
	buffer->following = idle;
	idle = buffer;
	guest_release(&lock);
}

// ---- what they say

static void write_times(struct guest_thread *thread, const struct cuda_pending *of,
                        const struct activity *activity)
{
	union tare_trace_record *record;
	uint64_t observed;
	uint8_t present = TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END;
	bool timed = activity->start && activity->end;
	present |= activity->queued ? TARE_TRACE_STAMP_QUEUED : 0;
	present |= activity->submitted ? TARE_TRACE_STAMP_SUBMITTED : 0;
	if (!timed && of->many)
		return;
	record = guest_event(thread);
	if (!record)
		return;
	// Not when the activity was read: the call may have ended since, and times come after their
	// command.
	observed = guest_ticks();
	if (timed) {
		bool node = of->many && activity->node;
		record->times =
		    (struct tare_trace_times){ .command_track = of->track,
			                       .command_number = of->number,
			                       .queued = activity->queued,
			                       .submitted = activity->submitted,
			                       .start = activity->start,
			                       .end = activity->end,
			                       .observed = observed,
			                       .execution = node ? activity->node : of->many };
		guest_commit(record,
		             tare_trace_head(TARE_TRACE_TIMES, present,
		                             node ? TARE_TIMES_OF_NODE : TARE_TIMES_OF_COMMAND,
		                             thread->track));
		return;
	}
	record->untimed = (struct tare_trace_untimed_record){ .command_track = of->track,
		                                              .command_number = of->number,
		                                              .observed = observed };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_UNTIMED, 0, TARE_UNTIMED_REFUSED, thread->track));
}

// False: no command of that correlation is known, or not yet.
static bool settle(struct guest_thread *thread, const struct activity *activity)
{
	struct cuda_pending of;
	bool first;
	if (!cuda_pending_find(activity->correlation, &of, &first))
		return false;
	if (activity->kernel && of.kernel && !of.many)
		cuda_kernel_tell(of.kernel, activity->kernel);
	if (CUDA_UNLIKELY(of.ends))
		cuda_ends_seen(thread, of.ends, activity->of_host);
	write_times(thread, &of, activity);
	return true;
}

// CUPTI says that records have their call only while calls are recorded, too. Of version 13 they
// have it anyway, and those records are the better part of what tracing costs.
static void ask_for_correlations(void)
{
	static _Atomic bool asked;
	if (!atomic_exchange(&asked, true))
		cuda_cupti.cuptiActivityEnable(ABI_CUPTI_KIND_DRIVER);
}

// Work of a call that is not recorded: reports say how often that was. It may be one that was not
// to be.
static void unknown(void)
{
	if (!guest_options.delay_ns && !guest_options.duration_ns)
		guest_count(&guest_header->passed_calls, 1);
}

static void settle_or_keep(struct guest_thread *thread, struct activity *activity)
{
	if (!activity->correlation) {
		ask_for_correlations();
		return;
	}
	if (settle(thread, activity))
		return;
	activity->kernel = NULL;
	if (early_count < MOST_EARLY)
		early[early_count++] = *activity;
	else
		unknown();
}

static bool read_record(const cupti_record *record, struct activity *activity)
{
	switch (record->kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL: {
		const struct cupti_kernel *kernel = (const void *)record;
		*activity = (struct activity){ .correlation = kernel->correlation,
			                       .start = kernel->start,
			                       .end = kernel->end,
			                       .kernel = kernel };
		return true;
	}
	case ABI_CUPTI_KIND_MEMCPY: {
		const struct cupti_memcpy *copy = (const void *)record;
		*activity = (struct activity){ .correlation = copy->correlation,
			                       .start = copy->start,
			                       .end = copy->end,
			                       .of_host = true };
		return true;
	}
	case ABI_CUPTI_KIND_MEMCPY_PEER: {
		const struct cupti_memcpy_peer *copy = (const void *)record;
		*activity = (struct activity){ .correlation = copy->correlation,
			                       .start = copy->start,
			                       .end = copy->end };
		return true;
	}
	case ABI_CUPTI_KIND_MEMSET: {
		const struct cupti_memset *fill = (const void *)record;
		*activity = (struct activity){ .correlation = fill->correlation,
			                       .start = fill->start,
			                       .end = fill->end };
		return true;
	}
	default:
		return false;
	}
}

static void read_buffer(struct guest_thread *thread, struct activity_buffer *buffer)
{
	cupti_record *record = NULL;
	uint64_t now = guest_ticks();
	while (buffer->valid && cuda_cupti.cuptiActivityGetNextRecord(
	                            buffer->records, buffer->valid, &record) == ABI_CUPTI_SUCCESS) {
		struct activity activity;
		if (record->kind == ABI_CUPTI_KIND_PAGES)
			cuda_pages_tell(thread, (const void *)record);
		if (record->kind == ABI_CUPTI_KIND_OVERHEAD)
			cuda_overhead_tell(thread, (const void *)record);
		if (record->kind == ABI_CUPTI_KIND_NVLINK)
			cuda_nvlink_tell(thread, (const void *)record);
		if (!read_record(record, &activity))
			continue;
		activity.seen = now;
		activity.node = nodes_told ? cuda_node_of(record) : 0;
		settle_or_keep(thread, &activity);
	}
}

// What came before its call's end comes again; after a second nothing is to come: the call is none
// that is recorded.
static void read_early(struct guest_thread *thread, bool last)
{
	uint64_t now = guest_ticks(), most = last ? 0 : guest_ticks_of_ns(1000000000);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < early_count; i++) {
		if (settle(thread, &early[i]))
			continue;
		if (now - early[i].seen < most)
			early[kept++] = early[i];
		else
			unknown();
	}
	early_count = kept;
}

// With the right to harvest.
static void read_all(struct guest_thread *thread)
{
	struct activity_buffer *buffer = take_full();
	read_early(thread, false);
	while (buffer) {
		struct activity_buffer *following = buffer->following;
		read_buffer(thread, buffer);
		give_back(buffer);
		buffer = following;
	}
}

// Only what is complete: a program that is killed has lost the last tenth of a second.
static void flush_if_due(void)
{
	uint64_t now = guest_ticks();
	if (now - flushed_ticks < guest_ticks_of_ns(FLUSH_MS * INT64_C(1000000)))
		return;
	flushed_ticks = now;
	cuda_cupti.cuptiActivityFlushAll(0);
}

static bool try_to_harvest(const struct guest_thread *thread)
{
	if (!guest_try(&harvesting))
		return false;
	atomic_store(&harvester, thread);
	return true;
}

static void end_harvest(void)
{
	atomic_store(&harvester, NULL);
	guest_release(&harvesting);
}

// What the helper has begun to read it reads to the end: what came since would stay unread.
// Nobody waits for himself (exit in a signal handler), nor for long.
static bool harvest_last(const struct guest_thread *thread)
{
	static const struct timespec moment = { .tv_nsec = LOOK_NS };
	for (int i = 0; i < LOOKS && atomic_load(&harvester) != thread; i++) {
		if (try_to_harvest(thread))
			return true;
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
	}
	return false;
}

void cuda_harvest(void)
{
	struct guest_thread *thread = tracing ? guest_thread() : NULL;
	if (!thread || !atomic_load(&guest_alive) || !try_to_harvest(thread))
		return;
	if (__atomic_load_n(&guest_header->pending, __ATOMIC_RELAXED) ||
	    atomic_load(&cuda_pages_told))
		flush_if_due();
	cuda_clock_pairs(thread, false);
	read_all(thread);
	end_harvest();
}

void cuda_flush_at_exit(void)
{
	// Not in the child of a fork, where asking for a thread begins a file.
	struct guest_thread *thread = tracing ? guest_thread() : NULL;
	uint32_t before;
	if (!thread || !atomic_load(&guest_alive))
		return;
	before = guest_aside_begin(thread, TARE_TRACE_CUDA);
	cuda_cupti.cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED);
	if (harvest_last(thread)) {
		cuda_clock_pairs(thread, true);
		read_all(thread);
		read_early(thread, true);
		end_harvest();
	}
	guest_aside_end(thread, before);
}

// ---- the beginning

// The device is the parent's, and so is CUPTI: the child must not ask it for anything.
void cuda_activity_in_child(void)
{
	tracing = cuda_timed = false;
}

static uint64_t on_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t timestamp(void)
{
	return on_clock(CLOCK_MONOTONIC_RAW);
}

// What CUPTI's own is, for a program that names none.
static uint64_t timestamp_unnamed(void)
{
	return on_clock(CLOCK_REALTIME);
}

static const cupti_kind kinds[] = {
	ABI_CUPTI_KIND_CONCURRENT_KERNEL, ABI_CUPTI_KIND_MEMCPY,   ABI_CUPTI_KIND_MEMSET,
	ABI_CUPTI_KIND_MEMCPY_PEER,       ABI_CUPTI_KIND_OVERHEAD, ABI_CUPTI_KIND_DRIVER
};
// older versions may not have the next; the last is asked for when it is needed
enum { NEEDED_KINDS = 3 };

bool cuda_activity_is_ours(void)
{
	return tracing;
}

static void tell_left(void)
{
	cuda_change(TARE_CHANGE_LEFT, NULL, 0, 0);
}

// All buffers have come back when this returns: none is handed to the program.
void cuda_activity_leave(void)
{
	struct guest_thread *thread = guest_thread();
	uint32_t before;
	if (!atomic_exchange(&tracing, false))
		return;
	cuda_timed = false;
	before = guest_aside_begin(thread, TARE_TRACE_CUDA);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		cuda_cupti.cuptiActivityDisable(kinds[i]);
	if (atomic_load(&cuda_pages_told))
		cuda_cupti.cuptiActivityDisable(ABI_CUPTI_KIND_PAGES);
	cuda_cupti.cuptiActivityDisable(ABI_CUPTI_KIND_NVLINK);
	cuda_cupti.cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED);
	guest_acquire(&harvesting);
	if (thread) {
		cuda_clock_pairs(thread, true);
		read_all(thread);
		read_early(thread, false);
	}
	guest_release(&harvesting);
	// One whose answers changed would not do: CUPTI interpolates between them.
	cuda_cupti.cuptiActivityRegisterTimestampCallback(timestamp_unnamed);
	tell_left();
	guest_aside_end(thread, before);
}

bool cuda_activity_begin(void)
{
	uint32_t version = 0;
	guest_lock_register(&lock);
	guest_lock_register(&harvesting);
	if (cuda_share_traces()) {
		tell_left();
		return false;
	}
	nodes_told = cuda_cupti.cuptiGetVersion(&version) == ABI_CUPTI_SUCCESS &&
	             version >= ABI_CUPTI_VERSION_GRAPH_NODE;
	if (cuda_cupti.cuptiActivityRegisterTimestampCallback(timestamp) != ABI_CUPTI_SUCCESS ||
	    cuda_cupti.cuptiActivityRegisterCallbacks(requested, completed) != ABI_CUPTI_SUCCESS)
		return false;
	for (size_t i = 0; i < NEEDED_KINDS; i++)
		if (cuda_cupti.cuptiActivityEnable(kinds[i]) != ABI_CUPTI_SUCCESS) {
			while (i-- > 0)
				cuda_cupti.cuptiActivityDisable(kinds[i]);
			return false;
		}
	cuda_cupti.cuptiActivityEnable(ABI_CUPTI_KIND_MEMCPY_PEER); // older ones may not have it
	cuda_loading_begin();
	tracing = true;
	return true;
}
