// SPDX-License-Identifier: Apache-2.0
#include "record/again.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int tare_input_note(struct tare_input *input, const char *who, struct tare_error *error)
{
	struct stat status;

	input->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (input->at >= 0 || fstat(STDIN_FILENO, &status) < 0 || S_ISCHR(status.st_mode))
		return 0;
	return tare_fail(error, EINVAL,
	                 "%s runs the program several times, and its standard input can be "
	                 "read once only: give it a file, or </dev/null",
	                 who);
}

void tare_input_restore(const struct tare_input *input)
{
	if (input->at >= 0)
		lseek(STDIN_FILENO, input->at, SEEK_SET);
}

int tare_child_start_into(const char *path, char *const *arguments, char *const *environment,
                          struct tare_child *launch, bool *own, struct tare_error *error)
{
	int before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
	    into = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status = -EMFILE;

	*own = true;
	if (before >= 0 && into >= 0 && dup2(into, STDOUT_FILENO) >= 0) {
		status = tare_child_start(arguments, environment, launch, own, error);
		dup2(before, STDOUT_FILENO);
	} else {
		tare_fail(error, EMFILE, "no descriptors for %.200s", path);
	}
	if (before >= 0)
		close(before);
	if (into >= 0)
		close(into);
	return status;
}

int tare_child_start_silent(char *const *arguments, char *const *environment,
                            struct tare_child *launch, bool *own, struct tare_error *error)
{
	return tare_child_start_into("/dev/null", arguments, environment, launch, own, error);
}
