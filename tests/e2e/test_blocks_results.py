# SPDX-License-Identifier: Apache-2.0
"""What a counted program computes is its own to the last bit, also where the driver's compiler makes one rounding of
`a * b + c` and its mad() makes two, as PoCL's do on processors that can."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built, kernel_cache, run  # noqa: E402, F401
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


@pytest.mark.parametrize("options", ["", "-cl-mad-enable", "-cl-opt-disable"])
def test_results_are_the_programs_to_the_last_bit(once, options):  # noqa: F811
    words = [KERNELS, options, "fused", "1", "256", "0"]
    native = once.native(*words, COUNTED_SOURCE=FUSED)
    assert native.status == 0, native.errors.decode()
    done, document = once.blocks(*words, COUNTED_SOURCE=FUSED)
    kernel = kernel_of(document, "fused")
    assert kernel["whole"] and at(kernel["total"], "flops.fp64") >= 256
    assert done.out.startswith(native.out), "the program's results are others"
