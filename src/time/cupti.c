// SPDX-License-Identifier: Apache-2.0
// CUPTI, the CUDA profiling tools interface, while timers that were opened with `engines` exist.
// The library stays mapped once it is open: it keeps threads and handlers. A process has one
// subscriber, which keeps other tools' records apart from these.
#include "time/engines.h"

#include "backend/cuda/cupti/engines.h"
#include "guest/cuda/cupti_places.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const struct tare_time_symbol symbols[] = {
#define REQUIRED(name, parameters) { #name, offsetof(struct cupti_functions, name), false },
#define OPTIONAL(name, parameters) { #name, offsetof(struct cupti_functions, name), true },
	CUPTI_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

static struct {
	pthread_mutex_t lock;
	void *library; // NULL: not open
	struct cupti_functions call;
	cupti_subscriber subscriber;
	unsigned users;
	uint64_t marks; // ids given so far
} cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

// ---- the library

static void *open_matching(const char *pattern)
{
	void *library = NULL;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return NULL;
	for (size_t i = found.gl_pathc; i-- > 0 && !library;) // newest toolkit first
		library = dlopen(found.gl_pathv[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	globfree(&found);
	return library;
}

static void *open_version(const char *version)
{
	static const char *const folders[] = { CUPTI_FOLDERS };
	char text[256];
	void *library;

	snprintf(text, sizeof text, "libcupti.so.%s", version);
	library = dlopen(text, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++) {
		snprintf(text, sizeof text, "%s/libcupti.so.%s", folders[i], version);
		library = open_matching(text);
	}
	return library;
}

// One that the process has loaded comes first: two copies do not get on. Then the driver's own
// version.
static void *find_library(int driver_version)
{
	static const char *const versions[] = { CUPTI_VERSIONS };
	const char *named = getenv(CUPTI_VARIABLE);
	void *library = NULL;
	char text[32];

	if (named && named[0])
		return dlopen(named, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; i < sizeof versions / sizeof *versions && !library; i++) {
		snprintf(text, sizeof text, "libcupti.so.%s", versions[i]);
		library = dlopen(text, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	}
	snprintf(text, sizeof text, "%d", driver_version / 1000);
	if (!library)
		library = open_version(text);
	for (size_t i = 0; i < sizeof versions / sizeof *versions && !library; i++)
		library = open_version(versions[i]);
	return library;
}

static int open_library(int driver_version, struct tare_time_error *error)
{
	void *library = cupti.library ? cupti.library : find_library(driver_version);

	if (!library)
		return tare_time_fail(
		    error, ENOENT,
		    "there is no CUPTI library (libcupti.so), which has the engines' "
		    "times; install the CUDA toolkit's cuda-cupti package, or name "
		    "the library with " CUPTI_VARIABLE);
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols && !cupti.library; i++) {
		void *found = dlsym(library, symbols[i].name);
		if (!found && !symbols[i].optional)
			return tare_time_fail(error, ENOSYS, "this CUPTI has no %s",
			                      symbols[i].name);
		*(void **)((char *)&cupti.call + symbols[i].offset) = found;
	}
	if (!cupti.call.cuptiGetStreamIdEx)
		return tare_time_fail(error, ENOSYS, "this CUPTI has no cuptiGetStreamIdEx");
	cupti.library = library;
	return 0;
}

// ---- starting and stopping it

static int refused(const char *call, cupti_result result, struct tare_time_error *error)
{
	return tare_time_fail_native(
	    error, ENOTSUP, call, result,
	    result == ABI_CUPTI_INSUFFICIENT_PRIVILEGES
	        ? "CUPTI may not be used by this user; run as root, or have "
	          "NVreg_RestrictProfilingToAdminUsers=0 set for the driver"
	        : "CUPTI does not work here");
}

static void on_call(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	(void)context;
	(void)domain;
	(void)id;
	(void)data;
}

static int subscribe(struct tare_time_error *error)
{
	char holder[64] = "";
	cupti_subscription subscription = { sizeof subscription, "libtare", holder, sizeof holder };
	cupti_result result =
	    cupti.call.cuptiSubscribe_v2
	        ? cupti.call.cuptiSubscribe_v2(&cupti.subscriber, on_call, NULL, &subscription)
	        : cupti.call.cuptiSubscribe(&cupti.subscriber, on_call, NULL);

	holder[sizeof holder - 1] = '\0';
	if (result == ABI_CUPTI_MULTIPLE_SUBSCRIBERS)
		return tare_time_fail(
		    error, EBUSY,
		    "another tool uses CUPTI in this process%s%s%s; open the timer "
		    "without `engines`, or run without that tool",
		    holder[0] ? " (" : "", holder, holder[0] ? ")" : "");
	return result == ABI_CUPTI_SUCCESS ? 0 : refused("cuptiSubscribe", result, error);
}

static void stop(void)
{
	tare_cupti_end(&cupti.call, cupti.subscriber);
	tare_time_records_end();
}

static int start(struct tare_time_error *error)
{
	const char *name;
	cupti_result result;
	int status = subscribe(error);

	if (status < 0)
		return status;
	tare_time_records_begin(&cupti.call);
	result = tare_cupti_records_to(&cupti.call, tare_time_records_completed, &name);
	if (result == ABI_CUPTI_SUCCESS)
		result = tare_cupti_enable(&cupti.call, false, &name);
	if (result == ABI_CUPTI_SUCCESS)
		return 0;
	status = refused(name, result, error);
	stop();
	return status;
}

static struct tare_time_engines *make(uint32_t spans)
{
	struct tare_time_engines *made = calloc(1, sizeof *made);

	if (made)
		made->marks = calloc(spans, sizeof *made->marks);
	if (made && !made->marks) {
		free(made);
		made = NULL;
	}
	if (made)
		made->spans = spans;
	return made;
}

static void release(struct tare_time_engines *engines)
{
	free(engines->marks);
	free(engines);
}

int tare_time_engines_open(struct tare_time_engines **engines, cu_context context, cu_stream stream,
                           uint32_t spans, int driver_version, struct tare_time_error *error)
{
	struct tare_time_engines *made = make(spans);
	cupti_result result;
	int status;

	*engines = NULL;
	if (!made)
		return tare_time_fail(error, ENOMEM, "out of memory");
	pthread_mutex_lock(&cupti.lock);
	status = open_library(driver_version, error);
	if (status == 0 && cupti.users == 0)
		status = start(error);
	if (status == 0) {
		result = cupti.call.cuptiGetStreamIdEx(context, stream, 0, &made->stream);
		if (result != ABI_CUPTI_SUCCESS)
			status = refused("cuptiGetStreamIdEx", result, error);
		if (status == 0)
			cupti.users++;
		else if (cupti.users == 0)
			stop();
	}
	pthread_mutex_unlock(&cupti.lock);
	if (status < 0) {
		release(made);
		return status;
	}
	tare_time_engines_add(made);
	*engines = made;
	return 0;
}

void tare_time_engines_close(struct tare_time_engines *engines)
{
	if (!engines)
		return;
	tare_time_engines_remove(engines);
	pthread_mutex_lock(&cupti.lock);
	if (--cupti.users == 0)
		stop();
	pthread_mutex_unlock(&cupti.lock);
	release(engines);
}

void tare_time_engines_enter(struct tare_time_engines *engines, uint32_t slot, int which)
{
	uint64_t id = __atomic_add_fetch(&cupti.marks, 1, __ATOMIC_RELAXED);

	tare_time_engines_mark(engines, slot, which, id);
	cupti.call.cuptiActivityPushExternalCorrelationId(ABI_CUPTI_EXTERNAL_CUSTOM0, id);
}

void tare_time_engines_leave(void)
{
	uint64_t last;

	cupti.call.cuptiActivityPopExternalCorrelationId(ABI_CUPTI_EXTERNAL_CUSTOM0, &last);
}

// Not forced: that gives away records of what still runs, which have no times then.
void tare_time_engines_flush(void)
{
	cupti.call.cuptiActivityFlushAll(0);
}
