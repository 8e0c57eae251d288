# SPDX-License-Identifier: Apache-2.0
"""A second, small reader of traces, for what the tests ask: commands, times, executions."""
import collections
import dataclasses
import struct

KINDS = {1: "kernel", 3: "write", 4: "read", 5: "copy", 6: "fill", 9: "migrate", 10: "marker", 11: "barrier",
         12: "graph", 13: "other"}
FUNCTION, OBJECT, FACT, SHAPE, CHANGE, COMMAND, TIMES, UNTIMED, EXECUTE, PART, CONTENTS = 4, 5, 6, 7, 8, 18, 21, 22, 23, 35, 36
LAUNCHES = 37
FAILED, OWN_EVENT, NO_TIMES, ACTIVE = 1, 4, 32, 16


@dataclasses.dataclass
class Command:
    kind: str
    queue: int
    flags: int
    object: int
    amount: int
    function: int


def records(path):
    """(type, flags, detail, track, bytes) in the order of windows."""
    data = path.read_bytes()
    window_bytes, = struct.unpack_from("<I", data, 20)
    windows = []
    for at in range(4096, len(data) - 63, window_bytes):
        head, sequence = struct.unpack_from("<QQ", data, at)
        if head:
            windows.append((sequence, at))
    for _, start in sorted(windows):
        for at in range(start + 64, min(start + window_bytes, len(data)), 64):
            head, = struct.unpack_from("<Q", data, at)
            if not head:
                break
            yield head & 255, head >> 8 & 255, head >> 16 & 65535, head >> 32, data[at:at + 64]


class Trace:
    def __init__(self, folder):
        self.path, = folder.glob("*.trace")
        self.header = self.path.read_bytes()[:4096]
        self.commands, self.times, self.untimed, self.executes = {}, collections.defaultdict(list), [], []
        self.facts, self.changes, self.graphs = {}, collections.Counter(), set()
        self.shapes, self.active = {0: None}, {}
        self.parts = collections.defaultdict(dict)
        for kind, flags, detail, track, data in records(self.path):
            words = struct.unpack("<8Q", data)
            if kind == COMMAND:
                number, what, queue = struct.unpack_from("<IB3xI", data, 20)
                self.commands[track, number] = command = Command(KINDS[what], queue, flags, words[4], words[5],
                                                                 detail)
            elif kind == LAUNCHES:
                # Each is like the one before.
                for _ in range(detail):
                    number += 1
                    self.commands[track, number] = command
            elif kind == TIMES:
                key = words[1] & 0xffffffff, words[1] >> 32, words[7]
                self.times[key].append((words[4], words[5]))
                if flags & ACTIVE:
                    self.active[key] = words[2], words[3]
            elif kind == PART:
                key = words[1] & 0xffffffff, words[1] >> 32, words[7]
                assert detail not in self.parts[key] and key not in self.times, "once, before the times"
                self.parts[key][detail] = (flags, words[2], words[3])
            elif kind == UNTIMED:
                self.untimed.append((words[1] & 0xffffffff, words[1] >> 32, words[4], detail))
            elif kind == EXECUTE:
                self.executes.append((words[2], words[3], words[4]))
            elif kind == FACT:
                self.facts[detail] = words[3]
            elif kind == SHAPE:
                self.shapes[words[1] & 0xffffffff] = (struct.unpack_from("<3Q", data, 16),
                                                      struct.unpack_from("<3I", data, 40))
            elif kind == CHANGE:
                self.changes[detail] += 1
            elif kind == OBJECT and detail == 9:
                self.graphs.add(words[7] >> 32)

    def runs(self):
        """(kind, start, end) of each time of a command."""
        return [(self.commands[track, number].kind, *stamps) for (track, number, _), all_of_it in self.times.items()
                for stamps in all_of_it]
