#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Validates results and reports against their schemas: validate.py FILE.json ..."""
import functools
import json
import pathlib
import sys

SOURCE = pathlib.Path(__file__).parents[2] / "src"
SCHEMA = SOURCE / "result" / "schema" / "result.schema.json"
BLOCKS_SCHEMA = SOURCE / "blocks" / "blocks.schema.json"
REPORT_SCHEMA = SOURCE / "report" / "report.schema.json"
HOTSPOTS_SCHEMA = SOURCE / "report" / "hotspots" / "hotspots.schema.json"


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def load(path):
    """Reads JSON strictly: Python by itself also takes NaN and Infinity."""
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=_refuse_constant)


@functools.cache
def validator_of(path):
    """By a schema that has been checked itself."""
    import jsonschema

    schema = load(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(document):
    """One line for each thing in the document that the schema forbids."""
    named = document.get("format") if isinstance(document, dict) else None
    known = {"tare.report": REPORT_SCHEMA, "tare.blocks": BLOCKS_SCHEMA, "tare.hotspots": HOTSPOTS_SCHEMA}
    validator = validator_of(known.get(str(named).partition("/")[0], SCHEMA))
    return [f"{error.json_path}: {error.message}"[:300] for error in validator.iter_errors(document)]


def check(path):
    """Raises AssertionError with the faults of the document at `path`; returns the document."""
    document = load(path)
    found = faults(document)
    assert not found, f"{path}: " + "; ".join(found)
    return document


def main(paths):
    if not paths:
        sys.exit("usage: validate.py FILE.json ...")
    failed = False
    for path in paths:
        try:
            found = faults(load(path))
        except (OSError, ValueError) as error:
            found = [str(error)]
        for fault in found:
            print(f"{path}: {fault}", file=sys.stderr)
        failed |= bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
