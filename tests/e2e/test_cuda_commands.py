# SPDX-License-Identifier: Apache-2.0
"""The measuring commands on the stand-in for libcuda that plays tests/data/cuda.tare-device: figures
of the device's clock are compared with that script, and each bad input ends in one sentence."""
import json
import os
import pathlib

import pytest

import validate
from patience import ended_well, patient

LIBRARIES = {"TARE_CUDA_LIBRARY": "fake_cuda.so", "TARE_NVML_LIBRARY": "fake_nvml.so"}
OPTIONAL = {"TARE_NVRTC_LIBRARY": "fake_nvrtc.so", "TARE_CUBLAS_LIBRARY": "fake_cublas.so",
            "TARE_CUPTI_LIBRARY": "fake_cupti.so"}
LINE = ["--lines", "host-to-device", "--sizes", "64K", "--budget", "0.2"]


@pytest.fixture
def environment(test_data, tmp_path):
    folder = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "tests/fakes"
    paths = {variable: folder / name for variable, name in LIBRARIES.items()}
    for path in paths.values():
        if not path.exists():
            pytest.skip(f"{path.name} is not built")
    for variable, name in OPTIONAL.items():
        paths[variable] = folder / name if (folder / name).exists() else "/nonexistent"
    return {**{variable: str(path) for variable, path in paths.items()},
            "TARE_OPENCL_LIBRARY": "/nonexistent", "TARE_LEVELZERO_LIBRARY": "/nonexistent",
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "TARE_FAKE_CUDA_DEVICE": str(test_data / "cuda.tare-device")}


@pytest.fixture
def cuda(tare, environment, tmp_path):
    """Runs a command on the device; returns what it said, and the document if there is one."""
    def run(command, *arguments, fake="", **changes):
        path = tmp_path / "result.json"
        path.unlink(missing_ok=True)
        done = tare(command, "--device", "cuda:0", *arguments, "--json", path,
                    env={**environment, "TARE_FAKE_CUDA": fake, **changes})
        return done, validate.check(path) if path.exists() else None

    return run


def cells(document, **labels):
    return [cell for cell in document["cells"]
            if all(cell["labels"].get(name) == value for name, value in labels.items())]


def only(document, source="device", **labels):
    found = [cell for cell in cells(document, **labels) if cell["source"] == source]
    assert len(found) == 1, found
    return found[0]


def sentence(done):
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tare: "), done.stderr
    return last


def test_devices_tells_what_the_driver_and_nvml_say(cuda):
    done, document = cuda("devices")
    assert done.returncode == 0, done.stderr
    facts = document["devices"][0]["facts"]
    said = {name: facts[name]["value"] for name in ("name", "compute_units", "max_clock_hz")}
    assert said == {"name": "Scripted GPU", "compute_units": 16, "max_clock_hz": 1e9}
    assert "copy engines 2" in done.stdout and "PCIe 5.0 x16" in done.stdout


@patient
def test_bandwidth_is_the_scripts(cuda, times):
    rates = {"host-to-device": 4, "device-to-host": 5, "device-to-device": 20,
             "both-to-device": 3, "both-to-host": 4}
    done, document = cuda("bandwidth", "--lines", "host-to-device,device-to-host,device-to-device,both",
                          "--sizes", "1M", "--budget", str(0.6 * times))
    ended_well(done)
    for line, rate in rates.items():
        cell = only(document, line=line, bytes=1 << 20)
        assert cell["verified"] is not False
        assert cell["rate"]["median"] == pytest.approx(rate, rel=0.03), line


@patient
def test_latency_tells_launches_apart(cuda, times):
    done, document = cuda("latency", "--budget", str(0.4 * times))
    ended_well(done)
    # A kernel of 3 us; its stamps are positions in the stream. One after another: 0.1 us between.
    alone = only(document, what="empty kernel, alone", by=None)["median"] / 1e6
    gated = [cell for cell in cells(document, what="launch, gated") if cell["source"] == "device"][0]
    assert 3 < alone < 6
    assert gated["median"] / 1e6 == pytest.approx(3.1, rel=0.02)
    step = only(document, what="step between device stamps")["median"] / 1e3
    assert step == pytest.approx(64, abs=33)
    # The link of a device that idles is not taken for the one it has.
    assert "PCIe 1.0 x16 (at most PCIe 5.0 x16)" in " ".join(done.stdout.split())


@patient
def test_peak_is_the_scripts_and_right(cuda, times):
    # However slowly the stand-in multiplies matrices, their clock is read under load.
    done, document = cuda("peak", "--budget", str(1.2 * times), TARE_FAKE_NVML="loaded=60000")
    ended_well(done)
    measured = [cell for cell in document["cells"] if cell["source"] == "device" and cell["median"]]
    assert measured and all(cell["verified"] for cell in measured)
    # Turns a second, times 512 multiply-adds; bytes a second.
    for labels, rate in [({"type": "fp32", "width": 8}, 4096), ({"type": "fp64", "width": 8}, 2048),
                         ({"type": "int32", "width": 8}, 1024),
                         ({"group": "memory", "op": "read", "width": 4}, 64),
                         ({"group": "memory", "op": "write", "width": 4}, 32)]:
        cell = only(document, **labels)
        if cell["median"] is None:
            assert "budget" in cell["absent"]
        else:
            assert cell["rate"]["median"] == pytest.approx(rate, rel=0.12), labels
    fp32 = only(document, type="fp32", width=8)
    assert fp32["rate"]["median"] == pytest.approx(4096, rel=0.02)
    assert "(0 % of" not in done.stdout
    # The matrix units by size, and for each tick of the clock that was read meanwhile.
    plots = {plot["id"]: plot for plot in document["plots"]}
    clocks = {cell["labels"]["what"]: cell["median"] for cell in cells(document, group="ceiling")
              if cell["quantity"] == "clock"}
    units = document["device"]["facts"]["compute_units"]["value"]
    for series in plots["tensor"]["series"]:
        each = [one for one in plots["tensor-per-clock"]["series"] if one["name"] == series["name"]][0]
        for (n, rate, *_), (same, per_clock, *_) in zip(series["points"], each["points"]):
            clock = clocks[f"tensor {series['name']}"]
            assert same == n and per_clock == pytest.approx(1e3 * rate / clock / units, rel=0.05)
    told = [cell for cell in cells(document, group="ceiling") if cell["quantity"] == "slowed down"]
    assert {cell["labels"]["what"] for cell in told} == set(clocks)


@patient
def test_matmul_is_right_and_as_fast_as_the_script_says(cuda, times):
    done, document = cuda("matmul", "--n", "128", "--rungs", "naive,tiled,register", "--budget", str(1 * times))
    ended_well(done)
    for rung, rate in [("naive", 40), ("tiled", 100), ("register", 200)]:
        cell = [cell for cell in cells(document, rung=rung, n=128, part="kernel")
                if cell["source"] == "device" and "what" not in cell["labels"]][0]
        assert cell["verified"], cell
        # The kernel's fixed microsecond, and the records beside it.
        took_us = 2 * 128 ** 3 / rate / 1e3
        assert took_us < cell["median"] / 1e6 < took_us + 5, rung


@patient
def test_overlap_comes_near_its_bound(cuda, times):
    done, document = cuda("overlap", "--bytes", "1M", "--budget", str(1.5 * times), "--queues", "1,3",
                          "--chunks", "1,8,16", "--cycles", "8")
    ended_well(done)
    stages = {cell["labels"]["stage"]: cell["median"] / 1e6 for cell in cells(document, group="sequential")
              if "stage" in cell["labels"] and cell["source"] == "device"}
    # What no CUDA device has is a remark, nothing to be done about.
    assert [(each["message"], each["action"]) for each in document["warnings"] if each["id"] == "mechanisms"] == [
        ("not searched: out-of-order (a CUDA stream runs in order)", None)]
    assert stages["to-device"] == pytest.approx(262, rel=0.03)
    assert stages["to-host"] == pytest.approx(210, rel=0.03)
    found = [cell for cell in cells(document, group="concurrent") if cell["source"] == "host"]
    assert found and all(cell["verified"] for cell in found)
    # Three stages one after the other, and what no schedule can beat: the longest of them. Of the
    # host's clock the shortest time is asked for: other work on this machine only adds to it.
    best = min(cell["min"] for cell in found) / 1e3
    assert max(stages.values()) * 0.97 < best < sum(stages.values()) * 0.95


@pytest.mark.thorough
@patient
def test_checkup_goes_through_all(cuda, times):
    done, document = cuda("checkup", "--budget", str(0.8 * times))
    ended_well(done)
    assert [part["command"] for part in document["parts"]][:3] == ["devices", "latency", "bandwidth"]


# ---- bad input

@pytest.mark.parametrize("fake,changes,words", [
    ("", {"TARE_CUDA_LIBRARY": "/nonexistent"}, ["/nonexistent"]),
    ("init=100", {}, ["no NVIDIA GPU"]),
    ("init=34", {}, ["stub"]),
    ("init=803", {}, ["restart"]),
    ("init=999", {}, ["nvidia-smi"]),
    ("devices=0", {}, ["no NVIDIA GPU"]),
    ("missing=cuMemcpyAsync", {}, ["too old", "cuMemcpyAsync"]),
    ("exclusive", {}, ["exclusive-process", "nvidia-smi"]),
    ("prohibited", {}, ["prohibited", "nvidia-smi"]),
])
@pytest.mark.parametrize("command", ["latency", "bandwidth"])
def test_what_cannot_be_opened_is_one_sentence(cuda, tmp_path, command, fake, changes, words):
    done, document = cuda(command, "--budget", "0.2", fake=fake, **changes)
    said = sentence(done)
    assert done.stdout == "" and document is None
    for word in words:
        assert word in said
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize("missing", ["cuStreamWaitValue32_v2", "cuLaunchHostFunc", "cuFuncLoad",
                                     "cuMemPrefetchAsync,cuMemAdvise",
                                     "cuGraphInstantiateWithFlags,cuGraphLaunch"])
def test_an_older_driver_does_what_it_can(cuda, missing):
    done, document = cuda("bandwidth", *LINE, fake=f"missing={missing}")
    assert done.returncode == 0, done.stderr
    assert only(document, line="host-to-device", bytes=65536)["median"] > 0


def test_graphs_that_are_missing_are_said(cuda):
    done, document = cuda("latency", "--budget", "0.3", fake="missing=cuGraphInstantiateWithFlags")
    assert done.returncode == 0, done.stderr
    reasons = [cell["absent"] for cell in document["cells"]
               if "graph" in cell["labels"].get("what", "") and cell["absent"]]
    assert any("11.4" in reason for reason in reasons)


def test_ptx_that_is_too_new_shows_the_drivers_log(cuda, tmp_path):
    kernel = tmp_path / "mine.ptx"
    kernel.write_text(".version 9.9\n.target sm_70\n.address_size 64\n.visible .entry mine(.param .u64 a,"
                      ".param .u64 b, .param .u32 c, .param .u32 d)\n{ ret; }\n", encoding="utf-8")
    done, document = cuda("overlap", "--kernel", kernel, "--bytes", "256K", "--budget", "1")
    assert document is None
    assert "Unsupported .version 9.9" in done.stderr
    assert "PTX" in sentence(done) or "does not" in sentence(done)


def test_memory_that_runs_out_ends_the_sizes(cuda):
    done, document = cuda("bandwidth", "--lines", "host-to-device", "--sizes", "256K..4M", "--budget", "0.3",
                          fake="memory_above=1000000")
    assert done.returncode == 0, done.stderr
    assert max(cell["labels"].get("bytes", 0) for cell in document["cells"]) < 1000000
    assert any("memory" in warning["message"] for warning in document["warnings"])


@pytest.mark.parametrize("command", ["latency", "peak"])
@pytest.mark.parametrize("fake", ["fail_launch=9", "fail_launch=9 fail_code=214", "fail_launch=9 fail_code=999"])
def test_a_lost_device_is_said(cuda, command, fake):
    done, document = cuda(command, "--budget", "0.3", fake=fake)
    said = sentence(done)
    assert "lost" in said or "failed" in said
    assert document is None or document["cells"]


def test_two_gpus_of_different_kinds_are_told_apart(tare, environment, test_data):
    both = f"{test_data / 'cuda.tare-device'}:{test_data / 'kernels.tare-device'}"
    done = tare("devices", "--json", "-",
                env={**environment, "TARE_FAKE_CUDA": "devices=2", "TARE_FAKE_CUDA_DEVICE": both})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["devices"]
    facts = [device["facts"] for device in found if device["backend"] == "cuda"]
    assert [one["name"]["value"] for one in facts] == ["Scripted GPU", "Kernels"]
    assert len({one["pci_address"]["value"] for one in facts}) == 2
