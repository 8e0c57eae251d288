#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the report says that recording costs, beside what runs with and without it say: programs of OpenCL on PoCL, and
of Level Zero on ze-cpu without a script (build levelzero_cost by its name).

  printed_cost.py [--tare TARE] [--build FOLDER] [--times TIMES] [PROGRAM...]

Each program is recorded with --calibrate, which runs it in interleaved pairs with recording and without. Printed
for each command (enqueued): what was measured of wall and CPU time (median of the pairs, smallest and largest),
and what the report prints by its own calibration, in parts: our own code with harvesting, the driver, waiting for
room; with the interval. On a machine that has other work CPU time is the better measure where the program has one
thread. Of programs with few commands what recording costs once (loading, the file, measuring the costs) is most of
the difference; the measuring is part of what is printed.
Programs are names of the list below; without any, all of them.
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile

# Of the build's folder.
LEVELZERO = {"ZE_ENABLE_ALT_DRIVERS": "drivers/ze-cpu/libze_cpu.so", "LEVELZERO_COST_KERNELS": "kernels/empty.spv"}
PROGRAMS = {
    "stress": (["tests/programs/stress", "500000"], {"POCL_DEVICES": "basic"}),
    "idle": (["tests/programs/stress", "500000", "thread"], {"POCL_DEVICES": "basic"}),
    "threaded": (["tests/programs/stress", "100000", "thread"], {"POCL_DEVICES": "pthread"}),
    "profiling": (["tests/programs/stress", "500000", "profile"], {"POCL_DEVICES": "basic"}),
    "pipeline": (["examples/pipeline"], {"POCL_DEVICES": "basic"}),
    "matmul": (["examples/matmul"], {"POCL_DEVICES": "basic"}),
    "ze-event": (["tests/perf/levelzero_cost", "immediate", "100"], LEVELZERO),
    "ze-plain": (["tests/perf/levelzero_cost", "immediate-plain", "100"], LEVELZERO),
    "ze-launch": (["tests/perf/levelzero_cost", "immediate-launch", "100"], LEVELZERO),
    "ze-execute": (["tests/perf/levelzero_cost", "execute", "400"], LEVELZERO),
}


def measure(options, folder, command, environment):
    record = [options.tare, "record", "-q", "--force", "-o", os.path.join(folder, "cost"), "--times", options.times,
              "--calibrate", "--", *command]
    subprocess.run(record, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **environment})
    path = os.path.join(folder, "cost.tare")
    with open(os.path.join(path, "record.json"), encoding="utf-8") as file:
        found = json.load(file)["comparison"]
    out = subprocess.run([options.tare, "report", path, "--json", "-"], check=True, capture_output=True).stdout
    return found, json.loads(out)["coverage"]


def print_row(name, found, coverage):
    commands = coverage["enqueued"]
    own, stalled = coverage["self_cost_ns"], coverage["stalled_ns"]
    once = coverage["once_ns"]
    driver = [coverage[key] for key in ("driver_cost_ns", "driver_cost_low_ns", "driver_cost_high_ns")]
    printed = [own + stalled + once + (one or 0) if one is not None or not place else None
               for place, one in enumerate(driver)]
    measured = {kind: [one / commands for one in found[kind]] for kind in ("wall_ns", "cpu_ns")}
    each = [one / commands if one is not None else float("nan") for one in printed]
    print(f"{name:10}{commands:8} {measured['wall_ns'][1]:9.1f} ({measured['wall_ns'][0]:.1f} to "
          f"{measured['wall_ns'][2]:.1f}){measured['cpu_ns'][1]:9.1f} ({measured['cpu_ns'][0]:.1f} to "
          f"{measured['cpu_ns'][2]:.1f}){each[0]:9.1f} ({each[1]:.1f} to {each[2]:.1f})"
          f"{each[0] / measured['cpu_ns'][1] if measured['cpu_ns'][1] else float('nan'):7.2f}"
          f"   own {own / commands:.1f}, driver {(driver[0] or 0) / commands:.1f}, room {stalled / commands:.1f}, "
          f"once {once / commands:.1f} ({once / 1e6:.1f} ms); printed {100 * sum(printed[:1]) / found['native_wall_ns']:.1f} %"
          f" of the native run, measured {100 * found['wall_ns'][1] / found['native_wall_ns']:.1f} %", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", default="build/src/cli/tare")
    parser.add_argument("--build", default="build")
    parser.add_argument("--times", default="all")
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS])
    options = parser.parse_args()
    options.tare = os.path.abspath(options.tare)
    folder = tempfile.mkdtemp()
    print("ns a command: program, commands, measured of wall, of CPU, printed, printed over measured CPU")
    try:
        for name in options.programs or PROGRAMS:
            (program, *arguments), environment = PROGRAMS[name]
            if environment is LEVELZERO:
                environment = {key: os.path.abspath(os.path.join(options.build, path)) for key, path in LEVELZERO.items()}
            command = [os.path.abspath(os.path.join(options.build, program)), *arguments]
            print_row(name, *measure(options, folder, command, environment))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
