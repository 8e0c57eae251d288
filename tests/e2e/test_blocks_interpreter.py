# SPDX-License-Identifier: Apache-2.0
"""What `tare blocks` counts in programs that others wrote equals what Debian's interpreter, oclgrind, executes of the
same modules: loads, stores and bytes by address space, arithmetic, barriers, atomics. What a compiler of another version
makes of the source is docs/blocks-oracle.md's, where each difference is explained."""
import os
import pathlib
import shutil
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "oracle")]
import interpreter  # noqa: E402
from recorded import BUILD, PROGRAMS, SANITIZED, built, run  # noqa: E402

TOOLS = any(shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}") for n in range(15, 40))
KERNELS = pathlib.Path(__file__).parents[1] / "programs/counted.cl"

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version"),
              pytest.mark.skipif(not interpreter.LIBRARY.exists(), reason="there is no oclgrind")]

TRANSFORMS = ("64", "128")


def compiled(tmp_path, source, library):
    """A program of ours that calls a library of others; the test is skipped where that is not installed."""
    program, empty, libraries = tmp_path / "program", tmp_path / "empty.c", [f"-l{library}", "-lOpenCL"]
    empty.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    if run(["cc", empty, "-o", program, *libraries]).status != 0:
        pytest.skip(f"there is no {library} to link with")
    done = run(["cc", "-w", "-O1", source, "-o", program, *libraries])
    assert done.status == 0, done.errors.decode()
    return program


def check(tmp_path, command, least, which="total", **sizes):
    """All kernels, at least so many, are equal in all that both sides tell: of the same module, or before the
    optimisation, compiled by each side."""
    bench = interpreter.Bench(BUILD, tmp_path, **sizes)
    document, _ = bench.count(command, *(["--before"] if which == "before" else []))
    counted = interpreter.totals(document, which)
    heard = bench.interpret(command, "-O0") if which == "before" else bench.interpret(command, modules=bench.modules())
    assert len(counted) >= least and set(counted) == set(heard)
    for name, figures in counted.items():
        assert figures is not None, [k["not_counted"] for k in document["kernels"] if k["name"] == name]
        told = heard[name]
        assert told.unknown == (), name
        wanted = {f for f in {*figures, *told.figures} if f != "fp operations" or not told.vectors} - told.untold
        assert {f: figures[f] for f in wanted} == {f: told.figures[f] for f in wanted}, name


def test_the_library_of_kernels(tmp_path):
    words = [str(w) for name in ("matmul", "vectors", "calls", "doubles", "diverge") for w in (name, 5, 64, 0)]
    words[words.index("matmul") + 1:words.index("matmul") + 4] = ["16", "16", "8", "16", "8"]
    check(tmp_path, [PROGRAMS / "counted", KERNELS, "", *words], 5)


def test_what_is_linked_of_one_part(tmp_path, monkeypatch):
    """As hashcat does. The interpreter takes the very module, whose compiler is in its figures."""
    monkeypatch.setenv("COUNTED_LINKED", "")
    bench = interpreter.Bench(BUILD, tmp_path)
    command = [PROGRAMS / "counted", KERNELS, "-D UNUSED=1", "doubles", "5", "64", "0"]
    bench.count(command)
    assert (bench.modules() / "0.bc").exists()
    check(tmp_path, command, 1)


@pytest.mark.parametrize("test", ["--compute-sp", "--compute-dp", "--compute-integer", "--global-bandwidth"])
def test_clpeak(tmp_path, test):
    if not shutil.which("clpeak"):
        pytest.skip("there is no clpeak")
    check(tmp_path, ["clpeak", test], 4, groups=2, launches=1)


@pytest.mark.parametrize("length", TRANSFORMS)
def test_clfft(tmp_path, length):
    source = pathlib.Path(__file__).parents[1] / "programs/transform.c"
    check(tmp_path, [compiled(tmp_path, source, "clFFT"), length], 1)


@pytest.mark.parametrize("words", [["8"], ["8", "double"]], ids=["single", "double"])
def test_clblast(tmp_path, words):
    """Its functions are `inline`, and ask for their work-item."""
    source = pathlib.Path(__file__).parents[1] / "programs/product.c"
    program = compiled(tmp_path, source, ":libclblast.so.1")
    check(tmp_path, [program, *words], 1)
    check(tmp_path, [program, *words], 1, which="before")


def test_pyopencl(tmp_path):
    """A sum, sums up to each number, and two ways to sort: some copy what has several numbers."""
    pytest.importorskip("pyopencl")
    program = pathlib.Path(__file__).parents[1] / "programs/arrays.py"
    check(tmp_path, [sys.executable, "-W", "ignore", program, "256"], 7)


@pytest.mark.parametrize("length", TRANSFORMS)
def test_results_are_the_programs_to_the_last_bit(tmp_path, length):
    """clFFT's kernels have `a * b - c * d`, which PoCL fuses on a processor that can."""
    program = compiled(tmp_path, pathlib.Path(__file__).parents[1] / "programs/transform.c", "clFFT")
    environment = {"POCL_CACHE_DIR": str(tmp_path / "pocl"), "TMPDIR": str(tmp_path)}
    native = run([program, length], environment)
    assert native.status == 0, native.errors.decode()
    done = run([BUILD / "src/cli/tare", "blocks", "--", program, length], environment)
    assert done.out.startswith(native.out) and b"1 of 1 launch counted" in done.out
