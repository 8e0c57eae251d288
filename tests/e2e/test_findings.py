# SPDX-License-Identifier: Apache-2.0
"""Every finding's pair of programs, recorded: the one raises it, the other does not. The pairs are those
of the table in docs/findings.md, which a unit test holds to the table in the code."""
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from others import Others  # noqa: E402
from recorded import EXAMPLES, PROGRAMS, Recorder, built  # noqa: E402, F401

pytestmark = built()
TABLE = pathlib.Path(__file__).parents[2] / "docs/findings.md"
# Others run on the serial device, which is steady. These need a host that runs beside the device, or
# several units.
BESIDE = ("under-filled-device", "idle-host-waits", "synchronize-drains", "host-polling", "matmul", "pipeline",
          "start-up-host", "tear-down")
# What these copy is compared.
CONTENTS = ("duplicate-transfers", "ping-pong")
# On a busy machine a program is stopped at any moment, and that is then what is found.
# A try that was disturbed may miss what there is; raising what is not there is another matter.
TRIES, RAISE_TRIES = 3, 8
BUSY_CORES = 0.25


def rows():
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 6:
            yield cells[0], cells[4], cells[5]


def pairs():
    for name, raised_by, silent_on in rows():
        for program, expected in ((raised_by, True), (silent_on, False)):
            # Those of Level Zero and CUDA are test_findings_levelzero.py's and test_findings_cuda.py's.
            if re.fullmatch(r"(pairs_work|pairs_transfers|pipeline|matmul) .*", program):
                yield name, program, expected


def find(recorder, program):
    name, *arguments = program.split()
    # Once, of the size that it has anyway: without sizes it takes as many runs as last half a second.
    arguments += ["16", "1024", "4", "1"][len(arguments) - 1:] if name == "pipeline" else []
    folder = EXAMPLES if name in ("pipeline", "matmul", "pipeline") else PROGRAMS
    device = {"POCL_DEVICES": "pthread"} if any(word in program for word in BESIDE) else {}
    # The test runner has memory filled when it is got, which takes the first touch out of the copies.
    device["MALLOC_PERTURB_"] = "0"
    if os.cpu_count() < 2:
        device["POCL_PTHREAD_COUNT"] = "2"
    more = ["--contents"] if any(word in program for word in CONTENTS) else []
    done = recorder.record([folder / name, *arguments], *more, name="pair", environment=device)
    assert done.status == 0, done.errors.decode()
    return recorder.report(done.folder)


def knows_local_memory(report):
    """Whether the driver tells it of its kernels. Where it does not, tare says that it cannot judge."""
    if all(task["facts"]["local_bytes"] is not None for task in report["tasks"]):
        return True
    return not any("does not tell whether it uses local memory" in words for words in report["unjudged"])


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("findings"), kernel_cache)


def test_every_finding_has_its_pair():
    found = list(rows())
    assert len(found) >= 14
    assert len({name for name, _, _ in found}) == len(found)
    raised = {name for name, _, expected in pairs() if expected}
    elsewhere = {name for name, raised_by, _ in found if re.match("pairs_levelzero |pairs_cuda |cuda-", raised_by)}
    assert {name for name, _, _ in found} - raised == {"unflushed-queue"} | elsewhere


@pytest.mark.parametrize("name, program, expected", list(pairs()),
                         ids=[f"{program} raises{'' if expected else ' no'} {name}"
                              for name, program, expected in pairs()])
def test_the_pair(recorder, name, program, expected):
    seen, disturbed = [], []
    for _ in range(RAISE_TRIES if expected else TRIES):
        others = Others()
        report = find(recorder, program)
        disturbed.append(others.cores() > BUSY_CORES)
        findings = report["findings"]
        seen.append([finding["id"] for finding in findings])
        unknown = name == "one-kernel-dominates" and not knows_local_memory(report)
        if unknown or (name in seen[-1]) == expected:
            break
    if unknown and expected:
        assert name not in seen[-1]
        pytest.skip("this driver does not tell whether kernels use local memory, and tare says so")
    # A thread that others keep off the CPU is off it: the recording cannot tell that from sleep.
    if name == "idle-host-sleeps" and not expected and name in seen[-1] and all(disturbed):
        pytest.skip("others had the processors in every try")
    assert (name in seen[-1]) == expected, seen
    for finding in findings:
        # Compared whole, and no kernel gets the buffer: that they are the same is no guess.
        if finding["id"] == name and name in CONTENTS:
            assert finding["cost_low_ns"] > 0 and "changed nothing" in finding["evidence"]
        assert 0 <= finding["cost_low_ns"] <= finding["cost_ns"] <= finding["cost_high_ns"]
        assert finding["cost_ns"] <= finding["claims_ns"] and finding["shared_ns"] <= finding["claims_ns"]
        assert finding["title"] and finding["advice"] and not finding["title"].endswith(".")
    costs = [(finding["cost_low_ns"], finding["cost_ns"]) for finding in findings]
    assert costs == sorted(costs, reverse=True)


def test_the_advice_on_the_matrix_product_leads_to_the_next_rung(recorder):
    # While the driver compiles at the first launch of all, launches gather behind it, and the device never waits for one.
    find(recorder, "matmul inner 64")
    for _ in range(TRIES):
        first = {finding["id"]: finding for finding in find(recorder, "matmul inner 64")["findings"]}
        if "many-short-kernels" in first:
            break
    assert first["many-short-kernels"]["title"].startswith("Too many small kernels")
    assert "a work-item for every turn" in first["many-short-kernels"]["advice"]
    for _ in range(TRIES):
        report = find(recorder, "matmul naive 256")
        second = {finding["id"]: finding for finding in report["findings"]}
        if "one-kernel-dominates" in second or report["unjudged"]:
            break
    assert "many-short-kernels" not in second
    if knows_local_memory(report):
        assert "local memory" in second["one-kernel-dominates"]["advice"]
    third = {finding["id"] for finding in find(recorder, "matmul tiled 128")["findings"]}
    assert not third & {"many-short-kernels", "one-kernel-dominates"}


def test_a_well_behaved_program_has_none(recorder):
    seen = []
    for _ in range(TRIES):
        folder = recorder.record([EXAMPLES / "pipeline", "concurrent", "16", "1024", "4", "1"], name="well",
                                 environment={"POCL_DEVICES": "pthread"}).folder
        # This device has the host's memory: copies need not be, however well they are hidden.
        seen.append([finding["id"] for finding in recorder.report(folder)["findings"] if finding["id"] != "zero-copy"])
        if not seen[-1]:
            break
    assert not seen[-1], seen


@pytest.mark.parametrize("form", ["sequential", "concurrent"])
def test_the_example_works_for_half_a_second(recorder, form):
    """Whatever the device: a shorter one is mostly the clocks' error, and the driver's first launches."""
    folder = recorder.record([EXAMPLES / "pipeline", form], name="half").folder
    summary = recorder.report(folder)["summary"]
    assert summary["working_to_ns"] - summary["working_from_ns"] >= 500_000_000
