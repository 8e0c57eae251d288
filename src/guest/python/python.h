// SPDX-License-Identifier: Apache-2.0
// The frames of Python that a thread is in (CPython 3.11 to 3.13), read from the interpreter's own
// structures: without its lock, which its owner may have let go of, without malloc, and nothing is
// held. Of other versions there are none. docs/call-stacks.md says which.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { GUEST_PYTHON_FRAMES = 16 };

// Of this thread, the innermost first; the rest is left out.
struct guest_python {
	uint32_t count;
	uint64_t key; // differs where one of them is elsewhere
	const char *code[GUEST_PYTHON_FRAMES], *instruction[GUEST_PYTHON_FRAMES];
};

// Looks whether the program is an interpreter that is known. Once a process image.
void guest_python_begin(void);
// count 0: the thread runs no Python.
void guest_python_now(struct guest_python *now);
// Whether a return address is in the interpreter: what lies outside of it is told by its frames.
bool guest_python_is(uint64_t address);
// Frame `i` as a STACK record has it, its text defined; 0: there was no room.
uint64_t guest_python_frame(const struct guest_python *now, uint32_t i);
