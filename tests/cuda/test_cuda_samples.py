# SPDX-License-Identifier: Apache-2.0
"""tare blocks on CUDA programs, on the stand-ins for the driver and CUPTI: what fake_cupti_pc_sampling.c says was met at
each instruction comes out by kernel, block, line and instruction; what was lost, and why nothing was sampled, is said;
the program stays as it is."""
import csv
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e")]
from cuda_programs import STREAMS, stand_ins  # noqa: E402
from recorded import run  # noqa: E402

SCRIPT = """tare-device 1
device name "exact" memory 1 GiB
timer rate 1 GHz
engine compute runs kernel
engine copy runs to-device,local
engine copy runs to-host
copy pinned device fixed 29 us rate 65.536 GB/s
copy device pinned fixed 29 us rate 65.536 GB/s
marker fixed 1 us
kernel empty fixed 50 us
kernel other fixed 70 us
"""
STALLS = ["selected", "not_selected", "wait", "long_scoreboard", "barrier", "math_pipe_throttle", "from_the_future"]
CRC = 0x1122334455667788
# Of each architecture the symbol of the kernel `empty`, and of its blocks the first instruction's pc and how many
# there are (nvdisasm -c agrees; the last block is padding).
MODULES = {
    75: (12, [(0x0, 6), (0x60, 8), (0xe0, 7), (0x150, 9), (0x1e0, 8), (0x260, 16), (0x360, 2), (0x380, 1), (0x390, 7)]),
    90: (13, [(0x0, 8), (0x80, 5), (0xd0, 7), (0x140, 9), (0x1d0, 15), (0x2c0, 16), (0x3c0, 2), (0x3e0, 1), (0x3f0, 9)]),
    120: (13, [(0x0, 8), (0x80, 5), (0xd0, 6), (0x130, 7), (0x1a0, 15), (0x290, 16), (0x390, 2), (0x3b0, 1), (0x3c0, 12)]),
}
WARPS_A_LAUNCH = 2 * 2
# How often a warp executes each block but the padding, and how often it is met while it issues once.
EXECUTIONS, ISSUES = [1, 1, 1, 100, 1, 0, 1, 0], 150
LOOP, BEHIND_LOOP = 3, 4


class Truth:
    """What is met at each pc, by the name of the stall."""

    def __init__(self, sm=90):
        self.sm, (self.symbol, self.blocks) = sm, MODULES[sm]
        self.met = {}
        for (first, count), times in zip(self.blocks, EXECUTIONS):
            for i in range(count):
                if times:
                    self.met[first + 16 * i] = {"selected": times * ISSUES, "wait": times * 40 + i}
        loop, behind = self.blocks[LOOP][0], self.blocks[BEHIND_LOOP][0]
        self.met[loop + 0x20]["long_scoreboard"] = 300_000
        self.met[behind]["from_the_future"] = 9
        # The hardware books the loop's first instruction on the one behind the branch.
        self.met[behind]["selected"] += self.met[loop]["selected"] - 3
        self.met[loop]["selected"] = 3

    def lines(self, name="empty", crc=CRC, symbol=None):
        for pc, counts in self.met.items():
            # Each is told of twice, and there are two that are no stalls.
            numbers = [f"0={sum(counts.values())}", f"1={7}"]
            for stall, count in counts.items():
                at = 2 + 2 * STALLS.index(stall)
                numbers += [f"{at}={count}", f"{at + 1}={count // 2}"]
            yield f"pc {crc} {symbol or self.symbol} {name} {pc} {' '.join(numbers)}"

    def counts(self, pcs):
        total = {}
        for pc in pcs:
            for stall, count in self.met.get(pc, {}).items():
                stall = "other" if stall == "from_the_future" else stall
                total[stall] = total.get(stall, 0) + count
        return total

    def in_block(self, block):
        first, count = self.blocks[block]
        return [first + 16 * i for i in range(count)]


def head(truth, cubin=True):
    lines = [f"cubin {HERE}/sampled_{truth.sm}.cubin {CRC}"] if cubin else []
    lines += ["reason smsp__pcsamp_sample_count", "reason smsp__pcsamp_samples_data_dropped"]
    for stall in STALLS:
        lines += [f"reason smsp__pcsamp_warps_issue_stalled_{stall}{end}" for end in ("", "_not_issued")]
    return lines


class On:
    def __init__(self, tare, folder):
        self.tare, self.folder = tare, folder
        (folder / "script").write_text(SCRIPT)
        (folder / "tmp").mkdir()
        self.environment = {
            **stand_ins(folder, folder / "script"), "TMPDIR": str(folder / "tmp"), "TARE_NVDISASM": "/nonexistent",
            "TARE_FAKE_CUDA": "module_us=10", "XDG_CACHE_HOME": str(folder / "cache"),
            "TARE_FAKE_SAMPLES": str(folder / "samples"), "COLUMNS": "500"}

    def blocks(self, lines, *styles, options=("--once", "--executions"), environment=None, status=0):
        """The report of the program, whose output and end must be its own."""
        (self.folder / "samples").write_text("\n".join(lines) + "\n")
        environment = {**self.environment, **(environment or {})}
        native = run([STREAMS, *styles], environment, cwd=self.folder)
        done = run([self.tare, "blocks", *options, "--json", "o.json", "--", STREAMS, *styles], environment,
                   cwd=self.folder)
        self.text, self.said = done.out.decode(), done.errors.decode()
        assert done.status == native.status == status, self.said
        assert done.out.startswith(native.out)
        assert list((self.folder / "tmp").iterdir()) == []
        return json.loads((self.folder / "o.json").read_text())["cuda"]


@pytest.fixture
def on(tare_path, tmp_path):
    return On(tare_path, tmp_path)


def kernel_of(report, name="empty"):
    return next(each for each in report["kernels"] if each["linked_name"] == name)


@pytest.mark.parametrize("sm", MODULES)
def test_samples_come_out_by_instruction_line_and_block(on, sm):
    truth = Truth(sm)
    report = on.blocks([*head(truth), *truth.lines(), "total 5"], "kernels=9")
    kernel = kernel_of(report)
    assert kernel["sm"] == sm and kernel["notes"] == []
    every = truth.counts(truth.met)
    assert kernel["stalls"] == every and kernel["samples"] == sum(every.values()) == report["samples"]
    assert {each["pc"]: each["stalls"] for each in kernel["instructions"]} == {pc: truth.counts([pc]) for pc in truth.met}
    met = [(number, each) for number, each in enumerate(truth.blocks) if truth.counts(truth.in_block(number))]
    assert [(each["block"], each["pc"], each["instructions"]) for each in kernel["blocks"]] == [
        (number, first, count) for number, (first, count) in met]
    for each in kernel["blocks"]:
        assert each["stalls"] == truth.counts(truth.in_block(each["block"]))
    assert sum(each["samples"] for each in kernel["lines"]) == kernel["samples"]
    lines = (HERE / "sampled.cu").read_text().splitlines()
    load = next(each for each in kernel["instructions"] if each["text"] == "LDG" and each["pc"] in truth.in_block(LOOP))
    assert "sum += in[index[i]" in lines[load["at"]["line"] - 1] and load["at"]["file"].endswith("/sampled.cu")


def counted(truth, more=0):
    """The environment in which the hardware counts what the truth has, and more, of each launch."""
    warp = sum(count * times for (_, count), times in zip(truth.blocks, EXECUTIONS))
    return {"TARE_FAKE_CUPTI": f"instructions={(warp + more) * WARPS_A_LAUNCH}"}


def test_executions_and_cycles_follow_from_what_issued(on):
    truth = Truth()
    kernel = kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels=9", options=("--executions",),
                                 environment=counted(truth)))
    warps = 5 * WARPS_A_LAUNCH
    assert kernel["launches"] == 5 and kernel["warps"] == warps and kernel["executions_unknown"] is None
    assert kernel["warp_instructions"] == {"value": 937, "low": 937, "high": 937} and kernel["counted"] == 2
    blocks = {each["block"]: each for each in kernel["blocks"]}
    assert [number for number, each in blocks.items() if each["once"]] == [0]
    assert blocks[0]["executions"] == {"value": warps, "low": warps, "high": warps}
    loop = blocks[LOOP]["executions"]
    assert loop["value"] == pytest.approx(100 * warps, rel=1e-3) and loop["low"] < 100 * warps < loop["high"]
    # All but the first block's: 929 instructions of a warp, of which the loop's are 900, 800 of them booked in place.
    part, share = 800 / 929, 900 / 929
    error = 1.96 * ((1 - part) / (800 * ISSUES) + (8 / 929) ** 2 / (7 * ISSUES)) ** .5
    assert loop["low"] / loop["value"] == pytest.approx((1 - error) / (share + (1 - share) * 2.5), rel=1e-4)
    # No more than all of these instructions.
    assert loop["high"] == pytest.approx(min(loop["value"] * (1 + error) / (share + (1 - share) / 2.5), 929 / 9 * warps), rel=1e-4)
    met = truth.counts(truth.in_block(LOOP)[1:])
    assert blocks[LOOP]["cycles"]["value"] == pytest.approx(8 * sum(met.values()) / met["selected"])


def test_what_is_met_too_often_at_a_warps_beginning_is_left_out(on):
    truth = Truth()
    for pc in truth.in_block(0):
        truth.met[pc]["selected"] *= 20
    kernel = kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels=9", options=("--executions",),
                                 environment=counted(truth)))
    loop = next(each for each in kernel["blocks"] if each["block"] == LOOP)
    assert loop["executions"]["value"] == pytest.approx(100 * kernel["warps"], rel=1e-3)


def test_executions_are_not_guessed(on):
    truth = Truth()

    def why(lines, *styles, options=("--executions",), **environment):
        kernel = kernel_of(on.blocks(lines, *styles, options=options, environment={**counted(truth), **environment}))
        assert all(each["executions"] is None for each in kernel["blocks"] if not each["once"])
        return kernel["executions_unknown"]
    assert "graphs" in why([*head(truth), *truth.lines()], "kernels=9", "graph")
    assert "--once" in why([*head(truth), *truth.lines()], "kernels=9", options=("--executions", "--once"))
    # Another module's kernel of this name.
    assert "several kernels" in why([*head(truth), *truth.lines(), *truth.lines(crc=5, symbol=3)], "kernels=9")
    # Fewer instructions than the first block has.
    assert "too seldom" in why([*head(truth), *truth.lines()], "kernels=9",
                               **{"TARE_FAKE_CUPTI": f"instructions={7 * WARPS_A_LAUNCH}"})
    assert "did not count" in why([*head(truth), *truth.lines()], "kernels=9",
                                  **{"TARE_FAKE_CUPTI": "refuse=35"})
    assert "NVreg_RestrictProfilingToAdminUsers=0" in on.text
    for pc in truth.met:
        truth.met[pc] = {"selected": 5}
    assert "too seldom" in why([*head(truth), *truth.lines()], "kernels=9")
    truth.met = {pc: {"selected": 12} for pc in truth.in_block(LOOP)}
    kernel = kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels=9"))
    assert [each["cycles"] for each in kernel["blocks"]] == [None]


def test_launches_are_counted_when_that_is_asked(on):
    truth = Truth()
    kernel = kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels=9", options=("--once",)))
    assert "--executions" in kernel["executions_unknown"] and kernel["launches"] is None
    assert all(each["executions"] is None for each in kernel["blocks"]) and kernel["blocks"][0]["cycles"]


def test_stalls_stand_as_bars_with_what_is_waited_for(on):
    truth = Truth()
    on.blocks([*head(truth), *truth.lines()], "kernels=9")
    every = truth.counts(truth.met)
    share = {reason: 100 * count / sum(every.values()) for reason, count in every.items()}
    lines = {each.split()[0]: each for each in on.text.splitlines() if each.split()[:1] and each.split()[0] in share}
    longest = lines["long_scoreboard"].count("█")
    assert f"{share['long_scoreboard']:5.1f} %" in lines["long_scoreboard"] and "global" in lines["long_scoreboard"]
    assert longest >= 5 and len(lines) > 2
    for reason, line in lines.items():
        assert abs(line.count("█") - longest * share[reason] / share["long_scoreboard"]) <= 1
    assert "sampled.cu:13" in on.text and "memory-latency" in on.text and "2^16 = 65536 cycles" in on.text


def test_a_kernel_without_module_has_what_was_met(on):
    truth = Truth()
    kernel = kernel_of(on.blocks([*head(truth, cubin=False), *truth.lines()], "kernels=9"))
    assert kernel["blocks"] == [] and kernel["lines"] == [] and "module was not kept" in kernel["notes"][0]
    assert kernel["stalls"] == truth.counts(truth.met) and "module" in kernel["executions_unknown"]
    assert [each["pc"] for each in kernel["instructions"]] == sorted(truth.met)


def test_samples_outside_of_the_function_are_said(on):
    truth = Truth()
    lines = [*head(truth), *truth.lines(), f"pc {CRC} {truth.symbol} empty 65536 2=11"]
    kernel = kernel_of(on.blocks(lines, "kernels"))
    assert kernel["samples"] == sum(truth.counts(truth.met).values()) + 11
    assert any("11 samples lie outside" in note for note in kernel["notes"])


@pytest.mark.parametrize("line, note", [
    ("dropped 17", "dropped 17 samples: sample less often"),
    ("full", "buffer was full"),
    ("not_users 8", "8 samples are of the driver's own kernels"),
    ("fail cuptiPCSamplingEnable 35", "NVreg_RestrictProfilingToAdminUsers=0"),
    ("fail cuptiPCSamplingEnable 26", "another program counts on this device"),
    ("fail cuptiPCSamplingEnable 43", "(MIG)"),
    ("fail cuptiPCSamplingSetConfigurationAttribute 27", "offers no counters"),
    ("fail cuptiPCSamplingSetConfigurationAttribute 777", "cuptiPCSamplingSetConfigurationAttribute failed with error 777"),
])
def test_what_is_missing_is_said_in_a_sentence(on, line, note):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines(), line], "kernels")
    assert len([each for each in report["notes"] if note in each]) == 1, report["notes"]
    assert note in on.text


def test_lost_counts_are_numbers(on):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines(), "dropped 17", "not_users 8", "total 4711"], "kernels")
    assert (report["dropped"], report["not_users"], report["total"]) == (17, 8, 4711)


def test_another_subscriber_keeps_cupti(on):
    report = on.blocks(head(Truth()), "kernels", environment={"TARE_FAKE_CUPTI": "holder=Another"})
    assert ["uses CUPTI already" in each for each in report["notes"]] == [True] and report["samples"] == 0


def test_without_cupti_it_is_said_how_to_get_it(on):
    report = on.blocks(head(Truth()), "kernels", environment={"TARE_CUPTI_LIBRARY": "/nonexistent"})
    assert ["install" in each and "CUPTI" in each for each in report["notes"]] == [True]


def test_of_a_process_that_ends_at_once_it_is_said_that_the_end_is_missing(on):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines()], "quits", status=9)
    assert any("without exit()" in note for note in report["notes"])


def test_a_child_of_a_fork_writes_nothing_of_its_parents(on):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines()], "kernels", "forks")
    assert kernel_of(report)["stalls"] == truth.counts(truth.met)


def test_run_twice_its_output_is_written_once(on):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines()], "kernels", options=())
    assert kernel_of(report)["stalls"] == truth.counts(truth.met) and "run twice" in on.text
    # Never both: what it cost is the difference of the two runs, where there is one.
    assert ("sampled the program took" in on.text) and ("by one run each" in on.text)


def test_of_a_single_run_its_cost_is_not_told(on):
    truth = Truth()
    on.blocks([*head(truth), *truth.lines()], "kernels")
    assert "by one run each" not in on.text


@pytest.mark.parametrize("environment", [{"TARE_FAKE_CUPTI": "holder=Another"}, {"TARE_CUPTI_LIBRARY": "/nonexistent"}])
def test_what_was_not_sampled_is_not_called_so(on, environment):
    on.blocks(head(Truth()), "kernels", options=("--executions",), environment=environment)
    assert "ms not sampled" in on.text and "sampling took" not in on.text and "by one run each" not in on.text


def test_of_a_program_that_a_signal_ends_the_samples_stay_and_the_way_to_them_is_named(on):
    truth = Truth()
    (on.folder / "samples").write_text("\n".join([*head(truth), *truth.lines()]) + "\n")

    def ended(*options):
        return run([on.tare, "blocks", *options, "--json", "o.json", "--", STREAMS, "terminated"], on.environment,
                   cwd=on.folder)
    assert "--once" in ended().errors.decode()
    done = ended("--once")
    report = json.loads((on.folder / "o.json").read_text())["cuda"]
    # What the stand-in keeps for the end is missing.
    assert done.status == -15 and 0 < kernel_of(report)["samples"] < sum(truth.counts(truth.met).values())
    assert any("without exit()" in note for note in report["notes"])


def test_a_program_that_runs_once_may_read_a_pipe(on):
    truth = Truth()
    (on.folder / "samples").write_text("\n".join([*head(truth), *truth.lines()]) + "\n")

    def piped(*options):
        return run(["sh", "-c", f"echo read | {on.tare} blocks {' '.join(options)} -- sh -c 'cat; {STREAMS} kernels'"],
                   on.environment, cwd=on.folder)
    assert piped("--once").out.startswith(b"read\n3 5\n")
    for more in (), ("--once", "--before"), ("--once", "--times"):
        refused = piped(*more)
        assert refused.status == 125 and b"</dev/null" in refused.errors, more


@pytest.mark.parametrize("end, said", [("exit 4", "with exit status 4"), ("kill -SEGV $$", "by signal 11"),
                                       ("exit 0", "not recorded")])
def test_counts_of_other_work_are_not_taken(on, end, said):
    truth = Truth()
    (on.folder / "samples").write_text("\n".join([*head(truth), *truth.lines()]) + "\n")
    script = f"echo >> runs; [ $(wc -l < runs) -lt 3 ] || {end}; {STREAMS} kernels=9"
    done = run([on.tare, "blocks", "--executions", "--json", "o.json", "--", "sh", "-c", script],
               {**on.environment, **counted(truth)}, cwd=on.folder)
    report = json.loads((on.folder / "o.json").read_text())["cuda"]
    assert done.status == 0 and [said in each for each in report["notes"]] == [True], report["notes"]
    assert b"run three times" in done.out and kernel_of(report)["warp_instructions"] is None


def test_samples_and_counts_of_two_processes_are_added(on):
    truth = Truth()
    (on.folder / "samples").write_text("\n".join([*head(truth), *truth.lines()]) + "\n")
    done = run([on.tare, "blocks", "--executions", "--json", "o.json", "--", "sh", "-c",
                f"{STREAMS} kernels=9 & {STREAMS} kernels=5; wait"], {**on.environment, **counted(truth)}, cwd=on.folder)
    kernel = kernel_of(json.loads((on.folder / "o.json").read_text())["cuda"])
    loop = next(each for each in kernel["blocks"] if each["block"] == LOOP)
    assert done.status == 0 and kernel["launches"] == 5 + 3 and kernel["counted"] == 2
    assert loop["executions"]["value"] == pytest.approx(100 * 8 * WARPS_A_LAUNCH, rel=1e-3)


def test_a_program_without_kernels_is_told_so(on):
    report = on.blocks(head(Truth()), "copies")
    assert ["no kernel was met" in each for each in report["notes"]] == [True] and report["kernels"] == []


@pytest.mark.parametrize("period", ["9", "25"])
def test_a_period_that_devices_do_not_have_is_refused(on, period):
    done = run([on.tare, "blocks", "--period", period, "--", STREAMS], on.environment, cwd=on.folder)
    assert done.status == 125 and done.errors.decode().count("\n") == 1 and "10 to 24" in done.errors.decode()


def test_a_period_is_asked_of_the_device(on):
    truth = Truth()
    report = on.blocks([*head(truth), *truth.lines()], "kernels", options=("--once", "--period", "18"))
    assert report["period_log2"] == 18


@pytest.mark.parametrize("period, mib", [(16, 64), (15, 128), (12, 512)])
def test_the_hardwares_buffer_is_as_large_as_the_period_needs(on, period, mib):
    truth = Truth()
    lines = [*head(truth), *truth.lines(), f"room {mib << 20}"]
    report = on.blocks(lines, "kernels", options=("--once", "--period", str(period)))
    assert report["samples"] and report["notes"] == []


def test_text_is_nvdisasms_where_it_is(on):
    truth = Truth()
    tool = on.folder / "nvdisasm"
    tool.write_text('#!/bin/sh\n[ "$1 $2 $3" = "-c -fun 13" ] || exit 1\nprintf "\\t.section x\\n        /*0010*/'
                    '                   S2R R5, SR_TID.X ;\\n"\n')
    tool.chmod(0o755)
    kernel = kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels", environment={"TARE_NVDISASM": str(tool)}))
    text = {each["pc"]: each["text"] for each in kernel["instructions"]}
    assert text[0x10] == "S2R R5, SR_TID.X" and text[0x160] == "LDG" and text[0x70] == "@P EXIT"
    assert " samples in 1 kernel; each core" in on.text


def test_the_page_and_the_table_have_it(on):
    truth = Truth()
    on.blocks([*head(truth), *truth.lines()], "kernels=9",
              options=("--once", "--html", "o.html", "--csv", "o.csv"))
    page = (on.folder / "o.html").read_text()
    assert "long_scoreboard" in page and "<script" not in page and "sampled.cu" in page
    with open(on.folder / "o.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {int(row["pc"]): int(row["samples"]) for row in rows} == {
        pc: sum(truth.counts([pc]).values()) for pc in truth.met}
    assert all(int(row["block"]) < len(truth.blocks) and row["kernel"] == "empty" for row in rows)


@pytest.mark.parametrize("kernels, words", [(10, None), (11, "1 more kernel; --verbose shows it"),
                                            (12, "2 more kernels; --verbose shows them")])
def test_kernels_that_are_not_shown_are_counted(on, kernels, words):
    truth = Truth()
    others = [f"pc {CRC + 1} {i} other{i} 16 2={i}" for i in range(1, kernels)]
    assert len(on.blocks([*head(truth), *truth.lines(), *others], "kernels=9")["kernels"]) == kernels
    assert [each for each in on.text.splitlines() if "more kernel" in each] == ([words] if words else [])


@pytest.mark.parametrize("kernels, words", [(21, "<p>1 more kernel; --csv and --json have it.</p>"),
                                            (22, "<p>2 more kernels; --csv and --json have them.</p>")])
def test_the_page_counts_kernels_that_it_does_not_show(on, kernels, words):
    truth = Truth()
    others = [f"pc {CRC + 1} {i} other{i} 16 2={i}" for i in range(1, kernels)]
    on.blocks([*head(truth), *truth.lines(), *others], "kernels=9", options=("--once", "--html", "o.html"))
    assert words in (on.folder / "o.html").read_text()
