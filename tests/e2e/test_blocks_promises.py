# SPDX-License-Identifier: Apache-2.0
"""What tare blocks --gains promises of a finding beside what the kernel that a person has mended takes less, as the
harness of the other findings has it (gains.py). Of kernels of a millisecond: a round is then seldom interrupted."""
import dataclasses
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built  # noqa: E402, F401
from test_blocks import TOOLS, Blocks, kernel_of  # noqa: E402
from test_blocks_findings import PAIRS  # noqa: E402
from test_blocks_gains import FILLED, finding_of  # noqa: E402
import test_blocks_levelzero as levelzero  # noqa: E402

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

ROUNDS, TRIES = 12, 3
MS, SHARE = 1e6, 0.25


@dataclasses.dataclass(frozen=True)
class Pair:
    kernel: str
    mended: str
    words: tuple
    mended_words: tuple = ()


# Kernels of a millisecond or two at the most: on a busy machine one of a few rounds is then not interrupted.
PROMISED = {
    "double-constant": Pair("doubled", "doubled_mended", ("40", "4096", "64")),
    "integer-division": Pair("divided", "divided_mended", ("7", "65536", "64")),
    "special-functions": Pair("transcendent", "transcendent_mended", ("4", "16384", "64")),
    "unused-lanes": Pair("filled", "filled_mended", ("4", "65536", "1"), ("4", "65536", "64")),
}


WARM_UP = ("scattered", "1", "65536", "64")


def least_of(documents, kernel):
    """The two least times of a kernel in all rounds."""
    times = sorted(time for document in documents for row in document["options"]["kernels"] if row["name"] == kernel
                   for time in row["sets"][0]["times_ns"] if time)
    return times[0], times[1] - times[0]


def on_opencl(tare, folder, cache, words, options):
    return Blocks(tare, folder, cache, "basic").blocks(PAIRS, "", *words, COUNTED_SOURCE=FILLED,
                                                       options=[*options, "--options", "-DUNUSED"])


def on_levelzero(tare, folder, cache, words, options):
    if not levelzero.PROGRAM.exists():
        pytest.skip("there is no Level Zero loader to link with")
    source = folder / "pairs.cl"
    source.write_text(PAIRS.read_text(encoding="utf-8") + FILLED, encoding="utf-8")
    return levelzero.Blocks(tare, folder, cache).blocks(levelzero.spirv_of(source, folder), "immediate", *words,
                                                        options=[*options, "--options", "-ze-opt-level=2"])


class Measured:
    """All pairs in one program, measured in the same rounds: --options times the mended kernels, too. Once more where
    others had the machine."""

    def __init__(self, measure):
        self.measure, self.tries = measure, []

    def __getitem__(self, index):
        if index == len(self.tries):
            done, document = self.measure()
            assert done.status == 0, done.errors.decode()
            self.tries.append((" ".join(done.out.decode().split()), document))
        return self.tries[index]


@pytest.fixture(scope="module", params=[on_opencl, on_levelzero])
def promised(request, tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    # The first launch of a process has the buffers' first use in it.
    words = list(WARM_UP)
    for pair in PROMISED.values():
        words += [pair.kernel, *pair.words, pair.mended, *(pair.mended_words or pair.words)]
    return Measured(lambda: request.param(tare_path, tmp_path_factory.mktemp("gains"), kernel_cache, words,
                                          ["--gains", "--rounds", str(ROUNDS)]))


def judge(finding, documents):
    """The figures, what is wrong with the promises, whether the machine was too busy to tell, and whether the promise
    itself says that it is known no better: then only its ends are judged. Judged is the middle one, beside what the
    fastest rounds of all of them say."""
    pair = PROMISED[finding]
    ordered = sorted((finding_of(document, pair.kernel, finding) for document in documents),
                     key=lambda one: (one["best_ns"] or 0) / one["kernel_ns"])
    one, document = ordered[len(ordered) // 2], documents[-1]
    assert one["gain_why"] is None and 0 <= one["low_ns"] <= one["best_ns"] <= one["high_ns"] <= one["kernel_ns"], one
    assert kernel_of(document, pair.mended)["findings"] == []
    before, spread = least_of(documents, pair.kernel)
    after, spread_after = least_of(documents, pair.mended)
    # Another series may find the whole machine slower, this kernel with it.
    speed = one["kernel_ns"] / before
    real, spread = speed * (before - after), speed * (spread + spread_after)
    figures = (f"{finding}: {one['low_ns'] / MS:.3f} {one['best_ns'] / MS:.3f} {one['high_ns'] / MS:.3f} promised, "
               f"{real / MS:.3f} brought, of {one['kernel_ns'] / MS:.3f}; the fastest differ by {spread / MS:.3f} ms")
    busy = spread > SHARE * abs(real) or not 1 / 2 < speed < 2
    wide = (one["high_ns"] - one["low_ns"]) / 2 > SHARE * abs(real)
    wrong = []
    if abs(one["best_ns"] - real) > SHARE * real and not wide:
        wrong.append("the estimate is off")
    if one["low_ns"] > real + spread or real > (1 + SHARE) * one["high_ns"]:
        wrong.append("the ends do not hold it")
    return figures, wrong, busy, wide


@pytest.mark.parametrize("finding", PROMISED)
def test_mending_brings_what_was_promised(promised, finding):
    # It ends with the first tries that are good together.
    documents, said = [], []
    for index in range(TRIES):
        text, document = promised[index]
        documents.append(document)
        assert "as measured with the change" in text
        figures, wrong, busy, wide = judge(finding, documents)
        said.append(figures)
        if not (wrong or busy or wide):
            return
    assert busy or not wrong, (said, wrong)
    pytest.skip("the machine is busy: what is gained is not known to a quarter of it")
