// SPDX-License-Identifier: Apache-2.0
// Copies that move nothing new: contents are not recorded, but the host cannot have changed bytes for
// which it had no time outside the API, at the rate that the recorder measured on it.
#include "analysis/findings_transfers.h"

#include "base/units.h"

#include <stdlib.h>

enum { WORTH_BYTES = 32768, FEWEST_DUPLICATES = 16, FEWEST_PING_PONGS = 8 };
#define REPEAT_SHARE 0.02
// The recorder measures how fast the host fills memory. The core may have been slower then than when
// the program had it.
#define MOST_FASTER 2

// The last copy of a place.
struct last_copy {
	uint32_t command;
	int64_t inside_ns;   // of its thread in calls until its own returned
};

struct repeats {
	struct judging *judging;
	int64_t *inside_ns;  // of each thread in calls so far
	size_t call;         // next to be counted
	struct tare_id_map place_of;
	struct last_copy *last;
	size_t last_count, last_room;
	struct finding_draft duplicates, ping_pongs;
	double duplicate_ns, ping_pong_ns, duplicate_bytes, ping_pong_bytes;
	uint64_t unmeasured; // repetitions of whose host's speed nothing is known
};

// Counts the calls that were entered before a time.
static void pass_calls(struct repeats *r, int64_t until_ns)
{
	const struct tare_recording *recording = r->judging->recording;
	for (; r->call < recording->call_count; r->call++) {
		const struct tare_recorded_call *call = &recording->calls[r->call];
		if (call->enter_ns >= until_ns)
			return;
		if ((call->flags & TARE_CALL_NESTED) || call->thread >= recording->thread_count)
			continue;
		r->inside_ns[call->thread] = tables_add(r->inside_ns[call->thread], call->inside_ns);
	}
}

static bool had_no_time(struct repeats *r, const struct last_copy *before,
                        const struct tare_recorded_command *now)
{
	const struct tare_recording *recording = r->judging->recording;
	const struct tare_recorded_command *then = &recording->commands[before->command];
	if (then->thread != now->thread)
		return false;
	uint64_t fill_bytes_s = recording->processes[recording->threads[now->thread].process].fill_bytes_s;
	if (!fill_bytes_s) {
		r->unmeasured++;
		return false;
	}
	int64_t inside_ns = r->inside_ns[now->thread] - before->inside_ns;
	int64_t outside_ns = tare_earlier_ns(tables_length(then->exit_ns, now->enter_ns), inside_ns);
	return (double)outside_ns < (double)now->amount * 1e9 / ((double)fill_bytes_s * MOST_FASTER);
}

static void compare(struct repeats *r, const struct last_copy *before, uint32_t at)
{
	const struct tare_recording *recording = r->judging->recording;
	const struct tare_recorded_command *then = &recording->commands[before->command];
	const struct tare_recorded_command *now = &recording->commands[at];
	int64_t ns = now->end_ns - now->start_ns, then_ns = then->end_ns - then->start_ns;
	if (now->kind != TARE_KIND_WRITE || !had_no_time(r, before, now))
		return;
	if (then->kind == TARE_KIND_WRITE) {
		r->duplicate_ns += (double)ns;
		r->duplicate_bytes += (double)now->amount;
		finding_claim(&r->duplicates, now->start_ns, now->end_ns);
		finding_saw_command(&r->duplicates, at, now->start_ns, now->end_ns, ns);
	} else {
		r->ping_pong_ns += (double)ns + (double)then_ns;
		r->ping_pong_bytes += (double)now->amount + (double)then->amount;
		finding_claim(&r->ping_pongs, then->start_ns, then->end_ns);
		finding_claim(&r->ping_pongs, now->start_ns, now->end_ns);
		finding_saw_command(&r->ping_pongs, at, now->start_ns, now->end_ns,
		                    tables_add(ns, then_ns));
	}
}

// Where images are copied to is not recorded.
static bool is_worth(const struct repeats *r, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = r->judging->recording;
	return finding_is_copy(r->judging, command) && command->amount >= WORTH_BYTES &&
	       command->object < recording->memory_count &&
	       recording->memories[command->object].kind != TARE_TRACE_MEMORY_IMAGE;
}

static int see(struct repeats *r, uint32_t at, uint32_t identity)
{
	const struct tare_recorded_command *command = &r->judging->recording->commands[at];
	uint64_t parts[3] = { command->object, command->amount, identity };
	uint64_t key = tare_hash_bytes(TARE_HASH_START, parts, sizeof parts);
	uint32_t number;
	if (tables_number(&r->place_of, key, &number) != 0)
		return -ENOMEM;
	struct last_copy now = { .command = at,
		                 .inside_ns = tables_add(r->inside_ns[command->thread],
		                                         tare_command_call_ns(command)) };
	if (number == r->last_count) {
		struct last_copy *added = TARE_ROOM_FOR(r->last, r->last_room, r->last_count);
		if (!added)
			return -ENOMEM;
		r->last_count++;
	} else {
		compare(r, &r->last[number], at);
	}
	r->last[number] = now;
	return 0;
}

static int walk(struct repeats *r)
{
	const struct tare_recording *recording = r->judging->recording;
	size_t place = 0;
	for (uint32_t i = 0; i < recording->command_count && place < recording->place_count; i++) {
		const struct tare_recorded_command *command = &recording->commands[i];
		bool placed = recording->places[place].command == i;
		uint32_t identity = recording->places[place].identity;
		if (placed)
			place++;
		if (command->thread >= recording->thread_count)
			continue;
		pass_calls(r, command->enter_ns);
		if (placed && is_worth(r, command) && see(r, i, identity))
			return -ENOMEM;
		r->inside_ns[command->thread] = tables_add(r->inside_ns[command->thread],
		                                           tare_command_call_ns(command));
	}
	return 0;
}

static int raise_duplicates(struct repeats *r)
{
	struct finding_draft *draft = &r->duplicates;
	char ns[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT];
	uint64_t count = draft->finding.occurrences;
	if (count < FEWEST_DUPLICATES || !finding_matters(r->judging, TARE_NO_INDEX, r->duplicate_ns, 2,
	                                                  count, 0, REPEAT_SHARE)) {
		finding_drop(draft);
		return 0;
	}
	tare_format_ns(r->duplicate_ns, ns);
	tare_format_bytes((uint64_t)r->duplicate_bytes, bytes);
	finding_title(draft, "%llu copies write the same host bytes to the same place again",
	              (unsigned long long)count);
	finding_evidence(draft, "%s in %s; between two of them the calling thread had no time to change the "
	                        "bytes, but contents are not recorded", bytes, ns);
	finding_advice(draft, "Write it once; where kernels overwrite it, keep a second buffer on the device "
	                      "and copy from that");
	finding_figure(draft, "copies", (double)count, "counted");
	finding_figure(draft, "bytes", r->duplicate_bytes, "counted");
	finding_cost(draft, 0, r->duplicate_ns, r->duplicate_ns);
	return finding_raise(draft);
}

static int raise_ping_pongs(struct repeats *r)
{
	struct finding_draft *draft = &r->ping_pongs;
	char ns[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT];
	uint64_t count = draft->finding.occurrences;
	if (count < FEWEST_PING_PONGS || !finding_matters(r->judging, TARE_NO_INDEX, r->ping_pong_ns, 4,
	                                                  2 * count, 0, REPEAT_SHARE)) {
		finding_drop(draft);
		return 0;
	}
	tare_format_ns(r->ping_pong_ns, ns);
	tare_format_bytes((uint64_t)r->ping_pong_bytes, bytes);
	finding_title(draft, "%llu times a buffer is read back and written again unchanged",
	              (unsigned long long)count);
	finding_evidence(draft, "%s there and back in %s; between the two the calling thread had no time to "
	                        "change the bytes, but contents are not recorded", bytes, ns);
	finding_advice(draft, "Leave the data on the device; read back only what the host needs");
	finding_figure(draft, "round_trips", (double)count, "counted");
	finding_figure(draft, "bytes", r->ping_pong_bytes, "counted");
	finding_cost(draft, 0, r->ping_pong_ns, r->ping_pong_ns);
	return finding_raise(draft);
}

int finding_repeats(struct judging *judging, struct tare_error *error)
{
	const struct tare_recording *recording = judging->recording;
	struct repeats r = { .judging = judging };
	(void)error;
	finding_begin(judging, &r.duplicates, "duplicate-transfers");
	finding_begin(judging, &r.ping_pongs, "ping-pong");
	r.inside_ns = calloc(recording->thread_count + 1, sizeof *r.inside_ns);
	int code = r.inside_ns ? walk(&r) : -ENOMEM;
	if (code)
		finding_drop(&r.duplicates);
	else
		code = raise_duplicates(&r);
	if (code)
		finding_drop(&r.ping_pongs);
	else
		code = raise_ping_pongs(&r);
	if (!code && r.unmeasured >= FEWEST_PING_PONGS)
		code = finding_unjudged(judging, "copies of the same host bytes to the same place: the recording "
		                                 "does not say how fast its host changes memory");
	tare_id_map_free(&r.place_of);
	free(r.last);
	free(r.inside_ns);
	return code;
}
