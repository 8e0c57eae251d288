# SPDX-License-Identifier: Apache-2.0
"""One name, one thing: no two sources define a global symbol of one name, and what a header calls a structure, no
other file calls another one. A reader, a debugger and a linker that meets both then know which is meant."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ["src", "drivers", "include"]
# What a loader, a driver or a program looks for by name, in each library that has it.
ENTRIES = re.compile(r"cl[A-Z]|ze[rst]?[A-Z]|InitializeInjection$|tare_levelzero_table$")
TAG = re.compile(r"^(?:typedef )?(?:struct|union|enum)(?: __attribute__\(\(.*?\)\))? (\w+)(?: __attribute__\(\(.*?\)\))? \{",
                 re.MULTILINE)


def twice_defined(text, sources):
    """Names of `nm -A` that objects of two sources define: {object: its source}. A source that is compiled for two
    libraries is one."""
    found = collections.defaultdict(set)
    for line in text.splitlines():
        where, _, what = line.rpartition(":")
        words = what.split()
        if len(words) == 3 and words[1] in "TDBRVWC" and not ENTRIES.match(words[2]):
            found[words[2]].add(sources[where])
    return {name: sorted(of) for name, of in found.items() if len(of) > 1}


def twice_declared(texts):
    """Tags of {file: text} that a header declares and another file as well."""
    found = collections.defaultdict(set)
    for name, text in texts.items():
        for tag in TAG.findall(text):
            found[tag].add(name)
    return {tag: sorted(files) for tag, files in found.items()
            if len(files) > 1 and any(name.endswith(".h") for name in files)}


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm here")
def test_a_global_name_has_one_source():
    build = pathlib.Path(os.environ["TARE_BUILD"])
    # What is built now: an object of a source that is gone may still lie there.
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = {entry["output"]: entry["file"] for entry in commands
               if entry["output"].startswith(("src/", "drivers/")) and (build / entry["output"]).exists()}
    assert len(sources) > 100
    done = subprocess.run(["nm", "-A", "--defined-only", "-g", *sources], capture_output=True, text=True, check=True,
                          cwd=build)
    assert twice_defined(done.stdout, sources) == {}


def test_a_headers_tag_is_its_own():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]")]
    assert len(files) > 100
    assert twice_declared({str(path.relative_to(ROOT)): path.read_text() for path in files}) == {}


def test_what_is_twice_is_seen():
    sources = {"x/a.p/one.o": "one.c", "x/b.p/one.o": "one.c", "x/a.p/two.o": "two.c"}
    text = "x/a.p/one.o:00 T name\nx/b.p/one.o:00 T name\nx/a.p/one.o:00 T clInitLayer\nx/a.p/two.o:00 T clInitLayer\n"
    assert twice_defined(text, sources) == {}
    assert twice_defined(text + "x/a.p/two.o:00 D name\n", sources) == {"name": ["one.c", "two.c"]}
    own, other = "struct part {\n};\n", "typedef struct part {\n} part;\n"
    assert twice_declared({"a.c": own, "b.c": other}) == {}
    assert twice_declared({"a.h": own, "b.c": "struct part *part;\n"}) == {}
    assert twice_declared({"a.h": own, "b.c": other}) == {"part": ["a.h", "b.c"]}
    assert twice_declared({"a.h": own, "b.c": "struct __attribute__((packed)) part {\n"}) == {"part": ["a.h", "b.c"]}
