// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/output.h"

#include "cli/terminal/signals.h"
#include "report/report.h"
#include "result/json.h"
#include "tare_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *option, *title;
} formats[TARE_FORMAT_COUNT] = {
	[TARE_FORMAT_JSON] = { "--json", "data" },
	[TARE_FORMAT_CSV] = { "--csv", "table" },
	[TARE_FORMAT_HTML] = { "--html", "page" },
};

static bool is_stdout(const struct tare_output *output)
{
	return output->path && strcmp(output->path, "-") == 0;
}

static int fail_path(struct tare_error *error, const char *path)
{
	tare_fail(error, errno, "cannot write %s: %s",
	          strcmp(path, "-") == 0 ? "to standard output" : path, strerror(errno));
	return TARE_EXIT_FAILED;
}

// Where the path leads: through links to an existing file, else itself. NULL: errno.
static char *resolve(const char *path)
{
	char *target = realpath(path, NULL);
	return target || errno != ENOENT ? target : strdup(path);
}

// "DIRECTORY/.tare-XXXXXX" beside `target`.
static char *temporary_name(const char *target)
{
	const char *slash = strrchr(target, '/');
	int length = slash ? (int)(slash - target) + 1 : 0;
	char *name = NULL;

	return asprintf(&name, "%.*s.tare-XXXXXX", length, target) < 0 ? NULL : name;
}

// Files get the permissions of the one they replace, or those of any new file.
static mode_t mode_for(bool exists, const struct stat *found)
{
	mode_t mask = umask(0);
	umask(mask);
	return exists ? found->st_mode & 0777 : 0666 & ~mask;
}

static int open_beside(struct tare_output *output, bool exists, const struct stat *found,
                       struct tare_error *error)
{
	int descriptor;

	output->temporary = temporary_name(output->target);
	if (!output->temporary)
		return fail_path(error, output->path);
	// Before it is there: a signal may come as soon as it is.
	tare_signals_remove_at_end(output->temporary);
	descriptor = mkostemp(output->temporary, O_CLOEXEC);
	if (descriptor < 0) {
		int code = errno;
		tare_signals_keep(output->temporary);
		free(output->temporary);
		output->temporary = NULL;
		// A file may be writable in a directory that is not; it is then written in place.
		if (exists && (code == EACCES || code == EPERM || code == EROFS)) {
			output->file = fopen(output->target, "r+e");
			if (output->file)
				return TARE_EXIT_OK;
		}
		errno = code;
		return fail_path(error, output->path);
	}
	fchmod(descriptor, mode_for(exists, found));
	output->file = fdopen(descriptor, "w");
	if (!output->file) {
		close(descriptor);
		return fail_path(error, output->path);
	}
	return TARE_EXIT_OK;
}

int tare_output_open(struct tare_output *output, struct tare_error *error)
{
	struct stat found;
	bool exists;

	if (is_stdout(output)) {
		output->file = stdout;
		return TARE_EXIT_OK;
	}
	output->target = resolve(output->path);
	if (!output->target)
		return fail_path(error, output->path);
	exists = stat(output->target, &found) == 0;
	if (exists && S_ISDIR(found.st_mode)) {
		errno = EISDIR;
		return fail_path(error, output->path);
	}
	if (exists && !S_ISREG(found.st_mode)) {
		// A device or a named pipe: there is nothing to put in its place.
		output->file = fopen(output->target, "we");
		return output->file ? TARE_EXIT_OK : fail_path(error, output->path);
	}
	if (exists && access(output->target, W_OK) != 0)
		return fail_path(error, output->path);
	return open_beside(output, exists, &found, error);
}

// Looks at the folder of a path; returns the name in it.
static const char *folder_of(const char *path, struct stat *found, bool *known)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	*known = folder && stat(folder, found) == 0;
	free(folder);
	return slash ? slash + 1 : path;
}

static bool same_place(const char *a, const char *b)
{
	struct stat first, second;
	bool found[2] = { stat(a, &first) == 0, stat(b, &second) == 0 };

	if (strcmp(a, b) == 0)
		return strcmp(a, "/dev/null") != 0;
	if (found[0] || found[1])
		return found[0] && found[1] && S_ISREG(first.st_mode) &&
		       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
	// Neither is there yet.
	return strcmp(folder_of(a, &first, &found[0]), folder_of(b, &second, &found[1])) == 0 &&
	       found[0] && found[1] && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static int check_distinct(const struct tare_outputs *outputs, struct tare_error *error)
{
	for (int i = 0; i < TARE_FORMAT_COUNT; i++)
		for (int j = i + 1; j <= TARE_FORMAT_COUNT; j++) {
			bool last = j == TARE_FORMAT_COUNT;
			const char *a = outputs->at[i].path,
			           *b = last ? outputs->database : outputs->at[j].path;
			if (a && b && same_place(a, b))
				return tare_usage(
				    error, "%s and %s would both write %s", formats[i].option,
				    last ? "--sqlite" : formats[j].option,
				    is_stdout(&outputs->at[i]) ? "standard output" : a);
		}
	return TARE_EXIT_OK;
}

// What this tare was built without is said before measuring, too.
static int check_built_in(const struct tare_settings *settings, struct tare_error *error)
{
	if (settings->page_bytes && !settings->html)
		return tare_usage(error, "--page-size is of the page: name one with --html FILE");
	if (settings->json && !TARE_HAVE_JSON)
		tare_fail(error, ENOSYS,
		          "--json needs JSON, and this tare was built without (jansson)");
	else if (settings->html && !TARE_HAVE_PAGE)
		tare_fail(error, ENOSYS,
		          "--html needs the page, and this tare was built without (jansson, "
		          "zlib and Chart.js)");
	else
		return TARE_EXIT_OK;
	return TARE_EXIT_FAILED;
}

int tare_outputs_open(const struct tare_settings *settings, struct tare_outputs *outputs,
                      struct tare_error *error)
{
	int status;

	*outputs = (struct tare_outputs){ 0 };
	outputs->at[TARE_FORMAT_JSON].path = settings->json;
	outputs->at[TARE_FORMAT_CSV].path = settings->csv;
	outputs->at[TARE_FORMAT_HTML].path = settings->html;
	outputs->database = settings->database;
	status = check_built_in(settings, error);
	if (status == TARE_EXIT_OK)
		status = check_distinct(outputs, error);
	for (int i = 0; status == TARE_EXIT_OK && i < TARE_FORMAT_COUNT; i++)
		if (outputs->at[i].path)
			status = tare_output_open(&outputs->at[i], error);
	if (status != TARE_EXIT_OK)
		tare_outputs_close(outputs);
	return status;
}

static int write_result(enum tare_format format, const void *document, FILE *file,
                        struct tare_error *error)
{
	const struct tare_result *result = document;

	switch (format) {
	case TARE_FORMAT_JSON:
		return tare_report_json(result, file, error);
	case TARE_FORMAT_CSV:
		return tare_report_csv(result, file, error);
	default:
		return tare_report_page(result, file, error);
	}
}

int tare_output_finish(struct tare_output *output, struct tare_error *error)
{
	FILE *file = output->file;
	int status = 0;

	if (file == stdout)
		return tare_stdout_finish(error);
	output->file = NULL;
	if (fflush(file) != 0 || ferror(file))
		status = -1;
	// Written in place: what was longer before must not stay behind.
	if (status == 0 && !output->temporary && ftello(file) > 0)
		(void)!ftruncate(fileno(file), ftello(file));
	if (fclose(file) != 0)
		status = -1;
	if (status == 0 && output->temporary) {
		status = rename(output->temporary, output->target);
		if (status == 0) {
			tare_signals_keep(output->temporary);
			free(output->temporary);
			output->temporary = NULL;
		}
	}
	return status == 0 ? TARE_EXIT_OK : fail_path(error, output->path);
}

int tare_outputs_write(struct tare_outputs *outputs, const struct tare_result *result,
                       struct tare_error *error)
{
	return tare_outputs_write_with(outputs, write_result, result, error);
}

int tare_outputs_write_with(struct tare_outputs *outputs,
                            int (*write)(enum tare_format format, const void *document, FILE *file,
                                         struct tare_error *error),
                            const void *document, struct tare_error *error)
{
	int worst = TARE_EXIT_OK;

	// One that fails does not keep the others from being written.
	for (int i = 0; i < TARE_FORMAT_COUNT; i++) {
		struct tare_output *output = &outputs->at[i];
		struct tare_error here = { 0 };
		int status = TARE_EXIT_OK;

		if (!output->file)
			continue;
		errno = 0;
		if (write(i, document, output->file, &here) < 0) {
			if ((here.code == -EIO || !here.message[0]) && errno == EPIPE &&
			    is_stdout(output)) {
				// who read has had enough
				here = (struct tare_error){ .code = -EPIPE };
			} else if (here.code == -EIO || !here.message[0]) {
				// The stream's own error says more than "input/output error".
				errno = errno ? errno : EIO;
				fail_path(&here, output->path);
			} else {
				tare_error_prefix(&here, "%s", output->path);
			}
			status = TARE_EXIT_FAILED;
		} else {
			status = tare_output_finish(output, &here);
		}
		if (status != TARE_EXIT_OK && worst == TARE_EXIT_OK) {
			worst = status;
			*error = here;
		}
	}
	return worst;
}

void tare_output_close(struct tare_output *output)
{
	if (output->file && output->file != stdout)
		fclose(output->file);
	if (output->temporary) {
		unlink(output->temporary);
		tare_signals_keep(output->temporary);
	}
	free(output->temporary);
	free(output->target);
	*output = (struct tare_output){ 0 };
}

void tare_outputs_close(struct tare_outputs *outputs)
{
	for (int i = 0; i < TARE_FORMAT_COUNT; i++)
		tare_output_close(&outputs->at[i]);
}

bool tare_outputs_take_stdout(const struct tare_outputs *outputs)
{
	for (int i = 0; i < TARE_FORMAT_COUNT; i++)
		if (is_stdout(&outputs->at[i]))
			return true;
	return false;
}

void tare_outputs_print_paths(const struct tare_outputs *outputs, FILE *file)
{
	static const enum tare_format order[] = { TARE_FORMAT_HTML, TARE_FORMAT_JSON,
		                                  TARE_FORMAT_CSV };
	const char *separator = "";

	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		const struct tare_output *output = &outputs->at[order[i]];
		if (!output->path || is_stdout(output))
			continue;
		fprintf(file, "%s%s: %s", separator, formats[order[i]].title, output->path);
		separator = "   ";
	}
	if (outputs->database)
		fprintf(file, "%sdatabase: %s", separator, outputs->database);
	if (separator[0] || outputs->database)
		fputc('\n', file);
}

int tare_stdout_finish(struct tare_error *error)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return TARE_EXIT_OK;
	if (errno == EPIPE) {
		*error = (struct tare_error){ .code = -EPIPE };
		return TARE_EXIT_FAILED;
	}
	errno = errno ? errno : EIO;
	return fail_path(error, "-");
}

int tare_outputs_check(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_outputs outputs;
	int status = tare_outputs_open(settings, &outputs, error);

	if (status == TARE_EXIT_OK)
		tare_outputs_close(&outputs);
	return status;
}
