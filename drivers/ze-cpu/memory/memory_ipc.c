// SPDX-License-Identifier: Apache-2.0
// Device memory of one process in another: a handle says where in the exporter's file it lies. Some
// programs pass only its first four bytes, a file descriptor, and pass that as such; so the
// descriptor's position, and a page before the memory, say the same.
#include "memory/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x7970632d657a6970)

// What a ze_ipc_mem_handle_t holds.
struct ipc_handle {
	int32_t file;     // in this process: of the exporter, or as it was passed
	int32_t exported; // the same descriptor in the exporter
	uint64_t magic;
	int64_t process; // the exporter
	uint64_t offset, bytes;
	uint64_t device, node; // of the file
};
_Static_assert(sizeof(struct ipc_handle) <= ZE_MAX_IPC_HANDLE_SIZE, "a handle holds it");

// In the page before the memory.
struct ipc_header {
	uint64_t magic, bytes;
};

// ---- exporting

struct export
{
	struct memory_record record;
	bool made;
};

// Opens the record's file once more, at its own position.
static void open_export(struct memory_record *record, void *context)
{
	struct export *export = context;

	if (record->ipc < 0 && record->range.bytes)
		record->ipc = memory_range_open(&record->range);
	export->made = record->ipc >= 0;
	export->record = *record;
}

ze_result_t cpu_zeMemGetIpcHandle(ze_context_handle_t context, const void *at,
                                  ze_ipc_mem_handle_t *handle)
{
	struct export export = { .made = false };
	struct ipc_header header = { .magic = MAGIC };
	struct stat status;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at || !handle)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!memory_change(at, open_export, &export))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!export.made)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	uint64_t offset = export.record.range.offset;
	int file = export.record.ipc;
	header.bytes = export.record.is.bytes;
	if (pwrite(file, &header, sizeof header, (off_t)(offset - memory_page())) !=
	        sizeof header ||
	    lseek(file, (off_t)offset, SEEK_SET) < 0 || fstat(file, &status) != 0)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	struct ipc_handle known = {
		.file = file,
		.exported = file,
		.magic = MAGIC,
		.process = getpid(),
		.offset = offset,
		.bytes = header.bytes,
		.device = status.st_dev,
		.node = status.st_ino,
	};
	memset(handle, 0, sizeof *handle);
	memcpy(handle->data, &known, sizeof known);
	return ZE_RESULT_SUCCESS;
}

static void close_export(struct memory_record *record, void *context)
{
	const struct ipc_handle *known = context;

	if (record->ipc >= 0 && record->ipc == known->exported)
		close(record->ipc);
	record->ipc = -1;
}

// Only the exporter has anything to put back; the memory stays.
ze_result_t cpu_zeMemPutIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle)
{
	struct ipc_handle known;
	void *base;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	memcpy(&known, handle.data, sizeof known);
	base = known.magic == MAGIC && known.process == getpid() ? memory_exporter(known.exported)
	                                                         : NULL;
	if (!base || !memory_change(base, close_export, &known))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return ZE_RESULT_SUCCESS;
}

// ---- importing

static bool is_file(int file, const struct ipc_handle *known)
{
	struct stat status;

	return fstat(file, &status) == 0 && status.st_dev == known->device &&
	       status.st_ino == known->node;
}

// The exporter's file, to be closed; -1: there is no way to it.
static int open_import(const struct ipc_handle *known)
{
	char path[64];
	int file;

	// Passed as a descriptor, or from this very process.
	if (is_file(known->file, known))
		return fcntl(known->file, F_DUPFD_CLOEXEC, 0);
	snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)known->process, known->exported);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file >= 0 && is_file(file, known))
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

// Completes a handle of which only the descriptor came through. False: it is none of ours.
static bool complete(struct ipc_handle *known)
{
	struct ipc_header header;
	struct stat status;
	off_t offset = lseek(known->file, 0, SEEK_CUR);

	if (offset < (off_t)memory_page() || fstat(known->file, &status) != 0 ||
	    pread(known->file, &header, sizeof header, offset - (off_t)memory_page()) !=
	        sizeof header ||
	    header.magic != MAGIC)
		return false;
	known->offset = (uint64_t)offset;
	known->bytes = header.bytes;
	known->device = status.st_dev;
	known->node = status.st_ino;
	return true;
}

ze_result_t cpu_zeMemOpenIpcHandle(ze_context_handle_t context, ze_device_handle_t device,
                                   ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                   void **at)
{
	struct ipc_handle known;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (flags & ~(ze_ipc_memory_flags_t)3)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	memcpy(&known, handle.data, sizeof known);
	if (known.magic != MAGIC && !complete(&known))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	size_t bytes = memory_pages(known.bytes);
	if (!known.bytes || bytes == SIZE_MAX)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	int file = open_import(&known);
	if (file < 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	void *made =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)known.offset);
	close(file);
	if (made == MAP_FAILED)
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	struct memory_record record = {
		.is = { .base = made,
		        .bytes = known.bytes,
		        .type = ZE_MEMORY_TYPE_DEVICE,
		        .context = context },
		.device = device,
		.mapped_bytes = bytes,
		.ipc = -1,
		.imported = true,
	};
	if (!memory_add(&record)) {
		munmap(made, bytes);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*at = made;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeMemCloseIpcHandle(ze_context_handle_t context, const void *at)
{
	struct memory_record record;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!memory_find(at, &record) || !record.imported || record.is.base != at)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return memory_free(at, false);
}
