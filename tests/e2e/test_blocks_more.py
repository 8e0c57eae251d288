# SPDX-License-Identifier: Apache-2.0
"""tare blocks where a twin could do what its kernel does not: kernels that print."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import SANITIZED, built, run  # noqa: E402, F401
from test_blocks import TOOLS, at, check_sums, kernel_of  # noqa: E402
from test_blocks_odd import ODD, SIZE, Odd, loops_of  # noqa: E402

PRINTS = pathlib.Path(__file__).parents[1] / "programs/counted_prints.cl"
N = 5
MORE_ORDERS = b"it prints: lines of different work-items"

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]


class Printing(Odd):
    def both(self, source, options, *ways):
        """What the program prints alone, and with the report behind it; and the report."""
        path = self.folder / "prints.json"
        native = run([ODD, source, options, *ways], self.environment, cwd=self.folder)
        done = run([self.tare, "blocks", "--json", path, "--", ODD, source, options, *ways], self.environment, cwd=self.folder)
        assert (native.status, done.status) == (0, 0), done.errors.decode()
        document = validate.load(path)
        assert validate.faults(document) == []
        return native.out, done.out, document


@pytest.fixture
def printing(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Printing(tare_path, tmp_path, kernel_cache)


def lines_alike(native, counted):
    """The same lines, in any order: work-groups run side by side. Behind them is the report."""
    lines = native.splitlines()
    return len(lines) > 10 and sorted(counted.splitlines()[:len(lines)]) == sorted(lines)


@pytest.mark.parametrize("options", ["", "-cl-std=CL3.0"])
def test_kernels_that_print_are_counted_and_print_the_same(printing, options):
    native, counted, document = printing.both(PRINTS, options, "formats", "in_loops")
    assert lines_alike(native, counted) and MORE_ORDERS in counted
    for name in ("formats", "in_loops"):
        kernel = kernel_of(document, name)
        assert kernel["whole"] and kernel["work_items"] == SIZE, kernel["not_counted"]
        check_sums(kernel)
        assert at(kernel["total"], "stores.global") == SIZE


def test_without_groups_side_by_side_the_order_is_the_same(printing):
    printing.environment["POCL_DEVICES"] = "basic"
    native, counted, document = printing.both(PRINTS, "", "formats", "much")
    assert counted.startswith(native) and kernel_of(document, "formats")["whole"]
    assert sum(b": the turn" in line for line in native.splitlines()) == N * SIZE
    assert loops_of(kernel_of(document, "much")) == [(SIZE, N * SIZE)]


def test_a_function_that_prints_and_is_not_inlined_keeps_the_kernel(printing):
    """Of its bitcode PoCL 3.1 would print nothing."""
    source = printing.folder / "function.cl"
    source.write_text('static void say(int i) { printf("%d\\n", i); }\nkernel void plain(global int *out, int n)\n'
                      "{\n\tint i = get_global_id(0);\n\tif (i % 64 == 0)\n\t\tsay(i);\n\tout[i] = i;\n}\n", encoding="utf-8")
    native, counted, document = printing.both(source, "-cl-opt-disable", "plain")
    assert lines_alike(native, counted) and MORE_ORDERS not in counted
    kernel = kernel_of(document, "plain")
    assert kernel["counted_launches"] == 0 and "printf in a function that was not inlined" in kernel["not_counted"]
    native, counted, document = printing.both(source, "", "plain")
    assert lines_alike(native, counted) and MORE_ORDERS in counted and kernel_of(document, "plain")["whole"]


@pytest.mark.parametrize("vector", ["(short2)(i, -3)", "(uchar4)(1, 2, 3, 250)", "(float3)(i, 2, 3)", "(int8)(i)"])
def test_vectors_that_are_passed_otherwise_keep_the_kernel(printing, vector):
    letters = {"s": "hd", "u": "hhu", "f": "hlf", "i": "hld"}[vector[1]]
    source = printing.folder / "vector.cl"
    source.write_text("kernel void plain(global int *out, int n)\n{\n\tint i = get_global_id(0);\n\tif (i % 64 == 0)\n"
                      f'\t\tprintf("%v{vector[vector.index(")") - 1]}{letters}\\n", {vector});\n\tout[i] = i;\n}}\n', encoding="utf-8")
    native, counted, document = printing.both(source, "", "plain")
    assert lines_alike(native, counted)
    assert "it prints vectors of another size than 16 bytes" in kernel_of(document, "plain")["not_counted"]
