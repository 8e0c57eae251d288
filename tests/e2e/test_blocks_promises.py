# SPDX-License-Identifier: Apache-2.0
"""What tare blocks --gains promises of a finding beside what the kernel that a person has mended takes less, as the
harness of the other findings has it (gains.py). Of kernels of a millisecond: a round is then seldom interrupted."""
import dataclasses
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built, kernel_cache  # noqa: E402, F401
from test_blocks import TOOLS, Blocks  # noqa: E402
from test_blocks_findings import PAIRS  # noqa: E402
from test_blocks_gains import FILLED, finding_of  # noqa: E402

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

ROUNDS = 12
MS, SHARE = 1e6, 0.25


@dataclasses.dataclass(frozen=True)
class Pair:
    kernel: str
    mended: str
    words: tuple
    mended_words: tuple = ()


# Kernels of a millisecond or two: on a busy machine one of a few rounds is then not interrupted.
PROMISED = {
    "double-constant": Pair("doubled", "doubled_mended", ("40", "16384", "64")),
    "integer-division": Pair("divided", "divided_mended", ("7", "65536", "64")),
    "special-functions": Pair("transcendent", "transcendent_mended", ("4", "16384", "64")),
    "unused-lanes": Pair("filled", "filled_mended", ("4", "16384", "1"), ("4", "16384", "64")),
}


def two_least(blocks, kernel):
    rows = [row["sets"] for row in blocks["options"]["kernels"] if row["name"] == kernel]
    first, second = sorted(time for time in rows[0][0]["times_ns"] if time)[:2]
    return first, second - first


@pytest.fixture(scope="module")
def promised(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    """All pairs in one program, measured in the same rounds: --options times the mended kernels, too."""
    on = Blocks(tare_path, tmp_path_factory.mktemp("gains"), kernel_cache, "basic")
    words = []
    for pair in PROMISED.values():
        words += [pair.kernel, *pair.words, pair.mended, *(pair.mended_words or pair.words)]
    done, document = on.blocks(PAIRS, "", *words, COUNTED_SOURCE=FILLED,
                               options=["--gains", "--options", "-DUNUSED", "--rounds", str(ROUNDS)])
    assert done.status == 0, done.errors.decode()
    return done, document


@pytest.mark.parametrize("finding", PROMISED)
def test_mending_brings_what_was_promised(promised, finding):
    done, document = promised
    pair = PROMISED[finding]
    one = finding_of(document, pair.kernel, finding)
    assert one["gain_why"] is None and 0 <= one["low_ns"] <= one["best_ns"] <= one["high_ns"], one
    before, spread = two_least(document, pair.kernel)
    after, spread_after = two_least(document, pair.mended)
    real, spread = before - after, spread + spread_after
    assert one["high_ns"] <= one["kernel_ns"]
    print(f"{finding}: {one['low_ns'] / MS:.3f} {one['best_ns'] / MS:.3f} {one['high_ns'] / MS:.3f} promised, "
          f"{real / MS:.3f} brought, of {before / MS:.3f}; the fastest differ by {spread / MS:.3f} ms")
    if spread > SHARE * abs(real):
        pytest.skip(f"the machine is busy: the fastest runs differ by {spread / MS:.3f} of {real / MS:.3f} ms")
    assert abs(one["kernel_ns"] - before) <= SHARE * before
    assert abs(one["best_ns"] - real) <= SHARE * real
    assert one["low_ns"] <= real + spread and real <= (1 + SHARE) * one["high_ns"]
    assert "as measured with the change" in " ".join(done.out.decode().split())
