# SPDX-License-Identifier: Apache-2.0
"""tare record --times and --calibrate on a program that launches as fast as it can."""
import json
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, built, recorder, run  # noqa: E402, F401

pytestmark = built()
STRESS = PROGRAMS / "stress"
COMMANDS = 30000


def record(recorder, *options, event=None, commands=COMMANDS):  # noqa: F811
    environment = {**recorder.environment, **({"TARE_RECORD_OPTIONS": f"event={event}"} if event else {})}
    done = run([recorder.tare, "record", "-fo", "run", *options, "--", STRESS, commands], environment,
               cwd=recorder.folder)
    assert done.status == 0, done.errors.decode()
    folder = recorder.folder / "run.tare"
    return done, json.loads((folder / "record.json").read_text()), recorder.report(folder)


def kernels(report):
    task, = report["tasks"]
    return task


def setup_ns(folder):
    """What the header says that beginning and ending took (docs/trace-format.md)."""
    trace, = folder.glob("*.trace")
    return struct.unpack_from("=q", trace.read_bytes(), 1496)[0]


def check_estimate(row):
    """Of durations too uneven for the sample, as where others have the processors, there is none."""
    total = row["estimated_total_ns"]
    if total is None:
        assert row["estimated_low_ns"] is None and row["estimated_high_ns"] is None
    else:
        assert row["total_ns"] <= row["estimated_low_ns"] <= total <= row["estimated_high_ns"]
    return total is not None


def untimed_ns(report):
    return {part["category"]: part["ns"] for part in report["ledgers"][0]["parts"]}["untimed"]


def test_a_sample_counts_all_and_estimates_what_they_took(recorder):  # noqa: F811
    # Events are taken to cost so much that the sample begins at once.
    _, document, report = record(recorder, event=1000000)
    coverage, task = report["coverage"], kernels(report)
    assert document["options"]["times"] == "sampled"
    assert coverage["enqueued"] == COMMANDS + 1
    assert coverage["unobserved_by"]["not_sampled"] == coverage["unobserved"] > COMMANDS / 2
    assert task["instances"] == COMMANDS // 12 * 10 + 1
    assert task["timed"] + task["unsampled"] == task["instances"]
    estimated = check_estimate(task)
    # Transfers too, by kind and size.
    writes, = [row for row in report["transfers"] if row["kind"] == "write"]
    assert writes["timed"] + writes["unsampled"] == writes["count"] == -(-COMMANDS // 12)
    estimated |= check_estimate(writes)
    reads, = [row for row in report["transfers"] if row["kind"] == "read"]
    estimated |= check_estimate(reads)
    # What they may have run for is neither idle nor a kernel's, and nothing is concluded from gaps.
    assert untimed_ns(report) > 0
    assert sum(part["ns"] for part in report["ledgers"][0]["parts"]) == report["ledgers"][0]["wall_ns"]
    unjudged = " ".join(report["unjudged"])
    # Where others have the processors, recording may have cost so much that nothing else is judged.
    if unjudged or [finding["id"] for finding in report["findings"]] != ["recording-cost"]:
        assert "many-short-kernels" in unjudged and "not of the sample" in unjudged
        assert "one-kernel-dominates" in unjudged and "recording-cost" not in unjudged
    text = run([recorder.tare, "report", "run.tare"], recorder.environment, cwd=recorder.folder).out.decode()
    assert "a random sample" in text and ("~" in text) == estimated


SAMPLE_REMARK = "device times are of the sample only, not of all"


def test_call_sites_say_that_their_times_are_of_a_sample(recorder):  # noqa: F811
    for event, remarked in ((1000000, True), (None, False)):
        times = () if event else ("--times", "all")
        record(recorder, "--call-stacks", *times, event=event, commands=3000)
        text = run([recorder.tare, "report", "run.tare"], recorder.environment, cwd=recorder.folder).out.decode()
        assert "issued from" in text
        assert (SAMPLE_REMARK in " ".join(text.split())) == remarked


def test_the_default_times_all_while_that_costs_little(recorder):  # noqa: F811
    _, _, report = record(recorder, commands=1000)
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"] == 1001
    assert kernels(report)["estimated_total_ns"] is None


def test_all_is_all(recorder):  # noqa: F811
    _, _, report = record(recorder, "--times", "all", event=1000000)
    assert report["coverage"]["completed"] == COMMANDS + 1


def test_none_adds_nothing_and_counts(recorder):  # noqa: F811
    _, document, report = record(recorder, "--times", "none")
    assert document["options"]["times"] == "none"
    assert report["coverage"]["completed"] == 0
    # No others stand for them.
    assert report["coverage"]["unobserved_by"]["not_asked"] == COMMANDS + 1 == report["coverage"]["unobserved"]
    assert kernels(report)["instances"] == COMMANDS // 12 * 10 + 1
    # Our own code is measured on a queue of ours; the program's are as they were.
    assert {"profiling", "event", "calibration"} & {row["change"] for row in report["changes"]} <= {"calibration"}
    # Nothing of the driver's is changed, so that its part is known: nothing.
    assert report["coverage"]["driver_cost_ns"] == 0
    assert report["coverage"]["cost_source"] == "calibration"


def test_the_cost_is_whole_and_has_an_interval(recorder):  # noqa: F811
    _, _, report = record(recorder, "--times", "all")
    coverage = report["coverage"]
    if coverage["cost_source"] != "calibration":
        pytest.skip("the machine was too busy to measure the driver")
    assert coverage["cost_low_ns"] <= coverage["cost_ns"] <= coverage["cost_high_ns"]
    assert coverage["cost_ns"] == pytest.approx(
        max(0, coverage["self_cost_ns"] + coverage["driver_cost_ns"] + coverage["stalled_ns"] +
            coverage["once_ns"]), abs=3)
    assert coverage["once_ns"] > setup_ns(recorder.folder / "run.tare") > 0
    assert "calibration" in {row["change"] for row in report["changes"]}


def test_it_is_compared_with_runs_that_are_not_recorded(recorder):  # noqa: F811
    done, document, report = record(recorder, "--calibrate")
    found = document["comparison"]
    assert found["pairs"] == 5
    assert found["wall_ns"] == sorted(found["wall_ns"]) and found["cpu_ns"] == sorted(found["cpu_ns"])
    assert b"by 5 pairs of runs" in done.errors
    # Only the last run speaks, and only its trace is left.
    assert len(done.out.splitlines()) == 1
    assert len(list((recorder.folder / "run.tare").iterdir())) == 2
    coverage = report["coverage"]
    assert coverage["cost_source"] == "unrecorded_runs"
    assert [coverage["cost_low_ns"], coverage["cost_ns"], coverage["cost_high_ns"]] == found["wall_ns"]


def test_who_interrupts_a_run_gets_no_other(recorder):  # noqa: F811
    # The program has an end of its own for it.
    runs = recorder.folder / "runs"
    loop = f"trap 'exit 130' INT; echo run >> {runs}; while :; do sleep 0.05; done"
    child = subprocess.Popen([recorder.tare, "record", "-fo", "run", "--calibrate", "--", "sh", "-c", loop],
                             env=recorder.environment, cwd=recorder.folder, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    try:
        while not runs.exists() and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 125 and b"while it was compared" in errors, errors
    assert runs.read_text() == "run\n"


def test_what_cannot_be_compared_is_recorded_nonetheless(recorder):  # noqa: F811
    for command, status, says in ((["sh", "-c", "exit 7"], 7, b"ended with status 7"),
                                  (["sh", "-c", "ulimit -c 0; kill -ABRT $$"], -6, b"signal 6 ended such a run")):
        done = run([recorder.tare, "record", "-fo", "run", "--calibrate", "--", *command], recorder.environment,
                   cwd=recorder.folder)
        assert done.status == status and says in done.errors, done
        assert "comparison" not in json.loads((recorder.folder / "run.tare/record.json").read_text())
    done = run([recorder.tare, "record", "-fo", "run", "--calibrate", "--times", "some", "--", "true"],
               recorder.environment, cwd=recorder.folder)
    assert done.status == 125 and b"neither all, sampled nor none" in done.errors
