// SPDX-License-Identifier: Apache-2.0
// One physical device under two APIs is one device.
#include "measure/devices/devices.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// A UUID without its dashes, in lower case. False where there is none, or one that says nothing:
// some drivers answer with zeros.
static bool plain_uuid(const struct tare_facts *facts, char *out, size_t size)
{
	const struct tare_fact *fact = &facts->fact[TARE_FACT_UUID];
	const char *text = fact->text;
	bool nonzero = false;
	size_t n = 0;

	if (!fact->present)
		return false;
	if (strncasecmp(text, "GPU-", 4) == 0) // as NVIDIA's tools write it
		text += 4;
	for (; *text; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		if (n + 1 >= size)
			return false;
		out[n++] = (char)tolower((unsigned char)*text);
		nonzero = nonzero || *text != '0';
	}
	out[n] = '\0';
	return n == 32 && nonzero;
}

// A PCI address as domain:bus:device.function; without a domain it is domain 0.
static bool plain_pci(const struct tare_facts *facts, unsigned address[4])
{
	const struct tare_fact *fact = &facts->fact[TARE_FACT_PCI];

	if (!fact->present)
		return false;
	if (sscanf(fact->text, "%x:%x:%x.%x", &address[0], &address[1], &address[2], &address[3]) ==
	    4)
		return true;
	address[0] = 0;
	return sscanf(fact->text, "%x:%x.%x", &address[1], &address[2], &address[3]) == 3;
}

// Why the two are the same, or NULL.
static const char *same(const struct tare_device_entry *a, const struct tare_device_entry *b)
{
	char left[40], right[40];
	unsigned here[4], there[4];

	// Two devices of one backend are two (or parts of one that count as two).
	if (strcmp(a->backend, b->backend) == 0)
		return NULL;
	// Both have a UUID: that decides, whatever the addresses. Parts of one device (MIG) share
	// an address and differ in it.
	if (plain_uuid(&a->facts, left, sizeof left) && plain_uuid(&b->facts, right, sizeof right))
		return strcmp(left, right) == 0 ? "UUID" : NULL;
	if (plain_pci(&a->facts, here) && plain_pci(&b->facts, there) &&
	    memcmp(here, there, sizeof here) == 0)
		return "PCI address";
	return NULL;
}

int tare_merge_identities(struct tare_device_entry *entries, size_t count)
{
	uint32_t next = 0;

	for (size_t i = 0; i < count; i++) {
		const char *by = NULL;
		size_t k;
		for (k = 0; k < i && !by; k++)
			by = same(&entries[k], &entries[i]);
		entries[i].number = by ? entries[k - 1].number : next++;
		if (tare_set_string(&entries[i].same_by, by) < 0)
			return -ENOMEM;
	}
	return 0;
}
