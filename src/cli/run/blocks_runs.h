// SPDX-License-Identifier: Apache-2.0
// The runs of a program with the layer that counts instructions in it.
#pragma once
#include "blocks/run.h"
#include "record/loader/driver.h"
#include "record/loader/layer.h"

struct tare_blocks_runs {
	char *const *arguments; // of the program, its name first; NULL-terminated
	struct tare_program program;
	struct tare_closure closure;
	struct tare_loader_choice loader;
	struct tare_drivers drivers; // of Level Zero
	struct tare_blocks_place place;
	bool several; // runs, each of which finds `input`
	struct tare_input input;
	struct tare_child_end end; // of the latest run
};

// Finds the program, the layer and what it loads, and makes the folder. `who` begins a sentence
// about standard input that can be read once only: "tare blocks"; NULL: it is run once. Returns an
// exit status, with a sentence unless it is TARE_EXIT_OK. Free in either case.
int tare_blocks_runs_begin(char *const *arguments, const char *who, struct tare_blocks_runs *runs,
                           struct tare_error *error);
// Runs the program to its end; run->arguments are those of `runs`. Returns an exit status of tare's
// own, not the program's.
int tare_blocks_runs_once(struct tare_blocks_runs *runs, struct tare_blocks_run run,
                          int64_t *wall_ns, struct tare_error *error);
// As `run` says in full, and apart from the others: its end is *end. 0 or a negative errno with a
// sentence.
int tare_blocks_runs_aside(struct tare_blocks_runs *runs, const struct tare_blocks_run *run,
                           struct tare_child_end *end, struct tare_error *error);
// Whether a run without counters, its kernels built with -g (`lines`) or as they are, ended as the
// counted one and so was of the same work. If not, *why says it: -ECANCELED.
bool tare_blocks_is_alike(const struct tare_child_end *counted, const struct tare_child_end *end,
                          bool lines, struct tare_error *why);
void tare_blocks_runs_free(struct tare_blocks_runs *runs);
