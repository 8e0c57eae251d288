#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What reading a long trace costs: CPU time, records a second of it, and peak memory of `tare report`.

    tests/perf/reading_cost.py NEW [OLD] [--commands 1,8] [--shapes opencl-plain,cuda-packed] [--rounds 3] [--html]

NEW and OLD are build folders with src/cli/tare; NEW has tests/perf/large_trace, too. Both read the same trace in turn,
so that what else the machine does falls on both, and the least time of the rounds counts. --commands is in millions.
A record is one of the trace as the reader passes it on: packed ones count as what they stand for. With --html the
page is written as well. With OLD it is said, too, whether both reports are the same value by value."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile


def records(shape, commands):
    """As large_trace writes them: a command and its times, OpenCL's plain ones with a SITE, and each 64 a wait
    and a reading of the CPU's clock."""
    each = 3 if shape == "opencl-plain" else 2
    return each * commands + 2 * commands // 64


def cost(tare, words, folder):
    """(CPU seconds, bytes at most resident) of a run in a process of its own."""
    def measured():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([tare, *words], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss * 1024

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, json.dumps(measured()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    if os.waitpid(child, 0)[1] or not text:
        sys.exit(f"{tare} {' '.join(words)} failed")
    return tuple(json.loads(text))


def shared(a, b):
    """Whether two documents are equal in all that both have: one may have members more."""
    if isinstance(a, dict) and isinstance(b, dict):
        return all(shared(a[key], b[key]) for key in a.keys() & b.keys())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(shared, a, b))
    return a == b


def same(tares, trace, folder):
    """Whether both say the same."""
    texts = []
    for name, tare in tares.items():
        path = pathlib.Path(folder) / f"{name}.json"
        cost(tare, ["report", trace, "--json", str(path), "-q"], folder)
        value = json.loads(path.read_text(encoding="utf-8"))
        value.pop("tool", None)
        texts.append(value)
        path.unlink()
    return shared(texts[0], texts[-1])


def measure(tares, trace, count, options, folder):
    kinds = {"report": []}
    if options.html:
        kinds["--html"] = ["--html", "page.html"]
    for kind, words in kinds.items():
        found = {name: [] for name in tares}
        for _ in range(options.rounds):
            for name, tare in tares.items():
                found[name].append(cost(tare, ["report", trace, *words], folder))
                (pathlib.Path(folder) / "page.html").unlink(missing_ok=True)
        for name, runs in found.items():
            seconds, peak = min(run[0] for run in runs), max(run[1] for run in runs)
            print(f"  {kind:8} {name:4} {seconds:7.2f} s CPU {count / seconds / 1e6:6.2f} M records/s "
                  f"{peak / 1e6:7.0f} MB", flush=True)
        if len(found) == 2:
            ratios = sorted(old[0] / new[0] for new, old in zip(found["new"], found["old"]))
            print(f"  {kind:8} old/new {ratios[len(ratios) // 2]:.2f} (median of {len(ratios)})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("old", type=pathlib.Path, nargs="?")
    parser.add_argument("--commands", default="1")
    parser.add_argument("--shapes", default="opencl-plain,cuda-packed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="4")
    parser.add_argument("--html", action="store_true")
    options = parser.parse_args()
    tares = {"new": str(options.new.resolve() / "src/cli/tare")}
    if options.old:
        tares["old"] = str(options.old.resolve() / "src/cli/tare")
    for shape in options.shapes.split(","):
        for millions in options.commands.split(","):
            commands = int(float(millions) * 1e6)
            with tempfile.TemporaryDirectory(prefix="tare-reading-") as folder:
                trace = os.path.join(folder, "large.tare")
                subprocess.run([str(options.new.resolve() / "tests/perf/large_trace"), trace, str(commands),
                                *shape.split("-"), options.threads], check=True)
                print(f"{shape}, {millions} million commands, "
                      f"{sum(p.stat().st_size for p in pathlib.Path(trace).iterdir()) / 1e6:.0f} MB", flush=True)
                measure(tares, trace, records(shape, commands), options, folder)
                if len(tares) == 2:
                    print("  the same, value by value" if same(tares, trace, folder) else "  NOT THE SAME", flush=True)


if __name__ == "__main__":
    main()
