# SPDX-License-Identifier: Apache-2.0
"""Programs killed in the middle of their work: every trace reads, no call that had returned is
missing, and what was not harvested is counted. TARE_KILLS: at how many moments (12)."""
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import (PROGRAMS, QUIET, built, counting_environment, read_counts,  # noqa: E402, F401
                      recorder, reported)

pytestmark = built()
KILLS = int(os.environ.get("TARE_KILLS", "12"))


def victim_of(process):
    """The number of the program that tare runs."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0]) if children else None


def progress_in(path):
    try:
        return struct.unpack("=Q", path.read_bytes())[0]
    except (OSError, struct.error):
        return 0


def test_killed_while_it_builds(recorder):  # noqa: F811
    """What a program was in when it was killed is no time that was not recorded, and no command makes it a run without
    a reason."""
    # Nobody else writes there.
    cache = recorder.folder / "pocl"
    recorder.environment["POCL_CACHE_DIR"] = str(cache)
    process = subprocess.Popen(
        [recorder.tare, "record", "-q", "-o", "run", "--", PROGRAMS / "pairs_work", "start-up-builds", "raise"],
        cwd=recorder.folder, env={**os.environ, **QUIET, **recorder.environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (victim := victim_of(process)) or not any(cache.rglob("*")):
        assert process.poll() is None, "it ended before it began"
        time.sleep(0.01)
    # It has begun to build. Most of a driver's first build is its compiler's start.
    time.sleep(1.2)
    os.kill(victim, signal.SIGKILL)
    process.wait(timeout=60)
    report = recorder.report(recorder.folder / "run.tare")
    assert report["coverage"]["enqueued"] == 0 and report["exit_signal"] == signal.SIGKILL
    parts = {part["category"]: part["ns"] for part in report["ledgers"][-1]["parts"]}
    assert parts.get("not_recorded", 0) == 0
    assert parts["host_build"] > 0
    if parts["host_build"] < max(5e8, report["wall_ns"] / 2):
        pytest.skip("the machine is busy: it did not come to build for half of its time, or half a second")
    assert "building programs took" in report["summary"]["verdict"]
    found, = [finding for finding in report["findings"] if finding["id"] == "start-up-builds"]
    assert "launches no kernel" in found["title"] and found["claims_ns"] <= parts["host_build"]


def kill_at(recorder, delay, seconds=60):  # noqa: F811
    """Kills the endless stress `delay` after its loop began; returns its progress counter."""
    counted = recorder.folder / "progress"
    environment = {**os.environ, **QUIET, **recorder.environment, "PROGRESS": str(counted),
                   **counting_environment(recorder.folder / "counts")}
    process = subprocess.Popen(
        [recorder.tare, "record", "-q", "-o", "run", "--", PROGRAMS / "stress", "0"],
        cwd=recorder.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    end = time.monotonic() + seconds
    while progress_in(counted) == 0 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(delay)
    os.kill(victim_of(process), signal.SIGKILL)
    _, errors = process.communicate(timeout=seconds)
    assert process.returncode == -signal.SIGKILL, errors
    return progress_in(counted)


@pytest.mark.parametrize("turn", range(KILLS))
def test_nothing_that_had_returned_is_missing(recorder, turn):  # noqa: F811
    # Most kills early, where windows and pages are made; a few late.
    progress = kill_at(recorder, random.Random(turn).random() ** 3 * 0.4)
    counts = read_counts(recorder.folder / "counts")
    report = recorder.report(recorder.folder / "run.tare")
    coverage, seen = report["coverage"], reported(report)

    assert coverage["enqueued"] >= progress > 0
    assert coverage["dropped"] == coverage["lost_commands"] == 0
    # It died between the two layers' counts of one call at most.
    assert abs(sum(number for number, _ in counts.values()) - coverage["enqueued"]) <= 1
    assert all(abs(counts[kind][0] - seen.get(kind, (0, 0))[0]) <= 1 for kind in counts)
    assert coverage["completed"] + coverage["unobserved"] == coverage["enqueued"]
    assert coverage["damaged_windows"] == coverage["unresolved"] == coverage["contradictions"] == 0
    assert report["exit_signal"] == signal.SIGKILL
    assert report["processes"][0]["state"] == "recording"


def test_what_was_not_harvested_is_counted_and_said(recorder):  # noqa: F811
    kill_at(recorder, 0.05)
    done = recorder.native([recorder.tare, "report", "-v", "run.tare"])
    assert done.status == 0
    text = " ".join(done.out.decode().split())
    assert " end not seen " in text.partition(" Processes pid ")[2], "it is over: it is not recording any more"
    numbers = re.search(r"([\d,]+) enqueued, ([\d,]+) completed with device times, ([\d,]+) not observed", text)
    enqueued, completed, unobserved = (int(number.replace(",", "")) for number in numbers.groups())
    coverage = recorder.report(recorder.folder / "run.tare")["coverage"]
    assert (enqueued, completed, unobserved) == (coverage["enqueued"], coverage["completed"],
                                                 coverage["unobserved"])


def test_a_trace_reads_while_its_program_goes_on(recorder):  # noqa: F811
    process = subprocess.Popen(
        [recorder.tare, "record", "-q", "-o", "run", "--", PROGRAMS / "stress", "0"], cwd=recorder.folder,
        env={**os.environ, **QUIET, **recorder.environment, "PROGRESS": str(recorder.folder / "progress")},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        last = 0
        for _ in range(3):
            before = progress_in(recorder.folder / "progress")
            while (progress := progress_in(recorder.folder / "progress")) <= before + 1000:
                assert process.poll() is None
                time.sleep(0.002)
            report = recorder.report(recorder.folder / "run.tare")
            assert report["coverage"]["enqueued"] >= max(progress, last + 1)
            assert report["exit_status"] is None and not report["trace"]["complete"]
            last = report["coverage"]["enqueued"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGTERM
