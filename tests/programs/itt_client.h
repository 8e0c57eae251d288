// SPDX-License-Identifier: Apache-2.0
// A stand-in for the static part of ITT that real programs link: it reads $INTEL_LIBITTNOTIFY64 at
// its first use, loads that library and hands it the list of functions. Written from the documented
// interface; include it once in a program.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct itt_client_function {
	const char *name;
	void **place;
	void *at_first, *nothing;
	int group;
};
struct itt_client_domain {
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_client_domain *next;
};
struct itt_client_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_client_string *next;
};
struct itt_client_id {
	unsigned long long d1, d2, d3;
};
#define ITT_CLIENT_NULL ((struct itt_client_id){ 0, 0, 0 })
struct itt_client_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long initialised, mutex_initialised, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_client_function *functions;
	struct itt_client_global *next;
	void *lists[8];
};

static struct {
	struct itt_client_domain *(*domain_create)(const char *name);
	struct itt_client_string *(*string_handle_create)(const char *name);
	void (*task_begin)(const struct itt_client_domain *, struct itt_client_id,
	                   struct itt_client_id, struct itt_client_string *);
	void (*task_begin_fn)(const struct itt_client_domain *, struct itt_client_id,
	                      struct itt_client_id, void *);
	void (*task_end)(const struct itt_client_domain *);
	void (*task_begin_overlapped)(const struct itt_client_domain *, struct itt_client_id,
	                              struct itt_client_id, struct itt_client_string *);
	void (*task_end_overlapped)(const struct itt_client_domain *, struct itt_client_id);
	void (*task_begin_ex)(const struct itt_client_domain *, void *, unsigned long long,
	                      struct itt_client_id, struct itt_client_id,
	                      struct itt_client_string *);
	void (*task_end_ex)(const struct itt_client_domain *, void *, unsigned long long);
	void (*region_begin)(const struct itt_client_domain *, struct itt_client_id,
	                     struct itt_client_id, struct itt_client_string *);
	void (*region_end)(const struct itt_client_domain *, struct itt_client_id);
	void (*frame_begin)(const struct itt_client_domain *, struct itt_client_id *);
	void (*frame_end)(const struct itt_client_domain *, struct itt_client_id *);
	void (*frame_submit)(const struct itt_client_domain *, struct itt_client_id *,
	                     unsigned long long, unsigned long long);
	void (*marker)(const struct itt_client_domain *, struct itt_client_id,
	               struct itt_client_string *, int);
	unsigned long long (*get_timestamp)(void);
	void (*pause)(void); // the recorder has none: it becomes `itt_client_nothing`
	void (*detach)(void);
} itt;

static void itt_client_nothing(void)
{
}

#define ITT_CLIENT(name, member)                                                                   \
	{ "__itt_" name, (void **)(void *)&itt.member, (void *)1, NULL, 0xffff }
static struct itt_client_function itt_client_functions[] = {
	ITT_CLIENT("domain_create", domain_create),
	ITT_CLIENT("string_handle_create", string_handle_create),
	ITT_CLIENT("task_begin", task_begin),
	ITT_CLIENT("task_begin_fn", task_begin_fn),
	ITT_CLIENT("task_end", task_end),
	ITT_CLIENT("task_begin_overlapped", task_begin_overlapped),
	ITT_CLIENT("task_end_overlapped", task_end_overlapped),
	ITT_CLIENT("task_begin_ex", task_begin_ex),
	ITT_CLIENT("task_end_ex", task_end_ex),
	ITT_CLIENT("region_begin", region_begin),
	ITT_CLIENT("region_end", region_end),
	ITT_CLIENT("frame_begin_v3", frame_begin),
	ITT_CLIENT("frame_end_v3", frame_end),
	ITT_CLIENT("frame_submit_v3", frame_submit),
	ITT_CLIENT("marker", marker),
	ITT_CLIENT("get_timestamp", get_timestamp),
	{ "__itt_pause", (void **)(void *)&itt.pause, (void *)1, (void *)itt_client_nothing, 2 },
	{ "__itt_detach", (void **)(void *)&itt.detach, (void *)1, NULL, 2 },
	{ NULL, NULL, NULL, NULL, 0 },
};

static struct itt_client_global itt_client_global = {
	.magic = { 0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30 },
	.major = 3,
	.minor = 26,
	.build = 20250807,
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.functions = itt_client_functions,
};

// Hands the list to a library that is loaded already.
static inline void itt_client_attach(void *library)
{
	void (*init)(struct itt_client_global *, int);
	void *found = library ? dlsym(library, "__itt_api_init") : NULL;
	memcpy(&init, &found, sizeof init);
	itt_client_global.library = library;
	if (init)
		init(&itt_client_global, -1);
}

static inline void itt_client_begin(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	itt_client_attach(path ? dlopen(path, RTLD_LAZY) : NULL);
}

// Calls itt.FUNCTION unless it is nothing, as the macros of the real header do.
#define ITT_CALL(function, ...) (itt.function ? itt.function(__VA_ARGS__) : (void)0)
#define ITT_GET(function, ...) (itt.function ? itt.function(__VA_ARGS__) : 0)
