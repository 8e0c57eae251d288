# SPDX-License-Identifier: Apache-2.0
"""The corpus of the trace reader against docs/trace-format.md: every type of record is in it, every
member of each is other than 0 somewhere, and every value of every enumeration comes."""
import os
import pathlib
import re
import struct
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
CORPUS = HERE / "corpus/trace"
DOCUMENT = (HERE.parents[1] / "docs/trace-format.md").read_text(encoding="utf-8")
HEADER_BYTES, RECORD_BYTES = 4096, 64
DETAIL, FLAGS = (2, 2), (1, 1)  # offset and bytes in a record's head
# Where values of an enumeration come: type of the record, or HEADER, and member. "bits": they are or-ed.
HEADER = "header"
PLACES = {
    "tare_trace_flags": (HEADER, "flags", "bits"),
    "tare_trace_host_clock": (HEADER, "host_clock"),
    "tare_trace_api": (HEADER, "api"),
    "tare_trace_state": (HEADER, "state"),
    "tare_trace_stop": (HEADER, "stop_reason"),
    "tare_trace_track_kind": ("TRACK", DETAIL),
    "tare_trace_role": ("FUNCTION", "role"),
    "tare_trace_object_kind": ("OBJECT", DETAIL),
    "tare_trace_memory": ("COMMAND", "memory"),
    "tare_trace_fact": ("FACT", DETAIL),
    "tare_trace_change": ("CHANGE", DETAIL),
    "tare_trace_front": ("CHANGE", "from"),
    "tare_trace_call_flags": ("CALL", FLAGS, "bits"),
    "tare_trace_command_kind": ("COMMAND", "kind"),
    "tare_trace_direction": ("COMMAND", "direction"),
    "tare_trace_command_flags": ("COMMAND", FLAGS, "bits"),
    "tare_trace_site_flags": ("SITE", FLAGS, "bits"),
    "tare_trace_depends_flags": ("DEPENDS", FLAGS, "bits"),
    "tare_trace_stamps": ("TIMES", FLAGS, "bits"),
    "tare_trace_times_of": ("TIMES", DETAIL),
    "tare_trace_pages_what": ("PAGES", DETAIL),
    "tare_trace_contents_of": ("CONTENTS", DETAIL),
    "tare_trace_contents_flags": ("CONTENTS", FLAGS, "bits"),
    "tare_trace_counted_flags": ("COUNTED", FLAGS, "bits"),
    "tare_trace_counter": ("COUNTED", (24, 2)),
    "tare_trace_counting_what": ("COUNTING", DETAIL),
    "tare_trace_counting_left": ("COUNTING", "code"),
    "tare_trace_sampling_what": ("SAMPLING", DETAIL),
    "tare_trace_link_kind": ("LINK", DETAIL),
    "tare_trace_untimed": ("UNTIMED", DETAIL),
    "tare_trace_clock": ("CLOCK_PAIR", DETAIL),
    "tare_trace_phase_source": ("PHASE", FLAGS),
}


def tables(kind):
    """{name: rows} of the tables that are headed `struct NAME` or `enum NAME`."""
    found = re.finditer(rf"^`{kind} (\w+)`:\n\n(?:\|.*\n){{2}}((?:\|.*\n)+)", DOCUMENT, re.M)
    return {match[1]: [[cell.strip(" `") for cell in line.strip("|\n").split("|")]
                       for line in match[2].splitlines()] for match in found}


TYPES = {name.removeprefix("TARE_TRACE_"): int(value) for value, name, _ in tables("enum")["tare_trace_type"]}
STRUCTS = {name: {row[2]: (int(row[0]), int(row[1])) for row in rows} for name, rows in tables("struct").items()}
# The type of the record that each table is of: its section's heading.
STRUCT_OF = {"WINDOW": "tare_trace_window", HEADER: "tare_trace_header"} | dict(
    re.findall(r"^#### (\w+)\n(?:(?!####|`struct).*\n)*`struct (\w+)`:", DOCUMENT, re.M))


def records_of(data):
    """The records of a trace that its reader finds nothing wrong with, and its header."""
    yield HEADER, data[:HEADER_BYTES]
    window_bytes, = struct.unpack_from("<I", data, 20)
    numbers = {number: name for name, number in TYPES.items()}
    for window in range(HEADER_BYTES, len(data), window_bytes):
        for at in range(window, window + window_bytes, RECORD_BYTES):
            record = data[at:at + RECORD_BYTES]
            if record[0] == TYPES["END"]:
                break
            yield numbers[record[0]], record


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory):
    """What make_traces writes; it fails when its own traces cannot be read without a complaint."""
    folder = tmp_path_factory.mktemp("traces")
    subprocess.run([os.environ["TARE_MAKE_TRACES"], str(folder)], check=True)
    return folder


@pytest.fixture(scope="module", name="records")
def fixture_records(made):
    found = {}
    for path in sorted(made.iterdir()):
        for name, record in records_of(path.read_bytes()):
            found.setdefault(name, []).append(record)
    return found


def test_the_corpus_is_what_is_made(made):
    stale = [path.name for path in sorted(made.iterdir())
             if not (CORPUS / path.name).exists() or (CORPUS / path.name).read_bytes() != path.read_bytes()]
    assert not stale, f"make_traces writes others: {stale}"


def test_every_type_comes(records):
    assert len(TYPES) > 25
    assert not set(TYPES) - {"END"} - set(records)


def test_every_type_has_its_table():
    assert set(STRUCT_OF) == set(TYPES) - {"END", "VOID"} | {HEADER}


def members():
    return [(name, member) for name, table in STRUCT_OF.items() for member in STRUCTS[table]
            if not member.startswith("reserved")]


@pytest.mark.parametrize("name,member", members())
def test_every_member_is_told(records, name, member):
    offset, size = STRUCTS[STRUCT_OF[name]][member]
    assert any(any(record[offset:offset + size]) for record in records[name])


def test_every_enumeration_has_its_place():
    # The last ones number the members of arrays in the header.
    assert set(PLACES) == set(tables("enum")) - {"tare_trace_type", "tare_trace_driver_cost", "tare_trace_execute_cost"}


def values_of(records, place):
    name, member = place[:2]
    offset, size = member if isinstance(member, tuple) else STRUCTS[STRUCT_OF[name]][member]
    return {int.from_bytes(record[offset:offset + size], "little") for record in records[name]}


@pytest.mark.parametrize("enum", PLACES)
def test_every_value_comes(records, enum):
    seen = values_of(records, PLACES[enum])
    bits = "bits" in PLACES[enum]
    values = {int(row[0]): row[1] for row in tables("enum")[enum]}
    assert not [name for value, name in values.items()
                if not (any(value & one for one in seen) if bits else value in seen)]
