// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a whole device over time, by CUPTI's PM sampling (CUDA 12.6 and later). It
// needs no context and knows of no program: the device writes samples into a buffer by itself, and
// they are read from there now and then.
#include "backend/cuda/sampling/sampling.h"
#include "backend/cuda/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_AT_ONCE = 8192 };
// Of the hardware's samples, in the device's memory: some seconds at the shortest interval.
static const size_t buffer_bytes = (size_t)64 << 20;

#define ELAPSED ".avg.pct_of_peak_sustained_elapsed"
// All in one pass from GA102 on. Names differ among chips: the first that the chip has.
static const struct {
	enum tare_trace_counter counter;
	const char *names[2];
} metrics[] = {
	{ TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE, { "sm__cycles_active" ELAPSED } },
	{ TARE_TRACE_COUNTER_INSTRUCTION_SHARE, { "sm__inst_executed_realtime" ELAPSED } },
	{ TARE_TRACE_COUNTER_MATRIX_SHARE, { "sm__pipe_tensor_cycles_active_realtime" ELAPSED } },
	{ TARE_TRACE_COUNTER_DEVICE_MEMORY_SHARE, { "dram__throughput" ELAPSED } },
	{ TARE_TRACE_COUNTER_DEVICE_READ_BYTES,
	  { "dram__bytes_read.sum", "dram__bytes_op_read.sum" } },
	{ TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES,
	  { "dram__bytes_write.sum", "dram__bytes_op_write.sum" } },
	{ TARE_TRACE_COUNTER_PCIE_READ_BYTES, { "pcie__read_bytes.sum" } },
	{ TARE_TRACE_COUNTER_PCIE_WRITE_BYTES, { "pcie__write_bytes.sum" } },
	{ TARE_TRACE_COUNTER_NVLINK_RECEIVED_BYTES, { "nvlrx__bytes.sum" } },
	{ TARE_TRACE_COUNTER_NVLINK_SENT_BYTES, { "nvltx__bytes.sum" } },
};
enum { METRICS = sizeof metrics / sizeof *metrics };
_Static_assert((size_t)METRICS <= TARE_SAMPLED_MOST, "");

static struct {
	struct sampling_functions call;
	struct cuda_device *device; // NULL: not open
	const char *chip;
	uint8_t *availability, *image, *data;
	size_t image_bytes, data_bytes;
	void *host, *sampling;
	const char *names[METRICS];
	uint32_t count;
	struct cuda_sampling_clock clock;
} self;

// Calls a function with its structure's length filled in, and says so of a failure.
#define CALL(name, structure, last, ...)                                                           \
	self.call.name(                                                                            \
	    &(struct structure){ .bytes = ABI_PROFILER_BYTES(structure, last), __VA_ARGS__ })

static int fail(cupti_result result, const char *call, struct tare_error *error)
{
	return tare_fail_native(error, ENOTSUP, "cupti", call, result, NULL,
	                        "CUPTI cannot sample this device");
}

static int find_functions(struct tare_error *error)
{
	const char *name = NULL;
	int status = cuda_tracer_open(self.device->driver->version, &name, error);
	void *library = status == 0 ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	if (status < 0)
		return status;
	if (!library)
		return tare_fail(error, ENOENT, "%.200s cannot be opened again", name);
	name = NULL;
#define X(function, structure, last)                                                               \
	do {                                                                                       \
		void *address = dlsym(library, #function);                                         \
		memcpy(&self.call.function, &address, sizeof address);                             \
		name = address ? name : #function;                                                 \
	} while (0);
	SAMPLING_FUNCTIONS(X)
#undef X
	dlclose(library); // it stays: cuda_tracer_open holds it
	if (name)
		return tare_fail_native(error, ENOTSUP, "cupti", name, ABI_CUPTI_NOT_IMPLEMENTED,
		                        NULL,
		                        "this CUPTI cannot sample a device over time: CUDA 12.6 or "
		                        "later can");
	return 0;
}

static int ask_device(struct tare_error *error)
{
	struct profiler_chip chip = { .bytes = ABI_PROFILER_BYTES(profiler_chip, chip),
		                      .device = self.device->base.index };
	struct sampling_availability available = { .bytes = ABI_PROFILER_BYTES(
		                                       sampling_availability, image),
		                                   .device = self.device->base.index };
	cupti_result result =
	    CALL(cuptiProfilerInitialize, profiler_plain, reserved, .reserved = NULL);

	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, "cuptiProfilerInitialize", error);
	result = self.call.cuptiDeviceGetChipName(&chip);
	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, "cuptiDeviceGetChipName", error);
	self.chip = chip.chip;
	result = self.call.cuptiPmSamplingGetCounterAvailability(&available);
	if (result == ABI_CUPTI_SUCCESS) {
		available.image = self.availability = calloc(1, available.image_bytes);
		if (!self.availability)
			return tare_fail(error, ENOMEM, "out of memory");
		result = self.call.cuptiPmSamplingGetCounterAvailability(&available);
	}
	return result == ABI_CUPTI_SUCCESS
	           ? 0
	           : fail(result, "cuptiPmSamplingGetCounterAvailability", error);
}

static int new_host(void **host, struct tare_error *error)
{
	struct profiler_host made = { .bytes = ABI_PROFILER_BYTES(profiler_host, host),
		                      .type = ABI_PROFILER_SAMPLING,
		                      .chip = self.chip,
		                      .availability = self.availability };
	cupti_result result = self.call.cuptiProfilerHostInitialize(&made);

	*host = made.host;
	return result == ABI_CUPTI_SUCCESS ? 0 : fail(result, "cuptiProfilerHostInitialize", error);
}

static void drop_host(void **host)
{
	if (*host)
		CALL(cuptiProfilerHostDeinitialize, profiler_host_end, host, .host = *host);
	*host = NULL;
}

// Makes the image of a configuration of the names, and says how many passes it takes. A chip that
// lacks one of them, or cannot read them together, is a failure.
static cupti_result configure(size_t *passes_needed)
{
	struct profiler_config_bytes size = {
		.bytes = ABI_PROFILER_BYTES(profiler_config_bytes, image_bytes), .host = self.host
	};
	struct profiler_passes passes = { .bytes = ABI_PROFILER_BYTES(profiler_passes, passes) };
	cupti_result result = CALL(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count,
	                           .host = self.host, .names = self.names, .count = self.count);

	if (result == ABI_CUPTI_SUCCESS)
		result = self.call.cuptiProfilerHostGetConfigImageSize(&size);
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	free(self.image);
	self.image_bytes = size.image_bytes;
	self.image = calloc(1, size.image_bytes ? size.image_bytes : 1);
	if (!self.image)
		return ABI_CUPTI_OUT_OF_MEMORY;
	result = CALL(cuptiProfilerHostGetConfigImage, profiler_config_image, image,
	              .host = self.host, .image_bytes = self.image_bytes, .image = self.image);
	passes.image_bytes = self.image_bytes;
	passes.image = self.image;
	if (result == ABI_CUPTI_SUCCESS)
		result = self.call.cuptiProfilerHostGetNumOfPasses(&passes);
	*passes_needed = passes.passes;
	return result;
}

static void take(struct tare_sampled_set *set, size_t metric)
{
	set->counters[set->count++] = (uint16_t)metrics[metric].counter;
}

// Mostly a chip has the first name of each, and reads them all in the one pass of a sample.
static bool choose_all(struct tare_sampled_set *set)
{
	size_t passes = 0;
	bool all;

	if (new_host(&self.host, NULL) < 0)
		return false;
	for (size_t m = 0; m < METRICS; m++)
		self.names[self.count++] = metrics[m].names[0];
	all = configure(&passes) == ABI_CUPTI_SUCCESS && passes == 1;
	drop_host(&self.host);
	for (size_t m = 0; all && m < METRICS; m++)
		take(set, m);
	self.count = all ? self.count : 0;
	return all;
}

// Adds what still fits into the pass, one counter after another.
static int choose(struct tare_sampled_set *set, struct tare_error *error)
{
	if (choose_all(set))
		return 0;
	for (size_t m = 0; m < METRICS; m++) {
		bool taken = false;
		for (size_t n = 0; n < 2 && metrics[m].names[n] && !taken; n++) {
			size_t passes = 0;
			int status = new_host(&self.host, error);
			if (status < 0)
				return status;
			self.names[self.count++] = metrics[m].names[n];
			taken = configure(&passes) == ABI_CUPTI_SUCCESS && passes == 1;
			if (!taken)
				self.count--;
			drop_host(&self.host);
		}
		if (taken)
			take(set, m);
		else
			set->absent |= UINT64_C(1) << metrics[m].counter;
	}
	return self.count
	           ? 0
	           : tare_fail_native(error, ENOTSUP, "cupti", "cuptiProfilerHostConfigAddMetrics",
	                              0, NULL, "CUPTI has no counter that it can sample of chip %s",
	                              self.chip);
}

static int make_room(struct tare_error *error)
{
	struct sampling_data_bytes size = { .bytes =
		                                ABI_PROFILER_BYTES(sampling_data_bytes, data_bytes),
		                            .sampling = self.sampling,
		                            .names = self.names,
		                            .count = self.count,
		                            .samples = SAMPLES_AT_ONCE };
	cupti_result result = self.call.cuptiPmSamplingGetCounterDataSize(&size);

	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, "cuptiPmSamplingGetCounterDataSize", error);
	self.data_bytes = size.data_bytes;
	self.data = malloc(size.data_bytes ? size.data_bytes : 1);
	return self.data ? 0 : tare_fail(error, ENOMEM, "out of memory");
}

static int enable(uint64_t interval_ns, struct tare_error *error)
{
	struct sampling_enable begun = { .bytes = ABI_PROFILER_BYTES(sampling_enable, sampling),
		                         .device = self.device->base.index };
	size_t passes;
	cupti_result result;
	int status = new_host(&self.host, error);

	if (status < 0)
		return status;
	result = configure(&passes);
	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, "cuptiProfilerHostGetConfigImage", error);
	result = self.call.cuptiPmSamplingEnable(&begun);
	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, "cuptiPmSamplingEnable", error);
	self.sampling = begun.sampling;
	result =
	    CALL(cuptiPmSamplingSetConfig, sampling_config, append, .sampling = self.sampling,
	         .image_bytes = self.image_bytes, .image = self.image, .buffer_bytes = buffer_bytes,
	         .interval = interval_ns, .trigger = ABI_SAMPLING_BY_TIME);
	return result == ABI_CUPTI_SUCCESS ? make_room(error)
	                                   : fail(result, "cuptiPmSamplingSetConfig", error);
}

static void sampler_close(struct tare_device *base)
{
	struct cuda_device *device = cuda_device_of(base);

	if (self.device != device)
		return;
	if (self.sampling)
		CALL(cuptiPmSamplingDisable, sampling_one, sampling, .sampling = self.sampling);
	drop_host(&self.host);
	if (cuda_enter(device, NULL) == 0)
		cuda_sampling_clock_close(device, &self.clock);
	free(self.availability);
	free(self.image);
	free(self.data);
	memset(&self, 0, sizeof self);
}

static int sampler_open(struct tare_device *base, uint64_t interval_ns,
                        struct tare_sampled_set *set, struct tare_error *error)
{
	int status;

	if (self.device)
		return tare_fail(error, EBUSY, "a device is sampled already");
	self.device = cuda_device_of(base);
	*set = (struct tare_sampled_set){ 0 };
	status = cuda_enter(self.device, error);
	status = status ?: find_functions(error);
	status = status ?: ask_device(error);
	status = status ?: choose(set, error);
	status = status ?: enable(interval_ns, error);
	status = status ?: cuda_sampling_clock_open(self.device, &self.clock, error);
	return status;
}

static int sampler_clock(struct tare_device *base, struct tare_clock_pair *pair,
                         struct tare_error *error)
{
	int status = cuda_enter(cuda_device_of(base), error);

	return status < 0
	           ? status
	           : cuda_sampling_clock_read(cuda_device_of(base), &self.clock, pair, error);
}

static int sampler_start(struct tare_device *base, struct tare_error *error)
{
	cupti_result result =
	    CALL(cuptiPmSamplingStart, sampling_one, sampling, .sampling = self.sampling);

	(void)base;
	return result == ABI_CUPTI_SUCCESS ? 0 : fail(result, "cuptiPmSamplingStart", error);
}

static int sampler_stop(struct tare_device *base, struct tare_error *error)
{
	cupti_result result =
	    CALL(cuptiPmSamplingStop, sampling_one, sampling, .sampling = self.sampling);

	(void)base;
	return result == ABI_CUPTI_SUCCESS ? 0 : fail(result, "cuptiPmSamplingStop", error);
}

// Shows the samples of the image.
static cupti_result show(const struct tare_sample_visitor *visitor, size_t count,
                         const char **where)
{
	double values[METRICS];

	for (size_t i = 0; i < count; i++) {
		struct sampling_sample about = { .bytes = ABI_PROFILER_BYTES(sampling_sample, end),
			                         .sampling = self.sampling,
			                         .data = self.data,
			                         .data_bytes = self.data_bytes,
			                         .index = i };
		cupti_result result;
		*where = "cuptiPmSamplingCounterDataGetSampleInfo";
		result = self.call.cuptiPmSamplingCounterDataGetSampleInfo(&about);
		if (result == ABI_CUPTI_SUCCESS) {
			*where = "cuptiProfilerHostEvaluateToGpuValues";
			result = CALL(cuptiProfilerHostEvaluateToGpuValues, profiler_values, values,
			              .host = self.host, .data = self.data,
			              .data_bytes = self.data_bytes, .range = i,
			              .names = self.names, .count = self.count, .values = values);
		}
		if (result != ABI_CUPTI_SUCCESS)
			return result;
		visitor->sample(visitor->context,
		                &(struct tare_sample){ about.start, about.end, values });
	}
	return ABI_CUPTI_SUCCESS;
}

// One image's worth of samples. *more: it had no room for all.
static cupti_result read_once(const struct tare_sample_visitor *visitor, bool *more, bool *lost,
                              const char **where)
{
	struct sampling_decode decode = { .bytes = ABI_PROFILER_BYTES(sampling_decode, overflow),
		                          .sampling = self.sampling,
		                          .data = self.data,
		                          .data_bytes = self.data_bytes };
	struct sampling_data_info info = { .bytes =
		                               ABI_PROFILER_BYTES(sampling_data_info, complete),
		                           .data = self.data,
		                           .data_bytes = self.data_bytes };
	cupti_result result;

	*where = "cuptiPmSamplingCounterDataImageInitialize";
	memset(self.data, 0, self.data_bytes);
	result = CALL(cuptiPmSamplingCounterDataImageInitialize, sampling_data_begin, data,
	              .sampling = self.sampling, .data_bytes = self.data_bytes, .data = self.data);
	if (result == ABI_CUPTI_SUCCESS) {
		*where = "cuptiPmSamplingDecodeData";
		result = self.call.cuptiPmSamplingDecodeData(&decode);
	}
	if (result == ABI_CUPTI_SUCCESS) {
		*where = "cuptiPmSamplingGetCounterDataInfo";
		result = self.call.cuptiPmSamplingGetCounterDataInfo(&info);
	}
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*lost |= decode.overflow != 0;
	*more = decode.reason == ABI_SAMPLING_FULL;
	return show(visitor, info.complete, where);
}

static int sampler_read(struct tare_device *base, const struct tare_sample_visitor *visitor,
                        bool *lost, struct tare_error *error)
{
	const char *where = NULL;
	cupti_result result;
	bool more = false;

	(void)base;
	*lost = false;
	do
		result = read_once(visitor, &more, lost, &where);
	while (result == ABI_CUPTI_SUCCESS && more);
	// What cuptiPmSamplingDecodeData says of a record that overflowed (cupti_pmsampling.h).
	if (result == ABI_CUPTI_OUT_OF_MEMORY)
		return tare_fail(error, ENOBUFS,
		                 "the device's buffer of samples ran full before it was read: "
		                 "sample less often (--sampling-interval)");
	return result == ABI_CUPTI_SUCCESS ? 0 : fail(result, where, error);
}

const struct tare_sampler cuda_sampler = {
	.api = TARE_TRACE_CUDA,
	.open = sampler_open,
	.clock = sampler_clock,
	.start = sampler_start,
	.read = sampler_read,
	.stop = sampler_stop,
	.close = sampler_close,
};
