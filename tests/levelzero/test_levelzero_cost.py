# SPDX-License-Identifier: Apache-2.0
"""What the report says that recording a Level Zero program cost: our own code by calibration, the driver's part where
it can be measured without giving the device anything to do."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import SANITIZED  # noqa: E402
from scripted import STYLES, cache, check, on, script  # noqa: E402,F401
from trace import Trace  # noqa: E402

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")


def recorded(on, style, *options):
    """Coverage, and the changes' counts by their names. But with --strict all is timed: the calibration gives the
    device nothing to do, and its events and lists are in no record."""
    rate, bits = script(on)
    done = on.record([STYLES, style], *options)
    assert done.status == 0, done.errors.decode()
    if not options:
        check(done, rate, bits)
    report = on.report(done.folder)
    return report["coverage"], {row["change"]: row["count"] for row in report["changes"]}


def test_events_of_ours_have_a_price(on):
    for _ in range(5):
        coverage, changes = recorded(on, "without")
        # On a machine that is too busy the measuring gives up.
        if coverage["cost_source"] == "calibration":
            break
    assert coverage["cost_source"] == "calibration" and changes["calibration"] == 1
    assert coverage["self_cost_ns"] > 0 < coverage["once_ns"]
    assert coverage["driver_cost_low_ns"] <= coverage["driver_cost_ns"] <= coverage["driver_cost_high_ns"]
    assert coverage["cost_low_ns"] <= coverage["cost_ns"]
    assert coverage["cost_high_ns"] is None or coverage["cost_ns"] < coverage["cost_high_ns"]


def test_what_appending_took_is_counted_once(on):
    """A list executed three times was appended once. What executing the lists behind it takes the driver is not
    known: the cost is a lower limit."""
    coverage, changes = recorded(on, "regular=3")
    assert coverage["cost_source"] == "own_code" and changes["lists"] >= 1
    assert coverage["driver_cost_ns"] is None and coverage["cost_high_ns"] is None
    assert coverage["self_cost_ns"] > 0


def test_what_is_appended_and_never_executed_has_no_price(on):
    coverage, changes = recorded(on, "appended")
    assert "lists" not in changes and changes["event"] == 1
    assert coverage["cost_source"] == "own_code" and coverage["driver_cost_ns"] is None


def test_a_program_with_events_of_its_own_costs_the_driver_nothing(on):
    coverage, changes = recorded(on, "plain")
    assert coverage["cost_source"] == "calibration" and "flag" not in changes
    assert (coverage["driver_cost_low_ns"], coverage["driver_cost_ns"], coverage["driver_cost_high_ns"]) == (0, 0, 0)


def test_strict_measures_nothing_in_the_driver(on):
    coverage, changes = recorded(on, "without", "--strict")
    assert "calibration" not in changes and "event" not in changes
    assert coverage["cost_source"] == "calibration" and coverage["driver_cost_ns"] == 0 < coverage["self_cost_ns"]


def number_at(trace, offset):
    return int.from_bytes(trace.header[offset:offset + 8], "little")


@pytest.mark.parametrize("opencl", [False, True], ids=["alone", "with OpenCL"])
def test_another_api_has_no_part_in_these_costs(on, opencl):
    """The header has one set. What the driver of the one takes for events is not told of the other's."""
    script(on)
    done = on.record([sys.executable, HERE / "both.py", *["opencl"] * opencl])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    apis, driver_rounds = (number_at(trace, offset) for offset in (1176, 1184))
    assert (apis, driver_rounds != 0) == ((1 << 1 | 1 << 2, False) if opencl else (1 << 2, True))
    assert number_at(trace, 120) > 0
