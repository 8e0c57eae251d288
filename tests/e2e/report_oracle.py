# SPDX-License-Identifier: Apache-2.0
"""The figures of a report by the rules of docs/report.md and docs/ledger.md, from the records of a trace
(trace_oracle.py) and in another way than tare computes them: with sets of time. For one process, and
idle time in parts for programs of one thread and one device."""
import bisect
import collections
import functools
import statistics

from trace_oracle import KERNELS, MEMORY, OUT_OF_ORDER, PART, TRANSFERS, USER_EVENT


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


def reaching(spans, start, end):
    """Those of a set's spans that reach into a stretch."""
    i = max(bisect.bisect_right(spans, (start, start)) - 1, 0)
    while i < len(spans) and spans[i][0] < end:
        if spans[i][1] > start:
            yield spans[i]
        i += 1


def without(a, b):
    left = []
    for start, end in a:
        at = start
        for cut_start, cut_end in reaching(b, start, end):
            if cut_start > at:
                left.append((at, cut_start))
            at = cut_end
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
        found[name] = {"instances": len(row), "timed": len(runs), "total_ns": sum(runs) if runs else None,
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
                      "smallest_bytes": min(c.amount for c in row),
                      "largest_bytes": max(c.amount for c in row)}
        timed = any(c.timed for c in row)
        found[key] |= {"total_ns": sum(c.end - c.start for c in row if c.timed) if timed else None,
                       "exposed_ns": length(spans) - hidden if timed else None,
                       "hidden_ns": hidden if timed else None}
    return found


def api(trace):
    keys = ("count", "failed", "nested", "total_ns", "max_ns")
    rows = collections.defaultdict(lambda: dict.fromkeys(keys, 0))
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

HOST_ORDER = ("host_build", "host_load", "host_allocate", "host_blocking_copy", "host_wait", "host_api", "host_release", "host_query")


def state_of(trace, call):
    role = trace.function(call)[1]
    if call.command:
        return "host_blocking_copy" if call.blocking else "host_api"
    return {"build": "host_build", "load": "host_load", "allocate": "host_allocate", "wait": "host_wait",
            "poll": "host_wait", "release": "host_release", "query": "host_query"}.get(role, "host_api")


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
        self.rows = {call.enter: (call, state_of(trace, call)) for call in rows if call.exit > call.enter}
        self.row_spans = sorted((call.enter, call.exit) for call in rows if call.exit > call.enter)
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
        for at, until in reaching(self.row_spans, start, end):
            call, state = self.rows[at]
            a, b = max(start, at), min(end, until)
            inside = (b - at) * call.inside // (until - at) - (a - at) * call.inside // (until - at)
            yield state, inside
            yield "outside", b - a - inside

    def of(self, start, end):
        """Pairs of state and nanoseconds within a stretch."""
        for state, spans in self.states.items():
            for span_start, span_end in reaching(spans, start, end):
                a, b = max(start, span_start), min(end, span_end)
                if state == "rows":
                    yield from self.of_rows(a, b)
                else:
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
    returned = min(max(min(leave, submitted), enter), command.start)
    ready = min(max(ready, returned), command.start)
    submitted = min(max(submitted, ready), command.start)
    borders = [("host", start, enter), ("host_api", enter, returned), ("dependency", returned, ready),
               ("held", ready, submitted), ("dispatch", submitted, command.start)]
    for name, a, b in borders:
        a, b = max(a, start), min(b, end)
        if a >= b:
            continue
        if name == "host":
            pieces += list(host.of(a, b))
        else:
            pieces.append((name, b - a))


def device_parts(trace, start, end):
    """Sets of time by what the device did, and idle time; which transfers are hidden."""
    spans = collections.defaultdict(list)
    for command in trace.commands:
        if command.timed and command.effect:
            spans[command.effect].append((command.start, command.end))
    kernel, to, back, local = (cut(union(spans[name]), start, end)
                               for name in ("kernel", "to_device", "from_device", "local"))
    ways = both(to, back)
    parts = {"kernel": kernel, "transfer_both_ways": without(ways, kernel),
             "transfer_to_device": without(without(to, back), kernel),
             "transfer_from_device": without(without(back, to), kernel)}
    moving = union(kernel + to + back)
    parts["local_copy"] = without(local, moving)
    parts["idle"] = without([(start, end)], union(moving + local))
    hidden = {"to_device": both(to, kernel), "from_device": both(back, kernel)}
    return parts, hidden


def has_one_thread(trace):
    return len({call.track for call in trace.calls}) == 1


@functools.lru_cache(maxsize=1)
def of_program(trace, wall_ns):
    """What ledgers of all views need."""
    return Host(trace, wall_ns), idle_enders(trace)


@functools.lru_cache(maxsize=3)
def ledger(trace, wall_ns, view=None):
    """The whole wall, or a view's part of it, in nanoseconds by category; idle time in parts where the
    program has one thread and every command has times, else as "idle". Beside it what was hidden in
    each direction."""
    spans, hidden = device_parts(trace, *(view or (0, wall_ns)))
    hidden = {name: length(common) for name, common in hidden.items()}
    idle = spans.pop("idle")
    parts = collections.Counter({name: length(row) for name, row in spans.items()})
    timed = all(command.timed for command in trace.commands if command.effect)
    if not has_one_thread(trace) or not timed or trace.end_ns() is None:
        parts["idle"] = length(idle)
        return parts, hidden
    host, enders = of_program(trace, wall_ns)
    pieces = []
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


# ---- the summary

def working_part(trace, wall_ns):
    """From the first enqueue to the last completion; the whole where that leaves out less than 1 %.
    Maps do not begin it, unmaps do not end it, marks do neither, unless there is nothing else."""
    if not trace.commands:
        return None
    begin = [c.enter for c in trace.commands if c.kind not in ("map", "marker", "barrier")]
    ends = [c.end if c.timed else c.exit for c in trace.commands
            if c.kind not in ("unmap", "marker", "barrier")]
    if not begin or not ends or max(ends) <= min(begin):
        begin = [c.enter for c in trace.commands]
        ends = [c.end if c.timed else c.exit for c in trace.commands]
    start = max(min(begin), 0)
    end = min(max(ends), wall_ns)
    return (0, wall_ns) if end - start >= 0.99 * wall_ns else (start, end)


def summary(trace, record, wall_ns):
    parts, _ = ledger(trace, wall_ns)
    exposed = sum(parts[name] for name in parts if name.startswith("transfer_"))
    kernel = parts["kernel"]
    spans, _ = device_parts(trace, 0, wall_ns)
    moving = union((c.start, c.end) for c in trace.commands
                   if c.timed and c.effect in ("to_device", "from_device"))
    hidden = length(cut(both(moving, spans["kernel"]), 0, wall_ns))
    launches = [c for c in trace.commands if not c.blocking and not c.nested]
    launch_ns = sum(c.exit - c.enter for c in launches)
    start, end = working_part(trace, wall_ns)
    working, _ = ledger(trace, wall_ns, (start, end))
    cpu_ns = record["user_cpu_ns"] + record["system_cpu_ns"] - trace.header["helper_cpu_ns"]
    found = {"launch_ns": launch_ns, "working_from_ns": start, "working_to_ns": end,
             "mean_launch_ns": launch_ns / len(launches) if launches else None,
             "cpu_utilisation": cpu_ns / wall_ns, "kernel_share": kernel / wall_ns,
             "exposed_transfer_share": exposed / wall_ns, "transfer_share": (exposed + hidden) / wall_ns,
             "device_utilisation": (kernel + exposed + parts["local_copy"]) / wall_ns}
    bounds = {"device": working["kernel"] + working["local_copy"],
              "transfer": sum(ns for name, ns in working.items() if name.startswith("transfer_")) +
              working["host_blocking_copy"],
              "not_clear": working["untimed"] + working["not_recorded"] + working["unknown"], "all": end - start}
    return found, bounds, "idle" not in working


def self_cost_ns(trace):
    """Calibrated cost of a command and of another call, times their numbers."""
    commands = len(trace.commands)
    calls = sum(call.count for call in trace.calls) - commands
    start = trace.header["start_ticks"]
    harvest_ns = trace.ns(start + trace.header["harvest_ticks"]) - trace.ns(start)
    # Shared among the commands, a whole number of picoseconds each.
    harvest_ps = round(harvest_ns * 1000 / commands) * commands if commands else 0
    return (commands * trace.header["self_cost_ps"] + calls * trace.header["self_call_cost_ps"] +
            harvest_ps) / 1000
