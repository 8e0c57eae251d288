# SPDX-License-Identifier: Apache-2.0
"""What tare blocks --gains runs is what a person would have written: the changed text, or the changed words of SPIR-V,
beside the mended twin's. What it brings in time is then what the twin brings (test_blocks_promises.py)."""
import pathlib
import re
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import SANITIZED, built, kernel_cache, run  # noqa: E402, F401
from test_blocks import COUNTED, TOOLS  # noqa: E402
from test_blocks_findings import PAIRS  # noqa: E402
import test_blocks_levelzero as levelzero  # noqa: E402

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

MAGIC = struct.pack("<I", 0x07230203)


class Changes:
    """Runs tare blocks --gains on a program that keeps what it is given to build in the place of its own."""

    def __init__(self, tare, folder, environment, program):
        self.tare, self.folder, self.environment, self.program = tare, folder, environment, program
        self.script = folder / "keeps"
        self.script.write_text('#!/bin/sh\n[ "$TARE_BLOCKS_STAGE" = change ] && for at in "$TARE_BLOCKS"/*.module; do\n'
                               f'cp "$at" {folder}/$(basename "$TARE_BLOCKS").changed; done\nexec "$@"\n', encoding="utf-8")
        self.script.chmod(0o755)

    def run(self, *words):
        """The modules of all sets, and the document."""
        path = self.folder / "blocks.json"
        done = run([self.tare, "blocks", "--gains", "--rounds", "1", "--json", path, "--", self.script, self.program, *words],
                   self.environment, cwd=self.folder)
        assert done.status == 0, done.errors.decode()
        changed = [one.read_bytes() for one in self.folder.glob("*.changed")]
        for one in self.folder.glob("*.changed"):
            one.unlink()
        return changed, validate.load(path)


@pytest.fixture
def on_opencl(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Changes(tare_path, tmp_path, {"POCL_CACHE_DIR": str(kernel_cache), "POCL_DEVICES": "basic", "TMPDIR": str(tmp_path)},
                   COUNTED)


@pytest.fixture
def on_levelzero(tare_path, tmp_path, kernel_cache):  # noqa: F811
    if not levelzero.PROGRAM.exists():
        pytest.skip("there is no Level Zero loader to link with")
    return Changes(tare_path, tmp_path, levelzero.Blocks(tare_path, tmp_path, kernel_cache).environment, levelzero.PROGRAM)


# ---- texts

def bodies(text):
    """What stands between the braces of each kernel, without blanks."""
    return {name: "".join(body.split()) for name, body in re.findall(r"kernel void (\w+)\([^)]*\)\s*{(.*?)\n}", text, re.S)}


def texts(changed, source):
    """Of each kernel the body, as one of the sets has it that changes it."""
    own, found = bodies(source), {}
    for one in changed:
        at = one.find(source[:40].encode())
        assert at >= 0, one[:200]
        found.update({name: body for name, body in bodies(one[at:].decode(errors="replace")).items() if body != own.get(name)})
    return found


def test_changed_texts_are_those_of_the_mended_twins(on_opencl):
    source = PAIRS.read_text(encoding="utf-8")
    changed, _ = on_opencl.run(PAIRS, "", "doubled", "4", "256", "64", "divided", "7", "256", "64", "transcendent", "2", "256",
                               "64")
    found, own = texts(changed, source), bodies(source)
    assert found == {"doubled": own["doubled_mended"], "transcendent": own["transcendent_mended"],
                     "divided": own["divided_mended"].replace("/7;", "/((__typeof__(n))7UL);")}


# ---- words

def functions(spirv):
    """Of each kernel what its instructions are, with the numbers that constants among their operands have."""
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv[:len(spirv) // 4 * 4])
    entries, calls, inside, sets, constants, of = {}, {}, None, {}, {}, {}
    at = 5
    while at < len(words) and words[at] >> 16:
        op, row = words[at] & 0xffff, words[at:at + (words[at] >> 16)]
        text = b"".join(struct.pack("<I", word) for word in row).partition
        if op == 11:
            sets[row[1]] = text(b"OpenCL.std")[1]
        elif op == 15:
            entries[row[2]] = b"".join(struct.pack("<I", word) for word in row[3:]).partition(b"\0")[0].decode()
        elif op == 43:
            constants[row[2]] = row[3:]
        elif op == 54:
            inside = of.setdefault(row[2], [])
            calls[row[2]] = None
            number = row[2]
        elif inside is not None and op == 57:
            calls[number] = row[3]
        if inside is not None and op not in (8, 54, 55, 317) and not (op == 12 and not sets.get(row[3])):
            inside.append((op, row[4] if op == 12 else None, *[constants[word] for word in row[1:] if word in constants]))
        at += len(row)
    # What a launch begins may only hand arguments on to the kernel's body.
    return {name: of[calls[entry] or entry] for entry, name in entries.items()}


PAIRED = {"doubled": ("4", "256", "64"), "divided": ("7", "256", "64"), "transcendent": ("2", "256", "64")}


@pytest.mark.parametrize("debug", [("-gline-tables-only",), ()], ids=["lines", "bare"])
def test_changed_words_are_those_of_the_mended_twins(on_levelzero, debug):
    """With doubles that nothing takes left out, and no copies."""
    module = levelzero.spirv_of(PAIRS, on_levelzero.folder, debug=debug)
    own = functions(module.read_bytes())
    changed, _ = on_levelzero.run(module, "immediate", *(word for name, words in PAIRED.items() for word in (name, *words)))
    assert len(changed) == 3
    sets = [functions(one[one.index(MAGIC):]) for one in changed]
    for name in PAIRED:
        assert own[name] != own[name + "_mended"]
        assert [one[name] for one in sets].count(own[name]) == 2, "other findings' sets leave it"
        assert own[name + "_mended"] in [one[name] for one in sets], name
