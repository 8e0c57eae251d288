# SPDX-License-Identifier: Apache-2.0
"""What tare wrote, from Python: traces of `tare record`, results of the measuring commands and of libtare.

    for process in tare_read.trace("run.tare"):
        for command in process.commands:
            print(command.kind, command.kernel, command.bytes, command.exit_ns, [run.device_ns for run in command.runs])
    for cell in tare_read.result("spans.json").cells:
        print(cell.labels, cell.median, cell.ci, cell.unit)

Only the standard library is needed; columns(..., numpy=True) makes arrays where there is numpy.

A trace is read as docs/trace-format.md says: everything of the host's in nanoseconds of CLOCK_MONOTONIC_RAW, and of each
command how long the device worked by the device's own clock. Where on the host's clock that was, the ledger and the findings
are the report's to say: report() returns what `tare report --json` writes. An error is a ValueError with a sentence.
"""
import bisect
import collections
import dataclasses
import fractions
import itertools
import json
import math
import pathlib
import struct
import subprocess

__all__ = ["Call", "Command", "Object", "Process", "Result", "Run", "columns", "report", "result", "trace"]

APIS = (None, "opencl", "levelzero", "cuda")
ROLES = ("other", "command", "wait", "flush", "build", "allocate", "create", "start", "poll", "query", "release", "load")
KINDS = (None, "kernel", "task", "write", "read", "copy", "fill", "map", "unmap", "migrate", "marker", "barrier", "graph",
         "other")
DIRECTIONS = ("none", "to_device", "from_device", "local", "host")
MEMORIES = (None, "buffer", "buffer_host", "buffer_user", "part", "image", "pipe", "shared", "pinned", "pageable", "mapped")
OBJECTS = (None, "platform", "device", "context", "queue", "program", "kernel", "memory", "event", "graph")
UNTIMED = (None, "refused", "failed", "abandoned", "no_room", "reused", "not_asked")

_MAGIC = bytes.fromhex("89746172650d0a1a")
_HEADER = (
    ("magic", "8s"), ("version_major", "H"), ("version_minor", "H"), ("byte_order", "I"), ("header_bytes", "I"),
    ("window_bytes", "I"), ("record_bytes", "I"), ("flags", "I"), ("host_clock", "I"), ("api", "I"),
    ("host_hz", "Q"), ("pid", "Q"), ("parent_pid", "Q"), ("rank", "Q"), ("rank_count", "Q"), ("start_ticks", "Q"),
    ("start_raw_ns", "q"), ("start_monotonic_ns", "q"), ("start_realtime_ns", "q"), ("process_start_raw_ns", "q"),
    ("self_cost_ps", "q"), ("self_call_cost_ps", "q"), ("boot_id", "2Q"), ("host_name", "64s"), ("rank_from", "32s"),
    ("executable", "256s"), ("command_line", "512s"), ("state", "I"), ("stop_reason", "I"), ("stop_error", "q"),
    ("end_ticks", "Q"), ("alive_ticks", "Q"), ("windows", "Q"), ("definition_windows", "Q"), ("lost_records", "Q"),
    ("lost_commands", "Q"), ("recycled_records", "Q"), ("recycled_commands", "Q"), ("passed_calls", "Q"),
    ("stalls", "Q"), ("stalled_ticks", "Q"), ("process_cpu_ns", "Q"), ("helper_cpu_ns", "Q"), ("pending", "Q"),
    ("calls_seen", "Q"), ("self_stack_cost_ps", "q"), ("harvest_ticks", "Q"), ("fill_bytes_s", "Q"), ("apis", "Q"),
    ("driver_rounds", "Q"), ("driver_native_ps", "q"), ("driver_ps", "10q"), ("driver_low_ps", "10q"),
    ("driver_high_ps", "10q"), ("calibration_ticks", "Q"), ("sampled_from_ticks", "Q"),
    ("self_untimed_cost_ps", "q"), ("self_low_ps", "2q"), ("self_high_ps", "2q"), ("setup_ns", "q"),
    ("execute_rounds", "Q"), ("execute_ps", "3q"), ("execute_low_ps", "3q"), ("execute_high_ps", "3q"))
_STRING, _TRACK, _FUNCTION, _OBJECT, _FACT, _SHAPE = range(2, 8)
_CALL, _POLLED, _COMMAND, _CALL_END, _TIMES, _UNTIMED = 16, 17, 18, 19, 21, 22
_CLOCK_PAIR, _LAUNCHES, _MORE_TIMES = 26, 37, 38
_WINDOW, _RECORD = 1, 64
_CLOCK_IS_RAW, _CLOCK_TSC = 1, 2
_DEVICE, _QUEUE, _KERNEL = 2, 4, 6
_FACT_TIMER_HZ, _FACT_STAMP_BITS = 27, 28
_STAMP_START, _STAMP_END = 4, 8
_FAILED, _BLOCKING, _DEPENDS, _LONG, _NO_TIMES, _TRANSFER, _NESTED = 1, 2, 8, 16, 32, 64, 128


def _word(words, number):
    """The word of an enumerator; its number where a later version of the format has more of them."""
    return words[number] if number < len(words) else number


def _may_go_on(record):
    """Whether LAUNCHES or MORE_TIMES may follow the record directly."""
    kind, flags, detail = struct.unpack_from("<BBH", record)
    if kind == _COMMAND:
        return not flags & (_FAILED | _DEPENDS | _LONG | _TRANSFER)
    return kind == _TIMES and flags == 15 and detail == 0 and not any(record[56:64])


def _launches(command, count, record):
    """The commands that a LAUNCHES record stands for: each is like the one before but for these."""
    enter, took, number = struct.unpack_from("<QII", command, 8)
    for gap, next_took in struct.iter_unpack("<II", record[8:8 + 8 * count]):
        enter, took, number = enter + took + gap, next_took, number + 1
        yield command[:8] + struct.pack("<QII", enter, took, number) + command[24:48] + bytes(8) + command[56:]


def _more_times(times, count, record):
    """The times that a MORE_TIMES record stands for."""
    number, queued = struct.unpack_from("<IQ", times, 12)
    for steps in struct.iter_unpack("<IIII", record[8:8 + 16 * count]):
        number, queued = number + 1, queued + steps[0]
        stamps = list(itertools.accumulate(steps[1:], initial=queued))
        yield times[:12] + struct.pack("<I4Q", number, *stamps) + times[48:]


# By type: what it goes on from, how many it may stand for, and what makes them.
_SHORT = {_LAUNCHES: (_COMMAND, 7, _launches), _MORE_TIMES: (_TIMES, 3, _more_times)}


@dataclasses.dataclass
class Object:
    """An object of an API, as it was made."""
    kind: str
    api: str
    handle: int
    ticks: int
    parent: int
    device: int
    properties: int
    bytes: int
    name: str
    number: int


@dataclasses.dataclass
class Call:
    """A call that is no command, or a row of `count` polling calls, in which the thread was `inside_ns`."""
    track: int
    function: str
    role: str
    enter_ns: int
    exit_ns: int
    count: int
    inside_ns: int
    failed: bool
    nested: bool
    object: int


@dataclasses.dataclass
class Run:
    """What the device says of a command, once (execution 0), or for each execution of its list (from 1 on). Ticks are raw."""
    execution: int
    start_ticks: int
    end_ticks: int
    device_ns: int  # between them, by the device's own clock; None where one is not there, or they contradict each other


@dataclasses.dataclass
class Command:
    """A call that put work into a queue, or appended it to a list (Level Zero), which then has a run for each execution of
    that list. bytes is None for a kernel, which has `global_size` and `local_size`."""
    track: int
    number: int
    function: str
    kind: str
    direction: str
    memory: str
    queue: int
    appended: bool
    kernel: str
    bytes: int
    global_size: tuple
    local_size: tuple
    blocking: bool
    nested: bool
    failed: bool
    enter_ns: int
    exit_ns: int
    runs: list
    untimed: str  # why nothing is known of the device's part; None: something is


class _Clock:
    """Host ticks to nanoseconds, in whole numbers; docs/trace-format.md, "Clocks"."""

    def __init__(self, header, pairs):
        self.points = None
        if header["host_clock"] == _CLOCK_IS_RAW:
            return
        pairs = sorted((before + after, value, after - before) for before, value, after in pairs)
        quarter = len(pairs) // 4 + 1
        ends = [min(part, key=lambda pair: pair[2]) for part in (pairs[:quarter], pairs[-quarter:])] if pairs else []
        if not ends or ends[0][0] >= ends[1][0]:
            start, raw, rate = header["start_ticks"], header["start_raw_ns"], header["host_hz"] or 10**9
            self.points = [(2 * start, raw), (2 * (start + rate), raw + 10**9)]
            return
        self.points = [pair[:2] for pair in ends]
        self._bend(pairs, *ends)

    def _bend(self, pairs, first, last):
        rate = fractions.Fraction(last[1] - first[1], last[0] - first[0])
        limit = 2 * math.ceil(max(first[2], last[2]) * rate) + 1
        for _ in pairs:
            miss, pair = max((abs(self.ns(pair[0] // 2) - pair[1]) - math.ceil(pair[2] * rate) - 2, pair) for pair in pairs)
            if miss <= limit:
                return
            bisect.insort(self.points, pair[:2])

    def ns(self, ticks):
        if self.points is None:
            return ticks
        i = min(max(bisect.bisect_right(self.points, (2 * ticks, -1)) - 1, 0), len(self.points) - 2)
        (x0, y0), (x1, y1) = self.points[i], self.points[i + 1]
        return y0 + (2 * (2 * ticks - x0) * (y1 - y0) + x1 - x0) // (2 * (x1 - x0))


def _text(field):
    return field.split(b"\0")[0].decode(errors="replace")


def _read_header(data):
    if len(data) < 4096 or data[:8] != _MAGIC:
        raise ValueError("this is no trace of tare's")
    header, at = {}, 0
    for name, form in _HEADER:
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        header[name] = values[0] if len(values) == 1 else values
    if header["byte_order"] != 0x01020304 or header["record_bytes"] != _RECORD or header["host_clock"] not in (
            _CLOCK_IS_RAW, _CLOCK_TSC) or not 1024 <= header["window_bytes"] <= 1 << 24 or header["window_bytes"] % 64 or (
                not len(_MAGIC) <= header["header_bytes"] <= len(data)):
        raise ValueError("the header of this trace contradicts itself")
    if header["version_major"] != 1:
        raise ValueError(f"this trace has version {header['version_major']} of the format, and this module reads version 1")
    for name in ("host_name", "rank_from", "executable"):
        header[name] = _text(header[name])
    header["command_line"] = [word.decode(errors="replace") for word in header["command_line"].rstrip(b"\0").split(b"\0")]
    return header


class Process:
    """One recorded process: a .trace file. header has the members of the format's header by their names; strings, tracks
    (number: name), functions (number: (name, role)), objects and facts what was defined; calls and commands are in the
    order in which they began; damaged counts what could not be read."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        self.path, self.header = pathlib.Path(path), _read_header(data)
        self.strings, self.tracks, self.functions, self._shapes = {}, {}, {}, {}
        self.objects, self.facts, self.damaged = [], [], 0
        self.commands, self.calls = [], []
        self._named = collections.defaultdict(list)  # by kind, API and handle: objects
        self._texts, self._pairs, self._events = collections.defaultdict(bytes), [], []
        for record in self._records(data):
            self._read(record)
        self._clock = _Clock(self.header, self._pairs)
        self._join()

    def _records(self, data):
        """In the order of claiming; definitions lie before what names them only within that."""
        size, found = self.header["window_bytes"], []
        for at in range(self.header["header_bytes"], len(data) - _RECORD + 1, size):
            head, sequence = struct.unpack_from("<QQ", data, at)
            if head and head & 0xff != _WINDOW:
                self.damaged += 1
            elif head:
                found.append((sequence, at))
        for _, at in sorted(found):
            yield from self._expanded(data[place:place + _RECORD] for place in
                                      range(at + _RECORD, min(at + size, len(data)) - _RECORD + 1, _RECORD))

    def _expanded(self, records):
        """Those of one window, with what short ones stand for; what these do not follow is damage."""
        latest = None
        for record in records:
            kind, _, count = struct.unpack_from("<BBH", record)
            if not any(record[:8]):
                break
            if kind not in _SHORT:
                latest = record if _may_go_on(record) else None
                yield record
                continue
            begun, most, make = _SHORT[kind]
            if not latest or latest[0] != begun or latest[4:8] != record[4:8] or count > most:
                self.damaged, latest = self.damaged + 1, None
                continue
            try:
                made = list(make(latest, count, record))
            except struct.error:  # more than 64 bits
                self.damaged, latest = self.damaged + 1, None
                continue
            yield from made
            latest = made[-1] if made else latest

    def _read(self, record):
        kind, flags, detail, track = struct.unpack_from("<BBHI", record)
        if kind == _STRING:
            identity, total, offset, size = struct.unpack_from("<4I", record, 8)
            if len(self._texts[identity]) != offset or size > 40:
                self.damaged += 1
                return
            self._texts[identity] += record[24:24 + size]
            if len(self._texts[identity]) >= total:
                self.strings[identity] = self._texts[identity].decode(errors="replace")
        elif kind == _TRACK:
            self.tracks[track] = struct.unpack_from("<QQI", record, 8)[1:]
        elif kind == _FUNCTION:
            self.functions[detail] = struct.unpack_from("<3I", record, 8)
        elif kind == _OBJECT:
            self._add_object(flags, detail, record)
        elif kind == _FACT:
            handle, ticks, value, device, text = struct.unpack_from("<4QI", record, 8)
            self.facts.append((flags, detail, handle, ticks, value, device, text))
        elif kind == _SHAPE:
            identity, dimensions, *sizes = struct.unpack_from("<II3Q3I", record, 8)
            self._shapes[identity] = (tuple(sizes[:3][:dimensions]), tuple(sizes[3:][:dimensions]))
        elif kind == _CLOCK_PAIR:
            if detail == 1:
                self._pairs.append(struct.unpack_from("<QQQ", record, 8))
        elif kind in (_CALL, _POLLED, _COMMAND, _CALL_END, _TIMES, _UNTIMED):
            self._events.append((kind, flags, detail, track, record))

    def _add_object(self, flags, detail, record):
        handle, ticks, parent, device, properties, size, name, number = struct.unpack_from("<6QII", record, 8)
        api = flags or self.header["api"] or 1
        each = Object(_word(OBJECTS, detail), _word(APIS, api), handle, ticks, parent, device, properties, size, name, number)
        self.objects.append(each)
        self._named[detail, api, handle].append(each)

    def ns(self, ticks):
        """A moment of the host's ticks on CLOCK_MONOTONIC_RAW."""
        return self._clock.ns(ticks)

    def _find(self, kind, api, handle, ticks):
        made = [each for each in self._named.get((kind, api, handle), []) if each.ticks <= ticks]
        return made[-1] if made else None

    def _join(self):
        for each in self.objects:
            each.name = self.strings.get(each.name)
        apis = {number: api or self.header["api"] or 1 for number, (_, api, _) in self.functions.items()}
        self.functions = {number: (self.strings.get(name), _word(ROLES, role))
                          for number, (name, _, role) in self.functions.items()}
        self.tracks = {track: (tid, self.strings.get(name)) for track, (tid, name) in self.tracks.items()}
        self.facts = [(_word(APIS, api or self.header["api"] or 1), fact, handle, ticks, value, device, self.strings.get(text))
                      for api, fact, handle, ticks, value, device, text in self.facts]
        ends, runs, untimed = {}, collections.defaultdict(list), {}
        for kind, flags, detail, track, record in self._events:
            if kind == _CALL_END:
                number, ticks = struct.unpack_from("<QQ", record, 8)
                ends[track, number] = ticks
            elif kind == _TIMES and detail == 0:
                of_track, number, _, _, start, end, _, execution = struct.unpack_from("<II6Q", record, 8)
                runs[of_track, number].append((execution, start if flags & _STAMP_START else None,
                                               end if flags & _STAMP_END else None))
            elif kind == _UNTIMED:
                of_track, number = struct.unpack_from("<II", record, 8)
                untimed[of_track, number] = _word(UNTIMED, detail)
        rates = self._rates()
        lists = {each.number for each in self.objects if each.kind == "graph" and each.number}
        for kind, flags, detail, track, record in self._events:
            if kind == _COMMAND:
                self._add_command(flags, detail, track, record, apis.get(detail, 1), ends, runs, untimed, rates, lists)
            elif kind in (_CALL, _POLLED):
                self._add_call(kind, flags, detail, track, record)
        self.commands.sort(key=lambda command: (command.enter_ns, command.track, command.number))
        self.calls.sort(key=lambda call: (call.enter_ns, -call.exit_ns))
        self._events = self._texts = None

    def _rates(self):
        """Of each queue's device: ticks a second and how many bits of a stamp are counted."""
        told = collections.defaultdict(lambda: [10**9, 64])
        for api, fact, handle, _, value, _, _ in self.facts:
            if fact == _FACT_TIMER_HZ and value:
                told[api, handle][0] = value
            elif fact == _FACT_STAMP_BITS and 0 < value <= 64:
                told[api, handle][1] = value
        return {each.number: told[each.api, each.device] for each in self.objects if each.kind in ("queue", "graph")}

    def _add_call(self, kind, flags, function, track, record):
        enter, leave, third, fourth, handle = struct.unpack_from("<5Q", record, 8)
        name, role = self.functions.get(function, (None, None))
        polled = kind == _POLLED
        inside = self.ns(enter + fourth) - self.ns(enter) if polled else self.ns(leave) - self.ns(enter)
        failed = struct.unpack_from("<Q", record, 48)[0] > 0 if polled else bool(flags & 1)
        self.calls.append(Call(track, name, role, self.ns(enter), self.ns(leave), third if polled else 1, inside, failed,
                               bool(flags & 4), handle if polled else fourth))

    def _add_command(self, flags, function, track, record, api, ends, runs, untimed, rates, lists):
        enter, took, number = struct.unpack_from("<QII", record, 8)
        kind, direction, _, memory, queue, handle, amount = struct.unpack_from("<BBBBIQQ", record, 24)
        leave = ends.get((track, number), enter) if flags & _LONG else enter + took
        is_kernel = kind == 1
        kernel = self._find(_KERNEL, api, handle, enter) if is_kernel else None
        shape = self._shapes.get(amount, ((), ())) if is_kernel else ((), ())
        hz, bits = rates.get(queue, (10**9, 64))
        known = [Run(execution, start, end, _elapsed_ns(start, end, hz, bits))
                 for execution, start, end in sorted(runs.get((track, number), []), key=lambda run: run[0])]
        why = None if known else untimed.get((track, number)) or ("not_asked" if flags & _NO_TIMES else None)
        self.commands.append(Command(
            track, number, self.functions.get(function, (None, None))[0], _word(KINDS, kind), _word(DIRECTIONS, direction),
            _word(MEMORIES, memory), queue, queue in lists, kernel.name if kernel else None, None if is_kernel else amount, *shape,
            bool(flags & _BLOCKING), bool(flags & _NESTED), bool(flags & _FAILED), self.ns(enter), self.ns(leave), known, why))


def _elapsed_ns(start, end, hz, bits):
    """Ticks from start to end modulo the counter's width, rounded to nanoseconds; None: more than half of it, a contradiction."""
    if start is None or end is None:
        return None
    ticks = (end - start) % (1 << bits)
    return None if ticks > (1 << bits) // 2 else (ticks * 10**9 + hz // 2) // hz


def trace(folder):
    """The processes of a trace, one for each .trace file. ValueError: there is none that can be read."""
    paths = sorted(path for path in pathlib.Path(folder).glob("*.trace") if not path.name.startswith("."))
    processes, problems = [], []
    for path in paths:
        try:
            processes.append(Process(path))
        except ValueError as error:
            problems.append(f"{path.name}: {error}")
    if not processes:
        raise ValueError("; ".join(problems) or f"{folder} has no traces")
    return processes


def report(folder, *options, tare="tare"):
    """What `tare report --json` says of a trace, as a dictionary. options: more of the command's, such as "--device", "0"."""
    done = subprocess.run([tare, "report", str(folder), *options, "--json", "-"], capture_output=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode(errors="replace").strip() or f"tare report ended with {done.returncode}")
    return json.loads(done.stdout)


class Result:
    """A result document (tare.result/1): its members by their names, each cell's too. What is not known is None."""

    def __init__(self, members):
        self.__dict__.update({name: _plain(value, name) for name, value in members.items()})


def _plain(value, name):
    # Labels, parameters, facts and the like stay dictionaries: their keys are data.
    if isinstance(value, list) and name in ("cells", "plots", "warnings", "conclusions", "devices", "parts", "series"):
        return [Result(each) for each in value]
    return value


def result(path):
    """Reads a result document. ValueError: it is none, or a later version's."""
    with open(path, encoding="utf-8") as file:
        members = json.load(file)
    schema = members.get("schema") if isinstance(members, dict) else None
    if schema != "tare.result/1":
        raise ValueError(f"{path} is no result of tare that this module reads: its schema is {schema!r}")
    return Result(members)


def columns(rows, *names, numpy=False):
    """Rows (commands, calls, cells, ...) by columns: {name: values}; with numpy=True arrays, in which None is NaN."""
    table = {name: [getattr(row, name) for row in rows] for name in names}
    if not numpy:
        return table
    import numpy as np  # pylint: disable=import-outside-toplevel
    numbers = (int, float, type(None))
    return {name: np.array([math.nan if value is None else value for value in values])
            if all(isinstance(value, numbers) for value in values) else np.array(values, dtype=object)
            for name, values in table.items()}
