// SPDX-License-Identifier: Apache-2.0
#include "cli/run/blocks_compile.h"

#include "cli/terminal/progress.h"

struct compiling {
	struct tare_progress progress;
	const char *what;
	struct tare_host_time since;
};

static void show_compiling(void *context, size_t done, size_t total)
{
	struct compiling *compiling = context;
	double took = (double)tare_host_elapsed_ns(compiling->since, tare_host_now());

	tare_progress_update(&compiling->progress, compiling->what, done, total,
	                     done ? (int64_t)(took / (double)done * (double)(total - done)) : -1);
}

int tare_blocks_compile_shown(const char *folder, bool samples, bool shown,
                              struct tare_blocks_builds *builds, struct tare_blocks_models *models,
                              struct tare_error *error)
{
	struct compiling compiling = { .what = "compiling what the program built",
		                       .since = tare_host_now() };
	const struct tare_blocks_watch watch = { show_compiling, &compiling };

	tare_progress_start_late(&compiling.progress, "blocks", shown);
	int status = tare_blocks_compile(folder, samples, &watch, builds, error);
	compiling.what = "compiling for --for";
	compiling.since = tare_host_now();
	status = status ?: tare_blocks_models_make(folder, builds, &watch, models, error);
	tare_progress_clear(&compiling.progress);
	return status;
}
