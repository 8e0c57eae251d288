// SPDX-License-Identifier: Apache-2.0
#include "blocks/options/trials.h"

#include "guest/blocks/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT "/stdout"

struct trying {
	const struct tare_blocks_trying *how;
	struct tare_blocks_trials *trials;
};

// ---- sets

// The last word of a set's options where it needs one more behind it; NULL: it does not.
static const char *open_word(const char *set)
{
	static const char *const open[] = { "-D", "-U", "-I", "-include", "-x" };
	size_t end = blocks_words_options(set), begin;

	while (end && strchr(" \t\r\n", set[end - 1]))
		end--;
	for (begin = end; begin && !strchr(" \t\r\n", set[begin - 1]);)
		begin--;
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		if (strlen(open[i]) == end - begin &&
		    strncmp(open[i], set + begin, end - begin) == 0)
			return open[i];
	return NULL;
}

int tare_blocks_sets_check(const char *const *sets, size_t count, struct tare_error *error)
{
	struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS];
	const char *wrong;

	for (size_t i = 0; i < count; i++)
		if (open_word(sets[i]))
			return tare_fail(error, EINVAL,
			                 "--options: \"%.60s\" ends with %s, which needs a value: "
			                 "write a set as one word of the shell, '-D NAME=1'",
			                 sets[i], open_word(sets[i]));
	for (size_t i = 0; i < count; i++)
		if (blocks_words_pragmas(sets[i], pragmas, &wrong) < 0)
			return tare_fail(
			    error, EINVAL,
			    "--options: \"%.60s\" is no pragma, as \"#14 unroll 4\" (line 14) or "
			    "\"#add:14 unroll 4\" (of sources with the name add) are; a set has at "
			    "most %d",
			    wrong, BLOCKS_MOST_PRAGMAS);
	return 0;
}

const char *tare_blocks_set_pragmas(const char *set)
{
	return set + blocks_words_options(set);
}

// ---- one run

// FNV-1a of a file; 0 where it cannot be read.
static uint64_t hash_of(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (!file)
		return 0;
	for (int c; (c = fgetc(file)) != EOF;)
		hash = (hash ^ (uint64_t)c) * UINT64_C(0x100000001b3);
	fclose(file);
	return hash;
}

// Runs the program with a set's options. 0 or a negative errno with a sentence.
static int start(const struct trying *trying, struct tare_blocks_set *set, const char *stage,
                 bool recorded, bool contents, struct tare_blocks_given *given,
                 struct tare_error *error)
{
	struct tare_blocks_trials *trials = trying->trials;
	struct tare_child_end end = { 0 };
	char output[PATH_MAX];
	int64_t wall_ns;
	bool own;

	snprintf(output, sizeof output, "%s" OUTPUT, trials->trace.folder);
	const struct tare_blocks_run run = { .arguments = trying->how->arguments,
		                             .stage = stage,
		                             .silent = true,
		                             .options = set->options,
		                             .output = output,
		                             .trace = recorded ? trials->trace.folder : NULL,
		                             .contents = contents };
	tare_blocks_forget_all(&trials->trace);
	tare_input_restore(trying->how->input);
	int status = tare_blocks_run(&set->place, &run, &end, &wall_ns, &own, error);
	if (status < 0)
		return status;
	trials->stopped |= end.asked != 0;
	*given = (struct tare_blocks_given){ .output = hash_of(output),
		                             .status = end.status,
		                             .signal = end.signal };
	return 0;
}

// A pragma that no source has a loop for.
static void explain_pragmas(struct tare_blocks_set *set, uint64_t placed)
{
	struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS];
	const char *wrong;
	int count = set->options ? blocks_words_pragmas(set->options, pragmas, &wrong) : 0;

	for (int i = 0; i < count && set->why.code == 0; i++)
		if (!(placed >> i & 1))
			tare_fail(&set->why, EINVAL,
			          "no source of OpenCL C%s%.*s that the program built has a "
			          "loop on line %u to put \"#pragma %.*s\" before",
			          pragmas[i].name_bytes ? " with the name " : "",
			          (int)pragmas[i].name_bytes,
			          pragmas[i].name_bytes ? pragmas[i].name : "", pragmas[i].line,
			          (int)pragmas[i].text_bytes, pragmas[i].text);
}

// Why a set has no figures, from what its first run counted.
static int explain(const struct trying *trying, struct tare_blocks_set *set,
                   struct tare_error *error)
{
	struct tare_blocks_profile profile;
	int status = tare_blocks_profile_read(set->place.folder, &set->builds, &profile, error);

	if (status == 0 && profile.build_code) {
		size_t line = strcspn(profile.build_log, "\n");
		tare_fail(&set->why, EINVAL,
		          "the driver refuses to build with these options, with code %d%s%.*s",
		          profile.build_code, line ? ": " : "", (int)(line < 300 ? line : 300),
		          profile.build_log);
	}
	if (status == 0)
		explain_pragmas(set, profile.pragmas);
	// How many launches took the changed kernels is asked later.
	tare_blocks_profile_free(&set->profile);
	if (status == 0 && trying->how->prepare)
		set->profile = profile;
	else
		tare_blocks_profile_free(&profile);
	tare_blocks_forget_counts(&set->place);
	return status;
}

// ---- the runs of a set

static const char *stage_of(const struct trying *trying, uint32_t index)
{
	return index > 0 && trying->how->prepare ? BLOCKS_STAGE_CHANGE : BLOCKS_STAGE_COLLECT;
}

static enum tare_blocks_result compare(bool known, bool varies, bool same)
{
	return !known   ? TARE_BLOCKS_RESULT_UNKNOWN
	       : varies ? TARE_BLOCKS_RESULT_VARIES
	       : same   ? TARE_BLOCKS_RESULT_SAME
	                : TARE_BLOCKS_RESULT_DIFFERS;
}

// What a set gives, beside what the first one gave in two runs.
static void compare_given(struct tare_blocks_set *set, const struct tare_blocks_given *own,
                          const struct tare_blocks_given *again)
{
	const struct tare_blocks_given *given = &set->given;

	set->output = compare(true, own->output != again->output, given->output == own->output);
	set->read = compare(own->read_known && again->read_known && given->read_known,
	                    own->read != again->read, given->read == own->read);
	set->end = compare(true, own->status != again->status || own->signal != again->signal,
	                   given->status == own->status && given->signal == own->signal);
}

// The first run: caches are filled, builds are written down, and what comes out is kept.
static int warm_up(const struct trying *trying, uint32_t index, struct tare_blocks_given *given,
                   struct tare_error *error)
{
	struct tare_blocks_set *set = &trying->trials->sets[index];
	int status = start(trying, set, stage_of(trying, index), true, true, given, error);

	status = status ?: explain(trying, set, error);
	status = status ?: tare_blocks_trial_read(trying->trials, index, UINT32_MAX, given, error);
	if (status == 0 && set->why.code == 0 && given->signal && index > 0)
		tare_fail(&set->why, ECHILD, "signal %d ends the program with %s", given->signal,
		          trying->how->prepare ? "the change" : "these options");
	return status;
}

static int count(const struct trying *trying, struct tare_blocks_set *set, struct tare_error *error)
{
	struct tare_blocks_given given;
	int status =
	    tare_blocks_compile(set->place.folder, trying->how->sample, NULL, &set->builds, error);

	if (status < 0)
		return status;
	status = start(trying, set, BLOCKS_STAGE_COUNT, false, false, &given, error);
	if (status == 0)
		status =
		    tare_blocks_profile_read(set->place.folder, &set->builds, &set->profile, error);
	return status;
}

static int round_of(const struct trying *trying, uint32_t round, struct tare_error *error)
{
	struct tare_blocks_trials *trials = trying->trials;
	int status = 0;

	// Another one begins each round: what is first, or follows which, is no set's own.
	for (uint32_t i = 0; status == 0 && i < trials->set_count && !trials->stopped; i++) {
		uint32_t index = (i + round) % trials->set_count;
		struct tare_blocks_set *set = &trials->sets[index];
		struct tare_blocks_given given;
		if (set->why.code)
			continue;
		status = start(trying, set, stage_of(trying, index), true, false, &given, error);
		tare_blocks_forget_counts(&set->place);
		status = status ?: tare_blocks_trial_read(trials, index, round, &given, error);
	}
	return status;
}

// ---- all

static int make_place(const struct tare_blocks_place *from, struct tare_blocks_place *place,
                      struct tare_error *error)
{
	*place = *from;
	place->folder[0] = '\0';
	place->lock = -1;
	place->layer = strdup(from->layer);
	place->sampler = strdup(from->sampler);
	place->ptx = strdup(from->ptx);
	place->recorder = strdup(from->recorder);
	if (!place->layer || !place->sampler || !place->ptx || !place->recorder)
		return tare_fail(error, ENOMEM, "out of memory");
	return tare_blocks_folder_make(place, error);
}

static int make_sets(const struct trying *trying, const char *const *options, size_t count,
                     struct tare_error *error)
{
	struct tare_blocks_trials *trials = trying->trials;

	int status = make_place(trying->how->place, &trials->trace, error);
	for (size_t i = 0; status == 0 && i <= count; i++) {
		struct tare_blocks_set *set = &trials->sets[trials->set_count++];
		set->options = i > 0 && options ? options[i - 1] : NULL;
		status = make_place(trying->how->place, &set->place, error);
		if (status == 0 && i > 0 && trying->how->prepare)
			status = trying->how->prepare(trying->how->context, (uint32_t)i,
			                              set->place.folder, error);
	}
	if (status == 0 && tare_blocks_trials_name(trials, "") == SIZE_MAX)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}

static void tell(const struct trying *trying, const char *text)
{
	if (trying->how->tell)
		trying->how->tell(trying->how->context, text);
}

static int warm_all(const struct trying *trying, struct tare_error *error)
{
	struct tare_blocks_trials *trials = trying->trials;
	struct tare_blocks_given *own = &trials->sets[0].given, again = { 0 };
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < trials->set_count && !trials->stopped; i++)
		status = warm_up(trying, i, &trials->sets[i].given, error);
	if (status == 0 && !trials->stopped)
		status = warm_up(trying, 0, &again, error);
	for (uint32_t i = 0; status == 0 && i < trials->set_count; i++)
		compare_given(&trials->sets[i], own, &again);
	return status;
}

// What was counted of a kernel with a set's options.
static void join_kernel(struct tare_blocks_cell *cell, const struct tare_blocks_kernel *kernel,
                        bool own)
{
	// Level Zero's modules that are made of several parts keep the parts' options.
	bool parts = kernel->api == BLOCKS_LEVEL_ZERO && kernel->build && kernel->build->joined &&
	             kernel->launches && !own;

	if (kernel->executions && !parts)
		cell->counted = kernel;
	cell->of_parts |= parts;
	cell->unchanged |= parts || (kernel->why == BLOCKS_NO_SOURCE && kernel->launches);
}

static void join(struct tare_blocks_trials *trials, const struct tare_blocks_profile *own)
{
	for (uint32_t i = 0; i < trials->set_count; i++) {
		const struct tare_blocks_profile *profile = i == 0 ? own : &trials->sets[i].profile;
		// Those that cost most come first.
		for (size_t k = profile->kernel_count; k-- > 0;)
			for (size_t name = 1; name < trials->name_count; name++)
				if (strcmp(profile->kernels[k].name, trials->names[name]) == 0)
					join_kernel(&trials->sets[i].cells[name],
					            &profile->kernels[k], i == 0);
	}
}

// Whether there is anything to compare: a set of options that can be run. What the program's own
// kernels take is asked for with changed modules all the same.
static bool compares(const struct trying *trying)
{
	bool any = trying->how->prepare != NULL;

	for (uint32_t i = 1; i < trying->trials->set_count; i++)
		any |= trying->trials->sets[i].why.code == 0;
	return any;
}

int tare_blocks_try(const struct tare_blocks_trying *how, const char *const *options, size_t sets,
                    struct tare_blocks_trials *trials, struct tare_error *error)
{
	const struct trying trying = { how, trials };
	const char *what = how->prepare ? "gains" : "options";
	char text[64];

	*trials = (struct tare_blocks_trials){ .trace = { .lock = -1 } };
	int status = make_sets(&trying, options, sets, error);
	snprintf(text, sizeof text, "%s: each set is run to see what it gives", what);
	tell(&trying, text);
	status = status ?: warm_all(&trying, error);
	uint32_t rounds = compares(&trying) ? how->rounds : 0;
	for (uint32_t i = 0; status == 0 && i < rounds && !trials->stopped; i++) {
		snprintf(text, sizeof text, "%s: round %u of %u", what, i + 1, how->rounds);
		tell(&trying, text);
		status = round_of(&trying, i, error);
		trials->rounds += !trials->stopped;
	}
	if (!how->prepare && rounds)
		tell(&trying, "options: each set is counted");
	for (uint32_t i = 1;
	     status == 0 && !how->prepare && i < trials->set_count && !trials->stopped; i++)
		if (trials->sets[i].why.code == 0)
			status = count(&trying, &trials->sets[i], error);
	if (status < 0)
		return status;
	join(trials, how->own);
	tare_blocks_trials_judge(trials);
	return 0;
}

void tare_blocks_trials_free(struct tare_blocks_trials *trials)
{
	for (uint32_t i = 0; i < trials->set_count; i++) {
		tare_blocks_profile_free(&trials->sets[i].profile);
		tare_blocks_builds_free(&trials->sets[i].builds);
		tare_blocks_place_free(&trials->sets[i].place);
		free(trials->sets[i].cells);
	}
	for (size_t i = 0; i < trials->name_count; i++)
		free(trials->names[i]);
	free(trials->names);
	if (trials->trace.layer || trials->trace.folder[0])
		tare_blocks_place_free(&trials->trace);
	*trials = (struct tare_blocks_trials){ .set_count = 0 };
}
