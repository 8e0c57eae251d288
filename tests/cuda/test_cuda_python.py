# SPDX-License-Identifier: Apache-2.0
"""Call stacks of a CUDA program in Python end in the lines of Python that issued each command."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e"), str(HERE)]
from cuda_programs import on  # noqa: E402, F401
from recorded import SANITIZED  # noqa: E402

PROGRAM = HERE / "python_program.py"
LINES = {text.strip(): number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1)}
pytestmark = [
    pytest.mark.skipif(SANITIZED, reason="Python cannot load a library that was built for a sanitizer"),
    pytest.mark.skipif(sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] <= (3, 13),
                       reason="frames of this Python are not known")]


def line(text):
    found, = (number for known, number in LINES.items() if known.startswith(text))
    return found


DO = ("do", line("result = getattr"))


@pytest.mark.parametrize("options", [(), ("--no-cupti",)])
def test_a_command_has_the_lines_of_python_that_issued_it(on, options):  # noqa: F811
    done = on.record([sys.executable, PROGRAM], "--call-stacks", *options)
    assert (done.status, done.out) == (0, b"done\n"), done.errors.decode()
    rows = {row["what"]: row for row in on.report(done.folder)["sites"]}
    ways = {what: [(frame["function"], frame["line"]) for frame in row["frames"] if frame["file"] == str(PROGRAM)]
            for what, row in rows.items()}
    assert ways["fill"] == [DO, ("fill", line('do("cuMemsetD8Async"'))]
    # The same calls of C from two lines are two stacks: one in the loop, one behind it.
    assert rows["empty"]["count"] == 3 and rows["empty"]["stacks"] == 2
    launch, inner = ("launch", line('do("cuLaunchKernel"')), LINES["launch(function)"]
    assert ways["empty"][:2] == [DO, launch] and ways["empty"][2] in (("Work.inner", inner - 1), ("Work.inner", inner))
    assert ways["empty"][3:] == [("main", line("Work().inner")), ("<module>", len(PROGRAM.read_text().splitlines()))]
    assert ways["cuModuleLoadDataEx"][1] == ("main", line('do("cuModuleLoadDataEx"'))
    assert {row["site"] for row in rows.values()} == {f"python_program.py:{DO[1]}"}
    # What the interpreter itself is at is left out.
    assert not any("python3" in (frame["module"] or "").rsplit("/", 1)[-1]
                   for row in rows.values() for frame in row["frames"])
