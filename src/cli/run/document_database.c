// SPDX-License-Identifier: Apache-2.0
#include "cli/run/document_database.h"

#include "cli/terminal/output.h"
#include "tare_config.h"

#include <errno.h>
#include <string.h>

// Opens the file; what is no file in a folder cannot be a database.
static int open_file(struct tare_output *output, struct tare_error *error)
{
	int status = tare_output_open(output, error);

	if (status != TARE_EXIT_OK || output->temporary)
		return status;
	tare_fail(error, EINVAL,
	          "--sqlite: %.200s is no file in a folder that can be written; name another",
	          output->path);
	return TARE_EXIT_FAILED;
}

int tare_database_check(const char *path, struct tare_error *error)
{
	struct tare_output output = { .path = path };

	if (!path)
		return TARE_EXIT_OK;
	if (!TARE_HAVE_SQLITE) {
		tare_fail(error, ENOSYS,
		          "--sqlite needs SQLite, and this tare was built without (libsqlite3)");
		return TARE_EXIT_FAILED;
	}
	if (strcmp(path, "-") == 0)
		return tare_usage(error, "--sqlite cannot go to standard output; name a file");
	int status = open_file(&output, error);
	tare_output_close(&output);
	return status;
}

int tare_database_write(const struct tare_export_document *document, const char *path,
                        struct tare_error *error)
{
	struct tare_output output = { .path = path };
	struct tare_export_counts counts;
	int status = open_file(&output, error);

	if (status == TARE_EXIT_OK &&
	    tare_export_document_sqlite(document, output.temporary, &counts, error) < 0) {
		tare_error_prefix(error, "cannot write %.200s", path);
		status = TARE_EXIT_FAILED;
	}
	if (status == TARE_EXIT_OK)
		status = tare_output_finish(&output, error);
	tare_output_close(&output);
	return status;
}
