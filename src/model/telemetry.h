// SPDX-License-Identifier: Apache-2.0
// What a device tells of itself while it works, and what many such readings come to.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Why a device runs below the clock it could have. The bits are NVML's; other backends translate.
#define TARE_THROTTLES(X)                                                                          \
	X(IDLE, "idle", "idle", NOT) /* nothing to do: the clock rests, nothing is held back */    \
	X(SETTING, "applications_clocks", "applications clocks", LIMIT)                            \
	X(POWER_CAP, "power_cap", "power cap", SLOWS)                                              \
	X(HARDWARE, "hardware_slowdown", "hardware slowdown", SLOWS)                               \
	X(SYNC_BOOST, "sync_boost", "sync boost", LIMIT)                                           \
	X(HEAT, "thermal", "thermal", SLOWS)                                                       \
	X(HARDWARE_HEAT, "hardware_thermal", "hardware thermal", SLOWS)                            \
	X(POWER_BRAKE, "hardware_power_brake", "hardware power brake", SLOWS)                      \
	X(DISPLAY, "display_clocks", "display clocks", LIMIT)

enum tare_throttle {
#define X(id, key, name, class) TARE_THROTTLE_##id,
	TARE_THROTTLES(X)
#undef X
	    TARE_THROTTLE_KNOWN,
	TARE_THROTTLE_OTHER = TARE_THROTTLE_KNOWN, // any later bit
	TARE_THROTTLE_COUNT
};
enum tare_throttle_class {
	TARE_THROTTLE_CLASS_NOT,   // not throttling: idle
	TARE_THROTTLE_CLASS_LIMIT, // somebody set this clock: steady, but not the highest
	TARE_THROTTLE_CLASS_SLOWS, // the device slows itself down
};

struct tare_telemetry {
	uint32_t present; // bit (1 << enum below) for each member that is known
	uint64_t clock_hz, memory_clock_hz;
	uint64_t throttle; // bits (1 << enum tare_throttle); 0: none
	double power_w, temperature_c;
	uint32_t link_generation, link_width;
};
enum {
	TARE_TELEMETRY_CLOCK,
	TARE_TELEMETRY_MEMORY_CLOCK,
	TARE_TELEMETRY_THROTTLE,
	TARE_TELEMETRY_POWER,
	TARE_TELEMETRY_TEMPERATURE,
	TARE_TELEMETRY_LINK,
};

static inline bool tare_telemetry_has(const struct tare_telemetry *telemetry, int what)
{
	return telemetry->present >> what & 1;
}

// "power_cap"; "other" beyond those that are known. Never NULL. Append-only.
const char *tare_throttle_key(enum tare_throttle reason);
// "power cap"; "another reason" beyond those that are known. Never NULL.
const char *tare_throttle_name(enum tare_throttle reason);
enum tare_throttle_class tare_throttle_class_of(enum tare_throttle reason);
// The reason of bit `bit` (0 to 63) of struct tare_telemetry's throttle.
enum tare_throttle tare_throttle_of_bit(unsigned bit);
// All reasons of a set of bits, "power cap, thermal"; "no" where there is none. Returns text.
const char *tare_throttle_list(uint64_t bits, char *text, size_t size);

// ---- many readings

// One kind of value over the readings that had it. Units: Hz, W, °C, PCIe generation, lanes.
struct tare_telemetry_range {
	size_t n; // 0: never told; the rest is then NaN
	double low, median, mean, high;
};

enum tare_telemetry_value {
	TARE_TELEMETRY_OF_CLOCK,
	TARE_TELEMETRY_OF_MEMORY_CLOCK,
	TARE_TELEMETRY_OF_POWER,
	TARE_TELEMETRY_OF_TEMPERATURE,
	TARE_TELEMETRY_OF_LINK_GENERATION,
	TARE_TELEMETRY_OF_LINK_WIDTH,
	TARE_TELEMETRY_VALUES
};

struct tare_telemetry_value_row {
	const char *key, *unit, *title; // "memory_clock", "Hz", "memory clock"
};
extern const struct tare_telemetry_value_row tare_telemetry_value_rows[TARE_TELEMETRY_VALUES];

struct tare_telemetry_summary {
	size_t readings; // in all
	size_t loaded; // of them: the device did not call itself idle. The ranges are of these, or
	               // of all where there is none
	struct tare_telemetry_range of[TARE_TELEMETRY_VALUES];
	size_t throttle_n; // readings that told the reasons
	// of those; NaN where throttle_n is 0. IDLE: of all
	double throttle_share[TARE_THROTTLE_COUNT];
	double slowed_share; // any reason of class SLOWS; NaN where not told
	// clock more than TARE_TELEMETRY_MOVED below the highest; NaN: not told
	double moved_share;
};

// How far below the highest a clock counts as moved: steps of a boost clock are 0.8 % apart.
#define TARE_TELEMETRY_MOVED 0.02

// Sums up `n` readings. Returns 0 or -ENOMEM.
int tare_telemetry_summarise(const struct tare_telemetry *readings, size_t n,
                             struct tare_telemetry_summary *summary);
