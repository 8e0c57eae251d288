# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Level Zero recorder share: the script under which ze-cpu runs, and what is asked of a
recorded run."""
import collections
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, Recorder  # noqa: E402
from trace import Trace  # noqa: E402

DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"
STYLES = BUILD / "tests/levelzero/styles"
NEWER = BUILD / "tests/levelzero/newer"
SCRIPT = """tare-device 1
device name "exact" memory 1 GiB
timer rate {rate} bits {bits} epoch {epoch} ticks
engine compute runs to-device,to-host,local,kernel
engine copy runs to-device,to-host,local
copy pinned device fixed 29 us rate 65.536 GB/s
copy pageable device fixed 29 us rate 65.536 GB/s
fill fixed 19 us rate 65.536 GB/s
marker fixed 10 us
call fixed 15 us
kernel empty fixed 50 us
"""
NS = {"kernel": 50000, "write": 30000, "fill": 20000, "barrier": 10000, "marker": 15000}
RATES = {"12 MHz": 12e6, "12.5 MHz": 12.5e6, "19.2 MHz": 19.2e6, "1 GHz": 1e9}


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache):
    recorder = Recorder(tare_path, tmp_path, kernel_cache)
    recorder.environment.update({"ZE_ENABLE_ALT_DRIVERS": str(DRIVER),
                                 "STYLES_KERNELS": str(BUILD / "kernels/empty.spv")})
    return recorder


def script(on, rate="12 MHz", bits=36, epoch=0):
    path = on.folder / "script.tare-device"
    path.write_text(SCRIPT.format(rate=rate, bits=bits, epoch=epoch))
    on.environment["ZE_CPU_SCRIPT"] = str(path)
    return RATES[rate], bits


def kinds(out):
    return collections.Counter(line.split()[1] for line in out.decode().splitlines() if line.startswith("run"))


def stamps(out):
    return collections.Counter(tuple(map(int, line.split()[1:])) for line in out.decode().splitlines()
                               if line.startswith("stamps"))


def check(done, rate, bits):
    """All that ran was timed, once, and as long as the script says; what the program has read is the same."""
    assert done.status == 0, done.errors.decode()
    trace = Trace(done.folder)
    assert not trace.untimed
    assert all(len(found) == 1 for found in trace.times.values())
    runs = trace.runs()
    assert collections.Counter(kind for kind, _, _ in runs) == kinds(done.out)
    for kind, start, end in runs:
        ticks = (end - start) % (1 << bits)
        assert abs(ticks - NS[kind] * rate / 1e9) <= 1, kind
    assert stamps(done.out) <= collections.Counter((start, end) for _, start, end in runs)
    return trace
