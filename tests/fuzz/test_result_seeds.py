# SPDX-License-Identifier: Apache-2.0
"""The corpora of result documents against the schema: every property has a value other than null in
some document, and every value of every enumeration comes."""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
SCHEMA = json.loads((HERE.parents[1] / "src/result/schema/result.schema.json").read_text(encoding="utf-8"))
# Tables are written for readers, and nobody reads them back.
del SCHEMA["properties"]["tables"], SCHEMA["$defs"]["tables"], SCHEMA["$defs"]["table"], SCHEMA["$defs"]["marks"]


def parts_of(schema):
    """The schemas that a value of this one may have to meet."""
    yield schema
    if schema.get("$ref", "").startswith("#/$defs/"):
        yield from parts_of(SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    for key in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(key, []):
            yield from parts_of(part)


def wanted():
    """All properties and values of enumerations, by where they are written down."""
    found = set()

    def visit(value, place):
        if isinstance(value, list):
            for i, item in enumerate(value):
                visit(item, f"{place}/{i}")
        if not isinstance(value, dict):
            return
        found.update(f"{place}/properties/{name}" for name, item in value.get("properties", {}).items()
                     if item.get("type") != "null")
        found.update(f"{place} = {one}" for one in value.get("enum", []) if one is not None)
        for name, item in value.items():
            if name not in ("if", "then", "else", "not"):
                visit(item, f"{place}/{name}")

    visit(SCHEMA, "#")
    return found


PLACES = {}


def note_places(value, place):
    """Where each schema is written down, by its identity."""
    if isinstance(value, dict):
        PLACES[id(value)] = place
        for name, item in value.items():
            note_places(item, f"{place}/{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            note_places(item, f"{place}/{i}")


def collect(schema, value, seen):
    for part in parts_of(schema):
        place = PLACES[id(part)]
        if value is not None and not isinstance(value, (dict, list)) and value in part.get("enum", []):
            seen.add(f"{place} = {value}")
        if isinstance(value, dict):
            for name, item in part.get("properties", {}).items():
                if value.get(name) is not None:
                    seen.add(f"{place}/properties/{name}")
                    collect(item, value[name], seen)
            names = part.get("propertyNames", {})
            seen.update(f"{PLACES[id(names)]} = {name}" for name in value if name in names.get("enum", []))
            rest = part.get("additionalProperties")
            for name, item in value.items():
                if isinstance(rest, dict) and name not in part.get("properties", {}):
                    collect(rest, item, seen)
        if isinstance(value, list):
            for item in value if isinstance(part.get("items"), dict) else []:
                collect(part["items"], item, seen)


def documents():
    for folder in ("result", "peaks"):
        for path in sorted((HERE / "corpus" / folder).iterdir()):
            try:
                yield json.loads(path.read_bytes())
            except ValueError:
                pass


def test_every_property_and_value_comes():
    note_places(SCHEMA, "#")
    seen = set()
    for document in documents():
        collect(SCHEMA, document, seen)
    assert len(wanted()) > 100
    assert sorted(wanted() - seen) == []
