// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/device_kernels.h"

#include "backend/call.h"
#include "blocks/options/trials.h"
#include "cli/devices/device_select.h"
#include "cli/terminal/signals.h"
#include "measure/overlap/kernel_list.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINES 20

void tare_print_build_log(const char *log)
{
	const char *at = log;

	for (int line = 0; line < LOG_LINES && *at; line++) {
		size_t length = strcspn(at, "\n");
		for (size_t i = 0; i < length; i++)
			fputc((unsigned char)at[i] < ' ' && at[i] != '\t' ? '?' : at[i], stderr);
		fputc('\n', stderr);
		at += length + (at[length] == '\n');
	}
	if (*at)
		fprintf(stderr, "... (the log is longer)\n");
}

// ---- compilers that end the program

static struct {
	const char *command, *file; // file NULL: nothing is being built
	bool is_spirv;
} building;

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
#define CRASHES (sizeof crashes / sizeof *crashes)
static struct sigaction before[CRASHES];

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

// Called where a signal may have come: nothing but what is safe there.
static void say_what_ended(const char *how)
{
	put("tare: ");
	put(building.command);
	put(how);
	put(building.file);
	put(" was built; is the file damaged?");
	put(building.is_spirv ? " spirv-val tells\n" : "\n");
	tare_signals_clean_up();
	_exit(TARE_EXIT_FAILED);
}

static void crashed(int signal_number)
{
	(void)signal_number;
	say_what_ended(": a crash, most likely of the driver's compiler, while ");
}

static void ended(void)
{
	if (building.file)
		say_what_ended(": the driver's compiler ended the program while ");
}

void tare_build_guard(const struct tare_settings *settings, bool begins)
{
	static bool registered;
	enum tare_module_format format;
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_RESETHAND };

	if (!settings->kernel)
		return;
	if (!registered)
		registered = atexit(ended) == 0;
	building.command = settings->command->name;
	building.is_spirv = tare_user_kernel_format(settings->kernel, &format, NULL) == 0 &&
	                    format == TARE_MODULE_SPIRV;
	building.file = begins ? settings->kernel : NULL;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CRASHES; i++) {
		struct sigaction now;
		// Who has a handler (a sanitizer, ze-cpu) knows better.
		if (begins && sigaction(crashes[i], NULL, &before[i]) == 0 &&
		    before[i].sa_handler == SIG_DFL)
			sigaction(crashes[i], &action, NULL);
		else if (!begins && sigaction(crashes[i], NULL, &now) == 0 &&
		         now.sa_handler == crashed)
			sigaction(crashes[i], &before[i], NULL);
	}
}

// ----

int tare_device_kernels_check(const struct tare_settings *settings, const struct tare_texts *sets,
                              struct tare_error *error)
{
	enum tare_module_format format;

	for (size_t i = 0; i < sets->count; i++)
		if (tare_blocks_set_pragmas(sets->at[i])[0])
			return tare_usage(error,
			                  "--options: pragmas (\"%.60s\") are tried by tare blocks "
			                  "--options, on a program that runs",
			                  tare_blocks_set_pragmas(sets->at[i]));
	if (!settings->kernel && sets->count)
		return tare_usage(
		    error, "--options are of a kernel of yours; name its file with --kernel");
	if (!settings->kernel && (settings->entry || settings->build_options))
		return tare_usage(error,
		                  "--%s is about a kernel of yours; name its file with --kernel",
		                  settings->entry ? "entry" : "build-options");
	if (!settings->kernel)
		return TARE_EXIT_OK;
	if (tare_user_kernel_format(settings->kernel, &format, error) < 0)
		return TARE_EXIT_USAGE;
	if (format == TARE_MODULE_NATIVE && !settings->entry)
		return tare_usage(error, "say with --entry which kernel of %s to look at",
		                  settings->kernel);
	if (access(settings->kernel, R_OK) == 0)
		return TARE_EXIT_OK;
	tare_fail(error, errno, "cannot read the kernel's file %s: %s", settings->kernel,
	          strerror(errno));
	return TARE_EXIT_FAILED;
}

// Builds with --build-options and with each set behind them. What a set is refused for is in it;
// returns what tare_kernels_list does without a set.
static int build_sets(struct tare_device *device, struct tare_user_kernel kernel,
                      const struct tare_texts *sets, struct tare_kernel_list *list, char **log,
                      struct tare_error *error)
{
	const char *own = kernel.build_options ? kernel.build_options : "";
	int status = 0;

	for (size_t i = 0; status == 0 && sets->count && i <= sets->count; i++) {
		struct tare_error why = { 0 };
		char *options = NULL;
		if (asprintf(&options, "%s%s%s", own, i && own[0] ? " " : "",
		             i ? sets->at[i - 1] : "") < 0)
			return -ENOMEM;
		struct tare_kernel_set *set = tare_kernel_list_add_set(list, options);
		kernel.build_options = options;
		free(*log);
		*log = NULL;
		status = set ? tare_kernels_list(device, &kernel, list, log, &why) : -ENOMEM;
		if (status == -EINVAL && i > 0) {
			tare_set_string(&set->absent, why.message);
			if (*log)
				tare_print_build_log(*log);
			status = 0;
		} else if (status < 0) {
			*error = why;
		}
		free(options);
	}
	if (sets->count == 0)
		return tare_kernels_list(device, &kernel, list, log, error);
	tare_kernel_list_gather(list);
	return status;
}

// Builds for one device. Returns what tare_kernels_list does.
static int build(const struct tare_settings *settings, const struct tare_texts *sets,
                 const struct tare_device_entry *entry, char **log, struct tare_error *error)
{
	const struct tare_backend *backend = tare_backend_find(entry->backend);
	const struct tare_user_kernel kernel = { .file = settings->kernel,
		                                 .entry = settings->entry,
		                                 .build_options = settings->build_options };
	struct tare_driver *driver = NULL;
	struct tare_device *device = NULL;
	bool lost = false;
	int status = backend->driver_open(tare_device_script(settings->device), &driver, error);

	if (status == 0)
		status = backend->device_open(driver, entry->index, &device, error);
	tare_build_guard(settings, true);
	if (status == 0)
		status = build_sets(device, kernel, sets, entry->kernels, log, error);
	tare_build_guard(settings, false);
	if (device) {
		lost = device->lost;
		tare_device_close(device);
	}
	// What a lost device left behind still points into its driver.
	if (driver && !lost)
		backend->driver_close(driver);
	return status;
}

// The simulated device is never taken unasked.
static bool is_meant(const struct tare_settings *settings, const struct tare_device_entry *entry)
{
	return settings->device || strcmp(entry->backend, "simulated") != 0;
}

// Keeps the first error that matters most: one of building before "this API takes no such file".
static void keep(const struct tare_result *result, const struct tare_device_entry *entry,
                 int status, struct tare_error *why, int *worst, struct tare_error *error)
{
	if (*worst == 0 || (*worst == -ENOTSUP && status != -ENOTSUP)) {
		*worst = status;
		*error = *why;
		if (result->device_count > 1)
			tare_error_prefix(error, "%s:%u", entry->backend, entry->index);
	}
}

int tare_device_kernels(const struct tare_settings *settings, const struct tare_texts *sets,
                        struct tare_result *result, struct tare_error *error)
{
	size_t built = 0;
	int worst = 0;

	for (size_t i = 0; i < result->device_count; i++) {
		struct tare_device_entry *entry = &result->devices[i];
		struct tare_error why = { 0 };
		char *log = NULL;
		int status;
		if (!is_meant(settings, entry))
			continue;
		entry->kernels = tare_kernel_list_new(settings->kernel);
		status = entry->kernels ? build(settings, sets, entry, &log, &why) : -ENOMEM;
		if (log && (status < 0 || settings->verbosity > 0))
			tare_print_build_log(log);
		free(log);
		if (entry->kernels && status < 0 && status != -ENOMEM)
			tare_set_string(&entry->kernels->absent, why.message);
		if (status == -ENOMEM)
			tare_fail(&why, ENOMEM, "out of memory");
		if (status < 0)
			keep(result, entry, status, &why, &worst, error);
		built += status == 0;
	}
	if (worst == 0 && built == 0) {
		tare_fail(error, ENODEV,
		          "there is no device to build %s for; the reasons are above",
		          settings->kernel);
		return TARE_EXIT_FAILED;
	}
	if (worst == 0 || (worst == -ENOTSUP && built)) {
		*error = (struct tare_error){ 0 };
		return TARE_EXIT_OK;
	}
	return TARE_EXIT_FAILED;
}
