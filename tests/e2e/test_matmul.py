# SPDX-License-Identifier: Apache-2.0
"""`tare matmul` from the command line: on PoCL at sizes that fit no tile, within its budget."""
import json
import os
import re
import subprocess
import time

import pytest

import validate

RUNGS = ["sequential", "host-blas", "element", "naive", "tiled", "second", "sub-groups", "register", "cached", "blas",
         "blas-tf32", "blas-fp16", "blas-bf16"]
PARTS = {"copy-in", "launch", "submit-to-complete", "kernel", "copy-out", "total"}
SIZES = [1, 33, 100, 130]
BUDGET_S = 8
# Setting up compiles kernels, on machines that may be busy with other tests.
SET_UP_S = 120


def measured(document, **labels):
    return [cell for cell in document["cells"] if cell["source"] != "model" and
            all(cell["labels"].get(name) == value for name, value in labels.items())]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.thorough) for name in ("basic", "pthread")])
def pocl(request, tare_path, tmp_path_factory):
    """A result on PoCL: the document, the run, how long it took, and a way to run again."""
    folder = tmp_path_factory.mktemp("matmul")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "POCL_DEVICES": request.param,
                   "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("TARE_DEVICE", None)

    def run(*arguments, **changes):
        return subprocess.run([tare_path, *arguments], cwd=folder, env={**environment, **changes},
                              timeout=BUDGET_S + SET_UP_S + 60, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    found = json.loads(run("devices", "--json", "-").stdout)
    if not any(device["backend"] == "opencl" for device in found["devices"]):
        pytest.skip("no OpenCL device")
    begin = time.monotonic()
    result = run("matmul", "--device", "opencl:0", "--budget", str(BUDGET_S), "--json",
                 "matmul.json", "--n", ",".join(map(str, SIZES)), "--peaks", "none")
    took = time.monotonic() - begin
    assert result.returncode == 0, result.stderr
    return validate.check(folder / "matmul.json"), result, took, run


def test_every_rung_is_right_at_every_size_or_says_why(pocl):
    document = pocl[0]
    for rung in RUNGS:
        part = "total" if rung in RUNGS[:2] else "kernel"
        missing = [cell for cell in measured(document, rung=rung) if "n" not in cell["labels"] and
                   cell["absent"]]
        for n in SIZES:
            cells = measured(document, rung=rung, n=n, part=part)
            assert len(cells) == (0 if missing else 1), (rung, n)
            for cell in cells:
                if cell["absent"]:
                    assert rung in ("element", "blas", "cached") or "budget" in cell["absent"], cell["absent"]
                else:
                    assert cell["verified"] is True and cell["rate"]["median"] > 0
    for rung in ("sequential", "naive", "tiled", "second", "register"):
        cells = measured(document, rung=rung, n=33)
        assert cells and all(cell["absent"] is None for cell in cells), rung


SMALL_CACHE = """tare-device 1
device name "small cache" memory 1 GiB units 4 lanes 8 clock 1 GHz cache 2 MiB local 64 KiB
timer rate 1 GHz bits 64
engine compute runs to-device,to-host,local,kernel
copy pinned device rate 10 GB/s
copy device pinned rate 10 GB/s
kernel any fixed 20 us
"""


def test_squares_of_groups_make_the_whole_product(tare, tmp_path):
    """Five and six tiles of a side in squares of three: the last squares may lie partly beyond the matrix."""
    script = tmp_path / "small.tare-device"
    script.write_text(SMALL_CACHE)
    done = tare("matmul", f"--ze-cpu={script}", "--device", "levelzero", "--n", "100,300,333", "--rungs", "register,cached",
                "--peaks", "none", "--budget", "3", "--json", "squares.json", timeout=300)
    if "no OpenCL" in done.stderr or "no device" in done.stderr:
        pytest.skip("ze-cpu has nothing to run kernels on")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "squares.json").read_text())
    for n in (300, 333):
        cell, = measured(document, rung="cached", n=n, part="kernel")
        assert cell["absent"] is None and cell["verified"] is True, n
    assert "the whole product fits" in measured(document, rung="cached", n=100, part="kernel")[0]["absent"]


def test_the_parts_are_kept_apart(pocl):
    document = pocl[0]
    for rung in ("naive", "register"):
        parts = {cell["labels"]["part"]: cell for cell in measured(document, rung=rung, n=100)}
        assert PARTS <= set(parts), rung
        samples = {part: cell["samples"] for part, cell in parts.items()}
        for row in zip(*(samples[part] for part in
                         ("copy-in", "launch", "submit-to-complete", "copy-out", "total"))):
            assert sum(row[:4]) == row[4]
        assert parts["allocate"]["n"] == 1
        assert measured(document, rung=rung, part="build")[0]["n"] == 1


def test_speed_ups_are_over_an_optimised_core(pocl):
    document = pocl[0]
    sequential = measured(document, rung="sequential", n=100, part="total")[0]
    assert "-O3" in sequential["method"]
    naive = measured(document, rung="naive", n=100, part="kernel")[0]
    cell = next(cell for cell in document["cells"] if cell["labels"].get("what") == "speed-up-kernel"
                and cell["labels"]["rung"] == "naive" and cell["labels"]["n"] == 100)
    assert cell["source"] == "model"
    assert cell["median"] == pytest.approx(sequential["median"] / naive["median"], rel=1e-9)


def test_the_page_and_the_text_have_their_parts(pocl):
    document, result = pocl[:2]
    assert {plot["id"] for plot in document["plots"]} == {"speed-up", "gflops"}
    assert {"best-rung", "next-step"} <= {each["id"] for each in document["conclusions"]}
    assert "no-peaks" in {warning["id"] for warning in document["warnings"]}
    for title in ("GFLOP/s, n =", "ms, n = 130", "\nn = 130 ", "times one core, n ="):
        assert title in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "WRONG" not in result.stdout


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_tables_that_are_too_wide_go_on_below(pocl, columns):
    result = pocl[3]("render", "matmul.json", COLUMNS=str(columns))
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    titles = " ".join(line for line in lines if line.startswith(("ms, n = 130", "n = 130")))
    for title in ("build", "copy in", "complete", "total", "% paper", "local GB/s", "times"):
        assert title in titles


def test_it_ends_with_its_budget(pocl):
    document, result, took = pocl[:3]
    assert took < BUDGET_S + SET_UP_S, result.stderr
    assert document["parameters"]["budget_ns"] == BUDGET_S * 10**9


def test_a_library_that_is_missing_is_named(pocl):
    result = pocl[3]("matmul", "--device", "opencl:0", "--budget", "1", "--n", "33", "--rungs",
                     "host-blas,blas,naive", TARE_OPENBLAS_LIBRARY="/nonexistent/libopenblas.so",
                     TARE_CLBLAST_LIBRARY="/nonexistent/libclblast.so")
    assert result.returncode == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert re.search(r"n/a host-blas: .*libopenblas0.*/nonexistent/libopenblas.so", text)
    assert re.search(r"n/a blas: .*clblast", text, re.I)


@pytest.mark.parametrize("arguments, sentence", [
    (["--n", "0"], "--n: matrices are of 1 to"),
    (["--n", "64..32"], "--n: '64..32' ends before it begins"),
    (["--n", "many"], "--n: 'many' is not a size"),
    (["--rungs", "fast"], "--rungs: no rung 'fast'; there are sequential, host-blas"),
    (["--peaks", "/nonexistent.json", "--n", "16"], "/nonexistent.json"),
])
def test_bad_input_is_one_sentence(tare, arguments, sentence):
    result = tare("matmul", "--device", "simulated", *arguments)
    assert result.returncode in (1, 2)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1 and sentence in " ".join(result.stderr.split())


def test_the_simulated_device_is_the_same_each_time(tare):
    runs = [tare("matmul", "--device", "simulated", "--n", "20,33", "--budget", "0.2", "--json", "-")
            for _ in range(2)]
    assert runs[0].returncode == 0, runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    document = json.loads(runs[0].stdout)
    assert "virtual time" in measured(document, rung="host-blas")[0]["absent"]
    assert measured(document, rung="sequential", n=20)[0]["median"] == pytest.approx(20 ** 3 / 4e9 * 1e12, rel=0.02)
