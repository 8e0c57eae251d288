# SPDX-License-Identifier: Apache-2.0
"""A device with sub-devices, over which its driver spreads commands: what each of them did is in the trace, and in the
sub-device's ledger, by the script's truth."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import SANITIZED  # noqa: E402
from scripted import BUILD, DRIVER, NS, RATES, STYLES, check, on, script  # noqa: E402,F401
from trace import Trace  # noqa: E402

STAGGER_NS = 5000
NOT_KNOWN = "untimed"
HELD = BUILD / "tests/levelzero/held"

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")


def split(on, rate="12 MHz", bits=36, epoch=0, count=2):
    """A script whose device has sub-devices, with engines for each."""
    script(on, rate, bits, epoch)
    path = pathlib.Path(on.environment["ZE_CPU_SCRIPT"])
    text = path.read_text().replace("memory 1 GiB", f"memory 1 GiB units {4 * count} sub-devices {count} stagger 5 us")
    path.write_text("".join(line * (1 + (count - 1) * line.startswith("engine")) for line in text.splitlines(keepends=True)))


def check_parts(trace, rate, bits, count=2):
    """Each sub-device begins `stagger` after the one before, and ends so: what the trace has of each is that."""
    ticks = STAGGER_NS * RATES[rate] / 1e9
    for key, parts in trace.parts.items():
        (start, end), = trace.times[key]
        assert sorted(parts) == list(range(count)) and all(row[0] == count for row in parts.values())
        length = (end - start) % (1 << bits)
        for number, (_, begun, ended) in parts.items():
            begins = min(number * ticks, length)  # the command may be shorter
            ends = max(length - (count - 1 - number) * ticks, begins)
            assert abs((begun - start) % (1 << bits) - begins) <= 1 and abs((ended - start) % (1 << bits) - ends) <= 1


def ledgers(report):
    return {ledger["device_number"]: {part["category"]: part["ns"] for part in ledger["parts"]} | {
        "wall": ledger["wall_ns"]} for ledger in report["ledgers"] if ledger["scope"] == "device"}


def test_a_sub_device_has_its_own_commands_and_its_parts(on):
    """Three launches on each, and the parts of the whole device's two."""
    split(on)
    trace = check(on.record([STYLES, "sub-devices"]), RATES["12 MHz"], 36)
    assert len(trace.parts) == 2
    check_parts(trace, "12 MHz", 36)
    report = on.report(trace.path.parent)
    root = report["devices"][0]["name"]
    assert {device["number"]: (device["name"], device["sub_device_of"], device["parts"]) for device in report["devices"]
            } == {0: (root, None, 0), 1: (f"{root}, sub-device 0", 0, 2), 2: (f"{root}, sub-device 1", 0, 2)}
    found = ledgers(report)
    truth = {0: 2 * NS["kernel"], 1: 5 * NS["kernel"] - 2 * STAGGER_NS, 2: 5 * NS["kernel"] - 2 * STAGGER_NS}
    assert all(abs(found[number]["kernel"] - ns) <= 10e9 / RATES["12 MHz"] for number, ns in truth.items())
    assert all(sum(row.values()) == 2 * row["wall"] for row in found.values())
    assert all(row.get(NOT_KNOWN, 0) == 0 for row in found.values()), "all is known of each"
    assert report["coverage"]["enqueued"] == 8, "a part is no command"


@pytest.mark.parametrize("style,rate,bits,epoch", [("plain", "19.2 MHz", 32, 0), ("without", "1 GHz", 32, 0),
                                                   ("early", "12 MHz", 36, 0), ("regular=1", "12.5 MHz", 36, 0)])
def test_every_part_is_by_the_script(on, style, rate, bits, epoch):
    split(on, rate, bits, epoch)
    trace = check(on.record([STYLES, style]), RATES[rate], bits)
    assert len(trace.parts) == len(trace.times), "of each command"
    check_parts(trace, rate, bits)


def test_the_counter_wraps_between_parts(on):
    bits = 32
    split(on, "12 MHz", bits, (1 << bits) - int(RATES["12 MHz"] * 2))
    trace = check(on.record([STYLES, "wrapping"]), RATES["12 MHz"], bits)
    assert len(trace.parts) == len(trace.times)
    check_parts(trace, "12 MHz", bits)


@pytest.mark.parametrize("style", ["immediate", "regular"])
def test_an_event_is_reset_while_the_recorder_asks(on, style):
    """The recorder's thread is in the driver, asking what the sub-devices did, when the program resets the event. The
    program's own thread has asked before that: the parts of each command are told, and once."""
    split(on)
    driver = str(BUILD / "tests/levelzero/libze_other.so")
    on.environment.update({"OTHER_DRIVER_OF": str(DRIVER), "ZE_ENABLE_ALT_DRIVERS": driver, "HELD_DRIVER": driver})
    trace = check(on.record([HELD, style, style, style]), RATES["12 MHz"], 36)
    assert len(trace.times) == 3 and set(trace.parts) == set(trace.times)
    check_parts(trace, "12 MHz", 36)


def test_parts_that_were_overwritten_are_not_known(on):
    """A list executed ten times without waiting: its events say what the sub-devices did of the last time. Of the others
    the whole is known, and the sub-devices' ledgers say that they do not know."""
    split(on)
    trace = check(on.record([STYLES, "regular=10"]), RATES["12 MHz"], 36)
    assert 0 < len(trace.parts) < len(trace.times)
    check_parts(trace, "12 MHz", 36)
    found = ledgers(on.report(trace.path.parent))
    assert found[0].get(NOT_KNOWN, 0) == 0
    assert all(found[number][NOT_KNOWN] > 0 and sum(found[number].values()) == 2 * found[number]["wall"]
               for number in (1, 2))
    assert found[1]["kernel"] < found[0]["kernel"] / 2


def test_a_driver_that_gives_one_result_tells_no_part(on):
    script(on)
    trace = check(on.record([STYLES, "plain"]), RATES["12 MHz"], 36)
    assert not trace.parts and trace.times
    report = on.report(trace.path.parent)
    assert [(device["sub_device_of"], device["parts"]) for device in report["devices"]] == [(None, 0)]


def test_as_many_as_there_are_sub_devices(on):
    split(on, count=4)
    trace = check(on.record([STYLES, "in-order"]), RATES["12 MHz"], 36)
    assert trace.parts
    check_parts(trace, "12 MHz", 36, 4)
    assert set(ledgers(on.report(trace.path.parent))) == {0, 1, 2, 3, 4}
