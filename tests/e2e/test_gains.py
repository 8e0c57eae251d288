# SPDX-License-Identifier: Apache-2.0
"""Every gain survives doing it: what a finding promises is what the program gains by the advised change alone. gains.py
makes the changes; docs/gains.md has what was measured, and the findings for which no change is defined."""
import pathlib
import re
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from gains import (CHANGES, DRIVER, FEWEST_ROUNDS, KEPT, MOST_ROUNDS, PLATFORMS, UNDEFINED,  # noqa: E402
                   Outcome, try_change)
from others import Others  # noqa: E402
from recorded import EXAMPLES, PROGRAMS, SANITIZED, built  # noqa: E402
from test_findings import BUSY_CORES, rows  # noqa: E402

LOOK_S = 0.3
# A slow phase of the machine passes, and a wrong estimate stays: later tries wait so long.
PAUSE_S = 10

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="the times are of a host that is not slowed down")]


@pytest.fixture(scope="module")
def platforms(tare_path, tmp_path_factory):
    made = {}

    def platform(name):
        if name not in made:
            made[name] = PLATFORMS[name](tare_path, tmp_path_factory.mktemp("gains"))
        return made[name]
    return platform


def test_every_finding_is_tried_or_says_why_not():
    tried = {change.finding for change in CHANGES}
    cases = {(change.platform, change.finding) for change in CHANGES}
    assert {(platform, name) for platform, names in KEPT.items() for name in names} <= cases
    known = {name for name, _, _ in rows()}
    assert tried | set(UNDEFINED) == known
    assert not tried & set(UNDEFINED)
    page = (pathlib.Path(__file__).parents[2] / "docs/gains.md").read_text()
    told = set(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", page, re.MULTILINE))
    assert {(name, platform) for platform, names in KEPT.items() for name in names} <= told
    assert set(UNDEFINED) <= {name for name, _ in told}


@pytest.mark.parametrize("outcome, faults", [
    (Outcome(8, 10, 12, 10, 0), 0), (Outcome(0, 0, 0, 1.9, 0), 0), (Outcome(1, 12.4, 12.4, 10, 0), 0),
    (Outcome(1, 12.6, 12.6, 10, 0), 1), (Outcome(0, 7.4, 10, 10, 0), 1), (Outcome(10.6, 11, 12, 10, 0), 1),
    (Outcome(0, 10, 22.1, 10, 0), 1), (Outcome(20, 20, 20, 4, 0), 3), (Outcome(0, 6, 10, 10, 0, True), 0),
    (Outcome(0, 13, 13.1, 10, 0, True), 1),
    # The gain is above the high end.
    (Outcome(0, 7, 7, 10, 0), 1), (Outcome(0, 8, 8, 10, 0), 0), (Outcome(6, 7, 7.9, 10, 0, True), 1),
    # No more than an upper end is promised.
    (Outcome(0, 20, 20, 10, 0), 0), (Outcome(0, 23, 23, 10, 0), 1), (Outcome(0, 20, 20.1, 10, 0), 1)])
def test_a_broken_promise_is_told(outcome, faults):
    assert len(outcome.faults()) == faults


def is_busy():
    others = Others()
    time.sleep(LOOK_S)
    return others.cores() > BUSY_CORES


# The others are for the table that gains.py prints: whatever they gained, they could not fail.
JUDGED = [change for change in CHANGES if change.finding in KEPT.get(change.platform, ())]


@pytest.mark.parametrize("change", JUDGED, ids=[f"{change.finding} on {change.platform}" for change in JUDGED])
def test_the_gain(platforms, change):
    if change.platform == "ze-cpu" and not (DRIVER.exists() and (PROGRAMS / "pairs_levelzero").exists() and
                                            (EXAMPLES / "levelzero-kernels.spv").exists()):
        pytest.skip("ze-cpu, its loader or its kernels are not built")
    seen = []
    for i, rounds in enumerate((FEWEST_ROUNDS, *4 * (MOST_ROUNDS,))):
        time.sleep(PAUSE_S if i > 1 else 0)
        if is_busy():
            pytest.skip(f"others have the processors: {', '.join(seen) or 'not tried'}")
        others = Others()
        outcome = try_change(platforms(change.platform), change, rounds)
        seen.append(str(outcome or "nothing was measured"))
        if outcome and outcome.is_sharp() and not outcome.faults():
            return
        if others.cores() > BUSY_CORES:
            pytest.skip(f"others had the processors: {', '.join(seen)}")
    # What the runs differ by among themselves tells nothing when it is as much as what is gained.
    if outcome and not outcome.is_sharp():
        pytest.skip(f"the runs differ by too much: {', '.join(seen)}")
    assert outcome and not outcome.faults(), seen
