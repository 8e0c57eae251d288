// SPDX-License-Identifier: Apache-2.0
// A thread reads the device's telemetry while samples are taken. Readings at rest (buffers are
// filled, results verified) do not count: the device has nothing to do then.
#include "measure/core/telemetry.h"

#include "backend/call.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A reading costs this share of the time at most, beside whatever lock it holds in the driver.
#define COST_SHARE 0.005
#define INTERVAL_NS INT64_C(50000000)
#define INTERVAL_MOST_NS INT64_C(1000000000)
// Nobody needs more, and a run of hours must not fill memory with them.
#define READINGS_MOST 100000
// Shares of readings below this are not worth a warning of a clock that moved.
#define MOVED_SHARE 0.05
// How long a thread may still be in the driver of a device that is lost.
#define LOST_WAIT_S 1

struct tare_watch {
	struct tare_run *run;
	pthread_t thread;
	bool threaded; // false: the simulated device, or no thread could be had
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool working, ending;
	size_t at_work; // readings when work began
	uint64_t spell; // counts the times that it began
	int64_t interval_ns;
	int64_t least_ns; // what the shortest reading took; 0: there was none
};

// Between readings that take `ns` each, so that they cost no more than their share.
static int64_t interval_for(int64_t ns)
{
	double needed_ns = (double)ns / COST_SHARE;

	return needed_ns > (double)INTERVAL_MOST_NS ? INTERVAL_MOST_NS
	       : needed_ns > (double)INTERVAL_NS    ? (int64_t)needed_ns
	                                            : INTERVAL_NS;
}

// Keeps a reading if samples were taken from before it until after it. Called with the lock held;
// lets go of it while the driver answers.
static void read_once(struct tare_watch *watch)
{
	struct tare_device *device = watch->run->device;
	struct tare_telemetry reading;
	struct tare_host_time before = tare_host_now();
	uint64_t spell = watch->spell;
	int64_t took_ns;
	int status;

	pthread_mutex_unlock(&watch->lock);
	status = tare_telemetry(device, &reading, NULL);
	pthread_mutex_lock(&watch->lock);
	took_ns = tare_host_elapsed_ns(before, tare_host_now());
	// By the shortest: a busy machine stops a reading now and then, at nobody's cost.
	if (watch->least_ns == 0 || took_ns < watch->least_ns)
		watch->least_ns = took_ns > 0 ? took_ns : 1;
	watch->interval_ns = interval_for(watch->least_ns);
	if (status < 0 || !watch->working || watch->spell != spell)
		return;
	if (watch->run->result->telemetry.count < READINGS_MOST)
		tare_result_add_reading(watch->run->result, &reading);
}

static struct timespec in_ns(int64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ns / 1000000000;
	at.tv_nsec += ns % 1000000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

static void *watch_thread(void *context)
{
	struct tare_watch *watch = context;

	pthread_mutex_lock(&watch->lock);
	while (!watch->ending) {
		struct timespec until;
		int status = 0;
		while (!watch->ending && !watch->working)
			pthread_cond_wait(&watch->wake, &watch->lock);
		until = in_ns(watch->interval_ns);
		while (!watch->ending && status == 0)
			status = pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
		if (!watch->ending && watch->working)
			read_once(watch);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

// The program's signals are the measuring thread's: it is the one that looks at them.
static bool start_thread(struct tare_watch *watch)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&watch->thread, NULL, watch_thread, watch) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static int init_locks(struct tare_watch *watch)
{
	pthread_condattr_t monotonic;

	if (pthread_condattr_init(&monotonic) != 0)
		return -ENOMEM;
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	if (pthread_mutex_init(&watch->lock, NULL) != 0) {
		pthread_condattr_destroy(&monotonic);
		return -ENOMEM;
	}
	if (pthread_cond_init(&watch->wake, &monotonic) != 0) {
		pthread_mutex_destroy(&watch->lock);
		pthread_condattr_destroy(&monotonic);
		return -ENOMEM;
	}
	pthread_condattr_destroy(&monotonic);
	return 0;
}

// Nothing to watch: the document says why, and where it matters what to do.
static void note_absence(struct tare_run *run, int status, const struct tare_error *why)
{
	struct tare_telemetry_section *section = &run->result->telemetry;

	section->present = true;
	if (section->count)
		return; // an earlier phase was watched
	tare_result_set_text(run->result, &section->absent, why->message);
	// An API that has no telemetry at all needs no advice.
	if (status == -ENOSYS || run->simulated)
		return;
	tare_result_warn_anew(run->result, "not-watched",
	                      "let the process reach the driver's management library and "
	                      "this device, or take the clocks as unknown",
	                      "clocks and throttling were not watched: %s", why->message);
}

int tare_telemetry_start(struct tare_run *run, struct tare_watch **out)
{
	struct tare_telemetry first;
	struct tare_error why = { 0 };
	struct tare_watch *watch;
	int status = tare_telemetry(run->device, &first, &why);

	*out = NULL;
	if (status == 0 && first.present == 0)
		status = tare_fail(&why, ENOTSUP, "the driver tells none of it for this device");
	if (status < 0) {
		note_absence(run, status, &why);
		return 0;
	}
	watch = calloc(1, sizeof *watch);
	if (!watch || init_locks(watch) < 0) {
		free(watch);
		return -ENOMEM;
	}
	watch->run = run;
	watch->interval_ns = INTERVAL_NS;
	run->result->telemetry.present = true;
	run->watch = *out = watch;
	// Virtual time stands still for what is not asked of it; a second thread would only make
	// the count of readings depend on this machine's.
	watch->threaded = !run->simulated && start_thread(watch);
	return 0;
}

void tare_telemetry_work(struct tare_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->working = true;
	watch->spell++;
	watch->at_work = watch->run->result->telemetry.count;
	pthread_cond_signal(&watch->wake);
	pthread_mutex_unlock(&watch->lock);
}

void tare_telemetry_rest(struct tare_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	if (!watch->run->device->lost && watch->run->result->telemetry.count == watch->at_work)
		read_once(watch);
	watch->working = false;
	pthread_mutex_unlock(&watch->lock);
}

// ---- what came of it

// "power cap in 12 % of the readings, thermal in 3 %"
static void list_slowing(const struct tare_telemetry_summary *summary,
                         enum tare_throttle_class class, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int r = 0; r < TARE_THROTTLE_COUNT && used < size; r++) {
		double share = summary->throttle_share[r];
		if (tare_throttle_class_of((enum tare_throttle)r) != class || !(share > 0))
			continue;
		used +=
		    (size_t)snprintf(text + used, size - used, "%s%s in %.0f %%%s",
		                     used ? ", " : "", tare_throttle_name((enum tare_throttle)r),
		                     fmax(1, 100 * share), used ? "" : " of the readings");
	}
}

static const char *advice_for(const struct tare_telemetry_summary *summary)
{
	const double *share = summary->throttle_share;

	if (share[TARE_THROTTLE_HEAT] > 0 || share[TARE_THROTTLE_HARDWARE_HEAT] > 0)
		return "better cooling; the figures are what the device keeps up when hot";
	if (share[TARE_THROTTLE_POWER_BRAKE] > 0 || share[TARE_THROTTLE_HARDWARE] > 0)
		return "look at the machine's power supply and cooling (nvidia-smi -q -d "
		       "PERFORMANCE)";
	if (share[TARE_THROTTLE_POWER_CAP] > 0)
		return "raise the power limit (nvidia-smi -pl, as root) if it is below the "
		       "board's; "
		       "else the figures are what the device keeps up within it";
	return "see nvidia-smi -q -d PERFORMANCE";
}

// A clock that moved because the device slowed itself down is one matter, so one warning.
static void warn_of_slowing(struct tare_result *result, const char *reasons)
{
	const struct tare_telemetry_summary *summary = &result->telemetry.summary;
	const struct tare_telemetry_range *clock = &summary->of[TARE_TELEMETRY_OF_CLOCK];
	bool moved = summary->moved_share > MOVED_SHARE;
	char low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT], range[128] = "", action[320];

	if (moved)
		snprintf(range, sizeof range, "; its clock moved between %s and %s",
		         tare_format_hz(clock->low, low), tare_format_hz(clock->high, high));
	snprintf(action, sizeof action, "%s%s", advice_for(summary),
	         moved ? "; to compare figures take those given per clock" : "");
	tare_result_unwarn(result, "clock-moved");
	tare_result_warn_anew(result, "throttled", action,
	                      "the device slowed itself down while it was measured: %s%s", reasons,
	                      range);
}

static void warn_of(struct tare_result *result)
{
	const struct tare_telemetry_summary *summary = &result->telemetry.summary;
	const struct tare_telemetry_range *clock = &summary->of[TARE_TELEMETRY_OF_CLOCK];
	char reasons[256], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];
	bool slowed;

	list_slowing(summary, TARE_THROTTLE_CLASS_SLOWS, reasons, sizeof reasons);
	slowed = reasons[0];
	if (slowed)
		warn_of_slowing(result, reasons);
	list_slowing(summary, TARE_THROTTLE_CLASS_LIMIT, reasons, sizeof reasons);
	if (reasons[0])
		tare_result_warn_anew(
		    result, "clock-limited",
		    "set it back (nvidia-smi -rac and -rgc, as root) unless it is meant",
		    "a setting keeps the clock below what the device could do: %s", reasons);
	if (!slowed && summary->moved_share > MOVED_SHARE)
		tare_result_warn_anew(
		    result, "clock-moved",
		    "fix the clock (nvidia-smi -lgc, as root) to compare figures; else take those "
		    "given per clock",
		    "the clock moved between %s and %s while measuring: in %.0f %% of the readings "
		    "it was more than 2 %% below its highest",
		    tare_format_hz(clock->low, low), tare_format_hz(clock->high, high),
		    100 * summary->moved_share);
}

static void sum_up(struct tare_result *result)
{
	struct tare_telemetry_section *section = &result->telemetry;

	if (section->count == 0) {
		tare_result_set_text(
		    result, &section->absent,
		    "there was no answer from the driver while samples were taken");
		return;
	}
	tare_result_set_text(result, &section->absent, NULL);
	if (tare_telemetry_summarise(section->readings, section->count, &section->summary) < 0)
		section->failed = true;
}

// False: the thread is stuck in the driver of a lost device, and the watch is left to it.
static bool end_thread(struct tare_watch *watch)
{
	struct timespec until;

	if (!watch->threaded)
		return true;
	if (!watch->run->device->lost)
		return pthread_join(watch->thread, NULL) == 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOST_WAIT_S;
	if (pthread_timedjoin_np(watch->thread, NULL, &until) == 0)
		return true;
	pthread_detach(watch->thread);
	return false;
}

void tare_telemetry_stop(struct tare_run *run, struct tare_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->ending = true;
	watch->working = false;
	pthread_cond_signal(&watch->wake);
	pthread_mutex_unlock(&watch->lock);
	run->watch = NULL;
	if (end_thread(watch)) {
		pthread_cond_destroy(&watch->wake);
		pthread_mutex_destroy(&watch->lock);
		free(watch);
	}
	sum_up(run->result);
	warn_of(run->result);
}

static void lock(const struct tare_run *run)
{
	if (run->watch)
		pthread_mutex_lock(&run->watch->lock);
}

static void unlock(const struct tare_run *run)
{
	if (run->watch)
		pthread_mutex_unlock(&run->watch->lock);
}

size_t tare_telemetry_mark(const struct tare_run *run)
{
	size_t count;

	lock(run);
	count = run->result->telemetry.count;
	unlock(run);
	return count;
}

int tare_telemetry_clock_hz(const struct tare_run *run, size_t since,
                            struct tare_clock_range *range)
{
	const struct tare_telemetry_section *section = &run->result->telemetry;
	struct tare_telemetry_summary summary = { 0 };
	const struct tare_telemetry_range *clock = &summary.of[TARE_TELEMETRY_OF_CLOCK];
	int status = 0;

	*range = (struct tare_clock_range){ NAN, NAN, NAN, 0, NAN, 0 };
	lock(run);
	if (section->count > since)
		status = tare_telemetry_summarise(section->readings + since, section->count - since,
		                                  &summary);
	unlock(run);
	if (status < 0)
		return status;
	if (clock->n == 0 || summary.loaded == 0 || !(clock->median > 0))
		return -ENODATA;
	*range = (struct tare_clock_range){ clock->low, clock->median,        clock->high,
		                            clock->n,   summary.slowed_share, 0 };
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		if (tare_throttle_class_of((enum tare_throttle)r) == TARE_THROTTLE_CLASS_SLOWS &&
		    summary.throttle_share[r] > 0)
			range->slowed_by |= UINT64_C(1) << r;
	return 0;
}

void tare_telemetry_join(struct tare_result *result)
{
	for (size_t i = 0; i < result->part_count; i++) {
		const struct tare_telemetry_section *part = &result->parts[i]->telemetry;
		if (part->present && part->absent && !result->telemetry.absent)
			tare_result_set_text(result, &result->telemetry.absent, part->absent);
		result->telemetry.present |= part->present;
		for (size_t k = 0; k < part->count; k++)
			tare_result_add_reading(result, &part->readings[k]);
	}
	if (result->telemetry.count)
		sum_up(result);
}
