// SPDX-License-Identifier: Apache-2.0
// Ranks of one parallel job that each run tare record.
#include "record/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *value(const char *name)
{
	const char *text = getenv(name);
	return text ? text : "";
}

// Letters, digits and a few signs: the text goes into JSON and is searched for there.
static void make_plain(char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            ".,:@_- ";

	for (; *text; text++)
		if (!strchr(plain, *text))
			*text = '_';
}

void tare_record_job(char *text, size_t size)
{
	// The number of ranks, then what names the job, by launcher.
	static const struct {
		const char *ranks, *name[2];
	} rows[] = {
		{ "OMPI_COMM_WORLD_SIZE", { "PMIX_NAMESPACE", "" } },
		{ "OMPI_COMM_WORLD_SIZE", { "OMPI_MCA_ess_base_jobid", "" } },
		{ "SLURM_STEP_NUM_TASKS", { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
	};

	text[0] = '\0';
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !text[0]; i++) {
		const char *const *name = rows[i].name;
		if (atoi(value(rows[i].ranks)) < 2 || !*value(name[0]) ||
		    (name[1][0] && !*value(name[1])))
			continue;
		snprintf(text, size, "%.80s%s%.40s", value(name[0]), name[1][0] ? "." : "",
		         name[1][0] ? value(name[1]) : "");
	}
	// Hydra names no job, but all its ranks of a machine have one parent.
	if (!text[0] && atoi(value("PMI_SIZE")) > 1) {
		char host[65] = "";
		gethostname(host, sizeof host - 1);
		snprintf(text, size, "hydra %ld %.64s", (long)getppid(), host);
	}
	make_plain(text);
}
