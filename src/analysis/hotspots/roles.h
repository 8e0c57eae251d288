// SPDX-License-Identifier: Apache-2.0
// Names and units of the counters' roles.
#pragma once

#include "analysis/hotspots/counted.h"

enum tare_counter_unit {
	TARE_COUNTER_UNIT_NS,
	TARE_COUNTER_UNIT_PERCENT,
	TARE_COUNTER_UNIT_BYTES,
	TARE_COUNTER_UNIT_COUNT,
};

struct tare_counter_role_row {
	const char *key;   // of documents: "device_read_bytes"
	const char *title; // of tables: "read from device memory"
	enum tare_counter_unit unit;
	// What the counter itself may be off, found beside another tool's figures: points of a
	// share, or a part of the value, and the latter of launches that were run more than once.
	// 0: not compared.
	double error_points, error_part, replayed_part;
};

// By enum tare_counter_role.
extern const struct tare_counter_role_row tare_counter_roles[TARE_COUNTER_ROLES];
