# SPDX-License-Identifier: Apache-2.0
"""tare blocks counts exactly: what it says of a library of kernels equals closed forms, and the program's
output, exit status and view of its kernels stay its own."""
import os
import pathlib
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import PROGRAMS, SANITIZED, built, run  # noqa: E402, F401

COUNTED = PROGRAMS / "counted"
KERNELS = pathlib.Path(__file__).parents[1] / "programs/counted.cl"
TOOLS = any(shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}") for n in range(11, 40))

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

# Kernel, n, sizes, and what is to be counted: {path in the total: number}.
N, GROUPS, POINTS, ITEMS = 24, 4, 1000, 256
ODD = range(1, ITEMS, 2)
LIBRARY = {
    "matmul": ([N, N, 8, N, 8], {
        "loads.global": 2 * N**3, "loaded_bytes.global": 8 * N**3, "stores.global": N**2,
        "stored_bytes.global": 4 * N**2, "flops.fp32": 2 * N**3}),
    # Steps of 32, 16 .. 1 add twice as many numbers of local memory as they store.
    "reduce": ([0, 64 * GROUPS, 64], {
        "loads.global": 64 * GROUPS, "stores.global": GROUPS, "loads.local": (2 * 63 + 1) * GROUPS,
        "stores.local": (64 + 63) * GROUPS, "kinds.barrier": 7 * 64 * GROUPS, "flops.fp32": 63 * GROUPS}),
    "stencil": ([POINTS, 1024, 64], {
        "loads.global": 3 * (POINTS - 2) + 2, "stores.global": POINTS, "flops.fp32": 5 * (POINTS - 2)}),
    "diverge": ([3, ITEMS, 0], {
        "loads.global": sum(i % 7 for i in ODD) + ITEMS // 2, "stores.global": ITEMS,
        "kinds.special function": ITEMS // 2, "flops.fp32": sum(i % 7 for i in ODD)}),
    "strided": ([4, 1024, 0], {
        "loads.global": 1024, "loaded_bytes.global": 4096, "stores.global": 1024, "stored_bytes.global": 4096}),
    "histogram": ([16, 2048, 0], {"kinds.atomic": 2048, "loads.global": 2048}),
    "vectors": ([3, 512, 0], {
        "loads.global": 512, "loaded_bytes.global": 16 * 512, "stores.global": 512,
        "stored_bytes.global": 16 * 512, "flops.fp32": 4 * 512}),
    "calls": ([9, 100, 0], {
        "loads.global": 900, "stores.global": 100, "flops.fp32": 2 * 900}),
    "doubles": ([12, 256, 0], {
        "loads.global": 13 * 256, "stores.global": 256, "flops.fp64": 2 * 12 * 256}),
}


@pytest.fixture(params=["basic", "pthread"])
def device(request):
    return request.param


class Blocks:
    """Runs tare blocks in one folder, on one of PoCL's devices."""

    def __init__(self, tare, folder, cache, device):  # noqa: F811
        self.tare, self.folder = tare, folder
        self.environment = {"POCL_CACHE_DIR": str(cache), "POCL_DEVICES": device, "TMPDIR": str(folder), "COLUMNS": "500"}

    def native(self, *words, **environment):
        return run([COUNTED, *words], {**self.environment, **environment}, cwd=self.folder)

    def blocks(self, *words, options=(), **environment):
        """What the command did, and its document, which the schema allows."""
        path = self.folder / "blocks.json"
        path.unlink(missing_ok=True)
        done = run([self.tare, "blocks", *options, "--json", path, "--", COUNTED, *words],
                   {**self.environment, **environment}, cwd=self.folder)
        document = validate.load(path) if path.exists() else None
        assert document is None or validate.faults(document) == []
        assert list(self.folder.glob("tare-blocks-*")) == [], "a folder was left behind"
        return done, document


@pytest.fixture
def on(tare_path, tmp_path, kernel_cache, device):  # noqa: F811
    return Blocks(tare_path, tmp_path, kernel_cache, device)


@pytest.fixture
def once(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Blocks(tare_path, tmp_path, kernel_cache, "pthread")


def said(done):
    """What it printed, without the ends of lines: where a sentence is wrapped is no matter."""
    return " ".join(done.out.decode().split())


def at(total, path):
    first, _, rest = path.partition(".")
    return total.get(first, 0) if not rest else at(total.get(first, {}), rest)


def kernel_of(document, name):
    found = [kernel for kernel in document["kernels"] if kernel["name"] == name]
    assert len(found) == 1, [kernel["name"] for kernel in document["kernels"]]
    return found[0]


def words_of(names):
    return [str(word) for name in names for word in [name, *LIBRARY[name.partition(":")[0]][0]]]


def items_of(sizes):
    items = 1
    for size in sizes[1::2]:
        items *= size
    return items


def check_sums(kernel):
    """Blocks, lines and the total tell the same in three ways."""
    total = kernel["total"]["instructions"]
    assert sum(block["executions"] * block["once"]["instructions"] for block in kernel["blocks"]) == total
    assert sum(line["total"]["instructions"] for line in kernel["lines"]) == total


def test_counts_are_the_closed_forms(on):
    names = list(LIBRARY)
    native = on.native(KERNELS, "", *words_of(names))
    assert native.status == 0, native.errors.decode()
    done, document = on.blocks(KERNELS, "", *words_of(names))
    assert done.status == 0, done.errors.decode()
    assert done.out.startswith(native.out), "the program's own output is another"
    assert document["launches"] == document["counted_launches"] == len(names)
    for name, (sizes, expected) in LIBRARY.items():
        kernel = kernel_of(document, name)
        assert kernel["whole"] and kernel["not_counted"] is None
        assert kernel["work_items"] == items_of(sizes)
        assert {path: at(kernel["total"], path) for path in expected} == expected, name
        assert kernel["build"]["optimised"] == "-O2"
        check_sums(kernel)


def test_launches_add_up(once):
    _, document = once.blocks(KERNELS, "", *words_of(["strided:5"]))
    kernel = kernel_of(document, "strided")
    assert (kernel["launches"], kernel["counted_launches"], kernel["work_items"]) == (5, 5, 5 * 1024)
    assert kernel["total"]["loads"] == {"global": 5 * 1024}


def test_lines_are_those_of_the_source(once):
    _, document = once.blocks(KERNELS, "", *words_of(["matmul"]))
    kernel = kernel_of(document, "matmul")
    text = KERNELS.read_text(encoding="utf-8").splitlines()
    assert kernel["build"]["source"] == [line.replace("\t", " ") for line in text]
    loads = {line["line"]: line["total"]["loads"] for line in kernel["lines"] if line["total"]["loads"]}
    assert [text[number - 1].strip() for number in loads] == ["sum += in[row * n + k] * in[k * n + column];"]
    hottest = max((line for line in kernel["lines"] if line["line"]), key=lambda line: line["total"]["instructions"])
    assert hottest["line"] in loads and hottest["file"] is None


def test_loops_turn_as_often_as_they_do(once):
    _, document = once.blocks(KERNELS, "", *words_of(["matmul"]))
    loops = kernel_of(document, "matmul")["loops"]
    assert [(loop["turns"], loop["entries"]) for loop in loops] == [(N**3, N**2)]


def test_the_level_is_the_programs(once):
    """Without optimisation variables are in memory: the same loads of global memory, and others of private."""
    done, document = once.blocks(KERNELS, "-cl-opt-disable", *words_of(["matmul"]))
    kernel = kernel_of(document, "matmul")
    assert kernel["build"]["optimised"] == "-cl-opt-disable" and b"-cl-opt-disable" in done.out
    assert kernel["total"]["loads"]["global"] == 2 * N**3 and kernel["total"]["loads"]["private"] > 2 * N**3


def test_counts_before_the_optimisation_are_those_of_a_program_that_has_none(once):
    _, written = once.blocks(KERNELS, "-cl-opt-disable", *words_of(["matmul"]))
    done, both = once.blocks(KERNELS, "", *words_of(["matmul"]), options=["--before"])
    kernel, alone = kernel_of(both, "matmul"), kernel_of(written, "matmul")
    assert kernel["before"] == alone["total"] and alone["before"] is None
    assert kernel["total"]["instructions"] < kernel["before"]["instructions"]
    assert f"before the optimisation: {kernel['before']['instructions']:,} " in said(done)
    assert done.out.count(b"matmul: 3 arguments") == 1


def test_inline_assembly_is_left_alone_with_a_reason(once, tmp_path):
    source = tmp_path / "assembly.cl"
    source.write_text('kernel void k(global const float *in, global float *out, int n)\n{\n'
                      '    __asm__ volatile("nop");\n    out[get_global_id(0)] = in[get_global_id(0)] + n;\n}\n',
                      encoding="utf-8")
    native = once.native(source, "", "k", "4", "64", "64")
    done, document = once.blocks(source, "", "k", "4", "64", "64")
    if native.status != 0:
        pytest.skip("the driver takes no inline assembly")
    kernel = kernel_of(document, "k")
    assert done.status == 0 and done.out.startswith(native.out)
    assert kernel["counted_launches"] == 1 or "inline assembly" in kernel["not_counted"]


def test_what_the_driver_says_of_the_kernel_is_told(once):
    done, document = once.blocks(KERNELS, "", *words_of(["matmul"]))
    multiple = kernel_of(document, "matmul")["device"]["preferred_multiple"]
    assert multiple and f"the driver says: work-groups best in multiples of {multiple}" in said(done)


def test_the_text_says_what_the_document_says(once):
    done, document = once.blocks(KERNELS, "", *words_of(["matmul", "vectors"]))
    text = done.out.decode()
    assert "2 of 2 launches counted" in text
    total = kernel_of(document, "matmul")["total"]
    assert re.search(rf"^  global +{total['loads']['global']:,} +{total['loaded_bytes']['global']:,} ", text, re.M)
    assert f"{total['flops']['fp32']:,} fp32" in text and "sum += in[row * n + k]" in text
    assert text.index("kernel matmul") < text.index("kernel vectors"), "the one that costs most comes first"


def test_names_of_cplusplus_are_written_as_in_the_source(once, tmp_path):
    (tmp_path / "names.cl").write_text("kernel void _Z3addi(global const float *in, global float *out, int n)\n"
                                       "{\n\tout[get_global_id(0)] = in[get_global_id(0)] + n;\n}\n")
    done, document = once.blocks(tmp_path / "names.cl", "", "_Z3addi", "1", "256", "64")
    assert b"\nkernel add(int)\n" in done.out and b"100.0 % add(int)" in done.out, done.out.decode()
    assert kernel_of(document, "_Z3addi")["whole"]


def test_the_exit_status_is_the_programs(once):
    done, document = once.blocks(KERNELS, "", *words_of(["vectors"]), COUNTED_STATUS="7")
    assert done.status == 7 and document["exit_status"] == 7


def test_less_is_optimised_where_the_translator_refuses(once, tmp_path):
    versions = [n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}")]
    if len(versions) > 1:
        pytest.skip("which of several translators is taken depends on the driver")
    translator = tmp_path / "translator"
    # It refuses what comes the short way.
    translator.write_text('#!/bin/sh\ncase $1 in\n*.legal.bc) ;;\n*.bc) echo "error: no" >&2\n'
                          f'exit 1 ;;\nesac\nexec llvm-spirv-{versions[0]} "$@"\n', encoding="utf-8")
    translator.chmod(0o755)
    _, document = once.blocks(KERNELS, "", *words_of(["strided"]), TARE_LLVM_SPIRV=str(translator))
    assert kernel_of(document, "strided")["build"]["optimised"] == "-O1 (at -O2 it is not translated)"
    kernel = kernel_of(document, "strided")
    assert kernel["whole"] and kernel["total"]["loads"] == {"global": 1024}


@pytest.mark.parametrize("cached", [False, True])
def test_a_program_that_is_linked_alone_is_counted(once, tmp_path, cached):
    environment = {"COUNTED_LINKED": ""} | ({"COUNTED_CACHE": str(tmp_path / "cache")} if cached else {})
    done, document = once.blocks(KERNELS, "", *words_of(["vectors"]), **environment)
    assert done.status == 0, done.errors.decode()
    kernel = kernel_of(document, "vectors")
    assert kernel["whole"] and kernel["total"]["loads"] == {"global": 512}


def test_a_copy_of_a_size_that_only_the_run_knows_is_said(once):
    """Its bytes are in no sum, and the report does not keep that to itself."""
    before = ("kernel void copied(global const float *in, global float *out, int n)\n{\n"
              "    float a[16], b[16];\n    int i = get_global_id(0);\n"
              "    for (int k = 0; k < 16; k++)\n        a[k] = in[(i + k) & 15], b[k] = 0;\n"
              "    __builtin_memcpy(b, a, (n & 15) * sizeof(float));\n    out[i] = b[i & 15];\n}\n")
    done, document = once.blocks(KERNELS, "", "copied", "7", "64", "0", *words_of(["vectors"]), COUNTED_SOURCE=before)
    copied, vectors = kernel_of(document, "copied"), kernel_of(document, "vectors")
    assert copied["whole"] and copied["total"]["unsized_copies"] == 64
    assert vectors["total"]["unsized_copies"] == 0
    assert said(done).count("copies had a size that is known at run time only") == 1
    assert "at least these bytes: 64 copies" in said(done)


def test_instructions_that_the_translator_writes_out_are_counted(once):
    """A rotation by a number that the run knows is a function in SPIR-V, with a name that means LLVM's own."""
    before = ("kernel void rotated(global const uint *in, global uint *out, int n)\n{\n"
              "    int i = get_global_id(0);\n    out[i] = rotate(in[i], (uint)n) + ((in[i] << (n & 31)) | "
              "(in[i] >> (32 - (n & 31))));\n}\n")
    words = [KERNELS, "", "rotated", "5", "64", "0"]
    native = once.native(*words, COUNTED_SOURCE=before)
    done, document = once.blocks(*words, COUNTED_SOURCE=before)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "rotated")
    assert kernel["whole"] and at(kernel["total"], "stores.global") == 64


def test_what_older_translators_do_not_know_is_avoided(once):
    """A quotient with its remainder is a `freeze`, a switch over two bits an integer of two bits."""
    before = ("kernel void frozen(global const int *in, global int *out, int n)\n{\n"
              "    int i = get_global_id(0), sum = 0;\n    for (int k = 1; k < n; k++)\n"
              "        sum += in[i] / (in[k] + 100) + in[i] % (in[k] + 100);\n"
              "    switch (i & 3) {\n    case 0: sum += 7; break;\n    case 1: sum *= in[1]; break;\n"
              "    case 2: sum ^= in[2]; break;\n    default: sum = ~sum; break;\n    }\n    out[i] = sum;\n}\n")
    words = [KERNELS, "", "frozen", "9", "64", "0"]
    native = once.native(*words, COUNTED_SOURCE=before)
    done, document = once.blocks(*words, COUNTED_SOURCE=before)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    assert kernel_of(document, "frozen")["whole"]


def test_images_are_read_and_counted(once):
    before = ("kernel void image(read_only image2d_t in, global float *out, int n)\n{\n"
              "    const sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
              "    int i = get_global_id(0);\n    float sum = 0;\n    for (int k = 0; k < n; k++)\n"
              "        sum += read_imagef(in, near, (int2)(k, i)).x;\n    out[i] = sum;\n}\n")
    words = [KERNELS, "", "image", "5", "64", "0"]
    environment = {"COUNTED_SOURCE": before, "COUNTED_IMAGE": "1"}
    native = once.native(*words, **environment)
    if native.status:
        pytest.skip("this OpenCL has no images")
    done, document = once.blocks(*words, **environment)
    assert done.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "image")
    assert kernel["whole"] and at(kernel["total"], "kinds.image") == 2 * 5 * 64  # with its sampler, and the reading
    assert at(kernel["total"], "stores.global") == 64 and at(kernel["total"], "flops.fp32") == 5 * 64


def test_hundreds_of_blocks_are_told_apart(once):
    """Each work-item below 200 goes a way of its own."""
    cases = "".join(f"    case {k}:\n        out[{k * 37 % 5003}] = x {'+-*^|'[k % 5]} {k + 3};\n        break;\n"
                    for k in range(200))
    before = ("kernel void ways(global const float *in, global int *out, int n)\n{\n"
              f"    int x = get_global_id(0);\n    switch (x) {{\n{cases}    }}\n}}\n")
    words = [KERNELS, "", "ways", "0", "256", "64"]
    native = once.native(*words, COUNTED_SOURCE=before)
    done, document = once.blocks(*words, COUNTED_SOURCE=before)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(document, "ways")
    assert kernel["whole"] and at(kernel["total"], "stores.global") == 200
    assert sum(block["executions"] == 1 for block in kernel["blocks"]) == 200
    check_sums(kernel)


def test_the_folder_of_a_tare_that_was_killed_is_removed_by_the_next(once, tmp_path):
    import signal
    import subprocess
    import time
    environment = {**os.environ, **once.environment}
    long_ago = time.time() - 3600
    foreign = tmp_path / "tare-blocks-of-somebody"
    foreign.mkdir()
    killed = subprocess.Popen([once.tare, "blocks", "--", "sleep", "300"], env=environment, stdin=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        until = time.monotonic() + 60
        children = pathlib.Path(f"/proc/{killed.pid}/task/{killed.pid}/children")
        while not children.read_text(encoding="utf-8") and time.monotonic() < until:
            time.sleep(0.02)
        left = list(tmp_path.glob("tare-blocks-??????"))
        assert len(left) == 1
        os.utime(left[0], (long_ago, long_ago))
        run([once.tare, "blocks", "--", "true"], once.environment)
        assert left[0].exists(), "it was another's, which ran"
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    assert left[0].exists()
    os.utime(left[0])
    run([once.tare, "blocks", "--", "true"], once.environment)
    assert left[0].exists(), "it was too new to be sure"
    (left[0] / "0000000000000001.build").write_bytes(b"left")
    os.utime(left[0], (long_ago, long_ago))
    run([once.tare, "blocks", "--", "true"], once.environment)
    assert not left[0].exists() and foreign.exists()


# ---- what cannot be counted

def not_counted(once, native_same=True, options="", kernels=("vectors",), source=KERNELS, **environment):
    """The one kernel's reason, of a program that ran all the same."""
    words = [source, options, *words_of(kernels)]
    native = once.native(*words, **environment)
    done, document = once.blocks(*words, **environment)
    assert (done.status, native.status) == (0, 0), done.errors.decode()
    assert done.out.startswith(native.out) or not native_same
    kernel = kernel_of(document, kernels[0])
    assert (kernel["launches"], kernel["counted_launches"], kernel["whole"]) == (1, 0, False)
    assert kernel["total"] is None and kernel["blocks"] == []
    assert f"not counted: 1 launch, because {' '.join(kernel['not_counted'].split())}" in said(done)
    return kernel["not_counted"]


def test_a_binary_of_before_is_not_counted(once, tmp_path):
    cache = tmp_path / "cache"
    assert once.native(KERNELS, "", *words_of(["vectors"]), COUNTED_CACHE=str(cache)).status == 0 and cache.exists()
    assert "binary" in not_counted(once, COUNTED_CACHE=str(cache))


def test_a_binary_of_the_first_run_is_counted(once, tmp_path):
    """A program with a cache of kernels builds in the first run and loads what it has built in the second."""
    cache = tmp_path / "cache"
    done, document = once.blocks(KERNELS, "", *words_of(["vectors"]), COUNTED_CACHE=str(cache))
    assert done.status == 0 and cache.exists()
    kernel = kernel_of(document, "vectors")
    assert kernel["whole"] and kernel["total"]["loads"] == {"global": 512}


def test_a_function_that_prints_is_not_counted(once):
    before = '__attribute__((noinline)) static void say(int n) { printf("%d", n); }\nkernel void prints(global int *a) { say(a[0]); }\n'
    assert "printf in a function that was not inlined" in not_counted(once, COUNTED_SOURCE=before)


def test_what_clang_does_not_compile_is_not_counted(once):
    """POCL_DEVICE_ADDRESS_BITS is known to PoCL's own compiler only."""
    before = "#ifndef POCL_DEVICE_ADDRESS_BITS\n#error no PoCL\n#endif\n"
    native = once.native(KERNELS, "", *words_of(["vectors"]), COUNTED_SOURCE=before)
    if native.status:
        pytest.skip("this PoCL does not define POCL_DEVICE_ADDRESS_BITS")
    assert "no PoCL" in not_counted(once, COUNTED_SOURCE=before)


def test_no_clang_is_said_with_what_to_install(once):
    words = not_counted(once, TARE_CLANG="no-such-clang")
    assert re.search(r"install clang-\d+ and llvm-spirv-\d+", words), words


def test_a_header_that_is_gone_after_the_run_is_said(once, tmp_path):
    header = tmp_path / "gone.h"
    program = tmp_path / "with-header"
    program.write_text(f'#!/bin/sh\necho "#define ONE 1" > {header}\n"$@"\nstatus=$?\nrm {header}\nexit $status\n',
                       encoding="utf-8")
    program.chmod(0o755)
    path = tmp_path / "gone.json"
    done = run([once.tare, "blocks", "--json", path, "--", program, COUNTED, KERNELS, f"-I {tmp_path}",
                *words_of(["vectors"])], {**once.environment, "COUNTED_SOURCE": '#include "gone.h"\n'}, cwd=tmp_path)
    assert done.status == 0, done.errors.decode()
    assert "'gone.h' file not found" in kernel_of(validate.load(path), "vectors")["not_counted"]


def translator_that(tmp_path, back):
    """One whose way back from SPIR-V, the last step, does something else."""
    version = next(n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}"))
    path = tmp_path / "translator"
    path.write_text(f'#!/bin/sh\nfor word; do\n[ "$word" = -r ] && {{ {back}; }}\ndone\nexec llvm-spirv-{version} "$@"\n',
                    encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_an_instrumented_module_that_is_not_built_is_said(once, tmp_path):
    """The driver is given text in the place of bitcode."""
    words = not_counted(once, TARE_LLVM_SPIRV=translator_that(tmp_path, 'echo "no bitcode" > "$3"; exit 0'))
    assert "did not build the instrumented module" in words and "the program's own was run" in words


def test_an_instrumented_module_without_the_kernel_is_said(once, tmp_path):
    empty = tmp_path / "empty.cl"
    empty.write_text("kernel void another(global int *a) { a[0] = 1; }\n", encoding="utf-8")
    version = next(n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}"))
    compiled = f'clang-{version} -target spir64 -x cl -cl-std=CL1.2 -c -emit-llvm -o "$3" {empty}; exit $?'
    words = not_counted(once, TARE_LLVM_SPIRV=translator_that(tmp_path, compiled))
    assert "made no kernel of the instrumented module" in words


def test_a_source_that_changes_from_run_to_run_is_not_counted(once, tmp_path):
    """The program puts its process's number into the source."""
    program = tmp_path / "changing"
    program.write_text('#!/bin/sh\nCOUNTED_SOURCE="// $$\n"\nexport COUNTED_SOURCE\nexec "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = tmp_path / "changing.json"
    done = run([once.tare, "blocks", "--json", path, "--", program, COUNTED, KERNELS, "", *words_of(["vectors"])],
               once.environment, cwd=tmp_path)
    assert done.status == 0
    assert "first run" in kernel_of(validate.load(path), "vectors")["not_counted"]


def test_a_program_without_kernels_is_said(once):
    done = run([once.tare, "blocks", "--", "true"], once.environment, cwd=once.folder)
    assert done.status == 125 and b"nothing was counted" in done.errors


def test_input_that_can_be_read_once_is_refused(once):
    reading, writing = os.pipe()
    import subprocess
    done = subprocess.run([once.tare, "blocks", "--", "true"], stdin=reading, capture_output=True, check=False,
                          env={**os.environ, **once.environment}, timeout=60)
    os.close(reading)
    os.close(writing)
    assert done.returncode == 125 and b"read once only" in done.stderr


# ---- against an interpreter

# How oclgrind names what a total has: its lines are "  27648 - load global (110592 bytes)".
ORACLE = {
    "load global": ("loads.global", "loaded_bytes.global"), "store global": ("stores.global", "stored_bytes.global"),
    "load local": ("loads.local", "loaded_bytes.local"), "store local": ("stores.local", "stored_bytes.local"),
}
FLOPS = {"fadd": 1, "fsub": 1, "fmul": 1, "fdiv": 1, "call llvm.fmuladd.f32()": 2, "call llvm.fmuladd.f64()": 2}


def interpreted(command, environment):
    """{kernel: {instruction: (times, bytes)}} by oclgrind."""
    done = run(["oclgrind", "--inst-counts", *command], environment)
    assert done.status == 0, done.errors.decode()
    found = {}
    for line in (done.out + done.errors).decode().splitlines():
        if match := re.match(r"Instructions executed for kernel '(\w+)'", line):
            found[match[1]] = counts = {}
        elif match := re.match(r" +(\d+) - (.+?)(?: \((\d+) bytes\))?$", line):
            counts[match[2]] = (int(match[1]), int(match[3] or 0))
    return found


@pytest.mark.skipif(not shutil.which("oclgrind"), reason="there is no oclgrind")
def test_an_interpreter_counts_the_same(once):
    """Vectors are left out, whose loads are calls there."""
    names = [name for name in LIBRARY if name != "vectors"]
    words = [KERNELS, "", *words_of(names)]
    _, document = once.blocks(*words)
    counts = interpreted([COUNTED, *words], once.environment)
    assert set(counts) == set(names)
    for name in names:
        total = kernel_of(document, name)["total"]
        for line, paths in ORACLE.items():
            assert (at(total, paths[0]), at(total, paths[1])) == counts[name].get(line, (0, 0)), (name, line)
        flops = sum(FLOPS.get(line, 0) * times for line, (times, _) in counts[name].items())
        assert sum(total["flops"].values()) == flops, name


WAYS = """
constant float table[5] = { 1, 2, 3, 4, 5 };
kernel void early(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < i % 5; b++) {
            float x = in[a * 7 + b + i];
            if (x > 11)
                goto found;
            if (x < 1 && in[b + 3] > 2)
                break;
            sum += x;
        }
        if (a == i % 9 || in[i + a] == 12)
            continue;
        sum -= in[a];
    }
found:
    out[i] = sum;
}
kernel void chooses(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float x = in[i];
    switch ((int)in[i] % 6) {
    case 0: x += in[i + 1]; break;
    case 1: x *= table[i % 5];
    case 2: x -= in[i + 2]; break;
    case 4: for (int k = 0; k < i % n; k++) x += in[k]; break;
    default: if (i & 1) return; x = x / 3; }
    out[i] = x;
}
kernel void gathers(global const int *in, global int *out, int n)
{
    local int part[64];
    int l = get_local_id(0), i = get_global_id(0);
    part[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 1; k < n; k++) {
        int other = part[(l + k) & 63];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l & k)
            part[l] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (part[l] & 1)
        atomic_add(&out[l & 3], part[l]);
    else if (l % 3 == 0)
        atomic_inc(&out[4]);
}
kernel void fours(global const float4 *in, global float4 *out, int n)
{
    int i = get_global_id(0);
    float4 sum = in[i];
    for (int k = 0; k < i % n; k++)
        sum = sum * in[k] + sum.wzyx;
    out[i] = sum;
}
"""


@pytest.mark.skipif(not shutil.which("oclgrind"), reason="there is no oclgrind")
def test_an_interpreter_takes_the_same_ways(once, tmp_path):
    """Early exits, switches, conditions that are not asked, local memory, atomics and vectors."""
    (tmp_path / "ways.cl").write_text(WAYS, encoding="utf-8")
    names = ["early", "chooses", "gathers", "fours"]
    words = [tmp_path / "ways.cl", "", *(word for name in names for word in (name, "6", "256", "64"))]
    _, document = once.blocks(*words)
    counts = interpreted([COUNTED, *words], once.environment)
    assert at(kernel_of(document, "gathers")["total"], "kinds.atomic") > 0
    for name in names:
        total, calls = kernel_of(document, name)["total"], counts[name]
        assert kernel_of(document, name)["whole"]
        for line, paths in ORACLE.items():
            assert (at(total, paths[0]), at(total, paths[1])) == calls.get(line, (0, 0)), (name, line)
        for kind, part in (("kinds.barrier", "barrier"), ("kinds.atomic", "atomic_")):
            assert at(total, kind) == sum(times for line, (times, _) in calls.items()
                                          if line.startswith("call ") and part in line), (name, kind)
