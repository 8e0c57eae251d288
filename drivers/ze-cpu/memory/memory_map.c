// SPDX-License-Identifier: Apache-2.0
// The file that device memory lies in: a sparse memfd, of which ranges are handed out one behind
// the other. IPC and physical memory are built on it.
#include "memory/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

// Offsets are never reused: this is enough for every allocation of a process's life.
#define FILE_BYTES ((uint64_t)1 << 60)

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static pid_t owner; // whose file it is: a forked child has one of its own
static unsigned generation;
static uint64_t used_bytes;

void memory_file_hold(bool hold)
{
	if (hold)
		pthread_mutex_lock(&file_lock);
	else
		pthread_mutex_unlock(&file_lock);
}

// Needs the lock.
static bool open_file(void)
{
	if (file >= 0 && owner == getpid())
		return true;
	if (file >= 0)
		close(file);
	file = memfd_create("ze-cpu", MFD_CLOEXEC);
	if (file >= 0 && ftruncate(file, (off_t)FILE_BYTES) != 0) {
		close(file);
		file = -1;
	}
	owner = getpid();
	used_bytes = 0;
	generation++;
	return file >= 0;
}

bool memory_range_take(size_t bytes, struct memory_range *range)
{
	pthread_mutex_lock(&file_lock);
	bool taken = open_file();
	// The page before it is for memory_ipc.c.
	uint64_t offset = used_bytes + memory_page();
	if (taken && (offset > FILE_BYTES || bytes > FILE_BYTES - offset))
		taken = false;
	if (taken) {
		*range = (struct memory_range){ offset, bytes, generation };
		used_bytes = offset + bytes;
	}
	pthread_mutex_unlock(&file_lock);
	return taken;
}

int memory_range_open(const struct memory_range *range)
{
	char path[64];
	int opened = -1;

	pthread_mutex_lock(&file_lock);
	if (file >= 0 && range->generation == generation && owner == getpid()) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
		opened = open(path, O_RDWR | O_CLOEXEC);
	}
	pthread_mutex_unlock(&file_lock);
	return opened;
}

void memory_range_release(const struct memory_range *range)
{
	pthread_mutex_lock(&file_lock);
	if (file >= 0 && range->generation == generation && owner == getpid())
		(void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		                (off_t)(range->offset - memory_page()),
		                (off_t)(range->bytes + memory_page()));
	pthread_mutex_unlock(&file_lock);
}

void *memory_range_map(const struct memory_range *range, size_t from, size_t bytes, void *at)
{
	void *made = MAP_FAILED;

	pthread_mutex_lock(&file_lock);
	if (file >= 0 && range->generation == generation)
		made = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
		            file, (off_t)(range->offset + from));
	pthread_mutex_unlock(&file_lock);
	return made == MAP_FAILED ? NULL : made;
}
