// SPDX-License-Identifier: Apache-2.0
// Exact counts of one kernel, by CUPTI's SASS metrics: CUPTI puts counters into its instructions.
// It was found on an H100 (CUPTI 13.0) that a process can do so once: what is switched on a second
// time counts nothing, and so does what goes on after the counts were read. So counting begins as
// the kernel is first launched, and goes on until its module or its context goes. Its launches are
// timed by events, with counters and in a run without them, which tells what counting costs.
#include "guest/cuda/cuda.h"
#include "guest/samples/samples.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { METRICS = 2, PATIENCE_S = 20 };
static const char *const metrics[METRICS] = { "smsp__sass_inst_executed",
	                                      "smsp__sass_thread_inst_executed_pred_on" };

static struct sass_functions sass;
static struct {
	cu_result (*cuEventCreate)(cu_event *event, unsigned int flags);
	cu_result (*cuEventRecord)(cu_event event, cu_stream stream);
	cu_result (*cuEventElapsedTime)(float *ms, cu_event start, cu_event end);
	cu_result (*cuCtxSetCurrent)(cu_context context);
	cu_result (*cuModuleGetFunction)(void **function, void *module, const char *name);
	cu_result (*cuLibraryGetKernel)(void **kernel, void *library, const char *name);
} driver;

static const char *asked; // the program keeps its environment
static struct samples_exact *self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cu_context counted; // its kernel's first context
static uint32_t counted_device;
static uint64_t ids[METRICS];
static int captures; // streams that capture
static struct {
	cu_event begin, end;
	bool whole;
} timed[SAMPLES_TIMES];

// Read by any thread, written with the lock.
static uint32_t state_now(void)
{
	return __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
}

static void set_state(enum samples_exact_state state)
{
	__atomic_store_n(&self->state, (uint32_t)state, __ATOMIC_RELEASE);
}

static uint64_t chosen(void)
{
	return __atomic_load_n(&self->name_hash, __ATOMIC_ACQUIRE);
}

// ---- the vendor's functions

static void find_driver(void)
{
	void *library = dlopen(cuda_library, RTLD_LAZY | RTLD_NOLOAD);

#define FIND(name)                                                                                 \
	do {                                                                                       \
		void *address = library ? dlsym(library, #name) : NULL;                            \
		memcpy(&driver.name, &address, sizeof address);                                    \
	} while (0)
	FIND(cuEventCreate);
	FIND(cuEventRecord);
	FIND(cuEventElapsedTime);
	FIND(cuCtxSetCurrent);
	FIND(cuModuleGetFunction);
	FIND(cuLibraryGetKernel);
#undef FIND
	if (!driver.cuEventRecord || !driver.cuEventElapsedTime)
		driver.cuEventCreate = NULL;
}

static bool find_sass(void)
{
	Dl_info where;
	void *known;
	bool whole = true;

	memcpy(&known, &cuda_cupti.cuptiSubscribe, sizeof known);
	void *library = dladdr(known, &where) && where.dli_fname
	                    ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)
	                    : NULL;
	if (!library)
		return false;
#define X(name, structure, last)                                                                   \
	do {                                                                                       \
		void *address = dlsym(library, #name);                                             \
		memcpy(&sass.name, &address, sizeof address);                                      \
		whole &= address != NULL;                                                          \
	} while (0);
	SASS_FUNCTIONS(X)
#undef X
	return whole;
}

bool samples_exact_begin(void)
{
	const char *counts = getenv(SAMPLES_ENVIRONMENT_COUNT);

	asked = getenv(SAMPLES_ENVIRONMENT_EXACT);
	if (!asked || !asked[0])
		return false;
	self = &samples_file->header.exact;
	set_state(EXACT_UNMET);
	self->counts = counts && counts[0];
	find_driver();
	if (self->counts && !find_sass())
		set_state(EXACT_NO_CUPTI);
	return true;
}

bool samples_exact_counts(void)
{
	return self && self->counts;
}

// ---- counting begins

static bool succeeded(cupti_result result, const char *where)
{
	if (result == ABI_CUPTI_SUCCESS)
		return true;
	set_state(EXACT_REFUSED);
	self->code = result;
	snprintf(self->where, sizeof self->where, "%s", where);
	return false;
}
#define CALL(name, parameters) succeeded(sass.name(parameters), #name)

static bool configure(void)
{
	struct sass_wish wishes[METRICS];
	struct sass_plain plain = { .bytes = ABI_SASS_BYTES(sass_plain, reserved) };
	struct sass_chip chip = { .bytes = ABI_SASS_BYTES(sass_chip, chip),
		                  .device = counted_device };

	if (!CALL(cuptiProfilerInitialize, &plain) || !CALL(cuptiDeviceGetChipName, &chip))
		return false;
	for (int i = 0; i < METRICS; i++) {
		struct sass_properties ask = { .bytes = ABI_SASS_BYTES(sass_properties, metric),
			                       .chip = chip.chip,
			                       .name = metrics[i] };
		if (!CALL(cuptiSassMetricsGetProperties, &ask))
			return false;
		ids[i] = ask.metric.id;
		wishes[i] = (struct sass_wish){ ask.metric.id, ABI_SASS_WHOLE_DEVICE };
	}
	struct sass_configuration configuration = { .bytes =
		                                        ABI_SASS_BYTES(sass_configuration, device),
		                                    .count = METRICS,
		                                    .wishes = wishes,
		                                    .device = counted_device };
	return CALL(cuptiSassMetricsSetConfig, &configuration);
}

static void begin_counting(cu_context context)
{
	uint64_t from_ns = samples_now_ns();
	struct sass_enable enable = { .bytes = ABI_SASS_BYTES(sass_enable, lazy),
		                      .context = context,
		                      .lazy = 1 };

	if (configure() && CALL(cuptiSassMetricsEnable, &enable))
		set_state(EXACT_BEGUN);
	self->prepare_ns += samples_now_ns() - from_ns;
}

// ---- launches

// A launch into a graph runs nothing yet; CUPTI crashes when it is switched on in one.
static bool is_captured(cu_stream stream)
{
	int status = 0;

	return !cuda_driver.cuStreamIsCapturing ||
	       cuda_driver.cuStreamIsCapturing(stream, &status) != ABI_SUCCESS || status != 0;
}

static bool is_chosen(const char *symbol)
{
	uint32_t bytes;

	if (!chosen())
		return samples_exact_fits(asked, symbol);
	if (samples_hash(symbol, &bytes) == chosen())
		return true;
	if (samples_exact_fits(asked, symbol))
		__atomic_fetch_add(&self->alike, 1, __ATOMIC_RELAXED);
	return false;
}

static void choose(const struct cupti_call *call)
{
	uint32_t bytes;
	cu_device device = 0;

	if (cuda_driver.cuCtxGetDevice)
		cuda_driver.cuCtxGetDevice(&device);
	counted_device = (uint32_t)device;
	snprintf(self->name, sizeof self->name, "%s", call->symbol);
	__atomic_store_n(&self->name_hash, samples_hash(call->symbol, &bytes), __ATOMIC_RELEASE);
	counted = call->context;
	if (self->counts)
		begin_counting(call->context);
	else
		set_state(EXACT_TIMED);
}

// CUPTI takes memory of the device, which breaks a capture, whichever stream makes it: an H100's
// driver gave error 901 for one.
static bool may_begin(void)
{
	if (__atomic_load_n(&captures, __ATOMIC_ACQUIRE) == 0)
		return true;
	self->beside++;
	return false;
}

static bool is_going_on(void)
{
	uint32_t state = state_now();

	return state == EXACT_BEGUN || state == EXACT_TIMED;
}

static void begin_timing(const struct cupti_call *call, cu_stream stream)
{
	uint64_t at = self->times;

	if (at == SAMPLES_TIMES || __atomic_load_n(&captures, __ATOMIC_ACQUIRE) ||
	    !driver.cuEventCreate || driver.cuEventCreate(&timed[at].begin, 0) != ABI_SUCCESS ||
	    driver.cuEventCreate(&timed[at].end, 0) != ABI_SUCCESS)
		return;
	self->times++;
	if (driver.cuEventRecord(timed[at].begin, stream) == ABI_SUCCESS)
		*call->data = at + 1;
}

void samples_exact_enters(const struct cupti_call *call, cu_stream stream)
{
	uint32_t unmet = EXACT_UNMET;

	if (!self || !call->symbol || !call->data)
		return;
	*call->data = 0;
	if (!is_chosen(call->symbol))
		return;
	if (state_now() == EXACT_COUNTED)
		__atomic_fetch_add(&self->late, 1, __ATOMIC_RELAXED);
	if (state_now() > EXACT_BEGUN)
		return;
	if (is_captured(stream)) {
		__atomic_fetch_add(&self->captured, 1, __ATOMIC_RELAXED);
		__atomic_compare_exchange_n(&self->state, &unmet, EXACT_CAPTURED, false,
		                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		return;
	}
	pthread_mutex_lock(&lock);
	if (!chosen() && may_begin())
		choose(call);
	if (is_going_on() && call->context == counted)
		begin_timing(call, stream);
	pthread_mutex_unlock(&lock);
}

void samples_exact_leaves(const struct cupti_call *call, cu_stream stream, uint64_t warps)
{
	uint32_t bytes;

	if (!self || !call->symbol || !call->data || !is_going_on() ||
	    samples_hash(call->symbol, &bytes) != chosen())
		return;
	uint64_t at = *call->data;
	if (is_captured(stream))
		return;
	pthread_mutex_lock(&lock);
	if (call->context != counted) {
		self->elsewhere++;
	} else {
		self->launches++;
		self->warps += warps;
		if (at)
			timed[at - 1].whole =
			    driver.cuEventRecord(timed[at - 1].end, stream) == ABI_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
}

void samples_exact_captures(int more)
{
	__atomic_fetch_add(&captures, more, __ATOMIC_RELEASE);
}

void samples_exact_graph(void)
{
	if (self && is_going_on())
		__atomic_fetch_add(&self->graphs, 1, __ATOMIC_RELAXED);
}

// ---- the end

static void *wait_for_device(void *done)
{
	return driver.cuCtxSetCurrent && driver.cuCtxSetCurrent(counted) == ABI_SUCCESS &&
	               cuda_driver.cuCtxSynchronize && cuda_driver.cuCtxSynchronize() == ABI_SUCCESS
	           ? done
	           : NULL;
}

// A kernel that never ends is not waited for without end: a thread of ours waits.
static bool is_done(void)
{
	static char done;
	sigset_t all, before;
	pthread_t thread;
	struct timespec until;
	void *result = NULL;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool made = pthread_create(&thread, NULL, wait_for_device, &done) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!made)
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (pthread_timedjoin_np(thread, &result, &until) == 0)
		return result == &done;
	pthread_detach(thread);
	return false;
}

static void take(const struct sass_record *records, size_t count, size_t instances)
{
	uint32_t bytes;

	for (size_t i = 0; i < count; i++) {
		const struct sass_record *record = &records[i];
		uint64_t sums[METRICS] = { 0 };
		// Functions that the driver loaded meanwhile have counters, too.
		if (!record->name || samples_hash(record->name, &bytes) != self->name_hash)
			continue;
		for (size_t j = 0; j < instances; j++)
			for (int k = 0; k < METRICS; k++)
				if (record->values[j].id == ids[k])
					sums[k] += record->values[j].value;
		self->records++;
		if (!samples_add_exact(record->cubin_crc, record->name, record->pc, sums[0],
		                       sums[1]))
			self->lost++;
	}
}

static bool flush(void)
{
	struct sass_available available = { .bytes = ABI_SASS_BYTES(sass_available, instances),
		                            .context = counted };

	if (!CALL(cuptiSassMetricsGetDataProperties, &available))
		return false;
	// CUPTI gives each record one metric; there is room for all.
	size_t each = available.instances * METRICS, records = available.records;
	size_t bytes = records * (sizeof(struct sass_record) + each * sizeof(struct sass_value));
	if (!records)
		return true;
	struct sass_record *data =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return succeeded(ABI_CUPTI_OUT_OF_MEMORY, "mmap");
	struct sass_value *values = (struct sass_value *)(data + records);
	for (size_t i = 0; i < records; i++)
		data[i] =
		    (struct sass_record){ .bytes = sizeof *data, .values = values + i * each };
	struct sass_flush parameters = { .bytes = ABI_SASS_BYTES(sass_flush, instances),
		                         .context = counted,
		                         .records = records,
		                         .instances = available.instances,
		                         .data = data };
	bool well = CALL(cuptiSassMetricsFlushData, &parameters);
	if (well)
		take(data, records, each);
	munmap(data, bytes);
	return well;
}

static void read_times(void)
{
	for (uint64_t i = 0; i < self->times; i++) {
		float ms = 0;
		if (timed[i].whole &&
		    driver.cuEventElapsedTime(&ms, timed[i].begin, timed[i].end) == ABI_SUCCESS)
			self->time_ns[i] = (uint64_t)((double)ms * 1e6);
	}
}

static void end_counting(bool done)
{
	struct sass_disable disable = { .bytes = ABI_SASS_BYTES(sass_disable, dropped),
		                        .context = counted };
	struct sass_end end = { .bytes = ABI_SASS_BYTES(sass_end, device),
		                .device = counted_device };

	if (!done) {
		set_state(EXACT_UNFINISHED);
		return;
	}
	bool read = flush();
	sass.cuptiSassMetricsDisable(&disable);
	sass.cuptiSassMetricsUnsetConfig(&end);
	if (read)
		set_state(EXACT_COUNTED);
}

void samples_exact_ends(cu_context context)
{
	struct timespec until;
	uint64_t from_ns = samples_now_ns();

	if (!self || !counted || (context && context != counted))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (pthread_mutex_timedlock(&lock, &until) != 0)
		return;
	if (is_going_on()) {
		bool done = is_done();
		if (done)
			read_times();
		if (self->counts)
			end_counting(done);
	}
	counted = NULL;
	self->read_ns += samples_now_ns() - from_ns;
	pthread_mutex_unlock(&lock);
}

void samples_exact_resets(cu_device device)
{
	if (self && counted && (uint32_t)device == counted_device)
		samples_exact_ends(NULL);
}

void samples_exact_unloads(void *handle, bool library)
{
	void *found;

	// A name that is cut off is not found.
	if (!self || state_now() != EXACT_BEGUN)
		return;
	if (library ? !driver.cuLibraryGetKernel ||
	                  driver.cuLibraryGetKernel(&found, handle, self->name) != ABI_SUCCESS
	            : !driver.cuModuleGetFunction ||
	                  driver.cuModuleGetFunction(&found, handle, self->name) != ABI_SUCCESS)
		return;
	samples_exact_ends(NULL);
}

void samples_exact_forget(void)
{
	self = NULL;
	counted = NULL;
	pthread_mutex_init(&lock, NULL);
}
