# SPDX-License-Identifier: Apache-2.0
"""What a group's first work-item counts for all of them is alike in all of them: kernels whose work-items go
different ways, in places that look alike, are counted as closed forms say."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, SANITIZED, built, run  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, Blocks, check_sums, kernel_of, on, once, device, words_of  # noqa: E402, F401

WAYS = pathlib.Path(__file__).parents[1] / "programs/counted_ways.cl"

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]


def number(i):
    return i % 13


def leaves(i, _, n):
    """Loads of a work-item: a comparison a turn, and a number of each turn that is not the last."""
    end = next((k for k in range(n) if number(k) > i % 11), n)
    return 2 * end + (end < n)


def leftover(i, _, n):
    return 2 * min(n, i % 5) + n


def joined(i, _, n):
    return 2 + (1 + n if number(i) > 6 else 16)


def groups(_, group, n):
    return group + n if group & 1 else 0


def nested(i, _, n):
    called = i % 8
    return n + (0 if i % 3 else called + 1 if called & 1 else 1)


SUMS = {"leaves": (leaves, 20, 64), "leftover": (leftover, 7, 64), "joined": (joined, 5, 64),
        "groups": (groups, 3, 64), "nested": (nested, 4, 32)}
ITEMS = 512


@pytest.mark.parametrize("options", ["", "-cl-opt-disable"])
def test_ways_are_counted_as_they_are_gone(on, options):  # noqa: F811
    words = [str(word) for name, (_, n, local) in SUMS.items() for word in [name, n, ITEMS, local]]
    native = on.native(WAYS, options, *words)
    done, document = on.blocks(WAYS, options, *words)
    assert done.status == 0, done.errors.decode()
    assert done.out.startswith(native.out), "the program's own output is another"
    for name, (loads, n, local) in SUMS.items():
        kernel = kernel_of(document, name)
        assert kernel["whole"] and kernel["not_counted"] is None
        expected = sum(loads(i, i // local, n) for i in range(ITEMS))
        assert kernel["total"]["loads"]["global"] == expected, name
        check_sums(kernel)


def test_ways_out_are_counted(on):  # noqa: F811
    """A switch with returns in it, as it is written."""
    n = 6
    _, document = on.blocks(WAYS, "-cl-opt-disable", "chosen", str(n), str(ITEMS), "32")
    kernel = kernel_of(document, "chosen")
    loads = {0: 1, 1: 2 * n + 2, 2: 2, 3: 2, 4: 2}
    stores = {0: 1, 1: n + 1, 2: 1, 3: 1, 4: 1}
    assert kernel["whole"]
    assert kernel["total"]["loads"]["global"] == sum(loads[i % 5] for i in range(ITEMS))
    assert kernel["total"]["stores"]["global"] == sum(stores[i % 5] for i in range(ITEMS))


def test_a_second_run_finds_what_the_driver_has_built(once):  # noqa: F811
    """Nothing of the run, as the name of its folder, is in the code that counts."""
    cache, built = once.folder / "pocl", []
    once.environment["POCL_CACHE_DIR"] = str(cache)
    for _ in range(2):
        done, document = once.blocks(KERNELS, "", *words_of(["vectors"]))
        assert done.status == 0 and kernel_of(document, "vectors")["whole"]
        built.append(set(cache.rglob("*.so")))
    if not built[0]:
        pytest.skip("this driver keeps nothing")
    assert built[1] == built[0]
