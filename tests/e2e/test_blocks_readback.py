# SPDX-License-Identifier: Apache-2.0
"""tare blocks on devices that are no CPUs: counters are in the memory of the device and are read back. PoCL's devices,
and ze-cpu's, are taken for such; the counts of the library stay the closed forms, also where they are added by words of
32 bits, from a number at which the low word soon wraps. What was not read is said."""
import pathlib
import shutil
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import PROGRAMS, SANITIZED, built, run  # noqa: E402, F401
from test_blocks import KERNELS, LIBRARY, TOOLS, at, check_sums, items_of, kernel_of, once, said, words_of  # noqa: E402, F401
from test_blocks_levelzero import DRIVER, PROGRAM, spirv_of  # noqa: E402
from test_blocks_levelzero import words_of as words_of_levelzero  # noqa: E402
from test_blocks_odd import Odd  # noqa: E402

FAR = PROGRAMS / "counted_far"
# The low word of each counter wraps with its 6th addition of 1, and at each of a work-item that has none of what is
# expected of it.
SOON = "no-int64-atomics from=4294967290"
DEVICES = ["far", f"far {SOON}"]
ITEMS = 64  # of a launch of counted_far, each with one atomic addition

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]
LEVEL_ZERO = pytest.mark.skipif(not PROGRAM.exists(), reason="there is no Level Zero loader to link with")


def check_library(document, times=1):
    assert document["launches"] == document["counted_launches"] == times * len(LIBRARY)
    for name, (sizes, expected) in LIBRARY.items():
        kernel = kernel_of(document, name)
        assert kernel["whole"] and kernel["read_back"] and kernel["unread_launches"] == 0, name
        assert kernel["work_items"] == times * items_of(sizes)
        assert {path: at(kernel["total"], path) for path in expected} == \
            {path: times * number for path, number in expected.items()}, name
        check_sums(kernel)


@pytest.mark.parametrize("device", DEVICES)
def test_counts_are_the_closed_forms(once, device):  # noqa: F811
    words = words_of(list(LIBRARY))
    native = once.native(KERNELS, "", *words)
    done, document = once.blocks(KERNELS, "", *words, TARE_BLOCKS_DEVICE=device)
    assert done.status == native.status == 0, done.errors.decode()
    assert done.out.startswith(native.out), "the program's own output is another"
    check_library(document)
    assert "counted in the device's memory, which was read back" in said(done)
    assert ("two steps of 32 bits" in said(done)) == ("atomics" in device)


class OnLevelZero:
    def __init__(self, tare, folder, cache):
        self.tare, self.folder, self.spirv = tare, folder, spirv_of(KERNELS, folder)
        self.environment = {"POCL_CACHE_DIR": str(cache), "ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_CPU_TYPE": "gpu",
                            "TMPDIR": str(folder), "COLUMNS": "500"}

    def blocks(self, *words, options=(), before=(), **environment):
        path = self.folder / "blocks.json"
        path.unlink(missing_ok=True)
        done = run([self.tare, "blocks", *options, "--json", path, "--", *before, PROGRAM, self.spirv, *words],
                   {**self.environment, **environment}, cwd=self.folder)
        document = validate.load(path) if path.exists() else None
        assert document is None or validate.faults(document) == []
        return done, document


@pytest.fixture
def gpu(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """ze-cpu, which says that it is a GPU."""
    return OnLevelZero(tare_path, tmp_path, kernel_cache)


@LEVEL_ZERO
@pytest.mark.parametrize("how, environment", [
    ("immediate", {}), ("3", {}), ("immediate", {"ZE_CPU_NO_INT64_ATOMICS": "1", "TARE_BLOCKS_DEVICE": "from=4294967290"})])
def test_level_zero_has_the_closed_forms(gpu, how, environment):
    words = words_of_levelzero(list(LIBRARY))
    native = run([PROGRAM, gpu.spirv, how, *words], gpu.environment, cwd=gpu.folder)
    done, document = gpu.blocks(how, *words, **environment)
    assert done.status == native.status == 0, done.errors.decode()
    assert done.out.startswith(native.out), "the program's own output is another"
    check_library(document, 1 if how == "immediate" else int(how))
    assert ("two steps of 32 bits" in said(done)) == bool(environment)


def modules_of(folder):
    """The SPIR-V of each MODULE: it stands behind a head (src/guest/blocks/shared.h)."""
    for path in folder.glob("*.kept"):
        data = path.read_bytes()
        begin = data.index(struct.pack("<I", 0x07230203))
        yield struct.unpack(f"<{(len(data) - begin) // 4}I", data[begin:begin + (len(data) - begin) // 4 * 4])


def capabilities_of(words):
    place, found = 5, set()
    while words[place] & 0xffff == 17:
        found.add(words[place + 1])
        place += words[place] >> 16
    return found


@LEVEL_ZERO
@pytest.mark.parametrize("lacking", ["", "1"])
def test_a_device_is_asked_for_no_more_than_it_has(gpu, lacking):
    """Int64Atomics (12) is in the module only where the device has them."""
    keeper = gpu.folder / "keeper"
    keeper.write_text(f'#!/bin/sh\nfor module in "$TARE_BLOCKS"/*.module; do cp "$module" {gpu.folder}/$$.kept; done\nexec "$@"\n',
                      encoding="utf-8")
    keeper.chmod(0o755)
    gpu.blocks("immediate", *words_of_levelzero(["diverge"]), before=[keeper], ZE_CPU_NO_INT64_ATOMICS=lacking)
    found = [capabilities_of(module) for module in modules_of(gpu.folder)]
    assert found and all((12 in capabilities) == (not lacking) for capabilities in found)


class Far(Odd):
    """counted_far, whose first run is of another way where the way that is asked for kills it."""

    def far(self, way, device="far", first=None, options=(), **environment):
        path = self.folder / "far.json"
        script = self.folder / "script"
        script.write_text(f'#!/bin/sh\n[ "$TARE_BLOCKS_STAGE" = count ] && exec {FAR} {way}\nexec {FAR} {first or way}\n',
                          encoding="utf-8")
        script.chmod(0o755)
        done = run([self.tare, "blocks", *options, "--json", path, "--", script],
                   {**self.environment, "COLUMNS": "500", "TARE_BLOCKS_DEVICE": device, **environment}, cwd=self.folder)
        document = validate.load(path)
        assert validate.faults(document) == []
        return done, kernel_of(document, "add_one")


@pytest.fixture
def far(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Far(tare_path, tmp_path, kernel_cache)


def check_whole(kernel, launches):
    assert (kernel["launches"], kernel["counted_launches"], kernel["unread_launches"]) == (launches, launches, 0)
    assert kernel["whole"] and at(kernel["total"], "kinds.atomic") == launches * ITEMS, kernel


@pytest.mark.parametrize("way, launches", [("unfinished", 8), ("released", 1), ("threads", 400), ("shared", 1600), ("forked", 3)])
def test_all_is_read_however_a_program_ends(far, way, launches):
    """Without waiting, with a queue that was released while its work waited for the host, by two threads, by
    four in queues that they share, and with a child that ends first, on a device that needs no thread: it could read,
    but what it has is its parent's."""
    done, kernel = far.far(way, POCL_DEVICES="basic" if way == "forked" else "pthread")
    assert done.status == 0 and f"{launches} launches" in done.out.decode()
    check_whole(kernel, launches)


def test_devices_of_one_context_are_counted(far):
    if not FAR.exists() or b"16 launches" not in run([FAR, "devices"], {**far.environment, "POCL_DEVICES": "basic pthread"}).out:
        pytest.skip("the platform has no two devices for one context")
    _, kernel = far.far("devices", POCL_DEVICES="basic pthread")
    check_whole(kernel, 16)


@pytest.mark.parametrize("way, launches", [("part", 1), ("sub-devices", 16)])
def test_a_device_that_is_none_of_the_programs_is_said(far, way, launches):
    """Two parts of a device would add to its one memory: PoCL names the whole one as the program's, also where the
    context is for parts. A CPU's counters are the file, whatever part of it runs."""
    if run([FAR, way], far.environment).status != 0:
        pytest.skip("the device has no parts, or its context takes no queue of one")
    done, kernel = far.far(way)
    assert done.status == 0 and (kernel["launches"], kernel["counted_launches"]) == (launches, 0)
    assert "none of its program's" in kernel["not_counted"]
    _, kernel = far.far(way, device="")
    assert kernel["counted_launches"] == launches


def test_a_launch_that_never_begins_keeps_the_program_no_longer_than_the_limit(far):
    """One launch was read and one waits for an event that nobody sets."""
    done, kernel = far.far("stuck")
    assert done.status == 0 and (kernel["counted_launches"], kernel["unread_launches"]) == (2, 1)
    assert not kernel["whole"] and at(kernel["total"], "kinds.atomic") == ITEMS
    assert "the program ended before it was sure that the counts of 1 launch had been read from the device" in said(done)


def test_a_killed_program_keeps_what_was_read_after_its_waits(far):
    done, kernel = far.far("killed", first="forked")
    assert done.status in (128 + 9, -9)
    check_whole(kernel, 1)


def test_what_is_not_known_to_have_been_read_of_a_killed_program_is_said(far):
    """Both launches are read, but they went to two queues: waits for one say nothing of the other."""
    done, kernel = far.far("killed-two", first="forked")
    assert done.status in (128 + 9, -9) and kernel["counted_launches"] == 2
    assert kernel["unread_launches"] >= 1 and not kernel["whole"] and "it was sure that the counts of" in said(done)


def test_a_device_that_takes_no_modules_is_said(far):
    done, kernel = far.far("unfinished", device="far no-spirv")
    assert done.status == 0 and (kernel["launches"], kernel["counted_launches"]) == (8, 0)
    assert "its device is no CPU, and its driver takes no SPIR-V" in kernel["not_counted"]
    assert not kernel["read_back"] and kernel["total"] is None


def test_odd_launches_are_counted(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """Two contexts, queues without an order, sub-buffers, shared memory: as in test_blocks_odd.py."""
    odd = Odd(tare_path, tmp_path, kernel_cache)
    odd.environment["TARE_BLOCKS_DEVICE"] = "far"
    document = odd.same("no-work", "uneven", "out-of-order", "sub-buffer", "shared", "contexts")
    plain, groups, atomics = (kernel_of(document, name) for name in ("plain", "groups", "atomics"))
    assert all(kernel["whole"] and kernel["read_back"] for kernel in (plain, groups, atomics))
    assert (atomics["launches"], atomics["work_items"]) == (8, 8 * 256)
    assert at(plain["total"], "loads.global") == plain["work_items"]


def test_a_sample_is_the_one_of_a_cpu(once):  # noqa: F811
    """Lanes and lines of memory, which are single work-items', by the same work-items: those of every fourth group, of which the fifth is
    the last to have work."""
    words = ["stencil", "300", "2048", "64", *words_of(["strided"])]
    _, near = once.blocks(KERNELS, "", *words, options=["--sample"])
    _, far_away = once.blocks(KERNELS, "", *words, options=["--sample"], TARE_BLOCKS_DEVICE="far")
    for name in ("stencil", "strided"):
        here, there = kernel_of(near, name), kernel_of(far_away, name)
        assert there["read_back"] and not here["read_back"]
        assert here["lanes"]["sampled_work_items"] > 0 and there["lanes"] == here["lanes"]
        # Where memory lies is another matter in each run, and with it how many lines it begins and ends in.
        assert [access["line"] for access in there["accesses"]] == [access["line"] for access in here["accesses"]] != []


@LEVEL_ZERO
def test_a_sample_is_read_of_level_zero(gpu):
    _, document = gpu.blocks("immediate", *words_of_levelzero(["diverge"]), options=["--sample"])
    kernel = kernel_of(document, "diverge")
    assert kernel["whole"] and kernel["lanes"]["sampled_work_items"] > 0
    assert kernel["lanes"]["used"] < kernel["lanes"]["offered"]


def test_counts_before_the_optimisation_are_read_too(once):  # noqa: F811
    words = words_of(["matmul"])
    _, both = once.blocks(KERNELS, "", *words, options=["--before"], TARE_BLOCKS_DEVICE="far")
    _, near = once.blocks(KERNELS, "", *words, options=["--before"])
    kernel, other = kernel_of(both, "matmul"), kernel_of(near, "matmul")
    assert kernel["read_back"] and (kernel["before"], kernel["total"]) == (other["before"], other["total"])
