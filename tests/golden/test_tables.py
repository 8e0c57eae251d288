# SPDX-License-Identifier: Apache-2.0
"""Tables are declared once: what follows from the declarations is up to date, and one line more in a declaration is
one column more in the text, the JSON, the CSV, the SQLite, the page, the schema and the documentation."""
import csv
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FIXTURE, ONE_MORE = os.environ.get("TARE_REPORT_FIXTURE"), os.environ.get("TARE_ONE_MORE_COLUMN")
RUNS = ["simulate", "many", "strict", "unflushed", "writing", "nothing", "silent"]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))


def loaded_tool():
    loader = importlib.machinery.SourceFileLoader("tables_tool", str(ROOT / "tools" / "tables"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables_tool", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
TOOL = loaded_tool()


def output(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=60,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode == 77:
        pytest.skip("this tare was built without that")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


def test_what_follows_from_the_declarations_is_up_to_date():
    done = subprocess.run([sys.executable, "-B", ROOT / "tools" / "tables", FIXTURE, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def value_at(row, path):
    """The value where the path leads, "null" where what it leads through is null."""
    for key in path:
        if row is None:
            return None
        row = row[key]
    return row


@pytest.mark.parametrize("run", RUNS)
def test_what_is_declared_is_what_the_json_has(run):
    written = json.loads(output(FIXTURE, run, "json"))
    for table in TOOL.declarations(FIXTURE):
        for row in written[table["id"]]:
            assert set(row) == {column["path"][0] for column in table["columns"]}
            for column in table["columns"]:
                value = value_at(row, column["path"])
                inside = any(value_at(row, column["path"][:i]) is None for i in range(1, len(column["path"])))
                assert value is not None or inside or column["may_be_absent"], (table["id"], column["id"])


@pytest.mark.parametrize("which", ["runs", *TOOL.DOCUMENTS])
def test_every_table_and_column_is_named_once_and_described(which):
    tables = TOOL.declarations(FIXTURE)
    if which != "runs":
        document = next(table for table in TOOL.declarations(FIXTURE, "documents") if table["id"] == which)
        tables = [document, *(table for _, table in TOOL.tables_within(document).values())]
    assert len({table["id"] for table in tables}) == len(tables) >= 1
    for table in tables:
        names = [column["id"] for column in table["columns"]]
        assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
        # An id within a group begins with the group's, so that the JSON's key can be told from it.
        assert all("_".join(column["path"]) == column["id"] for column in table["columns"])
        assert all(column["doc"] and (column["title"] or "of" in column) and not column["doc"].endswith(".") for column in table["columns"])


# ---- one line more

def task(rows):
    return next(row for row in rows if row["total_ns"])


def test_one_line_is_a_column_of_the_json_and_of_the_schema(tmp_path):
    import jsonschema

    written = json.loads(output(ONE_MORE, "json"))
    assert task(written["tasks"])["one_more_ns"] == task(written["tasks"])["total_ns"] + 1
    subprocess.run([sys.executable, "-B", ROOT / "tools" / "tables", ONE_MORE, "--into", tmp_path], check=True)
    schema = json.loads((tmp_path / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)
    with pytest.raises(jsonschema.ValidationError, match="one_more_ns"):
        jsonschema.Draft202012Validator(json.loads(TOOL.SCHEMA.read_text(encoding="utf-8"))).validate(written)
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").count("| `one_more_ns` |  | one more | ns | one more than the total |") == 2


def test_one_line_is_a_column_of_the_text():
    head = next(line for line in output(ONE_MORE, "text").splitlines() if line.startswith("  kernel "))
    assert "one more" in head and "one more" not in output(FIXTURE, "simulate", "text", 200, 0)


def test_one_line_is_a_column_of_csv_and_sqlite(tmp_path):
    output(ONE_MORE, "csv", tmp_path)
    with open(tmp_path / "report_tasks.csv", encoding="utf-8", newline="") as file:
        row = task(list(csv.DictReader(file)))
    assert int(row["one_more_ns"]) == int(row["total_ns"]) + 1
    output(ONE_MORE, "sqlite", tmp_path / "out.db")
    kept = sqlite3.connect(tmp_path / "out.db").execute(
        "SELECT one_more_ns - total_ns FROM report_tasks WHERE total_ns").fetchall()
    assert kept and {value for value, in kept} == {1}


def test_one_line_is_a_column_of_the_page():
    page = output(ONE_MORE, "page")
    declared = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page, re.S)[1])
    column = next(column for table in declared if table["id"] == "tasks" for column in table["columns"]
                  if column["id"] == "one_more_ns")
    assert column["on_page"] and column["shown"] == "time" and column["path"] == ["one_more_ns"]
    assert "one_more_ns" not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.S)


# ---- one line more in a list of results

SAVED = ROOT / "tests" / "golden" / "saved" / "h200-latency-cuda.json"


def test_one_line_is_a_column_of_a_results_text():
    text = output(ONE_MORE, "result", "text", SAVED)
    head = next(line for line in text.splitlines() if " median " in line)
    assert head.split()[-3:] == ["clock", "one", "more"]


def test_one_line_is_a_column_of_a_results_csv():
    rows = list(csv.DictReader(output(ONE_MORE, "result", "csv", SAVED).splitlines()))
    cells = json.loads(SAVED.read_text(encoding="utf-8"))["cells"]
    assert [row["max"] for row in rows[:len(cells)]] == ["" if cell["max"] is None else str(cell["max"]) for cell in cells]
    assert any(row["max"] for row in rows)


def tables_of(document):
    return [table for part in [document, *document.get("parts", [])] for table in part.get("tables", [])]


def test_one_line_is_a_column_of_a_results_json_schema_and_documentation(tmp_path):
    import jsonschema

    written = json.loads(output(ONE_MORE, "result", "json", SAVED))
    table, = tables_of(written)
    greatest = [cell["max"] for cell in written["cells"] if not cell["absent"]]
    assert [row["max"] is None for row in table["rows"]] == [most is None for most in greatest]
    assert any(row["max"] and row["max"] > row["median"] for row in table["rows"])
    subprocess.run([sys.executable, "-B", ROOT / "tools" / "tables", ONE_MORE, "--into", tmp_path], check=True)
    schema = json.loads((tmp_path / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)
    now = jsonschema.Draft202012Validator(json.loads(TOOL.RESULT_SCHEMA.read_text(encoding="utf-8")))
    assert not now.is_valid(written) and now.is_valid(json.loads(SAVED.read_text(encoding="utf-8")))
    assert "| `max` |  | one more |  | the largest |" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_one_line_is_a_column_of_a_results_page():
    page = output(ONE_MORE, "result", "page", SAVED)
    declared = json.loads(re.search(r'<script type="application/json" id="tare-tables">(.*?)</script>', page, re.S)[1])
    latency = next(table for table in declared["declared"] if table["id"] == "latency")
    assert latency["columns"][-1]["id"] == "max"
    assert "one more" not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.S)


def test_one_line_is_a_column_of_the_csv_that_a_results_page_offers():
    page = output(ONE_MORE, "result", "page", SAVED)
    offered = json.loads(re.search(r'<script type="application/json" id="tare-csv">(.*?)</script>', page, re.S)[1])
    assert offered.splitlines() == output(ONE_MORE, "result", "csv", SAVED).splitlines()


# ---- the fields of results

@pytest.fixture(scope="module")
def fields():
    return TOOL.declarations(FIXTURE, "fields")


def schema_of(fields):
    return json.loads(TOOL.result_schema(fields, []))


def field_at(record, *path):
    for key in path[:-1]:
        record = next(field for field in record["fields"] if field["key"] == key)["of"]
    return next(field for field in record["fields"] if field["key"] == path[-1])


def test_one_line_is_a_field_of_a_results_schema(fields):
    kept = schema_of(fields)
    cells = field_at(fields, "cells")["of"]
    more = {**field_at(fields, "cells", "max"), "key": "one_more", "doc": "One more."}
    cells["fields"].append(more)
    changed = schema_of(fields)
    cells["fields"].pop()
    assert changed["$defs"]["cell"]["properties"].pop("one_more") == {"description": "One more.", "type": ["integer", "null"]}
    assert changed["$defs"]["cell"]["required"].pop() == "one_more" and changed == kept


# Where a field stands in the schema, a change of its line, and what then differs there.
@pytest.mark.parametrize("path, place, change, then", [
    (("clock", "rate", "valid_bits"), "clock/properties/rate/properties", {"most": 0}, {"type": "integer", "minimum": 1}),
    (("clock", "rate", "valid_bits"), "clock/properties/rate/properties", {"least": 0, "most": 0}, {"$ref": "#/$defs/count"}),
    (("cells", "n"), "cell/properties", {"null": True, "doc": "How many."}, {"description": "How many.", "$ref": "#/$defs/count_or_null"}),
    (("cells", "source"), "cell/properties", {"words": ["oracle"], "doc": "Whose."}, {"description": "Whose.", "enum": ["oracle"]}),
    (("cells", "converged"), "cell/properties", {"kind": "share"}, {"$ref": "#/$defs/share_or_null"}),
    (("devices", "kernels", "file"), "device/properties/kernels/properties", {"schema": "{'minLength': 1}"},
     {"$ref": "#/$defs/text", "minLength": 1}),
    (("plots", "note"), "plot/properties", {"schema": "{'type': 'null'}"}, {"type": "null"}),
])
def test_what_a_line_says_of_a_field_is_what_its_schema_says(path, place, change, then):
    fields = TOOL.declarations(FIXTURE, "fields")
    places = [path, ("device", *path[1:])] if path[0] == "devices" else [path]
    for each in places:
        field_at(fields, *each).update(change)
    schema = schema_of(fields)["$defs"]
    for step in [*place.split("/"), path[-1]]:
        schema = schema[step]
    assert schema == then
    for each in places:
        field_at(fields, *each).update(left_out=True)
    owner = schema_of(fields)["$defs"]
    for step in place.split("/")[:-1]:
        owner = owner[step]
    assert path[-1] not in owner["required"] and path[-1] in owner["properties"]


# ---- one line more in the list of counted kernels

def test_one_line_is_a_column_of_counted_kernels_everywhere(tmp_path):
    import jsonschema

    written = json.loads(output(ONE_MORE, "hotspots", "json"))
    assert all(kernel["one_more_ns"] == kernel["total_ns"] + 1 for kernel in written["kernels"]) and len(written["kernels"]) > 5
    head = output(ONE_MORE, "hotspots", "text").splitlines()[0]
    assert head.split()[:5] == ["kernel", "ms", "share", "active", "cores"] and head.endswith("one more")
    page = output(ONE_MORE, "hotspots", "page")
    declared = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page, re.S)[1])
    column = next(column for table in declared if table["id"] == "kernels" for column in table["columns"] if column["id"] == "one_more_ns")
    assert column["on_page"] and column["shown"] == "time"
    assert "one_more_ns" not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.S)
    subprocess.run([sys.executable, "-B", ROOT / "tools" / "tables", ONE_MORE, "--into", tmp_path], check=True)
    jsonschema.Draft202012Validator(json.loads((tmp_path / "hotspots.schema.json").read_text(encoding="utf-8"))).validate(written)
    with pytest.raises(jsonschema.ValidationError, match="one_more_ns"):
        jsonschema.Draft202012Validator(json.loads(TOOL.DOCUMENTS["hotspots"][0].read_text(encoding="utf-8"))).validate(written)


# ---- tables of results

@pytest.mark.parametrize("path", sorted(SAVED.parent.glob("*.json")), ids=lambda path: path.stem)
def test_a_results_tables_are_those_of_its_text(path):
    """Each row that the text shows is one of the JSON; what is said of it is not lost: a star, a reason, wrong data."""
    import jsonschema

    written = json.loads(output(ONE_MORE, "result", "json", path))
    text = output(ONE_MORE, "result", "text", path)
    declared = {table["id"]: table for table in TOOL.declarations(FIXTURE, "results")}
    for part in [written, *written.get("parts", [])]:
        assert part.get("tables") or not part.get("cells")
    for table in tables_of(written):
        columns = {column["id"]: column for column in declared[table["id"]]["columns"]}
        for row in table["rows"]:
            assert table["rows"] and row.keys() - columns.keys() <= {"marks", "max"}
            for name, mark in row.get("marks", {}).items():
                key, _, title = name.partition("/")
                value = row[key][table["titles"][key].index(title)] if title else row[key]
                assert (mark == "not_converged") == (value is not None), (table["id"], name)
            assert all(len(row[key]) == len(titles) for key, titles in table["titles"].items())
            first = next(iter(row.values()))
            assert isinstance(first, (int, float)) or first in text, (table["id"], first)
            row.pop("max", None)
    jsonschema.Draft202012Validator(json.loads(TOOL.RESULT_SCHEMA.read_text(encoding="utf-8"))).validate(written)


def test_a_row_says_what_speaks_against_its_figures(tmp_path):
    document = json.loads((SAVED.parent / "h200-bandwidth-cuda.json").read_text(encoding="utf-8"))
    shown = [cell for cell in document["cells"] if not cell["absent"] and "bytes" in cell["labels"]]
    for cell in shown:
        cell["converged"], cell["verified"] = True, None
    shown[0]["converged"], shown[1]["verified"] = False, False
    (tmp_path / "changed.json").write_text(json.dumps(document), encoding="utf-8")
    written = json.loads(output(ONE_MORE, "result", "json", tmp_path / "changed.json"))
    rows = next(table for table in tables_of(written) if table["id"] == "bandwidth_cells")["rows"]
    assert len(rows) == len(shown)
    assert [row.get("marks") for row in rows[:3]] == [{"rate": "not_converged"}, {"rate": "wrong_data"}, None]
    assert [row["rate"] for row in rows[:3]] == [shown[0]["rate"]["median"], None, shown[2]["rate"]["median"]]
