// SPDX-License-Identifier: Apache-2.0
#include "measure/core/engines.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENGINES_MOST 64

static uint32_t list_engines(struct tare_device *device, struct tare_engine engines[ENGINES_MOST])
{
	int count = tare_engines(device, engines, ENGINES_MOST, NULL);

	return count < 0 ? 0 : count > ENGINES_MOST ? ENGINES_MOST : (uint32_t)count;
}

uint32_t tare_engine_for(struct tare_device *device, enum tare_engine_use use)
{
	struct tare_engine engines[ENGINES_MOST];
	uint32_t found[3] = { 0 }, copies = 0, count;
	bool compute = false;

	if (!device->backend->binds_queues)
		return 0;
	count = list_engines(device, engines);
	for (uint32_t i = 0; i < count; i++) {
		if (engines[i].class == TARE_ENGINE_COMPUTE && !compute) {
			found[TARE_USE_KERNELS] = i;
			compute = true;
		}
		if (engines[i].class != TARE_ENGINE_COPY)
			continue;
		if (copies == 0)
			found[TARE_USE_TO_DEVICE] = i;
		if (copies < 2)
			found[TARE_USE_TO_HOST] = i;
		copies++;
	}
	return copies == 0 ? found[TARE_USE_KERNELS] : found[use];
}

int tare_engine_named(struct tare_device *device, const char *word, uint32_t *engine,
                      struct tare_error *error)
{
	struct tare_engine engines[ENGINES_MOST];
	uint32_t count, ordinal = 0, index = 0, has[2];
	char text[300] = "", end;
	size_t used = 0;
	bool read = word[0] >= '0' && word[0] <= '9';

	if (!device->backend->binds_queues)
		return tare_fail(
		    error, EINVAL,
		    "--engine: %s chooses the engine itself, by the operation; leave it out",
		    device->backend->title);
	if (strchr(word, '.'))
		read = read && sscanf(word, "%9u.%9u%c", &ordinal, &index, &end) == 2;
	else
		read = read && sscanf(word, "%9u%c", &ordinal, &end) == 1;
	if (!read)
		return tare_fail(error, EINVAL,
		                 "--engine: '%.40s' is no ordinal with an index, such as 1 or 1.0",
		                 word);
	count = list_engines(device, engines);
	for (uint32_t i = 0; i < count; i++) {
		if (sscanf(engines[i].title, "ordinal %9u, %*s %9u", &has[0], &has[1]) != 2)
			continue;
		if (has[0] == ordinal && has[1] == index) {
			*engine = i;
			return 0;
		}
		if (used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u.%u (%s)",
			                         used ? ", " : "", has[0], has[1],
			                         engines[i].class == TARE_ENGINE_COPY ? "copy"
			                                                              : "compute");
	}
	return tare_fail(error, EINVAL, "--engine: there is no engine %s; there are %s", word,
	                 text);
}

const char *tare_engine_title(struct tare_device *device, uint32_t engine, char title[48])
{
	struct tare_engine engines[ENGINES_MOST];
	uint32_t count = list_engines(device, engines);

	title[0] = '\0';
	if (engine < count)
		memcpy(title, engines[engine].title, sizeof engines[engine].title);
	return title;
}
