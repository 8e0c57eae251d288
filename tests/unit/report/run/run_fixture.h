// SPDX-License-Identifier: Apache-2.0
// Recorded runs made by hand, for the tests of the report.
#pragma once
#include "report/run/report.h"

struct run_fixture {
	struct tare_recording recording;
	struct tare_view view;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
	struct tare_phases phases;
	struct tare_sites sites;
	struct tare_report run; // of the above; points into this fixture
};

// Names of all of them, ended by NULL:
//   simulate  one process, one device, everything timed
//   many      two processes, two devices of one name, names that must not reach a terminal, -1 of
//             everything that can be unknown, damage, losses, a part of the run only
//   strict    no profiling, host times only
//   unflushed enqueued and never started
//   writing   still being written
//   nothing   no process was recorded
//   silent    a process that made no call
extern const char *const run_fixture_names[];

// Fills *fixture, which must not be moved afterwards. Returns false for an unknown name.
bool run_fixture_make(const char *name, struct run_fixture *fixture);
