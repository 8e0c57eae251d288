# SPDX-License-Identifier: Apache-2.0
"""Kernels of the user's for CUDA: the whole program over stand-ins for the driver and NVRTC."""
import os
import pathlib

import pytest

FOLDER = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "tests/fakes"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/kernels"
SCALE = (EXAMPLES / "scale.cu").read_text() if (EXAMPLES / "scale.cu").exists() else ""
HEAD = ".version 6.0\n.target sm_70\n.address_size 64\n"


@pytest.fixture
def environment():
    """Only the stand-ins: no driver or compiler of this machine takes part."""
    names = {"TARE_CUDA_LIBRARY": "fake_cuda.so", "TARE_NVML_LIBRARY": "fake_nvml.so",
             "TARE_NVRTC_LIBRARY": "fake_nvrtc.so"}
    paths = {variable: FOLDER / name for variable, name in names.items()}
    for path in paths.values():
        if not path.exists():
            pytest.skip(f"{path.name} is not built")
    return {**{variable: str(path) for variable, path in paths.items()},
            "TARE_OPENCL_LIBRARY": "/nonexistent", "TARE_LEVELZERO_LIBRARY": "/nonexistent"}


def overlap(tare, environment, *arguments):
    return tare("overlap", "--device", "cuda:0", "--budget", "1", "--bytes", "256K", "--break", "none",
                "--chunks", "2", "--queues", "2", *arguments, env=environment)


@pytest.mark.parametrize("file,arguments", [
    ("scale", ["--arg", "float:0.5"]),
    ("blocks", ["--align", "64", "--group", "64", "--arg", "local:256"]),
    ("polynomial", ["--item-bytes", "8,4", "--arg", "int:64"]),
])
def test_examples_are_taken(tare, environment, file, arguments):
    result = overlap(tare, environment, "--kernel", str(EXAMPLES / f"{file}.cu"), *arguments)
    assert result.returncode == 0, result.stderr
    assert file in result.stdout and "bound" in result.stdout


REFUSED = [
    ("k.cu", SCALE, ["--arg", "int:5"], "argument 5 (factor) is float, but its --arg gives int"),
    ("k.cu", SCALE, [], "takes 5 arguments, the contract has 4"),
    ("k.cu", SCALE, ["--entry", "nope"], "no kernel 'nope'; it has: scale"),
    ("k.cu", SCALE + SCALE.replace("scale(", "other("), [], "has 2 kernels; choose one with --entry: scale, other"),
    ("k.cu", "#error stop\n", [], "do not compile"),
    ("k.cu", "kernel void a(global int *b) { b[get_global_id(0)] = 1; }", [], "this is OpenCL C"),
    ("k.cu", "__global__ void a(const float *i, const float *o, unsigned f, unsigned c) { }", [],
     "argument 2 (o) is the output, and yet const"),
    ("k.cu", "__global__ void a(float *i, float *o, float f, unsigned c) { }", [],
     "argument 3 (f) must be the first item, a uint"),
    ("k.cu", "__global__ void a(int i, float *o, unsigned f, unsigned c) { }", [],
     "argument 1 (i) must be the input, a global pointer"),
    ("k.cu", "__global__ void a(int *i, int *o, unsigned f, unsigned c, float *s) { }", ["--arg", "local:64"],
     "an offset into extern __shared__"),
    ("k.cl", "kernel void a(global int *b) { }", [], "is OpenCL C, which CUDA does not take"),
    ("k.ptx", "hello", [], "this is no PTX"),
    ("k.ptx", "", [], "is empty"),
    ("k.ptx", "\x7fELF\x02\x01\x01\x00", [], "a GPU binary (cubin or fatbin), not PTX"),
    ("k.ptx", HEAD + ".func f() { ret; }", [], "has no kernel"),
    ("k.ptx", HEAD.replace("6.0", "9.9") + ".entry a() { }", [], "PTX 9.9, newer than the driver takes (CUDA 13.0)"),
    ("k.ptx", HEAD.replace("70", "100") + ".entry a() { }", [], "is for sm_100, this device has compute capability 9.0"),
    ("k.ptx", HEAD + ".entry a(.param .u64 i, .param .u64 o, .param .u64 f, .param .u32 c) { }", [],
     "argument 3 must be the first item, a uint"),
]


@pytest.mark.parametrize("name,text,arguments,words", REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_do_is_one_sentence(tare, environment, tmp_path, name, text, arguments, words):
    (tmp_path / name).write_bytes(text.encode())
    result = overlap(tare, environment, "--kernel", str(tmp_path / name), *arguments)
    assert result.returncode == 1 and result.stdout == ""
    *_, sentence = result.stderr.splitlines()
    assert sentence.startswith("tare: overlap: ") and words in sentence


def test_without_the_compiler_ptx_still_works(tare, environment, tmp_path):
    without = {**environment, "TARE_NVRTC_LIBRARY": "/nonexistent"}
    result = overlap(tare, without, "--kernel", str(EXAMPLES / "scale.cu"), "--arg", "float:1")
    assert result.returncode == 1 and "PTX needs no NVRTC" in result.stderr
    (tmp_path / "k.ptx").write_text(HEAD + ".entry a(.param .u64 i, .param .u64 o, .param .u32 f, .param .u32 c) { }")
    result = overlap(tare, without, "--kernel", str(tmp_path / "k.ptx"))
    assert result.returncode == 0, result.stderr


def test_warnings_are_shown_when_asked_for(tare, environment, tmp_path):
    (tmp_path / "k.cu").write_text("#warning careful\n" + SCALE)
    arguments = ["--kernel", str(tmp_path / "k.cu"), "--arg", "float:1"]
    assert "careful" in overlap(tare, environment, "-v", *arguments).stderr
    assert "careful" not in overlap(tare, environment, *arguments).stderr


@pytest.mark.parametrize("script,words", [
    ("prohibited", "its compute mode is prohibited; as root: `nvidia-smi -c DEFAULT`"),
    ("exclusive", "its compute mode is exclusive-process and another process uses it"),
    ("missing=cuDevicePrimaryCtxRelease_v2", "tare needs one of CUDA 11.0 or newer"),
    ("init=100", "it finds no NVIDIA GPU"),
])
def test_a_device_that_does_not_open_says_the_way_out(tare, environment, script, words):
    result = tare("latency", "--device", "cuda:0", env={**environment, "TARE_FAKE_CUDA": script})
    assert result.returncode == 1 and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1 and words in result.stderr
    assert "where there is an NVIDIA device" not in result.stderr
