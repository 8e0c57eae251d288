# SPDX-License-Identifier: Apache-2.0
"""tare blocks --executions: what the hardware counts of a kernel's instructions by sort, and of its warps by state, on
the stand-ins for the driver and CUPTI: blocks' executions follow to the last digit where these counts leave one number,
and what does not add up is said."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from test_cuda_samples import EXECUTIONS, LOOP, On, Truth, WARPS_A_LAUNCH, head, kernel_of  # noqa: E402

APART = "smsp__sass_branch_targets_threads_divergent.sum"
# Metrics, and the opcodes that they count.
SORTS = {
    "op_global_ld": ("LDG",), "op_global_st": ("STG",), "op_shared_ld": ("LDS",), "op_shared_st": ("STS",), "op_ldc": ("LDC",),
    "op_branch": ("BRA", "BSYNC", "CALL", "EXIT", "RET", "WARPSYNC"), "pipe_fma": ("FADD", "FFMA", "FMUL", "IMAD", "VIADD"),
    "pipe_alu": ("IADD3", "ISETP", "LEA", "LOP3", "MOV", "SEL", "SHF", "FSETP", "PLOP3", "PRMT")}
# Of ten warps' cycles.
STATES = {"selected": 100, "wait": 300, "long_scoreboard": 600}


@pytest.fixture
def on(tare_path, tmp_path):
    return On(tare_path, tmp_path)


def report_of(on, truth, counts):
    told = " ".join(f"{name}={value}" for name, value in counts.items())
    return kernel_of(on.blocks([*head(truth), *truth.lines()], "kernels=9", options=("--executions",),
                               environment={"TARE_FAKE_COUNTS": told}))


def counts_of(on, truth):
    """What each launch's warps execute, by sort."""
    names = {each["pc"]: each["text"].removeprefix("@P ").split()[0] for each in kernel_of(
        on.blocks([*head(truth), *truth.lines()], "kernels=9"))["instructions"]}
    counts = {"smsp__inst_executed.sum": 0, APART: 0,
              **{f"smsp__inst_executed_{sort}.sum": 0 for sort in SORTS},
              **{f"smsp__warps_issue_stalled_{state}.sum": value for state, value in STATES.items()}}
    for block, times in enumerate(EXECUTIONS):
        for pc in truth.in_block(block):
            counts["smsp__inst_executed.sum"] += times * WARPS_A_LAUNCH
            for sort, opcodes in SORTS.items():
                if names.get(pc) in opcodes:
                    counts[f"smsp__inst_executed_{sort}.sum"] += times * WARPS_A_LAUNCH
    return counts


def test_blocks_are_counted_where_counts_leave_one_number(on):
    truth = Truth()
    kernel = report_of(on, truth, counts_of(on, truth))
    assert kernel["accounts"] == "settled" and kernel["accounts_slack"] == 0 and kernel["executions_unknown"] is None
    blocks = {each["block"]: each for each in kernel["blocks"]}
    warps = kernel["warps"]
    for number, each in blocks.items():
        assert each["executions_from"] == "counted", number
        assert each["executions"]["value"] == pytest.approx(EXECUTIONS[number] * warps, rel=1e-6)
        assert each["executions"]["low"] == each["executions"]["high"] == each["executions"]["value"]
    assert blocks[LOOP]["executions"]["value"] == pytest.approx(100 * warps, rel=1e-6)
    assert "counted" in on.text


def test_counts_that_do_not_add_up_are_said_and_not_used(on):
    truth = Truth()
    counts = counts_of(on, truth)
    counts["smsp__inst_executed_op_global_ld.sum"] *= 1.5
    kernel = report_of(on, truth, counts)
    assert kernel["accounts"] == "contradictory" and kernel["accounts_slack"] is None
    assert any("do not add up" in each for each in kernel["notes"]) and "do not add up" in on.text
    loop = next(each for each in kernel["blocks"] if each["block"] == LOOP)
    assert loop["executions_from"] == "sampled" and loop["executions"]["low"] < loop["executions"]["high"]


def test_counts_of_passes_that_differ_a_little_are_used_and_said(on):
    truth = Truth()
    counts = counts_of(on, truth)
    counts["smsp__inst_executed_op_global_ld.sum"] *= 1.0005
    kernel = report_of(on, truth, counts)
    assert kernel["accounts"] == "settled" and kernel["accounts_slack"] == 1e-3
    assert any("within 0.1 %" in each for each in kernel["notes"])
    loop = next(each for each in kernel["blocks"] if each["block"] == LOOP)["executions"]
    assert loop["low"] <= 100 * kernel["warps"] <= loop["high"] and loop["high"] < 1.01 * loop["low"]


def test_states_of_warps_are_counted_beside_samples(on):
    truth = Truth()
    kernel = report_of(on, truth, counts_of(on, truth))
    # Two launches are counted.
    assert kernel["counted_states"] == {state: 2 * value for state, value in STATES.items()}
    assert any("believe the count" in each for each in kernel["notes"]) and "believe the count" in on.text
    finding = next(each for each in kernel["findings"] if each["id"] == "memory-latency")
    assert finding["share"] == pytest.approx(.6) and "60 % of its warps' cycles" in on.text


def test_states_that_agree_are_not_said_to_differ(on):
    truth = Truth()
    counts = counts_of(on, truth)
    every = truth.counts(truth.met)
    for state in STATES:
        counts[f"smsp__warps_issue_stalled_{state}.sum"] = every.get(state, 0)
    kernel = report_of(on, truth, counts)
    assert kernel["notes"] == [] and set(kernel["counted_states"]) == set(STATES)
