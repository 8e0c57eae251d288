# SPDX-License-Identifier: Apache-2.0
"""CUDA programs without CUPTI: calls and counts by the library that is put in front of the driver."""
import collections
import os
import pathlib
import re
import shutil
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e"), str(HERE)]
from cuda_programs import FAKES, MIB, SCRIPT, STREAMS  # noqa: E402
from recorded import BUILD, SANITIZED, Recorder, run  # noqa: E402
from trace import NO_TIMES, Trace  # noqa: E402

SOURCE = HERE.parents[1] / "src/guest/cuda"
LINKED = BUILD / "tests/cuda/streams_linked"
FRONT = 13  # of what was changed
# By dlsym, by cuGetProcAddress before cuInit as the runtime does, by the linker.
WAYS = {"dlsym": [STREAMS], "addresses": [STREAMS, "first:addresses"], "linked": [LINKED]}
pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer's runtime is to be the first library of a program")


@pytest.fixture
def on(tare_path, tmp_path):
    """A machine with a driver and no CUPTI."""
    recorder = Recorder(tare_path, tmp_path, tmp_path / "cache")
    (tmp_path / "script").write_text(SCRIPT)
    (tmp_path / "lib").mkdir()
    shutil.copy(FAKES / "fake_cuda.so", tmp_path / "lib/libcuda.so.1")
    recorder.environment.update({
        "LD_LIBRARY_PATH": f"{tmp_path / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "TARE_CUPTI_LIBRARY": "/nowhere/libcupti.so", "TARE_FAKE_CUDA_DEVICE": str(tmp_path / "script")})
    return recorder


def both(on, command, *options):
    native, done = on.native(command), on.record(command, *options)
    assert (done.status, done.out) == (native.status, native.out)
    return done


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("style, kinds, amount", [
    ("kernels=7", {"kernel": 7}, 0), ("threads=3", {"kernel": 12}, 0), ("events=2", {"kernel": 4}, 0),
    ("copies=3", {"write": 5, "read": 5, "copy": 3, "fill": 3},
     3 * (MIB + MIB // 2 + MIB // 4 + MIB // 4) + MIB + MIB // 2 + 2 * (MIB // 8)),
    ("graph=5", {"graph": 5, "kernel": 1}, 0), ("shared=2", {"kernel": 2}, 0), ("defaults=4", {"kernel": 5}, 0)])
def test_every_command_is_there_once_without_times(on, way, style, kinds, amount):
    done = both(on, [*WAYS[way], style])
    assert done.status == 0
    trace = Trace(done.folder)
    assert collections.Counter(each.kind for each in trace.commands.values()) == kinds
    assert sum(each.amount for each in trace.commands.values() if each.kind not in ("kernel", "graph")) == amount
    assert all(each.flags & NO_TIMES for each in trace.commands.values()) and not trace.times
    assert trace.changes[FRONT] == 1
    report = on.report(done.folder)
    count = sum(kinds.values())
    assert (report["coverage"]["enqueued"], report["coverage"]["unobserved"]) == (count, count)
    assert {task["name"] for task in report["tasks"]} <= {"empty", "other", "(graph)"}
    said = [each["text"] for each in report["problems"]]
    assert len(said) == 1 and "CUPTI (libcupti.so), which times them, was not found" in said[0]
    assert report["devices"][0]["name"] == "exact" and not report["other_apis"]


def test_a_launch_has_its_shape_and_its_stream(on):
    done = both(on, [STREAMS, "first:addresses", "shared=2", "kernels=3", "urgent=4"])
    trace = Trace(done.folder)
    assert sorted(collections.Counter(each.queue for each in trace.commands.values()).values()) == [1, 1, 3, 4]
    report = on.report(done.folder)
    assert {queue["commands"]: queue["priority"] for queue in report["queues"]}[4] == -3
    tasks = {task["name"]: task["work"] for task in report["tasks"]}
    assert tasks["other"] == {"global": [128], "local": [64]}


def test_the_legacy_stream_and_blocking_ones_wait_for_each_other(on):
    sys.path.insert(0, str(HERE))
    from test_cuda_recorder import waits_of
    done = on.record([STREAMS, "defaults=1", "kernels=4", "defaults=1"])
    commands, _ = waits_of(done.folder)
    assert commands == {(1, 2): {(1, 1)}, (1, 3): {(1, 1)}, (1, 7): {(1, 2), (1, 6)}, (1, 8): {(1, 7)}}


def test_what_fails_is_an_attempt_and_the_program_has_its_error(on):
    done = both(on, [STREAMS, "wrong"])
    assert done.status == 0
    assert [each.flags & 1 for each in Trace(done.folder).commands.values()] == [1] * 4


@pytest.mark.parametrize("styles, count", [(["forks=4"], 8), (["first:fork", "kernels=3"], 6)])
def test_children_are_what_they_are_without_tare(on, styles, count):
    done = both(on, [STREAMS, *styles])
    assert done.status == 0
    assert on.report(done.folder)["coverage"]["enqueued"] == count


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_looks_finds_what_it_finds_without_tare(on, way):
    done = both(on, [*WAYS[way], "looks"])
    assert done.out.startswith(b"1 1 1 1 1 1 1 1\n1 1\n")


def test_without_a_driver_nothing_of_it_is_found(on):
    """Python's ctypes asks dlsym: of the program as a whole, of a library."""
    program = ("import ctypes\n"
               "for name in ('cuMemAlloc_v2', 'cuGetProcAddress', 'getpid'):\n"
               "    for library in (ctypes.CDLL(None), ctypes.CDLL('libc.so.6')):\n"
               "        print(name, hasattr(library, name))\n")
    (on.folder / "lib/libcuda.so.1").unlink()
    done = both(on, [sys.executable, "-c", program], "--no-cupti")
    assert done.out.count(b"True") == 2 == done.out.count(b"getpid True")


def test_cupti_that_the_program_brings_wins(on):
    on.environment["TARE_CUDA_LIBRARY"] = str(on.folder / "lib/libcuda.so.1")
    own = ["env", f"TARE_CUPTI_LIBRARY={FAKES / 'fake_cupti.so'}", STREAMS, "first:addresses", "kernels=9"]
    done = both(on, own)
    trace = Trace(done.folder)
    assert len(trace.commands) == len(trace.times) == 9 and not trace.changes[FRONT]


def test_no_cupti_is_none(on):
    on.environment.update({"TARE_CUDA_LIBRARY": str(on.folder / "lib/libcuda.so.1"),
                           "TARE_CUPTI_LIBRARY": str(FAKES / "fake_cupti.so")})
    trace = Trace(both(on, [STREAMS, "kernels=9"]).folder)
    assert len(trace.times) == 9 and not trace.changes[FRONT]
    done = both(on, [STREAMS, "kernels=9"], "--no-cupti")
    trace = Trace(done.folder)
    assert len(trace.commands) == 9 and not trace.times and trace.changes[FRONT] == 1
    text, = (each["text"] for each in on.report(done.folder)["problems"])
    assert "--no-cupti" in text


def test_our_own_code_is_all_that_recording_costs(on):
    coverage = on.report(both(on, [STREAMS, "kernels=400"]).folder)["coverage"]
    assert coverage["driver_cost_ns"] == 0 < coverage["self_cost_ns"] and coverage["cost_source"] == "calibration"


def preloaded(on, *options, **environment):
    done = on.record(["env"], *options, environment=environment)
    lines = done.out.decode().splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith("LD_PRELOAD=")), "")


def test_it_is_put_in_front_only_where_cupti_is_missing(on):
    assert pathlib.Path(preloaded(on)).name == "libtare-cuda.so"
    assert preloaded(on, TARE_CUPTI_LIBRARY=str(FAKES / "fake_cupti.so")) == ""
    assert preloaded(on, "--strict") == ""
    mine = str(FAKES / "fake_cupti.so")
    front, rest = preloaded(on, LD_PRELOAD=mine).split(":")
    assert pathlib.Path(front).name == "libtare-cuda.so" and rest == mine
    (on.folder / "lib/libcuda.so.1").unlink()
    on.environment["LD_LIBRARY_PATH"] = ""
    assert preloaded(on) == ""


def test_strict_changes_nothing(on):
    done = run([on.tare, "record", "--strict", "--no-cupti", "--", STREAMS], on.environment, cwd=on.folder)
    assert done.status == 125 and b"--no-cupti" in done.errors


def test_call_stacks_lead_to_the_program(on):
    done = both(on, [STREAMS, "first:addresses", "kernels=20", "copies"], "--call-stacks")
    sites = on.report(done.folder)["sites"]
    assert {site["site"].split(":")[0] for site in sites} == {"streams.c"} and len(sites) > 5


def test_the_front_stands_before_all_that_is_recorded():
    """But for queries, of which nobody could tell the program's from the runtime's own."""
    listed = re.findall(r"^\t(?:ONE|PTSZ|PTDS)\(F, \d+, (\w+)\)", (SOURCE / "front/list.h").read_text(), re.M)
    recorded = re.findall(r'^\t(?:\{|\w+\() ?"(cu\w+)"(?!.*CUDA_ASKED)', (SOURCE / "function.c").read_text(), re.M)
    assert len(set(listed)) == len(listed) > 100 and set(listed) == set(recorded)
