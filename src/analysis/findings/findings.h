// SPDX-License-Identifier: Apache-2.0
// What to change: findings, each one a row of the table in findings.c, described in
// docs/findings.md. None is raised on a cost that is within the clocks' residual, the recording's
// own cost or what a row calls noise.
#pragma once
#include "analysis/ledger/ledger.h"
#include "analysis/recording/recording.h"
#include "analysis/tables/phases.h"
#include "analysis/tables/tables.h"

enum tare_confidence {
	TARE_CONFIDENCE_SURE,     // the time was measured and would be saved
	TARE_CONFIDENCE_LIKELY,   // measured, but not all of it need be saved
	TARE_CONFIDENCE_POSSIBLE, // a model or a pattern says so
};
const char *tare_confidence_name(enum tare_confidence confidence); // "sure", "likely", "possible"

// A figure that a finding rests on, for JSON and the page.
struct tare_finding_figure {
	const char *name;   // "median_ns": the unit is in the name
	double value;       // NaN: not known
	const char *source; // "device timestamp", "host clock", "model", "counted"
};

// Where it was seen, the costliest first.
struct tare_finding_place {
	int64_t from_ns, to_ns; // absolute
	uint32_t command;       // index; TARE_NO_INDEX: none
	uint32_t call;          // index; TARE_NO_INDEX: none
	uint32_t stack;         // index; TARE_NO_INDEX: not recorded
	uint64_t count;         // times seen from that stack (or of that kernel)
	int64_t cost_ns;        // of these
};
enum { TARE_FINDING_FIGURES = 8, TARE_FINDING_PLACES = 5 };

struct tare_finding {
	const char *id;  // "many-short-kernels": never changes its meaning
	char *title;     // a sentence with its figures, without a full stop
	char *evidence;  // the figures that say so, without a full stop
	char *advice;    // what to do next, without a full stop
	int64_t cost_ns; // what it costs, best estimate: low <= cost <= high
	int64_t cost_low_ns, cost_high_ns;
	bool modelled; // the cost comes from a model, else it was measured
	enum tare_confidence confidence;
	uint64_t occurrences;
	uint32_t device; // same_as; TARE_NO_INDEX: none in particular
	struct tare_finding_figure figures[TARE_FINDING_FIGURES];
	size_t figure_count;
	struct tare_finding_place places[TARE_FINDING_PLACES];
	size_t place_count;
	// The time it is about: in order, disjoint, within the view. Its union is at least cost_ns.
	struct tare_run_span *claims;
	size_t claim_count;
	int64_t shared_ns; // of the claims: claimed by findings of higher rank, too
};

struct tare_findings {
	struct tare_finding *at; // by what they cost at least (cost_low_ns), then by cost_ns
	size_t count;
	int64_t together_ns; // what all cost, less what a finding of higher rank claims, too
	// sentences: what could not be judged, and why ("no device times: ...")
	char **unjudged;
	size_t unjudged_count;
};

// What was measured of a device on this machine, in nanoseconds on the host's clock.
struct tare_launch_costs {
	const char *device;     // its name
	double launch_ns;       // an empty kernel, one of many in a row
	double graph_kernel_ns; // one of many in a graph
	double graph_make_ns;   // making a graph, once, for each kernel
	double graph_launch_ns; // launching a graph of one, beyond launching a kernel; at least 0
	const char *measured;   // date; "": not known
};

// What is known beside the recording.
struct tare_findings_known {
	const struct tare_launch_costs *launches; // of so many devices
	size_t launch_count;
};

// Judges a view; ledgers and tables are of the same view, phases of the whole recording. Returns 0
// or -ENOMEM with *findings empty. Free with tare_findings_free.
int tare_findings_find(const struct tare_recording *recording, const struct tare_view *view,
                       const struct tare_ledgers *ledgers, const struct tare_tables *tables,
                       struct tare_findings *findings, struct tare_error *error);
// The same with what was measured beforehand; NULL: nothing.
int tare_findings_find_knowing(const struct tare_recording *recording, const struct tare_view *view,
                               const struct tare_ledgers *ledgers, const struct tare_tables *tables,
                               const struct tare_findings_known *known,
                               struct tare_findings *findings, struct tare_error *error);
void tare_findings_free(struct tare_findings *findings);

// What a place is: the name of a kernel, of the function of another command, or of a call. "" where
// it is not known.
const char *tare_finding_what(const struct tare_recording *recording,
                              const struct tare_finding_place *place);

// The table, for documentation and tests: every finding there can be.
struct tare_finding_words {
	const char *id;
	const char *predicate; // when it is raised, one line
	const char *threshold; // "kernels under 20 µs, 100 or more, 5 % of the working part"
	const char *cost;      // formula, in words
	// programs of tests/programs that must and must not raise it
	const char *raised_by, *silent_on;
};
// The row of a number from 0 on; NULL behind the last.
const struct tare_finding_words *tare_finding_words(size_t row);
