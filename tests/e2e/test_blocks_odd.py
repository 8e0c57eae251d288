# SPDX-License-Identifier: Apache-2.0
"""tare blocks where programs do what few do: odd kernels, launches, queues and memory, languages, tools that are not
what they should be. What can be counted is, the rest has its reason, and results are the program's own."""
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import PROGRAMS, SANITIZED, built, run  # noqa: E402, F401
from test_blocks import KERNELS as LIBRARY  # noqa: E402
from test_blocks import TOOLS, at, check_sums, kernel_of, once, said, words_of  # noqa: E402, F401

ODD = PROGRAMS / "counted_odd"
KERNELS = pathlib.Path(__file__).parents[1] / "programs/counted_odd.cl"
SIZE, GROUP, N = 4096, 16, 5
FEW = "-DFEW"  # of the kernels, which are built sooner
USUAL = ["plain", "with_local", "required", "threes", "halves", "atomics", "long_loop", "ways", "inner", "outer", "groups"]

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]


class Odd:
    def __init__(self, tare, folder, cache):  # noqa: F811
        self.tare, self.folder = tare, folder
        self.environment = {"POCL_CACHE_DIR": str(cache), "POCL_DEVICES": "pthread", "TMPDIR": str(folder)}

    def native(self, *ways, options=""):
        return run([ODD, KERNELS, f"-DSIZE={SIZE} {options}", *ways], self.environment, cwd=self.folder)

    def blocks(self, *ways, options="", extra=(), before=(), **environment):
        path = self.folder / "odd.json"
        path.unlink(missing_ok=True)
        done = run([self.tare, "blocks", *extra, "--json", path, "--", *before, ODD, KERNELS, f"-DSIZE={SIZE} {options}", *ways],
                   {**self.environment, **environment}, cwd=self.folder)
        document = validate.load(path) if path.exists() else None
        assert document is None or validate.faults(document) == []
        return done, document

    def same(self, *ways, options="", extra=()):
        """The document of a run whose program printed what it prints natively."""
        native = self.native(*ways, options=options)
        done, document = self.blocks(*ways, options=options, extra=extra)
        assert (done.status, native.status) == (0, 0), done.errors.decode()
        assert done.out.startswith(native.out), "the program's own output is another"
        return document


@pytest.fixture
def odd(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Odd(tare_path, tmp_path, kernel_cache)


def loops_of(kernel):
    return [(loop["entries"], loop["turns"]) for loop in kernel["loops"]]


@pytest.mark.parametrize("options", ["", "-cl-std=CL3.0"])
def test_odd_kernels_are_counted(odd, options):
    """Loops whose end the optimiser knows as a formula, vectors of three and structures, halves, atomics, loops of 64
    bits, jumps, kernels that call kernels, local memory as an argument; with 3.0 the device's features are asked for."""
    document = odd.same(*USUAL, options=options)
    kernels = {name: kernel_of(document, name) for name in USUAL}
    for kernel in kernels.values():
        assert kernel["whole"] and kernel["work_items"] == SIZE, kernel
        check_sums(kernel)
    assert loops_of(kernels["plain"]) == [(SIZE, N * SIZE)] == loops_of(kernels["threes"])
    assert loops_of(kernels["long_loop"]) == [(SIZE, 4 * N * SIZE)]
    assert at(kernels["atomics"]["total"], "kinds.atomic") == 2 * SIZE + sum(i % 3 != 0 for i in range(SIZE))
    turns = sum(i % N for i in range(SIZE))
    assert loops_of(kernels["inner"]) == [(sum(i % N != 0 for i in range(SIZE)), turns)]
    odd_turns = sum(i % N for i in range(1, SIZE, 2)), sum(i % (N + 1) for i in range(SIZE))
    assert sorted(turns for _, turns in loops_of(kernels["outer"])) == sorted(odd_turns)
    assert at(kernels["halves"]["total"], "stores.global") == SIZE


def test_doubles_are_counted(odd):
    document = odd.same("doubles")
    total = kernel_of(document, "doubles")["total"]
    assert total["flops"]["fp64"] >= 2 * N * SIZE and at(total, "kinds.special function") == N * SIZE


def test_odd_launches_are_counted(odd):
    """Two contexts, no work, sizes that are refused, offsets, sub-buffers, shared memory, queues without an order."""
    document = odd.same("no-work", "uneven", "out-of-order", "sub-buffer", "shared", "contexts")
    plain, groups, atomics = (kernel_of(document, name) for name in ("plain", "groups", "atomics"))
    assert plain["whole"] and groups["whole"] and atomics["whole"]
    assert (atomics["launches"], atomics["work_items"]) == (8, 8 * 256)
    assert at(plain["total"], "loads.global") == plain["work_items"] and plain["work_items"] % SIZE in (0, 512, 1024)
    assert plain["work_items"] >= 2 * SIZE + 512


@pytest.mark.parametrize("others", [(), ("plain",)])
def test_command_buffers_are_said(odd, others):
    """What is launched otherwise is counted."""
    native = odd.native("command-buffer", *others)
    if b"command buffer: none" in native.out:
        pytest.skip("the driver has no command buffers")
    done, document = odd.blocks("command-buffer", *others)
    assert native.status == 0 and done.out.startswith(native.out)
    if not others:
        assert done.status == 125 and document is None
        assert b"what it launches by these is not seen; it launched no kernel otherwise" in done.errors
        return
    assert done.status == 0 and document["command_buffers"] is True and document["launches"] == document["counted_launches"] == len(others)
    assert "not counted: what the program launches by command buffers" in done.out.decode() + done.errors.decode()
    assert [kernel["name"] for kernel in document["kernels"] if kernel["launches"]] == list(others)


def test_a_sample_changes_no_odd_result(odd):
    document = odd.same("threes", "atomics", "ways", "outer", "groups", extra=["--sample"])
    assert all(kernel["whole"] for kernel in document["kernels"])


def test_work_of_no_size_is_told_without_figures(odd):
    native = odd.native("no-work", options=FEW)
    if b"no work: 0" not in native.out:
        pytest.skip("this driver refuses launches of no work-items")
    document = odd.same("no-work", options=FEW)
    plain = kernel_of(document, "plain")
    assert (plain["work_items"], plain["total"]["instructions"], plain["blocks"]) == (0, 0, [])


def test_a_program_that_is_killed_in_the_run_that_counts_leaves_what_was_counted(odd):
    killer = odd.folder / "killer"
    killer.write_text('#!/bin/sh\n[ "$TARE_BLOCKS_STAGE" = count ] || exec "$@"\nexec "$@" killed\n', encoding="utf-8")
    killer.chmod(0o755)
    done, document = odd.blocks("plain", options=FEW, extra=["--times"], before=[killer])
    assert done.status == 128 + 9 or done.status == -9
    plain = kernel_of(document, "plain")
    assert plain["time"]["why"] == "a signal ended the program: it is not run again to be sampled"
    assert plain["whole"] and plain["launches"] == 2


def test_a_sampled_run_that_ends_otherwise_gives_no_times(odd):
    """The program fails in its fourth run, which is the sampled one: that was of other work."""
    script = odd.folder / "script"
    script.write_text(f'#!/bin/sh\necho >>{odd.folder}/runs\n"$@"\n[ "$(wc -l <{odd.folder}/runs)" != 4 ] || exit 3\n',
                      encoding="utf-8")
    script.chmod(0o755)
    done, document = odd.blocks("plain", options=FEW, extra=["--times"], before=[script])
    time = kernel_of(document, "plain")["time"]
    assert done.status == 0 and time["why"] and time["samples"] is None
    if "ended otherwise" not in time["why"]:
        pytest.skip(time["why"])
    assert time["why"].endswith("its kernels built with -g, the program ended otherwise, with exit status 3")
    assert f"time: n/a, because {time['why']}" in said(done)


def test_a_program_that_is_killed_in_both_runs_is_said(odd):
    done, document = odd.blocks("killed", options=FEW)
    assert done.status in (128 + 9, -9) and document is None
    assert b"a signal ended the first of the program's two runs" in done.errors


def test_inline_assembly_is_said(odd):
    done, document = odd.blocks("assembled", options=f"{FEW} -DASSEMBLY", extra=["--gains"])
    kernel = kernel_of(document, "assembled")
    assert done.status == 0 and (kernel["launches"], kernel["counted_launches"]) == (1, 0)
    assert "inline assembly" in kernel["not_counted"]
    assert b"--gains: no kernel was counted, so that there is no finding to measure" in done.errors


PARTS = {"two-parts": "of_two", "library": "of_library", "told": "of_told", "headers": "of_header", "strings": "of_strings"}


def files_of(kernel):
    """The lines that ran, by what the report calls their file."""
    files = {}
    for line in kernel["lines"]:
        if line["line"]:
            files.setdefault(line["file"], set()).add(line["line"])
    return files


def test_programs_of_parts_are_counted(odd):
    """Parts with options and versions of their own, a library, a kernel that is taken in the callback of linking, headers that are programs, one source in several strings,
    a file by -I. A part that clang does not compile is said."""
    (odd.folder / "folder").mkdir()
    (odd.folder / "folder/disk.h").write_text("#define BY 3\nint by(int x)\n{\n\treturn x * BY;\n}\n", encoding="utf-8")
    source = odd.folder / "small.cl"
    source.write_text('#include "disk.h"\nkernel void plain(global int *out, int n)\n{\n'
                      "\tfor (int k = 0; k < n; k++)\n\t\tout[get_global_id(0)] += by(k);\n}\n", encoding="utf-8")
    lister = script(odd.folder / "lister", f'[ "$TARE_BLOCKS_STAGE" = count ] && ls "$TARE_BLOCKS" > "{odd.folder}/names"\nexec "$@"')
    words = [lister, ODD, source, f"-I {odd.folder}/folder", "plain", "refused-part", *PARTS]
    native = run(words, odd.environment, cwd=odd.folder)
    if b"two parts: 0\n" not in native.out or b"library: 0\nlibrary: 0\n" not in native.out:
        pytest.skip("this driver does not link them")
    path = odd.folder / "parts.json"
    done = run([odd.tare, "blocks", "--json", path, "--", *words], odd.environment, cwd=odd.folder)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    document = validate.load(path)
    assert validate.faults(document) == []
    turns = sum(i % N for i in range(256))
    for way, name in PARTS.items():
        kernel = kernel_of(document, name)
        assert kernel["whole"] and kernel["not_counted"] is None, (way, kernel["not_counted"])
        check_sums(kernel)
        assert (at(kernel["total"], "loads.global"), at(kernel["total"], "stores.global")) == (turns, 256), way
        assert [turns for _, turns in loops_of(kernel)] == [turns]
    loop, call = {4, 5}, {4, 5}
    for name, callee, caller in (("of_two", "part 2", "part 1"), ("of_library", "part 2", "part 1"), ("of_told", "part 2", "part 1"),
                                 ("of_header", "with/helper.h", None)):
        files = files_of(kernel_of(document, name))
        assert set(files) == {callee, caller} and files[callee] >= loop and files[caller] >= call, (name, files)
    assert files_of(kernel_of(document, "of_strings"))[None] >= {4, 5, 8 + 4}
    plain = files_of(kernel_of(document, "plain"))
    assert set(plain) == {None, f"{odd.folder}/folder/disk.h"} and plain[f"{odd.folder}/folder/disk.h"] == {4}
    # Programs of which no kernel is launched: each test program's own, and the first one of "told"; but no library.
    names = (odd.folder / "names").read_text(encoding="utf-8").split()
    taken = {f"{kernel['build']['hash']}.build" for kernel in document["kernels"]}
    assert len({name for name in names if name.endswith(".build")} - taken) == 2, (names, taken)
    refused = kernel_of(document, "of_refused")
    assert (refused["launches"], refused["counted_launches"]) == (1, 0) and "error: no PoCL" in refused["not_counted"]
    assert "part 2: sum += at[4096 + k];" in done.out.decode() and "with/helper.h: sum += at[4096 + k];" in done.out.decode()


@pytest.mark.parametrize("limits, counted, said", [
    ("16384 1024", ["plain"], "take all of the 64 MiB that those of a process may"),
    ("64000000 2", ["plain"], "1 launch of kernels beyond the 1024 of a process"),
    ("0 0", None, "there was no room for counts in")])
def test_room_that_is_not_there_is_said(odd, limits, counted, said):
    """What fits is counted, the rest is told, and the program gets its results. (A kernel that is never launched is the first.)"""
    native = odd.native("plain", "atomics", options=FEW)
    done, document = odd.blocks("plain", "atomics", options=FEW, TARE_BLOCKS_LIMITS=limits)
    assert done.out.startswith(native.out) and said in " ".join((done.out + done.errors).decode().split())
    if counted is None:
        assert done.status == 125 and document is None
        return
    assert done.status == 0 and document["launches"] == 2 and document["counted_launches"] == 1
    assert [kernel["name"] for kernel in document["kernels"] if kernel["whole"]] == counted


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_clang_that_is_too_old_says_what_it_does_not_know(odd):
    old = script(odd.folder / "clang-old",
                 'echo "clang version 11.0.0"\necho "error: unknown argument: \'-finclude-default-header\'" >&2\nexit 1')
    done, document = odd.blocks("plain", options=FEW, TARE_CLANG=old)
    why = kernel_of(document, "plain")["not_counted"]
    assert done.status == 0 and "clang-old failed: error: unknown argument: '-finclude-default-header'" in why


@pytest.mark.parametrize("text, said", [
    ("echo 'InvalidModule: what is this?' >&2; exit 2", "translator failed: InvalidModule: what is this?"),
    ("exit 3", "translator ended with status 3 and said nothing"), ("exit 0", "translator ended well, but wrote no module")])
def test_a_translator_that_fails_is_said(odd, text, said):
    done, document = odd.blocks("plain", options=FEW, TARE_LLVM_SPIRV=script(odd.folder / "translator", text))
    kernel = kernel_of(document, "plain")
    assert done.status == 0 and done.out.startswith(b"plain: ")
    assert (kernel["launches"], kernel["counted_launches"]) == (1, 0) and said in kernel["not_counted"]


def test_parts_that_are_optimised_less_and_headers_without_room_are_said(odd):
    """The translator refuses what comes the short way; HEADERS that are empty are those for which the disk had no room."""
    versions = [n for n in range(11, 40) if shutil.which(f"llvm-spirv-{n}") and shutil.which(f"clang-{n}")]
    if len(versions) > 1:
        pytest.skip("which of several translators is taken depends on the driver")
    translator = script(odd.folder / "translator", "case $1 in\n*.legal.bc) ;;\n*.bc) echo 'error: no' >&2; exit 1 ;;\nesac\n"
                        f'exec llvm-spirv-{versions[0]} "$@"')
    full = script(odd.folder / "full", '"$@"\nstatus=$?\nfor file in "$TARE_BLOCKS"/*.headers; do : > "$file"; done\nexit $status')
    done, document = odd.blocks("two-parts", "headers", options=FEW, before=[full], TARE_LLVM_SPIRV=translator)
    if b"two parts: 0\n" not in done.out:
        pytest.skip("this driver does not link them")
    assert kernel_of(document, "of_two")["build"]["optimised"] == "-O1 (at -O2 it is not translated); 2 parts joined"
    assert "there was no room in $TMPDIR" in kernel_of(document, "of_header")["not_counted"]


def test_only_old_tools_are_as_none(odd):
    tools = odd.folder / "old-tools"
    tools.mkdir()
    for name in ("clang-10", "llvm-spirv-10"):
        script(tools / name, "exit 0")
    done, document = odd.blocks("plain", options=FEW, PATH=str(tools))
    why = kernel_of(document, "plain")["not_counted"]
    assert done.status == 0 and "there is no clang with an llvm-spirv of the same version" in why and "install clang-" in why


def test_a_thousand_blocks_are_told_apart(odd):
    cases = "".join(f"\tcase {k}: out[{k * 37 % 5003}] = x {'+-*^|'[k % 5]} {k + 3}; break;\n" for k in range(1000))
    source = odd.folder / "thousand.cl"
    source.write_text(f"kernel void plain(global int *out, int n)\n{{\n\tint x = get_global_id(0);\n\tswitch (x) {{\n{cases}\t}}\n}}\n",
                      encoding="utf-8")
    # Built without optimisation, which of so many blocks takes long.
    words = [ODD, source, "-cl-opt-disable", "plain"]
    native = run(words, odd.environment, cwd=odd.folder)
    path = odd.folder / "thousand.json"
    done = run([odd.tare, "blocks", "--json", path, "--", *words], odd.environment, cwd=odd.folder)
    assert done.status == native.status == 0 and done.out.startswith(native.out)
    kernel = kernel_of(validate.load(path), "plain")
    assert kernel["whole"] and at(kernel["total"], "stores.global") == 1000
    assert sum(block["executions"] == 1 for block in kernel["blocks"]) == 1000


def test_one_run_counts_nothing_and_says_why(once):  # noqa: F811
    done, document = once.blocks(LIBRARY, "", *words_of(["vectors"]), options=["--once"])
    assert "0 of 1 launch counted run once, " in said(done) and "run twice" not in said(done)
    assert document["plain_ns"] is None and document["counted_ns"] > 0, "there was one run"
    assert kernel_of(document, "vectors")["not_counted"] == \
        "counting takes a second run of the program: leave out --once"
