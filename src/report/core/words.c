// SPDX-License-Identifier: Apache-2.0
#include "report/core/words.h"

#include "analysis/tables/tables.h"

#include <stddef.h>

#define LOOK_UP(words, index) ((index) < sizeof(words) / sizeof *(words) ? (words)[index] : NULL)

const char *tare_report_kind(uint32_t kind)
{
	static const char *const words[] = {
		[TARE_KIND_KERNEL] = "kernel",   [TARE_KIND_TASK] = "task",
		[TARE_KIND_WRITE] = "write",     [TARE_KIND_READ] = "read",
		[TARE_KIND_COPY] = "copy",       [TARE_KIND_FILL] = "fill",
		[TARE_KIND_MAP] = "map",         [TARE_KIND_UNMAP] = "unmap",
		[TARE_KIND_MIGRATE] = "migrate", [TARE_KIND_MARKER] = "marker",
		[TARE_KIND_BARRIER] = "barrier", [TARE_KIND_GRAPH] = "graph",
		[TARE_KIND_OTHER] = "other",
	};
	return LOOK_UP(words, kind);
}

const char *tare_report_direction(uint32_t direction)
{
	static const char *const words[] = {
		[TARE_DIRECTION_NONE] = "none",
		[TARE_DIRECTION_TO_DEVICE] = "to_device",
		[TARE_DIRECTION_FROM_DEVICE] = "from_device",
		[TARE_DIRECTION_LOCAL] = "local",
		[TARE_DIRECTION_HOST] = "host",
	};
	return LOOK_UP(words, direction);
}

const char *tare_report_direction_title(uint32_t direction)
{
	static const char *const words[] = {
		[TARE_DIRECTION_NONE] = "",
		[TARE_DIRECTION_TO_DEVICE] = "to device",
		[TARE_DIRECTION_FROM_DEVICE] = "to host",
		[TARE_DIRECTION_LOCAL] = "in the device",
		[TARE_DIRECTION_HOST] = "in the host",
	};
	return LOOK_UP(words, direction);
}

const char *tare_report_link(uint32_t kind)
{
	static const char *const words[] = {
		[TARE_LINK_THROUGH_HOST] = "through_host",
		[TARE_LINK_DIRECT] = "direct",
		[TARE_LINK_NVLINK] = "nvlink",
	};
	return LOOK_UP(words, kind);
}

const char *tare_report_memory(uint32_t memory)
{
	static const char *const words[] = {
		[TARE_TRACE_MEMORY_BUFFER] = "buffer",
		[TARE_TRACE_MEMORY_BUFFER_HOST] = "buffer_host",
		[TARE_TRACE_MEMORY_BUFFER_USER] = "buffer_user",
		[TARE_TRACE_MEMORY_PART] = "part",
		[TARE_TRACE_MEMORY_IMAGE] = "image",
		[TARE_TRACE_MEMORY_PIPE] = "pipe",
		[TARE_TRACE_MEMORY_SHARED] = "shared",
		[TARE_TRACE_MEMORY_PINNED] = "pinned",
		[TARE_TRACE_MEMORY_PAGEABLE] = "pageable",
		[TARE_TRACE_MEMORY_MAPPED] = "mapped",
	};
	return LOOK_UP(words, memory);
}

const char *tare_report_memory_title(uint32_t memory)
{
	static const char *const words[] = {
		[TARE_TRACE_MEMORY_UNKNOWN] = "",
		[TARE_TRACE_MEMORY_BUFFER] = "buffer",
		[TARE_TRACE_MEMORY_BUFFER_HOST] = "host buffer",
		[TARE_TRACE_MEMORY_BUFFER_USER] = "user buffer",
		[TARE_TRACE_MEMORY_PART] = "sub-buffer",
		[TARE_TRACE_MEMORY_IMAGE] = "image",
		[TARE_TRACE_MEMORY_PIPE] = "pipe",
		[TARE_TRACE_MEMORY_SHARED] = "shared",
		[TARE_TRACE_MEMORY_PINNED] = "pinned",
		[TARE_TRACE_MEMORY_PAGEABLE] = "pageable",
		[TARE_TRACE_MEMORY_MAPPED] = "mapped",
	};
	return LOOK_UP(words, memory);
}

const char *tare_report_role(uint32_t role)
{
	static const char *const words[] = {
		[TARE_ROLE_OTHER] = "other",     [TARE_ROLE_COMMAND] = "command",
		[TARE_ROLE_WAIT] = "wait",       [TARE_ROLE_FLUSH] = "flush",
		[TARE_ROLE_BUILD] = "build",     [TARE_ROLE_ALLOCATE] = "allocate",
		[TARE_ROLE_CREATE] = "create",   [TARE_ROLE_START] = "start",
		[TARE_ROLE_POLL] = "poll",       [TARE_ROLE_QUERY] = "query",
		[TARE_ROLE_RELEASE] = "release", [TARE_ROLE_LOAD] = "load",
	};
	return LOOK_UP(words, role);
}

const char *tare_report_change(uint32_t change)
{
	static const char *const words[] = {
		[TARE_CHANGE_PROFILING] = "profiling",
		[TARE_CHANGE_EVENT] = "event",
		[TARE_CHANGE_EVENT_RETAINED] = "event_retained",
		[TARE_CHANGE_CALLBACK] = "callback",
		[TARE_CHANGE_HELPER] = "helper",
		[TARE_CHANGE_FLAG] = "flag",
		[TARE_CHANGE_LOADER] = "loader",
		[TARE_CHANGE_CALIBRATION] = "calibration",
		[TARE_CHANGE_LISTS] = "lists",
		[TARE_CHANGE_DRIVER] = "driver",
		[TARE_CHANGE_CUPTI] = "cupti",
		[TARE_CHANGE_LEFT] = "left",
		[TARE_CHANGE_FRONT] = "front",
		[TARE_CHANGE_COUNTERS] = "counters",
	};
	return LOOK_UP(words, change);
}

const char *tare_report_state(uint32_t state)
{
	static const char *const words[] = {
		[TARE_TRACE_RECORDING] = "recording",
		[TARE_TRACE_ENDED] = "ended",
		[TARE_TRACE_EXEC] = "exec",
		[TARE_TRACE_STOPPED] = "stopped",
	};
	return LOOK_UP(words, state);
}

const char *tare_report_stop(uint32_t reason)
{
	static const char *const words[] = {
		[TARE_TRACE_MAX_SIZE] = "max_size",     [TARE_TRACE_NO_SPACE] = "no_space",
		[TARE_TRACE_FILE_LIMIT] = "file_limit", [TARE_TRACE_IO] = "io",
		[TARE_TRACE_NO_MEMORY] = "no_memory",
	};
	return LOOK_UP(words, reason);
}

const char *tare_report_stop_title(uint32_t reason)
{
	static const char *const words[] = {
		[TARE_TRACE_MAX_SIZE] = "its file reached --max-size",
		[TARE_TRACE_NO_SPACE] = "no space was left on the disk",
		[TARE_TRACE_FILE_LIMIT] = "its file reached the process's limit (ulimit -f)",
		[TARE_TRACE_IO] = "its file could not be written any more",
		[TARE_TRACE_NO_MEMORY] = "no memory was left for the recorder's tables",
	};
	return LOOK_UP(words, reason);
}

const char *tare_report_clock(uint32_t source)
{
	static const char *const words[] = {
		[TARE_CLOCK_NONE] = "none",
		[TARE_CLOCK_SAME] = "same",
		[TARE_CLOCK_PAIRS] = "pairs",
		[TARE_CLOCK_CAUSAL] = "causal",
	};
	return LOOK_UP(words, source);
}

const char *tare_report_clock_title(uint32_t source)
{
	static const char *const words[] = {
		[TARE_CLOCK_NONE] = "not known",
		[TARE_CLOCK_SAME] = "the host's own clock",
		[TARE_CLOCK_PAIRS] = "fit over pairs of readings",
		[TARE_CLOCK_CAUSAL] = "bounded by the calls",
	};
	return LOOK_UP(words, source);
}

const char *tare_report_unobserved(uint32_t reason)
{
	static const char *const words[] = {
		[TARE_UNOBSERVED_PENDING] = "pending",
		[TARE_UNOBSERVED_REFUSED] = "refused",
		[TARE_UNOBSERVED_FAILED] = "failed",
		[TARE_UNOBSERVED_ABANDONED] = "abandoned",
		[TARE_UNOBSERVED_REUSED] = "reused",
		[TARE_UNOBSERVED_NO_ROOM] = "no_room",
		[TARE_UNOBSERVED_NOT_ASKED] = "not_asked",
		[TARE_UNOBSERVED_NOT_SAMPLED] = "not_sampled",
		[TARE_UNOBSERVED_UNLISTED] = "unlisted",
		[TARE_UNOBSERVED_UNUSABLE] = "unusable",
	};
	_Static_assert(sizeof words / sizeof *words == TARE_UNOBSERVED_REASONS, "a word each");
	return LOOK_UP(words, reason);
}

const char *tare_report_unobserved_title(uint32_t reason)
{
	static const char *const words[] = {
		[TARE_UNOBSERVED_PENDING] = "not seen before the recording ended",
		[TARE_UNOBSERVED_REFUSED] = "refused by the API",
		[TARE_UNOBSERVED_FAILED] = "ended with an error",
		[TARE_UNOBSERVED_ABANDONED] = "abandoned at the exit",
		[TARE_UNOBSERVED_NO_ROOM] = "no room to wait for them",
		[TARE_UNOBSERVED_REUSED] = "event used again before it was read",
		[TARE_UNOBSERVED_NOT_ASKED] = "queue without profiling",
		[TARE_UNOBSERVED_NOT_SAMPLED] = "not of the sample",
		[TARE_UNOBSERVED_UNLISTED] = "run by a list that is not recorded whole",
		[TARE_UNOBSERVED_UNUSABLE] = "with impossible times",
	};
	_Static_assert(sizeof words / sizeof *words == TARE_UNOBSERVED_REASONS, "a title each");
	return LOOK_UP(words, reason);
}

const char *tare_report_api(uint32_t api)
{
	static const char *const words[] = {
		[TARE_TRACE_OPENCL] = "opencl",
		[TARE_TRACE_LEVELZERO] = "levelzero",
		[TARE_TRACE_CUDA] = "cuda",
	};
	return LOOK_UP(words, api);
}

const char *tare_report_api_title(uint32_t api)
{
	static const char *const words[] = {
		[TARE_TRACE_OPENCL] = "OpenCL",
		[TARE_TRACE_LEVELZERO] = "Level Zero",
		[TARE_TRACE_CUDA] = "CUDA",
	};
	return LOOK_UP(words, api);
}

const char *tare_report_same_by(uint32_t by)
{
	static const char *const words[] = { [TARE_SAME_BY_UUID] = "uuid",
		                             [TARE_SAME_BY_PCI] = "pci",
		                             [TARE_SAME_BY_NAME] = "name" };
	return by < sizeof words / sizeof *words ? words[by] : NULL;
}

const char *tare_recording_part(uint32_t part)
{
	static const char *const words[] = { [TARE_ALONE] = NULL,
		                             [TARE_EXECUTES] = "executes",
		                             [TARE_EXECUTES_MORE] = "executes",
		                             [TARE_RUN] = "run" };
	return part < sizeof words / sizeof *words ? words[part] : NULL;
}
