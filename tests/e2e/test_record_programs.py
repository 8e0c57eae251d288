# SPDX-License-Identifier: Apache-2.0
"""Programs of many kinds are the same with and without tare record: output to the byte, exit status
or signal. What the report counts is what a layer of its own has counted."""
import pathlib
import shutil
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from parts import thorough_but  # noqa: E402
from recorded import PROGRAMS, SANITIZED, Recorder, built, recorder, reported  # noqa: E402, F401

pytestmark = built()
FEATURES, ENDINGS = PROGRAMS / "features", PROGRAMS / "endings"
BY_CTYPES = pathlib.Path(__file__).parents[1] / "programs/by_ctypes.py"
PYTHON = "/usr/bin/python3"
foreign = pytest.mark.skipif(SANITIZED, reason="programs of others cannot load a sanitized layer")


@pytest.fixture
def on_threads(tare_path, tmp_path, kernel_cache):  # noqa: F811
    """PoCL's device of threads. (On the serial one a command that waits for a user event hangs.)"""
    return Recorder(tare_path, tmp_path, kernel_cache, "pthread")


def same(recorder, command, **options):  # noqa: F811
    """Recorded, it is the same program; returns the native run and the report, whose counts are right."""
    native = recorder.native(command, **options)
    below, counts = recorder.counted(command, **options)
    assert (below.status, below.out) == (native.status, native.out), "under the counting layer"
    recorded = recorder.record(command, **options)
    assert (recorded.status, recorded.out) == (native.status, native.out), recorded.errors.decode()
    report = recorder.report(recorded.folder)
    assert reported(report) == counts
    assert counts, "the counting layer saw nothing"
    return native, report


# ---- threads

def threads_of(run):
    return int(run.out.split()[3])


def helpers_in(report):
    return sum(change["count"] for change in report["changes"] if change["change"] == "helper")


def test_a_program_with_one_thread_keeps_one(recorder):  # noqa: F811
    command = [PROGRAMS / "stress", "20000"]
    assert threads_of(recorder.native(command)) == 1
    recorded = recorder.record(command)
    report = recorder.report(recorded.folder)
    assert threads_of(recorded) == 1 and helpers_in(report) == 0
    assert report["coverage"]["enqueued"] == report["coverage"]["completed"] == 20001
    assert report["coverage"]["helper_cpu_ns"] == 0


def test_a_program_with_threads_gets_one_more(recorder, on_threads):  # noqa: F811
    for who, more in ((recorder, ["thread"]), (on_threads, [])):
        command = [PROGRAMS / "stress", "20000", *more]
        recorded = who.record(command)
        report = who.report(recorded.folder)
        assert threads_of(recorded) == threads_of(who.native(command)) + 1 and helpers_in(report) == 1
        assert report["coverage"]["enqueued"] == report["coverage"]["completed"] == 20001


def test_a_kill_before_any_wait_loses_no_call(recorder):  # noqa: F811
    recorded = recorder.record([PROGRAMS / "stress", "1000", "killed"])
    assert recorded.status == -signal.SIGKILL
    coverage = recorder.report(recorded.folder)["coverage"]
    # The driver executes a command when it is enqueued, and its times are taken soon after; the last few are not.
    assert coverage["enqueued"] == 1001 == coverage["completed"] + coverage["unobserved"]
    assert coverage["completed"] > 900


def test_a_device_of_threads_comes_in_the_middle(recorder):  # noqa: F811
    """`threads` is the program's own second thread, long after the first command."""
    report = recorder.report(recorder.record([FEATURES, "threads"]).folder)
    assert helpers_in(report) <= 1 and report["coverage"]["lost_commands"] == 0


# ---- what OpenCL can do

def check_failures(report):
    """Refused enqueues are told."""
    assert report["coverage"]["failed"] == 8
    failed = {row["function"]: row["failed"] for row in report["api"] if row["failed"]}
    assert failed["clEnqueueNDRangeKernel"] == 2 and failed["clEnqueueMapBuffer"] == 2
    assert failed["clBuildProgram"] == 1


@pytest.mark.parametrize("part", ["transfers", "images", "svm", "events", "callbacks", "failures", "observed",
                                  "threads"])
def test_features(recorder, part):  # noqa: F811
    native, report = same(recorder, [FEATURES, part])
    assert native.status == 0 and native.out
    coverage = report["coverage"]
    assert coverage["completed"] == coverage["enqueued"] and coverage["contradictions"] == 0
    assert coverage["damaged_windows"] == coverage["unresolved"] == coverage["dropped"] == 0
    if part == "failures":
        check_failures(report)


@pytest.mark.parametrize("part", thorough_but(["dependencies"], ["transfers", "dependencies", "events", "callbacks", "threads"]))
def test_features_with_a_driver_of_threads(on_threads, part):  # noqa: F811
    _, report = same(on_threads, [FEATURES, part])
    coverage = report["coverage"]
    assert coverage["completed"] == coverage["enqueued"] and coverage["contradictions"] == 0


def test_strict_changes_nothing_and_counts_the_same(recorder):  # noqa: F811
    native = recorder.native([FEATURES, "observed"])
    done, counts = recorder.both([FEATURES, "observed"], "--strict")
    assert (done.status, done.out) == (native.status, native.out)
    report = recorder.report(done.folder)
    assert reported(report) == counts
    # Only the queue that the program made with profiling has times.
    assert 0 < report["coverage"]["completed"] < report["coverage"]["enqueued"]


def test_polled_calls_are_counted_without_a_record_each(on_threads):
    _, report = same(on_threads, [FEATURES, "poll"])
    polls = next(row for row in report["api"] if row["function"] == "clGetEventInfo")
    assert polls["count"] >= 400000
    size = sum(path.stat().st_size for path in on_threads.folder.glob("run.tare/*.trace"))
    assert size < 64 * polls["count"] / 4


def test_thousands_of_short_threads(recorder):  # noqa: F811
    _, report = same(recorder, [FEATURES, "short-threads"])
    assert report["coverage"]["completed"] == 3002 and report["coverage"]["dropped"] == 0
    size = sum(path.stat().st_size for path in recorder.folder.glob("run.tare/*.trace"))
    assert size < 8 << 20


# ---- how programs begin, multiply and end

@pytest.mark.parametrize("way, status, processes", thorough_but(
    [("plain", 0, 1), ("fork-only", 0, 3), ("exec-self", 0, 2), ("leave-at-once", 9, 1), ("killed", -signal.SIGKILL, 1),
     ("work-at-exit", 3, 1)], [
    ("plain", 0, 1), ("fork-only", 0, 3), ("fork-quiet", 0, 1), ("exec-children", 0, 3), ("exec-self", 0, 2),
    ("never-flushed", 0, 1), ("leave-at-once", 9, 1), ("leave-from-a-thread", 11, 1),
    ("main-leaves-first", 0, 1), ("aborted", -signal.SIGABRT, 1), ("terminated", -signal.SIGTERM, 1),
    ("killed", -signal.SIGKILL, 1), ("interrupted", -signal.SIGINT, 1), ("close-everything", 0, 1),
    ("work-at-exit", 3, 1),
]))
def test_endings(recorder, way, status, processes):  # noqa: F811
    native, report = same(recorder, [ENDINGS, way])
    assert native.status == status
    assert len(report["processes"]) == processes
    assert report["coverage"]["damaged_windows"] == report["coverage"]["unresolved"] == 0


def test_a_process_that_ends_in_the_middle_of_calls(recorder):  # noqa: F811
    done, counts = recorder.both([ENDINGS, "busy-at-exit"])
    assert done.status == 6
    kernels = reported(recorder.report(done.folder))["kernel"][0]
    assert abs(counts["kernel"][0] - kernels) <= 1


def test_what_is_never_flushed_is_enqueued_and_counted(recorder):  # noqa: F811
    report = recorder.report(recorder.record([ENDINGS, "never-flushed"]).folder)
    coverage = report["coverage"]
    assert coverage["enqueued"] == 51 and coverage["completed"] + coverage["unobserved"] == 51
    assert 1 <= coverage["unobserved"] >= coverage["never_flushed"]


def test_what_never_runs_has_no_times(recorder):  # noqa: F811
    """Launches that wait for an event that is never set: all of them are enqueued, none is seen complete."""
    coverage = recorder.report(recorder.record([ENDINGS, "never-run"]).folder)["coverage"]
    assert (coverage["enqueued"], coverage["completed"]) == (51, 1)
    assert coverage["unobserved"] == coverage["never_flushed"] == 50


@pytest.mark.parametrize("library", ["libOpenCL.so.1", "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1"])
def test_a_driver_unloaded_before_the_end(recorder, library):  # noqa: F811
    if library.startswith("/") and not pathlib.Path(library).exists():
        pytest.skip(f"there is no {library}")
    native, _ = same(recorder, [PROGRAMS / "unloads", library])
    assert native.status == 0


def test_a_program_in_cpp(recorder):  # noqa: F811
    if not (PROGRAMS / "plus").exists():
        pytest.skip("there is no C++ compiler")
    native, _ = same(recorder, [PROGRAMS / "plus"])
    assert native.status == 0 and b"at the end" in native.out


@foreign
def test_a_program_in_python(recorder):  # noqa: F811
    native, _ = same(recorder, [PYTHON, BY_CTYPES])
    assert native.out == b"from Python\n"


# ---- programs of others

def installed(name):
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


FILTER = "format=yuv420p,hwupload,unsharp_opencl=lx=5:ly=5:la=1.5,hwdownload,format=yuv420p"
FFMPEG = ["ffmpeg", "-hide_banner", "-nostdin", "-y", "-v", "error", "-init_hw_device", "opencl=ocl:0.0",
          "-filter_hw_device", "ocl", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", "-vf", FILTER,
          "-f", "framemd5", "-"]


@foreign
@installed("ffmpeg")
def test_ffmpeg_makes_the_same_frames(recorder):  # noqa: F811
    native, report = same(recorder, FFMPEG)
    assert native.out.count(b"\n0,") >= 25
    assert report["coverage"]["enqueued"] == report["coverage"]["completed"]


@foreign
@installed("clFFT-client")
def test_clfft(recorder):  # noqa: F811
    command = ["clFFT-client", "-c", "-x", "1024", "-y", "16", "-b", "2", "-p", "20"]
    native = recorder.native(command)
    done, counts = recorder.both(command)
    assert done.status == native.status == 0
    assert reported(recorder.report(done.folder)) == counts and counts["kernel"][0] > 20


@foreign
@installed("hashcat")
def test_hashcat_finds_the_same(recorder):  # noqa: F811
    command = ["hashcat", "-m", "0", "-a", "3", "-D", "1", "--force", "--potfile-disable", "--quiet",
               "69c459dd76c6198f72f0c20ddd3c9447", "?l?l?l?l?l"]
    native = recorder.native(command)
    done, counts = recorder.both(command)
    assert (done.status, done.out) == (native.status, native.out)
    assert reported(recorder.report(done.folder)) == counts and counts["kernel"][0] > 0


@foreign
@installed("clpeak")
@pytest.mark.thorough
def test_clpeak_launches(recorder):  # noqa: F811
    done, counts = recorder.both(["clpeak", "--kernel-latency"])
    assert done.status == 0 and b"latency" in done.out
    report = recorder.report(done.folder)
    assert reported(report) == counts and counts["kernel"][0] > 10000
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"]


@foreign
@installed("clinfo")
def test_clinfo_lists_the_same_and_enqueues_nothing(recorder):  # noqa: F811
    native = recorder.native(["clinfo", "--raw"])
    done = recorder.record(["clinfo", "--raw"])
    assert (done.status, done.out) == (native.status, native.out)
    assert recorder.report(done.folder)["coverage"]["enqueued"] == 0
