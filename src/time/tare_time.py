# SPDX-License-Identifier: Apache-2.0
"""libtare from Python: how long the device works, on the queues that your program has (tare/time.h).

    timer = tare_time.Timer.opencl(queue)        # of pyopencl, or a handle as a number
    with timer.span("solve") as span:
        ...                                      # enqueue one command or many
    print(span.read().line())

Only the standard library is needed. A span is released with its object, so keep it while a regular list of Level
Zero can be executed. Errors are tare_time.Error.
"""
import ctypes
import enum
import os

__all__ = ["Between", "Error", "Figure", "Known", "List", "Reason", "Result", "Series", "Span", "State", "Timer", "table", "version", "write"]

_SONAME = "libtare.so.0.2"
FOREVER_NS = (1 << 63) - 1


class State(enum.IntEnum):
    OK = 0
    BELOW_FLOOR = 1
    NOT_READY = 2
    NOT_AVAILABLE = 3


class Reason(enum.IntEnum):
    NO_REASON = 0
    NO_PROFILING = 1
    NO_STAMPS = 2
    COMMAND_FAILED = 3
    DEVICE_LOST = 4
    IMPOSSIBLE = 5
    NOT_APPENDED = 6
    NO_COMMAND = 7


class Between(enum.IntEnum):
    MARKS = 0
    COMMAND = 1
    ENGINES = 2


class Known(enum.IntEnum):
    OPEN = 0
    CONVERGED = 1
    GIVEN_UP = 2
    COARSE = 3
    ABSENT = 4


class List(enum.IntEnum):
    REGULAR = 0
    IMMEDIATE = 1


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("native", ctypes.c_long), ("call", ctypes.c_char * 48),
                ("message", ctypes.c_char * 256)]


class _Options(ctypes.Structure):
    _fields_ = [("spans", ctypes.c_uint32), ("engines", ctypes.c_uint32)]


class _Span(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_uint32), ("turn", ctypes.c_uint32)]


class Rate(ctypes.Structure):
    """struct tare_clock_rate of tare/clock.h."""
    _fields_ = [("hz_numerator", ctypes.c_uint64), ("hz_denominator", ctypes.c_uint64), ("valid_bits", ctypes.c_uint32),
                ("resolution_ticks", ctypes.c_uint64)]


class Result(ctypes.Structure):
    """struct tare_time_result of tare/time.h, whose comments say what its members are."""
    _fields_ = [("_state", ctypes.c_int), ("_reason", ctypes.c_int), ("native", ctypes.c_long),
                ("_sentence", ctypes.c_char_p), ("_name", ctypes.c_char * 64), ("_device", ctypes.c_char * 64), ("device_ns", ctypes.c_int64),
                ("floor_ns", ctypes.c_int64), ("uncertainty_ns", ctypes.c_int64), ("host_ns", ctypes.c_int64),
                ("start_ticks", ctypes.c_uint64), ("end_ticks", ctypes.c_uint64), ("rate", Rate),
                ("_between", ctypes.c_int), ("commands", ctypes.c_uint32), ("period_ns", ctypes.c_int64), ("_wraps_excluded", ctypes.c_int)]

    @property
    def state(self):
        return State(self._state)

    @property
    def reason(self):
        return Reason(self._reason)

    @property
    def between(self):
        return Between(self._between)

    @property
    def sentence(self):
        return self._sentence.decode()

    @property
    def name(self):
        return self._name.decode(errors="replace")

    @property
    def device(self):
        return self._device.decode(errors="replace")

    @property
    def wraps_excluded(self):
        return bool(self._wraps_excluded)

    def line(self):
        """The result in one line."""
        text = ctypes.create_string_buffer(384)
        _library().tare_time_line(ctypes.byref(self), text, ctypes.sizeof(text))
        return text.value.decode(errors="replace")


class _SeriesOptions(ctypes.Structure):
    _fields_ = [("half_width", ctypes.c_double), ("most", ctypes.c_uint32), ("limit_ns", ctypes.c_int64),
                ("bytes", ctypes.c_uint64)]


class Figure(ctypes.Structure):
    """struct tare_time_figure of tare/time_series.h, whose comments say what its members are."""
    _fields_ = [("_known", ctypes.c_int), ("_sentence", ctypes.c_char_p), ("_name", ctypes.c_char * 64), ("n", ctypes.c_uint64),
                ("median_ns", ctypes.c_double), ("low_ns", ctypes.c_double), ("high_ns", ctypes.c_double),
                ("min_ns", ctypes.c_double), ("p95_ns", ctypes.c_double), ("max_ns", ctypes.c_double),
                ("effective_n", ctypes.c_double), ("floor_ns", ctypes.c_double), ("step_ns", ctypes.c_double),
                ("enqueue_ns", ctypes.c_double), ("_below_floor", ctypes.c_int), ("_drifting", ctypes.c_int),
                ("gb_s", ctypes.c_double)]

    @property
    def known(self):
        return Known(self._known)

    @property
    def sentence(self):
        return self._sentence.decode(errors="replace")

    @property
    def name(self):
        return self._name.decode(errors="replace")

    @property
    def below_floor(self):
        return bool(self._below_floor)

    @property
    def drifting(self):
        return bool(self._drifting)


class Error(Exception):
    """What tare/time.h says of an error: code (a negative errno), call and native of the vendor."""

    def __init__(self, error):
        super().__init__(error.message.decode(errors="replace"))
        self.code, self.native, self.call = error.code, error.native, error.call.decode()


_loaded = None


def _library():
    global _loaded  # pylint: disable=global-statement
    if _loaded is None:
        library = ctypes.CDLL(os.environ.get("TARE_TIME_LIBRARY", _SONAME))
        handle, error, span = ctypes.c_void_p, ctypes.POINTER(_Error), _Span
        made, options, result = ctypes.POINTER(handle), ctypes.POINTER(_Options), ctypes.POINTER(Result)
        for name, arguments in {
                "open_opencl": [made, handle, options, error], "open_cuda": [made, handle, options, error],
                "open_levelzero": [made, handle, handle, handle, ctypes.c_int, options, error],
                "close": [handle, error], "begin": [handle, ctypes.c_char_p, ctypes.POINTER(span), error],
                "end": [handle, span, error], "release": [handle, span, error],
                "read": [handle, span, ctypes.c_int64, result, error],
                "event": [handle, ctypes.c_char_p, handle, ctypes.c_int64, result, error],
                "line": [result, ctypes.c_char_p, ctypes.c_size_t],
                "series_open": [made, ctypes.c_char_p, ctypes.POINTER(_SeriesOptions), error],
                "series_close": [handle], "series_add": [handle, result, error],
                "series_take": [handle, handle, span, ctypes.c_int64, error],
                "series_figure": [handle, ctypes.POINTER(Figure), error],
                "table": [made, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t],
                "write": [made, ctypes.c_size_t, ctypes.c_char_p, error]}.items():
            getattr(library, f"tare_time_{name}").argtypes = arguments
        library.tare_time_version.restype = ctypes.c_char_p
        library.tare_time_series_close.restype = None
        _loaded = library
    return _loaded


def version():
    """The version of the library."""
    return _library().tare_time_version().decode()


def _call(name, *arguments):
    error = _Error()
    status = getattr(_library(), f"tare_time_{name}")(*arguments, ctypes.byref(error))
    if status < 0:
        raise Error(error)
    return status


def _handle(thing):
    """The native handle of a number, or of an object of pyopencl, CuPy or PyTorch."""
    for name in ("int_ptr", "ptr", "cuda_stream"):
        if hasattr(thing, name):
            return getattr(thing, name)
    return thing


class Timer:
    """A timer of one queue, list or stream. It is closed when it and its last span are gone."""

    def __init__(self, opening, *arguments, spans=0, engines=False):
        self._timer = ctypes.c_void_p()
        _call(opening, ctypes.byref(self._timer), *arguments, ctypes.byref(_Options(spans, engines)))

    @classmethod
    def opencl(cls, queue, spans=0):
        return cls("open_opencl", _handle(queue), spans=spans)

    @classmethod
    def levelzero(cls, context, device, command_list, kind, spans=0):
        return cls("open_levelzero", context, device, command_list, int(kind), spans=spans)

    @classmethod
    def cuda(cls, stream, spans=0, engines=False):
        """engines: the times of the commands themselves, from CUPTI."""
        return cls("open_cuda", _handle(stream), spans=spans, engines=engines)

    def __del__(self):
        # Where the library refuses, the timer is left behind rather than taken from under the device.
        if getattr(self, "_timer", None) and _loaded is not None:
            # Python may finalise a span after its timer, where both are garbage of one cycle.
            if _loaded.tare_time_close(self._timer, None) == 0:
                self._timer = None

    def span(self, name=None):
        """A span, for `with`."""
        return Span(self, name)

    def event(self, event, name=None, limit_ns=FOREVER_NS):
        """One command's own times."""
        result = Result()
        _call("event", self._timer, name and name.encode(), _handle(event), limit_ns, ctypes.byref(result))
        return result


class Span:
    """Begins when it is entered, ends when it is left, and is released with its object."""

    def __init__(self, timer, name):
        self._timer, self._name, self._span = timer, name, _Span(0, 0)

    def _call(self, name, *arguments):
        _call(name, self._timer._timer, self._span, *arguments)  # pylint: disable=protected-access

    def take(self, series, limit_ns=FOREVER_NS):
        """Waits, adds the result to a Series and releases the span; whether that wants more."""
        more = _call("series_take", series._series, self._timer._timer, self._span, limit_ns)  # pylint: disable=protected-access
        self._span = _Span(0, 0)
        return more > 0

    def __enter__(self):
        if self._span.turn:
            self._call("release")
        _call("begin", self._timer._timer, self._name and self._name.encode(),  # pylint: disable=protected-access
              ctypes.byref(self._span))
        return self

    def __exit__(self, *_):
        self._call("end")

    def __del__(self):
        if self._span.turn and _loaded is not None and self._timer._timer:  # pylint: disable=protected-access
            _loaded.tare_time_release(self._timer._timer, self._span, None)  # pylint: disable=protected-access

    def read(self, limit_ns=FOREVER_NS):
        """What is known of the span; waits for it until the limit."""
        result = Result()
        self._call("read", limit_ns, ctypes.byref(result))
        return result


class Series:
    """Results of one span that is repeated until it is known (tare/time_series.h).

        figure = tare_time.Series("solve").repeat(timer, solve)   # solve() enqueues what is to be timed
    """

    def __init__(self, name=None, half_width=0.0, most=0, limit_ns=0, nbytes=0):
        self._series = ctypes.c_void_p()
        options = _SeriesOptions(half_width, most, limit_ns, nbytes)
        _call("series_open", ctypes.byref(self._series), name and name.encode(), ctypes.byref(options))

    def __del__(self):
        if getattr(self, "_series", None) and _loaded is not None:
            _loaded.tare_time_series_close(self._series)

    def add(self, result):
        """Adds a Result; whether more are wanted."""
        return _call("series_add", self._series, ctypes.byref(result)) > 0

    def repeat(self, timer, work, limit_ns=FOREVER_NS):
        """Calls `work` in a span, and waits for it, until its time is known or given up; the Figure."""
        more = True
        while more:
            with timer.span() as span:
                work()
            more = span.take(self, limit_ns)
        return self.figure()

    def figure(self):
        """What is known so far."""
        figure = Figure()
        _call("series_figure", self._series, ctypes.byref(figure))
        return figure


def _list_of(series):
    return (ctypes.c_void_p * len(series))(*[each._series.value for each in series])  # pylint: disable=protected-access


def table(*series):
    """The series as a table, a line each."""
    length = _library().tare_time_table(_list_of(series), len(series), None, 0)
    if length < 0:
        raise MemoryError
    text = ctypes.create_string_buffer(length + 1)
    _library().tare_time_table(_list_of(series), len(series), text, length + 1)
    return text.value.decode(errors="replace")


def write(path, *series):
    """Writes the series as a result document, for `tare render`."""
    _call("write", _list_of(series), len(series), os.fsencode(path))
