// SPDX-License-Identifier: Apache-2.0
// Runs the program with its kernels changed.
#include "blocks/gains/gains.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct measuring {
	const struct tare_blocks_trying *how;
	const struct tare_blocks_builds *builds;
	struct tare_blocks_gains *gains;
};

static void tell(void *context, const char *text)
{
	const struct measuring *measuring = context;

	if (measuring->how->tell)
		measuring->how->tell(measuring->how->context, text);
}

// Which changes findings ask for. *any: there are findings.
static int ask(struct measuring *measuring, bool wanted[TARE_BLOCKS_CHANGES], bool *any)
{
	const struct tare_blocks_profile *profile = measuring->how->own;
	int status = 0;

	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++) {
		const struct tare_blocks_kernel *kernel = &profile->kernels[i];
		struct tare_blocks_sampled sampled = { .work_items = 0 };
		struct tare_blocks_findings findings;
		if (!kernel->executions || !kernel->counted)
			continue;
		measuring->gains->counted = true;
		status = tare_blocks_sampled_make(kernel, &sampled);
		status = status ?: tare_blocks_find(kernel, &sampled, &findings);
		tare_blocks_sampled_free(&sampled);
		for (uint32_t k = 0; status == 0 && k < findings.count; k++) {
			// Others are not changed (prepare).
			if (tare_blocks_is_single(kernel->build))
				wanted[tare_blocks_change_of(findings.at[k].advice)] = true;
			*any = true;
		}
	}
	return status;
}

static enum tare_blocks_change change_of_set(const struct tare_blocks_gains *gains, uint32_t set)
{
	for (int i = 0; i < TARE_BLOCKS_CHANGES; i++)
		if (gains->sets[i] == set)
			return (enum tare_blocks_change)i;
	return TARE_BLOCKS_AS_IT_IS;
}

// How far a change reaches in the kernels of a build.
static int note_reach(struct measuring *measuring, const struct tare_blocks_build *build,
                      enum tare_blocks_change change, const struct tare_blocks_changed *changed)
{
	const struct tare_blocks_profile *profile = measuring->how->own;

	for (size_t i = 0; i < profile->kernel_count; i++)
		for (int advice = 0; advice < TARE_BLOCKS_ADVICE; advice++) {
			enum tare_blocks_advice of = (enum tare_blocks_advice)advice;
			if (profile->kernels[i].build != build ||
			    tare_blocks_change_of(of) != change || !profile->kernels[i].executions)
				continue;
			double reach = tare_blocks_change_reach(changed, &profile->kernels[i], of);
			if (reach < 0)
				return -ENOMEM;
			measuring->gains->reaches[i * TARE_BLOCKS_CHANGES + (size_t)change] = reach;
		}
	return 0;
}

// Writes a changed module of a build. One that cannot be written leaves the program's own, which
// is kept to be told.
static int write_changed(struct measuring *measuring, const struct tare_blocks_build *build,
                         enum tare_blocks_change change, const char *folder)
{
	struct tare_blocks_unwritten *unwritten =
	    &measuring->gains->unwritten[measuring->gains->sets[change]];
	struct tare_blocks_changed changed;
	struct blocks_module head = { .rows = 0 };
	struct tare_error why = { 0 };
	int written = 0;
	char *text = NULL, *options = NULL;
	bool source = build->language == BLOCKS_OPENCL_C;
	int status = tare_blocks_change(build, measuring->how->own, change, &changed);

	if (status == 0 && source)
		status = tare_blocks_change_source(
		    build, change,
		    &(const struct tare_blocks_retry){ measuring->how->place->folder, folder },
		    &changed, &text);
	status = status ?: note_reach(measuring, build, change, &changed);
	head.fixed_count = changed.fixed_count;
	for (uint32_t i = 0; i < changed.fixed_count; i++)
		head.fixed[i] = changed.fixed[i];
	if (status == 0 && source &&
	    asprintf(&options, "%s %s", build->all_options, changed.options) < 0)
		status = -ENOMEM;
	if (status == 0 && source)
		written = tare_blocks_source_write(folder, build, &head, text, options, &why);
	else if (status == 0)
		written = tare_blocks_module_write(folder, build, &head, changed.words,
		                                   changed.count * sizeof *changed.words, &why);
	if (written < 0 && !unwritten->why.code)
		*unwritten = (struct tare_blocks_unwritten){ build->hash, why };
	tare_blocks_changed_free(&changed);
	free(text);
	free(options);
	return status;
}

// Writes the modules of a set: each build that could be counted, changed.
static int prepare(void *context, uint32_t set, const char *folder, struct tare_error *error)
{
	struct measuring *measuring = context;
	int status = 0;

	for (size_t i = 0; status == 0 && i < measuring->builds->count; i++)
		if (measuring->builds->at[i].made &&
		    tare_blocks_is_single(&measuring->builds->at[i]))
			status = write_changed(measuring, &measuring->builds->at[i],
			                       change_of_set(measuring->gains, set), folder);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

int tare_blocks_gains_measure(const struct tare_blocks_trying *how,
                              const struct tare_blocks_builds *builds,
                              struct tare_blocks_gains *gains, struct tare_error *error)
{
	struct measuring measuring = { .how = how, .builds = builds, .gains = gains };
	bool wanted[TARE_BLOCKS_CHANGES] = { false }, any = false;
	struct tare_blocks_trying trying = *how;
	uint32_t sets = 0;

	gains->asked = true;
	gains->profile = how->own;
	gains->reaches =
	    calloc(how->own->kernel_count * TARE_BLOCKS_CHANGES + 1, sizeof *gains->reaches);
	if (!gains->reaches || ask(&measuring, wanted, &any) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	if (!any)
		return 0;
	for (int i = TARE_BLOCKS_AS_IT_IS + 1; i < TARE_BLOCKS_CHANGES; i++)
		if (wanted[i])
			gains->sets[i] = ++sets;
	trying.prepare = prepare;
	trying.tell = tell;
	trying.context = &measuring;
	tare_blocks_try(&trying, NULL, sets, &gains->trials, &gains->why);
	return 0;
}

void tare_blocks_gains_free(struct tare_blocks_gains *gains)
{
	if (gains->trials.set_count)
		tare_blocks_trials_free(&gains->trials);
	free(gains->reaches);
	*gains = (struct tare_blocks_gains){ .asked = false };
}
