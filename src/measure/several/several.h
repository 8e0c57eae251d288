// SPDX-License-Identifier: Apache-2.0
// Several devices at the same time: what each gets of the host's links while the others copy as
// well, and copies from one device to another.
#pragma once
#include "measure/core/run.h"

#define TARE_SEVERAL_MOST 16

struct tare_several_member {
	struct tare_device *device; // open; of devices of one API, all from one driver
	const char *name;           // "cuda:0": the label `device`
	const struct tare_facts *facts;
};

// Measures `count` (2 to TARE_SEVERAL_MOST) devices within run->budget_ns (0: 5 s a device for the
// links, and 1 s an ordered pair; another budget is divided alike), and adds to run->result:
//  - group "links": copies between pinned host memory and each device, labelled `line` (as those of
//    `bandwidth`), `device` ("all": the sum over the devices), `at_work` ("alone", "together") and
//    `bytes`, quantity "time" with a rate, source "host"; of source "model" the quantities "share"
//    (unit "%"): together over alone, and "sum": what the devices reach alone, added up.
//  - group "peers": copies from `device` to `peer`, labelled `path` ("direct", "staged": the driver
//    moves it through the host) and `at_work` ("alone", "both": the other way at the same time),
//    and the time of a copy of 4 bytes, quantity "latency". `between` says where the two sit.
//  - conclusions: who shares what.
// Every device has a thread of its own. Only the time in which all are at work counts. A device
// that fails is left out from then on, with a warning; the others go on. Needs run->result,
// budget_ns, seed and what concerns progress and interruption; run->device is not used. Returns 0,
// -EINTR, -ENOMEM, or -EBADMSG when a destination did not hold what was sent.
int tare_measure_several(struct tare_run *run, const struct tare_several_member *members,
                         size_t count, struct tare_error *error);

// ---- where devices sit (places.c)

// The bridges from the host to a device, and its NUMA node.
struct tare_attachment {
	char path[256]; // "pci0000:0c/0000:0c:01.0/0000:0d:00.0"; "" where the system does not tell
	char numa[32];  // "0"; "" where it is not known
};

enum tare_nearness {
	TARE_NEAR_UNKNOWN,
	TARE_NEAR_NOTHING, // different NUMA nodes
	TARE_NEAR_NUMA,    // the same NUMA node, different host bridges or not known
	TARE_NEAR_HOST_BRIDGE,
	TARE_NEAR_ROOT_PORT,
	TARE_NEAR_SWITCH, // a bridge below the root port
};

// Reads the place of the device with these facts. `root`: NULL for "/sys/bus/pci/devices".
void tare_attachment_of(const struct tare_facts *facts, const char *root,
                        struct tare_attachment *place);
// What the two share; *bridge is the address of the deepest bridge, or "".
enum tare_nearness tare_attachments_share(const struct tare_attachment *a,
                                          const struct tare_attachment *b, char bridge[32]);
// "same switch", "other NUMA node", "not told".
const char *tare_nearness_name(enum tare_nearness nearness);
// A sentence or two on who shares what among `count` devices, into text. `names` as in the members.
void tare_attachments_describe(const struct tare_attachment *places, const char *const *names,
                               size_t count, char *text, size_t size);
