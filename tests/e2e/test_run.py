# SPDX-License-Identifier: Apache-2.0
"""tare run: the program as tare record runs it, then the report of it."""
import json
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import recorded  # noqa: E402

PIPELINE = recorded.EXAMPLES / "pipeline"


@pytest.mark.parametrize("status", [0, 3, 125])
def test_the_programs_output_comes_first_and_its_status_last(tare, tmp_path, status):
    done = tare("run", "-o", "out", "sh", "-c", f"echo own words; ls -a; exit {status}")
    lines = done.stdout.splitlines()
    assert done.returncode == status and lines[0] == "own words"
    # Nothing but the trace was in the folder while it ran.
    assert lines[1:4] == [".", "..", "out.tare"] and "sh -c" in done.stdout
    assert all(line.startswith("tare: run: ") for line in done.stderr.splitlines()) and done.stderr
    assert (tmp_path / "out.tare" / "record.json").exists()


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT"])
def test_a_program_that_is_killed_is_reported_and_ends_tare(tare, tmp_path, name):
    done = tare("run", "-q", "--json", "out.json", "-o", "out", "--", "sh", "-c", f"ulimit -c 0; kill -{name} $$")
    number = getattr(signal, "SIG" + name)
    assert done.returncode == -number and done.stderr == ""
    assert json.loads((tmp_path / "out.json").read_text())["exit_signal"] == number
    assert str(number) in done.stdout or name in done.stdout


def test_json_to_standard_output_stands_alone(tare):
    done = tare("run", "-q", "--json", "-", "--", "true")
    read = json.loads(done.stdout)
    assert done.returncode == 0 and (read["format"], read["exit_status"]) == ("tare.report/1", 0)


def test_a_file_that_cannot_be_written_is_found_before_the_program_runs(tare, tmp_path):
    done = tare("run", "--json", "none/out.json", "--", "touch", "ran")
    assert done.returncode == 125 and done.stdout == "" and "cannot write none/out.json" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program, status", [("exit 0", 125), ("exit 4", 4)])
def test_a_report_that_fails_counts_when_the_program_did_not(tare, tmp_path, program, status):
    done = tare("run", "-q", "-o", "out", "--device", "7", "--", "sh", "-c", program)
    line, = done.stderr.splitlines()
    assert done.returncode == status and done.stdout == ""
    assert line.startswith("tare: run: --device") and "the trace is in out.tare" in line


def test_a_trace_that_is_there_stays_without_force(tare, tmp_path):
    assert tare("run", "-q", "true").returncode == 0
    before = (tmp_path / "true.tare" / "record.json").read_bytes()
    refused = tare("run", "true")
    assert refused.returncode == 125 and "--force" in refused.stderr and refused.stdout == ""
    assert (tmp_path / "true.tare" / "record.json").read_bytes() == before
    assert tare("run", "-f", "true").returncode == 0
    assert (tmp_path / "true.tare" / "record.json").read_bytes() != before


@pytest.mark.parametrize("arguments, status, words", [
    ([], 125, "the program to run is missing: tare run -- ./app"),
    (["--", "./none"], 127, "./none"),
    (["--", "/"], 126, "/"),
    (["--keep", "all", "true"], 125, "--keep"),
    (["--budget", "1", "true"], 125, "run takes no option '--budget'"),
])
def test_what_cannot_be_run_is_said_in_one_sentence(tare, tmp_path, arguments, status, words):
    done = tare("run", *arguments)
    line, = done.stderr.splitlines()
    assert done.returncode == status and done.stdout == "" and words in line, done
    assert list(tmp_path.iterdir()) == []


def test_the_default_device_of_measuring_is_not_the_reports(tare):
    assert tare("run", "-q", "true", env={"TARE_DEVICE": "simulated"}).returncode == 0


@pytest.mark.skipif(not PIPELINE.exists(), reason="there is no OpenCL library to link with")
def test_a_real_program_is_reported_as_by_the_two_commands(tare, tmp_path):
    environment = {**recorded.QUIET, "POCL_DEVICES": "basic"}
    done = tare("run", "--json", "out.json", "--", PIPELINE, "sequential", "16", "1024", env=environment)
    assert done.returncode == 0 and "1 process" in done.stderr and "next:" not in done.stderr
    own, report = done.stdout.split("wall", 1)
    assert own.count("\n") > 1 and "Where the time went" in report and "data: out.json" in report
    one = json.loads((tmp_path / "out.json").read_text())
    two = json.loads(tare("report", "pipeline.tare", "--json", "-").stdout)
    assert one["tasks"] and all(one[key] == two[key] for key in ("wall_ns", "ledgers", "tasks", "transfers", "coverage"))
