// SPDX-License-Identifier: Apache-2.0
#include "blocks/tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { NEWEST = 40, OLDEST = 11, LIMIT_S = 60, LOOK_NS = 2000000 };

bool tare_blocks_tool_is_there(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	while (path && *path) {
		size_t length = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
		if (length && access(file, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

bool tare_blocks_cuda_tool_find(const char *variable, const char *name,
                                char place[TARE_BLOCKS_TOOL_BYTES])
{
	const char *told = getenv(variable);
	char pattern[256];
	glob_t found;

	if ((told && told[0]) || tare_blocks_tool_is_there(name)) {
		snprintf(place, TARE_BLOCKS_TOOL_BYTES, "%s", told && told[0] ? told : name);
		return !told || !told[0] || access(place, X_OK) == 0;
	}
	snprintf(pattern, sizeof pattern, "/usr/local/cuda*/bin/%s", name);
	bool any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc;
	if (any)
		snprintf(place, TARE_BLOCKS_TOOL_BYTES, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return any;
}

static bool take(const char *clang, const char *translator, unsigned version,
                 struct tare_blocks_tools *tools)
{
	const char *own = getenv(TARE_BLOCKS_CLANG), *second = getenv(TARE_BLOCKS_TRANSLATOR);

	snprintf(tools->clang, sizeof tools->clang, "%s", own && own[0] ? own : clang);
	snprintf(tools->translator, sizeof tools->translator, "%s",
	         second && second[0] ? second : translator);
	tools->version = version;
	return tare_blocks_tool_is_there(tools->clang) &&
	       tare_blocks_tool_is_there(tools->translator);
}

int tare_blocks_tools_find(unsigned most, struct tare_blocks_tools *tools, struct tare_error *error)
{
	unsigned wanted = most ? most : 15;

	for (unsigned version = most && most < NEWEST ? most : NEWEST; version >= OLDEST;
	     version--) {
		char clang[32], translator[32];
		snprintf(clang, sizeof clang, "clang-%u", version);
		snprintf(translator, sizeof translator, "llvm-spirv-%u", version);
		if (take(clang, translator, version, tools))
			return 0;
	}
	if (take("clang", "llvm-spirv", 0, tools))
		return 0;
	return tare_advises(
	    error,
	    tare_fail(error, ENOENT,
	              "there is no clang with an llvm-spirv of the same version%s on PATH; install "
	              "clang-%u and llvm-spirv-%u, or name others in " TARE_BLOCKS_CLANG
	              " and " TARE_BLOCKS_TRANSLATOR,
	              most ? " that the OpenCL driver can read" : "", wanted, wanted));
}

// The line that a compiler's output is about: the first with "error", else the first; with the one
// behind it where it ends in a colon.
static void telling_line(const char *said, char *line, size_t size)
{
	FILE *file = fopen(said, "re");
	char text[512];
	bool found = false, goes_on = false;

	line[0] = '\0';
	while (file && (!found || goes_on) && fgets(text, sizeof text, file)) {
		text[strcspn(text, "\n")] = '\0';
		size_t used = strlen(line);
		if (goes_on) {
			snprintf(line + used, size - used, " %.190s", text + strspn(text, " "));
			break;
		}
		if (text[strspn(text, " ")] == '#') // of a stack
			continue;
		found = strstr(text, "rror") != NULL;
		if (text[0] && (found || !line[0]))
			snprintf(line, size, "%.190s", text);
		goes_on = line[0] && line[strlen(line) - 1] == ':';
	}
	if (file)
		fclose(file);
}

static int limit_s(void)
{
	const char *told = getenv(TARE_BLOCKS_TOOL_LIMIT);
	int limit = told ? atoi(told) : 0;

	return limit > 0 && limit < LIMIT_S ? limit : LIMIT_S;
}

// Waits for a process, at most so long; kills it then.
static int wait_for(pid_t child, int seconds, int *status)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };

	for (int64_t waited = 0; waited < (int64_t)seconds * 1000000000; waited += LOOK_NS) {
		pid_t ended = waitpid(child, status, WNOHANG);
		if (ended == child)
			return 0;
		if (ended < 0 && errno != EINTR)
			return -errno;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, status, 0);
	return -ETIMEDOUT;
}

// What the end of a program means; 0: it went well.
static int judge(const char *name, int status, const char *said, const char *crashed,
                 struct tare_error *error)
{
	char line[400];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return tare_fail(error, EIO,
		                 "%.60s crashed (signal %d) at what the program was built from%s",
		                 name, WTERMSIG(status), crashed);
	telling_line(said, line, sizeof line);
	if (!line[0])
		return tare_fail(error, EIO, "%.60s ended with status %d and said nothing", name,
		                 WEXITSTATUS(status));
	return tare_fail(error, EIO, "%.60s failed: %.380s", name, line);
}

// `crashed`: what a sentence about a crash ends in.
static int run(const char *folder, const char *const *arguments, const char *said,
               const char *crashed, struct tare_error *error)
{
	posix_spawn_file_actions_t actions;
	const char *slash = strrchr(arguments[0], '/');
	const char *name = slash ? slash + 1 : arguments[0];
	pid_t child;
	int status = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said,
	                                 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	if (folder)
		posix_spawn_file_actions_addchdir_np(&actions, folder);
	int code =
	    posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code)
		return tare_fail(error, code, "%.200s cannot be run: %s", arguments[0],
		                 strerror(code));
	code = wait_for(child, limit_s(), &status);
	if (code < 0)
		return tare_fail(error, -code, "%.200s did not end within %d s", arguments[0],
		                 limit_s());
	return judge(name, status, said, crashed, error);
}

int tare_blocks_tool_run(const char *const *arguments, const char *said, struct tare_error *error)
{
	return run(NULL, arguments, said, ", as llvm-spirv does at inline assembly", error);
}

int tare_blocks_tool_run_in(const char *folder, const char *const *arguments, const char *said,
                            struct tare_error *error)
{
	return run(folder, arguments, said, "", error);
}
