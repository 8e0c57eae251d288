// SPDX-License-Identifier: Apache-2.0
#include "cli/run/blocks_runs.h"

#include "cli/options/option.h"

#include <errno.h>
#include <stdlib.h>

static int status_of(int why)
{
	return why == -ENOENT   ? TARE_EXIT_NOT_FOUND
	       : why == -ENOMEM ? TARE_EXIT_RECORD
	                        : TARE_EXIT_NOT_EXECUTABLE;
}

int tare_blocks_runs_begin(char *const *arguments, const char *who, struct tare_blocks_runs *runs,
                           struct tare_error *error)
{
	const char *library_path = getenv("LD_LIBRARY_PATH");
	int status = tare_program_find(arguments[0], &runs->program, error);

	runs->arguments = arguments;
	runs->several = who != NULL;
	if (status < 0)
		return status_of(status);
	char *recorder = tare_layer_find(error);
	status = recorder ? tare_blocks_layer_find(recorder, &runs->place, error) : -ENOENT;
	free(recorder);
	if (status < 0 || tare_layer_check(runs->place.layer, error) < 0 ||
	    (who && tare_input_note(&runs->input, who, error) < 0) ||
	    tare_blocks_folder_make(&runs->place, error) < 0)
		return TARE_EXIT_RECORD;
	tare_closure_find(runs->program.path, library_path, &runs->closure);
	tare_loader_choose(&runs->closure, getenv("LD_PRELOAD"), library_path, TARE_CACHE,
	                   &runs->loader);
	if (runs->loader.front[0])
		runs->place.front = runs->loader.front;
	tare_drivers_find(runs->place.layer, getenv(TARE_DRIVERS_VARIABLE), library_path,
	                  TARE_CACHE, &runs->drivers);
	runs->place.drivers = runs->drivers.stubs;
	runs->place.behind = runs->drivers.behind;
	return TARE_EXIT_OK;
}

int tare_blocks_runs_once(struct tare_blocks_runs *runs, struct tare_blocks_run run,
                          int64_t *wall_ns, struct tare_error *error)
{
	bool own;

	run.arguments = runs->arguments;
	if (runs->several)
		tare_input_restore(&runs->input);
	int status = tare_blocks_run(&runs->place, &run, &runs->end, wall_ns, &own, error);
	return status == 0 ? TARE_EXIT_OK : own ? TARE_EXIT_RECORD : status_of(status);
}

int tare_blocks_runs_aside(struct tare_blocks_runs *runs, const struct tare_blocks_run *run,
                           struct tare_child_end *end, struct tare_error *error)
{
	int64_t wall_ns;
	bool own;

	tare_input_restore(&runs->input);
	return tare_blocks_run(&runs->place, run, end, &wall_ns, &own, error);
}

void tare_blocks_runs_free(struct tare_blocks_runs *runs)
{
	tare_blocks_place_free(&runs->place);
	tare_program_free(&runs->program);
	tare_closure_free(&runs->closure);
	tare_drivers_free(&runs->drivers);
}

bool tare_blocks_is_alike(const struct tare_child_end *counted, const struct tare_child_end *end,
                          bool lines, struct tare_error *why)
{
	if (counted->signal || counted->asked || end->asked)
		tare_fail(why, ECANCELED,
		          "a signal ended the program: it is not run again to be sampled");
	else if (end->signal != counted->signal || end->status != counted->status)
		tare_fail(why, ECANCELED, "without counters%s the program ended otherwise, %s %d",
		          lines ? ", its kernels built with -g," : "",
		          end->signal ? "by signal" : "with exit status",
		          end->signal ? end->signal : end->status);
	return !why->code;
}
