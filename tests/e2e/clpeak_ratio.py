#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Our transfer rates beside clpeak's, on PoCL's `basic` device, in interleaved pairs.

What is matched. clpeak 1.1.2 prints under "enqueueWriteBuffer" and "enqueueReadBuffer" the mean
over 20 blocking calls, timed by the host's clock, between memory from `new` and one buffer of
half the largest allocation, rounded down to a power of two (seen in its calls). Ours are the lines
heap-to-device and device-to-heap at that size: blocking calls on the host's clock; for the ratio
our raw samples are averaged as clpeak's are, because a mean and a median differ under noise.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

LINES = {"heap-to-device": "enqueueWriteBuffer", "device-to-heap": "enqueueReadBuffer"}
# Both tools see the same device: 4 GB of memory, of which clpeak copies 512 MB at a time. Less
# would fit into the largest caches, where rates depend on what ran before.
ENVIRONMENT = {**os.environ, "POCL_DEVICES": "basic", "POCL_MEMORY_LIMIT": "4", "LC_ALL": "C.UTF-8"}


def run(*command):
    return subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def copy_size(tare):
    """The size that clpeak takes on this device."""
    devices = json.loads(run(tare, "devices", "--json", "-"))["devices"]
    facts = next(device["facts"] for device in devices if device["backend"] == "opencl")
    half = facts["max_allocation_bytes"]["value"] // 2
    return 1 << (half.bit_length() - 1)


def clpeak_rates(clpeak):
    """GB/s by line. clpeak is ended once both are told: the rest takes three times as long."""
    rates = {}
    with subprocess.Popen([clpeak, "--transfer-bandwidth"], env=ENVIRONMENT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        for text in process.stdout:
            for line, call in LINES.items():
                found = re.search(rf"{call}\s+: ([\d.]+)", text)
                if found:
                    rates[line] = float(found.group(1))
            if len(rates) == len(LINES):
                break
        process.kill()
    return rates


def tare_cells(tare, size, seconds):
    """Those of the lines; on a slow machine the budget may run out before the last one's turn, and is doubled."""
    for more in (1, 2, 4, 8):
        result = json.loads(run(tare, "bandwidth", "--device", "opencl:0", "-q", "--json", "-",
                                "--sizes", str(size), "--lines", ",".join(LINES),
                                "--budget", str(seconds * more)))
        cells = [cell for cell in result["cells"]
                 if cell["source"] == "host" and cell["labels"].get("bytes") == size]
        if not any(cell["absent"] for cell in cells):
            break
    return cells


def tare_rates(tare, size, seconds):
    """GB/s by line: the mean over the samples."""
    rates = {}
    for cell in tare_cells(tare, size, seconds):
        assert cell["verified"] is True, cell
        scale = {"ps": 1e-12, "ns": 1e-9}[cell["unit"]]
        rates[cell["labels"]["line"]] = size / (statistics.mean(cell["samples"]) * scale) / 1e9
    return rates


def measure(tare, clpeak, pairs=9, seconds=1, out=sys.stdout):
    """Ratios ours / clpeak's by line, one a pair; which of the two goes first alternates."""
    size = copy_size(tare)
    ratios = {line: [] for line in LINES}
    by_clpeak = {line: [] for line in LINES}
    print(f"{size >> 20} MB, {pairs} pairs", file=out)
    for pair in range(pairs):
        if pair % 2:
            theirs = clpeak_rates(clpeak)
            ours = tare_rates(tare, size, seconds)
        else:
            ours = tare_rates(tare, size, seconds)
            theirs = clpeak_rates(clpeak)
        for line in LINES:
            ratios[line].append(ours[line] / theirs[line])
            by_clpeak[line].append(theirs[line])
            print(f"{pair + 1}  {line:15} tare {ours[line]:6.2f}  clpeak {theirs[line]:6.2f} GB/s"
                  f"  ratio {ratios[line][-1]:.3f}", file=out, flush=True)
    for line in LINES:
        print(f"median ratio, {line}: {statistics.median(ratios[line]):.3f}", file=out)
    return {line: ratios[line] for line in comparable(by_clpeak, out)}


def comparable(by_clpeak, out=sys.stdout):
    """The lines in which the copy decides. On `basic` both directions are one memcpy: where clpeak
    itself is less than half as fast in one of them, it is where each process's pages happen to lie
    that decides there, and two processes differ by a tenth whatever tool they run."""
    medians = {line: statistics.median(rates) for line, rates in by_clpeak.items()}
    kept = [line for line in medians if medians[line] >= max(medians.values()) / 2]
    for line in medians:
        if line not in kept:
            print(f"not compared, {line}: clpeak itself has {medians[line]:.2f} of "
                  f"{max(medians.values()):.2f} GB/s", file=out)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tare")
    parser.add_argument("--clpeak", default="clpeak")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1, help="budget of each of our runs")
    options = parser.parse_args()
    measure(options.tare, options.clpeak, options.pairs, options.seconds)


if __name__ == "__main__":
    main()
