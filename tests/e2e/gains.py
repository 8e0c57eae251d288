# SPDX-License-Identifier: Apache-2.0
"""Every gain survives doing it: records a program that raises a finding, and runs it beside the same program with
nothing changed but what the finding advises. What is promised is the recording's, what is gained that of the runs
without it. Run by itself it prints the table of docs/gains.md: gains.py [FINDING...]."""
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import BUILD, EXAMPLES, PROGRAMS, Recorder  # noqa: E402

DATA = pathlib.Path(__file__).parents[1] / "data"
DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"
FAKES = BUILD / "tests/fakes"
# Rounds go on until the fastest runs are near each other.
FEWEST_ROUNDS, MOST_ROUNDS = 5, 12
SHARE, LEAST_MS = 0.25, 2
# Between two builds of the same program, say.
NOISE = 0.05


@dataclasses.dataclass(frozen=True)
class Change:
    finding: str
    platform: str      # of PLATFORMS
    broken: str
    fixed: str
    # What the program says without a recorder, of the wall; "cpu": of the whole process's; "recording": what a recorded
    # one says beyond that; "device": the working part of a recording, which on a scripted device has the script's times
    # without what this machine takes to move the bytes; "process": the wall of the whole process.
    measure: str = "wall"
    options: tuple = ()    # of record
    bound: str = ""        # why the estimate may be less than what is gained, where it may


@dataclasses.dataclass
class Outcome:
    low: float         # promised, in milliseconds
    best: float
    high: float
    real: float
    spread: float      # between the two fastest runs, of both programs together
    bound: bool = False  # the estimate may be less than what is gained

    def __str__(self):
        faults = "; ".join(self.faults()) or "kept"
        return f"promised {self.low:.3g} to {self.high:.3g} ms, gained {self.real:.3g} ms ({faults})"

    def near(self):
        return max(SHARE * self.real, LEAST_MS)

    def is_sharp(self):
        """Whether the runs differ by less than what is judged."""
        return self.spread <= self.near()

    def is_at_most(self):
        """Whether no more than an upper end is promised: the report says "at most"."""
        return self.low == 0 and self.best == self.high

    def beyond(self):
        """What was gained beyond the high end, and as much again as the estimate may be off."""
        return self.real - max((1 + SHARE) * self.high, self.high + LEAST_MS)

    def faults(self):
        """What of the promise is broken; none: it is kept."""
        found = []
        if not self.is_at_most() and (self.best > self.real + self.near() or
                                      (not self.bound and self.best < self.real - self.near())):
            found.append("the estimate is off")
        if self.high > 2 * self.real + LEAST_MS:
            found.append("the high end is too high")
        if self.beyond() > 0:
            found.append("the high end is too low")
        if self.low > self.real + max(self.spread, SHARE * LEAST_MS, NOISE * self.real):
            found.append("the low end is too high")
        return found


def pairs(platform, program, *findings, measure="wall", options=()):
    return [Change(finding, platform, f"{program} {finding} raise", f"{program} {finding} fixed", measure, options)
            for finding in findings]


def forms(platform, program, fixed, measure="wall", **broken):
    return [Change(name.replace("_", "-"), platform, f"{program} {form}", f"{program} {fixed}", measure)
            for name, form in broken.items()]


CUDA = "CUDA's stand-in"
# Seen to be kept. Of the others it was not to be told on the machine where they were tried.
KEPT = {
    "PoCL basic": ("many-short-kernels", "slow-first-use", "idle-host-builds", "start-up-builds", "queries-in-loop",
                   "releases-in-loop", "small-transfers", "duplicate-transfers", "ping-pong", "start-up-calls"),
    "PoCL pthread": ("idle-host-waits",),
    "ze-cpu": ("synchronous-launches", "idle-host-builds", "idle-host-sleeps", "small-transfers",
               "transfers-dominate", "unaligned-transfers", "overlap-missed", "single-queue", "blocking-call",
               "synchronize-drains", "idle-host-computes", "many-short-kernels", "start-up-host", "tear-down"),
    CUDA: ("idle-host-builds", "idle-host-computes", "idle-host-sleeps", "idle-host-waits", "small-transfers",
           "transfers-dominate", "unaligned-transfers",
           "managed-memory-moves", "overlap-missed", "single-queue", "blocking-call", "legacy-default-stream",
           "many-short-kernels", "launch-bound", "start-up-host", "tear-down"),
}
FLOOR = "the kernels' own fixed time goes as well: a recording does not tell it from their work"
# For these nothing is advised whose gain a program could show, or only a model says what it is.
UNDEFINED = {
    "allocation-in-loop": "what new memory costs on its first use is not told apart from the copy: the high end is a bound",
    "one-kernel-dominates": "how much faster another kernel is depends on what is written: half of its time is a guess",
    "drift": "what makes a kernel slower over the run is to be found out",
    "low-occupancy": "more warps gain what they hide, of which there is no counter; the stand-in's kernels hide nothing",
    "odd-work-group-size": "the lanes are a model's, and neither a CPU nor a script has them",
    "unflushed-queue": "no driver here holds commands back",
}

CHANGES = [
    *pairs("PoCL basic", "pairs_work", "many-short-kernels", "launch-bound", "slow-first-use", "idle-host-builds",
           "idle-host-sleeps", "queries-in-loop", "creations-in-loop"),
    *pairs("PoCL basic", "pairs_work", "releases-in-loop", measure="device"),
    *pairs("PoCL basic", "pairs_work", "start-up-builds", "start-up-calls", measure="process"),
    *pairs("PoCL pthread", "pairs_work", "start-up-host", "tear-down", measure="process"),
    *pairs("PoCL basic", "pairs_transfers", "small-transfers", "zero-copy"),
    *pairs("PoCL basic", "pairs_transfers", "duplicate-transfers", "ping-pong", options=("--contents",)),
    Change("recording-cost", "PoCL basic", "pairs_work recording-cost raise", "pairs_work recording-cost raise", "recording"),
    *pairs("PoCL pthread", "pairs_work", "under-filled-device", "idle-host-computes", "idle-host-waits",
           "synchronize-drains"),
    Change("host-polling", "PoCL pthread", "pairs_work host-polling raise", "pairs_work host-polling fixed", "cpu"),
    *forms("PoCL pthread", "pipeline", "concurrent 16 1024 64", overlap_missed="sequential 16 1024 64",
           single_queue="default-queue 16 1024 64", blocking_call="blocking 16 1024 64"),
    # The first of its builds lies before the first command: that one is no matter of the loop.
    *forms("PoCL pthread", "pipeline", "concurrent 16 1024 4 1", measure="device", build_in_loop="build 16 1024 4 1"),
    Change("many-short-kernels", "ze-cpu", "pairs_levelzero many-short-kernels raise",
           "pairs_levelzero many-short-kernels fixed", "device", bound=FLOOR),
    *pairs("ze-cpu", "pairs_levelzero", "launch-bound", "synchronous-launches", "list-rebuilt", "idle-host-computes",
           "idle-host-waits", "synchronize-drains", "idle-host-builds", "idle-host-sleeps", "creations-in-loop"),
    *pairs("ze-cpu", "pairs_levelzero", "transfers-dominate", "small-transfers", "unaligned-transfers", measure="device"),
    *pairs("ze-cpu", "pairs_levelzero", "start-up-host", "tear-down", measure="process"),
    Change("host-polling", "ze-cpu", "pairs_levelzero host-polling raise", "pairs_levelzero host-polling fixed", "cpu"),
    *forms("ze-cpu", "levelzero-forms", "concurrent 16 1024 4 1", measure="device", overlap_missed="sequential 16 1024 4 1",
           single_queue="default-queue 16 1024 4 1", blocking_call="blocking 16 1024 4 1",
           pageable_memory="pageable 16 1024 4 1", build_in_loop="build 16 1024 4 1"),
    Change("many-short-kernels", CUDA, "pairs_cuda many-short-kernels raise", "pairs_cuda many-short-kernels fixed",
           bound=FLOOR),
    *pairs(CUDA, "pairs_cuda", "launch-bound", "synchronous-launches", "synchronize-drains",
           "idle-host-computes", "idle-host-waits", "idle-host-builds", "idle-host-sleeps"),
    *pairs(CUDA, "pairs_cuda", "transfers-dominate", "small-transfers", "unaligned-transfers", "launch-queue-full",
           "managed-memory-moves", measure="device"),
    *pairs(CUDA, "pairs_cuda", "start-up-host", "tear-down", measure="process"),
    Change("host-polling", CUDA, "pairs_cuda host-polling raise", "pairs_cuda host-polling fixed", "cpu"),
    *forms(CUDA, "cuda-pipeline", "concurrent 16 64", measure="device", overlap_missed="sequential 16 64",
           single_queue="default-queue 16 64", blocking_call="blocking 16 64",
           legacy_default_stream="legacy-stream 16 64", pageable_memory="pageable 16 64"),
    # Copies take most of it: one engine for them or two is what the gain depends on.
    *forms(CUDA, "cuda-pipeline", "concurrent 16 256", measure="device", single_queue="default-queue 16 256"),
]


class Pocl:
    def __init__(self, tare, folder, device):
        self.recorder = Recorder(tare, folder, folder / "cache", device)
        # Memory is not filled when it is got, which would take the first touch out of the copies.
        self.recorder.environment["MALLOC_PERTURB_"] = "0"

    def command(self, program):
        name, *arguments = program.split()
        return [(EXAMPLES if name == "pipeline" else PROGRAMS) / name, *arguments]


class ZeCpu(Pocl):
    def __init__(self, tare, folder):
        super().__init__(tare, folder, "basic")
        self.recorder.environment.update({"ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_CPU_TYPE": "gpu",
                                          "PAIRS_KERNELS": str(EXAMPLES / "levelzero-kernels.spv")})

    def command(self, program):
        name, *arguments = program.split()
        of_forms = name == "levelzero-forms"
        self.recorder.environment["ZE_CPU_SCRIPT"] = str(DATA / ("ze-forms" if of_forms else "ze-pairs")) + ".tare-device"
        return [(EXAMPLES if of_forms else PROGRAMS) / name, *arguments]


class Cuda(Pocl):
    def __init__(self, tare, folder):
        super().__init__(tare, folder, "basic")
        (folder / "lib").mkdir()
        driver = shutil.copy(FAKES / "fake_cuda.so", folder / "lib/libcuda.so.1")
        cupti = shutil.copy(FAKES / "fake_cupti.so", folder / "lib/libcupti.so.13")
        self.recorder.environment.update({
            "LD_LIBRARY_PATH": f"{folder / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
            "TARE_CUDA_LIBRARY": str(driver), "TARE_CUPTI_LIBRARY": str(cupti), "TARE_FAKE_CUPTI": "unshared"})

    def command(self, program):
        name, *arguments = program.split()
        of_forms = name == "cuda-pipeline"
        script = DATA / f"cuda-{'forms' if of_forms else 'pairs'}.tare-device"
        self.recorder.environment["TARE_FAKE_CUDA_DEVICE"] = str(script)
        return [(EXAMPLES if of_forms else PROGRAMS) / name, *arguments]


PLATFORMS = {"PoCL basic": lambda tare, folder: Pocl(tare, folder, "basic"),
             "PoCL pthread": lambda tare, folder: Pocl(tare, folder, "pthread"),
             "ze-cpu": ZeCpu, CUDA: Cuda}


def took_ms(run, measure):
    """What the program says its work took."""
    assert run.status == 0, run.errors.decode()
    found = re.search(r"(\d+\.\d+) ms(?:, CPU (\d+\.\d+) ms)?", run.out.decode())
    return float(found[2 if measure == "cpu" else 1])


def spread(times):
    """Between the two fastest: the fast end is the program's, the slow one is the others'."""
    ordered = sorted(times)
    return ordered[1] - ordered[0]


def working_ms(report):
    """The working part as it was recorded."""
    return (report["summary"]["working_to_ns"] - report["summary"]["working_from_ns"]) / 1e6


def recorded(platform, program, change):
    """What the program took, and what the finding promises; None where it was not raised."""
    done = platform.recorder.record(platform.command(program), *change.options)
    report = platform.recorder.report(done.folder)
    took = took_ms(done, change.measure)
    if change.measure == "device":
        took = working_ms(report)
    found = [finding for finding in report["findings"] if finding["id"] == change.finding]
    # One a kernel, direction or device: together, as the change is made for all.
    return took, found and [sum(finding[end] for finding in found) / 1e6
                            for end in ("cost_low_ns", "cost_ns", "cost_high_ns")]


def native(platform, program, change):
    if change.measure == "device":
        return recorded(platform, program, change)[0]
    begun = time.monotonic()
    done = platform.recorder.native(platform.command(program))
    return 1e3 * (time.monotonic() - begun) if change.measure == "process" else took_ms(done, change.measure)


def outcome_of(change, tries, broken, fixed):
    """None where the finding was not raised."""
    raised = [(took, promised) for took, promised in tries if promised]
    if not raised:
        return None
    if change.measure == "recording":
        broken, fixed = [took for took, _ in tries], broken
    elif change.measure == "device":
        broken = broken + [took for took, _ in tries]
    # All of the runs that were disturbed least.
    _, (low, best, high) = min(raised)
    return Outcome(low, best, high, min(broken) - min(fixed), spread(broken) + spread(fixed), bool(change.bound))


def try_change(platform, change, most=MOST_ROUNDS):
    """The outcome of a change; None where the finding was not raised."""
    tries, broken, fixed = [], [], []
    took_ms(platform.recorder.native(platform.command(change.fixed)), change.measure)  # fills the drivers' caches
    for done in range(1, most + 1):
        tries.append(recorded(platform, change.broken, change))
        broken.append(native(platform, change.broken, change))
        fixed.append(native(platform, change.fixed, change))
        if done < FEWEST_ROUNDS:
            continue
        outcome = outcome_of(change, tries, broken, fixed)
        if outcome and outcome.is_sharp() and not outcome.faults():
            break
    return outcome


def main(wanted):
    tare = os.environ["TARE"]
    with tempfile.TemporaryDirectory() as folder:
        platforms = {}
        for change in CHANGES:
            if wanted and not any(word in (change.finding, change.platform) for word in wanted):
                continue
            if change.platform not in platforms:
                place = pathlib.Path(folder) / str(len(platforms))
                place.mkdir()
                platforms[change.platform] = PLATFORMS[change.platform](tare, place)
            outcome = try_change(platforms[change.platform], change)
            row = f"| `{change.finding}` | {change.platform} | "
            if outcome is None:
                print(row + "not raised | | | | | |", flush=True)
                continue
            row += f"{outcome.low:.2f} | {outcome.best:.2f} | {outcome.high:.2f} | {outcome.real:.2f} | "
            row += f"{'no' if outcome.beyond() > 0 else 'yes'} | ±{outcome.spread:.2f} |"
            print(row, ", ".join(outcome.faults()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
