# SPDX-License-Identifier: Apache-2.0
"""The whole program on vendor libraries that play faults, or devices that this machine lacks."""
import json
import os
import pathlib
import signal

import pytest

ONE_LINE = ["--lines", "host-to-device", "--sizes", "8K..32K", "--budget", "0.3"]


@pytest.fixture
def environment():
    """Only the fakes: no driver of this machine takes part."""
    folder = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "tests/fakes"
    names = {"TARE_CUDA_LIBRARY": "fake_cuda.so", "TARE_NVML_LIBRARY": "fake_nvml.so",
             "TARE_OPENCL_LIBRARY": "libfake_opencl.so"}
    paths = {variable: folder / name for variable, name in names.items()}
    for path in paths.values():
        if not path.exists():
            pytest.skip(f"{path.name} is not built")
    return {**{variable: str(path) for variable, path in paths.items()},
            "TARE_LEVELZERO_LIBRARY": str(folder / "fake_levelzero.so")}


@pytest.fixture
def only_opencl(environment):
    return {**environment, "TARE_CUDA_LIBRARY": "/nonexistent", "TARE_LEVELZERO_LIBRARY": "/nonexistent"}


def sentence(result):
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.mark.parametrize("fault,words", [("no-platform", "no driver"), ("no-device", "no device")])
@pytest.mark.parametrize("command", ["latency", "bandwidth"])
def test_no_device_is_one_sentence(tare, only_opencl, tmp_path, command, fault, words):
    result = tare(command, "--json", "a.json", env={**only_opencl, "TARE_FAKE_OPENCL": fault})
    assert result.returncode == 1 and result.stdout == ""
    assert words in sentence(result)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", ["no-profiling", "refuses-profiling"])
def test_without_profiling_the_device_times_say_why(tare, only_opencl, fault):
    result = tare("bandwidth", *ONE_LINE, "--json", "-",
                  env={**only_opencl, "TARE_FAKE_OPENCL": fault})
    assert result.returncode == 0, result.stderr
    cells = [cell for cell in json.loads(result.stdout)["cells"] if "bytes" in cell["labels"]]
    assert {cell["source"] for cell in cells} == {"device", "host"}
    for cell in cells:
        if cell["source"] == "device":
            assert cell["median"] is None and cell["absent"].startswith("no device times: ")
        else:
            assert cell["median"] > 0


def test_memory_that_runs_out_ends_the_sizes(tare, only_opencl):
    result = tare("bandwidth", "--lines", "host-to-device", "--sizes", "256K..4M", "--budget", "0.3",
                  "--json", "-", env={**only_opencl, "TARE_FAKE_OPENCL": "allocation-limit=1000000"})
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert max(cell["labels"].get("bytes", 0) for cell in document["cells"]) < 1000000
    assert any("4 MB" in warning["message"] for warning in document["warnings"])


def test_cuda_comes_before_opencl_and_the_choice_is_said(tare, environment):
    result = tare("latency", "--budget", "0.3", "--json", "-", env=environment)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["device"]["backend"] == "cuda"
    assert "measuring NVIDIA H200 (cuda:0); --device picks another" in sentence(result)
    quiet = tare("latency", "-q", "--budget", "0.3", "--json", "-", env=environment)
    assert quiet.returncode == 0 and quiet.stderr == ""


def test_a_loader_that_lacks_what_measuring_needs_says_so(tare, environment):
    if not pathlib.Path(environment["TARE_LEVELZERO_LIBRARY"]).exists():
        pytest.skip("built without Level Zero")
    result = tare("latency", "--device", "levelzero", env=environment)
    assert result.returncode == 1
    assert "lacks zeContextCreate" in sentence(result)


@pytest.mark.parametrize("fault,words", [("build-exits", "the driver's compiler ended the program while my.cl was built"),
                                         ("build-crashes", "most likely of the driver's compiler, while my.cl was")])
@pytest.mark.parametrize("command", ["devices", "overlap"])
def test_a_compiler_that_ends_the_program_is_told(tare, only_opencl, tmp_path, command, fault, words):
    (tmp_path / "my.cl").write_text("kernel void f(global int *a, global int *b, uint first, uint count) { }")
    result = tare(command, "-d", "opencl", "--kernel", "my.cl", "--json", "a.json",
                  env={**only_opencl, "TARE_FAKE_OPENCL": fault})
    assert result.returncode == 1 and words in sentence(result) and "spirv" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my.cl"]


def test_a_crash_of_a_launch_is_not_called_one_of_the_compiler(tare, only_opencl, tmp_path):
    (tmp_path / "my.cl").write_text("kernel void f(global int *a, global int *b, uint first, uint count) { }")
    result = tare("overlap", "-d", "opencl", "--kernel", "my.cl",
                  env={**only_opencl, "TARE_FAKE_OPENCL": "no-parameters,enqueue-crashes=100"})
    assert result.returncode == -signal.SIGABRT and "compiler" not in result.stderr
