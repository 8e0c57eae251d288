# SPDX-License-Identifier: Apache-2.0
"""What the examples in examples/own-program print: the script's times on ze-cpu, something sound on OpenCL."""
import os
import re
import subprocess

import pytest

SCRIPT = """tare-device 1
device name "slow clock" memory 1 GiB units 4
timer rate 12 MHz bits 32
pair-timer rate 12 MHz bits 36
engine compute runs kernel,to-device,to-host,local
copy pinned device fixed 10 us rate 1 GB/s
copy device pinned fixed 10 us rate 1 GB/s
kernel any fixed 20 ms
marker fixed 2 us
"""
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def run(name, **environment):
    program = os.environ.get(name)
    if not program:
        pytest.skip(f"{name} is not built")
    done = subprocess.run([program], env={**os.environ, **environment}, capture_output=True, text=True, timeout=100,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def time_ns(text, name):
    """The device's time of a span, as its line says it."""
    found = re.search(rf"^{name}: ([\d.]+) (ns|us|ms|s) on the device", text, re.M)
    assert found, text
    return float(found[1]) * UNITS[found[2]]


def test_levelzero_prints_what_the_script_says(tmp_path):
    script = tmp_path / "slow.tare-device"
    script.write_text(SCRIPT, encoding="utf-8")
    text = run("OWN_LEVELZERO", ZE_CPU_SCRIPT=str(script), ZE_ENABLE_ALT_DRIVERS=os.environ["ZE_CPU"])
    tick = 1000 / 12
    copy = 10e3 + 256 * 256 * 4
    assert time_ns(text, "kernel") == pytest.approx(20e6, abs=tick + 500)
    assert time_ns(text, "copy") == pytest.approx(copy + 4e3, abs=tick + 1)
    assert time_ns(text, "kernel of the sequence") == pytest.approx(20e6 + 4e3, abs=tick + 500)
    # Its own two barriers, the inner span's, and those of the inner one's empty span.
    assert time_ns(text, "sequence") == pytest.approx(20e6 + 3 * copy + 7 * 2e3, abs=tick + 500)
    # 83 for 83.333 nanoseconds a tick.
    copied = [int(number) for number in re.findall(r"copied code: (\d+) ns", text)]
    assert copied[0] == pytest.approx(20e6 * 83 * 12 / 1000, abs=83)
    assert copied[1] == pytest.approx((copy + 4e3) * 83 * 12 / 1000, abs=83)
    low, high = map(float, re.search(r"throughput: ([\d.]+) to ([\d.]+) GB/s", text).groups())
    assert low == pytest.approx(256 * 256 * 4 / (copy + 4e3), rel=2e-3)
    assert high > low


@pytest.mark.parametrize("devices", ["basic", "pthread"])
def test_opencl_prints_sound_times(devices):
    text = run("OWN_OPENCL", POCL_DEVICES=devices)
    assert time_ns(text, "sequence") >= time_ns(text, "kernels of the sequence") > 0
    host = int(re.search(r"copied code: (\d+) ns by the host's clock around enqueueing", text)[1])
    # What is printed is rounded.
    assert 0 < time_ns(text, "kernel") <= 1.001 * host + 1000
