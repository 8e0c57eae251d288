# SPDX-License-Identifier: Apache-2.0
"""Pages of runs for the page's tests: the timeline's data in and out, written from docs/page-run.md,
and a page with other data than tare wrote."""
import base64
import copy
import json
import re
import struct
import zlib

REPORT = re.compile(r'(<script type="application/json" id="report">)(.*?)(</script>)', re.S)
TIMELINE = re.compile(r'(<script type="text/plain" id="timeline">)(.*?)(</script>)', re.S)


def integers(data, count):
    """Sign and magnitude, seven bits a byte; minus zero: None."""
    values, at = [], 0
    for _ in range(count):
        byte = data[at]
        at += 1
        negative, value, shift = byte & 1, (byte & 0x7f) >> 1, 6
        while byte & 0x80:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
        values.append(None if negative and not value else -value if negative else value)
    assert at == len(data)
    return values


def integer_bytes(value):
    if value is None:
        return b'\x01'
    magnitude = abs(value)
    parts = [(value < 0) | (magnitude & 63) << 1]
    magnitude >>= 6
    while magnitude:
        parts[-1] |= 0x80
        parts.append(magnitude & 0x7f)
        magnitude >>= 7
    return bytes(parts)


def column(data, about, done):
    part = data[about['offset']:about['offset'] + about['bytes']]
    if about['type'] == 'u8':
        return list(part)
    values, last = integers(part, about['count']), 0
    if about['type'] == 'delta':
        for i, value in enumerate(values):
            if value is not None:
                values[i] = last = last + value
    if 'relative_to' in about:
        values = [None if base is None or value is None else base + value for value, base in zip(values, done[about['relative_to']])]
    return values


def decode(text):
    """The header and {table: {column: values}}."""
    data = zlib.decompress(base64.b64decode(text))
    assert data[:8] == b'tareline'
    version, length = struct.unpack('<II', data[8:16])
    assert version == 1
    header = json.loads(data[16:16 + length])
    tables = {}
    for name, columns in header['tables'].items():
        tables[name] = {}
        for key, about in columns.items():
            tables[name][key] = column(data[16 + length:], about, tables[name])
    return header, tables


def encode(header, tables):
    """The same back, without differences between rows."""
    header, body = copy.deepcopy(header), bytearray()
    for name, columns in tables.items():
        for key, values in columns.items():
            about = header['tables'][name][key]
            start = len(body)
            body += bytes(values) if about['type'] == 'u8' else b''.join(map(integer_bytes, values))
            header['tables'][name][key] = {'type': about['type'] if about['type'] == 'u8' else 'varint', 'offset': start,
                                           'bytes': len(body) - start, 'count': len(values)}
    text = json.dumps(header).encode()
    return base64.b64encode(zlib.compress(b'tareline' + struct.pack('<II', 1, len(text)) + text + bytes(body))).decode()


def read(path):
    """The report and the timeline's text of a page."""
    page = path.read_text()
    return json.loads(REPORT.search(page).group(2)), TIMELINE.search(page).group(2)


def rewrite(source, target, report=None, timeline=None):
    """The page at `source` with other data."""
    page = source.read_text()
    for pattern, text in ((REPORT, None if report is None else json.dumps(report).replace('<', '\\u003c')), (TIMELINE, timeline)):
        if text is not None:
            page = pattern.sub(lambda found, text=text: found.group(1) + text + found.group(3), page)
    target.write_text(page)
    return target


def without_rows(header, tables, *names):
    """The timeline with these tables empty."""
    return header, {name: {key: [] if name in names else values for key, values in columns.items()} for name, columns in tables.items()}
