# SPDX-License-Identifier: Apache-2.0
"""tare blocks on Level Zero, with ze-cpu: the library of test_blocks.py, as SPIR-V, has the same closed forms."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import validate
from recorded import BUILD, PROGRAMS, SANITIZED, run  # noqa: F401
from test_blocks import KERNELS, LIBRARY, TOOLS, at, check_sums, items_of, kernel_of
from test_blocks_findings import FINDINGS, PAIRS
from test_blocks_gains import BOUND, FILLED, WHOLE, finding_of
from test_levelzero_capture import environment_of

PROGRAM = PROGRAMS / "counted_levelzero"
DRIVER = BUILD / "drivers/ze-cpu/libze_cpu.so"

pytestmark = [pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version"),
              pytest.mark.skipif(not PROGRAM.exists(), reason="there is no Level Zero loader to link with")]


def spirv_of(source, folder, debug=("-gline-tables-only",), standard="CL1.2"):
    """A file of OpenCL C as SPIR-V, optimised as the runs of test_blocks.py are."""
    version = next(n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}"))
    bitcode, made = folder / "kernels.bc", folder / "kernels.spv"
    subprocess.run([f"clang-{version}", "-target", "spir64-unknown-unknown", "-x", "cl", f"-cl-std={standard}", "-O2", "-c",
                    "-emit-llvm", *debug, "-Xclang", "-finclude-default-header", str(source), "-o",
                    str(bitcode)], check=True, timeout=120)
    subprocess.run([f"llvm-spirv-{version}", str(bitcode), "-o", str(made)], check=True, timeout=120)
    return made


@pytest.fixture(scope="module")
def spirv(tmp_path_factory):
    return spirv_of(KERNELS, tmp_path_factory.mktemp("spirv"))


class Blocks:
    def __init__(self, tare, folder, cache):
        self.tare, self.folder = tare, folder
        self.environment = {"POCL_CACHE_DIR": str(cache), "ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "TMPDIR": str(folder), "COLUMNS": "500"}

    def native(self, *words, **environment):
        return run([PROGRAM, *words], {**self.environment, **environment}, cwd=self.folder)

    def blocks(self, *words, options=(), before=(), **environment):
        path = self.folder / "blocks.json"
        done = run([self.tare, "blocks", *options, "--json", path, "--", *before, PROGRAM, *words],
                   {**self.environment, **environment}, cwd=self.folder)
        document = validate.load(path) if path.exists() else None
        assert document is None or validate.faults(document) == []
        return done, document


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Blocks(tare_path, tmp_path, kernel_cache)


def words_of(names):
    """As in test_blocks.py; a size of a group is always said."""
    words = []
    for name in names:
        n, *sizes = LIBRARY[name][0]
        pairs = zip(sizes[::2], sizes[1::2])
        words += [name, n, *(word for size, local in pairs for word in (size, local or 4))]
    return [str(word) for word in words]


def test_counts_are_the_closed_forms(on, spirv):
    names = list(LIBRARY)
    native = on.native(spirv, "immediate", *words_of(names))
    assert native.status == 0, native.errors.decode()
    done, document = on.blocks(spirv, "immediate", *words_of(names))
    assert done.status == 0, done.errors.decode()
    assert done.out.startswith(native.out), "the program's own output is another"
    assert document["launches"] == document["counted_launches"] == len(names)
    for name, (sizes, expected) in LIBRARY.items():
        kernel = kernel_of(document, name)
        assert kernel["api"] == "Level Zero" and kernel["whole"] and kernel["not_counted"] is None
        assert kernel["work_items"] == items_of(sizes)
        assert {path: at(kernel["total"], path) for path in expected} == expected, name
        check_sums(kernel)


def test_a_list_counts_as_often_as_it_is_executed(on, spirv):
    native = on.native(spirv, "3", *words_of(["strided", "matmul"]))
    done, document = on.blocks(spirv, "3", *words_of(["strided", "matmul"]))
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    for name in ("strided", "matmul"):
        kernel = kernel_of(document, name)
        assert kernel["whole"] and (kernel["launches"], kernel["counted_launches"]) == (3, 3)
        assert kernel["work_items"] == 3 * items_of(LIBRARY[name][0])
        assert kernel["total"]["loads"]["global"] == 3 * LIBRARY[name][1]["loads.global"]


def test_sets_of_flags_are_compared(on, spirv):
    """Times come from the recorder, counts from the twin; what the driver refuses is told with its log."""
    path = on.folder / "sets.json"
    sets = ["-ze-opt-disable", "-cl-no-such-option", "#3 unroll 4"]
    done = run([on.tare, "blocks", "--options", *sets, "--rounds", "1", "--json", path, "--", PROGRAM, spirv,
                "immediate", *words_of(["strided"])], on.environment, cwd=on.folder)
    assert done.status == 0, done.errors.decode()
    document = validate.load(path)
    assert validate.faults(document) == []
    options = document["options"]
    why = [one["why"] for one in options["sets"]]
    assert why[:2] == [None, None] and "refuses to build" in why[2] and "-cl-no-such-option" in why[2]
    assert "no source of OpenCL C" in why[3]
    rows = next(kernel["sets"] for kernel in options["kernels"] if kernel["name"] == "strided")
    assert [row["launches"] for row in rows] == [1, 1, 0, 0]
    assert all(row["times_ns"][0] > 0 and row["total"] == rows[0]["total"] for row in rows[:2])
    assert rows[0]["total"]["loads"]["global"] == LIBRARY["strided"][1]["loads.global"]


# Work-groups of 64 suit all of them. Kernels with doubles are left out: dg2 has none.
NAMED = re.compile(r"^kernel void (\w+)\(.*?\n{\n.*?^}\n", re.M | re.S)
MODELLED = ("counted.cl", "counted_pairs.cl", "counted_ways.cl")


@pytest.mark.skipif(not shutil.which("ocloc") and "TARE_OCLOC" not in os.environ, reason="there is no ocloc")
@pytest.mark.parametrize("product", ["dg2", "pvc"])
def test_models_are_what_the_driver_says_in_capture_mode(on, tmp_path, product):
    """The same SPIR-V by ocloc and by Intel's driver, which needs no hardware for that."""
    driver = environment_of(product)
    text = "\n".join((KERNELS.parent / name).read_text(encoding="utf-8") for name in MODELLED)
    text = NAMED.sub(lambda kernel: "" if "double" in kernel[0] else kernel[0], text)
    names = [kernel[1] for kernel in NAMED.finditer(text)]
    assert len(names) > 20
    (tmp_path / "all.cl").write_text(text, encoding="utf-8")
    module = spirv_of(tmp_path / "all.cl", tmp_path)
    path = tmp_path / "devices.json"
    done = run([on.tare, "devices", "-d", "levelzero", "--kernel", module, "--json", path], driver, cwd=tmp_path)
    assert done.status == 0, done.errors.decode()
    said = {kernel["name"]: kernel for kernel in json.loads(path.read_text())["devices"][0]["kernels"]["kernels"]}
    done, document = on.blocks(module, "immediate", *(word for name in names for word in (name, "4", "64", "64")),
                               options=["--for", product])
    assert done.status == 0, done.errors.decode()
    for name in names:
        model, = kernel_of(document, name)["models"]
        # Where ocloc does not tell spills from private arrays, the driver does not either.
        spilled = model["scratch_bytes"] if model["spill_bytes"] is None else model["spill_bytes"]
        assert (model["simd_width"], spilled, model["local_bytes"]) == tuple(
            said[name][key] for key in ("simd_width", "spill_bytes", "local_bytes")), name


def test_lines_have_their_source_while_it_is_there(on, tmp_path):
    source = tmp_path / "kept.cl"
    source.write_text("kernel void vectors(global const float *in, global float *out, int n)\n{\n"
                      "\tout[get_global_id(0)] = in[n];\n}\n", encoding="utf-8")
    words = [spirv_of(source, tmp_path), "immediate", "vectors", "3", "64", "8"]
    done, _ = on.blocks(*words)
    assert b"out[get_global_id(0)] = in[n];" in done.out and b"as they are now" in done.out
    source.unlink()
    done, _ = on.blocks(*words)
    assert b"out[get_global_id(0)]" not in done.out and str(source).encode() in done.out
    assert b"as they are now" not in done.out


def test_a_module_that_cannot_be_instrumented_runs_as_it_is(on, tmp_path):
    source = tmp_path / "prints.cl"
    source.write_text('__attribute__((noinline)) static void say(int n) { printf("%d", n); }\n'
                      'kernel void vectors(global const float *in, global float *out, int n)\n'
                      '{\n    if (n < 0)\n        say(n);\n    out[get_global_id(0)] = in[n];\n}\n',
                      encoding="utf-8")
    module = spirv_of(source, tmp_path)
    words = [module, "immediate", "vectors", "3", "64", "8"]
    native = on.native(*words)
    done, document = on.blocks(*words)
    assert done.status == native.status == 0, done.errors.decode()
    assert done.out.startswith(native.out)
    kernel = kernel_of(document, "vectors")
    assert (kernel["launches"], kernel["counted_launches"]) == (1, 0) and "printf" in kernel["not_counted"]


def test_findings_are_raised_and_changed_in_spirv(on, tmp_path):
    """Of each pair the one is named and its mended twin is not; what a machine can change takes the changed kernel.
    Those left out round otherwise with their change, and are in test_blocks_promises.py."""
    source = tmp_path / "pairs.cl"
    source.write_text(PAIRS.read_text(encoding="utf-8") + FILLED, encoding="utf-8")
    words, sizes = [], {finding: (name, n, 256, 64, 64) for finding, (name, n, _) in FINDINGS.items()
                    if finding in (*BOUND, "integer-division")}
    sizes["unused-lanes"] = ("filled", 4, 256, 1, 64)
    for name, n, items, group, mended_group in sizes.values():
        words += [name, n, items, group, f"{name}_mended", n, items, mended_group]
    # Whose divisors above 8 are more than a group may have.
    words += ["filled", 4, 8072, 1]
    done, document = on.blocks(spirv_of(source, tmp_path), "2", *words, options=["--sample", "--gains", "--rounds", "1"])
    assert done.status == 0, done.errors.decode()
    for finding, (name, *_) in sizes.items():
        assert kernel_of(document, f"{name}_mended")["findings"] == [], finding
        why = "is the program's to change" if finding in BOUND else WHOLE
        one = finding_of(document, name, finding)
        assert why in one["gain_why"] and one["high_ns"] == one["kernel_ns"] > 0, finding
    assert finding_of(document, "divided", "integer-division")["differs"] is False
    assert kernel_of(document, "filled")["work_items"] == 2 * (256 + 8072)
    filled = finding_of(document, "filled", "unused-lanes")
    assert filled["differs"] is False and WHOLE in filled["gain_why"]
    width = kernel_of(document, "filled")["device"]["preferred_multiple"]
    assert filled["share"] == pytest.approx(1 - 1 / width)


def test_a_driver_that_is_no_driver_fails_as_without_tare(on, spirv):
    on.environment["ZE_ENABLE_ALT_DRIVERS"] = str(pathlib.Path(spirv).with_name("no-driver.so"))
    native = on.native(spirv, "immediate", *words_of(["strided"]))
    done, _ = on.blocks(spirv, "immediate", *words_of(["strided"]))
    assert native.status == done.status != 0 and native.errors in done.errors


CONSTANTS = """
#define CONSTANT __attribute__((overloadable, const))
CONSTANT int __spirv_SpecConstant(int id, int value);
CONSTANT double __spirv_SpecConstant(int id, double value);
CONSTANT char __spirv_SpecConstant(int id, char value);
kernel void chosen(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), turns = __spirv_SpecConstant(1, 7) * __spirv_SpecConstant(3, (char)-2) * -1;
	double sum = 0;

	for (int k = 0; k < turns; k++)
		sum += in[(i + k) % n] * __spirv_SpecConstant(2, 0.5);
	out[i] = sum;
}
"""


@pytest.mark.parametrize("how, times", [("immediate", 1), ("2", 2)])
def test_each_value_of_a_specialisation_constant_is_counted(on, tmp_path, how, times):
    """The other constants keep the values that the module has for them."""
    source = tmp_path / "constants.cl"
    source.write_text(CONSTANTS, encoding="utf-8")
    words = [spirv_of(source, tmp_path), how, "chosen", "5", "256", "64"]
    native = on.native(*words, COUNTED_CONSTANT="3 10 0")
    done, document = on.blocks(*words, COUNTED_CONSTANT="3 10 0", options=["--sample"])
    assert done.status == native.status == 0, native.errors.decode() + done.errors.decode()
    assert done.out.startswith(native.out) and len(set(native.out.split(b"\n")[:3])) == 3
    kernels = document["kernels"]
    assert sorted(at(kernel["total"], "loads.global") for kernel in kernels) == [0, times * 256 * 2 * 3, times * 256 * 2 * 10]
    for kernel in kernels:
        assert kernel["whole"] and kernel["not_counted"] is None and kernel["launches"] == times
        assert at(kernel["total"], "stores.global") == times * 256
        check_sums(kernel)


# The second one keeps how often it was launched.
VARIABLES = {"constant": "constant int table[4] = {7, 5, 3, 2};", "global": "const global int table[4] = {7, 5, 3, 2};",
             "kept": "global int table[4] = {7, 5, 3, 2};"}
READS = """
kernel void reads(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	out[i] = table[i % 4] + n;
}
"""
KEEPS = """
kernel void keeps(global const float *in, global float *out, int n)
{
	out[get_global_id(0)] = atomic_add(&table[0], n);
}
"""


def variables(tmp_path, kind, kernels):
    source = tmp_path / "variables.cl"
    source.write_text(VARIABLES[kind] + kernels, encoding="utf-8")
    return spirv_of(source, tmp_path, standard="CL2.0" if kind != "constant" else "CL1.2")


@pytest.mark.parametrize("kind", ["constant", "global"])
def test_tables_of_constants_are_the_twins_own(on, tmp_path, kind):
    words = [variables(tmp_path, kind, READS), "immediate", "reads", "5", "256", "64"]
    native = on.native(*words)
    done, document = on.blocks(*words)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "reads")
    assert kernel["whole"] and kernel["not_counted"] is None and at(kernel["total"], "stores.global") == 256
    assert at(kernel["total"], f"loads.{kind}") == 256
    check_sums(kernel)


def test_variables_that_kernels_write_are_left_to_the_programs_own(on, tmp_path):
    """The second launch goes on from what the first has left, and so does another kernel."""
    words = [variables(tmp_path, "kept", READS + KEEPS), "2", "keeps", "5", "64", "64", "reads", "0", "64", "64"]
    native = on.native(*words)
    done, document = on.blocks(*words)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    for kernel in document["kernels"]:
        assert kernel["counted_launches"] == 0 and "variables in global memory that kernels may write" in kernel["not_counted"]


@pytest.mark.parametrize("first", ["asks", "does not ask"])
def test_constants_that_the_host_writes_are_left_to_the_programs_own(on, tmp_path, first):
    """Also where it asks for them in the run alone that counts."""
    words = [variables(tmp_path, "constant", READS), "2", "reads", "5", "64", "64"]
    native = on.native(*words, COUNTED_SYMBOL="table 100")
    assert native.status == 0 and native.out != on.native(*words).out
    script = tmp_path / "script"
    told = 'COUNTED_SYMBOL="table 100" '
    script.write_text(f'#!/bin/sh\n[ "$TARE_BLOCKS_STAGE" = count ] && {told} exec "$@"\n{told if first == "asks" else ""}exec "$@"\n',
                      encoding="utf-8")
    script.chmod(0o755)
    done, document = on.blocks(*words, before=[script])
    assert done.status == 0 and done.out.startswith(native.out), done.out
    kernel = kernel_of(document, "reads")
    assert kernel["counted_launches"] == 0 and "zeModuleGetGlobalPointer" in kernel["not_counted"]


PARTS = {
    "caller": "int helped(global const int *at, int x, int n);\nkernel void called(global int *in, global int *out, int n)\n{\n"
              "\tint i = get_global_id(0);\n\tout[i] = helped(in, i, n);\n}\n",
    "helper": "int helped(global const int *at, int x, int n)\n{\n\tint sum = x;\n\tfor (int k = 0; k < x % n; k++)\n"
              "\t\tsum ^= at[k];\n\treturn sum;\n}\n",
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    if not shutil.which("spirv-link"):
        pytest.skip("there is no spirv-link, by which ze-cpu links")
    made = {}
    for name, text in PARTS.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / f"{name}.cl").write_text(text, encoding="utf-8")
        # What spirv-link joins has debug information that llvm-spirv refuses.
        made[name] = spirv_of(folder / f"{name}.cl", folder, debug=())
    return made


def test_a_module_of_several_is_counted(on, parts):
    """With sets of options, too, which its parts do not take."""
    words = [parts["caller"], "immediate", "called", "5", "256", "64"]
    native = on.native(*words, COUNTED_OF=parts["helper"])
    done, document = on.blocks(*words, COUNTED_OF=str(parts["helper"]), options=["--options", "-ze-opt-disable", "--rounds", "1"])
    assert done.status == native.status == 0, native.errors.decode() + done.errors.decode()
    assert done.out.startswith(native.out)
    kernel = kernel_of(document, "called")
    assert kernel["whole"] and kernel["not_counted"] is None
    turns = sum(i % 5 for i in range(256))
    assert (at(kernel["total"], "loads.global"), at(kernel["total"], "stores.global")) == (turns, 256)
    assert [loop["turns"] for loop in kernel["loops"]] == [turns]
    check_sums(kernel)
    assert kernel["build"]["optimised"] == "as the program brought it; 2 parts joined"
    own, other = next(one["sets"] for one in document["options"]["kernels"] if one["name"] == "called")
    assert own["total"] and not own["unchanged"] and other["unchanged"] and other["total"] is None and other["told"] == "n/a"
    assert "best: n/a, because its module is of several parts, which keep their own flags" in done.out.decode()


def test_modules_that_are_linked_run_as_they_are(on, parts):
    """The kernel calls a function of another module, which its twin does not have."""
    words = [parts["caller"], "immediate", "called", "5", "256", "64"]
    native = on.native(*words, COUNTED_WITH=parts["helper"])
    done, document = on.blocks(*words, COUNTED_WITH=str(parts["helper"]))
    assert done.status == native.status == 0, native.errors.decode() + done.errors.decode()
    assert done.out.startswith(native.out)
    kernel = kernel_of(document, "called")
    assert (kernel["launches"], kernel["counted_launches"]) == (1, 0)
    assert "zeModuleDynamicLink" in kernel["not_counted"] and "one module" in kernel["not_counted"]


def test_a_module_without_debug_information_is_counted_without_lines(on, tmp_path):
    bare = spirv_of(KERNELS, tmp_path, debug=())
    words = words_of(["matmul"])
    native = on.native(bare, "immediate", *words)
    done, document = on.blocks(bare, "immediate", *words)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "matmul")
    expected = LIBRARY["matmul"][1]
    assert kernel["whole"] and {path: at(kernel["total"], path) for path in expected} == expected
    assert all(line["line"] is None for line in kernel["lines"]) and all(block["first_line"] is None for block in kernel["blocks"])
