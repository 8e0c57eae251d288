// SPDX-License-Identifier: Apache-2.0
#include "guest/environment.h"

#include "record/layer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS "OPENCL_LAYERS"

// The variables that are set anew.
static const char *const ours[] = { LAYERS, TARE_ENVIRONMENT_DIRECTORY, TARE_ENVIRONMENT_OPTIONS };
#define OURS (sizeof ours / sizeof *ours)

// Those by which programs find a library that records their phases.
static const struct {
	const char *variable, *phases;
} hooks[TARE_PHASE_HOOKS] = {
	{ "TARE_PHASES", "phases of tare/phase.h" },
	{ "INTEL_LIBITTNOTIFY64", "ITT phases" },
	{ "NVTX_INJECTION64_PATH", "NVTX phases" },
};

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

// `before`: what was there; only `count` is taken from it, which no option sets.
static char *options_text(const struct tare_record_options *options, int64_t start_raw_ns,
                          const char *before)
{
	char limit[48] = "", delay[48] = "", duration[48] = "", *text;

	if (options->max_bytes)
		snprintf(limit, sizeof limit, ",max=%" PRIu64, options->max_bytes);
	if (options->delay_ns)
		snprintf(delay, sizeof delay, ",delay=%" PRId64, options->delay_ns);
	if (options->duration_ns)
		snprintf(duration, sizeof duration, ",duration=%" PRId64, options->duration_ns);
	if (asprintf(&text, TARE_ENVIRONMENT_OPTIONS "=start=%" PRId64 "%s%s%s%s%s%s%s", start_raw_ns,
	             options->strict ? ",strict" : "", options->keep_newest ? ",keep=newest" : "",
	             options->call_stacks ? ",stacks" : "",
	             limit, delay, duration, has_word(before, "count") ? ",count" : "") < 0)
		return NULL;
	return text;
}

char **tare_environment_make(char *const *inherited, const char *layer, const char *directory,
                             const struct tare_record_options *options, int64_t start_raw_ns)
{
	size_t count = 0, used = 0;
	char **made;
	bool whole = true;

	while (inherited[count])
		count++;
	made = calloc(count + OURS + TARE_PHASE_HOOKS + 1, sizeof *made);
	if (!made)
		return NULL;
	for (size_t i = 0; whole && i < count; i++) {
		if (is_ours(inherited[i]) || is_own_hook(inherited, layer, inherited[i]))
			continue;
		made[used] = strdup(inherited[i]);
		whole = made[used++] != NULL;
	}
	for (size_t i = 0; whole && i < TARE_PHASE_HOOKS; i++) {
		if (leads_elsewhere(inherited, layer, i))
			continue;
		if (asprintf(&made[used], "%s=%s", hooks[i].variable, layer) < 0)
			made[used] = NULL;
		whole = made[used++] != NULL;
	}
	if (whole) {
		made[used] = layers(layer, value_of(inherited, LAYERS));
		whole = made[used++] != NULL;
	}
	if (whole) {
		if (asprintf(&made[used], TARE_ENVIRONMENT_DIRECTORY "=%s", directory) < 0)
			made[used] = NULL;
		whole = made[used++] != NULL;
	}
	if (whole) {
		made[used] = options_text(options, start_raw_ns,
		                          value_of(inherited, TARE_ENVIRONMENT_OPTIONS));
		whole = made[used++] != NULL;
	}
	if (whole)
		return made;
	tare_environment_free(made);
	return NULL;
}

void tare_environment_free(char **environment)
{
	for (char **at = environment; at && *at; at++)
		free(*at);
	free(environment);
}
