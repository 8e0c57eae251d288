#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tare hotspots counted beside what NVIDIA's ncu did: docs/hotspots.md has the table that this makes.

    tare hotspots --launches 8 -o run.tare -- PROGRAM
    counted_launches run.tare/counted.tare > tare.csv          (ninja -C build tests/perf/counted_launches)
    beside_ncu.py metrics                                      (what --metrics is to be, one run of ncu each)
    ncu --cache-control none --clock-control none --csv --page raw --print-units base --print-kernel-base mangled \\
        --profile-from-start off --metrics ... PROGRAM > a0.csv
    beside_ncu.py compare --tare tare.csv --ncu a0.csv,a1.csv [--steps 4]

A launch is compared with those of its kernel's symbol, grid and block, and where the program does the same in each step
(ncu's part has --steps of them, and both end with one; 1: both are the same program) with those at the same place within a step. Given several times,
--tare and --ncu are repeats: how far the means of two repeats lie apart is said, too, and means are of all.
"""
import argparse
import collections
import csv
import itertools
import re
import statistics
import sys

ACTIVE, ELAPSED = ".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed"
# figure: metric, its factor, how far it may be off (in % of the value, or in points), from so many bytes on
FIGURES = {
    "duration": ("gpu__time_duration.sum", 1, None, 0),
    "instructions": ("smsp__inst_executed.sum", 1, 0.5, 0),
    "lanes": ("smsp__thread_inst_executed.sum", 1, 0.5, 0),
    "L1": ("l1tex__t_bytes.sum", 1, 0.5, 0),
    "L2 to L1": ("lts__t_sectors_srcunit_tex_op_read.sum", 32, 5, 1e6),
    "L2": ("lts__t_sectors.sum", 32, 5, 1e6),
    "read": ("dram__bytes_read.sum", 1, 5, 1e6),
    "written": ("dram__bytes_write.sum", 1, 10, 1e6),
}
SHARES = {
    "occupancy": "sm__warps_active" + ACTIVE,
    "issue": "smsp__issue_active" + ACTIVE,
    "cores active": "sm__cycles_active" + ELAPSED,
    "device memory share": "dram__throughput" + ELAPSED,
    "L2 share": "lts__t_sectors" + ELAPSED,
    "L2 look-ups": "lts__t_tag_requests" + ELAPSED,
    "L2 to cores": "lts__lts2xbar_cycles_active" + ELAPSED,
    "cores to L2": "lts__xbar2lts_cycles_active" + ELAPSED,
    "L1 share": "l1tex__data_pipe_lsu_wavefronts" + ELAPSED,
    "L1 hits": "l1tex__t_sector_hit_rate.pct",
    "integer pipe": "sm__inst_executed_pipe_alu" + ACTIVE,
    "single pipe": "sm__pipe_fma_cycles_active" + ACTIVE,
    "matrix engines": "sm__pipe_tensor_cycles_active" + ACTIVE,
    "double pipe": "sm__inst_executed_pipe_fp64" + ACTIVE,
    "special functions": "sm__inst_executed_pipe_xu" + ACTIVE,
    "load and store": "sm__inst_executed_pipe_lsu" + ACTIVE,
}
FIGURES.update({figure: (metric, 1, 2, 0) for figure, metric in SHARES.items()})
POINTS = tuple(SHARES)
# Each fits into one pass, so that ncu replays nothing.
PASSES = (("duration", "instructions", "lanes", "L2 to L1", "L2", "read", "written", "occupancy", "issue", "cores active",
           "device memory share", "L2 share", "L1 share"),
          ("L1", "L1 hits", "L2 look-ups"), ("L2 to cores", "cores to L2", "integer pipe", "single pipe"),
          ("matrix engines", "double pipe", "special functions", "load and store"))


def read_tare(path):
    """Of each counted launch (kernel, grid, block), its place counted from the last one, and its figures."""
    launches = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["kernel"], row["grid"], row["block"])
            at = int(row["launches"]) - 1 - int(row["place"])
            launches.setdefault(row["counted"], (key, at, {}))[2][row["figure"]] = float(row["value"])
    return list(launches.values())


def read_ncu(paths):
    """The same of all launches that ncu saw: {key: {figure: [value of the last launch, of the one before it, ...]}}."""
    kinds = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = list(itertools.dropwhile(lambda line: not line.startswith('"ID"'), file))
        for row in list(csv.DictReader(lines))[1:]:  # the first has the units
            key = (row["Kernel Name"], row["Grid Size"], row["Block Size"])
            for figure, (metric, factor, _, _) in FIGURES.items():
                if row.get(metric):
                    kinds[key][figure].append(float(row[metric].replace(",", "")) * factor)
    return {key: {figure: values[::-1] for figure, values in figures.items()} for key, figures in kinds.items()}


def alike(values, at, steps):
    """Those of an ncu's launches that are at the same place within a step; None: steps have not the same number."""
    if not steps:
        return values
    if len(values) % steps:
        return None
    period = len(values) // steps
    return values[at % period::period]


def join(tare, ncus, steps):
    """{key: {figure: [(here, those there that are alike)]}}, and the kinds of which steps do not have the same number."""
    pairs, uneven = collections.defaultdict(lambda: collections.defaultdict(list)), set()
    for key, at, figures in tare:
        for figure, value in figures.items():
            there = [alike(each[key][figure], at, steps) for each in ncus if figure in each.get(key, ())]
            if None in there:
                uneven.add(key)
            elif any(there):
                pairs[key][figure].append((value, list(itertools.chain(*there))))
    return pairs, uneven


def apart(figure, here, there):
    if figure in POINTS:
        return here - there
    return 100 * (here / there - 1) if there else (0.0 if here == 0 else float("inf"))


def plain(symbol):
    """A symbol as people can read it, roughly."""
    words = re.findall(r"\d+([A-Za-z_]\w*)", symbol) if symbol.startswith("_Z") else [symbol]
    return max(words, key=len, default=symbol)[:60]


def spread(values):
    """Of single launches, in % of their mean."""
    return 100 * statistics.pstdev(values) / statistics.fmean(values) if any(values) else 0.0


def report_figure(figure, repeats, ncus):
    """A line about it; how far it is off, or None where it is too small or has no bar."""
    _, _, bar, least = FIGURES[figure]
    here = [statistics.fmean(a for a, _ in each) for each in repeats]
    there = [statistics.fmean(statistics.fmean(b) for _, b in each) for each in repeats]
    mean, beside = statistics.fmean(here), statistics.fmean(there)
    off = apart(figure, mean, beside)
    counts = bar is not None and beside >= least
    line = (f"  {figure:19} {mean:12.5g} beside {beside:12.5g} {off:+8.2f} {'points' if figure in POINTS else '%':6} of "
            f"{sum(map(len, repeats))}; launches +-{spread([a / statistics.fmean(b) for each in repeats for a, b in each if any(b)]):.1f} %, "
            f"there +-{spread([v / statistics.fmean(b) for each in repeats for _, b in each if any(b) for v in b]):.1f} %")
    if len(here) > 1:
        line += f"; repeats {apart(figure, max(here), min(here)):.2f} apart"
    means = [statistics.fmean(each) for each in ncus]
    if len(means) > 1:
        line += f", there {apart(figure, max(means), min(means)):.2f}"
    print(line + ("   OVER" if counts and abs(off) > bar else ""))
    return abs(off) if counts else None


def compare(tares, ncus, steps):
    tares, ncus = [read_tare(each) for each in tares], [read_ncu(each.split(",")) for each in ncus]
    joined = [join(each, ncus, steps) for each in tares]
    repeats = [pairs for pairs, _ in joined]
    worst = collections.defaultdict(list)
    keys = sorted({key for each in repeats for key in each},
                  key=lambda key: -sum(a for each in repeats for a, _ in each[key].get("duration", ())))
    for key in keys:
        print(f"{plain(key[0])} {key[1]} {key[2]}")
        for figure in FIGURES:
            of = [each[key][figure] for each in repeats if each[key].get(figure)]
            off = report_figure(figure, of, [each[key][figure] for each in ncus if figure in each.get(key, ())]) if of else None
            if off is not None:
                worst[figure].append((off, plain(key[0])))
    for key in sorted({key for _, uneven in joined for key in uneven}):
        print(f"not compared, its steps differ: {plain(key[0])} {key[1]} {key[2]}")
    for key in sorted({key for each in tares for key, _, _ in each} - {key for each in ncus for key in each}):
        print(f"not compared, ncu saw none: {plain(key[0])} {key[1]} {key[2]}")
    print()
    for figure, offs in worst.items():
        print(f"{figure}: largest " + ", ".join(f"{off:.2f} ({name})" for off, name in sorted(offs)[:-4:-1]))
    return 0 if keys else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("metrics")
    comparing = commands.add_parser("compare")
    comparing.add_argument("--tare", action="append", required=True)
    comparing.add_argument("--ncu", action="append", required=True)
    comparing.add_argument("--steps", type=int, default=0)
    asked = parser.parse_args()
    if asked.command == "compare":
        return compare(asked.tare, asked.ncu, asked.steps)
    for each in PASSES:
        print(",".join(FIGURES[figure][0] for figure in each))
    return 0


if __name__ == "__main__":
    sys.exit(main())
