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


def run(name, status=0, **environment):
    program = os.environ.get(name)
    if not program:
        pytest.skip(f"{name} is not built")
    done = subprocess.run([program], env={**os.environ, **environment}, capture_output=True, text=True, timeout=100,
                          check=False)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def time_ns(text, name):
    """The device's time of a span, as its line says it."""
    found = re.search(rf"^{name}: ([\d.]+) (ns|us|ms|s) on the device", text, re.M)
    assert found, text
    return float(found[1]) * UNITS[found[2]]


def row_of(text, name):
    """The median of a row of a table, in microseconds."""
    found = re.search(rf"^{name} +([\d.]+) (ns|us|ms) ", text, re.M)
    assert found, text
    return float(found[1]) * UNITS[found[2]] / 1e3


def speed_ups(text):
    """What is printed of the product; the two speed-ups are of the times beside them."""
    host, wall = map(int, re.search(r"product of \d+ x \d+: (\d+) ns .*; (\d+) ns with", text).groups())
    kernel, whole = map(float, re.search(r"speed-up of the kernel: ([\d.]+), .*: ([\d.]+);", text).groups())
    device = row_of(text, "product") * 1e3
    assert kernel == pytest.approx(host / device, rel=2e-3, abs=0.006) and whole == pytest.approx(host / wall, abs=0.006)
    assert device <= wall and re.search(r"copied code: \d+ ns, the mean of 10 runs", text)
    return {"device": device, "right": "result: right" in text}


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
    assert "timerResolution: 83, nanoseconds a tick" in text and "; 12000000, ticks a second" in text
    # Of the table's rows; pageable and shared memory have no line in the script.
    for name, kind in (("host to device", "pinned"), ("device to host", "pinned")):
        assert row_of(text, name) == pytest.approx((copy + 4e3) / 1e3, abs=tick / 1e3 + 0.001), kind
    product = speed_ups(text)
    assert product["device"] == pytest.approx(20e6 + 4e3, abs=tick + 500)
    assert product["right"]
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
    assert speed_ups(text)["right"]
    for name in ("heap to device", "device to heap", "pinned to device", "device to pinned", "device to device"):
        assert row_of(text, name) > 0
    assert "in steps of 1 by the driver" in text


CUDA_SCRIPT = """tare-device 1
device name "stand-in" units 4 memory 64 MiB
timer rate 1 GHz
engine compute runs kernel,to-device,to-host,local
copy pinned device fixed 100 us rate 8 GB/s
copy device pinned fixed 100 us rate 8 GB/s
copy device device fixed 100 us rate 8 GB/s
kernel steps fixed 20 ms
kernel product fixed 20 ms
"""


def test_cuda_prints_what_the_script_says(tmp_path):
    """The stand-in computes nothing, and the example finds that."""
    script = tmp_path / "cuda.tare-device"
    script.write_text(CUDA_SCRIPT, encoding="utf-8")
    (tmp_path / "libcuda.so.1").symlink_to(os.environ["FAKE_CUDA"])
    text = run("OWN_CUDA", 1, TARE_FAKE_CUDA_DEVICE=str(script),
               LD_LIBRARY_PATH=f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    copy_us = 100 + (1 << 22) / 8e3
    assert time_ns(text, "kernel") == pytest.approx(20e6, rel=1e-2)
    assert time_ns(text, "kernels of the sequence") == pytest.approx(40e6, rel=1e-2)
    assert time_ns(text, "sequence") == pytest.approx(40e6 + 2e3 * copy_us, rel=1e-2)
    for name in ("pinned to device", "device to pinned", "device to device"):
        assert row_of(text, name) == pytest.approx(copy_us, rel=5e-2)
    product = speed_ups(text)
    assert product["device"] == pytest.approx(20e6, rel=1e-2) and not product["right"]
