# SPDX-License-Identifier: Apache-2.0
"""The pairs of test_findings.py on Level Zero: the same table (docs/findings.md), each row's program by its twin
on ze-cpu, whose script says how long everything takes on the device."""
import pathlib
import re
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "levelzero")]
from recorded import BUILD, EXAMPLES, PROGRAMS, Recorder, SANITIZED  # noqa: E402, F401
from test_findings import CONTENTS, rows  # noqa: E402
from trace import Trace  # noqa: E402

DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"
DATA = pathlib.Path(__file__).parents[1] / "data"
TWINS = {"pairs_work": "pairs_levelzero", "pairs_transfers": "pairs_levelzero", "pairs_levelzero": "pairs_levelzero",
         "pipeline": "levelzero-forms", "cuda-pipeline": "levelzero-forms"}
# Who raises them is in a unit test, or nobody can yet.
NOT_HERE = {"start-up-calls": "ze-cpu makes all but modules at once",
            "unflushed-queue": "what is appended to an immediate list is handed over at once",
            "legacy-default-stream": "it is CUDA's", "launch-queue-full": "it is CUDA's",
            "low-occupancy": "it is CUDA's", "managed-memory-moves": "it is CUDA's"}
OVERLAP = {"overlap-missed": "sequential", "single-queue": "default-queue", "blocking-call": "blocking"}
# The host is the real one: on a busy machine it is stopped at any moment, and that is then what is found.
TRIES = 12
HZ = 12.5e6

pytestmark = [
    pytest.mark.skipif(SANITIZED, reason="the driver is not made for that"),
    pytest.mark.skipif(not (PROGRAMS / "pairs_levelzero").exists(), reason="there is no Level Zero loader to link"),
    pytest.mark.skipif(not DRIVER.exists(), reason="ze-cpu is not built"),
    pytest.mark.skipif(not (EXAMPLES / "levelzero-kernels.spv").exists(), reason="there are no SPIR-V kernels"),
]


def twin(program):
    name, _, arguments = program.partition(" ")
    return f"{TWINS[name]} {arguments}" if name in TWINS else None


def pairs():
    for name, raised_by, silent_on in rows():
        for program, expected in ((raised_by, True), (silent_on, False)):
            if twin(program) and name not in NOT_HERE:
                yield name, twin(program), expected


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    made = Recorder(tare_path, tmp_path_factory.mktemp("findings"), kernel_cache)
    made.environment.update({"ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_CPU_TYPE": "gpu", "MALLOC_PERTURB_": "0",
                             "PAIRS_KERNELS": str(EXAMPLES / "levelzero-kernels.spv")})
    # What the driver's compiler makes of the kernels is kept from here on.
    record(made, "levelzero-forms sequential")
    return made


def unified(recorder, script):
    """The same device, but with the host's memory."""
    text = script.with_suffix(".tare-device").read_text()
    assert text.count(" memory 1 GiB ") == 1
    made = recorder.folder / f"{script.name}-unified"
    made.with_suffix(".tare-device").write_text(text.replace(" memory 1 GiB ", " memory 1 GiB unified yes "))
    return made


def record(recorder, program):
    name, *arguments = program.split()
    forms = name == "levelzero-forms"
    # Once: without sizes it takes as many runs as last half a second.
    arguments += ["16", "1024", "4", "1"][len(arguments) - 1:] if forms else []
    script = DATA / ("ze-forms" if forms else "ze-pairs")
    recorder.environment["ZE_CPU_SCRIPT"] = str(unified(recorder, script) if "zero-copy" in program else script) + ".tare-device"
    more = ["--contents"] if any(word in program for word in CONTENTS) else []
    done = recorder.record([(EXAMPLES if forms else PROGRAMS) / name, *arguments], *more)
    assert done.status == 0, done.errors.decode()
    return done.folder


def find(recorder, program):
    report = recorder.report(record(recorder, program))
    assert [device["apis"] for device in report["devices"]] == [["levelzero"]]
    return {finding["id"]: finding for finding in report["findings"]}, report


def check(found):
    for finding in found.values():
        assert 0 <= finding["cost_low_ns"] <= finding["cost_ns"] <= finding["cost_high_ns"]
        assert finding["cost_ns"] <= finding["claims_ns"] and finding["shared_ns"] <= finding["claims_ns"]
        for text in (finding["title"], finding["evidence"], finding["advice"]):
            assert not re.search(r"\bcl[A-Z]|\bCL_|\bcu[A-Z]|,,|\.$", text), text


def test_every_finding_has_its_twin():
    twins = {name for name, _, expected in pairs() if expected}
    assert {name for name, _, _ in rows()} - twins == set(NOT_HERE)


@pytest.mark.parametrize("name, program, expected", list(pairs()),
                         ids=[f"{program} raises{'' if expected else ' no'} {name}"
                              for name, program, expected in pairs()])
def test_the_pair(recorder, name, program, expected):
    seen = []
    for _ in range(TRIES):
        found, _ = find(recorder, program)
        check(found)
        seen.append(list(found))
        if (name in found) == expected:
            break
    assert (name in seen[-1]) == expected, seen


def test_a_well_behaved_program_has_none(recorder):
    seen = []
    for _ in range(TRIES):
        seen.append(list(find(recorder, "levelzero-forms concurrent")[0]))
        if not seen[-1]:
            break
    assert not seen[-1], seen


def span_ns(folder, kinds, skip=0):
    """From the first start to the last end of commands of such kinds on the device, without the first of them."""
    runs = sorted((start, end) for kind, start, end in Trace(folder).runs() if kind in kinds)[skip:]
    return (max(end for _, end in runs) - runs[0][0]) / HZ * 1e9


@pytest.mark.parametrize("name, form", OVERLAP.items())
def test_what_overlapping_is_said_to_gain_is_gained(recorder, name, form):
    """What is predicted from the broken form is what the mended one takes."""
    times, low, high = [], None, None
    for _ in range(TRIES):
        found, _ = find(recorder, f"levelzero-forms {form}")
        times.append(span_ns(record(recorder, "levelzero-forms concurrent"), ("write", "kernel", "read")))
        if name not in found:
            continue
        figures = {figure["name"]: figure["value"] for figure in found[name]["figures"]}
        low, high = figures["predicted_low_ns"] * 0.95, figures["predicted_high_ns"] * 1.05
        if low <= times[-1] <= high:
            break
    assert low is not None, "it was found in no try"
    assert low <= min(times) <= high, times


def test_launching_without_waiting_gains_what_is_said(recorder):
    silent = "pairs_levelzero synchronous-launches silent"
    # What the machine adds to the mended one, the finding did not promise.
    mended = min(span_ns(record(recorder, silent), ("kernel",), 1) for _ in range(TRIES))
    for _ in range(TRIES):
        folder = record(recorder, "pairs_levelzero synchronous-launches raise")
        finding, = (f for f in recorder.report(folder)["findings"] if f["id"] == "synchronous-launches")
        assert span_ns(folder, ("kernel",), 1) - mended >= finding["cost_low_ns"] > 0
    # A kernel and the gap behind it, of the script.
    assert mended >= 200 * (2000 + 450 * 256)


def test_a_list_that_is_kept_saves_the_appending(recorder):
    """Both run the same; what the mended one does not do is to append, which is all that the finding counts."""
    for _ in range(TRIES):
        found, report = find(recorder, "pairs_levelzero list-rebuilt raise")
        if "list-rebuilt" in found:
            break
    finding = found["list-rebuilt"]
    mended, kept = find(recorder, "pairs_levelzero list-rebuilt silent")
    figures = {figure["name"]: figure["value"] for figure in finding["figures"]}

    def appends(of):
        return sum(row["count"] for row in of["api"] if row["function"].startswith("zeCommandListAppend"))

    assert [(task["name"], task["instances"]) for task in report["tasks"]] == \
        [(task["name"], task["instances"]) for task in kept["tasks"]]
    assert figures["lists"] == 39 and "list-rebuilt" not in mended
    assert appends(report) - appends(kept) == finding["occurrences"] == 39 * 210
    assert finding["cost_low_ns"] == 0 and finding["cost_ns"] <= figures["appends_ns"] == finding["claims_ns"]
