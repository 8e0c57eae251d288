// SPDX-License-Identifier: Apache-2.0
// Where members of CPython's structures are, in bytes, of 64-bit builds with the global lock;
// tests/headers compares this with the headers of a Python that is installed.
#pragma once
#include <stdint.h>

struct guest_python_layout {
	// The minor version; of PyThreadState; of what that points to or, where c_frame is 0, of
	// PyThreadState itself.
	uint8_t minor, c_frame, frame;
	uint8_t code, previous, at, owner; // of _PyInterpreterFrame
	uint8_t instructions;              // of PyCodeObject
	uint8_t text;                      // of a compact string of ASCII characters
};

// As in the headers of 3.11.7, 3.12.1 and 3.13.0.
static const struct guest_python_layout guest_python_layouts[] = {
	{ 11, 56, 8, 32, 48, 56, 69, 184, 48 },
	{ 12, 56, 0, 0, 8, 56, 70, 192, 40 },
	{ 13, 0, 72, 0, 8, 56, 70, 200, 40 },
};
enum {
	GUEST_PYTHON_TYPE = 8,         // of PyObject
	GUEST_PYTHON_INTERPRETER = 16, // of PyThreadState
	GUEST_PYTHON_FILE_NAME = 112,  // of PyCodeObject
	GUEST_PYTHON_NAME = 128,       // of PyCodeObject, as it is qualified
	GUEST_PYTHON_LENGTH = 16,      // of PyASCIIObject
	GUEST_PYTHON_STATE = 32,       // of PyASCIIObject
	GUEST_PYTHON_COMPACT_ASCII = 0x60,
	GUEST_PYTHON_OWNER_C = 3, // of a frame that stands for C's
};
