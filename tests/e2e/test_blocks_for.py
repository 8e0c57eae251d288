# SPDX-License-Identifier: Apache-2.0
"""tare blocks --for: kernels as Intel's offline compiler makes them for GPUs that are not there. A stand-in for
ocloc writes what the real one writes; where that is installed, it is asked too."""
import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, SANITIZED, built, run  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, Blocks, kernel_of, once  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

STAND_IN = r"""#!/usr/bin/env python3
import os, pathlib, sys
words = sys.argv[2:]
def behind(name):
    return words[words.index(name) + 1]
device = behind("-device")
if device == "none":
    sys.exit("Error: Cannot get HW Info for device none.")
if sys.argv[1] == "compile":
    text = pathlib.Path(behind("-file")).read_text()
    if device == "picky" and "kernel void strided" in text:
        sys.exit("Error: a kernel that this device does not like")
    options = "-DWIDE=2 -g" if "IGC_ShaderDumpEnable" in os.environ else "-DWIDE=2"
    assert "kernel void empty" in text or behind("-options") == options
    (pathlib.Path(behind("-out_dir")) / behind("-output")).write_text(device)
    sys.exit(0)
folder = pathlib.Path(behind("-dump"))
assert (folder / "model.bin").read_text() == device
if device == "older":
    sys.exit(0)
memory = {"split": "spill_fill_space", "joint": "single_space"}.get(device)
(folder / ".ze_info").write_text(f'''---
version:         '1.20'
kernels:
  - name:            strided
    execution_env:
      barrier_count:   2
      grf_count:       128
      simd_size:       16
      slm_size:        1024
    payload_arguments:
      - arg_type:        global_id_offset
        size:            12
''' + (f'''    per_thread_memory_buffers:
      - type:            scratch
        usage:           {memory}
        size:            4096
      - type:            scratch
        usage:           private_space
        size:            64
''' if memory else '') + '''  - name:            vectors
    execution_env:
      grf_count:       256
      simd_size:       8
kernels_misc_info:
  - name:            strided
    args_info:
      - index:           0
        size:            77
''')
(folder / ".text.strided.asm").write_text('''L0:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
        sync.nop                             null                             {Compacted,A@1}
(W&~f0.0) send.dc0 (8|M0)        r1       r127    null:0  0x0            0x022843FD
        math.inv (16|M0)         r3.0<1>:f     r4.0<1;1,0>:f
(f0.1)  goto (16|M0)                         L768                  L768
L768:
        mad (16|M0)              r17.0<1>:d    r9.0<1;0>:d       r15.0<1;0>:d      -7:w
        dpas.8x8 (8|M0)          r10:f  r18:f  r26:bf  r4.0:bf
''')
"""


@pytest.fixture
def stand_in(tmp_path):
    path = tmp_path / "ocloc"
    path.write_text(STAND_IN, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def models(document, name):
    return {model["device"]: model for model in kernel_of(document, name)["models"]}


def test_what_the_compiler_says_is_reported(once, stand_in):  # noqa: F811
    done, document = once.blocks(KERNELS, "-DWIDE=2", "strided", "4", "1024", "0", "vectors", "3", "512", "0",
                                 options=["--for", "split,joint,plain"], TARE_OCLOC=stand_in)
    assert done.status == 0, done.errors.decode()
    found = models(document, "strided")
    assert list(found) == ["split", "joint", "plain"]
    common = {"why": None, "simd_width": 16, "registers": 128, "local_bytes": 1024, "barriers": 2, "instructions": {
        "arithmetic": 1, "move": 1, "math": 1, "matrix": 1, "message": 1, "control": 1, "wait": 1}}
    common |= {"at_least": None, "joined": None, "code": [],
               "not_joined": "ocloc wrote no listing of its blocks and lines"}
    assert found["split"] == {"device": "split", "spill_bytes": 4096, "scratch_bytes": 0, "finding": "spills", **common}
    assert found["joint"] == {"device": "joint", "spill_bytes": None, "scratch_bytes": 4096, "finding": "spills", **common}
    assert found["plain"] == {"device": "plain", "spill_bytes": 0, "scratch_bytes": 0, "finding": None, **common}
    text = " ".join(done.out.decode().split())
    assert text.count("spills: registers do not hold what the kernel keeps") == 2
    assert text.count(", or an array is indexed as it runs") == 1
    assert models(document, "vectors")["plain"] == {
        "device": "plain", "why": None, "simd_width": 8, "registers": 256, "spill_bytes": 0, "scratch_bytes": 0,
        "local_bytes": 0, "barriers": 0, "instructions": None, "finding": None, "at_least": None, "joined": None, "code": [],
        "not_joined": "ocloc wrote no listing of its blocks and lines"}
    assert "on split (a model: compiled by ocloc, not run): SIMD 16, 128 registers, " in text
    # The stand-in takes no other kernel apart.
    assert text.count("instructions: n/a, because ocloc took nothing apart; it needs libiga64.so") == 3
    # What was counted is as ever.
    assert kernel_of(document, "strided")["whole"]


def test_what_cannot_be_told_has_a_reason(once, stand_in):  # noqa: F811
    done, document = once.blocks(KERNELS, "-DWIDE=2", "strided", "4", "1024", "0",
                                 options=["--for", "picky,older"], TARE_OCLOC=stand_in)
    assert done.status == 0, done.errors.decode()
    found = models(document, "strided")
    assert "a kernel that this device does not like" in found["picky"]["why"]
    assert "a form that tells nothing" in found["older"]["why"]
    assert all(found[device]["simd_width"] is None and found[device]["local_bytes"] is None for device in found)
    assert kernel_of(document, "strided")["whole"]


@pytest.mark.parametrize("devices, ocloc, says", [
    ("none", None, "nothing can be compiled for none"),
    ("plain,", None, 'not "plain,"'),
    ("", None, "needs a value"),
    ("../x", None, "names of devices"),
    ("dg2", "/nowhere/ocloc", "install ocloc"),
])
def test_bad_devices_are_refused_before_the_program_runs(once, stand_in, devices, ocloc, says):  # noqa: F811
    done, document = once.blocks(KERNELS, "", "strided", "4", "1024", "0", options=["--for", devices],
                                 TARE_OCLOC=ocloc or stand_in)
    assert done.status == 125 and document is None and done.out == b""
    assert says in done.errors.decode() and done.errors.count(b"\n") == 1


@pytest.mark.skipif(not shutil.which("ocloc"), reason="there is no ocloc")
def test_the_real_compiler_tells_of_local_memory_and_barriers(once):  # noqa: F811
    done, document = once.blocks(KERNELS, "", "reduce", "0", "256", "64", "strided", "4", "1024", "0",
                                 options=["--for", "dg2,pvc"])
    assert done.status == 0, done.errors.decode()
    for device in ["dg2", "pvc"]:
        model = models(document, "reduce")[device]
        assert model["why"] is None and model["simd_width"] in (8, 16, 32)
        assert (model["local_bytes"], model["barriers"], model["spill_bytes"]) == (256, 1, 0)
        # Debian's own has what takes binaries apart in libigc-dev.
        assert model["instructions"] is None or model["instructions"]["message"] > 0
        assert models(document, "strided")[device]["barriers"] == 0


@pytest.mark.skipif(not shutil.which("ocloc") and "TARE_OCLOC" not in os.environ, reason="there is no ocloc")
def test_spills_are_found_in_the_example_and_not_in_its_twin(once):  # noqa: F811
    own = {"TARE_OCLOC": os.environ["TARE_OCLOC"]} if "TARE_OCLOC" in os.environ else {}
    done, document = once.blocks(KERNELS.parent / "counted_pairs.cl", "", "spilling", "4", "64", "64",
                                 "spilling_mended", "4", "64", "64", options=["--for", "pvc"], **own)
    assert done.status == 0, done.errors.decode()
    assert models(document, "spilling")["pvc"]["finding"] == "spills"
    assert models(document, "spilling_mended")["pvc"]["finding"] is None
