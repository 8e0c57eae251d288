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
from recorded import SANITIZED, built, run  # noqa: E402, F401
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
                               f'cp "$at" {folder}/$(basename "$TARE_BLOCKS").$(basename "$at").changed; done\nexec "$@"\n', encoding="utf-8")
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
        if at < 0:
            continue  # a library's own program
        found.update({name: body for name, body in bodies(one[at:].decode(errors="replace")).items() if body != own.get(name)})
    return found


def test_changed_texts_are_those_of_the_mended_twins(on_opencl):
    source = PAIRS.read_text(encoding="utf-8")
    changed, _ = on_opencl.run(PAIRS, "", "doubled", "4", "256", "64", "divided", "7", "256", "64", "transcendent", "2", "256",
                               "64")
    found, own = texts(changed, source), bodies(source)
    assert found == {"doubled": own["doubled_mended"], "transcendent": own["transcendent_mended"],
                     "divided": own["divided_mended"].replace("/7;", "/((__typeof__(n))7UL);")}


# Of each kernel what is to stand in the place of what; "": it stays, and the finding is told all the same.
ODD = """
#define GAMMA 2.2
#define WAVE(x) sin(x)
int wrap(int x, int n) { return x % n; }
kernel void nested(global const int *in, global int *out, int width)
{
    int i = get_global_id(0), sum = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            sum += in[((i + x) / width) & 1023] + (i + x) % width;
    out[i] = sum;
}
kernel void helped(global const int *in, global int *out, const int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 40; k++)
        sum += in[wrap(i + k, n) & 1023];
    out[i] = sum;
}
kernel void loaded(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0, d = in[5];
    for (int k = 0; k < n; k++)
        sum += (i + k) / d + (i + k) / (int)get_local_size(0);
    out[i] = sum;
}
kernel void waved(global const float *in, global float *out, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += WAVE(in[k & 1023]) + native_cos(in[k & 1023]);
    out[get_global_id(0)] = sum;
}
kernel void corrected(global const float *in, global float *out, int n)
{
    float x = in[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = x * GAMMA + 1.0f;
    out[get_global_id(0)] = x;
}
kernel void thirds(global const float *in, global float *out, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++) {
        if (in[k & 1023] > 0.1)
            sum += fabs(in[k & 1023] - 1.5);
        sum += k * (1.0 / 3);
    }
    out[get_global_id(0)] = sum;
}
kernel void weighted(global const float *in, global float *out, int n)
{
    const double weights[4] = { 0.1, 0.2, 0.3, 0.4 };
    float x = in[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = x * weights[k & 3] + 0.5f;
    out[get_global_id(0)] = x;
}
kernel void meant(global const float *in, global double *out, int n)
{
    out[get_global_id(0)] = get_global_id(0) * 0.1 + 0.3;
}
"""
CHANGES = {
    "nested": ("integer-division", {"width)&1023": "((__typeof__(width))7UL))&1023", "%width;": "%((__typeof__(width))7UL);"}),
    "helped": ("integer-division", {"inti=": "{__typeof__(n)n=(__typeof__(n))7UL;inti="}),
    "loaded": ("integer-division", {}),
    "waved": ("special-functions", {}),
    "corrected": ("double-constant", {}),
    "thirds": ("double-constant", {"0.1": "0.1f", "1.5": "1.5f", "(1.0/3)": "(1.0f/3)"}),
    "weighted": ("double-constant", {}),
    "meant": (None, {}),
}
# What stands beside the texts: macros of the text's functions, and options.
BESIDE = [b"#undef sin\n#define sin native_sin\n#line 1\n"]
CANNOT = {"loaded": "no argument", "weighted": "cannot make the change", "corrected": "cannot make the change"}


def test_odd_kernels_have_their_findings_and_are_changed_as_far_as_it_is_sure(on_opencl):
    path = on_opencl.folder / "odd.cl"
    path.write_text(ODD, encoding="utf-8")
    changed, document = on_opencl.run(path, "", *(word for name in CHANGES for word in (name, "7", "256", "64")))
    expected, own = {}, bodies(ODD)
    for name, (finding, edits) in CHANGES.items():
        kernel, = (one for one in document["kernels"] if one["name"] == name)
        assert [one["id"] for one in kernel["findings"]] == [finding] * bool(finding), name
        why = CANNOT.get(name, "fewer than 6 rounds")
        assert not finding or why in kernel["findings"][0]["gain_why"], (name, kernel["findings"])
        body = own[name]
        for old, new in edits.items():
            assert old in body, (name, old)
            body = body.replace(old, new)
        if body != own[name]:
            expected[name] = body
    assert texts(changed, ODD) == expected
    assert [sum(beside in one for one in changed) for beside in BESIDE] == [1]


def test_constants_of_macros_become_floats_by_an_option(on_opencl):
    """Which is not taken where it would change a double that is meant: 0.1 as a float is another number."""
    kernels = dict(re.findall(r"kernel void (\w+)(.*?\n}\n)", ODD, re.S))
    path = on_opencl.folder / "odd.cl"
    for beside, taken in (("", 1), ("kernel void meant" + kernels["meant"], 0)):
        path.write_text("#define GAMMA 2.2\nkernel void corrected" + kernels["corrected"] + beside, encoding="utf-8")
        changed, document = on_opencl.run(path, "", "corrected", "7", "256", "64")
        assert sum(b" -cl-single-precision-constant" in one for one in changed) == taken
        why = document["kernels"][0]["findings"][0]["gain_why"]
        assert ("fewer than 6 rounds" if taken else "cannot make the change") in why, why


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
