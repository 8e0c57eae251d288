# SPDX-License-Identifier: Apache-2.0
"""tare overlap from the outside: on PoCL within its budget, with kernels good and bad; the text."""
import json
import os
import pathlib
import re
import subprocess
import time

import pytest

from parts import thorough_but
from patience import HUNG_S, ended_well, patient
from validate import faults

ROOT = pathlib.Path(__file__).parents[2]
KERNELS = ROOT / "examples/kernels"
HEAD = "global const uint *input, global uint *output, uint first, uint count"
# Short, because whether it pays on a shared processor is not what is tested.
SHORT = ["--bytes", "256K", "--budget", "2", "--chunks", "1,2,4", "--queues", "1,2"]


def once(tare_path, *arguments):
    """For fixtures of the whole module."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
    environment.pop("TARE_DEVICE", None)
    return subprocess.run([tare_path, *arguments], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


@pytest.fixture(scope="module")
def opencl(tare_path):
    found = json.loads(once(tare_path, "devices", "--json", "-").stdout)
    if not any(device["backend"] == "opencl" for device in found["devices"]):
        pytest.skip("no OpenCL device")


@pytest.fixture
def overlap(tare, opencl, tmp_path):
    """Runs overlap on OpenCL; returns what it printed, and the document if there is one."""
    def run(*arguments, **options):
        path = tmp_path / "result.json"
        path.unlink(missing_ok=True)
        done = tare("overlap", "--device", "opencl:0", *SHORT, "--json", str(path), *map(str, arguments),
                    **options)
        return done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return run


def kernel(tmp_path, source, name="mine.cl"):
    path = tmp_path / name
    path.write_text(source, encoding="utf-8")
    return path


def cells(document, **labels):
    return [cell for cell in document["cells"]
            if all(cell["labels"].get(name) == value for name, value in labels.items())]


def sentence(done):
    assert done.returncode in (1, 2), done.stdout
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tare: overlap: ") or last.startswith("tare: ")
    return last


@pytest.mark.parametrize("arguments", [
    pytest.param(["scale.cl", "--arg", "float:0.5"], marks=pytest.mark.thorough),
    ["polynomial.cl", "--item-bytes", "8,4", "--arg", "int:8"],
    pytest.param(["blocks.cl", "--align", "64", "--group", "64", "--arg", "local:256"], marks=pytest.mark.thorough),
], ids=lambda arguments: arguments[0])
@patient
def test_the_examples_run_and_are_verified(overlap, arguments, times):
    done, document = overlap("--kernel", KERNELS / arguments[0], *arguments[1:], "--budget", 2 * times)
    ended_well(done)
    assert faults(document) == []
    timed = [cell for cell in cells(document, group="concurrent")
             if "what" not in cell["labels"] and cell["absent"] is None]
    assert timed and all(cell["verified"] for cell in timed)
    assert any(found["id"] == "worth-it" for found in document["conclusions"])
    if arguments[0] == "polynomial.cl":
        assert document["parameters"]["in_bytes"] == 2 * document["parameters"]["out_bytes"]


def test_a_halo_is_found_out(overlap):
    done, _ = overlap("--kernel", KERNELS / "blur.cl")
    assert "halo" in sentence(done) and "blur" in sentence(done)
    assert done.returncode == 1


@pytest.mark.parametrize("devices, neighbour", thorough_but([("basic", "- 1"), ("pthread", "+ 1")], [
    ("basic", "- 1"), ("basic", "+ 1"), ("pthread", "- 1"), ("pthread", "+ 1")]))
def test_a_halo_on_either_side_is_found_out(overlap, tmp_path, devices, neighbour):
    # A device that runs one operation after the other has copied one neighbour by then.
    source = f"""kernel void k({HEAD})
    {{
        uint item = first + get_global_id(0), other = item {neighbour};
        if (get_global_id(0) < count)
            output[item] = input[item] + (other < 65536 ? input[other] : 0);
    }}"""
    done, _ = overlap("--kernel", kernel(tmp_path, source), env={"POCL_DEVICES": devices})
    assert done.returncode == 1 and "halo" in sentence(done)


@pytest.mark.parametrize("source, arguments, says", [
    (f"kernel void k({HEAD}) {{ output[first] = ; }}", [], "does not compile"),
    (f"kernel void k({HEAD}, int x) {{ }}", [], "takes 5 arguments, the contract has 4"),
    (f"kernel void k({HEAD}, global int *x) {{ }}", [], "argument 5 is int*, which --arg cannot give"),
    (f"kernel void k({HEAD}, read_only image2d_t x) {{ }}", ["--arg", "int:1"], "which --arg cannot give"),
    (f"kernel void k({HEAD}, global int *x) {{ }}", ["--arg", "int:1"], "argument 5 (x) is a global pointer, but"),
    (f"kernel void k({HEAD}) {{ }}", ["--arg", "int:1"], "takes 4 arguments; the contract's 4"),
    (f"kernel void k({HEAD}, int x) {{ }}", ["--arg", "float:1"], "argument 5 (x) is int"),
    (f"kernel void k({HEAD}) {{ }}", ["--entry", "other"], "has no kernel 'other'; it has: k"),
    (f"kernel void k({HEAD}) {{ }} kernel void l({HEAD}) {{ }}", [], "choose one with --entry: k, l"),
    (f"kernel void k({HEAD}) {{ }}", ["--group", "65000"], "at most"),
    (f"kernel void k({HEAD}) {{ }}", ["--align", "1000000"], "smaller --align"),
    (f"kernel void k({HEAD}) {{ }}", ["--align", "60000", "--chunks", "4"], "at most 2 chunks"),
    ("", [], "is empty"),
    (f"kernel void k({HEAD}) {{ }}", ["--arg", "int:99999999999"], "does not fit"),
    (f"kernel void k({HEAD}) {{ }}", ["--arg", "text:1"], "TYPE:VALUE"),
    (f"kernel void k({HEAD}) {{ }}", ["--cycles", "5"], "--kernel replaces"),
])
def test_what_does_not_do_is_one_sentence(overlap, tmp_path, source, arguments, says):
    done, document = overlap("--kernel", kernel(tmp_path, source), *arguments)
    assert says in sentence(done), done.stderr
    assert document is None


def test_the_build_log_comes_before_the_sentence(overlap, tmp_path):
    done, _ = overlap("--kernel", kernel(tmp_path, f"kernel void k({HEAD}) {{ nonsense; }}"))
    lines = done.stderr.splitlines()
    assert any("nonsense" in line for line in lines[:-1]), done.stderr
    assert "mine.cl does not compile" in lines[-1]


@pytest.mark.parametrize("name, says", [("none.cl", "No such file"), ("mine.txt", "is told by its name"),
                                        ("mine.ptx", "does not take")])
def test_a_file_that_is_no_kernel(overlap, tmp_path, name, says):
    path = tmp_path / name
    if name != "none.cl":
        kernel(tmp_path, "nothing", name)
    done, _ = overlap("--kernel", path, "--entry", "k")
    assert says in sentence(done)


def test_a_pipe_is_no_kernel(tare, opencl, tmp_path):
    os.mkfifo(tmp_path / "pipe.cl")
    done = tare("overlap", "--device", "opencl:0", "--kernel", tmp_path / "pipe.cl", "--entry", "k", timeout=30)
    assert "pipe.cl is no file" in sentence(done)


def test_a_kernel_that_never_ends_is_told_in_time(overlap, tmp_path):
    body = "while (((volatile global uint *)output)[0] != 12345) ((volatile global uint *)output)[0] = 7;"
    done, document = overlap("--kernel", kernel(tmp_path, f"kernel void k({HEAD}) {{ {body} }}"), "--budget", "1", timeout=HUNG_S)
    # What it waited, which is longer where others have the processor.
    assert float(re.search(r"has not ended after (\S+) s over", sentence(done))[1]) >= 1
    assert document is None


@pytest.mark.thorough
def test_own_kernel_ends_within_its_budget(tare, opencl):
    def timed(budget):
        start = time.monotonic()
        done = tare("overlap", "--device", "opencl:0", "--budget", budget, "--json", "-", timeout=HUNG_S)
        assert done.returncode == 0, done.stderr
        return time.monotonic() - start, json.loads(done.stdout)

    timed(1)  # the driver has the kernels then
    least, _ = timed(1)
    took, document = timed(8)
    assert faults(document) == []
    # Beside the budget is what a run with hardly any takes on this machine, which may get busier.
    assert took < 8 * 1.5 + 3 * least
    assert cells(document, group="bound", what="bound")
    assert [found["id"] for found in document["conclusions"]][0] == "worth-it"


@pytest.mark.parametrize("arguments, says", [
    (["--cycles", "0..64"], "needs a step"),
    (["--chunks", "0"], "go from 1"),
    (["--chunks", "1"], "nothing to overlap with"),
    (["--queues", "x"], "not a number of queues"),
    (["--break", "glass"], "no break 'glass'"),
    (["--kernel", "x.cl", "--groups", "4"], "--groups is about tare's own loop"),
    (["--loop", "while"], "no loop 'while'; there are register, handbook"),
    (["--bytes", "0"], "no work"),
    (["--item-bytes", "4,"], "IN,OUT"),
    (["--entry", "k"], "--kernel"),
])
def test_bad_options_are_usage_errors(tare, arguments, says):
    done = tare("overlap", "--device", "simulated", *arguments)
    assert done.returncode == 2 and says in done.stderr and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_peaks_that_are_not_there(tare):
    done = tare("overlap", "--device", "simulated", "--peaks", "none.json")
    assert done.returncode == 1 and "--peaks: cannot read none.json" in done.stderr


def test_limits_that_look_alike_are_no_reason(tare):
    done = tare("overlap", "--device", "simulated", "--bytes", "256", "--cycles", "50", "--budget", "1",
                "--break", "none", "--json", "-")
    worth, = (found["text"] for found in json.loads(done.stdout)["conclusions"] if found["id"] == "worth-it")
    limits = worth.partition("anything from ")[2].partition(";")[0].split(" to ")
    assert len(limits) == len(set(limits)), worth


def test_the_handbooks_table_and_schedule(tare, tmp_path):
    path = tmp_path / "result.json"
    done = tare("overlap", "--device", "simulated", "--bytes", "512K", "--loop", "handbook", "--cycles",
                "0..300:300", "--break", "lazy-loading", "--budget", "0.5", "--json", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("cycles"))
    assert lines[at].split() == "cycles to device kernel to host serial 8 streams speed-up best ratio".split()
    document = json.loads(path.read_text(encoding="utf-8"))
    assert faults(document) == [] and document["parameters"]["kernel"] == "overlap_handbook"
    for row, cycles in zip(lines[at + 1:], (0, 300)):
        figures = [float(text.rstrip("*")) for text in row.split()]
        theirs, = cells(document, group="concurrent", cycles=cycles, handbook=1)
        best, = cells(document, group="concurrent", cycles=cycles, best=1)
        assert (theirs["labels"]["chunks"], theirs["labels"]["queues"], theirs["labels"]["order"],
                theirs["labels"]["mechanism"]) == (8, 8, "breadth-first", "chunk-queues")
        assert theirs["verified"] and theirs["n"] == best["n"]
        assert figures[0] == cycles and figures[5] == pytest.approx(theirs["median"] / 1e3, rel=0.01)
        assert figures[6] == pytest.approx(figures[4] / figures[5], rel=0.02)
        assert figures[7] == pytest.approx(best["median"] / 1e3, rel=0.01)
        assert figures[8] == pytest.approx(figures[7] / figures[5], abs=0.02)
        chosen, = cells(document, group="prediction", what="chosen", cycles=cycles)
        same = {name: chosen["labels"][name] for name in ("chunks", "queues", "order", "mechanism", "sizes")}
        ran, = (cell for cell in cells(document, group="concurrent", cycles=cycles, **same)
                if "what" not in cell["labels"])
        assert chosen["median"] == pytest.approx(100 * (ran["median"] / best["median"] - 1), abs=1e-3)
        errors = [abs(cell["median"])
                  for cell in cells(document, group="concurrent", cycles=cycles, what="error")]
        worst, = cells(document, group="prediction", what="worst-error", cycles=cycles)
        assert worst["median"] == pytest.approx(max(errors), rel=1e-3)
    broken, = (cell for cell in cells(document, group="break") if "what" not in cell["labels"])
    assert broken["labels"]["break"] == "lazy-loading" and broken["verified"]
    assert "Breaking it costs: " in done.stdout
    # A page has one value of a thing: the serial run is shown as it was timed in turn with the best.
    for cell in cells(document, group="sequential", stage="total"):
        cell["median"] *= 1.5
    path.write_text(json.dumps(document), encoding="utf-8")
    shown = tare("render", path)
    assert shown.returncode == 0 and shown.stdout.splitlines()[at:at + 3] == lines[at:at + 3], shown.stdout


@patient
def test_a_kernel_of_mine_is_built_anew(overlap, times):
    done, document = overlap("--kernel", KERNELS / "scale.cl", "--arg", "float:0.5", "--break", "lazy-loading",
                             "--budget", times)
    ended_well(done)
    found = [cell for cell in cells(document, group="break") if "what" not in cell["labels"]]
    assert [cell["labels"]["break"] for cell in found] == ["lazy-loading"]
    broken = found[0]
    assert broken["absent"] is None and broken["verified"]
    assert not cells(document, handbook=1)


@pytest.fixture(scope="module")
def simulated(tare_path, tmp_path_factory):
    path = tmp_path_factory.mktemp("overlap") / "simulated.json"
    done = once(tare_path, "overlap", "--device", "simulated", "--bytes", "1M", "--cycles", "100,300",
                "--budget", "0.5", "--json", str(path))
    assert done.returncode == 0, done.stderr
    return done.stdout, path


def test_the_text_fits_and_says_what_matters(tare, simulated):
    text, path = simulated
    assert max(map(len, text.splitlines())) <= 80
    for words in ("kernel:copy", "of bound", "prediction was within", "Worth it: ", "What limits it: ",
                  "Breaking it costs: ", "engines: 3 of the 3 stages"):
        assert words in text
    verbose = tare("render", "-v", str(path)).stdout
    assert "(best)" in verbose and "(at random)" in verbose and "predicted" in verbose
    assert max(map(len, verbose.splitlines())) <= 80


# The quick check compares the same with a golden file.
@pytest.mark.thorough
def test_the_simulated_device_gives_the_same_twice(tare, simulated):
    again = tare("overlap", "--device", "simulated", "--bytes", "1M", "--cycles", "100,300", "--budget", "0.5",
                 "--json", "-")
    assert again.stdout == simulated[1].read_text(encoding="utf-8")


def test_document_and_plots(simulated):
    document = json.loads(simulated[1].read_text(encoding="utf-8"))
    assert faults(document) == []
    assert {plot["id"] for plot in document["plots"]} == {"times", "speed-up", "search", "timeline"}
    timeline = next(plot for plot in document["plots"] if plot["id"] == "timeline")
    assert timeline["kind"] == "timeline" and len(timeline["series"]) == 3
    for cycles in (100, 300):
        assert len(cells(document, group="concurrent", cycles=cycles, best=1)) == 1
        bound, best = (cells(document, group=group, cycles=cycles, **labels)[0]["median"]
                       for group, labels in (("bound", {"what": "bound"}), ("concurrent", {"best": 1})))
        assert bound <= best
