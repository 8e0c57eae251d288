# SPDX-License-Identifier: Apache-2.0
"""Findings of tare blocks: each is raised by its kernel and not by the mended twin, with the line and the share that
follow from the kernel itself; lanes, lines of memory and turns equal closed forms."""
import csv
import html.parser
import re
import pathlib

import pytest
from test_blocks import COUNTED, KERNELS, TOOLS, Blocks, kernel_of  # noqa: F401
from recorded import SANITIZED, built

PAIRS = pathlib.Path(__file__).parents[1] / "programs/counted_pairs.cl"

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

# Finding: its kernel, n, the text of a line that it names, and how often what it is about was executed.
ITEMS = 256
FINDINGS = {
    "divergent-branch": ("divergent", 50, "sum += in[k];"),
    "uncoalesced-access": ("scattered", 40, "sum += in[i * n + k];"),
    "double-constant": ("doubled", 20, "x = x * 1.1 + 0.3;"),
    "integer-division": ("divided", 7, "sum += (i + k * in[k]) / n;"),
    "special-functions": ("transcendent", 10, "sum += sin(in[i] + k);"),
    "frequent-barriers": ("waiting", 1, "barrier(CLK_LOCAL_MEM_FENCE);"),
}
SOURCE = PAIRS.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def kernels(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    on = Blocks(tare_path, tmp_path_factory.mktemp("findings"), kernel_cache, "pthread")
    words = []
    for name, n, _ in FINDINGS.values():
        for kernel in (name, f"{name}_mended"):
            words += [kernel, str(n), str(ITEMS), "64"]
    native = on.native(PAIRS, "", *words)
    done, document = on.blocks(PAIRS, "", *words, options=["--sample"])
    assert done.status == native.status == 0, done.errors.decode()
    # Where a product is added the compiler may round once or twice (docs/blocks.md).
    same = [line for line in native.out.splitlines() if not line.startswith(b"doubled")]
    assert len(same) == 10 and [line for line in done.out.splitlines() if line in same] == same
    assert document["counted_launches"] == 2 * len(FINDINGS)
    return document, done.out.decode()


def test_nothing_is_said_of_what_was_not_sampled(tare_path, tmp_path, kernel_cache):  # noqa: F811
    done, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        PAIRS, "", "scattered", "40", "256", "64", "doubled", "5", "256", "64")
    kernel = kernel_of(document, "scattered")
    assert (kernel["lanes"], kernel["accesses"], kernel["findings"]) == (None, [], [])
    assert kernel["loops"][0]["most_turns"] is None and b"not sampled; --sample does" in done.out
    assert [one["id"] for one in kernel_of(document, "doubled")["findings"]] == ["double-constant"]


TWO = """
kernel void sines(global const float *in, global float *out, int n)
{
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += sin(in[k]) + sin(in[k] + 1) + sin(in[k] + 2) + sin(in[k] + 3) + get_global_id(0) * k / n;
	out[get_global_id(0)] = sum;
}
kernel void quotients(global const float *in, global float *out, int n)
{
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += sin(in[k]) + (get_global_id(0) + k) / n + (get_global_id(0) * k + 1) / n;
	out[get_global_id(0)] = sum;
}
"""


def test_the_weightiest_comes_first(tare_path, tmp_path, kernel_cache):  # noqa: F811
    (tmp_path / "two.cl").write_text(TWO, encoding="utf-8")
    _, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        tmp_path / "two.cl", "", "sines", "20", "64", "64", "quotients", "20", "64", "64")
    assert [[one["id"] for one in kernel_of(document, name)["findings"]] for name in ("sines", "quotients")] == [
        ["special-functions", "integer-division"], ["integer-division", "special-functions"]]


def test_the_table_has_the_blocks_of_the_document(tare_path, tmp_path, kernel_cache):  # noqa: F811
    table = tmp_path / "blocks.csv"
    _, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        KERNELS, "", "matmul", "16", "16", "8", "16", "8", options=("--csv", str(table)))
    rows = list(csv.DictReader(table.open(encoding="utf-8", newline="")))
    blocks = kernel_of(document, "matmul")["blocks"]
    assert [(int(row["block"]), int(row["executions"]), int(row["instructions_once"])) for row in rows] == [
        (block["block"], block["executions"], block["once"]["instructions"]) for block in blocks]
    assert sum(int(row["executions"]) * int(row["global_loaded_bytes_once"]) for row in rows) == 8 * 16**3
    assert {row["kernel"] for row in rows} == {"matmul"}


class Page(html.parser.HTMLParser):
    """Its text, and how hot lines of the source are."""

    def __init__(self):
        super().__init__()
        self.text, self.tints, self.scripts = "", [], 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.scripts += tag == "script"
        if tag == "div" and re.fullmatch(r"k0s0l\d+", attributes.get("id") or "") and attributes.get("class"):
            self.tints.append(int(attributes["class"].removeprefix("h")))

    def handle_data(self, data):
        self.text += data


def test_the_page_tints_the_lines_and_names_the_finding(tare_path, tmp_path, kernel_cache):  # noqa: F811
    path = tmp_path / "blocks.html"
    _, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        PAIRS, "", "scattered", "40", "256", "64", options=("--sample", "--html", str(path)))
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    kernel = kernel_of(document, "scattered")
    lines = [line for line in kernel["lines"] if line["line"] and not line["file"]]
    assert len(page.tints) == len(lines) and page.scripts == 0
    assert "uncoalesced-access" in page.text and "sum += in[i * n + k];" in page.text
    hottest = lines[0]["total"]["instructions"] / kernel["total"]["instructions"]
    assert f"{100 * hottest:.1f} %" in page.text
    assert max(page.tints) == int(10 * hottest)


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_finding_is_raised_by_its_kernel_and_not_by_the_mended_one(kernels, finding):
    document, text = kernels
    name, _, line = FINDINGS[finding]
    raised = kernel_of(document, name)["findings"]
    assert [one["id"] for one in raised] == [finding], "its own, and no other"
    places = [SOURCE[place["line"] - 1].strip() for place in raised[0]["places"]]
    assert line in places, places
    assert kernel_of(document, f"{name}_mended")["findings"] == []
    text = " ".join(text.split())
    assert f"{finding}: {raised[0]['what']} (line" in text
    assert f"{100 * raised[0]['share']:.1f} % of the {raised[0]['share_of']}" in text


def test_lanes_are_those_that_the_kernel_uses(kernels):
    """Half of them pass through the loop, all through the rest; of the mended twin all do everything."""
    document, _ = kernels
    kernel = kernel_of(document, "divergent")
    lanes = kernel["lanes"]
    assert lanes["sampled_work_items"] == ITEMS and lanes["neighbours"] == 32
    # The sample is all of the launch, so that what was used is what was executed.
    assert lanes["used"] == kernel["total"]["instructions"]
    blocks = kernel["blocks"]
    half = {block["block"] for block in blocks if block["executions"] % (ITEMS // 2) == 0
            and (block["executions"] == ITEMS // 2 or block["executions"] > ITEMS)}
    expected = sum(block["executions"] * block["once"]["instructions"] * (2 if block["block"] in half else 1)
                   for block in blocks)
    assert lanes["offered"] == expected
    assert kernel["findings"][0]["share"] == pytest.approx(1 - lanes["used"] / lanes["offered"])
    mended = kernel_of(document, "divergent_mended")["lanes"]
    assert mended["used"] == mended["offered"]


def test_lines_of_memory_are_those_of_the_addresses(kernels):
    """Rows of 40 floats are 160 bytes apart: each neighbour has a line of its own. Columns share two."""
    document, _ = kernels
    for name, lines in (("scattered", 32), ("scattered_mended", 2)):
        loads = [access for access in kernel_of(document, name)["accesses"] if not access["stores"]]
        assert len(loads) == 1 and loads[0]["bytes"] == 4 and loads[0]["executions"] == 40 * ITEMS
        assert loads[0]["sampled_sub_groups"] == ITEMS // 32
        assert loads[0]["fewest_memory_lines"] == 2 * ITEMS // 32
        # Where a buffer begins is the driver's: a line more is allowed for.
        assert 0 <= loads[0]["memory_lines"] / (ITEMS // 32) - lines <= 1, name


TILED = """
kernel void tiled(global const float *in, global float *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    out[y * w + x] = in[y * w + x] + in[y * w + min(x + 1, w - 1)];
}
"""


def test_rows_of_a_tile_that_begin_within_a_line_are_not_far_apart(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """Two rows of 16 floats, each over two lines, are four where two would do; a walk in steps of two is, too."""
    on = Blocks(tare_path, tmp_path, kernel_cache, "pthread")
    _, document = on.blocks(KERNELS, "", "tiled", "1", "64", "16", "64", "4", "strided", "2", "256", "64",
                            COUNTED_SOURCE=TILED, options=["--sample"])
    loads = [one for one in kernel_of(document, "tiled")["accesses"] if not one["stores"]]
    assert max(one["memory_lines"] / one["fewest_memory_lines"] for one in loads) >= 2, "it raises nothing of itself"
    assert kernel_of(document, "tiled")["findings"] == []
    assert [one["id"] for one in kernel_of(document, "strided")["findings"]] == ["uncoalesced-access"]


def test_no_line_is_wider_than_a_terminal(tare_path, tmp_path, kernel_cache):  # noqa: F811
    done, _ = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        PAIRS, "", "divergent", "50", "256", "64", "doubled", "3000", "256", "64", options=["--sample"], COLUMNS="80")
    assert " 0.0 %" not in done.out.decode() and "store <0.1 %" in " ".join(done.out.decode().split())
    lines = done.out.decode().splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith("blocks of"))
    assert [line for line in lines[begin + 1:] if len(line) > 80 and not line.startswith("data: ")] == []


def test_turns_are_those_of_single_work_items(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """Work-item i turns i % 7 times, where it is odd."""
    _, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        KERNELS, "", "diverge", "3", "256", "64", options=["--sample"])
    kernel = kernel_of(document, "diverge")
    assert [(loop["least_turns"], loop["most_turns"]) for loop in kernel["loops"]] == [(1, 6)]


def test_a_large_launch_is_sampled_over_all_of_it(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """The first groups alone would have even turns only by chance: the sample is spread."""
    source = ("kernel void spread(global const float *in, global float *out, int n)\n{\n    int g = get_group_id(0);\n"
              "    float sum = 0;\n    for (int k = 0; k < g; k++)\n        sum += in[k & 15];\n"
              "    out[get_global_id(0)] = sum;\n}\n")
    _, document = Blocks(tare_path, tmp_path, kernel_cache, "pthread").blocks(
        KERNELS, "", "spread", "3", "16384", "64", COUNTED_SOURCE=source, options=["--sample"])
    kernel = kernel_of(document, "spread")
    assert kernel["whole"] and kernel["lanes"]["sampled_work_items"] == 512
    turns = kernel["loops"][0]
    assert turns["most_turns"] == 256 - 32 and turns["least_turns"] == 32, "every 32nd of 256 groups"


def test_work_groups_that_leave_lanes_empty_are_named(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """By the width that the driver tells: groups of one work-item leave all lanes but one empty, those of it none."""
    on = Blocks(tare_path, tmp_path, kernel_cache, "pthread")
    _, document = on.blocks(KERNELS, "", "strided", "4", "256", "64", "strided:2", "4", "256", "0")
    width = kernel_of(document, "strided")["device"]["preferred_multiple"]
    if not width or 64 % width or width == 1:
        pytest.skip(f"work-groups of 64 are no multiple of {width}, or there is no width")
    assert kernel_of(document, "strided")["findings"] == [], "launches of the driver's own size say nothing"
    done, document = on.blocks(KERNELS, "", "strided", "4", "256", "1", "vectors", "3", "512", "64", "vectors", "3",
                               str(3 * width), str(3 * width))
    finding, = kernel_of(document, "strided")["findings"]
    assert finding["id"] == "unused-lanes" and finding["share"] == finding["most"] == pytest.approx(1 - 1 / width)
    assert finding["places"] == [] and kernel_of(document, "vectors")["findings"] == []
    assert b"unused-lanes: work-groups do not fill the width" in done.out
    _, document = on.blocks(KERNELS, "", "strided", "4", str(4 * (width + 1)), str(width + 1))
    finding, = kernel_of(document, "strided")["findings"]
    assert finding["share"] == pytest.approx((width - 1) / (2 * width))
