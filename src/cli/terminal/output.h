// SPDX-License-Identifier: Apache-2.0
// The files that --json, --csv and --html name. They are opened before measuring, so that one that
// cannot be written is found before the time is spent, and take their place only when complete.
#pragma once
#include "cli/options/option.h"

#include <stdio.h>

enum tare_format { TARE_FORMAT_JSON, TARE_FORMAT_CSV, TARE_FORMAT_HTML, TARE_FORMAT_COUNT };

struct tare_result;

struct tare_output {
	const char *path; // as the user wrote it; NULL: not asked for
	char *target;     // what the finished file is renamed to; NULL: written in place
	char *temporary;  // beside the target
	FILE *file;
};

struct tare_outputs {
	struct tare_output at[TARE_FORMAT_COUNT];
	const char *database; // written by others (cli/run/document_database.h); NULL: none
};

// One such file alone: opens what output->path names. Returns TARE_EXIT_OK or TARE_EXIT_FAILED with
// a sentence; tare_output_close in either case.
int tare_output_open(struct tare_output *output, struct tare_error *error);
// Flushes, so that a full disk shows, and puts the file in its place. Returns as the former.
int tare_output_finish(struct tare_output *output, struct tare_error *error);
// Closes and removes what was not put in place.
void tare_output_close(struct tare_output *output);

// Opens what the settings ask for but the database, whose place is none of theirs. Returns
// TARE_EXIT_OK, TARE_EXIT_USAGE (two outputs to one place) or TARE_EXIT_FAILED (cannot be written);
// then nothing is left behind.
int tare_outputs_open(const struct tare_settings *settings, struct tare_outputs *outputs,
                      struct tare_error *error);
// Writes the document everywhere and puts the files in place. Returns TARE_EXIT_OK or
// TARE_EXIT_FAILED; a file that failed leaves what was there before.
int tare_outputs_write(struct tare_outputs *outputs, const struct tare_result *result,
                       struct tare_error *error);
// The same for any other document that `write` can write in the formats that are asked for; it
// returns 0, -EIO for an error of the stream, or another negative errno with a sentence.
int tare_outputs_write_with(struct tare_outputs *outputs,
                            int (*write)(enum tare_format format, const void *document, FILE *file,
                                         struct tare_error *error),
                            const void *document, struct tare_error *error);
// Closes and removes what was not put in place. Call it in any case.
void tare_outputs_close(struct tare_outputs *outputs);

// True when one of them is standard output, so that the text report is not.
bool tare_outputs_take_stdout(const struct tare_outputs *outputs);
// "page: bandwidth.html   data: bandwidth.json", or nothing.
void tare_outputs_print_paths(const struct tare_outputs *outputs, FILE *file);

// Flushes and checks standard output. Returns TARE_EXIT_OK or TARE_EXIT_FAILED; without a
// sentence when the reader has gone away (a closed pipe).
int tare_stdout_finish(struct tare_error *error);
// Opens them and leaves nothing: a file that cannot be written is found before a program runs,
// which may look at its folder meanwhile. Returns an exit status.
int tare_outputs_check(const struct tare_settings *settings, struct tare_error *error);
