# SPDX-License-Identifier: Apache-2.0
"""tare blocks --exact on CUDA programs, on the stand-ins for the driver and CUPTI: what fake_cupti_sass.c says a launch
executes comes out by instruction, block, line and opcode, times the launches; what is not counted is said."""
import csv
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import run  # noqa: E402
from test_cuda_samples import LOOP, STALLS, STREAMS, WARPS_A_LAUNCH, On, Truth, counted, kernel_of  # noqa: E402

# CUPTI tells 32 bits of it with counts.
CRC = 0x55667788
# How often each warp executes each block of the module for 9.0, and how many of its lanes do.
EXECUTIONS, LANES = [1, 1, 1, 100, 1, 0, 1, 0], [32, 31, 30, 17, 30, 0, 8, 0]


class Counted(Truth):
    """What each instruction is executed in a launch."""

    def __init__(self):
        super().__init__()
        self.each = {}
        for block, (times, lanes) in enumerate(zip(EXECUTIONS, LANES)):
            for pc in self.in_block(block):
                if times:
                    self.each[pc] = [times * WARPS_A_LAUNCH, times * WARPS_A_LAUNCH * lanes]

    def script(self, sampled=True):
        yield f"cubin {HERE}/sampled_90.cubin {CRC}"
        yield from ["reason smsp__pcsamp_sample_count", "reason smsp__pcsamp_samples_data_dropped"]
        for stall in STALLS:
            yield from [f"reason smsp__pcsamp_warps_issue_stalled_{stall}{end}" for end in ("", "_not_issued")]
        if sampled:
            yield from self.lines(crc=CRC)
        for pc, (warps, lanes) in self.each.items():
            yield f"count {CRC} empty {pc} {warps} {lanes}"
        # CUPTI counts what others launch meanwhile, too.
        yield f"count {CRC} other 0 12345 12345"


@pytest.fixture
def on(tare_path, tmp_path):
    return On(tare_path, tmp_path)


EXACT = ("--exact", "empty")
ONCE = ("--once", *EXACT)


def test_counts_come_out_by_instruction_block_line_and_opcode(on):
    truth = Counted()
    # Five launches of `empty`, four of `other`.
    report = on.blocks(truth.script(), "kernels=9", options=EXACT)
    assert [each["linked_name"] for each in report["kernels"]] == ["empty"]
    exact = kernel_of(report)["exact"]
    assert (exact["launches"], exact["warps"], exact["whole"], exact["graphs"]) == (5, 5 * WARPS_A_LAUNCH, True, 0)
    assert {each["pc"]: [each["executed"], each["lanes"]] for each in exact["instructions"]} == {
        pc: [5 * warps, 5 * lanes] for pc, (warps, lanes) in truth.each.items()}
    for number, (first, count) in enumerate(truth.blocks):
        block = exact["blocks"][number]
        times = EXECUTIONS[number] if number < len(EXECUTIONS) else 0
        assert (block["pc"], block["instructions"], block["even"]) == (first, count, True)
        assert block["executions"] == 5 * WARPS_A_LAUNCH * times and block["executed"] == count * block["executions"]
    assert exact["executed"] == sum(each["executed"] for each in exact["lines"])
    for mix in ("classes", "opcodes"):
        assert exact["executed"] == sum(each["executed"] for each in exact[mix].values())
        assert exact["lanes"] == sum(each["lanes"] for each in exact[mix].values())
    loads = [each for each in exact["instructions"] if each["text"].startswith("LDG")]
    assert exact["opcodes"]["LDG"] == {"executed": sum(each["executed"] for each in loads),
                                       "lanes": sum(each["lanes"] for each in loads)}
    hottest = exact["lines"][0]
    assert "rounds; k++" in (HERE / "sampled.cu").read_text().splitlines()[hottest["line"] - 1] or hottest["line"] == 13


def test_the_first_run_samples_the_same_kernel_and_times_it(on):
    truth = Counted()
    report = on.blocks(truth.script(), "kernels=9", options=(*EXACT, "--executions"),
                       environment=counted(truth))
    kernel = kernel_of(report)
    assert kernel["stalls"] == truth.counts(truth.met) and kernel["launches"] == 5
    sampled = {each["block"]: each["executions"] for each in kernel["blocks"]}
    assert sampled[LOOP]["low"] <= kernel["exact"]["blocks"][LOOP]["executions"] <= sampled[LOOP]["high"]
    cost = kernel["exact"]["cost"]
    # The first launch is left out.
    assert cost["launches"] == 4 and not cost["first"] and cost["plain_ns"] > 0
    assert "times as slow" in on.text and "with one kernel counted" in on.text and report["processes"] == 1


def test_run_once_there_are_counts_alone(on):
    kernel = kernel_of(on.blocks(Counted().script(), "kernels=9", options=ONCE))
    assert kernel["samples"] == 0 and kernel["exact"]["launches"] == 5 and kernel["exact"]["cost"] is None
    assert "--once leaves the run without out" in on.text and "each began once" in on.text


@pytest.mark.parametrize("name", ["empty", "void empty<float>(float const*, int)", "=empty"])
def test_words_of_a_name_name_a_kernel(on, name):
    assert kernel_of(on.blocks(Counted().script(), "kernels", options=("--exact", name)))["exact"]["launches"] == 2


@pytest.mark.parametrize("name", ["empt y1", "empty other", "int", "=empt", "42"])
@pytest.mark.parametrize("options", [("--once",), ()])
def test_a_name_that_no_kernel_has_is_refused(on, name, options):
    truth = Counted()
    (on.folder / "samples").write_text("\n".join(truth.script()) + "\n")
    done = run([on.tare, "blocks", *options, "--exact", name, "--", STREAMS, "kernels"], on.environment, cwd=on.folder)
    said = done.errors.decode()
    assert done.status not in (0, 2) and said.count("\n") == 1 and name in said and "no kernel that was launched" in said
    assert bool(options) or ("empty" in said and done.out == b"")


def test_launches_into_a_graph_are_not_counted(on):
    # `empty` is launched into a graph, which runs four times, and then by itself.
    truth = Counted()
    kernel = kernel_of(on.blocks(truth.script(), "graph", options=ONCE))
    assert kernel["exact"]["launches"] == 1 and kernel["exact"]["whole"] is True
    assert kernel["exact"]["blocks"][0]["executions"] == WARPS_A_LAUNCH
    assert "1 launches of the kernel were into graphs" in on.text


def test_a_kernel_in_graphs_alone_is_said(on):
    (on.folder / "samples").write_text("\n".join(Counted().script()) + "\n")
    done = run([on.tare, "blocks", "--exact", "other", "--", STREAMS, "graph"], on.environment, cwd=on.folder)
    assert done.status != 0 and "into graphs only" in done.errors.decode() and done.errors.count(b"\n") == 1


def test_counting_does_not_begin_while_another_stream_captures(on):
    # The stand-in ends where that breaks the capture. Launches by themselves follow.
    truth = Counted()
    exact = kernel_of(on.blocks(truth.script(), "beside_capture=6", "kernels=9", options=EXACT))["exact"]
    assert (exact["launches"], exact["whole"]) == (5, True)
    assert "3 launches of the kernel were not counted: a graph was captured meanwhile" in on.text


def test_counts_that_are_missing_are_said(on):
    truth = Counted()
    for pc in truth.in_block(0):
        truth.each[pc] = [WARPS_A_LAUNCH - 1, 1]
    kernel = kernel_of(on.blocks(truth.script(), "kernels=9", options=ONCE))
    assert kernel["exact"]["whole"] is False
    assert any(f"{5 * WARPS_A_LAUNCH} warps were launched, and {5 * WARPS_A_LAUNCH - 5} were counted" in note
               for note in kernel["notes"])


def test_a_block_whose_instructions_differ_is_said(on):
    truth = Counted()
    truth.each[truth.in_block(LOOP)[2]][0] -= 1
    kernel = kernel_of(on.blocks(truth.script(), "kernels=9", options=ONCE))
    assert [each["block"] for each in kernel["exact"]["blocks"] if not each["even"]] == [LOOP]
    assert any("1 block(s) are divided too coarsely" in note for note in kernel["notes"])


def test_executions_outside_of_the_function_are_said(on):
    kernel = kernel_of(on.blocks([*Counted().script(), f"count {CRC} empty 65536 3 3"], "kernels", options=ONCE))
    assert any("6 executions lie outside" in note for note in kernel["notes"])


@pytest.mark.parametrize("line, note", [
    ("fail cuptiSassMetricsSetConfig 8", "no room for its counters"),
    ("fail cuptiSassMetricsSetConfig 27", "does not count executions"),
    ("fail cuptiSassMetricsEnable 35", "NVreg_RestrictProfilingToAdminUsers=0"),
    ("fail cuptiSassMetricsEnable 26", "another program counts on this device"),
    ("fail cuptiSassMetricsGetProperties 46", "a newer one may"),
    ("fail cuptiSassMetricsGetDataProperties 777", "cuptiSassMetricsGetDataProperties failed with error 777"),
])
def test_why_it_was_not_counted_is_said_in_a_sentence(on, line, note):
    (on.folder / "samples").write_text("\n".join([*Counted().script(), line]) + "\n")
    native = run([STREAMS, "kernels"], on.environment, cwd=on.folder)
    done = run([on.tare, "blocks", *EXACT, "--", STREAMS, "kernels"], on.environment, cwd=on.folder)
    said = done.errors.decode()
    assert done.status != 0 and said.count("\n") == 1 and note in said and f"the kernel was not counted: {note}"[:28] in said
    assert done.out.startswith(native.out) and note in done.out.decode()


def test_of_a_process_that_ends_at_once_it_is_said(on):
    report = on.blocks(Counted().script(), "kernels", "quits", options=ONCE, status=9)
    assert any("without exit()" in note and "not read" in note for note in report["notes"])
    assert report["kernels"] == []


def test_a_child_of_a_fork_counts_nothing_of_its_parents(on):
    truth = Counted()
    exact = kernel_of(on.blocks(truth.script(), "kernels=9", "forks", options=ONCE))["exact"]
    assert exact["whole"] is True and exact["blocks"][0]["executions"] == exact["launches"] * WARPS_A_LAUNCH


def test_threads_that_launch_at_once_count_all(on):
    exact = kernel_of(on.blocks(Counted().script(), "threads=50", options=EXACT))["exact"]
    assert (exact["launches"], exact["whole"]) == (200, True)
    assert exact["cost"]["launches"] == 63


def test_the_page_and_the_table_have_it(on):
    truth = Counted()
    on.blocks(truth.script(), "kernels=9", options=(*EXACT, "--html", "o.html", "--csv", "o.csv"))
    page = (on.folder / "o.html").read_text()
    assert "Counted exactly: 5 launches" in page and "times as slow" in page and "<script" not in page
    with open(on.folder / "o.csv", newline="", encoding="utf-8") as file:
        rows = {int(row["pc"]): [int(row["executions"]), int(row["lanes"])] for row in csv.DictReader(file)}
    assert rows == {pc: [5 * warps, 5 * lanes] for pc, (warps, lanes) in truth.each.items()}


def test_a_cupti_without_sass_metrics_is_said(on):
    """As those before CUDA 12.4 are: one of the functions is known by another name."""
    library = on.folder / "lib/libcupti.so.13"
    whole = library.read_bytes()
    assert whole.count(b"\0cuptiSassMetricsEnable\0") > 0
    library.write_bytes(whole.replace(b"\0cuptiSassMetricsEnable\0", b"\0cuptiSassMetricsEnablX\0"))
    (on.folder / "samples").write_text("\n".join(Counted().script()) + "\n")
    done = run([on.tare, "blocks", *EXACT, "--json", "o.json", "--", STREAMS, "kernels"], on.environment, cwd=on.folder)
    said = done.errors.decode() + done.out.decode()
    assert "this CUPTI has no SASS metrics; one of CUDA 12.4 or later has" in said
    assert done.status == 125 and done.out.startswith(run([STREAMS, "kernels"], on.environment, cwd=on.folder).out)
