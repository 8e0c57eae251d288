// SPDX-License-Identifier: Apache-2.0
#include "blocks/intel/listing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// More than any kernel has; a damaged listing ends here.
enum { MOST_BLOCKS = 1 << 16, MOST_FILES = 256 };

struct reading {
	struct tare_blocks_listing *listing;
	const char *text; // all of it
	uint32_t width;
	uint32_t block; // UINT32_MAX: none yet
	uint32_t file, line;
	bool failed;
};

// One more element behind `count` of an array that doubles, all zeros; NULL: no memory.
static void *grow(void *array, uint32_t count, size_t bytes)
{
	bool full = (count & (count - 1)) == 0;
	char *at = full ? realloc(array, (count ? 2 * (size_t)count : 1) * bytes) : array;

	if (at)
		memset(at + count * bytes, 0, bytes);
	return at;
}

#define ADD(reading, array, count, element)                                                        \
	do {                                                                                       \
		void *more = grow((array), (count), sizeof *(array));                              \
		if (!more) {                                                                       \
			(reading)->failed = true;                                                  \
			break;                                                                     \
		}                                                                                  \
		(array) = more;                                                                    \
		(array)[(count)++] = (element);                                                    \
	} while (0)

// ---- blocks

// The number behind "B" of "B012"; false: there is none.
static bool read_block(const char **at, uint32_t *number)
{
	char *end;

	if (**at != 'B' || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	unsigned long value = strtoul(*at + 1, &end, 10);
	*at = end;
	*number = (uint32_t)value;
	return value < MOST_BLOCKS;
}

static void know_block(struct reading *reading, uint32_t number)
{
	struct tare_blocks_listing *listing = reading->listing;

	while (listing->block_count <= number && !reading->failed)
		ADD(reading, listing->blocks, listing->block_count,
		    (struct tare_blocks_listing_block){ .successors = 0 });
}

// "// B005: ...  Succs:{B006, B005}" without its slashes; false: it is another remark.
static bool begin_block(struct reading *reading, const char *text, const char *end)
{
	struct tare_blocks_listing *listing = reading->listing;
	uint32_t number;

	if (!read_block(&text, &number) || *text != ':')
		return false;
	const char *at = strstr(text, "Succs:{");
	know_block(reading, number);
	if (reading->failed)
		return true;
	struct tare_blocks_listing_block *block = &listing->blocks[number];
	// A block is not told twice, and its line ends in this one.
	reading->failed = block->defined || !at || at >= end;
	block->defined = true;
	block->first_successor = listing->successor_count;
	reading->block = number;
	reading->line = 0;
	if (reading->failed)
		return true;
	for (at += strlen("Succs:{"); !reading->failed && at < end && *at != '}';) {
		uint32_t to;
		if (!read_block(&at, &to)) {
			reading->failed = true;
			break;
		}
		know_block(reading, to);
		ADD(reading, listing->successors, listing->successor_count, to);
		listing->blocks[number].successors++;
		at += strspn(at, ", ");
	}
	return true;
}

// ---- lines

static void name_file(struct reading *reading, const char *text, size_t length)
{
	struct tare_blocks_listing *listing = reading->listing;

	reading->line = 0;
	for (uint32_t i = 0; i < listing->file_count; i++)
		if (strlen(listing->files[i]) == length &&
		    memcmp(listing->files[i], text, length) == 0) {
			reading->file = i;
			return;
		}
	if (length >= TARE_BLOCKS_LISTING_FILE || listing->file_count == MOST_FILES) {
		reading->failed = true;
		return;
	}
	void *more = grow(listing->files, listing->file_count, sizeof *listing->files);
	reading->failed = !more;
	if (!more)
		return;
	listing->files = more;
	memcpy(listing->files[listing->file_count], text, length);
	reading->file = listing->file_count++;
}

static void read_remark(struct reading *reading, const char *text, const char *end)
{
	static const char file[] = "File: ", line[] = "Line ";

	text += strspn(text, " ");
	if (begin_block(reading, text, end))
		return;
	if (strncmp(text, file, strlen(file)) == 0)
		name_file(reading, text + strlen(file), (size_t)(end - text) - strlen(file));
	else if (strncmp(text, line, strlen(line)) == 0 && reading->listing->file_count)
		reading->line = (uint32_t)strtoul(text + strlen(line), NULL, 10);
}

// ---- instructions

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

// The lanes of "(16|M0)", the first of an instruction; all of a thread's where it is one.
static uint64_t lanes_of(const struct reading *reading, const char *text, const char *end)
{
	for (const char *at = text; at < end; at++) {
		char *behind;
		if (*at != '(' || at[1] < '0' || at[1] > '9')
			continue;
		unsigned long lanes = strtoul(at + 1, &behind, 10);
		if (*behind == '|' && lanes <= 32)
			return lanes == 1 ? reading->width : lanes;
	}
	return 0;
}

// Whether a message moves the kernel's numbers: others are fences, barriers and ends.
static bool is_access(const char *text, const char *end)
{
	static const char *const others[] = { "gtwy", "fence", "EOT", "barrier" };

	if (!begins(text, "send") && !begins(text, "load") && !begins(text, "store") &&
	    !begins(text, "atomic"))
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const char *found = strstr(text, others[i]);
		if (found && found < end)
			return false;
	}
	return true;
}

// "load.ugm.d32x3.a32", or a remark "read with xyz".
static bool is_gathered(const char *text, const char *end)
{
	static const char with[] = " with x";
	const char *word = text + strcspn(text, " \n"), *remark = strstr(text, with);

	for (const char *at = text + 1; at + 1 < word; at++)
		if (*at == 'x' && at[1] >= '2' && at[1] <= '9' && at[-1] >= '0' && at[-1] <= '9')
			return true;
	return remark && remark < end && strchr("yzw", remark[strlen(with)]) &&
	       remark[strlen(with)];
}

// Operations of one lane on floating-point numbers, by the type of what is written (":f").
static uint64_t flops_of(const char *text, const char *end)
{
	uint64_t flops = begins(text, "mad ")                           ? 2
	                 : begins(text, "add ") || begins(text, "mul ") ? 1
	                                                                : 0;
	const char *type = flops ? strstr(text, ">:") : NULL;

	if (!type || type >= end)
		return 0;
	type += 2;
	return begins(type, "f ") || begins(type, "df ") || begins(type, "hf ") ? flops : 0;
}

// The piece of where we are.
static struct tare_blocks_listing_piece *piece_of(struct reading *reading)
{
	struct tare_blocks_listing *listing = reading->listing;
	const struct tare_blocks_listing_piece here = { .block = reading->block,
		                                        .file = reading->file,
		                                        .line = reading->line };

	for (uint32_t i = listing->piece_count; i-- > 0;) {
		struct tare_blocks_listing_piece *piece = &listing->pieces[i];
		if (piece->block != here.block)
			break;
		if (piece->line == here.line && (piece->file == here.file || !here.line))
			return piece;
	}
	ADD(reading, listing->pieces, listing->piece_count, here);
	return reading->failed ? NULL : &listing->pieces[listing->piece_count - 1];
}

// "(f0.0)", "(W&f1.0)"
static bool is_flagged(const char *line, const char *end)
{
	const char *at = line + strspn(line, " \t");
	const char *close = at < end && *at == '(' ? at + strcspn(at, ")\n") : at;

	for (; at + 1 < close; at++)
		if (*at == 'f' && isdigit((unsigned char)at[1]))
			return true;
	return false;
}

static void read_instruction(struct reading *reading, const char *line, const char *end)
{
	const char *text = tare_blocks_mnemonic(line, end);

	if (!text)
		return;
	if (reading->block == UINT32_MAX) {
		reading->failed = true;
		return;
	}
	struct tare_blocks_listing_piece *piece = piece_of(reading);
	if (!piece)
		return;
	uint64_t lanes = lanes_of(reading, text, end);
	piece->mix[tare_blocks_isa_of(text)]++;
	if (is_access(text, end)) {
		piece->accesses += lanes;
		piece->gathered |= is_gathered(text, end);
	}
	piece->flops += flops_of(text, end) * lanes;
	piece->flagged |=
	    is_flagged(line, end) && (is_access(text, end) || flops_of(text, end) != 0);
	const char *first = line + strspn(line, " \t");
	while (end > first && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	const struct tare_blocks_listing_code code = {
		.piece = (uint32_t)(piece - reading->listing->pieces),
		.at = (size_t)(first - reading->text),
		.length = (size_t)(end - first),
	};
	ADD(reading, reading->listing->code, reading->listing->code_count, code);
	reading->listing->calls |= begins(text, "call") || begins(text, "ret ");
}

static void read_line(struct reading *reading, const char *line, const char *end)
{
	static const char kernel[] = "//.kernel ";
	struct tare_blocks_listing *listing = reading->listing;
	size_t length = (size_t)(end - line);

	if (begins(line, kernel)) {
		length -= strlen(kernel);
		length = length < sizeof listing->kernel ? length : sizeof listing->kernel - 1;
		memcpy(listing->kernel, line + strlen(kernel), length);
		listing->kernel[length] = '\0';
	} else if (length > 3 && begins(line, "// ")) {
		read_remark(reading, line + 3, end);
	} else {
		read_instruction(reading, line, end);
	}
}

// Gives an instruction an end. Of the blanks between its words two are left.
static void end_code(char *text, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		bool blank = text[i] == ' ' || text[i] == '\t';
		if (!blank || used < 2 || text[used - 1] != ' ' || text[used - 2] != ' ')
			text[used++] = blank ? ' ' : text[i];
	}
	text[used] = '\0';
}

bool tare_blocks_listing_read(const char *text, uint32_t width, struct tare_blocks_listing *listing)
{
	struct reading reading = {
		.listing = listing, .text = text, .width = width, .block = UINT32_MAX
	};

	*listing = (struct tare_blocks_listing){ .text = strdup(text) };
	reading.failed = !listing->text;
	while (*text && !reading.failed) {
		size_t length = strcspn(text, "\n");
		read_line(&reading, text, text + length);
		text += length + (text[length] == '\n');
	}
	for (uint32_t i = 0; !reading.failed && i < listing->block_count; i++)
		reading.failed = !listing->blocks[i].defined;
	for (uint32_t i = 0; listing->text && i < listing->code_count; i++)
		end_code(listing->text + listing->code[i].at, listing->code[i].length);
	return !reading.failed && listing->kernel[0] && listing->block_count > 0;
}

void tare_blocks_listing_free(struct tare_blocks_listing *listing)
{
	free(listing->files);
	free(listing->pieces);
	free(listing->blocks);
	free(listing->successors);
	free(listing->text);
	free(listing->code);
	*listing = (struct tare_blocks_listing){ .block_count = 0 };
}
