# SPDX-License-Identifier: Apache-2.0
"""One name, one thing: no two sources define a global symbol of one name, and what a header calls a structure, no
other file calls another one. A reader, a debugger and a linker that meets both then know which is meant."""
import collections
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


def source_of(path):
    """Of an object in `folder/library.p/`: Meson names it by its path from that folder, with _ for /."""
    folder, name = path.parent.parent, path.name
    while name.startswith(".._"):
        folder, name = folder.parent, name.removeprefix(".._")
    return "_".join([*folder.parts, name.removesuffix(".o")])


def twice_defined(text):
    """Names of `nm -A` that objects of two sources define. A source that is compiled for two libraries is one."""
    found = collections.defaultdict(set)
    for line in text.splitlines():
        where, _, what = line.rpartition(":")
        words = what.split()
        if len(words) == 3 and words[1] in "TDBRVWC" and not ENTRIES.match(words[2]):
            found[words[2]].add(source_of(pathlib.PurePath(where)))
    return {name: sorted(sources) for name, sources in found.items() if len(sources) > 1}


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
    objects = [str(path.relative_to(build)) for folder in ("src", "drivers") for path in (build / folder).rglob("*.o")]
    assert len(objects) > 100
    done = subprocess.run(["nm", "-A", "--defined-only", "-g", *objects], capture_output=True, text=True, check=True,
                          cwd=build)
    assert twice_defined(done.stdout) == {}


def test_a_headers_tag_is_its_own():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]")]
    assert len(files) > 100
    assert twice_declared({str(path.relative_to(ROOT)): path.read_text() for path in files}) == {}


def test_what_is_twice_is_seen():
    assert source_of(pathlib.PurePath("src/guest/a.so.p/cuda_enter.c.o")) == "src_guest_cuda_enter.c"
    assert source_of(pathlib.PurePath("drivers/own/a.so.p/.._.._src_guest_cuda_enter.c.o")) == "src_guest_cuda_enter.c"
    text = "x/a.p/one.c.o:00 T name\nx/b.p/one.c.o:00 T name\nx/a.p/one.c.o:00 T clInitLayer\nx/b.p/two.c.o:00 T clInitLayer\n"
    assert twice_defined(text) == {}
    assert twice_defined(text + "x/a.p/two.c.o:00 D name\n") == {"name": ["x_one.c", "x_two.c"]}
    own, other = "struct part {\n};\n", "typedef struct part {\n} part;\n"
    assert twice_declared({"a.c": own, "b.c": other}) == {}
    assert twice_declared({"a.h": own, "b.c": "struct part *part;\n"}) == {}
    assert twice_declared({"a.h": own, "b.c": other}) == {"part": ["a.h", "b.c"]}
    assert twice_declared({"a.h": own, "b.c": "struct __attribute__((packed)) part {\n"}) == {"part": ["a.h", "b.c"]}
