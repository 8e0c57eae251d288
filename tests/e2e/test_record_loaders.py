# SPDX-License-Identifier: Apache-2.0
"""Loaders that know no layers are passed over by one that does; a user's own layers reach children."""
import json
import pathlib
import shutil
import sys

import pytest

import recorded
from recorded import LAYER, PROGRAMS, recorder, read_counts  # noqa: F401

pytestmark = recorded.built()
PLAIN = PROGRAMS / "plain"
PYTHON = sys.executable
BY_CTYPES = "by_ctypes.py"


@pytest.fixture(autouse=True)
def layered():
    """Without a loader of this machine's that knows layers there is nothing to put in front."""
    if not PLAIN.exists():
        pytest.skip("the loader without layers was not built")


def source(name):
    return pathlib.Path(__file__).parents[1] / "programs" / name


def layer_of(folder):
    return json.loads((folder / "record.json").read_text(encoding="utf-8"))["layer"]


CASES = {
    "runpath": (["loads_runpath"], False),
    "rpath": (["loads_rpath"], False),
    "dlopen": (["loads", "libOpenCL.so.1"], True),
    "deepbind": (["loads", "libOpenCL.so.1", "deep"], True),
}


@pytest.mark.parametrize("case", CASES)
def test_a_loader_without_layers_is_passed_over_and_that_is_told(recorder, case):
    (name, *arguments), by_path = CASES[case]
    environment = {"LD_LIBRARY_PATH": str(PLAIN)} if by_path else {}
    done = recorder.record([PROGRAMS / name, *arguments], environment=environment)
    assert (done.status, done.out) == (0, b"five commands\n"), done.errors.decode()
    report = recorder.report(done.folder)
    assert report["coverage"]["enqueued"] == 5
    assert [change["count"] for change in report["changes"] if change["change"] == "loader"] == [1]
    layer = layer_of(done.folder)
    assert layer["loader"] == str(PLAIN / "libOpenCL.so.1")
    assert b"OPENCL_LAYERS" in pathlib.Path(layer["front"]).read_bytes()


def test_strict_puts_none_in_front_and_says_so(recorder):
    done = recorder.record([PROGRAMS / "loads_rpath"], "--strict")
    layer = layer_of(done.folder)
    assert layer["front"] is None and not list(done.folder.glob("*.trace"))
    assert f"{PLAIN}/libOpenCL.so.1, a loader that knows no layers; without --strict " in layer["state"]


def test_children_and_python_are_led_to_the_loader_in_front(recorder):
    environment = {"LD_LIBRARY_PATH": str(PLAIN)}
    done = recorder.record(["sh", "-c", f"{PROGRAMS}/loads libOpenCL.so.1; exit $?"], environment=environment)
    assert done.status == 0 and recorder.report(done.folder)["coverage"]["enqueued"] == 5
    done = recorder.record([PYTHON, source(BY_CTYPES)], environment=environment)
    assert done.out == b"from Python\n" and recorder.report(done.folder)["coverage"]["enqueued"] == 11


def test_an_absolute_path_is_not_recorded_and_told(recorder):
    done = recorder.record([PROGRAMS / "loads", PLAIN / "libOpenCL.so.1"])
    assert done.out == b"five commands\n" and not list(done.folder.glob("*.trace"))
    assert "the program made no OpenCL call through " in layer_of(done.folder)["state"]


def test_nothing_is_put_in_front_of_a_loader_that_knows_layers(recorder):
    done = recorder.record([PROGRAMS / "loads"])
    assert recorder.report(done.folder)["coverage"]["enqueued"] == 5
    if b"OPENCL_LAYERS" in pathlib.Path(layer_of(done.folder)["loader"]).read_bytes():
        shown = recorder.record(["env"], environment={"LD_PRELOAD": ""}).out.decode().splitlines()
        assert "LD_PRELOAD=" in shown and layer_of(done.folder)["front"] is None


def test_what_the_user_puts_in_front_stays(recorder, tmp_path):
    mine = tmp_path / "mine.so"
    shutil.copy(PROGRAMS / "counting_layer.so", mine)
    done = recorder.record(["env"], environment={"LD_LIBRARY_PATH": str(PLAIN), "LD_PRELOAD": str(mine)})
    shown = dict(line.split("=", 1) for line in done.out.decode().splitlines() if "=" in line)
    front, rest = shown["LD_PRELOAD"].split(":")
    assert rest == str(mine) and front == layer_of(done.folder)["front"]


def test_a_users_own_layers_reach_children(recorder, tmp_path):
    second = tmp_path / "not_there.so"
    out = tmp_path / "counts"
    out.mkdir()
    # One parent that has called OpenCL before it starts a child, which does so, too.
    program = (f"import subprocess, sys; exec(open({str(source(BY_CTYPES))!r}).read()); sys.stdout.flush();"
               f"subprocess.run(['sh', '-c', 'echo $OPENCL_LAYERS; exec {PYTHON} {source(BY_CTYPES)}'], check=True)")
    done = recorder.record([PYTHON, "-c", program], environment={
        "OPENCL_LAYERS": f"{LAYER}:{second}", "COUNTING_LAYER_OUT": str(out / "counts")})
    assert done.status == 0, done.errors.decode()
    lines = done.out.decode().splitlines()
    assert lines[0] == lines[2] == "from Python"
    assert lines[1].split(":")[1:] == [str(LAYER), str(second)]
    report = recorder.report(done.folder)
    assert len(report["processes"]) == 2 and report["coverage"]["enqueued"] == 22
    assert len(list(out.glob("counts.*"))) == 2 and read_counts(out) == {"write": (20, 20000), "read": (2, 2000)}
