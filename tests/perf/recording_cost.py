#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a launch-heavy program, in interleaved rounds on one of PoCL's devices.

  recording_cost.py [--tare TARE] [--stress PROGRAM] [--rounds N] [--commands N] [--device NAME] [--thread]
                    [--parts] [--realtime]

Variants: as it is; with profiling that the program itself asks for; the floor, which is profiling, an
event for each command and its release by the program itself; recorded but counting only
(no device times: our own cost alone); recorded with times of a sample, which begins when times cost too much (the
default); with times of all; and that with call stacks. With --thread the program
has a second thread, which does nothing: the recorder has one of its own then. Printed are medians over the rounds of what
each variant adds to the one as it is, in nanoseconds a command: in the program's loop, and in the
process's CPU and wall time less start-up (a run with one command). Last comes what the report says of a call
stack's cost, beside what it added.

With --parts the variants are the parts of what recording with all times costs, put together by the program itself: two
readings of the processor's counter for each command; the floor; the floor with events that are released as soon as
there are twelve, as the recorder does; that with the driver's four times asked for; and that with the readings. What
recording adds to the last one is the recorder's own. With --realtime all runs have real-time priority (chrt, needs the
right to it): on a machine with other work they differ by a tenth of what they do without.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time


def take(command, environment):
    """Loop ns, CPU ns (user and system, of the whole process tree), wall ns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic_ns()
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    wall = time.monotonic_ns() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = sum(getattr(after, key) - getattr(before, key) for key in ("ru_utime", "ru_stime"))
    return int(out.split()[1]), cpu * 1e9, wall


def variants(options, folder):
    words = ["thread"] if options.thread else []
    first = ["chrt", "--fifo", "40"] if options.realtime else []
    stress = [options.stress, str(options.commands), *words]
    record = [*first, options.tare, "record", "-q", "--force", "-o", os.path.join(folder, "cost.tare")]
    sampled, plain = record + ["--"], record + ["--times", "all", "--"]
    stacks = record + ["--times", "all", "--call-stacks", "--"]
    one = [options.stress, "1", *words]
    count = {"TARE_RECORD_OPTIONS": "count"}

    def own(*more):
        return [*first, *stress, *more], [*first, *one, *more], {}

    if options.parts:
        return {
            "native": own(),
            "readings": own("readings"),
            "floor": own("events"),
            "released soon": own("events", "soon"),
            "and questions": own("events", "soon", "questions"),
            "and readings": own("events", "soon", "questions", "readings"),
            "counting only": (plain + stress, plain + one, count),
            "recorded": (plain + stress, plain + one, {}),
        }
    return {
        "native": own(),
        "own profiling": own("profile"),
        "floor": own("events"),
        "counting only": (plain + stress, plain + one, count),
        "sampled": (sampled + stress, sampled + one, {}),
        "recorded": (plain + stress, plain + one, {}),
        "with call stacks": (stacks + stress, stacks + one, {}),
    }


def reported_ns(options, folder):
    """What the report says that a call stack costs, times the stacks, for each command."""
    path = os.path.join(folder, "cost.tare")
    out = subprocess.run([options.tare, "report", path, "--json", "-"], check=True, capture_output=True).stdout
    coverage = json.loads(out)["coverage"]
    return (coverage["stack_cost_ns"] or 0) * coverage["stacks"] / options.commands


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", default="build/src/cli/tare")
    parser.add_argument("--stress", default="build/tests/programs/stress")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--commands", type=int, default=1_000_000)
    parser.add_argument("--device", default="basic", choices=("basic", "pthread"))
    parser.add_argument("--thread", action="store_true")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--realtime", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    taken, said = {}, []
    try:
        for number in range(options.rounds):
            for name, (command, one, extra) in variants(options, folder).items():
                environment = {**os.environ, "POCL_DEVICES": options.device, **extra}
                start = take(one, environment)
                whole = take(command, environment)
                loop, cpu, wall = whole[0], whole[1] - start[1], whole[2] - start[2]
                if number and name == "with call stacks":
                    said.append(reported_ns(options, folder))
                if number:  # the first round fills the kernel cache
                    taken.setdefault(name, []).append((loop, cpu, wall))
    finally:
        shutil.rmtree(folder)
    native = taken["native"]
    print(f"{options.rounds - 1} rounds of {options.commands} commands, POCL_DEVICES={options.device}"
          f"{' and a second thread' if options.thread else ''}, ns a command")
    print(f"{'':16}{'loop':>8}{'added':>8}{'ratio':>7}{'CPU':>9}{'added':>8}{'wall':>9}{'added':>8}")
    for name, rows in taken.items():
        cells = []
        for column in range(3):
            each = statistics.median(row[column] for row in rows) / options.commands
            added = statistics.median((row[column] - base[column]) / options.commands
                                      for row, base in zip(rows, native))
            ratio = statistics.median(row[column] / base[column] for row, base in zip(rows, native))
            cells.append((each, added, ratio))
        print(f"{name:16}{cells[0][0]:8.1f}{cells[0][1]:+8.1f}{cells[0][2]:7.2f}"
              f"{cells[1][0]:9.1f}{cells[1][1]:+8.1f}{cells[2][0]:9.1f}{cells[2][1]:+8.1f}")
    if options.parts:
        return
    added = [statistics.median((with_[column] - without[column]) / options.commands
                               for with_, without in zip(taken["with call stacks"], taken["recorded"]))
             for column in (0, 1)]
    print(f"call stacks: {statistics.median(said):.0f} ns a command by the report; added to the recorded one "
          f"{added[0]:+.0f} in the loop, {added[1]:+.0f} of CPU time ({added[1] / statistics.median(said):.2f} of it)")


if __name__ == "__main__":
    main()
