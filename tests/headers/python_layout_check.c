// SPDX-License-Identifier: Apache-2.0
// Our offsets of CPython's structures (src/guest/python/layout.h) against the headers of the Python
// that is installed.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>

#include "guest/python/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void same(const char *what, size_t ours, size_t theirs)
{
	if (ours != theirs)
		printf("# %s: ours %zu, theirs %zu\n", what, ours, theirs);
	wrong += ours != theirs;
}

static size_t state_of_ascii(void)
{
	PyASCIIObject text;
	unsigned int state;
	memset(&text, 0, sizeof text);
	text.state.compact = text.state.ascii = 1;
	memcpy(&state, (const char *)&text + GUEST_PYTHON_STATE, sizeof state);
	return state;
}

static void check(const struct guest_python_layout *ours)
{
#if PY_VERSION_HEX < 0x030d0000
	same("c_frame", ours->c_frame, offsetof(PyThreadState, cframe));
	same("frame", ours->frame, offsetof(_PyCFrame, current_frame));
	same("code", ours->code, offsetof(_PyInterpreterFrame, f_code));
	same("at", ours->at, offsetof(_PyInterpreterFrame, prev_instr));
#else
	same("c_frame", ours->c_frame, 0);
	same("frame", ours->frame, offsetof(PyThreadState, current_frame));
	same("code", ours->code, offsetof(_PyInterpreterFrame, f_executable));
	same("at", ours->at, offsetof(_PyInterpreterFrame, instr_ptr));
#endif
	same("previous", ours->previous, offsetof(_PyInterpreterFrame, previous));
	same("owner", ours->owner, offsetof(_PyInterpreterFrame, owner));
	same("instructions", ours->instructions, offsetof(PyCodeObject, co_code_adaptive));
	same("text", ours->text, sizeof(PyASCIIObject));
	same("type", GUEST_PYTHON_TYPE, offsetof(PyObject, ob_type));
	same("interpreter", GUEST_PYTHON_INTERPRETER, offsetof(PyThreadState, interp));
	same("file", GUEST_PYTHON_FILE_NAME, offsetof(PyCodeObject, co_filename));
	same("name", GUEST_PYTHON_NAME, offsetof(PyCodeObject, co_qualname));
	same("length", GUEST_PYTHON_LENGTH, offsetof(PyASCIIObject, length));
	same("state", GUEST_PYTHON_COMPACT_ASCII, state_of_ascii());
#if PY_VERSION_HEX >= 0x030c0000
	same("owner of C", GUEST_PYTHON_OWNER_C, FRAME_OWNED_BY_CSTACK);
#endif
}

int main(void)
{
	size_t count = sizeof guest_python_layouts / sizeof *guest_python_layouts, seen = 0;
	for (size_t i = 0; i < count; i++)
		if (guest_python_layouts[i].minor == PY_MINOR_VERSION) {
			check(&guest_python_layouts[i]);
			seen++;
		}
	printf("1..1\n%s 1 - members of Python %s are where they are looked for%s\n",
	       wrong ? "not ok" : "ok", PY_VERSION, seen ? "" : " # SKIP its frames are not read");
	return wrong != 0;
}
