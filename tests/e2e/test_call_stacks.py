# SPDX-License-Identifier: Apache-2.0
"""--call-stacks: commands and calls lead to the lines that issued them. The lines are those marked in
the programs' texts (// HERE: name), or the next one where the mark stands alone."""
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import perfetto  # noqa: E402
from recorded import BUILD, PROGRAMS, SANITIZED, Recorder, built  # noqa: E402, F401

pytestmark = built()
SOURCES = pathlib.Path(__file__).parent.parent / "programs"
NO_READER = "TARE_HAVE_SYMBOLS 0" in (BUILD / "tare_config.h").read_text()
needs_lines = pytest.mark.skipif(NO_READER, reason="built without elfutils")


def here(file, mark):
    """"sites.c:20" of the line that is marked."""
    lines = (SOURCES / file).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if line.endswith(f"// HERE: {mark}"))
    alone = lines[number - 1].strip().startswith("//")
    return f"{file}:{number + alone}"


def sites(report, **wanted):
    return [row["site"] for row in report["sites"] if all(row[key] == value for key, value in wanted.items())]


def frame_names(row):
    return [f"{os.path.basename(frame['file'] or '')}:{frame['line']}" for frame in row["frames"]]


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("stacks"), kernel_cache)


def recorded(recorder, *command, name="run", more=("--call-stacks",)):
    done = recorder.record(command, *more, name=name, timeout=120)
    assert done.status == 0, done.errors.decode()
    return done.folder, recorder.report(done.folder)


@pytest.fixture(scope="module")
def plain(recorder):
    return recorded(recorder, PROGRAMS / "sites", name="plain")


def text_of(recorder, folder, *more):
    done = subprocess.run([recorder.tare, "report", folder, *more], capture_output=True, check=True, text=True)
    return done.stdout


@needs_lines
def test_commands_lead_to_their_lines(plain):
    _, report = plain
    assert sites(report, what="add_one") == [here("sites.c", "kernel")]
    assert here("sites.c", "write") in sites(report, what="write")
    assert sites(report, what="read") == [here("sites.c", "read")]
    assert sites(report, what="clFinish") == [here("sites.c", "finish")]
    assert here("sites.c", "allocate") in sites(report, what="clCreateBuffer")
    assert sites(report, what="clEnqueueReadBuffer", kind=None) == [here("sites.c", "refused")]
    counts = {(row["site"], row["what"]): row["count"] for row in report["sites"]}
    assert counts[here("sites.c", "write"), "write"] == counts[here("sites.c", "kernel"), "add_one"] == 5


@needs_lines
def test_a_stack_has_the_lines_on_the_way(plain):
    _, report = plain
    row = next(row for row in report["sites"] if row["site"] == here("sites.c", "write"))
    assert frame_names(row)[:3] == [here("sites.c", name) for name in ("write", "put", "advance")]
    assert [frame["inlined"] for frame in row["frames"][:3]] == [True, False, False]
    assert [frame["function"] for frame in row["frames"][:4]] == ["put", "advance", "plain", "main"]


def test_every_command_has_a_site_and_queries_have_none(plain):
    _, report = plain
    commands = sum(row["count"] for row in report["sites"] if row["kind"])
    assert commands == report["coverage"]["enqueued"]
    assert not [what for what in {row["what"] for row in report["sites"]} if "Get" in what or "Set" in what]


def test_what_it_costs_is_said(recorder, plain):
    folder, report = plain
    coverage = report["coverage"]
    assert coverage["stacks"] == sum(row["count"] for row in report["sites"])
    assert 0 < coverage["stack_cost_ns"] * coverage["stacks"] <= coverage["self_cost_ns"] + 1
    assert re.search(r"call stacks cost about [\d.]+ [nµm]s a command", text_of(recorder, folder))


@needs_lines
def test_the_text_shows_sites_and_with_v_their_stacks(recorder, plain):
    folder, _ = plain
    text = text_of(recorder, folder)
    assert f"  {here('sites.c', 'kernel')}" in text and "advance at" not in text
    assert f"\n  issued from add_one: {here('sites.c', 'kernel')}\n" in text
    transfers = re.search(r"\nTransfers.*?\n  issued from (.*?)\n *\n", text, re.S)[1]
    assert re.fullmatch(rf"(?=.*\bwrite: \w+\.c:\d+ and 1 more\b).*\bread: {here('sites.c', 'read')}\b.*",
                        " ".join(transfers.split())), transfers
    assert max(map(len, text.splitlines())) <= 80
    assert f"advance at {here('sites.c', 'kernel')}" in text_of(recorder, folder, "-v")


def test_without_the_option_there_is_none(recorder):
    folder, report = recorded(recorder, PROGRAMS / "sites", name="without", more=())
    assert report["sites"] == [] and report["coverage"]["stacks"] == 0
    assert report["coverage"]["stack_cost_ns"] is None
    assert "Call sites" not in text_of(recorder, folder) and "issued from" not in text_of(recorder, folder)


@needs_lines
def test_exports_have_the_sites(recorder, plain, tmp_path):
    folder, report = plain
    subprocess.run([recorder.tare, "export", folder, "--csv", tmp_path / "csv", "--perfetto", tmp_path / "out.pftrace"],
                   check=True, capture_output=True)
    tables = {}
    for name in ("command", "call", "stack", "frame", "kernel"):
        with open(tmp_path / "csv" / f"{name}.csv", newline="", encoding="utf-8") as file:
            tables[name] = list(csv.DictReader(file))
    stacks = {row["stack"]: row for row in tables["stack"]}
    kernel = next(row for row in tables["command"] if row["kind"] == "kernel")
    stack = stacks[kernel["stack"]]
    assert (stack["site"], stack["function"]) == (here("sites.c", "kernel"), "advance")
    assert f"{os.path.basename(stack['file'])}:{stack['line']}" == stack["site"]
    frames = [row for row in tables["frame"] if row["stack"] == kernel["stack"]]
    theirs = next(row["frames"] for row in report["sites"] if row["what"] == "add_one")
    assert [row["level"] for row in frames] == [str(i) for i in range(len(theirs))]
    for mine, frame in zip(frames, theirs):
        assert (mine["function"] or None, mine["line"] or "None", mine["module"]) == (
            frame["function"], str(frame["line"]), frame["module"])
    counts = collections.Counter(stacks[row["stack"]]["site"] for row in tables["command"])
    wanted = collections.Counter()
    for row in report["sites"]:
        wanted[row["site"]] += row["count"] * bool(row["kind"])
    assert counts == +wanted
    # The same as what Perfetto shows of a slice, and on the queue's line.
    slices = perfetto.Trace((tmp_path / "out.pftrace").read_bytes()).slices()
    for category, table in (("command", "command"), ("queue", "command"), ("call", "call")):
        mine = collections.Counter(piece["notes"].get("site", "") for piece in slices if piece["category"] == category)
        assert mine == collections.Counter(
            row["stack"] and stacks[row["stack"]]["site"] for row in tables[table]), category
    notes = next(piece["notes"] for piece in slices if piece["name"] == "add_one")
    assert (notes["site"], notes["site_function"]) == (here("sites.c", "kernel"), "advance")


@needs_lines
@pytest.mark.parametrize("word, outer", [("bare", None), ("signal", "main"), ("astray", None)])
def test_stacks_that_are_hard(recorder, word, outer):
    """No unwind tables; a signal handler on its own stack; a stack that returns to nowhere."""
    if SANITIZED and word == "astray":
        pytest.skip("the sanitizer takes the other stack for an overflow")
    _, report = recorded(recorder, PROGRAMS / "sites", word, name=word)
    file = "sites_bare.c" if word == "bare" else "sites.c"
    row = next(row for row in report["sites"] if row["site"] == here(file, word))
    names = [frame["function"] for frame in row["frames"]]
    assert ("main" in names) if outer else len(names) <= 2


@needs_lines
@pytest.mark.skipif(not (PROGRAMS / "sites_plus").exists(), reason="no C++ compiler")
def test_cpp(recorder):
    _, report = recorded(recorder, PROGRAMS / "sites_plus", name="plus")
    assert here("sites_plus.cpp", "plus") in sites(report, what="write")
    assert sites(report, what="add_one") == [here("sites_plus.cpp", "step")]
    functions = {frame["function"] for row in report["sites"] for frame in row["frames"]}
    assert {"solver::grid<int>::put()", "solver::grid<int>::step()"} <= functions
    # Debug information has a lambda inside of a function whose addresses are others.
    fill = next(row for row in report["sites"] if row["what"] == "fill")
    assert frame_names(fill)[:2] == [here("sites_plus.cpp", "clear"), here("sites_plus.cpp", "lambda")]



@needs_lines
@pytest.mark.skipif(SANITIZED, reason="Python cannot load a library that was built for a sanitizer")
def test_c_under_python(recorder):
    _, report = recorded(recorder, "/usr/bin/python3", SOURCES / "sites.py", PROGRAMS / "libsites_library.so",
                         name="python")
    assert sites(report, what="add_one") == [here("sites_library.c", "library")]


@needs_lines
@pytest.mark.skipif(SANITIZED, reason="as without")
def test_a_program_that_is_stripped_rebuilt_gone(recorder, tmp_path):
    program = tmp_path / "app"
    shutil.copy(PROGRAMS / "sites", program)
    subprocess.run(["strip", program], check=True)
    folder, report = recorded(recorder, program, name="stripped")
    address = sites(report, what="add_one")[0]
    assert re.fullmatch(r"app\+0x[0-9a-f]+", address)
    assert {"id": "call-sites", "concerns_figures": False,
            "text": "app has no debug information, so its lines are not known: build it with -g"
            } in report["problems"]
    # The address is that of the call in the file: the same as with debug information.
    assert next(row["frames"][0]["address"] for row in report["sites"] if row["what"] == "add_one") == \
        int(address.split("+")[1], 16)
    shutil.copy(PROGRAMS / "features", program)
    report = recorder.report(folder)
    assert sites(report, what="add_one") == [address]
    assert any("was rebuilt" in problem["text"] for problem in report["problems"])
    program.unlink()
    report = recorder.report(folder)
    assert sites(report, what="add_one") == [address]
    assert any("not there any more" in problem["text"] for problem in report["problems"])


@needs_lines
@pytest.mark.skipif(SANITIZED, reason="as without")
def test_debug_information_in_a_file_of_its_own(recorder, tmp_path):
    program = tmp_path / "app"
    shutil.copy(PROGRAMS / "sites", program)
    for words in (["--only-keep-debug", program, tmp_path / "app.debug"], ["--strip-all", program],
                  [f"--add-gnu-debuglink={tmp_path}/app.debug", program]):
        subprocess.run(["objcopy", *words], check=True)
    _, report = recorded(recorder, program, name="separate")
    assert sites(report, what="add_one") == [here("sites.c", "kernel")]


@needs_lines
def test_the_child_of_a_fork_defines_its_own(recorder):
    _, report = recorded(recorder, PROGRAMS / "sites", "fork", name="fork")
    assert len(report["processes"]) == 2
    row = next(row for row in report["sites"] if row["site"] == here("sites.c", "fork"))
    assert row["count"] == 4 and row["stacks"] == 2
    assert report["coverage"]["stack_cost_ns"] > 0 and report["coverage"]["self_cost_ns"] > 0


@needs_lines
def test_a_stack_that_differs_further_out_is_another(recorder):
    """The recorder knows a stack again by its return addresses: all of them count."""
    _, report = recorded(recorder, PROGRAMS / "sites", "callers", name="callers")
    row = next(row for row in report["sites"] if row["site"] == here("sites.c", "fork"))
    assert row["count"] == 12 and row["stacks"] == 2


def test_what_is_kept_of_a_small_file_keeps_its_stacks(recorder):
    """--keep newest uses windows of events again, but not what the stacks are defined in."""
    folder, report = recorded(recorder, PROGRAMS / "stress", "14000", name="newest",
                              more=("--call-stacks", "--max-size", "2M", "--keep", "newest"))
    coverage = report["coverage"]
    assert coverage["lost_commands"] > 0
    kept = coverage["enqueued"] - coverage["lost_commands"]
    assert sum(row["count"] for row in report["sites"] if row["kind"]) >= kept - 2 > 0
