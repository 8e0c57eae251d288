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
SAVED = pathlib.Path(__file__).parents[1] / "golden" / "saved"


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


def _shorter(value):
    """The document with the ends of its long lists alone: what is between is alike, and takes long."""
    if isinstance(value, dict):
        return {key: _shorter(one) for key, one in value.items()}
    return [_shorter(one) for one in (value if len(value) < 9 else value[:4] + value[-4:])] if isinstance(value, list) else value


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_what_tare_wrote_before_is_still_valid(path):
    assert validate.faults(_shorter(validate.load(path))) == []


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
