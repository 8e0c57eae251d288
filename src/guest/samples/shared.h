// SPDX-License-Identifier: Apache-2.0
// What tare and its PC sampler inside a CUDA program say to each other: environment variables, and
// files in one folder, all of one machine and one build. Each process writes one file of SAMPLES,
// which is mapped, so that what was read last is there however the process ends, and each module
// that is loaded is copied once.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The folder's absolute path; not set or empty: nothing is sampled.
#define SAMPLES_ENVIRONMENT_FOLDER "TARE_SAMPLES"
// Each core is sampled every 2 to this power cycles.
#define SAMPLES_ENVIRONMENT_PERIOD "TARE_SAMPLES_PERIOD"

// Set to anything but nothing: launches are counted, which takes each a microsecond.
#define SAMPLES_ENVIRONMENT_LAUNCHES "TARE_SAMPLES_LAUNCHES"

// A kernel that is looked for among those that are launched (exact_name.c says how); its launches
// are timed.
#define SAMPLES_ENVIRONMENT_EXACT "TARE_SAMPLES_EXACT"
// Set to anything but nothing: that kernel's instructions are counted, and nothing is sampled.
#define SAMPLES_ENVIRONMENT_COUNT "TARE_SAMPLES_COUNT"

#define SAMPLES_LIBRARY "libtare-samples.so"

// Names of files: %016 and the process's number, or the CRC of a module by CUPTI.
#define SAMPLES_SUFFIX ".samples"
#define SAMPLES_CUBIN_SUFFIX ".cubin"

#define SAMPLES_MAGIC UINT64_C(0x3173656c706d6173) // "samples1"

enum {
	SAMPLES_LEAST_PERIOD = 10, // 2^5 gave nothing at all on an H100, 2^11 filled the buffer
	SAMPLES_USUAL_PERIOD = 16,
	SAMPLES_MOST_PERIOD = 24,
	SAMPLES_REASONS = 64,
	SAMPLES_REASON_BYTES = 64,
	SAMPLES_NAME_BYTES = 1000,
	SAMPLES_FUNCTIONS = 4096,
	SAMPLES_LAUNCHES = 8192, // names of kernels; a power of two
	SAMPLES_RECORDS = 1 << 17,
	SAMPLES_WHERE_BYTES = 64,
	SAMPLES_TIMES = 64, // launches of a kernel that is counted, that are timed
};
#define SAMPLES_CUBIN_MOST_BYTES (UINT64_C(1) << 30) // of all modules that a process copies

// Why a process has no samples, or not all.
enum samples_state {
	SAMPLES_IDLE,     // it has used the driver, and made no context
	SAMPLES_ON,       // sampled
	SAMPLES_NO_CUPTI, // none was found, or one without PC sampling
	SAMPLES_TAKEN,    // CUPTI has another subscriber
	SAMPLES_REFUSED,  // CUPTI's `where` returned `code`
	SAMPLES_STATES,
};

// How far a process came with the kernel that is to be counted.
enum samples_exact_state {
	EXACT_UNASKED,
	EXACT_UNMET,      // no such kernel was launched
	EXACT_CAPTURED,   // only into graphs
	EXACT_TIMED,      // it was launched, and not to be counted
	EXACT_BEGUN,      // it was counted, and the process ended before the counts were read
	EXACT_COUNTED,    // and read
	EXACT_NO_CUPTI,   // this CUPTI has no SASS metrics
	EXACT_REFUSED,    // CUPTI's `where` returned `code`
	EXACT_UNFINISHED, // it still ran when the process, or its context, ended
	EXACT_STATES,
};

struct samples_exact {
	uint32_t state;  // enum samples_exact_state
	uint32_t counts; // it was to be counted
	int32_t code;
	char where[SAMPLES_WHERE_BYTES];
	char name[SAMPLES_NAME_BYTES]; // as linked; its beginning
	uint64_t name_hash;
	uint64_t launches, warps; // that were timed or counted
	uint64_t captured;        // launches into graphs
	uint64_t elsewhere;       // launches in other contexts, which are not counted
	uint64_t beside;          // launches before counting began, while a graph was captured
	uint64_t late;            // launches after the counts were read, with their module
	uint64_t alike;           // launches of other kernels that the request would fit as well
	uint64_t graphs;          // launches of graphs since it was found
	uint64_t records;         // counts that CUPTI gave of it
	uint64_t lost;            // those that there was no room for
	uint64_t prepare_ns, read_ns;
	uint64_t times;                  // of launches, from the first on
	uint64_t time_ns[SAMPLES_TIMES]; // by the device; 0: not known
};

struct samples_header {
	uint64_t magic;
	uint32_t pid;
	uint32_t state;  // enum samples_state
	uint32_t period; // as CUPTI says; 0: not known
	int32_t code;
	char where[SAMPLES_WHERE_BYTES];
	uint32_t reason_count;
	uint32_t functions, records; // in use
	uint32_t contexts;           // that were sampled
	char reasons[SAMPLES_REASONS][SAMPLES_REASON_BYTES];
	uint64_t total, dropped, not_users; // samples
	uint64_t buffer_full;               // how often the hardware's buffer was
	uint64_t lost_samples;              // there was no room for
	uint64_t lost_instructions;         // that CUPTI had no room for at a context's end
	uint64_t ended_contexts;            // that were read to their end
	uint64_t unread_contexts;           // that ended before they could be read
	uint64_t failed_contexts;           // that could not be sampled, though others were
	uint64_t modules, module_bytes, lost_modules;
	uint64_t counts_launches; // they are counted at all
	uint64_t graphs;          // launches of graphs, whose kernels are not told of
	uint64_t lost_launches;
	// what it took, of the program's threads but for `read_ns`
	uint64_t enable_ns, disable_ns, module_ns, read_ns;
	struct samples_exact exact;
};

struct samples_function {
	uint64_t crc;        // of its module
	uint32_t symbol;     // its place among the module's symbols
	uint32_t name_bytes; // of the whole name
	uint64_t name_hash;
	char name[SAMPLES_NAME_BYTES]; // its beginning
};

struct samples_launch {
	uint64_t name_hash; // 0: vacant
	uint64_t launches;
	uint64_t warps; // of those
};

struct samples_record {
	uint64_t pc;
	uint32_t function; // its place
	uint32_t unused;
	union {
		uint32_t counts[SAMPLES_REASONS]; // samples, by the place in `reasons`
		struct {
			uint64_t warps;   // executions
			uint64_t threads; // executions by lanes whose predicate was true
		} exact;                  // in the file of a process that counted
	};
};

// A file is these one after another; it may end before the last.
struct samples_file {
	struct samples_header header;
	struct samples_launch launches[SAMPLES_LAUNCHES];
	struct samples_function functions[SAMPLES_FUNCTIONS];
	struct samples_record records[SAMPLES_RECORDS];
};

// FNV-1a of a kernel's name; never 0.
static inline uint64_t samples_hash(const char *name, uint32_t *bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint32_t count = 0;

	for (; name[count]; count++)
		hash = (hash ^ (uint8_t)name[count]) * UINT64_C(0x100000001b3);
	*bytes = count;
	return hash ? hash : 1;
}
