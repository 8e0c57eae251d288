// SPDX-License-Identifier: Apache-2.0
// The process's file of samples. Room is reserved before it is touched, so that a full disk is a
// number that is missing, not a signal.
#include "guest/environment.h"
#include "guest/samples/samples.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4200, INDEX = 2 * SAMPLES_RECORDS, CHUNK = 1 << 20 };

struct samples_file *samples_file;
static char folder[4000];
static int descriptor = -1;
static uint64_t reserved; // bytes of the file from `functions`, and from `records` on
static uint64_t reserved_records;
static uint32_t *places; // 1 + a record's place, by the hash of its function and its pc

uint64_t samples_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void path_of(char path[PATH_BYTES], uint64_t number, const char *suffix)
{
	snprintf(path, PATH_BYTES, "%s/%016llx%s", folder, (unsigned long long)number, suffix);
}

static bool map_file(void)
{
	char path[PATH_BYTES];

	path_of(path, (uint64_t)getpid(), SAMPLES_SUFFIX);
	int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (made < 0)
		return false;
	descriptor = fcntl(made, F_DUPFD_CLOEXEC, TARE_ENVIRONMENT_DESCRIPTOR);
	if (descriptor < 0)
		descriptor = made;
	else
		close(made);
	if (posix_fallocate(descriptor, 0, offsetof(struct samples_file, functions)) != 0)
		return false;
	void *memory =
	    mmap(NULL, sizeof *samples_file, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	void *index = mmap(NULL, INDEX * sizeof *places, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || index == MAP_FAILED)
		return false;
	places = index;
	samples_file = memory;
	return true;
}

bool samples_file_begin(void)
{
	const char *path = getenv(SAMPLES_ENVIRONMENT_FOLDER);
	size_t bytes = path ? strlen(path) : 0;

	if (bytes == 0 || bytes >= sizeof folder || path[0] != '/')
		return false;
	memcpy(folder, path, bytes + 1);
	if (!map_file())
		return false;
	samples_file->header.pid = (uint32_t)getpid();
	__atomic_store_n(&samples_file->header.magic, SAMPLES_MAGIC, __ATOMIC_RELEASE);
	return true;
}

void samples_file_forget(void)
{
	samples_file = NULL;
}

void samples_failed(enum samples_state state, int code, const char *where)
{
	struct samples_header *header = &samples_file->header;

	header->state = state;
	header->code = code;
	snprintf(header->where, sizeof header->where, "%s", where);
}

// Sees to it that the file has `bytes` of a part that begins at `from`.
static bool reserve(uint64_t *have, size_t from, uint64_t bytes)
{
	while (*have < bytes) {
		if (posix_fallocate(descriptor, (off_t)(from + *have), CHUNK) != 0)
			return false;
		*have += CHUNK;
	}
	return true;
}

// The place of a function, taken when it has none yet; SAMPLES_FUNCTIONS: no room.
static uint32_t function_of(uint64_t crc, uint32_t symbol, const char *name)
{
	static uint32_t latest;
	struct samples_header *header = &samples_file->header;
	struct samples_function *functions = samples_file->functions;
	uint32_t count = header->functions;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (latest + i) % count;
		if (functions[at].symbol == symbol && functions[at].crc == crc) {
			latest = at;
			return at;
		}
	}
	if (count == SAMPLES_FUNCTIONS ||
	    !reserve(&reserved, offsetof(struct samples_file, functions),
	             (count + 1) * sizeof *functions))
		return SAMPLES_FUNCTIONS;
	struct samples_function *made = &functions[count];
	name = name ? name : "";
	made->crc = crc;
	made->symbol = symbol;
	made->name_hash = samples_hash(name, &made->name_bytes);
	snprintf(made->name, sizeof made->name, "%s", name);
	__atomic_store_n(&header->functions, count + 1, __ATOMIC_RELEASE);
	latest = count;
	return count;
}

// NULL: there is no room.
static struct samples_record *record_of(uint32_t function, uint64_t pc)
{
	struct samples_header *header = &samples_file->header;
	uint64_t hash =
	    (pc / 16 + function * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
	uint32_t at = (uint32_t)(hash >> 32) % INDEX;

	for (; places[at]; at = (at + 1) % INDEX) {
		struct samples_record *known = &samples_file->records[places[at] - 1];
		if (known->function == function && known->pc == pc)
			return known;
	}
	uint32_t count = header->records;
	if (count == SAMPLES_RECORDS ||
	    !reserve(&reserved_records, offsetof(struct samples_file, records),
	             (count + 1) * sizeof(struct samples_record)))
		return NULL;
	struct samples_record *made = &samples_file->records[count];
	made->pc = pc;
	made->function = function;
	places[at] = count + 1;
	__atomic_store_n(&header->records, count + 1, __ATOMIC_RELEASE);
	return made;
}

void samples_add(const struct sampling_record *record, const uint8_t *slots, uint32_t slot_count)
{
	uint32_t function = function_of(record->cubin_crc, record->function, record->name);
	struct samples_record *room =
	    function < SAMPLES_FUNCTIONS ? record_of(function, record->pc) : NULL;

	for (size_t i = 0; i < record->stall_count && i < slot_count; i++) {
		const struct sampling_stall *stall = &record->stalls[i];
		if (room && stall->reason < slot_count && slots[stall->reason] < SAMPLES_REASONS)
			room->counts[slots[stall->reason]] += stall->samples;
		else
			samples_file->header.lost_samples += stall->samples;
	}
}

bool samples_add_exact(uint64_t crc, const char *name, uint64_t pc, uint64_t warps,
                       uint64_t threads)
{
	uint32_t function = function_of(crc, 0, name);
	struct samples_record *room = function < SAMPLES_FUNCTIONS ? record_of(function, pc) : NULL;

	if (!room)
		return false;
	room->exact.warps += warps;
	room->exact.threads += threads;
	return true;
}

void samples_write_module(uint64_t crc, const void *cubin, size_t bytes)
{
	struct samples_header *header = &samples_file->header;
	char path[PATH_BYTES], draft[PATH_BYTES];
	const char *from = cubin;

	path_of(path, crc, SAMPLES_CUBIN_SUFFIX);
	if (access(path, F_OK) == 0)
		return;
	if (header->module_bytes + bytes > SAMPLES_CUBIN_MOST_BYTES) {
		header->lost_modules++;
		return;
	}
	// Threads and processes may write the same one; the last draft takes the place.
	path_of(draft, crc ^ (uint64_t)getpid() << 32 ^ (uintptr_t)&path, ".draft");
	int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t left = bytes;
	while (file >= 0 && left > 0) {
		ssize_t written = write(file, from, left);
		if (written <= 0)
			break;
		from += written;
		left -= (size_t)written;
	}
	if (file >= 0)
		close(file);
	if (file >= 0 && left == 0 && rename(draft, path) == 0) {
		__atomic_fetch_add(&header->modules, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&header->module_bytes, bytes, __ATOMIC_RELAXED);
		return;
	}
	unlink(draft);
	__atomic_fetch_add(&header->lost_modules, 1, __ATOMIC_RELAXED);
}

void samples_count_launch(const char *name, uint64_t warps)
{
	struct samples_launch *rows = samples_file->launches;
	uint32_t bytes;
	uint64_t hash = samples_hash(name, &bytes);

	for (uint32_t i = 0, at = (uint32_t)hash % SAMPLES_LAUNCHES; i < SAMPLES_LAUNCHES;
	     i++, at = (at + 1) % SAMPLES_LAUNCHES) {
		uint64_t have = __atomic_load_n(&rows[at].name_hash, __ATOMIC_RELAXED);
		if (have == 0 &&
		    __atomic_compare_exchange_n(&rows[at].name_hash, &have, hash, false,
		                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			have = hash;
		if (have != hash)
			continue;
		__atomic_fetch_add(&rows[at].launches, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&rows[at].warps, warps, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&samples_file->header.lost_launches, 1, __ATOMIC_RELAXED);
}
