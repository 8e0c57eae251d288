# SPDX-License-Identifier: Apache-2.0
"""What is newer than Debian 12's headers, called by function pointers: lists on immediate lists, events that
count, launches with arguments, host functions."""
import collections
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, SANITIZED  # noqa: E402
from scripted import DRIVER, NEWER, NS, check, kinds, on, script, stamps  # noqa: E402,F401
from trace import FAILED, NO_TIMES, Trace  # noqa: E402

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")
STYLES = ["appended", "appended-synchronous", "many", "counting", "counting-2", "counting-without", "counting-lists",
          "counting-lists-without"]
EVERY = [*STYLES, "hurried", "hurried-plain", "taken", "launches"]
TRIES = 4
REUSED = 5  # enum tare_trace_untimed


@pytest.mark.parametrize("style", STYLES)
def test_every_command_is_timed_by_the_script(on, style):
    rate, bits = script(on)
    trace = check(on.record([NEWER, style]), rate, bits)
    assert int.from_bytes(trace.header[1136:1144], "little") == 0, "nothing is pending"
    on.report(trace.path.parent)


@pytest.mark.parametrize("options", [[], ["--strict"]], ids=["", "strict"])
def test_the_program_is_as_without(on, options):
    script(on)
    native = on.native([NEWER, *EVERY])
    done = on.record([NEWER, *EVERY], *options)
    assert (done.status, kinds(done.out), done.errors) == (native.status, kinds(native.out), native.errors)
    assert sum(stamps(done.out).values()) == sum(stamps(native.out).values())


def test_lists_on_an_immediate_list_are_executions(on):
    rate, bits = script(on)
    trace = check(on.record([NEWER, "appended"]), rate, bits)
    assert sorted(execution for _, execution, _ in trace.executes) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    graphs = [command for command in trace.commands.values() if command.kind == "graph"]
    onto, = {command.queue for command in graphs}
    assert onto and all(command.flags & NO_TIMES for command in graphs)
    assert sum(command.queue == onto and command.kind == "kernel" for command in trace.commands.values()) == 2


def test_many_lists_in_a_call(on):
    rate, bits = script(on)
    trace = check(on.record([NEWER, "many"]), rate, bits)
    assert len(trace.executes) == 300
    by_list = collections.Counter(handle for handle, _, _ in trace.executes)
    assert set(by_list.values()) == {3}


def partly(done, rate, bits):
    """Of what was timed every time is the script's, and is what the program has read of its events; the rest is
    counted as used again. Returns the kinds of both."""
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    timed = collections.Counter(kind for kind, _, _ in trace.runs())
    untimed = collections.Counter(trace.commands[track, number].kind for track, number, _, _ in trace.untimed)
    assert {why for _, _, _, why in trace.untimed} <= {REUSED}
    assert timed + untimed == kinds(done.out), "each once"
    for kind, start, end in trace.runs():
        assert abs((end - start) % (1 << bits) - NS[kind] * rate / 1e9) <= 1, kind
    starts = [start for _, start, _ in trace.runs()]
    assert len(starts) == len(set(starts)), "no two of one queue began at once"
    assert stamps(done.out) <= collections.Counter((start, end) for _, start, end in trace.runs())
    assert int.from_bytes(trace.header[1136:1144], "little") == 0, "nothing is pending"
    return timed, untimed


@pytest.mark.parametrize("style", ["hurried", "hurried-plain"])
def test_an_event_signalled_again_before_anybody_looks(on, style):
    """Of an event that counts the last is told; of another nothing between the first and the reset is believed."""
    rate, bits = script(on)
    done = on.record([NEWER, style])
    timed, untimed = partly(done, rate, bits)
    assert untimed["kernel"] >= 10 and timed["kernel"] >= 1
    # Of the twentieth nothing is told, or what its event said in the end.
    last = [tuple(map(int, line.split()[1:])) for line in done.out.decode().splitlines() if line.startswith("last")]
    trace = Trace(done.folder)
    twentieth = sorted(key for key, command in trace.commands.items() if command.kind == "kernel")[19]
    for told in last:
        assert trace.times.get((*twentieth, 0), [told]) == [told]


def test_an_event_of_a_list_that_becomes_another_commands(on):
    """Who looks at an event, and loses the processor meanwhile, keeps others from it: then the first kernel's time is
    lost too. So of several tries one has it, and none has more."""
    rate, bits = script(on)
    for _ in range(TRIES):
        timed, untimed = partly(on.record([NEWER, "taken"]), rate, bits)
        assert (timed["write"], timed["kernel"] + untimed["kernel"]) == (5, 4) and not untimed["write"]
        assert timed["kernel"] <= 1
        if timed["kernel"]:
            break
    assert timed["kernel"] == 1


def test_events_that_count_are_flagged_and_that_is_said(on):
    script(on)
    assert Trace(on.record([NEWER, "counting"]).folder).changes[6] == 0, "they have all that is needed"
    assert Trace(on.record([NEWER, "counting-without"]).folder).changes[6] == 1
    strict = Trace(on.record([NEWER, "counting-without"], "--strict").folder)
    assert strict.changes[6] == 0 and not strict.times


def test_every_way_to_launch(on):
    """Each is recorded with its shape, where that is known: of an indirect launch it lies in device memory. Of
    several at once ze-cpu's event is that of the barrier behind them."""
    rate, bits = script(on)
    done = on.record([NEWER, "launches"])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    assert not trace.untimed
    runs = collections.Counter((kind, round(((end - start) % (1 << bits)) / rate * 1e6)) for kind, start, end in trace.runs())
    assert runs == {("kernel", 50): 18, ("kernel", 10): 3, ("marker", 15): 3}
    kernels = [command for _, command in sorted(trace.commands.items()) if command.kind == "kernel" and not
               command.flags & FAILED]
    shapes = [((192, 1, 1), (64, 1, 1)), ((96, 2, 1), (32, 2, 1)), ((32, 2, 1), (32, 2, 1)), None,
              ((64, 1, 1), (64, 1, 1)), None, None]
    assert [trace.shapes[command.amount] for command in kernels] == 2 * shapes, "on the list, and in the other"
    assert len({command.function for command in kernels}) == 6
    on.report(done.folder)


def test_functions_by_their_names_are_ours(on):
    """All that the driver offers so and that has a role; those that only ask are the driver's, and are not said to have
    gone past the recorder."""
    roles = {}
    for line in (HERE.parents[1] / "api/levelzero.roles").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, role, *_ = line.partition(":")[0].split()
            roles[name] = role
    program = [sys.executable, HERE / "addresses.py", *roles]
    script(on)
    native, done = on.native(program), on.record(program)
    assert (native.status, done.status) == (0, 0), done.errors.decode()
    offered = dict(line.split() for line in native.out.decode().splitlines())
    assert len(offered) > 100 and set(offered.values()) == {DRIVER.name}
    assert dict(line.split() for line in done.out.decode().splitlines()) == {
        name: DRIVER.name if roles[name] == "pass" else "libtare-recorder.so" for name in offered}
    assert on.report(done.folder)["coverage"]["passed_calls"] == 0


@pytest.fixture
def other(on):
    """ze-cpu with what it lacks."""
    on.environment.update({"OTHER_DRIVER_OF": str(DRIVER),
                           "ZE_ENABLE_ALT_DRIVERS": str(BUILD / "tests/levelzero/libze_other.so")})
    script(on)
    return on


def test_copies_of_images(other):
    done = other.record([NEWER, "images"])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    commands = [command for _, command in sorted(trace.commands.items())]
    assert [(command.kind, command.amount) for command in commands] == [
        ("write", 100 * 20 * 8), ("read", 10 * 5 * 8), ("copy", 10 * 5 * 8), ("copy", 0)], "of media nobody knows"
    assert len(trace.times) == 4 and len({command.object for command in commands}) == 2
    other.report(done.folder)


def test_lists_that_may_be_changed(other):
    """What may be changed of a command before it runs is not told of it; when its event is, it is not timed."""
    done = other.record([NEWER, "changed"])
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    kernels = [command for _, command in sorted(trace.commands.items()) if command.kind == "kernel"]
    known = ((64, 1, 1), (64, 1, 1))
    assert [trace.shapes[command.amount] for command in kernels] == [known, None, None, known]
    assert [command.object != 0 for command in kernels] == [True, True, False, True]
    assert {execution for _, _, execution in trace.times} == {1} and len(trace.times) == 4
    (track, number, execution, why), = trace.untimed
    assert (trace.commands[track, number].kind, execution, why) == ("graph", 0, REUSED)
    report = other.report(done.folder)
    assert report["coverage"]["unobserved_by"]["reused"] == 4


def test_what_was_complete_before_a_list_is_changed_is_timed(other):
    """Also where the recorder's own thread is the one that reads it, and does not come to it before the change."""
    other.environment["HELD_DRIVER"] = other.environment["ZE_ENABLE_ALT_DRIVERS"]
    done = other.record([BUILD / "tests/levelzero/held", "changed"])
    assert (done.status, done.errors) == (0, b"")
    trace = Trace(done.folder)
    assert [execution for _, _, execution in trace.times] == [1] and not trace.untimed


def test_what_a_clone_runs_is_counted(other):
    """It signals the events of its original: neither is timed from then on."""
    done = other.record([NEWER, "cloned"])
    assert (done.status, done.errors) == (0, b"")
    trace = Trace(done.folder)
    assert sorted(row[1:] for row in trace.executes) == [(1, 2), (1, 2), (2, 2), (2, 2)]
    assert len({handle for handle, _, _ in trace.executes}) == 2
    assert {execution for _, _, execution in trace.times} == {1} and len(trace.times) == 2
    assert [(trace.commands[track, number].kind, why) for track, number, _, why in trace.untimed] == [("graph", REUSED)] * 3
    coverage = other.report(done.folder)["coverage"]
    assert (coverage["enqueued"], coverage["completed"], coverage["unobserved"]) == (8, 2, 6)
    assert coverage["unobserved_by"]["reused"] == 6


def test_graphs_are_run_as_one(other):
    done = other.record([NEWER, "graphs"])
    assert (done.status, done.errors) == (0, b"")
    trace = Trace(done.folder)
    assert [command.kind for _, command in sorted(trace.commands.items())] == ["write", "graph", "graph", "write"]
    assert len(trace.times) == 4
    assert other.report(done.folder)["coverage"]["passed_calls"] == 3, "two were captured, one is not known"


def spans(out):
    """Of each engine the lists' (start, end)."""
    found = collections.defaultdict(list)
    for line in out.decode().splitlines():
        if line.startswith("ran"):
            engine, start, end = map(int, line.split()[1:])
            found[engine].append((start, end))
    return found


def both_busy(found):
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in found[0] for b in found[1])


def test_what_overlaps_does_so_when_recorded(on):
    """Two engines with four lists each: both are at work for as long, but for the queries behind the lists, whose
    time the report tells."""
    rate, _ = script(on)
    native, done = on.native([NEWER, "overlapping"]), on.record([NEWER, "overlapping"])
    assert done.status == native.status == 0
    change, = [row for row in on.report(done.folder)["changes"] if row["change"] == "lists"]
    assert (change["count"], change["commands"]) == (8, 8)
    assert abs(change["device_ns"] - 8 * 20000) <= 8 * 2e9 / rate, "two barriers"
    before, after = spans(native.out), spans(done.out)
    assert both_busy(before) >= 0.99 * 4 * 150000 * rate / 1e9, "lists of five copies"
    queries = change["device_ns"] * rate / 1e9
    assert both_busy(before) - both_busy(after) <= queries
    for engine in (0, 1):
        assert after[engine][-1][1] - after[engine][0][0] <= before[engine][-1][1] - before[engine][0][0] + queries
