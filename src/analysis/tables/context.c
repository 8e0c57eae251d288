// SPDX-License-Identifier: Apache-2.0
// What belongs to the view that the tables are of.
#include "analysis/tables/internal.h"
#include "base/cleanup.h"
#include <fnmatch.h>

uint32_t tables_process(const struct tare_recording *recording, uint32_t thread)
{
	return thread < recording->thread_count ? recording->threads[thread].process
	                                        : TARE_NO_INDEX;
}

bool tables_timed(const struct tare_recorded_command *command, struct tables_span *span)
{
	if (command->start_ns == TARE_NO_TIME || command->end_ns == TARE_NO_TIME ||
	    command->end_ns < command->start_ns)
		return false;
	*span = (struct tables_span){ tables_bounded(command->start_ns),
		                      tables_bounded(command->end_ns) };
	return true;
}

bool tables_is_transfer(const struct tare_recorded_command *command)
{
	switch (command->kind) {
	case TARE_KIND_WRITE:
	case TARE_KIND_READ:
	case TARE_KIND_COPY:
	case TARE_KIND_FILL:
	case TARE_KIND_MAP:
	case TARE_KIND_UNMAP:
	case TARE_KIND_MIGRATE:
		return true;
	default:
		return false;
	}
}

// The first part of the view that ends after a time; span_count: none. Where the view goes to the
// end of the run it has no end.
static size_t first_span_after(const struct tables_context *context, int64_t time_ns)
{
	size_t low = 0, high = context->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (context->spans[middle].to_ns > time_ns ||
		    context->spans[middle].to_ns == INT64_MAX)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool tables_in_time(const struct tables_context *context, int64_t time_ns)
{
	size_t next = first_span_after(context, time_ns);
	return next < context->span_count && context->spans[next].from_ns <= time_ns;
}

int64_t tables_first_moment(const struct tables_context *context, int64_t from_ns, int64_t to_ns)
{
	size_t next = first_span_after(context, from_ns);
	if (next == context->span_count)
		return TARE_NO_TIME;
	if (context->spans[next].from_ns > from_ns)
		from_ns = context->spans[next].from_ns;
	return from_ns < to_ns ? from_ns : TARE_NO_TIME;
}

// How much of the time before a moment lies between parts of the view.
static int64_t between_before(const struct tables_context *context, int64_t time_ns)
{
	size_t next = first_span_after(context, time_ns);
	if (next == 0)
		return 0;
	if (next == context->span_count)
		return context->between_ns[next - 1];
	if (context->spans[next].from_ns <= time_ns)
		return context->between_ns[next];
	return context->between_ns[next - 1] +
	       tables_length(context->spans[next - 1].to_ns, time_ns);
}

int64_t tables_inside_ns(const struct tables_context *context, int64_t from_ns, int64_t to_ns)
{
	int64_t ns = tables_length(from_ns, to_ns);
	if (context->span_count < 2 || ns == 0)
		return ns;
	return ns - (between_before(context, to_ns) - between_before(context, from_ns));
}

static bool has_thread(const struct tables_context *context, uint32_t thread)
{
	uint32_t process = tables_process(context->recording, thread);
	return process < context->recording->process_count
	           ? context->process_in[process]
	           : context->view->process == TARE_NO_INDEX;
}

bool tables_has_command_of_any_name(const struct tables_context *context,
                                    const struct tare_recorded_command *command)
{
	struct tables_span span;
	int64_t time = tables_timed(command, &span) ? command->start_ns : command->enter_ns;
	return tables_in_time(context, time) &&
	       context->device_in[tables_device(context, command)] &&
	       has_thread(context, command->thread);
}

bool tables_has_command(const struct tables_context *context,
                        const struct tare_recorded_command *command)
{
	size_t kernels = context->recording->kernel_count;
	if (command->kind == TARE_KIND_KERNEL &&
	    !context->kernel_in[command->object < kernels ? command->object : kernels])
		return false;
	return tables_has_command_of_any_name(context, command);
}

bool tables_has_call(const struct tables_context *context, const struct tare_recorded_call *call)
{
	return tables_in_time(context, call->enter_ns) && has_thread(context, call->thread) &&
	       (call->device >= context->recording->device_count ||
	        context->device_in[call->device]);
}
