// SPDX-License-Identifier: Apache-2.0
// Tables of lines as DWARF 2 to 4 describe them (dwarfstd.org, "Line Number Information"). A module
// has one sequence a function, whose address is a relocation: libdw reads none for this machine.
#include "blocks/elf/elf.h"
#include "blocks/elf/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAST_VERSION = 2,
	MOST_VERSION = 4,
	WIDE = 4, // from this version on instructions may be several in a word
	MOST_ROWS = 1 << 22,
	MOST_FILES = 1 << 16,
	// standard opcodes
	COPY = 1,
	ADVANCE_PC,
	ADVANCE_LINE,
	SET_FILE,
	CONST_ADD_PC = 8,
	FIXED_ADVANCE_PC,
	// extended ones
	END_SEQUENCE = 1,
	SET_ADDRESS,
};

static const char *word(struct reader *reader)
{
	const char *begin = (const char *)reader->at;
	const uint8_t *end = memchr(reader->at, '\0', (size_t)(reader->end - reader->at));

	if (!end) {
		reader->failed = true;
		reader->at = reader->end;
		return "";
	}
	reader->at = end + 1;
	return begin;
}

// One unit's table.
struct unit {
	struct tare_elf_lines *table;
	const struct tare_elf_place *places;
	size_t place_count;
	uint64_t minimum;
	int64_t line_base;
	uint8_t line_range, opcode_base, lengths[256];
	size_t file_base; // in the module's list of its first file
	const char *directories[256];
	size_t directory_count;
};

static int add_file(struct unit *unit, const char *name, uint64_t directory)
{
	struct tare_elf_lines *table = unit->table;
	const char *before = name[0] != '/' && directory && directory < unit->directory_count
	                         ? unit->directories[directory]
	                         : NULL;
	char **files = realloc(table->files, (table->file_count + 1) * sizeof *files);

	if (!files)
		return -ENOMEM;
	table->files = files;
	if (asprintf(&files[table->file_count], "%s%s%s", before ? before : "", before ? "/" : "",
	             name) < 0)
		return -ENOMEM;
	table->file_count++;
	return 0;
}

static int read_names(struct unit *unit, struct reader *reader)
{
	unit->directory_count = 1;
	for (;;) {
		const char *name = word(reader);
		if (!name[0])
			break;
		if (unit->directory_count < sizeof unit->directories / sizeof *unit->directories)
			unit->directories[unit->directory_count++] = name;
	}
	unit->file_base = unit->table->file_count;
	for (;;) {
		const char *name = word(reader);
		if (!name[0] || unit->table->file_count == MOST_FILES)
			return 0;
		uint64_t directory = variable(reader, false);
		variable(reader, false);
		variable(reader, false);
		int status = add_file(unit, name, directory);
		if (status < 0)
			return status;
	}
}

// ---- the programme

struct state {
	uint64_t address, file, line;
	uint32_t section;
	size_t room;
};

static int add_row(struct unit *unit, struct state *state, bool ends)
{
	struct tare_elf_lines *table = unit->table;
	size_t files = table->file_count - unit->file_base;

	if (!state->section || table->row_count == MOST_ROWS)
		return 0;
	if (table->row_count == state->room) {
		size_t room = state->room ? 2 * state->room : 256;
		struct tare_elf_row *rows = realloc(table->rows, room * sizeof *rows);
		if (!rows)
			return -ENOMEM;
		table->rows = rows;
		state->room = room;
	}
	bool known = state->file >= 1 && state->file <= files && state->line <= UINT32_MAX;
	table->rows[table->row_count++] =
	    (struct tare_elf_row){ .section = state->section,
		                   .file =
		                       known ? (uint32_t)(unit->file_base + state->file - 1) : 0,
		                   .line = known ? (uint32_t)state->line : 0,
		                   .address = state->address,
		                   .ends = ends };
	return 0;
}

static void set_address(const struct unit *unit, struct state *state, uint64_t offset,
                        uint64_t value)
{
	state->address = value;
	state->section = 0;
	for (size_t i = 0; i < unit->place_count; i++)
		if (unit->places[i].offset == offset) {
			state->section = unit->places[i].section;
			state->address += unit->places[i].value;
		}
}

static void begin_sequence(struct state *state)
{
	state->address = state->section = 0;
	state->file = state->line = 1;
}

static int extended(struct unit *unit, struct reader *reader, struct state *state)
{
	uint64_t bytes = variable(reader, false);
	int status = 0;

	if (bytes == 0 || bytes > (size_t)(reader->end - reader->at)) {
		reader->failed = true;
		return 0;
	}
	const uint8_t *next = reader->at + bytes;
	uint64_t opcode = fixed(reader, 1);
	if (opcode == END_SEQUENCE) {
		status = add_row(unit, state, true);
		begin_sequence(state);
	} else if (opcode == SET_ADDRESS && bytes == 9) {
		uint64_t offset = (uint64_t)(reader->at - reader->start);
		set_address(unit, state, offset, fixed(reader, 8));
	}
	// NVIDIA's own say where a line was inlined: the innermost line is told.
	reader->at = next;
	return status;
}

static int standard(struct unit *unit, struct reader *reader, struct state *state, uint8_t opcode)
{
	switch (opcode) {
	case COPY:
		return add_row(unit, state, false);
	case ADVANCE_PC:
		state->address += variable(reader, false) * unit->minimum;
		return 0;
	case ADVANCE_LINE:
		state->line += variable(reader, true);
		return 0;
	case SET_FILE:
		state->file = variable(reader, false);
		return 0;
	case CONST_ADD_PC:
		state->address +=
		    (uint64_t)(255 - unit->opcode_base) / unit->line_range * unit->minimum;
		return 0;
	case FIXED_ADVANCE_PC:
		state->address += fixed(reader, 2);
		return 0;
	default:
		for (int i = 0; i < unit->lengths[opcode]; i++)
			variable(reader, false);
		return 0;
	}
}

static int run(struct unit *unit, struct reader *reader)
{
	struct state state = { .room = unit->table->row_count };
	int status = 0;

	begin_sequence(&state);
	while (status == 0 && !reader->failed && reader->at < reader->end) {
		uint8_t opcode = (uint8_t)fixed(reader, 1);
		if (opcode == 0) {
			status = extended(unit, reader, &state);
		} else if (opcode < unit->opcode_base) {
			status = standard(unit, reader, &state, opcode);
		} else {
			unsigned special = (unsigned)opcode - unit->opcode_base;
			state.address += special / unit->line_range * unit->minimum;
			state.line += (uint64_t)(unit->line_base + special % unit->line_range);
			status = add_row(unit, &state, false);
		}
	}
	return status;
}

// Its header, up to the programme. False: it cannot be read.
static bool read_header(struct unit *unit, struct reader *reader, uint64_t *names)
{
	uint64_t version = fixed(reader, 2), header = fixed(reader, 4);

	*names = 0;
	if (reader->failed || version < LEAST_VERSION || version > MOST_VERSION ||
	    header > (size_t)(reader->end - reader->at))
		return false;
	*names = header;
	unit->minimum = fixed(reader, 1);
	if (version >= WIDE)
		fixed(reader, 1);
	fixed(reader, 1);
	unit->line_base = (int8_t)fixed(reader, 1);
	unit->line_range = (uint8_t)fixed(reader, 1);
	unit->opcode_base = (uint8_t)fixed(reader, 1);
	for (int i = 1; i < unit->opcode_base; i++)
		unit->lengths[i] = (uint8_t)fixed(reader, 1);
	return !reader->failed && unit->line_range && unit->opcode_base;
}

int tare_elf_lines_table(struct tare_elf_lines *lines, const uint8_t *table, size_t bytes,
                         const struct tare_elf_place *places, size_t place_count)
{
	struct reader all = { table, table, table + bytes, false };
	int status = 0;

	while (status == 0 && all.end - all.at > 4) {
		uint64_t length = fixed(&all, 4), header;
		if (all.failed || length > (size_t)(all.end - all.at))
			break;
		struct reader reader = { table, all.at, all.at + length, false };
		struct unit unit = { .table = lines, .places = places, .place_count = place_count };
		all.at += length;
		if (!read_header(&unit, &reader, &header))
			continue;
		// `header` counts from behind its own field: 2 of the version, 4 of itself.
		const uint8_t *programme = all.at - length + 6 + header;
		status = read_names(&unit, &reader);
		if (status == 0 && !reader.failed && programme <= reader.end) {
			reader.at = programme;
			status = run(&unit, &reader);
		}
	}
	return status;
}
