// SPDX-License-Identifier: Apache-2.0
// Marks its phases in the ways that the arguments name, one after another: own, itt, nvtx, thread,
// fork, opencl, unended, many.
#include "itt_client.h"
#include "nvtx_client.h"
#include "program.h"
#include "tare/phase.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void own(void)
{
	for (int i = 0; i < 3; i++) {
		tare_phase_begin("step");
		tare_phase_begin("part");
		tare_phase_end();
		tare_phase_end();
	}
	tare_phase_end(); // of nothing
}

static void with_itt(void)
{
	struct itt_client_id id = { 1, 2, 3 };
	itt_client_begin();
	struct itt_client_domain *domain = ITT_GET(domain_create, "solver");
	struct itt_client_string *name = ITT_GET(string_handle_create, "iterate");
	ITT_CALL(task_begin, domain, ITT_CLIENT_NULL, ITT_CLIENT_NULL, name);
	ITT_CALL(marker, domain, ITT_CLIENT_NULL, name, 1);
	ITT_CALL(region_begin, domain, id, ITT_CLIENT_NULL, name);
	ITT_CALL(task_end, domain);
	ITT_CALL(region_end, domain, id);
	ITT_CALL(frame_begin, domain, NULL);
	ITT_CALL(frame_end, domain, NULL);
	ITT_CALL(pause);
	ITT_CALL(detach);
}

static void with_nvtx(void)
{
	struct nvtx_client_attributes attributes = {
		.version = 3, .size = sizeof attributes, .message_type = 1, .message.ascii = "inner"
	};
	nvtx_client_begin();
	void *domain = NVTX_GET(NULL, create_a, "library");
	NVTX_GET(-2, push_w, L"Größe");
	NVTX_GET(-2, domain_push_ex, domain, &attributes);
	NVTX_GET(-2, domain_pop, domain);
	NVTX_GET(-2, pop);
	NVTX_CALL(end, NVTX_GET(0, start_a, "range"));
	NVTX_CALL(mark_a, "here");
}

static void *in_thread(void *argument)
{
	tare_phase_begin(argument);
	tare_phase_end();
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[2];
	static char names[2][8] = { "one", "two" };
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_thread, names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void in_a_child(void)
{
	tare_phase_begin("parent");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		tare_phase_end(); // began in another process
		tare_phase_begin("child");
		tare_phase_end();
		exit(0);
	}
	waitpid(child, NULL, 0);
	tare_phase_end();
}

static void many(void)
{
	for (int i = 0; i < 20000; i++) {
		char name[32];
		snprintf(name, sizeof name, "round %d", i % 100);
		tare_phase_begin(name);
		tare_phase_end();
	}
}

static void with_opencl(void)
{
	struct program program;
	tare_phase_begin("setup");
	program = open_program(0);
	tare_phase_end();
	tare_phase_begin("launches");
	for (int i = 0; i < 5; i++)
		launch(&program, program.queue, 0, NULL, NULL);
	printf("%d\n", first_number(&program, program.queue));
	tare_phase_end();
	close_program(&program);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{ "own", own },
		{ "itt", with_itt },
		{ "nvtx", with_nvtx },
		{ "thread", in_threads },
		{ "fork", in_a_child },
		{ "many", many },
		{ "opencl", with_opencl },
	};
	for (int i = 1; i < count; i++) {
		for (size_t j = 0; j < sizeof ways / sizeof *ways; j++)
			if (strcmp(arguments[i], ways[j].name) == 0)
				ways[j].run();
		if (strcmp(arguments[i], "unended") == 0)
			tare_phase_begin("unended");
		printf("%s done\n", arguments[i]);
	}
	return 3;
}
