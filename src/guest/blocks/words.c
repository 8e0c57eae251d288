// SPDX-License-Identifier: Apache-2.0
#include "guest/blocks/words.h"

#include <stdbool.h>
#include <string.h>

#define BEFORE "_Pragma(\""
#define BEHIND "\") "

static bool is_blank(char sign)
{
	return sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r';
}

static bool is_digit(char sign)
{
	return sign >= '0' && sign <= '9';
}

static bool is_letter(char sign)
{
	return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') || sign == '_';
}

// How long the word is at which a text begins, its quotes with it.
static size_t word_of(const char *text)
{
	char quote = '\0';
	size_t at = 0;

	for (; text[at] != '\0' && (quote != '\0' || !is_blank(text[at])); at++) {
		if (quote != '\0' ? text[at] == quote : text[at] == '"' || text[at] == '\'')
			quote = quote != '\0' ? '\0' : text[at];
		else if (text[at] == '\\' && text[at + 1] != '\0')
			at++;
	}
	return at;
}

static size_t blanks_of(const char *text)
{
	return strspn(text, " \t\n\r");
}

// ---- options

static bool begins(const char *text, size_t bytes, const char *with)
{
	size_t length = strlen(with);

	return bytes >= length && memcmp(text, with, length) == 0;
}

// What the source of a program in OpenCL C needs to compile: definitions, folders of headers, the
// version of the language.
static const char *const needed_opencl[] = { "-D",       "-U", "-I",         "-include",
	                                     "-cl-std=", "-x", "-spir-std=", "-cl-kernel-arg-info",
	                                     NULL };
// What decides how modules of Level Zero may be used.
static const char *const needed_level_zero[] = { "-ze-opt-greater-than-4GB-buffer-required",
	                                         "-ze-take-global-address",
	                                         "-library-compilation",
	                                         "-vc-codegen",
	                                         "-cmc",
	                                         NULL };

// Whether a word of the program's own stays; *next: and so does the one behind it.
static bool stays(enum blocks_api api, const char *word, size_t bytes, bool *next)
{
	const char *const *kept = api == BLOCKS_LEVEL_ZERO ? needed_level_zero : needed_opencl;
	bool needed = api == BLOCKS_OPENCL && word[0] != '-';

	for (; !needed && *kept != NULL; kept++)
		needed = begins(word, bytes, *kept);
	*next = api == BLOCKS_OPENCL && needed && bytes == 2 && word[0] == '-';
	*next |= needed && bytes == strlen("-include") && begins(word, bytes, "-include");
	return needed;
}

void blocks_words_compose(enum blocks_api api, const char *own, const char *set, size_t set_bytes,
                          char *text)
{
	size_t used = 0;
	bool next = false, more = false;

	while (*own != '\0') {
		own += blanks_of(own);
		size_t bytes = word_of(own);
		bool keeps = bytes != 0 && (next || stays(api, own, bytes, &more));
		if (keeps) {
			memcpy(text + used, own, bytes);
			used += bytes;
			text[used++] = ' ';
		}
		next = keeps && !next && more;
		own += bytes;
	}
	memcpy(text + used, set, set_bytes);
	text[used + set_bytes] = '\0';
}

// ---- pragmas

size_t blocks_words_options(const char *set)
{
	size_t at = blanks_of(set);

	while (set[at] != '\0' && set[at] != '#') {
		at += word_of(set + at);
		at += blanks_of(set + at);
	}
	return at;
}

// "#LINE" or "#NAME:LINE"; whether it is one.
static bool read_place(const char *word, size_t bytes, struct blocks_pragma *pragma)
{
	const char *at = word + 1, *end = word + bytes;

	if (bytes > 1 && is_letter(*at)) {
		pragma->name = at;
		while (at < end && (is_letter(*at) || is_digit(*at)))
			at++;
		pragma->name_bytes = (size_t)(at - pragma->name);
		if (at == end || *at++ != ':')
			return false;
	}
	for (; at < end && is_digit(*at) && pragma->line < UINT32_MAX / 16; at++)
		pragma->line = 10 * pragma->line + (uint32_t)(*at - '0');
	return at == end && pragma->line != 0;
}

int blocks_words_pragmas(const char *set, struct blocks_pragma pragmas[BLOCKS_MOST_PRAGMAS],
                         const char **wrong)
{
	const char *at = set + blocks_words_options(set);
	int count = 0;

	while (*at != '\0') {
		struct blocks_pragma pragma = { .line = 0 };
		size_t bytes = word_of(at);
		*wrong = at;
		if (count == BLOCKS_MOST_PRAGMAS || !read_place(at, bytes, &pragma))
			return -1;
		at += bytes;
		at += blanks_of(at);
		pragma.text = at;
		while (*at != '\0' && *at != '#') {
			// It is written between quotes.
			if (*at == '"' || *at == '\\' || *at == '\n')
				return -1;
			at++;
		}
		pragma.text_bytes = (size_t)(at - pragma.text);
		while (pragma.text_bytes != 0 && is_blank(pragma.text[pragma.text_bytes - 1]))
			pragma.text_bytes--;
		if (pragma.text_bytes == 0)
			return -1;
		pragmas[count++] = pragma;
	}
	return count;
}

// ---- sources

static bool is_word(const char *text, size_t bytes, const char *word, size_t length)
{
	return bytes == length && memcmp(text, word, length) == 0;
}

// Walks through a source, word by word.
enum { MOST_DO = 64 };
struct walk {
	const char *source;
	size_t at, bytes;
	uint32_t line;
	char before; // the sign before this word that is no blank
	int depth;   // of braces
	// Loops that begin with `do` and have not ended: their depths.
	int open[MOST_DO];
	unsigned open_count;
};

// Passes a comment or a literal that begins here; whether there was one.
static bool pass_other(struct walk *walk)
{
	const char *text = walk->source + walk->at;
	size_t left = walk->bytes - walk->at, length = 0;

	if (left >= 2 && text[0] == '/' && text[1] == '/') {
		const char *end = memchr(text, '\n', left);
		length = end != NULL ? (size_t)(end - text) : left;
	} else if (left >= 2 && text[0] == '/' && text[1] == '*') {
		for (length = 2; length < left && !(length > 3 && text[length - 2] == '*' &&
		                                    text[length - 1] == '/');)
			walk->line += text[length++] == '\n';
	} else if (text[0] == '"' || text[0] == '\'') {
		for (length = 1;
		     length < left && text[length] != text[0] && text[length] != '\n';) {
			bool pair = text[length] == '\\' && length + 1 < left;
			walk->line += pair && text[length + 1] == '\n';
			length += pair ? 2 : 1;
		}
		length += length < left && text[length] == text[0];
		length = length < left ? length : left;
	}
	walk->at += length;
	return length != 0;
}

// The next word, of letters and digits; 0: there is no other.
static size_t next_word(struct walk *walk)
{
	while (walk->at < walk->bytes) {
		char sign = walk->source[walk->at];
		if (is_letter(sign) || is_digit(sign)) {
			size_t end = walk->at;
			while (end < walk->bytes &&
			       (is_letter(walk->source[end]) || is_digit(walk->source[end])))
				end++;
			return end - walk->at;
		}
		if (pass_other(walk))
			continue;
		walk->line += sign == '\n';
		if (!is_blank(sign))
			walk->before = sign;
		walk->depth += (sign == '{') - (sign == '}');
		while (walk->open_count > 0 && walk->open[walk->open_count - 1] > walk->depth)
			walk->open_count--;
		walk->at++;
	}
	return 0;
}

static bool has_name(const struct blocks_pragma *pragma, const char *source, size_t bytes)
{
	struct walk walk = { .source = source, .bytes = bytes, .line = 1 };

	if (pragma->name_bytes == 0)
		return true;
	for (size_t word; (word = next_word(&walk)) != 0; walk.at += word)
		if (is_word(source + walk.at, word, pragma->name, pragma->name_bytes))
			return true;
	return false;
}

// The end of "do ... while ()" begins no loop: it stands behind a statement, at the depth of its
// `do`.
static bool is_loop(struct walk *walk, size_t bytes)
{
	const char *word = walk->source + walk->at;
	bool ends = walk->open_count > 0 && walk->open[walk->open_count - 1] == walk->depth &&
	            (walk->before == '}' || walk->before == ';');

	if (is_word(word, bytes, "do", 2) && walk->open_count < MOST_DO)
		walk->open[walk->open_count++] = walk->depth;
	else if (is_word(word, bytes, "while", 5) && ends)
		walk->open_count--;
	return is_word(word, bytes, "for", 3) || is_word(word, bytes, "do", 2) ||
	       (is_word(word, bytes, "while", 5) && !ends);
}

static size_t put(char *text, const char *what, size_t bytes)
{
	memcpy(text, what, bytes);
	return bytes;
}

size_t blocks_words_place(const struct blocks_pragma *pragmas, unsigned count, const char *source,
                          size_t bytes, char *text, uint64_t *placed)
{
	struct walk walk = { .source = source, .bytes = bytes, .line = 1 };
	uint64_t wanted = 0;
	size_t used = 0, copied = 0;

	*placed = 0;
	for (unsigned i = 0; i < count; i++)
		wanted |= (uint64_t)has_name(&pragmas[i], source, bytes) << i;
	for (size_t word; (word = next_word(&walk)) != 0; walk.at += word, walk.before = 'a') {
		if (!is_loop(&walk, word))
			continue;
		used += put(text + used, source + copied, walk.at - copied);
		copied = walk.at;
		for (unsigned i = 0; i < count; i++) {
			uint64_t bit = UINT64_C(1) << i;
			if (pragmas[i].line != walk.line || !(wanted & bit))
				continue;
			used += put(text + used, BEFORE, strlen(BEFORE));
			used += put(text + used, pragmas[i].text, pragmas[i].text_bytes);
			used += put(text + used, BEHIND, strlen(BEHIND));
			*placed |= bit;
			wanted &= ~bit;
		}
	}
	used += put(text + used, source + copied, bytes - copied);
	return used;
}

size_t blocks_words_room(const struct blocks_pragma *pragmas, unsigned count, size_t bytes)
{
	for (unsigned i = 0; i < count; i++)
		bytes += strlen(BEFORE) + pragmas[i].text_bytes + strlen(BEHIND);
	return bytes;
}
