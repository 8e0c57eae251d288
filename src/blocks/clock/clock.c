// SPDX-License-Identifier: Apache-2.0
#include "blocks/clock/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define LONGEST_RECORD 65536 // as its 16 bits of size allow
enum { PAGES = 32, WAIT_MS = 50 };

// One CPU's ring.
struct ring {
	int event;
	struct perf_event_mmap_page *head; // and the data behind it
};

struct tare_blocks_clock {
	struct ring *rings;
	size_t count, bytes; // of a ring's data
	struct tare_blocks_ticks ticks;
	pthread_t thread;
	_Atomic bool ends;
	char record[LONGEST_RECORD];
};

// ---- records

// What stands behind `header` in a record, as attributes() asks for it.
struct sample {
	uint64_t address;
	uint32_t process, thread;
	uint64_t at;
};
struct mapped {
	uint32_t process, thread;
	uint64_t from, bytes, offset;
	char path[];
};
// At the end of records that are no samples.
struct who {
	uint32_t process, thread;
	uint64_t at;
};

static void add_tick(struct tare_blocks_ticks *ticks, const struct sample *sample)
{
	if (ticks->count == ticks->room) {
		size_t room = ticks->room ? 2 * ticks->room : 4096;
		struct tare_blocks_tick *at = realloc(ticks->at, room * sizeof *at);
		if (!at) {
			ticks->failed = true;
			return;
		}
		ticks->at = at;
		ticks->room = room;
	}
	ticks->at[ticks->count++] = (struct tare_blocks_tick){ .at = sample->at,
		                                               .address = sample->address,
		                                               .process = sample->process };
}

static void add_mapping(struct tare_blocks_ticks *ticks, const struct mapped *mapped, uint64_t at)
{
	struct tare_blocks_mapping *mappings =
	    realloc(ticks->mappings, (ticks->mapping_count + 1) * sizeof *mappings);
	char *path = strdup(mapped->path);

	if (mappings)
		ticks->mappings = mappings;
	if (!mappings || !path) {
		ticks->failed = true;
		free(path);
		return;
	}
	mappings[ticks->mapping_count++] = (struct tare_blocks_mapping){ .at = at,
		                                                         .from = mapped->from,
		                                                         .bytes = mapped->bytes,
		                                                         .offset = mapped->offset,
		                                                         .process = mapped->process,
		                                                         .path = path };
}

static void take(struct tare_blocks_clock *clock, size_t bytes)
{
	const struct perf_event_header *header = (const void *)clock->record;
	const char *body = clock->record + sizeof *header;
	struct sample sample;
	struct who who;
	uint64_t lost[2];

	if (header->type == PERF_RECORD_SAMPLE && bytes >= sizeof *header + sizeof sample) {
		memcpy(&sample, body, sizeof sample);
		add_tick(&clock->ticks, &sample);
	} else if (header->type == PERF_RECORD_MMAP &&
	           bytes > sizeof *header + sizeof(struct mapped) + sizeof who) {
		memcpy(&who, clock->record + bytes - sizeof who, sizeof who);
		clock->record[bytes - sizeof who - 1] = '\0';
		add_mapping(&clock->ticks, (const void *)body, who.at);
	} else if (header->type == PERF_RECORD_LOST && bytes >= sizeof *header + sizeof lost) {
		memcpy(lost, body, sizeof lost);
		clock->ticks.lost += lost[1];
	}
}

// Part of a ring that may go over its end.
static void copy(const struct tare_blocks_clock *clock, const struct ring *ring, uint64_t from,
                 char *to, size_t bytes)
{
	const char *data = (const char *)ring->head + sysconf(_SC_PAGESIZE);
	size_t at = from % clock->bytes, first = clock->bytes - at;

	first = first < bytes ? first : bytes;
	memcpy(to, data + at, first);
	memcpy(to + first, data, bytes - first);
}

static void drain(struct tare_blocks_clock *clock, const struct ring *ring)
{
	uint64_t end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->head->data_tail;

	while (at + sizeof(struct perf_event_header) <= end) {
		struct perf_event_header header;
		copy(clock, ring, at, (char *)&header, sizeof header);
		if (header.size < sizeof header || at + header.size > end)
			break;
		copy(clock, ring, at, clock->record, header.size);
		take(clock, header.size);
		at += header.size;
	}
	__atomic_store_n(&ring->head->data_tail, end, __ATOMIC_RELEASE);
}

static void *drain_all(void *context)
{
	struct tare_blocks_clock *clock = context;

	for (bool last = false; !last;) {
		last = atomic_load(&clock->ends);
		for (size_t i = 0; i < clock->count; i++)
			drain(clock, &clock->rings[i]);
		if (!last)
			poll(NULL, 0, WAIT_MS);
	}
	return NULL;
}

// ---- events

static struct perf_event_attr attributes(void)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
		                         .size = sizeof(struct perf_event_attr),
		                         .config = PERF_COUNT_SW_TASK_CLOCK,
		                         .sample_period = TARE_BLOCKS_CLOCK_NS,
		                         .sample_type =
		                             PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		                         .disabled = 1,
		                         .inherit = 1,
		                         .exclude_kernel = 1,
		                         .exclude_hv = 1,
		                         .mmap = 1,
		                         .enable_on_exec = 1,
		                         .sample_id_all = 1 };
}

// -ENOBUFS: there is no room left that a user may have for rings.
static int open_ring(struct tare_blocks_clock *clock, int cpu, struct ring *ring)
{
	struct perf_event_attr attribute = attributes();
	size_t bytes = clock->bytes + (size_t)sysconf(_SC_PAGESIZE);

	ring->head = NULL;
	ring->event =
	    (int)syscall(SYS_perf_event_open, &attribute, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->event < 0)
		return -errno;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->event, 0);
	if (memory == MAP_FAILED)
		return errno == EPERM ? -ENOBUFS : -errno;
	ring->head = memory;
	return 0;
}

static void close_all(struct tare_blocks_clock *clock)
{
	for (size_t i = 0; i < clock->count; i++) {
		if (clock->rings[i].head)
			munmap(clock->rings[i].head, clock->bytes + (size_t)sysconf(_SC_PAGESIZE));
		if (clock->rings[i].event >= 0)
			close(clock->rings[i].event);
	}
	free(clock->rings);
}

// A sentence of what the system has against it.
static void refuse(int why, struct tare_error *error)
{
	FILE *file = fopen(PARANOID, "re");
	int level = -1;

	if (!file || fscanf(file, "%d", &level) != 1)
		level = -1;
	if (file)
		fclose(file);
	if ((why == EACCES || why == EPERM) && level > 2)
		tare_fail(error, why,
		          "the system lets nobody sample programs (" PARANOID
		          " is %d): sysctl kernel.perf_event_paranoid=2 allows it",
		          level);
	else if (why == EACCES || why == EPERM || why == ENOSYS)
		tare_fail(error, why,
		          "perf_event_open is not allowed here (%s), as in most containers: allow "
		          "it in the container's seccomp profile, or run outside",
		          strerror(why));
	else if (why == ENOBUFS)
		tare_fail(error, why,
		          "there is no room to sample into: kernel.perf_event_mlock_kb says how "
		          "much a user may have; raise it, or end others that sample");
	else
		tare_fail(error, why, "the clock cannot be sampled: %s", strerror(why));
}

static int open_all(struct tare_blocks_clock *clock)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int status = 0;

	clock->rings = calloc((size_t)cpus, sizeof *clock->rings);
	if (!clock->rings)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus && status == 0; cpu++) {
		status = open_ring(clock, cpu, &clock->rings[clock->count]);
		// A CPU that is off has no ring.
		if (status == -ENODEV)
			status = 0;
		else
			clock->count++;
	}
	return status;
}

bool tare_blocks_clock_is_allowed(struct tare_error *error)
{
	struct perf_event_attr attribute = attributes();
	int event = (int)syscall(SYS_perf_event_open, &attribute, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0) {
		refuse(errno, error);
		return false;
	}
	close(event);
	return true;
}

struct tare_blocks_clock *tare_blocks_clock_begin(struct tare_error *error)
{
	struct tare_blocks_clock *clock = calloc(1, sizeof *clock);
	sigset_t all, before;

	if (!clock) {
		tare_fail(error, ENOMEM, "out of memory");
		return NULL;
	}
	clock->bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	int status = open_all(clock);
	if (status < 0) {
		refuse(-status, error);
	} else {
		// Signals are for the thread that waits for the program.
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		status = -pthread_create(&clock->thread, NULL, drain_all, clock);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (status < 0)
			tare_fail(error, -status, "no thread for the clock: %s", strerror(-status));
	}
	if (status == 0)
		return clock;
	close_all(clock);
	free(clock);
	return NULL;
}

void tare_blocks_clock_end(struct tare_blocks_clock *clock, struct tare_blocks_ticks *ticks)
{
	atomic_store(&clock->ends, true);
	pthread_join(clock->thread, NULL);
	*ticks = clock->ticks;
	close_all(clock);
	free(clock);
}

void tare_blocks_ticks_free(struct tare_blocks_ticks *ticks)
{
	for (size_t i = 0; i < ticks->mapping_count; i++)
		free(ticks->mappings[i].path);
	free(ticks->mappings);
	free(ticks->at);
	*ticks = (struct tare_blocks_ticks){ .count = 0 };
}
