// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/recording.h"

#include <fnmatch.h>

struct tare_view tare_view_all(const struct tare_recording *recording)
{
	return (struct tare_view){ .from_ns = recording->start_ns,
		                   .to_ns = recording->end_ns,
		                   .process = TARE_NO_INDEX,
		                   .device = TARE_NO_INDEX };
}

bool tare_view_has_process(const struct tare_view *view, uint32_t process)
{
	return view->process == TARE_NO_INDEX || view->process == process;
}

bool tare_view_has_device(const struct tare_recording *recording, const struct tare_view *view,
                          uint32_t device)
{
	const struct tare_recorded_device *d;

	if (device == TARE_NO_INDEX)
		return view->device == TARE_NO_INDEX;
	d = &recording->devices[device];
	return tare_view_has_process(view, d->process) &&
	       (view->device == TARE_NO_INDEX || view->device == d->same_as);
}

// The first span that ends after a time; span_count: none.
static size_t first_span_after(const struct tare_view *view, int64_t at_ns)
{
	size_t low = 0, high = view->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (view->spans[middle].to_ns > at_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool tare_view_next(const struct tare_view *view, int64_t *at_ns, int64_t to_ns,
                    struct tare_run_span *piece)
{
	*piece = (struct tare_run_span){ view->from_ns, view->to_ns };
	if (view->spans) {
		size_t next = first_span_after(view, *at_ns);
		if (next == view->span_count)
			return false;
		*piece = view->spans[next];
	}
	if (piece->from_ns < *at_ns)
		piece->from_ns = *at_ns;
	if (piece->to_ns > to_ns)
		piece->to_ns = to_ns;
	if (piece->from_ns >= piece->to_ns)
		return false;
	*at_ns = piece->to_ns;
	return true;
}

int64_t tare_view_overlap_ns(const struct tare_view *view, int64_t from_ns, int64_t to_ns)
{
	struct tare_run_span piece;
	int64_t sum_ns = 0;

	while (tare_view_next(view, &from_ns, to_ns, &piece))
		sum_ns += piece.to_ns - piece.from_ns;
	return sum_ns;
}

int64_t tare_view_ns(const struct tare_view *view)
{
	return tare_view_overlap_ns(view, view->from_ns, view->to_ns);
}

bool tare_view_has_moment(const struct tare_recording *recording, const struct tare_view *view,
                          int64_t at_ns)
{
	size_t next;

	if (at_ns < recording->start_ns)
		at_ns = recording->start_ns;
	else if (at_ns >= recording->end_ns)
		at_ns = recording->end_ns > recording->start_ns ? recording->end_ns - 1
		                                                : recording->start_ns;
	if (at_ns < view->from_ns || (at_ns >= view->to_ns && view->to_ns < recording->end_ns))
		return false;
	if (!view->spans)
		return true;
	next = first_span_after(view, at_ns);
	return next < view->span_count && view->spans[next].from_ns <= at_ns;
}

bool tare_view_wants_kernel(const struct tare_recording *recording, const struct tare_view *view,
                            uint32_t kernel)
{
	const char *name = kernel == TARE_NO_INDEX ? "" : recording->kernels[kernel].name;

	return fnmatch(view->kernel, name, 0) == 0;
}

bool tare_view_parts_overlap(const struct tare_view *view, int64_t from_ns, int64_t to_ns)
{
	struct tare_run_span piece;

	return tare_view_next(view, &from_ns, to_ns, &piece);
}
