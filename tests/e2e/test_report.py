# SPDX-License-Identifier: Apache-2.0
"""tare report on a small trace whose truth is known (report_trace.c), and on what is none."""
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402

PROGRAM = os.environ.get("TARE_REPORT_TRACE")
PAGE = 4096
MAJOR = 8  # offset of the version in the header


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    if not PROGRAM:
        pytest.skip("TARE_REPORT_TRACE does not name the program")
    folder = tmp_path_factory.mktemp("original") / "made.tare"
    subprocess.run([PROGRAM, folder], check=True, timeout=60)
    return folder


@pytest.fixture
def trace(original, tmp_path):
    return pathlib.Path(shutil.copytree(original, tmp_path / "made.tare"))


def sentence(result, status=1):
    """The one line on standard error of a command that failed."""
    assert result.returncode == status and result.stdout == "", result
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tare: report: ") and not lines[0].endswith("."), lines
    return lines[0]


def document(tare, *arguments):
    result = tare("report", *arguments, "--json", "-")
    assert result.returncode == 0 and result.stderr == "", result
    read = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))
    for ledger in read["ledgers"]:
        assert sum(part["ns"] for part in ledger["parts"]) == ledger["wall_ns"] == read["wall_ns"]
        assert sum(cell["ns"] for cell in ledger["matrix"]) == ledger["wall_ns"]
    return read


def part(report, category, ledger=0):
    return next(row["ns"] for row in report["ledgers"][ledger]["parts"] if row["category"] == category)


# ---- what it says

def test_the_json_has_the_truth(tare, trace):
    report = document(tare, trace)
    assert report["format"] == "tare.report/1" and report["wall_ns"] == 1_000_000
    assert report["program"] == "./made --rounds 10" and report["exit_status"] == 0
    assert part(report, "kernel") == 500_000 and part(report, "transfer_to_device") == 60_000
    (task,), (write,) = report["tasks"], report["transfers"]
    assert (task["name"], task["device"], task["instances"], task["total_ns"], task["median_ns"]) == (
        "blur", "Made GPU", 10, 500_000, 50_000)
    assert task["work"] == {"global": [4096], "local": [64]}
    assert (write["kind"], write["direction"], write["memory"], write["blocking"], write["count"],
            write["bytes"], write["total_ns"], write["exposed_ns"], write["hidden_ns"]) == (
        "write", "to_device", "pageable", True, 10, 10240, 60_000, 60_000, 0)
    coverage = report["coverage"]
    assert (coverage["enqueued"], coverage["completed"], coverage["unobserved"], coverage["dropped"]) == (
        20, 20, 0, 0)
    assert {row["function"]: row["count"] for row in report["api"]} == {
        "clFinish": 10, "clEnqueueWriteBuffer": 10, "clEnqueueNDRangeKernel": 10}
    assert [process["pid"] for process in report["processes"]] == [71, 72]


def test_the_json_is_of_the_schema(tare, trace, tmp_path):
    pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    assert tare("report", trace, "--json", "made.json").returncode == 0
    validate.check(tmp_path / "made.json")


def test_the_text_says_the_same(tare, trace):
    result = tare("report", trace)
    assert result.returncode == 0 and result.stderr == ""
    words = " ".join(result.stdout.split())
    for said in ("./made --rounds 10 1.00 ms wall, 2 processes, 1 thread, 1 device",
                 "recorded 20 commands, all timed", "Where the time went (Made GPU) kernels 50.0 % 0.500 ms",
                 "transfers not hidden, to device 6.0 % 0.060 ms", "blur 10 500 100.0 % 50.0 50.0 50.0 50.0",
                 "write, pageable, blocking 10 10 KB 60.0 60.0 0 0.171",
                 "20 enqueued, 20 completed with device times, 0 not observed"):
        assert said in words, said


def test_text_and_json_in_one_go_and_the_trace_stays_as_it_is(tare, trace, tmp_path):
    def digests():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in trace.iterdir()}
    before = digests()
    result = tare("report", trace, "--json", "made.json")
    assert result.stdout.splitlines()[-1] == "data: made.json"
    assert json.loads((tmp_path / "made.json").read_text())["wall_ns"] == 1_000_000
    assert digests() == before


def test_output_follows_terminal_and_locale(tare, trace):
    plain = tare("report", trace)
    assert "\033" not in plain.stdout and max(map(len, plain.stdout.splitlines())) <= 80
    ascii_only = tare("report", trace, env={"LC_ALL": "C"})
    assert ascii_only.stdout.isascii() and "####" in ascii_only.stdout
    assert max(map(len, ascii_only.stdout.splitlines())) <= 80
    # So wide that "+-" for "±" breaks no paragraph elsewhere.
    widest = [tare("report", trace, env={"COLUMNS": "400", **more}).stdout for more in ({"LC_ALL": "C"}, {})]
    assert [len(line) for line in widest[0].splitlines()] == [
        len(line.replace("  ±", " +-").replace("±", "+-")) for line in widest[1].splitlines()]
    wide = tare("report", trace, env={"COLUMNS": "120"})
    assert 80 < max(map(len, wide.stdout.splitlines())) <= 120


def test_q_is_the_first_part_of_it_and_v_adds_rows(tare, trace):
    quiet, usual, verbose = (tare("report", trace, *more).stdout for more in (["-q"], [], ["-v"]))
    assert len(usual.splitlines()) < len(verbose.splitlines())
    assert usual.startswith(quiet) and usual[len(quiet):].lstrip("\n").startswith("Computing tasks")
    assert "What to change, by what it costs" in quiet
    assert "idle: building kernels" in verbose and "idle: building kernels" not in usual
    assert "kernels 50.0 %" in " ".join(quiet.split())


# ---- which trace

def test_the_newest_trace_here_is_taken_and_named(tare, trace, tmp_path):
    assert "trace made.tare, the only one here" in tare("report").stdout
    for name, age in (("old", 3000), ("new", 1000), ("mid", 2000)):
        shutil.copytree(trace, tmp_path / f"{name}.tare")
        record = tmp_path / f"{name}.tare" / "record.json"
        record.write_text(record.read_text().replace("./made", f"./{name}"))
        when = record.stat().st_mtime + 10000 - age
        os.utime(record, (when, when))
    result = tare("report")
    assert "trace new.tare, the newest of 4 here" in result.stdout and "./new" in result.stdout
    assert "trace" not in tare("report", "old.tare").stdout.split("Where")[0]
    assert document(tare)["program"] == "./new --rounds 10"


# ---- a part of it

@pytest.mark.parametrize("filters, wall, commands, kernels", [
    (["--from", "50%"], 500_000, 10, 5),
    (["--to", "0.0005"], 500_000, 10, 5),
    (["--from", "20%", "--to", "40%"], 200_000, 4, 2),
    (["--process", "71"], 1_000_000, 20, 10),
    (["--process", "made"], 1_000_000, 20, 10),
    (["-p", "0"], 1_000_000, 20, 10),
    (["--device", "0"], 1_000_000, 20, 10),
    (["-d", "gpu"], 1_000_000, 20, 10),
    (["-k", "b*r"], 1_000_000, 20, 10),
])
def test_a_view_has_what_belongs_to_it(tare, trace, filters, wall, commands, kernels):
    report = document(tare, trace, *filters)
    assert report["wall_ns"] == wall and report["coverage"]["enqueued"] == commands
    assert sum(task["instances"] for task in report["tasks"]) == kernels
    assert "only " in tare("report", trace, *filters).stdout.split("Where")[0]


def test_a_process_that_did_nothing_says_so(tare, trace):
    report = document(tare, trace, "--process", "other")
    assert report["coverage"]["enqueued"] == 0 and [row["pid"] for row in report["processes"]] == [72]
    assert [problem["id"] for problem in report["problems"]] == ["no-calls"]
    text = tare("report", trace, "--process", "72").stdout
    assert "! nothing to report: no call and no command was recorded in what was asked for" in text
    assert "none: no command was recorded in this part of the run" in text


@pytest.mark.parametrize("filters, words", [
    (["--process", "5"], "no process '5' in this trace; there are 0 (pid 71, made), 1 (pid 72, other)"),
    (["--device", "arc"], "no device 'arc' in this trace; there is 0 (Made GPU)"),
    (["--kernel", "x*"], "no kernel of this trace matches 'x*'; there is blur"),
    (["--from", "2"], "--from 2 is not within the run, which took 1.00 ms"),
    (["--from", "60%", "--to", "40%"], "--from 60% is not before --to 40%"),
    (["--from", "soon"], "'soon' is neither seconds"),
    (["--to", "120%"], "'120%' is neither seconds"),
    (["--process="], "--process: needs a value"),
    (["--csv", "x"], "report takes no option '--csv'; see tare report --help"),
    (["a", "b"], "unexpected argument 'b'"),
])
def test_a_filter_that_fits_nothing_is_refused_with_what_there_is(tare, trace, filters, words):
    operand = [] if filters == ["a", "b"] else [trace]
    assert words in sentence(tare("report", *operand, *filters), status=2)


def test_the_device_to_measure_on_is_no_filter(tare, trace):
    assert tare("report", trace, env={"TARE_DEVICE": "cuda:0"}).returncode == 0


# ---- bad input

def test_where_there_is_no_trace_it_says_how_to_get_one(tare, tmp_path):
    assert "no trace (*.tare) in this folder" in sentence(tare("report"))
    assert "tare record -- ./app" in sentence(tare("report"))
    assert "cannot read none.tare: No such file" in sentence(tare("report", "none.tare"))
    (tmp_path / "empty.tare").mkdir()
    assert "'empty.tare' holds no trace" in sentence(tare("report", "empty.tare"))
    assert "did you mean empty.tare" in sentence(tare("report", "empty"))
    (tmp_path / "text.tare").write_text("hello")
    assert "holds no trace" in sentence(tare("report", "text.tare"))


def files_of(trace):
    return sorted(trace.glob("*.trace"))


def test_a_trace_of_a_newer_version_is_refused(tare, trace):
    for path in files_of(trace):
        content = bytearray(path.read_bytes())
        struct.pack_into("<H", content, MAJOR, 2)
        path.write_bytes(content)
    assert "newer" in sentence(tare("report", trace))


@pytest.mark.parametrize("target, reason", [
    ("none/x.json", "No such file or directory"), (".", "Is a directory"), ("/dev/full", "No space left on device"),
])
def test_json_that_cannot_be_written_is_one_sentence(tare, trace, target, reason):
    assert reason in sentence(tare("report", trace, "--json", target))


needs_page = pytest.mark.skipif(os.environ.get("TARE_PAGE") != "1", reason="this tare was built without the page")


@needs_page
def test_a_page_that_cannot_be_written_says_why_and_leaves_nothing(tare, trace, tmp_path):
    assert "No space left on device" in sentence(tare("report", trace, "--html", "/dev/full"))
    folder = tmp_path / "small"
    folder.mkdir()
    for option in ("--html", "--json"):
        words = sentence(tare("report", trace, option, "out", cwd=folder, preexec_fn=limit_files))
        assert words == "tare: report: cannot write out: File too large" and list(folder.iterdir()) == []


def limit_files():
    # Python ignores it, and a shell does not.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.parametrize("option", ["--json", pytest.param("--html", marks=needs_page)])
def test_nothing_is_said_when_who_reads_has_had_enough(tare_path, trace, option):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([tare_path, "report", trace, option, "-"], stdin=subprocess.DEVNULL, stdout=writing,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert done.returncode == 1 and done.stderr == b"", done


@pytest.mark.parametrize("arguments, words", [
    (["--page-size", "1M"], "--html FILE"), (["--page-size", "0", "--html", "x.html"], "at least 1 byte"),
    (["--page-size", "-5", "--html", "x.html"], "is not a size"),
])
def test_a_page_size_that_says_nothing_is_refused(tare, trace, tmp_path, arguments, words):
    assert words in sentence(tare("report", trace, *arguments), 2)
    assert not (tmp_path / "x.html").exists()


# ---- runs of little or of several machines

def make(folder, form):
    if not PROGRAM:
        pytest.skip("TARE_REPORT_TRACE does not name the program")
    subprocess.run([PROGRAM, folder, form], check=True, timeout=60)
    return folder


def test_a_run_of_one_command_has_a_report(tare, tmp_path):
    folder = make(tmp_path / "one.tare", "one")
    report = document(tare, folder)
    assert [task["timed"] for task in report["tasks"]] == [1] and report["findings"] == []
    text = tare("report", folder).stdout
    assert "recorded 1 command, all timed" in text and "blur" in text and "nan" not in text.lower()


def test_a_run_of_no_length_claims_no_figures(tare, tmp_path):
    folder = make(tmp_path / "empty.tare", "empty")
    report = document(tare, folder)
    assert report["wall_ns"] == 0 and report["summary"]["cpu_utilisation"] is None
    text = tare("report", folder).stdout
    assert "0 s wall" in text and "device use n/a" in text and "0.00" not in text and "nothing to report" in text


def test_a_run_of_which_nothing_is_known_has_no_length(tare, tmp_path):
    folder = tmp_path / "broken.tare"
    folder.mkdir()
    (folder / "record.json").write_text("{")
    text = tare("report", folder).stdout
    assert "n/a wall" in text and "record.json cannot be read" in text


def test_processes_of_several_machines_say_on_which_they_ran(tare, tmp_path):
    folder = make(tmp_path / "hosts.tare", "hosts")
    text = tare("report", folder).stdout
    assert "its times do not compare with the others" in " ".join(text.replace("\n", " ").split())
    rows = text[text.index("\nProcesses"):].splitlines()[2:5]
    assert rows[0].split()[:2] == ["pid", "host"] and [row.split()[2] for row in rows[1:]] == ["one", "two"]
    assert "host" not in tare("report", make(tmp_path / "phases.tare", "phases")).stdout.split("\nProcesses")[1].split("\n")[1]


def test_json_is_not_begun_when_the_trace_cannot_be_read(tare, tmp_path):
    (tmp_path / "keep.json").write_text("before")
    tare("report", "none.tare", "--json", "keep.json")
    tare("report", "none.tare", "--json", "new.json")
    assert (tmp_path / "keep.json").read_text() == "before" and not (tmp_path / "new.json").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["keep.json"]


def test_a_trace_without_processes_says_why(tare, trace):
    for path in files_of(trace):
        path.unlink()
    record = json.loads((trace / "record.json").read_text())
    record["layer"] = {"path": "/x/layer.so", "loader": None, "state": "never-loaded"}
    (trace / "record.json").write_text(json.dumps(record))
    report = document(tare, trace)
    assert report["problems"][0]["id"] == "nothing-recorded" and report["processes"] == []
    assert report["coverage"]["enqueued"] == 0 and report["wall_ns"] == 1_000_000
    assert "! no process was recorded: " in tare("report", trace).stdout
    record["layer"]["state"] = "loaded"
    (trace / "record.json").write_text(json.dumps(record))
    assert "! the program was recorded, but its traces are gone: no file" in tare("report", trace).stdout


def test_a_trace_that_is_still_written_says_so(tare, trace):
    record = json.loads((trace / "record.json").read_text())
    del record["end_raw_ns"], record["exit_status"], record["exit_signal"]
    (trace / "record.json").write_text(json.dumps(record))
    for path in files_of(trace):
        content = path.read_bytes()
        # The state stands before the reason of stopping and errno, all 0, and the time of the end.
        ended = struct.pack("<IIqQ", 2, 0, 0, 1_000_001_000_000)
        assert content[:PAGE].count(ended) == 1
        path.write_bytes(content.replace(ended, struct.pack("<IIqQ", 1, 0, 0, 0), 1))
    report = document(tare, trace)
    assert "still-recording" in [problem["id"] for problem in report["problems"]]
    assert report["coverage"]["completed"] == 20 and report["trace"]["complete"] is False
    assert "! the trace is still being written" in tare("report", trace).stdout


def must_hold(result):
    """Either a report, or one sentence; never a crash."""
    if result.returncode == 0:
        report = json.loads(result.stdout)
        for ledger in report["ledgers"]:
            assert sum(row["ns"] for row in ledger["parts"]) == ledger["wall_ns"] == report["wall_ns"]
        return report
    sentence(result)
    return None


def test_a_trace_that_was_cut_anywhere_is_reported_as_far_as_it_goes(tare, trace):
    path = files_of(trace)[0]
    whole = path.read_bytes()
    lengths = random.Random(7).sample(range(len(whole)), 12) + [0, 1, PAGE - 1, PAGE, PAGE + 64]
    seen = set()
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        report = must_hold(tare("report", trace, "--json", "-"))
        # The other process can always be read.
        assert report and [row["pid"] for row in report["processes"]][-1] == 72
        assert report["coverage"]["enqueued"] <= 20
        if length < PAGE:
            assert any(problem["concerns_figures"] for problem in report["problems"])
        seen.add(report["coverage"]["enqueued"])
    assert 0 in seen


def test_a_byte_that_is_not_what_was_written_does_no_harm(tare, trace):
    path = files_of(trace)[0]
    whole = path.read_bytes()
    used = [at for at in range(len(whole)) if whole[at]]
    for at in random.Random(11).sample(used, 40):
        content = bytearray(whole)
        content[at] ^= 1 << at % 8
        path.write_bytes(content)
        must_hold(tare("report", trace, "--json", "-"))
