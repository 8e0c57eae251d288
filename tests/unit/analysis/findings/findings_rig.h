// SPDX-License-Identifier: Apache-2.0
// Runs of a host whose every nanosecond is scripted and of a device that does one thing after the
// other, for the tests of findings.
#pragma once
#include "analysis/findings/findings.h"
#include "tests/unit/analysis/ledger/made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { KERNELS = 6 };

// What a run is like. Zero is what raises nothing.
struct script {
	uint32_t launches; // 0: 200
	uint32_t kinds;    // of kernels, in turn; 0: 1
	int64_t run_ns;    // of a kernel; 0: 200 µs
	// first_ns: beside dispatch_ns, at a kernel's first launch
	int64_t dispatch_ns, held_ns, first_ns;
	int64_t api_ns;               // in other calls before each launch
	int64_t compute_ns, sleep_ns; // after each wait
	uint32_t gaps;                // so many of these only; 0: all
	int64_t wake_ns;              // after each wait
	bool wait;                    // for each launch, without any of the last four, too
	// each launch waits for its kernel and returns so long after its end
	int64_t return_ns;
	int64_t poll_ns;                         // asks that often instead of waiting
	uint32_t poll_launches;                  // and for so many launches only; 0: all
	bool poll_half;                          // and has a CPU for half of that time
	uint32_t api_every;                      // calls before every so many launches; 0: all
	int64_t first_run_ns;                    // beside run_ns, of each kernel's first launch
	int64_t build_ns;                        // between a first transfer and the first kernel
	int64_t later_build_ns;                  // between two kernels
	int64_t start_build_ns;                  // before the first command
	int64_t start_call_ns, start_own_ns;     // in a call, and without, before the first command
	int64_t start_off_ns;                    // off the CPU before the first command
	uint32_t start_calls;                    // so many such; 0: 1
	int64_t end_release_ns, end_own_ns;      // in a release, and without, behind the last one
	bool native;                             // what is built was built before
	int64_t query_ns, release_ns, create_ns; // in such calls before each launch
	int64_t stalled_ns;                      // calls waited for the recorder
	double growth;                           // of run_ns from the first to the last
	uint32_t dimensions;                     // 0: 1
	uint64_t global[2], local[2];            // global 0: 6400 × 64 items in groups of 64
	uint64_t units, multiple, local_bytes, group_limit;
	bool no_facts, left_to_runtime;
	int64_t residual_ns;
	int64_t command_cost_ns, call_cost_ns; // of recording
	bool not_calibrated, untimed;
	bool cuda; // the queue is a stream
	bool cpu;  // the device is one
};

struct scene {
	struct made *made;
	const struct script *script;
	struct tare_recorded_kernel kernels[KERNELS];
	struct tare_recorded_kernel_fact facts[KERNELS];
	struct tare_recorded_shape shape;
	struct tare_recorded_program program;
	int64_t now_ns, cpu_ns, device_ns; // device_ns: when it is done
	struct tare_view view;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
};

// ---- the host

static void spend(struct scene *scene, int64_t ns, bool on_cpu)
{
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	scene->now_ns += ns;
	scene->cpu_ns += on_cpu ? ns : 0;
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
}

static void call(struct scene *scene, uint8_t role, int64_t ns)
{
	int64_t enter_ns = scene->now_ns;
	spend(scene, ns, role != TARE_ROLE_WAIT);
	made_call(scene->made, made_plain_call(0, role, enter_ns, scene->now_ns));
}

static void enqueue(struct scene *scene, uint8_t kind, uint32_t object, int64_t dispatch_ns,
                    int64_t run_ns)
{
	const struct script *script = scene->script;
	int64_t enter_ns = scene->now_ns;
	spend(scene, 1 * US, true);
	int64_t submitted_ns = scene->now_ns + script->held_ns;
	int64_t free_ns = scene->device_ns > submitted_ns ? scene->device_ns : submitted_ns;
	int64_t start_ns = free_ns + dispatch_ns;
	struct tare_recorded_command command = made_plain_command(
	    0, 0, kind, enter_ns, scene->now_ns, submitted_ns, start_ns, start_ns + run_ns);
	if (script->return_ns > 0 && kind == TARE_KIND_KERNEL) {
		spend(scene, start_ns + run_ns + script->return_ns - scene->now_ns, false);
		command.exit_ns = scene->now_ns;
		command.flags = TARE_COMMAND_BLOCKING;
	}
	command.object = object;
	command.amount = kind == TARE_KIND_KERNEL ? 0 : 4096;
	command.stack = TARE_NO_INDEX;
	command.direction = kind == TARE_KIND_WRITE ? TARE_DIRECTION_TO_DEVICE : 0;
	scene->device_ns = start_ns + run_ns;
	if (script->untimed)
		command.submitted_ns = command.start_ns = command.end_ns = TARE_NO_TIME;
	made_command(scene->made, command);
}

static void wait_for_it(struct scene *scene, uint32_t launch, bool gap)
{
	const struct script *script = scene->script;
	int64_t left_ns = scene->device_ns > scene->now_ns ? scene->device_ns - scene->now_ns : 0;
	if (script->poll_ns > 0 && (script->poll_launches == 0 || launch < script->poll_launches)) {
		struct tare_recorded_call polls =
		    made_plain_call(0, TARE_ROLE_POLL, scene->now_ns, scene->now_ns + left_ns);
		polls.count = (uint64_t)(left_ns / script->poll_ns);
		polls.inside_ns = left_ns / 2;
		spend(scene, left_ns / 2, true);
		spend(scene, left_ns - left_ns / 2, !script->poll_half);
		made_call(scene->made, polls);
	} else {
		call(scene, TARE_ROLE_WAIT, left_ns + (gap ? script->wake_ns : 0));
	}
	if (gap && script->compute_ns > 0)
		spend(scene, script->compute_ns, true);
	if (gap && script->sleep_ns > 0)
		spend(scene, script->sleep_ns, false);
}

static void play(struct scene *scene)
{
	const struct script *script = scene->script;
	uint32_t launches = script->launches ? script->launches : 200;
	uint32_t kinds = script->kinds ? script->kinds : 1;
	int64_t run_ns = script->run_ns ? script->run_ns : 200 * US;
	bool waits = script->wait || script->compute_ns || script->sleep_ns || script->wake_ns ||
	             script->poll_ns || script->held_ns;
	if (script->start_own_ns > 0)
		spend(scene, script->start_own_ns, true);
	if (script->start_off_ns > 0)
		spend(scene, script->start_off_ns, false);
	if (script->start_call_ns > 0)
		for (uint32_t i = 0; i < (script->start_calls ? script->start_calls : 1); i++)
			call(scene, TARE_ROLE_CREATE, script->start_call_ns);
	if (script->start_build_ns > 0)
		call(scene, TARE_ROLE_BUILD, script->start_build_ns);
	if (script->start_build_ns > 0 && script->native)
		scene->made->calls[scene->made->recording.call_count - 1].object = 0;
	if (script->build_ns > 0) {
		enqueue(scene, TARE_KIND_WRITE, TARE_NO_INDEX, 0, 10 * US);
		call(scene, TARE_ROLE_BUILD, script->build_ns);
	}
	for (uint32_t i = 0; i < launches; i++) {
		bool gap = (script->gaps == 0 || i < script->gaps) && i + 1 < launches;
		if (i == launches / 2 && script->later_build_ns > 0)
			call(scene, TARE_ROLE_BUILD, script->later_build_ns);
		if (script->query_ns > 0)
			call(scene, TARE_ROLE_QUERY, script->query_ns);
		if (script->release_ns > 0)
			call(scene, TARE_ROLE_RELEASE, script->release_ns);
		if (script->create_ns > 0)
			call(scene, TARE_ROLE_CREATE, script->create_ns);
		if (script->api_ns > 0 && (script->api_every == 0 || i % script->api_every == 0))
			call(scene, TARE_ROLE_OTHER, script->api_ns);
		enqueue(scene, TARE_KIND_KERNEL, i % kinds,
		        script->dispatch_ns + (i < kinds ? script->first_ns : 0),
		        run_ns + (i < kinds ? script->first_run_ns : 0) +
		            (int64_t)(script->growth * (double)run_ns * i / launches));
		if (waits)
			wait_for_it(scene, i, gap);
	}
	call(scene, TARE_ROLE_WAIT,
	     scene->device_ns > scene->now_ns ? scene->device_ns - scene->now_ns : 0);
}

// ---- the recording

static void describe(struct scene *scene)
{
	const struct script *script = scene->script;
	struct tare_recording *recording = &scene->made->recording;
	uint64_t local = script->local[0] ? script->local[0] : 64;
	scene->shape = (struct tare_recorded_shape){
		.dimensions = script->dimensions ? script->dimensions : 1,
		.global = { script->global[0] ? script->global[0] : 6400 * 64,
		            script->global[1] ? script->global[1] : 1, 1 },
		.local = { script->left_to_runtime ? 0 : (uint32_t)local,
		           script->left_to_runtime ? 0 : 1, script->left_to_runtime ? 0 : 1 },
	};
	recording->shapes = &scene->shape;
	recording->shape_count = 1;
	for (uint32_t i = 0; i < KERNELS; i++) {
		static const char *const names[KERNELS] = { "a", "b", "c", "d", "e", "f" };
		scene->kernels[i] = (struct tare_recorded_kernel){ 0, TARE_NO_INDEX, names[i] };
		scene->facts[i] = (struct tare_recorded_kernel_fact){
			.kernel = i,
			.device = 0,
			.group_limit = script->group_limit,
			.preferred_multiple = script->multiple,
			.local_bytes = script->local_bytes,
			.spill_bytes = UINT64_MAX,
		};
	}
	recording->kernels = scene->kernels;
	recording->kernel_count = KERNELS;
	recording->kernel_facts = scene->facts;
	recording->kernel_fact_count = script->no_facts ? 0 : KERNELS;
	scene->program =
	    (struct tare_recorded_program){ .build_options = "", .native = script->native };
	recording->programs = &scene->program;
	recording->program_count = 1;
	scene->made->devices[0].compute_units = script->units;
	scene->made->devices[0].type = script->cpu ? 2 : 4;
	scene->made->processes[0].stalled_ns = script->stalled_ns;
	scene->made->processes[0].self_cost_ps =
	    script->not_calibrated ? 0 : 1000 * script->command_cost_ns + 1;
	scene->made->processes[0].self_call_cost_ps = 1000 * script->call_cost_ns;
}

static void find(struct scene *scene)
{
	const struct tare_recording *recording = &scene->made->recording;
	assert_int_equal(tare_ledgers_compute(recording, &scene->view, &scene->ledgers, NULL), 0);
	assert_int_equal(tare_tables_compute(recording, &scene->view, &scene->ledgers, NULL, 0,
	                                     &scene->tables, NULL),
	                 0);
	assert_int_equal(tare_findings_find(recording, &scene->view, &scene->ledgers,
	                                    &scene->tables, &scene->findings, NULL),
	                 0);
}

// Judges it anew with what was measured of the device.
static inline void find_knowing(struct scene *scene, const struct tare_launch_costs *costs)
{
	const struct tare_findings_known known = { costs, 1 };
	tare_findings_free(&scene->findings);
	assert_int_equal(tare_findings_find_knowing(&scene->made->recording, &scene->view,
	                                            &scene->ledgers, &scene->tables, &known,
	                                            &scene->findings, NULL),
	                 0);
}

static struct scene *make_scene(const struct script *script)
{
	struct scene *scene = calloc(1, sizeof *scene);
	assert_non_null(scene);
	scene->script = script;
	scene->made = made_new(0);
	made_process(scene->made, INT64_MAX);
	made_thread(scene->made, 0);
	made_queue(scene->made, 0, made_device(scene->made, 0, TARE_NO_INDEX, script->residual_ns),
	           false);
	if (script->cuda) {
		scene->made->queues[0].api = scene->made->devices[0].api = TARE_TRACE_CUDA;
		scene->made->recording.apis = 1 << TARE_TRACE_CUDA;
	}
	describe(scene);
	// The program does something before and after, about which nothing is found.
	spend(scene, 50 * MS, true);
	call(scene, TARE_ROLE_START, 10 * MS);
	scene->device_ns = scene->now_ns;
	return scene;
}

static struct scene *run_script(const struct script *script)
{
	struct scene *scene = make_scene(script);
	play(scene);
	if (script->end_release_ns > 0)
		call(scene, TARE_ROLE_RELEASE, script->end_release_ns);
	spend(scene, 50 * MS + script->end_own_ns, true);
	scene->made->processes[0].end_ns = scene->made->recording.end_ns = scene->now_ns;
	scene->view =
	    (struct tare_view){ 0, scene->now_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL, NULL, 0 };
	find(scene);
	return scene;
}

static void free_scene(struct scene *scene)
{
	tare_findings_free(&scene->findings);
	tare_tables_free(&scene->tables);
	tare_ledgers_free(&scene->ledgers);
	free(scene->made);
	free(scene);
}

static const struct tare_finding *found(const struct scene *scene, const char *id)
{
	for (size_t i = 0; i < scene->findings.count; i++)
		if (strcmp(scene->findings.at[i].id, id) == 0)
			return &scene->findings.at[i];
	return NULL;
}

static inline void find_again(struct scene *scene)
{
	tare_findings_free(&scene->findings);
	tare_tables_free(&scene->tables);
	tare_ledgers_free(&scene->ledgers);
	find(scene);
}

static inline int64_t length_of(const struct tare_finding *finding)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < finding->claim_count; i++)
		sum_ns += finding->claims[i].to_ns - finding->claims[i].from_ns;
	return sum_ns;
}
