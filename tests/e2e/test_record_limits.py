# SPDX-License-Identifier: Apache-2.0
"""A recorder that finds no room: the program does not notice, the trace reads, and what is lost is
counted to the command. The truth is the counting layer's, beside the recorder in the same run."""
import os
import pathlib
import resource
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, QUIET, built, counting_environment, part, read_counts, recorder  # noqa: E402, F401

pytestmark = built()
HEADER, COMMAND, LAUNCHES = 4096, 18, 37  # of the trace file: bytes of the first page, types of records
COMMANDS = 40000
STRESS = [PROGRAMS / "stress", str(COMMANDS)]
IN_ALL = COMMANDS + 1  # and one before the loop


def exact(report, counts, lossy=True):
    """Recorded and lost are all that there were; returns the coverage."""
    coverage = report["coverage"]
    assert sum(number for number, _ in counts.values()) == IN_ALL
    assert coverage["enqueued"] == IN_ALL
    assert coverage["completed"] + coverage["unobserved"] + coverage["lost_commands"] == IN_ALL
    recorded = sum(task["instances"] for task in report["tasks"]) + sum(
        row["count"] for row in report["transfers"])
    assert recorded + coverage["lost_commands"] == IN_ALL
    assert (coverage["lost_commands"] > 0) == lossy and coverage["damaged_windows"] == 0
    return coverage


def numbers_in(folder):
    """The numbers of the commands whose records are in the trace file of a process, unordered."""
    path, = folder.glob("*.trace")
    content = path.read_bytes()[HEADER:]
    numbers = []
    for kind, count, number in struct.iter_unpack("=BxH16xI40x", content):
        if kind == COMMAND:
            numbers.append(number)
        elif kind == LAUNCHES:
            numbers += range(numbers[-1] + 1, numbers[-1] + 1 + count)
    return numbers


def size_of(folder):
    return sum(path.stat().st_size for path in folder.glob("*.trace"))


@pytest.mark.parametrize("keep", ["oldest", "newest"])
def test_max_size(recorder, keep):  # noqa: F811
    done, counts = recorder.both(STRESS, "--max-size", "2M", "--keep", keep)
    assert done.status == 0 and done.out.startswith(b"%d " % COMMANDS)
    assert size_of(done.folder) <= 2 << 20
    report = recorder.report(done.folder)
    coverage = exact(report, counts)
    process, = report["processes"]
    assert (process["stop_reason"] == "max_size") == (keep == "oldest")
    assert coverage["lost_commands"] < IN_ALL
    assert part(report, "not_recorded") > 0
    numbers = numbers_in(done.folder)
    assert len(numbers) == IN_ALL - coverage["lost_commands"]
    assert (min(numbers) == 1, max(numbers) == IN_ALL) == (keep == "oldest", keep == "newest")


def test_enough_room_loses_nothing(recorder):  # noqa: F811
    done, counts = recorder.both(STRESS, "--max-size", "1G")
    assert exact(recorder.report(done.folder), counts, lossy=False)["dropped"] == 0


def limited_to(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def test_a_low_limit_on_files(recorder):  # noqa: F811
    # The driver writes files of its own when it builds a program, of sizes that depend on its version.
    # What it needs is less than the trace, of two records a command.
    sizes = [size for size in (1 << 20, 2 << 20, 4 << 20) if size < 2 * 64 * COMMANDS]
    size = next((size for size in sizes if recorder.native(STRESS, preexec_fn=limited_to(size)).status == 0), None)
    assert size, "the program alone needs larger files than its trace"
    done, counts = recorder.both(STRESS, preexec_fn=limited_to(size))
    assert done.status == 0, done.errors
    assert size_of(done.folder) <= size
    report = recorder.report(done.folder)
    exact(report, counts)
    assert report["processes"][0]["stop_reason"] == "file_limit"


def test_a_program_that_limits_itself(recorder):  # noqa: F811
    command = [PROGRAMS / "endings", "limits-itself"]
    native = recorder.native(command)
    done, counts = recorder.both(command)
    assert (done.status, done.out) == (native.status, native.out) and native.status == 0, done.errors
    report = recorder.report(done.folder)
    coverage = report["coverage"]
    assert coverage["enqueued"] == sum(number for number, _ in counts.values())
    assert coverage["lost_commands"] > 0 and coverage["damaged_windows"] == 0
    assert report["processes"][0]["stop_reason"] == "file_limit"


SMALL_DISK = r"""
set -e
mount -t tmpfs -o size=1536k none disk
"$@" || echo "status $?" > status
cp -r disk/run.tare copy.tare
df --output=avail disk | tail -1 > left
umount disk
"""


def test_a_full_disk(recorder):  # noqa: F811
    folder = recorder.folder
    (folder / "disk").mkdir()
    own = [] if os.geteuid() == 0 else ["-r"]
    if subprocess.run(["unshare", *own, "-m", "mount", "-t", "tmpfs", "none", folder / "disk"],
                      capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a tmpfs of its own")
    command = [recorder.tare, "record", "-o", "disk/run", "--", *STRESS]
    done = subprocess.run(
        ["unshare", *own, "-m", "sh", "-c", SMALL_DISK, "sh", *command], cwd=folder, check=False,
        capture_output=True, timeout=60,
        env={**os.environ, **QUIET, **recorder.environment, **counting_environment(folder / "counts")})
    assert done.returncode == 0 and done.stdout.startswith(b"%d " % COMMANDS), done.stderr
    assert not (folder / "status").exists()
    report = recorder.report(folder / "copy.tare")
    exact(report, read_counts(folder / "counts"))
    assert report["processes"][0]["stop_reason"] == "no_space"
    assert b"the disk was full" in done.stderr
