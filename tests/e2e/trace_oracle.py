# SPDX-License-Identifier: Apache-2.0
"""A second reader of traces, written from docs/trace-format.md alone. For sound traces of one process
on a device whose stamps are in the host's raw clock."""
import bisect
import collections
import dataclasses
import fractions
import json
import math
import pathlib
import struct

MAGIC = bytes.fromhex("89746172650d0a1a")
STRING, TRACK, FUNCTION, OBJECT, FACT, SHAPE, CHANGE = range(2, 9)
CALL, POLLED, COMMAND, CALL_END, DEPENDS, TIMES, UNTIMED, EXECUTE, CALLBACK = range(16, 25)
CLOCK_PAIR, VOID = 26, 32
LAUNCHES, MORE_TIMES = 37, 38
CLOCK_RAW = 1
HOST_CLOCK_RAW = 1
ROLES = ["other", "command", "wait", "flush", "build", "allocate", "create", "start", "poll", "query", "release", "load"]
KINDS = [None, "kernel", "task", "write", "read", "copy", "fill", "map", "unmap", "migrate", "marker",
         "barrier", "graph", "other"]
DIRECTIONS = ["none", "to_device", "from_device", "local", "host"]
MEMORIES = [None, "buffer", "buffer_host", "buffer_user", "part", "image", "pipe", "shared",
            "pinned", "pageable", "mapped"]
DEVICE, QUEUE, KERNEL, MEMORY, USER_EVENT = 2, 4, 6, 7, 8
PART = 4
KERNELS = ("kernel", "task", "graph")
TRANSFERS = ("write", "read", "copy", "fill", "map", "unmap", "migrate", "other")
UNKNOWN_DIRECTION = {"write": "to_device", "read": "from_device", "copy": "local", "fill": "local",
                     "other": "local"}
OUT_OF_ORDER = 1  # CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE


@dataclasses.dataclass
class Call:
    track: int
    function: int
    enter: int
    exit: int
    object: int = 0
    count: int = 1
    inside: int = None     # of a row of calls that were recorded together: time in them
    failed: bool = False
    nested: bool = False
    released: bool = False
    command: bool = False
    blocking: bool = False


@dataclasses.dataclass
class Command:
    track: int
    number: int
    kind: str
    direction: str
    memory: str
    blocking: bool
    nested: bool
    queue: int
    object: int
    amount: int
    event: int
    enter: int
    exit: int
    enter_ticks: int
    waits: list
    queued: int = None
    submitted: int = None
    start: int = None
    end: int = None

    @property
    def timed(self):
        return self.start is not None and self.end is not None and self.end >= self.start

    @property
    def effect(self):
        """kernel, to_device, from_device, local or None; docs/ledger.md, "The device"."""
        if self.kind in KERNELS:
            return "kernel"
        if self.kind in TRANSFERS:
            direction = self.direction if self.direction != "none" else UNKNOWN_DIRECTION.get(self.kind)
            return "local" if direction == "host" else direction
        return None


class Clock:
    """Host ticks to nanoseconds: the line that docs/trace-format.md describes under Clocks. In whole
    numbers; ticks are doubled so that the middle of a bracket is one."""

    def __init__(self, header, pairs):
        self.points = None
        if header["host_clock"] == HOST_CLOCK_RAW:
            return
        pairs = sorted((before + after, value, after - before) for before, value, after in pairs)
        quarter = len(pairs) // 4 + 1
        ends = [min(part, key=lambda pair: pair[2]) for part in (pairs[:quarter], pairs[-quarter:])]
        self.points = [pair[:2] for pair in ends]
        assert self.points[0][0] < self.points[1][0], "a trace with one clock pair"
        self.bend(pairs, *ends)

    def bend(self, pairs, first, last):
        """Puts a point into the line where a bracket is missed by most, until none is missed by much."""
        rate = fractions.Fraction(last[1] - first[1], last[0] - first[0])
        limit = 2 * math.ceil(max(first[2], last[2]) * rate) + 1
        while True:
            miss, pair = max((abs(self.ns(pair[0] // 2) - pair[1]) - math.ceil(pair[2] * rate) - 2, pair)
                             for pair in pairs)
            if miss <= limit:
                return
            bisect.insort(self.points, pair[:2])

    def around(self, doubled_ticks):
        i = min(max(bisect.bisect_right(self.points, (doubled_ticks, -1)) - 1, 0), len(self.points) - 2)
        return *self.points[i], *self.points[i + 1]

    def ns(self, ticks):
        if self.points is None:
            return ticks
        x0, y0, x1, y1 = self.around(2 * ticks)
        return y0 + (2 * (2 * ticks - x0) * (y1 - y0) + x1 - x0) // (2 * (x1 - x0))


class Trace:
    """One .trace file. All times are nanoseconds of CLOCK_MONOTONIC_RAW from the run's start on."""

    def __init__(self, path, origin_ns):
        data = path.read_bytes()
        assert data[:8] == MAGIC, f"{path} is no trace"
        self.header = self.read_header(data)
        self.strings, self.tracks, self.functions, self.shapes = {}, {}, {}, {}
        self.objects = collections.defaultdict(list)  # by kind and handle: (ticks, fields)
        self.queues = {}
        self.texts = collections.defaultdict(bytes)
        self.pairs, self.events, self.unknown = [], [], 0
        for window in self.windows(data):
            for record in window:
                self.read_record(record)
        self.clock = Clock(self.header, self.pairs)
        self.origin_ns = origin_ns
        self.commands, self.calls, self.times, self.releases = [], [], 0, []
        self.join()

    @staticmethod
    def read_header(data):
        fields = struct.unpack_from("<HHIIIIIIIQQQQQQqqq", data, 8)
        names = ("major minor byte_order header_bytes window_bytes record_bytes flags host_clock api "
                 "host_hz pid parent_pid rank rank_count start_ticks start_raw_ns start_monotonic_ns "
                 "start_realtime_ns").split()
        header = dict(zip(names, fields))
        header["self_cost_ps"], header["self_call_cost_ps"] = struct.unpack_from("<qq", data, 120)
        header["harvest_ticks"], = struct.unpack_from("<Q", data, 1160)
        header["state"], header["stop"] = struct.unpack_from("<II", data, 1016)
        names = ("stop_error end_ticks alive_ticks windows definition_windows lost_records lost_commands "
                 "recycled_records recycled_commands passed_calls stalls stalled_ticks process_cpu_ns "
                 "helper_cpu_ns pending calls_seen").split()
        header.update(zip(names, struct.unpack_from("<q15Q", data, 1024)))
        assert header["major"] == 1 and header["byte_order"] == 0x01020304
        assert header["record_bytes"] == 64
        return header

    def windows(self, data):
        """The records of each window that was claimed, in the order of claiming."""
        size, found = self.header["window_bytes"], []
        for at in range(self.header["header_bytes"], len(data), size):
            head, sequence = struct.unpack_from("<QQ", data, at)
            if head:
                assert head & 0xff == 1, "a slot that does not begin with a window's record"
                found.append((sequence, at))
        for _, at in sorted(found):
            records = []
            for place in range(at + 64, min(at + size, len(data)), 64):
                if not struct.unpack_from("<Q", data, place)[0]:
                    break
                records.append(data[place:place + 64])
            yield list(self.long(records))

    @staticmethod
    def long(records):
        """The same with COMMANDs and TIMES in the place of LAUNCHES and MORE_TIMES."""
        last = None
        for record in records:
            kind, _, count, _ = struct.unpack_from("<BBHI", record)
            if kind not in (LAUNCHES, MORE_TIMES):
                last = record
                yield record
                continue
            size = 8 if kind == LAUNCHES else 16
            for at in range(8, 8 + count * size, size):
                if kind == LAUNCHES:
                    after, took = struct.unpack_from("<II", record, at)
                    enter, before, number = struct.unpack_from("<QII", last, 8)
                    last = (last[:8] + struct.pack("<QII", enter + before + after, took, number + 1)
                            + last[24:48] + bytes(8) + last[56:])
                else:
                    steps = struct.unpack_from("<4I", record, at)
                    number, first = struct.unpack_from("<IQ", last, 12)
                    stamps = [first + sum(steps[:1 + i]) for i in range(4)]
                    last = last[:12] + struct.pack("<I4Q", number + 1, *stamps) + last[48:]
                yield last

    def read_record(self, record):
        kind, flags, detail, track = struct.unpack_from("<BBHI", record)
        if kind == STRING:
            identity, total, offset, size = struct.unpack_from("<4I", record, 8)
            assert len(self.texts[identity]) == offset
            self.texts[identity] += record[24:24 + size]
            if len(self.texts[identity]) == total:
                self.strings[identity] = self.texts[identity].decode(errors="replace")
        elif kind == TRACK:
            self.tracks[track] = detail
        elif kind == FUNCTION:
            name, _, role = struct.unpack_from("<3I", record, 8)
            self.functions[detail] = (name, ROLES[role])
        elif kind == OBJECT:
            names = "handle ticks parent device properties bytes name number".split()
            fields = dict(zip(names, struct.unpack_from("<6QII", record, 8)))
            self.objects[detail, fields["handle"]].append((fields["ticks"], fields))
            if detail == QUEUE:
                self.queues[fields["number"]] = fields
        elif kind == SHAPE:
            identity, dimensions, *sizes = struct.unpack_from("<II3Q3I", record, 8)
            self.shapes[identity] = (sizes[:dimensions], sizes[3:3 + dimensions])
        elif kind == CLOCK_PAIR:
            if detail == CLOCK_RAW:
                self.pairs.append(struct.unpack_from("<QQQ", record, 8))
        elif kind >= CALL and kind != VOID:
            self.events.append((kind, flags, detail, track, record))

    def ns(self, ticks):
        return self.clock.ns(ticks) - self.origin_ns

    def join(self):
        """Commands with what belongs to them, and calls."""
        commands, waits = {}, collections.defaultdict(list)
        long_exits, times = {}, {}
        for kind, flags, detail, track, record in self.events:
            if kind == COMMAND:
                commands[track, struct.unpack_from("<I", record, 20)[0]] = (flags, detail, record)
            elif kind == CALL_END:
                number, exit_ticks = struct.unpack_from("<QQ", record, 8)
                long_exits[track, number] = exit_ticks
            elif kind == DEPENDS and not flags & 1:
                number, *events = struct.unpack_from("<7Q", record, 8)
                waits[track, number] += events[:detail]
            elif kind == TIMES:
                of_track, number, *stamps, _, execution = struct.unpack_from("<II6Q", record, 8)
                if execution == 0:
                    times[of_track, number] = (flags, stamps)
                    self.times += 1
            elif kind in (CALL, POLLED):
                self.add_call(kind, flags, detail, track, record)
        for key, (flags, detail, record) in commands.items():
            self.add_command(key, flags, detail, record, long_exits.get(key), waits[key], times.get(key))
        self.commands.sort(key=lambda command: command.enter)
        self.calls.sort(key=lambda call: (call.enter, -call.exit))

    def add_call(self, kind, flags, function, track, record):
        enter, exit_ticks, count, ticks, handle = struct.unpack_from("<5Q", record, 8)
        if kind == POLLED:
            failed = struct.unpack_from("<Q", record, 48)[0] > 0
            length = self.ns(exit_ticks) - self.ns(enter)
            inside = min(self.ns(enter + ticks) - self.ns(enter), length)
            self.calls.append(Call(track, function, self.ns(enter), self.ns(exit_ticks), handle, count,
                                   inside=inside, failed=failed))
            return
        self.calls.append(Call(track, function, self.ns(enter), self.ns(exit_ticks), ticks,
                               failed=bool(flags & 1), nested=bool(flags & 4), released=bool(flags & 2)))
        if flags & 2:
            self.releases.append((enter, self.ns(enter), ticks))

    def add_command(self, key, flags, function, record, long_exit, waits, times):
        enter, call_ticks = struct.unpack_from("<QI", record, 8)
        kind, direction, _, memory, queue, handle, amount, event = struct.unpack_from("<BBBBI3Q", record, 24)
        exit_ticks = long_exit if flags & 16 else enter + call_ticks
        blocks = bool(flags & 2) and KINDS[kind] not in (*KERNELS, "marker", "barrier")
        self.calls.append(Call(key[0], function, self.ns(enter), self.ns(exit_ticks), failed=bool(flags & 1),
                               nested=bool(flags & 128), command=True, blocking=blocks))
        if flags & 1:
            return
        command = Command(*key, KINDS[kind], DIRECTIONS[direction], MEMORIES[memory], bool(flags & 2),
                          bool(flags & 128), queue, handle, amount, event, self.ns(enter),
                          self.ns(exit_ticks), enter, waits)
        if times:
            present, stamps = times
            values = [stamp - self.origin_ns if present & 1 << bit else None
                      for bit, stamp in enumerate(stamps)]
            command.queued, command.submitted, command.start, command.end = values
        self.commands.append(command)

    def find(self, kind, handle, ticks):
        """The object that a handle meant at a moment: made last, and not later."""
        made = [fields for at, fields in self.objects.get((kind, handle), []) if at <= ticks]
        return made[-1] if made else None

    def kernel_name(self, command):
        kernel = self.find(KERNEL, command.object, command.enter_ticks)
        return self.strings[kernel["name"]] if kernel else "(unknown kernel)"

    def function(self, call):
        name, role = self.functions[call.function]
        return self.strings[name], role

    def end_ns(self):
        return self.ns(self.header["end_ticks"]) if self.header["end_ticks"] else None


def load(folder):
    """The one process of a folder, and what its record.json says."""
    folder = pathlib.Path(folder)
    record = json.loads((folder / "record.json").read_text())
    paths = [path for path in folder.glob("*.trace") if not path.name.startswith(".")]
    assert len(paths) == 1, f"{len(paths)} processes"
    return Trace(paths[0], record["start_raw_ns"]), record
