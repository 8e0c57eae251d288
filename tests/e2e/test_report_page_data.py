# SPDX-License-Identifier: Apache-2.0
"""The page of a run without a browser: what is in it against the report's JSON and a second reader of the
trace, what it makes of hostile names, and that it is one file which is there whole or not at all."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import trace_oracle  # noqa: E402
from recorded import EXAMPLES, Recorder, run  # noqa: E402, F401
from run_page import Page, Timeline  # noqa: E402

MADE = os.environ["TARE_REPORT_TRACE"]
MAKE_TRACE = os.environ["TARE_MAKE_TRACE"]
WEB = pathlib.Path(__file__).parents[2] / "web"
NODE = shutil.which("node")
BUSY = {"kernel", "transfer_to_device", "transfer_from_device", "transfer_both_ways", "local_copy"}
# Time whose parts are known by their sums only.
SPREAD = {"host_computing", "host_off_cpu", "host_api", "host_release", "host_query", "host_wait"}


@pytest.fixture
def report(tare_path, tmp_path):
    def make(trace, *options, html="page.html", status=0):
        done = run([tare_path, "report", trace, *options, "--html", html], cwd=tmp_path, timeout=120)
        assert done.status == status, done.errors.decode()
        return done
    return make


@pytest.fixture
def page_of(report, tmp_path):
    def make(trace, *options):
        report(trace, *options)
        return Page((tmp_path / "page.html").read_text())
    return make


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "made.tare"
    subprocess.run([MADE, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long") / "long.tare"
    subprocess.run([MAKE_TRACE, "12000", folder], check=True)
    return folder


# ---- what is in it

def word(words, number):
    return words[number] if number < len(words) else None


def compare_commands(trace, timeline):
    header, commands = timeline.header, timeline.commands.rows()
    theirs = sorted(trace.commands, key=lambda command: command.enter)
    assert len(commands) == len(theirs) > 0
    at = 0
    for i, (mine, command) in enumerate(zip(commands, theirs)):
        assert mine["number"] == i
        for name in ("enter", "exit", "submitted", "start", "end"):
            assert mine[name] == getattr(command, name), (i, name)
        assert word(header["kinds"], mine["kind"]) == command.kind
        assert word(header["directions"], mine["direction"]) == command.direction
        assert word(header["memory_kinds"], mine["memory"]) == command.memory
        assert header["queues"][mine["queue"]]["number"] == command.queue
        assert (mine["flags"] >> 1 & 1) == command.blocking
        assert mine["waits"] == len(command.waits)
        for event, waited in zip(command.waits, timeline.waits.command[at:at + mine["waits"]]):
            same = [k for k, other in enumerate(theirs) if other.event == event and other.enter < command.enter]
            assert waited in (same or [None])
        at += mine["waits"]
        if command.kind == "kernel":
            assert header["strings"][header["kernels"][mine["object"]]] == trace.kernel_name(command)
            shape = trace.shapes[command.amount][0]
            row = timeline.shapes.rows()[mine["shape"]]
            assert [row["global_x"], row["global_y"], row["global_z"]][:len(shape)] == list(shape)
            assert mine["amount"] is None
        else:
            assert mine["amount"] == command.amount and mine["shape"] is None
    assert at == timeline.waits.count


def compare_calls(trace, timeline):
    functions = timeline.header["functions"]
    mine = sorted((row["enter"], row["exit"], functions[row["function"]]["name"], row["count_of"],
                   row["exit"] - row["enter"] - row["outside"], row["flags"] & 1) for row in timeline.calls.rows())
    # Enqueues that were refused are calls, too; the others are commands.
    theirs = sorted((call.enter, call.exit, trace.function(call)[0], call.count,
                     call.exit - call.enter if call.inside is None else call.inside, call.failed)
                    for call in trace.calls if not call.command or call.failed)
    assert mine == theirs and mine


def compare_gaps(report, timeline):
    causes, rows = timeline.header["causes"], timeline.gaps.rows()
    for ledger in report["ledgers"]:
        if ledger["scope"] != "device":
            continue
        parts = {row["category"]: row["ns"] for row in ledger["parts"] if row["category"] not in BUSY}
        mine = dict.fromkeys(parts, 0)
        last = 0
        for row in rows:
            if row["device"] != ledger.get("device_number", 0):
                continue
            assert last <= row["from"] < row["to"]
            last = row["to"]
            mine[causes[row["cause"]]] += row["to"] - row["from"]
        assert sum(mine.values()) == sum(parts.values())
        for cause, ns in parts.items():
            assert cause in SPREAD or mine[cause] == ns, cause


@pytest.mark.skipif(not (EXAMPLES / "pipeline").exists(), reason="there is no OpenCL library to link the examples with")
@pytest.mark.parametrize("device, command", [
    ("basic", ["transfers"]), ("pthread", ["pipeline", "concurrent", 4, 64, 50]),
])
def test_a_recorded_program(tare_path, tmp_path, kernel_cache, page_of, device, command):  # noqa: F811
    recorder = Recorder(tare_path, tmp_path, kernel_cache, device)
    folder = recorder.record([EXAMPLES / command[0], *command[1:]]).folder
    page = page_of(folder)
    trace, record = trace_oracle.load(folder)
    assert page.report == json.loads(run([tare_path, "report", folder, "--json", "-"]).out)
    assert page.timeline.header["run_ns"] == record["end_raw_ns"] - record["start_raw_ns"]
    assert page.timeline.header["left_out"] is None
    compare_commands(trace, page.timeline)
    compare_calls(trace, page.timeline)
    compare_gaps(page.report, page.timeline)


@pytest.mark.skipif(not (EXAMPLES / "pipeline").exists(), reason="there is no OpenCL library to link the examples with")
def test_call_stacks(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """What the page shows of a selected command: its site, and the frames that lead there."""
    environment = {"POCL_DEVICES": "basic", "POCL_CACHE_DIR": str(kernel_cache)}
    done = run([tare_path, "run", "-q", "--call-stacks", "--html", "page.html", "--", EXAMPLES / "pipeline", "concurrent",
                4, 64, 50], environment, cwd=tmp_path, timeout=60)
    assert done.status == 0, done.errors.decode()
    page = Page((tmp_path / "page.html").read_text())
    timeline = page.timeline
    words, first = timeline.header["strings"], [0]
    for frames in timeline.stacks.frames:
        first.append(first[-1] + frames)
    assert first[-1] == timeline.frames.count and None not in timeline.commands.stack
    count, inner = collections.Counter(), {}
    for stack, kind in zip(timeline.commands.stack, timeline.commands.kind):
        site = words[timeline.stacks.site[stack]]
        count[site, timeline.header["kinds"][kind]] += 1
        inner.setdefault(site, set()).update(
            words[text] for text in timeline.frames.text[first[stack]:first[stack + 1]])
    theirs = collections.Counter()
    for row in page.report["sites"]:
        if row["kind"]:
            theirs[row["site"], row["kind"]] += row["count"]
    assert count == theirs and len(count) >= 3
    for site, frames in inner.items():
        if not page.report["sites"][0]["frames"][0]["file"]:
            continue  # built without a reader of lines
        assert any(frame.endswith(f"{site})") for frame in frames), (site, frames)
        file, line = site.split(":")
        source = (pathlib.Path(__file__).parents[2] / "examples" / "opencl" / file).read_text().splitlines()
        assert "clEnqueue" in " ".join(source[max(int(line) - 4, 0):int(line)]), site


def test_a_made_trace(page_of, long_trace):
    timeline = page_of(long_trace).timeline
    trace, _ = trace_oracle.load(long_trace)
    assert timeline.commands.count == 12000 and timeline.waits.count == 8000
    assert sorted(zip(timeline.commands.enter, timeline.commands.start)) == sorted(
        (command.enter, command.start) for command in trace.commands)
    assert {timeline.header["strings"][name] for name in timeline.phases.name} <= {"run", "step", "exchange"}
    assert [q["number"] for q in timeline.header["queues"]] == [1, 2, 3]
    assert set(timeline.commands.engine) == {0, 1, 2}
    phases = timeline.phases
    launched = 0
    for thread, enter, phase in zip(timeline.commands.thread, timeline.commands.enter, timeline.commands.phase):
        of_it = [row for row in range(phases.count) if phases.thread[row] == thread and not phases.flags[row] & 1 and
                 phases.columns["from"][row] <= enter < phases.to[row]]
        assert phase == max(of_it, key=lambda row: (phases.columns["from"][row], row), default=None)
        launched += phase is not None
    assert launched > 1000


@pytest.mark.skipif(not NODE, reason="there is no node to run web/run_rows.js outside of a browser")
def test_a_lane_that_was_left_out_has_no_time():
    """Short commands on the first lane, all left out; the one beside them is kept."""
    script = """
const fs = require('fs');
globalThis.window = { matchMedia: () => ({ matches: true }) };
const text = process.argv.slice(1).map((path) => fs.readFileSync(path, 'utf8')).join(';');
require('vm').runInThisContext(text + ';globalThis.parts = { lanesByNumber, timelineBounds };');
const source = { from: [5], to: [30] };
const lanes = parts.lanesByNumber(source, Uint32Array.of(0), Uint8Array.of(1), { crowded: 0 });
const { least, most } = parts.timelineBounds({ header: { run_ns: 20 } }, [{ lanes: lanes.map((lane) => [lane]) }]);
process.stdout.write(`${lanes.length} ${least} ${most}`);
"""
    done = run([NODE, "-e", script, *(WEB / f"run_{name}.js" for name in ("data", "words", "rows", "scale", "timeline"))],
               timeout=60)
    assert done.status == 0 and not done.errors, done.errors.decode()
    assert done.out.decode() == "2 0 30"


@pytest.mark.skipif(not NODE, reason="there is no node to run web/run_data.js outside of a browser")
def test_the_browsers_decoder(page_of, long_trace, tmp_path):
    page = page_of(long_trace)
    (tmp_path / "timeline").write_text(page.base64)
    script = """
const fs = require('fs');
require('vm').runInThisContext(fs.readFileSync(process.argv[1], 'utf8') + ';globalThis.decode = decodeTimeline;');
const plain = (values) => Array.from(values, (value) => Number.isNaN(value) || value === 0xffffffff ? null : value);
decode(fs.readFileSync(process.argv[2], 'latin1')).then((timeline) => {
    const tables = {};
    for (const name of Object.keys(timeline.header.tables)) {
        tables[name] = {};
        for (const [key, values] of Object.entries(timeline[name]))
            if (typeof values === 'object')
                tables[name][key] = plain(values);
    }
    process.stdout.write(JSON.stringify({ header: timeline.header, tables }));
});
"""
    done = run([NODE, "-e", script, WEB / "run_data.js", tmp_path / "timeline"], timeout=60)
    assert done.status == 0 and not done.errors, done.errors.decode()
    decoded = json.loads(done.out)
    assert decoded["header"] == page.timeline.header
    for name, table in page.timeline.tables.items():
        for column, values in table.columns.items():
            camel = "".join(part.title() if i else part for i, part in enumerate(column.split("_")))
            assert decoded["tables"][name][camel] == values, f"{name}.{column}"
    commands, waits = decoded["tables"]["commands"], decoded["tables"]["waits"]
    at = 0
    for first, count in zip(commands["firstWait"], commands["waits"]):
        assert first == (at if count else None)
        at += count
        assert not count or (waits["last"][at - 1] == 1 and sum(waits["last"][at - count:at]) == 1)
    calls = decoded["tables"]["calls"]
    assert calls["inside"] == [e - b - o for b, e, o in zip(calls["enter"], calls["exit"], calls["outside"])]


# ---- one file, harmless

def test_one_file_without_references(page_of, made, tmp_path):
    before = set(tmp_path.iterdir())
    page = page_of(made)
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"page.html"}
    assert page.references() == []
    policy = next(attrs["content"] for tag, attrs in page.elements.tags if "content" in attrs
                  and attrs.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy


def test_hostile_names(page_of, made):
    harmless = page_of(made)
    path = made / "here-71-1.trace"
    data = path.read_bytes()
    assert data.count(b"/opt/made") >= 2 and data.count(b"blur") == 1 and data.count(b"Made GPU") == 1
    path.write_bytes(data.replace(b"/opt/made", b"</script>").replace(b"blur", b'<\xff"\n')
                     .replace(b"Made GPU", b"<!--\x01\xe2\x80\xa8"))
    record = json.loads((made / "record.json").read_text())
    record["program"] = ["</title></script><img src=x onerror=alert(1)>", "a\"b'c\nd\u2028{{report}}"]
    (made / "record.json").write_text(json.dumps(record))
    page = page_of(made)
    assert page.elements.tags == harmless.elements.tags
    assert "onerror" in page.elements.title
    assert page.timeline.header["processes"][0]["command_line"] == "</script>"
    assert page.timeline.header["strings"][page.timeline.header["kernels"][0]].startswith('<\ufffd"')
    assert "\u2028" not in page.elements.scripts["report"]
    assert "</script><img" in page.report["program"] and "{{report}}" in page.report["program"]
    assert page.timeline.commands.columns == harmless.timeline.commands.columns


# ---- too large

def test_what_is_left_out_is_said(report, long_trace, tmp_path, tare_path):
    report(long_trace)
    whole = Page((tmp_path / "page.html").read_text())
    calls = None
    for limit in (len(whole.base64) - 1, len(whole.base64) // 2, 20000):
        done = report(long_trace, "--page-size", limit)
        page = Page((tmp_path / "page.html").read_text())
        left_out = page.timeline.header["left_out"]
        assert len(page.base64) <= limit
        for name in ("commands", "calls", "phases", "gaps", "waits", "callbacks"):
            assert page.timeline.tables[name].count + left_out[name] == whole.timeline.tables[name].count
        text = " ".join(done.out.decode().split())
        assert left_out["why"] in text and f"{left_out['calls']:,} call" in text
        assert page.report == whole.report
        assert calls is None or left_out["calls"] >= calls
        calls = left_out["calls"]
    assert left_out["commands"] > 0 and page.timeline.calls.count == 0
    done = run([tare_path, "report", long_trace, "--page-size", "20000", "--html", "-"])
    assert Page(done.out.decode()).base64 == page.base64 and b"are left out" in done.errors


def test_no_room_at_all(report, made, tmp_path):
    done = report(made, "--page-size", "100")
    page = Page((tmp_path / "page.html").read_text())
    assert page.base64 == "" and page.report["wall_ns"] > 0
    assert "not even the names" in " ".join(done.out.decode().split())


# ---- where it goes

def test_where_it_cannot_go(report, made, tmp_path):
    assert b"No space left" in report(made, html="/dev/full", status=1).errors
    assert b"/nowhere/page.html" in report(made, html="/nowhere/page.html", status=1).errors
    (tmp_path / "folder").mkdir()
    assert b"folder" in report(made, html="folder", status=1).errors
    (tmp_path / "page.html").write_text("old")
    shutil.rmtree(made)
    report(made, status=1)
    assert (tmp_path / "page.html").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "page.html"]


def test_an_existing_page_is_replaced(page_of, made, tmp_path):
    (tmp_path / "page.html").write_text("old")
    assert page_of(made).timeline.commands.count == 20


# ---- bad input

def test_no_commands(page_of, tmp_path):
    folder = tmp_path / "empty.tare"
    subprocess.run([MAKE_TRACE, "0", folder], check=True)
    page = page_of(folder)
    assert page.timeline.commands.count == 0 and page.timeline.calls.count > 0


def test_no_process(page_of, made):
    for path in made.glob("*.trace"):
        path.unlink()
    page = page_of(made)
    assert page.timeline.header["threads"] == [] and page.timeline.commands.count == 0


def test_zero_length(page_of, made):
    record = json.loads((made / "record.json").read_text())
    record["end_raw_ns"] = record["start_raw_ns"]
    (made / "record.json").write_text(json.dumps(record))
    for path in made.glob("*.trace"):
        path.unlink()
    page = page_of(made)
    assert page.timeline.header["run_ns"] == 0 and page.timeline.gaps.count == 0


def test_several_hosts(page_of, made):
    data = bytearray((made / "here-71-1.trace").read_bytes())
    data[136:152] = bytes(range(16))  # another boot
    data[152:216] = b"there".ljust(64, b"\0")
    (made / "there-71-1.trace").write_bytes(bytes(data))
    page = page_of(made)
    assert {process["host"] for process in page.timeline.header["processes"]} >= {"", "there"}
    assert page.timeline.commands.count == 40


@pytest.mark.skipif(not (EXAMPLES / "pipeline").exists(), reason="there is no OpenCL library to link the examples with")
def test_no_device_times(tare_path, tmp_path, kernel_cache, page_of):  # noqa: F811
    recorder = Recorder(tare_path, tmp_path, kernel_cache)
    folder = recorder.record([EXAMPLES / "pipeline", "sequential", 2, 64, 50], "--strict").folder
    commands = page_of(folder).timeline.commands
    assert commands.count > 0 and set(commands.start) == set(commands.end) == {None}
    assert set(commands.lane) == set(commands.engine_lane) == {255}
