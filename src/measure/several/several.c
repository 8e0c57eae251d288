// SPDX-License-Identifier: Apache-2.0
#include "measure/several/several.h"

#include "measure/several/internal.h"

#include <errno.h>

// For each device, and for each ordered pair.
#define LINKS_NS INT64_C(5000000000)
#define PAIR_NS INT64_C(1000000000)

static size_t present(const struct several *several)
{
	size_t count = 0;

	for (size_t i = 0; i < several->count; i++)
		count += !several->devices[i].gone;
	return count;
}

static void conclude_places(struct several *several)
{
	const char *names[TARE_SEVERAL_MOST];
	struct tare_attachment places[TARE_SEVERAL_MOST];
	char text[2048];

	for (size_t i = 0; i < several->count; i++) {
		names[i] = several->devices[i].member->name;
		places[i] = several->devices[i].place;
	}
	tare_attachments_describe(places, names, several->count, text, sizeof text);
	tare_result_conclude(several->run->result, "places", "On the way to the host: %s.", text);
}

static int measure(struct several *several, struct tare_error *error)
{
	double pairs = (double)several_pairs(several),
	       links = (double)(LINKS_NS * (int64_t)present(several));
	double wanted = links + pairs * (double)PAIR_NS;
	double budget = several->run->budget_ns > 0 ? (double)several->run->budget_ns : wanted;
	int status;

	if (present(several) < 2) {
		tare_result_warn(several->run->result, "not-together", NULL,
		                 "fewer than two devices are left to be measured together");
		return 0;
	}
	status = several_links(several, (int64_t)(budget * links / wanted), error);
	if (status == 0 && several_pairs(several))
		status = several_peers(several, (int64_t)(budget * (1 - links / wanted)), error);
	return status;
}

int tare_measure_several(struct tare_run *run, const struct tare_several_member *members,
                         size_t count, struct tare_error *error)
{
	struct several several = { .run = run, .count = count };
	int status;

	if (count < 2 || count > TARE_SEVERAL_MOST)
		return tare_fail(error, EINVAL, "2 to %d devices can be measured together, not %zu",
		                 TARE_SEVERAL_MOST, count);
	run->random = (struct tare_random){ .state = run->seed };
	for (size_t i = 0; i < count; i++)
		several.devices[i].member = &members[i];
	status = several_open(&several, error);
	if (status == 0) {
		conclude_places(&several);
		status = measure(&several, error);
	}
	several_close(&several);
	if (status == -ENOMEM || tare_result_status(run->result) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	if (status == 0 && several.wrong) {
		if (error)
			*error = several.wrong_error;
		return -EBADMSG;
	}
	return status;
}
