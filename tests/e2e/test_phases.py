# SPDX-License-Identifier: Apache-2.0
"""Programs that mark their phases, recorded: by tare/phase.h, ITT, NVTX and from Python. They are the
same programs with and without tare record, and what the trace has of them is what they marked."""
import collections
import os
import pathlib
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, SANITIZED, built, recorder, run  # noqa: E402, F401

pytestmark = built()
PHASES = PROGRAMS / "phases"
PYTHON = "/usr/bin/python3"
HOOKS = ("TARE_PHASES", "INTEL_LIBITTNOTIFY64", "NVTX_INJECTION64_PATH")
HEADER, WINDOW, RECORD = 4096, 256 << 10, 64
STRING, PHASE = 2, 27
T, I, N = range(3)  # sources
# What each way of the program begins ("<"), marks ("!") and, once for each begin, ends.
WAYS = {
    "own": [(T, "", "<step"), (T, "", "<part")] * 3,
    "itt": [(I, "solver", "<iterate"), (I, "solver", "!iterate"), (I, "solver", "<iterate"), (I, "solver", "<frame")],
    "nvtx": [(N, "", "<Größe"), (N, "library", "<inner"), (N, "", "<range"), (N, "", "!here")],
    "thread": [(T, "", "<one"), (T, "", "<two")],
    "fork": [(T, "", "<parent"), (T, "", "<child")],
    "many": [(T, "", f"<round {i}") for i in range(100)] * 200,
    "opencl": [(T, "", "<setup"), (T, "", "<launches")],
}


def marks_of(file):
    """The marks of a .trace as (kind, track, source, domain, name), kind "!", "<" or ">"."""
    data = file.read_bytes()
    texts, records = collections.defaultdict(bytes), []
    for window in range(HEADER, len(data), WINDOW):
        for at in range(window, window + WINDOW, RECORD):
            head, = struct.unpack_from("<Q", data, at)
            if head == 0:
                break
            if head & 0xff == STRING:
                number, _, _, size = struct.unpack_from("<4I", data, at + 8)
                texts[number] += data[at + 24:at + 24 + size]
            elif head & 0xff == PHASE:
                ticks, name, domain = struct.unpack_from("<QII", data, at + 8)
                records.append((ticks, "!<>"[head >> 16 & 0xffff], head >> 32, head >> 8 & 0xff, domain, name))
    return [(kind, track, source, texts[domain].decode(), texts[name].decode())
            for _, kind, track, source, domain, name in sorted(records, key=lambda record: record[0])]


def marks_in(folder):
    return [mark for file in sorted(folder.glob("*.trace")) for mark in marks_of(file)]


def begun(marks):
    return collections.Counter((source, domain, kind + name) for kind, _, source, domain, name in marks if kind != ">")


def test_every_way_is_recorded_and_changes_nothing(recorder):  # noqa: F811
    native = recorder.native([PHASES, *WAYS])
    recorded = recorder.record([PHASES, *WAYS])
    assert (recorded.status, recorded.out) == (native.status, native.out) == (3, native.out), recorded.errors
    marks = marks_in(recorded.folder)
    assert begun(marks) == collections.Counter(mark for way in WAYS.values() for mark in way)
    ends = sum(kind == ">" for kind, *_ in marks)
    assert ends == sum(kind == "<" for kind, *_ in marks) + 2  # one of nothing, one of the parent's
    one, two = (track for kind, track, _, _, name in marks if kind == "<" and name in ("one", "two"))
    assert one != two
    # The commands are recorded as ever, though phases began the recording.
    report = recorder.report(recorded.folder)
    assert report["coverage"]["enqueued"] == report["coverage"]["completed"] == 7
    assert report["coverage"]["damaged_windows"] == report["coverage"]["dropped"] == 0
    assert len(report["processes"]) == 2


def test_opencl_first_and_last(recorder):  # noqa: F811
    for ways in (["opencl", "own"], ["own", "opencl"]):
        done = recorder.record([PHASES, *ways])
        assert done.status == 3
        assert begun(marks_in(done.folder)) == collections.Counter(WAYS["own"] + WAYS["opencl"])
        coverage = recorder.report(done.folder)["coverage"]
        assert coverage["enqueued"] == coverage["completed"] == 7


def test_phases_come_before_delay_is_over(recorder):  # noqa: F811
    done = recorder.record([PHASES, "own", "opencl"], "--delay", "3600")
    assert begun(marks_in(done.folder)) == collections.Counter(WAYS["own"] + WAYS["opencl"])
    assert recorder.report(done.folder)["coverage"]["enqueued"] == 0


def say(recorder, ways, environment=None):  # noqa: F811
    """What tare record says at the end, without -q."""
    return run([recorder.tare, "record", "--force", "-o", "run", "--", PHASES, *ways],
               {**recorder.environment, **(environment or {})}, cwd=recorder.folder).errors.decode()


def test_a_program_without_opencl_calls(recorder):  # noqa: F811
    said = say(recorder, ["own", "itt", "unended"])
    assert said.startswith("tare: record: only phases were recorded, no OpenCL call: ")
    folder = recorder.folder / "run.tare"
    assert begun(marks_in(folder)) == collections.Counter(WAYS["own"] + WAYS["itt"] + [(T, "", "<unended")])
    report = run([recorder.tare, "report", folder], cwd=recorder.folder)
    assert b"only phases were recorded, no OpenCL call" in report.out
    # A library that can mark phases and does not leaves no trace.
    assert say(recorder, ["nothing"]).startswith("tare: record: the program made no OpenCL call")
    assert not list(folder.glob("*.trace"))


@pytest.mark.parametrize("hook, way, source", [(HOOKS[0], "own", T), (HOOKS[1], "itt", I), (HOOKS[2], "nvtx", N)])
def test_a_tool_that_is_there_already_stays(recorder, hook, way, source):  # noqa: F811
    said = say(recorder, ["own", "itt", "nvtx"], {hook: "/not/there.so"})
    assert said.count(f"tare: record: {hook} is set to /not/there.so: ") == 1
    assert said.count("not recorded") == 1
    sources = {mark[2] for mark in marks_in(recorder.folder / "run.tare")}
    assert sources == {T, I, N} - {source}
    # One that is ours, by whatever path, is no other tool; nor is an empty one.
    for ours in ("/elsewhere/libtare-recorder.so", ""):
        said = say(recorder, [way], {hook: ours})
        assert "is set to" not in said
        assert {mark[2] for mark in marks_in(recorder.folder / "run.tare")} == {source}


@pytest.mark.skipif(SANITIZED, reason="programs of others cannot load a sanitized layer")
def test_python(recorder):  # noqa: F811
    script = recorder.folder / "phases.py"
    script.write_text("import ctypes, os\n"
                      "path = os.environ.get('TARE_PHASES')\n"
                      "tare = ctypes.CDLL(path) if path else None\n"
                      "for i in range(3):\n"
                      "    if tare: tare.tare_phase_begin(f'Schritt {i} ä'.encode())\n"
                      "    print(i)\n"
                      "    if tare: tare.tare_phase_end()\n")
    native = recorder.native([PYTHON, script])
    done = recorder.record([PYTHON, script])
    assert (done.status, done.out) == (native.status, native.out) == (0, b"0\n1\n2\n")
    assert begun(marks_in(done.folder)) == {(T, "", f"<Schritt {i} ä"): 1 for i in range(3)}


def test_a_program_that_is_killed(recorder):  # noqa: F811
    script = recorder.folder / "killed.sh"
    script.write_text(f"{PHASES} own unended\nkill -KILL $$\n")
    done = recorder.record(["/bin/sh", script])
    assert done.status == -9
    assert begun(marks_in(done.folder))[T, "", "<unended"] == 1


def test_hooks_are_not_there_without_tare(recorder):  # noqa: F811
    assert not {*HOOKS} & {*os.environ}
    assert recorder.native([PHASES, "own", "itt", "nvtx"]).out == b"own done\nitt done\nnvtx done\n"
