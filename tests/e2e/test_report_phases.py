# SPDX-License-Identifier: Apache-2.0
"""Phases in tare report: the table, and the report of a phase, on a trace whose truth is known
(report_trace.c: ten steps of 90 µs, each 15 µs of upload and 75 µs of compute)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402

PROGRAM = os.environ.get("TARE_REPORT_TRACE")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    if not PROGRAM:
        pytest.skip("TARE_REPORT_TRACE does not name the program")
    folder = tmp_path_factory.mktemp("phases")
    for name, more in (("with", ["phases"]), ("without", [])):
        subprocess.run([PROGRAM, folder / f"{name}.tare", *more], check=True, timeout=60)
    return folder


@pytest.fixture
def trace(made, tmp_path):
    return pathlib.Path(shutil.copytree(made / "with.tare", tmp_path / "with.tare"))


def document(tare, *arguments):
    result = tare("report", *arguments, "--json", "-")
    assert result.returncode == 0 and result.stderr == "", result
    read = json.loads(result.stdout)
    for ledger in read["ledgers"] + [row["ledger"] for row in read["phases"]]:
        assert sum(part["ns"] for part in ledger["parts"]) == ledger["wall_ns"]
        assert sum(cell["ns"] for cell in ledger["matrix"]) == ledger["wall_ns"]
    return read


def parts(ledger):
    return {row["category"]: row["ns"] for row in ledger["parts"] if row["ns"]}


def test_the_table_has_the_truth(tare, trace):
    rows = document(tare, trace)["phases"]
    assert [(row["domain"], row["name"], row["parent"], row["count"], row["unended"], row["total_ns"],
             row["covered_ns"], row["median_ns"], row["commands"]) for row in rows] == [
        ("app", "run", None, 1, 0, 995_000, 995_000, 995_000, 20),
        (None, "step", 0, 10, 0, 900_000, 900_000, 90_000, 20),
        (None, "compute", 1, 10, 0, 750_000, 750_000, 75_000, 10),
        (None, "upload", 1, 10, 0, 150_000, 150_000, 15_000, 10),
        (None, "tail", None, 1, 1, 4_000, 4_000, None, 0)]
    ledgers = {row["name"]: parts(row["ledger"]) for row in rows}
    assert ledgers["step"]["kernel"] == ledgers["compute"]["kernel"] == 500_000
    assert ledgers["step"]["transfer_to_device"] == ledgers["upload"]["transfer_to_device"] == 60_000
    assert "kernel" not in ledgers["upload"] and "transfer_to_device" not in ledgers["compute"]
    # Of a step all is in one of its two halves.
    for category, ns in ledgers["step"].items():
        assert ns == ledgers["upload"].get(category, 0) + ledgers["compute"].get(category, 0), category


def test_the_text_has_them_below_one_another(tare, trace):
    result = tare("report", trace)
    assert result.returncode == 0 and max(map(len, result.stdout.splitlines())) <= 80
    table = result.stdout[result.stdout.index("\nPhases\n"):].split("\n\n")[0].splitlines()
    names = [line[:14] for line in table[3:7]]
    assert [(len(name) - len(name.lstrip()), name.split()[0]) for name in names] == [
        (2, "app/run"), (4, "step"), (6, "compute"), (6, "upload")]
    assert table[4].split()[:7] == ["step", "10", "900", "90.0", "55.6", "6.7", "37.8"]
    assert "tail was begun and never ended" in " ".join(result.stdout.split())
    verbose = tare("report", trace, "-v").stdout
    assert verbose.count("Where the time of a phase went") == 3
    assert "Where the time of a phase went (step, 900 µs)" in verbose


def test_a_program_without_phases_has_no_table(tare, made):
    assert "Phases" not in tare("report", made / "without.tare").stdout
    assert document(tare, made / "without.tare")["phases"] == []


def test_the_report_of_a_phase_is_of_its_time(tare, trace):
    whole, step, upload, compute = (document(tare, trace, *more) for more in (
        [], ["--phase", "step"], ["--phase", "upload"], ["--phase", "comp*"]))
    assert step["view"]["phase"] == "step" and step["view"]["spans"] == 10
    assert whole["view"]["phase"] is None and whole["view"]["spans"] is None
    assert (step["wall_ns"], upload["wall_ns"], compute["wall_ns"]) == (900_000, 150_000, 750_000)
    for report, row in ((step, 1), (compute, 2), (upload, 3)):
        assert parts(report["ledgers"][-1]) == parts(whole["phases"][row]["ledger"])
        assert sum(bound["ns"] for bound in report["summary"]["bounds"]) == report["wall_ns"]
    # What belongs to a step belongs to one of its halves.
    assert [len(report["tasks"]) for report in (step, upload, compute)] == [1, 0, 1]
    assert [len(report["transfers"]) for report in (step, upload, compute)] == [1, 1, 0]
    assert step["coverage"]["enqueued"] == 20
    assert upload["coverage"]["enqueued"] == compute["coverage"]["enqueued"] == 10
    assert upload["transfers"] == step["transfers"] == whole["transfers"]
    # The gaps are cut to the upload, in which the kernel that ends the second one does not start.
    assert sorted({gap["to_ns"] - gap["from_ns"] for gap in upload["gaps"]}) == [2_000, 7_000]
    assert all(0 <= gap["from_ns"] % 100_000 < gap["to_ns"] % 100_000 <= 15_000 for gap in upload["gaps"])
    text = tare("report", trace, "--phase", "upload")
    words = " ".join(text.stdout.split())
    assert "150 µs of 1.00 ms wall" in words and "only phase upload (10 parts of the run)" in words
    assert "This phase is" in words or "what bounds this phase" in words


def test_a_phase_and_a_part_of_the_run(tare, trace):
    report = document(tare, trace, "--phase", "step", "--from", "0.00015", "--to", "0.0003")
    assert report["view"]["spans"] == 2 and report["wall_ns"] == 40_000 + 90_000
    assert {row["name"]: (row["count"], row["covered_ns"]) for row in report["phases"]} == {
        "run": (0, 130_000), "step": (1, 130_000), "compute": (1, 115_000), "upload": (1, 15_000)}
    assert report["tasks"][0]["instances"] == 1


def test_findings_stay_within_the_phase(tare, trace):
    for pattern in ("step", "upload", "compute", "app/run"):
        report = document(tare, trace, "--phase", pattern)
        for finding in report["findings"]:
            assert 0 < finding["cost_ns"] <= finding["claims_ns"] <= report["wall_ns"], (pattern, finding["id"])
        assert report["findings_together_ns"] <= report["wall_ns"]


def test_all_of_it_is_of_the_schema(tare, trace, tmp_path):
    pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    for more in ([], ["--phase", "step"]):
        assert tare("report", trace, *more, "--json", "made.json").returncode == 0
        validate.check(tmp_path / "made.json")


@pytest.mark.parametrize("pattern,more,words", [
    ("Step", [], "no phase of this trace matches 'Step'; there are app/run, step, upload, compute, tail"),
    ("tick", [], "no phase of this trace matches 'tick'; there are app/run"),
    ("", [], "--phase: needs a value (PATTERN)"),
    ("tail", ["--to", "50%"], "no phase 'tail' was open in the part of the run that --from and --to choose"),
    ("step", ["--process", "72"], "this process marks no phases"),
])
def test_what_is_not_there_is_refused(tare, trace, pattern, more, words):
    result = tare("report", trace, "--phase", pattern, *more)
    assert result.returncode == 2 and result.stdout == "" and words in result.stderr, result
    assert len(result.stderr.splitlines()) <= 2


def test_a_program_that_marks_none_is_told_how(tare, made):
    result = tare("report", made / "without.tare", "--phase", "step")
    assert result.returncode == 2 and "tare/phase.h, ITT or NVTX" in result.stderr
