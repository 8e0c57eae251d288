# SPDX-License-Identifier: Apache-2.0
"""The schema describes what tare writes, and refuses what tare must never write."""
import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402

PROGRAM = os.environ.get("TARE_TEST_JSON")
CORPUS = pathlib.Path(__file__).parents[1] / "fuzz" / "corpus" / "result"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The documents that the unit tests of the JSON writer write."""
    if not PROGRAM:
        pytest.skip("TARE_TEST_JSON does not name the unit test test_json")
    folder = tmp_path_factory.mktemp("written")
    subprocess.run([PROGRAM], env={**os.environ, "TARE_TEST_OUTPUT": str(folder)}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {path.stem: path for path in folder.glob("*.json")}


@pytest.mark.parametrize("name", ["bandwidth", "devices", "empty", "checkup"])
def test_what_the_writer_writes_is_valid(written, name):
    validate.check(written[name])


# The corpus begins where the writer is; a change of the format must reach it.
@pytest.mark.parametrize("name", ["bandwidth", "devices", "empty", "checkup"])
def test_the_fuzzing_corpus_is_of_this_format(name):
    validate.check(CORPUS / f"{name}.json")


def _set(document, path, value):
    *way, last = path
    for step in way:
        document = document[step]
    if value is KeyError:
        del document[last]
    else:
        document[last] = value


CELL = ("cells", 0)
ABSENT = ("cells", 3)


@pytest.mark.parametrize("path, value", [
    (("schema",), "tare.result/2"),
    (("schema",), KeyError),
    (("tool", "name"), "other"),
    (("cells",), KeyError),
    (("plots",), KeyError),
    (("device",), KeyError),
    (("surprise",), 1),
    (("written_at",), "yesterday"),
    (("host", "cpu"), None),
    (("device", "facts", "name"), {"value": None}),
    (("device", "facts", "name"), {"value": "x", "unit": "", "origin": "rumour"}),
    (("device", "facts", "name"), {"value": "x", "unit": "", "origin": "driver", "reason": "y"}),
    (("clock", "rate", "hz_denominator"), 0),
    (("clock", "rate", "valid_bits"), 65),
    (("clock", "floor_ns"), -1),
    ((*CELL, "samples", 0), 1.5),
    ((*CELL, "source"), "oracle"),
    ((*CELL, "verified"), "yes"),
    ((*CELL, "median"), "fast"),
    ((*CELL, "ci"), [1]),
    ((*CELL, "ci"), None),
    ((*CELL, "n"), -1),
    ((*CELL, "rate", "unit"), None),
    ((*CELL, "labels", "bytes"), 1.5),
    ((*CELL, "autocorrelation"), 2),
    ((*ABSENT, "median"), 0),
    ((*ABSENT, "n"), 1),
    ((*ABSENT, "rate"), {"unit": "GB/s", "work": 1, "min": 0, "median": 0, "p95": 0, "ci": [0, 0]}),
    (("plots", 0, "kind"), "pie"),
    (("plots", 0, "x", "scale"), "log"),
    (("plots", 0, "series", 0, "points", 0), [1, 2]),
    (("warnings", 0, "id"), "Not a word"),
    (("conclusions", 0, "id"), "Not a word"),
    (("conclusions", 0, "text"), None),
    (("conclusions",), None),
    (("parts",), {}),
])
def test_what_tare_must_not_write_is_refused(path, value):
    document = validate.load(CORPUS / "bandwidth.json")
    assert not validate.faults(document)
    broken = copy.deepcopy(document)
    _set(broken, path, value)
    assert validate.faults(broken)


@pytest.mark.parametrize("path, value", [
    (("parts", 0, "parts"), []),
    (("parts", 0), {}),
    (("parts", 1, "schema"), "tare.result/2"),
    (("parts", 1, "cells"), KeyError),
    (("parts", 0, "devices"), KeyError),
    (("parts",), [1]),
])
def test_a_part_is_a_whole_document_without_parts(path, value):
    document = validate.load(CORPUS / "checkup.json")
    assert not validate.faults(document)
    broken = copy.deepcopy(document)
    _set(broken, path, value)
    assert validate.faults(broken)


def _object(schema, part):
    """The schema of the object, or of a list's objects, in a part of the schema."""
    if "$ref" in part:
        return _object(schema, schema["$defs"][part["$ref"].rsplit("/", 1)[1]])
    if "items" in part:
        return _object(schema, part["items"])
    found = [_object(schema, one) for one in part.get("oneOf", [])]
    return max(found, key=lambda one: len(one.get("properties", {})), default=part)


def _takes_null(schema, part):
    if "$ref" in part:
        return _takes_null(schema, schema["$defs"][part["$ref"].rsplit("/", 1)[1]])
    return "null" in part.get("type", []) or any(_takes_null(schema, one) for one in part.get("oneOf", []))


def _alternatives(schema, part):
    """What a part of the schema can be, its references followed."""
    if "$ref" in part:
        return _alternatives(schema, schema["$defs"][part["$ref"].rsplit("/", 1)[1]])
    return [found for one in part["oneOf"] for found in _alternatives(schema, one)] if "oneOf" in part else [part]


def _types(schema, part):
    found = [one.get("type", []) for one in _alternatives(schema, part)]
    return {name for names in found for name in ([names] if isinstance(names, str) else names)} - {"null"}


def _differences(schema, fields, part, place):
    """Where the schema and the list of fields by which tare writes and reads say different things."""
    keys = [field["key"] for field in fields if field["key"]]
    properties = part["properties"]
    if len(keys) == len(fields) and set(keys) != set(properties):
        yield f"{place}: {set(keys) ^ set(properties)}"
    for field in fields:
        key, here = field["key"], f"{place}.{field['key']}"
        if not key or key not in properties:
            continue
        if field["left_out"] == (key in part["required"]) and key != "cells":
            yield f"{here}: required in one of both only"
        if field["words"] and not set(field["words"]) <= set(properties[key].get("enum", [properties[key].get("const")])):
            yield f"{here}: {field['words']}"
        if field["type"] and _types(schema, properties[key]) - {field["type"]}:
            yield f"{here}: {field['type']} is {_types(schema, properties[key])} in the schema"
        if field["type"] == "integer" and (field["least"] or field["most"]):
            for one in _alternatives(schema, properties[key]):
                if one.get("minimum", field["least"]) < field["least"] or one.get("maximum", field["most"]) > field["most"]:
                    yield f"{here}: the schema takes what a reader does not"
        if field["null"] and not field["left_out"] and not _takes_null(schema, properties[key]) and \
                (place, key) not in READ_AS_NULL:
            yield f"{here}: null is not in the schema"
        if field["of"]:
            yield from _differences(schema, field["of"], _object(schema, properties[key]), here)


# A reader takes less here than tare writes.
READ_AS_NULL = {(".device.engines", "title"), (".devices.engines", "title"), (".device", "engines"), (".devices", "engines"),
                (".device.kernels", "kernels"), (".devices.kernels", "kernels"), (".telemetry", "absent"), ("", "cells")}


def _with_less(fields):
    """The fields as a reader would have them who takes nothing but 5 as a whole number."""
    return [{**field, **({"least": 5, "most": 5} if field["type"] == "integer" else {}), "of": field["of"] and _with_less(field["of"])}
            for field in fields]


def test_the_schema_has_the_fields_by_which_tare_writes_and_reads(written):
    schema = validate.load(validate.SCHEMA)
    fields = json.loads(written["fields"].read_text())
    assert len(fields) > 15 and not list(_differences(schema, fields, schema, ""))
    # It can fail: a field more, one less, another word, another type, a reader that takes less.
    more = [*fields, {**fields[0], "key": "surprise"}]
    less = [field for field in fields if field["key"] != "host"]
    for broken in (more, less, [{**field, "left_out": True} for field in fields],
                   [{**field, "type": "boolean"} if field["type"] == "string" else field for field in fields], _with_less(fields)):
        assert list(_differences(schema, broken, schema, ""))


def test_devices_lists_devices_instead_of_cells():
    document = validate.load(CORPUS / "devices.json")
    for key in ("devices", "absences"):
        broken = dict(document)
        del broken[key]
        assert validate.faults(broken)
    without_cells = {key: value for key, value in document.items() if key != "cells"}
    assert not validate.faults(without_cells)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[-Infinity]", "{", ""])
def test_what_is_not_json_is_refused(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ValueError):
        validate.load(path)
    program = pathlib.Path(validate.__file__)
    done = subprocess.run([sys.executable, program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and str(path) in done.stderr


def test_the_facts_of_a_device_are_in_the_order_of_their_table():
    document = json.loads((CORPUS / "devices.json").read_text())
    assert list(document["devices"][0]["facts"])[:3] == ["name", "type", "vendor"]
