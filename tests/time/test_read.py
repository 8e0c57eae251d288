# SPDX-License-Identifier: Apache-2.0
"""tare_read.py: real recordings against tare export and tare report of the same, documents against their JSON, and whatever
bytes a trace may have."""
import csv
import json
import os
import pathlib
import re
import shutil
import struct
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src" / "time"), str(ROOT / "tests" / "e2e")]
import tare_read  # noqa: E402  pylint: disable=wrong-import-position
from patience import HUNG_S  # noqa: E402  pylint: disable=wrong-import-position
from recorded import BUILD, EXAMPLES, run  # noqa: E402  pylint: disable=wrong-import-position

FORMAT = (ROOT / "docs" / "trace-format.md").read_text(encoding="utf-8")
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
GOLDEN = ROOT / "tests" / "golden"


def opencl(folder):
    return EXAMPLES / "pipeline", {"POCL_DEVICES": "pthread", "POCL_CACHE_DIR": str(folder / "cache")}


def levelzero(_):
    return EXAMPLES / "levelzero-pipeline", {"ZE_ENABLE_ALT_DRIVERS": os.environ.get("ZE_CPU", ""), "ZE_CPU_TYPE": "gpu"}


def cuda(folder):
    fakes = BUILD / "tests" / "fakes"
    (folder / "lib").mkdir()
    driver = shutil.copy(fakes / "fake_cuda.so", folder / "lib" / "libcuda.so.1")
    return EXAMPLES / "cuda-pipeline", {"LD_LIBRARY_PATH": f"{folder / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                                        "TARE_CUDA_LIBRARY": str(driver), "TARE_CUPTI_LIBRARY": str(fakes / "fake_cupti.so")}


class Recorded:
    def __init__(self, tare, folder, of):
        program, environment = of(folder)
        if not program.exists():
            pytest.skip(f"{program.name} is not built")
        self.tare, self.folder = tare, folder / "run.tare"
        done = run([tare, "record", "-q", "-o", self.folder, "--times", "all", "--", program], environment, timeout=HUNG_S,
                   cwd=folder)
        # The stand-in for CUDA's driver computes nothing, which the example finds.
        assert done.status == 0 or of is cuda and b"result: WRONG" in done.out, done.errors.decode()
        done = run([tare, "export", "-q", self.folder, "--csv", folder / "csv"])
        assert done.status == 0, done.errors.decode()
        self.tables = {path.stem: self.rows(path) for path in (folder / "csv").glob("*.csv")}
        self.origin_ns = next(int(row["value"]) for row in self.tables["meta"] if row["name"] == "start_raw_ns")
        self.processes = tare_read.trace(self.folder)

    @staticmethod
    def rows(path):
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def named(self, table, row, key):
        return self.tables[table][int(row[key])]["name"] if row[key] else None


@pytest.fixture(scope="module", params=[opencl, levelzero, cuda], ids=lambda of: of.__name__)
def recorded(request, tmp_path_factory, tare_path):
    return Recorded(tare_path, tmp_path_factory.mktemp(request.param.__name__), request.param)


def number(text):
    return int(text) if text else None


def test_commands_are_those_of_the_export(recorded):
    theirs = sorted((int(row["enter_ns"]), int(row["exit_ns"]), recorded.named("function", row, "function"), row["kind"],
                     row["direction"] or "none", str(recorded.named("kernel", row, "kernel")), number(row["bytes"]),
                     row["blocking"] == "1") for row in recorded.tables["command"] if row["part"] != "run")
    mine = sorted((each.enter_ns - recorded.origin_ns, each.exit_ns - recorded.origin_ns, each.function, each.kind,
                   each.direction, str(each.kernel), each.bytes if each.kind not in ("marker", "barrier", "graph") else None,
                   each.blocking)
                  for process in recorded.processes for each in process.commands if not each.failed and not each.appended)
    theirs = [(*row[:6], None if row[3] in ("marker", "barrier", "graph") else row[6], row[7]) for row in theirs]
    assert len(mine) > 3 and mine == theirs
    runs = sorted((str(recorded.named("kernel", row, "kernel")), row["kind"], row["bytes"])
                  for row in recorded.tables["command"] if row["part"] == "run")
    assert runs == sorted((str(each.kernel), each.kind, str(each.bytes or "")) for process in recorded.processes
                          for each in process.commands if each.appended for _ in each.runs)
    shapes = [(each.global_size, each.local_size) for process in recorded.processes for each in process.commands if each.kernel]
    assert shapes and all(len(sizes) in (1, 2, 3) and sizes[0] > 1 for sizes, _ in shapes)


def test_device_times_are_those_of_the_export(recorded):
    """The export's are mapped to the host's clock, whose rate may be a little another one."""
    theirs = sorted(int(row["end_ns"]) - int(row["start_ns"]) for row in recorded.tables["command"] if row["end_ns"])
    mine = sorted(each.device_ns for process in recorded.processes for command in process.commands
                  for each in command.runs if command.kind != "graph" or not command.function.startswith("ze"))
    assert len(mine) == len(theirs) > 3
    for ours, other in zip(mine, theirs):
        assert abs(ours - other) <= 2 + 1e-3 * other


def test_calls_are_those_of_the_export(recorded):
    theirs = sorted((int(row["enter_ns"]), int(row["exit_ns"]), recorded.named("function", row, "function"), row["role"],
                     int(row["calls"]), int(row["inside_ns"]), row["failed"] != "0", row["nested"] == "1")
                    for row in recorded.tables["call"])
    mine = sorted((each.enter_ns - recorded.origin_ns, each.exit_ns - recorded.origin_ns, each.function, each.role, each.count,
                   min(each.inside_ns, each.exit_ns - each.enter_ns), each.failed, each.nested)
                  for process in recorded.processes for each in process.calls)
    appended = {row["function"] for row in recorded.tables["call"] if "Append" in recorded.named("function", row, "function")}
    if not appended:
        assert mine == theirs
    else:  # those that append to a list are commands here
        assert set(mine) <= set(theirs)


def test_the_report_is_the_reports_own(recorded):
    report = tare_read.report(recorded.folder, tare=recorded.tare)
    assert report["format"].startswith("tare.report/")
    runs = [once for process in recorded.processes for each in process.commands if each.kernel for once in each.runs]
    assert sum(task["timed"] for task in report["tasks"]) == len(runs) > 3
    total_ns = sum(task["total_ns"] for task in report["tasks"])
    assert sum(once.device_ns for once in runs) == pytest.approx(total_ns, rel=1e-3)
    with pytest.raises(ValueError, match="tare: report: "):
        tare_read.report(recorded.folder / "nothing", tare=recorded.tare)


def test_columns_are_lists_or_arrays(recorded):
    commands = recorded.processes[0].commands
    table = tare_read.columns(commands, "kind", "bytes")
    assert table["kind"] == [each.kind for each in commands] and table["bytes"] == [each.bytes for each in commands]
    numpy = pytest.importorskip("numpy")
    arrays = tare_read.columns(commands, "kind", "enter_ns", "bytes", numpy=True)
    assert arrays["enter_ns"].dtype == numpy.int64 and arrays["kind"][0] == commands[0].kind
    assert numpy.isnan(arrays["bytes"]).sum() == sum(each.bytes is None for each in commands)


def test_the_header_is_the_formats():
    table = FORMAT[FORMAT.index("`struct tare_trace_header`"):FORMAT.index("It takes the first")]
    forms = {"char": "s", "uint16": "H", "uint32": "I", "uint64": "Q", "int64": "q"}
    at, found = 0, []
    for offset, name, kind, count in re.findall(r"^\| (\d+) \| \d+ \| `(\w+)` \| (\w+?)(?:\[(\d+)\])? \|", table, re.M):
        assert int(offset) == at
        found.append((name, count + forms[kind]))
        at += struct.calcsize("<" + found[-1][1])
    assert tuple(found) == tare_read._HEADER  # pylint: disable=protected-access


def test_the_words_are_the_formats():
    header = (ROOT / "include" / "tare" / "trace_format.h").read_text(encoding="utf-8")
    for words, enum, prefix in ((tare_read.KINDS, "tare_trace_command_kind", "TARE_KIND_"),
                                (tare_read.DIRECTIONS, "tare_trace_direction", "TARE_DIRECTION_"),
                                (tare_read.ROLES, "tare_trace_role", "TARE_ROLE_"),
                                (tare_read.OBJECTS, "tare_trace_object_kind", "TARE_OBJECT_"),
                                (tare_read.MEMORIES, "tare_trace_memory", "TARE_TRACE_MEMORY_"),
                                (tare_read.UNTIMED, "tare_trace_untimed", "TARE_UNTIMED_")):
        found = re.findall(rf"\b{prefix}(\w+)", re.search(rf"enum {enum} {{(.*?)}};", header, re.S)[1])
        mine = [word.upper() for word in words if word is not None]
        assert mine == [name for name in found if name not in ("UNKNOWN", "KINDS", "COUNT")], enum


@pytest.mark.parametrize("name", ["bandwidth", "latency", "peak", "matmul", "overlap", "checkup", "devices"])
def test_a_result_is_its_json(name):
    path = GOLDEN / f"{name}.json"
    members = json.loads(path.read_text(encoding="utf-8"))
    document = tare_read.result(path)
    assert document.command == name and document.host == members["host"]
    for mine, theirs in zip(document.cells if "cells" in members else [], members.get("cells", [])):
        assert vars(mine) == theirs
    assert [vars(each) for each in document.warnings] == members["warnings"]
    for mine, theirs in zip(getattr(document, "parts", []), members.get("parts", [])):
        assert [vars(each) for each in mine.cells] == theirs["cells"]


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": "tare.result/2"}', '{"schema": "tare.report/1"}', "{", ""])
def test_what_is_no_result_is_refused(tmp_path, text):
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        tare_read.result(path)


def test_any_bytes_are_read_or_refused(tmp_path):
    folder, read = tmp_path / "x.tare", 0
    folder.mkdir()
    with pytest.raises(ValueError, match="no traces"):
        tare_read.trace(folder)
    for path in sorted((CORPUS / "trace").iterdir()):
        data = path.read_bytes()
        for cut in (len(data), len(data) // 2 + 7, 4096 + 64 + 13):
            (folder / "a.trace").write_bytes(data[:cut])
            try:
                process, = tare_read.trace(folder)
                read += len(process.calls) + len(process.commands)
            except ValueError as error:
                assert str(error).startswith("a.trace: ")
    assert read > 100


def test_the_clock_is_bent_where_a_pair_is_missed():
    """Ticks of half a nanosecond; the pair in the middle is 5000 ns off the line through the ends."""
    header = {"host_clock": 2, "start_ticks": 0, "start_raw_ns": 1000, "host_hz": 2 * 10**9}
    pairs = [(ticks - 10, 1000 + ticks // 2 + off, ticks + 10) for ticks, off in ((0, 0), (10**8, 5000), (2 * 10**8, 0))]
    clock = tare_read._Clock(header, pairs)  # pylint: disable=protected-access
    assert [clock.ns(ticks) for ticks in (0, 10**8, 2 * 10**8)] == [1000, 1000 + 5 * 10**7 + 5000, 1000 + 10**8]
    assert clock.ns(5 * 10**7) == 1000 + 25 * 10**6 + 2500
    bare = tare_read._Clock(header, pairs[:1])  # pylint: disable=protected-access
    assert bare.ns(2 * 10**9) == 1000 + 10**9
    raw = tare_read._Clock({"host_clock": 1}, [])  # pylint: disable=protected-access
    assert raw.ns(12345) == 12345
