// SPDX-License-Identifier: Apache-2.0
// The findings of the runs made by hand.
#include "run_fixture_internal.h"

#include <math.h>

static struct tare_finding finding(char *title, char *evidence, char *advice, int64_t low_ms,
                                   int64_t high_ms)
{
	return (struct tare_finding){ .title = title,
		                      .evidence = evidence,
		                      .advice = advice,
		                      .cost_low_ns = low_ms * MS,
		                      .cost_ns = (low_ms + high_ms) / 2 * MS,
		                      .cost_high_ns = high_ms * MS,
		                      .occurrences = 200,
		                      .device = TARE_NO_INDEX };
}

// One of each confidence, of a model and measured; the second claims time of the first.
void run_fixture_findings(struct run_fixture *fixture)
{
	static char overlap
	    [] = "Copies could overlap with kernels and do not: one queue, blocking writes",
     blocking[] = "200 chunks of copy, kernel, copy; 2.83 s of copies not hidden",
     two_queues[] = "Use two queues and pinned memory; `tare overlap --kernel` shows how",
     build[] = "Programs are built between kernels", seven[] = "7 builds take 400 ms",
     once[] = "Build once before the loop",
     small[] =
	    "Too many small kernels: 12000 launches of 'norm2' run 9 µs each, and each costs 17 µs",
     idle[] = "between them the device idles 305 ms", fuse[] = "Fuse them, or use a graph";
	static struct tare_finding at[3];
	static struct tare_run_span claims[3];
	for (size_t i = 0; i < COUNT(claims); i++)
		claims[i] = (struct tare_run_span){ START + 2000 * MS,
			                            START + (5000 - 1000 * (int64_t)i) * MS };
	at[0] = finding(overlap, blocking, two_queues, 2400, 2900);
	at[0].id = "overlap-missed";
	at[0].modelled = true;
	at[0].confidence = TARE_CONFIDENCE_POSSIBLE;
	at[0].device = 0;
	at[1] = finding(build, seven, once, 400, 400);
	at[1].id = "build-in-loop";
	at[1].confidence = TARE_CONFIDENCE_SURE;
	at[1].shared_ns = 350 * MS;
	at[2] = finding(small, idle, fuse, 0, 310);
	at[2].id = "many-short-kernels";
	at[2].confidence = TARE_CONFIDENCE_LIKELY;
	for (size_t i = 0; i < COUNT(at); i++) {
		at[i].claims = &claims[i];
		at[i].claim_count = 1;
		at[i].figures[0] = (struct tare_finding_figure){ "launch_ns", i == 1 ? NAN : 17000,
			                                         "device timestamp" };
		at[i].figure_count = 1;
	}
	at[2].places[0] =
	    (struct tare_finding_place){ START + 2000 * MS, START + 2001 * MS, TARE_NO_INDEX,
		                         TARE_NO_INDEX,     TARE_NO_INDEX,     12000,
		                         305 * MS };
	at[2].place_count = 1;
	fixture->findings = (struct tare_findings){ at, 3, 3100 * MS, NULL, 0 };
}

void run_fixture_many_findings(struct run_fixture *fixture)
{
	static char slow[] =
	    "'\033[31mred\xff' gets 30 % slower over the run: from 1 ms to 1.3 ms on a device "
	    "whose "
	    "name is long enough that this line must be broken somewhere near its end",
	            trend[] = "the trend over 4000 launches",
	            look[] = "Look for a clock that sinks with heat",
	            why[] = "what recording cost: it was not calibrated";
	static char *unjudged[1];
	unjudged[0] = why;
	run_fixture_findings(fixture);
	fixture->findings.at[1] = finding(slow, trend, look, 300, 700);
	fixture->findings.at[1].id = "drift";
	fixture->findings.at[1].device = 1;
	fixture->findings.count = 2;
	fixture->findings.unjudged = unjudged;
	fixture->findings.unjudged_count = 1;
}

void run_fixture_unjudged(struct run_fixture *fixture)
{
	static char why[] =
	    "no command has device times: 22 of the findings need them (record without "
	    "--strict, on a device that profiles)";
	static char *unjudged[1];
	unjudged[0] = why;
	fixture->findings.unjudged = unjudged;
	fixture->findings.unjudged_count = 1;
}
