# SPDX-License-Identifier: Apache-2.0
"""Two APIs in one process are one trace, whichever begins it: one file a process, every command of both
counted and timed, forks, threads, calls within calls. The second API is the toy of this folder."""
import collections
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from recorded import BUILD, Recorder, built, recorder  # noqa: E402, F401
from recorded import run as run_command  # noqa: E402

pytestmark = built()
FOLDER = BUILD / "tests/two_apis"
ENVIRONMENT = {"TARE_LAYER_DIR": str(FOLDER), "TOY_TOOL": str(FOLDER / "libtare-recorder.so")}
API_OF = {"clEnqueueFillBuffer": "opencl", "clFinish": "opencl", "toyLaunch": "cuda", "toyFinish": "cuda"}


@pytest.fixture(params=["basic", "pthread"])
def on(request, tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path, kernel_cache, request.param)


def number_at(header, offset, size):
    return int.from_bytes(header[offset:offset + size], "little")


def run(recorder, *words, before=()):  # noqa: F811
    """Records the program; returns what it counted itself, the report and the run, the exact counts checked."""
    done = recorder.record([*before, FOLDER / "two_apis", *words], environment=ENVIRONMENT)
    assert done.status == 0, done.errors.decode()
    counted, of_process = collections.Counter(), collections.Counter()
    for line in done.out.decode().splitlines():
        process, name, count = line.split()
        counted[name] += int(count)
        of_process[int(process)] += int(count) if name in API_OF else 0
    for path in done.folder.glob("*.trace"):
        # Beside what is counted: platforms, devices, a context, a buffer, queues, polls.
        header = path.read_bytes()[:4096]
        own, calls = of_process[number_at(header, 48, 8)], number_at(header, 1144, 8)
        assert own <= calls <= own + 20, "calls of both, and of no other process"
    report = recorder.report(done.folder)
    seen = {row["function"]: row for row in report["api"]}
    for name, api in API_OF.items():
        assert (seen[name]["count"] if name in seen else 0) == counted[name], name
        assert name not in seen or (seen[name]["api"], seen[name]["failed"]) == (api, 0)
    coverage = report["coverage"]
    assert coverage["enqueued"] == counted["clEnqueueFillBuffer"] + counted["toyLaunch"]
    assert coverage["lost_commands"] == 0
    assert len(list(done.folder.glob("*.trace"))) == len(report["processes"])
    return counted, report, done


def timed(report):
    return report["coverage"]["completed"] == report["coverage"]["enqueued"]


def helpers(report):
    return sum(change["count"] for change in report["changes"] if change["change"] == "helper")


@pytest.mark.parametrize("words", [["opencl", "toy"], ["toy", "opencl"], ["phase", "toy", "opencl"],
                                   ["phase", "opencl", "phase", "toy"], ["together"], ["phase", "together"]],
                         ids=" ".join)
def test_whichever_is_first_there_is_one_file(on, words):
    _, report, _ = run(on, *words)
    assert len(report["processes"]) == 1 and timed(report) and helpers(report) <= 1
    devices = {tuple(device["apis"]): device for device in report["devices"]}
    assert sorted(devices) == [("cuda",), ("opencl",)]
    assert devices["cuda",]["name"] == "Toy"
    assert {queue["device_number"] for queue in report["queues"]} == {0, 1}
    assert len({queue["number"] for queue in report["queues"]}) == len(report["queues"])
    assert len(report["ledgers"]) == 3, "one a device and one of both"


def test_the_text_names_a_device_s_api(on):
    _, _, done = run(on, "opencl", "toy")
    shown = run_command([on.tare, "report", "-v", done.folder], cwd=on.folder)
    text = shown.out.decode()
    assert shown.status == 0, shown.errors.decode()
    assert "Toy (CUDA)" in text and "(OpenCL)" in text


def test_one_alone_is_one_alone(on):
    _, report, _ = run(on, "toy")
    assert [device["apis"] for device in report["devices"]] == [["cuda"]] and timed(report)


def test_threads_use_both(on):
    counted, report, _ = run(on, "threads")
    assert counted["toyLaunch"] == counted["clEnqueueFillBuffer"] == 2000
    assert timed(report) and helpers(report) == 1 and len(report["processes"]) == 1


@pytest.mark.parametrize("words,processes", [
    (["toy", "fork-toy"], 2), (["toy", "fork-opencl"], 2), (["toy", "fork-both", "opencl"], 2),
    (["toy", "opencl", "fork-toy", "toy"], 2), (["toy", "opencl", "unwaited", "fork-toy", "drain"], 2), (["fork-opencl", "toy"], 2),
    (["phase", "fork-toy", "fork-opencl", "opencl"], 3)], ids=lambda value: " ".join(map(str, value))
    if isinstance(value, list) else None)
def test_the_child_of_a_fork_has_a_file_of_its_own(recorder, words, processes):  # noqa: F811
    _, report, _ = run(recorder, *words)
    assert len(report["processes"]) == processes and timed(report)


def test_a_call_in_the_other_s_driver_is_nested_and_harvests_its_own(on):
    """Under the toy's lock: had anybody asked the toy for anything there, it would have ended the process."""
    counted, report, _ = run(on, "nested")
    seen = {row["function"]: row["nested"] for row in report["api"]}
    assert seen["clEnqueueFillBuffer"] == counted["clEnqueueFillBuffer"] - 1 == 4
    assert seen["clFinish"] == 2 and seen["toyLaunch"] == seen["toyFinish"] == 0
    assert timed(report)


def test_what_the_recorder_asks_is_not_recorded_as_another_s(on):
    """A driver on top of the toy polls it in clFinish, and whenever it is asked for times, which the
    program never does."""
    # The loader puts the last one outermost.
    layers = f"OPENCL_LAYERS={FOLDER}/toy_layer.so:{FOLDER}/libtare-recorder.so"
    counted, report, _ = run(on, "opencl", "opencl", before=["env", layers])
    seen = {row["function"]: row for row in report["api"]}
    assert seen["toyPoll"]["count"] == seen["toyPoll"]["nested"] == counted["clFinish"] > 2
    assert counted["polls"] > counted["clFinish"] + counted["clEnqueueFillBuffer"]


def test_each_is_harvested_without_calls_of_its_own(on):
    _, report, _ = run(on, "opencl", "unwaited", "drain")
    assert timed(report)


def test_nothing_is_called_at_the_end(on):
    """What is pending when the process ends is counted as pending, for both."""
    _, report, _ = run(on, "opencl", "toy", "unwaited")
    coverage = report["coverage"]
    assert coverage["unobserved"] == coverage["unobserved_by"]["pending"] <= 22


def test_the_header_tells_both(recorder):  # noqa: F811
    _, _, done = run(recorder, "toy", "opencl")
    (path,) = done.folder.glob("*.trace")
    header = path.read_bytes()[:4096]
    assert number_at(header, 1176, 8) == 1 << 1 | 1 << 3
    assert number_at(header, 36, 4) == 3, "the toy was first"
