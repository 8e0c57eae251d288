// SPDX-License-Identifier: Apache-2.0
#include "measure/peak/internal.h"

#include "backend/call.h"
#include "backend/kernels.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A trial of fewer ticks than this says too little to scale by.
#define TRIAL_TICKS 50
#define MOST_TURNS (UINT32_C(1) << 28)
// A trial that takes the host so long while the device tells of almost nothing: its stamps do not
// grow with the work (a scripted device's need not), and more turns would never be enough.
#define LONGEST_TRIAL_NS INT64_C(250000000)
#define LONGEST_NOTHING_NS INT64_C(25000000) // where they tell of no time at all

static struct peak_module *find_module(struct peak *peak, const char *name)
{
	size_t i = 0;

	while (i < PEAK_MODULES - 1 && peak->modules[i].name[0] &&
	       strcmp(peak->modules[i].name, name) != 0)
		i++;
	snprintf(peak->modules[i].name, sizeof peak->modules[i].name, "%s", name);
	return &peak->modules[i];
}

// Adds the first line of the log that says "error", or else its first line.
static void add_log(struct tare_error *error, const char *log)
{
	const char *line = strstr(log, "error");
	size_t used = strlen(error->message);

	while (line && line > log && line[-1] != '\n')
		line--;
	if (!line)
		line = log;
	snprintf(error->message + used, sizeof error->message - used, ": %.*s",
	         (int)strcspn(line, "\n"), line);
}

static int create_kernel(struct peak *peak, const char *module, const char *entry,
                         struct tare_kernel **kernel, struct tare_error *error)
{
	struct peak_module *made = find_module(peak, module);
	TARE_FREE char *log = NULL;
	int status;

	if (made->module)
		return tare_kernel_create(made->module, entry, kernel, error);
	status = tare_kernel_build(peak->bench.device, module, entry, &made->module, kernel, &log,
	                           error);
	if (status < 0 && log && log[0] && error)
		add_log(error, log);
	return status;
}

int peak_take_kernel(struct peak_task *task, const char *module, const char *entry,
                     struct tare_error *error)
{
	struct tare_kernel_facts facts = { .max_group_size = -1 };
	int status;

	if (task->kernel)
		return 0;
	status = create_kernel(task->peak, module, entry, &task->kernel, error);
	if (status < 0)
		return status;
	task->group_limit = task->peak->group_limit;
	if (tare_kernel_facts(task->kernel, &facts, NULL) == 0 && facts.max_group_size > 0)
		while (task->group_limit > facts.max_group_size)
			task->group_limit /= 2;
	return 0;
}

bool peak_may_go_on(int status)
{
	return !tare_device_is_gone(status) && status != -EINTR;
}

void peak_add_memory(struct peak_task *task, struct tare_memory *memory)
{
	task->arguments[task->argument_count++] = (struct tare_argument){
		.type = TARE_ARGUMENT_MEMORY,
		.span = { memory, 0, memory->bytes },
	};
}

void peak_add_value(struct peak_task *task, uint32_t value)
{
	uint32_t i = task->argument_count++;

	task->values[i] = value;
	task->arguments[i] = (struct tare_argument){
		.type = TARE_ARGUMENT_VALUE,
		.value = &task->values[i],
		.bytes = sizeof task->values[i],
	};
}

void peak_add_turns(struct peak_task *task)
{
	task->turns_at = task->argument_count;
	peak_add_value(task, 1);
	task->turns = 1;
}

void peak_set_turns(struct peak_task *task, uint32_t turns)
{
	task->turns = turns;
	task->values[task->turns_at] = turns;
}

int peak_launch(struct peak_task *task, int64_t limit_ns, int64_t *ps, struct tare_error *error)
{
	struct tare_bench *bench = &task->peak->bench;
	struct tare_operation launch = {
		.type = TARE_OPERATION_LAUNCH,
		.launch = {
			.kernel = task->kernel,
			.groups = { task->groups, 1, 1 },
			.group_size = { task->group_size, 1, 1 },
			.arguments = task->arguments,
			.argument_count = task->argument_count,
		},
	};
	bool stamps = ps && bench->stamped;
	struct tare_event *event = NULL;
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t host_ns;
	int status = tare_append(bench->timed, &launch, stamps ? &event : NULL, error);

	status = status ?: tare_finish(bench->timed, limit_ns, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	if (status == 0 && stamps)
		status = tare_bench_duration_ps(bench, event, host_ns, ps, error);
	else if (status == 0 && ps)
		*ps = 1000 * host_ns;
	tare_event_free(event);
	return status;
}

int peak_no_time(struct tare_error *error)
{
	return tare_fail(error, ENODATA,
	                 "the device's stamps say that it takes no time, however much it does");
}

// Where a profiler may look on: a launch that it counts seems longer. The shorter of two tells what
// it takes.
static int look_again(struct peak_task *task, int64_t *ps, struct tare_error *error)
{
	int64_t again = *ps;
	int status = peak_launch(task, TARE_LIMIT_DEFAULT_NS, &again, error);

	if (status == 0 && again > 0 && again < *ps)
		*ps = again;
	return status;
}

int peak_calibrate(struct peak_task *task, uint32_t least, struct tare_error *error)
{
	const struct peak *peak = task->peak;
	double target = (double)peak->target_ps,
	       enough = fmax(target / 16, TRIAL_TICKS * peak->bench.step_ps);
	double turns = least;
	int64_t ps = 0, host_ns;
	int vain = 0;
	// The first launch also loads the kernel.
	int status;

	peak_set_turns(task, least);
	status = peak_launch(task, TARE_LIMIT_DEFAULT_NS, NULL, error);
	for (int i = 0; status == 0 && i < 12; i++) {
		struct tare_host_time begin = tare_device_now(peak->bench.device);
		peak_set_turns(task, (uint32_t)turns);
		status = peak_launch(task, TARE_LIMIT_DEFAULT_NS, &ps, error);
		if (status == 0 && (double)ps >= enough && peak->run->samples)
			status = look_again(task, &ps, error);
		if (status == 0 && (double)ps >= enough)
			break;
		// One alone may be the machine's fault.
		host_ns = tare_host_elapsed_ns(begin, tare_device_now(peak->bench.device));
		if (status == 0 && host_ns > (ps > 0 ? LONGEST_TRIAL_NS : LONGEST_NOTHING_NS)) {
			if (++vain == 2)
				return ps > 0 ? 0 : peak_no_time(error);
			continue;
		}
		if (turns * 16 > MOST_TURNS)
			break;
		turns *= ps > 0 ? fmin(16, fmax(2, 1.5 * enough / (double)ps)) : 16;
	}
	if (status < 0)
		return status;
	turns = ps > 0 ? round(turns * target / (double)ps) : turns;
	peak_set_turns(task, (uint32_t)fmax(least, fmin(turns, MOST_TURNS)));
	return 0;
}

int peak_fill(struct peak *peak, struct tare_memory *memory, uint64_t bytes, uint32_t pattern,
              struct tare_error *error)
{
	struct tare_operation fill = {
		.type = TARE_OPERATION_FILL,
		.destination = { memory, 0, bytes },
		.fill = { .pattern = &pattern, .pattern_bytes = sizeof pattern },
	};
	struct tare_operation copy = {
		.type = TARE_OPERATION_COPY,
		.source = { peak->host, 0, bytes },
		.destination = { memory, 0, bytes },
	};
	int status = tare_bench_run(peak->bench.timed, &fill, error);

	if (status != -ENOSYS && status != -ENOTSUP)
		return status;
	for (uint64_t i = 0; i < bytes; i += sizeof pattern)
		memcpy((char *)peak->host->host + i, &pattern, sizeof pattern);
	return tare_bench_run(peak->bench.timed, &copy, error);
}

int peak_fetch(struct peak *peak, struct tare_memory *memory, uint64_t bytes,
               struct tare_error *error)
{
	struct tare_operation copy = {
		.type = TARE_OPERATION_COPY,
		.source = { memory, 0, bytes },
		.destination = { peak->host, 0, bytes },
	};
	return tare_bench_run(peak->bench.timed, &copy, error);
}

enum tare_verified peak_judge(const struct peak *peak, bool right)
{
	if (peak->run->simulated)
		return TARE_NOT_VERIFIABLE;
	return right ? TARE_VERIFIED : TARE_WRONG;
}

void peak_method(struct tare_measurement *measurement, const char *format, ...)
{
	const struct peak_task *task = measurement->context;
	struct tare_figure *figure = &measurement->figures[0];
	char *method = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&method, format, arguments);
	va_end(arguments);
	if (length < 0) {
		tare_result_fail(task->peak->run->result);
		return;
	}
	free(figure->method);
	figure->method = method;
}
