# SPDX-License-Identifier: Apache-2.0
"""Reads the page of a run: a second decoder of its timeline, written from docs/page-run.md alone."""
import base64
import html.parser
import json
import re
import struct
import zlib


class Elements(html.parser.HTMLParser):
    """What a browser makes of the page: its elements, and the text of scripts by their id."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.title, self.current = [], {}, "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.current = dict(attrs).get("id", "") if tag == "script" else tag
        if tag == "script":
            self.scripts.setdefault(self.current, "")

    def handle_endtag(self, tag):
        self.current = None

    def handle_data(self, data):
        if self.current in self.scripts:
            self.scripts[self.current] += data
        elif self.current == "title":
            self.title += data


class Table:
    """Columns by name; None is what is not known."""

    def __init__(self, columns, count):
        self.columns, self.count = columns, count

    def __getattr__(self, name):
        return self.columns[name]

    def rows(self):
        return [dict(zip(self.columns, row)) for row in zip(*self.columns.values())]


def integers(data, column):
    at, end, values, previous = column["offset"], column["offset"] + column["bytes"], [], 0
    while at < end:
        byte = data[at]
        negative, magnitude, shift = byte & 1, (byte & 0x7e) >> 1, 6
        at += 1
        while byte & 0x80:
            byte = data[at]
            magnitude |= (byte & 0x7f) << shift
            shift += 7
            at += 1
        if negative and not magnitude:
            values.append(None)
            continue
        value = -magnitude if negative else magnitude
        if column["type"] == "delta":
            value = previous = previous + value
        values.append(value)
    assert len(values) == column["count"]
    return values


def read_table(data, columns):
    table = {}
    for name, column in columns.items():
        if column["type"] == "u8":
            values = list(data[column["offset"]:column["offset"] + column["count"]])
            assert column["bytes"] == column["count"] == len(values)
        else:
            assert column["type"] in ("varint", "delta")
            values = integers(data, column)
        if "relative_to" in column:
            values = [None if value is None or base is None else value + base
                      for value, base in zip(values, table[column["relative_to"]])]
        table[name] = values
    return Table(table, len(next(iter(table.values()))))


class Timeline:
    def __init__(self, text):
        data = zlib.decompress(base64.b64decode(text, validate=True))
        assert data[:8] == b"tareline"
        version, length = struct.unpack_from("<II", data, 8)
        assert version == 1
        self.header = json.loads(data[16:16 + length].decode())
        tables = self.header["tables"]
        self.tables = {name: read_table(data[16 + length:], columns) for name, columns in tables.items()}
        last = max(column["offset"] + column["bytes"] for table in tables.values() for column in table.values())
        assert 16 + length + last == len(data), "bytes that no column has"

    def __getattr__(self, name):
        return self.tables[name]


class Page:
    def __init__(self, text):
        self.text = text
        self.elements = Elements(text)
        self.report = json.loads(self.elements.scripts["report"])
        self.base64 = self.elements.scripts["timeline"]
        self.timeline = Timeline(self.base64) if self.base64 else None

    def references(self):
        """Addresses of anything outside of the page that it would load or link to."""
        named = [value for tag, attrs in self.elements.tags for key, value in attrs.items()
                 if key in ("src", "href", "action", "data", "poster", "srcset")]
        loaded = re.findall(r"@import|url\(\s*['\"]?(?!data:|\$\{|#)[^)]*|\bimportScripts\b|\bfetch\(|XMLHttpRequest",
                            self.text)
        return [value for value in named if not re.match(r"#|data:", value)] + loaded
