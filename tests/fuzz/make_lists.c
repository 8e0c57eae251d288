// SPDX-License-Identifier: Apache-2.0
// Small traces of command lists and graphs.
#include "make_objects.h"

// A list of two commands, made, executed three times, reset and executed again, on a counter that
// wraps; what is executed of a list that is not known, and times of runs that are not there.
void lists(const char *folder)
{
	struct tare_trace_header h = usual();
	enum { LIST = 0x301, API = TARE_TRACE_LEVELZERO, FUNCTION = 4097 };
	struct tare_trace_writer *w;
	uint64_t t = t0;
	uint32_t number = 0;

	h.apis = 1 << API;
	h.api = API;
	w = begin(folder, "lists", h);
	base_objects(w);
	add(w, RECORD(function, FUNCTION, FUNCTION, 1, .name = 1, .api = API,
	              .role = TARE_ROLE_COMMAND));
	add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_DEVICE, 1, .handle = DEVICE, .ticks = t));
	add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_QUEUE, 1, .handle = QUEUE, .ticks = t,
	               .device = DEVICE, .number = 2));
	for (uint32_t i = 0; i < 2; i++)
		add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_GRAPH, 1, .handle = LIST,
		               .ticks = t + 1000 * i, .device = DEVICE, .number = 3 + i));
	for (uint16_t key = TARE_TRACE_FACT_TIMER_HZ; key <= TARE_TRACE_FACT_PAIR_BITS; key++)
		add(w, FLAGGED(fact, FACT, API, key, 1, .object = DEVICE, .ticks = t,
		               .value = key == TARE_TRACE_FACT_TIMER_HZ ? 12500000 : 20u + key));
	// Two sub-devices, whose parts of the runs are told.
	for (uint32_t i = 0; i < 2; i++) {
		add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_DEVICE, 1, .handle = DEVICE + 1 + i,
		               .ticks = t));
		add(w, FLAGGED(fact, FACT, API, TARE_TRACE_FACT_SUB_DEVICE, 1,
		               .object = DEVICE + 1 + i, .ticks = t, .value = i, .device = DEVICE));
	}
	for (uint32_t list = 0; list < 2; list++) {
		uint32_t first = number + 1;
		for (int i = 0; i < 2; i++, t += 100)
			add(w, RECORD(command, COMMAND, FUNCTION, 1, .enter = t, .call_ticks = 9,
			              .number = ++number,
			              .kind = i ? TARE_KIND_KERNEL : TARE_KIND_FILL,
			              .queue = 3 + list, .event = 0x500u + i));
		add(w, FLAGGED(depends, DEPENDS, API << TARE_DEPENDS_API_SHIFT, 1, 1, .of = number,
		               .event = { 0x500 }));
		for (uint64_t x = 1; x <= 3; x++, t += 100) {
			add(w, FLAGGED(command, COMMAND, TARE_COMMAND_NO_TIMES, FUNCTION, 1,
			               .enter = t, .call_ticks = 9, .number = ++number,
			               .kind = TARE_KIND_GRAPH, .queue = 2,
			               .object = x == 3 ? LIST + 1 : LIST));
			add(w, RECORD(execute, EXECUTE, 0, 1, .command_track = 1,
			              .command_number = number, .graph = LIST,
			              .execution = 3 * list + x, .nodes = x == 2 ? UINT64_MAX : 2));
			for (uint16_t i = 0; i < 2; i++)
				add(w, FLAGGED(part, PART, 2, i, 1, .command_track = 1,
				               .command_number = first, .start = t / 80 + i,
				               .end = (t + 10) / 80, .active_start = 7,
				               .active_end = 9, .observed = t + 90,
				               .execution = 3 * list + x));
			for (uint32_t node = 0; node < 2; node++)
				add(w, FLAGGED(times, TIMES, 12 | TARE_TRACE_STAMP_ACTIVE, 0, 1,
				               .command_track = 1, .command_number = first + node,
				               .queued = 7, .submitted = 9,
				               .start = (t + 20 * node) / 80,
				               .end = (t + 20 * node + 10) / 80, .observed = t + 90,
				               .execution = 3 * list + x));
		}
		add(w, RECORD(untimed, UNTIMED, TARE_UNTIMED_REUSED, 1, .command_track = 1,
		              .command_number = first, .observed = t, .execution = 2));
		add(w, RECORD(untimed, UNTIMED, TARE_UNTIMED_NOT_ASKED, 1, .command_track = 1,
		              .command_number = number, .observed = t));
		add(w, FLAGGED(clock_pair, CLOCK_PAIR, API, TARE_CLOCK_DEVICE, 1, .before = t,
		               .value = t / 80, .after = t + 2, .device = DEVICE));
	}
	end(w);
}

// A graph of two nodes, launched twice, with a node and a launch that are not known.
void graphs(const char *folder)
{
	enum { API = TARE_TRACE_CUDA, FUNCTION = 8193 };
	struct tare_trace_header h = usual();
	struct tare_trace_writer *w;
	uint64_t t = t0;

	h.apis = 1 << API;
	h.api = API;
	w = begin(folder, "graphs", h);
	add(w, RECORD(function, FUNCTION, FUNCTION, 1, .name = 1, .api = API,
	              .role = TARE_ROLE_COMMAND));
	add(w, RECORD(function, FUNCTION, FUNCTION + 1, 1, .name = 1, .api = API,
	              .role = TARE_ROLE_LOAD));
	add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_DEVICE, 1, .handle = DEVICE, .ticks = t));
	add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_QUEUE, 1, .handle = QUEUE, .ticks = t,
	               .device = DEVICE, .number = 1));
	add(w, FLAGGED(object, OBJECT, API, TARE_OBJECT_KERNEL, 1, .handle = KERNEL, .ticks = t,
	               .name = 1));
	add(w, RECORD(shape, SHAPE, 0, 1, .id = 1, .dimensions = 1, .global = { 64, 1, 1 },
	              .local = { 8, 1, 1 }));
	for (uint16_t kind = TARE_LINK_THROUGH_HOST; kind <= TARE_LINK_NVLINK; kind++)
		add(w, FLAGGED(link, LINK, API, kind, 1, .ticks = t + 1, .first = DEVICE,
		               .second = DEVICE + 1, .count = kind == TARE_LINK_NVLINK ? 18 : 0));
	for (uint32_t id = 1; id <= 2; id++)
		add(w, FLAGGED(node, NODE, API, 0, 1, .id = id, .source = id > 1 ? DEVICE + 1 : 0,
		               .destination = id > 1 ? DEVICE : 0,
		               .kind = id > 1 ? TARE_KIND_WRITE : TARE_KIND_KERNEL,
		               .direction = id > 1 ? TARE_DIRECTION_TO_DEVICE : TARE_DIRECTION_NONE,
		               .memory = id > 1 ? TARE_TRACE_MEMORY_PINNED : 0, .node = 70 + id,
		               .object = id > 1 ? 0 : KERNEL, .amount = id > 1 ? 4096 : 1,
		               .ticks = t + 9));
	for (uint16_t what = TARE_PAGES_TO_DEVICE; what <= TARE_PAGES_REMOTE_MAP; what++)
		add(w, RECORD(pages, PAGES, what, 1, .queue = what < 8 ? 1 : 9, .cause = what,
		              .value = 4096 * what, .start = t + 5, .end = t + 5 + what,
		              .address = 0x10000, .observed = t + 90));
	add(w, RECORD(within, WITHIN, FUNCTION + 1, 1, .enter = t + 1, .exit = t + 7,
	              .call_track = 1));
	for (uint32_t launch = 1; launch <= 2; launch++, t += 200) {
		add(w, RECORD(command, COMMAND, FUNCTION, 1, .enter = t, .call_ticks = 9,
		              .number = launch, .kind = TARE_KIND_GRAPH, .queue = 1,
		              .object = 0x301, .event = 0x500u + launch));
		for (uint32_t id = 1; id <= 3; id++)
			add(w, FLAGGED(times, TIMES, 12, TARE_TIMES_OF_NODE, 1, .command_track = 1,
			               .command_number = id == 2 ? 9 - 8 * (launch - 1) : launch,
			               .start = t + 20 * id, .end = t + 20 * id + 10,
			               .observed = t + 190, .execution = id));
	}
	end(w);
}
