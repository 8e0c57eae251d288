# SPDX-License-Identifier: Apache-2.0
"""tare blocks on Level Zero where counters are in the memory of the device: how programs of tests/programs/counted_ends.c
end, or wait, decides whether they are read. What was not read is said, and the program is as ever."""
import pytest
import validate
from recorded import BUILD, PROGRAMS, SANITIZED, run  # noqa: F401
from test_blocks import TOOLS, at, kernel_of, said
from test_blocks_levelzero import DRIVER, PROGRAM, spirv_of

OTHER = BUILD / "tests/levelzero/libze_other.so"
ENDS = PROGRAMS / "counted_ends"
ITEMS = 64
KERNEL = """
kernel void add_one(global int *out, int turns)
{
	int i = get_global_id(0);
	unsigned x = i;
	atomic_inc(&out[i]);
	for (int k = 0; k < turns; k++)
		x = x * 1664525 + 1013904223;
	atomic_add(&out[i], 1 + (turns < 0 ? x : 0));
}
"""

pytestmark = [pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version"),
              pytest.mark.skipif(not PROGRAM.exists(), reason="there is no Level Zero loader to link with")]


class Ends:
    def __init__(self, tare, folder, cache):
        self.tare, self.folder = tare, folder
        (folder / "kernel.cl").write_text(KERNEL, encoding="utf-8")
        self.spirv = spirv_of(folder / "kernel.cl", folder)
        self.environment = {"POCL_CACHE_DIR": str(cache), "ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_CPU_TYPE": "gpu",
                            "TMPDIR": str(folder), "COLUMNS": "500"}

    def blocks(self, way, **environment):
        """The report, after a run whose output is the program's own."""
        path = self.folder / "blocks.json"
        native = run([ENDS, self.spirv, way], self.environment, cwd=self.folder)
        done = run([self.tare, "blocks", "--json", path, "--", ENDS, self.spirv, way], {**self.environment, **environment},
                   cwd=self.folder)
        assert (native.status, done.status) == (0, 0), native.errors.decode() + done.errors.decode()
        assert done.out.startswith(native.out), done.out.decode()
        document = validate.load(path)
        assert validate.faults(document) == []
        return done, kernel_of(document, "add_one")


@pytest.fixture
def ends(tare_path, tmp_path, kernel_cache):  # noqa: F811
    return Ends(tare_path, tmp_path, kernel_cache)


def check_whole(kernel, launches):
    assert kernel["whole"] and kernel["read_back"], kernel
    assert (kernel["launches"], kernel["counted_launches"], kernel["unread_launches"]) == (launches, launches, 0)
    assert at(kernel["total"], "kinds.atomic") == launches * 2 * ITEMS


@pytest.mark.parametrize("way", ["in-flight", "immediate-in-flight"])
def test_a_context_that_goes_while_a_kernel_runs_is_waited_for(ends, way):
    _, kernel = ends.blocks(way)
    check_whole(kernel, 1)


def test_a_context_that_goes_while_a_launch_waits_for_ever_goes_all_the_same(ends):
    done, kernel = ends.blocks("stuck")
    assert (kernel["counted_launches"], kernel["unread_launches"]) == (1, 1) and not kernel["whole"]
    assert "the counts of 1 launch had been read from the device" in said(done)


def test_a_queue_is_waited_for_at_the_end_of_the_process(ends):
    _, kernel = ends.blocks("unfinished")
    check_whole(kernel, 1)


def test_a_list_that_nobody_waits_for_is_said(ends):
    """Only the program may append to its list."""
    done, kernel = ends.blocks("asynchronous")
    assert (kernel["launches"], kernel["counted_launches"], kernel["unread_launches"]) == (1, 1, 1) and not kernel["whole"]
    assert "the counts of 1 launch had been read from the device" in said(done)


def test_a_list_that_the_host_waits_for_is_read(ends):
    _, kernel = ends.blocks("synchronized")
    check_whole(kernel, 1)


def test_more_kernels_than_there_is_room_for_are_the_programs_own(ends):
    done, kernel = ends.blocks("many")
    assert (kernel["launches"], kernel["counted_launches"]) == (65, 0)
    assert "launched with 64 or more others by one call" in kernel["not_counted"]
    assert b"65 launches" in done.out


def test_a_device_without_memory_for_counters_is_asked_once(ends):
    """For the second kernel of the name it would have some."""
    other = {"ZE_ENABLE_ALT_DRIVERS": str(OTHER), "OTHER_DRIVER_OF": str(DRIVER)}
    _, kernel = ends.blocks("twice", **other, OTHER_DRIVER_FULL="0")
    check_whole(kernel, 2)
    _, kernel = ends.blocks("twice", **other, OTHER_DRIVER_FULL="1")
    assert (kernel["launches"], kernel["counted_launches"]) == (2, 0)
    assert "gave no memory for its counters" in kernel["not_counted"] and "0x70000003" in kernel["not_counted"]
