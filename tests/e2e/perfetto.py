# SPDX-License-Identifier: Apache-2.0
"""Reads the wire format of protocol buffers and, of Perfetto's trace, what tare writes; field numbers
are those of protos/perfetto/trace."""
import collections
import struct

BEGIN, END, INSTANT = 1, 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """{number: [values]} of a message; a value is an int, or bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        assert number > 0
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert wire == 2, wire
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        found[number].append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    """Everything of one file; asserts what every reader relies on while it reads."""

    def __init__(self, data):
        self.tracks, self.events, self.clocks, self.primary = {}, [], {}, None
        self.interned = {1: {}, 2: {}, 3: {}}  # categories, names, annotations
        packets = fields(data)
        assert set(packets) <= {1}
        for number, packet in enumerate(packets[1]):
            self.packet(number, fields(packet))

    def packet(self, number, packet):
        assert packet[10] == [1]  # one sequence
        if number == 0:
            assert packet[13] == [1] and fields(packet[59][0])[58] == [5]  # cleared; MONOTONIC_RAW
        for data in packet[12]:
            for kind, entries in fields(data).items():
                for entry in map(fields, entries):
                    assert entry[1][0] not in self.interned[kind]
                    self.interned[kind][entry[1][0]] = entry[2][0].decode()
        for data in packet[60]:
            self.track(fields(data))
        for data in packet[6]:
            snapshot = fields(data)
            self.primary = snapshot[2][0]
            self.clocks = {fields(clock)[1][0]: fields(clock)[2][0] for clock in snapshot[1]}
        for data in packet[11]:
            assert packet[13] == [2]
            self.events.append(self.event(packet[8][0], fields(data)))

    def track(self, track):
        uuid, parent = track[1][0], (track[5] or [0])[0]
        assert uuid == len(self.tracks) + 1 and (parent in self.tracks or parent == 0)
        process = fields(track[3][0]) if track[3] else None
        thread = fields(track[4][0]) if track[4] else None
        name = (track[2] or (process or {}).get(6) or (thread or {}).get(5))[0].decode()
        self.tracks[uuid] = {"name": name, "parent": parent, "process": process and process[1][0],
                             "thread": thread and (thread[1][0], thread[2][0])}

    def event(self, at, event):
        notes = {}
        for note in map(fields, event[4]):
            value = next(note[kind][0] for kind in (3, 4, 5, 6) if note[kind])
            if note[4]:
                value = signed(value)
            elif note[5]:
                value = struct.unpack("<d", struct.pack("<Q", value))[0]
            elif note[6]:
                value = value.decode()
            notes[self.interned[3][note[1][0]]] = value
        assert event[11][0] in self.tracks
        return {"at": at, "type": event[9][0], "track": event[11][0], "flows": event[47], "notes": notes,
                "category": self.interned[1][event[3][0]] if event[3] else None,
                "name": self.interned[2][event[10][0]] if event[10]
                else event[23][0].decode() if event[23] else None}

    def slices(self):
        """All slices. On tracks that are no thread's, none overlaps another; everywhere they nest."""
        done, open_ones = [], collections.defaultdict(list)
        for event in sorted(self.events, key=lambda event: event["at"]):  # stable, as Perfetto's sorter
            stack = open_ones[event["track"]]
            if event["type"] == BEGIN:
                assert not stack or self.tracks[event["track"]]["thread"], self.tracks[event["track"]]
                stack.append(event)
            elif event["type"] == END:
                begin = stack.pop()
                done.append({**begin, "end": event["at"], "depth": len(stack)})
        assert not any(open_ones.values())
        return done
