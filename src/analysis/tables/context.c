// SPDX-License-Identifier: Apache-2.0
// What belongs to the view that the tables are of.
#include "analysis/tables/internal.h"

size_t tables_span_after(const struct tables_context *context, int64_t time_ns)
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

int64_t tables_first_moment(const struct tables_context *context, int64_t from_ns, int64_t to_ns)
{
	size_t next = tables_span_after(context, from_ns);
	if (next == context->span_count)
		return TARE_NO_TIME;
	if (context->spans[next].from_ns > from_ns)
		from_ns = context->spans[next].from_ns;
	return from_ns < to_ns ? from_ns : TARE_NO_TIME;
}

// How much of the time before a moment lies between parts of the view.
static int64_t between_before(const struct tables_context *context, int64_t time_ns)
{
	size_t next = tables_span_after(context, time_ns);
	if (next == 0)
		return 0;
	if (next == context->span_count)
		return context->between_ns[next - 1];
	if (context->spans[next].from_ns <= time_ns)
		return context->between_ns[next];
	return context->between_ns[next - 1] +
	       tables_length(context->spans[next - 1].to_ns, time_ns);
}

int64_t tables_between_ns(const struct tables_context *context, int64_t from_ns, int64_t to_ns)
{
	return between_before(context, to_ns) - between_before(context, from_ns);
}

bool tables_has_call(const struct tables_context *context, const struct tare_recorded_call *call)
{
	return tables_in_time(context, call->enter_ns) &&
	       tables_has_thread(context, call->thread) &&
	       (call->device >= context->recording->device_count ||
	        context->device_in[call->device]);
}
