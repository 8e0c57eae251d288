// SPDX-License-Identifier: Apache-2.0
// What tare blocks and its layer inside the program say to each other: two environment
// variables, and files in one folder. All of one machine and one build: numbers are the machine's
// own.
//
// The first run of the program writes a BUILD for each build of a program that a kernel is taken
// from. Of a program that was linked it is a list of its parts, which are PARTs. Between the runs
// tare writes a MODULE for each that could be instrumented. The second run launches kernels of
// those, and writes COUNTS, one file a process.
#pragma once
#include <stdint.h>

// The folder's absolute path; not set or empty: the layer does nothing.
#define BLOCKS_ENVIRONMENT_FOLDER "TARE_BLOCKS"
// "collect", "count", or "change": kernels are those of the MODULEs, which count nothing.
#define BLOCKS_ENVIRONMENT_STAGE "TARE_BLOCKS_STAGE"
#define BLOCKS_STAGE_COLLECT "collect"
#define BLOCKS_STAGE_COUNT "count"
#define BLOCKS_STAGE_CHANGE "change"
// Build options in the place of the program's own, which may be "", and pragmas (words.h). Not set:
// its own are kept.
#define BLOCKS_ENVIRONMENT_OPTIONS "TARE_BLOCKS_OPTIONS"

// "BYTES KERNELS": less room than BLOCKS_AREA_BYTES and BLOCKS_KERNELS, for tests of what then is;
// with 0 bytes there is none for COUNTS at all.
#define BLOCKS_ENVIRONMENT_LIMITS "TARE_BLOCKS_LIMITS"

// For tests of devices that are no CPUs, on those that are: words of "far" (counters are in memory
// of the device), "no-int64-atomics", "no-spirv", and "from=NUMBER", with which all counters in
// such memory begin.
#define BLOCKS_ENVIRONMENT_DEVICE "TARE_BLOCKS_DEVICE"

#define BLOCKS_LIBRARY "libtare-blocks.so"
#define BLOCKS_PTX_LIBRARY "libtare-ptx.so" // of CUDA programs (guest/ptx)

// Names of files: %016 and the hash, or the process's number. An empty one: there was no room for
// it.
#define BLOCKS_BUILD_SUFFIX ".build"
#define BLOCKS_MODULE_SUFFIX ".module"
#define BLOCKS_COUNTS_SUFFIX ".counts"
#define BLOCKS_ORIGIN_SUFFIX ".origin" // by a binary's hash: that of its BUILD or PART
#define BLOCKS_PART_SUFFIX ".part"
#define BLOCKS_HEADERS_SUFFIX ".headers"
#define BLOCKS_HELD_SUFFIX ".held" // by a BUILD's hash: the program asks where its variables lie
// Of a BUILD in PTX that an OpenCL driver made: the program's own source, and the same PTX with
// lines of that.
#define BLOCKS_SOURCE_SUFFIX ".source"
#define BLOCKS_LINED_SUFFIX ".lined"

#define BLOCKS_MAGIC UINT64_C(0x31736b636f6c62) // "blocks1"

enum blocks_language {
	BLOCKS_OPENCL_C = 1,
	BLOCKS_SPIRV = 2,
	// Of programs that were linked: its text is the hashes of its parts, as numbers, each that
	// of a PART. A library is a PART that is joined, too.
	BLOCKS_JOINED = 3,
	BLOCKS_PTX = 4, // text
	// A fat binary of CUDA's, which may hold PTX. Its version is the device's compute
	// capability, times ten ("90"); "": not known.
	BLOCKS_FAT = 5,
};

enum blocks_api {
	BLOCKS_OPENCL = 1,
	BLOCKS_LEVEL_ZERO = 2,
	BLOCKS_CUDA = 3,
};

// A BUILD or a PART: this, then the texts of those lengths one after another, without ends.
struct blocks_build {
	uint64_t magic;
	uint32_t api;      // enum blocks_api
	uint32_t language; // enum blocks_language
	uint32_t images;   // whether the device supports images
	uint32_t options_bytes;
	uint32_t extensions_bytes; // names of CL_DEVICE_OPENCL_C_FEATURES, CL_DEVICE_EXTENSIONS
	uint32_t version_bytes;    // CL_DEVICE_VERSION
	uint32_t platform_bytes;   // CL_PLATFORM_VERSION
	uint32_t carries;          // the device has no atomic additions of 64 bits
	uint64_t text_bytes;
	uint64_t headers; // hash of the HEADERS that it was compiled with; 0: none
};

// HEADERS: this for each of them, with its name and its text behind it, without ends.
struct blocks_header {
	uint64_t name_bytes, text_bytes;
};

#define BLOCKS_NAME_BYTES 512
#define BLOCKS_ARGUMENTS 16 // of a kernel, whose values are noted
#define BLOCKS_FIXED 16     // of a module

#define BLOCKS_GROUPS UINT32_MAX

// An argument by value of which a changed kernel holds the value: launches with another one are not
// the changed kernel's. Or, with BLOCKS_GROUPS, a kernel whose work-groups take another size, one
// that fills the device's width.
struct blocks_fixed {
	char kernel[BLOCKS_NAME_BYTES];
	uint32_t argument, bytes;
	uint64_t value; // its low bytes
};

// A MODULE: this, then the same module as SPIR-V and as bitcode; either may have no bytes. Or it is
// OpenCL C with the options to build it with, both with an end; or PTX, with an end.
struct blocks_module {
	uint64_t magic;
	uint32_t rows, row_counters;         // of one kernel's counters (blocks/instrument.h)
	uint32_t sample_items, sample_words; // of its sample, behind them (blocks/sample.h)
	uint64_t spirv_bytes, bitcode_bytes, source_bytes, source_options_bytes, ptx_bytes;
	// To build SPIR-V, bitcode or PTX with. Of CUDA's PTX what the names of its variables of
	// counters begin with; the kernel's name follows.
	char options[256];
	uint32_t fixed_count, unused;
	struct blocks_fixed fixed[BLOCKS_FIXED];
};

// Why launches of a kernel were not counted.
enum blocks_why {
	BLOCKS_COVERED,
	BLOCKS_NO_SOURCE,     // made from a binary, or built in
	BLOCKS_LINKED,        // of parts that are not all known, or in a way that is not followed
	BLOCKS_NO_INTAKE,     // a device that is no CPU and takes no SPIR-V
	BLOCKS_SPECIALISED,   // specialisation constants were set
	BLOCKS_NO_MODULE,     // not instrumented: tare says why, or the first run did not build it
	BLOCKS_BUILD_FAILED,  // the driver did not build the instrumented module; `code`
	BLOCKS_KERNEL_FAILED, // or gave no such kernel from it, or not with its arguments; `code`
	BLOCKS_ARGUMENT_FAILED, // took an argument for the kernel, but not for its twin; `code`
	BLOCKS_LAUNCH_FAILED,   // or launched only the former; `code`
	BLOCKS_NO_ROOM,         // for counters, on the disk
	BLOCKS_NO_AREA,         // for counters: other kernels' take all that a process may
	BLOCKS_POINTERS,        // arguments were set by an extension's functions
	BLOCKS_INDIRECT,        // many are launched at once, and the device reads how many of them
	BLOCKS_OTHER_VALUE,     // an argument has another value than the changed module is for
	BLOCKS_NO_GROUPS,       // no size of work-groups fills the device's width
	BLOCKS_NO_MEMORY,       // the device gave none for counters, or took no zeros; `code`
	BLOCKS_NO_PTX,          // a CUDA kernel of which no PTX was seen
	BLOCKS_NO_CONTEXT,      // or whose PTX came before there was a context to try ours in
	BLOCKS_CAPTURING,       // a stream was capturing, which reading the counters would break
	BLOCKS_NOT_READ,        // the counters were not read from the device; `code`
	BLOCKS_ANOTHER_CONTEXT, // of CUDA's, which has counters of its own
	BLOCKS_ANOTHER_DEVICE,  // a queue's, which is none of the program's
	BLOCKS_FAT_BINARY,      // a CUDA kernel that came in a fat binary that was not read
	BLOCKS_FAT_LINKED,      // or in one that was linked of several
	BLOCKS_MACHINE_CODE,    // or as machine code
	BLOCKS_CUDA_LINKED,     // or as machine code that cuLinkComplete made
	BLOCKS_HELD, // the program reaches variables of the module, of which the twin has others
	BLOCKS_WHYS,
};

// What a CUDA program loaded as a module or a library.
enum blocks_brought {
	BLOCKS_BROUGHT_PTX,
	BLOCKS_BROUGHT_FAT_BINARY,
	BLOCKS_BROUGHT_MACHINE_CODE,
	BLOCKS_BROUGHT_LINKED, // machine code that cuLinkComplete made
	BLOCKS_BROUGHT_OTHER,
	BLOCKS_BROUGHT_KINDS,
};

// Why launches of a process's CUDA were not seen at all.
enum blocks_unseen {
	BLOCKS_SEEN,
	BLOCKS_OLD_DRIVER,  // it lacks functions
	BLOCKS_NO_CUPTI,    // or it cannot be used
	BLOCKS_CUPTI_TAKEN, // it tells another tool, or the program
	BLOCKS_UNSEENS,
};

#define BLOCKS_NOT_TOLD UINT64_MAX
#define BLOCKS_KERNELS 1024
#define BLOCKS_MOST_PRAGMAS 8                  // of a set of options
#define BLOCKS_AREA_BYTES (UINT64_C(64) << 20) // most for the counters of a process

// What an argument by value of up to 8 bytes was set to.
struct blocks_argument {
	uint64_t value;
	uint32_t bytes; // 0: it was not set
	uint32_t varies;
};

// A kernel of one build. Rows are never taken back.
struct blocks_kernel {
	char name[BLOCKS_NAME_BYTES];
	char log[256];       // beginning of the driver's build log, of BUILD_FAILED
	uint64_t hash;       // of its BUILD; 0: none
	uint32_t why;        // of launches that were not counted, the last one's
	int32_t code;        // the vendor's
	uint64_t launches;   // that were enqueued
	uint64_t counted;    // those of them that count
	uint64_t work_items; // of the latter, without those that are `unchecked`
	uint64_t unchecked;  // launches of `counted` whose work-groups the device counts
	uint64_t at;         // where its counters lie in the file; 0: it has none
	uint32_t rows, row_counters;
	uint32_t api; // enum blocks_api
	// what the driver says of the program's kernel, where `facts` is not 0; BLOCKS_NOT_TOLD, or
	// of sub_group 0: nothing
	uint64_t multiple, sub_group, private_bytes, spill_bytes;
	uint32_t facts;
	// Whether a device counts in memory of its own, which is read back (readback.h), and of how
	// many launches it is not known that their counts have been read.
	uint32_t far;
	uint64_t unread;
	// of launches whose work-groups have a size of the program's, by the width that the driver
	// tells: work-items, and as many as their work-groups would have room for
	uint64_t lanes_used, lanes_offered;
	struct blocks_argument arguments[BLOCKS_ARGUMENTS]; // of the second run
};

struct blocks_counts {
	uint64_t magic;
	uint32_t kernels; // rows in use
	uint32_t pid;
	uint64_t lost_kernels;     // more than fit, or with longer names
	uint64_t lost_launches;    // of these
	uint64_t unknown_launches; // of kernels that came in ways that the layer does not see
	uint64_t command_buffers;  // the program asked for the functions of command buffers
	uint64_t end;              // of the counters, in the file
	// of the first build that failed with other options than the program's own; 0: none
	int32_t build_code;
	char build_log[1020]; // its beginning; "": not told
	uint64_t pragmas;     // of the set's, a bit for each that was put before a loop
	uint32_t unseen;      // enum blocks_unseen
	uint32_t unused;
	uint64_t brought[BLOCKS_BROUGHT_KINDS]; // modules and libraries of CUDA, by what they are
	uint64_t graphs; // launches of CUDA graphs of which it is not known what they run
	struct blocks_kernel kernel[BLOCKS_KERNELS];
};
