// SPDX-License-Identifier: Apache-2.0
// PC sampling of the program's contexts. It is switched on when a context is made; a thread of ours
// reads what was sampled, several times a second, since the hardware's buffer is finite; the rest
// is read when the context, or the process, ends. The program's kernels run as ever.
#include "guest/cuda/cuda.h"
#include "guest/samples/samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	MOST_SESSIONS = 16,
	READ_RECORDS = 8192,  // instructions that are read at once
	LAST_RECORDS = 32768, // for which there is room when a context ends
	READ_NS = 250000000,
	PATIENCE_S = 5, // for another thread that reads
	MOST_READS = 64,
	LARGE_PERIOD = 13, // up to this one the hardware's buffer is the largest
	LEAST_BUFFER = 64 << 20,
};

static struct pc_sampling_functions sampling;

struct session {
	cu_context context; // NULL: vacant
	uint32_t reason_count;
	uint8_t slots[256]; // of each of CUPTI's reasons its place in the file
	struct sampling_data *read, *last;
};
static struct session sessions[MOST_SESSIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static bool reading, ended;

bool samples_functions_find(void)
{
	Dl_info where;
	void *known, *library;
	bool whole = true;

	memcpy(&known, &cuda_cupti.cuptiSubscribe, sizeof known);
	if (!dladdr(known, &where) || !where.dli_fname)
		return false;
	library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!library)
		return false;
#define X(name, structure, last)                                                                   \
	do {                                                                                       \
		void *address = dlsym(library, #name);                                             \
		memcpy(&sampling.name, &address, sizeof address);                                  \
		whole &= address != NULL;                                                          \
	} while (0);
	SAMPLING_FUNCTIONS(X)
#undef X
	return whole;
}

// A thread that reads may wait for a lock of the driver's that the caller holds: nobody waits for
// it without end.
static bool acquire(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return pthread_mutex_timedlock(&lock, &until) == 0;
}

static void *room(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

// Room for records, each with `reasons` stalls.
static struct sampling_data *make_data(size_t records, size_t reasons)
{
	size_t each = sizeof(struct sampling_record) + reasons * sizeof(struct sampling_stall);
	struct sampling_data *data = room(sizeof *data + records * each);

	if (!data)
		return NULL;
	*data = (struct sampling_data){ .bytes = sizeof *data,
		                        .room = records,
		                        .records = (struct sampling_record *)(data + 1) };
	struct sampling_stall *stalls = (struct sampling_stall *)(data->records + records);
	for (size_t i = 0; i < records; i++)
		data->records[i] = (struct sampling_record){ .bytes = sizeof *data->records,
			                                     .stalls = stalls + i * reasons };
	return data;
}

static void take(const struct session *session, const struct sampling_data *data)
{
	struct samples_header *header = &samples_file->header;

	header->total += data->total;
	header->dropped += data->dropped;
	header->not_users += data->not_users;
	header->buffer_full += data->buffer_full != 0;
	for (size_t i = 0; i < data->count && i < data->room; i++)
		samples_add(&data->records[i], session->slots, session->reason_count);
}

static void read_session(struct session *session)
{
	struct sampling_data *data = session->read;
	uint64_t from_ns = samples_now_ns();

	for (int i = 0; i < MOST_READS; i++) {
		struct sampling_get get = { .bytes = ABI_SAMPLING_BYTES(sampling_get, data),
			                    .context = session->context,
			                    .data = data };
		data->total = data->dropped = data->not_users = 0;
		data->count = data->left = 0;
		data->buffer_full = 0;
		cupti_result result = sampling.cuptiPCSamplingGetData(&get);
		if (result == ABI_CUPTI_SUCCESS)
			take(session, data);
		else if (result == ABI_CUPTI_OUT_OF_MEMORY)
			samples_file->header.buffer_full++;
		if (result != ABI_CUPTI_SUCCESS || data->left == 0)
			break;
	}
	samples_file->header.read_ns += samples_now_ns() - from_ns;
}

// ---- the thread that reads

static void *read_always(void *nothing)
{
	(void)nothing;
	pthread_mutex_lock(&lock);
	while (!ended) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += READ_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&wake, &lock, &until);
		for (int i = 0; i < MOST_SESSIONS && !ended; i++)
			if (sessions[i].context)
				read_session(&sessions[i]);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

// It takes none of the program's signals.
static bool begin_reading(void)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	if (reading)
		return true;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	reading = pthread_create(&thread, NULL, read_always, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (reading)
		pthread_detach(thread);
	return reading;
}

// ---- a context

// The place of a reason in the file, by its name; SAMPLES_REASONS: no room.
static uint8_t slot_of(const char *name)
{
	struct samples_header *header = &samples_file->header;
	uint32_t at = 0;

	while (at < header->reason_count &&
	       strncmp(header->reasons[at], name, SAMPLES_REASON_BYTES - 1) != 0)
		at++;
	if (at == header->reason_count && at < SAMPLES_REASONS) {
		strncpy(header->reasons[at], name, SAMPLES_REASON_BYTES - 1);
		header->reason_count++;
	}
	return (uint8_t)at;
}

static cupti_result ask_reasons(struct session *session, uint32_t *places, const char **where)
{
	static char texts[256][ABI_SAMPLING_NAME_BYTES];
	char *names[256];
	size_t count = 0;
	struct sampling_reason_count ask = { .bytes =
		                                 ABI_SAMPLING_BYTES(sampling_reason_count, count),
		                             .context = session->context,
		                             .count = &count };

	*where = "cuptiPCSamplingGetNumStallReasons";
	cupti_result result = sampling.cuptiPCSamplingGetNumStallReasons(&ask);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	if (count > sizeof session->slots)
		return ABI_CUPTI_NOT_IMPLEMENTED;
	for (size_t i = 0; i < count; i++)
		names[i] = texts[i];
	struct sampling_reasons all = { .bytes = ABI_SAMPLING_BYTES(sampling_reasons, names),
		                        .context = session->context,
		                        .count = count,
		                        .places = places,
		                        .names = names };
	*where = "cuptiPCSamplingGetStallReasons";
	result = sampling.cuptiPCSamplingGetStallReasons(&all);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	memset(session->slots, SAMPLES_REASONS, sizeof session->slots);
	for (size_t i = 0; i < count; i++)
		if (places[i] < sizeof session->slots)
			session->slots[places[i]] = slot_of(names[i]);
	session->reason_count = (uint32_t)count;
	return ABI_CUPTI_SUCCESS;
}

static uint32_t wanted_period(void)
{
	const char *text = getenv(SAMPLES_ENVIRONMENT_PERIOD);
	long period = text ? strtol(text, NULL, 10) : 0;

	return period >= SAMPLES_LEAST_PERIOD && period <= SAMPLES_MOST_PERIOD
	           ? (uint32_t)period
	           : SAMPLES_USUAL_PERIOD;
}

// Bytes of the hardware's buffer, which hold about 40 bytes a sample for the tenth of a second
// until CUPTI empties it. The larger it is, the longer the context's first kernel waits for it.
static size_t buffer_of(uint32_t period)
{
	size_t bytes = (size_t)512 << 20;

	for (uint32_t n = LARGE_PERIOD; n < period && bytes > LEAST_BUFFER; n++)
		bytes /= 2;
	return bytes;
}

static cupti_result configure(struct session *session, uint32_t *places, const char **where)
{
	struct sampling_attribute attributes[] = {
		{ .type = ABI_SAMPLING_MODE, .value.number = ABI_SAMPLING_CONTINUOUS },
		{ .type = ABI_SAMPLING_PERIOD, .value.number = wanted_period() },
		{ .type = ABI_SAMPLING_REASONS,
		  .value.reasons = { session->reason_count, places } },
		{ .type = ABI_SAMPLING_ROOM, .value.size = buffer_of(wanted_period()) },
		{ .type = ABI_SAMPLING_BUFFER, .value.data = session->last },
	};
	struct sampling_attribute period = { .type = ABI_SAMPLING_PERIOD };
	struct sampling_configuration configuration = {
		.bytes = ABI_SAMPLING_BYTES(sampling_configuration, attributes),
		.context = session->context,
		.count = sizeof attributes / sizeof *attributes,
		.attributes = attributes
	};

	*where = "cuptiPCSamplingSetConfigurationAttribute";
	cupti_result result = sampling.cuptiPCSamplingSetConfigurationAttribute(&configuration);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	configuration.count = 1;
	configuration.attributes = &period;
	samples_file->header.period =
	    sampling.cuptiPCSamplingGetConfigurationAttribute(&configuration) == ABI_CUPTI_SUCCESS
	        ? period.value.number
	        : 0;
	return ABI_CUPTI_SUCCESS;
}

static cupti_result disable(struct session *session)
{
	struct pc_sampling_one one = { .bytes = ABI_SAMPLING_BYTES(pc_sampling_one, context),
		                       .context = session->context };

	return sampling.cuptiPCSamplingDisable(&one);
}

static cupti_result enable(struct session *session, const char **where)
{
	struct pc_sampling_one one = { .bytes = ABI_SAMPLING_BYTES(pc_sampling_one, context),
		                       .context = session->context };
	uint32_t places[256] = { 0 };

	*where = "cuptiPCSamplingEnable";
	cupti_result result = sampling.cuptiPCSamplingEnable(&one);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	result = ask_reasons(session, places, where);
	if (result == ABI_CUPTI_SUCCESS) {
		session->read = make_data(READ_RECORDS, session->reason_count);
		session->last = make_data(LAST_RECORDS, session->reason_count);
		if (!session->read || !session->last || !begin_reading())
			result = ABI_CUPTI_OUT_OF_MEMORY;
	}
	if (result == ABI_CUPTI_SUCCESS)
		result = configure(session, places, where);
	if (result != ABI_CUPTI_SUCCESS)
		disable(session);
	return result;
}

static struct session *session_of(cu_context context)
{
	for (int i = 0; i < MOST_SESSIONS; i++)
		if (sessions[i].context == context)
			return &sessions[i];
	return NULL;
}

// With the lock.
static void begin(cu_context context)
{
	struct session *session = session_of(NULL);
	struct samples_header *header = &samples_file->header;
	const char *where = "";
	cupti_result result = ABI_CUPTI_OUT_OF_MEMORY;

	if (session) {
		*session = (struct session){ .context = context };
		result = enable(session, &where);
	}
	if (result == ABI_CUPTI_SUCCESS) {
		header->contexts++;
		header->state = SAMPLES_ON;
		return;
	}
	if (session)
		session->context = NULL;
	header->failed_contexts++;
	if (header->state != SAMPLES_ON)
		samples_failed(SAMPLES_REFUSED, result, where);
}

void samples_context_begins(cu_context context)
{
	uint64_t from_ns = samples_now_ns();

	if (!samples_file || ended || samples_exact_counts())
		return;
	if (acquire()) {
		if (!session_of(context))
			begin(context);
		pthread_mutex_unlock(&lock);
	} else {
		samples_file->header.failed_contexts++;
	}
	samples_file->header.enable_ns += samples_now_ns() - from_ns;
}

// With the lock. What CUPTI still has comes into the buffer that it was configured with.
static void end(struct session *session)
{
	read_session(session);
	if (disable(session) == ABI_CUPTI_SUCCESS) {
		take(session, session->last);
		samples_file->header.lost_instructions += session->last->left;
	}
	samples_file->header.ended_contexts++;
	session->context = NULL;
}

void samples_context_ends(cu_context context)
{
	uint64_t from_ns = samples_now_ns();

	if (!samples_file)
		return;
	if (acquire()) {
		struct session *session = context ? session_of(context) : NULL;
		if (session)
			end(session);
		pthread_mutex_unlock(&lock);
	} else {
		samples_file->header.unread_contexts++;
	}
	samples_file->header.disable_ns += samples_now_ns() - from_ns;
}

void samples_end(void)
{
	uint64_t from_ns = samples_now_ns();

	if (!samples_file)
		return;
	if (acquire()) {
		for (int i = 0; i < MOST_SESSIONS; i++)
			if (sessions[i].context)
				end(&sessions[i]);
		ended = true;
		if (reading)
			pthread_cond_signal(&wake);
		pthread_mutex_unlock(&lock);
	} else {
		samples_file->header.unread_contexts++;
	}
	samples_file->header.disable_ns += samples_now_ns() - from_ns;
}

// ---- modules

void samples_module_loaded(const struct cupti_module_resource *module)
{
	uint64_t from_ns = samples_now_ns();

	if (!samples_file || !module || !module->cubin || !module->cubin_bytes)
		return;
	struct sampling_crc crc = { .bytes = ABI_SAMPLING_BYTES(sampling_crc, crc),
		                    .cubin_bytes = module->cubin_bytes,
		                    .cubin = module->cubin };
	if (sampling.cuptiGetCubinCrc(&crc) == ABI_CUPTI_SUCCESS)
		samples_write_module(crc.crc, module->cubin, module->cubin_bytes);
	else
		__atomic_fetch_add(&samples_file->header.lost_modules, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&samples_file->header.module_ns, samples_now_ns() - from_ns,
	                   __ATOMIC_RELAXED);
}

// Addresses of a module that goes may be another's next: its samples are read before.
void samples_module_ends(cu_context context)
{
	if (!samples_file || !acquire())
		return;
	struct session *session = context ? session_of(context) : NULL;
	if (session)
		read_session(session);
	pthread_mutex_unlock(&lock);
}

void samples_forget(void)
{
	samples_file_forget();
	samples_exact_forget();
	memset(sessions, 0, sizeof sessions);
	pthread_mutex_init(&lock, NULL);
	reading = false;
}
