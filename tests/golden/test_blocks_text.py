# SPDX-License-Identifier: Apache-2.0
"""What tare blocks writes of kernels that were made by hand: exact texts, the CSV beside the JSON, tables on the page.

TARE_UPDATE_GOLDEN=1 writes the texts anew; the difference is then what there is to review.
"""
import csv
import html
import json
import os
import pathlib
import re
import sqlite3
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM, ONE_MORE = os.environ.get("TARE_BLOCKS_FIXTURE"), os.environ.get("TARE_BLOCKS_ONE_MORE")


def fixture(*arguments, program=PROGRAM):
    if not program:
        pytest.skip("TARE_BLOCKS_FIXTURE does not name the program")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, check=True, timeout=60,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout.decode("utf-8")


def rows(of):
    return list(csv.DictReader(fixture(of, "csv").splitlines()))


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("of", ["sampled", "options"])
def test_text(of, columns):
    written, path = fixture(of, "text", columns), HERE / f"blocks-{of}-{columns}.txt"
    if os.environ.get("TARE_UPDATE_GOLDEN") == "1":
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8")


def test_an_instruction_of_the_csv_is_that_of_the_json():
    kernel = json.loads(fixture("sampled", "json"))["cuda"]["kernels"][0]
    exact = {row["pc"]: row for row in kernel["exact"]["instructions"]}
    found = [row for row in rows("sampled") if row["kernel"] == kernel["name"]]
    assert [int(row["pc"]) for row in found] == sorted(exact)
    for row in found:
        met = next((one for one in kernel["instructions"] if one["pc"] == int(row["pc"])), None)
        assert int(row["samples"]) == (met["samples"] if met else 0)
        assert {name: int(row[name]) for name in (met or {"stalls": {}})["stalls"]} == (met or {"stalls": {}})["stalls"]
        assert (int(row["executions"]), int(row["lanes"])) == (exact[int(row["pc"])]["executed"], exact[int(row["pc"])]["lanes"])
        assert row["instruction"] == exact[int(row["pc"])]["text"] and row["file"] and int(row["line"])


def test_what_is_not_known_of_an_instruction_is_empty():
    row = rows("sampled")[-1]
    assert row["kernel"] == "elsewhere" and row["samples"] == "5"
    assert {row[name] for name in ("block", "file", "line", "executions", "lanes")} == {""}


def test_a_block_of_the_csv_is_that_of_the_json():
    kernel, = json.loads(fixture("counted", "json"))["kernels"]
    for row, block in zip(rows("counted"), kernel["blocks"], strict=True):
        assert (int(row["block"]), int(row["executions"]), row["function"]) == (block["block"], block["executions"], block["function"])
        assert row["first_line"] == str(block["first_line"] or "") and int(row["instructions_once"]) == block["once"]["instructions"]
        for kind, count in block["once"]["kinds"].items():
            assert int(row[f"{kind}_once"]) == count
        for figure in ("loads", "stores", "loaded_bytes", "stored_bytes"):
            assert {space: int(row[f"{space}_{figure}_once"]) for space in block["once"][figure]} == block["once"][figure]


@pytest.mark.parametrize("of, way", [
    ("sampled", "cuda kernels"), ("sampled", "cuda kernels blocks"), ("sampled", "cuda kernels lines"),
    ("sampled", "cuda kernels instructions"), ("sampled", "cuda kernels findings"), ("sampled", "cuda kernels exact instructions"),
    ("options", "options kernels sets"), ("counted", "kernels blocks"), ("counted", "kernels lines")])
def test_a_table_of_the_database_is_a_list_of_the_json(tmp_path, of, way):
    path = tmp_path / "blocks.db"
    fixture(of, "sqlite", path)
    lists = [[json.loads(fixture(of, "json"))]]
    for key in way.split():
        lists = [row[key] for rows in lists for row in rows if row.get(key) is not None]
        lists = [[one] if isinstance(one, dict) else one for one in lists]
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    rows = database.execute(f"SELECT * FROM {way.replace(' ', '_')} ORDER BY row").fetchall()
    expected = [one for rows in lists for one in rows]
    assert len(rows) == len(expected) > 0 and [row["row"] for row in rows] == list(range(1, len(rows) + 1))
    for row, one in zip(rows, expected):
        shared = {key: value for key, value in one.items() if key in row.keys() and not isinstance(value, (dict, list))}
        assert shared and shared == {key: row[key] for key in shared}


def test_maps_of_the_database_have_what_the_json_has(tmp_path):
    path = tmp_path / "blocks.db"
    fixture("sampled", "sqlite", path)
    kernels = json.loads(fixture("sampled", "json"))["cuda"]["kernels"]
    for number, kernel in enumerate(kernels, 1):
        pairs = sqlite3.connect(path).execute("SELECT stall, samples FROM cuda_kernels_stalls WHERE parent = ?", [number])
        assert dict(pairs) == kernel["stalls"] != {}


def test_ptx_is_called_so_and_listed_and_what_does_nothing_with_it_is_said():
    text, page = fixture("ptx", "text", 200), fixture("ptx", "html")
    for said in ("before the optimisation: n/a, because PTX is counted as the program brought it", "because PTX is not sampled",
                 "time: n/a, because the host's clock tells nothing of a device that is no CPU",
                 "counts are missing: 63", "counts of 1 launch had been read", "at least these bytes: 1 copy", "not counted: 3 launches"):
        assert said in text and said in html.unescape(page)
    assert "SPIR-V" not in page and "instructions of PTX" in page and "add.s32 %r2, %r1, 1" in page
    block, = json.loads(fixture("ptx", "json"))["kernels"][0]["blocks"]
    assert [row["instruction"] for row in block["code"]] == ["ld.param.u32 %r1, [add_n]", "add.s32 %r2, %r1, 1", "ret"]


def test_a_set_of_the_csv_is_that_of_the_json():
    options = json.loads(fixture("options", "json"))["options"]
    cells = [(kernel["name"], cell) for kernel in options["kernels"] for cell in kernel["sets"]]
    for row, (name, cell) in zip(rows("options"), cells, strict=True):
        assert (row["kernel"], row["best"]) == (name or "", "yes" if cell["best"] else "no")
        assert float(row["time_ns"]) == sorted(cell["times_ns"])[2] / 2 + sorted(cell["times_ns"])[3] / 2
        assert row["spill_bytes"] == "" and int(row["local_bytes"]) == cell["local_bytes"]
        assert (float(row["ratio"]) if row["ratio"] else None) == (cell["ratio"]["value"] if cell["ratio"] else None)
        assert row["instructions"] == (str(cell["total"]["instructions"]) if cell["total"] else "")
    assert rows("options")[0]["told"] == ""


def test_the_page_has_the_cells_of_the_text():
    page, text = fixture("sampled", "html"), fixture("sampled", "text", 200)
    tables = [[[html.unescape(re.sub("<.*?>", "", cell)) for cell in re.split("<t[dh][^>]*>", row)[1:]] for row in table.splitlines()]
              for table in re.findall("<table><tr>(<th.*?)</table>", page, re.S)]
    blocks = next(table for table in tables if "waits" in table[0])
    assert len(blocks) == 4 and [table for table in tables if table[0][0] == "class"]
    lines = [line.split() for line in text.splitlines()]
    assert all(" ".join(row).split() in lines for row in blocks)


def test_one_line_more_is_a_column_of_the_text_the_json_and_the_csv():
    text, table = (fixture("sampled", how, 160, program=ONE_MORE) for how in ("text", "csv"))
    kernel = json.loads(fixture("sampled", "json", program=ONE_MORE))["cuda"]["kernels"][0]
    waiting = {row["pc"]: row["waiting"] for row in kernel["instructions"]}
    assert waiting == {row["pc"]: row["samples"] - row["stalls"].get("selected", 0) for row in kernel["instructions"]} and any(waiting.values())
    found = [row for row in csv.DictReader(table.splitlines()) if row["kernel"] == kernel["name"] and row["samples"] != "0"]
    assert {int(row["pc"]): int(row["waiting"]) for row in found} == waiting
    assert next(line for line in text.splitlines() if line.endswith(" waiting")).split()[0] == "pc"
    assert "waiting" not in rows("sampled")[0]
