# SPDX-License-Identifier: Apache-2.0
"""tare blocks --times: the host's clock says which kernels, lines and blocks a program's CPU time is spent in. Truth are
kernels and loops whose shares follow from how often the same instructions are executed."""
import pathlib
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, kernel_of, once, said, words_of  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]


def unlike_clang(folder):
    """One that makes other code than PoCL."""
    clang = next(shutil.which(f"clang-{n}") for n in range(40, 10, -1)
                 if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}"))
    made = folder / "clang"
    made.write_text(f"""#!/bin/sh
for word; do shift; [ "$word" = -O3 ] && word=-O0; set -- "$@" "$word"; done
exec {clang} "$@"
""", encoding="utf-8")
    made.chmod(0o755)
    return str(made)


def test_time_is_where_the_work_is(once, tmp_path):
    """64 times the work of the other kernel, in one program. Lines are n/a where the code cannot be made again."""
    done, document = once.blocks(KERNELS, "", *words_of([]), "matmul:12", "192", "192", "8", "192", "8", "matmul", "48",
                                 "48", "8", "48", "8", "strided", "4", "64", "0", options=["--times"],
                                 TARE_CLANG=unlike_clang(tmp_path))
    time, light = (kernel_of(document, name)["time"] for name in ["matmul", "strided"])
    if time["why"]:
        assert f"time: n/a, because {time['why']}" in said(done)
        pytest.skip(time["why"])
    assert time["samples"] > 20 > (light["samples"] or 0)
    assert time["samples"] <= time["program_samples"] == light["program_samples"] and time["lost"] == 0
    assert re.search(r"time: [\d.]+ % \([\d.]+ to [\d.]+\) of the program's CPU time", said(done))
    assert time["untold"] == time["samples"] and "is not PoCL's" in time["lines_why"]
    assert f"lines of 100.0 % of its samples: n/a, because {time['lines_why']}" in said(done)
    assert all(line["time_samples"] is None for line in kernel_of(document, "matmul")["lines"])


LOOPS = """kernel void loops(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float a = in[i], b = in[i];

    for (int k = 0; k < n; k++)
        a = a * 0.999f + 0.5f;
    for (int k = 0; k < 3 * n; k++)
        b = b * 0.999f + 0.5f;
    out[i] = a + b;
}
"""


def test_time_of_a_loop_is_that_of_its_turns(once, tmp_path):
    """A turn of either loop is the same instructions, and one has three times as many: three quarters."""
    source = tmp_path / "loops.cl"
    source.write_text(LOOPS, encoding="utf-8")
    done, document = once.blocks(source, "", "loops:3", "4000", "4096", "64", options=["--times"])
    kernel = kernel_of(document, "loops")
    time = kernel["time"]
    if time["why"]:
        pytest.skip(time["why"])
    if time["untold"] == time["samples"] and any(why in time["lines_why"] for why in ("is not PoCL's", "x86-64")):
        pytest.skip(f"this machine's code is not made again here: {time['lines_why']}")
    assert time["untold"] == 0, time["lines_why"]
    lines = {line["line"]: line["time_samples"] for line in kernel["lines"]}
    assert sum(lines.values()) + time["no_line"] + time["elsewhere"] == time["samples"]
    blocks = {block["block"]: block for block in kernel["blocks"]}
    first, second = (blocks[header] for header in sorted(loop["block"] for loop in kernel["loops"]))
    assert (first["first_line"], second["first_line"]) == (6, 8)
    for loop, at in ((first, 6), (second, 8)):
        assert lines[at] + lines[at + 1] <= loop["time_most_samples"] + 0.02 * time["samples"]
        assert loop["time_most_samples"] - loop["time_least_samples"] <= 0.02 * time["samples"]
    both = first["time_least_samples"] + second["time_least_samples"]
    assert both > 20 and both > 0.95 * time["samples"]
    # Five standard deviations, and a tenth for what a processor makes of the same loop at two places.
    assert abs(second["time_least_samples"] / both - 0.75) < 0.1 + 5 * (0.75 * 0.25 / both) ** 0.5
    assert sum(block["time_least_samples"] for block in blocks.values()) <= time["samples"]
    assert re.search(r"lines: [\d.]+ % of its samples are on the lines below", said(done))
    assert "share time to" in said(done)


def test_without_times_none_are_told(once):
    done, document = once.blocks(KERNELS, "", *words_of(["vectors"]))
    assert kernel_of(document, "vectors")["time"] is None and b"time:" not in done.out
