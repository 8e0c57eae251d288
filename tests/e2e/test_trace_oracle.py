# SPDX-License-Identifier: Apache-2.0
"""The figures of tare report against those of a second reader of the same traces (trace_oracle.py)."""
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import report_oracle as oracle  # noqa: E402
import trace_oracle  # noqa: E402
from recorded import EXAMPLES, PROGRAMS, SANITIZED, Recorder  # noqa: E402, F401

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
            within = 0 if isinstance(value, int) else near(value)
            found.same(f"kernel {name}: {key}", value, theirs[name][key], within)


def compare_transfers(trace, report, found):
    mine = oracle.transfers(trace)
    theirs = {(row["kind"], row["direction"], row["memory"], row["blocking"]): row
              for row in report["transfers"]}
    if mine.keys() != theirs.keys():
        found.append(f"rows of transfers: {mine.keys() ^ theirs.keys()} are in one only")
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
            # The largest mean of a row of calls may be rounded either way.
            within = 1 if name == "max_ns" else 0
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


def compare_ledger(trace, report, found, view=None):
    wall_ns = report["wall_ns"]
    theirs = {row["category"]: row["ns"] for row in report["ledgers"][-1]["parts"]}
    mine, hidden = oracle.ledger(trace, trace.wall_ns, view)
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


def compare_summary(trace, record, report, found):
    if not any(command.timed for command in trace.commands):  # nought is not what is not known
        for key in ("device_utilisation", "kernel_share", "transfer_share", "exposed_transfer_share"):
            found.same(f"summary: {key}", None, report["summary"][key])
        return
    mine, bounds, in_parts = oracle.summary(trace, record, report["wall_ns"])
    for key, value in mine.items():
        within = 0 if isinstance(value, int) else near(value)
        found.same(f"summary: {key}", value, report["summary"][key], within)
    theirs = {row["bound"]: row["ns"] for row in report["summary"]["bounds"]}
    theirs["all"] = sum(theirs.values())
    for name, ns in bounds.items():
        if in_parts or name in ("device", "all"):
            found.same(f"bound: {name}", ns, theirs[name])
    found.same("coverage: self_cost_ns", oracle.self_cost_ns(trace), report["coverage"]["self_cost_ns"], 0.5)


def check(folder, report):
    """Compares everything, or what needs no device times where their clock is not the host's. Returns the
    trace, and whether idle time was compared part by part."""
    trace, record = trace_oracle.load(folder)
    trace.wall_ns = record["end_raw_ns"] - record["start_raw_ns"]
    found = Differences()
    found.same("wall", trace.wall_ns, report["wall_ns"])
    timed = all(row["source"] in ("same", "none") for row in report["clock"]["devices"])
    in_parts = False
    compare_calls(trace, report, found)
    if timed:
        compare_tasks(trace, report, found)
        compare_transfers(trace, report, found)
        compare_counts(trace, report, found)
        compare_summary(trace, record, report, found)
        in_parts = compare_ledger(trace, report, found)
    assert not found, "\n".join(found)
    return trace, in_parts


# ---- programs

SMALL = [3, 64, 50]  # chunks, kilobytes, cycles


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """Records a program on a device and compares."""
    def record(device, *command, options=()):
        recorder = Recorder(tare_path, tmp_path, kernel_cache, device)
        done = recorder.record([*command], *options)
        assert done.status == 0, done.errors.decode()
        return recorder, done.folder, *check(done.folder, recorder.report(done.folder))
    return record


@pytest.mark.parametrize("form, device", [
    ("sequential", "basic"), ("build", "basic"), ("concurrent", "pthread"), ("blocking", "pthread"),
])
def test_pipeline(on, form, device):
    _, _, trace, in_parts = on(device, EXAMPLES / "pipeline", form, *SMALL)
    assert in_parts and len(trace.commands) >= 9


@pytest.mark.parametrize("device", ["basic", "pthread"])
def test_transfers(on, device):
    _, _, trace, in_parts = on(device, EXAMPLES / "transfers")
    kinds = {command.kind for command in trace.commands}
    assert in_parts and {"write", "read", "copy", "fill", "map", "unmap"} <= kinds


def test_matmul(on):
    _, _, trace, in_parts = on("basic", EXAMPLES / "matmul", "inner", 16)
    assert in_parts and sum(c.kind == "kernel" for c in trace.commands) >= 256


@pytest.mark.parametrize("part, device", [
    ("images", "basic"), ("svm", "basic"), ("events", "basic"),
    ("callbacks", "basic"), ("failures", "basic"), ("threads", "pthread"), ("dependencies", "pthread"),
    ("poll", "pthread"),
])
def test_features(on, part, device):
    if not (PROGRAMS / "features").exists():
        pytest.skip("tests/programs was not built")
    _, _, trace, _ = on(device, PROGRAMS / "features", part)
    assert trace.commands


def test_without_times_the_device_is_not_known(on):
    """A strict recording of queues without profiling."""
    recorder, folder, trace, _ = on("basic", EXAMPLES / "pipeline", "sequential", *SMALL,
                                    options=["--strict"])
    assert trace.commands and not any(command.timed for command in trace.commands)
    summary = recorder.report(folder)["summary"]
    assert summary["bound"] == "not_clear"
    working_ns = summary["working_to_ns"] - summary["working_from_ns"]
    assert {row["bound"]: row["ns"] for row in summary["bounds"]}["not_clear"] == working_ns > 0


def test_views_are_cut_exactly(on):
    recorder, folder, trace, _ = on("pthread", EXAMPLES / "pipeline", "concurrent", *SMALL)
    for borders in [("0%", "60%"), ("60%", "100%")]:
        report = recorder.report(folder, "--from", borders[0], "--to", borders[1])
        view = report["view"]["from_ns"], report["view"]["to_ns"]
        found = Differences()
        compare_ledger(trace, report, found, view)
        assert not found, f"{borders}: " + "\n".join(found)


@pytest.mark.skipif(SANITIZED, reason="programs of others cannot load a sanitized layer")
@pytest.mark.skipif(shutil.which("clpeak") is None, reason="clpeak is not installed")
def test_clpeak(on):
    _, _, trace, in_parts = on("basic", "clpeak", "--kernel-latency")
    assert in_parts and sum(command.kind == "kernel" for command in trace.commands) > 10000
