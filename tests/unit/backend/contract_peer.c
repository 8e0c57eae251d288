// SPDX-License-Identifier: Apache-2.0
// What one device may do with another's memory. Skipped where the driver has one device only.
#include "contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES UINT64_C(262144)

// Another device of the same driver; NULL, with the reason in the error, where there is none.
static struct tare_device *open_peer(void)
{
	struct tare_device *peer = NULL;
	uint32_t other = device->index ? 0 : 1;

	if (device->backend->device_count(driver) < 2) {
		tare_fail(&error, ENODEV, "there is one device only");
		return NULL;
	}
	must(device->backend->device_open(driver, other, &peer, &error));
	return peer;
}

static struct tare_memory *memory_of(struct tare_device *owner, enum tare_memory_kind kind)
{
	struct tare_memory *memory = NULL;
	must(tare_memory_create(owner, kind, BYTES, &memory, &error));
	return memory;
}

// Copies from this device's memory to the peer's and compares; -ENOTSUP where it cannot.
static int send(struct tare_device *peer, uint8_t seed)
{
	struct tare_queue *own = new_queue(false), *theirs = NULL;
	struct tare_memory *from = memory_of(device, TARE_MEMORY_DEVICE);
	struct tare_memory *to = memory_of(peer, TARE_MEMORY_DEVICE);
	struct tare_memory *seen = memory_of(peer, TARE_MEMORY_PINNED);
	int rc;

	must(tare_queue_create(peer, &(struct tare_queue_options){ .timed = false }, &theirs,
	                       &error));
	put(own, from, seed);
	memset(seen->host, 0xa5, BYTES);
	must(run(theirs, copy(span(seen, 0, BYTES), span(to, 0, BYTES))));
	// All but the ends, which have to stay as they are.
	rc = run(own, copy(span(from, 64, BYTES - 128), span(to, 64, BYTES - 128)));
	if (rc == 0) {
		must(run(theirs, copy(span(to, 0, BYTES), span(seen, 0, BYTES))));
		for (uint64_t i = 0; i < BYTES; i++) {
			bool inside = i >= 64 && i < BYTES - 64;
			uint8_t want = inside ? pattern(i, seed) : 0xa5;
			if (((uint8_t *)seen->host)[i] != want)
				fail_msg("byte %llu of the peer's memory is wrong",
				         (unsigned long long)i);
		}
	}
	tare_memory_free(seen);
	tare_memory_free(to);
	tare_memory_free(from);
	tare_queue_free(theirs);
	tare_queue_free(own);
	return rc;
}

void a_copy_to_a_peer_arrives(void **state)
{
	struct tare_device *peer = open_peer();
	int staged, direct;

	(void)state;
	if (!peer)
		skip_test();
	staged = send(peer, 3);
	if (!cannot(staged))
		must(staged);
	direct = tare_peer_enable(device, peer, &error);
	if (cannot(direct)) {
		assert_true(error.message[0]);
	} else {
		must(direct);
		must(send(peer, 5));
	}
	device->backend->device_close(peer);
	if (cannot(direct) && cannot(staged))
		skip_test();
}

void enabling_a_peer_again_is_no_error(void **state)
{
	struct tare_device *peer = open_peer();
	int rc;

	(void)state;
	if (!peer)
		skip_test();
	assert_int_equal(tare_peer_enable(device, device, &error), -EINVAL);
	rc = tare_peer_enable(device, peer, &error);
	if (rc == 0) {
		must(tare_peer_enable(device, peer, &error));
		must(tare_peer_enable(peer, device, &error));
	}
	device->backend->device_close(peer);
	if (cannot(rc))
		skip_test();
	must(rc);
}
