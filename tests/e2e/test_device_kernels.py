# SPDX-License-Identifier: Apache-2.0
"""`devices --kernel`: what drivers tell of the kernels of a file, over ze-cpu, PoCL and scripts."""
import json
import os
import subprocess
import sys

import pytest

import validate

KERNELS = """
__kernel void add(__global const float *a, __global float *b, uint n) { b[get_global_id(0)] = a[0] + n; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void tile(__global float *a)
{ __local float t[100]; t[get_local_id(0)] = a[0]; barrier(CLK_LOCAL_MEM_FENCE); a[1] = t[3]; }
__kernel void nothing() { }
"""
# In a process of its own: a runtime leaves threads and handlers behind.
ASK = """
import ctypes, sys
cl, text = ctypes.CDLL("libOpenCL.so.1"), open(sys.argv[1], "rb").read()
for name in ("clCreateContext", "clCreateProgramWithSource", "clCreateKernel"):
    getattr(cl, name).restype = ctypes.c_void_p
pointer, told = ctypes.c_void_p, ctypes.c_uint64()
platform, device, source = pointer(), pointer(), ctypes.c_char_p(text)
assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
assert cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None) == 0
context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, None))
assert cl.clBuildProgram(program, 0, None, b"", None, None) == 0
kernel = pointer(cl.clCreateKernel(program, b"tile", None))
CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2
assert cl.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, 8, ctypes.byref(told), None) == 0
print(told.value)
"""
SCRIPT = "kernels.tare-device"


def kernels_of(result):
    document = json.loads(result.stdout)
    assert validate.faults(document) == []
    return document["devices"][0]["kernels"]


def one_sentence(result, *words):
    """All that is said on standard error, but for a build log, is one sentence with these words."""
    assert result.returncode == 1
    said = [line for line in result.stderr.splitlines() if line.startswith("tare: ")]
    assert len(said) == 1 and all(word in said[0] for word in words), result.stderr


def test_over_ze_cpu_in_every_form(tare, spirv, tmp_path):
    shown = tare("devices", "--ze-cpu", "-d", "levelzero", "--kernel", spirv, "--json", "k.json", "--csv", "k.csv")
    if "do not build" in shown.stderr or "without Level Zero" in shown.stderr or "is not in" in shown.stderr:
        pytest.skip(shown.stderr.strip())
    assert shown.returncode == 0, shown.stderr
    built = json.loads((tmp_path / "k.json").read_text())["devices"][0]["kernels"]
    assert validate.faults(json.loads((tmp_path / "k.json").read_text())) == []
    names = [kernel["name"] for kernel in built["kernels"]]
    assert built["absent"] is None and "overlap_register" in names
    kernel = built["kernels"][names.index("overlap_register")]
    assert kernel["arguments"] == 6 and kernel["max_group_size"] > 0 and kernel["registers"] is None
    head, row = [next(line.split() for line in shown.stdout.splitlines() if line.split()[:1] == [first])
                 for first in ("kernel", "overlap_register")]
    assert dict(zip(head, row))["args"] == "6" and dict(zip(head, row))["group"] == str(kernel["max_group_size"])
    assert row[-1] == "n/a" and "topology" not in shown.stdout  # who asks of a kernel asks of nothing else
    assert "kernel.overlap_register.arguments,6," in (tmp_path / "k.csv").read_text()
    assert tare("render", "k.json").stdout.splitlines() == shown.stdout.splitlines()[:-1]
    verbose = tare("render", "-v", "k.json").stdout
    assert "overlap_register(" in verbose and "topology" in verbose
    only = tare("devices", "--ze-cpu", "-d", "levelzero", "--kernel", spirv, "--entry", "nowhere")
    one_sentence(only, "has no kernel 'nowhere'", "overlap_register")


def told_by_opencl(folder):
    """Bytes of local memory of `tile`, as the first device's driver answers who asks it directly."""
    program = folder / "ask.py"
    program.write_text(ASK)
    asked = subprocess.run([sys.executable, program, folder / "good.cl"], env={**os.environ, "POCL_DEVICES": "basic"},
                           capture_output=True, text=True, check=True)
    return int(asked.stdout)


def test_over_opencl_with_its_build_log(tare, tmp_path):
    (tmp_path / "good.cl").write_text(KERNELS)
    (tmp_path / "bad.cl").write_text("__kernel void f(__global int *a) { a[0] = nonsense; }")
    result = tare("devices", "-d", "opencl:0", "--kernel", "good.cl", "--json", "-", env={"POCL_DEVICES": "basic"})
    if result.returncode == 2 or "no OpenCL" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
    add, nothing, tile = sorted(kernels_of(result)["kernels"], key=lambda kernel: kernel["name"])
    assert (nothing["arguments"], nothing["parameters"]) == (0, "")
    assert (add["name"], add["arguments"], tile["name"], tile["arguments"]) == ("add", 3, "tile", 1)
    assert add["parameters"] == "const float* a, float* b, uint n"
    # PoCL 6.0 tells 0 for every kernel: then there is no figure, for those without local memory neither.
    local = [kernel["local_bytes"] for kernel in (add, nothing, tile)]
    told = told_by_opencl(tmp_path)
    assert local == ([None] * 3 if told == 0 else [0, 0, told]) and told in (0, 400)
    bad = tare("devices", "-d", "opencl:0", "--kernel", "bad.cl", env={"POCL_DEVICES": "basic"})
    one_sentence(bad, "bad.cl does not compile; the build log says why")
    assert "nonsense" in bad.stderr and "none: bad.cl does not compile" in bad.stdout


def test_a_script_tells_what_it_knows_and_no_more(tare, test_data, tmp_path):
    (tmp_path / "any.tare").write_text("by name")
    result = tare("devices", "-d", f"simulated:{test_data / SCRIPT}", "--kernel", "any.tare", "--entry",
                  "overlap_register", "--json", "-")
    assert result.returncode == 0, result.stderr
    kernel, = kernels_of(result)["kernels"]
    assert kernel["arguments"] == 6 and kernel["spill_bytes"] is None and kernel["parameters"] is None


@pytest.mark.parametrize("arguments, status, words", [
    (["--kernel", "any.tare"], 2, ["--entry", "any.tare"]),
    (["--kernel", "any.txt"], 2, ["any.txt", ".spv"]),
    (["--kernel", "nowhere.cl"], 1, ["nowhere.cl", "No such file"]),
    (["--kernel", "any.cl"], 1, ["any.cl is OpenCL C", "Simulated does not take"]),
    (["--entry", "f"], 2, ["--entry", "--kernel"]),
])
def test_what_is_wrong_is_named(tare, tmp_path, arguments, status, words):
    (tmp_path / "any.tare").write_text("by name")
    (tmp_path / "any.cl").write_text(KERNELS)
    result = tare("devices", "-d", "simulated", *arguments)
    assert result.returncode == status and len(result.stderr.splitlines()) == 1
    assert all(word in result.stderr for word in words), result.stderr


SETS = """
#ifndef LENGTH
#define LENGTH 16
#endif
__kernel void first(__global float *a) { __local float t[LENGTH]; t[get_local_id(0)] = a[0];
  barrier(CLK_LOCAL_MEM_FENCE); a[1] = t[3]; }
__kernel void second(__global float *a) { a[0] = LENGTH; }
"""


def test_sets_of_options_are_compared(tare, tmp_path):
    """Each set behind --build-options; what one is refused for is told with the compiler's log, beside the others."""
    (tmp_path / "sets.cl").write_text(SETS, encoding="utf-8")
    shown = tare("devices", "-d", "opencl:0", "--kernel", "sets.cl", "--build-options", "-w", "--options", "-DLENGTH=64",
                 "-DLENGTH=wrong", "", "--json", "k.json", "--csv", "k.csv")
    if "no device" in shown.stderr:
        pytest.skip(shown.stderr.strip())
    assert shown.returncode == 0, shown.stderr
    document = json.loads((tmp_path / "k.json").read_text())
    assert validate.faults(document) == []
    built = document["devices"][0]["kernels"]
    assert [one["options"] for one in built["sets"]] == ["-w", "-w -DLENGTH=64", "-w -DLENGTH=wrong", "-w "]
    assert [one["absent"] is None for one in built["sets"]] == [True, True, False, True]
    assert "wrong" in shown.stderr and "C: -w -DLENGTH=wrong; none, sets.cl does not compile" in " ".join(shown.stdout.split())
    assert [(kernel["name"], kernel["set"]) for kernel in built["kernels"]] == [
        ("first", 0), ("first", 1), ("first", 3), ("second", 0), ("second", 1), ("second", 3)]
    assert [kernel["local_bytes"] for kernel in built["kernels"][:3]] == [64, 256, 64]
    again = tare("render", "k.json").stdout.split()
    assert again == shown.stdout.partition("data: k.json")[0].split(), "the document lost something"
    table = (tmp_path / "k.csv").read_text()
    assert "kernel.first.B.local_bytes,256" in table and "kernel.first.local_bytes" not in table


def test_sets_need_a_file_and_are_no_pragmas(tare, tmp_path):
    (tmp_path / "sets.cl").write_text(SETS, encoding="utf-8")
    for words, said in ((["--options", "-w"], "name its file with --kernel"),
                        (["--kernel", "sets.cl", "--options", "-w #3 unroll 4"], '"#3 unroll 4"')):
        refused = tare("devices", *words)
        assert refused.returncode == 2 and said in refused.stderr and len(refused.stderr.splitlines()) == 1
