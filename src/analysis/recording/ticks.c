// SPDX-License-Identifier: Apache-2.0
// Raw ticks of a device as nanoseconds of its clock that never go back: counters of any rate and of
// fewer than 64 bits, which wrap while the program runs.
//
// Which wrap a value is of is told by the host's time, near the last reading whose wrap is known.
// That is certain as long as the host knows to half a wrap when it was read; a command that waited
// longer on its device than the counter takes to wrap is put into the first wrap that it may be of.
#include "analysis/recording/internal.h"

#define NS_A_S 1000000000
#define DOUBT_NS 10000000 // of a reading itself, whose thread may have been stopped in it

// How a device counts, and a value whose wrap is known.
struct load_ticks {
	uint64_t hz;                   // 0: nanoseconds
	uint8_t stamp_bits, pair_bits; // 0: 64
	bool anchored;
	int64_t host_ns; // when the counter, unwrapped, showed
	int64_t at;
};

void loading_tick_fact(struct loading *l, uint32_t device, uint16_t key, uint64_t value)
{
	struct load_ticks *t = &l->ticks[device - l->first_device];
	uint8_t bits = value > 0 && value < 64 ? (uint8_t)value : 0;

	switch (key) {
	case TARE_TRACE_FACT_TIMER_HZ:
		// Faster than any counter is: not believed.
		t->hz = value <= UINT64_C(1000) * NS_A_S ? value : 0;
		if (t->hz)
			l->resolutions_ns[device - l->first_device] = (NS_A_S + t->hz - 1) / t->hz;
		break;
	case TARE_TRACE_FACT_STAMP_BITS:
		t->stamp_bits = bits;
		break;
	case TARE_TRACE_FACT_PAIR_BITS:
		t->pair_bits = bits;
		break;
	default:
		break;
	}
}

bool loading_add_ticks(struct loading *l)
{
	struct load_ticks *t = TARE_ROOM_FOR(l->ticks, l->tick_room, l->clock_count);

	if (t)
		*t = (struct load_ticks){ 0 };
	return t != NULL;
}

static uint8_t bits_of(const struct load_ticks *t)
{
	uint8_t stamp = t->stamp_bits ? t->stamp_bits : 64, pair = t->pair_bits ? t->pair_bits : 64;

	return stamp < pair ? stamp : pair;
}

static int64_t hz_of(const struct load_ticks *t)
{
	return t->hz ? (int64_t)t->hz : NS_A_S;
}

// Cut to what can be added without care: 2^61.
static int64_t cut(__int128 value)
{
	const int64_t most = INT64_C(1) << 61;

	return value > most ? most : value < -most ? -most : (int64_t)value;
}

// What the counter, unwrapped, shows at a time of the host by its nominal rate.
static int64_t expected(const struct load_ticks *t, int64_t host_ns)
{
	return cut(t->at + ((__int128)host_ns - t->host_ns) * hz_of(t) / NS_A_S);
}

// By how much that may be late: the two clocks drift by 500 ppm at most, and the last reading was a
// while ago. So nearly a whole wrap is left for what waits on the device.
static int64_t doubt(const struct load_ticks *t, int64_t host_ns)
{
	int64_t most = (INT64_C(1) << bits_of(t)) / 8;
	__int128 since_ns = (__int128)host_ns - t->host_ns;
	int64_t ticks =
	    cut(((since_ns < 0 ? -since_ns : since_ns) / 2000 + DOUBT_NS) * hz_of(t) / NS_A_S);

	return ticks < most ? ticks : most;
}

// The value of that many bits which is not before `least`, unwrapped.
static int64_t unwrap(uint64_t value, uint8_t bits, int64_t least)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;

	return cut((__int128)least + (int64_t)((value - (uint64_t)least) & mask));
}

static void anchor(struct load_ticks *t, uint64_t value, int64_t host_ns)
{
	// One wrap up, so that no stamp is 0, which means that there is none.
	t->at =
	    (int64_t)((value & ((UINT64_C(1) << bits_of(t)) - 1)) + (UINT64_C(1) << bits_of(t)));
	t->host_ns = host_ns;
	t->anchored = true;
}

static uint64_t in_ns(const struct load_ticks *t, int64_t ticks)
{
	return t->hz ? (uint64_t)cut((__int128)ticks * NS_A_S / (int64_t)t->hz) : (uint64_t)ticks;
}

// A counter of all bits is taken as it is. Those that wrap have fewer than 62 bits, or never do.
static bool is_whole(const struct load_ticks *t)
{
	return bits_of(t) > 60;
}

static uint64_t scaled(const struct load_ticks *t, uint64_t ticks)
{
	return t->hz ? (uint64_t)((unsigned __int128)ticks * NS_A_S / t->hz) : ticks;
}

uint64_t loading_pair_ns(struct loading *l, uint32_t device, const struct tare_reading *reading)
{
	struct load_ticks *t = &l->ticks[device - l->first_device];
	int64_t host_ns = reading->before_ns, half;

	if (is_whole(t))
		return scaled(t, reading->ticks);
	half = INT64_C(1) << (bits_of(t) - 1);
	if (!t->anchored) {
		anchor(t, reading->ticks, host_ns);
	} else {
		t->at = unwrap(reading->ticks, bits_of(t), expected(t, host_ns) - half);
		t->host_ns = host_ns;
	}
	return in_ns(t, t->at);
}

void loading_stamps_ns(struct loading *l, uint32_t device, uint8_t present,
                       struct tare_command_stamps *stamps)
{
	struct load_ticks *t = &l->ticks[device - l->first_device];
	uint64_t *const all[] = { &stamps->queued, &stamps->submitted, &stamps->start,
		                  &stamps->end };
	static const uint8_t flags[] = { TARE_TRACE_STAMP_QUEUED, TARE_TRACE_STAMP_SUBMITTED,
		                         TARE_TRACE_STAMP_START, TARE_TRACE_STAMP_END };
	int64_t least;

	if (is_whole(t)) {
		for (int i = 0; i < 4; i++)
			*all[i] = scaled(t, *all[i]);
		return;
	}
	if (!t->anchored)
		anchor(t, present & TARE_TRACE_STAMP_START ? stamps->start : stamps->end,
		       stamps->enter_ns);
	least = expected(t, stamps->enter_ns) - doubt(t, stamps->enter_ns);
	for (int i = 0; i < 4; i++) {
		if (!(present & flags[i]))
			continue;
		// Each is after the one before, or in the same wrap where the driver has them
		// otherwise.
		least = unwrap(*all[i], bits_of(t), least);
		*all[i] = in_ns(t, least);
	}
}

int64_t loading_active_ns(struct loading *l, uint32_t device, uint64_t start, uint64_t end)
{
	const struct load_ticks *t = &l->ticks[device - l->first_device];
	uint64_t ticks = end - start;

	if (bits_of(t) < 64)
		ticks &= (UINT64_C(1) << bits_of(t)) - 1;
	ticks = scaled(t, ticks);
	return ticks > INT64_MAX / 2 ? 0 : (int64_t)ticks;
}
