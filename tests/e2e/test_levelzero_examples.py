# SPDX-License-Identifier: Apache-2.0
"""The Level Zero examples on ze-cpu: each runs, verifies what it computed, and under a script shows
the script's figures. No absolute times but the script's own."""
import os
import pathlib
import re
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("TARE_BUILD", ""))
EXAMPLES = BUILD / "examples"
DRIVER = BUILD / "drivers" / "ze-cpu" / "libze_cpu.so"
SCRIPT = """tare-device 1
device name "exact" memory 1 GiB
timer rate 12 MHz bits {bits}
engine compute runs to-device,to-host,local,kernel
engine copy runs to-device,to-host,local
engine copy runs to-device,to-host,local
copy pinned device rate 2 GB/s
copy device pinned rate 2 GB/s
copy pageable device rate 1 GB/s
copy device pageable rate 1 GB/s
copy device device rate 16 GB/s
copy shared shared rate 16 GB/s
copy pageable pageable rate 4 GB/s
copy pageable pinned rate 4 GB/s
copy pinned pageable rate 4 GB/s
copy pageable shared rate 4 GB/s
copy shared pageable rate 4 GB/s
kernel matmul_coalesced fixed 5 ms
kernel steps fixed 1 ms
"""

pytestmark = [
    pytest.mark.skipif(not (EXAMPLES / "levelzero-matmul").exists(),
                       reason="the examples are not built: no Level Zero loader to link"),
    pytest.mark.skipif(not DRIVER.exists(), reason="ze-cpu is not built"),
]
kernels_needed = pytest.mark.skipif(not (EXAMPLES / "levelzero-kernels.spv").exists(),
                                    reason="no SPIR-V kernels: clang or llvm-spirv is missing")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    cache = tmp_path_factory.mktemp("kernels")

    def call(name, *arguments, script=None, driver=DRIVER):
        environment = {**os.environ, "ZE_ENABLE_ALT_DRIVERS": str(driver),
                       "POCL_CACHE_DIR": str(cache)}
        environment.pop("ZE_CPU_SCRIPT", None)
        if script:
            path = cache / "script.tare-device"
            path.write_text(script)
            environment["ZE_CPU_SCRIPT"] = str(path)
        done = subprocess.run([EXAMPLES / f"levelzero-{name}", *map(str, arguments)],
                              env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr
    return call


def scripted(bits=36):
    return SCRIPT.format(bits=bits)


def number(text, pattern):
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


@kernels_needed
@pytest.mark.parametrize("name, arguments", [
    ("matmul", ("--size", 32, "--runs", 2)),
    ("pipeline", ("--chunks", 3, "--kilobytes", 16, "--runs", 1, "--queues", 1)),
    ("pipeline", ("--chunks", 3, "--kilobytes", 16, "--runs", 1, "--queues", 2)),
    ("forms", ("sequential", 3, 16)), ("forms", ("concurrent", 3, 16)), ("forms", ("default-queue", 3, 16)),
    ("forms", ("blocking", 3, 16)), ("forms", ("pageable", 3, 16)), ("forms", ("allocation", 3, 16)),
    ("forms", ("build", 2, 16)),
    ("ladder", ("--size", 32, "--runs", 1)),
])
def test_results_are_verified(run, name, arguments):
    status, out, errors = run(name, *arguments)
    assert status == 0 and errors == "", errors
    assert "result: right" in out and "WRONG" not in out


def test_transfers_are_verified(run):
    status, out, errors = run("transfers", "--largest", 64, "--runs", 2)
    assert status == 0 and errors == "", errors
    assert "result: right" in out
    for line in ("shared -> shared", "heap -> device", "device -> heap", "device -> device",
                 "host -> device", "device -> host"):
        assert len(re.findall(rf"^{line} ", out, re.M)) == 3


@kernels_needed
# Of 16 bits the counter wraps every 5.46 ms: nearly every launch of 5 ms meets that.
@pytest.mark.parametrize("bits", [32, 16])
def test_matmul_shows_the_scripts_time(run, bits):
    status, out, errors = run("matmul", "--size", 16, "--runs", 5, script=scripted(bits))
    assert status == 0, errors
    assert "12000000 cycles/s; the older encoding says 83 ns" in out
    tick_ns = 1e9 / 12e6
    for clock in ("global", "context"):
        assert abs(number(out, rf"by {clock} .*= (\d+) ns") - 5e6) <= tick_ns
    assert abs(number(out, r"by its timestamps +([\d.]+) us") * 1e3 - 5e6) <= tick_ns + 50


def test_transfers_show_the_scripts_rates(run):
    status, out, errors = run("transfers", "--largest", 1024, "--runs", 1, script=scripted())
    assert status == 0, errors
    for line, rate in (("heap -> device", 1), ("host -> device", 2), ("device -> host", 2),
                       ("device -> device", 16)):
        ns = number(out, rf"{line} +1048576 +(\d+)")
        assert abs(ns - 2**20 / rate) <= 0.01 * 2**20 / rate + 200, line


@kernels_needed
@pytest.mark.parametrize("queues", [1, 2, 3])
def test_pipeline_overlaps_as_the_script_allows(run, queues):
    # Copies of 1 MiB at 2 GB/s: 0.524 ms each way; a kernel of 1 ms.
    copy_ms, chunks = 2**20 / 2e9 * 1e3, 4
    serial_ms = chunks * (2 * copy_ms + 1)
    bound_ms = {1: serial_ms, 2: max(2 * chunks * copy_ms, 2 * copy_ms + chunks)}.get(
        queues, 2 * copy_ms + chunks)
    # A host that is held up between two submissions delays the device: it has three tries.
    for _ in range(3):
        status, out, errors = run("pipeline", "--chunks", chunks, "--runs", 2, "--queues", queues,
                                  script=scripted())
        assert status == 0, errors
        assert abs(number(out, r"by the stamps in ([\d.]+)") - chunks * copy_ms) < 0.01
        assert abs(number(out, r"bound +([\d.]+) ms") - bound_ms) < 0.01
        serial = number(out, r"serial +([\d.]+) ms by the stamps")
        overlapped = number(out, r"overlapped +([\d.]+) ms by the stamps")
        assert abs(serial - serial_ms) < 0.02 * serial_ms
        assert overlapped >= bound_ms - 0.01
        if overlapped < 1.02 * bound_ms:
            return
    assert overlapped < 1.02 * bound_ms, out


@pytest.mark.parametrize("name, arguments, words", [
    ("matmul", ("--size", 17), "a multiple of 16"),
    ("ladder", ("--size", 0), "from 16 to 1024"),
    ("pipeline", ("--queues", 4), "from 1 to 3"),
    ("transfers", ("--fast", 1), "there is no option '--fast'"),
    ("transfers", ("--runs",), "--runs takes a number"),
    ("matmul", ("--kernels",), "--kernels needs a value"),
])
def test_mistakes_end_in_a_sentence(run, name, arguments, words):
    status, out, errors = run(name, *arguments)
    assert status == 2 and words in errors and errors.count("\n") == 1


def test_what_is_missing_is_named(run, tmp_path):
    status, _, errors = run("transfers", driver="/nowhere/libze_cpu.so")
    assert status == 1 and "there is no Level Zero device" in errors
    status, _, errors = run("ladder", "--kernels", "/nowhere/k.spv")
    assert status == 1 and "/nowhere/k.spv" in errors
    status, _, errors = run("transfers", "--ordinal", 15)
    assert status == 1 and "no ordinal 15" in errors
    (tmp_path / "bad.spv").write_bytes(b"this is no SPIR-V at all")
    status, _, errors = run("ladder", "--size", 16, "--kernels", tmp_path / "bad.spv")
    assert status == 1 and "zeModuleCreate failed" in errors


@kernels_needed
def test_without_a_number_of_runs_the_pipelines_work_for_half_a_second(run):
    status, out, errors = run("pipeline", "--chunks", 2, "--kilobytes", 64, script=scripted())
    assert status == 0 and errors == ""
    assert number(out, r"runs? of each kind, together ([\d.]+) ms") >= 500
    status, out, errors = run("pipeline", "--chunks", 2, "--kilobytes", 64, "--runs", 3, script=scripted())
    assert status == 0 and "3 runs of each kind" in out
    status, out, errors = run("forms", "concurrent", 2, 64, script=scripted())
    assert status == 0 and ", 1 run: " in out  # and the kernel is built from here on
    status, out, errors = run("forms", "concurrent", script=scripted())
    assert status == 0 and number(out, r"(\d+) runs?: ") * (number(out, r"runs?: ([\d.]+) ms each") + 1e-3) >= 500


@pytest.mark.parametrize("name", ["matmul", "transfers", "pipeline", "ladder"])
def test_help(run, name):
    status, out, errors = run(name, "--help")
    assert status == 0 and "--runs" in out and errors == ""
