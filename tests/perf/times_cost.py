#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What device times cost a launch-heavy program, and what a sample of them is worth, in interleaved rounds.

  times_cost.py [--tare TARE] [--stress PROGRAM] [--rounds N] [--commands N] [--thread]

Variants: as it is; with profiling that the program itself asks for; the floor, which is profiling, an event for
each command and its release by the program itself; and recorded with --times none, sampled and all. Printed are
medians over the rounds: nanoseconds a command in the program's loop, the ratio to the one as it is and to
"own profiling", in the same round; what the report says that recording cost, beside what was measured; and how
far the estimated total of each kernel and kind of transfer is from the total of the recording with --times all in the same round
(its loop is another run: what that differs by from round to round is printed too), and from the truth: a program that
asks for all times itself, and sums them up, recorded with a sample. Environment variables
(POCL_DEVICES, OCL_ICD_VENDORS) choose the device.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile


def run(command):
    """Loop ns and wall of the loop's program, as it prints them."""
    out = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    return int(out.split()[1])


def variants(options, folder):
    words = ["thread"] if options.thread else []
    stress = [options.stress, str(options.commands), *words]

    def recorded(times):
        return [options.tare, "record", "-q", "--force", "-o", os.path.join(folder, times), "--times", times, "--",
                *stress]

    return {"native": stress, "own profiling": stress + ["profile"], "floor": stress + ["events"],
            "times none": recorded("none"), "times sampled": recorded("sampled"), "times all": recorded("all")}


def report(options, folder, times):
    command = [options.tare, "report", os.path.join(folder, times + ".tare"), "--json", "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def totals(found):
    """{kernel or kind of transfer: total or estimate, half its interval}, ns."""
    rows = [(row["name"], row) for row in found["tasks"]] + [(row["kind"], row) for row in found["transfers"]]
    return {name: (row["estimated_total_ns"] or row["total_ns"] or 0,
                   (row["estimated_high_ns"] or 0) - (row["estimated_total_ns"] or 0)) for name, row in rows}


def middle(values):
    return statistics.median(values)


def print_loops(taken, commands):
    print(f"{'':14}{'ns a command':>13}{'added':>9}{'to native':>11}{'to own profiling':>18}")
    native, profiled = taken["native"], taken["own profiling"]
    for name, loops in taken.items():
        added = middle((loop - base) / commands for loop, base in zip(loops, native))
        ratio = middle(loop / base for loop, base in zip(loops, native))
        other = middle(loop / base for loop, base in zip(loops, profiled))
        print(f"{name:14}{middle(loops) / commands:13.1f}{added:+9.1f}{ratio:11.3f}{other:18.3f}")


def print_costs(taken, reports, commands):
    print("\nprinted cost against measured (of the loop), ns a command")
    print(f"{'':14}{'measured':>9}{'printed':>9}{'from':>8}{'to':>8}{'ratio':>8}   source, commands with times")
    for times, found in reports.items():
        measured = middle((loop - base) / commands
                          for loop, base in zip(taken["times " + times], taken["native"]))
        # Measuring the costs is not in the loop.
        cost = [[one["coverage"][key] - one["coverage"]["once_ns"] for one in found
                 if one["coverage"][key] is not None] for key in ("cost_ns", "cost_low_ns", "cost_high_ns")]
        printed = [middle(row or [float("nan")]) / commands for row in cost]
        sources = {one["coverage"]["cost_source"] for one in found}
        completed = middle(one["coverage"]["completed"] for one in found)
        print(f"times {times:8}{measured:9.1f}{printed[0]:9.1f}{printed[1]:8.1f}{printed[2]:8.1f}"
              f"{printed[0] / measured if measured else float('nan'):8.2f}   {', '.join(map(str, sources))}, {completed}")


def print_totals(reports):
    print("\ntotal of each kernel and kind of transfer, sampled against all in the same round")
    whole = [totals(one) for one in reports["all"]]
    for name in sorted(whole[0]):
        pairs = [(totals(one).get(name, (0, 0)), other[name]) for one, other in zip(reports["sampled"], whole)
                 if other.get(name, (0, 0))[0]]
        off = [sampled[0] / all_[0] - 1 for sampled, all_ in pairs]
        spread = [all_[0] for _, all_ in pairs]
        about = middle(sampled[1] / sampled[0] if sampled[0] else 0 for sampled, _ in pairs)
        print(f"{name:24} off by {100 * middle(off):+.2f} % ({', '.join(f'{100 * one:+.2f}' for one in off)}); "
              f"its interval ±{100 * about:.2f} %; recordings of all differ by "
              f"{100 * (max(spread) / min(spread) - 1):.2f} %")


def truth(options, folder):
    """{kernel or kind of transfer: what the program says that it took}, and what the report says of the same run."""
    command = [options.tare, "record", "-q", "--force", "-o", os.path.join(folder, "truth"), "--times", "sampled", "--",
               options.stress, str(options.commands), "times"]
    words = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()
    return dict(zip(("write", "tiny", "read"), map(int, words[4:7]))), report(options, folder, "truth")


def print_truth(pairs):
    print("\nestimated total against the truth of the same run: off by, half the interval (% of the truth)")
    for name in ("tiny", "read", "write"):
        rows = [(true[name], row) for true, found in pairs for row in found["tasks"] + found["transfers"]
                if row.get("name", row.get("kind")) == name and row["unsampled"]]
        told = [(true, row) for true, row in rows if row["estimated_total_ns"] is not None]
        held = sum(row["estimated_low_ns"] <= true <= row["estimated_high_ns"] for true, row in told)
        each = ", ".join(f"{100 * (row['estimated_total_ns'] / true - 1):+.2f} ±"
                         f"{100 * (row['estimated_high_ns'] - row['estimated_total_ns']) / true:.2f}" for true, row in told)
        print(f"{name:24} {held} of {len(told)} intervals hold, {len(rows) - len(told)} not told: {each}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", default="build/src/cli/tare")
    parser.add_argument("--stress", default="build/tests/programs/stress")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--commands", type=int, default=300_000)
    parser.add_argument("--thread", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    truths = []
    taken, reports = {}, {"none": [], "sampled": [], "all": []}
    try:
        for number in range(options.rounds + 1):
            for name, command in variants(options, folder).items():
                loop = run(command)
                if number:  # the first round fills the kernel cache
                    taken.setdefault(name, []).append(loop)
                if number and name.startswith("times "):
                    times = name.removeprefix("times ")
                    reports[times].append(report(options, folder, times))
            truths.append(truth(options, folder))
    finally:
        shutil.rmtree(folder)
    print(f"{options.rounds} rounds of {options.commands} commands{' and a second thread' if options.thread else ''}")
    print_loops(taken, options.commands)
    print_costs(taken, reports, options.commands)
    print_totals(reports)
    print_truth(truths)


if __name__ == "__main__":
    main()
