# SPDX-License-Identifier: Apache-2.0
"""tare blocks --for: the code of a GPU that is not there, as often as it would be executed. Listings of Intel's
compiler (listings/), joined with what PoCL counts; a stand-in for ocloc hands them out."""
import os
import pathlib
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built  # noqa: E402, F401
from test_blocks import KERNELS, TOOLS, kernel_of, once  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

STAND_IN = r"""#!/usr/bin/env python3
import os, pathlib, sys
def behind(name):
    return sys.argv[sys.argv.index(name) + 1]
if sys.argv[1] == "compile":
    (pathlib.Path(behind("-out_dir")) / behind("-output")).write_text("made")
    if "IGC_ShaderDumpEnable" in os.environ:
        assert behind("-options").split()[-1] == "-g"
        for name, text in LISTINGS.items():
            pathlib.Path(os.environ["IGC_DumpToCustomDir"], name).write_text(text)
    sys.exit(0)
(pathlib.Path(behind("-dump")) / ".ze_info").write_text('''---
kernels:
  - name:            KERNEL
    execution_env:
      grf_count:       128
      simd_size:       WIDTH
''')
"""
# How often each block of a listing is passed by work-items: of matmul with 24 by 24, of diverge with 256.
N, ITEMS = 24, 256
SIDE = range(1, ITEMS, 2)
TURNING = sum(i % 7 > 0 for i in SIDE)
PASSED = {
    "matmul": [N**2, N**2, N**2, 0, N**2, N**3, N**2],
    "diverge": [ITEMS, ITEMS, ITEMS, len(SIDE), len(SIDE) - TURNING, TURNING, sum(i % 7 for i in SIDE), TURNING,
                ITEMS - len(SIDE), ITEMS],
}
WORDS = {"matmul": ["matmul", "24", "24", "8", "24", "8"], "diverge": ["diverge", "4", "256", "64"]}
WIDTHS = {"matmul": 32, "diverge": 16}


def listing_of(name):
    text = (pathlib.Path(__file__).parent / f"listings/{name}_dg2.asm").read_text(encoding="utf-8")
    return text[text.index("//.kernel"):]


def instructions_of(text):
    """How many instructions each block has."""
    counts = []
    for line in text.splitlines():
        if re.match(r"// B\d+:", line):
            counts.append(0)
        elif re.match(r"(\(\S+\))?\s+[a-z]", line):
            counts[-1] += 1
    return counts


def load_of(text):
    return next(line for line in text.splitlines() if "untyped surface read" in line)


def joined(once, name, *texts):  # noqa: F811
    """What is said of a kernel whose code is listed so."""
    listings = {f"OCL_asm{i}_simd{WIDTHS[name]}_entry_0001.asm": text for i, text in enumerate(texts)}
    path = once.folder / "joining"
    path.write_text(STAND_IN.replace("LISTINGS", repr(listings)).replace("KERNEL", name).replace("WIDTH", str(WIDTHS[name])),
                    encoding="utf-8")
    path.chmod(0o755)
    done, document = once.blocks(KERNELS, "", *WORDS[name], options=["--for", "dg2"], TARE_OCLOC=str(path))
    assert done.status == 0, done.errors.decode()
    (model,) = kernel_of(document, name)["models"]
    return done.out.decode(), model


@pytest.mark.parametrize("name", list(WORDS))
def test_the_devices_blocks_are_weighed_by_what_was_counted(once, name):  # noqa: F811
    text = listing_of(name)
    counts = instructions_of(text)
    said, model = joined(once, name, text)
    assert len(counts) == len(PASSED[name]) and model["not_joined"] is None and model["joined"] == 1
    exact = sum(count * passed for count, passed in zip(counts, PASSED[name], strict=True)) / WIDTHS[name]
    told = sum(model["at_least"].values())
    assert exact <= told < exact + len(model["at_least"])
    assert f"a model: at least {told:,} instructions of hardware threads of {WIDTHS[name]} work-items: " in said


def test_a_loop_that_the_compiler_unrolls_is_not_joined(once):  # noqa: F811
    """Its block has the accesses of a line twice at one pass."""
    text = listing_of("matmul")
    load = load_of(text)
    said, model = joined(once, "matmul", text.replace(load, f"{load}\n{load}").replace("mad (16|M16)             r28", "or (16|M16)  r28"))
    assert 0 < model["joined"] < 0.7 and "how often the others are executed is not known" in said


def test_a_loop_whose_turns_are_read_at_once_is_not_joined(once):  # noqa: F811
    """Two turns in one, with as many accesses as one has, and twice the arithmetic."""
    text = listing_of("matmul")
    arithmetic = next(line for line in text.splitlines() if "mad (16|M0)" in line)
    text = text.replace(arithmetic, f"{arithmetic}\n{arithmetic}").replace("untyped surface read with x", "untyped surface read with xy")
    _, model = joined(once, "matmul", text)
    assert 0 < model["joined"] < 0.7


def test_what_hangs_on_a_flag_joins_nothing(once):  # noqa: F811
    """A branch of the source that became no branch: who passes the block need not execute it."""
    text = listing_of("matmul")
    lines = [f"(f0.0){line[6:]}" if "untyped surface read" in line or " mad (16" in line else line for line in text.splitlines()]
    assert "\n".join(lines) != text and all(line.startswith("      ") or " mad (16" not in line for line in text.splitlines())
    _, model = joined(once, "matmul", "\n".join([*lines, ""]))
    assert 0 < model["joined"] < 0.7


def test_a_line_in_two_blocks_joins_neither(once):  # noqa: F811
    text = listing_of("matmul")
    moved = [load_of(text), next(line for line in text.splitlines() if "mad (16|M16)" in line)]
    for line in moved:
        text = text.replace(line + "\n", "")
    _, model = joined(once, "matmul", text.replace("_0_008:\n", "\n".join(["_0_008:", "// Line 12: x", *moved, ""])))
    assert 0 < model["joined"] < 0.7


@pytest.mark.parametrize("change, why", [
    (("Succs:{B006, B005}", "Succs:{B006}"), "no way through the device's blocks fits"),
    (("        nop", "        call (16|M0) r1.0 L1"), "the device's code calls functions"),
    (("Succs:{B003, B004}", "Succs:{B003, B999"), "ocloc wrote no listing"),
    (("Succs:{B003, B004}", "Succs:{B003, B0x04"), "ocloc wrote no listing"),
    (("//.kernel matmul", "//.kernel another"), "ocloc wrote no listing"),
])
def test_code_that_does_not_fit_is_not_joined(once, change, why):  # noqa: F811
    text = listing_of("matmul")
    assert change[0] in text
    said, model = joined(once, "matmul", text.replace(*change))
    assert why in model["not_joined"] and model["at_least"] is None and model["joined"] is None
    assert f"how often they are executed: n/a, because {model['not_joined']}" in said or "no listing" in why


def test_of_two_listings_of_a_width_none_is_taken(once):  # noqa: F811
    _, model = joined(once, "matmul", listing_of("matmul"), listing_of("matmul"))
    assert "ocloc wrote no listing" in model["not_joined"]


def test_without_lines_what_is_behind_no_branch_is_joined(once):  # noqa: F811
    text = "".join(line for line in listing_of("matmul").splitlines(True) if not line.startswith(("// Line", "// File")))
    _, model = joined(once, "matmul", text.replace("// B000", "// Line 12: of no file\n// B000"))
    counts = instructions_of(text)
    assert model["joined"] == pytest.approx((sum(counts[:3]) + counts[6]) / sum(counts), abs=1e-4)


@pytest.mark.skipif(not shutil.which("ocloc") and not os.environ.get("TARE_OCLOC"), reason="there is no ocloc")
@pytest.mark.parametrize("device", ["dg2", "pvc"])
def test_the_real_compiler_lists_what_can_be_joined(once, device):  # noqa: F811
    own = {"TARE_OCLOC": os.environ.get("TARE_OCLOC", "")}
    done, document = once.blocks(KERNELS, "", *WORDS["matmul"], *WORDS["diverge"], options=["--for", device], **own)
    assert done.status == 0, done.errors.decode()
    for name in WORDS:
        (model,) = kernel_of(document, name)["models"]
        assert model["not_joined"] is None and model["joined"] == 1
        assert sum(model["at_least"].values()) > 0
