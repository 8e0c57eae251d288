#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an OpenCL program under `tare blocks` and under Debian's interpreter, oclgrind, and compares what each says
that its kernels executed.

    tests/oracle/interpreter.py --build BUILD [--groups N] [--launches N] [--markdown] -- PROGRAM...

Both see the same device, and launches of the same sizes (tests/programs/steady_layer.c). The interpreter is asked three
times. First it runs the very modules that tare counts, as they were before counters came in: what differs then is a
fault of one of the two. Then it compiles the program itself, with its own clang, as a person would run it. At last it
does so without optimisation, which is compared with `tare blocks --before`: where that is equal, the optimisers make
the rest of the difference."""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SPACES = ("global", "constant", "local", "private")
LIBRARY = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")

# Of LLVM's instructions, as SPIR-V has them. (An `fneg` is one, and no operation.)
FLOAT = {"fadd": 1, "fsub": 1, "fmul": 1, "fdiv": 1, "frem": 1, "fneg": 0, "fcmp": 0}
INTEGER = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "icmp"}
# Functions by what stands between "_Z", the length, and the types. Operations: for each number of the result.
FLOAT_CALLS = {"mad": 2, "fma": 2, "fdim": 1, **dict.fromkeys((
    "ceil", "copysign", "fabs", "floor", "fmax", "fmin", "fract", "frexp", "ilogb", "ldexp", "logb", "maxmag", "minmag",
    "modf", "nan", "nextafter", "round", "trunc", "rint", "sign", "degrees", "radians", "mix", "step", "smoothstep"), 0)}
SPECIAL = re.compile(r"(native_|half_)\w+|a?(sin|cos|tan)(h|pi)?|atan2(pi)?|cbrt|erfc?|exp(2|10|m1)?|log(2|10|1p)?|fmod|"
                     r"hypot|[lt]gamma(_r)?|pow[nr]?|rootn|r?sqrt|remainder|remquo|sincos|cross|dot|distance|"
                     r"length|normalize|fast_\w+")
INTEGER_CALLS = re.compile(r"u?abs(_diff)?|[sr]?hadd|add_sat|clz|ctz|mad(_hi|_sat|24)|mul(_hi|24)|rotate|sub_sat|"
                           r"upsample|popcount|bitselect")
BYTES = {"c": 1, "h": 1, "s": 2, "t": 2, "Dh": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}
POINTER_SPACES = {"": "private", "U3AS0": "private", "U3AS1": "global", "U3AS2": "constant", "U3AS3": "local"}


@dataclasses.dataclass
class Counts:
    """What a kernel executed: {figure: number}, figures that both sides can tell."""
    figures: collections.Counter
    vectors: bool = False   # an instruction may be of several numbers, which the interpreter does not tell
    untold: frozenset = frozenset()  # figures of which the interpreter tells a part: copies have no sizes
    unknown: tuple = ()     # what was not understood


# ---- the interpreter

def memory(figures, load, space, times, number):
    figures[f"{'loads' if load else 'stores'}.{space}"] += times
    figures[f"{'loaded_bytes' if load else 'stored_bytes'}.{space}"] += number


COPY = re.compile(r"llvm\.mem(?:cpy|move)\.p(\d)(?:i8)?\.p(\d)")


def copies(name):
    """The spaces that a copy writes and reads, by its name; None: it is none."""
    match = COPY.match(name)
    return tuple(("private", "global", "constant", "local")[int(digit)] for digit in match.groups()) if match else None


def vector_function(name, times, figures):
    """vload4(at, pointer) and its like, of mangled names: `_Z6vload4mPU3AS1Kf`."""
    match = re.match(r"_Z\d+v(load|store)(\d+)(?:Dv\d+_)?(\w*?)m?P(U3AS\d)?K?(\w+)$", name)
    if not match:
        return False
    width, kind = int(match[2]), match[5]
    if kind == "S_" or kind not in BYTES:
        kind = match[3].rstrip("m")
    if kind not in BYTES:
        return False
    memory(figures, match[1] == "load", POINTER_SPACES[match[4] or ""], times, times * width * BYTES[kind])
    return True


def intrinsic(name, times, figures):
    if match := re.match(r"llvm\.(fmuladd|fma)\.(?:v(\d+))?f\d+", name):
        figures["fp instructions"] += times
        figures["fp operations"] += 2 * times * int(match[2] or 1)
    elif spaces := copies(name):
        memory(figures, False, spaces[0], times, 0)
        memory(figures, True, spaces[1], times, 0)
    elif re.match(r"llvm\.([su](min|max)|abs|ctpop|ctlz|cttz|bswap|bitreverse)", name):
        figures["integer instructions"] += times
    elif re.match(r"llvm\.(fabs|minnum|maxnum|floor|ceil|trunc|rint|round|copysign)", name):
        figures["fp instructions"] += times
    elif not re.match(r"llvm\.(lifetime|dbg|assume|experimental\.noalias)", name):
        return False
    return True


def called(name, times, figures):
    """Adds what a call is; false: it is not known."""
    if name.startswith("llvm."):
        return intrinsic(name, times, figures)
    match = re.match(r"_Z(\d+)(\w+)$", name)
    if not match:
        return True  # a function of the program's, whose instructions are counted themselves
    function, types = match[2][:int(match[1])], match[2][int(match[1]):]
    width = re.match(r"Dv(\d+)_", types)
    floating = re.match(r"(?:Dv\d+_)?(f|d|Dh)", types)
    if function in ("barrier", "work_group_barrier", "mem_fence", "read_mem_fence", "write_mem_fence"):
        figures["barriers"] += times
    elif re.match(r"atom(ic)?_", function):
        figures["atomics"] += times
    elif re.match(r"get_|convert_|as_|select$|shuffle", function) or function.startswith("is"):
        pass
    elif function in FLOAT_CALLS and floating:
        figures["fp instructions"] += times
        figures["fp operations"] += FLOAT_CALLS[function] * times * int(width[1] if width else 1)
    elif SPECIAL.fullmatch(function):
        figures["special functions"] += times
    elif function in ("min", "max", "clamp"):
        figures["fp instructions" if floating else "integer instructions"] += times
    elif INTEGER_CALLS.fullmatch(function):
        figures["integer instructions"] += times
    else:
        return vector_function(name, times, figures)
    return True


def understand(instructions):
    """{name: (times, bytes)} as the interpreter prints them, in tare's figures."""
    figures, unknown, vectors, untold = collections.Counter(), [], False, set()
    for name, (times, number) in instructions.items():
        if match := re.match(r"(load|store) (\w+)$", name):
            memory(figures, match[1] == "load", match[2], times, number)
        elif name in FLOAT:
            figures["fp instructions"] += times
            figures["fp operations"] += FLOAT[name] * times
        elif name in INTEGER:
            figures["integer instructions"] += times
        elif match := re.match(r"call (.+)\(\)$", name):
            vectors |= "Dv" in name
            if spaces := copies(match[1]):
                untold |= {f"stored_bytes.{spaces[0]}", f"loaded_bytes.{spaces[1]}"}
            if not called(match[1], times, figures):
                unknown.append(match[1])
        vectors |= name in ("extractelement", "insertelement", "shufflevector")
    return Counts(figures, vectors, frozenset(untold), tuple(unknown))


def interpreted_lines(text):
    """{kernel: {instruction: (times, bytes)}}, all launches of a name together."""
    found, counts = {}, None
    for line in text.splitlines():
        # A program's own line may have no end before it.
        if match := re.search(r"Instructions executed for kernel '(\w+)':$", line):
            counts = found.setdefault(match[1], {})
        elif counts is not None and (match := re.match(r" *(\d+) - (.+?)(?: \((\d+) bytes\))?$", line)):
            before = counts.get(match[2], (0, 0))
            counts[match[2]] = (before[0] + int(match[1]), before[1] + int(match[3] or 0))
        else:
            counts = None
    return found


# ---- tare

def told(total):
    """A total of the JSON's in the same figures."""
    figures = collections.Counter()
    for what in ("loads", "loaded_bytes", "stores", "stored_bytes"):
        for space, number in total[what].items():
            figures[f"{what}.{space}"] += number
    kinds = total["kinds"]
    figures["fp instructions"] = sum(kinds.get(kind, 0) for kind in ("fp16", "fp32", "fp64"))
    figures["fp operations"] = sum(total["flops"].values())
    for figure, kind in (("integer instructions", "integer"), ("special functions", "special function"),
                         ("barriers", "barrier"), ("atomics", "atomic")):
        figures[figure] = kinds.get(kind, 0)
    return figures


# ---- runs

# The optimised module comes first; one without optimisation (--before) is not kept.
CLANG = """#!/bin/sh
# A program that is linked of one part is compiled from the part's source.
last=""
for word; do
    case $word in *.cl) source=$word ;; esac
    if [ "$last" = -o ]; then name=$(basename "$word"); name=${{name%%.*}}; fi
    last=$word
done
if [ "$source" ] && ! [ -e "{kept}/$name.bc" ]; then
    cp "$source" "{kept}/$name.cl"
    echo "$*" > "{kept}/$name.words"
fi
exec {tool} "$@"
"""
TRANSLATOR = """#!/bin/sh
{tool} "$@" || exit
name=$(basename "$1"); name=${{name%%.*}}
case $* in *" -r"*) exit ;; esac
[ -e "{kept}/$name.bc" ] || {tool} -r "$3" -o "{kept}/$name.bc"
"""

def definitions(options):
    return {*re.findall(r"(?<!\S)-D *(\S+)", options)}


class Bench:
    """Runs one program in one folder, both ways."""

    def __init__(self, build, folder, groups=0, launches=0, timeout=600):
        self.build, self.folder, self.timeout = pathlib.Path(build), pathlib.Path(folder), timeout
        layer = self.build / "tests/programs/steady_layer.so"
        self.environment = {**os.environ, "OPENCL_LAYERS": str(layer), "STEADY_GROUPS": str(groups),
                            "STEADY_LAUNCHES": str(launches), "LC_ALL": "C", "TMPDIR": str(folder),
                            "POCL_CACHE_DIR": str(self.folder / "pocl")}
        vendors = self.folder / "vendors"
        vendors.mkdir(exist_ok=True)
        (vendors / "oclgrind.icd").write_text(f"{LIBRARY}\n", encoding="utf-8")

    def run(self, command, **more):
        """In a home of its own: programs keep kernels that they have built."""
        with tempfile.TemporaryDirectory(dir=self.folder) as home:
            return self.run_at(home, command, {**self.environment, "HOME": home, **more})

    def run_at(self, home, command, environment):
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            environment[name] = home
        try:
            return subprocess.run([*map(str, command)], env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.timeout, check=False,
                                  cwd=self.folder)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"interpreter: {command[0]} did not end within {self.timeout} s; try smaller launches "
                             "(--groups, --launches) or a longer --timeout") from None

    def interpret(self, command, level="", modules=None):
        """{kernel: Counts}, compiled at a level ("": the interpreter's own), or of tare's modules."""
        done = self.run(command, OCL_ICD_VENDORS=str(self.folder / "vendors"), OCLGRIND_INST_COUNTS="1",
                        OCLGRIND_BUILD_OPTIONS=level, **({"STEADY_TAKES": str(modules)} if modules else {}))
        lines = interpreted_lines(done.stdout.decode(errors="replace"))
        if not lines:
            raise SystemExit(f"interpreter: nothing was launched: {done.stdout.decode(errors='replace')[-2000:]}")
        return {name: understand(instructions) for name, instructions in lines.items()}

    def tools(self):
        """Compilers in the places of tare's that keep what they were given and have made."""
        version = next(n for n in range(15, 40) if shutil.which(f"clang-{n}") and shutil.which(f"llvm-spirv-{n}"))
        (self.folder / "kept").mkdir(exist_ok=True)
        found = {}
        for variable, tool, script in (("TARE_CLANG", "clang", CLANG), ("TARE_LLVM_SPIRV", "llvm-spirv", TRANSLATOR)):
            path = self.folder / tool
            path.write_text(script.format(tool=f"{tool}-{version}", kept=self.folder / "kept"), encoding="utf-8")
            path.chmod(0o755)
            found[variable] = str(path)
        return found

    def modules(self):
        """A folder with the bitcode of the program's builds, by their numbers, of those that tare has compiled."""
        kept, folder = self.folder / "kept", self.folder / "builds"
        for source in folder.glob("*.cl"):
            # Drivers tell other options than they were given, but for definitions.
            options = source.with_suffix(".options").read_text(encoding="utf-8", errors="replace")
            defined = definitions(options)
            for module in kept.glob("*.bc"):
                text, words = (module.with_suffix(suffix).read_text(encoding="utf-8", errors="replace")
                               for suffix in (".cl", ".words"))
                if text == source.read_text(encoding="utf-8", errors="replace") and defined <= definitions(words):
                    shutil.copy(module, source.with_suffix(".bc"))
        return folder

    def count(self, command, *options):
        """tare's document, and what was printed."""
        path = self.folder / "interpreter.json"
        path.unlink(missing_ok=True)
        (self.folder / "builds").mkdir(exist_ok=True)
        done = self.run([self.build / "src/cli/tare", "blocks", *options, "--json", path, "--", *command],
                        STEADY_WRITES=str(self.folder / "builds"), **self.tools())
        if not path.exists():
            raise SystemExit(f"interpreter: tare wrote nothing: {done.stdout.decode(errors='replace')[-2000:]}")
        return json.loads(path.read_text(encoding="utf-8")), done.stdout.decode(errors="replace")


def totals(document, which):
    """{kernel: figures} of what was counted; kernels of one name together. None: one of them was not."""
    found = {}
    for kernel in document["kernels"]:
        name = kernel["name"]
        if not kernel["whole"] or kernel[which] is None or found.get(name, 0) is None:
            found[name] = None
        else:
            found[name] = found.get(name, collections.Counter()) + told(kernel[which])
    return found


@dataclasses.dataclass
class Compared:
    """One kernel: {figure: (tare, of the same module, compiled by the interpreter, tare before, interpreter -O0)}."""
    name: str
    figures: dict
    vectors: bool
    unknown: tuple
    untold: tuple = (frozenset(),) * 5  # of each column

    def equal(self, one, other, but=()):
        """Whether two of the columns have the same figures."""
        return not self.differing(one, other, but)

    def differing(self, one, other, but=()):
        # An instruction of the interpreter's is of any number of operations where there are vectors.
        but = {*but, *(("fp operations",) if self.vectors else ()), *self.untold[one], *self.untold[other]}
        return [figure for figure, row in self.figures.items() if figure not in but and row[one] != row[other]]


TARE, SAME, OWN, BEFORE, WRITTEN = range(5)
HEADS = ("tare", "same module", "oclgrind", "tare --before", "oclgrind -O0")


def compare(bench, command):
    """[Compared] of all kernels that either side has seen; tare's document."""
    document, _ = bench.count(command, "--before")
    columns = [totals(document, "total"), None, None, totals(document, "before"), None]
    heard = {SAME: bench.interpret(command, modules=bench.modules()), OWN: bench.interpret(command),
             WRITTEN: bench.interpret(command, "-O0")}
    rows = []
    for name in sorted({*columns[TARE], *heard[SAME]}):
        counts = {at: heard[at].get(name, Counts(collections.Counter(), unknown=("is not there",))) for at in heard}
        sides = [(columns[at] or {}).get(name) if at in (TARE, BEFORE) else counts[at].figures for at in range(5)]
        figures = {figure for side in sides if side for figure, number in side.items() if number}
        rows.append(Compared(name, {figure: tuple(side[figure] if side is not None else None for side in sides)
                                    for figure in sorted(figures)}, any(c.vectors for c in counts.values()),
                             tuple(sorted({u for c in counts.values() for u in c.unknown})),
                             tuple(counts[at].untold if at in counts else frozenset() for at in range(5))))
    return rows, document


# ---- what people read

def verdict(row):
    if any(numbers[TARE] is None for numbers in row.figures.values()):
        return "not counted"
    said = []
    for one, other, what in ((TARE, SAME, "of the same module"), (TARE, OWN, "compiled by the interpreter"),
                             (BEFORE, WRITTEN, "before the optimisation")):
        differing = row.differing(one, other)
        said.append(f"{what} {f'{len(differing)} differ' if differing else 'equal'}")
    return ", ".join(said)


def cell(row, one, other):
    """"equal", or the figures of both."""
    return "; ".join(f"{figure} {format(row.figures[figure][one] or 0, ',')} : "
                     f"{format(row.figures[figure][other] or 0, ',')}" for figure in row.differing(one, other)) or "equal"


def markdown(rows, out):
    print("| kernel | same module | compiled by oclgrind | before the optimisation |\n|---|---|---|---|", file=out)
    for row in rows:
        if any(numbers[TARE] is None for numbers in row.figures.values()):
            print(f"| `{row.name}` | not counted | | |", file=out)
        else:
            cells = (cell(row, *pair) for pair in ((TARE, SAME), (TARE, OWN), (BEFORE, WRITTEN)))
            print(f"| `{row.name}` | {' | '.join(cells)} |", file=out)


def table(rows, everything, out):
    for row in rows:
        print(f"\n{row.name}: {verdict(row)}", file=out)
        if row.unknown:
            print(f"  not understood: {', '.join(row.unknown)}", file=out)
        wanted = [*row.figures] if everything else {
            *row.differing(TARE, SAME), *row.differing(TARE, OWN), *row.differing(BEFORE, WRITTEN)}
        for figure in row.figures:
            if figure in wanted:
                if figure == [f for f in row.figures if f in wanted][0]:
                    print(f"  {'':22}" + "".join(f"{head:>15}" for head in HEADS), file=out)
                print(f"  {figure:22}" + "".join(f"{'n/a' if n is None else format(n, ','):>15}"
                                                 for n in row.figures[figure]), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("TARE_BUILD", "build"))
    parser.add_argument("--groups", type=int, default=0, help="work-groups of a launch, at most")
    parser.add_argument("--launches", type=int, default=0, help="launches of a kernel, at most")
    parser.add_argument("--timeout", type=int, default=600, help="seconds that a run may take")
    parser.add_argument("--all", action="store_true", help="all figures, not only those that differ")
    parser.add_argument("--markdown", action="store_true", help="one line a kernel, as docs/blocks-oracle.md has them")
    parser.add_argument("command", nargs="+")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(words.build).resolve(), folder, words.groups, words.launches, words.timeout)
        rows, document = compare(bench, words.command)
    for kernel in document["kernels"]:
        if kernel["not_counted"]:
            print(f"{kernel['name']}: {kernel['not_counted']}")
    if words.markdown:
        markdown(rows, sys.stdout)
    else:
        table(rows, words.all, sys.stdout)


if __name__ == "__main__":
    main()
