// SPDX-License-Identifier: Apache-2.0
#include "guest/environment.h"

#include "record/loader/driver.h"
#include "record/loader/layer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS "OPENCL_LAYERS"

#define PRELOAD "LD_PRELOAD"
// Without it Intel's driver of Level Zero lists no counters.
#define METRICS "ZET_ENABLE_METRICS"

// The variables that are set anew.
static const char *const ours[] = { LAYERS,
	                            TARE_ENVIRONMENT_DIRECTORY,
	                            TARE_ENVIRONMENT_OPTIONS,
	                            TARE_ENVIRONMENT_LAYERS,
	                            TARE_ENVIRONMENT_LEVELZERO,
	                            TARE_ENVIRONMENT_LEVELZERO_FIRST,
	                            TARE_ENVIRONMENT_COUNT };
#define OURS (sizeof ours / sizeof *ours)
// Those, LD_PRELOAD, the drivers and the metrics, and the end.
#define ADDED (OURS + TARE_PHASE_HOOKS + 4)

// Those by which programs, and drivers, find a library that records phases or calls.
static const struct {
	const char *variable, *phases;
} hooks[TARE_PHASE_HOOKS] = {
	{ "TARE_PHASES", "phases of tare/phase.h" },
	{ "INTEL_LIBITTNOTIFY64", "ITT phases" },
	{ "NVTX_INJECTION64_PATH", "NVTX phases" },
	{ "CUDA_INJECTION64_PATH", "CUDA programs" }, // the driver loads it with the first cuInit
};

const char *tare_record_times_name(enum tare_record_times times)
{
	return times == TARE_TIMES_ALL ? "all" : times == TARE_TIMES_NONE ? "none" : "sampled";
}

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_ours(const char *entry)
{
	for (size_t i = 0; i < OURS; i++)
		if (is_variable(entry, ours[i]))
			return true;
	return false;
}

static const char *value_of(char *const *environment, const char *name)
{
	for (; *environment; environment++)
		if (is_variable(*environment, name))
			return *environment + strlen(name) + 1;
	return "";
}

// The last part of a path of `length` bytes.
static const char *base_of(const char *path, size_t *length)
{
	const char *end = path + *length, *start = end;

	while (start > path && start[-1] != '/')
		start--;
	*length = (size_t)(end - start);
	return start;
}

// Whether an entry of OPENCL_LAYERS is the recorder, by whatever path.
static bool is_layer(const char *entry, size_t length, const char *layer)
{
	size_t own = strlen(layer);
	const char *name = base_of(layer, &own), *other = base_of(entry, &length);

	return length == own && strncmp(other, name, own) == 0;
}

// Whether `inherited` leads a hook of phases to something else than the recorder, by whatever path.
static bool leads_elsewhere(char *const *inherited, const char *layer, size_t hook)
{
	const char *value = value_of(inherited, hooks[hook].variable);

	return *value && !is_layer(value, strlen(value), layer);
}

const char *tare_environment_elsewhere(char *const *inherited, const char *layer, size_t hook,
                                       const char **value, const char **phases)
{
	if (!leads_elsewhere(inherited, layer, hook))
		return NULL;
	*value = value_of(inherited, hooks[hook].variable);
	*phases = hooks[hook].phases;
	return hooks[hook].variable;
}

// Whether an entry is a hook that is set anew.
static bool is_own_hook(char *const *inherited, const char *layer, const char *entry)
{
	for (size_t i = 0; i < TARE_PHASE_HOOKS; i++)
		if (is_variable(entry, hooks[i].variable))
			return !leads_elsewhere(inherited, layer, i);
	return false;
}

// "OPENCL_LAYERS=LAYER:those that were there", ours only once.
static char *layers(const char *layer, const char *before)
{
	size_t room = sizeof LAYERS + strlen(layer) + strlen(before) + 3, used;
	char *text = malloc(room);

	if (!text)
		return NULL;
	used = (size_t)snprintf(text, room, LAYERS "=%s", layer);
	while (*before) {
		size_t length = strcspn(before, ":");
		if (length && !is_layer(before, length, layer))
			used += (size_t)snprintf(text + used, room - used, ":%.*s", (int)length,
			                         before);
		before += length + (before[length] == ':');
	}
	return text;
}

// Whether words joined by commas have `word`.
static bool has_word(const char *words, const char *word)
{
	size_t bytes = strlen(word);

	while (*words) {
		size_t length = strcspn(words, ",");
		if (length == bytes && strncmp(words, word, bytes) == 0)
			return true;
		words += length + (words[length] == ',');
	}
	return false;
}

// The word of `words` that begins with `name`, with the comma that goes before it, into `word`; "":
// none.
static void take_word(const char *words, const char *name, char *word, size_t room)
{
	word[0] = '\0';
	while (*words) {
		size_t length = strcspn(words, ",");
		if (strncmp(words, name, strlen(name)) == 0)
			snprintf(word, room, ",%.*s", (int)length, words);
		words += length + (words[length] == ',');
	}
}

// `before`: what was there; only `count` and `event=` are taken from it, which no option sets.
static char *options_text(const struct tare_record_options *options, int64_t start_raw_ns,
                          const char *before)
{
	char limit[48] = "", delay[48] = "", duration[48] = "", event[48], *text;

	if (options->max_bytes)
		snprintf(limit, sizeof limit, ",max=%" PRIu64, options->max_bytes);
	if (options->delay_ns)
		snprintf(delay, sizeof delay, ",delay=%" PRId64, options->delay_ns);
	if (options->duration_ns)
		snprintf(duration, sizeof duration, ",duration=%" PRId64, options->duration_ns);
	take_word(before, "event=", event, sizeof event);
	if (asprintf(&text,
	             TARE_ENVIRONMENT_OPTIONS "=start=%" PRId64 ",times=%s%s%s%s%s%s%s%s%s%s%s%s",
	             start_raw_ns, tare_record_times_name(options->times),
	             options->strict ? ",strict" : "", options->keep_newest ? ",keep=newest" : "",
	             options->call_stacks ? ",stacks" : "", options->contents ? ",contents" : "",
	             options->front ? ",front" : "",
	             options->no_cupti ? "," TARE_ENVIRONMENT_NO_CUPTI : "", limit, delay, duration,
	             has_word(before, "count") ? ",count" : "", event) < 0)
		return NULL;
	return text;
}

static bool is_path(const char *entry, size_t length, const char *path)
{
	return path && length == strlen(path) && strncmp(entry, path, length) == 0;
}

// "LD_PRELOAD=FRONT:CUDA_FRONT:those that were there", the first ones, of which either may be NULL,
// only once.
static char *preload(const char *front, const char *cuda_front, const char *before)
{
	size_t room = sizeof PRELOAD + (front ? strlen(front) : 0) +
	              (cuda_front ? strlen(cuda_front) : 0) + strlen(before) + 4,
	       used;
	char *text = malloc(room);

	if (!text)
		return NULL;
	used = (size_t)snprintf(text, room, PRELOAD "=%s%s%s", front ? front : "",
	                        front && cuda_front ? ":" : "", cuda_front ? cuda_front : "");
	while (*before) {
		size_t length = strcspn(before, ": ");
		if (length && !is_path(before, length, front) &&
		    !is_path(before, length, cuda_front))
			used += (size_t)snprintf(text + used, room - used, ":%.*s", (int)length,
			                         before);
		before += length + (before[length] != '\0');
	}
	return text;
}

// An environment that is being made.
struct made {
	char **at;
	size_t count;
	bool whole; // there was memory for all of it
};

// Takes a text from malloc; NULL: there was no memory for it.
static void add(struct made *made, char *entry)
{
	if (entry)
		made->at[made->count++] = entry;
	else
		made->whole = false;
}

static void add_value(struct made *made, const char *name, const char *value)
{
	char *entry;

	add(made, asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry);
}

static void add_inherited(struct made *made, char *const *inherited, const char *layer,
                          const struct tare_record_options *options)
{
	for (char *const *entry = inherited; *entry; entry++)
		if (!is_ours(*entry) && !is_own_hook(inherited, layer, *entry) &&
		    !((options->front || options->cuda_front) && is_variable(*entry, PRELOAD)) &&
		    !(options->drivers && is_variable(*entry, TARE_DRIVERS_VARIABLE)))
			add(made, strdup(*entry));
}

static void add_layers(struct made *made, const char *layer, const char *before)
{
	char *list = layers(layer, before);

	add(made, list);
	// Loaders write ends into the list as they read it: whoever is to restore it needs another.
	if (list && strchr(list, ':'))
		add_value(made, TARE_ENVIRONMENT_LAYERS, list + strlen(LAYERS "="));
}

char **tare_environment_make(char *const *inherited, const char *layer, const char *directory,
                             const struct tare_record_options *options, int64_t start_raw_ns)
{
	struct made made = { .whole = true };
	size_t count = 0;

	while (inherited[count])
		count++;
	made.at = calloc(count + ADDED, sizeof *made.at);
	if (!made.at)
		return NULL;
	add_inherited(&made, inherited, layer, options);
	for (size_t i = 0; i < TARE_PHASE_HOOKS; i++)
		if (!leads_elsewhere(inherited, layer, i))
			add_value(&made, hooks[i].variable, layer);
	if (options->front || options->cuda_front)
		add(&made,
		    preload(options->front, options->cuda_front, value_of(inherited, PRELOAD)));
	if (options->drivers) {
		add_value(&made, TARE_DRIVERS_VARIABLE, options->drivers);
		add_value(&made, TARE_ENVIRONMENT_LEVELZERO, options->behind);
		if (options->first)
			add_value(&made, TARE_ENVIRONMENT_LEVELZERO_FIRST, options->first);
	}
	add_layers(&made, layer, value_of(inherited, LAYERS));
	add_value(&made, TARE_ENVIRONMENT_DIRECTORY, directory);
	if (options->count)
		add_value(&made, TARE_ENVIRONMENT_COUNT, options->count);
	if (options->count && !*value_of(inherited, METRICS))
		add_value(&made, METRICS, "1");
	add(&made,
	    options_text(options, start_raw_ns, value_of(inherited, TARE_ENVIRONMENT_OPTIONS)));
	if (made.whole)
		return made.at;
	tare_environment_free(made.at);
	return NULL;
}

void tare_environment_free(char **environment)
{
	for (char **at = environment; at && *at; at++)
		free(*at);
	free(environment);
}
