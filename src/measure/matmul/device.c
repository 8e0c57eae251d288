// SPDX-License-Identifier: Apache-2.0
// A product on the device: copies in, launches, waits, copy out, each timed by itself.
#include "measure/matmul/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Figures of a device's product, in this order.
enum { COPY_IN, LAUNCH, COMPLETE, KERNEL, COPY_OUT, TOTAL, ALONE };

static const uint32_t not_a_number = 0xffffffff;

// ---- memory

void matmul_close_product(struct matmul_product *product)
{
	for (int i = 0; i < MATMUL_MATRICES; i++) {
		tare_memory_free(product->device[i]);
		product->device[i] = NULL;
	}
}

static int make_memory(struct matmul_product *product, int64_t *ns, struct tare_error *error)
{
	struct tare_device *device = product->matmul->run->device;
	struct tare_host_time begin = tare_device_now(device);
	int status = 0;

	for (int i = 0; status == 0 && i < MATMUL_MATRICES; i++)
		status = tare_memory_create(device, TARE_MEMORY_DEVICE,
		                            matmul_matrix_bytes(product->rung, i, product->n),
		                            &product->device[i], error);
	*ns = tare_host_elapsed_ns(begin, tare_device_now(device));
	return status;
}

static struct tare_span span_of(const struct matmul_product *product, struct tare_memory *memory,
                                int matrix)
{
	return (struct tare_span){ memory, 0,
		                   matmul_matrix_bytes(product->rung, matrix, product->n) };
}

static int copy(const struct matmul_product *product, int matrix, bool to_device,
                struct tare_error *error)
{
	struct tare_span host = span_of(product, matmul_host_matrix(product, matrix), matrix);
	struct tare_span device = span_of(product, product->device[matrix], matrix);
	struct tare_operation operation = { .type = TARE_OPERATION_COPY,
		                            .source = to_device ? host : device,
		                            .destination = to_device ? device : host };

	return tare_append(product->matmul->bench.timed, &operation, NULL, error);
}

static int copy_in(const struct matmul_product *product, int64_t limit_ns, struct tare_error *error)
{
	int status = copy(product, MATMUL_A, true, error);

	status = status ?: copy(product, MATMUL_B, true, error);
	return status < 0 ? status : tare_finish(product->matmul->bench.timed, limit_ns, error);
}

static int copy_out(const struct matmul_product *product, int64_t limit_ns,
                    struct tare_error *error)
{
	int status = copy(product, MATMUL_C, false, error);

	return status < 0 ? status : tare_finish(product->matmul->bench.timed, limit_ns, error);
}

int matmul_open_product(struct matmul_product *product, struct tare_error *error)
{
	int64_t unused;
	int status = matmul_round(product, error);

	product->mark = tare_telemetry_mark(product->matmul->run);
	status = status ?: make_memory(product, &unused, error);
	return status < 0 ? status : copy_in(product, TARE_LIMIT_DEFAULT_NS, error);
}

// Makes both c hold no numbers, so that an element nobody wrote is found.
static int poison(const struct matmul_product *product, struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	struct tare_operation fill = {
		.type = TARE_OPERATION_FILL,
		.destination = span_of(product, product->device[MATMUL_C], MATMUL_C),
		.fill = { .pattern = &not_a_number, .pattern_bytes = sizeof not_a_number },
	};
	int status;

	memset(matmul->host[MATMUL_C]->host, 0xff, matmul_bytes(product->n));
	status = tare_bench_run(matmul->bench.timed, &fill, error);
	if (status != -ENOSYS && status != -ENOTSUP)
		return status;
	status = copy(product, MATMUL_C, true, error);
	return status < 0 ? status : tare_finish(matmul->bench.timed, TARE_LIMIT_DEFAULT_NS, error);
}

// ---- launches

static void free_events(struct matmul_product *product)
{
	for (uint32_t i = 0; i < product->event_count; i++)
		tare_event_free(product->events[i]);
	product->event_count = 0;
}

// Where the next operation's event goes; NULL where there are no stamps.
static struct tare_event **next_event(struct matmul_product *product)
{
	return product->matmul->bench.stamped ? &product->events[product->event_count] : NULL;
}

static void keep_event(struct matmul_product *product, struct tare_event *const *event)
{
	product->event_count += event && *event;
}

// Tiles of a side of the squares that a launch is made of: one square, but for the rung that goes
// by the cache.
static uint32_t square_of(const struct matmul_product *product, uint32_t tiles)
{
	uint32_t square, across;

	if (product->rung != TARE_RUNG_CACHED)
		return tiles;
	square = matmul_square(matmul_cache_bytes(product->matmul), product->n);
	if (square == 0 || square >= tiles)
		return tiles;
	// As even as they can be: groups beyond the matrix do nothing.
	across = (tiles + square - 1) / square;
	return (tiles + across - 1) / across;
}

// A launch of the rung's kernel; `arguments` has room for 6, at[] for the element.
static struct tare_operation launch_of(const struct matmul_product *product,
                                       struct tare_argument *arguments, const uint32_t at[2])
{
	const struct matmul_rung *rung = &matmul_rungs[product->rung];
	uint32_t tiles = (product->n + rung->tile - 1) / rung->tile;
	uint32_t square = square_of(product, tiles), across = (tiles + square - 1) / square;
	bool element = product->rung == TARE_RUNG_ELEMENT;
	struct tare_operation operation = {
		.type = TARE_OPERATION_LAUNCH,
		.launch = {
			.kernel = product->matmul->kernels[product->rung],
			.groups = { element ? 1 : square, element ? 1 : square, across * across },
			.group_size = { rung->group[0], rung->group[1], 1 },
			.arguments = arguments,
			.argument_count = element ? 6 : 4,
		},
	};

	for (int i = 0; i < MATMUL_MATRICES; i++)
		arguments[i] = (struct tare_argument){
			.type = TARE_ARGUMENT_MEMORY,
			.span = span_of(product, product->device[i], i),
		};
	for (int i = 0; i < (element ? 3 : 1); i++)
		arguments[3 + i] = (struct tare_argument){
			.type = TARE_ARGUMENT_VALUE,
			.value = i == 0 ? &product->n : &at[i - 1],
			.bytes = sizeof(uint32_t),
		};
	return operation;
}

// The first `count` elements, a launch each; some of them with events, the first and the last among
// these.
static int launch_elements(struct matmul_product *product, uint32_t count, struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	uint32_t stride = (count + MATMUL_EVENTS - 2) / (MATMUL_EVENTS - 1), at[2] = { 0 };
	struct tare_argument arguments[6];
	struct tare_operation launch = launch_of(product, arguments, at);
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		struct tare_event **event =
		    i % stride == 0 || i + 1 == count ? next_event(product) : NULL;
		at[0] = i / product->n;
		at[1] = i % product->n;
		if (i % 1024 == 1023 && tare_run_interrupted(matmul->run))
			return tare_fail(error, EINTR, "interrupted");
		status = tare_append(matmul->bench.timed, &launch, event, error);
		if (status == 0)
			keep_event(product, event);
	}
	return status;
}

int matmul_launch_once(struct matmul_product *product, struct tare_event **event,
                       struct tare_error *error)
{
	struct tare_queue *queue = product->matmul->bench.timed;
	struct tare_argument arguments[6];
	struct tare_operation operation;

	if (matmul_by_library(product->rung)) {
		struct tare_product call = matmul_library_product(product);
		return tare_blas_gemm(queue, call.precision, call.n, call.c, call.a, call.b, event,
		                      error);
	}
	operation = launch_of(product, arguments, NULL);
	return tare_append(queue, &operation, event, error);
}

static int launch_blas(struct matmul_product *product, struct tare_error *error)
{
	struct tare_product call = matmul_library_product(product);
	struct tare_event **events = product->events;
	int status =
	    tare_blas_append(&product->matmul->bench, &call, &events[0], &events[1], error);

	product->event_count = (events[0] != NULL) + (events[1] != NULL);
	return status;
}

static int launch(struct matmul_product *product, struct tare_error *error)
{
	struct tare_event **event;
	int status;

	if (product->rung == TARE_RUNG_ELEMENT)
		return launch_elements(product, product->n * product->n, error);
	if (matmul_by_library(product->rung))
		return launch_blas(product, error);
	event = next_event(product);
	status = matmul_launch_once(product, event, error);
	if (status == 0)
		keep_event(product, event);
	return status;
}

static int launch_and_wait(struct matmul_product *product, int64_t limit_ns,
                           struct tare_error *error)
{
	struct tare_queue *queue = product->matmul->bench.timed;
	int status = launch(product, error);

	status = status ?: tare_submit(queue, error);
	return status < 0 ? status : tare_finish(queue, limit_ns, error);
}

// ---- once, to see that it works and how long it takes

int matmul_try_device(struct matmul_product *product, bool add_cells, int64_t *ns,
                      struct tare_error *error)
{
	struct tare_device *device = product->matmul->run->device;
	struct tare_host_time begin;
	int64_t allocated_ns = 0;
	int status = make_memory(product, &allocated_ns, error);

	if (status == 0 && add_cells)
		matmul_add_once(
		    product->matmul, product->rung, product->n, TARE_PART_ALLOCATE, allocated_ns,
		    "host time to make the device's memory for a, b and c, once; a driver "
		    "may put it off until it is used");
	status = status ?: matmul_round(product, error);
	status = status ?: copy_in(product, TARE_LIMIT_DEFAULT_NS, error);
	begin = tare_device_now(device);
	status = status ?: launch_and_wait(product, TARE_LIMIT_DEFAULT_NS, error);
	*ns = tare_host_elapsed_ns(begin, tare_device_now(device));
	status = tare_bench_settle(product->matmul->bench.timed, status, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(device);
	free_events(product);
	matmul_close_product(product);
	return status;
}

int matmul_time_launches(struct matmul_product *product, uint32_t count, int64_t *ns,
                         struct tare_error *error)
{
	struct tare_queue *queue = product->matmul->bench.timed;
	struct tare_device *device = product->matmul->run->device;
	int64_t unused, begin;
	int status = make_memory(product, &unused, error);

	// The first launch may compile: it is not counted.
	for (uint32_t launches = 1; status == 0; launches = count) {
		begin = tare_device_now(device).ns;
		status = launch_elements(product, launches, error);
		status = status ?: tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
		*ns = (tare_device_now(device).ns - begin) / launches;
		free_events(product);
		if (launches == count)
			break;
	}
	status = tare_bench_settle(queue, status, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(device);
	free_events(product);
	matmul_close_product(product);
	return status;
}

// ---- a measurement

// One kernel, or one of a batch of them in a row.
static int time_kernels(struct matmul_product *product, uint32_t batch, int64_t *ps,
                        struct tare_error *error)
{
	const struct tare_bench *bench = &product->matmul->bench;
	struct tare_argument arguments[6];
	struct tare_operation operation;

	if (matmul_by_library(product->rung)) {
		struct tare_product call = matmul_library_product(product);
		return tare_blas_batch_ps(bench, &call, batch, ps, error);
	}
	operation = launch_of(product, arguments, NULL);
	return tare_bench_batch_ps(bench, &operation, batch, ps, error);
}

static uint32_t batch_for(const struct matmul_product *product, int64_t ps)
{
	const struct tare_bench *bench = &product->matmul->bench;
	uint32_t limit = 512;

	if (matmul_by_library(product->rung))
		return tare_blas_batch(bench, ps);
	if (bench->gate_capacity > 8 && limit > bench->gate_capacity - 4)
		limit = bench->gate_capacity - 4;
	return tare_batch((double)ps, bench->step_ps, limit);
}

// How many kernels a sample of the kernel's own time needs.
static int calibrate(struct matmul_product *product, struct tare_figure *figure,
                     struct tare_error *error)
{
	struct tare_bench *bench = &product->matmul->bench;
	int64_t ps = 0;
	int status;

	product->batch = 1;
	if (!bench->stamped || !bench->gated || product->rung == TARE_RUNG_ELEMENT ||
	    (matmul_by_library(product->rung) && bench->brackets) ||
	    1000.0 * (double)product->once_ns > 1000 * bench->step_ps + 1e9)
		return 0;
	status = time_kernels(product, 1, &ps, error);
	if (status < 0)
		return status;
	product->batch = batch_for(product, ps);
	figure->quantum = matmul_by_library(product->rung)
	                      ? bench->step_ps / product->batch
	                      : tare_bench_batch_step_ps(bench, product->batch);
	if (product->batch > 1)
		tare_labels_set_number(&figure->labels, "batch", product->batch);
	return 0;
}

static int begin_device(struct tare_measurement *measurement, struct tare_error *error)
{
	struct matmul_product *product = measurement->context;
	struct tare_bench *bench = &product->matmul->bench;
	struct tare_figure *kernel = &measurement->figures[KERNEL];
	int status = matmul_open_product(product, error);

	for (size_t i = 0; !bench->stamped && i < measurement->figure_count; i++)
		if (strcmp(measurement->figures[i].source, "device") == 0)
			snprintf(measurement->figures[i].absent,
			         sizeof measurement->figures[i].absent, "%s", bench->unstamped);
	status = status ?: poison(product, error);
	return status < 0 ? status : calibrate(product, kernel, error);
}

static int refuse_kernel(struct tare_measurement *measurement, int status,
                         const struct tare_error *error)
{
	if (status != -EOVERFLOW)
		return status;
	for (size_t i = 0; i < measurement->figure_count; i++) {
		struct tare_figure *figure = &measurement->figures[i];
		if (strcmp(figure->source, "device") != 0)
			continue;
		figure->refused = true;
		snprintf(figure->absent, sizeof figure->absent, "%.300s", error->message);
	}
	return 0;
}

// The stamps to be shown: of the largest product, and of its last rung of tare's own.
static void keep_stamps(struct matmul_product *product, int64_t host_ns)
{
	struct matmul *matmul = product->matmul;
	uint64_t rank = (uint64_t)product->n << 8 | (uint64_t)product->rung;

	if (matmul_by_library(product->rung) || product->rung == TARE_RUNG_ELEMENT ||
	    rank < matmul->kept_rank || product->event_count == 0)
		return;
	matmul->kept_rank = rank;
	tare_raw_stamps_keep(&matmul->bench.raw, product->events[product->event_count - 1], host_ns,
	                     "%s, %u x %u", matmul_rungs[product->rung].title, product->n,
	                     product->n);
}

// The time of the kernels by the stamps of a sample that took the host host_ns.
static int read_stamps(struct matmul_product *product, int64_t host_ns, int64_t *values,
                       struct tare_error *error)
{
	struct tare_bench *bench = &product->matmul->bench;
	double sum = 0;
	int status;

	if (!bench->stamped)
		return 0;
	keep_stamps(product, host_ns);
	if (product->batch > 1)
		return time_kernels(product, product->batch, &values[KERNEL], error);
	status =
	    tare_bench_span_ps(bench, product->events[0], product->events[product->event_count - 1],
	                       host_ns, &values[KERNEL], error);
	if (product->rung != TARE_RUNG_ELEMENT)
		return status;
	for (uint32_t i = 0; status == 0 && i < product->event_count; i++) {
		int64_t ps = 0;
		status = tare_bench_duration_ps(bench, product->events[i], host_ns, &ps, error);
		sum += (double)ps;
	}
	if (status == 0)
		values[ALONE] = (int64_t)(sum / product->event_count * product->n * product->n);
	return status;
}

static int sample_device(struct tare_measurement *measurement, int64_t *values,
                         struct tare_error *error)
{
	struct matmul_product *product = measurement->context;
	struct tare_queue *queue = product->matmul->bench.timed;
	struct tare_device *device = product->matmul->run->device;
	struct tare_host_time at[5];
	int status;

	at[0] = tare_device_now(device);
	status = copy_in(product, TARE_LIMIT_NATIVE, error);
	at[1] = tare_device_now(device);
	status = status ?: launch(product, error);
	at[2] = tare_device_now(device);
	status = status ?: tare_submit(queue, error);
	status = status ?: tare_finish(queue, TARE_LIMIT_NATIVE, error);
	at[3] = tare_device_now(device);
	status = status ?: copy_out(product, TARE_LIMIT_NATIVE, error);
	at[4] = tare_device_now(device);
	values[COPY_IN] = 1000 * tare_host_elapsed_ns(at[0], at[1]);
	values[LAUNCH] = 1000 * tare_host_elapsed_ns(at[1], at[2]);
	values[COMPLETE] = 1000 * tare_host_elapsed_ns(at[2], at[3]);
	values[COPY_OUT] = 1000 * tare_host_elapsed_ns(at[3], at[4]);
	values[TOTAL] = 1000 * tare_host_elapsed_ns(at[0], at[4]);
	status = status ?: read_stamps(product, tare_host_elapsed_ns(at[1], at[3]), values, error);
	free_events(product);
	return refuse_kernel(measurement, status, error);
}

static int end_device(struct tare_measurement *measurement, enum tare_verified *verified,
                      struct tare_error *error)
{
	struct matmul_product *product = measurement->context;
	struct tare_device *device = product->matmul->run->device;
	struct tare_clock_range *clock = &product->matmul->clocks[product->rung][product->size];
	int status = 0;

	if (tare_telemetry_clock_hz(product->matmul->run, product->mark, clock) < 0)
		clock->readings = 0;
	free_events(product);
	// What a failure left in the queue must not outlive its memory.
	if (!device->lost)
		status = tare_finish(product->matmul->bench.timed, TARE_LIMIT_DEFAULT_NS, error);
	if (status == 0 && !device->lost && product->device[MATMUL_C])
		status = matmul_verify(product, verified, error);
	matmul_close_product(product);
	return status;
}

static const char *kernel_method(const struct matmul_product *product, char text[400])
{
	const struct tare_bench *bench = &product->matmul->bench;
	const char *factors = tare_precision_name(matmul_rungs[product->rung].precision);

	if (product->rung == TARE_RUNG_ELEMENT)
		return "from the start of the first of n x n launches to the end of the last on "
		       "the "
		       "device's clock: what lies between them is in it";
	if (!matmul_by_library(product->rung)) {
		snprintf(text, 400,
		         "start to end on the device's clock; kernels shorter than 100 ticks: %s",
		         tare_bench_batch_note(bench));
		return text;
	}
	snprintf(text, 400,
	         "%.60s%s%s%s: on the device's clock, from a marker just before the library's call "
	         "to the end of its last kernel: what the host took to launch the first may be in "
	         "it%s",
	         matmul_library_name(product->matmul),
	         matmul_is_rounded(product->rung) ? ", factors in " : "",
	         matmul_is_rounded(product->rung) ? factors : "",
	         matmul_is_rounded(product->rung) ? ", rounded on the host" : "",
	         bench->brackets
	             ? ""
	             : "; short products in a row behind a gate, divided: then it is not");
	return text;
}

static struct tare_figure *add_part(struct matmul_product *product,
                                    struct tare_measurement *measurement, enum tare_part part,
                                    const char *source, bool rate, const char *method)
{
	struct tare_figure *figure = matmul_figure(product, measurement, part, source, method);

	if (rate) {
		figure->rate_unit = "GFLOP/s";
		figure->work = matmul_flop(product->n);
	}
	return figure;
}

void matmul_plan_device(struct matmul_product *product, struct tare_measurement *measurement)
{
	bool pinned = product->matmul->pinned, element = product->rung == TARE_RUNG_ELEMENT;
	struct tare_figure *alone;
	char method[400];

	measurement->begin = begin_device;
	measurement->sample = sample_device;
	measurement->end = end_device;
	measurement->context = product;
	add_part(product, measurement, TARE_PART_COPY_IN, "host", false,
	         pinned ? "a and b from pinned memory to the device: call to the return of finish"
	                : "a and b from the heap to the device: call to the return of finish");
	add_part(product, measurement, TARE_PART_LAUNCH, "host", false,
	         element ? "host time of appending n x n launches"
	                 : "host time of appending the launch");
	add_part(product, measurement, TARE_PART_COMPLETE, "host", false,
	         "host time from submitting what was appended to the return of finish");
	add_part(product, measurement, TARE_PART_KERNEL, "device", true,
	         kernel_method(product, method));
	add_part(product, measurement, TARE_PART_COPY_OUT, "host", false,
	         "c from the device: call to the return of finish");
	add_part(product, measurement, TARE_PART_TOTAL, "host", true,
	         "copy in, launch, submit to complete and copy out, one after the other; "
	         "building and allocating are not in it");
	if (!element)
		return;
	alone =
	    add_part(product, measurement, TARE_PART_KERNELS_ALONE, "device", false,
	             "n x n times the mean time of up to 256 of the launches, spread evenly: how "
	             "long the device was at work in the span of all");
	alone->quantum *= product->n * product->n / (double)MATMUL_EVENTS;
}
