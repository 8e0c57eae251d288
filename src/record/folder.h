// SPDX-License-Identifier: Apache-2.0
// The folder of a trace: which one, whether it may be used, and what was there before.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Words at the beginning of record.json's `format`, by which a folder is known to be ours.
#define TARE_RECORD_FORMAT_NAME "tare.record/"
#define TARE_RECORD_FORMAT TARE_RECORD_FORMAT_NAME "1"
#define TARE_RECORD_FILE "record.json"
// What files of recorded processes end in.
#define TARE_RECORD_SUFFIX ".trace"
// Longest absolute path that the recorders take (src/guest/guest.h).
#define TARE_RECORD_PATH_BYTES 4000

enum tare_record_place {
	TARE_RECORD_AUTOMATIC, // where the folder is, unless that is a network file system
	TARE_RECORD_LOCALLY,   // in $TMPDIR or /tmp, moved at the end
};

// How a trace is claimed.
struct tare_record_claim {
	const char *output;  // as the user named it; NULL: PROGRAM.tare here
	const char *program; // as the user named it
	bool force;          // replace a trace that is there
	enum tare_record_place place;
};

struct tare_record_folder {
	char *path;         // as a person would type it: "app.tare"
	char *absolute;     // the same, from the root
	char *data;         // absolute: where the recorders write; `absolute`, or somewhere local
	const char *remote; // the network file system on which the folder is; NULL: none
	char job[160];      // what tells this parallel job from others; "": none
	bool joined;        // another rank of the same job made the folder and writes record.json
	bool made;          // the folder was not there before
	int directory;      // descriptor of the folder, locked until it is freed
	char *draft;        // record.json on its way, in the folder; NULL: none
	char **stale;       // files of the trace that is replaced
	size_t stale_count;
};

// Name of the network (or otherwise remote) file system of that statfs(2) type, NULL: none.
const char *tare_record_remote(unsigned long type);

// The folder's name for an output (NULL: none named) and a program: "app.tare", to free(). NULL
// with a sentence when there is none, -EINVAL or -ENOMEM in *error.
char *tare_record_folder_name(const char *output, const char *program, struct tare_error *error);

// Claims a folder: makes it, or takes an empty one, or with `force` one with a trace of ours, or
// joins one that another rank of the same parallel job has just made. Nothing that was there is
// changed yet. Returns 0 and *folder (to be freed), or a negative errno with a sentence: -EEXIST
// there is a trace or something else, -EBUSY another recording runs there, others from the file
// system. On failure nothing is left.
int tare_record_folder_claim(const struct tare_record_claim *claim,
                             struct tare_record_folder *folder, struct tare_error *error);

// Writes `text` as record.json: first beside it (draft), which shows that there is room and leave
// to write, then in its place (publish). Both return 0 or a negative errno with a sentence, then
// the former record.json is as it was.
int tare_record_folder_draft(struct tare_record_folder *folder, const char *text, size_t bytes,
                             struct tare_error *error);
int tare_record_folder_publish(struct tare_record_folder *folder, struct tare_error *error);

// The program runs: removes what is replaced and lets ranks of the same job join. The folder stays
// closed to all others until it is freed.
void tare_record_folder_begun(struct tare_record_folder *folder);
// The program could not be started: leaves everything as it was. To be freed as well.
void tare_record_folder_abandon(struct tare_record_folder *folder);

// Moves what was recorded locally into the folder. Returns 0, also when there is nothing to move,
// or a negative errno with a sentence that says where the files are.
int tare_record_folder_collect(struct tare_record_folder *folder, struct tare_error *error);

// Why a recorder could not make a file there, as a clause with the way out: no room on the disk, or
// a limit on the size of files. "" when nothing stands against it.
void tare_record_folder_obstacle(const char *folder, char *text, size_t size);

// Frees; what is in the file system stays. Accepts a zeroed folder.
void tare_record_folder_free(struct tare_record_folder *folder);

// Fills `text` with what tells the parallel job of this process (one of several ranks of Open MPI,
// MPICH or Slurm) from others: "" when it is none.
void tare_record_job(char *text, size_t size);
