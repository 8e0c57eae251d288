# SPDX-License-Identifier: Apache-2.0
"""The figures of tare report against those of a second reader of the same traces (trace_oracle.py)."""
import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import trace_oracle as oracle  # noqa: E402
from recorded import EXAMPLES, PROGRAMS, SANITIZED, Recorder, kernel_cache  # noqa: E402, F401

pytestmark = pytest.mark.skipif(not (EXAMPLES / "matmul").exists(),
                                reason="there is no OpenCL library to link the examples with")


class Differences(list):
    """Collects what does not agree, so that one run shows all of it."""

    def same(self, what, mine, theirs, within=0):
        if mine is None or theirs is None:
            agree = mine is theirs
        else:
            agree = abs(mine - theirs) <= within
        if not agree:
            self.append(f"{what}: {mine} by the trace, {theirs} in the report (may differ by {within})")


def near(value):
    """What the rounding of a division may make of a figure."""
    return abs(value or 0) * 1e-9


def compare_tasks(trace, report, found):
    mine = oracle.tasks(trace)
    theirs = {row["name"]: row for row in report["tasks"] if row["name"] != "(native kernel)"}
    found.same("names of kernels", len(mine), len(theirs))
    for name in mine.keys() & theirs.keys():
        for key, value in mine[name].items():
            within = 0 if key in ("instances", "timed", "total_ns") else near(value)
            if key == "launch_total_ns":
                within = 2 * trace.clock_error_ns * mine[name]["instances"]
            found.same(f"kernel {name}: {key}", value, theirs[name][key], within)


def compare_transfers(trace, report, found):
    mine = oracle.transfers(trace)
    theirs = {(row["kind"], row["direction"], row["memory"], row["blocking"]): row for row in report["transfers"]}
    if mine.keys() != theirs.keys():
        found.append(f"rows of transfers: {sorted(map(str, mine))} by the trace, {sorted(map(str, theirs))} in the report")
    for key in mine.keys() & theirs.keys():
        for name, value in mine[key].items():
            found.same(f"transfers {key}: {name}", value, theirs[key][name])


def compare_calls(trace, report, found):
    mine = oracle.api(trace)
    theirs = {(row["function"], row["role"]): row for row in report["api"]}
    if mine.keys() != theirs.keys():
        found.append(f"functions: {mine.keys() ^ theirs.keys()} are in one only")
    for key in mine.keys() & theirs.keys():
        for name, value in mine[key].items():
            within = 0
            if name == "total_ns":
                within = 2 * trace.clock_error_ns * value if trace.clock_error_ns else 0
                within += mine[key]["count"] if key[1] == "poll" else 0
            elif name == "max_ns":
                within = 2 * trace.clock_error_ns + 1
            found.same(f"{key[0]}: {name}", value, theirs[key][name], within)


def compare_counts(trace, report, found):
    for key, value in oracle.coverage(trace).items():
        found.same(f"coverage: {key}", value, report["coverage"][key])
    for key, value in oracle.memory(trace).items():
        found.same(f"memory: {key}", value, report["memory"][key])
    for number, row in oracle.queues(trace).items():
        theirs = next((q for q in report["queues"] if q["number"] == number), {})
        for key, value in row.items():
            within = near(value) if key == "mean_depth" else 1 if key == "median_latency_ns" else 0
            found.same(f"queue {number}: {key}", value, theirs.get(key), within)


def compare_ledger(trace, report, found):
    wall_ns = report["wall_ns"]
    theirs = {row["category"]: row["ns"] for row in report["ledgers"][-1]["parts"]}
    mine, hidden = oracle.ledger(trace, wall_ns)
    found.same("sum of the oracle's own parts", sum(mine.values()), wall_ns)
    for direction, ns in hidden.items():
        found.same(f"hidden {direction}", ns, report["ledgers"][-1][f"hidden_{direction}_ns"])
    outside = theirs.pop("host_computing") + theirs.pop("host_off_cpu")
    device = {name: theirs.pop(name) for name in ("kernel", "transfer_to_device", "transfer_from_device",
                                                  "transfer_both_ways", "local_copy")}
    if "idle" in mine:
        theirs = {"idle": sum(theirs.values()) + outside}
    else:
        theirs["outside"] = outside
    for name, ns in (device | theirs).items():
        found.same(f"ledger: {name}", mine.get(name, 0), ns)
    return "idle" not in mine


def check(folder, report):
    """Compares everything; returns the trace, and whether idle time was compared part by part."""
    trace, record = oracle.load(folder)
    found = Differences()
    trace.clock_error_ns = 0
    found.same("wall", record["end_raw_ns"] - record["start_raw_ns"], report["wall_ns"])
    assert {row["source"] for row in report["clock"]["devices"]} <= {"same"}
    compare_tasks(trace, report, found)
    compare_transfers(trace, report, found)
    compare_calls(trace, report, found)
    compare_counts(trace, report, found)
    whole = compare_ledger(trace, report, found)
    assert not found, "\n".join(found)
    return trace, whole
