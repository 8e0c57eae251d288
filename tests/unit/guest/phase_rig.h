// SPDX-License-Identifier: Apache-2.0
// The recorder's module, called as programs call it, and the marks in the trace. Include after
// cmocka.h.
#pragma once
#include "guest_trace.h"
#include "programs/itt_client.h"
#include "programs/nvtx_client.h"

#include <errno.h>

static const char *module_path;
static void *module;
static void (*own_begin)(const char *);
static void (*own_end)(void);

static inline void open_module(void)
{
	module = dlopen(module_path, RTLD_LAZY | RTLD_LOCAL);
	if (!module)
		abort();
	void *begin = dlsym(module, "tare_phase_begin"), *end = dlsym(module, "tare_phase_end");
	memcpy(&own_begin, &begin, sizeof begin);
	memcpy(&own_end, &end, sizeof end);
}

// In the recorded process: its exit status says which line was wrong.
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline void text_of(const struct guest_trace *trace, uint32_t id, char *text, size_t size)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	text[0] = 0;
	while (id && (record = next_record(trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_STRING && record->string.id == id) {
			assert_true(record->string.offset + record->string.bytes < size);
			memcpy(text + record->string.offset, record->string.text,
			       record->string.bytes);
			text[record->string.offset + record->string.bytes] = 0;
		}
}

// "<" begin, ">" end, "!" instant; T, I or N; the name, "@DOMAIN" and "#" when it has an identity.
static inline void describe(const struct guest_trace *trace, char *text, size_t size)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t used = 0;
	text[0] = 0;
	while ((record = next_record(trace, &place))) {
		char name[2048], domain[2048];
		if (tare_trace_type(record->head) != TARE_TRACE_PHASE)
			continue;
		text_of(trace, record->phase.name, name, sizeof name);
		text_of(trace, record->phase.domain, domain, sizeof domain);
		used +=
		    (size_t)snprintf(text + used, size - used, "%s%c%c%s%s%s%s", used ? " " : "",
		                     "!<>"[tare_trace_detail(record->head)],
		                     "TIN"[tare_trace_record_flags(record->head)], name,
		                     *domain ? "@" : "", domain, record->phase.value ? "#" : "");
		assert_true(used < size);
	}
}

static inline void expect_marks(int (*body)(void *), const char *options, const char *marks)
{
	struct guest_trace trace;
	char text[8192];
	assert_int_equal(run_recorded(folder, options, body, NULL), 0);
	trace = only_trace();
	describe(&trace, text, sizeof text);
	assert_string_equal(text, marks);
	assert_int_equal(trace.header->api, TARE_TRACE_NO_API);
	assert_int_equal(trace.header->state, TARE_TRACE_ENDED);
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}
