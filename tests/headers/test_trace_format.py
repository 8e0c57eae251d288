# SPDX-License-Identifier: Apache-2.0
"""docs/trace-format.md against include/tare/trace_format.h: neither says what the other does not."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/trace-format.md").read_text(encoding="utf-8")
HEADER = (ROOT / "include/tare/trace_format.h").read_text(encoding="utf-8")
COMPILER = shlex.split(os.environ.get("TARE_CC", "cc"))


def tables(kind):
    """{name: rows of cells} of the document's tables that are headed `struct NAME` or `enum NAME`."""
    found = {}
    for match in re.finditer(rf"^`{kind} (\w+)`:\n\n(?:\|.*\n){{2}}((?:\|.*\n)+)", DOCUMENT, re.M):
        rows = [[cell.strip(" `") for cell in line.strip("|\n").split("|")]
                for line in match[2].splitlines()]
        assert match[1] not in found, f"{match[1]} is described twice"
        found[match[1]] = rows
    return found


def without_comments(text):
    return re.sub(r"//.*", "", text)


def declared_members():
    structs = re.findall(r"^struct (\w+) \{\n(.*?)^\};", without_comments(HEADER), re.S | re.M)
    return {name: re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", body) for name, body in structs}


def declared_values():
    enums = re.findall(r"^enum (\w+) \{(.*?)\};", without_comments(HEADER), re.S | re.M)
    values = {name: re.findall(r"\b(TARE_\w+)", body) for name, body in enums}
    return {name: [value for value in all_of if not re.search(r"_(COUNT|KINDS)$", value)]
            for name, all_of in values.items()}


def compile_asserts(asserts, folder):
    source = folder / "asserts.c"
    source.write_text('#include "tare/trace_format.h"\n#include <stddef.h>\n' + "\n".join(asserts) + "\n",
                      encoding="utf-8")
    done = subprocess.run([*COMPILER, "-std=c17", "-fsyntax-only", "-I", str(ROOT / "include"), str(source)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def layout_asserts():
    for struct, rows in tables("struct").items():
        end = 0
        for offset, size, member, kind, _ in rows:
            place = f"offsetof(struct {struct}, {member})"
            bytes_of = f"sizeof ((struct {struct} *)0)->{member}"
            yield f'_Static_assert({place} == {offset}, "{struct}.{member} is elsewhere");'
            yield f'_Static_assert({bytes_of} == {size}, "{struct}.{member} has another size");'
            sign = "< 0" if kind.startswith("int") else "> 0"
            if not kind.startswith("char") and "[" not in kind:
                yield (f"_Static_assert((__typeof__(((struct {struct} *)0)->{member}))-1 {sign}, "
                       f'"{struct}.{member} has another sign");')
            assert int(offset) == end, f"{struct}.{member} leaves a gap"
            end = int(offset) + int(size)
        yield f'_Static_assert(sizeof(struct {struct}) == {end}, "{struct} has more");'


def value_asserts():
    for enum, rows in tables("enum").items():
        for value, name, _ in rows:
            yield f'_Static_assert({name} == {value}, "{enum}: {name} has another value");'


def test_every_offset_size_and_value_is_the_header_s(tmp_path):
    asserts = [*layout_asserts(), *value_asserts()]
    assert len(asserts) > 500
    status, faults = compile_asserts(asserts, tmp_path)
    assert status == 0, faults


def test_a_wrong_offset_is_seen(tmp_path):
    status, faults = compile_asserts(
        ['_Static_assert(offsetof(struct tare_trace_call, exit) == 8, "elsewhere");'], tmp_path)
    assert status != 0 and "elsewhere" in faults


@pytest.mark.parametrize("struct", declared_members())
def test_every_member_is_described(struct):
    assert [row[2] for row in tables("struct").get(struct, [])] == declared_members()[struct]


@pytest.mark.parametrize("enum", declared_values())
def test_every_value_is_described(enum):
    assert [row[1] for row in tables("enum").get(enum, [])] == declared_values()[enum]


def test_the_version_and_the_magic_are_the_header_s():
    version = re.search(r"^# The trace format, version (\d+)\.(\d+)$", DOCUMENT, re.M)
    defined = re.findall(r"#define TARE_TRACE_VERSION_(?:MAJOR|MINOR) (\d+)", HEADER)
    assert list(version.groups()) == defined
    magic = bytes.fromhex(re.search(r"the bytes ((?:[0-9a-f]{2} ?){8})", DOCUMENT)[1])
    text = re.search(r'#define TARE_TRACE_MAGIC "(.*)"', HEADER)[1]
    assert magic == text.encode().decode("unicode_escape").encode("latin-1")


def test_every_type_of_record_has_a_section():
    types = [name.removeprefix("TARE_TRACE_") for name in declared_values()["tare_trace_type"]]
    sections = re.findall(r"^#### (\w+)$", DOCUMENT, re.M)
    assert sorted(sections) == sorted(set(types) - {"END", "WINDOW"})
