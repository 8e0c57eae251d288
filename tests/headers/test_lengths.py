# SPDX-License-Identifier: Apache-2.0
"""What a reader can take in: no file of more than 600 lines, and no function of our own of more than 60."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ["drivers", "examples", "kernels", "src", "tests", "tools", "web"]
ENDINGS = {".c", ".h", ".def", ".cl", ".cpp", ".hpp", ".js", ".py"}
MOST_LINES = 600
FUNCTIONS_OF = ["drivers", "src"]
MOST_FUNCTION_LINES = 60


def sources(folders, endings):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in endings and path.is_file()]


def functions(text):
    """(name, line, lines between its brackets) of each function: formatted as tools/format does, those begin lines."""
    lines = text.splitlines()
    for first, line in enumerate(lines):
        if line != "{":
            continue
        begin = first
        while begin and lines[begin - 1].strip() and not lines[begin - 1].lstrip().startswith(("//", "#", "}")):
            begin -= 1
        last = next(at for at in range(first, len(lines)) if lines[at].startswith("}"))
        name = " ".join(lines[begin:first]).split("(")[0].split()[-1].lstrip("*")
        yield name, begin + 1, last - first - 1


def long_functions(texts):
    return [f"{where}:{line}: {name} has {count} lines, more than {MOST_FUNCTION_LINES}: divide it by what it does"
            for where, text in texts.items() for name, line, count in functions(text) if count > MOST_FUNCTION_LINES]


def long_files(texts):
    return [f"{where} has {text.count(chr(10))} lines, more than {MOST_LINES}: split it by subject"
            for where, text in texts.items() if text.count("\n") > MOST_LINES]


def texts(folders, endings):
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sources(folders, endings)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_has_more_lines_than_a_reader_bears(folder):
    of = texts([folder], ENDINGS)
    assert of
    assert long_files(of) == []


@pytest.mark.parametrize("folder", FUNCTIONS_OF)
def test_no_function_has_more_lines_than_a_screen(folder):
    of = texts([folder], {".c", ".h"})
    assert sum(1 for text in of.values() for _ in functions(text)) > 10
    assert long_functions(of) == []


def test_what_is_too_long_is_seen():
    short = "// why\nstatic int f(int a,\n             int b)\n{\n" + "\ta++;\n" * 60 + "}\n"
    assert list(functions("int x;\n\n" + short)) == [("f", 4, 60)]
    assert long_functions({"a.c": short}) == []
    more = short.replace("\ta++;\n", "\ta++;\n\ta++;\n", 1)
    assert long_functions({"a.c": more}) == ["a.c:2: f has 61 lines, more than 60: divide it by what it does"]
    assert long_files({"a.c": "\n" * 600}) == []
    assert long_files({"a.c": "\n" * 601}) == ["a.c has 601 lines, more than 600: split it by subject"]
