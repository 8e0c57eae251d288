# SPDX-License-Identifier: Apache-2.0
"""Transfer rates agree with clpeak's, an independent tool, on the same device."""
import math
import os
import shutil
import statistics
import sys

import pytest

import clpeak_ratio

PAIRS, MOST_PAIRS = 3, 9  # shared machines have bad minutes
SECONDS = 2  # for several copies even where one takes 0.2 s
LOW, HIGH = 0.95, 1.05


@pytest.fixture(scope="module")
def clpeak():
    found = shutil.which("clpeak")
    if not found:
        pytest.skip("clpeak is not installed")
    if not os.path.exists("/etc/OpenCL/vendors/pocl.icd"):
        pytest.skip("PoCL is not installed")
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 5 << 30:
        pytest.skip("needs 5 GB of free memory")
    return found


def interval(ratios):
    """Where the median lies with at least 95 % (96.1 for 9): between two of the sorted ratios, by the
    binomial distribution of how many fall below it; None where there are too few."""
    ordered, n = sorted(ratios), len(ratios)
    tails = [2 * sum(math.comb(n, k) for k in range(below + 1)) / 2 ** n for below in range((n + 1) // 2)]
    enough = [below for below, tail in enumerate(tails) if tail <= 0.05]
    return (ordered[enough[-1]], ordered[-1 - enough[-1]]) if enough else None


def judge(take, pairs=PAIRS, most=MOST_PAIRS):
    """Takes `pairs` more ratios by line until the median of all is within the limits, at most
    `most`; nothing taken is left out. Returns "agrees", "differs" (the interval of a line's median
    has nothing in common with the limits) or "undecided", and what was taken."""
    taken = {}
    for _ in range(0, most, pairs):
        for line, ratios in take(pairs).items():
            taken.setdefault(line, []).extend(ratios)
        if all(LOW <= statistics.median(ratios) <= HIGH for ratios in taken.values()):
            return "agrees", taken
    found = [interval(ratios) for ratios in taken.values()]
    return "differs" if any(i and (i[0] > HIGH or i[1] < LOW) for i in found) else "undecided", taken


def test_the_judge_forgets_no_pair():
    def from_lists(*rounds):
        left = list(rounds)
        return lambda pairs: {"line": left.pop(0)}

    # A good last round does not make up for two bad ones, in one median over all.
    bad, good, mixed = [1.2] * 9, [1.0] * 9, [1.1] * 5 + [1.0] * 4
    assert judge(from_lists(bad, bad, good), 9, 27)[0] == "undecided"
    assert judge(from_lists(bad, bad, bad[1:] + [1.0]), 9, 27)[0] == "differs"
    assert judge(from_lists(good), 9, 27) == ("agrees", {"line": good})
    assert judge(from_lists(mixed, good), 9, 27) == ("agrees", {"line": mixed + good})
    assert judge(from_lists(mixed), 9, 9)[0] == "undecided"
    assert judge(from_lists([1.074] * 9), 9, 9)[0] == "differs"  # GiB/s called GB/s
    assert judge(from_lists([0.9] * 8 + [1.0]), 9, 9)[0] == "differs"
    assert judge(from_lists([0.9] * 7 + [1.0] * 2), 9, 9)[0] == "undecided"


def test_the_interval_of_a_median():
    # Conover, Practical Nonparametric Statistics, the sign test's table: of 9 the 2nd and the 8th.
    assert interval(range(1, 10)) == (2, 8)
    assert interval(range(1, 7)) == (1, 6)
    assert interval(range(1, 6)) is None


def test_a_direction_is_compared_only_where_the_copy_decides():
    even = {"heap-to-device": [9.0, 9.5], "device-to-heap": [12.0, 11.0]}
    uneven = {"heap-to-device": [3.6, 3.5], "device-to-heap": [12.0, 11.0]}
    assert clpeak_ratio.comparable(even, sys.stderr) == ["heap-to-device", "device-to-heap"]
    assert clpeak_ratio.comparable(uneven, sys.stderr) == ["device-to-heap"]


def test_median_ratio_to_clpeak_over_all_pairs(clpeak):
    verdict, taken = judge(
        lambda pairs: clpeak_ratio.measure(os.environ["TARE"], clpeak, pairs, SECONDS, out=sys.stderr))
    told = {line: [round(ratio, 3) for ratio in sorted(ratios)] for line, ratios in taken.items()}
    if verdict == "undecided":
        pytest.skip(f"the machine is too noisy to compare on: {told}")
    assert verdict == "agrees", f"not within {LOW} to {HIGH}: {told}"
