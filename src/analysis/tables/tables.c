// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

// ---- equal names and shapes

static int compare_names(const void *a, const void *b, void *context)
{
	const struct tare_recorded_kernel *kernels = context;
	return strcmp(kernels[*(const uint32_t *)a].name, kernels[*(const uint32_t *)b].name);
}

static int compare_shapes(const void *a, const void *b, void *context)
{
	const struct tare_recorded_shape *shapes = context;
	const struct tare_recorded_shape *x = &shapes[*(const uint32_t *)a];
	const struct tare_recorded_shape *y = &shapes[*(const uint32_t *)b];
	if (x->local_bytes != y->local_bytes)
		return x->local_bytes < y->local_bytes ? -1 : 1;
	if (memcmp(x->cluster, y->cluster, sizeof x->cluster) != 0)
		return memcmp(x->cluster, y->cluster, sizeof x->cluster);
	if (x->dimensions != y->dimensions)
		return x->dimensions < y->dimensions ? -1 : 1;
	for (size_t i = 0; i < 3; i++)
		if (x->global[i] != y->global[i])
			return x->global[i] < y->global[i] ? -1 : 1;
	for (size_t i = 0; i < 3; i++)
		if (x->local[i] != y->local[i])
			return x->local[i] < y->local[i] ? -1 : 1;
	return 0;
}

// Gives each of n things a number that equal ones share; NULL without memory.
static uint32_t *number_equals(void *things, size_t n,
                               int (*compare)(const void *, const void *, void *))
{
	TARE_FREE uint32_t *order = malloc((n + 1) * sizeof *order);
	uint32_t *number = malloc((n + 1) * sizeof *number);
	if (!order || !number) {
		free(number);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof *order, compare, things);
	for (size_t i = 0; i < n; i++)
		number[order[i]] = i > 0 && compare(&order[i - 1], &order[i], things) == 0
		                       ? number[order[i - 1]]
		                       : order[i];
	return number;
}

// ---- the view

static void find_members(struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	const struct tare_view *view = context->view;
	for (uint32_t i = 0; i < recording->process_count; i++)
		context->process_in[i] = tare_view_has_process(view, i);
	// Not by the device's process: those of others go by the number of the first.
	for (uint32_t i = 0; i < recording->device_count; i++)
		context->device_in[i] =
		    view->device == TARE_NO_INDEX || view->device == recording->devices[i].same_as;
	context->device_in[recording->device_count] = view->device == TARE_NO_INDEX;
	for (size_t i = 0; i <= recording->kernel_count; i++)
		context->kernel_in[i] =
		    !view->kernel ||
		    fnmatch(view->kernel,
		            i < recording->kernel_count ? recording->kernels[i].name : "", 0) == 0;
	for (size_t i = 0; i < recording->queue_count; i++) {
		uint32_t device = recording->queues[i].device;
		if (device < recording->device_count)
			device = recording->devices[device].same_as;
		context->device_of[i] =
		    device < recording->device_count ? device : (uint32_t)recording->device_count;
	}
}

// The view of all of the run asks nothing of a command.
static void find_all(struct tables_context *context)
{
	const struct tare_view *view = context->view;
	context->all_but_names = view->process == TARE_NO_INDEX && view->device == TARE_NO_INDEX &&
	                         context->span_count == 1 && context->spans->from_ns == INT64_MIN &&
	                         context->spans->to_ns == INT64_MAX;
	context->all = context->all_but_names && !view->kernel;
}

// Copies the parts of the view.
static int open_spans(struct tables_context *context)
{
	const struct tare_view *view = context->view;
	struct tare_run_span whole = { view->from_ns, view->to_ns };
	size_t count = view->spans ? view->span_count : 1;
	context->spans = malloc((count + 1) * sizeof *context->spans);
	context->between_ns = calloc(count + 1, sizeof *context->between_ns);
	if (!context->spans || !context->between_ns)
		return -ENOMEM;
	memcpy(context->spans, view->spans ? view->spans : &whole, count * sizeof whole);
	for (size_t i = 0; i < count; i++) {
		struct tare_run_span *span = &context->spans[i];
		if (span->from_ns <= view->from_ns)
			span->from_ns = context->from_ns;
		if (span->to_ns >= view->to_ns)
			span->to_ns = context->to_ns;
	}
	context->span_count = tare_spans_unite(context->spans, count);
	for (size_t i = 1; i < context->span_count; i++)
		context->between_ns[i] =
		    context->between_ns[i - 1] +
		    tables_length(context->spans[i - 1].to_ns, context->spans[i].from_ns);
	return 0;
}

int tables_context_open(const struct tare_recording *recording, const struct tare_view *view,
                        const struct tare_ledgers *ledgers, struct tables_context *context)
{
	*context = (struct tables_context){
		.recording = recording,
		.view = view,
		.ledgers = ledgers,
		// Device times may lie outside of the run by the clock's residual.
		.from_ns = view->from_ns <= recording->start_ns ? INT64_MIN : view->from_ns,
		.to_ns = view->to_ns >= recording->end_ns ? INT64_MAX : view->to_ns,
		.process_in = malloc((recording->process_count + 1) * sizeof(bool)),
		.device_in = malloc((recording->device_count + 1) * sizeof(bool)),
		.kernel_in = malloc((recording->kernel_count + 1) * sizeof(bool)),
		.kernel_ns = malloc((recording->device_count + 1) * sizeof(int64_t)),
		.latency_ns = malloc((recording->queue_count + 1) * sizeof(double)),
		.device_of = malloc((recording->queue_count + 1) * sizeof(uint32_t)),
		.name_of =
		    number_equals(recording->kernels, recording->kernel_count, compare_names),
		.shape_of =
		    number_equals(recording->shapes, recording->shape_count, compare_shapes),
	};
	if (!context->process_in || !context->device_in || !context->kernel_in ||
	    !context->latency_ns || !context->device_of || !context->name_of ||
	    !context->shape_of || !context->kernel_ns)
		return -ENOMEM;
	for (size_t i = 0; i <= recording->device_count; i++)
		context->kernel_ns[i] = -1;
	find_members(context);
	int code = tables_find_twice(recording, &context->twice);
	if (code == 0)
		code = open_spans(context);
	if (code == 0)
		find_all(context);
	return code;
}

void tables_context_close(struct tables_context *context)
{
	free(context->spans);
	free(context->between_ns);
	free(context->process_in);
	free(context->device_in);
	free(context->kernel_in);
	free(context->kernel_ns);
	free(context->latency_ns);
	free(context->device_of);
	free(context->name_of);
	free(context->shape_of);
	free(context->twice);
}

// ---- all of them

struct tare_tables_begun {
	struct tables_context context;
	struct tare_tables tables;
};

static int begin(struct tare_tables_begun *begun, const struct tare_recording *recording,
                 const struct tare_view *view, const struct tare_transfer_ceiling *ceilings,
                 size_t ceiling_count)
{
	int code = tables_context_open(recording, view, NULL, &begun->context);
	if (code == 0)
		code = tables_medians(&begun->context);
	if (code == 0)
		code = tables_transfers(&begun->context, ceilings, ceiling_count, &begun->tables);
	return code == 0 ? tables_tasks(&begun->context, &begun->tables) : code;
}

static int finish(const struct tables_context *context, struct tare_tables *tables)
{
	int code = tables_api_calls(context, tables);
	if (code == 0)
		code = tables_builds(context, tables);
	if (code == 0)
		code = tables_memory(context, &tables->memory);
	if (code == 0)
		code = tables_queues(context, tables);
	if (code == 0)
		code = tables_coverage(context, &tables->coverage);
	return code == 0 ? tables_summary(context, &tables->summary) : code;
}

static int fail(const struct tare_recording *recording, int code, struct tare_error *error)
{
	return tare_fail(error, -code,
	                 "no memory for the tables of %zu commands; "
	                 "--from and --to report a part of the run",
	                 recording->command_count);
}

int tare_tables_begin(const struct tare_recording *recording, const struct tare_view *view,
                      const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                      struct tare_tables_begun **begun, struct tare_error *error)
{
	*begun = calloc(1, sizeof **begun);
	int code = *begun ? begin(*begun, recording, view, ceilings, ceiling_count) : -ENOMEM;
	if (code == 0)
		return 0;
	tare_tables_finish(*begun, NULL, NULL, NULL);
	*begun = NULL;
	return fail(recording, code, error);
}

int tare_tables_finish(struct tare_tables_begun *begun, const struct tare_ledgers *ledgers,
                       struct tare_tables *tables, struct tare_error *error)
{
	int code = 0;
	if (!begun)
		return 0;
	const struct tare_recording *recording = begun->context.recording;
	if (tables) {
		begun->context.ledgers = ledgers;
		*tables = begun->tables;
		begun->tables = (struct tare_tables){ 0 };
		code = finish(&begun->context, tables);
		if (code)
			tare_tables_free(tables);
	}
	tables_context_close(&begun->context);
	tare_tables_free(&begun->tables);
	free(begun);
	return code ? fail(recording, code, error) : 0;
}

int tare_tables_compute(const struct tare_recording *recording, const struct tare_view *view,
                        const struct tare_ledgers *ledgers,
                        const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                        struct tare_tables *tables, struct tare_error *error)
{
	struct tare_tables_begun *begun;
	*tables = (struct tare_tables){ 0 };
	int code = tare_tables_begin(recording, view, ceilings, ceiling_count, &begun, error);
	return code ? code : tare_tables_finish(begun, ledgers, tables, error);
}

int tare_working_part(const struct tare_recording *recording, const struct tare_view *view,
                      struct tare_run_span *part)
{
	struct tables_context context;
	int code = tables_context_open(recording, view, NULL, &context);
	*part = code ? (struct tare_run_span){ 0, 0 } : tables_working_part(&context);
	tables_context_close(&context);
	return code;
}

void tare_tables_free(struct tare_tables *tables)
{
	if (!tables)
		return;
	free(tables->tasks);
	free(tables->task_shapes);
	free(tables->transfers);
	free(tables->api);
	free(tables->builds);
	free(tables->queues);
	*tables = (struct tare_tables){ 0 };
}
