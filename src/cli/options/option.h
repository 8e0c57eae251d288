// SPDX-License-Identifier: Apache-2.0
// One table of commands and one of options. The parser, --help, the shell completions and the
// OPTIONS section of every man page are made from them, so that they cannot differ.
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

enum tare_command_id {
	TARE_COMMAND_DEVICES,
	TARE_COMMAND_LATENCY,
	TARE_COMMAND_BANDWIDTH,
	TARE_COMMAND_PEAK,
	TARE_COMMAND_MATMUL,
	TARE_COMMAND_OVERLAP,
	TARE_COMMAND_CHECKUP,
	TARE_COMMAND_RECORD,
	TARE_COMMAND_REPORT,
	TARE_COMMAND_RUN,
	TARE_COMMAND_EXPORT,
	TARE_COMMAND_RENDER,
	TARE_COMMAND_HELP,
	TARE_COMMAND_DESCRIBE,
	TARE_COMMAND_COUNT
};

struct tare_settings;

struct tare_command {
	const char *name;
	const char *operands; // "FILE.json", "" for none
	unsigned operands_min, operands_max;
	bool hidden;             // not listed in help and completions
	const char *summary;     // one line, without a full stop
	const char *description; // a paragraph for --help
	// Runs the command. Returns an enum tare_exit; with FAILED and USAGE the error holds the
	// sentence to print, or nothing when there is nothing to add.
	int (*run)(const struct tare_settings *settings, struct tare_error *error);
	int64_t budget_ns; // of measuring, where --budget does not say; 0: it measures nothing
};

enum tare_value {
	TARE_VALUE_NONE,
	TARE_VALUE_DEVICE,
	TARE_VALUE_OUTPUT, // a path to write, or "-"
	TARE_VALUE_SECONDS,
	TARE_VALUE_NUMBER,
	TARE_VALUE_SIZES,
	TARE_VALUE_TEXT,     // a const char *, checked by the command
	TARE_VALUE_FILE,     // a path to read
	TARE_VALUE_LIST,     // a struct tare_texts; the option may be repeated
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
	unsigned commands;      // bit (1 << enum tare_command_id) for each one that takes it
	const char *summary;    // one line, without a full stop
	const char *detail;     // further sentences for the man page; NULL for none
	size_t offset;          // the member of struct tare_settings that it sets
	int sets;               // NONE: the value it sets there
	enum tare_words words;  // TEXT: what it may be made of
};

extern const struct tare_command tare_commands[TARE_COMMAND_COUNT];
extern const struct tare_option tare_options[];
extern const size_t tare_option_count;

// What the command line said. Texts are the command line's own.
struct tare_settings {
	const struct tare_command *command;
	const char *device; // NULL: not said
	bool device_given;  // by the option, not by $TARE_DEVICE
	const char *ze_cpu; // a script, "" for none; NULL: not asked for
	const char *json, *csv, *html;
	int64_t budget_ns; // 0: not said
	uint64_t seed;
	bool seed_given;
	uint64_t from_bytes, to_bytes; // 0: not said
	const char *lines;             // NULL: all
	// of bandwidth, where the API lets one choose; NULL: not said
	const char *engine;
	const char *peaks;     // a file, "none", or NULL: the cache
	const char *n, *rungs; // of matmul
	const char *bytes, *cycles, *chunks, *queues, *breaks, *loop; // of overlap
	const char *kernel, *entry, *build_options, *item_bytes;
	struct tare_texts kernel_arguments;
	uint64_t align, group_size, groups; // 0: not said
	const char *output;                 // of record: the trace's folder
	int force, strict;                  // 1 when asked for
	uint64_t max_bytes;                 // of a recorded process's file; 0: not said
	const char *keep;                   // "newest", "oldest"
	const char *delay, *duration;       // of record, in seconds
	const char *process, *task;    // of report: a number or name; a pattern of kernels' names
	const char *from, *to;         // of report, in seconds or percent of the run
	const char *phase;             // of report: a pattern of phases' names
	uint64_t page_bytes;           // of report's page: most bytes of the timeline; 0: not said
	const char *perfetto, *sqlite; // of export: files
	int call_stacks, contents, calibrate, no_cupti; // of record, 1 when asked for
	const char *times; // of record: "all", "sampled", "none"; NULL: not said
	char **program;    // what follows `--`, NULL-terminated; NULL: nothing
	int verbosity;     // -1 with -q, 1 with -v
	int help, version; // 1 when asked for
	const char *operands[2];
	unsigned operand_count;
};

// Reads the command line, with $TARE_DEVICE as the default of --device. Returns TARE_EXIT_OK, or
// TARE_EXIT_USAGE with a sentence that names what is wrong and what was probably meant.
// *settings is valid either way; settings->command is NULL when no command was recognised.
int tare_settings_parse(int argument_count, char **arguments, struct tare_settings *settings,
                        struct tare_error *error);

// True when `option` belongs to `command`.
bool tare_option_applies(const struct tare_option *option, const struct tare_command *command);
// The command of that name, or NULL.
const struct tare_command *tare_command_find(const char *name);

// The option's summary as `command` has it: with the command's own default where there is one.
// Returns text.
const char *tare_option_summary(const struct tare_option *option,
                                const struct tare_command *command, char *text, size_t size);

// Fills *error with a sentence and returns TARE_EXIT_USAGE.
int tare_usage(struct tare_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// What getopt_long answered (`found`, with its optind and optopt) to an option that it did not
// like, and a command that there is none of, in our words. Both return TARE_EXIT_USAGE.
int tare_option_refuse(int found, const struct tare_command *command, char **arguments,
                       struct tare_error *error);
int tare_command_refuse(const char *name, struct tare_error *error);

// What `tare help` and `tare COMMAND --help` print; command NULL: the overview.
void tare_help_write(const struct tare_command *command, FILE *file);
// The OPTIONS section of a command's man page in scdoc.
void tare_man_options_write(const struct tare_command *command, FILE *file);
// The completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for another shell.
int tare_completion_write(const char *shell, FILE *file);
