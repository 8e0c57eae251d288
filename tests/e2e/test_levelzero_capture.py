# SPDX-License-Identifier: Apache-2.0
"""Intel's own Level Zero driver in its capture mode, which needs no hardware: everything is real,
but nothing executes. Skipped where libze_intel_gpu.so.1 is not installed: TARE_INTEL_LEVELZERO names
it elsewhere; what it needs is then looked for beside it."""
import json
import os
import pathlib
import subprocess

import pytest

import validate
from recorded import BUILD, SANITIZED

FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/lib64", "/usr/lib")
LIBRARY = "libze_intel_gpu.so.1"
# Execution units on each, SIMD lanes of one, work-items of the largest group.
PRODUCTS = {"skl": (24, 8, 256), "icllp": (64, 8, 256), "tgllp": (96, 8, 512), "dg1": (96, 8, 512),
            "dg2": (512, 8, 1024), "pvc": (512, 16, 1024)}
SIZES = {"dg2": "8x4x16", "pvc": "8x8x8"}
MEASURING = ("latency", "bandwidth", "peak", "matmul", "overlap", "checkup")


def environment_of(product):
    named = os.environ.get("TARE_INTEL_LEVELZERO")
    places = [pathlib.Path(named)] if named else [pathlib.Path(folder) / LIBRARY for folder in FOLDERS]
    library = next((path for path in places if path.exists()), None)
    if not library:
        pytest.skip(f"{LIBRARY} is not installed" if not named else f"there is no {named}")
    environment = {"ZE_ENABLE_ALT_DRIVERS": str(library), "NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1",
                   "ProductFamilyOverride": product}
    if named:
        environment["LD_LIBRARY_PATH"] = f"{library.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    if product in SIZES:
        environment["HardwareInfoOverride"] = SIZES[product]
    return environment


@pytest.mark.parametrize("product", PRODUCTS)
def test_device_timers_and_kernels(tare, spirv, product):
    shown = tare("devices", "-d", "levelzero", "--kernel", spirv, "--json", "-", env=environment_of(product))
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert validate.faults(document) == []
    facts = {key: fact["value"] for key, fact in document["devices"][0]["facts"].items()}
    units, lanes, largest = PRODUCTS[product]
    assert (facts["compute_units"], facts["fp32_lanes_per_unit"]) == (units, lanes)
    assert facts["timer_hz"] == 12000048 and facts["timer_older_encoding"].startswith("83 ns a tick")
    assert facts["timer_valid_bits"] == 32 and facts["global_timer_valid_bits"] == 36
    kernels = {kernel["name"]: kernel for kernel in document["devices"][0]["kernels"]["kernels"]}
    kernel = kernels["overlap_register"]
    assert kernel["arguments"] == 6 and kernel["max_group_size"] in (largest, largest // 2)
    assert kernel["simd_width"] in (8, 16, 32) and kernel["preferred_multiple"] % kernel["simd_width"] == 0
    assert None not in (kernel["local_bytes"], kernel["private_bytes"], kernel["spill_bytes"])


@pytest.mark.parametrize("product", ("skl", "pvc"))
@pytest.mark.parametrize("command", MEASURING)
def test_measuring_ends_in_a_sentence_without_figures(tare, command, product):
    done = tare(command, "-d", "levelzero", "--json", "never.json", env=environment_of(product), timeout=60)
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert "the device does not do it" in done.stderr and "nothing was measured" in done.stderr


def test_what_does_not_build_is_named(tare, spirv, tmp_path):
    environment = environment_of("tgllp")
    doubles = spirv.with_name("peak_fp64.spv")
    done = tare("devices", "-d", "levelzero", "--kernel", doubles, env=environment)
    assert done.returncode == 1 and "Double type is not supported" in done.stderr
    assert "peak_fp64.spv does not compile; the build log says why" in done.stderr.splitlines()[-1]
    # This one's compiler calls exit() on it.
    (tmp_path / "cut.spv").write_bytes(spirv.read_bytes()[:-400])
    done = tare("devices", "-d", "levelzero", "--kernel", "cut.spv", "--json", "never.json", env=environment)
    assert done.returncode == 1 and "cut.spv" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not [path.name for path in tmp_path.iterdir() if "never" in path.name]


STYLES = BUILD / "tests/levelzero/styles"
# Whether the program comes to its end: one that reads what an event says gives up at once, for it says nothing.
ENDS = {"plain": False, "reused": False, "without": True, "in-order": True, "synchronous": True, "regular=1": True,
        "regular=3": True, "several": True, "resetting": True, "copies": True}


@pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")
@pytest.mark.parametrize("style", ENDS)
@pytest.mark.parametrize("product", ("skl", "tgllp", "pvc"))
def test_a_recorded_program_is_as_without_and_its_times_are_not_observed(tare_path, tmp_path, product, style):
    if not STYLES.exists():
        pytest.skip("there is no Level Zero loader to link")
    environment = {**os.environ, **environment_of(product), "STYLES_KERNELS": str(BUILD / "kernels/empty.spv")}

    def run(*command):
        return subprocess.run([*map(str, command)], env=environment, cwd=tmp_path, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    native = run(STYLES, style)
    done = run(tare_path, "record", "-q", "-o", "run", "--", STYLES, style)
    assert (done.returncode, done.stdout, done.stderr) == (native.returncode, native.stdout, native.stderr)
    assert (done.returncode == 0) == ENDS[style], done.stderr
    shown = run(tare_path, "report", "run.tare", "--json", "-")
    coverage = json.loads(shown.stdout)["coverage"]
    ran = sum(line.startswith("run ") for line in done.stdout.splitlines())
    assert ran > 0 and (coverage["enqueued"], coverage["completed"], coverage["unobserved"]) == (ran, 0, ran)


@pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")
@pytest.mark.parametrize("metrics, words", [(None, "lacks a library that counts"), ("0", "no counters over time")])
@pytest.mark.parametrize("product", ("tgllp", "pvc"))
def test_counters_are_refused_with_the_way_out_and_the_program_is_as_without(tare_path, tmp_path, product, metrics, words):
    """Without libigdmd and libigdml, which nothing here brings along: the streamer and the queries of `tare hotspots`."""
    if not STYLES.exists():
        pytest.skip("there is no Level Zero loader to link")
    environment = {**os.environ, **environment_of(product), "STYLES_KERNELS": str(BUILD / "kernels/empty.spv"),
                   "TARE_CUDA_LIBRARY": "/nonexistent.so"}
    environment.pop("ZET_ENABLE_METRICS", None)
    if metrics:
        environment["ZET_ENABLE_METRICS"] = metrics

    def run(*command):
        return subprocess.run([*map(str, command)], env=environment, cwd=tmp_path, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    native = run(STYLES, "in-order")
    done = run(tare_path, "hotspots", "--timeline", "-o", "run", "--", STYLES, "in-order")
    assert done.returncode == native.returncode and done.stdout.startswith(native.stdout), done.stderr
    refused = [line for line in done.stderr.splitlines() if "--timeline: n/a" in line]
    if not refused:
        pytest.skip("the driver counts here: its libraries are there")
    # As a pvc the driver 1.3.24595 crashes when it is asked for metrics: in a process of tare's own.
    crashed = product == "pvc" and not metrics and "the driver ended the sampling process" in refused[0]
    assert len(refused) == 1 and (crashed or (words in refused[0] and "libigdmd" in refused[0]))
    listed = run(tare_path, "devices", "--counters", "-d", "levelzero")
    assert listed.returncode == 0 and "n/a: " in listed.stdout
