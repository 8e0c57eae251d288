# SPDX-License-Identifier: Apache-2.0
"""Runs without a command: of an API that is not recorded yet, on a full disk, with a trace cut off. Only
of a recording that saw everything is it said that no command was enqueued."""
import re
import json
import shutil
import sys

import pytest

import recorded
from recorded import PROGRAMS, recorder  # noqa: F401

pytestmark = recorded.built()
CUDA = PROGRAMS / "plain/libcuda.so.1"
NO_CUDA = "recorded no CUDA call: that takes CUPTI (libcupti.so), held by no other tool (--no-cupti: calls without device times)"
NO_COMMAND = "No command was enqueued: nothing bounds"

# Loads a library and stays until the thread of tare that looks at processes has slept thrice more: then
# one look has begun and ended in between.
STAYS = """
import ctypes, os, sys, time
def watch():
    process = os.getppid()
    while process > 1:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/comm") as file:
                if file.read() == "tare-watch\\n":
                    return f"/proc/{process}/task/{task}/status"
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])
    return None
def sleeps(path):
    try:
        with open(path) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    except OSError:  # all was seen, and it has ended
        return 1 << 62
path = watch()
if path is None:
    sys.exit(77)
ctypes.CDLL(sys.argv[1])
before = sleeps(path)
while sleeps(path) < before + 3:
    time.sleep(0.01)
"""


def stays(recorder, library, before=(), **options):
    done = recorder.record([*before, sys.executable, "-c", STAYS, library], **options)
    if done.status == 77:
        pytest.skip("/proc does not show who looks")
    assert done.status == 0, done.errors.decode()
    return done


def text_of(recorder, folder):
    done = recorded.run([recorder.tare, "report", folder], cwd=recorder.folder)
    assert done.status == 0, done.errors.decode()
    return " ".join(done.out.decode().split())


def says_nothing_of_devices(recorder, folder, why):
    report = recorder.report(folder)
    assert report["summary"]["why_no_command"] == why
    assert report["summary"]["bound"] == "nothing" and report["ledgers"] == report["gaps"] == []
    text = text_of(recorder, folder)
    assert NO_COMMAND not in text and "idle" not in text and report["summary"]["verdict"] in text
    return report


def test_a_program_that_is_linked_with_another_api_is_told(recorder):
    done = recorder.record([PROGRAMS / "calls_cuda"])
    assert done.status == 0
    report = says_nothing_of_devices(recorder, done.folder, "other_api")
    api, = report["other_apis"]
    assert (api["api"], api["library"]) == ("cuda", "libcuda.so.1")
    assert report["summary"]["verdict"].endswith(f"libcuda.so.1, and tare {NO_CUDA}")
    assert report["problems"] == []
    line, = recorded.run([recorder.tare, "record", "-fo", "run", "--", PROGRAMS / "calls_cuda"],
                         cwd=recorder.folder).errors.decode().splitlines()
    assert line.startswith("tare: record: nothing was recorded: the program ") and line.endswith(NO_CUDA)


@pytest.mark.parametrize("name, api, why", [
    ("libcuda.so.1", "cuda", NO_CUDA), ("libcudart.so.12", "cuda", NO_CUDA),
    ("libze_loader.so.1.8.0", "levelzero", "got in between it and no driver of Level Zero"),
    ("libamdhip64.so.6", "hip", "cannot record HIP"), ("libvulkan.so.1", "vulkan", "cannot record Vulkan")])
@pytest.mark.parametrize("before", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["itself", "its-child"])
def test_a_library_that_is_opened_is_seen(recorder, tmp_path, name, api, why, before):
    shutil.copy(CUDA, tmp_path / name)
    done = stays(recorder, tmp_path / name, before)
    report = says_nothing_of_devices(recorder, done.folder, "other_api")
    assert report["other_apis"] == [{"api": api, "library": name, "seen": "loaded"}]
    assert report["summary"]["verdict"] == f"The program loaded {name}, and tare {why}"


def test_what_nvidias_opencl_stands_on_is_no_sign_of_cuda(recorder, tmp_path):
    for name in ("libcuda.so.1", "libnvidia-opencl.so.1"):
        shutil.copy(CUDA, tmp_path / name)
    program = f"import ctypes, sys; ctypes.CDLL({str(tmp_path / 'libnvidia-opencl.so.1')!r})\n{STAYS}"
    done = recorder.record([sys.executable, "-c", program, tmp_path / "libcuda.so.1"])
    if done.status == 77:
        pytest.skip("/proc does not show who looks")
    assert recorder.report(done.folder)["other_apis"] == []


def test_with_commands_another_api_is_a_fact_beside(recorder):
    program = (f"import sys; sys.argv[1] = {str(CUDA)!r}\n{STAYS}\nimport subprocess\n"
               f"subprocess.run([{str(PROGRAMS / 'loads')!r}], check=True)")
    done = recorder.record([sys.executable, "-c", program, "x"])
    if done.status == 77:
        pytest.skip("/proc does not show who looks")
    report = recorder.report(done.folder)
    assert report["coverage"]["enqueued"] == 5 and report["summary"]["why_no_command"] is None
    assert [api["api"] for api in report["other_apis"]] == ["cuda"] and report["ledgers"]
    assert NO_CUDA not in text_of(recorder, done.folder)


def test_calls_of_opencl_without_a_command_do_not_hide_it(recorder):
    program = "import ctypes, sys; ctypes.CDLL('libOpenCL.so.1').clGetPlatformIDs(0, None, ctypes.byref(ctypes.c_uint()))"
    done = recorder.record([sys.executable, "-c", f"{program}\n{STAYS}", CUDA])
    if done.status == 77:
        pytest.skip("/proc does not show who looks")
    report = says_nothing_of_devices(recorder, done.folder, "other_api")
    assert report["coverage"]["calls"] > 0
    assert report["summary"]["verdict"].startswith("No command was enqueued; the program loaded libcuda.so.1")
    # Without the other library it is what it was.
    done = recorder.record([sys.executable, "-c", program])
    report = recorder.report(done.folder)
    assert report["summary"]["why_no_command"] == "none_enqueued" and report["other_apis"] == []
    # Which it is depends on how long the driver took to load.
    assert re.match("No command was enqueued(: nothing bounds|; .* took [0-9.]+ % of this run)", report["summary"]["verdict"])
    assert report["ledgers"] and report["summary"]["verdict"] in text_of(recorder, done.folder)


def test_run_says_it_too(recorder):
    done = recorded.run([recorder.tare, "run", "--", PROGRAMS / "calls_cuda"], recorder.environment,
                        cwd=recorder.folder)
    text = " ".join((done.out + done.errors).decode().split())
    assert done.status == 0 and f"tare {NO_CUDA}" in text
    assert "idle" not in text and NO_COMMAND not in text


def test_nothing_recorded_is_not_no_command(recorder):
    done = recorder.record(["true"])
    report = says_nothing_of_devices(recorder, done.folder, "not_recorded")
    assert [problem["id"] for problem in report["problems"]] == ["nothing-recorded"]


@pytest.mark.parametrize("blocks", [8, 300])
def test_no_room_for_a_command_is_not_no_command(recorder, blocks):
    done = recorder.record(["bash", "-c", f"ulimit -f {blocks}; exec {PROGRAMS}/loads"])
    assert done.out == b"five commands\n"
    report = recorder.report(done.folder)
    assert report["coverage"]["lost_commands"] == 5
    assert report["summary"]["why_no_command"] == "recording_stopped"
    text = text_of(recorder, done.folder)
    assert NO_COMMAND not in text and "cannot be told: the limit on the size of files was reached" in text


@pytest.mark.parametrize("bytes_left", [0, 100, 4000, 4096, 262144])
def test_a_trace_cut_off_is_not_no_command(recorder, bytes_left):
    done = recorder.record([PROGRAMS / "loads"])
    for path in done.folder.glob("*.trace"):
        with open(path, "r+b") as file:
            file.truncate(bytes_left)
    report = says_nothing_of_devices(recorder, done.folder, "trace_damaged")
    assert report["problems"] and "no process was recorded" not in json.dumps(report["problems"])
