# SPDX-License-Identifier: Apache-2.0
"""tare blocks --options: the program's builds take the options, what is counted and timed is of those, and what they
change in its results is said."""
import csv
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built  # noqa: E402, F401
from test_blocks import TOOLS, Blocks, kernel_of, once  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

ITEMS = 4096
TRIES = 4
SOURCE = """
kernel void turned(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int turn = 0; turn < TURNS * n; turn++)
        sum = sum * 0.5f + in[(i + turn) & 1023];
#ifdef OTHER
    sum += OTHER;
#endif
    out[i] = TURNS > 8 ? sum - sum + i : sum - sum + i;
#ifdef OTHER
    out[i] += OTHER;
#endif
}
"""
LONG, SHORT, OTHER = "-DTURNS=512", "-DTURNS=1", "-DOTHER=3.0f"
WORDS = ["turned", "4", str(ITEMS), "64"]


def source(folder, text=SOURCE):
    path = folder / "turned.cl"
    path.write_text(text, encoding="utf-8")
    return path


def compared(blocks, sets, own=LONG, rounds="6", **environment):
    """--options with these sets; the rows of the one kernel, by set."""
    done, document = blocks.blocks(source(blocks.folder), own, *WORDS,
                                   options=["--options", *sets, "--rounds", rounds], **environment)
    assert done.status == 0, done.errors.decode()
    options = document["options"]
    assert [one["options"] for one in options["sets"]] == [None, *sets]
    rows = [kernel["sets"] for kernel in options["kernels"] if kernel["name"] == "turned"]
    return done, document, rows[0] if rows else None


def is_faster(row, own):
    return all(time < others for time, others in zip(row["times_ns"], own["times_ns"], strict=True))


def test_the_faster_set_is_named_and_counted(once):  # noqa: F811
    """512 times the work is told from noise where no round was interrupted for as long: of several tries one is of
    that kind, and what is told is what the rounds say in all."""
    for _ in range(TRIES):
        done, document, rows = compared(once, [SHORT, "-cl-mad-enable"])
        own, short, same = rows
        assert (short["told"] == "faster") == is_faster(short, own)
        if short["told"] == "faster":
            break
    assert short["told"] == "faster" and short["best"] and short["ratio"]["high"] < 1
    assert not same["best"] or same["told"] == "faster"
    assert own["total"]["loads"]["global"] == 512 * 4 * ITEMS
    assert short["total"]["loads"]["global"] == 4 * ITEMS
    assert same["total"]["loads"]["global"] == 512 * 4 * ITEMS, "a definition of the program's own was lost"
    assert own["total"] == kernel_of(document, "turned")["total"]
    assert [len(row["times_ns"]) for row in rows] == [6, 6, 6]
    assert own["preferred_multiple"] and own["launches"] == 1
    text = done.out.decode()
    assert "best: B" in text and text.count("turned: 3 arguments") == 1, "output of other runs than the second"


def test_results_that_change_are_a_hazard(once):  # noqa: F811
    done, document, _ = compared(once, [OTHER, ""], own=SHORT, rounds="1")
    sets = document["options"]["sets"]
    assert (sets[1]["read_back"], sets[1]["output"]) == ("differs", "differs")
    assert (sets[2]["read_back"], sets[2]["output"], sets[2]["end"]) == ("same", "same", "same")
    text = done.out.decode()
    assert text.count("hazard: what the program reads back") == 1 and "fewer than 6 rounds" in text


def test_few_rounds_decide_nothing(once):  # noqa: F811
    _, _, rows = compared(once, [SHORT], rounds="2")
    assert rows[1]["told"] == "n/a" and rows[1]["ratio"] is None and not rows[1]["best"]
    assert all(time > 0 for time in rows[1]["times_ns"])


def test_what_the_driver_refuses_is_told_with_its_log(once):  # noqa: F811
    done, document, _ = compared(once, ["-cl-no-such-option", SHORT], rounds="1")
    why = document["options"]["sets"][1]["why"]
    assert "refuses to build with these options" in why and "-cl-no-such-option" in why
    assert document["options"]["sets"][2]["why"] is None
    assert why in done.out.decode()


def test_programs_of_parts_take_them_too(once):  # noqa: F811
    _, _, rows = compared(once, [SHORT], rounds="1", COUNTED_LINKED="")
    assert rows[1]["total"]["loads"]["global"] == 4 * ITEMS


def test_binaries_take_none(once, tmp_path):  # noqa: F811
    cache = {"COUNTED_CACHE": str(tmp_path / "cache")}
    assert once.native(source(once.folder), LONG, *WORDS, **cache).status == 0
    done, _, rows = compared(once, [SHORT], **cache)
    assert rows[1]["unchanged"] and rows[1]["told"] == "n/a" and rows[1]["total"] is None
    assert b"best: n/a, because its program is loaded as a binary" in done.out


LOOP = SOURCE.splitlines().index(next(line for line in SOURCE.splitlines() if "for (" in line)) + 1


def test_pragmas_are_put_before_loops_of_lines(once):  # noqa: F811
    """Unrolled by 8 a loop of 512 turns begins 64, and loads as often."""
    sets = [f"#{LOOP} unroll 8", f"-cl-mad-enable #turned:{LOOP} unroll 8", f"#{LOOP + 1} unroll 8",
            f"#elsewhere:{LOOP} unroll 8"]
    done, document, rows = compared(once, sets, rounds="1")
    controls = [row["total"] and row["total"]["kinds"]["control"] for row in rows]
    assert controls[0] > 4 * controls[1] and controls[1] == controls[2]
    assert all(row["total"]["loads"]["global"] == 512 * 4 * ITEMS for row in rows[:3])
    why = [one["why"] for one in document["options"]["sets"]]
    assert why[:3] == [None] * 3 and f"has a loop on line {LOOP + 1}" in why[3] and "with the name elsewhere" in why[4]
    assert done.out.decode().count("n/a, because no source of OpenCL C") == 2


def test_the_table_has_a_row_a_kernel_and_set(once):  # noqa: F811
    """The first rows are of all kernels together."""
    path = once.folder / "sets.csv"
    done, _ = once.blocks(source(once.folder), LONG, *WORDS,
                          options=["--options", SHORT, "--rounds", "1", "--csv", path])
    assert done.status == 0
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kernel"], row["set"], row["options"]) for row in rows] == [
        ("", "A", ""), ("", "B", SHORT), ("turned", "A", ""), ("turned", "B", SHORT)]
    assert [row["global_loads"] for row in rows] == ["", "", str(512 * 4 * ITEMS), str(4 * ITEMS)]
    assert all(float(row["time_ns"]) > 0 and row["told"] == "" for row in rows)


@pytest.mark.parametrize("words, said", [
    (["--options", "#5"], b'"#5" is no pragma'),
    (["--rounds", "65", "--options", "-w"], b"--rounds is at most 64"),
    (["--options"], b"--options: needs a value"),
    (["--options", *(f"-D{i}" for i in range(17))], b"--options: is given more than 16 times"),
])
def test_a_wrong_command_line_is_one_sentence(once, words, said):  # noqa: F811
    done, document = once.blocks(source(once.folder), LONG, *WORDS, options=words)
    assert done.status == 125 and document is None
    assert said in done.errors and done.errors.count(b"\n") == 1


def test_sets_that_cannot_be_run_end_the_comparison(once):  # noqa: F811
    """Nothing is run again and again that says nothing, and that is said once."""
    done, document, _ = compared(once, ["-cl-no-such-option", "-cl-neither"], rounds="6")
    assert document["options"]["rounds"] == 0 and b"round 1" not in done.errors and b"is counted" not in done.errors
    text = done.out.decode()
    assert text.count("no set could be run") == 1 and "no set has times" not in text
    assert text.count("refuses to build with these options") == 2
