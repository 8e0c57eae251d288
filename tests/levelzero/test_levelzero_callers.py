# SPDX-License-Identifier: Apache-2.0
"""Programs that call Level Zero as SYCL's, OpenMP's and HIP's runtimes do (docs/recorder-levelzero-callers.md): every
command once, timed, and the program's output is what it is without tare."""
import collections
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, EXAMPLES, Recorder, SANITIZED  # noqa: E402
from trace import Trace  # noqa: E402

DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"
CALLERS = BUILD / "tests/levelzero/callers"
ROLES = HERE.parents[1] / "api/levelzero.roles"
SCRIPT = """tare-device 1
device name "callers" memory 1 GiB
timer rate 19.2 MHz bits 36
engine compute runs to-device,to-host,local,kernel
copy pinned device fixed 28 us rate 4.096 GB/s
copy device pinned fixed 38 us rate 4.096 GB/s
copy shared pinned fixed 8999 ns rate 8 GB/s
fill fixed 18 us rate 4.096 GB/s
marker fixed 10 us
kernel steps fixed 50 us
"""
NS = {"kernel": 50000, "write": 29000, "read": 39000, "fill": 19000, "barrier": 10000, "other": 0}

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache):
    recorder = Recorder(tare_path, tmp_path, kernel_cache)
    (tmp_path / "script.tare-device").write_text(SCRIPT)
    recorder.environment.update({"ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_CPU_TYPE": "gpu",
                                 "ZE_CPU_SCRIPT": str(tmp_path / "script.tare-device"),
                                 "CALLERS_KERNELS": str(EXAMPLES / "levelzero-kernels.spv")})
    return recorder


def kinds(out):
    return collections.Counter(line.split()[1] for line in out.decode().splitlines() if line.startswith("run "))


@pytest.mark.parametrize("caller", ["sycl-v1", "sycl-v1-batched", "sycl-v2", "openmp", "chipstar"])
def test_every_command_once_and_timed(on, caller):
    if caller == "sycl-v2" and "zexCounterBasedEventCreate2" not in ROLES.read_text():
        pytest.skip("the recorder does not know the events that this adapter makes")
    native, done = on.native([CALLERS, caller]), on.record([CALLERS, caller])
    assert native.status == 0, native.errors.decode()
    assert (done.status, done.out, done.errors) == (native.status, native.out, native.errors)
    trace, expected = Trace(done.folder), kinds(native.out)
    # What an event says of a signal's own times is not defined.
    markers = [key for key, command in trace.commands.items() if command.kind == "marker"]
    assert len(markers) >= expected.pop("marker", 0)
    assert sum(expected.values()) > 10
    assert not trace.untimed and all(len(found) == 1 for found in trace.times.values())
    assert collections.Counter(kind for kind, _, _ in trace.runs()) == expected
    for kind, start, end in trace.runs():
        ns = (end - start) % (1 << 36) / 19.2e6 * 1e9
        # The stamp of chipStar's events is copied from shared memory, which is nearer.
        assert abs(ns - NS[kind]) <= 53 or kind == "read" and abs(ns - 9000) <= 53, (kind, ns)
    report = on.report(done.folder)
    assert report["tasks"][0]["instances"] == report["tasks"][0]["timed"] == expected["kernel"]
    copies = collections.Counter()
    for row in report["transfers"]:
        copies[row["kind"]] += row["count"]
    assert all(copies[kind] == expected[kind] for kind in ("write", "read", "fill"))


@pytest.mark.parametrize("caller", ["sycl-v1", "sycl-v1-batched", "sycl-v2", "openmp", "chipstar"])
def test_strict_leaves_it_alone(on, caller):
    native, done = on.native([CALLERS, caller]), on.record([CALLERS, caller], "--strict")
    assert native.status == 0, native.errors.decode()
    assert (done.status, done.out, done.errors) == (native.status, native.out, native.errors)
    assert not set(Trace(done.folder).changes) - {5, 10}, "but for the recorder's own thread and the drivers' stubs"
