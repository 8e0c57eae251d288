// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { REOPEN = 8 };

struct guest_file guest_file = { .fd = -1 };

static int result_of(long result)
{
	return result < 0 ? -errno : (int)result;
}

static int open_file(const char *path, int flags)
{
	return result_of(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0666));
}

static void close_file(int fd)
{
	syscall(SYS_close, fd);
}

static bool is_status_ours(const struct stat *status)
{
	return (uint64_t)status->st_dev == guest_file.device &&
	       (uint64_t)status->st_ino == guest_file.inode;
}

static bool is_ours(int fd)
{
	struct stat status;
	return fd >= 0 && !fstat(fd, &status) && is_status_ours(&status);
}

// Out of the way of a program that counts on the lowest free numbers. Such a program may at any
// moment close what it did not open and take the number: a number is looked at before it is used.
static int move_high(int fd)
{
	int high = result_of(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, GUEST_FD));
	if (high < 0)
		return fd;
	if (is_ours(fd))
		close_file(fd);
	return high;
}

// The descriptor of the file, opened again when the program has closed it (as daemons do with all
// they find). Returns it or a negative errno.
static int own_fd(void)
{
	for (int attempt = 0; attempt < REOPEN; attempt++) {
		struct stat status;
		int fd = __atomic_load_n(&guest_file.fd, __ATOMIC_RELAXED);
		if (is_ours(fd))
			return fd;
		if (stat(guest_file.path, &status))
			return -errno;
		if (!is_status_ours(&status))
			return -ESTALE;
		fd = open_file(guest_file.path, O_RDWR);
		if (fd < 0)
			return fd;
		// Should another thread do the same, the number of one of the two is forgotten;
		// both are the file, and neither outlives the program.
		__atomic_store_n(&guest_file.fd, move_high(fd), __ATOMIC_RELAXED);
	}
	return -ESTALE;
}

// Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which kills.
static int check_limit(uint64_t end)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit))
		return 0;
	return limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur ? -EFBIG : 0;
}

static int write_all(int fd, const void *bytes, size_t count, uint64_t offset)
{
	const char *next = bytes;
	while (count) {
		int written = result_of(syscall(SYS_pwrite64, fd, next, count, (off_t)offset));
		if (written == -EINTR)
			continue;
		if (written <= 0)
			return written ? written : -EIO;
		next += written;
		count -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

// True where pages come cheapest through fallocate: in memory there are no blocks to allocate.
static bool is_in_memory(int fd)
{
	struct statfs system;
	return fstatfs(fd, &system) == 0 &&
	       (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

// Space that is there before it is mapped: writing to a hole of a full disk raises SIGBUS. On disks
// zeros are written, a window at once: that reserves the space, too, and makes large pages of the
// page cache, whose first touch through the mapping costs a quarter of that of fallocate's.
static int reserve(int fd, uint64_t offset, uint64_t bytes)
{
	static char zeros[TARE_TRACE_WINDOW_BYTES];
	int error = check_limit(offset + bytes);
	if (error)
		return error;
	if (is_in_memory(fd)) {
		do
			error =
			    result_of(syscall(SYS_fallocate, fd, 0, (off_t)offset, (off_t)bytes));
		while (error == -EINTR);
		// EPERM: a sandbox forbids the call; where the file is the matter, writing says so
		// too.
		if (error != -EOPNOTSUPP && error != -ENOSYS && error != -EPERM)
			return error;
	}
	for (uint64_t at = 0; at < bytes; at += sizeof zeros) {
		error = write_all(fd, zeros, bytes - at < sizeof zeros ? bytes - at : sizeof zeros,
		                  offset + at);
		if (error)
			return error;
	}
	return 0;
}

// Maps a range of the file, which need not begin at a page of this machine.
static char *map_file(int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = offset % page;
	char *address = mmap(NULL, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	                     (off_t)(offset - before));
	return address == MAP_FAILED ? NULL : address + before;
}

static uint64_t window_offset(uint64_t window)
{
	return TARE_TRACE_HEADER_BYTES + window * TARE_TRACE_WINDOW_BYTES;
}

// A file of this very process that is there already was left behind by exec.
static void mark_exec(int fd, const struct tare_trace_header *mine)
{
	static const uint32_t exec = TARE_TRACE_EXEC;
	struct tare_trace_header header;
	long got = syscall(SYS_pread64, fd, &header, sizeof header, (off_t)0);
	if (got == (long)sizeof header && !memcmp(header.magic, mine->magic, sizeof header.magic) &&
	    !memcmp(header.boot_id, mine->boot_id, sizeof header.boot_id) &&
	    header.pid == mine->pid && header.state == TARE_TRACE_RECORDING)
		write_all(fd, &exec, sizeof exec, offsetof(struct tare_trace_header, state));
}

// Appends text to a path that has room for it.
static char *append(char *to, const char *text)
{
	size_t bytes = strlen(text);
	memcpy(to, text, bytes + 1);
	return to + bytes;
}

// A new file DIRECTORY/STEM.trace, or STEM-1.trace and so on where one is there.
static int create(const struct tare_trace_header *header, const char *stem)
{
	for (int number = 0; number < 1000; number++) {
		char suffix[] = { '-', (char)('0' + number / 100), (char)('0' + number / 10 % 10),
			          (char)('0' + number % 10), 0 };
		char *end = append(append(guest_file.path, guest_options.directory), "/");
		int fd;
		end = append(end, stem);
		if (number)
			end = append(end, suffix);
		append(end, ".trace");
		fd = open_file(guest_file.path, O_RDWR | O_CREAT | O_EXCL);
		if (fd != -EEXIST)
			return fd;
		fd = open_file(guest_file.path, O_RDWR | O_NONBLOCK);
		if (fd >= 0) {
			mark_exec(fd, header);
			close_file(fd);
		}
	}
	return -EEXIST;
}

int guest_file_create(struct tare_trace_header *header, const char *stem)
{
	static const char zeros[TARE_TRACE_HEADER_BYTES - sizeof *header];
	struct stat status;
	char *mapped;
	int error = check_limit(TARE_TRACE_HEADER_BYTES), fd;
	if (error)
		return error;
	fd = create(header, stem);
	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		return -errno;
	guest_file.device = status.st_dev;
	guest_file.inode = status.st_ino;
	fd = move_high(fd);
	error = reserve(fd, 0, TARE_TRACE_HEADER_BYTES);
	if (!error)
		error = write_all(fd, zeros, sizeof zeros, sizeof *header);
	if (!error)
		error = write_all(fd, header, sizeof *header, 0);
	mapped = error ? NULL : map_file(fd, 0, TARE_TRACE_HEADER_BYTES);
	if (!mapped) {
		// A file without any record helps nobody.
		syscall(SYS_unlinkat, AT_FDCWD, guest_file.path, 0);
		close_file(fd);
		return error ? error : -ENOMEM;
	}
	guest_file.fd = fd;
	guest_file.most_windows = UINT64_MAX;
	if (guest_options.max_bytes)
		guest_file.most_windows =
		    guest_options.max_bytes < TARE_TRACE_HEADER_BYTES
		        ? 0
		        : (guest_options.max_bytes - TARE_TRACE_HEADER_BYTES) /
		              TARE_TRACE_WINDOW_BYTES;
	guest_header = (struct tare_trace_header *)mapped;
	return 0;
}

// The address of a window. Address space is taken for many at once, ahead of the file's end, so
// that one mapping serves them all.
static struct tare_trace_window *map_window(int fd, uint64_t window)
{
	uint64_t number = window / GUEST_CHUNK_WINDOWS;
	uint64_t bytes = (uint64_t)GUEST_CHUNK_WINDOWS * TARE_TRACE_WINDOW_BYTES;
	char *chunk = atomic_load(&guest_file.chunks[number]);
	if (!chunk) {
		char *mapped = map_file(fd, window_offset(number * GUEST_CHUNK_WINDOWS), bytes);
		if (!mapped)
			return NULL;
		if (is_ours(fd) &&
		    atomic_compare_exchange_strong(&guest_file.chunks[number], &chunk, mapped))
			chunk = mapped;
		else
			munmap(mapped - (uintptr_t)mapped % (uintptr_t)sysconf(_SC_PAGESIZE),
			       bytes + (uintptr_t)mapped % (uintptr_t)sysconf(_SC_PAGESIZE));
	}
	return !chunk ? NULL
	              : (struct tare_trace_window *)(chunk + window % GUEST_CHUNK_WINDOWS *
	                                                         TARE_TRACE_WINDOW_BYTES);
}

// -EBADF: the program took the descriptor away meanwhile.
static int make_window(uint64_t number, struct tare_trace_window **window)
{
	int fd = own_fd();
	int error = fd < 0 ? fd : reserve(fd, window_offset(number), TARE_TRACE_WINDOW_BYTES);
	if (error)
		return error;
	*window = map_window(fd, number);
	return *window ? 0 : is_ours(fd) ? -ENOMEM : -EBADF;
}

static void file_is_full(enum tare_trace_stop reason, int error)
{
	uint32_t none = TARE_TRACE_NOT_STOPPED;
	if (atomic_compare_exchange_strong(&guest_file.full, &none, reason))
		atomic_store(&guest_file.error, error);
}

struct tare_trace_window *guest_file_window(void)
{
	struct tare_trace_window *window;
	uint64_t number = atomic_load(&guest_file.made);
	int error = -EBADF;
	do {
		if (atomic_load(&guest_file.full))
			return NULL;
		if (number >= guest_file.most_windows ||
		    number >= (uint64_t)GUEST_CHUNKS * GUEST_CHUNK_WINDOWS) {
			file_is_full(TARE_TRACE_MAX_SIZE, 0);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&guest_file.made, &number, number + 1));
	for (int attempt = 0; attempt < REOPEN && error == -EBADF; attempt++)
		error = make_window(number, &window);
	if (error) {
		file_is_full(error == -ENOSPC || error == -EDQUOT ? TARE_TRACE_NO_SPACE
		             : error == -EFBIG                    ? TARE_TRACE_FILE_LIMIT
		             : error == -ENOMEM                   ? TARE_TRACE_NO_MEMORY
		                                                  : TARE_TRACE_IO,
		             -error);
		return NULL;
	}
	return window;
}

void guest_file_populate(struct tare_trace_window *window)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)window + page - 1) / page * page;
	uintptr_t to = ((uintptr_t)window + TARE_TRACE_WINDOW_BYTES) / page * page;
	// An old kernel refuses it; then each first touch costs its thread a little.
	if (to > from)
		madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

void guest_file_forget(void)
{
	if (is_ours(guest_file.fd))
		close_file(guest_file.fd);
	guest_file.fd = -1;
	for (uint64_t i = 0; i <= atomic_load(&guest_file.made) / GUEST_CHUNK_WINDOWS; i++)
		if (i < GUEST_CHUNKS)
			atomic_store(&guest_file.chunks[i], NULL);
	atomic_store(&guest_file.made, 0);
	atomic_store(&guest_file.full, 0);
}
