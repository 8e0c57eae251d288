# SPDX-License-Identifier: Apache-2.0
"""The page of tare blocks and its database: source and instructions side by side, links that lead somewhere, and the
same figures as in the JSON."""
import html.parser
import json
import pathlib
import re
import sqlite3
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import SANITIZED, built, run  # noqa: E402, F401
from test_blocks import COUNTED, KERNELS, TOOLS  # noqa: E402
from test_blocks_join import PASSED, STAND_IN, instructions_of, listing_of  # noqa: E402

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]
N = 24
# Of these, matmul has the most instructions, and its loop most of them.
WORDS = ["matmul", f"{N}", f"{N}", "8", f"{N}", "8", "diverge", "3", "256", "0", "reduce", "0", "256", "64"]
SOURCE = KERNELS.read_text(encoding="utf-8").splitlines()


class Page(html.parser.HTMLParser):
    """Ids, links, and each line of code with its class and text."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.scripts, self.lines, self.line = [], [], 0, {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.scripts += tag in ("script", "link", "img")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "div" and re.fullmatch(r"k\d+s\d+l\d+", attributes.get("id", "")):
            self.line = attributes["id"]
            self.lines[self.line] = [attributes.get("class"), ""]
        elif tag == "div":
            self.line = None

    def handle_endtag(self, tag):
        if tag == "div":
            self.line = None

    def handle_data(self, data):
        if self.line:
            self.lines[self.line][1] += data


class Made:
    """What tare blocks wrote in one run."""

    def __init__(self, folder, tare, cache, *options, **environment):
        self.page, self.json, self.database = folder / "blocks.html", folder / "blocks.json", folder / "blocks.db"
        self.done = run([tare, "blocks", *options, "--html", self.page, "--json", self.json, "--sqlite", self.database, "--",
                         COUNTED, KERNELS, "", *WORDS],
                        {"POCL_CACHE_DIR": str(cache), "POCL_DEVICES": "pthread", "TMPDIR": str(folder), **environment}, cwd=folder)
        assert self.done.status == 0, self.done.errors.decode()
        self.text = self.page.read_text(encoding="utf-8")
        self.document = json.loads(self.json.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made(tare_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    stand_in = folder / "ocloc"
    listings = {"OCL_asm0_simd32_entry_0001.asm": listing_of("matmul")}
    stand_in.write_text(STAND_IN.replace("LISTINGS", repr(listings)).replace("KERNEL", "matmul").replace("WIDTH", "32"), encoding="utf-8")
    stand_in.chmod(0o755)
    (folder / "cache").mkdir()
    return Made(folder, tare_path, folder / "cache", "--sample", "--for", "dg2", TARE_OCLOC=str(stand_in))


def kernel_of(document, name):
    return next(kernel for kernel in document["kernels"] if kernel["name"] == name)


# ---- the JSON

def test_each_block_has_the_instructions_that_were_counted(made):
    for kernel in made.document["kernels"]:
        for block in kernel["blocks"]:
            assert len(block["code"]) == block["once"]["instructions"], (kernel["name"], block["block"])
            loads = sum(bool(re.search(r"= Load (global|local|constant|private|generic) %", one["instruction"])) for one in block["code"])
            assert loads == sum(block["once"]["loads"].values())


def test_instructions_read_as_they_are(made):
    code = [one for block in kernel_of(made.document, "matmul")["blocks"] for one in block["code"]]
    texts = [one["instruction"] for one in code]
    for pattern in (r"float %\S+ = mad %\S+, %\S+, %\S+", r"global float\* %\S+ = InBoundsPtrAccessChain %in, %\S+",
                    r"Store global %\S+, %\S+", r"bool %\S+ = SGreaterThan %n, 0", r"int %\S+ = IAdd %\S+, 1",
                    r"long3 %\S+ = Load %GlobalInvocationId", r"BranchConditional %\S+, block \d+, else block \d+", r"Return"):
        assert any(re.fullmatch(pattern, text) for text in texts), pattern
    loop = SOURCE.index("\t\tsum += in[row * n + k] * in[k * n + column];") + 1
    assert {one["line"] for one in code if "= mad " in one["instruction"]} == {loop}


def test_sources_are_those_of_the_lines(made):
    source, = made.document["sources"]
    assert (source["origin"], source["file"]) == ("build", None)
    assert source["lines"] == [line.replace("\t", " ") for line in SOURCE]
    assert source["build_hash"] == made.document["kernels"][0]["build"]["hash"]


def test_the_code_of_a_device_has_the_executions_that_were_joined(made):
    model, = kernel_of(made.document, "matmul")["models"]
    blocks = [[one for one in model["code"] if one["block"] == block] for block in range(len(PASSED["matmul"]))]
    assert [len(block) for block in blocks] == instructions_of(listing_of("matmul"))
    assert [{one["executions"] for one in block} for block in blocks] == [{passed} for passed in PASSED["matmul"]]
    assert any(re.match(r"mad \(16\|M0\)  r26", one["instruction"]) for one in blocks[5])


# ---- the page

def test_every_link_leads_to_an_id_that_is_there_once(made):
    page = Page(made.text)
    assert page.scripts == 0 and len(set(page.ids)) == len(page.ids)
    assert page.links and {link[0] for link in page.links} == {"#"}
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_lines_are_tinted_by_their_share_of_the_instructions(made):
    page, kernel = Page(made.text), kernel_of(made.document, "matmul")
    shares = {line["line"]: line["total"]["instructions"] / kernel["total"]["instructions"] for line in kernel["lines"] if line["line"]}
    for number, text in enumerate(SOURCE, 1):
        tint, shown = page.lines[f"k0s0l{number}"]
        assert tint == (f"h{int(10 * shares[number])}" if number in shares else None), number
        assert shown.endswith(text) and (f"{100 * shares[number]:.1f} %" in shown if number in shares else "%" not in shown[:12])


def test_a_source_that_a_kernel_above_has_shown_is_not_written_again(made):
    page = Page(made.text)
    assert {f"k0s0l{number}" for number in range(1, len(SOURCE) + 1)} <= set(page.ids)
    others = {int(one.rpartition("l")[2]) for one in page.ids if one.startswith("k1s0l")}
    ran = {line["line"] for line in made.document["kernels"][1]["lines"] if line["line"]}
    assert ran <= others and len(others) < len(SOURCE) / 2


def test_the_answer_comes_first_on_the_page_and_in_the_text(made):
    head, text = made.text[:made.text.index("<h2")], made.done.out.decode()
    assert re.search(r'href="#k0">matmul</a><td>9\d\.\d %', head) and "sum += in[row * n + k]" in head
    assert "divergent-branch" in head
    text = text[:text.index("\nkernel ")]
    assert re.search(r"where the instructions are:\n +9\d\.\d % matmul, 6\d\.\d % of it in line 12: sum \+=", text)
    assert "divergent-branch: let neighbours take the same way" in " ".join(text.split())
    assert max(map(len, text.splitlines()[1:])) <= 80


# ---- the database

def rows_of(document, way):
    """The lists that keys lead to, one for each row above; None where there is none."""
    lists = [[document]]
    for key in way:
        lists = [row.get(key) for rows in lists for row in rows or []]
        lists = [[rows] if isinstance(rows, dict) else rows for rows in lists]
    return lists


@pytest.mark.parametrize("table, way", [
    ("kernels", ["kernels"]), ("kernels_blocks", ["kernels", "blocks"]), ("kernels_lines", ["kernels", "lines"]),
    ("kernels_blocks_code", ["kernels", "blocks", "code"]), ("kernels_findings", ["kernels", "findings"]),
    ("kernels_findings_places", ["kernels", "findings", "places"]), ("kernels_loops", ["kernels", "loops"]),
    ("kernels_models", ["kernels", "models"]), ("kernels_models_code", ["kernels", "models", "code"]), ("sources", ["sources"])])
def test_a_table_of_the_database_is_a_list_of_the_json(made, table, way):
    database = sqlite3.connect(made.database)
    database.row_factory = sqlite3.Row
    rows = database.execute(f"SELECT * FROM {table} ORDER BY row").fetchall()
    expected = [(parent, one) for parent, list_ in enumerate(rows_of(made.document, way), 1) for one in list_ or []]
    assert len(rows) == len(expected) > 0
    for number, (row, (parent, one)) in enumerate(zip(rows, expected), 1):
        assert (row["row"], row["parent"]) == (number, parent)
        for key, value in one.items():
            if not isinstance(value, (dict, list)) and key in row.keys():
                assert row[key] == value, (table, number, key)


def test_objects_are_columns_and_maps_and_lists_are_rows(made):
    database = sqlite3.connect(made.database)
    for number, kernel in enumerate(made.document["kernels"], 1):
        name, instructions, build = database.execute("SELECT name, total_instructions, build_hash FROM kernels WHERE row = ?", [number]).fetchone()
        assert (name, instructions, build) == (kernel["name"], kernel["total"]["instructions"], kernel["build"]["hash"])
        kinds = dict(database.execute("SELECT kind, count FROM kernels_total_kinds WHERE parent = ?", [number]))
        assert kinds == kernel["total"]["kinds"]
    assert [line for line, in database.execute("SELECT value FROM sources_lines ORDER BY position")] == SOURCE
    assert database.execute("SELECT format, launches FROM run").fetchall() == [("tare.blocks/1", 3)]


@pytest.mark.parametrize("options, said", [
    (["--sqlite", "-"], "cannot go to standard output"), (["--sqlite", "/proc/none/here.db"], "/proc/none"),
    (["--sqlite", "same", "--json", "same"], "--json and --sqlite would both write same"),
    (["--sqlite", "./same", "--csv", "same"], "--csv and --sqlite would both write same"),
    (["--ptx", "--exact", "add"], "leave it out, or --exact"), (["--ptx", "--period", "12"], "leave it out, or --period"),
    (["--ptx", "--executions"], "leave it out, or --executions"), (["--ptx", "--once"], "leave out --once"),
    (["--period", "9"], "--period is a power of 2"),
    (["--options", "-D"], "ends with -D, which needs a value")])
def test_what_cannot_be_is_refused_before_the_program_runs(tare_path, tmp_path, options, said):
    done = run([tare_path, "blocks", *options, "--", "touch", "ran"], {}, cwd=tmp_path)
    assert done.status == 125 and said in done.errors.decode() and list(tmp_path.iterdir()) == []
