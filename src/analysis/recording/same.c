// SPDX-License-Identifier: Apache-2.0
// What several processes have in common: devices, and the moment.
#include "analysis/recording/internal.h"

#include <ctype.h>
#include <string.h>

// Some drivers tell a number that is all zero.
static bool is_known(const char *identity)
{
	return identity[strspn(identity, "0-:. ")] != '\0';
}

// One API writes a UUID with strokes or capitals, another without.
static uint64_t hash_digits(uint64_t key, const char *uuid)
{
	for (; *uuid; uuid++) {
		char digit = (char)tolower((unsigned char)*uuid);
		if (isxdigit((unsigned char)digit))
			key = tare_hash_bytes(key, &digit, 1);
	}
	return key;
}

// What is known of a device that another process knows too: the text of the kind, on one host.
static uint64_t identity_key(const struct tare_recording *r, const struct tare_recorded_device *d,
                             const char *kind)
{
	uint64_t key = tare_hash_text(TARE_HASH_START, kind);

	key = tare_hash_text(key, r->processes[d->process].host_name);
	if (*kind == 'u')
		return hash_digits(key, d->uuid);
	if (*kind == 'p')
		return tare_hash_text(key, d->pci);
	// Names of two APIs are another question (two_apis.c).
	key = tare_hash_bytes(key, &d->api, sizeof d->api);
	return tare_hash_text(tare_hash_text(key, d->platform), d->name);
}

// Two devices that one platform of an API shows to one process are two, whatever they say of
// themselves: the key goes on with how many of that key the process has seen there before.
static uint64_t numbered_key(struct loading *l, struct tare_id_map *seen,
                             const struct tare_recorded_device *d, uint64_t key)
{
	uint64_t place =
	    tare_hash_bytes(tare_hash_text(key, d->platform), &d->api, sizeof d->api) + d->process;
	uint32_t before = tare_id_map_find(seen, place);

	before = before == TARE_ID_ABSENT ? 0 : before;
	if (!tare_id_map_put(seen, place, before + 1))
		loading_fail(l, ENOMEM, "devices");
	return tare_hash_bytes(key, &before, sizeof before);
}

static bool may_be_same(const struct tare_recorded_device *a, const struct tare_recorded_device *b)
{
	// Parts of one card share its place but not its number.
	if (is_known(a->uuid) && is_known(b->uuid) &&
	    hash_digits(TARE_HASH_START, a->uuid) != hash_digits(TARE_HASH_START, b->uuid))
		return false;
	return !is_known(a->pci) || !is_known(b->pci) || strcmp(a->pci, b->pci) == 0;
}

// Joins a device to the first one of the key, or makes it the first.
static void join(struct loading *l, struct tare_id_map *known, uint32_t index, uint64_t key,
                 enum tare_same_by by)
{
	struct tare_recorded_device *devices = l->recording->devices;
	uint32_t first = tare_id_map_find(known, key);

	if (first == TARE_ID_ABSENT) {
		if (!tare_id_map_put(known, key, devices[index].same_as))
			loading_fail(l, ENOMEM, "devices");
	} else if (devices[index].same_as == index && first < index &&
	           may_be_same(&devices[first], &devices[index])) {
		devices[index].same_as = first;
		devices[index].same_by = by;
	}
}

int loading_same_devices(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct tare_id_map known = { 0 }, seen = { 0 };

	for (size_t i = 0; i < r->device_count && !l->status; i++) {
		const struct tare_recorded_device *d = &r->devices[i];
		r->apis |= UINT64_C(1) << d->api;
		bool uuid = is_known(d->uuid), pci = is_known(d->pci);
		if (uuid)
			join(l, &known, (uint32_t)i,
			     numbered_key(l, &seen, d, identity_key(r, d, "uuid")),
			     TARE_SAME_BY_UUID);
		if (pci)
			join(l, &known, (uint32_t)i,
			     numbered_key(l, &seen, d, identity_key(r, d, "pci")),
			     TARE_SAME_BY_PCI);
		if (!uuid && !pci)
			join(l, &known, (uint32_t)i,
			     numbered_key(l, &seen, d, identity_key(r, d, "name")),
			     TARE_SAME_BY_NAME);
	}
	if (!l->status)
		loading_same_by_name(l);
	tare_id_map_free(&known);
	tare_id_map_free(&seen);
	return l->status;
}

int64_t loading_alignment_ns(const struct tare_trace_header *header,
                             const struct tare_trace_header *reference, const char **sentence)
{
	bool boots_known = (header->boot_id[0] || header->boot_id[1]) &&
	                   (reference->boot_id[0] || reference->boot_id[1]);
	bool same = boots_known
	                ? !memcmp(header->boot_id, reference->boot_id, sizeof header->boot_id)
	                : !strcmp(header->host_name, reference->host_name);
	int64_t shift_ns;

	*sentence = NULL;
	if (same)
		return 0;
	if (header->start_realtime_ns <= 0 || reference->start_realtime_ns <= 0) {
		*sentence = "it ran on another machine or boot and does not know the time of day, "
		            "so its times do not compare with the others";
		return 0;
	}
	*sentence =
	    "it ran on another machine or boot: its times were put beside the others by the "
	    "time of day, and are no better than the two clocks agree";
	// Cut, so that a damaged header cannot make the sum overflow.
	shift_ns = loading_cut(reference->start_raw_ns) - loading_cut(header->start_raw_ns);
	return shift_ns + loading_cut(header->start_realtime_ns) -
	       loading_cut(reference->start_realtime_ns);
}
