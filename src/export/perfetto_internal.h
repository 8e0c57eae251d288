// SPDX-License-Identifier: Apache-2.0
// The parts of the Perfetto writer. Field numbers are those of protos/perfetto/trace of
// github.com/google/perfetto; each constant names its message.
#pragma once
#include "analysis/symbols/symbols.h"
#include "analysis/tables/view_filter.h"
#include "export/export.h"
#include "export/lanes.h"
#include "export/proto.h"

enum {
	TRACE_PACKET = 1, // Trace.packet
	// TracePacket
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	// TracePacket.SequenceFlags
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	DEFAULTS_CLOCK = 58, // TracePacketDefaults.timestamp_clock_id
	// ClockSnapshot, its Clock, and BuiltinClock
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	BUILTIN_REALTIME = 1,
	BUILTIN_RAW = 5,
	// InternedData; its entries have the number first
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_NOTES = 3,
	ENTRY_IID = 1,
	ENTRY_NAME = 2,
	// TrackEvent
	EVENT_CATEGORY = 3,
	EVENT_NOTES = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_FLOWS = 47,
	// DebugAnnotation
	NOTE_NAME = 1,
	NOTE_UNSIGNED = 3,
	NOTE_INTEGER = 4,
	NOTE_DOUBLE = 5,
	NOTE_STRING = 6,
	SEQUENCE = 1, // everything is one sequence of packets
};

enum perfetto_category {
	CATEGORY_CALL = 1, // calls that are no command
	CATEGORY_COMMAND,  // calls that enqueue
	CATEGORY_CALLBACK,
	CATEGORY_PHASE,
	CATEGORY_QUEUE,  // commands as a queue ran them
	CATEGORY_ENGINE, // the same by what they did to their device
	CATEGORY_LOSS,   // what was not recorded
	CATEGORY_END
};

// Debug annotations: what a slice says of itself.
enum perfetto_note {
	NOTE_COMMAND = 1,
	NOTE_CALL,
	NOTE_QUEUE,
	NOTE_DEVICE,
	NOTE_KIND,
	NOTE_BYTES,
	NOTE_RATE,
	NOTE_GLOBAL,
	NOTE_LOCAL,
	NOTE_MEMORY,
	NOTE_BLOCKING,
	NOTE_TO_START,
	NOTE_TO_SUBMIT,
	NOTE_UNTIMED,
	NOTE_COUNT,
	NOTE_INSIDE,
	NOTE_RESULT,
	NOTE_DOMAIN,
	NOTE_SOURCE,
	NOTE_UNENDED,
	NOTE_RECORDS,
	NOTE_WHAT,
	NOTE_SITE,
	NOTE_SITE_FUNCTION,
	NOTE_FROM_DEVICE,
	NOTE_TO_DEVICE,
	NOTE_LINK,
	NOTE_END
};

struct perfetto {
	const struct tare_recording *recording;
	struct tare_view_filter *members;
	struct tare_symbols *symbols;
	const struct tare_export_watch *watch;
	FILE *file;
	struct tare_export_counts *counts;
	struct proto proto;
	int status;              // the first error: -EIO, -EINTR, -ENOMEM
	int stream_error;        // errno of the first -EIO
	uint64_t last_track;     // uuids count from 1
	bool *named;             // names that were written already, by their number
	uint64_t *process_track; // of each process; 0: not written
	int32_t *process_pid;    // as exported: no two processes have the same
	uint64_t *thread_track;
	bool several_hosts;
};

// ---- names, written once each
uint64_t perfetto_function(const struct perfetto *p, uint32_t function);
// What a command is called: its kernel's name, or its kind.
uint64_t perfetto_command(const struct perfetto *p, const struct tare_recorded_command *command);
size_t perfetto_name_count(const struct tare_recording *recording);
// The text of such a number.
const char *perfetto_name(const struct perfetto *p, uint64_t number);

// ---- packets
enum perfetto_event { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3 }; // TrackEvent.Type

// Opens an event; annotations and flows follow, then perfetto_event_close. `name` is the number of
// a name, or 0 and `text` says it.
struct perfetto_opened {
	size_t event;
};
struct perfetto_opened perfetto_event_open(struct perfetto *p, enum perfetto_event type,
                                           int64_t at_ns, uint64_t track,
                                           enum perfetto_category category, uint64_t name,
                                           const char *text);
void perfetto_note_number(struct perfetto *p, enum perfetto_note note, uint64_t value);
void perfetto_note_signed(struct perfetto *p, enum perfetto_note note, int64_t value);
void perfetto_note_real(struct perfetto *p, enum perfetto_note note, double value);
void perfetto_note_text(struct perfetto *p, enum perfetto_note note, const char *value);
// From where it was issued, where that is known.
void perfetto_note_site(struct perfetto *p, uint32_t stack);
void perfetto_flow(struct perfetto *p, uint64_t flow);
void perfetto_event_close(struct perfetto *p, struct perfetto_opened opened);
void perfetto_end(struct perfetto *p, int64_t at_ns, uint64_t track);

// An entry of interned data: the number that later packets give for the name.
void perfetto_entry(struct proto *proto, uint32_t field, uint64_t number, const char *name);
// A moment as a packet has it: never below 0.
uint64_t perfetto_moment(int64_t at_ns);
void perfetto_packet(struct perfetto *p); // writes what was put together
// False when the export shall end; p->status says why.
bool perfetto_step(struct perfetto *p, const char *what, uint64_t done, uint64_t total);

// ---- tracks
// Processes and threads of the view. Returns 0 or -ENOMEM.
int perfetto_tracks(struct perfetto *p);
// A track beside others of `parent` (0: none).
uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name);
// A lane's track, made when it is first used: "NAME", "NAME (2)", ...
uint64_t perfetto_lane(struct perfetto *p, struct lanes *lanes, uint32_t lane, uint64_t parent,
                       const char *name);

// ---- what is on them; each returns 0 or a negative errno
int perfetto_host(struct perfetto *p);
int perfetto_devices(struct perfetto *p);
// The flow from the call of a command to its execution.
static inline uint64_t perfetto_call_flow(size_t command)
{
	return command + 1;
}
