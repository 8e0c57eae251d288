// SPDX-License-Identifier: Apache-2.0
// Devices that two APIs show: one or two? A UUID or a place on the bus has told, where both APIs
// have one (same.c). What is left goes by names, and only where these leave no choice;
// where they do, it is said that it is not known.
#include "analysis/recording/internal.h"

#include <string.h>

// Above this many nobody looks through the devices anyway.
enum { MOST_DEVICES = 64 };

struct known_device {
	uint32_t index; // the first of those that are the same
	uint64_t apis;
};

static bool is_known(const char *identity)
{
	return identity[strspn(identity, "0-:. ")] != '\0';
}

static size_t find_known(const struct tare_recording *r, struct known_device *known)
{
	size_t count = 0;

	for (uint32_t i = 0; i < r->device_count; i++) {
		size_t at = 0;
		while (at < count && known[at].index != r->devices[i].same_as)
			at++;
		if (at == MOST_DEVICES)
			return 0;
		if (at == count)
			known[count++] = (struct known_device){ r->devices[i].same_as, 0 };
		known[at].apis |= UINT64_C(1) << r->devices[i].api;
	}
	return count;
}

static bool on_one_host(const struct tare_recording *r, const struct tare_recorded_device *a,
                        const struct tare_recorded_device *b)
{
	return !strcmp(r->processes[a->process].host_name, r->processes[b->process].host_name);
}

// Nothing that both tell is different, and one identity at least is not told by both.
static bool may_be_one(const struct tare_recorded_device *a, const struct tare_recorded_device *b)
{
	if (a->type && b->type && a->type != b->type)
		return false;
	if (is_known(a->uuid) && is_known(b->uuid))
		return false; // they are different, or the two were joined
	return !is_known(a->pci) || !is_known(b->pci);
}

// Of the devices that the other APIs show, how many have the name.
static size_t count_named(const struct tare_recording *r, const struct known_device *known,
                          size_t count, const struct known_device *like, bool other_api)
{
	const struct tare_recorded_device *d = &r->devices[like->index];
	size_t named = 0;

	for (size_t i = 0; i < count; i++)
		named += ((known[i].apis & like->apis) == 0) == other_api &&
		         on_one_host(r, &r->devices[known[i].index], d) &&
		         !strcmp(r->devices[known[i].index].name, d->name);
	return named;
}

static bool is_single_name(const struct tare_recording *r, const struct known_device *known,
                           size_t count, const struct known_device *a, const struct known_device *b)
{
	const struct tare_recorded_device *x = &r->devices[a->index], *y = &r->devices[b->index];

	return *x->name && !strcmp(x->name, y->name) &&
	       (!x->compute_units || !y->compute_units || x->compute_units == y->compute_units) &&
	       count_named(r, known, count, a, false) == 1 &&
	       count_named(r, known, count, a, true) == 1 &&
	       count_named(r, known, count, b, false) == 1;
}

static void join(struct tare_recording *r, struct known_device *into, struct known_device *from)
{
	for (uint32_t i = 0; i < r->device_count; i++)
		if (r->devices[i].same_as == from->index) {
			r->devices[i].same_as = into->index;
			r->devices[i].same_by = TARE_SAME_BY_NAME;
		}
	into->apis |= from->apis;
	from->apis = 0;
}

void loading_same_by_name(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct known_device known[MOST_DEVICES];
	size_t count = (r->apis & (r->apis - 1)) ? find_known(r, known) : 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			struct known_device *a = &known[i], *b = &known[k];
			struct tare_recorded_device *x = &r->devices[a->index];
			struct tare_recorded_device *y = &r->devices[b->index];
			if (!a->apis || !b->apis || a->apis & b->apis || !on_one_host(r, x, y) ||
			    !may_be_one(x, y))
				continue;
			if (is_single_name(r, known, count, a, b))
				join(r, a, b);
			else if (x->type == y->type && !y->maybe_same)
				y->maybe_same = 1 + a->index;
		}
}
