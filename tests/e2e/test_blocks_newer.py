# SPDX-License-Identifier: Apache-2.0
"""tare blocks where Level Zero programs launch by functions that are newer than the loader, or leave it to the device
to read how much there is to do."""
import pytest
from recorded import SANITIZED, run  # noqa: F401
from test_blocks import LIBRARY, TOOLS, at, check_sums, items_of, kernel_of
from test_blocks_findings import PAIRS
from test_blocks_levelzero import PROGRAM, on, spirv, spirv_of, words_of  # noqa: F401

pytestmark = [pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version"),
              pytest.mark.skipif(not PROGRAM.exists(), reason="there is no Level Zero loader to link with")]
NAMES = ["strided", "matmul"]


def counted(on, spirv, way, times, runs):  # noqa: F811
    """The report of a run whose kernels have the closed forms, that many times."""
    words = [spirv, times, *words_of(NAMES)]
    native = on.native(*words, COUNTED_BY=way)
    plain = on.native(*words)
    done, document = on.blocks(*words, COUNTED_BY=way)
    assert (native.status, done.status) == (0, 0), done.errors.decode()
    assert native.out == plain.out and done.out.startswith(native.out), "the program's own output is another"
    for name in NAMES:
        kernel = kernel_of(document, name)
        sizes, expected = LIBRARY[name]
        assert kernel["not_counted"] is None and kernel["work_items"] == runs * items_of(sizes)
        assert {path: at(kernel["total"], path) for path in expected} == {path: runs * n for path, n in expected.items()}, name
        check_sums(kernel)
    return done, document


@pytest.mark.parametrize("way", ["arguments", "parameters", "named"])
@pytest.mark.parametrize("times, runs", [("immediate", 1), ("2", 2)])
def test_newer_launches_are_counted(on, spirv, way, times, runs):  # noqa: F811
    _, document = counted(on, spirv, way, times, runs)
    for name in NAMES:
        kernel = kernel_of(document, name)
        assert kernel["whole"] and (kernel["launches"], kernel["counted_launches"], kernel["unchecked_launches"]) == (runs, runs, 0)


def test_lists_that_an_immediate_list_runs_are_counted(on, spirv):  # noqa: F811
    _, document = counted(on, spirv, "lists", "3", 3)
    assert all(kernel["whole"] and kernel["launches"] == 3 for kernel in document["kernels"])


@pytest.mark.parametrize("way, launches", [("indirect", 1), ("several", 2)])
def test_launches_whose_groups_are_in_memory_are_counted_and_not_checked(on, spirv, way, launches):  # noqa: F811
    """Of "several" the device runs one of two launches, which it reads, too."""
    done, document = counted(on, spirv, way, "2", 2)
    for name in NAMES:
        kernel = kernel_of(document, name)
        assert kernel["launches"] == kernel["counted_launches"] == kernel["unchecked_launches"] == 2 * launches
        assert not kernel["whole"]
    assert f"not checked: of {2 * launches} launches the device read from memory how many work-groups there are" in done.out.decode()
    assert "counts are missing" not in done.out.decode()


def test_a_launch_takes_what_the_one_before_set_in_all_runs(on, tmp_path):  # noqa: F811
    """Also with kernels that tare has changed: those were not given the arguments of the first of the two launches."""
    source = spirv_of(PAIRS, tmp_path)
    words = [source, "immediate", "doubled", "4", "256", "64"]
    native = on.native(*words, COUNTED_BY="both")
    assert native.out == on.native(*words).out
    script = tmp_path / "keeps"
    script.write_text(f'#!/bin/sh\n"$@" >"{tmp_path}/$TARE_BLOCKS_STAGE.$$.out"\n', encoding="utf-8")
    script.chmod(0o755)
    done = run([on.tare, "blocks", "--gains", "--rounds", "1", "--", script, PROGRAM, *words],
               {**on.environment, "COUNTED_BY": "both"}, cwd=tmp_path)
    outs = {path.name: path.read_bytes() for path in tmp_path.glob("*.out")}
    assert done.status == 0 and any(name.startswith("change") for name in outs), done.errors.decode()
    assert {name: out for name, out in outs.items() if out != native.out} == {}
