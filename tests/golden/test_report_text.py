# SPDX-License-Identifier: Apache-2.0
"""The report of recorded runs that were made by hand: exact texts beside this file, JSON against its
schema, and what must hold at any width.

TARE_UPDATE_GOLDEN=1 writes the texts anew; the difference is then what there is to review.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
UPDATE = os.environ.get("TARE_UPDATE_GOLDEN") == "1"
PROGRAM = os.environ.get("TARE_REPORT_FIXTURE")
RUNS = ["simulate", "many", "strict", "unflushed", "writing", "nothing", "silent"]
sys.path.insert(0, str(HERE.parent / "e2e"))
import validate  # noqa: E402


def fixture(*arguments):
    if not PROGRAM:
        pytest.skip("TARE_REPORT_FIXTURE does not name the program")
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=60)
    return done.stdout.decode("utf-8")


def text(run, columns=80, verbosity=0, *more):
    return fixture(run, "text", columns, verbosity, *more)


@pytest.mark.parametrize("name, arguments", [
    ("report.txt", ("simulate", 80, 0)),
    ("report-120.txt", ("simulate", 120, 0)),
    ("report-verbose.txt", ("simulate", 80, 1)),
    ("report-many.txt", ("many", 80, 0)),
    ("report-many-verbose.txt", ("many", 80, 1)),
    ("report-strict.txt", ("strict", 80, 0)),
    ("report-nothing.txt", ("nothing", 80, 0)),
])
def test_text(name, arguments):
    written, path = text(*arguments), HERE / name
    if UPDATE:
        path.write_text(written, encoding="utf-8")
    assert path.exists(), f"no {name}: TARE_UPDATE_GOLDEN=1 writes it"
    assert written == path.read_text(encoding="utf-8")


def plain(line):
    return line.replace("\033[1m", "").replace("\033[2m", "").replace("\033[33m", "").replace("\033[0m", "")


@pytest.mark.parametrize("columns", [80, 97, 120, 300])
@pytest.mark.parametrize("run", RUNS)
def test_no_line_is_wider_than_the_terminal_and_none_drives_it(run, columns):
    for verbosity in (-1, 0, 1):
        for line in text(run, columns, verbosity).splitlines():
            assert len(line) <= columns, line
            assert line == line.rstrip(), line
            assert line.isprintable(), line


@pytest.mark.parametrize("run", RUNS)
def test_a_narrow_terminal_gets_its_report_too(run):
    written = text(run, 40, 1)
    assert "What the figures rest on" in written and max(map(len, written.splitlines())) < 100


@pytest.mark.parametrize("run", RUNS)
def test_ascii_has_the_same_shape(run):
    for verbosity in (0, 1):
        # Wide enough for no paragraph to be broken: "+-" for "±" takes one column more. A table's column takes a blank for it.
        utf8, ascii_only = text(run, 400, verbosity), text(run, 400, verbosity, "ascii")
        assert ascii_only.isascii()
        # Every sign of ours has a stand-in.
        assert ascii_only.count("?") == utf8.count("?")
        assert [len(line) for line in ascii_only.splitlines()] == [
            len(line.replace("  ±", " +-").replace("±", "+-")) for line in utf8.splitlines()]


@pytest.mark.parametrize("run", RUNS)
def test_colour_carries_nothing_alone(run):
    # Colour ends after the padding, so that lines may end in spaces then.
    coloured = [plain(line).rstrip() for line in text(run, 80, 0, "colour").splitlines()]
    assert coloured == text(run, 80, 0).splitlines()


@pytest.mark.parametrize("run", RUNS)
def test_json_is_of_the_schema_and_the_same_each_time(run, tmp_path):
    pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    first = fixture(run, "json")
    path = tmp_path / "report.json"
    path.write_text(first, encoding="utf-8")
    document = validate.check(path)
    assert document["format"] == "tare.report/1"
    assert first == fixture(run, "json")


def test_every_run_has_the_same_keys_at_the_top():
    lists = [list(json.loads(fixture(run, "json"))) for run in RUNS]
    assert all(names == lists[0] for names in lists)
    for key in ("wall_ns", "ledgers", "tasks", "transfers", "api", "queues", "coverage", "changes", "clock",
                "processes", "summary", "builds", "memory", "program", "exit_status", "view"):
        assert key in lists[0]


def document_of(run):
    return json.loads(fixture(run, "json"))


def test_figures_are_those_of_the_run():
    document = document_of("simulate")
    assert document["wall_ns"] == 12_410_000_000
    assert document["program"] == "./simulate --steps 200" and document["exit_status"] == 0
    ledger = document["ledgers"][0]
    assert (ledger["scope"], ledger["name"], ledger["device_number"]) == ("device", "NVIDIA H200", 0)
    assert sum(part["ns"] for part in ledger["parts"]) == ledger["wall_ns"] == document["wall_ns"]
    assert sum(cell["ns"] for cell in ledger["matrix"]) == ledger["wall_ns"]
    assert ledger["ambiguous_ns"] == 2_000_001
    task, other = document["tasks"]
    assert (task["name"], task["device"], task["instances"], task["total_ns"]) == (
        "step", "NVIDIA H200", 200, 5_020_000_000)
    assert task["work"] == {"global": [4096, 4096], "local": [16, 16]}
    assert task["facts"]["compiled_group"] == [16, 16, 1] and task["facts"]["sub_group"] is None
    assert task["source_hash"] == "1234abcd5678ef90"
    assert other["work"] == {"global": [65536], "local": None} and other["facts"] is None
    assert [row["work"]["global"] for row in other["by_shape"]] == [[65536], [1000]]
    write, mapped, fill = document["transfers"]
    assert (write["kind"], write["direction"], write["memory"], write["count"]) == (
        "write", "to_device", "pageable", 34000)
    assert write["exposed_ns"] + write["hidden_ns"] == write["total_ns"]
    assert write["sizes"] == [{"from_bytes": 4096, "below_bytes": 16384, "count": 1000},
                              {"from_bytes": 1 << 20, "below_bytes": 4 << 20, "count": 33000}]
    assert mapped["sizes"][-1] == {"from_bytes": 16 << 30, "below_bytes": None, "count": 33998}
    assert fill["memory"] is None
    assert document["builds"][0]["at_ns"] == 500_000_000
    assert document["memory"] == {"objects": 12, "bytes": 3 << 30, "peak_bytes": 2 << 30,
                                  "peak_at_ns": 2_000_000_000, "held_at_end": 2}
    assert document["queues"][0]["gap_causes"] == [
        {"category": "host_build", "ns": 400_000_000}, {"category": "host_computing", "ns": 1_800_000_000}]
    assert document["coverage"]["enqueued"] == document["coverage"]["completed"] == 81204
    assert [change["change"] for change in document["changes"]] == ["profiling", "event", "helper"]
    assert document["clock"]["devices"][0] == {
        "process": 0, "device": "NVIDIA H200", "device_number": 0, "source": "pairs", "residual_ns": 60,
        "drift_ppm": -2.13, "pairs": 24, "contradictions": 0}
    process = document["processes"][0]
    assert (process["pid"], process["threads"], process["rank"], process["recorded_from_ns"]) == (
        4120, 2, None, 3_000_000)


@pytest.mark.parametrize("run, path", [
    ("strict", ("tasks", 0, "total_ns")), ("strict", ("tasks", 0, "median_ns")),
    ("strict", ("tasks", 0, "share")), ("strict", ("tasks", 0, "work")), ("strict", ("tasks", 0, "fill")),
    ("strict", ("tasks", 0, "trend_per_run")), ("strict", ("tasks", 0, "facts")),
    ("strict", ("transfers", 0, "total_ns")), ("strict", ("transfers", 0, "exposed_ns")),
    ("strict", ("transfers", 0, "hidden_ns")), ("strict", ("transfers", 0, "bytes_per_second")),
    ("strict", ("transfers", 0, "ceiling_bytes_per_second")), ("strict", ("queues", 0, "busy_ns")),
    ("strict", ("queues", 0, "gaps_ns")), ("strict", ("queues", 0, "mean_depth")),
    ("strict", ("queues", 0, "max_depth")), ("strict", ("queues", 0, "median_latency_ns")),
    ("strict", ("clock", "devices", 0, "residual_ns")), ("strict", ("summary", "device_utilisation")),
    ("strict", ("summary", "kernel_share")),
    ("many", ("coverage", "self_cost_ns")), ("many", ("coverage", "self_cost_share")),
    ("many", ("exit_status",)), ("many", ("summary", "cpu_utilisation")),
    ("many", ("summary", "mean_launch_ns")), ("many", ("summary", "working_from_ns")),
    ("many", ("memory", "peak_at_ns")), ("many", ("ledgers", 2, "device_number")),
    ("many", ("clock", "devices", 1, "drift_ppm")), ("nothing", ("clock", "host_residual_ns")),
    ("many", ("processes", 1, "cpu_ns")), ("many", ("processes", 1, "helper_cpu_ns")),
    ("nothing", ("trace", "user_cpu_ns")), ("nothing", ("trace", "start_realtime_ns")),
    ("simulate", ("exit_signal",)), ("simulate", ("processes", 0, "rank")),
    ("simulate", ("view", "kernel")), ("simulate", ("view", "process")),
])
def test_what_is_not_known_is_null(run, path):
    value = document_of(run)
    for step in path:
        value = value[step]
    assert value is None


def test_a_part_of_the_run_says_so():
    document = document_of("many")
    assert document["view"] == {"from_ns": 1_000_000_000, "to_ns": 12_410_000_000, "process": None,
                                "device": None, "kernel": "*N*", "phase": None, "spans": None}
    head = text("many").split("Where the time went")[0]
    assert "11.4 s of 12.4 s wall" in head
    assert "only from 1.00 s to 12.4 s of the run, kernels *N*" in head
    assert "the newest of 3 here" in head
    assert "only" not in text("simulate").split("Where")[0]


@pytest.mark.parametrize("run, words", [
    ("strict", "no device times: the queues have no profiling (--strict changes none); 1024 commands, "
               "host times only"),
    ("unflushed", "1024 enqueued, 0 completed: nothing was flushed"),
    ("writing", "the trace is still being written, or its recording was cut off (process 4120)"),
    ("nothing", "no process was recorded: the layer was never loaded (0 calls)"),
    ("silent", "no call and no command was recorded"),
    ("many", "1204 of 81204 commands have no device times (4 ended with an error, 1200 queue without "
             "profiling)"),
    ("many", "the file of process 4120 is damaged, what could be read is reported: window 7"),
    ("many", "process 4125 stopped before its end: no space was left on the disk"),
    ("many", "1200 records found no room and are missing, 17 of them commands"),
    ("many", "2 files in the folder are no traces"),
    ("many", "1 command: the device's times contradict the calls"),
    ("many", "8.1 % of the time of #1 NVIDIA H200 is not known"),
])
def test_what_is_wrong_with_the_figures_comes_before_them(run, words):
    head = " ".join(text(run).split("Where the time went")[0].split())
    assert words in head
    assert any(words in problem["text"] and problem["concerns_figures"]
               for problem in document_of(run)["problems"])


def test_nothing_is_wrong_with_a_good_run():
    assert document_of("simulate")["problems"] == []
    assert "!" not in text("simulate")


def test_several_devices_have_numbers_and_a_union():
    written = text("many")
    for title in ("#0 NVIDIA H200", "#1 NVIDIA H200", "all devices together"):
        assert f"Where the time went ({title})" in written
    assert "all devices" not in text("simulate") and "#0" not in text("simulate")
    assert [ledger["device_number"] for ledger in document_of("many")["ledgers"]] == [0, 1, None]


def test_top_rows_only_without_v():
    assert "and 4 more with 80 instances, none timed (-v lists them)" in text("many")
    assert "-v lists them" not in text("many", 80, 1).replace("several sizes (-v lists them)", "")
    assert "clGetPlatformIDs" not in text("simulate") and "clGetPlatformIDs" in text("simulate", 80, 1)
    assert "host, % against device" not in text("simulate")
    assert "host, % against device" in text("simulate", 80, 1)
    # Of the builds the five longest, in the order of time.
    builds = text("simulate").split("Builds")[1].split("Memory")[0]
    rows = [line.split() for line in builds.splitlines() if "clBuildProgram" in line]
    assert [(row[1], row[3]) for row in rows] == [("1.00", "84.0"), ("1.50", "56.0"), ("2.50", "98.0"),
                                                  ("3.00", "70.0"), ("3.50", "42.0")]
    assert "failed: -11" in builds


@pytest.mark.parametrize("path, value", [
    (("format",), "tare.report/2"), (("wall_ns",), 1.5), (("wall_ns",), None), (("surprise",), 1),
    (("ledgers", 0, "parts", 0, "ns"), -1), (("ledgers", 0, "scope"), "galaxy"),
    (("tasks", 0, "instances"), None), (("tasks", 0, "total_ns"), 0.5), (("transfers", 0, "count"), "many"),
    (("coverage", "enqueued"), None), (("processes", 0, "pid"), -4), (("clock", "devices", 0, "source"), "guess"),
])
def test_what_must_not_be_written_is_refused(path, value):
    pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    document = document_of("simulate")
    assert not validate.faults(document)
    broken = copy.deepcopy(document)
    place = broken
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert validate.faults(broken)
