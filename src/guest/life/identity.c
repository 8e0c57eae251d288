// SPDX-License-Identifier: Apache-2.0
// Which machine, which process, which rank: for the header and the name of the file.
#include "guest/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Reads the beginning of a file. Returns how many bytes; 0: none.
static size_t read_file(const char *path, char *to, size_t bytes)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	if (fd < 0)
		return 0;
	while (got < bytes) {
		long n = syscall(SYS_read, (int)fd, to + got, bytes - got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	syscall(SYS_close, (int)fd);
	return got;
}

static void read_boot_id(uint64_t boot_id[2])
{
	char text[40];
	size_t bytes = read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
	unsigned digits = 0;
	for (size_t i = 0; i < bytes && digits < 32; i++) {
		char c = text[i];
		unsigned value = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
		                                        : 16;
		if (value < 16) {
			boot_id[digits / 16] = boot_id[digits / 16] << 4 | value;
			digits++;
		}
	}
}

// Field 22 of /proc/self/stat: when the process began, in clock ticks since boot. 0: not known.
static uint64_t read_start_ticks(void)
{
	char text[1024];
	size_t bytes = read_file("/proc/self/stat", text, sizeof text - 1);
	char *at;
	text[bytes] = 0;
	at = strrchr(text, ')'); // the name before it may contain anything
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static int64_t start_raw_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);
	int64_t age;
	if (!ticks || hz <= 0)
		return 0;
	age = (int64_t)guest_ns(CLOCK_BOOTTIME) - (int64_t)(ticks * (1000000000 / (uint64_t)hz));
	return (int64_t)guest_ns(CLOCK_MONOTONIC_RAW) - age;
}

static void read_executable(char *to, size_t bytes)
{
	char path[4096];
	long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path);
	size_t keep = length > 0 ? (size_t)length : 0;
	const char *from = path;
	if (keep > bytes - 1) { // the end tells more than the beginning
		from += keep - (bytes - 1);
		keep = bytes - 1;
	}
	memcpy(to, from, keep);
	to[keep] = 0;
}

// The number that a variable holds, or TARE_TRACE_NO_RANK.
static uint64_t variable(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	uint64_t number = 0;
	if (!text || !*text || strlen(text) > 9)
		return TARE_TRACE_NO_RANK;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return TARE_TRACE_NO_RANK;
		number = number * 10 + (uint64_t)(*text - '0');
	}
	return number;
}

// Launchers set several; those of the MPI library come before those of the batch system, which
// also sets them for programs that are no ranks of anything.
static void read_rank(struct tare_trace_header *header)
{
	static const struct {
		const char *rank, *count;
	} launchers[] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" }, // Open MPI
		{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },   // MVAPICH
		{ "PMI_RANK", "PMI_SIZE" },                         // MPICH and those built on it
		{ "PMIX_RANK", NULL },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	header->rank = header->rank_count = TARE_TRACE_NO_RANK;
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		header->rank = variable(launchers[i].rank);
		if (header->rank == TARE_TRACE_NO_RANK)
			continue;
		header->rank_count = variable(launchers[i].count);
		memcpy(header->rank_from, launchers[i].rank, strlen(launchers[i].rank));
		return;
	}
}

static char *append_number(char *to, uint64_t number)
{
	char digits[20];
	size_t n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

// HOST-PID-STARTTICKS, the host's name with whatever a file's name should not have replaced.
static void make_stem(const struct tare_trace_header *header, uint64_t start, char *stem)
{
	char *to = stem;
	for (const char *from = header->host_name; *from; from++) {
		bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
		             (*from >= '0' && *from <= '9') || *from == '.' || *from == '_';
		*to++ = plain && (from > header->host_name || *from != '.') ? *from : '_';
	}
	*to++ = '-';
	to = append_number(to, header->pid);
	*to++ = '-';
	to = append_number(to, start);
	*to = 0;
}

void guest_identify(struct tare_trace_header *header, char *stem, size_t bytes)
{
	uint64_t start = read_start_ticks();
	if (gethostname(header->host_name, sizeof header->host_name - 1) || !header->host_name[0])
		memcpy(header->host_name, "unknown", sizeof "unknown");
	header->pid = (uint64_t)getpid();
	header->parent_pid = (uint64_t)getppid();
	header->process_start_raw_ns = start_raw_ns(start);
	read_boot_id(header->boot_id);
	read_rank(header);
	read_executable(header->executable, sizeof header->executable);
	read_file("/proc/self/cmdline", header->command_line, sizeof header->command_line - 1);
	if (bytes >= sizeof header->host_name + 42)
		make_stem(header, start, stem);
}
