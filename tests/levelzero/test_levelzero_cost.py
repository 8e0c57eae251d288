# SPDX-License-Identifier: Apache-2.0
"""What the report says that recording a Level Zero program cost: our own code by calibration, the driver's part where
it can be measured without giving the device anything to do."""
import os
import pathlib
import struct
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import SANITIZED  # noqa: E402
from scripted import STYLES, check, on, script  # noqa: E402,F401
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


def priced(on, style):
    """As recorded; on a machine that is too busy the measuring gives up, as it waits for the device for a while only."""
    for _ in range(8):
        coverage, changes = recorded(on, style)
        if coverage["cost_source"] == "calibration":
            break
    if coverage["cost_source"] != "calibration" and os.getloadavg()[0] > 3 * os.cpu_count():
        pytest.skip("the machine was too busy in every try")
    assert coverage["cost_source"] == "calibration"
    assert coverage["driver_cost_low_ns"] <= coverage["driver_cost_ns"] <= coverage["driver_cost_high_ns"]
    return coverage, changes


def of_header(on):
    trace, = (on.folder / "run.tare").glob("*.trace")
    words = struct.unpack_from("<Q9q", trace.read_bytes(), 1504)
    return words[0], words[1:4], words[4:7], words[7:]


def test_what_executing_took_is_measured(on):
    """A list executed three times was appended once, and each execution has a price, with its interval."""
    coverage, changes = priced(on, "regular=3")
    rounds, best, low, high = of_header(on)
    assert changes["lists"] >= 1 and changes["calibration"] == 2
    assert rounds >= 5 and all(low[i] <= best[i] <= high[i] for i in range(3))
    assert best[0] > 0, "our own code takes something"
    # What was appended, and three executions.
    assert coverage["self_cost_ns"] > 3 * best[0] / 1e3
    assert coverage["driver_cost_ns"] >= 3 * max(best[1], 0) / 1e3
    assert coverage["cost_high_ns"] is None or coverage["cost_low_ns"] <= coverage["cost_ns"] <= coverage["cost_high_ns"]


def test_what_is_appended_and_never_executed_has_a_price(on):
    coverage, changes = priced(on, "appended")
    assert "lists" not in changes and changes["event"] == 1 and changes["calibration"] == 1
    assert of_header(on)[0] == 0, "nothing was executed"
    # What an event takes the driver may be less than can be measured.
    assert coverage["driver_cost_ns"] is not None


def test_our_own_code_has_an_upper_end(on):
    """It is measured between the driver's calls, as OpenCL's."""
    priced(on, "without")
    trace, = (on.folder / "run.tare").glob("*.trace")
    header = trace.read_bytes()[:4096]
    own = [number_at_bytes(header, offset) for offset in (120, 1456)]
    low, high = ([number_at_bytes(header, offset + 8 * i) for i in range(2)] for offset in (1464, 1480))
    assert all(0 < low[i] <= own[i] <= high[i] for i in range(2))


def test_a_program_with_events_of_its_own_costs_the_driver_nothing(on):
    coverage, changes = recorded(on, "plain")
    assert coverage["cost_source"] == "calibration" and "flag" not in changes
    assert (coverage["driver_cost_low_ns"], coverage["driver_cost_ns"], coverage["driver_cost_high_ns"]) == (0, 0, 0)


def test_strict_measures_nothing_in_the_driver(on):
    coverage, changes = recorded(on, "without", "--strict")
    assert "calibration" not in changes and "event" not in changes
    assert coverage["cost_source"] == "calibration" and coverage["driver_cost_ns"] == 0 < coverage["self_cost_ns"]


def number_at_bytes(header, offset):
    return int.from_bytes(header[offset:offset + 8], "little")


def number_at(trace, offset):
    return number_at_bytes(trace.header, offset)


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
