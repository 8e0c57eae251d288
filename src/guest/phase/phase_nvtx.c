// SPDX-License-Identifier: Apache-2.0
// NVTX: a program's copy of the header-only library loads $NVTX_INJECTION64_PATH and calls
// InitializeInjectionNvtx2 with a function that leads to its tables of function pointers, of which
// we set those of ranges and marks. What is left alone does nothing. Each library of the program
// may have a copy of its own. The binary interface below is NVTX's, versions 2 and 3.
#include "guest/phase/phase.h"

#include <errno.h>
#include <wchar.h>

#define EXPORTED __attribute__((visibility("default")))

enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };
enum { NO_TRACKING = -2, NOT_OPEN = -1 };

typedef void (*nvtx_function)(void);
struct nvtx_callbacks {
	size_t bytes;
	int (*module_table)(int module, nvtx_function ***table, unsigned *count);
};
struct nvtx_attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const char *kept; // a registered string is the text that guest_phase_keep gave
	} message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "as in NVTX");

typedef const void *(*nvtx_export_table)(uint32_t id);
EXPORTED int InitializeInjectionNvtx2(nvtx_export_table export_table);
EXPORTED int InitializeInjectionNvtx(nvtx_export_table export_table);

// An extension's functions: payloads are the second one.
enum { EXTENSION_PAYLOAD = 2 };
struct nvtx_segment {
	size_t id, count;
	nvtx_function *functions;
};
struct nvtx_extension {
	uint16_t version, bytes, module, compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
};
EXPORTED int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

// ---- texts

static size_t put_character(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	to[0] = (char)(first[more] | c >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	return more + 1;
}

// UTF-8 of a wide text, cut to what a name may have.
static const char *narrow(const wchar_t *wide, char text[GUEST_PHASE_TEXT + 1])
{
	size_t used = 0;
	for (; wide && *wide && used + 4 <= GUEST_PHASE_TEXT; wide++)
		used += put_character(text + used, (uint32_t)*wide);
	text[used] = 0;
	return text;
}

// The message of attributes; wide ones are put into `text`.
static const char *message_of(const struct nvtx_attributes *attributes,
                              char text[GUEST_PHASE_TEXT + 1])
{
	if (!attributes || attributes->bytes < sizeof *attributes)
		return NULL;
	switch (attributes->message_type) {
	case MESSAGE_ASCII:
		return attributes->message.ascii;
	case MESSAGE_UNICODE:
		return narrow(attributes->message.wide, text);
	case MESSAGE_REGISTERED:
		return attributes->message.kept;
	default:
		return NULL;
	}
}

// ---- what all forms of a call come to. A domain's handle is its name, kept; NULL: none.

// Returns the level of what begins, from 0.
static int push(const char *domain, const char *name)
{
	int error = errno, level = NO_TRACKING, *depth;
	guest_phase_begin(TARE_PHASE_NVTX, name, domain, 0);
	depth = guest_phase_depth(domain);
	if (depth)
		level = (*depth)++;
	errno = error;
	return level;
}

// Returns the level of what ends; less than 0: there is nothing to end.
static int pop(const char *domain)
{
	int error = errno, level = NO_TRACKING, *depth = guest_phase_depth(domain);
	if (depth)
		level = *depth > 0 ? --*depth : NOT_OPEN;
	if (level >= 0)
		guest_phase_end(TARE_PHASE_NVTX, domain, 0);
	errno = error;
	return level;
}

static uint64_t start(const char *domain, const char *name)
{
	static _Atomic uint64_t last;
	int error = errno;
	uint64_t id = atomic_fetch_add(&last, 1) + 1;
	guest_phase_begin(TARE_PHASE_NVTX, name, domain, id);
	errno = error;
	return id;
}

static void end(const char *domain, uint64_t id)
{
	int error = errno;
	if (id)
		guest_phase_end(TARE_PHASE_NVTX, domain, id);
	errno = error;
}

static void mark(const char *domain, const char *name)
{
	int error = errno;
	guest_phase_instant(TARE_PHASE_NVTX, name, domain);
	errno = error;
}

static const char *keep(const char *text)
{
	int error = errno;
	const char *kept = text ? guest_phase_keep(text) : NULL;
	errno = error;
	return kept;
}

// ---- the functions that programs call

static int push_a(const char *name)
{
	return push(NULL, name);
}

static int push_w(const wchar_t *name)
{
	char text[GUEST_PHASE_TEXT + 1];
	return push(NULL, narrow(name, text));
}

static int domain_push(const char *domain, const struct nvtx_attributes *attributes)
{
	char text[GUEST_PHASE_TEXT + 1];
	return push(domain, message_of(attributes, text));
}

static int push_ex(const struct nvtx_attributes *attributes)
{
	return domain_push(NULL, attributes);
}

static int domain_pop(const char *domain)
{
	return pop(domain);
}

static int core_pop(void)
{
	return pop(NULL);
}

static uint64_t start_a(const char *name)
{
	return start(NULL, name);
}

static uint64_t start_w(const wchar_t *name)
{
	char text[GUEST_PHASE_TEXT + 1];
	return start(NULL, narrow(name, text));
}

static uint64_t domain_start(const char *domain, const struct nvtx_attributes *attributes)
{
	char text[GUEST_PHASE_TEXT + 1];
	return start(domain, message_of(attributes, text));
}

static uint64_t start_ex(const struct nvtx_attributes *attributes)
{
	return domain_start(NULL, attributes);
}

static void domain_end(const char *domain, uint64_t id)
{
	end(domain, id);
}

static void core_end(uint64_t id)
{
	end(NULL, id);
}

static void mark_a(const char *name)
{
	mark(NULL, name);
}

static void mark_w(const wchar_t *name)
{
	char text[GUEST_PHASE_TEXT + 1];
	mark(NULL, narrow(name, text));
}

static void domain_mark(const char *domain, const struct nvtx_attributes *attributes)
{
	char text[GUEST_PHASE_TEXT + 1];
	mark(domain, message_of(attributes, text));
}

static void mark_ex(const struct nvtx_attributes *attributes)
{
	domain_mark(NULL, attributes);
}

static const char *register_a(const char *domain, const char *string)
{
	(void)domain;
	return keep(string);
}

static const char *register_w(const char *domain, const wchar_t *string)
{
	char text[GUEST_PHASE_TEXT + 1];
	(void)domain;
	return string ? keep(narrow(string, text)) : NULL;
}

static const char *create_a(const char *name)
{
	return keep(name);
}

static const char *create_w(const wchar_t *name)
{
	return register_w(NULL, name);
}

// ---- the tables

struct entry {
	unsigned id;
	nvtx_function function;
};

static const struct entry core[] = {
	{ 1, (nvtx_function)mark_ex },   { 2, (nvtx_function)mark_a },
	{ 3, (nvtx_function)mark_w },    { 4, (nvtx_function)start_ex },
	{ 5, (nvtx_function)start_a },   { 6, (nvtx_function)start_w },
	{ 7, (nvtx_function)core_end },  { 8, (nvtx_function)push_ex },
	{ 9, (nvtx_function)push_a },    { 10, (nvtx_function)push_w },
	{ 11, (nvtx_function)core_pop }, { 0, NULL },
};
static const struct entry core2[] = {
	{ 1, (nvtx_function)domain_mark }, { 2, (nvtx_function)domain_start },
	{ 3, (nvtx_function)domain_end },  { 4, (nvtx_function)domain_push },
	{ 5, (nvtx_function)domain_pop },  { 10, (nvtx_function)register_a },
	{ 11, (nvtx_function)register_w }, { 12, (nvtx_function)create_a },
	{ 13, (nvtx_function)create_w },   { 0, NULL },
};

// Sets what the program's table has room for. A table is an array of places of pointers.
static void fill(const struct nvtx_callbacks *callbacks, int module, const struct entry *entries)
{
	nvtx_function **table = NULL;
	unsigned count = 0;
	if (!callbacks->module_table(module, &table, &count) || !table)
		return;
	for (; entries->function; entries++)
		if (entries->id < count && table[entries->id])
			*table[entries->id] = entries->function;
}

// Returns 1: the program keeps us loaded and calls what was set.
int InitializeInjectionNvtx2(nvtx_export_table export_table)
{
	int error = errno;
	const struct nvtx_callbacks *callbacks =
	    export_table ? export_table(TABLE_CALLBACKS) : NULL;
	bool whole = callbacks && callbacks->bytes >= sizeof *callbacks && callbacks->module_table;
	if (whole) {
		fill(callbacks, MODULE_CORE, core);
		fill(callbacks, MODULE_CORE2, core2);
	}
	errno = error;
	return whole;
}

int InitializeInjectionNvtx(nvtx_export_table export_table)
{
	return InitializeInjectionNvtx2(export_table);
}

// ---- the extension for payloads: what begins by one call may end by one of these, as in NCCL

// The name that a payload may hold is not looked for.
static void payload_mark(const char *domain, const void *data, size_t count)
{
	(void)data, (void)count;
	mark(domain, NULL);
}

static int payload_push(const char *domain, const void *data, size_t count)
{
	(void)data, (void)count;
	return push(domain, NULL);
}

static int payload_pop(const char *domain, const void *data, size_t count)
{
	(void)data, (void)count;
	return pop(domain);
}

static uint64_t payload_start(const char *domain, const void *data, size_t count)
{
	(void)data, (void)count;
	return start(domain, NULL);
}

static void payload_end(const char *domain, uint64_t id, const void *data, size_t count)
{
	(void)data, (void)count;
	end(domain, id);
}

static const struct entry payload[] = {
	{ 2, (nvtx_function)payload_mark }, { 3, (nvtx_function)payload_push },
	{ 4, (nvtx_function)payload_pop },  { 5, (nvtx_function)payload_start },
	{ 6, (nvtx_function)payload_end },  { 0, NULL },
};

// Returns 1: it is one whose functions are set.
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const struct nvtx_segment *segment;
	if (!extension || extension->bytes < sizeof *extension ||
	    extension->module != EXTENSION_PAYLOAD || !extension->segment_count)
		return 0;
	segment = extension->segments;
	for (const struct entry *each = payload; each->function; each++)
		if (each->id < segment->count)
			segment->functions[each->id] = each->function;
	return 1;
}
