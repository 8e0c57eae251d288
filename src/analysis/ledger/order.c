// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static const char *kernel_name(const struct tare_recording *recording,
                               const struct tare_recorded_command *command)
{
	bool named = (command->kind == TARE_KIND_KERNEL || command->kind == TARE_KIND_TASK) &&
	             command->object < recording->kernel_count;
	const char *name = named ? recording->kernels[command->object].name : NULL;
	return name ? name : "";
}

static uint32_t queue_number(const struct tare_recording *recording, uint32_t queue)
{
	return queue < recording->queue_count ? recording->queues[queue].number : TARE_NO_INDEX;
}

// Of commands that start at the same moment the first one to be enqueued is the one that ends an
// idle gap; the rest of the key is there to make the answer the same every time.
static int compare_commands(const void *a, const void *b, void *context)
{
	const struct tare_recording *recording = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct tare_recorded_command *x = &recording->commands[i],
	                                   *y = &recording->commands[j];
	int order = compare_times(x->start_ns, y->start_ns);
	if (!order)
		order = compare_times(x->enter_ns, y->enter_ns);
	if (!order)
		order = compare_times(x->submitted_ns, y->submitted_ns);
	if (!order)
		order = compare_times(x->end_ns, y->end_ns);
	if (!order)
		order = x->kind - y->kind;
	if (!order)
		order = strcmp(kernel_name(recording, x), kernel_name(recording, y));
	if (!order)
		order = ledger_compare_threads(recording, x->thread, y->thread);
	if (!order)
		order = compare_times(queue_number(recording, x->queue),
		                      queue_number(recording, y->queue));
	if (!order)
		order = (i > j) - (i < j);
	return order;
}

int ledger_order(const struct tare_recording *recording, const struct tare_view *view,
                 uint32_t **order, size_t *count)
{
	struct ledger_scope all = { .recording = recording, .view = view, .device = TARE_NO_INDEX };
	size_t n = 0;
	bool sorted = true;
	for (size_t i = 0; i < recording->command_count; i++)
		n += tare_command_timed(&recording->commands[i]);
	uint32_t *found = calloc(n + 1, sizeof *found);
	if (!found)
		return -ENOMEM;
	n = 0;
	for (uint32_t i = 0; i < recording->command_count; i++) {
		if (!tare_command_timed(&recording->commands[i]) ||
		    !ledger_has_command(&all, &recording->commands[i]))
			continue;
		found[n++] = i;
		sorted = sorted && (n < 2 || compare_commands(&found[n - 2], &found[n - 1],
		                                              (void *)recording) < 0);
	}
	if (!sorted)
		qsort_r(found, n, sizeof *found, compare_commands, (void *)recording);
	*order = found;
	*count = n;
	return 0;
}
