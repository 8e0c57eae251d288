# SPDX-License-Identifier: Apache-2.0
"""Several devices: one after the other, together, and from one to another; on the stand-ins for CUDA."""
import csv
import json
import os
import pathlib
import re

import pytest

from patience import ended_well, patient

BUILD = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent"))
FAKES = pathlib.Path(__file__).parents[1] / "fakes"
DATA = pathlib.Path(__file__).parents[1] / "data"
SHORT = ["--lines", "host-to-device", "--sizes", "64K..128K"]


@pytest.fixture
def environment():
    libraries = {"TARE_CUDA_LIBRARY": "fake_cuda.so", "TARE_NVML_LIBRARY": "fake_nvml.so"}
    for name in libraries.values():
        if not (BUILD / "tests/fakes" / name).exists():
            pytest.skip(f"{name} is not built")
    others = ("OPENCL", "LEVELZERO", "NVRTC", "CUBLAS", "CUPTI")
    return {**{variable: str(BUILD / "tests/fakes" / name) for variable, name in libraries.items()},
            **{f"TARE_{name}_LIBRARY": "/nonexistent" for name in others}}


@pytest.fixture
def slow(tmp_path, environment):
    """Devices whose links are far slower than this machine's memory, so that the model's times count."""
    text = (FAKES / "h200.tare-device").read_text()
    text = re.sub(r"rate 55\.\d+ GB/s", "rate 0.1 GB/s", text)
    text = re.sub(r"(?m)^concurrent .*$", "", text)
    (tmp_path / "slow.tare-device").write_text(text)
    return {**environment, "TARE_FAKE_CUDA_DEVICE": str(tmp_path / "slow.tare-device")}


def together(tare, environment, words, budget):
    result = tare("bandwidth", "--device", "all", *SHORT, "--budget", budget, "--json", "-",
                  env={**environment, "TARE_FAKE_CUDA": words})
    ended_well(result)
    return json.loads(result.stdout)


def cells(document, **labels):
    return [cell for cell in document["cells"] if all(cell["labels"].get(name) == value for name, value in labels.items())]


def only(document, quantity, **labels):
    found = [cell for cell in cells(document, **labels) if cell["quantity"] == quantity]
    assert len(found) == 1, (quantity, labels, len(found))
    return found[0]


def shares(document):
    return [only(document, "share", line=line, device="all")["median"] for line in ("host-to-device", "device-to-host", "both-total")]


@patient
def test_devices_that_share_the_way_to_the_host_get_half(tare, slow, times):
    document = together(tare, slow, "devices=2 shared_link", times)
    # Half, and what a busy machine adds to either.
    assert min(shares(document)) < 70
    said = [each["text"] for each in document["conclusions"] if each["id"] == "links"]
    assert len(said) == 3 and said[0].startswith("Host to device: together ")
    assert "None is in another's way" not in " ".join(said)


@pytest.mark.thorough
@patient
def test_devices_with_links_of_their_own_get_all(tare, slow, times):
    document = together(tare, slow, "devices=2 no_peer", times)
    assert document["device"] is None
    assert [(d["backend"], d["index"]) for d in document["devices"]] == [("cuda", 0), ("cuda", 1)]
    assert [(p["command"], p["device"]["index"]) for p in document["parts"]] == [("bandwidth", 0), ("bandwidth", 1)]
    for device in ("cuda:0", "cuda:1"):
        assert only(document, "share", line="host-to-device", device=device)["median"] > 0
        alone = only(document, "time", line="host-to-device", device=device, at_work="alone")
        assert alone["verified"] is True and alone["source"] == "host"
        back = only(document, "time", line="device-to-host", device=device, at_work="alone")
        assert 0.01 < alone["rate"]["median"] < 0.12 and 0.01 < back["rate"]["median"] < 0.12
    assert max(shares(document)) > 75
    summed = only(document, "sum", line="host-to-device", device="all")
    each = [only(document, "time", line="host-to-device", device=device, at_work="alone")["rate"]["median"]
            for device in ("cuda:0", "cuda:1")]
    assert summed["median"] == pytest.approx(sum(each), rel=1e-6)
    # Peers that the driver does not allow say why; through the host they work.
    for device, peer in (("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")):
        direct = cells(document, device=device, peer=peer, path="direct")
        assert {cell["quantity"] for cell in direct} == {"time", "latency"}
        assert all("gives " + device + " no access" in cell["absent"] for cell in direct)
        assert all(cell["median"] > 0 for cell in cells(document, device=device, peer=peer, path="staged"))
    # The budget is the whole command's.
    assert document["parameters"]["budget_ns"] == times * 1_000_000_000
    assert sum(part["parameters"]["budget_ns"] for part in document["parts"]) < times * 830_000_000


@patient
def test_peers_are_measured_every_way_and_shown(tare, slow, tmp_path, times):
    # The link between the devices is faster than the way through the host.
    result = tare("bandwidth", "--device", "cuda:0,cuda:1", *SHORT, "--budget", times, "--json", "a.json", "--csv", "a.csv",
                  env={**slow, "TARE_FAKE_CUDA": "devices=2 peer_rate=200000000"})
    ended_well(result)
    assert "measuring 2 devices" in result.stderr
    assert max(len(line) for line in result.stdout.splitlines()) <= 80
    document = json.loads((tmp_path / "a.json").read_text())
    for device, peer in (("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")):
        rates = {(cell["labels"]["path"], cell["labels"]["at_work"]): cell["rate"]["median"]
                 for cell in cells(document, device=device, peer=peer, line="device-to-peer") if cell["quantity"] == "time"}
        assert set(rates) == {("staged", "alone"), ("direct", "alone"), ("direct", "both")}
        assert rates["direct", "alone"] > 1.2 * rates["staged", "alone"]
        for path in ("staged", "direct"):
            assert only(document, "latency", device=device, peer=peer, path=path)["median"] > 0
    for title in ("Direct, GB/s, row → column", "Both ways at once, GB/s", "Through the host, GB/s"):
        at = result.stdout.index(title)
        head, first, second = result.stdout[at:].splitlines()[:3]
        assert head.split()[-2:] == ["cuda:0", "cuda:1"]
        assert first.split()[:2] == ["cuda:0", "–"] and second.split()[0] == "cuda:1" and second.split()[2] == "–"
    again = tare("render", "a.json", "--csv", "b.csv")
    assert again.returncode == 0 and again.stdout.splitlines()[:5] == result.stdout.splitlines()[:5]
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["device"] for row in rows} == {"cuda:0", "cuda:1", "all"}
    assert {row["peer"] for row in rows} == {"cuda:0", "cuda:1", ""}


def test_a_device_that_is_lost_does_not_take_the_others_figures(tare, environment):
    result = tare("latency", "--device", f"simulated:{DATA / 'device-lost.tare-device'},simulated", "--budget", "0.2", "--json", "-")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert [part["device"]["index"] for part in document["parts"]][-1] == 1
    assert any(cell["median"] for cell in document["parts"][-1]["cells"])
    assert "simulated:0: the device is lost" in result.stderr.splitlines()[-1]
    told = [warning["message"] for each in [document, *document["parts"]] for warning in each["warnings"]]
    assert any("the device is lost" in message for message in told)


@pytest.mark.thorough
def test_a_gpu_that_fails_while_it_is_measured_is_named(tare, environment):
    # The first kernel of all fails, and with it the first device.
    result = tare("peak", "--device", "all", "--budget", "0.2", "--json", "-",
                  env={**environment, "TARE_FAKE_CUDA": "devices=2 fail_launch=1"})
    assert result.returncode == 1 and "cuda:0: " in result.stderr
    document = json.loads(result.stdout)
    assert [part["device"]["index"] for part in document["parts"]] == [1]
    assert [warning["id"] for warning in document["warnings"]] == ["device-missing"]
    assert document["warnings"][0]["message"].startswith("no figures of cuda:0: ")


@pytest.mark.thorough
def test_a_gpu_that_failed_alone_is_not_used_again(tare, slow):
    result = tare("bandwidth", "--device", "all", "--lines", "kernel-to-device", "--sizes", "64K..64K", "--budget", "0.3", "--json", "-",
                  env={**slow, "TARE_FAKE_CUDA": "devices=3 fail_launch=1"})
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert [part["device"]["index"] for part in document["parts"]] == [1, 2]
    assert {cell["labels"]["device"] for cell in document["cells"]} == {"cuda:1", "cuda:2", "all"}
    assert [warning["id"] for warning in document["warnings"]] == ["device-missing"]


def test_a_gpu_that_is_lost_between_two_is_left_alone(tare, slow):
    # Its first copy of 4 bytes to the other one loses it; nobody asks it for anything after that.
    result = tare("bandwidth", "--device", "cuda:0,cuda:1", *SHORT, "--budget", "1", "--json", "-",
                  env={**slow, "TARE_FAKE_CUDA": "devices=2 fail_peer=4"})
    document = json.loads(result.stdout)
    left_out = [warning["message"] for warning in document["warnings"] if warning["id"] == "device-left-out"]
    assert len(left_out) == 1 and left_out[0].startswith("cuda:0 is not in what follows: ")
    assert only(document, "time", path="staged", device="cuda:1")["median"] > 0
    assert "lost" in only(document, "latency", path="staged", device="cuda:1", peer="cuda:0")["absent"]


def test_one_that_takes_too_long_leaves_the_others_time(tare, environment):
    # A millisecond is over before the first is open.
    result = tare("latency", "--device", f"simulated,simulated:{DATA / 'kernels.tare-device'}", "--budget", "0.001", "--json", "-")
    assert result.returncode == 0, result.stderr
    budgets = [part["parameters"]["budget_ns"] for part in json.loads(result.stdout)["parts"]]
    assert len(budgets) == 2 and min(budgets) >= 125_000


@pytest.mark.parametrize("device,code,words", [
    ("cuda:0,", 2, "has an empty place in its list"),
    ("cuda:0,cuda:0", 2, "names cuda:0 twice"),
    ("cuda:0,cuda:7", 2, "there is no device 'cuda:7'"),
    ("all,cuda:1", 2, "names cuda:1 twice"),
    ("opencl:all", 1, "no OpenCL loader"),
])
def test_bad_lists_are_one_sentence(tare, environment, tmp_path, device, code, words):
    result = tare("latency", "--device", device, "--json", "a.json", env={**environment, "TARE_FAKE_CUDA": "devices=2"})
    assert (result.returncode, result.stdout) == (code, "") and words in result.stderr
    assert len(result.stderr.splitlines()) == 1 and list(tmp_path.iterdir()) == []


def test_no_device_can_be_opened(tare, environment, tmp_path):
    result = tare("latency", "--device", "all", "--json", "a.json", env={**environment, "TARE_FAKE_CUDA": "devices=2 exclusive"})
    assert result.returncode == 1 and "cuda:0: cannot open" in result.stderr and list(tmp_path.iterdir()) == []


def test_all_of_one_device_is_its_ordinary_document(tare, environment):
    result = tare("latency", "--device", "all", "--budget", "0.1", "--json", "-", env={**environment, "TARE_FAKE_CUDA": "devices=1"})
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert "parts" not in document and document["device"]["backend"] == "cuda"


def test_the_hosts_processor_is_no_part_of_all_beside_gpus(tare, environment):
    here = {name: value for name, value in environment.items() if name != "TARE_OPENCL_LIBRARY"}
    here["POCL_DEVICES"] = "basic"
    listed = json.loads(tare("devices", "--json", "-", env=here).stdout)["devices"]
    processors = [each for each in listed if each["facts"]["type"]["value"] == "CPU"]
    if not processors:
        pytest.skip("OpenCL shows no processor here; pocl-opencl-icd does")
    result = tare("latency", "--device", "all", "--budget", "0.2", "--json", "-", env={**here, "TARE_FAKE_CUDA": "devices=2"})
    document = json.loads(result.stdout)
    assert [each["backend"] for each in document["devices"]] == ["cuda", "cuda"]
    assert ["opencl:0 is the host's processor" in each["text"] for each in document["conclusions"]] == [True]
    result = tare("latency", "--device", "all,opencl:0", "--budget", "0.2", "--json", "-", env={**here, "TARE_FAKE_CUDA": "devices=1"})
    assert [each["backend"] for each in json.loads(result.stdout)["devices"]] == ["cuda", "opencl"]


def test_checkup_is_of_one_device(tare, environment):
    result = tare("checkup", "--device", "all", env={**environment, "TARE_FAKE_CUDA": "devices=2"})
    assert result.returncode == 2 and "one device at a time" in result.stderr
