// SPDX-License-Identifier: Apache-2.0
// Some drivers can be told to take work and do none. All calls then succeed, and what they cost
// would look like figures: events that are never signalled and bytes that never arrive tell.
#include "measure/core/probe.h"

#include "backend/call.h"
#include "base/random.h"
#include "measure/core/engines.h"

#include <errno.h>
#include <string.h>

#define PROBE_BYTES 4096
#define PROBE_LIMIT_NS INT64_C(5000000000)

#define DOES_NOTHING "the driver takes work but the device does not do it: "
#define WHY_NOT                                                                                    \
	"nothing was measured: is the driver set to run without hardware, or does the device "     \
	"hang?"

struct probe {
	struct tare_queue *queue;
	struct tare_memory *sent, *there, *received;
	struct tare_event *event;
};

static int open_probe(struct tare_device *device, struct probe *probe, struct tare_error *error)
{
	const struct tare_queue_options options = { .engine =
		                                        tare_engine_for(device, TARE_USE_KERNELS) };
	enum tare_memory_kind kind = TARE_MEMORY_PINNED;
	int status = tare_queue_create(device, &options, &probe->queue, error);

	if (status < 0)
		return status;
	// Pinned memory first: what is pageable a driver may copy by itself, without the device.
	status = tare_memory_create(device, kind, PROBE_BYTES, &probe->sent, error);
	if (status == -ENOTSUP || status == -ENOSYS) {
		kind = TARE_MEMORY_PAGEABLE;
		status = tare_memory_create(device, kind, PROBE_BYTES, &probe->sent, error);
	}
	status = status ?: tare_memory_create(device, kind, PROBE_BYTES, &probe->received, error);
	if (status == 0)
		status = tare_memory_create(device, TARE_MEMORY_DEVICE, PROBE_BYTES, &probe->there,
		                            error);
	return status;
}

static void close_probe(struct probe *probe)
{
	tare_event_free(probe->event);
	tare_queue_free(probe->queue);
	tare_memory_free(probe->sent);
	tare_memory_free(probe->there);
	tare_memory_free(probe->received);
}

// What is there before, and nowhere what was sent.
static unsigned char unlike(unsigned char sent)
{
	return (unsigned char)(sent + 128);
}

// Random, so that nothing left in the memory by an earlier run can pass for them.
static void fill(struct probe *probe)
{
	struct tare_random random = { .state = (uint64_t)tare_host_now().ns };
	unsigned char *sent = probe->sent->host, *received = probe->received->host;

	for (size_t i = 0; i < PROBE_BYTES; i++) {
		sent[i] = (unsigned char)(tare_random_next(&random) >> 24);
		received[i] = unlike(sent[i]);
	}
}

static int run(struct probe *probe, struct tare_error *error)
{
	struct tare_operation there = {
		.type = TARE_OPERATION_COPY,
		.source = { probe->sent, 0, PROBE_BYTES },
		.destination = { probe->there, 0, PROBE_BYTES },
	};
	struct tare_operation back = there;
	int status = tare_append(probe->queue, &there, NULL, error);

	back.source = there.destination;
	back.destination = (struct tare_span){ probe->received, 0, PROBE_BYTES };
	status = status ?: tare_append(probe->queue, &back, &probe->event, error);
	status = status ?: tare_submit(probe->queue, error);
	status = status ?: tare_event_wait(probe->event, PROBE_LIMIT_NS, error);
	return status;
}

static int compare(const struct probe *probe, struct tare_error *error)
{
	const unsigned char *sent = probe->sent->host, *received = probe->received->host;
	size_t wrong = 0, untouched = 0;

	for (size_t i = 0; i < PROBE_BYTES; i++) {
		wrong += sent[i] != received[i];
		untouched += received[i] == unlike(sent[i]);
	}
	if (untouched == PROBE_BYTES)
		return tare_fail(error, ENODEV,
		                 DOES_NOTHING
		                 "%d bytes copied to it and back never arrived, though "
		                 "the driver says that they did; " WHY_NOT,
		                 PROBE_BYTES);
	if (wrong)
		return tare_fail(
		    error, ENODEV,
		    "the device copies wrong data: of %d bytes to it and back %zu are wrong; "
		    "nothing was measured: reset the device, or update its driver",
		    PROBE_BYTES, wrong);
	return 0;
}

int tare_probe(struct tare_device *device, struct tare_error *error)
{
	struct probe probe = { 0 };
	struct tare_error why = { 0 };
	int status;

	if (device->probed || device->lost || !device->backend->needs_probe)
		return 0;
	device->probed = true;
	status = open_probe(device, &probe, &why);
	if (status == 0) {
		fill(&probe);
		status = run(&probe, &why);
		if (status == 0)
			status = compare(&probe, error);
		else if (status == -ETIMEDOUT) {
			// Freeing would wait for it.
			tare_device_abandon(device);
			status =
			    tare_fail(error, ENODEV,
			              DOES_NOTHING "%d bytes to copy to it and back (%s); " WHY_NOT,
			              PROBE_BYTES, why.message);
		} else if (status == -ENODEV && error) {
			*error = why;
		}
	}
	close_probe(&probe);
	return status == -ENODEV ? status : 0;
}
