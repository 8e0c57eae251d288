# SPDX-License-Identifier: Apache-2.0
"""What a counted program computes is its own to the last bit, also where the driver's compiler makes one rounding of
`a * b + c` and its mad() makes two, as PoCL's do on processors that can."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built, run  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, Blocks, at, kernel_of, once  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

# Thirds and sevenths are rounded, so that a product of them is.
FUSED = """kernel void fused(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float a = (in[i] + 1) / 7, b = (in[i + 1] + 2) / 3, c = in[i + 2] / -9;
    out[8 * i] = a * b + c;
    out[8 * i + 1] = b * c - a + fma(a, c, b);
    vstore4((float4)(a, b, c, a + 1) * b + (float4)(c), 0, out + 8 * i + 2);
    double d = (double)a / 3, e = d * b + c;
    vstore2((float2)((float)e, (float)((e - (float)e) * 1e9)), 0, out + 8 * i + 6);
}
"""


# mad() beside what a compiler may fuse, and each alone.
MAD = """kernel void fused(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float a = (in[i] + 1) / 7, b = (in[i + 1] + 2) / 3, c = in[i + 2] / -9;
    out[8 * i] = mad(b, c, a);
    vstore3(mad((float3)(a, b, c), (float3)(b), (float3)(c, a, b)), 0, out + 8 * i + 1);
    out[8 * i + 4] = BESIDE;
}
"""
VECTORS = """
kernel void fused(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float a = (in[i] + 1) / 7, b = (in[i + 1] + 2) / 3, c = in[i + 2] / -9;
    float3 v = (float3)(a, b, c) * b + (float3)(c, a, b);
    vstore3(v, 0, out + 8 * i);
    double3 d = convert_double3(v) / 3, e = d * b + (double3)(c);
    vstore3(convert_float3((e - convert_double3(convert_float3(e))) * 1e9), 0, out + 8 * i + 3);
}
"""
OTHERWISE = "results may differ from those without counters in the last bit"


def fuses():
    """Whether a processor has an instruction for `a * b + c`: without it nothing here can fail."""
    return any(name in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split() for name in ("fma", "fma4", "asimd"))


def results(once, words, source):  # noqa: F811
    if not fuses():
        pytest.skip("this processor has no instruction that fuses")
    native = once.native(*words, COUNTED_SOURCE=source)
    assert native.status == 0, native.errors.decode()
    done, document = once.blocks(*words, COUNTED_SOURCE=source)
    kernel = kernel_of(document, "fused")
    assert kernel["whole"]
    assert (OTHERWISE in " ".join(done.out.decode().split())) == (kernel["build"]["rounds_otherwise"] is not None)
    return done.out.startswith(native.out), kernel


@pytest.mark.parametrize("options", ["", "-cl-mad-enable", "-cl-opt-disable"])
def test_results_are_the_programs_to_the_last_bit(once, options):  # noqa: F811
    same, kernel = results(once, [KERNELS, options, "fused", "1", "256", "0"], FUSED)
    assert at(kernel["total"], "flops.fp64") >= 256 and kernel["build"]["rounds_otherwise"] is None
    assert same, "the program's results are others"


@pytest.mark.parametrize("source", [MAD.replace("BESIDE", "a"), VECTORS])
def test_mad_alone_and_vectors_of_three_are_the_programs_too(once, source, tmp_path):  # noqa: F811
    kernels = tmp_path / "none.cl"
    kernels.write_text("\n", encoding="utf-8")
    same, kernel = results(once, [kernels, "", "fused", "1", "256", "0"], source)
    assert same and kernel["build"]["rounds_otherwise"] is None


def test_what_may_round_otherwise_is_said(once, tmp_path):  # noqa: F811
    kernels = tmp_path / "none.cl"
    kernels.write_text("\n", encoding="utf-8")
    for options, source, why in (("", MAD.replace("BESIDE", "a * b + c"), "calls mad()"),
                                 ("-cl-fast-relaxed-math", VECTORS, "its options"),
                                 ("-cl-unsafe-math-optimizations", VECTORS, "its options")):
        _, kernel = results(once, [kernels, options, "fused", "1", "256", "0"], source)
        assert why in kernel["build"]["rounds_otherwise"]
