// SPDX-License-Identifier: Apache-2.0
#include "trace/record.h"

// The highest values that this version knows.
enum {
	LAST_TYPE = TARE_TRACE_SAMPLING,
	LAST_API = TARE_TRACE_API_COUNT - 1,
	LAST_FACT = TARE_TRACE_FACT_COPY_ENGINES,
	LAST_OBJECT = TARE_OBJECT_GRAPH,
	LAST_MEMORY = TARE_TRACE_MEMORY_MAPPED,
	LAST_CHANGE = TARE_CHANGE_COUNTERS,
	LAST_DIRECTION = TARE_DIRECTION_HOST,
	LAST_UNTIMED = TARE_UNTIMED_NOT_ASKED,
	LAST_CLOCK = TARE_CLOCK_DEVICE,
	LAST_COUNTER = TARE_TRACE_COUNTER_STATE_MISC,
	ALL_STAMPS = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED | TARE_TRACE_STAMP_START |
	             TARE_TRACE_STAMP_END | TARE_TRACE_STAMP_ACTIVE,
	MOST_DEPENDENCIES = 6,
	STACK_FRAMES = 5,
};

static enum tare_trace_verdict sound_if(bool sound)
{
	return sound ? TARE_TRACE_SOUND : TARE_TRACE_FALSE;
}

// An enumerator that begins at `first`.
static enum tare_trace_verdict known(uint32_t value, uint32_t first, uint32_t last)
{
	if (value < first)
		return TARE_TRACE_FALSE;
	return value <= last ? TARE_TRACE_SOUND : TARE_TRACE_UNKNOWN;
}

// Of counters there are three ranges, and nothing between them.
static enum tare_trace_verdict known_counter(uint32_t counter)
{
	bool between = (counter > TARE_TRACE_COUNTER_L2_LOOKUP_SHARE &&
	                counter < TARE_TRACE_COUNTER_INST_ALU) ||
	               (counter > TARE_TRACE_COUNTER_COPIES_SHARED &&
	                counter < TARE_TRACE_COUNTER_STATE_SELECTED);

	return between ? TARE_TRACE_UNKNOWN : known(counter, 1, LAST_COUNTER);
}

// The worse of two.
static enum tare_trace_verdict both(enum tare_trace_verdict a, enum tare_trace_verdict b)
{
	return a > b ? a : b;
}

static enum tare_trace_verdict judge_string(const struct tare_trace_string *string)
{
	return sound_if(string->id > 0 && string->total <= TARE_TRACE_STRING_LIMIT &&
	                string->bytes <= sizeof string->text && string->offset <= string->total &&
	                string->bytes <= string->total - string->offset &&
	                (string->bytes > 0 || string->total == 0));
}

static enum tare_trace_verdict judge_object(const struct tare_trace_object *object, uint16_t kind)
{
	enum tare_trace_verdict verdict = known(kind, TARE_OBJECT_PLATFORM, LAST_OBJECT);

	if (kind == TARE_OBJECT_MEMORY)
		verdict = both(verdict, known(object->number, 0, LAST_MEMORY));
	return verdict;
}

// Whose handles they are.
static enum tare_trace_verdict judge_api(uint64_t head)
{
	return known(tare_trace_record_flags(head), 0, LAST_API);
}

static enum tare_trace_verdict judge_node(const union tare_trace_record *record)
{
	const struct tare_trace_node *node = &record->node;
	enum tare_trace_verdict values = both(known(node->kind, 1, TARE_KIND_KINDS - 1),
	                                      known(node->direction, 0, LAST_DIRECTION));

	values = both(values, known(node->memory, 0, LAST_MEMORY));
	return both(both(values, judge_api(record->head)), sound_if(node->id > 0));
}

static enum tare_trace_verdict judge_definition(const union tare_trace_record *record,
                                                uint16_t detail)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_STRING:
		return judge_string(&record->string);
	case TARE_TRACE_TRACK:
		return known(detail, TARE_TRACE_THREAD, TARE_TRACE_HELPER);
	case TARE_TRACE_FUNCTION:
		return both(known(record->function.role, 0, TARE_ROLE_COUNT - 1),
		            known(record->function.api, 0, LAST_API));
	case TARE_TRACE_OBJECT:
		return both(judge_object(&record->object, detail), judge_api(record->head));
	case TARE_TRACE_FACT:
		return both(known(detail, TARE_TRACE_FACT_VENDOR, LAST_FACT),
		            judge_api(record->head));
	case TARE_TRACE_SHAPE:
		return sound_if(record->shape.id > 0 && record->shape.dimensions >= 1 &&
		                record->shape.dimensions <= 3);
	case TARE_TRACE_CHANGE:
		return both(known(detail, TARE_CHANGE_PROFILING, LAST_CHANGE),
		            judge_api(record->head));
	case TARE_TRACE_STACK:
		return sound_if(record->stack.id > 0 && detail >= 1 && detail <= STACK_FRAMES &&
		                record->stack.offset + (uint64_t)detail <= record->stack.total);
	case TARE_TRACE_MODULE:
		return sound_if(record->module.from < record->module.to);
	case TARE_TRACE_NODE:
		return judge_node(record);
	default:
		return TARE_TRACE_UNKNOWN;
	}
}

static enum tare_trace_verdict judge_command(const struct tare_trace_command *command)
{
	enum tare_trace_verdict values = both(known(command->kind, 1, TARE_KIND_KINDS - 1),
	                                      known(command->direction, 0, LAST_DIRECTION));

	values = both(values, known(command->memory, 0, LAST_MEMORY));
	return both(values, sound_if(command->number > 0 &&
	                             command->enter <= UINT64_MAX - command->call_ticks));
}

static enum tare_trace_verdict judge_polled(const struct tare_trace_polled *polled)
{
	return sound_if(polled->first_enter <= polled->last_exit && polled->count > 0);
}

static enum tare_trace_verdict judge_pair(const struct tare_trace_clock_pair *pair, uint16_t clock)
{
	return both(known(clock, TARE_CLOCK_RAW, LAST_CLOCK),
	            sound_if(pair->before <= pair->after));
}

static enum tare_trace_verdict judge_counters(const uint16_t counter[4])
{
	enum tare_trace_verdict verdict = TARE_TRACE_SOUND;

	for (size_t i = 0; i < 4; i++)
		verdict = both(verdict, counter[i] ? known_counter(counter[i]) : TARE_TRACE_SOUND);
	return verdict;
}

static enum tare_trace_verdict judge_sampling(const struct tare_trace_sampling *sampling,
                                              uint16_t detail)
{
	enum tare_trace_verdict verdict =
	    both(known(detail, TARE_SAMPLING_PREPARED, TARE_SAMPLING_ENDED),
	         sound_if(sampling->from <= sampling->to));

	return detail == TARE_SAMPLING_ABSENT ? both(verdict, known_counter(sampling->code))
	                                      : verdict;
}

static enum tare_trace_verdict judge_counting(const struct tare_trace_counting *counting,
                                              uint16_t detail)
{
	enum tare_trace_verdict verdict =
	    both(known(detail, TARE_COUNTING_PREPARED, TARE_COUNTING_BEGUN),
	         sound_if(counting->from <= counting->to));

	if (detail == TARE_COUNTING_ABSENT)
		return both(verdict, known_counter(counting->code));
	if (detail == TARE_COUNTING_LEFT)
		return both(verdict, known(counting->code, TARE_LEFT_CAPTURED, TARE_LEFT_OWN));
	if (detail == TARE_COUNTING_LAUNCH || detail == TARE_COUNTING_BEGUN)
		return both(verdict, sound_if(counting->command_number > 0));
	return verdict;
}

// Of the device, its memory and its counters.
static enum tare_trace_verdict judge_device(const union tare_trace_record *record, uint16_t detail)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_PEER:
		return both(sound_if(record->peer.number > 0 &&
		                     record->peer.source != record->peer.destination),
		            judge_api(record->head));
	case TARE_TRACE_LINK:
		return both(both(known(detail, TARE_LINK_THROUGH_HOST, TARE_LINK_NVLINK),
		                 sound_if(record->link.first != record->link.second)),
		            judge_api(record->head));
	case TARE_TRACE_PAGES:
		return both(known(detail, TARE_PAGES_TO_DEVICE, TARE_PAGES_REMOTE_MAP),
		            sound_if(record->pages.start <= record->pages.end));
	case TARE_TRACE_SAMPLED:
		return both(sound_if(record->sampled.from <= record->sampled.to),
		            judge_counters(record->sampled.counter));
	case TARE_TRACE_SAMPLING:
		return judge_sampling(&record->sampling, detail);
	case TARE_TRACE_COUNTING:
		return judge_counting(&record->counting, detail);
	default:
		return TARE_TRACE_UNKNOWN;
	}
}

// What is said of commands that other records have told of.
static enum tare_trace_verdict judge_said(const union tare_trace_record *record, uint16_t detail)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_DEPENDS:
		return both(sound_if(detail >= 1 && detail <= MOST_DEPENDENCIES),
		            known(tare_trace_record_flags(record->head) >> TARE_DEPENDS_API_SHIFT,
		                  0, LAST_API));
	case TARE_TRACE_TIMES:
		return both(both(sound_if(record->times.command_number > 0),
		                 known(detail, 0, TARE_TIMES_OF_NODE)),
		            known(tare_trace_record_flags(record->head), 0, ALL_STAMPS));
	case TARE_TRACE_MORE_TIMES:
		return sound_if(detail >= 1 && detail <= TARE_MORE_TIMES_MOST);
	case TARE_TRACE_UNTIMED:
		return both(sound_if(record->untimed.command_number > 0),
		            known(detail, TARE_UNTIMED_REFUSED, LAST_UNTIMED));
	case TARE_TRACE_EXECUTE:
		return sound_if(record->execute.command_number > 0);
	case TARE_TRACE_TRANSFER:
		return sound_if(record->transfer.number > 0);
	case TARE_TRACE_DRAWN:
		return sound_if(record->drawn.number > 0 && record->drawn.chance > 0);
	case TARE_TRACE_PART:
		return sound_if(record->part.command_number > 0);
	case TARE_TRACE_CONTENTS:
		return both(known(detail, TARE_CONTENTS_WHOLE, TARE_CONTENTS_NO_ROW),
		            sound_if(record->contents.command_number > 0 &&
		                     record->contents.from <= record->contents.to));
	case TARE_TRACE_SITE:
		return sound_if(record->site.of > 0 && record->site.stack > 0);
	case TARE_TRACE_COUNTED:
		return both(sound_if(record->counted.command_number > 0),
		            judge_counters(record->counted.counter));
	default:
		return judge_device(record, detail);
	}
}

static enum tare_trace_verdict judge_event(const union tare_trace_record *record, uint16_t detail)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_CALL:
		return sound_if(record->call.enter <= record->call.exit);
	case TARE_TRACE_POLLED:
		return judge_polled(&record->polled);
	case TARE_TRACE_COMMAND:
		return judge_command(&record->command);
	case TARE_TRACE_CALL_END:
		return sound_if(record->call_end.number > 0);
	case TARE_TRACE_CALLBACK:
		return sound_if(record->callback.enter <= record->callback.exit);
	case TARE_TRACE_CPU_TIME:
		return known(detail, 0, 1);
	case TARE_TRACE_CLOCK_PAIR:
		return both(judge_pair(&record->clock_pair, detail), judge_api(record->head));
	case TARE_TRACE_PHASE:
		return known(detail, 0, 2);
	case TARE_TRACE_LOSS:
		return sound_if(record->loss.from <= record->loss.to);
	case TARE_TRACE_FORK:
		return TARE_TRACE_SOUND;
	case TARE_TRACE_ACTIVE:
		return known(detail, 0, 1);
	case TARE_TRACE_WITHIN:
		return sound_if(record->within.enter <= record->within.exit);
	case TARE_TRACE_LAUNCHES:
		return sound_if(detail >= 1 && detail <= TARE_LAUNCHES_MOST);
	case TARE_TRACE_VOID:
		return TARE_TRACE_SOUND;
	default:
		return judge_said(record, detail);
	}
}

// Records that are read from either kind of window.
static bool lies_anywhere(uint8_t type)
{
	return type == TARE_TRACE_CLOCK_PAIR || type == TARE_TRACE_VOID || type > LAST_TYPE;
}

enum tare_trace_verdict tare_trace_judge(const union tare_trace_record *record, bool definitions)
{
	uint8_t type = tare_trace_type(record->head);
	uint16_t detail = tare_trace_detail(record->head);

	if (type <= TARE_TRACE_WINDOW ||
	    (definitions != (type < TARE_TRACE_CALL) && !lies_anywhere(type)))
		return TARE_TRACE_FALSE;
	return type < TARE_TRACE_CALL ? judge_definition(record, detail)
	                              : judge_event(record, detail);
}
