// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs whose work an API tells one by one (CUDA). A NODE says what it does, and each of
// its TIMES is a run of it: a command of the recording that the launch has enqueued. The launch is
// a call then.
#include "analysis/recording/internal.h"

#include <string.h>

#define NO_RUN 0x3fffffff

struct load_nodes {
	struct tare_id_map node_of; // by id
	struct tare_trace_node *nodes;
	size_t count, room;
};

int loading_node(struct loading *l, const struct tare_trace_node *node)
{
	struct tare_trace_node *added;

	if (!l->nodes)
		l->nodes = calloc(1, sizeof *l->nodes);
	added = l->nodes ? TARE_ROOM_FOR(l->nodes->nodes, l->nodes->room, l->nodes->count) : NULL;
	if (!added || l->nodes->count >= TARE_NO_INDEX ||
	    !tare_id_map_put(&l->nodes->node_of, node->id, (uint32_t)l->nodes->count))
		return loading_fail(l, ENOMEM, "graphs");
	*added = *node;
	l->nodes->count++;
	return l->status;
}

static struct tare_recorded_command run_of(struct loading *l, const struct tare_trace_node *node,
                                           const struct tare_recorded_command *by,
                                           uint32_t execution)
{
	bool kernel = node->kind == TARE_KIND_KERNEL;
	uint8_t api = loading_api_of_head(l, node->head);

	return (struct tare_recorded_command){
		.enter_ns = by->enter_ns,
		.exit_ns = by->exit_ns,
		.submitted_ns = TARE_NO_TIME,
		.start_ns = TARE_NO_TIME,
		.end_ns = TARE_NO_TIME,
		.amount = kernel ? loading_shape(l, node->amount) : node->amount,
		.thread = by->thread,
		.queue = by->queue,
		.object =
		    kernel ? loading_resolve(l, api, TARE_OBJECT_KERNEL, node->object, node->ticks)
		           : TARE_NO_INDEX,
		.first_wait = TARE_NO_INDEX,
		.function = by->function,
		.kind = node->kind,
		.direction = node->direction,
		.alignment = UINT8_MAX,
		.memory = node->memory,
		.stack = by->stack,
		.part = TARE_RUN,
		.execution = execution & NO_RUN
	};
}

uint32_t loading_run_of_node(struct loading *l, const struct tare_trace_times *times)
{
	struct tare_recording *r = l->recording;
	uint32_t at = l->nodes && times->execution <= UINT32_MAX
	                  ? tare_id_map_find(&l->nodes->node_of, times->execution)
	                  : TARE_ID_ABSENT;
	uint32_t execution =
	    at == TARE_ID_ABSENT
	        ? TARE_NO_INDEX
	        : loading_launch(l, (uint64_t)times->command_track << 32 | times->command_number);
	const struct tare_trace_node *node;
	struct tare_recorded_command run;
	struct tare_recorded_execution *x;

	if (execution >= r->execution_count) {
		r->unresolved++;
		return TARE_NO_INDEX;
	}
	x = &r->executions[execution];
	run = run_of(l, &l->nodes->nodes[at], TARE_COMMAND(r, x->command), execution);
	uint32_t index = loading_add_command(l, &run);
	if (index == TARE_NO_INDEX)
		return index;
	node = &l->nodes->nodes[at];
	loading_add_peer(l, index, loading_api_of_head(l, node->head), node->source,
	                 node->destination);
	x = &r->executions[execution];
	x->runs++;
	x->nodes++;
	x->shares++;
	return index;
}

void loading_finish_nodes(struct loading *l)
{
	struct tare_recording *r = l->recording;
	size_t count = r->command_count - l->first_command;
	uint32_t *last = l->nodes ? malloc((count + 1) * sizeof *last) : NULL;

	if (!l->nodes)
		return;
	if (!last) {
		loading_fail(l, ENOMEM, "graphs");
		return;
	}
	memset(last, 0xff, (count + 1) * sizeof *last);
	for (size_t i = l->first_command; i < r->command_count; i++) {
		struct tare_recorded_command c = loading_command(l, i);
		uint32_t *of, by;
		if (c.part != TARE_RUN || c.untimed != LOADING_RAW ||
		    c.execution >= r->execution_count ||
		    r->executions[c.execution].command < l->first_command)
			continue;
		by = r->executions[c.execution].command;
		if (r->executions[c.execution].list == TARE_NO_INDEX) {
			c.first_wait = TARE_COMMAND(r, by)->first_wait;
			loading_put_command(l, i, &c);
		}
		of = &last[by - l->first_command];
		if (*of == TARE_NO_INDEX ||
		    (int64_t)((uint64_t)c.end_ns - (uint64_t)loading_command(l, *of).end_ns) > 0)
			*of = (uint32_t)i;
	}
	for (size_t i = 0; i < r->wait_count; i++) {
		uint32_t command = r->waits[i].command;
		if (command >= l->first_command && command < r->command_count &&
		    TARE_COMMAND(r, command)->part == TARE_EXECUTES &&
		    last[command - l->first_command] != TARE_NO_INDEX)
			r->waits[i].command = last[command - l->first_command] & 0x7fffffff;
	}
	free(last);
}

void loading_forget_nodes(struct loading *l)
{
	if (!l->nodes)
		return;
	tare_id_map_free(&l->nodes->node_of);
	free(l->nodes->nodes);
	free(l->nodes);
	l->nodes = NULL;
}
