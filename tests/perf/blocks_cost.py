#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What counting costs each kernel of the tests' library: its own time and that with counters, in turn in one process.

  blocks_cost.py [--build FOLDER] [--ze-cpu] [--rounds N]

Build blocks_cost first (ninja -C build tests/perf/blocks_cost), for --ze-cpu blocks_cost_levelzero: kernels are then
SPIR-V on tare's Level Zero driver for CPUs.

Times are the driver's stamps of each launch. Of the rounds' ratios the median is printed, with the interval that holds
it with 95 % (of the ordered ratios, by the binomial distribution: nothing is said about how they are spread), and the
median over all kernels. Others on the machine make both of a round longer, and seldom one alone. Environment variables
(POCL_DEVICES) choose the device.
"""
import argparse
import math
import pathlib
import shutil
import statistics
import subprocess
import tempfile

PROGRAMS = pathlib.Path(__file__).parents[1] / "programs"
# Sizes with which a launch takes some tenths of a millisecond or more.
WORK = {
    "counted.cl": "matmul 128 128 8 128 8 reduce 0 65536 64 stencil 65000 65536 64 diverge 3 65536 64 strided 4 65536 64 "
                  "histogram 16 65536 64 vectors 3 65536 64 calls 16 65536 64 doubles 16 65536 64",
    "counted_pairs.cl": "divergent 64 65536 64 divergent_mended 64 65536 64 scattered 4 65536 64 scattered_mended 4 65536 64 "
                        "doubled 40 16384 64 doubled_mended 40 16384 64 divided 9 65536 64 divided_mended 8 65536 64 "
                        "transcendent 16 16384 64 transcendent_mended 16 16384 64 waiting 16 65536 64 "
                        "waiting_mended 16 65536 64 spilling 8 16384 64 spilling_mended 8 16384 64",
    "counted_ways.cl": "leaves 16 65536 64 leftover 16 65536 64 joined 16 65536 64 groups 16 65536 64 nested 4 16384 64 "
                       "chosen 16 65536 64",
}


def interval(ratios):
    """The least and the highest of the ordered ratios between which the median is, with 95 %."""
    ordered, count = sorted(ratios), len(ratios)
    outside, least = 0.0, 0
    while 2 * (outside + math.comb(count, least) / 2**count) < 0.05:
        outside += math.comb(count, least) / 2**count
        least += 1
    return (ordered[least - 1], ordered[count - least]) if least else (ordered[0], ordered[-1])


def spirv_of(source, folder):
    """A file of OpenCL C as SPIR-V, by the clang and the llvm-spirv that are of one version."""
    version = next(n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}"))
    bitcode, made = folder / f"{source.stem}.bc", folder / f"{source.stem}.spv"
    subprocess.run([f"clang-{version}", "-target", "spir64-unknown-unknown", "-x", "cl", "-cl-std=CL1.2", "-O2", "-c",
                    "-emit-llvm", "-Xclang", "-finclude-default-header", str(source), "-o", str(bitcode)], check=True)
    subprocess.run([f"llvm-spirv-{version}", str(bitcode), "-o", str(made)], check=True)
    return made


def measure(options, folder):
    build = pathlib.Path(options.build).resolve()
    files = {file: PROGRAMS / file for file in WORK}
    if options.ze_cpu:
        files = {file: spirv_of(source, folder) for file, source in files.items()}
    program = build / "tests/perf" / ("blocks_cost_levelzero" if options.ze_cpu else "blocks_cost")
    words = [word for file, work in WORK.items() for word in [str(files[file]), *work.split(), ","]]
    command = [build / "src/cli/tare", *(["--ze-cpu"] if options.ze_cpu else []), "blocks", "--", program, str(options.rounds),
               *words]
    out = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    names = {line.split()[i] for line in WORK.values() for i in range(len(line.split())) if not line.split()[i].isdigit()}
    for line in out.splitlines():
        name, *times = line.split() or [""]
        if name in names and times and all(time.isdigit() for time in times):
            times = [int(time) for time in times]
            yield name, times[0::2], times[1::2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--ze-cpu", action="store_true")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    medians = []
    print(f"{'':22}{'own us':>9}{'counted us':>12}{'times':>8}   95 %")
    with tempfile.TemporaryDirectory() as folder:
        measured = list(measure(options, pathlib.Path(folder)))
    for name, own, counted in measured:
        ratios = [more / less for less, more in zip(own, counted) if less]
        low, high = interval(ratios)
        medians.append(statistics.median(ratios))
        print(f"{name:22}{statistics.median(own) / 1e3:9.1f}{statistics.median(counted) / 1e3:12.1f}"
              f"{medians[-1]:8.2f}   {low:.2f} to {high:.2f}")
    print(f"{len(medians)} kernels: median {statistics.median(medians):.2f}, most {max(medians):.2f}, "
          f"{sum(one <= 2 for one in medians)} at most 2")


if __name__ == "__main__":
    main()
