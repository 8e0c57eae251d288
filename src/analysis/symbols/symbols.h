// SPDX-License-Identifier: Apache-2.0
// Turns the addresses of recorded call stacks into functions, files and lines, by elfutils. What
// cannot be found is shown as an address in its module. Nothing is fetched from a network.
#pragma once
#include "analysis/ledger/ledger.h"
#include "analysis/recording/recording.h"

struct tare_symbols;

struct tare_frame {
	const char *function; // demangled; NULL: not known
	const char *file;     // NULL: not known
	int line;             // 0: not known
	const char *module;   // path; "": not known
	uint64_t address;     // in the module's file, of the call
	bool inlined;         // into the frame after it
};

// Opens no file yet; those that are needed are opened when asked for, once. Returns 0 or -ENOMEM;
// without elfutils every frame is an address.
int tare_symbols_open(const struct tare_recording *recording, struct tare_symbols **symbols,
                      struct tare_error *error);
void tare_symbols_free(struct tare_symbols *symbols); // accepts NULL

// The frames of a stack, the innermost first, inlined ones on their own; valid until
// tare_symbols_free. 0 for TARE_NO_INDEX.
size_t tare_symbols_frames(struct tare_symbols *symbols, uint32_t stack,
                           const struct tare_frame **frames);
// The frame to show for a stack: the innermost one of the program itself or, where it has none, of
// a library that is no part of the API or the C library. NULL: none.
const struct tare_frame *tare_symbols_site(struct tare_symbols *symbols, uint32_t stack);
// "step.c:214", "advance (app)", "app+0x12f4"; "" where there is none.
const char *tare_symbols_text(struct tare_symbols *symbols, uint32_t stack);

// Why lines are missing, a sentence, or NULL: "app has no debug information: build with -g".
const char *tare_symbols_problem(const struct tare_symbols *symbols);

// Where commands come from: one row a (site, kind, kernel or direction), by what it costs.
struct tare_site_row {
	uint32_t stack; // one of them
	const char *text;
	uint8_t kind;     // enum tare_trace_command_kind; 0: calls that are no command
	const char *what; // the kernel's name, "write", "clFinish"
	uint32_t stacks;  // different ones that end at this site
	uint64_t count, bytes;
	int64_t device_ns; // device time of the commands
	int64_t host_ns;   // in the calls
	// of the idle gaps that the ledger lists: those that its commands ended
	int64_t gap_ns;
};
struct tare_sites {
	struct tare_site_row *rows; // by the larger of device_ns and host_ns
	size_t count;
	uint64_t without; // commands of the view whose stack is not known
};
int tare_sites_compute(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, struct tare_symbols *symbols,
                       struct tare_sites *sites, struct tare_error *error);
void tare_sites_free(struct tare_sites *sites);
