// SPDX-License-Identifier: Apache-2.0
// Whether a schedule computes what one unchunked run does.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POISON 0xa5
// The host's part is bound by memory, and one core does not use all of it. A thread is worth its
// start from so many bytes on.
#define THREADS_MOST 8
#define THREAD_BYTES (UINT64_C(4) << 20)

// ---- the host's part, by several threads

struct portion {
	bool (*work)(const struct portion *portion);
	const struct tare_pipeline *pipeline;
	const struct tare_memory *output;
	uint64_t first, count; // items
	bool right;
};

static void *work_on(void *context)
{
	struct portion *portion = context;

	portion->right = portion->work(portion);
	return NULL;
}

// Whether `work` says so of all `count` items from `first` on, each of which is in one portion.
static bool share_out(struct portion whole)
{
	struct portion portions[THREADS_MOST];
	pthread_t threads[THREADS_MOST];
	bool started[THREADS_MOST] = { false }, right = true;
	uint64_t bytes = whole.count * whole.pipeline->kernel.out_bytes;
	uint64_t count = bytes / THREAD_BYTES, from = 0;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (count > THREADS_MOST)
		count = THREADS_MOST;
	if (cores > 0 && count > (uint64_t)cores)
		count = (uint64_t)cores;
	if (count <= 1)
		return whole.work(&whole);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t to = whole.count / count * (i + 1);
		portions[i] = whole;
		portions[i].first = whole.first + from;
		portions[i].count = (i + 1 == count ? whole.count : to) - from;
		from = to;
		started[i] = i > 0 && pthread_create(&threads[i], NULL, work_on, &portions[i]) == 0;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (started[i])
			pthread_join(threads[i], NULL);
		else
			work_on(&portions[i]);
		right &= portions[i].right;
	}
	return right;
}

static bool poison_portion(const struct portion *portion)
{
	uint64_t item = portion->pipeline->kernel.out_bytes;

	memset((char *)portion->output->host + portion->first * item, POISON,
	       portion->count * item);
	return true;
}

// ----

// `contents` stands in where the device cannot fill.
static int poison_device(struct tare_pipeline *pipeline, struct tare_memory *memory,
                         struct tare_memory *contents, struct tare_error *error)
{
	static const unsigned char pattern = POISON;
	struct tare_operation operation = {
		.type = TARE_OPERATION_FILL,
		.destination = { memory, 0, memory->bytes },
		.fill = { .pattern = &pattern, .pattern_bytes = 1 },
	};
	int status = tare_bench_run(pipeline->bench->plain, &operation, error);

	if (status != -ENOSYS && status != -ENOTSUP)
		return status;
	if (contents->bytes < memory->bytes)
		return 0;
	operation = (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                             .source = { contents, 0, memory->bytes },
		                             .destination = operation.destination };
	return tare_bench_run(pipeline->bench->plain, &operation, error);
}

// The output everywhere, and the input on the device: a kernel that comes before its copy must not
// find what the last run left.
static int poison(struct tare_pipeline *pipeline, struct tare_memory *output,
                  struct tare_error *error)
{
	int status;

	share_out((struct portion){ .work = poison_portion,
	                            .pipeline = pipeline,
	                            .output = output,
	                            .count = pipeline->items });
	status = poison_device(pipeline, pipeline->device_out, output, error);
	if (status == 0 && pipeline->host_in)
		status = poison_device(pipeline, pipeline->device_in, output, error);
	return status;
}

// The output of one chunk in one queue, with the scalars as they are.
static int make_reference(struct tare_pipeline *pipeline, struct tare_error *error)
{
	static const struct tare_schedule whole = { .chunks = 1, .queues = 1 };
	struct tare_memory *output = pipeline->host_out;
	int status;

	if (pipeline->reference_of == pipeline->scalars_set)
		return 0;
	if (!pipeline->reference)
		pipeline->reference = malloc(output->bytes);
	if (!pipeline->reference)
		return tare_fail(error, ENOMEM, "out of memory");
	status = poison(pipeline, output, error);
	status = status ?: pipeline_run_limited(pipeline, &whole, TARE_BREAK_NONE, error);
	if (status < 0)
		return status;
	memcpy(pipeline->reference, output->host, output->bytes);
	pipeline->reference_of = pipeline->scalars_set;
	return 0;
}

static bool check_portion(const struct portion *portion)
{
	const struct tare_pipeline *pipeline = portion->pipeline;
	const struct tare_chunk_kernel *kernel = &pipeline->kernel;
	const char *output = portion->output->host;
	uint64_t offset = portion->first * kernel->out_bytes;

	if (kernel->check)
		return kernel->check(kernel->context,
		                     pipeline->host_in ? pipeline->host_in->host : NULL, output,
		                     portion->first, portion->count);
	return memcmp(output + offset, (const char *)pipeline->reference + offset,
	              portion->count * kernel->out_bytes) == 0;
}

static bool is_right(const struct tare_pipeline *pipeline, const struct tare_memory *output,
                     uint64_t first, uint64_t count)
{
	return share_out((struct portion){ .work = check_portion,
	                                   .pipeline = pipeline,
	                                   .output = output,
	                                   .first = first,
	                                   .count = count });
}

// The first wrong item of those from `first` on, one of which is wrong.
static uint64_t find_wrong(const struct tare_pipeline *pipeline, const struct tare_memory *output,
                           uint64_t first, uint64_t count)
{
	while (count > 1) {
		uint64_t half = count / 2;
		if (is_right(pipeline, output, first, half)) {
			first += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return first;
}

int tare_pipeline_verify(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                         enum tare_break how, enum tare_verified *verified, uint64_t *wrong_item,
                         struct tare_error *error)
{
	struct tare_memory *output;
	int64_t ns;
	int status = 0;

	*verified = TARE_NOT_VERIFIABLE;
	if (!pipeline->host_out)
		return tare_pipeline_run(pipeline, schedule, how, &ns, NULL, error);
	if (!pipeline->kernel.check)
		status = make_reference(pipeline, error);
	if (status == 0 && how == TARE_BREAK_PAGEABLE)
		status = pipeline_need_heap(pipeline, error);
	if (status < 0)
		return status;
	output = how == TARE_BREAK_PAGEABLE ? pipeline->heap_out : pipeline->host_out;
	if (how == TARE_BREAK_BLOCKING)
		status = tare_pipeline_run(pipeline, schedule, how, &ns, NULL, error);
	status = status ?: poison(pipeline, output, error);
	status = status ?: pipeline_run_limited(pipeline, schedule, how, error);
	if (status < 0)
		return status;
	*verified = is_right(pipeline, output, 0, pipeline->items) ? TARE_VERIFIED : TARE_WRONG;
	if (*verified == TARE_WRONG && wrong_item)
		*wrong_item = find_wrong(pipeline, output, 0, pipeline->items);
	return 0;
}
