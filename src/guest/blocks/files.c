// SPDX-License-Identifier: Apache-2.0
// The files of tare blocks' folder, from inside the program. Room is reserved before it is mapped,
// so that a full disk is a number that is missing, not a signal.
#include "guest/blocks/files.h"
#include "guest/environment.h"
#include "guest/guest.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

struct blocks_counts *blocks_counts;
static char folder[4000];
static int counts_file = -1;
static guest_lock lock;

// "FOLDER/name", of a number in hexadecimal digits and what follows it.
void blocks_path_of(char path[BLOCKS_PATH_BYTES], uint64_t number, const char *suffix)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = strlen(folder);

	memcpy(path, folder, used);
	path[used++] = '/';
	for (int i = 60; i >= 0; i -= 4)
		path[used++] = digits[number >> i & 15];
	memcpy(path + used, suffix, strlen(suffix) + 1);
}

// Where counters begin in the file, and how much room there is for them.
static uint64_t area_at, most_bytes = BLOCKS_AREA_BYTES;
static uint32_t most_kernels = BLOCKS_KERNELS;

static void read_limits(void)
{
	const char *text = getenv(BLOCKS_ENVIRONMENT_LIMITS);
	char *end;

	if (text == NULL)
		return;
	uint64_t bytes = strtoull(text, &end, 10), kernels = strtoull(end, NULL, 10);
	most_bytes = bytes < most_bytes ? bytes : most_bytes;
	most_kernels = kernels < most_kernels ? (uint32_t)kernels : most_kernels;
}

// Beyond RLIMIT_FSIZE the system would send SIGXFSZ, which kills.
static bool is_allowed(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       bytes <= limit.rlim_cur;
}

static uint64_t apart; // what makes the file's name another than the OpenCL layer's

void blocks_files_apart(void)
{
	apart = UINT64_C(1) << 40;
}

static bool make_counts(void)
{
	char path[BLOCKS_PATH_BYTES];
	size_t bytes = (sizeof(struct blocks_counts) + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);

	blocks_path_of(path, (uint64_t)getpid() | apart, BLOCKS_COUNTS_SUFFIX);
	int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (made < 0)
		return false;
	counts_file = fcntl(made, F_DUPFD_CLOEXEC, TARE_ENVIRONMENT_DESCRIPTOR);
	if (counts_file < 0)
		counts_file = made;
	else
		close(made);
	if (most_bytes == 0 || !is_allowed(bytes) ||
	    posix_fallocate(counts_file, 0, (off_t)bytes) != 0) {
		// tare sees that it is empty.
		return ftruncate(counts_file, 0) == 0 && false;
	}
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, counts_file, 0);
	if (memory == MAP_FAILED)
		return false;
	blocks_counts = memory;
	blocks_counts->pid = (uint32_t)getpid();
	blocks_counts->end = area_at = bytes;
	__atomic_store_n(&blocks_counts->magic, BLOCKS_MAGIC, __ATOMIC_RELEASE);
	return true;
}

static enum blocks_stage stage = BLOCKS_OFF;

static enum blocks_stage begin(void)
{
	const char *path = getenv(BLOCKS_ENVIRONMENT_FOLDER);
	const char *asked = getenv(BLOCKS_ENVIRONMENT_STAGE);
	size_t bytes = path != NULL ? strlen(path) : 0;

	if (asked == NULL || bytes == 0 || bytes >= sizeof folder || path[0] != '/')
		return BLOCKS_OFF;
	memcpy(folder, path, bytes + 1);
	enum blocks_stage at = strcmp(asked, BLOCKS_STAGE_COLLECT) == 0  ? BLOCKS_COLLECT
	                       : strcmp(asked, BLOCKS_STAGE_COUNT) == 0  ? BLOCKS_COUNT
	                       : strcmp(asked, BLOCKS_STAGE_CHANGE) == 0 ? BLOCKS_CHANGE
	                                                                 : BLOCKS_OFF;
	guest_lock_register(&lock);
	read_limits();
	return at != BLOCKS_OFF && make_counts() ? at : BLOCKS_OFF;
}

static void begin_once(void)
{
	stage = begin();
}

enum blocks_stage blocks_files_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin_once);
	return stage;
}

bool blocks_is_written(uint64_t hash, const char *suffix)
{
	char path[BLOCKS_PATH_BYTES];

	blocks_path_of(path, hash, suffix);
	return access(path, F_OK) == 0;
}

void blocks_write(uint64_t hash, const char *suffix, const void *data, size_t bytes)
{
	char path[BLOCKS_PATH_BYTES], draft[BLOCKS_PATH_BYTES];
	const char *from = data;
	bool allowed = is_allowed(bytes);

	blocks_path_of(path, hash, suffix);
	if (access(path, F_OK) == 0)
		return;
	// Threads and processes may write the same one; the last draft takes the place.
	blocks_path_of(draft, hash ^ (uint64_t)getpid() << 32 ^ (uintptr_t)&path, ".draft");
	int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	while (bytes > 0 && allowed) {
		ssize_t written = write(file, from, bytes);
		if (written <= 0)
			break;
		from += written;
		bytes -= (size_t)written;
	}
	if (bytes != 0 && ftruncate(file, 0) != 0)
		unlink(draft);
	close(file);
	rename(draft, path);
}

void blocks_write_origin(uint64_t binary, uint64_t hash)
{
	blocks_write(binary, BLOCKS_ORIGIN_SUFFIX, &hash, sizeof hash);
}

uint64_t blocks_read_origin(uint64_t binary)
{
	char path[BLOCKS_PATH_BYTES];
	uint64_t hash = 0;

	blocks_path_of(path, binary, BLOCKS_ORIGIN_SUFFIX);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	if (read(file, &hash, sizeof hash) != sizeof hash)
		hash = 0;
	close(file);
	return hash;
}

static const struct blocks_module *map_module(uint64_t hash)
{
	char path[BLOCKS_PATH_BYTES];
	struct stat status;

	blocks_path_of(path, hash, BLOCKS_MODULE_SUFFIX);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	const struct blocks_module *module = NULL;
	if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof *module) {
		size_t bytes = (size_t)status.st_size;
		void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
		module = memory != MAP_FAILED ? memory : NULL;
		if (module != NULL &&
		    (module->magic != BLOCKS_MAGIC ||
		     module->spirv_bytes + module->bitcode_bytes + module->source_bytes +
		             module->source_options_bytes + module->ptx_bytes + sizeof *module !=
		         bytes)) {
			munmap(memory, bytes);
			module = NULL;
		}
	}
	close(file);
	return module;
}

// A module that was mapped, and those that are not there.
struct mapped {
	struct mapped *following;
	uint64_t hash;
	const struct blocks_module *module; // NULL: there is none
};

const struct blocks_module *blocks_module_of(uint64_t hash)
{
	static struct mapped *_Atomic modules;

	for (struct mapped *at = atomic_load(&modules); at != NULL; at = at->following)
		if (at->hash == hash)
			return at->module;
	struct mapped *made = guest_memory(sizeof *made);
	if (made == NULL)
		return NULL;
	made->hash = hash;
	made->module = map_module(hash);
	made->following = atomic_load(&modules);
	while (!atomic_compare_exchange_weak(&modules, &made->following, made))
		;
	return made->module;
}

struct blocks_kernel *blocks_row(const char *name, uint64_t hash, enum blocks_api api)
{
	struct blocks_kernel *row = NULL;
	size_t bytes = strlen(name);

	guest_acquire(&lock);
	for (uint32_t i = 0; i < blocks_counts->kernels && row == NULL; i++)
		if (blocks_counts->kernel[i].hash == hash && blocks_counts->kernel[i].api == api &&
		    strcmp(blocks_counts->kernel[i].name, name) == 0)
			row = &blocks_counts->kernel[i];
	if (row == NULL && blocks_counts->kernels < most_kernels && bytes < BLOCKS_NAME_BYTES) {
		row = &blocks_counts->kernel[blocks_counts->kernels];
		memcpy(row->name, name, bytes + 1);
		row->hash = hash;
		row->api = api;
		__atomic_store_n(&blocks_counts->kernels, blocks_counts->kernels + 1,
		                 __ATOMIC_RELEASE);
	}
	if (row == NULL)
		blocks_counts->lost_kernels++;
	guest_release(&lock);
	return row;
}

// Where `bytes` more lie in the file; 0: there is no room.
static uint64_t reserve(uint64_t bytes, enum blocks_why *why)
{
	guest_acquire(&lock);
	uint64_t at = blocks_counts->end;
	bool fits = at - area_at + bytes <= most_bytes;
	if (fits)
		blocks_counts->end = at + bytes;
	guest_release(&lock);
	*why = fits ? BLOCKS_NO_ROOM : BLOCKS_NO_AREA;
	return fits && is_allowed(at + bytes) &&
	               posix_fallocate(counts_file, (off_t)at, (off_t)bytes) == 0
	           ? at
	           : 0;
}

uint64_t blocks_counter_bytes(const struct blocks_module *module)
{
	return ((uint64_t)module->rows * module->row_counters + BLOCKS_SAMPLE_HEAD +
	        (uint64_t)module->sample_items * module->sample_words) *
	       sizeof(uint64_t);
}

void blocks_choose_sample(void *counters, const struct blocks_module *module, uint64_t work_items)
{
	uint64_t *head = (uint64_t *)counters + (uint64_t)module->rows * module->row_counters;
	uint64_t shift = 0;

	while (module->sample_items != 0 && work_items >> shift > module->sample_items)
		shift++;
	__atomic_store_n(&head[0], (UINT64_C(1) << shift) - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&head[1], shift, __ATOMIC_RELAXED);
}

void *blocks_counters(struct blocks_kernel *row, const struct blocks_module *module,
                      enum blocks_why *why)
{
	uint64_t bytes = blocks_counter_bytes(module);

	bytes = (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t at = row->at;
	if (at == 0) {
		uint64_t made = reserve(bytes, why);
		if (made == 0)
			return NULL;
		row->rows = module->rows;
		row->row_counters = module->row_counters;
		// Should another thread have been here meanwhile, ours stays unused.
		if (__atomic_compare_exchange_n(&row->at, &at, made, false, __ATOMIC_ACQ_REL,
		                                __ATOMIC_ACQUIRE))
			at = made;
	}
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, counts_file, (off_t)at);
	*why = BLOCKS_NO_ROOM;
	return memory != MAP_FAILED ? memory : NULL;
}

struct blocks_kernel blocks_no_row;

void blocks_count_launch(struct blocks_kernel *row, bool counted, uint64_t work_items)
{
	if (row == NULL || row == &blocks_no_row) {
		__atomic_fetch_add(row == NULL ? &blocks_counts->unknown_launches
		                               : &blocks_counts->lost_launches,
		                   1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&row->launches, 1, __ATOMIC_RELAXED);
	if (!counted)
		return;
	__atomic_fetch_add(&row->counted, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row->work_items, work_items, __ATOMIC_RELAXED);
}
