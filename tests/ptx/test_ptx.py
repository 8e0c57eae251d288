# SPDX-License-Identifier: Apache-2.0
"""PTX with counters in it: executed by a machine of ours beside the text without them, results are the same, and the
counters tell what the machine has counted by itself, and what closed forms say."""
import os
import pathlib
import re
import struct
import subprocess

import pytest
from machine import Machine

HERE = pathlib.Path(__file__).parent
COUNTING = pathlib.Path(os.environ["TARE_BUILD"]) / "tests" / "ptx" / "counting"
OUT, COUNTERS = 1 << 15, 1 << 18
SPACES = ("global", "local", "constant", "private")
# By the first part of an instruction's name: its kind. Loads, stores and arithmetic by its type follow below.
KINDS = {"control": "bra brx call ret exit trap", "moves": "mov cvta selp", "conversion": "cvt", "special function": "sqrt",
         "barrier": "bar", "atomic": "atom red",
         "integer": "and or xor not shl shr popc shf mul24 mad24"}


def counting(*arguments, given=None):
    return subprocess.run([COUNTING, *arguments], input=given, capture_output=True, text=True, timeout=60)


def counted(path, how, into):
    """The text with counters, and rows, counters of a row, names of variables."""
    told = counting(path, how, into)
    assert told.returncode == 0, told.stderr
    rows, width, variables = told.stdout.split()
    return into.read_text(), int(rows), int(width), variables


def told(path, kernel, values):
    run = counting(path, "tell", kernel, given=" ".join(map(str, values)))
    assert run.returncode == 0, run.stderr
    counts = {name: int(value) for name, value in (line.split("\t") for line in run.stdout.splitlines())}
    # A question where the thread is among others is a move from a register of its own.
    return counts | {"moves": counts["move"] + counts["work-item query"]}


def fill(machine, whole=False):
    for i in range(OUT // 4):
        machine.memory[4 * i:4 * i + 4] = struct.pack("f", float(i % 13) if whole else (i % 13) * 0.25)


def run_both(path, how, tmp_path, kernel, grid, block, arguments, whole=False, parts=1):
    """Results of both texts, what the machine executed of the one, and what the other's counters tell."""
    text, rows, width, variables = counted(path, how, tmp_path / "counted.ptx")
    plain, made = Machine(path.read_text()), Machine(text, parts)
    for machine in (plain, made):
        fill(machine, whole)
    plain.launch(kernel, grid, block, arguments)
    made.launch(kernel, grid, block, arguments + [COUNTERS] * (how == "argument"))
    at = COUNTERS if how == "argument" else made.addresses[variables + kernel]
    words = struct.unpack(f"<{rows * width}Q", made.memory[at:at + 8 * rows * width])
    sums = [sum(words[i::width]) for i in range(width)]
    return plain, made, told(path, kernel, sums)


def memory_of(machine, how):
    return machine.memory[:1 << 16]


def kind_of(name):
    parts = name.split(".")
    found = [kind for kind, names in KINDS.items() if parts[0] in names.split()]
    return found[0] if found else {"f32": "fp32", "f64": "fp64"}.get(parts[-1], "integer")


def expected(machine):
    """What the machine executed, in the words of the counters."""
    sums = {"instructions": 0}
    for (function, name), count in machine.executed.items():
        parts = name.split(".")
        sums["instructions"] += count
        if parts[0] in ("ld", "st") and "param" not in parts:
            space = {"shared": "local", "local": "private", "const": "constant"}.get(parts[1], parts[1])
            size = int(re.search(r"\d+$", parts[-1])[0]) // 8
            size *= next((int(part[1]) for part in parts if re.fullmatch("v[24]", part)), 1)
            way = "load" if parts[0] == "ld" else "store"
            sums[f"{way} {space}"] = sums.get(f"{way} {space}", 0) + count
            sums[f"{way} bytes {space}"] = sums.get(f"{way} bytes {space}", 0) + count * size
        elif parts[0] in ("ld", "st"):
            sums["moves"] = sums.get("moves", 0) + count
        if parts[0] in ("add", "sub", "mul", "div", "fma") and parts[-1] in ("f32", "f64"):
            width = "operations " + {"f32": "fp32", "f64": "fp64"}[parts[-1]]
            sums[width] = sums.get(width, 0) + count * (2 if parts[0] == "fma" else 1)
        if parts[0] not in ("ld", "st"):
            sums[kind_of(name)] = sums.get(kind_of(name), 0) + count
    return sums


N = 4
# Of counted.cl and counted_ways.cl, as NVIDIA's compiler writes them: grid, group, argument n.
LAUNCHES = {
    "matmul": ((2, 2, 1), (2, 2, 1), N), "reduce": ((2, 1, 1), (64, 1, 1), N), "stencil": ((3, 1, 1), (8, 1, 1), 21),
    "diverge": ((2, 1, 1), (16, 1, 1), 3), "strided": ((2, 1, 1), (8, 1, 1), 3), "histogram": ((2, 1, 1), (16, 1, 1), 5),
    "vectors": ((1, 1, 1), (8, 1, 1), 3), "calls": ((2, 1, 1), (4, 1, 1), 7), "doubles": ((1, 1, 1), (8, 1, 1), 5),
}
WAYS = {"leaves": 9, "leftover": 9, "joined": 9, "groups": 2, "nested": 5, "chosen": 9}
CASES = [pytest.param(HERE / "counted.ptx", kernel, *launch, id=kernel) for kernel, launch in LAUNCHES.items()]
CASES += [pytest.param(HERE / "counted_ways.ptx", kernel, (2, 1, 1), (16, 1, 1), n, id=kernel) for kernel, n in WAYS.items()]
CASES += [pytest.param(HERE / "odd.ptx", kernel, (2, 1, 1), (16, 1, 1), n, id=kernel)
          for kernel, n in (("predicated", 9), ("leaving", 3), ("turns", 4))]
CASES += [pytest.param(HERE / "odd.ptx", "table", (2, 1, 1), (16, 1, 1), None, id="table")]


# What a text may have as its version and target, and by what threads of a warp then add what they have counted.
TARGETS = {"8.0 sm_90": "redux.sync", "7.0 sm_80": "redux.sync", "6.2 sm_70": "match.any.sync", "6.9 sm_80": "match.any.sync",
           "8.0 sm_75": "match.any.sync", "6.1 sm_70": None, "7.5 sm_61": None}


def for_target(path, target, tmp_path):
    version, sm = target.split()
    text = re.sub(r"\.version [\d.]+", f".version {version}", re.sub(r"\.target sm_\d+", f".target {sm}", path.read_text()))
    made = tmp_path / f"for_target_{path.name}"
    made.write_text(text)
    return made


@pytest.mark.parametrize("how, target, parts", [("argument", "8.0 sm_90", 1), ("module", "8.0 sm_90", 3),
                                                ("argument", "7.5 sm_70", 2), ("module", "6.0 sm_60", 1)])
@pytest.mark.parametrize("path, kernel, grid, block, n", CASES)
def test_counts_are_what_was_executed(path, kernel, grid, block, n, how, target, parts, tmp_path):
    hand_written = path.name == "odd.ptx"
    whole = kernel == "histogram"
    path = for_target(path, target, tmp_path)
    arguments = ([] if hand_written else [0]) + [OUT] + ([n] if n is not None else [])
    plain, made, counts = run_both(path, how, tmp_path, kernel, grid, block, arguments, whole, parts)
    assert memory_of(plain, how) == memory_of(made, how)
    assert memory_of(plain, how)[OUT:] != bytes((1 << 16) - OUT), "the kernel has results"
    threads = 1
    for size in (*grid, *block):
        threads *= size
    assert counts["entered"] == threads
    wanted = expected(plain)
    known = {name: counts[name] for name in wanted}
    assert known == wanted
    assert counts["other"] == 0
    for way in ("load", "store"):
        for space in SPACES:
            assert counts[f"{way} {space}"] == wanted.get(f"{way} {space}", 0)


@pytest.mark.parametrize("target", TARGETS)
def test_the_text_says_how_a_warp_adds(target, tmp_path):
    text = counted(for_target(HERE / "odd.ptx", target, tmp_path), "module", tmp_path / "counted.ptx")[0]
    for way in ("redux.sync", "match.any.sync"):
        assert (way in text) == (TARGETS[target] == way)
    assert ("activemask" in text) == (TARGETS[target] is not None)


@pytest.mark.parametrize("targets, way", [("sm_90a", "redux"), ("sm_90,\n sm_70", "match"), ("sm_70, debug", "match"),
                                          ("debug, sm_80", "redux"), ("sm_120f", "redux"), ("texmode_independent", None)])
def test_targets_are_read(targets, way, tmp_path):
    path = tmp_path / "targets.ptx"
    path.write_text((HERE / "odd.ptx").read_text().replace("sm_70", targets))
    text = counted(path, "module", tmp_path / "counted.ptx")[0]
    assert [each for each in ("redux", "match") if f"\n{each}." in text] == ([way] if way else [])


@pytest.mark.parametrize("target, most", [("8.0 sm_90", 1), ("8.0 sm_75", 1), ("6.0 sm_60", 16)])
def test_a_warp_adds_a_counter_once(target, most, tmp_path):
    """Half of the threads have been in a branch, half not, and 0 is not added."""
    path = tmp_path / "branch.ptx"
    path.write_text(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p;\n"
                    ".reg .b32 %r<3>;\n.reg .b64 %a;\nld.param.u64 %a, [out];\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 1;\n"
                    "setp.eq.u32 %p, %r1, 0;\n@%p bra L;\nadd.u32 %r2, %r0, 1;\nL:\nst.global.u32 [%a], %r1;\nret;\n}\n")
    path = for_target(path, target, tmp_path)
    plain, made, counts = run_both(path, "module", tmp_path, "k", (1, 1, 1), (32, 1, 1), [OUT])
    assert counts["instructions"] == sum(plain.executed.values())
    # Beside them, two that the first thread adds for its group.
    assert made.additions == 2 + most


def looping():
    return (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n"
            ".reg .b64 %a, %n;\nld.param.u64 %a, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %n, %r0, %r0;\nL:\n"
            "setp.lt.u64 %p, %n, 700;\n@%p bra M;\nsub.u64 %n, %n, 1;\nbra L;\nM:\nst.global.u32 [%a], %r0;\nret;\n}\n")


@pytest.mark.parametrize("target", ["8.0 sm_90", "8.0 sm_75", "6.0 sm_60"])
@pytest.mark.parametrize("begins", [0, 1, (1 << 26) - 3, 1 << 26, (1 << 32) - 5, -3, -(1 << 26) - 1, (1 << 63) + 9])
def test_sums_lose_no_carries(target, begins, tmp_path):
    """Counters begin with a number, which each thread then has more of the counter."""
    path = tmp_path / "loop.ptx"
    path.write_text(looping())
    path = for_target(path, target, tmp_path)
    text, rows, width, variables = counted(path, "module", tmp_path / "counted.ptx")
    sums = []
    for start in (0, begins):
        # A thread of each second begins with it: neighbours have small numbers and large ones.
        begun = re.sub(r"mov\.u64 (%tare0_n\d+), 0;",
                       rf"mov.u32 %tare0_x, %tid.x; and.b32 %tare0_x, %tare0_x, 1; cvt.u64.u32 \1, %tare0_x; "
                       rf"mul.lo.u64 \1, \1, {start % (1 << 64)};", text)
        assert begun != text
        machine = Machine(begun, 2)
        machine.launch("k", (1, 1, 1), (32, 1, 1), [OUT])
        at = machine.addresses[variables + "k"]
        words = struct.unpack(f"<{rows * width}Q", machine.memory[at:at + 8 * rows * width])
        sums.append([sum(words[i::width]) % (1 << 64) for i in range(width)])
    of_each = {sum - before for before, sum in zip(*sums)}
    assert (16 * begins) % (1 << 64) in {each % (1 << 64) for each in of_each}


def test_closed_forms(tmp_path):
    n, items = 8, 64
    _, _, matmul = run_both(HERE / "counted.ptx", "argument", tmp_path, "matmul", (4, 4, 1), (2, 2, 1), [0, OUT, n])
    assert matmul["operations fp32"] == 2 * n ** 3
    assert matmul["load global"] == 2 * n ** 3 and matmul["load bytes global"] == 8 * n ** 3
    assert matmul["store global"] == n ** 2
    _, _, reduce = run_both(HERE / "counted.ptx", "argument", tmp_path, "reduce", (2, 1, 1), (items, 1, 1), [0, OUT, n])
    assert reduce["load global"] == 2 * items and reduce["store global"] == 2
    assert reduce["operations fp32"] == 2 * (items - 1)
    assert reduce["barrier"] == 2 * items * 7
    _, _, calls = run_both(HERE / "counted.ptx", "argument", tmp_path, "calls", (2, 1, 1), (4, 1, 1), [0, OUT, 7])
    assert calls["load global"] == 8 * 7 and calls["operations fp32"] == 2 * 8 * 7


@pytest.mark.parametrize("name, kernel, uniform", [
    ("counted.ptx", "matmul", "6 of 6"),  # its turns are its argument's
    ("odd.ptx", "turns", "2 of 3"),       # one loop by the argument, one by the thread's number
    ("odd.ptx", "predicated", "1 of 7"),
])
def test_one_thread_counts_for_its_group_where_all_go_one_way(name, kernel, uniform):
    assert counting(HERE / name, "uniform", kernel).stdout.strip() == uniform


HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


@pytest.mark.parametrize("statement, uniform", [
    # Behind a brace a predicate is another register.
    ("setp.eq.u32 p, %r1, 3; { .reg .pred p; setp.eq.u32 p, %r1, 5; @p mov.u32 %r1, 1; } @p mov.u32 %r1, 1;", "1 of 3"),
    ("setp.eq.u32 p, %r1, 3; { .reg .pred p; @p mov.u32 %r2, 1; } @p mov.u32 %r2, 1; ", "1 of 3"),
    # What a function returns is not known to be the same for all, wherever it comes.
    ("mov.u32 %r2, 1; call.uni (%r2), f, (%r2); setp.eq.u32 p, %r2, 0; @p bra L; add.u32 %r1, %r1, 1; L:", "1 of 2"),
    ("mov.u32 r, 1; call.uni (r), f, (r); setp.eq.u32 p, r, 0; @p bra L; add.u32 r, r, 1; L:", "1 of 2"),
    # A variable in braces hides the kernel's argument, and with it what is the same for all.
    ("{ ld.param.b32 %r2, [out]; } setp.eq.u32 p, %r2, 0; @p bra L; add.u32 %r1, %r1, 1; L:", "2 of 2"),
    ("{ .param .b32 out; call (out), f, (1); ld.param.b32 %r2, [out]; } setp.eq.u32 p, %r2, 0; @p bra L; add.u32 %r1, %r1, 1; L:",
     "1 of 2"),
    # A label is seen in its braces.
    ("{ A: setp.eq.u32 p, 1, 1; @p bra B; bra A; B: } { A: setp.eq.u32 p, 1, 1; @p bra B; bra A; B: }", "3 of 3"),
])
def test_names_are_of_their_braces(statement, uniform, tmp_path):
    path = tmp_path / "braces.ptx"
    path.write_text(f"{HEADER}.visible .entry k(.param .u64 out) {{ .reg .pred p; .reg .b32 %r<3>, r; mov.u32 %r1, %tid.x;\n"
                    f"{statement}\nret; }}\n")
    run = counting(path, "uniform", "k")
    assert run.stdout.strip() == uniform, run.stderr


@pytest.mark.parametrize("head", [".version 8.0 .target sm_90 .address_size 64\n",
                                  ".version 8.0\n.target sm_90,\n debug\n.address_size 64 // bits\n"])
def test_directives_need_no_line_of_their_own(head, tmp_path):
    path = tmp_path / "head.ptx"
    path.write_text(head + ".visible .entry k() { ret; }\n")
    assert counting(path, "uniform", "k").stdout.strip() == "1 of 1"


def test_a_block_may_have_many_lines(tmp_path):
    """The time grows with the lines: 60 s are left for it, and the square of them takes minutes."""
    path = tmp_path / "lines.ptx"
    lines = "".join(f".loc 1 {i % 150000 + 1} 1\nadd.u32 %r1, %r1, 1;\n" for i in range(300000))
    path.write_text(f"{HEADER}.visible .entry k() {{ .reg .b32 %r<2>; mov.u32 %r1, 0;\n{lines}ret; }}\n")
    assert counting(path, "uniform", "k").stdout.strip() == "1 of 1"


@pytest.mark.parametrize("text, sentence", [
    ("", "no PTX"),
    (".version 7.0\n.target sm_70\n.address_size 32\n", "64 bits"),
    (".version 7.0\n.target sm_70\n.entry k() { ret; }\n", "64 bits"),
    (".version 7.0\n.address_size 64\n.entry k() { bra there; }\n", "line 3 of the PTX: a branch's target is missing"),
    (".version 7.0\n.address_size 64\n.entry k() { add.u32 a, b", "line 3 of the PTX"),
    (".version 7.0\n.address_size 64\n.entry k() { a: a: ret; }", "two labels"),
    (".version 7.0\n.address_size 64\n.func f() { exit; }\n.entry k() { call f; ret; }", "ends the work-item"),
    (".version 7.0\n.address_size 64\n.func (.reg .u32 r) f(.reg .u32 a) { ret; }", "parameters in registers"),
    (".version 7.0\n.address_size 64\n.entry k() { .reg .b64 %r; call %r, (), p; ret; }", "through pointers"),
    (".version 7.0\n.address_size 64\n.entry k() { .reg .b64 p; a: .callprototype _ (); call p, a; ret; }", "through pointers"),
    (".version 7.0\n.address_size 64\n.entry k() " + "{" * 70 + "}" * 70, "braces"),
    (".version 7.0\n.address_size 64\n.entry k() { { a: } bra a; }", "a branch's target is missing"),
    (".version 7.0\n.address_size 64\n.func f() { ret; }\n.alias g, f;\n.entry k() { ret; }", "two names"),
    (".version 7.0\n.address_size 64\n.func f() { ret; }\n.address_size 64\n.entry k() { ret; }",
     "line 4 of the PTX: a second module begins"),
    (".version 7.0\n.address_size 64\n.func f() { ret; }\n.version 8.0\n.entry k() { ret; }",
     "line 4 of the PTX: a second module begins"),
    (".version 7.0\n.address_size 64\n", "no code"),
])
def test_what_cannot_be_counted_is_said(text, sentence, tmp_path):
    path = tmp_path / "text.ptx"
    path.write_text(text)
    run = counting(path, "argument", tmp_path / "out.ptx")
    assert run.returncode == 1 and sentence in run.stderr and len(run.stderr.splitlines()) == 1


def test_names_of_ours_are_not_the_programs(tmp_path):
    text = (HERE / "odd.ptx").read_text().replace("%t;", "%tare0_n;").replace("%t,", "%tare0_n,")
    path = tmp_path / "names.ptx"
    path.write_text(text)
    made = counted(path, "argument", tmp_path / "counted.ptx")
    assert "%tare1_" in made[0] and made[3].startswith("tare1_")


def test_many_counters_lie_in_memory(tmp_path):
    """A function with more counters than there should be registers for."""
    cases = "".join(f"setp.eq.u32 %p, %r0, {i};\n@%p add.u32 %r1, %r1, {i + 7};\n" for i in range(100))
    path = tmp_path / "many.ptx"
    path.write_text(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry many(.param .u64 out)\n{\n.reg .pred %p;\n"
                    ".reg .b32 %r<2>;\n.reg .b64 %a, %b;\nld.param.u64 %a, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n"
                    f"{cases}mul.wide.u32 %b, %r0, 4;\nadd.u64 %a, %a, %b;\nst.global.u32 [%a], %r1;\nret;\n}}\n")
    plain, made, counts = run_both(path, "argument", tmp_path, "many", (1, 1, 1), (32, 1, 1), [OUT])
    assert "st.local.u64" in (tmp_path / "counted.ptx").read_text()
    assert plain.memory[:1 << 16] == made.memory[:1 << 16]
    assert counts["instructions"] == sum(plain.executed.values())
