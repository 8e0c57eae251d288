# SPDX-License-Identifier: Apache-2.0
"""Several devices, unlike one another, that hand each other their pieces, on the stand-ins for the driver and CUPTI:
one trace, one ledger a device, both ends of every copy between them, and the sums of the model and of an independent
count."""
import collections
import json
import pathlib
import sqlite3
import struct
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e")]
from cuda_programs import FAKES, stand_ins  # noqa: E402
from recorded import BUILD, Recorder, run  # noqa: E402
from trace import records  # noqa: E402

PEERS = BUILD / "tests/cuda/peers"
FORTH, BACK = 1 << 20, 1 << 18
ROUNDS, GRAPHS = 5, 2
KERNEL_NS = {0: 50000, 1: 170000}
SCRIPT = """tare-device 1
device name "{name}" units {units} lanes 32 memory 1 GiB
timer rate 1 GHz
engine compute runs kernel
engine copy runs to-device,local
engine copy runs to-host
copy pinned device fixed 29 us rate 65.536 GB/s
copy device pinned fixed 29 us rate 65.536 GB/s
copy device device fixed {fixed} us rate 65.536 GB/s
fill fixed 19 us rate 65.536 GB/s
kernel steps fixed {kernel} us
"""
PEER_RATE = 65_536_000_000


@pytest.fixture
def on(tare_path, tmp_path):
    recorder = Recorder(tare_path, tmp_path, tmp_path / "cache")
    scripts = []
    for name, units, fixed, kernel in (("fast", 8, 20, 50), ("slow", 4, 40, 170), ("idle", 8, 20, 50)):
        scripts.append(tmp_path / name)
        scripts[-1].write_text(SCRIPT.format(name=name, units=units, fixed=fixed, kernel=kernel))
    recorder.environment.update(
        stand_ins(tmp_path, ":".join(map(str, scripts))), TARE_FAKE_CUDA=f"devices=3 peer_rate={PEER_RATE}",
        TARE_NVML_LIBRARY=str(FAKES / "fake_nvml.so"), TARE_FAKE_NVML="devices=3 pcie")
    return recorder


def took_ns(fixed_us, count):
    return fixed_us * 1000 + count * 1_000_000_000 // PEER_RATE


def peers(report):
    return {(row["from_device"], row["to_device"]): row for row in report["transfers"] if row["from_device"] is not None}


@pytest.mark.parametrize("cupti", ["", "late"])
def test_a_pipeline_over_two_unlike_devices_is_one_trace_and_a_ledger_a_device(on, tmp_path, cupti):
    on.environment["TARE_FAKE_CUPTI"] = cupti
    counts = tmp_path / "counts"
    counted = {"COUNTS": str(counts), "CUDA_INJECTION64_PATH": str(BUILD / "tests/cuda/counts.so")}
    program = [PEERS, str(ROUNDS), "graph"]
    on.environment.update(counted)
    native = on.native(program)
    for name in counted:
        del on.environment[name]
    truth = json.loads(counts.read_text())
    done = on.record(program)
    assert (done.status, done.out) == (native.status, native.out) == (0, native.out)
    report = on.report(done.folder)
    # Graphs' copies are of the stream's device, too.
    expected = {(0, 1): (ROUNDS + GRAPHS, ROUNDS * FORTH + GRAPHS * BACK,
                         ROUNDS * took_ns(20, FORTH) + GRAPHS * took_ns(20, BACK)),
                (1, 0): (ROUNDS, ROUNDS * BACK, ROUNDS * took_ns(40, BACK))}
    seen = peers(report)
    assert {ends: (row["count"], row["bytes"]) for ends, row in seen.items()} == {
        ends: each[:2] for ends, each in expected.items()}
    for ends, (count, _, ns) in expected.items():
        assert abs(seen[ends]["total_ns"] - ns) <= 2 * count and seen[ends]["timed"] == count
        assert truth["peers"][f"{ends[0]}-{ends[1]}"] == [count, expected[ends][1]]
    assert {row["device_number"] for row in seen.values()} == {0, 1}
    kernels = collections.Counter()
    for task in report["tasks"]:
        kernels[task["device_number"]] += task["timed"]
        assert task["total_ns"] == pytest.approx(task["timed"] * KERNEL_NS[task["device_number"]], abs=2 * task["timed"])
    assert kernels == {0: ROUNDS + GRAPHS, 1: ROUNDS} == {int(device): each[0] for device, each in truth["kernels"].items()}
    ledgers = {each.get("device_number"): {part["category"]: part["ns"] for part in each["parts"]}
               for each in report["ledgers"] if each["scope"] == "device"}
    assert set(ledgers) == {0, 1} or (set(ledgers) == {0, 1, 2} and ledgers[2]["kernel"] == 0)
    for device in (0, 1):
        # What is filled is within the device as well.
        copied = sum(ns for ends, (_, _, ns) in expected.items() if ends[0] == device) + truth["fills"][str(device)][2]
        assert ledgers[device]["kernel"] == pytest.approx(kernels[device] * KERNEL_NS[device], abs=60)
        assert ledgers[device]["local_copy"] == pytest.approx(copied, abs=60)
    assert len(report["processes"]) == 1 and report["coverage"]["unresolved"] == 0
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"]


LINK, LINKS = 44, [None, "through_host", "direct", "nvlink"]


def best_link(folder):
    """Of the records: what they say the best way is, and by how many links."""
    path, = folder.glob("*.trace")
    return max((detail, struct.unpack_from("<4Q", data, 8)[3]) for kind, _, detail, _, data in records(path) if kind == LINK)


@pytest.mark.parametrize("words, cupti, nvml, options, link, number", [
    ("", "nvlink=18", "pcie", [], "nvlink", 18), ("", "", "pcie", [], "direct", 0), ("no_peer", "", "", [], "through_host", 0),
    ("", "nvlink=18", "pcie", ["--times", "none"], "direct", 0),
    ("", "", "", [], "nvlink", 6), ("", "", "switched", [], "nvlink", 17), ("", "", "", ["--times", "none"], "nvlink", 6),
    ("", "", "init=9", [], "direct", 0), ("", "", "handle=6", [], "direct", 0), ("", "", "", ["--strict"], "direct", 0)])
def test_what_lies_between_is_said_where_the_driver_or_nvml_tells(on, words, cupti, nvml, options, link, number):
    on.environment["TARE_FAKE_CUDA"] += f" {words}"
    on.environment["TARE_FAKE_CUPTI"] = cupti
    on.environment["TARE_FAKE_NVML"] = f"devices=3 {nvml}"
    done = on.record([PEERS, "3"], *options)
    assert {ends: (row["link"], row["count"]) for ends, row in peers(on.report(done.folder)).items()} == {
        (0, 1): (link, 3), (1, 0): (link, 3)}
    assert best_link(done.folder) == (LINKS.index(link), number)


@pytest.mark.parametrize("cupti", ["", "late", "early"])
def test_a_copy_through_the_host_is_one_though_cupti_has_two_records(on, tmp_path, cupti):
    """Access that the program does not enable: out of the one device and into the other. The copy takes both."""
    on.environment["TARE_FAKE_CUPTI"] = cupti
    counts = tmp_path / "counts"
    program = [PEERS, str(ROUNDS), "no-access"]
    on.environment.update({"COUNTS": str(counts), "CUDA_INJECTION64_PATH": str(BUILD / "tests/cuda/counts.so")})
    native = on.native(program)
    for name in ("COUNTS", "CUDA_INJECTION64_PATH"):
        del on.environment[name]
    truth = json.loads(counts.read_text())
    assert not truth["peers"] and [truth["copies"][device][0] for device in "01"] == [2 * ROUNDS + 1, 2 * ROUNDS]
    done = on.record(program)
    assert (done.status, done.out) == (native.status, native.out) == (0, native.out)
    report = on.report(done.folder)
    assert report["coverage"]["passed_calls"] == 0
    for ends, size in {(0, 1): FORTH, (1, 0): BACK}.items():
        row = peers(report)[ends]
        assert (row["link"], row["count"], row["timed"], row["bytes"]) == ("through_host", ROUNDS, ROUNDS, ROUNDS * size)
        # By the script: twice as long to begin, half as fast.
        took = 2 * 29_000 + size * 1_000_000_000 // (PEER_RATE // 2)
        assert abs(row["total_ns"] - ROUNDS * took) <= 4 * ROUNDS


def test_both_ends_are_in_the_text_and_the_exports(on, tmp_path):
    on.environment["TARE_FAKE_CUPTI"] = "nvlink=18"
    done = on.record([PEERS, "3", "graph"])
    text = run([on.tare, "report", done.folder], on.environment).out.decode()
    assert "copy from #0 to #1" in text and "copy from #1 to #0" in text
    base = tmp_path / "exported.sqlite"
    assert run([on.tare, "export", "--sqlite", base, done.folder], on.environment).status == 0
    with sqlite3.connect(base) as opened:
        rows = opened.execute("select source_device, destination_device, link, count(*) from command"
                              " where kind = 'copy' group by 1, 2, 3 order by 1").fetchall()
    assert rows == [(0, 1, "nvlink", 3 + GRAPHS), (1, 0, "nvlink", 3)]


def test_a_copy_within_a_device_has_no_ends(on):
    on.environment["TARE_FAKE_CUDA"] = "devices=2"
    done = on.record([BUILD / "tests/cuda/streams", "copies=2"])
    report = on.report(done.folder)
    assert not peers(report) and "copy" in {row["kind"] for row in report["transfers"]}
