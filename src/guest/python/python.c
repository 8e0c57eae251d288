// SPDX-License-Identifier: Apache-2.0
#include "guest/python/python.h"

#include "guest/api.h"
#include "guest/internal.h"
#include "guest/python/layout.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_PASSED = 64,
	MOST_TEXT = 400,
	COUNT = sizeof guest_python_layouts / sizeof *guest_python_layouts,
	LINE_SHIFT = 32,
	MOST_LINE = (1 << 24) - 1,
};

static const struct guest_python_layout *layout; // NULL: none that is known
static uint64_t python_from, python_to;
static const void *code_type, *text_type;
static struct guest_map *known; // frames as records have them, by what they are
static void *(*this_thread)(void);
static void *(*interpreter_of)(void *thread);
static int (*line_of)(const void *code, int at);

static const char *pointer_at(const char *base, size_t offset)
{
	const char *pointer;
	memcpy(&pointer, base + offset, sizeof pointer);
	return pointer;
}

// ---- whether it is there

static bool is_python(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return strncmp(name, "python3", 7) == 0 || strncmp(name, "libpython3", 10) == 0;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *found)
{
	char path[512];
	ssize_t bytes;
	(void)size;
	if (object->dlpi_name && *object->dlpi_name)
		return *(bool *)found = is_python(object->dlpi_name);
	bytes = readlink("/proc/self/exe", path, sizeof path - 1);
	path[bytes > 0 ? bytes : 0] = '\0';
	return *(bool *)found = is_python(path);
}

static bool find(const char *name, void *function)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &address, sizeof address);
	return address != NULL;
}

static const struct guest_python_layout *find_layout(void)
{
	const unsigned long *version;
	void *free_threads;
	if (!find("Py_Version", &version) || *version >> 24 != 3)
		return NULL;
	// Without the global lock its structures are others.
	if (find("_Py_MergeZeroLocalRefcount", &free_threads))
		return NULL;
	for (size_t i = 0; i < COUNT; i++)
		if (guest_python_layouts[i].minor == (*version >> 16 & 255))
			return &guest_python_layouts[i];
	return NULL;
}

static bool find_functions(void)
{
	struct guest_module_place place;
	void *evaluates;
	if (!find("PyGILState_GetThisThreadState", &this_thread) ||
	    !find("PyThreadState_GetInterpreter", &interpreter_of) ||
	    !find("PyCode_Addr2Line", &line_of) || !find("PyCode_Type", &code_type) ||
	    !find("PyUnicode_Type", &text_type) || !find("_PyEval_EvalFrameDefault", &evaluates) ||
	    !guest_module_find((uint64_t)(uintptr_t)evaluates, &place))
		return false;
	python_from = place.from;
	python_to = place.to;
	known = guest_map_new();
	return known != NULL;
}

void guest_python_begin(void)
{
	const struct guest_python_layout *found;
	bool is_there = false;
	// dlsym(3) leaves an error behind where it finds nothing: only Python is asked.
	dl_iterate_phdr(look_at, &is_there);
	if (sizeof(void *) != 8 || !is_there)
		return;
	found = find_layout();
	layout = found && find_functions() ? found : NULL;
	dlerror();
}

bool guest_python_is(uint64_t address)
{
	return address >= python_from && address < python_to;
}

// ---- frames

static const char *innermost(void)
{
	char *thread = this_thread();
	const char *holder = thread;
	// A thread of another layout does not tell its interpreter where we look for it.
	if (!thread || pointer_at(thread, GUEST_PYTHON_INTERPRETER) != interpreter_of(thread))
		return NULL;
	if (layout->c_frame)
		holder = pointer_at(thread, layout->c_frame);
	return holder ? pointer_at(holder, layout->frame) : NULL;
}

void guest_python_now(struct guest_python *now)
{
	const char *frame;
	now->count = 0;
	now->key = 0;
	if (!layout)
		return;
	frame = innermost();
	for (uint32_t i = 0; frame && i < MOST_PASSED && now->count < GUEST_PYTHON_FRAMES; i++) {
		const char *code = pointer_at(frame, layout->code);
		const char *at = pointer_at(frame, layout->at);
		if (frame[layout->owner] != GUEST_PYTHON_OWNER_C && code &&
		    pointer_at(code, GUEST_PYTHON_TYPE) == code_type) {
			now->code[now->count] = code;
			now->instruction[now->count++] = at;
			now->key = (now->key ^ (uintptr_t)at) * UINT64_C(0x9e3779b97f4a7c15);
			now->key ^= now->key >> 29;
		}
		frame = pointer_at(frame, layout->previous);
	}
}

// At most `room` characters, and no end.
static size_t copy_text(char *to, size_t room, const char *text)
{
	static const char none[] = "?";
	const char *from = none;
	size_t length = 1;
	uint32_t state;
	if (text && pointer_at(text, GUEST_PYTHON_TYPE) == text_type) {
		memcpy(&state, text + GUEST_PYTHON_STATE, sizeof state);
		if ((state & GUEST_PYTHON_COMPACT_ASCII) == GUEST_PYTHON_COMPACT_ASCII) {
			from = text + layout->text;
			memcpy(&length, text + GUEST_PYTHON_LENGTH, sizeof length);
		}
	}
	if (length > room) { // the end of a path says more
		from += length - room;
		length = room;
	}
	memcpy(to, from, length);
	return length;
}

static uint64_t define(const char *code, const char *instruction)
{
	char text[2 * MOST_TEXT + 1];
	size_t bytes = copy_text(text, MOST_TEXT, pointer_at(code, GUEST_PYTHON_FILE_NAME));
	int line = line_of(code, (int)(instruction - (code + layout->instructions)));
	uint32_t id;
	text[bytes++] = '\n';
	bytes += copy_text(text + bytes, MOST_TEXT, pointer_at(code, GUEST_PYTHON_NAME));
	id = guest_text(text, bytes);
	line = line > 0 && line <= MOST_LINE ? line : 0;
	return id ? TARE_TRACE_FRAME_TEXT | (uint64_t)line << LINE_SHIFT | id : 0;
}

uint64_t guest_python_frame(const struct guest_python *now, uint32_t i)
{
	const char *code = now->code[i];
	// Another one may be made where one was: it seldom has the same names, too.
	const void *what[] = { now->instruction[i], pointer_at(code, GUEST_PYTHON_FILE_NAME),
		               pointer_at(code, GUEST_PYTHON_NAME),
		               (const void *)(uintptr_t)atomic_load(&guest_process) };
	const void *key = guest_hash_key(guest_hash(GUEST_HASH_START, what, sizeof what));
	uint64_t frame = guest_map_find(known, key, 0);
	if (!frame) {
		frame = define(code, now->instruction[i]);
		if (frame)
			guest_map_put(known, key, frame);
	}
	return frame;
}
