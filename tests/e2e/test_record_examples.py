# SPDX-License-Identifier: Apache-2.0
"""The examples, recorded: the trace contains what each says it must, the ledger is exact, and each
way of doing it badly shows where it should. Compared are shares of one run with those of another."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import EXAMPLES, Recorder, built, kernel_cache, part, reported  # noqa: E402, F401

pytestmark = built()
PIPELINES = ("sequential", "concurrent", "default-queue", "blocking", "pageable", "allocation", "build")
MATRICES = ("inner", "naive", "tiled")
RUNS = {
    **{f"matmul {form}": ("matmul", form, "64") for form in MATRICES},
    **{f"pipeline {form}": ("pipeline", form, "8", "1024", "64") for form in PIPELINES},
    "transfers": ("transfers", "1024"),
}
IDLE = ("build", "allocate", "blocking_copy", "wait", "api", "computing", "off_cpu", "held", "dependency",
        "dispatch")
# What a thread pays to have many commands instead of one.
LAUNCHING = ("api", "computing", "wait", "held", "dispatch")


@pytest.fixture(scope="module")
def reports(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    """Output and report of every example, recorded once the driver has its kernels."""
    recorder = Recorder(tare_path, tmp_path_factory.mktemp("examples"), kernel_cache, "pthread")
    made = {}
    for name, (program, *arguments) in RUNS.items():
        command = [EXAMPLES / program, *arguments]
        if arguments[0] in ("naive", "tiled", "inner", "sequential"):
            assert recorder.native(command).status == 0
        done = recorder.record(command, name=name.replace(" ", "-"))
        assert done.status == 0, done.errors.decode()
        made[name] = done.out.decode(), recorder.report(done.folder)
    return made


def said(text):
    """The lines "trace KIND COUNT BYTES" of an example."""
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("trace ")]
    return {kind: (int(count), int(size)) for kind, count, size in rows}


@pytest.mark.parametrize("name", RUNS)
def test_the_trace_has_what_the_example_says(reports, name):
    text, report = reports[name]
    assert said(text) and reported(report) == said(text)
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"] == sum(
        count for count, _ in said(text).values())


@pytest.mark.parametrize("name", RUNS)
def test_hardly_anything_is_unknown(reports, name):
    _, report = reports[name]
    for number, ledger in enumerate(report["ledgers"]):
        assert part(report, "unknown", number) <= ledger["wall_ns"] / 100
        assert part(report, "untimed", number) == 0


def share(report, categories):
    """Of the time in which the example worked: all but its beginning, its end and its build."""
    return sum(part(report, category) for category in categories) / sum(
        part(report, category) for category in (*IDLE, "kernel", "transfer_to_device", "transfer_from_device",
                                                "transfer_both_ways", "transfer_local")
        if category not in ("build", "allocate"))


def test_many_small_kernels_show_as_the_cost_of_issuing_them(reports):
    inner, naive = reports["matmul inner"][1], reports["matmul naive"][1]
    assert sum(task["instances"] for task in inner["tasks"]) == 4096
    issue = {name: report["summary"]["launch_ns"] for name, report in (("inner", inner), ("naive", naive))}
    assert issue["inner"] > 10 * issue["naive"]
    assert sum(part(inner, category) for category in LAUNCHING) > part(inner, "kernel")
    api = {row["function"]: row["count"] for row in inner["api"]}
    assert api["clSetKernelArg"] >= 2 * 4096 and api["clEnqueueNDRangeKernel"] == 4096


def test_a_build_for_every_chunk_shows_as_building(reports):
    bad, good = reports["pipeline build"][1], reports["pipeline concurrent"][1]
    assert len(bad["builds"]) == 9 and len(good["builds"]) == 1
    assert part(bad, "build") > part(good, "build")
    assert part(bad, "build") == max(part(bad, category) for category in IDLE)


def test_a_buffer_for_every_chunk_shows_as_allocating(reports):
    bad, good = reports["pipeline allocation"][1], reports["pipeline concurrent"][1]
    calls = {name: next(row for row in report["api"] if row["function"] == "clCreateBuffer")
             for name, report in (("bad", bad), ("good", good))}
    assert calls["bad"]["count"] == calls["good"]["count"] == 18
    assert part(bad, "allocate") > 0
