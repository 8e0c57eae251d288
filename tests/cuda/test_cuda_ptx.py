# SPDX-License-Identifier: Apache-2.0
"""tare blocks --ptx on CUDA programs that bring PTX, on the stand-ins for the driver and CUPTI: the driver is given a text
with counters, what it counts comes out, and whatever fails the program has its own."""
import json
import os
import pathlib
import sys
import time

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e")]
from cuda_programs import STREAMS  # noqa: E402
from recorded import run  # noqa: E402
from test_cuda_samples import On  # noqa: E402

# Of a launch of streams.c.
WORK_ITEMS = 2 * 64
COUNTED = "tare0_"
BRINGS = pathlib.Path(STREAMS).parent / "brings"
KINDS = ("ptx", "fat_binaries", "machine_code", "linked", "other")


class Ptx(On):
    def __init__(self, tare, folder):
        super().__init__(tare, folder)
        self.environment["TARE_CUOBJDUMP"] = str(HERE / "cuobjdump.py")

    def count(self, *styles, status=0, options=("--ptx",), program=STREAMS, **environment):
        environment = {**self.environment, "TARE_FAKE_CUDA_TEXTS": str(self.folder / "texts"), **environment}
        native = run([program, *styles], environment, cwd=self.folder)
        (self.folder / "texts").write_text("")
        done = run([self.tare, "blocks", *options, "--json", "o.json", "--", program, *styles], environment,
                   cwd=self.folder)
        self.text, self.said = done.out.decode(), done.errors.decode()
        self.texts = (self.folder / "texts").read_text()
        assert done.status == native.status == status, self.said
        assert done.out.startswith(native.out)
        self.report = json.loads((self.folder / "o.json").read_text())
        return {each["name"]: each for each in self.report["kernels"]}


@pytest.fixture
def on(tare_path, tmp_path):
    return Ptx(tare_path, tmp_path)


def whole(kernel, launches):
    assert (kernel["launches"], kernel["counted_launches"], kernel["unread_launches"]) == (launches, launches, 0)
    assert kernel["not_counted"] is None and kernel["whole"] and kernel["work_items"] == launches * WORK_ITEMS


def test_the_driver_is_given_a_text_with_counters(on):
    kernels = on.count("kernels=9")
    whole(kernels["empty"], 5)
    whole(kernels["other"], 4)
    # Once in each run the program's own, and in the second ours: tried, then in its place.
    assert on.texts.count(".version") == 3 and on.texts.count(f"{COUNTED}counters_empty[") in (0, 2)
    assert COUNTED in on.texts


def test_what_a_process_does_not_unload_is_read_as_it_ends(on):
    whole(on.count("kernels=9", "leaves")["empty"], 5)


def test_counts_that_nobody_could_read_are_said(on):
    kernel = on.count("quits=4", status=9)["empty"]
    assert kernel["unread_launches"] == kernel["launches"] == 3 and not kernel["whole"]
    assert "before it was sure that the counts of 3 launches had been read" in on.text


def test_a_text_that_the_driver_does_not_take_is_not_given(on):
    kernel = on.count("kernels=9", TARE_FAKE_CUDA_REFUSES=COUNTED)["empty"]
    assert kernel["counted_launches"] == 0 and "did not build the instrumented module" in kernel["not_counted"]
    assert "(CUDA error 218)" in kernel["not_counted"]


def test_a_kernel_that_never_ends_does_not_keep_the_program(on):
    begun = time.monotonic()
    kernels = on.count("hangs", TARE_FAKE_CUDA="hang_launch=2")
    # Natively and in the first run it ends at once; in the second after the limit.
    assert time.monotonic() - begun < 60
    assert "could not be read" in kernels["empty"]["not_counted"] and kernels["empty"]["counted_launches"] == 0


def test_the_child_of_a_fork_leaves_the_parents_counts_alone(on):
    whole(on.count("forks=4")["empty"], 4)


def test_an_open_capture_is_not_broken(on):
    kernel = on.count("captures_on=4")["empty"]
    assert kernel["counted_launches"] == 0 and "a stream was capturing" in kernel["not_counted"]


@pytest.mark.parametrize("words, why", [("taken", "has CUPTI"), ("none", "no CUPTI")])
def test_why_nothing_was_seen(on, words, why):
    environment = {**on.environment, **({"TARE_FAKE_CUPTI": "holder=other"} if words == "taken"
                                        else {"TARE_CUPTI_LIBRARY": "/nonexistent"})}
    done = run([on.tare, "blocks", "--ptx", "--", STREAMS, "kernels=9"], environment, cwd=on.folder)
    assert done.status == 125, done
    assert why in done.errors.decode() and "launched no kernel" not in done.errors.decode()


def brought(on):
    return {kind: on.report[f"cuda_{kind}"] for kind in KINDS if on.report[f"cuda_{kind}"]}


@pytest.mark.parametrize("way", ["data", "file", "library", "library_file"])
def test_a_text_is_counted_however_it_comes(on, way):
    whole(on.count(f"{way}=3", program=BRINGS)["branches"], 3)
    assert COUNTED in on.texts and brought(on) == {"ptx": 1}
    assert "modules that the program loaded into CUDA: 1 of PTX\n" in on.text
    assert not list((on.folder / "tmp").iterdir()), "what was written for the driver is gone"


@pytest.mark.parametrize("way, kind, words", [
    ("fat_odd", "fat_binaries", "in a fat binary of a kind"), ("fat_large", "fat_binaries", "more than 64 MiB"),
    ("fat_cut", "fat_binaries", "in a fat binary of a kind"), ("fat_pointer", "fat_binaries", "in a fat binary of a kind"),
    ("fat_linked", "fat_binaries", "was linked of several"),
    ("code", "machine_code", "it came as machine code"), ("linked", "linked", "cuLinkComplete made its machine code")])
def test_what_is_no_text_is_named_as_what_it_is(on, way, kind, words):
    kernel = on.count("+sm_80", f"{way}=3", program=BRINGS)["branches"]
    assert (kernel["launches"], kernel["counted_launches"]) == (3, 0) and words in kernel["not_counted"]
    assert "--exact" in kernel["not_counted"]
    # The linker is given the program's own, for it may keep what it gets.
    assert brought(on) == {kind: 1} and COUNTED not in on.texts


def test_modules_are_counted_by_kinds(on):
    kernels = on.count("data=1", "fat=1", "fat_call=1", "linked=1", "code=2", program=BRINGS)
    assert brought(on) == {"ptx": 1, "fat_binaries": 2, "linked": 1, "machine_code": 1}
    assert "1 of PTX, 2 fat binaries, 1 of machine code, 1 linked by cuLink\n" in on.text
    assert set(kernels) == {"branches"}


def test_a_text_for_a_file_that_the_driver_does_not_take_is_not_given(on):
    kernel = on.count("file=3", program=BRINGS, TARE_FAKE_CUDA_REFUSES=COUNTED)["branches"]
    assert kernel["counted_launches"] == 0 and "(CUDA error 218)" in kernel["not_counted"]


def test_launches_of_a_graph_are_launches_of_its_kernels(on):
    kernels = on.count("graph=3", program=BRINGS)
    whole(kernels["branches"], 6)
    whole(kernels["other"], 3)
    assert on.report["cuda_graph_launches"] == 0


def test_what_is_captured_and_not_launched_is_no_launch(on):
    kernels = on.count("data=1", "graph_unlaunched", program=BRINGS)
    whole(kernels["branches"], 1)
    assert "other" not in kernels


def test_a_node_that_is_set_to_other_work_is_counted_as_that(on):
    kernel = on.count("graph_set=2", program=BRINGS)["branches"]
    assert (kernel["launches"], kernel["counted_launches"]) == (4, 4) and kernel["whole"]
    assert kernel["work_items"] == 2 * WORK_ITEMS + 2 * WORK_ITEMS // 2


def test_a_graph_that_is_not_followed_is_told(on):
    kernels = on.count("data=1", "graph_enabled=2", program=BRINGS)
    assert on.report["cuda_graph_launches"] == 2
    assert "not counted: 2 launches of CUDA graphs" in on.text
    assert kernels["branches"]["launches"] == 1


def test_a_program_of_graphs_that_are_not_followed_launches_kernels(on):
    on.count("graph_enabled=1", program=BRINGS)
    assert "not counted: 1 launch of CUDA graphs" in on.text and on.report["launches"] == 1


@pytest.mark.parametrize("way", ["fat", "fat_call", "fat_file", "fat_library"])
def test_ptx_of_a_fat_binary_is_counted_however_it_comes(on, way):
    kernel = on.count("+sm_70", f"{way}=3", program=BRINGS)["branches"]
    whole(kernel, 3)
    assert COUNTED in on.texts and brought(on) == {"fat_binaries": 1}
    assert kernel["build"]["language"] == "PTX" and "PTX for sm_70 of the fat binary" in kernel["build"]["optimised"]
    assert "may differ from those without counters in the last bit: the driver compiled it from PTX" in on.text
    assert not list((on.folder / "tmp").iterdir())


# The device is of 9.0.
@pytest.mark.parametrize("held, taken", [
    (["sm_75", "sm_80", "sm_70"], "sm_80"), (["sm_80", "sm_100"], "sm_80"), (["sm_80", "sm_80a"], "sm_80"),
    (["sm_90", "sm_90a"], "sm_90a"), (["sm_120a", "sm_75"], "sm_75"),
    # Machine code of its own architecture, and such as does not run there.
    (["elf_sm_90", "sm_90"], "sm_90"), (["elf_sm_86", "sm_80", "elf_sm_100"], "sm_80")])
def test_the_highest_architecture_that_the_device_runs_is_taken(on, held, taken):
    kernel = on.count(*(f"+{each}" for each in held), "fat=2", program=BRINGS)["branches"]
    whole(kernel, 2)
    assert f"PTX for {taken} of" in kernel["build"]["optimised"]
    texts = [text for text in on.texts.split(".version")[1:] if COUNTED in text]
    assert texts and all(f".target {taken}\n" in text for text in texts)


@pytest.mark.parametrize("held, words", [
    ([], "without PTX, which has machine code only: build it with nvcc -gencode arch=compute_90,code=compute_90"),
    (["sm_100", "sm_80a"], "with PTX for other devices only: build it with nvcc -gencode arch=compute_90"),
    (["sm_80", "elf_sm_90"], "machine code for sm_90, which runs without counters, and PTX for sm_80 only"),
    (["sm_80", "sm_80"], "several texts of PTX for sm_80"), (["sm_80/-maxrregcount=40"], "with -maxrregcount=40"),
    (["sm_80", "sm_90/-O0"], "with -O0")])
def test_a_fat_binary_whose_ptx_is_not_taken_says_why(on, held, words):
    kernel = on.count(*(f"+{each}" for each in held), "fat=3", program=BRINGS)["branches"]
    assert (kernel["launches"], kernel["counted_launches"]) == (3, 0)
    assert words in kernel["not_counted"] and "--exact" in kernel["not_counted"]
    assert COUNTED not in on.texts


def test_options_that_change_nothing_are_none(on):
    whole(on.count("+sm_80/-lineinfo", "fat=1", program=BRINGS)["branches"], 1)


def test_without_cuobjdump_a_fat_binary_is_not_counted(on):
    kernel = on.count("+sm_80", "fat=3", program=BRINGS, TARE_CUOBJDUMP="/nonexistent")["branches"]
    assert kernel["counted_launches"] == 0 and COUNTED not in on.texts
    assert "NVIDIA's cuobjdump, which comes with the CUDA toolkit and unpacks it, was not found" in kernel["not_counted"]


def tool(on, text):
    path = on.folder / "cuobjdump"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("text, words", [
    ("echo 'cuobjdump fatal: no such thing'; exit 1", "cuobjdump failed: cuobjdump fatal: no such thing"),
    ("kill -9 $$", "cuobjdump crashed (signal 9) at what the program was built from"), ("exit 3", "cuobjdump ended with status 3"),
    ("echo 'cuobjdump info : No PTX file found'; exit 255", "without PTX, which has machine code only"),
    ("exit 0", "without PTX, which has machine code only"),
    ("echo .version 6.0 > a.1.sm_80.ptx", "did not say how a.1.sm_80.ptx is to be compiled"),
    ("echo odd > a.1.sm_80.ptx; echo '1: a.1.sm_80.ptx -arch=sm_80'", "a.1.sm_80.ptx, which is no PTX")])
def test_a_cuobjdump_that_fails_is_told(on, text, words):
    kernel = on.count("fat=1", program=BRINGS, TARE_CUOBJDUMP=tool(on, f"#!/bin/sh\n{text}\n"))["branches"]
    assert kernel["counted_launches"] == 0 and words in kernel["not_counted"]
    assert "llvm-spirv" not in kernel["not_counted"]


def test_a_cuobjdump_that_hangs_is_ended(on):
    hung = tool(on, "#!/bin/sh\nexec sleep 600\n")
    kernel = on.count("fat=1", program=BRINGS, TARE_CUOBJDUMP=hung, TARE_BLOCKS_TOOL_LIMIT="1")["branches"]
    assert kernel["counted_launches"] == 0 and "cuobjdump did not end within 1 s" in kernel["not_counted"]


@pytest.mark.parametrize("where", ["named", "path"])
def test_cuobjdump_is_found_where_the_user_has_it(on, where):
    (on.folder / "cuobjdump").symlink_to(HERE / "cuobjdump.py")
    environment = {"TARE_CUOBJDUMP": "./cuobjdump"} if where == "named" else {
        "TARE_CUOBJDUMP": "", "PATH": f"{on.folder}:{os.environ['PATH']}"}
    whole(on.count("+sm_80", "fat=1", program=BRINGS, **environment)["branches"], 1)


def test_a_fat_binary_that_the_driver_does_not_take_with_counters_is_the_programs_own(on):
    kernel = on.count("+sm_80", "fat_library=3", program=BRINGS, TARE_FAKE_CUDA_REFUSES=COUNTED)["branches"]
    assert kernel["counted_launches"] == 0 and "(CUDA error 218)" in kernel["not_counted"]


def test_ptx_that_calls_what_another_part_has_is_not_counted(on):
    away = tool(on, "#!/bin/sh\nprintf '.version 7.0\\n.target sm_80\\n.address_size 64\\n.extern .func far;\\n"
                ".visible .entry branches(.param .u64 out)\\n{\\ncall far;\\nret;\\n}\\n' > a.1.sm_80.ptx\n"
                "echo '1: a.1.sm_80.ptx -arch=sm_80'\n")
    kernel = on.count("fat=1", program=BRINGS, TARE_CUOBJDUMP=away, TARE_FAKE_CUDA_REFUSES=".func far")["branches"]
    assert kernel["counted_launches"] == 0 and "did not build the instrumented module" in kernel["not_counted"]
