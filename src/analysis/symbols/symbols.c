// SPDX-License-Identifier: Apache-2.0
// Stacks share most of their addresses: what is at an address of a file is found once and kept.
#include "analysis/symbols/symbols.h"

#include "analysis/core/demangle.h"
#include "analysis/core/id_map.h"
#include "analysis/symbols/file.h"
#include "analysis/symbols/kind.h"
#include "base/path.h"
#include "base/room.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What is at one address of one file.
struct place {
	const struct tare_frame *frames; // the innermost first, at least one
	uint32_t count;
	enum symbols_kind kind;
	uint32_t file;
};

// A file as one module has it; those of the same path and build id share it. The last is that of
// addresses which are in none.
struct file {
	const char *path, *build_id;
	const char *executable; // of the process
	int64_t seen_realtime_s;
	enum symbols_kind kind;
	struct symbols_file *opened; // NULL: not yet
	struct tare_id_map places;   // by address
};

// What was found for a stack.
struct found_stack {
	const struct tare_frame *frames; // NULL: not yet
	const struct tare_frame *site;
	const char *text;
	uint32_t count;
	bool sited;
};

struct block {
	struct block *next;
	size_t used, room;
	max_align_t data[];
};

// All modules of a process lie in [from, to): they are loaded file by file.
struct module_range {
	uint32_t from, to;
};

struct tare_symbols {
	const struct tare_recording *recording;
	struct file *files;
	size_t file_count;
	uint32_t *file_of;               // by module
	struct module_range *modules_of; // by process
	struct place *places;
	size_t place_count, place_room;
	struct found_stack *stacks;
	struct block *blocks;
	enum symbols_state worst; // of the files of sites
	const char *problem;
};

// ---- memory

// Lives as long as `s`. NULL: no memory.
static void *keep(struct tare_symbols *s, size_t bytes)
{
	struct block *block = s->blocks;
	void *kept;

	bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!block || block->room - block->used < bytes) {
		size_t room = bytes > 65536 ? bytes : 65536;
		block = malloc(sizeof *block + room);
		if (!block)
			return NULL;
		*block = (struct block){ .next = s->blocks, .room = room };
		s->blocks = block;
	}
	kept = (char *)block->data + block->used;
	block->used += bytes;
	return kept;
}

static const char *keep_text(struct tare_symbols *s, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *kept = keep(s, bytes);

	return kept ? memcpy(kept, text, bytes) : "";
}

// ---- files

static uint64_t file_key(const char *path, const char *build_id)
{
	return tare_hash_text(tare_hash_text(TARE_HASH_START, path), build_id);
}

static int64_t realtime_s(const struct tare_recording *r, int64_t at_ns)
{
	if (r->start_realtime_ns <= 0)
		return 0;
	return (r->start_realtime_ns + (at_ns - r->start_ns)) / 1000000000;
}

static bool find_files(struct tare_symbols *s)
{
	const struct tare_recording *r = s->recording;
	struct tare_id_map by_content = { 0 };
	bool whole = true;

	for (size_t i = 0; whole && i < r->module_count; i++) {
		const struct tare_recorded_module *m = &r->modules[i];
		const char *executable =
		    m->process < r->process_count ? r->processes[m->process].executable : "";
		uint64_t key = file_key(m->path, m->build_id);
		uint32_t file = tare_id_map_find(&by_content, key);
		while (file != TARE_ID_ABSENT &&
		       (strcmp(s->files[file].path, m->path) != 0 ||
		        strcmp(s->files[file].build_id, m->build_id) != 0))
			file = tare_id_map_find(&by_content, ++key);
		if (file == TARE_ID_ABSENT) {
			file = (uint32_t)s->file_count++;
			s->files[file] =
			    (struct file){ .path = m->path,
				           .build_id = m->build_id,
				           .executable = executable ? executable : "",
				           .seen_realtime_s = realtime_s(r, m->seen_ns) };
			s->files[file].kind = symbols_kind_of(m->path, s->files[file].executable);
			whole = tare_id_map_put(&by_content, key, file);
		}
		s->file_of[i] = file;
	}
	s->files[s->file_count++] =
	    (struct file){ .path = "", .build_id = "", .executable = "", .kind = SYMBOLS_PLUMBING };
	tare_id_map_free(&by_content);
	return whole;
}

static void find_ranges(struct tare_symbols *s)
{
	for (uint32_t i = 0; i < s->recording->module_count; i++) {
		uint32_t process = s->recording->modules[i].process;
		struct module_range *range =
		    process < s->recording->process_count ? &s->modules_of[process] : NULL;
		if (range && range->to == 0)
			range->from = i;
		if (range)
			range->to = i + 1;
	}
}

// The module that had an address when a stack was defined: the latest of those, or the earliest.
static uint32_t module_at(const struct tare_symbols *s, const struct tare_recorded_stack *stack,
                          uint64_t address)
{
	const struct tare_recording *r = s->recording;
	struct module_range range = { 0, 0 };
	uint32_t found = TARE_NO_INDEX;
	bool in_time = false;

	if (stack->process < r->process_count)
		range = s->modules_of[stack->process];
	for (uint32_t i = range.from; i < range.to; i++) {
		const struct tare_recorded_module *m = &r->modules[i];
		bool then = m->seen_ns <= stack->seen_ns;
		if (m->process != stack->process || address < m->from || address >= m->to)
			continue;
		if (found == TARE_NO_INDEX || (then && !in_time) ||
		    (then && m->seen_ns >= r->modules[found].seen_ns) ||
		    (!then && !in_time && m->seen_ns < r->modules[found].seen_ns)) {
			found = i;
			in_time = then;
		}
	}
	return found;
}

// ---- addresses

static const char *demangled(struct tare_symbols *s, const char *name)
{
	char *plain = name ? tare_demangle(name) : NULL;
	const char *kept = plain ? keep_text(s, plain) : name;

	free(plain);
	return kept;
}

// What is at `address` of a file. NULL: no memory.
static const struct place *find_place(struct tare_symbols *s, uint32_t index, uint64_t address)
{
	struct file *file = &s->files[index];
	uint32_t known = tare_id_map_find(&file->places, address);
	struct symbols_found found[SYMBOLS_INLINED];
	struct tare_frame *frames;
	struct place *place;
	size_t count = 0;

	if (known != TARE_ID_ABSENT)
		return &s->places[known];
	if (*file->path && !file->opened)
		file->opened = symbols_file_open(file->path, file->build_id, file->seen_realtime_s);
	if (file->opened)
		count = symbols_file_find(file->opened, address, found);
	frames = keep(s, (count ? count : 1) * sizeof *frames);
	place = TARE_ROOM_FOR(s->places, s->place_room, s->place_count);
	if (!frames || !place || !tare_id_map_put(&file->places, address, (uint32_t)s->place_count))
		return NULL;
	frames[0] = (struct tare_frame){ .module = file->path, .address = address };
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct tare_frame){ .function = demangled(s, found[i].function),
			                         .file = found[i].source,
			                         .line = found[i].line,
			                         .module = file->path,
			                         .address = address,
			                         .inlined = found[i].inlined };
	*place = (struct place){ frames, (uint32_t)(count ? count : 1), file->kind, index };
	s->place_count++;
	return place;
}

// A line of a script; kept among the places that are in no file.
static const struct place *place_of_script(struct tare_symbols *s, uint64_t frame)
{
	const struct tare_recording *r = s->recording;
	struct file *none = &s->files[s->file_count - 1];
	uint32_t known = tare_id_map_find(&none->places, frame);
	const struct tare_recorded_script *script = &r->scripts[(uint32_t)frame];
	const char *name = strchr(script->text, '\n');
	struct tare_frame *found;
	struct place *place;
	char *file;

	if (known != TARE_ID_ABSENT)
		return &s->places[known];
	found = keep(s, sizeof *found);
	file = keep(s, strlen(script->text) + 1);
	place = TARE_ROOM_FOR(s->places, s->place_room, s->place_count);
	if (!found || !file || !place ||
	    !tare_id_map_put(&none->places, frame, (uint32_t)s->place_count))
		return NULL;
	strcpy(file, script->text);
	file[name ? name - script->text : 0] = '\0';
	*found = (struct tare_frame){
		.function = name && name[1] ? name + 1 : NULL,
		.file = *file ? file : NULL,
		.line = (int)script->line,
		.module = "",
	};
	*place =
	    (struct place){ found, 1, symbols_kind_of_script(file), (uint32_t)(s->file_count - 1) };
	s->place_count++;
	return place;
}

// What is at frame `i` of a stack, where its call is: the address before the one it returns to.
static const struct place *place_of_frame(struct tare_symbols *s,
                                          const struct tare_recorded_stack *stack, uint32_t i)
{
	const struct tare_recording *r = s->recording;
	uint64_t frame = r->frames[stack->first_frame + i], address = frame - 1;
	uint32_t module;

	if (frame & TARE_TRACE_FRAME_TEXT)
		return place_of_script(s, frame);
	module = module_at(s, stack, address);
	if (module == TARE_NO_INDEX)
		return find_place(s, (uint32_t)(s->file_count - 1), address);
	return find_place(s, s->file_of[module], address - r->modules[module].bias);
}

static const struct tare_recorded_stack *stack_at(const struct tare_symbols *s, uint32_t stack)
{
	return s && stack < s->recording->stack_count ? &s->recording->stacks[stack] : NULL;
}

size_t tare_symbols_frames(struct tare_symbols *s, uint32_t index, const struct tare_frame **frames)
{
	const struct tare_recorded_stack *stack = stack_at(s, index);
	struct found_stack *found = stack ? &s->stacks[index] : NULL;
	struct tare_frame *all;
	size_t count = 0, used = 0;

	*frames = found ? found->frames : NULL;
	if (!found || found->frames)
		return found ? found->count : 0;
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		const struct place *place = place_of_frame(s, stack, i);
		if (!place)
			return 0;
		count += place->count;
	}
	all = keep(s, (count + 1) * sizeof *all);
	for (uint32_t i = 0; all && i < stack->frame_count; i++) {
		const struct place *place = place_of_frame(s, stack, i);
		memcpy(all + used, place->frames, place->count * sizeof *all);
		used += place->count;
	}
	if (!all)
		return 0;
	*found =
	    (struct found_stack){ all, found->site, found->text, (uint32_t)count, found->sited };
	*frames = all;
	return count;
}

// ---- sites

static const char *const problems[] = {
	[SYMBOLS_NO_LINES] =
	    "%.*s has no debug information, so its lines are not known: build it with -g",
	[SYMBOLS_GONE] =
	    "%.*s is not there any more, so its call sites are addresses: report where it "
	    "is, or record again",
	[SYMBOLS_UNREADABLE] = "%.*s cannot be read, so its call sites are addresses",
	[SYMBOLS_REBUILT] =
	    "%.*s was rebuilt since it was recorded (its build id differs), so its call "
	    "sites are addresses: record again",
	[SYMBOLS_NO_READER] =
	    "call sites in %.*s are addresses, as tare was built without elfutils",
};

// Sites without their lines are explained by the worst that is wrong with their files.
static void judge_site(struct tare_symbols *s, const struct place *place)
{
	const struct file *file = &s->files[place->file];
	enum symbols_state state = file->opened ? symbols_file_state(file->opened) : SYMBOLS_FINE;
	const char *name;
	size_t length;
	char text[512];

	if (state <= s->worst || (place->kind > SYMBOLS_PROGRAM && state == SYMBOLS_NO_LINES))
		return;
	s->worst = state;
	length = symbols_short_name(file->path, &name);
	snprintf(text, sizeof text, problems[state], (int)(length < 200 ? length : 200), name);
	s->problem = keep_text(s, text);
}

// The innermost frame that is not only included.
static const struct tare_frame *frame_of_place(const struct place *place)
{
	for (uint32_t i = 0; i < place->count; i++)
		if (!place->frames[i].file || !symbols_is_included(place->frames[i].file))
			return &place->frames[i];
	return NULL;
}

static bool ends_in_script(const struct tare_symbols *s, const struct tare_recorded_stack *stack)
{
	return stack->frame_count &&
	       s->recording->frames[stack->first_frame + stack->frame_count - 1] &
	           TARE_TRACE_FRAME_TEXT;
}

const struct tare_frame *tare_symbols_site(struct tare_symbols *s, uint32_t index)
{
	const struct tare_recorded_stack *stack = stack_at(s, index);
	struct place chosen = { .kind = SYMBOLS_KINDS };
	enum symbols_kind best;
	struct found_stack *found;

	if (!stack || s->stacks[index].sited)
		return stack ? s->stacks[index].site : NULL;
	found = &s->stacks[index];
	found->sited = true;
	// Frames of scripts come last.
	best = ends_in_script(s, stack) ? SYMBOLS_SCRIPT : SYMBOLS_PROGRAM;
	for (uint32_t i = 0; i < stack->frame_count && chosen.kind > best; i++) {
		const struct place *place = place_of_frame(s, stack, i);
		const struct tare_frame *frame = place ? frame_of_place(place) : NULL;
		enum symbols_kind kind = place ? place->kind : SYMBOLS_KINDS;
		// A library of the program's own, with its lines, says more than the script.
		if (kind == SYMBOLS_PROGRAM && frame && frame->file)
			kind = best;
		if (!frame || kind >= chosen.kind)
			continue;
		found->site = frame;
		chosen = *place;
		chosen.kind = kind;
	}
	if (found->site)
		judge_site(s, &chosen);
	return found->site;
}

size_t tare_symbols_callers(struct tare_symbols *s, uint32_t index,
                            const struct tare_frame **frames)
{
	size_t count = tare_symbols_frames(s, index, frames), first = 0;
	const struct tare_recorded_stack *stack = stack_at(s, index);

	if (!count || !ends_in_script(s, stack))
		return count;
	while (first < count && (*(*frames)[first].module || !(*frames)[first].file))
		first++;
	*frames += first < count ? first : 0;
	return first < count ? count - first : count;
}

const char *tare_symbols_text(struct tare_symbols *s, uint32_t index)
{
	const struct tare_frame *site = tare_symbols_site(s, index);
	struct found_stack *found = site ? &s->stacks[index] : NULL;
	const char *name;
	size_t length;
	char text[512];

	if (!site)
		return "";
	if (found->text)
		return found->text;
	length = symbols_short_name(site->module, &name);
	if (site->file && site->line > 0)
		snprintf(text, sizeof text, "%.400s:%d", tare_path_name(site->file), site->line);
	else if (site->function && !length)
		snprintf(text, sizeof text, "%.300s", site->function);
	else if (site->function)
		snprintf(text, sizeof text, "%.300s (%.*s)", site->function,
		         (int)(length < 100 ? length : 100), name);
	else
		snprintf(text, sizeof text, "%.*s%s0x%" PRIx64, (int)(length < 400 ? length : 400),
		         name, length ? "+" : "", site->address);
	found->text = keep_text(s, text);
	return found->text;
}

const char *tare_symbols_problem(const struct tare_symbols *s)
{
	return s ? s->problem : NULL;
}

// ---- life

int tare_symbols_open(const struct tare_recording *recording, struct tare_symbols **symbols,
                      struct tare_error *error)
{
	struct tare_symbols *s = calloc(1, sizeof *s);

	*symbols = s;
	if (!s)
		return tare_fail(error, ENOMEM, "no memory for the call stacks");
	s->recording = recording;
	s->files = calloc(recording->module_count + 1, sizeof *s->files);
	s->file_of = calloc(recording->module_count + 1, sizeof *s->file_of);
	s->modules_of = calloc(recording->process_count + 1, sizeof *s->modules_of);
	s->stacks = calloc(recording->stack_count + 1, sizeof *s->stacks);
	if (s->files && s->file_of && s->modules_of && s->stacks && find_files(s)) {
		find_ranges(s);
		return 0;
	}
	tare_symbols_free(s);
	*symbols = NULL;
	return tare_fail(error, ENOMEM, "no memory for the call stacks");
}

void tare_symbols_free(struct tare_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->file_count; i++) {
		symbols_file_free(s->files[i].opened);
		tare_id_map_free(&s->files[i].places);
	}
	while (s->blocks) {
		struct block *next = s->blocks->next;
		free(s->blocks);
		s->blocks = next;
	}
	free(s->files);
	free(s->file_of);
	free(s->modules_of);
	free(s->stacks);
	free(s->places);
	free(s);
}
