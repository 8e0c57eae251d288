#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a call of Level Zero, on tare's ze-cpu without a script.

  levelzero_cost.py [--build FOLDER] [--pairs N] [--rounds N] [--instructions] [WHAT...]

levelzero_cost (build it by its name) is run without recording and with it by turns. Printed for each WHAT, in
nanoseconds of the calling thread's CPU time a call, for the best round of a run and for its median round: native and
recorded (medians over the runs), and the median of the differences within a pair with the smallest and the largest.
Beside the difference of the best rounds stands what the recorded runs' own calibration says of such a call, from which the
report's figures are made: our own code and the driver's part, with the interval; medians over the runs.
With --instructions it is run under callgrind instead, once each: instructions a call of the calling thread, which
another load of the machine does not change. What harvesting takes of that thread, and the driver, is in both.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import tempfile

LOOPS = {"immediate": "barrier", "immediate-plain": "barrier", "immediate-launch": "launch", "regular": "launch",
         "regular-plain": "launch", "regular-barrier": "barrier", "execute": "execute", "noted": "noted",
         "passed": "passed"}


# Of a header: our own code of a command with times, and its interval; the driver's costs with theirs; the same of an
# execution: our own code, the driver's part, that for each command in the list.
OWN, DRIVER, EXECUTE = (120, 1464, 1480), (1200, 1280, 1360), (1512, 1536, 1560)
IN_LIST = 10
# Indices of the driver's costs: an event of ours, one of the program's that was flagged, either of a launch or of the rest.
EVENT_OF = {"immediate": 6, "immediate-plain": 7, "immediate-launch": 2, "regular": 2, "regular-plain": 3,
            "regular-barrier": 6}


def words(header, offset, count):
    return struct.unpack_from(f"<{count}q", header, offset)


class Bench:
    def __init__(self, options, folder):
        build = pathlib.Path(options.build).resolve()
        self.program = [build / "tests/perf/levelzero_cost"]
        self.record = [build / "src/cli/tare", "record", "-q", "--force", "-o", folder / "cost.tare", "--"]
        self.environment = {**os.environ, "ZE_ENABLE_ALT_DRIVERS": str(build / "drivers/ze-cpu/libze_cpu.so"),
                            "LEVELZERO_COST_KERNELS": str(build / "kernels/empty.spv")}
        self.folder = folder

    def run(self, command):
        done = subprocess.run([str(word) for word in command], env=self.environment, check=True, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        found = re.search(r"^cost ([\d.]+) ([\d.]+) calls (\d+)$", done.stdout, re.MULTILINE)
        return (float(found[1]), float(found[2])), int(found[3])

    def printed(self, what):
        """What the last recorded run says that a call costs: best, low, high. None: it does not say."""
        trace, = (self.folder / "cost.tare").glob("*.trace")
        header = trace.read_bytes()[:4096]
        if what == "execute":
            return [sum(max(0, ps) * times for ps, times in zip(words(header, offset, 3), (1, 1, IN_LIST))) / 1e3
                    for offset in EXECUTE]
        if what not in EVENT_OF:
            return None
        return [(words(header, own, 1)[0] + max(0, words(header, driver, 8)[EVENT_OF[what]])) / 1e3
                for own, driver in zip(OWN, DRIVER)]

    def pairs(self, what, count, rounds):
        """[(native, recorded, printed)], each of the first two (best, median), ns a call."""
        rows = []
        for number in range(count + 1):
            program = [*self.program, what, rounds]
            row = self.run(program)[0], self.run([*self.record, *program])[0], self.printed(what)
            if number:  # the first fills the kernel cache
                rows.append(row)
        return rows

    def instructions(self, what, rounds, recorded):
        out = self.folder / "callgrind.out"
        for old in self.folder.glob("callgrind.out*"):
            old.unlink()
        program = ["valgrind", "--tool=callgrind", f"--toggle-collect=loop_{LOOPS[what]}", "--collect-atstart=no",
                   "--separate-threads=yes", f"--callgrind-out-file={out}", *self.program, what, rounds]
        calls = self.run((self.record if recorded else []) + program)[1]
        sums = [int(found) for path in self.folder.glob("callgrind.out*")
                for found in re.findall(r"^(?:summary|totals): (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)]
        return max(sums) / calls


def said(rows):
    if rows[0][2] is None:
        return ""
    best, low, high = (statistics.median(row[2][i] for row in rows) for i in range(3))
    return f"; printed {best:.1f} ({low:.1f} to {high:.1f})"


def print_rows(what, rows):
    for column, name in enumerate(("best", "median")):
        added = sorted(recorded[column] - native[column] for native, recorded, _ in rows)
        print(f"{what:18}{name:8}{statistics.median(row[0][column] for row in rows):9.1f}"
              f"{statistics.median(row[1][column] for row in rows):9.1f}{statistics.median(added):+9.1f}"
              f" ({added[0]:+.1f} to {added[-1]:+.1f}) ns a call{said(rows) if column == 0 else ''}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("what", nargs="*", choices=[[], *LOOPS])
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    bench = Bench(options, folder)
    try:
        for what in options.what or LOOPS:
            if options.instructions:
                native, recorded = (bench.instructions(what, options.rounds, flag) for flag in (False, True))
                print(f"{what:18}{native:9.1f}{recorded:9.1f}{recorded - native:+9.1f} instructions a call", flush=True)
                continue
            print_rows(what, bench.pairs(what, options.pairs, options.rounds))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
