# SPDX-License-Identifier: Apache-2.0
"""No two files of a room need each other: an orchestrator does not hold the helpers of its parts. Seen in what was
built, by the names that each object defines and needs."""
import collections
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["TARE_BUILD"])
ROOMS = ["analysis", "backend", "base", "blocks", "cli", "export", "guest", "measure", "model", "record", "report", "result", "sample"]
# What runs inside the user's program beside the recorder's core: a library each, of objects.
INSIDE = ["tare-cuda", "tare-samples"]


def needs(text):
    """{object: those that it needs} of what `nm -A` prints of a library."""
    defines, wants = collections.defaultdict(set), collections.defaultdict(set)
    for line in text.splitlines():
        where, _, what = line.rpartition(":")
        words = what.split()
        if len(words) == 3 and words[1] in "TDBRVWC":
            defines[words[2]].add(where)
        elif len(words) == 2 and words[0] == "U":
            wants[where].add(words[1])
    return {where: {other for name in names for other in defines[name]} - {where} for where, names in wants.items()}


def circles(graph):
    """Objects that reach themselves."""
    def reached(start):
        seen, left = set(), [start]
        while left:
            for other in graph.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen
    return sorted(pathlib.PurePath(where).name for where in graph if where in reached(where))


def circles_of(objects):
    done = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True)
    graph = needs(done.stdout)
    assert len(graph) > 1
    return circles(graph)


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm here")
@pytest.mark.parametrize("room", ROOMS)
def test_no_file_needs_one_that_needs_it(room):
    assert circles_of([BUILD / "src" / room / f"libtare_{room}.a"]) == []


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm here")
@pytest.mark.parametrize("library", INSIDE)
def test_no_file_inside_the_program_needs_one_that_needs_it(library):
    # Of what is built now: an object of a source that is gone may still lie there.
    outputs = [entry["output"] for entry in json.loads((BUILD / "compile_commands.json").read_text())]
    outputs = [output for output in outputs if f"lib{library}.so.p/" in output]
    objects = [BUILD / output for output in outputs if (BUILD / output).exists()]
    if not objects:
        assert not (BUILD / "src/guest" / f"lib{library}.so").exists(), "no objects are known of it"
        pytest.skip("it is not built here")
    assert circles_of(objects) == []


def test_a_circle_is_seen():
    text = "l.a:a.o:00 T one\nl.a:a.o: U two\nl.a:b.o:00 T two\nl.a:b.o: U three\nl.a:c.o:00 T three\n"
    assert circles(needs(text)) == []
    assert [name.split(":")[1] for name in circles(needs(text + "l.a:c.o: U one\n"))] == ["a.o", "b.o", "c.o"]
