// SPDX-License-Identifier: Apache-2.0
// Commands and their options, each declared in its command's file. The parser, --help, the shell
// completions and the OPTIONS section of every man page are made from that, so that they cannot
// differ.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Exit status of the program.
enum tare_exit {
	TARE_EXIT_OK = 0,
	TARE_EXIT_FAILED = 1,
	TARE_EXIT_USAGE = 2,
	// Of record, whose status is otherwise the program's: as env(1) has them.
	TARE_EXIT_RECORD = 125, // tare itself failed, or the command line is wrong
	TARE_EXIT_NOT_EXECUTABLE = 126,
	TARE_EXIT_NOT_FOUND = 127,
	TARE_EXIT_INTERRUPTED = 130,
};

// What stands behind a command's options.
enum tare_operand {
	TARE_OPERAND_NONE,
	TARE_OPERAND_PROGRAM, // behind --, with options of its own
	TARE_OPERAND_TRACE,
	TARE_OPERAND_RESULT,
	TARE_OPERAND_COMMAND,
	TARE_OPERAND_WORD,
};

struct tare_settings;

struct tare_option_group;
#define TARE_OPTION_GROUPS 12

struct tare_command {
	const char *name;
	const char *operands; // "FILE.json", "" for none
	enum tare_operand operand;
	unsigned operands_min, operands_max;
	bool hidden;             // not listed in help and completions
	bool one_device;         // measures one at a time, not --device all
	const char *summary;     // one line, without a full stop
	const char *description; // a paragraph for --help
	// Runs the command. Returns an enum tare_exit; with FAILED and USAGE the error holds the
	// sentence to print, or nothing when there is nothing to add.
	int (*run)(const struct tare_settings *settings, struct tare_error *error);
	int64_t budget_ns; // of measuring, where --budget does not say; 0: it measures nothing
	// Its options in the order of --help; ends with NULL.
	const struct tare_option_group *options[TARE_OPTION_GROUPS];
};

enum tare_value {
	TARE_VALUE_NONE,
	TARE_VALUE_DEVICE,
	TARE_VALUE_OUTPUT, // a path to write, or "-"
	TARE_VALUE_SECONDS,
	TARE_VALUE_NUMBER,
	TARE_VALUE_SIZES, // a struct tare_byte_range
	TARE_VALUE_TEXT,  // a const char *, checked by the command
	TARE_VALUE_FILE,  // a path to read
	TARE_VALUE_LIST,  // a struct tare_texts; the option may be repeated
	// the same, of texts that may be empty or begin with '-'; words behind the first belong to
	// it, up to a long option, a letter of the command's own or "--"
	TARE_VALUE_WORDS,
	TARE_VALUE_COUNT,    // a uint64_t
	TARE_VALUE_BYTES,    // a uint64_t, written as a size: 64M
	TARE_VALUE_OPTIONAL, // a path to read behind '=', or nothing: then a const char * to ""
};

// What words a TEXT may be made of (cli/options/words.h).
enum tare_words {
	TARE_WORDS_ANY,
	TARE_WORDS_LINES,  // of bandwidth, and their groups; a list
	TARE_WORDS_RUNGS,  // of matmul; a list
	TARE_WORDS_BREAKS, // of overlap; a list
	TARE_WORDS_LOOPS,  // of overlap
	TARE_WORDS_PEAKS,  // "none", or a file
	TARE_WORDS_KEEP,   // of record
	TARE_WORDS_TIMES,  // of record
};

// The values of an option that may be repeated.
#define TARE_TEXTS 16
struct tare_texts {
	const char *at[TARE_TEXTS];
	size_t count;
};

struct tare_option {
	const char *name; // long name
	char letter;      // 0: none
	enum tare_value value;
	const char *value_name; // "FILE"
	const char *summary;    // one line, without a full stop
	const char *detail;     // further sentences for the man page; NULL for none
	size_t offset;          // what it sets: TARE_SETTING, TARE_OWN_SETTING
	int sets;               // NONE: the value it sets there
	enum tare_words words;  // TEXT: what it may be made of
};

// Options that belong together: those of one command alone, in its file, or of several
// (cli/options/groups.h).
struct tare_option_group {
	const struct tare_option *at;
	size_t count;
};
#define TARE_OPTION_GROUP(rows) { rows, sizeof(rows) / sizeof *(rows) }

struct tare_byte_range {
	uint64_t from, to; // 0: not said
};

// Of what records, 1 when asked for.
struct tare_record_settings {
	const char *output; // the trace's folder
	int strict, call_stacks, contents, calibrate, no_cupti;
	uint64_t max_bytes;           // of a recorded process's file; 0: not said
	const char *keep;             // "newest", "oldest"
	const char *times;            // "all", "sampled", "none"; NULL: not said
	const char *delay, *duration; // in seconds
	const char *count; // what to count, of hotspots' second run (guest/environment.h)
};

#define TARE_OWN_SETTINGS 256
// What the command line said. Texts are the command line's own.
struct tare_settings {
	const struct tare_command *command;
	const char *device; // NULL: not said
	bool device_given;  // by the option, not by $TARE_DEVICE
	const char *ze_cpu; // a script, "" for none; NULL: not asked for
	const char *json, *csv, *html;
	const char *database; // of a command's own --sqlite; NULL: not asked for
	int64_t budget_ns;    // 0: not said
	uint64_t seed;
	bool seed_given;
	const char *engine; // of the queues, where the API lets one choose; NULL: not said
	const char *peaks;  // a file, "none", or NULL: the cache
	const char *kernel, *entry, *build_options; // of a kernel of the user's
	int force;                                  // 1 when asked for
	struct tare_record_settings record;
	const char *process, *task; // of a trace: a number or name; a pattern of kernels' names
	const char *from, *to;      // of a trace, in seconds or percent of the run
	const char *phase;          // of a trace: a pattern of phases' names
	uint64_t page_bytes;        // of report's page: most bytes of the timeline; 0: not said
	// What the command's own options set: a structure of its file.
	_Alignas(max_align_t) unsigned char own[TARE_OWN_SETTINGS];
	char **program;    // what follows `--`, NULL-terminated; NULL: nothing
	int verbosity;     // -1 with -q, 1 with -v
	int help, version; // 1 when asked for
	const char *operands[2];
	unsigned operand_count;
	const struct tare_command *const *commands; // all, ends with NULL
};

// Where an option puts its value: a member of struct tare_settings, or of the command's own.
#define TARE_SETTING(member) offsetof(struct tare_settings, member)
#define TARE_OWN_SETTING(type, member)                                                             \
	(sizeof(char[sizeof(type) <= TARE_OWN_SETTINGS ? 1 : -1]) - 1 +                            \
	 offsetof(struct tare_settings, own) + offsetof(type, member))

// Reads the command line, with $TARE_DEVICE as the default of --device. Returns TARE_EXIT_OK, or
// TARE_EXIT_USAGE with a sentence that names what is wrong and what was probably meant.
// *settings is valid either way; settings->command is NULL when no command was recognised.
int tare_settings_parse(const struct tare_command *const *commands, int argument_count,
                        char **arguments, struct tare_settings *settings, struct tare_error *error);

// The i-th option of a command, in the order of --help; NULL: it has no more.
const struct tare_option *tare_command_option(const struct tare_command *command, size_t i);
// The command of that name, or NULL.
const struct tare_command *tare_command_find(const struct tare_command *const *commands,
                                             const char *name);

// The option's summary as `command` has it: with the command's own default where there is one.
// Returns text.
const char *tare_option_summary(const struct tare_option *option,
                                const struct tare_command *command, char *text, size_t size);

// getopt gives the i-th option of a command this number and i.
#define TARE_LONG_OPTION 256

// Fills *error with a sentence and returns TARE_EXIT_USAGE.
int tare_usage(struct tare_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// What getopt_long answered (`found`, with its optind and optopt) to an option that it did not
// like, and a command that there is none of, in our words. Both return TARE_EXIT_USAGE.
int tare_option_refuse(int found, const struct tare_settings *settings, char **arguments,
                       struct tare_error *error);
int tare_command_refuse(const struct tare_command *const *commands, const char *name,
                        struct tare_error *error);

// What `tare help` and `tare COMMAND --help` print; command NULL: the overview.
void tare_help_write(const struct tare_command *const *commands, const struct tare_command *command,
                     FILE *file);
// The OPTIONS section of a command's man page in scdoc.
void tare_man_options_write(const struct tare_command *command, FILE *file);
