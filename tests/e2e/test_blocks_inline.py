# SPDX-License-Identifier: Apache-2.0
"""tare blocks on programs with functions that are `inline` and no more. By C99 such a function has a body only where the
compiler puts it into its caller. PoCL gives it one in any case, so these programs run there without optimisation, too."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, at, check_sums, kernel_of, once, said  # noqa: E402, F401

N, ITEMS = 7, 64
INLINE = ("inline float twice(float x) { return 2.0f * x; }\n"
          "inline float times(float x, int n) { float sum = 0; for (int k = 0; k < n; k++) sum += twice(x); return sum; }\n"
          "kernel void inlined(global const float *in, global float *out, int n)\n{\n"
          "    int i = get_global_id(0);\n    out[i] = times(in[i], n);\n}\n")
WORDS = ["inlined", str(N), str(ITEMS), "0"]
# Here the optimiser leaves a function where it is.
ALONE = INLINE.replace("inline float times", "inline __attribute__((noinline)) float times").replace("times(", "_times(")

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]


def check_total(total, optimised=True):
    """A product and an addition each turn; the optimiser, where it sees both functions, takes the product out of the loop."""
    assert at(total, "loads.global") == at(total, "stores.global") == ITEMS
    assert at(total, "flops.fp32") == (N + 1 if optimised else 2 * N) * ITEMS


def test_they_are_counted_before_the_optimisation(once):  # noqa: F811
    native = once.native(KERNELS, "", *WORDS, COUNTED_SOURCE=INLINE)
    done, document = once.blocks(KERNELS, "", *WORDS, options=["--before"], COUNTED_SOURCE=INLINE)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "inlined")
    check_total(kernel["total"])
    assert kernel["before"], said(done)
    check_total(kernel["before"], optimised=False)
    assert kernel["total"]["loads"].get("private", 0) < kernel["before"]["loads"]["private"]


@pytest.mark.parametrize("linked", [False, True], ids=["built", "linked"])
@pytest.mark.parametrize("source, options", [(INLINE, "-cl-opt-disable"), (ALONE, "")], ids=["as-written", "left-alone"])
def test_they_are_counted_as_the_program_builds_them(once, source, options, linked):  # noqa: F811
    environment = {"COUNTED_SOURCE": source} | ({"COUNTED_LINKED": ""} if linked else {})
    native = once.native(KERNELS, options, *WORDS, **environment)
    done, document = once.blocks(KERNELS, options, *WORDS, **environment)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "inlined")
    assert kernel["whole"], kernel["not_counted"]
    check_total(kernel["total"], optimised=not options)
    check_sums(kernel)


def test_one_that_prints_and_is_inlined_keeps_no_kernel(once):  # noqa: F811
    """Of a function that prints PoCL 3.1 would print nothing: a body that nobody calls must not count for one."""
    source = INLINE.replace("return sum;", 'if (x < -1e30f) printf("%d\\n", n); return sum;')
    done, document = once.blocks(KERNELS, "", *WORDS, COUNTED_SOURCE=source)
    kernel = kernel_of(document, "inlined")
    assert done.status == 0 and kernel["whole"], kernel["not_counted"]
    check_total(kernel["total"])


# Of its bitcode PoCL 3.1 would make code that asks for a symbol that nobody has, and end the program.
ASKS = ("%sint where(int n) { return n * get_group_id(0) + get_local_id(0); }\n"
        "kernel void asks(global const float *in, global float *out, int n)\n{\n"
        "    int i = get_global_id(0);\n    out[i] = in[i] + where(n);\n}\n")
ASKING = ["asks", str(N), "256", "64"]


@pytest.mark.parametrize("kind", ["static ", "inline ", "static __attribute__((noinline)) "], ids=["static", "inline", "left-alone"])
@pytest.mark.parametrize("options", ["", "-cl-opt-disable"], ids=["optimised", "as-written"])
def test_functions_that_ask_for_their_work_item(once, kind, options):  # noqa: F811
    native = once.native(KERNELS, options, *ASKING, COUNTED_SOURCE=ASKS % kind)
    done, document = once.blocks(KERNELS, options, *ASKING, options=["--before"], COUNTED_SOURCE=ASKS % kind)
    assert done.status == native.status == 0, done.errors.decode()
    assert done.out.startswith(native.out)
    kernel = kernel_of(document, "asks")
    assert kernel["whole"] and at(kernel["total"], "stores.global") == 256, kernel["not_counted"]
    check_sums(kernel)
    assert options or at(kernel["before"], "stores.global") == 256, said(done)


def test_a_run_before_the_optimisation_that_a_signal_ends_has_no_counts(once):  # noqa: F811
    """Its kernel faults where tare's clang does not optimise, and nowhere else."""
    source = ("kernel void faults(global const float *in, global float *out, int n)\n{\n"
              "#if defined(__SPIR64__) && !defined(__OPTIMIZE__)\n    *(volatile global int *)0 = n;\n#endif\n"
              "    out[get_global_id(0)] = in[get_global_id(0)] + n;\n}\n")
    words = ["faults", str(N), "256", "64"]
    native = once.native(KERNELS, "", *words, COUNTED_SOURCE=source)
    done, document = once.blocks(KERNELS, "", *words, options=["--before"], COUNTED_SOURCE=source)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "faults")
    assert kernel["whole"] and kernel["before"] is None
    assert "before the optimisation: not counted, because in that run 0 of 256 work-items ended" in said(done)
