// SPDX-License-Identifier: Apache-2.0
// Time: what the devices have done by now, and waiting for it.
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOON_NS 100000 // what comes so soon is waited for without sleeping

struct gpu gpu;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
_Thread_local cu_context current;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
// The thread of host functions; a forked child has none.
static pthread_t worker;
static pid_t worker_process;
static bool worker_runs, worker_calls, ending;

// Host functions whose turn has come, in this order, and what engines did.
static struct ops called;
static void (*observer)(const struct fake_cuda_activity *activity);
static struct fake_cuda_activity *activities;
static size_t activity_count, activity_capacity;

int64_t device_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + gpu.skipped_ns;
}

int64_t now_ps(void)
{
	return (device_now() - gpu.base_ns) * 1000;
}

static int64_t to_ns(int64_t ps)
{
	return gpu.base_ns + ps / 1000;
}

_Noreturn void would_hang(const char *what)
{
	fprintf(stderr, "fake CUDA: %s would wait for ever\n", what);
	abort();
}

// ---- what an operation does when it is done

static struct fake_cuda_activity *one_more(void)
{
	if (activity_count == activity_capacity) {
		activity_capacity = activity_capacity ? 2 * activity_capacity : 64;
		activities = realloc(activities, activity_capacity * sizeof *activities);
	}
	return &activities[activity_count++];
}

// Pages move before what needs them runs.
static void observe_migration(const struct op *op)
{
	*one_more() = (struct fake_cuda_activity){
		.kind = FAKE_CUDA_MIGRATION,
		.device = (uint32_t)op->device->index,
		.bytes = op->migrated_bytes,
		.start_ns = to_ns(op->model.start_ps),
		.end_ns = to_ns(op->model.start_ps + op->migrated_ps),
		.copy_kind = op->model.flow == TARE_FLOW_TO_HOST ? 2 : 1,
	};
}

static void observe(const struct op *op)
{
	static const enum fake_cuda_activity_kind kinds[] = {
		[COPY] = FAKE_CUDA_COPY,
		[FILL] = FAKE_CUDA_FILL,
		[KERNEL] = FAKE_CUDA_KERNEL,
	};
	if (!observer || op->model.flow == TARE_FLOW_NONE)
		return;
	if (op->migrated_bytes)
		observe_migration(op);
	if (op->migrated_bytes && op->kind == COPY)
		return; // a prefetch
	struct fake_cuda_activity *activity = one_more();
	*activity = (struct fake_cuda_activity){
		.kind = kinds[op->kind],
		.correlation = op->correlation,
		.device = (uint32_t)op->device->index,
		.stream = op->stream,
		.start_ns = to_ns(op->model.start_ps),
		.end_ns = to_ns(op->model.end_ps),
		.bytes = op->row_bytes * op->rows * op->layers,
		.copy_kind = op->copy_kind,
		.ends = { op->ends[0], op->ends[1] },
		.graph_node = op->graph_node,
		.shared_bytes = op->shared_bytes,
	};
	memcpy(activity->grid, op->grid, sizeof activity->grid);
	memcpy(activity->block, op->block, sizeof activity->block);
	snprintf(activity->name, sizeof activity->name, "%s", op->name);
}

static void move(const struct op *op)
{
	for (size_t layer = 0; layer < op->layers; layer++)
		for (size_t row = 0; row < op->rows; row++)
			memmove(op->to.at + layer * op->to.layer + row * op->to.pitch,
			        op->from.at + layer * op->from.layer + row * op->from.pitch,
			        op->row_bytes);
}

static void act(struct op *op)
{
	struct device *device = op->device;

	switch (op->kind) {
	case RECORD:
		op->event->done++;
		op->event->ns = to_ns(op->model.end_ps);
		if (op->event->last == op)
			op->event->last = NULL;
		break;
	case COPY:
		move(op);
		break;
	case FILL:
		for (size_t i = 0; i < op->row_bytes; i += op->unit)
			memcpy(op->to.at + i, &op->value, op->unit);
		break;
	case KERNEL:
		if (!op->fails && op->effect)
			op->effect(op->data);
		else if (!op->fails)
			op->fails = run_kernel(op);
		break;
	default:
		break;
	}
	if (op->fails)
		device->lost = op->fails;
	if (op->model.flow != TARE_FLOW_NONE) {
		device->working--;
		device->busy_ps += op->model.end_ps - op->model.start_ps;
		device->busy_until_ps = op->model.end_ps;
		observe(op);
	}
}

static int64_t event_gap_ps(const struct op *from, const struct op *to)
{
	return from->lane == to->lane ? 0 : to->device->script.queue.event_gap_ps;
}

static void let_go(struct op *op, struct op *done, int64_t at_ps)
{
	at_ps += event_gap_ps(done, op);
	if (at_ps > op->not_before_ps)
		op->not_before_ps = at_ps;
	for (size_t i = 0; i < op->waits.count; i++)
		if (op->waits.at[i] == done) {
			op->waits.at[i] = op->waits.at[--op->waits.count];
			break;
		}
	if (op->waits.count == 0 && op->kind != WAIT_VALUE && op->kind != HOST_RETURN)
		tare_model_release(&op->model, op->not_before_ps);
}

void operation_done(void *context, struct tare_model_operation *model)
{
	struct op *op = (struct op *)model;

	(void)context;
	if (!op->device->lost)
		act(op);
	for (size_t i = 0; i < op->followers.count; i++)
		let_go(op->followers.at[i], op, model->end_ps);
	if (op->graph && op->graph->last == op)
		op->graph->last = NULL;
	if (op->kind == HOST_CALL) {
		called.at = realloc(called.at, (called.count + 1) * sizeof *called.at);
		called.at[called.count++] = op->next;
		pthread_cond_broadcast(&changed);
	}
	op->stream->count -= op->entry;
	free_op(op);
}

// ---- time

// Lets go what waits for a word that has come, once the stream has reached it.
static bool look_at_words(struct device *device)
{
	bool any = false;

	for (struct cu_stream_object *stream = device->streams; stream; stream = stream->next) {
		struct op *op = stream->lanes->first;
		if (op && op->kind == WAIT_VALUE && op->model.held && op->waits.count == 0 &&
		    (int32_t)(*op->word - op->value) >= 0) {
			tare_model_release(&op->model, now_ps());
			any = true;
		}
	}
	return any;
}

// Devices behind one link share it: of those that copy in one direction each goes slower.
static void share_link(void)
{
	for (enum tare_flow flow = TARE_FLOW_TO_DEVICE; flow <= TARE_FLOW_TO_HOST; flow++) {
		uint32_t users = 0;
		for (int i = 0; i < gpu.words.devices; i++)
			users += tare_model_at_work(gpu.devices[i].model, flow) > 0;
		for (int i = 0; i < gpu.words.devices; i++)
			tare_model_share(gpu.devices[i].model, flow, users ? users : 1);
	}
}

// All models go on in step, because what one does lets another's operations go.
static void run_models(int64_t until_ps)
{
	for (;;) {
		int64_t next = until_ps;
		for (int i = 0; gpu.words.devices > 1 && i < gpu.words.devices; i++) {
			int64_t due = tare_model_next_ps(gpu.devices[i].model);
			if (!gpu.devices[i].lost && due < next &&
			    due > tare_model_now_ps(gpu.devices[i].model))
				next = due;
		}
		for (int i = 0; i < gpu.words.devices; i++)
			if (!gpu.devices[i].lost)
				tare_model_run(gpu.devices[i].model, next);
		if (gpu.words.shared_link)
			share_link();
		if (next >= until_ps)
			return;
	}
}

static void drop_destroyed(struct device *device)
{
	struct cu_stream_object *next;

	for (struct cu_stream_object *stream = device->streams; stream; stream = next) {
		next = stream->next;
		if (stream->destroyed && stream->count == 0)
			free_stream(stream);
	}
}

void pump(void)
{
	bool again;

	if (!gpu.initialised)
		return;
	do {
		again = false;
		run_models(now_ps());
		for (int i = 0; i < gpu.words.devices; i++)
			again |= look_at_words(&gpu.devices[i]);
	} while (again);
	for (int i = 0; i < gpu.words.devices; i++)
		drop_destroyed(&gpu.devices[i]);
}

void pause_shortly(void)
{
	int64_t next = TARE_MODEL_NEVER;

	for (int i = 0; i < gpu.words.devices; i++) {
		int64_t due = tare_model_next_ps(gpu.devices[i].model);
		next = due < next ? due : next;
	}
	bool soon = next != TARE_MODEL_NEVER && next - now_ps() < (int64_t)SOON_NS * 1000;
	leave(ABI_SUCCESS);
	if (!soon)
		nanosleep(&(struct timespec){ .tv_nsec = SOON_NS / 2 }, NULL);
	pthread_mutex_lock(&mutex);
}

void host_takes(int64_t ps)
{
	const int64_t until = now_ps() + ps;

	while (ps > 0 && now_ps() < until) {
		int64_t left_ns = (until - now_ps()) / 1000;
		leave(ABI_SUCCESS);
		if (left_ns > 10 * (int64_t)SOON_NS)
			nanosleep(&(struct timespec){ .tv_nsec = SOON_NS }, NULL);
		pthread_mutex_lock(&mutex);
	}
}

void host_wakes(const struct device *device, bool waited)
{
	if (waited && !device->lost)
		host_takes(device->script.host.wake_ps);
}

cu_result drain(struct cu_stream_object *stream)
{
	struct device *device = stream->device;

	pump();
	bool waits = stream->count > 0;
	while (stream->count && !device->lost) {
		if (head_is_stuck(stream))
			would_hang("a synchronisation behind a shut gate");
		pause_shortly();
		pump();
	}
	host_wakes(device, waits);
	return device->lost;
}

// A stream that has something in it; it may be gone when the devices have got on.
static struct cu_stream_object *busy_stream(struct device *device)
{
	for (struct cu_stream_object *each = device->streams; each; each = each->next)
		if (each->count)
			return each;
	return NULL;
}

cu_result drain_device(struct device *device)
{
	struct cu_stream_object *stream;

	pump();
	bool waits = busy_stream(device);
	while ((stream = busy_stream(device)) && !device->lost) {
		if (head_is_stuck(stream))
			would_hang("a synchronisation behind a shut gate");
		pause_shortly();
		pump();
	}
	host_wakes(device, waits);
	return device->lost;
}

cu_result leave(cu_result result)
{
	struct fake_cuda_activity *seen = activities;
	size_t count = activity_count;
	void (*see)(const struct fake_cuda_activity *) = observer;

	if (count) {
		activities = NULL;
		activity_count = activity_capacity = 0;
	}
	pthread_mutex_unlock(&mutex);
	if (!count)
		return result;
	for (size_t i = 0; see && i < count; i++)
		see(&seen[i]);
	free(seen);
	return result;
}

// ---- host functions

// Runs them as the driver does, on one thread of its own.
static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	while (!ending) {
		pump();
		if (called.count) {
			struct op *op = called.at[0];
			memmove(called.at, called.at + 1, --called.count * sizeof *called.at);
			cu_host_function function = op->function;
			void *data = op->data;
			uint32_t number = op->value;
			struct device *device = op->device;
			worker_calls = true;
			leave(ABI_SUCCESS);
			function(data);
			pthread_mutex_lock(&mutex);
			worker_calls = false;
			// It may be gone together with its context.
			for (struct cu_stream_object *each = device->streams; each;
			     each = each->next)
				for (struct lane *lane = each->lanes; lane; lane = lane->next)
					if (lane->first && lane->first->kind == HOST_RETURN &&
					    lane->first->value == number) {
						run_models(now_ps());
						tare_model_release(&lane->first->model, now_ps());
						gpu.functions_pending--;
					}
		} else if (gpu.functions_pending > 0 && gpu.initialised) {
			pause_shortly();
		} else {
			pthread_cond_wait(&changed, &mutex);
		}
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

void wake_worker(void)
{
	if (!worker_runs && pthread_create(&worker, NULL, work, NULL) == 0) {
		worker_runs = true;
		worker_process = getpid();
	}
	pthread_cond_broadcast(&changed);
}

// At exit the leak sanitizer is to find no thread at work. One that is in a host function may never
// come back, and is left.
__attribute__((destructor)) static void end_worker(void)
{
	if (worker_process != getpid())
		return;
	pthread_mutex_lock(&mutex);
	bool idle = !worker_calls;
	ending = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	if (idle)
		pthread_join(worker, NULL);
}

// ---- start and end

int work_pending(void)
{
	size_t pending = 0;
	for (int i = 0; i < gpu.words.devices; i++)
		for (struct cu_stream_object *each = gpu.devices[i].streams; each;
		     each = each->next)
			pending += gpu.devices[i].lost ? 0 : each->count;
	return (int)pending;
}

void forget_work(struct device *device)
{
	for (size_t i = called.count; i-- > 0;)
		if (called.at[i]->device == device) {
			memmove(&called.at[i], &called.at[i + 1],
			        (--called.count - i) * sizeof *called.at);
			gpu.functions_pending--;
		}
	while (device->streams)
		free_stream(device->streams);
	tare_model_free(device->model);
	device->model = NULL;
	device->working = 0;
}

void revive_device(struct device *device)
{
	memset(device->peers, 0, sizeof device->peers);
	device->context.device = device;
	device->model = tare_model_new(&device->script, operation_done, device);
	tare_model_run(device->model, now_ps());
	new_stream(device, 0)->legacy = true;
}

// A test process starts over here, as a new process would.
void start_device(void)
{
	for (int i = 0; i < MAX_DEVICES; i++)
		forget_work(&gpu.devices[i]);
	read_words();
	gpu.launches = gpu.functions_pending = 0;
	gpu.base_ns = device_now();
	current = NULL;
	for (int i = 0; i < gpu.words.devices; i++) {
		gpu.devices[i].index = i;
		gpu.devices[i].lost = 0;
		gpu.devices[i].busy_ps = gpu.devices[i].busy_until_ps = 0;
		revive_device(&gpu.devices[i]);
	}
	gpu.initialised = gpu.words.init == 0;
}

// ---- for the tests

int64_t fake_cuda_event_ns(cu_event event)
{
	return event->ns / gpu.words.step * gpu.words.step;
}

void fake_cuda_skip_ns(int64_t ns)
{
	pthread_mutex_lock(&mutex);
	gpu.skipped_ns += ns;
	pthread_mutex_unlock(&mutex);
}

int fake_cuda_objects(void)
{
	return gpu.objects;
}

int fake_cuda_records(void)
{
	return gpu.records;
}

int fake_cuda_pending(void)
{
	pthread_mutex_lock(&mutex);
	pump();
	int pending = work_pending();
	leave(ABI_SUCCESS);
	return pending;
}

void fake_cuda_observe(void (*see)(const struct fake_cuda_activity *activity))
{
	pthread_mutex_lock(&mutex);
	pump();
	leave(ABI_SUCCESS);
	pthread_mutex_lock(&mutex);
	observer = see;
	pthread_mutex_unlock(&mutex);
}

int64_t fake_cuda_busy_ns(uint32_t device, int64_t *idle_ns)
{
	int64_t busy_ns = 0;

	pthread_mutex_lock(&mutex);
	pump();
	*idle_ns = INT64_MAX;
	if (gpu.initialised && device < (uint32_t)gpu.words.devices) {
		const struct device *at = &gpu.devices[device];
		busy_ns = at->busy_ps / 1000;
		if (at->working)
			*idle_ns = 0;
		else if (at->busy_until_ps)
			*idle_ns = (now_ps() - at->busy_until_ps) / 1000;
	}
	leave(ABI_SUCCESS);
	return busy_ns;
}
