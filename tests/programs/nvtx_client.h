// SPDX-License-Identifier: Apache-2.0
// A stand-in for the NVTX that real programs have as a header: it loads $NVTX_INJECTION64_PATH and
// lets that set its function pointers. Written from the documented interface; include it once in a
// program.
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct nvtx_client_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type, reserved;
	union {
		uint64_t whole;
		double real;
	} payload;
	int32_t message_type; // 1 char, 2 wchar_t, 3 registered
	union {
		const char *ascii;
		const wchar_t *wide;
		void *registered;
	} message;
};

static struct {
	void (*mark_ex)(const struct nvtx_client_attributes *);
	void (*mark_a)(const char *);
	void (*mark_w)(const wchar_t *);
	uint64_t (*start_ex)(const struct nvtx_client_attributes *);
	uint64_t (*start_a)(const char *);
	uint64_t (*start_w)(const wchar_t *);
	void (*end)(uint64_t);
	int (*push_ex)(const struct nvtx_client_attributes *);
	int (*push_a)(const char *);
	int (*push_w)(const wchar_t *);
	int (*pop)(void);
	void (*name_category_a)(uint32_t, const char *);
	void (*domain_mark_ex)(void *, const struct nvtx_client_attributes *);
	uint64_t (*domain_start_ex)(void *, const struct nvtx_client_attributes *);
	void (*domain_end)(void *, uint64_t);
	int (*domain_push_ex)(void *, const struct nvtx_client_attributes *);
	int (*domain_pop)(void *);
	void *(*register_a)(void *, const char *);
	void *(*register_w)(void *, const wchar_t *);
	void *(*create_a)(const char *);
	void *(*create_w)(const wchar_t *);
} nvtx;

#define NVTX_CLIENT(member) ((void **)(void *)&nvtx.member)
static void **nvtx_client_core[] = { NULL,
	                             NVTX_CLIENT(mark_ex),
	                             NVTX_CLIENT(mark_a),
	                             NVTX_CLIENT(mark_w),
	                             NVTX_CLIENT(start_ex),
	                             NVTX_CLIENT(start_a),
	                             NVTX_CLIENT(start_w),
	                             NVTX_CLIENT(end),
	                             NVTX_CLIENT(push_ex),
	                             NVTX_CLIENT(push_a),
	                             NVTX_CLIENT(push_w),
	                             NVTX_CLIENT(pop),
	                             NVTX_CLIENT(name_category_a),
	                             NULL };
static void **nvtx_client_core2[] = { NULL,
	                              NVTX_CLIENT(domain_mark_ex),
	                              NVTX_CLIENT(domain_start_ex),
	                              NVTX_CLIENT(domain_end),
	                              NVTX_CLIENT(domain_push_ex),
	                              NVTX_CLIENT(domain_pop),
	                              NULL,
	                              NULL,
	                              NULL,
	                              NULL,
	                              NVTX_CLIENT(register_a),
	                              NVTX_CLIENT(register_w),
	                              NVTX_CLIENT(create_a),
	                              NVTX_CLIENT(create_w),
	                              NULL };
static unsigned nvtx_client_core2_count = 14; // an older copy has fewer

static int nvtx_client_table(int module, void ****table, unsigned *count)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? nvtx_client_core : nvtx_client_core2;
	*count = module == 1 ? 13 : nvtx_client_core2_count;
	return 1;
}

static struct {
	size_t size;
	int (*table)(int, void ****, unsigned *);
} nvtx_client_callbacks = { sizeof nvtx_client_callbacks, nvtx_client_table };

static const void *nvtx_client_export(uint32_t id)
{
	return id == 1 ? &nvtx_client_callbacks : NULL;
}

// What the library says of it; 0: it does not want to.
static inline int nvtx_client_attach(void *library, const char *function)
{
	int (*init)(const void *(*)(uint32_t));
	void *found = library ? dlsym(library, function) : NULL;
	memcpy(&init, &found, sizeof init);
	return init ? init(nvtx_client_export) : 0;
}

static inline void nvtx_client_begin(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	nvtx_client_attach(path ? dlopen(path, RTLD_LAZY) : NULL, "InitializeInjectionNvtx2");
}

// Calls nvtx.FUNCTION, or gives what NVTX gives when nobody listens.
#define NVTX_CALL(function, ...) (nvtx.function ? nvtx.function(__VA_ARGS__) : (void)0)
#define NVTX_GET(nobody, function, ...) (nvtx.function ? nvtx.function(__VA_ARGS__) : (nobody))
