# SPDX-License-Identifier: Apache-2.0
"""tare_time.py on the first OpenCL device, which it is given by bare handles."""
import ctypes
import errno
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src" / "time"))
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import tare_time  # noqa: E402  pylint: disable=wrong-import-position
import validate  # noqa: E402  pylint: disable=wrong-import-position

PROFILING = 2
LIMIT_NS = 60_000_000_000


@pytest.fixture(name="cl", scope="module")
def opencl():
    try:
        cl = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        pytest.skip("there is no OpenCL")
    for name in ("clCreateContext", "clCreateCommandQueue"):
        getattr(cl, name).restype = ctypes.c_void_p
    cl.platform, cl.device, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
    cl.clGetPlatformIDs(1, ctypes.byref(cl.platform), ctypes.byref(count))
    every = ctypes.c_ulong(0xffffffff)
    if count.value == 0 or cl.clGetDeviceIDs(cl.platform, every, 1, ctypes.byref(cl.device), None) != 0:
        pytest.skip("there is no OpenCL device")
    cl.context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(cl.device), None, None, None))
    return cl


class Queue:
    """What pyopencl's queues have of a handle."""

    def __init__(self, cl, properties):
        self.int_ptr = cl.clCreateCommandQueue(cl.context, cl.device, ctypes.c_ulong(properties), None)


def marker(cl, queue):
    event = ctypes.c_void_p()
    assert cl.clEnqueueMarkerWithWaitList(ctypes.c_void_p(queue.int_ptr), 0, None, ctypes.byref(event)) == 0
    return event


def test_a_span_is_timed(cl):
    queue = Queue(cl, PROFILING)
    timer = tare_time.Timer.opencl(queue, spans=2)
    for _ in range(10):
        with timer.span("markers") as span:
            marker(cl, queue)
        result = span.read(LIMIT_NS)
        assert result.state in (tare_time.State.OK, tare_time.State.BELOW_FLOOR)
        assert result.name == "markers" and result.device and result.between == tare_time.Between.MARKS
        # These say that the structure is read as the library writes it.
        assert result.device_ns == result.end_ticks - result.start_ticks
        assert (result.rate.hz_numerator, result.rate.hz_denominator, result.rate.valid_bits) == (10**9, 1, 64)
        assert 0 <= result.host_ns < 10**10 and 0 <= 2 * result.floor_ns <= result.uncertainty_ns
        assert result.reason == tare_time.Reason.NO_REASON and result.wraps_excluded
        assert result.line().startswith("markers: ")
    own = timer.event(marker(cl, queue).value, "own", LIMIT_NS)
    assert own.between == tare_time.Between.COMMAND or own.state == tare_time.State.NOT_AVAILABLE
    assert own.floor_ns == 0 or own.state == tare_time.State.NOT_AVAILABLE


def test_without_profiling_there_is_a_reason(cl):
    queue = Queue(cl, 0)
    timer = tare_time.Timer.opencl(queue.int_ptr)
    with timer.span() as span:
        marker(cl, queue)
    result = span.read(LIMIT_NS)
    assert (result.state, result.reason) == (tare_time.State.NOT_AVAILABLE, tare_time.Reason.NO_PROFILING)
    assert "CL_QUEUE_PROFILING_ENABLE" in result.sentence and result.device_ns == -1


def test_a_series_is_repeated_until_it_is_known(cl, tmp_path):
    queue = Queue(cl, PROFILING)
    timer = tare_time.Timer.opencl(queue, spans=2)
    series = tare_time.Series("markers", most=40, nbytes=1000)
    calls = []
    figure = series.repeat(timer, lambda: calls.append(marker(cl, queue)), LIMIT_NS)
    assert figure.n == len(calls) <= 40 and figure.name == "markers"
    assert figure.known in (tare_time.Known.CONVERGED, tare_time.Known.GIVEN_UP, tare_time.Known.COARSE)
    assert figure.min_ns <= figure.median_ns <= figure.p95_ns <= figure.max_ns and figure.enqueue_ns > 0
    assert figure.below_floor in (True, False) and figure.drifting in (True, False) and isinstance(figure.sentence, str)
    one = tare_time.Series("one", most=1)
    with timer.span() as span:
        marker(cl, queue)
    assert not span.take(one, LIMIT_NS) and one.figure().n == 1
    with pytest.raises(tare_time.Error, match="no such span"):
        span.read(0)
    with pytest.raises(tare_time.Error, match="ended already"):
        series.repeat(timer, lambda: None)
    own = tare_time.Series("own", limit_ns=1)
    while own.add(timer.event(marker(cl, queue).value, "own", LIMIT_NS)):
        pass
    # The end of the last structure says that it is read as the library writes it.
    assert math.isnan(own.figure().gb_s) and figure.gb_s == 1000 / figure.median_ns
    text = tare_time.table(series, own)
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["markers", "own"]
    path = tmp_path / "spans.json"
    tare_time.write(path, series, own)
    document = validate.check(path)
    with timer.span() as span:
        pass
    assert document["parameters"]["device"] == span.read(LIMIT_NS).device
    cells = {(cell["labels"]["span"], cell["source"]): cell for cell in document["cells"]}
    assert set(cells) == {("markers", "device"), ("markers", "host"), ("own", "device")}
    assert cells["markers", "device"]["median"] == figure.median_ns
    assert len(cells["markers", "device"]["samples"]) == figure.n
    with pytest.raises(tare_time.Error, match="cannot write"):
        tare_time.write(tmp_path / "none" / "at all", series)
    page = tmp_path / "spans.html"
    shown = subprocess.run([os.environ["TARE"], "render", str(path), "--html", str(page)], check=True, text=True,
                           capture_output=True, timeout=60).stdout
    assert "markers, time" in shown and "What each span takes the device" in page.read_text(encoding="utf-8")


DOUBLE = """__kernel void twice(__global float *x, int rounds)
{
    float y = x[get_global_id(0)];
    for (int i = 0; i < rounds; i++) y = y * 1.0001f + 1e-6f;
    x[get_global_id(0)] = y;
}"""


def test_pyopencl_and_numpy_are_timed():
    """What a user of pyopencl writes: its queue as it is, its arrays, and its events beside the spans."""
    pyopencl, numpy = pytest.importorskip("pyopencl"), pytest.importorskip("numpy")
    devices = [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    if not devices:
        pytest.skip("there is no OpenCL device")
    context = pyopencl.Context(devices[:1])
    queue = pyopencl.CommandQueue(context, properties=pyopencl.command_queue_properties.PROFILING_ENABLE)
    ones = numpy.ones(4096, dtype=numpy.float32)
    memory = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=ones)
    kernel = pyopencl.Program(context, DOUBLE).build().twice
    timer = tare_time.Timer.opencl(queue)
    with timer.span("twice") as span:
        event = kernel(queue, ones.shape, None, memory, numpy.int32(2000))
    result, own = span.read(LIMIT_NS), timer.event(event, "twice", LIMIT_NS)
    assert result.state == own.state == tare_time.State.OK and result.device == devices[0].name[:63]
    assert own.device_ns == event.profile.end - event.profile.start
    assert result.device_ns >= own.device_ns and result.start_ticks <= event.profile.start
    assert result.end_ticks >= event.profile.end
    with timer.span("copy") as span:
        pyopencl.enqueue_copy(queue, ones, memory)
    assert span.read(LIMIT_NS).device_ns >= 0 and (ones > 1).all()
    figure = tare_time.Series("twice", most=40).repeat(
        timer, lambda: kernel(queue, ones.shape, None, memory, numpy.int32(200)), LIMIT_NS)
    assert figure.n <= 40 and figure.median_ns > 0
    del queue
    assert timer.span("later").__enter__().__exit__() is None


def test_a_span_may_go_after_its_timer(cl):
    timer = tare_time.Timer.opencl(Queue(cl, PROFILING), spans=1)
    with timer.span("one") as span:
        pass
    span.read(LIMIT_NS)
    # As the garbage collector does it with a cycle of both.
    timer.__del__()
    span.__del__()
    timer.__del__()


@pytest.mark.skipif(not shutil.which("cc"), reason="no cc")
def test_the_documents_first_program_runs(cl, tmp_path):
    """docs/own-program.md begins with a program that runs as it stands."""
    assert cl
    page = (ROOT / "docs" / "own-program.md").read_text(encoding="utf-8")
    program, library = tmp_path / "program.c", pathlib.Path(os.environ["TARE_TIME_LIBRARY"])
    program.write_text(re.search(r"```c\n(.*?)```", page, re.S)[1], encoding="utf-8")
    for name in ("libtare.so", "libtare.so.0.2"):
        (tmp_path / name).symlink_to(library)
    done = subprocess.run([*shlex.split(os.environ.get("TARE_CC", "cc")), "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}",
                           str(program), "-o", str(tmp_path / "program"), f"-L{tmp_path}", "-ltare", "-l:libOpenCL.so.1"],
                          check=False, capture_output=True, text=True)
    if "cl.h" in done.stderr or "libOpenCL" in done.stderr:
        pytest.skip("there is no OpenCL to build with")
    assert (done.returncode, done.stderr) == (0, "")
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    for _ in range(10):
        shown = subprocess.run([str(tmp_path / "program")], check=True, capture_output=True, text=True, timeout=100,
                               env=environment).stdout
        # Where others have the processors, its one empty span may take as long as the filling.
        if not re.fullmatch(r"fill: below the floor, no more than [\d.]+ .*\n", shown):
            break
    assert re.fullmatch(r"fill: [\d.]+ \w+ on the device, \+- .*\n", shown), shown


def test_errors_say_what_is_wrong(cl):
    timer = tare_time.Timer.opencl(Queue(cl, PROFILING), spans=1)
    span = timer.span("one")
    with pytest.raises(tare_time.Error, match="no such span") as wrong:
        span.read(0)
    assert wrong.value.code == -errno.ESTALE
    with span:
        with pytest.raises(tare_time.Error, match="not ended"):
            span.read(0)
        with pytest.raises(tare_time.Error, match="all 1 spans"):
            with timer.span("two"):
                pass
    with pytest.raises(tare_time.Error, match="NULL"):
        tare_time.Timer.opencl(None)
    with pytest.raises(tare_time.Error, match="NULL|without"):
        tare_time.Timer.levelzero(None, None, None, tare_time.List.IMMEDIATE)
    with pytest.raises(tare_time.Error):
        tare_time.Timer.cuda(None, spans=5000)
    with pytest.raises(tare_time.Error):
        tare_time.Timer.cuda(None, engines=True)
    with pytest.raises(tare_time.Error, match="only CUDA") as wrong:
        tare_time.Timer("open_opencl", Queue(cl, PROFILING).int_ptr, engines=True)
    assert wrong.value.code == -errno.ENOTSUP
    assert re.fullmatch(r"\d+\.\d+\.\d+", tare_time.version())


def test_the_words_are_the_headers():
    header = "".join((ROOT / "include" / "tare" / name).read_text(encoding="utf-8") for name in ("time.h", "time_series.h"))
    for words, name in ((tare_time.State, "tare_time_state"), (tare_time.Reason, "tare_time_reason"),
                        (tare_time.List, "tare_time_list"), (tare_time.Known, "tare_time_known"), (tare_time.Between, "tare_time_between")):
        body = re.search(rf"enum {name} {{(.*?)}};", header, re.S)[1]
        found = re.findall(r"\bTARE_TIME_(\w+),", body)
        assert [word.name for word in words] == found and [int(word) for word in words] == list(range(len(found)))


def test_the_structures_are_the_headers(tmp_path):
    program = tmp_path / "sizes.c"
    program.write_text('#include <tare/time_series.h>\n#include <stdio.h>\nint main(void)\n{\n\tprintf("%zu %zu %zu %zu %zu %zu %zu\\n", '
                       "sizeof(struct tare_time_result), offsetof(struct tare_time_result, rate), "
                       "sizeof(struct tare_time_error), offsetof(struct tare_time_result, wraps_excluded), "
                       "sizeof(struct tare_time_series_options), sizeof(struct tare_time_figure), "
                       "offsetof(struct tare_time_figure, gb_s));\n}\n",
                       encoding="utf-8")
    subprocess.run([*shlex.split(os.environ.get("TARE_CC", "cc")), f"-I{ROOT / 'include'}", str(program), "-o", str(tmp_path / "sizes")], check=True)
    sizes = subprocess.run([str(tmp_path / "sizes")], check=True, capture_output=True, text=True).stdout.split()
    result = tare_time.Result
    assert [int(size) for size in sizes] == [ctypes.sizeof(result), result.rate.offset,
                                             ctypes.sizeof(tare_time._Error),  # pylint: disable=protected-access
                                             result._wraps_excluded.offset,  # pylint: disable=protected-access
                                             ctypes.sizeof(tare_time._SeriesOptions),  # pylint: disable=protected-access
                                             ctypes.sizeof(tare_time.Figure), tare_time.Figure.gb_s.offset]
