# SPDX-License-Identifier: Apache-2.0
"""The ledger of a Level Zero device against an account of the same run that is worked out here from the script
alone: what each engine did when, and so what state the device was in. No boundary is off by more than a tick."""
import csv
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, Recorder, SANITIZED, run  # noqa: E402

DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"
GATED = BUILD / "tests/levelzero/gated"
# Markers cost nothing, so that what the recorder adds takes no time of the device.
SCRIPT = """tare-device 1
device name "account" memory 1 GiB
timer rate {rate} bits {bits} epoch {epoch} ticks
queue route queue
engine compute runs to-device,to-host,local,kernel
engine copy runs to-device,to-host,local
engine copy runs to-device,to-host,local
copy pinned device fixed 234464 ns rate 1 GB/s
copy device pinned fixed 334464 ns rate 1 GB/s
copy device device fixed 134464 ns rate 1 GB/s
fill fixed 104464 ns rate 1 GB/s
kernel empty fixed 450 us
"""
NS = {"write": 300000, "read": 400000, "local": 200000, "fill": 170000, "kernel": 450000}
ROW = ("write", "kernel", "read", "fill", "kernel", "local")
CHUNKS = 4
CLOCKS = [("12 MHz", 12e6, 36), ("12.5 MHz", 12.5e6, 32), ("19.2 MHz", 19.2e6, 36), ("1 GHz", 1e9, 32)]
STYLES = [["immediate"], ["overlap"], ["regular", "1"], ["regular", "10"], ["lists", "3"]]
WRAP_S, BEFORE_S, TRIES = 2, 1e-3, 5

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache):
    recorder = Recorder(tare_path, tmp_path, kernel_cache)
    recorder.environment.update({"ZE_ENABLE_ALT_DRIVERS": str(DRIVER),
                                 "STYLES_KERNELS": str(BUILD / "kernels/empty.spv"),
                                 "ZE_CPU_SCRIPT": str(tmp_path / "script.tare-device")})
    return recorder


def account(style):
    """(start, end, kind) of each command, from the first start on."""
    if style[0] != "overlap":
        rows = {"immediate": 3, "regular": int(style[-1]) if style[0] == "regular" else 0}.get(style[0], 2 * 3)
        kinds = ROW * rows + (("kernel",) if style[0] == "immediate" else ())
        commands, now = [], 0
        for kind in kinds:
            commands.append((now, now + NS[kind], kind))
            now += NS[kind]
        return commands
    commands, written, worked, read = [], 0, 0, 0
    for _ in range(CHUNKS):
        commands.append((written, written + NS["write"], "write"))
        written += NS["write"]
        begun = max(written, worked)
        worked = begun + NS["kernel"]
        commands.append((begun, worked, "kernel"))
        begun = max(worked, read)
        read = begun + NS["read"]
        commands.append((begun, read, "read"))
    return sorted(commands)


def state_of(kinds):
    """What docs/ledger.md calls the device's state when commands of such kinds run."""
    into, out = "write" in kinds, "read" in kinds
    if "kernel" in kinds:
        return "kernel_and_transfer" if into or out else "kernel"
    if into or out:
        return "transfer_both_ways" if into and out else "transfer_to_device" if into else "transfer_from_device"
    return "local_copy" if kinds else "idle"


def segments(commands):
    """(from, to, state) from the first start to the last end, neighbours of one state joined."""
    edges = sorted({edge for start, end, _ in commands for edge in (start, end)})
    joined = []
    for begin, end in zip(edges, edges[1:]):
        state = state_of({kind for start, stop, kind in commands if start <= begin and stop >= end})
        if joined and joined[-1][2] == state:
            joined[-1] = (joined[-1][0], end, state)
        else:
            joined.append((begin, end, state))
    return joined


def record(on, style, rate, hz, bits, wrap_s):
    """With wrap_s the counter wraps so long after the start, in the middle of the work."""
    epoch = (1 << bits) - int(hz * wrap_s) if wrap_s else 0
    pathlib.Path(on.environment["ZE_CPU_SCRIPT"]).write_text(SCRIPT.format(rate=rate, bits=bits, epoch=epoch))
    # A busy machine may come too late for the wrap, or be stopped just before it.
    for _ in range(TRIES):
        done = on.record([GATED, *style, *([str(int(hz * BEFORE_S))] if wrap_s else [])])
        if done.status == 0:
            break
    assert done.status == 0, done.errors.decode()
    return done.folder


def commands_of(on, folder):
    """(start, end, kind) of each command that has an effect, nanoseconds into the run."""
    out = on.folder / "tables"
    done = run([on.tare, "export", "-q", "--force", "--csv", out, folder], cwd=on.folder)
    assert done.status == 0, done.errors.decode()
    with open(out / "command.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] in ("kernel", "write", "read", "copy", "fill")]
    return sorted((int(row["start_ns"]), int(row["end_ns"]), "local" if row["kind"] == "copy" else row["kind"])
                  for row in rows)


def drift_of(report):
    """By how much the device's clock is taken to be slow. The script's is right; a short run cannot tell that from
    what the readings of both clocks leave open."""
    clock, = report["clock"]["devices"]
    assert abs(clock["drift_ppm"]) < 100
    return 1 / (1 + clock["drift_ppm"] / 1e6) - 1


def states_of(report):
    """Nanoseconds in each state of the device, whatever the host did."""
    states = {}
    for cell in report["ledgers"][0]["matrix"]:
        states[cell["device"]] = states.get(cell["device"], 0) + cell["ns"]
    return states


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


@pytest.mark.parametrize("style", STYLES, ids=" ".join)
@pytest.mark.parametrize("rate, hz, bits", CLOCKS, ids=[f"{rate} {bits} bits" for rate, _, bits in CLOCKS])
@pytest.mark.parametrize("wrapping", [False, True], ids=["", "wrapping"])
def test_the_ledger_is_the_scripts_account(on, style, rate, hz, bits, wrapping):
    folder = record(on, style, rate, hz, bits, WRAP_S if wrapping else 0)
    truth, seen, tick = account(style), commands_of(on, folder), 1e9 / hz
    whole = on.report(folder)
    first, drift = seen[0][0], drift_of(whole)
    assert [kind for _, _, kind in seen] == [kind for _, _, kind in truth]
    # A fraction of a nanosecond is cut off where a tick becomes one.
    for (start, end, kind), (true_start, true_end, _) in zip(seen, truth):
        assert abs((start - first) / (1 + drift) - true_start) <= tick + 1, (kind, true_start)
        assert abs((end - first) / (1 + drift) - true_end) <= tick + 1, (kind, true_end)

    expected = segments(truth)
    states = states_of(whole)
    sums = {state: sum(end - begin for begin, end, each in expected if each == state) for _, _, state in expected}
    for state in set(states) | set(sums):
        if state == "idle":
            continue
        edges = 2 * sum(each == state for _, _, each in expected)
        assert abs(states.get(state, 0) / (1 + drift) - sums.get(state, 0)) <= edges * (tick + 1), state
    assert sum(states.values()) == whole["wall_ns"]


@pytest.mark.parametrize("style", [["immediate"], ["overlap"], ["regular", "2"]], ids=" ".join)
def test_each_boundary_of_the_ledger(on, style):
    """Between two boundaries of the account, a tick in from each, the ledger has that state and no other."""
    rate, hz, bits = CLOCKS[2]
    folder = record(on, style, rate, hz, bits, WRAP_S)
    truth, tick = account(style), int(1e9 / hz) + 2
    first = commands_of(on, folder)[0][0]
    expected = [(-100000, 0, "idle"), *segments(truth), (truth[-1][1], truth[-1][1] + 100000, "idle")]
    assert len(expected) >= 8
    for begin, end, state in expected:
        begin, end = first + begin + tick, first + end - tick
        view = on.report(folder, "--from", seconds(begin), "--to", seconds(end))
        # A time of the command line is a binary fraction.
        assert abs(view["wall_ns"] - (end - begin)) <= 1
        assert states_of(view) == {state: view["wall_ns"]}, (begin - first, end - first)


def test_a_command_that_waits_for_most_of_a_wrap(on):
    """It begins 3.6 s or more after it was handed over, of a counter that goes round in 4.3 s."""
    folder = record(on, ["immediate"], "1 GHz", 1e9, 32, 4.1)
    seen, truth, slow = commands_of(on, folder), account(["immediate"]), 1 + drift_of(on.report(folder))
    assert [((start - seen[0][0]) / slow, (end - seen[0][0]) / slow) for start, end, _ in seen] == \
        [(pytest.approx(start, abs=2), pytest.approx(end, abs=2)) for start, end, _ in truth]
