# SPDX-License-Identifier: Apache-2.0
"""For the tests that record real programs: runs them as they are, under the counting layer and under
tare, and brings what each says into one form: {kind: (count, bytes)}."""
import collections
import dataclasses
import json
import os
import pathlib
import shutil
import struct
import subprocess

import pytest

from patience import HUNG_S

BUILD = pathlib.Path(os.environ.get("TARE_BUILD", "."))
PROGRAMS = BUILD / "tests/programs"
LAYER = PROGRAMS / "counting_layer.so"
EXAMPLES = BUILD / "examples"
SANITIZED = os.environ.get("TARE_SANITIZED", "none") != "none"
KINDS = ("kernel", "write", "read", "copy", "fill", "map", "unmap", "migrate")
# Of a sanitizer's: what the driver leaves behind is not the matter here, and what programs of this
# folder do at their end is meant.
QUIET = {"ASAN_OPTIONS": "detect_leaks=0"} if SANITIZED else {}


def built():
    """Skips a module where the programs were not built."""
    return pytest.mark.skipif(not LAYER.exists(), reason="there is no OpenCL library to link with")


@dataclasses.dataclass
class Run:
    status: int
    out: bytes
    errors: bytes
    folder: pathlib.Path = None


def run(command, environment=None, timeout=HUNG_S, **options):
    done = subprocess.run([*map(str, command)], env={**os.environ, **QUIET, **(environment or {})},
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
                          **options)
    return Run(done.returncode, done.stdout, done.stderr)


def read_counts(folder):
    """What the counting layer left in a folder, of all processes together."""
    total = collections.Counter()
    for path in folder.glob("counts.*"):
        numbers = struct.unpack(f"={2 * len(KINDS)}Q", path.read_bytes())
        for i, kind in enumerate(KINDS):
            total[kind, 0] += numbers[i]
            total[kind, 1] += numbers[len(KINDS) + i]
    return {kind: (total[kind, 0], total[kind, 1]) for kind in KINDS if total[kind, 0]}


def counting_environment(folder):
    folder.mkdir(exist_ok=True)
    return {"OPENCL_LAYERS": str(LAYER), "COUNTING_LAYER_OUT": str(folder / "counts")}


class Recorder:
    """Runs programs in one folder with one kernel cache, on one of PoCL's devices."""

    def __init__(self, tare, folder, cache, device="basic"):
        self.tare, self.folder = tare, folder
        self.environment = {"POCL_CACHE_DIR": str(cache), "POCL_DEVICES": device}

    def native(self, command, **options):
        return run(command, self.environment, cwd=self.folder, **options)

    def counted(self, command, **options):
        """The run under the counting layer, and its counts."""
        out = self.folder / "counts"
        shutil.rmtree(out, ignore_errors=True)
        done = run(command, {**self.environment, **counting_environment(out)}, cwd=self.folder, **options)
        return done, read_counts(out)

    def record(self, command, *more, name="run", environment=None, **options):
        done = run([self.tare, "record", "-q", "--force", "-o", name, "--times", "all", *more, "--", *command],
                   {**self.environment, **(environment or {})}, cwd=self.folder, **options)
        done.folder = self.folder / f"{name}.tare"
        return done

    def both(self, command, *more, **options):
        """Recorded with the counting layer beside: two counts of the very same calls. (Only for one
        process: the loader cuts the list of layers for its children.)"""
        out = self.folder / "counts"
        shutil.rmtree(out, ignore_errors=True)
        done = self.record(command, *more, environment=counting_environment(out), **options)
        return done, read_counts(out)

    def report(self, folder, *filters):
        """The report as JSON, whose sums have been checked."""
        done = run([self.tare, "report", folder, "--json", "-", *filters], cwd=self.folder)
        assert done.status == 0, done.errors.decode()
        return checked(json.loads(done.out))


def checked(report):
    for ledger in report["ledgers"]:
        assert sum(part["ns"] for part in ledger["parts"]) == ledger["wall_ns"] == report["wall_ns"]
        assert sum(cell["ns"] for cell in ledger["matrix"]) == ledger["wall_ns"]
        assert all(part["ns"] >= 0 for part in ledger["parts"])
    coverage = report["coverage"]
    assert coverage["enqueued"] == coverage["completed"] + coverage["unobserved"] + coverage["lost_commands"]
    return report


def reported(report):
    """The report's counts in the counting layer's form. Kernels have no bytes, nor have unmaps and
    migrations, of which the API does not tell any."""
    total = collections.Counter()
    for task in report["tasks"]:
        total["kernel", 0] += task["instances"]
    for row in report["transfers"]:
        total[row["kind"], 0] += row["count"]
        if row["kind"] not in ("unmap", "migrate"):
            total[row["kind"], 1] += row["bytes"]
    return {kind: (total[kind, 0], total[kind, 1]) for kind in KINDS if total[kind, 0]}


def part(report, category, ledger=0):
    return next(row["ns"] for row in report["ledgers"][ledger]["parts"] if row["category"] == category)


@pytest.fixture
def recorder(tare_path, tmp_path, kernel_cache):
    return Recorder(tare_path, tmp_path, kernel_cache)
