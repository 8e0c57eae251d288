# SPDX-License-Identifier: Apache-2.0
"""`tare peak` from the command line: on PoCL within its budget, and what it keeps for others."""
import json
import os
import subprocess
import time

import pytest

import validate

KINDS = {("compute", kind) for kind in ("fp32", "fp64", "fp16", "int32")} | \
        {("memory", op) for op in ("read", "write", "copy", "triad", "strided")} | \
        {("tensor", kind) for kind in ("tf32", "fp16", "bf16")} | {("sweep", None), ("local", None)}
BUDGET_S = 5
# Setting up compiles kernels, on machines that may be busy with other tests.
SET_UP_S = 120


def kind_of(cell):
    labels = cell["labels"]
    return labels["group"], labels.get("type", labels.get("op"))


def measured(document):
    return [cell for cell in document["cells"] if cell["source"] != "model"]


def waits_for_its_turn(document, kind):
    cells = [cell for cell in measured(document) if kind_of(cell) == kind]
    return all(cell["absent"] for cell in cells) and any("before its turn" in cell["absent"] for cell in cells)


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.thorough) for name in ("basic", "pthread")])
def pocl(request, tare_path, tmp_path_factory):
    """A result on PoCL (with a cache of its own, else it is in tare's): the document, the run
    of the usual budget, their folder, the seconds that were to spare, and a way to run again."""
    folder = tmp_path_factory.mktemp("peak")
    (folder / "pocl").mkdir()
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "POCL_DEVICES": request.param,
                   "XDG_CACHE_HOME": str(folder / "cache"), "POCL_CACHE_DIR": str(folder / "pocl")}
    environment.pop("TARE_DEVICE", None)

    def run(*arguments, **changes):
        return subprocess.run([tare_path, *arguments], cwd=folder, env={**environment, **changes},
                              timeout=9 * BUDGET_S + SET_UP_S + 60, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    found = json.loads(run("devices", "--json", "-").stdout)
    if not any(device["backend"] == "opencl" for device in found["devices"]):
        pytest.skip("no OpenCL device")
    first = None
    for budget_s in (BUDGET_S, 3 * BUDGET_S, 9 * BUDGET_S):
        begin = time.monotonic()
        result = run("peak", "--device", "opencl:0", "--budget", str(budget_s), "--json", "peak.json")
        spare_s = budget_s + SET_UP_S - (time.monotonic() - begin)
        assert result.returncode == 0, result.stderr
        first = first or result
        document = validate.check(folder / "peak.json")
        # A busy machine may leave too little of the first.
        if not any(waits_for_its_turn(document, kind) for kind in KINDS):
            break
    return document, first, folder, spare_s, run


def test_every_kind_has_a_figure_or_a_reason(pocl):
    document = pocl[0]
    assert {kind_of(cell) for cell in measured(document)} == KINDS
    for kind in KINDS:
        cells = [cell for cell in measured(document) if kind_of(cell) == kind]
        if all(cell["absent"] for cell in cells):
            # CLBlast is asked in single precision only, and a CPU may have no half precision.
            assert kind == ("compute", "fp16") or kind[0] == "tensor", cells[0]["absent"]
        assert all(cell["absent"] or cell["rate"]["median"] > 0 for cell in cells)


def test_every_result_was_verified(pocl):
    assert all(cell["verified"] is True for cell in measured(pocl[0]) if not cell["absent"])


def test_it_ends_within_its_budget_and_some_seconds_to_set_up(pocl):
    assert pocl[3] > 0


def test_ceilings_are_the_best_of_their_kind(pocl):
    document = pocl[0]
    for what, kind in (("fp32", ("compute", "fp32")), ("memory read", ("memory", "read"))):
        rates = [cell["rate"] for cell in measured(document)
                 if kind_of(cell) == kind and not cell["absent"]]
        ceiling, = (cell for cell in document["cells"] if cell["quantity"] == "attainable"
                    and cell["labels"]["what"] == what)
        assert any(ceiling["median"] == pytest.approx(rate["median"]) for rate in rates)
        # Nothing is surely better.
        assert all(ceiling["median"] > 0.999 * rate["ci"][0] for rate in rates if rate["ci"][0])
    assert {plot["id"] for plot in document["plots"]} >= {"roofline", "sweep", "compute", "memory"}
    assert "attainable" in {conclusion["id"] for conclusion in document["conclusions"]}


def test_the_text_fits_and_warns_of_what_was_left_out(pocl):
    result = pocl[1]
    assert "left out: widths" in " ".join(result.stdout.split())
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_the_result_is_kept_by_device_and_driver(pocl):
    _, _, folder, _, _ = pocl
    kept, = (folder / "cache" / "tare").iterdir()
    assert kept.name.startswith("peak-") and kept.name.endswith(".json")
    assert validate.check(kept)["command"] == "peak"


def test_a_cache_that_cannot_be_written_is_a_warning(pocl):
    folder, run = pocl[2], pocl[4]
    (folder / "file").write_text("")
    result = run("peak", "--device", "opencl:0", "--budget", "1", "--json", "full.json",
                 XDG_CACHE_HOME=str(folder / "file"))
    assert result.returncode == 0, result.stderr
    warning, = (warning for warning in validate.check(folder / "full.json")["warnings"]
                if warning["id"] == "not-kept")
    assert str(folder / "file") in warning["message"]


def test_a_result_of_so_many_samples_is_not_kept(pocl):
    folder, run = pocl[2], pocl[4]
    kept = folder / "cache" / "tare"
    before = {path: path.read_bytes() for path in kept.glob("peak-*")}
    assert before
    result = run("peak", "--device", "opencl:0", "--budget", "1", "--samples", "3")
    assert result.returncode == 0, result.stderr
    assert {path: path.read_bytes() for path in kept.glob("peak-*")} == before


def test_the_simulated_device_gives_the_same_result_each_time_and_is_not_kept(tare, tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    runs = [tare("peak", "--device", "simulated", "--seed", "1", "--json", "-", env=environment)
            for _ in range(2)]
    assert runs[0].returncode == 0, runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    assert not (tmp_path / "cache").exists()
    document = json.loads(runs[0].stdout)
    assert not validate.faults(document)
    assert not any(cell["absent"] for cell in measured(document))


def test_ascii_and_eighty_columns(tare):
    result = tare("peak", "--device", "simulated", "--budget", "3", env={"LC_ALL": "C"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.isascii()
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_so_many_samples_are_taken_of_each_figure(tare, tmp_path):
    environment = {"LC_ALL": "C"}
    for budget in ("1", "3"):
        result = tare("peak", "--device", "simulated", "--budget", budget, "--samples", "7", "--json", "peak.json", env=environment)
        assert result.returncode == 0, result.stderr
        document = json.loads((tmp_path / "peak.json").read_text())
        cells = [cell for cell in measured(document) if not cell.get("absent")]
        assert len(cells) > 20 and {len(cell["samples"]) for cell in cells} == {7}
        assert document["parameters"]["samples"] == 7
        said = " ".join(result.stdout.split())
        assert "in 7 samples" in said and "--budget in place of --samples" in said
    refused = tare("peak", "--device", "simulated", "--samples", "10001")
    assert refused.returncode == 2 and "--samples takes at most 10000" in refused.stderr
