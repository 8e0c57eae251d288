# SPDX-License-Identifier: Apache-2.0
"""Level Zero programs, recorded: every command is there, its device times are the script's, and the program
does what it does without tare."""
import collections
import csv
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, SANITIZED, run  # noqa: E402
from parts import thorough_but  # noqa: E402
from patience import HUNG_S  # noqa: E402
from scripted import DRIVER, NS, RATES, STYLES, check, kinds, on, script, stamps  # noqa: E402,F401
from trace import CONTENTS, NO_TIMES, Trace, records  # noqa: E402

IMMEDIATE = ["plain", "without", "in-order", "synchronous", "reused"]
REGULAR = ["regular=1", "regular=2", "regular=10", "several"]

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")


@pytest.mark.parametrize("style", [*IMMEDIATE, *REGULAR, "signalled", "early", "resetting", "threads"])
def test_every_command_is_timed_by_the_script(on, style):
    rate, bits = script(on)
    trace = check(on.record([STYLES, style]), rate, bits)
    assert trace.facts[27] == rate and trace.facts[28] == bits
    assert int.from_bytes(trace.header[1136:1144], "little") == 0, "nothing is pending"


def test_an_engine_that_only_copies_is_asked_nothing(on):
    """A list of it is executed again before anybody looks: of the last execution the events are read by the host, of
    those before it nothing is told, or what they took."""
    reused = 5
    rate, _ = script(on)
    # It ends the program at such a query.
    on.environment.update({"OTHER_DRIVER_OF": str(DRIVER),
                           "ZE_ENABLE_ALT_DRIVERS": str(BUILD / "tests/levelzero/libze_other.so")})
    done = on.record([STYLES, "copies"])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    assert {why for _, _, _, why in trace.untimed} <= {reused}
    of = sorted([(*key[:2], key[2]) for key in trace.times] + [row[:3] for row in trace.untimed])
    assert len(of) == len(set(of)) == 12, "each of four, three times"
    assert [execution for _, _, execution in trace.times].count(3) == 4
    assert all(abs(end - start - NS[kind] * rate / 1e9) <= 1 for kind, start, end in trace.runs())
    change, = [row for row in on.report(done.folder)["changes"] if row["change"] == "lists"]
    assert abs(change["device_ns"] - 3 * 2 * NS["barrier"]) <= 3 * 2e9 / rate, "barriers, and no query"


@pytest.mark.parametrize("rate,bits", thorough_but([("12 MHz", 32)],
                                                    [("12 MHz", 32), ("19.2 MHz", 32), ("12.5 MHz", 36), ("1 GHz", 36)]))
def test_counters_that_wrap(on, rate, bits):
    """The program goes on until its counter has gone round: at 2 s of the driver's, by the script's epoch."""
    ticks, bits = script(on, rate, bits, (1 << bits) - int(RATES[rate] * 2))
    trace = check(on.record([STYLES, "wrapping"]), ticks, bits)
    starts = [start for _, start, _ in trace.runs()]
    assert max(starts) - min(starts) > 1 << (bits - 1)


def test_one_after_another_and_nothing_waits(on):
    """Ten executions without waiting follow each other on the device as without tare: between them is what the
    query behind each list takes, and no host."""
    rate, bits = script(on)
    trace = check(on.record([STYLES, "regular=10"]), rate, bits)
    by_execution = collections.defaultdict(list)
    for (_, _, execution), ((start, end),) in trace.times.items():
        by_execution[execution].append((start, end))
    assert sorted(by_execution) == list(range(1, 21))
    for executions in (range(1, 10), range(11, 20)):
        gaps = [min(start for start, _ in by_execution[number + 1]) - max(end for _, end in by_execution[number])
                for number in executions]
        assert min(gaps) >= 0
        # On a busy machine the host may come late for some of them; were it waited for, it would for each.
        assert sum(gap * 1e9 / rate <= 31000 for gap in gaps) >= len(gaps) / 3, "three barriers at most"


def test_executions_and_templates(on):
    rate, bits = script(on)
    trace = check(on.record([STYLES, "regular=10"]), rate, bits)
    assert len(trace.executes) == 20 and {nodes for _, _, nodes in trace.executes} == {10}
    assert [execution for _, execution, _ in trace.executes] == list(range(1, 21))
    graphs = [command for command in trace.commands.values() if command.kind == "graph"]
    templates = [command for command in trace.commands.values() if command.queue in trace.graphs]
    assert len(graphs) == 20 and all(command.flags & NO_TIMES for command in graphs)
    assert len(templates) == 20 and len(trace.graphs) == 3, "made, and reset twice"


def test_what_has_no_event_is_counted_in_its_list(on, tare_path):
    rate, bits = script(on)
    done = on.record([STYLES, "between"])
    trace = check(done, rate, bits)
    assert [(execution, nodes) for _, execution, nodes in trace.executes] == [(1, 3), (2, 3)]
    report = json.loads(subprocess.run([tare_path, "report", done.folder, "--json", "-"], check=True,
                                       capture_output=True).stdout)
    task, = report["tasks"]
    assert (task["instances"], task["timed"]) == (4, 4)


@pytest.mark.parametrize("styles", [[*IMMEDIATE], [*REGULAR],
                                    ["signalled", "early", "resetting", "copies"], ["threads"]], ids=" ".join)
@pytest.mark.parametrize("options", [[], ["--strict"]], ids=["", "strict"])
def test_the_program_is_as_without(on, styles, options):
    script(on)
    native = on.native([STYLES, *styles])
    done = on.record([STYLES, *styles], *options)
    assert (done.status, kinds(done.out), done.errors) == (native.status, kinds(native.out), native.errors)
    assert sum(stamps(done.out).values()) == sum(stamps(native.out).values())


def test_strict_changes_nothing(on):
    script(on)
    done = on.record([STYLES, *IMMEDIATE, *REGULAR], "--strict")
    trace = Trace(done.folder)
    assert not set(trace.changes) - {5, 10}, "but for the recorder's own thread, and its place before the driver"
    assert len(trace.times) == sum(stamps(done.out).values()), "those with the program's own events"


def test_the_counter_of_the_context_is_kept(on):
    """A list, and an immediate one: the context ends its work before the tail of the command."""
    rate, bits = script(on)
    path = pathlib.Path(on.environment["ZE_CPU_SCRIPT"])
    text = path.read_text().replace("memory 1 GiB", "memory 1 GiB units 10")
    path.write_text(text.replace("kernel empty fixed 50 us", "kernel empty fixed 40 us slots 1 wave 10 us share yes") +
                    "stamps queued,submitted,start,end,active\n")
    done = on.record([STYLES, "regular=2", "plain"])
    trace = check(done, rate, bits)
    assert set(trace.active) == set(trace.times)
    for (track, number, execution), (start, end) in trace.active.items():
        kind = trace.commands[track, number].kind
        truth = 41000 if kind == "kernel" else NS[kind]
        assert abs((end - start) % (1 << bits) - truth * rate / 1e9) <= 1, kind
    table = on.folder / "tables"
    assert run([on.tare, "export", done.folder, "--csv", table], cwd=on.folder).status == 0
    with open(next(table.glob("*command*.csv")), encoding="utf-8") as rows:
        active = [row["active_ns"] for row in csv.DictReader(rows) if row["kind"] == "kernel"]
    assert len(active) == sum(command == "kernel" for command, _, _ in trace.runs())
    assert all(abs(int(ns) - 41000) <= 84 for ns in active)


def test_a_device_of_several_is_one_envelope(on):
    """Each command begins with the first sub-device, and ends with the last."""
    rate, bits = script(on)
    path = pathlib.Path(on.environment["ZE_CPU_SCRIPT"])
    text = path.read_text().replace("memory 1 GiB", "memory 1 GiB units 4 sub-devices 2 stagger 5 us")
    for engine in ("compute", "copy"):
        line, = [line for line in text.splitlines() if line.startswith(f"engine {engine}")]
        text = text.replace(line, line + "\n" + line)
    path.write_text(text)
    check(on.record([STYLES, "regular=2", "plain"]), rate, bits)


def test_strict_says_why_lists_are_not_timed(on):
    script(on)
    done = on.record([STYLES, "regular=10"], "--strict")
    trace = Trace(done.folder)
    assert {trace.commands[track, number].kind for track, number, _, _ in trace.untimed} == {"graph"}
    assert [why for _, _, _, why in trace.untimed] == [6] * 20, "an execution each"
    coverage = on.report(done.folder)["coverage"]
    assert coverage["enqueued"] == coverage["unobserved_by"]["not_asked"] == 200


def test_a_thousand_executions_without_waiting(on):
    """Each is timed, or counted as not timed; what the lists behind them took of the device is told."""
    rate, bits = script(on)
    done = on.record([STYLES, "regular=1000"])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    assert all(len(found) == 1 for found in trace.times.values())
    assert int.from_bytes(trace.header[1136:1144], "little") == 0, "nothing is pending"
    for kind, start, end in trace.runs():
        assert abs((end - start) % (1 << bits) - NS[kind] * rate / 1e9) <= 1, kind
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert coverage["enqueued"] == sum(kinds(done.out).values()) == 20000
    assert coverage["completed"] == len(trace.times)
    assert coverage["unobserved_by"]["no_room"] + coverage["unobserved_by"]["reused"] == coverage["unobserved"]
    assert coverage["completed"] >= 10000
    change, = [row for row in report["changes"] if row["change"] == "lists"]
    assert 10 * change["commands"] >= coverage["completed"] and change["count"] == 1
    assert abs(change["device_ns"] / change["commands"] - 20000) <= 2e9 / rate, "two barriers"


def test_what_is_changed_is_said(on):
    script(on)
    trace = Trace(on.record([STYLES, "without"]).folder)
    assert trace.changes[2] == 1 and trace.changes[6] == 1, "events of ours, a pool's flags"
    assert trace.changes[10] == 1, "the place before the driver"


@pytest.mark.parametrize("styles", [[*IMMEDIATE], [*REGULAR]], ids=" ".join)
def test_the_ledger_sums(on, styles):
    script(on)
    done = on.record([STYLES, *styles])
    assert done.status == 0
    report = on.report(done.folder)
    assert [device["apis"] for device in report["devices"]] == [["levelzero"]]
    assert report["coverage"]["lost_commands"] == 0


def test_a_killed_program_leaves_its_trace(on):
    script(on)
    environment = {**os.environ, **on.environment}
    program = subprocess.Popen([on.tare, "record", "-q", "--force", "-o", "run", "--", STYLES, "endless"],
                               cwd=on.folder, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    try:
        seen = 0
        while seen < 20:
            line = program.stdout.readline()
            assert line, "it has ended"
            seen += line == b"run kernel\n"
        time.sleep(0.1)
    finally:
        children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
    program.communicate(timeout=HUNG_S)
    assert program.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    trace = Trace(on.folder / "run.tare")
    assert sum(command.kind == "kernel" for command in trace.commands.values()) == 20
    on.report(on.folder / "run.tare")


def test_a_program_with_no_driver_says_why(on):
    on.environment["ZE_ENABLE_ALT_DRIVERS"] = "/nowhere/libze_none.so"
    native, done = on.native([STYLES, "plain"]), on.record([STYLES, "plain"])
    assert done.status == native.status != 0
    assert (done.out, done.errors) == (native.out, native.errors)
    shown = run([on.tare, "record", "--force", "-o", "why", "--", STYLES, "plain"], on.environment, cwd=on.folder)
    assert b"libze_loader.so" in shown.errors and b"Level Zero" in shown.errors
    assert shown.status == native.status


def test_every_function_of_the_headers_has_a_role():
    tools = HERE.parents[1]
    done = run([sys.executable, tools / "tools/gen_levelzero.py", "--roles", tools / "api/levelzero.roles", "--newer",
                tools / "src/guest/levelzero/newer.h", "--check", "--", *os.environ.get("CC", "cc").split()])
    assert done.status == 0, done.errors.decode()


def test_two_drivers_at_once(on):
    """The same driver by two files: its functions are two, and each is reached by its own stub."""
    script(on)
    other = on.folder / "libze_other.so"
    other.write_bytes(DRIVER.read_bytes())
    on.environment["ZE_ENABLE_ALT_DRIVERS"] = f"{DRIVER},{other}"
    native, done = on.native([STYLES, "plain"]), on.record([STYLES, "plain"])
    assert done.status == native.status == 0 and kinds(done.out) == kinds(native.out)
    assert len(Trace(done.folder).times) == 20


@pytest.mark.parametrize("styles", [["plain"], ["regular=10"]], ids=" ".join)
def test_the_clocks_are_read_on_both_sides_of_the_work(on, styles):
    script(on)
    clock, = on.report(on.record([STYLES, *styles]).folder)["clock"]["devices"]
    assert clock["source"] == "pairs" and clock["pairs"] >= 2 and clock["contradictions"] == 0


WHOLE, SAMPLED, SKIPPED, UNREADABLE, UNSEEN, NO_ROW = range(1, 7)


def carried(folder):
    """{bytes of a list's copies: [(kind, execution, of, late, whole)]}, in the order of executions and of the list."""
    trace, found = Trace(folder), collections.defaultdict(list)
    for kind, flags, of, _, data in records(trace.path):
        if kind == CONTENTS:
            words = struct.unpack("<8Q", data)
            number = words[1] >> 32
            command = trace.commands[words[1] & 0xffffffff, number]
            assert words[2] > 0, "an execution"
            found[command.amount].append((words[2], number, command.kind, of, bool(flags & 1), words[3]))
    return {size: [(row[2], row[0], *row[3:]) for row in sorted(rows)] for size, rows in found.items()}


def test_what_lists_carry_at_each_execution(on):
    script(on)
    again, chain, twice, looked, rectangle = 262144, 4096, 8192, 16384, 32768
    # Who is kept from the processors may hash a part only, or nothing, or come too late to see it.
    for _ in range(8):
        done = on.record([BUILD / "tests/levelzero/contents"], "--contents")
        assert done.status == 0, done.errors.decode()
        assert int.from_bytes(Trace(done.folder).header[1136:1144], "little") == 0, "nothing is pending"
        found = carried(done.folder)
        rows = [row for size in found for row in found[size]]
        if not {SAMPLED, SKIPPED} & {row[2] for row in rows} and found[twice][-1][2] != UNSEEN:
            break
    assert [row[:4] for row in found[again]] == [(kind, execution, WHOLE, kind == "read")
                                                 for execution in (1, 2, 3) for kind in ("write", "read")]
    hashes = [row[4] for row in found[again]]
    assert len(set(hashes[:4])) == 1 and hashes[4] == hashes[5] != hashes[0]
    assert [(row[0], row[2]) for row in found[chain]] == [("read", WHOLE), ("write", UNSEEN)], "not there yet"
    assert [row[1:3] for row in found[twice]] == [(1, UNSEEN), (2, WHOLE)], "the first is overwritten"
    # Nobody has waited for it; what is hashed at a later wait is never sure.
    assert [row[2:4] for row in found[looked]] in ([(UNSEEN, False)], [(UNSEEN, True)], [(WHOLE, True)])
    assert [row[2] for row in found[rectangle]] == [NO_ROW]
    report = on.report(done.folder)
    assert report["coverage"]["contents_not"] == sum(row[2] != WHOLE for row in rows)
    assert not report["coverage"]["unresolved"]


@pytest.mark.parametrize("way,timed", [("behind", []), ("before", []), ("read", [(1, 1), (32, 1)]),
                                       ("immediate", [(1, 1), (32, 0)]), ("pending", []), ("again", [(1, 1)]),
                                       ("twice", [(32, 1)])])
def test_one_event_of_several_lists_in_flight(on, way, timed):
    """Nobody can tell whose times it says; where it is known which of them were read already, all have their own."""
    mib, reused = 1 << 20, 5
    rate, _ = script(on, "1 GHz")
    done = on.record([BUILD / "tests/levelzero/one_event", way])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    assert int.from_bytes(trace.header[1136:1144], "little") == 0, "nothing is pending"
    fills = {key: trace.commands[key[:2]].amount // mib for key in trace.times
             if trace.commands[key[:2]].kind == "fill"}
    assert sorted((size, key[2]) for key, size in fills.items()) == timed
    for key, size in fills.items():
        (start, end), = trace.times[key]
        assert abs(end - start - (19 + 16 * size) * rate / 1e6) <= 1, "its own"
    assert all(why == reused for *_, why in trace.untimed)
    executed = 3 if way == "again" else 2
    assert len(fills) + len(trace.untimed) == executed
