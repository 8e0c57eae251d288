// SPDX-License-Identifier: Apache-2.0
// Which bridges devices share on their way to the host. The kernel tells it by the folder of a PCI
// device: /sys/devices/pci0000:0c/0000:0c:01.0/0000:0d:00.0 is behind root port 0000:0c:01.0.
#include "measure/several/several.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tare_attachment_of(const struct tare_facts *facts, const char *root,
                        struct tare_attachment *place)
{
	const struct tare_fact *pci = &facts->fact[TARE_FACT_PCI];
	const struct tare_fact *numa = &facts->fact[TARE_FACT_NUMA];
	char link[300], resolved[PATH_MAX], address[32];
	const char *at;

	*place = (struct tare_attachment){ 0 };
	if (numa->present)
		snprintf(place->numa, sizeof place->numa, "%.31s", numa->text);
	if (!pci->present || strchr(pci->text, '/'))
		return;
	snprintf(address, sizeof address, "%.31s", pci->text);
	for (char *letter = address; *letter; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	// NVIDIA's tools write the domain with eight digits, the kernel with four.
	at = strlen(address) > 12 && strncmp(address, "0000", 4) == 0 ? address + 4 : address;
	snprintf(link, sizeof link, "%.200s/%s", root ? root : "/sys/bus/pci/devices", at);
	if (!realpath(link, resolved))
		return;
	at = strstr(resolved, "/pci");
	if (at && strlen(at + 1) < sizeof place->path)
		snprintf(place->path, sizeof place->path, "%.255s", at + 1);
}

enum tare_nearness tare_attachments_share(const struct tare_attachment *a,
                                          const struct tare_attachment *b, char bridge[32])
{
	const char *left = a->path, *right = b->path;
	size_t shared = 0, length;

	bridge[0] = '\0';
	// The last part is the device itself; two functions of one card share its slot at most.
	while (left[0] && right[0]) {
		length = strcspn(left, "/");
		if (length != strcspn(right, "/") || strncmp(left, right, length) != 0 ||
		    left[length] != '/' || right[length] != '/')
			break;
		snprintf(bridge, 32, "%.*s", (int)(length < 31 ? length : 31), left);
		left += length + 1;
		right += length + 1;
		shared++;
	}
	if (shared > 2)
		return TARE_NEAR_SWITCH;
	if (shared > 0)
		return shared == 2 ? TARE_NEAR_ROOT_PORT : TARE_NEAR_HOST_BRIDGE;
	if (!a->numa[0] || !b->numa[0])
		return TARE_NEAR_UNKNOWN;
	return strcmp(a->numa, b->numa) == 0 ? TARE_NEAR_NUMA : TARE_NEAR_NOTHING;
}

const char *tare_nearness_name(enum tare_nearness nearness)
{
	static const char *const names[] = {
		[TARE_NEAR_UNKNOWN] = "not told",
		[TARE_NEAR_NOTHING] = "other NUMA node",
		[TARE_NEAR_NUMA] = "same NUMA node",
		[TARE_NEAR_HOST_BRIDGE] = "same host bridge",
		[TARE_NEAR_ROOT_PORT] = "same root port",
		[TARE_NEAR_SWITCH] = "same switch",
	};
	return names[nearness];
}

struct words {
	char *text;
	size_t size, length;
};

static void say(struct words *words, const char *text)
{
	if (words->length < words->size)
		words->length += (size_t)snprintf(words->text + words->length,
		                                  words->size - words->length, "%s", text);
}

// "cuda:0 and cuda:1 share the root port 0000:0c:01.0": each group of those that are so near to
// one another, named once, at its first device. Returns how many groups there are.
static size_t say_groups(struct words *words, const struct tare_attachment *places,
                         const char *const *names, size_t count, enum tare_nearness nearness,
                         const char *what)
{
	char bridge[32], other[32];
	size_t groups = 0;

	for (size_t i = 0; i < count; i++) {
		size_t members = 0, said = 0;
		bool first = true;
		for (size_t k = 0; k < count; k++) {
			bool near = k != i && tare_attachments_share(&places[i], &places[k],
			                                             other) == nearness;
			first = first && !(near && k < i);
			if (near)
				snprintf(bridge, sizeof bridge, "%s", other);
			members += near;
		}
		if (!first || members == 0)
			continue;
		say(words, groups++ || words->length ? "; " : "");
		say(words, names[i]);
		for (size_t k = 0; k < count; k++)
			if (k != i &&
			    tare_attachments_share(&places[i], &places[k], other) == nearness) {
				say(words, ++said == members ? " and " : ", ");
				say(words, names[k]);
			}
		say(words, what);
		if (nearness == TARE_NEAR_NUMA)
			say(words, places[i].numa);
		else
			say(words, bridge[0] ? bridge : "");
	}
	return groups;
}

void tare_attachments_describe(const struct tare_attachment *places, const char *const *names,
                               size_t count, char *text, size_t size)
{
	struct words words = { text, size, 0 };
	bool known = true, numa = true;
	size_t groups = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		known = known && places[i].path[0];
		numa = numa && places[i].numa[0];
	}
	groups +=
	    say_groups(&words, places, names, count, TARE_NEAR_SWITCH, " share the switch at ");
	groups +=
	    say_groups(&words, places, names, count, TARE_NEAR_ROOT_PORT, " share the root port ");
	groups += say_groups(&words, places, names, count, TARE_NEAR_HOST_BRIDGE,
	                     " share the host bridge ");
	if (groups == 0 && known)
		say(&words, "no two share a host bridge");
	if (numa)
		say_groups(&words, places, names, count, TARE_NEAR_NUMA, " are on NUMA node ");
	if (!known && words.length == 0)
		say(&words, "the system does not tell which bridges the devices share");
}
