# SPDX-License-Identifier: Apache-2.0
"""The examples, recorded: the trace contains what each says it must, the ledger is exact, and each
way of doing it badly shows where it should. Compared are shares of one run with those of another."""
import json
import os
import pathlib
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import trace_oracle  # noqa: E402
from recorded import EXAMPLES, Recorder, built, part, reported, run  # noqa: E402, F401

pytestmark = built()
PIPELINES = ("sequential", "concurrent", "default-queue", "blocking", "pageable", "allocation", "build")
MATRICES = ("inner", "naive", "tiled")
RUNS = {
    **{f"matmul {form}": ("matmul", form, "64") for form in MATRICES},
    **{f"pipeline {form}": ("pipeline", form, "3" if form == "build" else "8", "1024", "64")
       for form in PIPELINES},
    "transfers": ("transfers", "1024"),
}
IDLE = ("host_build", "host_load", "host_allocate", "host_blocking_copy", "host_wait", "host_api",
        "host_release", "host_query", "host_computing",
        "host_off_cpu", "held", "dependency", "dispatch")


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("examples"), kernel_cache, "pthread")


@pytest.fixture(scope="module")
def reports(recorder):
    """Output, report and trace of every example, recorded once the driver has its kernels."""
    made = {}
    for name, (program, *arguments) in RUNS.items():
        command = [EXAMPLES / program, *arguments]
        if arguments[0] != "build":  # which has something new to compile each time
            assert recorder.native(command).status == 0
        done = recorder.record(command, name=name.replace(" ", "-"))
        assert done.status == 0, done.errors.decode()
        made[name] = done.out.decode(), recorder.report(done.folder), done.folder
    return made


def said(text):
    """The lines "trace KIND COUNT BYTES" of an example."""
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("trace ")]
    return {kind: (int(count), int(size)) for kind, count, size in rows}


def test_without_sizes_the_pipeline_works_for_half_a_second(recorder):
    """On whatever device it finds; with sizes once, or as often as it is told."""
    for arguments, least_ms, runs in ((["concurrent", "16", "1024", "4"], 0, 1), (["concurrent"], 500, None),
                                      (["concurrent", "2", "64", "4", "3"], 0, 3)):
        done = recorder.native([EXAMPLES / "pipeline", *arguments])
        assert done.status == 0
        found = re.search(r"(\d+) runs?: ([\d.]+) ms each, right", done.out.decode())
        assert found, done.out
        # What it prints is rounded to a microsecond a run.
        assert int(found[1]) * (float(found[2]) + 1e-3) >= least_ms and runs in (None, int(found[1]))


@pytest.mark.parametrize("name", RUNS)
def test_the_trace_has_what_the_example_says(reports, name):
    text, report, _ = reports[name]
    assert said(text) and reported(report) == said(text)
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"] == sum(
        count for count, _ in said(text).values())


@pytest.mark.parametrize("name", RUNS)
def test_hardly_anything_is_unknown(reports, name):
    _, report, _ = reports[name]
    for number, ledger in enumerate(report["ledgers"]):
        assert part(report, "unknown", number) <= ledger["wall_ns"] / 100
        assert part(report, "untimed", number) == 0


def host_ns(report, host, device=None):
    """Of the matrix: how long the host was in a state while the device was in one, or in any."""
    return sum(cell["ns"] for cell in report["ledgers"][0]["matrix"]
               if cell["host"] == host and device in (None, cell["device"]))


def launching_ns(report):
    return sum(part(report, category) for category in ("held", "dispatch", "host_api"))


def test_many_small_kernels_show_as_the_cost_of_issuing_them(reports, recorder):
    inner, naive = reports["matmul inner"][1], reports["matmul naive"][1]
    # The loops last milliseconds: on a busy machine a program may be off the CPU for most of them.
    for attempt in range(5):
        if inner["summary"]["bound"] == "launch" and launching_ns(inner) > launching_ns(naive):
            break
        inner, naive = (recorder.report(recorder.record([EXAMPLES / "matmul", form, "64"],
                                                        name=f"{form}-{attempt}").folder)
                        for form in ("inner", "naive"))
    assert inner["summary"]["bound"] == "launch"
    assert launching_ns(inner) > launching_ns(naive) and launching_ns(inner) > part(inner, "kernel")
    api = {row["function"]: row["count"] for row in inner["api"]}
    assert api["clSetKernelArg"] >= 2 * 4096 and api["clEnqueueNDRangeKernel"] == 4096


def test_a_build_for_every_chunk_shows_as_building(reports):
    bad, good = reports["pipeline build"][1], reports["pipeline concurrent"][1]
    assert len(bad["builds"]) == 1 + 3 and len(good["builds"]) == 1
    assert part(bad, "host_build") > part(good, "host_build")


def test_a_buffer_for_every_chunk_shows_as_allocating_in_the_work(reports):
    def made_after_the_first_write(form):
        trace, _ = trace_oracle.load(reports[f"pipeline {form}"][2])
        begin = min(command.enter for command in trace.commands if command.kind == "write")
        return sum(trace.function(call)[0] == "clCreateBuffer" and call.enter > begin for call in trace.calls)

    assert made_after_the_first_write("allocation") == 2 * (8 - 1)
    assert made_after_the_first_write("concurrent") == 0
    assert part(reports["pipeline allocation"][1], "host_allocate") > 0


@pytest.mark.parametrize("form", ["blocking", "sequential"])
def test_blocking_copies_show_and_nothing_is_hidden(reports, form):
    bad, good = reports[f"pipeline {form}"][1], reports["pipeline concurrent"][1]
    assert part(bad, "host_blocking_copy") > 0
    moving = sum(row["total_ns"] for row in bad["transfers"] if row["kind"] in ("read", "write"))
    assert host_ns(bad, "blocking_copy") > moving / 2
    assert host_ns(bad, "blocking_copy") > host_ns(good, "blocking_copy")
    assert {row["kind"]: row["blocking"] for row in bad["transfers"] if row["kind"] in ("read", "write")} == {
        "read": True, "write": True}
    assert sum(row["hidden_ns"] for row in bad["transfers"]) == 0


@pytest.mark.skipif(os.cpu_count() < 2, reason="on one CPU nothing runs at the same time")
def test_the_concurrent_pipeline_hides_transfers(reports):
    _, report, _ = reports["pipeline concurrent"]
    assert all(row["hidden_ns"] > 0 for row in report["transfers"] if row["kind"] in ("read", "write"))


def test_the_kinds_of_host_memory_are_told(reports):
    def memories(form):
        return {row["memory"] for row in reports[f"pipeline {form}"][1]["transfers"]
                if row["kind"] in ("read", "write")}

    assert memories("pageable") == {"pageable"} and memories("concurrent") == {"pinned"}


def test_queues(reports):
    for form, queues in (("sequential", 1), ("default-queue", 1), ("concurrent", 3)):
        report = reports[f"pipeline {form}"][1]
        assert len(report["queues"]) == queues
        assert sum(row["commands"] for row in report["queues"]) == report["coverage"]["enqueued"]


def hotspots_without_counters(recorder, *words, **environment):
    page = recorder.folder / "hotspots.html"
    done = run([recorder.tare, "hotspots", "--force", "-o", "hot", "--html", page, "--", *words],
               {**recorder.environment, **environment}, cwd=recorder.folder)
    assert done.status == 0, done.errors.decode()
    document = json.loads(re.search(r'id="hotspots">(.*?)</script>', page.read_text(), re.S)[1])
    return " ".join(done.out.decode().split()), " ".join(done.errors.decode().split()), document


COMPILERS = any(shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}") for n in range(11, 40))


@pytest.mark.skipif(not COMPILERS, reason="there is no clang with an llvm-spirv of its version")
def test_hotspots_of_a_device_without_counters(recorder):
    """Its instructions are counted in runs without output. Figures are closed forms, over the recorded time."""
    n = 64
    out, said, document = hotspots_without_counters(recorder, EXAMPLES / "matmul", "naive", str(n))
    assert out.count("worst error 0") == 1
    assert "n/a: no counters here: OpenCL tells none; `tare blocks` counts" in out
    assert "the program ran three times" in said
    assert document["device"]["no_counters"].startswith("OpenCL tells none")
    kernel, = document["kernels"]
    assert kernel["name"] == "naive" and kernel["uncounted"] is None and kernel["total_ns"] > 0
    assert kernel["verdict"]["bound"] == "n/a" and kernel["verdict"]["possible"] == ["n/a"]
    assert kernel["verdict"]["text"] == "n/a: without counters it is not known what binds it."
    edge = kernel["edges"][0]
    assert edge["bytes"] == 4 * (2 * n**3 + n**2) and kernel["arithmetic"]["flop"] == 2 * n**3
    assert edge["bytes_per_s"] == pytest.approx(edge["bytes"] / kernel["mean_ns"] * 1e9)
    assert edge["remark"] == "what instructions ask for, over the recorded time"
    assert edge["flop_per_byte"] == pytest.approx(2 * n**3 / edge["bytes"])
    assert all(other["bytes"] is None for other in kernel["edges"][1:]), "nothing is said of what was not counted"


def test_hotspots_whose_instructions_cannot_be_counted(recorder):
    """The table of times remains, and why there is no more is said."""
    tools = recorder.folder / "tools"  # the driver's linker, and no compiler
    tools.mkdir()
    (tools / "ld").symlink_to(shutil.which("ld"))
    out, said, document = hotspots_without_counters(recorder, EXAMPLES / "matmul", "naive", "16", PATH=str(tools))
    assert "instructions were not counted: no kernel's code could be taken" in said
    assert not document["by_instructions"] and "asked" not in out and "share a launch" in out
    kernel, = document["kernels"]
    assert kernel["edges"][0]["bytes"] is None and kernel["arithmetic"]["flop"] is None
    assert kernel["total_ns"] > 0 and kernel["launches"] == 1
