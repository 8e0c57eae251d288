// SPDX-License-Identifier: Apache-2.0
// What the files that measure several devices share.
#pragma once
#include "measure/several/several.h"

// ---- race.c: copies of several devices at the same time, a thread a device

#define SEVERAL_DEPTH 4 // copies of a lane that are under way
#define SEVERAL_MARKS 4096

// So many copies of a lane were seen to be done at this time of the host's clock.
struct several_mark {
	int64_t ns;
	uint64_t done;
};

// One stream of copies on one queue.
struct several_lane {
	struct tare_queue *queue;
	struct tare_operation copy;
	struct several_mark *marks; // room for SEVERAL_MARKS
	size_t mark_count;
	double ps; // of a copy, in the time in which all lanes were at work
};

// One device, and the thread that uses it.
struct several_racer {
	struct tare_device *device;
	struct several_lane *lanes[2];
	size_t lane_count;
	int64_t copy_ns; // about how long a copy lasts: how often to look
	int status;      // how it ended, with its sentence
	struct tare_error error;
};

// Runs all racers for `window_ns` from the moment when each has made a first copy, and fills in
// the lanes' `ps`. Returns 0; -EAGAIN when the window was too short; or the status of the racer
// that failed first (its `status` is not 0; those of the others may be 0).
int several_race(struct several_racer *racers, size_t count, int64_t window_ns,
                 struct tare_error *error);
// The lanes' `ps` from their marks. -EAGAIN when fewer than SEVERAL_LEAST copies of a lane ended
// while all lanes were at work.
#define SEVERAL_LEAST 4
int several_speeds(struct several_lane *const *lanes, size_t count);

// ---- devices.c

struct several_device {
	const struct tare_several_member *member;
	struct tare_attachment place;
	struct tare_memory *host_in, *host_out, *device_in, *device_out;
	struct tare_queue *queues[2];
	struct several_mark *marks[2];
	int64_t copy_ns; // of several->bytes, the slower way
	bool gone;
	char why[320];
};

// ---- plan.c

enum several_way { SEVERAL_TO_DEVICE, SEVERAL_TO_HOST, SEVERAL_TO_PEER };

struct several_course {
	enum several_way way;
	uint32_t device, peer;
};

struct several_figure {
	uint32_t courses; // bits: the figure is of the sum of these
	struct tare_labels labels;
	struct tare_series series;
	enum tare_verdict verdict;
};

// One race, run again and again.
struct several_plan {
	char title[96];
	struct several_course courses[2 * TARE_SEVERAL_MOST];
	size_t course_count;
	struct several_figure *figures;
	size_t figure_count;
	char absent[320]; // why it is not run any more
	const char *method;
	enum tare_verified verified;
	bool begun, closed;
	int64_t sampled_ns;
};

struct several {
	struct tare_run *run;
	struct several_device devices[TARE_SEVERAL_MOST];
	size_t count;
	uint64_t bytes;
	int64_t window_ns;
	struct tare_host_time started;
	struct several_plan *plans;
	size_t plan_count, plan_capacity;
	bool wrong;
	struct tare_error wrong_error;
};

// Makes buffers and queues, chooses a size. A device that cannot is `gone`. 0 or -ENOMEM.
int several_open(struct several *several, struct tare_error *error);
void several_close(struct several *several);
// The device is left out from now on, and a warning says so. Abandons it if it is lost.
void several_drop(struct several *several, size_t device, int status, const struct tare_error *why);
// The operation of a course, on `bytes` from `offset`.
struct tare_operation several_copy(const struct several *several,
                                   const struct several_course *course, uint64_t offset,
                                   uint64_t bytes);
// Makes the ends of the destination something that nobody sends; says whether what was sent is
// there: 1, 0, or a negative errno.
int several_poison(const struct several *several, const struct several_course *course,
                   struct tare_error *error);
int several_arrived(const struct several *several, const struct several_course *course,
                    struct tare_error *error);

// A new plan at the end of the list; NULL without memory.
struct several_plan *several_plan_add(struct several *several, const char *method,
                                      const char *title_format, ...)
    __attribute__((format(printf, 3, 4)));
int several_plan_course(struct several_plan *plan, enum several_way way, uint32_t device,
                        uint32_t peer);
// A figure of the sum of `courses`. NULL without memory.
struct several_figure *several_plan_figure(struct several_plan *plan, uint32_t courses,
                                           const char *group, const char *line, const char *device,
                                           const char *at_work);
// Runs the plans from `first` on in random order, round by round, until all have converged or
// share_ns have passed. Each is run once at least. 0, -EINTR, -ENOMEM.
int several_sample(struct several *several, size_t first, int64_t share_ns,
                   struct tare_error *error);
// Turns the plans from `first` on into cells and forgets them.
void several_keep(struct several *several, size_t first);
void several_plans_clear(struct several *several, size_t first);

// ---- links.c, peers.c: add plans, sample, keep, conclude

int several_links(struct several *several, int64_t share_ns, struct tare_error *error);
int several_peers(struct several *several, int64_t share_ns, struct tare_error *error);
// How many ordered pairs of devices could be peers.
size_t several_pairs(const struct several *several);
