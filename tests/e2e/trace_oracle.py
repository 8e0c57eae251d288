# SPDX-License-Identifier: Apache-2.0
"""A second reader of traces, written from docs/trace-format.md alone, and the figures of a report by
the rules of docs/report.md and docs/ledger.md, computed in another way than tare computes them. For
sound traces of one process that a device whose stamps are in the host's raw clock has made."""
import bisect
import collections
import dataclasses
import fractions
import json
import math
import pathlib
import statistics
import struct

MAGIC = bytes.fromhex("89746172650d0a1a")
STRING, TRACK, FUNCTION, OBJECT, FACT, SHAPE, CHANGE = range(2, 9)
CALL, POLLED, COMMAND, CALL_END, DEPENDS, TIMES, UNTIMED, EXECUTE, CALLBACK = range(16, 25)
CLOCK_PAIR, VOID = 26, 32
CLOCK_RAW = 1
HOST_CLOCK_RAW = 1
ROLES = ["query", "command", "wait", "flush", "build", "allocate", "create", "start", "poll"]
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
            yield records

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
        kind, direction, _, memory, queue, handle, amount, event, _ = struct.unpack_from("<BBBBI4Q", record, 24)
        exit_ticks = long_exit if flags & 16 else enter + call_ticks
        self.calls.append(Call(key[0], function, self.ns(enter), self.ns(exit_ticks), failed=bool(flags & 1),
                               nested=bool(flags & 128), command=True,
                               blocking=bool(flags & 2) and KINDS[kind] not in (*KERNELS, "marker", "barrier")))
        if flags & 1:
            return
        command = Command(*key, KINDS[kind], DIRECTIONS[direction], MEMORIES[memory], bool(flags & 2),
                          bool(flags & 128), queue, handle, amount, event, self.ns(enter),
                          self.ns(exit_ticks), enter, waits)
        if times:
            present, stamps = times
            values = [stamp - self.origin_ns if present & 1 << bit else None for bit, stamp in enumerate(stamps)]
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


# ---- sets of time: sorted, disjoint lists of (from, to)

def union(spans):
    merged = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def both(a, b):
    """What two sets have in common."""
    i = j = 0
    common = []
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            common.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return common


def without(a, b):
    left = []
    for start, end in a:
        at = start
        first = max(bisect.bisect_right(b, (start, start)) - 1, 0)
        for cut_start, cut_end in b[first:]:
            if cut_start >= end:
                break
            if cut_end > at:
                if cut_start > at:
                    left.append((at, cut_start))
                at = max(at, cut_end)
        if at < end:
            left.append((at, end))
    return left


def cut(spans, start, end):
    return both(spans, [(start, end)])


# ---- tables

def tasks(trace):
    rows = collections.defaultdict(list)
    for command in trace.commands:
        if command.kind == "kernel":
            rows[trace.kernel_name(command)].append(command)
    everything = length(union((c.start, c.end) for row in rows.values() for c in row if c.timed))
    found = {}
    for name, row in rows.items():
        runs = [c.end - c.start for c in row if c.timed]
        found[name] = {"instances": len(row), "timed": len(runs), "total_ns": sum(runs),
                       "launch_total_ns": sum(c.exit - c.enter for c in row)}
        if runs:
            found[name] |= {"min_ns": min(runs), "max_ns": max(runs), "median_ns": statistics.median(runs),
                            "mean_ns": statistics.fmean(runs),
                            "share": length(union((c.start, c.end) for c in row if c.timed)) / everything
                            if everything else None}
    return found


def transfers(trace):
    rows = collections.defaultdict(list)
    for command in trace.commands:
        if command.kind in TRANSFERS:
            rows[command.kind, command.direction, command.memory, command.blocking].append(command)
    kernels = union((c.start, c.end) for c in trace.commands if c.timed and c.effect == "kernel")
    found = {}
    for key, row in rows.items():
        spans = union((c.start, c.end) for c in row if c.timed)
        hidden = length(both(spans, kernels))
        found[key] = {"count": len(row), "timed": sum(c.timed for c in row),
                      "bytes": sum(c.amount for c in row),
                      "total_ns": sum(c.end - c.start for c in row if c.timed),
                      "exposed_ns": length(spans) - hidden, "hidden_ns": hidden,
                      "smallest_bytes": min(c.amount for c in row),
                      "largest_bytes": max(c.amount for c in row)}
    return found


def api(trace):
    rows = collections.defaultdict(lambda: dict.fromkeys(("count", "failed", "nested", "total_ns", "max_ns"), 0))
    for call in trace.calls:
        name, role = trace.function(call)
        row = rows[name, role]
        inside = call.exit - call.enter if call.inside is None else call.inside
        row["count"] += call.count
        row["failed"] += call.failed
        row["nested"] += call.nested
        row["total_ns"] += 0 if call.nested else inside
        row["max_ns"] = max(row["max_ns"], inside // call.count)
    return rows


def memory(trace):
    """Sizes that were asked for, of objects that are no part of another."""
    made = [(ticks, fields) for (kind, _), row in trace.objects.items() if kind == MEMORY
            for ticks, fields in row if fields["number"] != PART]
    changes, held = [], {id(fields) for _, fields in made}
    for ticks, fields in made:
        changes.append((trace.ns(ticks), 1, fields["bytes"]))
    for ticks, at_ns, handle in trace.releases:
        fields = trace.find(MEMORY, handle, ticks)
        if fields is not None and id(fields) in held:
            held.remove(id(fields))
            changes.append((at_ns, 0, -fields["bytes"]))
    now = peak = 0
    for _, _, change in sorted(changes):
        now += change
        peak = max(peak, now)
    return {"objects": len(made), "bytes": sum(fields["bytes"] for _, fields in made), "peak_bytes": peak,
            "held_at_end": len(held)}


def queues(trace):
    rows = collections.defaultdict(list)
    for command in trace.commands:
        rows[command.queue].append(command)
    found = {}
    for number, row in rows.items():
        timed = [c for c in row if c.timed]
        found[number] = {"commands": len(row), "timed": len(timed)}
        if not timed:
            continue
        spans = [(c.start, c.end) for c in timed]
        busy = length(union(spans))
        ends = {id(c): max(c.end, c.enter) for c in timed}
        changes = sorted([(c.enter, 1) for c in timed] + [(ends[id(c)], -1) for c in timed])
        depth = deepest = 0
        for _, change in changes:
            depth += change
            deepest = max(deepest, depth)
        period = max(ends.values()) - min(c.enter for c in timed)
        waits = [max(c.start - c.exit, 0) for c in timed if not c.blocking]
        found[number] |= {
            "busy_ns": busy, "gaps_ns": max(e for _, e in spans) - min(s for s, _ in spans) - busy,
            "max_depth": deepest,
            "mean_depth": sum(ends[id(c)] - c.enter for c in timed) / period if period else None,
            "median_latency_ns": statistics.median(waits) if waits else None}
    return found


def coverage(trace):
    timed = sum(command.timed for command in trace.commands)
    return {"enqueued": len(trace.commands), "completed": timed, "unobserved": len(trace.commands) - timed,
            "failed": sum(call.failed for call in trace.calls if call.command),
            "calls": sum(call.count for call in trace.calls)}


# ---- the ledger of a program with one thread and one device

HOST_ORDER = ("host_build", "host_allocate", "host_blocking_copy", "host_wait", "host_api")


def state_of(trace, call):
    role = trace.function(call)[1]
    if call.command:
        return "host_blocking_copy" if call.blocking else "host_api"
    return {"build": "host_build", "allocate": "host_allocate", "wait": "host_wait",
            "poll": "host_wait"}.get(role, "host_api")


def is_spread(trace, call):
    """A row of calls some of whose time is outside of them."""
    return call.inside is not None and (trace.function(call)[1] != "poll" or
                                        call.exit - call.enter > 10000 * call.count)


class Host:
    """What the one thread of a program was doing: for each state a set of time, none of which overlap."""

    def __init__(self, trace, wall_ns):
        spans = collections.defaultdict(list)
        for call in trace.calls:
            spans["rows" if is_spread(trace, call) else state_of(trace, call)].append((call.enter, call.exit))
        rows = [call for call in trace.calls if is_spread(trace, call)]
        self.rows = {call.enter: (call, state_of(trace, call)) for call in rows}
        self.row_starts = sorted(self.rows)
        last_ns = max(call.exit for call in trace.calls)
        end_ns = max(trace.end_ns(), last_ns)
        self.states = {"before_first_call": [(0, min(call.enter for call in trace.calls))],
                       "process_ended": [(end_ns, wall_ns)]}
        taken = union(self.states["before_first_call"] + self.states["process_ended"])
        for state in (*HOST_ORDER, "rows"):
            self.states[state] = without(union(spans[state]), taken)
            taken = union(taken + self.states[state])
        self.states["outside"] = without([(0, wall_ns)], taken)

    def of_rows(self, start, end):
        """A row is inside for floor(x * inside / length) of its first x nanoseconds."""
        first = max(bisect.bisect_right(self.row_starts, start) - 1, 0)
        for at in self.row_starts[first:]:
            call, state = self.rows[at]
            a, b = max(start, call.enter), min(end, call.exit)
            if at >= end:
                break
            if a < b:
                row_ns = call.exit - at
                inside = (b - at) * call.inside // row_ns - (a - at) * call.inside // row_ns
                yield state, inside
                yield "outside", b - a - inside

    def of(self, start, end):
        """Pairs of state and nanoseconds within a stretch."""
        for state, spans in self.states.items():
            first = max(bisect.bisect_right(spans, (start, start)) - 1, 0)
            for span_start, span_end in spans[first:]:
                if span_start >= end:
                    break
                a, b = max(start, span_start), min(end, span_end)
                if a < b and state == "rows":
                    yield from self.of_rows(a, b)
                elif a < b:
                    yield state, b - a


def what_ends_waiting(trace, command, by_event, ran_before):
    """When everything that a command waits for had ended; its start where that is not known."""
    ready = ran_before
    for event in command.waits:
        given = [other for other in by_event.get(event, []) if other.enter_ticks < command.enter_ticks]
        user = trace.find(USER_EVENT, event, command.enter_ticks)
        if user and (not given or user["ticks"] > given[-1].enter_ticks) or not given or not given[-1].timed:
            return command.start
        ready = max(ready, given[-1].end)
    return ready


def idle_enders(trace):
    """Commands that may end idle time, in the order of their starts, each with when it was ready."""
    by_event = collections.defaultdict(list)
    for command in trace.commands:
        by_event[command.event].append(command)
    queue_end = collections.defaultdict(int)
    found = []
    for command in sorted((c for c in trace.commands if c.timed), key=lambda c: (c.start, c.enter)):
        out_of_order = trace.queues[command.queue]["properties"] & OUT_OF_ORDER
        ready = what_ends_waiting(trace, command, by_event, queue_end[command.queue])
        if not out_of_order or command.kind == "barrier":
            queue_end[command.queue] = max(queue_end[command.queue], command.end)
        if command.effect:
            found.append((command, ready))
    return found


def split_idle(host, command, ready, start, end, pieces):
    """Idle time from start to end, which a command's start ended (None: the run's end)."""
    if command is None:
        pieces += list(host.of(start, end))
        return
    enter, leave = command.enter, command.exit
    submitted = leave if command.submitted is None else command.submitted
    submitted = max(submitted, enter)
    if submitted > command.start:  # cannot be: left out
        submitted = min(leave, command.start)
    ready = min(max(ready, submitted), command.start)
    borders = [("host", start, enter), ("host_api", enter, min(leave, submitted)),
               ("held", max(min(leave, submitted), enter), submitted), ("dependency", submitted, ready),
               ("dispatch", ready, command.start)]
    for name, a, b in borders:
        a, b = max(a, start), min(b, end)
        if a >= b:
            continue
        if name == "host":
            pieces += list(host.of(a, b))
        else:
            pieces.append((name, b - a))


def device_parts(trace, wall_ns):
    """Sets of time by what the device did, and idle time."""
    spans = collections.defaultdict(list)
    for command in trace.commands:
        if command.timed and command.effect:
            spans[command.effect].append((command.start, command.end))
    kernel, to, back, local = (cut(union(spans[name]), 0, wall_ns)
                               for name in ("kernel", "to_device", "from_device", "local"))
    ways = both(to, back)
    parts = {"kernel": kernel, "transfer_both_ways": without(ways, kernel),
             "transfer_to_device": without(without(to, back), kernel),
             "transfer_from_device": without(without(back, to), kernel)}
    moving = union(kernel + to + back)
    parts["local_copy"] = without(local, moving)
    parts["idle"] = without([(0, wall_ns)], union(moving + local))
    hidden = {"to_device": both(to, kernel), "from_device": both(back, kernel)}
    return parts, hidden


def has_one_thread(trace):
    return len({call.track for call in trace.calls}) == 1


def ledger(trace, wall_ns):
    """The whole wall in nanoseconds by category; idle time in parts where the program has one thread
    and every command has times, else as "idle". Beside it what was hidden in each direction."""
    spans, hidden = device_parts(trace, wall_ns)
    hidden = {name: length(common) for name, common in hidden.items()}
    idle = spans.pop("idle")
    parts = collections.Counter({name: length(row) for name, row in spans.items()})
    if not has_one_thread(trace) or not all(c.timed for c in trace.commands if c.effect) or trace.end_ns() is None:
        parts["idle"] = length(idle)
        return parts, hidden
    host, enders, pieces = Host(trace, wall_ns), idle_enders(trace), []
    starts = [command.start for command, _ in enders]
    for start, end in idle:
        at = start
        while at < end:
            first = bisect.bisect_right(starts, at)
            command, ready = enders[first] if first < len(enders) else (None, None)
            until = min(command.start, end) if command else end
            split_idle(host, command, ready, at, until, pieces)
            at = until
    for name, ns in pieces:
        parts[name] += ns
    return parts, hidden
